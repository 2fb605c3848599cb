//! The box of bodies that are not convex, against its slow twin: poses sampled densely within every step.

use impinge::{Budget, Relation};
use impinge_sim::scenes::{Bounce, Crowd, Scenario};
use impinge_sim::swept_world::SweptWorld;

/// Instants looked at within a step.
const SAMPLES: u32 = 200;

/// The first pair that is not apart with the members at these poses; walls are bodies of the scene too.
fn overlap(world: &SweptWorld, poses: &[impinge::Pose]) -> Option<[usize; 2]> {
    let mut bodies: Vec<_> = world.scene().bodies().map(|(_, body)| (&body.shape, body.pose)).collect();
    let fixed = bodies.len() - poses.len();
    for (member, pose) in world.members().iter().zip(poses) {
        bodies[member.id.index()].1 = *pose;
    }
    let boxes: Vec<_> = bodies.iter().map(|(shape, pose)| shape.bounds(pose)).collect();
    for j in fixed..bodies.len() {
        for i in 0..j {
            let [(a, pose_a), (b, pose_b)] = [bodies[i], bodies[j]];
            if boxes[i].meets(&boxes[j])
                && impinge::relation(a.at(pose_a), b.at(pose_b)) != Relation::Separated
            {
                return Some([i, j]);
            }
        }
    }
    None
}

/// No sampled pose overlaps; and the first contact is never later than the first sample that does when all go on as
/// they set out, nor made up: the bodies are next to each other at its time.
#[test]
fn no_pose_within_a_step_overlaps_and_the_first_contact_is_the_sampled_one() {
    let mut crowd = Crowd::new(10, 3).unwrap();
    let (mut hits, mut sampled) = (0, 0);
    for step in 0..60 {
        crowd.advance(&mut Budget::UNLIMITED.clone()).unwrap();
        let world = crowd.world();
        let times = (0..=SAMPLES).map(|k| f64::from(k) / f64::from(SAMPLES));
        for time in times.clone() {
            assert_eq!(overlap(world, &world.poses_at(time)), None, "step {step} at {time}");
        }
        let set_out = &world.legs()[..world.members().len()];
        assert!(set_out.iter().enumerate().all(|(k, leg)| leg.member == k && leg.from == 0.0));
        let free = |time: f64| set_out.iter().map(|leg| leg.motion.pose(time)).collect::<Vec<_>>();
        let seen = times.clone().find(|&time| overlap(world, &free(time)).is_some());
        let first = world.meetings().first();
        hits += usize::from(first.is_some());
        if let Some(seen) = seen {
            sampled += 1;
            let first = first.unwrap_or_else(|| panic!("step {step}: missed a contact at {seen}"));
            assert!(first.stop <= first.impact.time && first.stop <= seen, "step {step}: {seen} {first:?}");
        }
        if let Some(first) = first {
            let place = |k: usize| {
                let at = world.members().iter().position(|member| member.id == first.bodies[k]);
                let body = world.scene().body(first.bodies[k]).unwrap();
                (&body.shape, at.map_or(body.pose, |at| set_out[at].motion.pose(first.impact.time)))
            };
            let ((a, pose_a), (b, pose_b)) = (place(0), place(1));
            let gap = impinge::distance(a.at(pose_a), b.at(pose_b)).distance;
            assert!(gap < 1e-4, "step {step}: {gap} apart at {first:?}");
        }
    }
    // Grazes may lie between two samples.
    assert!((15..=55).contains(&hits), "{hits} of 60");
    assert!(sampled <= hits && 10 * sampled >= 9 * hits, "{sampled} of {hits}");
}

/// The check must be able to fail: bodies that are put where they would be without contacts are found.
#[test]
fn bodies_that_go_through_each_other_are_found_by_the_check() {
    let mut crowd = Crowd::new(40, 5).unwrap();
    let (mut found, mut there) = (0, 0);
    for _ in 0..40 {
        crowd.advance(&mut Budget::UNLIMITED.clone()).unwrap();
        crowd.check().unwrap();
        let world = crowd.world();
        let ends: Vec<_> =
            world.legs()[..world.members().len()].iter().map(|leg| leg.motion.pose(1.0)).collect();
        let wrong = overlap(world, &ends);
        let place = |id: impinge::scene::BodyId, body: &impinge::scene::Body| {
            let at = world.members().iter().position(|member| member.id == id);
            at.map_or(body.pose, |at| ends[at])
        };
        let checked = impinge_sim::overlap_check::all_apart_at(world.scene(), place);
        assert_eq!(checked.is_err(), wrong.is_some(), "{checked:?}");
        there += usize::from(wrong.is_some());
        found += usize::from(checked.is_err());
    }
    assert!(found == there && found >= 10, "{found} of {there}");
}

#[test]
fn the_box_is_wild_and_nobody_rests() {
    let mut crowd = Crowd::new(60, 2).unwrap();
    for frame in 0..200 {
        crowd.advance(&mut Budget::UNLIMITED.clone()).unwrap();
        crowd.check().unwrap_or_else(|wrong| panic!("frame {frame}: {wrong}"));
    }
    let ledger = crowd.world().ledger();
    let share = |count: u64| count as f64 / (200.0 * 60.0);
    assert!(ledger.impacts > 300 && ledger.rests == 0, "{ledger:?}");
    assert!(share(ledger.beyond_thickness) > 0.1 && share(ledger.beyond_diameter) > 0.005, "{ledger:?}");
}

/// Without collisions being plastic no energy is lost, but for what parting adds.
#[test]
fn elastic_collisions_keep_the_energy_between_two_draws() {
    let mut crowd = Crowd::new(60, 8).unwrap();
    crowd.advance(&mut Budget::UNLIMITED.clone()).unwrap();
    let before = crowd.world().energy();
    (0..4).for_each(|_| _ = crowd.advance(&mut Budget::UNLIMITED.clone()).unwrap());
    let after = crowd.world().energy();
    assert!((after / before - 1.0).abs() < 1e-3, "{before} {after}");
}

/// A budget that ends stops all bodies where they are known to be free.
#[test]
fn a_budget_stops_a_step_and_nothing_overlaps() {
    let mut crowd = Crowd::new(30, 4).unwrap();
    let mut cut = 0;
    for frame in 0..60 {
        let told = crowd.advance(&mut Budget::units(2000)).unwrap().outcome;
        cut += usize::from(told.finish == impinge::Finish::OutOfBudget);
        crowd.check().unwrap_or_else(|wrong| panic!("frame {frame}: {wrong}"));
    }
    assert!(cut > 5, "{cut} of 60");
}

#[test]
fn the_teapot_stays_above_the_floor() {
    let mut bounce = Bounce::new(0).unwrap();
    for frame in 0..1000 {
        bounce.advance(&mut Budget::UNLIMITED.clone()).unwrap();
        bounce.check().unwrap_or_else(|wrong| panic!("frame {frame}: {wrong}"));
    }
    assert!(bounce.world().ledger().impacts > 100);
}
