//! Exact numbers m·2ᵉ: every double is one, and so are sums and products of them.
//!
//! The last resort of the predicates and the arithmetic of the slow exact path: no rounding, no
//! overflow, no underflow. The mantissa is a sign and little-endian 64-bit limbs, multiplied by the school
//! method: the numbers here have a few hundred bits, too few for anything cleverer. So many limbs as
//! sides of constructed points need lie in place; only far exponents reach the heap.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

use smallvec::SmallVec;

use super::predicate::Sign;

/// Limbs kept in place: sides of points where three planes meet take about 600 bits.
const IN_PLACE: usize = 10;

/// Little-endian, the last one not zero; none at all for zero.
type Limbs = SmallVec<[u64; IN_PLACE]>;

/// An exact number m·2ᵉ.
#[derive(Debug, Clone)]
pub struct Dyadic {
    negative: bool,
    limbs: Limbs,
    exponent: i32,
}

impl Dyadic {
    /// The number zero.
    pub fn zero() -> Dyadic {
        Dyadic { negative: false, limbs: Limbs::new(), exponent: 0 }
    }

    /// The sign.
    pub fn sign(&self) -> Sign {
        match (self.is_zero(), self.negative) {
            (true, _) => Sign::Zero,
            (false, true) => Sign::Negative,
            (false, false) => Sign::Positive,
        }
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> bool {
        self.limbs.is_empty()
    }

    /// The order of the absolute values.
    pub fn cmp_magnitude(&self, other: &Dyadic) -> Ordering {
        match sum([self, other], [false, true]).sign() {
            Sign::Negative => Ordering::Less,
            Sign::Zero => Ordering::Equal,
            Sign::Positive => Ordering::Greater,
        }
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

    /// The exponent e for which the number lies between 2ᵉ⁻¹ and 2ᵉ in size; 0 for zero.
    pub fn magnitude(&self) -> i64 {
        if self.is_zero() { 0 } else { self.leading().1 + 64 }
    }

    /// The number divided by 2ᵉ in f64, within a unit in the last place.
    pub fn scaled(&self, e: i64) -> f64 {
        let (m, f) = self.leading();
        scale(m, f - e)
    }

    /// The top 64 bits as a double, and the exponent that goes with them.
    fn leading(&self) -> (f64, i64) {
        let [.., top] = self.limbs[..] else { return (0.0, 0) };
        let shift = top.leading_zeros();
        let below = match self.limbs[..] {
            [.., next, _] if shift > 0 => next >> (64 - shift),
            _ => 0,
        };
        let top = (top << shift | below) as f64;
        let exponent = i64::from(self.exponent) + 64 * (self.limbs.len() as i64 - 1) - i64::from(shift);
        (if self.negative { -top } else { top }, exponent)
    }
}

/// Limbs written by a function into so many zeros.
fn limbs(count: usize, fill: impl FnOnce(&mut [u64])) -> Limbs {
    let trimmed = |limbs: &[u64]| limbs.iter().rposition(|&limb| limb != 0).map_or(0, |last| last + 1);
    if count <= IN_PLACE {
        let mut place = [0; IN_PLACE];
        fill(&mut place[..count]);
        Limbs::from_buf_and_len(place, trimmed(&place[..count]))
    } else {
        let mut heap = vec![0; count];
        fill(&mut heap);
        heap.truncate(trimmed(&heap));
        // Also moves short results back into place.
        Limbs::from_slice(&heap)
    }
}

/// |x| + |y| with the given signs: `negative` says which is subtracted.
fn sum([x, y]: [&Dyadic; 2], negative: [bool; 2]) -> Dyadic {
    let ([high, low], [high_negative, low_negative]) =
        if x.exponent >= y.exponent { ([x, y], negative) } else { ([y, x], [negative[1], negative[0]]) };
    if high.is_zero() || low.is_zero() {
        let (kept, negative) = if high.is_zero() { (low, low_negative) } else { (high, high_negative) };
        return Dyadic { negative, ..kept.clone() };
    }
    let shift = high.exponent.abs_diff(low.exponent) as usize;
    let longer = low.limbs.len().max(high.limbs.len() + shift.div_ceil(64));
    let mut negative = high_negative;
    let limbs = limbs(longer + 1, |out| {
        shift_into(out, &high.limbs, shift);
        if high_negative == low_negative {
            add_to(out, &low.limbs);
        } else if subtract_from(out, &low.limbs) {
            negate(out);
            negative = low_negative;
        }
    });
    Dyadic { negative, limbs, exponent: low.exponent }
}

/// Writes limbs·2ˢ into zeros.
fn shift_into(out: &mut [u64], limbs: &[u64], shift: usize) {
    let (skip, bits) = (shift / 64, shift % 64);
    let out = &mut out[skip..];
    if bits == 0 {
        out[..limbs.len()].copy_from_slice(limbs);
        return;
    }
    let mut carry = 0;
    for (out, limb) in out.iter_mut().zip(limbs) {
        *out = limb << bits | carry;
        carry = limb >> (64 - bits);
    }
    out[limbs.len()] = carry;
}

/// Adds limbs; the sum must fit.
fn add_to(out: &mut [u64], limbs: &[u64]) {
    let mut carry = false;
    for (i, out) in out.iter_mut().enumerate() {
        let Some(limb) = limbs.get(i).copied().or(carry.then_some(0)) else { return };
        let (partial, first) = out.overflowing_add(limb);
        let (total, second) = partial.overflowing_add(u64::from(carry));
        *out = total;
        carry = first | second;
    }
}

/// Subtracts limbs; whether the difference is below zero, then it is its two's complement.
fn subtract_from(out: &mut [u64], limbs: &[u64]) -> bool {
    let mut borrow = false;
    for (i, out) in out.iter_mut().enumerate() {
        let Some(limb) = limbs.get(i).copied().or(borrow.then_some(0)) else { return false };
        let (partial, first) = out.overflowing_sub(limb);
        let (total, second) = partial.overflowing_sub(u64::from(borrow));
        *out = total;
        borrow = first | second;
    }
    borrow
}

/// The two's complement.
fn negate(out: &mut [u64]) {
    let mut carry = true;
    for out in out {
        let (total, over) = (!*out).overflowing_add(u64::from(carry));
        *out = total;
        carry = over;
    }
}

/// Writes the product into zeros.
fn multiply_into(out: &mut [u64], x: &[u64], y: &[u64]) {
    for (i, &x) in x.iter().enumerate() {
        let mut carry = 0;
        for (out, &y) in out[i..].iter_mut().zip(y) {
            // At most (2⁶⁴ − 1)² + 2·(2⁶⁴ − 1) = 2¹²⁸ − 1.
            let total = u128::from(x) * u128::from(y) + u128::from(*out) + u128::from(carry);
            *out = total as u64;
            carry = (total >> 64) as u64;
        }
        out[i + y.len()] = carry;
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
        let limbs = limbs(1, |out| out[0] = mantissa >> shift);
        Dyadic { negative: x < 0.0, limbs, exponent: exponent + shift as i32 }
    }
}

impl Add for &Dyadic {
    type Output = Dyadic;
    fn add(self, other: &Dyadic) -> Dyadic {
        sum([self, other], [self.negative, other.negative])
    }
}

impl Sub for &Dyadic {
    type Output = Dyadic;
    fn sub(self, other: &Dyadic) -> Dyadic {
        sum([self, other], [self.negative, !other.negative])
    }
}

impl Mul for &Dyadic {
    type Output = Dyadic;
    fn mul(self, other: &Dyadic) -> Dyadic {
        if self.is_zero() || other.is_zero() {
            return Dyadic::zero();
        }
        let limbs = limbs(self.limbs.len() + other.limbs.len(), |out| {
            multiply_into(out, &self.limbs, &other.limbs);
        });
        let exponent = self.exponent + other.exponent;
        Dyadic { negative: self.negative != other.negative, limbs, exponent }
    }
}

impl Neg for &Dyadic {
    type Output = Dyadic;
    fn neg(self) -> Dyadic {
        Dyadic { negative: !self.negative, ..self.clone() }
    }
}

impl PartialEq for Dyadic {
    fn eq(&self, other: &Dyadic) -> bool {
        (self - other).is_zero()
    }
}

#[cfg(test)]
#[path = "dyadic_tests.rs"]
mod tests;
