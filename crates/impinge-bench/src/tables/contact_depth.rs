//! How deep a contact of a convex body and a mesh is by the definition of its depth: the smallest shift of the body
//! along the contact's normal that empties the region of the intersection which the contact belongs to.
//!
//! Nothing of the search for contacts is used but the normal and the place. The exact relation tells which triangles
//! the body meets; they are of one region where the body meets a side that they share. The region is followed through
//! small shifts, and the one that empties it is halved.

use anyhow::Result;
use glam::{DQuat, DVec3};
use impinge::{Mesh, Pose, Relation, Shape, closest_point, relation};

/// The region is followed in shifts of this share of the body's size.
const STEP: f64 = 0.005;

/// The shift is known to this share of the body's size.
const KNOWN: f64 = 1e-6;

/// A body that is shifted along the normal of a contact.
pub struct Shifted<'m> {
    pub mesh: &'m Mesh,
    /// The triangles that it may meet.
    pub near: Vec<u32>,
    pub shape: Shape,
    pub position: DVec3,
    pub rotation: DQuat,
    pub size: f64,
    /// Of the contact, from the mesh to the body.
    pub normal: DVec3,
}

impl Shifted<'_> {
    /// The smallest shift that empties the region nearest to a point of the mesh, the body's size where none does;
    /// `None` when the body meets nothing.
    pub fn emptied_after(&self, point: DVec3) -> Result<Option<f64>> {
        let mut first: Option<(f64, u32)> = None;
        for &triangle in &self.near {
            if self.meets_triangle(triangle, 0.0)? {
                let shape = Shape::triangle(self.mesh.corners(triangle))?;
                let far = closest_point(&shape, point)?.distance.abs();
                first = first.filter(|(least, _)| *least <= far).or(Some((far, triangle)));
            }
        }
        let Some((_, triangle)) = first else { return Ok(None) };
        let mut region = self.region(&[triangle], 0.0)?;
        let (mut low, mut step) = (0.0, STEP * self.size);
        while low < self.size && step > KNOWN * self.size {
            let left = self.region(&region, low + step)?;
            if left.is_empty() {
                step *= 0.5;
            } else {
                (region, low) = (left, low + step);
            }
        }
        Ok(Some(low + 0.5 * step))
    }

    /// The triangles of the region that some triangles are part of, after a shift.
    fn region(&self, from: &[u32], shift: f64) -> Result<Vec<u32>> {
        let mut all = Vec::new();
        for &triangle in from {
            if self.meets_triangle(triangle, shift)? {
                all.push(triangle);
            }
        }
        let mut next = 0;
        while let Some(&triangle) = all.get(next) {
            next += 1;
            let own = self.mesh.triangles()[triangle as usize];
            for &other in &self.near {
                let theirs = self.mesh.triangles()[other as usize];
                let mut shared = own.into_iter().filter(|v| theirs.contains(v));
                if let [Some(p), Some(q), None] = [shared.next(), shared.next(), shared.next()]
                    && !all.contains(&other)
                {
                    let side = Shape::segment([p, q].map(|v| self.mesh.vertices()[v as usize]))?;
                    if self.meets(&side, shift)? {
                        all.push(other);
                    }
                }
            }
        }
        Ok(all)
    }

    fn meets_triangle(&self, triangle: u32, shift: f64) -> Result<bool> {
        self.meets(&Shape::triangle(self.mesh.corners(triangle))?, shift)
    }

    fn meets(&self, other: &Shape, shift: f64) -> Result<bool> {
        let pose = Pose::from_rotation(self.position + self.normal * shift, self.rotation)?;
        let apart = !other.bounds(&Pose::IDENTITY).meets(&self.shape.bounds(&pose));
        Ok(!apart && relation(other, self.shape.at(pose)) != Relation::Separated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A roof along y with slopes of one.
    fn roof() -> Result<Mesh> {
        let vertices = [
            [-4.0, -4.0, -4.0],
            [-4.0, 4.0, -4.0],
            [0.0, -4.0, 0.0],
            [0.0, 4.0, 0.0],
            [4.0, -4.0, -4.0],
            [4.0, 4.0, -4.0],
        ];
        let triangles = vec![[0, 2, 1], [1, 2, 3], [2, 4, 3], [3, 4, 5]];
        Ok(Mesh::new(vertices.to_vec(), triangles)?)
    }

    #[test]
    fn a_ridge_is_as_deep_as_the_body_has_to_be_lifted() -> Result<()> {
        let mesh = roof()?;
        let up = |shape: Shape, height: f64, normal: DVec3| -> Result<Option<f64>> {
            let (near, position) = ((0..4).collect(), DVec3::Z * height);
            let body =
                Shifted { mesh: &mesh, near, shape, position, rotation: DQuat::IDENTITY, size: 1.0, normal };
            body.emptied_after(DVec3::ZERO)
        };
        let near = |found: Option<f64>, truth: f64| found.is_some_and(|x| (x - truth).abs() < 2.0 * KNOWN);
        // The points of the face are at most 0.03 / √2 from the slopes, the ridge is 0.03 deep.
        assert!(near(up(Shape::cuboid([0.5; 3])?, 0.47, DVec3::Z)?, 0.03));
        assert!(near(up(Shape::sphere(0.5)?, 0.46, DVec3::Z)?, 0.04));
        let slope = DVec3::new(0.5_f64.sqrt(), 0.0, 0.5_f64.sqrt());
        assert!(near(up(Shape::cuboid([0.5; 3])?, 0.49, slope)?, 0.01 * 2.0_f64.sqrt()));
        assert_eq!(up(Shape::sphere(0.5)?, 0.6, DVec3::Z)?, None);
        Ok(())
    }
}
