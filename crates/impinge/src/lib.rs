//! `impinge` finds where, when and how deeply things touch.

#[cfg(feature = "unstable")]
pub mod bound;
#[cfg(not(feature = "unstable"))]
mod bound;
pub mod broad;
mod budget;
mod contact;
mod error;
#[cfg(feature = "unstable")]
pub mod geom;
#[cfg(not(feature = "unstable"))]
mod geom;
#[cfg(feature = "unstable")]
pub mod hierarchy;
#[cfg(not(feature = "unstable"))]
mod hierarchy;
#[cfg(feature = "io")]
pub mod io;
#[cfg(feature = "unstable")]
pub mod model;
#[cfg(not(feature = "unstable"))]
mod model;
#[cfg(feature = "unstable")]
pub mod motion;
#[cfg(not(feature = "unstable"))]
mod motion;
#[cfg(feature = "unstable")]
pub mod narrow;
#[cfg(not(feature = "unstable"))]
mod narrow;
#[cfg(feature = "unstable")]
pub mod num;
#[cfg(not(feature = "unstable"))]
mod num;
mod query;
mod report;
pub mod scene;
#[cfg(feature = "unstable")]
pub mod shape;
#[cfg(not(feature = "unstable"))]
mod shape;

pub use glam;

pub use bound::Aabb;
pub use budget::Budget;
pub use contact::{
    Certainty, Contact, Counters, Feature, Finish, Outcome, Overlap, Region, Relation, Separation,
};
pub use error::Error;
pub use geom::moving::FeaturePairKind;
#[cfg(feature = "io")]
pub use io::load;
pub use model::{Placed, Shape, ShapeKind};
pub use motion::{Joint, JointKind, Law, Motion, Pose, Skeleton};
pub use narrow::continuous::{ContactKind, Impact, Sweep};
pub use narrow::decompose::{DecomposeOptions, Decomposition};
pub use narrow::deforming::{Deforming, MovingContact, free_step};
pub use narrow::exact::contour::Polyline;
pub use narrow::exact::ray_cast::{Ray, RayHit};
pub use narrow::method::{Answer, Memory, Method, Question, Reason};
pub use query::{
    PointDistance, Query, closest_point, closest_point_batch, contains, contains_batch, contour,
    contour_batch, decompose, distance, distance_batch, inspect, mass, pairs, pairs_batch, pairs_within,
    pairs_within_batch, ray_cast, ray_cast_batch, relation, relation_batch, self_intersections,
    self_intersections_batch, signed_distance, signed_distance_batch, sweep, sweep_batch, winding_number,
};
pub use report::Inspection;
pub use shape::mass::{Mass, Solid};
pub use shape::{Mesh, TetMesh, procedural};

use model::Model;
use shape::Convex;
