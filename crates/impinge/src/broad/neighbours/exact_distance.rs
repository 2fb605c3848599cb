//! Whether two particles are near enough, exactly: by integers where all numbers are multiples of a common unit that is not
//! too small for the largest, as on a lattice, and else by numbers of any length.

use glam::DVec3;

use crate::num::dyadic::Dyadic;
use crate::num::exact_vector::{dot, exact, minus, plus, times};
use crate::num::predicate::Sign;

/// Two places, how many of which vectors the second is moved by, and the parts of the largest distance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Apart {
    pub places: [DVec3; 2],
    pub steps: [i32; 3],
    pub vectors: [DVec3; 3],
    pub limit: [f64; 3],
}

impl Apart {
    /// Whether q + steps·vectors − p is at most as long as the sum of the limit's parts.
    pub fn is_within(&self) -> bool {
        self.by_integers().unwrap_or_else(|| self.by_dyadics())
    }

    /// The vectors that count, and how often each does.
    fn moves(&self) -> impl Iterator<Item = (i32, DVec3)> {
        self.steps.into_iter().zip(self.vectors).filter(|(step, _)| *step != 0)
    }

    /// None where the numbers have no unit of which the largest has less than 2⁶⁰.
    fn by_integers(&self) -> Option<bool> {
        let [p, q] = self.places;
        let largest = |v: DVec3| v.abs().max_element();
        let most = self.limit.into_iter().fold(largest(p).max(largest(q)), f64::max);
        let most = self.moves().fold(most, |most, (_, v)| most.max(largest(v)));
        // 2^-960 to 2^960: that both powers of two are doubles.
        let exponent = (most.to_bits() >> 52) as i64 - 1023;
        if !(-900..=900).contains(&exponent) {
            return None;
        }
        let power = |e: i64| f64::from_bits(((1023 + e) as u64) << 52);
        let (unit, units) = (power(exponent - 59), power(59 - exponent));
        let whole = |x: f64| {
            let n = (x * units) as i64;
            (n as f64 * unit == x).then_some(i128::from(n))
        };
        let mut square = 0_i128;
        for axis in 0..3 {
            let mut d = whole(q[axis])? - whole(p[axis])?;
            for (step, v) in self.moves() {
                d += i128::from(step) * whole(v[axis])?;
            }
            // Three squares and that of the limit fit.
            if d.unsigned_abs() >= 1 << 62 {
                return None;
            }
            square += d * d;
        }
        let [a, b, c] = self.limit;
        let limit = whole(a)? + whole(b)? + whole(c)?;
        Some(square <= limit * limit)
    }

    fn by_dyadics(&self) -> bool {
        let [p, q] = self.places.map(exact);
        let [a, b, c] = self.limit.map(Dyadic::from);
        let limit = &(&a + &b) + &c;
        let d = self
            .moves()
            .fold(minus(&q, &p), |d, (step, v)| plus(&d, &times(&Dyadic::from(f64::from(step)), &exact(v))));
        (&(&limit * &limit) - &dot(&d, &d)).sign() != Sign::Negative
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn integers_decide_as_numbers_of_any_length_do() {
        let mut random = Pcg64::seed_from_u64(67);
        let (mut by_integers, mut within) = (0, 0);
        for round in 0..20_000 {
            let scale = [1.0, 0.1, 1e-3, 2.0_f64.powi(-300), 1e40][round % 5];
            let mut one = || match round % 7 {
                0 => random.random_range(-1.0..1.0) * scale,
                1 => f64::from(random.random_range(-9..10_i32)) * 1e-7 * scale,
                _ => f64::from(random.random_range(-9..10_i32)) * scale,
            };
            let mut vector = || DVec3::new(one(), one(), one());
            let (places, vectors) = ([vector(), vector()], [vector(), vector(), vector()]);
            let steps = if round % 3 == 0 { [0; 3] } else { [0, 1, -(1 << (round % 30))] };
            let moves = steps.into_iter().zip(vectors);
            let d = moves.fold(places[1] - places[0], |d, (step, v)| d + f64::from(step) * v);
            // Half of them by a rounding or less from the limit.
            let length = if round % 2 == 0 { d.length() } else { f64::from(round as i32 % 20) * scale };
            let apart =
                Apart { places, steps, vectors, limit: [length, 0.0, 0.5 * length * (round % 4 / 2) as f64] };
            let want = apart.by_dyadics();
            assert_eq!(apart.is_within(), want, "{apart:?}");
            let found = apart.by_integers();
            assert!(found.is_none_or(|found| found == want), "{apart:?}");
            by_integers += u32::from(found.is_some());
            within += u32::from(want);
        }
        assert!((4_000..19_000).contains(&by_integers), "{by_integers}");
        assert!((4_000..19_000).contains(&within), "{within}");
        // The smaller number is lost in the unit, or below the smallest double in it.
        for tiny in [1e-30, 1e-320] {
            let places = [DVec3::ZERO, DVec3::new(1e50, tiny, 0.0)];
            let apart = Apart { places, steps: [0; 3], vectors: [DVec3::ZERO; 3], limit: [1e50, 0.0, 0.0] };
            assert_eq!((apart.by_integers(), apart.is_within()), (None, false));
        }
    }
}
