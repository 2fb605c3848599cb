use glam::DVec3;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::model::Compound;
use crate::shape::procedural;

fn vector(rng: &mut Pcg64, size: f64) -> DVec3 {
    DVec3::from([(); 3].map(|()| rng.random_range(-size..size)))
}

fn pose(rng: &mut Pcg64, spread: f64) -> Pose {
    let turn = [(); 4].map(|()| rng.random_range(-1.0..1.0));
    Pose::new(vector(rng, spread).to_array(), turn).unwrap()
}

/// One shape of every kind, about one unit large.
fn kinds(rng: &mut Pcg64) -> Vec<Geometry> {
    let mut size = || rng.random_range(0.2..0.9);
    let primitives = [
        Primitive::half_space([size(), -size(), size()], -0.4),
        Primitive::sphere(size()),
        Primitive::cuboid([size(), size(), size()]),
        Primitive::capsule(size(), size()),
        Primitive::cylinder(size(), size()),
        Primitive::cone(size(), size()),
        Primitive::ellipsoid([size(), size(), size()]),
        Primitive::triangle([DVec3::X, DVec3::Y, DVec3::Z]),
        Primitive::segment([DVec3::NEG_X, DVec3::ONE]),
    ];
    let mut all: Vec<Geometry> = primitives.into_iter().map(|p| p.unwrap().into()).collect();
    let points: Vec<DVec3> = (0..20).map(|_| vector(rng, 0.9)).collect();
    all.push(Polytope::hull(&points).unwrap().into());
    let flat: Vec<DVec3> = (0..6).map(|_| vector(rng, 0.9) * DVec3::new(1.0, 1.0, 0.0)).collect();
    all.push(Polytope::hull(&flat).unwrap().into());
    all.push(procedural::blob(0.8, 0.3, 2, 7).unwrap().into());
    let ball = Convex::from(Primitive::sphere(0.3).unwrap());
    let parts = [DVec3::ZERO, DVec3::X].map(|p| (ball.clone(), Pose::shift(p)));
    all.push(Compound::new(parts).unwrap().into());
    all
}

#[test]
fn every_pair_of_kinds_answers_and_mirrors() {
    let mut rng = Pcg64::seed_from_u64(3);
    let (mut contacts, mut pairs) = (0, 0);
    for round in 0..6 {
        for a in &kinds(&mut rng) {
            for b in &kinds(&mut rng) {
                let spread = if round % 2 == 0 { 0.7 } else { 2.5 };
                let (pose_a, pose_b) = (pose(&mut rng, spread), pose(&mut rng, spread));
                let name = format!("{round}: {}–{}", a.kind(), b.kind());
                let fresh = KernelMemory::default;
                let ab = ShapePair::new([a, b], [&pose_a, &pose_b]);
                let ba = ab.swapped();
                let (relation_ab, _) = full_relation(&ab, &mut fresh());
                let (relation_ba, _) = full_relation(&ba, &mut fresh());
                let (ab, sure) = full_distance(&ab, &mut fresh());
                let (ba, same) = full_distance(&ba, &mut fresh());
                assert_eq!(relation_ab, relation_ba.swapped(), "{name}");
                assert!(!ab.distance.is_nan() && ab.points.iter().all(|p| p.is_finite()), "{name} {ab:?}");
                let endless = ab.distance == f64::NEG_INFINITY;
                assert!(endless == (name.ends_with("halfspace–halfspace")), "{name} {ab:?}");
                if !endless {
                    assert!((ab.distance - ba.distance).abs() < 1e-12, "{name} {ab:?} {ba:?}");
                    assert!(
                        (ab.points[1] - ab.points[0] - ab.normal * ab.distance).length() < 1e-6,
                        "{name} {ab:?}"
                    );
                }
                // Far from touching the sign of the distance and the relation say the same.
                let nested = matches!(relation_ab, Relation::AInsideB | Relation::BInsideA);
                assert_eq!(
                    relation_ab == Relation::Separated,
                    ab.distance > 0.0 && !nested,
                    "{name} {ab:?} {relation_ab:?}"
                );
                assert_eq!(std::mem::discriminant(&sure), std::mem::discriminant(&same), "{name}");
                pairs += 1;
                contacts += usize::from(relation_ab.is_contact());
            }
        }
    }
    assert!(contacts * 5 > pairs && contacts * 5 < 4 * pairs, "{contacts} of {pairs} in contact");
}

/// The quick way out and what memory keeps change no answer: the slow twin is the relation of two meshes.
#[test]
fn shapes_with_corners_relate_to_meshes_as_their_own_meshes_do() {
    let mut rng = Pcg64::seed_from_u64(21);
    let bodies = [procedural::blob(0.8, 0.3, 3, 7).unwrap(), procedural::torus(0.9, 0.3, 24, 12).unwrap()];
    let bodies = bodies.map(Model::from);
    let points: Vec<DVec3> = (0..20).map(|_| vector(&mut rng, 0.3)).collect();
    let shapes: [Convex; 4] = [
        Primitive::cuboid([0.2, 0.3, 0.1]).unwrap().into(),
        Primitive::triangle([DVec3::X * 0.4, DVec3::Y * 0.4, DVec3::Z * 0.4]).unwrap().into(),
        Primitive::segment([DVec3::NEG_X * 0.2, DVec3::ONE * 0.3]).unwrap().into(),
        Polytope::hull(&points).unwrap().into(),
    ];
    let mut seen = [0; 5];
    for a in &shapes {
        let mut memory = KernelMemory::default();
        for k in 0..150 {
            let (at, b) = (pose(&mut rng, if k % 3 == 0 { 0.3 } else { 1.3 }), &bodies[k % 2]);
            let hull = Model::from(PlacedConvex::new(a, &at).mesh().unwrap());
            let truth = super::super::exact::relation::relation(&hull, &Pose::IDENTITY, b, &Pose::IDENTITY);
            // A segment's mesh counts as closed; a segment is not.
            let truth = match truth {
                Relation::Touching if a.is_flat() => Relation::Intersecting,
                other => other,
            };
            let (shape, mesh) = (Geometry::Convex(a.clone()), Geometry::Mesh(b.clone().into()));
            // Twice: the second time the hull is known.
            for _ in 0..2 {
                let pair = ShapePair::new([&shape, &mesh], [&at, &Pose::IDENTITY]);
                let found = full_relation(&pair, &mut memory);
                assert_eq!(found, (truth, Certainty::Exact), "{} {at:?}", a.kind());
            }
            seen[truth as usize] += 1;
        }
    }
    let [apart, _, meeting, inside, _] = seen;
    assert!(apart > 100 && meeting > 100 && inside > 50, "{seen:?}");
}
