//! The instruction sets of this machine, as proofs that only detection hands out.

use std::sync::OnceLock;

/// An instruction set that this machine has.
///
/// [`best`](SimdLevel::best) and [`available`](SimdLevel::available) detect what is there and are the only
/// ways to a level, so a kernel that is given one may run.
///
/// ```
/// use impinge::simd::SimdLevel;
/// assert!(SimdLevel::available().contains(&SimdLevel::best()));
/// ```
///
/// It cannot be made by hand, neither as a tuple nor as one of the sets:
///
/// ```compile_fail,E0423
/// use impinge::simd::SimdLevel;
/// let forged = SimdLevel(todo!());
/// ```
///
/// ```compile_fail,E0599
/// use impinge::simd::SimdLevel;
/// let forged = SimdLevel::Avx512;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimdLevel(InstructionSet);

/// The sets, each with its proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InstructionSet {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// Plain loops, which run everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portable;

/// AVX2, FMA, POPCNT, BMI1 and BMI2 were detected.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx2(());

/// All of [`Avx2`] and AVX-512 F, VL and DQ were detected.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    #[inline]
    fn detect() -> Option<Avx2> {
        let bits = is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2");
        let all = bits && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        all.then_some(Avx2(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    #[inline]
    fn detect(_: Avx2) -> Option<Avx512> {
        let all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq");
        all.then_some(Avx512(()))
    }
}

impl SimdLevel {
    /// The reference of the twin tests.
    #[cfg(test)]
    pub(crate) const PORTABLE: SimdLevel = SimdLevel(InstructionSet::Portable(Portable));

    /// The best that this machine has, detected at the first call.
    #[inline]
    pub fn best() -> SimdLevel {
        // One look instead of one for each feature: some questions are over in a hundred nanoseconds.
        static BEST: OnceLock<SimdLevel> = OnceLock::new();
        *BEST.get_or_init(SimdLevel::detect)
    }

    fn detect() -> SimdLevel {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = Avx2::detect() {
            return SimdLevel(match Avx512::detect(avx2) {
                Some(avx512) => InstructionSet::Avx512(avx512),
                None => InstructionSet::Avx2(avx2),
            });
        }
        SimdLevel(InstructionSet::Portable(Portable))
    }

    /// All that this machine has, the plain one first.
    pub fn available() -> Vec<SimdLevel> {
        let plain = InstructionSet::Portable(Portable);
        #[cfg(target_arch = "x86_64")]
        let found = {
            let avx2 = Avx2::detect();
            let avx512 = avx2.and_then(Avx512::detect);
            [Some(plain), avx2.map(InstructionSet::Avx2), avx512.map(InstructionSet::Avx512)]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let found = [Some(plain)];
        found.into_iter().flatten().map(SimdLevel).collect()
    }

    /// The set with its proof, for [`dispatch!`](super::dispatch).
    #[inline(always)]
    pub(crate) fn instruction_set(self) -> InstructionSet {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::SimdLevel;

    #[test]
    fn the_plain_level_is_first_and_the_best_is_last() {
        let levels = SimdLevel::available();
        assert_eq!(levels.first(), Some(&SimdLevel::PORTABLE));
        assert_eq!(levels.last(), Some(&SimdLevel::best()));
        assert!((1..levels.len()).all(|k| !levels[..k].contains(&levels[k])), "{levels:?}");
    }
}
