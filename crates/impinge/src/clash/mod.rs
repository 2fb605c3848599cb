//! Clash detection in an assembly: every pair of parts that overlap, coincide, touch or come too near.
//!
//! Boxes of all parts, grown by the clearance, go through a broad phase; each pair whose boxes meet is asked for its
//! relation first and for lengths and volumes only where they say something. Pairs are answered on all threads and
//! reported in the order of the parts, so the report is the same at any number of threads.
//!
//! The boxes take one pass over the corners, whatever the budget. Trees are built within it, for parts that have
//! others near them.

mod memory;
mod nested;
mod pair;

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use glam::DVec3;

pub use self::memory::ClashMemory;
use self::pair::{Open, Pair};
use crate::bound::Aabb;
use crate::broad::{Auto, BroadPhase, Changes, Mobility};
use crate::model::component_bounds;
use crate::num::parallel;
use crate::num::tolerance::{PLACED_BOX_ROUNDING, ROUND_UP};
use crate::{Budget, Certainty, Counters, Error, Finish, Placed, Pose, Shape};

/// A part of an assembly. Parts of one shape share it, and all that is built for it: a copy of a [`Shape`] is cheap.
#[derive(Debug, Clone)]
pub struct Part {
    /// What it is called.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
    /// Where it is.
    pub pose: Pose,
}

impl Part {
    /// A part that its coordinates place.
    pub fn new(name: impl Into<String>, shape: impl Into<Shape>) -> Part {
        Part { name: name.into(), shape: shape.into(), pose: Pose::IDENTITY }
    }

    /// The same part at a pose.
    pub fn at(self, pose: Pose) -> Part {
        Part { pose, ..self }
    }

    /// The shape where it is.
    pub fn placed(&self) -> Placed<'_> {
        self.shape.at(self.pose)
    }
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
    /// The smallest distance of their surfaces; 0 where they meet, and where it is not measured: for a cylinder, cone or
    /// ellipsoid inside another curved solid, and within a compound.
    pub gap: f64,
    /// What the kind and the gap are worth: exact for meshes, hulls and boxes.
    pub certainty: Certainty,
    /// The penetration depth: the smallest shift along the normal of the deepest contact that ends it; negative for a
    /// gap. `None` where it was not measured, as for duplicates.
    pub depth: Option<f64>,
    /// The length of a translation that separates the parts; 0 where they do not overlap, `None` where it was not
    /// measured, as for duplicates, or where there is none: for clouds of particles, and for two half-spaces. The smallest
    /// one of convex parts; of others the shortest of those that their contacts suggest.
    pub separate: Option<f64>,
    /// That translation: added to the position of the second part, both touch or are apart.
    pub translation: Option<DVec3>,
    /// The volume that they share, for closed meshes that overlap.
    pub volume: Option<f64>,
    /// The stated error of the volume: an estimate, no bound.
    pub volume_error: Option<f64>,
    /// What the volume is worth: exact, or approximate where a part overlaps itself and images measure it.
    pub volume_certainty: Option<Certainty>,
    /// A point of the place.
    pub at: DVec3,
    /// A box around the place.
    pub bounds: Aabb,
}

/// What counts as a clash, how much work may be done, and what is known from before.
#[derive(Default)]
pub struct ClashOptions<'a> {
    /// Parts at most this far apart clash (a length); 0 for contact only.
    pub clearance: f64,
    /// Leaves out depths, separations and volumes of parts that overlap, which take most of the time.
    pub only_kinds: bool,
    /// Pairs that are left out, by the index of their parts.
    pub ignored: &'a [[usize; 2]],
    /// How much work or time all pairs together may take: first the kinds of all pairs are decided in their order,
    /// then depths, separations and volumes are measured as far as it goes. It is drawn down.
    pub budget: Budget,
    /// What an earlier search about the same parts left: this one goes on where that one ended. `None` remembers nothing.
    pub memory: Option<&'a mut ClashMemory>,
    /// Called after each pair with the number of pairs answered and of all.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
}

impl fmt::Debug for ClashOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClashOptions { clearance, only_kinds, ignored, budget, memory, progress: _ } = self;
        f.debug_struct("ClashOptions")
            .field("clearance", clearance)
            .field("only_kinds", only_kinds)
            .field("ignored", ignored)
            .field("budget", budget)
            .field("memory", memory)
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
    /// Parts that are open meshes, by their index, in whose boxes others, or connected parts of others, lie that do not
    /// clash with them: an open mesh has no inside, so they are not told as inside it.
    pub open: Vec<usize>,
    /// Whether every pair is known, and measured if that was asked for.
    pub finish: Finish,
    /// What the questions about the pairs have cost in this call.
    pub work: Counters,
}

impl ClashReport {
    /// How many clashes of a kind there are.
    pub fn count(&self, kind: ClashKind) -> usize {
        self.clashes.iter().filter(|clash| clash.kind == kind).count()
    }

    /// What the kinds, the gaps and the volumes are worth together.
    pub fn certainty(&self) -> Certainty {
        let volumes = self.clashes.iter().filter_map(|clash| clash.volume_certainty);
        let kinds = self.clashes.iter().map(|clash| clash.certainty);
        volumes.chain(kinds).fold(Certainty::Exact, Certainty::lesser)
    }

    /// Whether every clash is listed: all pairs are known, if not all of them measured.
    pub fn lists_all(&self) -> bool {
        self.answered == self.candidates
    }
}

/// Every clash among the parts of an assembly.
///
/// ```
/// use impinge::{ClashKind, ClashOptions, Part, Pose, Shape, clash, procedural};
///
/// let cube = Shape::from(procedural::cuboid([0.5; 3], [1; 3])?);
/// let part = |name: &str, x: f64| -> Result<Part, impinge::Error> {
///     Ok(Part::new(name, cube.clone()).at(Pose::from_translation([x, 0.0, 0.0])?))
/// };
/// let parts = [part("base", 0.0)?, part("lid", 0.9)?, part("knob", 2.0)?];
/// let report = clash(&parts, &mut ClashOptions { clearance: 0.2, ..ClashOptions::default() })?;
/// let kinds: Vec<_> = report.clashes.iter().map(|clash| (clash.parts, clash.kind)).collect();
/// assert_eq!(kinds, [([0, 1], ClashKind::Hard), ([1, 2], ClashKind::Clearance)]);
/// # Ok::<(), impinge::Error>(())
/// ```
///
/// A search whose budget ended goes on with the same memory:
///
/// ```
/// use impinge::{Budget, ClashMemory, ClashOptions, Finish, Part, Shape, clash, procedural};
///
/// let ball = Shape::from(procedural::ico_sphere(1.0, 3)?);
/// let parts = [Part::new("one", ball.clone()), Part::new("the same again", ball)];
/// let mut memory = ClashMemory::default();
/// let mut ask = |units: u64| {
///     let budget = Budget::units(units);
///     clash(&parts, &mut ClashOptions { budget, memory: Some(&mut memory), ..ClashOptions::default() })
/// };
/// let mut report = ask(1000)?;
/// while report.finish == Finish::OutOfBudget {
///     report = ask(1000)?;
/// }
/// assert_eq!(report.clashes.len(), 1);
/// # Ok::<(), impinge::Error>(())
/// ```
///
/// # Errors
/// A clearance that is negative or not finite, or an ignored pair that names no two parts. A measure that is refused for
/// the shapes of a pair is left out instead.
pub fn clash(parts: &[Part], options: &mut ClashOptions<'_>) -> Result<ClashReport, Error> {
    check(parts.len(), options)?;
    let &mut ClashOptions { clearance, only_kinds, ignored, progress, .. } = options;
    let ignored: HashSet<[usize; 2]> = ignored.iter().map(|&[i, j]| [i.min(j), i.max(j)]).collect();
    let bounds = parallel::map(parts.len(), |k| parts[k].shape.geometry().corner_bounds(&parts[k].pose));
    let mut candidates = near(&bounds, clearance);
    candidates.retain(|pair| !ignored.contains(pair));
    let mut fresh = ClashMemory::default();
    let keeps = options.memory.is_some();
    let memory = options.memory.as_deref_mut().unwrap_or(&mut fresh);
    memory.renew(parts, clearance);
    let mut known = memory.take_known(&candidates);
    let answered = AtomicU64::new(known.iter().flatten().count() as u64);
    let (total, work) = (candidates.len(), Mutex::default());
    let search = Search { parts, bounds, clearance, only_kinds, total, answered, progress, work };
    let finish = if options.budget.is_unlimited() {
        search.all_at_once(&candidates, &mut known, memory)?;
        Finish::Complete
    } else {
        search.one_by_one(&candidates, &mut known, memory, &mut options.budget)?
    };
    let open = search.open(&candidates, &known);
    let clashes = known.iter().flatten().filter_map(|known| match known {
        Pair::Clear => None,
        Pair::Clash(clash, _) => Some((**clash).clone()),
    });
    let clashes = clashes.collect();
    let answered = known.iter().flatten().count();
    if keeps {
        memory.keep_known(&candidates, known);
    }
    Ok(ClashReport { clashes, candidates: candidates.len(), answered, open, finish, work: search.work() })
}

/// What all pairs have in common.
struct Search<'s> {
    parts: &'s [Part],
    bounds: Vec<Aabb>,
    clearance: f64,
    only_kinds: bool,
    total: usize,
    answered: AtomicU64,
    progress: Option<&'s (dyn Fn(u64, u64) + Sync)>,
    work: Mutex<Counters>,
}

impl Search<'_> {
    /// What the questions about the pairs have cost so far.
    fn work(&self) -> Counters {
        *self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what the questions about a pair have cost.
    fn count(&self, open: &mut Open) {
        *self.work.lock().unwrap_or_else(PoisonError::into_inner) += std::mem::take(&mut open.work);
    }

    /// Answers every pair, on all threads.
    fn all_at_once(
        &self,
        candidates: &[[usize; 2]],
        known: &mut Vec<Option<Pair>>,
        memory: &mut ClashMemory,
    ) -> Result<(), Error> {
        let answer = |pair: [usize; 2], mut known: Option<Pair>, mut open: Open| {
            let mut budget = Budget::UNLIMITED;
            self.classify(pair, &mut known, &mut open, &mut budget)?;
            self.measure(&mut known, &mut open, &mut budget);
            self.count(&mut open);
            Ok::<Option<Pair>, Error>(known)
        };
        if let Some(k) = memory.open_pair().and_then(|open| candidates.iter().position(|&pair| pair == open))
        {
            known[k] = answer(candidates[k], known[k].take(), memory.take_open(candidates[k]))?;
        }
        let found =
            parallel::map(candidates.len(), |k| answer(candidates[k], known[k].clone(), Open::default()));
        *known = found.into_iter().collect::<Result<_, Error>>()?;
        Ok(())
    }

    /// Answers one pair after the other as far as the budget goes. The kinds of all pairs come first: that parts clash
    /// counts more than how deep the first ones do.
    fn one_by_one(
        &self,
        candidates: &[[usize; 2]],
        known: &mut [Option<Pair>],
        memory: &mut ClashMemory,
        budget: &mut Budget,
    ) -> Result<Finish, Error> {
        for asks_kinds in [true, false] {
            for (&pair, known) in candidates.iter().zip(&mut *known) {
                let is_done = if asks_kinds { known.is_some() } else { self.is_measured(known) };
                if is_done {
                    continue;
                }
                let mut open = memory.take_open(pair);
                let lasted = match asks_kinds {
                    true => self.classify(pair, known, &mut open, budget)?,
                    false => self.measure(known, &mut open, budget),
                };
                self.count(&mut open);
                if !lasted {
                    memory.keep_open(pair, open);
                    return Ok(Finish::OutOfBudget);
                }
            }
        }
        Ok(Finish::Complete)
    }

    /// Tells the kind of a pair unless it is known; whether the budget lasted.
    fn classify(
        &self,
        pair: [usize; 2],
        known: &mut Option<Pair>,
        open: &mut Open,
        budget: &mut Budget,
    ) -> Result<bool, Error> {
        if known.is_none() {
            *known = pair::classify(self.parts, &self.bounds, pair, self.clearance, open, budget)?;
            if known.is_some() {
                let number = self.answered.fetch_add(1, Ordering::Relaxed) + 1;
                if let Some(progress) = self.progress {
                    progress(number, self.total as u64);
                }
            }
        }
        Ok(known.is_some())
    }

    /// Measures a pair unless that is done or not asked for; whether the budget lasted.
    fn measure(&self, known: &mut Option<Pair>, open: &mut Open, budget: &mut Budget) -> bool {
        if !self.is_measured(known)
            && let Some(Pair::Clash(clash, measured)) = known
        {
            *measured = pair::measure(self.parts, clash, open, budget);
            return *measured;
        }
        true
    }

    /// The open meshes in whose boxes others, or connected parts of them, lie that were found apart from them. That they
    /// are open was asked for that.
    fn open(&self, candidates: &[[usize; 2]], known: &[Option<Pair>]) -> Vec<usize> {
        let is_apart = |known: &Option<Pair>| match known {
            Some(Pair::Clear) => true,
            Some(Pair::Clash(clash, _)) => clash.kind == ClashKind::Clearance,
            None => false,
        };
        let apart = candidates.iter().zip(known).filter(|(_, known)| is_apart(known));
        let both_ways = apart.flat_map(|(&[i, j], _)| [[i, j], [j, i]]);
        let mut boxes: HashMap<usize, Vec<Aabb>> = HashMap::new();
        let around = both_ways.filter(|&[i, j]| {
            let ([outer, inner], shape) = ([self.bounds[i], self.bounds[j]], &self.parts[i].shape);
            if shape.as_mesh().is_none() || !outer.meets(&inner) || shape.is_closed() {
                return false;
            }
            outer.holds(&inner)
                || boxes
                    .entry(j)
                    .or_insert_with(|| {
                        let Part { shape, pose, .. } = &self.parts[j];
                        component_bounds(shape.geometry(), pose, &mut Budget::UNLIMITED.clone())
                            .unwrap_or_default()
                    })
                    .iter()
                    .any(|component| outer.holds(component))
        });
        let found: BTreeSet<usize> = around.map(|[i, _]| i).collect();
        found.into_iter().collect()
    }

    fn is_measured(&self, known: &Option<Pair>) -> bool {
        self.only_kinds || !matches!(known, Some(Pair::Clash(_, false)))
    }
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
    let room = DVec3::splat(0.5 * clearance * ROUND_UP);
    for (id, bounds) in (0..).zip(bounds) {
        let size = bounds.low.abs().max(bounds.high.abs());
        let room = room + size.max_element() * PLACED_BOX_ROUNDING;
        broad.insert(id, Aabb { low: bounds.low - room, high: bounds.high + room }, Mobility::Moving);
    }
    broad.step(&mut Changes::default());
    let mut pairs = Vec::new();
    broad.pairs(&mut pairs);
    pairs.into_iter().map(|pair| pair.map(|id| id as usize)).collect()
}
