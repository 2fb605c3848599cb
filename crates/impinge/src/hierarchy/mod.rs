//! Trees of bounding volumes.

pub mod wide;
