//! Contacts of moving bodies: when, where and how they first touch over a step.

pub mod answer;
#[cfg(test)]
mod carried_tests;
mod child_pairs;
pub mod contact;
mod contact_normal;
mod convex_pair;
mod earliness;
mod hull_bound;
mod local_frame;
pub mod mesh_sweep;
mod motion_spans;
mod moving_disc_bound;
mod moving_mesh;
mod pass_through;
mod piece_tree;
mod planar_bound;
mod screw_shadow;
mod shadow_classes;
pub mod shape_sweep;
mod straight_pass;
mod time_queue;
mod triangle_impact;
mod triangle_pair;

pub use answer::{ContactKind, Impact, Sweep, SweepOptions};
pub use mesh_sweep::SweepMemory;
pub(crate) use shape_sweep::slack;
pub use shape_sweep::sweep_within;
#[cfg(any(test, feature = "unstable"))]
pub use shape_sweep::{ShapeSweep, sweep};
pub(crate) use straight_pass::StraightPass;
