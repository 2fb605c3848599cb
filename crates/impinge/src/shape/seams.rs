//! The edges of a mesh one after the other, for those who need its topology once and little memory: 12 bytes for each
//! triangle and 12 for each vertex while they are gone through, a sixth of a [`Topology`](super::Topology).
//!
//! Edges, their order and their numbers are those of the topology: of welded vertices, without collapsed triangles, by
//! a counting sort on their smaller end and short sorts within.

use super::Mesh;
use super::weld::Weld;
use crate::num::disjoint_sets::DisjointSets;
use crate::num::parallel::in_turn;

/// The welded vertices of a mesh. A side is named by a number: three times its triangle plus the corner it starts at.
pub(crate) struct Seams<'m> {
    mesh: &'m Mesh,
    weld: Weld,
}

impl<'m> Seams<'m> {
    /// Welds the mesh.
    pub(crate) fn new(mesh: &'m Mesh) -> Seams<'m> {
        Seams { mesh, weld: Weld::of(mesh.vertices()) }
    }

    /// Goes through the edges in ascending order of their ends, each with all its sides, those in the direction from the
    /// smaller end to the larger one and the others, ascending; false as soon as `each` is.
    pub(crate) fn all_edges(&self, mut each: impl FnMut(&[u32]) -> bool) -> bool {
        let sound = |&side: &u32| {
            let [a, b, c] = self.welded(side / 3);
            a != b && b != c && c != a
        };
        let sides = || in_turn(0..3 * self.mesh.triangles().len() as u32).filter(sound);
        // Where the sides of each smaller end begin; where they end, once all are there.
        let mut place = vec![0_u32; self.weld.count() + 1];
        for side in sides() {
            place[self.ends(side)[0] as usize + 1] += 1;
        }
        for k in 1..place.len() {
            place[k] += place[k - 1];
        }
        let mut sorted = vec![0_u32; place[self.weld.count()] as usize];
        for side in sides() {
            let to = &mut place[self.ends(side)[0] as usize];
            sorted[*to as usize] = side;
            *to += 1;
        }
        let mut first = 0;
        in_turn(&place[..self.weld.count()]).all(|&end| {
            let bucket = &mut sorted[first..end as usize];
            first = end as usize;
            bucket.sort_unstable_by_key(|&side| (self.ends(side)[1], side));
            bucket.chunk_by(|&p, &q| self.ends(p)[1] == self.ends(q)[1]).all(&mut each)
        })
    }

    /// Whether every edge is used as often in one direction as in the other.
    pub(crate) fn is_balanced(&self, edge: &[u32]) -> bool {
        2 * edge.iter().filter(|&&side| self.is_forward(side)).count() == edge.len()
    }

    /// Whether a side starts at the smaller end of its edge.
    pub(crate) fn is_forward(&self, side: u32) -> bool {
        self.welded(side / 3)[side as usize % 3] == self.ends(side)[0]
    }

    /// The triangles of each connected part, in the order of their first triangles.
    pub(crate) fn components(&self) -> Vec<Vec<u32>> {
        let count = self.mesh.triangles().len() as u32;
        let mut forest = DisjointSets::new(self.weld.count());
        for t in in_turn(0..count) {
            let [a, b, c] = self.welded(t).map(|v| v as usize);
            forest.join(a, b);
            forest.join(a, c);
        }
        let mut of = |t: u32| forest.root(self.welded(t)[0] as usize);
        // The number of the part of each root, and how many triangles each part has.
        let (mut number, mut sizes) = (vec![u32::MAX; self.weld.count()], Vec::new());
        for t in in_turn(0..count) {
            let number = &mut number[of(t)];
            if *number == u32::MAX {
                *number = sizes.len() as u32;
                sizes.push(0);
            }
            sizes[*number as usize] += 1;
        }
        let mut parts: Vec<Vec<u32>> = sizes.into_iter().map(Vec::with_capacity).collect();
        in_turn(0..count).for_each(|t| parts[number[of(t)] as usize].push(t));
        parts
    }

    fn welded(&self, triangle: u32) -> [u32; 3] {
        self.mesh.triangles()[triangle as usize].map(|v| self.weld.welded(v))
    }

    /// The ends of the edge of a side, the smaller first.
    fn ends(&self, side: u32) -> [u32; 2] {
        let corners = self.welded(side / 3);
        let [a, b] = [corners[side as usize % 3], corners[(side as usize + 1) % 3]];
        [a.min(b), a.max(b)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Topology, procedural};

    #[test]
    fn edges_and_components_are_those_of_the_topology() {
        let ball = procedural::ico_sphere(0.3, 1).unwrap();
        let mut with_collapsed = ball.triangles().to_vec();
        with_collapsed.extend([[0, 1, 1], [2, 2, 2], [3, 4, 3]]);
        let open = Mesh::from_points(ball.vertices().to_vec(), ball.triangles()[3..].to_vec()).unwrap();
        for mesh in [
            procedural::join([&procedural::torus(1.0, 0.3, 9, 6).unwrap(), &ball, &ball]).unwrap(),
            Mesh::from_points(ball.vertices().to_vec(), with_collapsed).unwrap(),
            procedural::join([&open, &procedural::stairs(3, 1.0, 2.0, 1.0).unwrap()]).unwrap(),
        ] {
            let (seams, topology) = (Seams::new(&mesh), Topology::of(&mesh));
            let mut edge = 0;
            let mut unbalanced = 0;
            assert!(seams.all_edges(|sides| {
                let known = topology.sides(edge).iter().map(|s| 3 * s.triangle + u32::from(s.corner));
                assert!(sides.iter().copied().eq(known));
                unbalanced += usize::from(!seams.is_balanced(sides));
                edge += 1;
                true
            }));
            assert_eq!(
                (edge as usize, unbalanced),
                (topology.edges().len(), topology.census().unbalanced_edges)
            );
            let parts = seams.components();
            assert_eq!(parts.len(), topology.components().len());
            for (k, part) in parts.iter().enumerate() {
                assert!(part.is_sorted() && part.capacity() == part.len());
                assert!(part.iter().all(|&t| topology.component_of()[t as usize] as usize == k));
            }
            assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), mesh.triangles().len());
            assert!(!seams.all_edges(|_| false));
        }
    }
}
