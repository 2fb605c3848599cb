//! Two meshes: do they meet, in which triangles, along which curves, and if not, how far apart are they?

use impinge::{Error, Pose, Relation, Shape, contour, distance, pairs, procedural, relation};

fn main() -> Result<(), Error> {
    let torus = Shape::from(procedural::torus(1.0, 0.3, 96, 48)?);
    let ball = Shape::from(procedural::ico_sphere(0.5, 4)?);

    for x in [0.0, 0.25, 1.0, 1.5, 2.5] {
        let moved = ball.at(Pose::from_translation([x, 0.0, 0.0])?);
        let found = relation(&torus, moved);
        let gap = distance(&torus, moved);
        let loops = contour(&torus, moved)?;
        println!(
            "ball at x = {x}: {found:?}, distance {:.4}, {} pairs of triangles, {} curve(s) of length {:.3}",
            gap.distance,
            pairs(&torus, moved)?.len(),
            loops.len(),
            loops.iter().map(|line| line.length()).sum::<f64>(),
        );
        assert_eq!(found.is_contact(), gap.distance == 0.0);
    }

    // Closed meshes are solids: a small ball in the tube touches no triangle, yet it is inside.
    let pearl = Shape::from(procedural::ico_sphere(0.1, 3)?);
    let in_tube = Pose::from_translation([1.0, 0.0, 0.0])?;
    assert_eq!(relation(pearl.at(in_tube), &torus), Relation::AInsideB);
    println!("the pearl is inside the tube");
    Ok(())
}
