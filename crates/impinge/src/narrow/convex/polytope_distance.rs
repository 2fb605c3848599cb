//! The signed distance of two convex polytopes, from the features that were nearest a moment ago: expected
//! constant time, whatever the number of faces (Lin and Canny 1991; Cohen, Lin, Manocha and Ponamgi,
//! "I-COLLIDE", 1995).
//!
//! Apart, the walk between Voronoi regions (`voronoi_walk`) ends at features whose regions hold each other's
//! points: along the line between them no corner of either body lies in the gap, which proves the answer.
//! Where the walk finds the bodies meeting, the nearest face of their Minkowski difference is searched
//! (`epa_polytope`); it proves the depth, or that they are apart after all. Where rounding ends a walk early, the
//! slab along its normal is measured; only when that does not close are all pairs of features tried
//! (`brute`). No count of iterations ends any of these searches.

use super::answer::{PlacedPolytope, between, features, on_face};
use super::brute;
use super::epa_polytope::{Depth, EpaPolytope};
use super::placed_core::LocalFrame;
use super::polytope_pair::PolytopePair;
use super::voronoi_walk::{Arrival, FeaturePair, walk};
use crate::contact::Separation;
use crate::geom::point_triangle::norm;
use crate::motion::Pose;
use crate::num::tolerance::{LARGEST_LENGTH_UNSCALED, SLAB_ROUNDING, SMALLEST_LENGTH_UNSCALED};
use crate::shape::Polytope;

/// What one pair of polytopes remembers from query to query; dropping it costs speed, never an answer.
#[derive(Debug, Clone, Default)]
pub struct WalkMemory {
    last: Last,
    polytope: EpaPolytope,
    work: WalkWork,
}

/// What the queries with one memory have cost so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WalkWork {
    /// Queries answered.
    pub queries: u64,
    /// Pairs of features looked at.
    pub steps: u64,
    /// Searches for the depth.
    pub depths: u64,
    /// Corners of Minkowski differences that were asked for.
    pub corners: u64,
    /// Walks that rounding ended early and whose slab was measured.
    pub stalls: u64,
    /// Queries that had to try every pair of features.
    pub exhausted: u64,
}

impl std::ops::AddAssign for WalkWork {
    fn add_assign(&mut self, more: WalkWork) {
        self.queries += more.queries;
        self.steps += more.steps;
        self.depths += more.depths;
        self.corners += more.corners;
        self.stalls += more.stalls;
        self.exhausted += more.exhausted;
    }
}

#[derive(Debug, Clone, Copy, Default)]
enum Last {
    #[default]
    Nothing,
    Apart(FeaturePair),
    Meeting([[u32; 2]; 3]),
}

impl WalkMemory {
    /// What the queries so far have cost.
    pub fn work(&self) -> WalkWork {
        self.work
    }
}

/// The signed distance of two polytopes with its points, features and normal.
///
/// Faces are those of [`Polytope::faces`]; vertices and edges are named by the points given to
/// [`Polytope::hull`]. Bodies that touch have the distance 0 up to rounding.
///
/// ```
/// use impinge::narrow::convex::polytope_distance::{WalkMemory, distance};
/// use impinge::{Feature, Pose, shape::Polytope};
/// use glam::DVec3;
///
/// let cube = Polytope::hull(&(0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from).into()).collect::<Vec<DVec3>>())?;
/// let mut memory = WalkMemory::default();
/// let still = Pose::IDENTITY;
/// let near = distance(&cube, &still, &cube, &Pose::from_translation([3.0, 2.0, 0.5])?, &mut memory);
/// assert_eq!(near.distance, 5f64.sqrt());
/// let deep = distance(&cube, &still, &cube, &Pose::from_translation([0.75, 0.1, 0.0])?, &mut memory);
/// assert_eq!((deep.distance, deep.normal), (-0.25, DVec3::X));
/// # Ok::<(), impinge::Error>(())
/// ```
pub fn distance(
    a: &Polytope,
    pose_a: &Pose,
    b: &Polytope,
    pose_b: &Pose,
    memory: &mut WalkMemory,
) -> Separation {
    memory.work.queries += 1;
    if !(pose_a.is_rotation() && pose_b.is_rotation()) || is_extreme(a, pose_a, b, pose_b) {
        return in_the_world(a, pose_a, b, pose_b, memory);
    }
    ordinary(a, pose_a, b, pose_b, memory)
}

/// Whether powers of the lengths that take part could leave the range of f64.
#[inline]
fn is_extreme(a: &Polytope, pose_a: &Pose, b: &Polytope, pose_b: &Pose) -> bool {
    let reach = a.reach().max(b.reach());
    let far = a.centre().abs().max(b.centre().abs());
    let far = far.max(pose_a.translation().abs()).max(pose_b.translation().abs());
    !(reach > SMALLEST_LENGTH_UNSCALED && reach.max(far.max_element()) < LARGEST_LENGTH_UNSCALED)
}

/// The distance under rotations, of ordinary lengths.
fn ordinary(a: &Polytope, pose_a: &Pose, b: &Polytope, pose_b: &Pose, memory: &mut WalkMemory) -> Separation {
    let view = PolytopePair::from_a(a, pose_a, b, pose_b);
    let (a, b) = (PlacedPolytope { body: a, pose: pose_a }, PlacedPolytope { body: b, pose: pose_b });
    if let Last::Apart(pair) = memory.last
        && pair.fits(a.body, b.body)
        && let Arrival::Nearest(near) = walk(&view, pair, &mut memory.work.steps)
    {
        memory.last = Last::Apart(near.pair);
        return between(a, b, near);
    }
    search(&view, a, b, memory)
}

/// Poses that are not quite rotations change lengths, and very small or large bodies leave the range of f64:
/// such bodies are compared as they are placed, seen from one of them and scaled by a power of two.
#[cold]
fn in_the_world(
    a: &Polytope,
    pose_a: &Pose,
    b: &Polytope,
    pose_b: &Pose,
    memory: &mut WalkMemory,
) -> Separation {
    let places = [pose_a.apply(a.centre()), pose_b.apply(b.centre())];
    let frame = LocalFrame::between(places, [a.reach(), b.reach()]);
    let [a, b] = [(a, pose_a), (b, pose_b)].map(|(body, pose)| body.map(|p| frame.enter(pose.apply(p))));
    let found = ordinary(&a, &Pose::IDENTITY, &b, &Pose::IDENTITY, memory);
    let points = found.points.map(|p| frame.leave(p));
    Separation { distance: found.distance / frame.scale, points, ..found }
}

/// Everything but the walk that goes well at once.
#[cold]
fn search(
    view: &PolytopePair<'_>,
    a: PlacedPolytope<'_>,
    b: PlacedPolytope<'_>,
    memory: &mut WalkMemory,
) -> Separation {
    let WalkMemory { last, polytope, work } = memory;
    let kept;
    let mut seeds: &[[u32; 2]] = &[];
    let mut start = None;
    match last {
        Last::Meeting(corners) => {
            kept = *corners;
            seeds = &kept;
        }
        Last::Apart(pair) if pair.fits(a.body, b.body) => start = Some(*pair),
        _ => start = Some(facing(view)),
    }
    if let Some(pair) = start
        && let Some(found) = arrive(view, pair, a, b, last, work)
    {
        return found;
    }
    work.depths += 1;
    match polytope.run(view, seeds, &mut work.corners) {
        Depth::Face { normal, corners, weights, apart } => {
            let (found, agrees) = on_face(a, b, normal, corners, weights);
            if agrees {
                *last = Last::Meeting(corners);
                return found;
            }
            if !apart {
                work.exhausted += 1;
                return brute::deep(a, b, found);
            }
            if let Some(found) = arrive(view, corner_pair(corners, weights), a, b, last, work) {
                return found;
            }
        }
        Depth::Flat => {}
    }
    work.exhausted += 1;
    let (pair, between, points, normal) = brute::nearest(a, b);
    *last = Last::Apart(pair);
    Separation { distance: norm(between), points, features: features(a, b, pair), normal }
}

/// The end of a walk, if it is proved.
fn arrive(
    view: &PolytopePair<'_>,
    start: FeaturePair,
    a: PlacedPolytope<'_>,
    b: PlacedPolytope<'_>,
    last: &mut Last,
    work: &mut WalkWork,
) -> Option<Separation> {
    let arrival = walk(view, start, &mut work.steps);
    let (near, proved) = match arrival {
        Arrival::Nearest(near) => (near, true),
        Arrival::Stalled(near) => (near, false),
        Arrival::Meeting => return None,
    };
    work.stalls += u64::from(!proved);
    let found = between(a, b, near);
    if proved || slab_closes(view, a, b, &found) {
        *last = Last::Apart(near.pair);
        return Some(found);
    }
    None
}

/// The corner of a face of the difference that weighs most at the foot.
fn corner_pair(corners: [[u32; 2]; 3], weights: [f64; 3]) -> FeaturePair {
    let heaviest = (0..3).max_by(|&i, &j| weights[i].total_cmp(&weights[j])).unwrap_or(0);
    let [a, b] = corners[heaviest];
    FeaturePair::Vertices { a, b }
}

/// Corners that face each other's body.
fn facing(view: &PolytopePair<'_>) -> FeaturePair {
    let towards = view.place(view.other.centre()) - view.own.centre();
    FeaturePair::Vertices { a: view.own.support(towards, 0), b: view.other.support(view.back(-towards), 0) }
}

/// Whether no corner of either body reaches into the gap along the normal, up to rounding.
fn slab_closes(
    view: &PolytopePair<'_>,
    a: PlacedPolytope<'_>,
    b: PlacedPolytope<'_>,
    found: &Separation,
) -> bool {
    if !found.normal.is_finite() {
        return false;
    }
    let in_a = a.pose.matrix().transpose() * found.normal;
    let low = a.corner(view.own.support(in_a, 0));
    let high = b.corner(view.other.support(view.back(-in_a), 0));
    let size = low.abs().max_element().max(high.abs().max_element());
    found.distance - found.normal.dot(high - low) <= SLAB_ROUNDING * size
}

#[cfg(test)]
#[path = "polytope_distance_tests.rs"]
mod tests;
