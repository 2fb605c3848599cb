//! Response by projection onto average planes (Guy and Debunne 2004, sections 5.3 and 5.4), for any number of contacts
//! at once.
//!
//! The average plane of a contact is the frontier between its two facets; the paper moves both onto it, so that Δ, the
//! distance of facet and plane, is 0 again. Its behaviours and what they are here:
//! - *The plane lies closer to the stiffer object.* A force f moves the points of a and b by c_a·f and c_b·f, where c
//!   is the compliance of the body there (1/k of a spring, 1/m + (r×n)·I⁻¹(r×n) of a rigid body). Equal and opposite
//!   forces that close the depth δ meet c_a/(c_a + c_b) of it from a: stiffness 1 : 9 puts the plane at nine tenths.
//! - *Sticky contact.* A contact that has been made is kept while its gap is below a threshold.
//! - *Friction.* The displacement is shifted against the relative way along the plane. The paper leaves open by how much;
//!   here Coulomb's cone limits it, |f_t| ≤ μ·f_n, and within the cone the slip is taken back completely.
//! - *Several contacts of rigid bodies* are "the input of a more complex solver" in the paper. With C the contacts' gaps
//!   as linear functions of the displacements x and W the compliances of all bodies, the one here solves
//!   x = W·Cᵀf, gap + C·x ≥ 0 ⊥ f ≥ 0 by projected Gauss–Seidel: contact by contact in the order given, the normal
//!   force first, then the force along the plane by a projected gradient step, whose fixed point is friction straight
//!   against the slip.
//!
//! # Energy
//! Let y be a state of the bodies without overlap and without slip, such as the start of the step if it was free, x̂ the
//! state that the step has predicted, and x the state after the projection. In the metric of W⁻¹ (the masses),
//! |x − y|² ≤ |x̂ − y|² − 2D, where D = f·(−gap(x̂)) − ½·f·CWCᵀf is the objective that every normal step and every
//! projected gradient step increases from 0. So the velocity (x − y)/h has no more kinetic energy than (x̂ − y)/h had,
//! whether the rounds have converged or not; friction that shrinks with its normal force may lower D, but at the
//! solution f·slip ≤ 0 gives D ≥ 0 again, and so does shortening all forces by one factor. Where the start of the step overlapped already there is no such y: then the
//! displacement is one of places, and adding it to velocities would add energy.
//!
//! # Convergence
//! Linear; the rate falls with the ratio of the masses and the number of contacts that press on one another. The result
//! states the rounds taken and the deepest overlap left (of the linearised gaps: a rotation by φ leaves an error of
//! order φ²).

use std::collections::BTreeSet;

use glam::{DMat3, DVec3};

use super::receiver::{self, Displacement, Nodes, Receiver, Side, in_range};
use crate::num::tolerance::UNIT_NORMAL;
use crate::{Contact, Error};

/// How contacts are answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Projection {
    /// Coulomb's coefficient of friction (no unit); infinite for no slip at all.
    pub friction: f64,
    /// A contact that has been made is kept while its gap is at most this long (a length); 0 for no sticking. Bodies
    /// have to part faster than this in a step.
    pub sticky: f64,
    /// No vertex moves farther than this many times the largest depth or slip (no unit): all displacements are shortened
    /// by one factor then, and the overlap left says so. It keeps contacts of crumpled surfaces that contradict each
    /// other from throwing vertices away.
    pub limit: f64,
    /// The most rounds of the solver.
    pub rounds: u32,
    /// The rounds end when none of their steps moves a contact by more than this part of the largest depth or slip (no
    /// unit).
    pub tolerance: f64,
}

impl Default for Projection {
    /// No friction, no sticking, vertices up to ten times the depth, up to 1000 rounds for nine digits.
    fn default() -> Projection {
        Projection { friction: 0.0, sticky: 0.0, limit: 10.0, rounds: 1000, tolerance: 1e-9 }
    }
}

/// The contacts that a sticky response keeps, by their persistent ids. It may be dropped: what stuck is free then.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stuck(BTreeSet<([usize; 2], u64)>);

/// What a projection found.
#[derive(Debug, Clone, PartialEq)]
pub struct Projected {
    /// For each body.
    pub displacements: Vec<Displacement>,
    /// For each contact the force on b, and its opposite on a, in the unit of way by compliance: with inverse masses in
    /// a step h, divide by h² for a force.
    pub forces: Vec<DVec3>,
    /// For each contact a point of its average plane: midway between its points after the displacement. Its normal is
    /// that of the contact.
    pub planes: Vec<DVec3>,
    /// The rounds taken; as many as were allowed where the wanted digits were not reached.
    pub rounds: u32,
    /// The deepest overlap left among the contacts that were answered, to first order.
    pub residual: f64,
    /// Contacts that nothing could answer: without a normal, or between bodies that cannot move relative to each other
    /// along it.
    pub unanswered: usize,
}

/// One contact in the solver.
struct Row {
    sides: [Side; 2],
    normal: DVec3,
    depth: f64,
    /// The relative way since the start of the step, along the plane.
    slip: DVec3,
    /// The relative displacement along the normal under a unit force along it.
    compliance: f64,
    /// The largest one along the plane.
    compliance_across: f64,
    kept: bool,
    force: f64,
    across: DVec3,
}

impl Projection {
    /// The displacements after which no contact overlaps; `contacts` name their bodies a and b among the receivers.
    ///
    /// Contacts with a gap take part: what moves for one contact does not run into another. Each contact counts at the
    /// points it has, whatever its time.
    ///
    /// # Errors
    /// Numbers that are not finite, a normal that is neither zero nor of unit length, a body or feature that does not
    /// exist, or options outside their range.
    pub fn project(
        &self,
        receivers: &[Receiver<'_>],
        contacts: &[([usize; 2], Contact)],
        stuck: &mut Stuck,
    ) -> Result<Projected, Error> {
        self.check()?;
        receiver::check(receivers)?;
        let mut nodes = Nodes::default();
        let mut rows = Vec::with_capacity(contacts.len());
        for (index, (bodies, contact)) in contacts.iter().enumerate() {
            check_contact(index, *bodies, contact, receivers.len())?;
            let kept = contact.depth >= -self.sticky && stuck.0.contains(&(*bodies, contact.id));
            rows.push(Row::new(*bodies, contact, receivers, &mut nodes)?.map(|row| Row { kept, ..row }));
        }
        let largest = self.largest(&rows);
        let rounds = self.solve(&mut rows, &mut nodes, largest);
        let shortened = nodes.shorten(self.limit * largest);
        rows.iter_mut().flatten().for_each(|row| row.shorten(shortened));
        self.remember(contacts, &rows, stuck);
        let point = |((_, contact), row): (&([usize; 2], Contact), &Option<Row>)| {
            let moved =
                row.as_ref().map(|r| nodes.displacement(&r.sides[0]) + nodes.displacement(&r.sides[1]));
            contact.point() + 0.5 * moved.unwrap_or(DVec3::ZERO)
        };
        let answered = rows.iter().flatten();
        Ok(Projected {
            displacements: nodes.displacements(receivers),
            forces: rows.iter().map(|row| row.as_ref().map_or(DVec3::ZERO, Row::total)).collect(),
            planes: contacts.iter().zip(&rows).map(point).collect(),
            rounds,
            residual: answered.clone().map(|row| -row.gap(&nodes)).fold(0.0, f64::max),
            unanswered: rows.len() - answered.count(),
        })
    }

    fn check(&self) -> Result<(), Error> {
        let Projection { friction, sticky, limit, tolerance, .. } = *self;
        if friction >= 0.0 && (0.0..f64::INFINITY).contains(&sticky) && limit >= 0.0 && tolerance >= 0.0 {
            return Ok(());
        }
        let reason = format!("{self:?} has a negative or unusable number");
        Err(Error::Argument { name: "projection", reason })
    }

    /// The longest way that a contact asks for.
    fn largest(&self, rows: &[Option<Row>]) -> f64 {
        let asked =
            |row: &Row| row.depth.abs().max(if self.friction > 0.0 { row.slip.length() } else { 0.0 });
        let touching = rows.iter().flatten().filter(|row| row.kept || row.depth > 0.0);
        touching.map(asked).fold(0.0, f64::max)
    }

    /// Rounds over all contacts until nothing moves; returns how many.
    fn solve(&self, rows: &mut [Option<Row>], nodes: &mut Nodes, largest: f64) -> u32 {
        if largest == 0.0 {
            return 0;
        }
        for round in 1..=self.rounds {
            let mut moved = 0.0_f64;
            for row in rows.iter_mut().flatten() {
                moved = moved.max(row.press(nodes));
                if self.friction > 0.0 {
                    moved = moved.max(row.rub(nodes, self.friction));
                }
            }
            if moved <= self.tolerance * largest {
                return round;
            }
        }
        self.rounds
    }

    /// What touches now may be kept in the next step.
    fn remember(&self, contacts: &[([usize; 2], Contact)], rows: &[Option<Row>], stuck: &mut Stuck) {
        stuck.0.clear();
        if self.sticky == 0.0 {
            return;
        }
        for ((bodies, contact), row) in contacts.iter().zip(rows) {
            if contact.id != 0 && row.as_ref().is_some_and(|row| row.kept || row.force > 0.0) {
                stuck.0.insert((*bodies, contact.id));
            }
        }
    }
}

impl Row {
    /// None where no force along the normal moves anything.
    fn new(
        bodies: [usize; 2],
        contact: &Contact,
        receivers: &[Receiver<'_>],
        nodes: &mut Nodes,
    ) -> Result<Option<Row>, Error> {
        let normal = contact.normal;
        let [a, b] = bodies;
        let one = a == b && matches!(receivers[a], Receiver::Rigid { .. });
        if normal == DVec3::ZERO || one {
            return Ok(None);
        }
        let first = Side::new(contact, 0, (a, &receivers[a]), nodes)?;
        let second = Side::new(contact, 1, (b, &receivers[b]), nodes)?;
        let matrix = nodes.compliance([&first, &second]);
        let compliance = normal.dot(matrix * normal);
        if !(compliance > 0.0 && matrix.is_finite()) {
            return Ok(None);
        }
        let way = second.way - first.way;
        Ok(Some(Row {
            sides: [first, second],
            normal,
            depth: contact.depth,
            slip: way - normal * normal.dot(way),
            compliance,
            compliance_across: largest_across(&matrix, normal),
            kept: false,
            force: 0.0,
            across: DVec3::ZERO,
        }))
    }

    /// Displacement of b's point relative to a's.
    fn relative(&self, nodes: &Nodes) -> DVec3 {
        nodes.displacement(&self.sides[1]) - nodes.displacement(&self.sides[0])
    }

    /// What is between the points along the normal; negative for an overlap.
    fn gap(&self, nodes: &Nodes) -> f64 {
        self.normal.dot(self.relative(nodes)) - self.depth
    }

    fn total(&self) -> DVec3 {
        self.normal * self.force + self.across
    }

    fn shorten(&mut self, factor: f64) {
        self.force *= factor;
        self.across *= factor;
    }

    fn push(&self, nodes: &mut Nodes, force: DVec3) {
        nodes.push(&self.sides[0], -force);
        nodes.push(&self.sides[1], force);
    }

    /// Closes gap or overlap, by pressing only unless the contact is kept; returns how far that moved it.
    fn press(&mut self, nodes: &mut Nodes) -> f64 {
        let wanted = self.force - self.gap(nodes) / self.compliance;
        let force = if self.kept { wanted } else { wanted.max(0.0) };
        let change = force - self.force;
        self.force = force;
        self.push(nodes, self.normal * change);
        (change * self.compliance).abs()
    }

    /// Takes the slip back as far as the cone of friction allows; returns how far that moved it.
    fn rub(&mut self, nodes: &mut Nodes, friction: f64) -> f64 {
        if !(self.compliance_across > 0.0) {
            return 0.0;
        }
        let relative = self.relative(nodes);
        let slip = self.slip + relative - self.normal * self.normal.dot(relative);
        let most = if self.force > 0.0 { friction * self.force } else { 0.0 };
        let across = (self.across - slip / self.compliance_across).clamp_length_max(most);
        let change = across - self.across;
        self.across = across;
        self.push(nodes, change);
        change.length() * self.compliance_across
    }
}

/// The largest eigenvalue of a symmetric matrix restricted to the plane across a unit normal.
pub(super) fn largest_across(matrix: &DMat3, normal: DVec3) -> f64 {
    let (t, s) = normal.any_orthonormal_pair();
    let [tt, ss, ts] = [t.dot(*matrix * t), s.dot(*matrix * s), t.dot(*matrix * s)];
    0.5 * (tt + ss) + (0.5 * (tt - ss)).hypot(ts)
}

fn check_contact(index: usize, bodies: [usize; 2], contact: &Contact, count: usize) -> Result<(), Error> {
    let Contact { points, normal, depth, .. } = contact;
    let reason = if bodies.iter().any(|&body| body >= count) {
        format!("contact {index} is between bodies {bodies:?}, but there are {count}")
    } else if !points.iter().all(|&p| in_range(p)) || !in_range(DVec3::splat(*depth)) {
        format!("contact {index} has a point or depth that is not finite or beyond 1e60")
    } else if *normal != DVec3::ZERO && !((normal.length() - 1.0).abs() <= UNIT_NORMAL) {
        format!("contact {index} has the normal {normal}, which is neither zero nor of unit length")
    } else {
        return Ok(());
    };
    Err(Error::Argument { name: "contacts", reason })
}

#[cfg(test)]
#[path = "projection_tests.rs"]
mod tests;
