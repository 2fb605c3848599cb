//! C5: table 1 of Redon, Kheddar and Coquillart (2001), sphere and elementary tests with and without labels and
//! tables, along a path that comes close and goes away again.
//!
//! The paper's object is only drawn there; ours is a flight of stairs, whose large flat faces are covered by
//! many leaves like those of its figure 2.

use std::f64::consts::PI;
use std::time::Instant;

use anyhow::{Result, ensure};
use glam::{DQuat, DVec3};
use impinge::model::Model;
use impinge::motion::Law;
use impinge::narrow::continuous::SweepOptions;
use impinge::narrow::continuous::contact::{ContactSearch, Covered, SphereCover, Tables, Tests};
use impinge::procedural;
use impinge::{Budget, Motion, Pose};

use super::Effort;
use crate::table::{Table, milliseconds};

/// The variants in the paper's order, and its own totals.
const VARIANTS: [(&str, Tables, [u64; 4]); 4] = [
    ("no tables", Tables::NONE, [1_213_596, 87_284, 3_963, 3_858]),
    ("labels", Tables { labels: true, primitives: false }, [1_017_112, 61_916, 3_155, 3_098]),
    ("primitives", Tables { labels: false, primitives: true }, [1_213_596, 20_717, 2_367, 2_317]),
    ("all four", Tables::ALL, [1_017_112, 20_717, 2_367, 2_317]),
];

/// Steps of the path.
const STEPS: usize = 65;

/// How near it comes, and from how far; the stairs are four wide.
const NEAREST: f64 = 0.02;
const FARTHEST: f64 = 6.0;

/// Radius of every leaf.
const RADIUS: f64 = 0.2;

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = ["tests", VARIANTS[0].0, VARIANTS[1].0, VARIANTS[2].0, VARIANTS[3].0];
    let mut table = Table::new("contact-labels", &header);
    let stairs = Model::from(procedural::stairs(4, 1.0, 4.0, 0.8)?);
    let spheres = SphereCover::new(stairs.mesh(), RADIUS)?;
    let body = Covered { model: &stairs, spheres: &spheres };
    let path = path(effort.pick(STEPS, 10))?;
    let runs = VARIANTS.map(|(_, tables, _)| follow(body, &path, tables));
    let runs = runs.into_iter().collect::<Result<Vec<_>>>()?;
    let rows: [Row; 5] = [
        ("sphere/sphere", |tests| tests.spheres),
        ("edge/edge", |tests| tests.edges),
        ("vertex/face", |tests| tests.vertex_faces),
        ("face/vertex", |tests| tests.face_vertices),
        ("total", Tests::total),
    ];
    for (name, count) in rows {
        table.row([name.to_string()].into_iter().chain(runs.iter().map(|run| count(&run.tests).to_string())));
    }
    let cells = |name: &str, cell: &dyn Fn(usize) -> String| {
        [name.to_string()].into_iter().chain((0..VARIANTS.len()).map(cell)).collect::<Vec<_>>()
    };
    let ours: Vec<u64> = runs.iter().map(|run| run.tests.total()).collect();
    let theirs: Vec<u64> = VARIANTS.iter().map(|(_, _, tests)| tests.iter().sum()).collect();
    let share = |totals: &[u64], k: usize| format!("{:.1} %", 100.0 * totals[k] as f64 / totals[0] as f64);
    table.row(cells("of the first", &|k| share(&ours, k)));
    table.row(cells("Redon et al. 2001", &|k| share(&theirs, k)));
    table.row(cells("ms", &|k| milliseconds(runs[k].nanoseconds)));
    let [all, none] = [&runs[3].tests, &runs[0].tests];
    let holds = runs[1].tests.spheres == all.spheres
        && runs[2].tests.spheres == none.spheres
        && runs[2].tests.edges == all.edges
        && runs[2].tests.vertex_faces == all.vertex_faces
        && ours[3] < ours[1]
        && ours[1] < ours[2]
        && ours[2] < ours[0];
    ensure!(
        holds || effort == Effort::Quick,
        "the columns lie otherwise than in Redon et al. (2001): {ours:?}"
    );
    let [leaves, sets] = spheres.sharing();
    table.remark(format!(
        "stairs of {} triangles twice, {} steps, no contact in any; {leaves} leaves share {sets} sets of primitives",
        stairs.mesh().triangles().len(),
        path.len(),
    ));
    table.remark("as in Redon et al. (2001), labels alone save sphere tests, the other tables alone elementary ones, and together both");
    Ok(table)
}

/// A row's name and its count.
type Row = (&'static str, fn(&Tests) -> u64);

/// What one variant did along the path.
struct Run {
    tests: Tests,
    nanoseconds: f64,
}

/// The motions of the steps: the same stairs upside down come down until their steps nearly fill the resting
/// ones', and go away again.
fn path(steps: usize) -> Result<Vec<Motion>> {
    let at = |step: usize| {
        let s = step as f64 / steps as f64;
        let gap = NEAREST + (FARTHEST - NEAREST) * (2.0 * s - 1.0).powi(2);
        let turn = DQuat::from_rotation_z(0.01 * (s - 0.5)) * DQuat::from_rotation_y(PI);
        Pose::from_rotation(DVec3::new(3.95, 0.0, 4.0 + gap), turn)
    };
    (0..steps).map(|k| Ok(Motion::screw(&at(k)?, &at(k + 1)?, 0, Law::Contact))).collect()
}

fn follow(body: Covered<'_>, path: &[Motion], tables: Tables) -> Result<Run> {
    let mut tests = Tests::default();
    let begun = Instant::now();
    for motion in path {
        let options = SweepOptions::DEFAULT;
        let mut search = ContactSearch::new(body, motion, body, &Pose::IDENTITY, &options, tables)?;
        let found = search.advance(&mut Budget::UNLIMITED.clone());
        ensure!(found.impact.is_none(), "the path is free, but {:?}", found.impact);
        tests += search.tests();
    }
    Ok(Run { tests, nanoseconds: begun.elapsed().as_nanos() as f64 })
}
