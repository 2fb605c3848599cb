//! Where a piece could be cut.
//!
//! A reflex edge (a *notch*, Chazelle, "Convex partitions of polyhedra", 1984) is resolved by a cut along
//! one of its two faces; a gap between two arms by a cut along any face that borders it. Smooth concave
//! bodies have no such face that serves, so planes across the axes are tried as well.

use glam::DVec3;

use super::bounds;
use super::piece::{Piece, Plane};
use crate::Mesh;
use crate::model::Model;
use crate::num::predicate::{Sign, orient3d};
use crate::num::tolerance::SAME_PLANE;

/// Planes along faces at notches, and along other faces, that are tried for one cut.
const FACES: usize = 16;
/// Planes across each axis that are tried for one cut.
const ACROSS: usize = 5;

/// An edge at which the solid is not convex.
pub(super) struct Notch {
    /// Vertices of the mesh.
    ends: [u32; 2],
    triangles: [u32; 2],
    /// Its length times the sine of the angle that is missing.
    pub(super) weight: f64,
}

/// The notches of an oriented mesh that are deeper than `slack`; `inward` says that its triangles look into the
/// solid.
pub(super) fn notches(model: &Model, inward: bool, slack: f64) -> Vec<Notch> {
    let (mesh, topology) = (model.mesh(), model.topology());
    let mut found = Vec::new();
    for (edge, ends) in topology.edges().iter().enumerate() {
        let [a, b] = topology.sides(edge as u32) else { continue };
        let [t, u] = [a.triangle, b.triangle];
        let corners = mesh.corners(t);
        let opposite = mesh.corners(u)[(usize::from(b.corner) + 2) % 3];
        let above = orient3d(corners[0], corners[1], corners[2], opposite);
        if (if inward { above.flip() } else { above }) != Sign::Positive {
            continue;
        }
        if normal(mesh, t).dot(opposite - corners[0]).abs() <= slack {
            continue;
        }
        let ends = ends.map(|welded| topology.weld().first(welded));
        let [p, q] = ends.map(|v| mesh.vertices()[v as usize]);
        let weight = normal(mesh, t).cross(normal(mesh, u)).length() * p.distance(q);
        found.push(Notch { ends, triangles: [t, u], weight });
    }
    found
}

fn normal(mesh: &Mesh, triangle: u32) -> DVec3 {
    let [a, b, c] = mesh.corners(triangle);
    (b - a).cross(c - a).normalize_or_zero()
}

/// The notches of a piece, and the planes worth trying, the most promising first; no two are the same.
pub(super) fn candidates<'n>(
    piece: &Piece,
    mesh: &Mesh,
    notches: &'n [Notch],
    slack: f64,
) -> (Vec<&'n Notch>, Vec<Plane>) {
    let mut planes = Vec::new();
    let mut open: Vec<&Notch> =
        notches.iter().filter(|notch| open_part(notch, mesh, piece, slack) > 0.0).collect();
    open.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    for triangle in open.iter().flat_map(|notch| notch.triangles) {
        if planes.len() == FACES {
            break;
        }
        add(&mut planes, face(mesh, triangle, slack));
    }
    let mut areas: Vec<(f64, u32)> = piece.areas().collect();
    areas.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (_, triangle) in areas {
        if planes.len() >= 2 * FACES {
            break;
        }
        add(&mut planes, face(mesh, triangle, slack));
    }
    let [low, high] = bounds(piece.points().iter().copied());
    for k in 1..=ACROSS {
        let at = low + (high - low) * (k as f64 / (ACROSS + 1) as f64);
        for normal in DVec3::AXES {
            add(&mut planes, Some(Plane { normal, offset: normal.dot(at), slack }));
        }
    }
    (open, planes)
}

/// The weight of what the piece has of some notches.
pub(super) fn open_weight(notches: &[&Notch], mesh: &Mesh, piece: &Piece, slack: f64) -> f64 {
    notches.iter().map(|notch| notch.weight * open_part(notch, mesh, piece, slack)).sum()
}

/// The share of a notch that lies in the piece and not in one of its cuts.
fn open_part(notch: &Notch, mesh: &Mesh, piece: &Piece, slack: f64) -> f64 {
    let [p, q] = notch.ends.map(|v| mesh.vertices()[v as usize]);
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for plane in piece.cuts() {
        let (hp, hq) = (plane.height(p), plane.height(q));
        if hp.min(hq) >= -slack {
            return 0.0;
        }
        if hp > 0.0 {
            from = from.max(hp / (hp - hq));
        }
        if hq > 0.0 {
            to = to.min(hp / (hp - hq));
        }
    }
    if (to - from) * p.distance(q) > slack { to - from } else { 0.0 }
}

fn face(mesh: &Mesh, triangle: u32, slack: f64) -> Option<Plane> {
    let normal = normal(mesh, triangle);
    let offset = normal.dot(mesh.corners(triangle)[0]);
    (normal != DVec3::ZERO).then_some(Plane { normal, offset, slack })
}

fn add(planes: &mut Vec<Plane>, plane: Option<Plane>) {
    let Some(plane) = plane else { return };
    let same = |other: &Plane| {
        let turn = other.normal.dot(plane.normal).signum();
        (other.normal * turn - plane.normal).length() < SAME_PLANE
            && (other.offset * turn - plane.offset).abs() <= other.slack
    };
    if !planes.iter().any(same) {
        planes.push(plane);
    }
}
