//! The same two bodies, again and again, moving little: what the last answer says about the next.
//!
//! Bodies that met are tried at the triangles where they met, then among those around. Bodies that were
//! apart keep a certificate: at some earlier place they were at least so far apart, and they cannot meet
//! before they have moved by as much. A certificate costs a search with a margin, some steps of the
//! observed motion wide; it ends at the first triangles within. How wide the margin is follows what
//! succeeded before; where even three steps are too wide, plain searches are made for a while. After Mirtich,
//! "Timewarp rigid body simulation", 2000, and Lin and Canny, 1991, for the idea of bounded motion. The
//! memory is only a hint: each shortcut is proved at the placement asked for.

use std::ops::ControlFlow;

use glam::{DMat3, DVec3};

use super::collide::{Posed, SurfaceSearch, Witness};
use crate::geom::triangle_triangle::meet;
use crate::hierarchy::relative::{Relative, placement_error};
use crate::hierarchy::wide::{TreeFrame, WideTree};
use crate::num::tolerance::STRETCH;
use crate::{Budget, Counters, Finish};

#[cfg(test)]
#[path = "temporal_coherence_tests.rs"]
mod tests;

/// Steps of the last motion that the first margin is wide.
const STEPS_AT_FIRST: f64 = 8.0;
/// The widest margin, in steps.
const STEPS_MOST: f64 = 64.0;
/// A certificate for fewer steps than this is not worth its search.
const STEPS_LEAST: f64 = 3.0;
/// Plain searches after the first failure of the narrowest margin; doubled with each further one.
const PLAIN_AT_FIRST: u32 = 4;
/// Most plain searches in a row without another try.
const PLAIN_MOST: u32 = 64;

/// What is kept between two questions about the same two models; dropping it costs time only.
///
/// A memory of other models is noticed and not used.
#[derive(Debug, Clone)]
pub struct CoherenceMemory {
    last: Option<Witness>,
    free: Option<Free>,
    before: Option<RelativePlacement>,
    /// How wide the next margin is, in steps.
    steps: f64,
    /// Whether the last margin was free: only a second success in a row makes the next one wider.
    succeeded: bool,
    /// Plain searches to be made before the next margin.
    plain: u32,
    /// How many there will be after the next failure.
    patience: u32,
    work: Counters,
}

impl Default for CoherenceMemory {
    fn default() -> CoherenceMemory {
        CoherenceMemory {
            last: None,
            free: None,
            before: None,
            steps: STEPS_AT_FIRST,
            succeeded: false,
            plain: 0,
            patience: PLAIN_AT_FIRST,
            work: Counters::default(),
        }
    }
}

impl CoherenceMemory {
    /// What the last question cost: Nv box pairs, Np triangle pairs.
    pub fn work(&self) -> Counters {
        self.work
    }
}

/// At `at` the surfaces were at least `gap` apart (a length in the world).
#[derive(Debug, Clone, Copy)]
struct Free {
    at: RelativePlacement,
    gap: f64,
}

/// How an answer was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The triangles that met last time meet again, or some beside them do.
    Again,
    /// The bodies have moved less than they were apart.
    StillFree,
    /// By a search.
    Searched,
}

/// As [`first_meeting`](super::collide::first_meeting), with the help of what an earlier call left in the memory.
///
/// Whether there is a pair is always the same as without; which one is named can differ.
#[cfg(any(test, feature = "unstable"))]
pub fn first_meeting_again(
    a: Posed<'_>,
    b: Posed<'_>,
    memory: &mut CoherenceMemory,
) -> (Option<[u32; 2]>, Found) {
    let (witness, how, _) = meeting_again(a, b, memory);
    (witness.map(|witness| witness.triangles), how)
}

/// As [`first_meeting_again`], with all that is known of the pair, and how the trees lie to each other where a search has
/// found that out.
pub(super) fn meeting_again(
    a: Posed<'_>,
    b: Posed<'_>,
    memory: &mut CoherenceMemory,
) -> (Option<Witness>, Found, Option<Relative>) {
    memory.work = Counters::default();
    if let Some(witness) = memory.meets_again(&a, &b) {
        (memory.free, memory.before) = (None, None);
        return (Some(witness), Found::Again, None);
    }
    let now = RelativePlacement::new(&a, &b);
    let tree = b.model.tree();
    let step = memory.before.replace(now).map_or(0.0, |before| now.moved_since(&before, tree));
    let still_free =
        |free: Free| STRETCH * now.moved_since(&free.at, tree) + now.doubt + free.at.doubt < free.gap;
    if memory.free.is_some_and(still_free) {
        return (None, Found::StillFree, None);
    }
    memory.free = None;
    if memory.is_free_ahead(a, b, now, step) {
        return (None, Found::Searched, None);
    }
    let mut search = SurfaceSearch::new(a, b);
    let found = memory.beside(&mut search);
    if found.is_some() {
        memory.last = found;
    } else {
        if memory.last.is_some() {
            search.restart([0, 0]);
        }
        memory.last = search.first();
    }
    memory.work += search.work();
    let how = if found.is_some() { Found::Again } else { Found::Searched };
    (memory.last, how, Some(*search.relative()))
}

impl CoherenceMemory {
    /// The triangles that met last time, if they do so again.
    fn meets_again(&mut self, a: &Posed<'_>, b: &Posed<'_>) -> Option<Witness> {
        let last = self.last?;
        let Witness { triangles: [i, j], slots: [x, y], .. } = last;
        self.work.primitive_tests += 1;
        // The memory may stem from other models.
        let exists = |body: &Posed<'_>, index: u32| (index as usize) < body.model.mesh().triangles().len();
        if !(exists(a, i.max(x)) && exists(b, j.max(y))) {
            self.last = None;
            return None;
        }
        // How they meet may have changed.
        meet(&a.corners(i), &b.corners(j)).then_some(Witness { crossing: false, ..last })
    }

    /// Whether triangles in the bottom nodes of those that met last time meet.
    fn beside(&self, search: &mut SurfaceSearch<'_>) -> Option<Witness> {
        let Witness { slots, .. } = self.last?;
        search.restart(search.bottoms_of(slots));
        search.first()
    }

    /// Whether nothing is within a margin of some steps; then a certificate is kept.
    fn is_free_ahead(&mut self, a: Posed<'_>, b: Posed<'_>, now: RelativePlacement, step: f64) -> bool {
        let margin = self.steps * step;
        // Bodies that met last time are hardly that far apart.
        if self.last.is_some() || !(margin > 0.0 && margin.is_finite()) {
            return false;
        }
        if self.plain > 0 {
            self.plain -= 1;
            return false;
        }
        let mut search = SurfaceSearch::within(a, b, margin);
        let finish = search.advance(&mut Budget::UNLIMITED.clone(), |_| ControlFlow::Break(()));
        self.work += search.work();
        if finish == Finish::Complete {
            self.free = Some(Free { at: now, gap: margin / STRETCH });
            if self.succeeded {
                self.steps = (2.0 * self.steps).min(STEPS_MOST);
            }
            self.patience = PLAIN_AT_FIRST;
            self.succeeded = true;
            return true;
        }
        self.succeeded = false;
        self.steps *= 0.5;
        if self.steps < STEPS_LEAST {
            self.steps = STEPS_LEAST;
            self.plain = self.patience;
            self.patience = (2 * self.patience).min(PLAIN_MOST);
        }
        false
    }
}

/// Where b is, seen from a, in the mesh frames.
#[derive(Debug, Clone, Copy)]
struct RelativePlacement {
    turn: DMat3,
    shift: DVec3,
    /// [`Model::identity`](crate::model::Model::identity) of both.
    models: [u64; 2],
    /// What rounding can hide (a length in the world).
    doubt: f64,
}

impl RelativePlacement {
    fn new(a: &Posed<'_>, b: &Posed<'_>) -> RelativePlacement {
        let inverse = a.pose.matrix().inverse();
        let (tree_a, tree_b) = (a.model.tree(), b.model.tree());
        RelativePlacement {
            turn: inverse * b.pose.matrix(),
            shift: inverse * (b.pose.translation() - a.pose.translation()),
            models: [a.model.identity(), b.model.identity()],
            doubt: 8.0 * placement_error(tree_a, &a.pose, tree_b, &b.pose),
        }
    }

    /// The farthest way any point of b, whose tree this is, has gone, seen from a; infinite between different models.
    fn moved_since(&self, before: &RelativePlacement, tree: &WideTree) -> f64 {
        if self.models != before.models {
            return f64::INFINITY;
        }
        let TreeFrame { centre, unit, .. } = *tree.frame();
        let [low, high] = tree.bounds().map(|corner| corner.as_dvec3() * unit);
        let turn = self.turn - before.turn;
        let way = turn * (centre + 0.5 * (low + high)) + (self.shift - before.shift);
        // No component of turn·x exceeds |turn|·|x|.
        let DVec3 { x, y, z } = 0.5 * (high - low);
        let round = turn.x_axis.abs() * x + turn.y_axis.abs() * y + turn.z_axis.abs() * z;
        way.length() + round.length()
    }
}
