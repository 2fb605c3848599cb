//! A character walks against stairs and slides along what it meets: a sweep a step, never through a wall.

use impinge::glam::DVec3;
use impinge::{Error, Motion, Pose, Shape, procedural, sweep};

/// How far the character stays from what it met (a length).
const SKIN: f64 = 0.001;

fn main() -> Result<(), Error> {
    let level = Shape::from(procedural::stairs(6, 0.4, 4.0, 0.3)?);
    let hero = Shape::capsule(0.3, 0.5)?;
    let mut position = DVec3::new(-2.0, 0.0, 0.9);
    let mut walk = DVec3::new(3.0, 0.6, 0.0);
    for _ in 0..4 {
        let motion = Motion::velocity(&Pose::from_translation(position)?, walk, [0.0; 3])?;
        let found = sweep(&level, hero.along(motion));
        position += walk * found.free_until;
        let Some(hit) = found.impact else { break };
        position += hit.normal * SKIN;
        walk = (walk * (1.0 - hit.time)).reject_from_normalized(hit.normal);
        println!("met {:?} at {:.3}; now at {position:.3}", hit.features[0], hit.point);
    }
    Ok(())
}
