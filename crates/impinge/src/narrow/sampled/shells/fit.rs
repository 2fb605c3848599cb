//! The cylinder of a facet, fitted to what lies below it.

use glam::DVec3;

use super::csr::Csr;
use super::deform::Ride;
use super::frame::{Frame, largest_coordinate, pad};
use super::{Facet, Level, Shells};
use crate::geom::point_triangle::norm;
use crate::num::parallel;

impl Shells {
    /// For each facet of each level the vertices of its own triangle and of all its descendants' triangles,
    /// ascending.
    pub(super) fn all_below(&self) -> Vec<Csr> {
        let mut all: Vec<Csr> = Vec::new();
        for level in &self.levels {
            let finer = all.last();
            let lists = parallel::map(level.corners.len(), |f| {
                let mut list = level.corners[f].to_vec();
                let below_child = |&child: &u32| finer.map_or(&[][..], |finer| finer.of(child));
                list.extend(level.children.of(f as u32).iter().flat_map(below_child));
                list.sort_unstable();
                list.dedup();
                list
            });
            all.push(Csr::from_lists(&lists));
        }
        all
    }

    /// The triangles of the mesh below each facet of each level.
    pub(super) fn all_leaves(&self) -> Vec<Csr> {
        let mut above: Vec<u32> = (0..self.levels[0].corners.len() as u32).collect();
        let mut all = Vec::new();
        for level in &self.levels {
            all.push(Csr::by_owner(&above, level.corners.len()));
            above.iter_mut().for_each(|a| *a = level.parent.get(*a as usize).copied().unwrap_or(0));
        }
        all
    }
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
