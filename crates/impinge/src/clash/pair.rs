//! One pair of parts: whether and how they clash.

use glam::DVec3;

use super::{Clash, ClashKind, ClashOptions, Part};
use crate::bound::Aabb;
use crate::narrow::contacts::separate_by_guesses;
use crate::narrow::exact::relation::have_same_surface;
use crate::narrow::shape_pair::ShapePair;
use crate::query::Query;
use crate::{Error, Pose, Relation, Separation, Shape, VolumeOptions};

/// The clash of two parts, if they do; `None` outside when the budget ended first.
pub(super) fn examine(
    parts: &[Part],
    pair: [usize; 2],
    options: &ClashOptions<'_>,
    query: &mut Query<'_>,
) -> Result<Option<Option<Clash>>, Error> {
    let [a, b] = pair.map(|k| &parts[k].shape);
    let clearance = options.clearance;
    let Some(relation) = query.relation(a, b)?.value else { return Ok(None) };
    if relation == Relation::Separated && clearance == 0.0 {
        return Ok(Some(None));
    }
    let kind = match relation {
        Relation::Separated => ClashKind::Clearance,
        Relation::Touching => ClashKind::Touching,
        Relation::Intersecting if is_same(a, b) => ClashKind::Duplicate,
        Relation::Intersecting => ClashKind::Hard,
        Relation::AInsideB | Relation::BInsideA => ClashKind::Inside,
    };
    let Some(nearest) = query.distance(a, b)?.value else { return Ok(None) };
    if kind == ClashKind::Clearance && nearest.distance > clearance {
        return Ok(Some(None));
    }
    // Signed between convex shapes.
    let gap = nearest.distance.max(0.0);
    let (at, bounds) = (middle(&nearest), place(&nearest));
    let mut clash = Clash {
        parts: pair,
        kind,
        gap,
        depth: Some(0.0 - gap),
        separate: Some(0.0),
        volume: None,
        at,
        bounds,
    };
    if kind.is_serious() {
        clash.bounds = common(a, b);
        (clash.depth, clash.separate) = (None, None);
    }
    if kind.is_serious() && !options.only_kinds {
        let Some(contacts) = query.contacts(a, b, 0.0)?.value else { return Ok(None) };
        clash.depth = Some(contacts.iter().map(|contact| contact.depth).fold(0.0, f64::max));
        let ways = contacts.iter().map(|contact| contact.normal * contact.depth);
        let still = Pose::IDENTITY;
        let placed = ShapePair::new([a.geometry(), b.geometry()], [&still, &still]);
        clash.separate = match separate_by_guesses(&placed, ways, &mut query.budget) {
            Some(way) => Some(way.length()),
            // Some shapes have no hull.
            None => match query.separate(a, b)?.value {
                Some(apart) => Some(apart.length),
                None => return Ok(None),
            },
        };
        if has_volume(a) && has_volume(b) {
            let Some(found) = query.volume(a, b, VolumeOptions::default())?.value else { return Ok(None) };
            clash.volume = Some(found.volume);
            clash.at = found.regions.first().map_or(clash.at, |region| region.region.centroid);
        }
    }
    Ok(Some(Some(clash)))
}

fn middle(nearest: &Separation) -> DVec3 {
    nearest.points[0].midpoint(nearest.points[1])
}

/// A box around the nearest points.
fn place(nearest: &Separation) -> Aabb {
    Aabb::around_points(&nearest.points)
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
