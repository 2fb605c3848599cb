//! Holes in a closed surface from which triangles were taken out: their border loops, and new triangles that close
//! each by a cap or join two by a band.
//!
//! A band is the ladder of least summed squared rungs between two loops, found by dynamic programming as the least area
//! is by Fuchs, Kedem and Uselton (1977); squares of rungs favour no slivers, as areas do.

use glam::DVec3;

use crate::Mesh;
use crate::num::disjoint_sets::DisjointSets;

/// The triangles of a surface, some of which are taken out and some put in.
#[derive(Debug, Clone)]
pub(crate) struct Patchwork {
    pub vertices: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
    /// The vertex of the first surface that each one was; `None` for new ones.
    pub source: Vec<Option<u32>>,
}

/// A connected piece of a surface.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// Its triangles, ascending.
    pub triangles: Vec<u32>,
    /// Its border, so oriented that what fills the hole uses each edge in this direction; `None` where a vertex is
    /// passed twice.
    pub loops: Option<Vec<Vec<u32>>>,
    /// Vertices − edges + triangles.
    pub euler: i64,
}

impl Piece {
    /// Whether it is a disk.
    pub fn is_disk(&self) -> bool {
        self.euler == 1 && self.loops.as_ref().is_some_and(|loops| loops.len() == 1)
    }

    /// Whether it is a ring around a neck or a hole.
    pub fn is_ring(&self) -> bool {
        self.euler == 0 && self.loops.as_ref().is_some_and(|loops| loops.len() == 2)
    }
}

impl From<&Mesh> for Patchwork {
    fn from(mesh: &Mesh) -> Patchwork {
        let vertices = mesh.vertices().to_vec();
        let source = (0..vertices.len() as u32).map(Some).collect();
        Patchwork { vertices, triangles: mesh.triangles().to_vec(), source }
    }
}

impl Patchwork {
    /// The connected pieces of some of the triangles, in the order of their first ones.
    pub fn pieces(&self, chosen: &[bool]) -> Vec<Piece> {
        let mut edges: Vec<([u32; 2], u32)> = Vec::new();
        for (t, corners) in (0_u32..).zip(&self.triangles).filter(|(t, _)| chosen[*t as usize]) {
            edges.extend(sides(corners).map(|[a, b]| ([a.min(b), a.max(b)], t)));
        }
        edges.sort_unstable();
        let mut sets = DisjointSets::new(self.triangles.len());
        for two in edges.windows(2).filter(|two| two[0].0 == two[1].0) {
            sets.join(two[0].1 as usize, two[1].1 as usize);
        }
        let mut number = vec![usize::MAX; self.triangles.len()];
        let mut pieces: Vec<Vec<u32>> = Vec::new();
        for t in (0..self.triangles.len()).filter(|&t| chosen[t]) {
            let root = sets.root(t);
            if number[root] == usize::MAX {
                number[root] = pieces.len();
                pieces.push(Vec::new());
            }
            pieces[number[root]].push(t as u32);
        }
        pieces.into_iter().map(|triangles| self.piece(triangles)).collect()
    }

    fn piece(&self, triangles: Vec<u32>) -> Piece {
        let mut directed: Vec<[u32; 2]> =
            triangles.iter().flat_map(|&t| sides(&self.triangles[t as usize])).collect();
        directed.sort_unstable();
        let paired = |[a, b]: [u32; 2]| directed.binary_search(&[b, a]).is_ok();
        let border: Vec<[u32; 2]> = directed.iter().copied().filter(|&edge| !paired(edge)).collect();
        let mut vertices: Vec<u32> = directed.iter().map(|edge| edge[0]).collect();
        vertices.dedup();
        // Edges within are used twice, those of the border once.
        let edges = (directed.len() + border.len()) / 2;
        let euler = vertices.len() as i64 - edges as i64 + triangles.len() as i64;
        Piece { triangles, loops: loops(&border), euler }
    }

    /// Without some triangles.
    pub fn remove(&mut self, removed: &[bool]) {
        let mut t = 0;
        self.triangles.retain(|_| {
            t += 1;
            !removed[t - 1]
        });
    }

    /// Closes a hole by a fan around a new vertex in the middle of its border.
    pub fn cap(&mut self, border: &[u32]) {
        let middle = self.vertex(middle_of(&self.vertices, border));
        self.triangles.extend(around(border).map(|[a, b]| [a, b, middle]));
    }

    /// The area of a cap.
    pub fn cap_area(&self, border: &[u32]) -> f64 {
        let (v, middle) = (&self.vertices, middle_of(&self.vertices, border));
        around(border).map(|[a, b]| area(v[a as usize], v[b as usize], middle)).sum()
    }

    /// Joins two holes by a band. With `halved` each rung has a vertex in its middle: no edge between old vertices is
    /// made that could be there already.
    pub fn band(&mut self, ladder: &[Rung], halved: bool) {
        if !halved {
            self.triangles.extend(ladder_steps(ladder).map(|step| step.triangle()));
            return;
        }
        let middles: Vec<u32> = ladder
            .iter()
            .map(|&[a, b]| self.vertex(self.vertices[a as usize].midpoint(self.vertices[b as usize])))
            .collect();
        for (k, step) in ladder_steps(ladder).enumerate() {
            let (here, next) = (middles[k], middles[(k + 1) % middles.len()]);
            self.triangles.extend(match step {
                Step::A([a, a_next], b) => [[a, a_next, next], [a, next, here], [here, next, b]],
                Step::B([b_next, b], a) => [[b_next, b, here], [b_next, here, next], [here, a, next]],
            });
        }
    }

    /// The area of a band.
    pub fn band_area(&self, ladder: &[Rung]) -> f64 {
        let triangles = ladder_steps(ladder).map(|step| step.triangle());
        triangles.map(|t| t.map(|v| self.vertices[v as usize])).map(|[a, b, c]| area(a, b, c)).sum()
    }

    /// The ladder between two borders with the least sum of squared rungs, from the shortest one on; border a is gone
    /// along, border b against its direction.
    pub fn ladder(&self, a: &[u32], b: &[u32]) -> Vec<Rung> {
        let square = |i: u32, j: u32| self.vertices[i as usize].distance_squared(self.vertices[j as usize]);
        let pairs = || (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| (i, j)));
        let shortest = pairs().min_by(|&(i, j), &(k, l)| square(a[i], b[j]).total_cmp(&square(a[k], b[l])));
        let (from_a, from_b) = shortest.unwrap_or((0, 0));
        let at_a = |i: usize| a[(from_a + i) % a.len()];
        let at_b = |j: usize| b[(from_b + b.len() - j % b.len()) % b.len()];
        let (rows, columns) = (a.len() + 1, b.len() + 1);
        let mut cost = vec![f64::INFINITY; rows * columns];
        cost[0] = 0.0;
        for place in 1..cost.len() {
            let (i, j) = (place / columns, place % columns);
            let before = if i > 0 { cost[place - columns] } else { f64::INFINITY };
            let beside = if j > 0 { cost[place - 1] } else { f64::INFINITY };
            cost[place] = before.min(beside) + square(at_a(i), at_b(j));
        }
        let (mut i, mut j) = (a.len(), b.len());
        let mut ladder = Vec::with_capacity(a.len() + b.len());
        while i + j > 0 {
            let above = if i > 0 { cost[(i - 1) * columns + j] } else { f64::INFINITY };
            let beside = if j > 0 { cost[i * columns + j - 1] } else { f64::INFINITY };
            if above <= beside {
                i -= 1
            } else {
                j -= 1
            }
            ladder.push([at_a(i), at_b(j)]);
        }
        ladder.reverse();
        ladder
    }

    /// The mesh of what is left, without unused vertices; keeps itself in step with it.
    pub fn compact(&mut self) {
        let mut number = vec![u32::MAX; self.vertices.len()];
        let mut kept: Vec<u32> = self.triangles.as_flattened().to_vec();
        kept.sort_unstable();
        kept.dedup();
        kept.iter().zip(0..).for_each(|(&v, k)| number[v as usize] = k);
        self.vertices = kept.iter().map(|&v| self.vertices[v as usize]).collect();
        self.source = kept.iter().map(|&v| self.source[v as usize]).collect();
        self.triangles.iter_mut().for_each(|t| *t = t.map(|v| number[v as usize]));
    }

    fn vertex(&mut self, p: DVec3) -> u32 {
        self.vertices.push(p);
        self.source.push(None);
        (self.vertices.len() - 1) as u32
    }
}

/// A vertex of each border.
pub(crate) type Rung = [u32; 2];

/// From one rung to the next: along an edge of border a, or of border b.
enum Step {
    A([u32; 2], u32),
    B([u32; 2], u32),
}

impl Step {
    fn triangle(&self) -> [u32; 3] {
        let (&Step::A([p, q], r) | &Step::B([p, q], r)) = self;
        [p, q, r]
    }
}

fn ladder_steps(ladder: &[Rung]) -> impl Iterator<Item = Step> + '_ {
    (0..ladder.len()).map(|k| {
        let ([a, b], [c, d]) = (ladder[k], ladder[(k + 1) % ladder.len()]);
        if a != c { Step::A([a, c], b) } else { Step::B([d, b], a) }
    })
}

fn sides(&[a, b, c]: &[u32; 3]) -> [[u32; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

/// The edges of a loop.
fn around(border: &[u32]) -> impl Iterator<Item = [u32; 2]> + '_ {
    (0..border.len()).map(|k| [border[k], border[(k + 1) % border.len()]])
}

fn middle_of(vertices: &[DVec3], border: &[u32]) -> DVec3 {
    border.iter().map(|&v| vertices[v as usize]).sum::<DVec3>() / border.len() as f64
}

fn area(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}

/// Ascending directed edges as loops, each from its smallest vertex; `None` where a vertex is passed twice.
fn loops(border: &[[u32; 2]]) -> Option<Vec<Vec<u32>>> {
    if border.windows(2).any(|two| two[0][0] == two[1][0]) {
        return None;
    }
    let mut used = vec![false; border.len()];
    let mut all = Vec::new();
    for first in 0..border.len() {
        let (mut at, mut one) = (first, Vec::new());
        while !std::mem::replace(&mut used[at], true) {
            one.push(border[at][0]);
            at = border.binary_search_by_key(&border[at][1], |edge| edge[0]).ok()?;
        }
        if !one.is_empty() {
            all.push(one);
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Topology, procedural};

    fn sound(patchwork: &Patchwork) -> Topology {
        let mesh = Mesh::from_points(patchwork.vertices.clone(), patchwork.triangles.clone()).unwrap();
        let topology = Topology::of(&mesh);
        assert!(topology.is_watertight() && topology.census().nonmanifold_vertices == 0);
        topology
    }

    #[test]
    fn a_star_taken_out_leaves_a_disk_that_a_cap_closes() {
        let mut work = Patchwork::from(&procedural::ico_sphere(1.0, 2).unwrap());
        let star: Vec<bool> = work.triangles.iter().map(|t| t.contains(&7)).collect();
        let pieces = work.pieces(&star);
        assert!(pieces.len() == 1 && pieces[0].is_disk() && !pieces[0].is_ring());
        let border = pieces[0].loops.clone().unwrap().remove(0);
        work.remove(&star);
        work.cap(&border);
        work.compact();
        assert_eq!(sound(&work).euler(), 2);
        assert_eq!(work.source.iter().filter(|source| source.is_none()).count(), 1);
    }

    #[test]
    fn bands_join_borders_of_different_lengths() {
        let upper = procedural::ico_sphere(1.0, 2).unwrap();
        let lower = procedural::uv_sphere(1.0, 9, 12).unwrap();
        let mut vertices: Vec<DVec3> = upper.vertices().iter().map(|p| *p + DVec3::Z * 1.2).collect();
        let shift = vertices.len() as u32;
        vertices.extend(lower.vertices().iter().map(|p| *p - DVec3::Z * 1.2));
        let mut triangles = upper.triangles().to_vec();
        triangles.extend(lower.triangles().iter().map(|t| t.map(|v| v + shift)));
        let start = Patchwork::from(&Mesh::from_points(vertices, triangles).unwrap());
        for halved in [false, true] {
            let mut work = start.clone();
            let near = |t: &[u32; 3]| t.iter().all(|&v| work.vertices[v as usize].z.abs() < 0.45);
            let chosen: Vec<bool> = work.triangles.iter().map(near).collect();
            let pieces = work.pieces(&chosen);
            let borders: Vec<Vec<u32>> =
                pieces.iter().map(|piece| piece.loops.clone().unwrap().remove(0)).collect();
            assert!(pieces.len() == 2 && borders[0].len() != borders[1].len(), "{}", pieces.len());
            work.remove(&chosen);
            let ladder = work.ladder(&borders[0], &borders[1]);
            assert_eq!(ladder.len(), borders[0].len() + borders[1].len());
            work.band(&ladder, halved);
            work.compact();
            let topology = sound(&work);
            assert_eq!((topology.euler(), topology.components().len()), (2, 1));
        }
    }

    #[test]
    fn a_border_that_passes_a_vertex_twice_is_none() {
        let work = Patchwork::from(&procedural::octahedron(1.0).unwrap());
        // Two triangles that share one corner only.
        let first = work.triangles[0];
        let opposite = |t: &&[u32; 3]| t.iter().filter(|v| first.contains(v)).count() == 1;
        let other = *work.triangles.iter().find(opposite).unwrap();
        let chosen: Vec<bool> = work.triangles.iter().map(|t| *t == first || *t == other).collect();
        assert_eq!(work.pieces(&chosen).len(), 2);
        assert!(loops(&[[0, 1], [0, 3], [1, 2], [2, 0], [3, 4], [4, 0]]).is_none());
    }
}
