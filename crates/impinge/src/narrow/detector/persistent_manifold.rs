//! Persistent contact ids: which point of a pair's manifolds is which of the step before.
//!
//! A point is the same as long as the same features make it. Where corner lies on corner, as when a box stands
//! on its like, the least drift changes the features and where edges cross; there the nearest old point that no
//! other took hands on its id, as the persistent manifolds of physics engines do. What rolls from one face to the
//! next changes its features and its place on both bodies; there the nearest one with about the same normal does, as
//! far as it went less than a share of the smaller body. A particle of a cloud touches a
//! body at one place, wherever that is: its number makes it known again. New ids are dealt in the order
//! of the pairs, so the number of threads cannot be seen in them.

use std::num::NonZeroU64;

use glam::DVec3;
use smallvec::SmallVec;

use super::{PairContacts, PartContact, compound_pairs};
use crate::model::Geometry;
use crate::narrow::shape_pair::ShapePair;
use crate::num::tolerance::{ROLLED, SAME_CONTACT_NORMAL, SAME_PATCH_POINT};
use crate::simd::prefetch_lines;
use crate::{Contact, Feature, Pose};

/// What makes the points of a pair's manifolds known again.
#[derive(Debug, Clone, Default)]
pub(crate) struct PersistentManifolds {
    /// In the order of the pair's points.
    points: Vec<Known>,
    /// The same where a cloud takes part, which may touch in very many places.
    particles: Vec<KnownParticle>,
}

/// A point of a manifold of particles with what makes it known again.
#[derive(Debug, Clone, Copy)]
struct KnownParticle {
    /// The parts of the two bodies, and the particle of each body that is a cloud.
    key: [u32; 4],
    /// None before it was told.
    id: Option<NonZeroU64>,
}

impl KnownParticle {
    fn new(parts: [u32; 2], clouds: [bool; 2], point: &Contact) -> KnownParticle {
        let [p, q] = [0, 1].map(|k| match point.features[k] {
            Feature::Vertex(particle) if clouds[k] => particle,
            _ => 0,
        });
        KnownParticle { key: [parts[0], parts[1], p, q], id: None }
    }
}

/// A point of a manifold with what makes it known again.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// The parts of the two bodies.
    parts: [u32; 2],
    features: [Feature; 2],
    /// Where it is in the frame of each part: corners of one body keep their place in one of them.
    local: [DVec3; 2],
    /// From a to b, in the world.
    normal: DVec3,
    /// None before it was told.
    id: Option<u64>,
}

impl PersistentManifolds {
    /// Takes the manifolds of a new step; ids go over to the points that last.
    pub fn renew(&mut self, pair: &ShapePair<'_>, found: &PairContacts) {
        let clouds = pair.shapes.map(|shape| matches!(shape, Geometry::Particles(_)));
        if clouds.contains(&true) {
            return self.renew_particles(clouds, found);
        }
        self.particles.clear();
        // Few are made where the near cache has room, and there is one list to wait for.
        let mut new: SmallVec<[Known; 8]> = SmallVec::new();
        for contact in &found.parts {
            self.add(pair, contact, found, &mut new);
        }
        self.points.clear();
        self.points.extend_from_slice(&new);
    }

    /// Adds the manifold of two parts; contacts come by ascending parts.
    fn add(
        &mut self,
        pair: &ShapePair<'_>,
        contact: &PartContact,
        found: &PairContacts,
        new: &mut SmallVec<[Known; 8]>,
    ) {
        let first = new.len();
        let parts = contact.parts;
        let back = [0, 1].map(|k| {
            let (_, pose) = compound_pairs::part(pair.shapes[k], pair.poses[k], parts[k]);
            (pose.matrix().transpose(), pose.translation())
        });
        let [from, to] = contact.manifold.map(|k| k as usize);
        new.extend(found.points[from..to].iter().map(|point| Known {
            parts,
            features: point.features,
            local: [0, 1].map(|k| back[k].0 * (point.points[k] - back[k].1)),
            normal: point.normal,
            id: None,
        }));
        let old = &mut self.points;
        let own = old.partition_point(|k| k.parts < parts)..old.partition_point(|k| k.parts <= parts);
        let (old, new) = (&mut old[own], &mut new[first..]);
        hand_on(old, new);
        if new.iter().any(|known| known.id.is_none()) && old.iter().any(|known| known.id.is_some()) {
            let size = |k: usize| {
                let (shape, _) = compound_pairs::part(pair.shapes[k], pair.poses[k], parts[k]);
                2.0 * shape.bounds(&Pose::IDENTITY).half().length()
            };
            let reach = ROLLED * size(0).min(size(1));
            hand_on_where(old, new, |p, q| {
                way(p, q) <= reach && p.normal.dot(q.normal) >= SAME_CONTACT_NORMAL
            });
        }
    }

    /// The points of a cloud: the same particles, or the same two, are the same contact. They come by ascending parts and
    /// particles.
    fn renew_particles(&mut self, clouds: [bool; 2], found: &PairContacts) {
        let mut new = Vec::with_capacity(found.points.len());
        let mut old = self.particles.iter().peekable();
        for contact in &found.parts {
            let [from, to] = contact.manifold.map(|k| k as usize);
            new.extend(found.points[from..to].iter().map(|point| {
                let known = KnownParticle::new(contact.parts, clouds, point);
                while old.next_if(|last| last.key < known.key).is_some() {}
                let id = old.next_if(|last| last.key == known.key).and_then(|last| last.id);
                KnownParticle { id, ..known }
            }));
        }
        self.particles = new;
        self.points.clear();
    }

    /// Asks for the memory of what is compared with the points of the next step.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_lines::<5, _>(&self.points);
    }

    /// Gives a pair's points their ids; those that are new get the next ones.
    pub fn name(&mut self, points: &mut [Contact], next: &mut u64) {
        for (point, known) in points.iter_mut().zip(&mut self.points) {
            point.id = *known.id.get_or_insert_with(|| {
                *next += 1;
                *next
            });
        }
        for (point, known) in points.iter_mut().zip(&mut self.particles) {
            point.id = known.id.map_or_else(
                || {
                    *next += 1;
                    *next
                },
                NonZeroU64::get,
            );
            known.id = NonZeroU64::new(point.id);
        }
    }

    /// Appends a pair's points with their ids, as [`PersistentManifolds::name`] gives them.
    pub fn tell(&mut self, points: &[Contact], next: &mut u64, told: &mut Vec<Contact>) {
        let from = told.len();
        told.extend_from_slice(points);
        self.name(&mut told[from..], next);
    }
}

/// Gives the ids of a manifold's old points to the new ones that are the same; each is handed on once.
fn hand_on(old: &mut [Known], new: &mut [Known]) {
    if is_unchanged(old, new) {
        old.iter_mut().zip(new).for_each(|(old, new)| new.id = old.id.take());
        return;
    }
    let extent = |points: &[Known]| {
        let first = points.first().map_or(DVec3::ZERO, |p| p.local[0]);
        points.iter().fold(0.0_f64, |most, p| p.local[0].distance(first).max(most))
    };
    let reach = SAME_PATCH_POINT * extent(old).max(extent(new));
    let near = |p: &Known, q: &Known| way(p, q) <= reach;
    let alike = |p: &Known, q: &Known| p.features == q.features;
    // A corner is the same wherever it went; two edges that nearly lie on each other may cross anywhere.
    hand_on_where(old, new, |p, q| alike(p, q) && (has_corner(p) || near(p, q)));
    hand_on_where(old, new, near);
    hand_on_where(old, new, alike);
}

/// Whether the new points are the old ones beyond doubt: the same features in the same order, each with a corner and
/// none of them twice, or one point of the same features.
fn is_unchanged(old: &[Known], new: &[Known]) -> bool {
    let same = |(p, q): (&Known, &Known)| p.features == q.features && (new.len() == 1 || has_corner(p));
    let is_known = |p: &Known| p.id.is_some();
    let once = |k: usize| new[..k].iter().all(|p| p.features != new[k].features);
    old.len() == new.len()
        && old.iter().all(is_known)
        && old.iter().zip(new).all(same)
        && (0..new.len()).all(once)
}

/// Each new point without an id takes that of the nearest old one that is the same and still has its own.
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
    known.features.iter().any(|feature| matches!(feature, Feature::Vertex(_)))
}

#[cfg(test)]
#[path = "persistent_manifold_tests.rs"]
mod tests;
