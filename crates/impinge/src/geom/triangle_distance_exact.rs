//! The nearest points of two disjoint triangles by exact arithmetic, for gaps that rounding hides.
//!
//! The candidates are those of [`triangle_distance`](super::triangle_distance); their squared distances are fractions
//! of exact numbers, so the smallest is known for certain. Only the answer is rounded.

use std::cmp::Ordering;

use glam::DVec3;

use super::point_triangle::TriangleFeature;
use super::triangle_distance::TriangleDistance;
use crate::num::dyadic::Dyadic;
use crate::num::exact_vector::{ExactVec, cross, dot, exact, minus, plus, times};
use crate::num::predicate::Sign;

/// The nearest points of triangles that do not meet; the distance is never 0.
#[cold]
pub(super) fn nearest(a: &[DVec3; 3], b: &[DVec3; 3]) -> TriangleDistance {
    let [t, u] = [a, b].map(|corners| corners.map(exact));
    let mut best = Candidate::corners(&t, &u);
    let mut take = |found: Option<Candidate>| {
        if let Some(found) = found
            && found.square.cmp(&best.square).is_lt()
        {
            best = found;
        }
    };
    for corner in 0..3 {
        for side in 0..3 {
            take(Some(corner_to_side(&t, corner, &u, side)));
            take(Some(corner_to_side(&u, corner, &t, side).swapped()));
            take(side_to_side(&t, corner, &u, side));
        }
        take(corner_to_face(&t, corner, &u));
        take(corner_to_face(&u, corner, &t).map(Candidate::swapped));
    }
    // Disjoint triangles are apart, however little of that a double can show.
    let distance = best.square.root().max(f64::from_bits(1));
    let points = best.points.map(|(p, over)| DVec3::from_array(p.map(|x| x.ratio(&over))));
    TriangleDistance { distance, points, parts: best.parts, disjoint: true }
}

/// A quotient of exact numbers, neither negative; the divisor is not zero.
struct Fraction {
    over: Dyadic,
    of: Dyadic,
}

impl Fraction {
    fn cmp(&self, other: &Fraction) -> Ordering {
        (&self.of * &other.over).cmp_magnitude(&(&other.of * &self.over))
    }

    /// The square root in f64, within a few units in the last place.
    fn root(&self) -> f64 {
        let [e, f] = [&self.of, &self.over].map(Dyadic::magnitude);
        // An even power of two comes out before the root is taken.
        let half = (e - f) / 2;
        let root = (self.of.scaled(f + 2 * half) / self.over.scaled(f)).sqrt();
        // In two steps: a power of two below the normal numbers is not one of powi's.
        let first = half / 2;
        root * 2.0_f64.powi(first as i32) * 2.0_f64.powi((half - first) as i32)
    }
}

/// A point on each triangle, each with its divisor, and the square of their distance.
struct Candidate {
    square: Fraction,
    points: [(ExactVec, Dyadic); 2],
    parts: [TriangleFeature; 2],
}

impl Candidate {
    fn new(square: Fraction, points: [(ExactVec, Dyadic); 2], parts: [TriangleFeature; 2]) -> Candidate {
        Candidate { square, points, parts }
    }

    /// The first corners.
    fn corners(t: &[ExactVec; 3], u: &[ExactVec; 3]) -> Candidate {
        let parts = [TriangleFeature::Corner(0); 2];
        Candidate::new(apart(&t[0], &u[0]), [whole(&t[0]), whole(&u[0])], parts)
    }

    fn swapped(self) -> Candidate {
        let ([p, q], [x, y]) = (self.points, self.parts);
        Candidate { points: [q, p], parts: [y, x], ..self }
    }
}

fn whole(p: &ExactVec) -> (ExactVec, Dyadic) {
    (p.clone(), Dyadic::from(1.0))
}

/// The squared distance of two points.
fn apart(p: &ExactVec, q: &ExactVec) -> Fraction {
    let between = minus(q, p);
    Fraction { of: dot(&between, &between), over: Dyadic::from(1.0) }
}

fn corner_to_side(t: &[ExactVec; 3], corner: usize, u: &[ExactVec; 3], side: usize) -> Candidate {
    let (p, from, to) = (&t[corner], &u[side], &u[(side + 1) % 3]);
    let (arm, way) = (minus(p, from), minus(to, from));
    let (along, all) = (dot(&arm, &way), dot(&way, &way));
    let at_end = |end: usize| {
        let parts = [corner, end].map(|k| TriangleFeature::Corner(k as u8));
        Candidate::new(apart(p, &u[end]), [whole(p), whole(&u[end])], parts)
    };
    if along.sign() != Sign::Positive {
        return at_end(side);
    }
    if (&along - &all).sign() != Sign::Negative {
        return at_end((side + 1) % 3);
    }
    let across = cross(&arm, &way);
    let foot = plus(&times(&all, from), &times(&along, &way));
    Candidate::new(
        Fraction { of: dot(&across, &across), over: all.clone() },
        [whole(p), (foot, all)],
        [TriangleFeature::Corner(corner as u8), TriangleFeature::Side(side as u8)],
    )
}

/// Where the foot of the perpendicular falls inside.
fn corner_to_face(t: &[ExactVec; 3], corner: usize, u: &[ExactVec; 3]) -> Option<Candidate> {
    let p = &t[corner];
    let [ab, ac, ap] = [&u[1], &u[2], p].map(|q| minus(q, &u[0]));
    let normal = cross(&ab, &ac);
    let all = dot(&normal, &normal);
    let (v, w) = (dot(&cross(&ap, &ac), &normal), dot(&cross(&ab, &ap), &normal));
    let rest = &all - &(&v + &w);
    if [&v, &w, &rest].iter().any(|share| share.sign() != Sign::Positive) {
        return None;
    }
    let height = dot(&ap, &normal);
    let foot = minus(&times(&all, p), &times(&height, &normal));
    Some(Candidate::new(
        Fraction { of: &height * &height, over: all.clone() },
        [whole(p), (foot, all)],
        [TriangleFeature::Corner(corner as u8), TriangleFeature::Inside],
    ))
}

/// Where the lines of two sides come nearest within both.
fn side_to_side(t: &[ExactVec; 3], i: usize, u: &[ExactVec; 3], j: usize) -> Option<Candidate> {
    let [p, q] = [&t[i], &u[j]];
    let found = nearest_on_lines(p, &minus(&t[(i + 1) % 3], p), q, &minus(&u[(j + 1) % 3], q))?;
    let parts = [TriangleFeature::Side(i as u8), TriangleFeature::Side(j as u8)];
    let over = || found.over.clone();
    Some(Candidate::new(
        Fraction { of: &found.height * &found.height, over: over() },
        [(found.points[0].clone(), over()), (found.points[1].clone(), over())],
        parts,
    ))
}

/// The nearest points of two lines, both divided by `over`; they are apart by `height` over its root.
pub(super) struct LinePoints {
    pub points: [ExactVec; 2],
    pub height: Dyadic,
    pub over: Dyadic,
}

/// The nearest points of the lines p + s·d and q + t·e where both parameters lie in 0..1; `None` for parallels.
pub(super) fn nearest_on_lines(p: &ExactVec, d: &ExactVec, q: &ExactVec, e: &ExactVec) -> Option<LinePoints> {
    let normal = cross(d, e);
    let over = dot(&normal, &normal);
    let between = minus(q, p);
    let [s, t] = [e, d].map(|way| dot(&cross(&between, way), &normal));
    let within = |x: &Dyadic| x.sign() != Sign::Negative && (&over - x).sign() != Sign::Negative;
    if over.is_zero() || !within(&s) || !within(&t) {
        return None;
    }
    let points = [plus(&times(&over, p), &times(&s, d)), plus(&times(&over, q), &times(&t, e))];
    Some(LinePoints { points, height: dot(&between, &normal), over })
}
