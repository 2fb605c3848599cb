//! The contact points of a cylinder, cone or ellipsoid, a triangle, segment or flat hull on the surface of a mesh:
//! the points of the body farthest into each triangle, and where edges and corners of the mesh press into it.

use glam::DVec3;
use smallvec::SmallVec;

use super::local_surface::LocalSurface;
use super::polytope_on_mesh::point_contact;
use crate::Pose;
use crate::contact::{Contact, Feature};
use crate::geom::point_triangle::TriangleFeature;
use crate::narrow::convex::separation::{ConvexMemory, distance};
use crate::num::tolerance::LYING_END;
use crate::shape::{Convex, Primitive};

/// Points of a rim that are looked at where a flat end lies on a face.
const RIM_POINTS: u32 = 6;

/// Appends the contacts of a mesh, as a, and a convex shape, as b, not farther apart than `margin`.
pub(super) fn contacts(
    surface: &LocalSurface<'_>,
    shape: &Convex,
    pose: &Pose,
    margin: f64,
    found: &mut Vec<Contact>,
) {
    let mut seen: SmallVec<[DVec3; 32]> = SmallVec::new();
    let turn = pose.rotation();
    for (k, facet) in surface.facets() {
        for local in lowest_points(shape, turn.transpose() * -facet.normal) {
            let x = turn * local + pose.translation();
            if seen.contains(&x) {
                continue;
            }
            seen.push(x);
            let Some(near) = surface.nearest(x, Some(k)) else { continue };
            found.extend(point_contact(surface, x, &near, name_of(shape, local), margin));
        }
    }
    let mut memory = ConvexMemory::default();
    for (k, facet) in surface.facets() {
        let triangle = Convex::Primitive(Primitive::Triangle { corners: facet.corners });
        let (pressed, _) = distance(&triangle, &Pose::IDENTITY, shape, pose, &mut memory);
        let part = match pressed.features[0] {
            Feature::Vertex(v) => TriangleFeature::Corner(v as u8),
            Feature::Edge([0, 2]) => TriangleFeature::Side(2),
            Feature::Edge([i, _]) => TriangleFeature::Side(i as u8),
            _ => continue,
        };
        if pressed.distance <= margin
            && pressed.normal.dot(facet.normal) > 0.0
            && surface.is_in_region(k, part, pressed.points[0], pressed.normal)
        {
            let features = [surface.feature(k, part), pressed.features[1]];
            found.push(Contact::between(pressed.points, pressed.normal, -pressed.distance, features));
        }
    }
}

/// The points of a shape that can be farthest along a direction when a flat end or a side lies on a face.
fn lowest_points(shape: &Convex, direction: DVec3) -> SmallVec<[DVec3; 8]> {
    let rim = |radius: f64, z: f64, points: &mut SmallVec<[DVec3; 8]>| {
        let out = DVec3::new(direction.x, direction.y, 0.0).try_normalize().unwrap_or(DVec3::X);
        let flat = direction.z.abs() > LYING_END && direction.z.signum() == z.signum();
        for k in 0..if flat { RIM_POINTS } else { 1 } {
            let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / f64::from(RIM_POINTS)).sin_cos();
            points.push(
                DVec3::new(out.x * cos - out.y * sin, out.x * sin + out.y * cos, 0.0) * radius + DVec3::Z * z,
            );
        }
    };
    let mut points = SmallVec::new();
    match shape {
        Convex::Primitive(Primitive::Cylinder { radius, half_height }) => {
            rim(*radius, -half_height, &mut points);
            rim(*radius, *half_height, &mut points);
        }
        Convex::Primitive(Primitive::Cone { radius, half_height }) => {
            rim(*radius, -half_height, &mut points);
            points.push(DVec3::Z * *half_height);
        }
        Convex::Primitive(Primitive::Triangle { corners }) => points.extend(*corners),
        Convex::Primitive(Primitive::Segment { ends }) => points.extend(*ends),
        Convex::Polytope(hull) => points.extend(hull.vertices().iter().copied()),
        Convex::Primitive(_) => points.push(shape.support(direction)),
    }
    points
}

/// What a point of [`lowest_points`] lies on.
fn name_of(shape: &Convex, local: DVec3) -> Feature {
    let place = |points: &[DVec3]| points.iter().position(|p| *p == local).map_or(0, |k| k as u32);
    match shape {
        Convex::Primitive(Primitive::Triangle { corners }) => Feature::Vertex(place(corners)),
        Convex::Primitive(Primitive::Segment { ends }) => Feature::Vertex(place(ends)),
        Convex::Polytope(hull) => Feature::Vertex(hull.original(place(hull.vertices()))),
        Convex::Primitive(_) => Feature::Surface,
    }
}
