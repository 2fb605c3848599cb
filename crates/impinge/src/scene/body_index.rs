//! Where the bodies are now, for questions between steps.
//!
//! A tree over the boxes of all bodies is built at the first question. Bodies that are added or moved afterwards are
//! kept beside it and looked at one by one; when they become many, the next question builds the tree anew. So neither
//! a character that moves between questions nor a frame in which everything moves costs more than it must.

use std::sync::OnceLock;

use glam::DVec3;

use super::body::{Bodies, Entry};
use crate::bound::{Aabb, Sphere};
use crate::hierarchy::ray_tree::BoxTree;
use crate::num::tolerance::PLACED_BOX_ROUNDING;

/// So many bodies may stand beside the tree, and a share of all besides.
const LOOSE_MOST: usize = 32;
const LOOSE_SHARE: usize = 16;

/// The tree and what stands beside it.
#[derive(Debug, Default)]
pub(super) struct BodyIndex {
    tree: OnceLock<BoxTree>,
    /// For each slot a ball around its body, by which most of those are passed over whose boxes a ray enters in vain.
    balls: OnceLock<Vec<Sphere>>,
    /// Slots that changed since the tree was built, and those of unbounded bodies, ascending.
    loose: OnceLock<Vec<u32>>,
    /// Slots that changed since the tree was built, each once.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
}

impl BodyIndex {
    /// A body was added, moved or removed.
    #[inline]
    pub fn change(&mut self, slot: u32, count: usize) {
        if self.tree.get().is_some() {
            self.set_beside(slot, count);
        }
    }

    /// From now on the body stands beside the tree.
    fn set_beside(&mut self, slot: u32, count: usize) {
        let at = slot as usize;
        if self.is_changed.len() <= at {
            self.is_changed.resize(at + 1, false);
        }
        if !std::mem::replace(&mut self.is_changed[at], true) {
            self.changed.push(slot);
            self.loose.take();
        }
        if self.changed.len() > LOOSE_MOST + count / LOOSE_SHARE {
            *self = BodyIndex::default();
        }
    }

    fn tree(&self, bodies: &Bodies) -> &BoxTree {
        self.tree.get_or_init(|| {
            let bounded = bodies.iter().map(|(id, entry)| (id.slot(), tight_bounds(entry)));
            BoxTree::new(&bounded.filter(|(_, bounds)| is_bounded(bounds)).collect::<Vec<_>>())
        })
    }

    /// The ball of a slot without a body is that of any.
    fn balls(&self, bodies: &Bodies) -> &[Sphere] {
        self.balls.get_or_init(|| {
            let mut balls = Vec::new();
            for (id, entry) in bodies.iter() {
                balls.resize(id.index() + 1, Sphere { centre: DVec3::ZERO, radius: f64::INFINITY });
                balls[id.index()] = entry.body.shape.geometry().ball(&entry.body.pose);
            }
            balls
        })
    }

    /// What is not in the tree as it is now.
    fn loose(&self, bodies: &Bodies) -> &[u32] {
        self.loose.get_or_init(|| {
            let unbounded =
                bodies.iter().filter(|(_, entry)| !is_bounded(&bounds_now(entry))).map(|(id, _)| id.slot());
            let mut loose: Vec<u32> = unbounded.chain(self.changed.iter().copied()).collect();
            loose.sort_unstable();
            loose.dedup();
            loose
        })
    }

    fn is_current(&self, slot: u32) -> bool {
        !self.is_changed.get(slot as usize).is_some_and(|changed| *changed)
    }

    /// Visits the bodies whose boxes, grown by `grown` on each side, the ray enters before the parameter that `visit`
    /// last returned.
    pub fn along_ray(
        &self,
        bodies: &Bodies,
        [origin, direction]: [DVec3; 2],
        grown: DVec3,
        mut reach: f64,
        visit: &mut dyn FnMut(u32, &Entry, f64) -> f64,
    ) {
        for &slot in self.loose(bodies) {
            let Some(entry) = bodies.at(slot) else { continue };
            let now = bounds_now(entry);
            let pad = grown + (origin.abs().max_element() + 1.0) * f64::EPSILON;
            let bounds = Aabb { low: now.low - pad, high: now.high + pad };
            if !is_bounded(&now) || bounds.entered_by(origin, direction, reach).is_some() {
                reach = visit(slot, entry, reach);
            }
        }
        let balls = self.balls(bodies);
        // A point of a body that is grown is so much farther from its ball; edges of primitives take rounding for a touch.
        let farther = grown.length() + 4.0 * origin.abs().max_element() * PLACED_BOX_ROUNDING;
        let along = direction / direction.abs().max_element();
        let square = along.length_squared() * (1.0 + PLACED_BOX_ROUNDING);
        self.tree(bodies).along_ray([origin, direction], grown, reach, &mut |slot| {
            bodies.prefetch(slot);
            if let Some(Sphere { centre, radius }) = balls.get(slot as usize) {
                let reach_sq = (radius + farther).powi(2) * square;
                if (centre - origin).cross(along).length_squared() > reach_sq {
                    return reach;
                }
            }
            if let Some(entry) = bodies.at(slot).filter(|_| self.is_current(slot)) {
                reach = visit(slot, entry, reach);
            }
            reach
        });
    }

    /// Visits the bodies whose boxes may meet this one.
    pub fn meeting(&self, bodies: &Bodies, bounds: &Aabb, visit: &mut dyn FnMut(u32, &Entry)) {
        for &slot in self.loose(bodies) {
            if let Some(entry) = bodies.at(slot).filter(|entry| bounds_now(entry).meets(bounds)) {
                visit(slot, entry);
            }
        }
        self.tree(bodies).meeting(bounds, &mut |slot| {
            if let Some(entry) = bodies.at(slot).filter(|_| self.is_current(slot)) {
                visit(slot, entry);
            }
        });
    }

    /// Visits the bodies whose boxes are at most as far from this one as what `visit` last returned; a box that may
    /// meet it is as near as can be. A body whose ball is farther away from `own`, a ball around the same as
    /// `bounds`, is passed over too.
    pub fn nearest(
        &self,
        bodies: &Bodies,
        (bounds, own): (&Aabb, &Sphere),
        mut limit: f64,
        visit: &mut dyn FnMut(u32, &Entry, f64) -> f64,
    ) {
        for &slot in self.loose(bodies) {
            let Some(entry) = bodies.at(slot) else { continue };
            if bounds_now(entry).gap(bounds) <= limit.max(0.0) {
                limit = visit(slot, entry, limit);
            }
        }
        let balls = self.balls(bodies);
        let size = own.centre.abs().max_element() + own.radius;
        self.tree(bodies).nearest(bounds, limit.max(0.0), &mut |slot, _| {
            if let Some(Sphere { centre, radius }) = balls.get(slot as usize) {
                let rounding = PLACED_BOX_ROUNDING * (size + centre.abs().max_element() + radius);
                if centre.distance(own.centre) - own.radius - radius - rounding > limit.max(0.0) {
                    return limit.max(0.0);
                }
            }
            if let Some(entry) = bodies.at(slot).filter(|_| self.is_current(slot)) {
                limit = visit(slot, entry, limit);
            }
            limit.max(0.0)
        });
    }
}

/// The box of a body as it stands now: that of the last step may be of another place.
fn bounds_now(entry: &Entry) -> Aabb {
    if entry.queued { entry.body.shape.bounds(&entry.body.pose) } else { entry.bounds }
}

/// The box that a body has in the tree.
fn tight_bounds(entry: &Entry) -> Aabb {
    entry.body.shape.geometry().tight_bounds(&entry.body.pose)
}

fn is_bounded(bounds: &Aabb) -> bool {
    bounds.low.is_finite() && bounds.high.is_finite()
}
