//! The grid on each instruction set and any number of threads, against testing all pairs.

use glam::DVec3;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::super::{Brute, Mobility};
use super::*;

const BODIES: u32 = 1_500;
const FRAMES: usize = 24;

/// A body that flies straight, until it jumps.
struct Flyer {
    bounds: Aabb,
    way: DVec3,
    mobility: Mobility,
}

impl Flyer {
    /// Most are ordinary; some are large, some lie on whole numbers, where f32 and f64 are in doubt, some turn
    /// out to be fast.
    fn any(rng: &mut Pcg64) -> Flyer {
        let three = |rng: &mut Pcg64, low: f64, high: f64| {
            DVec3::from_array(std::array::from_fn(|_| rng.random_range(low..high)))
        };
        let low = three(rng, 0.0, 8.0);
        let most = if rng.random_bool(0.01) { 6.0 } else { 1.0 };
        let size = three(rng, 0.1, most);
        let bounds = if rng.random_bool(0.1) {
            Aabb { low: low.round(), high: low.round() + size.ceil() }
        } else {
            Aabb { low, high: low + size }
        };
        let fixed = rng.random_bool(0.1);
        let fast = if fixed { 0.0 } else { [0.01, 0.01, 0.01, 0.1][rng.random_range(0..4)] };
        let mobility = if fixed { Mobility::Fixed } else { Mobility::Moving };
        Flyer { bounds, way: fast * three(rng, -1.0, 1.0), mobility }
    }
}

/// What a broad phase tells, frame by frame, of flyers of which a few come and go.
fn watch<B: BroadPhase>(mut broad: B, mut each: impl FnMut(&B)) -> Vec<Changes> {
    let mut rng = Pcg64::seed_from_u64(5);
    let mut flyers: Vec<Flyer> = (0..BODIES).map(|_| Flyer::any(&mut rng)).collect();
    for (id, flyer) in (0..).zip(&flyers) {
        broad.insert(id, flyer.bounds, flyer.mobility);
    }
    let mut told = Vec::new();
    for _ in 0..FRAMES {
        for flyer in &mut flyers {
            if rng.random_bool(0.01) {
                flyer.bounds = Flyer::any(&mut rng).bounds;
            }
            flyer.bounds = Aabb { low: flyer.bounds.low + flyer.way, high: flyer.bounds.high + flyer.way };
        }
        let bounds: Vec<Aabb> = flyers.iter().map(|flyer| flyer.bounds).collect();
        broad.update_range(0, &bounds);
        for _ in 0..rng.random_range(0..4) {
            let id = rng.random_range(0..BODIES);
            broad.remove(id);
            if rng.random_bool(0.5) {
                flyers[id as usize] = Flyer::any(&mut rng);
                broad.insert(id, flyers[id as usize].bounds, flyers[id as usize].mobility);
            }
        }
        let mut changes = Changes::default();
        broad.step(&mut changes);
        told.push(changes);
        each(&broad);
    }
    told
}

/// The pairs of a grid in the order in which it hands them out.
fn handed_out(grid: &Grid) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    grid.for_each_pair(|a, b| pairs.push([a, b]));
    pairs
}

/// What a grid tells, and its pairs in the order in which they are handed out.
fn watch_grid(instructions: SimdLevel, threads: usize) -> (Vec<Changes>, Vec<Vec<[u32; 2]>>) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut lists = Vec::new();
        let grid = Grid { instructions, ..Grid::default() };
        let told = watch(grid, |grid| lists.push(handed_out(grid)));
        (told, lists)
    })
}

#[test]
fn plain_loops_tell_the_same_as_all_pairs() {
    let expected = watch(Brute::default(), |_| ());
    let (mut sorts, mut loose, mut order) = (0, 0, Vec::new());
    let plain = Grid { instructions: SimdLevel::PORTABLE, ..Grid::default() };
    let told = watch(plain, |grid| {
        loose += usize::from(!grid.among_loose.met.is_empty());
        sorts += usize::from(order != grid.slots.ids[..order.len().min(grid.slots.ids.len())]);
        order.clone_from(&grid.slots.ids);
        let (mut pairs, mut mapped) = (Vec::new(), handed_out(grid));
        grid.pairs(&mut pairs);
        mapped.iter_mut().for_each(|pair| pair.sort_unstable());
        sort_pairs(&mut mapped);
        assert_eq!(mapped, pairs);
    });
    assert_eq!(told, expected);
    // Both kinds of steps, pairs among loose bodies, and events enough.
    assert!(
        (2..FRAMES - 4).contains(&sorts) && loose > 4,
        "{sorts} sorts, {loose} with pairs of loose bodies"
    );
    let [began, ended] = [|c: &Changes| c.began.len(), |c: &Changes| c.ended.len()]
        .map(|count| told[1..].iter().map(count).sum::<usize>());
    assert!(began > 500 && ended > 500, "{began} began, {ended} ended");
}

#[test]
fn instructions_and_threads_change_nothing() {
    let reference = watch_grid(SimdLevel::PORTABLE, 1);
    for instructions in SimdLevel::available() {
        for threads in [1, 2, 5] {
            assert!(watch_grid(instructions, threads) == reference, "{instructions:?}, {threads} threads");
        }
    }
}
