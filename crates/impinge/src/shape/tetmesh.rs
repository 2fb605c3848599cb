//! A solid of tetrahedra, and the surface around it.
//!
//! The surface is the boundary of the chain of all tetrahedra, each taken with positive orientation: faces
//! that two of them use in opposite directions cancel, what is left faces outward. A boundary has no
//! boundary, so the surface is always closed, also where the solid overlaps or touches itself.

use std::collections::HashMap;

use glam::DVec3;

use super::weld::Weld;
use crate::num::predicate::{Sign, orient3d};
use crate::num::tolerance::LARGEST_COORDINATE;
use crate::{Error, Mesh};

/// The faces of a tetrahedron whose corner 3 lies on the positive side of 0, 1, 2, seen from outside.
const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

/// Vertices and tetrahedra, every index in range and every coordinate finite; of either orientation.
#[derive(Debug, Clone, PartialEq)]
pub struct TetMesh {
    vertices: Vec<DVec3>,
    tetrahedra: Vec<[u32; 4]>,
}

impl TetMesh {
    /// Checks and takes the arrays.
    ///
    /// # Errors
    /// No tetrahedra, an index out of range, or a coordinate that is not finite or beyond 1e60.
    pub fn new(vertices: Vec<DVec3>, tetrahedra: Vec<[u32; 4]>) -> Result<TetMesh, Error> {
        let most = u32::MAX as usize / 12;
        for (what, count) in [("vertices", vertices.len()), ("tetrahedra", tetrahedra.len())] {
            if count > most {
                return Err(Error::TooMany { what, count, most });
            }
        }
        let refuse = |reason: String| Err(Error::Argument { name: "tetrahedra", reason });
        if tetrahedra.is_empty() {
            return refuse("there are none".into());
        }
        for (vertex, p) in vertices.iter().enumerate() {
            if let Some(&value) = p.as_ref().iter().find(|x| !(x.abs() <= LARGEST_COORDINATE)) {
                return Err(Error::Coordinate { vertex, value });
            }
        }
        for (t, corners) in tetrahedra.iter().enumerate() {
            if let Some(v) = corners.iter().find(|&&v| v as usize >= vertices.len()) {
                return refuse(format!("number {t} names vertex {v} of {}", vertices.len()));
            }
        }
        Ok(TetMesh { vertices, tetrahedra })
    }

    /// The vertices, in the order they came.
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// Vertex indices of each tetrahedron, in the order they came.
    pub fn tetrahedra(&self) -> &[[u32; 4]] {
        &self.tetrahedra
    }

    /// The corners of one tetrahedron.
    pub fn corners(&self, tetrahedron: u32) -> [DVec3; 4] {
        self.tetrahedra[tetrahedron as usize].map(|v| self.vertices[v as usize])
    }

    /// The volumes of all tetrahedra added up, each as positive.
    pub fn volume(&self) -> f64 {
        (0..self.tetrahedra.len() as u32)
            .map(|t| {
                let [a, b, c, d] = self.corners(t);
                ((b - a).cross(c - a).dot(d - a) / 6.0).abs()
            })
            .sum()
    }

    /// The surface around the solid, closed and facing outward, over the same vertices.
    ///
    /// # Errors
    /// Nothing is left after cancelling: every tetrahedron is flat.
    pub fn surface(&self) -> Result<Mesh, Error> {
        let weld = Weld::of(&self.vertices);
        // How often each face is used in the ascending direction of its corners, less the other one.
        let mut net: HashMap<[u32; 3], i64> = HashMap::with_capacity(2 * self.tetrahedra.len());
        let faces: Vec<[u32; 3]> = self.outward_faces().collect();
        for face in &faces {
            let (key, direction) = ascending(face.map(|v| weld.welded(v)));
            *net.entry(key).or_default() += direction;
        }
        let left = faces.into_iter().filter(|face| {
            let (key, direction) = ascending(face.map(|v| weld.welded(v)));
            let Some(count) = net.get_mut(&key) else { return false };
            let keep = *count * direction > 0;
            *count -= if keep { direction } else { 0 };
            keep
        });
        Mesh::from_points(self.vertices.clone(), left.collect())
    }

    /// Four faces a tetrahedron, in order; a flat one is taken as it was given.
    fn outward_faces(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        (0..).zip(&self.tetrahedra).flat_map(|(t, corners)| {
            let [a, b, c, d] = self.corners(t);
            let inverted = orient3d(a, b, c, d) == Sign::Negative;
            FACES.map(|[i, j, k]| {
                let [j, k] = if inverted { [k, j] } else { [j, k] };
                [corners[i], corners[j], corners[k]]
            })
        })
    }
}

/// The corners in ascending order and the sign of the permutation; 0 where two are equal.
fn ascending([a, b, c]: [u32; 3]) -> ([u32; 3], i64) {
    let mut sorted = [a, b, c];
    sorted.sort_unstable();
    let direction = if a == b || b == c || c == a {
        0
    } else if [[a, b, c], [b, c, a], [c, a, b]].contains(&sorted) {
        1
    } else {
        -1
    };
    (sorted, direction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::bits;
    use crate::shape::Topology;
    use crate::shape::mass::Mass;

    /// A block of cells, each cut into six tetrahedra around its diagonal (Kuhn's triangulation).
    fn block(n: u32) -> TetMesh {
        let at = |x: u32, y: u32, z: u32| (z * (n + 1) + y) * (n + 1) + x;
        let side = n + 1;
        let vertices = (0..side * side * side)
            .map(|i| DVec3::new(f64::from(i % side), f64::from(i / side % side), f64::from(i / side / side)))
            .collect();
        let mut tetrahedra = vec![];
        for cell in 0..n * n * n {
            let low = [cell % n, cell / n % n, cell / n / n];
            for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let mut p = low;
                let mut corners = [at(p[0], p[1], p[2]); 4];
                for (step, axis) in order.into_iter().enumerate() {
                    p[axis] += 1;
                    corners[step + 1] = at(p[0], p[1], p[2]);
                }
                tetrahedra.push(corners);
            }
        }
        TetMesh::new(vertices, tetrahedra).unwrap()
    }

    #[test]
    fn a_block_has_the_surface_of_a_box() {
        for n in 1..4 {
            let solid = block(n);
            let surface = solid.surface().unwrap();
            let topology = Topology::of(&surface);
            let mass = Mass::of(&surface, &topology);
            let cube = f64::from(n * n * n);
            assert!(topology.is_watertight());
            assert_eq!((surface.triangles().len(), topology.euler()), (12 * (n * n) as usize, 2));
            assert!((solid.volume() - cube).abs() < 1e-12 && (mass.volume - cube).abs() < 1e-12);
        }
    }

    #[test]
    fn repeated_positions_are_inside_all_the_same() {
        let solid = block(2);
        let vertices = (0..solid.tetrahedra().len() as u32).flat_map(|t| solid.corners(t)).collect();
        let corners = |t: u32| [4 * t, 4 * t + 1, 4 * t + 2, 4 * t + 3];
        let soup = TetMesh::new(vertices, (0..solid.tetrahedra().len() as u32).map(corners).collect());
        assert!(Topology::of(&soup.unwrap().surface().unwrap()).is_watertight());
    }

    #[test]
    fn any_heap_of_tetrahedra_has_a_closed_surface() {
        let mut with_doubles = 0;
        for seed in 0..200 {
            let vertices = block(2).vertices().to_vec();
            let tetrahedra = (0..12)
                .map(|t| std::array::from_fn(|k| (bits(seed, 4 * t + k as u64) % 9) as u32 * 3 / 2))
                .collect();
            let heap = TetMesh::new(vertices, tetrahedra).unwrap();
            if let Ok(surface) = heap.surface() {
                let topology = Topology::of(&surface);
                assert!(topology.is_closed());
                with_doubles += usize::from(!topology.is_watertight());
            }
        }
        assert!((20..200).contains(&with_doubles), "{with_doubles} of 200");
    }

    #[test]
    fn the_culprit_is_named() {
        let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let message = |t: Vec<[u32; 4]>| TetMesh::new(points.clone(), t).unwrap_err().to_string();
        assert!(message(vec![[0, 1, 2, 3], [0, 1, 2, 4]]).contains("number 1 names vertex 4 of 4"));
        assert!(message(vec![]).contains("none"));
        let flat = TetMesh::new(points, vec![[0, 1, 2, 2], [0, 0, 0, 0]]).unwrap();
        assert!(flat.surface().is_err());
    }
}
