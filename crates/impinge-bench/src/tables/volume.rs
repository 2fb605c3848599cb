//! The volume of the intersection of two solids with its gradient, against booleans that build the intersection.

use std::hint::black_box;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use glam::DVec3;
use impinge::{Mesh, Method, Placed, Pose, Query, Shape, VolumeOptions, procedural};
use rayon::ThreadPool;

use super::Effort;
use super::tree_build::{kernel, pool, steps_of_kernel};
use crate::outside::Outside;
use crate::peers::wanted;
use crate::table::{Table, milliseconds};
use crate::timing::{Contestant, Timed, Track, alternate, faster_by, median_of, unpacked};
use crate::{scenes, setup};

const REPEATS: usize = 7;

/// How long a peer may take to construct its bodies, and for each answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// How far a volume may be from the exact one, as a share of it: MeshLib works in f32.
const TOLERANCE: f64 = 1e-5;

/// The same for images, which are asked for it.
const IMAGE_ERROR: f64 = 0.005;

const OURS: [(&str, Method); 2] = [("impinge-exact", Method::Exact), ("impinge-image", Method::Image)];
const OURS_ON_TWO: [(&str, Method); 2] =
    [("impinge-exact-2-threads", Method::Exact), ("impinge-image-2-threads", Method::Image)];

/// Many questions in one call, each of which one thread may answer alone: what a batch gains is throughput, what one
/// question gains is latency.
const BATCHES: [(&str, Method); 2] =
    [("impinge-exact-batch", Method::Exact), ("impinge-image-batch", Method::Image)];
const BATCHES_ON_TWO: [(&str, Method); 2] =
    [("impinge-exact-batch-2-threads", Method::Exact), ("impinge-image-batch-2-threads", Method::Image)];

/// Questions of a batch; the first is the one that is asked alone, in the others a body is a little elsewhere.
const BATCH: u32 = 8;
const KERNEL: &str = "(kernel)";
const KERNEL_ON_TWO: &str = "(kernel-2-threads)";

/// A kernel as long as a question, cut into two halves and joined as often as one: nothing that is forked and joined
/// once gains more.
const SHORT_KERNEL: &str = "(short-kernel)";
const SHORT_KERNEL_ON_TWO: &str = "(short-kernel-2-threads)";
const PEERS: [(&str, [&str; 2]); 2] = [("meshlib", setup::MESHLIB), ("manifold3d", setup::MANIFOLD)];

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = ["contestant", "scene", "median ms", "found", "compared with ours"];
    let mut table = Table::new("volume", &header);
    let small = scenes::mesh("bunny4k")?;
    let mut cases = vec![("bunny4k-shifted", small.clone(), moved(&small, [0.1, 0.05, 0.02])?)];
    if effort == Effort::Full {
        let bunny = scenes::mesh("bunny59k")?;
        let cube = moved(&procedural::cuboid([0.25; 3], [1; 3])?, [0.35; 3])?;
        cases.push(("bunny59k-shifted", bunny.clone(), moved(&bunny, [0.1, 0.05, 0.02])?));
        cases.push(("bunny59k-cube", bunny.clone(), cube));
        cases.push(("bunny59k-knot65k", bunny, scenes::mesh("knot65k")?));
    }
    for (scene, a, b) in cases {
        let tracks = measure(&mut table, &a, &b)?;
        let known = tracks[0].answers.first().copied().unwrap_or(f64::NAN);
        for track in tracks.iter().filter(|track| !track.name.starts_with('(')) {
            let (volume, verdict) = match (&track.failure, track.answers.first()) {
                (Some(why), _) => (String::new(), why.clone()),
                (None, Some(&found)) if (found - known).abs() <= tolerance(track.name) * known.abs() => {
                    (format!("{found:.12}"), "agrees".to_string())
                }
                (None, found) => (format!("{found:?}"), "DIFFERS".to_string()),
            };
            let time = milliseconds(track.statistics().median);
            table.row([track.name.to_string(), scene.to_string(), time, volume, verdict]);
        }
        // Each is below the error that is asked, so the faster one counts.
        let find = |name: &str| tracks.iter().find(|track| track.name == name);
        let ours: Vec<&Track<f64>> = OURS.iter().filter_map(|(name, _)| find(name)).collect();
        let fastest = ours.iter().min_by(|x, y| x.statistics().median.total_cmp(&y.statistics().median));
        let theirs = PEERS.iter().filter_map(|(name, _)| find(name)).filter(|track| track.failure.is_none());
        for (track, fastest) in theirs.zip(fastest.into_iter().cycle()) {
            table.ratio(&format!("{}-{scene}", track.name), faster_by(fastest, track).median);
        }
        let kernels = [
            ("a kernel of many milliseconds without any common data", KERNEL, KERNEL_ON_TWO),
            ("one as long as the exact question, forked and joined once", SHORT_KERNEL, SHORT_KERNEL_ON_TWO),
        ];
        for (kernel, one, two) in kernels {
            let (Some(one), Some(two)) = (find(one), find(two)) else { continue };
            let possible = faster_by(two, one).median;
            let alone = OURS.iter().zip(&OURS_ON_TWO).map(|names| ("one question", names));
            let many = BATCHES.iter().zip(&BATCHES_ON_TWO).map(|names| ("a batch", names));
            for (what, (one, two)) in alone.chain(many) {
                let (Some(one), Some(two)) = (find(one.0), find(two.0)) else { continue };
                let scaling = faster_by(two, one).median;
                table.remark(format!(
                    "{scene}: scaling of {what}: {} is {scaling:.2} times as fast as on one thread, {kernel} \
                     {possible:.2} times: {:.2} of it",
                    two.name,
                    scaling / possible
                ));
            }
        }
    }
    table.remark(
        "ours: volume, regions and the derivative by every vertex of both bodies, trees and topology built; images at a \
         wanted error of 0.5 %; ratios are those of the faster of both",
    );
    table.remark(format!(
        "batch: {BATCH} questions in one call, time for each; one question is shared between threads stage by stage, a \
         batch question by question"
    ));
    table.remark("peers: the boolean and its volume, bodies constructed beforehand, on one core; called from Python, their own clock");
    Ok(table)
}

fn measure(table: &mut Table, a: &Mesh, b: &Mesh) -> Result<Vec<Track<f64>>> {
    let shapes = [Shape::from(a.clone()), Shape::from(b.clone())];
    let shapes = &shapes;
    let options = VolumeOptions { gradient: true, error: Some(IMAGE_ERROR), ..VolumeOptions::default() };
    let ask = move |method: Method| -> Result<f64> {
        let found = Query { method, ..Query::default() }.volume(&shapes[0], &shapes[1], options)?;
        Ok(found.value.map_or(f64::NAN, |found| found.volume))
    };
    let poses: Vec<Pose> = (0..BATCH)
        .map(|k| Pose::from_translation([1e-3 * f64::from(k), 0.0, 0.0]))
        .collect::<Result<_, _>>()?;
    let pairs: Vec<[Placed<'_>; 2]> =
        poses.iter().map(|&pose| [shapes[0].at(pose), Placed::from(&shapes[1])]).collect();
    let pairs = &pairs;
    let ask_all = move |method: Method| -> Result<f64> {
        let found = Query { method, ..Query::default() }.volume_batch(pairs, options)?;
        Ok(found.first().and_then(|found| found.value.as_ref()).map_or(f64::NAN, |found| found.volume))
    };
    let [one, two] = [pool(1)?, pool(2)?];
    let (one, two) = (&one, &two);
    let on = move |threads: &'_ ThreadPool, method: Method| {
        threads.install(|| unpacked(median_of(REPEATS, || ask(method))))
    };
    let all_on = move |threads: &'_ ThreadPool, method: Method| {
        let all = threads.install(|| unpacked(median_of(REPEATS, || ask_all(method))))?;
        Ok(Timed { nanoseconds: all.nanoseconds / f64::from(BATCH), ..all })
    };
    let mut contestants: Vec<Contestant<'_, f64>> = Vec::new();
    for (threads, contestant) in
        OURS.into_iter().map(|ours| (one, ours)).chain(OURS_ON_TWO.into_iter().map(|ours| (two, ours)))
    {
        contestants.push(Contestant::new(contestant.0, move |_| on(threads, contestant.1)));
    }
    for (threads, (name, method)) in
        BATCHES.into_iter().map(|ours| (one, ours)).chain(BATCHES_ON_TWO.into_iter().map(|ours| (two, ours)))
    {
        contestants.push(Contestant::new(name, move |_| all_on(threads, method)));
    }
    for (threads, name) in [(one, KERNEL), (two, KERNEL_ON_TWO)] {
        contestants.push(Contestant::new(name, move |_| Ok(kernel(threads))));
    }
    let steps = steps_as_long_as(one, || ask(Method::Exact))?;
    for (threads, name) in [(one, SHORT_KERNEL), (two, SHORT_KERNEL_ON_TWO)] {
        contestants.push(Contestant::new(name, move |_| Ok(short_kernel(threads, steps))));
    }
    for (name, wheel) in PEERS.into_iter().filter(|(name, _)| wanted(name)) {
        if !setup::has_wheel(wheel) {
            table.missing(format!(
                "{name}: not installed; `cargo run --release -p impinge-bench -- setup` gets it"
            ));
            continue;
        }
        let [file_a, file_b, _] = scenes::export(a, b, &[])?;
        let script = scenes::root().join("crates/impinge-bench/peers/volume.py");
        let mut command = Command::new(setup::python());
        command.arg(script).arg(name).arg(file_a).arg(file_b);
        let mut peer = Outside::start(name, &mut command, PATIENCE)?;
        contestants.push(Contestant::new(name, move |_| {
            let Timed { nanoseconds, answer } = peer.ask(&REPEATS.to_string())?;
            let volume = answer.first().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN);
            Ok(Timed { nanoseconds, answer: volume })
        }));
    }
    Ok(alternate(&mut contestants, &[0, 1, 2]))
}

/// Steps of the kernel that take as long as a question on one thread.
fn steps_as_long_as(one: &ThreadPool, mut question: impl FnMut() -> Result<f64> + Send) -> Result<u64> {
    const SOME: u64 = 1_000_000;
    let question = one.install(|| unpacked(median_of(REPEATS, &mut question)))?;
    let some = one.install(|| median_of(REPEATS, || steps_of_kernel(black_box(1), SOME)));
    Ok((question.nanoseconds / some.nanoseconds * SOME as f64) as u64)
}

/// The kernel in two halves, asked as a question is.
fn short_kernel(threads: &ThreadPool, steps: u64) -> Timed<f64> {
    let half = |seed: u64| steps_of_kernel(black_box(seed), steps / 2);
    let halves = || rayon::join(|| half(1), || half(2));
    let Timed { nanoseconds, answer } = threads.install(|| median_of(REPEATS, halves));
    black_box(answer);
    Timed { nanoseconds, answer: f64::NAN }
}

fn tolerance(name: &str) -> f64 {
    if name.starts_with("impinge-image") { IMAGE_ERROR } else { TOLERANCE }
}

/// A mesh elsewhere.
pub(super) fn moved(mesh: &Mesh, by: [f64; 3]) -> Result<Mesh> {
    let pose = Pose::from_translation(by)?;
    let vertices: Vec<DVec3> = mesh.vertices().iter().map(|&p| pose.apply(p)).collect();
    Ok(Mesh::from_points(vertices, mesh.triangles().to_vec())?)
}
