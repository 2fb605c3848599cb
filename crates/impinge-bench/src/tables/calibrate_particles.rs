//! Measures the coefficients by which the hybrid chooses among techniques for particles, and writes them where the library
//! keeps them: `crates/impinge/src/broad/neighbours/coefficients.csv`.

use std::fmt::Write as _;
use std::time::Instant;

use anyhow::{Context, Result};
use impinge::broad::neighbours::{Crowding, Domain, Particles, Technique};
use impinge::hierarchy::cost::CostModel;

use super::Effort;
use crate::random::Numbers;
use crate::table::Table;
use crate::timing::Statistics;

/// Frames of each set: the first builds, the median of the others counts.
const FRAMES: usize = 6;

/// Sets in which brute force or a sweep would test more pairs than this are not put to them.
const MOST_TESTS: u64 = 20_000_000;

/// Measures, fits, prints and, in a full run, stores.
pub fn run(effort: Effort) -> Result<Table> {
    let header = ["technique", "sets", "Cv ns", "Cp ns", "Cu ns", "start ns/particle", "error"];
    let mut table = Table::new("calibrate-particles", &header);
    let sets = sets(effort.pick(3, 1));
    let mut stored = String::from("technique,cv,cp,cu,start\n");
    for &technique in Technique::ALL.iter().filter(|&&t| t != Technique::Hybrid) {
        let (mut rows, mut starts) = (Vec::new(), Vec::new());
        for (k, set) in sets.iter().enumerate() {
            let crowding = Crowding::of(&Particles::new(set, Domain::OPEN, 1.0)?, None);
            let work = crowding.expected_work(technique);
            if work.primitive_tests > MOST_TESTS {
                continue;
            }
            let [first, later] = measure(technique, set, k as u64)?;
            starts.push((first - later).max(0.0) / set.len() as f64);
            rows.push((work, later));
        }
        let costs = CostModel::fit(&rows);
        let CostModel { volume_test, primitive_test, update } = costs;
        let start = Statistics::of(&starts).median;
        _ = writeln!(stored, "{technique},{volume_test:.3},{primitive_test:.3},{update:.3},{start:.1}");
        table.row([
            technique.name().to_string(),
            rows.len().to_string(),
            format!("{volume_test:.2}"),
            format!("{primitive_test:.3}"),
            format!("{update:.2}"),
            format!("{start:.0}"),
            format!("{:.2}", costs.error(&rows)),
        ]);
    }
    table.remark("the counts are those expected from a sample; error: root mean square of the relative errors of the times");
    if effort == Effort::Full {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../impinge/src/broad/neighbours/coefficients.csv");
        std::fs::write(file, stored).with_context(|| format!("writing {file}"))?;
    }
    Ok(table)
}

/// The time of the first frame and the median of the later ones, while all particles move a little.
fn measure(technique: Technique, set: &[[f64; 3]], seed: u64) -> Result<[f64; 2]> {
    let mut random = Numbers::new(seed);
    let mut search = technique.start();
    let (mut positions, mut pairs) = (set.to_vec(), Vec::new());
    let mut times = Vec::new();
    for _ in 0..FRAMES {
        positions.iter_mut().flatten().for_each(|x| *x += random.next(-0.02, 0.02));
        let particles = Particles::new(&positions, Domain::OPEN, 1.0)?;
        let start = Instant::now();
        search.search(&particles, &mut pairs);
        times.push(start.elapsed().as_nanos() as f64);
    }
    // The very first search also gets the memory of the pairs; a second structure finds it there.
    let mut again = technique.start();
    let particles = Particles::new(&positions, Domain::OPEN, 1.0)?;
    let start = Instant::now();
    again.search(&particles, &mut pairs);
    Ok([start.elapsed().as_nanos() as f64, Statistics::of(&times[1..]).median])
}

/// Uniform, clustered and collapsed sets of different sizes and densities, for the cutoff 1.
fn sets(sizes: usize) -> Vec<Vec<[f64; 3]>> {
    let mut random = Numbers::new(43);
    let mut sets = Vec::new();
    for &count in &[1_000_usize, 3_000, 10_000][..sizes] {
        for neighbours in [0.5, 4.0, 20.0, 80.0] {
            // A ball of radius 1 holds that many.
            let side = (count as f64 * 4.19 / neighbours).cbrt();
            sets.push((0..count).map(|_| random.point(0.0, side)).collect());
            for far in [100.0, 10_000.0] {
                let members = (2.0 * neighbours).max(5.0) as usize;
                let sites: Vec<[f64; 3]> =
                    (0..count.div_ceil(members)).map(|_| random.point(0.0, far)).collect();
                let place = |i: usize| {
                    let (site, at) = (sites[i % sites.len()], random.point(-1.2, 1.2));
                    std::array::from_fn(|k| site[k] + at[k])
                };
                sets.push((0..count).map(place).collect());
            }
            // Few swarms, as dense as the uniform set, so far apart that cells of a grid hold whole ones.
            for swarms in [2, 8] {
                let half = 0.5 * (count as f64 / swarms as f64 * 4.19 / neighbours).cbrt();
                let sites: Vec<[f64; 3]> = (0..swarms).map(|_| random.point(0.0, 1e6)).collect();
                let place = |i: usize| {
                    let (site, at) = (sites[i % swarms], random.point(-half, half));
                    std::array::from_fn(|k| site[k] + at[k])
                };
                sets.push((0..count).map(place).collect());
            }
        }
        if count <= 3_000 {
            for size in [0.2, 0.55, 1.0] {
                sets.push((0..count).map(|_| random.point(0.0, size)).collect());
            }
        }
    }
    sets
}
