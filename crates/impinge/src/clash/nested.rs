//! The gap between the surfaces of a convex solid and of what lies within it.
//!
//! The distance to the surface is a concave function within a convex solid, so over a body it is smallest at an
//! extreme point of that. Round bodies are points or segments with a radius, by which the gap is less. Within flat faces
//! every convex body is asked for its farthest point along each normal.

use glam::DVec3;

use crate::Pose;
use crate::model::{Geometry, Placed};
use crate::narrow::convex::relation::counted_point_in;
use crate::shape::{Convex, Primitive};

/// A length, and a point of the inner and of the outer surface that are so far apart.
type Gap = (f64, [DVec3; 2]);

/// The gap between a convex body or a compound and the convex solid around it; `None` for other kinds, and for a
/// cylinder, cone or ellipsoid within another curved solid.
pub(super) fn nested_gap(inner: Placed<'_>, outer: Placed<'_>) -> Option<Gap> {
    let Geometry::Convex(around) = outer.geometry() else { return None };
    let (pose, place) = (inner.pose(), outer.pose());
    let found = match inner.geometry() {
        Geometry::Convex(convex) => gap(convex, &pose, around, &place)?,
        Geometry::Compound(compound) => {
            let gaps = compound.parts().iter().map(|part| match &part.shape {
                Geometry::Convex(convex) => gap(convex, &pose.compose(&part.pose), around, &place),
                _ => None,
            });
            let gaps: Vec<Gap> = gaps.collect::<Option<_>>()?;
            gaps.into_iter().min_by(|x, y| x.0.total_cmp(&y.0))?
        }
        Geometry::Mesh(_) | Geometry::Particles(_) => return None,
    };
    // Rounding may leave nothing of a tiny gap.
    Some((found.0.max(0.0), found.1))
}

fn gap(inner: &Convex, pose: &Pose, outer: &Convex, place: &Pose) -> Option<Gap> {
    let (points, radius) = match inner {
        Convex::Primitive(Primitive::Sphere { radius }) => (vec![DVec3::ZERO], *radius),
        Convex::Primitive(Primitive::Capsule { radius, half_height }) => {
            (vec![DVec3::Z * *half_height, DVec3::NEG_Z * *half_height], *radius)
        }
        Convex::Primitive(Primitive::Cuboid { half }) => {
            let corner =
                |k: i32| *half * DVec3::from([k & 1, k >> 1 & 1, k >> 2].map(|x| f64::from(2 * x - 1)));
            ((0..8).map(corner).collect(), 0.0)
        }
        Convex::Primitive(Primitive::Triangle { corners }) => (corners.to_vec(), 0.0),
        Convex::Primitive(Primitive::Segment { ends }) => (ends.to_vec(), 0.0),
        Convex::Polytope(hull) => (hull.vertices().to_vec(), 0.0),
        Convex::Primitive(_) => return within_faces(inner, pose, outer, place),
    };
    let nearest = points.into_iter().map(|p| {
        let p = pose.apply(p);
        let (found, ..) = counted_point_in(outer, place, p);
        let on_outer = found.points[1];
        let on_inner = p + (on_outer - p).normalize_or_zero() * radius;
        (-found.distance - radius, [on_inner, on_outer])
    });
    nearest.min_by(|x, y| x.0.total_cmp(&y.0))
}

/// The smallest distance to the planes of the outer solid's faces.
fn within_faces(inner: &Convex, pose: &Pose, outer: &Convex, place: &Pose) -> Option<Gap> {
    // Outward normals of unit length and a point of each plane, in the world.
    let planes: Vec<[DVec3; 2]> = match outer {
        Convex::Primitive(Primitive::Cuboid { half }) => DVec3::AXES
            .into_iter()
            .flat_map(|axis| [axis, -axis])
            .map(|axis| [place.matrix() * axis, place.apply(axis * *half)])
            .collect(),
        Convex::Primitive(plane @ Primitive::HalfSpace { normal, .. }) => {
            vec![[place.matrix() * normal.normalize_or_zero(), place.apply(plane.support(*normal))]]
        }
        Convex::Polytope(hull) => {
            hull.faces().iter().map(|face| [place.matrix() * face.normal, place.apply(face.corner)]).collect()
        }
        Convex::Primitive(_) => return None,
    };
    let back = pose.matrix().transpose();
    let nearest = planes.into_iter().map(|[normal, on_plane]| {
        let p = pose.apply(inner.support(back * normal));
        let length = normal.dot(on_plane - p);
        (length, [p, p + normal * length])
    });
    nearest.min_by(|x, y| x.0.total_cmp(&y.0))
}
