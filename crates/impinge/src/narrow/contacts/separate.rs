//! A short translation of b after which two bodies are apart or touch.
//!
//! For two convex bodies, meshes of such bodies among them, it is the penetration depth. For others the shortest way
//! out that is found from many directions (`translation`; `part_translation` where curved parts meet), or that their
//! contacts suggest. Whatever is found is checked by the exact relation, and lengthened by rounding until that says so.
//! Flat and open bodies that merely touch have the depth 0 and intersect all the same: what parts them is as long as
//! rounding asks for.

use std::sync::Arc;

use glam::DVec3;

use super::convex_mesh_hull::{as_mesh, convex_body};
use super::part_translation::{PartTranslation, doubt};
use super::payment::Payment;
use super::rescaled::Rescaled;
use super::translation::{Translation, WayOut, spread_directions};
use super::{Wanted, contacts};
use crate::bound::Aabb;
use crate::contact::{Certainty, Counters, Finish, Outcome, Relation, Verdict, VolumeOptions};
use crate::model::{Fact, Geometry, Model};
use crate::narrow::convex::placed_core::safe_scale;
use crate::narrow::convex::separation;
use crate::narrow::dispatch;
use crate::narrow::exact::closest_point::one_after_another;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::narrow::exact::volume::volume;
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::num::compact_sort::sort_rarely;
use crate::num::tolerance::{
    GUESS_LENGTHENED, LENGTHENED_FIRST, LENGTHENED_LITTLE, ROUND_UP, SUPPORT_ROUNDING,
};
use crate::shape::{Convex, Primitive};
use crate::{Budget, Error, Pose};

/// Directions that are tried at least and at most, and pairs of triangles that decide how many between.
const DIRECTIONS: [u64; 2] = [96, 640];
const MOST_PAIRS: u64 = 4_000_000;

/// How often a translation is doubled in what is added to it before the search gives up.
const MOST_DOUBLINGS: u32 = 60;

/// Other directions that are tried at most where a way out of nearly no length is none.
const MOST_OTHERS: usize = 64;

/// A way out, known but for rounding.
struct Way {
    /// Of unit length.
    direction: DVec3,
    length: f64,
    /// No translation shorter than this parts the bodies.
    at_least: f64,
    /// Whether it is the shortest one, but for rounding: that of two convex bodies.
    is_penetration_depth: bool,
    /// Directions to try where this one turns out to be none.
    others: Vec<DVec3>,
}

/// A translation of b that takes two bodies apart.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SeparatingTranslation {
    /// Added to b's position, the exact relation is separated or touching; zero where it is already.
    pub translation: DVec3,
    /// Its length.
    pub length: f64,
    /// No translation shorter than this separates the bodies; 0 where nothing is known.
    pub at_least: f64,
}

/// A short translation of b that takes two shapes apart.
///
/// # Errors
/// Two half-spaces that no translation takes apart.
pub fn separate(
    pair: &ShapePair<'_>,
    memory: &mut KernelMemory,
    budget: &mut Budget,
) -> Result<Verdict<SeparatingTranslation>, Error> {
    let mut work = Counters::default();
    let before = budget.silently(|budget| dispatch::relation(pair, memory, budget));
    work += before.outcome.work;
    let Some(relation) = before.value else { return Ok(Verdict::out_of_budget()) };
    let outcome = |certainty, work| Outcome { certainty, finish: Finish::Complete, work };
    if matches!(relation, Relation::Separated | Relation::Touching) {
        let found = SeparatingTranslation::default();
        return Ok(Verdict::new(Some(found), outcome(before.outcome.certainty, work)));
    }
    let meshes = pair.shapes.iter().filter_map(|shape| shape.model());
    if !meshes.into_iter().all(|model| model.prepare(Fact::Topology, budget)) {
        return Ok(Verdict::out_of_budget());
    }
    let found = match Rescaled::of(pair, budget) {
        Some(None) => way_out(pair, memory, budget, &mut work)?,
        Some(Some(rescaled)) => {
            let found = way_out(&rescaled.pair(), &mut KernelMemory::default(), budget, &mut work)?;
            let in_world = |x: f64| x / rescaled.scale;
            found.map(|way| Way { length: in_world(way.length), at_least: in_world(way.at_least), ..way })
        }
        None => None,
    };
    let Some(way) = found else { return Ok(Verdict::out_of_budget()) };
    let way = match beside(pair) {
        Some((direction, length)) if length < way.length => {
            Way { direction, length, others: Vec::new(), ..way }
        }
        _ => way,
    };
    let guess =
        if way.is_penetration_depth { Some(None) } else { along_contacts(pair, &way, budget, &mut work) };
    let found = match guess {
        Some(None) => verified(pair, &way, budget, &mut work),
        Some(found) => found,
        None => None,
    };
    let Some(translation) = found else { return Ok(Verdict::out_of_budget()) };
    let length = length_of(translation);
    let at_least = way.at_least.min(length);
    let certainty = match length - at_least {
        rest if rest <= SUPPORT_ROUNDING * length => Certainty::Exact,
        rest => Certainty::Conservative { tolerance: rest },
    };
    let found = SeparatingTranslation { translation, length, at_least };
    Ok(Verdict::new(Some(found), outcome(certainty, work)))
}

/// A way out of two bodies that overlap; `None` when the budget ended.
fn way_out(
    pair: &ShapePair<'_>,
    memory: &mut KernelMemory,
    budget: &mut Budget,
    work: &mut Counters,
) -> Result<Option<Way>, Error> {
    let Some(convex) = as_convex(pair, budget) else { return Ok(None) };
    let Some([(a, pose_a), (b, pose_b)]) = convex else { return of_bodies(pair, budget, work) };
    let (found, certainty) = separation::distance(&a, &pose_a, &b, &pose_b, &mut memory.convex);
    if found.distance == f64::NEG_INFINITY {
        let reason = "no translation takes two such half-spaces apart".into();
        return Err(Error::Argument { name: "b", reason });
    }
    work.primitive_tests += 1;
    let length = (-found.distance).max(0.0);
    let at_least = (-found.distance - doubt(certainty)).max(0.0);
    Ok(Some(Way {
        direction: found.normal,
        length,
        at_least,
        is_penetration_depth: true,
        others: Vec::new(),
    }))
}

/// The shortest of some translations of b that takes two shapes apart, or else the one that takes their hulls apart.
///
/// For bodies that are not convex far cheaper than [`separate`], and mostly as short where the translations are those of
/// their contacts. `None` when the budget ended first, or where a shape has no hull.
pub(crate) fn separate_by_guesses(
    pair: &ShapePair<'_>,
    guesses: impl IntoIterator<Item = DVec3>,
    budget: &mut Budget,
) -> Option<DVec3> {
    let mut work = Counters::default();
    let convex = as_convex(pair, budget)?;
    let is_convex = convex.is_some();
    let [(a, pose_a), (b, pose_b)] = match convex {
        Some(convex) => convex,
        None => {
            let models = [pair.shapes[0].model()?, pair.shapes[1].model()?];
            let [a, b] = hulls_of(models, budget)??;
            [(a, *pair.poses[0]), (b, *pair.poses[1])]
        }
    };
    let (hulls, _) = separation::distance(&a, &pose_a, &b, &pose_b, &mut Default::default());
    let longest = (-hulls.distance).max(0.0);
    if !is_convex && let Some(way) = shortest_that_parts(pair, guesses, [0.0, longest], budget, &mut work)? {
        return Some(way);
    }
    let way = Way {
        direction: hulls.normal,
        length: longest,
        at_least: 0.0,
        is_penetration_depth: is_convex,
        others: Vec::new(),
    };
    verified(pair, &way, budget, &mut work)
}

/// The shortest of some translations of b that takes two shapes apart, between two lengths; the outer `None` when the budget
/// ended first.
fn shortest_that_parts(
    pair: &ShapePair<'_>,
    guesses: impl IntoIterator<Item = DVec3>,
    [least, most]: [f64; 2],
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<Option<DVec3>> {
    let mut ways: Vec<DVec3> = guesses.into_iter().map(|way| way * (1.0 + GUESS_LENGTHENED)).collect();
    ways.retain(|&way| (least..most).contains(&length_of(way)));
    sort_rarely(&mut ways, |&x, &y| length_of(x).total_cmp(&length_of(y)));
    for way in ways {
        if is_parted(pair, way, budget, work)? {
            return Some(Some(way));
        }
    }
    Some(None)
}

/// What the contacts of two bodies suggest, if it is shorter than a way out of them; the outer `None` when the budget ended.
/// The search from many directions may have missed it.
fn along_contacts(
    pair: &ShapePair<'_>,
    way: &Way,
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<Option<DVec3>> {
    let is_listed = |shape: &&Geometry| matches!(shape, Geometry::Mesh(_) | Geometry::Convex(_));
    if !pair.shapes.iter().all(is_listed) {
        return Some(None);
    }
    let wanted = Wanted { margin: 0.0, one_sided: false, deep: true };
    let found = budget.silently(|budget| contacts(pair, wanted, &mut KernelMemory::default(), budget));
    *work += found.outcome.work;
    let guesses = found.value?.into_iter().map(|contact| contact.normal * contact.depth);
    shortest_that_parts(pair, guesses, [way.at_least, way.length], budget, work)
}

/// Both bodies as placed convex shapes, if they are convex; `None` outside when the budget ended first.
fn as_convex(pair: &ShapePair<'_>, budget: &mut Budget) -> Option<Option<[(Convex, Pose); 2]>> {
    let Some(first) = convex_shape(pair.shapes[0], pair.poses[0], budget)? else { return Some(None) };
    Some(convex_shape(pair.shapes[1], pair.poses[1], budget)?.map(|second| [first, second]))
}

/// A body as a placed convex shape, if it is one: a convex mesh and a compound of one convex part are, too. `None`
/// outside when the budget ended first.
fn convex_shape(shape: &Geometry, pose: &Pose, budget: &mut Budget) -> Option<Option<(Convex, Pose)>> {
    Some(match shape {
        Geometry::Convex(convex) => Some((convex.clone(), *pose)),
        Geometry::Mesh(model) => convex_body(model, budget)?.map(|hull| (Convex::Polytope(hull), *pose)),
        Geometry::Compound(compound) => match compound.parts() {
            [only] => convex_shape(&only.shape, &pose.compose(&only.pose), budget)?,
            _ => None,
        },
        Geometry::Particles(_) => None,
    })
}

/// The hulls of two meshes, unless one has too many vertices; `None` outside when the budget ended first.
fn hulls_of(models: [&Arc<Model>; 2], budget: &mut Budget) -> Option<Option<[Convex; 2]>> {
    if !models.iter().all(|model| model.prepare(Fact::Hull, budget)) {
        return None;
    }
    let [a, b] = models.map(|model| model.hull().map(|hull| Convex::Polytope(hull.clone())));
    Some(a.zip(b).map(|(a, b)| [a, b]))
}

/// A way out of two bodies that are not both convex; `None` when the budget ended.
fn of_bodies(pair: &ShapePair<'_>, budget: &mut Budget, work: &mut Counters) -> Result<Option<Way>, Error> {
    if let Some((direction, length)) = out_of_half_space(pair) {
        return Ok(Some(Way {
            direction,
            length,
            at_least: length,
            is_penetration_depth: true,
            others: Vec::new(),
        }));
    }
    if !pair.shapes.iter().all(|shape| has_faces(shape))
        && let Some(parts) = PartTranslation::new(pair.shapes, pair.poses)
    {
        return Ok(of_parts(&parts, budget, work));
    }
    of_meshes(pair, budget, work)
}

/// Whether a body is bounded by triangles, so that as a mesh it is the same.
fn has_faces(shape: &Geometry) -> bool {
    match shape {
        Geometry::Mesh(_) | Geometry::Particles(_) => true,
        Geometry::Convex(Convex::Polytope(hull)) => hull.dimension() == 3,
        Geometry::Convex(Convex::Primitive(primitive)) => matches!(primitive, Primitive::Cuboid { .. }),
        Geometry::Compound(compound) => compound.parts().iter().all(|part| has_faces(&part.shape)),
    }
}

/// A way out of bodies of convex parts; `None` when the budget ended.
fn of_parts(parts: &PartTranslation<'_>, budget: &mut Budget, work: &mut Counters) -> Option<Way> {
    let known = parts.overlap();
    let count = (MOST_PAIRS / parts.cost().max(1)).clamp(DIRECTIONS[0], DIRECTIONS[1]) as u32;
    let directions = known.directions.iter().copied().chain(spread_directions(count));
    let found = parts.search(directions, parts.reach(), &mut Payment::from(budget, work))?;
    let (direction, length) = found.map_or((DVec3::Z, f64::INFINITY), |exit| (exit.direction, exit.length));
    let others = known.directions.into_iter().take(MOST_OTHERS).collect();
    Some(Way { direction, length, at_least: known.at_least, is_penetration_depth: false, others })
}

/// A way out of the meshes of two bodies; `None` when the budget ended.
fn of_meshes(pair: &ShapePair<'_>, budget: &mut Budget, work: &mut Counters) -> Result<Option<Way>, Error> {
    let mut body = |k: usize| as_mesh(pair.shapes[k], pair.poses[k], budget);
    let (Some(a), Some(b)) = (body(0), body(1)) else { return Ok(None) };
    let [Some((a, pose_a)), Some((b, pose_b))] = &[a, b] else {
        let reason = "a shape without a surface of triangles".into();
        return Err(Error::Argument { name: "a", reason });
    };
    let placed = [PlacedMesh::new(a, pose_a), PlacedMesh::new(b, pose_b)];
    let way = Translation::new(placed[0], placed[1]);
    let count = (MOST_PAIRS / way.cost().max(1)).clamp(DIRECTIONS[0], DIRECTIONS[1]) as u32;
    // The hulls are apart no later than the bodies.
    let Some(hulls) = hulls_of([a, b], budget) else { return Ok(None) };
    let of_hulls = hulls.and_then(|hulls| hull_direction(hulls, [pose_a, pose_b]));
    let mut payment = Payment::from(budget, work);
    let faces = way.face_directions([false; 2], &mut payment);
    let faces = faces.iter().flat_map(|(n, _)| [*n, -*n]).take(count as usize);
    let directions = of_hulls.into_iter().chain(faces.clone()).chain(spread_directions(count));
    let Some(found) = way.search(directions, way.reach(), &mut payment) else { return Ok(None) };
    // Without a single way out that of the boxes is still left.
    let (direction, length) = found.map_or((DVec3::Z, f64::INFINITY), |exit| (exit.direction, exit.length));
    let at_least = common_ball([a, b], [pose_a, pose_b], budget);
    let others = faces.take(MOST_OTHERS).collect();
    Ok(Some(Way { direction, length, at_least, is_penetration_depth: false, others }))
}

/// The direction and the length of the way out of a half-space, if one of the bodies is one.
fn out_of_half_space(pair: &ShapePair<'_>) -> Option<(DVec3, f64)> {
    let plane = |k: usize| match pair.shapes[k] {
        Geometry::Convex(Convex::Primitive(Primitive::HalfSpace { normal, offset })) => {
            let outward = pair.poses[k].rotation() * *normal;
            let length = outward.length();
            Some((outward / length, offset / length, pair.poses[k].translation()))
        }
        _ => None,
    };
    let (k, (normal, offset, origin)) = (0..2).find_map(|k| Some((k, plane(k)?)))?;
    let lowest = lowest(pair.shapes[1 - k], pair.poses[1 - k], normal, origin)?;
    Some((if k == 0 { normal } else { -normal }, (offset - lowest).max(0.0)))
}

/// How far the lowest point of a shape is from `origin` along a normal.
fn lowest(shape: &Geometry, pose: &Pose, normal: DVec3, origin: DVec3) -> Option<f64> {
    let height = |p: DVec3| normal.dot(p - origin);
    match shape {
        Geometry::Mesh(model) => {
            let used = model.mesh().triangles().as_flattened().iter();
            used.map(|&v| height(pose.apply(model.mesh().vertices()[v as usize]))).min_by(f64::total_cmp)
        }
        Geometry::Convex(Convex::Primitive(Primitive::HalfSpace { .. })) => None,
        Geometry::Convex(convex) => {
            let turn = pose.matrix();
            Some(height(pose.apply(convex.support(turn.transpose() * -normal))))
        }
        Geometry::Compound(compound) => {
            let parts = compound.parts().iter();
            let heights: Option<Vec<f64>> =
                parts.map(|part| lowest(&part.shape, &pose.compose(&part.pose), normal, origin)).collect();
            heights?.into_iter().min_by(f64::total_cmp)
        }
        Geometry::Particles(_) => None,
    }
}

/// The direction in which two hulls part soonest.
fn hull_direction([a, b]: [Convex; 2], [pose_a, pose_b]: [&Pose; 2]) -> Option<DVec3> {
    let (found, _) = separation::distance(&a, pose_a, &b, pose_b, &mut Default::default());
    (found.normal != DVec3::ZERO).then_some(found.normal)
}

/// Along which direction and how far b comes to lie beside the box of a: a way out of any two bodies. `None` where both
/// have no end.
fn beside(pair: &ShapePair<'_>) -> Option<(DVec3, f64)> {
    let [a, b] = [0, 1].map(|k| pair.shapes[k].bounds(pair.poses[k]));
    way_beside(&a, &b)
}

/// The shortest way along an axis that takes one box beside another; `None` without an end.
pub(crate) fn way_beside(a: &Aabb, b: &Aabb) -> Option<(DVec3, f64)> {
    let ways = DVec3::AXES.into_iter().zip(0..3);
    let ways = ways.flat_map(|(axis, k)| [(axis, (a.high - b.low)[k]), (-axis, (b.high - a.low)[k])]);
    ways.filter(|(_, length)| length.is_finite()).min_by(|x, y| x.1.total_cmp(&y.1))
}

/// A ball around a common point within a and one within b overlap until b has moved by the sum of their radii: the
/// largest such sum of the middles of the regions of overlap.
fn common_ball(models: [&Arc<Model>; 2], poses: [&Pose; 2], budget: &mut Budget) -> f64 {
    if models.iter().any(|model| !model.topology().is_closed()) {
        return 0.0;
    }
    let overlap =
        budget.silently(|budget| volume([models[0], models[1]], poses, &VolumeOptions::default(), budget));
    let regions = overlap.value.map(|found| found.regions).unwrap_or_default();
    let depth = |k: usize, p: DVec3| {
        let placed = PlacedMesh::new(models[k], poses[k]);
        let inside = placed.holds(p, &mut Budget::UNLIMITED.clone(), &mut Counters::default());
        let near = one_after_another(models[k], poses[k], &[p]).0;
        if inside == Some(true) { near.first().map_or(0.0, |near| near.distance) } else { f64::NEG_INFINITY }
    };
    let sums = regions.iter().map(|overlap| {
        let p = overlap.region.centroid;
        depth(0, p) + depth(1, p)
    });
    sums.fold(0.0, f64::max) / ROUND_UP
}

/// Whether the bodies are apart or touch after a translation of b; `None` when the budget ended first.
fn is_parted(pair: &ShapePair<'_>, shift: DVec3, budget: &mut Budget, work: &mut Counters) -> Option<bool> {
    let moved = pair.poses[1].moved_to(pair.poses[1].translation() + shift);
    let after = ShapePair::new(pair.shapes, [pair.poses[0], &moved]);
    let found = budget.silently(|budget| dispatch::relation(&after, &mut KernelMemory::default(), budget));
    *work += found.outcome.work;
    Some(matches!(found.value?, Relation::Separated | Relation::Touching))
}

/// A way out, lengthened until the exact relation says that the bodies are apart or touch.
fn verified(pair: &ShapePair<'_>, way: &Way, budget: &mut Budget, work: &mut Counters) -> Option<DVec3> {
    let size = (coordinates(pair) + way.length).max(f64::MIN_POSITIVE / LENGTHENED_FIRST);
    let direction = if way.direction == DVec3::ZERO { DVec3::Z } else { way.direction };
    let mut try_way = |direction: DVec3, doublings: u32| {
        lengthened(pair, (direction, way.length), size, doublings, budget, work)
    };
    let few = (LENGTHENED_LITTLE / LENGTHENED_FIRST).log2() as u32;
    if let Some(found) = try_way(direction, few)? {
        return Some(found);
    }
    // A way of nearly no length that rounding made: others begin where the bodies touch, too.
    if way.length <= LENGTHENED_LITTLE * size {
        for &other in &way.others {
            if let Some(found) = try_way(other, few)? {
                return Some(found);
            }
        }
    }
    if let Some(found) = try_way(direction, MOST_DOUBLINGS)? {
        let Some((direction, length)) = beside(pair).filter(|(_, length)| *length < length_of(found)) else {
            return Some(found);
        };
        let boxes = lengthened(pair, (direction, length), size, few, budget, work)?;
        return Some(boxes.filter(|way| length_of(*way) < length_of(found)).unwrap_or(found));
    }
    None
}

/// A length along a direction, made longer until the bodies are apart or touch, by at most so many doublings of what is
/// added; the outer `None` when the budget ended.
fn lengthened(
    pair: &ShapePair<'_>,
    (direction, length): (DVec3, f64),
    size: f64,
    doublings: u32,
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<Option<DVec3>> {
    let mut parts = |length: f64, budget: &mut Budget| is_parted(pair, direction * length, budget, work);
    if parts(length, budget)? {
        return Some(Some(direction * length));
    }
    let (mut low, mut more) = (length, LENGTHENED_FIRST * size);
    for _ in 0..doublings {
        let high = length + more;
        if parts(high, budget)? {
            // Between the last that does not and the first that does, to a hundredth of what was added.
            let mut best = high;
            for _ in 0..8 {
                let middle = low.midpoint(best);
                if parts(middle, budget)? { best = middle } else { low = middle }
            }
            return Some(Some(direction * best));
        }
        low = high;
        more *= 2.0;
    }
    Some(None)
}

/// The largest coordinate of two bodies (a length): of the origin where one has no end.
fn coordinates(pair: &ShapePair<'_>) -> f64 {
    let of_body = |k: usize| {
        let bounds = pair.shapes[k].bounds(pair.poses[k]);
        let most = bounds.low.abs().max(bounds.high.abs()).max_element();
        if most.is_finite() { most } else { pair.poses[k].translation().abs().max_element() }
    };
    of_body(0).max(of_body(1))
}

/// The length of a vector whose squares may be no numbers.
fn length_of(v: DVec3) -> f64 {
    let scale = safe_scale(v.abs().max_element());
    (v * scale).length() / scale
}
