//! Real roots of exact polynomials, known as "the one root in this interval", and signs at them.
//!
//! Isolation by bisection and Descartes' rule in the Bernstein form (Collins and Akritas, "Polynomial real
//! root isolation using Descarte's rule of signs", 1976). Whether another polynomial vanishes at a root is
//! told by a common divisor, its sign otherwise by narrowing the interval until nothing is in doubt.

use super::dyadic::Dyadic;
use super::polynomial::Polynomial;
use super::predicate::Sign;
use super::tolerance::CONTACT_TIME;

/// One root of a polynomial.
#[derive(Debug, Clone)]
pub struct RealRoot {
    polynomial: Polynomial,
    /// The root is simple and the only one in the open interval; or both are the root itself.
    low: Dyadic,
    high: Dyadic,
    /// The sign of the polynomial between `low` and the root.
    before: Sign,
}

/// Halvings of 0..1 before multiple roots are looked for.
const PLAIN_HALVINGS: u32 = 4;

/// Width to which a root found in f64 is bracketed at once (no unit: a part of 0..1).
const BRACKETS: [f64; 2] = [CONTACT_TIME / 4.0, 1e3 * CONTACT_TIME];

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
        let is_root = |end: f64| polynomial.at(&Dyadic::from(end)).is_zero();
        roots.extend(is_root(0.0).then(|| RealRoot::exactly(0.0)));
        isolate(polynomial, [Dyadic::zero(), Dyadic::from(1.0)], PLAIN_HALVINGS, &mut roots);
        roots.extend(is_root(1.0).then(|| RealRoot::exactly(1.0)));
        roots
    }

    /// Narrows the interval around the root as f64 sees it, if it is there.
    fn approach(&mut self) {
        let c: [f64; 4] = self.polynomial.rounded();
        let value = |t: f64| ((c[3] * t + c[2]) * t + c[1]) * t + c[0];
        let [mut low, mut high] = [&self.low, &self.high].map(|end| end.scaled(0));
        // Halving is safe, and each step costs a few cycles.
        for _ in 0..f64::MANTISSA_DIGITS {
            let middle = 0.5 * (low + high);
            if Sign::from(value(middle)) == self.before { low = middle } else { high = middle }
        }
        let guess = Dyadic::from(high);
        if self.polynomial.at(&guess).is_zero() {
            (self.low, self.high) = (guess.clone(), guess);
            return;
        }
        for width in BRACKETS {
            let ends = [low - width, low + width].map(Dyadic::from);
            let [from, to] = &ends;
            let inside =
                (from - &self.low).sign() == Sign::Positive && (&self.high - to).sign() == Sign::Positive;
            if inside
                && self.polynomial.at(from).sign() == self.before
                && self.polynomial.at(to).sign() == self.before.flip()
            {
                [self.low, self.high] = ends;
                return;
            }
        }
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
    pub fn lower_bound(&mut self, tolerance: f64) -> f64 {
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

/// Appends the roots in an open interval, ascending; after so many halvings as are `left` multiple roots are made
/// simple, without which halving might never end.
fn isolate(polynomial: &Polynomial, [low, high]: [Dyadic; 2], left: u32, roots: &mut Vec<RealRoot>) {
    let (changes, before) = polynomial.variations(&low, &high);
    if changes == 1 {
        let mut root = RealRoot { polynomial: polynomial.clone(), low, high, before };
        root.approach();
        roots.push(root);
    } else if changes > 1 {
        let simple = if left == 0 { &polynomial.simple() } else { polynomial };
        let left = left.checked_sub(1).unwrap_or(u32::MAX);
        let middle = half(&(&low + &high));
        isolate(simple, [low, middle.clone()], left, roots);
        if simple.at(&middle).is_zero() {
            let (polynomial, before) = (simple.clone(), Sign::Negative);
            roots.push(RealRoot { polynomial, low: middle.clone(), high: middle.clone(), before });
        }
        isolate(simple, [middle, high], left, roots);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polynomial(coefficients: &[f64]) -> Polynomial {
        Polynomial::new(coefficients.iter().map(|&c| Dyadic::from(c)))
    }

    fn roots(coefficients: &[f64]) -> Vec<f64> {
        let roots = RealRoot::in_unit_interval(&polynomial(coefficients));
        roots.into_iter().map(|mut root| root.lower_bound(CONTACT_TIME)).collect()
    }

    #[test]
    fn roots_come_in_order_each_once() {
        for (coefficients, known) in [
            // (4t − 1)(2t − 1)(4t − 3), (2t − 1)²(4t − 3), (2t − 1)³, t(t − 1), t² + 1, and constants.
            (vec![-3.0, 22.0, -48.0, 32.0], vec![0.25, 0.5, 0.75]),
            (vec![-3.0, 16.0, -28.0, 16.0], vec![0.5, 0.75]),
            (vec![-1.0, 6.0, -12.0, 8.0], vec![0.5]),
            (vec![0.0, -1.0, 1.0], vec![0.0, 1.0]),
            (vec![1.0, 0.0, 1.0], vec![]),
            (vec![3.0], vec![]),
            (vec![], vec![]),
            // (3t − 1)²: a double root that no halving meets.
            (vec![1.0, -6.0, 9.0], vec![1.0 / 3.0]),
        ] {
            let found = roots(&coefficients);
            assert_eq!(found.len(), known.len(), "{coefficients:?}: {found:?}");
            for (found, known) in found.iter().zip(known) {
                assert!(*found <= known && known - found <= CONTACT_TIME, "{coefficients:?}: {found}");
            }
        }
    }

    #[test]
    fn signs_at_an_irrational_root() {
        // 2t² − 1 at √½, where t² − ½ vanishes and t − 0.7 does not.
        let mut root = RealRoot::in_unit_interval(&polynomial(&[-1.0, 0.0, 2.0])).remove(0);
        assert_eq!(root.sign(&polynomial(&[-0.5, 0.0, 1.0])), Sign::Zero);
        assert_eq!(root.sign(&polynomial(&[0.0, -0.5, 0.0, 1.0])), Sign::Zero);
        assert_eq!(root.sign(&polynomial(&[-0.7, 1.0])), Sign::Positive);
        assert_eq!(root.sign(&polynomial(&[0.5_f64.sqrt(), -1.0])), Sign::Positive);
        assert_eq!(root.sign(&polynomial(&[0.5_f64.sqrt().next_down(), -1.0])), Sign::Negative);
        assert_eq!(root.sign(&polynomial(&[])), Sign::Zero);
        let below = root.lower_bound(CONTACT_TIME);
        assert!(2.0 * below * below <= 1.0 && 0.5_f64.sqrt() - below <= CONTACT_TIME);
    }
}
