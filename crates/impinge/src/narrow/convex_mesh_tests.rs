use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::narrow::exact;
use crate::shape::{Polytope, procedural};

fn vector(rng: &mut Pcg64, size: f64) -> DVec3 {
    DVec3::from([(); 3].map(|()| rng.random_range(-size..size)))
}

fn pose(rng: &mut Pcg64, spread: f64) -> Pose {
    let turn = [(); 4].map(|()| rng.random_range(-1.0..1.0));
    Pose::new(vector(rng, spread).to_array(), turn).unwrap()
}

/// A mesh that a primitive's surface is nearly: the hull of many of its points.
fn as_mesh(primitive: &Primitive) -> Model {
    let many = 3000;
    let points: Vec<DVec3> = (0..many)
        .map(|k| {
            // Directions on a spiral, spread evenly.
            let z = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(many);
            let (sin, cos) = (f64::from(k) * 2.399_963_229_728_653).sin_cos();
            let across = (1.0 - z * z).sqrt();
            primitive.support(DVec3::new(across * cos, across * sin, z))
        })
        .collect();
    Polytope::hull(&points).unwrap().mesh().unwrap().into()
}

fn primitives(rng: &mut Pcg64, size: f64) -> Vec<Primitive> {
    let mut size = || size * rng.random_range(0.5..1.0);
    vec![
        Primitive::sphere(size()).unwrap(),
        Primitive::capsule(size(), size()).unwrap(),
        Primitive::cylinder(size(), size()).unwrap(),
        Primitive::cone(size(), size()).unwrap(),
        Primitive::ellipsoid([size(), size(), size()]).unwrap(),
        Primitive::cuboid([size(), size(), size()]).unwrap(),
    ]
}

/// The relation without a budget.
fn related(primitive: &Primitive, at: &Pose, mesh: &Model, mesh_at: &Pose) -> (Relation, Certainty) {
    let (found, outcome) = relation(primitive, at, mesh, mesh_at, &mut Budget::UNLIMITED.clone());
    (found.unwrap(), outcome.certainty)
}

/// What was found, at the end or so far.
fn measured(
    primitive: &Primitive,
    pose: &Pose,
    mesh: &Model,
    mesh_pose: &Pose,
    budget: &mut Budget,
) -> (Option<Separation>, Outcome) {
    let Verdict { value, so_far, outcome, .. } = distance(primitive, pose, mesh, mesh_pose, budget);
    (value.or(so_far), outcome)
}

#[test]
fn a_relation_obeys_its_budget_and_says_when_it_ended() {
    let body: Model = procedural::blob(0.8, 0.3, 4, 7).unwrap().into();
    let mut rng = Pcg64::seed_from_u64(12);
    let (mut open, mut decided) = (0, 0);
    for size in [0.3, 2.0] {
        for primitive in primitives(&mut rng, size).into_iter().filter(|p| p.kind() != "box") {
            let at = pose(&mut rng, 0.9);
            let (truth, _) = related(&primitive, &at, &body, &Pose::IDENTITY);
            for units in [0, 1, 10, 100, 1000, 100_000] {
                let budget = &mut Budget::units(units);
                match relation(&primitive, &at, &body, &Pose::IDENTITY, budget) {
                    (None, outcome) => {
                        open += 1;
                        assert_eq!(outcome.finish, Finish::OutOfBudget);
                        assert!(outcome.work.primitive_tests <= units, "{units} units: {outcome:?}");
                    }
                    (Some(found), outcome) => {
                        decided += 1;
                        assert_eq!((found, outcome.finish), (truth, Finish::Complete), "{primitive:?}");
                    }
                }
            }
        }
    }
    assert!(open > 10 && decided > 10, "{open} open, {decided} decided");
}

#[test]
fn agrees_with_the_mesh_of_the_primitive() {
    let mut rng = Pcg64::seed_from_u64(8);
    let bodies: [Model; 2] = [
        procedural::blob(0.8, 0.3, 3, 7).unwrap().into(),
        procedural::torus(0.9, 0.3, 24, 12).unwrap().into(),
    ];
    let mut seen = [0; 4];
    for (size, spread) in [(0.15, 0.5), (0.4, 1.0), (0.5, 2.5), (3.0, 0.6)] {
        for _ in 0..4 {
            for primitive in primitives(&mut rng, size) {
                let model = as_mesh(&primitive);
                for body in &bodies {
                    let (at, body_at) = (pose(&mut rng, spread), pose(&mut rng, 0.2));
                    let slow = exact::distance::distance(&model, &at, body, &body_at);
                    let slow_relation = exact::relation::relation(&model, &at, body, &body_at);
                    let unlimited = &mut Budget::UNLIMITED.clone();
                    let (found, outcome) = measured(&primitive, &at, body, &body_at, unlimited);
                    let found = found.unwrap();
                    let name = format!("{primitive:?} {at:?} {body_at:?} {found:?} {slow:?}");
                    assert_eq!(outcome.finish, Finish::Complete);
                    let room = 0.02 * size;
                    assert!((found.distance - slow.distance).abs() < room, "{name}");
                    let gap = found.points[1] - found.points[0] - found.normal * found.distance;
                    assert!(gap.length() < 1e-6, "{name}");
                    // Each point lies on its own surface.
                    let solid = Solid::new(&primitive, &at);
                    assert!(solid.foot(found.points[0]).distance.abs() < 1e-7, "{name}");
                    let on_mesh = exact::closest_point::closest_point(body, &body_at, found.points[1]);
                    assert!(on_mesh.distance < 1e-7, "{name}");
                    if matches!(primitive, Primitive::Cuboid { .. })
                        || slow.distance < room && found.distance > 0.0
                    {
                        continue;
                    }
                    let (relation, certainty) = related(&primitive, &at, body, &body_at);
                    assert_eq!(relation, slow_relation, "{name} {certainty:?}");
                    seen[match relation {
                        Relation::Separated => 0,
                        Relation::AInsideB => 1,
                        Relation::BInsideA => 2,
                        _ => 3,
                    }] += 1;
                }
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 9), "{seen:?}");
}

#[test]
fn a_budget_brackets_the_distance() {
    let body: Model = procedural::blob(0.8, 0.3, 4, 7).unwrap().into();
    let ball = Primitive::sphere(0.5).unwrap();
    let at = Pose::shift([2.0, 0.5, 0.0]);
    let all = |budget: &mut Budget| measured(&ball, &at, &body, &Pose::IDENTITY, budget);
    let truth = all(&mut Budget::UNLIMITED.clone()).0.unwrap().distance;
    let mut open = 0;
    for units in [0, 8, 16, 64, 256, 4096] {
        let (found, outcome) = all(&mut Budget::units(units));
        match (found, outcome.certainty) {
            (None, _) => assert_eq!(outcome.finish, Finish::OutOfBudget),
            (Some(found), Certainty::Conservative { tolerance }) => {
                open += 1;
                assert!(found.distance >= truth && found.distance - tolerance <= truth, "{units}");
            }
            (Some(found), _) => assert_eq!(found.distance, truth),
        }
    }
    assert!(open > 0);
}

#[test]
fn spheres_and_capsules_touch_meshes_to_the_last_bit() {
    let corners = vec![[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]];
    let sheet: Model = crate::Mesh::new(corners, vec![[0, 1, 2]]).unwrap().into();
    let cube: Model = procedural::cuboid([1.0; 3], [1; 3]).unwrap().into();
    let still = Pose::IDENTITY;
    for primitive in [Primitive::sphere(0.5).unwrap(), Primitive::capsule(0.25, 0.25).unwrap()] {
        let on = |z: f64, mesh: &Model| {
            let (found, certainty) = related(&primitive, &Pose::shift([0.0, 0.0, z]), mesh, &still);
            assert_eq!(certainty, Certainty::Exact);
            found
        };
        assert_eq!(on(0.5, &sheet), Relation::Intersecting);
        assert_eq!(on(0.5_f64.next_up(), &sheet), Relation::Separated);
        assert_eq!(on(1.5, &cube), Relation::Touching);
        assert_eq!(on(1.5_f64.next_up(), &cube), Relation::Separated);
        assert_eq!(on(1.5_f64.next_down(), &cube), Relation::Intersecting);
        assert_eq!(on(0.5, &cube), Relation::AInsideB);
        assert_eq!(on(0.5 + 1e-15, &cube), Relation::Intersecting);
    }
    let around = Primitive::sphere(3.0_f64.sqrt() + 1e-9).unwrap();
    assert_eq!(related(&around, &still, &cube, &still), (Relation::BInsideA, Certainty::Exact));
    let inside = Primitive::sphere(3.0_f64.sqrt() - 1e-9).unwrap();
    assert_eq!(related(&inside, &still, &cube, &still), (Relation::Intersecting, Certainty::Exact));
}

/// GJK went round in a circle here: the difference of a cylinder and one triangle of the mesh has needles for
/// simplices, whose nearest points rounding put now nearer, now farther.
#[test]
fn a_cylinder_in_a_dense_mesh_is_measured_in_the_end() {
    let mut rng = Pcg64::seed_from_u64(1);
    let body: Model = procedural::blob(1.0, 0.3, 5, 7).unwrap().into();
    let cylinder = Primitive::cylinder(0.3, 0.3).unwrap();
    for k in 0..160 {
        let at = vector(&mut rng, 1.0).normalize().to_array();
        let pose = Pose::new(at, [(); 4].map(|()| rng.random_range(-1.0..1.0))).unwrap();
        let (found, outcome) =
            measured(&cylinder, &pose, &body, &Pose::IDENTITY, &mut Budget::UNLIMITED.clone());
        assert_eq!((found.map(|f| f.distance), outcome.finish), (Some(0.0), Finish::Complete), "{k}");
    }
}

/// Squares of the smaller lengths underflow.
#[test]
fn distances_do_not_depend_on_the_scale() {
    let corners = [
        [-2.0, 1.0, 3.0],
        [-3.0, -4.0, 3.0],
        [0.0, 4.0, -1.0],
        [-1.0, 3.0, 4.0],
        [4.0, 3.0, 2.0],
        [-2.0, -1.0, -2.0],
    ];
    let primitives = [
        Primitive::sphere(1.0).unwrap(),
        Primitive::cuboid([0.5, 0.25, 0.75]).unwrap(),
        Primitive::capsule(0.5, 0.25).unwrap(),
        Primitive::cylinder(0.5, 0.25).unwrap(),
        Primitive::cone(0.5, 0.25).unwrap(),
        Primitive::ellipsoid([0.5, 0.25, 0.75]).unwrap(),
    ];
    for (k, primitive) in primitives.into_iter().enumerate() {
        let ask = |scale: f64| {
            let vertices = corners.map(|p| p.map(|x| x * scale)).to_vec();
            let mesh = Model::from(Mesh::new(vertices, vec![[0, 1, 2], [3, 4, 5]]).unwrap());
            let pose = Pose::shift(DVec3::new(-2.0, 4.0, 3.0) * scale);
            let unlimited = &mut Budget::UNLIMITED.clone();
            distance(&primitive.scaled(scale), &pose, &mesh, &Pose::IDENTITY, unlimited).value.unwrap()
        };
        let want = ask(1.0);
        assert!(want.distance > 0.1, "{want:?}");
        assert!(k > 0 || (want.distance - 0.68232).abs() < 1e-4, "{want:?}");
        for exponent in [-990, -664, -540, -300, -160, 60, 150] {
            let scale = 2.0_f64.powi(exponent);
            let found = ask(scale);
            assert!(
                (found.distance / scale - want.distance).abs() < 1e-9,
                "2^{exponent}: {found:?} {want:?}"
            );
            assert_eq!(found.features, want.features, "2^{exponent}");
            for (p, q) in found.points.into_iter().zip(want.points) {
                assert!((p / scale - q).length() < 1e-6, "2^{exponent}: {found:?} {want:?}");
            }
        }
    }
}
