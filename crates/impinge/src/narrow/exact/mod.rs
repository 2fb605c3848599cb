//! Hierarchy and exact triangle tests.
