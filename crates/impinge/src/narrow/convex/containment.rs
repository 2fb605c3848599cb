//! How far a cylinder, cone or ellipsoid sticks out of a convex solid, as a bracket that is proved.
//!
//! The signed distance from a convex solid is a convex function, so over a piece of the inner body's surface it is
//! nowhere larger than at the corners of any polytope that holds the piece. An arc lies within its ends and the
//! point where their tangents meet, a patch of a sphere within its corners and the same corners pushed out to a
//! tangent plane; both exceed the piece by the square of its size, so halving the worst piece closes the bracket
//! in a few dozen steps. Only where whole curves or surfaces stick out equally far it stays open. An ellipsoid in
//! an ellipsoid has a closed form instead: the S-lemma (Yakubovich 1971) makes the dual bound tight.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::{DMat3, DVec2, DVec3};

use crate::bound::principal_axes;
use crate::shape::Primitive;

/// Pieces after which a bracket that did not close is left open.
const MOST_PIECES: usize = 2048;

/// Halvings of the dual variable: all digits of a double.
const HALVINGS: u32 = 60;

/// How far the farthest point is outside of a solid; negative when all is inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Out {
    pub at_least: f64,
    pub at_most: f64,
}

impl Out {
    pub fn exactly(value: f64) -> Out {
        Out { at_least: value, at_most: value }
    }

    /// Whether the bracket tells which side of the tolerance it is on, or lies within.
    fn is_decided(&self, noise: f64) -> bool {
        self.at_least > noise || self.at_most < -noise || self.at_least >= -noise && self.at_most <= noise
    }
}

/// A primitive in its own frame, turned and moved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turned<'p> {
    pub primitive: &'p Primitive,
    pub centre: DVec3,
    pub turn: DMat3,
}

/// A piece of the inner body's surface, in directions of its own frame.
#[derive(Debug, Clone, Copy)]
enum Piece {
    /// Of the circle at a height.
    Arc { height: f64, ends: [DVec2; 2] },
    /// Of the sphere that was stretched to the ellipsoid.
    Patch([DVec3; 3]),
}

/// A piece by its upper bound; the largest is on top, of equal ones the older.
#[derive(Debug, Clone, Copy)]
struct Entry {
    bound: f64,
    age: usize,
    piece: Piece,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        self.bound.total_cmp(&other.bound).then(other.age.cmp(&self.age))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Brackets the largest value of a convex function over a cylinder, cone or ellipsoid until it is clear which
/// side of ±`noise` it lies on, or that it lies between.
pub(super) fn farthest_out(inner: &Turned<'_>, out: impl Fn(DVec3) -> f64, noise: f64) -> Out {
    let place = |p: DVec3| out(inner.centre + inner.turn * p);
    let (radii, pieces, apex) = match *inner.primitive {
        Primitive::Cylinder { radius, half_height: h } => {
            (DVec3::splat(radius), [circle(-h), circle(h)].concat(), None)
        }
        Primitive::Cone { radius, half_height: h } => (DVec3::splat(radius), circle(-h), Some(DVec3::Z * h)),
        Primitive::Ellipsoid { radii } => (radii, octants(), None),
        _ => return Out { at_least: f64::NEG_INFINITY, at_most: f64::INFINITY },
    };
    let mut at_least = apex.map_or(f64::NEG_INFINITY, place);
    // What the pieces left behind reach at most: the apex is one of them.
    let settled = at_least;
    let mut open = BinaryHeap::new();
    let mut age = 0;
    let mut add = |piece: Piece, at_least: &mut f64, open: &mut BinaryHeap<Entry>| {
        let (low, bound) = piece.bracket(radii, &place);
        *at_least = at_least.max(low);
        age += 1;
        open.push(Entry { bound, age, piece });
    };
    pieces.into_iter().for_each(|piece| add(piece, &mut at_least, &mut open));
    loop {
        let Some(worst) = open.peek().copied() else { return Out::exactly(at_least) };
        // A bound below what was reached is one by rounding.
        let found = Out { at_least, at_most: worst.bound.max(settled).max(at_least) };
        if found.is_decided(noise) || open.len() > MOST_PIECES {
            return found;
        }
        open.pop();
        worst.piece.halves().into_iter().for_each(|piece| add(piece, &mut at_least, &mut open));
    }
}

fn circle(height: f64) -> Vec<Piece> {
    let ends = [DVec2::X, DVec2::Y, -DVec2::X, -DVec2::Y];
    (0..4).map(|k| Piece::Arc { height, ends: [ends[k], ends[(k + 1) % 4]] }).collect()
}

fn octants() -> Vec<Piece> {
    let sign = |k: u32| if k & 1 == 0 { 1.0 } else { -1.0 };
    (0..8)
        .map(|k| Piece::Patch([DVec3::X * sign(k), DVec3::Y * sign(k >> 1), DVec3::Z * sign(k >> 2)]))
        .collect()
}

impl Piece {
    /// The largest value at points of the piece, and one that none exceeds.
    fn bracket(&self, radii: DVec3, place: &impl Fn(DVec3) -> f64) -> (f64, f64) {
        match *self {
            Piece::Arc { height, ends: [a, b] } => {
                let at = |p: DVec2| place((p * radii.x).extend(height));
                let low = at(a).max(at(b));
                (low, low.max(at((a + b) / (1.0 + a.dot(b)))))
            }
            Piece::Patch(corners) => {
                let [a, b, c] = corners;
                // How far the plane of the corners is from the middle of the sphere.
                let inward = (b - a).cross(c - a).normalize().dot(a).abs();
                let low = corners.map(|p| place(radii * p)).into_iter().fold(f64::NEG_INFINITY, f64::max);
                let high = corners.map(|p| place(radii * (p / inward)));
                (low, high.into_iter().fold(low, f64::max))
            }
        }
    }

    /// Two pieces that make up this one, cut across its longest side.
    fn halves(&self) -> [Piece; 2] {
        match *self {
            Piece::Arc { height, ends: [a, b] } => {
                let middle = (a + b).normalize();
                [Piece::Arc { height, ends: [a, middle] }, Piece::Arc { height, ends: [middle, b] }]
            }
            Piece::Patch(t) => {
                let side = |k: usize| t[k].distance_squared(t[(k + 1) % 3]);
                let k = (1..3).fold(0, |best, k| if side(k) > side(best) { k } else { best });
                let [a, b, c] = [t[k], t[(k + 1) % 3], t[(k + 2) % 3]];
                let middle = (a + b).normalize();
                [Piece::Patch([a, middle, c]), Piece::Patch([middle, b, c])]
            }
        }
    }
}

/// How far an ellipsoid sticks out of another whose centre is the origin, by the S-lemma.
///
/// Where the outer one is the unit ball the inner one is the points m + M·s with |s| ≤ 1, and for every λ above
/// the largest eigenvalue of MᵀM none is farther than the root of |m|² + λ + c·(λ − MᵀM)⁻¹c, with c = Mᵀm; the
/// smallest of these bounds is reached.
pub(super) fn ellipsoid_out(inner: &Turned<'_>, inner_radii: DVec3, turn: DMat3, radii: DVec3) -> Out {
    let shrink = DMat3::from_diagonal(radii.recip()) * turn.transpose();
    let (m, map) = (shrink * inner.centre, shrink * inner.turn * DMat3::from_diagonal(inner_radii));
    let (square, c) = (map.transpose() * map, map.transpose() * m);
    // Along the eigenvectors all is a sum of three terms, which keeps its digits also where eigenvalues are equal.
    let axes = principal_axes(square);
    let terms = axes.map(|axis| (axis.dot(square * axis), axis.dot(c)));
    let top = terms.iter().fold(0.0, |top: f64, &(value, _)| top.max(value));
    // Sum of what each direction gives at λ; one without a part of c gives nothing.
    let sum = |of: fn(f64, f64) -> f64, lambda: f64| -> f64 {
        terms.iter().filter(|(_, part)| *part != 0.0).map(|&(value, part)| of(part, lambda - value)).sum()
    };
    // The bound is convex in λ: it falls while the spread (λ − MᵀM)⁻¹c is longer than 1.
    let (mut low, mut high) = (top, top + c.length());
    for _ in 0..HALVINGS {
        let middle = low.midpoint(high);
        if sum(|part, above| (part / above).powi(2), middle) > 1.0 { low = middle } else { high = middle }
    }
    // Where λ comes down to the top, what c has along it is rounding.
    let beyond = sum(|part, above| if above > 0.0 { part * part / above } else { 0.0 }, high);
    let reach = (m.length_squared() + high + beyond).sqrt();
    // The ball stretched back: a step of its radius is one of the smallest radius at least.
    let lengths = [radii.min_element(), radii.max_element()].map(|r| (reach - 1.0) * r);
    Out { at_least: lengths[0].min(lengths[1]), at_most: lengths[0].max(lengths[1]) }
}

#[cfg(test)]
#[path = "containment_tests.rs"]
mod tests;
