//! Which triangles meet, and where the next ones may: pairs of patches that cover all pairs of triangles, each looked at
//! again when something may have happened within it.
//!
//! The front of two trees of patches (Klosowski et al. 1998), kept from frame to frame. A pair of patches waits while its gap
//! is expected to last, else finer ones stand for it. Of two clusters of triangles each pair is decided by the exact test
//! (`cluster_pair`). Where some meet, so many are told that each of the others shares vertices with one of them on both
//! bodies: what is told stands for all of them while it meets (`witnesses`). The clusters are looked at again when a witness
//! is lost, or when the planes, edges or cylinders between other triangles are no longer expected to separate them: a pair
//! beside a witness may begin and end unseen. So a frame costs as much as changes in it, however long the contact is.
//!
//! All this is expected from the motion of the last frames, not proved: gaps close as fast as they do now, and no more is
//! added to that in a frame than was lately. Where the motion changes faster, all pairs are looked at.

use glam::DVec3;

use super::super::facet_pair::{self, Gap};
use super::super::front::{Frame, NONE};
use super::super::layers::Layers;
use super::super::posed::{Flow, largest_turn};
use super::cluster_pair::Approach;
use super::clusters::PlacedClusters;
use super::gap_motion::{CAUTION, GapMotion};
use super::look::{Look, MeetingPairs};
use super::patches::{PlacedPatch, PlacedPatches};
use super::witnesses::Witnesses;
use super::{Told, beside, told_of};
use crate::simd::{SimdLevel, prefetch, prefetch_whole};

/// Frames for which a pair waits at most; a power of two.
const AHEAD: u64 = 256;

/// Share of the whole motion that counts as an approach whatever its direction is (no unit): patches are not flat, bodies
/// turn, and what recedes may come back.
const ASIDE: f64 = 0.5;

/// Frames by which a contact may be told late: pairs are looked at so much later than something may have happened.
const DELAY: u64 = 1;

/// The least change of the motion in one frame, and in a frame on the average, that is expected: a part of the motion itself
/// (no unit).
const LEAST_CHANGE: [f64; 2] = [0.05, 0.01];

/// Part of the mean change of the motion that is of the last frame (no unit).
const NEWEST: f64 = 1.0 / 16.0;

/// Share of the stated deformation, as a part of the patches' radii, by which gaps may be wrong (no unit): what deforms with
/// the anchor is seen.
const LOOSE: f64 = 0.1;

/// Share of the deformation of a frame by which the motion of two clusters may differ from what was measured (no unit).
const UNMEASURED: f64 = 0.3;

/// Share of the deformation of a frame by which it may change from one frame to the next on the average (no unit).
const BENDING: f64 = 0.02;

/// The length over which a deformation is expected to change, as a part of the bodies' size (no unit): over it, vertices
/// that move by d turn normals by d.
const SMOOTH: f64 = 0.3;

/// What is left of a speed, a turn, a change of the motion and its mean that count, from frame to frame, when bodies come
/// to rest or go on evenly (no unit).
const FADING: [f64; 4] = [0.98, 0.98, 0.97, 0.97];

/// How much faster than expected bodies may be, or change their motion, until all that waits is looked at anew (no unit).
const FASTER: f64 = 1.5;

/// Frames for which planes and edges between two clusters are expected to last, at least and at most; the farther one
/// looks ahead, the faster they may have to close.
const HORIZON: [f32; 2] = [8.0, 64.0];

/// Pairs of patches that would be looked at sooner are replaced by finer ones (frames).
const SOON: f64 = 12.0;

/// Clusters whose cylinders stay apart longer are not looked at any closer (frames).
const APART: f64 = 8.0;

/// Pairs are replaced by a coarser one that would not be looked at sooner (frames).
const LATE: f64 = 36.0;

/// Coarser pairs are tried in one of so many frames.
const RISING: u64 = 2;

/// So many entries ahead their nodes, patches, clusters and vertices are asked for.
const FETCHED: [usize; 4] = [12, 8, 5, 2];

/// Two patches with what is expected of them.
#[derive(Debug, Clone, Copy)]
struct Placed {
    pair: [u32; 2],
    patches: [PlacedPatch; 2],
    /// Frames for which they stay apart; 0 where they are not.
    apart: f64,
}

/// A pair of the front, or one that stands above some.
#[derive(Debug, Clone, Copy)]
struct Node {
    pair: [u32; 2],
    parent: u32,
    /// The first of two that stand for it; `NONE` for a pair of the front.
    child: u32,
    /// Entries with another stamp do not count.
    stamp: u32,
    /// Witnesses with another one do not count.
    choice: u32,
    /// Frames for which two clusters waited, or were expected to.
    waits: u16,
    /// Of two clusters, whether some of their triangles meet.
    is_met: bool,
    /// Whether its share counts as apart.
    is_apart: bool,
}

/// A node that waits.
#[derive(Debug, Clone, Copy)]
struct Entry {
    node: u32,
    stamp: u32,
}

/// Nodes that wait: those within which triangles met, and the others.
type Waiting = [Vec<Entry>; 2];

/// The front.
#[derive(Debug, Clone)]
pub(super) struct KineticFront {
    stretch: [f64; 2],
    /// The bodies' size (a length).
    size: f64,
    nodes: Vec<Node>,
    /// The first of two nodes that are not used.
    free: Vec<u32>,
    /// By frame, over and over, what is to be looked at then.
    ahead: Vec<Waiting>,
    /// What the budget left over.
    late: Waiting,
    /// Room for what is due; empty between frames.
    due: Waiting,
    stack: Vec<(u32, Placed)>,
    patches: [PlacedPatches; 2],
    clusters: [PlacedClusters; 2],
    witnesses: Witnesses,
    /// How far any points of the bodies have gone against each other at most since the beginning (a length).
    gone: f64,
    /// The share of all pairs of surface points that belongs to pairs which are apart.
    apart: f64,
    /// Frames since the beginning.
    clock: u64,
    /// By how much points move, normals turn, the motion of points changes in a frame, and does so on the average, as what
    /// waits was expected by: less and less while the bodies slow down.
    pace: [f64; 4],
    /// The mean change of the motion in a frame over the last ones.
    mean_change: f64,
    /// The motion of the frame before.
    flow: Option<Flow>,
    /// By how much normals turn in this frame or are expected to (radians).
    turned: f64,
    level: SimdLevel,
}

impl KineticFront {
    pub fn new(stretch: [f64; 2], size: f64) -> KineticFront {
        let mut front = KineticFront {
            stretch,
            size,
            nodes: Vec::new(),
            free: Vec::new(),
            ahead: vec![Waiting::default(); AHEAD as usize],
            late: Waiting::default(),
            due: Waiting::default(),
            stack: Vec::new(),
            patches: Default::default(),
            clusters: Default::default(),
            witnesses: Witnesses::default(),
            gone: 0.0,
            apart: 0.0,
            clock: 0,
            pace: [0.0; 4],
            mean_change: 0.0,
            flow: None,
            turned: 0.0,
            level: SimdLevel::best(),
        };
        front.clear();
        front
    }

    /// Forgets everything: all pairs of triangles are to be looked at.
    pub fn clear(&mut self) {
        self.ahead.as_flattened_mut().iter_mut().for_each(Vec::clear);
        self.late.iter_mut().for_each(Vec::clear);
        self.nodes.clear();
        self.free.clear();
        self.patches.iter_mut().for_each(PlacedPatches::clear);
        self.clusters.iter_mut().for_each(PlacedClusters::clear);
        self.witnesses.clear();
        self.gone = 0.0;
        self.apart = 0.0;
        self.pace = [0.0; 4];
        self.flow = None;
        self.nodes.push(Node::new(NONE));
        self.late[1].push(Entry { node: 0, stamp: 0 });
    }

    /// The share of all pairs of surface points that were seen apart, and are not yet expected to meet.
    pub fn coverage(&self) -> f64 {
        self.apart.clamp(0.0, 1.0 - f64::EPSILON)
    }

    /// Pairs of triangles that meet, at least one for each contact that is known, and their names.
    pub fn told(&self) -> &[Told] {
        self.witnesses.told()
    }

    /// Goes on to the next frame and looks at the pairs that are due; false when the budget ends.
    pub fn step(&mut self, look: &mut Look<'_, '_, '_>) -> bool {
        self.clock += 1;
        let is_faster = self.is_faster(look.frame);
        // Where nothing lasts as long as was expected, all are due.
        let due_now = if is_faster { 0..self.ahead.len() } else { slot(self.clock)..slot(self.clock) + 1 };
        let mut due = std::mem::take(&mut self.due);
        // What the budget left over has waited longest.
        for (due, late) in due.iter_mut().zip(&mut self.late) {
            due.append(late);
        }
        for waiting in &mut self.ahead[due_now] {
            for (due, waiting) in due.iter_mut().zip(waiting) {
                due.append(waiting);
            }
        }
        let is_paid = self.verify(&mut due[0], look);
        let is_done = is_paid && self.look_at_all(&mut due, look);
        if !is_done {
            due.iter().for_each(|entries| self.leave(entries));
        }
        due.iter_mut().for_each(Vec::clear);
        self.due = due;
        let nodes = &self.nodes;
        self.witnesses.drop_old(|node| nodes[node as usize].choice);
        is_done
    }

    /// Keeps the witnesses that still meet, before anything else is looked for. Where one is lost its clusters are due;
    /// false when the budget ends.
    fn verify(&mut self, due: &mut Vec<Entry>, look: &mut Look<'_, '_, '_>) -> bool {
        self.gone += look.frame.step;
        let (gone, nodes) = (self.gone, &mut self.nodes);
        let mut is_paid = true;
        self.witnesses.verify(gone, |node, choice, triangles| {
            let of = &mut nodes[node as usize];
            if of.choice != choice {
                return None;
            }
            is_paid = is_paid && look.meter.pay(1);
            let margin = if is_paid { look.margin(triangles) } else { None };
            if margin.is_none() {
                of.choice = of.choice.wrapping_add(1);
                of.stamp = of.stamp.wrapping_add(1);
                due.push(Entry { node, stamp: of.stamp });
            }
            margin.map(|margin| gone + margin)
        });
        is_paid
    }

    /// Looks at what met and at the others in turn, so that a small budget is shared by both; takes away what was looked at
    /// when the budget ends.
    fn look_at_all(&mut self, due: &mut Waiting, look: &mut Look<'_, '_, '_>) -> bool {
        for k in 0..due[0].len().max(due[1].len()) {
            for which in 0..2 {
                self.fetch(&due[which], k, look);
                if k < due[which].len() && !self.look_at(due[which][k], look) {
                    let done = [k + 1, k + which];
                    for (entries, done) in due.iter_mut().zip(done) {
                        entries.drain(..done.min(entries.len()));
                    }
                    return false;
                }
            }
        }
        true
    }

    /// Asks for the memory that the next entries need: all of it together is larger than the near caches.
    #[inline]
    fn fetch(&self, entries: &[Entry], k: usize, look: &Look<'_, '_, '_>) {
        let node = |ahead: usize| entries.get(k + ahead).map(|entry| &self.nodes[entry.node as usize]);
        if let Some(node) = node(FETCHED[0]) {
            prefetch(node);
        }
        if let Some(node) = node(FETCHED[1]) {
            (0..2).for_each(|k| prefetch(look.patch(k, node.pair[k])));
        }
        if let Some(node) = node(FETCHED[2]) {
            for k in 0..2 {
                let patch = look.patch(k, node.pair[k]);
                match patch.cluster() {
                    Some(cluster) => {
                        prefetch_whole(&look.layers[k].patches().clusters[cluster as usize]);
                        self.clusters[k].fetch_place(cluster);
                    }
                    None => patch.fetch(&look.frame.bodies[k]),
                }
            }
        }
        if let Some(node) = node(FETCHED[3])
            && let Some(clusters) = look.clusters(node.pair)
        {
            for (k, cluster) in look.own(clusters).into_iter().enumerate() {
                self.clusters[k].fetch(clusters[k]);
                cluster.fetch(&look.frame.bodies[k]);
            }
        }
    }

    /// Puts off what the budget no longer pays for.
    fn leave(&mut self, entries: &[Entry]) {
        for entry in entries {
            let is_met = self.nodes[entry.node as usize].is_met;
            self.late[usize::from(!is_met)].push(*entry);
        }
    }

    /// Whether the bodies are faster than what waits was expected by; takes notice of how fast they are.
    fn is_faster(&mut self, frame: &Frame<'_>) -> bool {
        let turned = frame.flow.as_ref().map_or(0.0, |flow| largest_turn(flow.turn));
        let bent = frame.deformed / (SMOOTH * self.size);
        let before = std::mem::replace(&mut self.flow, frame.flow);
        let body = &frame.bodies[1];
        let place = body.vertices.first().map_or(DVec3::ZERO, |p| body.pose.apply(*p));
        let changed = match (&self.flow, &before) {
            (Some(now), Some(before)) => now.change_from(before, place, self.size),
            _ => frame.step,
        };
        self.mean_change = match before {
            Some(_) => self.mean_change + NEWEST * (changed - self.mean_change),
            None => frame.step,
        };
        let now = [frame.step, turned + bent, changed, self.mean_change];
        let is_faster = (0..4).any(|k| now[k] > FASTER * self.pace[k].max(self.least_pace(k)));
        let fading = |k: usize| now[k].min(self.pace[k]).max(FADING[k] * self.pace[k]);
        self.pace = if is_faster { now } else { [0, 1, 2, 3].map(fading) };
        self.turned = now[1].max(self.pace[1]);
        is_faster
    }

    /// The least pace that is expected.
    fn least_pace(&self, k: usize) -> f64 {
        if k < 2 { 0.0 } else { LEAST_CHANGE[k - 2] * self.pace[0] }
    }

    /// Looks at one pair and at those that replace it; false when the budget ends.
    fn look_at(&mut self, entry: Entry, look: &mut Look<'_, '_, '_>) -> bool {
        let Node { pair, stamp, .. } = self.nodes[entry.node as usize];
        if stamp != entry.stamp {
            return true;
        }
        if !look.meter.pay(1) {
            self.leave(&[entry]);
            return false;
        }
        if let Some(clusters) = look.clusters(pair) {
            self.look_at_clusters(entry.node, clusters, look);
            return true;
        }
        let placed = self.placed_anew(pair, look);
        if placed.apart >= SOON {
            self.rise(entry.node, placed, look);
            return true;
        }
        self.count_apart(entry.node, false, look.layers);
        self.stack.push((entry.node, placed));
        while let Some((node, placed)) = self.stack.pop() {
            if !look.meter.pay(1) {
                self.stack.push((node, placed));
                let left = self.stack.drain(..);
                let nodes = &self.nodes;
                self.late[1].extend(left.map(|(node, _)| Entry { node, stamp: nodes[node as usize].stamp }));
                return false;
            }
            match look.clusters(placed.pair) {
                Some(clusters) => self.look_at_clusters(node, clusters, look),
                None => self.open(node, &placed, look),
            }
        }
        true
    }

    /// What is expected of two patches, which are placed.
    #[inline]
    fn placed_anew(&mut self, pair: [u32; 2], look: &mut Look<'_, '_, '_>) -> Placed {
        let patches = [self.place(0, pair[0], look), self.place(1, pair[1], look)];
        self.placed(pair, patches, look)
    }

    #[inline]
    fn place(&mut self, body: usize, patch: u32, look: &Look<'_, '_, '_>) -> PlacedPatch {
        let tree = &look.layers[body].patches().tree;
        self.patches[body].place(patch, tree, &look.frame.bodies[body], self.clock)
    }

    /// What is expected of two patches.
    #[inline]
    fn placed(&self, pair: [u32; 2], patches: [PlacedPatch; 2], look: &mut Look<'_, '_, '_>) -> Placed {
        look.frame.work.volume_tests += 1;
        let (a, b) = (&patches[0].facet, &patches[1].facet);
        let gap = facet_pair::gap(a, b);
        let loose = LOOSE * (self.stretch[0] * a.radius + self.stretch[1] * b.radius);
        let gap = Gap { width: gap.width - loose, ..gap };
        let apart = if gap.width > 0.0 {
            let (deforms, deformed) = match (patches[0].deforms, patches[1].deforms) {
                (Some(of_a), Some(of_b)) => (of_b - of_a, UNMEASURED * look.frame.deformed),
                _ => (DVec3::ZERO, look.frame.deformed),
            };
            let moved = look.frame.flow.as_ref().map(|flow| flow.at(b.centre) + deforms);
            self.motion(moved, a.radius.min(b.radius), deformed, look.frame).frames(gap).unwrap_or(SOON)
        } else {
            0.0
        };
        Placed { pair, patches, apart }
    }

    /// How b moves against a at patches of so small a radius, where points move so in the last frame, and differ from that
    /// by so much through deformation.
    #[inline]
    fn motion(&self, moved: Option<DVec3>, radius: f64, deformed: f64, frame: &Frame<'_>) -> GapMotion {
        let speed = moved.map_or(0.0, DVec3::length);
        // Bodies that slow down or rest may go on in any direction.
        let is_steady = frame.step >= 0.5 * self.pace[0];
        let aside = if is_steady { ASIDE * speed } else { self.pace[0] };
        GapMotion {
            moved,
            aside: aside + deformed,
            unlike: self.turned * radius + deformed + self.pace[2].max(self.least_pace(2)),
            change: self.pace[3].max(self.least_pace(3)) + BENDING * frame.deformed,
        }
    }

    /// Has a pair looked at again.
    #[inline]
    fn wait(&mut self, node: u32, frames: f64, layers: [&Layers; 2]) {
        self.count_apart(node, frames >= 1.0, layers);
        let of = &mut self.nodes[node as usize];
        if of.is_met {
            of.is_met = false;
            of.choice = of.choice.wrapping_add(1);
        }
        self.enter(node, frames);
    }

    /// Has a node looked at after so many frames.
    #[inline]
    fn enter(&mut self, node: u32, frames: f64) {
        let frames = (frames as u64 + DELAY).clamp(1, AHEAD - 1);
        let of = &mut self.nodes[node as usize];
        of.waits = frames as u16;
        let (which, entry) = (usize::from(!of.is_met), Entry { node, stamp: of.stamp });
        self.ahead[slot(self.clock + frames)][which].push(entry);
    }

    fn count_apart(&mut self, node: u32, is_apart: bool, layers: [&Layers; 2]) {
        let Node { pair, is_apart: before, .. } = self.nodes[node as usize];
        if before != is_apart {
            let share = |k: usize| f64::from(layers[k].patches().tree[pair[k] as usize].share);
            let share = share(0) * share(1);
            self.apart += if is_apart { share } else { -share };
            self.nodes[node as usize].is_apart = is_apart;
        }
    }

    /// Has the coarsest pair wait instead of one that will not be looked at sooner than after some frames.
    fn rise(&mut self, mut node: u32, mut placed: Placed, look: &mut Look<'_, '_, '_>) {
        while placed.apart >= LATE && (self.clock + u64::from(node)).is_multiple_of(RISING) {
            let parent = self.nodes[node as usize].parent;
            if parent == NONE {
                break;
            }
            let pair = self.nodes[parent as usize].pair;
            let k = usize::from(pair[0] == placed.pair[0]);
            let mut patches = placed.patches;
            patches[k] = self.place(k, pair[k], look);
            let above = self.placed(pair, patches, look);
            if above.apart < LATE {
                break;
            }
            self.close(parent, look.layers);
            (node, placed) = (parent, above);
        }
        self.wait(node, placed.apart, look.layers);
    }

    /// Takes away all that stands for a node.
    fn close(&mut self, node: u32, layers: [&Layers; 2]) {
        let child = std::mem::replace(&mut self.nodes[node as usize].child, NONE);
        if child == NONE {
            return;
        }
        for below in [child, child + 1] {
            self.close(below, layers);
            self.count_apart(below, false, layers);
            let of = &mut self.nodes[below as usize];
            of.stamp = of.stamp.wrapping_add(1);
            of.choice = of.choice.wrapping_add(1);
        }
        self.free.push(child);
    }

    /// Looks closer at two patches: at the parts of the larger one.
    fn open(&mut self, node: u32, placed: &Placed, look: &mut Look<'_, '_, '_>) {
        let Placed { pair, patches, .. } = *placed;
        let own = [look.patch(0, pair[0]), look.patch(1, pair[1])];
        let k = match [own[0].cluster(), own[1].cluster()] {
            [Some(_), _] => 1,
            [_, Some(_)] => 0,
            _ => usize::from(own[0].radius < own[1].radius),
        };
        let child = self.two_nodes(node);
        look.meter.charge(2);
        for (child, part) in (child..).zip(own[k].below) {
            let (mut pair, mut patches) = (pair, patches);
            pair[k] = part;
            patches[k] = self.place(k, part, look);
            self.nodes[child as usize].pair = pair;
            let placed = self.placed(pair, patches, look);
            if placed.apart >= SOON {
                self.wait(child, placed.apart, look.layers);
            } else {
                self.stack.push((child, placed));
            }
        }
    }

    /// Two nodes that stand for one.
    fn two_nodes(&mut self, parent: u32) -> u32 {
        let child = self.free.pop().unwrap_or_else(|| {
            self.nodes.extend([Node::new(parent); 2]);
            self.nodes.len() as u32 - 2
        });
        for node in [child, child + 1] {
            let node = &mut self.nodes[node as usize];
            *node = Node { stamp: node.stamp, choice: node.choice, ..Node::new(parent) };
        }
        self.nodes[parent as usize].child = child;
        child
    }

    /// Two clusters: so many of their triangles that meet are told that the others are beside them.
    fn look_at_clusters(&mut self, node: u32, clusters: [u32; 2], look: &mut Look<'_, '_, '_>) {
        let Node { pair, is_met, waits, .. } = self.nodes[node as usize];
        let layers = look.layers;
        let own = look.own(clusters);
        look.frame.work.volume_tests += 1;
        let frame = &*look.frame;
        let all = [&layers[0].patches().clusters[..], &layers[1].patches().clusters[..]];
        let [of_a, of_b] = &mut self.clusters;
        let (a, b) = (
            of_a.place(clusters[0], all[0], &frame.bodies[0], self.clock),
            of_b.place(clusters[1], all[1], &frame.bodies[1], self.clock),
        );
        let (a, b) = (self.clusters[0].at(a), self.clusters[1].at(b));
        let radius = a.facet.radius + b.facet.radius;
        let (deforms, deformed) = match (a.deforms, b.deforms) {
            (Some(of_a), Some(of_b)) => (of_b - of_a, UNMEASURED * frame.deformed),
            _ => (DVec3::ZERO, frame.deformed),
        };
        let moved = frame.flow.as_ref().map(|flow| flow.at(b.facet.centre) + deforms);
        let motion = self.motion(moved, radius, deformed, frame);
        let mut apart = 0.0;
        if !is_met {
            let gap = facet_pair::gap(&a.facet, &b.facet);
            apart = if gap.width > 0.0 { motion.frames(gap).unwrap_or(SOON) } else { 0.0 };
            if apart >= APART {
                if apart >= LATE {
                    let placed = self.placed_anew(pair, look);
                    if placed.apart >= LATE {
                        return self.rise(node, placed, look);
                    }
                }
                return self.wait(node, apart, layers);
            }
        }
        look.meter.charge(1);
        let blocks = [&a.block, &b.block];
        let horizon = (2.0 * f32::from(waits)).clamp(HORIZON[0], HORIZON[1]);
        let (unlike, speed) = (motion.unlike_within(f64::from(horizon)), motion.moved.unwrap_or(DVec3::ZERO));
        let approach = Approach::new(blocks, [a.facet.centre, b.facet.centre], speed, unlike, horizon);
        let mut near = approach.near(self.level, blocks, [own[0].lanes(), own[1].lanes()]);
        let met = look.decide(&approach, blocks, own, &mut near);
        if motion.moved.is_none() {
            near.frames = 0.0;
        }
        if met.pairs == 0 {
            return self.wait(node, apart.max(CAUTION * f64::from(near.frames)), layers);
        }
        self.count_apart(node, false, layers);
        let covered = self.choose(node, &met, clusters, look);
        let frames = near.frames_without(covered, [own[0].lanes(), own[1].lanes()]);
        self.enter(node, CAUTION * f64::from(frames));
    }

    /// Chooses witnesses of two clusters; returns the pairs that are beside them.
    fn choose(
        &mut self,
        node: u32,
        met: &MeetingPairs,
        clusters: [u32; 2],
        look: &mut Look<'_, '_, '_>,
    ) -> u64 {
        let own = look.own(clusters);
        let of = &mut self.nodes[node as usize];
        of.is_met = true;
        of.choice = of.choice.wrapping_add(1);
        let (mut left, mut covered) = (met.pairs, 0);
        while let Some(bit) = met.deepest(left) {
            let told = told_of(bit, own, clusters);
            let margin = look.margin(told.0);
            if let Some(margin) = margin {
                self.witnesses.push(node, of.choice, told, self.gone + margin);
            }
            let around = beside(bit, own);
            covered |= around;
            left &= !around;
        }
        covered
    }
}

/// The place of those that are looked at when the clock reads so.
#[inline]
fn slot(clock: u64) -> usize {
    (clock % AHEAD) as usize
}

impl Node {
    fn new(parent: u32) -> Node {
        Node {
            pair: [0; 2],
            parent,
            child: NONE,
            stamp: 0,
            choice: 0,
            waits: 0,
            is_met: false,
            is_apart: false,
        }
    }
}
