//! Bodies that move, on top of [`impinge`]: rigid bodies with elastic collisions, a soft one of two levels, and scenes to watch.
//!
//! ```
//! use impinge::Budget;
//! use impinge_sim::scenes::{Multibody, Scenario};
//!
//! let mut gas = Multibody::new(50, 0)?;
//! for _ in 0..20 {
//!     gas.advance(&mut Budget::UNLIMITED.clone())?;
//! }
//! assert!(gas.world().energy_drift().abs() < 1e-12);
//! assert_eq!(gas.world().outside(), 0);
//! # Ok::<(), impinge::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod closed_box;
pub mod contact_impulse;
pub mod drawing;
pub mod elastic_foundation;
pub mod impulse;
pub mod overlap_check;
mod random;
pub mod rigid;
pub mod scenes;
pub mod swept_world;
pub mod two_level;
pub mod vertex_contacts;
