//! Bounding volumes.
