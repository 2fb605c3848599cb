//! Every intersecting pair of triangles.

use anyhow::Result;
use impinge::pairs;

use super::Effort;
use super::pair_scene::{PairScene, add_rows, header, verdict};
use crate::peers::{PairSet, parry};
use crate::table::Table;
use crate::timing::{Contestant, Timed, alternate, faster_by, median_of, unpacked};

const REPEATS: usize = 5;

/// What FCL, MeshLib and parry3d-f64 agree on for all 200 placements.
const KNOWN_PAIRS: u64 = 32_230;

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let mut table = Table::new("mesh-pairs", &header("compared with ours"));
    let scene = PairScene::load(effort)?;
    let ([a, b], poses) = (&scene.shapes(), scene.poses()?);
    let single = parry::single::Pair::new(&scene.a, &scene.b, &scene.placements)?;
    let double = parry::double::Pair::new(&scene.a, &scene.b, &scene.placements)?;

    let ours = |case: usize| pairs(a.at(poses[case][0]), b.at(poses[case][1]));
    let mut contestants = vec![Contestant::new("impinge", |case| {
        Ok(digested(unpacked(median_of(REPEATS, || Ok(ours(case)?)))?))
    })];
    for (name, mut program) in scene.programs(&mut table)? {
        contestants.push(Contestant::new(name, move |case| program.pairs(case, REPEATS)));
    }
    contestants.push(Contestant::new("parry3d-f64 (dual traversal)", |case| {
        Ok(digested(median_of(REPEATS, || double.dual_pairs(case))))
    }));
    contestants.push(Contestant::new("parry3d (dual traversal)", |case| {
        Ok(digested(median_of(REPEATS, || single.dual_pairs(case))))
    }));

    let cases: Vec<usize> = (0..scene.placements.len()).collect();
    let tracks = alternate(&mut contestants, &cases);
    let known = tracks[0].answers.clone();
    add_rows(&mut table, &tracks, |sets: &[PairSet]| {
        let differing = sets.iter().zip(&known).filter(|(set, known)| set != known).count();
        let count: u64 = sets.iter().map(|set| set.count).sum();
        [format!("{count} pairs"), verdict(differing, sets.len())]
    });
    if effort == Effort::Full {
        let count: u64 = known.iter().map(|set| set.count).sum();
        let equal = if count == KNOWN_PAIRS { "as many as" } else { "NOT as many as" };
        table.remark(format!("{count} pairs, {equal} FCL, MeshLib and parry3d-f64 agree on ({KNOWN_PAIRS})"));
    }
    table.remark("agrees: the same set of pairs as ours in each placement; ratios are of the means");
    for track in &tracks[1..] {
        table.ratio(track.name, faster_by(&tracks[0], track).mean);
    }
    Ok(table)
}

/// Which pairs, outside the measured time.
fn digested(timed: Timed<Vec<[u32; 2]>>) -> Timed<PairSet> {
    Timed { nanoseconds: timed.nanoseconds, answer: timed.answer.into_iter().collect() }
}
