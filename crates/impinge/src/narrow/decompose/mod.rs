//! Convex decomposition: convex parts that together cover a closed mesh.
//!
//! A solid is cut by planes until every piece equals its convex hull, or until there are enough pieces. Each
//! time the piece whose hull exceeds it most is taken: where it is connected it is cut by the plane that leaves the
//! fewest notches, or the least excess where they are many; the planes that are tried come from notches, as in Chazelle, "Convex partitions of
//! polyhedra: a lower bound and worst-case optimal algorithm", 1984, and, as in Lien and Amato, "Approximate
//! convex decomposition of polyhedra", 2007, the work stops where what is left of a concavity is small. We leave
//! both in measuring concavity as volume, and we put parts together again whose common hull adds nothing.
//!
//! The parts always cover the solid. Where the cuts came through, they are the solid; otherwise the answer
//! says by how much they stand out, as a volume and as a length.

mod cuts;
mod deviation;
mod hollow;
mod join;
mod piece;
mod solids;
#[cfg(test)]
mod tests;
mod whole;

use std::sync::Arc;

use glam::DVec3;

use self::cuts::Notch;
use self::piece::Piece;
use self::solids::{Solids, solids};
use crate::Shape;
use crate::contact::Verdict;
use crate::model::{Fact, Model};
use crate::narrow::exact::self_intersection::{
    few_triangles_intersect, self_intersections, self_intersections_within,
};
use crate::num::compact_sort::sort_rarely;
use crate::num::parallel;
use crate::num::tolerance::{CUT_GAIN, CUT_SLACK, ROUND_UP, VOLUME_ROUNDING};
use crate::shape::{Convex, LazyPolytope, Polytope};
use crate::{Budget, Certainty, Counters, Error, Finish, Mesh, Outcome};

/// Choices of a decomposition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecomposeOptions {
    /// Parts, at most; a mesh of more components than this has one for each.
    pub most_parts: usize,
    /// A piece is good enough when its hull exceeds it by at most this share of the whole volume; 0 asks for the
    /// solid itself. [`Decomposition::ended`] tells whether all pieces are.
    pub tolerance: f64,
}

impl DecomposeOptions {
    /// The solid itself where 64 parts are enough.
    pub const DEFAULT: DecomposeOptions = DecomposeOptions { most_parts: 64, tolerance: 0.0 };
}

impl Default for DecomposeOptions {
    fn default() -> DecomposeOptions {
        DecomposeOptions::DEFAULT
    }
}

/// Why a decomposition made no more cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum DecomposeEnd {
    /// Every part is within the tolerance.
    Tolerance,
    /// There are as many parts as allowed, and some exceed the tolerance.
    MostParts,
    /// No plane that was tried makes a part better that exceeds the tolerance. More parts would not help.
    NoBetterCut,
    /// The budget ended: these are the parts so far. They cover the solid, and their deviation is half the
    /// diagonal of the largest.
    OutOfBudget,
}

impl DecomposeEnd {
    /// Its name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            DecomposeEnd::Tolerance => "tolerance",
            DecomposeEnd::MostParts => "most_parts",
            DecomposeEnd::NoBetterCut => "no_better_cut",
            DecomposeEnd::OutOfBudget => "out_of_budget",
        }
    }
}

/// Convex parts that cover a solid.
#[derive(Debug, Clone)]
pub struct Decomposition<P = Shape> {
    /// The parts, in the frame of the mesh.
    pub parts: Vec<P>,
    /// The volume of the solid, summed over its components: what several of them hold counts for each.
    pub volume: f64,
    /// The volumes by which parts exceed their pieces of the solid, summed up.
    pub excess: f64,
    /// No point of a part is farther from the solid than this length; 0 where the parts are the solid.
    pub deviation: f64,
    /// Why no more cuts were made.
    pub ended: DecomposeEnd,
    /// Exact where the parts are the solid to rounding; otherwise they cover it and stand out by the
    /// tolerance, a length.
    pub certainty: Certainty,
}

/// Finest length of [`Decomposition::deviation`], as a share of the mesh's size: the bound is at most so much
/// above the truth.
pub const DEVIATION_RESOLUTION: f64 = 1.0 / 256.0;

#[cfg(any(test, feature = "unstable"))]
/// Convex parts that cover a closed mesh.
///
/// ```
/// use impinge::narrow::decompose::{DecomposeOptions, decompose};
/// use impinge::{Certainty, model::Model, procedural};
///
/// let stairs = Model::from(procedural::stairs(3, 1.0, 2.0, 1.0)?).into();
/// let found = decompose(&stairs, &DecomposeOptions::DEFAULT)?;
/// assert_eq!(found.parts.len(), 3);
/// assert_eq!(found.certainty, Certainty::Exact);
/// # Ok::<(), impinge::Error>(())
/// ```
///
/// # Errors
/// A mesh that is not closed or encloses nothing, no parts allowed, or a tolerance that is negative or not finite.
pub fn decompose(model: &Arc<Model>, options: &DecomposeOptions) -> Result<Decomposition<Polytope>, Error> {
    let found = decompose_within(model, options, &mut Budget::UNLIMITED.clone())?.value;
    // An unlimited budget does not run out.
    let found = found.ok_or(Error::Argument { name: "budget", reason: "it ended".into() })?;
    Ok(found.map(|part| part.polytope(model)))
}

/// As [`decompose`], as far as a budget goes: when it ends after a cut, the parts so far are told.
///
/// # Errors
/// As [`decompose`].
pub(crate) fn decompose_within(
    model: &Model,
    options: &DecomposeOptions,
    budget: &mut Budget,
) -> Result<Verdict<Covering>, Error> {
    check(options)?;
    let mut spending = Spending { budget, tests: 0, so_far: None };
    Ok(match covered(model, options, &mut spending)? {
        Some(found) => spending.complete(found),
        None => spending.open().unwrap_or_else(Verdict::out_of_budget),
    })
}

/// As [`decompose_within`] for a mesh that is one convex part, without building anything; `None` where it is none, or
/// when the budget ended first.
///
/// # Errors
/// As [`decompose_within`] for options that mean nothing.
pub(crate) fn whole_within(
    model: &Model,
    options: &DecomposeOptions,
    budget: &mut Budget,
) -> Result<Option<Verdict<Covering>>, Error> {
    check(options)?;
    let mut spending = Spending { budget, tests: 0, so_far: None };
    let found =
        spending.pay(model.mesh().triangles().len()).and_then(|()| whole::whole(model.mesh(), options));
    Ok(found.map(|found| spending.complete(found)))
}

/// Refuses options that mean nothing.
fn check(&DecomposeOptions { most_parts, tolerance }: &DecomposeOptions) -> Result<(), Error> {
    if most_parts == 0 {
        return Err(Error::Argument { name: "most_parts", reason: "there must be one at least".into() });
    }
    if !(tolerance >= 0.0 && tolerance.is_finite()) {
        let reason = format!("{tolerance} is negative or not finite");
        return Err(Error::Argument { name: "tolerance", reason });
    }
    Ok(())
}

/// The parts while they may be told more than once.
pub(crate) type Covering = Decomposition<Part>;

/// A convex part, by what it is the hull of.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// The mesh.
    Whole,
    /// Its corners.
    Corners(Arc<[DVec3]>),
}

impl Part {
    /// The part as a convex shape. Its features are found when they are first needed: they take many times the memory.
    pub(crate) fn convex(self, model: &Arc<Model>) -> Convex {
        let model = model.clone();
        Convex::Polytope(Arc::new(match self {
            Part::Whole => LazyPolytope::new(move || Part::Whole.polytope(&model)),
            Part::Corners(corners) => LazyPolytope::new(move || Polytope::of_points(&corners)),
        }))
    }

    fn polytope(&self, model: &Model) -> Polytope {
        match self {
            Part::Whole => Polytope::of_points(&model.used_points()),
            Part::Corners(corners) => Polytope::of_points(corners),
        }
    }
}

impl<P> Decomposition<P> {
    /// The same with the parts as something else.
    pub(crate) fn map<Q>(self, by: impl FnMut(P) -> Q) -> Decomposition<Q> {
        let Decomposition { parts, volume, excess, deviation, ended, certainty } = self;
        let parts = parts.into_iter().map(by).collect();
        Decomposition { parts, volume, excess, deviation, ended, certainty }
    }
}

/// Planes that are tried before a budget is asked again.
const PLANES_AT_A_TIME: usize = 4;

/// Triangles of a mesh up to which no tree is built to see whether it meets itself.
const FEW: usize = 128;

/// Heights of points over planes that cost as much as one unit of a budget.
const HEIGHTS_FOR_A_UNIT: usize = 8;

/// Polygons of a piece from which on the planes are tried on all threads.
const WORTH_SHARING: usize = 128;

/// A budget and what was drawn from it: the polygons that were cut, hulled or measured.
struct Spending<'b> {
    budget: &'b mut Budget,
    tests: u64,
    /// The parts after the last cut.
    so_far: Option<Covering>,
}

impl Spending<'_> {
    /// `None` when nothing more should be begun.
    fn pay(&mut self, tests: usize) -> Option<()> {
        let before = self.tests;
        self.tests += tests as u64;
        let so_far = &self.so_far;
        let open = |drawn: u64| Some(so_far.as_ref()?.left_open(before + drawn));
        self.budget.charge_and_tell(tests as u64, open).then_some(())
    }

    /// Builds what is needed of a mesh; `None` when the budget ended first.
    fn prepare(&mut self, model: &Model, facts: &[Fact]) -> Option<()> {
        let free = self.budget.is_unlimited();
        (free || facts.iter().all(|&fact| model.prepare(fact, self.budget))).then_some(())
    }

    /// Tells the parts so far to a caller whose deadline may pass before the next payment.
    fn tell(&mut self, so_far: impl FnOnce() -> Covering) {
        if !self.budget.is_unlimited() {
            self.so_far = Some(so_far());
            self.budget.leave(|| self.open());
        }
    }

    fn complete(&self, found: Covering) -> Verdict<Covering> {
        let outcome = outcome(found.certainty, Finish::Complete, self.tests);
        Verdict::new(Some(found), outcome)
    }

    fn open(&self) -> Option<Verdict<Covering>> {
        Some(self.so_far.as_ref()?.left_open(self.tests))
    }
}

impl Covering {
    /// What is told when the budget ends after some tests.
    fn left_open(&self, tests: u64) -> Verdict<Covering> {
        Verdict::by_finish(self.clone(), outcome(self.certainty, Finish::OutOfBudget, tests))
    }
}

fn outcome(certainty: Certainty, finish: Finish, tests: u64) -> Outcome {
    let work = Counters { primitive_tests: tests, ..Counters::default() };
    Outcome { certainty, finish, work }
}

/// The parts; `None` when the budget ended first.
fn covered(
    model: &Model,
    options: &DecomposeOptions,
    spending: &mut Spending<'_>,
) -> Result<Option<Covering>, Error> {
    let triangles = model.mesh().triangles().len();
    if spending.pay(triangles).is_none() {
        return Ok(None);
    }
    if let Some(whole) = whole::whole(model.mesh(), options) {
        return Ok(Some(whole));
    }
    if spending.pay(8 * triangles).is_none() {
        return Ok(None);
    }
    let mesh = model.mesh();
    let size = extent(mesh);
    let Some((work, mut pieces)) = uncut(mesh, size, options, spending)? else { return Ok(None) };
    let volume = work.volume;
    if work.cut_all(&mut pieces, options.most_parts, spending).is_none() {
        return Ok(None);
    }
    let ended = match pieces.iter().any(|piece| work.needs_cut(piece)) {
        false => DecomposeEnd::Tolerance,
        true if pieces.len() >= options.most_parts => DecomposeEnd::MostParts,
        true => DecomposeEnd::NoBetterCut,
    };
    spending.tell(|| work.so_far(&pieces));
    if work.join_all(&mut pieces, spending).is_none() {
        return Ok(None);
    }
    spending.tell(|| work.so_far(&pieces));
    // A small pit hardly has a volume.
    let hollow = pieces.iter().any(|piece| piece.hollow);
    let excess = pieces.iter().map(|piece| piece.excess().max(0.0)).sum::<f64>();
    // Those that may stand out far are measured first, so that the others are soon seen not to.
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    sort_rarely(&mut order, |&p, &q| pieces[q].excess().total_cmp(&pieces[p].excess()));
    let parts: Vec<Arc<[DVec3]>> = pieces.into_iter().map(|piece| piece.corners).collect();
    let close = excess <= volume * VOLUME_ROUNDING * parts.len() as f64;
    let mut exact = close && !hollow;
    if exact {
        let Some(meets) = meets_itself(model, spending) else { return Ok(None) };
        exact = !meets;
    }
    if !exact && spending.prepare(model, &[Fact::Tree, Fact::PointTree]).is_none() {
        return Ok(None);
    }
    let resolution = size * DEVIATION_RESOLUTION;
    let mut deviation = 0.0_f64;
    for part in order.into_iter().filter(|_| !exact).map(|part| &parts[part]) {
        let found = deviation::deviation(part, model, resolution, deviation, |units| spending.pay(units));
        let Some(found) = found else { return Ok(None) };
        deviation = found;
    }
    let certainty = if exact { Certainty::Exact } else { Certainty::Conservative { tolerance: deviation } };
    let parts = parts.into_iter().map(Part::Corners).collect();
    Ok(Some(Decomposition { parts, volume, excess, deviation, ended, certainty }))
}

/// The solids of a mesh as pieces that are not cut yet; `None` when the budget ended first.
fn uncut<'m>(
    mesh: &'m Mesh,
    size: f64,
    options: &DecomposeOptions,
    spending: &mut Spending<'_>,
) -> Result<Option<(Work<'m>, Vec<Shaped>)>, Error> {
    let Solids { surfaces, inward, volume, notches } = solids(mesh, size)?;
    let work = Work {
        mesh,
        inward,
        notches,
        slack: CUT_SLACK * size,
        volume,
        enough: volume * options.tolerance.max(VOLUME_ROUNDING),
        strict: options.tolerance == 0.0,
    };
    let mut pieces = Vec::new();
    for (number, (surface, signed)) in surfaces.into_iter().enumerate() {
        if spending.pay(surface.len()).is_none() {
            return Ok(None);
        }
        let mut piece = Piece::whole(mesh, surface);
        if signed < 0.0 {
            piece.turn();
        }
        let Some(shaped) = work.shaped(piece, number, spending) else { return Ok(None) };
        pieces.extend(shaped);
    }
    Ok(Some((work, pieces)))
}

/// Whether the surface meets itself; `None` when the budget ended first.
fn meets_itself(model: &Model, spending: &mut Spending<'_>) -> Option<bool> {
    let triangles = model.mesh().triangles().len();
    if triangles <= FEW {
        spending.pay(triangles * triangles / 2)?;
        return Some(few_triangles_intersect(model.mesh()));
    }
    spending.prepare(model, &[Fact::Tree])?;
    if spending.budget.is_unlimited() {
        return Some(!self_intersections(model).0.is_empty());
    }
    let found = spending.budget.silently(|budget| self_intersections_within(model, budget));
    spending.tests += found.outcome.work.volume_tests + found.outcome.work.primitive_tests;
    found.value.map(|pairs| !pairs.is_empty())
}

/// The length of the diagonal of the box.
fn extent(mesh: &Mesh) -> f64 {
    let corners = (0..mesh.triangles().len() as u32).flat_map(|t| mesh.corners(t));
    let [low, high] = bounds(corners);
    low.distance(high)
}

/// The lowest and the highest corner of the box around points.
fn bounds(points: impl IntoIterator<Item = DVec3>) -> [DVec3; 2] {
    let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    points.into_iter().fold(none, |[low, high], p| [low.min(p), high.max(p)])
}

/// A piece with its hull.
struct Shaped {
    /// The solid it comes from.
    solid: usize,
    /// Only its triangles where it is not cut again.
    piece: Piece,
    /// Of its hull.
    corners: Arc<[DVec3]>,
    /// Of the piece, and of the hull.
    volumes: [f64; 2],
    /// Whether some of its surface is inside its hull although the volumes agree.
    hollow: bool,
    /// No plane makes it better.
    settled: bool,
}

impl Shaped {
    fn excess(&self) -> f64 {
        self.volumes[1] - self.volumes[0]
    }
}

/// The excess squared: halving a ring leaves the sum of the volumes but brings the end nearer.
fn concavity(excess: f64) -> f64 {
    excess.max(0.0).powi(2)
}

/// What is still to be done after a cut.
#[derive(Debug, Clone, Copy)]
struct Merit {
    /// The weight of the notches that are left.
    notches: f64,
    /// The sum of [`concavity`].
    concavity: f64,
}

impl Merit {
    /// Fewer notches come first where they are few: each cut along one brings the exact parts nearer, also
    /// those that save no volume yet.
    fn is_better(&self, other: &Merit, by_notches: bool) -> bool {
        let less = |a: f64, b: f64| a < b * (1.0 - CUT_GAIN);
        if by_notches && less(self.notches, other.notches) {
            return true;
        }
        let worse = by_notches && less(other.notches, self.notches);
        !worse && less(self.concavity, other.concavity)
    }
}

/// What all cuts share.
struct Work<'m> {
    mesh: &'m Mesh,
    /// Whether its triangles look into the solid.
    inward: bool,
    notches: Vec<Notch>,
    slack: f64,
    /// Of the solid.
    volume: f64,
    /// An excess that needs no cut.
    enough: f64,
    /// Whether hollow pieces need cuts even where the excess does not.
    strict: bool,
}

impl Work<'_> {
    /// A piece with its hull, unless it is empty; `None` outside when the budget ended first.
    fn shaped(&self, piece: Piece, solid: usize, spending: &mut Spending<'_>) -> Option<Option<Shaped>> {
        let Some(hull) = piece.hull() else { return Some(None) };
        let volumes = [piece.volume(hull.centre()), hull.volume()];
        let hollow = volumes[1] - volumes[0] <= self.enough
            && self.is_hollow(piece.triangles(), &hull, |units| spending.pay(units))?;
        let corners = hull.corners().into();
        Some(Some(Shaped { solid, piece, corners, volumes, hollow, settled: false }))
    }

    fn needs_cut(&self, piece: &Shaped) -> bool {
        piece.excess() > self.enough || self.strict && piece.hollow
    }

    /// Cuts the worst piece until all are good or there are enough; `None` when the budget ended first.
    fn cut_all(&self, pieces: &mut Vec<Shaped>, most: usize, spending: &mut Spending<'_>) -> Option<()> {
        for piece in pieces.iter_mut() {
            self.forget(piece, false);
        }
        while pieces.len() < most {
            spending.tell(|| self.so_far(pieces));
            let open = pieces.iter().enumerate().filter(|(_, p)| !p.settled && self.needs_cut(p));
            let worst = open.max_by(|(_, p), (_, q)| p.excess().total_cmp(&q.excess()));
            let Some((worst, _)) = worst else { break };
            let room = most - pieces.len();
            match self.best_cut(&pieces[worst], room, spending)? {
                Some(mut sides) => {
                    sides.iter_mut().for_each(|side| self.forget(side, false));
                    let [low, high] = sides;
                    pieces[worst] = low;
                    pieces.push(high);
                }
                None => {
                    pieces[worst].settled = true;
                    self.forget(&mut pieces[worst], false);
                }
            }
        }
        pieces.iter_mut().for_each(|piece| self.forget(piece, true));
        Some(())
    }

    /// Frees what only cuts need, where none will be made.
    fn forget(&self, shaped: &mut Shaped, no_more: bool) {
        if no_more || shaped.settled || !self.needs_cut(shaped) {
            shaped.piece = Piece::finished(shaped.piece.triangles().to_vec());
        }
    }

    /// What is to be told when the budget ends now.
    fn so_far(&self, pieces: &[Shaped]) -> Covering {
        let parts: Vec<Part> = pieces.iter().map(|piece| Part::Corners(piece.corners.clone())).collect();
        // The corners of a part belong to the solid, and one of them is as near to any point of it as the centre of a
        // ball around them all is.
        let half = |piece: &Shaped| {
            let [low, high] = bounds(piece.corners.iter().copied());
            low.distance(high) / 2.0 * ROUND_UP
        };
        let deviation = pieces.iter().map(half).fold(0.0, f64::max);
        Decomposition {
            parts,
            volume: self.volume,
            excess: pieces.iter().map(|piece| piece.excess().max(0.0)).sum(),
            deviation,
            ended: DecomposeEnd::OutOfBudget,
            certainty: Certainty::Conservative { tolerance: deviation },
        }
    }

    /// What a piece falls apart into, or the two sides of the best cut if one makes anything better; there may be `room`
    /// more pieces. `None` outside when the budget ended first.
    fn best_cut(
        &self,
        whole: &Shaped,
        room: usize,
        spending: &mut Spending<'_>,
    ) -> Option<Option<[Shaped; 2]>> {
        let polygons = whole.piece.triangles().len();
        spending.pay(polygons)?;
        if let Some([low, high]) = whole.piece.fall_apart() {
            let (low, high) =
                (self.shaped(low, whole.solid, spending)?, self.shaped(high, whole.solid, spending)?);
            return Some(low.zip(high).map(|(low, high)| [low, high]));
        }
        let (open, planes) = cuts::candidates(&whole.piece, self.mesh, &self.notches, self.slack);
        let notches = || open.iter().map(|&k| &self.notches[k as usize]);
        // A notch needs one cut at most.
        let by_notches = open.len() <= room;
        let side = |k: usize, high: bool| {
            let plane = planes[k];
            whole.piece.below(&if high { plane.turned() } else { plane })
        };
        let merit = |k: usize| -> Option<Merit> {
            let mut merit = Merit { notches: 0.0, concavity: 0.0 };
            // One side after the other: both would take the memory of the piece again.
            for high in [false, true] {
                let side = side(k, high);
                merit.concavity += concavity(side.excess()?);
                if by_notches {
                    merit.notches += cuts::open_weight(notches(), self.mesh, &side, self.slack);
                }
            }
            Some(merit)
        };
        // Both sides of every cut would take many times the memory of the piece: the best cut is made again.
        let at_a_time = if spending.budget.is_unlimited() { planes.len() } else { PLANES_AT_A_TIME };
        let mut tried: Vec<Option<Merit>> = Vec::with_capacity(planes.len());
        while tried.len() < planes.len() {
            let (first, count) = (tried.len(), at_a_time.min(planes.len() - tried.len()));
            // Every plane that is tried cuts the whole piece and hulls both sides.
            spending.pay(count * polygons)?;
            let some = || parallel::map(count, |k| merit(first + k));
            // Every thread needs its own memory, which a small piece is not worth.
            tried.extend(if polygons < WORTH_SHARING { parallel::alone(some) } else { some() });
        }
        let weight = notches().map(|notch| notch.weight).sum();
        let mut now = Merit { notches: weight, concavity: concavity(whole.excess()) };
        let mut best = None;
        for (k, one) in tried.into_iter().enumerate() {
            // The first of equal ones.
            if let Some(merit) = one
                && merit.is_better(&now, by_notches)
            {
                (now, best) = (merit, Some(k));
            }
        }
        let Some(best) = best else { return Some(None) };
        spending.pay(polygons)?;
        let mut shaped = |high: bool| self.shaped(side(best, high), whole.solid, spending);
        let (low, high) = (shaped(false)?, shaped(true)?);
        Some(low.zip(high).map(|(low, high)| [low, high]))
    }
}
