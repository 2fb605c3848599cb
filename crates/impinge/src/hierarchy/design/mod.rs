//! A bounding-volume hierarchy with every design attribute as a choice.
//!
//! The production tree is [`super::wide`]; this one is for comparing designs, for deforming bodies with
//! special structure, and for reproducing published systems: see [`Options`] and its presets. All
//! designs answer alike, only their costs differ, and every query returns those: `docs/BOUNDS.md` has the
//! figures.

mod bottom_up;
mod build;
mod check;
mod dag;
mod dual;
mod fit;
mod group;
mod modes;
mod morph;
mod options;
mod quality;
mod refit;
mod storage;
mod top_down;

#[cfg(test)]
mod tests;

pub use dual::{Found, Posed, collide};
pub use modes::{Modes, deform};
pub use morph::{Morph, blend};
pub use options::{Answer, Ask, Axis, Build, Degree, Descend, Fit, Options, Partition, Split, Structure};
pub use refit::{Updated, WayUp};
pub use storage::Tree;
