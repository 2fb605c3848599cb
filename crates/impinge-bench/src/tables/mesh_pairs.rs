//! Every intersecting pair of triangles.

use anyhow::Result;

use super::Effort;
use super::pair_scene::{HEADER, PairScene, add_rows, verdict};
use crate::peers::PairSet;
use crate::table::Table;
use crate::timing::{Contestant, alternate};

const REPEATS: usize = 5;

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let mut table = Table::new("mesh-pairs", &HEADER);
    let scene = PairScene::load(effort)?;
    let programs = scene.programs(&mut table)?;
    let cases: Vec<usize> = (0..scene.placements.len()).collect();

    let mut contestants = Vec::new();
    for (name, mut program) in programs {
        contestants.push(Contestant::new(name, move |case| program.pairs(case, REPEATS)));
    }
    let tracks = alternate(&mut contestants, &cases);
    let reference = tracks[0].answers.clone();
    add_rows(&mut table, &tracks, |sets: &[PairSet]| {
        let differing = sets.iter().zip(&reference).filter(|(set, known)| set != known).count();
        let pairs: u64 = sets.iter().map(|set| set.count).sum();
        [format!("{pairs} pairs"), verdict(differing, sets.len())]
    });
    Ok(table)
}
