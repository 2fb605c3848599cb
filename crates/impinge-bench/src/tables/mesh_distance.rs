//! The smallest distance of two meshes.

use anyhow::Result;
use impinge::distance;

use super::Effort;
use super::pair_scene::{PairScene, add_rows, header, verdict};
use crate::peers::parry;
use crate::table::Table;
use crate::timing::{Contestant, alternate, faster_by, median_of, unpacked};

const REPEATS: usize = 5;

/// parry takes about a second for each query.
const PARRY_CASES: usize = 5;

/// What Coal and FCL agree on for the 100 separated placements.
const KNOWN_SUM: f64 = 3.096161415;

/// How far the sum, and each distance, may be from that of the others.
const TOLERANCE: f64 = 1e-9;

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let mut table = Table::new("mesh-distance", &header("compared with ours"));
    let scene = PairScene::load(effort)?;
    let ([a, b], poses) = (&scene.shapes(), scene.poses()?);
    let single = parry::single::Pair::new(&scene.a, &scene.b, &scene.placements)?;
    let double = parry::double::Pair::new(&scene.a, &scene.b, &scene.placements)?;

    let ours = |case: usize| distance(a.at(poses[case][0]), b.at(poses[case][1])).distance;
    let mut contestants = vec![Contestant::new("impinge", |case| Ok(median_of(REPEATS, || ours(case))))];
    for (name, mut program) in scene.programs(&mut table)? {
        contestants.push(Contestant::new(name, move |case| program.distance(case, REPEATS)));
    }
    let few = effort.pick(PARRY_CASES, 1);
    let in_double = Contestant::new("parry3d-f64", |case| unpacked(median_of(1, || double.distance(case))));
    let in_single = Contestant::new("parry3d", |case| unpacked(median_of(1, || single.distance(case))));
    contestants.extend([in_double.at_most(few), in_single.at_most(few)]);

    let cases: Vec<usize> = (0..scene.placements.len()).filter(|&i| !scene.placements[i].hit).collect();
    let tracks = alternate(&mut contestants, &cases);
    let known = tracks[0].answers.clone();
    add_rows(&mut table, &tracks, |gaps: &[f64]| {
        let differing = gaps.iter().zip(&known).filter(|(a, b)| (*a - *b).abs() > TOLERANCE).count();
        [format!("sum {:.9} of {}", gaps.iter().sum::<f64>(), gaps.len()), verdict(differing, gaps.len())]
    });
    if effort == Effort::Full {
        let off = known.iter().sum::<f64>() - KNOWN_SUM;
        let within = if off.abs() <= TOLERANCE { "within" } else { "NOT within" };
        table.remark(format!("our sum is {off:.1e} from {KNOWN_SUM:.9}, {within} {TOLERANCE:e}"));
    }
    table.remark(
        "parry's query::distance asks the second mesh once for each triangle of the first: no fair opponent",
    );
    table.remark("agrees: each distance within 1e-9 of ours; ratios are of the means");
    for track in &tracks[1..] {
        table.ratio(track.name, faster_by(&tracks[0], track).mean);
    }
    Ok(table)
}
