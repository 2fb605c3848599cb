//! The slow twin of a step: every pair of bodies, without broad phase, without memory.

use super::event::SceneContact;
use super::filter::Rule;
use super::pair::Pair;
use super::route::{asked, method_of, placed, told_by};
use super::{BodyId, Scene};
use crate::Budget;
use crate::broad::Mobility;
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::methods::exact::Exact;
use crate::num::compact_sort::sort_rarely;

impl Scene {
    /// All contacts within the margin as the poses are now, without manifolds, found by asking every pair anew.
    ///
    /// Pairs are left out only where the shapes' own boxes are farther apart than the margin. It takes a time
    /// that grows with the square of the number of bodies; [`Scene::step`] must find the same.
    pub fn brute(&self) -> Vec<SceneContact> {
        let all: Vec<_> = self.bodies.iter().collect();
        let boxes: Vec<_> = all.iter().map(|(_, entry)| entry.body.shape.bounds(&entry.body.pose)).collect();
        let mut found = Vec::new();
        for (j, (id_b, b)) in all.iter().enumerate() {
            for (i, (id_a, a)) in all[..j].iter().enumerate() {
                let apart = (boxes[i].low - boxes[j].high).max(boxes[j].low - boxes[i].high).max_element();
                let fixed = [a, b].iter().all(|entry| entry.body.mobility == Mobility::Fixed);
                let Rule { ignored, method, contacts } = self.rules.of([*id_a, *id_b].map(BodyId::slot));
                if fixed || ignored || apart > self.options.margin || !a.body.groups.allow(b.body.groups) {
                    continue;
                }
                let mut pair = Pair::new([*id_a, *id_b]);
                let shapes = placed([a, b]);
                let (method, _) = method_of(method, &self.options, &shapes);
                let kernel = method.detector().and_then(|detector| detector.pairwise()).unwrap_or(&Exact);
                let options = asked(&self.options, contacts.unwrap_or(self.options.contacts));
                let budget = &mut Budget::UNLIMITED.clone();
                _ = told_by(kernel, &shapes, &options, &mut PairMemory::default(), budget, &mut pair.found);
                found.extend(pair.contacts());
            }
        }
        sort_rarely(&mut found, |x, y| x.bodies.cmp(&y.bodies));
        found
    }
}
