//! What users hold: a shape of any kind, made in one way and cheap to copy.

use std::fmt;
use std::sync::Arc;

use glam::DVec3;

use super::{Cloud, Compound, Geometry, Model};
use crate::bound::Aabb;
use crate::shape::{Convex, Polytope, Primitive, TetMesh};
use crate::{Error, Mesh, Pose};

/// A shape in its own frame: a triangle mesh, a tetrahedral mesh, a convex hull, a primitive, a compound of convex
/// shapes or a cloud of particles.
///
/// A copy shares everything that is large. Trees and other acceleration structures are built when a question
/// first needs them, and kept.
///
/// ```
/// use impinge::{Pose, Relation, Shape};
///
/// let ball = Shape::sphere(0.5)?;
/// let cube = Shape::cuboid([1.0, 1.0, 1.0])?;
/// let above = Pose::from_translation([0.0, 0.0, 1.5])?;
/// assert_eq!(impinge::relation(&cube, ball.at(above)), Relation::Touching);
/// # Ok::<(), impinge::Error>(())
/// ```
#[derive(Clone)]
pub struct Shape {
    geometry: Arc<Geometry>,
}

/// The kind of a shape, by the words of the program's questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ShapeKind {
    /// A triangle mesh: a solid where it is closed, else a surface.
    Mesh,
    /// A solid of tetrahedra; answers speak of the triangles of its surface.
    TetMesh,
    /// The convex hull of points.
    Hull,
    /// A ball.
    Sphere,
    /// A box.
    Box,
    /// A capsule along z.
    Capsule,
    /// A cylinder along z.
    Cylinder,
    /// A cone along z.
    Cone,
    /// An ellipsoid.
    Ellipsoid,
    /// The points on one side of a plane.
    HalfSpace,
    /// One flat triangle.
    Triangle,
    /// One segment.
    Segment,
    /// Convex shapes in one frame.
    Compound,
    /// Balls and points in one frame.
    Particles,
}

impl ShapeKind {
    /// Its word in the program's questions.
    pub const fn name(self) -> &'static str {
        match self {
            ShapeKind::Mesh => "mesh",
            ShapeKind::TetMesh => "tetmesh",
            ShapeKind::Hull => "hull",
            ShapeKind::Sphere => "sphere",
            ShapeKind::Box => "box",
            ShapeKind::Capsule => "capsule",
            ShapeKind::Cylinder => "cylinder",
            ShapeKind::Cone => "cone",
            ShapeKind::Ellipsoid => "ellipsoid",
            ShapeKind::HalfSpace => "halfspace",
            ShapeKind::Triangle => "triangle",
            ShapeKind::Segment => "segment",
            ShapeKind::Compound => "compound",
            ShapeKind::Particles => "particles",
        }
    }

    /// Whether its surface is made of triangles with indices.
    pub const fn is_mesh(self) -> bool {
        matches!(self, ShapeKind::Mesh | ShapeKind::TetMesh)
    }

    /// Whether it is one convex shape.
    pub const fn is_convex(self) -> bool {
        !self.is_mesh() && !matches!(self, ShapeKind::Compound | ShapeKind::Particles)
    }
}

impl fmt::Display for ShapeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Shape {
    /// A triangle mesh from its arrays: closed ones are solids, open ones surfaces.
    ///
    /// # Errors
    /// No triangles, an index out of range, or a coordinate that is not finite or beyond 1e60.
    pub fn mesh(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Result<Shape, Error> {
        Mesh::new(vertices, triangles).map(Shape::from)
    }

    /// A solid of tetrahedra from its arrays, of either orientation.
    ///
    /// # Errors
    /// No tetrahedra, an index out of range, or a coordinate that is not finite or beyond 1e60.
    pub fn tetrahedra(vertices: Vec<[f64; 3]>, tetrahedra: Vec<[u32; 4]>) -> Result<Shape, Error> {
        let vertices = vertices.into_iter().map(DVec3::from).collect();
        Shape::try_from(TetMesh::new(vertices, tetrahedra)?)
    }

    /// The convex hull of points; flat hulls are allowed.
    ///
    /// # Errors
    /// No points, or a coordinate that is not finite or beyond 1e60.
    pub fn hull<P: Into<DVec3>>(points: impl IntoIterator<Item = P>) -> Result<Shape, Error> {
        let points: Vec<DVec3> = points.into_iter().map(Into::into).collect();
        Polytope::hull(&points).map(Shape::from)
    }

    /// A ball around the origin.
    ///
    /// # Errors
    /// A radius that is not positive, not finite or beyond 1e60; so for the sizes of all primitives.
    pub fn sphere(radius: f64) -> Result<Shape, Error> {
        Primitive::sphere(radius).map(Shape::from)
    }

    /// A box around the origin with these half extents.
    ///
    /// # Errors
    /// As [`Shape::sphere`].
    pub fn cuboid(half_extents: impl Into<DVec3>) -> Result<Shape, Error> {
        Primitive::cuboid(half_extents).map(Shape::from)
    }

    /// A capsule along z; its round ends reach beyond ±`half_height` by the radius.
    ///
    /// # Errors
    /// As [`Shape::sphere`].
    pub fn capsule(radius: f64, half_height: f64) -> Result<Shape, Error> {
        Primitive::capsule(radius, half_height).map(Shape::from)
    }

    /// A cylinder along z.
    ///
    /// # Errors
    /// As [`Shape::sphere`].
    pub fn cylinder(radius: f64, half_height: f64) -> Result<Shape, Error> {
        Primitive::cylinder(radius, half_height).map(Shape::from)
    }

    /// A cone along z with its base at −`half_height` and its apex at +`half_height`.
    ///
    /// # Errors
    /// As [`Shape::sphere`].
    pub fn cone(radius: f64, half_height: f64) -> Result<Shape, Error> {
        Primitive::cone(radius, half_height).map(Shape::from)
    }

    /// An ellipsoid around the origin.
    ///
    /// # Errors
    /// As [`Shape::sphere`].
    pub fn ellipsoid(radii: impl Into<DVec3>) -> Result<Shape, Error> {
        Primitive::ellipsoid(radii).map(Shape::from)
    }

    /// The points x with normal·x ≤ offset.
    ///
    /// # Errors
    /// A normal of length zero, or numbers that are not finite.
    pub fn half_space(normal: impl Into<DVec3>, offset: f64) -> Result<Shape, Error> {
        Primitive::half_space(normal, offset).map(Shape::from)
    }

    /// One flat triangle, which may be of no area.
    ///
    /// # Errors
    /// A coordinate that is not finite or beyond 1e60.
    pub fn triangle(corners: [impl Into<DVec3>; 3]) -> Result<Shape, Error> {
        Primitive::triangle(corners.map(Into::into)).map(Shape::from)
    }

    /// One segment, which may be of no length.
    ///
    /// # Errors
    /// A coordinate that is not finite or beyond 1e60.
    pub fn segment(ends: [impl Into<DVec3>; 2]) -> Result<Shape, Error> {
        Primitive::segment(ends.map(Into::into)).map(Shape::from)
    }

    /// The union of convex shapes, each placed in the body's frame.
    ///
    /// # Errors
    /// No parts, a part that is not convex, or one without bounds (a half-space).
    pub fn compound(parts: impl IntoIterator<Item = (Shape, Pose)>) -> Result<Shape, Error> {
        let convex = parts.into_iter().enumerate().map(|(i, (shape, pose))| match shape.geometry() {
            Geometry::Convex(convex) => Ok((convex.clone(), pose)),
            _ => {
                let reason = format!("part {i} is a {}, which is not convex", shape.kind());
                Err(Error::Argument { name: "parts", reason })
            }
        });
        Compound::new(convex.collect::<Result<Vec<_>, Error>>()?).map(Shape::from)
    }

    /// A cloud of particles: balls around these points, with one radius for all or one for each; a radius of 0 makes
    /// a point. Answers number the particles as they were given ([`Feature::Vertex`](crate::Feature::Vertex)), and
    /// [`Shape::set_vertices`] moves them.
    ///
    /// ```
    /// use impinge::{Relation, Shape};
    ///
    /// let dust = Shape::particles([[0.0, 0.0, 1.5], [0.0, 0.0, 3.0]], &[0.1])?;
    /// let cube = Shape::cuboid([1.0, 1.0, 1.0])?;
    /// assert_eq!(impinge::relation(&dust, &cube), Relation::Separated);
    /// assert!((impinge::distance(&dust, &cube).distance - 0.4).abs() < 1e-12);
    /// # Ok::<(), impinge::Error>(())
    /// ```
    ///
    /// # Errors
    /// No points, a coordinate that is not finite or beyond 1e60, a radius that is negative, not finite or beyond
    /// 1e60, or another number of radii than one or one each.
    pub fn particles<P: Into<DVec3>>(
        points: impl IntoIterator<Item = P>,
        radii: &[f64],
    ) -> Result<Shape, Error> {
        Cloud::new(points.into_iter().map(Into::into).collect(), radii).map(Shape::from)
    }

    /// What kind of shape it is.
    pub fn kind(&self) -> ShapeKind {
        self.geometry.kind()
    }

    /// The triangles of a mesh, or of the surface of a tetrahedral mesh; `None` for other kinds.
    pub fn as_mesh(&self) -> Option<&Mesh> {
        self.geometry.model().map(|model| model.mesh())
    }

    /// The faces of a hull as triangles, fanned in order; the vertices are the hull's corners. `None` for other
    /// kinds, and for more triangles than a mesh can hold.
    pub fn hull_mesh(&self) -> Option<Mesh> {
        self.polytope()?.mesh().ok()
    }

    /// How many faces a hull has, which answers number from 0; `None` for other kinds.
    pub fn hull_faces(&self) -> Option<usize> {
        Some(self.polytope()?.faces().len())
    }

    fn polytope(&self) -> Option<&Polytope> {
        match self.geometry() {
            Geometry::Convex(Convex::Polytope(hull)) => Some(hull),
            _ => None,
        }
    }

    /// Whether it is a solid: a closed mesh (after welding, the directed edges cancel), or a shape with an
    /// interior.
    pub fn is_closed(&self) -> bool {
        match self.geometry() {
            Geometry::Mesh(model) => model.topology().is_closed(),
            Geometry::Convex(convex) => !convex.is_flat(),
            Geometry::Compound(_) => true,
            Geometry::Particles(cloud) => cloud.has_interior(),
        }
    }

    /// How many of the connected parts of an open mesh are not closed, and how many it has; `None` for other shapes.
    ///
    /// A mesh is a solid only as a whole: one part with a border, and it has no inside. To ask about its closed parts
    /// alone, make a shape of each.
    pub fn open_components(&self) -> Option<[usize; 2]> {
        let topology = self.geometry().model()?.topology();
        (!topology.is_closed()).then(|| [topology.open_components(), topology.components().len()])
    }

    /// A box of the world around the placed shape, rounded outward; infinite for a half-space.
    ///
    /// That of a mesh is around the boxes of its tree, turned with it: the tree is built at the first call and kept.
    pub fn bounds(&self, pose: &Pose) -> Aabb {
        self.geometry.bounds(pose)
    }

    /// Moves the vertices of a mesh or the particles of a cloud: a new position for each, in the order given. The tree
    /// is refitted, and
    /// rebuilt once refitting has made it too loose; so is what earlier questions had built, so that the next ones
    /// find it ready. Copies of the shape keep the old vertices.
    ///
    /// For a tetrahedral mesh these are the vertices of the solid.
    ///
    /// ```
    /// use impinge::{Pose, Shape};
    ///
    /// let mut flag = Shape::mesh(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2]])?;
    /// flag.set_vertices(&[[0.0; 3], [1.0, 0.0, 0.2], [0.0, 1.0, 0.2]])?;
    /// assert_eq!(flag.bounds(&Pose::IDENTITY).high.z.max(0.2), flag.bounds(&Pose::IDENTITY).high.z);
    /// # Ok::<(), impinge::Error>(())
    /// ```
    ///
    /// # Errors
    /// Neither mesh nor cloud, another number of vertices, or a coordinate that is not finite or beyond 1e60; the shape
    /// stays what it was.
    pub fn set_vertices(&mut self, vertices: &[[f64; 3]]) -> Result<(), Error> {
        let kind = self.kind();
        let vertices = vertices.iter().copied().map(DVec3::from).collect();
        match Arc::make_mut(&mut self.geometry) {
            Geometry::Mesh(model) => Arc::make_mut(model).set_vertices(vertices),
            Geometry::Particles(cloud) => Arc::make_mut(cloud).set_points(vertices),
            Geometry::Convex(_) | Geometry::Compound(_) => {
                let reason = format!("a {kind} has none that can be moved");
                Err(Error::Argument { name: "vertices", reason })
            }
        }
    }

    /// The same shape with nothing built yet: the first question to it pays for the trees itself, whatever other
    /// copies were asked before. Under a budget in work units its answer then depends on the question alone.
    ///
    /// ```
    /// use impinge::{Budget, Query, Shape};
    ///
    /// let sheet = Shape::mesh(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2]])?;
    /// let ball = Shape::sphere(0.5)?;
    /// let ask = |sheet: &Shape| Query { budget: Budget::units(50), ..Query::default() }.distance(sheet, &ball);
    /// let before = ask(&sheet.unprepared())?;
    /// impinge::distance(&sheet, &ball);
    /// assert_eq!(ask(&sheet.unprepared())?.value, before.value);
    /// # Ok::<(), impinge::Error>(())
    /// ```
    pub fn unprepared(&self) -> Shape {
        match self.geometry() {
            Geometry::Mesh(model) => Shape::from(model.unprepared()),
            Geometry::Particles(cloud) => Shape::from(cloud.unprepared()),
            // Convex shapes and compounds are complete when they are made.
            Geometry::Convex(_) | Geometry::Compound(_) => self.clone(),
        }
    }

    /// What the kernels work on.
    #[doc(hidden)]
    #[inline]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.geometry() {
            Geometry::Mesh(model) => write!(
                f,
                "Shape({} of {} vertices, {} triangles)",
                self.kind(),
                model.mesh().vertices().len(),
                model.mesh().triangles().len()
            ),
            Geometry::Convex(Convex::Primitive(primitive)) => write!(f, "Shape({primitive:?})"),
            Geometry::Convex(Convex::Polytope(hull)) => {
                write!(f, "Shape(hull of {} vertices)", hull.vertices().len())
            }
            Geometry::Compound(compound) => write!(f, "Shape(compound of {} parts)", compound.parts().len()),
            Geometry::Particles(cloud) => write!(f, "Shape({} particles)", cloud.points().len()),
        }
    }
}

impl<G: Into<Geometry>> From<G> for Shape {
    fn from(geometry: G) -> Shape {
        Shape { geometry: Arc::new(geometry.into()) }
    }
}

impl TryFrom<TetMesh> for Shape {
    type Error = Error;

    fn try_from(solid: TetMesh) -> Result<Shape, Error> {
        Model::of_solid(solid).map(Shape::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;

    #[test]
    fn compounds_refuse_what_is_not_convex() {
        let mesh = Shape::from(procedural::ico_sphere(1.0, 1).unwrap());
        let refused = Shape::compound([(mesh, Pose::IDENTITY)]).unwrap_err().to_string();
        assert!(refused.contains("part 0") && refused.contains("mesh"), "{refused}");
    }

    #[test]
    fn shapes_can_go_to_other_threads() {
        fn both<T: Send + Sync>() {}
        both::<Shape>();
        both::<Model>();
    }
}
