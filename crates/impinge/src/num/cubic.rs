//! Where a cubic polynomial is near zero.
//!
//! The coefficients come from rounded geometry, so a root is not a point but a band in which the polynomial is
//! no larger than its error. Bands are found on the pieces between the two turning points, on which the
//! polynomial is monotone, by bisection from outside: their ends err outward, and a double root that rounding
//! lifts off zero is still in a band.

/// c₀ + c₁x + c₂x² + c₃x³.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cubic(pub [f64; 4]);

/// At most so many bands: one on each monotone piece.
const PIECES: usize = 3;

impl Cubic {
    /// The value at x.
    #[inline]
    pub fn at(&self, x: f64) -> f64 {
        let [c0, c1, c2, c3] = self.0;
        ((c3 * x + c2) * x + c1) * x + c0
    }

    /// Whether no point of 0..end has a value within `error` of zero, by the signs of the four control values
    /// of its Bézier form: a cheap test that may say no in doubt.
    #[inline]
    pub fn keeps_away(&self, end: f64, error: f64) -> bool {
        let [c0, c1, c2, c3] = self.0;
        let (d1, d2, d3) = (c1 * end, c2 * end * end, c3 * end * end * end);
        let control = [c0, c0 + d1 / 3.0, c0 + (2.0 * d1 + d2) / 3.0, c0 + d1 + d2 + d3];
        control.iter().all(|&c| c > error) || control.iter().all(|&c| c < -error)
    }

    /// The bands of 0..end in which the value may be within `error` of zero, ascending.
    pub fn bands(&self, end: f64, error: f64) -> impl Iterator<Item = [f64; 2]> + use<> {
        let cubic = *self;
        let mut ends = [0.0, end, end, end];
        let mut count = 1;
        for x in self.turning_points() {
            if x > ends[count - 1] && x < end {
                ends[count] = x;
                count += 1;
            }
        }
        (0..PIECES)
            .filter(move |&k| ends[k] < ends[k + 1] || (k == 0 && end == 0.0))
            .filter_map(move |k| cubic.band(ends[k], ends[k + 1], error))
    }

    /// Where the derivative vanishes, ascending.
    fn turning_points(&self) -> impl Iterator<Item = f64> + use<> {
        let [_, c, b, a] = self.0;
        quadratic_roots(3.0 * a, 2.0 * b, c)
    }

    /// The band on a monotone piece.
    fn band(&self, low: f64, high: f64, error: f64) -> Option<[f64; 2]> {
        let [at_low, at_high] = [low, high].map(|x| self.at(x));
        if (at_low > error && at_high > error) || (at_low < -error && at_high < -error) {
            return None;
        }
        let first = if at_low.abs() <= error { low } else { self.border(low, high, error, at_low > 0.0) };
        let last = if at_high.abs() <= error { high } else { self.border(high, low, error, at_high > 0.0) };
        Some([first, last])
    }

    /// The border of the band as seen from `outside`, on its far side; `inside` is in the band or beyond it.
    fn border(&self, mut outside: f64, mut inside: f64, error: f64, positive: bool) -> f64 {
        let is_outside = |x: f64| if positive { self.at(x) > error } else { self.at(x) < -error };
        loop {
            let middle = 0.5 * (outside + inside);
            // Neighbouring numbers have no middle.
            if middle == outside || middle == inside {
                return outside;
            }
            if is_outside(middle) { outside = middle } else { inside = middle }
        }
    }
}

/// The roots of ax² + bx + c, ascending; none where all coefficients vanish.
pub fn quadratic_roots(a: f64, b: f64, c: f64) -> impl Iterator<Item = f64> {
    let half = -0.5 * b;
    let discriminant = half * half - a * c;
    let mut roots = [f64::NAN; 2];
    if discriminant >= 0.0 {
        // The root away from zero first: the other is a quotient without a difference.
        let far = half + discriminant.sqrt().copysign(half);
        roots = [far / a, c / far];
    }
    if roots[0] > roots[1] {
        roots.swap(0, 1);
    }
    roots.into_iter().filter(|x| x.is_finite())
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    /// Every place of a fine sampling that is near zero lies in a band, and bands end near zero.
    #[test]
    fn bands_hold_all_small_values() {
        let mut random = Pcg64::seed_from_u64(5);
        let mut hits = 0;
        for case in 0..2000 {
            let mut roots = [0.0; 3].map(|_: f64| random.random_range(-0.5..1.5));
            if case % 3 == 0 {
                roots[1] = roots[0]; // grazing
            }
            let [a, b, c] = roots;
            let cubic = Cubic([-a * b * c, a * b + b * c + c * a, -(a + b + c), 1.0]);
            let error = 1e-9;
            let bands: Vec<[f64; 2]> = cubic.bands(1.0, error).collect();
            assert!(bands.windows(2).all(|pair| pair[0][1] <= pair[1][0]), "{bands:?}");
            for root in roots.into_iter().filter(|root| (0.0..=1.0).contains(root)) {
                hits += 1;
                assert!(bands.iter().any(|band| band[0] <= root && root <= band[1]), "{root} of {cubic:?}");
            }
            for k in 0..=500 {
                let x = f64::from(k) / 500.0;
                let inside = bands.iter().any(|band| band[0] <= x && x <= band[1]);
                assert!(inside || cubic.at(x).abs() > error, "{x} of {cubic:?}");
            }
            if cubic.keeps_away(1.0, error) {
                assert!(bands.is_empty(), "{cubic:?}");
            }
        }
        assert!((2000..5000).contains(&hits), "{hits}");
    }

    #[test]
    fn degenerate_cubics_have_bands_too() {
        let bands = |c: [f64; 4]| Cubic(c).bands(1.0, 1e-12).collect::<Vec<_>>();
        assert_eq!(bands([0.0; 4]), [[0.0, 1.0]]);
        assert_eq!(bands([1.0, 0.0, 0.0, 0.0]), Vec::<[f64; 2]>::new());
        assert_eq!(bands([-0.5, 1.0, 0.0, 0.0]).len(), 1);
        assert_eq!(bands([0.25, -1.0, 1.0, 0.0]).len(), 2, "both sides of a double root");
        assert_eq!(Cubic([0.0, 1.0, 0.0, 0.0]).bands(0.0, 1e-12).count(), 1, "an instant");
    }
}
