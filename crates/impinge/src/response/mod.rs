//! From contacts and volumes to displacements, forces and impulses: what bodies do where they touch, and where they are
//! to be fine for it.
//!
//! A response takes [`Contact`](crate::Contact)s or [`Volume`](crate::Volume)s as they are, from whatever method, and
//! knows nothing of shapes. [`Projection`] moves overlapping facets onto their average plane; [`VolumePenalty`] turns
//! volumes into penalty forces, [`VolumeConstraint`] into impulses; [`FineRegion`] tells a deformable model that is
//! [`Refinable`] where contact is near. [`change_topology`] lets a surface merge and split where its own vertices collide.
//!
//! Two spheres that overlap, one three times as heavy as the other:
//!
//! ```
//! use impinge::glam::{DMat3, DVec3};
//! use impinge::response::{Displacement, Projection, Receiver, Stuck};
//! use impinge::{Contact, Pose, Shape, distance};
//!
//! let (ball, beside) = (Shape::sphere(1.0)?, Pose::from_translation([1.6, 0.0, 0.0])?);
//! let contact = Contact::from(distance(&ball, ball.at(beside)));
//! let rigid = |x: f64, mass: f64| Receiver::Rigid {
//!     centre: DVec3::X * x,
//!     inverse_mass: 1.0 / mass,
//!     inverse_inertia: DMat3::from_diagonal(DVec3::splat(2.5 / mass)),
//!     moved: [DVec3::ZERO; 2],
//! };
//! let bodies = [rigid(0.0, 3.0), rigid(1.6, 1.0)];
//! let projected = Projection::default().project(&bodies, &[([0, 1], contact)], &mut Stuck::default())?;
//! let Displacement::Rigid { translation, .. } = &projected.displacements[1] else { unreachable!() };
//! assert!((translation.x - 0.3).abs() < 1e-12 && projected.residual < 1e-12);
//! # Ok::<(), impinge::Error>(())
//! ```

mod projection;
mod receiver;
mod refinement;
mod topology_change;
mod volume_constraint;
mod volume_penalty;
mod volume_row;

pub use projection::{Projected, Projection, Stuck};
pub use receiver::{Displacement, Load, Receiver};
pub use refinement::{FineRegion, Refinable};
pub use topology_change::{SurfaceEvent, TopologyChange, change_topology};
pub use volume_constraint::{Impulses, VolumeConstraint};
pub use volume_penalty::{PenaltyForces, VolumePenalty};
