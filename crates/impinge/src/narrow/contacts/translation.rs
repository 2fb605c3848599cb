//! The shortest translation that takes one mesh out of another: how long along a given direction, and which
//! direction is best.
//!
//! Along a direction every pair of triangles meets for one interval of lengths (`interval`). Where a union of
//! intervals ends, the surfaces are apart, and unless one body is then inside the other that is a way out. The
//! nearest way out over all directions is the nearest point of the border of the Minkowski difference. It is looked
//! for from many directions; each find is improved by going along the normal of the plane that was crossed last, as
//! Je, Tang, Lee, Lee and Kim ("PolyDepth: real-time penetration depth computation using iterative contact-space
//! projection", 2012) project onto contact space, and by turning it a little to each side, for places where several
//! planes meet. What is found is always a way out; that there is none shorter is not proved.

use std::cell::Cell;
use std::ops::ControlFlow;

use glam::DVec3;
use smallvec::SmallVec;

use super::interval::{Interval, interval};
use super::payment::Payment;
use crate::Budget;
use crate::Counters;
use crate::bound::Aabb;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::num::compact_sort::sort_rarely;
use crate::num::each::Each;
use crate::num::tolerance::{FREE_GAP, NO_DIRECTION, SAME_EXIT, TURN_FIRST, TURN_LAST, WORTH_TURNING};

/// How often a direction is replaced by the normal of the plane crossed last.
const MOST_PROJECTIONS: u32 = 32;

/// Pairs of triangles that are the last to part, of which points are told.
const MOST_LAST_PAIRS: usize = 64;

/// Face normals that are told apart at most.
const MOST_FACE_DIRECTIONS: usize = 256;

/// Cosine of the angle below which two face normals are one direction (no unit).
const SAME_DIRECTION: f64 = 0.999;

/// More triangles than this are asked in several goes, all of them in the last.
const FEW_TRIANGLES: usize = 1024;

/// Shares of so many triangles that are asked before: mostly a few block a direction.
const COARSER: [usize; 3] = [16, 4, 1];

/// Shares of fewer triangles, but more than so many.
const SHARES: [usize; 2] = [16, 4];
const SOME_TRIANGLES: usize = 128;

/// How often all of more triangles than [`FEW_TRIANGLES`] are asked, at most.
const MOST_WHOLE_ANSWERS: u32 = 32;

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

/// Why a direction gives no way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blocked {
    /// Up to the limit something meets all the way: more triangles would not change that.
    AllTheWay,
    /// Somewhere no surfaces meet, and one body is inside the other.
    Inside,
    /// The budget ended.
    Unpaid,
}

/// Two meshes of which b is moved.
pub(super) struct Translation<'m> {
    a: PlacedMesh<'m>,
    b: PlacedMesh<'m>,
    /// The triangles of b that are looked at.
    moved: Vec<(u32, [DVec3; 3])>,
    /// Only triangles of a that reach into this box are looked at.
    window: Option<Aabb>,
    /// Points of b that are inside a, or of a inside b, as long as the way out is not reached.
    witnesses: [SmallVec<[DVec3; 4]>; 2],
    /// The extent of both bodies (a length).
    size: f64,
    /// How often all of many triangles are still asked.
    whole_answers: Cell<u32>,
}

impl<'m> Translation<'m> {
    /// Two whole meshes.
    pub fn new(a: PlacedMesh<'m>, b: PlacedMesh<'m>) -> Translation<'m> {
        let firsts = |body: &PlacedMesh<'_>| {
            let components = body.model.topology().components();
            components.iter().map(|c| body.corners(c.first_triangle)[0]).collect()
        };
        let witnesses = [firsts(&b), firsts(&a)];
        Translation::over(a, b, None, witnesses)
    }

    /// Only what lies in a window; `inside` is a point of both bodies.
    pub fn within(
        a: PlacedMesh<'m>,
        b: PlacedMesh<'m>,
        window: Aabb,
        inside: Option<DVec3>,
    ) -> Translation<'m> {
        let witness: SmallVec<[DVec3; 4]> = inside.into_iter().collect();
        Translation::over(a, b, Some(window), [witness.clone(), witness])
    }

    fn over(
        a: PlacedMesh<'m>,
        b: PlacedMesh<'m>,
        window: Option<Aabb>,
        witnesses: [SmallVec<[DVec3; 4]>; 2],
    ) -> Translation<'m> {
        let mut moved = Vec::new();
        let mut take = |t: u32| {
            let corners = b.corners(t);
            if window.is_none_or(|window| window.meets(&Aabb::around_points(&corners))) {
                moved.push((t, corners));
            }
        };
        match window {
            Some(window) => b.in_region(window.low, window.high, |t| {
                take(t);
                ControlFlow::Continue(())
            }),
            None => (0..b.model.mesh().triangles().len() as u32).for_each(&mut take),
        }
        moved.sort_unstable_by_key(|(t, _)| *t);
        let [[p, q], [r, s]] = [a.bounds(), b.bounds()];
        let size = (q - p).length() + (s - r).length();
        let whole_answers = Cell::new(MOST_WHOLE_ANSWERS);
        Translation { a, b, moved, window, witnesses, size, whole_answers }
    }

    /// Longer than any way out.
    pub fn reach(&self) -> f64 {
        let [[p, q], [r, s]] = [self.a.bounds(), self.b.bounds()];
        (q.max(s) - p.min(r)).length() + self.size
    }

    /// The outward normals of the triangles that are looked at, with their areas, the largest first: along those of a
    /// and against those of b. Fewer of them when the budget ends.
    pub fn face_directions(&self, inverted: [bool; 2], payment: &mut Payment<'_>) -> Vec<(DVec3, f64)> {
        let area = |t: [DVec3; 3], k: usize| {
            let normal = (t[1] - t[0]).cross(t[2] - t[0]);
            if inverted[k] { -normal } else { normal }
        };
        let mut found: Vec<(DVec3, f64)> = Vec::new();
        let mut add = |v: DVec3| {
            if !payment.pay(1) {
                return ControlFlow::Break(());
            }
            let Some(n) = v.try_normalize() else { return ControlFlow::Continue(()) };
            match found.iter().position(|(m, _)| m.dot(n) > SAME_DIRECTION) {
                Some(k) => found[k].1 += v.length(),
                None if found.len() < MOST_FACE_DIRECTIONS => found.push((n, v.length())),
                None => {}
            }
            ControlFlow::Continue(())
        };
        let _ = self.moved.iter().try_for_each(|(_, corners)| add(-area(*corners, 1)));
        let of_a = |t: u32| {
            let corners = self.a.corners(t);
            if self.window.is_none_or(|window| window.meets(&Aabb::around_points(&corners))) {
                return add(area(corners, 0));
            }
            ControlFlow::Continue(())
        };
        match self.window {
            Some(window) => self.a.in_region(window.low, window.high, of_a),
            None => _ = (0..self.a.model.mesh().triangles().len() as u32).try_for_each(of_a),
        }
        sort_rarely(&mut found, |x, y| y.1.total_cmp(&x.1));
        found
    }

    /// [`WayOut::first_exit`] of every so-many-th triangle.
    fn exit_of_every(
        &self,
        step: usize,
        direction: DVec3,
        limit: f64,
        payment: &mut Payment<'_>,
    ) -> Result<Exit, Blocked> {
        let mut found: Vec<(Interval, [u32; 2])> = Vec::new();
        let gap = FREE_GAP * self.size;
        let (mut blocked, mut paid) = (false, true);
        let shadow = Shadow::along(direction, self.moved.first().map_or(DVec3::ZERO, |(_, t)| t[0]), gap);
        for (t, corners) in self.moved.iter().step_by(step) {
            let [low, high] = swept(corners, direction * limit);
            let moved = shadow.of(corners);
            paid &= payment.pay(self.descent());
            self.a.in_region(low, high, |u| {
                paid &= payment.pay(1);
                if !paid {
                    return ControlFlow::Break(());
                }
                let fixed = self.a.corners(u);
                let bounds = Aabb::around_points(&fixed);
                if bounds.low.cmpgt(high).any() || bounds.high.cmplt(low).any() {
                    return ControlFlow::Continue(());
                }
                if self.window.is_some_and(|window| !window.meets(&bounds)) {
                    return ControlFlow::Continue(());
                }
                if shadow.are_apart(&shadow.of(&fixed), &moved) {
                    return ControlFlow::Continue(());
                }
                if let Some(met) = interval(&fixed, corners, direction)
                    && met.high >= 0.0
                    && met.low <= limit
                {
                    blocked = met.low <= gap && met.high >= limit;
                    found.push((met, [u, *t]));
                }
                if blocked { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if blocked || !paid {
                return Err(if paid { Blocked::AllTheWay } else { Blocked::Unpaid });
            }
        }
        let is_out = |length: f64| self.is_out(direction * length, payment);
        let (reached, plane) = end_of_union(&mut found, direction, limit, gap, is_out)?;
        let last = found.iter().filter(|(met, _)| (met.high - reached).abs() <= SAME_EXIT * self.size);
        let pairs = last.map(|(_, pair)| *pair).take(MOST_LAST_PAIRS).collect();
        Ok(Exit { direction, length: reached, plane, pairs })
    }

    /// Whether no body is inside the other after a translation of b at which the surfaces are apart.
    fn is_out(&self, shift: DVec3, payment: &mut Payment<'_>) -> bool {
        let mut holds = |body: &PlacedMesh<'_>, p: DVec3| {
            let mut work = Counters::default();
            let inside = body.holds(p, &mut Budget::UNLIMITED.clone(), &mut work);
            payment.pay(work.primitive_tests);
            inside == Some(true)
        };
        let [of_b, of_a] = &self.witnesses;
        !of_b.iter().any(|p| holds(&self.a, *p + shift)) && !of_a.iter().any(|p| holds(&self.b, *p - shift))
    }

    /// Boxes that are looked at on the way down to one triangle of a.
    fn descent(&self) -> u64 {
        self.a.model.mesh().triangles().len().max(2).ilog2().into()
    }

    /// The triangles of a pair, b's as it is.
    pub fn corners(&self, [t, u]: [u32; 2]) -> [[DVec3; 3]; 2] {
        [self.a.corners(t), self.b.corners(u)]
    }
}

/// Two bodies of which b is moved along a direction until they are apart.
pub(super) trait WayOut {
    /// The first way out along a direction, if it is shorter than `limit` and the budget lasts.
    fn first_exit(&self, direction: DVec3, limit: f64, payment: &mut Payment<'_>) -> Option<Exit>;

    /// A way out that is not longer is as good as any (a length).
    fn floor(&self) -> f64;

    /// About how much one direction looks at, as a rule.
    fn cost(&self) -> u64;

    /// The shortest way out that is found from these directions, shorter than `limit`; the outer `None` when the budget
    /// ended.
    fn search(
        &self,
        directions: impl IntoIterator<Item = DVec3>,
        limit: f64,
        payment: &mut Payment<'_>,
    ) -> Option<Option<Exit>> {
        let mut best: Option<Exit> = None;
        for direction in directions {
            let most = best.as_ref().map_or(limit, |best| best.length);
            let exit = self.first_exit(direction, most, payment);
            if !payment.pay(1) {
                return None;
            }
            if let Some(exit) = exit {
                best = Some(self.projected(exit, payment));
            }
            // Nothing shorter is told from rounding.
            if best.as_ref().is_some_and(|best| best.length <= self.floor()) {
                return payment.settle().then_some(best);
            }
        }
        let best = best.map(|best| self.turned(best, payment));
        payment.settle().then_some(best)
    }

    /// Goes along the normal of the plane crossed last for as long as that is shorter.
    fn projected(&self, mut best: Exit, payment: &mut Payment<'_>) -> Exit {
        for _ in 0..MOST_PROJECTIONS {
            if best.plane.dot(best.direction) > 1.0 - NO_DIRECTION {
                break;
            }
            match self.first_exit(best.plane, best.length * (1.0 - WORTH_TURNING), payment) {
                Some(exit) => best = exit,
                None => break,
            }
        }
        best
    }

    /// Turns the direction a little to each side for as long as that is shorter.
    fn turned(&self, mut best: Exit, payment: &mut Payment<'_>) -> Exit {
        let mut step = TURN_FIRST;
        while step > TURN_LAST {
            let (u, v) = best.direction.any_orthonormal_pair();
            let around = (0..8).map(|k| {
                let (sin, cos) = (f64::from(k) * std::f64::consts::FRAC_PI_4 + step).sin_cos();
                (best.direction + (u * cos + v * sin) * step).normalize()
            });
            let mut better = None;
            for direction in around {
                if !payment.pay(1) {
                    return best;
                }
                better = self.first_exit(direction, best.length * (1.0 - WORTH_TURNING), payment);
                if better.is_some() {
                    break;
                }
            }
            match better {
                Some(exit) => best = self.projected(exit, payment),
                None => step *= 0.5,
            }
        }
        best
    }
}

impl WayOut for Translation<'_> {
    /// Of many triangles some are asked first: without the others the way is not longer, and where some of them meet all
    /// the way, all do. After some whole answers about very many triangles there are no more.
    fn first_exit(&self, direction: DVec3, limit: f64, payment: &mut Payment<'_>) -> Option<Exit> {
        let step = self.moved.len().div_ceil(FEW_TRIANGLES);
        if step > 1 {
            for coarser in COARSER {
                self.exit_of_every(step * coarser, direction, limit, payment).ok()?;
            }
            let left = self.whole_answers.get();
            self.whole_answers.set(left.checked_sub(1)?);
        } else if self.moved.len() > SOME_TRIANGLES {
            for share in SHARES {
                let some = self.exit_of_every(share, direction, limit, payment);
                if matches!(some, Err(Blocked::AllTheWay | Blocked::Unpaid)) {
                    return None;
                }
            }
        }
        self.exit_of_every(1, direction, limit, payment).ok()
    }

    fn floor(&self) -> f64 {
        FREE_GAP * self.size
    }

    /// Boxes and triangles.
    fn cost(&self) -> u64 {
        self.moved.len().min(2 * FEW_TRIANGLES) as u64 * self.descent()
    }
}

/// Where a union of intervals that begins at 0 ends, below `limit`, and the unit normal of the plane crossed there;
/// `is_out` tells of a length at which no pair meets whether it is a way out. Gaps up to `gap` are none.
pub(super) fn end_of_union<P>(
    found: &mut [(Interval, P)],
    direction: DVec3,
    limit: f64,
    gap: f64,
    mut is_out: impl FnMut(f64) -> bool,
) -> Result<(f64, DVec3), Blocked> {
    found.sort_by(|x, y| x.0.low.total_cmp(&y.0.low));
    let (mut reached, mut plane) = (0.0, direction);
    let (mut is_apart, mut blocked) = (false, Blocked::AllTheWay);
    for (met, _) in found.iter() {
        if met.low > reached + gap {
            is_apart = is_out(reached + 0.5 * gap.min(met.low - reached));
            if is_apart {
                break;
            }
            blocked = Blocked::Inside;
        } else if met.high <= reached {
            continue;
        }
        (reached, plane) = (met.high, met.exit);
        if reached >= limit {
            return Err(blocked);
        }
    }
    // Without a pair that meets, a way of no length is still not shorter than none.
    if reached >= limit {
        return Err(blocked);
    }
    if !is_apart && !is_out(reached + 0.5 * gap) {
        return Err(Blocked::Inside);
    }
    Ok((reached, plane.try_normalize().unwrap_or(direction)))
}

/// Shadows of triangles on a plane square to a direction: along it, triangles whose shadows are apart never meet.
struct Shadow {
    axes: [DVec3; 2],
    /// Near the bodies, for small numbers.
    origin: DVec3,
    /// Shadows nearer than this may touch (a length).
    doubt: f64,
}

impl Shadow {
    fn along(direction: DVec3, origin: DVec3, doubt: f64) -> Shadow {
        let (u, v) = direction.any_orthonormal_pair();
        Shadow { axes: [u, v], origin, doubt }
    }

    /// The ranges of a triangle along both axes.
    #[inline]
    fn of(&self, corners: &[DVec3; 3]) -> [[f64; 2]; 2] {
        let corners = corners.each(|p| p - self.origin);
        self.axes.each(|axis| {
            let [x, y, z] = corners.each(|p| axis.dot(p));
            [x.min(y).min(z), x.max(y).max(z)]
        })
    }

    #[inline]
    fn are_apart(&self, a: &[[f64; 2]; 2], b: &[[f64; 2]; 2]) -> bool {
        (0..2).any(|k| a[k][0] > b[k][1] + self.doubt || b[k][0] > a[k][1] + self.doubt)
    }
}

/// A box around a triangle on its way.
fn swept(corners: &[DVec3; 3], way: DVec3) -> [DVec3; 2] {
    let [p, q, r] = *corners;
    let (low, high) = (p.min(q).min(r), p.max(q).max(r));
    [low.min(low + way), high.max(high + way)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::{Pose, procedural};

    #[test]
    fn every_look_is_paid_and_the_search_ends_with_its_budget() {
        // Two balls in the same place: on its way out each triangle passes by hundreds of others.
        let model = Model::from(procedural::ico_sphere(1.0, 4).unwrap());
        let ball = PlacedMesh::new(&model, &Pose::IDENTITY);
        let way = Translation::new(ball, ball);
        let (mut unlimited, mut work) = (Budget::UNLIMITED, Counters::default());
        let mut payment = Payment::from(&mut unlimited, &mut work);
        let exit = way.first_exit(DVec3::X, way.reach(), &mut payment).unwrap();
        assert!((exit.length - 2.0).abs() < 0.01, "{exit:?}");
        assert!(payment.settle() && work.primitive_tests > 2 * way.cost(), "{work:?}, {}", way.cost());
        let (mut trial, mut some) = (Budget::units(5000).trial(5000), Counters::default());
        let mut payment = Payment::from(&mut trial, &mut some);
        assert!(way.search(spread_directions(10), way.reach(), &mut payment).is_none());
        assert!((5000..6000).contains(&some.primitive_tests), "{some:?}");
    }

    #[test]
    fn asking_some_triangles_first_changes_no_way_out() {
        let [ring, ball] = [procedural::torus(1.0, 0.45, 20, 8), procedural::ico_sphere(0.5, 2)]
            .map(|mesh| Model::from(mesh.unwrap()));
        assert!((SOME_TRIANGLES..FEW_TRIANGLES).contains(&ball.mesh().triangles().len()));
        let mut counts = [0; 2];
        for k in 0..8 {
            let pose = Pose::shift(DVec3::new(0.7 + 0.1 * f64::from(k), 0.1, 0.05 * f64::from(k)));
            let way =
                Translation::new(PlacedMesh::new(&ring, &Pose::IDENTITY), PlacedMesh::new(&ball, &pose));
            for direction in spread_directions(12) {
                for limit in [0.2, 0.5, way.reach()] {
                    let (mut unlimited, mut work) = (Budget::UNLIMITED, Counters::default());
                    let mut payment = Payment::from(&mut unlimited, &mut work);
                    let all = way.exit_of_every(1, direction, limit, &mut payment).ok();
                    let first = way.first_exit(direction, limit, &mut payment);
                    assert_eq!(first.as_ref().map(|exit| exit.length), all.as_ref().map(|exit| exit.length));
                    counts[usize::from(first.is_some())] += 1;
                }
            }
        }
        assert!(counts.iter().all(|&n| n > 40), "{counts:?}");
    }
}
