//! `impinge` finds where, when and how deeply things touch.
//!
//! Data flows one way through the stations below; a module imports only stations listed before it:
//!
//! `error, budget, contact → num → simd → geom → shape → motion → bound → hierarchy → model → broad →
//! narrow → report`, and `io`, which may use all and is used by none.
//!
//! ```
//! use impinge::{Mesh, Model, Pose, Relation};
//!
//! let tetrahedron = Mesh::new(
//!     vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
//!     vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
//! )?;
//! let model = Model::from(tetrahedron);
//! assert_eq!(model.mesh().triangles().len(), 4);
//! assert_eq!(Relation::AInsideB.swapped(), Relation::BInsideA);
//! let moved = Pose::from_translation([2.0, 0.0, 0.0]);
//! assert_eq!(impinge::relation(&model, &Pose::IDENTITY, &model, &moved), Relation::Separated);
//! # Ok::<(), impinge::Error>(())
//! ```

pub mod bound;
pub mod broad;
pub mod budget;
pub mod contact;
pub mod error;
pub mod geom;
pub mod hierarchy;
#[cfg(feature = "io")]
pub mod io;
pub mod model;
pub mod motion;
pub mod narrow;
pub mod num;
pub mod report;
pub mod scene;
pub mod shape;
pub mod simd;

pub use budget::Budget;
pub use contact::{Certainty, Counters, Feature, Finish, Outcome, Relation, Separation};
pub use error::Error;
#[cfg(feature = "io")]
pub use io::load;
pub use model::{Model, Shape};
pub use motion::{Motion, Pose};
pub use narrow::exact::collide::pairs;
pub use narrow::exact::contour::{Polyline, contour};
pub use narrow::exact::distance::{Distance, distance};
pub use narrow::exact::relation::relation;
pub use narrow::exact::self_intersection::self_intersections;
pub use report::inspect::{Inspection, inspect};
pub use shape::{Convex, Mesh, Polytope, Primitive, TetMesh};
