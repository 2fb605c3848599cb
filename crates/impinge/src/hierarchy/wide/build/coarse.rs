//! The top of a large tree in one pass: planes found in a sample, then every triangle dealt to its leaf.
//!
//! The idea is that of sample sort (Frazer and McKellar, "Samplesort", 1970) with the planes of the
//! surface-area heuristic as splitters. Chunks of fixed size are dealt out side by side, each to its own
//! places, so that the number of threads changes nothing.

use std::ops::Range;

use super::binned::{self, Plane};
use super::border::Movers;
use super::{BuildRange, Item, Plan, sorted};
use crate::num::parallel;

/// Ranges from this size on are dealt out.
pub(super) const FROM: usize = 1 << 14;
/// About so many triangles are sampled.
const SAMPLE: usize = 1 << 13;
/// Sampled ranges from this size on are divided by several threads.
const PARALLEL_SAMPLE: usize = 1 << 10;
/// Sampled ranges up to this size are not divided.
const LEAF: usize = 128;
/// Levels of planes, at most.
const LEVELS: usize = 9;
/// One more than the largest number of an inner node.
const INNER: usize = 1 << LEVELS;
/// Triangles that a thread takes at a time.
const CHUNK: usize = 4096;

/// A tree of planes, numbered like a heap: the children of `n` are `2n` and `2n + 1`, the root is 1.
pub(super) struct Planes {
    planes: [Plane; INNER],
    /// Leaves below the left child; 0 for a leaf and what would be below it.
    lefts: [u16; INNER],
    levels: usize,
    /// The leaf for each node of the last level, for which a leaf higher up stands with its first one.
    leaf: [u16; INNER],
    leaves: usize,
}

impl Planes {
    /// The planes for a range; `None` where a sample has all its centres in one place.
    pub(super) fn of(count: usize, item: &impl Fn(usize) -> Item) -> Option<Planes> {
        let mut sample: Vec<Item> = (0..count).step_by(count / SAMPLE).map(item).collect();
        let mut spare = sample.clone();
        let mut found = Vec::new();
        divide(1, &mut sample, &mut spare, &mut found);
        let mut planes = Planes {
            planes: [Plane::NONE; INNER],
            lefts: [0; INNER],
            levels: found.iter().map(|&(node, _)| level(node)).max().unwrap_or(0),
            leaf: [0; INNER],
            leaves: 0,
        };
        for (node, plane) in found {
            if let Some(plane) = plane {
                planes.planes[node] = plane;
            } else {
                planes.add_leaf(node);
            }
        }
        (planes.leaves > 1).then_some(planes)
    }

    /// Enters the next leaf from the left.
    fn add_leaf(&mut self, node: usize) {
        let first = node << (self.levels - level(node));
        self.leaf[first - (1 << self.levels)] = self.leaves as u16;
        self.leaves += 1;
        let mut below = node;
        while below > 1 {
            self.lefts[below / 2] += u16::from(below.is_multiple_of(2));
            below /= 2;
        }
    }

    /// The leaves of a chunk's items, and how many go to each.
    fn mark(&self, chunk: Range<usize>, item: &impl Fn(usize) -> Item) -> Marks {
        let mut marks = Marks { leaf: Vec::with_capacity(chunk.len()), count: vec![0; self.leaves] };
        let mut next = chunk.start;
        while next + 4 <= chunk.end {
            for leaf in self.leaves_of(&[next, next + 1, next + 2, next + 3].map(item)) {
                marks.push(leaf);
            }
            next += 4;
        }
        for k in next..chunk.end {
            let [leaf] = self.leaves_of(&[item(k)]);
            marks.push(leaf);
        }
        marks
    }

    /// Several items at a time, so that one need not wait for the other.
    #[inline]
    fn leaves_of<const N: usize>(&self, items: &[Item; N]) -> [u16; N] {
        let mut node = [1; N];
        let middle = items.map(|item| item.middle().to_array());
        for _ in 0..self.levels {
            for k in 0..N {
                let plane = &self.planes[node[k] % INNER];
                node[k] = 2 * node[k] + usize::from(!(middle[k][plane.axis % 4] <= plane.last));
            }
        }
        node.map(|node| self.leaf[(node - (1 << self.levels)) % INNER])
    }

    /// The leaf below a node that an item belongs to, counted from the node's first.
    fn leaf_below(&self, mut node: usize, item: &Item) -> usize {
        let mut leaf = 0;
        while node < INNER && self.lefts[node] != 0 {
            let right = !self.planes[node].is_left(item);
            leaf += usize::from(right) * usize::from(self.lefts[node]);
            node = 2 * node + usize::from(right);
        }
        leaf
    }
}

/// A node, and the plane that divides it unless it is a leaf.
type Found = (usize, Option<Plane>);

/// Lists a node and what is below it, from left to right.
fn divide(node: usize, sample: &mut [Item], spare: &mut [Item], found: &mut Vec<Found>) {
    let divisible = sample.len() > LEAF && level(node) < LEVELS;
    let plane = divisible.then(|| binned::best_plane(sample)).flatten();
    found.push((node, plane));
    let Some(plane) = plane else { return };
    let at = binned::partition(sample, spare, plane);
    let worth = sample.len() >= PARALLEL_SAMPLE;
    let (left, right) = spare.split_at_mut(at);
    let (spare_left, spare_right) = sample.split_at_mut(at);
    let mut others = Vec::new();
    parallel::join_if(
        worth,
        || divide(2 * node, left, spare_left, found),
        || divide(2 * node + 1, right, spare_right, &mut others),
    );
    found.append(&mut others);
}

/// Levels above a node.
fn level(node: usize) -> usize {
    node.ilog2() as usize
}

/// Where the items of a chunk go.
struct Marks {
    leaf: Vec<u16>,
    count: Vec<usize>,
}

impl Marks {
    #[inline]
    fn push(&mut self, leaf: u16) {
        self.leaf.push(leaf);
        self.count[usize::from(leaf)] += 1;
    }
}

impl Plan {
    /// Grows the subtrees of a part that was dealt out; its leaves begin at `starts`.
    pub(super) fn grow_dealt(&self, planes: &Planes, mut starts: Vec<usize>, part: BuildRange) {
        self.descend(planes, 1, 0, &mut starts, part);
    }

    /// Grows the subtree over a node of the planes; its leaves begin at `starts`, counted from `origin`.
    fn descend(&self, planes: &Planes, node: usize, origin: usize, starts: &mut [usize], part: BuildRange) {
        if starts.len() == 1 || part.items.len() <= sorted::MOST {
            return self.grow(part);
        }
        let at = self.align(planes, node, origin, starts, part.items);
        let (left_starts, right_starts) = starts.split_at_mut(usize::from(planes.lefts[node]));
        self.fork(
            part,
            at,
            |left| self.descend(planes, 2 * node, origin, left_starts, left),
            |right| self.descend(planes, 2 * node + 1, origin + at, right_starts, right),
        );
    }

    /// Moves the border between the children of a node to a multiple of a bucket and returns it. Who changes
    /// sides goes to his leaf there, and in each leaf between one item makes room.
    fn align(
        &self,
        planes: &Planes,
        node: usize,
        origin: usize,
        starts: &mut [usize],
        items: &mut [Item],
    ) -> usize {
        let lefts = usize::from(planes.lefts[node]);
        let border = starts[lefts] - origin;
        let wanted = self.aligned(border, items.len());
        let mut movers = Movers::nearest(items, border, wanted, planes.planes[node]);
        let places = movers.places();
        for k in 0..places.len() {
            let mut hole = places[k];
            let item = items[hole];
            let from = starts.partition_point(|&start| start - origin <= hole) - 1;
            let mut fill = |place: usize| {
                items[hole] = items[place];
                for other in places.iter_mut().filter(|other| **other == place) {
                    *other = hole;
                }
                hole = place;
            };
            if wanted > border {
                let to = planes.leaf_below(2 * node, &item);
                for start in starts[to + 1..=from].iter_mut().rev() {
                    fill(*start - origin);
                    *start += 1;
                }
            } else {
                let to = lefts + planes.leaf_below(2 * node + 1, &item);
                for start in &mut starts[from + 1..=to] {
                    *start -= 1;
                    fill(*start - origin);
                }
            }
            items[hole] = item;
        }
        wanted
    }
}

/// Puts as many items as `to` holds there, leaf by leaf; returns where each leaf begins.
pub(super) fn deal(planes: &Planes, item: &(impl Fn(usize) -> Item + Sync), to: &mut [Item]) -> Vec<usize> {
    let count = to.len();
    let chunk = |k: usize| k * CHUNK..count.min((k + 1) * CHUNK);
    let marks = parallel::map(count.div_ceil(CHUNK), |k| planes.mark(chunk(k), item));
    let mut hands: Vec<Hand> = marks
        .iter()
        .enumerate()
        .map(|(k, marks)| Hand {
            first: k * CHUNK,
            leaf: &marks.leaf,
            places: Vec::with_capacity(planes.leaves),
        })
        .collect();
    let mut starts = Vec::with_capacity(planes.leaves);
    let mut rest = to;
    for leaf in 0..planes.leaves {
        starts.push(count - rest.len());
        for (hand, marks) in hands.iter_mut().zip(&marks) {
            let (place, others) = rest.split_at_mut(marks.count[leaf]);
            hand.places.push(place.iter_mut());
            rest = others;
        }
    }
    parallel::for_each_chunk(&mut hands, 1, |_, hands| {
        for hand in hands {
            for (k, &leaf) in hand.leaf.iter().enumerate() {
                if let Some(place) = hand.places[usize::from(leaf)].next() {
                    *place = item(hand.first + k);
                }
            }
        }
    });
    starts
}

/// A chunk and where its items go.
struct Hand<'a> {
    first: usize,
    leaf: &'a [u16],
    /// The places for each leaf.
    places: Vec<std::slice::IterMut<'a, Item>>,
}
