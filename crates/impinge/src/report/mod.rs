//! Reports about one mesh.

mod inspect;

pub use inspect::{Inspection, inspect, inspect_within};
