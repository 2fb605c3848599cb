//! One tree against itself: every pair of triangles whose leaf boxes overlap, once.
//!
//! An entry of the stack is a node against itself, or some lanes of one node against all lanes of
//! another. Both sides live in the same frame, so a pair of boxes costs three comparisons, which the
//! compiler turns into vector instructions on every machine.

use std::ops::ControlFlow;

use super::stack::{Stack, StackSearch};
use super::wide::{Child, Node, WIDTH, WideTree};
use crate::num::tolerance::SINGLE_COMPARISON;
use crate::{Budget, Counters, Finish};

/// Some lanes of a node against all of another, or against its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    few: u32,
    rows: u8,
    many: u32,
}

impl Entry {
    fn pair(few: usize, rows: u8, many: usize) -> Entry {
        Entry { few: few as u32, rows, many: many as u32 }
    }

    fn is_same(&self) -> bool {
        self.few == self.many
    }
}

/// A search through one tree that can be interrupted between any two pairs of nodes.
#[derive(Debug, Clone)]
pub struct SelfSearch {
    stack: Stack<Entry>,
    /// Boxes no farther apart than this on any axis count as overlapping (tree units).
    margin: f32,
}

impl StackSearch for SelfSearch {
    type Entry = Entry;

    fn stack(&mut self) -> &mut Stack<Entry> {
        &mut self.stack
    }

    fn tests(entry: &Entry) -> u64 {
        let all = WIDTH as u64;
        if entry.is_same() { all * (all - 1) / 2 } else { u64::from(entry.rows.count_ones()) * all }
    }

    fn with(&self, stack: Stack<Entry>) -> SelfSearch {
        SelfSearch { stack, ..*self }
    }
}

impl SelfSearch {
    /// A search that begins at the root.
    pub fn new() -> SelfSearch {
        SelfSearch::within(0.0)
    }

    /// As [`SelfSearch::new`], but boxes up to `margin` apart count as overlapping (tree units, rounded up).
    pub fn within(margin: f32) -> SelfSearch {
        SelfSearch { stack: Stack::from_slice(&[Entry::pair(0, u8::MAX, 0)]), margin }
    }

    /// A search with nothing left to look at.
    pub fn nothing() -> SelfSearch {
        SelfSearch { stack: Stack::new(), margin: 0.0 }
    }

    #[cfg(test)]
    /// Whether everything was looked at.
    pub fn is_complete(&self) -> bool {
        self.stack.is_empty()
    }

    /// Goes on until nothing is left or the budget ends. `each` hears of every pair of different slots
    /// whose leaf boxes overlap, once, and counts what it tests.
    pub fn advance(
        &mut self,
        tree: &WideTree,
        budget: &mut Budget,
        work: &mut Counters,
        mut each: impl FnMut([u32; 2], &mut Counters),
    ) -> Finish {
        self.run(budget, work, |search, entry, work| search.open(tree, entry, work, &mut each))
    }

    /// Splits the search into at least `parts` independent ones where there is so much to do; `each` hears
    /// of what is found on the way.
    pub fn split(
        self,
        tree: &WideTree,
        parts: usize,
        work: &mut Counters,
        mut each: impl FnMut([u32; 2], &mut Counters),
    ) -> Vec<SelfSearch> {
        self.cut(parts, work, |search, entry, work| search.open(tree, entry, work, &mut each))
    }

    #[inline]
    fn open(
        &mut self,
        tree: &WideTree,
        entry: Entry,
        work: &mut Counters,
        each: &mut impl FnMut([u32; 2], &mut Counters),
    ) -> ControlFlow<()> {
        work.volume_tests += SelfSearch::tests(&entry);
        let few = &tree.nodes()[entry.few as usize];
        let many = &tree.nodes()[entry.many as usize];
        // Lanes of the few that are leaves, against each child of the many that is a node.
        let mut waiting = [0_u8; WIDTH];
        for i in (0..WIDTH).filter(|i| entry.rows >> i & 1 != 0) {
            let mut row = overlaps(few, i, many, self.margin);
            if entry.is_same() {
                self.open_lane(few.child[i], work, each);
                // Each pair of lanes once.
                row &= !(u8::MAX >> (WIDTH - 1 - i));
            }
            while row != 0 {
                let j = row.trailing_zeros() as usize;
                row &= row - 1;
                match (few.child[i].as_node(), many.child[j].as_node()) {
                    (Some(x), Some(y)) => self.stack.push(Entry::pair(x, u8::MAX, y)),
                    (None, Some(_)) => waiting[j] |= 1 << i,
                    (Some(x), None) => self.stack.push(Entry::pair(entry.many as usize, 1 << j, x)),
                    (None, None) => {
                        for s in few.child[i].slots() {
                            many.child[j].slots().for_each(|t| each([s as u32, t as u32], work));
                        }
                    }
                }
            }
        }
        for (rows, child) in waiting.into_iter().zip(&many.child).filter(|(rows, _)| *rows != 0) {
            if let Some(y) = child.as_node() {
                self.stack.push(Entry::pair(entry.few as usize, rows, y));
            }
        }
        ControlFlow::Continue(())
    }

    /// A child against itself.
    fn open_lane(
        &mut self,
        child: Child,
        work: &mut Counters,
        each: &mut impl FnMut([u32; 2], &mut Counters),
    ) {
        match child.as_node() {
            Some(x) => self.stack.push(Entry::pair(x, u8::MAX, x)),
            None => {
                for t in child.slots() {
                    (child.slots().start..t).for_each(|s| each([s as u32, t as u32], work));
                }
            }
        }
    }
}

impl Default for SelfSearch {
    fn default() -> SelfSearch {
        SelfSearch::new()
    }
}

/// Which children of `many` overlap child `lane` of `few`; an unused lane overlaps nothing.
#[inline]
fn overlaps(few: &Node, lane: usize, many: &Node, margin: f32) -> u8 {
    let (centre, half) = few.lane(lane);
    let half = half.map(|half| half + margin);
    let mut apart = [false; WIDTH];
    for k in 0..3 {
        for ((apart, at), reach) in apart.iter_mut().zip(&many.centre[k]).zip(&many.half[k]) {
            *apart |= (at - centre[k]).abs() > (reach + half[k]) * SINGLE_COMPARISON;
        }
    }
    (0..WIDTH).fold(0, |mask, j| mask | u8::from(!apart[j]) << j)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mesh;
    use crate::num::random::unit;
    use crate::shape::procedural;

    fn boxes_overlap(mesh: &Mesh, i: u32, j: u32) -> bool {
        let bounds = |t: u32| {
            let [a, b, c] = mesh.corners(t);
            [a.min(b).min(c), a.max(b).max(c)]
        };
        let [[a, b], [c, d]] = [i, j].map(bounds);
        a.cmple(d).all() && c.cmple(b).all()
    }

    fn found(mesh: &Mesh) -> Vec<[u32; 2]> {
        let tree = WideTree::build(mesh);
        let mut pairs = vec![];
        let mut work = Counters::default();
        let finish =
            SelfSearch::new().advance(&tree, &mut Budget::UNLIMITED.clone(), &mut work, |slots, _| {
                let [i, j] = slots.map(|s| tree.order()[s as usize]);
                pairs.push([i.min(j), i.max(j)]);
            });
        assert_eq!(finish, Finish::Complete);
        pairs.sort_unstable();
        pairs
    }

    fn check(mesh: &Mesh) {
        let pairs = found(mesh);
        assert!(pairs.windows(2).all(|two| two[0] < two[1]), "a pair came twice");
        let n = mesh.triangles().len() as u32;
        let missing = (0..n)
            .flat_map(|j| (0..j).map(move |i| [i, j]))
            .find(|&[i, j]| boxes_overlap(mesh, i, j) && pairs.binary_search(&[i, j]).is_err());
        assert_eq!(missing, None);
        assert!(pairs.iter().all(|[i, j]| i < j && *j < n));
    }

    #[test]
    fn every_overlapping_pair_comes_once() {
        check(&procedural::torus(1.0, 0.4, 24, 12).unwrap());
        check(&procedural::cuboid([1.0, 1e-3, 1e3], [5, 6, 7]).unwrap());
        check(&procedural::sheet([1.0, 1.0], [20, 20]).unwrap());
        for count in [1, 2, 3, 4, 5, 8, 9, 33, 200] {
            let corner = |k: u64| [0, 1, 2].map(|c| unit(count, 3 * k + c) + (k / 3) as f64 * 0.02);
            let points = (0..3 * count).map(corner).collect();
            let triangles = (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
            check(&Mesh::new(points, triangles).unwrap());
        }
    }

    #[test]
    fn far_fewer_pairs_than_all_are_brought() {
        let ball = procedural::ico_sphere(1.0, 4).unwrap();
        let n = ball.triangles().len();
        let brought = found(&ball).len();
        assert!(brought < 40 * n, "{brought} pairs for {n} triangles");
    }

    #[test]
    fn split_searches_bring_the_same_pairs() {
        let mesh = procedural::knot([2, 3], 1.0, 0.2, 120, 12).unwrap();
        let tree = WideTree::build(&mesh);
        let mut pairs = vec![];
        let mut work = Counters::default();
        let mut note = |slots: [u32; 2], _: &mut Counters| {
            let [i, j] = slots.map(|s| tree.order()[s as usize]);
            pairs.push([i.min(j), i.max(j)]);
        };
        let parts = SelfSearch::new().split(&tree, 50, &mut work, &mut note);
        assert!(parts.len() >= 50);
        for mut part in parts {
            part.advance(&tree, &mut Budget::UNLIMITED.clone(), &mut work, &mut note);
            assert!(part.is_complete());
        }
        pairs.sort_unstable();
        assert_eq!(pairs, found(&mesh));
    }
}
