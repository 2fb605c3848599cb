//! The triangles of a tree that may have a point in a spot, a box far smaller than they are: by the boxes of the tree on
//! the way down, and at the bottom by the planes of eight triangles at a time, in f32. Neighbours of a triangle share its
//! boxes but seldom its plane, so nearly always one triangle is left.
//!
//! Where a triangle of the tree, its corners rounded to f32, has a point y within H of the spot's centre s on every axis,
//! n·(s − a) = n·(s − y) for its first corner a and n = e × f, so that |n·(s − a)| ≤ |n|₁·H. What f32 makes of it, with
//! u = 2⁻²⁴ and S the largest component of e, f and s − a: those are wrong by u of their size, the components of n
//! by less than 10u·S², the sum by less than 3·(10 + 2·4)u·S³ = 54u·S³. `HEIGHT` takes 128u. H is the half extent of the spot
//! and 2u of the reach of the tree for the rounded corners; |n|₁ and its product round by less than what `ROUNDING` adds.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use super::box_overlap::reaching;
use super::leaf_block::{Block, LeafBlocks};
use super::wide::{Node, WIDTH, WideTree};
use crate::simd::{SimdLevel, dispatch};

/// What rounding can do to a height over a plane, relative to S³ (no unit): 128·2⁻²⁴.
const HEIGHT: f32 = 64.0 * f32::EPSILON;
/// What rounding can take from a bound (no unit); the components of n are wrong by less than 10u·S², which `HEIGHT` covers
/// too as H is less than S wherever a triangle is refused.
const ROUNDING: f32 = 1.0 + 8.0 * f32::EPSILON;
/// How far a stored corner can be from the one of the mesh, relative to the reach (no unit): 2·2⁻²⁴.
const CORNER: f32 = f32::EPSILON;

/// A small box in the frame of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Spot {
    /// Its middle.
    pub centre: [f32; 3],
    /// Half its sides.
    pub half: [f32; 3],
}

impl Spot {
    /// H.
    #[inline(always)]
    fn within(&self, reach: f32) -> f32 {
        let [x, y, z] = self.half;
        (larger(larger(x, y), z) + CORNER * reach) * ROUNDING
    }
}

dispatch! {
    /// Calls `visit` with the slot of every triangle that may have a point in the spot, until it breaks.
    pub fn through_spot(
        tree: &WideTree,
        blocks: &LeafBlocks,
        spot: &Spot,
        visit: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) = { portable::through_spot, avx2::through_spot, avx512::through_spot }
}

/// Whether a box of the frame of a tree reaches the box of any leaf, or that cannot be told.
pub fn reaches_a_leaf(level: SimdLevel, tree: &WideTree, spot: &Spot) -> bool {
    let mut stack: SmallVec<[u32; 64]> = SmallVec::from_slice(&[0]);
    while let Some(index) = stack.pop() {
        let node = &tree.nodes()[index as usize];
        let mut lanes = reaching(level, node, &spot.centre, &spot.half);
        if lanes != 0 && tree.is_bottom(index as usize) {
            return true;
        }
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            stack.extend(node.child[lane % WIDTH].as_node().map(|child| child as u32));
        }
    }
    false
}

/// Goes down to the triangles: `reaching` names the lanes of a node whose boxes reach the spot, `near` those of a block
/// whose planes do.
#[inline(always)]
fn descend(
    tree: &WideTree,
    blocks: &LeafBlocks,
    reaching: impl Fn(&Node) -> u8,
    near: impl Fn(&Block) -> u8,
    visit: &mut dyn FnMut(usize) -> ControlFlow<()>,
) {
    let mut stack: SmallVec<[u32; 64]> = SmallVec::new();
    let mut next = Some(0);
    while let Some(index) = next {
        let node = &tree.nodes()[index as usize];
        let (mut lanes, mut straight) = (reaching(node), None);
        if tree.is_bottom(index as usize) {
            if lanes != 0
                && let Some(block) = blocks.of(index)
            {
                lanes &= near(block);
            }
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                for slot in node.child[lane % WIDTH].slots() {
                    if visit(slot).is_break() {
                        return;
                    }
                }
            }
        } else {
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                if let Some(child) = node.child[lane % WIDTH].as_node() {
                    if lanes == 0 { straight = Some(child as u32) } else { stack.push(child as u32) }
                }
            }
        }
        // Mostly one lane is left, and the others wait for it.
        next = straight.or_else(|| stack.pop());
    }
}

/// As the instruction does it: the second where one is no number.
#[inline(always)]
fn larger(x: f32, y: f32) -> f32 {
    if x > y { x } else { y }
}

mod portable {
    use std::ops::ControlFlow;

    use super::{Block, HEIGHT, LeafBlocks, Node, Spot, WIDTH, WideTree, descend, larger};

    pub(super) fn through_spot(
        tree: &WideTree,
        blocks: &LeafBlocks,
        spot: &Spot,
        visit: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) {
        let within = spot.within(tree.frame().reach);
        descend(tree, blocks, |node| reaching(node, spot), |block| near(block, &spot.centre, within), visit);
    }

    fn reaching(node: &Node, spot: &Spot) -> u8 {
        // Negated, so that a number that is none reaches.
        let apart = |lane: usize| {
            (0..3).any(|k| (node.centre[k][lane] - spot.centre[k]).abs() > node.half[k][lane] + spot.half[k])
        };
        (0..WIDTH).fold(0, |mask, lane| mask | u8::from(!apart(lane)) << lane)
    }

    fn near(block: &Block, at: &[f32; 3], within: f32) -> u8 {
        let beside = |lane: usize| {
            let a = [0, 1, 2].map(|k| block[k][lane]);
            let e = [0, 1, 2].map(|k| block[3 + k][lane] - a[k]);
            let f = [0, 1, 2].map(|k| block[6 + k][lane] - a[k]);
            let way = [0, 1, 2].map(|k| at[k] - a[k]);
            let minor = |i: usize, j: usize| e[i].mul_add(f[j], -(e[j] * f[i]));
            let n = [minor(1, 2), minor(2, 0), minor(0, 1)];
            let height = n[2].mul_add(way[2], n[1].mul_add(way[1], n[0] * way[0])).abs();
            let side = |k: usize| larger(larger(e[k].abs(), f[k].abs()), way[k].abs());
            let size = larger(larger(side(0), side(1)), side(2));
            let sum = (n[0].abs() + n[1].abs()) + n[2].abs();
            let doubt = (HEIGHT * size).mul_add(size * size, sum.mul_add(within, f32::MIN_POSITIVE));
            height > doubt
        };
        (0..WIDTH).fold(0, |mask, lane| mask | u8::from(!beside(lane)) << lane)
    }
}

#[cfg(target_arch = "x86_64")]
macro_rules! kernels {
    ($set:ident, $features:literal) => {
        mod $set {
            use std::arch::x86_64::*;
            use std::ops::ControlFlow;

            use super::{Block, HEIGHT, LeafBlocks, Node, Spot, WideTree, descend};
            use crate::simd::avx::{absolute, dot, load};

            #[target_feature(enable = $features)]
            pub(super) fn through_spot(
                tree: &WideTree,
                blocks: &LeafBlocks,
                spot: &Spot,
                visit: &mut dyn FnMut(usize) -> ControlFlow<()>,
            ) {
                let centre = spot.centre.map(|x| _mm256_set1_ps(x));
                let half = spot.half.map(|x| _mm256_set1_ps(x));
                let within = _mm256_set1_ps(spot.within(tree.frame().reach));
                let reaching = |node: &Node| {
                    let [x, y, z] = [0, 1, 2].map(|k| {
                        let gap = absolute(_mm256_sub_ps(load(&node.centre[k]), centre[k]));
                        _mm256_cmp_ps::<_CMP_GT_OQ>(gap, _mm256_add_ps(load(&node.half[k]), half[k]))
                    });
                    !_mm256_movemask_ps(_mm256_or_ps(_mm256_or_ps(x, y), z)) as u8
                };
                let near = |block: &Block| {
                    let a = [0, 1, 2].map(|k| load(&block[k]));
                    let e = [0, 1, 2].map(|k| _mm256_sub_ps(load(&block[3 + k]), a[k]));
                    let f = [0, 1, 2].map(|k| _mm256_sub_ps(load(&block[6 + k]), a[k]));
                    let way = [0, 1, 2].map(|k| _mm256_sub_ps(centre[k], a[k]));
                    let minor = |i: usize, j: usize| _mm256_fmsub_ps(e[i], f[j], _mm256_mul_ps(e[j], f[i]));
                    let n = [minor(1, 2), minor(2, 0), minor(0, 1)];
                    let height = absolute(dot(&n, &way));
                    let [x, y, z] = [0, 1, 2].map(|k| {
                        _mm256_max_ps(_mm256_max_ps(absolute(e[k]), absolute(f[k])), absolute(way[k]))
                    });
                    let size = _mm256_max_ps(_mm256_max_ps(x, y), z);
                    let sum = _mm256_add_ps(_mm256_add_ps(absolute(n[0]), absolute(n[1])), absolute(n[2]));
                    let doubt = _mm256_fmadd_ps(sum, within, _mm256_set1_ps(f32::MIN_POSITIVE));
                    let cube = _mm256_mul_ps(_mm256_set1_ps(HEIGHT), size);
                    let doubt = _mm256_fmadd_ps(cube, _mm256_mul_ps(size, size), doubt);
                    !_mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(height, doubt)) as u8
                };
                descend(tree, blocks, reaching, near, visit);
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
crate::simd::for_x86_levels!(kernels);

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg32;

    use super::*;
    use crate::Mesh;
    use crate::shape::procedural;
    use crate::simd::SimdLevel;

    fn visited(level: SimdLevel, tree: &WideTree, blocks: &LeafBlocks, spot: &Spot) -> Vec<u32> {
        let mut all = Vec::new();
        through_spot(level, tree, blocks, spot, &mut |slot| {
            all.push(tree.order()[slot]);
            ControlFlow::Continue(())
        });
        all.sort_unstable();
        all
    }

    /// Near the origin and far from it.
    fn meshes() -> Vec<Mesh> {
        let far = |mesh: &Mesh| {
            let points = mesh.vertices().iter().map(|p| *p * 1e-3 + DVec3::new(1e3, -2e3, 5e2)).collect();
            Mesh::from_points(points, mesh.triangles().to_vec()).unwrap()
        };
        let blob = procedural::blob(1.0, 0.3, 4, 7).unwrap();
        vec![far(&blob), blob, procedural::torus(1.0, 0.3, 40, 20).unwrap()]
    }

    #[test]
    fn no_triangle_through_a_spot_is_lost_and_few_others_are_told() {
        let mut random = Pcg32::seed_from_u64(3);
        for mesh in meshes() {
            let tree = WideTree::build(&mesh);
            let blocks = LeafBlocks::new(&mesh, &tree);
            let (mut own, mut others) = (0, 0);
            for _ in 0..4000 {
                let t = random.random_range(0..mesh.triangles().len() as u32);
                let [a, b, c] = mesh.corners(t);
                let (u, v): (f64, f64) = (random.random(), random.random());
                let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
                // Now and then on an edge or in a corner.
                let (u, v) = if random.random_bool(0.2) { (u.round(), 0.0) } else { (u, v) };
                let p = tree.frame().inward(a + u * (b - a) + v * (c - a));
                let half = [1e-7, 1e-6, 1e-5][random.random_range(0..3)] * f64::from(tree.frame().reach);
                let aside = DVec3::from_array(std::array::from_fn(|_| random.random_range(-half..half)));
                // Casts and comparisons round by less than that.
                let room = half + 8.0 * f64::from(f32::EPSILON * tree.frame().reach);
                let spot = Spot {
                    centre: (p + aside).as_vec3().to_array(),
                    half: DVec3::splat(room).as_vec3().to_array(),
                };
                let found = visited(SimdLevel::PORTABLE, &tree, &blocks, &spot);
                for level in SimdLevel::available() {
                    assert_eq!(visited(level, &tree, &blocks, &spot), found);
                }
                assert!(found.contains(&t), "{t} of {found:?}");
                own += 1;
                others += found.len() - 1;
            }
            assert!(others < 2 * own, "{others} besides {own}");
        }
    }

    #[test]
    fn spots_beside_the_surface_meet_nothing() {
        let mesh = procedural::ico_sphere(1.0, 3).unwrap();
        let tree = WideTree::build(&mesh);
        let blocks = LeafBlocks::new(&mesh, &tree);
        for t in 0..mesh.triangles().len() as u32 {
            let [a, b, c] = mesh.corners(t);
            for aside in [0.97, 1.03] {
                let p = tree.frame().inward(aside * (a + b + c) / 3.0).as_vec3().to_array();
                let spot = Spot { centre: p, half: [1e-5; 3] };
                assert!(visited(SimdLevel::best(), &tree, &blocks, &spot).is_empty());
            }
        }
    }
}
