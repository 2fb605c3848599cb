//! parry3d's `Bvh` over deforming triangles: leaves updated, tree refitted, both trees traversed at once.

use glam::DVec3;
use parry3d::bounding_volume::Aabb;
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy};

/// A tree over triangles whose vertices move.
pub struct Refitted {
    tree: Bvh,
    triangles: Vec<[u32; 3]>,
}

/// Vertices as parry3d takes them.
pub fn vectors(from: &[DVec3]) -> Vec<Vector> {
    from.iter().map(|v| Vector::new(v.x as f32, v.y as f32, v.z as f32)).collect()
}

impl Refitted {
    /// Builds the tree with parry's better strategy.
    pub fn build(vertices: &[Vector], triangles: &[[u32; 3]]) -> Refitted {
        let boxes = triangles.iter().map(|t| bounds(vertices, t)).enumerate();
        Refitted { tree: Bvh::from_iter(BvhBuildStrategy::Binned, boxes), triangles: triangles.to_vec() }
    }

    /// Updates all leaves, then the nodes above; of parry's two ways the one that is faster for whole trees.
    pub fn refit(&mut self, vertices: &[Vector]) {
        for (i, t) in self.triangles.iter().enumerate() {
            self.tree.insert_or_update_partially(bounds(vertices, t), i as u32, 0.0);
        }
        self.tree.refit_without_opt();
    }

    /// The pairs of triangles whose boxes overlap.
    pub fn candidates<'t>(&'t self, other: &'t Refitted) -> impl Iterator<Item = [u32; 2]> + 't {
        self.tree.leaf_pairs(&other.tree, |m, n| m.intersects(n)).map(|(i, j)| [i, j])
    }
}

fn bounds(vertices: &[Vector], triangle: &[u32; 3]) -> Aabb {
    let [a, b, c] = triangle.map(|v| vertices[v as usize]);
    Aabb::new(a.min(b).min(c), a.max(b).max(c))
}
