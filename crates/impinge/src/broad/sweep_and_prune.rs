//! Sweep and prune: three sorted lists of interval ends, kept sorted from step to step.
//!
//! Cohen, Lin, Manocha, Ponamgi, "I-COLLIDE: an interactive and exact collision detection system for
//! large-scale environments", 1995, after Baraff, "Dynamic simulation of non-penetrating rigid bodies", 1992.
//! Two boxes overlap when their intervals do on all axes. A low end that passes a high end may begin a pair,
//! a high end that passes a low end may end one. Only the ends of bodies that moved are touched, each put
//! right by insertion: what rests costs nothing. Where we leave the papers: the overlap on the other axes is
//! asked of the boxes, not of two more flags, so the three lists are independent and each has its thread;
//! and many new bodies come in by one merge and one search in a grid.

use std::cmp::Ordering;

use crate::num::parallel;

use super::bodies::{Bodies, take_note};
use super::pair_table::PairTable;
use super::{BroadPhase, Changes, Grid, sort_pairs};

/// More new bodies than this in one step are searched for together.
const MANY_NEW: usize = 32;

/// One in so many ends may belong to nobody before the lists are made anew.
const DEAD_PART: usize = 4;

/// Moved bodies from which the three lists are worth a thread each.
const WORTH_THREADS: usize = 256;

/// Boxes as sorted interval ends.
#[derive(Debug, Clone, Default)]
pub struct SweepAndPrune {
    bodies: Bodies,
    axes: [Axis; 3],
    partners: PairTable,
    /// Ends that belong to nobody, on each axis.
    dead: usize,
}

impl BroadPhase for SweepAndPrune {
    take_note!();

    fn step(&mut self, changes: &mut Changes) {
        changes.began.clear();
        changes.ended.clear();
        if self.bodies.changed().is_empty() {
            return;
        }
        self.move_ends(changes);
        self.take_out(changes);
        self.take_in(changes);
        self.bodies.settle();
        for list in [&mut changes.began, &mut changes.ended] {
            sort_pairs(list);
            list.dedup();
        }
        changes.ended.retain(|&pair| self.partners.remove(pair));
        changes.began.retain(|&pair| self.partners.insert(pair));
    }

    fn pairs(&self, pairs: &mut Vec<[u32; 2]>) {
        self.partners.list(pairs);
    }
}

impl SweepAndPrune {
    /// Puts the ends of bodies that moved in their places.
    fn move_ends(&mut self, changes: &mut Changes) {
        let (bodies, [x, y, z]) = (&self.bodies, &mut self.axes);
        let worth = bodies.changed().len() >= WORTH_THREADS;
        let (x, (y, z)) = parallel::join_if(
            worth,
            || x.move_ends(bodies, 0),
            || parallel::join_if(worth, || y.move_ends(bodies, 1), || z.move_ends(bodies, 2)),
        );
        for part in [x, y, z] {
            changes.began.extend(part.began);
            changes.ended.extend(part.ended);
        }
    }

    /// Ends the pairs of bodies that are gone or have become fixed.
    fn take_out(&mut self, changes: &mut Changes) {
        for &id in self.bodies.changed() {
            if self.bodies.vanished(id) {
                self.axes.iter_mut().for_each(|axis| axis.kill(id));
                self.dead += 2;
            }
            if self.bodies.vanished(id) || self.bodies.turned(id) {
                let parted = self.partners.of(id).iter().filter(|&&other| !self.bodies.meet_now(id, other));
                changes.ended.extend(parted.map(|&other| [id.min(other), id.max(other)]));
            }
        }
    }

    /// Begins the pairs of bodies that are new or have become movable.
    fn take_in(&mut self, changes: &mut Changes) {
        let new: Vec<u32> = self.bodies.appeared().collect();
        if !new.is_empty() || self.dead * DEAD_PART > self.axes[0].ends.len() {
            let (bodies, [x, y, z]) = (&self.bodies, &mut self.axes);
            let worth = new.len() >= WORTH_THREADS;
            parallel::join_if(
                worth,
                || x.merge(bodies, 0, &new),
                || parallel::join_if(worth, || y.merge(bodies, 1, &new), || z.merge(bodies, 2, &new)),
            );
            self.dead = 0;
        }
        let turned = self.bodies.changed().iter().copied().filter(|&id| self.bodies.turned(id));
        let searched: Vec<u32> = new.iter().copied().chain(turned).collect();
        if searched.len() <= MANY_NEW {
            for &a in &searched {
                let met = self.bodies.ids().filter(|&b| b != a && self.bodies.meet_now(a, b));
                changes.began.extend(met.map(|b| [a.min(b), a.max(b)]));
            }
        } else {
            self.search_all(&searched, changes);
        }
    }

    /// All pairs with one of many bodies, by a grid.
    fn search_all(&self, searched: &[u32], changes: &mut Changes) {
        let mut is_searched = vec![false; self.bodies.capacity()];
        searched.iter().for_each(|&id| is_searched[id as usize] = true);
        let mut grid = Grid::default();
        self.bodies.copy_to(&mut grid);
        grid.step(&mut Changes::default());
        grid.for_each_pair(|a, b| {
            if is_searched[a as usize] || is_searched[b as usize] {
                changes.began.push([a.min(b), a.max(b)]);
            }
        });
    }
}

/// One end of an interval.
#[derive(Debug, Clone, Copy)]
struct End {
    value: f64,
    /// Twice the id, and one more for the high end.
    tag: u32,
}

/// Tags from here on belong to nobody; they still tell low from high, which the order rests on.
const DEAD: u32 = u32::MAX - 1;

impl End {
    /// A low end comes before a high end of the same value, since touching counts.
    fn is_before(&self, other: &End) -> bool {
        self.value < other.value || self.value == other.value && self.tag & 1 < other.tag & 1
    }

    fn order(&self, other: &End) -> Ordering {
        let values = self.value.partial_cmp(&other.value).unwrap_or(Ordering::Equal);
        values.then((self.tag & 1).cmp(&(other.tag & 1)))
    }
}

/// The ends on one axis.
#[derive(Debug, Clone, Default)]
struct Axis {
    ends: Vec<End>,
    /// Where an end is, by its tag.
    places: Vec<u32>,
}

impl Axis {
    /// Moves the ends of bodies that were there and still are; what is told is to be sorted and compared.
    fn move_ends(&mut self, bodies: &Bodies, axis: usize) -> Changes {
        let mut changes = Changes::default();
        for &id in bodies.changed().iter().filter(|&&id| bodies.stayed(id)) {
            let bounds = bodies.now(id);
            let low = End { value: bounds.low[axis], tag: 2 * id };
            let high = End { value: bounds.high[axis], tag: 2 * id + 1 };
            // In this order a box never passes itself.
            let grows = high.value >= self.ends[self.places[high.tag as usize] as usize].value;
            for end in if grows { [high, low] } else { [low, high] } {
                self.move_end(bodies, end, &mut changes);
            }
        }
        changes
    }

    fn move_end(&mut self, bodies: &Bodies, end: End, changes: &mut Changes) {
        let start = self.places[end.tag as usize] as usize;
        let mut at = start;
        while let Some(&next) = self.ends.get(at + 1).filter(|next| next.is_before(&end)) {
            self.put(at, next);
            pass(bodies, end.tag, next.tag, end.tag & 1 != 0, changes);
            at += 1;
        }
        while at > 0 && at <= start && end.is_before(&self.ends[at - 1]) {
            let next = self.ends[at - 1];
            self.put(at, next);
            pass(bodies, end.tag, next.tag, end.tag & 1 == 0, changes);
            at -= 1;
        }
        self.put(at, end);
    }

    #[inline]
    fn put(&mut self, at: usize, end: End) {
        self.ends[at] = end;
        if end.tag < DEAD {
            self.places[end.tag as usize] = at as u32;
        }
    }

    /// The ends of a body belong to nobody from now on.
    fn kill(&mut self, id: u32) {
        for tag in [2 * id, 2 * id + 1] {
            self.ends[self.places[tag as usize] as usize].tag = DEAD | tag & 1;
        }
    }

    /// Takes in new bodies and leaves out dead ends.
    fn merge(&mut self, bodies: &Bodies, axis: usize, new: &[u32]) {
        let ends = |&id: &u32| {
            let bounds = bodies.now(id);
            [(bounds.low[axis], 2 * id), (bounds.high[axis], 2 * id + 1)]
                .map(|(value, tag)| End { value, tag })
        };
        let mut new: Vec<End> = new.iter().flat_map(ends).collect();
        new.sort_unstable_by(|a, b| a.order(b).then(a.tag.cmp(&b.tag)));
        let old = std::mem::take(&mut self.ends);
        self.places.resize(2 * bodies.capacity(), 0);
        self.ends.reserve(old.len() + new.len());
        let mut new = new.into_iter().peekable();
        for end in old.into_iter().filter(|end| end.tag < DEAD) {
            while let Some(first) = new.next_if(|first| first.is_before(&end)) {
                self.push(first);
            }
            self.push(end);
        }
        new.for_each(|end| self.push(end));
    }

    fn push(&mut self, end: End) {
        self.places[end.tag as usize] = self.ends.len() as u32;
        self.ends.push(end);
    }
}

/// One end has passed another: a pair may begin or end.
#[inline]
fn pass(bodies: &Bodies, tag: u32, other: u32, may_begin: bool, changes: &mut Changes) {
    if (tag ^ other) & 1 == 0 || other >= DEAD {
        return;
    }
    let [a, b] = [tag.min(other) / 2, tag.max(other) / 2];
    if may_begin {
        if bodies.meet_now(a, b) {
            changes.began.push([a, b]);
        }
    } else if bodies.met_before(a, b) && !bodies.meet_now(a, b) {
        changes.ended.push([a, b]);
    }
}
