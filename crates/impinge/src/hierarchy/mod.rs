//! Trees of bounding volumes.

pub mod dual;
pub mod relative;
pub mod simd;
pub mod wide;
