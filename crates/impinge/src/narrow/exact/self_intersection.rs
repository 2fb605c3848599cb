//! Where one mesh meets itself, exactly.
//!
//! Which pairs count is the contract's matter: triangles of zero area and copies of the same three corners
//! never do; two that share a corner do when they meet elsewhere too; two that share an edge only when they
//! are coplanar and folded onto each other. Corners are shared when their positions are equal.

use crate::contact::{Certainty, Counters, Finish, Outcome, Verdict};
use crate::geom::triangle_triangle::meet_in_one_surface;
use crate::hierarchy::self_overlap::SelfSearch;
use crate::model::{Fact, Model};
use crate::num::parallel;
use crate::{Budget, Mesh};

/// Searches that the work is split into; fixed, so that nothing depends on the number of threads.
const PARTS: usize = 512;

/// How often a mesh meets itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfCount {
    /// Pairs of triangles found.
    pub count: u64,
    /// The smallest of them.
    pub first: Option<[u32; 2]>,
    /// How sure and complete the count is, and what it cost.
    pub outcome: Outcome,
}

/// Every pair of triangles in which the mesh meets itself, ascending, the smaller index first.
pub fn self_intersections(model: &Model) -> (Vec<[u32; 2]>, Outcome) {
    let (mut finder, work) = find_all(model, true);
    finder.pairs.sort_unstable();
    (finder.pairs, Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work })
}

/// As [`self_intersections`], with a limit on the cost; those found so far when the budget ends.
pub(crate) fn self_intersections_within(model: &Model, budget: &mut Budget) -> Verdict<Vec<[u32; 2]>> {
    if ![Fact::Tree, Fact::Topology].iter().all(|&fact| model.prepare(fact, budget)) {
        return Verdict::out_of_budget();
    }
    let mut search = SelfIntersectionSearch::new(model);
    loop {
        let outcome = search.advance(budget).outcome;
        let told = || Verdict::by_finish(search.pairs().to_vec(), outcome);
        if outcome.finish != Finish::OutOfBudget || !budget.rest(told) {
            return told();
        }
    }
}

/// How many pairs [`self_intersections`] would list, without keeping them.
pub fn count_self_intersections(model: &Model) -> SelfCount {
    let (finder, work) = find_all(model, false);
    finder.counted(Finish::Complete, work)
}

/// Whether two triangles of the mesh count as a self-intersection.
pub fn triangles_intersect(model: &Model, i: u32, j: u32) -> bool {
    let [a, b] = [i, j].map(|t| model.mesh().corners(t));
    let [va, vb] = [i, j].map(|t| model.topology().triangles()[t as usize]);
    // Corners of the first that the second has too.
    let shared = (0..3).filter_map(|k| vb.iter().position(|&v| v == va[k]).map(|l| (k, l)));
    meet_in_one_surface(&a, &b, shared)
}

/// Whether a mesh meets itself, by all pairs: for a few triangles, about which nothing is built.
pub(crate) fn few_triangles_intersect(mesh: &Mesh) -> bool {
    let all = 0..mesh.triangles().len() as u32;
    all.clone().any(|i| {
        let a = mesh.corners(i);
        all.clone().skip(i as usize + 1).any(|j| {
            let b = mesh.corners(j);
            let shared = (0..3).filter_map(|k| b.iter().position(|p| *p == a[k]).map(|l| (k, l)));
            meet_in_one_surface(&a, &b, shared)
        })
    })
}

/// A search for self-intersections that can stop when a budget ends and go on later.
#[derive(Debug, Clone)]
pub struct SelfIntersectionSearch<'m> {
    search: SelfSearch,
    finder: Finder<'m>,
    work: Counters,
}

impl<'m> SelfIntersectionSearch<'m> {
    /// A search that has not begun and will keep the pairs.
    pub fn new(model: &'m Model) -> SelfIntersectionSearch<'m> {
        let (finder, work) = (Finder::new(model, true), Counters::default());
        SelfIntersectionSearch { search: SelfSearch::new(), finder, work }
    }

    /// As [`SelfIntersectionSearch::new`], but the pairs are only counted.
    pub fn counting(model: &'m Model) -> SelfIntersectionSearch<'m> {
        SelfIntersectionSearch { finder: Finder::new(model, false), ..SelfIntersectionSearch::new(model) }
    }

    /// Goes on until nothing is left or the budget ends; what was found so far is exact either way.
    pub fn advance(&mut self, budget: &mut Budget) -> SelfCount {
        let tree = self.finder.model.tree();
        let each = |slots, work: &mut Counters| self.finder.test(slots, work);
        let finish = self.search.advance(tree, budget, &mut self.work, each);
        self.finder.pairs.sort_unstable();
        self.finder.counted(finish, self.work)
    }

    /// The pairs found so far, ascending.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.finder.pairs
    }
}

/// Takes leaf pairs and keeps or counts those that intersect.
#[derive(Debug, Clone)]
struct Finder<'m> {
    model: &'m Model,
    keep: bool,
    pairs: Vec<[u32; 2]>,
    count: u64,
    first: Option<[u32; 2]>,
}

impl<'m> Finder<'m> {
    fn new(model: &'m Model, keep: bool) -> Finder<'m> {
        Finder { model, keep, pairs: Vec::new(), count: 0, first: None }
    }

    fn test(&mut self, slots: [u32; 2], work: &mut Counters) {
        work.primitive_tests += 1;
        let [i, j] = slots.map(|s| self.model.tree().order()[s as usize]);
        if triangles_intersect(self.model, i, j) {
            self.add([i.min(j), i.max(j)]);
        }
    }

    fn add(&mut self, pair: [u32; 2]) {
        self.count += 1;
        self.first = Some(self.first.map_or(pair, |first| first.min(pair)));
        if self.keep {
            self.pairs.push(pair);
        }
    }

    fn counted(&self, finish: Finish, work: Counters) -> SelfCount {
        let outcome = Outcome { certainty: Certainty::Exact, finish, work };
        SelfCount { count: self.count, first: self.first, outcome }
    }
}

/// The whole search, on all threads; the pairs in no particular order.
fn find_all(model: &Model, keep: bool) -> (Finder<'_>, Counters) {
    let tree = model.tree();
    let mut whole = Finder::new(model, keep);
    let mut work = Counters::default();
    let parts = SelfSearch::new().split(tree, PARTS, &mut work, |slots, work| whole.test(slots, work));
    let found = parallel::map(parts.len(), |k| {
        let (mut finder, mut work) = (Finder::new(model, keep), Counters::default());
        let each = |slots, work: &mut Counters| finder.test(slots, work);
        parts[k].clone().advance(tree, &mut Budget::UNLIMITED.clone(), &mut work, each);
        (finder, work)
    });
    for (more, cost) in found {
        whole.count += more.count;
        whole.first = whole.first.into_iter().chain(more.first).min();
        whole.pairs.extend(more.pairs);
        work += cost;
    }
    (whole, work)
}

#[cfg(test)]
#[path = "self_intersection_tests.rs"]
mod tests;
