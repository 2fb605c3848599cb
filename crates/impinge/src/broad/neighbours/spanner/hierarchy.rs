//! The hierarchy of discrete centres under motion, insertion and deletion.
//!
//! S₀ ⊇ S₁ ⊇ … with two rules (Gao, Guibas and Nguyen 2004): any two points of Sᵢ are at least 2ⁱ apart (separation),
//! and every point of Sᵢ₋₁ is at most 2ⁱ from one of Sᵢ (cover). A point is stored once, with its level, the largest
//! i with p ∈ Sᵢ, and its parent in the set above. So the rules read: a point of level l is at most 2^(l+1) from its
//! parent, whose level is larger, and at least 2^l from every other point of level l or more. Levels may be negative;
//! points that coincide are twins of one of them, below all levels. Who has no need of small levels gives twins more
//! room ([`Hierarchy::with_room`]).
//!
//! Where we leave the paper: it keeps, for each level, lists of neighbours with certificates and a queue of the times
//! when they fail. Here positions come frame by frame and all of them may change, so that every certificate would be
//! evaluated in each frame anyway. We keep points, levels and parents only, put back those whose cover failed, and
//! find those whose separation failed in the traversal that finds the pairs (`flat`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::DVec3;

use crate::num::tolerance::COVER_ROUNDING;

pub(super) const NONE: u32 = u32::MAX;

/// The level of twins; every other one is larger.
pub(super) const TWIN: i32 = -512;

/// Points whose squared distance is below this coincide: 4^(TWIN + 2), so that the levels above twins have squares that
/// are normal numbers.
const TWIN_SQ: f64 = scale_sq(TWIN + 2);

/// The level of a number that no point has.
const ABSENT: i32 = i32::MIN;

/// Points, levels and parents, by the number of the point.
#[derive(Debug, Clone)]
pub(super) struct Hierarchy {
    pub points: Vec<DVec3>,
    pub level: Vec<i32>,
    pub parent: Vec<u32>,
    /// The child of the largest level; siblings follow by falling level.
    pub first: Vec<u32>,
    pub next: Vec<u32>,
    previous: Vec<u32>,
    /// Points at the place of this one, in no order.
    pub first_twin: Vec<u32>,
    pub root: u32,
    pub count: usize,
    /// A point nearer to another than this, squared, becomes its twin, and stays one up to the second.
    room_sq: [f64; 2],
    /// Points without a parent, to be put back.
    orphans: Vec<u32>,
    stack: Vec<u32>,
    /// Distances measured, and points put in place, since the start.
    pub tests: u64,
    pub updates: u64,
}

/// 4ⁱ, and 0 for twins.
#[inline]
pub(super) const fn scale_sq(level: i32) -> f64 {
    if level <= TWIN { 0.0 } else { f64::from_bits(((2 * level + 1023) as u64) << 52) }
}

/// 2ⁱ, and 0 for twins.
#[inline]
pub(super) const fn scale(level: i32) -> f64 {
    if level <= TWIN { 0.0 } else { f64::from_bits(((level + 1023) as u64) << 52) }
}

/// The smallest i with d ≤ 2ⁱ, given d²; [`TWIN`] below the square of a twin's room.
#[inline]
fn level_of(d_sq: f64, room_sq: f64) -> i32 {
    if d_sq < room_sq {
        return TWIN;
    }
    let bits = d_sq.to_bits();
    let floor = (bits >> 52) as i32 - 1023;
    let ceil = floor + i32::from(bits & ((1 << 52) - 1) != 0);
    (ceil + 1).div_euclid(2)
}

impl Default for Hierarchy {
    fn default() -> Hierarchy {
        Hierarchy {
            points: Vec::new(),
            level: Vec::new(),
            parent: Vec::new(),
            first: Vec::new(),
            next: Vec::new(),
            previous: Vec::new(),
            first_twin: Vec::new(),
            root: NONE,
            count: 0,
            room_sq: [TWIN_SQ; 2],
            orphans: Vec::new(),
            stack: Vec::new(),
            tests: 0,
            updates: 0,
        }
    }
}

impl Hierarchy {
    /// A hierarchy in which points nearer than this to a centre are its twins, and stay so up to twice as far: for near
    /// pairs alone, which need no smaller levels.
    pub fn with_room(room: f64) -> Hierarchy {
        let room_sq = (room * room).max(TWIN_SQ);
        Hierarchy { room_sq: [room_sq, 4.0 * room_sq], ..Hierarchy::default() }
    }

    /// How many numbers there are, with those that no point has.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    pub fn is_present(&self, p: u32) -> bool {
        self.level.get(p as usize).is_some_and(|&level| level != ABSENT)
    }

    /// Puts a point in place; a number that has one loses it first.
    pub fn insert(&mut self, p: u32, at: DVec3) {
        self.remove(p);
        let index = p as usize;
        if index >= self.len() {
            self.points.resize(index + 1, DVec3::ZERO);
            self.level.resize(index + 1, ABSENT);
            for list in
                [&mut self.parent, &mut self.first, &mut self.next, &mut self.previous, &mut self.first_twin]
            {
                list.resize(index + 1, NONE);
            }
        }
        self.points[index] = at;
        self.level[index] = TWIN;
        self.count += 1;
        self.place(p);
        self.place_orphans();
    }

    /// Takes a point away; nothing happens where there is none.
    pub fn remove(&mut self, p: u32) {
        if !self.is_present(p) {
            return;
        }
        self.release_children(p, TWIN);
        if p == self.root {
            self.root = NONE;
        } else {
            self.detach(p);
        }
        self.level[p as usize] = ABSENT;
        self.count -= 1;
        self.place_orphans();
    }

    /// Takes all points to new places and mends the cover; the separation is for [`Hierarchy::mend`].
    pub fn move_to(&mut self, places: impl Fn(u32) -> DVec3) {
        for p in (0..self.len() as u32).filter(|&p| self.level[p as usize] != ABSENT) {
            self.points[p as usize] = places(p);
        }
        for p in 0..self.len() as u32 {
            if self.level[p as usize] == ABSENT || self.parent[p as usize] == NONE {
                continue;
            }
            self.tests += 1;
            if !self.is_covered(p) {
                self.detach(p);
                self.orphans.push(p);
            }
        }
        self.place_orphans();
    }

    /// Puts points back that are too near to one of at least their level.
    pub fn mend(&mut self, too_near: impl IntoIterator<Item = u32>) {
        for p in too_near {
            if p != self.root && self.parent[p as usize] != NONE {
                self.detach(p);
                self.orphans.push(p);
            }
        }
        self.place_orphans();
    }

    /// Whether a point is as near to its parent as its level wants.
    #[inline]
    fn is_covered(&self, p: u32) -> bool {
        let (level, d_sq) = (self.level[p as usize], self.distance_sq(p, self.parent[p as usize]));
        if level == TWIN { d_sq < self.room_sq[1] } else { d_sq <= scale_sq(level + 1) }
    }

    #[inline]
    pub fn distance_sq(&self, p: u32, q: u32) -> f64 {
        self.points[p as usize].distance_squared(self.points[q as usize])
    }

    /// All orphans, those of large levels first: what they are tested against is in place then.
    fn place_orphans(&mut self) {
        // A heap: placing a point may release children, whose levels are smaller.
        let mut waiting: BinaryHeap<(i32, Reverse<u32>)> =
            self.orphans.drain(..).map(|p| (self.level[p as usize], Reverse(p))).collect();
        while let Some((_, Reverse(p))) = waiting.pop() {
            self.place(p);
            let released = self.orphans.drain(..).map(|p| (self.level[p as usize], Reverse(p)));
            waiting.extend(released.collect::<Vec<_>>());
        }
    }

    /// Gives a point, with the children that it has, level and parent: the parent is at the smallest level i at which a
    /// point of Sᵢ covers it, so that it is separated from all below. Children that its new level cannot hold become
    /// orphans.
    fn place(&mut self, p: u32) {
        self.updates += 1;
        if self.root == NONE || self.count == 1 {
            self.root = p;
            self.parent[p as usize] = NONE;
            self.level[p as usize] = self.level[p as usize].max(TWIN + 1);
            return;
        }
        let at = self.points[p as usize];
        let root = self.root;
        let root_sq = self.points[root as usize].distance_squared(at);
        self.tests += 1;
        let near = level_of(root_sq, self.room_sq[0]);
        if near > self.level[root as usize] {
            // The root is alone on every level above its own.
            self.level[root as usize] = near;
        }
        let mut best = (near, root_sq, root);
        self.stack.clear();
        self.stack.push(root);
        while let Some(q) = self.stack.pop() {
            let mut child = self.first[q as usize];
            while child != NONE {
                let level = self.level[child as usize];
                let d_sq = self.points[child as usize].distance_squared(at);
                self.tests += 1;
                // All below lies within 2^(level + 1), and covers p only from within its own level.
                if d_sq <= COVER_ROUNDING * scale_sq(level + 1) {
                    let near = level_of(d_sq, self.room_sq[0]);
                    if near <= level && (near, d_sq, child) < best {
                        best = (near, d_sq, child);
                    }
                    if self.first[child as usize] != NONE {
                        self.stack.push(child);
                    }
                }
                child = self.next[child as usize];
            }
        }
        let (near, _, parent) = best;
        let level = if near == TWIN { TWIN } else { near - 1 };
        self.level[p as usize] = level;
        self.release_children(p, level);
        self.attach(p, parent);
    }

    /// Makes orphans of the children whose level is not below this one, and of twins where nothing can be below.
    fn release_children(&mut self, p: u32, level: i32) {
        while self.first[p as usize] != NONE && self.level[self.first[p as usize] as usize] >= level {
            let child = self.first[p as usize];
            self.detach(child);
            self.orphans.push(child);
        }
        while level == TWIN && self.first_twin[p as usize] != NONE {
            let twin = self.first_twin[p as usize];
            self.detach(twin);
            self.orphans.push(twin);
        }
    }

    fn attach(&mut self, p: u32, parent: u32) {
        let level = self.level[p as usize];
        self.parent[p as usize] = parent;
        let (mut before, mut after) = (NONE, self.first[parent as usize]);
        if level == TWIN {
            after = self.first_twin[parent as usize];
            self.first_twin[parent as usize] = p;
        } else {
            while after != NONE && self.level[after as usize] > level {
                (before, after) = (after, self.next[after as usize]);
            }
            match before {
                NONE => self.first[parent as usize] = p,
                _ => self.next[before as usize] = p,
            }
        }
        self.previous[p as usize] = before;
        self.next[p as usize] = after;
        if after != NONE {
            self.previous[after as usize] = p;
        }
    }

    /// Takes a point, with all below it, out of the list of its parent.
    fn detach(&mut self, p: u32) {
        let index = p as usize;
        let (parent, before, after) = (self.parent[index] as usize, self.previous[index], self.next[index]);
        match before {
            NONE if self.level[index] == TWIN => self.first_twin[parent] = after,
            NONE => self.first[parent] = after,
            _ => self.next[before as usize] = after,
        }
        if after != NONE {
            self.previous[after as usize] = before;
        }
        self.parent[index] = NONE;
        self.previous[index] = NONE;
        self.next[index] = NONE;
    }

    /// Whether every list, level and distance to a parent is as it must be; separation is asked of `flat`.
    pub fn is_covering(&self) -> bool {
        let present = |p: &u32| self.level[*p as usize] != ABSENT;
        let all: Vec<u32> = (0..self.len() as u32).filter(present).collect();
        let fits = |&p: &u32| {
            let (level, parent) = (self.level[p as usize], self.parent[p as usize]);
            if parent == NONE {
                return p == self.root;
            }
            self.is_covered(p) && self.level[parent as usize] > level
        };
        all.len() == self.count && (self.count == 0 || all.iter().all(fits) && self.reached() == self.count)
    }

    /// How many points hang below the root, itself counted.
    fn reached(&self) -> usize {
        let (mut count, mut stack) = (0, vec![self.root]);
        while let Some(p) = stack.pop() {
            count += 1;
            for start in [self.first[p as usize], self.first_twin[p as usize]] {
                let mut child = start;
                while child != NONE {
                    stack.push(child);
                    child = self.next[child as usize];
                }
            }
        }
        count
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let lists = [&self.parent, &self.first, &self.next, &self.previous, &self.first_twin];
        let links: usize = lists.iter().map(|list| list.capacity() * size_of::<u32>()).sum();
        (self.points.capacity() * size_of::<DVec3>() + self.level.capacity() * size_of::<i32>() + links)
            as u64
    }
}
