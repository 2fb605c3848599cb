//! Bodies that move, on top of [`impinge`]: rigid bodies with elastic collisions, and scenes to watch.

pub mod impulse;
pub mod rigid;
