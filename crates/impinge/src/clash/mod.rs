//! Clash detection in an assembly: every pair of parts that overlap, coincide, touch or come too near.
//!
//! Boxes of all parts, grown by the clearance, go through a broad phase; each pair whose boxes meet is asked for its
//! relation first and for lengths and volumes only where they say something. Pairs are answered on all threads and
//! reported in the order of the parts, so the report is the same at any number of threads.

mod pair;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use glam::DVec3;

use self::pair::Pair;
use crate::bound::Aabb;
use crate::broad::{Auto, BroadPhase, Changes, Mobility};
use crate::num::parallel;
use crate::query::Query;
use crate::{Budget, Error, Finish, Pose, Shape};

/// A part of an assembly, placed by its coordinates.
#[derive(Debug, Clone)]
pub struct Part {
    /// What it is called.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
}

/// How two parts of an assembly are in each other's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ClashKind {
    /// They overlap.
    Hard,
    /// One lies inside the other.
    Inside,
    /// They have the same surface: one part was placed twice.
    Duplicate,
    /// They touch without overlapping.
    Touching,
    /// They are nearer to each other than the clearance.
    Clearance,
}

impl ClashKind {
    /// Every kind, the gravest first.
    pub const ALL: [ClashKind; 5] =
        [ClashKind::Hard, ClashKind::Inside, ClashKind::Duplicate, ClashKind::Touching, ClashKind::Clearance];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            ClashKind::Hard => "hard",
            ClashKind::Inside => "inside",
            ClashKind::Duplicate => "duplicate",
            ClashKind::Touching => "touching",
            ClashKind::Clearance => "clearance",
        }
    }

    /// Whether the parts cannot both be where they are.
    pub const fn is_serious(self) -> bool {
        matches!(self, ClashKind::Hard | ClashKind::Inside | ClashKind::Duplicate)
    }
}

impl fmt::Display for ClashKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Two parts of an assembly that are in each other's way.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Clash {
    /// The parts, by their index, the smaller first.
    pub parts: [usize; 2],
    /// How they are in each other's way.
    pub kind: ClashKind,
    /// The smallest distance of their surfaces; 0 where they meet.
    pub gap: f64,
    /// The penetration depth: the smallest shift along the normal of the deepest contact that ends it; negative for a
    /// gap. `None` where it was not measured, as for duplicates.
    pub depth: Option<f64>,
    /// The length of a translation that separates the parts; 0 where they do not overlap, `None` where it was not
    /// measured, as for duplicates. The smallest one of convex parts; of others the shortest of those that their contacts suggest.
    pub separate: Option<f64>,
    /// The volume that they share, for closed meshes that overlap.
    pub volume: Option<f64>,
    /// A point of the place.
    pub at: DVec3,
    /// A box around the place.
    pub bounds: Aabb,
}

/// What counts as a clash, and how much work may be done.
#[derive(Clone, Default)]
pub struct ClashOptions<'a> {
    /// Parts at most this far apart clash (a length); 0 for contact only.
    pub clearance: f64,
    /// Leaves out depths, separations and volumes of parts that overlap, which take most of the time.
    pub only_kinds: bool,
    /// Pairs that are left out, by the index of their parts.
    pub ignored: &'a [[usize; 2]],
    /// How much work or time all pairs together may take: first the kinds of all pairs are decided in their order,
    /// then depths, separations and volumes are measured as far as it goes.
    pub budget: Budget,
    /// Called after each pair with the number of pairs answered and of all.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
}

impl fmt::Debug for ClashOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClashOptions { clearance, only_kinds, ignored, budget, progress: _ } = self;
        f.debug_struct("ClashOptions")
            .field("clearance", clearance)
            .field("only_kinds", only_kinds)
            .field("ignored", ignored)
            .field("budget", budget)
            .finish_non_exhaustive()
    }
}

/// The clashes of an assembly.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ClashReport {
    /// In the order of their parts.
    pub clashes: Vec<Clash>,
    /// Pairs whose boxes, grown by the clearance, meet.
    pub candidates: usize,
    /// Of how many of them it is known whether and how they clash: all, unless the budget ended before.
    pub answered: usize,
    /// Whether every pair is known, and measured if that was asked for.
    pub finish: Finish,
}

impl ClashReport {
    /// How many clashes of a kind there are.
    pub fn count(&self, kind: ClashKind) -> usize {
        self.clashes.iter().filter(|clash| clash.kind == kind).count()
    }
}

/// Every clash among the parts of an assembly.
///
/// ```
/// use impinge::{ClashKind, ClashOptions, Part, Pose, Shape, clash, procedural};
///
/// let cube = procedural::cuboid([0.5; 3], [1; 3])?;
/// let part = |name: &str, x: f64| -> Result<Part, impinge::Error> {
///     let at = Pose::from_translation([x, 0.0, 0.0])?;
///     let vertices = cube.vertices().iter().map(|&p| at.apply(p).to_array()).collect();
///     Ok(Part { name: name.into(), shape: Shape::mesh(vertices, cube.triangles().to_vec())? })
/// };
/// let parts = [part("base", 0.0)?, part("lid", 0.9)?, part("knob", 2.0)?];
/// let report = clash(&parts, &ClashOptions { clearance: 0.2, ..ClashOptions::default() })?;
/// let kinds: Vec<_> = report.clashes.iter().map(|clash| (clash.parts, clash.kind)).collect();
/// assert_eq!(kinds, [([0, 1], ClashKind::Hard), ([1, 2], ClashKind::Clearance)]);
/// # Ok::<(), impinge::Error>(())
/// ```
///
/// # Errors
/// A clearance that is negative or not finite, or an ignored pair that names no two parts.
pub fn clash(parts: &[Part], options: &ClashOptions<'_>) -> Result<ClashReport, Error> {
    check(parts.len(), options)?;
    let ignored: HashSet<[usize; 2]> = options.ignored.iter().map(|&[i, j]| [i.min(j), i.max(j)]).collect();
    let bounds: Vec<Aabb> = parallel::map(parts.len(), |k| parts[k].shape.bounds(&Pose::IDENTITY));
    let mut candidates = near(&bounds, options.clearance);
    candidates.retain(|pair| !ignored.contains(pair));
    let total = candidates.len() as u64;
    let answered = AtomicU64::new(0);
    let done = || {
        let number = answered.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(progress) = options.progress {
            progress(number, total);
        }
    };
    let mut finish = Finish::Complete;
    let mut clashes = Vec::new();
    if options.budget.is_unlimited() {
        let found = parallel::map(candidates.len(), |k| {
            let query = &mut Query::default();
            let mut found = pair::classify(parts, candidates[k], options.clearance, query)?;
            if let (Pair::Clash(clash), false) = (&mut found, options.only_kinds) {
                pair::measure(parts, clash, query)?;
            }
            done();
            Ok::<Pair, Error>(found)
        });
        for found in found {
            if let Pair::Clash(clash) = found? {
                clashes.push(clash);
            }
        }
    } else {
        // The kinds of all pairs come first: that parts clash counts more than how deep the first ones do.
        let mut query = Query { budget: options.budget.clone(), ..Query::default() };
        for &pair in &candidates {
            match pair::classify(parts, pair, options.clearance, &mut query)? {
                Pair::Clear => {}
                Pair::Clash(clash) => clashes.push(clash),
                Pair::OutOfBudget => {
                    finish = Finish::OutOfBudget;
                    break;
                }
            }
            done();
        }
        for clash in &mut clashes {
            if finish == Finish::Complete && !options.only_kinds && !pair::measure(parts, clash, &mut query)?
            {
                finish = Finish::OutOfBudget;
            }
        }
    }
    let answered = answered.into_inner() as usize;
    Ok(ClashReport { clashes, candidates: candidates.len(), answered, finish })
}

fn check(parts: usize, options: &ClashOptions<'_>) -> Result<(), Error> {
    let clearance = options.clearance;
    // Negated, so that NaN is refused.
    if !(clearance >= 0.0 && clearance.is_finite()) {
        let reason = format!("{clearance} is negative or not finite");
        return Err(Error::Argument { name: "clearance", reason });
    }
    match options.ignored.iter().find(|[i, j]| i == j || *i.max(j) >= parts) {
        Some([i, j]) => {
            let reason = format!("{i} and {j} are not two of {parts} parts");
            Err(Error::Argument { name: "ignored", reason })
        }
        None => Ok(()),
    }
}

/// The pairs of boxes that are at most so far apart along every axis, in order.
fn near(bounds: &[Aabb], clearance: f64) -> Vec<[usize; 2]> {
    let mut broad = Auto::default();
    // Half of it on each side, rounded up so that no pair is lost.
    let room = DVec3::splat(0.5 * clearance * crate::num::tolerance::ROUND_UP);
    for (id, bounds) in (0..).zip(bounds) {
        let size = bounds.low.abs().max(bounds.high.abs());
        let room = room + size * f64::EPSILON;
        broad.insert(id, Aabb { low: bounds.low - room, high: bounds.high + room }, Mobility::Moving);
    }
    broad.step(&mut Changes::default());
    let mut pairs = Vec::new();
    broad.pairs(&mut pairs);
    pairs.into_iter().map(|pair| pair.map(|id| id as usize)).collect()
}
