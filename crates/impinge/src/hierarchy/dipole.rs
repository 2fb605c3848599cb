//! The triangles under each box of a tree as one dipole: their area vector at one place.
//!
//! Barill, Dickson, Schmidt, Levin and Jacobson, *Fast winding numbers for soups and clouds* (2018): from far
//! away a cluster of triangles covers as much of the view as one small triangle of the same area vector.

use glam::DVec3;

use super::wide::{WIDTH, WideTree};
use crate::Mesh;
use crate::num::parallel::in_turn;
use crate::num::tolerance::DOT_ROUNDING;

/// The dipoles of all boxes of a tree, in the frame of the mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Dipoles {
    clusters: Vec<[Cluster; WIDTH]>,
    area: f64,
}

/// The triangles under one box, seen from far away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cluster {
    /// The centre of their areas.
    pub place: DVec3,
    /// Sum of the triangles' area vectors.
    pub dipole: DVec3,
    /// Sum of their areas.
    pub area: f64,
    /// No corner is farther from the place.
    pub radius: f64,
}

impl Cluster {
    const EMPTY: Cluster = Cluster { place: DVec3::ZERO, dipole: DVec3::ZERO, area: 0.0, radius: 0.0 };
}

impl Dipoles {
    /// Sums up the triangles of a mesh under the boxes of its tree.
    pub fn new(mesh: &Mesh, tree: &WideTree) -> Dipoles {
        let mut clusters = vec![[Cluster::EMPTY; WIDTH]; tree.nodes().len()];
        // Children stand behind their parents.
        for (index, node) in in_turn(tree.nodes().iter().enumerate().rev()) {
            for lane in node.used() {
                let child = node.child[lane];
                let parts: Vec<Cluster> = match child.as_node() {
                    Some(child) => clusters[child].to_vec(),
                    None => child.slots().map(|slot| triangle(mesh.corners(tree.order()[slot]))).collect(),
                };
                clusters[index][lane] = united(&parts);
            }
        }
        let area = clusters[0].iter().map(|c| c.area).sum();
        Dipoles { clusters, area }
    }

    /// The clusters under the boxes of a node.
    #[inline]
    pub fn of(&self, node: usize) -> &[Cluster; WIDTH] {
        &self.clusters[node]
    }

    /// The area of the surface.
    pub fn area(&self) -> f64 {
        self.area
    }
}

fn triangle(corners: [DVec3; 3]) -> Cluster {
    let [a, b, c] = corners;
    let dipole = (b - a).cross(c - a) * 0.5;
    let place = (a + b + c) / 3.0;
    let radius = corners.iter().map(|x| x.distance(place)).fold(0.0, f64::max);
    Cluster { place, dipole, area: dipole.length(), radius }
}

fn united(parts: &[Cluster]) -> Cluster {
    let area: f64 = parts.iter().map(|c| c.area).sum();
    let weighted = parts.iter().map(|c| c.place * c.area).sum::<DVec3>() / area;
    // Triangles without area have no angle; any place serves.
    let place = if area > 0.0 { weighted } else { parts.first().map_or(DVec3::ZERO, |c| c.place) };
    let reach = |c: &Cluster| if c.area > 0.0 { c.place.distance(place) + c.radius } else { 0.0 };
    Cluster {
        place,
        dipole: parts.iter().map(|c| c.dipole).sum(),
        area,
        radius: parts.iter().map(reach).fold(0.0, f64::max) * (1.0 + DOT_ROUNDING),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;

    #[test]
    fn clusters_hold_their_triangles_and_add_up() {
        let mesh = procedural::blob(1.0, 0.3, 3, 2).unwrap();
        let tree = WideTree::build(&mesh);
        let dipoles = Dipoles::new(&mesh, &tree);
        let areas = |t: u32| {
            let [a, b, c] = mesh.corners(t);
            (b - a).cross(c - a).length() * 0.5
        };
        let whole: f64 = (0..mesh.triangles().len() as u32).map(areas).sum();
        assert!((dipoles.area() / whole - 1.0).abs() < 1e-12);
        for (index, node) in tree.nodes().iter().enumerate() {
            for lane in node.used() {
                let cluster = &dipoles.of(index)[lane];
                assert!(cluster.dipole.length() <= cluster.area * (1.0 + 1e-12));
                for slot in node.child[lane].as_node().map_or(node.child[lane].slots(), |_| 0..0) {
                    let corners = mesh.corners(tree.order()[slot]);
                    assert!(corners.iter().all(|p| p.distance(cluster.place) <= cluster.radius));
                }
            }
        }
        // A closed surface has no dipole as a whole.
        let sum: DVec3 = dipoles.of(0).iter().map(|c| c.dipole).sum();
        assert!(sum.length() < 1e-12 * whole);
    }
}
