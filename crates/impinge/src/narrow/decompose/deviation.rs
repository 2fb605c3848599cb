//! How far a convex part stands out of a solid: branch and bound over the part.
//!
//! The distance from the solid changes by at most the way one goes, so a box holds no point farther than
//! its centre's distance plus its half diagonal. Boxes are halved until none can beat the farthest point
//! seen by more than the resolution.

use glam::DVec3;

use crate::Pose;
use crate::model::Model;
use crate::narrow::exact::signed_distance::signed_distances;
use crate::shape::Polytope;

/// A box that may reach outside the solid.
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
    let low = part.vertices().iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = part.vertices().iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let mut cells = vec![Cell { centre: (low + high) / 2.0, half: (high - low) / 2.0 }];
    let (mut seen, mut bound) = (0.0_f64, 0.0_f64);
    while !cells.is_empty() {
        pay(cells.len())?;
        let centres: Vec<DVec3> = cells.iter().map(|cell| cell.centre).collect();
        let distances: Vec<f64> =
            signed_distances(solid, &Pose::IDENTITY, &centres).iter().map(|found| found.distance).collect();
        for (cell, &distance) in cells.iter().zip(&distances) {
            if distance > seen && part_reaches(part, cell.centre, DVec3::ZERO) {
                seen = distance;
            }
        }
        let mut next = Vec::new();
        for (cell, &distance) in cells.iter().zip(&distances) {
            let most = distance + cell.half.length();
            if most <= seen {
                continue;
            }
            if most <= seen + resolution {
                bound = bound.max(most);
                continue;
            }
            next.extend(cell.halves().into_iter().filter(|half| part_reaches(part, half.centre, half.half)));
        }
        cells = next;
    }
    Some(bound.max(seen))
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

/// Whether no face of the part has the whole box outside; a box that misses the part may pass.
fn part_reaches(part: &Polytope, centre: DVec3, half: DVec3) -> bool {
    part.faces().iter().all(|face| face.normal.dot(centre - face.corner) <= face.normal.abs().dot(half))
}
