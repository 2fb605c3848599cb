//! The border of the intersection as a closed mesh.
//!
//! Its corners are the vertices inside and the crossings, its triangles those inside that nothing crosses and a
//! triangulation of the inside part of each that is crossed. That part is bounded by the segments in which triangles
//! cross and by pieces of the triangle's sides, between crossings; all of them are known by the names of their ends. So
//! neighbours agree on every edge, whatever the coordinates are, and the mesh is closed by its combinatorics.
//!
//! Where the other body winds several times around a part, that part is there as often.

use std::collections::HashMap;

use glam::{DVec3, Vec2Swizzles};

use super::clusters::MOST;
use super::crossings::Crossings;
use super::polygon::{Corner, triangulate};
use super::surface::Surface;
use crate::num::disjoint_sets::DisjointSets;
use crate::num::predicate::drop_axis;

/// The border of the regions that are kept: corners and triangles, facing outwards. `region_of` tells the region of each
/// crossing and, behind them, of the patches of both surfaces.
pub fn border(
    surfaces: [&Surface<'_>; 2],
    crossings: &Crossings,
    region_of: &[u32],
    is_kept: &[bool],
) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let first_vertex =
        [crossings.len(), crossings.len() + surfaces[0].clusters.len() * MOST].map(|n| n as u32);
    let first_patch = [crossings.len(), crossings.len() + surfaces[0].patches.len()];
    let order = crossings.along_edges();
    let names = Names { surfaces, crossings, order, region_of, first_vertex, first_patch };
    let mut triangles = Vec::new();
    for k in [0, 1] {
        let surface = surfaces[k];
        for (triangle, patch) in surface.whole() {
            if is_kept[region_of[first_patch[k] + patch as usize] as usize] {
                let corners = surface.numbered(triangle).map(|v| first_vertex[k] + v);
                repeat(surface.patches[patch as usize], corners, &mut triangles);
            }
        }
        let mut edges = crossings.directed_segments(k, surface.cuts.len());
        for (cut, edges) in edges.iter_mut().enumerate() {
            names.add_sides(k, cut, edges);
            let loops = loops(edges).into_iter().filter(|ring| is_kept[names.region(ring)]);
            let normal = surface.cuts[cut].face.normal();
            triangles.extend(triangulate(loops.map(|ring| names.flatten(normal, ring)).collect()));
        }
    }
    let (mut corners, mut triangles) = names.compact(triangles);
    contract(&mut corners, &mut triangles);
    (corners, triangles)
}

/// Edges without length become one corner, and triangles that lie flat on each other go in pairs: touching and coinciding
/// faces leave such. As many edges run each way as before, so the mesh stays closed. Corners that are no longer used are
/// left out.
fn contract(corners: &mut Vec<DVec3>, triangles: &mut Vec<[u32; 3]>) {
    let mut sets = DisjointSets::new(corners.len());
    for &[a, b, c] in triangles.iter() {
        for [u, v] in [[a, b], [b, c], [c, a]].map(|ends| ends.map(|end| end as usize)) {
            if corners[u] == corners[v] {
                sets.join(u, v);
            }
        }
    }
    triangles.iter_mut().flatten().for_each(|corner| *corner = sets.root(*corner as usize) as u32);
    triangles.retain(|[a, b, c]| a != b && b != c && c != a);
    // How often each is there, less how often it is there the other way around.
    let mut left: HashMap<[u32; 3], i32> = HashMap::new();
    for triangle in triangles.iter() {
        let (key, way) = sorted(*triangle);
        *left.entry(key).or_default() += way;
    }
    triangles.retain(|triangle| {
        let (key, way) = sorted(*triangle);
        let left = left.entry(key).or_default();
        let is_kept = *left * way > 0;
        *left -= if is_kept { way } else { 0 };
        is_kept
    });
    let mut number = HashMap::new();
    let mut used = Vec::with_capacity(corners.len());
    for corner in triangles.iter_mut().flatten() {
        *corner = *number.entry(*corner).or_insert_with(|| {
            used.push(corners[*corner as usize]);
            used.len() as u32 - 1
        });
    }
    *corners = used;
}

/// The corners of a triangle, ascending, and whether that goes around it the same way.
fn sorted([a, b, c]: [u32; 3]) -> ([u32; 3], i32) {
    let mut key = [a, b, c];
    key.sort_unstable();
    (key, if [[a, b, c], [b, c, a], [c, a, b]].contains(&key) { 1 } else { -1 })
}

/// A triangle as often as the other body winds around it, turned over for a negative winding number.
fn repeat(winding: i32, [a, b, c]: [u32; 3], triangles: &mut Vec<[u32; 3]>) {
    let corners = if winding > 0 { [a, b, c] } else { [a, c, b] };
    triangles.extend(std::iter::repeat_n(corners, winding.unsigned_abs() as usize));
}

/// One numbering for crossings and the vertices of both surfaces.
struct Names<'s, 'm> {
    surfaces: [&'s Surface<'m>; 2],
    crossings: &'s Crossings,
    /// The crossings along their edges.
    order: Vec<usize>,
    region_of: &'s [u32],
    first_vertex: [u32; 2],
    first_patch: [usize; 2],
}

impl Names<'_, '_> {
    /// The surface of a vertex and its number there; `None` for a crossing.
    fn vertex(&self, name: u32) -> Option<(usize, u32)> {
        let k = usize::from(name >= self.first_vertex[1]);
        name.checked_sub(self.first_vertex[k]).map(|v| (k, v))
    }

    fn place(&self, name: u32) -> DVec3 {
        match self.vertex(name) {
            Some((k, v)) => self.surfaces[k].position(v),
            None => self.crossings.points[name as usize],
        }
    }

    /// The region of a loop.
    fn region(&self, ring: &[u32]) -> usize {
        let crossing = ring.iter().find(|name| self.vertex(**name).is_none());
        let patch = || {
            let (k, v) = self.vertex(ring[0])?;
            Some(self.first_patch[k] + self.surfaces[k].patch_of_vertex(v)? as usize)
        };
        let member = crossing.map(|&name| name as usize).or_else(patch);
        self.region_of[member.unwrap_or(0)] as usize
    }

    /// The pieces of a cut triangle's sides that lie inside, as often as the other body winds around them.
    fn add_sides(&self, k: usize, cut: usize, edges: &mut Vec<[u32; 2]>) {
        let surface = self.surfaces[k];
        let cut = &surface.cuts[cut];
        for side in 0..3 {
            let (from, to) = (cut.corners[side], cut.corners[(side + 1) % 3]);
            if from == to {
                continue;
            }
            let mut winding = surface.winding(from);
            let [mut last, end] =
                [from, to].map(|place| self.first_vertex[k] + surface.crossed.vertex(place));
            let (edge, is_ordered) = cut.edge(side);
            let crossings = self.crossings.on_edge(&self.order, k, edge, !is_ordered);
            for (next, inward) in crossings.chain([(end, 0)]) {
                let piece = if winding > 0 { [last, next] } else { [next, last] };
                edges.extend(std::iter::repeat_n(piece, winding.unsigned_abs() as usize));
                winding += inward;
                last = next;
            }
        }
    }

    /// A loop seen against the normal of its plane.
    fn flatten(&self, normal: DVec3, ring: Vec<u32>) -> Vec<Corner> {
        let axis = normal.abs().max_position();
        let mirror = normal[axis] < 0.0;
        let place = |name: u32| {
            let p = drop_axis(self.place(name), axis);
            if mirror { p.yx() } else { p }
        };
        ring.into_iter().map(|name| (name, place(name))).collect()
    }

    /// The corners that are used, in the order of their use, and the triangles between them.
    fn compact(&self, mut triangles: Vec<[u32; 3]>) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let (mut number, mut corners) = (HashMap::new(), Vec::new());
        for name in triangles.iter_mut().flatten() {
            *name = *number.entry(*name).or_insert_with(|| {
                corners.push(self.place(*name));
                corners.len() as u32 - 1
            });
        }
        (corners, triangles)
    }
}

/// Directed edges, as many to each corner as from it, as loops that pass no corner twice.
fn loops(edges: &mut [[u32; 2]]) -> Vec<Vec<u32>> {
    edges.sort_unstable();
    // Where the edges from each corner begin, and how many of them are used.
    let mut used: HashMap<u32, usize> = HashMap::new();
    let mut found = Vec::new();
    for first in 0..edges.len() {
        let mut path: Vec<u32> = Vec::new();
        let mut place_on_path: HashMap<u32, usize> = HashMap::new();
        let start = edges.partition_point(|edge| edge[0] < edges[first][0]);
        if start + used.get(&edges[first][0]).copied().unwrap_or(0) > first {
            continue;
        }
        let mut at = edges[first][0];
        loop {
            if let Some(&place) = place_on_path.get(&at) {
                let ring: Vec<u32> = path.drain(place..).collect();
                ring.iter().for_each(|name| {
                    place_on_path.remove(name);
                });
                // There and back is no loop: the two edges cancel.
                if ring.len() > 2 {
                    found.push(ring);
                }
                if path.is_empty() {
                    break;
                }
            }
            let begin = edges.partition_point(|edge| edge[0] < at);
            let taken = used.entry(at).or_default();
            let Some(edge) = edges.get(begin + *taken).filter(|edge| edge[0] == at) else {
                debug_assert!(false, "as many edges to each corner as from it");
                break;
            };
            *taken += 1;
            place_on_path.insert(at, path.len());
            path.push(at);
            at = edge[1];
        }
    }
    found
}
