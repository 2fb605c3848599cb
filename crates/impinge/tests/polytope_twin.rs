//! Random pairs of polytopes, the walk and GJK/EPA against the twin that measures every pair of features and
//! tries every direction: apart, barely apart, touching, deep, flat, slivers, coordinates from 1e-6 to 1e6.
//!
//! Both are held to the same tolerance on every pair, with no fault allowed, and GJK/EPA to a closed bracket.
//!
//! The long run: `cargo test --release -p impinge --test polytope_twin -- --ignored --nocapture`.

use glam::DVec3;
use impinge::narrow::convex::brute::signed_distance;
use impinge::narrow::convex::polytope_distance::{WalkMemory, WalkWork, distance};
use impinge::narrow::convex::separation::{ConvexMemory, distance_by_supports};
use impinge::shape::{Convex, Polytope};
use impinge::{Certainty, Pose, Separation};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// How far answers may lie apart, relative to the largest placed coordinate.
const TOLERANCE: f64 = 1e-12;

/// What is special about a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Anywhere near each other.
    Anywhere,
    /// Moved towards each other until the gap or the depth is 1e-14 to 1 of their size.
    Near,
    /// Moved until they touch, up to rounding.
    Touching,
    /// Corners on a coarse grid, placed without rotation: faces, edges and corners coincide exactly.
    Grid,
    /// The same body twice, slightly moved or not at all.
    Same,
    /// One deep inside the other.
    Deep,
}

const KINDS: [Kind; 6] = [Kind::Anywhere, Kind::Near, Kind::Touching, Kind::Grid, Kind::Same, Kind::Deep];

struct Case {
    a: Polytope,
    b: Polytope,
    pose_a: Pose,
    pose_b: Pose,
}

fn unit_cube(rng: &mut Pcg64) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| rng.random_range(-1.0..1.0)))
}

/// Turned anyhow, at most a distance per axis away from a place.
fn turned(rng: &mut Pcg64, around: DVec3, spread: f64) -> Pose {
    let position = around + unit_cube(rng) * spread;
    let q: [f64; 4] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
    Pose::new(position.into(), q).unwrap()
}

fn powers(rng: &mut Pcg64, low: f64, high: f64) -> f64 {
    10f64.powf(rng.random_range(low..high))
}

/// Flat in none, one, two or three directions, squeezed in none or some.
fn body(rng: &mut Pcg64, grid: bool) -> Polytope {
    let mut stretch = DVec3::ONE;
    match rng.random_range(0..10) {
        0 => stretch.z = 0.0,
        1 => stretch = DVec3::new(1.0, 0.0, 0.0),
        2 | 3 => stretch.z = powers(rng, -12.0, -1.0),
        4 => (stretch.y, stretch.z) = (powers(rng, -9.0, -1.0), powers(rng, -9.0, -1.0)),
        _ => {}
    }
    let count = if rng.random_bool(0.05) { 1 } else { rng.random_range(2..14) };
    let points: Vec<DVec3> = (0..count)
        .map(|_| {
            let p = unit_cube(rng);
            if grid { (p * 2.0).round() * stretch.ceil() } else { p * stretch }
        })
        .collect();
    Polytope::hull(&points).unwrap()
}

fn moved(pose: &Pose, by: DVec3) -> Pose {
    Pose::from_translation(by).unwrap().compose(pose)
}

fn case(rng: &mut Pcg64, kind: Kind) -> Case {
    let scale = powers(rng, -6.0, 6.0);
    // Now and then one is much larger than the other.
    let other_scale = if rng.random_bool(0.2) { scale * powers(rng, -3.0, 0.0) } else { scale };
    let grid = kind == Kind::Grid;
    let (scale, other_scale) =
        if grid { (scale.log2().round().exp2(), scale.log2().round().exp2()) } else { (scale, other_scale) };
    let scaled = |p: &Polytope, s: f64| {
        Polytope::hull(&p.vertices().iter().map(|&v| v * s).collect::<Vec<_>>()).unwrap()
    };
    let a = scaled(&body(rng, grid), scale);
    let b = if kind == Kind::Same { a.clone() } else { scaled(&body(rng, grid), other_scale) };
    let size = scale + other_scale;
    let far = if rng.random_bool(0.2) { unit_cube(rng) * (1e6 * size).min(1e6) } else { DVec3::ZERO };
    let (mut pose_a, mut pose_b) = match kind {
        Kind::Grid => {
            let step = |rng: &mut Pcg64| (unit_cube(rng) * 3.0).round() * scale;
            (Pose::from_translation(step(rng)).unwrap(), Pose::from_translation(step(rng)).unwrap())
        }
        Kind::Same => {
            let pose = turned(rng, far, size);
            let small =
                unit_cube(rng) * size * if rng.random_bool(0.3) { 0.0 } else { powers(rng, -12.0, 0.0) };
            (pose, moved(&pose, small))
        }
        Kind::Deep => {
            let middle = unit_cube(rng) * size + far;
            (turned(rng, middle, 0.0), turned(rng, middle, other_scale * 0.3))
        }
        _ => (turned(rng, far, 0.4 * size), turned(rng, far, 0.4 * size)),
    };
    if matches!(kind, Kind::Near | Kind::Touching) {
        let now = distance(&a, &pose_a, &b, &pose_b, &mut WalkMemory::default());
        let gap = match kind {
            Kind::Touching => 0.0,
            _ => size * powers(rng, -14.0, 0.0) * if rng.random_bool(0.5) { 1.0 } else { -1.0 },
        };
        pose_b = moved(&pose_b, now.normal * (gap - now.distance));
    }
    if rng.random_bool(0.5) {
        (pose_a, pose_b) = (pose_b, pose_a);
        return Case { a: b, b: a, pose_a, pose_b };
    }
    Case { a, b, pose_a, pose_b }
}

/// The largest placed coordinate.
fn size(case: &Case) -> f64 {
    let reach = |body: &Polytope, pose: &Pose| {
        body.vertices().iter().map(|&p| pose.apply(p).abs().max_element()).fold(0.0, f64::max)
    };
    reach(&case.a, &case.pose_a).max(reach(&case.b, &case.pose_b))
}

/// What is wrong with an answer, given the true distance.
fn fault(case: &Case, found: &Separation, want: f64) -> Option<String> {
    let [pa, pb] = [(&case.a, &case.pose_a), (&case.b, &case.pose_b)]
        .map(|(body, pose)| body.vertices().iter().map(|&p| pose.apply(p)).collect::<Vec<_>>());
    let size = size(case);
    let tolerance = TOLERANCE * size;
    let n = found.normal;
    let high = pa.iter().map(|p| p.dot(n)).fold(f64::NEG_INFINITY, f64::max);
    let low = pb.iter().map(|p| p.dot(n)).fold(f64::INFINITY, f64::min);
    let between = found.points[1] - found.points[0];
    let checks = [
        ("length of the normal", (n.length() - 1.0) * size),
        ("slab along the normal", low - high - found.distance),
        ("distance", found.distance - want),
        ("points", (between - n * found.distance).length()),
        ("point on a", high - found.points[0].dot(n)),
        ("point on b", found.points[1].dot(n) - low),
    ];
    checks.iter().find(|(_, off)| !(off.abs() <= tolerance)).map(|(what, off)| {
        format!("{what} is off by {:e} of the size: {found:?}, truth {want:e}", off / size)
    })
}

#[derive(Default)]
struct Tally {
    overlaps: [u64; KINDS.len()],
    touching: u64,
    flat: u64,
    cases: u64,
    /// GJK or EPA ended with a bracket that is not closed.
    open: u64,
    work: WalkWork,
    faults: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.overlaps.iter_mut().zip(other.overlaps).for_each(|(sum, more)| *sum += more);
        self.touching += other.touching;
        self.flat += other.flat;
        self.cases += other.cases;
        self.open += other.open;
        self.work += other.work;
        self.faults.extend(other.faults);
    }
}

/// Every ten thousand pairs have their own seed, so that threads cannot be seen in the result.
const LOT: u64 = 10_000;

fn run(pairs: u64, seed: u64) -> Tally {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let lots = pairs.div_ceil(LOT);
    let mut all = Tally::default();
    std::thread::scope(|scope| {
        let work = |thread: u64| {
            let mine = (thread..lots).step_by(threads as usize);
            mine.map(|lot| run_lot(LOT.min(pairs - lot * LOT), seed + lot)).collect::<Vec<_>>()
        };
        let running: Vec<_> = (0..threads).map(|t| scope.spawn(move || work(t))).collect();
        running.into_iter().flat_map(|t| t.join().unwrap()).for_each(|tally| all.add(tally));
    });
    all
}

fn run_lot(pairs: u64, seed: u64) -> Tally {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut tally = Tally::default();
    for round in 0..pairs {
        let which = (round % KINDS.len() as u64) as usize;
        let case = case(&mut rng, KINDS[which]);
        let mut memory = WalkMemory::default();
        // Features of another place, so that the walk starts wrong, or none.
        if rng.random_bool(0.5) {
            let elsewhere = turned(&mut rng, case.pose_a.translation(), case.b.centre().length());
            distance(&case.a, &case.pose_a, &case.b, &elsewhere, &mut memory);
        }
        let found = distance(&case.a, &case.pose_a, &case.b, &case.pose_b, &mut memory);
        let want = signed_distance(&case.a, &case.pose_a, &case.b, &case.pose_b);
        let (supports, certainty) = distance_by_supports(
            &Convex::from(case.a.clone()),
            &case.pose_a,
            &Convex::from(case.b.clone()),
            &case.pose_b,
            &mut ConvexMemory::default(),
        );
        let judged = [("walk", fault(&case, &found, want)), ("GJK/EPA", fault(&case, &supports, want))];
        tally.open += u64::from(certainty != Certainty::Exact);
        for (method, what) in judged {
            let Some(what) = what else { continue };
            let what = format!("{method}: {what}");
            tally.faults.push(format!(
                "seed {seed}, pair {round} ({:?}): {what}\na {:?} {:?}\nb {:?} {:?}",
                KINDS[which],
                case.a.vertices(),
                case.pose_a,
                case.b.vertices(),
                case.pose_b
            ));
        }
        tally.cases += 1;
        tally.overlaps[which] += u64::from(want < 0.0);
        tally.touching += u64::from(want == 0.0);
        tally.flat += u64::from(case.a.dimension().min(case.b.dimension()) < 3);
        tally.work += memory.work();
    }
    tally
}

fn judge(tally: &Tally) {
    let share = |count: u64, of: u64| count as f64 / of as f64;
    println!(
        "{} pairs; overlapping {:?} of {} each, {} touch exactly, {} with a flat body, {} open; {:?}",
        tally.cases,
        tally.overlaps,
        tally.cases / KINDS.len() as u64,
        tally.touching,
        tally.flat,
        tally.open,
        tally.work
    );
    println!("{} faults", tally.faults.len());
    for fault in tally.faults.iter().take(5) {
        println!("{fault}");
    }
    assert_eq!(tally.faults.len(), 0, "faults in {} pairs", tally.cases);
    assert_eq!(tally.open, 0, "open brackets in {} pairs", tally.cases);
    let each = tally.cases / KINDS.len() as u64;
    let [anywhere, near, _, grid, same, deep] = tally.overlaps.map(|o| share(o, each));
    assert!((0.15..0.85).contains(&anywhere), "{anywhere}");
    assert!((0.2..0.8).contains(&near), "{near}");
    assert!((0.05..0.8).contains(&grid), "{grid}");
    assert!(same > 0.3 && deep > 0.3, "{same} {deep}");
    assert!((0.2..0.8).contains(&share(tally.flat, tally.cases)), "{}", tally.flat);
    assert!(share(tally.touching, tally.cases) > 0.01, "{}", tally.touching);
    // The search through all pairs of features is for bodies that meet in one plane, and for little else.
    assert!(share(tally.work.exhausted, tally.cases) < 0.1, "{:?}", tally.work);
}

#[test]
fn six_thousand_pairs_agree_with_the_twin() {
    judge(&run(6_000, 61));
}

/// The last pair of this lot is flat and once came out of EPA 0.016 deep, when it only touches.
#[test]
fn issue_003_slivers_in_one_plane() {
    let tally = run_lot(6_759, 66);
    assert_eq!((tally.faults.first(), tally.open), (None, 0));
}

#[test]
#[ignore = "minutes; the command is at the head of the file"]
fn a_million_pairs_agree_with_the_twin() {
    judge(&run(1_000_000, 62));
}
