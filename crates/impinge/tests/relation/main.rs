//! The relation of two meshes, in scenes, on shared cases and against oracles.

#[path = "../common/mod.rs"]
mod common;
mod scenes;
mod shared;
mod tetrahedra;
mod voxels;
