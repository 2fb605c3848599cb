//! When each pair of facets has to be looked at again: a calendar queue over the way that the bodies have gone.
//!
//! A pair that is c apart needs no look before the bodies have come c nearer to each other. The clock is therefore
//! not the time but the sum of the largest relative displacements of all steps, and a pair lies in the bucket of the
//! reading at which its clearance is used up (Brown, "Calendar queues", 1988, with a fixed width). Pairs whose place
//! is beyond the last bucket lie in that one and are looked at early.

use super::course::Sight;

/// How many buckets lie ahead.
const BUCKETS: usize = 4096;

/// A pair in the queue; it counts only while the pair's own stamp is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub pair: u32,
    pub stamp: u32,
}

/// A gap in the queue, with all that it takes to know how much of it is left: most that are due are entered again
/// without a look at the pair itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub entry: Entry,
    pub sight: Sight,
    /// When it was seen (a length).
    pub gap: f64,
    /// The width from which on the pair may have become coarser (a length).
    pub wide: f64,
}

/// The queue.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    buckets: Vec<Vec<(f64, Waiting)>>,
    width: f64,
    /// The bucket of the present reading, counted from the beginning.
    now: u64,
}

impl Schedule {
    /// An empty queue that reaches `ahead` from the reading 0.
    pub fn new(ahead: f64) -> Schedule {
        let width = (ahead / BUCKETS as f64).max(f64::MIN_POSITIVE);
        Schedule { buckets: vec![Vec::new(); BUCKETS], width, now: 0 }
    }

    /// Forgets all entries, and keeps the room.
    pub fn clear(&mut self) {
        self.buckets.iter_mut().for_each(Vec::clear);
        self.now = 0;
    }

    /// Puts a gap where its reading is.
    #[inline]
    pub fn insert(&mut self, due: f64, waiting: Waiting) {
        // Saturates for readings beyond what a bucket number holds.
        let wanted = (due / self.width) as u64;
        let bucket = wanted.clamp(self.now, self.now + BUCKETS as u64 - 1);
        self.buckets[bucket as usize % BUCKETS].push((due, waiting));
    }

    /// Moves every gap whose reading is below the present one to `due`.
    pub fn advance(&mut self, reading: f64, due: &mut Vec<Waiting>) {
        let now = (reading / self.width) as u64;
        let last = now.min(self.now + BUCKETS as u64 - 1);
        for bucket in self.now..last {
            let list = &mut self.buckets[bucket as usize % BUCKETS];
            due.extend(list.drain(..).map(|(_, waiting)| waiting));
        }
        self.now = now;
        let list = &mut self.buckets[last as usize % BUCKETS];
        if last < now {
            due.extend(list.drain(..).map(|(_, waiting)| waiting));
            return;
        }
        let mut k = 0;
        while k < list.len() {
            if list[k].0 < reading {
                due.push(list.swap_remove(k).1);
            } else {
                k += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::unit;

    #[test]
    fn entries_come_no_later_than_they_are_due() {
        let mut schedule = Schedule::new(1.0);
        let (mut reading, mut due) = (0.0, Vec::new());
        let mut waiting: Vec<(f64, u32)> = Vec::new();
        let (mut early, mut came) = (0, 0);
        for n in 0..20_000_u32 {
            let at = reading + 3.0 * unit(1, u64::from(n)).powi(3);
            let entry = Entry { pair: n, stamp: 0 };
            schedule.insert(at, Waiting { entry, sight: Sight::NONE, gap: 0.0, wide: 0.0 });
            waiting.push((at, n));
            if n % 7 != 0 {
                continue;
            }
            let r = unit(2, u64::from(n));
            reading += if r < 0.01 {
                2.5
            } else if r < 0.5 {
                1e-5 * r
            } else {
                0.02 * r
            };
            due.clear();
            schedule.advance(reading, &mut due);
            for Waiting { entry, .. } in &due {
                let k = waiting.iter().position(|(_, pair)| *pair == entry.pair).unwrap();
                early += usize::from(waiting.swap_remove(k).0 >= reading);
                came += 1;
            }
            assert!(waiting.iter().all(|(at, _)| *at >= reading), "{n}");
        }
        assert!(came > 15_000 && early < came / 2, "{came} came, {early} of them early");
    }
}
