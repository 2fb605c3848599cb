//! Questions about a mesh as a whole: its health, its mass, its convex parts.

use super::Query;
use super::point::mesh_of;
use crate::model::Placed;
use crate::narrow::decompose::{self, DecomposeOptions, Decomposition};
use crate::report::{self, Inspection};
use crate::shape::mass::Mass;
use crate::{Error, Shape};

impl Query<'_> {
    /// The health of a mesh; see [`inspect`]. The budget is for its self-intersections.
    ///
    /// # Errors
    /// A shape that is no mesh.
    pub fn inspect(&mut self, shape: &Shape) -> Result<Inspection, Error> {
        let body = Placed::from(shape);
        Ok(report::inspect(mesh_of(&body, "the health")?, &mut self.budget))
    }
}

/// The health of a mesh: its counts, its self-intersections, its volume, and what is wrong with it in words.
///
/// # Errors
/// A shape that is no mesh.
pub fn inspect(shape: &Shape) -> Result<Inspection, Error> {
    Query::default().inspect(shape)
}

/// Area and volume of a mesh, and centre of mass and inertia where it is closed.
///
/// # Errors
/// A shape that is no mesh.
pub fn mass(shape: &Shape) -> Result<Mass, Error> {
    let body = Placed::from(shape);
    let model = mesh_of(&body, "the mass")?;
    Ok(Mass::of(model.mesh(), model.topology()))
}

/// Convex shapes that cover a closed mesh: exactly where its notches can be cut open, otherwise with the stated
/// excess and deviation.
///
/// ```
/// use impinge::{Certainty, DecomposeOptions, Shape, decompose, procedural};
///
/// let stairs = Shape::from(procedural::stairs(3, 1.0, 2.0, 1.0)?);
/// let found = decompose(&stairs, &DecomposeOptions::DEFAULT)?;
/// assert_eq!((found.parts.len(), found.certainty), (3, Certainty::Exact));
/// # Ok::<(), impinge::Error>(())
/// ```
///
/// # Errors
/// A shape that is no mesh, or a mesh that is not closed or encloses nothing.
pub fn decompose(shape: &Shape, options: &DecomposeOptions) -> Result<Decomposition, Error> {
    let body = Placed::from(shape);
    let found = decompose::decompose(mesh_of(&body, "the decomposition")?, options)?;
    let Decomposition { parts, volume, excess, deviation, certainty } = found;
    let parts = parts.into_iter().map(Shape::from).collect();
    Ok(Decomposition { parts, volume, excess, deviation, certainty })
}
