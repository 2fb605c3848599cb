//! Trees of bounding volumes.

pub mod dual;
pub mod gap;
pub mod relative;
pub mod simd;
pub mod wide;
