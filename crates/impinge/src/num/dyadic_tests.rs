use num_bigint::{BigInt, BigUint, Sign as BigSign};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;

/// The twin: the mantissa as a whole number of the crate `num-bigint`, times 2^`exponent`.
#[derive(Clone)]
struct Twin {
    mantissa: BigInt,
    exponent: i32,
}

impl Twin {
    fn of(x: &Dyadic) -> Twin {
        let digits = x.limbs.iter().flat_map(|limb| [*limb as u32, (limb >> 32) as u32]).collect();
        let sign = if x.negative { BigSign::Minus } else { BigSign::Plus };
        Twin { mantissa: BigInt::from_biguint(sign, BigUint::new(digits)), exponent: x.exponent }
    }

    fn aligned(&self, exponent: i32) -> BigInt {
        &self.mantissa << (self.exponent - exponent)
    }

    fn with(&self, other: &Twin, join: impl Fn(BigInt, BigInt) -> BigInt) -> Twin {
        let exponent = self.exponent.min(other.exponent);
        Twin { mantissa: join(self.aligned(exponent), other.aligned(exponent)), exponent }
    }

    fn is(&self, x: &Dyadic) -> bool {
        assert!(x.limbs.last() != Some(&0), "a leading zero");
        let sign = match self.mantissa.sign() {
            BigSign::Minus => Sign::Negative,
            BigSign::NoSign => Sign::Zero,
            BigSign::Plus => Sign::Positive,
        };
        sign == x.sign() && self.with(&Twin::of(x), |a, b| a - b).mantissa == BigInt::ZERO
    }
}

fn check(x: &Dyadic, y: &Dyadic) {
    let (a, b) = (Twin::of(x), Twin::of(y));
    assert!(a.with(&b, |a, b| a + b).is(&(x + y)));
    assert!(a.with(&b, |a, b| a - b).is(&(x - y)));
    let product = Twin { mantissa: &a.mantissa * &b.mantissa, exponent: a.exponent + b.exponent };
    assert!(product.is(&(x * y)));
    assert!(Twin { mantissa: -&a.mantissa, exponent: a.exponent }.is(&-x));
    let size = |x: &Twin, exponent: i32| x.aligned(exponent).magnitude().clone();
    let exponent = a.exponent.min(b.exponent);
    assert_eq!(x.cmp_magnitude(y), size(&a, exponent).cmp(&size(&b, exponent)));
    assert_eq!(x == y, (x - y).is_zero());
}

#[test]
fn doubles_survive() {
    for x in [0.0, -0.0, 1.0, -3.5, 1e60, 5e-324, -1e-300, f64::MAX, 0.1] {
        assert_eq!(Dyadic::from(x).ratio(&Dyadic::from(1.0)), x);
    }
}

#[test]
fn sums_and_products_keep_every_bit() {
    let [large, small] = [1e60, 5e-324].map(Dyadic::from);
    let difference = &(&large + &small) - &large;
    assert_eq!(difference, small);
    let product = &(&small * &small) * &large;
    assert_eq!(product.sign(), Sign::Positive);
    assert_eq!((-&product).sign(), Sign::Negative);
    assert!((&product - &product).is_zero());
    assert_eq!(product.ratio(&(&small * &small)), 1e60);
}

#[test]
fn extremes_agree_with_whole_numbers() {
    let ones = |bits: u32| {
        let two = |e: u32| (0..e).fold(Dyadic::from(1.0), |x, _| &x + &x);
        &two(bits) - &Dyadic::from(1.0)
    };
    let doubles = [0.0, 1.0, 5e-324, 1e-300, f64::MIN_POSITIVE, 0.1, 1.5, 1e60, f64::MAX, 2f64.powi(64)];
    let mut all: Vec<Dyadic> = doubles.map(Dyadic::from).to_vec();
    // Long carries and borrows, within the limbs in place, at their end and beyond.
    all.extend([1, 63, 64, 65, 128, 639, 640, 641, 1280].map(ones));
    all.extend(all.clone().iter().map(|x| -x));
    for x in &all {
        for y in &all {
            check(x, y);
            check(&(x + y), &(x - y));
        }
    }
}

/// Random sums and products grow from doubles of near and far exponents until they spill to the heap.
#[test]
fn random_numbers_agree_with_whole_numbers() {
    let mut rng = Pcg64::seed_from_u64(5);
    let (mut spilled, mut cancelled, mut cases) = (0, 0, 0);
    for round in 0..400 {
        let spread = [0, 4, 60, 300][round % 4];
        let mut pool: Vec<Dyadic> = (0..4)
            .map(|_| {
                let scale = 2f64.powi(rng.random_range(-spread..=spread));
                Dyadic::from(rng.random_range(-1.0..1.0) * scale)
            })
            .collect();
        for _ in 0..12 {
            let [i, j] = [0, 1].map(|_| rng.random_range(0..pool.len()));
            let (x, y) = (&pool[i], &pool[j]);
            check(x, y);
            let next = match rng.random_range(0..4) {
                0 => x + y,
                1 => x - y,
                _ => x * y,
            };
            cases += 1;
            spilled += usize::from(next.limbs.spilled());
            cancelled += usize::from(next.is_zero());
            let slot = rng.random_range(0..pool.len());
            pool[slot] = next;
        }
    }
    assert!((cases / 20..cases * 4 / 5).contains(&spilled), "{spilled} of {cases}");
    assert!(cancelled > cases / 50, "{cancelled} of {cases}");
}

#[test]
fn ratios_are_right_to_the_last_places() {
    let mut rng = Pcg64::seed_from_u64(6);
    for _ in 0..500 {
        let [x, y] = [0, 1].map(|_| {
            let scale = 2f64.powi(rng.random_range(-400..400));
            rng.random_range(0.5..1.0) * scale
        });
        let wide = (0..6).fold(Dyadic::from(1.0), |m, _| &m * &Dyadic::from(rng.random_range(0.5..1.0)));
        let quotient = (&Dyadic::from(x) * &wide).ratio(&(&Dyadic::from(y) * &wide));
        assert!((quotient / (x / y) - 1.0).abs() < 4.0 * f64::EPSILON, "{quotient} {}", x / y);
    }
}
