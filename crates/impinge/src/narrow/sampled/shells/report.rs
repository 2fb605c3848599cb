//! What shells tell about themselves.

use super::{Facet, Shells, hash_of};
use crate::model::{Geometry, Model};
use crate::{Budget, Error, Mesh, Shape};

/// Sides of a disc in a picture.
const DISC_SIDES: u32 = 16;

/// One level of layered shells; lengths are in the units of the mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ShellLevel {
    /// How many facets it has.
    pub facets: usize,
    /// Mean radius of the facets.
    pub mean_radius: f64,
    /// Mean of how far the surface lies before the facets' discs.
    pub mean_outer: f64,
    /// Largest of these.
    pub largest_outer: f64,
    /// Mean of how far the surface lies behind the facets' discs.
    pub mean_inner: f64,
    /// Largest of these.
    pub largest_inner: f64,
    /// Mean over the facets of the largest distance of the surface below one from its disc's outer side.
    pub mean_offset_of_discs: f64,
    /// The same where the facets' edge planes hold the surface instead: how tight the shell is.
    pub mean_offset: f64,
    /// Edge planes of all facets.
    pub edge_planes: usize,
}

impl Shells {
    /// The shells of a mesh: so many levels, the mesh itself among them (fewer where no more can be made), or
    /// as many as it takes to come down to a few tens of facets.
    ///
    /// ```
    /// use impinge::{Shape, Shells, procedural};
    ///
    /// let ball = Shape::from(procedural::ico_sphere(1.0, 4)?);
    /// let levels = Shells::of(&ball, None)?.report();
    /// assert_eq!(levels[0].facets, 5120);
    /// assert!(levels.last().unwrap().facets < 100 && levels[1].mean_outer < 0.01);
    /// # Ok::<(), impinge::Error>(())
    /// ```
    ///
    /// # Errors
    /// A shape that is not a mesh.
    pub fn of(shape: &Shape, levels: Option<usize>) -> Result<Shells, Error> {
        Ok(Shells::of_mesh(model_of(shape)?.mesh(), levels))
    }

    /// Lets questions about a shape that need shells use these, for example loaded ones, instead of making
    /// their own; if the shape has shells already, it keeps them.
    ///
    /// # Errors
    /// A shape that is not a mesh, or another one than the shells were made for.
    pub fn attach(self, shape: &Shape) -> Result<(), Error> {
        let model = model_of(shape)?;
        if self.mesh_hash() != hash_of(model.mesh()) {
            let reason = "the shells were made for another mesh".to_string();
            return Err(Error::Argument { name: "shape", reason });
        }
        model.attached(0, &mut Budget::UNLIMITED.clone(), |_| self);
        Ok(())
    }

    /// The levels in figures, the finest first.
    pub fn report(&self) -> Vec<ShellLevel> {
        let level = |level: &super::Level| {
            let count = level.facets.len().max(1) as f64;
            let mean = |of: fn(&Facet) -> f64| level.facets.iter().map(of).sum::<f64>() / count;
            let largest = |of: fn(&Facet) -> f64| level.facets.iter().map(of).fold(0.0, f64::max);
            ShellLevel {
                facets: level.facets.len(),
                mean_radius: mean(|f| f.radius),
                mean_outer: mean(|f| f.outer),
                largest_outer: largest(|f| f.outer),
                mean_inner: mean(|f| -f.inner),
                largest_inner: largest(|f| -f.inner),
                mean_offset_of_discs: level.tightness.mean_disc,
                mean_offset: level.tightness.mean,
                edge_planes: level.slabs.len(),
            }
        };
        self.levels.iter().map(level).collect()
    }

    /// The outer discs of a level as polygons, to look at; `None` for a level that is not there.
    pub fn discs(&self, level: usize) -> Option<Mesh> {
        let facets = &self.levels.get(level)?.facets;
        let mut vertices = Vec::with_capacity(facets.len() * DISC_SIDES as usize);
        let mut triangles = Vec::new();
        for facet in facets {
            let first = vertices.len() as u32;
            let (u, v) = facet.normal.any_orthonormal_pair();
            let middle = facet.centre + facet.normal * facet.outer;
            vertices.extend((0..DISC_SIDES).map(|k| {
                let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / f64::from(DISC_SIDES)).sin_cos();
                middle + (u * cos + v * sin) * facet.radius
            }));
            triangles.extend((2..DISC_SIDES).map(|k| [first, first + k - 1, first + k]));
        }
        Mesh::from_points(vertices, triangles).ok()
    }
}

/// The mesh that shells are made for.
pub(crate) fn model_of(shape: &Shape) -> Result<&Model, Error> {
    match shape.geometry() {
        Geometry::Mesh(model) => Ok(model),
        other => Err(Error::Kind { question: "layered shells", kind: other.kind().name(), known: "meshes" }),
    }
}
