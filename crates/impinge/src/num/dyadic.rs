//! Exact numbers m·2ᵉ: every double is one, and so are sums and products of them.
//!
//! The last resort of the predicates and the arithmetic of the slow exact path: no rounding, no
//! overflow, no underflow, at the price of an allocation for each operation.

use std::ops::{Add, Mul, Neg, Sub};

use num_bigint::{BigInt, Sign as BigSign};

use super::predicate::Sign;

/// An exact number m·2ᵉ.
#[derive(Debug, Clone)]
pub struct Dyadic {
    mantissa: BigInt,
    exponent: i32,
}

impl Dyadic {
    /// The number zero.
    pub fn zero() -> Dyadic {
        Dyadic { mantissa: BigInt::ZERO, exponent: 0 }
    }

    /// The sign.
    pub fn sign(&self) -> Sign {
        match self.mantissa.sign() {
            BigSign::Minus => Sign::Negative,
            BigSign::NoSign => Sign::Zero,
            BigSign::Plus => Sign::Positive,
        }
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> bool {
        self.mantissa.sign() == BigSign::NoSign
    }

    /// The quotient of two numbers in f64, within a few units in the last place; 0 for a divisor of 0.
    pub fn ratio(&self, divisor: &Dyadic) -> f64 {
        if divisor.is_zero() || self.is_zero() {
            return 0.0;
        }
        let (m, e) = self.leading();
        let (n, f) = divisor.leading();
        scale(m / n, e.saturating_sub(f))
    }

    /// The top 64 bits as a double, and the exponent that goes with them.
    fn leading(&self) -> (f64, i64) {
        let bits = self.mantissa.bits();
        let drop = bits.saturating_sub(64);
        let top = (self.mantissa.magnitude() >> drop).iter_u64_digits().next().unwrap_or(0) as f64;
        let top = if self.mantissa.sign() == BigSign::Minus { -top } else { top };
        (top, i64::from(self.exponent) + drop as i64)
    }

    fn aligned(&self, exponent: i32) -> BigInt {
        &self.mantissa << (self.exponent - exponent) as u32
    }
}

/// x·2ᵉ, over- and underflowing as doubles do.
fn scale(mut x: f64, mut e: i64) -> f64 {
    while e != 0 && x != 0.0 && x.is_finite() {
        let step = e.clamp(-900, 900);
        x *= 2.0_f64.powi(step as i32);
        e -= step;
    }
    x
}

impl From<f64> for Dyadic {
    fn from(x: f64) -> Dyadic {
        debug_assert!(x.is_finite());
        let bits = x.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = match (bits >> 52 & 0x7ff) as i32 {
            0 => (fraction, -1074),
            e => (fraction | 1 << 52, e - 1075),
        };
        if mantissa == 0 {
            return Dyadic::zero();
        }
        let shift = mantissa.trailing_zeros();
        let mantissa = (mantissa >> shift) as i64;
        let mantissa = BigInt::from(if x < 0.0 { -mantissa } else { mantissa });
        Dyadic { mantissa, exponent: exponent + shift as i32 }
    }
}

impl Add for &Dyadic {
    type Output = Dyadic;
    fn add(self, other: &Dyadic) -> Dyadic {
        if self.is_zero() {
            return other.clone();
        }
        if other.is_zero() {
            return self.clone();
        }
        let exponent = self.exponent.min(other.exponent);
        Dyadic { mantissa: self.aligned(exponent) + other.aligned(exponent), exponent }
    }
}

impl Sub for &Dyadic {
    type Output = Dyadic;
    fn sub(self, other: &Dyadic) -> Dyadic {
        self + &-other
    }
}

impl Mul for &Dyadic {
    type Output = Dyadic;
    fn mul(self, other: &Dyadic) -> Dyadic {
        Dyadic { mantissa: &self.mantissa * &other.mantissa, exponent: self.exponent + other.exponent }
    }
}

impl Neg for &Dyadic {
    type Output = Dyadic;
    fn neg(self) -> Dyadic {
        Dyadic { mantissa: -&self.mantissa, exponent: self.exponent }
    }
}

impl PartialEq for Dyadic {
    fn eq(&self, other: &Dyadic) -> bool {
        (self - other).is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
