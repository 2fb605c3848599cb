//! Rays against a placed mesh: the first hit, every hit, or whether there is one.
//!
//! The tree for rays leaves a few triangles in f32; these are decided in f64 on their placed corners, without gaps
//! between neighbours. Whether a ray lies in the plane of a triangle is decided exactly; then it is hit at the first
//! of its points that are in the triangle, and at 0 where it starts in it. A triangle without area is never hit.
//! Where the ray starts so near to a triangle that rounding hides the side, an exact predicate tells it.

use glam::DVec3;

use super::outward::Outward;
use crate::contact::Feature;
use crate::geom::ray_triangle::{Crossing, InPlane, LineCrossing, ShearedRay, crossing_in_plane, points};
use crate::geom::unit_normal::unit_normal;
use crate::hierarchy::ray_tree::{Candidates, Decide, Face, Nearest, PlacedRayTree, TreeRay};
use crate::model::Model;
use crate::num::predicate::{Sign, orient3d};
use crate::num::tolerance::{
    LARGEST_LENGTH_UNSCALED, RAY_START_ROUNDING, SHORTEST_DIRECTION, SMALLEST_LENGTH_UNSCALED,
};
use crate::simd::corner_lanes::{Axes, CornerLanes};
use crate::simd::ray_lanes::RayLanes;
use crate::simd::{SimdLevel, dispatch};
use crate::{Counters, Pose};

/// The points origin + t·direction with 0 ≤ t ≤ `reach`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ray {
    /// Where it starts, in the world.
    pub origin: DVec3,
    /// Where it goes; of any length but zero or nearly so (no component of 1e-240), which hits nothing.
    pub direction: DVec3,
    /// The largest parameter; may be infinite.
    pub reach: f64,
}

impl Ray {
    /// Whether there is a way to go, and the parameters along it are numbers.
    #[inline]
    pub(crate) fn is_sound(&self) -> bool {
        self.direction.is_finite()
            && self.direction.abs().max_element() >= SHORTEST_DIRECTION
            && self.origin.is_finite()
    }
}

/// A point of a surface on a ray.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RayHit {
    /// The ray's parameter there, at least 0.
    pub t: f64,
    /// The point, in the world.
    pub point: DVec3,
    /// The unit normal of the surface there, in the world: out of a closed shape, towards the ray's origin for an
    /// open one.
    pub normal: DVec3,
    /// The triangle, the face of a hull or box, or the surface of a curved primitive.
    pub feature: Feature,
    /// Weights of the triangle's corners, which sum to 1; `None` where no triangle was hit.
    pub weights: Option<[f64; 3]>,
}

/// A mesh at a pose, for many rays.
#[derive(Debug)]
pub(crate) struct MeshRays<'m> {
    model: &'m Model,
    tree: PlacedRayTree<'m>,
    /// The 3×3 part of the pose, column by column.
    turn: [Axes; 3],
    shift: Axes,
    /// Multiplies lengths before they are multiplied with each other.
    scale: f64,
    level: SimdLevel,
}

impl<'m> MeshRays<'m> {
    pub(crate) fn new(model: &'m Model, pose: &'m Pose) -> MeshRays<'m> {
        let tree = PlacedRayTree::new(model.ray_tree(), pose);
        let unit = tree.unit();
        let ordinary = (SMALLEST_LENGTH_UNSCALED..LARGEST_LENGTH_UNSCALED).contains(&unit);
        let scale = if ordinary { 1.0 } else { unit.recip() };
        let turn = pose.matrix();
        let turn = [turn.x_axis, turn.y_axis, turn.z_axis].map(|column| column.extend(0.0).to_array());
        let shift = pose.translation().extend(0.0).to_array();
        MeshRays { model, tree, turn, shift, scale, level: SimdLevel::best() }
    }

    /// The hit with the smallest parameter; of equal ones the smallest triangle.
    /// What it took is added to `work`; the hit itself is not moved about.
    #[inline]
    pub(crate) fn first(&self, ray: &Ray, work: &mut Counters) -> Option<RayHit> {
        first(self.level, self, ray, work)
    }

    /// Whether the ray hits anything.
    #[inline]
    pub(crate) fn any(&self, ray: &Ray) -> (bool, Counters) {
        any(self.level, self, ray)
    }

    /// Every hit, by parameter and then by triangle; a side or corner that is hit gives one for each of its
    /// triangles.
    pub(crate) fn all(&self, ray: &Ray) -> (Vec<RayHit>, Counters) {
        all(self.level, self, ray)
    }

    /// The ray in the tree; `None` where it hits nothing for sure.
    #[inline(always)]
    fn prepared(&self, lanes: impl RayLanes, ray: &Ray) -> Option<TreeRay> {
        self.tree.ray(lanes, &ray.origin, &ray.direction)
    }

    #[inline(always)]
    fn hit(
        &self,
        lanes: impl CornerLanes,
        ray: &Ray,
        crossing: Crossing,
        corners: &[Axes; 3],
        triangle: u32,
    ) -> RayHit {
        let mut hit = triangle_hit(lanes, corners, crossing, Feature::Face(triangle));
        let turned = match Outward::of(self.model) {
            Some(outward) => outward.is_turned(self.model, triangle),
            None => hit.normal.dot(ray.direction) > 0.0,
        };
        if turned {
            hit.normal = -hit.normal;
        }
        hit
    }
}

dispatch! {
    fn first(rays: &MeshRays<'_>, ray: &Ray, work: &mut Counters) -> Option<RayHit> = proof first_in
}

dispatch! {
    fn any(rays: &MeshRays<'_>, ray: &Ray) -> (bool, Counters) = proof any_in
}

dispatch! {
    fn all(rays: &MeshRays<'_>, ray: &Ray) -> (Vec<RayHit>, Counters) = proof all_in
}

#[inline(always)]
fn first_in(lanes: impl RayLanes, rays: &MeshRays<'_>, ray: &Ray, work: &mut Counters) -> Option<RayHit> {
    let of_tree = rays.prepared(lanes, ray)?;
    let limit = of_tree.limit(ray.reach);
    let mut found = FirstHit {
        triangles: Triangles { lanes, rays, ray },
        crossing: Crossing { t: ray.reach, weights: [0.0; 3] },
        first: None,
        corners: [[0.0; 4]; 3],
    };
    *work += rays.tree.nearest(lanes, &of_tree, limit, &mut found);
    found.first.map(|triangle| rays.hit(lanes, ray, found.crossing, &found.corners, triangle))
}

#[inline(always)]
fn any_in(lanes: impl RayLanes, rays: &MeshRays<'_>, ray: &Ray) -> (bool, Counters) {
    let Some(of_tree) = rays.prepared(lanes, ray) else { return (false, Counters::default()) };
    rays.tree.any(lanes, &of_tree, of_tree.limit(ray.reach), &mut Triangles { lanes, rays, ray })
}

#[inline(always)]
fn all_in(lanes: impl RayLanes, rays: &MeshRays<'_>, ray: &Ray) -> (Vec<RayHit>, Counters) {
    let Some(of_tree) = rays.prepared(lanes, ray) else { return (Vec::new(), Counters::default()) };
    let limit = of_tree.limit(ray.reach);
    let mut found = AllHits { triangles: Triangles { lanes, rays, ray }, hits: Vec::new() };
    let work = rays.tree.candidates(lanes, &of_tree, limit, &mut found);
    found.hits.sort_unstable_by(|(i, a), (j, b)| a.t.total_cmp(&b.t).then(i.cmp(j)));
    (found.hits.into_iter().map(|(_, hit)| hit).collect(), work)
}

/// The placed triangles and a ray, on an instruction set.
#[derive(Clone, Copy)]
struct Triangles<'s, L> {
    lanes: L,
    rays: &'s MeshRays<'s>,
    ray: &'s Ray,
}

impl<L: RayLanes> Triangles<'_, L> {
    /// The placed corners of a triangle: the sums of [`Pose::apply`], all rows at a time.
    #[inline(always)]
    fn corners(&self, face: &Face<'_>) -> [Axes; 3] {
        face.corners.map(|p| self.lanes.placed(&self.rays.turn, &self.rays.shift, p))
    }

    /// Where the ray meets a placed triangle, at a parameter of at least 0. Few rays meet more than one, so nothing is
    /// kept for the next.
    #[inline(always)]
    fn crossing(&self, corners: &[Axes; 3]) -> Option<Crossing> {
        let sheared = ShearedRay::new(self.ray.origin, self.ray.direction, self.rays.scale);
        crossing_ahead(self.lanes, self.ray, &sheared, corners)
    }
}

impl<L: RayLanes> Decide for Triangles<'_, L> {
    // Nearly every hit is certain in f32; the search is the better for not holding this.
    #[cold]
    #[inline(never)]
    fn is_hit(&mut self, face: &Face<'_>) -> bool {
        self.crossing(&self.corners(face)).is_some_and(|crossing| crossing.t <= self.ray.reach)
    }
}

/// The best so far.
#[derive(Clone, Copy)]
struct FirstHit<'s, L> {
    triangles: Triangles<'s, L>,
    crossing: Crossing,
    first: Option<u32>,
    corners: [Axes; 3],
}

impl<L: RayLanes> Candidates for FirstHit<'_, L> {
    #[inline(always)]
    fn found(&mut self, face: &Face<'_>) {
        let corners = self.triangles.corners(face);
        let is_better = |crossing: &Crossing| match self.first {
            Some(first) => (crossing.t, face.triangle) < (self.crossing.t, first),
            None => crossing.t <= self.crossing.t,
        };
        if let Some(crossing) = self.triangles.crossing(&corners).filter(is_better) {
            (self.crossing, self.first, self.corners) = (crossing, Some(face.triangle), corners);
        }
    }
}

impl<L: RayLanes> Nearest for FirstHit<'_, L> {
    #[inline(always)]
    fn reach(&self) -> f64 {
        self.crossing.t
    }
}

/// Every hit with its triangle.
struct AllHits<'s, L> {
    triangles: Triangles<'s, L>,
    hits: Vec<(u32, RayHit)>,
}

impl<L: RayLanes> Candidates for AllHits<'_, L> {
    #[inline(always)]
    fn found(&mut self, face: &Face<'_>) {
        let (corners, ray) = (self.triangles.corners(face), self.triangles.ray);
        if let Some(crossing) = self.triangles.crossing(&corners).filter(|crossing| crossing.t <= ray.reach) {
            let Triangles { lanes, rays, .. } = self.triangles;
            let hit = rays.hit(lanes, ray, crossing, &corners, face.triangle);
            self.hits.push((face.triangle, hit));
        }
    }
}

/// Where a ray meets a placed triangle, at a parameter of at least 0, which the plane's exact side of the origin
/// decides where rounding could.
#[inline(always)]
pub(crate) fn crossing_ahead(
    lanes: impl CornerLanes,
    ray: &Ray,
    sheared: &ShearedRay,
    corners: &[Axes; 3],
) -> Option<Crossing> {
    let LineCrossing { is_edge_on, crossing } = sheared.crossing(lanes, corners);
    if is_edge_on {
        return edge_on_crossing(ray, crossing, *corners);
    }
    crossing.and_then(|crossing| from_start(ray, crossing, corners))
}

/// Of a triangle that is seen from its edge: in its plane the ray's way through it, else what the areas say, which
/// neighbours see alike.
#[cold]
fn edge_on_crossing(ray: &Ray, crossing: Option<Crossing>, corners: [Axes; 3]) -> Option<Crossing> {
    match crossing_in_plane(ray.origin, ray.direction, &points(&corners)) {
        InPlane::Entered(first) => Some(first),
        InPlane::Missed => None,
        InPlane::No => crossing.and_then(|crossing| from_start(ray, crossing, &corners)),
    }
}

/// A crossing of the ray's line, if it is not behind the start.
#[inline(always)]
fn from_start(ray: &Ray, mut crossing: Crossing, corners: &[Axes; 3]) -> Option<Crossing> {
    let way = crossing.t.abs() * ray.direction.abs().max_element();
    let [first, ..] = points(corners);
    let size = ray.origin.abs().max(first.abs()).max_element();
    if way <= RAY_START_ROUNDING * size {
        crossing.t = start_parameter(ray, *corners, crossing.t)?;
    }
    (crossing.t >= 0.0).then_some(crossing)
}

/// The parameter of a crossing that rounding cannot tell from the ray's start: 0 on the triangle's plane, and not
/// less than 0 where the ray goes towards it; `None` where it goes away.
#[cold]
fn start_parameter(ray: &Ray, corners: [Axes; 3], t: f64) -> Option<f64> {
    let [a, b, c] = points(&corners);
    let side = orient3d(a, b, c, ray.origin);
    let rising = unit_normal(3, |i| [a, b, c][i]).dot(ray.direction);
    match side {
        Sign::Zero => Some(0.0),
        Sign::Positive if rising > 0.0 => None,
        Sign::Negative if rising < 0.0 => None,
        _ => Some(t.max(0.0)),
    }
}

/// A hit of a placed triangle, with the normal of its orientation.
#[inline(always)]
pub(crate) fn triangle_hit(
    lanes: impl CornerLanes,
    corners: &[Axes; 3],
    crossing: Crossing,
    feature: Feature,
) -> RayHit {
    let [x, y, z, _] = lanes.product(corners, &crossing.weights);
    let corners = points(corners);
    RayHit {
        t: crossing.t,
        point: DVec3::new(x, y, z),
        normal: unit_normal(3, |i| corners[i]),
        feature,
        weights: Some(crossing.weights),
    }
}

#[cfg(any(test, feature = "unstable"))]
/// The hit with the smallest parameter; of equal ones the smallest triangle.
///
/// ```
/// # use impinge::{model::Model, Pose, shape::procedural, narrow::exact::ray_cast::{Ray, first_hit}};
/// let ball = Model::from(procedural::ico_sphere(1.0, 3)?);
/// let ray = Ray { origin: glam::DVec3::new(0.0, 0.0, 5.0), direction: -glam::DVec3::Z, reach: f64::INFINITY };
/// assert!((first_hit(&ball, &Pose::IDENTITY, &ray).unwrap().t - 4.0).abs() < 0.01);
/// # Ok::<(), impinge::Error>(())
/// ```
pub fn first_hit(model: &Model, pose: &Pose, ray: &Ray) -> Option<RayHit> {
    MeshRays::new(model, pose).first(ray, &mut Counters::default())
}

#[cfg(any(test, feature = "unstable"))]
/// Every hit, by parameter and then by triangle.
pub fn all_hits(model: &Model, pose: &Pose, ray: &Ray) -> Vec<RayHit> {
    MeshRays::new(model, pose).all(ray).0
}

#[cfg(any(test, feature = "unstable"))]
/// Whether the ray hits anything.
pub fn any_hit(model: &Model, pose: &Pose, ray: &Ray) -> bool {
    MeshRays::new(model, pose).any(ray).0
}

#[cfg(any(test, feature = "unstable"))]
/// [`first_hit`] of many rays, one after the other on this thread.
pub fn first_hits<'r>(
    model: &'r Model,
    pose: &'r Pose,
    rays: &'r [Ray],
) -> impl Iterator<Item = Option<RayHit>> + 'r {
    let mesh = MeshRays::new(model, pose);
    rays.iter().map(move |ray| mesh.first(ray, &mut Counters::default()))
}

#[cfg(any(test, feature = "unstable"))]
/// [`any_hit`] of many rays, one after the other on this thread.
pub fn any_hits<'r>(model: &'r Model, pose: &'r Pose, rays: &'r [Ray]) -> impl Iterator<Item = bool> + 'r {
    let mesh = MeshRays::new(model, pose);
    rays.iter().map(move |ray| mesh.any(ray).0)
}

#[cfg(test)]
#[path = "ray_cast_tests.rs"]
mod tests;
