//! The patches of a pair from step to step: which point of now is which of before.
//!
//! A point is the same as long as the same features make it. Where corner lies on corner, as when a box stands
//! on its like, the least drift changes the features and where edges cross; there the nearest old point that no
//! other took hands on its name, as the persistent manifolds of physics engines do. Names are dealt in the order of the pairs, so
//! the number of threads cannot be seen in them.

use glam::DVec3;

use super::event::ContactPoint;
use crate::model::Geometry;
use crate::narrow::compound_pairs::CompoundPairSeparation;
use crate::narrow::convex::manifold::{PatchPoint, manifold_of};
use crate::num::tolerance::{SAME_PATCH_POINT, TOUCH_DOUBT};
use crate::{Feature, Pose};

/// The patches of all contacts of a pair.
#[derive(Debug, Clone, Default)]
pub(super) struct PersistentManifolds {
    points: Vec<Known>,
    /// Those of the step before.
    old: Vec<Known>,
}

/// A point of a patch with what makes it known again.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// The parts of the two bodies.
    parts: [u32; 2],
    point: PatchPoint,
    /// Where it is in the frame of each part: corners of one body keep their place in one of them.
    local: [DVec3; 2],
    /// None before it was told.
    id: Option<u64>,
}

impl PersistentManifolds {
    /// Starts a new step: what is known becomes old.
    pub fn renew(&mut self) {
        std::mem::swap(&mut self.points, &mut self.old);
        self.points.clear();
    }

    /// Adds the patch of two parts at their poses; contacts come by ascending parts.
    pub fn add(
        &mut self,
        near: &CompoundPairSeparation,
        [a, b]: [&Geometry; 2],
        [pose_a, pose_b]: [&Pose; 2],
        margin: f64,
    ) {
        let first = self.points.len();
        let parts = near.parts;
        let back = [pose_a, pose_b].map(|pose| (pose.matrix().transpose(), pose.translation()));
        let known = |point: PatchPoint| {
            let local = [0, 1].map(|k| back[k].0 * (point.points[k] - back[k].1));
            Known { parts, point, local, id: None }
        };
        match (a, b) {
            (Geometry::Convex(a), Geometry::Convex(b)) => {
                let size = near.separation.points[0].abs().max(near.separation.points[1].abs()).max_element();
                // Points that touch but for rounding belong to a patch without a margin.
                let margin = margin.max(near.separation.distance) + TOUCH_DOUBT * size;
                let patch = manifold_of(a, pose_a, b, pose_b, &near.separation, margin);
                self.points.extend(patch.points.into_iter().map(known));
            }
            _ => {
                let CompoundPairSeparation { separation: s, .. } = near;
                let point = PatchPoint { points: s.points, distance: s.distance, features: s.features };
                self.points.push(known(point));
            }
        }
        let old =
            self.old.partition_point(|k| k.parts < parts)..self.old.partition_point(|k| k.parts <= parts);
        hand_on(&mut self.old[old], &mut self.points[first..]);
    }

    /// Appends the points of the contact of two parts, naming those that are new.
    pub fn tell(&mut self, parts: [u32; 2], next: &mut u64, points: &mut Vec<ContactPoint>) {
        let first = self.points.partition_point(|k| k.parts < parts);
        for known in self.points[first..].iter_mut().take_while(|k| k.parts == parts) {
            let id = *known.id.get_or_insert_with(|| {
                *next += 1;
                *next - 1
            });
            let PatchPoint { points: at, distance, features } = known.point;
            points.push(ContactPoint { id, points: at, distance, features });
        }
    }
}

/// Gives the names of a patch's old points to the new ones that are the same; each is handed on once.
fn hand_on(old: &mut [Known], new: &mut [Known]) {
    let extent = |points: &[Known]| {
        let first = points.first().map_or(DVec3::ZERO, |p| p.local[0]);
        points.iter().fold(0.0_f64, |most, p| p.local[0].distance(first).max(most))
    };
    let reach = SAME_PATCH_POINT * extent(old).max(extent(new));
    let near = |p: &Known, q: &Known| way(p, q) <= reach;
    let alike = |p: &Known, q: &Known| p.point.features == q.point.features;
    // A corner is the same wherever it went; two edges that nearly lie on each other may cross anywhere.
    hand_on_where(old, new, |p, q| alike(p, q) && (has_corner(p) || near(p, q)));
    hand_on_where(old, new, near);
    hand_on_where(old, new, alike);
}

/// Each new point without a name takes that of the nearest old one that is the same and still has its own.
fn hand_on_where(old: &mut [Known], new: &mut [Known], same: impl Fn(&Known, &Known) -> bool) {
    for point in new.iter_mut().filter(|point| point.id.is_none()) {
        let left = old.iter_mut().filter(|known| known.id.is_some() && same(known, point));
        let nearest = left.min_by(|p, q| way(p, point).total_cmp(&way(q, point)));
        point.id = nearest.and_then(|known| known.id.take());
    }
}

/// How far a point went, seen from the body from which it went less.
fn way(p: &Known, q: &Known) -> f64 {
    p.local[0].distance(q.local[0]).min(p.local[1].distance(q.local[1]))
}

fn has_corner(known: &Known) -> bool {
    known.point.features.iter().any(|feature| matches!(feature, Feature::Vertex(_)))
}

#[cfg(test)]
#[path = "persistent_manifold_tests.rs"]
mod tests;
