//! Groups of neighbouring vertices of a mesh with the integrals over their triangles, found once for a mesh.
//!
//! A group that the other surface does not cross lies inside or outside as a whole. What it adds to a volume, to its
//! first moments and to the net force at any pose then follows from a few sums, and the area vectors of its vertices
//! are turned but not summed again. So only groups at the crossings are looked at triangle by triangle.

use std::ops::Range;
use std::sync::Arc;

use glam::{DMat3, DVec3};

use crate::model::Model;
use crate::{Budget, Pose};

/// Vertices of a group: larger ones are crossed more often, smaller ones are more to visit.
const MOST: usize = 12;

/// Stands for a vertex in no group yet.
const NONE: u32 = u32::MAX;

/// The groups of a mesh.
#[derive(Debug)]
pub struct Clusters {
    /// The group of each welded vertex.
    of: Vec<u32>,
    all: Vec<Cluster>,
    /// Welded vertices, by group.
    members: Vec<u32>,
    /// Triangles by the group of their first corner.
    triangles: Vec<u32>,
    /// Welded vertices of other groups that share an edge with one of a group, by group.
    beside: Vec<u32>,
    /// Vertices of the mesh, by group.
    vertices: Vec<u32>,
    /// A third of the area vectors of the triangles at each of them.
    areas: Vec<DVec3>,
}

/// One group.
#[derive(Debug, Clone)]
struct Cluster {
    members: Range<u32>,
    triangles: Range<u32>,
    beside: Range<u32>,
    vertices: Range<u32>,
    /// Around its vertices.
    centre: DVec3,
    half: DVec3,
    /// Over the triangles whose first corner is in the group.
    sums: TriangleSums,
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
    origin: DVec3,
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
        let (of, members, ends) = grow(model);
        let mut areas = vec![DVec3::ZERO; mesh.vertices().len()];
        for (t, corners) in (0..).zip(mesh.triangles()) {
            let [a, b, c] = mesh.corners(t);
            let part = (b - a).cross(c - a) / 6.0;
            corners.iter().for_each(|&v| areas[v as usize] += part);
        }
        let vertices = by_cluster(&of, ends.len(), |v| topology.weld().welded(v), mesh.vertices().len());
        let mut found = Clusters {
            all: Vec::with_capacity(ends.len()),
            triangles: Vec::with_capacity(mesh.triangles().len()),
            beside: Vec::new(),
            areas: vertices.iter().map(|&v| areas[v as usize]).collect(),
            vertices,
            of,
            members,
        };
        let (mut begin, mut first_vertex) = (0, 0);
        for (number, end) in (0..).zip(ends) {
            let members = &found.members[begin as usize..end as usize];
            let place = |v: u32| mesh.vertices()[topology.weld().first(v) as usize];
            let (low, high) = members
                .iter()
                .map(|&v| place(v))
                .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
            let centre = low.midpoint(high);
            let (mut sums, mut beside) = (TriangleSums::NONE, Vec::<u32>::new());
            let (first_beside, first_triangle) = (found.beside.len() as u32, found.triangles.len() as u32);
            for &v in members {
                for &t in topology.around(v) {
                    let corners = topology.triangles()[t as usize];
                    if corners[0] == v {
                        sums.add(mesh.corners(t).map(|p| p - centre));
                        found.triangles.push(t);
                    }
                    beside.extend(corners.iter().filter(|&&u| found.of[u as usize] != number));
                }
            }
            beside.sort_unstable();
            beside.dedup();
            found.beside.append(&mut beside);
            let own = found.vertices[first_vertex as usize..]
                .iter()
                .take_while(|&&v| found.of[topology.weld().welded(v) as usize] == number)
                .count() as u32;
            found.all.push(Cluster {
                members: begin..end,
                triangles: first_triangle..found.triangles.len() as u32,
                beside: first_beside..found.beside.len() as u32,
                vertices: first_vertex..first_vertex + own,
                centre,
                half: 0.5 * (high - low),
                sums,
            });
            (begin, first_vertex) = (end, first_vertex + own);
        }
        found
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The group of a welded vertex.
    #[inline]
    pub fn of_vertex(&self, welded: u32) -> u32 {
        self.of[welded as usize]
    }

    /// The welded vertices of a group.
    pub fn members(&self, cluster: u32) -> &[u32] {
        let Range { start, end } = self.all[cluster as usize].members;
        &self.members[start as usize..end as usize]
    }

    /// The triangles whose first corner is in a group.
    pub fn triangles(&self, cluster: u32) -> &[u32] {
        let Range { start, end } = self.all[cluster as usize].triangles;
        &self.triangles[start as usize..end as usize]
    }

    /// The welded vertices beside a group.
    pub fn beside(&self, cluster: u32) -> &[u32] {
        let Range { start, end } = self.all[cluster as usize].beside;
        &self.beside[start as usize..end as usize]
    }

    /// The vertices of the mesh in a group, with a third of the area vectors of the triangles at each in its own frame.
    pub fn vertices(&self, cluster: u32) -> impl Iterator<Item = (u32, DVec3)> + '_ {
        let Range { start, end } = self.all[cluster as usize].vertices;
        let own = start as usize..end as usize;
        self.vertices[own.clone()].iter().copied().zip(self.areas[own].iter().copied())
    }

    /// The centre of a box around a group and its half sides, in the mesh's frame.
    pub fn bounds(&self, cluster: u32) -> [DVec3; 2] {
        let Cluster { centre, half, .. } = self.all[cluster as usize];
        [centre, half]
    }

    /// What the triangles whose first corner is in a group add.
    pub fn placed(&self, cluster: u32, turn: &Turn) -> PlacedSums {
        let Cluster { centre, sums, .. } = &self.all[cluster as usize];
        let from = *centre - turn.origin;
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

/// The group of each welded vertex, the vertices by group, and where each group ends among them. Groups grow over edges
/// from vertices beside the last ones, so that they are connected and round.
fn grow(model: &Model) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let topology = model.topology();
    let count = topology.weld().count();
    let (mut of, mut members, mut ends) = (vec![NONE; count], Vec::with_capacity(count), Vec::new());
    // Vertices that may begin a group, the oldest first.
    let (mut seeds, mut next_seed) = (Vec::new(), 0);
    for start in 0..count as u32 {
        seeds.push(start);
        while next_seed < seeds.len() {
            let seed: u32 = seeds[next_seed];
            next_seed += 1;
            if of[seed as usize] != NONE {
                continue;
            }
            let number = ends.len() as u32;
            let first = members.len();
            of[seed as usize] = number;
            members.push(seed);
            let mut at = first;
            while at < members.len() {
                let v: u32 = members[at];
                at += 1;
                for &t in topology.around(v) {
                    for u in topology.triangles()[t as usize] {
                        if of[u as usize] != NONE {
                            continue;
                        }
                        if members.len() - first < MOST {
                            of[u as usize] = number;
                            members.push(u);
                        } else {
                            seeds.push(u);
                        }
                    }
                }
            }
            ends.push(members.len() as u32);
        }
    }
    (of, members, ends)
}

/// The vertices of a mesh by the group of their welded ones, ascending within.
fn by_cluster(of: &[u32], clusters: usize, welded: impl Fn(u32) -> u32, vertices: usize) -> Vec<u32> {
    let mut next = vec![0; clusters + 1];
    for v in 0..vertices as u32 {
        next[of[welded(v) as usize] as usize + 1] += 1;
    }
    for k in 1..next.len() {
        next[k] += next[k - 1];
    }
    let mut sorted = vec![0; vertices];
    for v in 0..vertices as u32 {
        let place = &mut next[of[welded(v) as usize] as usize];
        sorted[*place] = v;
        *place += 1;
    }
    sorted
}
