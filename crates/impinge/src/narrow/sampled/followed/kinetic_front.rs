//! Where contacts may begin or come apart: pairs of patches that cover all pairs of triangles, each looked at again when
//! something may have happened within it.
//!
//! The front of two trees of patches (Klosowski et al. 1998), kept from frame to frame. A pair waits while its gap is
//! expected to last, or while the cones of its normals are expected to have no direction in common (`patches`): where
//! surfaces cross well, curves only slide. Two triangles wait until one of their corners or edges may reach the other with
//! a common normal (`critical`). So a frame costs as much as there are pairs that nearly touch with nearly common normals.
//! All this is expected from the motion of the last frames, not proved: gaps close as fast as they do now, and no more is
//! added to that in a frame than was lately. Where the motion changes faster, all pairs are looked at. A pair is looked at
//! one frame later than something may have happened there, which is how late a contact may be told.

use glam::DVec3;

use super::super::facet_pair::{self, Gap};
use super::super::front::{Frame, NONE};
use super::super::layers::Layers;
use super::super::meter::Meter;
use super::super::posed::{Flow, largest_turn};
use super::super::shells::Facet;
use super::cones::{Cones, angle_up_to_sign};
use super::critical::{Rates, frames_until_critical};
use super::patches::Patch;
use crate::geom::triangle_triangle::meet;

/// Frames for which a pair waits at most; a power of two.
const AHEAD: u64 = 256;

/// Part of the expected time after which a pair is looked at (no unit): motions are not uniform.
const CAUTION: f64 = 0.9;

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

/// Share of the stated deformation, as a part of the patches' radii, by which gaps may be wrong, and as an angle, by which
/// cones may be (no unit): what deforms with the anchor is seen.
const LOOSE: f64 = 0.1;

/// The length over which a deformation is expected to change, as a part of the bodies' size (no unit): over it, vertices
/// that move by d turn normals by d.
const SMOOTH: f64 = 0.3;

/// What is left of a speed, a turn, a change of the motion and its mean that count, from frame to frame, when bodies come
/// to rest or go on evenly (no unit).
const FADING: [f64; 4] = [0.98, 0.98, 0.99, 0.99];

/// How much faster than expected bodies may be, or change their motion, until all that waits is looked at anew (no unit).
const FASTER: f64 = 1.5;

/// Patches smaller than the motion of so many frames are watched by their gaps alone (no unit): a curve that begins within
/// them may have left them in the next frame.
const SMALL: f64 = 3.0;

/// Pairs of patches that would be looked at sooner are replaced by finer ones (frames).
const SOON: f64 = 3.0;

/// Pairs of triangles whose gap will last longer are not looked at any closer (frames).
const LONG: f64 = 12.0;

/// Pairs are replaced by a coarser one that would not be looked at sooner (frames).
const LATE: f64 = 9.0;

/// Coarser pairs are tried in one of so many frames.
const RISING: u64 = 2;

/// What is expected within so many frames may have happened at the next look (frames).
const IMMINENT: f64 = 4.0 + DELAY as f64;

/// A gap that lasts longer makes it needless to look at normals (frames).
const ENOUGH: f64 = 64.0;

/// Two patches with what is expected of them.
#[derive(Debug, Clone, Copy)]
struct Placed {
    pair: [u32; 2],
    patches: [Facet; 2],
    /// Frames for which they stay apart; 0 where they are not.
    apart: f64,
    /// Frames for which nothing begins or comes apart within them, whether they cross or not.
    quiet: f64,
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
    /// The reading of the clock until which nothing is expected.
    until: u64,
    /// Whether there may already be contacts within it that are not known.
    is_fresh: bool,
    /// Whether something was about to happen within it when it was last looked at.
    is_imminent: bool,
    /// Whether its share counts as apart.
    is_apart: bool,
}

/// A node that waits.
#[derive(Debug, Clone, Copy)]
struct Entry {
    node: u32,
    stamp: u32,
}

/// The front.
#[derive(Debug, Clone)]
pub(super) struct KineticFront {
    stretch: [f64; 2],
    /// The bodies' size (a length).
    size: f64,
    nodes: Vec<Node>,
    /// The first of two nodes that are not used.
    free: Vec<u32>,
    /// By frame, over and over, the pairs to be looked at then: those in which something is about to happen, and the others.
    ahead: Vec<[Vec<Entry>; 2]>,
    /// What the budget left over.
    late: Vec<Entry>,
    /// Room for what is due; empty between frames.
    urgent: Vec<Entry>,
    stack: Vec<(u32, Placed)>,
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
    /// By how much they turn against their own body.
    bent: f64,
    cones: Cones,
}

/// What is looked at, and with what.
pub(super) struct Look<'l, 'f, 'b> {
    pub layers: [&'l Layers; 2],
    pub frame: &'l mut Frame<'f>,
    pub meter: &'l mut Meter<'b>,
    /// Triangles that meet where something may have begun.
    pub found: &'l mut Vec<[u32; 2]>,
}

impl KineticFront {
    pub fn new(stretch: [f64; 2], size: f64) -> KineticFront {
        let mut front = KineticFront {
            stretch,
            size,
            nodes: Vec::new(),
            free: Vec::new(),
            ahead: vec![[Vec::new(), Vec::new()]; AHEAD as usize],
            late: Vec::new(),
            urgent: Vec::new(),
            stack: Vec::new(),
            apart: 0.0,
            clock: 0,
            pace: [0.0; 4],
            mean_change: 0.0,
            flow: None,
            turned: 0.0,
            bent: 0.0,
            cones: Cones::default(),
        };
        front.clear();
        front
    }

    /// Forgets everything: all pairs of triangles are to be looked at.
    pub fn clear(&mut self) {
        self.ahead.as_flattened_mut().iter_mut().for_each(Vec::clear);
        self.nodes.clear();
        self.free.clear();
        self.late.clear();
        self.apart = 0.0;
        self.pace = [0.0; 4];
        self.flow = None;
        self.cones.clear();
        self.nodes.push(Node { is_fresh: true, ..Node::new(NONE) });
        self.late.push(Entry { node: 0, stamp: 0 });
    }

    /// The share of all pairs of surface points that were seen apart, and are not yet expected to meet.
    pub fn coverage(&self) -> f64 {
        self.apart.clamp(0.0, 1.0 - f64::EPSILON)
    }

    /// Goes on to the next frame and looks at the pairs that are due; false when the budget ends.
    pub fn step(&mut self, look: &mut Look<'_, '_, '_>) -> bool {
        self.clock += 1;
        self.cones.clock += 1;
        let is_faster = self.is_faster(look.frame);
        // Where nothing lasts as long as was expected, all are due.
        let due_now = if is_faster { 0..self.ahead.len() } else { slot(self.clock)..slot(self.clock) + 1 };
        // A small budget is used for what is urgent.
        let mut due = std::mem::take(&mut self.urgent);
        self.ahead[due_now.clone()].iter_mut().for_each(|[urgent, _]| due.append(urgent));
        due.append(&mut self.late);
        self.ahead[due_now].iter_mut().for_each(|[_, others]| due.append(others));
        let is_done = self.look_at_all(&due, look);
        due.clear();
        self.urgent = due;
        is_done
    }

    /// Whether the bodies are faster than what waits was expected by; takes notice of how fast they are.
    fn is_faster(&mut self, frame: &Frame<'_>) -> bool {
        let turned = frame.flow.as_ref().map_or(0.0, |flow| largest_turn(flow.turn));
        self.bent = frame.deformed / (SMOOTH * self.size);
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
        let now = [frame.step, turned + self.bent, changed, self.mean_change];
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

    fn look_at_all(&mut self, entries: &[Entry], look: &mut Look<'_, '_, '_>) -> bool {
        for (k, entry) in entries.iter().enumerate() {
            if !self.look_at(*entry, look) {
                self.late.extend_from_slice(&entries[k + 1..]);
                return false;
            }
        }
        true
    }

    /// Looks at one pair and at those that replace it; false when the budget ends.
    fn look_at(&mut self, entry: Entry, look: &mut Look<'_, '_, '_>) -> bool {
        let node = &mut self.nodes[entry.node as usize];
        if node.stamp != entry.stamp {
            return true;
        }
        if !look.meter.pay(1) {
            self.late.push(entry);
            return false;
        }
        // Looked at too late, something may have been missed.
        node.is_fresh |= self.clock > node.until;
        let Node { pair, is_fresh, .. } = *node;
        let bodies = &look.frame.bodies;
        let patches = [look.patch(0, pair[0]).place(&bodies[0]), look.patch(1, pair[1]).place(&bodies[1])];
        let placed = self.placed(pair, patches, look);
        if is_kept(&placed, is_fresh, look) {
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
                self.late.extend(left.map(|(node, _)| Entry { node, stamp: nodes[node as usize].stamp }));
                return false;
            }
            self.open(node, &placed, look);
        }
        true
    }

    /// What is expected of two patches.
    #[inline]
    fn placed(&self, pair: [u32; 2], patches: [Facet; 2], look: &mut Look<'_, '_, '_>) -> Placed {
        look.frame.work.volume_tests += 1;
        let gap = facet_pair::gap(&patches[0], &patches[1]);
        let loose = LOOSE * (self.stretch[0] * patches[0].radius + self.stretch[1] * patches[1].radius);
        let gap = Gap { width: gap.width - loose, ..gap };
        let motion = self.motion(&patches, look.frame);
        let apart = if gap.width > 0.0 { motion.frames(gap) } else { 0.0 };
        if apart >= ENOUGH || !motion.is_slow(&patches) {
            return Placed { pair, patches, apart, quiet: 0.0 };
        }
        let cones = f64::from(look.patch(0, pair[0]).cone) + f64::from(look.patch(1, pair[1]).cone);
        let between = angle_up_to_sign(patches[0].normal.dot(patches[1].normal));
        let margin = between - cones - LOOSE * (self.stretch[0] + self.stretch[1]);
        let quiet = if margin > 0.0 { margin / self.turned() } else { 0.0 };
        Placed { pair, patches, apart, quiet }
    }

    /// By how much normals turn in a frame, with some caution (radians).
    fn turned(&self) -> f64 {
        self.turned.max(f64::MIN_POSITIVE) / CAUTION
    }

    /// How the bodies move against each other at two patches.
    #[inline]
    fn motion(&self, patches: &[Facet; 2], frame: &Frame<'_>) -> Motion {
        let moved = frame.flow.as_ref().map(|flow| flow.at(patches[1].centre));
        let speed = moved.map_or(0.0, DVec3::length);
        // Bodies that slow down or rest may go on in any direction.
        let is_steady = frame.step >= 0.5 * self.pace[0];
        let aside = if is_steady { ASIDE * speed } else { self.pace[0] };
        Motion {
            moved,
            aside: aside + frame.deformed,
            unlike: self.turned * patches[0].radius.min(patches[1].radius)
                + frame.deformed
                + self.pace[2].max(self.least_pace(2)),
            change: self.pace[3].max(self.least_pace(3)),
            all: speed + frame.deformed,
        }
    }

    /// Has a pair looked at again.
    #[inline]
    fn wait(&mut self, node: u32, placed: &Placed, layers: [&Layers; 2]) {
        let frames = (placed.frames() as u64 + DELAY).clamp(1, AHEAD - 1);
        let most = (placed.frames() / CAUTION).min(AHEAD as f64) as u64;
        let Node { stamp, is_fresh, until, .. } = &mut self.nodes[node as usize];
        (*is_fresh, *until) = (false, self.clock + frames.max(most));
        let entry = Entry { node, stamp: *stamp };
        self.count_apart(node, placed.apart >= 1.0, layers);
        let is_urgent = placed.frames() < IMMINENT;
        self.ahead[slot(self.clock + frames)][usize::from(!is_urgent)].push(entry);
    }

    fn count_apart(&mut self, node: u32, is_apart: bool, layers: [&Layers; 2]) {
        let Node { pair, is_apart: before, .. } = self.nodes[node as usize];
        if before != is_apart {
            let share = |k: usize| f64::from(layers[k].patches()[pair[k] as usize].share);
            let share = share(0) * share(1);
            self.apart += if is_apart { share } else { -share };
            self.nodes[node as usize].is_apart = is_apart;
        }
    }

    /// Has the coarsest pair wait instead of one that will not be looked at sooner than after some frames.
    fn rise(&mut self, mut node: u32, mut placed: Placed, look: &mut Look<'_, '_, '_>) {
        while placed.frames() >= LATE && (self.clock + u64::from(node)).is_multiple_of(RISING) {
            let parent = self.nodes[node as usize].parent;
            if parent == NONE {
                break;
            }
            let pair = self.nodes[parent as usize].pair;
            let k = usize::from(pair[0] == placed.pair[0]);
            let mut patches = placed.patches;
            patches[k] = look.patch(k, pair[k]).place(&look.frame.bodies[k]);
            let above = self.placed(pair, patches, look);
            // Only what is apart needs no look at what is below.
            if above.apart < LATE && (above.quiet < LATE || self.has_fresh_below(parent)) {
                break;
            }
            self.close(parent, look.layers);
            (node, placed) = (parent, above);
        }
        self.wait(node, &placed, look.layers);
    }

    fn has_fresh_below(&self, node: u32) -> bool {
        let Node { child, is_fresh, .. } = self.nodes[node as usize];
        match child {
            NONE => is_fresh,
            child => self.has_fresh_below(child) || self.has_fresh_below(child + 1),
        }
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
            let stamp = &mut self.nodes[below as usize].stamp;
            *stamp = stamp.wrapping_add(1);
        }
        self.free.push(child);
    }

    /// Looks closer at two patches: at the parts of the larger one, or at two triangles.
    fn open(&mut self, node: u32, placed: &Placed, look: &mut Look<'_, '_, '_>) {
        let Placed { pair, patches, .. } = *placed;
        let own = [look.patch(0, pair[0]), look.patch(1, pair[1])];
        let k = match [own[0].triangle(), own[1].triangle()] {
            [Some(t), Some(u)] => return self.look_at_triangles(node, [t, u], *placed, look),
            [Some(_), _] => 1,
            [_, Some(_)] => 0,
            _ => usize::from(own[0].radius < own[1].radius),
        };
        let is_fresh = self.nodes[node as usize].is_fresh;
        let child = self.two_nodes(node);
        look.meter.charge(2);
        for (child, part) in (child..).zip(own[k].below) {
            let (mut pair, mut patches) = (pair, patches);
            pair[k] = part;
            patches[k] = look.patch(k, part).place(&look.frame.bodies[k]);
            self.nodes[child as usize].pair = pair;
            let placed = self.placed(pair, patches, look);
            if is_kept(&placed, is_fresh, look) {
                self.wait(child, &placed, look.layers);
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
        let is_fresh = self.nodes[parent as usize].is_fresh;
        for node in [child, child + 1] {
            let node = &mut self.nodes[node as usize];
            *node = Node { stamp: node.stamp, is_fresh, ..Node::new(parent) };
        }
        self.nodes[parent as usize].child = child;
        child
    }

    /// Two triangles: if they meet, and something may have happened to them, they go to those found.
    fn look_at_triangles(
        &mut self,
        node: u32,
        triangles: [u32; 2],
        mut placed: Placed,
        look: &mut Look<'_, '_, '_>,
    ) {
        let frame = &mut *look.frame;
        look.meter.charge(2);
        let motion = self.motion(&placed.patches, frame);
        if motion.is_slow(&placed.patches) {
            let rates = Rates {
                turned: self.turned(),
                bent: self.bent,
                gap: |gap| motion.frames(gap),
                enough: AHEAD as f64,
            };
            let cones = &mut self.cones;
            let frames = frames_until_critical(look.layers, &frame.bodies, triangles, &rates, cones);
            placed.quiet = placed.quiet.max(frames);
        }
        let Node { is_fresh, is_imminent, .. } = self.nodes[node as usize];
        let is_next = placed.frames() < IMMINENT;
        self.nodes[node as usize].is_imminent = is_next;
        if is_fresh || is_imminent || is_next {
            frame.work.primitive_tests += 1;
            let [a, b] = [0, 1].map(|k| frame.bodies[k].triangle(triangles[k]).corners);
            if meet(&a, &b) {
                look.found.push(triangles);
            }
        }
        self.wait(node, &placed, look.layers);
    }
}

/// The place of those that are looked at when the clock reads so.
#[inline]
fn slot(clock: u64) -> usize {
    (clock % AHEAD) as usize
}

/// Whether a pair is left as it is.
#[inline]
fn is_kept(placed: &Placed, is_fresh: bool, look: &Look<'_, '_, '_>) -> bool {
    let frames = if is_fresh { placed.apart } else { placed.frames() };
    let is_single = || (0..2).all(|k| look.patch(k, placed.pair[k]).triangle().is_some());
    frames >= SOON && (frames >= LONG || !is_single())
}

impl Placed {
    #[inline]
    fn frames(&self) -> f64 {
        self.apart.max(self.quiet)
    }
}

impl Node {
    fn new(parent: u32) -> Node {
        let (is_fresh, is_imminent, is_apart) = (false, false, false);
        Node { pair: [0; 2], parent, child: NONE, stamp: 0, until: u64::MAX, is_fresh, is_imminent, is_apart }
    }
}

impl<'l> Look<'l, '_, '_> {
    #[inline]
    fn patch(&self, body: usize, patch: u32) -> &'l Patch {
        &self.layers[body].patches()[patch as usize]
    }
}

/// How two bodies move against each other at some place.
struct Motion {
    /// Of b against a in the last frame; `None` where that is not known.
    moved: Option<DVec3>,
    /// By how much gaps close in a frame whatever their direction is.
    aside: f64,
    /// By how much the motion of points of the patches differs from that now, or may in the next frame.
    unlike: f64,
    /// By how much the motion changes in a frame on the average.
    change: f64,
    /// By how much any point moves in a frame.
    all: f64,
}

impl Motion {
    /// Whether what begins within two patches is still there in the next frame.
    #[inline]
    fn is_slow(&self, patches: &[Facet; 2]) -> bool {
        self.moved.is_some() && patches.iter().all(|patch| patch.radius > SMALL * self.all)
    }

    /// In how many frames a gap is expected to close, with some caution. Before anything is known of the motion that is
    /// soon.
    #[inline]
    fn frames(&self, gap: Gap) -> f64 {
        let Some(moved) = self.moved else { return SOON };
        let closing = -gap.direction.dot(moved);
        // While the motion stays within a part of itself, or while it changes no faster than before: the gap g closes with
        // the speed s and the acceleration a after 2·g/(s + √(s² + 2·a·g)).
        let whatever = gap.width / (closing.max(0.0) + self.aside).max(f64::MIN_POSITIVE);
        let speed = closing + self.unlike;
        let root = (speed * speed + 2.0 * self.change * gap.width).sqrt();
        let steadily = 2.0 * gap.width / (speed + root).max(f64::MIN_POSITIVE);
        CAUTION * whatever.max(steadily)
    }
}
