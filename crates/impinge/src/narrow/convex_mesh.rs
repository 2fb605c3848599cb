//! A convex shape against the surface of a mesh.
//!
//! The distance of the two surfaces is the smallest over the triangles, and for one triangle it is: its
//! distance from the solid when it lies outside, nothing when it passes through the solid's surface, and the
//! depth of its shallowest corner when it is inside, because depth in a convex solid is a concave function.
//! The mesh's tree is searched nearest box first; a box is as far from the solid's surface as from the solid's own box,
//! and as its centre, less its half diagonal. Hulls are measured as meshes.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use glam::{DMat3, DVec3};
use smallvec::SmallVec;

use super::convex::exact;
use super::convex::placed_core::{reach, safe_scale};
use super::convex::point::{self, SurfaceProjection};
use super::convex::relation::{PlacedConvex, curved_noise};
use super::convex::separation::{ConvexMemory, distance as convex_distance};
use super::exact::closest_point::Search as PointSearch;
use super::exact::placed_mesh::PlacedMesh;
use crate::bound::Aabb;
use crate::contact::Verdict;
use crate::geom::point_triangle::{TriangleFeature, closest_point, norm};
use crate::hierarchy::wide::WIDTH;
use crate::model::{Geometry, Model};
use crate::num::dyadic::Dyadic;
use crate::num::tolerance::{FAR_FROM_ORIGIN, ROUND_UP};
use crate::shape::{Convex, Primitive};
use crate::{Budget, Certainty, Counters, Feature, Finish, Mesh, Outcome, Pose, Relation, Separation};

/// The smallest distance of a primitive's surface, as a, from that of a mesh, and how the search ended.
///
/// When the budget ended first the certainty is the width of what is known; nothing is known when even the
/// first triangle was too dear.
pub fn distance(
    primitive: &Primitive,
    pose: &Pose,
    mesh: &Model,
    mesh_pose: &Pose,
    budget: &mut Budget,
) -> Verdict<Separation> {
    let scale = safe_scale(largest(primitive, pose, extent(&PlacedMesh::new(mesh, mesh_pose))));
    let enlarged = if scale > 1.0 { enlarged(mesh, mesh_pose, scale) } else { None };
    let Some(mesh) = enlarged else {
        return search(Search::new(primitive, pose, mesh, mesh_pose), budget, |found| found);
    };
    let (primitive, pose) = (primitive.scaled(scale), pose.moved_to(pose.translation() * scale));
    search(Search::new(&primitive, &pose, &mesh, &Pose::IDENTITY), budget, |found| shrunk(found, scale))
}

/// [`distance`] if it is at most `limit`, which keeps the search short; without a limit in work.
pub(crate) fn distance_within(
    primitive: &Primitive,
    pose: &Pose,
    mesh: &Model,
    mesh_pose: &Pose,
    limit: f64,
) -> Option<Separation> {
    let body = PlacedMesh::new(mesh, mesh_pose);
    let extent = extent(&body);
    if safe_scale(largest(primitive, pose, extent)) > 1.0 {
        return distance(primitive, pose, mesh, mesh_pose, &mut Budget::UNLIMITED.clone())
            .value
            .filter(|found| found.distance <= limit);
    }
    let mut search = Search { most: limit, ..Search::of(primitive, pose, body, extent) };
    if let Primitive::Sphere { radius } = primitive
        && limit >= 0.0
    {
        // The triangles nearest to the centre, if the sphere is clear of them; else what is inside counts too.
        let (centre, reach) = (pose.translation(), limit + radius + search.rounding);
        let mut near: SmallVec<[(f64, u32, [DVec3; 3]); 16]> = SmallVec::new();
        PointSearch::new(mesh, mesh_pose).each_candidate(centre, reach * ROUND_UP, |t| {
            let corners = search.body.corners(t);
            near.push((norm(closest_point(centre, &corners).point - centre), t, corners));
        });
        let nearest = near.iter().copied().reduce(|least, one| if one.0 < least.0 { one } else { least });
        if nearest.is_none_or(|(away, ..)| away > radius + search.rounding) {
            // The nearest one first, after which few others are left.
            let others = near.into_iter().filter(|one| Some(*one) != nearest);
            for (away, t, corners) in nearest.into_iter().chain(others) {
                if away - radius - search.rounding <= search.limit() {
                    search.look_outside(t, corners);
                }
            }
            return search.best.filter(|found| found.distance <= limit);
        }
    }
    search.begin();
    search.run(&mut Budget::UNLIMITED.clone());
    search.best.filter(|found| found.distance <= limit)
}

/// Searches until the end or as far as the budget goes; what is told goes through `named`.
fn search(
    mut search: Search<'_>,
    budget: &mut Budget,
    named: impl Fn(Verdict<Separation>) -> Verdict<Separation>,
) -> Verdict<Separation> {
    loop {
        let finish = search.run(budget);
        let told = || named(search.verdict(finish));
        if finish != Finish::OutOfBudget || !budget.rest(told) {
            return told();
        }
    }
}

/// The largest coordinate of a placed primitive and a placed mesh of some extent, up to a small factor.
fn largest(primitive: &Primitive, pose: &Pose, extent: f64) -> f64 {
    reach(primitive).max(pose.translation().abs().max_element()).max(extent)
}

/// The placed mesh enlarged by a power of two, for bodies so small that squares of their lengths underflow. They are
/// rare, so its tree is built for one question.
fn enlarged(mesh: &Model, pose: &Pose, scale: f64) -> Option<Model> {
    let vertices = mesh.mesh().vertices().iter().map(|v| pose.apply(*v) * scale).collect();
    Mesh::from_points(vertices, mesh.mesh().triangles().to_vec()).ok().map(Model::from)
}

/// What was found about bodies that were enlarged.
fn shrunk(found: Verdict<Separation>, scale: f64) -> Verdict<Separation> {
    let certainty = found.outcome.certainty.in_units(scale);
    let length = |x: f64| if x > 0.0 { (x / scale).max(f64::from_bits(1)) } else { x / scale };
    let found =
        found.map(|s| Separation { distance: length(s.distance), points: s.points.map(|p| p / scale), ..s });
    Verdict { outcome: Outcome { certainty, ..found.outcome }, ..found }
}

/// A node of the tree that is still to be looked into; the nearest is on top.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    bound: f64,
    node: u32,
}

impl Eq for Entry {}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        other.bound.total_cmp(&self.bound).then(self.node.cmp(&other.node))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

struct Search<'m> {
    solid: Solid<'m>,
    body: PlacedMesh<'m>,
    /// What it can do to a distance.
    rounding: f64,
    open: BinaryHeap<Entry>,
    /// What is farther is not looked for.
    most: f64,
    best: Option<Separation>,
    /// The triangle of the best answer, so that equal ones are decided by their index.
    triangle: u32,
    certainty: Certainty,
    memory: ConvexMemory,
    work: Counters,
}

/// A placed primitive.
struct Solid<'m> {
    primitive: &'m Primitive,
    shape: Convex,
    pose: &'m Pose,
    /// What the pose turns by.
    turn: DMat3,
    bounds: Aabb,
}

impl<'m> Solid<'m> {
    fn new(primitive: &'m Primitive, pose: &'m Pose) -> Solid<'m> {
        let bounds = Geometry::from(*primitive).bounds(pose);
        Solid { primitive, shape: (*primitive).into(), pose, turn: pose.rotation(), bounds }
    }

    /// Nothing in a box is nearer to the solid; 0 where its own box meets that one.
    fn gap(&self, low: DVec3, high: DVec3) -> f64 {
        match self.primitive {
            Primitive::Sphere { radius } => {
                let centre = self.pose.translation();
                ((low - centre).max(centre - high).max(DVec3::ZERO).length() - radius) / ROUND_UP
            }
            _ => (low - self.bounds.high).max(self.bounds.low - high).max(DVec3::ZERO).length() / ROUND_UP,
        }
    }

    /// Where a point of the world is seen from the surface.
    fn foot(&self, p: DVec3) -> SurfaceProjection {
        let (turn, origin) = (self.turn, self.pose.translation());
        let foot = point::signed_distance(self.primitive, turn.transpose() * (p - origin));
        SurfaceProjection { point: turn * foot.point + origin, normal: turn * foot.normal, ..foot }
    }

    /// What rounding can do to the distance of something in coordinates of this extent.
    fn rounding(&self, extent: f64) -> f64 {
        let place = self.pose.translation().length();
        curved_noise(&PlacedConvex::new(&self.shape, self.pose), place + extent, place + extent)
    }

    /// The signed distance of the middle of a triangle, and a radius around it that holds the triangle.
    fn around(&self, corners: &[DVec3; 3]) -> (f64, f64) {
        let [a, b, c] = *corners;
        let middle = a / 3.0 + b / 3.0 + c / 3.0;
        let radius = corners.iter().fold(0.0_f64, |most, p| norm(*p - middle).max(most)) * ROUND_UP;
        (self.foot(middle).distance, radius)
    }
}

impl<'m> Search<'m> {
    fn new(primitive: &'m Primitive, pose: &'m Pose, mesh: &'m Model, mesh_pose: &'m Pose) -> Search<'m> {
        let body = PlacedMesh::new(mesh, mesh_pose);
        let mut search = Search::of(primitive, pose, body, extent(&body));
        search.begin();
        search
    }

    /// A search that has not begun, on a mesh of some extent.
    fn of(primitive: &'m Primitive, pose: &'m Pose, body: PlacedMesh<'m>, extent: f64) -> Search<'m> {
        let solid = Solid::new(primitive, pose);
        Search {
            rounding: solid.rounding(extent),
            solid,
            body,
            open: BinaryHeap::new(),
            most: f64::INFINITY,
            best: None,
            triangle: u32::MAX,
            certainty: Certainty::Exact,
            memory: ConvexMemory::default(),
            work: Counters::default(),
        }
    }

    /// Begins at the root of the tree.
    fn begin(&mut self) {
        self.open.push(Entry { bound: 0.0, node: 0 });
    }

    fn verdict(&self, finish: Finish) -> Verdict<Separation> {
        let certainty = match (finish, &self.best) {
            (Finish::Complete, _) => self.certainty,
            (_, Some(best)) => {
                let open = self.open.peek().map_or(best.distance, |entry| entry.bound.min(best.distance));
                Certainty::Conservative { tolerance: best.distance - open.max(0.0) }
            }
            (_, None) => Certainty::Conservative { tolerance: f64::INFINITY },
        };
        let outcome = Outcome { certainty, finish, work: self.work };
        match self.best {
            Some(best) => Verdict::by_finish(best, outcome),
            None => Verdict::new(None, outcome),
        }
    }

    fn limit(&self) -> f64 {
        self.best.map_or(self.most, |best| best.distance)
    }

    fn run(&mut self, budget: &mut Budget) -> Finish {
        while let Some(&entry) = self.open.peek() {
            // Equal bounds are looked into, so that the smallest index wins whatever the order.
            if entry.bound > self.limit() || self.limit() == 0.0 {
                break;
            }
            if !budget.draw(WIDTH as u64) {
                return Finish::OutOfBudget;
            }
            self.open.pop();
            let before = self.work.primitive_tests;
            self.expand(entry.node);
            budget.draw(self.work.primitive_tests - before);
        }
        if let Some(best) = self.best.filter(|best| best.distance == 0.0) {
            self.best = Some(self.meeting(best));
        }
        Finish::Complete
    }

    fn expand(&mut self, node: u32) {
        let tree = self.body.model.tree();
        let node = &tree.nodes()[node as usize];
        for lane in node.used() {
            let [low, high] = self.body.lane_box(node, lane);
            self.work.volume_tests += 1;
            let apart = self.solid.gap(low, high);
            if apart > self.limit() {
                continue;
            }
            let centre = low.midpoint(high);
            let bound = apart.max(self.solid.foot(centre).distance.abs() - (high - centre).length());
            if bound > self.limit() {
                continue;
            }
            match node.child[lane].as_node() {
                Some(child) => self.open.push(Entry { bound, node: child as u32 }),
                None => node.child[lane].slots().for_each(|slot| self.look_at(tree.order()[slot])),
            }
        }
    }

    fn look_at(&mut self, triangle: u32) {
        self.work.primitive_tests += 1;
        let corners = self.body.corners(triangle);
        let least = match self.solid.primitive {
            Primitive::Sphere { radius } => {
                norm(
                    closest_point(self.solid.pose.translation(), &corners).point
                        - self.solid.pose.translation(),
                ) - radius
                    - self.rounding
            }
            _ => {
                let (distance, radius) = self.solid.around(&corners);
                distance.abs() - radius
            }
        };
        if least > self.limit() {
            return;
        }
        match self.depth(triangle, &corners) {
            Some(found) => self.keep_better(triangle, found),
            None => self.look_outside(triangle, corners),
        }
    }

    /// Looks at a triangle that is not inside the solid.
    fn look_outside(&mut self, triangle: u32, corners: [DVec3; 3]) {
        let (found, certainty) = kernel(&self.solid, corners, &mut self.memory);
        if let (Certainty::Approximate { resolution: new }, worst) = (certainty, &mut self.certainty) {
            let before = if let Certainty::Approximate { resolution } = worst { *resolution } else { 0.0 };
            *worst = Certainty::Approximate { resolution: before.max(new) };
        }
        let features = [found.features[0], self.name(triangle, found.features[1])];
        self.keep_better(triangle, Separation { distance: found.distance.max(0.0), features, ..found });
    }

    fn keep_better(&mut self, triangle: u32, found: Separation) {
        let first = self.best.is_none_or(|best| {
            found.distance < best.distance || found.distance == best.distance && triangle < self.triangle
        });
        if first {
            (self.best, self.triangle) = (Some(found), triangle);
        }
    }

    /// The gap of a triangle that lies inside the solid, taken at a corner.
    fn depth(&self, triangle: u32, corners: &[DVec3; 3]) -> Option<Separation> {
        let inner = |p: DVec3| Some(self.solid.foot(p)).filter(|foot| !(foot.distance >= 0.0));
        // The first corner that is not inside tells.
        let feet = [inner(corners[0])?, inner(corners[1])?, inner(corners[2])?];
        let nearest = (0..3).fold(0, |k, j| if feet[j].distance > feet[k].distance { j } else { k });
        let (foot, vertex) = (feet[nearest], self.body.model.mesh().triangles()[triangle as usize][nearest]);
        Some(Separation {
            distance: -foot.distance,
            points: [foot.point, corners[nearest]],
            features: [foot.feature, Feature::Vertex(vertex)],
            normal: -foot.normal,
        })
    }

    /// A feature of a triangle as one of the mesh.
    fn name(&self, triangle: u32, feature: Feature) -> Feature {
        let corners = self.body.model.mesh().triangles()[triangle as usize];
        match feature {
            Feature::Vertex(k) => Feature::Vertex(corners[k as usize]),
            Feature::Edge([i, j]) => {
                let (p, q) = (corners[i as usize], corners[j as usize]);
                Feature::Edge([p.min(q), p.max(q)])
            }
            Feature::Face(_) | Feature::Surface => Feature::Face(triangle),
        }
    }

    /// A point that a triangle shares with the solid's surface, and the part of the triangle that holds it: on the way
    /// from a point within the solid to the triangle's corner farthest out.
    fn meeting(&self, best: Separation) -> Separation {
        let corners = self.body.corners(self.triangle);
        let out = |p: DVec3| self.solid.foot(p).distance;
        let farthest = corners.into_iter().reduce(|p, q| if out(q) > out(p) { q } else { p });
        let mut inner = closest_point(best.points[1], &corners).point;
        // The deepest point may belong to the far side of a thin solid: to and fro between the two sets.
        loop {
            let foot = self.solid.foot(inner);
            let next = closest_point(foot.point, &corners).point;
            if foot.distance <= 0.0 || !(out(next) < foot.distance * CLOSING_IN) {
                break;
            }
            inner = next;
        }
        let mut outer = farthest.unwrap_or(inner);
        // Halving a segment ends when no double lies between; a corner in the surface is met at once.
        while out(inner) < 0.0 && out(outer) >= 0.0 {
            let middle = inner.midpoint(outer);
            if middle == inner || middle == outer || out(outer) == 0.0 {
                inner = outer;
                break;
            }
            if out(middle) < 0.0 { inner = middle } else { outer = middle }
        }
        let on = closest_point(inner, &corners);
        let part = match on.part {
            TriangleFeature::Corner(k) => Feature::Vertex(k.into()),
            TriangleFeature::Side(k) => Feature::Edge([k.into(), (u32::from(k) + 1) % 3]),
            TriangleFeature::Inside => Feature::Face(0),
        };
        let features = [self.solid.foot(on.point).feature, self.name(self.triangle, part)];
        Separation { points: [on.point; 2], features, normal: DVec3::ZERO, ..best }
    }
}

/// A step between two sets that leaves more than this part of the distance is the last (no unit).
const CLOSING_IN: f64 = 1.0 - 1e-4;

/// The signed distance of the solid from one placed triangle; that of a curved one, far from the world's origin, is
/// measured from its own.
fn kernel(solid: &Solid<'_>, corners: [DVec3; 3], memory: &mut ConvexMemory) -> (Separation, Certainty) {
    let origin = solid.pose.translation();
    let seen = corners.map(|p| p - origin);
    let size = seen.iter().fold(reach(solid.primitive), |most, p| most.max(norm(*p)));
    if PlacedConvex::new(&solid.shape, solid.pose).is_curved() && norm(origin) > FAR_FROM_ORIGIN * size {
        let triangle = Convex::Primitive(Primitive::Triangle { corners: seen });
        let pose = solid.pose.moved_to(DVec3::ZERO);
        let (found, certainty) = convex_distance(&solid.shape, &pose, &triangle, &Pose::IDENTITY, memory);
        return (Separation { points: found.points.map(|p| p + origin), ..found }, certainty);
    }
    let triangle = Convex::Primitive(Primitive::Triangle { corners });
    convex_distance(&solid.shape, solid.pose, &triangle, &Pose::IDENTITY, memory)
}

/// The relation of a round or curved primitive, as a, to a mesh, exact for spheres and capsules, and how the
/// search ended; `None` when the budget ended first.
pub fn relation(
    primitive: &Primitive,
    pose: &Pose,
    mesh: &Model,
    mesh_pose: &Pose,
    budget: &mut Budget,
) -> (Option<Relation>, Outcome) {
    let mut work = Counters::default();
    let found = relate(primitive, pose, mesh, mesh_pose, budget, &mut work);
    let finish = if found.is_some() { Finish::Complete } else { Finish::OutOfBudget };
    let certainty = found.map_or(Certainty::Exact, |(_, certainty)| certainty);
    (found.map(|(relation, _)| relation), Outcome { certainty, finish, work })
}

fn relate(
    primitive: &Primitive,
    pose: &Pose,
    mesh: &Model,
    mesh_pose: &Pose,
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<(Relation, Certainty)> {
    let solid = Solid::new(primitive, pose);
    let body = PlacedMesh::new(mesh, mesh_pose);
    let core = PlacedConvex::new(&solid.shape, pose);
    let bounds = solid.bounds;
    let [low, high] = body.bounds();
    let away = (high - pose.translation()).max(pose.translation() - low).length();
    let noise = curved_noise(&core, mesh_pose.translation().length() + extent(&body), away);
    let doubt = Certainty::Approximate { resolution: noise };
    let (mut enters, mut touches, mut doubtful, mut out_of_budget) = (false, false, false, false);
    let mut memory = ConvexMemory::default();
    let (corners, radius) = (core.triangles(), Dyadic::from(core.radius()));
    let square = &radius * &radius;
    let boxes = Cell::new(0);
    let reaches = |[low, high]: [DVec3; 2]| {
        boxes.set(boxes.get() + 1);
        solid.foot(low.midpoint(high)).distance <= norm(high - low) * 0.5 * ROUND_UP + noise
    };
    body.in_region_where([bounds.low, bounds.high], reaches, |t| {
        let passed = boxes.take();
        out_of_budget = !budget.draw_all_or_rest(1 + passed);
        if out_of_budget {
            return ControlFlow::Break(());
        }
        work.volume_tests += passed;
        work.primitive_tests += 1;
        let triangle = body.corners(t);
        let (middle, radius) = solid.around(&triangle);
        // A ball around the triangle settles most; the others are measured.
        let clear = middle.abs() > radius + noise;
        let distance = if clear { middle } else { kernel(&solid, triangle, &mut memory).0.distance };
        let order = if distance.abs() > noise {
            distance.total_cmp(&0.0)
        } else if core.is_curved() {
            doubtful = true;
            Ordering::Equal
        } else {
            exact::compare_distance(&corners, &[triangle], &square)
        };
        enters |= order == Ordering::Less;
        touches |= order == Ordering::Equal;
        // What enters the solid settles all but whether the mesh is wholly inside.
        if enters { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if out_of_budget {
        return None;
    }
    budget.draw_all_or_rest(boxes.get());
    work.volume_tests += boxes.get();
    let certainty = if doubtful { doubt } else { Certainty::Exact };
    if !enters && body.holds(core.corners()[0], budget, work)? {
        return Some((Relation::AInsideB, certainty));
    }
    if !enters && !touches {
        return Some((Relation::Separated, Certainty::Exact));
    }
    Some(match holds_all(&solid, &core, &body, noise, budget, work)? {
        (true, sure) => (Relation::BInsideA, if sure { Certainty::Exact } else { doubt }),
        (false, _) if enters || !body.is_closed_within(budget)? => (Relation::Intersecting, certainty),
        (false, _) => (Relation::Touching, certainty),
    })
}

/// Whether every corner of the mesh is in the closed solid, and whether that is certain; `None` when the budget
/// ended first.
fn holds_all(
    solid: &Solid<'_>,
    core: &PlacedConvex<'_>,
    body: &PlacedMesh<'_>,
    noise: f64,
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<(bool, bool)> {
    let (triangles, radius) = (core.triangles(), Dyadic::from(core.radius()));
    let square = &radius * &radius;
    let mut sure = true;
    for &v in body.model.mesh().triangles().as_flattened() {
        if !budget.draw_or_rest(1) {
            return None;
        }
        work.primitive_tests += 1;
        let p = body.pose.apply(body.model.mesh().vertices()[v as usize]);
        let out = solid.foot(p).distance;
        let inside = if out.abs() > noise {
            out < 0.0
        } else if core.is_curved() {
            sure = false;
            true
        } else {
            exact::compare_distance(&triangles, &[[p; 3]], &square) != Ordering::Greater
        };
        if !inside {
            return Some((false, sure));
        }
    }
    Some((true, sure))
}

/// Triangles measured at most before the mesh of the placed corners is made after all: as dear as a third of it.
const MOST_CLEAR: u64 = 32;

/// As [`MOST_CLEAR`] where a triangle that is surely crossed is looked for: it settles the relation to an open mesh.
const MOST_TRIED: u64 = 256;

/// Corners of a mesh that are looked at for one outside of a body.
const MOST_OUTSIDE: usize = 64;

/// What floats tell for certain about a shape with corners and the triangles of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Crossing {
    /// All triangles are surely apart from it.
    Clear,
    /// A triangle surely enters it, and another part of the mesh is surely outside.
    Crossed,
    /// Only exact numbers can tell, or the budget ended.
    Doubtful,
}

/// Whether a shape with corners, as a, is surely apart from every triangle of a mesh, or surely crossed by one, which is
/// looked for longer if `thorough`.
///
/// Far cheaper than the relation of two meshes, which needs a mesh and a tree of the placed corners.
pub(crate) fn crossing(
    shape: &Convex,
    pose: &Pose,
    body: &PlacedMesh<'_>,
    thorough: bool,
    budget: &mut Budget,
    work: &mut Counters,
) -> Crossing {
    let core = PlacedConvex::new(shape, pose);
    let bounds = Geometry::from(shape.clone()).bounds(pose);
    let far = body.pose.translation().length() + extent(body);
    let noise = curved_noise(&core, far, far);
    let mut memory = ConvexMemory::default();
    let mut found = Crossing::Clear;
    body.in_region(bounds.low, bounds.high, |t| {
        work.primitive_tests += 1;
        if work.primitive_tests > if thorough { MOST_TRIED } else { MOST_CLEAR } || !budget.draw_or_rest(1) {
            found = Crossing::Doubtful;
            return ControlFlow::Break(());
        }
        let triangle = Convex::Primitive(Primitive::Triangle { corners: body.corners(t) });
        let (gap, certainty) = convex_distance(shape, pose, &triangle, &Pose::IDENTITY, &mut memory);
        let sure = certainty == Certainty::Exact;
        if sure && gap.distance > noise {
            return ControlFlow::Continue(());
        }
        found = if sure && gap.distance < -noise { Crossing::Crossed } else { Crossing::Doubtful };
        // A triangle that is only grazed leaves others to look at.
        if thorough && found == Crossing::Doubtful {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    let is_outside = |v: &u32| {
        let p = body.pose.apply(body.model.mesh().vertices()[*v as usize]);
        let room = DVec3::splat(noise);
        (p.cmplt(bounds.low - room) | p.cmpgt(bounds.high + room)).any()
    };
    let used = body.model.mesh().triangles().as_flattened();
    if found == Crossing::Crossed && !used.iter().take(MOST_OUTSIDE).any(is_outside) {
        found = Crossing::Doubtful;
    }
    found
}

fn extent(body: &PlacedMesh<'_>) -> f64 {
    let [low, high] = body.bounds();
    low.abs().max(high.abs()).element_sum()
}

#[cfg(test)]
#[path = "convex_mesh_tests.rs"]
mod tests;
