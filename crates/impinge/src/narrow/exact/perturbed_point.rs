//! A symbolically perturbed point: p + ε·d₁ + ε²·d₂ + ε³·d₃ for an infinitesimal ε.
//!
//! With independent directions such a point is on no plane and over no edge, so a ray from it never
//! meets a special case; choosing p, d₁ and d₂ along the vertices, edges and faces of a surface reaches
//! both sides of every one of its cells. After Edelsbrunner and Mücke, Simulation of simplicity (1990);
//! here the query is moved instead of the data. Every question below is linear in the place, so its sign
//! is that of the first non-zero value among p, d₁, d₂, d₃. Zeros are what costs most with exact numbers,
//! and nearly all of them are known from where p and the directions come from ([`Origin`]).

use std::rc::Rc;

use glam::DVec3;
use smallvec::SmallVec;

use crate::num::dyadic::Dyadic;
use crate::num::exact_vector::{ExactVec, cross_along, dot, exact, minus, normal, times};
use crate::num::predicate::{Plane, Sign, drop_axis, orient2d};
use crate::num::tolerance::{DETERMINANT_UNDERFLOW, ORIENT_2D_FILTER, ORIENT_3D_FILTER, SHADOW_ROUNDING};

/// A point of doubles, or an exact one.
#[derive(Debug, Clone)]
pub enum BasePoint {
    /// A corner of the placed data.
    Corner(DVec3),
    /// A point that no double need hold.
    Rational(Rc<RationalPoint>),
}

/// The point (x, y, z)/w, w > 0, with its f64 shadow.
#[derive(Debug)]
pub struct RationalPoint {
    /// Numerators.
    xyz: ExactVec,
    /// The common denominator, above zero.
    w: Dyadic,
    /// The quotients in f64, right to [`SHADOW_ROUNDING`].
    near: DVec3,
    origin: Origin,
}

/// The lines and planes something was made from: it lies on them, whatever its numbers are.
///
/// Most questions that come down to exact numbers are about these, so they are answered first.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// Two points of each line.
    pub lines: SmallVec<[[DVec3; 2]; 2]>,
    /// Three points of each plane.
    pub planes: SmallVec<[[DVec3; 3]; 3]>,
}

impl Origin {
    /// Whether the line through two points is among the lines.
    fn has_line(&self, a: DVec3, b: DVec3) -> bool {
        self.lines.iter().any(|&[p, q]| p == a && q == b || p == b && q == a)
    }

    /// Whether the triangle's plane is among the planes or holds one of the lines; also true where both
    /// are degenerate, then nothing has a side of it.
    fn has_plane(&self, triangle: &[DVec3; 3]) -> bool {
        self.lines.iter().any(|line| line.iter().all(|p| triangle.contains(p)))
            || self.planes.iter().any(|plane| same_corners(plane, triangle))
    }
}

/// Whether two triangles have the same three corners, in any order.
pub(crate) fn same_corners(s: &[DVec3; 3], t: &[DVec3; 3]) -> bool {
    let [a, b, c] = *t;
    [[a, b, c], [b, c, a], [c, a, b], [a, c, b], [c, b, a], [b, a, c]].contains(s)
}

impl BasePoint {
    /// The point xyz/w; `None` for w = 0.
    pub fn between(xyz: ExactVec, w: Dyadic, origin: Origin) -> Option<BasePoint> {
        let (xyz, w) = match w.sign() {
            Sign::Zero => return None,
            Sign::Positive => (xyz, w),
            Sign::Negative => (xyz.map(|x| -&x), -&w),
        };
        let near = DVec3::from_array(std::array::from_fn(|i| xyz[i].ratio(&w)));
        Some(BasePoint::Rational(Rc::new(RationalPoint { xyz, w, near, origin })))
    }

    /// A box of doubles that holds the point.
    pub fn bounds(&self) -> [DVec3; 2] {
        match self {
            BasePoint::Corner(p) => [*p, *p],
            BasePoint::Rational(point) => {
                let slack = point.near.abs() * SHADOW_ROUNDING + DVec3::splat(f64::MIN_POSITIVE);
                [point.near - slack, point.near + slack]
            }
        }
    }
}

/// A direction: from one double point to another, or exact. Its length does not matter.
#[derive(Debug, Clone)]
pub struct Direction {
    kind: DirectionKind,
    near: DVec3,
}

#[derive(Debug, Clone)]
enum DirectionKind {
    Difference(DVec3, DVec3),
    /// The common direction of two planes, or its opposite.
    Cut {
        vector: Rc<(ExactVec, Origin)>,
        reversed: bool,
    },
}

impl Direction {
    /// From p towards q.
    pub fn towards(p: DVec3, q: DVec3) -> Direction {
        Direction { kind: DirectionKind::Difference(p, q), near: q - p }
    }

    /// Along a coordinate axis.
    pub fn along(axis: usize) -> Direction {
        Direction::towards(DVec3::ZERO, DVec3::AXES[axis])
    }

    /// Along an exact vector in both planes of two triangles.
    pub fn cut(v: ExactVec, planes: [&[DVec3; 3]; 2]) -> Direction {
        let largest = v.iter().max_by(|a, b| a.cmp_magnitude(b));
        let near = largest.map_or(DVec3::ZERO, |m| {
            let turned = DVec3::from_array(std::array::from_fn(|i| v[i].ratio(m)));
            if m.sign() == Sign::Negative { -turned } else { turned }
        });
        let origin = Origin { planes: planes.into_iter().copied().collect(), ..Origin::default() };
        Direction { kind: DirectionKind::Cut { vector: Rc::new((v, origin)), reversed: false }, near }
    }

    /// The opposite direction.
    pub fn reversed(&self) -> Direction {
        let kind = match &self.kind {
            DirectionKind::Difference(p, q) => DirectionKind::Difference(*q, *p),
            DirectionKind::Cut { vector, reversed } => {
                DirectionKind::Cut { vector: vector.clone(), reversed: !reversed }
            }
        };
        Direction { kind, near: -self.near }
    }

    /// The sign of a function that is linear in the vector.
    fn exact_sign(&self, linear: impl Fn(&ExactVec) -> Dyadic) -> Sign {
        match &self.kind {
            DirectionKind::Difference(p, q) => linear(&minus(&exact(*q), &exact(*p))).sign(),
            DirectionKind::Cut { vector, reversed } => {
                let sign = linear(&vector.0).sign();
                if *reversed { sign.flip() } else { sign }
            }
        }
    }

    /// On which side of the line from a to b, both without the axis, this direction points.
    pub fn side_of_line(&self, a: DVec3, b: DVec3, axis: usize) -> Sign {
        let (u, v) = (drop_axis(b - a, axis), drop_axis(self.near, axis));
        let (left, right) = (u.x * v.y, u.y * v.x);
        let bound = (ORIENT_2D_FILTER + SHADOW_ROUNDING) * (left.abs() + right.abs()) + DETERMINANT_UNDERFLOW;
        filtered(left - right, bound).unwrap_or_else(|| match self.kind {
            DirectionKind::Difference(p, q) if p == a && q == b || p == b && q == a => Sign::Zero,
            _ => self.exact_sign(|v| cross_along(&minus(&exact(b), &exact(a)), v, axis)),
        })
    }

    /// On which side of the triangle's plane this direction points.
    fn side_of_plane(&self, triangle: &[DVec3; 3], plane: &Plane) -> Sign {
        let det = plane.normal().dot(self.near);
        let sum = plane.size().dot(self.near.abs());
        let bound = (ORIENT_3D_FILTER + SHADOW_ROUNDING) * sum + underflow(plane);
        filtered(det, bound).unwrap_or_else(|| {
            let within = match &self.kind {
                DirectionKind::Difference(p, q) => triangle.contains(p) && triangle.contains(q),
                DirectionKind::Cut { vector, .. } => vector.1.has_plane(triangle),
            };
            if within { Sign::Zero } else { self.exact_sign(|v| dot(&normal(triangle), v)) }
        })
    }
}

/// The point p + ε·d₁ + ε²·d₂ + ε³·d₃.
#[derive(Debug, Clone)]
pub struct PerturbedPoint {
    /// p
    pub base: BasePoint,
    /// d₁, d₂, d₃
    pub directions: [Direction; 3],
}

impl PerturbedPoint {
    /// The place just beside a point, the same side for every point.
    pub fn beside(p: DVec3) -> PerturbedPoint {
        PerturbedPoint { base: BasePoint::Corner(p), directions: [0, 1, 2].map(Direction::along) }
    }

    /// The same place mirrored in its last direction: the other side of the face it lies at.
    pub fn across(&self) -> PerturbedPoint {
        let [d1, d2, d3] = &self.directions;
        PerturbedPoint { base: self.base.clone(), directions: [d1.clone(), d2.clone(), d3.reversed()] }
    }

    /// On which side of the line from a to b, all without the axis, the place is; zero only where a and b
    /// are one point without the axis, or every direction is along it.
    pub fn side_of_line(&self, a: DVec3, b: DVec3, axis: usize) -> Sign {
        let mut sign = self.base.side_of_line(a, b, axis);
        for direction in &self.directions {
            if !sign.is_zero() {
                break;
            }
            sign = direction.side_of_line(a, b, axis);
        }
        sign
    }

    /// On which side of the triangle's plane the place is; zero only for a triangle without area.
    pub fn side_of_plane(&self, triangle: &[DVec3; 3]) -> Sign {
        let plane = Plane::through(triangle[0], triangle[1], triangle[2]);
        let mut sign = self.base.side_of_plane(triangle, &plane);
        for direction in &self.directions {
            if !sign.is_zero() {
                break;
            }
            sign = direction.side_of_plane(triangle, &plane);
        }
        sign
    }

    /// The side of the points p + ε·d₁ alone: zero where they run along the line.
    pub fn line_side_of_line(&self, a: DVec3, b: DVec3, axis: usize) -> Sign {
        self.base.side_of_line(a, b, axis).or(self.directions[0].side_of_line(a, b, axis))
    }

    /// The side of the points p + ε·d₁ alone: zero where they run in the plane.
    pub fn line_side_of_plane(&self, triangle: &[DVec3; 3]) -> Sign {
        let plane = Plane::through(triangle[0], triangle[1], triangle[2]);
        self.base.side_of_plane(triangle, &plane).or(self.directions[0].side_of_plane(triangle, &plane))
    }

    /// The sign of a coordinate of p + ε·d₁ less a value.
    pub fn side_of_level(&self, axis: usize, value: f64) -> Sign {
        let here = match &self.base {
            BasePoint::Corner(p) => Sign::from(p[axis] - value),
            BasePoint::Rational(point) => (&point.xyz[axis] - &(&point.w * &Dyadic::from(value))).sign(),
        };
        here.or(Sign::from(self.directions[0].near[axis]))
    }

    /// The common sign of the place beside the three edges, all without the axis: the orientation of the
    /// triangle where it covers the place; `None` where it does not.
    pub fn covered_by(&self, [a, b, c]: &[DVec3; 3], axis: usize) -> Option<Sign> {
        let first = self.side_of_line(*a, *b, axis);
        let all = !first.is_zero()
            && self.side_of_line(*b, *c, axis) == first
            && self.side_of_line(*c, *a, axis) == first;
        all.then_some(first)
    }
}

impl BasePoint {
    /// On which side of the line from a to b, all without the axis, the point is.
    pub fn side_of_line(&self, a: DVec3, b: DVec3, axis: usize) -> Sign {
        match self {
            BasePoint::Corner(p) => {
                let [a, b, p] = [a, b, *p].map(|x| drop_axis(x, axis));
                orient2d(a, b, p)
            }
            BasePoint::Rational(point) => {
                let RationalPoint { xyz, w, near, origin } = &**point;
                let (u, v) = (drop_axis(b - a, axis), drop_axis(*near - a, axis));
                let (left, right) = (u.x * v.y, u.y * v.x);
                let shadow = drop_axis(near.abs(), axis);
                let bound = ORIENT_2D_FILTER * (left.abs() + right.abs())
                    + 2.0 * SHADOW_ROUNDING * (u.x.abs() * shadow.y + u.y.abs() * shadow.x)
                    + DETERMINANT_UNDERFLOW;
                filtered(left - right, bound).unwrap_or_else(|| {
                    if origin.has_line(a, b) {
                        return Sign::Zero;
                    }
                    let a = exact(a);
                    let offset = minus(xyz, &times(w, &a));
                    cross_along(&minus(&exact(b), &a), &offset, axis).sign()
                })
            }
        }
    }

    fn side_of_plane(&self, triangle: &[DVec3; 3], plane: &Plane) -> Sign {
        match self {
            BasePoint::Corner(p) => plane.side(*p),
            BasePoint::Rational(point) => {
                let RationalPoint { xyz, w, near, origin } = &**point;
                let offset = *near - triangle[0];
                let det = plane.normal().dot(offset);
                let bound = ORIENT_3D_FILTER * plane.size().dot(offset.abs())
                    + 2.0 * SHADOW_ROUNDING * plane.size().dot(near.abs())
                    + underflow(plane);
                filtered(det, bound).unwrap_or_else(|| {
                    if origin.has_plane(triangle) {
                        return Sign::Zero;
                    }
                    let offset = minus(xyz, &times(w, &exact(triangle[0])));
                    dot(&normal(triangle), &offset).sign()
                })
            }
        }
    }
}

/// What underflow can hide: in the products, and in a shadow that is multiplied with the normal.
#[inline]
fn underflow(plane: &Plane) -> f64 {
    DETERMINANT_UNDERFLOW + plane.size().element_sum() * f64::MIN_POSITIVE
}

/// The sign of a value whose error is below the bound, if that is certain.
#[inline]
fn filtered(value: f64, bound: f64) -> Option<Sign> {
    // False for NaN, which an overflow could leave.
    (value > bound || value < -bound).then(|| Sign::from(value))
}
