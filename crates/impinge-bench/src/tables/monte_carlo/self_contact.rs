//! A deforming mesh against itself: the sampled method beside the exact query.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use glam::DVec3;
use impinge::model::Model;
use impinge::narrow::exact::self_intersection::self_intersections;
use impinge::{Budget, Mesh, Pose, SelfTracker, Shape, Surface, TrackerOptions, procedural};

use super::players::{timed, triangle_pairs};
use crate::queries;
use crate::recordings::regions::{Truth, reported_nearby};
use crate::scenes;
use crate::table::{Table, milliseconds};
use crate::tables::Effort;
use crate::timing::Statistics;

/// The steps of the shared continuous queries.
const STEPS: [&str; 2] = ["cloth-funnel", "armadillo-rollers"];

/// Frames into which a step is cut.
const CUTS: usize = 20;

/// Frames in which the bar bends into a ring and its ends through each other.
const BENDING: usize = 200;

/// The least share of truly intersecting pairs that is to be found.
const WANTED: f64 = 0.99;

/// A mesh and its vertices in each frame.
struct Sequence {
    name: String,
    mesh: Mesh,
    frames: Vec<Vec<DVec3>>,
}

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = [
        "sequence",
        "triangles",
        "frames",
        "with pairs",
        "pairs",
        "found %",
        "nearby %",
        "regions x frames",
        "seen %",
        "false",
        "exact ms",
        "mean ms",
        "p99 ms",
        "verdict",
    ];
    let mut table = Table::new("monte-carlo-self", &header);
    let mut sequences = vec![bending_bar()];
    sequences.push(cactus(&scenes::root().join("../shared/data/seq/cactus_deformed/cactus_403.seq")));
    sequences.extend(STEPS.map(step));
    for sequence in sequences {
        match sequence {
            Ok(sequence) => table.row(measure(&sequence, effort)?),
            Err(why) => table.missing(format!("{why:#}")),
        }
    }
    table.remark(format!(
        "cloth-funnel and armadillo-rollers: the step from the first state to the second in {CUTS} cuts"
    ));
    table.remark("each frame is finished; exact ms: tree refitted and the exact query, mean");
    table.remark("found: of the intersecting pairs of triangles, those reported; nearby: those that are reported or of which a pair is whose triangles share vertices with both of theirs (the method reports one pair for a patch)");
    table.remark("seen: of the connected regions in all frames, those with a reported pair; false: reported pairs that do not intersect");
    table.remark(format!(
        "wanted: at least {:.0} % found; the verdict is about found, not nearby",
        100.0 * WANTED
    ));
    Ok(table)
}

fn measure(sequence: &Sequence, effort: Effort) -> Result<[String; 14]> {
    let frames = &sequence.frames[..effort.pick(sequence.frames.len(), 60.min(sequence.frames.len()))];
    let shape = Shape::from(sequence.mesh.clone());
    let mut tracker = SelfTracker::new(&shape, TrackerOptions::default())?;
    let mut model = Model::from(sequence.mesh.clone());
    let (mut exact, mut reported) = (Vec::new(), Vec::new());
    let (mut exact_times, mut times) = (Vec::new(), Vec::new());
    let mut before = sequence.mesh.vertices();
    for vertices in frames {
        let (pairs, time) = timed(|| {
            model.set_vertices(vertices.clone())?;
            anyhow::Ok(self_intersections(&model).0)
        });
        exact.push(pairs?);
        exact_times.push(time);
        let moved = vertices.iter().zip(before).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
        before = vertices;
        let surface = Surface { vertices, pose: Pose::IDENTITY, moved };
        let (report, time) = timed(|| tracker.step(surface, &mut Budget::UNLIMITED.clone()));
        report?;
        times.push(time);
        let mut pairs = triangle_pairs(&tracker.contacts(surface));
        pairs.iter_mut().for_each(|pair| pair.sort_unstable());
        pairs.sort_unstable();
        pairs.dedup();
        reported.push(pairs);
    }
    let found = Truth::of_pairs([&sequence.mesh; 2], &exact).judge(&reported);
    let pairs: usize = exact.iter().map(Vec::len).sum();
    let right: usize = reported.iter().map(Vec::len).sum::<usize>() - found.wrong;
    let near = reported_nearby(&sequence.mesh, &exact, &reported);
    let share = |n: usize, of: usize| if of == 0 { 1.0 } else { n as f64 / of as f64 };
    let s = Statistics::of(&times);
    Ok([
        sequence.name.clone(),
        sequence.mesh.triangles().len().to_string(),
        frames.len().to_string(),
        exact.iter().filter(|pairs| !pairs.is_empty()).count().to_string(),
        pairs.to_string(),
        format!("{:.2}", 100.0 * share(right, pairs)),
        format!("{:.2}", 100.0 * share(near, pairs)),
        found.instances.to_string(),
        format!("{:.2}", 100.0 * share(found.seen, found.instances)),
        found.wrong.to_string(),
        milliseconds(Statistics::of(&exact_times).mean),
        milliseconds(s.mean),
        milliseconds(s.p99),
        if share(right, pairs) >= WANTED { "holds".into() } else { "MISSED".into() },
    ])
}

/// A bar that bends more and more until its ends pass through each other.
fn bending_bar() -> Result<Sequence> {
    let mesh = procedural::cuboid([1.0, 0.06, 0.06], [120, 8, 8])?;
    let bent = |frame: usize| {
        // The angle that the whole bar turns through; a little more than a full turn at the end.
        let angle = 7.2 * frame as f64 / (BENDING - 1) as f64 + 1e-3;
        let radius = 2.0 / angle;
        let place = |p: &DVec3| {
            let (sin, cos) = (0.5 * angle * p.x).sin_cos();
            let arm = radius - p.y;
            DVec3::new(arm * sin, radius - arm * cos, p.z + 0.01 * p.x)
        };
        mesh.vertices().iter().map(place).collect()
    };
    let frames = (0..BENDING).map(bent).collect();
    Ok(Sequence { name: "bending bar".into(), mesh, frames })
}

/// The shared sequence: magic, counts, indices, then all vertices of all frames in doubles.
fn cactus(file: &Path) -> Result<Sequence> {
    let bytes = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    let count = |at: usize| -> Result<usize> {
        let word = bytes.get(at..at + 4).context("a file too short")?;
        Ok(u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize)
    };
    ensure!(bytes.starts_with(b"SEQ1"), "{} is no sequence", file.display());
    let (frames, vertices, triangles) = (count(4)?, count(8)?, count(12)?);
    let start = 20 + 12 * triangles;
    ensure!(bytes.len() == start + 24 * frames * vertices, "{} has another length", file.display());
    let indices: Vec<u32> =
        (0..3 * triangles).map(|i| Ok(count(20 + 4 * i)? as u32)).collect::<Result<_>>()?;
    let numbers: Vec<f64> = bytes[start..]
        .chunks_exact(8)
        .map(|word| word.try_into().map(f64::from_le_bytes))
        .collect::<Result<_, _>>()?;
    let frames: Vec<Vec<DVec3>> = numbers
        .chunks_exact(3 * vertices)
        .map(|frame| frame.chunks_exact(3).map(DVec3::from_slice).collect())
        .collect();
    let triangles = indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
    let mesh = Mesh::from_points(frames.first().context("no frames")?.clone(), triangles)?;
    Ok(Sequence { name: "cactus".into(), mesh, frames })
}

/// A step of the shared continuous queries, cut into frames along the straight paths of its vertices.
fn step(name: &str) -> Result<Sequence> {
    let load = |end: &str| -> Result<Mesh> {
        let file = queries::folder().join(format!("pipeline/{name}_{end}.ply"));
        impinge::io::load_mesh(&file).with_context(|| format!("reading {}", file.display()))
    };
    let (start, end) = (load("t0")?, load("t1")?);
    ensure!(start.triangles() == end.triangles(), "{name}: two states of different meshes");
    let cut = |i: usize| {
        let share = i as f64 / CUTS as f64;
        start.vertices().iter().zip(end.vertices()).map(|(p, q)| p.lerp(*q, share)).collect()
    };
    Ok(Sequence { name: name.into(), frames: (0..=CUTS).map(cut).collect(), mesh: start })
}
