//! A sphere of nearly equal triangles: an icosahedron, each triangle split into four again and again.

use std::collections::HashMap;

use glam::DVec3;

use super::polyhedron::icosahedron;
use crate::{Error, Mesh};

/// Splits beyond which the triangles could not be numbered.
const MOST_SPLITS: u32 = 12;

/// A sphere from an icosahedron split `splits` times: 20 · 4^splits triangles.
///
/// # Errors
/// A radius that is not positive, more than 12 splits.
pub fn ico_sphere(radius: f64, splits: u32) -> Result<Mesh, Error> {
    if splits > MOST_SPLITS {
        let reason = format!("{splits} is more than {MOST_SPLITS}");
        return Err(Error::Argument { name: "splits", reason });
    }
    let start = icosahedron(radius)?;
    let (mut vertices, mut triangles) = (start.vertices().to_vec(), start.triangles().to_vec());
    for _ in 0..splits {
        triangles = split(&mut vertices, &triangles, radius);
    }
    Mesh::from_points(vertices, triangles)
}

fn split(vertices: &mut Vec<DVec3>, triangles: &[[u32; 3]], radius: f64) -> Vec<[u32; 3]> {
    let mut middles: HashMap<[u32; 2], u32> = HashMap::with_capacity(3 * triangles.len() / 2);
    let mut middle = |a: u32, b: u32| {
        *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
            // Scaled before the square root, so that no radius overflows or underflows in a length.
            let sum = (vertices[a as usize] + vertices[b as usize]) / (2.0 * radius);
            vertices.push(sum * (radius / sum.length()));
            vertices.len() as u32 - 1
        })
    };
    triangles
        .iter()
        .flat_map(|&[a, b, c]| {
            let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        })
        .collect()
}
