//! The instants at which four moving points are coplanar, in floats with error bounds: the roots on 0..1 of a cubic
//! whose coefficients are known up to an error, none of them lost.
//!
//! In the Bernstein form the value lies between the coefficients, so an error of the coefficients is one of
//! the value, and signs of the coefficients tell where there is no root and where there is just one (Descartes).

use std::ops::ControlFlow;

use smallvec::SmallVec;

use super::filter::Verdict;
use crate::num::tolerance::CUBIC_ROUNDING;

/// Pieces that are looked at before the roots are left to exact arithmetic.
const MOST_PIECES: usize = 12;

/// Where a piece is cut: not in the middle, where roots of made-up motions like to lie.
const CUT: f64 = 0.4871;

/// Steps of Newton's method from the crossing of the control polygon; it doubles the digits at each.
const MOST_STEPS: usize = 8;

/// Half the width of a first bracket, at least (no unit: a part of the step).
const ROUGH: f64 = 1.0 / 512.0;

/// Bernstein coefficients on 0..1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cubic {
    bernstein: [f64; 4],
    /// How far coefficients may be off, and in a search also values and the coefficients of pieces.
    error: f64,
}

/// A part of 0..1 with the coefficients that belong to it.
#[derive(Debug, Clone, Copy)]
struct Piece {
    low: f64,
    high: f64,
    b: [f64; 4],
}

impl Cubic {
    /// From coefficients that are off by at most `error`.
    #[inline]
    pub(super) fn new(bernstein: [f64; 4], error: f64) -> Cubic {
        Cubic { bernstein, error }
    }

    /// The coefficients.
    #[cfg(test)]
    pub(super) fn coefficients(&self) -> [f64; 4] {
        self.bernstein
    }

    /// Whether there is certainly no root.
    #[inline]
    pub(super) fn is_free(&self) -> bool {
        is_free(&self.bernstein, self.error)
    }

    /// Hands over an interval around each root, ascending, until `each` has a verdict; in doubt when roots
    /// cannot be told apart from none, else free.
    #[inline]
    pub(super) fn search(&self, mut each: impl FnMut([f64; 2]) -> ControlFlow<Verdict>) -> Verdict {
        let whole = Piece { low: 0.0, high: 1.0, b: self.bernstein };
        let most = self.bernstein.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
        let blurred = Cubic { error: self.error + CUBIC_ROUNDING * most, ..*self };
        let end = if has_one_root(&whole.b, blurred.error) {
            blurred.visit(&whole, &mut each)
        } else {
            blurred.search_pieces(whole, &mut each)
        };
        match end {
            ControlFlow::Continue(()) => Verdict::Free,
            ControlFlow::Break(verdict) => verdict,
        }
    }

    /// The same where there may be several roots, in ever smaller pieces.
    #[inline(never)]
    fn search_pieces(
        &self,
        whole: Piece,
        each: &mut impl FnMut([f64; 2]) -> ControlFlow<Verdict>,
    ) -> ControlFlow<Verdict> {
        let mut pieces = SmallVec::<[Piece; MOST_PIECES]>::from_slice(&[whole]);
        for _ in 0..MOST_PIECES {
            let Some(piece) = pieces.pop() else { break };
            if is_free(&piece.b, self.error) {
                continue;
            }
            if has_one_root(&piece.b, self.error) {
                self.visit(&piece, each)?;
            } else {
                let [first, second] = piece.cut();
                pieces.extend([second, first]);
            }
        }
        if pieces.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(Verdict::Doubt) }
    }

    /// Hands over an interval around the only root of a piece.
    fn visit(
        &self,
        piece: &Piece,
        each: &mut impl FnMut([f64; 2]) -> ControlFlow<Verdict>,
    ) -> ControlFlow<Verdict> {
        let power = self.power_basis();
        let (guess, rough) = self.approached(piece, &power);
        // Most roots are far from a contact: a wide bracket shows it.
        if rough.is_some_and(|rough| each(rough).is_continue()) {
            return ControlFlow::Continue(());
        }
        match self.narrowed(piece, &power, guess) {
            Some(bracket) => each(bracket),
            None => ControlFlow::Break(Verdict::Doubt),
        }
    }

    /// Coefficients of the powers, lowest first.
    fn power_basis(&self) -> [f64; 4] {
        let [b0, b1, b2, b3] = self.bernstein;
        [b0, 3.0 * (b1 - b0), 3.0 * (b2 - 2.0 * b1 + b0), (b3 - b0) + 3.0 * (b1 - b2)]
    }

    /// One step of Newton's method from the crossing of the control polygon, and a wide interval around the
    /// only root of the piece if that is one.
    fn approached(&self, piece: &Piece, power: &[f64; 4]) -> (f64, Option<[f64; 2]>) {
        let start = piece.low + (piece.high - piece.low) * crossing(&piece.b);
        let step = value(power, start) / slope(power, start);
        let guess = start - step;
        if !(guess > piece.low && guess < piece.high) {
            return (start, None);
        }
        let room = step.abs() + ROUGH;
        let bracket = [(guess - room).max(piece.low), (guess + room).min(piece.high)];
        (guess, self.holds_root(piece, power, bracket).then_some(bracket))
    }

    /// A narrow interval around the only root of a piece.
    fn narrowed(&self, piece: &Piece, power: &[f64; 4], guess: f64) -> Option<[f64; 2]> {
        let rises = piece.b[3] > 0.0;
        let [mut low, mut high] = [piece.low, piece.high];
        let mut t = guess;
        for _ in 0..MOST_STEPS {
            let y = value(power, t);
            if (y < 0.0) == rises {
                low = t
            } else {
                high = t
            }
            let next = t - y / slope(power, t);
            // Out of the bracket, or not a number: halve it.
            let next = if next >= low && next <= high { next } else { 0.5 * (low + high) };
            let step = (next - t).abs();
            t = next;
            if step * slope(power, t).abs() <= self.error {
                break;
            }
        }
        let room = 2.0 * self.error / slope(power, t).abs() + f64::EPSILON;
        let brackets = [room, 8.0 * room].map(|room| [(t - room).max(piece.low), (t + room).min(piece.high)]);
        brackets.into_iter().find(|&bracket| self.holds_root(piece, power, bracket))
    }

    /// Whether the only root of a piece certainly lies in a part of it.
    fn holds_root(&self, piece: &Piece, power: &[f64; 4], [low, high]: [f64; 2]) -> bool {
        let sign = if piece.b[3] > 0.0 { 1.0 } else { -1.0 };
        // The ends of the piece are known to lie on either side.
        (low == piece.low || sign * value(power, low) < -self.error)
            && (high == piece.high || sign * value(power, high) > self.error)
    }
}

#[inline]
fn value(c: &[f64; 4], t: f64) -> f64 {
    ((c[3] * t + c[2]) * t + c[1]) * t + c[0]
}

#[inline]
fn slope(c: &[f64; 4], t: f64) -> f64 {
    (3.0 * c[3] * t + 2.0 * c[2]) * t + c[1]
}

impl Piece {
    /// The two parts (de Casteljau).
    fn cut(&self) -> [Piece; 2] {
        let mix = |x: f64, y: f64| x + (y - x) * CUT;
        let [b0, b1, b2, b3] = self.b;
        let (p, q, r) = (mix(b0, b1), mix(b1, b2), mix(b2, b3));
        let (x, y) = (mix(p, q), mix(q, r));
        let top = mix(x, y);
        let middle = mix(self.low, self.high);
        [
            Piece { high: middle, b: [b0, p, x, top], ..*self },
            Piece { low: middle, b: [top, y, r, b3], ..*self },
        ]
    }
}

#[inline]
fn is_free(b: &[f64; 4], error: f64) -> bool {
    b.iter().all(|&b| b > error) || b.iter().all(|&b| b < -error)
}

/// Whether the ends certainly have opposite signs and no choice of the others gives three changes.
#[inline]
fn has_one_root(b: &[f64; 4], error: f64) -> bool {
    let rising = |s: f64| s * b[0] < -error && s * b[3] > error && (s * b[1] < -error || s * b[2] > error);
    rising(1.0) || rising(-1.0)
}

/// Where the control polygon crosses zero for the first time.
fn crossing(b: &[f64; 4]) -> f64 {
    for i in 0..3 {
        if (b[i] < 0.0) != (b[i + 1] < 0.0) {
            return (i as f64 + b[i] / (b[i] - b[i + 1])) / 3.0;
        }
    }
    0.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::dyadic::Dyadic;
    use crate::num::random::unit;

    /// The exact coefficients of one of two parts of an exact cubic.
    fn exact_cut(b: &[Dyadic; 4], second: bool) -> [Dyadic; 4] {
        let c = Dyadic::from(CUT);
        let rest = &Dyadic::from(1.0) - &c;
        let mix = |x: &Dyadic, y: &Dyadic| &(x * &rest) + &(y * &c);
        let (p, q, r) = (mix(&b[0], &b[1]), mix(&b[1], &b[2]), mix(&b[2], &b[3]));
        let (x, y) = (mix(&p, &q), mix(&q, &r));
        let top = mix(&x, &y);
        if second { [top, y, r, b[3].clone()] } else { [b[0].clone(), p, x, top] }
    }

    fn exact_value(b: &[Dyadic; 4], t: f64) -> Dyadic {
        let t = Dyadic::from(t);
        let s = &Dyadic::from(1.0) - &t;
        let mix = |x: &Dyadic, y: &Dyadic| &(x * &s) + &(y * &t);
        let first: [Dyadic; 3] = std::array::from_fn(|i| mix(&b[i], &b[i + 1]));
        mix(&mix(&first[0], &first[1]), &mix(&first[1], &first[2]))
    }

    fn off(float: f64, exact: &Dyadic) -> f64 {
        (&Dyadic::from(float) - exact).scaled(0).abs()
    }

    /// Coefficients of changing signs, whose powers are largest, and roots near the end: what is done with them is off
    /// by less than the bound, and by so much that a far smaller bound would be caught here.
    #[test]
    fn rounding_stays_below_its_bound() {
        let (mut values, mut pieces) = (0.0_f64, 0.0_f64);
        for case in 0..20_000 {
            let random = |k: u64| unit(3, 64 * case + k);
            let b: [f64; 4] = std::array::from_fn(|i| {
                let size = if case % 2 == 0 { 1.0 - 1e-3 * random(i as u64) } else { random(i as u64) };
                if i % 2 == 0 { size } else { -size }
            });
            let exact = b.map(Dyadic::from);
            let most = b.iter().fold(0.0_f64, |most, b| most.max(b.abs()));

            let t = 1.0 - 0.5 * random(8) * if case % 3 == 0 { 1e-3 } else { 1.0 };
            let power = Cubic::new(b, 0.0).power_basis();
            values = values.max(off(value(&power, t), &exact_value(&exact, t)) / most);
            let (mut piece, mut exact) = (Piece { low: 0.0, high: 1.0, b }, exact);
            for k in 0..MOST_PIECES as u64 - 1 {
                let second = random(16 + k) > 0.5;
                piece = piece.cut()[usize::from(second)];
                exact = exact_cut(&exact, second);
                let errors = [0, 1, 2, 3].map(|i| off(piece.b[i], &exact[i]));
                pieces = errors.into_iter().fold(pieces, |worst, error| worst.max(error / most));
            }
        }
        assert!(values.max(pieces) <= CUBIC_ROUNDING, "{values} {pieces}");
        assert!(values > 6.0 * f64::EPSILON && pieces > f64::EPSILON, "{values} {pieces}");
    }
}
