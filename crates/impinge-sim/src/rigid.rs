//! A rigid body in free flight: what it weighs, how it moves, and a step that conserves what physics does.
//!
//! The state holds linear and angular momentum in the world, so free flight leaves both untouched to the
//! bit. The turning is the implicit midpoint rule on the rotation group (Austin, Krishnaprasad, Wang,
//! "Almost Poisson integration of rigid body systems", 1993; Lewis, Simo 1994): with M the angular momentum
//! in the body, Ω = I⁻¹(M₀ + M₁)/2 and R₁ = R₀·cay(hΩ). Kinetic energy is a quadratic invariant of that
//! rule, so it is conserved too, as far as the equation for Ω is solved: to rounding.

use glam::{DMat3, DQuat, DVec3};
use impinge::{Error, Mesh, Pose, Shape};

/// Newton steps at most; three are usual.
const MOST_ROUNDS: usize = 16;

/// Squared relative change at which Newton's method is done (no unit): the next one would be its square, far
/// below rounding.
const SMALL_CHANGE_SQ: f64 = 1e-18;

/// Largest angle (radians) that one implicit step turns; a faster spin is cut into equal steps. Below it
/// Newton's method converges from the first guess, whatever the inertia.
const LARGEST_TURN: f64 = 0.5;

/// How heavy a body is and how it resists turning; its frame has the origin in the centre of mass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weight {
    /// The mass.
    pub mass: f64,
    /// Inverse of the inertia tensor about the centre of mass, in the frame of the body.
    pub inverse_inertia: DMat3,
}

impl Weight {
    /// The weight of the solid that a closed mesh bounds, at density 1, and its centre of mass.
    ///
    /// # Errors
    /// A mesh that bounds no volume.
    pub fn of(mesh: &Mesh) -> Result<(Weight, DVec3), Error> {
        let mass = impinge::mass(&Shape::from(mesh.clone()))?;
        let flat =
            || Error::Argument { name: "mesh", reason: "it bounds no volume, so it has no mass".into() };
        let solid = mass.solid.ok_or_else(flat)?;
        let inverse_inertia = solid.inertia.inverse();
        if !inverse_inertia.is_finite() {
            return Err(flat());
        }
        Ok((Weight { mass: mass.volume.abs(), inverse_inertia }, solid.centre))
    }
}

/// Where a body is and how it moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rigid {
    /// Centre of mass in the world.
    pub position: DVec3,
    /// From the body's frame to the world.
    pub rotation: DQuat,
    /// Linear momentum.
    pub momentum: DVec3,
    /// Angular momentum about the centre of mass, in the world.
    pub spin: DVec3,
}

impl Rigid {
    /// The pose of the body's frame.
    ///
    /// # Errors
    /// A position that is not finite or beyond 1e60, or a rotation that is none.
    #[inline]
    pub fn pose(&self) -> Result<Pose, Error> {
        Pose::from_rotation(self.position, self.rotation)
    }

    /// The angular velocity in the world.
    pub fn turning(&self, weight: &Weight) -> DVec3 {
        self.response(weight, self.spin)
    }

    /// The velocity of the point of the body that is at `arm` from its centre.
    pub fn velocity_at(&self, weight: &Weight, arm: DVec3) -> DVec3 {
        self.momentum / weight.mass + self.turning(weight).cross(arm)
    }

    /// I⁻¹ of the world frame times an angular momentum: the change of angular velocity it brings.
    pub fn response(&self, weight: &Weight, spin: DVec3) -> DVec3 {
        self.rotation * (weight.inverse_inertia * (self.rotation.conjugate() * spin))
    }

    /// Kinetic energy of moving and of turning.
    pub fn energy(&self, weight: &Weight) -> [f64; 2] {
        let moving = self.momentum.length_squared() / (2.0 * weight.mass);
        [moving, 0.5 * self.spin.dot(self.turning(weight))]
    }

    /// Adds an impulse at `arm` from the centre.
    pub fn push(&mut self, arm: DVec3, impulse: DVec3) {
        self.momentum += impulse;
        self.spin += arm.cross(impulse);
    }

    /// Free flight for the time `step`.
    pub fn fly(&mut self, weight: &Weight, step: f64) {
        self.position += self.momentum * (step / weight.mass);
        // Frobenius norm: at least the largest eigenvalue, so the turn is not underestimated.
        let DMat3 { x_axis, y_axis, z_axis } = weight.inverse_inertia;
        let stiffest_sq = x_axis.length_squared() + y_axis.length_squared() + z_axis.length_squared();
        let turn_sq = step * step * stiffest_sq * self.spin.length_squared();
        let pieces = (turn_sq.sqrt() / LARGEST_TURN).ceil().clamp(1.0, 1e6);
        for _ in 0..pieces as u32 {
            let spin = self.rotation.conjugate() * self.spin;
            let turn = midpoint_turn(&weight.inverse_inertia, spin, step / pieces);
            self.rotation = (self.rotation * turn).normalize();
        }
    }
}

/// cay(hΩ) with Ω = I⁻¹m, where m = (M₀ + M₁)/2 solves m = M₀ + h/2 · m × I⁻¹m: by Newton's method.
fn midpoint_turn(inverse_inertia: &DMat3, spin: DVec3, step: f64) -> DQuat {
    let half = *inverse_inertia * (0.5 * step);
    let mut middle = spin + spin.cross(half * spin);
    for _ in 0..MOST_ROUNDS {
        let turn = half * middle;
        let miss = middle - spin - middle.cross(turn);
        // Columns of the derivative: e − e × turn − middle × (half · e).
        let column = |e: DVec3, along: DVec3| e - e.cross(turn) - middle.cross(along);
        let slope = DMat3::from_cols(
            column(DVec3::X, half.x_axis),
            column(DVec3::Y, half.y_axis),
            column(DVec3::Z, half.z_axis),
        );
        let change = slope.inverse() * miss;
        middle -= change;
        if !(change.length_squared() > SMALL_CHANGE_SQ * middle.length_squared()) {
            break;
        }
    }
    cayley(half * middle)
}

/// The rotation whose quaternion is (v, 1) divided by its length.
fn cayley(v: DVec3) -> DQuat {
    DQuat::from_xyzw(v.x, v.y, v.z, 1.0).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use impinge::procedural;

    fn brick() -> Weight {
        Weight::of(&procedural::cuboid([1.0, 0.5, 0.1], [1; 3]).unwrap()).unwrap().0
    }

    fn tumbling(spin: DVec3) -> Rigid {
        Rigid { position: DVec3::ZERO, rotation: DQuat::IDENTITY, momentum: DVec3::new(0.3, 0.0, -0.1), spin }
    }

    #[test]
    fn a_brick_weighs_what_the_formula_says() {
        let mass = 8.0 * 1.0 * 0.5 * 0.1;
        let expected = mass / 3.0 * DVec3::new(0.25 + 0.01, 1.0 + 0.01, 1.0 + 0.25);
        let weight = brick();
        assert!((weight.mass - mass).abs() < 1e-15);
        let inertia = weight.inverse_inertia.inverse();
        assert!((inertia * DVec3::ONE - expected).length() < 1e-14, "{inertia}");
        assert!(Weight::of(&procedural::sheet([1.0, 1.0], [2, 2]).unwrap()).is_err());
    }

    #[test]
    fn free_flight_conserves_energy_and_momentum_for_ten_thousand_steps() {
        let weight = brick();
        // About the middle axis the motion is unstable: the body flips over again and again.
        for (spin, step) in [(DVec3::new(1e-3, 0.05, 1e-3), 1.0), (DVec3::new(0.02, 0.01, 0.03), 3.0)] {
            let mut body = tumbling(spin);
            let before = body;
            let [moving, turning] = body.energy(&weight);
            let mut worst = 0.0_f64;
            for _ in 0..10_000 {
                body.fly(&weight, step);
                let [m, t] = body.energy(&weight);
                assert_eq!(m, moving);
                worst = worst.max((t / turning - 1.0).abs());
            }
            assert_eq!((body.momentum, body.spin), (before.momentum, before.spin));
            assert!(worst < 1e-11, "{worst:e}");
            assert!(body.rotation.angle_between(before.rotation) > 1e-3);
        }
    }

    #[test]
    fn small_steps_follow_the_known_precession() {
        // A symmetric top: its axis goes around the fixed angular momentum at the rate |L| / I₁.
        let inertia = DVec3::new(2.0, 2.0, 1.0);
        let weight = Weight { mass: 1.0, inverse_inertia: DMat3::from_diagonal(1.0 / inertia) };
        let spin = DVec3::new(0.6, 0.0, 1.0);
        let mut errors = Vec::new();
        for steps in [200, 400] {
            let mut body = tumbling(spin);
            for _ in 0..steps {
                body.fly(&weight, 2.0 / f64::from(steps));
            }
            let turned = DQuat::from_axis_angle(spin.normalize(), 2.0 * spin.length() / 2.0) * DVec3::Z;
            errors.push((body.rotation * DVec3::Z - turned).length());
        }
        assert!(errors[0] < 1e-4 && errors[1] < errors[0] / 3.5, "second order: {errors:?}");
    }

    #[test]
    fn a_wild_spin_still_conserves_energy() {
        let weight = brick();
        let mut body = tumbling(DVec3::new(3.0, 40.0, -20.0));
        let before = body.energy(&weight)[1];
        (0..100).for_each(|_| body.fly(&weight, 1.0));
        assert!((body.energy(&weight)[1] / before - 1.0).abs() < 1e-9);
    }
}
