//! A body in one frame: its shells ride on the vertices as they are now, and facets are placed when they are looked
//! at, from three vertices each. Nothing is computed for a whole mesh.

use glam::{DMat3, DVec3};

use super::shells::{Facet, Shells};
use super::triangle_pair::Triangle;
use crate::Pose;
use crate::num::tolerance::{PLACING_ERROR, ROUND_UP, STRETCH};

/// A body in one frame.
#[derive(Clone, Copy)]
pub(super) struct Posed<'f> {
    pub shells: &'f Shells,
    /// In the body's frame.
    pub vertices: &'f [DVec3],
    pub pose: &'f Pose,
    /// The stated largest deformation (no unit).
    pub stretch: f64,
    /// The pose's matrix.
    pub turn: DMat3,
    rotation: bool,
}

impl<'f> Posed<'f> {
    pub fn new(shells: &'f Shells, vertices: &'f [DVec3], pose: &'f Pose, stretch: f64) -> Posed<'f> {
        Posed { shells, vertices, pose, stretch, turn: pose.matrix(), rotation: pose.is_rotation() }
    }

    /// A triangle in the world: the doubles that every decision is about.
    #[inline]
    pub fn triangle(&self, triangle: u32) -> Triangle {
        let corners = self.shells.levels[0].corners[triangle as usize];
        Triangle::new(corners.map(|v| self.pose.apply(self.vertices[v as usize])))
    }

    /// A facet in the world.
    #[inline]
    pub fn facet(&self, level: u8, facet: u32) -> Facet {
        self.place(self.shells.facet_at(usize::from(level), facet, self.vertices, self.stretch))
    }

    /// A facet of the body's frame in the world.
    #[inline]
    pub fn place(&self, own: Facet) -> Facet {
        let placed = Facet { centre: self.pose.apply(own.centre), normal: self.turn * own.normal, ..own };
        if self.rotation { placed } else { skewed(&placed) }
    }

    /// The centre of a facet in the world; cheaper than the facet.
    #[inline]
    pub fn centre(&self, level: usize, facet: u32) -> DVec3 {
        let [a, b, c] = self.shells.levels[level].corners[facet as usize].map(|v| self.vertices[v as usize]);
        self.pose.apply((a + b + c) / 3.0)
    }

    /// A length in the body's frame as it is in the world at most.
    #[inline]
    pub fn placed_length(&self, length: f64) -> f64 {
        if self.rotation { length } else { STRETCH * length }
    }

    /// The level of the fewest facets.
    pub fn coarsest(&self) -> usize {
        self.shells.levels.len() - 1
    }

    /// Centre and radius of a ball in the body's frame that holds the surface as it is now. Reads every vertex, and is
    /// asked for when a body is first seen or has changed much.
    pub fn ball(&self) -> (DVec3, f64) {
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let [low, high] = self.vertices.iter().fold(start, |[l, h], p| [l.min(*p), h.max(*p)]);
        let centre = 0.5 * low + 0.5 * high;
        let far = self.vertices.iter().map(|p| p.distance(centre)).fold(0.0, f64::max);
        (centre, far * ROUND_UP)
    }

    /// Rounding of placed coordinates and of the gaps between shadows (a length), for a body within a ball.
    pub fn rounding(&self, ball: (DVec3, f64)) -> f64 {
        let size = self.pose.translation().abs().max_element() + STRETCH * (ball.0.length() + ball.1);
        4.0 * PLACING_ERROR * size + f64::MIN_POSITIVE
    }
}

/// A facet that a pose has placed whose matrix is a rotation only within its tolerance.
#[cold]
fn skewed(facet: &Facet) -> Facet {
    let grown = (STRETCH - 1.0) * (facet.radius + facet.outer - facet.inner);
    Facet {
        normal: facet.normal.normalize(),
        radius: facet.radius + grown,
        inner: facet.inner - grown,
        outer: facet.outer + grown,
        ..*facet
    }
}

/// How far two bodies have moved against each other at most since the last frame, as rigid ones: the largest
/// displacement of any point in `ball_b`, seen from a, or the sum of both in the world where a pose is not rigid.
pub(super) fn relative_step(before: &[Pose; 2], now: &[Pose; 2], balls: &[(DVec3, f64); 2]) -> f64 {
    if before == now {
        return 0.0;
    }
    if before.iter().chain(now).all(Pose::is_rotation) {
        let seen = |[a, b]: &[Pose; 2]| {
            let back = a.matrix().transpose();
            (back * b.matrix(), back * (b.translation() - a.translation()))
        };
        return displacement(seen(before), seen(now), balls[1], 1.0);
    }
    let own = |pose: &Pose| (pose.matrix(), pose.translation());
    // The Frobenius norm is not below the spectral one, whatever the matrices are.
    let frobenius = std::f64::consts::SQRT_2 * ROUND_UP;
    (0..2).map(|k| displacement(own(&before[k]), own(&now[k]), balls[k], frobenius)).sum()
}

/// The displacement of b against a in the last step as a field over the world: of a point x it is M·x + t.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    pub turn: DMat3,
    shift: DVec3,
}

impl Flow {
    /// How b has moved against a, as rigid bodies.
    pub fn new(before: &[Pose; 2], now: &[Pose; 2]) -> Flow {
        let [a, b] = [0, 1].map(|k| {
            // Where a point of the body that is at x now was before: R₀·R₁⁻¹·(x − t₁) + t₀.
            let back = before[k].matrix() * now[k].matrix().transpose();
            (DMat3::IDENTITY - back, back * now[k].translation() - before[k].translation())
        });
        Flow { turn: b.0 - a.0, shift: b.1 - a.1 }
    }

    /// The displacement at a point.
    #[inline]
    pub fn at(&self, x: DVec3) -> DVec3 {
        self.turn * x + self.shift
    }

    /// By how much the displacements of points within some distance of a place differ from those of another step at most.
    pub fn change_from(&self, before: &Flow, place: DVec3, distance: f64) -> f64 {
        let change = Flow { turn: self.turn - before.turn, shift: self.shift - before.shift };
        // Of any matrix the Frobenius norm is not below the spectral one.
        change.at(place).length() + std::f64::consts::SQRT_2 * largest_turn(change.turn) * distance
    }
}

/// The norm of the difference of two rotations, rounded up: by how much a unit vector turns at most.
///
/// The difference of R and R′ is that of the identity and R′·R⁻¹, turned: its singular values are 2·sin(θ/2) twice and
/// 0, so that its Frobenius norm is √2 times the spectral one.
#[inline]
pub(super) fn largest_turn(difference: DMat3) -> f64 {
    let squares = difference.to_cols_array().iter().map(|x| x * x).sum::<f64>();
    (0.5 * squares).sqrt() + PLACING_ERROR
}

/// The largest displacement of a point in a ball between two placements, whose difference has at most `factor` times
/// the norm of one of rotations.
fn displacement(
    before: (DMat3, DVec3),
    now: (DMat3, DVec3),
    (centre, radius): (DVec3, f64),
    factor: f64,
) -> f64 {
    let turned = now.0 - before.0;
    let moved = (turned * centre + (now.1 - before.1)).length();
    let norm = factor * largest_turn(turned);
    let size = centre.length() + radius + now.1.length() + before.1.length();
    moved + norm * radius + 4.0 * PLACING_ERROR * size
}
