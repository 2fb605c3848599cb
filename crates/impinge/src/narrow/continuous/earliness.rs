//! How early a contact that rounding leaves open may be told.
//!
//! Surfaces that come nearer than the slack without a proof are told as a contact then, but a true one may follow much
//! later: surfaces slide along each other, or creep. The first of some times at which they do meet is not before it.

/// Steps of one pair of triangles or pieces whose gap stays below the slack before they count as touching.
pub(super) const MOST_STEPS: u32 = 4096;

/// Times that are looked at, at most.
const MOST_LOOKS: u32 = 24;

/// How long after `time` the first true contact may be, if there is one at all up to `until`, and whether there is: at
/// times from `first` after it on, at least twice as long after it each, the surfaces are asked whether they `meet`.
pub(super) fn earliness(time: f64, first: f64, until: f64, mut meet: impl FnMut(f64) -> bool) -> (f64, bool) {
    let mut after = first.max(time * f64::EPSILON).max(f64::MIN_POSITIVE);
    let growth = ((until - time) / after).powf(1.0 / f64::from(MOST_LOOKS)).max(2.0);
    while time + after < until {
        if meet(time + after) {
            return (after, true);
        }
        after *= growth;
    }
    (until - time, meet(until))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reaches_beyond_the_first_meeting() {
        assert_eq!(earliness(0.25, 1e-6, 1.0, |_| true), (1e-6, true));
        let (late, met) = earliness(0.25, 1e-6, 1.0, |t| t > 0.5);
        assert!(met && (0.25..0.55).contains(&late), "{late}");
        assert_eq!(earliness(0.25, 1e-6, 1.0, |_| false), (0.75, false));
        assert_eq!(earliness(1.0, 1e-6, 1.0, |_| false), (0.0, false));
        let mut looks = 0;
        earliness(0.0, 0.0, 1.0, |_| {
            looks += 1;
            false
        });
        assert!(looks <= MOST_LOOKS + 2, "{looks}");
    }
}
