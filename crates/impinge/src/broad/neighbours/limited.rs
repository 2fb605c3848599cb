//! The pairs of a frame as far as a budget goes.

use std::sync::Arc;

use super::meter::{Done, Meter, Unit, metered};
use super::{NAMED, Particles, SearchCounters, Technique};
use crate::budget::task::Task;
use crate::num::parallel;
use crate::{Budget, Finish};

/// Pairs found under a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitedPairs {
    /// All of them, in the order of [`NeighbourSearch::search`](super::NeighbourSearch::search); `None` when the budget
    /// ended first.
    pub pairs: Option<Vec<[u32; 2]>>,
    /// How many there are at least.
    pub at_least: u64,
    /// What the search cost, up to the end of the budget if that came first; then without `bytes`.
    pub counters: SearchCounters,
    /// The technique that searched: of the hybrid the one that it took, as far as it came.
    pub technique: Technique,
    /// Why that one, as a sentence for people.
    pub reason: String,
    /// Whether it came to its end.
    pub finish: Finish,
    rest: Rest,
}

/// What is left of a search, on a thread that sleeps; a copy has none.
#[derive(Debug, Default)]
struct Rest(Option<Box<(Technique, Task)>>);

impl Clone for Rest {
    fn clone(&self) -> Rest {
        Rest::default()
    }
}

impl PartialEq for Rest {
    /// What was found says all.
    fn eq(&self, _: &Rest) -> bool {
        true
    }
}

impl Eq for Rest {}

impl LimitedPairs {
    fn open(named: Technique, Done { counters, choice }: Done) -> LimitedPairs {
        let (technique, reason) = choice.unwrap_or_else(|| (named, NAMED.to_string()));
        let finish = Finish::OutOfBudget;
        let at_least = counters.pairs;
        LimitedPairs { pairs: None, at_least, counters, technique, reason, finish, rest: Rest::default() }
    }

    /// Goes on where the budget of the last call ended, with the frame of that call; what is complete stays as it is, and so
    /// does a copy, which has nothing to go on with. The counters are those of all calls.
    ///
    /// ```
    /// use impinge::broad::neighbours::{Domain, Particles, Technique};
    /// use impinge::{Budget, Finish};
    ///
    /// let positions: Vec<[f64; 3]> = (0..1000).map(|k| [f64::from(k), 0.0, 0.0]).collect();
    /// let line = Particles::new(&positions, Domain::OPEN, 1.0)?;
    /// let mut found = Technique::Sweep.pairs_limited(&line, None, &mut Budget::units(1200));
    /// assert!(found.pairs.is_none());
    /// while found.finish != Finish::Complete {
    ///     found = found.resume(&mut Budget::units(300));
    /// }
    /// assert_eq!(found.at_least, 999);
    /// # Ok::<(), impinge::Error>(())
    /// ```
    pub fn resume(mut self, budget: &mut Budget) -> LimitedPairs {
        let Some(mut rest) = self.rest.0.take() else { return self };
        let (named, task) = &mut *rest;
        let progress = task.advance::<LimitedPairs, Done>(budget);
        if let Some(found) = progress.answer {
            return found;
        }
        let found = match progress.so_far {
            Some(done) => LimitedPairs::open(*named, done),
            // In the middle of something that is built in one go.
            None => self,
        };
        LimitedPairs { rest: Rest(Some(rest)), ..found }
    }
}

impl Technique {
    /// All pairs of a frame as far as a budget goes, with cells of about the width `voxel` if the technique has cells.
    /// A unit is a test of two particles, boxes or cells, or a particle that is put in place.
    ///
    /// With a limit one thread searches: so what a budget of units is enough for is the same everywhere. At its
    /// deadline the call returns, whatever is being built.
    ///
    /// ```
    /// use impinge::broad::neighbours::{Domain, Particles, Technique};
    /// use impinge::{Budget, Finish};
    ///
    /// let positions: Vec<[f64; 3]> = (0..1000).map(|k| [f64::from(k), 0.0, 0.0]).collect();
    /// let line = Particles::new(&positions, Domain::OPEN, 1.0)?;
    /// let all = Technique::Grid.pairs_limited(&line, None, &mut Budget::unlimited());
    /// assert_eq!((all.at_least, all.finish), (999, Finish::Complete));
    /// let some = Technique::Brute.pairs_limited(&line, None, &mut Budget::units(100_000));
    /// assert!(some.pairs.is_none() && (50..999).contains(&some.at_least));
    /// # Ok::<(), impinge::Error>(())
    /// ```
    pub fn pairs_limited(
        self,
        particles: &Particles<'_>,
        voxel: Option<f64>,
        budget: &mut Budget,
    ) -> LimitedPairs {
        if budget.is_unlimited() {
            return self.all_pairs(particles, voxel);
        }
        let frame = Arc::new(particles.owned());
        let search = move |budget: &mut Budget| {
            let particles = frame.0.with_own_radii(&frame.1);
            let (found, done) = parallel::alone(|| metered(budget, || self.all_pairs(&particles, voxel)));
            found.unwrap_or_else(|| LimitedPairs::open(self, done))
        };
        let Some(task) = Task::start(search.clone()) else {
            // Without threads it runs here, and what is cut short cannot go on.
            return search(budget);
        };
        let rest = Rest(Some(Box::new((self, task))));
        let begun = LimitedPairs { rest, ..LimitedPairs::open(self, Done::default()) };
        if budget.is_spent() { begun } else { begun.resume(budget) }
    }

    fn all_pairs(self, particles: &Particles<'_>, voxel: Option<f64>) -> LimitedPairs {
        let mut search = self.start_with(voxel);
        let mut pairs = Vec::new();
        // Every structure takes up every particle.
        if Meter::of_thread().grant(Unit::Update, particles.len() as u64, 0) {
            search.search(particles, &mut pairs);
        }
        LimitedPairs {
            at_least: pairs.len() as u64,
            pairs: Some(pairs),
            counters: search.counters(),
            technique: search.technique(),
            reason: search.reason().to_string(),
            finish: Finish::Complete,
            rest: Rest::default(),
        }
    }
}
