//! How the triangles of a mesh hang together: edges, neighbours, borders, components, orientation.
//!
//! Everything is said of welded vertices, so a mesh whose file repeats positions is one surface. A
//! triangle with two equal corners (a *collapsed* one) uses its only edge once in each direction: it
//! belongs to its component but adds no edge. A triangle of zero area with three distinct corners is a
//! triangle like any other here.
//!
//! The edges are found by a counting sort on their smaller end and short sorts within, which is linear
//! for meshes whose vertices have bounded degree; unions run on a forest with path halving.

use std::ops::Range;

use super::weld::Weld;
use crate::Mesh;
use crate::num::disjoint_sets::DisjointSets;
use crate::num::parallel::in_turn;

/// Stands for "no edge" in the sides of collapsed triangles.
const NONE: u32 = u32::MAX;

/// One use of an edge: the side of `triangle` from its corner `corner` to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Side {
    /// The triangle.
    pub triangle: u32,
    /// Where the side begins: 0, 1 or 2.
    pub corner: u8,
}

/// A connected part of the surface: triangles that hang together through shared (welded) corners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Component {
    /// Its triangle with the smallest index.
    pub first_triangle: u32,
    /// How many triangles it has.
    pub triangles: u32,
}

/// How the triangles of one mesh hang together: the same for all positions of its vertices that weld alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    weld: Weld,
    triangles: Vec<[u32; 3]>,
    /// Ends of each edge, the smaller first, ascending.
    edges: Vec<[u32; 2]>,
    /// Where the uses of each edge begin in `sides`; one more entry than edges.
    side_start: Vec<u32>,
    sides: Vec<Side>,
    edge_of: Vec<[u32; 3]>,
    /// Where the triangles at each welded vertex begin in `around`; one more entry than vertices.
    around_start: Vec<u32>,
    around: Vec<u32>,
    component_of: Vec<u32>,
    components: Vec<Component>,
    census: Census,
}

/// The counts that tell a sound surface from a broken one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Census {
    /// Welded vertices at which an edge ends.
    pub used_vertices: usize,
    /// Edges.
    pub edges: usize,
    /// Edges of exactly one triangle.
    pub boundary_edges: usize,
    /// Edges of more than two triangles.
    pub nonmanifold_edges: usize,
    /// Edges of exactly two triangles that both use it in the same direction.
    pub misoriented_edges: usize,
    /// Edges that are not used equally often in both directions.
    pub unbalanced_edges: usize,
    /// Vertices whose triangles do not form one fan or one disk.
    pub nonmanifold_vertices: usize,
    /// Triangles with two equal corners after welding.
    pub collapsed_triangles: usize,
    /// Surplus copies of triangles with the same three distinct corners, whatever their orientation.
    pub duplicate_triangles: usize,
}

impl Topology {
    /// Welds the mesh and finds its edges, neighbours and components.
    pub fn of(mesh: &Mesh) -> Topology {
        let weld = Weld::of(mesh.vertices());
        let triangles: Vec<[u32; 3]> =
            in_turn(mesh.triangles()).map(|corners| corners.map(|v| weld.welded(v))).collect();
        let (around_start, around) = triangles_around(&triangles, weld.count());
        let (component_of, components) = find_components(&triangles, weld.count());
        let mut topology = Topology {
            weld,
            triangles,
            edges: Vec::new(),
            side_start: Vec::new(),
            sides: Vec::new(),
            edge_of: Vec::new(),
            around_start,
            around,
            component_of,
            components,
            census: Census::default(),
        };
        topology.find_edges();
        topology.census = topology.count();
        topology
    }

    /// Which vertices have equal positions.
    #[inline]
    pub fn weld(&self) -> &Weld {
        &self.weld
    }

    /// The welded corners of each triangle.
    #[inline]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The ends of each edge as welded vertices, the smaller first, in ascending order.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// Every use of an edge, in ascending order of triangles.
    pub fn sides(&self, edge: u32) -> &[Side] {
        let e = edge as usize;
        &self.sides[self.side_start[e] as usize..self.side_start[e + 1] as usize]
    }

    /// The edge along a side of a triangle; `None` for a collapsed triangle.
    #[inline]
    pub fn edge(&self, side: Side) -> Option<u32> {
        let edge = self.edge_of[side.triangle as usize][usize::from(side.corner)];
        (edge != NONE).then_some(edge)
    }

    /// The triangle across a side, where the edge has exactly two triangles.
    pub fn across(&self, side: Side) -> Option<u32> {
        match self.sides(self.edge(side)?) {
            [a, b] => Some(if a.triangle == side.triangle { b.triangle } else { a.triangle }),
            _ => None,
        }
    }

    /// The triangles at a welded vertex, collapsed ones too, in ascending order.
    #[inline]
    pub fn around(&self, welded: u32) -> &[u32] {
        let v = welded as usize;
        &self.around[self.around_start[v] as usize..self.around_start[v + 1] as usize]
    }

    /// The component of each triangle, as an index into [`Topology::components`].
    pub fn component_of(&self) -> &[u32] {
        &self.component_of
    }

    /// The connected parts, in the order of their first triangles.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// The counts of what is sound and what is not.
    pub fn census(&self) -> &Census {
        &self.census
    }

    /// Edges of exactly one triangle.
    pub fn boundary_edges(&self) -> impl Iterator<Item = u32> + '_ {
        self.edges_where(|sides| sides.len() == 1)
    }

    /// Edges of more than two triangles.
    pub fn nonmanifold_edges(&self) -> impl Iterator<Item = u32> + '_ {
        self.edges_where(|sides| sides.len() > 2)
    }

    /// Edges of exactly two triangles that both use it in the same direction.
    pub fn misoriented_edges(&self) -> impl Iterator<Item = u32> + '_ {
        self.edges_where(|sides| matches!(sides, [a, b] if self.ends(*a) == self.ends(*b)))
    }

    /// Edges that are not used equally often in both directions.
    pub fn unbalanced_edges(&self) -> impl Iterator<Item = u32> + '_ {
        self.edges_where(|sides| {
            let forward = sides.iter().filter(|&&side| self.ends(side) == self.ends(sides[0])).count();
            2 * forward != sides.len()
        })
    }

    /// Whether every edge is used as often in one direction as in the other: the surface bounds a solid.
    pub fn is_closed(&self) -> bool {
        self.census.unbalanced_edges == 0
    }

    /// How many of the connected parts are not closed.
    pub fn open_components(&self) -> usize {
        let mut open = vec![false; self.components.len()];
        for (e, &ends) in (0..).zip(&self.edges) {
            let sides = self.sides(e);
            if !self.is_balanced(sides, ends) {
                open[self.component_of[sides[0].triangle as usize] as usize] = true;
            }
        }
        open.iter().filter(|&&open| open).count()
    }

    /// Whether an edge is used as often in one direction as in the other.
    #[inline]
    fn is_balanced(&self, sides: &[Side], ends: [u32; 2]) -> bool {
        2 * sides.iter().filter(|&&side| self.ends(side) == ends).count() == sides.len()
    }

    /// Whether every edge has exactly two triangles, in opposite directions.
    pub fn is_watertight(&self) -> bool {
        let c = &self.census;
        c.boundary_edges + c.nonmanifold_edges + c.misoriented_edges == 0
    }

    /// Whether no two triangles at an edge of exactly two use it in the same direction.
    pub fn is_oriented(&self) -> bool {
        self.census.misoriented_edges == 0
    }

    /// Used vertices − edges + triangles, collapsed triangles left out.
    pub fn euler(&self) -> i64 {
        let c = &self.census;
        let faces = self.triangles.len() - c.collapsed_triangles;
        // Counts of things in memory are far below the range of i64.
        c.used_vertices as i64 - c.edges as i64 + faces as i64
    }

    fn edges_where(&self, keep: impl Fn(&[Side]) -> bool) -> impl Iterator<Item = u32> {
        (0..self.edges.len() as u32).filter(move |&e| keep(self.sides(e)))
    }

    /// The welded vertices from which and to which a side runs.
    pub fn ends(&self, side: Side) -> [u32; 2] {
        let corners = self.triangles[side.triangle as usize];
        let k = usize::from(side.corner);
        [corners[k], corners[(k + 1) % 3]]
    }

    /// Counting sort of all sides on their smaller end, then a sort on the larger end within.
    fn find_edges(&mut self) {
        let all = || {
            let sound = |&(_, corners): &(u32, &[u32; 3])| !is_collapsed(corners);
            let sides = |(triangle, _)| (0..3).map(move |corner| Side { triangle, corner });
            (0..).zip(&self.triangles).filter(sound).flat_map(sides)
        };
        let key = |side| {
            let [a, b] = self.ends(side);
            [a.min(b), a.max(b)]
        };
        let (start, mut sides) = bucket(self.weld.count(), all, |side| key(side)[0]);
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(sides.len() / 2);
        let mut side_start = Vec::with_capacity(sides.len() / 2 + 1);
        let mut edge_of = vec![[NONE; 3]; self.triangles.len()];
        for range in in_turn(ranges(&start)) {
            sides[range.clone()].sort_unstable_by_key(|&side| (key(side)[1], side));
            for i in range {
                let ends = key(sides[i]);
                if edges.last() != Some(&ends) {
                    edges.push(ends);
                    side_start.push(i as u32);
                }
                edge_of[sides[i].triangle as usize][usize::from(sides[i].corner)] = edges.len() as u32 - 1;
            }
        }
        side_start.push(sides.len() as u32);
        (self.edges, self.side_start, self.sides, self.edge_of) = (edges, side_start, sides, edge_of);
    }

    fn count(&self) -> Census {
        let mut census = Census {
            used_vertices: self.count_used_vertices(),
            edges: self.edges.len(),
            collapsed_triangles: self.triangles.iter().filter(|corners| is_collapsed(corners)).count(),
            duplicate_triangles: self.count_duplicates(),
            nonmanifold_vertices: self.count_nonmanifold_vertices(),
            ..Census::default()
        };
        for (e, &ends) in (0..).zip(in_turn(&self.edges)) {
            let sides = self.sides(e);
            let balanced = self.is_balanced(sides, ends);
            census.unbalanced_edges += usize::from(!balanced);
            match sides.len() {
                1 => census.boundary_edges += 1,
                2 => census.misoriented_edges += usize::from(!balanced),
                _ => census.nonmanifold_edges += 1,
            }
        }
        census
    }

    fn count_used_vertices(&self) -> usize {
        let mut used = vec![false; self.weld.count()];
        in_turn(&self.edges).flatten().for_each(|&v| used[v as usize] = true);
        used.iter().filter(|&&used| used).count()
    }

    fn count_duplicates(&self) -> usize {
        let all = || {
            self.triangles.iter().filter(|corners| !is_collapsed(corners)).map(|&corners| {
                let mut sorted = corners;
                sorted.sort_unstable();
                sorted
            })
        };
        let (start, mut keys) = bucket(self.weld.count(), all, |corners| corners[0]);
        let mut surplus = 0;
        for range in in_turn(ranges(&start)) {
            keys[range.clone()].sort_unstable();
            surplus += keys[range].windows(2).filter(|pair| pair[0] == pair[1]).count();
        }
        surplus
    }

    /// A vertex is sound when its triangles, joined across the edges at it, are one fan, and none of
    /// these edges has more than two triangles.
    fn count_nonmanifold_vertices(&self) -> usize {
        let corner = |triangle: u32, k: u8| 3 * triangle as usize + usize::from(k);
        let mut fans = DisjointSets::new(3 * self.triangles.len());
        let mut broken = vec![false; self.weld.count()];
        for (e, ends) in (0..).zip(in_turn(&self.edges)) {
            let sides = self.sides(e);
            for end in ends {
                broken[*end as usize] |= sides.len() > 2;
            }
            // The corner at the smaller end, then the one at the larger end.
            let corners = |side: Side| {
                let here = corner(side.triangle, side.corner);
                let next = corner(side.triangle, (side.corner + 1) % 3);
                if self.ends(side) == *ends { [here, next] } else { [next, here] }
            };
            let first = corners(sides[0]);
            for &side in &sides[1..] {
                let more = corners(side);
                fans.join(first[0], more[0]);
                fans.join(first[1], more[1]);
            }
        }
        let mut seen = vec![false; self.weld.count()];
        for (t, corners) in in_turn(&self.triangles).enumerate().filter(|(_, c)| !is_collapsed(c)) {
            for (k, &v) in corners.iter().enumerate() {
                if fans.root(3 * t + k) == 3 * t + k {
                    broken[v as usize] |= std::mem::replace(&mut seen[v as usize], true);
                }
            }
        }
        broken.iter().filter(|&&broken| broken).count()
    }
}

fn is_collapsed(&[a, b, c]: &[u32; 3]) -> bool {
    a == b || b == c || c == a
}

fn triangles_around(triangles: &[[u32; 3]], vertices: usize) -> (Vec<u32>, Vec<u32>) {
    let all = || {
        (0..).zip(triangles).flat_map(|(t, &[a, b, c])| {
            let once = [Some(a), (b != a).then_some(b), (c != a && c != b).then_some(c)];
            once.into_iter().flatten().map(move |v: u32| (v, t))
        })
    };
    let (start, pairs): (_, Vec<(u32, u32)>) = bucket(vertices, all, |(v, _)| v);
    (start, pairs.into_iter().map(|(_, t)| t).collect())
}

fn find_components(triangles: &[[u32; 3]], vertices: usize) -> (Vec<u32>, Vec<Component>) {
    let mut forest = DisjointSets::new(vertices);
    for &[a, b, c] in in_turn(triangles) {
        forest.join(a as usize, b as usize);
        forest.join(a as usize, c as usize);
    }
    let mut number = vec![NONE; vertices];
    let mut components: Vec<Component> = Vec::new();
    let component_of = (0..)
        .zip(in_turn(triangles))
        .map(|(t, corners)| {
            let id = &mut number[forest.root(corners[0] as usize)];
            if *id == NONE {
                *id = components.len() as u32;
                components.push(Component { first_triangle: t, triangles: 0 });
            }
            components[*id as usize].triangles += 1;
            *id
        })
        .collect();
    (component_of, components)
}

/// Stable counting sort: where each key's items begin (one entry more than keys), and the items by key.
fn bucket<T: Copy, I: Iterator<Item = T>>(
    keys: usize,
    items: impl Fn() -> I,
    key: impl Fn(T) -> u32,
) -> (Vec<u32>, Vec<T>) {
    let mut start = vec![0_u32; keys + 1];
    let mut some = None;
    for item in in_turn(items()) {
        some = Some(item);
        start[key(item) as usize + 1] += 1;
    }
    for k in 0..keys {
        start[k + 1] += start[k];
    }
    let Some(filler) = some else { return (start, Vec::new()) };
    let mut sorted = vec![filler; start[keys] as usize];
    let mut next = start.clone();
    for item in in_turn(items()) {
        let place = &mut next[key(item) as usize];
        sorted[*place as usize] = item;
        *place += 1;
    }
    (start, sorted)
}

fn ranges(start: &[u32]) -> impl Iterator<Item = Range<usize>> + '_ {
    start.windows(2).map(|pair| pair[0] as usize..pair[1] as usize)
}

#[cfg(test)]
#[path = "topology_tests.rs"]
mod tests;
