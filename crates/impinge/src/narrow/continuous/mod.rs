//! Contacts of moving bodies: when, where and how they first touch over a step.

pub mod answer;
mod block;
pub mod contact;
mod convex_pair;
pub mod mesh_sweep;
mod moving_coin;
pub mod shape_sweep;
mod spans;
mod triangle_pair;

pub use answer::{Impact, Kind, Sweep, SweepOptions};
pub use mesh_sweep::SweepMemory;
pub use shape_sweep::{sweep, sweep_within};
