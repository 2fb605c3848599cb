//! Numbers kept as an unevaluated sum of two doubles, for differences of products that nearly cancel
//! (Dekker, "A floating-point technique for extending the available precision", 1971).

use glam::DVec3;

/// hi + lo, where lo is what rounding took from hi.
#[derive(Debug, Clone, Copy)]
pub struct DoubleDouble {
    hi: f64,
    lo: f64,
}

/// A vector of double-double numbers.
pub type DoubleDoubleVec = [DoubleDouble; 3];

impl DoubleDouble {
    /// a − b, exactly.
    #[inline]
    pub fn difference(a: f64, b: f64) -> DoubleDouble {
        let hi = a - b;
        let part = hi - a;
        DoubleDouble { hi, lo: (a - (hi - part)) - (b + part) }
    }

    /// The nearest double.
    #[inline]
    pub fn value(self) -> f64 {
        self.hi + self.lo
    }

    /// Whether it is the double that it rounds to.
    #[inline]
    pub fn is_double(&self) -> bool {
        self.lo == 0.0
    }

    /// The sum, up to terms of the size of a square of the unit roundoff.
    #[inline]
    pub fn plus(self, other: DoubleDouble) -> DoubleDouble {
        let top = DoubleDouble::difference(self.hi, -other.hi);
        let lo = top.lo + (self.lo + other.lo);
        let hi = top.hi + lo;
        DoubleDouble { hi, lo: lo - (hi - top.hi) }
    }

    /// The product, up to terms of the size of a square of the unit roundoff.
    #[inline]
    pub fn times(self, other: DoubleDouble) -> DoubleDouble {
        let hi = self.hi * other.hi;
        // Halves of 26 digits multiply without rounding; a fused multiply-add is slow where the processor
        // may have none.
        let ([a, b], [c, d]) = (halves(self.hi), halves(other.hi));
        let lost = b * d - (((hi - a * c) - b * c) - a * d);
        DoubleDouble { hi, lo: lost + (self.hi * other.lo + self.lo * other.hi) }
    }

    fn minus(self, other: DoubleDouble) -> f64 {
        let top = DoubleDouble::difference(self.hi, other.hi);
        top.hi + (top.lo + (self.lo - other.lo))
    }
}

/// p − q, exactly.
#[inline]
pub fn difference(p: DVec3, q: DVec3) -> DoubleDoubleVec {
    std::array::from_fn(|i| DoubleDouble::difference(p[i], q[i]))
}

/// The sum of two vectors.
#[inline]
pub fn plus(u: &DoubleDoubleVec, v: &DoubleDoubleVec) -> DoubleDoubleVec {
    std::array::from_fn(|i| u[i].plus(v[i]))
}

/// The vector product.
#[inline]
pub fn cross(u: &DoubleDoubleVec, v: &DoubleDoubleVec) -> DoubleDoubleVec {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let other = u[k].times(v[j]);
        u[j].times(v[k]).plus(DoubleDouble { hi: -other.hi, lo: -other.lo })
    })
}

/// The scalar product.
#[inline]
pub fn dot(u: &DoubleDoubleVec, v: &DoubleDoubleVec) -> DoubleDouble {
    u[0].times(v[0]).plus(u[1].times(v[1])).plus(u[2].times(v[2]))
}

/// A number as the sum of two of half the digits (Veltkamp).
fn halves(x: f64) -> [f64; 2] {
    let far = x * SPLITTER;
    let top = far - (far - x);
    [top, x - top]
}

const SPLITTER: f64 = (1_u64 << 27) as f64 + 1.0;

/// (b − a) × (c − a) with about twice the digits of f64 before the result is rounded, so that slivers keep
/// their normal; coordinates of about unit size, so that no product underflows, are the caller's duty.
pub fn triangle_normal(a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    let difference =
        |p: DVec3| -> [DoubleDouble; 3] { std::array::from_fn(|i| DoubleDouble::difference(p[i], a[i])) };
    let (u, v) = (difference(b), difference(c));
    let component = |i: usize, j: usize| u[i].times(v[j]).minus(u[j].times(v[i]));
    DVec3::new(component(1, 2), component(2, 0), component(0, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needles_keep_their_normal() {
        // Points of the plane y + z = 0 (exact in doubles) on a needle through them.
        let (far, thin) = (1.0 + f64::EPSILON, 2f64.powi(-52));
        let a = DVec3::new(0.3, 0.1, -0.1);
        let b = DVec3::new(0.3 + far, 0.4, -0.4);
        let c = DVec3::new(0.3 + 2.0 * far, 0.7 + thin, -0.7 - thin);
        let n = triangle_normal(a, b, c);
        assert_eq!((n.x, n.y), (0.0, n.z));
        assert!(n.y != 0.0);
        // The plain product has lost everything but the size.
        let plain = (b - a).cross(c - a);
        assert!((plain - n).length() <= 1e-15);
    }
}
