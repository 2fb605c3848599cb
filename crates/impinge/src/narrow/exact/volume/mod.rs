//! The volume of the intersection of two solids bounded by triangles, with its gradient: exact combinatorics, numbers
//! to rounding.
//!
//! The divergence theorem turns the volume into an integral over the border of the intersection: the part of a's
//! surface inside b and the part of b's inside a, V = ⅓ Σ h·s, with s the area inside of a triangle and h the height
//! of its plane over any one point. Triangles inside are found by walking over the surface from the crossings, as whole
//! groups with known integrals where nothing crosses them (`clusters`); cut ones are integrated over their borders (`cut`). So nothing is built: no polyhedron, no triangulation, only the
//! pairs of crossing triangles are needed; the border as a mesh is made where it is asked for (`border`). The derivative of the volume by a vertex is the integral of its barycentric
//! coordinate times the normal over the same parts.
//!
//! Which edge passes through which triangle (`edge_passes`) is decided exactly, with b moved by an infinitesimal translation
//! (`perturbed_crossing`), so touching and coplanar faces, equal bodies and shared vertices are no special cases.
//! What is integrated is the product of the winding numbers: the volume of the common solid where they are 0 and 1, as
//! they are around the surfaces that `solid_surface` gives.

mod border;
mod clusters;
mod coincident;
mod crossings;
mod cut;
mod edge_passes;
mod gradient;
mod measure;
mod numbered_set;
mod patches;
mod perturbed_crossing;
mod polygon;
mod regions;
mod scaled;
mod surface;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::collide::{self, AllPairs, Posed};
use crate::bound::Aabb;
use crate::contact::{Certainty, Counters, Finish, Outcome, Overlap, Verdict, Volume, VolumeOptions};
use crate::model::Model;
use crate::num::stages;
use crate::{Budget, Pose};
use edge_passes::{edge_passes, meetings};
use measure::measure;
use perturbed_crossing::Body;
pub(crate) use surface::is_inverted;
use surface::{Facts, Surface};

/// Work units after which a question is shared between threads, some tens of microseconds. In less than a tenth of a
/// millisecond for the whole question, threads hand over for as long as they save, or longer: a cache line needs some
/// hundreds of nanoseconds from core to core, and what one thread cuts others read.
const ALONE: u64 = 2_500;

/// Pairs of crossing triangles above which stages are shared between threads that are awake, some hundredths of a
/// millisecond of work, and where they would have to be woken first.
const SHARED: [usize; 2] = [100, 256];

/// The volume of the intersection of two closed meshes.
pub fn volume(
    models: [&Model; 2],
    poses: [&Pose; 2],
    options: &VolumeOptions,
    budget: &mut Budget,
) -> Verdict<Volume> {
    measured(models, poses, options, budget).map(|(volume, _)| volume)
}

/// The regions of the intersection of two closed meshes, the largest first, and a box around each.
pub(crate) fn overlaps(
    models: [&Model; 2],
    poses: [&Pose; 2],
    budget: &mut Budget,
) -> Verdict<Vec<(Overlap, Aabb)>> {
    measured(models, poses, &VolumeOptions::default(), budget)
        .map(|(volume, boxes)| volume.regions.into_iter().zip(boxes).collect())
}

/// The volume, and the boxes of its regions.
fn measured(
    models: [&Model; 2],
    poses: [&Pose; 2],
    options: &VolumeOptions,
    budget: &mut Budget,
) -> Verdict<(Volume, Vec<Aabb>)> {
    if let Some(unit) = scaled::unit_of(models, poses)
        && let Some(found) = scaled::measured_in(unit, models, poses, options, budget)
    {
        return found;
    }
    measured_here(models, poses, options, budget)
}

/// The same in the unit of the coordinates.
fn measured_here(
    models: [&Model; 2],
    poses: [&Pose; 2],
    options: &VolumeOptions,
    budget: &mut Budget,
) -> Verdict<(Volume, Vec<Aabb>)> {
    let [a, b] = [0, 1].map(|k| Posed::new(models[k], *poses[k]));
    if !budget.is_unlimited() {
        let found = collide::unordered_pairs(a, b, budget);
        return of_pairs(models, poses, found, SHARED[1], options, budget);
    }
    let search = AllPairs::begin(a, b, ALONE);
    if !search.is_large() {
        return of_pairs(models, poses, search.finish(), SHARED[1], options, budget);
    }
    // What is built at the first question is built before: a thread of the pool would build it alone.
    for model in models {
        Facts::of(model, budget);
    }
    stages::attended(|| of_pairs(models, poses, search.finish(), SHARED[0], options, budget))
}

/// The same, given the pairs of triangles that meet and how the search for them ended; more than `shared` pairs are
/// shared between threads.
fn of_pairs(
    models: [&Model; 2],
    poses: [&Pose; 2],
    (pairs, mut outcome): (Vec<[u32; 2]>, Outcome),
    shared: usize,
    options: &VolumeOptions,
    budget: &mut Budget,
) -> Verdict<(Volume, Vec<Aabb>)> {
    if outcome.finish == Finish::OutOfBudget {
        return Verdict::new(None, outcome);
    }
    let (Some(facts_a), Some(facts_b)) = (Facts::of(models[0], budget), Facts::of(models[1], budget)) else {
        return Verdict::out_of_budget();
    };
    let is_large = pairs.len() > shared;
    let cut = |body: Body, facts| {
        let k = body as usize;
        let mut surface = Surface::new(body, models[k], poses[k], facts);
        let cuts = surface.cut_all(pairs.iter().map(|pair| pair[k]));
        (surface, cuts)
    };
    let ((of_a, cuts_a), (of_b, cuts_b)) =
        stages::join_if(is_large, || cut(Body::A, facts_a), || cut(Body::B, facts_b));
    let surfaces = [of_a, of_b];
    let meetings = meetings(&cuts_a, &cuts_b);
    let cuts = surfaces.each_ref().map(|surface| Arc::clone(&surface.cuts));
    let passes = edge_passes(cuts.each_ref().map(|cuts| cuts.as_slice()), &meetings);
    let Some((found, steps)) = measure(surfaces, &meetings, &passes, is_large, options, budget) else {
        return Verdict::out_of_budget();
    };
    outcome.work += Counters { primitive_tests: steps, ..Counters::default() };
    outcome.certainty = Certainty::Exact;
    Verdict::new(Some(found), outcome)
}
