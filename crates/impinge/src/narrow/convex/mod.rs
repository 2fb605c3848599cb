//! Convex bodies: signed distance with points and features.

mod answer;
pub mod brute;
mod frame;
mod growth;
mod region;
pub mod walk;
