//! Two bodies followed with as little work as it takes to know their contacts: what the paper's own method does.
//!
//! Guy and Debunne (2004) follow the nearest pairs from frame to frame and prove nothing. So do these files. A contact is
//! a curve in which the surfaces cross; some of its pairs of triangles are followed (`witnesses`), by the way the curve
//! goes (`march`). New ones can only begin, and known ones come apart, where the surfaces touch with a common normal
//! (`patches`, `critical`); where and when that may be next is expected from the motion (`kinetic_front`). A contact that
//! is told is one by the exact test; that there is none is never said.

mod cones;
mod critical;
mod kinetic_front;
mod march;
mod pair_set;
mod patches;
mod witnesses;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::kinetic_front::{KineticFront, Look};
pub(super) use self::patches::{Patch, build as build_patches};
use self::witnesses::{Scene, Witnesses};
use super::front::Frame;
use super::layers::Layers;
use super::meter::Meter;
use super::posed::Posed;
use crate::contact::Counters;

/// Two bodies.
#[derive(Debug, Clone)]
pub(super) struct Followed {
    layers: [Arc<Layers>; 2],
    witnesses: Witnesses,
    front: KineticFront,
    found: Vec<[u32; 2]>,
    /// The sum of all steps (a length).
    travelled: f64,
    /// Whether the last frame was finished.
    pub is_done: bool,
}

impl Followed {
    pub fn new(layers: [Arc<Layers>; 2], stretch: [f64; 2]) -> Followed {
        for layers in &layers {
            layers.sides();
            layers.patches();
        }
        let size = layers[0].size.max(layers[1].size);
        Followed {
            witnesses: Witnesses::new(layers.clone()),
            front: KineticFront::new(stretch, size),
            layers,
            found: Vec::new(),
            travelled: 0.0,
            is_done: false,
        }
    }

    /// Forgets all that is known.
    pub fn clear(&mut self) {
        self.witnesses.clear();
        self.front.clear();
        self.found.clear();
        self.travelled = 0.0;
    }

    /// Goes on to the next frame.
    pub fn step(&mut self, frame: &mut Frame<'_>, meter: &mut Meter<'_>) {
        self.travelled = (self.travelled + frame.step).next_up();
        let bodies = frame.bodies;
        let scene = Scene { bodies: &bodies, pad: frame.pad, travelled: self.travelled };
        let mut work = Counters::default();
        self.witnesses.update(&scene, meter, &mut work);
        // What the budget of the last frame left over comes before anything new is looked for.
        self.note_found(&scene, meter, &mut work);
        let layers = [&*self.layers[0], &*self.layers[1]];
        let mut look = Look { layers, frame, meter, found: &mut self.found };
        self.is_done = self.front.step(&mut look);
        self.note_found(&scene, meter, &mut work);
        self.is_done &= self.found.is_empty();
        frame.work.primitive_tests += work.primitive_tests;
    }

    /// Takes notice of pairs that were found, as far as the budget goes.
    fn note_found(&mut self, scene: &Scene<'_, '_>, meter: &mut Meter<'_>, work: &mut Counters) {
        while let Some(pair) = self.found.pop_if(|_| meter.pay(1)) {
            self.witnesses.note(pair, scene, meter, work);
        }
    }

    /// The share of all pairs of surface points that were seen apart, and are not yet expected to meet.
    pub fn coverage(&self) -> f64 {
        self.front.coverage()
    }

    /// For each witness the first of those that are on the same curve.
    pub fn curves(&self, bodies: &[Posed<'_>; 2]) -> Vec<usize> {
        self.witnesses.curves(bodies)
    }

    /// Pairs of triangles that meet, at least one for each contact, and their names.
    pub fn witnesses(&self) -> impl Iterator<Item = ([u32; 2], u64)> {
        self.witnesses.current()
    }
}
