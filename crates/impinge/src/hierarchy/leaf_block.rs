//! The triangles of the bottom nodes, lane by lane in f32: a tighter look than their boxes.

use super::wide::{Child, WIDTH, WideTree};
use crate::Mesh;
use crate::num::parallel::in_turn;

/// Stands for a node without a block.
const NONE: u32 = u32::MAX;

/// Corners of eight triangles in tree units: x, y, z of the first corners, then of the second and third.
pub type Block = [[f32; WIDTH]; 9];

/// The blocks of all nodes whose lanes are single triangles.
#[derive(Debug, Clone, PartialEq)]
pub struct LeafBlocks {
    of_node: Vec<u32>,
    blocks: Vec<Block>,
}

impl LeafBlocks {
    /// Copies the triangles of a mesh in the order of its tree.
    pub fn new(mesh: &Mesh, tree: &WideTree) -> LeafBlocks {
        let mut of_node = vec![NONE; tree.nodes().len()];
        let mut count = 0_u32;
        for (node, place) in in_turn(tree.nodes()).zip(&mut of_node) {
            let single = |lane: usize| node.child[lane].is_leaf() && node.child[lane].slots().len() == 1;
            if single(0) && node.used().all(single) {
                *place = count;
                count += 1;
            }
        }
        let mut blocks: Vec<Block> = Vec::with_capacity(count as usize);
        let bottom = tree.nodes().iter().zip(&of_node).filter(|(_, place)| **place != NONE);
        for (node, &place) in in_turn(bottom) {
            // Filled where it stays: a block that was made elsewhere would be copied.
            blocks.push([[0.0; WIDTH]; 9]);
            let block = &mut blocks[place as usize];
            for (lane, child) in node.child.into_iter().enumerate() {
                // An unused lane repeats the first triangle, so that it changes no limit.
                let child = if child == Child::NONE { node.child[0] } else { child };
                let triangle = tree.order()[child.slots().start];
                for (corner, p) in mesh.corners(triangle).into_iter().enumerate() {
                    let local = tree.frame().inward(p).as_vec3().to_array();
                    (0..3).for_each(|k| block[3 * corner + k][lane] = local[k]);
                }
            }
        }
        LeafBlocks { of_node, blocks }
    }

    /// The block of a node, if its lanes are single triangles.
    #[inline]
    pub fn of(&self, node: u32) -> Option<&Block> {
        self.blocks.get(self.of_node[node as usize] as usize)
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        size_of_val(&self.of_node[..]) + size_of_val(&self.blocks[..])
    }
}
