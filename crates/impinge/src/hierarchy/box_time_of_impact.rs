//! When boxes can first meet: all child boxes of one moving node against all of another, in one call.
//!
//! Conservative advancement (Mirtich, "Impulse-based dynamic simulation of rigid body systems", 1996), but along
//! a direction and to second order. At the instant t freeze a frame: the tree's own at t. In it the gaps of two
//! boxes on the three axes make a vector G·n (as in [`super::box_distance`]), and n separates all points p of the
//! one box from all points q of the other by G at least. Along the fixed n, over a time h,
//!
//! `n·(q − p)(h) ≥ G + (n·(v_q − v_p) − s)·h − a·h²/2`,
//!
//! where v are the velocities of the centres at t, s what turning adds at the rims of the boxes, and a bounds
//! the accelerations of both bodies. The bodies' own coordinates may be skewed a little (matrices that are not
//! quite rotations): everything is linear, so only s and a grow by the stretch. The first root of the right
//! side is a time before which the boxes cannot meet; the later of both frames' roots counts.
//!
//! All is f32, rounded so that roots come too early only: the gaps carry the pads of [`super::relative`], the
//! velocities are lowered by `SINGLE` of their size, roots are taken less `ROOT_ROUNDING`. The loops hold no
//! branch and no fused multiply-add; compiled for each instruction set they give the same bits.

use glam::DMat3;

use super::box_distance::BoxDistance;
use super::relative::SINGLE;
use super::wide::{Node, WIDTH, WideTree};
use crate::Pose;
use crate::geom::point_triangle::norm;
use crate::motion::Twist;
use crate::num::tolerance::STRETCH;
use crate::simd::dispatch;

/// What rounding can add to a root (no unit, relative): about thirty operations of 2⁻²⁴.
const ROOT_ROUNDING: f32 = 1.0 - 32.0 * f32::EPSILON;

/// For 64 pairs of boxes a time that passes before they can meet, row by row.
pub type Times = [[f32; WIDTH]; WIDTH];

type Lanes = [f32; WIDTH];

/// Velocities as a linear function of the place, in a frame: `turn·y + shift`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Field {
    turn: [[f32; 3]; 3],
    shift: [f32; 3],
}

/// Two moving trees at an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxTimeOfImpact {
    box_distance: BoxDistance,
    /// In the frames of a and b: the velocities of a and b.
    fields: [[Field; 2]; 2],
    /// What a box of half diagonal 1 turns by at its rim: a, b.
    spin: [f32; 2],
    /// What rounding can do to a velocity, in the frames of a and b.
    doubt: [f32; 2],
    /// Bound of the accelerations of both bodies together.
    acceleration: f32,
}

/// One body at an instant.
#[derive(Debug, Clone, Copy)]
pub struct Instant<'t> {
    /// Its tree.
    pub tree: &'t WideTree,
    /// Where it is.
    pub pose: Pose,
    /// How it moves.
    pub twist: Twist,
    /// A bound of the acceleration of its points from now on (world units).
    pub acceleration: f64,
}

impl BoxTimeOfImpact {
    /// For two bodies at an instant; `margin` is added to every box, for what rounding does to the motion.
    pub fn new(a: &Instant<'_>, b: &Instant<'_>, margin: f64) -> BoxTimeOfImpact {
        let box_distance = BoxDistance::with_margin(a.tree, &a.pose, b.tree, &b.pose, margin);
        let unit = box_distance.common();
        let places = [a, b].map(|x| x.pose.apply(x.tree.frame().centre));
        let reach = [a, b].map(|x| 2.0 * f64::from(x.tree.frame().reach) * x.tree.frame().unit);
        // No place in the test is farther from the origin of either frame.
        let extent = STRETCH * (norm(places[1] - places[0]) + reach[0] + reach[1]) / unit;
        let mut fields = [[Field { turn: [[0.0; 3]; 3], shift: [0.0; 3] }; 2]; 2];
        let mut doubt = [0.0; 2];
        for (frame, own) in [a, b].into_iter().enumerate() {
            let matrix = own.pose.matrix();
            let inverse = matrix.inverse();
            let origin = places[frame];
            let mut size = 0.0;
            for (body, moving) in [a, b].into_iter().enumerate() {
                let spin = moving.twist.angular;
                let across = DMat3::from_cols(
                    spin.cross(matrix.x_axis),
                    spin.cross(matrix.y_axis),
                    spin.cross(matrix.z_axis),
                );
                let turn = inverse * across;
                let shift = inverse * moving.twist.velocity(origin) / unit;
                fields[frame][body] = Field {
                    turn: [0, 1, 2].map(|k| turn.row(k).as_vec3().to_array()),
                    shift: shift.as_vec3().to_array(),
                };
                size += shift.abs().element_sum() + 2.0 * spin.length() * extent;
            }
            doubt[frame] = up(4.0 * SINGLE * size);
        }
        let spin = [a, b].map(|x| up(x.twist.angular.length() * STRETCH * STRETCH));
        let acceleration = up((a.acceleration + b.acceleration) / unit * STRETCH);
        BoxTimeOfImpact { box_distance, fields, spin, doubt, acceleration }
    }
}

/// Rounded up to f32.
fn up(x: f64) -> f32 {
    if x == 0.0 { 0.0 } else { (x as f32).next_up() }
}

dispatch! {
    /// Fills in the times of the child boxes of `a` (rows) and `b` (columns), infinite where they are not
    /// below `limit`, and tells whether any is.
    #[inline]
    pub fn times(a: &Node, b: &Node, toi: &BoxTimeOfImpact, limit: f32, out: &mut Times) -> bool
        = each measure
}

/// The boxes of a node in a frame.
struct Boxes {
    centre: [Lanes; 3],
    half: [Lanes; 3],
    velocity: [Lanes; 3],
    /// What turning adds at the rim, and the doubt.
    rim: Lanes,
}

#[inline(always)]
fn measure(a: &Node, b: &Node, toi: &BoxTimeOfImpact, limit: f32, out: &mut Times) -> bool {
    *out = [[0.0; WIDTH]; WIDTH];
    let rim_a = rim(a, toi.box_distance.own(0), toi.spin[0]);
    let rim_b = rim(b, toi.box_distance.own(1), toi.spin[1]);
    for frame in 0..2 {
        let (own, other) = if frame == 0 { (a, b) } else { (b, a) };
        let [field_a, field_b] = &toi.fields[frame];
        let (fields, rims) = if frame == 0 {
            ([field_a, field_b], [&rim_a, &rim_b])
        } else {
            ([field_b, field_a], [&rim_b, &rim_a])
        };
        let own = still(own, toi.box_distance.own(frame), fields[0], rims[0]);
        let other = carried(other, toi, frame, fields[1], rims[1]);
        let [from, to] = if frame == 0 { [&own, &other] } else { [&other, &own] };
        roots(from, to, 2.0 * toi.doubt[frame], toi.acceleration, out);
    }
    let mut some = false;
    for (i, row) in out.iter_mut().enumerate() {
        // An unused lane has no box.
        let used = a.half[0][i] >= 0.0;
        for (j, time) in row.iter_mut().enumerate() {
            let open = used & (b.half[0][j] >= 0.0) & (*time < limit);
            *time = if open { *time } else { f32::INFINITY };
            some |= open;
        }
    }
    some
}

/// How fast turning moves the corners of boxes about their centres.
#[inline(always)]
fn rim(node: &Node, scale: f32, spin: f32) -> Lanes {
    let mut rim = [0.0; WIDTH];
    for (i, rim) in rim.iter_mut().enumerate() {
        let [x, y, z] = [node.half[0][i] * scale, node.half[1][i] * scale, node.half[2][i] * scale];
        *rim = ((x * x + y * y) + z * z).sqrt() * spin;
    }
    rim
}

#[inline(always)]
fn still(node: &Node, scale: f32, field: &Field, rim: &Lanes) -> Boxes {
    let centre = node.centre.map(|axis| axis.map(|x| x * scale));
    let half = node.half.map(|axis| axis.map(|x| x * scale));
    Boxes { velocity: velocities(&centre, field), centre, half, rim: *rim }
}

#[inline(always)]
fn carried(node: &Node, toi: &BoxTimeOfImpact, frame: usize, field: &Field, rim: &Lanes) -> Boxes {
    let (centre, half) = toi.box_distance.carried(node, frame);
    Boxes { velocity: velocities(&centre, field), centre, half, rim: *rim }
}

#[inline(always)]
fn velocities(centre: &[Lanes; 3], field: &Field) -> [Lanes; 3] {
    let mut velocity = [[0.0; WIDTH]; 3];
    for (k, lanes) in velocity.iter_mut().enumerate() {
        let [x, y, z] = field.turn[k];
        for (i, lane) in lanes.iter_mut().enumerate() {
            let turned = (centre[0][i] * x + centre[1][i] * y) + centre[2][i] * z;
            *lane = turned + field.shift[k];
        }
    }
    velocity
}

/// Raises the times to the roots in this frame.
#[inline(always)]
fn roots(a: &Boxes, b: &Boxes, doubt: f32, acceleration: f32, out: &mut Times) {
    for (i, row) in out.iter_mut().enumerate() {
        for (j, time) in row.iter_mut().enumerate() {
            let (mut square, mut along) = (0.0, 0.0);
            for k in 0..3 {
                let apart = b.centre[k][j] - a.centre[k][i];
                let gap = apart.abs() - (b.half[k][j] + a.half[k][i]);
                let gap = if gap > 0.0 { gap } else { 0.0 };
                let toward = if apart < 0.0 { -gap } else { gap };
                square += gap * gap;
                along += toward * (b.velocity[k][j] - a.velocity[k][i]);
            }
            let gap = square.sqrt();
            let rate = along / gap - ((a.rim[i] + b.rim[j]) + doubt);
            let swing = (rate * rate + 2.0 * acceleration * gap).sqrt();
            // Of the two forms of the root the one without cancellation.
            let closing = rate < 0.0;
            let root = if closing { gap + gap } else { rate + swing }
                / if closing { swing - rate } else { acceleration };
            let root = root * ROOT_ROUNDING;
            // No gap gives no number, and that no time.
            *time = if root > *time { root } else { *time };
        }
    }
}

#[cfg(test)]
#[path = "box_time_of_impact_tests.rs"]
mod tests;
