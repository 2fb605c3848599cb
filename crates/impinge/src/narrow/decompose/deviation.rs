//! How far a convex part stands out of a solid: branch and bound over the part.
//!
//! The distance from the solid changes by at most the way one goes, and the nearest points of a convex part to two
//! points are no farther apart than these. So a box holds no point of the part that is farther from the solid than
//! the part's point nearest to the middle of the box, plus half its diagonal. Boxes are halved until none can beat the
//! farthest point seen by more than the resolution. Every point that is measured belongs to the part and every box is
//! near it, so that thin parts take fewer boxes than thick ones.

use std::sync::Arc;

use glam::DVec3;

use crate::Pose;
use crate::model::Model;
use crate::narrow::convex::separation::{ConvexMemory, distance_by_supports};
use crate::narrow::exact::signed_distance::signed_distances;
use crate::shape::{Convex, Polytope, Primitive};

/// Boxes that are measured together; how many are open at a time is a few dozen times as many.
const AT_A_TIME: usize = 512;

/// A box around some of the part.
#[derive(Clone, Copy)]
struct Cell {
    centre: DVec3,
    half: DVec3,
}

/// A length that no point of the part is farther from the solid than; above the smallest such length by at
/// most `resolution`. `pay` is asked for every so many points; `None` where it refuses.
pub(super) fn deviation(
    part: &Polytope,
    solid: &Model,
    resolution: f64,
    mut pay: impl FnMut(usize) -> Option<()>,
) -> Option<f64> {
    let mut measured = |points: &[DVec3]| -> Option<Vec<f64>> {
        pay(points.len())?;
        let found = signed_distances(solid, &Pose::IDENTITY, points);
        Some(found.iter().map(|found| found.distance).collect())
    };
    let (mut seen, mut bound) = (0.0_f64, 0.0_f64);
    for corners in part.vertices().chunks(AT_A_TIME) {
        seen = measured(corners)?.into_iter().fold(seen, f64::max);
    }
    let hull = Convex::Polytope(Arc::new(part.clone()));
    let low = part.vertices().iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = part.vertices().iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let mut open = vec![Cell { centre: low.midpoint(high), half: (high - low) / 2.0 }];
    while !open.is_empty() {
        let mut cells = open.split_off(open.len().saturating_sub(AT_A_TIME));
        let mut points = Vec::with_capacity(cells.len());
        cells.retain(|cell| {
            let point = nearest_of(part, &hull, cell.centre);
            // The part does not come as near as the box is large.
            let misses = point.distance(cell.centre) > cell.half.length();
            if !misses {
                points.push(point);
            }
            !misses
        });
        let distances = measured(&points)?;
        seen = distances.iter().copied().fold(seen, f64::max);
        for (cell, distance) in cells.iter().zip(distances) {
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
