//! A shape of any kind as a tree of convex pieces, for sweeps.
//!
//! A convex shape is one piece, a compound a tree of boxes over its parts, a mesh the boxes of its tree over its
//! triangles, a cloud the balls of its tree over its particles.

use std::sync::Arc;

use glam::DVec3;

use super::convex_pair::Piece;
use super::straight_pass::StraightPass;
use crate::geom::point_triangle::norm;
use crate::hierarchy::particle_tree::ParticleTree;
use crate::hierarchy::wide::Child;
use crate::model::{Compound, CompoundChild, Geometry, Model};
use crate::num::tolerance::{CURVED_TOUCH, ROUND_UP};
use crate::shape::{Convex, Primitive};
use crate::{Feature, Pose};

/// A shape as a tree of convex pieces.
#[derive(Debug, Clone, Copy)]
pub(super) enum PieceTree<'s> {
    One(&'s Convex),
    Parts(&'s Compound),
    Mesh(&'s Model),
    Cloud(&'s ParticleTree),
}

/// A node of such a tree.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    pub piece: Arc<Piece>,
    /// What lies below a box.
    pub below: Inner,
    /// Half the diagonal of the box; the larger of two is opened first.
    pub size: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inner {
    /// Nothing: the piece is the shape, a part, a triangle or a particle (its number).
    Leaf(Option<u32>),
    /// Two nodes of a compound, from this one.
    Part(u32),
    /// The children of a mesh's node.
    Node(u32),
    /// The triangles of a mesh's leaf.
    Slots(Child),
    /// What lies below a node of a cloud.
    Particles(u32),
}

impl<'s> PieceTree<'s> {
    pub fn new(shape: &'s Geometry) -> PieceTree<'s> {
        match shape {
            Geometry::Mesh(model) => PieceTree::Mesh(model),
            Geometry::Convex(convex) => PieceTree::One(convex),
            Geometry::Compound(compound) => PieceTree::Parts(compound),
            Geometry::Particles(cloud) => PieceTree::Cloud(cloud.tree()),
        }
    }

    /// The whole shape.
    pub fn root(&self) -> Branch {
        match self {
            PieceTree::One(convex) => {
                let piece = Arc::new(Piece { convex: (*convex).clone(), local: None });
                Branch { piece, below: Inner::Leaf(None), size: 0.0 }
            }
            PieceTree::Parts(_) => self.part(0),
            PieceTree::Mesh(model) => {
                let frame = model.tree().frame();
                let [low, high] = model.tree().bounds().map(|corner| corner.as_dvec3() * frame.unit);
                boxed(frame.centre + 0.5 * (low + high), 0.5 * (high - low), Inner::Node(0))
            }
            PieceTree::Cloud(tree) => some_particles(tree, 0),
        }
    }

    /// A node of a compound: a part, or the box over some.
    fn part(&self, at: u32) -> Branch {
        let PieceTree::Parts(compound) = self else { return self.root() };
        let node = &compound.nodes()[at as usize];
        match node.below {
            CompoundChild::Two(_) => boxed(node.bounds.centre(), node.bounds.half(), Inner::Part(at)),
            CompoundChild::Part(i) => {
                let part = &compound.parts()[i as usize];
                let Geometry::Convex(convex) = &part.shape else {
                    return boxed(node.bounds.centre(), node.bounds.half(), Inner::Leaf(Some(i)));
                };
                let piece = Arc::new(Piece { convex: convex.clone(), local: Some(part.pose) });
                Branch { piece, below: Inner::Leaf(Some(i)), size: 0.0 }
            }
        }
    }

    /// What lies below, and times before which the other shape, if it passes straight, does not meet it; without what it
    /// never meets.
    pub fn children(&self, branch: &Branch, pass: Option<&StraightPass>) -> Vec<(f64, Branch)> {
        let any_time = |branches: Vec<Branch>| branches.into_iter().map(|branch| (0.0, branch)).collect();
        match (self, branch.below) {
            (PieceTree::Parts(compound), Inner::Part(at)) => match compound.nodes()[at as usize].below {
                CompoundChild::Two(right) => any_time(vec![self.part(at + 1), self.part(right)]),
                CompoundChild::Part(_) => any_time(vec![self.part(at)]),
            },
            (PieceTree::Mesh(model), Inner::Node(at)) => {
                let (frame, node) = (model.tree().frame(), &model.tree().nodes()[at as usize]);
                let child = |lane: usize| {
                    let (centre, half) = node.lane(lane);
                    let place = |x: [f32; 3]| DVec3::from(x.map(f64::from)) * frame.unit;
                    let (centre, half) = (frame.centre + place(centre), place(half));
                    let time = pass.map_or(0.0, |pass| pass.box_time(centre, half));
                    let below = node.child[lane]
                        .as_node()
                        .map_or(Inner::Slots(node.child[lane]), |n| Inner::Node(n as u32));
                    (time < f64::INFINITY).then(|| (time, boxed(centre, half, below)))
                };
                node.used().filter_map(child).collect()
            }
            (PieceTree::Mesh(model), Inner::Slots(child)) => {
                let triangle = |slot: usize| {
                    let t = model.tree().order()[slot];
                    let corners = model.mesh().corners(t);
                    let time = pass.map_or(0.0, |pass| pass.triangle_time(&corners));
                    (time < f64::INFINITY).then(|| {
                        let convex = Convex::Primitive(Primitive::Triangle { corners });
                        let piece = Arc::new(Piece { convex, local: None });
                        (time, Branch { piece, below: Inner::Leaf(Some(t)), size: 0.0 })
                    })
                };
                child.slots().filter_map(triangle).collect()
            }
            (PieceTree::Cloud(tree), Inner::Particles(at)) => match tree.children(at) {
                Some(two) => any_time(two.into_iter().map(|at| some_particles(tree, at)).collect()),
                None => {
                    any_time(tree.nodes()[at as usize].slots().map(|slot| particle(tree, slot)).collect())
                }
            },
            _ => Vec::new(),
        }
    }
}

/// A ball around the particles below a node of a cloud.
fn some_particles(tree: &ParticleTree, at: u32) -> Branch {
    let node = &tree.nodes()[at as usize];
    let size = (node.reach + node.largest) * ROUND_UP;
    round(node.centre, size, Inner::Particles(at), size)
}

fn particle(tree: &ParticleTree, slot: usize) -> Branch {
    let number = Inner::Leaf(Some(tree.particle(slot)));
    round(tree.points()[slot], tree.radii()[slot], number, 0.0)
}

/// A ball of the body's frame; without a radius a point.
fn round(centre: DVec3, radius: f64, below: Inner, size: f64) -> Branch {
    let convex = Convex::Primitive(if radius > 0.0 {
        Primitive::Sphere { radius }
    } else {
        Primitive::Segment { ends: [DVec3::ZERO; 2] }
    });
    let piece = Arc::new(Piece { convex, local: Some(Pose::shift(centre)) });
    Branch { piece, below, size }
}

/// A box of the body's frame.
fn boxed(centre: DVec3, half: DVec3, below: Inner) -> Branch {
    // A flat box is made a little thick: a box needs sides.
    let size = norm(half);
    let half = half.max(DVec3::splat(size * CURVED_TOUCH + f64::MIN_POSITIVE));
    let convex = Convex::Primitive(Primitive::Cuboid { half });
    let piece = Arc::new(Piece { convex, local: Some(Pose::shift(centre)) });
    Branch { piece, below, size }
}

/// A feature of a triangle as one of its mesh.
pub(super) fn triangle_feature(model: &Model, triangle: u32, feature: Feature) -> Feature {
    let corners = model.mesh().triangles()[triangle as usize];
    match feature {
        Feature::Vertex(i) => {
            corners.get(i as usize).map_or(Feature::Face(triangle), |&v| Feature::Vertex(v))
        }
        Feature::Edge([i, j]) => match (corners.get(i as usize), corners.get(j as usize)) {
            (Some(&v), Some(&w)) => Feature::Edge([v.min(w), v.max(w)]),
            _ => Feature::Face(triangle),
        },
        _ => Feature::Face(triangle),
    }
}
