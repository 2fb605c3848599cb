//! Bodies of several parts: what a part is, and how parts become one mesh.

use glam::{DQuat, DVec3};

use crate::{Error, Mesh};

/// One closed part of a body, where it lies in the body's rest pose.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyPart {
    /// What it is, such as `thumb tip`.
    pub name: String,
    /// Its surface, in the frame of the body.
    pub mesh: Mesh,
    /// The part it hangs on, by its index in the list; the first part hangs on nothing.
    pub parent: Option<usize>,
    /// A point of the joint with the parent, in the frame of the body.
    pub pivot: DVec3,
    /// The axis the joint turns about, of unit length.
    pub axis: DVec3,
}

/// All meshes as one, vertices and triangles in the given order.
///
/// # Errors
/// No meshes at all, or more than an index can name.
pub fn join<'m>(meshes: impl IntoIterator<Item = &'m Mesh>) -> Result<Mesh, Error> {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for mesh in meshes {
        let before = vertices.len();
        vertices.extend_from_slice(mesh.vertices());
        if vertices.len() > u32::MAX as usize {
            return Err(Error::TooMany { what: "vertices", count: vertices.len(), most: u32::MAX as usize });
        }
        triangles.extend(mesh.triangles().iter().map(|t| t.map(|v| v + before as u32)));
    }
    Mesh::from_points(vertices, triangles)
}

/// The mesh turned about the origin, then moved.
pub(super) fn turned(mesh: &Mesh, rotation: DQuat, translation: DVec3) -> Result<Mesh, Error> {
    let vertices = mesh.vertices().iter().map(|&p| rotation * p + translation).collect();
    Mesh::from_points(vertices, mesh.triangles().to_vec())
}
