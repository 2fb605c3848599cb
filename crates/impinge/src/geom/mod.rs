//! Pure functions on points.
