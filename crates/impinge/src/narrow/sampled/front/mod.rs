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
//!
//! Here are the pairs and the queues that they wait in; `refine` finds out about one pair, `contacts` looks after those
//! in contact.

mod contacts;
mod refine;

use std::sync::Arc;

use glam::DVec3;

use super::cell;
use super::course::{Course, Sight};
use super::facet_pair::Gap;
use super::layers::Layers;
use super::meter::Meter;
use super::posed::{Flow, Posed};
use super::schedule::{Entry, Schedule, Waiting};
use super::self_pair::Patches;
use super::shells::Facet;
use crate::Pose;
use crate::contact::Counters;
use crate::num::random::bits;

/// No node, or no triangle.
pub(super) const NONE: u32 = u32::MAX;

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

/// A gap that was seen earlier counts as long as so much of it is left (no unit: a part of the present step).
const LEFT: f64 = 0.5;

/// How much wider than at a split the gap of a pair is that replaces its children (no unit).
const HYSTERESIS: f64 = 2.0;

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
}

/// How a front is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrontOptions {
    /// Whether both bodies are the same one.
    pub one: bool,
    /// Radius below which patches that may meet count as meeting without a look at triangles (a length); 0 for exact
    /// triangles.
    pub finest: f64,
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
                return left as f64 / (left + looked_at) as f64;
            }
            looked_at += 1;
        }
        0.0
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
        !self.open.is_empty() || !self.stuck.is_empty()
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
        self.open.push(Entry { pair: n, stamp: node.stamp });
    }

    /// Takes a pair out of all queues.
    fn close(&mut self, n: u32) {
        let node = &mut self.nodes[n as usize];
        node.stamp = node.stamp.wrapping_add(1);
        if std::mem::take(&mut node.listed) {
            self.open_weight -= f64::from(node.weight);
        }
    }
}
