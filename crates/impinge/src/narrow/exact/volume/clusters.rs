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
const MOST: usize = 16;

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
    /// Welded vertices of other groups that share an edge with one of a group, by group and by their own groups.
    beside: Vec<u32>,
    /// The groups beside each group.
    neighbours: Vec<Neighbour>,
    /// The welded vertices that share an edge with each one, and where those of each end.
    links: Vec<u32>,
    link_ends: Vec<u32>,
    /// By group.
    areas: Vec<VertexArea>,
}

/// What a vertex of the mesh adds to a gradient.
#[derive(Debug, Clone, Copy)]
pub struct VertexArea {
    /// A third of the area vectors of the triangles at it.
    pub area: DVec3,
    pub vertex: u32,
}

/// A group beside another.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    cluster: u32,
    /// Where its vertices that are beside the other end in `beside`.
    end: u32,
}

/// One group.
#[derive(Debug, Clone)]
struct Cluster {
    members: Range<u32>,
    areas: Range<u32>,
    triangles: Range<u32>,
    /// Where its vertices in `beside` begin.
    beside: u32,
    neighbours: Range<u32>,
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
        let mut areas: Vec<VertexArea> = (0..mesh.vertices().len() as u32)
            .map(|vertex| VertexArea { area: DVec3::ZERO, vertex })
            .collect();
        for (t, corners) in (0..).zip(mesh.triangles()) {
            let [a, b, c] = mesh.corners(t);
            let part = (b - a).cross(c - a) / 6.0;
            corners.iter().for_each(|&v| areas[v as usize].area += part);
        }
        let cluster_of = |own: &VertexArea| of[topology.weld().welded(own.vertex) as usize];
        areas.sort_unstable_by_key(|own| (cluster_of(own), own.vertex));
        let mut found = Clusters {
            all: Vec::with_capacity(ends.len()),
            triangles: Vec::with_capacity(mesh.triangles().len()),
            beside: Vec::new(),
            neighbours: Vec::new(),
            links: Vec::with_capacity(3 * mesh.triangles().len()),
            link_ends: Vec::with_capacity(of.len()),
            areas,
            of,
            members,
        };
        for v in 0..found.of.len() as u32 {
            let first = found.links.len();
            for &t in topology.around(v) {
                for u in topology.triangles()[t as usize] {
                    if u != v && !found.links[first..].contains(&u) {
                        found.links.push(u);
                    }
                }
            }
            found.link_ends.push(found.links.len() as u32);
        }
        let (mut begin, mut first_area) = (0, 0);
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
            let of = &found.of;
            beside.sort_unstable_by_key(|&v| (of[v as usize], v));
            beside.dedup();
            let first_neighbour = found.neighbours.len() as u32;
            for run in beside.chunk_by(|&x, &y| of[x as usize] == of[y as usize]) {
                found.beside.extend_from_slice(run);
                let cluster = of[run[0] as usize];
                found.neighbours.push(Neighbour { cluster, end: found.beside.len() as u32 });
            }
            let weld = topology.weld();
            let is_own = |own: &VertexArea| of[weld.welded(own.vertex) as usize] == number;
            let own_areas =
                found.areas[first_area as usize..].iter().take_while(|own| is_own(own)).count() as u32;
            found.all.push(Cluster {
                members: begin..end,
                areas: first_area..first_area + own_areas,
                triangles: first_triangle..found.triangles.len() as u32,
                beside: first_beside,
                neighbours: first_neighbour..found.neighbours.len() as u32,
                centre,
                half: 0.5 * (high - low),
                sums,
            });
            begin = end;
            first_area += own_areas;
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
    #[inline]
    pub fn members(&self, cluster: u32) -> &[u32] {
        let Range { start, end } = self.all[cluster as usize].members;
        &self.members[start as usize..end as usize]
    }

    /// The triangles whose first corner is in a group.
    #[inline]
    pub fn triangles(&self, cluster: u32) -> &[u32] {
        let Range { start, end } = self.all[cluster as usize].triangles;
        &self.triangles[start as usize..end as usize]
    }

    /// The groups beside a group, each with its welded vertices that share an edge with the group.
    pub fn beside(&self, cluster: u32) -> impl Iterator<Item = (u32, &[u32])> + '_ {
        let Cluster { beside, neighbours: Range { start, end }, .. } = &self.all[cluster as usize];
        let mut begin = *beside as usize;
        self.neighbours[*start as usize..*end as usize].iter().map(move |next| {
            let own = &self.beside[begin..next.end as usize];
            begin = next.end as usize;
            (next.cluster, own)
        })
    }

    /// The welded vertices that share an edge with one.
    #[inline]
    pub fn links(&self, welded: u32) -> &[u32] {
        let v = welded as usize;
        let begin = v.checked_sub(1).map_or(0, |before| self.link_ends[before] as usize);
        &self.links[begin..self.link_ends[v] as usize]
    }

    /// What the vertices of the mesh in a group add to a gradient, in the mesh's frame.
    #[inline]
    pub fn areas(&self, cluster: u32) -> &[VertexArea] {
        let Range { start, end } = self.all[cluster as usize].areas;
        &self.areas[start as usize..end as usize]
    }

    /// The centre of a box around a group and its half sides, in the mesh's frame.
    #[inline]
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
