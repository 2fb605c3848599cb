//! Numbers: named tolerances, exact predicates, outward rounding.

pub mod predicate;
pub mod round;
pub mod tolerance;
