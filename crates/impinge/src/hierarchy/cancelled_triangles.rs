//! Triangles of a mesh that cancel each other: copies with the same three corners, as many one way round as the other.
//!
//! No surface winds around anything because of them, wherever it is placed: they are folds without volume, which scans
//! and merged meshes have. Where two solids meet in such triangles only, the rest of their surfaces decides.

use super::component_extremes::ComponentExtremes;
use super::wide::TreeFrame;
use crate::Mesh;
use crate::num::disjoint_sets::DisjointSets;
use crate::num::parallel::in_turn;
use crate::shape::Topology;

/// The triangles of a mesh that cancel each other, and how far the others reach.
#[derive(Debug, Clone, PartialEq)]
pub struct CancelledTriangles {
    /// Those triangles, ascending.
    cancelled: Vec<u32>,
    rest: ComponentExtremes,
}

impl CancelledTriangles {
    /// Compares the triangles at each corner; `None` where none cancel each other, or all do.
    pub fn new(mesh: &Mesh, frame: &TreeFrame, topology: &Topology) -> Option<CancelledTriangles> {
        if topology.census().duplicate_triangles == 0 {
            return None;
        }
        let cancelled = find(topology);
        let left = || in_turn(topology.triangles()).enumerate().map(|(t, corners)| (t as u32, corners));
        let is_left = |(t, _): &(u32, &[u32; 3])| cancelled.binary_search(t).is_err();
        // The rest may hang together through what is left out.
        let mut sets = DisjointSets::new(topology.weld().count());
        for (_, &[a, b, c]) in left().filter(is_left) {
            sets.join(a as usize, b as usize);
            sets.join(b as usize, c as usize);
        }
        let mut component_of = vec![None; topology.weld().count()];
        let mut count = 0;
        let mut components = Vec::with_capacity(topology.triangles().len() - cancelled.len());
        for (t, corners) in left().filter(is_left) {
            let component = component_of[sets.root(corners[0] as usize)].get_or_insert_with(|| {
                count += 1;
                count - 1
            });
            components.push((t, *component));
        }
        if cancelled.is_empty() || components.is_empty() {
            return None;
        }
        let rest = ComponentExtremes::among(mesh, frame, components.into_iter(), count as usize);
        Some(CancelledTriangles { cancelled, rest })
    }

    /// Whether a triangle is cancelled by copies of it.
    pub fn contains(&self, triangle: u32) -> bool {
        self.cancelled.binary_search(&triangle).is_ok()
    }

    /// The extreme corners of the components of all other triangles.
    pub fn rest(&self) -> &ComponentExtremes {
        &self.rest
    }
}

/// The triangles whose copies are as often one way round as the other, ascending.
fn find(topology: &Topology) -> Vec<u32> {
    let mut cancelled = Vec::new();
    for (t, corners) in (0..).zip(in_turn(topology.triangles())) {
        let [a, b, c] = *corners;
        if a == b || b == c || c == a {
            continue;
        }
        // 1 for the same way round, −1 for the other.
        let way = |u: &u32| match topology.triangles()[*u as usize] {
            other if other == [a, b, c] || other == [b, c, a] || other == [c, a, b] => 1,
            other if other == [c, b, a] || other == [b, a, c] || other == [a, c, b] => -1,
            _ => 0,
        };
        if topology.around(a).iter().map(way).sum::<i32>() == 0 {
            cancelled.push(t);
        }
    }
    cancelled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::wide::WideTree;
    use crate::shape::procedural;

    fn cancelled(triangles: &[[u32; 3]]) -> Option<Vec<u32>> {
        let ball = procedural::ico_sphere(1.0, 1).unwrap();
        let all = ball.triangles().iter().chain(triangles).copied().collect();
        let mesh = Mesh::from_points(ball.vertices().to_vec(), all).unwrap();
        let tree = WideTree::build(&mesh);
        let first = ball.triangles().len() as u32;
        let found = CancelledTriangles::new(&mesh, tree.frame(), &Topology::of(&mesh))?;
        assert!(
            (0..first + triangles.len() as u32).all(|t| found.contains(t) == found.cancelled.contains(&t))
        );
        Some(found.cancelled.iter().map(|t| t.wrapping_sub(first)).collect())
    }

    #[test]
    fn copies_cancel_that_go_as_often_one_way_round_as_the_other() {
        // No triangle of the ball has these corners.
        let [a, b, c] = [0, 1, 2];
        assert_eq!(cancelled(&[]), None);
        assert_eq!(cancelled(&[[a, b, c], [b, c, a]]), None);
        assert_eq!(cancelled(&[[a, b, c], [c, b, a]]), Some(vec![0, 1]));
        assert_eq!(cancelled(&[[a, b, c], [a, c, b], [b, c, a]]), None);
        assert_eq!(cancelled(&[[a, b, c], [a, c, b], [b, c, a], [b, a, c]]), Some(vec![0, 1, 2, 3]));
        // A flat fold of two triangles, one of them a collapsed one.
        assert_eq!(cancelled(&[[a, b, c], [c, b, a], [a, a, b], [a, b, b]]), Some(vec![0, 1]));
    }
}
