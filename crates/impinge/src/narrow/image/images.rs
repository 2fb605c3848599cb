//! The three images of two bodies: layers drawn, sorted into columns, and what of each column lies in both.

use super::body::{Body, OnLattice};
use super::lattice::{Axis, Lattice};
use super::layer::{Inside, Interval, Layer, Sorting, intervals};
use super::open::OpenBodies;
use crate::Budget;
use crate::contact::{Counters, OpenSurface};
use crate::num::parallel;

/// Columns of an image that are drawn at a time, which bounds the room for layers.
const AT_A_TIME: u32 = 1 << 18;

/// Columns of an image below which sharing the work costs more than it gains.
const SHARED: u32 = 1 << 10;

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
        let on = parallel::map(bodies.len(), |k| bodies[k].on(&lattice));
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
        let mut room: Vec<Room> = Vec::new();
        room.resize_with(3, Room::default);
        for from in (0..pixels).step_by(height as usize) {
            let rows = [from, (from + height).min(pixels)];
            found.draw_rows(rows, inside, &opened, &mut room);
            let layers =
                room.iter().flat_map(|room| &room.layers).map(|layers| layers.len() as u64).sum::<u64>();
            found.work.primitive_tests += layers;
            if !budget.charge_all(layers + u64::from(pixels)) {
                return None;
            }
        }
        for (intervals, room) in found.intervals.iter_mut().zip(room) {
            *intervals = room.intervals;
        }
        Some(found)
    }

    fn draw_rows(&self, rows: [u32; 2], inside: Inside, open: &OpenBodies<'_>, room: &mut [Room]) {
        let (lattice, bodies) = (&self.lattice, &self.bodies);
        let is_small = (rows[1] - rows[0]) * lattice.pixels < SHARED;
        let one = |axis: Axis, room: &mut Room| {
            room.layers.resize_with(bodies.len(), Vec::new);
            for (number, (body, layers)) in bodies.iter().zip(&mut room.layers).enumerate() {
                layers.clear();
                body.draw(lattice, axis, number, rows, layers);
            }
            let (rounding, before) = (lattice.rounding(), rows[0] * lattice.pixels);
            let Room { layers, sorting, intervals: found } = room;
            if open.is_empty() {
                sorting.columns(lattice, rows, layers, inside.needed(), |column, layers| {
                    intervals(before + column, layers, inside, rounding, found);
                });
            } else {
                sorting.columns(lattice, rows, layers, open.needed(), |column, layers| {
                    open.intervals(lattice, axis, before + column, layers, found);
                });
            }
        };
        if is_small {
            Axis::ALL.into_iter().zip(room).for_each(|(axis, room)| one(axis, room));
        } else {
            parallel::for_each_chunk(room, 1, |k, room| one(Axis::ALL[k], &mut room[0]));
        }
    }

    /// The intervals of an image in a row, as a range.
    pub fn rows(&self, axis: Axis) -> Vec<u32> {
        let (pixels, all) = (self.lattice.pixels, &self.intervals[axis.depth]);
        let mut starts = Vec::with_capacity(pixels as usize + 1);
        let mut at = 0;
        for row in 0..=pixels {
            while at < all.len() && all[at].column < row * pixels {
                at += 1;
            }
            starts.push(at as u32);
        }
        starts
    }
}

/// Room for drawing one image, kept from rows to rows.
#[derive(Debug, Default)]
struct Room {
    /// Of each body.
    layers: Vec<Vec<Layer>>,
    sorting: Sorting,
    intervals: Vec<Interval>,
}
