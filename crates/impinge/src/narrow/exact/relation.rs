//! How two placed meshes lie to each other, exactly: the five-valued relation of solids.
//!
//! The surfaces are searched for a crossing first: two triangles that pass through each other show in
//! nearly every case at once that the bodies intersect. Without any contact one point of each component
//! tells inside from outside, and so it does where only folds without volume meet. Where surfaces only touch, a plane of a touching triangle that parts the
//! bodies proves it; else every cell of the contact is looked at (`cell_classification.rs`).

use std::cell::{Cell, OnceCell};
use std::collections::HashSet;
use std::ops::ControlFlow;

use glam::{BVec3, DVec3};

use super::cell_classification::CellClassification;
use super::collide::{Candidate, Posed, SurfaceSearch, Witness};
use super::placed_mesh::PlacedMesh;
use super::single_sheet::is_single;
use super::temporal_coherence::{CoherenceMemory, Found, meeting_again};
use crate::contact::{Certainty, Counters, Finish, Outcome};
use crate::geom::triangle_triangle::{TriangleRelation, classify};
use crate::hierarchy::cancelled_triangles::CancelledTriangles;
use crate::hierarchy::dual::DualSearch;
use crate::hierarchy::relative::{Map, Relative};
use crate::hierarchy::wide::WideTree;
use crate::model::{Fact, Model};
use crate::num::predicate::{Plane, Sign};
use crate::{Budget, Pose, Relation};

/// How many touching triangles are tried as separating planes before all cells are looked at.
const PLANES_TRIED: usize = 4;

/// Which models stand where.
type PlacedModels = [(u64, Pose); 2];

/// What a relation remembers for the next one of the same two models; dropping it costs only speed.
#[derive(Debug, Clone, Default)]
pub struct RelationMemory {
    /// Triangles that crossed last time.
    witness: Option<[u32; 2]>,
    /// What the surfaces' own coherence keeps.
    surfaces: CoherenceMemory,
    /// The answer when the surfaces were found apart last; it holds for as long as they stay so.
    apart: Option<Relation>,
    /// A search that ran out of budget, and the models and poses it belongs to.
    unfinished: Option<Box<(DualSearch, PlacedModels, Contacts)>>,
}

/// How two placed meshes lie to each other, decided exactly on the placed doubles.
pub fn relation(a: &Model, pose_a: &Pose, b: &Model, pose_b: &Pose) -> Relation {
    let mut budget = Budget::UNLIMITED;
    let (found, _) = relation_within(a, pose_a, b, pose_b, &mut RelationMemory::default(), &mut budget);
    // An unlimited budget does not run out.
    found.unwrap_or(Relation::Separated)
}

/// As [`relation`], with memory between calls and a limit on the search for contact; `None` when the
/// budget ran out, and another call with the same memory and poses goes on.
pub fn relation_within(
    a: &Model,
    pose_a: &Pose,
    b: &Model,
    pose_b: &Pose,
    memory: &mut RelationMemory,
    budget: &mut Budget,
) -> (Option<Relation>, Outcome) {
    let certainty = Certainty::Exact;
    let mut work = Counters::default();
    let mut met = None;
    if budget.is_unlimited() && memory.unfinished.is_none() {
        let (settled, pair) = by_first_meeting([a, b], [pose_a, pose_b], memory, &mut work);
        if settled.is_some() {
            return (settled, Outcome { certainty, finish: Finish::Complete, work });
        }
        met = Some(pair);
    }
    let bodies = [PlacedMesh::new(a, pose_a), PlacedMesh::new(b, pose_b)];
    if !budget.is_unlimited() {
        let unknown = [a, b].iter().any(|model| !(model.knows(Fact::Topology) || model.is_small()));
        if unknown && budget.is_trial() {
            let (found, tried) = without_topology(bodies, budget);
            work = tried;
            if found.is_some() {
                return (found, Outcome { certainty, finish: Finish::Complete, work });
            }
        }
        if !(a.prepare(Fact::Topology, budget) && b.prepare(Fact::Topology, budget)) {
            return (None, Outcome { certainty, finish: Finish::OutOfBudget, work });
        }
    }
    let mut question = Question { classification: CellClassification::new(bodies), work };
    std::mem::swap(&mut question.classification.budget, budget);
    let (relation, finish) = question.answer(met, memory);
    std::mem::swap(&mut question.classification.budget, budget);
    question.work.primitive_tests += question.classification.tests;
    (relation, Outcome { certainty, finish, work: question.work })
}

/// What the first pair of triangles that meet tells, or that none do, and the pair: nearly always the answer. Also notes
/// in the memory what helps the next question.
fn by_first_meeting(
    models: [&Model; 2],
    poses: [&Pose; 2],
    memory: &mut RelationMemory,
    work: &mut Counters,
) -> (Option<Relation>, Option<[u32; 2]>) {
    let posed = [0, 1].map(|x| Posed::new(models[x], *poses[x]));
    if let Some(pair) = memory.witness.filter(|&pair| is_crossing(&posed, pair)) {
        work.primitive_tests += 1;
        if crossing_settles(&posed, pair, &relative_of(&posed)) {
            return (Some(Relation::Intersecting), Some(pair));
        }
    }
    let (witness, how, known) = meeting_again(posed[0], posed[1], &mut memory.surfaces);
    *work += memory.surfaces.work();
    let found = OnceCell::new();
    let relative = || known.as_ref().unwrap_or_else(|| found.get_or_init(|| relative_of(&posed)));
    let pair = witness.map(|witness| witness.triangles);
    let settled = match (witness, how, memory.apart) {
        (None, Found::StillFree, Some(relation)) => Some(relation),
        (None, ..) => parts_are_outside(models, relative()).then_some(Relation::Separated),
        (Some(Witness { triangles, crossing, .. }), ..) => {
            let (crosses, relative) = (crossing || is_crossing(&posed, triangles), relative());
            if crosses && crossing_settles(&posed, triangles, relative) {
                Some(Relation::Intersecting)
            } else {
                touch_by_cancelled(&posed, triangles, relative, work)
            }
        }
    };
    memory.apart = settled.filter(|_| pair.is_none());
    if settled != Some(Relation::Touching) && settled.is_some() {
        memory.witness = pair.or(memory.witness);
    }
    (settled, pair)
}

/// Whether two closed bodies of which this pair of triangles meets only touch, because they meet nowhere but in triangles
/// that are cancelled by copies of them.
///
/// Such triangles change no winding, so the other ones bound the solids. Each component of these has no point of
/// the others of the other body and a corner outside of all of it, so it lies outside as a whole, and no cell is in both.
fn touch_by_cancelled(
    [a, b]: &[Posed<'_>; 2],
    pair: [u32; 2],
    relative: &Relative,
    work: &mut Counters,
) -> Option<Relation> {
    let models = [a.model, b.model];
    if !models.iter().all(|model| model.topology().is_closed()) {
        return None;
    }
    let cancelled = models.map(|model| model.cancelled_triangles());
    let is_cancelled =
        |pair: [u32; 2]| (0..2).any(|x| cancelled[x].is_some_and(|known| known.contains(pair[x])));
    let Relative { a_in_b, b_in_a, .. } = relative;
    let out = |x: usize, into: &Map, back: &Map| {
        let extremes = cancelled[x].map_or_else(|| models[x].component_extremes(), CancelledTriangles::rest);
        extremes.all_beyond(models[1 - x].tree(), into, back)
    };
    if !is_cancelled(pair) || !out(0, a_in_b, b_in_a) || !out(1, b_in_a, a_in_b) {
        return None;
    }
    let mut search = SurfaceSearch::new(*a, *b);
    let finish = search.advance(&mut Budget::UNLIMITED.clone(), |pair| {
        let is_passed = is_cancelled(pair.triangles) || !pair.meets();
        if is_passed { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    *work += search.work();
    (finish == Finish::Complete).then_some(Relation::Touching)
}

/// What can be told of two bodies without knowing how their surfaces hang together, and its cost: that their boxes
/// are apart, or that two triangles cross of which no other covers a part, with each body reaching out of the other.
/// Closed or not, they intersect then.
fn without_topology(bodies: [PlacedMesh<'_>; 2], budget: &mut Budget) -> (Option<Relation>, Counters) {
    let [a, b] = &bodies;
    let ([low_a, high_a], [low_b, high_b]) = (a.bounds(), b.bounds());
    if (high_a.cmplt(low_b) | high_b.cmplt(low_a)).any() {
        return (Some(Relation::Separated), Counters::default());
    }
    let mut search = SurfaceSearch::new(Posed::new(a.model, *a.pose), Posed::new(b.model, *b.pose));
    let mut crossing = None;
    search.advance(budget, |pair| {
        let [t, u] = pair.corners();
        if classify(&t, &u) == TriangleRelation::Cross {
            crossing = Some(pair.triangles);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    let shown = crossing.is_some_and(|[t, u]| {
        let relative = relative_of(&[Posed::new(a.model, *a.pose), Posed::new(b.model, *b.pose)]);
        reach_out([a.model, b.model], &relative) == [true; 2] && is_single(a, t, b, u)
    });
    (shown.then_some(Relation::Intersecting), search.work())
}

/// The relation of two placed meshes whose surfaces are known to have no point in common: which is inside which.
pub fn relation_of_disjoint(a: &Model, pose_a: &Pose, b: &Model, pose_b: &Pose) -> Relation {
    if parts_are_outside([a, b], &relative_of(&[Posed::new(a, *pose_a), Posed::new(b, *pose_b)])) {
        return Relation::Separated;
    }
    let bodies = [PlacedMesh::new(a, pose_a), PlacedMesh::new(b, pose_b)];
    let mut question =
        Question { classification: CellClassification::new(bodies), work: Counters::default() };
    // Without a limit there is always an answer.
    question.conclude(&Contacts::default()).unwrap_or(Relation::Separated)
}

/// The relation of two placed meshes of which these triangles meet, where that alone shows it; `None` where they only
/// touch, or one body may lie in the other.
pub(crate) fn relation_by_crossing(
    a: &Model,
    pose_a: &Pose,
    b: &Model,
    pose_b: &Pose,
    pair: [u32; 2],
) -> Option<Relation> {
    let bodies = [PlacedMesh::new(a, pose_a), PlacedMesh::new(b, pose_b)];
    let mut question =
        Question { classification: CellClassification::new(bodies), work: Counters::default() };
    question.settles(pair).then_some(Relation::Intersecting)
}

/// Whether two placed meshes have the same surface, exactly: the same triangles in whatever order and orientation, or,
/// where both are closed, other triangles of the same points. `None` when the budget ended first.
pub(crate) fn have_same_surface(
    a: &Model,
    pose_a: &Pose,
    b: &Model,
    pose_b: &Pose,
    budget: &mut Budget,
) -> Option<bool> {
    if !(a.prepare(Fact::Topology, budget) && b.prepare(Fact::Topology, budget)) {
        return None;
    }
    let bodies = [PlacedMesh::new(a, pose_a), PlacedMesh::new(b, pose_b)];
    let mut question =
        Question { classification: CellClassification::new(bodies), work: Counters::default() };
    std::mem::swap(&mut question.classification.budget, budget);
    let found = question.is_same_body();
    std::mem::swap(&mut question.classification.budget, budget);
    found
}

/// Two placed bodies and what is known of them.
struct Question<'m> {
    classification: CellClassification<'m>,
    work: Counters,
}

/// The pairs that meet, as far as the search has come.
#[derive(Debug, Clone, Default)]
struct Contacts {
    pairs: Vec<[u32; 2]>,
    /// The latest crossing, when crossings are to stop the search.
    crossing: Option<[u32; 2]>,
    /// Whether crossings were tried and settled nothing, so that all pairs are wanted.
    want_all: bool,
    /// Whether two triangles share an area.
    coplanar: bool,
}

impl<'m> Question<'m> {
    /// `met` is the first pair that meets, as far as that was searched for and did not settle the answer.
    fn answer(
        &mut self,
        met: Option<Option<[u32; 2]>>,
        memory: &mut RelationMemory,
    ) -> (Option<Relation>, Finish) {
        let [a, b] = self.classification.bodies;
        // Whether a crossing settled nothing: where one surface is no border of its solid. Rare.
        let mut want_all = false;
        if let Some(pair) = met.unwrap_or(memory.witness).filter(|&pair| met.is_some() || self.crosses(pair))
        {
            self.work.primitive_tests += u64::from(met.is_none());
            if self.settles(pair) {
                memory.witness = Some(pair);
                return (Some(Relation::Intersecting), Finish::Complete);
            }
            // They touch there, or more has to be known: all pairs are wanted.
            want_all = met.is_some() && self.crosses(pair);
        }
        if met == Some(None) {
            let settled = self.conclude(&Contacts::default());
            memory.apart = settled;
            if settled.is_some() {
                return (settled, Finish::Complete);
            }
        }
        let posed = [a, b].map(|body| Posed::new(body.model, *body.pose));
        let placed: PlacedModels = [a, b].map(|body| (body.model.identity(), *body.pose));
        let (mut search, mut contacts) = match memory.unfinished.take().map(|unfinished| *unfinished) {
            Some((search, of, contacts)) if of == placed => {
                (SurfaceSearch::resume(posed[0], posed[1], search), contacts)
            }
            _ => {
                let contacts = Contacts { want_all, ..Contacts::default() };
                (SurfaceSearch::new(posed[0], posed[1]), contacts)
            }
        };
        let any_will_do = self.classification.facts.closed == [false; 2];
        loop {
            let before = search.work();
            let budget = &mut self.classification.budget;
            let finish = search.advance(budget, |pair| contacts.take(pair, any_will_do));
            self.work += search.work() - before;
            match (finish, contacts.crossing.take()) {
                (Finish::OutOfBudget, crossing) if self.classification.budget.rest_silently() => {
                    contacts.crossing = crossing;
                }
                (Finish::OutOfBudget, _) => {
                    memory.unfinished = Some(Box::new((search.into_search(), placed, contacts)));
                    return (None, Finish::OutOfBudget);
                }
                (_, None) => break,
                (_, Some(pair)) if self.settles(pair) => {
                    memory.witness = Some(pair);
                    return (Some(Relation::Intersecting), Finish::Complete);
                }
                _ if self.classification.cut_off => return (None, Finish::OutOfBudget),
                _ => {
                    contacts = Contacts { want_all: true, ..Contacts::default() };
                    search = SurfaceSearch::new(posed[0], posed[1]);
                }
            }
        }
        match self.conclude(&contacts) {
            Some(found) => (Some(found), Finish::Complete),
            None => (None, Finish::OutOfBudget),
        }
    }

    fn crosses(&self, pair: [u32; 2]) -> bool {
        is_crossing(&self.classification.bodies.map(|body| Posed::new(body.model, *body.pose)), pair)
    }

    /// Whether this pair of meeting triangles shows that the bodies intersect.
    fn settles(&mut self, pair: [u32; 2]) -> bool {
        let facts = &mut self.classification.facts;
        facts.contact = true;
        if facts.is_settled() {
            return true;
        }
        if !self.crosses(pair) {
            return false;
        }
        let [a, b] = self.classification.bodies;
        let relative = relative_of(&[a, b].map(|body| Posed::new(body.model, *body.pose)));
        let out = reach_out([a.model, b.model], &relative);
        (0..2).for_each(|x| self.classification.facts.out[x] |= out[x]);
        if self.classification.facts.closed == [true; 2] && is_single(&a, pair[0], &b, pair[1]) {
            // Both surfaces have different windings on their two sides here, so one quarter around the
            // crossing is in both solids.
            self.classification.facts.common = true;
        }
        if !self.classification.facts.is_settled() {
            self.classification.crossing(pair);
        }
        self.classification.facts.is_settled()
    }

    /// The answer when all pairs that meet are known; `None` when the budget ended first.
    fn conclude(&mut self, contacts: &Contacts) -> Option<Relation> {
        let [a, b] = self.classification.bodies;
        if contacts.coplanar && self.is_same_surface()? {
            return Some(Relation::Intersecting);
        }
        // Crossing triangles are parted by no plane.
        if self.classification.facts.closed == [true; 2]
            && !contacts.want_all
            && a_plane_parts(&a, &b, &contacts.pairs, |tests| self.classification.pay(tests))?
        {
            return Some(Relation::Touching);
        }
        self.classification.complete(&contacts.pairs);
        (!self.classification.cut_off).then(|| self.classification.facts.relation())
    }

    /// Whether both bodies have the same placed triangles, whatever their order and orientation.
    fn is_same_surface(&mut self) -> Option<bool> {
        let [a, b] = self.classification.bodies;
        let [m, n] = [a, b].map(|body| body.model.mesh().triangles().len());
        if m != n {
            return Some(false);
        }
        self.classification.pay((m + n) as u64).then(|| sorted_triangles(&a) == sorted_triangles(&b))
    }

    /// Whether both bodies have the same surface, in whatever triangles where they are closed.
    fn is_same_body(&mut self) -> Option<bool> {
        let bodies = self.classification.bodies;
        let corners = bodies.iter().map(|body| body.model.mesh().triangles().len() as u64).sum();
        if !self.classification.pay(corners) {
            return None;
        }
        // The same points have the same box.
        if corner_box(&bodies[0]) != corner_box(&bodies[1]) {
            return Some(false);
        }
        Some(self.is_same_surface()? || self.is_same_in_other_triangles()?)
    }

    /// Whether both closed bodies have the same surface in other triangles.
    fn is_same_in_other_triangles(&mut self) -> Option<bool> {
        let [a, b] = self.classification.bodies;
        if self.classification.facts.closed != [true; 2] {
            return Some(false);
        }
        let mut search = SurfaceSearch::new(Posed::new(a.model, *a.pose), Posed::new(b.model, *b.pose));
        let mut contacts = Contacts { want_all: true, ..Contacts::default() };
        let budget = &mut self.classification.budget;
        while search.advance(budget, |pair| contacts.take(pair, false)) == Finish::OutOfBudget {
            if !budget.rest_silently() {
                return None;
            }
        }
        let meets = |x: usize| contacts.pairs.iter().map(|pair| pair[x]).collect::<HashSet<u32>>().len();
        if [meets(0), meets(1)] != [a, b].map(|body| body.model.mesh().triangles().len()) {
            return Some(false);
        }
        self.classification.complete(&contacts.pairs);
        let facts = &self.classification.facts;
        (!self.classification.cut_off).then(|| !facts.is_settled() && facts.is_same_surface())
    }
}

impl Contacts {
    /// Keeps a pair that meets; `Break` at a pair that may settle the answer.
    fn take(&mut self, pair: &Candidate<'_>, any_will_do: bool) -> ControlFlow<()> {
        let [a, b] = pair.corners();
        let meeting = classify(&a, &b);
        if meeting == TriangleRelation::Apart {
            return ControlFlow::Continue(());
        }
        self.pairs.push(pair.triangles);
        self.coplanar |= meeting == TriangleRelation::Coplanar;
        if any_will_do || meeting == TriangleRelation::Cross && !self.want_all {
            self.crossing = Some(pair.triangles);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// How the trees of two placed models lie to each other.
fn relative_of([a, b]: &[Posed<'_>; 2]) -> Relative {
    Relative::new(a.model.tree(), &a.pose, b.model.tree(), &b.pose, 0.0)
}

/// Whether these triangles exist and pass through each other.
fn is_crossing([a, b]: &[Posed<'_>; 2], [t, u]: [u32; 2]) -> bool {
    let known = |body: &Posed<'_>, t: u32| (t as usize) < body.model.mesh().triangles().len();
    known(a, t) && known(b, u) && classify(&a.corners(t), &b.corners(u)) == TriangleRelation::Cross
}

/// Whether this pair of crossing triangles shows that two closed bodies intersect: each body reaches out of the other,
/// and no other triangles cover the crossing. Both surfaces have different windings on their two sides there, so one
/// quarter around the crossing is in both solids.
fn crossing_settles([a, b]: &[Posed<'_>; 2], [t, u]: [u32; 2], relative: &Relative) -> bool {
    a.model.topology().is_closed()
        && b.model.topology().is_closed()
        && reach_out([a.model, b.model], relative) == [true; 2]
        // A copy covers them.
        && !(a.model.is_known_as_cancelled(t) || b.model.is_known_as_cancelled(u))
        && (are_surely_single(a.model, t, b.model, u, relative)
            || is_single(&PlacedMesh::new(a.model, &a.pose), t, &PlacedMesh::new(b.model, &b.pose), u))
}

/// Whether no other triangle covers a part of either of these, as is known of the meshes by themselves.
fn are_surely_single(a: &Model, t: u32, b: &Model, u: u32, relative: &Relative) -> bool {
    a.is_surely_uncovered(t, relative.placement) && b.is_surely_uncovered(u, relative.placement)
}

/// Whether every component of either body surely has a corner outside of the other; surfaces without contact are then
/// separated.
fn parts_are_outside([a, b]: [&Model; 2], relative: &Relative) -> bool {
    let Relative { a_in_b, b_in_a, .. } = relative;
    let out = |body: &Model, other: &Model, into: &Map, back: &Map| {
        body.component_extremes().all_outside(other.tree(), into, back)
            || body.topology().components().len() == 1 && reaches_out(body.tree(), other.tree(), into)
    };
    out(a, b, a_in_b, b_in_a) && out(b, a, b_in_a, a_in_b)
}

/// Whether each of two bodies surely reaches out of the other: a corner of it, where extreme ones are known, or a box of its
/// tree. A way out is sought last: between bodies that cross it mostly meets triangles.
fn reach_out([a, b]: [&Model; 2], relative: &Relative) -> [bool; 2] {
    let Relative { a_in_b, b_in_a, .. } = relative;
    let out = |body: &Model, other: &Model, into: &Map, back: &Map| {
        let extremes = body.knows(Fact::ComponentExtremes).then(|| body.component_extremes());
        extremes.is_some_and(|extremes| extremes.any_beyond(other.tree(), into, back))
            || reaches_out(body.tree(), other.tree(), into)
            || extremes.is_some_and(|extremes| extremes.first_has_way_out(other.tree(), into))
    };
    [out(a, b, a_in_b, b_in_a), out(b, a, b_in_a, a_in_b)]
}

/// Whether some box of one tree, on the way to the part that sticks out most, lies beside the other tree's
/// whole box: the triangles in it are outside of the other body, whatever that is.
fn reaches_out(tree: &WideTree, other: &WideTree, into: &Map) -> bool {
    let [low, high] = other.bounds();
    let ends = [0, 1, 2].map(|k| [low[k], high[k]]);
    let mut node = Some(0);
    while let Some(index) = node {
        // How far the box's centre is beyond the room, and whether all of the box is.
        let (mut farthest, mut next) = (f32::NEG_INFINITY, None);
        let here = &tree.nodes()[index];
        for lane in here.used() {
            let (centre, half) = here.lane(lane);
            for (k, [low, high]) in ends.into_iter().enumerate() {
                let row = into.turn[k];
                let c = row[0] * centre[0] + row[1] * centre[1] + row[2] * centre[2] + into.shift[k];
                let h =
                    row[0].abs() * half[0] + row[1].abs() * half[1] + row[2].abs() * half[2] + into.pad[k];
                let beyond = (c - high).max(low - c);
                if beyond > h {
                    return true;
                }
                if beyond > farthest {
                    (farthest, next) = (beyond, here.child[lane].as_node());
                }
            }
        }
        node = next;
    }
    false
}

/// Whether the plane of a touching triangle has all of one body on its one side and all of the other on
/// its other, each with a corner off it: the closed bodies touch and nothing more. `None` when the tests cannot be
/// paid.
fn a_plane_parts(
    a: &PlacedMesh<'_>,
    b: &PlacedMesh<'_>,
    contacts: &[[u32; 2]],
    mut pay: impl FnMut(u64) -> bool,
) -> Option<bool> {
    for &[t, u] in contacts.iter().take(PLANES_TRIED) {
        for [p, q, r] in [a.corners(t), b.corners(u)] {
            let plane = Plane::through(p, q, r);
            let mut sides = [None; 2];
            for (side, body) in sides.iter_mut().zip([a, b]) {
                let tests;
                (*side, tests) = one_side(body, &plane);
                if !pay(tests) {
                    return None;
                }
            }
            if let [Some(Sign::Positive), Some(Sign::Negative)]
            | [Some(Sign::Negative), Some(Sign::Positive)] = sides
            {
                return Some(true);
            }
        }
    }
    Some(false)
}

/// The side of a plane on which all of a body is; zero for within the plane, `None` for both sides. Also how many
/// boxes and triangles were looked at.
///
/// A box is convex: with all eight corners on one side, so is what it holds.
fn one_side(body: &PlacedMesh<'_>, plane: &Plane) -> (Option<Sign>, u64) {
    let (side, tests) = (Cell::new(Some(Sign::Zero)), Cell::new(0));
    let note = |here: Sign| {
        side.set(side.get().filter(|side| side.times(here) != Sign::Negative).map(|side| side.or(here)));
        side.get().is_some()
    };
    let straddles = |[low, high]: [DVec3; 2]| {
        tests.set(tests.get() + 1);
        let first = plane.side(low);
        let others = (1..8).map(|k| DVec3::select(BVec3::new(k & 1 > 0, k & 2 > 0, k & 4 > 0), high, low));
        first.is_zero() || others.into_iter().any(|p| plane.side(p) != first) || !note(first)
    };
    body.in_boxes(
        |corners| side.get().is_some() && straddles(corners),
        |t| {
            tests.set(tests.get() + 1);
            let one_sided = body.corners(t).into_iter().all(|p| note(plane.side(p)));
            if one_sided { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    (side.get(), tests.get())
}

/// The smallest and the largest coordinates of the corners.
fn corner_box(body: &PlacedMesh<'_>) -> [DVec3; 2] {
    let corners = (0..body.model.mesh().triangles().len() as u32).flat_map(|t| body.corners(t));
    corners.fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], p| [low.min(p), high.max(p)])
}

/// The placed triangles, whatever their order and orientation; −0 is 0.
fn sorted_triangles(body: &PlacedMesh<'_>) -> Vec<[[u64; 3]; 3]> {
    let key = |p: DVec3| (p + DVec3::ZERO).to_array().map(f64::to_bits);
    let mut all: Vec<[[u64; 3]; 3]> = (0..body.model.mesh().triangles().len() as u32)
        .map(|t| {
            let mut corners = body.corners(t).map(key);
            corners.sort_unstable();
            corners
        })
        .collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
#[path = "relation_tests.rs"]
mod tests;
