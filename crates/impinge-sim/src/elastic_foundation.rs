//! Two balls, one of them on an elastic foundation: the closed form between force and indentation.
//!
//! In an elastic foundation (Winkler 1867; Johnson, *Contact Mechanics*, 1985, section 4.3) each point of the surface
//! gives way on its own, by pressure / K. A soft ball of radius R₁ that overlaps a rigid one of radius R₂ by δ has its
//! points at distance ρ < R₂ from the rigid centre pushed out to R₂, straight away from that centre. With D = R₁ + R₂ − δ
//! the sphere's area element is 2π·R₁·ρ·dρ / D and the axial part of the push (ρ² + D² − R₁²) / (2Dρ), so with s = R₂ − ρ
//!
//! F = π·K·R₁/D² · ∫₀^δ s·((R₂ − s)² + D² − R₁²) ds,
//!
//! a polynomial; for δ → 0 it is the textbook's π·K·R·δ² with 1/R = 1/R₁ + 1/R₂.

use std::f64::consts::PI;

/// The force that presses a soft ball of modulus K (force by area and length) by `depth` into a rigid one; `radii` are
/// those of the soft and the rigid ball.
pub fn force(depth: f64, modulus: f64, radii: [f64; 2]) -> f64 {
    let [soft, rigid] = radii;
    let apart = soft + rigid - depth;
    let sum = rigid * rigid + apart * apart - soft * soft;
    let integral = depth * depth * (sum / 2.0 + depth * (depth / 4.0 - 2.0 * rigid / 3.0));
    PI * modulus * soft / (apart * apart) * integral
}

/// The indentation under a force, up to half the smaller radius; by bisection. The force grows with the depth that far: a
/// flat soft surface pushes a ball hardest at two thirds of its radius, and from there on sideways.
pub fn indentation(wanted: f64, modulus: f64, radii: [f64; 2]) -> f64 {
    let (mut low, mut high) = (0.0, 0.5 * radii[0].min(radii[1]));
    loop {
        let middle = 0.5 * (low + high);
        if !(low < middle && middle < high) {
            return middle;
        }
        *(if force(middle, modulus, radii) < wanted { &mut low } else { &mut high }) = middle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_the_integral_over_the_cap() {
        for (depth, radii) in [(0.1, [1.0, 0.8]), (0.2, [0.5, 2.0]), (0.12, [1.0, 0.25])] {
            let [soft, rigid] = radii;
            let apart = soft + rigid - depth;
            let rings = 200_000;
            let sum: f64 = (0..rings)
                .map(|k| {
                    let angle = PI * (f64::from(k) + 0.5) / f64::from(rings);
                    let (x, z) = (soft * angle.sin(), apart - soft * angle.cos());
                    let away = x.hypot(z);
                    let area = 2.0 * PI * soft * x * PI / f64::from(rings);
                    if away < rigid { (rigid - away) * (z / away) * area } else { 0.0 }
                })
                .sum();
            assert!((force(depth, 3.0, radii) / (3.0 * sum) - 1.0).abs() < 1e-6, "{depth} {radii:?}");
            assert!((indentation(force(depth, 3.0, radii), 3.0, radii) - depth).abs() < 1e-14);
        }
        let small = force(1e-5, 1.0, [1.0, 0.5]) / (PI / 3.0 * 1e-10);
        assert!((small - 1.0).abs() < 1e-4, "the textbook's limit: {small}");
    }
}
