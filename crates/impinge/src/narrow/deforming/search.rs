//! The search for contacts of moving features, through one tree or two.
//!
//! With an unlimited budget it runs on all threads. The time of the earliest contact so far is shared and only
//! drops what comes later, so that the answer does not depend on who was first.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use glam::DVec3;

use super::{Deforming, MovingContact};
use crate::geom::fast_max::{larger, largest};
use crate::geom::moving::{FeaturePairKind, first_within};
use crate::hierarchy::dual::{DualSearch, LeafPairs};
use crate::hierarchy::relative::Relative;
use crate::hierarchy::self_overlap::SelfSearch;
use crate::num::parallel;
use crate::num::tolerance::{CONTACT_TIME, PLACED_BOX_ROUNDING, SEPARATION_SLACK};
use crate::{Budget, Certainty, Counters, Finish, Outcome, Pose};

/// Searches that the work is split into; fixed, so that nothing depends on the number of threads.
const PARTS: usize = 512;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// The earliest contact; of those at the same time the first in order.
    First,
    /// Every pair of features that meets, with its first time.
    All,
}

/// Contacts found so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// At most one where the first is wanted; ascending by features where all are.
    pub contacts: Vec<MovingContact>,
    /// How sure the times are (as parts of the step; of a separation: its length), how the search ended and what
    /// it cost.
    pub outcome: Outcome,
}

/// A search for contacts that can stop when a budget ends and go on later.
#[derive(Debug, Clone)]
pub struct DeformingSearch<'m> {
    way: Way,
    finder: Finder<'m>,
    work: Counters,
}

/// Through one tree or through two.
#[derive(Debug, Clone)]
enum Way {
    One(SelfSearch),
    Two(DualSearch, Box<Relative>),
}

/// A search that a budget ended, without its meshes.
#[derive(Debug, Clone)]
pub struct UnfinishedSearch {
    steps: [u64; 2],
    are_two: bool,
    want: Want,
    separation: f64,
    way: Way,
    contacts: Vec<MovingContact>,
    work: Counters,
}

impl<'m> DeformingSearch<'m> {
    /// Takes the search out of its meshes.
    pub fn suspend(self) -> UnfinishedSearch {
        let Finder { meshes, are_two, want, separation, contacts } = self.finder;
        let steps = meshes.map(|mesh| mesh.identity);
        UnfinishedSearch { steps, are_two, want, separation, way: self.way, contacts, work: self.work }
    }

    /// Goes on where a search for the same was suspended; any other is left out of account.
    #[must_use]
    pub fn resume(self, from: UnfinishedSearch) -> DeformingSearch<'m> {
        let Finder { meshes, are_two, want, separation, .. } = self.finder;
        let same = from.steps == meshes.map(|mesh| mesh.identity)
            && (from.are_two, from.want, from.separation) == (are_two, want, separation);
        if !same {
            return self;
        }
        let finder = Finder { contacts: from.contacts, ..self.finder };
        DeformingSearch { way: from.way, finder, work: from.work }
    }

    /// What was tested so far.
    pub fn work(&self) -> Counters {
        self.work
    }

    /// A search for contacts of one mesh with itself.
    pub fn of_one(mesh: &'m Deforming, want: Want) -> DeformingSearch<'m> {
        DeformingSearch::new([mesh, mesh], false, want, 0.0)
    }

    /// A search for contacts of two meshes.
    pub fn of_two(a: &'m Deforming, b: &'m Deforming, want: Want) -> DeformingSearch<'m> {
        DeformingSearch::new([a, b], true, want, 0.0)
    }

    /// The same search from its start, for features that come within `separation` (a length) of each other.
    ///
    /// None is missed and no time is late; those that come no nearer than
    /// `separation · (1 + `[`SEPARATION_SLACK`]`)` are not listed.
    pub fn within(self, separation: f64) -> DeformingSearch<'m> {
        let Finder { meshes, are_two, want, .. } = self.finder;
        DeformingSearch::new(meshes, are_two, want, separation.max(0.0))
    }

    fn new(meshes: [&'m Deforming; 2], are_two: bool, want: Want, separation: f64) -> DeformingSearch<'m> {
        let [a, b] = meshes.map(Deforming::tree);
        // Boxes are compared in f32: the separation, seen from the tree, is rounded up.
        let way = if are_two {
            let relative = Relative::new(a, &Pose::IDENTITY, b, &Pose::IDENTITY, separation);
            Way::Two(DualSearch::new(), Box::new(relative))
        } else {
            let margin = (separation / a.frame().unit) as f32;
            Way::One(SelfSearch::within(if separation > 0.0 { margin.next_up() } else { 0.0 }))
        };
        let finder = Finder { meshes, are_two, want, separation, contacts: Vec::new() };
        DeformingSearch { way, finder, work: Counters::default() }
    }

    /// Goes on until nothing is left or the budget ends; what was found so far is certain either way.
    pub fn advance(&mut self, budget: &mut Budget) -> Found {
        let finish = if budget.is_unlimited() { self.finish() } else { self.advance_alone(budget) };
        let contacts = self.finder.listed();
        let tolerance = match self.finder.separation {
            0.0 => CONTACT_TIME,
            separation => separation * SEPARATION_SLACK,
        };
        let certainty = Certainty::Conservative { tolerance };
        Found { contacts, outcome: Outcome { certainty, finish, work: self.work } }
    }

    /// On this thread.
    fn advance_alone(&mut self, budget: &mut Budget) -> Finish {
        let [a, b] = self.finder.meshes.map(Deforming::tree);
        let earliest = Earliest::new();
        self.finder.contacts.iter().for_each(|contact| earliest.hear(contact.time));
        let mut hunt = Hunt { finder: &mut self.finder, earliest: &earliest };
        match &mut self.way {
            Way::One(search) => {
                search.advance(a, budget, &mut self.work, |slots, work| hunt.test(slots, work))
            }
            Way::Two(search, relative) => search.advance(a, b, relative, &mut hunt, budget, &mut self.work),
        }
    }

    /// To the end, on all threads.
    fn finish(&mut self) -> Finish {
        let [a, b] = self.finder.meshes.map(Deforming::tree);
        let earliest = Earliest::new();
        self.finder.contacts.iter().for_each(|contact| earliest.hear(contact.time));
        let blank = Finder { contacts: Vec::new(), ..self.finder.clone() };
        let mut hunt = Hunt { finder: &mut self.finder, earliest: &earliest };
        let found = match &mut self.way {
            Way::One(search) => {
                let all = std::mem::replace(search, SelfSearch::nothing());
                let parts = all.split(a, PARTS, &mut self.work, |slots, work| hunt.test(slots, work));
                parallel::map(parts.len(), |k| {
                    let (mut finder, mut work) = (blank.clone(), Counters::default());
                    let mut hunt = Hunt { finder: &mut finder, earliest: &earliest };
                    let each = |slots, work: &mut Counters| hunt.test(slots, work);
                    parts[k].clone().advance(a, &mut Budget::UNLIMITED.clone(), &mut work, each);
                    (finder, work)
                })
            }
            Way::Two(search, relative) => {
                let all = std::mem::replace(search, DualSearch::nothing());
                let parts = all.split(a, b, relative, &mut hunt, PARTS, &mut self.work);
                parallel::map(parts.len(), |k| {
                    let (mut finder, mut work) = (blank.clone(), Counters::default());
                    let mut hunt = Hunt { finder: &mut finder, earliest: &earliest };
                    let unlimited = &mut Budget::UNLIMITED.clone();
                    parts[k].clone().advance(a, b, relative, &mut hunt, unlimited, &mut work);
                    (finder, work)
                })
            }
        };
        for (finder, work) in found {
            self.finder.contacts.extend(finder.contacts);
            self.work += work;
        }
        Finish::Complete
    }
}

/// The time of the earliest contact that any thread has found; it only falls.
struct Earliest(AtomicU64);

impl Earliest {
    fn new() -> Earliest {
        Earliest(AtomicU64::new(f64::INFINITY.to_bits()))
    }

    /// Doubles that are not negative are ordered like their bits.
    fn hear(&self, time: f64) {
        self.0.fetch_min(time.to_bits(), Ordering::Relaxed);
    }

    #[inline]
    fn time(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

/// Collects the contacts of one part of the search.
#[derive(Debug, Clone)]
struct Finder<'m> {
    meshes: [&'m Deforming; 2],
    /// Two meshes have no vertices in common, whatever their indices.
    are_two: bool,
    want: Want,
    separation: f64,
    contacts: Vec<MovingContact>,
}

/// A finder with what it hears from the others.
struct Hunt<'s, 'm> {
    finder: &'s mut Finder<'m>,
    earliest: &'s Earliest,
}

/// A triangle with its path.
struct Swept {
    triangle: u32,
    vertices: [u32; 3],
    t0: [DVec3; 3],
    t1: [DVec3; 3],
    /// The box of each vertex, grown by half the separation.
    low: [DVec3; 3],
    high: [DVec3; 3],
}

impl Swept {
    /// The boxes hold the path until a time.
    #[inline]
    fn new(mesh: &Deforming, slot: u32, until: f64, separation: f64) -> Swept {
        let triangle = mesh.tree().order()[slot as usize];
        let vertices = mesh.t0.triangles()[triangle as usize];
        let [t0, t1] = mesh.points(vertices);
        let mut swept = Swept { triangle, vertices, t0, t1, low: t0, high: t0 };
        for k in 0..3 {
            let (mut end, mut room) = (t1[k], 0.0);
            if until < 1.0 {
                end = t0[k] + (t1[k] - t0[k]) * until;
                room = PLACED_BOX_ROUNDING * larger(largest(t0[k]), largest(t1[k]));
            }
            if separation > 0.0 {
                room +=
                    0.5 * separation + PLACED_BOX_ROUNDING * (separation + largest(t0[k]) + largest(t1[k]));
            }
            swept.low[k] = smaller_of(t0[k], end) - DVec3::splat(room);
            swept.high[k] = larger_of(t0[k], end) + DVec3::splat(room);
        }
        swept
    }

    /// The box of some corners.
    #[inline]
    fn around<const N: usize>(&self, corners: [usize; N]) -> [DVec3; 2] {
        let first = [self.low[corners[0]], self.high[corners[0]]];
        corners[1..]
            .iter()
            .fold(first, |[low, high], &k| [smaller_of(low, self.low[k]), larger_of(high, self.high[k])])
    }
}

#[inline]
fn are_apart([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> bool {
    a.cmpgt(d).any() || c.cmpgt(b).any()
}

#[inline]
fn larger_of(a: DVec3, b: DVec3) -> DVec3 {
    DVec3::new(larger(a.x, b.x), larger(a.y, b.y), larger(a.z, b.z))
}

#[inline]
fn smaller_of(a: DVec3, b: DVec3) -> DVec3 {
    -larger_of(-a, -b)
}

impl LeafPairs for Hunt<'_, '_> {
    fn meet(&mut self, slots: &[[u32; 2]], work: &mut Counters) -> ControlFlow<()> {
        slots.iter().for_each(|&pair| self.test(pair, work));
        ControlFlow::Continue(())
    }
}

impl Hunt<'_, '_> {
    /// Tests the features that two triangles own.
    #[inline]
    fn test(&mut self, [s, t]: [u32; 2], work: &mut Counters) {
        let Finder { meshes: [a, b], separation, .. } = *self.finder;
        let until = self.until();
        let (x, y) = (Swept::new(a, s, until, separation), Swept::new(b, t, until, separation));
        if are_apart(x.around([0, 1, 2]), y.around([0, 1, 2])) {
            return;
        }
        for k in a.representatives.vertices(x.triangle) {
            self.vertex_face(&x, k, &y, false, work);
        }
        for k in b.representatives.vertices(y.triangle) {
            self.vertex_face(&y, k, &x, self.finder.are_two, work);
        }
        for k in a.representatives.edges(x.triangle) {
            for l in b.representatives.edges(y.triangle) {
                self.edge_edge([&x, &y], [k, l], work);
            }
        }
    }

    /// Nothing that meets later can be the first: reported times are early by at most the tolerance. Times of a
    /// separation are not bound by it, so nothing is dropped there that another order would keep.
    #[inline]
    fn until(&self) -> f64 {
        if self.finder.want == Want::First && self.finder.separation == 0.0 {
            self.earliest.time() + 2.0 * CONTACT_TIME
        } else {
            f64::INFINITY
        }
    }

    #[inline]
    fn vertex_face(&mut self, x: &Swept, k: usize, y: &Swept, swapped: bool, work: &mut Counters) {
        let v = x.vertices[k];
        if !self.finder.are_two && y.vertices.contains(&v) {
            return;
        }
        if are_apart(x.around([k]), y.around([0, 1, 2])) {
            return;
        }
        let [t0, t1] = [(x.t0[k], y.t0), (x.t1[k], y.t1)].map(|(p, [a, b, c])| [p, a, b, c]);
        let [f, g, h] = y.vertices;
        self.features(FeaturePairKind::VertexFace, swapped, [v, f, g, h], &t0, &t1, work);
    }

    #[inline]
    fn edge_edge(&mut self, [x, y]: [&Swept; 2], [k, l]: [usize; 2], work: &mut Counters) {
        let [m, n] = [(k + 1) % 3, (l + 1) % 3];
        let vertices = [x.vertices[k], x.vertices[m], y.vertices[l], y.vertices[n]];
        let [a, b, c, d] = vertices;
        if !self.finder.are_two && (a == c || a == d || b == c || b == d) {
            return;
        }
        if are_apart(x.around([k, m]), y.around([l, n])) {
            return;
        }
        let t0 = [x.t0[k], x.t0[m], y.t0[l], y.t0[n]];
        let t1 = [x.t1[k], x.t1[m], y.t1[l], y.t1[n]];
        self.features(FeaturePairKind::EdgeEdge, false, vertices, &t0, &t1, work);
    }

    fn features(
        &mut self,
        kind: FeaturePairKind,
        swapped: bool,
        vertices: [u32; 4],
        t0: &[DVec3; 4],
        t1: &[DVec3; 4],
        work: &mut Counters,
    ) {
        work.primitive_tests += 1;
        let Some(time) = first_within(kind, t0, t1, self.finder.separation) else { return };
        if self.finder.want == Want::First {
            if time > self.earliest.time() {
                return;
            }
            self.earliest.hear(time);
        }
        let vertices =
            if kind == FeaturePairKind::EdgeEdge { ordered(vertices, self.finder.are_two) } else { vertices };
        self.finder.take(MovingContact { time, kind, swapped, vertices });
    }
}

/// The smaller end of each edge first, and within one mesh the smaller edge first.
fn ordered([a, b, c, d]: [u32; 4], are_two: bool) -> [u32; 4] {
    let (x, y) = ([a.min(b), a.max(b)], [c.min(d), c.max(d)]);
    let [[a, b], [c, d]] = if are_two || x < y { [x, y] } else { [y, x] };
    [a, b, c, d]
}

impl Finder<'_> {
    fn take(&mut self, contact: MovingContact) {
        if self.want == Want::First {
            let is_before = |old: &MovingContact| {
                contact.time < old.time || (contact.time == old.time && contact.place() < old.place())
            };
            if !self.contacts.iter().all(is_before) {
                return;
            }
            self.contacts.clear();
        }
        self.contacts.push(contact);
    }

    /// Puts the contacts in order, or leaves only the first.
    fn listed(&mut self) -> Vec<MovingContact> {
        match self.want {
            Want::All => {
                self.contacts.sort_unstable_by_key(MovingContact::place);
                // A face that the file repeats is one face.
                self.contacts.dedup_by_key(|contact| contact.place());
            }
            Want::First => {
                let all = std::mem::take(&mut self.contacts);
                all.into_iter().for_each(|contact| self.take(contact));
            }
        }
        self.contacts.clone()
    }
}
