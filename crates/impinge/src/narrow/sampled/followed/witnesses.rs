//! The pairs of triangles that are told as contacts, kept from frame to frame.
//!
//! Two triangles that cross with a margin go on crossing while no point of one has moved against a point of the other by
//! more than that (`triangle_pair::crossing_margin`), which is proved: the stated motions bound how far points move. So a
//! witness is looked at when the motion since then may have used up its margin, and is told in every frame until then.

use super::Told;

/// A pair that is told.
#[derive(Debug, Clone, Copy)]
struct Held {
    node: u32,
    /// That of the node when the witness was chosen: with another one it no longer counts.
    choice: u32,
    /// How far the bodies have gone when its margin is used up (a length).
    until: f64,
}

/// All that are told.
#[derive(Debug, Clone, Default)]
pub(super) struct Witnesses {
    told: Vec<Told>,
    held: Vec<Held>,
}

impl Witnesses {
    pub fn clear(&mut self) {
        self.told.clear();
        self.held.clear();
    }

    pub fn told(&self) -> &[Told] {
        &self.told
    }

    /// Tells one more, until the bodies have gone so far.
    pub fn push(&mut self, node: u32, choice: u32, told: Told, until: f64) {
        self.told.push(told);
        self.held.push(Held { node, choice, until });
    }

    /// Keeps those whose margin is not used up when the bodies have gone so far, or for which `renewed` tells, by their node,
    /// choice and triangles, until when they hold from now on.
    pub fn verify(&mut self, gone: f64, mut renewed: impl FnMut(u32, u32, [u32; 2]) -> Option<f64>) {
        let mut kept = 0;
        for k in 0..self.held.len() {
            let mut held = self.held[k];
            if gone >= held.until {
                match renewed(held.node, held.choice, self.told[k].0) {
                    Some(until) => held.until = until,
                    None => continue,
                }
            }
            self.held[kept] = held;
            self.told[kept] = self.told[k];
            kept += 1;
        }
        self.held.truncate(kept);
        self.told.truncate(kept);
    }

    /// Drops those whose choice is no longer that of their node.
    pub fn drop_old(&mut self, choice_of: impl Fn(u32) -> u32) {
        let mut kept = 0;
        for k in 0..self.held.len() {
            let held = self.held[k];
            if choice_of(held.node) == held.choice {
                self.held[kept] = held;
                self.told[kept] = self.told[k];
                kept += 1;
            }
        }
        self.held.truncate(kept);
        self.told.truncate(kept);
    }
}
