//! A mesh with its tree.

use std::sync::OnceLock;

use crate::Mesh;
use crate::hierarchy::coin::Coins;
use crate::hierarchy::leaf_block::LeafBlocks;
use crate::hierarchy::wide::WideTree;
use crate::shape::Topology;

/// A mesh ready for queries.
#[derive(Debug, Clone)]
pub struct Model {
    mesh: Mesh,
    tree: WideTree,
    topology: OnceLock<Topology>,
    leaf_blocks: OnceLock<LeafBlocks>,
    coins: OnceLock<Coins>,
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

    /// How its triangles hang together; found at the first call and kept.
    pub fn topology(&self) -> &Topology {
        self.topology.get_or_init(|| Topology::of(&self.mesh))
    }

    /// Its triangles in f32, as queries from points want them; copied at the first call and kept.
    pub fn leaf_blocks(&self) -> &LeafBlocks {
        self.leaf_blocks.get_or_init(|| LeafBlocks::new(&self.mesh, &self.tree))
    }

    /// Tight volumes around its small subtrees, for queries from points; fitted at the first call and kept.
    pub fn coins(&self) -> &Coins {
        self.coins.get_or_init(|| Coins::new(&self.mesh, &self.tree))
    }
}

impl From<Mesh> for Model {
    fn from(mesh: Mesh) -> Model {
        let tree = WideTree::build(&mesh);
        Model { mesh, tree, topology: OnceLock::new(), leaf_blocks: OnceLock::new(), coins: OnceLock::new() }
    }
}
