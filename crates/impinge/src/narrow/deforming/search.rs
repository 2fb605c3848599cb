//! The search for contacts of moving features, through one tree or two.
//!
//! With an unlimited budget it runs on all threads. The time of the earliest contact so far is shared and only
//! drops what comes later, so that the answer does not depend on who was first.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use glam::DVec3;

use super::{Deforming, MovingContact};
use crate::geom::moving::{Kind, first_contact};
use crate::hierarchy::dual::{DualSearch, LeafPairs};
use crate::hierarchy::relative::Relative;
use crate::hierarchy::self_overlap::SelfSearch;
use crate::num::parallel;
use crate::num::tolerance::CONTACT_TIME;
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
    /// How sure the times are, how the search ended and what it cost.
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

impl<'m> DeformingSearch<'m> {
    /// A search for contacts of one mesh with itself.
    pub fn of_one(mesh: &'m Deforming, want: Want) -> DeformingSearch<'m> {
        let way = Way::One(SelfSearch::new());
        DeformingSearch { way, finder: Finder::new([mesh, mesh], false, want), work: Counters::default() }
    }

    /// A search for contacts of two meshes.
    pub fn of_two(a: &'m Deforming, b: &'m Deforming, want: Want) -> DeformingSearch<'m> {
        let relative = Relative::new(a.tree(), &Pose::IDENTITY, b.tree(), &Pose::IDENTITY, 0.0);
        let way = Way::Two(DualSearch::new(), Box::new(relative));
        DeformingSearch { way, finder: Finder::new([a, b], true, want), work: Counters::default() }
    }

    /// Goes on until nothing is left or the budget ends; what was found so far is certain either way.
    pub fn advance(&mut self, budget: &mut Budget) -> Found {
        let finish = if budget.is_unlimited() { self.finish() } else { self.advance_alone(budget) };
        let contacts = self.finder.listed();
        let certainty = Certainty::Conservative { tolerance: CONTACT_TIME };
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
    /// The box of each vertex.
    low: [DVec3; 3],
    high: [DVec3; 3],
}

impl Swept {
    #[inline]
    fn new(mesh: &Deforming, slot: u32) -> Swept {
        let triangle = mesh.tree().order()[slot as usize];
        let vertices = mesh.t0.triangles()[triangle as usize];
        let [t0, t1] = mesh.points(vertices);
        let low = std::array::from_fn(|k| t0[k].min(t1[k]));
        let high = std::array::from_fn(|k| t0[k].max(t1[k]));
        Swept { triangle, vertices, t0, t1, low, high }
    }
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
        let [a, b] = self.finder.meshes;
        let (x, y) = (Swept::new(a, s), Swept::new(b, t));
        for k in a.owners.vertices(x.triangle) {
            self.vertex_face(&x, k, &y, false, work);
        }
        for k in b.owners.vertices(y.triangle) {
            self.vertex_face(&y, k, &x, self.finder.are_two, work);
        }
        for k in a.owners.edges(x.triangle) {
            for l in b.owners.edges(y.triangle) {
                self.edge_edge([&x, &y], [k, l], work);
            }
        }
    }

    #[inline]
    fn vertex_face(&mut self, x: &Swept, k: usize, y: &Swept, swapped: bool, work: &mut Counters) {
        let v = x.vertices[k];
        if !self.finder.are_two && y.vertices.contains(&v) {
            return;
        }
        let low = y.low[0].min(y.low[1]).min(y.low[2]);
        let high = y.high[0].max(y.high[1]).max(y.high[2]);
        if x.low[k].cmpgt(high).any() || low.cmpgt(x.high[k]).any() {
            return;
        }
        let [t0, t1] = [(x.t0[k], y.t0), (x.t1[k], y.t1)].map(|(p, [a, b, c])| [p, a, b, c]);
        let [f, g, h] = y.vertices;
        self.features(Kind::VertexFace, swapped, [v, f, g, h], &t0, &t1, work);
    }

    #[inline]
    fn edge_edge(&mut self, [x, y]: [&Swept; 2], [k, l]: [usize; 2], work: &mut Counters) {
        let [m, n] = [(k + 1) % 3, (l + 1) % 3];
        let vertices = [x.vertices[k], x.vertices[m], y.vertices[l], y.vertices[n]];
        let [a, b, c, d] = vertices;
        if !self.finder.are_two && (a == c || a == d || b == c || b == d) {
            return;
        }
        let [low, high] = [x.low[k].min(x.low[m]), x.high[k].max(x.high[m])];
        if low.cmpgt(y.high[l].max(y.high[n])).any() || y.low[l].min(y.low[n]).cmpgt(high).any() {
            return;
        }
        let t0 = [x.t0[k], x.t0[m], y.t0[l], y.t0[n]];
        let t1 = [x.t1[k], x.t1[m], y.t1[l], y.t1[n]];
        self.features(Kind::EdgeEdge, false, vertices, &t0, &t1, work);
    }

    fn features(
        &mut self,
        kind: Kind,
        swapped: bool,
        vertices: [u32; 4],
        t0: &[DVec3; 4],
        t1: &[DVec3; 4],
        work: &mut Counters,
    ) {
        work.primitive_tests += 1;
        let Some(time) = first_contact(kind, t0, t1) else { return };
        if self.finder.want == Want::First {
            if time > self.earliest.time() {
                return;
            }
            self.earliest.hear(time);
        }
        let vertices = if kind == Kind::EdgeEdge { ordered(vertices, self.finder.are_two) } else { vertices };
        self.finder.take(MovingContact { time, kind, swapped, vertices });
    }
}

/// The smaller end of each edge first, and within one mesh the smaller edge first.
fn ordered([a, b, c, d]: [u32; 4], are_two: bool) -> [u32; 4] {
    let (x, y) = ([a.min(b), a.max(b)], [c.min(d), c.max(d)]);
    let [[a, b], [c, d]] = if are_two || x < y { [x, y] } else { [y, x] };
    [a, b, c, d]
}

impl<'m> Finder<'m> {
    fn new(meshes: [&'m Deforming; 2], are_two: bool, want: Want) -> Finder<'m> {
        Finder { meshes, are_two, want, contacts: Vec::new() }
    }

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
