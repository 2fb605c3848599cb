//! Two bodies followed with as little work as it takes to know their contacts: what the paper's own method does.
//!
//! Guy and Debunne (2004) follow the nearest pairs from frame to frame and prove nothing. So do these files: contacts are
//! the curves in which the surfaces cross (`contours`), and where the next one may begin is watched by expectation
//! (`watch`). A contact that is told is one by the exact test; that there is none is never said.

mod contours;
mod march;
mod pair_set;
mod watch;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::contours::{Contours, Scene};
use self::watch::Watch;
use super::front::Frame;
use super::layers::Layers;
use super::meter::Meter;
use crate::contact::Counters;

/// Two bodies.
#[derive(Debug, Clone)]
pub(super) struct Followed {
    contours: Contours,
    watch: Watch,
    found: Vec<[u32; 2]>,
    /// The sum of all steps (a length).
    travelled: f64,
    /// Whether the last frame was finished.
    pub is_done: bool,
}

impl Followed {
    pub fn new(layers: [Arc<Layers>; 2], stretch: [f64; 2]) -> Followed {
        layers.iter().for_each(|layers| _ = layers.sides());
        Followed {
            contours: Contours::new(layers.clone()),
            watch: Watch::new(layers, stretch),
            found: Vec::new(),
            travelled: 0.0,
            is_done: false,
        }
    }

    /// Forgets all that is known.
    pub fn clear(&mut self) {
        self.contours.clear();
        self.watch.clear();
        self.travelled = 0.0;
    }

    /// Goes on to the next frame.
    pub fn step(&mut self, frame: &mut Frame<'_>, meter: &mut Meter<'_>) {
        self.travelled = (self.travelled + frame.step).next_up();
        let bodies = frame.bodies;
        let scene = Scene { bodies: &bodies, pad: frame.pad, travelled: self.travelled };
        let mut work = Counters::default();
        if self.contours.update(&scene, meter, &mut work) {
            self.watch.set_known(self.contours.pairs(), frame);
        }
        self.watch.begin();
        self.is_done = self.watch.look(frame, meter, &mut self.found);
        let mut is_new = false;
        while let Some(pair) = self.found.pop() {
            if !self.contours.is_known(pair) {
                self.contours.add(pair, None, &scene, meter, &mut work);
                is_new = true;
            }
        }
        if is_new {
            self.watch.set_known(self.contours.pairs(), frame);
        }
        frame.work.primitive_tests += work.primitive_tests;
    }

    /// The share of all pairs of surface points that were seen apart, and are not yet expected to meet.
    pub fn coverage(&self) -> f64 {
        self.watch.coverage()
    }

    /// A pair of triangles that meet for each contact, and its name.
    pub fn witnesses(&self) -> impl Iterator<Item = ([u32; 2], u64)> {
        self.contours.witnesses()
    }
}
