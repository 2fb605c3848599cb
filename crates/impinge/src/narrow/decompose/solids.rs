//! The solids that the surfaces of a mesh bound, and a triangle as their hulls see it.

use glam::DVec3;

use super::cuts::{self, Notch};
use crate::num::tolerance::{CUT_SLACK, VOLUME_ROUNDING};
use crate::shape::seams::Seams;
use crate::{Error, Mesh};

/// The solids of a mesh.
pub(super) struct Solids {
    /// The triangles of each, and the volume that they enclose: negative where they look into it.
    pub(super) surfaces: Vec<(Vec<u32>, f64)>,
    /// Whether the triangles of all look into them.
    pub(super) inward: bool,
    /// Summed over the solids.
    pub(super) volume: f64,
    pub(super) notches: Vec<Notch>,
}

/// The components, which may overlap, as solids of their own; all of them as one where some are cavities.
pub(super) fn solids(mesh: &Mesh, size: f64) -> Result<Solids, Error> {
    let seams = Seams::new(mesh);
    let rounding = VOLUME_ROUNDING * size.powi(3);
    let signed = |surface: Vec<u32>| {
        let volume = signed_volume(mesh, surface.iter().copied());
        (surface, volume)
    };
    let mut surfaces: Vec<(Vec<u32>, f64)> = seams.components().into_iter().map(signed).collect();
    let one_way =
        surfaces.iter().all(|(_, v)| *v >= -rounding) || surfaces.iter().all(|(_, v)| *v <= rounding);
    if !one_way {
        let all: Vec<Vec<u32>> = surfaces.into_iter().map(|(surface, _)| surface).collect();
        surfaces = vec![signed(all.concat())];
    }
    // Flat components enclose nothing.
    surfaces.retain(|(_, volume)| volume.abs() > rounding);
    let inward = surfaces.iter().all(|(_, volume)| *volume < 0.0);
    let Some(notches) = cuts::notches(mesh, &seams, inward, CUT_SLACK * size) else {
        return Err(Error::Argument { name: "mesh", reason: "it is not closed, so it has no inside".into() });
    };
    if surfaces.is_empty() {
        return Err(Error::Argument { name: "mesh", reason: "it encloses no volume".into() });
    }
    let volume = surfaces.iter().map(|(_, volume)| volume.abs()).sum();
    Ok(Solids { surfaces, inward, volume, notches })
}

/// The volume that closed surfaces of a mesh enclose; negative where their triangles look into it.
pub(super) fn signed_volume(mesh: &Mesh, triangles: impl Iterator<Item = u32>) -> f64 {
    let origin = mesh.vertices()[mesh.triangles()[0][0] as usize];
    let spanned = |triangle: u32| {
        let [a, b, c] = mesh.corners(triangle).map(|p| p - origin);
        a.cross(b).dot(c)
    };
    triangles.map(spanned).sum::<f64>() / 6.0
}

/// A triangle as seen from the hull of its surface.
pub(super) struct Outward {
    /// Of unit length; not finite for a triangle without area.
    pub(super) normal: DVec3,
    /// Twice the area.
    pub(super) area: f64,
    longest: f64,
}

impl Outward {
    pub(super) fn of(mesh: &Mesh, triangle: u32, inward: bool) -> Outward {
        let [a, b, c] = mesh.corners(triangle);
        let across = (b - a).cross(c - a);
        let (area, longest) = (across.length(), (b - a).length().max((c - a).length()));
        Outward { normal: if inward { -across / area } else { across / area }, area, longest }
    }

    /// How far its normal may have turned by rounding (no unit: a sine).
    pub(super) fn tilt(&self) -> f64 {
        2.0 * f64::EPSILON * self.longest * self.longest / self.area
    }

    /// How far above its plane a corner that is at most `reach` from the middle may seem to be by rounding. The normal of
    /// a sliver says little, that of a triangle without area nothing.
    pub(super) fn doubt(&self, slack: f64, reach: f64) -> f64 {
        slack + self.tilt() * (4.0 * reach)
    }
}
