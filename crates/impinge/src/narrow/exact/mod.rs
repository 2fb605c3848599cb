//! Hierarchy and exact triangle tests.

mod body;
mod cells;
mod evidence;
mod flag;
pub mod relation;
mod survey;
pub mod winding;
