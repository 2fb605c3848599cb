//! Exact signs of determinants.
