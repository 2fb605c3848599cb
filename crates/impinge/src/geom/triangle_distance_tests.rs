use super::*;
use crate::geom::common_point::common_point;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// The distance by optimality conditions: for every non-empty set of corners of each triangle the
/// nearest points of the two affine hulls, kept when they are convex combinations. Shares no code and no
/// idea with the kernel, and gives 0 for crossing triangles.
pub(crate) fn slow_distance(a: &[DVec3; 3], b: &[DVec3; 3]) -> f64 {
    let mut best = f64::INFINITY;
    for set_a in 1..8u8 {
        for set_b in 1..8u8 {
            let pick = |set: u8, t: &[DVec3; 3]| -> Vec<DVec3> {
                (0..3).filter(|i| set >> i & 1 == 1).map(|i| t[i]).collect()
            };
            let (pa, pb) = (pick(set_a, a), pick(set_b, b));
            if let Some(d) = hull_distance(&pa, &pb) {
                best = best.min(d);
            }
        }
    }
    best
}

fn hull_distance(a: &[DVec3], b: &[DVec3]) -> Option<f64> {
    // Minimise |r + Σ xᵢ cᵢ|² over x by the normal equations.
    let r = a[0] - b[0];
    let columns: Vec<DVec3> =
        a[1..].iter().map(|p| *p - a[0]).chain(b[1..].iter().map(|p| b[0] - *p)).collect();
    let n = columns.len();
    let mut m: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| columns[i].dot(columns[j])).chain([-columns[i].dot(r)]).collect())
        .collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs()))?;
        m.swap(k, pivot);
        if m[k][k].abs() < 1e-9 {
            return None;
        }
        for i in 0..n {
            if i != k {
                let f = m[i][k] / m[k][k];
                let row = m[k].clone();
                m[i].iter_mut().zip(&row).for_each(|(x, y)| *x -= f * y);
            }
        }
    }
    let x: Vec<f64> = (0..n).map(|i| m[i][n] / m[i][i]).collect();
    let slack = 1e-9;
    let inside = |w: &[f64]| w.iter().all(|&v| v >= -slack) && w.iter().sum::<f64>() <= 1.0 + slack;
    if !inside(&x[..a.len() - 1]) || !inside(&x[a.len() - 1..]) {
        return None;
    }
    Some(columns.iter().zip(&x).fold(r, |p, (c, v)| p + *c * *v).length())
}

fn triangle(rng: &mut Pcg64, at: DVec3) -> [DVec3; 3] {
    std::array::from_fn(|_| {
        at + DVec3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0))
    })
}

#[test]
fn agrees_with_the_slow_twin() {
    let mut rng = Pcg64::seed_from_u64(5);
    let (mut crossing, mut kinds) = (0, [0; 3]);
    for _ in 0..4000 {
        let shift = DVec3::splat(rng.random_range(0.0..1.0));
        let (a, b) = (triangle(&mut rng, DVec3::ZERO), triangle(&mut rng, shift));
        let (found, slow) = (nearest(&a, &b), slow_distance(&a, &b));
        if slow < 1e-9 {
            crossing += 1;
            assert!(!found.disjoint);
            let p = common_point(&a, &b);
            for t in [&a, &b] {
                assert!(super::super::point_triangle::closest_point(p, t).distance_sq < 1e-28);
            }
            continue;
        }
        assert!(found.disjoint);
        assert!((found.distance - slow).abs() < 1e-7, "{found:?} {slow}");
        assert!((found.distance - nearest(&b, &a).distance).abs() < 1e-14);
        kinds[match found.parts {
            [TriangleFeature::Side(_), TriangleFeature::Side(_)] => 0,
            [TriangleFeature::Inside, _] | [_, TriangleFeature::Inside] => 1,
            _ => 2,
        }] += 1;
    }
    assert!((400..3200).contains(&crossing), "{crossing}");
    assert!(kinds.iter().all(|&n| n > 100), "{kinds:?}");
}

#[test]
fn degenerate_triangles_agree_with_the_slow_twin() {
    // Corners on a coarse grid: repeated corners, collinear, coplanar, parallel and touching are frequent.
    let mut rng = Pcg64::seed_from_u64(6);
    let (mut touching, mut flat) = (0, 0);
    for _ in 0..4000 {
        let mut corner =
            || DVec3::from(std::array::from_fn::<f64, 3, _>(|_| f64::from(rng.random_range(0..4u8))));
        let a = [corner(), corner(), corner()];
        let b = [corner(), corner(), corner()];
        flat += usize::from((a[1] - a[0]).cross(a[2] - a[0]) == DVec3::ZERO);
        let (found, slow) = (nearest(&a, &b), slow_distance(&a, &b));
        if slow < 1e-9 {
            touching += 1;
            assert!(!found.disjoint);
        } else {
            assert!((found.distance - slow).abs() < 1e-7, "{a:?} {b:?} {found:?} {slow}");
        }
    }
    assert!((400..3600).contains(&touching), "{touching}");
    assert!(flat > 100, "{flat}");
}

#[test]
fn the_answer_scales_with_the_coordinates() {
    let mut rng = Pcg64::seed_from_u64(7);
    for _ in 0..200 {
        let (a, b) = (triangle(&mut rng, DVec3::ZERO), triangle(&mut rng, DVec3::splat(1.5)));
        let unit = nearest(&a, &b);
        for power in [-980, -400, -200, 30, 190] {
            let scale = 2f64.powi(power);
            let found = nearest(&a.map(|p| p * scale), &b.map(|p| p * scale));
            assert!((found.distance / scale - unit.distance).abs() < 1e-14, "2^{power}");
            assert_eq!(found.disjoint, unit.disjoint);
        }
    }
    let tiny = f64::from_bits(1);
    let at = |x: f64| [DVec3::splat(x); 3];
    assert!(nearest(&at(0.0), &at(tiny)).distance > 0.0);
    assert_eq!(nearest(&at(tiny), &at(tiny)).distance, 0.0);
}

/// Exact arithmetic agrees with floats wherever these see the gap.
#[test]
fn the_exact_path_agrees_with_floats() {
    let mut rng = Pcg64::seed_from_u64(8);
    let mut apart = 0;
    for round in 0..600 {
        let mut corner = || {
            DVec3::from(std::array::from_fn::<f64, 3, _>(|_| match round % 2 {
                0 => f64::from(rng.random_range(0..4u8)),
                _ => rng.random_range(0.0..3.0),
            }))
        };
        let (a, b) = ([corner(), corner(), corner()], [corner(), corner(), corner()]);
        let found = separation(&a, &b);
        assert_eq!(found.is_none(), meet(&a, &b));
        let Some(found) = found else { continue };
        apart += 1;
        for power in [-1000, -300, 0, 190] {
            let scale = 2f64.powi(power);
            let [p, q] = [a, b].map(|t| t.map(|p| p * scale));
            let exact = triangle_distance_exact::nearest(&p, &q);
            let want = nearest(&p, &q);
            assert!(
                (exact.distance / scale - want.distance / scale).abs() < 1e-14,
                "2^{power}: {exact:?} {want:?}"
            );
            let shown = norm((exact.points[1] - exact.points[0]) / scale);
            assert!((shown - found.distance).abs() < 1e-14, "2^{power}: {exact:?} {found:?}");
        }
    }
    assert!((150..500).contains(&apart), "{apart}");
}
