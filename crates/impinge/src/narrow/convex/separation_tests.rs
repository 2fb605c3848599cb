use glam::{DQuat, DVec3};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::shape::Polytope;

fn vector(rng: &mut Pcg64, size: f64) -> DVec3 {
    DVec3::from([(); 3].map(|()| rng.random_range(-size..size)))
}

fn pose(rng: &mut Pcg64, spread: f64) -> Pose {
    let turn = [(); 4].map(|()| rng.random_range(-1.0..1.0));
    Pose::new(vector(rng, spread).to_array(), turn).unwrap()
}

/// One of every kind but the half-space, of random size.
fn kinds(rng: &mut Pcg64, unit: f64) -> Vec<Convex> {
    let mut size = || unit * rng.random_range(0.2..1.0);
    let primitives = [
        Primitive::sphere(size()),
        Primitive::cuboid([size(), size(), size()]),
        Primitive::capsule(size(), size()),
        Primitive::cylinder(size(), size()),
        Primitive::cone(size(), size()),
        Primitive::ellipsoid([size(), size(), size()]),
    ];
    let mut all: Vec<Convex> = primitives.into_iter().map(|p| p.unwrap().into()).collect();
    let corners = [(); 3].map(|()| vector(rng, unit));
    all.push(Primitive::triangle(corners).unwrap().into());
    all.push(Primitive::segment([corners[1], vector(rng, unit)]).unwrap().into());
    let points: Vec<DVec3> = (0..rng.random_range(4..30)).map(|_| vector(rng, unit)).collect();
    all.push(Polytope::hull(&points).unwrap().into());
    all
}

/// The placed support point.
fn placed_support(shape: &Convex, pose: &Pose, d: DVec3) -> DVec3 {
    pose.matrix() * shape.support(pose.matrix().transpose() * d) + pose.translation()
}

/// Minus the support of the difference body: the signed distance is its largest value over directions.
fn parting(a: &Convex, pose_a: &Pose, b: &Convex, pose_b: &Pose, d: DVec3) -> f64 {
    (placed_support(b, pose_b, -d) - placed_support(a, pose_a, d)).dot(d)
}

/// The slow twin: many directions, each climbed to the top as far as random steps can.
fn sampled(a: &Convex, pose_a: &Pose, b: &Convex, pose_b: &Pose, rng: &mut Pcg64) -> f64 {
    let value = |d: DVec3| parting(a, pose_a, b, pose_b, d);
    let mut best = f64::NEG_INFINITY;
    for _ in 0..100 {
        let mut at = vector(rng, 1.0).normalize_or(DVec3::X);
        let mut step = 1.0;
        while step > 1e-6 {
            let next = DQuat::from_scaled_axis(vector(rng, step)) * at;
            if value(next) > value(at) {
                at = next;
            } else {
                step *= 0.9;
            }
        }
        best = best.max(value(at));
    }
    best
}

#[test]
fn every_pair_of_kinds_agrees_with_sampled_directions() {
    let mut rng = Pcg64::seed_from_u64(31);
    let (mut deep, mut all) = (0, 0);
    let mut memory = ConvexMemory::default();
    for round in 0..3 {
        let (a_kinds, b_kinds) = (kinds(&mut rng, 1.0), kinds(&mut rng, 1.0));
        for a in &a_kinds {
            for b in &b_kinds {
                let (pose_a, pose_b) = (pose(&mut rng, 0.8), pose(&mut rng, 0.8));
                let (found, certainty) = distance(a, &pose_a, b, &pose_b, &mut memory);
                let (cold, _) = distance(a, &pose_a, b, &pose_b, &mut ConvexMemory::default());
                assert!(
                    (found.distance - cold.distance).abs() < 1e-11,
                    "{round} {}–{} {found:?} {cold:?}",
                    a.kind(),
                    b.kind()
                );
                let slow = sampled(a, &pose_a, b, &pose_b, &mut rng);
                let name = format!("{round} {}–{} {certainty:?}", a.kind(), b.kind());
                // No direction does better than the answer's; `check` sees that its own does as well.
                assert!(slow < found.distance + 1e-11, "{name}: {found:?}, sampled {slow}");
                assert!(slow > found.distance - 0.05, "{name}: {found:?}, sampled {slow}");
                check(&found, a, &pose_a, b, &pose_b, &name);
                all += 1;
                deep += usize::from(found.distance < 0.0);
            }
        }
    }
    assert!(deep * 5 > all && deep * 5 < 4 * all, "{deep} of {all} overlap");
}

/// What every answer must fulfil by itself, to rounding.
fn check(found: &Separation, a: &Convex, pose_a: &Pose, b: &Convex, pose_b: &Pose, name: &str) {
    let [p, q] = found.points;
    assert!((found.normal.length() - 1.0).abs() < 1e-14, "{name}");
    let off = q - p - found.normal * found.distance;
    assert!(off.length() < 1e-5, "{name}: {found:?} {off}");
    let value = parting(a, pose_a, b, pose_b, found.normal);
    assert!((value - found.distance).abs() < 1e-10, "{name}: {found:?} {value}");
}

#[test]
fn moving_b_by_the_distance_makes_them_touch() {
    let mut rng = Pcg64::seed_from_u64(77);
    let (mut deep, mut all) = (0, 0);
    for unit in [1e-6, 1.0, 1e6] {
        for _ in 0..3 {
            let (a_kinds, b_kinds) = (kinds(&mut rng, unit), kinds(&mut rng, unit));
            for (a, b) in a_kinds.iter().flat_map(|a| b_kinds.iter().map(move |b| (a, b))) {
                let (pose_a, pose_b) = (pose(&mut rng, 0.8 * unit), pose(&mut rng, 0.8 * unit));
                let (found, _) = distance(a, &pose_a, b, &pose_b, &mut ConvexMemory::default());
                let touching = Pose::shift(-found.normal * found.distance).compose(&pose_b);
                let (rest, _) = distance(a, &pose_a, b, &touching, &mut ConvexMemory::default());
                let name = format!("{}–{} {found:?} {rest:?}", a.kind(), b.kind());
                assert!(rest.distance.abs() < 5e-12 * unit, "{name}");
                // Farther along the normal they part by as much: nothing is in the way.
                let away = Pose::shift(found.normal * (0.1 * unit)).compose(&touching);
                let (apart, _) = distance(a, &pose_a, b, &away, &mut ConvexMemory::default());
                assert!(
                    apart.distance > 0.0 && apart.distance < 0.1 * unit * (1.0 + 1e-10),
                    "{name} {apart:?}"
                );
                deep += usize::from(found.distance < 0.0);
                all += 1;
            }
        }
    }
    assert!(deep * 5 > all && deep * 5 < 4 * all, "{deep} of {all} overlap");
}

#[test]
fn neither_memory_nor_place_nor_order_matters() {
    let mut rng = Pcg64::seed_from_u64(5);
    let mut memory = ConvexMemory::default();
    for _ in 0..3 {
        let (a_kinds, b_kinds) = (kinds(&mut rng, 1.0), kinds(&mut rng, 1.0));
        for (a, b) in a_kinds.iter().flat_map(|a| b_kinds.iter().map(move |b| (a, b))) {
            let (pose_a, pose_b) = (pose(&mut rng, 1.0), pose(&mut rng, 1.0));
            let name = format!("{}–{}", a.kind(), b.kind());
            let fresh = ConvexMemory::default;
            let (cold, _) = distance(a, &pose_a, b, &pose_b, &mut fresh());
            let (warm, _) = distance(a, &pose_a, b, &pose_b, &mut memory);
            assert!((cold.distance - warm.distance).abs() < 1e-12, "{name} {cold:?} {warm:?}");
            let moved = [&pose_a, &pose_b].map(|p| Pose::shift([8.0, -4.0, 2.0]).compose(p));
            let (there, _) = distance(a, &moved[0], b, &moved[1], &mut fresh());
            assert!((cold.distance - there.distance).abs() < 1e-12, "{name} {cold:?} {there:?}");
            let (back, _) = distance(b, &pose_b, a, &pose_a, &mut fresh());
            let both_hulls = matches!((a, b), (Convex::Polytope(_), Convex::Polytope(_)));
            assert!(back.swapped() == cold || both_hulls, "{name} {cold:?} {back:?}");
            assert!((back.distance - cold.distance).abs() < 1e-13, "{name}");
        }
    }
}

/// Coordinates of a coarse grid and quarter turns: parallel axes, common planes, equal sizes, touching.
#[test]
fn aligned_pairs_are_right_too() {
    let mut rng = Pcg64::seed_from_u64(11);
    let half = 0.5_f64.sqrt();
    let turns = [[0.0, 0.0, 0.0, 1.0], [half, 0.0, 0.0, half], [0.0, half, 0.0, half], [0.5; 4]];
    let (mut touching, mut all) = (0, 0);
    for _ in 0..400 {
        let mut size = || [0.5, 1.0, 2.0][rng.random_range(0..3)];
        let grid = [
            Primitive::sphere(size()),
            Primitive::cuboid([size(), size(), size()]),
            Primitive::capsule(size(), size()),
            Primitive::cylinder(size(), size()),
            Primitive::cone(size(), size()),
            Primitive::ellipsoid([size(), size(), size()]),
        ];
        let mut pick = || {
            let shape = Convex::from(grid[rng.random_range(0..6)].clone().unwrap());
            let at = [(); 3].map(|()| f64::from(rng.random_range(-3..4)) * 0.5);
            (shape, Pose::new(at, turns[rng.random_range(0..4)]).unwrap())
        };
        let ((a, pose_a), (b, pose_b)) = (pick(), pick());
        let (found, certainty) = distance(&a, &pose_a, &b, &pose_b, &mut ConvexMemory::default());
        let name = format!("{a:?} {pose_a:?} {b:?} {pose_b:?} {found:?} {certainty:?}");
        check(&found, &a, &pose_a, &b, &pose_b, &name);
        // Families of equally good directions leave the bracket open; it must still hold the truth.
        let width = if let Certainty::Approximate { resolution } = certainty { resolution } else { 0.0 };
        for _ in 0..300 {
            let d = vector(&mut rng, 1.0).normalize_or(DVec3::X);
            let value = parting(&a, &pose_a, &b, &pose_b, d);
            assert!(value <= found.distance + width + 1e-12, "{name}: {value} along {d}");
        }
        all += 1;
        touching += usize::from(found.distance.abs() < 1e-12);
    }
    assert!(touching * 50 > all, "{touching} of {all} touch");
}

#[test]
fn sizes_far_from_one_do_not_break_it() {
    let mut rng = Pcg64::seed_from_u64(2);
    for unit in [1e-300, 1e-100, 1e-30, 1e30, 1e59] {
        let (a_kinds, b_kinds) = (kinds(&mut rng, unit), kinds(&mut rng, unit));
        for (a, b) in a_kinds.iter().flat_map(|a| b_kinds.iter().map(move |b| (a, b))) {
            let (pose_a, pose_b) = (pose(&mut rng, 0.8 * unit), pose(&mut rng, 0.8 * unit));
            let (found, _) = distance(a, &pose_a, b, &pose_b, &mut ConvexMemory::default());
            let name = format!("{unit} {}–{} {found:?}", a.kind(), b.kind());
            assert!(found.distance.is_finite() && (found.normal.length() - 1.0).abs() < 1e-12, "{name}");
            let gap = found.points[1] - found.points[0] - found.normal * found.distance;
            assert!((gap / unit).length() < 1e-6, "{name}");
        }
    }
}

/// Where a whole cone of normals is right, the one along the line between the middles is taken.
#[test]
fn cones_apex_on_apex_have_an_upright_normal_that_supports_both() {
    let mut rng = Pcg64::seed_from_u64(33);
    let cone: Convex = Primitive::cone(0.5, 1.0).unwrap().into();
    let (mut upright, mut overlapping, mut straight) = (0, 0, 0);
    for k in 0..200 {
        // Both apexes at one place; where the axes stray far from one line the cones overlap.
        let stray = if k == 0 { 0.0 } else { 4.0 };
        let mut tilt = || stray * rng.random_range(-0.5..0.5);
        let (up, down) =
            (Pose::new([0.0; 3], [tilt(), tilt(), 0.0, 1.0]).unwrap(), [1.0, tilt(), tilt(), 0.0]);
        let down = Pose::new([0.0; 3], down).unwrap();
        let apex = if k == 0 { DVec3::ZERO } else { vector(&mut rng, 2.0) };
        let at = |turn: &Pose| Pose::shift(apex - turn.apply(DVec3::Z)).compose(turn);
        let (pose_a, pose_b) = (at(&up), at(&down));
        let (found, _) = distance(&cone, &pose_a, &cone, &pose_b, &mut ConvexMemory::default());
        if found.distance < -1e-9 {
            overlapping += 1;
            continue;
        }
        upright += 1;
        let n = found.normal;
        let reach = |pose: &Pose, d: DVec3| {
            let local = pose.matrix().transpose() * d;
            d.dot(pose.apply(cone.support(local)) - apex)
        };
        assert!(found.distance.abs() < 1e-12 && (n.length() - 1.0).abs() < 1e-12, "{found:?}");
        assert!(reach(&pose_a, n) < 1e-11 && reach(&pose_b, -n) < 1e-11, "{k}: {n} supports not both");
        let (back, _) = distance(&cone, &pose_b, &cone, &pose_a, &mut ConvexMemory::default());
        assert_eq!((back.normal, back.distance), (-n, found.distance));
        let line = (pose_b.translation() - pose_a.translation()).normalize();
        let along = reach(&pose_a, line).max(reach(&pose_b, -line));
        if along < 1e-14 {
            straight += 1;
            assert!((n - line).length() < 1e-12, "{k}: {n} is not {line}");
        }
        if k == 0 {
            assert_eq!(n, DVec3::Z);
        }
    }
    assert!(upright > 50 && overlapping > 5 && straight > 20, "{upright} {overlapping} {straight}");
}

/// The cross product of two axes that are all but parallel is rounding, and no normal.
#[test]
fn capsules_on_one_axis_part_across_it() {
    let mut rng = Pcg64::seed_from_u64(23);
    for case in 0..2000 {
        let (radius, half) = (rng.random_range(0.1..1.0), rng.random_range(0.1..1.0));
        let turn = [(); 4].map(|()| rng.random_range(-1.0..1.0));
        let at = vector(&mut rng, 2.0).to_array();
        let noise = [0.0, 1e-16, 1e-12, 1e-9][case % 4];
        let other = turn.map(|x| x + noise * rng.random_range(-1.0..1.0));
        let [pose_a, pose_b] = [turn, other].map(|turn| Pose::new(at, turn).unwrap());
        let a: Convex = Primitive::capsule(radius, half).unwrap().into();
        let b: Convex = Primitive::capsule(radius, half * (1.0 + noise)).unwrap().into();
        let (found, _) = distance(&a, &pose_a, &b, &pose_b, &mut ConvexMemory::default());
        let along = parting(&a, &pose_a, &b, &pose_b, found.normal);
        assert!((along - found.distance).abs() < 1e-12, "{case}: {} and {along}", found.distance);
        assert!((found.distance + 2.0 * radius).abs() < 1e-12, "{case}: {}", found.distance);
    }
}

/// Primitives of every kind with a common axis or centre, where the direction of a depth is a matter of rounding: the
/// normal is a unit vector, the points lie on the surfaces, no direction parts the bodies sooner.
#[test]
fn coaxial_concentric_and_parallel_bodies_have_a_normal() {
    let mut rng = Pcg64::seed_from_u64(3);
    let quarter = [std::f64::consts::FRAC_1_SQRT_2, 0.0, 0.0, std::f64::consts::FRAC_1_SQRT_2];
    let turns = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], quarter, [0.1, 0.7, -0.3, 0.6]];
    for round in 0..6 {
        let all: Vec<Convex> = kinds(&mut rng, 1.0).into_iter().take(6).collect();
        for (i, a) in all.iter().enumerate() {
            for b in &all[i..] {
                let shift = [0.0, 0.0, 0.3, -0.3, 1e-16, 1.0][round];
                for turn in turns {
                    let pose_a = Pose::new([0.0; 3], turn).unwrap();
                    let axis = pose_a.matrix() * DVec3::Z * shift;
                    let pose_b = Pose::new(axis.to_array(), turn).unwrap();
                    check_normal(a, &pose_a, b, &pose_b, &mut rng);
                }
            }
        }
    }
}

fn check_normal(a: &Convex, pose_a: &Pose, b: &Convex, pose_b: &Pose, rng: &mut Pcg64) {
    let (found, certainty) = distance(a, pose_a, b, pose_b, &mut ConvexMemory::default());
    let place = format!("{a:?} {pose_a:?} {b:?} {pose_b:?}: {found:?}");
    assert!((found.normal.length() - 1.0).abs() < 1e-12, "{place}");
    let tolerance = match certainty {
        Certainty::Approximate { resolution } => resolution.max(1e-9),
        _ => 1e-10,
    };
    let reached = parting(a, pose_a, b, pose_b, found.normal);
    assert!((reached - found.distance).abs() <= 4.0 * tolerance, "{reached}: {place}");
    for k in 0..60 {
        let d = if k < 6 {
            DVec3::AXES[k / 2] * [1.0, -1.0][k % 2]
        } else {
            vector(rng, 1.0).normalize_or(DVec3::X)
        };
        let sooner = parting(a, pose_a, b, pose_b, d);
        assert!(sooner <= found.distance + 4.0 * tolerance, "{sooner} along {d}: {place}");
    }
    for (shape, pose, p) in [(a, pose_a, found.points[0]), (b, pose_b, found.points[1])] {
        let Convex::Primitive(primitive) = shape else { continue };
        let local = pose.rotation().transpose() * (p - pose.translation());
        let off = point::signed_distance(primitive, local).distance;
        assert!(off.abs() < 1e-5, "{off:e} off: {place}");
    }
}

#[test]
fn issue_015_coaxial_capsules() {
    let [a, b] = [(0.6, 0.7), (0.4, 0.799_999_999_999_999_9)]
        .map(|(r, h)| Convex::from(Primitive::capsule(r, h).unwrap()));
    let mut rng = Pcg64::seed_from_u64(1);
    for shift in [0.0, 0.1, 0.5, 1.5] {
        let pose = Pose::from_translation([0.0, 0.0, shift]).unwrap();
        check_normal(&a, &Pose::IDENTITY, &b, &pose, &mut rng);
        check_normal(&b, &pose, &a, &Pose::IDENTITY, &mut rng);
    }
}
