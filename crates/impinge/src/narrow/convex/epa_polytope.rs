//! How deep two polytopes are in each other: the face of their Minkowski difference a − b nearest to the
//! origin, found by growing a hull inside it towards that face (the expanding polytope of van den Bergen,
//! "Proximity queries and penetration depth computation on 3D game objects", 2001).
//!
//! The hull always grows where its plane is nearest to the origin, or farthest beyond it. Nothing may be
//! called nearest before the support mapping proves that the difference ends there; all other faces are
//! farther, so that the answer is the global minimum, not a local one.
//!
//! Where we leave the paper: the origin need not be inside at the start, so no other method has to find a
//! simplex around it, and bodies that are apart are found to be. The sides of the corners are decided
//! exactly on their doubles, so that the surface stays closed and convex in every degenerate position, and
//! corners of last frame's face are tried first.

use glam::DVec3;

use super::polytope_pair::PolytopePair;
use crate::geom::incremental_hull::{Facet, IncrementalHull};
use crate::geom::unit_normal::plane_normal;
use crate::num::predicate::{Plane, Sign};
use crate::num::tolerance::SUPPORT_ROUNDING;

/// How two polytopes lie to each other, as seen from their difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Depth {
    /// The face of the difference that is nearest to the origin or farthest on this side of it: its unit
    /// normal, from a to b in a's frame, three corners as pairs of corners, their weights in the point
    /// nearest to the origin's foot, and whether the bodies are apart along the normal.
    Face { normal: DVec3, corners: [[u32; 2]; 3], weights: [f64; 3], apart: bool },
    /// The difference has no volume.
    Flat,
}

/// A corner of the difference: one corner of each body.
#[derive(Debug, Clone, Copy)]
struct Corner {
    at: DVec3,
    of: [u32; 2],
    /// The largest coordinate that went into it: what its rounding is measured by.
    size: f64,
}

/// The growing hull; its arrays are kept between queries.
#[derive(Debug, Clone, Default)]
pub(super) struct EpaPolytope {
    corners: Vec<Corner>,
    /// Facets with their planes and unit normals.
    surface: IncrementalHull<(Plane, DVec3)>,
    /// The distance of each facet's plane from the origin, infinite for facets that are gone.
    offsets: Vec<f64>,
}

impl EpaPolytope {
    /// Grows the difference of the two bodies of a view; `seeds` are pairs of corners to begin with.
    pub fn run(&mut self, view: &PolytopePair<'_>, seeds: &[[u32; 2]], steps: &mut u64) -> Depth {
        let Some(base) = self.begin(view, seeds) else { return Depth::Flat };
        self.tetrahedron(base);
        // The hull of the seeds may hold more than the first tetrahedron does.
        for corner in (0..self.corners.len() as u32).filter(|c| !base.contains(c)) {
            let at = self.corners[corner as usize].at;
            if let Some(seen) = self.surface.facets().iter().position(|f| f.alive && sees(f, at)) {
                self.insert(seen, corner);
            }
        }
        loop {
            *steps += 1;
            let nearest = lowest(&self.offsets);
            let (facet, offset) = (&self.surface.facets()[nearest], self.offsets[nearest]);
            let normal = facet.own.1;
            let corner = self.support(view, normal, facet.corners[0]);
            let beyond = normal.dot(corner.at) - offset;
            let rounding = SUPPORT_ROUNDING * self.size(nearest).max(corner.size);
            if beyond > rounding && sees(facet, corner.at) {
                self.corners.push(corner);
                self.insert(nearest, self.corners.len() as u32 - 1);
            } else {
                let apart = offset + beyond.max(0.0) < 0.0;
                let (holds_foot, weights) = self.under_origin(nearest);
                let facet = &self.surface.facets()[holds_foot];
                let corners = facet.corners.map(|c| self.corners[c as usize].of);
                return Depth::Face { normal, corners, weights, apart };
            }
        }
    }

    /// The corner of the difference that is farthest in a direction, climbing from a known one.
    fn support(&self, view: &PolytopePair<'_>, direction: DVec3, from: u32) -> Corner {
        let from = self.corners.get(from as usize).map_or([0, 0], |c| c.of);
        let of = [view.own.support(direction, from[0]), view.other.support(view.back(-direction), from[1])];
        corner(view, of)
    }

    /// Four corners that span a volume, the seeds and their extremes first.
    fn begin(&mut self, view: &PolytopePair<'_>, seeds: &[[u32; 2]]) -> Option<[u32; 4]> {
        self.corners.clear();
        for &of in seeds {
            let fits = (of[0] as usize) < view.own.vertices().len()
                && (of[1] as usize) < view.other.vertices().len();
            if fits {
                self.add(corner(view, of));
            }
        }
        let middle = view.own.centre() - view.place(view.other.centre());
        let towards = if middle.length_squared() > 0.0 { -middle } else { DVec3::X };
        let [forth, back] = [towards, -towards].map(|d| self.support(view, d, 0));
        let mut first = self.add(forth);
        let mut second = self.add(back);
        // A direction across which the difference is flat tells nothing; one of the axes then does.
        for axis in DVec3::AXES {
            if self.at(first) != self.at(second) {
                break;
            }
            first = self.add(self.support(view, axis, first));
            second = self.add(self.support(view, -axis, first));
        }
        let along = self.at(second) - self.at(first);
        if along == DVec3::ZERO {
            return None;
        }
        let (u, v) = (along / along.abs().max_element()).normalize().any_orthonormal_pair();
        let third = [u, -u, v, -v].into_iter().find_map(|d| {
            let corner = self.support(view, d, first);
            (!on_line(self.at(first), self.at(second), corner.at)).then(|| self.add(corner))
        })?;
        let plane = Plane::through(self.at(first), self.at(second), self.at(third));
        let across = plane.normal();
        let normal = across / across.abs().max_element().max(f64::MIN_POSITIVE);
        let apex = [normal, -normal].into_iter().find_map(|d| {
            let corner = self.support(view, d, first);
            (!plane.side(corner.at).is_zero()).then(|| self.add(corner))
        })?;
        Some(match plane.side(self.at(apex)) {
            Sign::Positive => [first, third, second, apex],
            _ => [first, second, third, apex],
        })
    }

    fn at(&self, corner: u32) -> DVec3 {
        self.corners[corner as usize].at
    }

    fn size(&self, facet: usize) -> f64 {
        self.surface.facets()[facet]
            .corners
            .iter()
            .map(|&c| self.corners[c as usize].size)
            .fold(0.0, f64::max)
    }

    fn add(&mut self, corner: Corner) -> u32 {
        if let Some(known) = self.corners.iter().position(|c| c.of == corner.of) {
            return known as u32;
        }
        self.corners.push(corner);
        self.corners.len() as u32 - 1
    }

    fn tetrahedron(&mut self, [a, b, c, apex]: [u32; 4]) {
        self.offsets.clear();
        let EpaPolytope { corners, surface, offsets } = self;
        surface.begin([a, b, c], apex, |of| facet(corners, offsets, of));
    }

    /// Replaces what a corner sees, from one facet on, by triangles to it.
    fn insert(&mut self, seen: usize, corner: u32) {
        let at = self.at(corner);
        let EpaPolytope { corners, surface, offsets } = self;
        surface.add(seen as u32, corner, |f| sees(f, at), |of| facet(corners, offsets, of));
        for &gone in surface.gone() {
            offsets[gone as usize] = f64::INFINITY;
        }
    }

    /// The facet in the plane of the nearest one that holds the origin's foot, and the weights of its
    /// corners there.
    fn under_origin(&self, nearest: usize) -> (usize, [f64; 3]) {
        let facets = self.surface.facets();
        let normal = facets[nearest].own.1;
        let foot = normal * self.offsets[nearest];
        let least = |weights: &[f64; 3]| weights.iter().copied().fold(f64::INFINITY, f64::min);
        let mut best = (nearest, self.weights(nearest, foot, normal));
        if least(&best.1) < 0.0 {
            // A face of the difference may be several facets; one of them has the foot.
            for f in (0..facets.len()).filter(|&f| facets[f].alive) {
                let rounding = SUPPORT_ROUNDING * self.size(nearest).max(self.size(f));
                let below = |c: &u32| self.offsets[nearest] - normal.dot(self.at(*c)) > rounding;
                let weights = self.weights(f, foot, normal);
                if least(&weights) > least(&best.1) && !facets[f].corners.iter().any(below) {
                    best = (f, weights);
                }
            }
        }
        let clamped = best.1.map(|w| w.max(0.0));
        let whole: f64 = clamped.iter().sum();
        (best.0, if whole > 0.0 { clamped.map(|w| w / whole) } else { [1.0, 0.0, 0.0] })
    }

    /// The weights of a facet's corners at a point of its plane, by areas seen along a normal.
    fn weights(&self, facet: usize, point: DVec3, normal: DVec3) -> [f64; 3] {
        let [p, q, r] = self.surface.facets()[facet].corners.map(|c| self.at(c) - point);
        let areas = [q.cross(r).dot(normal), r.cross(p).dot(normal), p.cross(q).dot(normal)];
        let whole: f64 = areas.iter().sum();
        areas.map(|area| area / whole)
    }
}

/// Whether a facet has a point strictly above it.
#[inline]
fn sees(facet: &Facet<(Plane, DVec3)>, at: DVec3) -> bool {
    facet.own.0.side(at) == Sign::Positive
}

/// Makes a facet, and notes its offset.
#[inline]
fn facet(corners: &[Corner], offsets: &mut Vec<f64>, of: [u32; 3]) -> (Plane, DVec3) {
    let [p, q, r] = of.map(|c| corners[c as usize].at);
    let plane = Plane::through(p, q, r);
    let normal = plane_normal(&plane);
    offsets.push(normal.dot(p).max(normal.dot(q)).max(normal.dot(r)));
    (plane, normal)
}

fn corner(view: &PolytopePair<'_>, of: [u32; 2]) -> Corner {
    let (p, q) = (view.own.vertices()[of[0] as usize], view.corner(of[1]));
    Corner { at: p - q, of, size: p.abs().max(q.abs()).max_element() }
}

fn on_line(a: DVec3, b: DVec3, c: DVec3) -> bool {
    use crate::num::predicate::{drop_axis, orient2d};
    (0..3).all(|axis| orient2d(drop_axis(a, axis), drop_axis(b, axis), drop_axis(c, axis)).is_zero())
}

fn lowest(offsets: &[f64]) -> usize {
    let mut best = 0;
    for (i, &offset) in offsets.iter().enumerate() {
        if offset < offsets[best] {
            best = i;
        }
    }
    best
}
