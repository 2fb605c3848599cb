//! Groups of neighbouring vertices of a mesh with the integrals over their triangles, found once for a mesh.
//!
//! A group that the other surface does not cross lies inside or outside as a whole. What it adds to a volume, to its
//! first moments and to the net force at any pose then follows from a few sums, and the area vectors of its vertices
//! are turned but not summed again. So only groups at the crossings are looked at triangle by triangle.
//!
//! Vertices and triangles are kept by group, whatever their order in the mesh is: what lies together on the surface lies
//! together in memory. The number of a vertex tells its group.

use std::ops::Range;
use std::sync::Arc;

use glam::{DMat3, DVec3};

use crate::budget::hand_over::checkpoint;
use crate::model::Model;
use crate::num::parallel;
use crate::shape::topology::Side;
use crate::simd::prefetch;
use crate::{Budget, Pose};

/// Vertices of a group at most: larger ones are crossed more often, smaller ones are more to visit. As many numbers are
/// set aside for each group.
pub const MOST: usize = 16;

/// Some vertices of a group, a bit for each.
pub type Lanes = u16;

/// Stands for a vertex in no group yet, and for no edge.
const NONE: u32 = u32::MAX;

/// Groups that are grown between two checkpoints.
const STRIDE: usize = 64;

/// The groups of a mesh. A vertex is a welded one, and its number is that of its group times `MOST` plus its lane.
#[derive(Debug)]
pub struct Clusters {
    all: Vec<Cluster>,
    /// A box around the vertices of each group: its centre and its half sides.
    boxes: Vec<[DVec3; 2]>,
    /// Over the triangles whose first corner is in each group.
    sums: Vec<TriangleSums>,
    /// Where each vertex is in the mesh's frame.
    positions: Vec<DVec3>,
    /// By the group of their first corner.
    triangles: Vec<Triangle>,
    /// The place of each triangle of the mesh among them.
    rank_of: Vec<u32>,
    /// Vertices of other groups that share an edge with one of a group, by group and by their own groups.
    beside: Vec<u32>,
    /// The groups beside each group.
    neighbours: Vec<Neighbour>,
    /// The edges that leave each group.
    links: Vec<Link>,
    /// By vertex of the mesh.
    areas: Vec<VertexArea>,
    /// The vertices of the mesh by group, and where those of each group end.
    vertices: Vec<u32>,
    vertex_ends: Vec<u32>,
}

/// A triangle between numbered vertices.
#[derive(Debug, Clone, Copy)]
pub struct Triangle {
    pub corners: [u32; 3],
    /// The edges at its sides in the topology; `u32::MAX` where two corners are one vertex.
    pub edges: [u32; 3],
    /// Its index in the mesh.
    pub index: u32,
}

/// An edge to a vertex of another group.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// Of the own vertex.
    pub lane: u32,
    pub to: u32,
}

/// What a vertex of the mesh adds to a gradient.
#[derive(Debug, Clone, Copy)]
pub struct VertexArea {
    /// A third of the area vectors of the triangles at it.
    pub area: DVec3,
    /// The number of the welded vertex; any number for one without triangles.
    pub number: u32,
}

/// A group beside another.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    cluster: u32,
    /// Where its vertices that are beside the other end in `beside`.
    end: u32,
}

/// What is looked up on the way over the groups, in one line of the caches.
#[derive(Debug, Clone)]
#[repr(align(64))]
struct Cluster {
    /// How many vertices it has.
    members: u32,
    triangles: Range<u32>,
    /// Where its vertices in `beside` begin.
    beside: u32,
    neighbours: Range<u32>,
    links: Range<u32>,
    /// Which vertices of the group share an edge with each.
    within: [Lanes; MOST],
}

/// Sums over triangles, with c the centroid of each from a common origin and n = (q − p) × (r − p).
#[derive(Debug, Clone, Copy)]
struct TriangleSums {
    /// Σ n.
    normal: DVec3,
    /// Σ c nᵀ.
    first: DMat3,
    /// Σ c (c·n).
    second: DVec3,
    /// Σ |n|, Σ |c·n|.
    size: [f64; 2],
}

/// What a group adds to the integrals of a placed body, with lengths and heights from an origin of the world.
#[derive(Debug, Clone, Copy)]
pub struct PlacedSums {
    pub volume: f64,
    /// The integral of the position.
    pub first: DVec3,
    /// The area vector.
    pub area: DVec3,
    /// At least the sum of the absolute values that the volume is made of.
    pub size: f64,
}

/// How area vectors and volumes change under a pose.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    matrix: DMat3,
    /// Of area vectors.
    pub cofactors: DMat3,
    determinant: f64,
    /// The origin of the world's integrals, in the mesh's frame.
    pub origin: DVec3,
}

impl Turn {
    pub fn new(pose: &Pose, origin: DVec3) -> Turn {
        let matrix = pose.matrix();
        let DMat3 { x_axis: x, y_axis: y, z_axis: z } = matrix;
        let cofactors = DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
        let determinant = x.dot(cofactors.x_axis);
        let origin = cofactors.transpose() * (origin - pose.translation()) / determinant;
        Turn { matrix, cofactors, determinant, origin }
    }
}

impl Clusters {
    /// Those of a mesh; `None` when the budget ends first.
    pub fn of(model: &Model, budget: &mut Budget) -> Option<Arc<Clusters>> {
        model.attached(model.mesh().triangles().len() as u64, budget, Clusters::new)
    }

    fn new(model: &Model) -> Clusters {
        let (mesh, topology) = (model.mesh(), model.topology());
        let Grown { numbers, groups } = grow(model);
        let number = |welded: u32| numbers[welded as usize];
        let mut found = Clusters {
            all: Vec::with_capacity(groups.len()),
            boxes: Vec::with_capacity(groups.len()),
            sums: Vec::with_capacity(groups.len()),
            positions: vec![DVec3::ZERO; groups.len() * MOST],
            triangles: Vec::with_capacity(mesh.triangles().len()),
            rank_of: vec![NONE; mesh.triangles().len()],
            beside: Vec::new(),
            neighbours: Vec::new(),
            links: Vec::new(),
            areas: vertex_areas(model, &numbers),
            vertices: (0..mesh.vertices().len() as u32).collect(),
            vertex_ends: Vec::with_capacity(groups.len()),
        };
        let of_vertex = |&v: &u32| found.areas[v as usize].number;
        parallel::sort_by_key(&mut found.vertices, |v| (of_vertex(v), *v));
        for own in parallel::in_turn(0..groups.len() as u32) {
            let begin = found.vertex_ends.last().map_or(0, |end| *end as usize);
            let rest = &found.vertices[begin..];
            let end = begin + rest.iter().take_while(|v| group_of(of_vertex(v)) == own).count();
            found.vertex_ends.push(end as u32);
        }
        for (own, members) in parallel::in_turn((0..).zip(&groups)) {
            let (first_triangle, first_link) = (found.triangles.len() as u32, found.links.len() as u32);
            let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
            let mut within = [0; MOST];
            for (lane, &v) in members.iter().enumerate() {
                let position = mesh.vertices()[topology.weld().first(v) as usize];
                found.positions[own as usize * MOST + lane] = position;
                (low, high) = (low.min(position), high.max(position));
                let first_of_vertex = found.links.len();
                for &t in topology.around(v) {
                    let corners = topology.triangles()[t as usize];
                    if corners[0] == v && found.rank_of[t as usize] == NONE {
                        let edge = |corner: u8| topology.edge(Side { triangle: t, corner }).unwrap_or(NONE);
                        found.rank_of[t as usize] = found.triangles.len() as u32;
                        let (corners, edges) = (corners.map(number), [0, 1, 2].map(edge));
                        found.triangles.push(Triangle { corners, edges, index: t });
                    }
                    for to in corners.into_iter().filter(|&u| u != v).map(number) {
                        if group_of(to) == own {
                            within[lane] |= 1 << lane_of(to);
                        } else if found.links[first_of_vertex..].iter().all(|link| link.to != to) {
                            found.links.push(Link { lane: lane as u32, to });
                        }
                    }
                }
            }
            let centre = low.midpoint(high);
            let mut sums = TriangleSums::NONE;
            for triangle in &found.triangles[first_triangle as usize..] {
                sums.add(mesh.corners(triangle.index).map(|p| p - centre));
            }
            let (first_beside, first_neighbour) = (found.beside.len(), found.neighbours.len() as u32);
            found.beside.extend(found.links[first_link as usize..].iter().map(|link| link.to));
            found.beside[first_beside..].sort_unstable();
            let mut end = first_beside;
            for at in first_beside..found.beside.len() {
                let next = found.beside[at];
                if end > first_beside && found.beside[end - 1] == next {
                    continue;
                }
                found.beside[end] = next;
                end += 1;
                match found.neighbours.get_mut(first_neighbour as usize..).and_then(|own| own.last_mut()) {
                    Some(last) if last.cluster == group_of(next) => last.end = end as u32,
                    _ => found.neighbours.push(Neighbour { cluster: group_of(next), end: end as u32 }),
                }
            }
            found.beside.truncate(end);
            found.all.push(Cluster {
                members: members.len() as u32,
                triangles: first_triangle..found.triangles.len() as u32,
                beside: first_beside as u32,
                neighbours: first_neighbour..found.neighbours.len() as u32,
                links: first_link..found.links.len() as u32,
                within,
            });
            found.boxes.push([centre, 0.5 * (high - low)]);
            found.sums.push(sums);
        }
        found
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Where a vertex is, in the mesh's frame.
    #[inline]
    pub fn position(&self, vertex: u32) -> DVec3 {
        self.positions[vertex as usize]
    }

    /// The vertices of a group.
    #[inline]
    pub fn members(&self, cluster: u32) -> Range<u32> {
        let first = cluster * MOST as u32;
        first..first + self.all[cluster as usize].members
    }

    /// The vertices of a group that share an edge with each of its vertices.
    #[inline]
    pub fn within(&self, cluster: u32) -> &[Lanes; MOST] {
        &self.all[cluster as usize].within
    }

    /// A group is looked at soon.
    #[inline]
    pub fn expect(&self, cluster: u32) {
        if let Some(own) = self.all.get(cluster as usize) {
            prefetch(own);
        }
    }

    /// What leads from a group to those beside it is read soon.
    #[inline]
    pub fn expect_beside(&self, cluster: u32) {
        let first = self.all[cluster as usize].neighbours.start;
        if let Some(next) = self.neighbours.get(first as usize) {
            prefetch(next);
        }
    }

    /// The edges that leave a group are read soon.
    #[inline]
    pub fn expect_links(&self, cluster: u32) {
        // Eight fill a line of the caches.
        self.links(cluster).iter().step_by(8).for_each(prefetch);
    }

    /// The triangle at a place among those by group is read soon.
    #[inline]
    pub fn expect_triangle(&self, rank: u32) {
        prefetch(&self.triangles[rank as usize]);
    }

    /// A vertex is read soon.
    #[inline]
    pub fn expect_position(&self, vertex: u32) {
        prefetch(&self.positions[vertex as usize]);
    }

    /// The edges that leave a group.
    #[inline]
    pub fn links(&self, cluster: u32) -> &[Link] {
        let Range { start, end } = self.all[cluster as usize].links;
        &self.links[start as usize..end as usize]
    }

    /// The place of a triangle of the mesh among those by group.
    #[inline]
    pub fn rank_of(&self, triangle: u32) -> u32 {
        self.rank_of[triangle as usize]
    }

    /// A triangle by its place among those by group.
    #[inline]
    pub fn triangle(&self, rank: u32) -> &Triangle {
        &self.triangles[rank as usize]
    }

    /// The triangles whose first corner is in a group, by their places among all.
    #[inline]
    pub fn triangles(&self, cluster: u32) -> Range<u32> {
        self.all[cluster as usize].triangles.clone()
    }

    /// The groups beside a group, each with its vertices that share an edge with the group.
    pub fn beside(&self, cluster: u32) -> impl Iterator<Item = (u32, &[u32])> + '_ {
        let Cluster { beside, neighbours: Range { start, end }, .. } = &self.all[cluster as usize];
        let mut begin = *beside as usize;
        self.neighbours[*start as usize..*end as usize].iter().map(move |next| {
            let own = &self.beside[begin..next.end as usize];
            begin = next.end as usize;
            (next.cluster, own)
        })
    }

    /// What each vertex of the mesh adds to a gradient, in the mesh's frame.
    #[inline]
    pub fn areas(&self) -> &[VertexArea] {
        &self.areas
    }

    /// The vertices of the mesh in a group.
    #[inline]
    pub fn vertices(&self, cluster: u32) -> &[u32] {
        let own = cluster as usize;
        let begin = own.checked_sub(1).map_or(0, |before| self.vertex_ends[before] as usize);
        &self.vertices[begin..self.vertex_ends[own] as usize]
    }

    /// The centre of a box around a group and its half sides, in the mesh's frame.
    #[inline]
    pub fn bounds(&self, cluster: u32) -> [DVec3; 2] {
        self.boxes[cluster as usize]
    }

    /// What the triangles whose first corner is in a group add.
    pub fn placed(&self, cluster: u32, turn: &Turn) -> PlacedSums {
        let ([centre, _], sums) = (self.boxes[cluster as usize], &self.sums[cluster as usize]);
        let from = centre - turn.origin;
        let own = sums.first.x_axis.x + sums.first.y_axis.y + sums.first.z_axis.z;
        let heights = own + from.dot(sums.normal);
        let second = sums.second + sums.first * from + from * heights;
        let size = sums.size[1] + from.length() * sums.size[0];
        PlacedSums {
            volume: turn.determinant / 6.0 * heights,
            first: turn.matrix * second * (turn.determinant / 8.0),
            area: turn.cofactors * sums.normal * 0.5,
            size: turn.determinant.abs() / 6.0 * size,
        }
    }
}

/// What single triangles add, with corners from the origin of a turn in the mesh's frame.
#[derive(Debug, Clone, Copy, Default)]
pub struct SingleTriangles {
    six_volumes: f64,
    /// 24 times the integral of the position.
    first: DVec3,
    /// Σ n.
    normal: DVec3,
    /// Σ |six volumes|.
    size: f64,
}

impl SingleTriangles {
    #[inline]
    pub fn add(&mut self, [a, b, c]: [DVec3; 3]) {
        let normal = (b - a).cross(c - a);
        let six_volumes = normal.dot(a);
        self.six_volumes += six_volumes;
        self.first += (a + b + c) * six_volumes;
        self.normal += normal;
        self.size += six_volumes.abs();
    }

    pub fn placed(&self, turn: &Turn) -> PlacedSums {
        PlacedSums {
            volume: turn.determinant / 6.0 * self.six_volumes,
            first: turn.matrix * self.first * (turn.determinant / 24.0),
            area: turn.cofactors * self.normal * 0.5,
            size: turn.determinant.abs() / 6.0 * self.size,
        }
    }
}

impl TriangleSums {
    const NONE: TriangleSums =
        TriangleSums { normal: DVec3::ZERO, first: DMat3::ZERO, second: DVec3::ZERO, size: [0.0; 2] };

    fn add(&mut self, [a, b, c]: [DVec3; 3]) {
        let normal = (b - a).cross(c - a);
        let centroid = (a + b + c) / 3.0;
        let height = centroid.dot(normal);
        self.normal += normal;
        self.first += DMat3::from_cols(centroid * normal.x, centroid * normal.y, centroid * normal.z);
        self.second += centroid * height;
        self.size[0] += normal.length();
        self.size[1] += height.abs();
    }
}

/// The group that a vertex belongs to.
#[inline]
pub fn group_of(vertex: u32) -> u32 {
    vertex / MOST as u32
}

/// The place of a vertex in its group.
#[inline]
pub fn lane_of(vertex: u32) -> u32 {
    vertex % MOST as u32
}

/// What each vertex of a mesh adds, given the numbers of the welded vertices.
fn vertex_areas(model: &Model, numbers: &[u32]) -> Vec<VertexArea> {
    let (mesh, weld) = (model.mesh(), model.topology().weld());
    let area = |vertex: u32| {
        let number = numbers[weld.welded(vertex) as usize];
        VertexArea { area: DVec3::ZERO, number: if number == NONE { 0 } else { number } }
    };
    let mut areas: Vec<VertexArea> = (0..mesh.vertices().len() as u32).map(area).collect();
    for (t, corners) in (0..).zip(mesh.triangles()) {
        let [a, b, c] = mesh.corners(t);
        let part = (b - a).cross(c - a) / 6.0;
        corners.iter().for_each(|&v| areas[v as usize].area += part);
    }
    areas
}

/// Which vertices are together.
struct Grown {
    /// Of each welded vertex.
    numbers: Vec<u32>,
    /// The welded vertices of each group.
    groups: Vec<Vec<u32>>,
}

/// Groups grow over edges from vertices beside the last ones, so that they are connected and round. Vertices without
/// triangles are in none.
fn grow(model: &Model) -> Grown {
    let topology = model.topology();
    let count = topology.weld().count();
    let (mut numbers, mut groups) = (vec![NONE; count], Vec::new());
    // Vertices that may begin a group, the oldest first.
    let (mut seeds, mut next_seed) = (Vec::new(), 0);
    for start in (0..count as u32).filter(|&v| !topology.around(v).is_empty()) {
        seeds.push(start);
        while next_seed < seeds.len() {
            let seed: u32 = seeds[next_seed];
            next_seed += 1;
            if numbers[seed as usize] != NONE {
                continue;
            }
            let first = (groups.len() * MOST) as u32;
            let mut members = Vec::with_capacity(MOST);
            numbers[seed as usize] = first;
            members.push(seed);
            let mut at = 0;
            while at < members.len() {
                let v: u32 = members[at];
                at += 1;
                for &t in topology.around(v) {
                    for u in topology.triangles()[t as usize] {
                        if numbers[u as usize] != NONE {
                            continue;
                        }
                        if members.len() < MOST {
                            numbers[u as usize] = first + members.len() as u32;
                            members.push(u);
                        } else {
                            seeds.push(u);
                        }
                    }
                }
            }
            groups.push(members);
            if groups.len().is_multiple_of(STRIDE) {
                checkpoint();
            }
        }
    }
    Grown { numbers, groups }
}
