//! Rays through a scene as it stands now.
//!
//! The answers are those of asking every body that the [`Filter`] lets through, as for the questions of `scene_query`.

use glam::DVec3;

use super::scene_query::is_better;
use super::{Body, BodyId, Filter, Scene};
use crate::narrow::convex::ray::Heading;
use crate::narrow::exact::ray_cast::{Ray, RayHit};
use crate::narrow::shape_ray::{ShapeRays, first_hit};
use crate::num::parallel;

impl Scene {
    /// The first surface point that a ray meets, and on which body; see [`ray_cast`](crate::ray_cast).
    ///
    /// ```
    /// use impinge::scene::{Body, Filter, Scene};
    /// use impinge::{Pose, Ray, Shape};
    ///
    /// let mut scene = Scene::default();
    /// scene.add(Body::fixed(Shape::sphere(1.0)?, Pose::IDENTITY));
    /// let near = scene.add(Body::fixed(Shape::cuboid([0.5; 3])?, Pose::from_translation([0.0, 0.0, 3.0])?));
    /// let down = Ray::new([0.0, 0.0, 9.0], [0.0, 0.0, -1.0])?;
    /// let (body, hit) = scene.ray_cast(down, &Filter::default()).unwrap();
    /// assert_eq!((body, hit.t), (near, 5.5));
    /// # Ok::<(), impinge::Error>(())
    /// ```
    pub fn ray_cast(&self, ray: Ray, filter: &Filter<'_>) -> Option<(BodyId, RayHit)> {
        let mut first: Option<(BodyId, RayHit)> = None;
        let heading = Heading::of(&ray);
        self.along(&ray, filter, |id, body, reach| {
            let until = Ray { reach, ..ray };
            if let Some(hit) = first_hit(body.shape.geometry(), &body.pose, &until, &heading)
                && is_better(&first, hit.t, id, |hit| hit.t)
            {
                first = Some((id, hit));
            }
            first.map_or(ray.reach, |(_, hit)| hit.t)
        });
        first
    }

    /// [`Scene::ray_cast`] for many rays, in parallel.
    pub fn ray_cast_batch(&self, rays: &[Ray], filter: &Filter<'_>) -> Vec<Option<(BodyId, RayHit)>> {
        parallel::map(rays.len(), |k| self.ray_cast(rays[k], filter))
    }

    /// Whether a ray meets any body.
    pub fn ray_cast_any(&self, ray: Ray, filter: &Filter<'_>) -> bool {
        let mut any = false;
        self.along(&ray, filter, |_, body, _| {
            any = any || ShapeRays::new(body.shape.geometry(), &body.pose).any(&ray).0;
            if any { f64::NEG_INFINITY } else { ray.reach }
        });
        any
    }

    /// Every surface point that a ray meets, by parameter, then by body.
    pub fn ray_cast_all(&self, ray: Ray, filter: &Filter<'_>) -> Vec<(BodyId, RayHit)> {
        let mut all = Vec::new();
        self.along(&ray, filter, |id, body, _| {
            let (hits, _) = ShapeRays::new(body.shape.geometry(), &body.pose).all(&ray);
            all.extend(hits.into_iter().map(|hit| (id, hit)));
            ray.reach
        });
        // Stable, so that the hits of one body stay in their order.
        all.sort_by(|(i, a), (j, b)| a.t.total_cmp(&b.t).then(i.cmp(j)));
        all
    }

    fn along(&self, ray: &Ray, filter: &Filter<'_>, mut ask: impl FnMut(BodyId, &Body, f64) -> f64) {
        if !ray.is_sound() {
            return;
        }
        let way = [ray.origin, ray.direction];
        self.index.along_ray(&self.bodies, way, DVec3::ZERO, ray.reach, &mut |slot, entry, reach| {
            let id = self.bodies.id(slot);
            if filter.lets(id, entry) { ask(id, &entry.body, reach) } else { reach }
        });
    }
}
