//! How far a convex part stands out of a solid: branch and bound over the part.
//!
//! The distance from the solid changes by at most the way one goes, and the nearest points of a convex part to two
//! points are no farther apart than these. So a box holds no point of the part that is farther from the solid than
//! the part's point nearest to the middle of the box, plus half its diagonal. Boxes are halved until none can beat the
//! farthest point seen by more than the resolution. Every point that is measured belongs to the part and every box is
//! near it, so that thin parts take fewer boxes than thick ones.

use std::sync::Arc;

use glam::DVec3;

use super::{HEIGHTS_FOR_A_UNIT, bounds};
use crate::model::{Fact, Model};
use crate::narrow::convex::separation::{ConvexMemory, distance_by_supports};
use crate::narrow::exact::signed_distance::counted_signed_distances;
use crate::num::parallel;
use crate::shape::{Convex, Polytope, Primitive};
use crate::{Counters, Pose};

/// Boxes that are measured together; how many are open at a time is a few dozen times as many.
const AT_A_TIME: usize = 64;

/// Those of them that one thread measures.
const ON_A_THREAD: usize = 16;

/// A box around some of the part.
#[derive(Clone, Copy)]
struct Cell {
    centre: DVec3,
    half: DVec3,
}

/// A length, at least `known`, that no point of the part with these corners is farther from the solid than; above the
/// smallest such length by at most `resolution`. `pay` is asked for the units of every so many points; `None` where it
/// refuses.
pub(super) fn deviation(
    corners: &[DVec3],
    solid: &Model,
    resolution: f64,
    known: f64,
    mut pay: impl FnMut(usize) -> Option<()>,
) -> Option<f64> {
    // A bound that is known already needs no point that reaches it.
    let (mut seen, mut bound) = ((known - resolution).max(0.0), known);
    for some in corners.chunks(AT_A_TIME) {
        pay(some.len())?;
        let (found, work) = counted_signed_distances(solid, &Pose::IDENTITY, some);
        pay(tests(&work))?;
        seen = found.iter().map(|found| found.distance).fold(seen, f64::max);
    }
    // A hull has twice as many triangles as corners. Its features are not kept.
    pay(2 * corners.len() * Fact::Hull.units_per_triangle() as usize)?;
    let part = Arc::new(Polytope::of_points(corners));
    let hull = Convex::Polytope(Arc::new(part.clone().into()));
    let [low, high] = bounds(corners.iter().copied());
    // The faces are asked one after the other whether a point is inside.
    let each = 1 + part.faces().len().div_ceil(HEIGHTS_FOR_A_UNIT);
    let mut open = vec![Cell { centre: low.midpoint(high), half: (high - low) / 2.0 }];
    while !open.is_empty() {
        let cells = open.split_off(open.len().saturating_sub(AT_A_TIME));
        pay(cells.len() * each)?;
        let chunks: Vec<&[Cell]> = cells.chunks(ON_A_THREAD).collect();
        let found = parallel::map(chunks.len(), |k| measured(&part, &hull, solid, chunks[k]));
        pay(found.iter().map(|(_, work)| tests(work)).sum())?;
        let found = || found.iter().flat_map(|(found, _)| found);
        seen = found().map(|&(_, distance)| distance).fold(seen, f64::max);
        for &(cell, distance) in found() {
            let most = distance + cell.half.length();
            if most > seen + resolution {
                open.extend(cell.halves());
            } else if most > seen {
                bound = bound.max(most);
            }
        }
    }
    Some(bound.max(seen))
}

/// What the units of a search are.
fn tests(work: &Counters) -> usize {
    (work.volume_tests + work.primitive_tests) as usize
}

/// The boxes that the part comes near to, each with the distance from the solid of the part's point nearest to its
/// middle, and what the distances cost.
fn measured(part: &Polytope, hull: &Convex, solid: &Model, cells: &[Cell]) -> (Vec<(Cell, f64)>, Counters) {
    let nearest = cells.iter().map(|&cell| (cell, nearest_of(part, hull, cell.centre)));
    // The part does not come as near to others as they are large.
    let (near, points): (Vec<Cell>, Vec<DVec3>) =
        nearest.filter(|(cell, point)| point.distance(cell.centre) <= cell.half.length()).unzip();
    let (found, work) = counted_signed_distances(solid, &Pose::IDENTITY, &points);
    (near.into_iter().zip(found).map(|(cell, found)| (cell, found.distance)).collect(), work)
}

/// The point of the part that is nearest to a point.
fn nearest_of(part: &Polytope, hull: &Convex, point: DVec3) -> DVec3 {
    if part.faces().iter().all(|face| face.normal.dot(point - face.corner) <= 0.0) {
        return point;
    }
    let dot = Convex::Primitive(Primitive::Segment { ends: [DVec3::ZERO; 2] });
    let (here, there) = (Pose::IDENTITY, Pose::shift(point));
    let (found, _) = distance_by_supports(hull, &here, &dot, &there, &mut ConvexMemory::default());
    // Within the rounding of its faces, or beside it.
    if found.distance > 0.0 { found.points[0] } else { point }
}

impl Cell {
    /// Cut across its longest side.
    fn halves(&self) -> [Cell; 2] {
        let axis = self.half.max_position();
        let mut half = self.half;
        half[axis] /= 2.0;
        let mut step = DVec3::ZERO;
        step[axis] = half[axis];
        [Cell { centre: self.centre - step, half }, Cell { centre: self.centre + step, half }]
    }
}
