//! A scene over parry3d's `Bvh`: the questions that parry answers about two shapes, put to all bodies whose boxes the
//! tree finds, as its users write them.

use anyhow::{Result, anyhow};
use parry3d::bounding_volume::Aabb;
use parry3d::math::{Pose, Rotation, Vector};
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhNode};
use parry3d::query::{self, Ray, RayCast, ShapeCastOptions};
use parry3d::shape::SharedShape;

/// Bodies and the tree over their boxes.
pub struct ParryScene {
    bodies: Vec<(SharedShape, Pose)>,
    tree: Bvh,
}

/// A pose from its rows (a 4×4 matrix, row by row).
pub fn pose(m: &[f64; 16]) -> Pose {
    let row = |k: usize| glam::DVec3::new(m[4 * k], m[4 * k + 1], m[4 * k + 2]);
    let turn = glam::DMat3::from_cols(row(0), row(1), row(2)).transpose();
    let q = glam::DQuat::from_mat3(&turn).as_quat();
    let place = Vector::new(m[3] as f32, m[7] as f32, m[11] as f32);
    Pose::from_parts(place, Rotation::from_xyzw(q.x, q.y, q.z, q.w))
}

/// A vector in f32.
pub fn vector(v: glam::DVec3) -> Vector {
    Vector::new(v.x as f32, v.y as f32, v.z as f32)
}

impl ParryScene {
    /// Builds the tree.
    pub fn new(bodies: Vec<(SharedShape, Pose)>) -> ParryScene {
        let boxes: Vec<Aabb> = bodies.iter().map(|(shape, pose)| shape.compute_aabb(pose)).collect();
        ParryScene { bodies, tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes) }
    }

    /// The first hit of a ray, with the normal there: asked for once, of the body that is hit.
    pub fn ray_cast(&self, origin: Vector, direction: Vector) -> Option<(u32, f64, Vector)> {
        let ray = Ray::new(origin, direction);
        let (body, t) = self.tree.cast_ray(&ray, f32::MAX, |body, best| {
            let (shape, pose) = &self.bodies[body as usize];
            shape.cast_ray(pose, &ray, best, false)
        })?;
        let (shape, pose) = &self.bodies[body as usize];
        // Not farther than the hit, to its rounding.
        let hit = shape.cast_ray_and_get_normal(pose, &ray, t * (1.0 + 1e-5), false);
        Some((body, t.into(), hit.map_or(Vector::ZERO, |hit| hit.normal)))
    }

    /// What a shape touches first on a straight way.
    pub fn shape_cast(&self, shape: &SharedShape, at: &Pose, way: Vector) -> Option<(u32, f64)> {
        let own = shape.compute_aabb(at);
        let half = own.half_extents();
        let ray = Ray::new(own.center(), way);
        let grown = |node: &BvhNode, best: f32| {
            let bounds = Aabb::new(node.mins() - half, node.maxs() + half);
            bounds.cast_local_ray(&ray, best, true).unwrap_or(f32::MAX)
        };
        let hit = self.tree.find_best(1.0, grown, |body, best| {
            let (other, pose) = &self.bodies[body as usize];
            let options = ShapeCastOptions::with_max_time_of_impact(best);
            let zero = Vector::ZERO;
            let found = query::cast_shapes(at, way, &**shape, pose, zero, &**other, options);
            found.ok().flatten().map(|hit| hit.time_of_impact)
        });
        hit.map(|(body, t)| (body, t.into()))
    }

    /// The bodies that a shape meets.
    ///
    /// # Errors
    /// A pair of shapes that parry does not know.
    pub fn overlapping(&self, shape: &SharedShape, at: &Pose) -> Result<Vec<u32>> {
        let own = shape.compute_aabb(at);
        let mut all = Vec::new();
        for body in self.tree.intersect_aabb(&own) {
            let (other, pose) = &self.bodies[body as usize];
            if query::intersection_test(at, &**shape, pose, &**other)
                .map_err(|e| anyhow!("{e:?}"))?
                .intersecting
            {
                all.push(body);
            }
        }
        all.sort_unstable();
        Ok(all)
    }

    /// The nearest body.
    pub fn nearest(&self, shape: &SharedShape, at: &Pose) -> Option<(u32, f64)> {
        let own = shape.compute_aabb(at);
        let gap = |node: &BvhNode, _: f32| {
            let apart = (node.mins() - own.maxs).max(own.mins - node.maxs()).max(Vector::ZERO);
            apart.length()
        };
        let found = self.tree.find_best(f32::MAX, gap, |body, _| {
            let (other, pose) = &self.bodies[body as usize];
            query::distance(at, &**shape, pose, &**other).ok().map(|d| d.distance)
        });
        found.map(|(body, d)| (body, d.into()))
    }
}
