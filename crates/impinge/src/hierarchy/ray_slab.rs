//! Which child boxes of a node a ray passes: eight slab tests in one call.
//!
//! Kay and Kajiya (1986), made safe as by Ize, *Robust BVH ray traversal* (2013): every rounding goes into
//! a pad on the boxes and a factor on the far end. The ray starts anew beside the tree, so that a distant
//! origin costs no digits.

use glam::DVec3;

use super::relative::{PLACEMENT, SINGLE};
use super::wide::{Node, WIDTH, WideTree};
use crate::Pose;
use crate::num::tolerance::FLATTEST_RAY;
use crate::simd::{SimdLevel, dispatch};

/// Relative rounding of the ends of an interval (no unit): the cast, a difference and a product, twice.
const ENDS_ROUNDING: f32 = 8.0 * f32::EPSILON;

/// A ray in a tree's frame, its parameter counted from where it comes near the tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RaySlab {
    origin: [f32; 3],
    inverse: [f32; 3],
    pad: f32,
    /// The world parameter is `start + step·s`.
    start: f64,
    step: f64,
    first: f32,
}

impl RaySlab {
    /// For the part of a ray with a parameter of at least 0; `None` if it cannot come near the tree.
    pub fn new(tree: &WideTree, pose: &Pose, origin: DVec3, direction: DVec3) -> Option<RaySlab> {
        let frame = tree.frame();
        let inverse = pose.matrix().inverse();
        let centre = pose.apply(frame.centre);
        let size = frame.centre.length() + 2.0 * f64::from(frame.reach) * frame.unit;
        let world = size + pose.translation().abs().max_element() + origin.abs().max_element();
        let local = inverse * (origin - centre) / frame.unit;
        let turned = inverse * (direction / direction.abs().max_element());
        let longest = turned.abs().max_element();
        let unit_step = turned / longest;
        // From there to the far side it is less than 8 reaches.
        let reach = f64::from(frame.reach);
        let near = -local.dot(unit_step) / unit_step.length_squared();
        let begin = near - 4.0 * reach;
        let from = local + unit_step * begin;
        // Rounding of the way: relative to the way itself.
        let way = PLACEMENT * (local.abs().max_element() + begin.abs());
        let exact = PLACEMENT * world / frame.unit;
        let pad = 16.0 * SINGLE * reach + 4.0 * (way + exact);
        if !pad.is_finite() || !(from.abs().max_element() < 64.0 * reach + 2.0 * pad) {
            return None;
        }
        let flat = |x: f64| if x.abs() < FLATTEST_RAY { FLATTEST_RAY.copysign(x) } else { x };
        let step = frame.unit / direction.abs().max_element() / longest;
        Some(RaySlab {
            origin: from.as_vec3().to_array(),
            inverse: unit_step.to_array().map(|x| (1.0 / flat(x)) as f32),
            pad: (pad.min(f32::MAX.into()) as f32).next_up(),
            start: begin * step,
            step,
            first: (-begin).min(64.0 * reach) as f32 - (pad.min(f32::MAX.into()) as f32).next_up(),
        })
    }

    /// The parameter in this frame up to which something at the world parameter `t` must be looked for.
    #[inline]
    pub fn until(&self, t: f64) -> f32 {
        let s = ((t - self.start) / self.step) as f32 + self.pad;
        (s + s.abs() * ENDS_ROUNDING).min(f32::MAX)
    }

    /// Where the ray enters each child box, and which it enters before `until` and leaves after its origin.
    #[inline]
    pub fn enters(&self, level: SimdLevel, node: &Node, until: f32, out: &mut [f32; WIDTH]) -> u8 {
        enters(level, self, node, until, out)
    }

    /// Plain loops over eight lanes, which the compiler turns into the widest instructions allowed.
    #[inline(always)]
    fn slabs(&self, node: &Node, until: f32, out: &mut [f32; WIDTH]) -> u8 {
        let mut enter = [self.first; WIDTH];
        let mut leave = [until; WIDTH];
        for k in 0..3 {
            let (origin, inverse) = (self.origin[k], self.inverse[k]);
            for lane in 0..WIDTH {
                let centre = node.centre[k][lane] - origin;
                let half = node.half[k][lane] + self.pad;
                let (p, q) = ((centre - half) * inverse, (centre + half) * inverse);
                let (low, high) = if p < q { (p, q) } else { (q, p) };
                let low = low - low.abs() * ENDS_ROUNDING;
                let high = high + high.abs() * ENDS_ROUNDING;
                enter[lane] = if low > enter[lane] { low } else { enter[lane] };
                leave[lane] = if high < leave[lane] { high } else { leave[lane] };
            }
        }
        let mut mask = 0;
        for lane in 0..WIDTH {
            // An unused lane has a half extent of −∞ and is passed by no ray.
            let passed = enter[lane] <= leave[lane] && node.half[0][lane] >= 0.0;
            mask |= u8::from(passed) << lane;
        }
        *out = enter;
        mask
    }
}

dispatch! {
    #[inline]
    fn enters(ray: &RaySlab, node: &Node, until: f32, out: &mut [f32; WIDTH]) -> u8 = eight RaySlab::slabs
}
