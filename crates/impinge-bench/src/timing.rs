//! Clock readings and what is made of them: medians of repeats, contestants taken in turn, statistics.
//!
//! A machine is never as quiet as one thinks. So all contestants answer the same case shortly after one
//! another, in an order that rotates, and each case counts with the median of its repeats: what
//! disturbs one disturbs all, and the ratios stay true.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;

use crate::peers::wanted;

/// One answer and the time it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed<A> {
    /// Median time of the repeats.
    pub nanoseconds: f64,
    /// The answer of the last repeat.
    pub answer: A,
}

/// Runs `question` once unmeasured, then `repeats` times, and takes the median time.
pub fn median_of<A>(repeats: usize, mut question: impl FnMut() -> A) -> Timed<A> {
    let mut answer = black_box(question());
    let mut times = Vec::with_capacity(repeats);
    for _ in 0..repeats.max(1) {
        let start = Instant::now();
        answer = black_box(question());
        times.push(start.elapsed().as_nanos() as f64);
    }
    Timed { nanoseconds: Statistics::of(&times).median, answer }
}

/// Takes a failed answer out of the timing.
///
/// # Errors
/// The answer is one.
pub fn unpacked<A>(timed: Timed<Result<A>>) -> Result<Timed<A>> {
    Ok(Timed { nanoseconds: timed.nanoseconds, answer: timed.answer? })
}

/// Somebody who answers cases by their number.
pub struct Contestant<'a, A> {
    /// The name in tables and ratios.
    pub name: &'static str,
    /// How many cases it is asked, from the first on; slow ones are asked few.
    pub most: usize,
    ask: Box<dyn FnMut(usize) -> Result<Timed<A>> + 'a>,
}

impl<'a, A> Contestant<'a, A> {
    /// A contestant that is asked every case.
    pub fn new(name: &'static str, ask: impl FnMut(usize) -> Result<Timed<A>> + 'a) -> Self {
        Contestant { name, most: usize::MAX, ask: Box::new(ask) }
    }

    /// The same, asked only the first `most` cases.
    pub fn at_most(self, most: usize) -> Self {
        Contestant { most, ..self }
    }
}

/// What one contestant did.
#[derive(Debug, Clone)]
pub struct Track<A> {
    /// Its name.
    pub name: &'static str,
    /// One time for each case it answered, in the order of the cases.
    pub nanoseconds: Vec<f64>,
    /// Its answers, in the same order.
    pub answers: Vec<A>,
    /// Why it stopped before the last case, if it did.
    pub failure: Option<String>,
}

impl<A> Track<A> {
    /// Nothing done yet.
    pub fn named(name: &'static str) -> Track<A> {
        Track { name, nanoseconds: Vec::new(), answers: Vec::new(), failure: None }
    }

    /// Statistics of the times.
    pub fn statistics(&self) -> Statistics {
        Statistics::of(&self.nanoseconds)
    }
}

/// Puts every case to every contestant, the first one changing from case to case.
///
/// A contestant that fails is out from then on; its track says why, and the others go on. One that is not
/// wanted in this run has no track.
pub fn alternate<A>(contestants: &mut [Contestant<'_, A>], cases: &[usize]) -> Vec<Track<A>> {
    let mut contestants: Vec<_> = contestants.iter_mut().filter(|c| wanted(c.name)).collect();
    let mut tracks: Vec<Track<A>> = contestants.iter().map(|c| Track::named(c.name)).collect();
    for (turn, &case) in cases.iter().enumerate() {
        for place in 0..contestants.len() {
            let at = (turn + place) % contestants.len();
            let (contestant, track) = (&mut contestants[at], &mut tracks[at]);
            if track.failure.is_some() || turn >= contestant.most {
                continue;
            }
            match (contestant.ask)(case) {
                Ok(timed) => {
                    track.nanoseconds.push(timed.nanoseconds);
                    track.answers.push(timed.answer);
                }
                Err(why) => track.failure = Some(format!("case {case}: {why:#}")),
            }
        }
    }
    tracks
}

/// Median, mean, 99th percentile and maximum, in the unit of the readings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// The reading in the middle; of an even number the upper one.
    pub median: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The reading that 99 of 100 do not exceed.
    pub p99: f64,
    /// The largest reading.
    pub most: f64,
}

impl Statistics {
    /// Of any readings; all NaN when there are none.
    pub fn of(readings: &[f64]) -> Statistics {
        let mut sorted = readings.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let Some(&most) = sorted.last() else {
            return Statistics { median: f64::NAN, mean: f64::NAN, p99: f64::NAN, most: f64::NAN };
        };
        Statistics {
            median: sorted[count / 2],
            mean: sorted.iter().sum::<f64>() / count as f64,
            p99: sorted[(count * 99 / 100).min(count - 1)],
            most,
        }
    }

    /// How many times larger `other` is, statistic by statistic.
    pub fn ratio(&self, other: &Statistics) -> Statistics {
        Statistics {
            median: other.median / self.median,
            mean: other.mean / self.mean,
            p99: other.p99 / self.p99,
            most: other.most / self.most,
        }
    }
}

/// How many times faster `ours` was than `theirs`, on the cases that both answered.
pub fn faster_by<A>(ours: &Track<A>, theirs: &Track<A>) -> Statistics {
    let both = ours.nanoseconds.len().min(theirs.nanoseconds.len());
    Statistics::of(&ours.nanoseconds[..both]).ratio(&Statistics::of(&theirs.nanoseconds[..both]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_two_hundred_readings_take_the_places_of_the_peer_figures() {
        let readings: Vec<f64> = (0..200).rev().map(f64::from).collect();
        let s = Statistics::of(&readings);
        assert_eq!((s.median, s.mean, s.p99, s.most), (100.0, 99.5, 198.0, 199.0));
        assert_eq!(Statistics::of(&[3.0]).p99, 3.0);
        assert!(Statistics::of(&[]).mean.is_nan());
    }

    #[test]
    fn contestants_take_turns_and_a_failure_stops_only_one() {
        let order = std::cell::RefCell::new(Vec::new());
        let ask = |who: char, fails_at: usize| {
            let order = &order;
            move |case: usize| {
                order.borrow_mut().push(who);
                anyhow::ensure!(case != fails_at, "broken");
                Ok(Timed { nanoseconds: 10.0 * (case as f64 + 1.0), answer: case })
            }
        };
        let mut all = [
            Contestant::new("a", ask('a', 99)),
            Contestant::new("b", ask('b', 1)),
            Contestant::new("c", ask('c', 99)).at_most(2),
        ];
        let tracks = alternate(&mut all, &[0, 1, 2]);
        drop(all);
        assert_eq!(order.into_inner().iter().collect::<String>(), "abcbcaa");
        assert_eq!(tracks[0].answers, [0, 1, 2]);
        assert_eq!((tracks[1].answers.len(), tracks[1].failure.as_deref()), (1, Some("case 1: broken")));
        assert_eq!(tracks[2].answers, [0, 1]);
        assert_eq!(faster_by(&tracks[0], &tracks[2]).mean, 1.0, "only common cases count");
    }

    #[test]
    fn the_first_call_is_not_measured() {
        let mut first_ended = None;
        let mut calls = 0;
        let timed = median_of(1, || {
            calls += 1;
            if first_ended.is_none() {
                std::thread::sleep(std::time::Duration::from_millis(30));
                first_ended = Some(Instant::now());
            }
            calls
        });
        assert_eq!(timed.answer, 2);
        // However long the second took on a busy machine.
        assert!(first_ended.is_some_and(|end| timed.nanoseconds <= end.elapsed().as_nanos() as f64));
        let mut calls = 0;
        let three = median_of(3, || {
            calls += 1;
            calls
        });
        assert_eq!(three.answer, 4);
    }
}
