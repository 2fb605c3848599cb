//! Triangles of which no other one of their mesh covers a part, wherever a pose puts them: each other triangle near such
//! a one has a corner so far off its plane that no rounding brings it there.
//!
//! This is looked for at the first question about a triangle and kept, so that bodies which meet at the same places again
//! and again need not look there for a second sheet each time. What cannot be proved here is asked at the placement.
//!
//! The proof, in tree units, with u = 2⁻²⁴, r the reach of the tree and S the largest component of the differences of
//! the corners from the first one of the triangle. Placed corners, carried back by the exact map of the pose, lie
//! within 1.75 times the placement error of where the mesh has them, on each axis; [`UncoveredTriangles::allows`] lets
//! that error be u·r. Corners were rounded to f32 by u·r: they are off by d = 3u·r at most, differences of two by 2d.
//! - The determinant e × f · w of three differences changes by less than 18·2d·S² = 108u·r·S², and by 11u·r·S² in the
//!   higher powers of d where S is at least 64u·r; f32 makes errors below 54u·S³ (`spot_search.rs`). A corner with a
//!   determinant beyond `PLACED`·r·S² + `ROUNDED`·S³ keeps its side of the plane at every pose, so its triangle
//!   shares no area with the other one.
//! - Triangles that share a point have boxes nearer than d and 1.75u·r; boxes of the tree hold what the mesh has, and
//!   their comparison rounds by less than 6u·r. `BESIDE` takes 16u.

use std::sync::atomic::{AtomicU8, Ordering};

use glam::Vec3;
use smallvec::SmallVec;

use super::box_overlap::reaching;
use super::leaf_block::{Block, LeafBlocks};
use super::wide::{WIDTH, WideTree};
use crate::Mesh;
use crate::simd::{SimdLevel, dispatch};

/// What placing can do to a determinant, relative to r·S² (no unit): 128·2⁻²⁴.
const PLACED: f32 = 64.0 * f32::EPSILON;
/// What f32 can do to a determinant, relative to S³ (no unit): 64·2⁻²⁴.
const ROUNDED: f32 = 32.0 * f32::EPSILON;
/// More than all products that underflow can add up to (cubic tree units).
const UNDERFLOW: f32 = 64.0 * f32::MIN_POSITIVE;
/// Triangles smaller than that, relative to the reach, are not looked at (no unit): 64·2⁻²⁴.
const SMALLEST: f32 = 32.0 * f32::EPSILON;
/// How far apart boxes can be whose triangles share a point, relative to the reach (no unit): 16·2⁻²⁴.
const BESIDE: f32 = 8.0 * f32::EPSILON;
/// The largest placement error, relative to the reach (no unit): 2⁻²⁴.
const PLACEMENT: f64 = 0.5 * f32::EPSILON as f64;

/// Nothing was asked about a triangle yet.
const UNKNOWN: u8 = 0;
const UNCOVERED: u8 = 1;
const IN_DOUBT: u8 = 2;

/// What is known so far of each triangle of a mesh.
#[derive(Debug)]
pub struct UncoveredTriangles {
    marks: Vec<AtomicU8>,
}

impl UncoveredTriangles {
    /// Of a mesh with so many triangles, nothing is known yet.
    pub fn new(count: usize) -> UncoveredTriangles {
        UncoveredTriangles { marks: (0..count).map(|_| AtomicU8::new(UNKNOWN)).collect() }
    }

    /// Whether placements with so large an error (world units, per axis) are among those that are spoken of.
    #[inline]
    pub fn allows(tree: &WideTree, placement: f64) -> bool {
        let frame = tree.frame();
        placement <= PLACEMENT * f64::from(frame.reach) * frame.unit
    }

    /// Whether a triangle is surely covered by no other one; found at the first call and kept.
    #[inline]
    pub fn contains(&self, triangle: u32, mesh: &Mesh, tree: &WideTree, blocks: &LeafBlocks) -> bool {
        let mark = &self.marks[triangle as usize];
        match mark.load(Ordering::Relaxed) {
            UNKNOWN => {
                let uncovered = is_uncovered(triangle, mesh, tree, blocks);
                mark.store(if uncovered { UNCOVERED } else { IN_DOUBT }, Ordering::Relaxed);
                uncovered
            }
            known => known == UNCOVERED,
        }
    }
}

impl Clone for UncoveredTriangles {
    fn clone(&self) -> UncoveredTriangles {
        let marks = self.marks.iter().map(|mark| AtomicU8::new(mark.load(Ordering::Relaxed)));
        UncoveredTriangles { marks: marks.collect() }
    }
}

/// A triangle's plane, in tree units.
struct Plane {
    at: [f32; 3],
    normal: [f32; 3],
    /// The largest component of its edges.
    extent: f32,
    /// `PLACED`·r.
    placed: f32,
}

#[cold]
fn is_uncovered(triangle: u32, mesh: &Mesh, tree: &WideTree, blocks: &LeafBlocks) -> bool {
    let (level, frame) = (SimdLevel::best(), tree.frame());
    let [a, b, c] = mesh.corners(triangle).map(|p| frame.inward(p).as_vec3());
    let (e, f) = (b - a, c - a);
    let extent = e.abs().max(f.abs()).max_element();
    // Negated, so that a number that is none is in doubt.
    if !(extent >= SMALLEST * frame.reach) {
        return false;
    }
    let plane =
        Plane { at: a.to_array(), normal: e.cross(f).to_array(), extent, placed: PLACED * frame.reach };
    let (low, high) = (a.min(b).min(c), a.max(b).max(c));
    let centre = (0.5 * (low + high)).to_array();
    let half = (0.5 * (high - low) + Vec3::splat(BESIDE * frame.reach)).to_array();
    let mut stack: SmallVec<[u32; 64]> = SmallVec::from_slice(&[0]);
    while let Some(index) = stack.pop() {
        let node = &tree.nodes()[index as usize];
        let mut lanes = reaching(level, node, &centre, &half);
        let is_bottom = tree.is_bottom(index as usize);
        if lanes != 0
            && is_bottom
            && let Some(block) = blocks.of(index)
        {
            lanes &= near_plane(level, block, &plane);
        }
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            match node.child[lane % WIDTH].as_node() {
                Some(child) => stack.push(child as u32),
                None => {
                    if node.child[lane % WIDTH].slots().any(|slot| tree.order()[slot] != triangle) {
                        return false;
                    }
                }
            }
        }
    }
    true
}

dispatch! {
    /// The triangles of a block of which no corner is surely off the plane.
    fn near_plane(block: &Block, plane: &Plane) -> u8 = eight near_plane_in
}

#[inline(always)]
fn near_plane_in(block: &Block, plane: &Plane) -> u8 {
    // Not `f32::max`, whose care for NaN costs more than the rest.
    let larger = |x: f32, y: f32| if x > y { x } else { y };
    let ([x, y, z], [u, v, w]) = (plane.at, plane.normal);
    // Above 0 where a corner is off; written so that it becomes vector instructions.
    let mut most = [f32::NEG_INFINITY; WIDTH];
    for corner in block.chunks_exact(3) {
        for (lane, most) in most.iter_mut().enumerate() {
            let way = [corner[0][lane] - x, corner[1][lane] - y, corner[2][lane] - z];
            let determinant = (u * way[0] + v * way[1]) + w * way[2];
            let size = larger(larger(way[0].abs(), way[1].abs()), larger(way[2].abs(), plane.extent));
            let doubt = (size * size) * (plane.placed + ROUNDED * size) + UNDERFLOW;
            *most = larger(determinant.abs() - doubt, *most);
        }
    }
    (0..WIDTH).fold(0, |mask, lane| mask | u8::from(!(most[lane] > 0.0)) << lane)
}

#[cfg(test)]
#[path = "uncovered_triangles_tests.rs"]
mod tests;
