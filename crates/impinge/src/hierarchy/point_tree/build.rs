//! Building the patches: halves along the longest axis, at borders that leave every block full.
//!
//! Leutenegger, Lopez and Edgington, "STR: a simple and efficient algorithm for R-tree packing", 1997, pack
//! slice by slice; we halve. Every part is a whole number of full subtrees, so that the order of the
//! triangles says everything: sixteen of them are a block, sixteen blocks a node, and so on. No input makes
//! the tree deep, and threads change nothing.

use std::f32::consts::FRAC_PI_2;
use std::ops::Range;

use glam::{DVec3, Vec2, Vec3};

use super::{Block, LANES, Link, Node, PointTree};
use crate::Mesh;
use crate::hierarchy::wide::TreeFrame;
use crate::num::each::Each;
use crate::num::parallel;

/// Turns of a box about its normal that are tried, over a quarter turn.
const TURNS: usize = 8;

/// Length of the sum of a patch's area vectors, relative to its area, from which on it has a normal worth
/// turning to (no unit).
const FLAT: f64 = 0.5;

/// How far the fitted sides can be off (no unit: a factor of the frame's reach): corners are cast to f32, a
/// difference, a dot product and its sum with this are rounded; below ten times 2⁻²⁴ of 2√3.
const FIT_ROUNDING: f32 = 32.0 * f32::EPSILON;

/// Parts from this size on are ordered by several threads.
const PARALLEL_FROM: usize = 4096;

/// A triangle on its way into the tree: corners in tree units.
#[derive(Debug, Clone, Copy)]
struct Item {
    corners: [Vec3; 3],
    triangle: u32,
}

impl Item {
    /// Three times the centre.
    #[inline]
    fn middle(&self) -> Vec3 {
        let [a, b, c] = self.corners;
        (a + b) + c
    }
}

/// A turned box: centre, axes, half extents.
struct Turned {
    centre: Vec3,
    axes: [Vec3; 3],
    half: Vec3,
}

impl PointTree {
    /// Groups the triangles of a mesh; `frame` is that of its tree.
    pub fn new(mesh: &Mesh, frame: &TreeFrame) -> PointTree {
        let mut items: Vec<Item> =
            (0..mesh.triangles().len() as u32).map(|triangle| item(mesh, frame, triangle)).collect();
        let mut size = LANES;
        while size < items.len() {
            size *= LANES;
        }
        arrange(&mut items, size);
        PointTree::fit(&items, frame)
    }

    /// The same groups after the vertices moved; `frame` is that of the tree of the moved mesh.
    pub fn refitted(&self, mesh: &Mesh, frame: &TreeFrame) -> PointTree {
        // Only the last block has lanes that are unused.
        let order = self.blocks.iter().flat_map(|block| block.triangles).take(mesh.triangles().len());
        let items: Vec<Item> = order.map(|triangle| item(mesh, frame, triangle)).collect();
        PointTree::fit(&items, frame)
    }

    /// Fits the patches around triangles in this order.
    fn fit(items: &[Item], frame: &TreeFrame) -> PointTree {
        let blocks =
            parallel::map(items.len().div_ceil(LANES), |k| block(&items[run(k, LANES, items.len())]));
        let mut links: Vec<Link> =
            (0..blocks.len()).map(|k| Link::block(k, run(k, LANES, items.len()).len())).collect();
        let mut nodes = Vec::new();
        let mut below = LANES;
        while links.len() > 1 {
            let level = parallel::map(links.len().div_ceil(LANES), |k| {
                node(items, &links, run(k, LANES, links.len()), below, frame.reach * FIT_ROUNDING)
            });
            links = (0..level.len()).map(|k| Link::node(nodes.len() + k)).collect();
            nodes.extend(level);
            below *= LANES;
        }
        PointTree { nodes, blocks, root: links[0] }
    }
}

fn item(mesh: &Mesh, frame: &TreeFrame, triangle: u32) -> Item {
    Item { corners: mesh.corners(triangle).each(|p| frame.inward(p).as_vec3()), triangle }
}

/// The k-th run of `size` of `count` things.
fn run(k: usize, size: usize, count: usize) -> Range<usize> {
    k * size..count.min((k + 1) * size)
}

/// Orders the items so that runs of `size`, of a sixteenth of it and so on lie close together.
fn arrange(items: &mut [Item], size: usize) {
    if items.len() <= LANES {
        return;
    }
    let runs = items.len().div_ceil(size);
    if runs <= 1 {
        return arrange(items, size / LANES);
    }
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for middle in parallel::in_turn(&*items).map(Item::middle) {
        (low, high) = (low.min(middle), high.max(middle));
    }
    let axis = (high - low).max_position();
    let at = runs / 2 * size;
    parallel::select(items, at, |a, b| {
        a.middle()[axis].total_cmp(&b.middle()[axis]).then(a.triangle.cmp(&b.triangle))
    });
    let (left, right) = items.split_at_mut(at);
    let worth = left.len() >= PARALLEL_FROM;
    parallel::join_if(worth, || arrange(left, size), || arrange(right, size));
}

fn block(items: &[Item]) -> Block {
    let mut block = Block { corners: [[0.0; LANES]; 9], triangles: [0; LANES] };
    for lane in 0..LANES {
        let item = items.get(lane).unwrap_or(&items[0]);
        block.triangles[lane] = item.triangle;
        for k in 0..9 {
            block.corners[k][lane] = item.corners[k / 3][k % 3];
        }
    }
    block
}

/// A node over some links, each of which holds `below` items.
fn node(items: &[Item], links: &[Link], children: Range<usize>, below: usize, rounding: f32) -> Node {
    let mut node = Node {
        centre: [[0.0; LANES]; 3],
        axes: [[[0.0; LANES]; 3]; 3],
        half: [[f32::NEG_INFINITY; LANES]; 3],
        child: [links[children.start].0; LANES],
    };
    for (lane, child) in children.enumerate() {
        let Turned { centre, axes, half } = fitted(&items[run(child, below, items.len())], rounding);
        node.child[lane] = links[child].0;
        for k in 0..3 {
            node.centre[k][lane] = centre[k];
            node.half[k][lane] = half[k];
            (0..3).for_each(|j| node.axes[k][j][lane] = axes[k][j]);
        }
    }
    node
}

/// A small box around some triangles: along their normal if they have one, else along the axes.
fn fitted(items: &[Item], rounding: f32) -> Turned {
    let axes = axes(items);
    let corners = || parallel::in_turn(items).flat_map(|item| item.corners);
    let seen = |p: Vec3| Vec3::from_array(axes.each(|axis| axis.dot(p)));
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for p in corners().map(seen) {
        (low, high) = (low.min(p), high.max(p));
    }
    let middle = (low + high) * 0.5;
    let centre = (axes[0] * middle.x + axes[1] * middle.y) + axes[2] * middle.z;
    // The sides are about the centre and the axes as rounded.
    let half = corners().fold(Vec3::ZERO, |half, p| half.max(seen(p - centre).abs()));
    Turned { centre, axes, half: half + rounding }
}

/// Three axes for a box: of the turns about the mean normal the one with the smallest sides.
fn axes(items: &[Item]) -> [Vec3; 3] {
    let areas =
        || items.iter().map(|Item { corners: [a, b, c], .. }| (b - a).as_dvec3().cross((c - a).as_dvec3()));
    // In f64, where squares of small areas do not underflow; none at all has no direction.
    let sum: DVec3 = areas().sum();
    let all: f64 = areas().map(DVec3::length).sum();
    let Some(normal) = sum.try_normalize().filter(|_| sum.length() > FLAT * all) else {
        return Vec3::AXES;
    };
    let normal = normal.as_vec3();
    let (u, v) = normal.any_orthonormal_pair();
    let turns: [Vec2; TURNS] = std::array::from_fn(|k| Vec2::from_angle(FRAC_PI_2 * k as f32 / TURNS as f32));
    let (mut low, mut high) = ([Vec2::INFINITY; TURNS], [Vec2::NEG_INFINITY; TURNS]);
    for p in parallel::in_turn(items).flat_map(|item| item.corners) {
        let flat = Vec2::new(u.dot(p), v.dot(p));
        for k in 0..TURNS {
            let turned = Vec2::new(turns[k].dot(flat), turns[k].perp_dot(flat));
            (low[k], high[k]) = (low[k].min(turned), high[k].max(turned));
        }
    }
    let sides = |k: usize| (high[k] - low[k]).element_product();
    let best = (0..TURNS).min_by(|&i, &j| sides(i).total_cmp(&sides(j))).unwrap_or(0);
    let Vec2 { x, y } = turns[best];
    [u * x + v * y, v * x - u * y, normal]
}
