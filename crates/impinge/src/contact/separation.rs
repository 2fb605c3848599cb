//! How far apart two bodies are, or how deep one convex body is in the other.

use glam::DVec3;

use super::Feature;

/// The distance of two bodies with the place where it is taken: signed for two convex ones. Where a mesh takes part
/// it is that of the surfaces, and 0 where they meet.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Separation {
    /// Positive: the smallest distance, of the surfaces where a mesh takes part, also when one solid is inside the
    /// other. Negative, for two convex bodies: the length of the smallest translation that
    /// parts them.
    pub distance: f64,
    /// One point on the surface of each, in the world; their difference is `distance · normal`.
    pub points: [DVec3; 2],
    /// What the points lie on.
    pub features: [Feature; 2],
    /// Of unit length, from a to b: moving b along it parts the bodies. Zero where a mesh takes part and the
    /// surfaces meet: they have no direction there.
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
        // Zero stays zero, without a sign.
        let normal = if self.normal == DVec3::ZERO { DVec3::ZERO } else { -self.normal };
        Separation { points: [q, p], features: [g, f], normal, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_normal_has_no_sign_either_way() {
        let meeting = Separation {
            distance: 0.0,
            points: [DVec3::X; 2],
            features: [Feature::Vertex(1), Feature::Vertex(2)],
            normal: DVec3::ZERO,
        };
        let swapped = meeting.swapped();
        assert!(swapped.normal.to_array().into_iter().all(f64::is_sign_positive), "{swapped:?}");
        assert_eq!(swapped.swapped(), meeting);
        let apart = Separation { distance: 1.0, normal: DVec3::X, ..meeting };
        assert_eq!(apart.swapped().normal, -DVec3::X);
    }
}
