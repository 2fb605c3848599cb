//! Bodies that touch or barely overlap, flat, open and curved ones, are taken apart by a translation that the exact
//! relation confirms, within a stated amount of work, and by none much shorter.

use impinge::glam::DVec3;
use impinge::{
    Counters, Finish, Placed, Pose, Query, Relation, SeparatingTranslation, Shape, ShapeKind, contacts,
    procedural, relation,
};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Tests that one answer about such small bodies may take.
const MOST_WORK: u64 = 200_000;

fn sheet(z: f64) -> Shape {
    mesh(&[[-2.0, -2.0, z], [2.0, -2.0, z], [0.0, 3.0, z]], &[[0, 1, 2]])
}

fn mesh(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Shape {
    Shape::mesh(vertices.to_vec(), triangles.to_vec()).unwrap()
}

/// What a relation decides in doubt, and the rounding of a few coordinates: cylinders, cones and ellipsoids have no
/// exact one.
fn slack(a: &Shape, b: &Shape) -> f64 {
    let rough = [ShapeKind::Cylinder, ShapeKind::Cone, ShapeKind::Ellipsoid];
    if [a, b].iter().any(|shape| rough.contains(&shape.kind())) { 1e-10 } else { 1e-12 }
}

fn is_parted(a: &Shape, b: &Shape, at: DVec3) -> bool {
    let found = relation(a, b.at(Pose::from_translation(at).unwrap()));
    matches!(found, Relation::Separated | Relation::Touching)
}

/// The answer about b at a place, after everything that must hold of any.
fn parted(a: &Shape, b: &Shape, at: DVec3) -> SeparatingTranslation {
    let placed: [Placed<'_>; 2] = [a.into(), b.at(Pose::from_translation(at).unwrap())];
    let answer = Query::default().separate(placed[0], placed[1]).unwrap();
    assert_eq!(answer.finish, Finish::Complete, "{a:?} {b:?} {at}");
    let Counters { volume_tests, primitive_tests, updates, .. } = answer.work;
    let work = volume_tests + primitive_tests + updates;
    assert!(work <= MOST_WORK, "{work} tests for {a:?} {b:?} {at}");
    let found = answer.value.unwrap();
    let before = is_parted(a, b, at);
    assert_eq!(found.translation == DVec3::ZERO, before, "{found:?}");
    assert_eq!(found.length == 0.0, before, "{found:?}");
    assert!((found.translation.length() - found.length).abs() <= 1e-12 * found.length, "{found:?}");
    assert!(0.0 <= found.at_least && found.at_least <= found.length, "{found:?}");
    assert!(is_parted(a, b, at + found.translation), "{found:?} leaves {a:?} {b:?} {at}");
    found
}

#[test]
fn what_merely_touches_is_parted_by_roundings() {
    let segment = |p: [f64; 3], q: [f64; 3]| Shape::segment([p, q]).unwrap();
    let triangle = Shape::triangle([[-1.0, 2.0, 2.0], [0.0, 1.0, -1.0], [0.0, 0.0, 1.0]]).unwrap();
    let flat = Shape::triangle([[-2.0, -2.0, 1.0], [2.0, -2.0, 1.0], [0.0, 3.0, 1.0]]).unwrap();
    let floor = mesh(
        &[[-2.0, -2.0, 1.0], [2.0, -2.0, 1.0], [2.0, 2.0, 1.0], [-2.0, 2.0, 1.0]],
        &[[0, 1, 2], [0, 2, 3]],
    );
    let balls = |z: f64| {
        let ball = Shape::sphere(1.0).unwrap();
        let side = |x: f64| Pose::from_translation([x, 0.0, z]).unwrap();
        Shape::compound([(ball.clone(), side(-0.5)), (ball, side(0.5))]).unwrap()
    };
    let pairs = [
        (triangle, segment([0.0, -2.0, 2.0], [-1.0, 2.0, 2.0])),
        (Shape::cuboid([1.0; 3]).unwrap(), sheet(1.0)),
        (segment([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]), segment([0.0, -1.0, 0.0], [0.0, 1.0, 0.0])),
        (Shape::sphere(1.0).unwrap(), flat),
        (Shape::half_space([0.0, 0.0, 1.0], 1.0).unwrap(), segment([0.0, 0.0, 1.0], [1.0, 0.0, 1.0])),
        (Shape::half_space([0.0, 0.0, 1.0], 1.0).unwrap(), sheet(1.0)),
        (Shape::sphere(1.0).unwrap(), sheet(1.0)),
        (Shape::capsule(1.0, 1.0).unwrap(), sheet(2.0)),
        (Shape::cylinder(1.0, 1.0).unwrap(), sheet(1.0)),
        (Shape::cone(1.0, 1.0).unwrap(), sheet(1.0)),
        (Shape::ellipsoid([1.0, 0.5, 1.0]).unwrap(), sheet(1.0)),
        (balls(0.0), sheet(1.0)),
        (Shape::sphere(1.0).unwrap(), floor.clone()),
        (sheet(1.0), floor),
        (segment([0.0, 0.0, 1.0], [1.0, 0.0, 1.0]), sheet(1.0)),
    ];
    for (a, b) in &pairs {
        for (a, b) in [(a, b), (b, a)] {
            for at in [DVec3::ZERO, DVec3::new(1e-9, 0.0, 0.0)] {
                let found = parted(a, b, at);
                // The second place leaves the corner that the first pair shares.
                let meets = at == DVec3::ZERO || !is_parted(a, b, at);
                assert_eq!(found.length > 0.0, meets, "{found:?} for {a:?} {b:?}");
                assert!(found.length < slack(a, b), "{found:?} for {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn lengths_are_those_of_tiny_and_of_far_bodies() {
    for scale in [1e-200, 1e-9, 1.0, 1e9] {
        let far = |v: f64| v * scale;
        let cross = [
            Shape::segment([[far(-1.0), 0.0, 0.0], [far(1.0), 0.0, 0.0]]).unwrap(),
            Shape::segment([[0.0, far(-1.0), 0.0], [0.0, far(1.0), 0.0]]).unwrap(),
        ];
        let found = Query::default().separate(&cross[0], &cross[1]).unwrap().value.unwrap();
        assert!(found.length > 0.0 && found.length < 1e-12 * scale, "{found:?} at {scale:e}");
        assert!(is_parted(&cross[0], &cross[1], found.translation));
    }
    // The pose's coordinates swallow what is shorter than their rounding.
    let away = DVec3::new(0.0, 0.0, 1e6);
    let (a, b) = (sheet(1e6 + 1.0), sheet(1.0));
    let found = parted(&a, &b, away);
    assert!(found.length < 1e-8 && (away + found.translation) != away, "{found:?}");
}

#[test]
fn what_barely_overlaps_is_parted_by_its_depth() {
    let shapes = [
        (Shape::sphere(1.0).unwrap(), 1.0),
        (Shape::capsule(1.0, 1.0).unwrap(), 2.0),
        (Shape::cylinder(1.0, 1.0).unwrap(), 1.0),
        (Shape::ellipsoid([1.0, 0.5, 1.0]).unwrap(), 1.0),
    ];
    for (shape, top) in &shapes {
        for depth in [1e-12, 1e-9, 1e-6, 1e-3, 1e-2, 0.1] {
            for (a, b) in [(shape, &sheet(top - depth)), (&sheet(top - depth), shape)] {
                let found = parted(a, b, DVec3::ZERO);
                let near = |x: f64| (x - depth).abs() <= 1e-3 * depth + slack(a, b);
                assert!(near(found.length), "{found:?} for {a:?} {b:?} {depth} deep");
                assert!(
                    found.at_least >= 0.9 * depth - slack(a, b),
                    "{found:?} for {a:?} {b:?} {depth} deep"
                );
            }
        }
    }
    // In a valley neither side's normal is the way out.
    let (low, high) = (-3.0, 3.0);
    let valley = mesh(
        &[
            [low, low, high],
            [0.0, low, 0.0],
            [high, low, high],
            [low, high, high],
            [0.0, high, 0.0],
            [high, high, high],
        ],
        &[[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]],
    );
    let ball = Shape::sphere(1.0).unwrap();
    for depth in [1e-4, 1e-3, 0.05] {
        let centre = DVec3::new(0.0, 0.0, 2.0_f64.sqrt() * (1.0 - depth));
        let found = parted(&valley, &ball, centre);
        let truth = 2.0_f64.sqrt() * depth;
        assert!(found.length <= 1.05 * truth && found.length >= 0.999 * truth, "{found:?}, {truth} deep");
    }
}

#[test]
fn contacts_of_what_touches_end_and_part() {
    for z in [1.0, 0.999, 0.99] {
        let depth = 1.0 - z;
        for shape in [Shape::sphere(1.0), Shape::cuboid([1.0; 3]), Shape::cylinder(1.0, 1.0)] {
            let shape = shape.unwrap();
            let found = contacts(&shape, &sheet(z));
            let deepest = found.iter().max_by(|x, y| x.depth.total_cmp(&y.depth)).unwrap();
            assert!((deepest.depth - depth).abs() < 1e-9, "{deepest:?}");
            let shift = deepest.normal * (deepest.depth + slack(&shape, &shape));
            assert!(is_parted(&shape, &sheet(z), shift), "{deepest:?}");
        }
    }
}

/// A body with small whole numbers for coordinates.
fn whole(dice: &mut Pcg64, kind: u32) -> Shape {
    let mut point = || [(); 3].map(|()| f64::from(dice.random_range(-2..3)));
    match kind {
        0 => Shape::segment([point(), point()]).unwrap(),
        1 => Shape::triangle([point(), point(), point()]).unwrap(),
        2 => mesh(&[point(), point(), point()], &[[0, 1, 2]]),
        3 => mesh(&[point(), point(), point(), point()], &[[0, 1, 2], [1, 2, 3]]),
        4 => Shape::cuboid([1.0, 1.0, 1.0 + f64::from(dice.random_range(0..2))]).unwrap(),
        5 => Shape::sphere(f64::from(dice.random_range(1..3))).unwrap(),
        _ => Shape::capsule(1.0, f64::from(dice.random_range(1..2))).unwrap(),
    }
}

#[test]
fn bodies_on_a_grid_are_parted_and_no_sampled_direction_does_it_sooner() {
    let dice = &mut Pcg64::seed_from_u64(14);
    let (mut touched, mut deep) = (0, 0);
    for case in 0..1500 {
        let [a, b] = [case % 7, (case / 7) % 7].map(|kind| whole(dice, kind));
        let at = DVec3::from_array([(); 3].map(|()| f64::from(dice.random_range(-2..3))));
        let found = parted(&a, &b, at);
        if found.length == 0.0 {
            continue;
        }
        if found.length < 1e-12 {
            touched += 1;
            continue;
        }
        deep += 1;
        // Half the directions anywhere, half near the one found.
        let towards = found.translation / found.length;
        for k in 0..500 {
            let any = DVec3::from_array([(); 3].map(|()| dice.random_range(-1.0..1.0)));
            let way = if k % 2 == 0 { any } else { towards + any * 0.3 };
            let Some(way) = way.try_normalize() else { continue };
            let sooner = way * (found.length / 1.05);
            assert!(
                !is_parted(&a, &b, at + sooner),
                "case {case}: {sooner} parts {a:?} {b:?} {at}, {found:?}"
            );
        }
    }
    assert!(touched >= 40 && deep >= 200, "{touched} touch, {deep} overlap");
}

/// Whatever else is found, b beside the box of a is a way out.
#[test]
fn no_way_out_is_longer_than_that_of_the_boxes() {
    let dice = &mut Pcg64::seed_from_u64(14);
    let solid = |scale: f64| -> Vec<Shape> {
        let mesh = |mesh: Result<impinge::Mesh, impinge::Error>| {
            Shape::from(mesh.and_then(|mesh| mesh.scaled(scale)).unwrap())
        };
        let [x, y, z] = [0.3, 0.5, 0.8].map(|x| x * scale);
        let ball = Shape::sphere(x).unwrap();
        let side = |x: f64| Pose::from_translation([x, 0.0, 0.0]).unwrap();
        vec![
            mesh(procedural::torus(0.8, 0.3, 12, 6)),
            mesh(procedural::sheet([1.5, 1.5], [2, 2])),
            mesh(procedural::bowl(0.9, 0.1, 8, 4)),
            Shape::cylinder(x, y).unwrap(),
            Shape::cone(y, y).unwrap(),
            Shape::ellipsoid([x, y, z]).unwrap(),
            Shape::cuboid([x, y, z]).unwrap(),
            Shape::compound([
                (ball.clone(), side(-x)),
                (Shape::cone(x, z).unwrap(), side(x)),
                (ball, side(y)),
            ])
            .unwrap(),
            Shape::segment([[-x, 0.0, z], [y, 0.0, -z]]).unwrap(),
            Shape::triangle([[-x, 0.0, y], [x, -y, -z], [0.0, y, z]]).unwrap(),
        ]
    };
    let mut judged = 0;
    for scale in [1e-6, 1.0, 1e6] {
        let shapes = solid(scale);
        for _ in 0..60 {
            let [a, b] = [(); 2].map(|()| &shapes[dice.random_range(0..shapes.len())]);
            let mut place = || {
                let number = |dice: &mut Pcg64| dice.random_range(-1.0..1.0);
                let turn = [number(dice), number(dice), number(dice), 1.0];
                Pose::new([0.5 * scale * number(dice), 0.5 * scale * number(dice), 0.0], turn).unwrap()
            };
            let [p, q] = [place(), place()];
            let found = Query::default().separate(a.at(p), b.at(q)).unwrap().value.unwrap();
            if found.length == 0.0 {
                continue;
            }
            let [s, t] = [a.bounds(&p), b.bounds(&q)];
            let most = (s.high - t.low).min(t.high - s.low).min_element();
            judged += 1;
            let room = 1.0 + 1e-9;
            assert!(found.length <= most * room, "{found:?}, boxes {most}: {a:?} {p:?} {b:?} {q:?}");
            assert!(found.at_least <= most * room, "{found:?}, boxes {most}: {a:?} {p:?} {b:?} {q:?}");
        }
    }
    assert!(judged > 90, "{judged}");
}
