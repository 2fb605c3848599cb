//! How the surface of a mesh bends at its edges: what the Voronoi regions of edges and vertices need, found once.

use std::sync::Arc;

use crate::Budget;
use crate::model::Model;
use crate::num::tolerance::CREASE;
use crate::shape::topology::Side;

/// Stands for a side without a neighbour.
pub(super) const NO_VERTEX: u32 = u32::MAX;

/// How the surface bends over a side of a triangle, seen from where its normal points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bend {
    Flat,
    /// A ridge.
    Convex,
    /// A valley.
    Concave,
    /// The surface ends here, or more than two triangles meet.
    Border,
}

impl Bend {
    /// The same seen from the other side of the surface.
    pub fn seen(self, from_behind: bool) -> Bend {
        match self {
            Bend::Convex if from_behind => Bend::Concave,
            Bend::Concave if from_behind => Bend::Convex,
            other => other,
        }
    }

    /// Whether the edge has a region of its own outside of the surface.
    pub fn is_sharp(self) -> bool {
        matches!(self, Bend::Convex | Bend::Border)
    }
}

/// What lies across the side of a triangle from a corner to the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crease {
    pub bend: Bend,
    /// The triangle across; the triangle itself where there is none.
    pub across: u32,
    /// The corner of it that is not on the side; [`NO_VERTEX`] where there is none.
    pub apex: u32,
}

/// The creases of a mesh.
pub(super) struct Creases {
    sides: Vec<[Crease; 3]>,
    /// For each vertex whether a sharp edge ends there, seen from the front and from behind.
    sharp: Vec<[bool; 2]>,
}

impl Creases {
    /// Those of a mesh; `None` when the budget ends first.
    pub fn of(model: &Model, budget: &mut Budget) -> Option<Arc<Creases>> {
        model.attached(2 * model.mesh().triangles().len() as u64, budget, Creases::new)
    }

    fn new(model: &Model) -> Creases {
        let (mesh, topology) = (model.mesh(), model.topology());
        let crease = |triangle: u32, corner: u8| {
            let none = Crease { bend: Bend::Border, across: triangle, apex: NO_VERTEX };
            let Some(across) = topology.across(Side { triangle, corner }) else { return none };
            let own = topology.triangles()[triangle as usize];
            let theirs = topology.triangles()[across as usize];
            let Some(k) = (0..3).find(|&k| !own.contains(&theirs[k])) else { return none };
            let [a, b, c] = mesh.corners(triangle);
            let (normal, over) = ((b - a).cross(c - a), mesh.corners(across)[k] - a);
            let rise = normal.dot(over);
            let bend = if rise.abs() <= CREASE * normal.length() * over.length() {
                let [p, q, r] = mesh.corners(across);
                let turned = if is_turned(&own, &theirs, usize::from(corner)) { -1.0 } else { 1.0 };
                // Folded back onto itself it ends here.
                if turned * normal.dot((q - p).cross(r - p)) < 0.0 { Bend::Border } else { Bend::Flat }
            } else if rise < 0.0 {
                Bend::Convex
            } else {
                Bend::Concave
            };
            Crease { bend, across, apex: mesh.triangles()[across as usize][k] }
        };
        let count = mesh.triangles().len() as u32;
        let sides: Vec<[Crease; 3]> = (0..count).map(|t| [0, 1, 2].map(|k| crease(t, k))).collect();
        let mut of_weld = vec![[false; 2]; topology.weld().count()];
        for (corners, sides) in topology.triangles().iter().zip(&sides) {
            for k in 0..3 {
                for v in [corners[k], corners[(k + 1) % 3]] {
                    for (side, sharp) in of_weld[v as usize].iter_mut().enumerate() {
                        *sharp |= sides[k].bend.seen(side == 1).is_sharp();
                    }
                }
            }
        }
        let vertices = mesh.vertices().len() as u32;
        let sharp = (0..vertices).map(|v| of_weld[topology.weld().welded(v) as usize]).collect();
        Creases { sides, sharp }
    }

    pub fn sides(&self, triangle: u32) -> &[Crease; 3] {
        &self.sides[triangle as usize]
    }

    /// Whether a sharp edge ends at a vertex.
    pub fn is_sharp(&self, vertex: u32, from_behind: bool) -> bool {
        self.sharp[vertex as usize][usize::from(from_behind)]
    }
}

/// Whether a neighbour uses the common side in the same direction: the triangles face opposite ways.
fn is_turned(own: &[u32; 3], theirs: &[u32; 3], side: usize) -> bool {
    let (from, to) = (own[side], own[(side + 1) % 3]);
    (0..3).any(|k| theirs[k] == from && theirs[(k + 1) % 3] == to)
}
