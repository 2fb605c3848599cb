use super::*;
use crate::Mesh;
use crate::shape::procedural;

/// Every pair of triangles, by the kernel that the search uses too (it has its own twin) and the exact
/// predicate.
fn brute_force(a: &Model, pose_a: &Pose, b: &Model, pose_b: &Pose) -> f64 {
    let placed = |m: &Model, pose: &Pose| -> Vec<[DVec3; 3]> {
        (0..m.mesh().triangles().len() as u32).map(|t| m.mesh().corners(t).map(|p| pose.apply(p))).collect()
    };
    let (all_a, all_b) = (placed(a, pose_a), placed(b, pose_b));
    let mut best = f64::INFINITY;
    for x in &all_a {
        for y in &all_b {
            if triangle_triangle::meet(x, y) {
                return 0.0;
            }
            best = best.min(triangle_distance::nearest(x, y).distance);
        }
    }
    best
}

fn placements(count: usize, spread: f64, seed: u64) -> Vec<[Pose; 2]> {
    let positions = procedural::positions(count, DVec3::splat(-spread), DVec3::splat(spread), seed);
    let turns = procedural::rotations(2 * count, seed);
    (0..count)
        .map(|k| {
            let a = Pose::new([0.1, 0.2, -0.3], turns[2 * k]).unwrap();
            [a, Pose::new(positions[k].into(), turns[2 * k + 1]).unwrap()]
        })
        .collect()
}

fn check(a: &Model, b: &Model, poses: &[[Pose; 2]]) -> usize {
    let mut meeting = 0;
    for [pose_a, pose_b] in poses {
        let found = distance(a, pose_a, b, pose_b);
        let want = brute_force(a, pose_a, b, pose_b);
        assert_eq!(found.distance, want, "{pose_a:?} {pose_b:?}");
        assert_eq!(found.at_least, want);
        meeting += usize::from(want == 0.0);
        let size = 1.0 + pose_a.translation().length() + pose_b.translation().length();
        assert!((found.points[0].distance(found.points[1]) - want).abs() < 1e-14 * size);
        for (k, (m, pose)) in [(a, pose_a), (b, pose_b)].into_iter().enumerate() {
            let on = super::super::closest_point::closest_point(m, pose, found.points[k]);
            assert!(on.distance < 1e-14 * size);
        }
        let swapped = distance(b, pose_b, a, pose_a);
        assert!((swapped.distance - want).abs() <= 1e-14 * size);
    }
    meeting
}

#[test]
fn agrees_with_every_pair_of_triangles() {
    let torus = Model::from(procedural::torus(1.0, 0.3, 16, 8).unwrap());
    let blob = Model::from(procedural::blob(0.5, 0.3, 2, 3).unwrap());
    let meeting = check(&torus, &blob, &placements(60, 1.6, 2));
    assert!((12..48).contains(&meeting), "{meeting}");
}

#[test]
fn nested_far_skewed_and_flat_bodies() {
    let ball = Model::from(procedural::ico_sphere(1.0, 2).unwrap());
    let core = Model::from(procedural::ico_sphere(0.3, 1).unwrap());
    let sheet = Model::from(procedural::sheet([2.0, 2.0], [9, 9]).unwrap());
    assert_eq!(check(&ball, &core, &placements(10, 0.2, 5)), 0);
    let flat: Vec<[Pose; 2]> =
        [0.0, 1e-300, 1e-9, 0.5].map(|z| [Pose::IDENTITY, Pose::shift([0.3, 0.2, z])]).into();
    assert_eq!(check(&sheet, &sheet, &flat), 1);
    let mut skewed = [0.0; 16];
    (skewed[0], skewed[5], skewed[10], skewed[15]) = (1.00004, 0.99996, 1.00003, 1.0);
    (skewed[1], skewed[3]) = (3e-5, 1.4);
    let skewed = Pose::from_matrix(&skewed).unwrap();
    let far = Pose::new([1e9, -3e9, 2e9], [0.1, 0.2, 0.3, 0.4]).unwrap();
    let farther = Pose::shift(far.translation() + DVec3::new(1.4, 0.2, 0.1));
    check(&ball, &core, &[[skewed, Pose::IDENTITY], [far, farther], [Pose::IDENTITY, far]]);
}

#[test]
fn degenerate_triangles_count() {
    let corners = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 1.0]];
    let odd = Mesh::new(corners, vec![[0, 0, 2], [3, 3, 3], [0, 1, 2]]).unwrap();
    let odd = Model::from(odd);
    let ball = Model::from(procedural::ico_sphere(0.5, 1).unwrap());
    let meeting = check(&odd, &ball, &placements(60, 1.0, 8)) + check(&odd, &odd, &placements(20, 1.0, 9));
    assert!((5..75).contains(&meeting), "{meeting}");
}

#[test]
fn huge_and_tiny_bodies_answer_alike() {
    let (a, b) = (procedural::torus(1.0, 0.3, 12, 6).unwrap(), procedural::ico_sphere(0.4, 1).unwrap());
    let apart = [0.5, 1.4, 0.9];
    let scaled = |mesh: &Mesh, by: f64| {
        let vertices = mesh.vertices().iter().map(|p| *p * by).collect();
        Model::from(Mesh::from_points(vertices, mesh.triangles().to_vec()).unwrap())
    };
    let want = distance(&scaled(&a, 1.0), &Pose::IDENTITY, &scaled(&b, 1.0), &Pose::shift(apart));
    assert!(want.distance > 0.1);
    for power in [-900, -300, -100, 100, 190] {
        let by = 2f64.powi(power);
        let away = Pose::shift(apart.map(|x| x * by));
        let found = distance(&scaled(&a, by), &Pose::IDENTITY, &scaled(&b, by), &away);
        assert!((found.distance / by - want.distance).abs() < 1e-14, "2^{power} {}", found.distance);
    }
}

#[test]
fn memory_and_threads_change_nothing_but_work() {
    let torus = Model::from(procedural::torus(1.0, 0.3, 48, 24).unwrap());
    let blob = Model::from(procedural::blob(0.5, 0.3, 4, 3).unwrap());
    let mut memory = DistanceMemory::default();
    let poses: Vec<[Pose; 2]> = (0..40)
        .map(|k| {
            let at = [1.2, 0.02 * f64::from(k), 1.5 - 0.04 * f64::from(k)];
            [Pose::IDENTITY, Pose::new(at, [0.3, 0.1, 0.2 + 0.01 * f64::from(k), 0.5]).unwrap()]
        })
        .collect();
    let together = distances(&torus, &blob, &poses);
    let (mut cold_work, mut warm_work, mut meeting) = (0, 0, 0);
    for ([pose_a, pose_b], batch) in poses.iter().zip(together) {
        let cold = distance(&torus, pose_a, &blob, pose_b);
        let warm = distance_again(&torus, pose_a, &blob, pose_b, &mut memory);
        assert_eq!(cold, batch);
        cold_work += cold.outcome.work.volume_tests;
        warm_work += warm.outcome.work.volume_tests;
        meeting += usize::from(cold.distance == 0.0);
        assert_eq!(Distance { outcome: cold.outcome, ..warm }, cold);
    }
    assert!((5..35).contains(&meeting), "{meeting}");
    assert!(warm_work < cold_work, "{warm_work} {cold_work}");
}

#[test]
fn a_budget_brackets_the_distance_and_resumes() {
    let torus = Model::from(procedural::torus(1.0, 0.3, 48, 24).unwrap());
    let away = Pose::new([1.9, 0.9, 1.1], [0.3, 0.1, 0.2, 0.5]).unwrap();
    let want = distance(&torus, &Pose::IDENTITY, &torus, &away);
    let mut search = DistanceSearch::new(&torus, &Pose::IDENTITY, &torus, &away);
    let mut rounds = 0;
    loop {
        let found = search.advance(&mut Budget::units(128));
        if found.outcome.finish == Finish::Complete {
            assert_eq!(found, want);
            break;
        }
        assert_eq!(found.outcome.finish, Finish::OutOfBudget);
        assert!(found.at_least <= want.distance && want.distance <= found.distance);
        assert!(found.at_least >= 0.0);
        rounds += 1;
    }
    assert!(rounds > 3, "{rounds}");
}
