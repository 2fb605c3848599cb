//! Meshes of others, with the counts and pairs that other programs found.

mod border;
#[path = "../common/mod.rs"]
mod common;
mod contour;
mod decompose;
mod inspect;
mod io;
