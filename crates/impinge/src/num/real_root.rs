//! Real roots of exact polynomials, known as "the one root in this interval", and signs at them.
//!
//! Isolation by bisection and Descartes' rule in the Bernstein form (Collins and Akritas, "Polynomial real
//! root isolation using Descarte's rule of signs", 1976). Whether another polynomial vanishes at a root is
//! told by a common divisor, its sign otherwise by narrowing the interval until nothing is in doubt.

use super::dyadic::Dyadic;
use super::polynomial::Polynomial;
use super::predicate::Sign;

/// One root of a polynomial.
#[derive(Debug, Clone)]
pub struct RealRoot {
    /// Without multiple roots.
    polynomial: Polynomial,
    /// The root is the only one in the open interval; or both are the root itself.
    low: Dyadic,
    high: Dyadic,
    /// The sign of the polynomial between `low` and the root.
    before: Sign,
}

impl RealRoot {
    /// The number itself, as the root of t − number.
    pub fn exactly(number: f64) -> RealRoot {
        let number = Dyadic::from(number);
        let polynomial = Polynomial::new([-&number, Dyadic::from(1.0)]);
        RealRoot { polynomial, low: number.clone(), high: number, before: Sign::Negative }
    }

    /// The roots in the closed interval from 0 to 1, ascending; none for a polynomial that is zero everywhere.
    pub fn in_unit_interval(polynomial: &Polynomial) -> Vec<RealRoot> {
        let mut roots = Vec::new();
        if polynomial.is_constant() {
            return roots;
        }
        let simple = polynomial.simple();
        for end in [0.0, 1.0] {
            if simple.at(&Dyadic::from(end)).is_zero() {
                roots.push(RealRoot::exactly(end));
            }
        }
        let at = roots.iter().filter(|root| root.low.is_zero()).count();
        let mut inner = Vec::new();
        isolate(&simple, [Dyadic::zero(), Dyadic::from(1.0)], &mut inner);
        roots.splice(at..at, inner);
        roots
    }

    /// The sign of another polynomial at this root, exactly.
    pub fn sign(&mut self, of: &Polynomial) -> Sign {
        if self.is_known() {
            return of.at(&self.low).sign();
        }
        let (changes, sign) = of.variations(&self.low, &self.high);
        if changes == 0 {
            return sign;
        }
        // The divisor has no root in the interval but this one, and it is simple: the parity tells.
        let common = self.polynomial.common_divisor(of);
        if common.variations(&self.low, &self.high).0 % 2 == 1 {
            return Sign::Zero;
        }
        loop {
            self.halve();
            if self.is_known() {
                return of.at(&self.low).sign();
            }
            let (changes, sign) = of.variations(&self.low, &self.high);
            if changes == 0 {
                return sign;
            }
        }
    }

    /// A double that is not above the root, and below it by at most `tolerance`.
    pub fn from_below(&mut self, tolerance: f64) -> f64 {
        while !self.is_known() && (&self.high - &self.low).ratio(&Dyadic::from(1.0)) > tolerance {
            self.halve();
        }
        let mut time = self.low.ratio(&Dyadic::from(1.0));
        while (&Dyadic::from(time) - &self.low).sign() == Sign::Positive {
            time = time.next_down();
        }
        time
    }

    fn is_known(&self) -> bool {
        (&self.high - &self.low).is_zero()
    }

    fn halve(&mut self) {
        let middle = half(&(&self.low + &self.high));
        match self.polynomial.at(&middle).sign() {
            Sign::Zero => (self.low, self.high) = (middle.clone(), middle),
            sign if sign == self.before => self.low = middle,
            _ => self.high = middle,
        }
    }
}

fn half(x: &Dyadic) -> Dyadic {
    x * &Dyadic::from(0.5)
}

/// The roots in an open interval, ascending.
fn isolate(simple: &Polynomial, [low, high]: [Dyadic; 2], roots: &mut Vec<RealRoot>) {
    match simple.variations(&low, &high) {
        (0, _) => {}
        (1, before) => roots.push(RealRoot { polynomial: simple.clone(), low, high, before }),
        _ => {
            let middle = half(&(&low + &high));
            isolate(simple, [low, middle.clone()], roots);
            if simple.at(&middle).is_zero() {
                let (polynomial, before) = (simple.clone(), Sign::Negative);
                roots.push(RealRoot { polynomial, low: middle.clone(), high: middle.clone(), before });
            }
            isolate(simple, [middle, high], roots);
        }
    }
}
