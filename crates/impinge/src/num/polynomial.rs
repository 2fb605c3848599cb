//! Polynomials with exact coefficients, of the small degrees that motion along straight lines gives.

use std::ops::{Add, Mul, Sub};

use smallvec::SmallVec;

use super::dyadic::Dyadic;
use super::predicate::Sign;

/// A cubic fits in place.
type Coefficients = SmallVec<[Dyadic; 4]>;

/// A polynomial of exact coefficients.
#[derive(Debug, Clone)]
pub struct Polynomial {
    /// Lowest power first, the last one not zero; none at all for zero.
    coefficients: Coefficients,
}

impl Polynomial {
    /// The polynomial with these coefficients, lowest power first.
    pub fn new(coefficients: impl IntoIterator<Item = Dyadic>) -> Polynomial {
        let mut coefficients: Coefficients = coefficients.into_iter().collect();
        while coefficients.last().is_some_and(Dyadic::is_zero) {
            coefficients.pop();
        }
        Polynomial { coefficients }
    }

    /// Whether this is zero everywhere.
    pub fn is_zero(&self) -> bool {
        self.coefficients.is_empty()
    }

    /// Whether no power of the variable is left.
    pub fn is_constant(&self) -> bool {
        self.coefficients.len() <= 1
    }

    /// The value at a number.
    pub fn at(&self, t: &Dyadic) -> Dyadic {
        let highest_first = self.coefficients.iter().rev();
        highest_first.fold(Dyadic::zero(), |sum, c| &(&sum * t) + c)
    }

    /// The coefficients in f64, all divided by one power of two, the largest to about one; zeros above the
    /// degree.
    pub fn rounded<const N: usize>(&self) -> [f64; N] {
        let most = self.coefficients.iter().filter(|c| !c.is_zero()).map(Dyadic::magnitude).max();
        std::array::from_fn(|i| self.coefficients.get(i).map_or(0.0, |c| c.scaled(most.unwrap_or(0))))
    }

    /// The derivative.
    pub fn derivative(&self) -> Polynomial {
        let powers = self.coefficients.iter().enumerate().skip(1);
        Polynomial::new(powers.map(|(power, c)| c * &Dyadic::from(power as f64)))
    }

    /// How often the sign changes in the Bernstein coefficients on an open interval, and the sign just right
    /// of `low`. By Descartes' rule there are so many roots in the interval, or fewer by an even number.
    pub fn variations(&self, low: &Dyadic, high: &Dyadic) -> (u32, Sign) {
        let mut c = self.coefficients.clone();
        let n = c.len();
        // p(low + width·s): Horner's scheme for the shift, powers of the width for the scale.
        for i in 0..n {
            for j in (i..n.saturating_sub(1)).rev() {
                c[j] = &c[j] + &(&c[j + 1] * low);
            }
        }
        let width = high - low;
        let mut power = Dyadic::from(1.0);
        for c in c.iter_mut().skip(1) {
            power = &power * &width;
            *c = &*c * &power;
        }
        let first = c.iter().map(Dyadic::sign).find(|sign| !sign.is_zero()).unwrap_or(Sign::Zero);
        // (1 + s)ⁿ·p(1/(1 + s)): the coefficients turned round and shifted by one.
        c.reverse();
        for i in 0..n {
            for j in (i..n.saturating_sub(1)).rev() {
                c[j] = &c[j] + &c[j + 1];
            }
        }
        let (mut count, mut last) = (0, Sign::Zero);
        for sign in c.iter().map(Dyadic::sign).filter(|sign| !sign.is_zero()) {
            count += u32::from(last == sign.flip());
            last = sign;
        }
        (count, first)
    }

    /// A greatest common divisor, up to a factor.
    pub fn common_divisor(&self, other: &Polynomial) -> Polynomial {
        let (mut a, mut b) = (self.clone(), other.clone());
        while !b.is_zero() {
            (a, b) = (b.clone(), a.divided(&b)[1].clone());
        }
        a
    }

    /// The polynomial with the same roots, each of them simple, up to a factor.
    pub fn simple(&self) -> Polynomial {
        let common = self.common_divisor(&self.derivative());
        if common.is_constant() {
            return self.clone();
        }
        let [quotient, _] = self.divided(&common);
        quotient
    }

    /// Quotient and remainder, both multiplied by some power of the divisor's leading coefficient.
    fn divided(&self, divisor: &Polynomial) -> [Polynomial; 2] {
        let mut rest = self.coefficients.clone();
        let Some((lead, lower)) = divisor.coefficients.split_last() else {
            return [Polynomial::new([]), self.clone()];
        };
        let mut quotient = Coefficients::new();
        while rest.len() > lower.len() {
            let Some(top) = rest.pop() else { break };
            for c in rest.iter_mut().chain(&mut quotient) {
                *c = &*c * lead;
            }
            let start = rest.len() - lower.len();
            for (c, d) in rest[start..].iter_mut().zip(lower) {
                *c = &*c - &(d * &top);
            }
            quotient.insert(0, top);
        }
        [Polynomial::new(quotient), Polynomial::new(rest)]
    }
}

impl Add for &Polynomial {
    type Output = Polynomial;
    fn add(self, other: &Polynomial) -> Polynomial {
        let [long, short] =
            if self.coefficients.len() < other.coefficients.len() { [other, self] } else { [self, other] };
        let mut sum = long.coefficients.clone();
        for (sum, c) in sum.iter_mut().zip(&short.coefficients) {
            *sum = &*sum + c;
        }
        Polynomial::new(sum)
    }
}

impl Sub for &Polynomial {
    type Output = Polynomial;
    fn sub(self, other: &Polynomial) -> Polynomial {
        let negated = Polynomial { coefficients: other.coefficients.iter().map(|c| -c).collect() };
        self.add(&negated)
    }
}

impl Mul for &Polynomial {
    type Output = Polynomial;
    fn mul(self, other: &Polynomial) -> Polynomial {
        if self.is_zero() || other.is_zero() {
            return Polynomial::new([]);
        }
        let mut product = Coefficients::new();
        product.resize(self.coefficients.len() + other.coefficients.len() - 1, Dyadic::zero());
        for (i, a) in self.coefficients.iter().enumerate() {
            for (j, b) in other.coefficients.iter().enumerate() {
                product[i + j] = &product[i + j] + &(a * b);
            }
        }
        Polynomial::new(product)
    }
}
