use glam::DVec3;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::model::{Compound, Model};
use crate::narrow::convex::relation::point_in;
use crate::narrow::dispatch::{full_distance, full_relation};
use crate::narrow::exact::signed_distance::signed_distance;
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::shape::{Polytope, procedural};
use crate::{Feature, Mesh};

/// One body of every kind, of about unit size.
fn bodies() -> Vec<(&'static str, Geometry)> {
    let round = |p: Result<Primitive, crate::Error>| Geometry::from(p.unwrap());
    let ball = procedural::ico_sphere(1.0, 3).unwrap();
    let bowl = ball.triangles().iter().filter(|t| ball.vertices()[t[0] as usize].z < 0.5).copied().collect();
    let parts = [DVec3::ZERO, DVec3::new(0.9, 0.0, 0.0), DVec3::new(0.0, 1.1, 0.3)]
        .map(|p| (Convex::from(Primitive::cuboid([0.5, 0.4, 0.7]).unwrap()), Pose::shift(p)));
    vec![
        ("mesh", Model::from(procedural::torus(0.9, 0.4, 24, 12).unwrap()).into()),
        ("bowl", Mesh::from_points(ball.vertices().to_vec(), bowl).unwrap().into()),
        ("hull", Polytope::hull(procedural::blob(1.0, 0.3, 2, 9).unwrap().vertices()).unwrap().into()),
        ("sphere", round(Primitive::sphere(0.9))),
        ("box", round(Primitive::cuboid([0.9, 0.6, 0.4]))),
        ("capsule", round(Primitive::capsule(0.4, 0.7))),
        ("cylinder", round(Primitive::cylinder(0.6, 0.7))),
        ("cone", round(Primitive::cone(0.8, 0.9))),
        ("ellipsoid", round(Primitive::ellipsoid([0.4, 0.7, 1.0]))),
        ("halfspace", round(Primitive::half_space([0.3, -0.4, 0.9], 0.1))),
        ("triangle", round(Primitive::triangle([DVec3::X, DVec3::Y, DVec3::Z]))),
        ("segment", round(Primitive::segment([DVec3::X, DVec3::Y]))),
        ("compound", Compound::new(parts).unwrap().into()),
    ]
}

/// Clouds of points, of equal balls and of different ones.
fn clouds(rng: &mut Pcg64, count: usize) -> [Cloud; 3] {
    let mut points = || -> Vec<DVec3> {
        (0..count).map(|_| DVec3::from([(); 3].map(|()| rng.random_range(-1.5..1.5)))).collect()
    };
    let each: Vec<f64> = (0..count).map(|i| 0.02 * (i % 7) as f64).collect();
    [
        Cloud::new(points(), &[0.0]).unwrap(),
        Cloud::new(points(), &[0.07]).unwrap(),
        Cloud::new(points(), &each).unwrap(),
    ]
}

fn random_pose(rng: &mut Pcg64, reach: f64) -> Pose {
    let turn = [(); 4].map(|()| rng.random_range(-1.0..1.0));
    Pose::new([(); 3].map(|()| rng.random_range(-reach..reach)), turn).unwrap()
}

/// The signed distance of one point from a body, by other ways than a field's.
fn alone(other: &Geometry, pose: &Pose, p: DVec3) -> f64 {
    match other {
        Geometry::Mesh(model) => signed_distance(model, pose, p).distance,
        Geometry::Convex(convex) => point_in(convex, pose, p).0.distance,
        Geometry::Compound(compound) => {
            let part = |part: &crate::model::Part| alone(&part.shape, &pose.compose(&part.pose), p);
            compound.parts().iter().map(part).fold(f64::INFINITY, f64::min)
        }
        Geometry::Particles(_) => unreachable!(),
    }
}

#[test]
fn near_particles_and_distances_are_those_of_asking_each_alone() {
    let mut rng = Pcg64::seed_from_u64(11);
    let (mut hits, mut asked) = (0, 0);
    for (name, other) in bodies() {
        for cloud in clouds(&mut rng, 400) {
            let [pose, other_pose] = [random_pose(&mut rng, 1.0), random_pose(&mut rng, 1.0)];
            let apart: Vec<f64> = (0..cloud.points().len())
                .map(|i| alone(&other, &other_pose, pose.apply(cloud.points()[i])) - cloud.radius(i))
                .collect();
            for limit in [0.0, 0.1] {
                let budget = &mut Budget::UNLIMITED.clone();
                let found = near(&cloud, &pose, &other, &other_pose, limit, budget).value.unwrap();
                let mut seen = vec![false; apart.len()];
                for Near { separation, .. } in &found {
                    let Feature::Vertex(i) = separation.features[0] else { panic!("{name}") };
                    let want = apart[i as usize];
                    assert!((separation.distance - want).abs() < 1e-9, "{name}: {separation:?}, {want}");
                    let across = separation.points[1] - separation.points[0];
                    let off = (across - separation.normal * separation.distance).length();
                    assert!(off < 1e-9, "{name}: off by {off}, {separation:?}");
                    assert!((separation.normal.length() - 1.0).abs() < 1e-9, "{name}: {separation:?}");
                    assert!(!std::mem::replace(&mut seen[i as usize], true), "{name}: {i} twice");
                }
                for (i, &want) in apart.iter().enumerate().filter(|(_, want)| (**want - limit).abs() > 1e-9) {
                    assert_eq!(seen[i], want <= limit, "{name}: particle {i} at {want}");
                }
                hits += usize::from(!found.is_empty());
                asked += 1;
            }
            let geometry = Geometry::from(cloud);
            let pair = ShapePair::new([&geometry, &other], [&pose, &other_pose]);
            let least = apart.iter().copied().fold(f64::INFINITY, f64::min);
            for pair in [pair, pair.swapped()] {
                let (found, certainty) = full_distance(&pair, &mut KernelMemory::default());
                assert!((found.distance - least).abs() < 1e-9, "{name}: {found:?}, {least}");
                assert_eq!(certainty, Certainty::Exact);
            }
        }
    }
    assert!(hits * 10 > asked * 6, "{hits} of {asked}");
}

#[test]
fn relations_are_the_union_of_those_of_the_particles() {
    let mut rng = Pcg64::seed_from_u64(12);
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for (name, other) in bodies() {
        for round in 0..8 {
            // Small clouds are inside or outside as a whole, large ones across; some balls are larger than the body.
            let [points, balls, each] = clouds(&mut rng, 40);
            let scale = [0.02, 0.15, 1.0][round % 3];
            let small = |cloud: &Cloud| {
                let radii: Vec<f64> = (0..40).map(|i| scale * cloud.radius(i)).collect();
                Cloud::new(cloud.points().iter().map(|p| *p * scale).collect(), &radii).unwrap()
            };
            let huge = Cloud::new(vec![DVec3::ZERO, DVec3::X * 9.0], &[8.0, 0.1]).unwrap();
            for cloud in [small(&points), small(&balls), small(&each), huge] {
                let [pose, other_pose] = [random_pose(&mut rng, 0.8), random_pose(&mut rng, 0.8)];
                let mut union = UnionRelation::default();
                for (i, p) in cloud.points().iter().enumerate() {
                    let one = Geometry::from(ball(cloud.radius(i)));
                    let at = Pose::shift(pose.apply(*p));
                    let pair = ShapePair::new([&one, &other], [&at, &other_pose]);
                    union.add(full_relation(&pair, &mut KernelMemory::default()).0);
                }
                let want = union.conclude(cloud.points().len());
                let geometry = Geometry::from(cloud);
                let pair = ShapePair::new([&geometry, &other], [&pose, &other_pose]);
                let found = full_relation(&pair, &mut KernelMemory::default()).0;
                assert_eq!(found, want, "{name}, round {round}: {geometry:?}");
                let back = full_relation(&pair.swapped(), &mut KernelMemory::default()).0;
                assert_eq!(back, want.swapped(), "{name}");
                *seen.entry(format!("{want:?}")).or_default() += 1;
            }
        }
    }
    for relation in ["Separated", "Intersecting", "AInsideB", "BInsideA"] {
        assert!(seen.get(relation).is_some_and(|&count| count >= 20), "{seen:?}");
    }
}

#[test]
fn two_clouds_agree_with_all_pairs() {
    let mut rng = Pcg64::seed_from_u64(13);
    for [i, j] in [[0, 0], [0, 1], [1, 1], [1, 2], [2, 2]] {
        let a = clouds(&mut rng, 300)[i].clone();
        let b = clouds(&mut rng, 500)[j].clone();
        let [pose, other_pose] = [random_pose(&mut rng, 0.5), random_pose(&mut rng, 0.5)];
        let mut want = Vec::new();
        let mut least = f64::INFINITY;
        let limit = if i + j == 0 { 0.2 } else { 0.1 };
        for (m, p) in a.points().iter().enumerate() {
            for (n, q) in b.points().iter().enumerate() {
                let apart = pose.apply(*p).distance(other_pose.apply(*q)) - a.radius(m) - b.radius(n);
                least = least.min(apart);
                if apart <= limit {
                    want.push([Feature::Vertex(m as u32), Feature::Vertex(n as u32)]);
                }
            }
        }
        let (geometry, other) = (Geometry::from(a), Geometry::from(b));
        let Geometry::Particles(cloud) = &geometry else { unreachable!() };
        let found =
            near(cloud, &pose, &other, &other_pose, limit, &mut Budget::UNLIMITED.clone()).value.unwrap();
        assert!(found.iter().map(|near| near.separation.features).eq(want.iter().copied()));
        assert!(want.len() > 20, "{}", want.len());
        let pair = ShapePair::new([&geometry, &other], [&pose, &other_pose]);
        let measured = full_distance(&pair, &mut KernelMemory::default()).0;
        assert!((measured.distance - least).abs() < 1e-12);
        let relation = full_relation(&pair, &mut KernelMemory::default()).0;
        assert_eq!(relation.is_contact(), least <= 0.0);
    }
    // A cloud of small balls, each in one of another's.
    let inner = Geometry::from(Cloud::new(vec![DVec3::ZERO, DVec3::X], &[0.1]).unwrap());
    let outer = Geometry::from(Cloud::new(vec![DVec3::X, DVec3::Y * 0.1, DVec3::Z * 7.0], &[0.3]).unwrap());
    let pair = ShapePair::new([&inner, &outer], [&Pose::IDENTITY; 2]);
    assert_eq!(full_relation(&pair, &mut KernelMemory::default()).0, Relation::AInsideB);
    assert_eq!(full_relation(&pair.swapped(), &mut KernelMemory::default()).0, Relation::BInsideA);
    let same = ShapePair::new([&inner, &inner], [&Pose::IDENTITY; 2]);
    assert_eq!(full_relation(&same, &mut KernelMemory::default()).0, Relation::Intersecting);
}

/// A grid of balls that lie on a face, to the last bit.
#[test]
fn touching_is_decided_exactly() {
    let cube = Primitive::cuboid([4.0, 4.0, 1.0]).unwrap();
    let slab = Geometry::from(cube);
    let corners = |k: u32| [k & 1, k >> 1 & 1, k >> 2].map(|bit| 2.0 * f64::from(bit) - 1.0);
    let quads = [[0, 2, 3, 1], [0, 1, 5, 4], [1, 3, 7, 5], [3, 2, 6, 7], [2, 0, 4, 6], [4, 5, 7, 6]];
    let triangles = quads.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let vertices = (0..8).map(|k| DVec3::from(corners(k)) * DVec3::new(4.0, 4.0, 1.0)).collect();
    let mesh = Geometry::from(Mesh::from_points(vertices, triangles).unwrap());
    for radius in [0.0_f64, 0.25] {
        for (height, want, contacts) in [
            (1.0 + radius, if radius > 0.0 { Relation::Touching } else { Relation::AInsideB }, 49),
            ((1.0 + radius).next_up(), Relation::Separated, 0),
            (
                (1.0 + radius).next_down(),
                if radius > 0.0 { Relation::Intersecting } else { Relation::AInsideB },
                49,
            ),
        ] {
            let at = |i: u32| DVec3::new(f64::from(i % 7) - 3.0, f64::from(i / 7) - 3.0, height);
            let cloud = Cloud::new((0..49).map(at).collect(), &[radius]).unwrap();
            for other in [&slab, &mesh] {
                let found = near(
                    &cloud,
                    &Pose::IDENTITY,
                    other,
                    &Pose::IDENTITY,
                    0.0,
                    &mut Budget::UNLIMITED.clone(),
                );
                assert_eq!(
                    found.value.unwrap().len(),
                    contacts,
                    "{radius} at {height} over {:?}",
                    other.kind()
                );
                let geometry = Geometry::from(cloud.clone());
                let pair = ShapePair::new([&geometry, other], [&Pose::IDENTITY; 2]);
                assert_eq!(
                    full_relation(&pair, &mut KernelMemory::default()).0,
                    want,
                    "{radius} at {height}"
                );
                let distance = full_distance(&pair, &mut KernelMemory::default()).0.distance;
                assert_eq!(distance <= 0.0, want.is_contact(), "{radius} at {height}: {distance}");
            }
        }
    }
}
