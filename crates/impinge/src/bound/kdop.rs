//! Discrete orientation polytopes of Klosowski, Held, Mitchell, Sowizral and Zikan ("Efficient collision
//! detection using bounding volume hierarchies of k-DOPs", 1998), k = 6, 14, 18 and 26.
//!
//! Where we leave the paper: under a rotation it bounds a polytope by re-projecting its corners, which
//! have to be stored or climbed to. Here a turned slab direction d is written once a query as
//! Σ wᵢ·nᵢ, wᵢ ≥ 0, of the three slab normals whose cone holds d; then Σ wᵢ·hᵢ bounds every polytope
//! of the tree along d (the dual of the linear programme, with the basis fixed). Where those three planes
//! meet in a corner the bound is exact. The test is made along the slabs of both polytopes.

use glam::DVec3;

use crate::num::compact_sort::sort_few;
use crate::num::tolerance::ROUND_UP;

use super::{BoundRef, Bounding, Relative, Sphere, polytope};

/// A polytope between k = 2·H slabs: the axes, then the cube's diagonals, then the face diagonals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dop<const H: usize> {
    /// Smallest projections, rounded down.
    pub low: [f64; H],
    /// Largest projections, rounded up.
    pub high: [f64; H],
}

/// All slab directions, not normalised: so their projections are sums.
const DIRECTIONS: [[i8; 3]; 13] = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 1, 1],
    [1, 1, -1],
    [1, -1, 1],
    [1, -1, -1],
    [1, 1, 0],
    [1, -1, 0],
    [1, 0, 1],
    [1, 0, -1],
    [0, 1, 1],
    [0, 1, -1],
];

/// A slab and its weight in a direction; a negative weight takes the slab's lower side.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Term {
    slab: usize,
    weight: f64,
}

/// The slab directions of each polytope written by the slabs of the other, fixed for a query.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    a_slabs: Vec<[Term; 3]>,
    b_slabs: Vec<(DVec3, [Term; 3])>,
}

impl<const H: usize> Dop<H> {
    /// Where [`Relative`] keeps what the tests share.
    pub(super) const TURN: usize = match H {
        3 => 0,
        7 => 1,
        9 => 2,
        13 => 3,
        _ => panic!("k is 6, 14, 18 or 26"),
    };

    const EMPTY: Dop<H> = Dop { low: [f64::INFINITY; H], high: [f64::NEG_INFINITY; H] };

    const fn code(slab: usize) -> [i8; 3] {
        // 18 = axes and face diagonals: the cube's diagonals are left out.
        DIRECTIONS[if H == 9 && slab >= 3 { slab + 4 } else { slab }]
    }

    /// The direction of a slab; its length is 1, √2 or √3.
    pub fn direction(slab: usize) -> DVec3 {
        let [x, y, z] = Self::code(slab);
        DVec3::new(x.into(), y.into(), z.into())
    }

    /// The smallest polytope around points.
    pub fn around_points(points: &[DVec3]) -> Self {
        let mut dop = Self::EMPTY;
        for &p in points {
            let error = super::project_error(p);
            for i in 0..H {
                let x = Self::direction(i).dot(p);
                // Coordinates themselves are exact.
                let error = if i < 3 { 0.0 } else { error };
                dop.low[i] = dop.low[i].min(x - error);
                dop.high[i] = dop.high[i].max(x + error);
            }
        }
        dop
    }

    /// The polytope of the slabs that a smaller k keeps.
    pub fn fewer<const G: usize>(&self) -> Dop<G> {
        let place = |i: usize| (0..H).find(|&j| Self::code(j) == Dop::<G>::code(i));
        Dop {
            low: std::array::from_fn(|i| place(i).map_or(f64::NEG_INFINITY, |j| self.low[j])),
            high: std::array::from_fn(|i| place(i).map_or(f64::INFINITY, |j| self.high[j])),
        }
    }

    pub(super) fn turn(relative: &Relative) -> Turn {
        Turn {
            a_slabs: (0..H).map(|i| Self::decompose(relative.direction_to_b(Self::direction(i)))).collect(),
            b_slabs: (0..H)
                .map(|i| relative.direction_to_a(Self::direction(i)))
                .map(|d| (d, Self::decompose(d)))
                .collect(),
        }
    }

    /// Writes d as a sum of three slab directions with the signs that make all weights of outward
    /// normals non-negative. By the cube's symmetry only x ≥ y ≥ z ≥ 0 has to be known.
    fn decompose(d: DVec3) -> [Term; 3] {
        let mut axis = [0, 1, 2];
        sort_few(&mut axis, |&i: &usize, &j| d[j].abs().total_cmp(&d[i].abs()));
        let [x, y, z] = axis.map(|i| d[i].abs());
        let term = |code: [i8; 3], weight: f64| {
            let mut signed = [0; 3];
            for (place, &i) in axis.iter().enumerate() {
                signed[i] = if d[i] < 0.0 { -code[place] } else { code[place] };
            }
            let opposite = signed.map(|c: i8| -c);
            let slab = (0..H).find(|&s| Self::code(s) == signed || Self::code(s) == opposite).unwrap_or(0);
            Term { slab, weight: if Self::code(slab) == signed { weight } else { -weight } }
        };
        match H {
            3 => [term([1, 0, 0], x), term([0, 1, 0], y), term([0, 0, 1], z)],
            7 => [term([1, 0, 0], x - y), term([1, 1, 1], (y + z) / 2.0), term([1, 1, -1], (y - z) / 2.0)],
            9 if x >= y + z => [term([1, 0, 0], x - y - z), term([1, 1, 0], y), term([1, 0, 1], z)],
            9 => [
                term([1, 1, 0], (x + y - z) / 2.0),
                term([1, 0, 1], (x - y + z) / 2.0),
                term([0, 1, 1], (y + z - x) / 2.0),
            ],
            _ => [term([1, 0, 0], x - y), term([1, 1, 0], y - z), term([1, 1, 1], z)],
        }
    }

    #[inline]
    fn bound(&self, terms: &[Term; 3]) -> [f64; 2] {
        let (mut low, mut high) = (0.0, 0.0);
        for term in terms {
            let (p, q) = (term.weight * self.low[term.slab], term.weight * self.high[term.slab]);
            low += p.min(q);
            high += p.max(q);
        }
        [low, high]
    }

    fn reach(&self) -> DVec3 {
        let most = |i: usize| self.low[i].abs().max(self.high[i].abs());
        DVec3::new(most(0), most(1), most(2))
    }

    fn corner(&self, side: &[f64; H]) -> DVec3 {
        DVec3::new(side[0], side[1], side[2])
    }

    fn planes(&self) -> Vec<(DVec3, f64)> {
        (0..H)
            .flat_map(|i| [(Self::direction(i), self.high[i]), (-Self::direction(i), -self.low[i])])
            .collect()
    }
}

impl<const H: usize> Bounding for Dop<H> {
    fn enclose(triangles: &[[DVec3; 3]]) -> Self {
        Self::around_points(triangles.as_flattened())
    }

    fn merge(&self, other: &Self) -> Self {
        Dop {
            low: std::array::from_fn(|i| self.low[i].min(other.low[i])),
            high: std::array::from_fn(|i| self.high[i].max(other.high[i])),
        }
    }

    fn around(parts: &[BoundRef<'_>]) -> Self {
        parts.iter().fold(Self::EMPTY, |whole, part| {
            let part = part.as_dop().unwrap_or_else(|| {
                let spans: [[f64; 2]; H] = std::array::from_fn(|i| part.interval(Self::direction(i)));
                Dop { low: spans.map(|s| s[0]), high: spans.map(|s| s[1]) }
            });
            whole.merge(&part)
        })
    }

    fn overlaps(&self, other: &Self, relative: &Relative) -> bool {
        let made;
        let turn = match &relative.turns[Self::TURN] {
            ready if !ready.a_slabs.is_empty() => ready,
            _ => {
                made = Self::turn(relative);
                &made
            }
        };
        // No slab direction is longer than √3.
        let pad = 2.0 * relative.pad;
        for (i, terms) in turn.a_slabs.iter().enumerate() {
            let [low, high] = other.bound(terms);
            let shift = Self::direction(i).dot(relative.translation);
            if low + shift > self.high[i] + pad || high + shift + pad < self.low[i] {
                return false;
            }
        }
        for (i, (d, terms)) in turn.b_slabs.iter().enumerate() {
            let [low, high] = self.bound(terms);
            let shift = d.dot(relative.translation);
            if other.low[i] + shift > high + pad || other.high[i] + shift + pad < low {
                return false;
            }
        }
        true
    }

    fn interval(&self, d: DVec3) -> [f64; 2] {
        let [low, high] = self.bound(&Self::decompose(d));
        let slack = super::project_error(self.reach()) * d.abs().max_element();
        [low - slack, high + slack]
    }

    fn ball(&self) -> Sphere {
        let (low, high) = (self.corner(&self.low), self.corner(&self.high));
        let centre = low * 0.5 + high * 0.5;
        Sphere { centre, radius: self.farthest(centre) }
    }

    fn farthest(&self, p: DVec3) -> f64 {
        let (low, high) = (self.corner(&self.low), self.corner(&self.high));
        (p - low).abs().max((high - p).abs()).length() * ROUND_UP + f64::MIN_POSITIVE.sqrt()
    }

    fn contains(&self, p: DVec3) -> bool {
        (0..H).all(|i| (self.low[i]..=self.high[i]).contains(&Self::direction(i).dot(p)))
    }

    fn normals(&self, visit: &mut dyn FnMut(DVec3)) {
        (0..H).map(Self::direction).for_each(visit);
    }

    fn inflate(&mut self, by: f64) {
        let error = super::project_error(self.reach());
        for i in 0..H {
            let by = by * Self::direction(i).length() * ROUND_UP + error;
            self.low[i] -= by;
            self.high[i] += by;
        }
    }

    fn surface(&self) -> f64 {
        polytope::measure(&self.planes()).surface
    }

    fn volume(&self) -> f64 {
        polytope::measure(&self.planes()).volume
    }
}
