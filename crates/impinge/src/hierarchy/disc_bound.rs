//! Disc bounds: around the small subtrees of a node, cylinders whose axis is the normal of the surface there.
//!
//! A patch of a surface is flat and lies askew in its box. A disc bound is as thick as the patch is bent and as
//! wide as the patch is, so that two patches close to each other are told apart long before their boxes
//! are (`disc_bound_pair.rs`). (Barequet et al., BOXTREE 1996, and Larsen et al. 1999 turn boxes for the same
//! reason.)

use std::ops::Range;

use glam::{DVec3, Vec3};

use super::leaf_block::{Block, LeafBlocks, Rows};
use super::wide::{Node, WIDTH, WideTree};
use crate::num::each::Each;
use crate::num::parallel;
use crate::simd::room_in_large_pages;

/// Subtrees with more bottom nodes than this get no disc bound: they are not flat.
const BOTTOMS_MOST: usize = 128;

/// What the corners in f32, a moved centre and this file's sums can be wrong by, relative to the reach (no
/// unit).
const ROUNDING: f32 = 16.0 * f32::EPSILON;

/// Eight disc bounds in tree units: centres, axes, half heights, radii; infinitely large where there is none.
pub type DiscBoundLanes = Rows<8>;

/// The disc bounds of a tree's nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct DiscBounds {
    /// Of every node above the bottom ones, or of none.
    lanes: Vec<DiscBoundLanes>,
    /// Which of these nodes have a disc bound at all: all but a few large ones.
    fitted: Vec<bool>,
}

impl DiscBounds {
    /// Fits disc bounds around the triangles below each child that is a node.
    pub fn new(tree: &WideTree, blocks: &LeafBlocks) -> DiscBounds {
        let nodes = tree.nodes();
        let upper = nodes.iter().position(|node| node.child[0].is_leaf()).unwrap_or(nodes.len());
        // The bottom nodes below each node: children stand behind their parents and hold neighbouring ones.
        let mut below: Vec<Range<u32>> = (0..nodes.len() as u32).map(|index| index..index + 1).collect();
        for index in (0..upper).rev() {
            let children = || nodes[index].child.iter().filter_map(|child| child.as_node());
            let start = children().map(|child| below[child].start).min().unwrap_or(0);
            let end = children().map(|child| below[child].end).max().unwrap_or(0);
            below[index] = start..end;
        }
        let reach = tree.frame().reach;
        // Without triangles at hand there is nothing to fit.
        let count = if blocks.of(upper as u32).is_some() { upper } else { 0 };
        let mut lanes = room_in_large_pages(count);
        parallel::extend(&mut lanes, count, |index| fit(&nodes[index], &below, blocks, reach));
        let fitted = lanes.iter().map(|lanes: &DiscBoundLanes| lanes[6].iter().any(|half| half.is_finite()));
        DiscBounds { fitted: fitted.collect(), lanes }
    }

    /// The disc bounds of a node's children, if any has one.
    #[inline]
    pub fn of(&self, node: u32) -> Option<&DiscBoundLanes> {
        // Found apart from whether there are any: the processor need not wait for that.
        let lanes = self.lanes.get(node as usize)?;
        self.fitted[node as usize].then_some(lanes)
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        size_of_val(&self.lanes[..]) + size_of_val(&self.fitted[..])
    }
}

/// The disc bounds of one node's children.
fn fit(node: &Node, below: &[Range<u32>], blocks: &LeafBlocks, reach: f32) -> DiscBoundLanes {
    let mut lanes = Rows([[0.0; WIDTH]; 8]);
    [lanes[6], lanes[7]] = [[f32::INFINITY; WIDTH]; 2];
    for lane in node.used() {
        let Some(bottoms) = node.child[lane].as_node().map(|child| below[child].clone()) else { continue };
        if bottoms.len() > BOTTOMS_MOST {
            continue;
        }
        let triangles: Option<Vec<&Block>> = bottoms.map(|bottom| blocks.of(bottom)).collect();
        if let Some(triangles) = triangles {
            let (centre, _) = node.lane(lane);
            let disc_bound = disc_bound(&triangles, Vec3::from_array(centre), reach);
            (0..8).for_each(|k| lanes[k][lane] = disc_bound[k]);
        }
    }
    lanes
}

/// Centre, axis, half height and radius of a disc bound around the triangles of some blocks, whose box has the given
/// middle; rounded outward.
fn disc_bound(blocks: &[&Block], middle: Vec3, reach: f32) -> [f32; 8] {
    // In f64, where squares of small areas do not underflow: the axis must have the length 1.
    let axis = blocks.iter().map(|block| area(block)).sum::<DVec3>().normalize_or(DVec3::X).as_vec3();
    // The way across the axis is the same for every centre on it, so one pass finds all.
    let (mut bottom, mut top) = ([f32::INFINITY; WIDTH], [f32::NEG_INFINITY; WIDTH]);
    let (mut across, mut whole) = ([0.0; WIDTH], [0.0; WIDTH]);
    for block in blocks {
        for corner in block.chunks_exact(3) {
            for lane in 0..WIDTH {
                let arm = [0, 1, 2].each(|k| corner[k][lane] - middle[k]);
                let height = arm[0] * axis.x + arm[1] * axis.y + arm[2] * axis.z;
                let square = arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2];
                bottom[lane] = if height < bottom[lane] { height } else { bottom[lane] };
                top[lane] = if height > top[lane] { height } else { top[lane] };
                let beside = square - height * height;
                across[lane] = if beside > across[lane] { beside } else { across[lane] };
                whole[lane] = if square > whole[lane] { square } else { whole[lane] };
            }
        }
    }
    let most = |lanes: [f32; WIDTH]| lanes.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let (low, high) = (-most(bottom.map(|x| -x)), most(top));
    let radius = (most(across) + ROUNDING * most(whole)).sqrt();
    let [x, y, z] = (middle + axis * (0.5 * (low + high))).to_array();
    let [u, v, w] = axis.to_array();
    [x, y, z, u, v, w, 0.5 * (high - low) + ROUNDING * reach, radius + ROUNDING * reach]
}

/// Twice the sum of a block's areas, each along its normal.
fn area(block: &Block) -> DVec3 {
    let triangle = |lane: usize| {
        let corner = |c: usize| DVec3::from_array([0, 1, 2].each(|k| f64::from(block[3 * c + k][lane])));
        (corner(1) - corner(0)).cross(corner(2) - corner(0))
    };
    (0..WIDTH).map(triangle).sum()
}
