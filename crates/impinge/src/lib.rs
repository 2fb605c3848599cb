//! `impinge` finds where, when and how deeply things touch: triangle meshes, tetrahedral meshes, convex hulls,
//! primitives, compounds and clouds of particles, at rest, under rigid motion, and deforming. Yes/no answers are
//! decided by exact predicates on the placed coordinates, times of impact are never late, and closed meshes are solids
//! with an inside. Every answer says how certain it is, how its search ended, and which method gave it.
//!
//! ```toml
//! [dependencies]
//! impinge = "0.1"
//! # without readers of mesh files and without threads:
//! # impinge = { version = "0.1", default-features = false }
//! ```
//!
//! | feature | default | what it brings |
//! |---|---|---|
//! | `io` | yes | [`load`] and [`io`]: OBJ, STL, PLY, OFF, glTF and MEDIT files, also compressed |
//! | `parallel` | yes | builds and batches on all cores; answers are equal to the bit without it |
//! | `serde` | no | `Serialize` and `Deserialize` for poses, meshes and answers, but those that hold shapes or errors |
//! | `mint` | no | conversions from and to the `mint` types, and so to nalgebra and other versions of glam |
//! | `gpu` | no | `VolumeDevice`: volumes by images on the graphics processor, through `wgpu` |
//! | `unstable` | no | the parts below the questions (hierarchies, kernels, exact numbers), without any promise |
//!
//! # The questions
//! A [`Shape`] is cheap to clone and builds its trees when a question first needs them. A question takes a `&Shape`
//! (which stands at the origin), `shape.at(pose)` or `shape.along(motion)`. Those marked * also exist for many
//! pairs, points or rays at once, as `…_batch`: the name with that ending takes a list, the name alone one of them, here and
//! in [`Query`], which has all questions about one shape, two bodies or a step of a deforming mesh.
//!
//! | question | function | what is guaranteed |
//! |---|---|---|
//! | What is the relation of two bodies? | [`relation`]* | exact; cylinders, cones and ellipsoids, and what several parts of a compound hold together, within a stated tolerance |
//! | How far apart are they, or how deep? | [`distance`]* | to rounding; the sign for convex shapes is that of the exact relation; inside compounds within a stated tolerance |
//! | Where do they touch or overlap, how deep and along which normal? | [`contacts`]* | two convex shapes: the penetration depth; two meshes: b moved by the depth is out of each region; convex shapes on a mesh that is not flat: approximate |
//! | Which translation takes them apart? | [`separate`]* | checked by the exact relation; the shortest one for two convex bodies |
//! | When do two moving bodies first touch? | [`sweep`]* | never late, at most a millionth of the step early; no contact is missed |
//! | Which triangles meet? | [`pairs`]* | exact and complete; touching counts |
//! | Which triangles are at most so far apart? | [`pairs_within`]* | complete; the distance to rounding |
//! | Along which curves do two surfaces cross? | [`contour`]* | exact combinatorics; coordinates to rounding |
//! | How much do two solids overlap, where and in which direction? | [`volume`]* | exact combinatorics; numbers to rounding; curved bodies by images with a stated error |
//! | How much does a solid overlap itself? | [`Query::self_volume`] | by images, with a stated error |
//! | Which point of a surface is nearest? | [`closest_point`]* | to rounding |
//! | How far is a point from a solid's surface? | [`signed_distance`]* | to rounding; the sign is exact; deep within a compound a stated tolerance |
//! | Is a point inside? | [`contains`]* | exact |
//! | How often does a surface wind around a point? | [`winding_number`] | to a millionth |
//! | What does a ray hit first, at all, or on its way? | [`ray_cast`]*, [`ray_cast_any`]*, [`ray_cast_all`]* | no gaps between neighbouring triangles |
//! | Where does a mesh meet itself? | [`self_intersections`]* | exact and complete |
//! | When does a deforming mesh meet itself or another? | [`Query::first_self_contact`], [`Query::first_deforming_contact`] | never late, none missed |
//! | What is wrong with a mesh? | [`inspect`] | exact counts |
//! | What are its volume, centre of mass and inertia? | [`mass`] | to rounding |
//! | Which convex parts cover it? | [`decompose`] | covers always; the excess is stated |
//! | Which parts of an assembly clash? | [`clash()`] | as asking every pair |
//! | What happens among many bodies from step to step? | [`scene::Scene`] | exact contacts; events in a fixed order |
//! | What does a ray, a moving shape, a region or a point meet in a scene? | [`scene::Scene::ray_cast`], `shape_cast`, `overlapping`, `nearest`, `containing` | as asking every body |
//! | Is the path of a jointed arm free, and with which clearance? | [`scene::Articulated::validate_path`], [`scene::Articulated::clearances`] | no contact missed; clearances to rounding |
//! | Which of many boxes meet? | [`broad::BroadPhase`] | exact on the doubles given |
//! | Which particles are at most so far apart? | [`broad::neighbours::NeighbourList`] | exact on the doubles given |
//! | How far do bodies move that overlap? | [`response::Projection`] | no overlap is left but the stated one |
//! | Which forces or impulses come of an overlapping volume? | [`response::VolumePenalty`], [`response::VolumeConstraint`] | opposite on both bodies; the rate of growth left is stated |
//! | What becomes of a surface whose parts collide? | [`response::change_topology`] | closed, manifold and oriented |
//!
//! # A game: slide along a level
//! ```
//! use impinge::{Motion, Pose, Shape, procedural, sweep};
//!
//! let level = Shape::from(procedural::stairs(6, 0.4, 4.0, 0.3)?);
//! let hero = Shape::capsule(0.3, 0.5)?;
//! let start = Pose::from_translation([-2.0, 0.0, 0.9])?;
//! let walk = impinge::glam::DVec3::new(3.0, 0.6, 0.0);
//! let hit = sweep(&level, hero.along(Motion::velocity(&start, walk, [0.0; 3])?)).impact.unwrap();
//! let rest = (walk * (1.0 - hit.time)).reject_from_normalized(hit.normal);
//! assert!(hit.time < 1.0 && rest.dot(hit.normal).abs() < 1e-9);
//! # Ok::<(), impinge::Error>(())
//! ```
//!
//! # Robotics: clearance along a motion
//! ```
//! use impinge::{Motion, Pose, Shape, distance, sweep};
//!
//! let gripper = Shape::capsule(0.05, 0.2)?;
//! let shelf = Shape::cuboid([0.5, 0.3, 0.02])?;
//! let at = |z: f64| Pose::from_translation([0.0, 0.0, z]);
//! let lower = Motion::between(&at(1.0)?, &at(0.3)?);
//! assert!(sweep(&shelf, gripper.along(lower)).impact.is_none());
//! let clearance = distance(&shelf, gripper.at(lower.pose(1.0))).distance;
//! assert!((clearance - 0.03).abs() < 1e-12);
//! # Ok::<(), impinge::Error>(())
//! ```
//!
//! # CAD: two parts of an assembly
//! ```
//! use impinge::{Pose, Relation, Shape, distance, pairs, procedural, relation};
//!
//! let gear = Shape::from(procedural::gear(0.2, 0.8, 1.0, 0.3, 20)?);
//! let apart = |x: f64| Pose::from_translation([x, 0.0, 0.0]);
//! let clash = gear.at(apart(1.7)?);
//! assert_eq!(relation(&gear, clash), Relation::Intersecting);
//! assert!(!pairs(&gear, clash)?.is_empty());
//! assert!(distance(&gear, gear.at(apart(2.1)?)).distance > 0.0);
//! # Ok::<(), impinge::Error>(())
//! ```
//!
//! # Budget, method, memory
//! The functions above answer without limit. A [`Query`] asks the same questions with a [`Budget`] in work units
//! (reproducible) or milliseconds, by a named [`Method`], and with a [`Memory`] of what earlier questions about the
//! same bodies found. Every question of a [`Query`] gives an [`Answer`]: the value, or what was found until the budget ended;
//! the same question with the same memory then resumes where it stopped. Dropping a memory costs speed, never an answer.
//! Reports on many things at once (a clash of an assembly, a frame of a scene, a step of a tracker, a path) are types of
//! their own, which say how their search ended.
//!
//! ```
//! use impinge::{Budget, Certainty, Finish, Memory, Query, Pose, Shape, procedural};
//!
//! let a = Shape::from(procedural::ico_sphere(1.0, 4)?);
//! let beside = a.at(Pose::from_translation([2.5, 0.0, 0.0])?);
//! let mut memory = Memory::default();
//! let answer = loop {
//!     let mut query = Query { budget: Budget::units(500), memory: Some(&mut memory), ..Query::default() };
//!     let answer = query.distance(&a, beside)?;
//!     if answer.finish != Finish::OutOfBudget {
//!         break answer;
//!     }
//! };
//! assert_eq!(answer.certainty, Certainty::Exact);
//! println!("{:.3}, by {} ({})", answer.value.unwrap().distance, answer.method, answer.reason);
//! # Ok::<(), impinge::Error>(())
//! ```
//!
//! # Threads and determinism
//! All types here can be sent to and shared between threads. With `parallel`, builds and batches run on rayon's
//! current pool. The same question gives the same bits at any number of threads, with and without `parallel`;
//! only a budget in milliseconds depends on the clock. Without a named method the choice follows a stored cost model,
//! so it too is the same everywhere.
//!
//! # `unstable`
//! Hierarchies, kernels, predicates and exact numbers are public with the feature `unstable`, for benchmarks and
//! research. They may change in any release.

#[cfg(feature = "unstable")]
pub mod bound;
#[cfg(not(feature = "unstable"))]
mod bound;
pub mod broad;
mod budget;
mod clash;
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
pub mod response;
pub mod scene;
#[cfg(feature = "unstable")]
pub mod shape;
#[cfg(not(feature = "unstable"))]
mod shape;
#[cfg(feature = "unstable")]
pub mod simd;
#[cfg(not(feature = "unstable"))]
mod simd;

pub use glam;

pub use bound::Aabb;
pub use budget::Budget;
pub use clash::{Clash, ClashKind, ClashMemory, ClashOptions, ClashReport, Part, clash};
pub use contact::{
    Certainty, Contact, Counters, Feature, Finish, OpenSurface, Outcome, Overlap, Region, Relation, Sampling,
    Separation, SurfaceSample, Volume, VolumeErrorKind, VolumeOptions,
};
pub use error::Error;
pub use geom::moving::FeaturePairKind;
#[cfg(feature = "io")]
pub use io::load;
pub use model::{Placed, Shape, ShapeKind};
pub use motion::{Joint, JointKind, Law, Motion, Pose, Skeleton};
pub use narrow::contacts::SeparatingTranslation;
pub use narrow::continuous::{ContactKind, Impact, Sweep, SweepOptions};
pub use narrow::decompose::{DecomposeEnd, DecomposeOptions, Decomposition};
pub use narrow::deforming::{Deforming, MovingContact, free_step};
pub use narrow::detector::{ContactOptions, Memory, Question};
pub use narrow::exact::contour::Polyline;
pub use narrow::exact::ray_cast::{Ray, RayHit};
pub use narrow::methods::Method;
pub use narrow::route::{Answer, Reason};
pub use narrow::sampled::shells::{Patch, ShellLevel, Shells};
pub use narrow::sampled::{CurvedBody, SelfTracker, Surface, Tracker, TrackerOptions, TrackerReport};
#[cfg(feature = "gpu")]
pub use query::VolumeDevice;
pub use query::{
    PointDistance, Query, closest_point, closest_point_batch, contacts, contacts_batch, contains,
    contains_batch, contour, contour_batch, decompose, distance, distance_batch, inspect, mass, pairs,
    pairs_batch, pairs_within, pairs_within_batch, ray_cast, ray_cast_all, ray_cast_all_batch, ray_cast_any,
    ray_cast_any_batch, ray_cast_batch, relation, relation_batch, self_intersections,
    self_intersections_batch, separate, separate_batch, signed_distance, signed_distance_batch, sweep,
    sweep_batch, volume, volume_batch, winding_number,
};
pub use report::Inspection;
pub use shape::mass::{Mass, Solid};
pub use shape::{Mesh, TetMesh, procedural};
