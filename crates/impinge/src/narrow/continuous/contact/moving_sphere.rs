//! Whether a sphere that is carried by a screw comes to a resting one.
//!
//! Redon, Kheddar and Coquillart, "CONTACT", 2001, 3.1 and 4.2: first the hollow cylinder that the moving centre
//! stays on, then the distance. The squared distance less the squared radii, times 1 + U²w², is a polynomial of
//! degree four in w; where it is least, its derivative, a cubic, vanishes. Without a turn or without a shift it
//! is of degree two and nothing is divided.

use glam::DVec3;

use crate::motion::RationalScrew;
use crate::num::cubic::Cubic;
use crate::num::tolerance::SPHERE_ROUNDING;

/// A sphere's centre relative to the origin of the screw at its start, with what its tests share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Centre {
    /// From the origin.
    from_origin: DVec3,
    /// Along the axis.
    along: f64,
    /// U times the distance from the axis.
    radius: f64,
}

impl Centre {
    /// The coordinates in the screw's frame, which are worth keeping.
    pub fn new(screw: &RationalScrew, from_origin: DVec3) -> Centre {
        let along = screw.axis.dot(from_origin);
        let across = from_origin - screw.axis * along;
        Centre { from_origin, along, radius: (across * screw.tangent + screw.far()).length() }
    }

    /// The squared distance of two centres at the start.
    pub fn apart(&self, other: &Centre) -> f64 {
        self.from_origin.distance_squared(other.from_origin)
    }
}

/// False only when a carried sphere stays farther than `reach`, the sum of the radii, from a resting one up to
/// the parameter `end`.
pub fn may_meet(screw: &RationalScrew, moving: &Centre, resting: &Centre, reach: f64, end: f64) -> bool {
    let (r, b) = (moving.from_origin, resting.from_origin);
    let size = r.abs().max(b.abs()).max(screw.travel.abs()).max(screw.far().abs()).element_sum() + reach;
    let slack = size * SPHERE_ROUNDING;
    let reach = reach + slack;
    let lift = screw.axis.dot(screw.travel) * end;
    if screw.tangent > 0.0 {
        let apart = resting.along - moving.along;
        let beyond = apart > lift.max(0.0) + reach || apart < lift.min(0.0) - reach;
        if beyond || (moving.radius - resting.radius).abs() > screw.tangent * reach + slack {
            return false;
        }
    }
    let (k, u, far) = (screw.axis, screw.tangent, screw.far());
    let apart = r - b;
    let turn = u * b.dot(k.cross(r)) + b.dot(k.cross(far)) + far.dot(k.cross(r));
    let shift = 2.0 * screw.travel.dot(apart);
    let sum = (r + b) * u + far * 2.0;
    let squares = sum.length_squared() - 4.0 * u * u * moving.along * resting.along;
    let c0 = apart.length_squared() - reach * reach;
    let c1 = shift - 4.0 * turn;
    let c2 = squares + screw.travel.length_squared() - u * u * reach * reach;
    let (c3, c4) = (u * u * shift, u * u * screw.travel.length_squared());
    // What rounding does to the polynomial anywhere in 0..1.
    let noise = size * size * (1.0 + u * u) * SPHERE_ROUNDING;
    if c0 <= noise {
        return true;
    }
    if c3 == 0.0 && c4 == 0.0 {
        // c0 > 0: it comes to zero when it falls at first, and far enough before the end or at it.
        let (half, last) = (0.5 * c1, (c2 * end + c1) * end + c0);
        return last <= noise || (c1 < 0.0 && -half <= c2 * end && half * half >= c2 * (c0 - noise));
    }
    let at = |w: f64| (((c4 * w + c3) * w + c2) * w + c1) * w + c0;
    let slope = Cubic([c1, 2.0 * c2, 3.0 * c3, 4.0 * c4]);
    at(end) <= noise || slope.bands(end, 0.0).any(|[first, last]| at(first).min(at(last)) <= noise)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::motion::{Law, Pose, RigidMotion};

    /// Against dense sampling of the motion itself, for screws, turns and shifts.
    #[test]
    fn agrees_with_sampling() {
        let mut random = Pcg64::seed_from_u64(11);
        let mut met = [0; 3];
        for case in 0..3000 {
            let mut point =
                |size: f64| DVec3::from_array([0.0; 3].map(|_: f64| random.random_range(-size..size)));
            let from = Pose::shift(point(2.0));
            let axis = point(1.0).normalize();
            let small = [1.0, 1e-7][case / 3 % 2];
            let turn = glam::DQuat::from_axis_angle(axis, point(2.5).x.abs() * small);
            let to = match case % 3 {
                0 => Pose::turned(from.translation() + point(2.0), turn),
                1 => Pose::turned(from.translation(), turn),
                _ => Pose::shift(from.translation() + point(2.0)),
            };
            let screw = RigidMotion::screw(&from, &to, 0, Law::Contact).rational_screws().unwrap()[0];
            let r = point(1.5);
            let b = screw.place(r, point(1.0).x.abs()) + point(1.0);
            let reach = point(1.0).x.abs();
            let end = point(1.0).x.abs();
            let centres = [r, b - screw.origin].map(|c| Centre::new(&screw, c));
            let found = may_meet(&screw, &centres[0], &centres[1], reach, end);
            let nearest = (0..=400)
                .map(|i| screw.place(r, end * f64::from(i) / 400.0).distance(b))
                .fold(f64::INFINITY, f64::min);
            met[case % 3] += usize::from(found);
            assert!(found || nearest > reach, "{case}: {nearest} {reach}");
            assert!(!found || nearest < reach + 0.02, "{case}: {nearest} {reach}");
        }
        assert!(met.iter().all(|&met| (100..900).contains(&met)), "{met:?}");
    }
}
