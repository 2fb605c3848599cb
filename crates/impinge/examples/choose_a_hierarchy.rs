//! The same question with several designs of hierarchy: what each one costs.
//!
//! `cargo run --release --features unstable --example choose_a_hierarchy`

use std::time::Instant;

use impinge::Pose;
use impinge::bound::Volume;
use impinge::hierarchy::cost::CostModel;
use impinge::hierarchy::design::{Ask, Degree, Options, Posed, Tree, collide};
use impinge::procedural;

fn main() -> Result<(), impinge::Error> {
    let ring = procedural::torus(0.5, 0.2, 64, 32)?;
    let knot = procedural::knot([2, 3], 0.6, 0.1, 200, 12)?;
    let (here, there) = (Pose::IDENTITY, Pose::new([0.3, 0.1, 0.2], [0.2, 0.1, 0.4, 0.9])?);

    let mut designs = Options::PRESETS.to_vec();
    designs.push((
        "14-DOPs, degree 4",
        Options { volume: Volume::Dop14, degree: Degree::Four, ..Options::DEFAULT },
    ));
    let hybrid = Options { volume: Volume::Sphere, below: Some((5, Volume::Obb)), ..Options::DEFAULT };
    designs.push(("spheres above boxes", hybrid));

    println!("{:<22}{:>8}{:>8}{:>11}{:>9}{:>7}", "design", "Nv", "Np", "bytes/tri", "us", "pairs");
    let mut measured = Vec::new();
    for (name, options) in &designs {
        let (a, b) = (Tree::build(&ring, options), Tree::build(&knot, options));
        let posed = |tree, mesh, pose| Posed { tree, mesh, pose };
        let start = Instant::now();
        let found = collide(posed(&a, &ring, &here), posed(&b, &knot, &there), Ask::default());
        let nanoseconds = start.elapsed().as_nanos() as f64;
        let work = found.outcome.work;
        measured.push((work, nanoseconds));
        println!(
            "{name:<22}{:>8}{:>8}{:>11}{:>9.0}{:>7}",
            work.volume_tests,
            work.primitive_tests,
            (a.bytes() + b.bytes()) / (ring.triangles().len() + knot.triangles().len()),
            nanoseconds / 1e3,
            found.pairs.len(),
        );
    }
    let model = CostModel::fit(&measured);
    println!(
        "on average {:.0} ns a volume test, {:.0} ns a triangle test",
        model.volume_test, model.primitive_test
    );

    // A coarse answer: stop at a level, and know how far off it can be.
    let (a, b) = (Tree::build(&ring, &Options::OBB_TREE), Tree::build(&knot, &Options::OBB_TREE));
    let far = Pose::from_translation([0.0, 0.0, 0.55])?;
    let ask = Ask { stop: Some(6), ..Ask::default() };
    let posed = |tree, mesh, pose| Posed { tree, mesh, pose };
    let coarse = collide(posed(&a, &ring, &here), posed(&b, &knot, &far), ask);
    println!("stopped at level 6: {}, {:?}", coarse.touching(), coarse.outcome.certainty);
    Ok(())
}
