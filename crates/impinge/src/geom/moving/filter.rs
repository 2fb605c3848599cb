//! Contact of moving features in floats: a verdict wherever the error bounds allow one.

use std::ops::ControlFlow;

use glam::DVec3;

use super::Kind;
use super::cubic::Cubic;
use crate::geom::largest::{larger, largest};
use crate::num::tolerance::{
    CONTACT_TIME, COPLANARITY_REROUNDING, COPLANARITY_ROUNDING, COPLANARITY_TWOFOLD, DETERMINANT_UNDERFLOW,
    MOVING_CROSS_ROUNDING, SMALLEST_TWOFOLD,
};
use crate::num::twofold::{self, TwofoldVec};

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
fn frame(kind: Kind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> [Moving; 3] {
    let [[a, b], [c, d], [e, f]] = kind.frame();
    let vector = |a: usize, b: usize| Moving { t0: t0[b] - t0[a], t1: t1[b] - t1[a] };
    [vector(a, b), vector(c, d), vector(e, f)]
}

/// Decides where error bounds allow it.
#[inline]
pub(super) fn first_contact(kind: Kind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> Verdict {
    let frame = frame(kind, t0, t1);
    let sizes = [frame[0].size(), frame[1].size(), frame[2].size()];
    let cubic = coplanarity(&frame, sizes);
    if cubic.is_free() || boxes_are_apart(kind, t0, t1) {
        return Verdict::Free;
    }
    cubic.search(|bracket| judge(kind, &frame, sizes, bracket))
}

/// The same with coefficients of the cubic from twofold numbers, so that its roots are as sharp as doubles allow.
pub(super) fn first_contact_twofold(kind: Kind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> Verdict {
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
fn judge(kind: Kind, frame: &[Moving; 3], sizes: [f64; 3], bracket: [f64; 2]) -> ControlFlow<Verdict> {
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

/// The same in twofold numbers.
fn sharp_coplanarity(kind: Kind, t0: &[DVec3; 4], t1: &[DVec3; 4], [x, y, z]: [f64; 3]) -> Cubic {
    let [start, end] = [t0, t1].map(|at| kind.frame().map(|[a, b]| twofold::difference(at[b], at[a])));
    let ([u0, v0, w0], [u1, v1, w1]) = (&start, &end);
    let first = twofold::cross(u0, v0);
    let mixed = twofold::plus(&twofold::cross(u0, v1), &twofold::cross(u1, v0));
    let last = twofold::cross(u1, v1);
    let both = |a: &TwofoldVec, b: &TwofoldVec| twofold::dot(a, w0).plus(twofold::dot(b, w1)).value();
    let third = 1.0 / 3.0;
    let bernstein = [
        twofold::dot(&first, w0).value(),
        both(&mixed, &first) * third,
        both(&last, &mixed) * third,
        twofold::dot(&last, w1).value(),
    ];
    let most = bernstein.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
    let error = COPLANARITY_REROUNDING * most + COPLANARITY_TWOFOLD * (x * y * z);
    Cubic::new(bernstein, error + DETERMINANT_UNDERFLOW)
}

/// Whether the boxes around the whole motion of both features have no common point.
#[inline]
fn boxes_are_apart(kind: Kind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> bool {
    let bounds = |i: usize| [t0[i].min(t1[i]), t0[i].max(t1[i])];
    let join = |a: [DVec3; 2], b: [DVec3; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let others = join(bounds(2), bounds(3));
    let [one, other] = match kind {
        Kind::VertexFace => [bounds(0), join(bounds(1), others)],
        Kind::EdgeEdge => [join(bounds(0), bounds(1)), others],
    };
    one[0].cmpgt(other[1]).any() || other[0].cmpgt(one[1]).any()
}

/// Whether the features meet at the root of the cubic that lies in a bracket.
fn meet_during(
    kind: Kind,
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
        Kind::VertexFace => [(b, along_u), (c, along_v), (n - b - c, plane + along_u + along_v), (n, 0.0)],
        Kind::EdgeEdge => [(b, along_u), (n - b, plane + along_u), (-c, along_v), (n + c, plane + along_v)],
    };
    if limits.iter().any(|&(value, error)| value < -error) {
        Some(false)
    } else {
        limits.iter().all(|&(value, error)| value > error).then_some(true)
    }
}
