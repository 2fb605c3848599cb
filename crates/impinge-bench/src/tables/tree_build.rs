//! Building the tree of a mesh: time on one and on two threads, bytes for each triangle.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use impinge::Mesh;
use impinge::hierarchy::wide::WideTree;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::Effort;
use crate::peers::programs::{PROGRAMS, Program};
use crate::peers::{parry, trees};
use crate::scenes;
use crate::table::{Table, milliseconds};
use crate::timing::{Contestant, Timed, Track, alternate, faster_by};

/// Meshes, and whether the table is incomplete without.
const MESHES: [(&str, bool); 3] = [("bunny59k", true), ("dragon202k", true), ("dragon871k", false)];

/// Builds by each contestant.
const ROUNDS: usize = 11;

/// Builds by those who take a second.
const SLOW_ROUNDS: usize = 3;

const OURS: &str = "impinge-1-thread";
const OURS_ON_TWO: &str = "impinge-2-threads";
const KERNEL: &str = "(kernel-1-thread)";
const KERNEL_ON_TWO: &str = "(kernel-2-threads)";

/// What is known of a tree after its build.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Built {
    /// Bytes of the tree for each triangle; NaN for the kernel, which builds nothing.
    bytes: f64,
    /// Whether it was compared with the tree built on one thread, and equal.
    equal: Option<bool>,
}

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = ["contestant", "mesh", "median ms", "mean ms", "p99 ms", "bytes/triangle", "compared"];
    let mut table = Table::new("tree-build", &header);
    table.remark("ratios are of the medians, theirs over ours on one thread");
    for (name, needed) in MESHES.into_iter().take(effort.pick(3, 1)) {
        if !needed && !scenes::has_mesh(name) {
            table.missing(format!("{name}: `cargo run --release -p impinge-bench -- setup` makes it"));
            continue;
        }
        let tracks = measure(&mut table, name, &scenes::mesh(name)?, effort)?;
        add_rows(&mut table, name, &tracks);
    }
    Ok(table)
}

/// Everybody builds the tree of one mesh in turn.
fn measure(table: &mut Table, name: &str, mesh: &Mesh, effort: Effort) -> Result<Vec<Track<Built>>> {
    let [one, two] = [pool(1)?, pool(2)?];
    let reference = one.install(|| WideTree::build(mesh));
    let triangles = trees::obvhs_triangles(mesh);
    let mut shapes = trees::bvh_shapes(mesh);
    let for_each = |bytes: usize| bytes as f64 / mesh.triangles().len() as f64;
    let ours = |threads: &ThreadPool| {
        let Timed { nanoseconds, answer } = once(|| threads.install(|| WideTree::build(mesh)));
        let built = Built { bytes: for_each(answer.memory()), equal: Some(answer == reference) };
        Timed { nanoseconds, answer: built }
    };
    let theirs = |Timed { nanoseconds, answer: bytes }: Timed<f64>| {
        Ok(Timed { nanoseconds, answer: Built { bytes, equal: None } })
    };
    let mut contestants = vec![
        Contestant::new(OURS, |_| Ok(ours(&one))),
        Contestant::new(OURS_ON_TWO, |_| Ok(ours(&two))),
        Contestant::new(KERNEL, |_| theirs(kernel(&one))),
        Contestant::new(KERNEL_ON_TWO, |_| theirs(kernel(&two))),
    ];
    for (name, preset) in trees::obvhs_presets() {
        let triangles = &triangles;
        contestants.push(Contestant::new(name, move |_| {
            let Timed { nanoseconds, answer } = once(|| trees::obvhs_build(triangles, preset));
            theirs(Timed { nanoseconds, answer: for_each(trees::obvhs_bytes(&answer)) })
        }));
    }
    contestants.push(Contestant::new("bvh", |_| {
        let Timed { nanoseconds, answer } = once(|| trees::bvh_build(&mut shapes));
        theirs(Timed { nanoseconds, answer: for_each(trees::bvh_bytes(&answer)) })
    }));
    contestants.push(Contestant::new("parry3d", |_| {
        let Timed { nanoseconds, answer } = once(|| parry::single::mesh(mesh));
        theirs(Timed { nanoseconds, answer: parry::single::bytes_per_triangle(&answer?) })
    }));
    contestants.push(Contestant::new("parry3d-f64", |_| {
        let Timed { nanoseconds, answer } = once(|| parry::double::mesh(mesh));
        theirs(Timed { nanoseconds, answer: parry::double::bytes_per_triangle(&answer?) })
    }));
    for (volume, names) in [("aabb", ["fcl-aabb", "coal-aabb"]), ("obbrss", PROGRAMS.map(|(_, name)| name))] {
        for ((program, _), name) in PROGRAMS.into_iter().zip(names) {
            let Some(mut running) = Program::start(program, mesh, mesh, &[], table)? else { continue };
            let build = move |_| theirs(running.build(volume, 0, 1)?);
            contestants.push(Contestant::new(name, build).at_most(SLOW_ROUNDS));
        }
    }
    let rounds: Vec<usize> = (0..effort.pick(ROUNDS, 3)).collect();
    alternate(&mut contestants, &[0]);
    let tracks = alternate(&mut contestants, &rounds);
    drop(contestants);
    reference.check(mesh).map_err(|wrong| anyhow!("our tree of {name}: {wrong:?}"))?;
    Ok(tracks)
}

fn add_rows(table: &mut Table, mesh: &str, tracks: &[Track<Built>]) {
    for track in tracks {
        let s = track.statistics();
        let bytes = track.answers.first().map_or(f64::NAN, |built| built.bytes);
        let compared: Vec<bool> = track.answers.iter().filter_map(|built| built.equal).collect();
        let verdict = match compared.iter().filter(|&&equal| !equal).count() {
            _ if compared.is_empty() => "-".into(),
            0 => "agrees: sound, the same bits in every build".into(),
            differing => format!("{differing} of {} trees DIFFER", compared.len()),
        };
        let bytes = if bytes.is_nan() { "-".into() } else { format!("{bytes:.1}") };
        let times = [s.median, s.mean, s.p99].map(milliseconds);
        let names = [track.name.to_string(), mesh.to_string()];
        table.row(names.into_iter().chain(times).chain([bytes, verdict]));
        if let Some(why) = &track.failure {
            table.missing(format!("{} from here on: {why}", track.name));
        }
    }
    let find = |name: &str| tracks.iter().find(|t| t.name == name);
    let (Some(ours), Some(on_two)) = (find(OURS), find(OURS_ON_TWO)) else { return };
    if let (Some(kernel), Some(kernel_on_two)) = (find(KERNEL), find(KERNEL_ON_TWO)) {
        let scaling = faster_by(on_two, ours).median;
        let possible = faster_by(kernel_on_two, kernel).median;
        table.remark(format!(
            "{mesh}: two threads build {scaling:.2} times as fast as one; a kernel without any common data \
             runs {possible:.2} times as fast"
        ));
    }
    if let Some(fastest) = find("obvhs-fastest") {
        table.remark(format!(
            "{mesh}: obvhs-fastest builds {:.2} times as fast as we do; its tree has two children a node, one triangle a \
             leaf, merges only neighbours along a curve and is not improved afterwards",
            faster_by(fastest, ours).median
        ));
    }
    for track in tracks.iter().filter(|t| !t.name.starts_with(['(', 'i'])) {
        table.ratio(&format!("{}-{mesh}", track.name), faster_by(ours, track).median);
    }
}

/// Arithmetic on registers only: what two threads can gain on this machine at this moment.
pub(super) fn kernel(threads: &ThreadPool) -> Timed<f64> {
    let work = |seed: u64| steps_of_kernel(seed, 200_000);
    let Timed { nanoseconds, answer } =
        once(|| threads.install(|| (0..64_u64).into_par_iter().map(work).reduce(|| 0, u64::wrapping_add)));
    black_box(answer);
    Timed { nanoseconds, answer: f64::NAN }
}

/// Work of the kernel: each step waits for the one before.
pub(super) fn steps_of_kernel(seed: u64, steps: u64) -> u64 {
    (0..steps).fold(seed, |x, i| (x ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Untimed work before each reading, in seconds: by then the system has spread the threads over the cores, and
/// nobody pays for cold caches and sleeping threads that the one before him left.
pub const RUN_UP: f64 = 0.05;

/// The time until the answer is there, after a run-up of the same work; it is dropped outside.
fn once<A>(mut question: impl FnMut() -> A) -> Timed<A> {
    let begun = Instant::now();
    while begun.elapsed().as_secs_f64() < RUN_UP {
        drop(black_box(question()));
    }
    let start = Instant::now();
    let answer = black_box(question());
    Timed { nanoseconds: start.elapsed().as_nanos() as f64, answer }
}

/// Threads with a core each, the kernel's and ours alike: a system that wakes both workers on one core, as some
/// do for a whole build, would be measured instead of the work.
pub(super) fn pool(threads: usize) -> Result<ThreadPool> {
    pool_on(0, threads)
}

/// The same from another core on.
pub(super) fn pool_on(first: usize, threads: usize) -> Result<ThreadPool> {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let pin = move |worker: usize| {
        if let Some(&core) = cores.get(first + worker) {
            core_affinity::set_for_current(core);
        }
    };
    ThreadPoolBuilder::new().num_threads(threads).start_handler(pin).build().context("starting threads")
}
