//! The exact end game of the relation: every cell of every triangle in contact, and one place on every
//! part of the surfaces that is free of contact.
//!
//! What has to be looked at, with X for either body and Y for the other:
//! - on a connected part of X off Y's surface w_y is constant: one place tells whether it is in or out;
//! - a triangle of X in contact falls into cells, separated by the triangles of Y that meet it; a cell off
//!   Y's surface counts as such a part;
//! - a cell on Y's surface is shared: the windings of both bodies on both of its sides are needed, and
//!   there X's own triangles part the cell too.
//!
//! If a region in both solids exists, its border has a face; on X off Y that face shows w_y ≠ 0, on both
//! it shows both windings. So without such a find there is no common region, whatever the bodies do to
//! themselves. Only where X passes through Y's interior are X's own cells needed everywhere, and even
//! there the first place nearly always settles it ([`CellClassification::deepen`]).
//!
//! A part of X off Y that touches a triangle in contact is seen in passing: the corner where they touch is
//! off Y too, so the cell of that triangle at this corner has the same w_y. Triangles with the same three
//! corners have the same cells; one of them is enough.
//!
//! Cost: a winding number is a walk down a tree. Cells are linear in the crossings of lines on a
//! triangle, so a fine face on a coarse one costs a few windings for each fine triangle.

use std::collections::HashSet;
use std::ops::ControlFlow;

use glam::DVec3;

use super::perturbed_point::{BasePoint, Direction, PerturbedPoint};
use super::placed_mesh::PlacedMesh;
use super::relation_facts::RelationFacts;
use super::triangle_arrangement::{for_each_cell, line_crossing, pierce};
use super::winding::{counted_winding_at, counted_windings_across};
use crate::Budget;
use crate::geom::triangle_triangle::{TriangleRelation, classify, upright_axis};
use crate::num::compact_sort::sort_few;
use crate::num::predicate::{Plane, Sign};
use crate::shape::Topology;

/// As many triangles beside the contact are asked for their side one by one; beyond, it is cheaper to
/// find out first which of them hang together.
const SEEDS_ALONE: usize = 256;

/// Two placed bodies and what was found out about them.
pub(crate) struct CellClassification<'m> {
    pub bodies: [PlacedMesh<'m>; 2],
    pub facts: RelationFacts,
    /// What may still be spent.
    pub budget: Budget,
    /// Whether the budget ended before everything was looked at.
    pub cut_off: bool,
    /// Triangles that were asked for windings and cells.
    pub tests: u64,
    /// The pair whose cells on body a were looked at last.
    crossed: Option<[u32; 2]>,
}

impl<'m> CellClassification<'m> {
    /// Nothing found out yet but which surfaces are closed and which have an area.
    pub fn new(bodies: [PlacedMesh<'m>; 2]) -> CellClassification<'m> {
        let closed = bodies.map(|b| b.is_closed());
        let facts = RelationFacts { closed, flat: bodies.map(|b| !b.has_area()), ..RelationFacts::default() };
        CellClassification {
            bodies,
            facts,
            budget: Budget::UNLIMITED,
            cut_off: false,
            tests: 0,
            crossed: None,
        }
    }

    /// Counts what was tested; false when the budget does not allow more.
    pub fn pay(&mut self, tests: u64) -> bool {
        self.tests += tests;
        self.cut_off = self.cut_off || !self.budget.charge_all(tests);
        !self.cut_off
    }

    /// Whether nothing more is to be looked at.
    fn flow(&self) -> ControlFlow<()> {
        if self.cut_off || self.facts.is_settled() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Looks at everything that can matter, given all pairs of triangles that meet.
    pub fn complete(&mut self, contacts: &[[u32; 2]]) {
        self.facts.contact |= !contacts.is_empty();
        if !self.pay(contacts.len() as u64) {
            return;
        }
        let partners = [0, 1].map(|x| Partners::of(contacts, x));
        for (x, partners) in partners.iter().enumerate() {
            let topology = self.bodies[x].model.topology();
            let mut seen = HashSet::new();
            for (t, others) in partners.groups() {
                let copy = !seen.insert(corner_set(topology, t));
                if !copy && !self.has_crossed(x, t, others) && self.triangle(x, t, others, false).is_break() {
                    return;
                }
            }
        }
        let inside = [0, 1].map(|x| self.free_components(x, &partners[x]));
        for x in 0..2 {
            if self.deepen(x, &inside[x], &partners[x]).is_break() {
                return;
            }
        }
    }

    /// Notes what the cells of one pair of crossing triangles show.
    pub fn crossing(&mut self, pair: [u32; 2]) {
        self.facts.contact = true;
        if self.crossed != Some(pair) {
            self.crossed = Some(pair);
            let _ = self.triangle(0, pair[0], &[pair[1]], false);
        }
    }

    /// Whether the cells of a triangle with these partners were those of the last crossing.
    fn has_crossed(&self, x: usize, t: u32, others: &[u32]) -> bool {
        let topology = self.bodies[1].model.topology();
        self.crossed.is_some_and(|[s, u]| {
            let copies = || others.iter().all(|&v| corner_set(topology, v) == corner_set(topology, u));
            x == 0 && s == t && copies()
        })
    }

    /// The cells of triangle t of body x, parted by triangles of the other body and, where they share a
    /// face or `own` is set, by its own body's.
    fn triangle(&mut self, x: usize, t: u32, others: &[u32], own: bool) -> ControlFlow<()> {
        let corners = self.bodies[x].corners(t);
        let mut cutters: Vec<[DVec3; 3]> = others.iter().map(|&u| self.bodies[1 - x].corners(u)).collect();
        if upright_axis(&corners).is_none() {
            return self.needle(x, &corners, &cutters);
        }
        if !self.pay(cutters.len() as u64) {
            return ControlFlow::Break(());
        }
        let shared = cutters.iter().any(|c| classify(&corners, c) == TriangleRelation::Coplanar);
        // Shared cells are looked at from body a only.
        if own || shared && x == 0 {
            self.bodies[x].for_each_meeting(t, &corners, |other| cutters.push(other));
        }
        for_each_cell(&corners, &cutters, |place| self.cell(x, &corners, place))
    }

    /// A place just above a cell of a triangle of body x.
    fn cell(&mut self, x: usize, triangle: &[DVec3; 3], place: &PerturbedPoint) -> ControlFlow<()> {
        let y = 1 - x;
        if self.lies_on(y, triangle, place) {
            // Body a has shown the shared cells already.
            if x == 0 {
                self.note_sides(place);
            }
        } else {
            self.facts.off[x] = true;
            if self.note_within(x, place) && self.facts.closed[x] {
                self.note_sides(place);
            }
        }
        self.flow()
    }

    /// Notes whether a place on the surface of x, off that of y, is inside y; true if so.
    fn note_within(&mut self, x: usize, place: &PerturbedPoint) -> bool {
        let y = 1 - x;
        let mut within = false;
        if self.facts.closed[y] {
            let (winding, tests) = counted_winding_at(&self.bodies[y], place);
            self.pay(tests);
            within = winding != 0;
        }
        if within {
            self.facts.within[x] = true;
        } else {
            self.facts.out[x] = true;
        }
        within
    }

    /// Notes the windings of both bodies on both sides of the face at a place.
    fn note_sides(&mut self, place: &PerturbedPoint) {
        let sides = [0, 1].map(|x| {
            if !self.facts.closed[x] {
                return [0; 2];
            }
            let (windings, tests) = counted_windings_across(&self.bodies[x], place);
            self.pay(tests);
            windings
        });
        let [[a, a_across], [b, b_across]] = sides;
        self.facts.note_cell([a, b]);
        self.facts.note_cell([a_across, b_across]);
    }

    /// Whether the place on the given triangle also lies on a face of body y in the same plane.
    fn lies_on(&mut self, y: usize, triangle: &[DVec3; 3], place: &PerturbedPoint) -> bool {
        let Some(axis) = upright_axis(triangle) else { return false };
        let plane = Plane::through(triangle[0], triangle[1], triangle[2]);
        let [low, high] = place.base.bounds();
        let (mut found, mut tests) = (false, 0);
        let body = self.bodies[y];
        body.in_region(low, high, |u| {
            tests += 1;
            let other = body.corners(u);
            // Covered first: it turns away most neighbours cheaply, coplanarity is mostly a tie.
            found =
                place.covered_by(&other, axis).is_some() && other.iter().all(|&p| plane.side(p).is_zero());
            if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.pay(tests);
        found
    }

    /// Notes on which side of y the components of x without contact are; returns a triangle of each that
    /// is inside y.
    fn free_components(&mut self, x: usize, partners: &Partners) -> Vec<u32> {
        let topology = self.bodies[x].model.topology();
        let touched: HashSet<u32> =
            partners.groups().map(|(t, _)| topology.component_of()[t as usize]).collect();
        let free = (0..).zip(topology.components()).filter(|(id, _)| !touched.contains(id));
        let bounds = self.bodies[1 - x].bounds();
        free.map(|(_, component)| component.first_triangle)
            .filter(|&t| !self.cut_off && !self.note_beyond(x, t, bounds) && self.note_part(x, t))
            .collect()
    }

    /// Notes that a part of x, free of contact, lies outside of y, if one of its triangles has a corner beyond y's box;
    /// true if so. Of many parts nearly all do.
    fn note_beyond(&mut self, x: usize, triangle: u32, [low, high]: [DVec3; 2]) -> bool {
        let p = self.bodies[x].corners(triangle)[0];
        let beyond = (p.cmplt(low) | p.cmpgt(high)).any();
        if beyond {
            (self.facts.off[x], self.facts.out[x]) = (true, true);
            self.pay(u64::from(self.facts.closed[1 - x]));
        }
        beyond
    }

    /// A triangle of each part of x inside y that is free of contact but touches a triangle in contact;
    /// perhaps several of the same part.
    fn parts_inside(&mut self, x: usize, partners: &Partners) -> Vec<u32> {
        let topology = self.bodies[x].model.topology();
        let mut corners: Vec<u32> =
            partners.groups().flat_map(|(t, _)| topology.triangles()[t as usize]).collect();
        corners.sort_unstable();
        corners.dedup();
        // What is free at the same corner hangs together there.
        let free = |&t: &u32| partners.of_triangle(t).is_empty();
        let mut seeds: Vec<u32> =
            corners.iter().filter_map(|&v| topology.around(v).iter().copied().find(free)).collect();
        seeds.sort_unstable();
        seeds.dedup();
        if seeds.len() > SEEDS_ALONE {
            seeds = one_for_each_part(topology, &seeds, partners, || self.pay(1));
        }
        seeds.retain(|&seed| !self.cut_off && self.note_part(x, seed));
        seeds
    }

    /// Notes where a part of x, free of contact, lies by one of its triangles; true for inside y.
    fn note_part(&mut self, x: usize, triangle: u32) -> bool {
        self.facts.off[x] = true;
        let within = self.note_within(x, &PerturbedPoint::beside(self.bodies[x].corners(triangle)[0]));
        if within && self.facts.closed[x] {
            self.note_face(x, triangle);
        }
        within
    }

    /// Notes the windings on both sides of a triangle of x, at one of its corners.
    fn note_face(&mut self, x: usize, t: u32) {
        let [a, b, c] = self.bodies[x].corners(t);
        if let Some(axis) = upright_axis(&[a, b, c]) {
            let directions = [Direction::towards(a, b), Direction::towards(a, c), Direction::along(axis)];
            self.note_sides(&PerturbedPoint { base: BasePoint::Corner(a), directions });
        }
    }

    /// Looks at all cells of x inside y, parted by x itself: needed where x has faces inside y, and
    /// nothing so far shows whether x is solid beside them or hollow.
    fn deepen(&mut self, x: usize, inside: &[u32], partners: &Partners) -> ControlFlow<()> {
        let open = |facts: &RelationFacts| !facts.common || !facts.not_inside(1 - x);
        if self.cut_off || !(self.facts.within[x] && self.facts.closed[x] && open(&self.facts)) {
            return ControlFlow::Continue(());
        }
        let topology = self.bodies[x].model.topology();
        let mut seen = HashSet::new();
        for (t, others) in partners.groups() {
            if seen.insert(corner_set(topology, t)) {
                self.triangle(x, t, others, true)?;
            }
        }
        let beside = self.parts_inside(x, partners);
        if self.cut_off || !open(&self.facts) {
            return ControlFlow::Continue(());
        }
        let mut flood = Flood::new(topology, partners);
        for &seed in inside.iter().chain(&beside) {
            flood.part(seed, |t| self.triangle(x, t, &[], true))?;
        }
        ControlFlow::Continue(())
    }

    /// A triangle of x without area, in contact: the pieces of its segment between crossings with y.
    fn needle(&mut self, x: usize, corners: &[DVec3; 3], cutters: &[[DVec3; 3]]) -> ControlFlow<()> {
        let needle = Needle::of(corners);
        if needle.from == needle.to {
            return ControlFlow::Continue(());
        }
        let along = Direction::towards(needle.from, needle.to);
        for base in needle.crossings(cutters) {
            for d1 in [along.clone(), along.reversed()] {
                let [j, k] = [(needle.axis + 1) % 3, (needle.axis + 2) % 3];
                let directions = [d1, Direction::along(j), Direction::along(k)];
                let place = PerturbedPoint { base: base.clone(), directions };
                if !needle.holds(&place) || cutters.iter().any(|c| needle.runs_on(&place, c)) {
                    continue;
                }
                self.facts.off[x] = true;
                self.note_within(x, &place);
                self.flow()?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// The welded corners of a triangle, sorted: equal for copies, whatever their orientation.
pub(super) fn corner_set(topology: &Topology, t: u32) -> [u32; 3] {
    let mut corners = topology.triangles()[t as usize];
    corners.sort_unstable();
    corners
}

/// The triangles that share a corner with a triangle, itself included.
fn neighbours(topology: &Topology, t: u32) -> impl Iterator<Item = u32> + '_ {
    topology.triangles()[t as usize].into_iter().flat_map(|corner| topology.around(corner).iter().copied())
}

/// One of the seeds for each part that they lie on.
fn one_for_each_part(
    topology: &Topology,
    seeds: &[u32],
    partners: &Partners,
    mut pay: impl FnMut() -> bool,
) -> Vec<u32> {
    let mut flood = Flood::new(topology, partners);
    let mut kept = Vec::new();
    for &seed in seeds {
        let mut size = 0;
        let _ = flood.part(seed, |_| {
            size += 1;
            if pay() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if size > 0 {
            kept.push(seed);
        }
    }
    kept
}

/// Spreads over the triangles free of contact, each once.
struct Flood<'t> {
    topology: &'t Topology,
    seen: Marks,
    stack: Vec<u32>,
}

impl<'t> Flood<'t> {
    fn new(topology: &'t Topology, partners: &Partners) -> Flood<'t> {
        let mut seen = Marks(vec![0; topology.triangles().len().div_ceil(64)]);
        partners.groups().for_each(|(t, _)| _ = seen.set(t));
        Flood { topology, seen, stack: Vec::new() }
    }

    /// Visits what is new of the part on which a triangle lies.
    fn part(&mut self, seed: u32, mut visit: impl FnMut(u32) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.seen.set(seed) {
            self.stack.push(seed);
        }
        while let Some(t) = self.stack.pop() {
            visit(t)?;
            for next in neighbours(self.topology, t) {
                if self.seen.set(next) {
                    self.stack.push(next);
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// A bit for each triangle: small enough to clear for every question.
struct Marks(Vec<u64>);

impl Marks {
    /// Sets a mark; whether it is new.
    fn set(&mut self, t: u32) -> bool {
        let (word, bit) = (&mut self.0[t as usize / 64], 1 << (t % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}

/// The triangles of one body that are in contact, each with those of the other that it meets.
struct Partners {
    /// Triangle and partner, ascending.
    pairs: Vec<[u32; 2]>,
    partners: Vec<u32>,
}

impl Partners {
    fn of(contacts: &[[u32; 2]], x: usize) -> Partners {
        let mut pairs: Vec<[u32; 2]> = contacts.iter().map(|pair| [pair[x], pair[1 - x]]).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let partners = pairs.iter().map(|pair| pair[1]).collect();
        Partners { pairs, partners }
    }

    /// Every triangle in contact with its partners.
    fn groups(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.pairs.chunk_by(|p, q| p[0] == q[0]).map(|group| (group[0][0], self.of_triangle(group[0][0])))
    }

    /// The partners of one triangle.
    fn of_triangle(&self, t: u32) -> &[u32] {
        let start = self.pairs.partition_point(|pair| pair[0] < t);
        let end = self.pairs.partition_point(|pair| pair[0] <= t);
        &self.partners[start..end]
    }
}

/// A triangle without area, as a segment.
struct Needle {
    from: DVec3,
    to: DVec3,
    /// The axis along which it is longest.
    axis: usize,
}

impl Needle {
    fn of([a, b, c]: &[DVec3; 3]) -> Needle {
        let axis = (a.max(*b).max(*c) - a.min(*b).min(*c)).max_position();
        let mut ends = [*a, *b, *c];
        sort_few(&mut ends, |p, q| p[axis].total_cmp(&q[axis]));
        Needle { from: ends[0], to: ends[2], axis }
    }

    /// The ends, and where triangles or their edges pass.
    fn crossings(&self, cutters: &[[DVec3; 3]]) -> Vec<BasePoint> {
        let (p, q) = (self.from, self.to);
        let mut bases = vec![BasePoint::Corner(p), BasePoint::Corner(q)];
        for cutter in cutters {
            let plane = Plane::through(cutter[0], cutter[1], cutter[2]);
            match (plane.side(p), plane.side(q), upright_axis(cutter)) {
                (Sign::Zero, Sign::Zero, Some(axis)) => {
                    for i in 0..3 {
                        bases.extend(line_crossing(p, q, cutter[i], cutter[(i + 1) % 3], axis));
                        bases.push(BasePoint::Corner(cutter[i]));
                    }
                }
                (Sign::Zero, Sign::Zero, None) => bases.extend(cutter.map(BasePoint::Corner)),
                (s, t, _) if s.times(t) == Sign::Negative => bases.extend(pierce(p, q, cutter)),
                _ => {}
            }
        }
        bases.retain(|base| meets_line(base, p, q));
        bases
    }

    /// Whether the place lies within the segment.
    fn holds(&self, place: &PerturbedPoint) -> bool {
        place.side_of_level(self.axis, self.from[self.axis]) == Sign::Positive
            && place.side_of_level(self.axis, self.to[self.axis]) == Sign::Negative
    }

    /// Whether the segment lies on the closed triangle beside the place.
    fn runs_on(&self, place: &PerturbedPoint, triangle: &[DVec3; 3]) -> bool {
        let Some(axis) = upright_axis(triangle) else {
            // Two segments on one line.
            let other = Needle::of(triangle);
            return meets_line(&BasePoint::Corner(other.from), self.from, self.to)
                && meets_line(&BasePoint::Corner(other.to), self.from, self.to)
                && other.holds(place);
        };
        let [a, b, c] = *triangle;
        let turn = BasePoint::Corner(c).side_of_line(a, b, axis);
        place.line_side_of_plane(triangle).is_zero()
            && [(a, b), (b, c), (c, a)]
                .iter()
                .all(|&(p, q)| place.line_side_of_line(p, q, axis).times(turn) != Sign::Negative)
    }
}

/// Whether the point lies on the line through p and q: in all three projections.
fn meets_line(base: &BasePoint, p: DVec3, q: DVec3) -> bool {
    (0..3).all(|axis| base.side_of_line(p, q, axis).is_zero())
}
