use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::super::brute::signed_distance;
use super::*;

fn random_point(rng: &mut Pcg64) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| rng.random_range(-1.0..1.0)))
}

fn random_pose(rng: &mut Pcg64, spread: f64) -> Pose {
    let q: [f64; 4] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
    Pose::new((random_point(rng) * spread).into(), q).unwrap()
}

fn random_body(rng: &mut Pcg64) -> Polytope {
    let count = rng.random_range(1..16);
    let stretch = match rng.random_range(0..6) {
        0 => DVec3::new(1.0, 1.0, 0.0),
        1 => DVec3::new(1.0, 0.0, 0.0),
        2 => DVec3::new(1.0, 1e-3, 1.0),
        _ => DVec3::ONE,
    };
    let round = rng.random_bool(0.3);
    let points: Vec<DVec3> = (0..count)
        .map(|_| {
            let p = random_point(rng) * stretch;
            if round { (p * 2.0).round() / 2.0 } else { p }
        })
        .collect();
    Polytope::hull(&points).unwrap()
}

fn check(found: &Separation, want: f64, size: f64, context: &dyn Fn() -> String) {
    let tolerance = 1e-11 * size;
    assert!(
        (found.distance - want).abs() <= tolerance,
        "{} instead of {want}: {}",
        found.distance,
        context()
    );
    assert!((found.normal.length() - 1.0).abs() < 1e-12, "{found:?}: {}", context());
    let between = found.points[1] - found.points[0];
    assert!((between - found.normal * found.distance).length() <= tolerance, "{found:?}: {}", context());
}

#[test]
fn random_pairs_agree_with_all_pairs_of_features() {
    let mut rng = Pcg64::seed_from_u64(51);
    let mut overlaps = 0;
    let rounds = 3_000;
    let mut work = WalkWork::default();
    for round in 0..rounds {
        let (a, b) = (random_body(&mut rng), random_body(&mut rng));
        let (pose_a, mut pose_b) = (random_pose(&mut rng, 0.6), random_pose(&mut rng, 0.6));
        let mut memory = WalkMemory::default();
        for _ in 0..3 {
            let found = distance(&a, &pose_a, &b, &pose_b, &mut memory);
            let want = signed_distance(&a, &pose_a, &b, &pose_b);
            check(&found, want, 4.0, &|| {
                format!("{round} {:?} {:?} {pose_a:?} {pose_b:?}", a.vertices(), b.vertices())
            });
            overlaps += usize::from(want < 0.0);
            pose_b = pose_b.compose(&random_pose(&mut rng, 0.2));
        }
        let w = memory.work();
        work.steps += w.steps;
        work.stalls += w.stalls;
        work.exhausted += w.exhausted;
        work.depths += w.depths;
        work.corners += w.corners;
    }
    println!("{overlaps} {work:?}");
    assert!((0.2..0.8).contains(&(overlaps as f64 / (3 * rounds) as f64)), "{overlaps}");
}
