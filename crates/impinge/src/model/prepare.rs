//! What is built for a mesh when it is first needed, under a budget.
//!
//! A fact is built in one go, but its units are paid beforehand, so many for each triangle. What was paid is kept
//! with the model, so the payments of several calls add up. With a deadline only the clock counts; there the build
//! runs on the thread of a task, whose caller returns in time.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Model;
use crate::Budget;
use crate::budget::QUANTUM;

/// Triangles up to which a mesh is small: a fact about them takes less time than the thread that would be started to
/// find it.
const SMALL_MESH: usize = 256;

/// Something that a model finds out once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// [`Model::tree`].
    Tree,
    /// [`Model::topology`].
    Topology,
    /// [`Model::component_extremes`].
    ComponentExtremes,
    /// [`Model::hull`].
    Hull,
    /// [`Model::leaf_blocks`].
    LeafBlocks,
    /// [`Model::disc_bounds`].
    DiscBounds,
    /// [`Model::point_tree`].
    PointTree,
    /// [`Model::ray_tree`].
    RayTree,
    /// [`Model::dipoles`].
    Dipoles,
    /// [`Model::sphere_cover`].
    SphereCover,
}

impl Fact {
    const COUNT: usize = Fact::ALL.len();

    const ALL: [Fact; 10] = [
        Fact::Tree,
        Fact::Topology,
        Fact::ComponentExtremes,
        Fact::Hull,
        Fact::LeafBlocks,
        Fact::DiscBounds,
        Fact::PointTree,
        Fact::RayTree,
        Fact::Dipoles,
        Fact::SphereCover,
    ];

    /// What is brought up to date when the vertices move, in this order.
    pub(super) const FOLLOWING: [Fact; 4] =
        [Fact::Topology, Fact::LeafBlocks, Fact::DiscBounds, Fact::PointTree];

    /// What must be known before, in this order.
    pub const fn needs(self) -> &'static [Fact] {
        match self {
            Fact::Tree | Fact::Topology | Fact::Hull | Fact::RayTree | Fact::SphereCover => &[],
            Fact::LeafBlocks | Fact::PointTree | Fact::Dipoles => &[Fact::Tree],
            Fact::ComponentExtremes => &[Fact::Tree, Fact::Topology],
            Fact::DiscBounds => &[Fact::Tree, Fact::LeafBlocks],
        }
    }

    /// Units for each triangle: about as many tests as would take the same time.
    pub const fn units_per_triangle(self) -> u64 {
        match self {
            Fact::ComponentExtremes | Fact::LeafBlocks | Fact::Dipoles => 1,
            Fact::DiscBounds => 2,
            Fact::Tree | Fact::Topology | Fact::PointTree | Fact::Hull => 8,
            Fact::RayTree => 16,
            Fact::SphereCover => 32,
        }
    }
}

/// What was paid for each fact so far.
#[derive(Debug, Default)]
pub(super) struct Paid([AtomicU64; Fact::COUNT]);

impl Clone for Paid {
    fn clone(&self) -> Paid {
        Paid(self.0.each_ref().map(|units| AtomicU64::new(units.load(Ordering::Relaxed))))
    }
}

impl Paid {
    /// What carries over to a mesh whose vertices moved: payments for what was not built yet.
    pub(super) fn carried(&self, known: impl Fn(Fact) -> bool) -> Paid {
        let carried = self.clone();
        for fact in Fact::ALL.into_iter().filter(|&fact| known(fact)) {
            carried.0[fact as usize].store(0, Ordering::Relaxed);
        }
        carried
    }
}

impl Model {
    /// Whether a fact is known, or paid for and about to be.
    pub(super) fn expects(&self, fact: Fact) -> bool {
        self.knows(fact) || self.open_units(fact) == 0
    }

    /// Units that are still to be paid for a fact.
    fn open_units(&self, fact: Fact) -> u64 {
        let cost = fact.units_per_triangle() * self.mesh().triangles().len() as u64;
        cost.saturating_sub(self.paid.0[fact as usize].load(Ordering::Relaxed))
    }

    /// Whether facts are found faster than a thread is started for them.
    pub fn is_small(&self) -> bool {
        self.mesh().triangles().len() <= SMALL_MESH
    }

    /// Whether a fact is known.
    pub fn knows(&self, fact: Fact) -> bool {
        match fact {
            Fact::Tree => self.tree.get().is_some(),
            Fact::Topology => self.topology.get().is_some(),
            Fact::ComponentExtremes => self.component_extremes.get().is_some(),
            Fact::Hull => self.hull.get().is_some(),
            Fact::LeafBlocks => self.leaf_blocks.get().is_some(),
            Fact::DiscBounds => self.disc_bounds.get().is_some(),
            Fact::PointTree => self.point_tree.get().is_some(),
            Fact::RayTree => self.ray_tree.get().is_some(),
            Fact::Dipoles => self.dipoles.get().is_some(),
            Fact::SphereCover => self.sphere_cover.get().is_some(),
        }
    }

    /// Finds a fact, and before it what it needs, as far as the budget goes; whether it is known then. Calling again
    /// goes on. A trial builds nothing but what small meshes need: it runs on the caller's thread, which has no time to
    /// wait.
    pub fn prepare(&self, fact: Fact, budget: &mut Budget) -> bool {
        for &fact in fact.needs().iter().chain([&fact]) {
            if !self.knows(fact) {
                if (budget.is_trial() && !self.is_small()) || !self.pay(fact, budget) {
                    return false;
                }
                self.build(fact);
            }
        }
        true
    }

    fn pay(&self, fact: Fact, budget: &mut Budget) -> bool {
        while !budget.is_unlimited() {
            let open = self.open_units(fact);
            if open == 0 {
                break;
            }
            let part = open.min(QUANTUM);
            if !budget.draw_updates(part) {
                return false;
            }
            self.paid.0[fact as usize].fetch_add(part, Ordering::Relaxed);
        }
        true
    }

    pub(super) fn build(&self, fact: Fact) {
        match fact {
            Fact::Tree => _ = self.tree(),
            Fact::Topology => _ = self.topology(),
            Fact::ComponentExtremes => _ = self.component_extremes(),
            Fact::Hull => _ = self.hull(),
            Fact::LeafBlocks => _ = self.leaf_blocks(),
            Fact::DiscBounds => _ = self.disc_bounds(),
            Fact::PointTree => _ = self.point_tree(),
            Fact::RayTree => _ = self.ray_tree(),
            Fact::Dipoles => _ = self.dipoles(),
            Fact::SphereCover => _ = self.sphere_cover(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;

    #[test]
    fn small_payments_add_up() {
        let model = Model::from(procedural::ico_sphere(1.0, 3).unwrap());
        let triangles = model.mesh().triangles().len() as u64;
        let mut calls = 1;
        while !model.prepare(Fact::DiscBounds, &mut Budget::units(1000)) {
            calls += 1;
        }
        // A payment of 512 is granted as long as anything is left: two for each budget.
        let payments = [8, 1, 2].map(|each| (each * triangles).div_ceil(QUANTUM));
        assert_eq!(calls, payments.iter().sum::<u64>().div_ceil(2));
        assert!(model.knows(Fact::Tree) && model.knows(Fact::LeafBlocks) && !model.knows(Fact::Hull));
        assert!(model.prepare(Fact::Hull, &mut Budget::UNLIMITED.clone()) && model.knows(Fact::Hull));
    }

    #[test]
    fn what_was_known_or_paid_for_is_there_after_a_move() {
        let mesh = procedural::ico_sphere(1.0, 2).unwrap();
        let mut model = Model::from(mesh.clone());
        let moved = |model: &mut Model, factor: f64| {
            model.set_vertices(mesh.vertices().iter().map(|p| *p * factor).collect()).unwrap();
        };
        moved(&mut model, 1.1);
        assert!(!Fact::ALL.into_iter().any(|fact| model.knows(fact)), "nothing was asked for");
        model.build(Fact::Topology);
        model.build(Fact::PointTree);
        let before = std::ptr::from_ref(model.topology());
        // A part of the payments for the leaf blocks.
        model.pay(Fact::LeafBlocks, &mut Budget::units(1));
        let open = model.open_units(Fact::LeafBlocks);
        moved(&mut model, 1.2);
        assert!([Fact::Tree, Fact::Topology, Fact::PointTree].into_iter().all(|fact| model.knows(fact)));
        assert!(std::ptr::eq(before, model.topology()) && !model.knows(Fact::Hull));
        assert_eq!(model.open_units(Fact::LeafBlocks), open);
        let fresh = Model::from(model.mesh().clone());
        assert_eq!(*model.topology(), *fresh.topology());
    }
}
