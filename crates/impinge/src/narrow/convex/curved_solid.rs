//! Whether a point lies in a placed cylinder, cone or ellipsoid, in exact numbers.
//!
//! The placed solid is where the pose brings the points of the primitive: x = R·q + t with the doubles of R and t. For a
//! point x the exact q is the product of the cofactors of R and x − t, divided by the determinant of R; multiplied by
//! it, every comparison with a size of the primitive is the sign of a polynomial in doubles.

use std::cmp::Ordering;

use glam::DVec3;

use super::exact::compare;
use crate::Pose;
use crate::num::dyadic::Dyadic;
use crate::num::exact_vector::{ExactVec, cross, dot, exact, minus};
use crate::shape::Primitive;

/// Whether a point of the world lies in the closed solid; false for kinds that are not curved.
pub(super) fn holds(solid: &Primitive, pose: &Pose, p: DVec3) -> bool {
    let turn = pose.rotation();
    let [x, y, z] = [turn.x_axis, turn.y_axis, turn.z_axis].map(exact);
    let off = minus(&exact(p), &exact(pose.translation()));
    // The determinant of a rotation is near 1.
    let scale = dot(&x, &cross(&y, &z));
    let q = [dot(&off, &cross(&y, &z)), dot(&off, &cross(&z, &x)), dot(&off, &cross(&x, &y))];
    let size = |length: f64| &Dyadic::from(length) * &scale;
    let within = |height: &Dyadic, half: f64| height.cmp_magnitude(&size(half)) != Ordering::Greater;
    match *solid {
        Primitive::Cylinder { radius, half_height } => {
            within(&q[2], half_height) && is_at_most(&square_across(&q), &square(&size(radius)))
        }
        Primitive::Cone { radius, half_height } => {
            // At the height z the radius is r·(h − z) / 2h.
            let below = &size(half_height) - &q[2];
            let across = &square_across(&q) * &square(&Dyadic::from(2.0 * half_height));
            within(&q[2], half_height) && is_at_most(&across, &square(&(&Dyadic::from(radius) * &below)))
        }
        Primitive::Ellipsoid { radii } => {
            let [a, b, c] = radii.to_array().map(Dyadic::from);
            let parts = [&(&b * &c) * &q[0], &(&c * &a) * &q[1], &(&a * &b) * &q[2]];
            is_at_most(&dot(&parts, &parts), &square(&(&(&(&a * &b) * &c) * &scale)))
        }
        _ => false,
    }
}

fn square(x: &Dyadic) -> Dyadic {
    x * x
}

/// The square of the distance from the axis.
fn square_across(q: &ExactVec) -> Dyadic {
    &square(&q[0]) + &square(&q[1])
}

fn is_at_most(x: &Dyadic, y: &Dyadic) -> bool {
    compare(x, y) != Ordering::Greater
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use crate::narrow::convex::relation::point_in;
    use crate::shape::Convex;

    #[test]
    fn the_last_bit_decides() {
        let cylinder = Primitive::cylinder(5.0, 1.0).unwrap();
        let cone = Primitive::cone(5.0, 2.0).unwrap();
        let ellipsoid = Primitive::ellipsoid([5.0, 5.0, 1.0]).unwrap();
        // 3, 4, 5; the cone is half as wide at the height 0.
        for (solid, place) in [(cylinder, 1.0), (cone, 0.5), (ellipsoid, 1.0)] {
            let p = DVec3::new(3.0, 4.0, 0.0) * place;
            let beyond = DVec3::new(3.0 * place, (4.0 * place).next_up(), 0.0);
            assert!(
                holds(&solid, &Pose::IDENTITY, p) && !holds(&solid, &Pose::IDENTITY, beyond),
                "{solid:?}"
            );
        }
        let above = DVec3::new(0.0, 0.0, 1.0_f64.next_up());
        assert!(holds(&cylinder, &Pose::IDENTITY, DVec3::Z) && !holds(&cylinder, &Pose::IDENTITY, above));
        assert!(!holds(&cone, &Pose::IDENTITY, DVec3::Z * 2.0_f64.next_up()));
        assert!(holds(&cone, &Pose::IDENTITY, DVec3::Z * 2.0));
    }

    /// Sides and signs near the surface agree, and are those of integers where everything is one.
    #[test]
    fn points_at_rounding_distance_are_classed_exactly() {
        let mut rng = Pcg64::seed_from_u64(41);
        let mut inside = 0;
        let at = Pose::from_translation([1e6, -3e5, 0.0]).unwrap();
        let cylinder = Primitive::cylinder(0.5, 1.0).unwrap();
        for _ in 0..4000 {
            let angle: f64 = rng.random_range(0.0..6.3);
            let p = at.translation() + DVec3::new(0.5 * angle.cos(), 0.5 * angle.sin(), 0.25);
            // x − t is a double and a multiple of 2⁻³⁴: in units of it the radius is 2³³, and squares are integers.
            let [x, y] = [p.x - 1e6, p.y + 3e5].map(|d| (d * 2.0_f64.powi(34)) as i128);
            let expected = x * x + y * y <= 1_i128 << 66;
            let (found, held) = point_in(&Convex::Primitive(cylinder), &at, p);
            assert_eq!(held, expected, "{p}");
            assert_eq!(held, found.distance <= 0.0, "{p}");
            inside += usize::from(held);
        }
        assert!((1000..3000).contains(&inside), "{inside}");
    }

    #[test]
    fn the_sign_of_the_distance_is_that_of_the_side_for_turned_solids() {
        let mut rng = Pcg64::seed_from_u64(42);
        let (mut inside, mut doubtful) = (0, 0);
        for k in 0..6000 {
            let mut size = || rng.random_range(0.2..2.0);
            let solid = match k % 3 {
                0 => Primitive::cylinder(size(), size()),
                1 => Primitive::cone(size(), size()),
                _ => Primitive::ellipsoid([size(), size(), size()]),
            }
            .unwrap();
            let turn = [(); 4].map(|()| rng.random_range(-1.0..1.0));
            let far = 10.0_f64.powi(rng.random_range(0..6));
            let pose = Pose::new([far, -0.3 * far, 0.7 * far], turn).unwrap();
            let shape = Convex::Primitive(solid);
            let p = pose.translation() + DVec3::from([(); 3].map(|()| rng.random_range(-3.0..3.0)));
            let p = if k % 4 == 0 { p } else { point_in(&shape, &pose, p).0.points[1] };
            let (found, held) = point_in(&shape, &pose, p);
            assert_eq!(held, found.distance <= 0.0, "{solid:?} {pose:?} {p}");
            if k % 4 != 0 {
                assert!(found.distance.abs() <= 1e-12 * far.max(10.0), "{} {solid:?}", found.distance);
                doubtful += 1;
                inside += usize::from(held);
            }
        }
        assert!(inside > doubtful / 5 && inside < doubtful * 4 / 5, "{inside} of {doubtful}");
    }
}
