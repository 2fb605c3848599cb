//! Which way the triangles of a closed mesh look: out of the solid, or into it.
//!
//! A solid is where the surface winds, in whatever sense, so the components of a mesh may be turned inside out one by
//! one, and the shell of a cavity looks into the cavity. One triangle of each component tells, by the exact windings
//! on its two sides; a lone component by the sign of its volume.

use glam::DVec3;

use super::perturbed_point::{BasePoint, Direction, PerturbedPoint};
use super::placed_mesh::PlacedMesh;
use super::winding::counted_windings_across;
use crate::Pose;
use crate::geom::triangle_triangle::upright_axis;
use crate::model::Model;
use crate::num::parallel;
use crate::num::predicate::{Sign, orient3d};

/// Triangles of a component that are tried: one that another part of the surface covers on both sides says nothing.
const TRIES: usize = 16;

/// For each component of a closed mesh whether its triangles look into the solid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outward<'m> {
    turned: &'m [bool],
}

impl<'m> Outward<'m> {
    /// What is known of a model; found at the first call. `None` for an open mesh.
    #[inline]
    pub fn of(model: &'m Model) -> Option<Outward<'m>> {
        Some(Outward { turned: model.turned_components(Outward::find)? })
    }

    fn find(model: &Model) -> Option<Vec<bool>> {
        let topology = model.topology();
        if !topology.is_closed() {
            return None;
        }
        if topology.components().len() == 1 {
            return Some(vec![signed_volume(model) < 0.0]);
        }
        let mut tries: Vec<Vec<u32>> = vec![Vec::new(); topology.components().len()];
        for (triangle, &component) in parallel::in_turn(topology.component_of().iter().enumerate()) {
            let tries = &mut tries[component as usize];
            if tries.len() < TRIES && upright_axis(&model.mesh().corners(triangle as u32)).is_some() {
                tries.push(triangle as u32);
            }
        }
        let body = PlacedMesh::new(model, &Pose::IDENTITY);
        let turned = |tries: &Vec<u32>| tries.iter().find_map(|&t| is_turned(&body, t)).unwrap_or(false);
        Some(tries.iter().map(turned).collect())
    }

    /// Whether a triangle looks into the solid.
    #[inline]
    pub fn is_turned(&self, model: &Model, triangle: u32) -> bool {
        if let [one] = self.turned[..] {
            return one;
        }
        self.turned[model.topology().component_of()[triangle as usize] as usize]
    }
}

/// Six times the volume, to rounding: from the middle of the box, so that little cancels.
fn signed_volume(model: &Model) -> f64 {
    let mesh = model.mesh();
    let centre = mesh.corners(0)[0];
    let spanned = |t: u32| {
        let [a, b, c] = mesh.corners(t).map(|p: DVec3| p - centre);
        a.cross(b).dot(c)
    };
    parallel::in_turn(0..mesh.triangles().len() as u32).map(spanned).sum()
}

/// Whether a triangle looks into the solid; `None` where both its sides are in it, or none is.
fn is_turned(body: &PlacedMesh<'_>, triangle: u32) -> Option<bool> {
    let face = body.corners(triangle);
    let ([front, back], _) = windings_beside(body, &face, &corner_place(&face)?);
    match (front != 0, back != 0) {
        (false, true) => Some(false),
        (true, false) => Some(true),
        _ => None,
    }
}

/// A place at a triangle, beside its first corner and over its inside; `None` without an area.
pub(super) fn corner_place(face: &[DVec3; 3]) -> Option<PerturbedPoint> {
    let axis = upright_axis(face)?;
    let [a, b, c] = *face;
    let directions = [Direction::towards(a, b), Direction::towards(a, c), Direction::along(axis)];
    Some(PerturbedPoint { base: BasePoint::Corner(a), directions })
}

/// The windings in front of a triangle with an area and behind it, at a place just above it along its upright axis;
/// also how many triangles were asked.
pub(super) fn windings_beside(
    body: &PlacedMesh<'_>,
    face: &[DVec3; 3],
    place: &PerturbedPoint,
) -> ([i32; 2], u64) {
    let ([here, across], tests) = counted_windings_across(body, place);
    let [a, b, c] = *face;
    let mut above = DVec3::ZERO;
    above[upright_axis(face).unwrap_or(0)] = 1.0 + a.abs().max_element();
    let in_front = orient3d(a, b, c, a + above) == Sign::Positive;
    (if in_front { [here, across] } else { [across, here] }, tests)
}
