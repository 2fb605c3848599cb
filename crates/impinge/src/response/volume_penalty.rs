//! Penalty forces from volumes of intersection (Faure, Allard, Falipou and Barbier 2008, section 3.3).
//!
//! A volume V has the energy E = ½·k·V². Its forces f = −k·V·∂V/∂x act on every vertex, or on a rigid body as the
//! force and torque they add up to; those on the two bodies are opposite. For implicit integration −∂f/∂x is taken as
//! k·∇V·∇Vᵀ, symmetric and never negative; the term of the second derivative of V is dropped, as in the paper. It is
//! applied as a product, k·∇V·(∇Vᵀ·x): the matrix is never there.
//!
//! Viscous friction is opposed to the relative velocity along the surfaces: −η·s·P·(v − v'), with s the area of a
//! sample, v and v' the velocities of the two surfaces and P the projection along the surface. The paper discards the
//! velocity along an image's axis; here P is that of the triangle's normal, so that an oblique contact resists sliding
//! alone. Its power −η·Σ s·|P·(v − v')|² is never positive.

use glam::DVec3;

use super::receiver::{self, Displacement, Load, Nodes, Receiver};
use super::volume_row::{self, VolumeRow};
use crate::{Error, Volume};

/// A penalty on volumes of intersection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VolumePenalty {
    /// The stiffness k: pressure by volume (a force by length⁵).
    pub stiffness: f64,
    /// The viscosity η: the force along a unit of area that slides with unit speed; 0 for no friction.
    pub viscosity: f64,
}

/// Forces of volumes, and how they change.
#[derive(Debug)]
pub struct PenaltyForces {
    /// The sum of ½·k·V².
    pub energy: f64,
    /// What acts on each body: pressure and friction.
    pub loads: Vec<Load>,
    options: VolumePenalty,
    nodes: Nodes,
    rows: Vec<VolumeRow>,
    bodies: usize,
}

impl VolumePenalty {
    /// The forces of volumes, which name their bodies a and b among the receivers; twice the same body for a volume in
    /// which it overlaps itself.
    ///
    /// The volumes have to be asked for with samples. What `moved` says of a receiver is its velocity here, the way in
    /// a unit of time; masses and compliances play no part.
    ///
    /// # Errors
    /// Numbers that are not finite, a volume without samples, a body or triangle that does not exist, or options
    /// outside their range.
    pub fn forces(
        &self,
        receivers: &[Receiver<'_>],
        overlaps: &[([usize; 2], &Volume)],
    ) -> Result<PenaltyForces, Error> {
        let VolumePenalty { stiffness, viscosity } = *self;
        if ![stiffness, viscosity].iter().all(|x| (0.0..f64::INFINITY).contains(x)) {
            let reason = format!("{self:?} has a negative or unusable number");
            return Err(Error::Argument { name: "penalty", reason });
        }
        receiver::check(receivers)?;
        volume_row::check(overlaps, receivers.len())?;
        let (mut nodes, mut rows) = (Nodes::default(), Vec::new());
        for (bodies, found) in overlaps {
            rows.extend(VolumeRow::new(*bodies, found, receivers, viscosity > 0.0, &mut nodes)?);
        }
        let energy = rows.iter().map(|row| 0.5 * stiffness * row.volume * row.volume).sum();
        let mut forces =
            PenaltyForces { energy, loads: Vec::new(), options: *self, nodes, rows, bodies: receivers.len() };
        forces.loads = forces.sum(|row, add| {
            row.load(stiffness * row.volume, &mut *add);
            for point in &row.points {
                point.load(point.slip() * (-viscosity * point.area), &mut *add);
            }
        });
        Ok(forces)
    }
}

impl PenaltyForces {
    /// The stiffness times a displacement of the bodies, k·∇V·(∇Vᵀ·x): the forces that would be needed for it, and so
    /// the opposite of what it adds to the loads.
    ///
    /// What is not said of a body or a vertex does not move.
    #[must_use]
    pub fn stiffness_product(&self, displacements: &[Displacement]) -> Vec<Load> {
        let values = self.nodes.values(displacements);
        self.sum(|row, add| row.load(-self.options.stiffness * row.growth(|node| values[node]), add))
    }

    /// The damping times velocities of the bodies: the opposite of the viscous friction at them.
    #[must_use]
    pub fn damping_product(&self, velocities: &[Displacement]) -> Vec<Load> {
        let values = self.nodes.values(velocities);
        self.sum(|row, add| {
            for point in &row.points {
                point.load(point.slip_by(&values) * (self.options.viscosity * point.area), &mut *add);
            }
        })
    }

    /// What all rows add up to.
    fn sum(&self, load: impl Fn(&VolumeRow, &mut dyn FnMut(usize, [DVec3; 2]))) -> Vec<Load> {
        let mut sums = vec![[DVec3::ZERO; 2]; self.nodes.len()];
        for row in &self.rows {
            load(row, &mut |node, [force, torque]| {
                sums[node][0] += force;
                sums[node][1] += torque;
            });
        }
        self.nodes.loads(&sums, self.bodies)
    }
}

#[cfg(test)]
#[path = "volume_penalty_tests.rs"]
mod tests;
