//! The design space of hierarchies: the same queries with every volume and degree.
//!
//! Four scenes: two scanned shapes at the shared placements, the same at full size, long thin triangles,
//! and a body that bends in every frame. Nv, Np are means over the queries, Nu the volumes of one refit.

use std::f64::consts::TAU;
use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::{Result, ensure};
use glam::DVec3;
use impinge::bound::Volume;
use impinge::hierarchy::cost::CostModel;
use impinge::hierarchy::design::{Ask, Build, Degree, Options, Posed, Tree, collide};
use impinge::hierarchy::wide::WideTree;
use impinge::model::Model;
use impinge::narrow::exact::collide::{self as exact, for_each_meeting};
use impinge::procedural;
use impinge::{Counters, Mesh, Pose};

use crate::peers::everybody;
use crate::scenes;
use crate::table::{Table, microseconds, milliseconds};
use crate::tables::Effort;
use crate::timing::median_of;

const HEADER: [&str; 13] = [
    "scene",
    "volume",
    "degree",
    "Nv",
    "Np",
    "Nu",
    "build ms",
    "query us",
    "refit ms",
    "bytes/tri",
    "Cv ns",
    "Cp ns",
    "pairs",
];

/// Two meshes and where they stand, once for each query.
struct Scene {
    name: &'static str,
    a: Mesh,
    b: Mesh,
    poses: Vec<[Pose; 2]>,
    designs: Vec<(String, Options)>,
    repeats: usize,
}

/// Fills the table.
///
/// # Errors
/// A mesh is missing, or two designs disagree.
pub fn run(effort: Effort) -> Result<Table> {
    let mut table = Table::new("bounds", &HEADER);
    for scene in [scans(effort)?, needles(effort)?, bending(effort)?, full_size(effort)?] {
        measure(&scene, &mut table)?;
    }
    decay(effort, &mut table)?;
    table.remark("query us: mean over the queries of the median of repeats; pairs: found by every design.");
    table.remark("Cv, Cp: least-squares fit of T = Nv*Cv + Np*Cp to the queries of the row.");
    Ok(table)
}

/// One row: how a design did.
struct Row {
    name: String,
    degree: usize,
    build: f64,
    refit: f64,
    updates: u64,
    bytes: usize,
    /// Work, nanoseconds and pairs of each query.
    queries: Vec<(Counters, f64, usize)>,
}

fn measure(scene: &Scene, table: &mut Table) -> Result<()> {
    let production = wide(scene);
    let expected = add(scene, &production, table);
    // Of ours only the production tree is in use.
    let designs = if everybody() { &scene.designs[..] } else { &[] };
    for (name, options) in designs {
        let found = add(scene, &design(scene, name, options)?, table);
        ensure!(found == expected, "{}: {name} finds {found} pairs, not {expected}", scene.name);
    }
    Ok(())
}

fn design(scene: &Scene, name: &str, options: &Options) -> Result<Row> {
    let start = Instant::now();
    let mut ta = Tree::build(&scene.a, options);
    let tb = Tree::build(&scene.b, options);
    let build = start.elapsed().as_nanos() as f64;
    let ask = |[pa, pb]: &[Pose; 2]| {
        let timed = median_of(scene.repeats, || {
            let a = Posed { tree: &ta, mesh: &scene.a, pose: pa };
            collide(a, Posed { tree: &tb, mesh: &scene.b, pose: pb }, Ask::default())
        });
        (timed.answer.outcome.work, timed.nanoseconds, timed.answer.pairs.len())
    };
    let queries = scene.poses.iter().map(ask).collect();
    let bytes = ta.bytes() + tb.bytes();
    let refit = median_of(3, || ta.refit(&scene.a));
    let updates = refit.answer?.work.updates;
    let degree = options.degree as usize;
    Ok(Row { name: name.into(), degree, build, refit: refit.nanoseconds, updates, bytes, queries })
}

/// The production tree.
fn wide(scene: &Scene) -> Row {
    let start = Instant::now();
    let mut tree = WideTree::build(&scene.a);
    std::hint::black_box(WideTree::build(&scene.b));
    let build = start.elapsed().as_nanos() as f64;
    let (a, b) = (Model::from(scene.a.clone()), Model::from(scene.b.clone()));
    let ask = |&[pa, pb]: &[Pose; 2]| {
        let timed = median_of(scene.repeats, || {
            let mut pairs = 0;
            let work = for_each_meeting(exact::Posed::new(&a, pa), exact::Posed::new(&b, pb), |_, _| {
                pairs += 1;
                ControlFlow::Continue(())
            });
            (work, pairs)
        });
        (timed.answer.0, timed.nanoseconds, timed.answer.1)
    };
    let queries = scene.poses.iter().map(ask).collect();
    let refit = median_of(3, || tree.refit(&scene.a));
    let bytes = a.tree().memory() + b.tree().memory();
    let updates = refit.answer.boxes;
    Row { name: "production".into(), degree: 8, build, refit: refit.nanoseconds, updates, bytes, queries }
}

/// Writes a row; the number of pairs found.
fn add(scene: &Scene, row: &Row, table: &mut Table) -> usize {
    let timed: Vec<(Counters, f64)> = row.queries.iter().map(|q| (q.0, q.1)).collect();
    let model = CostModel::fit(&timed);
    let mean = |of: &dyn Fn(&(Counters, f64, usize)) -> f64| {
        row.queries.iter().map(of).sum::<f64>() / row.queries.len() as f64
    };
    let pairs: usize = row.queries.iter().map(|q| q.2).sum();
    let triangles = scene.a.triangles().len() + scene.b.triangles().len();
    table.row([
        scene.name.into(),
        row.name.clone(),
        row.degree.to_string(),
        format!("{:.0}", mean(&|q| q.0.volume_tests as f64)),
        format!("{:.0}", mean(&|q| q.0.primitive_tests as f64)),
        row.updates.to_string(),
        milliseconds(row.build),
        microseconds(mean(&|q| q.1)),
        milliseconds(row.refit),
        (row.bytes / triangles).to_string(),
        format!("{:.1}", model.volume_test),
        format!("{:.1}", model.primitive_test),
        pairs.to_string(),
    ]);
    pairs
}

/// Every volume at every degree, and published systems at degree 2.
fn all_designs() -> Vec<(String, Options)> {
    let mut designs = Vec::new();
    for degree in [Degree::Two, Degree::Four, Degree::Eight] {
        for volume in Volume::ALL {
            designs.push((volume.name().into(), Options { volume, degree, ..Options::DEFAULT }));
        }
    }
    let hybrid = Options { volume: Volume::Obb, below: Some((8, Volume::Aabb)), ..Options::DEFAULT };
    designs.push(("obb, aabb below 8".into(), hybrid));
    let up = Options { build: Build::BottomUp { window: 16 }, ..Options::DEFAULT };
    designs.push(("aabb bottom-up".into(), up));
    let named = Options::PRESETS.into_iter().skip(1);
    designs.extend(named.map(|(name, options)| (format!("[{name}]"), options)));
    designs
}

fn scans(effort: Effort) -> Result<Scene> {
    Ok(Scene {
        name: "bunny4k dragon11k",
        a: scenes::mesh("bunny4k")?,
        b: scenes::mesh("dragon11k")?,
        poses: shared_poses(effort.pick(1, 20))?,
        designs: all_designs(),
        repeats: effort.pick(5, 1),
    })
}

fn full_size(effort: Effort) -> Result<Scene> {
    // Hulls of whole scans have thousands of corners: they are measured on the small ones.
    let volumes = Volume::ALL.into_iter().filter(|&v| v != Volume::Hull);
    let quick = [Volume::Aabb, Volume::Obb];
    Ok(Scene {
        name: "bunny59k dragon202k",
        a: scenes::mesh("bunny59k")?,
        b: scenes::mesh("dragon202k")?,
        poses: shared_poses(effort.pick(1, 50))?,
        designs: volumes
            .filter(|v| effort == Effort::Full || quick.contains(v))
            .map(|volume| (volume.name().into(), Options { volume, ..Options::DEFAULT }))
            .collect(),
        repeats: effort.pick(5, 1),
    })
}

fn shared_poses(every: usize) -> Result<Vec<[Pose; 2]>> {
    scenes::placements()?.iter().step_by(every).map(|p| p.poses()).collect()
}

/// Long thin triangles in two balls of straw.
fn needles(effort: Effort) -> Result<Scene> {
    let straw = |seed: u64| -> Result<Mesh> {
        let ends = procedural::positions(4000, DVec3::NEG_ONE, DVec3::ONE, seed);
        let mut points = Vec::new();
        for pair in ends.chunks_exact(2) {
            let side = (pair[1] - pair[0]).any_orthonormal_vector() * 0.004;
            points.extend([pair[0], pair[0] + (pair[1] - pair[0]) * 0.4, pair[0] + side]);
        }
        let triangles = (0..points.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        Ok(Mesh::from_points(points, triangles)?)
    };
    Ok(Scene {
        name: "needles 2k",
        a: straw(1)?,
        b: straw(2)?,
        poses: seeded_poses(effort.pick(10, 4), 3, 2.0)?,
        designs: all_designs(),
        repeats: effort.pick(5, 1),
    })
}

/// A torus that bends: its refit is what counts.
fn bending(effort: Effort) -> Result<Scene> {
    let ring = procedural::torus(0.5, 0.2, 96, 48)?;
    let wave = |p: &DVec3| *p + DVec3::Z * (0.1 * (TAU * p.x).sin());
    let bent = ring.vertices().iter().map(wave).collect();
    Ok(Scene {
        name: "bending torus 9k",
        a: Mesh::from_points(bent, ring.triangles().to_vec())?,
        b: ring,
        poses: seeded_poses(effort.pick(40, 4), 5, 0.9)?,
        designs: all_designs(),
        repeats: effort.pick(5, 1),
    })
}

fn seeded_poses(count: usize, seed: u64, spread: f64) -> Result<Vec<[Pose; 2]>> {
    let box_ = DVec3::splat(spread);
    let at = procedural::positions(count, -box_, box_, seed);
    let (turn_a, turn_b) = (procedural::rotations(count, seed + 1), procedural::rotations(count, seed + 2));
    (0..count)
        .map(|i| Ok([Pose::new([0.0; 3], turn_a[i])?, Pose::new(at[i].to_array(), turn_b[i])?]))
        .collect()
}

/// What the decay figure is worth: volume tests of a refitted tree against those of a fresh one.
fn decay(effort: Effort, table: &mut Table) -> Result<()> {
    let ring = procedural::torus(0.5, 0.2, 96, 48)?;
    let poses = seeded_poses(effort.pick(20, 4), 8, 0.9)?;
    for turns in [0.25, 0.5, 1.0, 2.0] {
        let turn = |p: &DVec3| glam::DQuat::from_rotation_z(turns * TAU * p.x.hypot(p.y)) * *p;
        let twisted =
            Mesh::from_points(ring.vertices().iter().map(turn).collect(), ring.triangles().to_vec())?;
        let mut refitted = Tree::build(&ring, &Options::DEFAULT);
        let decay = refitted.refit(&twisted)?.decay;
        let fresh = Tree::build(&twisted, &Options::DEFAULT);
        let tests = |tree: &Tree| {
            let query = |[pa, pb]: &[Pose; 2]| {
                let [a, b] = [pa, pb].map(|pose| Posed { tree, mesh: &twisted, pose });
                collide(a, b, Ask::default()).outcome.work.volume_tests
            };
            poses.iter().map(query).sum::<u64>() as f64
        };
        let ratio = tests(&refitted) / tests(&fresh);
        table.remark(format!(
            "torus twisted by {turns} turns: decay {decay:.2}, Nv {ratio:.2} of a fresh tree's"
        ));
    }
    Ok(())
}
