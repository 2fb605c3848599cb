//! Does a point lie on a closed triangle? Exact; the triangle may be degenerate.

use glam::DVec3;

use super::triangle_triangle;
use crate::num::predicate::orient3d;

/// Whether the point lies on the triangle, decided exactly on the doubles.
#[inline]
pub fn contains(triangle: &[DVec3; 3], p: DVec3) -> bool {
    let [a, b, c] = *triangle;
    let outside = p.cmplt(a.min(b).min(c)) | p.cmpgt(a.max(b).max(c));
    !outside.any() && orient3d(a, b, c, p).is_zero() && triangle_triangle::meet(triangle, &[p; 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_edges_face_and_just_beside() {
        let triangle = [DVec3::ZERO, DVec3::new(3.0, 0.0, 3.0), DVec3::new(0.0, 3.0, 3.0)];
        assert!(triangle.iter().all(|&p| contains(&triangle, p)));
        assert!(contains(&triangle, DVec3::new(1.0, 1.0, 2.0)));
        assert!(contains(&triangle, DVec3::new(1.5, 1.5, 3.0)));
        assert!(!contains(&triangle, DVec3::new(1.0, 1.0, 2.0_f64.next_up())));
        assert!(!contains(&triangle, DVec3::new(2.0, 2.0, 4.0)));
        let needle = [DVec3::ZERO, DVec3::ONE, DVec3::splat(3.0)];
        assert!(contains(&needle, DVec3::splat(2.0)));
        assert!(!contains(&needle, DVec3::new(2.0, 2.0, 1.0)));
    }
}
