//! Which triangles have a shadow near any of the other body's: all pairs at once.
//!
//! Turned parts, threads and prisms have few different shadows: all triangles of a row around the axis, and all turns
//! of a thread, fold onto the same one. Triangles whose shadows agree to within a cell are one class, and classes are
//! compared instead of triangles, by a sweep along the first coordinate. What no class of the other body comes near
//! never meets it. Coarse cells come first, so that the rounding of a file does not tell shadows apart; where those do
//! not suffice, fine ones, for a small clearance.

use std::collections::HashMap;

use glam::DVec2;

use super::screw_shadow::{Rectangle, TriangleShadow, Wrap};
use crate::num::compact_sort::sort_rarely;

/// The cells, from coarse to fine (no unit: a factor of the bodies' distance from the axis). Coordinates of f32 agree
/// to the first, those of f64 to the second, after some dozens of operations.
const CELLS: [f64; 2] = [1.0 / (1 << 20) as f64, 1.0 / (1_u64 << 38) as f64];

/// Triangles for each class, at least, for classes to be worth comparing.
const FEWEST_IN_A_CLASS: usize = 2;

/// Pairs of rectangles that are compared for each triangle, at most; a pair of shadows counts for
/// [`SHADOW_COST`] of them.
const MOST_COMPARISONS: u64 = 128;

/// What comparing two shadows costs, in comparisons of rectangles.
const SHADOW_COST: u64 = 16;

/// For each body, which of its triangles come near the other's in the shadow; `size` is the farthest that they are
/// from the axis.
pub(super) fn near(shadows: [&[TriangleShadow]; 2], size: f64, wrap: &Wrap) -> [Vec<bool>; 2] {
    let mut near = shadows.map(|all| vec![true; all.len()]);
    let triangles = shadows[0].len() + shadows[1].len();
    for cell in CELLS.map(|cell| cell * size) {
        // Negated, so that a size that is none ends it.
        if !(cell > 0.0) {
            break;
        }
        let mut classes = [0, 1].map(|k| Classes::new(shadows[k], &near[k], cell, wrap.period));
        let left: usize = near.iter().map(|near| near.iter().filter(|&&near| near).count()).sum();
        if (classes[0].all.len() + classes[1].all.len()) * FEWEST_IN_A_CLASS > left {
            continue;
        }
        // A corner of a class is within a cell of its triangles' in both coordinates.
        let wrap = Wrap { margin: wrap.margin + 4.0 * cell, ..*wrap };
        if !compare(&mut classes, &wrap, triangles as u64 * MOST_COMPARISONS) {
            continue;
        }
        for (near, classes) in near.iter_mut().zip(&classes) {
            for (near, of) in near.iter_mut().zip(&classes.of).filter(|(near, _)| **near) {
                *near = classes.all[*of as usize].near;
            }
        }
        if near.iter().any(|near| !near.contains(&true)) {
            return shadows.map(|all| vec![false; all.len()]);
        }
    }
    near
}

/// Triangles of nearly equal shadows.
struct Class {
    shadow: TriangleShadow,
    bounds: Rectangle,
    near: bool,
}

/// The classes of a body's triangles.
struct Classes {
    all: Vec<Class>,
    /// The class of each triangle; of those that are left out, any.
    of: Vec<u32>,
}

impl Classes {
    fn new(shadows: &[TriangleShadow], wanted: &[bool], cell: f64, period: f64) -> Classes {
        let mut numbers: HashMap<[[i64; 2]; 3], u32> = HashMap::new();
        let mut all: Vec<Class> = Vec::new();
        let number = |(shadow, wanted): (&TriangleShadow, &bool)| {
            if !wanted {
                return 0;
            }
            let mut shadow = *shadow;
            if period > 0.0 {
                let lowest = shadow.corners.iter().fold(f64::INFINITY, |low, c| low.min(c.y));
                // Half a cell lower, so that what lies on a whole turn is not torn apart by rounding.
                let turns = ((lowest + 0.5 * cell) / period).floor();
                shadow.corners = shadow.corners.map(|c| DVec2::new(c.x, c.y - turns * period));
            }
            let mut key = shadow.corners.map(|c| [c.x, c.y].map(|x| (x / cell).round() as i64));
            key.sort_unstable();
            let number = *numbers.entry(key).or_insert_with(|| {
                let bounds = shadow.bounds();
                all.push(Class { shadow, bounds, near: false });
                all.len() as u32 - 1
            });
            let class = &mut all[number as usize];
            class.shadow.less = class.shadow.less.max(shadow.less);
            class.shadow.around = class.shadow.around.max(shadow.around);
            number
        };
        let of = shadows.iter().zip(wanted).map(number).collect();
        for class in &mut all {
            class.bounds = class.shadow.bounds();
        }
        Classes { all, of }
    }
}

/// Finds the classes of each body that are near one of the other's; whether so many comparisons were enough.
fn compare(classes: &mut [Classes; 2], wrap: &Wrap, most: u64) -> bool {
    let order = [0, 1].map(|k: usize| {
        let mut order: Vec<usize> = (0..classes[k].all.len()).collect();
        let low = |i: usize| classes[k].all[i].bounds.low.x;
        sort_rarely(&mut order, |&i, &j| low(i).total_cmp(&low(j)));
        order
    });
    let mut next = [0, 0];
    // Those that may reach the next ones along the first coordinate.
    let mut open: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
    let mut compared = 0;
    loop {
        let low = [0, 1].map(|k| order[k].get(next[k]).map(|&i| classes[k].all[i].bounds.low.x));
        let side = match low {
            [None, None] => return true,
            [Some(a), Some(b)] => usize::from(b < a),
            [a, _] => usize::from(a.is_none()),
        };
        let (here, other) = (order[side][next[side]], 1 - side);
        next[side] += 1;
        let from = classes[side].all[here].bounds.low.x - wrap.margin;
        open[other].retain(|&i| classes[other].all[i].bounds.high.x >= from);
        for &there in &open[other] {
            let [a, b] = [&classes[side].all[here], &classes[other].all[there]];
            compared += 1;
            if (a.near && b.near) || wrap.apart(&a.bounds, &b.bounds) {
                continue;
            }
            compared += SHADOW_COST;
            if !wrap.never_meet(&a.shadow, &b.shadow) {
                classes[side].all[here].near = true;
                classes[other].all[there].near = true;
            }
        }
        if compared > most {
            return false;
        }
        open[side].push(here);
    }
}

#[cfg(test)]
#[path = "shadow_classes_tests.rs"]
mod tests;
