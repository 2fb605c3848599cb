//! parry3d (f32) and parry3d-f64: its own queries, and the dual traversal one can write with its `Bvh`.
//!
//! Its mesh–mesh queries ask the second mesh once for every triangle of the first; `leaf_pairs` walks
//! both trees at once and is the fairer opponent, though nobody gets it by calling `query`.

macro_rules! parry {
    ($module:ident, $krate:ident, $real:ty) => {
        /// The same calls for one width of numbers.
        pub mod $module {
            use anyhow::{Result, anyhow};
            use impinge::Mesh;
            use $krate::bounding_volume::BoundingVolume;
            use $krate::math::{Pose, Rotation, Vector};
            use $krate::partitioning::BvhNode;
            use $krate::query::details::intersection_test_support_map_support_map;
            use $krate::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
            use $krate::query::{self, PointQuery};
            use $krate::shape::{ConvexPolyhedron, TriMesh, TriMeshFlags};

            use crate::scenes::Placement;

            /// Two meshes and where they stand.
            pub struct Pair {
                meshes: [TriMesh; 2],
                poses: Vec<[Pose; 2]>,
            }

            impl Pair {
                /// Builds both trees.
                ///
                /// # Errors
                /// parry refuses a mesh.
                pub fn new(a: &Mesh, b: &Mesh, placements: &[Placement]) -> Result<Pair> {
                    let poses = placements.iter().map(|p| [pose(&p.numbers[..7]), pose(&p.numbers[7..])]);
                    Ok(Pair { meshes: [mesh(a)?, mesh(b)?], poses: poses.collect() })
                }

                /// `query::intersection_test`.
                ///
                /// # Errors
                /// The pair of shapes is unsupported.
                pub fn intersection_test(&self, case: usize) -> Result<bool> {
                    let ([a, b], [at_a, at_b]) = (&self.meshes, &self.poses[case]);
                    Ok(query::intersection_test(at_a, a, at_b, b)?.intersecting)
                }

                /// `query::distance`.
                ///
                /// # Errors
                /// The pair of shapes is unsupported.
                pub fn distance(&self, case: usize) -> Result<f64> {
                    let ([a, b], [at_a, at_b]) = (&self.meshes, &self.poses[case]);
                    Ok(f64::from(query::distance(at_a, a, at_b, b)?.distance))
                }

                /// Whether any pair of triangles meets, by dual traversal.
                pub fn dual_hit(&self, case: usize) -> bool {
                    self.meeting(case).next().is_some()
                }

                /// Every pair of triangles that meets, by dual traversal.
                pub fn dual_pairs(&self, case: usize) -> Vec<[u32; 2]> {
                    self.meeting(case).collect()
                }

                fn meeting(&self, case: usize) -> impl Iterator<Item = [u32; 2]> {
                    let ([a, b], [at_a, at_b]) = (&self.meshes, &self.poses[case]);
                    let b_in_a = at_a.inv_mul(at_b);
                    let overlap =
                        move |m: &BvhNode, n: &BvhNode| m.aabb().intersects(&n.aabb().transform_by(&b_in_a));
                    a.bvh().leaf_pairs(b.bvh(), overlap).map(|(i, j)| [i, j]).filter(move |&[i, j]| {
                        intersection_test_support_map_support_map(&b_in_a, &a.triangle(i), &b.triangle(j))
                    })
                }
            }

            /// Two convex hulls and where they stand.
            #[allow(dead_code, reason = "only one width of numbers is asked for hulls")]
            pub struct Hulls {
                hulls: [ConvexPolyhedron; 2],
                poses: Vec<[Pose; 2]>,
            }

            #[allow(dead_code, reason = "only one width of numbers is asked for hulls")]
            impl Hulls {
                /// The hulls of two sets of points.
                ///
                /// # Errors
                /// parry refuses one.
                pub fn new(a: &[glam::DVec3], b: &[glam::DVec3], placements: &[Placement]) -> Result<Hulls> {
                    let hull = |points: &[glam::DVec3]| {
                        let points: Vec<Vector> = points.iter().map(|v| vector(v.as_ref())).collect();
                        ConvexPolyhedron::from_convex_hull(&points)
                            .ok_or_else(|| anyhow!("parry finds no hull"))
                    };
                    let poses = placements.iter().map(|p| [pose(&p.numbers[..7]), pose(&p.numbers[7..])]);
                    Ok(Hulls { hulls: [hull(a)?, hull(b)?], poses: poses.collect() })
                }

                /// `query::distance`.
                ///
                /// # Errors
                /// The pair of shapes is unsupported.
                pub fn distance(&self, case: usize) -> Result<f64> {
                    let ([a, b], [at_a, at_b]) = (&self.hulls, &self.poses[case]);
                    Ok(f64::from(query::distance(at_a, a, at_b, b)?.distance))
                }

                /// parry's GJK begun in the direction it ended with last time, which `query` offers nobody:
                /// the fairer opponent of a walk with memory. `last` points from a to b, in a's frame.
                pub fn distance_again(&self, case: usize, last: &mut Option<Vector>) -> Result<f64> {
                    let ([a, b], [at_a, at_b]) = (&self.hulls, &self.poses[case]);
                    let b_in_a = at_a.inv_mul(at_b);
                    let towards = last.unwrap_or(b_in_a.translation).normalize();
                    let mut simplex = VoronoiSimplex::new();
                    simplex.reset(CsoPoint::from_shapes(&b_in_a, a, b, towards));
                    match gjk::closest_points(&b_in_a, a, b, <$real>::MAX, true, &mut simplex) {
                        GJKResult::ClosestPoints(on_a, on_b, _) => {
                            *last = Some(on_b - on_a);
                            Ok(f64::from((on_b - on_a).length()))
                        }
                        GJKResult::Intersection => Ok(0.0),
                        _ => Err(anyhow!("GJK did not converge")),
                    }
                }
            }

            /// A mesh with parry's tree, as its users build it.
            ///
            /// # Errors
            /// parry refuses it.
            pub fn mesh(from: &Mesh) -> Result<TriMesh> {
                TriMesh::new(points(from), from.triangles().to_vec()).map_err(|e| anyhow!("{e:?}"))
            }

            /// A mesh that can tell inside from outside by pseudo-normals.
            ///
            /// # Errors
            /// parry refuses it.
            pub fn oriented_mesh(from: &Mesh) -> Result<TriMesh> {
                TriMesh::with_flags(points(from), from.triangles().to_vec(), TriMeshFlags::ORIENTED)
                    .map_err(|e| anyhow!("{e:?}"))
            }

            /// Bytes of the tree for each triangle.
            pub fn bytes_per_triangle(of: &TriMesh) -> f64 {
                of.bvh().total_memory_size() as f64 / of.indices().len() as f64
            }

            /// Distance of a point from the surface.
            pub fn point_distance(to: &TriMesh, from: [f64; 3]) -> f64 {
                f64::from(to.distance_to_local_point(vector(&from), false))
            }

            /// Distance of a point from the surface, negative inside.
            pub fn signed_point_distance(to: &TriMesh, from: [f64; 3]) -> f64 {
                let point = vector(&from);
                let projection = to.project_local_point(point, false);
                let distance = f64::from((projection.point - point).length());
                if projection.is_inside { -distance } else { distance }
            }

            fn points(from: &Mesh) -> Vec<Vector> {
                from.vertices().iter().map(|v| vector(v.as_ref())).collect()
            }

            fn vector(v: &[f64]) -> Vector {
                Vector::new(v[0] as $real, v[1] as $real, v[2] as $real)
            }

            /// From the quaternion (w x y z) and the position.
            fn pose(n: &[f64]) -> Pose {
                let [w, x, y, z] = [n[0], n[1], n[2], n[3]].map(|v| v as $real);
                Pose::from_parts(vector(&n[4..]).into(), Rotation::from_xyzw(x, y, z, w))
            }
        }
    };
}

parry!(single, parry3d, f32);
parry!(double, parry3d_f64, f64);
