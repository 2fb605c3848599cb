//! What a search for clashes leaves for the next one; dropping it costs speed, never an answer.

use std::collections::HashMap;

use super::Part;
use super::pair::{Open, Pair};
use crate::{Pose, Shape};

/// What a search for clashes leaves for the next one about the same parts: kinds and measures that are known, and the
/// pair at which a budget ended. Dropping it costs speed, never an answer.
///
/// Parts are known by their index, shape and pose: when some were moved or replaced, only their pairs are asked again. A
/// pair that a budget cut short keeps a sleeping thread until the search goes on or the memory is dropped.
#[derive(Debug, Default)]
pub struct ClashMemory {
    /// Of which parts the answers are.
    parts: Vec<(Shape, Pose)>,
    clearance: f64,
    known: HashMap<[usize; 2], Pair>,
    open: Option<([usize; 2], Open)>,
}

impl ClashMemory {
    /// Forgets what does not hold for these parts.
    pub(super) fn renew(&mut self, parts: &[Part], clearance: f64) {
        if self.clearance != clearance {
            (self.known, self.open) = Default::default();
        }
        let is_kept = |k: &usize| match (self.parts.get(*k), parts.get(*k)) {
            (Some((shape, pose)), Some(part)) => {
                *pose == part.pose && shape.geometry().is_same(part.shape.geometry())
            }
            _ => false,
        };
        self.known.retain(|pair, _| pair.iter().all(is_kept));
        self.open = self.open.take().filter(|(pair, _)| pair.iter().all(is_kept));
        self.parts = parts.iter().map(|part| (part.shape.clone(), part.pose)).collect();
        self.clearance = clearance;
    }

    /// Takes out what is known of some pairs, and forgets the others.
    pub(super) fn take_known(&mut self, pairs: &[[usize; 2]]) -> Vec<Option<Pair>> {
        let mut known = std::mem::take(&mut self.known);
        pairs.iter().map(|pair| known.remove(pair)).collect()
    }

    /// Keeps what is known of some pairs.
    pub(super) fn keep_known(&mut self, pairs: &[[usize; 2]], known: Vec<Option<Pair>>) {
        self.known = pairs.iter().zip(known).filter_map(|(pair, known)| Some((*pair, known?))).collect();
    }

    /// Takes out how far a pair has come; the place in another one is forgotten.
    pub(super) fn take_open(&mut self, pair: [usize; 2]) -> Open {
        self.open.take().filter(|(of, _)| *of == pair).map_or_else(Open::default, |(_, open)| open)
    }

    /// The pair that a budget cut short.
    pub(super) fn open_pair(&self) -> Option<[usize; 2]> {
        self.open.as_ref().map(|(pair, _)| *pair)
    }

    /// Keeps how far a pair has come.
    pub(super) fn keep_open(&mut self, pair: [usize; 2], open: Open) {
        self.open = Some((pair, open));
    }
}
