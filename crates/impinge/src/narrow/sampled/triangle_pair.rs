//! Two triangles at the end of a descent: whether they meet, exactly, and for how long that answer holds.
//!
//! Guy and Debunne (2004) end with "any standard polygonal geometric intersection test". Here it is the exact one,
//! behind separating directions that also tell how far the triangles may move before the answer can change.

use glam::DVec3;

use crate::geom::triangle_triangle::meet;
use crate::num::each::Each;

/// A placed triangle with the direction of its normal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Triangle {
    pub corners: [DVec3; 3],
    /// Not of unit length.
    pub normal: DVec3,
}

impl Triangle {
    #[inline]
    pub fn new(corners: [DVec3; 3]) -> Triangle {
        let [a, b, c] = corners;
        Triangle { corners, normal: (b - a).cross(c - a) }
    }

    #[inline]
    pub fn centre(&self) -> DVec3 {
        let [a, b, c] = self.corners;
        (a + b + c) / 3.0
    }

    /// The shadow on a direction of any length.
    #[inline]
    fn shadow(&self, direction: DVec3) -> [f64; 2] {
        let [x, y, z] = self.corners.each(|p| p.dot(direction));
        [x.min(y).min(z), x.max(y).max(z)]
    }
}

/// The answer about two triangles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Meeting {
    /// They have no common point, and at least this far between them; 0 where only the exact test knew.
    Apart(f64),
    /// They have a common point.
    Meet,
}

/// Whether two placed triangles meet. `pad` is the rounding of placed coordinates and of their shadows (a length); a
/// gap wider than `enough` is not measured any better.
#[inline]
pub(super) fn meeting(a: &Triangle, b: &Triangle, pad: f64, enough: f64) -> Meeting {
    let between = b.centre() - a.centre();
    let mut best = f64::NEG_INFINITY;
    for direction in [a.normal, b.normal, between] {
        best = best.max(gap_along(a, b, direction));
    }
    let is_apart = best > pad;
    if is_apart && best - pad > enough {
        return Meeting::Apart(best - pad);
    }
    if !a.normal.is_finite() || !b.normal.is_finite() {
        // Coordinates that no mesh may have: nothing is said about them.
        return Meeting::Apart(0.0);
    }
    if !is_apart && meet(&a.corners, &b.corners) {
        return Meeting::Meet;
    }
    // An edge of each is nearest.
    for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
        let u = a.corners[(i + 1) % 3] - a.corners[i];
        let v = b.corners[(j + 1) % 3] - b.corners[j];
        best = best.max(gap_along(a, b, u.cross(v)));
    }
    Meeting::Apart((best - pad).max(0.0))
}

/// The gap between the shadows on a direction, as a length; negative or not a number where there is none.
#[inline]
fn gap_along(a: &Triangle, b: &Triangle, direction: DVec3) -> f64 {
    let ([a_low, a_high], [b_low, b_high]) = (a.shadow(direction), b.shadow(direction));
    let gap = (b_low - a_high).max(a_low - b_high);
    if gap > 0.0 { gap / direction.length() } else { f64::NEG_INFINITY }
}

/// Two triangles that cross still do while no point of one has moved against a point of the other by more than this;
/// 0 where no edge passes through well inside.
///
/// An edge pq passes through a triangle uvw. On the way to any later position this could end only when p or q comes to
/// lie on the triangle, or a point of pq on a side. The distance of p from the triangle is no less than that from its
/// plane, the distance of pq from a side no less than that of their lines; each shrinks by at most as much as points of
/// the two move against each other. So the edge passes through while the motion is below the least of these five.
pub(super) fn crossing_margin(a: &Triangle, b: &Triangle, pad: f64) -> f64 {
    let mut best: f64 = 0.0;
    for (edges, face) in [(a, b), (b, a)] {
        let heights = edges.corners.each(|p| (p - face.corners[0]).dot(face.normal));
        for i in 0..3 {
            let (j, through) = ((i + 1) % 3, heights[i] * heights[(i + 1) % 3] < 0.0);
            if through {
                best =
                    best.max(edge_margin(edges.corners[i], edges.corners[j], face, [heights[i], heights[j]]));
            }
        }
    }
    (best - pad).max(0.0)
}

/// Cross products below this part of the lengths count as this large (no unit), so that what rounding makes of their
/// direction stays below [`MARGIN_ERROR`].
const PARALLEL: f64 = 1e-6;

/// Rounding of a margin (no unit: a part of the longest distance of two corners): 64 roundings of products of three
/// lengths, over a cross product that is no smaller than `PARALLEL`.
const MARGIN_ERROR: f64 = 1e-7;

fn edge_margin(p: DVec3, q: DVec3, face: &Triangle, heights: [f64; 2]) -> f64 {
    let along = q - p;
    let arms = face.corners.each(|c| c - p);
    let dets = [0, 1, 2].each(|k| along.dot(arms[k].cross(arms[(k + 1) % 3])));
    if !(dets.iter().all(|s| *s > 0.0) || dets.iter().all(|s| *s < 0.0)) {
        return 0.0;
    }
    let reach = |c: &DVec3| c.length_squared().max((*c - along).length_squared());
    let sides = [0, 1, 2].each(|k| arms[(k + 1) % 3] - arms[k]);
    let longest = arms.iter().map(reach).chain(sides.iter().map(|s| s.length_squared()));
    let longest_sq = longest.fold(along.length_squared(), f64::max);
    let least_area = PARALLEL * longest_sq;
    let to_plane = heights[0].abs().min(heights[1].abs()) / face.normal.length().max(least_area);
    let to_side = |k: usize| dets[k].abs() / along.cross(sides[k]).length().max(least_area);
    to_plane.min(to_side(0)).min(to_side(1)).min(to_side(2)) - MARGIN_ERROR * longest_sq.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::triangle_triangle::{TriangleRelation, classify};
    use crate::num::random::unit;

    fn vector(seed: u64, n: u64) -> DVec3 {
        DVec3::from_array([0, 1, 2].map(|i| 2.0 * unit(seed, 3 * n + i) - 1.0))
    }

    fn triangle(seed: u64) -> Triangle {
        let centre = 0.1 * vector(seed, 0);
        Triangle::new([1, 2, 3].map(|i| centre + vector(seed, i)))
    }

    #[test]
    fn answers_hold_while_the_corners_move_by_less() {
        let (mut apart, mut met, mut with_margin) = (0, 0, 0);
        for k in 0..4000_u64 {
            let (a, b) = (triangle(2 * k), triangle(2 * k + 1));
            let exact = classify(&a.corners, &b.corners);
            let moved = |of: &Triangle, by: f64, seed: u64| {
                Triangle::new(
                    [0, 1, 2].map(|i| of.corners[i] + vector(seed, i as u64).normalize_or_zero() * by),
                )
            };
            match meeting(&a, &b, 1e-14, if k % 2 == 0 { 0.0 } else { 0.5 }) {
                Meeting::Apart(gap) => {
                    assert_eq!(exact, TriangleRelation::Apart, "{k}");
                    apart += 1;
                    let (a, b) = (moved(&a, 0.499 * gap, 5 * k), moved(&b, 0.499 * gap, 5 * k + 1));
                    assert_eq!(classify(&a.corners, &b.corners), TriangleRelation::Apart, "{k}: {gap}");
                }
                Meeting::Meet => {
                    assert_ne!(exact, TriangleRelation::Apart, "{k}");
                    met += 1;
                    let margin = crossing_margin(&a, &b, 1e-14);
                    with_margin += usize::from(margin > 1e-2);
                    for s in 0..8 {
                        let seed = 91 * k + 2 * s;
                        let (a, b) = (moved(&a, 0.499 * margin, seed), moved(&b, 0.499 * margin, seed + 1));
                        assert_ne!(
                            classify(&a.corners, &b.corners),
                            TriangleRelation::Apart,
                            "{k}: {margin}"
                        );
                    }
                }
            }
        }
        assert!(apart > 1000 && met > 400 && with_margin > 300, "{apart} {met} {with_margin}");
    }

    #[test]
    fn flat_and_equal_triangles_are_decided_exactly() {
        let point = Triangle::new([DVec3::ONE; 3]);
        let flat = Triangle::new([DVec3::ZERO, DVec3::ONE, 2.0 * DVec3::ONE]);
        assert_eq!(meeting(&point, &flat, 1e-15, 0.0), Meeting::Meet);
        assert_eq!(crossing_margin(&point, &flat, 0.0), 0.0);
        let beside = Triangle::new([DVec3::X * 9.0; 3]);
        assert!(matches!(meeting(&point, &beside, 1e-15, 0.0), Meeting::Apart(gap) if gap > 7.0));
        assert_eq!(meeting(&flat, &flat, 1e-15, 0.0), Meeting::Meet);
    }
}
