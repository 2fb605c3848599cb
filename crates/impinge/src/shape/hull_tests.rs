use std::collections::BTreeSet;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::num::predicate::orient3d;

/// The corners of the hull by brute force: a plane through three points that has all others on one side
/// or in it carries a face, and a corner of the solid is on three such planes that meet in a point.
fn brute_corners(points: &[DVec3]) -> BTreeSet<u32> {
    // A point is no corner when it lies in a simplex of others: Carathéodory, by exact signs.
    let n = points.len();
    let inside = |p: usize| {
        let others: Vec<usize> = (0..n).filter(|&i| i != p).collect();
        let q = |i: usize| points[others[i]];
        let m = others.len();
        for i in 0..m {
            for j in i + 1..m {
                if in_segment(points[p], q(i), q(j)) {
                    return true;
                }
                for k in j + 1..m {
                    if in_triangle(points[p], [q(i), q(j), q(k)]) {
                        return true;
                    }
                    for l in k + 1..m {
                        if in_tetrahedron(points[p], [q(i), q(j), q(k), q(l)]) {
                            return true;
                        }
                    }
                }
            }
        }
        false
    };
    (0..n).filter(|&p| !inside(p)).map(|p| p as u32).collect()
}

fn in_segment(p: DVec3, a: DVec3, b: DVec3) -> bool {
    let line =
        (0..3).all(|axis| orient2d(drop_axis(a, axis), drop_axis(b, axis), drop_axis(p, axis)).is_zero());
    line && p.cmple(a.max(b)).all() && p.cmpge(a.min(b)).all()
}

fn in_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> bool {
    if !orient3d(a, b, c, p).is_zero() {
        return false;
    }
    let flat =
        (0..3).find(|&axis| !orient2d(drop_axis(a, axis), drop_axis(b, axis), drop_axis(c, axis)).is_zero());
    let Some(axis) = flat else { return false };
    let [p, a, b, c] = [p, a, b, c].map(|x| drop_axis(x, axis));
    let signs = [orient2d(a, b, p), orient2d(b, c, p), orient2d(c, a, p)];
    !(signs.contains(&Sign::Positive) && signs.contains(&Sign::Negative))
}

fn in_tetrahedron(p: DVec3, [a, b, c, d]: [DVec3; 4]) -> bool {
    let whole = orient3d(a, b, c, d);
    let signs = [orient3d(p, b, c, d), orient3d(a, p, c, d), orient3d(a, b, p, d), orient3d(a, b, c, p)];
    !whole.is_zero() && signs.iter().all(|s| s.is_zero() || *s == whole)
}

fn check_surface(points: &[DVec3], triangles: &[Triangle]) {
    for (t, triangle) in triangles.iter().enumerate() {
        let [a, b, c] = triangle.corners.map(|i| points[i as usize]);
        assert!(points.iter().all(|&p| orient3d(a, b, c, p) != Sign::Positive), "a point is outside");
        for k in 0..3 {
            let other = triangles[triangle.across[k] as usize];
            let back = (0..3)
                .find(|&s| other.across[s] == t as u32 && other.corners[s] == triangle.corners[(k + 1) % 3]);
            assert_eq!(back.map(|s| other.corners[(s + 1) % 3]), Some(triangle.corners[k]));
        }
    }
    let corners: BTreeSet<u32> = triangles.iter().flat_map(|t| t.corners).collect();
    assert_eq!(triangles.len(), 2 * corners.len() - 4, "Euler");
}

#[test]
fn grid_points_have_the_corners_of_brute_force() {
    let mut rng = Pcg64::seed_from_u64(31);
    let mut kinds = [0; 4];
    for case in 0..600 {
        let (count, side, scale) =
            (rng.random_range(1..9), rng.random_range(1..4), [1.0, 1e-6, 3e5][case % 3]);
        let sides = [side, rng.random_range(0..=side), rng.random_range(0..=side)];
        let given: Vec<DVec3> = (0..count)
            .map(|_| DVec3::from(sides.map(|s: i32| f64::from(rng.random_range(0..=s)))) * scale)
            .collect();
        let (points, first) = distinct(&given);
        assert!(first.iter().zip(&points).all(|(&i, &p)| given[i as usize] == p));
        let corners = brute_corners(&points);
        let (kind, found) = match hull(&points) {
            Hull::Point(p) => (0, vec![p]),
            Hull::Segment(ends) => (1, ends.to_vec()),
            Hull::Polygon(loop_) => (2, loop_),
            Hull::Solid(triangles) => {
                check_surface(&points, &triangles);
                // A corner of a triangle need not be one of the hull, but all of the hull's must be there.
                let all: BTreeSet<u32> = triangles.iter().flat_map(|t| t.corners).collect();
                (3, all.into_iter().filter(|v| corners.contains(v)).collect())
            }
        };
        kinds[kind] += 1;
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), corners, "{points:?}");
    }
    assert!(kinds.iter().all(|&k| k > 20), "{kinds:?}");
}

#[test]
fn round_flat_and_gridded_sets_are_enclosed() {
    let mut rng = Pcg64::seed_from_u64(32);
    for scale in [1e-6, 1.0, 1e6, 1e55, 1e-290] {
        for kind in 0..4 {
            let given: Vec<DVec3> = (0..200)
                .map(|_| {
                    let p = DVec3::from_array(std::array::from_fn(|_| rng.random_range(-1.0..1.0)));
                    scale
                        * match kind {
                            0 => p,
                            1 => p.normalize(),
                            2 => (p * 3.0).round(),
                            _ => DVec3::new(p.x, p.y, p.z * 1e-17),
                        }
                })
                .collect();
            let (points, _) = distinct(&given);
            match hull(&points) {
                Hull::Solid(triangles) => check_surface(&points, &triangles),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn every_point_of_a_sphere_is_a_corner() {
    let mut rng = Pcg64::seed_from_u64(33);
    let sphere: Vec<DVec3> = (0..20_000)
        .map(|_| DVec3::from_array(std::array::from_fn(|_| rng.random_range(-1.0..1.0))).normalize())
        .collect();
    let (points, _) = distinct(&sphere);
    let Hull::Solid(triangles) = hull(&points) else { panic!("a sphere is solid") };
    assert_eq!(triangles.len(), 2 * points.len() - 4);
}
