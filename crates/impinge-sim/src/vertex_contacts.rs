//! Contacts of the vertices of a deforming surface with a body, by signed distances.

use glam::DVec3;
use impinge::{Contact, Error, Feature, Placed, signed_distance_batch};

/// Every vertex that is inside the body or at most `margin` away, as a contact of the surface (a) with the body (b).
///
/// The persistent id is the vertex plus one. A vertex exactly on the body has no normal.
///
/// # Errors
/// A vertex that is not finite, or a body without signed distances.
pub fn vertex_contacts<'s>(
    vertices: &[DVec3],
    body: impl Into<Placed<'s>>,
    margin: f64,
) -> Result<Vec<Contact>, Error> {
    let found = signed_distance_batch(body, vertices)?;
    let near = found.iter().zip(vertices).enumerate().filter(|(_, (d, _))| d.distance <= margin);
    let contact = |(v, (d, &p)): (usize, (&impinge::PointDistance, &DVec3))| Contact {
        points: [p, d.point],
        // Out of the body for a vertex outside, and so into it from a.
        normal: ((d.point - p) * d.distance.signum()).normalize_or_zero(),
        depth: -d.distance,
        area: 0.0,
        features: [Feature::Vertex(v as u32), d.feature],
        id: v as u64 + 1,
        time: 0.0,
    };
    Ok(near.map(contact).collect())
}
