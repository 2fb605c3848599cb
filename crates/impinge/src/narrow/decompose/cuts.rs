//! Where a piece could be cut.
//!
//! A reflex edge (a *notch*, Chazelle, "Convex partitions of polyhedra", 1984) is resolved by a cut along
//! one of its two faces; a gap between two arms by a cut along any face that borders it. Smooth concave
//! bodies have no such face that serves, so planes across the axes are tried as well.

use glam::DVec3;

use super::bounds;
use super::piece::{Piece, Plane};
use crate::Mesh;
use crate::num::compact_sort::sort_rarely;
use crate::num::predicate::{Sign, orient3d};
use crate::num::tolerance::SAME_PLANE;
use crate::shape::seams::Seams;

/// Planes along faces at notches, and along other faces, that are tried for one cut.
const FACES: usize = 16;
/// Planes across each axis that are tried for one cut.
const ACROSS: usize = 5;

/// An edge at which the solid is not convex.
pub(super) struct Notch {
    /// Its sides as [`Seams`] names them, the forward one first.
    sides: [u32; 2],
    /// Its length times the sine of the angle that is missing.
    pub(super) weight: f64,
}

impl Notch {
    fn ends(&self, mesh: &Mesh) -> [DVec3; 2] {
        let (corners, k) = (mesh.corners(self.sides[0] / 3), self.sides[0] as usize % 3);
        [corners[k], corners[(k + 1) % 3]]
    }

    /// Ascending.
    fn triangles(&self) -> [u32; 2] {
        let [t, u] = self.sides.map(|side| side / 3);
        [t.min(u), t.max(u)]
    }
}

/// The notches of a mesh that are deeper than `slack`; `inward` says that its triangles look into the solid. `None` where
/// it is not closed.
pub(super) fn notches(mesh: &Mesh, seams: &Seams<'_>, inward: bool, slack: f64) -> Option<Vec<Notch>> {
    let mut found = Vec::new();
    let closed = seams.all_edges(|edge| {
        if let &[p, q] = edge {
            let corners = mesh.corners(p / 3);
            let opposite = mesh.corners(q / 3)[(q as usize + 2) % 3];
            let above = orient3d(corners[0], corners[1], corners[2], opposite);
            if (if inward { above.flip() } else { above }) == Sign::Positive
                && normal(mesh, p / 3).dot(opposite - corners[0]).abs() > slack
            {
                let sides = if seams.is_forward(p) { [p, q] } else { [q, p] };
                let mut notch = Notch { sides, weight: 0.0 };
                let ([t, u], [from, to]) = (notch.triangles(), notch.ends(mesh));
                notch.weight = normal(mesh, t).cross(normal(mesh, u)).length() * from.distance(to);
                found.push(notch);
            }
        }
        seams.is_balanced(edge)
    });
    found.shrink_to_fit();
    closed.then_some(found)
}

fn normal(mesh: &Mesh, triangle: u32) -> DVec3 {
    let [a, b, c] = mesh.corners(triangle);
    (b - a).cross(c - a).normalize_or_zero()
}

/// The notches of a piece by their numbers, and the planes worth trying, the most promising first; no two are the same.
pub(super) fn candidates(
    piece: &Piece,
    mesh: &Mesh,
    notches: &[Notch],
    slack: f64,
) -> (Vec<u32>, Vec<Plane>) {
    let mut planes = Vec::new();
    let notch = |k: &u32| &notches[*k as usize];
    let mut own = piece.triangles().to_vec();
    own.sort_unstable();
    // Cuts tell apart what lies on their sides, not what lies beside the piece.
    let is_own = |k: &u32| notch(k).triangles().iter().all(|t| own.binary_search(t).is_ok());
    let mut open: Vec<u32> = (0..notches.len() as u32)
        .filter(|k| is_own(k) && open_part(notch(k), mesh, piece, slack) > 0.0)
        .collect();
    drop(own);
    open.shrink_to_fit();
    sort_rarely(&mut open, |a, b| notch(b).weight.total_cmp(&notch(a).weight).then(a.cmp(b)));
    for triangle in open.iter().flat_map(|k| notch(k).triangles()) {
        if planes.len() == FACES {
            break;
        }
        add(&mut planes, face(mesh, triangle, slack));
    }
    let mut areas: Vec<(f64, u32)> = piece.areas().collect();
    sort_rarely(&mut areas, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
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
pub(super) fn open_weight<'n>(
    notches: impl Iterator<Item = &'n Notch>,
    mesh: &Mesh,
    piece: &Piece,
    slack: f64,
) -> f64 {
    notches.map(|notch| notch.weight * open_part(notch, mesh, piece, slack)).sum()
}

/// The share of a notch that lies in the piece and not in one of its cuts.
fn open_part(notch: &Notch, mesh: &Mesh, piece: &Piece, slack: f64) -> f64 {
    let [p, q] = notch.ends(mesh);
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
