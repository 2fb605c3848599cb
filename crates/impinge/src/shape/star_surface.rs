//! Surfaces that are seen from one point as from the middle of a ball: every ray from it meets them once.
//!
//! Edges that are all convex do not make a body convex: two apexes over a pentagram have only convex edges, and the
//! surface winds around its middle twice. So a point is looked for that every triangle turns the same side to, and the
//! triangles across one ray from it are counted, as in Mehlhorn, Näher, Seel, Seidel, Schilz, Schirra and Uhrig,
//! "Checking geometric programs or verification of geometric structures", 1999. All sides are decided exactly.
//! Nothing here needs the topology of the mesh.

use glam::DVec3;

use super::Mesh;
use super::seams::Seams;
use crate::num::predicate::{Sign, orient3d};

/// A point that all triangles turn the same side to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Middle {
    /// Where it is.
    pub at: DVec3,
    /// Whether the triangles look towards it.
    pub inward: bool,
}

/// The mean of the corners, where it is such a point; no triangle has zero area then.
pub(crate) fn middle(mesh: &Mesh) -> Option<Middle> {
    let share = 1.0 / (3 * mesh.triangles().len()) as f64;
    let corners = (0..mesh.triangles().len() as u32).map(|t| mesh.corners(t));
    let at = corners.clone().flatten().map(|p| p * share).sum();
    let mut sides = corners.map(|[a, b, c]| orient3d(a, b, c, at));
    let side = sides.next()?;
    let all = side != Sign::Zero && sides.all(|other| other == side);
    all.then_some(Middle { at, inward: side == Sign::Positive })
}

/// Whether a ray from the middle of a closed surface meets one triangle only; false where it meets an edge.
///
/// All triangles turn the same side to the middle, so they cover the directions from it equally often everywhere.
pub(crate) fn winds_once(mesh: &Mesh, middle: &Middle) -> bool {
    // A point of the first triangle that lies in no plane of symmetry.
    let [a, b, c] = mesh.corners(0);
    let through = 0.41 * a + 0.36 * b + 0.23 * c;
    let ahead = if middle.inward { Sign::Negative } else { Sign::Positive };
    let crossed = |t: u32| {
        let corners = mesh.corners(t);
        [0, 1, 2].map(|k| orient3d(middle.at, through, corners[k], corners[(k + 1) % 3]))
    };
    let mut seen = 0;
    for t in 0..mesh.triangles().len() as u32 {
        let sides = crossed(t);
        if sides.iter().any(|&side| side == ahead.flip()) {
            continue;
        }
        if sides.contains(&Sign::Zero) {
            return false;
        }
        seen += 1;
    }
    seen == 1
}

/// Whether every edge has two triangles, in opposite directions, and if so, whether none of them is bent inward.
pub(crate) fn closed_and_convex(mesh: &Mesh, inward: bool) -> Option<bool> {
    let seams = Seams::new(mesh);
    let mut convex = true;
    let closed = seams.all_edges(|edge| {
        let &[p, q] = edge else { return false };
        let [a, b, c] = mesh.corners(p / 3);
        let apex = mesh.corners(q / 3)[(q as usize + 2) % 3];
        convex &= orient3d(a, b, c, apex) != if inward { Sign::Negative } else { Sign::Positive };
        seams.is_balanced(edge)
    });
    closed.then_some(convex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;

    /// Two apexes over a ring of points that winds around so many times.
    fn bipyramid(corners: u32, turns: u32) -> Mesh {
        let angle = |k: u32| f64::from(k * turns) / f64::from(corners) * std::f64::consts::TAU;
        let ring = (0..corners).map(|k| [angle(k).cos(), angle(k).sin(), 0.0]);
        let vertices = ring.chain([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]).collect();
        let sides = (0..corners).map(|k| [k, (k + 1) % corners]);
        let triangles = sides.flat_map(|[p, q]| [[p, q, corners], [q, p, corners + 1]]).collect();
        Mesh::new(vertices, triangles).unwrap()
    }

    fn is_convex(mesh: &Mesh) -> bool {
        middle(mesh).is_some_and(|middle| {
            closed_and_convex(mesh, middle.inward) == Some(true) && winds_once(mesh, &middle)
        })
    }

    fn turned(mesh: &Mesh) -> Mesh {
        let triangles = mesh.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
        Mesh::from_points(mesh.vertices().to_vec(), triangles).unwrap()
    }

    fn soup(mesh: &Mesh) -> Mesh {
        let corners = (0..mesh.triangles().len() as u32).flat_map(|t| mesh.corners(t)).collect();
        let triangles = (0..mesh.triangles().len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        Mesh::from_points(corners, triangles).unwrap()
    }

    #[test]
    fn convex_bodies_are_known_however_they_are_given() {
        for mesh in [
            bipyramid(5, 1),
            procedural::ico_sphere(1.0, 3).unwrap(),
            procedural::cuboid([1.0, 2.0, 3.0], [3, 2, 1]).unwrap(),
        ] {
            assert!([&mesh, &turned(&mesh), &soup(&mesh), &turned(&soup(&mesh))].into_iter().all(is_convex));
        }
    }

    #[test]
    fn convex_edges_are_not_enough() {
        let star = bipyramid(5, 2);
        let middle = middle(&star).unwrap();
        assert_eq!(closed_and_convex(&star, middle.inward), Some(true));
        assert!(!winds_once(&star, &middle) && !is_convex(&turned(&star)));
    }

    #[test]
    fn others_are_refused() {
        let open = {
            let mesh = procedural::ico_sphere(1.0, 1).unwrap();
            Mesh::from_points(mesh.vertices().to_vec(), mesh.triangles()[1..].to_vec()).unwrap()
        };
        let ball = procedural::ico_sphere(1.0, 1).unwrap();
        let twice = procedural::join([&ball, &procedural::ico_sphere(1.5, 1).unwrap()]).unwrap();
        let blob = procedural::blob(1.0, 0.3, 2, 9).unwrap();
        assert_eq!(closed_and_convex(&blob, false), Some(false));
        for mesh in [
            open,
            twice,
            blob,
            procedural::torus(1.0, 0.3, 12, 8).unwrap(),
            procedural::stairs(3, 1.0, 2.0, 1.0).unwrap(),
            Mesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2], [0, 2, 1]]).unwrap(),
        ] {
            assert!(!is_convex(&mesh));
        }
    }
}
