//! Exact signs of determinants, for every pair of doubles up to 1e60 and down to the subnormals.
//!
//! Three stages: a floating filter that is nearly always enough, Shewchuk's adaptive expansions
//! (Adaptive precision floating-point arithmetic and fast robust geometric predicates, 1997; the crate
//! `robust`), and where their products could underflow, exact numbers m·2ᵉ.

use glam::{DVec2, DVec3};

use super::dyadic::Dyadic;
use super::tolerance::{DETERMINANT_UNDERFLOW, EXPANSION_SAFE, ORIENT_2D_FILTER, ORIENT_3D_FILTER};

/// The sign of an exact number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i8)]
pub enum Sign {
    /// Below zero.
    Negative = -1,
    /// Zero, exactly.
    Zero = 0,
    /// Above zero.
    Positive = 1,
}

impl Sign {
    /// The sign of the negated number.
    #[inline]
    pub const fn flip(self) -> Sign {
        match self {
            Sign::Negative => Sign::Positive,
            Sign::Zero => Sign::Zero,
            Sign::Positive => Sign::Negative,
        }
    }

    /// The sign of the product of two numbers.
    #[inline]
    pub const fn times(self, other: Sign) -> Sign {
        match self {
            Sign::Negative => other.flip(),
            Sign::Zero => Sign::Zero,
            Sign::Positive => other,
        }
    }

    /// This sign, or the other where this is zero.
    #[inline]
    pub const fn or(self, other: Sign) -> Sign {
        if matches!(self, Sign::Zero) { other } else { self }
    }

    /// Whether the number is zero.
    #[inline]
    pub const fn is_zero(self) -> bool {
        matches!(self, Sign::Zero)
    }
}

impl From<f64> for Sign {
    /// The sign of a double; NaN counts as zero.
    #[inline]
    fn from(x: f64) -> Sign {
        if x > 0.0 {
            Sign::Positive
        } else if x < 0.0 {
            Sign::Negative
        } else {
            Sign::Zero
        }
    }
}

/// On which side of the plane through a, b, c the point d lies: positive where (b − a) × (c − a) points.
#[inline]
pub fn orient3d(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> Sign {
    Plane::through(a, b, c).side(d)
}

/// On which side of the line from a to b the point c lies: positive on the left.
#[inline]
pub fn orient2d(a: DVec2, b: DVec2, c: DVec2) -> Sign {
    let (left, right) = ((a.x - c.x) * (b.y - c.y), (a.y - c.y) * (b.x - c.x));
    let det = left - right;
    let bound = ORIENT_2D_FILTER * (left.abs() + right.abs()) + DETERMINANT_UNDERFLOW;
    if det > bound {
        Sign::Positive
    } else if det < -bound {
        Sign::Negative
    } else {
        orient2d_exact(a, b, c, left == 0.0 && right == 0.0)
    }
}

/// The plane through three points with its filter, for many questions about the same plane.
#[derive(Debug, Clone, Copy)]
pub struct Plane {
    corners: [DVec3; 3],
    filter: PlaneFilter,
}

/// What decides nearly every question about a plane; for those who keep its corners elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct PlaneFilter {
    normal: DVec3,
    /// Sums of the absolute products in `normal`: what its error is measured by.
    size: DVec3,
}

impl PlaneFilter {
    /// Of the plane through a, b, c.
    #[inline]
    pub fn through(a: DVec3, b: DVec3, c: DVec3) -> PlaneFilter {
        let (u, v) = (b - a, c - a);
        let (p, q) =
            (DVec3::new(u.y * v.z, u.z * v.x, u.x * v.y), DVec3::new(u.z * v.y, u.x * v.z, u.y * v.x));
        PlaneFilter { normal: p - q, size: p.abs() + q.abs() }
    }

    /// The determinant of a point in floats, the bound of its error, beyond which its sign is that of the side, and the
    /// sum of absolute products that the bound comes from; given the first corner.
    #[inline]
    fn determinant(&self, a: DVec3, d: DVec3) -> (f64, f64, f64) {
        let w = d - a;
        let det = self.normal.x * w.x + self.normal.y * w.y + self.normal.z * w.z;
        let sum = self.size.x * w.x.abs() + self.size.y * w.y.abs() + self.size.z * w.z.abs();
        (det, ORIENT_3D_FILTER * sum + DETERMINANT_UNDERFLOW, sum)
    }

    /// On which side a point lies, exactly, given the first corner; the others are asked for in doubt.
    #[inline]
    pub fn side(&self, a: DVec3, others: impl FnOnce() -> [DVec3; 2], d: DVec3) -> Sign {
        let (det, bound, sum) = self.determinant(a, d);
        if det > bound {
            Sign::Positive
        } else if det < -bound {
            Sign::Negative
        } else {
            let [b, c] = others();
            orient3d_exact([a, b, c], d, sum == 0.0)
        }
    }

    /// The normal (b − a) × (c − a) in floats.
    #[inline]
    pub fn normal(&self) -> DVec3 {
        self.normal
    }
}

impl Plane {
    /// The plane through a, b, c; for points on one line every side is zero.
    #[inline]
    pub fn through(a: DVec3, b: DVec3, c: DVec3) -> Plane {
        Plane { corners: [a, b, c], filter: PlaneFilter::through(a, b, c) }
    }

    /// On which side a point lies, exactly.
    #[inline]
    pub fn side(&self, d: DVec3) -> Sign {
        let [a, b, c] = self.corners;
        self.filter.side(a, || [b, c], d)
    }

    /// On which sides points lie, where floats tell it of all of them; without branches that nobody can foresee.
    #[inline]
    pub fn sure_sides<const N: usize>(&self, points: [DVec3; N]) -> Option<[Sign; N]> {
        let mut is_sure = true;
        let sides = points.map(|p| {
            let (det, bound, _) = self.filter.determinant(self.corners[0], p);
            is_sure &= det.abs() > bound;
            if det > 0.0 { Sign::Positive } else { Sign::Negative }
        });
        is_sure.then_some(sides)
    }

    /// The points it goes through.
    #[inline]
    pub fn corners(&self) -> &[DVec3; 3] {
        &self.corners
    }

    /// The normal (b − a) × (c − a) in floats.
    #[inline]
    pub fn normal(&self) -> DVec3 {
        self.filter.normal
    }

    /// The sums of the absolute products in the normal: the measure of its error.
    #[inline]
    pub fn size(&self) -> DVec3 {
        self.filter.size
    }
}

/// The value of `orient3d`'s determinant in f64: its sign is exact unless it underflows to zero, its
/// relative error is small.
pub fn orient3d_value(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> f64 {
    let coord = |p: DVec3| robust::Coord3D { x: p.x, y: p.y, z: p.z };
    -robust::orient3d(coord(a), coord(b), coord(c), coord(d))
}

/// The point without one coordinate (0, 1, 2 for x, y, z); the other two in cyclic order, so that
/// orientations keep their sign along a positive normal.
#[inline]
pub fn drop_axis(p: DVec3, axis: usize) -> DVec2 {
    match axis {
        0 => DVec2::new(p.y, p.z),
        1 => DVec2::new(p.z, p.x),
        _ => DVec2::new(p.x, p.y),
    }
}

/// Whether expansion arithmetic on these coordinates cannot underflow.
fn expansions_are_exact(coordinates: &[f64]) -> bool {
    coordinates.iter().all(|x| *x == 0.0 || x.abs() >= EXPANSION_SAFE)
}

/// `vanishes` says that every product of the filter is zero: where none can underflow, so is their sum.
#[cold]
fn orient3d_exact([a, b, c]: [DVec3; 3], d: DVec3, vanishes: bool) -> Sign {
    if [a, b, c, d].iter().all(|p| expansions_are_exact(p.as_ref())) {
        if vanishes {
            return Sign::Zero;
        }
        return Sign::from(orient3d_value(a, b, c, d));
    }
    let [u, v, w] = [b, c, d].map(|p| exact_difference(p.as_ref(), a.as_ref()));
    let minor = |i: usize, j: usize| &(&u[i] * &v[j]) - &(&u[j] * &v[i]);
    let det = &(&(&minor(1, 2) * &w[0]) + &(&minor(2, 0) * &w[1])) + &(&minor(0, 1) * &w[2]);
    det.sign()
}

/// `vanishes` as for [`orient3d_exact`].
#[cold]
fn orient2d_exact(a: DVec2, b: DVec2, c: DVec2, vanishes: bool) -> Sign {
    if [a, b, c].iter().all(|p| expansions_are_exact(p.as_ref())) {
        if vanishes {
            return Sign::Zero;
        }
        let coord = |p: DVec2| robust::Coord { x: p.x, y: p.y };
        return Sign::from(robust::orient2d(coord(a), coord(b), coord(c)));
    }
    let [u, v] = [b, c].map(|p| exact_difference(p.as_ref(), a.as_ref()));
    (&(&u[0] * &v[1]) - &(&u[1] * &v[0])).sign()
}

fn exact_difference<const N: usize>(p: &[f64; N], q: &[f64; N]) -> [Dyadic; N] {
    std::array::from_fn(|i| &Dyadic::from(p[i]) - &Dyadic::from(q[i]))
}

#[cfg(test)]
#[path = "predicate_tests.rs"]
mod tests;
