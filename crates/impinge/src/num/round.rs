//! From f64 to f32, outward.
