//! Chords against dense samples of the solids, and against each other where shapes are the same.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::narrow::convex::relation::counted_point_in;
use crate::shape::procedural;

fn shapes() -> Vec<Convex> {
    vec![
        Primitive::sphere(0.7).unwrap().into(),
        Primitive::cuboid([0.3, 0.5, 0.9]).unwrap().into(),
        Primitive::capsule(0.4, 0.6).unwrap().into(),
        Primitive::cylinder(0.5, 0.8).unwrap().into(),
        Primitive::cone(0.8, 0.7).unwrap().into(),
        Primitive::ellipsoid([0.4, 0.6, 0.9]).unwrap().into(),
        Primitive::half_space([0.2, -0.5, 0.8], 0.2).unwrap().into(),
        Polytope::hull(procedural::blob(1.0, 0.3, 2, 9).unwrap().vertices()).unwrap().into(),
    ]
}

/// Hits are where the ray changes sides: between them all points are inside, or all outside.
#[test]
fn between_two_hits_the_ray_stays_on_one_side() {
    let mut rng = Pcg64::seed_from_u64(11);
    let mut number = |size: f64| rng.random_range(-size..size);
    for convex in shapes() {
        let (mut missed, mut twice) = (0, 0);
        for k in 0..600 {
            let pose = Pose::new(
                [number(2.0), number(2.0), number(2.0)],
                [number(1.0), number(1.0), number(1.0), 0.5],
            );
            let pose = pose.unwrap();
            let spread = if k % 3 == 0 { 0.3 } else { 2.5 };
            let from = pose.apply(DVec3::new(number(spread), number(spread), number(spread)));
            let to = pose.apply(DVec3::new(number(0.8), number(0.8), number(0.8)));
            let ray = Ray { origin: from, direction: (to - from) * (1.0 + number(0.9)), reach: 3.0 };
            let (hits, _) = hits(&convex, &pose, &ray);
            missed += usize::from(hits.is_empty());
            twice += usize::from(hits.len() == 2);
            let mut bounds = vec![0.0];
            bounds.extend(hits.iter().map(|hit| hit.t));
            bounds.push(ray.reach);
            let inside = |t: f64| counted_point_in(&convex, &pose, ray.origin + ray.direction * t).1;
            let sides: Vec<bool> = bounds
                .windows(2)
                .map(|w| {
                    let middle = inside(0.5 * (w[0] + w[1]));
                    for share in [0.01, 0.2, 0.8, 0.99] {
                        assert_eq!(inside(w[0] + share * (w[1] - w[0])), middle, "{convex:?} {w:?}");
                    }
                    middle
                })
                .collect();
            assert!(sides.windows(2).all(|w| w[0] != w[1]), "{convex:?} {sides:?}");
            for hit in &hits {
                let step = hit.normal * 1e-7;
                let on = |p: DVec3| counted_point_in(&convex, &pose, p).1;
                assert!(!on(hit.point + step) && on(hit.point - step), "{convex:?} {hit:?}");
                assert!((ray.origin + ray.direction * hit.t).distance(hit.point) < 1e-12);
                assert!((hit.normal.length() - 1.0).abs() < 1e-12);
            }
        }
        // A line leaves a half-space once.
        let twice_most = if convex.kind() == "halfspace" { 0..=0 } else { 61..=600 };
        assert!(missed > 20 && twice_most.contains(&twice), "{convex:?} {missed} {twice}");
    }
}

/// Only faces at the ends of the chord are tried: the same hits, to the bit, as of all faces, at corners and edges, from
/// within, from far away, under a pose that is no rotation, for small and large hulls.
#[test]
fn the_chord_of_a_hull_loses_no_face() {
    let mut rng = Pcg64::seed_from_u64(41);
    let mut vector = |size: f64| DVec3::from_array([(); 3].map(|()| rng.random_range(-size..size)));
    let (mut hit, mut missed) = (0, 0);
    for k in 0..6000 {
        let size = [1.0, 1e-9, 1e9][k % 3];
        let points: Vec<DVec3> = match k % 4 {
            0 => procedural::blob(size, 0.3, 1, 9).unwrap().vertices().to_vec(),
            1 => (0..8).map(|i| DVec3::from([i & 1, i >> 1 & 1, i >> 2].map(f64::from)) * size).collect(),
            // Flat as a blade.
            _ => (0..12).map(|_| vector(1.0) * size * DVec3::new(1.0, 1.0, 1e-7)).collect(),
        };
        let hull = Polytope::hull(&points).unwrap();
        let (at, turn) = (vector(3.0) * size, vector(1.0));
        let mut pose = Pose::new(at.to_array(), [turn.x, turn.y, turn.z, 0.5]).unwrap();
        if k % 5 == 0 {
            let mut matrix = pose.to_matrix();
            matrix[1] += 4e-5;
            pose = Pose::from_matrix(&matrix).unwrap();
        }
        let corner = |i: usize| pose.apply(hull.vertices()[i % hull.vertices().len()]);
        let aim = match k % 7 {
            0 | 1 => corner(k),
            2 | 3 => corner(k).midpoint(corner(k + 1)),
            4 => pose.apply(hull.centre()),
            _ => at + vector(1.0) * size,
        };
        let from = match k % 11 {
            0 => aim,
            1 => aim + vector(1.0) * size * 1e6,
            2 => pose.apply(hull.centre()),
            _ => aim + vector(3.0) * size,
        };
        let direction =
            if from == aim { vector(1.0) } else { (aim - from) * [1.0, 1e-150, 1e150][k % 13 % 3] };
        let ray = Ray { origin: from, direction, reach: if k % 17 == 0 { 1.0 } else { f64::INFINITY } };
        let found = HullChord::new(&hull, &pose, &ray)
            .map_or_else(Hits::new, |chord| chord_hits(&chord, &hull, &pose, &ray));
        let mut all = Hits::new();
        (0..hull.faces().len() as u32).for_each(|face| add_face_hits(&mut all, &hull, &pose, &ray, face));
        assert_eq!(found, all, "{k}");
        assert_eq!(found.first().copied(), first_hull_hit(&hull, &pose, &ray), "{k}");
        hit += usize::from(!found.is_empty());
        missed += usize::from(found.is_empty());
    }
    assert!(hit > 2500 && missed > 700, "{hit} {missed}");
}

#[test]
fn flat_shapes_have_one_hit_and_what_has_no_area_none() {
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let ray = Ray { origin: DVec3::new(0.25, 0.25, 1.0), direction: -DVec3::Z, reach: f64::INFINITY };
    let flat = [Primitive::triangle(corners).unwrap().into(), Polytope::hull(&corners).unwrap().into()];
    for convex in flat {
        let (found, _) = hits(&convex, &Pose::IDENTITY, &ray);
        assert_eq!((found.len(), found[0].t, found[0].normal), (1, 1.0, DVec3::Z));
        let below = Ray { origin: DVec3::new(0.25, 0.25, -1.0), direction: DVec3::Z, reach: f64::INFINITY };
        assert_eq!(hits(&convex, &Pose::IDENTITY, &below).0[0].normal, -DVec3::Z);
    }
    let thin = [
        Primitive::segment([DVec3::ZERO, DVec3::X]).unwrap().into(),
        Polytope::hull(&corners[..2]).unwrap().into(),
        Polytope::hull(&corners[..1]).unwrap().into(),
    ];
    for convex in thin {
        let through = Ray { origin: DVec3::new(0.5, 0.0, 1.0), ..ray };
        assert!(hits(&convex, &Pose::IDENTITY, &through).0.is_empty());
    }
}

#[test]
fn starts_on_the_surface_and_extreme_sizes() {
    for power in [-600, -170, 0, 190] {
        let s = 2f64.powi(power);
        let ball = Convex::from(Primitive::sphere(s).unwrap());
        let cone = Convex::from(Primitive::cone(s, s).unwrap());
        let ray = |z: f64, direction: f64| Ray {
            origin: DVec3::Z * z * s,
            direction: DVec3::Z * direction,
            reach: f64::INFINITY,
        };
        for convex in [&ball, &cone] {
            let ts = |ray: Ray| -> Vec<f64> {
                hits(convex, &Pose::IDENTITY, &ray).0.iter().map(|hit| hit.t / s).collect()
            };
            assert_eq!(ts(ray(3.0, -1.0)), [2.0, 4.0], "2^{power} {convex:?}");
            assert_eq!(ts(ray(1.0, -1.0)), [0.0, 2.0], "2^{power} {convex:?}");
            assert_eq!(ts(ray(1.0, 1.0)), [0.0], "2^{power} {convex:?}");
            assert_eq!(ts(ray(0.0, 1.0)), [1.0], "2^{power} {convex:?}");
            assert!(ts(ray(2.0, 1.0)).is_empty());
        }
    }
}

/// A ray that starts on a surface hits it there, wherever it goes: into it, away from it, along it.
#[test]
fn issue_014_a_ray_that_starts_on_a_surface_hits_it_at_once() {
    let diagonal = DVec3::new(1.0, 1.0, 0.0);
    let primitive = |p: Result<Primitive, crate::Error>| Convex::from(p.unwrap());
    let slant = DVec3::new(0.5, 0.0, -1.0);
    let cases: [(Convex, DVec3, &[DVec3]); 9] = [
        (primitive(Primitive::cuboid([1.0, 2.0, 3.0])), DVec3::new(0.25, -0.5, 3.0), &[DVec3::X, diagonal]),
        (primitive(Primitive::cuboid([1.0, 2.0, 3.0])), DVec3::new(1.0, 2.0, 0.5), &[DVec3::Z, -DVec3::Z]),
        (
            primitive(Primitive::half_space([0.0, 0.0, 2.0], 1.0)),
            DVec3::new(7.0, 3.0, 0.5),
            &[DVec3::Y, diagonal],
        ),
        (primitive(Primitive::cylinder(0.5, 1.0)), DVec3::new(0.125, 0.25, 1.0), &[DVec3::X, diagonal]),
        (
            primitive(Primitive::cylinder(0.5, 1.0)),
            DVec3::new(0.5, 0.0, 0.25),
            &[DVec3::Z, -DVec3::Z, DVec3::Y],
        ),
        (primitive(Primitive::cone(0.5, 0.5)), DVec3::new(0.125, 0.0, -0.5), &[DVec3::X, diagonal]),
        (primitive(Primitive::cone(0.5, 0.5)), DVec3::new(0.25, 0.0, 0.0), &[slant, -slant, DVec3::Y]),
        (primitive(Primitive::sphere(0.7)), DVec3::new(0.0, 0.0, 0.7), &[DVec3::X, diagonal]),
        (
            Polytope::hull(procedural::cuboid([1.0, 2.0, 3.0], [1; 3]).unwrap().vertices()).unwrap().into(),
            DVec3::new(0.25, -0.5, 3.0),
            &[DVec3::X, diagonal, -diagonal],
        ),
    ];
    for (convex, origin, along) in &cases {
        for &direction in along.iter().chain(&[*origin, -*origin]) {
            for turn in [[0.0, 0.0, 0.0, 1.0], [0.5, 0.5, 0.5, 0.5]] {
                // A third of a turn only changes the order of the coordinates.
                let pose = Pose::new([4.0, -2.0, 8.0], turn).unwrap();
                let ray = Ray {
                    origin: pose.apply(*origin),
                    direction: pose.matrix() * direction,
                    reach: f64::INFINITY,
                };
                let (found, _) = hits(convex, &pose, &ray);
                let first = found.first().unwrap_or_else(|| panic!("{convex:?} {ray:?} misses"));
                assert_eq!(first.t, 0.0, "{convex:?} {ray:?}");
                assert!(first.point.distance(ray.origin) < 1e-14 && first.normal.is_normalized());
                assert_eq!(first_hit(convex, &pose, &ray, &Heading::of(&ray)).0.map(|hit| hit.t), Some(0.0));
                assert!(found.windows(2).all(|two| two[0].t < two[1].t) && found.len() <= 2);
            }
        }
    }
}

/// Lines that have one point in common with a box, on an edge or at a corner, and the same a little farther out.
#[test]
fn a_ray_that_touches_an_edge_of_a_box_or_the_rim_of_a_cylinder_hits_it() {
    // Rounding may see two sides at nearly the same place.
    let is_there =
        |found: &Hits, way: f64| !found.is_empty() && found.iter().all(|hit| (hit.t - way).abs() < 1e-12);
    let mut rng = Pcg64::seed_from_u64(3);
    for round in 0..4000 {
        let mut whole = |from: i32, to: i32| f64::from(rng.random_range(from..=to));
        let half = DVec3::new(whole(1, 5), whole(1, 5), whole(1, 5));
        let sides = [0, 1].map(|_| if whole(0, 1) > 0.0 { 1.0 } else { -1.0 });
        let [i, j, k] = [[0, 1, 2], [1, 2, 0], [2, 0, 1]][round % 3];
        let mut touched = DVec3::ZERO;
        touched[i] = sides[0] * half[i];
        touched[j] = sides[1] * half[j];
        // A corner now and then.
        touched[k] = if round % 5 == 0 { half[k] } else { half[k] * whole(-7, 7) / 8.0 };
        let (alpha, beta) = (whole(1, 9), whole(1, 9));
        let mut outward = DVec3::ZERO;
        outward[i] = sides[0] * alpha;
        outward[j] = sides[1] * beta;
        let mut direction = DVec3::ZERO;
        direction[i] = sides[0] * beta;
        direction[j] = -sides[1] * alpha;
        direction[k] = if round % 5 == 0 { 0.0 } else { whole(-9, 9) };
        let way = whole(1, 9);
        let at = DVec3::new(whole(-50, 50), whole(-50, 50), whole(-50, 50));
        let pose = Pose::from_translation(at).unwrap();
        let cuboid: Convex = Primitive::cuboid(half).unwrap().into();
        let ray = |off: f64| Ray {
            origin: at + touched - direction * way + outward * off,
            direction,
            reach: f64::INFINITY,
        };
        let found = hits(&cuboid, &pose, &ray(0.0)).0;
        assert!(is_there(&found, way), "{half} {:?} {found:?}", ray(0.0));
        assert!(found[0].point.distance(at + touched) < 1e-12);
        let first = first_hit(&cuboid, &pose, &ray(0.0), &Heading::of(&ray(0.0))).0;
        assert_eq!(first.map(|hit| hit.t), Some(found[0].t));
        assert!(hits(&cuboid, &pose, &ray(1e-9)).0.is_empty());
        // Across the rim of a cylinder, in a plane through its axis.
        let cylinder: Convex = Primitive::cylinder(half.x, half.z).unwrap().into();
        let rim = DVec3::new(sides[0] * half.x, 0.0, sides[1] * half.z);
        let direction = DVec3::new(sides[0] * beta, 0.0, -sides[1] * alpha);
        let ray = |off: f64| Ray {
            origin: at + rim - direction * way + DVec3::new(sides[0] * alpha, 0.0, sides[1] * beta) * off,
            direction,
            reach: f64::INFINITY,
        };
        let found = hits(&cylinder, &pose, &ray(0.0)).0;
        assert!(is_there(&found, way), "{half} {:?} {found:?}", ray(0.0));
        assert!(hits(&cylinder, &pose, &ray(1e-9)).0.is_empty());
    }
}

/// Lines that touch a curved surface in one point, whose coordinates are whole numbers, and the same a little farther out.
#[test]
fn a_ray_that_touches_a_curved_surface_hits_it() {
    let triples = [[3.0, 4.0, 5.0], [5.0, 12.0, 13.0], [8.0, 15.0, 17.0], [7.0, 24.0, 25.0]];
    let mut rng = Pcg64::seed_from_u64(5);
    let mut touched = [0; 6];
    for round in 0..6000 {
        let mut whole = |from: i32, to: i32| f64::from(rng.random_range(from..=to));
        let [a, b, c] = triples[round % 4];
        let [a, b] = [a, b].map(|x| if whole(0, 1) > 0.0 { x } else { -x });
        // Around the axis, and along it where the surface runs straight.
        let (round_it, level) = (DVec3::new(-b, a, 0.0), whole(-3, 3));
        let (share, lift) = (whole(1, 3), whole(-4, 4));
        let (at, outward, direction, shape): (DVec3, DVec3, DVec3, Convex) = match round % 6 {
            0 => {
                let direction = round_it * share + DVec3::Z * lift;
                (
                    DVec3::new(a, b, 0.0),
                    DVec3::new(a, b, 0.0),
                    direction,
                    Primitive::sphere(c).unwrap().into(),
                )
            }
            1 => {
                let radii = DVec3::new(2.0, 1.0, 4.0);
                let direction = radii * (round_it * share + DVec3::Z * lift);
                let at = radii * DVec3::new(a, b, 0.0);
                (
                    at,
                    DVec3::new(a, b, 0.0) / radii,
                    direction,
                    Primitive::ellipsoid(radii * c).unwrap().into(),
                )
            }
            2 | 3 => {
                let direction = round_it * share + DVec3::Z * lift;
                let at = DVec3::new(a, b, if round % 6 == 2 { level } else { 3.0 });
                let shape = match round % 4 {
                    0 | 1 => Primitive::cylinder(c, 3.0),
                    _ => Primitive::capsule(c, 3.0),
                };
                (at, DVec3::new(a, b, 0.0), direction, shape.unwrap().into())
            }
            4 => {
                // The cap of a capsule, along its meridian.
                let at = DVec3::new(a, 0.0, 6.0 + b.abs());
                let normal = DVec3::new(a, 0.0, b.abs());
                let direction = DVec3::new(-b.abs(), lift, a) * share;
                (at, normal, direction, Primitive::capsule(c, 6.0).unwrap().into())
            }
            _ => {
                // A cone of the slope 1/2, at half its height, across and along its surface.
                let along = DVec3::new(-a, -b, 2.0 * c);
                let direction = round_it * share + along * lift;
                let normal = DVec3::new(2.0 * a, 2.0 * b, c);
                (DVec3::new(a, b, 0.0), normal, direction, Primitive::cone(2.0 * c, 2.0 * c).unwrap().into())
            }
        };
        let place = DVec3::new(whole(-50, 50), whole(-50, 50), whole(-50, 50));
        let (pose, way) = (Pose::from_translation(place).unwrap(), whole(1, 5));
        let ray = |off: f64| Ray {
            origin: place + at - direction * way + outward.normalize() * off,
            direction,
            reach: f64::INFINITY,
        };
        let found = hits(&shape, &pose, &ray(0.0)).0;
        let first = found.first().unwrap_or_else(|| panic!("{shape:?} {:?} misses", ray(0.0)));
        // A line that is a little within leaves where the surface has turned by as much.
        let away = |hit: &RayHit| (hit.t - way).abs() * direction.length();
        assert!(found.iter().all(|hit| away(hit) < 1e-3), "{shape:?} {:?} {found:?}", ray(0.0));
        assert!(first.point.distance(place + at) < 1e-3, "{shape:?} {:?} {first:?}", ray(0.0));
        // At a rim it may be that of the face at the end.
        assert!(first.normal.dot(outward) > -1e-9, "{shape:?} {:?} {first:?}", ray(0.0));
        let once = first_hit(&shape, &pose, &ray(0.0), &Heading::of(&ray(0.0))).0;
        assert_eq!(once.map(|hit| hit.t), Some(first.t));
        assert!(hits(&shape, &pose, &ray(1e-9)).0.is_empty(), "{shape:?} {:?}", ray(1e-9));
        touched[round % 6] += 1;
    }
    assert!(touched.iter().all(|&count| count == 1000), "{touched:?}");
}

/// The apex of a cone and the lines from it to its rim belong to its surface.
#[test]
fn a_ray_along_a_cone_or_through_its_apex_alone_hits_it() {
    for [a, b, c] in [[3.0, 4.0, 5.0], [-5.0, 12.0, 13.0], [8.0, -15.0, 17.0]] {
        let cone: Convex = Primitive::cone(c, 4.0).unwrap().into();
        let cast = |origin: DVec3, direction: DVec3| {
            hits(&cone, &Pose::IDENTITY, &Ray { origin, direction, reach: f64::INFINITY }).0
        };
        let (apex, rim) = (DVec3::Z * 4.0, DVec3::new(a, b, -4.0));
        let ts = |found: &Hits| found.iter().map(|hit| hit.t).collect::<Vec<_>>();
        let down = ts(&cast(apex + (apex - rim), rim - apex));
        assert!(
            down.len() == 2 && (down[0] - 1.0).abs() < 1e-12 && (down[1] - 2.0).abs() < 1e-12,
            "{down:?}"
        );
        let up = ts(&cast(rim - (apex - rim) * 2.0, apex - rim));
        assert!(up.len() == 2 && (up[0] - 2.0).abs() < 1e-12 && (up[1] - 3.0).abs() < 1e-12, "{up:?}");
        for direction in [DVec3::X, DVec3::new(a, b, 0.0), DVec3::new(a, b, 1.0), DVec3::new(b, -a, 2.0)] {
            let over = ts(&cast(apex - direction * 3.0, direction));
            assert!(!over.is_empty() && over.iter().all(|t| (t - 3.0).abs() < 1e-6), "{direction} {over:?}");
            assert!(cast(apex + DVec3::Z * 1e-9 - direction * 3.0, direction).is_empty());
        }
    }
}
