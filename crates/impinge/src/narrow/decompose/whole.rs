//! A mesh that is one convex part: seen before anything is built for it.
//!
//! The answer then is the mesh itself, and takes no memory of its own. Rounded corners leave many a convex body with
//! edges that are bent inward by a few roundings; a small mesh is measured, with no more memory either.

use super::solids::{Outward, signed_volume};
use super::{DecomposeEnd, DecomposeOptions, Decomposition, Part, extent};
use crate::num::tolerance::{CUT_SLACK, VOLUME_ROUNDING};
use crate::shape::star_surface::{Middle, closed_and_convex, middle, winds_once};
use crate::{Certainty, Mesh};

/// Pairs of triangle and vertex that are measured for a mesh whose edges are not all convex.
const MEASURED: usize = 1 << 17;

/// The mesh as its only part, if that is exact.
pub(super) fn whole(mesh: &Mesh, options: &DecomposeOptions) -> Option<Decomposition<Part>> {
    let middle = middle(mesh)?;
    let convex = closed_and_convex(mesh, middle.inward)?;
    if !winds_once(mesh, &middle) {
        return None;
    }
    let size = extent(mesh);
    let volume = signed_volume(mesh, 0..mesh.triangles().len() as u32).abs();
    // The general way says what is wrong with it.
    if volume <= VOLUME_ROUNDING * size.powi(3) {
        return None;
    }
    let excess = if convex { 0.0 } else { excess(mesh, &middle, CUT_SLACK * size)? };
    (excess <= volume * options.tolerance.max(VOLUME_ROUNDING)).then(|| Decomposition {
        parts: vec![Part::Whole],
        volume,
        excess,
        deviation: 0.0,
        ended: DecomposeEnd::Tolerance,
        certainty: Certainty::Exact,
    })
}

/// A bound on the volume by which the hull of a surface that is seen once from its middle exceeds it; `None` where some
/// of the surface is not on the hull, to rounding.
///
/// What the hull has over a triangle, seen from the middle, is below the highest vertex over its plane.
fn excess(mesh: &Mesh, middle: &Middle, slack: f64) -> Option<f64> {
    let vertices = mesh.vertices();
    if mesh.triangles().len() * vertices.len() > MEASURED {
        return None;
    }
    let reach = vertices.iter().map(|p| p.distance(middle.at)).fold(0.0, f64::max);
    let mut excess = 0.0;
    for t in 0..mesh.triangles().len() as u32 {
        let face = Outward::of(mesh, t, middle.inward);
        let [a, ..] = mesh.corners(t);
        let above = vertices.iter().map(|&p| face.normal.dot(p - a)).fold(0.0, f64::max);
        let below = face.normal.dot(a - middle.at);
        if !(above <= face.doubt(slack, reach) && below > 0.0) {
            return None;
        }
        let more = above / below;
        excess += face.area / 6.0 * below * more * (3.0 + more * (3.0 + more));
    }
    Some(excess)
}
