use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::Mesh;
use crate::hierarchy::wide::{BuildOptions, Strategy, WideTree};
use crate::shape::procedural;
use crate::simd::SimdLevel;

/// Triangles around a point.
fn soup(rng: &mut Pcg64, count: usize, centre: DVec3, size: f64, edge: f64) -> Mesh {
    let mut point = |scale: f64| DVec3::from_array(std::array::from_fn(|_| rng.random_range(-scale..scale)));
    let mut points = Vec::new();
    for _ in 0..count {
        let at = centre + point(size);
        points.extend([at, at + point(edge), at + point(edge)]);
    }
    let triangles = (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    Mesh::from_points(points, triangles).unwrap()
}

/// Triangles with small whole coordinates: most pairs touch, lie in one plane or are degenerate.
fn grid_soup(rng: &mut Pcg64, count: usize, scale: f64) -> Mesh {
    let points = (0..3 * count)
        .map(|_| std::array::from_fn(|_| scale * f64::from(rng.random_range(-3..=3))))
        .collect();
    Mesh::new(points, (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect()).unwrap()
}

fn quaternion(rng: &mut Pcg64) -> [f64; 4] {
    std::array::from_fn(|_| rng.random_range(-1.0..1.0))
}

/// A matrix that is orthonormal only within the contract's 1e-4.
fn skewed(rng: &mut Pcg64, position: [f64; 3]) -> Pose {
    let m = Pose::new(position, quaternion(rng)).unwrap().matrix();
    let mut rows = [0.0; 16];
    for (k, entry) in rows.iter_mut().enumerate() {
        *entry = match (k / 4, k % 4) {
            (3, 3) => 1.0,
            (3, _) => 0.0,
            (i, 3) => position[i],
            (i, j) => m.row(i)[j] + rng.random_range(-1e-5..1e-5),
        };
    }
    Pose::from_matrix(&rows).unwrap()
}

/// Every pair, by the exact test alone.
fn brute(a: Posed<'_>, b: Posed<'_>) -> Vec<[u32; 2]> {
    let count = |body: Posed<'_>| body.model.mesh().triangles().len() as u32;
    let mut all = Vec::new();
    for i in 0..count(a) {
        for j in 0..count(b) {
            if meet(&a.corners(i), &b.corners(j)) {
                all.push([i, j]);
            }
        }
    }
    all
}

/// Compares every way of asking with brute force and returns how many pairs there are.
fn agree(a: Posed<'_>, b: Posed<'_>, what: &str) -> usize {
    let want = brute(a, b);
    assert_eq!(pairs(a.model, &a.pose, b.model, &b.pose), want, "{what}");
    let swapped: Vec<_> =
        pairs(b.model, &b.pose, a.model, &a.pose).into_iter().map(|[i, j]| [j, i]).collect();
    assert_eq!(
        {
            let mut s = swapped;
            s.sort_unstable();
            s
        },
        want,
        "{what}, swapped"
    );
    match first_meeting(a, b) {
        Some(pair) => assert!(want.contains(&pair), "{what}"),
        None => assert!(want.is_empty(), "{what}: a missed pair"),
    }
    want.len()
}

#[test]
fn random_soups_under_random_poses() {
    let mut rng = Pcg64::seed_from_u64(1);
    let mut hits = 0;
    for case in 0..60 {
        let count = rng.random_range(1..120);
        let a = Model::from(soup(&mut rng, count, DVec3::ZERO, 1.0, 0.2));
        let b = Model::from(soup(&mut rng, 150, DVec3::ONE, 1.0, 0.2));
        let reach = rng.random_range(0.5..3.0);
        let at = std::array::from_fn(|_| rng.random_range(-reach..reach));
        let pose_a = Pose::new(at, quaternion(&mut rng)).unwrap();
        let pose_b = if case % 2 == 0 { skewed(&mut rng, [-1.0; 3]) } else { Pose::shift([-1.0; 3]) };
        hits += usize::from(agree(Posed::new(&a, pose_a), Posed::new(&b, pose_b), "soup") > 0);
    }
    assert!((15..=50).contains(&hits), "{hits} of 60 hit");
}

#[test]
fn touching_and_coplanar_grids_at_every_scale() {
    let mut rng = Pcg64::seed_from_u64(2);
    let turns = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]];
    let mut found = 0;
    for scale in [1.0, 1e-6, 1e6, 1e57, 1e-300, 1e-320] {
        for turn in turns {
            let a = Model::from(grid_soup(&mut rng, 60, scale));
            let b = Model::from(grid_soup(&mut rng, 60, scale));
            let at: [f64; 3] = std::array::from_fn(|_| scale * f64::from(rng.random_range(-5..=5)));
            let [a, b] = [Posed::new(&a, Pose::new(at, turn).unwrap()), Posed::new(&b, Pose::IDENTITY)];
            found += agree(a, b, &format!("grid {scale:e}"));
        }
    }
    assert!(found > 3000, "{found}");
}

#[test]
fn tiny_bodies_far_away_lose_no_pair() {
    // At 1e6 a double is coarser than 1e-10: the placed corners snap to a lattice, so many pairs touch
    // that would not without the rounding.
    let mut rng = Pcg64::seed_from_u64(3);
    let mut found = 0;
    for size in [1e-6, 1e-8, 1e-9] {
        for _ in 0..8 {
            let a = Model::from(soup(&mut rng, 60, DVec3::ZERO, size, 0.9 * size));
            let b = Model::from(soup(&mut rng, 60, DVec3::ZERO, size, 0.9 * size));
            let at = [1e6, -2e6, 3e5];
            let pose_a = Pose::new(at, quaternion(&mut rng)).unwrap();
            let near = at.map(|x: f64| x + rng.random_range(-size..size));
            let pose_b = Pose::new(near, quaternion(&mut rng)).unwrap();
            found += agree(Posed::new(&a, pose_a), Posed::new(&b, pose_b), &format!("{size:e}"));
        }
    }
    assert!(found > 300, "{found}");
}

#[test]
fn very_different_sizes() {
    let mut rng = Pcg64::seed_from_u64(4);
    let mut found = 0;
    for ratio in [1e-3, 1e-7, 1e-20, 1e-60, 1e-200] {
        let a = Model::from(soup(&mut rng, 40, DVec3::ZERO, 1.0, 2.0));
        let b = Model::from(soup(&mut rng, 40, DVec3::ZERO, ratio, ratio));
        let on_a = a.mesh().corners(7).into_iter().sum::<DVec3>() / 3.0;
        let [a, b] = [Posed::new(&a, Pose::IDENTITY), Posed::new(&b, Pose::shift(on_a))];
        found += agree(a, b, &format!("{ratio:e}"));
    }
    assert!(found > 10, "{found}");
}

#[test]
fn instruction_sets_and_build_options_do_the_same() {
    let mut rng = Pcg64::seed_from_u64(5);
    let mesh = soup(&mut rng, 400, DVec3::ZERO, 1.0, 0.2);
    let other = soup(&mut rng, 300, DVec3::ZERO, 1.0, 0.3);
    let pose = Pose::new([0.3, 0.2, 0.1], quaternion(&mut rng)).unwrap();
    struct All(Vec<[u32; 2]>);
    impl LeafPairs for All {
        fn meet(&mut self, slots: &[[u32; 2]], _: &mut Counters) -> ControlFlow<()> {
            self.0.extend(slots);
            ControlFlow::Continue(())
        }
    }
    for leaf_most in 1..=4 {
        let options = BuildOptions { strategy: Strategy::SurfaceArea, leaf_most };
        let [a, b] = [&mesh, &other].map(|mesh| WideTree::build_with(mesh, &options));
        let relative = Relative::new(&a, &pose, &b, &Pose::IDENTITY, 0.0);
        let run = |level| {
            let (mut all, mut work) = (All(Vec::new()), Counters::default());
            let mut budget = Budget::UNLIMITED.clone();
            DualSearch::on(level).advance(&a, &b, &relative, &mut all, &mut budget, &mut work);
            (all.0, work)
        };
        let want = run(SimdLevel::PORTABLE);
        assert!(want.0.len() > 100);
        for level in SimdLevel::available() {
            assert!(run(level) == want, "{level:?}");
        }
    }
}

#[test]
fn a_budget_stops_and_resumes_without_loss() {
    let mut rng = Pcg64::seed_from_u64(6);
    let [a, b] = [(); 2].map(|()| Model::from(soup(&mut rng, 300, DVec3::ZERO, 1.0, 0.3)));
    let [a, b] = [Posed::new(&a, Pose::IDENTITY), Posed::new(&b, Pose::shift([0.1; 3]))];
    let want = pairs(a.model, &a.pose, b.model, &b.pose);
    let mut search = SurfaceSearch::new(a, b);
    let mut all = Vec::new();
    let mut pauses = 0;
    while search.advance(&mut Budget::units(200), keep_meeting(&mut all)) == Finish::OutOfBudget {
        pauses += 1;
    }
    all.sort_unstable();
    assert!(pauses > 10 && !want.is_empty());
    assert_eq!(all, want);
}

#[test]
fn halves_of_a_search_find_every_pair_once() {
    let mut rng = Pcg64::seed_from_u64(16);
    let [a, b] = [(); 2].map(|()| Model::from(soup(&mut rng, 300, DVec3::ZERO, 1.0, 0.3)));
    let [a, b] = [Posed::new(&a, Pose::IDENTITY), Posed::new(&b, Pose::shift([0.1; 3]))];
    let want = pairs(a.model, &a.pose, b.model, &b.pose);
    let (mut parts, mut all, mut halves) = (vec![SurfaceSearch::new(a, b)], Vec::new(), 0);
    while let Some(mut part) = parts.pop() {
        while part.advance(&mut Budget::units(200), keep_meeting(&mut all)) == Finish::OutOfBudget {
            let half = part.halve();
            halves += usize::from(half.is_some());
            parts.extend(half);
        }
    }
    all.sort_unstable();
    assert!(halves > 10 && !want.is_empty());
    assert_eq!(all, want);
}

#[test]
fn a_margin_finds_every_near_pair() {
    let mut rng = Pcg64::seed_from_u64(7);
    let mut near = 0;
    for _ in 0..10 {
        let a = Model::from(soup(&mut rng, 60, DVec3::ZERO, 1.0, 0.2));
        let b = Model::from(soup(&mut rng, 60, DVec3::ZERO, 1.0, 0.2));
        let pose_a = Pose::new([1.5, 0.0, 0.0], quaternion(&mut rng)).unwrap();
        let [a, b] = [Posed::new(&a, pose_a), Posed::new(&b, skewed(&mut rng, [0.0; 3]))];
        let margin = rng.random_range(0.05..0.4);
        let mut candidates = Vec::new();
        SurfaceSearch::within(a, b, margin).advance(&mut Budget::UNLIMITED.clone(), |pair| {
            candidates.push(pair.triangles);
            ControlFlow::Continue(())
        });
        for i in 0..60 {
            for j in 0..60 {
                // Corners alone are enough to know that a pair is near.
                let [x, y] = [a.corners(i), b.corners(j)];
                if x.iter().any(|p| y.iter().any(|q| p.distance(*q) <= margin)) {
                    near += 1;
                    assert!(candidates.contains(&[i, j]));
                }
            }
        }
    }
    assert!(near > 50, "{near}");
}

#[test]
fn large_searches_and_batches_do_not_depend_on_threads() {
    let mut rng = Pcg64::seed_from_u64(8);
    let [a, b] = [(); 2].map(|()| Model::from(soup(&mut rng, 3000, DVec3::ZERO, 1.0, 0.15)));
    let poses: Vec<[Pose; 2]> = (0..4)
        .map(|k| [Pose::new([0.4 * f64::from(k), 0.0, 0.0], quaternion(&mut rng)).unwrap(), Pose::IDENTITY])
        .collect();
    let run = || (first_meetings(&a, &b, &poses), pairs_of_all(&a, &b, &poses));
    let (first, all) = run();
    assert!(first[0].is_some() && all[0].len() > 1000);
    #[cfg(feature = "parallel")]
    {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert!(pool.install(run) == (first.clone(), all.clone()));
    }
    let mut serial = Vec::new();
    for_each_meeting(Posed::new(&a, poses[0][0]), Posed::new(&b, poses[0][1]), |i, j| {
        serial.push([i, j]);
        ControlFlow::Continue(())
    });
    serial.sort_unstable();
    assert_eq!(serial, all[0]);
}

/// Tiny triangles and patches in a large mesh, down to where squares of their areas underflow in f32, and one
/// huge triangle through a small one: every pair that brute force finds.
#[test]
fn tiny_patches_and_huge_triangles_lose_nothing() {
    let mut found = 0;
    for edge in [1e-8, 3e-10, 4e-11, 1e-11, 6e-12, 1e-13, 1e-20] {
        let mut vertices = vec![[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [1.0, -1.0, 0.5]];
        let mut triangles = vec![[0, 1, 2]];
        // A folded patch about the origin.
        for i in 0..6 {
            for j in 0..6 {
                let at = [f64::from(i) - 2.5, f64::from(j) - 2.5, 0.3 * f64::from((i * j) % 3)];
                vertices.push(at.map(|x| x * edge));
            }
        }
        for i in 0..5 {
            for j in 0..5 {
                let k = 3 + 6 * i + j;
                triangles.extend([[k, k + 6, k + 1], [k + 1, k + 6, k + 7]]);
            }
        }
        let patch = Model::from(Mesh::new(vertices, triangles).unwrap());
        for turn in procedural::rotations(4, 21) {
            let [a, b] =
                [Posed::new(&patch, Pose::IDENTITY), Posed::new(&patch, Pose::new([0.0; 3], turn).unwrap())];
            found += agree(a, b, &format!("edge {edge:e}"));
        }
    }
    for s in [4e12, 1e13, 5e13, 1e14, 1e20] {
        let huge = Mesh::new(vec![[s, -s, -s], [-s, s, -s], [0.0, 0.0, s]], vec![[0, 1, 2]]).unwrap();
        let small = Mesh::new(vec![[-1.0, -1.0, 0.5], [1.0, 1.0, -0.5], [0.2, -0.9, 1.0]], vec![[0, 1, 2]]);
        let [huge, small] = [Model::from(huge), Model::from(small.unwrap())];
        let [a, b] = [Posed::new(&huge, Pose::IDENTITY), Posed::new(&small, Pose::IDENTITY)];
        found += agree(a, b, &format!("{s:e}")) + agree(b, a, &format!("{s:e} swapped"));
    }
    assert!(found > 500, "{found}");
}
