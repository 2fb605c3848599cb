//! Instruction sets: which this machine has, kernels compiled for each, and what the vector kernels share.
//!
//! All `unsafe` of the library stands here, but for one promise of the grid (`box_columns`). A [`SimdLevel`]
//! is the proof that an instruction set was detected; `dispatch!` defines a function that takes such a proof
//! and runs the version of a kernel for it; the rest wraps the loads and stores. A kernel elsewhere is a safe
//! function with `#[target_feature]`, and the compiler checks that it asks for no more than its level has.
#![allow(unsafe_code, reason = "the one place of vector instructions; each block states why it is sound")]

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx;
pub(crate) mod box_columns;
pub(crate) mod corner_lanes;
mod dispatch;
pub(crate) mod fixed_stack;
mod large_pages;
mod level;
pub(crate) mod point_columns;
mod prefetch;
pub(crate) mod ray_lanes;
pub(crate) mod u32x16;

pub(crate) use dispatch::dispatch;
#[cfg(target_arch = "x86_64")]
pub(crate) use dispatch::for_x86_levels;
pub(crate) use large_pages::{in_large_pages, release, room_in_large_pages};
pub use level::SimdLevel;
#[cfg(target_arch = "x86_64")]
pub(crate) use level::{Avx2, Avx512};
pub(crate) use level::{InstructionSet, Portable};
pub(crate) use prefetch::{prefetch, prefetch_from, prefetch_lines, prefetch_whole};
