//! An order of points in which neighbours follow each other.
//!
//! Morton (1966): the bits of the three coordinates, interleaved, number the cells of a grid along a curve
//! that stays near itself. Questions of neighbours touch the same nodes and take the same turns, which saves a
//! quarter of their time on 60,000 triangles; that is worth a sort unless the points come so already.

use glam::DVec3;

use crate::num::parallel;

/// Fewer points than this are taken as they come: sorted they would still be far apart.
const WORTH_SORTING: usize = 512;

/// Mean step between points, relative to the diagonal of their box, below which they follow each other
/// (no unit).
const SHORT_STEP: f64 = 1.0 / 16.0;

/// Cells along each side of the grid, a power of two.
const CELLS: u32 = 1 << 10;

/// Asks for all points, in a good order, and puts the answers into the order of the points.
pub(crate) fn in_good_order<R: Copy>(points: &[DVec3], mut ask: impl FnMut(&[DVec3]) -> Vec<R>) -> Vec<R> {
    let Some(order) = order(points) else { return ask(points) };
    let sorted: Vec<DVec3> = order.iter().map(|&i| points[i as usize]).collect();
    let answers = ask(&sorted);
    let Some(&any) = answers.first() else { return answers };
    let mut placed = vec![any; answers.len()];
    for (&i, answer) in order.iter().zip(answers) {
        placed[i as usize] = answer;
    }
    placed
}

/// The points in the order of their cells; `None` where it is not worth it.
fn order(points: &[DVec3]) -> Option<Vec<u32>> {
    if points.len() < WORTH_SORTING || u32::try_from(points.len()).is_err() {
        return None;
    }
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for p in points {
        (low, high) = (low.min(*p), high.max(*p));
    }
    let way: f64 = points.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
    // Negated, so that numbers that are none are left as they are.
    if !(way > SHORT_STEP * low.distance(high) * points.len() as f64) {
        return None;
    }
    let scale = f64::from(CELLS - 1) / (high - low).max_element();
    let mut keys: Vec<u64> = points.iter().zip(0..).map(|(p, i)| key((*p - low) * scale) << 32 | i).collect();
    parallel::sort(&mut keys);
    Some(keys.into_iter().map(|key| key as u32).collect())
}

/// The number of a cell along the curve.
fn key(cell: DVec3) -> u64 {
    let [x, y, z] = cell.to_array().map(|x| spread(x as u32 & (CELLS - 1)));
    u64::from(x | y << 1 | z << 2)
}

/// Ten bits with two zeros between each.
fn spread(x: u32) -> u32 {
    let x = (x | x << 16) & 0x0300_00ff;
    let x = (x | x << 8) & 0x0300_f00f;
    let x = (x | x << 4) & 0x030c_30c3;
    (x | x << 2) & 0x0924_9249
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;

    #[test]
    fn bits_are_spread_by_three() {
        for bit in 0..10 {
            assert_eq!(spread(1 << bit), 1 << (3 * bit));
        }
        assert_eq!(key(DVec3::new(1.0, 0.0, 1023.0)) & 0b1111, 0b0101);
    }

    #[test]
    fn scattered_points_are_brought_together_and_answers_back() {
        let points = procedural::positions(5000, DVec3::new(-1.0, 3.0, -2.0), DVec3::new(2.0, 4.0, 2.0), 3);
        let way = |points: &[DVec3]| points.windows(2).map(|p| p[0].distance(p[1])).sum::<f64>();
        let answers = in_good_order(&points, |sorted| {
            assert!(way(sorted) < 0.2 * way(&points));
            // Once in order they stay so.
            assert!(order(sorted).is_none());
            sorted.to_vec()
        });
        assert_eq!(answers, points);
    }

    #[test]
    fn lines_few_points_and_senseless_ones_stay() {
        let line: Vec<DVec3> = (0..4000).map(|k| DVec3::X * f64::from(k)).collect();
        assert!(order(&line).is_none() && order(&line[..3]).is_none() && order(&[]).is_none());
        assert!(order(&vec![DVec3::ONE; 1000]).is_none());
        let odd: Vec<DVec3> =
            (0..1000).map(|k| DVec3::splat([1.0, f64::NAN, -f64::INFINITY, 1e300][k % 4])).collect();
        let answers = in_good_order(&odd, <[DVec3]>::to_vec);
        assert!(
            answers
                .iter()
                .zip(&odd)
                .all(|(a, b)| a.to_array().map(f64::to_bits) == b.to_array().map(f64::to_bits))
        );
        let zigzag: Vec<DVec3> = (0..1000).map(|k| DVec3::X * f64::from(k % 2)).collect();
        assert_eq!(in_good_order(&zigzag, <[DVec3]>::to_vec), zigzag);
    }
}
