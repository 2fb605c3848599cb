//! Contact of moving features in floats: a verdict wherever the error bounds allow one.

use std::ops::ControlFlow;

use glam::DVec3;

use super::Kind;
use super::cubic::Cubic;
use crate::num::tolerance::{
    CONTACT_TIME, COPLANARITY_ROUNDING, DETERMINANT_UNDERFLOW, MOVING_CROSS_ROUNDING,
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
        self.t0.abs().max(self.t1.abs()).max_element()
    }
}

/// Decides where error bounds allow it.
#[inline]
pub(super) fn first_contact(kind: Kind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> Verdict {
    let [u, v, w] = kind.frame().map(|[a, b]| Moving { t0: t0[b] - t0[a], t1: t1[b] - t1[a] });
    let sizes = [u.size(), v.size(), w.size()];
    let cubic = coplanarity(&u, &v, &w, sizes);
    if cubic.is_free() || boxes_are_apart(kind, t0, t1) {
        return Verdict::Free;
    }
    cubic.search(|bracket| {
        let meets = meet_during(kind, [&u, &v, &w], sizes, bracket);
        match meets {
            Some(false) => ControlFlow::Continue(()),
            Some(true) if bracket[1] - bracket[0] <= CONTACT_TIME => {
                ControlFlow::Break(Verdict::Contact(bracket[0]))
            }
            _ => ControlFlow::Break(Verdict::Doubt),
        }
    })
}

/// det(u, v, w) over time.
#[inline]
fn coplanarity(u: &Moving, v: &Moving, w: &Moving, [x, y, z]: [f64; 3]) -> Cubic {
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
    [u, v, w]: [&Moving; 3],
    [x, y, z]: [f64; 3],
    [low, high]: [f64; 2],
) -> Option<bool> {
    let t = 0.5 * (low + high);
    let (u, v, w) = (u.at(t), v.at(t), w.at(t));
    // A product of components that change by at most twice their size moves by eight times the sizes and
    // the time between.
    let error = 4.0 * (high - low) + MOVING_CROSS_ROUNDING;
    let normal = u.cross(v);
    let [plane, along_u, along_v] = [x * y, z * y, x * z].map(|size| error * size + DETERMINANT_UNDERFLOW);
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
