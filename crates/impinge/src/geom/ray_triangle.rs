//! Where a ray meets a triangle, without gaps between neighbours.
//!
//! Woop, Benthin and Wald, *Watertight ray/triangle intersection* (2013): the ray becomes the third axis
//! by a shear, and three signed areas in the plane decide. A shared side gives both its triangles the same
//! area with opposite signs, to the bit, and zero counts as inside for both, so no ray slips through a
//! side or a corner. In f64 the paper's fallback to higher precision is not needed for that.

use glam::DVec3;

use crate::num::dyadic::Dyadic;
use crate::num::exact_vector::{cross_along, dot, exact, minus, normal};
use crate::num::predicate::Sign;
use crate::num::tolerance::EDGE_ON_ROUNDING;
use crate::simd::corner_lanes::{Axes, CornerLanes, Seen, Sight};

/// A ray made ready for triangles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ShearedRay {
    sight: Sight,
    /// How far the ray goes along its longest axis while its parameter rises by 1.
    along: f64,
    /// Takes the scale back.
    unscale: f64,
}

/// A point of a triangle on a ray.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// The ray's parameter: the point is origin + t·direction.
    pub t: f64,
    /// Weights of the three corners; they sum to 1.
    pub weights: [f64; 3],
}

impl ShearedRay {
    /// Takes a ray whose direction is finite and not zero; lengths are multiplied by `scale` (a power of
    /// two) before they are multiplied with each other.
    #[inline]
    pub fn new(origin: DVec3, direction: DVec3, scale: f64) -> ShearedRay {
        let z = direction.abs().max_position();
        let along = direction[z];
        let shear = [direction[(z + 1) % 3] / along, direction[(z + 2) % 3] / along];
        let sight = Sight { origin: origin.extend(0.0).to_array(), longest: z, shear, scale };
        ShearedRay { sight, along, unscale: scale.recip() }
    }

    /// Where the line of the ray meets the triangle, in either orientation.
    #[inline(always)]
    pub fn crossing(&self, lanes: impl CornerLanes, triangle: &[Axes; 3]) -> LineCrossing {
        let Seen { areas: [u, v, w, _], sizes, places: [a, b, c, _] } = lanes.seen(&self.sight, triangle);
        let reach = sizes[0] + sizes[1] + sizes[2];
        let away = a.abs().max(b.abs()).max(c.abs()) + reach;
        let is_edge_on = u.abs() + v.abs() + w.abs() <= EDGE_ON_ROUNDING * reach * away;
        let sum = u + v + w;
        let is_missed = (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0);
        if is_missed || sum == 0.0 {
            return LineCrossing { is_edge_on, crossing: None };
        }
        let weights = [u / sum, v / sum, w / sum];
        let along = weights[0] * a + weights[1] * b + weights[2] * c;
        LineCrossing {
            is_edge_on,
            crossing: Some(Crossing { t: along * self.unscale / self.along, weights }),
        }
    }
}

/// The corners of a triangle as they are seen.
#[inline]
pub(crate) fn in_lanes(corners: &[DVec3; 3]) -> [Axes; 3] {
    corners.map(|p| p.extend(0.0).to_array())
}

/// And back.
#[inline]
pub(crate) fn points(corners: &[Axes; 3]) -> [DVec3; 3] {
    corners.map(|[x, y, z, _]| DVec3::new(x, y, z))
}

/// Where a line meets a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineCrossing {
    /// Whether rounding cannot tell that the line does not lie in the triangle's plane.
    pub is_edge_on: bool,
    /// `None` where the line misses the triangle or all areas are 0.
    pub crossing: Option<Crossing>,
}

/// Where a ray runs in a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InPlane {
    /// It does not lie in the triangle's plane, or the triangle has no area.
    No,
    /// It does, and passes the triangle by.
    Missed,
    /// It does, and this is the first of its points that are in the triangle.
    Entered(Crossing),
}

/// Decides exactly whether a ray lies in the plane of a triangle, and where it is in it.
pub fn crossing_in_plane(origin: DVec3, direction: DVec3, corners: &[DVec3; 3]) -> InPlane {
    let normal = normal(corners);
    let larger = |i: usize, j: usize| if normal[j].cmp_magnitude(&normal[i]).is_gt() { j } else { i };
    let axis = larger(larger(0, 1), 2);
    let (from, step) = (exact(origin), exact(direction));
    let is_in_plane =
        dot(&normal, &step).is_zero() && dot(&normal, &minus(&from, &exact(corners[0]))).is_zero();
    if normal[axis].is_zero() || !is_in_plane {
        return InPlane::No;
    }
    let is_flipped = normal[axis].sign() == Sign::Negative;
    let area = if is_flipped { -&normal[axis] } else { normal[axis].clone() };
    // Heights over the three sides, positive inside, and how they change along the ray.
    let heights: [[Dyadic; 2]; 3] = [0, 1, 2].map(|i| {
        let start = exact(corners[i]);
        let side = minus(&exact(corners[(i + 1) % 3]), &start);
        let both = [cross_along(&side, &minus(&from, &start), axis), cross_along(&side, &step, axis)];
        if is_flipped { both.map(|x| -&x) } else { both }
    });
    let mut enter = Fraction { above: Dyadic::zero(), below: Dyadic::from(1.0) };
    let mut leave: Option<Fraction> = None;
    for [height, rate] in &heights {
        match (rate.sign(), height.sign()) {
            (Sign::Zero, Sign::Negative) => return InPlane::Missed,
            (Sign::Zero, _) => {}
            (Sign::Positive, _) => {
                let passed = Fraction { above: -height, below: rate.clone() };
                enter = if enter.is_below(&passed) { passed } else { enter };
            }
            (Sign::Negative, _) => {
                let passed = Fraction { above: height.clone(), below: -rate };
                leave = Some(match leave {
                    Some(leave) if !passed.is_below(&leave) => leave,
                    _ => passed,
                });
            }
        }
    }
    if leave.is_some_and(|leave| leave.is_below(&enter)) {
        return InPlane::Missed;
    }
    // The height over a side over the triangle's is the weight of the corner opposite.
    let whole = &enter.below * &area;
    let weight = |i: usize| {
        let [height, rate] = &heights[(i + 1) % 3];
        (&(height * &enter.below) + &(rate * &enter.above)).ratio(&whole)
    };
    InPlane::Entered(Crossing { t: enter.above.ratio(&enter.below), weights: [0, 1, 2].map(weight) })
}

/// A quotient with a positive divisor.
struct Fraction {
    above: Dyadic,
    below: Dyadic,
}

impl Fraction {
    fn is_below(&self, other: &Fraction) -> bool {
        (&(&self.above * &other.below) - &(&other.above * &self.below)).sign() == Sign::Negative
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Portable;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    fn point(rng: &mut Pcg64) -> DVec3 {
        DVec3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0))
    }

    /// Cramer's rule for origin + t·direction = a + v·ab + w·ac.
    fn solved(origin: DVec3, direction: DVec3, [a, b, c]: &[DVec3; 3]) -> Option<f64> {
        let m = glam::DMat3::from_cols(*b - *a, *c - *a, -direction);
        let x = m.inverse() * (origin - *a);
        (x.x >= 0.0 && x.y >= 0.0 && x.x + x.y <= 1.0).then_some(x.z)
    }

    #[test]
    fn agrees_with_a_linear_system() {
        let mut rng = Pcg64::seed_from_u64(1);
        let mut hits = 0;
        for _ in 0..2000 {
            let t = [point(&mut rng), point(&mut rng), point(&mut rng)];
            let (origin, target) = (point(&mut rng), point(&mut rng) * 0.5);
            let direction = target - origin;
            let found = ShearedRay::new(origin, direction, 1.0).crossing(Portable, &in_lanes(&t)).crossing;
            let want = solved(origin, direction, &t);
            assert_eq!(found.is_some(), want.is_some());
            if let (Some(found), Some(want)) = (found, want) {
                hits += 1;
                let p = t[0] * found.weights[0] + t[1] * found.weights[1] + t[2] * found.weights[2];
                assert!((origin + direction * found.t).distance(p) < 1e-10 * (1.0 + found.t.abs()));
                assert!((found.t - want).abs() < 1e-8 * (1.0 + want.abs()));
            }
        }
        assert!((300..1600).contains(&hits), "{hits}");
    }

    #[test]
    fn no_ray_slips_between_neighbours() {
        // A fan of triangles around a corner; rays through the corner and through points of the sides.
        let mut rng = Pcg64::seed_from_u64(2);
        for _ in 0..300 {
            let rim: Vec<DVec3> = (0..7)
                .map(|k| {
                    let angle = std::f64::consts::TAU * (f64::from(k) + rng.random_range(-0.2..0.2)) / 7.0;
                    DVec3::new(angle.cos(), angle.sin(), rng.random_range(-0.3..0.3))
                })
                .collect();
            let apex = DVec3::new(rng.random_range(-0.2..0.2), 0.1, 0.05);
            let origin = DVec3::new(0.1, 0.2, 5.0) + point(&mut rng);
            let side = rim[rng.random_range(0..7)];
            for target in [apex, apex.lerp(side, rng.random_range(0.0..0.9))] {
                let ray = ShearedRay::new(origin, target - origin, 1.0);
                let hit = (0..7).any(|k| {
                    ray.crossing(Portable, &in_lanes(&[apex, rim[k], rim[(k + 1) % 7]])).crossing.is_some()
                });
                assert!(hit);
            }
        }
    }

    #[test]
    fn a_ray_in_the_plane_enters_where_a_segment_does() {
        // Integer coordinates in a slanted plane; the twin clips by dense parameters.
        let mut rng = Pcg64::seed_from_u64(3);
        let (e, f) = (DVec3::new(1.0, 2.0, -1.0), DVec3::new(0.0, 3.0, 1.0));
        let mut seen = [0; 3];
        for _ in 0..3000 {
            let mut point = |least: i32, most: i32| {
                [f64::from(rng.random_range(least..=most)), f64::from(rng.random_range(least..=most))]
            };
            let flat = [point(-4, 4), point(-4, 4), point(-4, 4)];
            let (from, step) = (point(-6, 6), point(-3, 3));
            let placed = |[x, y]: [f64; 2]| e * x + f * y;
            let cross = |p: [f64; 2], q: [f64; 2]| p[0] * q[1] - p[1] * q[0];
            let minus = |p: [f64; 2], q: [f64; 2]| [p[0] - q[0], p[1] - q[1]];
            let area = cross(minus(flat[1], flat[0]), minus(flat[2], flat[0]));
            if step == [0.0; 2] {
                continue;
            }
            let found = crossing_in_plane(placed(from), placed(step), &flat.map(placed));
            if area == 0.0 {
                assert_eq!(found, InPlane::No);
                continue;
            }
            let inside = |t: f64| {
                let at = [from[0] + t * step[0], from[1] + t * step[1]];
                (0..3).all(|i| {
                    let side = minus(flat[(i + 1) % 3], flat[i]);
                    cross(side, minus(at, flat[i])) * area >= -1e-9
                })
            };
            let tried = (0..=20_000).map(|k| f64::from(k) * 1e-3).find(|&t| inside(t));
            match found {
                InPlane::No => panic!("not in its plane"),
                InPlane::Missed => {
                    seen[0] += 1;
                    assert_eq!(tried, None);
                }
                InPlane::Entered(crossing) => {
                    seen[if crossing.t == 0.0 { 1 } else { 2 }] += 1;
                    assert!(inside(crossing.t));
                    // A corner that is only touched lies between the parameters that are tried.
                    assert!(
                        tried.is_none_or(|t| t >= crossing.t - 1e-9 && t <= crossing.t + 1.001e-3),
                        "{tried:?}"
                    );
                    let p = (0..3).fold(DVec3::ZERO, |p, i| p + placed(flat[i]) * crossing.weights[i]);
                    assert!(p.distance(placed(from) + placed(step) * crossing.t) < 1e-12);
                }
            }
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
        let off = DVec3::new(1e-300, 0.0, 0.0);
        assert_eq!(crossing_in_plane(off, f, &[DVec3::ZERO, e, f]), InPlane::No);
    }
}
