//! Coins: around the small subtrees of a node, cylinders whose axis is the normal of the surface there.
//!
//! A patch of a surface is flat and lies askew in its box, so that from afar the box looks nearer than the
//! patch by about its size. A coin is as thick as the patch is bent and as wide as the patch is, and its
//! distance from a point costs little more than that of a box: the gap along the axis and the gap across
//! it. (Barequet et al., BOXTREE 1996, and Larsen et al. 1999 turn boxes for the same reason.) Eight
//! coins are measured at once; the versions give the same bits.

use glam::DVec3;

use super::simd::Level;
use super::wide::{WIDTH, WideTree};
use crate::Mesh;

/// Subtrees with more triangles than this get no coin: they are not flat.
const TRIANGLES_MOST: usize = 1024;

/// What rounding can do to the square across the axis, relative to the square of the whole way (no unit).
const ACROSS_ROUNDING: f32 = 16.0 * f32::EPSILON;

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

/// Raises the squared gaps of eight children to a point where their coins prove more than their boxes, and
/// says which are within `limit`; `slack` covers every rounding of the coins, the point and this function
/// (tree units) but that of `ACROSS_ROUNDING`.
#[inline]
pub fn raise_gaps(
    level: Level,
    coins: &CoinLanes,
    point: [f32; 3],
    slack: f32,
    limit: f32,
    gaps: &mut [f32; WIDTH],
) -> u8 {
    match level {
        Level::Portable => portable(coins, point, slack, limit, gaps),
        // SAFETY: these levels are handed out only after the instructions were detected.
        #[cfg(target_arch = "x86_64")]
        _ => unsafe { x86::avx2(coins, point, slack, limit, gaps) },
    }
}

fn portable(coins: &CoinLanes, point: [f32; 3], slack: f32, limit: f32, gaps: &mut [f32; WIDTH]) -> u8 {
    let positive = |x: f32| if x > 0.0 { x } else { 0.0 };
    let mut mask = 0;
    for lane in 0..WIDTH {
        let arm = [0, 1, 2].map(|k| coins[k][lane] - point[k]);
        let axis = [0, 1, 2].map(|k| coins[3 + k][lane]);
        let dot = |q: [f32; 3]| (arm[0] * q[0] + arm[1] * q[1]) + arm[2] * q[2];
        let (along, whole) = (dot(axis), dot(arm));
        let above = positive(along.abs() - (coins[6][lane] + slack));
        let across_sq = (whole - whole * ACROSS_ROUNDING) - along * along;
        let beside = positive(positive(across_sq).sqrt() - (coins[7][lane] + slack));
        let square = above * above + beside * beside;
        gaps[lane] = if square > gaps[lane] { square } else { gaps[lane] };
        mask |= u8::from(gaps[lane] <= limit) << lane;
    }
    mask
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{ACROSS_ROUNDING, CoinLanes, WIDTH};

    /// The same operations in the same order, eight lanes at once.
    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(
        coins: &CoinLanes,
        point: [f32; 3],
        slack: f32,
        limit: f32,
        gaps: &mut [f32; WIDTH],
    ) -> u8 {
        // SAFETY: eight numbers are there.
        let load = |lanes: &[f32; WIDTH]| unsafe { _mm256_loadu_ps(lanes.as_ptr()) };
        let arm = [0, 1, 2].map(|k| _mm256_sub_ps(load(&coins[k]), _mm256_set1_ps(point[k])));
        let dot = |q: [__m256; 3]| {
            let xy = _mm256_add_ps(_mm256_mul_ps(arm[0], q[0]), _mm256_mul_ps(arm[1], q[1]));
            _mm256_add_ps(xy, _mm256_mul_ps(arm[2], q[2]))
        };
        let (along, whole) = (dot([0, 1, 2].map(|k| load(&coins[3 + k]))), dot(arm));
        let zero = _mm256_setzero_ps();
        let slack = _mm256_set1_ps(slack);
        let height = _mm256_andnot_ps(_mm256_set1_ps(-0.0), along);
        let above = _mm256_max_ps(_mm256_sub_ps(height, _mm256_add_ps(load(&coins[6]), slack)), zero);
        let less = _mm256_sub_ps(whole, _mm256_mul_ps(whole, _mm256_set1_ps(ACROSS_ROUNDING)));
        let across_sq = _mm256_max_ps(_mm256_sub_ps(less, _mm256_mul_ps(along, along)), zero);
        let across = _mm256_sub_ps(_mm256_sqrt_ps(across_sq), _mm256_add_ps(load(&coins[7]), slack));
        let beside = _mm256_max_ps(across, zero);
        let square = _mm256_add_ps(_mm256_mul_ps(above, above), _mm256_mul_ps(beside, beside));
        let raised = _mm256_max_ps(square, load(gaps));
        // SAFETY: eight numbers fit.
        unsafe { _mm256_storeu_ps(gaps.as_mut_ptr(), raised) };
        _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(raised, _mm256_set1_ps(limit))) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pose;
    use crate::geom::point_triangle::closest_point;
    use crate::hierarchy::gap::PlacedTree;
    use crate::shape::make;

    /// The triangles below a child.
    fn triangles(tree: &WideTree, node: usize, lane: usize) -> Vec<u32> {
        let child = tree.nodes()[node].child[lane];
        match child.as_node() {
            Some(below) => {
                let lanes: Vec<usize> = tree.nodes()[below].used().collect();
                lanes.into_iter().flat_map(|lane| triangles(tree, below, lane)).collect()
            }
            None => child.slots().map(|slot| tree.order()[slot]).collect(),
        }
    }

    #[test]
    fn coins_hold_their_triangles_and_beat_most_boxes() {
        // Fine enough for subtrees that are too large for a coin, with small ones beside them.
        let fine = make::blob(1.0, 0.3, 4, 5).unwrap();
        let coarse = make::octahedron(1.5).unwrap();
        let mesh = make::join([&fine, &coarse]).unwrap();
        let tree = WideTree::build(&mesh);
        let coins = Coins::new(&mesh, &tree);
        let placed = PlacedTree::new(&tree, &Pose::IDENTITY);
        let (mut better, mut all) = (0, 0);
        for p in make::positions(12, DVec3::splat(-2.0), DVec3::splat(2.0), 8) {
            let gauge = placed.from_point(p);
            for (index, node) in tree.nodes().iter().enumerate() {
                let Some(lanes) = coins.of(index as u32) else { continue };
                let mut boxed = [0.0; WIDTH];
                gauge.gaps(Level::best(), node, f32::MAX, &mut boxed);
                let mut raised = boxed;
                let limit = gauge.limit(1.0);
                let within = gauge.raise_by_coins(Level::best(), lanes, limit, &mut raised);
                for level in Level::available() {
                    let mut same = boxed;
                    assert_eq!(gauge.raise_by_coins(level, lanes, limit, &mut same), within);
                    assert_eq!(same.map(f32::to_bits), raised.map(f32::to_bits));
                }
                for lane in node.used() {
                    let nearest = triangles(&tree, index, lane)
                        .into_iter()
                        .map(|t| closest_point(p, &mesh.corners(t)).distance_sq)
                        .fold(f64::INFINITY, f64::min);
                    assert!(raised[lane] <= gauge.limit(nearest.sqrt()));
                    better += usize::from(raised[lane] > boxed[lane]);
                    all += 1;
                }
            }
        }
        assert!(all > 500 && better * 2 > all, "{better} of {all}");
    }
}
