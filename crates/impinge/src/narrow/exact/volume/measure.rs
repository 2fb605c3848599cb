//! From the passes of edges to the answer: steps of which each needs a few others, so that threads take whichever is ready
//! instead of meeting after every stage.
//!
//! A surface of few triangles leaves its thread idle at such a meeting, and a small question has as many meetings as a
//! large one. The steps of one surface follow each other; both need each other where crossings are put together and
//! where regions are summed up.

use std::sync::Arc;

use super::crossings::Crossings;
use super::edge_passes::{Numbered, Passes};
use super::gradient::{add_cut_gradient, uncut_gradient};
use super::regions::{Integral, OfCuts, OfSurface, Regions, Side, Totals, origin, sums_of_patches};
use super::surface::Surface;
use crate::Budget;
use crate::bound::Aabb;
use crate::contact::{Volume, VolumeOptions};
use crate::num::tasks::{Handed, Left, Task, Tasks};

/// Measures what two surfaces have in common, given which of their cuts meet and how edges pass through them: on several
/// threads where it `is_large`. Also a box around each region, and how many steps it took; `None` when the budget ends
/// first.
pub fn measure(
    surfaces: [Surface<'_>; 2],
    meetings: &[[u32; 2]],
    passes: &Passes,
    is_large: bool,
    options: &VolumeOptions,
    budget: &mut Budget,
) -> Option<((Volume, Vec<Aabb>), u64)> {
    let cuts = surfaces.each_ref().map(|surface| Arc::clone(&surface.cuts));
    let cuts = cuts.each_ref().map(|cuts| cuts.as_slice());
    let solids = surfaces.each_ref().map(Surface::solid);
    let origin = origin(&solids);

    let cut_surfaces = surfaces.map(Handed::of);
    let spread: [Left<Surface<'_>>; 2] = [const { Left::nothing() }; 2];
    let numbered: [Handed<Numbered>; 2] = [const { Handed::nothing() }; 2];
    let regions: Left<Regions> = Left::nothing();
    let of_cuts = [const { Left::nothing() }; 2];
    let of_patches = [const { Left::nothing() }; 2];
    let of_surfaces = [const { Left::nothing() }; 2];
    let totals: Left<Totals> = Left::nothing();
    let reaches = [const { Handed::nothing() }; 2];
    let slopes = [const { Handed::nothing() }; 2];
    let gradients = [const { Handed::nothing() }; 2];

    let side = |k: usize| Side { surface: spread[k].get(), regions: regions.get(), origin };
    let sides = || [side(0), side(1)];
    let of_both = || of_cuts.each_ref().map(Left::get);

    let spread_over = |k: usize| {
        let mut surface = cut_surfaces[k].take();
        surface.pass_all(meetings, &passes.edges[k]);
        surface.spread(&solids[1 - k]);
        spread[k].put(surface);
    };
    let number = |k: usize| numbered[k].put(Numbered::of(k, cuts, meetings, &passes.edges[k]));
    let join = |_| {
        let crossings = Crossings::of(numbered.each_ref().map(Handed::take), meetings, &passes.edges);
        regions.put(Regions::of(crossings, spread.each_ref().map(Left::get)));
    };
    let add_cuts = |k: usize| of_cuts[k].put(OfCuts::of(side(k)));
    let add_patches = |k: usize| of_patches[k].put(sums_of_patches(spread[k].get(), origin));
    let add_up = |k: usize| {
        of_surfaces[k].put(OfSurface::of(side(k), of_cuts[k].get(), of_patches[k].get()));
    };
    let total = |_| {
        let in_plane = passes.in_plane.iter().map(|&pair| meetings[pair as usize]);
        totals.put(Totals::of(sides(), of_surfaces.each_ref().map(Left::get), of_both(), in_plane));
    };
    let reach = |k: usize| reaches[k].put(side(k).reaches(totals.get()));
    let slope = |k: usize| {
        slopes[k].put(if options.gradient { uncut_gradient(spread[k].get()) } else { Vec::new() });
    };
    let slope_at_cuts = |k: usize| {
        let mut gradient = slopes[k].take();
        if options.gradient {
            add_cut_gradient(spread[k].get(), &of_cuts[k].get().inside, &mut gradient);
        }
        gradients[k].put(gradient);
    };

    let all = [
        Task::new(&spread_over, 0, &[]),
        Task::new(&spread_over, 1, &[]),
        Task::new(&number, 0, &[]),
        Task::new(&number, 1, &[]),
        Task::new(&join, 0, &[SPREAD[0], SPREAD[1], NUMBER[0], NUMBER[1]]),
        Task::new(&add_cuts, 0, &[JOIN]),
        Task::new(&add_cuts, 1, &[JOIN]),
        Task::new(&add_patches, 0, &[SPREAD[0]]),
        Task::new(&add_patches, 1, &[SPREAD[1]]),
        Task::new(&add_up, 0, &[CUTS[0], PATCHES[0]]),
        Task::new(&add_up, 1, &[CUTS[1], PATCHES[1]]),
        Task::new(&total, 0, &SUMS),
        Task::new(&reach, 0, &[TOTAL]),
        Task::new(&reach, 1, &[TOTAL]),
        Task::new(&slope, 0, &[SPREAD[0]]),
        Task::new(&slope, 1, &[SPREAD[1]]),
        Task::new(&slope_at_cuts, 0, &[CUTS[0], SLOPES[0]]),
        Task::new(&slope_at_cuts, 1, &[CUTS[1], SLOPES[1]]),
    ];
    let mut tasks = Tasks::new(&all);
    if !budget.is_unlimited() {
        tasks.run_until(JOIN, is_large);
    }
    // What spreading takes is known when it is done, and charged before all that follows.
    let steps = || (meetings.len() + spread.iter().map(|own| own.get().visited()).sum::<usize>()) as u64;
    if !budget.is_unlimited() && !budget.charge_all(steps()) {
        return None;
    }
    tasks.run_until(all.len(), is_large);
    let integral = Integral {
        sides: sides(),
        totals: totals.get(),
        of_cuts: of_both(),
        gradient: gradients.each_ref().map(Handed::take),
        reaches: reaches.each_ref().map(Handed::take),
        samples: Vec::new(),
    };
    Some((integral.volume(options), steps()))
}

/// The places of tasks, of each surface where there are two.
const SPREAD: [usize; 2] = [0, 1];
const NUMBER: [usize; 2] = [2, 3];
const JOIN: usize = 4;
const CUTS: [usize; 2] = [5, 6];
const PATCHES: [usize; 2] = [7, 8];
const SUMS: [usize; 2] = [9, 10];
const TOTAL: usize = 11;
const SLOPES: [usize; 2] = [14, 15];
