//! A placed shape with flat faces, straight edges and corners, as contact patches see it.
//!
//! Hulls are asked as they are. A box is the one cube stretched, so none is built for it; a triangle, a segment
//! and a capsule's core are hulls of two or three points; a half-space is one face without sides.

use std::f64::consts::TAU;
use std::ops::Deref;
use std::sync::LazyLock;

use glam::DVec3;
use smallvec::SmallVec;

use crate::contact::Feature;
use crate::motion::Pose;
use crate::num::tolerance::{FACE_CONTACT, REGION_EDGE};
use crate::shape::{Convex, Polytope, Primitive, Side};

/// The box of half extents 1, whose graph every box has; its corners are numbered like those of a box.
static CUBE: LazyLock<Option<Polytope>> = LazyLock::new(|| {
    let side = |bit: u32| if bit & 1 == 0 { -1.0 } else { 1.0 };
    let corners = (0..8).map(|k| DVec3::new(side(k), side(k >> 1), side(k >> 2)));
    Polytope::hull(&corners.collect::<Vec<_>>()).ok()
});

/// A shape that has a patch.
pub(crate) enum Faceted<'p> {
    Graph(Graph<'p>),
    HalfSpace {
        /// Outward, of unit length, in the world.
        normal: DVec3,
        /// A point of the plane.
        at: DVec3,
    },
}

/// Corners, edges and faces, with a radius around them.
pub(crate) struct Graph<'p> {
    shape: Source<'p>,
    /// Stretches the shape in its own frame.
    half: DVec3,
    pose: Pose,
    radius: f64,
    names: Names,
}

/// Where corners, edges and faces are kept.
enum Source<'p> {
    Shared(&'p Polytope),
    Own(Box<Polytope>),
}

impl Deref for Source<'_> {
    type Target = Polytope;

    fn deref(&self) -> &Polytope {
        match self {
            Source::Shared(polytope) => polytope,
            Source::Own(polytope) => polytope,
        }
    }
}

/// How faces are counted.
enum Names {
    /// As the hull does.
    Hull,
    /// −x, +x, −y, +y, −z, +z.
    Cuboid,
    /// Both sides are face 0.
    Flat,
    /// All is the surface of something round.
    Round,
}

/// Points of a rim that stand for it.
const RIM_POINTS: u32 = 12;

/// The flat end of a cylinder or cone that looks along a direction, or the line of its side that does; radii at −h
/// and +h.
fn round_patch([lower, upper]: [f64; 2], half_height: f64, toward: DVec3) -> Option<SmallVec<[DVec3; 12]>> {
    let out = DVec3::new(toward.x, toward.y, 0.0).try_normalize().unwrap_or(DVec3::X);
    let (radius, z) = if toward.z < 0.0 { (lower, -half_height) } else { (upper, half_height) };
    if toward.z.abs() >= FACE_CONTACT && radius > 0.0 {
        let corner = |k: u32| {
            let (sin, cos) = (f64::from(k) * TAU / f64::from(RIM_POINTS)).sin_cos();
            DVec3::new(out.x * cos - out.y * sin, out.x * sin + out.y * cos, 0.0) * radius + DVec3::Z * z
        };
        return Some((0..RIM_POINTS).map(corner).collect());
    }
    let side = [out * lower - DVec3::Z * half_height, out * upper + DVec3::Z * half_height];
    let slope = (side[1] - side[0]).normalize().dot(toward).abs();
    (slope * slope <= 1.0 - FACE_CONTACT * FACE_CONTACT).then(|| SmallVec::from_slice(&side))
}

/// Where a side of a clipped polygon comes from.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Line {
    /// An edge of the clipped body.
    Of(Feature),
    /// A side of the clipping face, by its number.
    Cut(usize),
}

/// A corner of a polygon: its name, and the side that leaves it.
#[derive(Clone, Copy)]
pub(crate) struct Outline {
    pub at: DVec3,
    pub name: Feature,
    pub along: Line,
}

impl<'p> Faceted<'p> {
    pub fn hull(shape: &'p Polytope, pose: &Pose) -> Faceted<'p> {
        let shape = Source::Shared(shape);
        Faceted::Graph(Graph { shape, half: DVec3::ONE, pose: *pose, radius: 0.0, names: Names::Hull })
    }

    /// None for shapes that are round all over. Of a cylinder or cone the flat end, or the line of its side, that looks
    /// along a direction, if one does.
    pub fn new(shape: &'p Convex, pose: &Pose, toward: DVec3) -> Option<Faceted<'p>> {
        let thin = |points: &[DVec3], radius| {
            let shape = Source::Own(Box::new(Polytope::hull(points).ok()?));
            let (pose, names) = (pose.rigid(), Names::Flat);
            Some(Faceted::Graph(Graph { shape, half: DVec3::ONE, pose, radius, names }))
        };
        let round = |points: &[DVec3]| {
            let shape = Source::Own(Box::new(Polytope::hull(points).ok()?));
            let (pose, names) = (pose.rigid(), Names::Round);
            Some(Faceted::Graph(Graph { shape, half: DVec3::ONE, pose, radius: 0.0, names }))
        };
        match shape {
            Convex::Polytope(hull) => Some(Faceted::hull(hull, pose)),
            Convex::Primitive(primitive) => match *primitive {
                Primitive::Cuboid { half } => {
                    let shape = Source::Shared(CUBE.as_ref()?);
                    let (pose, names) = (pose.rigid(), Names::Cuboid);
                    Some(Faceted::Graph(Graph { shape, half, pose, radius: 0.0, names }))
                }
                Primitive::HalfSpace { normal, .. } => {
                    let pose = pose.rigid();
                    let outward = (pose.matrix() * normal).normalize();
                    Some(Faceted::HalfSpace { normal: outward, at: pose.apply(primitive.support(normal)) })
                }
                Primitive::Triangle { corners } => thin(&corners, 0.0),
                Primitive::Segment { ends } => thin(&ends, 0.0),
                Primitive::Capsule { radius, half_height } => {
                    thin(&[DVec3::Z * -half_height, DVec3::Z * half_height], radius)
                }
                Primitive::Cylinder { radius, half_height } => {
                    let toward = pose.rotation().transpose() * toward;
                    round_patch([radius; 2], half_height, toward).and_then(|points| round(&points))
                }
                Primitive::Cone { radius, half_height } => {
                    let toward = pose.rotation().transpose() * toward;
                    round_patch([radius, 0.0], half_height, toward).and_then(|points| round(&points))
                }
                Primitive::Sphere { .. } | Primitive::Ellipsoid { .. } => None,
            },
        }
    }

    /// Whether its face has no sides.
    pub fn is_endless(&self) -> bool {
        matches!(self, Faceted::HalfSpace { .. })
    }

    /// How far the surface is under a point of the core against a normal; `None` where that is under another point of
    /// the core.
    pub fn radius_below(&self, at: DVec3, normal: DVec3) -> Option<f64> {
        match self {
            Faceted::Graph(graph) => graph.radius_below(at, normal),
            Faceted::HalfSpace { .. } => Some(0.0),
        }
    }

    /// The face that looks along a direction best among those around the farthest corner, and the cosine of
    /// the angle between. Round shapes have none.
    pub fn facing(&self, direction: DVec3) -> Option<(u32, f64)> {
        match self {
            Faceted::Graph(graph) => graph.facing(direction),
            Faceted::HalfSpace { normal, .. } => Some((0, normal.dot(direction))),
        }
    }

    /// The sides of a face; a half-space has none.
    pub fn sides(&self, face: u32) -> &[Side] {
        match self {
            Faceted::Graph(graph) => graph.shape.sides(face),
            Faceted::HalfSpace { .. } => &[],
        }
    }

    /// Where a corner is in the world.
    pub fn corner(&self, vertex: u32) -> DVec3 {
        match self {
            Faceted::Graph(graph) => graph.corner(vertex),
            Faceted::HalfSpace { at, .. } => *at,
        }
    }

    /// The outward normal of a face, of about unit length, and a point of its plane.
    pub fn plane(&self, face: u32) -> (DVec3, DVec3) {
        match self {
            Faceted::Graph(graph) => {
                let face = &graph.shape.faces()[face as usize];
                (graph.pose.matrix() * face.normal, graph.pose.apply(face.corner * graph.half))
            }
            Faceted::HalfSpace { normal, at } => (*normal, *at),
        }
    }

    pub fn vertex(&self, vertex: u32) -> Feature {
        match self {
            Faceted::Graph(graph) => graph.vertex(vertex),
            Faceted::HalfSpace { .. } => Feature::Face(0),
        }
    }

    pub fn edge(&self, edge: u32) -> Feature {
        match self {
            Faceted::Graph(graph) => graph.edge(edge),
            Faceted::HalfSpace { .. } => Feature::Face(0),
        }
    }

    pub fn face(&self, face: u32) -> Feature {
        match self {
            Faceted::Graph(graph) => graph.face(face),
            Faceted::HalfSpace { .. } => Feature::Face(0),
        }
    }

    /// What is clipped: a face, or all of a segment or point; nothing of a half-space.
    pub fn outline(&self, face: Option<u32>) -> SmallVec<[Outline; 16]> {
        match self {
            Faceted::Graph(graph) => graph.outline(face),
            Faceted::HalfSpace { .. } => SmallVec::new(),
        }
    }
}

impl Graph<'_> {
    /// Its corners, edges and faces, before they are stretched and placed.
    pub fn polytope(&self) -> &Polytope {
        &self.shape
    }

    /// All corners in the world.
    pub fn corners(&self) -> impl Iterator<Item = DVec3> + '_ {
        (0..self.shape.vertices().len() as u32).map(|v| self.corner(v))
    }

    /// Where it is.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// Some faces in the world: the outward unit normal, and how far the plane is along it from the origin.
    pub fn planes<'a>(&'a self, faces: &'a [u32]) -> impl Iterator<Item = (DVec3, f64)> + 'a {
        let (turn, pose, all) = (self.pose.matrix(), &self.pose, self.shape.faces());
        faces.iter().map(move |&face| {
            let face = &all[face as usize];
            let normal = (turn * face.normal).normalize();
            (normal, normal.dot(pose.apply(face.corner * self.half)))
        })
    }

    /// How far a point of its own frame is above the plane of a face.
    pub fn height(&self, face: u32, local: DVec3) -> f64 {
        let face = &self.shape.faces()[face as usize];
        face.normal.dot(local - face.corner * self.half)
    }

    /// Into the two faces at an edge, across it.
    pub fn inward(&self, edge: u32) -> [DVec3; 2] {
        let ([x, y], turn) = (self.shape.edges()[edge as usize].inward, self.pose.matrix());
        [turn * x, turn * y]
    }

    /// A point inside.
    pub fn middle(&self) -> DVec3 {
        self.pose.apply(self.shape.centre() * self.half)
    }

    fn radius_below(&self, at: DVec3, normal: DVec3) -> Option<f64> {
        // A point has no second corner.
        if self.radius == 0.0 || self.shape.vertices().len() < 2 {
            return Some(self.radius);
        }
        let Some(axis) = (self.corner(1) - self.corner(0)).try_normalize() else { return Some(self.radius) };
        let sinks = -normal.dot(axis);
        let along = axis.dot(at - self.corner(0));
        let across = (1.0 - sinks * sinks).max(0.0).sqrt();
        let end = if sinks > 0.0 { axis.dot(self.corner(1) - self.corner(0)) } else { 0.0 };
        // The side of the cylinder, or the cap where the core ends.
        let side = self.radius / across.max(f64::MIN_POSITIVE);
        if (along + side * sinks - end) * sinks <= 0.0 {
            Some(side)
        } else {
            ((along - end).abs() <= REGION_EDGE * self.radius).then_some(self.radius)
        }
    }

    #[inline]
    fn corner(&self, vertex: u32) -> DVec3 {
        self.pose.apply(self.shape.vertices()[vertex as usize] * self.half)
    }

    pub fn vertex(&self, vertex: u32) -> Feature {
        if matches!(self.names, Names::Round) {
            return Feature::Surface;
        }
        Feature::Vertex(self.shape.original(vertex))
    }

    pub fn edge(&self, edge: u32) -> Feature {
        if matches!(self.names, Names::Round) {
            return Feature::Surface;
        }
        Feature::Edge(self.shape.edges()[edge as usize].ends.map(|v| self.shape.original(v)))
    }

    pub fn face(&self, face: u32) -> Feature {
        Feature::Face(match self.names {
            Names::Round => return Feature::Surface,
            Names::Hull => face,
            Names::Cuboid => {
                let normal = self.shape.faces()[face as usize].normal;
                let axis = normal.abs().max_position();
                2 * axis as u32 + u32::from(normal[axis] > 0.0)
            }
            Names::Flat => 0,
        })
    }

    fn facing(&self, direction: DVec3) -> Option<(u32, f64)> {
        // The faces of a cube keep their normals when it is stretched along them.
        let local = self.pose.matrix().transpose() * direction;
        let top = self.shape.support(local * self.half, 0);
        let edges = self.shape.spokes(top).iter().flat_map(|s| self.shape.edges()[s.edge as usize].faces);
        let slopes = edges.filter_map(|f| Some((f, self.shape.faces().get(f as usize)?.normal.dot(local))));
        slopes.max_by(|(f, x), (g, y)| x.total_cmp(y).then(g.cmp(f)))
    }

    fn outline(&self, face: Option<u32>) -> SmallVec<[Outline; 16]> {
        match face {
            Some(face) => {
                let sides = self.shape.sides(face).iter();
                sides
                    .map(|s| Outline {
                        at: self.corner(s.start),
                        name: self.vertex(s.start),
                        along: Line::Of(self.edge(s.edge)),
                    })
                    .collect()
            }
            None => (0..self.shape.vertices().len() as u32)
                .map(|v| {
                    let along = self.shape.spokes(v).first().map_or(self.vertex(v), |s| self.edge(s.edge));
                    Outline { at: self.corner(v), name: self.vertex(v), along: Line::Of(along) }
                })
                .collect(),
        }
    }
}
