//! The hybrid: switches from one technique to another while running, when what the other one would have saved beats
//! the cost of the switch.
//!
//! Every few frames, and when the tests or pairs of a frame are not what they were, a sample of the particles says how
//! crowded they are ([`Crowding`]). From that each technique has expected counts, and a time T = Nv·Cv + Np·Cp + Nu·Cu
//! with the coefficients that are stored beside this file (`impinge-bench -- calibrate-particles` writes them): no clock
//! is read, so the choice is the same on every machine. What the best technique would save is added up frame by frame;
//! when the sum exceeds what it costs to start that technique, the hybrid switches. So the frames spent too long with the
//! wrong technique never cost more than the switch itself (the rule for renting or buying: Karlin, Manasse, Rudolph and
//! Sleator, "Competitive snoopy caching", 1988).

use std::fmt::Write as _;
use std::sync::OnceLock;

use super::crowding::{Crowding, sample_tests};
use super::meter::{Meter, Unit, note_choice};
use super::{Nearest, NeighbourSearch, Particles, SearchCounters, Technique};
use crate::hierarchy::cost::CostModel;

/// The stored coefficients: `technique,cv,cp,cu,start`, in nanoseconds, the last one for each particle.
const COEFFICIENTS: &str = include_str!("coefficients.csv");

/// Frames between two looks at the crowding, at most: a look takes up to half the time of a frame, and most changes are
/// noticed by [`CHANGED`].
const PERIOD: u32 = 64;

/// Tests or pairs of a frame over those of the first frame after a look, one added for each particle to both, from which
/// on, or from whose reciprocal down, the next look is due.
const CHANGED: f64 = 1.5;

/// A technique is better if it takes at most this share of the time of the one in use: predictions are no better.
const BETTER: f64 = 0.93;

/// A technique to choose from.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    technique: Technique,
    costs: CostModel,
    /// What its first frame costs more than later ones, for each particle.
    start: f64,
}

/// The techniques to choose from, with the stored coefficients.
fn candidates() -> &'static [Candidate] {
    static STORED: OnceLock<Vec<Candidate>> = OnceLock::new();
    STORED.get_or_init(|| {
        let mut stored: Vec<Candidate> = COEFFICIENTS.lines().filter_map(parse).collect();
        // No test is free: where all sets that were measured have tests in proportion to pairs or particles, a fit may put
        // their cost on these. A test takes at least what it takes where it is cheapest.
        let tests = stored.iter().map(|c| c.costs.primitive_test).filter(|&cost| cost > 0.0);
        let cheapest = tests.fold(f64::INFINITY, f64::min);
        let free = stored.iter_mut().map(|c| &mut c.costs.primitive_test).filter(|cost| **cost == 0.0);
        free.for_each(|cost| *cost = cheapest);
        stored
    })
}

fn parse(row: &str) -> Option<Candidate> {
    let mut fields = row.split(',');
    let technique = fields.next()?.parse().ok().filter(|&technique| technique != Technique::Hybrid)?;
    let mut number = || fields.next()?.trim().parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
    let costs = CostModel { volume_test: number()?, primitive_test: number()?, update: number()? };
    Some(Candidate { technique, costs, start: number()? })
}

/// Whether trying every pair of so many particles is expected to take less than to put them into the cells of a grid.
pub(super) fn are_few(count: usize) -> bool {
    let costs =
        |technique: Technique| candidates().iter().find(|c| c.technique == technique).map(|c| c.costs);
    let (brute, grid) = (costs(Technique::Brute), costs(Technique::Grid));
    let others = 0.5 * (count as f64 - 1.0);
    // At worst each test finds a pair, for both.
    let a_test = |costs: &CostModel| costs.primitive_test + costs.volume_test;
    brute.zip(grid).is_some_and(|(brute, grid)| others * (a_test(&brute) - a_test(&grid)) <= grid.update)
}

/// One technique at a time, whichever is expected to be fastest.
pub(super) struct Hybrid {
    candidates: Vec<Candidate>,
    /// The width of cells, while the technique in use has some.
    voxel: Option<f64>,
    running: Box<dyn NeighbourSearch>,
    /// Frames until the next look.
    wait: u32,
    /// The expected time of the technique in use, and the best with its time and what starting it costs.
    expected: f64,
    best: (Technique, f64, f64),
    /// What the best would have saved by now.
    saved: f64,
    frames: u64,
    /// The tests and pairs of the first frame after the last look or switch.
    work: Option<[u64; 2]>,
    reason: String,
}

impl Hybrid {
    /// Without a structure yet; techniques that have cells make them about as wide as `voxel` says.
    pub fn new(voxel: Option<f64>) -> Hybrid {
        Hybrid {
            candidates: candidates().to_vec(),
            voxel,
            running: Technique::Grid.start_with(voxel),
            wait: 0,
            expected: 0.0,
            best: (Technique::Grid, 0.0, 0.0),
            saved: 0.0,
            frames: 0,
            work: None,
            reason: "no frame was searched yet".to_string(),
        }
    }
}

impl NeighbourSearch for Hybrid {
    fn technique(&self) -> Technique {
        self.running.technique()
    }

    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        let sample = if self.wait == 0 { sample_tests(particles.len()) } else { 0 };
        if !Meter::of_thread().grant(Unit::Test, sample, 0) {
            return pairs.clear();
        }
        self.look_if_due(particles);
        self.frames += 1;
        let (technique, time, start) = self.best;
        if technique != self.running.technique() {
            self.saved += self.expected - time;
            if self.saved >= start {
                self.switch();
            }
        }
        self.running.search(particles, pairs);
        let SearchCounters { tests, pairs, .. } = self.running.counters();
        let (now, count) = ([tests, pairs], particles.len().max(1) as u64);
        let then = *self.work.get_or_insert(now);
        let share = |k: usize| (now[k] + count) as f64 / (then[k] + count) as f64;
        if [0, 1].into_iter().any(|k| !(1.0 / CHANGED..=CHANGED).contains(&share(k))) {
            self.wait = 0;
        }
    }

    fn counters(&self) -> SearchCounters {
        self.running.counters()
    }

    fn reason(&self) -> &str {
        &self.reason
    }

    fn update(&mut self, particles: &Particles<'_>) {
        self.look_if_due(particles);
        self.running.update(particles);
    }

    fn nearest(&self, particles: &Particles<'_>, point: [f64; 3], k: usize, found: &mut Vec<Nearest>) {
        self.running.nearest(particles, point, k, found);
    }

    fn within(&self, particles: &Particles<'_>, point: [f64; 3], radius: f64, found: &mut Vec<Nearest>) {
        self.running.within(particles, point, radius, found);
    }
}

impl Hybrid {
    /// Looks at the crowding now and then; before the first frame, when nothing was built yet, the best is taken at once.
    fn look_if_due(&mut self, particles: &Particles<'_>) {
        if self.wait == 0 {
            self.look(particles);
            (self.wait, self.work) = (PERIOD, None);
            if self.frames == 0 && self.best.0 != self.running.technique() {
                self.running = self.best.0.start_with(self.voxel);
                self.expected = self.best.1;
            }
            note_choice(self.running.technique(), &self.reason);
        }
        self.wait -= 1;
    }

    /// Predicts the time of every technique; what was saved so far counts for one technique only.
    fn look(&mut self, particles: &Particles<'_>) {
        let crowding = Crowding::of(particles, self.voxel);
        let brute = self.candidates.iter().find(|c| c.technique == Technique::Brute);
        let listed = brute
            .filter(|_| crowding.are_all_pairs)
            .map(|brute| brute.costs.predict(&crowding.expected_work(Technique::Brute)));
        let expect = |c: &Candidate| {
            let work = crowding.expected_work(c.technique);
            let time = c.costs.predict(&work);
            match listed {
                // Brute force only stores the pairs there. Nobody stores them faster, and a structure comes on top.
                Some(listed) if c.technique != Technique::Brute => {
                    time.max(listed + c.costs.update * work.updates as f64)
                }
                _ => time,
            }
        };
        let in_use = self.running.technique();
        let mut best = (in_use, f64::INFINITY, 0.0);
        for candidate in &self.candidates {
            let time = expect(candidate);
            if candidate.technique == in_use {
                self.expected = time;
            }
            if time < best.1 {
                best = (candidate.technique, time, candidate.start * particles.len() as f64);
            }
        }
        if best.1 > BETTER * self.expected {
            best = (in_use, self.expected, 0.0);
        }
        if best.0 != self.best.0 {
            self.saved = 0.0;
        }
        self.best = best;
        if self.frames == 0 {
            self.reason.clear();
            _ = write!(self.reason, "{} from the start: {} expected for a frame", best.0, time_of(best.1));
        }
    }

    fn switch(&mut self) {
        let (technique, time, start) = self.best;
        let before = self.running.technique();
        self.reason.clear();
        _ = write!(
            self.reason,
            "frame {}: from {before} ({} expected for a frame) to {technique} ({}): {} would have been saved, the start \
             costs {}",
            self.frames,
            time_of(self.expected),
            time_of(time),
            time_of(self.saved),
            time_of(start),
        );
        self.running = technique.start_with(self.voxel);
        (self.expected, self.saved, self.work) = (time, 0.0, None);
    }
}

/// A time for people.
fn time_of(nanoseconds: f64) -> String {
    if nanoseconds < 1e6 {
        format!("{:.1} us", nanoseconds / 1e3)
    } else {
        format!("{:.2} ms", nanoseconds / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Domain;
    use super::*;
    use crate::num::random::unit;

    /// Uniform, then in small clusters far from each other, then all at one place.
    fn frame(count: usize, phase: usize) -> Vec<[f64; 3]> {
        let u = |i: usize, k: usize| unit(phase as u64, (3 * i + k) as u64);
        let place = |i: usize| {
            std::array::from_fn(|k| match phase {
                0 => u(i, k),
                1 => 1e4 * u(i % 3 + count, k) + 0.1 * u(i, k),
                _ => 0.01 * u(i, k),
            })
        };
        (0..count).map(place).collect()
    }

    #[test]
    fn every_pair_of_few_particles_is_tried() {
        assert!(are_few(0) && are_few(3) && !are_few(1000));
        let all = frame(3, 0);
        let particles = Particles::new(&all, Domain::OPEN, 0.05).unwrap();
        assert_eq!(Technique::choose(&particles), Technique::Brute);
    }

    #[test]
    fn the_hybrid_switches_with_the_crowding_and_says_why() {
        // Costs that make each phase another technique's; those of the release are stored.
        let costs = |volume_test, primitive_test, update| CostModel { volume_test, primitive_test, update };
        let candidates = vec![
            Candidate { technique: Technique::Grid, costs: costs(0.0, 2.0, 40.0), start: 0.0 },
            Candidate { technique: Technique::Octree, costs: costs(20.0, 1.5, 15.0), start: 500.0 },
            Candidate { technique: Technique::Brute, costs: costs(0.0, 0.8, 0.0), start: 0.0 },
        ];
        let mut hybrid = Hybrid { candidates, ..Hybrid::new(None) };
        let (mut used, mut reasons) = (Vec::new(), Vec::new());
        let mut pairs = Vec::new();
        for phase in 0..3 {
            let all = frame(1500, phase);
            let particles = Particles::new(&all, Domain::OPEN, 0.05).unwrap();
            for _ in 0..40 {
                hybrid.search(&particles, &mut pairs);
                used.push(hybrid.technique());
                reasons.push(hybrid.reason().to_string());
            }
            let mut truth = Vec::new();
            Technique::Brute.start().search(&particles, &mut truth);
            pairs.sort_unstable();
            truth.sort_unstable();
            assert_eq!(pairs, truth);
        }
        used.dedup();
        reasons.dedup();
        assert_eq!(used, [Technique::Grid, Technique::Octree, Technique::Brute]);
        assert_eq!(reasons.len(), 3, "{reasons:?}");
        assert!(reasons[1].contains("from grid") && reasons[1].contains("to octree"), "{}", reasons[1]);
        // A switch that costs as much as many frames comes later than the next look.
        let late = |reason: &str| reason["frame ".len()..].split(':').next().unwrap().parse::<u64>().unwrap();
        assert!((41..80).contains(&late(&reasons[1])), "{}", reasons[1]);
    }

    #[test]
    fn without_any_structure_where_every_pair_is_within_the_cutoff() {
        for count in [300, 1000] {
            let all = frame(count, 2);
            let mut hybrid = Hybrid::new(None);
            let mut pairs = Vec::new();
            hybrid.search(&Particles::new(&all, Domain::OPEN, 0.05).unwrap(), &mut pairs);
            assert_eq!(pairs.len(), count * (count - 1) / 2);
            assert_eq!(hybrid.technique(), Technique::Brute, "{}", hybrid.reason());
            let sparse = frame(count, 0);
            let mut hybrid = Hybrid::new(None);
            hybrid.search(&Particles::new(&sparse, Domain::OPEN, 0.05).unwrap(), &mut pairs);
            assert_ne!(hybrid.technique(), Technique::Brute, "{}", hybrid.reason());
        }
    }

    #[test]
    fn uniform_clustered_and_collapsed_sets_have_their_techniques() {
        let (mut hybrid, mut pairs, mut used) = (Hybrid::new(None), Vec::new(), Vec::new());
        for frame in 0..30 {
            let place = |i: usize| {
                std::array::from_fn(|k| match frame / 10 {
                    0 => 12.6 * unit(9, (3 * i + k) as u64),
                    1 => 1e6 * ((i % 2) as f64) + 10.0 * unit(9, (3 * i + k) as u64),
                    _ => 0.5 * unit(9, (3 * i + k) as u64),
                })
            };
            let all: Vec<[f64; 3]> = (0..2000).map(place).collect();
            hybrid.search(&Particles::new(&all, Domain::OPEN, 1.0).unwrap(), &mut pairs);
            used.push(hybrid.technique());
        }
        used.dedup();
        assert_eq!(used, [Technique::Grid, Technique::Hash, Technique::Brute], "{}", hybrid.reason());
    }

    #[test]
    fn one_particle_far_away_or_one_large_ball_does_not_make_the_hybrid_try_every_pair() {
        let count = 20_000;
        let place = |i: usize| std::array::from_fn(|k| 60.0 * unit(5, (3 * i + k) as u64));
        let mut all: Vec<[f64; 3]> = (0..count).map(place).collect();
        let tests_of = |particles: &Particles<'_>| {
            let (mut hybrid, mut pairs) = (Hybrid::new(None), Vec::new());
            hybrid.search(particles, &mut pairs);
            assert!(pairs.len() > count / 20);
            (hybrid.counters().tests, hybrid.reason().to_string())
        };
        for large in [0, count / 2] {
            let mut radii = vec![0.5; count];
            radii[large] = 40.0;
            let (tests, reason) = tests_of(&Particles::with_radii(&all, &radii, Domain::OPEN, 0.0).unwrap());
            assert!(tests < 100 * count as u64, "ball {large}: {tests}, {reason}");
        }
        all.push([1e9, 0.0, 0.0]);
        let (tests, reason) = tests_of(&Particles::new(&all, Domain::OPEN, 1.0).unwrap());
        assert!(tests < 100 * count as u64, "{tests}, {reason}");
    }

    #[test]
    fn the_width_of_cells_is_that_of_the_techniques_which_have_some() {
        let all = frame(3000, 0);
        let particles = Particles::new(&all, Domain::OPEN, 0.05).unwrap();
        let tests = |technique: Technique, voxel: Option<f64>| {
            let (mut search, mut pairs) = (technique.start_with(voxel), Vec::new());
            search.search(&particles, &mut pairs);
            (search.technique(), search.counters().tests)
        };
        for voxel in [None, Some(0.07)] {
            assert_eq!(tests(Technique::Hybrid, voxel), tests(Technique::Grid, voxel), "{voxel:?}");
        }
        assert!(2 * tests(Technique::Grid, Some(0.07)).1 > 3 * tests(Technique::Grid, None).1);
        // Cells that hold nearly all are left for a technique without.
        assert_ne!(tests(Technique::Hybrid, Some(0.9)).0, Technique::Grid);
    }

    #[test]
    fn no_test_is_free() {
        assert!(candidates().iter().all(|c| c.costs.primitive_test > 0.0));
    }

    #[test]
    fn the_release_has_coefficients_of_every_technique() {
        let stored = candidates();
        for &technique in Technique::ALL.iter().filter(|&&t| t != Technique::Hybrid) {
            assert_eq!(stored.iter().filter(|c| c.technique == technique).count(), 1, "{technique}");
        }
    }

    #[test]
    fn rows_that_are_no_coefficients_are_passed_over() {
        for row in
            ["", "technique,cv,cp,cu,start", "grid,1,2", "grid,1,2,-3,4", "hybrid,1,1,1,1", "grid,1,nan,1,1"]
        {
            assert_eq!(parse(row), None, "{row}");
        }
        let costs = CostModel { volume_test: 1.0, primitive_test: 2.0, update: 3.0 };
        assert_eq!(
            parse("brute,1,2,3,4"),
            Some(Candidate { technique: Technique::Brute, costs, start: 4.0 })
        );
    }
}
