//! The normals around vertices, read from the mesh as it is and kept for some frames: pairs of triangles that are looked at
//! share their corners with others.

use std::f64::consts::PI;

use glam::DVec3;

use crate::num::tolerance::SHORT_ARC_COSINE;

/// Frames for which what was read of a vertex is kept.
pub(super) const KEPT: u64 = 8;

/// Directions about an axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cone {
    pub axis: DVec3,
    pub half_angle: f64,
}

/// The cones of both bodies, by vertex, in the frame of the body.
#[derive(Debug, Clone, Default)]
pub(super) struct Cones {
    of: [Vec<(Cone, u64)>; 2],
    /// The reading of the clock; what was read at 0 was never read.
    pub clock: u64,
}

impl Cones {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.of.iter_mut().for_each(Vec::clear);
        self.clock = KEPT;
    }

    /// The cone around a vertex, read anew where it is old.
    #[inline]
    pub fn around(&mut self, body: usize, vertex: u32, vertices: usize, read: impl FnOnce() -> Cone) -> Cone {
        let of = &mut self.of[body];
        if of.len() < vertices {
            of.resize(vertices, (Cone { axis: DVec3::X, half_angle: PI }, 0));
        }
        let (cone, at) = &mut of[vertex as usize];
        if self.clock - *at >= KEPT {
            (*cone, *at) = (read(), self.clock);
        }
        *cone
    }
}

impl Cone {
    /// The angle to a direction or its opposite, negative within.
    #[inline]
    pub fn angle_to(&self, direction: DVec3) -> f64 {
        angle_up_to_sign(self.axis.dot(direction)) - self.half_angle
    }
}

/// The angle between two lines by the cosine (radians), at most twice [`SHORT_ARC_COSINE`] too small and never too large.
///
/// Abramowitz and Stegun 4.4.45: a cubic, at a small part of the cost of the arc cosine.
#[inline]
pub(super) fn angle_up_to_sign(cosine: f64) -> f64 {
    let x = cosine.abs().min(1.0);
    let series = 1.570_728_8 + x * (-0.212_114_4 + x * (0.074_261_0 - 0.018_729_3 * x));
    (1.0 - x).sqrt() * series - SHORT_ARC_COSINE
}

/// The half-angle of a cone by the least cosine of its directions (radians), at most twice [`SHORT_ARC_COSINE`] too large and never too small;
/// all directions where that is not positive.
#[inline]
pub(super) fn half_angle(cosine: f64) -> f64 {
    if cosine > 0.0 { angle_up_to_sign(cosine) + 2.0 * SHORT_ARC_COSINE } else { PI }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_are_those_of_the_arc_cosine_or_a_little_smaller() {
        for k in -1000..=1000 {
            let cosine = f64::from(k) / 1000.0;
            let below = cosine.abs().acos() - angle_up_to_sign(cosine);
            assert!((0.0..2.0 * SHORT_ARC_COSINE).contains(&below), "{cosine}: {below}");
            assert!(cosine <= 0.0 || half_angle(cosine) >= cosine.acos());
        }
    }

    #[test]
    fn cones_are_read_again_when_they_are_old() {
        let mut cones = Cones::default();
        cones.clear();
        let mut read = 0;
        for frame in 0..3 * KEPT {
            cones.clock += 1;
            for vertex in [0, 4] {
                let cone = cones.around(1, vertex, 5, || {
                    read += 1;
                    Cone { axis: DVec3::Y, half_angle: frame as f64 }
                });
                assert!(frame as f64 - cone.half_angle < KEPT as f64);
            }
        }
        assert_eq!(read, 6);
        cones.clear();
        cones.around(1, 4, 5, || {
            read += 1;
            Cone { axis: DVec3::Y, half_angle: 0.0 }
        });
        assert_eq!(read, 7);
    }
}
