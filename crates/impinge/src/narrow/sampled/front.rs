//! The front: pairs of facets that together cover all pairs of triangles of two bodies, each as coarse as it may be.
//!
//! Guy and Debunne (2004), sections 4.2 and 5.5: a pair whose facets may be in contact is replaced by pairs of
//! children, one that has parted by its parent; thresholds differ, so that nothing flickers; pairs that rest in
//! contact become coarser again. Where we leave the paper:
//! - All pairs of the coarsest facets are in the front from the beginning, so that it is complete: when every pair of
//!   it is apart by a proved gap, the surfaces are. (The paper keeps the nearest pairs only; here those are looked at
//!   first, `pair_list`.) This is the front of a traversal of two bounding-volume trees, kept from frame to frame
//!   (Klosowski et al. 1998).
//! - A pair that is c apart is not looked at again before the bodies have come c nearer to each other (`schedule`), so
//!   that a frame costs as much as there are near pairs, however large the meshes are.
//! - A pair in contact keeps two triangles that meet. While they do, nothing else of the pair is looked at.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use smallvec::SmallVec;

use super::cell::{self, Cell};
use super::course::{Course, Sight};
use super::facet_pair::{self, Gap};
use super::layers::Layers;
use super::meter::Meter;
use super::posed::{Flow, Posed};
use super::schedule::{Entry, Schedule, Waiting};
use super::self_pair::{Moment, Patches};
use super::shells::Facet;
use super::triangle_pair::{Meeting, Triangle, crossing_margin, meeting};
use crate::Pose;
use crate::contact::Counters;
use crate::num::random::bits;

/// No node, or no triangle.
pub(super) const NONE: u32 = u32::MAX;

/// A pair replaces its children when it is expected to stay apart for this many frames, so that it is not split again
/// at once.
const FRAMES_BEFORE_SPLIT: f64 = 6.0;

/// Part of the expected time to contact after which a pair is looked at (no unit): motions are not uniform.
const CAUTION: f64 = 0.7;

/// Frames for which the expectation is kept at most; a power of two.
const AHEAD: u32 = 64;

/// A pair of patches is among the nearest while its gap is below this factor times the least of either patch (no unit:
/// k of the paper's list, here for each patch).
const NEAREST: f64 = 1.2;

/// How much less often pairs that are not among the nearest are looked at (no unit).
const PATIENCE: f64 = 8.0;

/// Frames for which the least gap of a patch is remembered.
const REMEMBERED: u32 = 16;

/// Share of the tangential motion that counts as an approach where triangles are near (no unit): they are not flat.
const ROUGHNESS: f64 = 0.25;

/// Entries of the open list that are looked through in each step for those that no longer count.
const SWEPT: usize = 64;

/// Frames within which a pair that was merged and is split again counts as flicker.
const FLICKER: u32 = 4;

/// A crossing margin is computed only where the step is below this part of a triangle's size (no unit): above it the
/// margin would be used up by the next frame.
const SLOW: f64 = 0.25;

/// Pairs are split though they are apart where their gap is below this part of the larger patch's radius (no unit): a
/// pair with the gap g is looked at every g / step frames, and the gaps of the pairs that replace it are wider by about
/// a third of that radius. So one pair costs step / g a frame, the two that replace it 2 · step / (g + radius / 3).
const SHALLOW: f64 = 0.1;

/// The same in frames for which the gap lasts: what is looked at more seldom is not worth a split.
const SOON: f64 = 4.0;

/// A gap that was seen earlier counts as long as so much of it is left (no unit: a part of the present step).
const LEFT: f64 = 0.5;

/// Frames after which a pair next to a known contact is considered again.
const SHADOWED: u32 = 4;

/// How much wider than at a split the gap of a pair is that replaces its children (no unit).
const HYSTERESIS: f64 = 2.0;

/// Part of the larger patch's radius above which the gap of a child pair leaves room for its parent (no unit).
const ROOM: f64 = 0.25;

/// Part of a patch's radius above which the gap of its triangles is not measured any better (no unit).
const WIDE: f64 = 0.1;

/// What is known of a pair of facets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unused,
    /// Its children stand for it.
    Split,
    /// Apart until the reading of its `due`.
    Apart,
    /// Two triangles of it meet.
    Contact,
    /// Not known. Outside of [`Front::settle`] such a pair has an entry in the list of those.
    Open,
}

/// A pair of facets.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Groups of facets, or of one body with itself facets of these levels.
    facets: [u32; 2],
    levels: [u8; 2],
    state: State,
    /// Whether it is open and its weight counted among those.
    listed: bool,
    /// Whether it is open and left so because of a contact beside it.
    shadowed: bool,
    /// The share of all pairs of surface points that it stands for.
    weight: f32,
    parent: u32,
    child: u32,
    next: u32,
    /// Of its only entry in a queue that counts.
    stamp: u32,
    /// Of a pair that is apart: the frame in which its gap is expected to close.
    expected: u32,
    /// When it last replaced its children.
    merged_at: u32,
    /// Of a pair in contact: triangles that meet.
    witness: [u32; 2],
    /// Of a pair in contact: its place in the list of those.
    slot: u32,
    /// Of a pair in contact: the frame since which it has rested.
    since: u32,
    /// Of a pair in contact: its number among all that ever were, the same while it lasts.
    id: u64,
    /// When it was last taken out of the list of those; found again in that frame, it goes on.
    left_at: u32,
    /// Of a pair in contact: whether it replaced its children because they rested.
    rested: bool,
    /// Of a pair in contact: how its triangles lay to each other when it came to rest.
    seen: [f32; 3],
}

/// Two patches that no direction separates, or not by a gap that is worth keeping.
#[derive(Debug, Clone, Copy)]
struct Pending {
    node: u32,
    placed: [Facet; 2],
    gap: Gap,
}

/// What is told of a pair of two bodies in contact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touch {
    /// Groups of facets.
    pub groups: [u32; 2],
    /// Two triangles that meet now, where triangles are looked at.
    pub witness: Option<[u32; 2]>,
    /// The same while the contact lasts, not 0.
    pub id: u64,
}

/// A pair in contact.
#[derive(Debug, Clone, Copy)]
struct Held {
    node: u32,
    /// The reading until which its triangles certainly meet.
    due: f64,
    /// Where they do, about.
    at: Vec3,
}

/// How a front is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrontOptions {
    /// Whether both bodies are the same one.
    pub one: bool,
    /// Radius below which patches that may meet count as meeting without a look at triangles (a length); 0 for exact
    /// triangles.
    pub finest: f64,
    /// The largest radius of the patches that keep one pair of triangles that meet (a length).
    pub contact_size: f64,
    /// The largest number of unproved pairs that a step looks at in random order.
    pub most_random: usize,
    /// The largest number of pairs.
    pub most: usize,
    /// Length of a frame (seconds).
    pub frame: f32,
    /// Rest after which a pair in contact may become coarser (seconds).
    pub rest_after: f32,
    /// The largest radius of patches that are told as one contact at rest (a length).
    pub rest_size: f64,
    /// How far the triangles of a resting pair may move against each other (a length).
    pub rest_drift: f32,
}

/// What a step looks at.
pub(super) struct Frame<'f> {
    pub bodies: [Posed<'f>; 2],
    /// Rounding of coordinates and gaps (a length).
    pub pad: f64,
    /// How far the bodies have come nearer to each other at most (a length).
    pub step: f64,
    /// How the bodies have moved against each other; `None` where that is not known.
    pub flow: Option<Flow>,
    /// How far vertices have moved in their bodies at most, of both bodies (a length).
    pub deformed: f64,
    pub work: Counters,
}

impl Frame<'_> {
    /// By how much the gap of two patches closed in the last step, about.
    fn closing(&self, gap: Gap, at: DVec3) -> f64 {
        let Some(flow) = &self.flow else { return self.step };
        let moved = flow.at(at);
        // Without a direction all motion is an approach.
        let closing = if gap.direction == DVec3::ZERO { moved.length() } else { -gap.direction.dot(moved) };
        closing.max(0.0) + self.deformed
    }

    /// How many frames two patches are expected to stay apart: their gap closes as fast as in the last step.
    fn frames_apart(&self, gap: Gap, at: DVec3) -> f64 {
        if self.flow.is_none() {
            return 1.0;
        }
        CAUTION * gap.width / (self.closing(gap, at) + f64::MIN_POSITIVE)
    }

    /// The same for triangles whose facets are too near to tell a direction.
    fn frames_apart_near(&self, gap: f64, normal: DVec3, at: DVec3) -> f64 {
        let Some(flow) = &self.flow else { return 1.0 };
        let moved = flow.at(at);
        let closing = normal.dot(moved).abs() + ROUGHNESS * moved.length();
        CAUTION * gap / (closing + self.deformed + f64::MIN_POSITIVE)
    }
}

/// Changes of level in one step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub splits: u64,
    pub merges: u64,
    /// Pairs that were split soon after they were merged.
    pub flicker: u64,
}

/// Whether a frame has come; the count of frames may run over.
fn is_over(frame: u32, clock: u32) -> bool {
    clock.wrapping_sub(frame) < u32::MAX / 2
}

/// The front of two bodies, or of one body with itself.
#[derive(Debug, Clone)]
pub(super) struct Front {
    options: FrontOptions,
    layers: [Arc<Layers>; 2],
    /// Of one body with itself: the level below which pairs are not split.
    floor: u8,
    /// Of one body with itself: what was measured of its patches.
    patches: Option<Patches>,
    nodes: Vec<Node>,
    /// The first unused node of a list.
    unused: u32,
    /// By when a pair's gap may be used up.
    schedule: Schedule,
    course: Course,
    /// Pairs whose gap may be used up.
    due: Vec<Waiting>,
    /// Pairs whose gap has become wider without a look at them, and how wide it is (a length).
    parted: Vec<(Entry, f64)>,
    /// By frame, open pairs whose gap is expected to close then.
    expected: Vec<Vec<Entry>>,
    /// Open pairs whose gap is expected to have closed by now.
    closing: Vec<Entry>,
    /// The least gap of each group of facets that was seen lately, and when.
    least: [Vec<(f32, u32)>; 2],
    /// Pairs that are open, and entries that no longer count.
    open: Vec<Entry>,
    /// How many open pairs are left so because of a contact beside them.
    shadowed: usize,
    /// Open pairs that could not be split for lack of room.
    stuck: Vec<u32>,
    contacts: Vec<Held>,
    /// Pairs whose triangles were found to have parted.
    lost: Vec<Entry>,
    /// Pairs in contact that have rested long enough to become coarser.
    rested: Vec<u32>,
    stack: Vec<Pending>,
    /// Where the search for entries that no longer count goes on.
    swept: usize,
    /// The sum of all steps (a length).
    travelled: f64,
    open_weight: f64,
    clock: u32,
    /// Of the contact that began last.
    last_id: u64,
    pub changes: Changes,
}

impl Front {
    /// The front of two bodies, all of it open; it looks ahead as far as `size` (a length).
    pub fn new(layers: [Arc<Layers>; 2], size: f64, options: FrontOptions) -> Front {
        let floor = u8::from(layers[0].shells.levels.len() > 1);
        let patches = options.one.then(|| Patches::new(&layers[0].shells, floor));
        let mut front = Front {
            options,
            floor,
            patches,
            nodes: Vec::new(),
            unused: NONE,
            schedule: Schedule::new(size),
            course: Course::new(),
            due: Vec::new(),
            parted: Vec::new(),
            expected: vec![Vec::new(); AHEAD as usize],
            closing: Vec::new(),
            least: layers.each_ref().map(|layers| vec![(f32::INFINITY, 0); layers.groups.nodes.len()]),
            swept: 0,
            open: Vec::new(),
            shadowed: 0,
            stuck: Vec::new(),
            contacts: Vec::new(),
            lost: Vec::new(),
            rested: Vec::new(),
            stack: Vec::new(),
            travelled: 0.0,
            open_weight: 0.0,
            clock: 0,
            last_id: 0,
            changes: Changes::default(),
            layers,
        };
        front.reset();
        front
    }

    /// Forgets all that is known: every pair of the coarsest facets is open.
    pub fn reset(&mut self) {
        self.nodes.clear();
        self.schedule.clear();
        self.expected.iter_mut().for_each(Vec::clear);
        self.closing.clear();
        self.open.clear();
        self.stuck.clear();
        self.contacts.clear();
        self.rested.clear();
        self.parted.clear();
        self.shadowed = 0;
        (self.unused, self.travelled, self.open_weight) = (NONE, 0.0, 0.0);
        self.patches.iter_mut().for_each(Patches::forget);
        if !self.options.one {
            let root = self.add([0; 2], [0; 2], NONE);
            self.leave_open(root);
            return;
        }
        let shares = &self.layers[0].shares;
        let (level, count) = ((shares.len() - 1) as u8, shares.last().map_or(0, Vec::len) as u32);
        for i in 0..count {
            for j in i..count {
                let n = self.add([i, j], [level; 2], NONE);
                self.leave_open(n);
            }
        }
    }

    /// Begins a step in which the bodies may have come so much nearer: all whose clearance that uses up is open.
    ///
    /// Only open pairs are ever looked at. So the work for bodies at rest ends, however little of it a step does: what
    /// is proved stays proved, and each look at an open pair proves it or replaces it by finer ones, of which there are
    /// finitely many.
    ///
    /// `deformed` is the part of the step that vertices moved in their bodies. Returns how many pairs it looked at.
    pub fn begin(&mut self, step: f64, poses: [&Pose; 2], deformed: f64, pad: f64) -> u64 {
        self.clock = self.clock.wrapping_add(1);
        self.changes = Changes::default();
        self.course.record(self.clock, poses, deformed);
        let mut looked_at = 0;
        if step > 0.0 {
            self.travelled = (self.travelled + step).next_up();
            let mut due = std::mem::take(&mut self.due);
            self.schedule.advance(self.travelled, &mut due);
            looked_at = due.len() as u64;
            for waiting in due.drain(..) {
                self.expire(waiting, step, pad);
            }
            self.due = due;
        }
        for n in std::mem::take(&mut self.stuck) {
            self.close(n);
            self.leave_open(n);
        }
        let nodes = &self.nodes;
        let now = self.expected[(self.clock % AHEAD) as usize].drain(..);
        self.closing.extend(now.filter(|entry| nodes[entry.pair as usize].stamp == entry.stamp));
        self.sweep();
        looked_at
    }

    /// The gap of a pair would be used up if the bodies had come as near to each other as they may have.
    fn expire(&mut self, waiting: Waiting, step: f64, pad: f64) {
        let Waiting { entry, sight, gap, wide } = waiting;
        let left = gap - self.course.closed(&sight, self.clock) - pad;
        // Less would not last for long; false where nothing is known. Whether the entry still counts is not asked here:
        // that would be to read the pair.
        if left > LEFT * step {
            let wide = if left > wide {
                self.parted.push((entry, left));
                HYSTERESIS * left
            } else {
                wide
            };
            self.schedule.insert((self.travelled + left).next_down(), Waiting { wide, ..waiting });
            return;
        }
        let node = &mut self.nodes[entry.pair as usize];
        if node.stamp != entry.stamp || node.state != State::Apart {
            return;
        }
        (node.state, node.listed) = (State::Open, true);
        self.open_weight += f64::from(node.weight);
        let list = match is_over(node.expected, self.clock) {
            true => &mut self.closing,
            false => &mut self.expected[(node.expected % AHEAD) as usize],
        };
        list.push(entry);
        self.open.push(entry);
    }

    /// Drops some entries of the open list that no longer count.
    fn sweep(&mut self) {
        for _ in 0..SWEPT {
            if self.swept >= self.open.len() {
                self.swept = 0;
                return;
            }
            let Entry { pair, stamp } = self.open[self.swept];
            if self.nodes[pair as usize].stamp == stamp {
                self.swept += 1;
            } else {
                self.open.swap_remove(self.swept);
            }
        }
    }

    /// Looks at the pairs whose gap is expected to close; false when the budget ends.
    pub fn settle_closing(&mut self, frame: &mut Frame<'_>, meter: &mut Meter<'_>) -> bool {
        while let Some(Entry { pair, stamp }) = self.closing.pop() {
            if self.nodes[pair as usize].stamp != stamp {
                continue;
            }
            self.close(pair);
            if !self.settle(pair, frame, meter) {
                return false;
            }
        }
        true
    }

    /// Looks at the pairs in contact whose triangles may have parted; false when the budget ends.
    pub fn verify_contacts(&mut self, frame: &mut Frame<'_>, meter: &mut Meter<'_>) -> bool {
        let mut lost = std::mem::take(&mut self.lost);
        // From the end: a pair that is no longer in contact is replaced by the last one, which was looked at.
        for k in (0..self.contacts.len()).rev() {
            let Held { node: n, due, .. } = self.contacts[k];
            if due >= self.travelled {
                continue;
            }
            if !meter.pay(1) {
                lost.drain(..).for_each(|entry| self.leave_open(entry.pair));
                self.lost = lost;
                return false;
            }
            if !self.still_meets(n, frame) && !self.walk(n, frame, meter) {
                self.leave_contact(n);
                lost.push(Entry { pair: n, stamp: self.nodes[n as usize].stamp });
            }
        }
        // Only now, when it is known which contacts are left beside them.
        let mut in_budget = true;
        for Entry { pair, stamp } in lost.drain(..) {
            // A contact that was found meanwhile may stand for it.
            if self.nodes[pair as usize].stamp == stamp {
                in_budget = self.settle(pair, frame, meter) && in_budget;
            }
        }
        self.lost = lost;
        self.merge_rested();
        in_budget
    }

    /// Whether the triangles of a pair in contact still meet, and the pair may stay as coarse as it is.
    fn still_meets(&mut self, n: u32, frame: &mut Frame<'_>) -> bool {
        let node = &mut self.nodes[n as usize];
        if node.witness[0] == NONE {
            return false;
        }
        frame.work.primitive_tests += 1;
        let [a, b] = [0, 1].map(|k| frame.bodies[k].triangle(node.witness[k]));
        let meets = match self.options.one {
            false => meeting(&a, &b, frame.pad, 0.0) == Meeting::Meet,
            true => cell::meets_itself(&a, &b),
        };
        if !meets {
            return false;
        }
        let lies = (b.centre() - a.centre()).as_vec3();
        let is_at_rest = lies.distance(node.seen.into()) <= self.options.rest_drift;
        if !is_at_rest {
            (node.since, node.seen) = (self.clock, lies.to_array());
            if node.rested {
                // What rested coarsely has moved: it is looked at as finely as before.
                return false;
            }
        }
        self.hold(n, [&a, &b], frame);
        if self.has_rested(n) {
            self.rested.push(n);
        }
        true
    }

    /// The triangles of a pair in contact meet: finds out for how long they certainly do.
    fn hold(&mut self, n: u32, [a, b]: [&Triangle; 2], frame: &Frame<'_>) {
        let node = &self.nodes[n as usize];
        let size = a.normal.length_squared().min(b.normal.length_squared()).sqrt().sqrt();
        let slow = frame.step < SLOW * size && !self.options.one;
        let margin = if slow { crossing_margin(a, b, frame.pad) } else { 0.0 };
        // What stands for a large patch is to notice soon that it no longer rests.
        let margin = if node.rested { margin.min(f64::from(self.options.rest_drift)) } else { margin };
        let due = (self.travelled + margin).next_down().max(self.travelled);
        let at = (0.5 * (a.centre() + b.centre())).as_vec3();
        self.contacts[node.slot as usize] = Held { node: n, due, at };
    }

    /// Whether a pair in contact has rested long enough to become coarser.
    fn has_rested(&self, n: u32) -> bool {
        let frames = self.clock.wrapping_sub(self.nodes[n as usize].since);
        frames as f32 * self.options.frame >= self.options.rest_after
    }

    /// Looks for triangles that meet next to those of a pair in contact that have parted (section 3.3: the update of a
    /// pair searches the neighbours of its samples).
    fn walk(&mut self, n: u32, frame: &mut Frame<'_>, meter: &mut Meter<'_>) -> bool {
        let Node { witness, facets, rested, .. } = self.nodes[n as usize];
        if witness[0] == NONE || rested || self.options.one {
            return false;
        }
        let [a, b] = [0, 1].map(|k| frame.bodies[k].triangle(witness[k]));
        for k in 0..2 {
            let (body, other) = (frame.bodies[k], if k == 0 { &b } else { &a });
            for &t in body.shells.levels[0].neighbours.of(witness[k]) {
                if !self.layers[k].groups.holds(body.shells, facets[k], t) {
                    continue;
                }
                meter.charge(1);
                frame.work.primitive_tests += 1;
                let own = body.triangle(t);
                if meeting(&own, other, frame.pad, 0.0) == Meeting::Meet {
                    let node = &mut self.nodes[n as usize];
                    (node.witness[k], node.since) = (t, self.clock);
                    self.hold(n, if k == 0 { [&own, other] } else { [other, &own] }, frame);
                    return true;
                }
            }
        }
        false
    }

    /// Replaces pairs that rest in contact by their parents, unless a younger contact is below those (section 5.5: a
    /// sample merges only when all its children belong to old pairs).
    fn merge_rested(&mut self) {
        while let Some(n) = self.rested.pop() {
            let node = self.nodes[n as usize];
            let parent = node.parent;
            // Others may have been replaced together with it.
            let is_gone = node.state != State::Contact || !self.has_rested(n);
            if is_gone
                || parent == NONE
                || self.is_too_large_to_rest(parent)
                || self.has_young_contact(parent)
            {
                continue;
            }
            let Held { due, at, .. } = self.contacts[node.slot as usize];
            self.drop_below(parent);
            self.changes.merges += 1;
            let above = &mut self.nodes[parent as usize];
            (above.witness, above.seen, above.since) = (node.witness, node.seen, node.since);
            (above.id, above.left_at) = (node.id, self.clock);
            above.merged_at = self.clock;
            self.enter_contact(parent, due.min(self.travelled + f64::from(self.options.rest_drift)), at);
            self.nodes[parent as usize].rested = true;
        }
    }

    /// Whether the patches of a pair are too large to be told as one contact, even at rest.
    fn is_too_large_to_rest(&self, n: u32) -> bool {
        let facets = self.nodes[n as usize].facets;
        self.options.one || (0..2).any(|k| self.layers[k].groups.radius(facets[k]) > self.options.rest_size)
    }

    /// Whether a contact below a pair does not rest yet.
    fn has_young_contact(&self, n: u32) -> bool {
        let node = &self.nodes[n as usize];
        match node.state {
            State::Contact => !self.has_rested(n),
            State::Split => self.children(n).any(|child| self.has_young_contact(child)),
            _ => false,
        }
    }

    /// Looks at the open pair that two triangles lie below; false when the budget ends.
    pub fn settle_around(
        &mut self,
        triangles: [u32; 2],
        frame: &mut Frame<'_>,
        meter: &mut Meter<'_>,
    ) -> bool {
        let mut n = 0;
        while self.nodes[n as usize].state == State::Split {
            let holds = |k: usize, group: u32| {
                self.layers[k].groups.holds(&self.layers[k].shells, group, triangles[k])
            };
            let mut below = self.children(n);
            let Some(child) = below.find(|&c| (0..2).all(|k| holds(k, self.nodes[c as usize].facets[k])))
            else {
                return true;
            };
            drop(below);
            n = child;
        }
        if self.nodes[n as usize].state != State::Open {
            return true;
        }
        self.close(n);
        self.settle(n, frame, meter)
    }

    /// Looks at open pairs in random order until none is left or the budget ends. Returns the probability that a
    /// given one of them was not looked at.
    ///
    /// The order is a random permutation, drawn as it goes, so that each of the m pairs is among the last m − k with
    /// the probability (m − k) / m, whatever k is.
    pub fn settle_at_random(&mut self, frame: &mut Frame<'_>, meter: &mut Meter<'_>, seed: u64) -> f64 {
        let (mut drawn, mut looked_at) = (0, 0);
        while !self.open.is_empty() {
            let left = self.open.len();
            if looked_at >= self.options.most_random {
                return self.unseen(left, looked_at);
            }
            let k = (u128::from(bits(seed, drawn)) * left as u128) >> 64;
            drawn += 1;
            let Entry { pair, stamp } = self.open.swap_remove(k as usize);
            if self.nodes[pair as usize].stamp != stamp {
                // Known from elsewhere.
                continue;
            }
            self.close(pair);
            if !self.settle(pair, frame, meter) {
                // Entries that do not count are as likely among the rest as among those drawn.
                return self.unseen(left, looked_at);
            }
            looked_at += 1;
        }
        self.unseen(0, looked_at)
    }

    /// The share of open pairs that were not looked at.
    fn unseen(&self, left: usize, looked_at: usize) -> f64 {
        let left = left + self.shadowed;
        if left == 0 { 0.0 } else { left as f64 / (left + looked_at) as f64 }
    }

    /// How much of the weight of all pairs is open.
    pub fn open_share(&self) -> f64 {
        if self.has_open() { self.open_weight.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// How much of the weight belongs to pairs in contact that a budget left unverified.
    pub fn unverified_share(&self) -> f64 {
        let stale = self.contacts.iter().filter(|held| held.due < self.travelled);
        stale.map(|held| f64::from(self.nodes[held.node as usize].weight)).sum()
    }

    /// Whether pairs could not be split for lack of room.
    pub fn is_full(&self) -> bool {
        !self.stuck.is_empty()
    }

    /// Whether something was left open.
    pub fn has_open(&self) -> bool {
        !self.open.is_empty() || !self.stuck.is_empty() || self.shadowed > 0
    }

    /// The pairs in contact of two bodies.
    pub fn contacts(&self) -> impl Iterator<Item = Touch> {
        let known = self.contacts.iter().filter(|held| held.due >= self.travelled);
        let nodes = known.map(|held| &self.nodes[held.node as usize]);
        nodes.map(|node| Touch {
            groups: node.facets,
            witness: Some(node.witness).filter(|w| w[0] != NONE),
            id: node.id,
        })
    }

    /// How many pairs in contact have two triangles that meet now.
    pub fn count_contacts(&self) -> usize {
        self.contacts.iter().filter(|held| held.due >= self.travelled).count()
    }

    /// All pairs of triangles of one body that meet, in the cells in contact.
    pub fn self_intersections(&self, body: &Posed<'_>, pad: f64) -> Vec<[u32; 2]> {
        let known = self.contacts.iter().filter(|held| held.due >= self.travelled);
        let nodes = known.map(|held| &self.nodes[held.node as usize]);
        nodes.flat_map(|node| cell::all_of_one(body, node.facets, node.levels, pad)).collect()
    }

    /// How far apart the surfaces of a pair may be that counts as a contact without a look at its triangles.
    pub fn tolerance(&self, bodies: &[Posed<'_>; 2]) -> f64 {
        let of = |touch: Touch| {
            (0..2).map(|k| 2.0 * self.layers[k].groups.ball(&bodies[k], touch.groups[k]).1).sum()
        };
        self.contacts().map(of).fold(0.0, f64::max)
    }

    /// Finds out about an open pair and all that is below it; what the budget leaves stays open.
    fn settle(&mut self, n: u32, frame: &mut Frame<'_>, meter: &mut Meter<'_>) -> bool {
        debug_assert!(self.stack.is_empty());
        if !meter.pay(1) {
            self.leave_open(n);
            return false;
        }
        let placed = [self.place(n, 0, frame), self.place(n, 1, frame)];
        let gap = self.gap(n, &placed, frame, meter);
        if self.is_kept(n, gap, &placed, frame) {
            let frames = frame.frames_apart(gap, placed[1].centre);
            self.set_apart(n, gap, frames, &placed[1], frame);
            self.merge_parted(n, gap.width, frames, frame, meter);
            return true;
        }
        self.stack.push(Pending { node: n, placed, gap });
        while let Some(pending) = self.stack.pop() {
            if self.is_shadowed(pending.node, &pending.placed) {
                self.leave_shadowed(pending.node);
                continue;
            }
            if !meter.pay(1) {
                // The nearest last, where it is looked at first.
                let mut left = std::mem::take(&mut self.stack);
                left.drain(..).for_each(|pending| self.leave(&pending, frame));
                self.stack = left;
                self.leave(&pending, frame);
                return false;
            }
            if self.is_at_floor(pending.node) {
                self.settle_cell(&pending, frame, meter);
            } else {
                self.split(&pending, frame, meter);
            }
        }
        true
    }

    /// Whether a known contact lies within both patches of a pair that could keep one, and only some pairs are looked at
    /// in a step: what begins to meet there is told as one with that contact, so that others come first. Such pairs stay
    /// open.
    fn is_shadowed(&self, n: u32, placed: &[Facet; 2]) -> bool {
        let reach = self.options.contact_size;
        if self.options.one || self.options.most_random == usize::MAX || !(reach > 0.0) {
            return false;
        }
        let is_small = |n: u32| {
            let facets = self.nodes[n as usize].facets;
            (0..2).all(|k| self.layers[k].groups.radius(facets[k]) <= reach)
        };
        // Below the patches that keep one contact nothing is left out: a look at one of them is a whole one.
        let parent = self.nodes[n as usize].parent;
        if !is_small(n) || (parent != NONE && is_small(parent)) {
            return false;
        }
        let near = placed.map(|patch| (patch.centre.as_vec3(), (patch.radius * patch.radius) as f32));
        let is_beside = |held: &Held| {
            held.due >= self.travelled && near.iter().all(|(c, sq)| c.distance_squared(held.at) <= *sq)
        };
        self.contacts.iter().any(is_beside)
    }

    /// Leaves a pair open for some frames because of a contact beside it.
    fn leave_shadowed(&mut self, n: u32) {
        let expected = self.clock.wrapping_add(SHADOWED);
        let node = &mut self.nodes[n as usize];
        (node.state, node.stamp, node.listed) = (State::Open, node.stamp.wrapping_add(1), true);
        (node.shadowed, node.expected) = (true, expected);
        self.shadowed += 1;
        self.open_weight += f64::from(node.weight);
        self.expected[(expected % AHEAD) as usize].push(Entry { pair: n, stamp: node.stamp });
    }

    /// Leaves a pair that is not to be looked at any closer now as it is known.
    fn leave(&mut self, pending: &Pending, frame: &Frame<'_>) {
        let Pending { node: n, placed, gap } = pending;
        if gap.width > 0.0 {
            self.set_apart(*n, *gap, frame.frames_apart(*gap, placed[1].centre), &placed[1], frame);
        } else {
            self.leave_open(*n);
        }
    }

    /// Whether a pair with this gap is left as it is: the gap is worth more than those of finer pairs, or only triangles
    /// are below.
    #[inline]
    fn is_kept(&self, n: u32, gap: Gap, placed: &[Facet; 2], frame: &Frame<'_>) -> bool {
        let is_worth = || gap.width >= self.shallow(n, gap, placed, frame) || self.is_at_floor(n);
        gap.width > 0.0 && (self.options.one || is_worth())
    }

    /// The gap below which a pair is split though it is apart (a length).
    #[inline]
    fn shallow(&self, n: u32, gap: Gap, placed: &[Facet; 2], frame: &Frame<'_>) -> f64 {
        let facets = self.nodes[n as usize].facets;
        let radius = |k: usize| self.layers[k].groups.radius(facets[k]);
        (SHALLOW * radius(0).max(radius(1))).min(SOON * frame.closing(gap, placed[1].centre))
    }

    /// One patch of a pair, where it is now.
    #[inline]
    fn place(&self, n: u32, k: usize, frame: &Frame<'_>) -> Facet {
        let Node { facets, levels, .. } = &self.nodes[n as usize];
        if self.options.one {
            // Its place is all that is needed of it: patches of one body are measured.
            let centre = frame.bodies[k].centre(usize::from(levels[k]), facets[k]);
            return Facet { centre, normal: DVec3::ZERO, radius: 0.0, inner: 0.0, outer: 0.0 };
        }
        self.layers[k].groups.patch(&frame.bodies[k], facets[k])
    }

    /// Whether a pair has nothing below but triangles, or is not to be looked at any closer.
    fn is_at_floor(&self, n: u32) -> bool {
        let Node { facets, levels, .. } = &self.nodes[n as usize];
        if self.options.one {
            return *levels == [self.floor; 2];
        }
        let group = |k: usize| &self.layers[k].groups.nodes[facets[k] as usize];
        let small = |k: usize| self.layers[k].groups.radius(facets[k]) <= self.options.finest;
        (0..2).all(|k| group(k).facet().is_some()) || (0..2).all(small)
    }

    /// How far apart the surfaces of a pair surely are; 0 or less where that is not known.
    #[inline]
    fn gap(&mut self, n: u32, placed: &[Facet; 2], frame: &mut Frame<'_>, meter: &mut Meter<'_>) -> Gap {
        frame.work.volume_tests += 1;
        if let Some(patches) = &mut self.patches {
            let Node { facets, levels, .. } = self.nodes[n as usize];
            let Posed { shells, vertices, .. } = frame.bodies[0];
            let moment = Moment { shells, vertices, reading: self.travelled, pad: frame.pad };
            let mut updates = 0;
            let gap = patches.gap(&moment, self.layers[0].adjacency(), facets, levels, &mut updates);
            frame.work.updates += updates;
            meter.charge(updates);
            return gap;
        }
        let gap = facet_pair::gap(&placed[0], &placed[1]);
        Gap { width: gap.width - frame.pad, ..gap }
    }

    /// The triangles of a pair at the floor.
    fn settle_cell(&mut self, pending: &Pending, frame: &mut Frame<'_>, meter: &mut Meter<'_>) {
        let Pending { node: n, placed, gap: known } = pending;
        let Node { facets, levels, .. } = self.nodes[*n as usize];
        let before = frame.work.primitive_tests;
        let found = if self.options.finest > 0.0 {
            // A pair that is apart is kept so, however small the gap.
            if known.width > 0.0 { Cell::Apart(known.width) } else { Cell::Meet([NONE; 2]) }
        } else if self.options.one {
            cell::of_one(&frame.bodies[0], facets, levels, frame.pad, &mut frame.work)
        } else {
            let groups = [0, 1].map(|k| &self.layers[k].groups);
            let own = [0, 1].map(|k| groups[k].nodes[facets[k] as usize].facet().unwrap_or(0));
            let levels = groups.map(|groups| groups.level);
            let wide = WIDE * placed[0].radius.min(placed[1].radius);
            cell::of_two(&frame.bodies, own, levels, placed, [frame.pad, wide], &mut frame.work)
        };
        meter.charge(1 + frame.work.primitive_tests - before);
        match found {
            Cell::Apart(gap) => {
                // The triangles are apart by a distance, their facets along a direction.
                let direction = if gap > known.width { DVec3::ZERO } else { known.direction };
                let gap = Gap { width: gap.max(known.width), direction };
                let frames = frame.frames_apart_near(gap.width, known.direction, placed[1].centre);
                self.set_apart(*n, gap, frames, &placed[1], frame);
                self.merge_parted(*n, gap.width, frames, frame, meter);
            }
            Cell::Meet(witness) => {
                let n = self.keep_above(*n);
                let node = &mut self.nodes[n as usize];
                (node.witness, node.since, node.seen) = (witness, self.clock, [0.0; 3]);
                self.enter_contact(n, self.travelled, placed[0].centre.as_vec3());
                if !self.options.one && witness[0] != NONE {
                    let [a, b] = [0, 1].map(|k| frame.bodies[k].triangle(witness[k]));
                    self.hold(n, [&a, &b], frame);
                }
            }
        }
    }

    /// The pair above that is to keep the triangles which meet; what is below it is dropped, looked at or not.
    fn keep_above(&mut self, n: u32) -> u32 {
        let (mut above, mut at) = (n, n);
        while at != NONE && !self.options.one {
            let Node { facets, parent, .. } = self.nodes[at as usize];
            let large = |k: usize| self.layers[k].groups.radius(facets[k]) > self.options.contact_size;
            if at != n && (large(0) || large(1)) {
                break;
            }
            (above, at) = (at, parent);
        }
        if above != n {
            self.drop_below(above);
            let nodes = &self.nodes;
            self.stack.retain(|pending| nodes[pending.node as usize].state != State::Unused);
        }
        above
    }

    /// Drops everything below a pair.
    fn drop_below(&mut self, n: u32) {
        let mut child = std::mem::replace(&mut self.nodes[n as usize].child, NONE);
        while child != NONE {
            self.drop_below(child);
            match self.nodes[child as usize].state {
                State::Contact => self.leave_contact(child),
                State::Open => self.close(child),
                _ => {}
            }
            let next = self.nodes[child as usize].next;
            self.drop_one(child);
            child = next;
        }
    }

    /// Replaces a pair by those of the children of its larger facet; the nearest of them is looked at next.
    fn split(&mut self, pending: &Pending, frame: &mut Frame<'_>, meter: &mut Meter<'_>) {
        let Pending { node: n, placed, gap: known } = *pending;
        let Node { facets, levels, merged_at, .. } = self.nodes[n as usize];
        let pairs = self.pairs_below(facets, levels, frame);
        if self.nodes.len() + pairs.len() > self.options.most && self.count_unused(pairs.len()) < pairs.len()
        {
            if known.width > 0.0 {
                self.leave(pending, frame);
                return;
            }
            let node = &mut self.nodes[n as usize];
            (node.state, node.listed) = (State::Open, true);
            self.open_weight += f64::from(node.weight);
            self.stuck.push(n);
            return;
        }
        self.nodes[n as usize].state = State::Split;
        self.changes.splits += 1;
        self.changes.flicker += u64::from(merged_at != 0 && self.clock.wrapping_sub(merged_at) <= FLICKER);
        let from = self.stack.len();
        for (below, below_levels) in pairs {
            let child = self.add(below, below_levels, n);
            let at = |k: usize| match (below[k], below_levels[k]) == (facets[k], levels[k]) {
                true => placed[k],
                false => self.place(child, k, frame),
            };
            let placed = [at(0), at(1)];
            let gap = self.gap(child, &placed, frame, meter);
            meter.charge(1);
            if self.is_kept(child, gap, &placed, frame) {
                self.set_apart(child, gap, frame.frames_apart(gap, placed[1].centre), &placed[1], frame);
            } else {
                self.stack.push(Pending { node: child, placed, gap });
            }
        }
        // The last is looked at first.
        let nearest_last =
            |x: &Pending, y: &Pending| y.gap.width.total_cmp(&x.gap.width).then(x.node.cmp(&y.node));
        self.stack[from..].sort_unstable_by(nearest_last);
    }

    /// The pairs that replace one: of the children of the facet that is larger at rest.
    fn pairs_below(
        &self,
        facets: [u32; 2],
        levels: [u8; 2],
        frame: &Frame<'_>,
    ) -> SmallVec<[([u32; 2], [u8; 2]); 16]> {
        if !self.options.one {
            let group = |k: usize| &self.layers[k].groups.nodes[facets[k] as usize];
            let radius = |k: usize| self.layers[k].groups.radius(facets[k]);
            let first = group(0).facet().is_none() && (group(1).facet().is_some() || radius(0) >= radius(1));
            let (k, mut pairs) = (usize::from(!first), [facets; 2]);
            (0..2).for_each(|i| pairs[i][k] = group(k).below[i]);
            return pairs.iter().map(|&pair| (pair, levels)).collect();
        }
        let level = |k: usize| &frame.bodies[k].shells.levels[usize::from(levels[k])];
        if (facets[0], levels[0]) == (facets[1], levels[1]) {
            let children = level(0).children.of(facets[0]);
            let pairs =
                children.iter().enumerate().flat_map(|(k, &i)| children[k..].iter().map(move |&j| [i, j]));
            return pairs.map(|pair| (pair, levels.map(|l| l - 1))).collect();
        }
        let radius = |k: usize| level(k).facets[facets[k] as usize].radius;
        let first = levels[0] > self.floor && (levels[1] == self.floor || radius(0) >= radius(1));
        let k = usize::from(!first);
        let mut below_levels = levels;
        below_levels[k] -= 1;
        let pair = |&child: &u32| {
            let mut below = facets;
            below[k] = child;
            (below, below_levels)
        };
        level(k).children.of(facets[k]).iter().map(pair).collect()
    }

    /// Replaces pairs by their parent when all of them are apart and the parent is expected to stay so.
    fn merge_parted(&mut self, n: u32, gap: f64, frames: f64, frame: &mut Frame<'_>, meter: &mut Meter<'_>) {
        let (mut n, mut gap, mut frames) = (n, gap, frames);
        while frames >= FRAMES_BEFORE_SPLIT {
            let parent = self.nodes[n as usize].parent;
            let apart = |child: u32| self.nodes[child as usize].state == State::Apart;
            if parent == NONE || !self.has_room_above(parent, gap) || !self.children(parent).all(apart) {
                return;
            }
            meter.charge(1);
            let placed = [self.place(parent, 0, frame), self.place(parent, 1, frame)];
            let found = self.gap(parent, &placed, frame, meter);
            (gap, frames) = (found.width, frame.frames_apart(found, placed[1].centre));
            let is_wide = self.options.one || gap >= HYSTERESIS * self.shallow(parent, found, &placed, frame);
            if gap <= 0.0 || !is_wide || frames < FRAMES_BEFORE_SPLIT {
                return;
            }
            self.merge(parent);
            self.set_apart(parent, found, frames, &placed[1], frame);
            n = parent;
        }
    }

    /// Replaces pairs whose gap has become wider by their parents, as far as the budget goes: what is left has its turn
    /// when it has parted further.
    pub fn merge_all_parted(&mut self, frame: &mut Frame<'_>, meter: &mut Meter<'_>) {
        while let Some((Entry { pair, stamp }, gap)) = self.parted.pop() {
            let Node { state, stamp: own, .. } = self.nodes[pair as usize];
            if own == stamp && state == State::Apart {
                if !meter.pay(1) {
                    break;
                }
                self.merge_parted(pair, gap, FRAMES_BEFORE_SPLIT, frame, meter);
            }
        }
        self.parted.clear();
    }

    /// Whether the gap of a pair leaves room for its parent's larger patches: else no test is needed to know that those
    /// are not apart.
    fn has_room_above(&self, parent: u32, gap: f64) -> bool {
        let facets = self.nodes[parent as usize].facets;
        let radius = |k: usize| self.layers[k].groups.radius(facets[k]);
        self.options.one || gap >= ROOM * radius(0).max(radius(1))
    }

    /// Drops the children of a pair, all of which are apart.
    fn merge(&mut self, parent: u32) {
        let mut child = std::mem::replace(&mut self.nodes[parent as usize].child, NONE);
        while child != NONE {
            let Node { next, state, .. } = self.nodes[child as usize];
            debug_assert_eq!(state, State::Apart);
            self.drop_one(child);
            child = next;
        }
        self.nodes[parent as usize].merged_at = self.clock;
        self.changes.merges += 1;
    }

    fn drop_one(&mut self, n: u32) {
        let node = &mut self.nodes[n as usize];
        (node.state, node.stamp, node.next) = (State::Unused, node.stamp.wrapping_add(1), self.unused);
        self.unused = n;
    }

    fn children(&self, parent: u32) -> impl Iterator<Item = u32> {
        let first = Some(self.nodes[parent as usize].child).filter(|&n| n != NONE);
        std::iter::successors(first, |&n| Some(self.nodes[n as usize].next).filter(|&n| n != NONE))
    }

    /// How many unused nodes there are, up to `most`.
    fn count_unused(&self, most: usize) -> usize {
        let first = Some(self.unused).filter(|&n| n != NONE);
        let all = std::iter::successors(first, |&n| Some(self.nodes[n as usize].next).filter(|&n| n != NONE));
        all.take(most).count()
    }

    /// A new pair, about which nothing is known.
    fn add(&mut self, facets: [u32; 2], levels: [u8; 2], parent: u32) -> u32 {
        let area = |k: usize| match self.options.one {
            true => self.layers[k].shares[usize::from(levels[k])][facets[k] as usize],
            false => self.layers[k].groups.nodes[facets[k] as usize].share,
        };
        // Of one body with itself every pair but those on the diagonal stands for two.
        let twice = self.options.one && (facets[0], levels[0]) != (facets[1], levels[1]);
        let weight = area(0) * area(1) * if twice { 2.0 } else { 1.0 };
        let next = if parent == NONE { NONE } else { self.nodes[parent as usize].child };
        let node = Node {
            facets,
            levels,
            state: State::Open,
            listed: false,
            shadowed: false,
            weight,
            parent,
            child: NONE,
            next,
            stamp: 0,
            expected: 0,
            merged_at: 0,
            witness: [NONE; 2],
            slot: 0,
            since: 0,
            id: 0,
            left_at: 0,
            rested: false,
            seen: [0.0; 3],
        };
        let n = match self.unused {
            NONE => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
            n => {
                let Node { next, stamp, .. } = self.nodes[n as usize];
                self.unused = next;
                self.nodes[n as usize] = Node { stamp, ..node };
                n
            }
        };
        if parent != NONE {
            self.nodes[parent as usize].child = n;
        }
        n
    }

    /// Two patches are apart, and expected to stay so for some frames; without a direction the gap is their distance.
    fn set_apart(&mut self, n: u32, gap: Gap, frames: f64, patch: &Facet, frame: &Frame<'_>) {
        let poses = [0, 1].map(|k| frame.bodies[k].pose);
        let node = &mut self.nodes[n as usize];
        node.state = State::Apart;
        node.stamp = node.stamp.wrapping_add(1);
        let waiting = Waiting {
            entry: Entry { pair: n, stamp: node.stamp },
            sight: Sight::new(self.clock, gap.direction, patch, poses),
            gap: gap.width,
            wide: HYSTERESIS * gap.width,
        };
        self.schedule.insert((self.travelled + gap.width).next_down(), waiting);
        let patience = if self.is_among_nearest(n, gap.width) { 1.0 } else { PATIENCE };
        let ahead = ((patience * frames) as u32).clamp(1, AHEAD - 1);
        self.nodes[n as usize].expected = self.clock.wrapping_add(ahead);
    }

    /// Whether a gap is among the least of both patches: contact begins between patches that are nearest to each
    /// other. What was found about a patch is remembered for some frames.
    fn is_among_nearest(&mut self, n: u32, gap: f64) -> bool {
        if self.options.one {
            return true;
        }
        let (facets, clock, gap) = (self.nodes[n as usize].facets, self.clock, gap as f32);
        (0..2).fold(true, |nearest, k| {
            let least = &mut self.least[k][facets[k] as usize];
            if gap <= least.0 || clock.wrapping_sub(least.1) > REMEMBERED {
                *least = (gap, clock);
            }
            nearest && f64::from(gap) <= NEAREST * f64::from(least.0)
        })
    }

    /// Enters an open pair into the list of those.
    fn leave_open(&mut self, n: u32) {
        let node = &mut self.nodes[n as usize];
        (node.state, node.stamp, node.listed) = (State::Open, node.stamp.wrapping_add(1), true);
        self.open_weight += f64::from(node.weight);
        let entry = Entry { pair: n, stamp: node.stamp };
        self.open.push(entry);
        if self.options.most_random != usize::MAX {
            // Where few are looked at in random order, an open pair has its turn in the next frame in any case.
            self.closing.push(entry);
        }
    }

    /// Takes a pair out of all queues.
    fn close(&mut self, n: u32) {
        let node = &mut self.nodes[n as usize];
        node.stamp = node.stamp.wrapping_add(1);
        if std::mem::take(&mut node.listed) {
            self.open_weight -= f64::from(node.weight);
        }
        self.shadowed -= usize::from(std::mem::take(&mut node.shadowed));
    }

    fn enter_contact(&mut self, n: u32, due: f64, at: Vec3) {
        let node = &mut self.nodes[n as usize];
        (node.state, node.slot, node.rested) = (State::Contact, self.contacts.len() as u32, false);
        if node.id == 0 || node.left_at != self.clock {
            self.last_id += 1;
            node.id = self.last_id;
        }
        self.contacts.push(Held { node: n, due, at });
    }

    fn leave_contact(&mut self, n: u32) {
        let slot = self.nodes[n as usize].slot;
        self.contacts.swap_remove(slot as usize);
        if let Some(moved) = self.contacts.get(slot as usize) {
            self.nodes[moved.node as usize].slot = slot;
        }
        let node = &mut self.nodes[n as usize];
        (node.state, node.left_at) = (State::Open, self.clock);
    }
}
