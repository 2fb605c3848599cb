//! Whether the parts of a compound hold a body together that none of them holds alone.
//!
//! The box of the body is halved into cells, as long as a cell may hold a point of the body outside of all parts. A ball
//! around the middle of a cell that no part enters and the body does proves that it sticks out. Cells in one part are
//! covered; those across the border of two parts never are in one, so that a size is left at which the search ends, and
//! which the answer states.

use std::collections::VecDeque;

use glam::DVec3;

use super::compound::region_of;
use crate::model::{Fact, Geometry};
use crate::narrow::convex::relation::counted_point_in;
use crate::narrow::exact::signed_distance::counted_signed_distances;
use crate::narrow::shape_pair::ShapePair;
use crate::narrow::union_point::UnionSurface;
use crate::num::tolerance::TOUCH_DOUBT;
use crate::{Budget, Counters, Pose};

/// Cells that are looked at most.
const MOST_CELLS: usize = 4096;

/// Vertices of a mesh that are tried before its cells.
const VERTICES: usize = 64;

/// How a body lies to the union of some parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cover {
    /// A point of it is proved to lie outside.
    SticksOut,
    /// No point of it is farther from the union than this.
    Within(f64),
}

/// Whether the union of a pair's first body holds all of the second; `None` when the budget ended first.
pub(super) fn cover(pair: &ShapePair<'_>, budget: &mut Budget, work: &mut Counters) -> Option<Cover> {
    let units = |work: &Counters| work.volume_tests + work.primitive_tests;
    let begun = units(work);
    let (shape, pose) = (pair.shapes[1], pair.poses[1]);
    let bounds = region_of(shape, pose);
    let half = bounds.half();
    // Parts have bounds, and so has their union.
    let (Some(union), true) = (UnionSurface::new(pair.shapes[0], pair.poses[0]), half.is_finite()) else {
        return Some(Cover::SticksOut);
    };
    let doubt =
        TOUCH_DOUBT * (bounds.low.abs().max(bounds.high.abs()) + pose.translation().abs()).max_element();
    if let Geometry::Mesh(model) = shape {
        let (vertices, triangles) = (model.mesh().vertices(), model.mesh().triangles());
        let corners = triangles.iter().step_by(triangles.len().div_ceil(VERTICES));
        for p in corners.map(|triangle| pose.apply(vertices[triangle[0] as usize])) {
            if union.nearest_part(p, work) > doubt {
                return Some(Cover::SticksOut);
            }
        }
        if ![Fact::Topology, Fact::PointTree].iter().all(|&fact| model.prepare(fact, budget)) {
            return None;
        }
    }
    let mut paid = begun;
    let mut cells = VecDeque::from([(bounds.centre(), half)]);
    let (mut seen, mut open) = (0, 0.0_f64);
    while let Some((middle, half)) = cells.pop_front() {
        if !budget.charge(units(work) - paid) {
            return None;
        }
        paid = units(work);
        let reach = half.length();
        let own = signed_distance(shape, pose, middle, work);
        if own > reach + doubt {
            continue;
        }
        let away = union.nearest_part(middle, work);
        // No part enters the ball of this radius around the middle, and the body does.
        if away > doubt && own < away - 2.0 * doubt {
            return Some(Cover::SticksOut);
        }
        if away <= -reach {
            continue;
        }
        seen += 1;
        if seen + cells.len() >= MOST_CELLS {
            open = open.max(reach + away.max(0.0));
            continue;
        }
        let half = 0.5 * half;
        let sign = |k: u32, bit: u32| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
        cells.extend((0..8).map(|k| (middle + half * DVec3::new(sign(k, 0), sign(k, 1), sign(k, 2)), half)));
    }
    Some(Cover::Within(open.max(doubt)))
}

/// To the surface of a body, negative inside a solid; of a compound no smaller than the truth.
fn signed_distance(shape: &Geometry, pose: &Pose, p: DVec3, work: &mut Counters) -> f64 {
    match shape {
        Geometry::Convex(convex) => {
            let (found, _, tests) = counted_point_in(convex, pose, p);
            work.primitive_tests += tests;
            found.distance
        }
        Geometry::Mesh(model) => {
            let (found, more) = counted_signed_distances(model, pose, &[p]);
            *work += more;
            found[0].distance
        }
        union @ (Geometry::Compound(_) | Geometry::Particles(_)) => {
            UnionSurface::new(union, pose).map_or(f64::INFINITY, |union| union.nearest_part(p, work))
        }
    }
}
