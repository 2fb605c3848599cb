//! How much of the view from a point a surface covers: the generalised winding number, by a tree.
//!
//! Jacobson, Kavan and Sorkine-Hornung (2013) sum solid angles; Barill, Dickson, Schmidt, Levin and
//! Jacobson, *Fast winding numbers for soups and clouds* (2018), replace far clusters by one dipole each.
//! We keep the dipole and leave their fixed opening ratio: a cluster is taken whole when its error, bounded
//! below, is within its share of the error allowed. With area A, radius r around the dipole's place and
//! distance ρ from the point to that ball, the gradient of the Green's function changes by at most
//! 2r/(4πρ³) over the cluster, so the error is at most A·r/(2πρ³). The sum of these bounds is returned.

use std::f64::consts::PI;

use glam::DVec3;

use crate::Pose;
use crate::hierarchy::dipole::Dipoles;
use crate::model::Model;
use crate::num::tolerance::DOT_ROUNDING;

/// Errors allowed one after the other until a point's side is decided (no unit: turns).
const ALLOWED: [f64; 3] = [0.1, 0.01, 0.0];

/// A winding number and how far it can be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindingEstimate {
    /// About ±1 inside of an almost closed surface, about 0 outside.
    pub value: f64,
    /// The true value is no farther away than this.
    pub error: f64,
    /// Clusters and triangles that were summed up.
    pub terms: u32,
}

/// A model with its dipoles, for many points.
#[derive(Debug, Clone, Copy)]
pub struct SolidAngles<'m> {
    model: &'m Model,
    dipoles: &'m Dipoles,
}

impl<'m> SolidAngles<'m> {
    /// Of a model, which keeps the dipoles.
    pub fn new(model: &'m Model) -> SolidAngles<'m> {
        SolidAngles { model, dipoles: model.dipoles() }
    }

    /// The winding number of a world point, with an error of at most `allowed` beside rounding; 0 sums up
    /// every triangle.
    pub fn winding(&self, pose: &Pose, p: DVec3, allowed: f64) -> WindingEstimate {
        // Solid angles are those in the mesh's own frame.
        let p = pose.matrix().inverse() * (p - pose.translation());
        let mut sum = WindingEstimate { value: 0.0, error: 0.0, terms: 0 };
        let mut stack = vec![0];
        let tree = self.model.tree();
        while let Some(index) = stack.pop() {
            let node = &tree.nodes()[index];
            for lane in node.used() {
                let cluster = &self.dipoles.of(index)[lane];
                let arm = cluster.place - p;
                let away = arm.length();
                let clear = away - cluster.radius;
                let error = cluster.area * cluster.radius / (2.0 * PI * clear * clear * clear);
                sum.terms += 1;
                if clear > 0.0 && error * self.dipoles.area() <= allowed * cluster.area {
                    sum.value += arm.dot(cluster.dipole) / (4.0 * PI * away * away * away);
                    sum.error += error;
                } else if let Some(child) = node.child[lane].as_node() {
                    stack.push(child);
                } else {
                    for slot in node.child[lane].slots() {
                        let corners = self.model.mesh().corners(tree.order()[slot]);
                        sum.value += solid_angle(p, &corners) / (4.0 * PI);
                        sum.terms += 1;
                    }
                }
            }
        }
        sum.error += DOT_ROUNDING * f64::from(sum.terms);
        sum
    }

    /// Whether the surface winds around a world point by more than half a turn, either way.
    pub fn is_enclosed(&self, pose: &Pose, p: DVec3) -> bool {
        let mut enclosed = false;
        for allowed in ALLOWED {
            let found = self.winding(pose, p, allowed);
            enclosed = found.value.abs() > 0.5;
            if (found.value.abs() - 0.5).abs() > found.error {
                break;
            }
        }
        enclosed
    }
}

/// The solid angle of a triangle (van Oosterom and Strackee 1983), positive from behind.
fn solid_angle(p: DVec3, corners: &[DVec3; 3]) -> f64 {
    // Directions first, so that no product leaves the range of f64.
    let [a, b, c] = corners.map(|x| {
        let arm = x - p;
        (arm / arm.abs().max_element()).normalize_or_zero()
    });
    2.0 * a.dot(b.cross(c)).atan2(1.0 + a.dot(b) + b.dot(c) + c.dot(a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mesh;
    use crate::narrow::exact::winding::solid_angle_winding;
    use crate::shape::procedural;

    #[test]
    fn stays_within_its_error_of_the_plain_sum() {
        let mesh = procedural::blob(1.0, 0.3, 4, 2).unwrap();
        // Every third triangle is missing.
        let some = mesh.triangles().iter().enumerate().filter(|(i, _)| i % 3 != 0).map(|(_, t)| *t).collect();
        let model = Model::from(Mesh::from_points(mesh.vertices().to_vec(), some).unwrap());
        let angles = SolidAngles::new(&model);
        let pose = Pose::new([0.2, 0.1, -0.4], [0.1, 0.5, 0.3, 0.7]).unwrap();
        let mut enclosed = 0;
        for p in procedural::positions(60, DVec3::splat(-1.3), DVec3::splat(1.3), 6) {
            let want = solid_angle_winding(&model, &pose, p);
            for allowed in [0.3, 0.1, 0.01, 0.0] {
                let found = angles.winding(&pose, p, allowed);
                assert!((found.value - want).abs() <= found.error + 1e-12, "{found:?} {want}");
                assert!(found.error <= allowed + 1e-9);
            }
            assert_eq!(angles.is_enclosed(&pose, p), want.abs() > 0.5);
            enclosed += usize::from(want.abs() > 0.5);
        }
        assert!((6..54).contains(&enclosed), "{enclosed}");
    }

    #[test]
    fn degenerate_triangles_add_nothing() {
        let ball = procedural::ico_sphere(1.0, 2).unwrap();
        let spikes = [[0, 0, 5], [7, 7, 7]];
        let triangles = ball.triangles().iter().chain(&spikes).copied().collect();
        let model = Model::from(Mesh::from_points(ball.vertices().to_vec(), triangles).unwrap());
        let angles = SolidAngles::new(&model);
        assert!((angles.winding(&Pose::IDENTITY, DVec3::ZERO, 0.0).value - 1.0).abs() < 1e-9);
        assert!(angles.winding(&Pose::IDENTITY, DVec3::splat(3.0), 0.01).value.abs() < 0.01);
    }
}
