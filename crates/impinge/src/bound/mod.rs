//! Bounding volumes: sphere, axis-aligned box, oriented box, k-DOP, spherical shell, convex hull.
//!
//! A volume is a filter. It holds every point it was made around, to the last bit, and two volumes are
//! called apart only when nothing that they hold can meet, placed by any two poses: `Relative` carries
//! what rounding and poses that are not quite rigid could change. The questions need the axis-aligned box; the
//! others serve the comparison of hierarchies.

mod aabb;
mod principal_axes;
mod sphere;

#[cfg(any(test, feature = "unstable"))]
mod hull;
#[cfg(any(test, feature = "unstable"))]
mod kdop;
#[cfg(any(test, feature = "unstable"))]
mod obb;
#[cfg(any(test, feature = "unstable"))]
mod polytope;
#[cfg(any(test, feature = "unstable"))]
mod relative;
#[cfg(any(test, feature = "unstable"))]
mod spherical_shell;
#[cfg(any(test, feature = "unstable"))]
mod volume;

#[cfg(test)]
mod tests;

pub use aabb::Aabb;
pub use sphere::Sphere;

pub(crate) use principal_axes::principal_axes;

#[cfg(any(test, feature = "unstable"))]
pub use {
    hull::Hull,
    kdop::Dop,
    obb::Obb,
    relative::Relative,
    spherical_shell::Shell,
    volume::{Bound, BoundRef, Bounding, Volume},
};

#[cfg(any(test, feature = "unstable"))]
pub(crate) use obb::principal_direction;
#[cfg(any(test, feature = "unstable"))]
use volume::{project_error, span};
