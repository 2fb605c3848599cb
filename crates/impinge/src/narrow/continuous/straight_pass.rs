//! A convex shape on a straight way past the boxes and triangles of another body: which of them it surely misses, and
//! before when it surely does not meet the others.
//!
//! The shape lies within a radius around a segment. Across the way neither turns nor moves, so an axis across the way
//! that separates the two at the start separates them for ever; along the way what lies behind stays behind, and what
//! lies ahead is met no sooner than the gap is gone. A few products tell it, where one look at two moving pieces takes
//! a search for their nearest points.

use glam::{DMat3, DVec3};

use crate::motion::Motion;
use crate::narrow::convex::placed_core::{place, reach_of};
use crate::num::tolerance::ROUND_UP;
use crate::shape::{Convex, Primitive};

/// A moving shape as another body sees it, both in the world at the start of the step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StraightPass {
    /// One end of the segment, and from there to the other.
    base: DVec3,
    along: DVec3,
    /// What the segment has across the way.
    across: DVec3,
    /// No point of the shape is farther from the segment, the slack included.
    radius: f64,
    /// The direction of the way, and its length.
    unit: DVec3,
    length: f64,
    /// How the other body is placed.
    turn: DMat3,
    shift: DVec3,
}

impl StraightPass {
    /// For a shape and the motions of it and of the other body; `None` where one of them turns, where neither moves
    /// against the other, or where the shape has no end. What comes nearer than the slack is never missed.
    pub fn new(shape: &Convex, own: &Motion, other: &Motion, slack: f64) -> Option<StraightPass> {
        if !(own.is_translation() && other.is_translation()) {
            return None;
        }
        let ways = [own, other].map(|motion| motion.pose(1.0).translation() - motion.pose(0.0).translation());
        let way = ways[0] - ways[1];
        let length = way.length();
        let unit = way / length;
        let at = own.pose(0.0);
        let (half, radius) = match shape {
            Convex::Primitive(Primitive::HalfSpace { .. }) => return None,
            Convex::Primitive(
                Primitive::Capsule { radius, half_height }
                | Primitive::Cylinder { radius, half_height }
                | Primitive::Cone { radius, half_height },
            ) => (at.rotation() * (DVec3::Z * *half_height), *radius),
            Convex::Primitive(Primitive::Cuboid { half }) => {
                let longest = DVec3::AXES[half.max_position()] * half.max_element();
                (at.rotation() * longest, (*half - longest).length())
            }
            _ => (DVec3::ZERO, reach_of(shape)),
        };
        let middle = place(shape, &at);
        let (base, along) = (middle - half, 2.0 * half);
        let seen = other.pose(0.0);
        let sound = length > 0.0 && unit.is_finite() && base.is_finite();
        sound.then(|| StraightPass {
            base,
            along,
            across: along - unit * along.dot(unit),
            // The sums below round by much less than the slack, which is more than the rounding of the places.
            radius: radius * ROUND_UP + SLACKS * slack,
            unit,
            length,
            turn: seen.matrix(),
            shift: seen.translation(),
        })
    }

    /// A time before which the shape does not meet a box of the other body (in its frame); infinite where it never
    /// does.
    #[inline]
    pub fn box_time(&self, centre: DVec3, half: DVec3) -> f64 {
        let at = self.turn * centre + self.shift - self.base;
        let sides = [self.turn.x_axis * half.x, self.turn.y_axis * half.y, self.turn.z_axis * half.z];
        let reach = |axis: DVec3| sides.iter().map(|side| axis.dot(*side).abs()).sum::<f64>();
        self.time(at, |axis| {
            let (middle, reach) = (axis.dot(at), reach(axis));
            [middle - reach, middle + reach]
        })
    }

    /// [`StraightPass::box_time`] for a triangle.
    #[inline]
    pub fn triangle_time(&self, corners: &[DVec3; 3]) -> f64 {
        let corners = corners.map(|p| self.turn * p + self.shift - self.base);
        self.time((corners[0] + corners[1] + corners[2]) / 3.0, |axis| {
            let [a, b, c] = corners.map(|p| axis.dot(p));
            [a.min(b).min(c), a.max(b).max(c)]
        })
    }

    /// For what lies about `at` and reaches so far along an axis, both counted from the segment's base.
    #[inline]
    fn time(&self, at: DVec3, range: impl Fn(DVec3) -> [f64; 2]) -> f64 {
        let flat = at - self.unit * at.dot(self.unit);
        let square = self.across.length_squared();
        let share = if square > 0.0 { (flat.dot(self.across) / square).clamp(0.0, 1.0) } else { 0.0 };
        // Across the way but for rounding, which the way makes longer.
        let axis = flat - self.across * share;
        let leak = axis.dot(self.unit).abs() * self.length;
        let segment = axis.dot(self.along).max(0.0);
        if range(axis)[0] - segment > self.radius * axis.length() * ROUND_UP + leak {
            return f64::INFINITY;
        }
        let [low, high] = range(self.unit);
        let [back, front] = [self.along.dot(self.unit).min(0.0), self.along.dot(self.unit).max(0.0)];
        if high < back - self.radius {
            return f64::INFINITY;
        }
        let mut time = ((low - front - self.radius) / self.length).max(0.0);
        // From there on along the line between the segment and the middle, which separates round shapes best.
        for _ in 0..ADVANCES {
            let base = self.unit * (time * self.length);
            let square = self.along.length_squared();
            let share =
                if square > 0.0 { ((at - base).dot(self.along) / square).clamp(0.0, 1.0) } else { 0.0 };
            let axis = at - base - self.along * share;
            let gap = range(axis)[0]
                - axis.dot(base)
                - axis.dot(self.along).max(0.0)
                - self.radius * axis.length() * ROUND_UP;
            // Negated, so that what is no number wins nothing.
            if !(gap > 0.0) {
                break;
            }
            let speed = axis.dot(self.unit) * self.length;
            if speed <= 0.0 {
                return f64::INFINITY;
            }
            time += gap / speed;
        }
        time
    }
}

/// Steps of conservative advancement; each wins less than the one before.
const ADVANCES: u32 = 3;

/// Slacks that count as touching: a contact may be told within one, and rounding is below another (no unit).
const SLACKS: f64 = 8.0;

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::Pose;
    use crate::narrow::convex::separation::{ConvexMemory, distance};

    /// Boxes and triangles that are missed, or told to be met later, are apart at every time before.
    #[test]
    fn nothing_is_met_before_its_time() {
        let mut rng = Pcg64::seed_from_u64(14);
        let mut vector = |size: f64| DVec3::from_array([(); 3].map(|()| rng.random_range(-size..size)));
        let shapes = [
            Primitive::Sphere { radius: 0.3 },
            Primitive::Capsule { radius: 0.2, half_height: 0.6 },
            Primitive::Cuboid { half: DVec3::new(0.2, 0.7, 0.3) },
            Primitive::Cone { radius: 0.4, half_height: 0.3 },
        ];
        let (mut missed, mut later, mut met) = (0, 0, 0);
        for k in 0..1200 {
            let shape = Convex::Primitive(shapes[k % shapes.len()]);
            let pose =
                |at: DVec3, turn: DVec3| Pose::new(at.to_array(), [turn.x, turn.y, turn.z, 0.4]).unwrap();
            let (start, still) = (pose(vector(2.0), vector(1.0)), pose(vector(1.0), vector(1.0)));
            let way = vector(4.0);
            let own = Motion::velocity(&start, way, DVec3::ZERO).unwrap();
            let other = Motion::Still(still);
            let pass = StraightPass::new(&shape, &own, &other, 1e-9).unwrap();
            let (centre, half) = (vector(1.0), vector(0.3).abs() + 0.02);
            let corners = [vector(1.0), vector(1.0), vector(1.0)];
            let local = Pose::shift(centre);
            let pieces = [
                (pass.box_time(centre, half), Primitive::Cuboid { half }, still.compose(&local)),
                (pass.triangle_time(&corners), Primitive::Triangle { corners }, still),
            ];
            for (time, piece, at) in pieces {
                missed += usize::from(time == f64::INFINITY);
                later += usize::from(time > 0.0 && time < 1.0);
                let mut first = f64::INFINITY;
                for step in (0..=40).rev() {
                    let t = f64::from(step) / 40.0;
                    let (gap, _) = distance(
                        &shape,
                        &own.pose(t),
                        &Convex::Primitive(piece),
                        &at,
                        &mut ConvexMemory::default(),
                    );
                    first = if gap.distance <= 0.0 { t } else { first };
                }
                met += usize::from(first <= 1.0);
                assert!(time <= first, "{k}: told {time}, met at {first}");
            }
        }
        assert!(missed > 1500 && later > 80 && met > 100, "{missed} {later} {met}");
    }
}
