//! The version of a kernel for a level, chosen at run time.
//!
//! The features named here are those that [`level`](super::level) detects before it hands out a proof.

/// Defines a function that runs a kernel on the instruction set of a [`SimdLevel`](super::SimdLevel), its
/// first argument. After the equals sign stands one of four:
/// - `each f`: the plain function `f`, compiled for every set (it must be `#[inline(always)]`);
/// - `eight f`: the same for loops over eight f32 lanes, to which AVX-512 adds nothing;
/// - `proof f`: the same, and `f` takes the proof of its set first, to call what only that set has;
/// - `{ f, g, h }`: the versions for plain loops, AVX2 and AVX-512. The last two are safe functions with
///   `#[target_feature]`; one that asks for more than its set has does not compile.
macro_rules! dispatch {
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $output:ty)? = each $plain:path
    ) => {
        $crate::simd::dispatch! {
            @define $(#[$attribute])* $visibility fn $name [] ($($arg: $type),*) [$($output)?]
            $plain, $plain, $plain
        }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $output:ty)? = proof $plain:path
    ) => {
        $crate::simd::dispatch! {
            @define $(#[$attribute])* $visibility fn $name [proof] ($($arg: $type),*) [$($output)?]
            $plain, $plain, $plain
        }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $output:ty)?
            = { $portable:path, $avx2:path, $avx512:path }
    ) => {
        $crate::simd::dispatch! {
            @define $(#[$attribute])* $visibility fn $name [] ($($arg: $type),*) [$($output)?]
            $portable, $avx2, $avx512
        }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $output:ty)? = eight $plain:path
    ) => {
        $(#[$attribute])*
        #[allow(unsafe_code, reason = "the level proves that the instruction set is there")]
        $visibility fn $name(level: $crate::simd::SimdLevel, $($arg: $type),*) $(-> $output)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2")]
            fn avx2($($arg: $type),*) $(-> $output)? {
                $plain($($arg),*)
            }
            match level.instruction_set() {
                $crate::simd::InstructionSet::Portable { .. } => $plain($($arg),*),
                #[cfg(target_arch = "x86_64")]
                $crate::simd::InstructionSet::Avx2 { .. } | $crate::simd::InstructionSet::Avx512 { .. } => {
                    // SAFETY: safe but for the features it enables, and those were all detected before
                    // either proof was made.
                    unsafe { avx2($($arg),*) }
                }
            }
        }
    };
    (
        @define $(#[$attribute:meta])*
        $visibility:vis fn $name:ident [$($proof:ident)?] ($($arg:ident: $type:ty),*) [$($output:ty)?]
        $portable:path, $avx2:path, $avx512:path
    ) => {
        $(#[$attribute])*
        #[allow(unsafe_code, reason = "the level proves that the instruction set is there")]
        $visibility fn $name(level: $crate::simd::SimdLevel, $($arg: $type),*) $(-> $output)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2")]
            fn avx2($($proof: $crate::simd::Avx2,)? $($arg: $type),*) $(-> $output)? {
                $avx2($($proof,)? $($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2,avx512f,avx512vl,avx512dq")]
            fn avx512($($proof: $crate::simd::Avx512,)? $($arg: $type),*) $(-> $output)? {
                $avx512($($proof,)? $($arg),*)
            }
            match level.instruction_set() {
                $crate::simd::InstructionSet::Portable { $(0: $proof,)? .. } => {
                    $portable($($proof,)? $($arg),*)
                }
                #[cfg(target_arch = "x86_64")]
                $crate::simd::InstructionSet::Avx2 { $(0: $proof,)? .. } => {
                    // SAFETY: safe but for the features it enables, and those were all detected before the
                    // proof in the level was made.
                    unsafe { avx2($($proof,)? $($arg),*) }
                }
                #[cfg(target_arch = "x86_64")]
                $crate::simd::InstructionSet::Avx512 { $(0: $proof,)? .. } => {
                    // SAFETY: as for AVX2.
                    unsafe { avx512($($proof,)? $($arg),*) }
                }
            }
        }
    };
}

/// Calls `kernels!(module, "features")` for AVX2 and AVX-512: the same code for both, of which the wider has
/// more registers and loads that spread a number.
#[cfg(target_arch = "x86_64")]
macro_rules! for_x86_levels {
    ($kernels:ident) => {
        $kernels!(avx2, "avx2,fma,popcnt,bmi1,bmi2");
        $kernels!(avx512, "avx2,fma,popcnt,bmi1,bmi2,avx512f,avx512vl,avx512dq");
    };
}

pub(crate) use dispatch;
#[cfg(target_arch = "x86_64")]
pub(crate) use for_x86_levels;
