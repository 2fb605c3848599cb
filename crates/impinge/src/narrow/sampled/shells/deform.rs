//! Facets on a deforming mesh (Guy and Debunne 2004, section 5.1), with the condition under which they still
//! contain what lies below them. The paper claims validity "under reasonable limitations"; here the
//! limitation is a number.
//!
//! Let a facet's triangle have the corners a, b, c at rest and a′, b′, c′ now, with barycentres g and g′ and
//! unit normals n and n′. The *own motion* of the facet is the affine map M that takes a, b, c to a′, b′, c′
//! and n to n′: M(g + E·w + h·n) = g′ + E′·w + h·n′, where E and E′ hold two sides. Let x be the position at
//! rest and y the position now of a vertex below the facet, and ρ the facet's reach: the largest distance at
//! rest of a vertex below it from the nearest of its corners.
//!
//! **Condition.** |y − M(x)| ≤ `stretch`·ρ for every vertex below the facet.
//!
//! **Claim.** The cylinder about g′ and n′ with the radius σ·r + `stretch`·ρ, from inner − `stretch`·ρ to
//! outer + `stretch`·ρ, contains the triangles below the facet as they are now, where r, inner, outer are
//! those at rest and σ is the largest singular value of the map E·w ↦ E′·w between the two planes.
//!
//! **Proof.** M keeps heights and stretches ways across the axis by at most σ, so M(x) has the height of x
//! and a distance of at most σ·r from the axis; y differs from M(x) by at most `stretch`·ρ in both. A
//! cylinder is convex, so with its corners it contains each triangle. ∎
//!
//! Translations, rotations, and any affine map that keeps the facet's normal direction and heights have
//! stretch 0. If the displacements without M have the Lipschitz constant L, the condition holds with stretch
//! = L, since the corners have none. A triangle too thin at rest for E to be inverted (a needle) moves
//! rigidly instead, along its longest side and its normal: σ is 1 there. [`Shells::largest_deformation`]
//! finds the smallest stretch of a recorded frame, level by level: smooth motions stretch fine levels far
//! less than coarse ones. Facets of level 0 have no reach and are exact at any stretch.
//!
//! **Foreseen shapes.** One number for a whole level is as large as where the mesh deforms most. Where shapes
//! of the mesh are known beforehand, the frames of a recording or the extremes of a skeleton,
//! [`Shells::foresee`] widens each facet for what lies below it there, by what its own triangle does not
//! carry along, and by no more; a small stretch on top is for the shapes between them.
//! [`Shells::needed_stretch`] says how much it has to be.

use glam::DVec3;
use smallvec::SmallVec;

use super::edge_planes::{MOST_SLABS, Slab, outside, widen};
use super::frame::{Frame, largest_coordinate, longest_side, pad};
use super::{Facet, Level, Shells};
use crate::geom::point_triangle::norm;
use crate::num::parallel;
use crate::num::tolerance::{FACET_NEEDLE, FACET_STRETCH_ROUNDING, ROUND_UP};

/// How a facet rides on its triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ride {
    /// E = Q·R with orthonormal columns of Q: the entries 11, 12 and 22 of R's inverse. Zeros for a needle.
    pub inverse: [f64; 3],
    /// The largest distance at rest of a vertex below from the nearest corner.
    pub reach: f64,
}

impl Ride {
    /// How a facet rides on a triangle at rest.
    pub fn of(corners: &[DVec3; 3], reach: f64) -> Ride {
        let [e1, e2] = sides(corners);
        let (length, area) = (e1.length(), e1.cross(e2).length());
        let longest = norm(longest_side(corners));
        let along = e1 / length;
        let [r12, r22] = [e2.dot(along), area / length];
        let inverse = [1.0 / length, -r12 / (length * r22), 1.0 / r22];
        let is_sound = area >= FACET_NEEDLE * longest * longest && inverse.iter().all(|x| x.is_finite());
        Ride { inverse: if is_sound { inverse } else { [0.0; 3] }, reach }
    }

    /// How much more the normal turns than the sides, when those change by a small part of their lengths (no unit): the
    /// product of two sides over that of their directions. Infinite for a needle.
    fn turn_factor(&self) -> f64 {
        let [i11, i12, _] = self.inverse;
        if i11 > 0.0 { (1.0 + (i12 / i11) * (i12 / i11)).sqrt() * ROUND_UP } else { f64::INFINITY }
    }

    /// The columns of E′·R⁻¹, by which the facet's plane is stretched; none for a needle.
    fn columns(&self, corners: &[DVec3; 3]) -> Option<[DVec3; 2]> {
        let [i11, i12, i22] = self.inverse;
        let [e1, e2] = sides(corners);
        (i11 != 0.0).then(|| [e1 * i11, e1 * i12 + e2 * i22])
    }

    /// The largest stretch of the facet's plane, rounded up.
    fn largest_stretch(&self, corners: &[DVec3; 3]) -> f64 {
        let Some([u, v]) = self.columns(corners) else { return 1.0 };
        let (uu, uv, vv) = (u.length_squared(), u.dot(v), v.length_squared());
        let half = 0.5 * (uu - vv);
        let largest = (0.5 * (uu + vv) + (half * half + uv * uv).sqrt()).sqrt();
        let [i11, i12, i22] = self.inverse;
        let [e1, e2] = sides(corners);
        let size = e1.abs().max_element() * (i11 + i12.abs()) + e2.abs().max_element() * i22;
        largest + FACET_STRETCH_ROUNDING * size
    }
}

/// Two sides of a triangle.
pub(super) fn sides([a, b, c]: &[DVec3; 3]) -> [DVec3; 2] {
    [*b - *a, *c - *a]
}

impl Shells {
    /// A facet where its triangle is now, grown for deformations of at most `stretch` (no unit, see the head
    /// of this file): under that condition it contains the triangles of all its descendants as they are now.
    ///
    /// Coordinates that are not finite give a facet that contains nothing that can be said.
    #[inline]
    pub fn facet_at(&self, level: usize, i: u32, vertices: &[DVec3], stretch: f64) -> Facet {
        let Level { corners, facets, rides, .. } = &self.levels[level];
        let corners = corners[i as usize].map(|v| vertices[v as usize]);
        let frame = Frame::of(&corners);
        let (radius, inner, outer) = if level == 0 && self.error.is_none() {
            (corners.iter().map(|p| norm(*p - frame.centre)).fold(0.0, f64::max), 0.0, 0.0)
        } else {
            let (rest, ride) = (&facets[i as usize], &rides[i as usize]);
            let more = stretch * ride.reach;
            (ride.largest_stretch(&corners) * rest.radius + more, rest.inner - more, rest.outer + more)
        };
        let more = pad(radius + outer - inner, largest_coordinate(&corners));
        Facet {
            centre: frame.centre,
            normal: frame.normal,
            radius: radius + more,
            inner: inner - more,
            outer: outer + more,
        }
    }
}

impl Shells {
    /// By how much the unit normal of a triangle of the mesh changes at most (the length of the difference), for each
    /// part of their lengths by which its sides do; infinite for a needle.
    ///
    /// With sides e, f that become e + d, f + g, |d| ≤ δ·|e| and |g| ≤ δ·|f|, the product changes by at most
    /// (2·δ + δ²)·|e|·|f|, a part ρ = (2·δ + δ²)·q of itself, where q is the factor that is returned: the normal turns
    /// by at most asin ρ.
    pub(in super::super) fn turn_factor(&self, triangle: u32) -> f64 {
        self.levels[0].rides[triangle as usize].turn_factor()
    }
}

impl Shells {
    /// The smallest stretch of the condition at the head of this file, level by level: so much did the mesh
    /// deform from `rest`, the vertices that the shells were built for, to `moved`. With it
    /// [`Shells::facet_at`] contains the moved mesh. Infinite where something moved under a facet without
    /// reach.
    ///
    /// # Panics
    /// Fewer vertices than the mesh has.
    pub fn largest_deformation(&self, rest: &[DVec3], moved: &[DVec3]) -> Vec<f64> {
        let below = self.all_below();
        let mut stretches = Vec::with_capacity(self.levels.len());
        for (level, now) in self.levels.iter().zip(&below) {
            let of_facet = |f: usize| {
                let own = OwnMotion::of(&level.corners[f], &level.rides[f], rest, moved);
                let (mut off, mut farthest, mut largest) = (0.0_f64, 0.0_f64, 0.0_f64);
                // Corners move with the facet, and so do their copies.
                let is_corner = |v: u32| {
                    let same = |points: &[DVec3], c: u32| points[v as usize] == points[c as usize];
                    level.corners[f].iter().any(|&c| same(rest, c) && same(moved, c))
                };
                for &v in now.of(f as u32).iter().filter(|v| !is_corner(**v)) {
                    let (x, y) = (rest[v as usize], moved[v as usize]);
                    off = off.max(norm(y - own.at(x)));
                    farthest = farthest.max(norm(x - own.rest.0)).max(norm(y - own.moved.0));
                    largest = largest.max(x.abs().max_element()).max(y.abs().max_element());
                }
                let facet = &level.facets[f];
                let rounding = pad(facet.radius + facet.outer - facet.inner, largest);
                if off <= NOISE * rounding {
                    0.0
                } else {
                    (off + pad(farthest, largest)) / level.rides[f].reach
                }
            };
            let all = parallel::map(level.corners.len(), of_facet);
            stretches.push(all.into_iter().fold(0.0, f64::max) * ROUND_UP);
        }
        stretches
    }
}

/// Rounding of a direct comparison with a facet (no unit: a factor of the distance from its centre).
const COMPARISON: f64 = 64.0 * f64::EPSILON;

impl Shells {
    /// Widens the facets and their edge planes so that they contain the mesh as it is here, at no stretch,
    /// besides the shapes that they contained before. Shells that were saved forget it.
    ///
    /// # Panics
    /// Fewer vertices than the mesh has.
    pub fn foresee(&mut self, moved: &[DVec3]) {
        let below = self.all_below();
        let leaves = self.all_leaves();
        let triangles = self.levels[0].corners.clone();
        for (k, level) in self.levels.iter_mut().enumerate().skip(1) {
            let widened = parallel::map(level.corners.len(), |f| {
                let corners = level.corners[f].map(|v| moved[v as usize]);
                let frame = Frame::of(&corners);
                let (mut facet, ride) = (level.facets[f], &level.rides[f]);
                let stretched = ride.largest_stretch(&corners);
                for &v in below[k].of(f as u32) {
                    let (height, beside, farness) = place(&frame, moved[v as usize]);
                    facet.inner = facet.inner.min(height - farness);
                    facet.outer = facet.outer.max(height + farness);
                    if beside + farness > stretched * facet.radius && stretched > 0.0 {
                        facet.radius = (beside + farness) / stretched * ROUND_UP;
                    }
                }
                let mut slabs: SmallVec<[Slab; MOST_SLABS]> = level.slabs(f as u32).into();
                let own =
                    leaves[k].of(f as u32).iter().map(|&t| triangles[t as usize].map(|v| moved[v as usize]));
                let slack = 2.0 * COMPARISON * (stretched * facet.radius + facet.outer - facet.inner);
                widen(&mut slabs, &facet, ride, &corners, own, slack);
                (facet, slabs)
            });
            level.slabs.clear();
            level.facets.clear();
            for (facet, slabs) in widened {
                level.facets.push(facet);
                level.slabs.extend(slabs);
            }
        }
    }

    /// The smallest stretch, level by level, with which the facets and their edge planes contain the mesh as
    /// it is here. Infinite where that cannot be: a facet without reach whose vertices' copies parted.
    ///
    /// # Panics
    /// Fewer vertices than the mesh has.
    pub fn needed_stretch(&self, moved: &[DVec3]) -> Vec<f64> {
        let (below, leaves) = (self.all_below(), self.all_leaves());
        let triangles = &self.levels[0].corners;
        let of_level = |k: usize| {
            let level = &self.levels[k];
            let of_facet = |f: usize| {
                let facet = self.facet_at(k, f as u32, moved, 0.0);
                let frame = Frame { centre: facet.centre, normal: facet.normal };
                let out = |&v: &u32| {
                    let (height, beside, farness) = place(&frame, moved[v as usize]);
                    (height - facet.outer).max(facet.inner - height).max(beside - facet.radius) + farness
                };
                let by_cylinder = below[k].of(f as u32).iter().map(out).fold(0.0, f64::max);
                let slabs = self.slabs_at(k, f as u32, moved, 0.0);
                let out_of_slabs = |&t: &u32| {
                    let t = triangles[t as usize].map(|v| moved[v as usize]);
                    let each = slabs.iter().map(|slab| outside(slab, facet.centre, &t));
                    each.fold(f64::INFINITY, f64::min)
                        + COMPARISON * (facet.radius + facet.outer - facet.inner)
                };
                let all = leaves[k].of(f as u32).iter().filter(|_| !slabs.is_empty());
                let needed = all.map(out_of_slabs).fold(by_cylinder, f64::max);
                if needed > 0.0 { needed / level.rides[f].reach * ROUND_UP } else { 0.0 }
            };
            parallel::map(level.corners.len(), of_facet).into_iter().fold(0.0, f64::max)
        };
        (0..self.levels.len()).map(of_level).collect()
    }
}

/// Height and distance from the axis of a point in a frame, and what comparing them can be wrong by.
fn place(frame: &Frame, p: DVec3) -> (f64, f64, f64) {
    let arm = p - frame.centre;
    let height = arm.dot(frame.normal);
    (height, norm(arm - frame.normal * height), COMPARISON * norm(arm))
}

/// Share of a facet's rounding (no unit) up to which a vertex counts as carried by the facet: the two frames
/// of its own motion are off by half of it (`frame.rs`), and the facet grows by twice it, at rest and now.
const NOISE: f64 = 0.25;

/// The motion of a facet's own triangle, M above.
struct OwnMotion {
    /// Barycentre and, as columns, two directions in the plane and the normal; at rest and now.
    rest: (DVec3, [DVec3; 3]),
    moved: (DVec3, [DVec3; 3]),
}

impl OwnMotion {
    fn of(corners: &[u32; 3], ride: &Ride, rest: &[DVec3], moved: &[DVec3]) -> OwnMotion {
        let (rest, moved) = (corners.map(|v| rest[v as usize]), corners.map(|v| moved[v as usize]));
        let (f0, f1) = (Frame::of(&rest), Frame::of(&moved));
        let planes = match (ride.columns(&rest), ride.columns(&moved)) {
            (Some(columns), Some(moved)) => [columns, moved],
            _ => {
                let around = |[a, b, c]: &[DVec3; 3]| [*b - *a, *c - *b, *a - *c];
                let longest = longest_side(&rest);
                let side = around(&rest).into_iter().position(|side| side == longest).unwrap_or(0);
                let tangents = |corners: &[DVec3; 3], frame: &Frame| {
                    let along = around(corners)[side];
                    let along = (along - frame.normal * along.dot(frame.normal)).try_normalize();
                    let along = along.unwrap_or_else(|| frame.normal.any_orthonormal_vector());
                    [along, frame.normal.cross(along)]
                };
                [tangents(&rest, &f0), tangents(&moved, &f1)]
            }
        };
        let [[u0, v0], [u1, v1]] = planes;
        OwnMotion { rest: (f0.centre, [u0, v0, f0.normal]), moved: (f1.centre, [u1, v1, f1.normal]) }
    }

    /// Where it takes a point.
    fn at(&self, x: DVec3) -> DVec3 {
        let (g0, columns0) = self.rest;
        let (g1, columns1) = self.moved;
        let arm = x - g0;
        (0..3).fold(g1, |y, k| y + columns1[k] * arm.dot(columns0[k]))
    }
}
