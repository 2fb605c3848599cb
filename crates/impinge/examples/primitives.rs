//! Primitives, hulls, compounds and meshes in one call: how two shapes lie to each other and how far apart they
//! are.

use impinge::{Error, Pose, Query, Shape, procedural, relation};

fn main() -> Result<(), Error> {
    let bar = Shape::cuboid([0.5, 0.1, 0.1])?;
    let upright = Pose::new([0.0; 3], [0.0, 1.0, 0.0, 1.0])?;
    let shapes = [
        Shape::sphere(0.5)?,
        Shape::cuboid([0.4, 0.5, 0.6])?,
        Shape::capsule(0.3, 0.5)?,
        Shape::cylinder(0.4, 0.5)?,
        Shape::cone(0.5, 0.5)?,
        Shape::ellipsoid([0.3, 0.5, 0.7])?,
        Shape::triangle([[0.0; 3], [0.5, 0.0, 0.0], [0.0, 0.5, 0.0]])?,
        Shape::segment([[0.0; 3], [0.0, 0.0, 0.5]])?,
        Shape::hull(procedural::icosahedron(0.5)?.vertices().to_vec())?,
        Shape::compound([(bar.clone(), Pose::IDENTITY), (bar, upright)])?,
        Shape::from(procedural::torus(0.5, 0.2, 48, 24)?),
        Shape::half_space([0.0, 0.0, 1.0], -0.45)?,
    ];
    // Two bodies side by side, the second a little turned.
    let beside = Pose::new([0.8, 0.1, 0.2], [0.1, 0.2, 0.3, 0.9])?;
    for (i, a) in shapes.iter().enumerate() {
        for b in &shapes[i + 1..] {
            let answer = Query::default().distance(a, b.at(beside))?;
            let Some(found) = answer.value else { continue };
            let how = relation(a, b.at(beside));
            // Moving b along the normal by the penetration depth separates two convex shapes.
            println!(
                "{:>9} – {:<9} {how:?}, {:+.6} along {:.3} ({:?})",
                a.kind(),
                b.kind(),
                found.distance,
                found.normal,
                answer.certainty
            );
        }
    }
    Ok(())
}
