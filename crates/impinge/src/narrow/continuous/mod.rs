//! Contacts of moving bodies: when, where and how they first touch over a step.

pub mod answer;
mod block;
pub mod contact;
mod convex_pair;
mod earliest;
mod hulls;
pub mod mesh_sweep;
mod moving_coin;
mod parting_normal;
mod proof;
pub mod shape_sweep;
mod spans;
mod triangle_pair;

pub use answer::{Impact, Kind, Sweep, SweepOptions};
pub use mesh_sweep::SweepMemory;
pub use shape_sweep::{ShapeSweep, sweep, sweep_within};
