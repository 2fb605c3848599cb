//! The triangles of the bottom nodes, lane by lane in f32: a tighter look than their boxes.
//!
//! Whether a triangle is too far from a point is asked for all eight triangles of a node at once. An
//! approximate nearest point gives a direction; how far all three corners lie in that direction is a
//! lower bound of the distance, whatever the approximation is worth. So ill-shaped triangles cost work,
//! never correctness.

use super::simd::Level;
use super::wide::{Child, WIDTH, WideTree};
use crate::Mesh;

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
        let mut blocks = Vec::new();
        let mut of_node = vec![NONE; tree.nodes().len()];
        for (node, place) in tree.nodes().iter().zip(&mut of_node) {
            let single = |lane: usize| node.child[lane].is_leaf() && node.child[lane].slots().len() == 1;
            if !single(0) || !node.used().all(single) {
                continue;
            }
            let mut block = [[0.0; WIDTH]; 9];
            for (lane, child) in node.child.into_iter().enumerate() {
                // An unused lane repeats the first triangle, so that it changes no limit.
                let child = if child == Child::NONE { node.child[0] } else { child };
                let triangle = tree.order()[child.slots().start];
                for (corner, p) in mesh.corners(triangle).into_iter().enumerate() {
                    let local = tree.frame().inward(p).as_vec3().to_array();
                    (0..3).for_each(|k| block[3 * corner + k][lane] = local[k]);
                }
            }
            *place = blocks.len() as u32;
            blocks.push(block);
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

/// Raises the squared gaps of eight triangles to a point to what their corners prove, lowers the limit to
/// the nearest point found on any, times `widen`, and says which are within it; `slack` covers every rounding of the corners, the point and this function (tree units).
#[inline]
pub fn raise_gaps(
    level: Level,
    block: &Block,
    point: [f32; 3],
    slack: f32,
    widen: f32,
    limit: &mut f32,
    gaps: &mut [f32; WIDTH],
) -> u8 {
    match level {
        Level::Portable => corner_gaps(block, point, slack, widen, limit, gaps),
        // SAFETY: these levels are handed out only after the instructions were detected.
        #[cfg(target_arch = "x86_64")]
        _ => unsafe { x86::corner_gaps(block, point, slack, widen, limit, gaps) },
    }
}

fn corner_gaps(
    block: &Block,
    point: [f32; 3],
    slack: f32,
    widen: f32,
    limit: &mut f32,
    gaps: &mut [f32; WIDTH],
) -> u8 {
    let mut mask = 0;
    for lane in 0..WIDTH {
        let corner = |c: usize| [0, 1, 2].map(|k| block[3 * c + k][lane] - point[k]);
        let (a, b, c) = (corner(0), corner(1), corner(2));
        let (ab, bc, ca) = (minus(b, a), minus(c, b), minus(a, c));
        let [p, q, r] = [side_foot(a, ab), side_foot(b, bc), side_foot(c, ca)];
        let (pp, qq, rr) = (dot(p, p), dot(q, q), dot(r, r));
        let first = pick(qq < pp, q, p);
        let least = if qq < pp { qq } else { pp };
        let mut foot = pick(rr < least, r, first);
        // Seen along the normal, the point is inside when all three areas have its sign.
        let normal = cross(ca, ab);
        let inside = (dot(cross(a, ab), normal) > 0.0)
            & (dot(cross(b, bc), normal) > 0.0)
            & (dot(cross(c, ca), normal) > 0.0);
        let height = dot(a, normal) / dot(normal, normal);
        foot = pick(inside, [normal[0] * height, normal[1] * height, normal[2] * height], foot);
        let along = least3(dot(foot, a), dot(foot, b), dot(foot, c));
        let length = dot(foot, foot).sqrt();
        let reach = (length + slack) * widen;
        *limit = if reach * reach < *limit { reach * reach } else { *limit };
        let gap = along / length - slack;
        let square = gap * gap;
        // False for a number that is none, as a foot at the point gives.
        gaps[lane] = if (gap > 0.0) & (square > gaps[lane]) { square } else { gaps[lane] };
    }
    for (lane, gap) in gaps.iter().enumerate() {
        mask |= u8::from(*gap <= *limit) << lane;
    }
    mask
}

#[inline]
fn minus(p: [f32; 3], q: [f32; 3]) -> [f32; 3] {
    [p[0] - q[0], p[1] - q[1], p[2] - q[2]]
}

#[inline]
fn dot(p: [f32; 3], q: [f32; 3]) -> f32 {
    (p[0] * q[0] + p[1] * q[1]) + p[2] * q[2]
}

#[inline]
fn cross(p: [f32; 3], q: [f32; 3]) -> [f32; 3] {
    [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
}

#[inline]
fn pick(first: bool, p: [f32; 3], q: [f32; 3]) -> [f32; 3] {
    [0, 1, 2].map(|k| if first { p[k] } else { q[k] })
}

#[inline]
fn least3(x: f32, y: f32, z: f32) -> f32 {
    let least = if x < y { x } else { y };
    if least < z { least } else { z }
}

/// The point of the side from `a` along `d` nearest to the origin.
#[inline]
fn side_foot(a: [f32; 3], d: [f32; 3]) -> [f32; 3] {
    let along = -dot(a, d) / dot(d, d);
    // A side of no length gives no number, which becomes its first end.
    let along = if along > 0.0 { along } else { 0.0 };
    let along = if along < 1.0 { along } else { 1.0 };
    [0, 1, 2].map(|k| a[k] + d[k] * along)
}

/// The same operations in the same order, eight lanes at once.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Block, WIDTH};

    type Vector = [__m256; 3];

    #[target_feature(enable = "avx2")]
    pub(super) fn corner_gaps(
        block: &Block,
        point: [f32; 3],
        slack: f32,
        widen: f32,
        limit: &mut f32,
        gaps: &mut [f32; WIDTH],
    ) -> u8 {
        let corner =
            |c: usize| [0, 1, 2].map(|k| _mm256_sub_ps(load(&block[3 * c + k]), _mm256_set1_ps(point[k])));
        let (a, b, c) = (corner(0), corner(1), corner(2));
        let (ab, bc, ca) = (minus(b, a), minus(c, b), minus(a, c));
        let [p, q, r] = [side_foot(a, ab), side_foot(b, bc), side_foot(c, ca)];
        let (pp, qq, rr) = (dot(p, p), dot(q, q), dot(r, r));
        let first = pick(below(qq, pp), q, p);
        let least = _mm256_min_ps(qq, pp);
        let foot = pick(below(rr, least), r, first);
        let normal = cross(ca, ab);
        let zero = _mm256_setzero_ps();
        let over = |x: Vector, d: Vector| below(zero, dot(cross(x, d), normal));
        let inside = _mm256_and_ps(_mm256_and_ps(over(a, ab), over(b, bc)), over(c, ca));
        let height = _mm256_div_ps(dot(a, normal), dot(normal, normal));
        let foot = pick(inside, [0, 1, 2].map(|k| _mm256_mul_ps(normal[k], height)), foot);
        let along = _mm256_min_ps(_mm256_min_ps(dot(foot, a), dot(foot, b)), dot(foot, c));
        let length = _mm256_sqrt_ps(dot(foot, foot));
        let reach = _mm256_mul_ps(_mm256_add_ps(length, _mm256_set1_ps(slack)), _mm256_set1_ps(widen));
        // No number, from corners beyond the range, loses against the second operand.
        let reach = _mm256_min_ps(_mm256_mul_ps(reach, reach), _mm256_set1_ps(*limit));
        let reach = _mm256_min_ps(reach, _mm256_permute2f128_ps::<1>(reach, reach));
        let reach = _mm256_min_ps(reach, _mm256_permute_ps::<0b01_00_11_10>(reach));
        let reach = _mm256_min_ps(reach, _mm256_permute_ps::<0b10_11_00_01>(reach));
        *limit = _mm256_cvtss_f32(reach);
        let gap = _mm256_sub_ps(_mm256_div_ps(along, length), _mm256_set1_ps(slack));
        let square = _mm256_mul_ps(gap, gap);
        let old = load(gaps);
        let more = _mm256_and_ps(below(zero, gap), below(old, square));
        let raised = _mm256_blendv_ps(old, square, more);
        // SAFETY: eight numbers fit.
        unsafe { _mm256_storeu_ps(gaps.as_mut_ptr(), raised) };
        _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(raised, _mm256_set1_ps(*limit))) as u8
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(lanes: &[f32; WIDTH]) -> __m256 {
        // SAFETY: eight numbers are there.
        unsafe { _mm256_loadu_ps(lanes.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn below(x: __m256, y: __m256) -> __m256 {
        _mm256_cmp_ps::<_CMP_LT_OQ>(x, y)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn minus(p: Vector, q: Vector) -> Vector {
        [_mm256_sub_ps(p[0], q[0]), _mm256_sub_ps(p[1], q[1]), _mm256_sub_ps(p[2], q[2])]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn dot(p: Vector, q: Vector) -> __m256 {
        let xy = _mm256_add_ps(_mm256_mul_ps(p[0], q[0]), _mm256_mul_ps(p[1], q[1]));
        _mm256_add_ps(xy, _mm256_mul_ps(p[2], q[2]))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn cross(p: Vector, q: Vector) -> Vector {
        let part = |i: usize, j: usize| _mm256_sub_ps(_mm256_mul_ps(p[i], q[j]), _mm256_mul_ps(p[j], q[i]));
        [part(1, 2), part(2, 0), part(0, 1)]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn pick(first: __m256, p: Vector, q: Vector) -> Vector {
        let one = |k: usize| _mm256_blendv_ps(q[k], p[k], first);
        [one(0), one(1), one(2)]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn side_foot(a: Vector, d: Vector) -> Vector {
        let back = _mm256_xor_ps(dot(a, d), _mm256_set1_ps(-0.0));
        let along = _mm256_div_ps(back, dot(d, d));
        // The second operand where the first is no number.
        let along = _mm256_max_ps(along, _mm256_setzero_ps());
        let along = _mm256_min_ps(along, _mm256_set1_ps(1.0));
        let at = |k: usize| _mm256_add_ps(a[k], _mm256_mul_ps(d[k], along));
        [at(0), at(1), at(2)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pose;
    use crate::geom::point_triangle::closest_point;
    use crate::hierarchy::gap::PlacedTree;
    use crate::shape::make;

    #[test]
    fn gaps_are_below_the_distance_and_mostly_close() {
        let ball = make::blob(1.0, 0.4, 3, 5).unwrap();
        // Flat and needle-like triangles among them.
        let odd = (0..200).map(|k| [k, k, (k * 7) % 300]).chain((0..50).map(|k| [k, k, k]));
        let triangles = ball.triangles().iter().copied().chain(odd).collect();
        let mesh = Mesh::from_points(ball.vertices().to_vec(), triangles).unwrap();
        let tree = WideTree::build(&mesh);
        let blocks = LeafBlocks::new(&mesh, &tree);
        let placed = PlacedTree::new(&tree, &Pose::IDENTITY);
        let (mut close, mut all) = (0, 0);
        for p in make::positions(30, glam::DVec3::splat(-2.0), glam::DVec3::splat(2.0), 8) {
            let gauge = placed.from_point(p);
            for (index, node) in tree.nodes().iter().enumerate() {
                let Some(block) = blocks.of(index as u32) else { continue };
                let mut raised = [0.0; WIDTH];
                let mut limit = f32::MAX;
                let within = gauge.raise(Level::best(), block, &mut limit, &mut raised);
                for level in Level::available() {
                    let mut same = [0.0; WIDTH];
                    let mut same_limit = f32::MAX;
                    assert_eq!(gauge.raise(level, block, &mut same_limit, &mut same), within);
                    assert_eq!(same_limit.to_bits(), limit.to_bits());
                    assert_eq!(same.map(f32::to_bits), raised.map(f32::to_bits));
                }
                let mut least = f64::INFINITY;
                for lane in node.used() {
                    let t = tree.order()[node.child[lane].slots().start];
                    let distance = closest_point(p, &mesh.corners(t)).distance_sq.sqrt();
                    assert!(raised[lane] <= gauge.limit(distance));
                    least = least.min(distance);
                    close += usize::from(raised[lane] > gauge.limit(distance * 0.999));
                    all += 1;
                }
                assert!(
                    limit >= gauge.limit(least).next_down() && limit <= gauge.limit(least * 1.001 + 1e-4)
                );
            }
        }
        assert!(all > 10_000 && close * 10 > all * 9, "{close} of {all}");
    }
}
