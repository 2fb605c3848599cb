//! What the deepest contact promises, against the exact relation: b shifted by its depth along its normal is out of a
//! wherever the answer is called exact, and out of the region where the certainty is a bracket; elsewhere the answer
//! says that the depth is approximate.

use impinge::glam::{DQuat, DVec3};
use impinge::{Certainty, Contact, Placed, Pose, Query, Relation, Shape, procedural, relation};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// By how much more b is shifted, for rounding: relative, and as a length.
const MORE: [f64; 2] = [1e-9, 1e-12];

fn unit(dice: &mut Pcg64) -> DVec3 {
    loop {
        let v = DVec3::from_array([(); 3].map(|()| dice.random_range(-1.0..1.0)));
        if v.length_squared() > 0.01 && v.length_squared() < 1.0 {
            return v.normalize();
        }
    }
}

fn pose(dice: &mut Pcg64, at: DVec3) -> Pose {
    Pose::from_rotation(at, DQuat::from_axis_angle(unit(dice), dice.random_range(0.0..6.0))).unwrap()
}

fn meshes() -> Vec<Shape> {
    vec![
        procedural::torus(1.0, 0.35, 24, 12).unwrap().into(),
        procedural::blob(1.0, 0.4, 2, 3).unwrap().into(),
        procedural::stairs(4, 0.5, 1.2, 0.4).unwrap().into(),
        procedural::gear(0.3, 0.8, 1.1, 0.5, 9).unwrap().into(),
        procedural::sheet([3.0, 3.0], [10, 10]).unwrap().into(),
        procedural::ico_sphere(0.8, 2).unwrap().into(),
    ]
}

fn convex() -> Vec<Shape> {
    let hull = procedural::blob(0.5, 0.3, 1, 9).unwrap();
    vec![
        Shape::sphere(0.5).unwrap(),
        Shape::cuboid([0.5, 0.3, 0.4]).unwrap(),
        Shape::capsule(0.3, 0.4).unwrap(),
        Shape::hull(hull.vertices().to_vec()).unwrap(),
    ]
}

/// How many answers there are of a kind, and after how many of them the shift left an overlap.
#[derive(Debug, Default)]
struct Tally {
    answers: u32,
    leave: u32,
}

impl Tally {
    fn add(&mut self, leaves: bool) {
        self.answers += 1;
        self.leave += u32::from(leaves);
    }
}

/// Whether a and b still overlap after b was shifted by a contact.
fn leaves(a: Placed<'_>, b: &Shape, at: &Pose, contact: &Contact) -> bool {
    let shift = contact.normal * (contact.depth * (1.0 + MORE[0]) + MORE[1]);
    let moved = Pose::from_rotation(at.translation() + shift, DQuat::from_mat3(&at.rotation())).unwrap();
    !matches!(relation(a, b.at(moved)), Relation::Separated | Relation::Touching)
}

/// The answers of random pairs by their certainty: exact, a bracket with a single region, approximate.
fn tallies(others: &[Shape], count: u32, dice: &mut Pcg64) -> [Tally; 3] {
    let meshes = meshes();
    let mut tallies: [Tally; 3] = Default::default();
    for _ in 0..count {
        let (a, b) =
            (&meshes[dice.random_range(0..meshes.len())], &others[dice.random_range(0..others.len())]);
        let (p, at) = (pose(dice, DVec3::ZERO), unit(dice) * dice.random_range(0.2..1.6));
        let q = pose(dice, at);
        let (a, placed) = (a.at(p), b.at(q));
        if relation(a, placed) != Relation::Intersecting {
            continue;
        }
        let answer = Query::default().contacts(a, placed, 0.0).unwrap();
        let found = answer.value.unwrap();
        let deepest = found.iter().max_by(|x, y| x.depth.total_cmp(&y.depth));
        let Some(deepest) = deepest.filter(|contact| contact.depth > 0.0) else { continue };
        let leaves = leaves(a, b, &q, deepest);
        match answer.certainty {
            Certainty::Exact => {
                assert!(!leaves, "{deepest:?} is called exact: {a:?} {placed:?}");
                tallies[0].add(leaves);
            }
            Certainty::Conservative { .. } if found.len() == 1 => tallies[1].add(leaves),
            Certainty::Approximate { resolution } => {
                assert!(resolution > 0.0);
                tallies[2].add(leaves);
            }
            _ => {}
        }
    }
    tallies
}

#[test]
fn what_the_deepest_contact_is_called_holds() {
    let dice = &mut Pcg64::seed_from_u64(12);
    let [exact, single, approximate] = tallies(&meshes(), 300, dice);
    assert!(exact.answers > 1 && single.answers > 90, "{exact:?} {single:?}");
    assert_eq!(approximate.answers, 0);
    // Out of its region, b may meet another part of a.
    assert!(50 * single.leave < single.answers, "{single:?}");
    let [exact, single, approximate] = tallies(&convex(), 700, dice);
    assert!(
        exact.answers > 60 && single.answers > 20 && approximate.answers > 80,
        "{exact:?} {approximate:?}"
    );
    assert!(50 * single.leave < single.answers, "{single:?}");
    assert!(approximate.leave > 10, "the word would be too weak: {approximate:?}");
}
