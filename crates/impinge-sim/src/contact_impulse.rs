//! The impulse of a collision with restitution and friction at one point.
//!
//! Newton's law of restitution along the normal, Coulomb's law of friction across it, in closed form for one
//! point (Mirtich 1996 gives both cases): first the impulse that stops all sliding is tried, and where it lies outside
//! the cone of friction the bodies slide, and it lies on the cone against their sliding.

use glam::{DMat3, DVec3};

use crate::rigid::{Rigid, Weight};

/// One side of a collision.
#[derive(Debug)]
pub struct Side<'r> {
    /// The body.
    pub rigid: &'r mut Rigid,
    /// What it weighs.
    pub weight: &'r Weight,
    /// From its centre of mass to the point of contact.
    pub arm: DVec3,
}

/// How a contact answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// From a to b, of unit length.
    pub normal: DVec3,
    /// Share of the speed of approach that comes back, 0 to 1.
    pub restitution: f64,
    /// Coefficient of friction; 0 for none.
    pub friction: f64,
    /// Speed at which they part in any case.
    pub parting: f64,
}

/// Changes the momenta of both sides, `None` standing for what cannot move, and returns the impulse on b.
pub fn apply_contact_impulse<'r>(a: Option<Side<'r>>, b: Option<Side<'r>>, answer: &Answer) -> DVec3 {
    let n = answer.normal;
    let velocity = velocity(&b) - velocity(&a);
    let along = n.dot(velocity);
    let wanted = along.max(-answer.restitution * along).max(0.0) + answer.parting;
    let give = give(&a) + give(&b);
    let impulse = impulse(&give, n, velocity, wanted, answer.friction);
    if !impulse.is_finite() {
        return DVec3::ZERO;
    }
    for (side, sign) in [(a, -1.0), (b, 1.0)] {
        if let Some(side) = side {
            side.rigid.push(side.arm, sign * impulse);
        }
    }
    impulse
}

/// How fast two sides come nearer along a direction from a to b.
pub fn approach([a, b]: &[Option<Side<'_>>; 2], normal: DVec3) -> f64 {
    normal.dot(velocity(a) - velocity(b))
}

/// The velocity of a side's point of contact.
fn velocity(side: &Option<Side<'_>>) -> DVec3 {
    side.as_ref().map_or(DVec3::ZERO, |s| s.rigid.velocity_at(s.weight, s.arm))
}

/// The impulse after which the velocity along n is `wanted`.
fn impulse(give: &DMat3, n: DVec3, velocity: DVec3, wanted: f64, friction: f64) -> DVec3 {
    let along = n.dot(velocity);
    let slide = velocity - n * along;
    let smooth = n * ((wanted - along) / n.dot(*give * n));
    let Some(way) = slide.try_normalize().filter(|_| friction > 0.0) else { return smooth };
    let stick = give.inverse() * (n * wanted - velocity);
    let press = n.dot(stick);
    if stick.is_finite() && press > 0.0 && (stick - n * press).length() <= friction * press {
        return stick;
    }
    let edge = n - way * friction;
    let rate = n.dot(*give * edge);
    if rate > 0.0 { edge * ((wanted - along) / rate) } else { smooth }
}

/// How the velocity of the point answers to an impulse there.
fn give(side: &Option<Side<'_>>) -> DMat3 {
    let Some(Side { rigid, weight, arm }) = side else { return DMat3::ZERO };
    let column = |e: DVec3| e / weight.mass + rigid.response(weight, arm.cross(e)).cross(*arm);
    DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impulse::collide;
    use glam::DQuat;

    fn body(position: DVec3, momentum: DVec3, spin: DVec3) -> Rigid {
        Rigid { position, rotation: DQuat::from_rotation_x(0.4), momentum, spin }
    }

    fn weight() -> Weight {
        Weight { mass: 2.0, inverse_inertia: DMat3::from_diagonal(DVec3::new(0.5, 1.0, 2.0)) }
    }

    #[test]
    fn without_friction_and_loss_it_is_the_elastic_collision() {
        let (w, point, normal) = (weight(), DVec3::new(0.1, 0.2, 0.0), DVec3::X);
        let start = [
            body(-DVec3::X, DVec3::new(2.0, 0.3, 0.0), DVec3::Z),
            body(DVec3::X, DVec3::new(-1.0, 0.0, 0.5), DVec3::Y),
        ];
        let [mut a, mut b] = start;
        let expected = collide((&mut a, &w), (&mut b, &w), point, normal);
        let [mut c, mut d] = start;
        let arms = start.map(|body| point - body.position);
        let answer = Answer { normal, restitution: 1.0, friction: 0.0, parting: 0.0 };
        let one = Side { rigid: &mut c, weight: &w, arm: arms[0] };
        let got =
            apply_contact_impulse(Some(one), Some(Side { rigid: &mut d, weight: &w, arm: arms[1] }), &answer);
        assert!((got - expected).length() < 1e-14 && (a.spin - c.spin).length() < 1e-14);
        assert!((b.momentum - d.momentum).length() < 1e-14);
    }

    #[test]
    fn friction_sticks_or_slides_and_takes_energy() {
        let w = weight();
        for (friction, sticks) in [(10.0, true), (0.05, false)] {
            let mut ball = body(DVec3::Z, DVec3::new(3.0, 0.0, -1.0), DVec3::ZERO);
            let before: f64 = ball.energy(&w).iter().sum();
            let arm = DVec3::new(0.1, -0.2, -1.0);
            let answer = Answer { normal: DVec3::Z, restitution: 0.0, friction, parting: 0.0 };
            let impulse =
                apply_contact_impulse(None, Some(Side { rigid: &mut ball, weight: &w, arm }), &answer);
            let after = ball.velocity_at(&w, arm);
            assert!(after.z.abs() < 1e-14, "nothing comes back: {after}");
            assert_eq!(after.truncate().length() < 1e-13, sticks, "{after}");
            let across = impulse.truncate().length();
            assert!(sticks || (across - friction * impulse.z).abs() < 1e-14);
            assert!(ball.energy(&w).iter().sum::<f64>() < before);
        }
    }

    #[test]
    fn what_parts_already_is_left_alone_but_for_the_parting_speed() {
        let w = weight();
        let mut ball = body(DVec3::Z, DVec3::Z, DVec3::ZERO);
        let answer = Answer { normal: DVec3::Z, restitution: 0.5, friction: 0.0, parting: 0.0 };
        let arm = -DVec3::Z;
        assert_eq!(
            apply_contact_impulse(None, Some(Side { rigid: &mut ball, weight: &w, arm }), &answer),
            DVec3::ZERO
        );
        let answer = Answer { parting: 0.25, ..answer };
        apply_contact_impulse(None, Some(Side { rigid: &mut ball, weight: &w, arm }), &answer);
        assert!((ball.velocity_at(&w, arm).z - 0.75).abs() < 1e-14);
    }
}
