//! The common language of the methods: what they answer and how sure it is.

mod feature;
mod outcome;
mod relation;
mod separation;

pub use feature::Feature;
pub use outcome::{Certainty, Counters, Finish, Outcome};
pub use relation::Relation;
pub use separation::Separation;
