//! A placed mesh: its triangles in the world, and those near a region of the world.

use std::ops::ControlFlow;

use glam::{DMat3, DVec3};
use smallvec::SmallVec;

use super::winding::counted_winding;
use crate::bound::Aabb;
use crate::geom::triangle_triangle;
use crate::geom::triangle_triangle::has_area;
use crate::hierarchy::box_overlap::reaching;
use crate::hierarchy::spot_search::{Spot, through_spot};
use crate::hierarchy::wide::{Node, WIDTH};
use crate::model::{Fact, Model};
use crate::num::each::Each;
use crate::num::tolerance::PLACED_BOX_ROUNDING;
use crate::simd::{SimdLevel, dispatch};
use crate::{Budget, Counters, Pose};

/// What casts and comparisons in f32 can do, relative to the numbers in them (no unit).
const REGION_ROUNDING: f64 = 8.0 * f32::EPSILON as f64;

/// What turning a placed box into another's frame adds to its pad (no unit: √3 for the pad itself, the rest for the
/// roundings of another turn).
const BOX_AXES: f64 = 4.0;

/// A box in the frame of a tree.
struct Region {
    centre: [f32; 3],
    half: [f32; 3],
}

impl Region {
    /// The lanes of a node whose boxes reach this one.
    #[inline]
    fn reaches(&self, level: SimdLevel, node: &Node) -> u8 {
        reaching(level, node, &self.centre, &self.half)
    }
}

/// A model where its pose puts it.
#[derive(Debug, Clone, Copy)]
pub struct PlacedMesh<'m> {
    /// The mesh, its tree and its topology.
    pub model: &'m Model,
    /// Where it is.
    pub pose: &'m Pose,
    /// Columns of the 3×3 part, times the tree's unit.
    turn: [DVec3; 3],
    /// Where the tree's origin is.
    origin: DVec3,
    /// Bound of what rounding adds to a placed box (world units).
    pad: f64,
}

impl<'m> PlacedMesh<'m> {
    /// Places a model.
    pub fn new(model: &'m Model, pose: &'m Pose) -> PlacedMesh<'m> {
        let frame = model.tree().frame();
        let matrix = pose.matrix();
        let turn = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|column| column * frame.unit);
        let origin = pose.apply(frame.centre);
        let size =
            frame.centre.length() + pose.translation().length() + 4.0 * f64::from(frame.reach) * frame.unit;
        let pad = size * PLACED_BOX_ROUNDING + f64::MIN_POSITIVE;
        PlacedMesh { model, pose, turn, origin, pad }
    }

    /// A box around all placed corners.
    pub fn bounds(&self) -> [DVec3; 2] {
        placed_bounds(SimdLevel::best(), &self.model.tree().nodes()[0], self)
    }

    /// The smallest box around all placed corners. Only boxes of the tree that reach out of what is found are opened.
    pub fn tight_bounds(&self) -> Aabb {
        let high = [0, 1, 2].each(|axis| self.reach(axis, 1.0));
        let low = [0, 1, 2].each(|axis| -self.reach(axis, -1.0));
        Aabb { low: DVec3::from_array(low), high: DVec3::from_array(high) }
    }

    /// How far its boxes reach along a unit vector.
    pub fn extent_along(&self, direction: DVec3) -> ExtentAlong {
        let axes = self.turn.each(|column| column.dot(direction));
        // A pad to every side reaches √3 times as far across.
        ExtentAlong { axes, origin: self.origin.dot(direction), pad: 2.0 * self.pad }
    }

    /// The largest coordinate of a placed corner along an axis of the world, or against it.
    fn reach(&self, axis: usize, way: f64) -> f64 {
        let tree = self.model.tree();
        let turn = self.turn.each(|column| way * column[axis]);
        let bound = |node: &Node, lane: usize| {
            let part = |k: usize| {
                turn[k] * f64::from(node.centre[k][lane]) + turn[k].abs() * f64::from(node.half[k][lane])
            };
            way * self.origin[axis] + part(0) + part(1) + part(2) + self.pad
        };
        let mut farthest = f64::NEG_INFINITY;
        let mut stack: SmallVec<[(f64, u32); 64]> = SmallVec::new();
        stack.push((f64::INFINITY, 0));
        while let Some((reached, index)) = stack.pop() {
            if reached <= farthest {
                continue;
            }
            let node = &tree.nodes()[index as usize];
            let begin = stack.len();
            for lane in node.used() {
                let reached = bound(node, lane);
                if reached <= farthest {
                    continue;
                }
                match node.child[lane].as_node() {
                    Some(child) => stack.push((reached, child as u32)),
                    None => {
                        for slot in node.child[lane].slots() {
                            for p in self.corners(tree.order()[slot]) {
                                farthest = farthest.max(way * p[axis]);
                            }
                        }
                    }
                }
            }
            stack[begin..].sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
        }
        farthest
    }

    /// The placed corners of a triangle: the doubles that every decision is about.
    #[inline]
    pub fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.model.mesh().corners(triangle).each(|p| self.pose.apply(p))
    }

    /// Whether any placed triangle has an area; nearly always the first has.
    pub fn has_area(&self) -> bool {
        (0..self.model.mesh().triangles().len() as u32).any(|t| has_area(&self.corners(t)))
    }

    /// Whether the surface bounds a solid.
    pub fn is_closed(&self) -> bool {
        self.model.topology().is_closed()
    }

    /// [`PlacedMesh::is_closed`], as far as the budget goes to find out.
    pub fn is_closed_within(&self, budget: &mut Budget) -> Option<bool> {
        self.model.prepare(Fact::Topology, budget).then(|| self.is_closed())
    }

    /// Whether a point of the world is in the closed solid; `None` when the budget ended first. Also counts the
    /// tests. Far away nothing has to be known about the surface.
    pub fn holds(&self, point: DVec3, budget: &mut Budget, work: &mut Counters) -> Option<bool> {
        let [low, high] = self.bounds();
        if (point.cmplt(low) | point.cmpgt(high)).any() || !self.is_closed_within(budget)? {
            return Some(false);
        }
        let (winding, tests) = counted_winding(self.model, self.pose, point);
        work.primitive_tests += tests;
        budget.draw_all_or_rest(tests).then(|| winding.is_inside())
    }

    /// Visits every triangle of which a placed point lies in the box from `low` to `high` (infinite ends are
    /// allowed), and perhaps a few more.
    pub fn in_region(&self, low: DVec3, high: DVec3, visit: impl FnMut(u32) -> ControlFlow<()>) {
        if low.is_finite() && high.is_finite() {
            let (region, level) = (self.region(low, high), SimdLevel::best());
            self.descend(|node| region.reaches(level, node), visit);
        } else {
            let (level, low, high) = (SimdLevel::best(), low.to_array(), high.to_array());
            self.descend(|node| placed_reaching(level, node, self, &low, &high), visit);
        }
    }

    /// [`PlacedMesh::in_region`] for a finite box far smaller than the triangles, of which those are passed over whose planes
    /// surely miss it.
    pub fn through_spot(&self, low: DVec3, high: DVec3, mut visit: impl FnMut(u32) -> ControlFlow<()>) {
        if !self.model.knows(Fact::LeafBlocks) {
            return self.in_region(low, high, visit);
        }
        let Region { centre, half } = self.region(low, high);
        let tree = self.model.tree();
        let visit = &mut |slot: usize| visit(tree.order()[slot]);
        through_spot(SimdLevel::best(), tree, self.model.leaf_blocks(), &Spot { centre, half }, visit);
    }

    /// [`PlacedMesh::in_region`] for a finite box, without the subtrees whose boxes of the world are not wanted.
    pub fn in_region_where(
        &self,
        [low, high]: [DVec3; 2],
        wanted: impl Fn([DVec3; 2]) -> bool,
        visit: impl FnMut(u32) -> ControlFlow<()>,
    ) {
        let (region, level) = (self.region(low, high), SimdLevel::best());
        let reached = |node: &Node| {
            let unwanted =
                |lane: usize| node.child[lane].as_node().is_some() && !wanted(self.lane_box(node, lane));
            let lanes = region.reaches(level, node);
            let passed = (0..WIDTH).filter(|&lane| lanes & 1 << lane != 0 && unwanted(lane));
            passed.fold(lanes, |lanes, lane| lanes & !(1 << lane))
        };
        self.descend(reached, visit);
    }

    /// Visits every triangle of which a placed point lies in a turned box of the world, and perhaps a few more: `turn` has
    /// its axes as columns, `at` is its middle, `half` half its sides.
    pub fn in_cuboid(&self, turn: &DMat3, at: DVec3, half: DVec3, visit: impl FnMut(u32) -> ControlFlow<()>) {
        // The tree's boxes in the box's frame, and the box in the tree's.
        let back = turn.transpose();
        let axes = self.turn.each(|column| back * column);
        let origin = back * (self.origin - at);
        let room = half + self.pad * BOX_AXES;
        let (region, level) = (self.turned_region(turn, at, half), SimdLevel::best());
        let reached = |node: &Node| {
            let mut apart = [false; WIDTH];
            for k in 0..3 {
                for (lane, apart) in apart.iter_mut().enumerate() {
                    let [c, h] = [&node.centre, &node.half].each(|of| of.each(|axis| f64::from(axis[lane])));
                    let middle = origin[k] + axes[0][k] * c[0] + axes[1][k] * c[1] + axes[2][k] * c[2];
                    let reach = axes[0][k].abs() * h[0] + axes[1][k].abs() * h[1] + axes[2][k].abs() * h[2];
                    *apart |= middle.abs() > room[k] + reach;
                }
            }
            let beside = (0..WIDTH).fold(0, |mask, lane| mask | u8::from(apart[lane]) << lane);
            region.reaches(level, node) & !beside
        };
        self.descend(reached, visit);
    }

    /// Visits the triangles in those boxes of the world that are wanted; none below a box that is not.
    pub fn in_boxes(&self, wanted: impl Fn([DVec3; 2]) -> bool, visit: impl FnMut(u32) -> ControlFlow<()>) {
        let reached = |node: &Node| {
            let lanes = node.used().filter(|&lane| wanted(self.lane_box(node, lane)));
            lanes.fold(0, |mask, lane| mask | 1 << lane)
        };
        self.descend(reached, visit);
    }

    /// Goes down to the triangles in all lanes that `reached` names.
    fn descend(&self, reached: impl Fn(&Node) -> u8, mut visit: impl FnMut(u32) -> ControlFlow<()>) {
        let tree = self.model.tree();
        let mut stack: SmallVec<[u32; 64]> = SmallVec::new();
        stack.push(0);
        while let Some(index) = stack.pop() {
            let node = &tree.nodes()[index as usize];
            let mut lanes = reached(node);
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                match node.child[lane].as_node() {
                    Some(child) => stack.push(child as u32),
                    None => {
                        for slot in node.child[lane].slots() {
                            if visit(tree.order()[slot]).is_break() {
                                return;
                            }
                        }
                    }
                }
            }
        }
    }

    /// A box of the world as a box of the tree's frame that holds it.
    fn region(&self, low: DVec3, high: DVec3) -> Region {
        let middle = low.midpoint(high);
        self.turned_region(&DMat3::IDENTITY, middle, high - middle)
    }

    /// As [`PlacedMesh::region`] for a turned box of the world.
    fn turned_region(&self, turn: &DMat3, middle: DVec3, half: DVec3) -> Region {
        let frame = self.model.tree().frame();
        let inverse = self.pose.matrix().inverse();
        let half = (half + DVec3::splat(self.pad)) / frame.unit;
        let centre = inverse * (middle - self.origin) / frame.unit;
        let axes = inverse * *turn;
        let size = axes.x_axis.abs() * half.x + axes.y_axis.abs() * half.y + axes.z_axis.abs() * half.z;
        // The pad of the body covers f64; here the numbers go to f32 and are compared there.
        let pad = REGION_ROUNDING * (centre.abs() + size + f64::from(frame.reach));
        Region { centre: centre.as_vec3().to_array(), half: (size + pad).as_vec3().to_array() }
    }

    /// Visits the corners of every other triangle of this body that meets the given one.
    pub fn for_each_meeting(&self, triangle: u32, corners: &[DVec3; 3], mut visit: impl FnMut([DVec3; 3])) {
        let [a, b, c] = *corners;
        self.in_region(a.min(b).min(c), a.max(b).max(c), |other| {
            let others = self.corners(other);
            if other != triangle && triangle_triangle::meet(corners, &others) {
                visit(others);
            }
            ControlFlow::Continue(())
        });
    }

    /// The world box of a child; an unused lane leads to no triangle, so its box does not matter.
    #[inline]
    pub fn lane_box(&self, node: &Node, lane: usize) -> [DVec3; 2] {
        let at = |of: &[[f32; WIDTH]; 3], k: usize| f64::from(of[k][lane]);
        let [x, y, z] = self.turn;
        let centre =
            self.origin + x * at(&node.centre, 0) + y * at(&node.centre, 1) + z * at(&node.centre, 2);
        let half = x.abs() * at(&node.half, 0)
            + y.abs() * at(&node.half, 1)
            + z.abs() * at(&node.half, 2)
            + DVec3::splat(self.pad);
        [centre - half, centre + half]
    }
}

/// How far the boxes of a placed tree reach along a direction of the world.
#[derive(Debug, Clone, Copy)]
pub struct ExtentAlong {
    /// The direction in the tree's axes.
    axes: [f64; 3],
    origin: f64,
    pad: f64,
}

impl ExtentAlong {
    /// From where to where the placed corners in a box lie at most.
    #[inline]
    pub fn of(&self, node: &Node, lane: usize) -> [f64; 2] {
        let (mut middle, mut reach) = (self.origin, self.pad);
        for (k, axis) in self.axes.into_iter().enumerate() {
            middle += axis * f64::from(node.centre[k][lane]);
            reach += axis.abs() * f64::from(node.half[k][lane]);
        }
        [middle - reach, middle + reach]
    }
}

/// Lanes of a node at a time in f64.
const FOUR: usize = 4;

/// The boxes of four lanes of a node along one axis of the world, as by `PlacedMesh::lane_box`: low ends, then high ones.
#[inline(always)]
fn ends_of_four(node: &Node, body: &PlacedMesh<'_>, axis: usize, from: usize) -> [[f64; FOUR]; 2] {
    // Whole arrays, step by step, become vector instructions.
    let numbers = |of: &[f32; WIDTH]| -> [f64; FOUR] { std::array::from_fn(|k| f64::from(of[from + k])) };
    let [a, b, c] = [numbers(&node.centre[0]), numbers(&node.centre[1]), numbers(&node.centre[2])];
    let [d, e, f] = [numbers(&node.half[0]), numbers(&node.half[1]), numbers(&node.half[2])];
    let [x, y, z] = body.turn.each(|column| column.to_array()[axis]);
    let (origin, pad) = (body.origin.to_array()[axis], body.pad);
    let centre: [f64; FOUR] = std::array::from_fn(|k| origin + x * a[k] + y * b[k] + z * c[k]);
    let half: [f64; FOUR] = std::array::from_fn(|k| x.abs() * d[k] + y.abs() * e[k] + z.abs() * f[k] + pad);
    [std::array::from_fn(|k| centre[k] - half[k]), std::array::from_fn(|k| centre[k] + half[k])]
}

dispatch! {
    /// The lanes of a node whose placed boxes reach a box of the world; also those that cannot be told.
    fn placed_reaching(node: &Node, body: &PlacedMesh<'_>, low: &[f64; 3], high: &[f64; 3]) -> u8
        = eight placed_reaching_in
}

#[inline(always)]
fn placed_reaching_in(node: &Node, body: &PlacedMesh<'_>, low: &[f64; 3], high: &[f64; 3]) -> u8 {
    let mut reached = 0;
    for from in (0..WIDTH).step_by(FOUR) {
        let mut beside = [0_u64; FOUR];
        for axis in 0..3 {
            let [lows, highs] = ends_of_four(node, body, axis, from);
            for k in 0..FOUR {
                beside[k] |= u64::from(lows[k] > high[axis]) | u64::from(highs[k] < low[axis]);
            }
        }
        for (k, beside) in beside.into_iter().enumerate() {
            reached |= u8::from(beside == 0) << (from + k);
        }
    }
    reached
}

dispatch! {
    /// A box around the placed boxes of all lanes of a node.
    fn placed_bounds(node: &Node, body: &PlacedMesh<'_>) -> [DVec3; 2] = eight placed_bounds_in
}

#[inline(always)]
fn placed_bounds_in(node: &Node, body: &PlacedMesh<'_>) -> [DVec3; 2] {
    // An unused lane is inside out or no number: it changes nothing.
    let smaller = |x: f64, y: f64| if x < y { x } else { y };
    let larger = |x: f64, y: f64| if x > y { x } else { y };
    let ends: [[f64; 2]; 3] = std::array::from_fn(|axis| {
        let (mut least, mut most) = ([f64::INFINITY; FOUR], [f64::NEG_INFINITY; FOUR]);
        for from in (0..WIDTH).step_by(FOUR) {
            let [lows, highs] = ends_of_four(node, body, axis, from);
            least = std::array::from_fn(|k| smaller(lows[k], least[k]));
            most = std::array::from_fn(|k| larger(highs[k], most[k]));
        }
        [least.into_iter().fold(f64::INFINITY, smaller), most.into_iter().fold(f64::NEG_INFINITY, larger)]
    });
    [0, 1].each(|end| DVec3::from_array(ends.each(|of_axis| of_axis[end])))
}

#[cfg(test)]
#[path = "placed_mesh_tests.rs"]
mod tests;
