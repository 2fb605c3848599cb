//! A tree of boxes with margins: for scenes in which some bodies move and for crowds of any shape.
//!
//! A leaf keeps a box somewhat larger than its body; while the body stays inside, nothing in the tree
//! changes. A body that leaves is taken out and put in where the boxes grow least (after Goldsmith and
//! Salmon, "Automatic creation of object hierarchies for ray tracing", 1987). When boxes above have grown too
//! much, or many bodies are new, the whole tree is built anew.

mod nodes;

use crate::num::parallel;

use super::bodies::{Bodies, take_note};
use super::pair_table::PairTable;
use super::{BroadPhase, Changes, sort_pairs};
use nodes::{Fat, Nodes};

/// One in so many bodies may be put in one by one in a step; else the tree is built anew.
const MANY_PART: usize = 4;

/// Changed bodies that one thread asks for at a time.
const CHUNK: usize = 256;

/// Boxes in a tree.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    bodies: Bodies,
    nodes: Nodes,
    partners: PairTable,
}

impl BroadPhase for Tree {
    take_note!();

    fn step(&mut self, changes: &mut Changes) {
        changes.began.clear();
        changes.ended.clear();
        if self.bodies.changed().is_empty() {
            return;
        }
        self.bring_up_to_date();
        self.list_ended(&mut changes.ended);
        self.list_began(&mut changes.began);
        self.bodies.settle();
        for list in [&mut changes.began, &mut changes.ended] {
            sort_pairs(list);
            list.dedup();
        }
        changes.ended.iter().for_each(|&pair| {
            self.partners.remove(pair);
        });
        changes.began.iter().for_each(|&pair| {
            self.partners.insert(pair);
        });
    }

    fn pairs(&self, pairs: &mut Vec<[u32; 2]>) {
        self.partners.list(pairs);
    }
}

impl Tree {
    pub(super) fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// Puts every box into the tree where it belongs.
    fn bring_up_to_date(&mut self) {
        let (bodies, nodes) = (&self.bodies, &mut self.nodes);
        for &id in bodies.changed().iter().filter(|&&id| bodies.vanished(id)) {
            nodes.remove(id);
        }
        let left = |id: &u32| bodies.stayed(*id) && !nodes.holds(*id, bodies.now(*id));
        let left: Vec<u32> = bodies.changed().iter().copied().filter(left).collect();
        let new: Vec<u32> = bodies.appeared().collect();
        if (left.len() + new.len()) * MANY_PART > bodies.len() {
            nodes.build(bodies.solid().map(|id| (id, Fat::around(bodies.now(id)))));
            return;
        }
        for &id in &left {
            nodes.remove(id);
        }
        for &id in left.iter().chain(&new) {
            nodes.insert(id, Fat::around(bodies.now(id)));
        }
        if nodes.have_decayed() {
            nodes.build(bodies.solid().map(|id| (id, Fat::around(bodies.now(id)))));
        }
    }

    /// Pairs of changed bodies that meet no more.
    fn list_ended(&self, ended: &mut Vec<[u32; 2]>) {
        let changed = self.bodies.changed();
        let parts = parallel::map(changed.len().div_ceil(CHUNK), |k| {
            let mut ended = Vec::new();
            for &a in &changed[k * CHUNK..changed.len().min((k + 1) * CHUNK)] {
                let parted = self.partners.of(a).iter().filter(|&&b| !self.bodies.meet_now(a, b));
                ended.extend(parted.map(|&b| [a.min(b), a.max(b)]));
            }
            ended
        });
        ended.extend(parts.iter().flatten());
    }

    /// Pairs that meet and were none, by asking for each changed body or, where most have changed, by going
    /// through the tree against itself.
    fn list_began(&self, began: &mut Vec<[u32; 2]>) {
        let began_now =
            |a: u32, b: u32| a != b && self.bodies.meet_now(a, b) && !self.partners.contains([a, b]);
        let changed = self.bodies.changed();
        if changed.len() * MANY_PART > self.bodies.len() {
            let tasks = self.nodes.tasks();
            let parts = parallel::map(tasks.len(), |k| {
                let mut began = Vec::new();
                self.nodes.for_each_pair(tasks[k], |a, b| {
                    if began_now(a, b) {
                        began.push([a.min(b), a.max(b)]);
                    }
                });
                began
            });
            began.extend(parts.iter().flatten());
            return;
        }
        let parts = parallel::map(changed.len().div_ceil(CHUNK), |k| {
            let mut began = Vec::new();
            for &a in &changed[k * CHUNK..changed.len().min((k + 1) * CHUNK)] {
                self.nodes.for_each_near(&Fat::rounded(self.bodies.now(a)), |b| {
                    if began_now(a, b) {
                        began.push([a.min(b), a.max(b)]);
                    }
                });
            }
            began
        });
        began.extend(parts.iter().flatten());
    }
}
