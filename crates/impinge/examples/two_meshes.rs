//! Two meshes and one question: do they meet, where, and if not, how far apart are they?

use impinge::model::Model;
use impinge::{Error, Pose, Relation, contour, distance, procedural, relation};

fn main() -> Result<(), Error> {
    let torus = Model::from(procedural::torus(1.0, 0.3, 96, 48)?);
    let ball = Model::from(procedural::ico_sphere(0.5, 4)?);
    let at_origin = Pose::IDENTITY;

    for x in [0.0, 0.25, 1.0, 1.5, 2.5] {
        let moved = Pose::from_translation([x, 0.0, 0.0])?;
        let found = relation(&torus, &at_origin, &ball, &moved);
        let gap = distance(&torus, &at_origin, &ball, &moved);
        let loops = contour(&torus, &at_origin, &ball, &moved);
        println!(
            "ball at x = {x}: {found:?}, distance {:.4}, {} contact curve(s) of length {:.3}",
            gap.distance,
            loops.len(),
            loops.iter().map(|line| line.length()).sum::<f64>(),
        );
        assert_eq!(found.is_contact(), gap.distance == 0.0);
    }

    // Closed meshes are solids: a small ball in the tube touches no triangle, yet it is inside.
    let pearl = Model::from(procedural::ico_sphere(0.1, 3)?);
    let in_tube = Pose::from_translation([1.0, 0.0, 0.0])?;
    assert_eq!(relation(&pearl, &in_tube, &torus, &at_origin), Relation::AInsideB);
    println!("the pearl is inside the tube");
    Ok(())
}
