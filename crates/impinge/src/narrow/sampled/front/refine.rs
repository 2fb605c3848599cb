//! What is found out about an open pair: a gap, two triangles that meet, or finer pairs; and coarser pairs in place of
//! finer ones that have parted (Guy and Debunne 2004, section 4.2).

use glam::DVec3;
use smallvec::SmallVec;

use super::super::cell::{self, Cell};
use super::super::facet_pair::{self, Gap};
use super::super::meter::Meter;
use super::super::posed::Posed;
use super::super::self_pair::Moment;
use super::super::shells::Facet;
use super::{Entry, Frame, Front, HYSTERESIS, NONE, Node, Pending, State};

/// A pair replaces its children when it is expected to stay apart for this many frames, so that it is not split again
/// at once.
const FRAMES_BEFORE_SPLIT: f64 = 6.0;

/// Frames within which a pair that was merged and is split again counts as flicker.
const FLICKER: u32 = 4;

/// Pairs are split though they are apart where their gap is below this part of the larger patch's radius (no unit): a
/// pair with the gap g is looked at every g / step frames, and the gaps of the pairs that replace it are wider by about
/// a third of that radius. So one pair costs step / g a frame, the two that replace it 2 · step / (g + radius / 3).
const SHALLOW: f64 = 0.1;

/// The same in frames for which the gap lasts: what is looked at more seldom is not worth a split.
const SOON: f64 = 4.0;

/// Part of the larger patch's radius above which the gap of a child pair leaves room for its parent (no unit).
const ROOM: f64 = 0.25;

/// Part of a patch's radius above which the gap of its triangles is not measured any better (no unit).
const WIDE: f64 = 0.1;

impl Front {
    /// Finds out about an open pair and all that is below it; what the budget leaves stays open.
    pub(super) fn settle(&mut self, n: u32, frame: &mut Frame<'_>, meter: &mut Meter<'_>) -> bool {
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

    /// Leaves a pair that is not to be looked at any closer now as it is known.
    pub(super) fn leave(&mut self, pending: &Pending, frame: &Frame<'_>) {
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
    pub(super) fn is_kept(&self, n: u32, gap: Gap, placed: &[Facet; 2], frame: &Frame<'_>) -> bool {
        let is_worth = || gap.width >= self.shallow(n, gap, placed, frame) || self.is_at_floor(n);
        gap.width > 0.0 && (self.options.one || is_worth())
    }

    /// The gap below which a pair is split though it is apart (a length).
    #[inline]
    pub(super) fn shallow(&self, n: u32, gap: Gap, placed: &[Facet; 2], frame: &Frame<'_>) -> f64 {
        let facets = self.nodes[n as usize].facets;
        let radius = |k: usize| self.layers[k].groups.radius(facets[k]);
        (SHALLOW * radius(0).max(radius(1))).min(SOON * frame.closing(gap, placed[1].centre))
    }

    /// One patch of a pair, where it is now.
    #[inline]
    pub(super) fn place(&self, n: u32, k: usize, frame: &Frame<'_>) -> Facet {
        let Node { facets, levels, .. } = &self.nodes[n as usize];
        if self.options.one {
            // Its place is all that is needed of it: patches of one body are measured.
            let centre = frame.bodies[k].centre(usize::from(levels[k]), facets[k]);
            return Facet { centre, normal: DVec3::ZERO, radius: 0.0, inner: 0.0, outer: 0.0 };
        }
        self.layers[k].groups.patch(&frame.bodies[k], facets[k])
    }

    /// Whether a pair has nothing below but triangles, or is not to be looked at any closer.
    pub(super) fn is_at_floor(&self, n: u32) -> bool {
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
    pub(super) fn gap(
        &mut self,
        n: u32,
        placed: &[Facet; 2],
        frame: &mut Frame<'_>,
        meter: &mut Meter<'_>,
    ) -> Gap {
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
    pub(super) fn settle_cell(&mut self, pending: &Pending, frame: &mut Frame<'_>, meter: &mut Meter<'_>) {
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
                let n = *n;
                let node = &mut self.nodes[n as usize];
                (node.witness, node.since, node.seen) = (witness, self.clock, [0.0; 3]);
                self.enter_contact(n, self.travelled);
                if !self.options.one && witness[0] != NONE {
                    let [a, b] = [0, 1].map(|k| frame.bodies[k].triangle(witness[k]));
                    self.hold(n, [&a, &b], frame);
                }
            }
        }
    }

    /// Drops everything below a pair.
    pub(super) fn drop_below(&mut self, n: u32) {
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
    pub(super) fn split(&mut self, pending: &Pending, frame: &mut Frame<'_>, meter: &mut Meter<'_>) {
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
    pub(super) fn pairs_below(
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
    pub(super) fn merge_parted(
        &mut self,
        n: u32,
        gap: f64,
        frames: f64,
        frame: &mut Frame<'_>,
        meter: &mut Meter<'_>,
    ) {
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
    pub(super) fn has_room_above(&self, parent: u32, gap: f64) -> bool {
        let facets = self.nodes[parent as usize].facets;
        let radius = |k: usize| self.layers[k].groups.radius(facets[k]);
        self.options.one || gap >= ROOM * radius(0).max(radius(1))
    }

    /// Drops the children of a pair, all of which are apart.
    pub(super) fn merge(&mut self, parent: u32) {
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

    pub(super) fn drop_one(&mut self, n: u32) {
        let node = &mut self.nodes[n as usize];
        (node.state, node.stamp, node.next) = (State::Unused, node.stamp.wrapping_add(1), self.unused);
        self.unused = n;
    }

    pub(super) fn children(&self, parent: u32) -> impl Iterator<Item = u32> {
        let first = Some(self.nodes[parent as usize].child).filter(|&n| n != NONE);
        std::iter::successors(first, |&n| Some(self.nodes[n as usize].next).filter(|&n| n != NONE))
    }

    /// How many unused nodes there are, up to `most`.
    pub(super) fn count_unused(&self, most: usize) -> usize {
        let first = Some(self.unused).filter(|&n| n != NONE);
        let all = std::iter::successors(first, |&n| Some(self.nodes[n as usize].next).filter(|&n| n != NONE));
        all.take(most).count()
    }

    /// A new pair, about which nothing is known.
    pub(super) fn add(&mut self, facets: [u32; 2], levels: [u8; 2], parent: u32) -> u32 {
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
}
