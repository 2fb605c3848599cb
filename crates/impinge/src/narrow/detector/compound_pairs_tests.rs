use glam::DVec3;

use super::*;
use crate::Separation;
use crate::model::Compound;
use crate::narrow::dispatch;
use crate::narrow::methods::exact::Exact;
use crate::shape::{Convex, Polytope, Primitive, procedural};

const OPTIONS: ContactOptions =
    ContactOptions { margin: 0.3, touch: 0.0, told: Contacts::Deepest, one_sided: false, asks_touch: true };

/// Bars and balls scattered over a cube of side 4.
fn clutter(count: usize, seed: u64) -> Geometry {
    let places = procedural::positions(count, DVec3::splat(-2.0), DVec3::splat(2.0), seed);
    let turns = procedural::rotations(count, seed + 1);
    let bar = Polytope::hull(procedural::cuboid([0.5, 0.1, 0.2], [1; 3]).unwrap().vertices()).unwrap();
    let kinds = [Convex::from(bar), Convex::from(Primitive::capsule(0.1, 0.3).unwrap())];
    let part = |i: usize| (kinds[i % 2].clone(), Pose::new(places[i].to_array(), turns[i]).unwrap());
    Compound::new((0..count).map(part)).unwrap().into()
}

fn brute(
    [a, b]: [&Geometry; 2],
    [pose_a, pose_b]: [&Pose; 2],
    margin: f64,
) -> (Vec<([u32; 2], Separation)>, usize) {
    let count = |shape: &Geometry| match shape {
        Geometry::Compound(compound) => compound.parts().len() as u32,
        _ => 1,
    };
    let mut found = Vec::new();
    for parts in (0..count(a)).flat_map(|i| (0..count(b)).map(move |j| [i, j])) {
        let ((p, at_p), (q, at_q)) = (part(a, pose_a, parts[0]), part(b, pose_b, parts[1]));
        let (separation, _) = dispatch::full_distance(
            &ShapePair::new([p, q], [&at_p, &at_q]),
            &mut crate::narrow::kernel_memory::KernelMemory::default(),
        );
        if separation.distance <= margin {
            found.push((parts, separation));
        }
    }
    (found, (count(a) * count(b)) as usize)
}

#[test]
fn every_near_pair_of_parts_is_found_and_no_other() {
    let lone = Geometry::from(Polytope::hull(procedural::ico_sphere(0.8, 1).unwrap().vertices()).unwrap());
    let (many, few) = (clutter(40, 1), clutter(9, 5));
    for (a, b) in [(&many, &few), (&few, &many), (&many, &lone), (&lone, &few), (&lone, &lone)] {
        let mut memory = CompoundMemory::default();
        let (mut near, mut all, mut tests) = (0, 0, 0);
        for step in 0..30 {
            let turn = [0.02 * f64::from(step), 0.3, -0.01 * f64::from(step), 1.0];
            let pose_b = Pose::new([3.0 - 0.1 * f64::from(step), 0.2, -0.3], turn).unwrap();
            let pose_a = Pose::new([0.0; 3], [0.1, 0.2, 0.3, 0.9]).unwrap();
            let mut found = PairContacts::default();
            let pair = ShapePair::new([a, b], [&pose_a, &pose_b]);
            contacts(&Exact, &pair, &OPTIONS, &mut memory, &mut Budget::UNLIMITED.clone(), &mut found);
            tests += memory.kept.len() as u64;
            let (truth, pairs) = brute([a, b], [&pose_a, &pose_b], 0.3);
            let parts: Vec<_> = found.parts.iter().map(|one| one.parts).collect();
            assert_eq!(parts, truth.iter().map(|(parts, _)| *parts).collect::<Vec<_>>(), "step {step}");
            for (one, (_, other)) in found.parts.iter().zip(&truth) {
                assert!((one.contact.depth + other.distance).abs() < 1e-9);
            }
            (near, all) = (near + truth.len(), all + pairs);
        }
        assert!(near > 10 && 150 * near > all, "{near} of {all} pairs are near");
        assert!(all < 100 || 2 * tests < all as u64, "{tests} of {all} pairs were measured");
    }
}

#[test]
fn small_budgets_come_to_the_same_contacts() {
    let (many, few) = (clutter(40, 1), clutter(9, 5));
    let (mut touching, mut calls) = (0, 0);
    for step in 0..18 {
        let told = [Contacts::None, Contacts::Deepest, Contacts::Manifold][step % 3];
        let options = ContactOptions { told, ..OPTIONS };
        let pose_b = Pose::new([0.2 * (step / 3) as f64, 0.2, -0.3], [0.3, 0.1, 0.0, 1.0]).unwrap();
        let pair = ShapePair::new([&many, &few], [&Pose::IDENTITY, &pose_b]);
        let mut whole = PairContacts::default();
        let unlimited = &mut Budget::UNLIMITED.clone();
        let full = contacts(&Exact, &pair, &options, &mut CompoundMemory::default(), unlimited, &mut whole);
        let (mut memory, mut found) = (CompoundMemory::default(), PairContacts::default());
        let mut work = 0;
        loop {
            let outcome = contacts(&Exact, &pair, &options, &mut memory, &mut Budget::units(3), &mut found);
            work += outcome.work.primitive_tests;
            if outcome.finish == Finish::Complete {
                break;
            }
            assert_eq!(found, PairContacts::default(), "nothing is told before all is known");
            calls += 1;
        }
        assert_eq!((&found, work), (&whole, full.work.primitive_tests), "{told:?}");
        touching += usize::from(found.touching);
    }
    assert!((3..=18).contains(&touching) && calls > 60, "{touching} of 18 touch, {calls} interruptions");
}
