//! The common language of the methods: what they answer and how sure it is.

#[expect(clippy::module_inception, reason = "the file of the type `Contact`")]
mod contact;
mod feature;
mod outcome;
mod overlap;
mod relation;
mod separation;
mod verdict;

pub use contact::Contact;
pub use feature::Feature;
pub use outcome::{Certainty, Counters, Finish, Outcome, Sampling};
pub use overlap::{OpenSurface, Overlap, Region, SurfaceSample, Volume, VolumeErrorKind, VolumeOptions};
pub use relation::Relation;
pub use separation::Separation;
pub use verdict::Verdict;
