//! Hierarchy and exact triangle tests.

mod body;
mod cells;
pub mod closest_point;
pub mod distance;
mod evidence;
mod flag;
pub mod relation;
mod survey;
mod view;
pub mod winding;
