//! Two trees against each other: which triangles meet, by going down both trees at once (Gottschalk,
//! Lin, Manocha 1996), with every choice of [`Ask`].

use glam::DVec3;

use super::options::{Answer, Ask, Descend};
use super::storage::{Node, Tree};
use crate::bound::Relative;
use crate::contact::{Certainty, Counters, Finish, Outcome};
use crate::geom::triangle_triangle::meet;
use crate::num::tolerance::ROUND_UP;
use crate::{Mesh, Pose};

/// A mesh with its tree, somewhere.
#[derive(Debug, Clone, Copy)]
pub struct Posed<'a> {
    /// The tree, up to date with the mesh.
    pub tree: &'a Tree,
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Where it is.
    pub pose: &'a Pose,
}

/// What a query found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Pairs of triangles that meet, ascending; one at most when only detection was asked for.
    pub pairs: Vec<[u32; 2]>,
    /// Overlapping pairs of nodes at which the search stopped, when it was told to stop at a level.
    pub open: Vec<[u32; 2]>,
    /// Certainty, end and cost. With open pairs it is conservative: the surfaces under them are at most
    /// the tolerance apart, or the certain pairs meet anyway.
    pub outcome: Outcome,
}

impl Found {
    /// Whether the bodies meet, as far as was looked.
    pub fn touching(&self) -> bool {
        !(self.pairs.is_empty() && self.open.is_empty())
    }
}

/// Which triangles of two placed meshes meet, exactly, or which nodes still overlap at a level.
pub fn collide(a: Posed<'_>, b: Posed<'_>, ask: Ask) -> Found {
    let mut relative = Relative::new(a.pose, a.tree.reach, b.pose, b.tree.reach);
    for kind in a.tree.kinds() {
        relative.prepare(kind);
    }
    let mut search = Search {
        a,
        b,
        ask,
        origin: relative.translation,
        relative,
        work: Counters::default(),
        pairs: Vec::new(),
        open: Vec::new(),
        tolerance: 0.0,
        placed: Vec::new(),
    };
    let finish =
        if a.tree.is_shared() || b.tree.is_shared() { search.run::<true>() } else { search.run::<false>() };
    search.pairs.sort_unstable();
    let certainty = match search.open.is_empty() {
        true => Certainty::Exact,
        false => Certainty::Conservative { tolerance: search.tolerance },
    };
    let outcome = Outcome { certainty, finish, work: search.work };
    Found { pairs: search.pairs, open: search.open, outcome }
}

/// A node where it stands: its slots and, in a DAG, how far it is moved.
#[derive(Clone, Copy)]
struct Place {
    node: u32,
    first: u32,
    level: u16,
    shift: DVec3,
}

const ROOT: Place = Place { node: 0, first: 0, level: 0, shift: DVec3::ZERO };

struct Search<'a> {
    a: Posed<'a>,
    b: Posed<'a>,
    ask: Ask,
    relative: Relative,
    /// The translation of `relative` when nothing is shifted.
    origin: DVec3,
    work: Counters,
    pairs: Vec<[u32; 2]>,
    open: Vec<[u32; 2]>,
    tolerance: f64,
    /// Scratch: the placed triangles of a leaf.
    placed: Vec<[DVec3; 3]>,
}

impl Search<'_> {
    fn run<const SHARED: bool>(&mut self) -> Finish {
        let mut stack = Vec::with_capacity(64);
        if self.overlap::<SHARED>(&ROOT, &ROOT) {
            stack.push((ROOT, ROOT));
        }
        while let Some((pa, pb)) = stack.pop() {
            let (na, nb) = (self.a.tree.nodes[pa.node as usize], self.b.tree.nodes[pb.node as usize]);
            let (end_a, end_b) = (self.ends(&na, pa.level), self.ends(&nb, pb.level));
            if end_a && end_b {
                if na.degree == 0 && nb.degree == 0 {
                    self.test_triangles(&na, pa.first, &nb, pb.first);
                } else {
                    self.leave_open(&na, &nb, pa.node, pb.node);
                }
                if self.ask.answer == Answer::Detect && !(self.pairs.is_empty() && self.open.is_empty()) {
                    self.pairs.truncate(1);
                    return Finish::Stopped;
                }
                continue;
            }
            let (open_a, open_b) = match self.ask.descend {
                Descend::Both => (!end_a, !end_b),
                Descend::Larger if end_a || end_b => (!end_a, !end_b),
                Descend::Larger => (na.radius >= nb.radius, na.radius < nb.radius),
            };
            let ways_a = if open_a { self.a.tree.links_of(&na) } else { 0..1 };
            for i in ways_a {
                let qa = if open_a { step::<SHARED>(self.a.tree, &pa, i) } else { pa };
                let ways_b = if open_b { self.b.tree.links_of(&nb) } else { 0..1 };
                for j in ways_b {
                    let qb = if open_b { step::<SHARED>(self.b.tree, &pb, j) } else { pb };
                    if self.overlap::<SHARED>(&qa, &qb) {
                        stack.push((qa, qb));
                    }
                }
            }
        }
        Finish::Complete
    }

    /// Whether the search goes no further down here.
    fn ends(&self, node: &Node, level: u16) -> bool {
        node.degree == 0 || self.ask.stop.is_some_and(|stop| level >= stop)
    }

    #[inline]
    fn overlap<const SHARED: bool>(&mut self, pa: &Place, pb: &Place) -> bool {
        self.work.volume_tests += 1;
        if SHARED {
            self.relative.translation = self.origin + self.relative.matrix * pb.shift - pa.shift;
        }
        let (ta, tb) = (self.a.tree, self.b.tree);
        let (a, b) = (ta.bound(&ta.nodes[pa.node as usize]), tb.bound(&tb.nodes[pb.node as usize]));
        a.overlaps(&b, &self.relative)
    }

    fn test_triangles(&mut self, na: &Node, first_a: u32, nb: &Node, first_b: u32) {
        let slots = |first: u32, count: u32| first as usize..(first + count) as usize;
        let b_slots = &self.b.tree.order[slots(first_b, nb.count)];
        self.placed.clear();
        self.placed.extend(b_slots.iter().map(|&t| self.b.mesh.corners(t).map(|p| self.b.pose.apply(p))));
        for &ta in &self.a.tree.order[slots(first_a, na.count)] {
            let a = self.a.mesh.corners(ta).map(|p| self.a.pose.apply(p));
            self.work.primitive_tests += u64::from(nb.count);
            for (b, &tb) in self.placed.iter().zip(b_slots) {
                if meet(&a, b) {
                    self.pairs.push([ta, tb]);
                }
            }
        }
    }

    fn leave_open(&mut self, na: &Node, nb: &Node, a: u32, b: u32) {
        self.open.push([a, b]);
        // The volumes share a point; each surface is within its volume's diameter of it.
        let apart = 2.0 * (na.radius + nb.radius * self.relative.stretch) / self.relative.shrink;
        self.tolerance = self.tolerance.max((apart + self.relative.pad) * ROUND_UP);
    }
}

#[inline]
fn step<const SHARED: bool>(tree: &Tree, from: &Place, link: usize) -> Place {
    let to = tree.links[link];
    let shift = if SHARED && tree.is_shared() { from.shift + tree.shifts[link] } else { from.shift };
    Place { node: to.node, first: from.first + to.offset, level: from.level + 1, shift }
}
