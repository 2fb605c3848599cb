//! Boxes of the connected parts of a shape: what of it may lie within another body as a whole.

use super::Geometry;
use crate::bound::Aabb;
use crate::budget::QUANTUM;
use crate::num::parallel::in_turn;
use crate::shape::Topology;
use crate::{Budget, Pose};

/// A box of the world around each connected part of a placed mesh, of its corners to the bit; around each part of a compound
/// and each particle of a cloud; one around a convex shape. `None` when the budget ended first; the connectivity of a mesh
/// is found beyond it, unless the caller asked for it before.
pub(crate) fn component_bounds(shape: &Geometry, pose: &Pose, budget: &mut Budget) -> Option<Vec<Aabb>> {
    match shape {
        Geometry::Convex(_) => Some(vec![shape.bounds(pose)]),
        Geometry::Compound(compound) => {
            let parts = compound.parts().iter();
            Some(parts.map(|part| part.shape.bounds(&pose.compose(&part.pose))).collect())
        }
        Geometry::Particles(cloud) => {
            let mut boxes = Vec::with_capacity(cloud.points().len());
            for (i, &p) in in_turn(cloud.points()).enumerate() {
                if (i as u64).is_multiple_of(QUANTUM) && !budget.draw(QUANTUM) {
                    return None;
                }
                let mut ball = Aabb::around_points(&[pose.apply(p)]);
                ball.grow(cloud.radius(i));
                boxes.push(ball);
            }
            Some(boxes)
        }
        Geometry::Mesh(model) => {
            let topology: &Topology = model.topology();
            let mut boxes = vec![Aabb::EMPTY; topology.components().len()];
            for (triangle, &component) in (0..).zip(in_turn(topology.component_of())) {
                if u64::from(triangle).is_multiple_of(QUANTUM) && !budget.draw(QUANTUM) {
                    return None;
                }
                let corners = model.mesh().corners(triangle).map(|p| pose.apply(p));
                let all = &mut boxes[component as usize];
                *all = all.merge(&Aabb::around_points(&corners));
            }
            Some(boxes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mesh;
    use crate::model::{Cloud, Compound};
    use crate::shape::{Convex, Primitive};
    use glam::DVec3;

    fn box_of(p: [f64; 3], q: [f64; 3]) -> Aabb {
        Aabb { low: p.into(), high: q.into() }
    }

    #[test]
    fn every_connected_part_has_a_box_of_its_own() {
        let [far, pose] = [[9.0, 0.0, 0.0], [0.0, 5.0, 0.0]].map(|p| Pose::from_translation(p).unwrap());
        let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(DVec3::from);
        let both = [corners, corners.map(|p| far.apply(p))].concat();
        let mesh = Geometry::from(Mesh::from_points(both, vec![[0, 1, 2], [3, 4, 5]]).unwrap());
        let found = component_bounds(&mesh, &pose, &mut Budget::units(512)).unwrap();
        assert_eq!(found, [box_of([0., 5., 0.], [1., 6., 0.]), box_of([9., 5., 0.], [10., 6., 0.])]);
        assert_eq!(component_bounds(&mesh, &pose, &mut Budget::units(0)), None);
        let points = vec![DVec3::ZERO, DVec3::X * 4.0];
        let cloud = Geometry::from(Cloud::new(points, &[0.5]).unwrap());
        let found = component_bounds(&cloud, &pose, &mut Budget::UNLIMITED.clone()).unwrap();
        let want = [box_of([-0.5, 4.5, -0.5], [0.5, 5.5, 0.5]), box_of([3.5, 4.5, -0.5], [4.5, 5.5, 0.5])];
        let holds = |(found, want): (&Aabb, &Aabb)| found.holds(want) && want.low.distance(found.low) < 1e-12;
        assert!(found.len() == 2 && found.iter().zip(&want).all(holds), "{found:?}");
        let ball = Convex::from(Primitive::sphere(1.0).unwrap());
        let two = Compound::new([(ball.clone(), Pose::IDENTITY), (ball, far)]).unwrap();
        let found = component_bounds(&two.into(), &pose, &mut Budget::UNLIMITED.clone()).unwrap();
        assert!(found.len() == 2 && !found[0].meets(&found[1]), "{found:?}");
    }
}
