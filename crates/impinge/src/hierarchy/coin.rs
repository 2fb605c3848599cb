//! Coins: around the small subtrees of a node, cylinders whose axis is the normal of the surface there.
//!
//! A patch of a surface is flat and lies askew in its box. A coin is as thick as the patch is bent and as
//! wide as the patch is, so that two patches close to each other are told apart long before their boxes
//! are (`coin_pair.rs`). (Barequet et al., BOXTREE 1996, and Larsen et al. 1999 turn boxes for the same
//! reason.)

use glam::DVec3;

use super::wide::{WIDTH, WideTree};
use crate::Mesh;

/// Subtrees with more triangles than this get no coin: they are not flat.
const TRIANGLES_MOST: usize = 1024;

/// Stands for a node without coins.
const NONE: u32 = u32::MAX;

/// Eight coins in tree units: centres, axes, half heights, radii; infinitely large where there is none.
pub type CoinLanes = [[f32; WIDTH]; 8];

/// The coins of a tree's nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Coins {
    of_node: Vec<u32>,
    lanes: Vec<CoinLanes>,
}

impl Coins {
    /// Fits coins around the triangles below each child that is a node.
    pub fn new(mesh: &Mesh, tree: &WideTree) -> Coins {
        let nodes = tree.nodes();
        let mut coins = Coins { of_node: vec![NONE; nodes.len()], lanes: Vec::new() };
        // Slots below each node; children stand behind their parents and hold neighbouring slots.
        let mut below = vec![[usize::MAX, 0]; nodes.len()];
        for (index, node) in nodes.iter().enumerate().rev() {
            let mut lanes = [[0.0; WIDTH]; 8];
            [lanes[6], lanes[7]] = [[f32::INFINITY; WIDTH]; 2];
            let mut some = false;
            for lane in node.used() {
                let child = node.child[lane];
                let slots = child.as_node().map_or(child.slots(), |child| below[child][0]..below[child][1]);
                if child.as_node().is_some() && slots.len() <= TRIANGLES_MOST {
                    some = true;
                    let coin = coin(mesh, tree, &tree.order()[slots.clone()]);
                    (0..8).for_each(|k| lanes[k][lane] = coin[k]);
                }
                let [start, end] = below[index];
                below[index] = [start.min(slots.start), end.max(slots.end)];
            }
            if some {
                coins.of_node[index] = coins.lanes.len() as u32;
                coins.lanes.push(lanes);
            }
        }
        coins
    }

    /// The coins of a node's children, if any has one.
    #[inline]
    pub fn of(&self, node: u32) -> Option<&CoinLanes> {
        self.lanes.get(self.of_node[node as usize] as usize)
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        size_of_val(&self.of_node[..]) + size_of_val(&self.lanes[..])
    }
}

/// Centre, axis, half height and radius of a coin around some triangles, rounded outward.
fn coin(mesh: &Mesh, tree: &WideTree, triangles: &[u32]) -> [f32; 8] {
    let corners = || triangles.iter().map(|&t| mesh.corners(t).map(|p| tree.frame().inward(p)));
    let area: DVec3 = corners().map(|[a, b, c]| (b - a).cross(c - a)).sum();
    let axis = area.normalize_or(DVec3::X).as_vec3();
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    corners().flatten().for_each(|p| (low, high) = (low.min(p), high.max(p)));
    let centre = low.midpoint(high).as_vec3();
    // The coin is about the axis and centre as rounded to f32.
    let (along, middle) = (axis.as_dvec3(), centre.as_dvec3());
    let heights = || corners().flatten().map(|p| along.dot(p - middle));
    let bottom = heights().fold(f64::INFINITY, f64::min);
    let top = heights().fold(f64::NEG_INFINITY, f64::max);
    let centre = (middle + along * (0.5 * (bottom + top))).as_vec3();
    let middle = centre.as_dvec3();
    let (mut half, mut radius_sq): (f64, f64) = (0.0, 0.0);
    for arm in corners().flatten().map(|p| p - middle) {
        let height = along.dot(arm);
        half = half.max(height.abs());
        radius_sq = radius_sq.max(arm.length_squared() - height * height);
    }
    let up = |x: f64| (x as f32).next_up().next_up();
    let [x, y, z] = centre.to_array();
    let [u, v, w] = axis.to_array();
    [x, y, z, u, v, w, up(half), up(radius_sq.max(0.0).sqrt())]
}
