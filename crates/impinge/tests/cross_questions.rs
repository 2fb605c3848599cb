//! The answers to several questions about one pair do not contradict each other within their certainties: over all
//! pairs of kinds, near, far and nested.

use impinge::glam::DVec3;
use impinge::{
    Answer, Certainty, Method, Placed, Pose, Query, Relation, Separation, Shape, ShapeKind, VolumeOptions,
    procedural,
};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// What rounding may do to bodies of this size.
const ROUNDING: f64 = 1e-9;

/// A body, and whether it is a solid of one connected surface.
struct Body {
    name: &'static str,
    shape: Shape,
    solid: bool,
}

fn vector(rng: &mut Pcg64, size: f64) -> [f64; 3] {
    [(); 3].map(|()| rng.random_range(-size..size))
}

fn pose(rng: &mut Pcg64, spread: f64) -> Pose {
    let turn = [(); 4].map(|()| rng.random_range(-1.0..1.0));
    Pose::new(vector(rng, spread), turn).unwrap()
}

fn bodies(rng: &mut Pcg64) -> Vec<Body> {
    let mut size = || rng.random_range(0.3..0.9);
    let mut all = Vec::new();
    let mut add = |name, shape: Result<Shape, impinge::Error>, solid| {
        all.push(Body { name, shape: shape.unwrap(), solid });
    };
    add("sphere", Shape::sphere(size()), true);
    add("box", Shape::cuboid([size(), size(), size()]), true);
    add("capsule", Shape::capsule(size(), size()), true);
    add("cylinder", Shape::cylinder(size(), size()), true);
    add("cone", Shape::cone(size(), size()), true);
    add("ellipsoid", Shape::ellipsoid([size(), size(), size()]), true);
    add("half-space", Shape::half_space([size(), -size(), size()], -0.4), true);
    add("triangle", Shape::triangle([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), false);
    add("segment", Shape::segment([[-1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]), false);
    let seed = rng.random_range(0..1000);
    let blob = procedural::blob(0.8, 0.3, 2, seed).unwrap();
    let open = blob.triangles()[8..].to_vec();
    let corners: Vec<[f64; 3]> = blob.vertices().iter().map(|p| p.to_array()).collect();
    add("mesh", Ok(Shape::from(blob)), true);
    add("open mesh", Shape::mesh(corners, open), false);
    let points: Vec<[f64; 3]> = (0..14).map(|_| vector(rng, 0.9)).collect();
    add("hull", Shape::hull(points.clone()), true);
    add("flat hull", Shape::hull(points.iter().map(|&[x, y, _]| [x, y, 0.1])), false);
    let half = Shape::cuboid([0.4, 0.6, 0.5]).unwrap();
    let halves = [-0.4, 0.4].map(|x| (half.clone(), Pose::from_translation([x, 0.0, 0.0]).unwrap()));
    add("compound", Shape::compound(halves), true);
    let flat = Shape::hull([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.5, 0.0]]).unwrap();
    let mixed = [(half, Pose::IDENTITY), (flat, Pose::from_translation([0.3, 0.0, 0.0]).unwrap())];
    add("compound with a sheet", Shape::compound(mixed), false);
    add("particles", Shape::particles(points, &[0.2]), false);
    all
}

/// How far off a value may be; infinite where it tells nothing.
fn width(certainty: Certainty) -> f64 {
    match certainty {
        Certainty::Exact => 0.0,
        Certainty::Conservative { tolerance } => tolerance,
        Certainty::Approximate { resolution } => resolution,
        _ => f64::INFINITY,
    }
}

/// What was asked, and how often it told anything.
#[derive(Debug, Default)]
struct Seen {
    separated: usize,
    touching: usize,
    intersecting: usize,
    inside: usize,
    volumes: usize,
    images: usize,
    contacts: usize,
    shifts: usize,
}

fn by(method: Method) -> Query<'static> {
    Query { method, ..Query::default() }
}

fn value<T>(answer: Answer<T>) -> (T, Certainty) {
    (answer.value.unwrap(), answer.certainty)
}

/// Puts all questions about one pair, and compares the answers.
fn check(name: &str, [a, b]: [&Body; 2], [placed, pose_b]: [Placed<'_>; 2], at: &Pose, seen: &mut Seen) {
    let (relation, sure) = value(by(Method::Auto).relation(placed, pose_b).unwrap());
    let exact = sure == Certainty::Exact;
    let (gap, certainty): (Separation, _) = value(by(Method::Auto).distance(placed, pose_b).unwrap());
    let told = format!("{name}: {relation:?} {sure:?}, {} {certainty:?}", gap.distance);
    let solids = a.solid && b.solid;
    let is_mesh = [a, b].iter().any(|body| body.shape.kind() == ShapeKind::Mesh);
    let room = ROUNDING + width(certainty);
    let inside = matches!(relation, Relation::AInsideB | Relation::BInsideA);
    match relation {
        Relation::Separated => seen.separated += 1,
        Relation::Touching => seen.touching += 1,
        Relation::Intersecting => seen.intersecting += 1,
        _ => seen.inside += 1,
    }
    if exact {
        match relation {
            Relation::Separated => assert!(gap.distance > 0.0, "{told}"),
            Relation::Touching => assert!(gap.distance.abs() <= room, "{told}"),
            // One inside the other, surfaces have a gap.
            _ if is_mesh => assert!(inside || gap.distance <= room, "{told}"),
            _ => assert!(gap.distance <= 0.0, "{told}"),
        }
    }
    let apart = exact && matches!(relation, Relation::Separated | Relation::Touching);
    let within = exact && !matches!(relation, Relation::Separated | Relation::Touching);

    let (places, listed) = value(by(Method::Auto).contacts(placed, pose_b, 0.0).unwrap());
    let deepest = places.iter().map(|place| place.depth).fold(f64::NEG_INFINITY, f64::max);
    if apart {
        assert!(deepest <= ROUNDING + width(listed), "{told}, {deepest} deep");
    }
    if exact && relation == Relation::Separated {
        assert!(places.is_empty() || deepest >= -ROUNDING, "{told}, {places:?}");
    }
    if within && solids && (inside || gap.distance < -1e-6 || is_mesh) {
        assert!(!places.is_empty(), "{told}, no contact");
        seen.contacts += 1;
    }

    for method in [Method::Exact, Method::Image] {
        let resolution = (method == Method::Image).then_some(48);
        let asked = VolumeOptions { resolution, ..VolumeOptions::default() };
        let Ok(answer) = by(method).volume(placed, pose_b, asked) else { continue };
        let (found, _) = value(answer);
        let told = format!("{told}, volume {} ± {} by {method}", found.volume, found.error);
        if apart {
            assert!(found.volume <= found.error + ROUNDING, "{told}");
        }
        if method == Method::Exact {
            seen.volumes += usize::from(found.volume > 0.0);
            if within && solids && (inside || !is_mesh) {
                assert!(found.volume > 0.0, "{told}");
            }
        } else {
            seen.images += usize::from(found.volume > 0.0);
        }
    }
    if relation != Relation::Separated
        && let Ok(answer) = by(Method::Image).contacts(placed, pose_b, 0.0)
    {
        let (places, listed) = value(answer);
        if within && listed == Certainty::Exact {
            assert!(!places.is_empty(), "{told}, no contact by images, exactly");
        }
        assert!(places.iter().all(|place| place.normal.length() > 0.99), "{told}, {places:?}");
    }

    if let Ok(answer) = by(Method::Auto).separate(placed, pose_b) {
        let (way, _) = value(answer);
        if apart {
            assert_eq!(way.translation, DVec3::ZERO, "{told}");
        } else if exact && way.length.is_finite() {
            let there = Pose::from_matrix(&moved_matrix(at, way.translation)).unwrap();
            let after = by(Method::Auto).relation(placed, b.shape.at(there)).unwrap();
            let parted = matches!(after.value, Some(Relation::Separated | Relation::Touching));
            assert!(way.length > 0.0 && parted, "{told}, {way:?} leaves {after:?}");
            seen.shifts += 1;
        }
    }
}

/// The matrix of a pose moved by a translation.
fn moved_matrix(pose: &Pose, by: DVec3) -> [f64; 16] {
    let mut matrix = pose.to_matrix();
    for k in 0..3 {
        matrix[4 * k + 3] += by[k];
    }
    matrix
}

#[test]
fn answers_about_one_pair_agree() {
    let mut rng = Pcg64::seed_from_u64(2026);
    let (mut seen, mut count) = (Seen::default(), 0);
    for (round, spread) in [0.5, 1.4, 2.6].into_iter().enumerate() {
        let (all, others) = (bodies(&mut rng), bodies(&mut rng));
        for a in &all {
            for b in &others {
                if a.name == "half-space" && b.name == "half-space" {
                    continue;
                }
                let poses = [0, 1].map(|_| pose(&mut rng, spread));
                let name = format!("{round}: {} – {}", a.name, b.name);
                let placed = [a.shape.at(poses[0]), b.shape.at(poses[1])];
                check(&name, [a, b], placed, &poses[1], &mut seen);
                count += 1;
            }
        }
    }
    // Face to face, and one in the other with walls to spare.
    let cube = Body { name: "box", shape: Shape::cuboid([1.0; 3]).unwrap(), solid: true };
    let mesh = procedural::cuboid([1.0; 3], [2; 3]).unwrap();
    let mesh = Body { name: "box mesh", shape: Shape::from(mesh), solid: true };
    let corners = [-1.0, 1.0];
    let corners = corners.map(|x| corners.map(|y| corners.map(|z| [x, y, z])));
    let hull = Body { name: "box hull", shape: Shape::hull(corners.concat().concat()).unwrap(), solid: true };
    let small = Body { name: "small box", shape: Shape::cuboid([0.25; 3]).unwrap(), solid: true };
    let boxes = [&cube, &mesh, &hull, &small];
    for a in boxes {
        for b in boxes {
            for x in [0.0, 0.5, 1.25, 2.0, 2.5] {
                let at = Pose::from_translation([x, 0.25, 0.0]).unwrap();
                let name = format!("{} – {} at {x}", a.name, b.name);
                check(&name, [a, b], [a.shape.at(Pose::IDENTITY), b.shape.at(at)], &at, &mut seen);
                count += 1;
            }
        }
    }
    let share = |hits: usize, least: usize| 100 * hits >= least * count;
    let Seen { separated, touching, intersecting, inside, volumes, images, contacts, shifts } = seen;
    assert!(share(separated, 20) && share(intersecting, 20) && touching >= 8, "{seen:?} of {count}");
    assert!(share(inside, 3) && share(volumes, 3) && share(images, 20), "{seen:?} of {count}");
    assert!(share(contacts, 12) && share(shifts, 20), "{seen:?} of {count}");
}
