//! The cost model T = Nv·Cv + Np·Cp + Nu·Cu (Gottschalk, Lin and Manocha 1996; the update term: Klosowski et
//! al. 1998): fitted to measured queries, asked for others.

use crate::contact::Counters;

/// Rounds in which the errors of a fit are weighed anew.
#[cfg(any(test, feature = "unstable"))]
const REWEIGHTINGS: u32 = 8;

/// What one test or update costs, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CostModel {
    /// Cv: one test of two volumes.
    pub volume_test: f64,
    /// Cp: one test of two primitives.
    pub primitive_test: f64,
    /// Cu: one update of a volume.
    pub update: f64,
}

impl CostModel {
    /// The time that work would take, in nanoseconds.
    pub fn predict(&self, work: &Counters) -> f64 {
        let [cv, cp, cu] = self.coefficients();
        let [nv, np, nu] = numbers(work);
        nv * cv + np * cp + nu * cu
    }

    /// The non-negative coefficients that explain measured nanoseconds best, by least squares of errors relative to
    /// the geometric mean of prediction and measurement, so that too large and too small weigh alike; a coefficient
    /// that nothing was measured for is 0.
    #[cfg(any(test, feature = "unstable"))]
    pub fn fit(measured: &[(Counters, f64)]) -> CostModel {
        let mut scales: Vec<f64> = measured.iter().map(|(_, time)| *time).collect();
        let mut fitted = CostModel::fit_scaled(measured, &scales);
        // The predictions that the errors are relative to settle within a few rounds.
        for _ in 0..REWEIGHTINGS {
            for (scale, (work, time)) in scales.iter_mut().zip(measured) {
                let predicted = fitted.predict(work);
                *scale = if predicted > 0.0 { (predicted * time).sqrt() } else { *time };
            }
            fitted = CostModel::fit_scaled(measured, &scales);
        }
        fitted
    }

    /// The best coefficients when the error of each row counts in the unit of its scale.
    #[cfg(any(test, feature = "unstable"))]
    fn fit_scaled(measured: &[(Counters, f64)], scales: &[f64]) -> CostModel {
        // Three unknowns: all eight sets of coefficients that may be positive are tried.
        let mut best = (f64::INFINITY, [0.0; 3]);
        for mask in 0..8_u8 {
            let free: Vec<usize> = (0..3).filter(|i| mask >> i & 1 == 1).collect();
            let Some(c) = least_squares(measured, scales, &free) else { continue };
            if c.iter().any(|&x| x < 0.0) {
                continue;
            }
            let error = measured.iter().zip(scales).filter(|(_, scale)| **scale > 0.0);
            let error =
                error.map(|((work, time), scale)| ((dot(work, &c) - time) / scale).powi(2)).sum::<f64>();
            if error < best.0 {
                best = (error, c);
            }
        }
        let [volume_test, primitive_test, update] = best.1;
        CostModel { volume_test, primitive_test, update }
    }

    #[cfg(any(test, feature = "unstable"))]
    /// The root mean square of the relative errors of predictions.
    pub fn error(&self, measured: &[(Counters, f64)]) -> f64 {
        let c = self.coefficients();
        let sum: f64 = measured.iter().map(|row| relative_error(row, &c).powi(2)).sum();
        (sum / measured.len().max(1) as f64).sqrt()
    }

    fn coefficients(&self) -> [f64; 3] {
        [self.volume_test, self.primitive_test, self.update]
    }
}

fn numbers(work: &Counters) -> [f64; 3] {
    [work.volume_tests as f64, work.primitive_tests as f64, work.updates as f64]
}

#[cfg(any(test, feature = "unstable"))]
fn relative_error((work, time): &(Counters, f64), c: &[f64; 3]) -> f64 {
    if *time > 0.0 { dot(work, c) / time - 1.0 } else { 0.0 }
}

#[cfg(any(test, feature = "unstable"))]
fn dot(work: &Counters, c: &[f64; 3]) -> f64 {
    let n = numbers(work);
    n[0] * c[0] + n[1] * c[1] + n[2] * c[2]
}

#[cfg(any(test, feature = "unstable"))]
/// Solves the normal equations for the free coefficients, the others 0; `None` when they are singular.
fn least_squares(measured: &[(Counters, f64)], scales: &[f64], free: &[usize]) -> Option<[f64; 3]> {
    let n = free.len();
    let mut m = [[0.0; 4]; 3];
    for ((work, time), scale) in measured.iter().zip(scales).filter(|(_, scale)| **scale > 0.0) {
        let row = numbers(work).map(|x| x / scale);
        for (i, &p) in free.iter().enumerate() {
            for (j, &q) in free.iter().enumerate() {
                m[i][j] += row[p] * row[q];
            }
            m[i][3] += row[p] * time / scale;
        }
    }
    for i in 0..n {
        let pivot = (i..n).max_by(|&a, &b| m[a][i].abs().total_cmp(&m[b][i].abs()))?;
        m.swap(i, pivot);
        if m[i][i] == 0.0 {
            return None;
        }
        let head = m[i];
        for row in m.iter_mut().take(n).skip(i + 1) {
            let factor = row[i] / head[i];
            for (x, h) in row.iter_mut().zip(head).skip(i) {
                *x -= factor * h;
            }
        }
    }
    let mut c = [0.0; 3];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| m[i][j] * c[free[j]]).sum();
        c[free[i]] = (m[i][3] - known) / m[i][i];
    }
    c.iter().all(|x| x.is_finite()).then_some(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(volume_tests: u64, primitive_tests: u64, updates: u64) -> Counters {
        Counters { volume_tests, primitive_tests, updates }
    }

    #[test]
    fn known_coefficients_are_found_again() {
        let truth = CostModel { volume_test: 12.0, primitive_test: 85.0, update: 30.0 };
        let measured: Vec<_> = (1..40)
            .map(|i| work(i * 97 % 1000 + 1, i * 31 % 77, i * i % 53))
            .map(|w| (w, truth.predict(&w)))
            .collect();
        let fitted = CostModel::fit(&measured);
        for (x, y) in fitted.coefficients().into_iter().zip(truth.coefficients()) {
            assert!((x - y).abs() < 1e-6 * y, "{fitted:?}");
        }
        assert!(fitted.error(&measured) < 1e-9);
    }

    #[test]
    fn coefficients_are_never_negative_and_what_was_not_seen_costs_nothing() {
        let measured = [(work(100, 0, 0), 1000.0), (work(200, 10, 0), 1900.0), (work(50, 1, 0), 520.0)];
        let fitted = CostModel::fit(&measured);
        assert!(
            fitted.volume_test > 9.0 && fitted.primitive_test == 0.0 && fitted.update == 0.0,
            "{fitted:?}"
        );
        assert!((0.01..0.1).contains(&fitted.error(&measured)));
        assert_eq!(CostModel::fit(&[]), CostModel::default());
    }
}
