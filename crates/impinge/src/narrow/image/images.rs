//! The three images of two bodies: layers drawn, sorted into columns, and what of each column lies in both.

use std::sync::{Mutex, PoisonError};

use glam::DVec3;

use super::body::{Body, OnLattice};
use super::lattice::{Axis, Lattice};
use super::layer::{Inside, Interval, Layer, Sorting, intervals};
use super::open::OpenBodies;
use super::raster::Counted;
use crate::Budget;
use crate::contact::{Counters, OpenSurface};
use crate::num::compact_sort::sort_rarely;
use crate::num::{parallel, stages};

/// Columns of an image that are drawn at a time, which bounds the room for layers.
const AT_A_TIME: u32 = 1 << 18;

/// Bands of an image at most: each looks at all triangles again.
const MOST_BANDS: u32 = 8;

/// Triangles and columns below which sharing the work costs more than it gains.
const SHARED: usize = 1 << 13;

/// Triangles of a body up to which it is placed by the thread that places the other.
const PLACED_ALONE: u32 = 1 << 10;

/// What three images show of two bodies, or of one with itself.
#[derive(Debug)]
pub struct Images<'b, 'm> {
    pub lattice: Lattice,
    pub bodies: Vec<OnLattice<'b, 'm>>,
    /// The common part of the columns of each image, by ascending columns and depths.
    pub intervals: [Vec<Interval>; 3],
    pub work: Counters,
}

impl<'b, 'm> Images<'b, 'm> {
    /// Draws bodies; `None` when the budget ends first.
    pub fn draw(
        bodies: &'b [&'b Body<'m>],
        lattice: Lattice,
        inside: Inside,
        open: Option<OpenSurface>,
        budget: &mut Budget,
    ) -> Option<Images<'b, 'm>> {
        let units: u64 = bodies.iter().map(|body| u64::from(body.faces())).sum();
        if !budget.charge_all(units) {
            return None;
        }
        // Open surfaces may have any winding number before their first layer; all layers of a column tell it.
        let is_open = open.is_some() && bodies.iter().any(|body| body.open_mesh().is_some());
        let place = |k: usize| match is_open {
            true => bodies[k].on_whole_columns(&lattice),
            false => bodies[k].on(&lattice),
        };
        let are_large = bodies.iter().all(|body| body.faces() > PLACED_ALONE);
        let on = match are_large {
            true => parallel::map(bodies.len(), place),
            false => (0..bodies.len()).map(place).collect(),
        };
        let mut found = Images {
            lattice,
            bodies: on,
            intervals: [const { Vec::new() }; 3],
            work: Counters { volume_tests: units, ..Counters::default() },
        };
        let mut opened = OpenBodies::default();
        for (k, body) in bodies.iter().enumerate() {
            if let (Some(open), Some((model, pose))) = (open, body.open_mesh()) {
                opened.add(k, open, (model, pose), &found.bodies[k], &found.lattice);
            }
        }
        let pixels = found.lattice.pixels;
        let height = (AT_A_TIME / pixels).clamp(1, pixels);
        let rooms = found.rooms();
        for from in (0..pixels).step_by(height as usize) {
            let rows = [from, (from + height).min(pixels)];
            found.draw_rows(rows, inside, &opened, &rooms);
            let mut layers = 0;
            for room in &rooms {
                let mut room = room.lock().unwrap_or_else(PoisonError::into_inner);
                layers += room.layers.iter().map(|layers| layers.len() as u64).sum::<u64>();
                let all = &mut found.intervals[room.axis.depth];
                if all.is_empty() {
                    std::mem::swap(all, &mut room.intervals);
                } else {
                    all.append(&mut room.intervals);
                }
            }
            found.work.primitive_tests += layers;
            if !budget.charge_all(layers + u64::from(pixels)) {
                return None;
            }
        }
        Some(found)
    }

    /// Room for what is drawn by itself: whole images or bands of their rows, the bands of an image in their order. Two
    /// threads draw an image each and share the one with the fewest triangles.
    fn rooms(&self) -> Vec<Mutex<Room>> {
        let drawn =
            |axis: Axis| self.bodies.iter().map(|body| body.drawn(&self.lattice, axis)).sum::<usize>();
        let columns = (self.lattice.pixels * self.lattice.pixels) as usize;
        let work = Axis::ALL.map(drawn).iter().sum::<usize>() + columns;
        let threads = if work < SHARED { 1 } else { parallel::threads() };
        let mut axes = Axis::ALL;
        if threads > 1 {
            sort_rarely(&mut axes, |x, y| drawn(*y).cmp(&drawn(*x)));
        }
        let mut rooms = Vec::new();
        for (nth, axis) in axes.into_iter().enumerate() {
            let bands = match threads {
                1 => 1,
                2 => 1 + u32::from(nth == 2),
                _ => (threads as u32 & !1).min(MOST_BANDS),
            };
            for band in 0..bands {
                rooms.push(Mutex::new(Room::of(axis, [band, bands])));
            }
        }
        rooms
    }

    /// Draws some rows of all images, each in as many bands as there are rooms for it.
    fn draw_rows(&self, rows: [u32; 2], inside: Inside, open: &OpenBodies<'_>, rooms: &[Mutex<Room>]) {
        // The body with more triangles first: the other is drawn where that one is.
        let mut order: Vec<usize> = (0..self.bodies.len()).collect();
        sort_rarely(&mut order, |&j, &k| self.bodies[k].faces().cmp(&self.bodies[j].faces()));
        let one = |k: usize| {
            let mut room = rooms[k].lock().unwrap_or_else(PoisonError::into_inner);
            let [band, bands] = room.band;
            let end_of = |band: u32| rows[0] + (rows[1] - rows[0]) * band / bands;
            self.draw_band(room.axis, [end_of(band), end_of(band + 1)], inside, open, &order, &mut room);
        };
        if rooms.len() == Axis::ALL.len() {
            (0..rooms.len()).for_each(one);
        } else {
            stages::map(rooms.len(), one);
        }
    }

    /// Draws the bodies in some rows of an image, in the given order, and finds what of each column lies in both.
    fn draw_band(
        &self,
        axis: Axis,
        rows: [u32; 2],
        inside: Inside,
        open: &OpenBodies<'_>,
        order: &[usize],
        room: &mut Room,
    ) {
        let (lattice, bodies) = (&self.lattice, &self.bodies);
        let Room { layers, covered, sorting, intervals: found, .. } = room;
        layers.resize_with(bodies.len(), Vec::new);
        for (nth, &number) in order.iter().enumerate() {
            let within = (nth > 0 && open.is_empty()).then_some(&covered[..]);
            layers[number].clear();
            bodies[number].draw(lattice, axis, number, rows, within, &mut layers[number]);
            if nth + 1 < order.len() {
                cover(covered, rows, lattice, &layers[number]);
            }
        }
        let (rounding, before) = (lattice.rounding(), rows[0] * lattice.pixels);
        let from_above =
            [0, 1].map(|k| bodies.get(k).is_some_and(|body| body.counted[axis.depth] == Counted::FromAbove));
        if open.is_empty() {
            sorting.columns(lattice, rows, layers, inside.needed(), |column, layers| {
                intervals(before + column, layers, inside, from_above, rounding, found);
            });
        } else {
            sorting.columns(lattice, rows, layers, open.needed(), |column, layers| {
                open.intervals(lattice, axis, before + column, layers, found);
            });
        }
    }

    /// Calls `each` with the intervals of an image and the points at their ends.
    #[inline(always)]
    pub fn for_each_interval(&self, axis: Axis, mut each: impl FnMut(&Interval, [DVec3; 2])) {
        let lattice = &self.lattice;
        let (mut row, mut row_start, mut across) =
            (0, 0, lattice.coordinate(axis.across, lattice.sample(0, 0)[1]));
        for interval in &self.intervals[axis.depth] {
            while interval.column >= row_start + lattice.pixels {
                (row, row_start) = (row + 1, row_start + lattice.pixels);
                across = lattice.coordinate(axis.across, lattice.sample(0, row)[1]);
            }
            let along = lattice.coordinate(axis.along, lattice.sample(interval.column - row_start, row)[0]);
            each(interval, interval.depth.map(|depth| axis.point(along, across, depth)));
        }
    }

    /// Where the intervals of each column of an image begin; one entry more than columns.
    pub fn starts(&self, axis: Axis) -> Vec<u32> {
        let all = &self.intervals[axis.depth];
        let mut starts = vec![0; (self.lattice.pixels * self.lattice.pixels) as usize + 1];
        let mut next = 0;
        for (k, interval) in (0..).zip(all) {
            starts[next..=interval.column as usize].fill(k);
            next = interval.column as usize + 1;
        }
        starts[next..].fill(all.len() as u32);
        starts
    }
}

/// The columns of layers, as bits.
fn cover(covered: &mut Vec<u64>, rows: [u32; 2], lattice: &Lattice, layers: &[Layer]) {
    covered.clear();
    covered.resize(((rows[1] - rows[0]) * lattice.pixels).div_ceil(64) as usize, 0);
    for layer in layers {
        covered[layer.column as usize / 64] |= 1 << (layer.column % 64);
    }
}

/// Room for drawing one image or a band of it, kept from rows to rows.
#[derive(Debug)]
struct Room {
    axis: Axis,
    /// Which band of the rows it is, and of how many.
    band: [u32; 2],
    /// Of each body.
    layers: Vec<Vec<Layer>>,
    /// The columns of the body drawn first, as bits.
    covered: Vec<u64>,
    sorting: Sorting,
    intervals: Vec<Interval>,
}

impl Room {
    fn of(axis: Axis, band: [u32; 2]) -> Room {
        let (layers, covered, intervals) = (Vec::new(), Vec::new(), Vec::new());
        Room { axis, band, layers, covered, sorting: Sorting::default(), intervals }
    }
}
