//! Edge planes: where the surface below a facet bends sharply, slabs along other directions than the facet's normal
//! (Guy and Debunne 2004, section 7, leave "sharp edges as several attached planes" for the future).
//!
//! One disc over an edge is as thick as the edge is high. The planes of the faces that meet there touch the surface, so
//! that cylinder and slabs together hold it tightly. A slab bounds the mesh's own triangles below the facet; it is
//! found over their corners and rounded outward like the cylinder.
//!
//! **Tightness.** The *offset* of a facet is the largest distance of a point of the surface below it from the shell's
//! outer surface. Over one plane it is the largest depth of a corner below that plane; with several planes a point's
//! distance is that from the nearest, and each triangle is charged the smallest of its largest depths below one plane,
//! which is never less than the truth. Directions are added greedily: the normal of the triangle that is charged most.
//!
//! **Deforming.** Let x − g = E·w + h·n as in `deform.rs` and d the slab's direction, cₖ = d·eₖ for the two sides, so that
//! d·(x − g) = c·w + (d·n)·h. The vector d′ = E′·(E′ᵀE′)⁻¹·c + (d·n)·n′ has the same product with M(x) − g′, and a vertex that
//! is off by at most `stretch`·ρ changes it by at most `stretch`·ρ·|d′|. How far the computed d′ misses c is measured and
//! added, times the largest w, which is at most ‖R⁻¹‖·r. For a triangle that is a needle, now or at rest, there are no slabs.

use glam::DVec3;
use smallvec::SmallVec;

use super::csr::Csr;
use super::deform::sides;
use super::frame::{Frame, largest_coordinate, longest_side, pad};
use super::{Facet, Level, Shells};
use crate::Mesh;
use crate::geom::point_triangle::norm;
use crate::num::parallel;
use crate::num::tolerance::FACET_NEEDLE;

/// Slabs of a facet, at most.
pub(crate) const MOST_SLABS: usize = 6;

/// A facet whose offset is at most this part of its radius (no unit) is flat and gets no slabs.
const FLAT: f64 = 0.02;

/// Slabs are kept where they leave at most this part of the offset (no unit).
const WORTH: f64 = 0.75;

/// Cosine of the angle within which triangles count as one face.
const ONE_FACE: f64 = 0.94;

/// A slab across a direction: low ≤ (x − centre)·direction ≤ high for the facet's centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slab {
    /// A unit vector.
    pub direction: DVec3,
    /// The lower bound, from the facet's centre.
    pub low: f64,
    /// The upper bound, from the facet's centre.
    pub high: f64,
    /// The products of the direction with the two sides of the facet's triangle at rest.
    pub(super) along: [f64; 2],
}

/// The offsets of a level's facets: means and maxima (lengths).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tightness {
    /// Mean offset by the discs alone.
    pub mean_disc: f64,
    /// Largest offset by the discs alone.
    pub largest_disc: f64,
    /// Mean offset with edge planes.
    pub mean: f64,
    /// Largest offset with edge planes.
    pub largest: f64,
}

/// Attaches slabs to the facets of a level that profit from them. `leaves` has the triangles of the mesh below each.
pub(super) fn attach(level: &mut Level, leaves: &Csr, mesh: &Mesh, error: Option<&[f64]>) {
    let found = parallel::map(level.corners.len(), |f| {
        let corners = level.corners[f].map(|v| mesh.vertices()[v as usize]);
        let triangles: Vec<[DVec3; 3]> = leaves.of(f as u32).iter().map(|&t| mesh.corners(t)).collect();
        attach_to(&level.facets[f], &corners, &triangles, error.map_or(0.0, |error| error[f]))
    });
    let count = found.len().max(1) as f64;
    let mut tightness = Tightness::default();
    level.slab_starts = vec![0];
    for (offsets, slabs) in found {
        tightness.mean_disc += offsets[0] / count;
        tightness.mean += offsets[1] / count;
        tightness.largest_disc = tightness.largest_disc.max(offsets[0]);
        tightness.largest = tightness.largest.max(offsets[1]);
        level.slabs.extend(slabs);
        level.slab_starts.push(level.slabs.len() as u32);
    }
    level.tightness = tightness;
}

/// The slabs of one facet, and its offset without and with them.
fn attach_to(
    facet: &Facet,
    corners: &[DVec3; 3],
    triangles: &[[DVec3; 3]],
    error: f64,
) -> ([f64; 2], SmallVec<[Slab; MOST_SLABS]>) {
    let depth = |direction: DVec3, high: f64, t: &[DVec3; 3]| {
        high - t.iter().map(|p| (*p - facet.centre).dot(direction)).fold(f64::INFINITY, f64::min)
    };
    let mut charge: Vec<f64> = triangles.iter().map(|t| depth(facet.normal, facet.outer, t)).collect();
    let worst = |charge: &[f64]| charge.iter().copied().fold(0.0, f64::max);
    let mut offsets = vec![worst(&charge)];
    let mut slabs: SmallVec<[Slab; MOST_SLABS]> = SmallVec::new();
    let unit: Vec<Option<DVec3>> = triangles.iter().map(unit_area).collect();
    while slabs.len() < MOST_SLABS && offsets[offsets.len() - 1] > FLAT * facet.radius {
        // The triangle that is charged most and has a normal, the first of several.
        let loosest = (0..triangles.len())
            .filter(|&t| unit[t].is_some())
            .reduce(|best, t| if charge[t] > charge[best] { t } else { best });
        let Some(normal) = loosest.and_then(|t| unit[t]) else { break };
        let on_face = unit.iter().zip(triangles).filter(|(n, _)| n.is_some_and(|n| n.dot(normal) > ONE_FACE));
        let face: DVec3 = on_face.map(|(_, t)| (t[1] - t[0]).cross(t[2] - t[0])).sum();
        let charged = |direction: DVec3| {
            let slab = slab(facet, direction, corners, triangles, error);
            let charge: Vec<f64> =
                charge.iter().zip(triangles).map(|(c, t)| c.min(depth(direction, slab.high, t))).collect();
            (slab, charge)
        };
        let mut best = charged(normal);
        if let Some(mean) = face.try_normalize() {
            let other = charged(mean);
            if worst(&other.1) < worst(&best.1) {
                best = other;
            }
        }
        slabs.push(best.0);
        charge = best.1;
        offsets.push(worst(&charge));
    }
    // As few as do nearly the best.
    let tightest = offsets[offsets.len() - 1];
    let enough = offsets.iter().position(|&offset| offset <= 1.1 * tightest).unwrap_or(0);
    let kept = if tightest <= WORTH * offsets[0] && is_sound(corners) { enough } else { 0 };
    slabs.truncate(kept);
    ([offsets[0], offsets[kept]], slabs)
}

/// The unit normal of a triangle that has one.
fn unit_area(t: &[DVec3; 3]) -> Option<DVec3> {
    (t[1] - t[0]).cross(t[2] - t[0]).try_normalize()
}

/// The slab across a direction around triangles.
fn slab(facet: &Facet, direction: DVec3, corners: &[DVec3; 3], triangles: &[[DVec3; 3]], error: f64) -> Slab {
    let heights = triangles.iter().flatten().map(|p| (*p - facet.centre).dot(direction));
    let (low, high) =
        heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), h| (low.min(h), high.max(h)));
    let largest = largest_coordinate(corners).max(facet.centre.abs().max_element());
    let more = pad(facet.radius + facet.outer - facet.inner, largest) + error;
    let along = sides(corners).map(|side| side.dot(direction));
    Slab { direction, low: low - more, high: high + more, along }
}

/// Whether a triangle is no needle.
fn is_sound(corners: &[DVec3; 3]) -> bool {
    let [e1, e2] = sides(corners);
    let longest = norm(longest_side(corners));
    e1.cross(e2).length() >= FACET_NEEDLE * longest * longest && longest > 0.0
}

impl Level {
    /// The slabs of a facet at rest.
    #[inline]
    pub fn slabs(&self, i: u32) -> &[Slab] {
        match self.slab_starts.get(i as usize..i as usize + 2) {
            Some(&[start, end]) => &self.slabs[start as usize..end as usize],
            _ => &[],
        }
    }
}

impl Shells {
    /// The mean offset over all facets above level 0, by the discs alone and with edge planes (lengths).
    pub fn mean_offsets(&self) -> [f64; 2] {
        let coarse = self.levels.iter().skip(1);
        let count: f64 = coarse.clone().map(|level| level.corners.len() as f64).sum();
        let sum = coarse.fold([0.0; 2], |[disc, planes], level| {
            let facets = level.corners.len() as f64;
            [disc + facets * level.tightness.mean_disc, planes + facets * level.tightness.mean]
        });
        sum.map(|sum| if count > 0.0 { sum / count } else { 0.0 })
    }

    /// The slabs of a facet where its triangle is now, under the condition of [`Shells::facet_at`]; bounds are from
    /// the centre that it returns.
    pub fn slabs_at(
        &self,
        level: usize,
        i: u32,
        vertices: &[DVec3],
        stretch: f64,
    ) -> SmallVec<[Slab; MOST_SLABS]> {
        let level = &self.levels[level];
        let rest = level.slabs(i);
        let corners = level.corners[i as usize].map(|v| vertices[v as usize]);
        if rest.is_empty() || !is_sound(&corners) {
            return SmallVec::new();
        }
        let (facet, ride) = (&level.facets[i as usize], &level.rides[i as usize]);
        let Frame { normal, .. } = Frame::of(&corners);
        let [e1, e2] = sides(&corners);
        let (g11, g12, g22) = (e1.length_squared(), e1.dot(e2), e2.length_squared());
        let det = g11 * g22 - g12 * g12;
        let [i11, i12, i22] = ride.inverse;
        let largest_w = [i11 + i12.abs(), i22].map(|norm| norm * facet.radius);
        let moved = |slab: &Slab| {
            let [c1, c2] = slab.along;
            let in_plane = (e1 * (g22 * c1 - g12 * c2) + e2 * (g11 * c2 - g12 * c1)) / det;
            let across = slab.direction.dot(facet.normal);
            let direction = in_plane + normal * across;
            let length = direction.length();
            // What is missed: the products with the sides, and that normal and plane are not quite at right angles.
            let missed =
                (e1.dot(direction) - c1).abs() * largest_w[0] + (e2.dot(direction) - c2).abs() * largest_w[1];
            let extent = (e1.length() * largest_w[0] + e2.length() * largest_w[1] + facet.outer
                - facet.inner)
                * length;
            let more =
                missed + pad(extent, largest_coordinate(&corners) * length) + stretch * ride.reach * length;
            let [low, high] = [slab.low - more, slab.high + more].map(|bound| bound / length);
            let rounding = f64::EPSILON * low.abs().max(high.abs());
            Slab {
                direction: direction / length,
                low: low - rounding,
                high: high + rounding,
                along: slab.along,
            }
        };
        let slabs = rest.iter().map(moved);
        slabs
            .filter(|slab| slab.low.is_finite() && slab.high.is_finite() && slab.direction.is_finite())
            .collect()
    }
}
