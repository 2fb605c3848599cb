//! The shells of a mesh with what the front needs to know of them; found once and kept with the mesh.

use std::sync::{Arc, OnceLock};

use glam::DVec3;

use super::followed::{self, Patches};
use super::front::NONE;
use super::groups::Groups;
use super::self_pair::Adjacency;
use super::shells::{Facet, Shells};
use crate::Budget;
use crate::model::Model;

/// The shells of a mesh, and what is known of them.
#[derive(Debug)]
pub struct Layers {
    pub(super) shells: Arc<Shells>,
    /// The part of the surface below each facet, by level: squared radii stand for areas.
    pub(super) shares: Vec<Vec<f32>>,
    /// Which patches hang together, for a mesh with itself.
    adjacency: OnceLock<Adjacency>,
    /// The triangles across the sides of each.
    sides: OnceLock<Vec<[u32; 3]>>,
    /// Patches and clusters of triangles, for two meshes that are followed.
    patches: OnceLock<Patches>,
    /// Groups of facets, for two meshes.
    pub(super) groups: Groups,
    /// The diagonal of a box around the mesh.
    pub(super) size: f64,
    /// As many vertices as the triangles name.
    pub(super) vertices: usize,
}

impl Layers {
    /// The layers of a mesh, built for so many units for each triangle; `None` when the budget ends first.
    pub(crate) fn of(model: &Model, budget: &mut Budget) -> Option<Arc<Layers>> {
        let triangles = model.mesh().triangles().len() as u64;
        let shells = model
            .attached(Shells::units(model.mesh()), budget, |model| Shells::of_mesh(model.mesh(), None))?;
        model.attached(triangles, budget, |_| Layers::new(shells))
    }

    /// The layers of a mesh if they were built.
    pub(crate) fn known(model: &Model) -> Option<Arc<Layers>> {
        model.known()
    }

    /// What is known of shells.
    pub(crate) fn new(shells: Arc<Shells>) -> Layers {
        let facets = &shells.levels[0].facets;
        let hold = |[low, high]: [DVec3; 2], f: &Facet| {
            [low.min(f.centre - f.radius), high.max(f.centre + f.radius)]
        };
        let [low, high] = facets.iter().fold([DVec3::INFINITY, DVec3::NEG_INFINITY], hold);
        let vertices = shells.levels[0].corners.as_flattened().iter().max().map_or(0, |&v| v as usize + 1);
        let (shares, groups) = (shares(&shells), Groups::new(&shells));
        Layers {
            size: (high - low).length(),
            vertices,
            shares,
            adjacency: OnceLock::new(),
            sides: OnceLock::new(),
            patches: OnceLock::new(),
            groups,
            shells,
        }
    }

    /// Which patches hang together; found when it is first asked for.
    pub(super) fn adjacency(&self) -> &Adjacency {
        self.adjacency.get_or_init(|| Adjacency::new(&self.shells))
    }

    /// The triangles across the sides of each, from corner k to the next; found when they are first asked for.
    pub(super) fn sides(&self) -> &[[u32; 3]] {
        self.sides.get_or_init(|| sides(&self.shells.levels[0].corners))
    }

    /// The tree of patches; built when it is first asked for.
    pub(super) fn patches(&self) -> &Patches {
        self.patches.get_or_init(|| followed::build_patches(&self.shells))
    }
}

/// The triangle across each side; `NONE` where there is none, or more than one.
pub(super) fn sides(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut all: Vec<[u32; 4]> = Vec::with_capacity(3 * triangles.len());
    for (corners, t) in triangles.iter().zip(0..) {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            all.push([a.min(b), a.max(b), t, k as u32]);
        }
    }
    all.sort_unstable();
    let mut across = vec![[NONE; 3]; triangles.len()];
    for uses in all.chunk_by(|x, y| x[..2] == y[..2]) {
        if let [[.., s, i], [.., t, j]] = *uses
            && s != t
        {
            across[s as usize][i as usize] = t;
            across[t as usize][j as usize] = s;
        }
    }
    across
}

fn shares(shells: &Shells) -> Vec<Vec<f32>> {
    let own = shells.levels[0].facets.iter().map(|f| f.radius * f.radius);
    let mut all: Vec<Vec<f64>> = vec![own.collect()];
    for level in &shells.levels[1..] {
        let below = &all[all.len() - 1];
        let sum = |i: u32| level.children.of(i).iter().map(|&c| below[c as usize]).sum();
        all.push((0..level.corners.len() as u32).map(sum).collect());
    }
    let total: f64 = all[0].iter().sum();
    let share = |&x: &f64| if total > 0.0 { (x / total) as f32 } else { 0.0 };
    all.iter().map(|level| level.iter().map(share).collect()).collect()
}
