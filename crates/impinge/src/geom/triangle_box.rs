//! Whether a triangle can meet a box, by separating axes; a filter that errs towards yes.
//!
//! Akenine-Möller, "Fast 3D triangle-box overlap testing", 2001: three normals of the box, the triangle's
//! plane, nine products of edges. An axis of no length separates nothing, so segments and points as triangles
//! need no case of their own.

use glam::DVec3;

use crate::num::each::Each;
use crate::num::tolerance::BOX_ROUNDING;

/// False only when no point of the triangle lies in the box.
pub fn may_meet(triangle: &[DVec3; 3], centre: DVec3, half: DVec3) -> bool {
    let corners = triangle.each(|p| p - centre);
    // What rounding does to a corner, as a length.
    let slack =
        triangle.iter().fold(centre.abs() + half, |all, p| all.max(p.abs())).element_sum() * BOX_ROUNDING;
    let separates = |axis: DVec3| {
        let [a, b, c] = corners.each(|p| axis.dot(p));
        let reach = axis.abs().dot(half) + axis.length() * slack;
        a.min(b).min(c) > reach || a.max(b).max(c) < -reach
    };
    let edges = [corners[1] - corners[0], corners[2] - corners[1], corners[0] - corners[2]];
    !(DVec3::AXES.into_iter().any(separates)
        || separates(edges[0].cross(edges[1]))
        || edges.into_iter().any(|edge| DVec3::AXES.into_iter().any(|axis| separates(axis.cross(edge)))))
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::geom::point_triangle::closest_point;

    /// The twin looks for a point of the triangle in the box by samples; a box that holds one must meet.
    #[test]
    fn never_denies_a_common_point_and_denies_far_ones() {
        let mut random = Pcg64::seed_from_u64(3);
        let (mut common, mut denied) = (0, 0);
        for case in 0..4000 {
            let scale = [1e-6, 1.0, 1e6][case % 3];
            let mut point =
                || DVec3::from_array([0.0; 3].map(|_: f64| random.random_range(-1.0..1.0))) * scale;
            let mut triangle = [point(), point(), point()];
            if case % 7 == 0 {
                triangle[2] = triangle[1]; // a segment
            }
            let centre = point();
            let half = point().abs() * 0.5;
            let meets = may_meet(&triangle, centre, half);
            let inside = (0..=20).any(|i| {
                (0..=20 - i).any(|j| {
                    let (s, t) = (f64::from(i) / 20.0, f64::from(j) / 20.0);
                    let p = triangle[0] * (1.0 - s - t) + triangle[1] * s + triangle[2] * t;
                    (p - centre).abs().cmple(half).all()
                })
            });
            common += usize::from(inside);
            denied += usize::from(!meets);
            assert!(meets || !inside, "{triangle:?} {centre} {half}");
            // Farther than the box's corners is surely apart.
            let far = closest_point(centre, &triangle).distance_sq.sqrt() > half.length() * 2.0 + scale;
            assert!(!(far && meets), "{triangle:?} {centre} {half}");
        }
        assert!(common > 400 && denied > 800, "{common} {denied}");
    }
}
