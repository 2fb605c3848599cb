//! Trees of spheres whose leaves have one size, chosen by the caller.
//!
//! Quinlan, "Efficient distance computation between non-convex objects", 1994, and Ruspini, Kolarov and Khatib,
//! "The haptic display of complex graphical environments", 1997: the surface is covered by small equal spheres,
//! whatever the size of its triangles, and a tree is built over them by divide and conquer. A leaf holds the
//! vertices, edges and faces that pass through it. We lay the leaves around the cells of a cubic grid, found by
//! halving, so that every point of the surface lies in the leaf of its cell.
//!
//! Labels are those of Redon, Kheddar and Coquillart, "CONTACT", 2001: leaves with the same primitives have the
//! same label, and so has a node above leaves that all have one label. The primitives of a label are kept once.

use std::collections::HashMap;
use std::sync::Arc;

use glam::DVec3;

use crate::geom::triangle_box::may_meet;
use crate::num::parallel;
use crate::num::tolerance::ROUND_UP;
use crate::{Error, Mesh};

/// Largest and smallest radius that is chosen (no unit: a factor of the mesh's size). Few large triangles want many
/// spheres; a sliver does not.
const COARSEST: f64 = 1.0 / 16.0;
const FINEST: f64 = 1.0 / 512.0;

/// Most halvings of the whole: cells stay far above the rounding of coordinates.
const DEEPEST: u32 = 24;

/// Vertices, edges and faces of a leaf, ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Primitives {
    /// Indices of vertices.
    pub vertices: Vec<u32>,
    /// Indices into [`SphereCover::edges`].
    pub edges: Vec<u32>,
    /// Indices of triangles.
    pub faces: Vec<u32>,
}

/// A sphere of the tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sphere {
    /// In the body's frame.
    pub centre: DVec3,
    /// All leaves below lie within.
    pub radius: f64,
    /// Equal for equal sets of primitives.
    pub label: u32,
    /// How far behind the right child stands; the left one follows at once. 0 for a leaf.
    pub right: u32,
}

/// A mesh covered by equal spheres, and the tree above them.
#[derive(Debug, Clone)]
pub struct SphereCover {
    spheres: Vec<Sphere>,
    sets: Vec<Arc<Primitives>>,
    edges: Vec<[u32; 2]>,
    #[cfg(any(test, feature = "unstable"))]
    leaves: usize,
}

impl SphereCover {
    /// Covers a mesh with spheres about as large as its triangles, and never larger than a sixteenth of it.
    ///
    /// # Errors
    /// Triangles so small that more than 2²⁴ spheres would lie side by side.
    pub fn automatic(mesh: &Mesh) -> Result<SphereCover, Error> {
        let faces = 0..mesh.triangles().len() as u32;
        let corners = || faces.clone().map(|t| mesh.corners(t));
        let area: f64 = corners().map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length()).sum();
        let (low, high) = corners()
            .flatten()
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
        let extent = (high - low).max_element();
        let side = (area / f64::from(faces.end)).sqrt();
        let radius = side.min(COARSEST * extent).max(FINEST * extent);
        SphereCover::new(mesh, if radius > 0.0 { radius } else { 1.0 })
    }

    /// Covers a mesh with spheres of one radius; their number grows with its area over the radius squared.
    ///
    /// # Errors
    /// The radius is not positive, or so small that more than 2²⁴ of them would lie side by side.
    pub fn new(mesh: &Mesh, radius: f64) -> Result<SphereCover, Error> {
        let refuse = |reason: &str| Err(Error::Argument { name: "radius", reason: reason.into() });
        if !(radius > 0.0 && radius.is_finite()) {
            return refuse("must be a positive number");
        }
        let (low, high) = mesh
            .triangles()
            .iter()
            .flatten()
            .map(|&v| mesh.vertices()[v as usize])
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
        // A cell's corners lie on its sphere.
        let cell = radius * (2.0 / 3.0_f64.sqrt()) / ROUND_UP;
        let extent = (high - low).max_element();
        let levels = (extent / cell).max(1.0).log2().ceil() as u32;
        if levels > DEEPEST {
            return refuse("too small for this mesh: more than 2^24 spheres side by side");
        }
        let half = 0.5 * cell * f64::from(1_u32 << levels);
        let mut cover =
            Cover { mesh, edges: edges(mesh), leaves: Vec::new(), labels: HashMap::new(), sets: Vec::new() };
        let all = Primitives {
            vertices: used_vertices(mesh),
            edges: (0..cover.edges.len() as u32).collect(),
            faces: (0..mesh.triangles().len() as u32).collect(),
        };
        cover.divide(0.5 * (low + high), half, levels, &all);
        let Cover { edges, mut leaves, sets, .. } = cover;
        let mut tree = SphereCover {
            spheres: Vec::new(),
            sets,
            edges,
            #[cfg(any(test, feature = "unstable"))]
            leaves: leaves.len(),
        };
        tree.spheres.reserve(2 * leaves.len());
        let mut next = tree.sets.len() as u32;
        tree.grow(&mut leaves, radius, &mut next);
        Ok(tree)
    }

    /// The spheres, the root first, each left child after its parent.
    pub fn spheres(&self) -> &[Sphere] {
        &self.spheres
    }

    /// The primitives of a leaf, by its label.
    pub fn primitives(&self, label: u32) -> &Primitives {
        &self.sets[label as usize]
    }

    /// The edges of the mesh, each once, the smaller vertex first.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    #[cfg(any(test, feature = "unstable"))]
    /// How many leaves there are, and how many different sets of primitives they share.
    pub fn sharing(&self) -> [usize; 2] {
        [self.leaves, self.sets.len()]
    }

    /// The subtree over some leaves; returns its label.
    fn grow(&mut self, leaves: &mut [Leaf], radius: f64, next: &mut u32) -> u32 {
        let index = self.spheres.len();
        if let [leaf] = leaves {
            self.spheres.push(Sphere { centre: leaf.centre, radius, label: leaf.label, right: 0 });
            return leaf.label;
        }
        let (low, high) = leaves.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), leaf| {
            (l.min(leaf.centre), h.max(leaf.centre))
        });
        let centre = 0.5 * (low + high);
        let reach = leaves.iter().map(|leaf| leaf.centre.distance(centre)).fold(0.0, f64::max);
        self.spheres.push(Sphere { centre, radius: (reach + radius) * ROUND_UP, label: 0, right: 0 });
        let axis = (high - low).max_position();
        let middle = leaves.len() / 2;
        parallel::select(leaves, middle, |a, b| {
            a.centre[axis].total_cmp(&b.centre[axis]).then(a.number.cmp(&b.number))
        });
        let (left, right) = leaves.split_at_mut(middle);
        let left = self.grow(left, radius, next);
        self.spheres[index].right = (self.spheres.len() - index) as u32;
        let right = self.grow(right, radius, next);
        let label = if left == right {
            left
        } else {
            *next += 1;
            *next - 1
        };
        self.spheres[index].label = label;
        label
    }
}

/// A leaf on its way into the tree.
struct Leaf {
    centre: DVec3,
    label: u32,
    /// In the order in which they were found.
    number: u32,
}

/// The search for the cells that the surface passes through.
struct Cover<'m> {
    mesh: &'m Mesh,
    edges: Vec<[u32; 2]>,
    leaves: Vec<Leaf>,
    labels: HashMap<Arc<Primitives>, u32>,
    sets: Vec<Arc<Primitives>>,
}

impl Cover<'_> {
    /// Divides a cube, of which all primitives are known that pass through it.
    fn divide(&mut self, centre: DVec3, half: f64, levels: u32, within: &Primitives) {
        if levels == 0 {
            let number = self.leaves.len() as u32;
            let label = self.label(within);
            return self.leaves.push(Leaf { centre, label, number });
        }
        for octant in 0..8 {
            let side = |bit: u32| if octant >> bit & 1 == 0 { -0.5 * half } else { 0.5 * half };
            let middle = centre + DVec3::new(side(0), side(1), side(2));
            let inside = self.within(within, middle, 0.5 * half);
            if !inside.faces.is_empty() {
                self.divide(middle, 0.5 * half, levels - 1, &inside);
            }
        }
    }

    /// Those of the primitives that pass through a cube.
    fn within(&self, of: &Primitives, centre: DVec3, half: f64) -> Primitives {
        let point = |v: u32| self.mesh.vertices()[v as usize];
        let meets = |corners: [DVec3; 3]| may_meet(&corners, centre, DVec3::splat(half));
        let only = |items: &[u32], corners: &dyn Fn(u32) -> [DVec3; 3]| {
            items.iter().copied().filter(|&item| meets(corners(item))).collect()
        };
        Primitives {
            vertices: only(&of.vertices, &|v| [point(v); 3]),
            edges: only(&of.edges, &|e| {
                let [a, b] = self.edges[e as usize].map(point);
                [a, b, b]
            }),
            faces: only(&of.faces, &|t| self.mesh.corners(t)),
        }
    }

    fn label(&mut self, set: &Primitives) -> u32 {
        if let Some(&label) = self.labels.get(set) {
            return label;
        }
        let (set, label) = (Arc::new(set.clone()), self.sets.len() as u32);
        self.sets.push(set.clone());
        self.labels.insert(set, label);
        label
    }
}

/// Every edge once, the smaller vertex first; an edge of no length is none.
fn edges(mesh: &Mesh) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = mesh
        .triangles()
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .filter(|[a, b]| a != b)
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// The vertices that triangles name.
fn used_vertices(mesh: &Mesh) -> Vec<u32> {
    let mut used: Vec<u32> = mesh.triangles().iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    used
}
