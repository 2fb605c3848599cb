//! Contacts with depth: a crate on a flight of stairs is pushed out step by step, and two gears are taken apart.

use impinge::glam::DVec3;
use impinge::{Error, Memory, Pose, Query, Relation, Shape, contacts, procedural, relation, separate};

fn main() -> Result<(), Error> {
    let stairs = Shape::from(procedural::stairs(6, 0.4, 4.0, 0.3)?);
    let chest = Shape::cuboid([0.15, 0.3, 0.15])?;
    // It stands on the first step, a little too low and a little into the second one.
    let mut at = DVec3::new(0.27, 0.0, 0.43);
    let mut memory = Memory::default();
    for round in 0..8 {
        let mut query = Query { memory: Some(&mut memory), ..Query::default() };
        let found = query.contacts(&stairs, chest.at(Pose::from_translation(at)?), 0.0)?;
        let places = found.value.unwrap_or_default();
        let Some(deepest) = places.iter().max_by(|p, q| p.depth.total_cmp(&q.depth)) else { break };
        println!(
            "round {round}: {} contacts, the deepest {:.4} along {:.3} (id {})",
            places.len(),
            deepest.depth,
            deepest.normal,
            deepest.id
        );
        if deepest.depth < 1e-9 {
            break;
        }
        at += deepest.normal * deepest.depth;
    }
    assert!(contacts(&stairs, chest.at(Pose::from_translation(at)?)).iter().all(|c| c.depth < 1e-9));

    let gear = Shape::from(procedural::gear(0.2, 0.8, 1.0, 0.3, 20)?);
    let start = DVec3::new(1.7, 0.1, 0.02);
    let way = separate(&gear, gear.at(Pose::from_translation(start)?))?;
    println!(
        "the gears part by {:.4} (at least {:.4}) along {:.3}",
        way.length, way.at_least, way.translation
    );
    let after = relation(&gear, gear.at(Pose::from_translation(start + way.translation)?));
    assert!(matches!(after, Relation::Separated | Relation::Touching));
    Ok(())
}
