//! Every constant that decides anything: its name, unit and reason.

/// Largest coordinate that is let in (a length). Products of three such numbers, as in a volume, stay
/// finite in f64.
pub const LARGEST_COORDINATE: f64 = 1e60;

/// How far the 3×3 part of a pose may be from orthonormal (no unit: entries of MᵀM − I). Poses printed
/// with five digits pass; a scaled or sheared matrix does not.
pub const POSE_ORTHONORMALITY: f64 = 1e-4;

/// Rounding error of a difference of two dot products of coordinate differences, relative to the largest
/// components (no unit): three products and three sums of two rounded differences each, twice.
pub const DOT_ROUNDING: f64 = 32.0 * f64::EPSILON;

/// Lengths below this (a length) are scaled up before they are multiplied: fourth powers must not
/// underflow.
pub const SMALLEST_LENGTH_UNSCALED: f64 = 1e-50;

/// Lengths above this (a length) are scaled down before they are multiplied: sixth powers must not
/// overflow, and placed coordinates reach four times [`LARGEST_COORDINATE`].
pub const LARGEST_LENGTH_UNSCALED: f64 = 1e50;
