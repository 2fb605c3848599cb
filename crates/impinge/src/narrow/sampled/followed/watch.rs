//! Where the next contact may begin: pairs of patches that cover all pairs of triangles, each looked at again when it is
//! expected to close.
//!
//! The front of two trees of patches (Klosowski et al. 1998), as `front`, but nothing is proved: patches are where their
//! anchors are, and a pair is looked at again after a part of the time in which its gap would close at the speed of the
//! last frame. So a frame costs as much as there are pairs that are about to close, and what is far apart or recedes
//! costs next to nothing. Pairs through which a known curve passes wait: what begins there is one with it soon.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use glam::DVec3;
use smallvec::SmallVec;

use super::super::cell::triangles;
use super::super::facet_pair::{self, Gap};
use super::super::front::{Frame, NONE};
use super::super::groups::Groups;
use super::super::layers::Layers;
use super::super::meter::Meter;
use super::super::shells::Facet;
use super::super::triangle_pair::Triangle;
use super::march::Crossing;
use super::pair_set::key;
use crate::geom::triangle_triangle::meet;

/// Frames for which a pair waits at most; a power of two.
const AHEAD: usize = 256;

/// Part of the expected time to contact after which a pair is looked at (no unit): motions are not uniform.
const CAUTION: f64 = 0.8;

/// Share of the whole motion that counts as an approach (no unit): patches are not flat, and bodies turn.
const ASIDE: f64 = 0.15;

/// Share of the stated deformation, as a part of the patches' radii, by which gaps may be wrong (no unit): what deforms
/// with the anchor is seen.
const LOOSE: f64 = 0.1;

/// Part of the larger patch's radius below which a gap is worth less than those of the finer pairs that replace it (no
/// unit): these are wider by about a third of that radius, so that both together are looked at less often.
const SHALLOW: f64 = 0.15;

/// Frames after which looks are so rare that a finer pair is not worth it.
const FAR: f64 = 24.0;

/// Pairs that would be looked at sooner are replaced by finer ones (frames).
const SOON: f64 = 2.0;

/// Pairs are replaced by a coarser one that would not be looked at sooner (frames).
const LATE: f64 = 6.0;

/// Part of a coarser patch's radius above which a gap leaves room for it (no unit).
const ROOM: f64 = 0.6;

/// Frames after which a pair with a known curve is looked at again.
const KNOWN: usize = 2;

/// The radius of the patches in which a known curve counts (no unit: steps of the bodies): what begins within that
/// reaches it soon.
const NEAR: f64 = 8.0;

/// Frames for which a pair of single facets waits at least: a contact may be told one frame late.
const LEAST: f64 = 2.0;

/// Triangles that are expected to stay apart for so many frames are not looked at any closer.
const FINE: f64 = 24.0;

/// Keys that are mixed already.
#[derive(Debug, Clone, Copy, Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0 ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

type Pairs = HashSet<u64, BuildHasherDefault<Mixed>>;

/// Two patches with what is known of their gap.
#[derive(Debug, Clone, Copy)]
struct Placed {
    pair: [u32; 2],
    patches: [Facet; 2],
    /// Frames for which they are expected to stay apart; 0 where they are not.
    frames: f64,
    gap: f64,
}

/// A pair that waits.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    pair: [u32; 2],
    /// Whether because of a known curve.
    beside: bool,
}

/// The pairs.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    layers: [Arc<Layers>; 2],
    stretch: [f64; 2],
    /// By frame, over and over, the pairs to be looked at then.
    ahead: Vec<Vec<Waiting>>,
    present: Pairs,
    /// Pairs to be looked at now, the longest due first.
    due: VecDeque<[u32; 2]>,
    stack: Vec<Placed>,
    /// The patches through which known curves pass: those with the present mark.
    marks: [Vec<u32>; 2],
    mark: u32,
    /// The radius from which on patches are marked (a length).
    near: f64,
    /// The share of all pairs of surface points that belongs to pairs which wait, but for known curves.
    apart: f64,
    clock: usize,
}

impl Watch {
    pub fn new(layers: [Arc<Layers>; 2], stretch: [f64; 2]) -> Watch {
        let mut watch = Watch {
            marks: layers.each_ref().map(|layers| vec![0; layers.groups.nodes.len()]),
            mark: 0,
            layers,
            stretch,
            ahead: vec![Vec::new(); AHEAD],
            present: Pairs::default(),
            due: VecDeque::new(),
            stack: Vec::new(),
            near: 0.0,
            apart: 0.0,
            clock: 0,
        };
        watch.clear();
        watch
    }

    /// Forgets everything: all pairs of triangles are to be looked at.
    pub fn clear(&mut self) {
        self.ahead.iter_mut().for_each(Vec::clear);
        self.present.clear();
        self.unmark();
        self.apart = 0.0;
        self.due.clear();
        self.due.push_back([0, 0]);
        self.present.insert(key([0, 0]));
    }

    /// The curves have been walked along anew.
    pub fn set_known(&mut self, pairs: &[[u32; 2]], frame: &Frame<'_>) {
        self.unmark();
        self.near = NEAR * frame.step;
        let mut last = [NONE; 2];
        for pair in pairs {
            let singles = [0, 1].map(|k| self.layers[k].groups.single_of(frame.bodies[k].shells, pair[k]));
            if singles != last {
                let above = self.above(singles);
                (0..2).for_each(|k| self.marks[k][above[k] as usize] = self.mark);
                last = singles;
            }
        }
    }

    /// Whether a pair is so small and so near to a known curve that it waits.
    #[inline]
    fn is_beside(&self, pair: [u32; 2]) -> bool {
        let is_small = |k: usize| {
            let groups = &self.layers[k].groups;
            groups.radius(pair[k]) <= 2.0 * self.near || groups.nodes[pair[k] as usize].facet().is_some()
        };
        is_small(0) && is_small(1) && {
            let above = self.above(pair);
            (0..2).all(|k| self.marks[k][above[k] as usize] == self.mark)
        }
    }

    fn wait_beside(&mut self, pair: [u32; 2]) {
        let then = (self.clock + KNOWN) % AHEAD;
        self.ahead[then].push(Waiting { pair, beside: true });
    }

    /// Forgets which patches have a known curve.
    fn unmark(&mut self) {
        self.mark = self.mark.wrapping_add(1);
        if self.mark == 0 {
            self.marks.iter_mut().for_each(|marks| marks.fill(0));
            self.mark = 1;
        }
    }

    /// The patches above two that are as large as counts as near.
    #[inline]
    fn above(&self, mut pair: [u32; 2]) -> [u32; 2] {
        for (group, layers) in pair.iter_mut().zip(&self.layers) {
            let nodes = &layers.groups.nodes;
            while layers.groups.radius(*group) < self.near && nodes[*group as usize].above != NONE {
                *group = nodes[*group as usize].above;
            }
        }
        pair
    }

    /// Looks at the pairs that are due. Whatever meets and is not known goes to `found`; false when the budget ends.
    pub fn look(&mut self, frame: &mut Frame<'_>, meter: &mut Meter<'_>, found: &mut Vec<[u32; 2]>) -> bool {
        while let Some(pair) = self.due.pop_front() {
            if !meter.pay(1) {
                self.due.push_front(pair);
                return false;
            }
            if self.is_beside(pair) {
                self.wait_beside(pair);
                continue;
            }
            let groups = [0, 1].map(|k| &self.layers[k].groups);
            let patches = [0, 1].map(|k| groups[k].estimate(&frame.bodies[k], pair[k]));
            let placed = self.placed(pair, patches, frame);
            if self.is_kept(&placed) {
                self.rise(placed, frame);
                continue;
            }
            self.stack.push(placed);
            while let Some(placed) = self.stack.pop() {
                if !meter.pay(1) {
                    self.due.push_back(placed.pair);
                    self.due.extend(self.stack.drain(..).map(|placed| placed.pair));
                    return false;
                }
                self.open(&placed, frame, meter, found);
            }
        }
        true
    }

    /// Begins a frame.
    pub fn begin(&mut self) {
        self.clock = (self.clock + 1) % AHEAD;
        let mut now = std::mem::take(&mut self.ahead[self.clock]);
        for Waiting { pair, beside } in now.drain(..) {
            if !beside {
                self.apart -= self.share(pair);
            }
            self.due.push_back(pair);
        }
        self.ahead[self.clock] = now;
    }

    /// The share of all pairs of surface points that a pair stands for.
    fn share(&self, pair: [u32; 2]) -> f64 {
        let share = |k: usize| f64::from(self.layers[k].groups.nodes[pair[k] as usize].share);
        share(0) * share(1)
    }

    /// The share of all pairs of surface points that were seen apart, and are not yet expected to meet.
    pub fn coverage(&self) -> f64 {
        self.apart.clamp(0.0, 1.0 - f64::EPSILON)
    }

    /// How long two patches are expected to stay apart.
    #[inline]
    fn placed(&self, pair: [u32; 2], patches: [Facet; 2], frame: &mut Frame<'_>) -> Placed {
        frame.work.volume_tests += 1;
        let gap = facet_pair::gap(&patches[0], &patches[1]);
        let loose = LOOSE * (self.stretch[0] * patches[0].radius + self.stretch[1] * patches[1].radius);
        let gap = Gap { width: gap.width - loose, ..gap };
        let frames = if gap.width > 0.0 { Motion::at(patches[1].centre, frame).frames(gap) } else { 0.0 };
        Placed { pair, patches, frames, gap: gap.width }
    }

    /// Whether a pair is left as it is.
    #[inline]
    fn is_kept(&self, placed: &Placed) -> bool {
        let groups = [0, 1].map(|k| &self.layers[k].groups);
        let is_single = (0..2).all(|k| groups[k].nodes[placed.pair[k] as usize].facet().is_some());
        let radius = placed.patches[0].radius.max(placed.patches[1].radius);
        placed.frames >= SOON && (is_single || placed.frames >= FAR || placed.gap >= SHALLOW * radius)
    }

    /// Has a pair looked at again after some frames.
    #[inline]
    fn wait(&mut self, pair: [u32; 2], frames: f64) {
        let frames = (frames as usize).clamp(1, AHEAD - 1);
        self.apart += self.share(pair);
        self.ahead[(self.clock + frames) % AHEAD].push(Waiting { pair, beside: false });
    }

    /// Replaces a pair that is apart by the coarsest that will not be looked at sooner than after some frames.
    fn rise(&mut self, mut placed: Placed, frame: &mut Frame<'_>) {
        while placed.frames >= LATE
            && let Some(pair) = self.parent(placed.pair)
        {
            let groups = [0, 1].map(|k| &self.layers[k].groups);
            let k = usize::from(pair[0] == placed.pair[0]);
            if placed.gap < ROOM * groups[k].radius(pair[k]) {
                break;
            }
            let mut patches = placed.patches;
            patches[k] = groups[k].estimate(&frame.bodies[k], pair[k]);
            let above = self.placed(pair, patches, frame);
            let radius = above.patches[0].radius.max(above.patches[1].radius);
            let is_wide = above.frames >= 2.0 * FAR || above.gap >= 2.0 * SHALLOW * radius;
            if above.frames < LATE || !is_wide {
                break;
            }
            self.present.remove(&key(placed.pair));
            if !self.present.insert(key(pair)) {
                return;
            }
            placed = above;
        }
        self.wait(placed.pair, placed.frames);
    }

    /// The pair that is replaced by one and its sibling: the smaller of both patches above was opened last.
    fn parent(&self, pair: [u32; 2]) -> Option<[u32; 2]> {
        let groups = [0, 1].map(|k| &self.layers[k].groups);
        let above = [0, 1].map(|k| groups[k].nodes[pair[k] as usize].above);
        let radius = |k: usize| if above[k] == NONE { f64::INFINITY } else { groups[k].radius(above[k]) };
        match (above, radius(0) < radius(1)) {
            ([NONE, NONE], _) => None,
            ([a, _], true) => Some([a, pair[1]]),
            ([_, b], false) => Some([pair[0], b]),
        }
    }

    /// Looks closer at two patches that are not apart, or not for long.
    fn open(
        &mut self,
        placed: &Placed,
        frame: &mut Frame<'_>,
        meter: &mut Meter<'_>,
        found: &mut Vec<[u32; 2]>,
    ) {
        let Placed { pair, patches, .. } = *placed;
        let groups = [0, 1].map(|k| &self.layers[k].groups);
        let radius = [0, 1].map(|k| groups[k].radius(pair[k]));
        let is_single = [0, 1].map(|k| groups[k].nodes[pair[k] as usize].facet().is_some());
        if self.is_beside(pair) {
            self.wait_beside(pair);
            return;
        }
        if is_single == [true; 2] {
            let frames = look_at_triangles(groups, pair, &patches, frame, meter, found);
            self.wait(pair, frames.max(placed.frames).max(LEAST));
            return;
        }
        let k = match is_single {
            [true, _] => 1,
            [_, true] => 0,
            _ => usize::from(radius[0] < radius[1]),
        };
        let below = groups[k].nodes[pair[k] as usize].below;
        self.present.remove(&key(pair));
        meter.charge(2);
        for child in below {
            let mut pair = pair;
            pair[k] = child;
            if !self.present.insert(key(pair)) {
                continue;
            }
            let mut patches = patches;
            patches[k] = self.layers[k].groups.estimate(&frame.bodies[k], child);
            let placed = self.placed(pair, patches, frame);
            if self.is_kept(&placed) {
                self.wait(pair, placed.frames);
            } else {
                self.stack.push(placed);
            }
        }
    }
}

/// How two bodies move against each other at some place.
struct Motion {
    /// Of b against a in the last frame; `None` where that is not known.
    moved: Option<DVec3>,
    /// By how much gaps close in a frame whatever their direction is.
    aside: f64,
    /// By how much any point may have moved in a frame.
    all: f64,
}

impl Motion {
    #[inline]
    fn at(place: DVec3, frame: &Frame<'_>) -> Motion {
        let moved = frame.flow.as_ref().map(|flow| flow.at(place));
        let length = moved.map_or(0.0, DVec3::length);
        Motion { moved, aside: ASIDE * length + frame.deformed, all: length + frame.deformed }
    }

    /// In how many frames a gap is expected to close, less some caution. What is apart before anything is known of the
    /// motion is looked at in the next frame but one.
    #[inline]
    fn frames(&self, gap: Gap) -> f64 {
        let Some(moved) = self.moved else { return if gap.width > 0.0 { SOON } else { 0.0 } };
        let closing = (-gap.direction.dot(moved)).max(0.0) + self.aside;
        CAUTION * gap.width / closing.max(f64::MIN_POSITIVE)
    }

    /// The same for triangles that cross each other's planes side by side: the parts of the planes' common line that lie in
    /// each come nearer as fast as the planes slide along each other.
    fn frames_aside(&self, a: &Triangle, b: &Triangle) -> f64 {
        let Some(crossing) = Crossing::of(a, b) else { return 1.0 };
        let closing = self.all / crossing.sine(a, b).max(f64::MIN_POSITIVE);
        CAUTION * crossing.gap() / closing.max(f64::MIN_POSITIVE)
    }
}

/// The triangles of two facets: those that meet go to `found`. Returns in how many frames others may.
fn look_at_triangles(
    groups: [&Groups; 2],
    pair: [u32; 2],
    patches: &[Facet; 2],
    frame: &mut Frame<'_>,
    meter: &mut Meter<'_>,
    found: &mut Vec<[u32; 2]>,
) -> f64 {
    let motion = Motion::at(patches[1].centre, frame);
    let near = |k: usize| {
        let body = &frame.bodies[k];
        let facet = groups[k].nodes[pair[k] as usize].facet().unwrap_or(0);
        let all = triangles(body.shells, groups[k].level, &facet).iter().map(|&t| (t, body.triangle(t)));
        let is_near = |triangle: &Triangle| motion.frames(slab_gap(triangle, &patches[1 - k], k)) < FINE;
        all.filter(|(_, triangle)| is_near(triangle)).collect::<SmallVec<[(u32, Triangle); 8]>>()
    };
    let (own, others) = (near(0), near(1));
    let (mut least, mut tests) = (FINE, 0);
    for (t, a) in &own {
        for (u, b) in &others {
            tests += 1;
            let gap = triangle_gap(a, b);
            if gap.width > frame.pad {
                least = least.min(motion.frames(gap));
            } else if meet(&a.corners, &b.corners) {
                found.push([*t, *u]);
                least = 1.0;
            } else {
                least = least.min(motion.frames_aside(a, b));
            }
        }
    }
    frame.work.primitive_tests += tests;
    meter.charge(tests / 2);
    least
}

/// The gap between a triangle of body k and the slab or the ball of a patch of the other.
#[inline]
fn slab_gap(triangle: &Triangle, patch: &Facet, k: usize) -> Gap {
    let [x, y, z] = triangle.corners.map(|p| (p - patch.centre).dot(patch.normal));
    let (above, below) = (x.min(y).min(z) - patch.outer, patch.inner - x.max(y).max(z));
    let (width, direction) = if above >= below { (above, patch.normal) } else { (below, -patch.normal) };
    // From the patch to the triangle; gaps are from a to b.
    Gap { width, direction: if k == 0 { -direction } else { direction } }
}

/// The widest gap of two triangles along their normals and from centre to centre.
#[inline]
fn triangle_gap(a: &Triangle, b: &Triangle) -> Gap {
    let mut best = Gap { width: f64::NEG_INFINITY, direction: DVec3::ZERO };
    for direction in [a.normal, b.normal, b.centre() - a.centre()] {
        let shadow = |of: &Triangle| {
            let [x, y, z] = of.corners.map(|p| p.dot(direction));
            [x.min(y).min(z), x.max(y).max(z)]
        };
        let ([a_low, a_high], [b_low, b_high]) = (shadow(a), shadow(b));
        let (before, behind) = (b_low - a_high, a_low - b_high);
        let gap = before.max(behind);
        if gap > 0.0 {
            let length = direction.length();
            if gap > best.width * length {
                let sign = if before >= behind { 1.0 } else { -1.0 };
                best = Gap { width: gap / length, direction: direction * (sign / length) };
            }
        }
    }
    best
}
