//! obvhs and bvh: crates that build trees of f32 boxes.

use std::time::Duration;

use bvh::aabb::{Aabb, Bounded};
use bvh::bounding_hierarchy::BHShape;
use bvh::bvh::Bvh;
use impinge::Mesh;
use nalgebra::Point3;
use obvhs::BvhBuildParams;
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::builder::build_bvh2_from_tris;
use obvhs::triangle::Triangle;

/// The triangles as obvhs takes them.
pub fn obvhs_triangles(mesh: &Mesh) -> Vec<Triangle> {
    let corner = |v: u32| mesh.vertices()[v as usize].as_vec3a();
    mesh.triangles().iter().map(|t| t.map(corner)).map(|[v0, v1, v2]| Triangle { v0, v1, v2 }).collect()
}

/// The presets compared with, fastest build first.
pub fn obvhs_presets() -> [(&'static str, BvhBuildParams); 3] {
    [
        ("obvhs-fastest", BvhBuildParams::fastest_build()),
        ("obvhs-fast", BvhBuildParams::fast_build()),
        ("obvhs-medium", BvhBuildParams::medium_build()),
    ]
}

/// Builds a binary tree with obvhs.
pub fn obvhs_build(triangles: &[Triangle], preset: BvhBuildParams) -> Bvh2 {
    build_bvh2_from_tris(triangles, preset, &mut Duration::default())
}

/// The bytes of a tree's nodes and indices.
pub fn obvhs_bytes(tree: &Bvh2) -> usize {
    size_of_val(&tree.nodes[..]) + size_of_val(&tree.primitive_indices[..])
}

/// A triangle's box, as the crate bvh takes it.
pub struct BvhShape {
    bounds: Aabb<f32, 3>,
    node: usize,
}

impl Bounded<f32, 3> for BvhShape {
    fn aabb(&self) -> Aabb<f32, 3> {
        self.bounds
    }
}

impl BHShape<f32, 3> for BvhShape {
    fn set_bh_node_index(&mut self, index: usize) {
        self.node = index;
    }

    fn bh_node_index(&self) -> usize {
        self.node
    }
}

/// The boxes of all triangles.
pub fn bvh_shapes(mesh: &Mesh) -> Vec<BvhShape> {
    let corner = |v: u32| Point3::from(mesh.vertices()[v as usize].as_vec3().to_array());
    let bounds = |t: &[u32; 3]| t.iter().fold(Aabb::empty(), |b, &v| b.grow(&corner(v)));
    mesh.triangles().iter().map(|t| BvhShape { bounds: bounds(t), node: 0 }).collect()
}

/// Builds a tree with the crate bvh.
pub fn bvh_build(shapes: &mut [BvhShape]) -> Bvh<f32, 3> {
    Bvh::build(shapes)
}

/// The bytes of a tree's nodes.
pub fn bvh_bytes(tree: &Bvh<f32, 3>) -> usize {
    size_of_val(&tree.nodes[..])
}
