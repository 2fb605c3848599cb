//! Rays against a placed mesh: the first hit, every hit, or whether there is one.
//!
//! Boxes are refused eight at a time with every rounding on the safe side; triangles are decided on their
//! placed corners, without gaps between neighbours. A ray that lies in the plane of a triangle passes it
//! by: its neighbours are hit instead.

use glam::DVec3;
use smallvec::SmallVec;

use crate::geom::ray_triangle::{Crossing, ShearedRay};
use crate::hierarchy::ray_slab::RaySlab;
use crate::hierarchy::wide::{Child, WIDTH};
use crate::model::Model;
use crate::num::parallel;
use crate::num::tolerance::{LARGEST_LENGTH_UNSCALED, SMALLEST_LENGTH_UNSCALED};
use crate::simd::SimdLevel;
use crate::{Counters, Pose};

/// The points origin + t·direction with 0 ≤ t ≤ `reach`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ray {
    /// Where it starts, in the world.
    pub origin: DVec3,
    /// Where it goes; of any length but zero, which hits nothing.
    pub direction: DVec3,
    /// The largest parameter; may be infinite.
    pub reach: f64,
}

/// A point of a mesh on a ray.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RayHit {
    /// The ray's parameter there.
    pub t: f64,
    /// The triangle.
    pub triangle: u32,
    /// Weights of the triangle's corners; they sum to 1.
    pub weights: [f64; 3],
    /// The point, in the world.
    pub point: DVec3,
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
    counted_first_hit(model, pose, ray).0
}

fn counted_first_hit(model: &Model, pose: &Pose, ray: &Ray) -> (Option<RayHit>, Counters) {
    let mut first: Option<(Crossing, u32)> = None;
    let work = visit(model, pose, ray, |crossing, triangle| {
        let nearer = first.is_none_or(|(best, of)| (crossing.t, triangle) < (best.t, of));
        if nearer {
            first = Some((crossing, triangle));
        }
        first.map_or(ray.reach, |(best, _)| best.t)
    });
    (first.map(|(crossing, triangle)| hit(model, pose, crossing, triangle)), work)
}

#[cfg(any(test, feature = "unstable"))]
/// Every hit, by parameter and then by triangle; a side or corner that is hit gives one for each of its
/// triangles.
pub fn all_hits(model: &Model, pose: &Pose, ray: &Ray) -> Vec<RayHit> {
    let mut hits = Vec::new();
    visit(model, pose, ray, |crossing, triangle| {
        hits.push(hit(model, pose, crossing, triangle));
        ray.reach
    });
    hits.sort_unstable_by(|a, b| a.t.total_cmp(&b.t).then(a.triangle.cmp(&b.triangle)));
    hits
}

#[cfg(any(test, feature = "unstable"))]
/// Whether the ray hits anything.
pub fn any_hit(model: &Model, pose: &Pose, ray: &Ray) -> bool {
    let mut any = false;
    visit(model, pose, ray, |_, _| {
        any = true;
        f64::NEG_INFINITY
    });
    any
}

#[cfg(any(test, feature = "unstable"))]
/// [`first_hit`] for many rays, in parallel.
pub fn first_hits(model: &Model, pose: &Pose, rays: &[Ray]) -> Vec<Option<RayHit>> {
    parallel::map(rays.len(), |k| first_hit(model, pose, &rays[k]))
}

/// [`first_hits`], and what they cost.
pub(crate) fn counted_first_hits(
    model: &Model,
    pose: &Pose,
    rays: &[Ray],
) -> (Vec<Option<RayHit>>, Counters) {
    let found = parallel::map(rays.len(), |k| counted_first_hit(model, pose, &rays[k]));
    let mut work = Counters::default();
    let hits = found.into_iter().map(|(hit, more)| {
        work += more;
        hit
    });
    (hits.collect(), work)
}

fn hit(model: &Model, pose: &Pose, crossing: Crossing, triangle: u32) -> RayHit {
    let [a, b, c] = model.mesh().corners(triangle).map(|v| pose.apply(v));
    let [u, v, w] = crossing.weights;
    RayHit { t: crossing.t, triangle, weights: crossing.weights, point: a * u + b * v + c * w }
}

/// Calls `found` with every triangle that is hit up to the parameter it last returned.
fn visit(model: &Model, pose: &Pose, ray: &Ray, mut found: impl FnMut(Crossing, u32) -> f64) -> Counters {
    let mut work = Counters::default();
    let direction = ray.direction;
    if !direction.is_finite() || direction == DVec3::ZERO || !ray.origin.is_finite() {
        return work;
    }
    let tree = model.tree();
    let Some(slab) = RaySlab::new(tree, pose, ray.origin, direction) else {
        return work;
    };
    let unit = tree.frame().unit;
    let ordinary = (SMALLEST_LENGTH_UNSCALED..LARGEST_LENGTH_UNSCALED).contains(&unit);
    let sheared = ShearedRay::new(ray.origin, direction, if ordinary { 1.0 } else { unit.recip() });
    let level = SimdLevel::best();
    let mut until = ray.reach;
    let mut stack: SmallVec<[(f32, u32); 64]> = SmallVec::new();
    stack.push((f32::NEG_INFINITY, 0));
    while let Some((enter, index)) = stack.pop() {
        let limit = slab.until(until);
        if enter > limit {
            continue;
        }
        work.volume_tests += WIDTH as u64;
        let node = &tree.nodes()[index as usize];
        let mut enters = [0.0; WIDTH];
        let mut mask = slab.enters(level, node, limit, &mut enters);
        let mut near = Sorted::default();
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            near.insert(enters[lane].max(0.0), node.child[lane]);
        }
        for (_, child) in near.ascending().filter(|(_, child)| child.is_leaf()) {
            for slot in child.slots() {
                work.primitive_tests += 1;
                let triangle = tree.order()[slot];
                let corners = model.mesh().corners(triangle).map(|v| pose.apply(v));
                if let Some(crossing) = sheared.crossing(&corners)
                    && crossing.t >= 0.0
                    && crossing.t <= until
                {
                    until = found(crossing, triangle);
                }
            }
        }
        for (enter, child) in near.ascending().rev() {
            if let Some(child) = child.as_node() {
                stack.push((enter, child as u32));
            }
        }
    }
    work
}

/// A few children, the nearest first.
#[derive(Debug, Default)]
struct Sorted {
    /// A gap's bits above those of its place: gaps are not negative, so their bits are in their order.
    keys: [u64; WIDTH],
    children: [Option<Child>; WIDTH],
    count: usize,
}

impl Sorted {
    #[inline]
    fn insert(&mut self, gap: f32, child: Child) {
        let key = u64::from(gap.to_bits()) << 32 | self.count as u64;
        self.children[self.count] = Some(child);
        let mut at = self.count;
        while at > 0 && self.keys[at - 1] > key {
            self.keys[at] = self.keys[at - 1];
            at -= 1;
        }
        self.keys[at] = key;
        self.count += 1;
    }

    #[inline]
    fn ascending(&self) -> impl DoubleEndedIterator<Item = (f32, Child)> + '_ {
        self.keys[..self.count].iter().filter_map(|&key| {
            let child = self.children[(key as u32) as usize % WIDTH]?;
            Some((f32::from_bits((key >> 32) as u32), child))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mesh;
    use crate::shape::procedural;

    fn brute_force(model: &Model, pose: &Pose, ray: &Ray) -> Vec<RayHit> {
        let sheared = ShearedRay::new(ray.origin, ray.direction, 1.0);
        let mut hits: Vec<RayHit> = (0..model.mesh().triangles().len() as u32)
            .filter_map(|t| {
                let corners = model.mesh().corners(t).map(|v| pose.apply(v));
                let crossing = sheared.crossing(&corners)?;
                (0.0..=ray.reach).contains(&crossing.t).then(|| hit(model, pose, crossing, t))
            })
            .collect();
        hits.sort_by(|a, b| a.t.total_cmp(&b.t).then(a.triangle.cmp(&b.triangle)));
        hits
    }

    #[test]
    fn agrees_with_every_triangle_tried() {
        let model = Model::from(procedural::torus(1.0, 0.4, 24, 12).unwrap());
        let origins = procedural::positions(400, DVec3::splat(-3.0), DVec3::splat(3.0), 1);
        let targets = procedural::positions(400, DVec3::splat(-1.2), DVec3::splat(1.2), 2);
        let poses = [
            Pose::IDENTITY,
            Pose::new([0.3, -2.0, 0.7], [0.1, 0.7, -0.3, 0.5]).unwrap(),
            Pose::new([1e6, -2e6, 3e6], [0.5, 0.1, 0.2, -0.4]).unwrap(),
        ];
        let mut hit = 0;
        for pose in &poses {
            for (k, (from, to)) in origins.iter().zip(&targets).enumerate() {
                let (origin, target) = (pose.apply(*from), pose.apply(*to));
                let stretch = [1e-6, 1.0, 1e5][k % 3];
                let mut ray = Ray { origin, direction: (target - origin) * stretch, reach: f64::INFINITY };
                if k % 2 == 0 {
                    // Along an axis, through a vertex: sides and corners are hit exactly.
                    let v = model.mesh().vertices()[k % model.mesh().vertices().len()];
                    ray.direction = if k % 4 == 0 { DVec3::X } else { -DVec3::Z };
                    ray.origin = pose.apply(v) - ray.direction * 5.0;
                }
                if k % 5 == 0 {
                    ray.reach = 1.5 / stretch;
                }
                let want = brute_force(&model, pose, &ray);
                assert_eq!(all_hits(&model, pose, &ray), want);
                assert_eq!(first_hit(&model, pose, &ray), want.first().copied());
                assert_eq!(any_hit(&model, pose, &ray), !want.is_empty());
                hit += usize::from(!want.is_empty());
            }
        }
        assert!((300..1100).contains(&hit), "{hit}");
    }

    #[test]
    fn rays_from_within_a_closed_surface_always_leave() {
        let model = Model::from(procedural::ico_sphere(1.0, 3).unwrap());
        for (k, v) in model.mesh().vertices().iter().enumerate() {
            // Through corners and, between neighbours, through points of sides.
            let t = model.mesh().corners((k % model.mesh().triangles().len()) as u32);
            for target in [*v, t[0].midpoint(t[1]), t[1].lerp(t[2], 0.3)] {
                let ray = Ray { origin: DVec3::ZERO, direction: target, reach: f64::INFINITY };
                assert!(any_hit(&model, &Pose::IDENTITY, &ray));
            }
        }
    }

    #[test]
    fn far_huge_tiny_and_senseless_rays() {
        let unit = procedural::ico_sphere(1.0, 2).unwrap();
        let model = Model::from(unit.clone());
        for far in [1e3, 1e9, 1e15] {
            let ray = Ray { origin: DVec3::new(0.1, far, 0.2), direction: -DVec3::Y, reach: f64::INFINITY };
            let hits = all_hits(&model, &Pose::IDENTITY, &ray);
            assert_eq!(hits, brute_force(&model, &Pose::IDENTITY, &ray));
            assert!(hits.len() >= 2);
        }
        for direction in [DVec3::ZERO, DVec3::NAN, DVec3::INFINITY] {
            let ray = Ray { origin: DVec3::ZERO, direction, reach: f64::INFINITY };
            assert!(!any_hit(&model, &Pose::IDENTITY, &ray));
        }
        for power in [-900, -200, 190] {
            let scale = 2f64.powi(power);
            let vertices = unit.vertices().iter().map(|p| *p * scale).collect();
            let model = Model::from(Mesh::from_points(vertices, unit.triangles().to_vec()).unwrap());
            let origin = DVec3::new(0.1, 3.0, 0.2) * scale;
            let ray = Ray { origin, direction: -DVec3::Y, reach: f64::INFINITY };
            let t = first_hit(&model, &Pose::IDENTITY, &ray).unwrap().t / scale;
            assert!((1.9..2.2).contains(&t), "2^{power} {t}");
        }
    }
}
