//! Do two meshes meet?

use anyhow::Result;

use super::Effort;
use super::pair_scene::{HEADER, PairScene, add_rows, verdict};
use crate::table::Table;
use crate::timing::{Contestant, alternate};

/// Repeats for each placement; queries of microseconds need many.
const REPEATS: usize = 9;

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let mut table = Table::new("mesh-relation", &HEADER);
    let scene = PairScene::load(effort)?;
    let programs = scene.programs(&mut table)?;
    let cases: Vec<usize> = (0..scene.placements.len()).collect();

    let mut contestants = Vec::new();
    for (name, mut program) in programs {
        contestants.push(Contestant::new(name, move |case| program.relation(case, REPEATS)));
    }
    let tracks = alternate(&mut contestants, &cases);
    add_rows(&mut table, &tracks, |hits: &[bool]| {
        let wrong = hits.iter().zip(&scene.placements).filter(|(hit, known)| **hit != known.hit).count();
        let count = hits.iter().filter(|&&hit| hit).count();
        [format!("{count} hits of {}", hits.len()), verdict(wrong, hits.len())]
    });
    Ok(table)
}
