//! One body's frame seen from another's, with the errors that a conservative test must allow for.
//!
//! The truth is the placed doubles of [`Pose::apply`]. A test works in a's frame instead, where b's
//! volumes arrive through M = Ra⁻¹·Rb and t = Ra⁻¹·(tb − ta). A pose may be off orthonormal by
//! [`crate::num::tolerance::POSE_ORTHONORMALITY`], so M is treated as a general matrix: `stretch` bounds
//! its norm, `skew` the entries of MᵀM − I, and `pad` everything that rounding can move.

use glam::{DMat3, DVec3};

use super::kdop::Turn;
use super::{Bounding, Dop, Volume};
use crate::Pose;
use crate::num::tolerance::PLACING_ERROR;

/// How points of b's frame lie in a's frame.
#[derive(Debug, Clone)]
pub struct Relative {
    /// b's directions in a's frame.
    pub matrix: DMat3,
    /// The inverse of `matrix`.
    pub inverse: DMat3,
    /// b's origin in a's frame.
    pub translation: DVec3,
    /// |M·y| ≤ stretch·|y| for every y.
    pub stretch: f64,
    /// |M⁻¹·x| ≤ squeeze·|x| for every x.
    pub squeeze: f64,
    /// No entry of MᵀM − I is larger.
    pub skew: f64,
    /// What rounding can move, a length in a's frame. Gaps up to this say nothing.
    pub pad: f64,
    /// World length of a unit vector of a's frame, at least.
    pub shrink: f64,
    pub(super) absolute: DMat3,
    pub(super) turns: [Turn; 4],
}

impl Relative {
    /// b in a's frame; `reach` is the largest distance of a vertex from its body's origin.
    pub fn new(pose_a: &Pose, reach_a: f64, pose_b: &Pose, reach_b: f64) -> Relative {
        let from_world = pose_a.matrix().inverse();
        let matrix = from_world * pose_b.matrix();
        let (ta, tb) = (pose_a.translation(), pose_b.translation());
        let size = reach_a + reach_b + ta.abs().element_sum() + tb.abs().element_sum();
        Relative {
            matrix,
            inverse: matrix.inverse(),
            translation: from_world * (tb - ta),
            stretch: norm_bound(matrix),
            squeeze: norm_bound(matrix.inverse()),
            skew: skew_bound(matrix),
            pad: PLACING_ERROR * size + f64::MIN_POSITIVE,
            shrink: 1.0 / norm_bound(from_world),
            absolute: DMat3::from_cols(matrix.x_axis.abs(), matrix.y_axis.abs(), matrix.z_axis.abs()),
            turns: Default::default(),
        }
    }

    /// Prepares what tests of this volume share; without it they only take longer.
    pub fn prepare(&mut self, volume: Volume) {
        let (slot, turn) = match volume {
            Volume::Dop6 => (Dop::<3>::TURN, Dop::<3>::turn(self)),
            Volume::Dop14 => (Dop::<7>::TURN, Dop::<7>::turn(self)),
            Volume::Dop18 => (Dop::<9>::TURN, Dop::<9>::turn(self)),
            Volume::Dop26 => (Dop::<13>::TURN, Dop::<13>::turn(self)),
            _ => return,
        };
        self.turns[slot] = turn;
    }

    /// A point of b's frame in a's.
    #[inline]
    pub fn point(&self, p: DVec3) -> DVec3 {
        self.matrix * p + self.translation
    }

    /// A point of a's frame in b's.
    #[inline]
    pub fn point_back(&self, p: DVec3) -> DVec3 {
        self.inverse * (p - self.translation)
    }

    /// The direction d' of b's frame with d·(M·y) = d'·y.
    #[inline]
    pub fn direction_to_b(&self, d: DVec3) -> DVec3 {
        self.matrix.transpose() * d
    }

    /// The direction d of a's frame with d·(M·y) = n·y.
    #[inline]
    pub fn direction_to_a(&self, n: DVec3) -> DVec3 {
        self.inverse.transpose() * n
    }

    /// The gap between two volumes along d of a's frame, at least: a length after division by |d|, and
    /// not above zero when their projections meet.
    #[inline]
    pub fn gap_along<A: Bounding, B: Bounding>(&self, a: &A, b: &B, d: DVec3) -> f64 {
        let [a_low, a_high] = a.interval(d);
        let [b_low, b_high] = b.interval(self.direction_to_b(d));
        let shift = d.dot(self.translation);
        // The direction's own rounding moves a projection by less than the pad.
        (b_low + shift - a_high).max(a_low - (b_high + shift)) - self.pad * d.length()
    }
}

/// At least the spectral norm: the root of the largest absolute row sum of MᵀM.
fn norm_bound(m: DMat3) -> f64 {
    let g = m.transpose() * m;
    let sum = |c: DVec3| c.abs().element_sum();
    sum(g.x_axis).max(sum(g.y_axis)).max(sum(g.z_axis)).sqrt() * (1.0 + PLACING_ERROR)
}

fn skew_bound(m: DMat3) -> f64 {
    let g = m.transpose() * m - DMat3::IDENTITY;
    let most = |c: DVec3| c.abs().max_element();
    most(g.x_axis).max(most(g.y_axis)).max(most(g.z_axis)) + PLACING_ERROR
}
