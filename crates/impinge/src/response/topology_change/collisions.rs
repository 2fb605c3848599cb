//! Which vertices of a surface collide, and which of these collisions belong together.

use glam::DVec3;

use crate::broad::neighbours::{Domain, NeighbourSearch, Particles};
use crate::model::Model;
use crate::narrow::exact::winding::{Winding, counted_winding};
use crate::num::compact_sort::sort_rarely;
use crate::num::disjoint_sets::DisjointSets;
use crate::{Error, Mesh, Pose};

/// Vertices that collide at one place.
#[derive(Debug, Clone)]
pub(super) struct Cluster {
    /// The vertices, ascending.
    pub vertices: Vec<u32>,
    /// Those two that are nearest.
    pub nearest: [u32; 2],
    /// Whether what lies between them is the inside of the surface.
    pub inside: bool,
}

/// All collisions of vertices that are no neighbours, those first whose vertices are nearest.
pub(super) fn collisions(
    model: &Model,
    distance: f64,
    search: &mut dyn NeighbourSearch,
) -> Result<Vec<Cluster>, Error> {
    let mesh = model.mesh();
    let positions: Vec<[f64; 3]> = mesh.vertices().iter().map(|p| p.to_array()).collect();
    let mut pairs = Vec::new();
    search.search(&Particles::new(&positions, Domain::OPEN, distance)?, &mut pairs);
    let (neighbours, normals) = (neighbours(mesh), normals(mesh));
    let opposed = |&[u, v]: &[u32; 2]| normals[u as usize].dot(normals[v as usize]) < 0.0;
    let apart = |&[u, v]: &[u32; 2]| !share(&neighbours[u as usize], &neighbours[v as usize]);
    pairs.retain(|pair| opposed(pair) && apart(pair));
    pairs.sort_unstable();
    let inside: Vec<bool> = pairs.iter().map(|pair| is_inside(model, pair)).collect();
    let of_kind = |kind| clusters(mesh, &neighbours, &pairs, &inside, kind);
    let mut all: Vec<Cluster> = [false, true].into_iter().flat_map(of_kind).collect();
    sort_rarely(&mut all, |a, b| square(mesh, a.nearest).total_cmp(&square(mesh, b.nearest)));
    Ok(all)
}

/// The squared distance of two vertices.
fn square(mesh: &Mesh, [u, v]: [u32; 2]) -> f64 {
    mesh.vertices()[u as usize].distance_squared(mesh.vertices()[v as usize])
}

/// The collisions of one kind, joined where their vertices are neighbours.
fn clusters(
    mesh: &Mesh,
    neighbours: &[Vec<u32>],
    pairs: &[[u32; 2]],
    inside: &[bool],
    kind: bool,
) -> Vec<Cluster> {
    let count = mesh.vertices().len();
    let mut colliding = vec![false; count];
    let mut sets = DisjointSets::new(count);
    let mine = || pairs.iter().zip(inside).filter(|(_, inside)| **inside == kind).map(|(pair, _)| *pair);
    for [u, v] in mine() {
        (colliding[u as usize], colliding[v as usize]) = (true, true);
        sets.join(u as usize, v as usize);
    }
    for u in (0..count).filter(|&u| colliding[u]) {
        for &v in neighbours[u].iter().filter(|&&v| colliding[v as usize]) {
            sets.join(u, v as usize);
        }
    }
    let mut number = vec![usize::MAX; count];
    let mut all: Vec<Cluster> = Vec::new();
    for pair in mine() {
        let root = sets.root(pair[0] as usize);
        if number[root] == usize::MAX {
            number[root] = all.len();
            all.push(Cluster { vertices: Vec::new(), nearest: pair, inside: kind });
        }
        let nearest = &mut all[number[root]].nearest;
        if square(mesh, pair) < square(mesh, *nearest) {
            *nearest = pair;
        }
    }
    for u in (0..count).filter(|&u| colliding[u]) {
        all[number[sets.root(u)]].vertices.push(u as u32);
    }
    all
}

/// Whether what lies between two vertices is inside the surface once; where two parts overlap it is twice.
fn is_inside(model: &Model, &[u, v]: &[u32; 2]) -> bool {
    let [p, q] = [u, v].map(|v| model.mesh().vertices()[v as usize]);
    let (winding, _) = counted_winding(model, &Pose::IDENTITY, p.midpoint(q));
    matches!(winding, Winding::Off(1 | -1))
}

/// The vertices around each vertex and itself, ascending.
fn neighbours(mesh: &Mesh) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = (0..mesh.vertices().len() as u32).map(|v| vec![v]).collect();
    for &[a, b, c] in mesh.triangles() {
        // In a closed oriented surface every edge is passed in both directions.
        all[a as usize].push(b);
        all[b as usize].push(c);
        all[c as usize].push(a);
    }
    all.iter_mut().for_each(|list| list.sort_unstable());
    all
}

/// Whether two ascending lists have an element in common.
fn share(a: &[u32], b: &[u32]) -> bool {
    a.iter().any(|v| b.binary_search(v).is_ok())
}

/// The normal of each vertex: the mean of its triangles', weighted by their areas.
fn normals(mesh: &Mesh) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; mesh.vertices().len()];
    for (t, corners) in (0..).zip(mesh.triangles()) {
        let [a, b, c] = mesh.corners(t);
        let normal = (b - a).cross(c - a);
        corners.iter().for_each(|&v| normals[v as usize] += normal);
    }
    normals
}
