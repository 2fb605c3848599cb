//! Rigid bodies in a closed box: free flight, elastic collisions with each other and with the walls.
//!
//! The order of a frame: every body flies freely; the scene finds the pairs that overlap; each pair that
//! approaches at its contact gets an elastic impulse and is moved apart; last, the walls turn around what
//! would leave and move it back inside. The walls come last, so after every frame all bodies are inside.

use glam::DVec3;
use impinge::scene::{Body, BodyId, Frame, Scene, SceneContact};
use impinge::{Aabb, Budget, Error, Mesh, Shape};
use rayon::prelude::*;

use crate::impulse;
use crate::rigid::{Rigid, Weight};

/// Bodies that one thread moves at a time.
const CHUNK: usize = 256;

/// A polytope that many bodies may share, its frame in the centre of mass.
#[derive(Debug, Clone)]
pub struct SharedShape {
    /// For the scene.
    pub shape: Shape,
    /// Its surface; the vertices are the corners of the hull.
    pub mesh: Mesh,
    /// For the flight and the impulses.
    pub weight: Weight,
    /// Distance of the farthest corner from the centre of mass.
    pub radius: f64,
}

impl SharedShape {
    /// The hull of points, at density 1, moved so that its centre of mass is the origin.
    ///
    /// # Errors
    /// Points that are refused or that span no volume.
    pub fn hull(points: &[DVec3]) -> Result<SharedShape, Error> {
        let (weight, centre) = Weight::of(&hull(points.iter().copied())?.1)?;
        let (shape, mesh) = hull(points.iter().map(|&p| p - centre))?;
        let radius = mesh.vertices().iter().map(|v| v.length()).fold(0.0, f64::max);
        Ok(SharedShape { shape, mesh, weight, radius })
    }
}

/// One body of the box.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// Where it is and how it moves.
    pub rigid: Rigid,
    /// Which kind it is.
    pub kind: u32,
    /// Its name in the scene.
    pub id: BodyId,
    /// Where the scene has it: its position before the last collisions.
    placed_at: DVec3,
}

/// What is conserved, and what was counted, since the start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Ledger {
    /// Frames so far.
    pub frames: u64,
    /// Impulses between bodies.
    pub collisions: u64,
    /// Impulses from walls.
    pub bounces: u64,
    /// All that the walls gave to the bodies.
    pub wall_impulse: DVec3,
    /// The farthest that a body came through a wall before it was turned around (a length).
    pub deepest_in_wall: f64,
    /// The deepest overlap of two bodies (a length).
    pub deepest_overlap: f64,
}

/// Bodies in a closed box.
#[derive(Debug)]
pub struct ClosedBox {
    scene: Scene,
    walls: Aabb,
    kinds: Vec<SharedShape>,
    members: Vec<Member>,
    ledger: Ledger,
    start: Totals,
}

/// Sums over all bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Totals {
    /// Kinetic energy of moving and of turning.
    pub energy: [f64; 2],
    /// Momentum.
    pub momentum: DVec3,
    /// Sum of the lengths of all momenta: what a momentum is measured against.
    pub momenta: f64,
}

impl ClosedBox {
    /// Bodies of some kinds, each inside the walls, in an empty scene whose options it keeps.
    ///
    /// # Errors
    /// A body of a kind that does not exist, or one that is not inside.
    pub fn new(
        mut scene: Scene,
        walls: Aabb,
        kinds: Vec<SharedShape>,
        bodies: impl IntoIterator<Item = (u32, Rigid)>,
    ) -> Result<ClosedBox, Error> {
        let mut members = Vec::new();
        for (kind, rigid) in bodies {
            let refuse = |what: &str| Error::Argument {
                name: "bodies",
                reason: format!("body {}: {what}", members.len()),
            };
            let known = kinds.get(kind as usize).ok_or_else(|| refuse("there is no such kind"))?;
            let id = scene.add(Body::moving(known.shape.clone(), rigid.pose()?));
            let member = Member { rigid, kind, id, placed_at: rigid.position };
            if !inside(&walls, known, &rigid)? {
                return Err(refuse("it is not inside the walls"));
            }
            members.push(member);
        }
        let start = totals(&kinds, &members);
        Ok(ClosedBox { scene, walls, kinds, members, ledger: Ledger::default(), start })
    }

    /// The scene, with the poses before the last collisions.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The walls.
    pub fn walls(&self) -> &Aabb {
        &self.walls
    }

    /// The kinds of bodies.
    pub fn kinds(&self) -> &[SharedShape] {
        &self.kinds
    }

    /// The bodies as they are now.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// What was counted since the start.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Energy and momentum now.
    pub fn totals(&self) -> Totals {
        totals(&self.kinds, &self.members)
    }

    /// How far the energy is from that at the start, relative to it.
    pub fn energy_drift(&self) -> f64 {
        let sum = |t: &Totals| t.energy[0] + t.energy[1];
        sum(&self.totals()) / sum(&self.start) - 1.0
    }

    /// How far the momentum of bodies and walls together is from that at the start, relative to the sum of
    /// the lengths of all momenta.
    pub fn momentum_drift(&self) -> f64 {
        let now = self.totals();
        (now.momentum - self.ledger.wall_impulse - self.start.momentum).length() / self.start.momenta
    }

    /// How many bodies have a corner outside the walls.
    pub fn outside(&self) -> usize {
        let kind = |member: &Member| &self.kinds[member.kind as usize];
        let fits = |m: &Member| inside(&self.walls, kind(m), &m.rigid).unwrap_or(false);
        self.members.iter().filter(|m| !fits(m)).count()
    }

    /// One frame of the length `step`; pairs that the budget leaves open fly through each other until they
    /// are decided.
    ///
    /// # Errors
    /// A body that has left the range of coordinates.
    pub fn advance(&mut self, step: f64, budget: &mut Budget) -> Result<Frame<'_>, Error> {
        let kinds = &self.kinds;
        self.members.par_chunks_mut(CHUNK).for_each(|members| {
            for member in members {
                member.rigid.fly(&kinds[member.kind as usize].weight, step);
            }
        });
        for member in &mut self.members {
            let pose = member.rigid.pose()?;
            member.placed_at = pose.translation();
            self.scene.place(member.id, pose);
        }
        self.ledger.frames += 1;
        let frame = self.scene.step(budget);
        for SceneContact { bodies, contact, .. } in frame.contacts {
            if contact.depth < 0.0 {
                continue;
            }
            // Members entered an empty scene in order and none left, so slots count them.
            let [i, j] = bodies.map(BodyId::index);
            let (before, after) = self.members.split_at_mut(j);
            let (a, b) = (&mut before[i], &mut after[0]);
            let weights = [a.kind, b.kind].map(|kind| &self.kinds[kind as usize].weight);
            let point = contact.point();
            let (a, b) = ((&mut a.rigid, weights[0]), (&mut b.rigid, weights[1]));
            let impulse = impulse::collide((&mut *a.0, a.1), (&mut *b.0, b.1), point, contact.normal);
            impulse::part(a, b, contact.normal, contact.depth);
            self.ledger.collisions += u64::from(impulse != DVec3::ZERO);
            self.ledger.deepest_overlap = self.ledger.deepest_overlap.max(contact.depth);
        }
        for member in &mut self.members {
            let Some(bounds) = self.scene.bounds(member.id) else { continue };
            // The box is that of the pose before the collisions, which only moved the body.
            let moved = member.rigid.position - member.placed_at;
            let (low, high) = (bounds.low + moved, bounds.high + moved);
            if low.cmpge(self.walls.low).all() && high.cmple(self.walls.high).all() {
                continue;
            }
            turn_back(member, &self.kinds[member.kind as usize], &self.walls, &mut self.ledger)?;
        }
        Ok(self.scene.last())
    }
}

/// Bounces a body off every wall it is in, at its farthest corner, and moves it back inside.
fn turn_back(
    member: &mut Member,
    kind: &SharedShape,
    walls: &Aabb,
    ledger: &mut Ledger,
) -> Result<(), Error> {
    for axis in 0..3 {
        for (wall, side) in [(walls.low[axis], 1.0), (walls.high[axis], -1.0)] {
            let pose = member.rigid.pose()?;
            let corners = kind.mesh.vertices().iter().map(|&v| pose.apply(v));
            let Some(corner) = corners.min_by(|p, q| (side * p[axis]).total_cmp(&(side * q[axis]))) else {
                continue;
            };
            let depth = side * (wall - corner[axis]);
            if depth <= 0.0 {
                continue;
            }
            ledger.deepest_in_wall = ledger.deepest_in_wall.max(depth);
            let normal = side * DVec3::AXES[axis];
            let impulse = impulse::bounce(&mut member.rigid, &kind.weight, corner, normal);
            ledger.wall_impulse += impulse;
            ledger.bounces += u64::from(impulse != DVec3::ZERO);
            // Twice the rounding of a placed corner beyond the wall's own plane.
            let slack = 8.0 * f64::EPSILON * (wall.abs() + kind.radius);
            member.rigid.position += normal * (depth + slack);
        }
    }
    Ok(())
}

fn inside(walls: &Aabb, kind: &SharedShape, rigid: &Rigid) -> Result<bool, Error> {
    let pose = rigid.pose()?;
    let fits = |&v: &DVec3| {
        let p = pose.apply(v);
        p.cmpge(walls.low).all() && p.cmple(walls.high).all()
    };
    Ok(kind.mesh.vertices().iter().all(fits))
}

fn totals(kinds: &[SharedShape], members: &[Member]) -> Totals {
    let mut sum = Totals { energy: [0.0; 2], momentum: DVec3::ZERO, momenta: 0.0 };
    for member in members {
        let [moving, turning] = member.rigid.energy(&kinds[member.kind as usize].weight);
        sum.energy[0] += moving;
        sum.energy[1] += turning;
        sum.momentum += member.rigid.momentum;
        sum.momenta += member.rigid.momentum.length();
    }
    sum
}

/// A hull and its surface.
pub(crate) fn hull(points: impl IntoIterator<Item = DVec3>) -> Result<(Shape, Mesh), Error> {
    let shape = Shape::hull(points)?;
    let too_many = || Error::Argument { name: "points", reason: "the hull has too many faces".into() };
    let mesh = shape.hull_mesh().ok_or_else(too_many)?;
    Ok((shape, mesh))
}
