//! Every constant that decides anything: its name, unit and reason.

/// Largest coordinate that is let in (a length). Products of three such numbers, as in a volume, stay
/// finite in f64.
pub const LARGEST_COORDINATE: f64 = 1e60;

/// How far the 3×3 part of a pose may be from orthonormal (no unit: entries of MᵀM − I). Poses printed
/// with five digits pass; a scaled or sheared matrix does not.
pub const POSE_ORTHONORMALITY: f64 = 1e-4;
