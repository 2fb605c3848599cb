//! What a relative screw leaves unchanged: parts that differ in it never meet, whatever the angle.
//!
//! Under a screw about an axis with the pitch p a point keeps its distance r from the axis and w = z − p·φ, with z
//! along the axis and φ around it; under a pure turn r and z; under a pure shift the two coordinates across it. So
//! every triangle has a shadow in two coordinates that does not move, and triangles, or boxes of a tree, whose shadows
//! are apart cannot meet at any time. Surfaces that slide along each other closely (a ring in a ring, a nut on its bolt)
//! keep searches by gaps and speeds busy; their shadows are apart by the clearance.
//!
//! Over a triangle r is at most what its corners' values give by interpolation, and less by at most
//! R·(1 − cos(δ/2)), with R the largest r and δ the angle under which the axis sees the triangle: for a point at
//! barycentric weights λᵢ the difference is Σλᵢrᵢ(1 − cos(φᵢ − φ)), and its φ is the one that makes this least. φ is
//! the mean of the φᵢ under the weights λᵢrᵢ, up to δ³/6, so it differs from the interpolated one by at most
//! δ(R − r)/(4r) + δ³/6, with r the smallest rᵢ. The shadow lies in the triangle of its corners' shadows, grown by that.

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};

use super::shadow_classes;
use crate::geom::point_triangle::norm;
use crate::hierarchy::box_time_of_impact::Times;
use crate::hierarchy::wide::{WIDTH, WideTree};
use crate::model::Model;
use crate::motion::{Motion, RelativeScrew};
use crate::num::tolerance::SCREW_SHADOW_ROUNDING;

/// Largest angle under which the axis may see a triangle for its w to be bounded (radians).
const MOST_ANGLE: f64 = 1.0;

/// Turns of the thread that two shadows are compared at; more mean that they cover each other.
const MOST_TURNS: f64 = 4.0;

/// What the motion of two bodies against each other leaves unchanged.
#[derive(Debug, Clone)]
pub(super) enum Shadows {
    /// Made when the search takes long.
    Later,
    /// The motion is no screw.
    None,
    Made(Box<ScrewShadows>),
}

impl Shadows {
    /// Whether two child boxes, by node and lane, are known never to meet.
    pub fn boxes_never_meet(&self, [a, b]: [Option<(u32, usize)>; 2]) -> bool {
        match (self, a, b) {
            (Shadows::Made(shadows), Some(a), Some(b)) => shadows.boxes_never_meet(a, b),
            _ => false,
        }
    }

    /// Whether two triangles are known never to meet.
    pub fn triangles_never_meet(&self, pair: [u32; 2]) -> bool {
        matches!(self, Shadows::Made(shadows) if shadows.triangles_never_meet(pair))
    }

    /// Takes the pairs of children of two nodes out that shadows keep apart; whether anything is left.
    pub fn drop_separated(&self, [x, y]: [u32; 2], after: &mut Times) -> bool {
        let Shadows::Made(shadows) = self else { return true };
        let mut left = false;
        for (i, row) in after.iter_mut().enumerate() {
            for (j, time) in row.iter_mut().enumerate().filter(|(_, time)| **time < f32::INFINITY) {
                if shadows.boxes_never_meet((x, i), (y, j)) {
                    *time = f32::INFINITY;
                } else {
                    left = true;
                }
            }
        }
        left
    }
}

/// The shadows of two moving meshes.
#[derive(Debug, Clone)]
pub(super) struct ScrewShadows {
    bodies: [MeshShadow; 2],
    wrap: Wrap,
}

/// How shadows are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrap {
    /// How much w grows in a whole turn at the same place; 0 where it does not repeat.
    pub period: f64,
    /// How far shadows must be apart to be so surely.
    pub margin: f64,
}

/// The shadows of the triangles and of the child boxes of a mesh.
#[derive(Debug, Clone)]
struct MeshShadow {
    triangles: Vec<TriangleShadow>,
    /// Which triangles come near any of the other body's.
    near: Vec<bool>,
    nodes: Vec<[Rectangle; WIDTH]>,
}

/// The shadow of a triangle: within the triangle of these points, grown by `less` and `around`.
#[derive(Debug, Clone, Copy)]
pub(super) struct TriangleShadow {
    pub corners: [DVec2; 3],
    /// How much smaller the first coordinate may be.
    pub less: f64,
    /// How much larger or smaller the second may be.
    pub around: f64,
}

/// A rectangle of shadows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rectangle {
    pub low: DVec2,
    pub high: DVec2,
}

impl Rectangle {
    const EMPTY: Rectangle = Rectangle { low: DVec2::INFINITY, high: DVec2::NEG_INFINITY };

    fn merge(self, other: Rectangle) -> Rectangle {
        Rectangle { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

impl ScrewShadows {
    /// The shadows of two meshes whose motion against each other is one screw; `noise` is what rounding can do to the
    /// distance of two placed points.
    pub fn new(models: [&Model; 2], motions: [&Motion; 2], noise: f64) -> Option<ScrewShadows> {
        let screw = RelativeScrew::of(motions)?;
        let starts = motions.map(|motion| motion.pose(0.0));
        let placed = [0, 1].map(|k| -> Vec<DVec3> {
            models[k].mesh().vertices().iter().map(|&p| starts[k].apply(p) - screw.origin).collect()
        });
        let reach = placed.iter().flatten().fold(0.0_f64, |reach, p| reach.max(norm(*p)));
        let size = reach + norm(screw.origin) + TAU * screw.pitch().abs();
        let margin = 2.0 * (noise + screw.error(reach)) + size * SCREW_SHADOW_ROUNDING;
        let wrap = Wrap { period: TAU * screw.pitch().abs(), margin };
        let triangles = [0, 1].map(|k| triangles(models[k], &placed[k], &screw, margin));
        let [near_a, near_b] = shadow_classes::near(triangles.each_ref().map(Vec::as_slice), size, &wrap);
        let [triangles_a, triangles_b] = triangles;
        let bodies = [
            MeshShadow::new(models[0], triangles_a, near_a),
            MeshShadow::new(models[1], triangles_b, near_b),
        ];
        Some(ScrewShadows { bodies, wrap })
    }

    /// Whether nothing meets at all.
    pub fn all_apart(&self) -> bool {
        !self.bodies.iter().all(|body| body.near.contains(&true))
    }

    /// Whether what lies in two child boxes, given by node and lane, never meets.
    pub fn boxes_never_meet(&self, a: (u32, usize), b: (u32, usize)) -> bool {
        let [x, y] =
            [(0, a), (1, b)].map(|(k, (node, lane)): (usize, _)| &self.bodies[k].nodes[node as usize][lane]);
        self.wrap.apart(x, y)
    }

    /// Whether two triangles never meet.
    pub fn triangles_never_meet(&self, pair: [u32; 2]) -> bool {
        if [0, 1].into_iter().any(|k| !self.bodies[k].near[pair[k] as usize]) {
            return true;
        }
        let [a, b] = [0, 1].map(|k| &self.bodies[k].triangles[pair[k] as usize]);
        self.wrap.never_meet(a, b)
    }
}

impl Wrap {
    /// Whether what lies in two rectangles never meets.
    pub fn apart(&self, x: &Rectangle, y: &Rectangle) -> bool {
        if y.low.x - x.high.x > self.margin || x.low.x - y.high.x > self.margin {
            return true;
        }
        let [first, last] = self.turns([x.low.y, x.high.y], [y.low.y, y.high.y]);
        first > last
    }

    /// Whether what has these shadows never meets.
    pub fn never_meet(&self, a: &TriangleShadow, b: &TriangleShadow) -> bool {
        let [x, y] = [a.bounds(), b.bounds()];
        if y.low.x - x.high.x > self.margin || x.low.x - y.high.x > self.margin {
            return true;
        }
        let [first, last] = self.turns([x.low.y, x.high.y], [y.low.y, y.high.y]);
        if first > last {
            return true;
        }
        // Negated, so that what is infinite is not compared.
        if !(last - first <= MOST_TURNS) {
            return false;
        }
        let mut turn = first;
        while turn <= last {
            if !a.is_clear_of(b, turn * self.period, self.margin) {
                return false;
            }
            turn += 1.0;
        }
        true
    }

    /// The first and the last number of turns by which b's w can be moved so that it meets a's; the first is greater
    /// when there is none.
    fn turns(&self, a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
        let (least, most) = (a[0] - b[1] - self.margin, a[1] - b[0] + self.margin);
        if self.period == 0.0 {
            return if least <= 0.0 && most >= 0.0 { [0.0, 0.0] } else { [1.0, 0.0] };
        }
        [(least / self.period).ceil(), (most / self.period).floor()]
    }
}

impl MeshShadow {
    fn new(model: &Model, triangles: Vec<TriangleShadow>, near: Vec<bool>) -> MeshShadow {
        let nodes = boxes(model.tree(), &triangles, &near);
        MeshShadow { triangles, near, nodes }
    }
}

/// The shadows of a mesh with these corners, seen from the screw's origin and known to within `doubt`.
fn triangles(model: &Model, placed: &[DVec3], screw: &RelativeScrew, doubt: f64) -> Vec<TriangleShadow> {
    let corners: Vec<Cylindrical> = placed.iter().map(|&p| Cylindrical::of(p, screw)).collect();
    let shadow = |t: &[u32; 3]| TriangleShadow::new(t.map(|v| corners[v as usize]), screw, doubt);
    model.mesh().triangles().iter().map(shadow).collect()
}

/// The rectangles around the shadows below every child box that come near the other body's, from the last node to the
/// first: children come later.
fn boxes(tree: &WideTree, triangles: &[TriangleShadow], near: &[bool]) -> Vec<[Rectangle; WIDTH]> {
    let mut nodes = vec![[Rectangle::EMPTY; WIDTH]; tree.nodes().len()];
    for (at, node) in tree.nodes().iter().enumerate().rev() {
        for lane in node.used() {
            let child = node.child[lane];
            nodes[at][lane] = match child.as_node() {
                Some(below) => nodes[below].into_iter().fold(Rectangle::EMPTY, Rectangle::merge),
                None => child
                    .slots()
                    .map(|slot| tree.order()[slot] as usize)
                    .filter(|&t| near[t])
                    .map(|t| triangles[t].bounds())
                    .fold(Rectangle::EMPTY, Rectangle::merge),
            };
        }
    }
    nodes
}

/// A point across and around the axis; under a pure shift the coordinates across it.
#[derive(Debug, Clone, Copy)]
struct Cylindrical {
    /// Across.
    across: DVec2,
    radius: f64,
    angle: f64,
    height: f64,
}

impl Cylindrical {
    fn of(p: DVec3, screw: &RelativeScrew) -> Cylindrical {
        let across = DVec2::new(p.dot(screw.across[0]), p.dot(screw.across[1]));
        let angle = if screw.turns() { across.y.atan2(across.x) } else { 0.0 };
        Cylindrical { across, radius: across.length(), angle, height: p.dot(screw.axis) }
    }
}

impl TriangleShadow {
    fn new(corners: [Cylindrical; 3], screw: &RelativeScrew, doubt: f64) -> TriangleShadow {
        if !screw.turns() {
            return TriangleShadow { corners: corners.map(|c| c.across), less: 0.0, around: 0.0 };
        }
        let [a, b, c] = corners.map(|c| c.angle);
        // Each angle near the one before.
        let near = |from: f64, to: f64| {
            let step = to - from;
            if step > PI {
                to - TAU
            } else if step < -PI {
                to + TAU
            } else {
                to
            }
        };
        let b = near(a, b);
        let c = near(b, c);
        let angles = [a, b, c];
        let seen = a.max(b).max(c) - a.min(b).min(c);
        let radii = corners.map(|c| c.radius);
        let (small, large) = (radii[0].min(radii[1]).min(radii[2]), radii[0].max(radii[1]).max(radii[2]));
        let pitch = screw.pitch();
        let at = |k: usize| DVec2::new(radii[k], corners[k].height - pitch * angles[k]);
        let corners = [at(0), at(1), at(2)];
        // Negated, so that what is not a number counts as not bounded. The axis may pass through it, too, or near.
        if !(seen <= MOST_ANGLE && small > 4.0 * doubt) {
            let around = if pitch == 0.0 { 0.0 } else { f64::INFINITY };
            return TriangleShadow { corners, less: large, around };
        }
        let less = large * (1.0 - (0.5 * seen).cos());
        // A corner that is off by `doubt` is seen under another angle.
        let angle = seen * (large - small) / (4.0 * small) + seen.powi(3) / 6.0 + 2.0 * doubt / small;
        let around = pitch.abs() * angle;
        TriangleShadow { corners, less, around }
    }

    /// A rectangle around it.
    pub fn bounds(&self) -> Rectangle {
        let [a, b, c] = self.corners;
        Rectangle {
            low: a.min(b).min(c) - DVec2::new(self.less, self.around),
            high: a.max(b).max(c) + DVec2::new(0.0, self.around),
        }
    }

    /// Whether a line separates it from another one that is moved by `shift` along w, with a margin.
    fn is_clear_of(&self, other: &TriangleShadow, shift: f64, margin: f64) -> bool {
        if !(self.around.is_finite() && other.around.is_finite()) {
            return false;
        }
        let theirs = other.corners.map(|p| p + DVec2::new(0.0, shift));
        let sides = |c: &[DVec2; 3]| [c[1] - c[0], c[2] - c[1], c[0] - c[2]];
        let grown = |n: DVec2, shadow: &TriangleShadow| {
            // How far the grown triangle reaches beyond its corners, downwards and upwards along n.
            let around = n.y.abs() * shadow.around;
            [around + (n.x * shadow.less).max(0.0), around + (-n.x * shadow.less).max(0.0)]
        };
        let apart = |n: DVec2| {
            let ends = |c: &[DVec2; 3]| {
                let [x, y, z] = c.map(|p| p.dot(n));
                [x.min(y).min(z), x.max(y).max(z)]
            };
            let ([low_a, high_a], [low_b, high_b]) = (ends(&self.corners), ends(&theirs));
            let ([down_a, up_a], [down_b, up_b]) = (grown(n, self), grown(n, other));
            let gap = (low_b - down_b - high_a - up_a).max(low_a - down_a - high_b - up_b);
            gap > margin * n.length()
        };
        sides(&self.corners).into_iter().chain(sides(&theirs)).any(|side| apart(side.perp()))
            || apart(DVec2::X)
            || apart(DVec2::Y)
    }
}

#[cfg(test)]
#[path = "screw_shadow_tests.rs"]
mod tests;
