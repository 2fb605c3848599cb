//! The images of a periodic cell along its shortest vectors, and which of them is nearest.
//!
//! Fractional coordinates along slanted vectors, rounded, lead to an image that need not be the nearest. So the vectors
//! are reduced first, after Minkowski: none becomes shorter by adding the others, once each or not at all, either way
//! (Nguyen and Stehlé, "Low-dimensional lattice basis reduction revisited", 2009). With b₁, b₂, b₃ the reduced vectors, the
//! shortest first, and q₁, q₂, q₃ what of each is perpendicular to those before it, |q₂|² ≥ ¾|b₂|² and |q₃|² ≥ ½|b₃|². The
//! nearest image is no farther than half the diagonal of the box of the q: at most 1.12 |q₃|, and in the plane of b₁ and b₂
//! 0.77 |q₂|. Along q₃, and then along q₂, it is so the rounded one or one of the two beside it, and along b₁ the rounded
//! one: nine to choose from.

use glam::DVec3;

use super::Domain;
use crate::num::compact_sort::sort_few;
use crate::num::tolerance::{IMAGE_MARGIN, REDUCED_ENOUGH};

/// The periodic vectors of a cell, reduced.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReducedCell {
    /// The shortest first; as many as are periodic.
    vectors: [DVec3; 3],
    /// Each as a sum of the cell's own vectors: whole numbers.
    sums: [[f64; 3]; 3],
    /// What of each is perpendicular to those before it.
    upright: [DVec3; 3],
    rank: usize,
    /// All are perpendicular to each other: rounding finds the nearest.
    is_box: bool,
}

impl ReducedCell {
    /// Of the vectors along which a domain is periodic.
    pub fn of(domain: &Domain) -> ReducedCell {
        let (mut vectors, mut sums, mut rank) = ([DVec3::ZERO; 3], [[0.0; 3]; 3], 0);
        for k in (0..3).filter(|&k| domain.is_periodic()[k]) {
            (vectors[rank], sums[rank][k]) = (domain.vector(k), 1.0);
            rank += 1;
        }
        while shorten(&mut sums[..rank], &mut vectors[..rank], domain) {}
        let mut order = [0, 1, 2];
        sort_few(&mut order[..rank], |&a: &usize, &b| {
            vectors[a].length_squared().total_cmp(&vectors[b].length_squared())
        });
        (vectors, sums) = (order.map(|k| vectors[k]), order.map(|k| sums[k]));
        let mut upright = vectors;
        for k in 1..rank {
            for j in 0..k {
                upright[k] -= upright[k].project_onto(upright[j]);
            }
        }
        let is_box = upright == vectors;
        ReducedCell { vectors, sums, upright, rank, is_box }
    }

    /// How many of the reduced vectors take a difference to its shortest image, and that image.
    pub fn nearest(&self, d: DVec3) -> ([f64; 3], DVec3) {
        let rounded = self.rounded(d, [0.0; 3]);
        // No other can be nearer than half the shortest vector.
        if self.is_box || 4.0 * rounded.1.length_squared() <= self.vectors[0].length_squared() {
            return rounded;
        }
        let beside = |k: usize| if k < self.rank { &[0.0, -1.0, 1.0][..] } else { &[0.0][..] };
        let mut best = rounded;
        for &b in beside(1) {
            for &c in beside(2) {
                let image = self.rounded(d, [0.0, b, c]);
                if image.1.length_squared() < best.1.length_squared() {
                    best = image;
                }
            }
        }
        best
    }

    /// The image whose coordinates, from the last to the first, are rounded, and then so many further away.
    fn rounded(&self, mut d: DVec3, further: [f64; 3]) -> ([f64; 3], DVec3) {
        let mut steps = [0.0; 3];
        for k in (0..self.rank).rev() {
            let along = d.dot(self.upright[k]) / self.upright[k].length_squared();
            steps[k] = further[k] - along.round();
            d += steps[k] * self.vectors[k];
        }
        (steps, d)
    }

    /// The sum of reduced vectors as one of the cell's own.
    pub fn in_own_vectors(&self, steps: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|k| (0..self.rank).map(|i| steps[i] * self.sums[i][k]).sum())
    }

    /// A place moved by reduced vectors.
    pub fn moved(&self, x: DVec3, steps: [f64; 3]) -> DVec3 {
        (0..self.rank).fold(x, |x, k| x + steps[k] * self.vectors[k])
    }

    /// How many of each reduced vector, at least and at most, take differences within a box to their shortest images.
    pub fn steps_of(&self, [low, high]: [DVec3; 2]) -> [[f64; 2]; 3] {
        let farthest = 0.5 * self.upright[..self.rank].iter().map(|q| q.length_squared()).sum::<f64>().sqrt();
        let coordinates = self.coordinates();
        std::array::from_fn(|k| {
            if k >= self.rank {
                return [0.0; 2];
            }
            let (g, middle) = (coordinates[k], 0.5 * (low + high));
            let (at, half) = (g.dot(middle), g.abs().dot(0.5 * (high - low)));
            let room = (half + farthest * g.length()) * (1.0 + IMAGE_MARGIN) + at.abs() * IMAGE_MARGIN;
            [(-at - room).ceil(), (-at + room).floor()]
        })
    }

    /// What gives the coordinate along each reduced vector, of the part of a place that lies in their span.
    fn coordinates(&self) -> [DVec3; 3] {
        if self.is_box {
            return self.vectors.map(|b| b / b.length_squared());
        }
        let mut all = self.vectors;
        if self.rank == 2 {
            all[2] = all[0].cross(all[1]).normalize_or_zero();
        }
        let crossed: [DVec3; 3] = std::array::from_fn(|k| all[(k + 1) % 3].cross(all[(k + 2) % 3]));
        crossed.map(|c| c / all[0].dot(crossed[0]))
    }
}

/// Makes a vector shorter by the others, if that is possible.
fn shorten(sums: &mut [[f64; 3]], vectors: &mut [DVec3], domain: &Domain) -> bool {
    let count = vectors.len();
    for i in 0..count {
        let rounded = |j: usize| -(vectors[i].dot(vectors[j]) / vectors[j].length_squared()).round();
        let others = [(i + 1) % count, (i + 2) % count];
        let by_one = others.into_iter().filter(|&j| j != i).map(|j| [(j, rounded(j)), (j, 0.0)]);
        let by_both = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
            .map(|[s, t]| [(others[0], s), (others[1], t)])
            .into_iter()
            .filter(|_| count == 3);
        let sum = |added: [(usize, f64); 2]| -> [f64; 3] {
            std::array::from_fn(|k| {
                added.iter().fold(sums[i][k], |sum, &(j, times)| sum + times * sums[j][k])
            })
        };
        let most = vectors[i].length_squared() * REDUCED_ENOUGH;
        let shorter = by_one
            .chain(by_both)
            .map(|added| (sum(added), domain.shifted(DVec3::ZERO, sum(added))))
            .find(|(_, vector)| vector.length_squared() < most);
        if let Some(shorter) = shorter {
            (sums[i], vectors[i]) = shorter;
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::unit;

    #[test]
    fn the_nearest_image_is_that_of_a_wide_search() {
        let cells = [
            [[1.0, 0.0, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 4.0]],
            [[1.0, 0.0, 0.0], [0.5, 0.75_f64.sqrt(), 0.0], [0.5, 0.3, 0.8]],
            [[2.0, 0.1, 0.3], [-0.9, 1.1, 0.2], [0.7, -0.6, 0.9]],
            [[1.0, 0.0, 0.0], [2.4, 1.0, 0.0], [-1.3, 0.7, 1.5]],
            [[1.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.5]],
        ];
        let mut beside = 0;
        for (c, vectors) in cells.into_iter().enumerate() {
            for along in [[true; 3], [true, true, false], [false, true, false], [true, false, true]] {
                let domain = Domain::triclinic([0.0; 3], vectors).unwrap().along(along);
                let cell = ReducedCell::of(&domain);
                for n in 0..120 {
                    let d: [f64; 3] = std::array::from_fn(|k| 6.0 * unit(c as u64, (3 * n + k) as u64) - 3.0);
                    let (steps, image) = cell.nearest(d.into());
                    let range = |k: usize| if along[k] { -24..=24 } else { 0..=0 };
                    let mut least = f64::INFINITY;
                    for a in range(0) {
                        for b in range(1) {
                            for c in range(2) {
                                let shift = [a, b, c].map(f64::from);
                                least = least.min(domain.shifted(d.into(), shift).length());
                            }
                        }
                    }
                    assert!((image.length() - least).abs() < 1e-12, "{vectors:?} {along:?} {d:?}: {least}");
                    let same = domain.shifted(d.into(), cell.in_own_vectors(steps));
                    assert!(same.distance(image) < 1e-12);
                    assert!(cell.moved(d.into(), steps).distance(image) < 1e-12);
                    beside += u32::from(cell.rounded(d.into(), [0.0; 3]).0 != steps);
                    let box_around = [DVec3::from(d) - 0.1, DVec3::from(d) + 0.2];
                    let ranges = cell.steps_of(box_around);
                    assert!((0..3).all(|k| (ranges[k][0]..=ranges[k][1]).contains(&steps[k])));
                }
            }
        }
        assert!(beside > 50, "{beside}");
    }

    #[test]
    fn very_slanted_vectors_become_short_ones() {
        let cell = Domain::triclinic([0.0; 3], [[1.0, 0.0, 0.0], [40.4, 1.0, 0.0], [-30.3, 10.6, 1.5]]);
        let reduced = ReducedCell::of(&cell.unwrap());
        assert!(reduced.vectors.iter().all(|b| b.length() < 2.0), "{:?}", reduced.vectors);
    }
}
