//! How far apart two convex bodies are, or how deep one is in the other.

use glam::DVec3;

use super::Feature;

/// The signed distance of two convex bodies with the place where it is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Separation {
    /// Positive: the smallest distance. Negative: the length of the smallest translation that parts them.
    pub distance: f64,
    /// One point on the surface of each, in the world; their difference is `distance · normal`.
    pub points: [DVec3; 2],
    /// What the points lie on.
    pub features: [Feature; 2],
    /// Of unit length, from a to b: moving b along it parts the bodies.
    pub normal: DVec3,
}

impl Separation {
    /// What stands for an answer that there is none of: infinitely far apart.
    pub(crate) const NONE: Separation = Separation {
        distance: f64::INFINITY,
        points: [DVec3::ZERO; 2],
        features: [Feature::Surface; 2],
        normal: DVec3::ZERO,
    };

    /// The answer with a and b exchanged.
    pub fn swapped(self) -> Separation {
        let ([p, q], [f, g]) = (self.points, self.features);
        Separation { points: [q, p], features: [g, f], normal: -self.normal, ..self }
    }
}
