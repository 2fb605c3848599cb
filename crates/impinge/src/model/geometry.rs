//! What the kernels work on: a mesh with its tree, a convex shape, a compound of these, or a cloud of particles.

use std::sync::Arc;

use glam::{DMat3, DVec3};
use smallvec::SmallVec;

use super::{Cloud, Compound, Fact, Model, ShapeKind};
use crate::bound::{Aabb, Sphere};
use crate::num::tolerance::{PLACED_BOX_ROUNDING, ROUND_UP, STRETCH};
use crate::shape::{Convex, Polytope, Primitive};
use crate::{Mesh, Pose};

/// The closed list of what a [`Shape`](super::Shape) can be; a copy shares what is large.
#[derive(Debug, Clone)]
pub enum Geometry {
    /// A triangle mesh with its tree.
    Mesh(Arc<Model>),
    /// A primitive or a polytope.
    Convex(Convex),
    /// Convex parts in one frame.
    Compound(Arc<Compound>),
    /// Balls and points in one frame.
    Particles(Arc<Cloud>),
}

impl Geometry {
    /// Its kind.
    pub fn kind(&self) -> ShapeKind {
        match self {
            Geometry::Mesh(model) if model.solid().is_some() => ShapeKind::TetMesh,
            Geometry::Mesh(_) => ShapeKind::Mesh,
            Geometry::Compound(_) => ShapeKind::Compound,
            Geometry::Particles(_) => ShapeKind::Particles,
            Geometry::Convex(Convex::Polytope(_)) => ShapeKind::Hull,
            Geometry::Convex(Convex::Primitive(primitive)) => match primitive {
                Primitive::Sphere { .. } => ShapeKind::Sphere,
                Primitive::Cuboid { .. } => ShapeKind::Box,
                Primitive::Capsule { .. } => ShapeKind::Capsule,
                Primitive::Cylinder { .. } => ShapeKind::Cylinder,
                Primitive::Cone { .. } => ShapeKind::Cone,
                Primitive::Ellipsoid { .. } => ShapeKind::Ellipsoid,
                Primitive::HalfSpace { .. } => ShapeKind::HalfSpace,
                Primitive::Triangle { .. } => ShapeKind::Triangle,
                Primitive::Segment { .. } => ShapeKind::Segment,
            },
        }
    }

    /// How many primitives its kernels go through: triangles, faces of a hull, parts, particles.
    pub fn primitives(&self) -> u64 {
        match self {
            Geometry::Mesh(model) => model.mesh().triangles().len() as u64,
            Geometry::Convex(Convex::Polytope(hull)) => hull.faces().len().max(1) as u64,
            Geometry::Convex(Convex::Primitive(_)) => 1,
            Geometry::Compound(compound) => compound.parts().len() as u64,
            Geometry::Particles(cloud) => cloud.points().len() as u64,
        }
    }

    /// Whether it is the other one, or a copy of it.
    pub(crate) fn is_same(&self, other: &Geometry) -> bool {
        match (self, other) {
            (Geometry::Mesh(a), Geometry::Mesh(b)) => a.identity() == b.identity(),
            (Geometry::Compound(a), Geometry::Compound(b)) => Arc::ptr_eq(a, b),
            (Geometry::Particles(a), Geometry::Particles(b)) => a.identity() == b.identity(),
            (Geometry::Convex(Convex::Polytope(a)), Geometry::Convex(Convex::Polytope(b))) => {
                Arc::ptr_eq(a, b)
            }
            (Geometry::Convex(Convex::Primitive(a)), Geometry::Convex(Convex::Primitive(b))) => a == b,
            _ => false,
        }
    }

    /// The mesh with its tree; `None` for other kinds.
    pub fn model(&self) -> Option<&Arc<Model>> {
        match self {
            Geometry::Mesh(model) => Some(model),
            _ => None,
        }
    }

    /// A box of the world around the placed shape, rounded outward; infinite for a half-space.
    pub fn bounds(&self, pose: &Pose) -> Aabb {
        match self {
            Geometry::Mesh(model) => mesh_bounds(model, pose, 0),
            Geometry::Convex(Convex::Primitive(p)) => primitive_bounds(p, pose),
            Geometry::Convex(Convex::Polytope(p)) => polytope_bounds(p, pose, [0; 6]).0,
            Geometry::Compound(compound) => compound.bounds(pose),
            Geometry::Particles(cloud) => cloud.bounds(pose),
        }
    }

    /// A box of the world around the placed shape that needs no tree: of a mesh that of its placed corners, to the bit;
    /// of others as [`Geometry::bounds`].
    pub(crate) fn corner_bounds(&self, pose: &Pose) -> Aabb {
        let Geometry::Mesh(model) = self else { return self.bounds(pose) };
        if *pose == Pose::IDENTITY {
            return model.corner_box();
        }
        let corners = model.mesh().triangles().as_flattened().iter();
        let corners = corners.map(|&v| pose.apply(model.mesh().vertices()[v as usize]));
        corners.fold(Aabb::EMPTY, |b, p| Aabb { low: b.low.min(p), high: b.high.max(p) })
    }

    /// A box around the shape in its own frame, whatever is built; infinite for a half-space.
    pub(crate) fn own_box(&self) -> Aabb {
        match self {
            Geometry::Mesh(model) => model.corner_box(),
            _ => self.bounds(&Pose::IDENTITY),
        }
    }

    /// Whether that of a mesh was found before.
    pub(crate) fn knows_box(&self) -> bool {
        self.model().is_some_and(|model| model.knows_corner_box())
    }

    /// As [`Geometry::bounds`], or a larger box of a mesh whose tree is not built yet: builds nothing, so that a frame
    /// of a scene does not pay for a mesh that meets nothing.
    pub(crate) fn known_bounds(&self, pose: &Pose) -> Aabb {
        match self {
            Geometry::Mesh(model) if !model.knows(Fact::Tree) => placed_box(&model.corner_box(), pose),
            _ => self.bounds(pose),
        }
    }

    /// A smaller box of the world, where it is asked for much more often than it is made.
    pub(crate) fn tight_bounds(&self, pose: &Pose) -> Aabb {
        match self {
            Geometry::Mesh(model) => mesh_bounds(model, pose, TIGHT_LEVELS),
            _ => self.bounds(pose),
        }
    }

    /// A ball of the world around a placed shape, which many that enter its box miss; infinite where none is known.
    pub(crate) fn ball(&self, pose: &Pose) -> Sphere {
        let own = match self {
            Geometry::Mesh(model) => model.corner_ball(),
            Geometry::Convex(Convex::Polytope(hull)) => {
                Sphere { centre: hull.centre(), radius: hull.reach() * ROUND_UP }
            }
            Geometry::Convex(Convex::Primitive(primitive)) => {
                Sphere { centre: DVec3::ZERO, radius: reach_from_origin(primitive) * ROUND_UP }
            }
            _ => return Sphere { centre: DVec3::ZERO, radius: f64::INFINITY },
        };
        let size = own.radius + own.centre.abs().element_sum() + pose.translation().abs().max_element();
        // A pose may stretch by as much as it may be off orthonormal.
        Sphere { centre: pose.apply(own.centre), radius: own.radius * STRETCH + PLACED_BOX_ROUNDING * size }
    }
}

/// Levels below the root whose boxes stand for a mesh where a tight volume is wanted: up to 64 boxes.
const TIGHT_LEVELS: usize = 1;

/// The box around the boxes of the tree, placed, that are so many levels below those of the root.
fn mesh_bounds(model: &Model, pose: &Pose, levels: usize) -> Aabb {
    let frame = model.tree().frame();
    let place = absolute(&pose.matrix());
    let mut bounds = Aabb::EMPTY;
    for_boxes(model, levels, |centre, half| {
        let (centre, half) = (pose.apply(frame.centre + centre), place * half);
        bounds.low = bounds.low.min(centre - half);
        bounds.high = bounds.high.max(centre + half);
    });
    let size = frame.centre.length() + 4.0 * f64::from(frame.reach) * frame.unit;
    padded(bounds, size + pose.translation().length())
}

/// The box around a placed box.
fn placed_box(own: &Aabb, pose: &Pose) -> Aabb {
    let (centre, half) = (pose.apply(own.centre()), absolute(&pose.matrix()) * own.half());
    let size = own.low.abs().max(own.high.abs()).element_sum() + pose.translation().abs().max_element();
    padded(Aabb { low: centre - half, high: centre + half }, size)
}

/// Centres, counted from the tree's origin, and half extents of boxes of the tree that together hold the mesh.
fn for_boxes(model: &Model, levels: usize, mut take: impl FnMut(DVec3, DVec3)) {
    let (unit, nodes) = (model.tree().frame().unit, model.tree().nodes());
    let mut open: SmallVec<[(usize, usize); 8]> = SmallVec::from_slice(&[(0, levels)]);
    while let Some((at, levels)) = open.pop() {
        let node = &nodes[at];
        for lane in node.used() {
            match node.child[lane].as_node().filter(|_| levels > 0) {
                Some(below) => open.push((below, levels - 1)),
                None => {
                    let (centre, half) = node.lane(lane);
                    take(DVec3::from(centre.map(f64::from)) * unit, DVec3::from(half.map(f64::from)) * unit);
                }
            }
        }
    }
}

/// The box of a polytope by climbing from the given corners along the six directions of the world, and the
/// corners it ended at: lowest along x, y, z, then highest along x, y, z.
pub(crate) fn polytope_bounds(polytope: &Polytope, pose: &Pose, mut from: [u32; 6]) -> (Aabb, [u32; 6]) {
    // A direction of the world, seen from the body, is a row of the pose's matrix.
    let rows = pose.matrix().transpose();
    let vertices = polytope.vertices();
    let mut bounds = Aabb::EMPTY;
    let mut size = 0.0_f64;
    for axis in 0..3 {
        let row = rows.col(axis);
        from[axis] = polytope.support(-row, from[axis]);
        from[3 + axis] = polytope.support(row, from[3 + axis]);
        let [low, high] = [from[axis], from[3 + axis]].map(|v| vertices[v as usize]);
        size = size.max(low.abs().max(high.abs()).element_sum());
        bounds.low[axis] = row.dot(low) + pose.translation()[axis];
        bounds.high[axis] = row.dot(high) + pose.translation()[axis];
    }
    // The true extremes may be other corners, but by rounding only.
    (padded(bounds, size + pose.translation().abs().max_element()), from)
}

fn primitive_bounds(primitive: &Primitive, pose: &Pose) -> Aabb {
    if let Primitive::HalfSpace { .. } = primitive {
        return Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };
    }
    let turn = pose.rotation();
    // The direction of a world axis in the shape's frame is a row of the matrix.
    let rows = turn.transpose();
    let axes = [rows.x_axis, rows.y_axis, rows.z_axis];
    let mut size = pose.translation().length();
    let mut reach = |sign: f64| {
        let along = axes.map(|axis| {
            let p = primitive.support(axis * sign);
            size = size.max(pose.translation().length() + p.length());
            axis.dot(p)
        });
        DVec3::from(along) + pose.translation()
    };
    let bounds = Aabb { low: reach(-1.0), high: reach(1.0) };
    padded(bounds, size)
}

/// Nothing of a primitive around the origin is farther from there; infinite for other ones, which a pose that is nearly a
/// rotation moves.
fn reach_from_origin(primitive: &Primitive) -> f64 {
    match *primitive {
        Primitive::Sphere { radius } => radius,
        Primitive::Cuboid { half } => half.length(),
        Primitive::Capsule { radius, half_height } => radius + half_height,
        Primitive::Cylinder { radius, half_height } | Primitive::Cone { radius, half_height } => {
            radius.hypot(half_height)
        }
        Primitive::Ellipsoid { radii } => radii.max_element(),
        Primitive::HalfSpace { .. } | Primitive::Triangle { .. } | Primitive::Segment { .. } => f64::INFINITY,
    }
}

fn absolute(m: &DMat3) -> DMat3 {
    DMat3::from_cols(m.x_axis.abs(), m.y_axis.abs(), m.z_axis.abs())
}

/// Grown by what rounding can do to numbers of this size.
fn padded(bounds: Aabb, size: f64) -> Aabb {
    let pad = DVec3::splat(size * PLACED_BOX_ROUNDING + f64::MIN_POSITIVE);
    Aabb { low: bounds.low - pad, high: bounds.high + pad }
}

impl From<Model> for Geometry {
    fn from(model: Model) -> Geometry {
        Geometry::Mesh(Arc::new(model))
    }
}

impl From<Arc<Model>> for Geometry {
    fn from(model: Arc<Model>) -> Geometry {
        Geometry::Mesh(model)
    }
}

impl From<Mesh> for Geometry {
    fn from(mesh: Mesh) -> Geometry {
        Model::from(mesh).into()
    }
}

impl From<Convex> for Geometry {
    fn from(convex: Convex) -> Geometry {
        Geometry::Convex(convex)
    }
}

impl From<Polytope> for Geometry {
    fn from(polytope: Polytope) -> Geometry {
        Geometry::Convex(polytope.into())
    }
}

impl From<Compound> for Geometry {
    fn from(compound: Compound) -> Geometry {
        Geometry::Compound(Arc::new(compound))
    }
}

impl From<Cloud> for Geometry {
    fn from(cloud: Cloud) -> Geometry {
        Geometry::Particles(Arc::new(cloud))
    }
}

impl From<Primitive> for Geometry {
    fn from(primitive: Primitive) -> Geometry {
        Geometry::Convex(primitive.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    fn compound() -> Compound {
        let ball = Convex::from(Primitive::sphere(0.3).unwrap());
        let places = [DVec3::ZERO, DVec3::X, DVec3::new(0.2, -1.5, 0.7)];
        Compound::new(places.map(|p| (ball.clone(), Pose::shift(p)))).unwrap()
    }

    #[test]
    fn boxes_hold_the_placed_shape_and_little_more() {
        let mut rng = Pcg64::seed_from_u64(5);
        let shapes: Vec<Geometry> = vec![
            procedural::ico_sphere(1.0, 2).unwrap().into(),
            Primitive::sphere(0.7).unwrap().into(),
            Primitive::cuboid([0.3, 0.5, 0.9]).unwrap().into(),
            Primitive::capsule(0.4, 0.6).unwrap().into(),
            Primitive::cylinder(0.5, 0.8).unwrap().into(),
            Primitive::cone(0.8, 0.7).unwrap().into(),
            Primitive::ellipsoid([0.4, 0.6, 0.9]).unwrap().into(),
            Primitive::triangle([DVec3::X, DVec3::Y, DVec3::Z]).unwrap().into(),
            Primitive::segment([DVec3::X, DVec3::Y]).unwrap().into(),
            Polytope::hull(procedural::blob(1.0, 0.3, 2, 9).unwrap().vertices()).unwrap().into(),
            compound().into(),
            Cloud::new(procedural::positions(300, -DVec3::ONE, DVec3::ONE, 3), &[0.0]).unwrap().into(),
        ];
        for shape in &shapes {
            let turn = [(); 4].map(|()| rng.random_range(-1.0..1.0));
            let pose = Pose::new([1.0, -20.0, 3.0], turn).unwrap();
            let known = shape.known_bounds(&pose);
            assert!(!shape.model().is_some_and(|model| model.knows(Fact::Tree)), "a tree was built");
            let bounds = shape.bounds(&pose);
            let ball = shape.ball(&pose);
            let (mut seen, mut farthest) = (Aabb::EMPTY, 0.0_f64);
            for _ in 0..4000 {
                let d = DVec3::from([(); 3].map(|()| rng.random_range(-1.0..1.0)));
                let p = match shape {
                    Geometry::Mesh(model) => {
                        let vertices = model.mesh().vertices();
                        vertices[rng.random_range(0..vertices.len())]
                    }
                    Geometry::Convex(convex) => convex.support(d),
                    Geometry::Compound(compound) => {
                        let part = &compound.parts()[rng.random_range(0..compound.parts().len())];
                        let Geometry::Convex(convex) = &part.shape else { unreachable!() };
                        part.pose.apply(convex.support(d))
                    }
                    Geometry::Particles(cloud) => cloud.points()[rng.random_range(0..cloud.points().len())],
                };
                let p = pose.apply(p);
                for bounds in [&bounds, &known] {
                    assert!(p.cmpge(bounds.low).all() && p.cmple(bounds.high).all(), "{shape:?}");
                }
                assert!(p.distance(ball.centre) <= ball.radius, "{shape:?}");
                farthest = farthest.max(p.distance(ball.centre));
                seen = Aabb { low: seen.low.min(p), high: seen.high.max(p) };
            }
            let is_known = match shape {
                Geometry::Convex(Convex::Primitive(p)) => {
                    !matches!(p, Primitive::Triangle { .. } | Primitive::Segment { .. })
                }
                Geometry::Mesh(_) | Geometry::Convex(_) => true,
                _ => false,
            };
            assert_eq!(farthest > 0.97 * ball.radius, is_known, "{}: {farthest} {ball:?}", shape.kind());
            // A mesh's box comes from the boxes of its tree, turned with it.
            let loose = |b: &Aabb| (seen.low - b.low).max(b.high - seen.high);
            let is_mesh = matches!(shape, Geometry::Mesh(_));
            let room = if is_mesh { 0.75 } else { 0.02 };
            assert!(loose(&bounds).max_element() < room, "{}: {bounds:?}", shape.kind());
            let tight = loose(&shape.tight_bounds(&pose));
            assert!(tight.min_element() > -1e-12, "{}: {tight}", shape.kind());
            assert!(tight.cmple(loose(&bounds) + 1e-12).all(), "{}: {tight}", shape.kind());
        }
        let half = Geometry::from(Primitive::half_space([0.0, 0.0, 1.0], 2.0).unwrap());
        assert_eq!(half.bounds(&Pose::IDENTITY).high, DVec3::INFINITY);
    }
}
