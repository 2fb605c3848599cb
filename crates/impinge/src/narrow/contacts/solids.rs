//! The contacts of two meshes: one entry or more for each connected region of their intersection.
//!
//! The regions are those of the exact volume, or for open surfaces those of the triangles that cross. In each of them
//! the direction is looked for along which b leaves a soonest (`translation`); the pairs of triangles that part last
//! tell where. What is certain is that b moved by the depth is out; a shorter way may have been missed, and the depth
//! is not below what the certainty leaves.

use glam::DVec3;
use smallvec::SmallVec;

use super::convex_mesh_hull::convex_body;
use super::payment::Payment;
use super::translation::{Exit, Translation, WayOut, spread_directions};
use super::{Wanted, convex_pair};
use crate::bound::Aabb;
use crate::contact::{Certainty, Contact, Counters, Feature, Finish};
use crate::geom::triangle_distance::nearest;
use crate::model::{Fact, Model};
use crate::narrow::exact::closest_point::{feature, one_after_another};
use crate::narrow::exact::collide::{self, Posed};
use crate::narrow::exact::distance::DistanceSearch;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::narrow::exact::volume::{is_inverted, overlaps};
use crate::narrow::kernel_memory::KernelMemory;
use crate::num::disjoint_sets::DisjointSets;
use crate::num::tolerance::{PUSHED_ALONG, SAME_PATCH_POINT, TOUCH_WINDOW};
use crate::shape::Convex;
use crate::{Budget, Pose};

/// Points that one region tells at most.
const MOST_POINTS: usize = 4;

/// Directions of faces that are tried for a region at most, and others besides.
const MOST_FACES: usize = 48;
const OTHERS: u32 = 32;

/// A window is larger than its region by this share of the region's depth (no unit).
const WINDOW: f64 = 1.25;

/// Two placed meshes.
struct Pair<'m> {
    models: [&'m Model; 2],
    poses: [&'m Pose; 2],
    placed: [PlacedMesh<'m>; 2],
    /// Whether the triangles face inwards.
    inverted: [bool; 2],
}

/// A place where the meshes overlap.
struct Place {
    bounds: Aabb,
    /// Zero where none is better than the others.
    normal: DVec3,
    area: f64,
    /// A point of both bodies.
    inside: Option<DVec3>,
    /// How far the region reaches along the normal.
    depth: f64,
}

/// Appends the contacts of two meshes not farther apart than the margin; `None` when the budget ended.
pub(super) fn contacts(
    models: [&Model; 2],
    poses: [&Pose; 2],
    Wanted { margin, one_sided, .. }: Wanted,
    memory: &mut KernelMemory,
    budget: &mut Budget,
    work: &mut Counters,
    found: &mut Vec<Contact>,
) -> Option<Certainty> {
    for model in models {
        if !model.prepare(Fact::Topology, budget) {
            return None;
        }
    }
    let convex = [convex_body(models[0], budget)?, convex_body(models[1], budget)?];
    if let [Some(a), Some(b)] = convex {
        let shapes = [Convex::Polytope(a), Convex::Polytope(b)];
        let certainty = convex_pair::contacts([&shapes[0], &shapes[1]], poses, margin, memory, found);
        name_by_nearest(models, poses, [true; 2], found);
        work.primitive_tests += 1;
        return Some(certainty);
    }
    let placed = [0, 1].map(|k| PlacedMesh::new(models[k], poses[k]));
    let closed = models.map(|model| model.topology().is_closed());
    let inverted =
        [closed[0] && is_inverted(models[0], budget)?, closed[1] && is_inverted(models[1], budget)?];
    let pair = Pair { models, poses, placed, inverted };
    let places =
        if closed == [true; 2] { pair.regions(budget, work)? } else { pair.crossings(budget, work)? };
    let mut certainty = Certainty::Exact;
    for place in &places {
        certainty = certainty.lesser(pair.add(place, one_sided, closed, budget, work, found)?);
    }
    if places.is_empty() {
        certainty = pair.add_nearest(margin, closed, budget, work, found)?;
    }
    Some(certainty)
}

/// Names the mesh features of contacts whose points are known, for the bodies that are meshes.
pub(super) fn name_by_nearest(
    models: [&Model; 2],
    poses: [&Pose; 2],
    named: [bool; 2],
    found: &mut [Contact],
) {
    for k in (0..2).filter(|&k| named[k]) {
        let points: Vec<DVec3> = found.iter().map(|contact| contact.points[k]).collect();
        let (near, _) = one_after_another(models[k], poses[k], &points);
        for (contact, near) in found.iter_mut().zip(near) {
            contact.features[k] = near.feature;
        }
    }
}

impl Pair<'_> {
    /// The regions of the intersection of two solids.
    fn regions(&self, budget: &mut Budget, work: &mut Counters) -> Option<Vec<Place>> {
        let overlaps = overlaps(self.models, self.poses, budget);
        *work += overlaps.outcome.work;
        let regions = overlaps.value?;
        let place = |(overlap, bounds): (crate::Overlap, Aabb)| {
            let region = overlap.region;
            let inside = self.is_common(region.centroid).then_some(region.centroid);
            Place { bounds, normal: region.normal, area: region.area, inside, depth: region.depth }
        };
        Some(regions.into_iter().map(place).collect())
    }

    fn is_common(&self, p: DVec3) -> bool {
        self.placed
            .iter()
            .all(|body| body.holds(p, &mut Budget::UNLIMITED.clone(), &mut Counters::default()) == Some(true))
    }

    /// The connected sets of crossing triangles.
    fn crossings(&self, budget: &mut Budget, work: &mut Counters) -> Option<Vec<Place>> {
        let [a, b] = [0, 1].map(|k| Posed::new(self.models[k], *self.poses[k]));
        let (pairs, outcome) = collide::pairs_within_budget(a, b, budget);
        *work += outcome.work;
        if outcome.finish == Finish::OutOfBudget {
            return None;
        }
        let mut sets = DisjointSets::new(pairs.len());
        let mut known = std::collections::HashMap::new();
        for (number, pair) in pairs.iter().enumerate() {
            for (k, &triangle) in pair.iter().enumerate() {
                let first = *known.entry((k, triangle)).or_insert(number);
                sets.join(first, number);
            }
        }
        let mut places: Vec<(Place, DVec3)> = Vec::new();
        // The place of each root, which is the first of its set.
        let mut place_of = vec![0; pairs.len()];
        for (number, pair) in pairs.iter().enumerate() {
            let root = sets.root(number);
            if root == number {
                let bounds = Aabb::EMPTY;
                let place = Place { bounds, normal: DVec3::ZERO, area: 0.0, inside: None, depth: 0.0 };
                place_of[root] = places.len();
                places.push((place, DVec3::ZERO));
            }
            let (place, sum) = &mut places[place_of[root]];
            let [p, q] = [self.placed[0].corners(pair[0]), self.placed[1].corners(pair[1])];
            let area = |t: [DVec3; 3], k: usize| {
                let normal = (t[1] - t[0]).cross(t[2] - t[0]);
                if self.inverted[k] { -normal } else { normal }
            };
            *sum += area(p, 0) - area(q, 1);
            let common = [Aabb::around_points(&p), Aabb::around_points(&q)];
            let cut =
                Aabb { low: common[0].low.max(common[1].low), high: common[0].high.min(common[1].high) };
            place.bounds = place.bounds.merge(&cut);
        }
        let finish = |(place, sum): (Place, DVec3)| {
            let normal = sum.normalize_or_zero();
            let depth = 2.0 * place.bounds.half().length();
            Place { normal, depth, ..place }
        };
        Some(places.into_iter().map(finish).collect())
    }

    /// The body of which a part lies in the other one, a solid, where the surfaces do not meet and no volume is common: an open
    /// one, or one with two sides and nothing between them.
    fn nested(&self, closed: [bool; 2], budget: &mut Budget, work: &mut Counters) -> Option<Option<Place>> {
        for (inner, outer) in [(0, 1), (1, 0)] {
            if !closed[outer] {
                continue;
            }
            let [inner, outer] = [self.placed[inner], self.placed[outer]];
            for component in inner.model.topology().components() {
                let p = inner.corners(component.first_triangle)[0];
                if outer.holds(p, budget, work)? {
                    let [low, high] = inner.bounds();
                    let (bounds, depth) = (Aabb { low, high }, (high - low).length());
                    let place = Place { bounds, normal: DVec3::ZERO, area: 0.0, inside: Some(p), depth };
                    return Some(Some(place));
                }
            }
        }
        Some(None)
    }

    /// Appends the contacts of one place.
    fn add(
        &self,
        place: &Place,
        one_sided: bool,
        closed: [bool; 2],
        budget: &mut Budget,
        work: &mut Counters,
        found: &mut Vec<Contact>,
    ) -> Option<Certainty> {
        let [a, b] = self.placed;
        let exit = if place.normal == DVec3::ZERO {
            None
        } else {
            let grown = Aabb {
                low: place.bounds.low - DVec3::splat(WINDOW * place.depth),
                high: place.bounds.high + DVec3::splat(WINDOW * place.depth),
            };
            let way = Translation::within(a, b, grown, place.inside);
            let allowed = self.allowed(one_sided, closed, place.normal);
            self.search(&way, place.normal, WINDOW * place.depth, allowed, budget, work)?
                .map(|exit| (exit, way))
        };
        let (exit, way) = match exit {
            Some(found) => found,
            None => {
                let way = Translation::new(a, b);
                let reach = way.reach();
                // A place without a way out that is found is not told.
                let Some(exit) = self.search(&way, place.normal, reach, |_| true, budget, work)? else {
                    return Some(Certainty::Approximate { resolution: place.depth });
                };
                (exit, way)
            }
        };
        self.add_exit(place, &exit, &way, found);
        let depths = place.inside.map_or(0.0, |p| self.common_ball(p));
        let open = (exit.length - depths).max(0.0);
        Some(Certainty::Conservative { tolerance: open })
    }

    /// Which directions an open surface that pushes to one side allows.
    fn allowed(&self, one_sided: bool, closed: [bool; 2], normal: DVec3) -> impl Fn(DVec3) -> bool + use<> {
        let pushes = one_sided && closed != [true; 2];
        move |direction: DVec3| !pushes || direction.dot(normal) > PUSHED_ALONG
    }

    /// The shortest way out, from the mean normal, the normals of faces, and others.
    fn search(
        &self,
        way: &Translation<'_>,
        normal: DVec3,
        limit: f64,
        allowed: impl Fn(DVec3) -> bool,
        budget: &mut Budget,
        work: &mut Counters,
    ) -> Option<Option<Exit>> {
        let mut payment = Payment::from(budget, work);
        let faces = way.face_directions(self.inverted, &mut payment);
        let faces = faces.into_iter().map(|(n, _)| n).take(MOST_FACES);
        let first = (normal != DVec3::ZERO).then_some(normal);
        let all = first.into_iter().chain(faces).chain(spread_directions(OTHERS));
        way.search(all.filter(|n| allowed(*n)), limit, &mut payment)
    }

    /// No shorter way than this takes a point of both bodies out.
    fn common_ball(&self, p: DVec3) -> f64 {
        let radius = |k: usize| {
            let near = one_after_another(self.models[k], self.poses[k], &[p]).0;
            near.first().map_or(0.0, |near| near.distance)
        };
        radius(0) + radius(1)
    }

    /// The points at which b leaves a last.
    fn add_exit(&self, place: &Place, exit: &Exit, way: &Translation<'_>, found: &mut Vec<Contact>) {
        let shift = exit.direction * exit.length;
        let mut points: Vec<Contact> = Vec::new();
        for &pair in &exit.pairs {
            let [fixed, moved] = way.corners(pair);
            let near = nearest(&fixed, &moved.map(|p| p + shift));
            let points_ab = [near.points[0], near.points[1] - shift];
            let name = |k: usize| feature(self.models[k].mesh(), pair[k], near.parts[k]);
            let features: [Feature; 2] = [name(0), name(1)];
            let depth = -exit.direction.dot(points_ab[1] - points_ab[0]);
            points.push(Contact::between(points_ab, exit.direction, depth, features));
        }
        let extent = (place.bounds.high - place.bounds.low).length();
        let chosen = far_apart(&points, SAME_PATCH_POINT * extent);
        let area = place.area / chosen.len().max(1) as f64;
        found.extend(chosen.iter().map(|&k| Contact { area, ..points[k] }));
    }

    /// The nearest points, where the meshes touch or are within the margin; or the way out of what is nested.
    fn add_nearest(
        &self,
        margin: f64,
        closed: [bool; 2],
        budget: &mut Budget,
        work: &mut Counters,
        found: &mut Vec<Contact>,
    ) -> Option<Certainty> {
        let mut search = DistanceSearch::new(self.models[0], self.poses[0], self.models[1], self.poses[1]);
        let near = loop {
            let near = search.advance(budget);
            if near.outcome.finish != Finish::OutOfBudget {
                break near;
            }
            if !budget.rest_silently() {
                return None;
            }
        };
        *work += near.outcome.work;
        if near.distance > 0.0
            && let Some(place) = self.nested(closed, budget, work)?
        {
            return self.add(&place, false, closed, budget, work, found);
        }
        if !(near.distance <= margin) {
            return Some(Certainty::Exact);
        }
        let way = near.points[1] - near.points[0];
        let normal = match way.try_normalize() {
            Some(normal) if near.distance > 0.0 => normal,
            _ => {
                let mut payment = Payment::from(budget, work);
                let normal = self.touching_normal(near.points[0], near.triangles, &mut payment);
                if !payment.settle() {
                    return None;
                }
                normal
            }
        };
        found.push(Contact::between(near.points, normal, -near.distance, near.features));
        Some(Certainty::Exact)
    }

    /// The normal along which two meshes that touch at a point part at once: that of a face there.
    fn touching_normal(&self, p: DVec3, [t, u]: [u32; 2], payment: &mut Payment<'_>) -> DVec3 {
        let size = self.placed.iter().fold(0.0_f64, |most, body| {
            let [low, high] = body.bounds();
            most.max((high - low).length())
        });
        let room = DVec3::splat(TOUCH_WINDOW * size);
        let window = Aabb { low: p - room, high: p + room };
        let way = Translation::within(self.placed[0], self.placed[1], window, None);
        let own = |k: usize, t: u32| {
            let [a, b, c] = self.placed[k].corners(t);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            if self.inverted[k] { -normal } else { normal }
        };
        let directions = [own(0, t), -own(1, u)];
        let faces = way.face_directions(self.inverted, payment).into_iter().map(|(n, _)| n);
        let exits = directions.into_iter().chain(faces).take(MOST_FACES).filter(|n| *n != DVec3::ZERO);
        let best = exits
            .filter_map(|n| way.first_exit(n, size, payment))
            .min_by(|x, y| x.length.total_cmp(&y.length));
        best.map_or(if directions[0] != DVec3::ZERO { directions[0] } else { DVec3::Z }, |exit| {
            exit.direction
        })
    }
}

/// Some of the points, far from each other, the first among them.
fn far_apart(points: &[Contact], near: f64) -> SmallVec<[usize; MOST_POINTS]> {
    let mut chosen: SmallVec<[usize; MOST_POINTS]> = SmallVec::new();
    while chosen.len() < MOST_POINTS {
        let away = |k: usize| {
            let distances = chosen.iter().map(|&j| points[j].points[0].distance(points[k].points[0]));
            distances.fold(f64::INFINITY, f64::min)
        };
        let farthest = (0..points.len()).max_by(|&i, &j| away(i).total_cmp(&away(j)).then(j.cmp(&i)));
        match farthest {
            Some(k) if away(k) > near => chosen.push(k),
            _ => break,
        }
    }
    chosen
}
