//! The planes of a solid's faces, eight at a time, for lines that are clipped by all of them.

use std::sync::OnceLock;

use super::{Face, Polytope};
use crate::num::parallel::once;

/// Planes at a time.
pub(crate) const PLANES: usize = 8;

/// The planes `normal · x = offset` of eight faces; a lane without a face is far above every point.
#[derive(Debug, Clone, PartialEq)]
#[repr(align(64))]
pub(crate) struct FacePlanes {
    /// Outward, of unit length: x, then y, then z of all.
    pub normals: [[f64; PLANES]; 3],
    pub offsets: [f64; PLANES],
}

impl FacePlanes {
    fn new(faces: &[Face]) -> FacePlanes {
        let mut planes = FacePlanes { normals: [[0.0; PLANES]; 3], offsets: [f64::INFINITY; PLANES] };
        for (lane, face) in faces.iter().enumerate() {
            for axis in 0..3 {
                planes.normals[axis][lane] = face.normal[axis];
            }
            planes.offsets[lane] = face.normal.dot(face.corner);
        }
        planes
    }
}

/// The planes of all faces, in their order; made at the first use.
#[derive(Debug, Clone, Default)]
pub(super) struct LazyPlanes(OnceLock<Vec<FacePlanes>>);

impl PartialEq for LazyPlanes {
    /// They follow from the faces.
    fn eq(&self, _: &LazyPlanes) -> bool {
        true
    }
}

impl Polytope {
    /// The planes of all faces, in their order; made at the first call and kept.
    #[inline]
    pub(crate) fn face_planes(&self) -> &[FacePlanes] {
        once::<Vec<FacePlanes>>(&self.planes.0, || self.faces.chunks(PLANES).map(FacePlanes::new).collect())
    }
}
