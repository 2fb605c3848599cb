//! Primitives, hulls and meshes in one call: how two shapes lie to each other and how far apart they are.
//!
//! `cargo run --release --example primitives`

use glam::DVec3;
use impinge::narrow::dispatch::{PairMemory, distance, relation};
use impinge::procedural;
use impinge::shape::{Polytope, Primitive};
use impinge::{Error, Pose, Shape};

fn main() -> Result<(), Error> {
    let corners: Vec<DVec3> = procedural::icosahedron(0.5)?.vertices().to_vec();
    let shapes: Vec<(&str, Shape)> = vec![
        ("sphere", Primitive::sphere(0.5)?.into()),
        ("box", Primitive::cuboid([0.4, 0.5, 0.6])?.into()),
        ("capsule", Primitive::capsule(0.3, 0.5)?.into()),
        ("cylinder", Primitive::cylinder(0.4, 0.5)?.into()),
        ("cone", Primitive::cone(0.5, 0.5)?.into()),
        ("ellipsoid", Primitive::ellipsoid([0.3, 0.5, 0.7])?.into()),
        ("hull", Polytope::hull(&corners)?.into()),
        ("mesh", procedural::torus(0.5, 0.2, 48, 24)?.into()),
        ("ground", Primitive::half_space([0.0, 0.0, 1.0], -0.45)?.into()),
    ];
    // Two bodies side by side, the second a little turned.
    let (still, beside) = (Pose::IDENTITY, Pose::new([0.8, 0.1, 0.2], [0.1, 0.2, 0.3, 0.9])?);
    for (i, (name, a)) in shapes.iter().enumerate() {
        for (other, b) in &shapes[i + 1..] {
            let mut memory = PairMemory::default();
            let (how, _) = relation(a, &still, b, &beside, &mut memory);
            let (found, certainty) = distance(a, &still, b, &beside, &mut memory);
            // Moving b along the normal by the penetration depth parts two convex shapes.
            println!(
                "{name:>9} – {other:<9} {how:?}, {:+.6} along {:.3} ({certainty:?})",
                found.distance, found.normal
            );
        }
    }
    Ok(())
}
