//! Two placed shapes, as the kernels take them.

use crate::model::{Geometry, Placed, ShapeKind};
use crate::{Motion, Pose};

/// Two shapes and where they are, and how they move where that is asked.
#[derive(Debug, Clone, Copy)]
pub struct ShapePair<'p> {
    /// The shapes of a and b.
    pub shapes: [&'p Geometry; 2],
    /// Where they are, at the start of their motions.
    pub poses: [&'p Pose; 2],
    /// How they move; `None` where they rest.
    pub motions: Option<[&'p Motion; 2]>,
}

impl<'p> ShapePair<'p> {
    /// Two shapes at rest.
    pub fn new(shapes: [&'p Geometry; 2], poses: [&'p Pose; 2]) -> ShapePair<'p> {
        ShapePair { shapes, poses, motions: None }
    }

    /// Two placed shapes; `poses` are their poses at the start.
    pub fn of([a, b]: [&'p Placed<'p>; 2], poses: &'p [Pose; 2]) -> ShapePair<'p> {
        let [p, q] = poses;
        ShapePair {
            shapes: [a.geometry(), b.geometry()],
            poses: [p, q],
            motions: Some([a.motion(), b.motion()]),
        }
    }

    /// The kinds of a and b.
    pub fn kinds(&self) -> [ShapeKind; 2] {
        self.shapes.map(Geometry::kind)
    }

    /// With a and b exchanged.
    #[must_use]
    pub fn swapped(&self) -> ShapePair<'p> {
        let ([a, b], [p, q]) = (self.shapes, self.poses);
        ShapePair { shapes: [b, a], poses: [q, p], motions: self.motions.map(|[m, n]| [n, m]) }
    }
}
