//! The parent of each facet: the coarse triangle around which it makes the least thicker and wider cylinder.
//!
//! Candidates are the coarse triangles at the vertices onto which the facet's own corners moved, so links
//! follow the surface: the other side of a thin sheet is no candidate though it may be nearer. A facet whose
//! whole component is gone takes the nearest coarse triangle. Every coarse triangle was a finer one before
//! some of its corners moved; that one becomes its child where it would have none.

use glam::DVec3;

use super::csr::Csr;
use super::frame::Frame;
use super::simplify::{Simplifier, area_vector};
use crate::geom::point_triangle::closest_point as closest_point_of_triangle;
use crate::model::Model;
use crate::narrow::exact::closest_point::one_after_another;
use crate::num::parallel;
use crate::{Mesh, Pose};

/// How much a height counts against a way beyond the disc's edge (no unit): a cylinder is flat.
const HEIGHT_WEIGHT: f64 = 4.0;

/// How much the way from the triangle counts (no unit), which decides among discs that all reach.
const DISTANCE_WEIGHT: f64 = 0.5;

/// Stands for a facet without a candidate.
const NONE: u32 = u32::MAX;

/// A coarse triangle as a disc.
struct Disc {
    corners: [DVec3; 3],
    frame: Frame,
    radius: f64,
}

/// The parent of each triangle that the level began with.
pub(super) fn parents(fine: &[[u32; 3]], surface: &Simplifier) -> Vec<u32> {
    let coarse = surface.triangles();
    let around = Csr::by_owner(coarse.as_flattened(), surface.points().len()).map(|corner| corner / 3);
    let discs = parallel::map(coarse.len(), |c| {
        let corners = coarse[c].map(|v| surface.points()[v as usize]);
        let frame = Frame::of(&corners);
        let radius = corners.iter().map(|p| p.distance(frame.centre)).fold(0.0, f64::max);
        Disc { corners, frame, radius }
    });
    let mut parent = parallel::map(fine.len(), |t| {
        let corners = fine[t].map(|v| surface.points()[v as usize]);
        let candidates = fine[t].iter().flat_map(|&v| around.of(surface.moved_to(v)));
        let scored = candidates.map(|&c| (score(&corners, &discs[c as usize]).to_bits(), c));
        scored.min().map_or(NONE, |(_, c)| c)
    });
    adopt_orphans(&mut parent, fine, surface);
    leave_none_childless(&mut parent, surface.from());
    parent
}

/// How badly a triangle suits a disc, not negative.
fn score(corners: &[DVec3; 3], disc: &Disc) -> f64 {
    let (mut height, mut beyond) = (0.0_f64, 0.0_f64);
    for p in corners {
        let arm = *p - disc.frame.centre;
        let h = arm.dot(disc.frame.normal);
        height = height.max(h.abs());
        beyond = beyond.max((arm - disc.frame.normal * h).length() - disc.radius);
    }
    let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
    let distance = closest_point_of_triangle(middle, &disc.corners).distance_sq.sqrt();
    // The back of a thin sheet.
    let back = if area_vector(*corners).dot(disc.frame.normal) < 0.0 { disc.radius } else { 0.0 };
    HEIGHT_WEIGHT * height + beyond + DISTANCE_WEIGHT * distance + back
}

/// Gives triangles without a candidate the nearest coarse one.
fn adopt_orphans(parent: &mut [u32], fine: &[[u32; 3]], surface: &Simplifier) {
    let orphans: Vec<usize> = (0..parent.len()).filter(|&t| parent[t] == NONE).collect();
    if orphans.is_empty() {
        return;
    }
    let middle = |t: &usize| fine[*t].iter().map(|&v| surface.points()[v as usize]).sum::<DVec3>() / 3.0;
    let middles: Vec<DVec3> = orphans.iter().map(middle).collect();
    match Mesh::from_points(surface.points().to_vec(), surface.triangles().to_vec()) {
        Ok(mesh) => {
            let (nearest, _) = one_after_another(&Model::from(mesh), &Pose::IDENTITY, &middles);
            for (t, near) in orphans.into_iter().zip(nearest) {
                parent[t] = near.triangle;
            }
        }
        // A surface has at least one triangle and finite points.
        Err(_) => orphans.into_iter().for_each(|t| parent[t] = 0),
    }
}

/// Gives every coarse triangle a child: the triangle it was, where it has no other.
fn leave_none_childless(parent: &mut [u32], from: &[u32]) {
    let mut children = vec![0_u32; from.len()];
    parent.iter().for_each(|&c| children[c as usize] += 1);
    let mut childless: Vec<u32> = (0..from.len() as u32).filter(|&c| children[c as usize] == 0).collect();
    // Ends: each coarse triangle is childless at most once, as nobody takes the triangle that it was.
    while let Some(c) = childless.pop() {
        let child = from[c as usize] as usize;
        let before = std::mem::replace(&mut parent[child], c);
        children[c as usize] += 1;
        children[before as usize] -= 1;
        if children[before as usize] == 0 {
            childless.push(before);
        }
    }
}
