use super::*;
use crate::Relation::{AInsideB, BInsideA, Intersecting, Separated};
use crate::narrow::continuous::shape_sweep::sweep as surface_sweep;
use crate::shape::{Mesh, Primitive, procedural};
use glam::{DQuat, DVec3};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn mesh(mesh: Result<Mesh, Error>) -> Geometry {
    Geometry::from(crate::model::Model::from(mesh.unwrap()))
}

fn primitive(primitive: Result<Primitive, Error>) -> Geometry {
    Geometry::from(primitive.unwrap())
}

fn swept(shapes: [&Geometry; 2], motions: [&Motion; 2], surfaces: bool) -> Sweep {
    let options = SweepOptions { surfaces, ..SweepOptions::DEFAULT };
    let (memory, budget) = (&mut KernelMemory::default(), &mut Budget::UNLIMITED.clone());
    sweep_within(shapes, motions, &options, memory, budget).unwrap()
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation([x, y, z]).unwrap()
}

fn cloud(points: &[[f64; 3]], radius: f64) -> Geometry {
    let points = points.iter().map(|&p| p.into()).collect();
    Geometry::from(crate::model::Cloud::new(points, &[radius]).unwrap())
}

/// A closed cube of two components: one far away.
fn two_cubes() -> Geometry {
    let cube = procedural::cuboid([0.2; 3], [1; 3]).unwrap();
    let n = cube.vertices().len() as u32;
    let far = cube.vertices().iter().map(|&p| p + DVec3::new(5.0, 0.0, 0.0));
    let vertices = cube.vertices().iter().copied().chain(far).map(|p| p.to_array()).collect();
    let triangles = cube.triangles().iter().copied();
    let triangles = triangles.clone().chain(triangles.map(|t| t.map(|v| v + n))).collect();
    mesh(Mesh::new(vertices, triangles))
}

#[test]
fn every_kind_that_begins_inside_a_closed_mesh_touches_it_at_the_start() {
    let room = mesh(procedural::cuboid([2.0; 3], [2; 3]));
    let small = [
        mesh(procedural::ico_sphere(0.3, 1)),
        primitive(Primitive::sphere(0.3)),
        primitive(Primitive::cuboid([0.3, 0.2, 0.1])),
        primitive(Primitive::capsule(0.1, 0.3)),
        primitive(Primitive::cone(0.2, 0.3)),
        two_cubes(),
        cloud(&[[0.0; 3], [0.2, 0.1, 0.0]], 0.1),
        cloud(&[[0.0; 3], [0.2, 0.1, 0.0]], 0.0),
    ];
    let away = Motion::between(&at(0.1, 0.2, 0.3), &at(0.3, 0.1, 0.2));
    let still = Motion::Still(Pose::IDENTITY);
    for shape in &small {
        let found = swept([shape, &room], [&away, &still], false).impact.unwrap();
        let told = (found.time, found.kind);
        assert_eq!(told, (0.0, ContactKind::Inside));
        let swapped = swept([&room, shape], [&still, &away], false).impact.unwrap();
        assert_eq!((swapped.time, swapped.kind), told);
        assert!((found.normal + swapped.normal).length() < 1e-12, "{found:?} {swapped:?}");
        assert!((found.normal.length() - 1.0).abs() < 1e-12);
        // Hollow, they move freely.
        assert_eq!(swept([shape, &room], [&away, &still], true).impact, None);
    }
    // Open, it has no inside.
    let open = mesh(Mesh::new(
        procedural::cuboid([2.0; 3], [1; 3]).unwrap().vertices().iter().map(|p| p.to_array()).collect(),
        procedural::cuboid([2.0; 3], [1; 3]).unwrap().triangles()[1..].to_vec(),
    ));
    assert_eq!(swept([&small[0], &open], [&away, &still], false).impact, None);
}

#[test]
fn solids_touch_at_the_start_where_the_relation_says_so_and_else_as_surfaces_do() {
    let mut rng = Pcg64Mcg::seed_from_u64(15);
    let ball = |r: f64| primitive(Primitive::sphere(r));
    let shapes = [
        mesh(procedural::torus(1.0, 0.4, 16, 8)),
        mesh(procedural::ico_sphere(0.9, 2)),
        mesh(procedural::cuboid([1.2, 0.8, 0.5], [2; 3])),
        ball(0.5),
        ball(1.6),
        primitive(Primitive::cuboid([0.3, 0.2, 0.1])),
        two_cubes(),
    ];
    let mut seen = [0; 3];
    for k in 0..400 {
        let [a, b] = [0; 2].map(|_: i32| &shapes[rng.random_range(0..shapes.len())]);
        // Half of them near each other, so that many are nested.
        let spread = if k % 2 == 0 { 0.2 } else { 1.2 };
        let mut pose = || {
            let turn = DQuat::from_xyzw(rng.random(), rng.random(), rng.random(), 1.0).normalize();
            Pose::turned(DVec3::from([0; 3].map(|_: i32| rng.random_range(-spread..spread))), turn)
        };
        let motions = [0; 2].map(|_: i32| Motion::between(&pose(), &pose()));
        let motions = [&motions[0], &motions[1]];
        let poses = motions.map(|motion| motion.pose(0.0));
        let pair = ShapePair::new([a, b], [&poses[0], &poses[1]]);
        let (relation, _) = dispatch::full_relation(&pair, &mut KernelMemory::default());
        let found = swept([a, b], motions, false);
        let surfaces = surface_sweep([a, b], motions, &SweepOptions::DEFAULT);
        match relation {
            AInsideB | BInsideA => {
                assert_eq!(found.impact.map(|hit| (hit.time, hit.kind)), Some((0.0, ContactKind::Inside)));
                seen[0] += 1;
            }
            Intersecting => {
                assert_eq!(found.impact.map(|hit| hit.time), Some(0.0), "{surfaces:?}");
                seen[1] += 1;
            }
            Separated => {
                assert_eq!(found.impact, surfaces.impact);
                seen[2] += 1;
            }
            Relation::Touching => assert_eq!(found.impact, surfaces.impact),
        }
    }
    assert!(seen.iter().all(|&n| n > 40), "{seen:?}");
}

/// Boxes and hulls are hollow where surfaces are asked for: a body inside moves until it meets a wall, whose feature
/// is that of the box or hull.
#[test]
fn issue_015_boxes_and_hulls_can_be_hollow() {
    let corners = (0..8_u32).map(|k| DVec3::from([0, 1, 2].map(|bit| f64::from(k >> bit & 1) * 2.0 - 1.0)));
    let hull = Geometry::from(crate::shape::Polytope::hull(&corners.collect::<Vec<_>>()).unwrap());
    let out = Motion::between(&Pose::IDENTITY, &at(5.0, 0.0, 0.0));
    let still = Motion::Still(Pose::IDENTITY);
    let small = [
        (primitive(Primitive::sphere(0.1)), 0.9),
        (primitive(Primitive::cuboid([0.25, 0.1, 0.1])), 0.75),
        (mesh(procedural::cuboid([0.5; 3], [1; 3])), 0.5),
        (cloud(&[[0.0; 3], [0.2, 0.1, 0.0]], 0.1), 0.7),
    ];
    for room in [primitive(Primitive::cuboid([1.0; 3])), hull] {
        for (body, way) in &small {
            let hit = swept([&room, body], [&still, &out], true).impact.unwrap();
            assert!(hit.time <= way / 5.0 && way / 5.0 - hit.time < 1e-6, "{hit:?}");
            assert_eq!(hit.kind, ContactKind::Shapes);
            assert_eq!(hit.triangles[0], None);
            let swapped = swept([body, &room], [&out, &still], true).impact.unwrap();
            assert!((hit.time - swapped.time).abs() < 1e-6);
        }
    }
    let wall = swept([&primitive(Primitive::cuboid([1.0; 3])), &small[0].0], [&still, &out], true);
    assert_eq!(wall.impact.unwrap().features[0], Feature::Face(1));
}

/// A curved shape is always solid: a body that begins inside is refused by name where surfaces are asked for.
#[test]
fn issue_015_curved_shapes_are_never_hollow() {
    let ball = primitive(Primitive::sphere(1.0));
    let small = mesh(procedural::cuboid([0.1; 3], [1; 3]));
    let motions = [&Motion::Still(Pose::IDENTITY), &Motion::between(&Pose::IDENTITY, &at(5.0, 0.0, 0.0))];
    let options = SweepOptions { surfaces: true, ..SweepOptions::DEFAULT };
    let ask = |motions: [&Motion; 2]| {
        let (memory, budget) = (&mut KernelMemory::default(), &mut Budget::UNLIMITED.clone());
        sweep_within([&ball, &small], motions, &options, memory, budget)
    };
    let said = ask(motions).unwrap_err().to_string();
    assert!(said.contains("inside a sphere"), "{said}");
    // So are the balls of a cloud.
    let balls = cloud(&[[0.0; 3], [3.0, 0.0, 0.0]], 1.0);
    let (memory, budget) = (&mut KernelMemory::default(), &mut Budget::UNLIMITED.clone());
    let said = sweep_within([&balls, &small], motions, &options, memory, budget).unwrap_err().to_string();
    assert!(said.contains("inside a particle,"), "{said}");
    // From outside its surface is met first.
    let towards = Motion::between(&at(5.0, 0.0, 0.0), &Pose::IDENTITY);
    let hit = ask([motions[0], &towards]).unwrap().impact.unwrap();
    assert!((0.779..0.7801).contains(&hit.time), "{hit:?}");
}

#[test]
fn the_faces_of_two_hulls_are_kept() {
    let hull = |seed: u64| {
        let blob = procedural::blob(0.5, 0.2, 1, seed).unwrap();
        Geometry::from(crate::shape::Polytope::hull(blob.vertices()).unwrap())
    };
    let (shapes, memory) = ([hull(1), hull(2)], &mut KernelMemory::default());
    let mut made = |k: usize| match faces(&shapes[k], memory, &mut Budget::UNLIMITED.clone()) {
        Some(Some(Geometry::Mesh(model))) => model.identity(),
        _ => panic!("a hull has faces"),
    };
    let first = [made(0), made(1)];
    assert_eq!([made(0), made(1)], first);
    assert_ne!(first[0], first[1]);
}

/// A cloud that begins strictly inside any solid, or holds another body, says so.
#[test]
fn nested_particles_are_inside() {
    let inner = cloud(&[[0.1, 0.0, 0.0], [-0.1, 0.2, 0.0]], 0.25);
    let still = Motion::Still(Pose::IDENTITY);
    let away = Motion::between(&Pose::IDENTITY, &at(0.0, 0.0, 1.0));
    let plane = Primitive::half_space([0.0, 0.0, 1.0], 5.0);
    let outer = [
        mesh(procedural::ico_sphere(3.0, 2)),
        primitive(Primitive::cuboid([3.0; 3])),
        primitive(Primitive::sphere(3.0)),
        primitive(plane),
        cloud(&[[0.0; 3], [9.0, 0.0, 0.0]], 3.0),
    ];
    for shape in &outer {
        for (shapes, motions) in [([shape, &inner], [&still, &away]), ([&inner, shape], [&away, &still])] {
            let found = swept(shapes, motions, false).impact.unwrap();
            assert_eq!((found.time, found.kind), (0.0, ContactKind::Inside), "{}", shape.kind());
            assert!((found.normal.length() - 1.0).abs() < 1e-12, "{found:?}");
        }
    }
    // One particle inside, another outside: solids that share a point.
    let split = cloud(&[[0.0; 3], [5.0, 0.0, 0.0]], 0.25);
    assert_eq!(swept([&outer[0], &split], [&still, &away], false).impact.map(|hit| hit.time), Some(0.0));
}

/// The relation at the start is work of the sweep, whatever it leads to.
#[test]
fn the_relation_at_the_start_is_counted() {
    let ball = mesh(procedural::ico_sphere(1.0, 3));
    let still = Motion::Still(Pose::IDENTITY);
    for (x, relation) in [(1.5, Intersecting), (1.9, Separated)] {
        let pose = Pose::turned(DVec3::new(x, x, 0.0), DQuat::IDENTITY);
        let away = Motion::between(&pose, &at(x, x, 1.0));
        let other = mesh(procedural::ico_sphere(if relation == Separated { 1.6 } else { 1.2 }, 3));
        let shapes = [&ball, &other];
        let (memory, budget) = (&mut KernelMemory::default(), &mut Budget::UNLIMITED.clone());
        let told = dispatch::relation(&ShapePair::new(shapes, [&Pose::IDENTITY, &pose]), memory, budget);
        assert_eq!(told.value, Some(relation));
        let until = if relation == Separated { 1.0 } else { SweepOptions::DEFAULT.tolerance };
        let options = SweepOptions { until, ..SweepOptions::DEFAULT };
        let surfaces = surface_sweep(shapes, [&still, &away], &options);
        let found = swept(shapes, [&still, &away], false);
        assert_eq!(found.outcome.work, surfaces.outcome.work + told.outcome.work);
        assert!(told.outcome.work != Counters::default());
    }
}

/// A curved solid just beside something flat or open, far from the origin, that parts from it: near the origin, where
/// rounding hides nothing, it is no contact, so it is none there.
#[test]
fn issue_015_curved_shapes_beside_flat_ones_far_away_do_not_touch() {
    let corners = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]];
    let flat = [
        primitive(Primitive::triangle(corners.map(DVec3::from))),
        mesh(Mesh::new(corners.to_vec(), vec![[0, 1, 2]])),
        Geometry::from(crate::shape::Polytope::hull(&corners.map(DVec3::from)).unwrap()),
    ];
    let curved = [
        (primitive(Primitive::cylinder(0.5, 1.0)), 1.0),
        (primitive(Primitive::cone(0.5, 1.0)), 1.0),
        (primitive(Primitive::ellipsoid([0.5, 0.7, 1.0])), 1.0),
    ];
    let turn = DQuat::from_xyzw(0.447_213_595_499_957_9, 0.0, 0.0, 0.894_427_190_999_915_9);
    // The last gap is below what the relation tells from a touch.
    for (place, gaps) in [(1e7, [2e-5, 6e-5]), (1e9, [5e-6, 2e-5])] {
        let place = DVec3::new(place, -2.0 * place, 3.0 * place);
        for (flat, gap) in flat.iter().flat_map(|flat| gaps.map(|gap| (flat, gap))) {
            for (solid, half) in &curved {
                let above = |z: f64| Pose::turned(place + turn * DVec3::Z * z, turn);
                let still = Motion::Still(above(0.0));
                let away = Motion::between(&above(half + gap), &above(5.0));
                for k in 0..2 {
                    let (mut shapes, mut motions) = ([flat, solid], [&still, &away]);
                    if k == 1 {
                        shapes.reverse();
                        motions.reverse();
                    }
                    let found = swept(shapes, motions, false);
                    assert_eq!(found.impact, None, "{} {} {gap} {place}", flat.kind(), solid.kind());
                    let poses = motions.map(|motion| motion.pose(0.0));
                    let pair = ShapePair::new(shapes, [&poses[0], &poses[1]]);
                    let (relation, _) = dispatch::full_relation(&pair, &mut KernelMemory::default());
                    assert!(relation == Separated || place.x > 1e8, "{} {}", flat.kind(), solid.kind());
                    // What comes back is met.
                    let back = Motion::between(&above(half + gap), &above(half - 0.1));
                    let motions = if k == 1 { [&back, &still] } else { [&still, &back] };
                    let found = swept(shapes, motions, false).impact.unwrap();
                    let truth = gap / (gap + 0.1);
                    assert!((found.time - truth).abs() < 2e-5, "{found:?} {truth}");
                }
            }
        }
    }
}

/// A contact inside states the same slack as one of surfaces does.
#[test]
fn issue_015_a_contact_inside_states_its_slack() {
    let ball = primitive(Primitive::sphere(1.0));
    let small = [
        primitive(Primitive::cuboid([0.1; 3])),
        mesh(procedural::cuboid([0.1; 3], [1; 3])),
        primitive(Primitive::cylinder(0.1, 0.2)),
    ];
    let room = mesh(procedural::cuboid([2.0; 3], [2; 3]));
    let away = Motion::between(&Pose::IDENTITY, &at(0.3, 0.0, 0.0));
    let still = Motion::Still(Pose::IDENTITY);
    for (outer, inner) in small.iter().flat_map(|inner| [(&ball, inner), (&room, inner)]) {
        let found = swept([outer, inner], [&still, &away], false);
        assert_eq!(found.impact.map(|hit| hit.kind), Some(ContactKind::Inside));
        let surfaces = surface_sweep([outer, inner], [&still, &away], &SweepOptions::DEFAULT);
        assert!(found.slack > 1e-9 && found.slack < 1e-8, "{}", found.slack);
        assert_eq!(found.slack, surfaces.slack);
        let options = SweepOptions { slack: Some(0.25), ..SweepOptions::DEFAULT };
        let (memory, budget) = (&mut KernelMemory::default(), &mut Budget::UNLIMITED.clone());
        let found = sweep_within([outer, inner], [&still, &away], &options, memory, budget).unwrap();
        assert_eq!(found.slack, 0.25);
    }
}
