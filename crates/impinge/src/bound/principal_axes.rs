//! The principal axes of a symmetric matrix, by the method of Jacobi (1846).

use glam::{DMat3, DVec3};

use crate::num::compact_sort::sort_few;

/// Sweeps of Jacobi's method; three already reach rounding error on 3×3 matrices.
const SWEEPS: usize = 8;

/// Eigenvectors of a symmetric matrix by Jacobi rotations, made orthonormal again, largest eigenvalue
/// first; the coordinate axes when the matrix is not finite.
pub(crate) fn principal_axes(m: DMat3) -> [DVec3; 3] {
    let mut a = m.to_cols_array_2d();
    let mut v = DMat3::IDENTITY.to_cols_array_2d();
    for _ in 0..SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
            let c = 1.0 / t.hypot(1.0);
            let s = t * c;
            for row in &mut a {
                let (x, y) = (row[p], row[q]);
                (row[p], row[q]) = (c * x - s * y, s * x + c * y);
            }
            for k in 0..3 {
                let (x, y) = (a[p][k], a[q][k]);
                (a[p][k], a[q][k]) = (c * x - s * y, s * x + c * y);
                let (x, y) = (v[p][k], v[q][k]);
                (v[p][k], v[q][k]) = (c * x - s * y, s * x + c * y);
            }
        }
    }
    let mut order = [0, 1, 2];
    sort_few(&mut order, |&i: &usize, &j| a[j][j].total_cmp(&a[i][i]));
    let x = DVec3::from(v[order[0]]).normalize_or_zero();
    let y = DVec3::from(v[order[1]]);
    let y = (y - x * x.dot(y)).normalize_or_zero();
    if !(x.is_finite() && y.is_finite() && x != DVec3::ZERO && y != DVec3::ZERO) {
        return DVec3::AXES;
    }
    [x, y, x.cross(y)]
}
