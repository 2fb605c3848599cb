//! Numbers: named tolerances, exact predicates, outward rounding.

pub mod cubic;
pub mod dyadic;
pub mod exact_vector;
pub mod parallel;
pub mod polynomial;
pub mod predicate;
pub mod random;
pub mod real_root;
pub mod round;
pub mod tolerance;
pub mod twofold;
