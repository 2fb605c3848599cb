//! The soft body against closed forms, against itself when fine everywhere, and at every switch of level.

use glam::DVec3;
use impinge::response::{Displacement, FineRegion, Projected, Projection, Receiver, Refinable, Stuck};
use impinge::{Contact, Feature, Pose, Shape, procedural};

use super::*;
use crate::elastic_foundation::{force, indentation};
use crate::vertex_contacts::vertex_contacts;

const STEP: f64 = 0.02;
const FOUNDATION: f64 = 100.0;
const HYSTERESIS: Hysteresis = Hysteresis { patience: 10, slack: 1e-4 };

fn rigid_core(foundation: f64) -> Elasticity {
    Elasticity { foundation, anchor: f64::INFINITY, edge: 0.0, masses: [0.01, 1.0, 1.0], damping: 10.0 }
}

fn soft_ball(radius: f64, splits: u32, elasticity: Elasticity) -> TwoLevel {
    let [fine, coarse] = [splits, 2].map(|n| procedural::ico_sphere(radius, n).unwrap());
    TwoLevel::new(fine, coarse, elasticity, HYSTERESIS, STEP).unwrap()
}

/// One step of a soft body against a rigid ball that does not move: detect, refine, project.
fn press(
    soft: &mut TwoLevel,
    load: DVec3,
    (ball, at): (&Shape, DVec3),
    reach: f64,
) -> (Vec<Contact>, Projected) {
    soft.advance(load);
    let contacts =
        vertex_contacts(soft.vertices(), ball.at(Pose::from_translation(at).unwrap()), reach).unwrap();
    let before = soft.vertices().to_vec();
    soft.refine(&FineRegion::around(&contacts, 0, reach, 0.01));
    // A switch shows nothing, neither at once nor when everything is evaluated anew.
    soft.show();
    for (then, now) in before.iter().zip(soft.vertices()) {
        assert!(then.distance(*now) <= 1e-9, "{then} {now}");
    }
    let pairs: Vec<_> = contacts.iter().map(|c| ([0, 1], *c)).collect();
    let bodies = [soft.receiver(), Receiver::Fixed];
    let done = Projection::default().project(&bodies, &pairs, &mut Stuck::default()).unwrap();
    soft.displace(&done.displacements[0]);
    (contacts, done)
}

#[test]
fn a_soft_ball_pressed_into_a_rigid_one_rests_at_the_analytic_indentation() {
    for (radius, wanted) in [(0.8, 0.12), (2.0, 0.06)] {
        let load = force(wanted, FOUNDATION, [1.0, radius]);
        let mut soft = soft_ball(1.0, 5, rigid_core(FOUNDATION));
        let ball = Shape::sphere(radius).unwrap();
        soft.put(DVec3::Z * (1.02 + radius));
        let mut last = None;
        for _ in 0..250 {
            last = Some(press(&mut soft, -load * DVec3::Z, (&ball, DVec3::ZERO), 0.05));
        }
        assert!(soft.core_velocity().length() < 1e-4, "at rest: {}", soft.core_velocity());
        let indented = 1.0 + radius - soft.core().length();
        let expected = indentation(load, FOUNDATION, [1.0, radius]);
        assert!((expected - wanted).abs() < 1e-12);
        assert!((indented / expected - 1.0).abs() < 0.01, "{indented} instead of {expected}");
        assert!((soft.contact_force().z / load - 1.0).abs() < 1e-3, "{}", soft.contact_force());
        // What touches lies on the average plane: on the ball, which does not give way.
        let (contacts, done) = last.unwrap();
        let touching: Vec<usize> = (0..contacts.len()).filter(|&k| contacts[k].depth > 0.0).collect();
        assert!(touching.len() > 100, "{} vertices touch", touching.len());
        for k in touching {
            let Feature::Vertex(v) = contacts[k].features[0] else { panic!() };
            let shown = soft.vertices()[v as usize];
            assert!((shown.length() - radius).abs() < 1e-9 && shown.distance(done.planes[k]) < 1e-9);
        }
        assert!(done.residual < 1e-12);
    }
}

#[test]
fn stiffness_one_to_nine_shifts_the_plane_by_that_ratio() {
    for (ratio, splits) in [(1.0, 3), (9.0, 4)] {
        let (load, reach) = (0.6, 0.05);
        let mut balls = [FOUNDATION, ratio * FOUNDATION].map(|k| soft_ball(1.0, splits, rigid_core(k)));
        // Towards a vertex of both, so that one touches another there.
        let axis = balls[0].rest().vertices()[0].normalize();
        let pole = balls[1].rest().vertices().iter().position(|v| v.dot(-axis) > 1.0 - 1e-9).unwrap();
        balls[1].put(2.01 * axis);
        let mut shapes = [0, 1].map(|k| Shape::from(balls[k].rest().clone()));
        for _ in 0..160 {
            balls[0].advance(load * axis);
            balls[1].advance(-load * axis);
            for (shape, ball) in shapes.iter_mut().zip(&balls) {
                let vertices: Vec<[f64; 3]> = ball.vertices().iter().map(|p| p.to_array()).collect();
                shape.set_vertices(&vertices).unwrap();
            }
            let mut contacts = vertex_contacts(balls[0].vertices(), &shapes[1], reach).unwrap();
            let others = vertex_contacts(balls[1].vertices(), &shapes[0], reach).unwrap();
            contacts.extend(others.into_iter().map(Contact::swapped));
            for (side, ball) in balls.iter_mut().enumerate() {
                ball.refine(&FineRegion::around(&contacts, side, reach, 0.01));
            }
            let pairs: Vec<_> = contacts.iter().map(|c| ([0, 1], *c)).collect();
            let bodies = [balls[0].receiver(), balls[1].receiver()];
            let options = Projection { rounds: 200, tolerance: 1e-6, ..Projection::default() };
            let done = options.project(&bodies, &pairs, &mut Stuck::default()).unwrap();
            for (ball, displacement) in balls.iter_mut().zip(&done.displacements) {
                ball.displace(displacement);
            }
        }
        let [a, b] = &balls;
        let total = 2.0 - (b.core() - a.core()).dot(axis);
        let given =
            [1.0 - (a.vertices()[0] - a.core()).dot(axis), 1.0 + (b.vertices()[pole] - b.core()).dot(axis)];
        assert!(total > 0.03, "pressed by {total}");
        assert!(((given[0] + given[1]) / total - 1.0).abs() < 5e-3, "no gap between {given:?} of {total}");
        let share = ratio / (1.0 + ratio);
        assert!((given[0] / total - share).abs() < 0.01 * share, "{given:?} for 1 : {ratio}");
        for ball in &balls {
            assert!(
                (ball.contact_force().dot(axis).abs() / load - 1.0).abs() < 0.01,
                "{}",
                ball.contact_force()
            );
        }
    }
}

#[test]
fn fine_only_where_contact_is_at_no_loss() {
    let ball = Shape::sphere(0.8).unwrap();
    let load = force(0.1, FOUNDATION, [1.0, 0.8]);
    let mut soft = soft_ball(1.0, 3, rigid_core(FOUNDATION));
    let mut whole = soft.clone();
    let everywhere = [FineRegion { centre: DVec3::ZERO, radius: 1e3, resolution: 0.0 }];
    soft.put(DVec3::Z * 1.9);
    whole.put(DVec3::Z * 1.9);
    let reach = 0.06;
    let steps = 1200_u64;
    for step in 0..steps {
        let (contacts, _) = press(&mut soft, -load * DVec3::Z, (&ball, DVec3::ZERO), reach);
        whole.refine(&everywhere);
        press(&mut whole, -load * DVec3::Z, (&ball, DVec3::ZERO), reach);
        assert_eq!(whole.fine_vertices(), whole.vertices().len());
        // Every vertex in contact is fine, and no vertex is that has not been near a contact lately.
        for c in contacts.iter().filter(|c| c.depth >= 0.0) {
            let Feature::Vertex(v) = c.features[0] else { panic!() };
            assert!(soft.is_fine(v));
        }
        let far = |v: &u32| soft.vertices()[*v as usize].length() - 0.8 > 2.5 * reach;
        let stray = (0..soft.vertices().len() as u32).filter(far).filter(|v| soft.is_fine(*v)).count();
        assert_eq!(stray, 0, "in step {step}");
    }
    // The ways there differ, as more springs damp more; the rest is the same.
    assert!(soft.core().distance(whole.core()) < 1e-6, "{} {}", soft.core(), whole.core());
    let (part, all) = (soft.work(), whole.work());
    assert_eq!((part.steps, part.controls), (all.steps, all.controls));
    assert_eq!(all.fine, steps * whole.vertices().len() as u64);
    assert!(part.fine * 4 < all.fine, "{} of {}", part.fine, all.fine);
    assert!(soft.fine_vertices() > 10);
}

#[test]
fn a_switch_shows_nothing_and_vertices_do_not_flicker() {
    // Control vertices that give way, and a load that rolls about, then lifts.
    let elasticity = Elasticity { anchor: 20.0, edge: 10.0, ..rigid_core(FOUNDATION) };
    let mut soft = soft_ball(1.0, 4, elasticity);
    let ball = Shape::sphere(0.8).unwrap();
    soft.put(DVec3::Z * 1.85);
    let mut switches = vec![0_u32; soft.vertices().len()];
    let mut was: Vec<bool> = vec![false; switches.len()];
    let mut dented = 0.0_f64;
    for step in 0..600 {
        let load = if step < 300 { -4.0 * DVec3::Z } else { 4.0 * DVec3::Z };
        press(&mut soft, load, (&ball, DVec3::ZERO), 0.06);
        dented = dented.max(1.8 - soft.core().z);
        for (v, was) in was.iter_mut().enumerate() {
            let is = soft.is_fine(v as u32);
            switches[v] += u32::from(is != *was);
            *was = is;
        }
    }
    let work = soft.work();
    assert!(dented > 0.05 && work.refined > 50, "{dented} {work:?}");
    assert_eq!((soft.fine_vertices(), work.refined), (0, work.coarsened), "all went back");
    assert!(
        switches.iter().all(|&n| n == 0 || n == 2),
        "fine once, coarse once: {:?}",
        switches.iter().max()
    );
    // What is left of the dent is below the slack and stays as it is.
    let left = soft.details.iter().map(|d| d.length()).fold(0.0, f64::max);
    assert!(left <= HYSTERESIS.slack && left > 0.0, "{left}");
}

#[test]
fn a_displacement_of_the_coarse_level_takes_its_vertex_along() {
    let elasticity = Elasticity { anchor: 20.0, edge: 10.0, ..rigid_core(FOUNDATION) };
    let mut soft = soft_ball(1.0, 3, elasticity);
    for v in [0, 17, 200] {
        let before = soft.vertices()[v as usize];
        let way = DVec3::new(0.01, -0.02, 0.03);
        soft.displace(&Displacement::Vertices(vec![(v, way)]));
        assert!((soft.vertices()[v as usize] - before - way).length() < 1e-15);
    }
    for _ in 0..2000 {
        soft.advance(DVec3::ZERO);
    }
    let left =
        soft.vertices().iter().zip(soft.rest().vertices()).map(|(p, q)| (*p - soft.core()).distance(*q));
    assert!(left.fold(0.0, f64::max) < 1e-6, "it springs back");
}

#[test]
fn nonsense_is_refused() {
    let mesh = procedural::ico_sphere(1.0, 1).unwrap();
    let good = rigid_core(1.0);
    for bad in [
        Elasticity { foundation: 0.0, ..good },
        Elasticity { anchor: f64::NAN, ..good },
        Elasticity { edge: -1.0, ..good },
        Elasticity { masses: [1.0, 0.0, 1.0], ..good },
        Elasticity { damping: f64::INFINITY, ..good },
    ] {
        assert!(TwoLevel::new(mesh.clone(), mesh.clone(), bad, HYSTERESIS, STEP).is_err());
    }
    assert!(TwoLevel::new(mesh.clone(), mesh.clone(), good, HYSTERESIS, 0.0).is_err());
    // A coarse surface with a triangle of no area still carries.
    let flat = impinge::Mesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]], vec![[0, 1, 2]]).unwrap();
    let body = TwoLevel::new(mesh.clone(), flat, good, HYSTERESIS, STEP).unwrap();
    assert!(body.vertices().iter().all(|p| p.is_finite()));
}
