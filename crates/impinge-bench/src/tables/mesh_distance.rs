//! The smallest distance of two meshes.

use anyhow::Result;

use super::Effort;
use super::pair_scene::{HEADER, PairScene, add_rows, verdict};
use crate::table::Table;
use crate::timing::{Contestant, alternate};

const REPEATS: usize = 5;

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let mut table = Table::new("mesh-distance", &HEADER);
    let scene = PairScene::load(effort)?;
    let programs = scene.programs(&mut table)?;
    let cases: Vec<usize> = (0..scene.placements.len()).filter(|&i| !scene.placements[i].hit).collect();

    let mut contestants = Vec::new();
    for (name, mut program) in programs {
        contestants.push(Contestant::new(name, move |case| program.distance(case, REPEATS)));
    }
    let tracks = alternate(&mut contestants, &cases);
    let reference = tracks[0].answers.clone();
    add_rows(&mut table, &tracks, |gaps: &[f64]| {
        let differing = gaps.iter().zip(&reference).filter(|(a, b)| (*a - *b).abs() > 1e-9).count();
        [format!("sum {:.9} of {}", gaps.iter().sum::<f64>(), gaps.len()), verdict(differing, gaps.len())]
    });
    Ok(table)
}
