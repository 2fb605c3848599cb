//! Deformations as sums of travelling waves, with bounds of how much they stretch and bend.
//!
//! A point x of the body at rest is displaced by u(x, p) = Σ a·d·sin(k·x + 2π·n·p): amplitude a, unit direction d,
//! wave vector k, and n whole oscillations while the phase p goes from 0 to 1. Waves longer than the body bend it,
//! shorter ones travel over its surface. As |sin′| ≤ 1, |u(x) − u(y)| ≤ Σ a·|k| · |x − y|.

use std::f64::consts::TAU;

use glam::DVec3;

/// One travelling wave.
#[derive(Debug, Clone, Copy)]
pub struct Wave {
    /// How far a point goes to each side.
    pub amplitude: f64,
    /// Where to; of any length.
    pub direction: DVec3,
    /// The direction of travel; 2π over its length is the wave's length.
    pub vector: DVec3,
    /// Oscillations in one phase from 0 to 1.
    pub oscillations: u32,
}

/// The waves of a body with what its vertices contribute, so that a frame costs no sines of vertices.
#[derive(Debug, Clone)]
pub struct Waves {
    waves: Vec<Wave>,
    /// Sine and cosine of k·x, wave by wave, vertex by vertex.
    at_vertices: Vec<Vec<[f64; 2]>>,
}

impl Waves {
    /// The waves over these points at rest.
    pub fn over(points: &[DVec3], waves: &[Wave]) -> Waves {
        let at = |wave: &Wave| points.iter().map(|p| wave.vector.dot(*p).sin_cos().into()).collect();
        Waves { waves: waves.to_vec(), at_vertices: waves.iter().map(at).collect() }
    }

    /// The largest stretch: the Lipschitz constant of the displacement.
    pub fn stretch(&self) -> f64 {
        self.waves.iter().map(|w| w.amplitude * w.vector.length()).fold(0.0, |sum, x| sum + x)
    }

    /// The farthest that any point goes.
    pub fn farthest(&self) -> f64 {
        self.waves.iter().map(|w| w.amplitude).fold(0.0, |sum, x| sum + x)
    }

    /// The farthest that any point goes from one phase to another: |sin(x + d) − sin(x)| ≤ 2·|sin(d/2)|.
    pub fn step(&self, from: f64, to: f64) -> f64 {
        let half = |w: &Wave| (0.5 * TAU * f64::from(w.oscillations) * (to - from)).sin().abs();
        self.waves.iter().map(|w| 2.0 * w.amplitude * half(w)).fold(0.0, |sum, x| sum + x)
    }

    /// Adds the displacement at a phase to the points at rest.
    pub fn displace(&self, phase: f64, points: &mut [DVec3]) {
        for (wave, at_vertices) in self.waves.iter().zip(&self.at_vertices) {
            let (sin, cos) = (TAU * f64::from(wave.oscillations) * phase).sin_cos();
            let along = wave.direction.normalize_or_zero() * wave.amplitude;
            for (p, [s, c]) in points.iter_mut().zip(at_vertices) {
                *p += along * (s * cos + c * sin);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use impinge::num::random::unit;

    use super::*;

    #[test]
    fn displacements_stay_within_their_bounds_and_reach_a_good_part_of_them() {
        let wave =
            Wave { amplitude: 0.05, direction: DVec3::Y, vector: DVec3::new(3.0, 0.0, 4.0), oscillations: 2 };
        let point = |i: u64| DVec3::from_array([0, 1, 2].map(|axis| unit(7, 3 * i + axis)));
        let points: Vec<DVec3> = (0..400).map(point).collect();
        let waves = Waves::over(&points, &[wave, Wave { direction: DVec3::X, oscillations: 1, ..wave }]);
        let mut most = [0.0_f64; 2];
        for phase in [0.0, 0.3, 0.8] {
            let mut moved = points.clone();
            waves.displace(phase, &mut moved);
            let u: Vec<DVec3> = moved.iter().zip(&points).map(|(m, p)| *m - *p).collect();
            most[1] = u.iter().map(|u| u.length()).fold(most[1], f64::max);
            for i in 1..points.len() {
                let stretch = (u[i] - u[i - 1]).length() / (points[i] - points[i - 1]).length();
                most[0] = most[0].max(stretch);
            }
        }
        let mut states = [points.clone(), points.clone()];
        for (state, phase) in states.iter_mut().zip([0.2, 0.22]) {
            waves.displace(phase, state);
        }
        let step = states[0].iter().zip(&states[1]).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
        assert!(step <= waves.step(0.2, 0.22) && step > 0.5 * waves.step(0.2, 0.22), "{step}");
        let bounds = [waves.stretch(), waves.farthest()];
        assert!(most[0] <= bounds[0] && most[1] <= bounds[1], "{most:?} beyond {bounds:?}");
        assert!(most[0] > 0.2 * bounds[0] && most[1] > 0.5 * bounds[1], "{most:?} of {bounds:?}");
    }
}
