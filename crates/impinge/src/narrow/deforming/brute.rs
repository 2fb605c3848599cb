//! Every vertex against every face and every edge against every other, in exact arithmetic: the slow twin.

use super::{Deforming, MovingContact};
use crate::geom::moving::{FeaturePairKind, first_contact_exact, first_within};

/// As [`super::self_contacts`].
pub fn self_contacts(mesh: &Deforming) -> Vec<MovingContact> {
    self_contacts_within(mesh, 0.0)
}

/// The features of a mesh that come within a separation of each other.
pub fn self_contacts_within(mesh: &Deforming, separation: f64) -> Vec<MovingContact> {
    let (vertices, edges, faces) = features(mesh);
    let mut all = Vec::new();
    for &v in &vertices {
        for &[a, b, c] in faces.iter().filter(|face| !face.contains(&v)) {
            all.extend(contact([mesh; 4], FeaturePairKind::VertexFace, false, [v, a, b, c], separation));
        }
    }
    for (i, &[a, b]) in edges.iter().enumerate() {
        for &[c, d] in &edges[i + 1..] {
            if a != c && a != d && b != c && b != d {
                all.extend(contact([mesh; 4], FeaturePairKind::EdgeEdge, false, [a, b, c, d], separation));
            }
        }
    }
    sorted(all)
}

/// As [`super::contacts`].
pub fn contacts(a: &Deforming, b: &Deforming) -> Vec<MovingContact> {
    let mut all = Vec::new();
    for (x, y, swapped) in [(a, b, false), (b, a, true)] {
        let ((vertices, ..), (.., faces)) = (features(x), features(y));
        for &v in &vertices {
            for &[f, g, h] in &faces {
                all.extend(contact([x, y, y, y], FeaturePairKind::VertexFace, swapped, [v, f, g, h], 0.0));
            }
        }
    }
    let ((_, edges_a, _), (_, edges_b, _)) = (features(a), features(b));
    for &[c, d] in &edges_a {
        for &[e, f] in &edges_b {
            all.extend(contact([a, a, b, b], FeaturePairKind::EdgeEdge, false, [c, d, e, f], 0.0));
        }
    }
    sorted(all)
}

/// Vertices of triangles, edges with the smaller end first, and faces, each once and ascending.
fn features(mesh: &Deforming) -> (Vec<u32>, Vec<[u32; 2]>, Vec<[u32; 3]>) {
    let faces = mesh.start().triangles().to_vec();
    let mut vertices = faces.concat();
    vertices.sort_unstable();
    vertices.dedup();
    let sides = faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut edges: Vec<_> = sides.filter(|[a, b]| a != b).map(|[a, b]| [a.min(b), a.max(b)]).collect();
    edges.sort_unstable();
    edges.dedup();
    (vertices, edges, faces)
}

fn contact(
    meshes: [&Deforming; 4],
    kind: FeaturePairKind,
    swapped: bool,
    vertices: [u32; 4],
    separation: f64,
) -> Option<MovingContact> {
    let [t0, t1] = [Deforming::start, Deforming::end]
        .map(|state| std::array::from_fn(|i| state(meshes[i]).vertices()[vertices[i] as usize]));
    let time = if separation > 0.0 {
        first_within(kind, &t0, &t1, separation)
    } else {
        first_contact_exact(kind, &t0, &t1)
    };
    time.map(|time| MovingContact { time, kind, swapped, vertices })
}

fn sorted(mut all: Vec<MovingContact>) -> Vec<MovingContact> {
    all.sort_unstable_by_key(MovingContact::place);
    all.dedup_by_key(|contact| contact.place());
    all
}
