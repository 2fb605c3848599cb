//! One pair of parts: whether and how they clash.

use super::{Clash, ClashKind, Part};
use crate::bound::Aabb;
use crate::narrow::contacts::separate_by_guesses;
use crate::narrow::exact::relation::have_same_surface;
use crate::narrow::shape_pair::ShapePair;
use crate::query::Query;
use crate::{Error, Pose, Relation, Shape, VolumeOptions};

/// What is known of a pair of parts.
pub(super) enum Pair {
    /// They are not in each other's way.
    Clear,
    /// They clash; depth, separation and volume of parts that overlap are not measured yet.
    Clash(Clash),
    /// The budget ended before their kind was known.
    OutOfBudget,
}

/// Whether and how two parts clash.
pub(super) fn classify(
    parts: &[Part],
    pair: [usize; 2],
    clearance: f64,
    query: &mut Query<'_>,
) -> Result<Pair, Error> {
    let [a, b] = pair.map(|k| &parts[k].shape);
    let Some(relation) = query.relation(a, b)?.value else { return Ok(Pair::OutOfBudget) };
    if relation == Relation::Separated && clearance == 0.0 {
        return Ok(Pair::Clear);
    }
    let kind = match relation {
        Relation::Separated => ClashKind::Clearance,
        Relation::Touching => ClashKind::Touching,
        Relation::Intersecting if is_same(a, b) => ClashKind::Duplicate,
        Relation::Intersecting => ClashKind::Hard,
        Relation::AInsideB | Relation::BInsideA => ClashKind::Inside,
    };
    let Some(nearest) = query.distance(a, b)?.value else { return Ok(Pair::OutOfBudget) };
    if kind == ClashKind::Clearance && nearest.distance > clearance {
        return Ok(Pair::Clear);
    }
    // Signed between convex shapes.
    let gap = nearest.distance.max(0.0);
    let at = nearest.points[0].midpoint(nearest.points[1]);
    let known = (Some(0.0 - gap), Some(0.0), Aabb::around_points(&nearest.points));
    let (depth, separate, bounds) = if kind.is_serious() { (None, None, common(a, b)) } else { known };
    Ok(Pair::Clash(Clash { parts: pair, kind, gap, depth, separate, volume: None, at, bounds }))
}

/// Measures parts that overlap: volume, penetration depth and separation; of a duplicate, which is to be removed and
/// not to be moved, the volume alone. Returns whether the budget lasted.
pub(super) fn measure(parts: &[Part], clash: &mut Clash, query: &mut Query<'_>) -> Result<bool, Error> {
    if !clash.kind.is_serious() {
        return Ok(true);
    }
    let [a, b] = clash.parts.map(|k| &parts[k].shape);
    if has_volume(a) && has_volume(b) {
        let Some(found) = query.volume(a, b, VolumeOptions::default())?.value else { return Ok(false) };
        clash.volume = Some(found.volume);
        clash.at = found.regions.first().map_or(clash.at, |region| region.region.centroid);
    }
    if clash.kind == ClashKind::Duplicate {
        return Ok(true);
    }
    let Some(contacts) = query.contacts(a, b, 0.0)?.value else { return Ok(false) };
    clash.depth = Some(contacts.iter().map(|contact| contact.depth).fold(0.0, f64::max));
    let ways = contacts.iter().map(|contact| contact.normal * contact.depth);
    let still = Pose::IDENTITY;
    let placed = ShapePair::new([a.geometry(), b.geometry()], [&still, &still]);
    clash.separate = match separate_by_guesses(&placed, ways, &mut query.budget) {
        Some(way) => Some(way.length()),
        // Some shapes have no hull.
        None => query.separate(a, b)?.value.map(|apart| apart.length),
    };
    Ok(clash.separate.is_some())
}

/// What the boxes of both have in common.
fn common(a: &Shape, b: &Shape) -> Aabb {
    let [a, b] = [a, b].map(|shape| shape.bounds(&Pose::IDENTITY));
    Aabb { low: a.low.max(b.low), high: a.high.min(b.high) }
}

/// Whether the volume of an intersection with it is defined and measured: exactly, or where it overlaps itself by images.
fn has_volume(shape: &Shape) -> bool {
    shape.as_mesh().is_some() && shape.is_closed()
}

/// Whether two meshes have the same surface.
fn is_same(a: &Shape, b: &Shape) -> bool {
    let (Some(a), Some(b)) = (a.geometry().model(), b.geometry().model()) else { return false };
    have_same_surface(a, &Pose::IDENTITY, b, &Pose::IDENTITY)
}
