//! Bounds of a mesh that deforms in a few modes from their amplitudes, without visiting vertices: the
//! BD-tree of James and Pai ("BD-tree: output-sensitive collision detection for reduced deformable
//! models", 2004).
//!
//! A vertex moves by Σ qⱼ·Uⱼ(v). A node's sphere follows with its centre, by Σ qⱼ·ūⱼ with ūⱼ the middle
//! of the mode's displacements in the node, and grows by Σ |qⱼ|·ρⱼ with ρⱼ the largest distance of a
//! displacement from that middle. Where we leave the paper: ūⱼ is the centre of the displacements' own
//! bounding sphere, not their weighted mean, which makes ρⱼ smaller.

use glam::DVec3;

use super::storage::Tree;
use crate::bound::{Bounding, Sphere, Volume};
use crate::contact::Counters;
use crate::num::tolerance::PLACING_ERROR;
use crate::{Error, Mesh};

/// What a sphere tree needs to follow its modes.
#[derive(Debug, Clone)]
pub struct Modes {
    /// For each node its sphere at rest, then for each mode the sphere of its displacements.
    spheres: Vec<Sphere>,
    modes: usize,
    /// Largest distance of a vertex at rest from the origin, and longest displacement of each mode.
    reach: Vec<f64>,
}

/// The deformed vertices: rest + Σ qⱼ·Uⱼ, in this order of operations.
pub fn deform(rest: &[DVec3], modes: &[Vec<DVec3>], amplitudes: &[f64]) -> Vec<DVec3> {
    let mut moved = rest.to_vec();
    for (mode, &q) in modes.iter().zip(amplitudes) {
        for (p, &u) in moved.iter_mut().zip(mode) {
            *p += q * u;
        }
    }
    moved
}

impl Modes {
    /// Bounds the displacements of each mode for every node of a sphere tree built at rest.
    ///
    /// # Errors
    /// A mode with another number of vertices, a tree with other volumes than spheres, or a shared one.
    pub fn new(tree: &Tree, rest: &Mesh, modes: &[Vec<DVec3>]) -> Result<Modes, Error> {
        tree.same_triangles(rest)?;
        let wrong = |name, reason: String| Err(Error::Argument { name, reason });
        if tree.is_shared() || tree.kinds() != [Volume::Sphere] {
            return wrong("tree", "only spheres follow modes, and no shared ones".into());
        }
        let vertices = rest.vertices();
        if let Some((i, mode)) = modes.iter().enumerate().find(|(_, m)| m.len() != vertices.len()) {
            return wrong(
                "modes",
                format!("mode {i} has {} vertices, the mesh {}", mode.len(), vertices.len()),
            );
        }
        let mut spheres = Vec::with_capacity(tree.nodes.len() * (modes.len() + 1));
        for node in &tree.nodes {
            spheres.push(tree.bounds.sphere[node.bound as usize]);
            let slots = &tree.order[node.first as usize..(node.first + node.count) as usize];
            for mode in modes {
                let corners = slots.iter().flat_map(|&t| rest.triangles()[t as usize]);
                spheres.push(Sphere::around_points(&corners.map(|v| mode[v as usize]).collect::<Vec<_>>()));
            }
        }
        let far = |points: &[DVec3]| points.iter().map(|p| p.length()).fold(0.0, f64::max);
        let reach = std::iter::once(far(vertices)).chain(modes.iter().map(|m| far(m))).collect();
        Ok(Modes { spheres, modes: modes.len(), reach })
    }

    /// Sets every sphere of the tree to bound the mesh deformed by these amplitudes, as [`deform`] gives
    /// it.
    ///
    /// # Errors
    /// Another number of amplitudes than of modes, or of nodes than when this was made.
    pub fn update(&self, tree: &mut Tree, amplitudes: &[f64]) -> Result<Counters, Error> {
        if amplitudes.len() != self.modes {
            let reason = format!("{} for {} modes", amplitudes.len(), self.modes);
            return Err(Error::Argument { name: "amplitudes", reason });
        }
        if self.spheres.len() != tree.nodes.len() * (self.modes + 1) {
            return Err(Error::Argument { name: "tree", reason: "it was built again since".into() });
        }
        let size = |j: usize| if j == 0 { 1.0 } else { amplitudes[j - 1].abs() };
        tree.reach = (0..=self.modes).map(|j| self.reach[j] * size(j)).sum::<f64>() * (1.0 + PLACING_ERROR);
        let pad = PLACING_ERROR * tree.reach * (self.modes + 1) as f64;
        for (i, node) in tree.nodes.iter_mut().enumerate() {
            let spheres = &self.spheres[i * (self.modes + 1)..(i + 1) * (self.modes + 1)];
            let mut moved = spheres[0];
            for (mode, &q) in spheres[1..].iter().zip(amplitudes) {
                moved.centre += q * mode.centre;
                moved.radius += q.abs() * mode.radius;
            }
            moved.inflate(pad);
            node.radius = moved.radius;
            tree.bounds.sphere[node.bound as usize] = moved;
        }
        Ok(Counters { updates: tree.nodes.len() as u64, ..Counters::default() })
    }
}
