//! Numbers kept as an unevaluated sum of two doubles, for differences of products that nearly cancel
//! (Dekker, "A floating-point technique for extending the available precision", 1971).

use glam::DVec3;

/// hi + lo, where lo is what rounding took from hi.
#[derive(Debug, Clone, Copy)]
struct Twofold {
    hi: f64,
    lo: f64,
}

impl Twofold {
    /// a − b, exactly.
    fn difference(a: f64, b: f64) -> Twofold {
        let hi = a - b;
        let part = hi - a;
        Twofold { hi, lo: (a - (hi - part)) - (b + part) }
    }

    /// The product, up to terms of the size of a square of the unit roundoff.
    fn times(self, other: Twofold) -> Twofold {
        let hi = self.hi * other.hi;
        // Halves of 26 digits multiply without rounding; a fused multiply-add is slow where the processor
        // may have none.
        let ([a, b], [c, d]) = (halves(self.hi), halves(other.hi));
        let lost = b * d - (((hi - a * c) - b * c) - a * d);
        Twofold { hi, lo: lost + (self.hi * other.lo + self.lo * other.hi) }
    }

    fn minus(self, other: Twofold) -> f64 {
        let top = Twofold::difference(self.hi, other.hi);
        top.hi + (top.lo + (self.lo - other.lo))
    }
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
    let difference = |p: DVec3| -> [Twofold; 3] { std::array::from_fn(|i| Twofold::difference(p[i], a[i])) };
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
