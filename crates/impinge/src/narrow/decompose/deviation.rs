//! How far a convex part stands out of a solid: branch and bound over the part.
//!
//! The distance from the solid changes by at most the way one goes, so a cell holds no point farther than its middle's
//! distance plus its radius. The cells are tetrahedra around a point inside the part, halved across their longest side
//! until none can beat the farthest point seen by more than the resolution. They never leave the part, so that every
//! middle counts, and a part that is all but flat takes no more of them than another.

use glam::DVec3;

use crate::Pose;
use crate::model::Model;
use crate::narrow::exact::signed_distance::signed_distances;
use crate::shape::Polytope;

/// Cells that are measured together; how many are open at a time is a few dozen times as many.
const AT_A_TIME: usize = 512;

/// A tetrahedron of the part.
#[derive(Clone, Copy)]
struct Cell([DVec3; 4]);

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
    let mut seen = 0.0_f64;
    for corners in part.vertices().chunks(AT_A_TIME) {
        seen = measured(corners)?.into_iter().fold(seen, f64::max);
    }
    let mut bound = 0.0_f64;
    let faces = (0..part.faces().len() as u32).flat_map(|face| part.fan(face));
    let mut rest = faces.map(|corners| Cell::over(part, corners));
    let mut open: Vec<Cell> = Vec::new();
    loop {
        let room = AT_A_TIME.saturating_sub(open.len());
        open.extend(rest.by_ref().take(room));
        if open.is_empty() {
            return Some(bound.max(seen));
        }
        let cells = open.split_off(open.len().saturating_sub(AT_A_TIME));
        let distances = measured(&cells.iter().map(Cell::middle).collect::<Vec<DVec3>>())?;
        seen = distances.iter().copied().fold(seen, f64::max);
        for (cell, distance) in cells.iter().zip(distances) {
            let most = distance + cell.radius();
            if most > seen + resolution {
                open.extend(cell.halves());
            } else if most > seen {
                bound = bound.max(most);
            }
        }
    }
}

impl Cell {
    /// Between the middle of the part and a triangle of its surface.
    fn over(part: &Polytope, corners: [u32; 3]) -> Cell {
        let [a, b, c] = corners.map(|v| part.vertices()[v as usize]);
        Cell([part.centre(), a, b, c])
    }

    fn middle(&self) -> DVec3 {
        self.0.iter().sum::<DVec3>() / 4.0
    }

    fn radius(&self) -> f64 {
        let middle = self.middle();
        self.0.iter().map(|corner| corner.distance(middle)).fold(0.0, f64::max)
    }

    /// Cut across its longest side.
    fn halves(&self) -> [Cell; 2] {
        let Cell(corners) = *self;
        let length = |[i, j]: [usize; 2]| corners[i].distance_squared(corners[j]);
        let sides = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let longest = sides.into_iter().fold([0, 1], |best, side| if length(side) > length(best) { side } else { best });
        let middle = corners[longest[0]].midpoint(corners[longest[1]]);
        longest.map(|moved| {
            let mut half = corners;
            half[moved] = middle;
            Cell(half)
        })
    }
}
