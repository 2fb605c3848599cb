//! Edge planes: where the surface below a facet bends sharply, a slab for each of its faces
//! (Guy and Debunne 2004, section 7, leave "sharp edges as several attached planes" for the future).
//!
//! One disc over an edge is as thick as the edge is high, whether it is convex or concave. Here the mesh's
//! triangles below the facet are dealt to a few planes, and each plane has a slab around its triangles.
//! **Claim.** Each of these triangles lies in the cylinder and in at least one slab: what separates something
//! from every slab within the cylinder separates it from the surface. *Proof:* a slab's bounds are taken over
//! all corners of its triangles and rounded outward like those of the cylinder; a slab is convex.
//!
//! The planes are found as by Cohen-Steiner, Alliez and Desbrun (Variational Shape Approximation, 2004), with
//! the largest distance of a corner as the error: the triangle farthest from its plane founds a new one, all
//! triangles go to the plane they are nearest to, planes are fitted to their triangles anew.
//!
//! **Tightness.** The *offset* of a facet is the largest distance of a point of the surface below it from the
//! shell's outer surface: by the disc alone the largest depth of a corner below the disc's outer side, with
//! slabs the thickness of the thickest.
//!
//! **Deforming.** Let x − g = E·w + h·n as in `deform.rs` and d the slab's direction, cₖ = d·eₖ for the two
//! sides, so that d·(x − g) = c·w + (d·n)·h. The vector d′ = E′·(E′ᵀE′)⁻¹·c + (d·n)·n′ has the same product
//! with M(x) − g′, and a vertex that is off by at most `stretch`·ρ changes it by at most `stretch`·ρ·|d′|.
//! How far the computed d′ misses c is measured and added, times the largest w, which is at most ‖R⁻¹‖·r. For
//! a triangle that is a needle, now or at rest, there are no slabs.

use glam::DVec3;
use smallvec::SmallVec;

use super::csr::Csr;
use super::deform::{Ride, sides};
use super::frame::{Frame, largest_coordinate, longest_side, pad};
use super::simplify::area_vector;
use super::{Facet, Level, Shells};
use crate::Mesh;
use crate::geom::point_triangle::norm;
use crate::num::parallel;
use crate::num::tolerance::{FACET_NEEDLE, ROUND_UP};

/// Slabs of a facet, at most.
pub(crate) const MOST_SLABS: usize = 4;

/// A facet whose offset is at most this part of its radius (no unit) is flat and gets no slabs.
const FLAT: f64 = 0.02;

/// Slabs are kept where they leave at most this part of the offset (no unit).
const WORTH: f64 = 0.6;

/// One slab more has to leave at most this part of the offset (no unit).
const WORTH_ONE_MORE: f64 = 0.9;

/// Triangles, at most, that the planes of a facet are found by.
const SAMPLE: usize = 64;

/// How often planes are fitted and triangles dealt to them anew.
const ROUNDS: usize = 2;

/// A slab across a direction, around some of the triangles below a facet: low ≤ (x − centre)·direction ≤ high
/// for the facet's centre.
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

/// Attaches slabs to the facets of a level that profit from them. `leaves` has the triangles of the mesh
/// below each.
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
    let depth = |p: &DVec3| facet.outer - (*p - facet.centre).dot(facet.normal);
    let by_disc = triangles.iter().flatten().map(depth).fold(0.0, f64::max);
    if by_disc <= FLAT * facet.radius || !is_sound(corners) {
        return ([by_disc; 2], SmallVec::new());
    }
    let planes = planes(facet, triangles, by_disc);
    let mut groups = Groups::new(triangles.iter().collect());
    groups.deal(&planes);
    let slabs = groups.slabs(facet, corners, &planes, error);
    let offset = slabs.iter().map(|slab| slab.high - slab.low).fold(0.0, f64::max);
    if offset <= WORTH * by_disc { ([by_disc, offset], slabs) } else { ([by_disc; 2], SmallVec::new()) }
}

/// Planes that a sample of triangles lies near to: as few as do nearly as well as more.
fn planes(facet: &Facet, triangles: &[[DVec3; 3]], by_disc: f64) -> SmallVec<[Plane; MOST_SLABS]> {
    let stride = triangles.len().div_ceil(SAMPLE).max(1);
    let mut groups = Groups::new(triangles.iter().step_by(stride).collect());
    let area: Vec<DVec3> = groups.triangles.iter().map(|t| area_vector(**t)).collect();
    let mut planes: SmallVec<[Plane; MOST_SLABS]> = SmallVec::new();
    planes.push(Plane { normal: facet.normal, point: facet.centre });
    groups.deal(&planes);
    let mut best = (by_disc, planes.clone());
    while planes.len() < MOST_SLABS {
        let normal = area[groups.worst].try_normalize().unwrap_or(facet.normal);
        planes.push(Plane { normal, point: groups.triangles[groups.worst][0] });
        groups.deal(&planes);
        for _ in 0..ROUNDS {
            groups.refit(&area, &mut planes);
            groups.deal(&planes);
        }
        let extents = groups.extents(&planes, facet.centre);
        let offset = extents.iter().map(|(low, high)| high - low).fold(0.0, f64::max);
        if offset <= WORTH_ONE_MORE * best.0 {
            best = (offset, planes.clone());
        }
    }
    best.1
}

/// A plane that triangles are dealt to.
#[derive(Debug, Clone, Copy)]
struct Plane {
    normal: DVec3,
    point: DVec3,
}

impl Plane {
    /// The largest distance of a corner from it.
    fn off(&self, t: &[DVec3; 3]) -> f64 {
        t.iter().map(|p| (*p - self.point).dot(self.normal).abs()).fold(0.0, f64::max)
    }
}

/// Triangles, each with its plane.
struct Groups<'t> {
    triangles: Vec<&'t [DVec3; 3]>,
    of: Vec<u8>,
    /// The triangle farthest from its plane.
    worst: usize,
}

impl<'t> Groups<'t> {
    fn new(triangles: Vec<&'t [DVec3; 3]>) -> Groups<'t> {
        Groups { of: vec![0; triangles.len()], triangles, worst: 0 }
    }

    /// Deals each triangle to the plane it is nearest to, the first of several.
    fn deal(&mut self, planes: &[Plane]) {
        let mut farthest = f64::NEG_INFINITY;
        for (i, (t, of)) in self.triangles.iter().zip(&mut self.of).enumerate() {
            let mut least = f64::INFINITY;
            for (k, plane) in planes.iter().enumerate() {
                let off = plane.off(t);
                if off < least {
                    (least, *of) = (off, k as u8);
                }
            }
            if least > farthest {
                (farthest, self.worst) = (least, i);
            }
        }
    }

    /// Fits each plane to its triangles: the mean normal by area, midway between the farthest corners.
    fn refit(&self, area: &[DVec3], planes: &mut [Plane]) {
        let mut sums = [DVec3::ZERO; MOST_SLABS];
        for (area, of) in area.iter().zip(&self.of) {
            sums[usize::from(*of)] += *area;
        }
        for (plane, sum) in planes.iter_mut().zip(sums) {
            plane.normal = sum.try_normalize().unwrap_or(plane.normal);
        }
        let over = planes[0].point;
        let extents = self.extents(planes, over);
        for (plane, (low, high)) in planes.iter_mut().zip(extents).filter(|(_, (low, high))| low <= high) {
            plane.point = over + plane.normal * (0.5 * (low + high));
        }
    }

    /// For each plane the least and the largest height of its triangles' corners over a point; infinite where
    /// it has none.
    fn extents(&self, planes: &[Plane], over: DVec3) -> SmallVec<[(f64, f64); MOST_SLABS]> {
        let mut extents: SmallVec<[(f64, f64); MOST_SLABS]> =
            planes.iter().map(|_| (f64::INFINITY, f64::NEG_INFINITY)).collect();
        for (t, of) in self.triangles.iter().zip(&self.of) {
            let (low, high) = &mut extents[usize::from(*of)];
            for p in *t {
                let height = (*p - over).dot(planes[usize::from(*of)].normal);
                (*low, *high) = (low.min(height), high.max(height));
            }
        }
        extents
    }

    /// The slabs around the triangles of each plane that has any.
    fn slabs(
        &self,
        facet: &Facet,
        corners: &[DVec3; 3],
        planes: &[Plane],
        error: f64,
    ) -> SmallVec<[Slab; MOST_SLABS]> {
        let more = pad(facet.radius + facet.outer - facet.inner, largest_coordinate(corners)) + error;
        let extents = self.extents(planes, facet.centre);
        let slab = |(plane, (low, high)): (&Plane, (f64, f64))| {
            let direction = plane.normal;
            let along = sides(corners).map(|side| side.dot(direction));
            Slab { direction, low: low - more, high: high + more, along }
        };
        planes.iter().zip(extents).filter(|(_, (low, high))| low <= high).map(slab).collect()
    }
}

/// Whether a triangle is no needle.
fn is_sound(corners: &[DVec3; 3]) -> bool {
    let [e1, e2] = sides(corners);
    let longest = norm(longest_side(corners));
    e1.cross(e2).length() >= FACET_NEEDLE * longest * longest && longest > 0.0
}

impl Level {
    /// The slabs of a facet at rest: with any, each triangle of the mesh below it lies in one of them at
    /// least.
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

    /// The slabs of a facet where its triangle is now, under the condition of [`Shells::facet_at`]; bounds
    /// are from the centre that it returns.
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
        let ride = &level.rides[i as usize];
        let riding = Riding::new(&level.facets[i as usize], ride, &corners);
        let slabs: SmallVec<[Slab; MOST_SLABS]> =
            rest.iter().map(|slab| riding.slab(slab, stretch * ride.reach)).collect();
        let is_sound =
            |slab: &Slab| slab.low.is_finite() && slab.high.is_finite() && slab.direction.is_finite();
        if slabs.iter().all(is_sound) { slabs } else { SmallVec::new() }
    }
}

/// A facet's triangle where it is now, to carry slabs along.
struct Riding<'f> {
    facet: &'f Facet,
    normal: DVec3,
    sides: [DVec3; 2],
    /// E′ᵀE′: 11, 12, 22.
    gram: [f64; 3],
    /// The largest w of what lies below the facet.
    largest_w: [f64; 2],
    largest: f64,
}

impl<'f> Riding<'f> {
    fn new(facet: &'f Facet, ride: &Ride, corners: &[DVec3; 3]) -> Riding<'f> {
        let sides @ [e1, e2] = sides(corners);
        let [i11, i12, i22] = ride.inverse;
        Riding {
            facet,
            normal: Frame::of(corners).normal,
            sides,
            gram: [e1.length_squared(), e1.dot(e2), e2.length_squared()],
            largest_w: [i11 + i12.abs(), i22].map(|norm| norm * facet.radius),
            largest: largest_coordinate(corners),
        }
    }

    /// d′ of a slab.
    fn direction(&self, slab: &Slab) -> DVec3 {
        let ([e1, e2], [g11, g12, g22], [c1, c2]) = (self.sides, self.gram, slab.along);
        let in_plane = (e1 * (g22 * c1 - g12 * c2) + e2 * (g11 * c2 - g12 * c1)) / (g11 * g22 - g12 * g12);
        in_plane + self.normal * slab.direction.dot(self.facet.normal)
    }

    /// A slab now, around vertices that are off by at most a length.
    fn slab(&self, slab: &Slab, off: f64) -> Slab {
        let direction = self.direction(slab);
        let length = direction.length();
        // What is missed: the products with the sides; and normal and plane are not quite at right angles.
        let products = self.sides.iter().zip(slab.along).zip(self.largest_w);
        let missed: f64 = products.map(|((side, along), w)| (side.dot(direction) - along).abs() * w).sum();
        let [w1, w2] = self.largest_w;
        let in_plane = self.sides[0].length() * w1 + self.sides[1].length() * w2;
        let extent = (in_plane + self.facet.outer - self.facet.inner) * length;
        let more = missed + pad(extent, self.largest * length) + off * length;
        let [low, high] = [slab.low - more, slab.high + more].map(|bound| bound / length);
        let rounding = f64::EPSILON * low.abs().max(high.abs());
        Slab { direction: direction / length, low: low - rounding, high: high + rounding, along: slab.along }
    }
}

/// How far a triangle reaches out of a slab about a centre; not positive where it lies within.
pub(super) fn outside(slab: &Slab, centre: DVec3, t: &[DVec3; 3]) -> f64 {
    let heights = t.map(|p| (p - centre).dot(slab.direction));
    heights.into_iter().map(|h| (h - slab.high).max(slab.low - h)).fold(f64::NEG_INFINITY, f64::max)
}

/// Widens the slabs of a facet until each of the triangles below it, where they are now, lies in one, and by
/// more than `slack` (a length) within it.
pub(super) fn widen(
    slabs: &mut [Slab],
    facet: &Facet,
    ride: &Ride,
    corners: &[DVec3; 3],
    triangles: impl Iterator<Item = [DVec3; 3]>,
    slack: f64,
) {
    if slabs.is_empty() || !is_sound(corners) {
        return;
    }
    let centre = Frame::of(corners).centre;
    let riding = Riding::new(facet, ride, corners);
    for t in triangles {
        let out: SmallVec<[f64; MOST_SLABS]> =
            slabs.iter().map(|slab| outside(&riding.slab(slab, 0.0), centre, &t)).collect();
        let nearest = (0..out.len()).reduce(|best, k| if out[k] < out[best] { k } else { best });
        if let Some(k) = nearest.filter(|&k| out[k] > -slack) {
            // In the slab's own units, which are those of its direction at rest.
            let more = (out[k] + 2.0 * slack) * riding.direction(&slabs[k]).length() * ROUND_UP;
            (slabs[k].low, slabs[k].high) = (slabs[k].low - more, slabs[k].high + more);
        }
    }
}
