//! Loop subdivision of a closed surface (C. Loop, Smooth Subdivision Surfaces Based on Triangles, 1987).

use std::collections::HashMap;
use std::f64::consts::TAU;

use anyhow::{Context, Result, ensure};

use super::meshes::Surface;

/// Each triangle becomes four; old vertices move towards their neighbours.
///
/// # Errors
/// An edge that does not have exactly two triangles.
pub fn subdivided(surface: &Surface) -> Result<Surface> {
    let edges = edges(surface)?;
    let mut vertices = moved_vertices(surface, &edges);
    let mut middle = HashMap::new();
    for edge in &edges {
        middle.insert(edge.ends, vertices.len() as u32);
        let [a, b, c, d] = [edge.ends[0], edge.ends[1], edge.across[0], edge.across[1]]
            .map(|v| surface.vertices[v as usize]);
        vertices.push(std::array::from_fn(|i| 3.0 / 8.0 * (a[i] + b[i]) + (c[i] + d[i]) / 8.0));
    }
    let mut triangles = Vec::with_capacity(4 * surface.triangles.len());
    for &[a, b, c] in &surface.triangles {
        let [ab, bc, ca] = [ends(a, b), ends(b, c), ends(c, a)].map(|e| middle[&e]);
        triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    Ok(Surface { vertices, triangles })
}

/// An edge and the two corners opposite to it.
struct Edge {
    ends: [u32; 2],
    across: [u32; 2],
}

fn ends(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// All edges, in ascending order of their ends.
fn edges(surface: &Surface) -> Result<Vec<Edge>> {
    let mut sides: Vec<([u32; 2], u32)> = surface
        .triangles
        .iter()
        .flat_map(|&[a, b, c]| [(ends(a, b), c), (ends(b, c), a), (ends(c, a), b)])
        .collect();
    sides.sort_unstable();
    let same = sides.chunk_by(|a, b| a.0 == b.0);
    same.map(|group| {
        let ends = group[0].0;
        ensure!(group.len() == 2, "edge {ends:?} has {} triangles, not two", group.len());
        Ok(Edge { ends, across: [group[0].1, group[1].1] })
    })
    .collect::<Result<Vec<Edge>>>()
    .context("Loop subdivision needs a closed surface")
}

fn moved_vertices(surface: &Surface, edges: &[Edge]) -> Vec<[f64; 3]> {
    let mut neighbours = vec![(0_u32, [0.0; 3]); surface.vertices.len()];
    for &Edge { ends: [a, b], .. } in edges {
        for (v, other) in [(a, b), (b, a)] {
            let (count, sum) = &mut neighbours[v as usize];
            *count += 1;
            *sum = std::array::from_fn(|i| sum[i] + surface.vertices[other as usize][i]);
        }
    }
    let moved = |(v, (count, sum)): (&[f64; 3], &(u32, [f64; 3]))| {
        let n = f64::from(*count);
        let weight = (5.0 / 8.0 - (3.0 / 8.0 + (TAU / n).cos() / 4.0).powi(2)) / n;
        std::array::from_fn(|i| v[i] * (1.0 - n * weight) + sum[i] * weight)
    };
    surface.vertices.iter().zip(&neighbours).map(moved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octahedron() -> Surface {
        let vertices = vec![
            [1.0, 0.0, 0.0],
            [-1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, -1.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.0, 0.0, -1.0],
        ];
        let mut triangles = Vec::new();
        for (x, y, z) in [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4)] {
            triangles.extend([[x, y, z], [y, x, 5]]);
        }
        Surface { vertices, triangles }
    }

    #[test]
    fn an_octahedron_by_hand() {
        let fine = subdivided(&octahedron()).unwrap();
        assert_eq!((fine.vertices.len(), fine.triangles.len()), (18, 32));
        // Valence four: weight (5/8 − 9/64)/4 for each neighbour, and the neighbours cancel.
        assert!((fine.vertices[0][0] - (1.0 - 31.0 / 64.0)).abs() < 1e-15, "{:?}", fine.vertices[0]);
        // The edge from x to y: 3/8 of both ends, the corners across cancel.
        assert!(fine.vertices[6..].contains(&[0.375, 0.375, 0.0]));
        assert!(subdivided(&fine).is_ok(), "the result is closed again");
    }

    #[test]
    fn an_open_surface_is_refused() {
        let mut open = octahedron();
        open.triangles.pop();
        assert!(subdivided(&open).is_err());
    }
}
