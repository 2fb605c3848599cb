//! What the sampled method claims, against the truth: placements at random, and one placement with many seeds.
//!
//! Each placement is asked from nothing within a millisecond. "Surely free" and "surely hit" must never be wrong. With
//! budgets so small that contacts are missed, over many seeds no more of them may be missed than the method states.

use std::f64::consts::TAU;
use std::time::Duration;

use anyhow::Result;
use glam::{DQuat, DVec3};
use impinge::model::Model;
use impinge::narrow::exact::collide;
use impinge::num::random::unit;
use impinge::{Budget, Pose, Shape, Surface, Tracker, TrackerOptions};

use crate::recordings::regions::Truth;
use crate::recordings::{Recording, SCENES};
use crate::table::Table;
use crate::tables::Effort;

/// Placements of all scenes together.
const PLACEMENTS: usize = 10_000;

/// Seeds for each budget.
const SEEDS: u64 = 1_000;

/// Work units at which contacts are missed.
const UNITS: [u64; 6] = [500, 2000, 5000, 8000, 12_000, 20_000];

/// Placements that are asked with all seeds.
const ASKED: usize = 5;

/// The time of an answer.
const BUDGET: Duration = Duration::from_millis(1);

/// The distances of the bodies' centres, from and to, by scene.
const DISTANCES: [[f64; 2]; 3] = [[0.1, 1.6], [0.1, 1.2], [0.1, 1.0]];

/// Two bodies as the tracker takes them, where b is placed at random.
struct Asked {
    models: [Model; 2],
    shapes: [Shape; 2],
    distances: [f64; 2],
}

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = [
        "scene",
        "asked",
        "placements",
        "hit %",
        "surely hit",
        "surely free",
        "undecided %",
        "wrong",
        "verdict",
    ];
    let mut table = Table::new("monte-carlo-sound", &header);
    let count = effort.pick(PLACEMENTS, 300) / DISTANCES.len();
    for (scene, distances) in SCENES.iter().zip(DISTANCES) {
        match scene.load() {
            Err(why) => table.missing(format!("{why:#}")),
            Ok(recording) => {
                let asked = Asked::new(&recording, distances);
                placements(&mut table, scene.name, &asked, count + 1)?;
                seeds(&mut table, scene.name, &asked, effort)?;
            }
        }
    }
    table.remark("placements: each from nothing within 1 ms; wanted: hits 30 to 70 %, none wrong, at most 10 % undecided");
    table.remark("seeds: placements with one region, asked with few work units; missed: the share of runs that did not find it, beside the mean of the stated probabilities");
    Ok(table)
}

impl Asked {
    fn new(recording: &Recording, distances: [f64; 2]) -> Asked {
        Asked {
            models: recording.bodies.each_ref().map(|body| Model::from(body.mesh.clone())),
            shapes: recording.bodies.each_ref().map(|body| Shape::from(body.mesh.clone())),
            distances,
        }
    }

    /// The n-th random pose of b.
    fn pose(&self, n: u64) -> Result<Pose> {
        let u = |k: u64| unit(11, 8 * n + k);
        let [near, far] = self.distances;
        let (z, angle) = (2.0 * u(0) - 1.0, TAU * u(1));
        let flat = (1.0 - z * z).sqrt();
        let at = DVec3::new(flat * angle.cos(), flat * angle.sin(), z) * (near + (far - near) * u(2));
        // Shoemake 1992: uniform rotations.
        let (r, s) = ((1.0 - u(3)).sqrt(), u(3).sqrt());
        let (m, n) = (TAU * u(4), TAU * u(5));
        let turn = DQuat::from_xyzw(r * m.sin(), r * m.cos(), s * n.sin(), s * n.cos());
        Ok(Pose::new(at.to_array(), turn.to_array())?)
    }

    fn pairs(&self, pose: &Pose) -> Vec<[u32; 2]> {
        let [a, b] = &self.models;
        collide::pairs(a, &Pose::IDENTITY, b, pose)
    }

    fn tracker(&self, seed: u64) -> Result<Tracker> {
        let [a, b] = &self.shapes;
        Ok(Tracker::new(a, b, TrackerOptions { seed, ..TrackerOptions::default() })?)
    }

    fn surfaces(&self, pose: Pose) -> [Surface<'_>; 2] {
        let surface =
            |k: usize, pose| Surface { vertices: self.models[k].mesh().vertices(), pose, moved: 0.0 };
        [surface(0, Pose::IDENTITY), surface(1, pose)]
    }
}

/// Random placements within a millisecond each.
fn placements(table: &mut Table, scene: &str, asked: &Asked, count: usize) -> Result<()> {
    let mut tracker = asked.tracker(0)?;
    let (mut hits, mut said, mut wrong) = (0, [0; 3], 0);
    for n in 0..count as u64 {
        let pose = asked.pose(n)?;
        let truth = !asked.pairs(&pose).is_empty();
        tracker.forget();
        let answer = tracker.step(asked.surfaces(pose), &mut Budget::time(BUDGET))?.meeting;
        hits += usize::from(truth);
        said[answer.map_or(2, |meeting| usize::from(!meeting))] += 1;
        wrong += usize::from(answer.is_some_and(|meeting| meeting != truth));
    }
    let share = |n: usize| 100.0 * n as f64 / count as f64;
    let holds = wrong == 0 && share(said[2]) <= 10.0 && (30.0..=70.0).contains(&share(hits));
    table.row([
        scene.into(),
        "1 ms".into(),
        count.to_string(),
        format!("{:.1}", share(hits)),
        said[0].to_string(),
        said[1].to_string(),
        format!("{:.2}", share(said[2])),
        wrong.to_string(),
        if holds { "holds".into() } else { "MISSED".into() },
    ]);
    Ok(())
}

/// Few placements with few units and many seeds.
fn seeds(table: &mut Table, scene: &str, asked: &Asked, effort: Effort) -> Result<()> {
    let mut chosen = Vec::new();
    for n in 0..2000 {
        let pose = asked.pose(n)?;
        let pairs = asked.pairs(&pose);
        let meshes = asked.models.each_ref().map(Model::mesh);
        if Truth::of_pairs(meshes, &[pairs]).frames[0].count == 1 {
            chosen.push(pose);
        }
        if chosen.len() == ASKED {
            break;
        }
    }
    let count = effort.pick(SEEDS, 50);
    for units in UNITS {
        let (mut missed, mut stated, mut telling) = (0, 0.0, 0);
        for seed in 0..count {
            let mut tracker = asked.tracker(seed)?;
            for &pose in &chosen {
                tracker.forget();
                let report = tracker.step(asked.surfaces(pose), &mut Budget::units(units))?;
                missed += usize::from(report.meeting != Some(true));
                stated += report.miss_probability;
                telling += usize::from(report.miss_probability < 1.0);
            }
        }
        let runs = count as f64 * chosen.len() as f64;
        let (observed, stated) = (missed as f64 / runs, stated / runs);
        let verdict = if observed <= stated { "holds" } else { "MISSED" };
        table.row([
            scene.into(),
            format!("{units} units, {count} seeds"),
            chosen.len().to_string(),
            "100".into(),
            (runs as usize - missed).to_string(),
            "0".into(),
            format!("{:.2}", 100.0 * observed),
            "0".into(),
            format!("missed {observed:.4}, stated {stated:.4} (below 1 in {telling} runs): {verdict}"),
        ]);
    }
    Ok(())
}
