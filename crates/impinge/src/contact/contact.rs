//! One place where two bodies touch, overlap or nearly touch: the word that methods and responses share.

use glam::DVec3;

use super::{Feature, Separation};

/// One place where two bodies touch, overlap or come near.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Contact {
    /// One point on the surface of each body, in the world; they differ by `depth` along −`normal`.
    pub points: [DVec3; 2],
    /// Of unit length, from a to b: moving b along it separates the bodies here. Zero where no direction is
    /// known.
    pub normal: DVec3,
    /// The penetration depth along the normal; negative for a gap.
    pub depth: f64,
    /// The area of the patch that this contact stands for; 0 for a single point.
    pub area: f64,
    /// What the points lie on.
    pub features: [Feature; 2],
    /// The persistent contact id: the same from step to step while the contact lasts; 0 where none is kept.
    pub id: u64,
    /// When in the step, for a contact under motion; 0 for one of the present moment.
    pub time: f64,
}

impl Contact {
    /// Midway between the points.
    pub fn point(&self) -> DVec3 {
        0.5 * (self.points[0] + self.points[1])
    }

    /// A contact of the present moment without an area.
    pub(crate) fn between(points: [DVec3; 2], normal: DVec3, depth: f64, features: [Feature; 2]) -> Contact {
        Contact { points, normal, depth, area: 0.0, features, id: 0, time: 0.0 }
    }

    /// The triangles that the points lie on, where both lie on one.
    pub(crate) fn faces(&self) -> Option<[u32; 2]> {
        match self.features {
            [Feature::Face(i), Feature::Face(j)] => Some([i, j]),
            _ => None,
        }
    }

    /// The contact with a and b exchanged.
    #[must_use]
    pub fn swapped(self) -> Contact {
        let ([p, q], [f, g]) = (self.points, self.features);
        Contact { points: [q, p], features: [g, f], normal: -self.normal, ..self }
    }
}

impl From<Separation> for Contact {
    /// The closest or deepest features as one contact of no area.
    fn from(separation: Separation) -> Contact {
        let Separation { distance, points, features, normal } = separation;
        Contact::between(points, normal, -distance, features)
    }
}
