//! A teapot of our own: body, lid, spout and handle, each a closed part.
//!
//! Spout and handle reach into the body, as those of the well-known one do, so the joined mesh intersects
//! itself where they enter.

use glam::{DVec2, DVec3};

use super::body_part::BodyPart;
use super::grid::{at_least, positive};
use super::lathe::lathe;
use super::tube::{Ends, tube};
use crate::{Error, Mesh};

/// A teapot standing on z = 0, about 2 · `size` wide, its spout towards +x.
///
/// Triangles: body 20 · segments, lid 12 · segments, spout and handle 2 · segments · (segments + 1) each.
///
/// # Errors
/// A size that is not positive, fewer than 3 segments.
pub fn teapot(size: f64, segments: u32) -> Result<Vec<BodyPart>, Error> {
    positive("size", size)?;
    at_least("segments", 3, segments)?;
    let turned = |profile: &[[f64; 2]]| {
        let points: Vec<DVec2> = profile.iter().map(|&p| size * DVec2::from(p)).collect();
        lathe(&points, segments)
    };
    #[rustfmt::skip]
    let body = turned(&[
        [0.0, 0.0], [0.45, 0.0], [0.5, 0.04], [0.68, 0.2], [0.75, 0.42], [0.7, 0.62],
        [0.58, 0.78], [0.44, 0.88], [0.4, 0.9], [0.36, 0.9], [0.3, 0.88], [0.0, 0.86],
    ])?;
    #[rustfmt::skip]
    let lid = turned(&[
        [0.0, 0.91], [0.38, 0.91], [0.36, 0.95], [0.1, 1.03], [0.06, 1.06],
        [0.1, 1.12], [0.06, 1.16], [0.0, 1.17],
    ])?;
    let spout =
        bend(size, 0.09, segments, |s| DVec3::new(0.6 + 0.5 * s, 0.0, 0.3 + 0.6 * s * s * (3.0 - 2.0 * s)))?;
    let handle = bend(size, 0.05, segments, |s| {
        let angle = std::f64::consts::PI * (0.5 + s);
        DVec3::new(-0.62 + 0.45 * angle.cos(), 0.0, 0.5 + 0.25 * angle.sin())
    })?;
    let part = |name: &str, mesh: Mesh, pivot: DVec3| BodyPart {
        name: name.into(),
        mesh,
        parent: (name != "body").then_some(0),
        pivot: size * pivot,
        axis: DVec3::Y,
    };
    Ok(vec![
        part("body", body, DVec3::ZERO),
        part("lid", lid, DVec3::Z * 0.9),
        part("spout", spout, DVec3::new(0.6, 0.0, 0.3)),
        part("handle", handle, DVec3::new(-0.62, 0.0, 0.5)),
    ])
}

fn bend(size: f64, radius: f64, segments: u32, point: impl Fn(f64) -> DVec3) -> Result<Mesh, Error> {
    let at = |i: u32| size * point(f64::from(i) / f64::from(segments));
    let curve: Vec<DVec3> = (0..=segments).map(at).collect();
    tube(&curve, size * radius, segments, Ends::Capped)
}
