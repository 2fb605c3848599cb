use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::narrow::dispatch::{full_distance, full_relation};
use crate::shape::{Convex, Polytope, Primitive, procedural};

fn number(rng: &mut Pcg64, size: f64) -> f64 {
    rng.random_range(-size..size)
}

fn vector(rng: &mut Pcg64, size: f64) -> DVec3 {
    DVec3::from([(); 3].map(|()| number(rng, size)))
}

fn pose(rng: &mut Pcg64, spread: f64) -> Pose {
    let turn = [(); 4].map(|()| number(rng, 1.0));
    Pose::new(vector(rng, spread).to_array(), turn).unwrap()
}

fn cuboid(half: [f64; 3]) -> Convex {
    Primitive::cuboid(half).unwrap().into()
}

/// Two cubes that share the face x = 0, as one body of twice the length.
fn halves() -> Geometry {
    let half = cuboid([1.0; 3]);
    Compound::new([(half.clone(), Pose::shift([-1.0, 0.0, 0.0])), (half, Pose::shift([1.0, 0.0, 0.0]))])
        .unwrap()
        .into()
}

fn ask(a: &Geometry, b: &Geometry, pose_b: &Pose) -> ((Relation, Certainty), (Separation, Certainty)) {
    let pair = ShapePair::new([a, b], [&Pose::IDENTITY, pose_b]);
    let mut fresh = KernelMemory::default();
    (full_relation(&pair, &mut fresh), full_distance(&pair, &mut fresh))
}

#[test]
fn a_ball_across_a_covered_face_is_inside_and_deeper_than_in_its_parts() {
    let ball = Geometry::from(Primitive::sphere(0.5).unwrap());
    let ((relation, sure), (found, certainty)) = ask(&halves(), &ball, &Pose::IDENTITY);
    assert_eq!(relation, Relation::BInsideA);
    assert!(matches!(sure, Certainty::Approximate { resolution } if resolution < 0.1), "{sure:?}");
    // The way out is 1.5.
    let Certainty::Conservative { tolerance } = certainty else { panic!("{certainty:?}") };
    assert!(found.distance >= -1.5 && found.distance - tolerance <= -1.5 + 1e-12, "{found:?} {tolerance}");
    // In one half it is inside exactly, and at the border of the whole as deep as in its part.
    let ((relation, sure), _) = ask(&halves(), &ball, &Pose::shift([0.5, 0.0, 0.0]));
    assert_eq!((relation, sure), (Relation::BInsideA, Certainty::Exact));
    let (_, (found, certainty)) = ask(&halves(), &ball, &Pose::shift([1.5, 0.0, 0.0]));
    assert_eq!((found.distance, certainty), (-1.0, Certainty::Exact));
}

#[test]
fn the_covered_face_is_no_surface_for_a_mesh_within() {
    let corners = [[0.2, 0.0, 0.0], [0.25, 0.0, 0.0], [0.2, 0.05, 0.0], [0.2, 0.0, 0.05]];
    let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let mesh = Geometry::from(crate::Mesh::new(corners.to_vec(), triangles).unwrap());
    let ((relation, sure), (found, certainty)) = ask(&halves(), &mesh, &Pose::IDENTITY);
    assert_eq!((relation, sure), (Relation::BInsideA, Certainty::Exact));
    let Certainty::Conservative { tolerance } = certainty else { panic!("{certainty:?}") };
    let truth = 0.95;
    assert!(found.distance >= truth && found.distance - tolerance <= truth, "{found:?} {tolerance}");
    let on_border = (found.points[0].abs() - DVec3::new(2.0, 1.0, 1.0)).max_element();
    assert!(on_border.abs() < 1e-9, "{found:?}");
    // Across the face it meets no surface of the whole.
    let across = Pose::shift([-0.22, 0.0, 0.0]);
    let ((relation, _), (found, certainty)) = ask(&halves(), &mesh, &across);
    assert_eq!(relation, Relation::BInsideA);
    assert!(found.distance > 0.9 && matches!(certainty, Certainty::Conservative { .. }), "{found:?}");
}

/// A box in two halves against the whole: every answer is that of the whole, within its certainty.
#[test]
fn a_box_in_halves_is_the_box() {
    let mut rng = Pcg64::seed_from_u64(61);
    let whole = Geometry::from(cuboid([2.0, 1.0, 1.0]));
    let halves = halves();
    let (mut relations, mut hidden, mut exact, mut inside_together) = ([0; 5], 0, 0, 0);
    for round in 0..700 {
        let size = rng.random_range(0.1..1.2);
        let b: Geometry = match round % 7 {
            0 => Primitive::sphere(size).unwrap().into(),
            1 => cuboid([size, 0.4, 0.3]).into(),
            2 => Primitive::capsule(0.3, size).unwrap().into(),
            3 => Polytope::hull(&(0..12).map(|_| vector(&mut rng, size)).collect::<Vec<_>>()).unwrap().into(),
            4 => procedural::blob(size, 0.2, 1, 7).unwrap().into(),
            5 => Primitive::segment([vector(&mut rng, size), vector(&mut rng, size)]).unwrap().into(),
            _ => Primitive::cylinder(0.3, size).unwrap().into(),
        };
        let at = pose(&mut rng, if round % 2 == 0 { 1.0 } else { 3.0 });
        let ((found, sure), (gap, certainty)) = ask(&halves, &b, &at);
        let ((truth, _), (true_gap, _)) = ask(&whole, &b, &at);
        relations[match truth {
            Relation::Separated => 0,
            Relation::Touching => 1,
            Relation::Intersecting => 2,
            Relation::AInsideB => 3,
            Relation::BInsideA => 4,
        }] += 1;
        let name = format!("{round} {}: {found:?} {sure:?} {truth:?}, {gap:?} {certainty:?}", b.kind());
        match sure {
            Certainty::Approximate { resolution } if found != truth => {
                // What sticks out by less than the resolution may count as inside.
                assert_eq!([found, truth], [Relation::BInsideA, Relation::Intersecting], "{name}");
                let more = 1.0 + resolution;
                let grown = Geometry::from(cuboid([1.0 + more, more, more]));
                assert_eq!(ask(&grown, &b, &at).0.0, Relation::BInsideA, "{name}");
            }
            _ => assert_eq!(found, truth, "{name}"),
        }
        inside_together += usize::from(found == Relation::BInsideA && sure != Certainty::Exact);
        let rounding = 1e-9;
        match certainty {
            Certainty::Conservative { tolerance } => {
                hidden += 1;
                let least = gap.distance - tolerance - rounding;
                assert!(
                    (least..=gap.distance + rounding).contains(&true_gap.distance),
                    "{name} {true_gap:?}"
                );
            }
            Certainty::Approximate { resolution } => {
                assert!((gap.distance - true_gap.distance).abs() <= resolution + rounding, "{name}");
            }
            _ => {
                exact += 1;
                assert!((gap.distance - true_gap.distance).abs() <= rounding, "{name} {true_gap:?}");
            }
        }
    }
    let [separated, _, intersecting, _, inside] = relations;
    assert!(separated > 100 && intersecting > 150 && inside > 40, "{relations:?}");
    assert!(hidden > 50 && exact > 200 && inside_together > 10, "{hidden} {exact} {inside_together}");
}

/// The walk down the trees finds what a look at every two parts finds.
#[test]
fn the_nearest_parts_are_those_of_all_pairs() {
    let mut rng = Pcg64::seed_from_u64(62);
    let (mut meeting, mut apart, mut walked) = (0, 0, 0);
    for round in 0..120 {
        let mut parts = |count: usize| {
            let some = (0..count).map(|k| {
                let part: Convex = match k % 3 {
                    0 => Primitive::sphere(rng.random_range(0.1..0.4)).unwrap().into(),
                    1 => cuboid([(); 3].map(|()| rng.random_range(0.1..0.4))),
                    _ => Primitive::capsule(0.1, rng.random_range(0.1..0.4)).unwrap().into(),
                };
                (part, pose(&mut rng, 2.0))
            });
            Compound::new(some.collect::<Vec<_>>()).unwrap()
        };
        let (a, b) = (parts(17), parts(11));
        let spread = if round % 2 == 0 { 1.0 } else { 9.0 };
        let (pose_a, pose_b) = (pose(&mut rng, 1.0), pose(&mut rng, spread));
        let mut union = UnionRelation::default();
        let mut best: Option<Separation> = None;
        for part in a.parts() {
            let at = pose_a.compose(&part.pose);
            let mut inner = UnionRelation::default();
            for other in b.parts() {
                let there = pose_b.compose(&other.pose);
                let one = ShapePair::new([&other.shape, &part.shape], [&there, &at]);
                let (relation, _) = full_relation(&one, &mut KernelMemory::default());
                inner.add(relation);
                let (found, _) = full_distance(&one, &mut KernelMemory::default());
                if best.is_none_or(|best| found.distance < best.distance) {
                    best = Some(found.swapped());
                }
            }
            union.add(inner.conclude(b.parts().len()).swapped());
        }
        let truth = union.conclude(a.parts().len());
        let [whole_a, whole_b] = [Geometry::from(a.clone()), Geometry::from(b)];
        let pair = ShapePair::new([&whole_a, &whole_b], [&pose_a, &pose_b]);
        let nearest = nearest_parts(&a, &pair, &mut Budget::UNLIMITED.clone());
        assert_eq!(nearest.found, best, "{round}");
        let (relation, _) = full_relation(&pair, &mut KernelMemory::default());
        assert_eq!(relation, truth, "{round}");
        if truth == Relation::Separated {
            apart += 1;
            walked += nearest.outcome.work.volume_tests;
        } else {
            meeting += 1;
        }
    }
    assert!(meeting > 30 && apart > 30, "{meeting} {apart}");
    assert!(walked < apart * 17 * 11, "{walked} of {apart}");
}
