//! The volume of intersection as a constraint: no overlap grows, bodies bounce, and friction follows Coulomb.
//!
//! Faure, Allard, Falipou and Barbier (2008, section 5) leave it open: "the intersection volume could be seen as a
//! scalar constraint and its gradient as the associated row in the Jacobian matrix." With J that row, W the inverse
//! masses and v the velocities, a pressure impulse p changes v by −W·Jᵀp and the rate of the volume J·v by −J·W·Jᵀp.
//! The solver finds p ≥ 0 so that J·v⁺ ≤ −max(e·J·v⁻, r·(V − V₀)), with equality where p > 0: e is Newton's coefficient of
//! restitution, and r recovers from an overlap larger than V₀ in a time of 1/r.
//!
//! Friction acts at the samples of the border. The pressure impulse is the same all over a volume, so each sample of
//! area s has Coulomb's cone |f| ≤ μ·p·s, within which its slip is stopped. All volumes and samples are solved in turn
//! by projected Gauss–Seidel, as in `projection`, until nothing changes.
//!
//! One row for a volume means one pressure for all its regions. Bodies that rest on several separate places rock until
//! the places' areas carry the weight; ask for the volumes of parts where that matters.

use glam::DVec3;

use super::projection::largest_across;
use super::receiver::{self, Displacement, Nodes, Receiver};
use super::volume_row::{self, FrictionPoint, VolumeRow};
use crate::{Error, Volume};

/// How bodies that overlap change their velocities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VolumeConstraint {
    /// The coefficient of restitution, from 0 to 1: the rate at which the volume shrinks after an impact by the rate
    /// at which it grew.
    pub restitution: f64,
    /// Coulomb's coefficient of friction (no unit); infinite for no slip at all.
    pub friction: f64,
    /// How fast an overlap beyond `rest` is undone (one by a time); 0 leaves it. It adds energy: the way out is a
    /// velocity.
    pub recovery: f64,
    /// The volume that bodies at rest may keep, so that they stay in contact.
    pub rest: f64,
    /// The most rounds of the solver.
    pub rounds: u32,
    /// The rounds end when none of their steps changes a velocity by more than this part of the largest (no unit).
    pub tolerance: f64,
}

impl Default for VolumeConstraint {
    /// No bouncing, no friction, no recovery, up to 1000 rounds for nine digits.
    fn default() -> VolumeConstraint {
        let [restitution, friction, recovery, rest] = [0.0; 4];
        VolumeConstraint { restitution, friction, recovery, rest, rounds: 1000, tolerance: 1e-9 }
    }
}

/// What a volume constraint found.
#[derive(Debug, Clone, PartialEq)]
pub struct Impulses {
    /// How the velocities of each body change.
    pub velocities: Vec<Displacement>,
    /// For each volume its impulse by area; 0 where the bodies part anyway, or where nothing could answer.
    pub pressures: Vec<f64>,
    /// The rounds taken; as many as were allowed where the wanted digits were not reached.
    pub rounds: u32,
    /// The largest speed, averaged over the contact, at which a volume still grows faster than it should.
    pub residual: f64,
    /// Volumes that nothing could answer: between bodies that cannot move relative to each other.
    pub unanswered: usize,
}

/// One volume in the solver.
struct Row {
    row: VolumeRow,
    /// The rate that the volume may have at most.
    target: f64,
    compliance: f64,
    pressure: f64,
    points: Vec<Rubbing>,
}

/// Friction at one sample.
struct Rubbing {
    /// The relative velocity along the surface before.
    slip: DVec3,
    /// The largest relative velocity along the surface under a unit impulse; 0 where nothing slides.
    compliance: f64,
    impulse: DVec3,
}

impl VolumeConstraint {
    /// The changes of the velocities after which no volume grows; `overlaps` name their bodies a and b among the
    /// receivers, twice the same body for a volume in which it overlaps itself.
    ///
    /// The volumes have to be asked for with samples. What `moved` says of a receiver is its velocity here, the way in
    /// a unit of time, and compliances are inverse masses.
    ///
    /// # Errors
    /// Numbers that are not finite, a volume without samples, a body or triangle that does not exist, or options
    /// outside their range.
    pub fn solve(
        &self,
        receivers: &[Receiver<'_>],
        overlaps: &[([usize; 2], &Volume)],
    ) -> Result<Impulses, Error> {
        self.check()?;
        receiver::check(receivers)?;
        volume_row::check(overlaps, receivers.len())?;
        let mut nodes = Nodes::default();
        let mut rows = Vec::with_capacity(overlaps.len());
        for (bodies, found) in overlaps {
            let row = VolumeRow::new(*bodies, found, receivers, self.friction > 0.0, &mut nodes)?;
            rows.push(row.and_then(|row| self.row(row, &nodes)));
        }
        let rounds = self.rounds(&mut rows, &mut nodes);
        let answered = rows.iter().flatten();
        let asked = overlaps.iter().filter(|(_, found)| found.volume > 0.0).count();
        Ok(Impulses {
            velocities: nodes.displacements(receivers),
            pressures: rows.iter().map(|row| row.as_ref().map_or(0.0, |row| row.pressure)).collect(),
            rounds,
            residual: answered.clone().map(|row| row.excess(&nodes) / row.row.area).fold(0.0, f64::max),
            unanswered: asked - answered.count(),
        })
    }

    fn check(&self) -> Result<(), Error> {
        let VolumeConstraint { restitution, friction, recovery, rest, tolerance, .. } = *self;
        let finite = [recovery, rest, tolerance].iter().all(|x| (0.0..f64::INFINITY).contains(x));
        if finite && (0.0..=1.0).contains(&restitution) && friction >= 0.0 {
            return Ok(());
        }
        let reason = format!("{self:?} has a number outside its range");
        Err(Error::Argument { name: "volume constraint", reason })
    }

    /// None where no pressure changes the volume.
    fn row(&self, row: VolumeRow, nodes: &Nodes) -> Option<Row> {
        let compliance = row.compliance(nodes);
        if !(compliance > 0.0 && compliance.is_finite() && row.area > 0.0) {
            return None;
        }
        let bounce = self.restitution * row.rate.max(0.0);
        let target = -bounce.max(self.recovery * (row.volume - self.rest).max(0.0));
        let rubbing = |point: &FrictionPoint| {
            let matrix = nodes.compliance([&point.sides[1], &point.sides[0]]);
            let compliance = largest_across(&matrix, point.normal);
            let compliance = if compliance.is_finite() { compliance } else { 0.0 };
            Rubbing { slip: point.slip(), compliance, impulse: DVec3::ZERO }
        };
        let points = row.points.iter().map(rubbing).collect();
        Some(Row { row, target, compliance, pressure: 0.0, points })
    }

    /// Rounds over all volumes and samples until nothing changes; returns how many.
    fn rounds(&self, rows: &mut [Option<Row>], nodes: &mut Nodes) -> u32 {
        let speeds = |row: &Row| {
            let slips = row.points.iter().map(|point| point.slip.length()).fold(0.0, f64::max);
            slips.max((row.row.rate.abs() - row.target) / row.row.area)
        };
        let largest = rows.iter().flatten().map(speeds).fold(0.0, f64::max);
        if largest == 0.0 {
            return 0;
        }
        for round in 1..=self.rounds {
            let mut changed = 0.0_f64;
            for row in rows.iter_mut().flatten() {
                changed = changed.max(row.press(nodes)).max(row.rub(nodes, self.friction));
            }
            if changed <= self.tolerance * largest {
                return round;
            }
        }
        self.rounds
    }
}

impl Row {
    /// How much faster the volume grows than it may.
    fn excess(&self, nodes: &Nodes) -> f64 {
        self.row.rate + self.row.growth(|node| nodes.displaced(node)) - self.target
    }

    /// Takes the excess back, by pressing only; returns the speed that changed.
    fn press(&mut self, nodes: &mut Nodes) -> f64 {
        let pressure = (self.pressure + self.excess(nodes) / self.compliance).max(0.0);
        let change = pressure - self.pressure;
        self.pressure = pressure;
        self.row.press(change, nodes);
        (change * self.compliance).abs() / self.row.area
    }

    /// Takes the slips back as far as the cones of friction allow; returns the speed that changed.
    fn rub(&mut self, nodes: &mut Nodes, friction: f64) -> f64 {
        let mut changed = 0.0_f64;
        for (point, rubbing) in self.row.points.iter().zip(&mut self.points) {
            if !(rubbing.compliance > 0.0) {
                continue;
            }
            let [own, facing] = [0, 1].map(|k| nodes.displacement(&point.sides[k]));
            let slip = rubbing.slip + point.along(own - facing);
            let most = if self.pressure > 0.0 { friction * self.pressure * point.area } else { 0.0 };
            let impulse = (rubbing.impulse - slip / rubbing.compliance).clamp_length_max(most);
            let change = impulse - rubbing.impulse;
            rubbing.impulse = impulse;
            point.load(change, |node, load| nodes.push_node(node, load));
            changed = changed.max(change.length() * rubbing.compliance);
        }
        changed
    }
}

#[cfg(test)]
#[path = "volume_constraint_tests.rs"]
mod tests;
