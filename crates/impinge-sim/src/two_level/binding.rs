//! How a fine surface hangs on a coarse one: each vertex on the nearest coarse triangle, by barycentric weights.

use std::collections::BTreeSet;

use glam::DVec3;
use impinge::{Error, Feature, Mesh, Shape, closest_point_batch};

/// The control vertices of a fine vertex and their weights, which sum to 1.
pub(super) type Binding = ([u32; 3], [f64; 3]);

/// The fine vertices of one coarse triangle.
#[derive(Debug, Clone, Default)]
pub(super) struct Patch {
    pub vertices: Vec<u32>,
    /// A ball around them at rest.
    pub centre: DVec3,
    pub radius: f64,
    /// Mean edge of the coarse triangle.
    pub spacing: f64,
}

/// Binds each vertex to the coarse triangle that is nearest at rest.
pub(super) fn bind(fine: &Mesh, coarse: &Mesh) -> Result<(Vec<Binding>, Vec<Patch>), Error> {
    let of_vertex = triangles_of_vertices(coarse);
    let mut patches = vec![Patch::default(); coarse.triangles().len()];
    let mut bindings = Vec::with_capacity(fine.vertices().len());
    let feet = closest_point_batch(&Shape::from(coarse.clone()), fine.vertices())?;
    for (v, foot) in feet.iter().enumerate() {
        let triangle = match foot.feature {
            Feature::Face(t) => t,
            Feature::Vertex(c) => of_vertex[c as usize][0],
            Feature::Edge([c, d]) => {
                let shared = of_vertex[c as usize].iter().find(|t| of_vertex[d as usize].contains(t));
                *shared.unwrap_or(&of_vertex[c as usize][0])
            }
            _ => 0,
        };
        patches[triangle as usize].vertices.push(v as u32);
        bindings.push((coarse.triangles()[triangle as usize], weights(foot.point, coarse.corners(triangle))));
    }
    for (t, patch) in patches.iter_mut().enumerate() {
        let [a, b, c] = coarse.corners(t as u32);
        patch.spacing = (a.distance(b) + b.distance(c) + c.distance(a)) / 3.0;
        patch.centre = (a + b + c) / 3.0;
        let away = |v: &u32| fine.vertices()[*v as usize].distance(patch.centre);
        patch.radius = patch.vertices.iter().map(away).fold(0.0, f64::max);
    }
    Ok((bindings, patches))
}

fn triangles_of_vertices(mesh: &Mesh) -> Vec<Vec<u32>> {
    let mut found = vec![Vec::new(); mesh.vertices().len()];
    for (t, corners) in mesh.triangles().iter().enumerate() {
        corners.iter().for_each(|&c| found[c as usize].push(t as u32));
    }
    found
}

/// Barycentric coordinates of a point of a triangle; equal ones where it has no area.
fn weights(p: DVec3, [a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let normal = (b - a).cross(c - a);
    let share = |u: DVec3, v: DVec3| normal.dot((u - p).cross(v - p)) / normal.length_squared();
    let [first, second] = [share(b, c), share(c, a)];
    if first.is_finite() && second.is_finite() {
        [first, second, 1.0 - first - second]
    } else {
        [1.0 / 3.0; 3]
    }
}

/// A third of the area of the triangles around each vertex.
pub(super) fn vertex_areas(mesh: &Mesh) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.vertices().len()];
    for (t, corners) in mesh.triangles().iter().enumerate() {
        let [a, b, c] = mesh.corners(t as u32);
        let share = (b - a).cross(c - a).length() / 6.0;
        corners.iter().for_each(|&v| areas[v as usize] += share);
    }
    areas
}

/// Every edge once.
pub(super) fn edges(mesh: &Mesh) -> Vec<[u32; 2]> {
    let of = |&[a, b, c]: &[u32; 3]| [[a, b], [b, c], [c, a]].map(|[i, j]| [i.min(j), i.max(j)]);
    mesh.triangles().iter().flat_map(of).collect::<BTreeSet<_>>().into_iter().collect()
}

/// How many edges end at each vertex.
pub(super) fn degrees(edges: &[[u32; 2]], vertices: usize) -> Vec<u32> {
    let mut found = vec![0; vertices];
    edges.iter().flatten().for_each(|&v| found[v as usize] += 1);
    found
}
