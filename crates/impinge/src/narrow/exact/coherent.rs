//! The same two bodies, again and again, moving little: what the last answer says about the next.
//!
//! Bodies that met are tried at the triangles where they met. Bodies that were apart keep a certificate:
//! at some earlier place they were at least so far apart, and they cannot meet before they have moved by
//! as much. To make the certificate last, a search looks a few steps of the observed motion ahead; where
//! the gap is too small for that, plain searches are cheaper and are made instead. After Mirtich,
//! "Timewarp rigid body simulation", 2000, and Lin and Canny, 1991, for the idea of bounded motion. The
//! memory is only a hint: each shortcut is proved at the placement asked for.

use std::ops::ControlFlow;

use glam::{DMat3, DVec3};

use super::collide::{Posed, SurfaceSearch, for_each_meeting};
use crate::geom::triangle_distance::nearest;
use crate::geom::triangle_triangle::meet;
use crate::hierarchy::relative::placement_error;
use crate::hierarchy::wide::Frame;
use crate::{Budget, Counters};

#[cfg(test)]
#[path = "coherent_tests.rs"]
mod tests;

/// How many steps of the last motion a search looks ahead.
const STEPS_AHEAD: f64 = 8.0;
/// Triangle pairs whose distance is computed for a certificate before it is given up.
const NEAR_MOST: usize = 24;
/// Plain searches after a certificate that would not have lasted a step.
const PLAIN_AFTER_FAILURE: u32 = 32;
/// Distances in a frame that is orthonormal within 1e-4 against those in the world, both ways and with
/// the rounding of a few f64 operations (no unit).
const STRETCH: f64 = 1.001;

/// What is kept between two questions about the same two models; dropping it costs time only.
///
/// Drop it when a mesh deforms. A memory of other models is noticed by their sizes and not used.
#[derive(Debug, Clone, Default)]
pub struct PairMemory {
    last: Option<[u32; 2]>,
    free: Option<Free>,
    before: Option<Between>,
    plain: u32,
    work: Counters,
}

impl PairMemory {
    /// What the last question cost: Nv box pairs, Np triangle pairs.
    pub fn work(&self) -> Counters {
        self.work
    }
}

/// At `at` the surfaces were at least `gap` apart (a length in the world).
#[derive(Debug, Clone, Copy)]
struct Free {
    at: Between,
    gap: f64,
}

/// How an answer was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The triangles that met last time meet again.
    Again,
    /// The bodies have moved less than they were apart.
    StillFree,
    /// By a search.
    Searched,
}

/// As [`first_meeting`](super::collide::first_meeting), with the help of what an earlier call left in the memory.
///
/// Whether there is a pair is always the same as without; which one is named can differ.
pub fn first_meeting_again(a: Posed<'_>, b: Posed<'_>, memory: &mut PairMemory) -> (Option<[u32; 2]>, Found) {
    memory.work = Counters::default();
    let again = |[i, j]: [u32; 2]| exists(&a, &b, [i, j]) && meet(&a.corners(i), &b.corners(j));
    memory.work.primitive_tests += u64::from(memory.last.is_some());
    if memory.last.is_some_and(again) {
        (memory.free, memory.before) = (None, None);
        return (memory.last, Found::Again);
    }
    let now = Between::new(&a, &b);
    let step = memory.before.replace(now).map_or(0.0, |before| now.moved_since(&before));
    let still_free = |free: Free| STRETCH * now.moved_since(&free.at) + now.doubt + free.at.doubt < free.gap;
    if memory.free.is_some_and(still_free) {
        return (None, Found::StillFree);
    }
    memory.free = None;
    let ahead = if memory.plain > 0 { 0.0 } else { STEPS_AHEAD * step };
    memory.plain = memory.plain.saturating_sub(1);
    if ahead > 0.0 && ahead.is_finite() {
        match look_ahead(a, b, ahead, &mut memory.work) {
            Ahead::Meet(pair) => {
                memory.last = Some(pair);
                return (memory.last, Found::Searched);
            }
            Ahead::Gap(gap) => {
                memory.last = None;
                memory.free = Some(Free { at: now, gap });
                if gap < step {
                    memory.plain = PLAIN_AFTER_FAILURE;
                }
                return (None, Found::Searched);
            }
            Ahead::TooNear => memory.plain = PLAIN_AFTER_FAILURE,
        }
    }
    memory.last = None;
    let work = for_each_meeting(a, b, |i, j| {
        memory.last = Some([i, j]);
        ControlFlow::Break(())
    });
    memory.work += work;
    (memory.last, Found::Searched)
}

/// Whether the models have such triangles: the memory may stem from others.
fn exists(a: &Posed<'_>, b: &Posed<'_>, [i, j]: [u32; 2]) -> bool {
    let count = |body: &Posed<'_>| body.model.mesh().triangles().len();
    (i as usize) < count(a) && (j as usize) < count(b)
}

/// What a search within some margin finds.
enum Ahead {
    /// Two triangles that meet.
    Meet([u32; 2]),
    /// The surfaces are at least so far apart, up to the margin.
    Gap(f64),
    /// Too many triangles are that near: a plain search is cheaper.
    TooNear,
}

/// Looks for a meeting pair and for how far the surfaces are apart at least, up to `ahead`.
fn look_ahead(a: Posed<'_>, b: Posed<'_>, ahead: f64, work: &mut Counters) -> Ahead {
    let mut found = Ahead::Gap(ahead);
    let mut left = NEAR_MOST;
    let mut search = SurfaceSearch::within(a, b, ahead);
    search.advance(&mut Budget::UNLIMITED.clone(), |pair| {
        let [x, y] = &pair.corners;
        let near = nearest(x, y);
        match &mut found {
            _ if left == 0 => found = Ahead::TooNear,
            Ahead::Gap(gap) if near.disjoint => {
                left -= 1;
                *gap = gap.min(near.distance / STRETCH);
                return ControlFlow::Continue(());
            }
            _ if meet(x, y) => found = Ahead::Meet(pair.triangles),
            // Nearer than rounding can tell, yet apart: no certificate could last.
            _ => found = Ahead::TooNear,
        }
        ControlFlow::Break(())
    });
    *work += search.work();
    found
}

/// Where b is, seen from a, in the mesh frames.
#[derive(Debug, Clone, Copy)]
struct Between {
    turn: DMat3,
    shift: DVec3,
    /// The frames of both trees, to know the models by.
    frames: [Frame; 2],
    /// What rounding can hide (a length in the world).
    doubt: f64,
}

impl Between {
    fn new(a: &Posed<'_>, b: &Posed<'_>) -> Between {
        let inverse = a.pose.matrix().inverse();
        let (tree_a, tree_b) = (a.model.tree(), b.model.tree());
        Between {
            turn: inverse * b.pose.matrix(),
            shift: inverse * (b.pose.translation() - a.pose.translation()),
            frames: [*tree_a.frame(), *tree_b.frame()],
            doubt: 8.0 * placement_error(tree_a, &a.pose, tree_b, &b.pose),
        }
    }

    /// The farthest way any point of b has gone, seen from a; infinite between different models.
    fn moved_since(&self, before: &Between) -> f64 {
        if self.frames != before.frames {
            return f64::INFINITY;
        }
        let Frame { centre, unit, reach } = self.frames[1];
        // √3 for the corner of the box.
        let radius = 1.8 * f64::from(reach) * unit;
        let turn = self.turn - before.turn;
        let way = turn * centre + (self.shift - before.shift);
        let frobenius = turn.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt();
        way.length() + frobenius * radius
    }
}
