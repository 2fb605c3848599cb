use glam::{DQuat, DVec3};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::interval::interval;
use super::{Wanted, contacts, separate, separate_by_guesses};
use crate::geom::triangle_triangle::meet;
use crate::model::{Fact, Geometry, Model};
use crate::narrow::dispatch::full_relation;
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::shape::{Convex, Polytope, Primitive, procedural};
use crate::{Budget, Contact, Mesh, Pose, Relation, Shape};

fn boundless() -> Budget {
    Budget::UNLIMITED.clone()
}

fn unit(dice: &mut Pcg64) -> DVec3 {
    loop {
        let v = DVec3::from_array([(); 3].map(|()| dice.random_range(-1.0..1.0)));
        if v.length_squared() > 0.01 && v.length_squared() < 1.0 {
            return v.normalize();
        }
    }
}

fn turned(dice: &mut Pcg64, at: DVec3) -> Pose {
    let axis = unit(dice);
    Pose::from_rotation(at, DQuat::from_axis_angle(axis, dice.random_range(0.0..6.0))).unwrap()
}

fn ask(a: &Geometry, pose_a: &Pose, b: &Geometry, pose_b: &Pose, margin: f64) -> Vec<Contact> {
    let pair = ShapePair::new([a, b], [pose_a, pose_b]);
    let unlimited = &mut Budget::UNLIMITED.clone();
    contacts(&pair, Wanted { margin, one_sided: false, deep: true }, &mut KernelMemory::default(), unlimited)
        .value
        .unwrap()
}

/// A bumpy sheet that no edge of is flat.
fn ground(dice: &mut Pcg64, n: u32, bumps: f64) -> Mesh {
    let at = |i: u32, j: u32, dice: &mut Pcg64| {
        DVec3::new(f64::from(i), f64::from(j), bumps * dice.random_range(-1.0..1.0))
    };
    let vertices = (0..n * n).map(|k| at(k / n, k % n, dice)).collect();
    let cells = (0..(n - 1) * (n - 1)).map(|k| (k / (n - 1)) * n + k % (n - 1));
    let triangles = cells.flat_map(|v| [[v, v + n, v + n + 1], [v, v + n + 1, v + 1]]).collect();
    Mesh::from_points(vertices, triangles).unwrap()
}

#[test]
fn triangles_meet_within_the_interval_and_not_outside() {
    let dice = &mut Pcg64::seed_from_u64(1);
    let (mut met, mut none) = (0, 0);
    for _ in 0..4000 {
        let triangle = |dice: &mut Pcg64| [(); 3].map(|()| unit(dice) * dice.random_range(0.2..1.0));
        let (a, b, way) = (triangle(dice), triangle(dice), unit(dice));
        let found = interval(&a, &b, way);
        for k in -40..40 {
            let s = f64::from(k) * 0.03 + 0.013;
            let truth = meet(&a, &b.map(|p| p + way * s));
            let said = found.is_some_and(|i| s >= i.low && s <= i.high);
            assert_eq!(said, truth, "{a:?} {b:?} {way} at {s}: {found:?}");
            if truth { met += 1 } else { none += 1 }
        }
    }
    assert!(met * 20 > none, "{met} meet, {none} do not");
}

#[test]
fn every_contact_is_one_of_two_surfaces_along_its_normal() {
    let dice = &mut Pcg64::seed_from_u64(2);
    let (mut seen, mut deep) = (0, 0);
    for case in 0..300 {
        let mesh = Geometry::from(Model::from(ground(dice, 7, 0.15)));
        let size = dice.random_range(0.3..0.9);
        let shape: Geometry = match case % 6 {
            0 => Primitive::sphere(size).unwrap().into(),
            1 => Primitive::cuboid([size, size * 0.6, size * 0.8]).unwrap().into(),
            2 => Primitive::capsule(size * 0.5, size).unwrap().into(),
            3 => Primitive::cylinder(size * 0.7, size).unwrap().into(),
            4 => Primitive::cone(size, size).unwrap().into(),
            _ => {
                let points: Vec<DVec3> = (0..20).map(|_| unit(dice) * size).collect();
                Geometry::Convex(Convex::from(Polytope::hull(&points).unwrap()))
            }
        };
        let at =
            DVec3::new(dice.random_range(2.0..4.0), dice.random_range(2.0..4.0), dice.random_range(0.1..1.2));
        let (still, pose) = (Pose::IDENTITY, turned(dice, at));
        let pair = ShapePair::new([&mesh, &shape], [&still, &pose]);
        let relation = full_relation(&pair, &mut KernelMemory::default()).0;
        let found = ask(&mesh, &still, &shape, &pose, 0.0);
        // A contact where and only where they meet, but for the thinnest.
        assert_eq!(found.is_empty(), relation == Relation::Separated, "case {case}: {relation:?} {found:?}");
        for contact in &found {
            let [p, x] = contact.points;
            seen += 1;
            deep += u32::from(contact.depth > 0.01);
            assert!((contact.normal.length() - 1.0).abs() < 1e-9, "case {case}");
            assert!(((x - p).dot(contact.normal) + contact.depth).abs() < 1e-7, "case {case}: {contact:?}");
            let model = mesh.model().unwrap();
            let near = crate::narrow::exact::closest_point::closest_point(model, &still, p);
            assert!(near.distance < 1e-6, "case {case}: {} off the mesh", near.distance);
        }
        let swapped = ask(&shape, &pose, &mesh, &still, 0.0);
        assert_eq!(swapped.len(), found.len());
        assert!(swapped.iter().zip(&found).all(|(s, f)| s.normal == -f.normal && s.depth == f.depth));
    }
    assert!(seen > 300 && deep > 150, "{seen} contacts, {deep} deep");
}

#[test]
fn nothing_trips_over_inner_edges_of_flat_ground() {
    let dice = &mut Pcg64::seed_from_u64(3);
    let flat = Geometry::from(Model::from(ground(dice, 8, 0.0)));
    for case in 0..400 {
        let depth = dice.random_range(0.0..0.1);
        let (shape, height): (Geometry, f64) = match case % 3 {
            0 => (Primitive::sphere(0.5).unwrap().into(), 0.5),
            1 => (Primitive::cuboid([0.9, 0.7, 0.4]).unwrap().into(), 0.4),
            _ => (Primitive::cylinder(0.8, 0.3).unwrap().into(), 0.3),
        };
        let turn = DQuat::from_rotation_z(dice.random_range(0.0..6.0));
        let at = DVec3::new(dice.random_range(2.0..5.0), dice.random_range(2.0..5.0), height - depth);
        let found = ask(&flat, &Pose::IDENTITY, &shape, &Pose::from_rotation(at, turn).unwrap(), 0.0);
        assert!(found.iter().all(|c| (c.normal - DVec3::Z).length() < 1e-9), "case {case}: {found:?}");
        let deepest = found.iter().map(|c| c.depth).fold(f64::NEG_INFINITY, f64::max);
        assert!((deepest - depth).abs() < 1e-9, "case {case}: {deepest} for {depth}");
        assert!(case % 3 == 0 || found.len() >= 3, "case {case}: {} points", found.len());
    }
}

#[test]
fn a_remembered_surface_changes_no_answer() {
    let dice = &mut Pcg64::seed_from_u64(5);
    let mesh = Geometry::from(Model::from(ground(dice, 12, 0.1)));
    let tilted = Pose::from_rotation(DVec3::new(0.3, -0.2, 0.1), DQuat::from_rotation_x(0.4)).unwrap();
    let wanted = Wanted { margin: 0.01, one_sided: false, deep: true };
    let mut seen = 0;
    for case in 0..12 {
        let size = dice.random_range(0.3..0.9);
        let shape: Geometry = match case % 4 {
            0 => Primitive::sphere(size).unwrap().into(),
            1 => Primitive::cuboid([size, size * 0.6, size * 0.8]).unwrap().into(),
            2 => Primitive::capsule(size * 0.5, size).unwrap().into(),
            _ => {
                let points: Vec<DVec3> = (0..20).map(|_| unit(dice) * size).collect();
                Geometry::Convex(Convex::from(Polytope::hull(&points).unwrap()))
            }
        };
        let turn = DQuat::from_axis_angle(unit(dice), dice.random_range(0.0..6.0));
        let start = DVec3::new(dice.random_range(3.0..6.0), dice.random_range(3.0..6.0), size * 0.7);
        let way = DVec3::new(dice.random_range(-1.0..1.0), dice.random_range(-1.0..1.0), -0.02) * 0.01;
        let mut memory = KernelMemory::default();
        for step in 0..60 {
            let at = tilted.apply(start + way * f64::from(step));
            let pose = Pose::from_rotation(at, turn).unwrap();
            let pair = ShapePair::new([&mesh, &shape], [&tilted, &pose]);
            let warm = contacts(&pair, wanted, &mut memory, &mut Budget::UNLIMITED.clone()).value.unwrap();
            let cold = contacts(&pair, wanted, &mut KernelMemory::default(), &mut Budget::UNLIMITED.clone());
            assert_eq!(warm, cold.value.unwrap(), "case {case}, step {step}");
            seen += warm.len();
        }
    }
    assert!(seen > 300, "{seen} contacts");
}

/// Seen from below a pit is a peak.
#[test]
fn a_pit_under_a_box_does_not_push_it_down() {
    let n = 5_u32;
    let height = |i: u32, j: u32| match (i, j) {
        (2, 2) => -0.2,
        (1..=3, 1..=3) => 0.0,
        _ => -0.3,
    };
    let vertices = (0..n * n).map(|k| DVec3::new(f64::from(k / n), f64::from(k % n), height(k / n, k % n)));
    let cells = (0..(n - 1) * (n - 1)).map(|k| (k / (n - 1)) * n + k % (n - 1));
    let triangles = cells.flat_map(|v| [[v, v + n, v + n + 1], [v, v + n + 1, v + 1]]).collect();
    let mesh = Mesh::from_points(vertices.collect(), triangles).unwrap();
    let mesh = Geometry::from(Model::from(mesh));
    let shape: Geometry = Primitive::cuboid([0.9, 0.9, 0.5]).unwrap().into();
    for step in 0..20 {
        // The bottom of the box is 0.25 to 0.05 under the rim, around the pit.
        let at = Pose::shift(DVec3::new(2.0, 2.0, 0.25 + 0.01 * f64::from(step)));
        let found = ask(&mesh, &Pose::IDENTITY, &shape, &at, 0.0);
        assert!(!found.is_empty());
        assert!(found.iter().all(|c| c.normal.z > 0.0), "step {step}: {found:?}");
    }
}

/// The deepest contact is at least as deep as any point of the body's edges and faces is under the surface.
#[test]
fn no_point_of_a_polytope_is_farther_under_the_surface_than_its_deepest_contact() {
    let dice = &mut Pcg64::seed_from_u64(6);
    let mut judged = 0;
    for case in 0..200 {
        let mesh = Geometry::from(Model::from(ground(dice, 9, 0.06)));
        let model = mesh.model().unwrap();
        let size = dice.random_range(0.8..1.6);
        let points: Vec<DVec3> = if case % 2 == 0 {
            let half = DVec3::new(1.0, 0.6, 0.7) * size;
            (0..8_u32)
                .map(|k| {
                    half * DVec3::from_array([0, 1, 2].map(|b| if k >> b & 1 == 0 { -1.0 } else { 1.0 }))
                })
                .collect()
        } else {
            (0..24).map(|_| unit(dice) * size).collect()
        };
        let hull = Polytope::hull(&points).unwrap();
        let skin = hull.mesh().unwrap();
        let turn = DQuat::from_axis_angle(unit(dice), dice.random_range(0.0..6.0));
        let lowest = points.iter().map(|p| (turn * *p).z).fold(f64::INFINITY, f64::min);
        let at = DVec3::new(
            dice.random_range(3.0..5.0),
            dice.random_range(3.0..5.0),
            -lowest - dice.random_range(0.0..0.06),
        );
        let pose = Pose::from_rotation(at, turn).unwrap();
        let shape = Geometry::Convex(Convex::from(hull));
        let found = ask(&mesh, &Pose::IDENTITY, &shape, &pose, 0.0);
        let deepest = found.iter().map(|c| c.depth).fold(0.0, f64::max);
        let mut farthest = 0.0_f64;
        for t in 0..skin.triangles().len() as u32 {
            let corners = skin.corners(t).map(|p| pose.apply(p));
            for (i, j) in (0..=24_u32).flat_map(|i| (0..=24 - i).map(move |j| (i, j))) {
                let weights = [i, j, 24 - i - j].map(|w| f64::from(w) / 24.0);
                let p = corners[0] * weights[0] + corners[1] * weights[1] + corners[2] * weights[2];
                if p.z < 0.1 {
                    let near = crate::narrow::exact::closest_point::closest_point(model, &Pose::IDENTITY, p);
                    let [a, b, c] = model.mesh().corners(near.triangle);
                    if (b - a).cross(c - a).dot(p - near.point) < 0.0 {
                        farthest = farthest.max(near.distance.abs());
                    }
                }
            }
        }
        judged += u32::from(farthest > 0.01);
        assert!(deepest >= farthest - 1e-9, "case {case}: {deepest} told, {farthest} seen, {found:?}");
    }
    assert!(judged > 50, "{judged}");
}

#[test]
fn solids_are_parted_by_their_separating_translation_and_none_much_shorter_is_missed() {
    let dice = &mut Pcg64::seed_from_u64(4);
    let bodies: Vec<Geometry> = [
        procedural::torus(1.0, 0.3, 10, 5).unwrap(),
        procedural::ico_sphere(0.8, 1).unwrap(),
        procedural::gear(0.2, 0.8, 1.0, 0.3, 6).unwrap(),
    ]
    .map(|mesh| Geometry::from(Model::from(mesh)))
    .into();
    let mut asked = 0;
    for case in 0..12 {
        let [a, b] = [&bodies[case % 3], &bodies[(case / 3) % 3]];
        let at = unit(dice) * dice.random_range(0.0..0.9);
        let (still, pose) = (Pose::IDENTITY, turned(dice, at));
        let pair = ShapePair::new([a, b], [&still, &pose]);
        let relation = |pose: &Pose| {
            full_relation(&ShapePair::new([a, b], [&still, pose]), &mut KernelMemory::default()).0
        };
        let apart = |relation| matches!(relation, Relation::Separated | Relation::Touching);
        if apart(relation(&pose)) {
            continue;
        }
        asked += 1;
        let mut memory = KernelMemory::default();
        let found = separate(&pair, &mut memory, &mut Budget::UNLIMITED.clone()).unwrap().value.unwrap();
        assert!(apart(relation(&pose.moved_to(at + found.translation))), "case {case}: {found:?}");
        assert!(found.at_least <= found.length && (found.translation.length() - found.length).abs() < 1e-12);
        for _ in 0..60 {
            let shorter = unit(dice) * (found.length / 1.05);
            assert!(!apart(relation(&pose.moved_to(at + shorter))), "case {case}: {shorter} parts them");
        }
        let places = ask(a, &still, b, &pose, 0.0);
        assert!(places.iter().any(|c| c.depth > 0.0), "case {case}: {places:?}");
    }
    assert!(asked >= 8, "{asked} pairs overlap");
}

/// Such a pair was once searched direction by direction as two meshes of a thousand triangles.
#[test]
fn a_compound_of_one_convex_part_is_separated_as_that_part() {
    let [part, other] = [Shape::capsule(0.75, 0.75).unwrap(), Shape::cylinder(0.25, 0.75).unwrap()];
    let turned = |at: [f64; 3]| Pose::new(at, [0.1, -0.5, 0.05, 0.3]).unwrap();
    let (inner, outer) = (turned([0.8, -0.9, 0.1]), turned([-0.7, 0.0, -0.5]));
    let compound = Shape::compound([(part.clone(), inner)]).unwrap();
    let placed = outer.compose(&inner);
    let at = Pose::shift(placed.translation() + DVec3::new(0.6, 0.4, 0.2));
    assert_eq!(crate::relation(part.at(placed), other.at(at)), Relation::Intersecting);
    let whole = crate::separate(compound.at(outer), other.at(at)).unwrap();
    let alone = crate::separate(part.at(placed), other.at(at)).unwrap();
    assert!(whole.translation.distance(alone.translation) < 1e-9, "{whole:?} {alone:?}");
    assert!(whole.at_least > 0.0, "{whole:?}");
}

#[test]
fn hulls_for_a_separating_translation_are_paid_for() {
    let ring = || std::sync::Arc::new(Model::from(procedural::torus(1.0, 0.3, 16, 8).unwrap()));
    let [a, b] = [ring(), ring()];
    let shapes = [Geometry::Mesh(a.clone()), Geometry::Mesh(b.clone())];
    let there = Pose::shift([0.1, 0.0, 0.0]);
    let pair = ShapePair::new([&shapes[0], &shapes[1]], [&Pose::IDENTITY, &there]);
    let unlimited = || Budget::UNLIMITED.clone();
    assert!([&a, &b].iter().all(|model| model.prepare(Fact::Topology, &mut unlimited())));
    let units = a.mesh().triangles().len() as u64;
    // Enough to see that they are not convex.
    assert!(separate_by_guesses(&pair, [], &mut Budget::units(3 * units)).is_none());
    assert!(!a.knows(Fact::Hull) && !b.knows(Fact::Hull));
    assert!(separate_by_guesses(&pair, [], &mut unlimited()).is_some());
}

/// Squares and fourth powers of such lengths leave the range of the doubles.
#[test]
fn contacts_and_ways_out_of_tiny_and_huge_bodies_are_those_of_ordinary_ones() {
    let dice = &mut Pcg64::seed_from_u64(23);
    let mut deep = 0;
    for case in 0..12 {
        let [blob, other] = [0, 1].map(|k| procedural::blob(0.8, 0.4, 1, 100 + 2 * case + k).unwrap());
        let at = unit(dice) * dice.random_range(0.3..0.9);
        let turn = DQuat::from_axis_angle(unit(dice), 1.0);
        let all = |power: i32| {
            let size = 2_f64.powi(power);
            let mesh = |mesh: &Mesh| Geometry::from(Model::from(mesh.scaled(size).unwrap()));
            let b = match case % 3 {
                0 => mesh(&other),
                1 => Polytope::hull(other.scaled(size).unwrap().vertices()).unwrap().into(),
                _ => Primitive::cylinder(0.5 * size, 0.6 * size).unwrap().into(),
            };
            let (a, pose) = (mesh(&blob), Pose::from_rotation(at * size, turn).unwrap());
            let found = ask(&a, &Pose::IDENTITY, &b, &pose, 0.0);
            let pair = ShapePair::new([&a, &b], [&Pose::IDENTITY, &pose]);
            let apart =
                separate(&pair, &mut KernelMemory::default(), &mut boundless()).unwrap().value.unwrap();
            let lengths: Vec<f64> = found.iter().map(|contact| contact.depth / size).collect();
            let features: Vec<_> = found.iter().map(|contact| contact.features).collect();
            (lengths, features, apart.length / size, apart.at_least / size)
        };
        let ordinary = all(0);
        deep += usize::from(ordinary.0.iter().any(|depth| *depth > 0.05));
        for power in [-900, -310, 190] {
            let (lengths, features, length, at_least) = all(power);
            assert_eq!(lengths.len(), ordinary.0.len(), "{case} 2^{power}");
            // Corners of a hull keep their numbers; which of a mesh's features a point lies on may be a matter of rounding.
            if case % 3 == 1 {
                assert_eq!(features, ordinary.1, "{case} 2^{power}");
            }
            let near = |x: f64, y: f64| (x - y).abs() < 1e-6;
            assert!(
                lengths.iter().zip(&ordinary.0).all(|(x, y)| near(*x, *y)),
                "{case} 2^{power}: {lengths:?}"
            );
            assert!(near(length, ordinary.2), "{case} 2^{power}: {length} {}", ordinary.2);
            assert!(near(at_least, ordinary.3), "{case} 2^{power}: {at_least} {}", ordinary.3);
        }
    }
    assert!(deep > 6, "{deep}");
}

/// What the contacts of two meshes suggest may be shorter than all that is found from directions around both.
#[test]
fn no_contact_suggests_a_shorter_way_than_the_separating_translation() {
    let dice = &mut Pcg64::seed_from_u64(31);
    let mut asked = 0;
    for case in 0..40 {
        let a = Geometry::from(Model::from(procedural::blob(0.8, 0.4, 1, 2 * case).unwrap()));
        let b = Geometry::from(Model::from(procedural::torus(0.7, 0.3, 9, 6).unwrap()));
        let at = unit(dice) * dice.random_range(0.3..1.2);
        let pose = turned(dice, at);
        let pair = ShapePair::new([&a, &b], [&Pose::IDENTITY, &pose]);
        let apart = separate(&pair, &mut KernelMemory::default(), &mut boundless()).unwrap().value.unwrap();
        let ways =
            ask(&a, &Pose::IDENTITY, &b, &pose, 0.0).into_iter().map(|found| found.normal * found.depth);
        let Some(guess) = separate_by_guesses(&pair, ways, &mut boundless()) else { continue };
        assert!(apart.length <= guess.length() * (1.0 + 1e-12), "{case}: {apart:?} {guess}");
        asked += usize::from(apart.length > 0.0);
    }
    assert!(asked > 20, "{asked}");
}

/// Neither open nor flat bodies have a volume in common with the solid around them.
#[test]
fn a_flat_body_within_a_solid_has_a_contact_as_deep_as_the_way_out() {
    let sheet = Geometry::from(Model::from(procedural::sheet([0.6, 0.6], [1, 1]).unwrap()));
    let corners = [[-0.3, -0.3], [0.3, -0.3], [0.3, 0.3], [-0.3, 0.3]].map(|[x, y]| DVec3::new(x, y, 0.0));
    let flat = Geometry::from(Polytope::hull(&corners).unwrap());
    let cube = procedural::cuboid([1.0; 3], [1; 3]).unwrap();
    // Not convex: a second cube far away.
    let far = cube.vertices().iter().map(|&p| p + DVec3::X * 9.0);
    let vertices = cube.vertices().iter().copied().chain(far).collect();
    let count = cube.vertices().len() as u32;
    let copies = cube.triangles().iter().map(|t| t.map(|v| v + count));
    let triangles = cube.triangles().iter().copied().chain(copies).collect();
    let two = Mesh::from_points(vertices, triangles).unwrap();
    for (outer, inner) in [(&cube, &sheet), (&two, &sheet), (&two, &flat)] {
        let outer = Geometry::from(Model::from(outer.clone()));
        let pose = Pose::shift(DVec3::Z * 0.1);
        let found = ask(&outer, &Pose::IDENTITY, inner, &pose, 0.0);
        let depth = |found: &[Contact]| found.iter().map(|contact| contact.depth).fold(f64::NAN, f64::max);
        assert!((depth(&found) - 0.9).abs() < 1e-9, "{found:?}");
        assert!(found.iter().all(|contact| contact.normal.dot(DVec3::Z) > 1.0 - 1e-9), "{found:?}");
        let swapped = ask(inner, &pose, &outer, &Pose::IDENTITY, 0.0);
        assert!((depth(&swapped) - 0.9).abs() < 1e-9, "{swapped:?}");
        let pair = ShapePair::new([&outer, inner], [&Pose::IDENTITY, &pose]);
        let apart = separate(&pair, &mut KernelMemory::default(), &mut boundless()).unwrap().value.unwrap();
        assert!((apart.length - 0.9).abs() < 1e-12, "{apart:?}");
        // Outside it has none.
        assert!(ask(&outer, &Pose::IDENTITY, inner, &Pose::shift(DVec3::Z * 1.5), 0.0).is_empty());
    }
}

/// A ball in a valley is left by the shallower side later, along the normal of the deeper one.
#[test]
fn the_deepest_contact_clears_both_sides_of_a_valley() {
    let (sin, cos) = 6.5_f64.to_radians().sin_cos();
    let corner = |x: f64, y: f64| DVec3::new(x, y, x.abs() * sin / cos);
    let vertices = [-2.0, 0.0, 2.0].into_iter().flat_map(|x| [corner(x, -2.0), corner(x, 2.0)]).collect();
    let mesh = Mesh::from_points(vertices, vec![[0, 2, 1], [1, 2, 3], [2, 4, 3], [3, 4, 5]]).unwrap();
    let valley = Geometry::Mesh(std::sync::Arc::new(Model::from(mesh)));
    let radius = 0.5;
    let ball = Geometry::Convex(Convex::Primitive(Primitive::sphere(radius).unwrap()));
    let [deep, shallow] = [0.045, 0.0442];
    let (height, aside) = ((radius - 0.5 * (deep + shallow)) / cos, 0.5 * (deep - shallow) / sin);
    let at = DVec3::new(aside, 0.1, height);
    let found = ask(&valley, &Pose::IDENTITY, &ball, &Pose::shift(at), 0.0);
    let deepest = found.iter().max_by(|x, y| x.depth.total_cmp(&y.depth)).unwrap();
    let needed = shallow / (cos * cos - sin * sin);
    assert!((deepest.depth - needed).abs() < 1e-12 && needed > deep, "{found:?}");
    assert!(found.iter().any(|contact| (contact.depth - deep).abs() < 1e-12), "{found:?}");
    let [p, x] = deepest.points;
    assert!((p - x).distance(deepest.normal * deepest.depth) < 1e-12);
    assert!(((x - at).length() - radius).abs() < 1e-9, "{deepest:?}");
    let related = |shift: f64| {
        let pose = Pose::shift(at + deepest.normal * shift);
        full_relation(
            &ShapePair::new([&valley, &ball], [&Pose::IDENTITY, &pose]),
            &mut KernelMemory::default(),
        )
        .0
    };
    assert_eq!(related(deepest.depth * (1.0 + 1e-9)), Relation::Separated);
    assert_ne!(related(deepest.depth * (1.0 - 1e-9)), Relation::Separated);
}
