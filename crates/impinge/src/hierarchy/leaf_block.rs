//! The triangles of the bottom nodes, lane by lane in f32: a tighter look than their boxes.

use std::ops::{Deref, DerefMut};

use super::wide::{Child, WIDTH, WideTree};
use crate::Mesh;
use crate::num::parallel::in_turn;
use crate::simd::room_in_large_pages;

/// Rows of eight numbers of which none lies in two cache lines.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub struct Rows<const N: usize>(pub [[f32; WIDTH]; N]);

impl<const N: usize> Deref for Rows<N> {
    type Target = [[f32; WIDTH]; N];

    #[inline(always)]
    fn deref(&self) -> &[[f32; WIDTH]; N] {
        &self.0
    }
}

impl<const N: usize> DerefMut for Rows<N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [[f32; WIDTH]; N] {
        &mut self.0
    }
}

/// Corners of eight triangles in tree units: x, y, z of the first corners, then of the second and third.
pub type Block = Rows<9>;

/// The blocks of the bottom nodes of a tree whose leaves are single triangles; else there are none.
#[derive(Debug, Clone, PartialEq)]
pub struct LeafBlocks {
    /// The first bottom node: blocks stand in the order of their nodes.
    first: u32,
    blocks: Vec<Block>,
}

impl LeafBlocks {
    /// Copies the triangles of a mesh in the order of its tree.
    pub fn new(mesh: &Mesh, tree: &WideTree) -> LeafBlocks {
        let first = tree.bottom_of(0);
        let bottom = &tree.nodes()[first as usize..];
        // A leaf of more triangles stands in the first lane, if there is any.
        if bottom.iter().any(|node| node.child[0].slots().len() != 1) {
            return LeafBlocks { first, blocks: Vec::new() };
        }
        let mut blocks: Vec<Block> = room_in_large_pages(bottom.len());
        for (place, node) in in_turn(bottom).enumerate() {
            // Filled where it stays: a block that was made elsewhere would be copied.
            blocks.push(Rows([[0.0; WIDTH]; 9]));
            let block = &mut blocks[place];
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
        LeafBlocks { first, blocks }
    }

    /// The block of a node, if its lanes are single triangles.
    #[inline]
    pub fn of(&self, node: u32) -> Option<&Block> {
        // Nodes above the bottom ones wrap around, beyond every block.
        self.blocks.get(node.wrapping_sub(self.first) as usize)
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        size_of_val(&self.blocks[..])
    }
}
