//! Bodies as a response sees them: what can move, how easily, and how a surface point hangs on it.

use std::collections::BTreeMap;

use glam::{DMat3, DVec3};
use smallvec::{SmallVec, smallvec};

use crate::num::tolerance::LARGEST_COORDINATE;
use crate::{Contact, Error, Feature, SurfaceSample};

/// A body that takes displacements.
///
/// Inverse masses and compliances must have one unit in one call. In a time step h these are inverse masses: 1/m for a
/// rigid body or a free vertex, 1/(m + h²·k) for a vertex held by a spring of stiffness k (implicit Euler). At rest
/// they are compliances: 1/k, and 0 for a body that does not give way.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Receiver<'v> {
    /// It does not move.
    Fixed,
    /// It moves as a whole.
    Rigid {
        /// The centre of mass, in the world.
        centre: DVec3,
        /// One by the mass; 0 for a body whose motion is prescribed.
        inverse_mass: f64,
        /// The inverse of the inertia tensor about the centre, in the world; zero for a body that does not turn.
        inverse_inertia: DMat3,
        /// Translation and rotation vector since the start of the step, for friction; zero where it plays no part.
        moved: [DVec3; 2],
    },
    /// Its vertices move.
    Deformable {
        /// The vertices, in the world.
        vertices: &'v [DVec3],
        /// The triangles, which [`Feature::Face`] counts.
        triangles: &'v [[u32; 3]],
        /// How far each vertex goes under a unit force.
        compliance: &'v [f64],
        /// The way of each vertex since the start of the step, for friction; empty where it plays no part.
        moved: &'v [DVec3],
    },
}

/// How a body is to be moved.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Displacement {
    /// Not at all.
    None,
    /// As a whole.
    Rigid {
        /// Of the centre of mass.
        translation: DVec3,
        /// About the centre of mass: the axis times the angle, in the world.
        rotation: DVec3,
    },
    /// At some vertices, ascending.
    Vertices(Vec<(u32, DVec3)>),
}

/// What acts on a body.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Load {
    /// Nothing, or nothing that could move it.
    None,
    /// On the body as a whole.
    Rigid {
        /// At the centre of mass.
        force: DVec3,
        /// About the centre of mass, in the world.
        torque: DVec3,
    },
    /// A force at some vertices, ascending.
    Vertices(Vec<(u32, DVec3)>),
}

/// A rigid body or a vertex, with its displacement so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    is_vertex: bool,
    inverse_mass: f64,
    inverse_inertia: DMat3,
    translation: DVec3,
    rotation: DVec3,
}

/// A share of a surface point that hangs on a node.
#[derive(Debug, Clone, Copy)]
struct Lever {
    node: usize,
    weight: f64,
    arm: DVec3,
}

impl Lever {
    /// What the point does, by what its node does.
    fn of(&self, [translation, rotation]: [DVec3; 2]) -> DVec3 {
        self.weight * (translation + rotation.cross(self.arm))
    }
}

/// One side of a contact: a surface point, by the nodes it hangs on.
#[derive(Debug, Clone, Default)]
pub(super) struct Side {
    /// None for a point that nothing moves.
    levers: SmallVec<[Lever; 3]>,
    /// Its way since the start of the step.
    pub way: DVec3,
}

/// All nodes that contacts touch.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    all: Vec<Node>,
    /// The node of a vertex of a body; vertex 0 stands for a rigid one.
    of: BTreeMap<(usize, u32), usize>,
}

impl Side {
    /// The side of a contact that lies on a body.
    pub fn new(
        contact: &Contact,
        side: usize,
        (body, receiver): (usize, &Receiver<'_>),
        nodes: &mut Nodes,
    ) -> Result<Side, Error> {
        let Receiver::Deformable { vertices, triangles, .. } = *receiver else {
            return Ok(Side::of_point(contact.points[side], (body, receiver), nodes));
        };
        let corners = corners_of(contact.features[side], vertices.len(), triangles)
            .ok_or_else(|| refusal(body, format!("it has no {:?}", contact.features[side])))?;
        let places: SmallVec<[DVec3; 3]> = corners.iter().map(|&v| vertices[v as usize]).collect();
        let weights = weights(contact.points[side], &places);
        Side::of_corners(&corners, &weights, (body, receiver), nodes)
    }

    /// A place on the border of an intersection.
    pub fn of_sample(
        sample: &SurfaceSample,
        (body, receiver): (usize, &Receiver<'_>),
        nodes: &mut Nodes,
    ) -> Result<Side, Error> {
        let Receiver::Deformable { vertices, triangles, .. } = *receiver else {
            return Ok(Side::of_point(sample.point, (body, receiver), nodes));
        };
        let feature = sample.triangle.map_or(Feature::Surface, Feature::Face);
        let corners = corners_of(feature, vertices.len(), triangles)
            .ok_or_else(|| refusal(body, format!("it has no {feature:?}")))?;
        Side::of_corners(&corners, &sample.barycentric, (body, receiver), nodes)
    }

    /// A point that moves with a body as a whole; one that nothing moves for any other body.
    pub fn of_point(point: DVec3, (body, receiver): (usize, &Receiver<'_>), nodes: &mut Nodes) -> Side {
        let Receiver::Rigid { centre, inverse_mass, inverse_inertia, moved } = *receiver else {
            return Side::default();
        };
        let node = nodes.get_or_insert((body, 0), inverse_mass, Some(inverse_inertia));
        let arm = point - centre;
        Side { levers: smallvec![Lever { node, weight: 1.0, arm }], way: moved[0] + moved[1].cross(arm) }
    }

    /// A weighted mean of vertices.
    fn of_corners(
        corners: &[u32],
        weights: &[f64],
        (body, receiver): (usize, &Receiver<'_>),
        nodes: &mut Nodes,
    ) -> Result<Side, Error> {
        let mut found = Side::default();
        let Receiver::Deformable { vertices, compliance, moved, .. } = *receiver else { return Ok(found) };
        for (&v, &weight) in corners.iter().zip(weights) {
            let (give, way) = (compliance[v as usize], moved.get(v as usize).copied());
            let way = way.unwrap_or(DVec3::ZERO);
            let sound = in_range(vertices[v as usize]) && in_range(way);
            if !sound || !(0.0..f64::INFINITY).contains(&give) {
                let what = "place, way and compliance must be finite, the compliance not negative";
                return Err(refusal(body, format!("vertex {v}: {what}")));
            }
            let node = nodes.get_or_insert((body, v), give, None);
            found.levers.push(Lever { node, weight, arm: DVec3::ZERO });
            found.way += weight * way;
        }
        Ok(found)
    }

    /// What the point does, given translation and rotation of each node.
    pub fn moved_by(&self, values: &[[DVec3; 2]]) -> DVec3 {
        self.levers.iter().map(|l| l.of(values[l.node])).sum()
    }

    /// What a force at the point does to each node: the node, the force and the torque on it.
    pub fn spread(&self, force: DVec3) -> impl Iterator<Item = (usize, [DVec3; 2])> + '_ {
        self.levers.iter().map(move |l| (l.node, [force * l.weight, l.arm.cross(force) * l.weight]))
    }
}

impl Nodes {
    /// The node of a rigid body, or of a vertex, which has no inertia.
    fn get_or_insert(&mut self, key: (usize, u32), inverse_mass: f64, inertia: Option<DMat3>) -> usize {
        *self.of.entry(key).or_insert_with(|| {
            let (is_vertex, inverse_inertia) = (inertia.is_none(), inertia.unwrap_or(DMat3::ZERO));
            let [translation, rotation] = [DVec3::ZERO; 2];
            self.all.push(Node { is_vertex, inverse_mass, inverse_inertia, translation, rotation });
            self.all.len() - 1
        })
    }

    /// The displacement of a side's point so far.
    pub fn displacement(&self, side: &Side) -> DVec3 {
        side.levers.iter().map(|l| l.of([self.all[l.node].translation, self.all[l.node].rotation])).sum()
    }

    /// Displaces the nodes of a side as a force at its point would.
    pub fn push(&mut self, side: &Side, force: DVec3) {
        side.spread(force).for_each(|(node, load)| self.push_node(node, load));
    }

    /// Displaces a node as force and torque would.
    pub fn push_node(&mut self, node: usize, load: [DVec3; 2]) {
        let [way, turn] = self.response(node, load);
        self.all[node].translation += way;
        self.all[node].rotation += turn;
    }

    /// How far force and torque displace a node.
    pub fn response(&self, node: usize, [force, torque]: [DVec3; 2]) -> [DVec3; 2] {
        let Node { inverse_mass, inverse_inertia, .. } = self.all[node];
        [force * inverse_mass, inverse_inertia * torque]
    }

    /// Translation and rotation of a node so far.
    pub fn displaced(&self, node: usize) -> [DVec3; 2] {
        [self.all[node].translation, self.all[node].rotation]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Translation and rotation of each node, from what each body does; zero where nothing is said.
    pub fn values(&self, displacements: &[Displacement]) -> Vec<[DVec3; 2]> {
        let mut found = vec![[DVec3::ZERO; 2]; self.all.len()];
        for (body, displacement) in displacements.iter().enumerate() {
            let mut set = |vertex: u32, is_vertex: bool, value: [DVec3; 2]| {
                let node = self.of.get(&(body, vertex)).copied();
                if let Some(node) = node.filter(|&node| self.all[node].is_vertex == is_vertex) {
                    found[node] = value;
                }
            };
            match displacement {
                Displacement::None => {}
                Displacement::Rigid { translation, rotation } => set(0, false, [*translation, *rotation]),
                Displacement::Vertices(list) => {
                    list.iter().for_each(|&(v, way)| set(v, true, [way, DVec3::ZERO]));
                }
            }
        }
        found
    }

    /// Force and torque on each node, as what acts on each body.
    pub fn loads(&self, forces: &[[DVec3; 2]], bodies: usize) -> Vec<Load> {
        let mut found = vec![Load::None; bodies];
        for (&(body, vertex), &node) in &self.of {
            let [force, torque] = forces[node];
            match &mut found[body] {
                place if !self.all[node].is_vertex => *place = Load::Rigid { force, torque },
                Load::Vertices(list) => list.push((vertex, force)),
                place => *place = Load::Vertices(vec![(vertex, force)]),
            }
        }
        found
    }

    /// The displacement of b's point relative to a's under a unit force on b and its opposite on a, column by column.
    ///
    /// Vertices that both sides share (neighbouring triangles of one body) count with the difference of their weights.
    pub fn compliance(&self, [a, b]: [&Side; 2]) -> DMat3 {
        let signed = |side: &'_ Side, sign: f64| -> SmallVec<[(Lever, f64); 3]> {
            side.levers.iter().map(|&l| (l, sign * l.weight)).collect()
        };
        let all: SmallVec<[(Lever, f64); 6]> = signed(a, -1.0).into_iter().chain(signed(b, 1.0)).collect();
        let mut sum = DMat3::ZERO;
        for (k, w) in &all {
            for (l, v) in all.iter().filter(|(l, _)| l.node == k.node) {
                let node = &self.all[k.node];
                let column =
                    |e: DVec3| e * node.inverse_mass + (node.inverse_inertia * l.arm.cross(e)).cross(k.arm);
                sum += DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z)) * (w * v);
            }
        }
        sum
    }

    /// Shortens all displacements so that no vertex goes farther than `longest`; returns the factor.
    pub fn shorten(&mut self, longest: f64) -> f64 {
        let ways = self.all.iter().filter(|node| node.is_vertex).map(|node| node.translation.length());
        let farthest = ways.fold(0.0, f64::max);
        if !(farthest > longest) {
            return 1.0;
        }
        let factor = longest / farthest;
        for node in &mut self.all {
            node.translation *= factor;
            node.rotation *= factor;
        }
        factor
    }

    /// What was found for each body.
    pub fn displacements(&self, receivers: &[Receiver<'_>]) -> Vec<Displacement> {
        let mut found = vec![Displacement::None; receivers.len()];
        for (&(body, vertex), &node) in &self.of {
            let Node { translation, rotation, .. } = self.all[node];
            match (&receivers[body], &mut found[body]) {
                (Receiver::Rigid { .. }, place) => *place = Displacement::Rigid { translation, rotation },
                (_, Displacement::Vertices(list)) => list.push((vertex, translation)),
                (_, place) => *place = Displacement::Vertices(vec![(vertex, translation)]),
            }
        }
        found
    }
}

/// Refuses what no response could trust. Vertices are checked when a contact touches them, so that the cost is that of
/// the contacts.
pub(super) fn check(receivers: &[Receiver<'_>]) -> Result<(), Error> {
    for (body, receiver) in receivers.iter().enumerate() {
        match receiver {
            Receiver::Fixed => {}
            Receiver::Rigid { centre, inverse_mass, inverse_inertia, moved } => {
                if !in_range(*centre) || !moved.iter().all(|&v| in_range(v)) {
                    return Err(refusal(body, "its centre or way is not finite or beyond 1e60".into()));
                }
                if !(0.0..f64::INFINITY).contains(inverse_mass) || !inverse_inertia.is_finite() {
                    let what = "inverse mass and inertia must be finite, the mass positive";
                    return Err(refusal(body, what.into()));
                }
            }
            Receiver::Deformable { vertices, compliance, moved, .. } => {
                let [n, c, m] = [vertices.len(), compliance.len(), moved.len()];
                if c != n || (m != n && m != 0) {
                    return Err(refusal(body, format!("{n} vertices, but {c} compliances and {m} ways")));
                }
            }
        }
    }
    Ok(())
}

fn refusal(body: usize, what: String) -> Error {
    Error::Argument { name: "receivers", reason: format!("body {body}: {what}") }
}

/// Whether a place or way is finite and not beyond 1e60.
pub(super) fn in_range(v: DVec3) -> bool {
    v.abs().max_element() <= LARGEST_COORDINATE && !v.is_nan()
}

/// The vertices of a feature, if there is such a one.
fn corners_of(feature: Feature, vertices: usize, triangles: &[[u32; 3]]) -> Option<SmallVec<[u32; 3]>> {
    let corners: SmallVec<[u32; 3]> = match feature {
        Feature::Vertex(v) => smallvec![v],
        Feature::Edge(ends) => SmallVec::from_slice(&ends),
        Feature::Face(t) => SmallVec::from_slice(triangles.get(t as usize)?),
        Feature::Surface => return None,
    };
    corners.iter().all(|&v| (v as usize) < vertices).then_some(corners)
}

/// Barycentric coordinates of the foot of a point among one, two or three corners, none negative; equal ones where the
/// corners coincide or lie on a line.
fn weights(p: DVec3, corners: &[DVec3]) -> SmallVec<[f64; 3]> {
    let mut found: SmallVec<[f64; 3]> = match *corners {
        [a, b] => {
            let (ab, ap) = (b - a, p - a);
            let t = ab.dot(ap) / ab.length_squared();
            smallvec![1.0 - t, t]
        }
        [a, b, c] => {
            let normal = (b - a).cross(c - a);
            let share = |u: DVec3, v: DVec3| normal.dot((u - p).cross(v - p)) / normal.length_squared();
            smallvec![share(b, c), share(c, a), share(a, b)]
        }
        _ => smallvec![1.0],
    };
    found.iter_mut().for_each(|w| *w = w.max(0.0));
    let sum: f64 = found.iter().sum();
    let equal = 1.0 / corners.len() as f64;
    let sound = sum.is_finite() && sum > 0.0;
    found.iter_mut().for_each(|w| *w = if sound { *w / sum } else { equal });
    found
}
