//! Monte-Carlo collision detection with layered shells (Guy and Debunne, INRIA RR-5136, 2004).
//!
//! | file | what | section of the paper |
//! |---|---|---|
//! | `shells` | simplified levels of a mesh whose facets contain all that is below them | 4.1 |
//! | `facet_pair` | the average plane, and how far two facets are surely apart | 4.2 |
//! | `triangle_pair`, `cell` | exact triangles at the end of a descent | 4.2 |
//! | `groups` | facets of a shell in a tree of balls | – |
//! | `front` | pairs of facets split and merged, stable regions | 4.2, 5.5 |
//! | `layers` | the shells of a mesh and what is known of them | – |
//! | `course` | how the bodies have moved against each other, and how long a gap lasts | – |
//! | `schedule` | when a pair has to be looked at again | – |
//! | `pair_list` | random search for the nearest pairs, and what is kept | 3 |
//! | `followed` | clusters of triangles that nearly touch, the next ones by expectation: fast, without proofs | 3, 4.2 |
//! | `self_pair` | patches of one body with itself, measured as they move | 5 |
//! | `posed` | facets that ride on moving vertices | 5.1 |
//! | `tracker`, `regions` | what users hold | – |
//! | `curved_body` | implicit and parametric bodies against meshes | 7 |
//!
//! What is proved, and what is estimated. Every pair of triangles lies below exactly one pair of the front. That two
//! bodies are apart is said only when each pair of the front has a proved gap; that they meet only when two triangles
//! do, by the exact test. Both rest on what the caller states: the largest motion of a frame and the largest
//! deformation. When the budget ends first, pairs of the front are open; `coverage` is the share of the others by
//! area. The open pairs are looked at in random order, so that a given contact below one of m of them was missed with
//! the probability (m − k) / m after k. A pair with a contact costs no fewer units than one without, so that over
//! many seeds contacts are missed no more often than stated. While pairs that come before the random ones are
//! unfinished, the probability stated is 1. Bodies that are only followed (`followed`) are never said to be apart.

mod cell;
mod course;
mod curved_body;
mod facet_pair;
mod followed;
mod front;
mod groups;
mod layers;
mod meter;
mod pair_list;
mod posed;
mod regions;
mod schedule;
mod self_pair;
pub mod shells;
mod tracker;
mod triangle_pair;

pub use curved_body::CurvedBody;
pub use layers::Layers;
pub use tracker::{SelfTracker, Surface, Tracker, TrackerOptions, TrackerReport};

#[cfg(test)]
mod tests;
