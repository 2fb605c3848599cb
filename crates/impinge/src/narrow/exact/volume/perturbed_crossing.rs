//! Where an edge of one body passes through a triangle of the other, in general position.
//!
//! Body b is thought to be moved by (ε, ε², ε³) for an infinitesimal ε, so no vertex lies in a plane and no edge
//! meets an edge: every edge passes through the inside of a triangle or not at all, and neighbouring triangles agree
//! (simulation of simplicity, Edelsbrunner and Mücke 1990; here a translation of one body is enough, for an edge
//! parallel to a plane has both ends on one side of it). The signs are exact. A volume is continuous in such a
//! translation, so that of the moved bodies is that of the bodies themselves.

use glam::DVec3;

use crate::num::exact_vector::{cross_along, exact, minus};
use crate::num::predicate::{Plane, Sign, drop_axis, orient2d, orient3d};

/// A triangle with its plane, ready to be passed through.
#[derive(Debug, Clone, Copy)]
pub struct Face {
    plane: Plane,
    /// The first component of the exact normal that is not zero; zero for a triangle without area.
    leading: Sign,
}

impl Face {
    #[inline]
    pub fn new(corners: [DVec3; 3]) -> Face {
        let [a, b, c] = corners;
        let plane = Plane::through(a, b, c);
        let along = |axis| orient2d(drop_axis(a, axis), drop_axis(b, axis), drop_axis(c, axis));
        let leading = (0..3).map(along).find(|sign| !sign.is_zero()).unwrap_or(Sign::Zero);
        Face { plane, leading }
    }

    /// Whether it has an area; others are passed through by nothing.
    #[inline]
    pub fn has_area(&self) -> bool {
        !self.leading.is_zero()
    }

    #[inline]
    pub fn corners(&self) -> [DVec3; 3] {
        *self.plane.corners()
    }

    /// The normal (b − a) × (c − a) in floats.
    #[inline]
    pub fn normal(&self) -> DVec3 {
        self.plane.normal()
    }

    /// The first component of the exact normal that is not zero.
    #[inline]
    pub fn leading(&self) -> Sign {
        self.leading
    }

    /// Whether another triangle lies in its plane.
    pub fn shares_its_plane(&self, other: &Face) -> bool {
        other.corners().iter().all(|&p| self.plane.side(p).is_zero())
    }

    /// The side of its plane on which a point of the other body lies.
    #[inline]
    pub fn side(&self, p: DVec3, of: Body) -> Sign {
        match self.plane.side(p) {
            Sign::Zero if of == Body::B => self.leading,
            Sign::Zero => self.leading.flip(),
            sign => sign,
        }
    }

    /// The sides of its plane on which the corners of a triangle of the other body lie.
    #[inline]
    pub fn sides(&self, corners: [DVec3; 3], of: Body) -> [Sign; 3] {
        self.plane.sure_sides(corners).unwrap_or_else(|| corners.map(|p| self.side(p, of)))
    }
}

/// Which of the two bodies something belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    A,
    B,
}

/// An edge passes through a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pass {
    /// 1 where it goes in, against the normal; −1 where it goes out.
    pub inward: i32,
    /// Where, in floats: the same point for both directions of the edge.
    pub point: DVec3,
    /// Where, from the first end of the edge (0) to the other (1).
    pub share: f64,
}

/// Where the edge from p to q, of the body `of`, passes through a triangle of the other body with an area, given the
/// sides of its ends.
pub fn pass([p, q]: [DVec3; 2], sides: [Sign; 2], face: &Face, of: Body) -> Option<Pass> {
    if sides[0] == sides[1] {
        return None;
    }
    let [a, b, c] = face.corners();
    let turn = turns([p, q], [a, b], of);
    let passes = turns([p, q], [b, c], of) == turn && turns([p, q], [c, a], of) == turn;
    passes.then(|| Pass::at([p, q], sides[0], face))
}

impl Pass {
    /// Of an edge that passes through a triangle, given the side on which it begins.
    #[inline]
    pub fn at([p, q]: [DVec3; 2], begins: Sign, face: &Face) -> Pass {
        let inward = if begins == Sign::Positive { 1 } else { -1 };
        // From the smaller end, so that the neighbour across the edge finds the same double.
        let is_ordered = p.to_array() < q.to_array();
        let [from, to] = if is_ordered { [p, q] } else { [q, p] };
        let height = |x: DVec3| face.normal().dot(x - face.corners()[0]).abs();
        let (h_from, h_to) = (height(from), height(to));
        let share = if h_from + h_to > 0.0 { h_from / (h_from + h_to) } else { 0.5 };
        Pass {
            inward,
            point: from + (to - from) * share,
            share: if is_ordered { share } else { 1.0 - share },
        }
    }
}

/// Which sides of a triangle of a and of one of b pass through the other, given on which side of the other's plane the
/// corners of each lie. Both have an area.
///
/// Each plane parts one corner of the other triangle from two; only the sides at that corner reach it, in two points of
/// the line in which the planes meet. A side passes through the other triangle where its point lies between those of the
/// other, so four orders along the line tell everything.
#[inline]
pub fn passing_sides(faces: [&Face; 2], signs: &[[Sign; 3]; 2]) -> [[bool; 3]; 2] {
    let mut passing = [[false; 3]; 2];
    let (Some(i), Some(j)) = (parted(&signs[0]), parted(&signs[1])) else { return passing };
    let (own, other) = ([i, (i + 2) % 3], [j, (j + 2) % 3]);
    let (corners, others) = (faces[0].corners(), faces[1].corners());
    // Through both corners and the far end of each own side.
    let planes = [(i + 1) % 3, (i + 2) % 3].map(|far| Plane::through(corners[i], corners[far], others[j]));
    let far = [(j + 1) % 3, (j + 2) % 3];
    let turn = [0, 1].map(|n| {
        let sides = planes[n].sure_sides(far.map(|corner| others[corner])).unwrap_or_else(|| {
            [0, 1].map(|m| match planes[n].side(others[far[m]]) {
                Sign::Zero => {
                    let side = |corners: &[DVec3; 3], side: usize| [corners[side], corners[(side + 1) % 3]];
                    let turn = perturbed_turn(side(&corners, own[n]), side(&others, other[m]), Body::A);
                    if n != m { turn.flip() } else { turn }
                }
                sign => sign,
            })
        });
        // One of the two sides runs to its corner, the other away from it.
        [0, 1].map(|m| if n != m { sides[m].flip() } else { sides[m] })
    });
    for n in [0, 1] {
        // The two sides run to the corner and away from it: equal turns mean that the point lies between.
        passing[0][own[n]] = turn[n][0] == turn[n][1];
        passing[1][other[n]] = turn[0][n] == turn[1][n];
    }
    passing
}

/// The corner that a plane parts from the two others.
#[inline]
fn parted([x, y, z]: &[Sign; 3]) -> Option<usize> {
    // By whether the first two are on one side, and the last two.
    const PARTED: [Option<usize>; 4] = [Some(1), Some(0), Some(2), None];
    PARTED[2 * usize::from(x == y) + usize::from(y == z)]
}

/// On which side of the line through p and q the edge from u to v, of the other body, passes.
#[inline]
fn turns([p, q]: [DVec3; 2], [u, v]: [DVec3; 2], of: Body) -> Sign {
    match orient3d(p, q, u, v) {
        Sign::Zero => perturbed_turn([p, q], [u, v], of),
        sign => sign,
    }
}

/// The same for two lines that meet: the derivative by the translation of u and v, (q − p) × (u − v). It is not zero, for
/// the edge pq is not parallel to the triangle's plane.
#[cold]
fn perturbed_turn([p, q]: [DVec3; 2], [u, v]: [DVec3; 2], of: Body) -> Sign {
    let (along, back) = (minus(&exact(q), &exact(p)), minus(&exact(u), &exact(v)));
    let signs = (0..3).map(|axis| cross_along(&along, &back, axis).sign());
    let leading = signs.into_iter().find(|sign| !sign.is_zero()).unwrap_or(Sign::Zero);
    if of == Body::A { leading } else { leading.flip() }
}
