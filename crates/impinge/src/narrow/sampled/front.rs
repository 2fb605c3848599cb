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

use smallvec::SmallVec;

use super::cell::{self, Cell};
use super::facet_pair;
use super::layers::Layers;
use super::meter::Meter;
use super::posed::Posed;
use super::schedule::{Entry, Schedule};
use super::self_pair;
use super::shells::Facet;
use super::triangle_pair::{Meeting, crossing_margin, meeting};
use crate::contact::Counters;
use crate::num::random::bits;

/// No node, or no triangle.
pub(super) const NONE: u32 = u32::MAX;

/// A pair replaces its children when it is apart by this many steps of the last frame at least (no unit), so that it
/// is not split again at once.
const STEPS_BEFORE_SPLIT: f64 = 4.0;

/// Frames within which a pair that was merged and is split again counts as flicker.
const FLICKER: u32 = 4;

/// A crossing margin is computed only where the step is below this part of a triangle's size (no unit): above it the
/// margin would be used up by the next frame.
const SLOW: f64 = 1.0 / 32.0;

/// What is known of a pair of facets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unused,
    /// Its children stand for it.
    Split,
    /// Apart until the reading of its `due`.
    Apart,
    /// Two triangles of it meet, certainly until the reading of its `due`.
    Contact,
    /// Not known. Outside of [`Front::settle`] such a pair has an entry in the list of those.
    Open,
}

/// A pair of facets.
#[derive(Debug, Clone, Copy)]
struct Node {
    facets: [u32; 2],
    levels: [u8; 2],
    state: State,
    /// The share of all pairs of surface points that it stands for.
    weight: f32,
    parent: u32,
    child: u32,
    next: u32,
    /// Of its only entry in a queue that counts.
    stamp: u32,
    /// The reading until which its state is proved.
    due: f64,
    /// When it last replaced its children.
    merged_at: u32,
    /// Of a pair in contact: triangles that meet.
    witness: [u32; 2],
    /// Of a pair in contact: its place in the list of those.
    slot: u32,
    /// Of a pair in contact: for how long it has rested (seconds).
    age: f32,
    /// Of a pair in contact: how its triangles lay to each other when it came to rest.
    seen: [f32; 3],
}

/// Two facets that no direction separates.
#[derive(Debug, Clone, Copy)]
struct Pending {
    node: u32,
    facets: [Facet; 2],
    gap: f64,
}

/// How a front is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrontOptions {
    /// Whether both bodies are the same one.
    pub one: bool,
    /// Level at which the descent ends without a look at triangles; 0 for exact triangles.
    pub finest: u8,
    /// The largest number of pairs.
    pub most: usize,
    /// Length of a frame (seconds).
    pub frame: f32,
    /// Rest after which a pair in contact may become coarser (seconds).
    pub rest_after: f32,
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
    pub work: Counters,
}

/// Changes of level in one step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub splits: u64,
    pub merges: u64,
    /// Pairs that were split soon after they were merged.
    pub flicker: u64,
}

/// The front of two bodies, or of one body with itself.
#[derive(Debug, Clone)]
pub(super) struct Front {
    options: FrontOptions,
    layers: [Arc<Layers>; 2],
    /// The level below which pairs are not split.
    floor: [u8; 2],
    nodes: Vec<Node>,
    /// The first unused node of a list.
    unused: u32,
    schedule: Schedule,
    /// Pairs that are open, and entries that no longer count.
    open: Vec<Entry>,
    /// Open pairs that could not be split for lack of room.
    stuck: Vec<u32>,
    contacts: Vec<u32>,
    stack: Vec<Pending>,
    /// The sum of all steps (a length).
    travelled: f64,
    open_weight: f64,
    clock: u32,
    pub changes: Changes,
}

impl Front {
    /// The front of two bodies, all of it open; it looks ahead as far as `size` (a length).
    pub fn new(layers: [Arc<Layers>; 2], size: f64, options: FrontOptions) -> Front {
        let coarsest = layers.each_ref().map(|layers| (layers.shells.levels.len() - 1) as u8);
        let mut front = Front {
            options,
            layers,
            floor: coarsest.map(|level| options.finest.max(1).min(level)),
            nodes: Vec::new(),
            unused: NONE,
            schedule: Schedule::new(size),
            open: Vec::new(),
            stuck: Vec::new(),
            contacts: Vec::new(),
            stack: Vec::new(),
            travelled: 0.0,
            open_weight: 0.0,
            clock: 0,
            changes: Changes::default(),
        };
        front.reset();
        front
    }

    /// Forgets all that is known: every pair of the coarsest facets is open.
    pub fn reset(&mut self) {
        self.nodes.clear();
        self.schedule.clear();
        self.open.clear();
        self.stuck.clear();
        self.contacts.clear();
        (self.unused, self.travelled, self.open_weight) = (NONE, 0.0, 0.0);
        let counts = self.roots();
        let levels = self.layers.each_ref().map(|layers| (layers.shares.len() - 1) as u8);
        for i in 0..counts[0] {
            for j in (if self.options.one { i } else { 0 })..counts[1] {
                let n = self.add([i, j], levels, NONE);
                self.leave_open(n);
            }
        }
    }

    /// How many facets the coarsest levels have.
    fn roots(&self) -> [u32; 2] {
        self.layers.each_ref().map(|layers| layers.shares.last().map_or(0, Vec::len) as u32)
    }

    /// Begins a step in which the bodies may have come so much nearer: all whose clearance that uses up is open.
    pub fn begin(&mut self, step: f64) {
        self.clock = self.clock.wrapping_add(1);
        self.changes = Changes::default();
        if step > 0.0 {
            self.travelled = (self.travelled + step).next_up();
            let from = self.open.len();
            self.schedule.advance(self.travelled, &mut self.open);
            let mut k = from;
            while k < self.open.len() {
                let Entry { pair, stamp } = self.open[k];
                let node = &mut self.nodes[pair as usize];
                if node.stamp == stamp && node.state == State::Apart {
                    node.state = State::Open;
                    self.open_weight += f64::from(node.weight);
                    k += 1;
                } else {
                    self.open.swap_remove(k);
                }
            }
        }
        for n in std::mem::take(&mut self.stuck) {
            self.close(n);
            self.leave_open(n);
        }
    }

    /// Looks at the pairs in contact whose triangles may have parted; false when the budget ends.
    pub fn verify_contacts(&mut self, frame: &mut Frame<'_>, meter: &mut Meter<'_>) -> bool {
        // From the end: a pair that is no longer in contact is replaced by the last one, which was looked at.
        for k in (0..self.contacts.len()).rev() {
            let n = self.contacts[k];
            if self.nodes[n as usize].due >= self.travelled {
                continue;
            }
            if !meter.pay(1) {
                return false;
            }
            if self.still_meets(n, frame) {
                continue;
            }
            self.leave_contact(n);
            if !self.settle(n, frame, meter) {
                return false;
            }
        }
        self.merge_resting();
        true
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
            false => meeting(&a, &b, frame.pad) == Meeting::Meet,
            true => cell::meets_itself(&frame.bodies[0], node.witness, [&a, &b]),
        };
        if !meets {
            return false;
        }
        let size = a.normal.length_squared().min(b.normal.length_squared()).sqrt().sqrt();
        let slow = frame.step < SLOW * size && !self.options.one;
        let margin = if slow { crossing_margin(&a, &b, frame.pad) } else { 0.0 };
        node.due = (self.travelled + margin).next_down().max(self.travelled);
        let lies = (b.centre() - a.centre()).as_vec3();
        if lies.distance(node.seen.into()) <= self.options.rest_drift {
            node.age += self.options.frame;
            return true;
        }
        (node.age, node.seen) = (0.0, lies.to_array());
        // What rested coarsely has moved: it is looked at as finely as before.
        node.levels == self.floor
    }

    /// Replaces pairs that rest in contact by their parents, as long as all siblings rest too.
    fn merge_resting(&mut self) {
        let old = self.options.rest_after;
        for k in (0..self.contacts.len()).rev() {
            let Some(&n) = self.contacts.get(k) else { continue };
            let node = self.nodes[n as usize];
            if node.age < old || node.parent == NONE {
                continue;
            }
            let rests = |node: &Node| match node.state {
                State::Contact => node.age >= old,
                State::Apart => true,
                _ => false,
            };
            if !self.children(node.parent).all(|child| rests(&self.nodes[child as usize])) {
                continue;
            }
            self.merge(node.parent);
            let parent = &mut self.nodes[node.parent as usize];
            (parent.witness, parent.seen, parent.age, parent.due) =
                (node.witness, node.seen, node.age, node.due);
            self.enter_contact(node.parent);
        }
    }

    /// Looks at all open pairs below two facets of the coarsest levels; false when the budget ends.
    pub fn settle_root(&mut self, facets: [u32; 2], frame: &mut Frame<'_>, meter: &mut Meter<'_>) -> bool {
        let mut below: SmallVec<[u32; 64]> = SmallVec::new();
        below.push(facets[0] * self.roots()[1] + facets[1]);
        while let Some(n) = below.pop() {
            match self.nodes[n as usize].state {
                State::Split => below.extend(self.children(n)),
                State::Open => {
                    self.close(n);
                    if !self.settle(n, frame, meter) {
                        return false;
                    }
                }
                _ => {}
            }
        }
        true
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
        if self.open.is_empty() && self.stuck.is_empty() {
            return 0.0;
        }
        self.open_weight.clamp(f64::MIN_POSITIVE, 1.0)
    }

    /// How much of the weight belongs to pairs in contact that a budget left unverified.
    pub fn unverified_share(&self) -> f64 {
        let stale = |n: &&u32| self.nodes[**n as usize].due < self.travelled;
        self.contacts.iter().filter(stale).map(|&n| f64::from(self.nodes[n as usize].weight)).sum()
    }

    /// Whether pairs could not be split for lack of room.
    pub fn is_full(&self) -> bool {
        !self.stuck.is_empty()
    }

    /// Whether something was left open.
    pub fn has_open(&self) -> bool {
        !self.open.is_empty() || !self.stuck.is_empty()
    }

    /// The pairs in contact: facets, their levels, and two triangles that meet now.
    pub fn contacts(&self) -> impl Iterator<Item = ([u32; 2], [u8; 2], Option<[u32; 2]>)> {
        let nodes = self.contacts.iter().map(|&n| &self.nodes[n as usize]);
        let known = nodes.filter(|node| node.due >= self.travelled);
        known.map(|node| (node.facets, node.levels, Some(node.witness).filter(|w| w[0] != NONE)))
    }

    /// How far apart the surfaces of a pair may be that counts as a contact without a look at its triangles.
    pub fn tolerance(&self, bodies: &[Posed<'_>; 2]) -> f64 {
        let of = |(facets, levels, _): ([u32; 2], [u8; 2], _)| {
            (0..2).map(|k| 2.0 * facet_pair::reach(&bodies[k].facet(levels[k], facets[k]))).sum()
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
        let Node { facets, levels, .. } = self.nodes[n as usize];
        let placed = [0, 1].map(|k| frame.bodies[k].facet(levels[k], facets[k]));
        let gap = self.gap(n, &placed, frame);
        if gap > 0.0 {
            self.set_apart(n, gap);
            self.merge_parted(n, gap, frame, meter);
            return true;
        }
        self.stack.push(Pending { node: n, facets: placed, gap });
        while let Some(pending) = self.stack.pop() {
            if !meter.pay(1) {
                self.leave_open(pending.node);
                while let Some(pending) = self.stack.pop() {
                    self.leave_open(pending.node);
                }
                return false;
            }
            if self.nodes[pending.node as usize].levels == self.floor {
                self.settle_cell(&pending, frame, meter);
            } else {
                self.split(&pending, frame, meter);
            }
        }
        true
    }

    /// How far apart the surfaces of a pair surely are; 0 or less where that is not known.
    fn gap(&self, n: u32, placed: &[Facet; 2], frame: &mut Frame<'_>) -> f64 {
        frame.work.volume_tests += 1;
        if !self.options.one {
            return facet_pair::gap(&placed[0], &placed[1]) - frame.pad;
        }
        let Node { facets, levels, .. } = self.nodes[n as usize];
        self_pair::gap(&frame.bodies[0], &self.layers[0].cones, facets, levels, placed, frame.pad)
    }

    /// The triangles of a pair at the floor.
    fn settle_cell(&mut self, pending: &Pending, frame: &mut Frame<'_>, meter: &mut Meter<'_>) {
        let n = pending.node;
        let Node { facets, levels, .. } = self.nodes[n as usize];
        let before = frame.work.primitive_tests;
        let found = if self.options.finest > 0 {
            Cell::Meet([NONE; 2])
        } else if self.options.one {
            cell::of_one(&frame.bodies[0], facets, levels, frame.pad, &mut frame.work)
        } else {
            cell::of_two(&frame.bodies, facets, levels, &pending.facets, frame.pad, &mut frame.work)
        };
        meter.charge(frame.work.primitive_tests - before);
        match found {
            Cell::Apart(gap) => self.set_apart(n, gap),
            Cell::Meet(witness) => {
                let node = &mut self.nodes[n as usize];
                (node.witness, node.due, node.age, node.seen) = (witness, self.travelled, 0.0, [0.0; 3]);
                self.enter_contact(n);
            }
        }
    }

    /// Replaces a pair by those of the children of its larger facet; the nearest of them is looked at next.
    fn split(&mut self, pending: &Pending, frame: &mut Frame<'_>, meter: &mut Meter<'_>) {
        let Pending { node: n, facets: placed, .. } = *pending;
        let Node { facets, levels, merged_at, .. } = self.nodes[n as usize];
        let pairs = self.pairs_below(facets, levels, frame);
        if self.nodes.len() + pairs.len() > self.options.most && self.count_unused(pairs.len()) < pairs.len()
        {
            self.nodes[n as usize].state = State::Open;
            self.open_weight += f64::from(self.nodes[n as usize].weight);
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
                false => frame.bodies[k].facet(below_levels[k], below[k]),
            };
            let placed = [at(0), at(1)];
            let gap = self.gap(child, &placed, frame);
            meter.charge(1);
            if gap > 0.0 {
                self.set_apart(child, gap);
            } else {
                self.stack.push(Pending { node: child, facets: placed, gap });
            }
        }
        // The last is looked at first.
        self.stack[from..].sort_unstable_by(|x, y| y.gap.total_cmp(&x.gap).then(x.node.cmp(&y.node)));
    }

    /// The pairs that replace one: of the children of the facet that is larger at rest.
    fn pairs_below(
        &self,
        facets: [u32; 2],
        levels: [u8; 2],
        frame: &Frame<'_>,
    ) -> SmallVec<[([u32; 2], [u8; 2]); 16]> {
        let level = |k: usize| &frame.bodies[k].shells.levels[usize::from(levels[k])];
        if self.options.one && (facets[0], levels[0]) == (facets[1], levels[1]) {
            let children = level(0).children.of(facets[0]);
            let pairs =
                children.iter().enumerate().flat_map(|(k, &i)| children[k..].iter().map(move |&j| [i, j]));
            return pairs.map(|pair| (pair, levels.map(|l| l - 1))).collect();
        }
        let radius = |k: usize| level(k).facets[facets[k] as usize].radius;
        let first = levels[0] > self.floor[0] && (levels[1] == self.floor[1] || radius(0) >= radius(1));
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

    /// Replaces pairs by their parent when all of them and the parent itself are well apart.
    fn merge_parted(&mut self, n: u32, gap: f64, frame: &mut Frame<'_>, meter: &mut Meter<'_>) {
        let (mut n, mut gap) = (n, gap);
        loop {
            let parent = self.nodes[n as usize].parent;
            if parent == NONE {
                return;
            }
            let Node { facets, levels, .. } = self.nodes[parent as usize];
            let rest =
                |k: usize| &frame.bodies[k].shells.levels[usize::from(levels[k])].facets[facets[k] as usize];
            // The distance between child and parent: what the parent is thicker at most.
            let thickness: f64 = (0..2).map(|k| rest(k).outer - rest(k).inner).sum();
            let enough = thickness.max(STEPS_BEFORE_SPLIT * frame.step);
            let apart =
                |node: &Node| node.state == State::Apart && node.due - self.travelled > thickness.min(gap);
            if gap < enough || !self.children(parent).all(|child| apart(&self.nodes[child as usize])) {
                return;
            }
            meter.charge(1);
            let placed = [0, 1].map(|k| frame.bodies[k].facet(levels[k], facets[k]));
            let parent_gap = self.gap(parent, &placed, frame);
            if parent_gap < STEPS_BEFORE_SPLIT * frame.step || parent_gap <= 0.0 {
                return;
            }
            self.merge(parent);
            self.set_apart(parent, parent_gap);
            (n, gap) = (parent, parent_gap);
        }
    }

    /// Drops the children of a pair, none of which is split or open.
    fn merge(&mut self, parent: u32) {
        let mut child = std::mem::replace(&mut self.nodes[parent as usize].child, NONE);
        while child != NONE {
            let Node { next, state, .. } = self.nodes[child as usize];
            if state == State::Contact {
                self.leave_contact(child);
            }
            let node = &mut self.nodes[child as usize];
            (node.state, node.stamp, node.next) = (State::Unused, node.stamp.wrapping_add(1), self.unused);
            self.unused = child;
            child = next;
        }
        self.nodes[parent as usize].merged_at = self.clock;
        self.changes.merges += 1;
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
        let area = |k: usize| self.layers[k].shares[usize::from(levels[k])][facets[k] as usize];
        // Of one body with itself every pair but those on the diagonal stands for two.
        let twice = self.options.one && (facets[0], levels[0]) != (facets[1], levels[1]);
        let weight = area(0) * area(1) * if twice { 2.0 } else { 1.0 };
        let next = if parent == NONE { NONE } else { self.nodes[parent as usize].child };
        let node = Node {
            facets,
            levels,
            state: State::Open,
            weight,
            parent,
            child: NONE,
            next,
            stamp: 0,
            due: 0.0,
            merged_at: 0,
            witness: [NONE; 2],
            slot: 0,
            age: 0.0,
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

    fn set_apart(&mut self, n: u32, gap: f64) {
        let node = &mut self.nodes[n as usize];
        node.state = State::Apart;
        node.due = (self.travelled + gap).next_down();
        node.stamp = node.stamp.wrapping_add(1);
        self.schedule.insert(node.due, Entry { pair: n, stamp: node.stamp });
    }

    /// Enters an open pair into the list of those.
    fn leave_open(&mut self, n: u32) {
        let node = &mut self.nodes[n as usize];
        (node.state, node.stamp) = (State::Open, node.stamp.wrapping_add(1));
        self.open_weight += f64::from(node.weight);
        self.open.push(Entry { pair: n, stamp: node.stamp });
    }

    /// Takes an open pair out of the list of those.
    fn close(&mut self, n: u32) {
        let node = &mut self.nodes[n as usize];
        node.stamp = node.stamp.wrapping_add(1);
        self.open_weight -= f64::from(node.weight);
    }

    fn enter_contact(&mut self, n: u32) {
        let node = &mut self.nodes[n as usize];
        (node.state, node.slot) = (State::Contact, self.contacts.len() as u32);
        self.contacts.push(n);
    }

    fn leave_contact(&mut self, n: u32) {
        let slot = self.nodes[n as usize].slot;
        self.contacts.swap_remove(slot as usize);
        if let Some(&moved) = self.contacts.get(slot as usize) {
            self.nodes[moved as usize].slot = slot;
        }
        self.nodes[n as usize].state = State::Open;
    }
}
