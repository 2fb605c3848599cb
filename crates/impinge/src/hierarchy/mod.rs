//! Trees of bounding volumes.

pub mod approach;
#[cfg(target_arch = "x86_64")]
mod avx;
pub mod coin;
pub mod coin_pair;
pub mod cost;
pub mod design;
pub mod dipole;
pub mod dual;
pub mod gap;
pub mod leaf_block;
pub mod leaf_planes;
pub mod patch;
pub mod ray_slab;
pub mod relative;
pub mod self_overlap;
pub mod simd;
mod stack;
pub mod wide;
