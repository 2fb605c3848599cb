//! Elastic, frictionless collision: the impulse along the normal that turns approaching into parting.
//!
//! The impulse is the closed form of Newton's law with restitution 1 for two rigid bodies at one point
//! (Moore, Wilhelms 1988; Hahn 1988). Each one conserves the energy of its pair to rounding, so any number
//! of them in any order does. Bodies that already part get none, so an overlap cannot trap them; what is
//! left of it is moved apart, which changes no velocity and so no energy.

use glam::DVec3;

use crate::rigid::{Rigid, Weight};

/// Turns the approach of two bodies at `point` around and returns the impulse on b; zero when they part.
pub fn collide(a: (&mut Rigid, &Weight), b: (&mut Rigid, &Weight), point: DVec3, normal: DVec3) -> DVec3 {
    let [arm_a, arm_b] = [point - a.0.position, point - b.0.position];
    let speed = normal.dot(b.0.velocity_at(b.1, arm_b) - a.0.velocity_at(a.1, arm_a));
    if !(speed < 0.0) {
        return DVec3::ZERO;
    }
    let give = compliance(a.0, a.1, arm_a, normal) + compliance(b.0, b.1, arm_b, normal);
    let impulse = normal * (-2.0 * speed / give);
    a.0.push(arm_a, -impulse);
    b.0.push(arm_b, impulse);
    impulse
}

/// The same against something that cannot move; `normal` points towards the body.
pub fn bounce(body: &mut Rigid, weight: &Weight, point: DVec3, normal: DVec3) -> DVec3 {
    let arm = point - body.position;
    let speed = normal.dot(body.velocity_at(weight, arm));
    if !(speed < 0.0) {
        return DVec3::ZERO;
    }
    let impulse = normal * (-2.0 * speed / compliance(body, weight, arm, normal));
    body.push(arm, impulse);
    impulse
}

/// Moves two bodies apart along the normal by `depth` in all, the lighter one farther; their centre of mass
/// stays where it is.
pub fn part(a: (&mut Rigid, &Weight), b: (&mut Rigid, &Weight), normal: DVec3, depth: f64) {
    let share = b.1.mass / (a.1.mass + b.1.mass);
    a.0.position -= normal * (depth * share);
    b.0.position += normal * (depth * (1.0 - share));
}

/// How fast the point gives way along the normal under a unit impulse.
fn compliance(body: &Rigid, weight: &Weight, arm: DVec3, normal: DVec3) -> f64 {
    let lever = arm.cross(normal);
    1.0 / weight.mass + lever.dot(body.response(weight, lever))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat3, DQuat};

    const BALL: Weight = Weight { mass: 2.0, inverse_inertia: DMat3::IDENTITY };

    fn moving(position: DVec3, momentum: DVec3) -> Rigid {
        Rigid { position, rotation: DQuat::IDENTITY, momentum, spin: DVec3::ZERO }
    }

    #[test]
    fn equal_balls_exchange_their_momenta() {
        let mut a = moving(-DVec3::X, DVec3::X);
        let mut b = moving(DVec3::X, -0.5 * DVec3::X);
        let impulse = collide((&mut a, &BALL), (&mut b, &BALL), DVec3::ZERO, DVec3::X);
        assert!((a.momentum + 0.5 * DVec3::X).length() < 1e-15 && (b.momentum - DVec3::X).length() < 1e-15);
        assert_eq!(impulse, 1.5 * DVec3::X);
        let parting = collide((&mut a, &BALL), (&mut b, &BALL), DVec3::ZERO, DVec3::X);
        assert_eq!(parting, DVec3::ZERO);
    }

    #[test]
    fn an_oblique_hit_conserves_energy_momentum_and_angular_momentum() {
        let heavy = Weight { mass: 5.0, inverse_inertia: DMat3::from_diagonal(DVec3::new(0.3, 1.0, 2.0)) };
        let mut a = moving(DVec3::ZERO, DVec3::new(3.0, 0.2, -0.1));
        let mut b =
            Rigid { spin: DVec3::new(0.4, -0.3, 0.9), ..moving(DVec3::new(2.0, 0.5, 0.3), -DVec3::X) };
        let sums = |a: &Rigid, b: &Rigid| {
            let energy = a.energy(&BALL).iter().chain(&b.energy(&heavy)).sum::<f64>();
            let spin = |r: &Rigid| r.position.cross(r.momentum) + r.spin;
            (energy, a.momentum + b.momentum, spin(a) + spin(b))
        };
        let before = sums(&a, &b);
        let point = DVec3::new(1.0, 0.4, 0.2);
        let normal = DVec3::new(0.9, 0.3, -0.2).normalize();
        assert!(collide((&mut a, &BALL), (&mut b, &heavy), point, normal).length() > 0.1);
        let after = sums(&a, &b);
        assert!((before.0 / after.0 - 1.0).abs() < 1e-14);
        assert!((before.1 - after.1).length() < 1e-14 && (before.2 - after.2).length() < 1e-14);
    }

    #[test]
    fn a_wall_turns_a_body_around_and_parting_moves_no_momentum() {
        let mut a = moving(DVec3::ZERO, DVec3::new(0.5, 0.0, -2.0));
        let energy = a.energy(&BALL).iter().sum::<f64>();
        let impulse = bounce(&mut a, &BALL, DVec3::new(0.2, 0.0, -1.0), DVec3::Z);
        assert!(impulse.z > 0.0 && a.velocity_at(&BALL, DVec3::new(0.2, 0.0, -1.0)).z > 0.0);
        assert!((a.energy(&BALL).iter().sum::<f64>() / energy - 1.0).abs() < 1e-14);
        let mut b = moving(DVec3::Z, DVec3::ZERO);
        part((&mut a, &BALL), (&mut b, &Weight { mass: 6.0, ..BALL }), DVec3::Z, 0.4);
        assert!((a.position.z + 0.3).abs() < 1e-15 && (b.position.z - 1.1).abs() < 1e-15);
    }
}
