//! The cylinder of a facet, fitted to what lies below it.

use glam::DVec3;

use super::csr::Csr;
use super::deform::Ride;
use super::frame::{Frame, largest_coordinate, pad};
use super::{Facet, Level};
use crate::geom::point_triangle::norm;
use crate::num::parallel;

/// For each facet of a level the vertices of its own triangle and of all its descendants' triangles,
/// ascending.
pub(super) fn vertices_below(corners: &[[u32; 3]], children: &Csr, finer: Option<&Csr>) -> Csr {
    let lists = parallel::map(corners.len(), |f| {
        let mut all = corners[f].to_vec();
        if let Some(finer) = finer {
            all.extend(children.of(f as u32).iter().flat_map(|&child| finer.of(child)));
        }
        all.sort_unstable();
        all.dedup();
        all
    });
    Csr::from_lists(&lists)
}

/// Fits the cylinders of a level to the vertices below each facet, grown by `error` (a length for each
/// facet).
pub(super) fn fit(level: &mut Level, below: &Csr, vertices: &[DVec3], error: Option<&[f64]>) {
    let fitted = parallel::map(level.corners.len(), |f| {
        let corners = level.corners[f].map(|v| vertices[v as usize]);
        let points = below.of(f as u32).iter().map(|&v| vertices[v as usize]);
        fit_facet(&corners, points, error.map_or(0.0, |error| error[f]))
    });
    (level.facets, level.rides) = fitted.into_iter().unzip();
}

/// The cylinder about a triangle's axis around points, and how it rides on the triangle.
fn fit_facet(corners: &[DVec3; 3], points: impl Iterator<Item = DVec3>, error: f64) -> (Facet, Ride) {
    let Frame { centre, normal } = Frame::of(corners);
    let (mut radius, mut inner, mut outer, mut reach) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    let mut largest = largest_coordinate(corners);
    for p in points {
        let arm = p - centre;
        let height = arm.dot(normal);
        radius = radius.max(norm(arm - normal * height));
        (inner, outer) = (inner.min(height), outer.max(height));
        reach = reach.max(corners.iter().map(|c| norm(p - *c)).fold(f64::INFINITY, f64::min));
        largest = largest.max(p.abs().max_element());
    }
    let more = pad(radius + outer - inner, largest) + error;
    let facet = Facet { centre, normal, radius: radius + more, inner: inner - more, outer: outer + more };
    (facet, Ride::of(corners, reach))
}
