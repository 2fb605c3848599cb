//! Pairs of two bodies that have both left their room: sorted along the slabs and swept.

use crate::num::parallel;

use super::super::Changes;
use super::slot_block::GridView;

/// Slots whose sweep one thread takes at a time.
const CHUNK: usize = 256;

/// Loose slots against each other.
#[derive(Debug, Clone, Default)]
pub(super) struct AmongLoose {
    /// Boxes in units of the grid and their slots, by the low end across the slabs.
    order: Vec<([f32; 6], u32)>,
    /// Pairs that meet and are not among the pairs of boxes with room.
    pub met: Vec<[u32; 2]>,
    /// What began and ended in this step.
    pub changes: Changes,
}

impl AmongLoose {
    /// Lists the pairs of `loose` slots.
    pub fn test(&mut self, view: GridView<'_>, loose: &[u32]) {
        self.list_ended(view);
        self.met.clear();
        self.order.clear();
        let units = |slot: u32| view.search.frame.units(&view.slots.now[slot as usize]);
        self.order.extend(loose.iter().map(|&slot| (units(slot), slot)));
        self.order.sort_unstable_by(|(x, a), (y, b)| x[2].total_cmp(&y[2]).then(a.cmp(b)));
        let (order, count) = (&self.order, loose.len());
        if count <= CHUNK {
            sweep(view, order, 0, count, &mut self.met);
        } else {
            let parts = parallel::map(count.div_ceil(CHUNK), |k| {
                let mut met = Vec::new();
                sweep(view, order, k * CHUNK, count.min((k + 1) * CHUNK), &mut met);
                met
            });
            self.met.extend(parts.iter().flatten());
        }
        let new = self.met.iter().filter(|&&pair| !view.slots.met_before(view.bodies, pair));
        self.changes.began.extend(new.map(|&pair| view.slots.pair(pair)));
    }

    /// Tests the pairs of the last step.
    pub fn list_ended(&mut self, view: GridView<'_>) {
        self.changes.clear();
        let parted = self.met.iter().filter(|&&pair| !view.slots.meet_now(view.bodies, pair));
        self.changes.ended.extend(parted.map(|&pair| view.slots.pair(pair)));
    }

    /// Forgets them: nobody is loose.
    pub fn clear(&mut self) {
        self.met.clear();
        self.changes.clear();
    }
}

/// Adds the pairs of the slots from `first` to `end` of the order with later ones.
fn sweep(view: GridView<'_>, order: &[([f32; 6], u32)], first: usize, end: usize, met: &mut Vec<[u32; 2]>) {
    for (i, (x, a)) in order[..end].iter().enumerate().skip(first) {
        for (y, b) in order[i + 1..].iter().take_while(|(y, _)| y[2] <= x[5]) {
            let apart = (x[3] < y[0]) | (y[3] < x[0]) | (x[4] < y[1]) | (y[4] < x[1]);
            if !apart && view.slots.meet_without_room(view.bodies, [*a, *b]) {
                met.push([*a, *b]);
            }
        }
    }
}
