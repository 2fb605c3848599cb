//! A placed shape with flat faces, straight edges and corners, as contact patches see it.
//!
//! Hulls are asked as they are. A box is the one cube stretched, so none is built for it; a triangle, a segment
//! and a capsule's core are hulls of two or three points; a half-space is one face without sides.

use std::ops::Deref;
use std::sync::LazyLock;

use glam::DVec3;
use smallvec::SmallVec;

use crate::contact::Feature;
use crate::motion::Pose;
use crate::shape::{Convex, Polytope, Primitive, Side};

/// The box of half extents 1, whose graph every box has; its corners are numbered like those of a box.
static CUBE: LazyLock<Option<Polytope>> = LazyLock::new(|| {
    let side = |bit: u32| if bit & 1 == 0 { -1.0 } else { 1.0 };
    let corners = (0..8).map(|k| DVec3::new(side(k), side(k >> 1), side(k >> 2)));
    Polytope::hull(&corners.collect::<Vec<_>>()).ok()
});

/// A shape that has a patch.
pub(super) enum Faceted<'p> {
    Graph(Graph<'p>),
    HalfSpace {
        /// Outward, of unit length, in the world.
        normal: DVec3,
        /// A point of the plane.
        at: DVec3,
    },
}

/// Corners, edges and faces, with a radius around them.
pub(super) struct Graph<'p> {
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
}

/// Where a side of a clipped polygon comes from.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Line {
    /// An edge of the clipped body.
    Of(Feature),
    /// A side of the clipping face, by its number.
    Cut(usize),
}

/// A corner of a polygon: its name, and the side that leaves it.
#[derive(Clone, Copy)]
pub(super) struct Outline {
    pub at: DVec3,
    pub name: Feature,
    pub along: Line,
}

impl<'p> Faceted<'p> {
    pub fn hull(shape: &'p Polytope, pose: &Pose) -> Faceted<'p> {
        let shape = Source::Shared(shape);
        Faceted::Graph(Graph { shape, half: DVec3::ONE, pose: *pose, radius: 0.0, names: Names::Hull })
    }

    /// None for shapes that are round all over.
    pub fn new(shape: &'p Convex, pose: &Pose) -> Option<Faceted<'p>> {
        let thin = |points: &[DVec3], radius| {
            let shape = Source::Own(Box::new(Polytope::hull(points).ok()?));
            let (pose, names) = (pose.rigid(), Names::Flat);
            Some(Faceted::Graph(Graph { shape, half: DVec3::ONE, pose, radius, names }))
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
                _ => None,
            },
        }
    }

    /// Whether its face has no sides.
    pub fn is_endless(&self) -> bool {
        matches!(self, Faceted::HalfSpace { .. })
    }

    /// The radius around the corners, edges and faces.
    pub fn radius(&self) -> f64 {
        match self {
            Faceted::Graph(graph) => graph.radius,
            Faceted::HalfSpace { .. } => 0.0,
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
    fn corner(&self, vertex: u32) -> DVec3 {
        self.pose.apply(self.shape.vertices()[vertex as usize] * self.half)
    }

    fn vertex(&self, vertex: u32) -> Feature {
        Feature::Vertex(self.shape.original(vertex))
    }

    fn edge(&self, edge: u32) -> Feature {
        Feature::Edge(self.shape.edges()[edge as usize].ends.map(|v| self.shape.original(v)))
    }

    fn face(&self, face: u32) -> Feature {
        Feature::Face(match self.names {
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
