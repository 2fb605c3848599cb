//! Layered shells of a mesh: simplified levels whose facets are flat cylinders around the surface.
//!
//! Guy and Debunne (2004), section 4.1.

mod csr;

use glam::DVec3;

pub use csr::Csr;

use crate::Mesh;
use crate::geom::unit_normal::unit_normal;
use crate::num::parallel;

/// Rounding of a facet's frame (no unit: a factor of the largest coordinate, and of the facet's own extent).
const FRAME_ROUNDING: f64 = 8192.0 * f64::EPSILON;

/// Layered shells of a mesh. Level 0 is the finest (the mesh's own triangles), the last the coarsest.
#[derive(Debug, Clone, PartialEq)]
pub struct Shells {
    pub(crate) levels: Vec<Level>,
}

/// One shell: a simplified mesh and a facet for each of its triangles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Level {
    /// The simplified triangle that a facet rides on: vertices of the original mesh, so that coarse facets follow a
    /// deforming vertex array by reading three vertices.
    pub corners: Vec<[u32; 3]>,
    /// The facets at rest.
    pub facets: Vec<Facet>,
    /// The facet of the next coarser level that each belongs to; empty for the coarsest.
    pub parent: Vec<u32>,
    /// The facets of the next finer level that belong to each; none for level 0.
    pub children: Csr,
    /// The facets of this level that share a vertex with each.
    pub neighbours: Csr,
    /// The facets in an order in which consecutive ones lie far apart.
    pub order: Vec<u32>,
    /// Largest distance of a vertex of a descendant from the nearest corner of the facet's triangle, at rest.
    reach: Vec<f64>,
}

/// A flat cylinder: the disc of `radius` about `centre` across `normal`, from `inner` to `outer` along the normal
/// (inner ≤ 0 ≤ outer).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facet {
    /// The barycentre of the triangle it rides on.
    pub centre: DVec3,
    /// The unit normal of that triangle.
    pub normal: DVec3,
    /// The disc's radius.
    pub radius: f64,
    /// How far the surface lies behind the disc at most, negative or 0.
    pub inner: f64,
    /// How far the surface lies before the disc at most, positive or 0.
    pub outer: f64,
}

impl Shells {
    /// Builds the shells of a mesh.
    pub fn of(mesh: &Mesh) -> Shells {
        let mut levels = vec![Level { corners: mesh.triangles().to_vec(), ..Level::default() }];
        // The vertices below each facet.
        let mut below: Vec<Vec<u32>> = levels[0].corners.iter().map(|c| c.to_vec()).collect();
        loop {
            let fine = levels.last_mut().expect("level 0 is there");
            fill(fine, &below, mesh.vertices());
            if fine.corners.len() < 64 {
                break;
            }
            let mut keys: Vec<u32> = (0..fine.corners.len() as u32).collect();
            keys.sort_by(|&a, &b| {
                let key = |f: u32| fine.facets[f as usize].centre.to_array();
                key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
            });
            let count = keys.len().div_ceil(4);
            fine.parent = vec![0; keys.len()];
            for (k, &f) in keys.iter().enumerate() {
                fine.parent[f as usize] = (k / 4) as u32;
            }
            let children = Csr::by_owner(&fine.parent, count);
            let corners: Vec<[u32; 3]> =
                (0..count as u32).map(|p| fine.corners[children.of(p)[0] as usize]).collect();
            below = (0..count as u32)
                .map(|p| {
                    let mut all: Vec<u32> =
                        children.of(p).iter().flat_map(|&f| below[f as usize].iter().copied()).collect();
                    all.sort_unstable();
                    all.dedup();
                    all
                })
                .collect();
            levels.push(Level { corners, children, ..Level::default() });
        }
        Shells { levels }
    }

    /// A facet where its triangle is now: it contains the triangles of all its descendants as they are now, if every
    /// vertex v below it is within `stretch` times the facet's reach of where the motion of the facet's own
    /// triangle would have taken it.
    pub fn facet_at(&self, level: usize, i: u32, vertices: &[DVec3], stretch: f64) -> Facet {
        let level = &self.levels[level];
        let rest = &level.facets[i as usize];
        let corners = level.corners[i as usize].map(|v| vertices[v as usize]);
        let (centre, normal) = frame(corners);
        let own = corners.iter().map(|p| p.distance(centre)).fold(0.0, f64::max);
        let grown = stretch * level.reach[i as usize];
        let radius = own.max(rest.radius) + grown;
        let pad = FRAME_ROUNDING * (radius + rest.outer - rest.inner)
            + 8.0 * f64::EPSILON * corners.iter().map(|p| p.abs().max_element()).fold(0.0, f64::max);
        Facet {
            centre,
            normal,
            radius: radius + pad,
            inner: rest.inner - grown - pad,
            outer: rest.outer + grown + pad,
        }
    }
}

/// Barycentre and unit normal of a triangle.
fn frame([a, b, c]: [DVec3; 3]) -> (DVec3, DVec3) {
    let normal = unit_normal(3, |k| [a, b, c][k]);
    let longest = [b - a, c - b, a - c].into_iter().max_by(|u, v| u.length().total_cmp(&v.length()));
    let normal = if normal.is_nan() {
        longest.and_then(DVec3::try_normalize).map_or(DVec3::X, |u| u.any_orthonormal_vector())
    } else {
        normal
    };
    ((a + b + c) / 3.0, normal)
}

fn fill(level: &mut Level, below: &[Vec<u32>], vertices: &[DVec3]) {
    let fit = |i: usize| {
        let corners = level.corners[i].map(|v| vertices[v as usize]);
        let (centre, normal) = frame(corners);
        let mut facet = Facet { centre, normal, radius: 0.0, inner: 0.0, outer: 0.0 };
        let mut reach: f64 = 0.0;
        let mut size = centre.abs().max_element();
        for &v in level.corners[i].iter().chain(&below[i]) {
            let p = vertices[v as usize];
            size = size.max(p.abs().max_element());
            let arm = p - centre;
            let height = arm.dot(normal);
            facet.radius = facet.radius.max((arm - normal * height).length());
            facet.inner = facet.inner.min(height);
            facet.outer = facet.outer.max(height);
            reach = reach.max(corners.iter().map(|c| c.distance(p)).fold(f64::INFINITY, f64::min));
        }
        let pad = FRAME_ROUNDING * (facet.radius + facet.outer - facet.inner) + 8.0 * f64::EPSILON * size;
        facet.radius += pad;
        facet.inner -= pad;
        facet.outer += pad;
        (facet, reach + pad)
    };
    let (facets, reach) = parallel::map(level.corners.len(), fit).into_iter().unzip();
    (level.facets, level.reach) = (facets, reach);
    let mut at_vertex: Vec<(u32, u32)> =
        level.corners.iter().zip(0..).flat_map(|(c, f)| c.map(|v| (v, f))).collect();
    at_vertex.sort_unstable();
    at_vertex.dedup();
    let around = |v: u32| {
        let from = at_vertex.partition_point(|&(w, _)| w < v);
        at_vertex[from..].iter().take_while(move |&&(w, _)| w == v).map(|&(_, f)| f)
    };
    let lists = parallel::map(level.corners.len(), |i| {
        let mut all: Vec<u32> = level.corners[i].iter().flat_map(|&v| around(v)).collect();
        all.sort_unstable();
        all.dedup();
        all.retain(|&f| f != i as u32);
        all
    });
    level.neighbours = Csr::from_lists(&lists);
    // Steps of about a golden section of the list.
    let count = level.corners.len();
    level.order = (0..count as u32).collect();
    level.order.sort_by_key(|&i| i.reverse_bits());
}
