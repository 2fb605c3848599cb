//! Numbers: named tolerances and exact predicates.

pub(crate) mod compact_sort;
pub mod cubic;
pub mod disjoint_sets;
pub mod double_double;
pub mod dyadic;
pub(crate) mod each;
pub mod exact_vector;
pub(crate) mod hash;
pub mod parallel;
pub mod polynomial;
pub mod predicate;
pub mod random;
pub mod real_root;
#[cfg(feature = "parallel")]
mod shared_range;
pub mod stages;
pub mod tasks;
pub mod tolerance;
