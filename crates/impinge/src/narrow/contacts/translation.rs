//! The shortest translation that takes one mesh out of another: how long along a given direction, and which
//! direction is best.
//!
//! Along a direction every pair of triangles meets for one interval of lengths (`interval`). From where a pair meets the
//! way goes on to the end of the longest interval of the pairs that meet there, until none does: then the surfaces are
//! apart, and unless one body is inside the other that is a way out. It begins at what it is not shorter than
//! (`common_points`), which is near its end, so few places are looked at, each by the exact search for crossing
//! triangles. Directions are tried in the order of that bound, and not at all once it is beyond the best way known.
//!
//! The nearest way out over all directions is the nearest point of the border of the Minkowski difference. It is looked
//! for from many directions; each find is improved by going along the normal of the plane that was crossed last, as
//! Je, Tang, Lee, Lee and Kim ("PolyDepth: real-time penetration depth computation using iterative contact-space
//! projection", 2012) project onto contact space, and by turning it a little to each side, for places where several
//! planes meet. What is found is always a way out; that there is none shorter is not proved.

use std::ops::ControlFlow;

use glam::DVec3;
use smallvec::SmallVec;

use super::common_points::CommonPoints;
use super::interval::{Interval, interval};
use crate::Budget;
use crate::Counters;
use crate::bound::Aabb;
use crate::geom::triangle_distance::nearest;
use crate::narrow::exact::collide::{Posed, pairs_within_budget};
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::num::tolerance::{FREE_GAP, NO_DIRECTION, SAME_EXIT, TURN_FIRST, TURN_LAST, WORTH_TURNING};

/// How often a direction is replaced by the normal of the plane crossed last.
const MOST_PROJECTIONS: u32 = 32;

/// Pairs of triangles that are the last to part, of which points are told.
const MOST_LAST_PAIRS: usize = 64;

/// Face normals that are told apart at most.
const MOST_FACE_DIRECTIONS: usize = 256;

/// Cosine of the angle below which two face normals are one direction (no unit).
const SAME_DIRECTION: f64 = 0.999;

/// Triangles of each body whose normals are tried at most, evenly spread over all.
const MOST_NORMALS: usize = 4096;

/// Places along a direction that are looked at before it is given up: no such direction was ever seen.
const MOST_PLACES: u32 = 100_000;

/// A way out: `length` along `direction`.
#[derive(Debug, Clone)]
pub(super) struct Exit {
    pub direction: DVec3,
    pub length: f64,
    /// The normal of the plane that is crossed last, of unit length.
    pub plane: DVec3,
    /// The pairs of triangles that part last.
    pub pairs: SmallVec<[[u32; 2]; 4]>,
}

/// Two meshes of which b is moved.
pub(super) struct Translation<'m> {
    a: PlacedMesh<'m>,
    b: PlacedMesh<'m>,
    /// Only triangles that reach into this box are looked at, those of b where they are.
    window: Option<Aabb>,
    /// Points of b that are inside a, or of a inside b, as long as the way out is not reached.
    witnesses: [SmallVec<[DVec3; 4]>; 2],
    common: CommonPoints<'m>,
    /// The extent of both bodies (a length).
    size: f64,
    /// Tests of boxes and triangles so far.
    tests: u64,
}

impl<'m> Translation<'m> {
    /// Two whole meshes.
    pub fn new(a: PlacedMesh<'m>, b: PlacedMesh<'m>) -> Translation<'m> {
        let firsts = |body: &PlacedMesh<'_>| {
            let components = body.model.topology().components();
            components.iter().map(|c| body.corners(c.first_triangle)[0]).collect()
        };
        let witnesses = [firsts(&b), firsts(&a)];
        let [[p, q], [r, s]] = [a.bounds(), b.bounds()];
        let common = CommonPoints::new([a, b], &Aabb { low: p.max(r), high: q.min(s) }, []);
        Translation::over(a, b, None, witnesses, common)
    }

    /// Only what lies in a window around a region; `inside` is a point of both bodies.
    pub fn within(
        a: PlacedMesh<'m>,
        b: PlacedMesh<'m>,
        region: &Aabb,
        window: Aabb,
        inside: Option<DVec3>,
    ) -> Translation<'m> {
        let witness: SmallVec<[DVec3; 4]> = inside.into_iter().collect();
        let common = CommonPoints::new([a, b], region, inside);
        Translation::over(a, b, Some(window), [witness.clone(), witness], common)
    }

    fn over(
        a: PlacedMesh<'m>,
        b: PlacedMesh<'m>,
        window: Option<Aabb>,
        witnesses: [SmallVec<[DVec3; 4]>; 2],
        common: CommonPoints<'m>,
    ) -> Translation<'m> {
        let [[p, q], [r, s]] = [a.bounds(), b.bounds()];
        let size = (q - p).length() + (s - r).length();
        Translation { a, b, window, witnesses, common, size, tests: 0 }
    }

    /// Longer than any way out.
    pub fn reach(&self) -> f64 {
        let [[p, q], [r, s]] = [self.a.bounds(), self.b.bounds()];
        (q.max(s) - p.min(r)).length() + self.size
    }

    /// The outward normals of the triangles that are looked at, with their areas, the largest first: along those of a
    /// and against those of b.
    pub fn face_directions(&self, inverted: [bool; 2]) -> Vec<(DVec3, f64)> {
        let area = |t: [DVec3; 3], k: usize| {
            let normal = (t[1] - t[0]).cross(t[2] - t[0]);
            if inverted[k] { -normal } else { normal }
        };
        let mut found: Vec<(DVec3, f64)> = Vec::new();
        let mut add = |v: DVec3| {
            let Some(n) = v.try_normalize() else { return };
            match found.iter().position(|(m, _)| m.dot(n) > SAME_DIRECTION) {
                Some(k) => found[k].1 += v.length(),
                None if found.len() < MOST_FACE_DIRECTIONS => found.push((n, v.length())),
                None => {}
            }
        };
        for (k, body) in [(1, &self.b), (0, &self.a)] {
            let mut all = Vec::new();
            let mut take = |t: u32| {
                let inside = |window: Aabb| window.meets(&Aabb::around_points(&body.corners(t)));
                if self.window.is_none_or(inside) {
                    all.push(t);
                }
                ControlFlow::Continue(())
            };
            match self.window {
                Some(window) => body.in_region(window.low, window.high, take),
                None => (0..body.model.mesh().triangles().len() as u32).for_each(|t| _ = take(t)),
            }
            all.sort_unstable();
            let step = all.len().div_ceil(MOST_NORMALS).max(1);
            for t in all.into_iter().step_by(step) {
                let normal = area(body.corners(t), k);
                add(if k == 1 { -normal } else { normal });
            }
        }
        found.sort_by(|x, y| y.1.total_cmp(&x.1));
        found
    }

    /// What the way out along a direction is not shorter than, up to `limit`.
    pub fn at_least(&mut self, direction: DVec3, limit: f64) -> f64 {
        self.common.at_least(direction, limit)
    }

    /// The first way out along a direction, if it is shorter than `limit`.
    pub fn first_exit(&mut self, direction: DVec3, limit: f64) -> Option<Exit> {
        let least = self.at_least(direction, limit);
        if least >= limit {
            return None;
        }
        let (gap, same) = (FREE_GAP * self.size, SAME_EXIT * self.size);
        // A little before the bound, so that the pairs that part there are seen.
        let (mut reached, mut step) = ((least - same).max(0.0), 0.5 * gap);
        let mut plane = direction;
        let mut last: Vec<(Interval, [u32; 2])> = Vec::new();
        for _ in 0..MOST_PLACES {
            let place = reached + step;
            let met = self.meeting_at(direction, place);
            let end = met.iter().max_by(|x, y| x.0.high.total_cmp(&y.0.high)).map(|(met, _)| *met);
            if let Some(end) = end {
                // What only rounding keeps together is passed in growing steps.
                step = if end.high > reached + gap { 0.5 * gap } else { 2.0 * step };
                (reached, plane) = (end.high.max(reached), end.exit);
                last = met;
            } else if let Some(more) = self.inside_for(direction, place, limit) {
                (reached, step) =
                    if more > 2.0 * same { (place + more - same, 0.5 * gap) } else { (place, 2.0 * step) };
            } else {
                last.retain(|(met, _)| (met.high - reached).abs() <= same);
                let pairs = last.iter().map(|(_, pair)| *pair).take(MOST_LAST_PAIRS).collect();
                let plane = plane.try_normalize().unwrap_or(direction);
                return Some(Exit { direction, length: reached, plane, pairs });
            }
            if reached >= limit {
                return None;
            }
        }
        None
    }

    /// The pairs of triangles that meet when b is moved so far, with the lengths for which they do.
    fn meeting_at(&mut self, direction: DVec3, length: f64) -> Vec<(Interval, [u32; 2])> {
        let shift = direction * length;
        let moved = self.b.pose.moved_to(self.b.pose.translation() + shift);
        let bodies = [Posed::new(self.a.model, *self.a.pose), Posed::new(self.b.model, moved)];
        let (pairs, outcome) = pairs_within_budget(bodies[0], bodies[1], &mut Budget::UNLIMITED.clone());
        self.tests += outcome.work.volume_tests + outcome.work.primitive_tests;
        let seen = |corners: &[DVec3; 3]| {
            self.window.is_none_or(|window| window.meets(&Aabb::around_points(corners)))
        };
        let with_interval = |pair: [u32; 2]| {
            let [fixed, moved] = self.corners(pair);
            let met = interval(&fixed, &moved, direction).filter(|_| seen(&fixed) && seen(&moved))?;
            Some((met, pair))
        };
        pairs.into_iter().filter_map(with_interval).collect()
    }

    /// Where the surfaces are apart but one body is inside the other: how much farther it is so at least. `None` where
    /// no body is.
    fn inside_for(&mut self, direction: DVec3, length: f64, limit: f64) -> Option<f64> {
        let holds = |body: &PlacedMesh<'_>, p: DVec3| {
            body.holds(p, &mut Budget::UNLIMITED.clone(), &mut Counters::default()) == Some(true)
        };
        let mut most: Option<f64> = None;
        for k in 0..2 {
            let (body, way) = if k == 0 { (self.a, direction) } else { (self.b, -direction) };
            for p in &self.witnesses[k] {
                let origin = *p + way * length;
                if holds(&body, origin) {
                    let more = self.common.way(k, origin, way, limit);
                    most = Some(most.map_or(more, |most| most.max(more)));
                }
            }
        }
        most
    }

    /// The way out from one direction, along the normals of the planes crossed last for as long as that is shorter.
    pub fn along(&mut self, direction: DVec3, limit: f64, pay: &mut impl FnMut(u64) -> bool) -> Option<Exit> {
        let exit = self.first_exit(direction, limit)?;
        Some(self.projected(exit, pay))
    }

    /// The shortest way out that is found from these directions, shorter than `limit`; `pay` is told the tests made,
    /// and ends the search by false.
    pub fn shortest(
        &mut self,
        directions: impl IntoIterator<Item = DVec3>,
        limit: f64,
        mut pay: impl FnMut(u64) -> bool,
    ) -> Option<Exit> {
        let mut sorted: Vec<(f64, DVec3)> = directions
            .into_iter()
            .map(|direction| (self.common.at_least_roughly(direction, limit), direction))
            .collect();
        // Stable: of equal ones the first.
        sorted.sort_by(|x, y| x.0.total_cmp(&y.0));
        let mut best: Option<Exit> = None;
        for (least, direction) in sorted {
            let most = best.as_ref().map_or(limit, |best| best.length);
            if least >= most {
                break;
            }
            if !self.paid(&mut pay) {
                return best;
            }
            if let Some(exit) = self.first_exit(direction, most) {
                best = Some(self.projected(exit, &mut pay));
            }
        }
        best.map(|best| self.turned(best, &mut pay))
    }

    fn paid(&mut self, pay: &mut impl FnMut(u64) -> bool) -> bool {
        let tests = std::mem::take(&mut self.tests) + std::mem::take(&mut self.common.work);
        pay(tests)
    }

    /// Goes along the normal of the plane crossed last for as long as that is shorter.
    fn projected(&mut self, mut best: Exit, pay: &mut impl FnMut(u64) -> bool) -> Exit {
        for _ in 0..MOST_PROJECTIONS {
            self.remember(&best);
            if best.plane.dot(best.direction) > 1.0 - NO_DIRECTION || !self.paid(pay) {
                break;
            }
            match self.first_exit(best.plane, best.length * (1.0 - WORTH_TURNING)) {
                Some(exit) => best = exit,
                None => break,
            }
        }
        best
    }

    /// The point at which b was last left makes the bound of directions near this one sharp.
    fn remember(&mut self, exit: &Exit) {
        let shift = exit.direction * exit.length;
        if let Some(&pair) = exit.pairs.first() {
            let [fixed, moved] = self.corners(pair);
            let near = nearest(&fixed, &moved.map(|p| p + shift));
            self.common.add(near.points[1] - shift);
        }
    }

    /// Turns the direction a little to each side for as long as that is shorter.
    fn turned(&mut self, mut best: Exit, pay: &mut impl FnMut(u64) -> bool) -> Exit {
        let mut step = TURN_FIRST;
        while step > TURN_LAST {
            let (u, v) = best.direction.any_orthonormal_pair();
            let mut better = None;
            for k in 0..8 {
                let (sin, cos) = (f64::from(k) * std::f64::consts::FRAC_PI_4 + step).sin_cos();
                let direction = (best.direction + (u * cos + v * sin) * step).normalize();
                if !self.paid(pay) {
                    return best;
                }
                better = self.first_exit(direction, best.length * (1.0 - WORTH_TURNING));
                if better.is_some() {
                    break;
                }
            }
            match better {
                Some(exit) => best = self.projected(exit, pay),
                None => step *= 0.5,
            }
        }
        best
    }

    /// The triangles of a pair, b's as it is.
    pub fn corners(&self, [t, u]: [u32; 2]) -> [[DVec3; 3]; 2] {
        [self.a.corners(t), self.b.corners(u)]
    }
}

/// Directions spread evenly over the sphere (a Fibonacci lattice).
pub(super) fn spread_directions(count: u32) -> impl Iterator<Item = DVec3> {
    (0..count).map(move |k| {
        let z = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(count);
        let (sin, cos) = (f64::from(k) * std::f64::consts::PI * (3.0 - 5.0_f64.sqrt())).sin_cos();
        let across = (1.0 - z * z).sqrt();
        DVec3::new(cos * across, sin * across, z)
    })
}
