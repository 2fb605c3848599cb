//! The opponent of the paper's table 1: trees of axis-aligned boxes, refitted in every frame, then traversed.
//!
//! After van den Bergen, Efficient collision detection of complex deformable models using AABB trees (1997): one
//! triangle a leaf, nodes divided in the middle of the longest side, boxes of doubles around the vertices as they are
//! now. Children stand behind their parents in one array, so that a refit is one pass from its end and the traversal
//! needs a stack of pairs only.

use glam::DVec3;
use impinge::Mesh;
use impinge::geom::triangle_triangle::meet;

/// A box and where its children are.
#[derive(Debug, Clone, Copy)]
struct Node {
    low: DVec3,
    high: DVec3,
    /// The right child of an inner node, whose left one is the next node; 0 for a leaf.
    right: u32,
    /// A leaf's place in the order of the tree.
    leaf: u32,
}

/// A tree over the triangles of a mesh.
#[derive(Debug, Clone)]
pub struct AabbTree {
    nodes: Vec<Node>,
    /// The vertices of each leaf's triangle.
    corners: Vec<[u32; 3]>,
    /// The triangle of each leaf.
    triangles: Vec<u32>,
}

impl AabbTree {
    /// The tree of a mesh that has triangles.
    pub fn build(mesh: &Mesh) -> AabbTree {
        let centre = |t: &[u32; 3]| t.iter().map(|&v| mesh.vertices()[v as usize]).sum::<DVec3>() / 3.0;
        let mut order: Vec<(u32, DVec3)> = (0..).zip(mesh.triangles().iter().map(centre)).collect();
        let mut nodes = Vec::with_capacity(2 * order.len());
        divide(&mut order, 0, &mut nodes);
        let triangles: Vec<u32> = order.iter().map(|&(t, _)| t).collect();
        let corners = triangles.iter().map(|&t| mesh.triangles()[t as usize]).collect();
        let mut tree = AabbTree { nodes, corners, triangles };
        tree.refit(mesh.vertices());
        tree
    }

    /// Fits all boxes to where the vertices are now.
    pub fn refit(&mut self, vertices: &[DVec3]) {
        for i in (0..self.nodes.len()).rev() {
            let node = self.nodes[i];
            let (low, high) = if node.right == 0 {
                let [a, b, c] = self.corners[node.leaf as usize].map(|v| vertices[v as usize]);
                (a.min(b).min(c), a.max(b).max(c))
            } else {
                let (left, right) = (&self.nodes[i + 1], &self.nodes[node.right as usize]);
                (left.low.min(right.low), left.high.max(right.high))
            };
            self.nodes[i] = Node { low, high, ..node };
        }
    }

    /// Every pair of triangles that meets, where both trees fit their vertices.
    pub fn pairs(&self, vertices: &[DVec3], other: &AabbTree, other_vertices: &[DVec3]) -> Vec<[u32; 2]> {
        let mut found = Vec::new();
        let mut stack = vec![[0_u32, 0]];
        while let Some([i, j]) = stack.pop() {
            let (a, b) = (&self.nodes[i as usize], &other.nodes[j as usize]);
            if !(a.low.cmple(b.high) & b.low.cmple(a.high)).all() {
                continue;
            }
            match (a.right, b.right) {
                (0, 0) => {
                    let of_a = self.corners[a.leaf as usize].map(|v| vertices[v as usize]);
                    let of_b = other.corners[b.leaf as usize].map(|v| other_vertices[v as usize]);
                    if meet(&of_a, &of_b) {
                        found.push([self.triangles[a.leaf as usize], other.triangles[b.leaf as usize]]);
                    }
                }
                (right, stays) if stays == 0 || right != 0 && size(a) >= size(b) => {
                    stack.extend([[right, j], [i + 1, j]]);
                }
                (_, right) => stack.extend([[i, right], [i, j + 1]]),
            }
        }
        found
    }
}

fn size(node: &Node) -> f64 {
    (node.high - node.low).element_sum()
}

/// Puts the node over these triangles, its left and its right subtree behind one another.
fn divide(order: &mut [(u32, DVec3)], first: u32, nodes: &mut Vec<Node>) {
    let at = nodes.len();
    nodes.push(Node { low: DVec3::ZERO, high: DVec3::ZERO, right: 0, leaf: first });
    if order.len() < 2 {
        return;
    }
    let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) = order.iter().fold(start, |(l, h), (_, p)| (l.min(*p), h.max(*p)));
    let axis = (high - low).max_position();
    let middle = 0.5 * (low[axis] + high[axis]);
    let mut border = partition(order, |p| p[axis] < middle);
    if border == 0 || border == order.len() {
        border = order.len() / 2;
    }
    let (left, right) = order.split_at_mut(border);
    divide(left, first, nodes);
    nodes[at].right = nodes.len() as u32;
    divide(right, first + border as u32, nodes);
}

/// Moves those that fulfil the condition to the front; how many they are.
fn partition(order: &mut [(u32, DVec3)], front: impl Fn(&DVec3) -> bool) -> usize {
    let mut border = 0;
    for i in 0..order.len() {
        if front(&order[i].1) {
            order.swap(i, border);
            border += 1;
        }
    }
    border
}

#[cfg(test)]
mod tests {
    use impinge::{Pose, Shape, procedural};

    use super::*;

    #[test]
    fn a_refitted_tree_finds_what_the_exact_method_finds() {
        let (a, b) =
            (procedural::torus(1.0, 0.3, 30, 12).unwrap(), procedural::uv_sphere(0.8, 20, 12).unwrap());
        let mut trees = [AabbTree::build(&a), AabbTree::build(&b)];
        let mut hits = 0;
        for step in 0..12 {
            let bent: Vec<DVec3> = a
                .vertices()
                .iter()
                .map(|p| *p + DVec3::Z * 0.2 * (f64::from(step) + 2.0 * p.x).sin())
                .collect();
            let shifted: Vec<DVec3> =
                b.vertices().iter().map(|p| *p + DVec3::X * 0.25 * f64::from(step)).collect();
            trees[0].refit(&bent);
            trees[1].refit(&shifted);
            let mut found = trees[0].pairs(&bent, &trees[1], &shifted);
            found.sort_unstable();
            let shapes = [(&a, bent), (&b, shifted)].map(|(mesh, points)| {
                Shape::from(Mesh::from_points(points, mesh.triangles().to_vec()).unwrap())
            });
            let exact = impinge::pairs(&shapes[0], shapes[1].at(Pose::IDENTITY)).unwrap();
            assert_eq!(found, exact);
            hits += usize::from(!exact.is_empty());
        }
        assert!((4..=10).contains(&hits), "{hits} of 12 steps meet");
    }
}
