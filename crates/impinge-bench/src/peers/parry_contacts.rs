//! Contact manifolds of parry3d (f32) and parry3d-f64 on a mesh without ghost edges, kept from frame to frame.

macro_rules! parry_contacts {
    ($module:ident, $krate:ident, $real:ty) => {
        /// The same calls for one width of numbers.
        pub mod $module {
            use anyhow::{Context, Result};
            use glam::DVec3;
            use impinge::Mesh;
            use $krate::math::{Pose, Rotation, Vector};
            use $krate::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
            use $krate::shape::{SharedShape, TriMesh, TriMeshFlags};

            use crate::tables::contacts::{Body, Clock, Kind, MARGIN, Runner, Told, slide};

            fn vector(p: DVec3) -> Vector {
                Vector::new(p.x as $real, p.y as $real, p.z as $real)
            }

            fn shape(kind: &Kind) -> Result<SharedShape> {
                Ok(match kind {
                    Kind::Box([x, y, z]) => SharedShape::cuboid(*x as $real, *y as $real, *z as $real),
                    Kind::Capsule(half, radius) => SharedShape::capsule(
                        vector(DVec3::Z * -*half),
                        vector(DVec3::Z * *half),
                        *radius as $real,
                    ),
                    Kind::Ball(radius) => SharedShape::ball(*radius as $real),
                    Kind::Hull(points) => {
                        let points: Vec<Vector> = points.iter().map(|p| vector(*p)).collect();
                        SharedShape::convex_hull(&points).context("parry makes no hull")?
                    }
                })
            }

            /// Asks about all bodies, frame by frame.
            ///
            /// # Errors
            /// parry refuses the terrain or a body.
            pub fn runner<'s>(ground: &Mesh, bodies: &'s [Body]) -> Result<Runner<'s>> {
                let vertices = ground.vertices().iter().map(|p| vector(*p)).collect();
                let flags = TriMeshFlags::FIX_INTERNAL_EDGES;
                let mesh = TriMesh::with_flags(vertices, ground.triangles().to_vec(), flags)?;
                let shapes: Vec<SharedShape> =
                    bodies.iter().map(|b| shape(&b.kind)).collect::<Result<_>>()?;
                let mut kept: Vec<(Vec<ContactManifold<(), ()>>, _)> =
                    bodies.iter().map(|_| (Vec::new(), None)).collect();
                Ok(Box::new(move |frame, told| {
                    let mut clock = Clock::START;
                    for (k, body) in bodies.iter().enumerate() {
                        let [x, y, z, w] = body.rotation.to_array().map(|c| c as $real);
                        let at = vector(body.position + slide(frame));
                        let pose = Pose::from_parts(at.into(), Rotation::from_xyzw(x, y, z, w));
                        let (manifolds, workspace) = &mut kept[k];
                        clock.time(k, || {
                            DefaultQueryDispatcher.contact_manifolds(
                                &pose,
                                &mesh,
                                shapes[k].as_ref(),
                                MARGIN as $real,
                                manifolds,
                                workspace,
                            )
                        })?;
                        for manifold in manifolds.iter() {
                            let n = manifold.local_n1;
                            told.extend(manifold.points.iter().map(|point| Told {
                                body: k,
                                point: DVec3::new(
                                    f64::from(point.local_p1.x),
                                    f64::from(point.local_p1.y),
                                    f64::from(point.local_p1.z),
                                ),
                                normal: DVec3::new(f64::from(n.x), f64::from(n.y), f64::from(n.z)),
                                depth: -f64::from(point.dist),
                            }));
                        }
                    }
                    Ok(clock.seconds_a_body())
                }))
            }
        }
    };
}

parry_contacts!(single, parry3d, f32);
parry_contacts!(double, parry3d_f64, f64);
