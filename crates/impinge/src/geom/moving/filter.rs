//! Contact of moving features in floats: a verdict wherever the error bounds allow one.

use std::ops::ControlFlow;

use glam::DVec3;

use super::FeaturePairKind;
use super::coplanarity_roots::Cubic;
use crate::geom::fast_max::{larger, largest};
use crate::num::double_double::{self, DoubleDoubleVec};
use crate::num::tolerance::{
    CONTACT_TIME, COPLANARITY_REROUNDING, COPLANARITY_ROUNDING, COPLANARITY_TWOFOLD, DETERMINANT_UNDERFLOW,
    MOVING_CROSS_ROUNDING, SMALLEST_TWOFOLD,
};

/// What floats can say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    /// They never meet.
    Free,
    /// They first meet within the tolerance after this time, not before it.
    Contact(f64),
    /// Rounding may hide the answer.
    Doubt,
}

/// A vector at the start and at the end of the step.
#[derive(Debug, Clone, Copy)]
struct Moving {
    t0: DVec3,
    t1: DVec3,
}

impl Moving {
    #[inline]
    fn at(&self, t: f64) -> DVec3 {
        self.t0 * (1.0 - t) + self.t1 * t
    }

    /// The largest component at any time.
    #[inline]
    fn size(&self) -> f64 {
        larger(largest(self.t0), largest(self.t1))
    }
}

/// The vectors u, v, w.
#[inline]
fn frame(kind: FeaturePairKind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> [Moving; 3] {
    let [[a, b], [c, d], [e, f]] = kind.frame();
    let vector = |a: usize, b: usize| Moving { t0: t0[b] - t0[a], t1: t1[b] - t1[a] };
    [vector(a, b), vector(c, d), vector(e, f)]
}

/// Decides where error bounds allow it.
#[inline]
pub(super) fn first_contact(kind: FeaturePairKind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> Verdict {
    let frame = frame(kind, t0, t1);
    let sizes = [frame[0].size(), frame[1].size(), frame[2].size()];
    let cubic = coplanarity(&frame, sizes);
    if cubic.is_free() || boxes_are_apart(kind, t0, t1) {
        return Verdict::Free;
    }
    cubic.search(|bracket| judge(kind, &frame, sizes, bracket))
}

/// The same with coefficients of the cubic from double-double numbers, so that its roots are as sharp as doubles
/// allow.
pub(super) fn first_contact_twofold(kind: FeaturePairKind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> Verdict {
    let frame = frame(kind, t0, t1);
    let sizes = [frame[0].size(), frame[1].size(), frame[2].size()];
    if sizes.iter().any(|&size| size < SMALLEST_TWOFOLD) {
        return Verdict::Doubt;
    }
    let cubic = sharp_coplanarity(kind, t0, t1, sizes);
    if cubic.is_free() {
        return Verdict::Free;
    }
    cubic.search(|bracket| judge(kind, &frame, sizes, bracket))
}

/// What a root of the cubic means.
fn judge(
    kind: FeaturePairKind,
    frame: &[Moving; 3],
    sizes: [f64; 3],
    bracket: [f64; 2],
) -> ControlFlow<Verdict> {
    match meet_during(kind, frame, sizes, bracket) {
        Some(false) => ControlFlow::Continue(()),
        Some(true) if bracket[1] - bracket[0] <= CONTACT_TIME => {
            ControlFlow::Break(Verdict::Contact(bracket[0]))
        }
        _ => ControlFlow::Break(Verdict::Doubt),
    }
}

/// det(u, v, w) over time.
#[inline]
fn coplanarity([u, v, w]: &[Moving; 3], [x, y, z]: [f64; 3]) -> Cubic {
    let first = u.t0.cross(v.t0);
    let mixed = u.t0.cross(v.t1) + u.t1.cross(v.t0);
    let last = u.t1.cross(v.t1);
    let third = 1.0 / 3.0;
    let bernstein = [
        first.dot(w.t0),
        (mixed.dot(w.t0) + first.dot(w.t1)) * third,
        (last.dot(w.t0) + mixed.dot(w.t1)) * third,
        last.dot(w.t1),
    ];
    Cubic::new(bernstein, COPLANARITY_ROUNDING * (x * y * z) + DETERMINANT_UNDERFLOW)
}

/// The same in double-double numbers.
fn sharp_coplanarity(kind: FeaturePairKind, t0: &[DVec3; 4], t1: &[DVec3; 4], [x, y, z]: [f64; 3]) -> Cubic {
    let [start, end] = [t0, t1].map(|at| kind.frame().map(|[a, b]| double_double::difference(at[b], at[a])));
    let ([u0, v0, w0], [u1, v1, w1]) = (&start, &end);
    let first = double_double::cross(u0, v0);
    let mixed = double_double::plus(&double_double::cross(u0, v1), &double_double::cross(u1, v0));
    let last = double_double::cross(u1, v1);
    let both = |a: &DoubleDoubleVec, b: &DoubleDoubleVec| {
        double_double::dot(a, w0).plus(double_double::dot(b, w1)).value()
    };
    let third = 1.0 / 3.0;
    let bernstein = [
        double_double::dot(&first, w0).value(),
        both(&mixed, &first) * third,
        both(&last, &mixed) * third,
        double_double::dot(&last, w1).value(),
    ];
    let most = bernstein.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
    let error = COPLANARITY_REROUNDING * most + COPLANARITY_TWOFOLD * (x * y * z);
    Cubic::new(bernstein, error + DETERMINANT_UNDERFLOW)
}

/// Whether the boxes around the whole motion of both features have no common point.
#[inline]
fn boxes_are_apart(kind: FeaturePairKind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> bool {
    let bounds = |i: usize| [t0[i].min(t1[i]), t0[i].max(t1[i])];
    let join = |a: [DVec3; 2], b: [DVec3; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let others = join(bounds(2), bounds(3));
    let [one, other] = match kind {
        FeaturePairKind::VertexFace => [bounds(0), join(bounds(1), others)],
        FeaturePairKind::EdgeEdge => [join(bounds(0), bounds(1)), others],
    };
    one[0].cmpgt(other[1]).any() || other[0].cmpgt(one[1]).any()
}

/// Whether the features meet at the root of the cubic that lies in a bracket.
fn meet_during(
    kind: FeaturePairKind,
    [u, v, w]: &[Moving; 3],
    [x, y, z]: [f64; 3],
    [low, high]: [f64; 2],
) -> Option<bool> {
    let t = 0.5 * (low + high);
    // A difference of two products changes at most twice as fast as a product, over half the bracket.
    let way = |vector: &Moving| largest(vector.t1 - vector.t0) * (high - low);
    let way = [way(u), way(v), way(w)];
    let error = |size: [f64; 2], way: [f64; 2]| {
        let moved = size[0] * way[1] + size[1] * way[0];
        moved * (1.0 + MOVING_CROSS_ROUNDING)
            + MOVING_CROSS_ROUNDING * size[0] * size[1]
            + DETERMINANT_UNDERFLOW
    };
    let [plane, along_u, along_v] =
        [error([x, y], [way[0], way[1]]), error([z, y], [way[2], way[1]]), error([x, z], [way[0], way[2]])];
    let (u, v, w) = (u.at(t), v.at(t), w.at(t));
    let normal = u.cross(v);
    let size = normal.abs();
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    if size[axis] <= plane {
        return None;
    }
    let s = normal[axis].signum();
    let n = size[axis];
    let [b, c] = [w.cross(v)[axis] * s, u.cross(w)[axis] * s];
    let limits = match kind {
        FeaturePairKind::VertexFace => {
            [(b, along_u), (c, along_v), (n - b - c, plane + along_u + along_v), (n, 0.0)]
        }
        FeaturePairKind::EdgeEdge => {
            [(b, along_u), (n - b, plane + along_u), (-c, along_v), (n + c, plane + along_v)]
        }
    };
    if limits.iter().any(|&(value, error)| value < -error) {
        Some(false)
    } else {
        limits.iter().all(|&(value, error)| value > error).then_some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::dyadic::Dyadic;
    use crate::num::random::unit;

    /// Coefficients times three, exactly.
    fn exact_coplanarity(kind: FeaturePairKind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> [Dyadic; 4] {
        type Exact = [Dyadic; 3];
        let vectors = |at: &[DVec3; 4]| -> [Exact; 3] {
            kind.frame()
                .map(|[a, b]| std::array::from_fn(|i| &Dyadic::from(at[b][i]) - &Dyadic::from(at[a][i])))
        };
        let determinant = |u: &Exact, v: &Exact, w: &Exact| {
            let term = |i: usize| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                &(&(&u[j] * &v[k]) - &(&u[k] * &v[j])) * &w[i]
            };
            &(&term(0) + &term(1)) + &term(2)
        };
        let ends = [vectors(t0), vectors(t1)];
        let pick = |i: usize, j: usize, k: usize| determinant(&ends[i][0], &ends[j][1], &ends[k][2]);
        let three = Dyadic::from(3.0);
        let one = &(&pick(0, 0, 1) + &pick(0, 1, 0)) + &pick(1, 0, 0);
        let two = &(&pick(0, 1, 1) + &pick(1, 0, 1)) + &pick(1, 1, 0);
        [&pick(0, 0, 0) * &three, one, two, &pick(1, 1, 1) * &three]
    }

    /// Points that are nearly coplanar all the time, far from the origin or not: coefficients are off by less than
    /// the bounds, in plain and in double-double numbers, and by so much that far smaller bounds would be caught
    /// here.
    #[test]
    fn coefficients_are_as_sharp_as_their_bounds_say() {
        let (mut plain, mut sharp) = (0.0_f64, 0.0_f64);
        for case in 0..40_000 {
            let kind = if case % 2 == 0 { FeaturePairKind::VertexFace } else { FeaturePairKind::EdgeEdge };
            let random = |k: u64| unit(17, 64 * case + k);
            let far = if case % 3 == 0 { 7.0 } else { 0.0 };
            let bump = [0.0, 1e-16, 1e-9, 1.0][(case / 2 % 4) as usize];
            let points = |first: u64| -> [DVec3; 4] {
                let at = |k: u64| DVec3::new(random(k), random(k + 1), random(k + 2)) - DVec3::splat(0.5);
                let [o, e, f] = [at(first), at(first + 3), at(first + 6)];
                std::array::from_fn(|i| {
                    let k = first + 9 + 3 * i as u64;
                    // Corners of a cube have the largest products.
                    let rounded =
                        |x: f64| if case % 5 == 0 { 2.0 * x.signum() * (1.0 - 1e-3 * x.abs()) } else { x };
                    let p = o + e * (4.0 * random(k) - 2.0) + f * (4.0 * random(k + 1) - 2.0) + at(k) * bump;
                    DVec3::new(rounded(p.x), rounded(p.y), rounded(p.z)) + DVec3::splat(far)
                })
            };
            let (t0, t1) = (points(0), points(24));
            let exact = exact_coplanarity(kind, &t0, &t1);
            let frame = frame(kind, &t0, &t1);
            let sizes = [frame[0].size(), frame[1].size(), frame[2].size()];
            let volume = sizes[0] * sizes[1] * sizes[2];
            let off = |b: [f64; 4]| {
                let three = Dyadic::from(3.0);
                let miss = |i: usize| (&(&Dyadic::from(b[i]) * &three) - &exact[i]).scaled(0).abs() / 3.0;
                miss(0).max(miss(1)).max(miss(2)).max(miss(3))
            };
            plain = plain.max(off(coplanarity(&frame, sizes).coefficients()) / volume);
            let cubic = sharp_coplanarity(kind, &t0, &t1, sizes).coefficients();
            let most = cubic.iter().fold(0.0_f64, |most, b| most.max(b.abs()));
            let room = COPLANARITY_TWOFOLD * volume;
            sharp = sharp.max((off(cubic) - room) / most);
        }
        assert!(plain <= COPLANARITY_ROUNDING && plain > 2.0 * f64::EPSILON, "{plain}");
        assert!(sharp <= COPLANARITY_REROUNDING && sharp > 0.25 * f64::EPSILON, "{sharp}");
    }
}
