//! How two trees lie to each other: each tree's boxes in the other's frame, and what rounding costs.
//!
//! The truth is the placed doubles `pose.apply(v)`. A box test in the frames of the trees must not separate
//! two triangles whose placed corners meet, so every source of error goes into a pad. Write A and B for
//! the 3×3 parts, ξ and η for tree coordinates, s for the units, w for the placed tree origins. A common
//! placed point of the two triangles gives, with errors e of the placement,
//!
//! `ξ = M·η + d + A⁻¹(e_b − e_a)/s_a`, `M = (s_b/s_a)·A⁻¹B`, `d = A⁻¹(w_b − w_a)/s_a`,
//!
//! true for any invertible A and B: the inverse is never replaced by the transpose, so matrices that are
//! orthonormal only within 1e-4 need no further care. On axis k the boxes (c_a, h_a) and (c_b, h_b) can
//! share such a point only if
//!
//! `|c_a − (M·c_b + d)|_k ≤ h_a + (|M|·h_b)_k + pad_k`, where the pad covers
//!
//! 1. placement: per coordinate 4u·(|x|₂ + |t|) for each body (u = 2⁻⁵³, three products and three sums,
//!    |rows| ≤ 1.0001), the same again for w, and 10u of their sum for the inverse, the difference and the
//!    quotient. `PLACEMENT` takes 64u, world units; a row of A⁻¹ has a length below 1.01, so √3·1.01 of
//!    it arrives on an axis;
//! 2. f32: casting M and d, three products and three sums for the centre, as many for the half extent,
//!    two operations in the comparison: below 20·2⁻²⁴ of S = Σ|M_kj|·reach_b + |d_k| + reach_a (a half
//!    extent is at most 2·reach). `SINGLE` takes 32·2⁻²⁴;
//! 3. underflow of products: a few times 2⁻¹⁴⁹, covered by the smallest normal number;
//! 4. the margin asked for: a distance m moves an axis by at most |row k of A⁻¹|₂·m/s_a.
//!
//! Where the units differ so much that S leaves f32's range the axes of that side decide nothing: the
//! pad is infinite. A translation beyond the range is cut to 2⁹⁰, which still separates the boxes.

use glam::{DMat3, DVec3};

use super::wide::{TreeFrame, WideTree};
use crate::Pose;

/// Placement and f64 rounding, relative to the sizes in the world (no unit): 64·2⁻⁵³.
pub(super) const PLACEMENT: f64 = 64.0 * f64::EPSILON / 2.0;
/// f32 rounding, relative to the numbers in the test (no unit): 32·2⁻²⁴.
pub(super) const SINGLE: f64 = 16.0 * f32::EPSILON as f64;
/// Largest row sum of M for which the test is made (tree units): its products stay far inside f32.
const LARGEST_MAP: f64 = 1.152_921_504_606_847e18;
/// Where translations are cut (tree units): 2⁹⁰, beyond what any box within [`LARGEST_MAP`] reaches.
const FARTHEST: f64 = 1.237_940_039_285_380_3e27;

/// Boxes of one tree as boxes of the other: `centre' = turn·centre + shift`, `half' = |turn|·half + pad`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Map {
    /// Row by row.
    pub turn: [[f32; 3]; 3],
    /// Added to a centre, in units of the target tree.
    pub shift: [f32; 3],
    /// Added to a half extent, in units of the target tree: every error and the margin.
    pub pad: [f32; 3],
}

/// Two trees placed: the maps both ways, and the placement error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Relative {
    /// Boxes of b in the frame of a.
    pub b_in_a: Map,
    /// Boxes of a in the frame of b.
    pub a_in_b: Map,
    /// How far a placed corner of either body can be from the exactly moved one, summed over both
    /// bodies and over the f64 computations of this file (world units, per axis).
    pub placement: f64,
    /// Points of a to the frame of b, in f64.
    pub a_to_b: Carry,
    /// Points of b to the frame of a, in f64.
    pub b_to_a: Carry,
}

/// Points of one tree in the frame of the other: `turn·ξ + shift`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carry {
    /// M.
    pub turn: DMat3,
    /// d, in units of the target tree.
    pub shift: DVec3,
    /// How far a carried corner can be from where the placed doubles have it (units of the target tree,
    /// per axis).
    pub error: f64,
}

/// How far the placed corners of both bodies can be from exactly moved ones, with the f64 work of this file
/// (world units, per axis).
pub fn placement_error(a: &WideTree, pose_a: &Pose, b: &WideTree, pose_b: &Pose) -> f64 {
    PLACEMENT * (size_in_world(a.frame(), pose_a) + size_in_world(b.frame(), pose_b))
}

/// Bound of all numbers that enter a placed coordinate.
fn size_in_world(frame: &TreeFrame, pose: &Pose) -> f64 {
    let farthest = frame.centre.length() + 2.0 * f64::from(frame.reach) * frame.unit;
    farthest + pose.translation().abs().max_element()
}

impl Relative {
    /// For two placed trees; boxes nearer than `margin` (a length in the world) count as overlapping.
    pub fn new(a: &WideTree, pose_a: &Pose, b: &WideTree, pose_b: &Pose, margin: f64) -> Relative {
        let [side_a, side_b] = [Side::new(a.frame(), pose_a), Side::new(b.frame(), pose_b)];
        let placement = placement_error(a, pose_a, b, pose_b);
        let a_to_b = Carry::new(&side_a, &side_b, placement);
        let b_to_a = Carry::new(&side_b, &side_a, placement);
        Relative {
            b_in_a: Map::new(&b_to_a, &side_b, &side_a, margin),
            a_in_b: Map::new(&a_to_b, &side_a, &side_b, margin),
            placement,
            a_to_b,
            b_to_a,
        }
    }
}

/// One placed tree.
struct Side<'t> {
    frame: &'t TreeFrame,
    matrix: DMat3,
    inverse: DMat3,
    /// Where the tree's origin is in the world.
    origin: DVec3,
}

impl<'t> Side<'t> {
    fn new(frame: &'t TreeFrame, pose: &Pose) -> Side<'t> {
        let matrix = pose.matrix();
        Side { frame, matrix, inverse: matrix.inverse(), origin: pose.apply(frame.centre) }
    }
}

impl Carry {
    fn new(from: &Side<'_>, to: &Side<'_>, placement: f64) -> Carry {
        Carry {
            turn: to.inverse * from.matrix * (from.frame.unit / to.frame.unit),
            shift: to.inverse * (from.origin - to.origin) / to.frame.unit,
            error: 2.0 * placement / to.frame.unit,
        }
    }
}

impl Map {
    fn new(carry: &Carry, from: &Side<'_>, to: &Side<'_>, margin: f64) -> Map {
        let mut map = Map { turn: [[0.0; 3]; 3], shift: [0.0; 3], pad: [f32::INFINITY; 3] };
        for k in 0..3 {
            let row = carry.turn.row(k);
            let sum = row.abs().element_sum();
            let shift = carry.shift[k].clamp(-FARTHEST, FARTHEST);
            let size = sum * f64::from(from.frame.reach) + shift.abs() + f64::from(to.frame.reach);
            // Mostly nothing is asked for, and a root takes long.
            let within = if margin > 0.0 { to.inverse.row(k).length() * margin / to.frame.unit } else { 0.0 };
            let exact = carry.error + within;
            let pad = (size * SINGLE + exact) * (1.0 + SINGLE) + f64::from(f32::MIN_POSITIVE);
            // Negated, so that a number that is none disables the axis too.
            if !(sum <= LARGEST_MAP && pad <= FARTHEST) {
                continue;
            }
            map.turn[k] = [row.x as f32, row.y as f32, row.z as f32];
            map.shift[k] = shift as f32;
            map.pad[k] = (pad as f32).next_up();
        }
        map
    }
}
