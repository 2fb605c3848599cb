//! The point of a simplex nearest to the origin, in exact numbers: the last word of GJK where floats cannot
//! tell one part of a sliver from another.
//!
//! A part is the one that holds the point when the origin's foot on its plane has positive weights and no
//! other corner lies on the origin's side of the plane across the foot. Both are signs of polynomials in the
//! corners' doubles, so that there is always such a part, and the direction to its foot is known to the last
//! digits however close the origin is.

use glam::DVec3;
use smallvec::{SmallVec, smallvec};

use crate::num::compact_sort::sort_few;
use crate::num::dyadic::Dyadic;
use crate::num::exact_vector::{ExactVec, cross, direction, dot, exact, minus, times};
use crate::num::predicate::Sign;

/// The part of a simplex that holds its point nearest to the origin.
#[derive(Debug, Clone)]
pub(crate) struct SimplexPoint {
    /// The corners of the part, by their place among those given, with their weights.
    pub part: SmallVec<[(usize, f64); 4]>,
    /// Unit, from the origin to the point; zero when the simplex holds the origin.
    pub direction: DVec3,
    /// From the origin to the point.
    pub distance: f64,
    /// The exact direction, of any length.
    along: ExactVec,
    /// A corner of the part.
    corner: ExactVec,
}

impl SimplexPoint {
    /// Whether a simplex with this corner too would be nearer.
    pub fn gains(&self, w: DVec3) -> bool {
        dot(&self.along, &minus(&exact(w), &self.corner)).sign() == Sign::Negative
    }
}

/// The nearest part of the simplex of one to four corners, which need not span anything.
pub(crate) fn nearest(corners: &[DVec3]) -> SimplexPoint {
    let w: SmallVec<[ExactVec; 4]> = corners.iter().map(|&c| exact(c)).collect();
    // Fewer corners first: of parts in one place the smallest is taken.
    let mut sets: SmallVec<[u32; 15]> = (1..1 << w.len()).collect();
    sort_few(&mut sets, |x, y| x.count_ones().cmp(&y.count_ones()));
    let found = sets.iter().find_map(|&set| {
        let part: SmallVec<[usize; 4]> = (0..w.len()).filter(|k| set >> k & 1 == 1).collect();
        let foot = foot(&part.iter().map(|&k| &w[k]).collect::<SmallVec<[_; 4]>>())?;
        let corner = &w[part[0]];
        let level = dot(&foot.along, corner);
        let others = (0..w.len()).filter(|k| !part.contains(k));
        let is_nearest =
            others.into_iter().all(|k| (&dot(&foot.along, &w[k]) - &level).sign() != Sign::Negative);
        is_nearest.then(|| foot.rounded(&part, corner))
    });
    // There is always one; the first corner stands for it.
    found.unwrap_or_else(|| {
        let foot = OriginProjection {
            along: w[0].clone(),
            over: Dyadic::from(1.0),
            weights: smallvec![Dyadic::from(1.0)],
        };
        foot.rounded(&[0], &w[0])
    })
}

/// The foot of the origin on what some corners span.
struct OriginProjection {
    /// From the origin to the foot, times `over`; zero for four corners.
    along: ExactVec,
    /// Positive.
    over: Dyadic,
    /// Of the corners; each is positive.
    weights: SmallVec<[Dyadic; 4]>,
}

impl OriginProjection {
    fn rounded(self, part: &[usize], corner: &ExactVec) -> SimplexPoint {
        let whole = self.weights.iter().fold(Dyadic::zero(), |sum, weight| &sum + weight);
        let weights = self.weights.iter().map(|weight| weight.ratio(&whole));
        let foot = DVec3::from_array([0, 1, 2].map(|i| self.along[i].ratio(&self.over)));
        SimplexPoint {
            part: part.iter().copied().zip(weights).collect(),
            direction: direction(&self.along),
            distance: foot.length(),
            along: self.along,
            corner: corner.clone(),
        }
    }
}

/// The foot of the origin, if it is strictly inside; none where the corners span less than they could.
fn foot(corners: &[&ExactVec]) -> Option<OriginProjection> {
    let found = match *corners {
        [p] => OriginProjection {
            along: p.clone(),
            over: Dyadic::from(1.0),
            weights: smallvec![Dyadic::from(1.0)],
        },
        [p, q] => {
            let u = minus(q, p);
            let (of_p, of_q) = (dot(q, &u), -&dot(p, &u));
            OriginProjection {
                along: cross(&u, &cross(p, &u)),
                over: dot(&u, &u),
                weights: smallvec![of_p, of_q],
            }
        }
        [p, q, r] => {
            let normal = cross(&minus(q, p), &minus(r, p));
            let weights = [(q, r), (r, p), (p, q)].map(|(x, y)| dot(&cross(x, y), &normal));
            let along = times(&dot(p, &normal), &normal);
            OriginProjection { along, over: dot(&normal, &normal), weights: weights.into_iter().collect() }
        }
        [p, q, r, s] => {
            let volume = |x: &ExactVec, y: &ExactVec, z: &ExactVec| dot(x, &cross(y, z));
            let parts = [volume(q, s, r), volume(p, r, s), volume(p, s, q), volume(p, q, r)];
            let over = parts.iter().fold(Dyadic::zero(), |sum, part| &sum + part);
            let weights = if over.sign() == Sign::Negative { parts.map(|part| -&part) } else { parts };
            let zero = [0; 3].map(|_| Dyadic::zero());
            OriginProjection { along: zero, over: Dyadic::from(1.0), weights: weights.into_iter().collect() }
        }
        _ => return None,
    };
    let inside = found.weights.iter().all(|weight| weight.sign() == Sign::Positive);
    inside.then_some(found)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    fn point(n: &SimplexPoint, corners: &[DVec3]) -> DVec3 {
        n.part.iter().map(|&(k, weight)| corners[k] * weight).sum()
    }

    #[test]
    fn the_point_is_on_the_simplex_and_nothing_is_nearer() {
        let mut rng = Pcg64::seed_from_u64(3);
        let mut sizes = [0; 5];
        for round in 0..4000 {
            // Flat in some rounds, on a grid in others, where parts coincide.
            let flat = DVec3::new(1.0, 10f64.powi(-(round % 17)), 10f64.powi(-(round % 13)));
            let corners: Vec<DVec3> = (0..rng.random_range(1..5))
                .map(|_| {
                    let p = DVec3::from_array(std::array::from_fn(|_| rng.random_range(-1.0..1.0)));
                    if round % 4 == 0 { (p * 2.0).round() } else { p * flat + DVec3::splat(0.1) * flat }
                })
                .collect();
            let found = nearest(&corners);
            sizes[found.part.len()] += 1;
            let at = point(&found, &corners);
            assert!((at - found.direction * found.distance).length() < 1e-14, "{corners:?}: {found:?}");
            for &corner in &corners {
                assert!(found.direction.dot(corner) >= found.distance - 1e-14, "{corners:?}: {found:?}");
                assert!(!found.gains(corner));
            }
            assert!(found.direction == DVec3::ZERO || found.gains(-found.direction * 1e-9));
        }
        assert!(sizes[1..].iter().all(|&count| count > 100), "{sizes:?}");
    }

    #[test]
    fn the_direction_is_known_however_close_the_origin_is() {
        let far = 2f64.powi(50);
        let tilt = 2f64.powi(-50);
        let corners = [DVec3::new(-far, 0.0, tilt), DVec3::new(far, -1.0, tilt), DVec3::new(0.0, far, tilt)];
        let found = nearest(&corners);
        assert_eq!((found.part.len(), found.direction, found.distance), (3, DVec3::Z, tilt));
    }
}
