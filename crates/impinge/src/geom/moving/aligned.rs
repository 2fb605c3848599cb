//! Contact of moving features whose points have coordinates in common, decided by comparing doubles: rows of a grid that
//! fold onto each other, layers, everything that moves along an axis.
//!
//! Let one feature lie above the other, or level with it, along an axis at the start and at the end of the step. Every
//! difference of two points' coordinates is linear in time, so it is so all the time, and the features can only meet in
//! points that are level all the time: the question is the same for what these points span. Where all that is left agrees
//! in two coordinates, it is one of intervals on a line; where two edges are left whose ends agree in two coordinates,
//! one of the signs of two differences. Either way the first contact is at the start or where a linear function
//! vanishes.

use std::cmp::Ordering;

use glam::DVec3;
use smallvec::SmallVec;

use super::FeaturePairKind;
use super::filter::Verdict;
use crate::num::double_double::DoubleDouble;
use crate::num::tolerance::LINEAR_ROOT_ROUNDING;

/// Points of a feature by their indices.
type Points = SmallVec<[usize; 3]>;

/// Four points at the start and at the end.
struct Step<'p> {
    t0: &'p [DVec3; 4],
    t1: &'p [DVec3; 4],
}

/// Decides where coordinates are equal as needed; otherwise in doubt.
pub(super) fn first_contact(kind: FeaturePairKind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> Verdict {
    let step = Step { t0, t1 };
    let (mut a, mut b): (Points, Points) = match kind {
        FeaturePairKind::VertexFace => (SmallVec::from_slice(&[0]), SmallVec::from_slice(&[1, 2, 3])),
        FeaturePairKind::EdgeEdge => (SmallVec::from_slice(&[0, 1]), SmallVec::from_slice(&[2, 3])),
    };
    for axis in 0..3 {
        match step.level(axis, &a, &b) {
            Level::Unknown => {}
            Level::Apart => return Verdict::Free,
            Level::Points(next_a, next_b) => (a, b) = (next_a, next_b),
        }
    }
    let agrees = |axis: usize| a.iter().chain(&b).all(|&p| step.is_same(axis, a[0], p));
    let agreeing = [agrees(0), agrees(1), agrees(2)];
    match agreeing {
        [true, true, true] => Verdict::Contact(0.0),
        [false, true, true] => step.intervals(0, &a, &b),
        [true, false, true] => step.intervals(1, &a, &b),
        [true, true, false] => step.intervals(2, &a, &b),
        _ => step.parallels(&a, &b),
    }
}

/// How two sets of points lie along an axis.
enum Level {
    /// Neither is above the other at the start and at the end, or some points are level for a moment.
    Unknown,
    /// One is above the other all the time.
    Apart,
    /// They are level in these points all the time, and in no other at any time.
    Points(Points, Points),
}

impl Step<'_> {
    /// Whether two points have the same coordinate all the time.
    fn is_same(&self, axis: usize, p: usize, q: usize) -> bool {
        self.t0[p][axis] == self.t0[q][axis] && self.t1[p][axis] == self.t1[q][axis]
    }

    fn level(&self, axis: usize, a: &[usize], b: &[usize]) -> Level {
        let least =
            |at: &[DVec3; 4], of: &[usize]| of.iter().map(|&p| at[p][axis]).fold(f64::INFINITY, f64::min);
        let most =
            |at: &[DVec3; 4], of: &[usize]| of.iter().map(|&p| at[p][axis]).fold(f64::NEG_INFINITY, f64::max);
        let low = [a, b].map(|of| [least(self.t0, of), least(self.t1, of)]);
        let high = [a, b].map(|of| [most(self.t0, of), most(self.t1, of)]);
        let above = |x: usize, y: usize| low[x][0] >= high[y][0] && low[x][1] >= high[y][1];
        let (upper, lower) = match (above(0, 1), above(1, 0)) {
            (true, _) => (0, 1),
            (_, true) => (1, 0),
            _ => return Level::Unknown,
        };
        let border = low[upper];
        match [border[0] > high[lower][0], border[1] > high[lower][1]] {
            [true, true] => return Level::Apart,
            [false, false] => {}
            _ => return Level::Unknown,
        }
        let at_border = |p: usize| [self.t0[p][axis] == border[0], self.t1[p][axis] == border[1]];
        if a.iter().chain(b).any(|&p| matches!(at_border(p), [true, false] | [false, true])) {
            return Level::Unknown;
        }
        let level =
            |of: &[usize]| of.iter().copied().filter(|&p| at_border(p) == [true; 2]).collect::<Points>();
        Level::Points(level(a), level(b))
    }

    /// The contact of two intervals on a line along an axis.
    fn intervals(&self, axis: usize, a: &[usize], b: &[usize]) -> Verdict {
        let pairs = a.iter().flat_map(|&p| b.iter().map(move |&q| [p, q]));
        let (mut below, mut above) = (false, false);
        for pair in pairs.clone() {
            match self.t0[pair[0]][axis].partial_cmp(&self.t0[pair[1]][axis]) {
                Some(Ordering::Less) => below = true,
                Some(Ordering::Greater) => above = true,
                _ => return Verdict::Contact(0.0),
            }
        }
        // Ends of one on both sides of an end of the other.
        if below && above {
            return Verdict::Contact(0.0);
        }
        self.first_root(axis, pairs)
    }

    /// The contact of two edges whose ends agree pairwise in two coordinates, so that all that counts is their order
    /// along the third at either end.
    fn parallels(&self, a: &[usize], b: &[usize]) -> Verdict {
        let (&[p, q], &[r, s]) = (a, b) else { return Verdict::Doubt };
        for axis in 0..3 {
            let others = [(axis + 1) % 3, (axis + 2) % 3];
            for ends in [[[p, r], [q, s]], [[p, s], [q, r]]] {
                let agree = ends.iter().all(|&[x, y]| others.iter().all(|&other| self.is_same(other, x, y)));
                // Along one of the two the ends of an edge must never meet.
                let rises = |other: &usize| {
                    let [from, to] = [self.t0, self.t1].map(|at| at[p][*other].partial_cmp(&at[q][*other]));
                    from == to && from != Some(Ordering::Equal)
                };
                if !(agree && others.iter().any(rises)) {
                    continue;
                }
                let sides = ends.map(|[x, y]| self.t0[x][axis].partial_cmp(&self.t0[y][axis]));
                let touches = sides.contains(&Some(Ordering::Equal)) || sides[0] != sides[1];
                return if touches { Verdict::Contact(0.0) } else { self.first_root(axis, ends.into_iter()) };
            }
        }
        Verdict::Doubt
    }

    /// When two points have the same coordinate along an axis: exactly, where doubles tell it, otherwise earlier by no more
    /// than rounding.
    fn linear_root(&self, axis: usize, [p, q]: [usize; 2]) -> f64 {
        let [from, to] = [self.t0, self.t1].map(|at| DoubleDouble::difference(at[p][axis], at[q][axis]));
        let way = DoubleDouble::difference(from.value(), to.value());
        let time = from.value() / way.value();
        let is_exact = [from, to, way].iter().all(DoubleDouble::is_double)
            && (-time).mul_add(way.value(), from.value()) == 0.0;
        if is_exact { time } else { time * (1.0 - LINEAR_ROOT_ROUNDING) }
    }

    /// The first time at which two points of a pair have the same coordinate along an axis, which they have not at the
    /// start.
    fn first_root(&self, axis: usize, pairs: impl Iterator<Item = [usize; 2]>) -> Verdict {
        let root = |[p, q]: [usize; 2]| {
            let [from, to] = [self.t0, self.t1].map(|at| at[p][axis] - at[q][axis]);
            // A difference of doubles has the right sign, and a sum of like signs the right size.
            let passes = from.signum() != to.signum() || to == 0.0;
            passes.then(|| self.linear_root(axis, [p, q]))
        };
        match pairs.filter_map(root).min_by(f64::total_cmp) {
            Some(time) => Verdict::Contact(time),
            None => Verdict::Free,
        }
    }
}
