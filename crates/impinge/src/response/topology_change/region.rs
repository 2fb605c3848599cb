//! What is taken out of a surface where its vertices collide, and what is put in its place.

use super::collisions::Cluster;
use super::{SurfaceEvent, fault};
use crate::model::Model;
use crate::narrow::exact::winding::{Winding, counted_winding};
use crate::num::tolerance::FOOT_ERROR;
use crate::shape::hole_filling::{Patchwork, Piece};
use crate::{Mesh, Pose};

/// Rings of triangles by which a region grows at most until it can be replaced.
const MOST_GROWTH: usize = 4;

/// Triangles of a piece that are asked whether it is buried in another part.
const SAMPLES: usize = 9;

/// The surface after the collisions of one cluster are resolved, its mesh, and what happened; `None` where it cannot
/// be done soundly.
pub(super) fn resolve(
    surface: &Patchwork,
    model: &Model,
    cluster: &Cluster,
) -> Option<(Patchwork, Mesh, SurfaceEvent)> {
    let mut marked = vec![false; surface.vertices.len()];
    cluster.vertices.iter().for_each(|&v| marked[v as usize] = true);
    for _ in 0..=MOST_GROWTH {
        let mut region: Vec<bool> =
            surface.triangles.iter().map(|t| t.iter().any(|&v| marked[v as usize])).collect();
        if !cluster.inside {
            bury(surface, model, &mut region);
        }
        if let Some(found) = replace(surface, cluster, &region) {
            return Some(found);
        }
        let grown = surface.triangles.iter().zip(&region).filter(|(_, inside)| **inside);
        grown.for_each(|(t, _)| t.iter().for_each(|&v| marked[v as usize] = true));
    }
    None
}

/// Adds to a region the pieces of the surface that it surrounds and that lie within another part: what met there has
/// passed through.
fn bury(surface: &Patchwork, model: &Model, region: &mut [bool]) {
    let rest: Vec<bool> = region.iter().map(|inside| !inside).collect();
    let count = rest.iter().filter(|rest| **rest).count();
    for piece in surface.pieces(&rest) {
        let is_bordered = piece.loops.as_ref().is_none_or(|loops| !loops.is_empty());
        if is_bordered && 2 * piece.triangles.len() <= count && is_buried(model, &piece) {
            piece.triangles.iter().for_each(|&t| region[t as usize] = true);
        }
    }
}

/// Whether most of a piece, seen from just outside of it, lies inside the surface.
fn is_buried(model: &Model, piece: &Piece) -> bool {
    let step = piece.triangles.len().div_ceil(SAMPLES);
    let asked = piece.triangles.iter().step_by(step);
    let (mut buried, mut free) = (0, 0);
    for &t in asked {
        let [a, b, c] = model.mesh().corners(t);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let beside = (a + b + c) / 3.0 + normal * (FOOT_ERROR * (b - a).length().max((c - a).length()));
        match counted_winding(model, &Pose::IDENTITY, beside).0 {
            Winding::Off(0) => free += 1,
            _ => buried += 1,
        }
    }
    buried > free
}

/// Takes a region out and closes what is open then.
fn replace(
    surface: &Patchwork,
    cluster: &Cluster,
    region: &[bool],
) -> Option<(Patchwork, Mesh, SurfaceEvent)> {
    let mut pieces = surface.pieces(region);
    // Where more than two parts meet, the two that are nearest come first.
    let has =
        |piece: &Piece, v: u32| piece.triangles.iter().any(|&t| surface.triangles[t as usize].contains(&v));
    pieces.retain(|piece| cluster.nearest.iter().any(|&v| has(piece, v)));
    let mut removed = vec![false; region.len()];
    pieces.iter().flat_map(|piece| &piece.triangles).for_each(|&t| removed[t as usize] = true);
    let mut open = surface.clone();
    open.remove(&removed);
    let [u, v] = cluster.nearest.map(|v| surface.vertices[v as usize]);
    let at = u.midpoint(v);
    match &pieces[..] {
        [one, other] if !cluster.inside && one.is_disk() && other.is_disk() => {
            let borders = [one, other].map(|piece| piece.loops.as_ref().and_then(|loops| loops.first()));
            let [Some(a), Some(b)] = borders else { return None };
            banded(&open, a, b, SurfaceEvent::Merged(at))
        }
        [one] if one.is_ring() => {
            let [a, b] = &one.loops.as_ref()?[..] else { return None };
            let ladder = open.ladder(a, b);
            if open.cap_area(a) + open.cap_area(b) <= open.band_area(&ladder) {
                let mut capped = open;
                capped.cap(a);
                capped.cap(b);
                let event = if cluster.inside { SurfaceEvent::Split(at) } else { SurfaceEvent::Closed(at) };
                sound(capped, event)
            } else if cluster.inside {
                None
            } else {
                banded(&open, a, b, SurfaceEvent::Widened(at))
            }
        }
        _ => None,
    }
}

/// Two borders joined by a band, with halved rungs where plain ones are not sound.
fn banded(
    open: &Patchwork,
    a: &[u32],
    b: &[u32],
    event: SurfaceEvent,
) -> Option<(Patchwork, Mesh, SurfaceEvent)> {
    let ladder = open.ladder(a, b);
    [false, true].into_iter().find_map(|halved| {
        let mut joined = open.clone();
        joined.band(&ladder, halved);
        sound(joined, event)
    })
}

/// The surface with its mesh, if that is closed, manifold, oriented and without triangles of no area.
fn sound(mut surface: Patchwork, event: SurfaceEvent) -> Option<(Patchwork, Mesh, SurfaceEvent)> {
    surface.compact();
    let mesh = Mesh::from_points(surface.vertices.clone(), surface.triangles.clone()).ok()?;
    fault(&mesh).is_none().then_some((surface, mesh, event))
}
