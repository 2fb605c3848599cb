//! How far apart what lies in two facets surely is.
//!
//! Guy and Debunne (2004), section 4.2: Δ = d − r·sin θ is how far the disc of a facet stays from the average plane
//! of a pair. The sum of both facets' Δ is the gap between their shadows on the normal of that plane; any other
//! direction gives a gap in the same way. Where we leave the paper: the facets have a thickness, the direction from
//! centre to centre and the two normals are tried too, and the largest gap counts, so that a positive one is a proof.

use glam::DVec3;

use super::shells::Facet;

/// The lower end and the upper end of a facet's shadow on a unit direction.
#[inline]
pub(super) fn shadow(facet: &Facet, direction: DVec3) -> [f64; 2] {
    let (at, slope) = (facet.centre.dot(direction), facet.normal.dot(direction));
    let across = facet.radius * (1.0 - slope * slope).max(0.0).sqrt();
    let [low, high] = if slope >= 0.0 {
        [facet.inner * slope, facet.outer * slope]
    } else {
        [facet.outer * slope, facet.inner * slope]
    };
    [at + low - across, at + high + across]
}

/// A gap between the shadows of two facets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gap {
    /// How wide (a length); negative where the shadows overlap.
    pub width: f64,
    /// Of unit length, from a to b; zero where none is known.
    pub direction: DVec3,
}

impl Gap {
    fn wider(self, other: Gap) -> Gap {
        if other.width > self.width { other } else { self }
    }
}

/// The widest gap of the directions that are tried: what lies in the facets is at least so far apart, up to the
/// rounding of coordinates.
#[inline]
pub(super) fn gap(a: &Facet, b: &Facet) -> Gap {
    let between = b.centre - a.centre;
    let distance = between.length();
    let direction = if distance > 0.0 { between / distance } else { DVec3::ZERO };
    let round = reach(a) + reach(b);
    let mut best = Gap { width: distance - round, direction };
    // Far apart, spheres tell nearly as much as cylinders.
    if distance > 2.0 * round {
        return best;
    }
    if distance > 0.0 {
        best = best.wider(Gap { width: shadow(b, direction)[0] - shadow(a, direction)[1], direction });
    }
    let along = |direction: DVec3| {
        let ([a_low, a_high], [b_low, b_high]) = (shadow(a, direction), shadow(b, direction));
        let (before, behind) = (b_low - a_high, a_low - b_high);
        match before >= behind {
            true => Gap { width: before, direction },
            false => Gap { width: behind, direction: -direction },
        }
    };
    best = best.wider(along(a.normal)).wider(along(b.normal));
    match average_normal(a.normal, b.normal) {
        Some(direction) if best.width <= 0.0 => best.wider(along(direction)),
        _ => best,
    }
}

/// The normal of the average plane: from a to b where the surfaces face each other; `None` where they face the same
/// way.
#[inline]
pub(super) fn average_normal(a: DVec3, b: DVec3) -> Option<DVec3> {
    let sum = a - b;
    let length = sum.length();
    (length > 1e-3).then(|| sum / length)
}

/// The radius of the sphere about the centre that holds the facet.
#[inline]
pub(super) fn reach(facet: &Facet) -> f64 {
    facet.radius + facet.outer.max(-facet.inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::unit;

    fn facet(seed: u64) -> Facet {
        let at = |i: u64| 2.0 * unit(seed, i) - 1.0;
        let normal = DVec3::new(at(0), at(1), at(2)).normalize_or(DVec3::X);
        let centre = 1.4 * DVec3::new(at(3), at(4), at(5));
        Facet {
            centre,
            normal,
            radius: unit(seed, 6),
            inner: -0.3 * unit(seed, 7),
            outer: 0.3 * unit(seed, 8),
        }
    }

    fn point(f: &Facet, seed: u64) -> DVec3 {
        let u = f.normal.any_orthonormal_vector();
        let (angle, r) = (std::f64::consts::TAU * unit(seed, 0), f.radius * unit(seed, 1).sqrt());
        let (x, y) = (r * angle.cos(), r * angle.sin());
        f.centre + u * x + f.normal.cross(u) * y + f.normal * (f.inner + (f.outer - f.inner) * unit(seed, 2))
    }

    #[test]
    fn the_gap_is_below_the_distance_of_any_two_points() {
        let (mut apart, mut near) = (0, 0);
        for k in 0..2000 {
            let (a, b) = (facet(2 * k), facet(2 * k + 1));
            let found = gap(&a, &b).width;
            let nearest = (0..64)
                .map(|i| point(&a, 1000 * k + i).distance(point(&b, 77 + 1000 * k + i)))
                .fold(f64::INFINITY, f64::min);
            assert!(found <= nearest + 1e-12, "{k}: {found} {nearest}");
            apart += usize::from(found > 0.0);
            near += usize::from(found <= 0.0);
        }
        assert!(apart > 400 && near > 100, "{apart} {near}");
    }
}
