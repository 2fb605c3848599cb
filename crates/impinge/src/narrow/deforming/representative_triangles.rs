//! Which triangle answers for each vertex and edge, so that no pair of features is tested twice.

use crate::Mesh;
use crate::num::parallel;

/// For each triangle, which of its vertices and edges are its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RepresentativeTriangles {
    /// Bits 0..3: vertices; bits 3..6: the edges that begin there.
    owned: Vec<u8>,
}

impl RepresentativeTriangles {
    /// The first triangle of the file that has a vertex or an edge owns it. An edge of a vertex with itself is
    /// none.
    pub(super) fn of(mesh: &Mesh) -> RepresentativeTriangles {
        let mut owned = vec![0; mesh.triangles().len()];
        let mut has_owner = vec![false; mesh.vertices().len()];
        let mut sides = Vec::with_capacity(3 * mesh.triangles().len());
        for (t, corners) in mesh.triangles().iter().enumerate() {
            for (k, &v) in corners.iter().enumerate() {
                owned[t] |= u8::from(!std::mem::replace(&mut has_owner[v as usize], true)) << k;
                let w = corners[(k + 1) % 3];
                if v != w {
                    sides.push((v.min(w), v.max(w), t as u32, k as u8));
                }
            }
        }
        parallel::sort(&mut sides);
        let mut last = None;
        for (v, w, t, k) in sides {
            if last.replace((v, w)) != Some((v, w)) {
                owned[t as usize] |= 8 << k;
            }
        }
        RepresentativeTriangles { owned }
    }

    /// The corners of a triangle whose vertices are its own.
    #[inline]
    pub(super) fn vertices(&self, triangle: u32) -> impl Iterator<Item = usize> + Clone {
        bits(self.owned[triangle as usize])
    }

    /// The corners of a triangle at which edges of its own begin.
    #[inline]
    pub(super) fn edges(&self, triangle: u32) -> impl Iterator<Item = usize> + Clone {
        bits(self.owned[triangle as usize] >> 3)
    }
}

#[inline]
fn bits(mask: u8) -> impl Iterator<Item = usize> + Clone {
    (0..3).filter(move |k| mask >> k & 1 != 0)
}
