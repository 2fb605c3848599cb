//! The triangles that can be nearest to a point: down to the nearest child, then on with the nearest of the
//! sixteen nodes that were last left aside.
//!
//! Roussopoulos, Kelley and Vincent, "Nearest neighbor queries", 1995: of every box not only the nearest but
//! also the farthest point counts, since its patch is in between. Everything is measured in f32, from
//! below and from above; the few triangles that remain are for the caller to measure in f64.

use smallvec::SmallVec;

use super::measure::{boxes, feet, smallest};
use super::{LANES, Link, PointTree, QueryPoint};
use crate::num::tolerance::ROOTLESS_LIMIT;
use crate::simd::u32x16::{Across, LANE};
use crate::simd::{SimdLevel, dispatch};

/// Factor that makes up for the few roundings of a limit (no unit).
const ROUND_UP: f32 = 1.0 + 8.0 * f32::EPSILON;

/// Numbers with what they belong to, packed by lanes; inline until the search is an unusual one.
#[derive(Debug, Clone)]
struct Pile {
    keys: SmallVec<[u32; 128]>,
    items: SmallVec<[u32; 128]>,
    count: usize,
}

impl Pile {
    fn new() -> Pile {
        Pile { keys: SmallVec::from_elem(0, 128), items: SmallVec::from_elem(0, 128), count: 0 }
    }

    /// Puts the lanes of a mask on top.
    #[inline(always)]
    fn put(&mut self, across: impl Across, mask: u16, keys: &[u32; LANES], items: &[u32; LANES]) {
        if self.count + LANES > self.keys.len() {
            self.grow();
        }
        let room = (self.keys[self.count..].first_chunk_mut(), self.items[self.count..].first_chunk_mut());
        if let (Some(to_keys), Some(to_items)) = room {
            across.pack(mask, keys, to_keys);
            across.pack(mask, items, to_items);
            self.count += mask.count_ones() as usize;
        }
    }

    /// Takes the smallest of the sixteen that were put here last, or of the sixteen before if all of them
    /// are above the limit. The first sixteen keys are [`u32::MAX`].
    #[inline(always)]
    fn take(&mut self, across: impl Across, limit: u32) -> Option<u32> {
        while self.count > LANES {
            let from = self.count - LANES;
            let first = across.first(self.keys[from..].first_chunk()?);
            // Without the bits of the lane it is not above the key. Which one is next does not hang on the
            // limit, so the processor may go on with it before the limit is known.
            if first & !LANE <= limit {
                let (at, last) = (from + (first & LANE) as usize, self.count - 1);
                let item = self.items[at];
                (self.keys[at], self.items[at]) = (self.keys[last], self.items[last]);
                self.count = last;
                return Some(item);
            }
            self.count = from.max(LANES);
        }
        None
    }

    #[cold]
    fn grow(&mut self) {
        self.keys.resize(2 * self.keys.len(), 0);
        self.items.resize(2 * self.items.len(), 0);
    }
}

/// Memory of searches, to be used again; what is in it does not matter.
#[derive(Debug, Clone)]
pub struct Room {
    waiting: Pile,
    candidates: Pile,
}

impl Default for Room {
    fn default() -> Room {
        Room { waiting: Pile::new(), candidates: Pile::new() }
    }
}

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The largest number at which a candidate can be nearest, as bits.
    bound: u32,
    /// The block of the nearest foot, where a search from nearby may begin; `None` if nothing was within
    /// the limit.
    pub block: Option<Start>,
    /// How many boxes and triangles were measured in f32.
    pub measured: u64,
}

/// Where a search begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start(Link);

impl Room {
    /// The triangles that can be nearest after a search.
    #[inline]
    pub fn candidates(&self, found: &Found) -> impl Iterator<Item = u32> + '_ {
        let Pile { keys, items, count } = &self.candidates;
        let bound = found.bound;
        keys.iter().zip(items).take(*count).filter(move |&(&key, _)| key <= bound).map(|(_, &item)| item)
    }
}

/// One search.
struct Question<'t> {
    tree: &'t PointTree,
    query: &'t QueryPoint,
    limit: f32,
    start: Option<Start>,
}

impl PointTree {
    /// Finds all triangles that can be nearest to a point among those within a squared gap of `limit`; a
    /// start from nearby makes it faster and changes nothing else.
    #[inline]
    pub fn search(
        &self,
        level: SimdLevel,
        query: &QueryPoint,
        limit: f32,
        start: Option<Start>,
        room: &mut Room,
    ) -> Found {
        let question = Question { tree: self, query, limit, start };
        search(level, &question, room)
    }
}

dispatch! {
    #[inline]
    fn search(question: &Question<'_>, room: &mut Room) -> Found = proof search_plain
}

#[inline(always)]
fn search_plain(across: impl Across, question: &Question<'_>, room: &mut Room) -> Found {
    let &Question { tree, query, limit, start } = question;
    let Room { waiting, candidates } = room;
    // Below the first are always sixteen that are too far.
    waiting.keys[..LANES].fill(u32::MAX);
    waiting.count = LANES;
    candidates.count = 0;
    let widen_sq = query.widen * query.widen * ROUND_UP;
    // (√x + slack)², from above.
    let with_slack = {
        let (factor, summand) =
            (1.0 + ROOTLESS_LIMIT, query.slack * query.slack * (1.0 + 1.0 / ROOTLESS_LIMIT));
        move |x: f32| (x * factor + summand) * ROUND_UP
    };
    let (mut limit, mut nearest) = (limit, f32::MAX);
    let mut nearest_block = None;
    let mut visits = 0;
    let mut at = start.map_or(tree.root, |Start(block)| block);
    let (mut rest, mut done) = (start.map(|_| tree.root), Link::NONE);
    loop {
        visits += 1;
        if at == done {
            // The start, met again.
        } else if at.is_block() {
            let block = &tree.blocks[at.index()];
            let feet = feet(block, query.point);
            let least = f32::from_bits(smallest(&feet.square));
            if least < nearest {
                (nearest, nearest_block) = (least, Some(Start(at)));
            }
            limit = smaller(with_slack(nearest) * widen_sq, limit);
            let mask = across.within(&feet.least, with_slack(limit).to_bits()) & at.used();
            candidates.put(across, mask, &feet.least, &block.triangles);
        } else {
            let node = &tree.nodes[at.index()];
            let gaps = boxes(node, query.point, query.slack);
            let lane = (across.first(&gaps.nearest) & LANE) as usize;
            let within = f32::from_bits(smallest(&gaps.farthest)) * widen_sq;
            limit = smaller(within, limit);
            let mask = across.within(&gaps.nearest, limit.to_bits());
            if mask != 0 {
                waiting.put(across, mask & !(1 << lane), &gaps.nearest, &node.child);
                at = Link(node.child[lane]);
                continue;
            }
        }
        if let Some(root) = rest.take() {
            (done, at) = (at, root);
            continue;
        }
        match waiting.take(across, limit.to_bits()) {
            Some(link) => at = Link(link),
            None => break,
        }
    }
    let reach = (nearest.sqrt() + query.slack) * query.widen;
    let limit = smaller(reach * reach * ROUND_UP, limit);
    let reach = limit.sqrt() + query.slack;
    Found {
        bound: (reach * reach * ROUND_UP).to_bits(),
        block: nearest_block,
        measured: visits * LANES as u64,
    }
}

#[inline(always)]
fn smaller(x: f32, y: f32) -> f32 {
    if x < y { x } else { y }
}
