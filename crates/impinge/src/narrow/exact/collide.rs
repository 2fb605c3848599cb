//! Which triangles of two placed meshes meet: the first pair, every pair, pairs nearer than a margin.
//!
//! The trees give pairs of triangles whose boxes overlap; a float test of the two planes with a proved
//! error bound drops most of them; what is left is decided by the exact test on the placed corners.

use std::ops::ControlFlow;

use glam::{DMat3, DVec3};

use crate::geom::triangle_triangle::meet;
use crate::hierarchy::dual::{DualSearch, LeafPairs};
use crate::hierarchy::relative::Relative;
use crate::hierarchy::wide::{Node, WIDTH};
use crate::num::parallel;
use crate::{Budget, Certainty, Counters, Finish, Model, Outcome, Pose};

#[cfg(test)]
#[path = "collide_tests.rs"]
mod tests;

/// A model and where it is.
#[derive(Debug, Clone, Copy)]
pub struct Posed<'m> {
    /// The model.
    pub model: &'m Model,
    /// Its placement in the world.
    pub pose: Pose,
}

impl<'m> Posed<'m> {
    /// A model at a place.
    pub fn new(model: &'m Model, pose: Pose) -> Posed<'m> {
        Posed { model, pose }
    }

    /// The placed corners of a triangle: the doubles that exact answers are about.
    #[inline]
    pub fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.model.mesh().corners(triangle).map(|p| self.pose.apply(p))
    }
}

/// Two triangles that the filters could not part.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// Triangle of a, triangle of b.
    pub triangles: [u32; 2],
    /// Their placed corners.
    pub corners: [[DVec3; 3]; 2],
}

/// A search for triangle pairs that can be interrupted and resumed.
#[derive(Debug, Clone)]
pub struct SurfaceSearch<'m> {
    bodies: [Posed<'m>; 2],
    relative: Relative,
    planes: PlaneFilter,
    search: DualSearch,
    work: Counters,
}

impl<'m> SurfaceSearch<'m> {
    /// Looks for triangles that meet.
    pub fn new(a: Posed<'m>, b: Posed<'m>) -> SurfaceSearch<'m> {
        SurfaceSearch::within(a, b, 0.0)
    }

    /// Looks for triangles that may be as near as `margin` (a length in the world).
    pub fn within(a: Posed<'m>, b: Posed<'m>, margin: f64) -> SurfaceSearch<'m> {
        let [tree_a, tree_b] = [a.model.tree(), b.model.tree()];
        let relative = Relative::new(tree_a, &a.pose, tree_b, &b.pose, margin);
        let planes = PlaneFilter::new(&a, &b, &relative, margin);
        SurfaceSearch {
            bodies: [a, b],
            relative,
            planes,
            search: DualSearch::new(),
            work: Counters::default(),
        }
    }

    /// Goes on with a search of the same two placed models that was taken out by
    /// [`SurfaceSearch::into_search`].
    pub fn resume(a: Posed<'m>, b: Posed<'m>, search: DualSearch) -> SurfaceSearch<'m> {
        SurfaceSearch { search, ..SurfaceSearch::new(a, b) }
    }

    /// What is left of the search, without the bodies.
    pub fn into_search(self) -> DualSearch {
        self.search
    }

    /// Hands every candidate to `each` until it breaks or the budget ends; calling again goes on after
    /// the pair of nodes that was looked at last.
    pub fn advance(
        &mut self,
        budget: &mut Budget,
        each: impl FnMut(&Candidate) -> ControlFlow<()>,
    ) -> Finish {
        let [a, b] = self.bodies;
        let mut leaves = Leaves { bodies: [a, b], planes: self.planes, each };
        let (tree_a, tree_b) = (a.model.tree(), b.model.tree());
        self.search.advance(tree_a, tree_b, &self.relative, &mut leaves, budget, &mut self.work)
    }

    /// Cuts what is left into at least `parts` independent searches, where there is so much; candidates
    /// met on the way go to `each`.
    pub fn split(
        mut self,
        parts: usize,
        each: impl FnMut(&Candidate) -> ControlFlow<()>,
    ) -> Vec<SurfaceSearch<'m>> {
        let [a, b] = self.bodies;
        let mut leaves = Leaves { bodies: [a, b], planes: self.planes, each };
        let search = std::mem::take(&mut self.search);
        let (tree_a, tree_b) = (a.model.tree(), b.model.tree());
        let cut = search.split(tree_a, tree_b, &self.relative, &mut leaves, parts, &mut self.work);
        cut.into_iter().map(|search| SurfaceSearch { search, work: Counters::default(), ..self }).collect()
    }

    /// The work so far: Nv box pairs, Np triangle pairs.
    pub fn work(&self) -> Counters {
        self.work
    }
}

/// The first pair of meeting triangles that the search comes upon; none means the surfaces are apart.
pub fn first_meeting(a: Posed<'_>, b: Posed<'_>) -> Option<[u32; 2]> {
    let mut found = None;
    for_each_meeting(a, b, |i, j| {
        found = Some([i, j]);
        ControlFlow::Break(())
    });
    found
}

/// Calls `each` with every meeting pair, in an order that only the two trees decide.
pub fn for_each_meeting(
    a: Posed<'_>,
    b: Posed<'_>,
    mut each: impl FnMut(u32, u32) -> ControlFlow<()>,
) -> Counters {
    let mut search = SurfaceSearch::new(a, b);
    search.advance(&mut Budget::UNLIMITED.clone(), |pair| {
        if meet(&pair.corners[0], &pair.corners[1]) {
            return each(pair.triangles[0], pair.triangles[1]);
        }
        ControlFlow::Continue(())
    });
    search.work()
}

/// Every pair of meeting triangles, ascending; a large search is shared between threads.
pub fn pairs(a: &Model, pose_a: &Pose, b: &Model, pose_b: &Pose) -> Vec<[u32; 2]> {
    let mut budget = Budget::UNLIMITED.clone();
    pairs_within_budget(Posed::new(a, *pose_a), Posed::new(b, *pose_b), &mut budget).0
}

/// As [`pairs`], with the cost and a limit on it; the pairs found so far when the budget ends.
pub fn pairs_within_budget(a: Posed<'_>, b: Posed<'_>, budget: &mut Budget) -> (Vec<[u32; 2]>, Outcome) {
    let mut search = SurfaceSearch::new(a, b);
    let mut all = Vec::new();
    let mut finish;
    let mut work;
    if budget.is_unlimited() {
        finish = search.advance(&mut Budget::units(ALONE), keep_meeting(&mut all));
        work = search.work();
        if finish == Finish::OutOfBudget {
            // What the cut itself costs is left out of the count.
            let parts = search.split(PARTS, keep_meeting(&mut all));
            let found = parallel::map(parts.len(), |k| {
                let (mut found, mut part) = (Vec::new(), parts[k].clone());
                part.advance(&mut Budget::UNLIMITED.clone(), keep_meeting(&mut found));
                (found, part.work())
            });
            for (pairs, more) in found {
                all.extend(pairs);
                work += more;
            }
            finish = Finish::Complete;
        }
    } else {
        finish = search.advance(budget, keep_meeting(&mut all));
        work = search.work();
    }
    all.sort_unstable();
    (all, Outcome { certainty: Certainty::Exact, finish, work })
}

/// [`first_meeting`] for many placements of the same two models, in parallel and in their order.
pub fn first_meetings(a: &Model, b: &Model, poses: &[[Pose; 2]]) -> Vec<Option<[u32; 2]>> {
    parallel::map(poses.len(), |k| {
        let [pose_a, pose_b] = poses[k];
        first_meeting(Posed::new(a, pose_a), Posed::new(b, pose_b))
    })
}

/// [`pairs`] for many placements of the same two models, in parallel and in their order.
pub fn pairs_of_all(a: &Model, b: &Model, poses: &[[Pose; 2]]) -> Vec<Vec<[u32; 2]>> {
    parallel::map(poses.len(), |k| {
        let [pose_a, pose_b] = poses[k];
        pairs(a, &pose_a, b, &pose_b)
    })
}

/// Work units after which a search for all pairs is shared between threads: about a millisecond.
const ALONE: u64 = 200_000;
/// Parts it is then cut into; fixed, and the pairs are sorted, so that threads change nothing.
const PARTS: usize = 64;

fn keep_meeting(all: &mut Vec<[u32; 2]>) -> impl FnMut(&Candidate) -> ControlFlow<()> {
    |pair| {
        if meet(&pair.corners[0], &pair.corners[1]) {
            all.push(pair.triangles);
        }
        ControlFlow::Continue(())
    }
}

/// Drops triangle pairs that one of the two planes parts beyond doubt.
///
/// Works in the mesh frame of the eight (call it y), into which the corners of the other mesh are
/// carried in f64. With corners p, q, r of one triangle and d of the other,
/// s = ((q − p) × (r − p))·(d − p) decides. No difference of coordinates exceeds R, since the boxes of the
/// two triangles overlap. Rounding: one in each difference, two products and a difference in the
/// cross product, three products and two sums in the dot product: below 50u·R³ (u = 2⁻⁵³). Placement:
/// the placed corners lie within δ of the carried ones (δ = √3·1.01 of [`Relative::placement`]), so each
/// difference may be off by 2δ, and each of the six products of three by 6δ·R²: 36δ·R² < 63·placement·R².
/// Three equal signs of s beyond 64u·R³ + 64·placement·R² part the placed triangles too; 2⁻⁹⁶⁰ covers
/// underflow. Within a margin the plane must keep its distance too: s is |normal| times the height above
/// the plane, and 1.001 covers matrices that stretch by 1e-4 and the rounding of the normal's length.
#[derive(Debug, Clone, Copy)]
struct PlaneFilter {
    doubt: f64,
    /// A length in the frame of b.
    margin: f64,
    /// From the mesh frame of a to that of b.
    turn: DMat3,
    shift: DVec3,
}

impl PlaneFilter {
    fn new(a: &Posed<'_>, b: &Posed<'_>, relative: &Relative, margin: f64) -> PlaneFilter {
        let inverse = b.pose.matrix().inverse();
        // Each triangle is at most √3·1.01 times its box's widest side across, in any frame; the pads
        // say how far overlapping boxes may be apart.
        let across = |body: &Posed<'_>, pad: [f32; 3]| {
            let tree = body.model.tree();
            f64::from(tree.widest() + pad[0].max(pad[1]).max(pad[2])) * tree.frame().unit
        };
        let largest = 2.0 * (across(a, relative.b_in_a.pad) + across(b, relative.a_in_b.pad));
        let doubt = 32.0 * f64::EPSILON * largest.powi(3) + 64.0 * relative.placement * largest.powi(2);
        PlaneFilter {
            doubt: doubt + 2.0_f64.powi(-960),
            margin: 1.001 * margin,
            turn: inverse * a.pose.matrix(),
            shift: inverse * (a.pose.translation() - b.pose.translation()),
        }
    }

    /// A corner of a in the frame of b.
    #[inline]
    fn carry(&self, p: DVec3) -> DVec3 {
        self.turn * p + self.shift
    }

    /// Whether one of the two planes parts the triangles.
    #[inline]
    fn part(&self, first: &First, other: &[DVec3; 3]) -> bool {
        let [s, t, u] = *other;
        let p = first.carried[0];
        self.one_side(first.normal, other.map(|d| first.normal.dot(d - p))) || {
            let normal = (t - s).cross(u - s);
            self.one_side(normal, first.carried.map(|d| normal.dot(d - s)))
        }
    }

    #[inline]
    fn one_side(&self, normal: DVec3, [x, y, z]: [f64; 3]) -> bool {
        let doubt = if self.margin == 0.0 { self.doubt } else { self.doubt + self.margin * normal.length() };
        x.min(y).min(z) > doubt || x.max(y).max(z) < -doubt
    }
}

/// Takes leaf pairs from the trees and hands on what the planes do not part.
struct Leaves<'m, F> {
    bodies: [Posed<'m>; 2],
    planes: PlaneFilter,
    each: F,
}

impl<F: FnMut(&Candidate) -> ControlFlow<()>> LeafPairs for Leaves<'_, F> {
    #[inline]
    fn meet(&mut self, slots: &[[u32; 2]], work: &mut Counters) -> ControlFlow<()> {
        slots.iter().try_for_each(|&[x, y]| {
            let first = self.first(x as usize);
            self.pair(&first, y as usize, work)
        })
    }

    #[inline]
    fn meet_lanes(&mut self, a: &Node, b: &Node, mut mask: u64, work: &mut Counters) -> ControlFlow<()> {
        while mask != 0 {
            let i = mask.trailing_zeros() as usize / WIDTH;
            let columns = (mask >> (WIDTH * i)) as u8;
            mask &= !(0xFF << (WIDTH * i));
            for x in a.child[i].slots() {
                let first = self.first(x);
                let mut left = columns;
                while left != 0 {
                    let lane = left.trailing_zeros() as usize;
                    left &= left - 1;
                    for y in b.child[lane].slots() {
                        self.pair(&first, y, work)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// A triangle of a, ready to be held against several of b.
struct First {
    triangle: u32,
    corners: [DVec3; 3],
    /// In the frame of b: corners and normal.
    carried: [DVec3; 3],
    normal: DVec3,
}

impl<F: FnMut(&Candidate) -> ControlFlow<()>> Leaves<'_, F> {
    #[inline]
    fn first(&self, slot: usize) -> First {
        let model = self.bodies[0].model;
        let triangle = model.tree().order()[slot];
        let corners = model.mesh().corners(triangle);
        let carried = corners.map(|corner| self.planes.carry(corner));
        let [p, q, r] = carried;
        First { triangle, corners, carried, normal: (q - p).cross(r - p) }
    }

    #[inline]
    fn pair(&mut self, first: &First, slot: usize, work: &mut Counters) -> ControlFlow<()> {
        work.primitive_tests += 1;
        let [body_a, body_b] = self.bodies;
        let triangle = body_b.model.tree().order()[slot];
        let corners = body_b.model.mesh().corners(triangle);
        if self.planes.part(first, &corners) {
            return ControlFlow::Continue(());
        }
        (self.each)(&Candidate {
            triangles: [first.triangle, triangle],
            corners: [first.corners.map(|p| body_a.pose.apply(p)), corners.map(|p| body_b.pose.apply(p))],
        })
    }
}
