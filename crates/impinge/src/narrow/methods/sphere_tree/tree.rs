//! A binary tree of spheres over the triangles of a mesh.

use glam::DVec3;

use crate::Mesh;
use crate::geom::point_triangle::norm;
use crate::num::tolerance::ROUND_UP;

/// A sphere and what is below it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Node {
    /// In the frame of the mesh; for a leaf a point of its triangle.
    pub centre: DVec3,
    /// Everything below lies within, rounded up.
    pub radius: f64,
    pub below: Below,
}

/// What a sphere is around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Below {
    Triangle(u32),
    /// The next node and this one.
    Nodes(u32),
}

/// The tree, the root first.
#[derive(Debug, Clone)]
pub(super) struct SphereTree {
    pub nodes: Vec<Node>,
}

impl SphereTree {
    /// Halves the triangles along the longest side of their centroids' box, down to single ones.
    pub fn new(mesh: &Mesh) -> SphereTree {
        let leaves: Vec<Node> = (0..mesh.triangles().len() as u32).map(|t| leaf(mesh, t)).collect();
        let mut order: Vec<u32> = (0..leaves.len() as u32).collect();
        let mut nodes = Vec::with_capacity(2 * leaves.len());
        build(&leaves, &mut order, &mut nodes);
        let tree = SphereTree { nodes };
        debug_assert!(tree.holds(mesh), "a triangle sticks out of its spheres");
        tree
    }

    /// Whether every triangle lies in all spheres above it.
    fn holds(&self, mesh: &Mesh) -> bool {
        let mut open = vec![(0_u32, Vec::<Node>::new())];
        while let Some((at, mut above)) = open.pop() {
            let node = self.nodes[at as usize];
            above.push(node);
            match node.below {
                Below::Nodes(right) => open.extend([(at + 1, above.clone()), (right, above)]),
                Below::Triangle(t) => {
                    let out = |s: &Node| mesh.corners(t).iter().any(|p| norm(*p - s.centre) > s.radius);
                    if above.iter().any(out) {
                        return false;
                    }
                }
            }
        }
        true
    }
}

/// The sphere around one triangle, about its centroid.
fn leaf(mesh: &Mesh, triangle: u32) -> Node {
    let corners = mesh.corners(triangle);
    // Thirds first: the sum of three large coordinates could overflow nothing, but loses a digit.
    let centre = corners[0] / 3.0 + corners[1] / 3.0 + corners[2] / 3.0;
    let radius = rounded_up(corners.iter().map(|p| norm(*p - centre)).fold(0.0, f64::max));
    Node { centre, radius, below: Below::Triangle(triangle) }
}

/// A radius with room for the roundings of its lengths, subnormal ones too.
fn rounded_up(radius: f64) -> f64 {
    radius * ROUND_UP + f64::MIN_POSITIVE
}

fn build(leaves: &[Node], order: &mut [u32], nodes: &mut Vec<Node>) {
    if let [only] = order {
        nodes.push(leaves[*only as usize]);
        return;
    }
    let [low, high] = order.iter().fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], &i| {
        let Node { centre, radius, .. } = leaves[i as usize];
        [low.min(centre - radius), high.max(centre + radius)]
    });
    let centre = 0.5 * low + 0.5 * high;
    let reach = |i: &u32| norm(leaves[*i as usize].centre - centre) + leaves[*i as usize].radius;
    let radius = rounded_up(order.iter().map(reach).fold(0.0, f64::max));
    let at = nodes.len();
    nodes.push(Node { centre, radius, below: Below::Nodes(0) });
    let axis = (high - low).max_position();
    let middle = order.len() / 2;
    let key = |i: &u32| leaves[*i as usize].centre[axis];
    order.select_nth_unstable_by(middle, |a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
    let (left, right) = order.split_at_mut(middle);
    build(leaves, left, nodes);
    nodes[at].below = Below::Nodes(nodes.len() as u32);
    build(leaves, right, nodes);
}
