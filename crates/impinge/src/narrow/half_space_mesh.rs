//! A half-space against a mesh, by the corners of its triangles.
//!
//! A plane is as far from a triangle as from its nearest corner, unless the corners lie on both sides of it. The sides
//! are decided exactly, so that the surfaces meet just where a triangle has a corner in the plane or crosses it: a
//! mesh with one component on either side does not. The mesh's tree leads to the corners that matter: how high the
//! corners in a box may be over the plane is bounded outward. The answers are those of looking at every corner.

use std::cmp::Ordering;

use glam::DVec3;
use smallvec::SmallVec;

use super::convex::relation::HalfSpace;
use super::exact::placed_mesh::{ExtentAlong, PlacedMesh};
use crate::contact::Verdict;
use crate::hierarchy::wide::{Node, WIDTH};
use crate::model::{Fact, Model};
use crate::num::tolerance::PLACED_BOX_ROUNDING;
use crate::{Budget, Certainty, Counters, Feature, Finish, Outcome, Pose, Relation, Separation};

/// How high the corners in a box are over the plane, at least and at most.
#[derive(Debug, Clone, Copy)]
struct Heights {
    low: f64,
    high: f64,
}

impl Heights {
    /// No corner is nearer to the plane.
    fn away(&self) -> f64 {
        self.low.max(-self.high).max(0.0)
    }
}

/// What is looked for among the corners.
trait Search {
    /// Whether corners at these heights can change what is found.
    fn wants(&mut self, heights: Heights) -> bool;

    /// Takes a triangle with the numbers and the places of its corners.
    fn take(&mut self, triangle: u32, names: [u32; 3], corners: [DVec3; 3]);
}

/// A mesh seen from a plane.
struct OverPlane<'m> {
    body: PlacedMesh<'m>,
    along: ExtentAlong,
    /// Of the plane, along its normal.
    level: f64,
    /// What rounding can do to a height.
    pad: f64,
}

impl<'m> OverPlane<'m> {
    fn new(plane: &HalfSpace, mesh: &'m Model, pose: &'m Pose) -> OverPlane<'m> {
        let body = PlacedMesh::new(mesh, pose);
        let [low, high] = body.bounds();
        let pad = (low.abs().max(high.abs()).length() + plane.extent()) * PLACED_BOX_ROUNDING;
        OverPlane { body, along: body.extent_along(plane.unit_normal()), level: plane.level(), pad }
    }

    fn heights(&self, node: &Node, lane: usize) -> Heights {
        let [low, high] = self.along.of(node, lane);
        Heights { low: low - self.level - self.pad, high: high - self.level + self.pad }
    }

    /// Shows a search all triangles in boxes that it wants, the nearer ones first as a rule; false where it was not paid.
    fn descend(
        &self,
        search: &mut impl Search,
        work: &mut Counters,
        mut pay: impl FnMut(u64) -> bool,
    ) -> bool {
        let (tree, mesh) = (self.body.model.tree(), self.body.model.mesh());
        let anywhere = Heights { low: f64::NEG_INFINITY, high: f64::INFINITY };
        let mut open: SmallVec<[(Heights, u32); 64]> = SmallVec::new();
        open.push((anywhere, 0));
        while let Some((heights, index)) = open.pop() {
            if !search.wants(heights) {
                continue;
            }
            if !pay(WIDTH as u64) {
                return false;
            }
            work.volume_tests += WIDTH as u64;
            let (node, begin) = (&tree.nodes()[index as usize], open.len());
            for lane in node.used() {
                let heights = self.heights(node, lane);
                if !search.wants(heights) {
                    continue;
                }
                if let Some(below) = node.child[lane].as_node() {
                    open.push((heights, below as u32));
                    continue;
                }
                let slots = node.child[lane].slots();
                let count = 3 * slots.len() as u64;
                if !pay(count) {
                    return false;
                }
                work.primitive_tests += count;
                for slot in slots {
                    let triangle = tree.order()[slot];
                    let names = mesh.triangles()[triangle as usize];
                    search.take(triangle, names, self.body.corners(triangle));
                }
            }
            open[begin..].sort_unstable_by(|x, y| y.0.away().total_cmp(&x.0.away()));
        }
        true
    }
}

/// The nearest corner, or the first triangle of the mesh that meets the plane.
struct Nearest<'p> {
    plane: &'p HalfSpace,
    meeting: Option<(u32, DVec3, Feature)>,
    /// Its height, which corner of all triangles it is, its number, and its place.
    corner: (f64, u64, u32, DVec3),
}

impl Search for Nearest<'_> {
    fn wants(&mut self, heights: Heights) -> bool {
        match self.meeting {
            Some(_) => heights.away() == 0.0,
            // Negated, so that what cannot be told is looked at.
            None => !(heights.away() > self.corner.0.abs()),
        }
    }

    fn take(&mut self, triangle: u32, names: [u32; 3], corners: [DVec3; 3]) {
        if self.meeting.is_some_and(|(first, ..)| first < triangle) {
            return;
        }
        if let Some((point, feature)) = common_point(self.plane, names, corners) {
            self.meeting = Some((triangle, point, feature));
        }
        if self.meeting.is_some() {
            return;
        }
        for (k, (name, p)) in names.into_iter().zip(corners).enumerate() {
            let (height, number) = (self.plane.height(p), 3 * u64::from(triangle) + k as u64);
            // Of equally near ones the first of the mesh.
            if (height.abs(), number) < (self.corner.0.abs(), self.corner.1) {
                self.corner = (height, number, name, p);
            }
        }
    }
}

/// The gap between the plane, as a, and the surface of a mesh on either side of it.
pub(super) fn distance(
    plane: &HalfSpace,
    mesh: &Model,
    pose: &Pose,
    budget: &mut Budget,
) -> Verdict<Separation> {
    let mut work = Counters::default();
    let nothing = (f64::INFINITY, u64::MAX, 0, pose.apply(mesh.mesh().vertices()[0]));
    let mut search = Nearest { plane, meeting: None, corner: nothing };
    let complete = mesh.prepare(Fact::Tree, budget)
        && OverPlane::new(plane, mesh, pose)
            .descend(&mut search, &mut work, |units| budget.draw_or_rest(units));
    let (height, _, name, corner) = search.corner;
    let found = match search.meeting {
        _ if !complete => None,
        Some((_, point, feature)) => {
            let features = [Feature::Face(0), feature];
            Some(Separation { distance: 0.0, points: [point; 2], features, normal: DVec3::ZERO })
        }
        None => Some(beside(plane, height, corner, name)),
    };
    let finish = if complete { Finish::Complete } else { Finish::OutOfBudget };
    Verdict::new(found, Outcome { certainty: Certainty::Exact, finish, work })
}

/// A point of a placed triangle in the plane, and the corner or edge that it lies on.
fn common_point(plane: &HalfSpace, names: [u32; 3], corners: [DVec3; 3]) -> Option<(DVec3, Feature)> {
    let sides = corners.map(|p| plane.side(p));
    if let Some(k) = sides.iter().position(|&side| side == Ordering::Equal) {
        return Some((corners[k], Feature::Vertex(names[k])));
    }
    let k = (0..3).find(|&k| sides[k] != sides[(k + 1) % 3])?;
    let [(p, i), (q, j)] = [k, (k + 1) % 3].map(|k| (corners[k], names[k]));
    let [below, above] = [p, q].map(|end| plane.height(end).abs());
    // From the nearer end, where the rounding is smaller.
    let share = |own: f64, other: f64| if own > 0.0 { own / (own + other) } else { 0.0 };
    let point =
        if below <= above { p + (q - p) * share(below, above) } else { q + (p - q) * share(above, below) };
    Some((point, Feature::Edge([i.min(j), i.max(j)])))
}

/// The answer where the surface is nearest with a corner, which is not in the plane.
fn beside(plane: &HalfSpace, height: f64, point: DVec3, vertex: u32) -> Separation {
    let normal = plane.unit_normal();
    let toward = if plane.side(point) == Ordering::Less { -normal } else { normal };
    Separation {
        // Rounding may have cost it all.
        distance: height.abs().max(f64::MIN_POSITIVE),
        points: [point - normal * height, point],
        features: [Feature::Face(0), Feature::Vertex(vertex)],
        normal: toward,
    }
}

/// On which sides of the plane the lowest and the highest corner lie.
struct Sides<'p> {
    plane: &'p HalfSpace,
    lowest: Ordering,
    highest: Ordering,
}

impl Sides<'_> {
    fn add(&mut self, side: Ordering) {
        (self.lowest, self.highest) = (self.lowest.min(side), self.highest.max(side));
    }
}

impl Search for Sides<'_> {
    fn wants(&mut self, heights: Heights) -> bool {
        if heights.low > 0.0 {
            self.add(Ordering::Greater);
        } else if heights.high < 0.0 {
            self.add(Ordering::Less);
        } else {
            return (self.lowest, self.highest) != (Ordering::Less, Ordering::Greater);
        }
        false
    }

    fn take(&mut self, _: u32, _: [u32; 3], corners: [DVec3; 3]) {
        corners.into_iter().for_each(|p| self.add(self.plane.side(p)));
    }
}

/// The relation of the half-space, as a, to the mesh; `None` when the budget ended first.
pub(super) fn relation(
    plane: &HalfSpace,
    mesh: &Model,
    pose: &Pose,
    budget: &mut Budget,
) -> (Option<Relation>, Outcome) {
    let mut work = Counters::default();
    let mut search = Sides { plane, lowest: Ordering::Greater, highest: Ordering::Less };
    let complete = mesh.prepare(Fact::Tree, budget)
        && OverPlane::new(plane, mesh, pose)
            .descend(&mut search, &mut work, |units| budget.draw_or_rest(units));
    let found = match (search.lowest, search.highest) {
        _ if !complete => None,
        (Ordering::Greater, _) => Some(Relation::Separated),
        (_, Ordering::Less | Ordering::Equal) => Some(Relation::BInsideA),
        (Ordering::Less, _) => Some(Relation::Intersecting),
        (Ordering::Equal, _) => mesh
            .prepare(Fact::Topology, budget)
            .then(|| if mesh.topology().is_closed() { Relation::Touching } else { Relation::Intersecting }),
    };
    let finish = if found.is_some() { Finish::Complete } else { Finish::OutOfBudget };
    (found, Outcome { certainty: Certainty::Exact, finish, work })
}

/// The vertices of triangles that are at most so high over the plane.
struct Under<'p> {
    plane: &'p HalfSpace,
    margin: f64,
    vertices: Vec<u32>,
}

impl Search for Under<'_> {
    fn wants(&mut self, heights: Heights) -> bool {
        !(heights.low > self.margin)
    }

    fn take(&mut self, _: u32, names: [u32; 3], corners: [DVec3; 3]) {
        let near = names.into_iter().zip(corners).filter(|(_, p)| self.plane.height(*p) <= self.margin);
        self.vertices.extend(near.map(|(name, _)| name));
    }
}

/// The vertices of triangles that are at most `margin` over the plane, ascending; `None` when the budget ended first.
pub(super) fn vertices_under(
    plane: &HalfSpace,
    margin: f64,
    mesh: &Model,
    pose: &Pose,
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<Vec<u32>> {
    let mut search = Under { plane, margin, vertices: Vec::new() };
    let complete = mesh.prepare(Fact::Tree, budget)
        && OverPlane::new(plane, mesh, pose).descend(&mut search, work, |units| budget.charge(units));
    search.vertices.sort_unstable();
    search.vertices.dedup();
    complete.then_some(search.vertices)
}

#[cfg(test)]
#[path = "half_space_mesh_tests.rs"]
mod tests;
