use glam::DVec3;

use super::*;

fn ask(a: impl Into<Convex>, at_a: [f64; 3], b: impl Into<Convex>, at_b: [f64; 3]) -> (Relation, Certainty) {
    let (a, b) = (a.into(), b.into());
    let [pose_a, pose_b] = [at_a, at_b].map(Pose::shift);
    let (found, certainty) = relation(&a, &pose_a, &b, &pose_b, &mut ConvexMemory::default());
    let (back, same) = relation(&b, &pose_b, &a, &pose_a, &mut ConvexMemory::default());
    assert_eq!((back.swapped(), same), (found, certainty), "{a:?} {b:?}");
    (found, certainty)
}

/// The relation, which has to be exact.
fn exactly(a: impl Into<Convex>, at_a: [f64; 3], b: impl Into<Convex>, at_b: [f64; 3]) -> Relation {
    let (found, certainty) = ask(a, at_a, b, at_b);
    assert_eq!(certainty, Certainty::Exact);
    found
}

const O: [f64; 3] = [0.0; 3];

#[test]
fn spheres_touch_to_the_last_bit() {
    let ball = |r: f64| Primitive::sphere(r).unwrap();
    // 3, 4, 5: the centres are exactly the sum of the radii apart.
    let at = |z: f64| [3.0, 0.0, z];
    assert_eq!(exactly(ball(2.0), O, ball(3.0), at(4.0)), Relation::Touching);
    assert_eq!(exactly(ball(2.0), O, ball(3.0), at(4.0_f64.next_up())), Relation::Separated);
    assert_eq!(exactly(ball(2.0), O, ball(3.0), at(4.0_f64.next_down())), Relation::Intersecting);
    assert_eq!(exactly(ball(2.0), O, ball(7.0), at(4.0)), Relation::AInsideB);
    assert_eq!(exactly(ball(2.0), O, ball(7.0), at(4.0_f64.next_up())), Relation::Intersecting);
    assert_eq!(exactly(ball(2.0), O, ball(2.0), O), Relation::Intersecting);
    assert_eq!(exactly(ball(2.0), O, ball(1.0), O), Relation::BInsideA);
}

#[test]
fn capsules_boxes_and_flat_shapes_touch_to_the_last_bit() {
    let ball = Primitive::sphere(5.0).unwrap();
    let rod = Primitive::capsule(2.0, 10.0).unwrap();
    let cube = Primitive::cuboid([1.0, 1.0, 20.0]).unwrap();
    assert_eq!(exactly(ball, O, rod, [7.0, 0.0, 1.0]), Relation::Touching);
    assert_eq!(exactly(ball, O, rod, [7.0_f64.next_up(), 0.0, 1.0]), Relation::Separated);
    assert_eq!(exactly(ball, O, rod, [7.0_f64.next_down(), 0.0, 1.0]), Relation::Intersecting);
    // An edge of the box, 5 = |(3, 4)| away.
    assert_eq!(exactly(ball, O, cube, [4.0, 5.0, 1.0]), Relation::Touching);
    assert_eq!(exactly(ball, O, cube, [4.0, 5.0_f64.next_up(), 1.0]), Relation::Separated);
    let room = Primitive::cuboid([5.0, 6.0, 7.0]).unwrap();
    assert_eq!(exactly(ball, O, room, O), Relation::AInsideB);
    assert_eq!(exactly(ball, [f64::MIN_POSITIVE, 0.0, 0.0], room, O), Relation::Intersecting);
    assert_eq!(exactly(Primitive::cuboid([3.0, 4.0, 1e-9]).unwrap(), O, ball, O), Relation::Intersecting);
    assert_eq!(exactly(Primitive::cuboid([3.0, 3.9, 0.5]).unwrap(), O, ball, O), Relation::AInsideB);
    let leaf = Primitive::triangle([
        DVec3::new(5.0, 0.0, 0.0),
        DVec3::new(5.0, 9.0, 0.0),
        DVec3::new(9.0, 0.0, 9.0),
    ]);
    // An open surface that shares a point intersects.
    assert_eq!(exactly(ball, O, leaf.unwrap(), O), Relation::Intersecting);
    let chord = Primitive::segment([DVec3::new(3.0, 4.0, 0.0), DVec3::new(-5.0, 0.0, 0.0)]).unwrap();
    assert_eq!(exactly(chord, O, ball, O), Relation::AInsideB);
    assert_eq!(exactly(rod, O, Primitive::capsule(3.0, 10.0).unwrap(), [0.0, 0.0, 1.0]), Relation::AInsideB);
    assert_eq!(
        exactly(rod, O, Primitive::capsule(3.0, 10.0).unwrap(), [0.0, 0.0, 1.0 + 1e-14]),
        Relation::Intersecting
    );
}

#[test]
fn half_spaces_touch_to_the_last_bit() {
    let ground = Primitive::half_space([0.0, 0.0, 2.0], 2.0).unwrap();
    let cube = Primitive::cuboid([1.0, 2.0, 3.0]).unwrap();
    let ball = Primitive::sphere(0.5).unwrap();
    for (shape, half) in [(cube, 3.0), (ball, 0.5)] {
        assert_eq!(exactly(ground, O, shape, [0.3, 9.0, 1.0 + half]), Relation::Touching);
        assert_eq!(exactly(ground, O, shape, [0.3, 9.0, (1.0 + half).next_up()]), Relation::Separated);
        assert_eq!(exactly(ground, O, shape, [0.3, 9.0, (1.0 + half).next_down()]), Relation::Intersecting);
        assert_eq!(exactly(ground, O, shape, [0.3, 9.0, 1.0 - half]), Relation::BInsideA);
        assert_eq!(exactly(ground, O, shape, [0.3, 9.0, (1.0 - half) + 1e-15]), Relation::Intersecting);
    }
    let tilted = Primitive::half_space([3.0, 0.0, 4.0], 5.0).unwrap();
    assert_eq!(exactly(tilted, O, Primitive::sphere(2.0).unwrap(), [3.0, 0.0, 1.5]), Relation::Touching);
    let down = Primitive::half_space([0.0, 0.0, -1.0], -1.0).unwrap();
    let below = Primitive::half_space([0.0, 0.0, 1.0], 0.5).unwrap();
    assert_eq!(exactly(ground, O, down, O), Relation::Touching);
    assert_eq!(exactly(ground, O, down, [0.0, 0.0, 1e-9]), Relation::Separated);
    assert_eq!(exactly(ground, O, down, [0.0, 0.0, -1e-9]), Relation::Intersecting);
    assert_eq!(exactly(ground, O, below, O), Relation::BInsideA);
    assert_eq!(exactly(ground, O, ground, O), Relation::Intersecting);
    assert_eq!(exactly(ground, O, tilted, O), Relation::Intersecting);
}

#[test]
fn curved_shapes_state_their_tolerance_where_it_matters() {
    let can = Primitive::cylinder(1.0, 2.0).unwrap();
    let egg = Primitive::ellipsoid([1.0, 2.0, 3.0]).unwrap();
    let hat = Primitive::cone(1.0, 2.0).unwrap();
    assert_eq!(ask(can, O, egg, [9.0, 0.0, 0.0]), (Relation::Separated, Certainty::Exact));
    assert_eq!(ask(can, O, egg, [1.0, 0.0, 0.0]), (Relation::Intersecting, Certainty::Exact));
    assert_eq!(
        ask(Primitive::cylinder(0.3, 0.3).unwrap(), O, egg, O),
        (Relation::AInsideB, Certainty::Exact)
    );
    assert_eq!(
        ask(egg, O, Primitive::cuboid([1.5, 2.5, 3.5]).unwrap(), O),
        (Relation::AInsideB, Certainty::Exact)
    );
    for (b, at) in [(egg, [2.0, 0.0, 0.0]), (hat, [0.0, 0.0, 4.0]), (can, [0.0, 2.0, 0.0])] {
        let (found, certainty) = ask(can, O, b, at);
        assert_eq!(found, Relation::Touching, "{b:?}");
        assert!(matches!(certainty, Certainty::Approximate { resolution } if resolution < 1e-10));
    }
    let (found, certainty) = ask(can, O, Primitive::cuboid([1.0, 1.0, 2.0]).unwrap(), O);
    assert_eq!(found, Relation::AInsideB);
    assert!(matches!(certainty, Certainty::Approximate { .. }));
    assert_eq!(ask(can, O, can, O).0, Relation::Intersecting);
    let ground = Primitive::half_space([0.0, 0.0, 1.0], 0.0).unwrap();
    assert_eq!(ask(ground, O, can, [0.0, 0.0, 2.0]).0, Relation::Touching);
    assert_eq!(ask(ground, O, can, [0.0, 0.0, 2.1]), (Relation::Separated, Certainty::Exact));
}

/// The band within which curved shapes count as touching is one of their sizes, wherever they are.
#[test]
fn issue_015_the_touch_band_of_curved_shapes_does_not_grow_with_the_place() {
    let far = DVec3::new(3e7, -2e7, 1e7);
    let can = Convex::from(Primitive::cylinder(0.5, 1.0).unwrap());
    let others = [
        (Convex::from(Primitive::cuboid([1.0; 3]).unwrap()), 2.0),
        (Convex::from(Primitive::ellipsoid([1.0, 1.0, 0.5]).unwrap()), 1.5),
        (Convex::from(Primitive::half_space([0.0, 0.0, 1.0], 0.25).unwrap()), 1.25),
    ];
    for (other, apart) in &others {
        // Four thousand steps of the doubles there: 3e-5; and 1024 of them the other way.
        for (gap, want) in
            [(2.0_f64.powi(-16), Relation::Separated), (-(2.0_f64.powi(-18)), Relation::Intersecting)]
        {
            let poses = [far, far + DVec3::Z * (apart + gap)].map(Pose::shift);
            let (found, certainty) =
                relation(other, &poses[0], &can, &poses[1], &mut ConvexMemory::default());
            assert_eq!((found, certainty), (want, Certainty::Exact), "{other:?} {gap}");
        }
        let poses = [far, far + DVec3::Z * *apart].map(Pose::shift);
        let (found, certainty) = relation(other, &poses[0], &can, &poses[1], &mut ConvexMemory::default());
        assert_eq!(found, Relation::Touching);
        assert!(
            matches!(certainty, Certainty::Approximate { resolution } if resolution < 1e-6),
            "{certainty:?}"
        );
    }
}
