//! Every box against every other, each step: what the other broad phases are compared with.

use crate::bound::Aabb;

use super::{BroadPhase, Changes, Mobility, admitted};

/// Tests all pairs; right by being simple, and fine for a few dozen bodies.
#[derive(Debug, Clone, Default)]
pub struct Brute {
    bodies: Vec<Option<(Aabb, Mobility)>>,
    /// As of the last step, ascending.
    pairs: Vec<[u32; 2]>,
}

impl BroadPhase for Brute {
    fn insert(&mut self, id: u32, bounds: Aabb, mobility: Mobility) {
        let id = id as usize;
        if self.bodies.len() <= id {
            self.bodies.resize(id + 1, None);
        }
        self.bodies[id] = Some((admitted(bounds), mobility));
    }

    fn remove(&mut self, id: u32) {
        if let Some(body) = self.bodies.get_mut(id as usize) {
            *body = None;
        }
    }

    fn update(&mut self, id: u32, bounds: Aabb) {
        if let Some(Some((old, _))) = self.bodies.get_mut(id as usize) {
            *old = admitted(bounds);
        }
    }

    fn step(&mut self, changes: &mut Changes) {
        let there = |(id, body): (usize, &Option<(Aabb, Mobility)>)| body.map(|(b, m)| (id as u32, b, m));
        let bodies: Vec<_> = self.bodies.iter().enumerate().filter_map(there).collect();
        let mut now = Vec::new();
        for (i, (a, a_bounds, a_mobility)) in bodies.iter().enumerate() {
            for (b, b_bounds, b_mobility) in &bodies[i + 1..] {
                let both_fixed = *a_mobility == Mobility::Fixed && *b_mobility == Mobility::Fixed;
                if !both_fixed && a_bounds.meets(b_bounds) {
                    now.push([*a, *b]);
                }
            }
        }
        changes.began.clear();
        changes.began.extend(now.iter().filter(|pair| self.pairs.binary_search(pair).is_err()));
        changes.ended.clear();
        changes.ended.extend(self.pairs.iter().filter(|pair| now.binary_search(pair).is_err()));
        self.pairs = now;
    }

    fn pairs(&self, pairs: &mut Vec<[u32; 2]>) {
        pairs.clone_from(&self.pairs);
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    fn cube(at: f64, side: f64) -> Aabb {
        Aabb { low: DVec3::splat(at), high: DVec3::splat(at + side) }
    }

    #[test]
    fn touching_counts_and_events_are_told_once() {
        let (mut broad, mut changes) = (Brute::default(), Changes::default());
        broad.insert(7, cube(0.0, 1.0), Mobility::Moving);
        broad.insert(3, cube(1.0, 1.0), Mobility::Moving);
        broad.step(&mut changes);
        assert_eq!((&changes.began[..], changes.ended.len()), (&[[3, 7]][..], 0));
        broad.step(&mut changes);
        assert_eq!(changes, Changes::default());
        broad.update(3, cube(1.5, 1.0));
        broad.step(&mut changes);
        assert_eq!((changes.began.len(), &changes.ended[..]), (0, &[[3, 7]][..]));
    }

    #[test]
    fn fixed_bodies_are_no_pair_and_removal_ends_one() {
        let (mut broad, mut changes) = (Brute::default(), Changes::default());
        broad.insert(0, cube(0.0, 1.0), Mobility::Fixed);
        broad.insert(1, cube(0.0, 1.0), Mobility::Fixed);
        broad.insert(2, cube(0.0, 1.0), Mobility::Moving);
        broad.step(&mut changes);
        assert_eq!(changes.began, [[0, 2], [1, 2]]);
        broad.remove(0);
        broad.remove(9);
        broad.update(9, cube(0.0, 1.0));
        broad.step(&mut changes);
        assert_eq!(changes.ended, [[0, 2]]);
        let mut pairs = vec![[5, 6]];
        broad.pairs(&mut pairs);
        assert_eq!(pairs, [[1, 2]]);
    }

    #[test]
    fn unbounded_boxes_meet_and_impossible_ones_do_not() {
        let everything = Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };
        let mut inverted = cube(0.0, 1.0);
        inverted.high.y = -1.0;
        let mut unknown = cube(0.0, 1.0);
        unknown.low.z = f64::NAN;
        let (mut broad, mut changes) = (Brute::default(), Changes::default());
        for (id, bounds) in
            [everything, everything, cube(1e300, 1.0), inverted, unknown, Aabb::EMPTY].into_iter().enumerate()
        {
            broad.insert(id as u32, bounds, Mobility::Moving);
        }
        broad.step(&mut changes);
        assert_eq!(changes.began, [[0, 1], [0, 2], [1, 2]]);
    }
}
