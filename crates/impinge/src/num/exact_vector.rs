//! Three exact coordinates, with the few operations that planes and lines need.

use glam::DVec3;

use super::dyadic::Dyadic;
use super::predicate::Sign;

/// A vector of exact numbers.
pub type ExactVec = [Dyadic; 3];

/// The coordinates of a point of doubles.
pub fn exact(p: DVec3) -> ExactVec {
    p.to_array().map(Dyadic::from)
}

/// u − v.
pub fn minus(u: &ExactVec, v: &ExactVec) -> ExactVec {
    std::array::from_fn(|i| &u[i] - &v[i])
}

/// u + v.
pub fn plus(u: &ExactVec, v: &ExactVec) -> ExactVec {
    std::array::from_fn(|i| &u[i] + &v[i])
}

/// s·u.
pub fn times(s: &Dyadic, u: &ExactVec) -> ExactVec {
    std::array::from_fn(|i| s * &u[i])
}

/// The scalar product.
pub fn dot(u: &ExactVec, v: &ExactVec) -> Dyadic {
    &(&(&u[0] * &v[0]) + &(&u[1] * &v[1])) + &(&u[2] * &v[2])
}

/// The vector product.
pub fn cross(u: &ExactVec, v: &ExactVec) -> ExactVec {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        &(&u[j] * &v[k]) - &(&u[k] * &v[j])
    })
}

/// The component of u × v along an axis: the product of the vectors without that axis.
pub fn cross_along(u: &ExactVec, v: &ExactVec, axis: usize) -> Dyadic {
    let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
    &(&u[j] * &v[k]) - &(&u[k] * &v[j])
}

/// The normal (b − a) × (c − a) of a triangle.
pub fn normal([a, b, c]: &[DVec3; 3]) -> ExactVec {
    let a = exact(*a);
    cross(&minus(&exact(*b), &a), &minus(&exact(*c), &a))
}

/// The unit vector along an exact one, right to rounding; zero for none.
pub fn direction(u: &ExactVec) -> DVec3 {
    let largest = u.iter().fold(&u[0], |most, x| if x.cmp_magnitude(most).is_gt() { x } else { most });
    let along = DVec3::from_array([0, 1, 2].map(|i| u[i].ratio(largest))).normalize_or_zero();
    if largest.sign() == Sign::Negative { -along } else { along }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_doubles() {
        let (u, v) = (DVec3::new(1.0, 2.0, -3.0), DVec3::new(0.5, -4.0, 7.0));
        let product = cross(&exact(u), &exact(v));
        assert_eq!(product, exact(u.cross(v)));
        assert_eq!(dot(&exact(u), &exact(v)), Dyadic::from(u.dot(v)));
        assert_eq!(cross_along(&exact(u), &exact(v), 1), product[1]);
        assert_eq!(normal(&[v, v + u, v + DVec3::X]), exact(u.cross(DVec3::X)));
        assert_eq!(minus(&plus(&exact(u), &exact(v)), &exact(v)), exact(u));
        assert_eq!(times(&Dyadic::from(2.0), &exact(u)), exact(2.0 * u));
        let along = direction(&exact(DVec3::new(3e-200, 0.0, -4e-200)));
        assert!((along - DVec3::new(0.6, 0.0, -0.8)).length() < 1e-15);
        assert_eq!(direction(&exact(DVec3::ZERO)), DVec3::ZERO);
    }
}
