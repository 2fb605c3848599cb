//! A mesh with its tree.

use crate::Mesh;
use crate::hierarchy::wide::WideTree;

/// A mesh ready for queries.
#[derive(Debug, Clone)]
pub struct Model {
    mesh: Mesh,
    tree: WideTree,
}

impl Model {
    /// The mesh as it came.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The tree over its triangles.
    pub fn tree(&self) -> &WideTree {
        &self.tree
    }
}

impl From<Mesh> for Model {
    fn from(mesh: Mesh) -> Model {
        let tree = WideTree::build(&mesh);
        Model { mesh, tree }
    }
}
