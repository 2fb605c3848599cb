//! Bodies so small or so large that products of their lengths leave the range of the doubles: they are measured in another
//! unit of length, a power of two, which no coordinate loses a bit by.

use super::super::placed_mesh::PlacedMesh;
use super::measured_here;
use crate::bound::Aabb;
use crate::contact::{Verdict, Volume, VolumeOptions};
use crate::model::Model;
use crate::shape::Mesh;
use crate::{Budget, Pose};

/// Binary orders of magnitude of a length within which its fourth power, the highest that is formed, has room.
const ROOM: i32 = 200;

/// Those of the largest coordinate that a mesh may have.
const LARGEST: i32 = 190;

/// The unit in which two placed bodies are measured, as a power of two; `None` where that of the world will do.
pub fn unit_of(models: [&Model; 2], poses: [&Pose; 2]) -> Option<i32> {
    let bounds = [0, 1].map(|k| PlacedMesh::new(models[k], poses[k]).bounds());
    let extents = bounds.map(|[low, high]| (high - low).max_element());
    let orders = extents.map(order_of);
    if orders.iter().all(|order| order.abs() <= ROOM) {
        return None;
    }
    let farthest = bounds.iter().flatten().map(|p| p.abs().max_element()).fold(0.0, f64::max);
    let unit = orders[0].min(orders[1]).max(order_of(farthest) - LARGEST).clamp(-1000, 1000);
    (unit != 0).then_some(unit)
}

/// The power of two below a length; 0 for none.
fn order_of(length: f64) -> i32 {
    if length > 0.0 && length.is_finite() { length.log2().floor() as i32 } else { 0 }
}

/// The same as [`measured_here`], in a unit; `None` where the bodies have no place in it.
pub fn measured_in(
    unit: i32,
    models: [&Model; 2],
    poses: [&Pose; 2],
    options: &VolumeOptions,
    budget: &mut Budget,
) -> Option<Verdict<(Volume, Vec<Aabb>)>> {
    let (there, back) = (2_f64.powi(-unit), 2_f64.powi(unit));
    let in_unit = |k: usize| {
        let mesh = models[k].mesh();
        let vertices = mesh.vertices().iter().map(|&p| poses[k].apply(p) * there).collect();
        Mesh::from_points(vertices, mesh.triangles().to_vec()).ok().map(Model::from)
    };
    let (a, b) = (in_unit(0)?, in_unit(1)?);
    let in_world = |(volume, boxes): (Volume, Vec<Aabb>)| {
        let boxes = boxes.into_iter().map(|own| Aabb { low: own.low * back, high: own.high * back });
        (brought_back(volume, back), boxes.collect())
    };
    Some(measured_here([&a, &b], [&Pose::IDENTITY; 2], options, budget).map(in_world))
}

/// What was measured in a unit, in the world's. A volume that is too small for a double is stated as such: 0, with an error
/// that is not.
fn brought_back(mut found: Volume, unit: f64) -> Volume {
    let square = |x: f64| x * unit * unit;
    let cube = |x: f64| x * unit * unit * unit;
    let error = |volume: f64, error: f64| {
        let least = if volume > 0.0 { f64::from_bits(1) } else { 0.0 };
        cube(error).max(least)
    };
    found.error = error(found.volume, found.error);
    found.volume = cube(found.volume);
    for own in &mut found.regions {
        own.error = error(own.volume, own.error);
        own.volume = cube(own.volume);
        own.gradient.iter_mut().for_each(|slope| *slope = *slope * unit * unit);
        own.region.centroid *= unit;
        own.region.area = square(own.region.area);
        own.region.depth *= unit;
    }
    found.gradient.iter_mut().flatten().for_each(|slope| *slope = *slope * unit * unit);
    for sample in &mut found.samples {
        sample.point *= unit;
        sample.area = sample.area * unit * unit;
    }
    found.border.0.iter_mut().for_each(|p| *p *= unit);
    found
}
