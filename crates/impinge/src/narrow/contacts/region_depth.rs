//! The depth along the normal of the deepest contact.
//!
//! By its definition the depth of a region is the smallest shift along the contact's normal that empties it. Another
//! contact of the region may be less deep along its own normal, and yet be left later along that of the deepest one:
//! there the last triangle that the shape leaves is found, and the other contact is told along the common normal.

use glam::DVec3;

use super::local_surface::LocalSurface;
use crate::Pose;
use crate::contact::{Contact, Feature};
use crate::narrow::convex::separation::{ConvexMemory, distance};
use crate::num::tolerance::{DEEPER_ALONG, INTERVAL_CLOSED, SAME_WAY_OUT};
use crate::shape::{Convex, Primitive};

/// Distances that the last meeting with a triangle takes at most.
const MOST_STEPS: u32 = 16;

/// Tells the contact that is left last along the normal of the deepest one along that normal, if both surely are of one
/// region: nothing of the surface is between them, or the shape meets it all the way from one to the other.
pub(super) fn clear_along_deepest(
    surface: &LocalSurface<'_>,
    (shape, pose): (&Convex, &Pose),
    reach: f64,
    found: &mut [Contact],
) {
    let deepest = (0..found.len()).max_by(|&i, &j| found[i].depth.total_cmp(&found[j].depth).then(j.cmp(&i)));
    let Some(first) = deepest.filter(|&k| found[k].depth > 0.0).map(|k| found[k]) else { return };
    // The plane between two bodies that overlap bounds how far they do along any direction.
    let needed = |contact: &Contact| {
        let along = contact.normal.dot(first.normal);
        if contact.depth > 0.0 && along >= SAME_WAY_OUT { contact.depth / along } else { 0.0 }
    };
    let last = (0..found.len()).max_by(|&i, &j| needed(&found[i]).total_cmp(&needed(&found[j])));
    let Some(last) = last.filter(|&k| needed(&found[k]) > first.depth + DEEPER_ALONG * reach) else { return };
    let other = found[last];
    if !surface.is_free_between(first.points[1], other.points[1])
        && !surface.is_met_between(first.features[0], other.features[0])
    {
        return;
    }
    let range = [first.depth, needed(&other)];
    let close = INTERVAL_CLOSED * reach;
    if let Some((p, depth)) =
        last_meeting(surface, (shape, pose), other.features[0], first.normal, range, close)
    {
        let points = [p, p - first.normal * depth];
        found[last] = Contact::between(points, first.normal, depth, other.features);
    }
}

/// Where a shape that is moved along a normal leaves the triangles of a feature, and after which length, if that is in a
/// range. From the far end, as long as there is a gap: to where the plane in it is crossed.
fn last_meeting(
    surface: &LocalSurface<'_>,
    (shape, pose): (&Convex, &Pose),
    name: Feature,
    normal: DVec3,
    [least, most]: [f64; 2],
    close: f64,
) -> Option<(DVec3, f64)> {
    let mut best: Option<(DVec3, f64)> = None;
    let mut memory = ConvexMemory::default();
    for (_, facet) in surface.facets().filter(|(k, _)| surface.has(*k, name)) {
        let triangle = Convex::Primitive(Primitive::Triangle { corners: facet.corners });
        let mut length = most;
        for _ in 0..MOST_STEPS {
            let moved = pose.moved_to(pose.translation() + normal * length);
            let (met, _) = distance(&triangle, &Pose::IDENTITY, shape, &moved, &mut memory);
            if met.distance <= close {
                if best.is_none_or(|(_, longest)| length > longest) {
                    best = Some((met.points[0], length));
                }
                break;
            }
            length -= met.distance / met.normal.dot(normal).max(SAME_WAY_OUT);
            if !(length > best.map_or(least, |(_, longest)| longest)) {
                break;
            }
        }
    }
    best
}
