//! Convex decomposition: convex parts that together cover a closed mesh.
//!
//! A solid is cut by planes until every piece equals its convex hull, or until there are enough pieces. Each
//! time the piece whose hull exceeds it most is cut by the plane that leaves the fewest notches, or the least
//! excess where they are many; the planes that are tried come from notches, as in Chazelle, "Convex partitions of
//! polyhedra: a lower bound and worst-case optimal algorithm", 1984, and, as in Lien and Amato, "Approximate
//! convex decomposition of polyhedra", 2007, the work stops where what is left of a concavity is small. We leave
//! both in measuring concavity as volume, and we put parts together again whose common hull adds nothing.
//!
//! The parts always cover the solid. Where the cuts came through, they are the solid; otherwise the answer
//! says by how much they stand out, as a volume and as a length.

mod cuts;
mod deviation;
mod piece;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;

use glam::DVec3;

use self::cuts::Notch;
use self::piece::Piece;
use crate::Shape;
use crate::contact::Verdict;
use crate::model::{Fact, Model};
use crate::narrow::exact::self_intersection::{self_intersections, self_intersections_within};
use crate::num::parallel;
use crate::num::tolerance::{CUT_GAIN, CUT_SLACK, ROUND_UP, VOLUME_ROUNDING};
use crate::shape::Polytope;
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
/// let stairs = Model::from(procedural::stairs(3, 1.0, 2.0, 1.0)?);
/// let found = decompose(&stairs, &DecomposeOptions::DEFAULT)?;
/// assert_eq!(found.parts.len(), 3);
/// assert_eq!(found.certainty, Certainty::Exact);
/// # Ok::<(), impinge::Error>(())
/// ```
///
/// # Errors
/// A mesh that is not closed or encloses nothing, no parts allowed, or a tolerance that is negative or not finite.
pub fn decompose(model: &Model, options: &DecomposeOptions) -> Result<Decomposition<Arc<Polytope>>, Error> {
    let found = decompose_within(model, options, &mut Budget::UNLIMITED.clone())?.value;
    // An unlimited budget does not run out.
    found.ok_or(Error::Argument { name: "budget", reason: "it ended".into() })
}

/// As [`decompose`], as far as a budget goes: when it ends after a cut, the parts so far are told.
///
/// # Errors
/// As [`decompose`].
pub fn decompose_within(
    model: &Model,
    options: &DecomposeOptions,
    budget: &mut Budget,
) -> Result<Verdict<Covering>, Error> {
    let DecomposeOptions { most_parts, tolerance } = *options;
    if most_parts == 0 {
        return Err(Error::Argument { name: "most_parts", reason: "there must be one at least".into() });
    }
    if !(tolerance >= 0.0 && tolerance.is_finite()) {
        let reason = format!("{tolerance} is negative or not finite");
        return Err(Error::Argument { name: "tolerance", reason });
    }
    let mut spending = Spending { budget, tests: 0, so_far: None };
    Ok(match covered(model, options, &mut spending)? {
        Some(found) => {
            let outcome = outcome(found.certainty, Finish::Complete, spending.tests);
            Verdict::new(Some(found), outcome)
        }
        None => spending.open().unwrap_or_else(Verdict::out_of_budget),
    })
}

/// The parts while they may be told more than once.
pub(crate) type Covering = Decomposition<Arc<Polytope>>;

/// Planes that are tried before a budget is asked again.
const PLANES_AT_A_TIME: usize = 4;

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
    if spending.prepare(model, &[Fact::Topology]).is_none() || spending.pay(4 * triangles).is_none() {
        return Ok(None);
    }
    let solids = solids(model)?;
    let size = extent(model.mesh());
    let volume: f64 = solids.iter().map(|part| part.volume).sum();
    let inward = solids.iter().all(|solid| solid.inward);
    let work = Work {
        mesh: model.mesh(),
        inward,
        notches: cuts::notches(model, inward, CUT_SLACK * size),
        slack: CUT_SLACK * size,
        volume,
        enough: volume * options.tolerance.max(VOLUME_ROUNDING),
        strict: options.tolerance == 0.0,
    };
    let mut pieces = Vec::new();
    for (number, solid) in solids.into_iter().enumerate() {
        if spending.pay(solid.piece.triangles().len()).is_none() {
            return Ok(None);
        }
        pieces.extend(work.shaped(solid.piece, number));
    }
    if work.cut_all(&mut pieces, options.most_parts, spending).is_none() {
        return Ok(None);
    }
    let ended = match pieces.iter().any(|piece| work.needs_cut(piece)) {
        false => DecomposeEnd::Tolerance,
        true if pieces.len() >= options.most_parts => DecomposeEnd::MostParts,
        true => DecomposeEnd::NoBetterCut,
    };
    spending.tell(|| work.so_far(&pieces));
    if work.join_all(&mut pieces, spending)?.is_none() {
        return Ok(None);
    }
    spending.tell(|| work.so_far(&pieces));
    // A small pit hardly has a volume.
    let hollow = pieces.iter().any(|piece| piece.hollow);
    let excess = pieces.iter().map(|piece| piece.excess().max(0.0)).sum::<f64>();
    // Those that may stand out far are measured first, so that the others are soon seen not to.
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by(|&p, &q| pieces[q].excess().total_cmp(&pieces[p].excess()));
    let parts: Vec<Arc<Polytope>> = pieces.into_iter().map(|piece| piece.hull).collect();
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
        let found = deviation::deviation(part, model, resolution, deviation, |points| spending.pay(points));
        let Some(found) = found else { return Ok(None) };
        deviation = found;
    }
    let certainty = if exact { Certainty::Exact } else { Certainty::Conservative { tolerance: deviation } };
    Ok(Some(Decomposition { parts, volume, excess, deviation, ended, certainty }))
}

/// Whether the surface meets itself; `None` when the budget ended first.
fn meets_itself(model: &Model, spending: &mut Spending<'_>) -> Option<bool> {
    spending.prepare(model, &[Fact::Tree])?;
    if spending.budget.is_unlimited() {
        return Some(!self_intersections(model).0.is_empty());
    }
    let found = spending.budget.silently(|budget| self_intersections_within(model, budget));
    spending.tests += found.outcome.work.volume_tests + found.outcome.work.primitive_tests;
    found.value.map(|pairs| !pairs.is_empty())
}

/// A solid of its own.
struct Solid {
    piece: Piece,
    volume: f64,
    /// Whether its triangles look into it.
    inward: bool,
}

/// The components, which may overlap, as solids of their own; all of them as one where some are cavities.
fn solids(model: &Model) -> Result<Vec<Solid>, Error> {
    let (mesh, topology) = (model.mesh(), model.topology());
    if !topology.is_closed() {
        return Err(Error::Argument { name: "mesh", reason: "it is not closed, so it has no inside".into() });
    }
    let mut surfaces = vec![Vec::new(); topology.components().len()];
    for triangle in 0..mesh.triangles().len() as u32 {
        surfaces[topology.component_of()[triangle as usize] as usize].push(triangle);
    }
    let origin = mesh.vertices()[mesh.triangles()[0][0] as usize];
    let rounding = VOLUME_ROUNDING * extent(mesh).powi(3);
    let spanned = |&triangle: &u32| {
        let [a, b, c] = mesh.corners(triangle).map(|p| p - origin);
        a.cross(b).dot(c)
    };
    let volume = |surface: &Vec<u32>| surface.iter().map(spanned).sum::<f64>() / 6.0;
    let volumes: Vec<f64> = surfaces.iter().map(volume).collect();
    let one_way = volumes.iter().all(|&v| v >= -rounding) || volumes.iter().all(|&v| v <= rounding);
    if !one_way {
        surfaces = vec![surfaces.concat()];
    }
    let mut solids = Vec::new();
    for surface in surfaces {
        let signed = volume(&surface);
        // Flat components enclose nothing.
        if signed.abs() <= rounding {
            continue;
        }
        let mut piece = Piece::whole(mesh, surface);
        if signed < 0.0 {
            piece.turn();
        }
        solids.push(Solid { piece, volume: signed.abs(), inward: signed < 0.0 });
    }
    if solids.is_empty() {
        return Err(Error::Argument { name: "mesh", reason: "it encloses no volume".into() });
    }
    Ok(solids)
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
    hull: Arc<Polytope>,
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
    fn shaped(&self, piece: Piece, solid: usize) -> Option<Shaped> {
        let hull = Arc::new(piece.hull()?);
        let volumes = [piece.volume(hull.centre()), hull.volume()];
        let hollow = volumes[1] - volumes[0] <= self.enough && self.is_hollow(piece.triangles(), &hull);
        Some(Shaped { solid, piece, hull, volumes, hollow, settled: false })
    }

    fn needs_cut(&self, piece: &Shaped) -> bool {
        piece.excess() > self.enough || self.strict && piece.hollow
    }

    /// Whether the plane of some triangle of a piece has a corner of the hull beyond it.
    fn is_hollow(&self, triangles: &[u32], hull: &Polytope) -> bool {
        let mut at = 0;
        triangles.iter().any(|&triangle| {
            let [a, b, c] = self.mesh.corners(triangle);
            let across = (b - a).cross(c - a);
            let (area, longest) = (across.length(), (b - a).length().max((c - a).length()));
            // The normal of a sliver says little, that of a triangle without area nothing.
            let doubt = self.slack + f64::EPSILON * longest * longest / area * (8.0 * hull.reach());
            let outward = if self.inward { -across / area } else { across / area };
            at = hull.support(outward, at);
            // False for NaN.
            outward.dot(hull.vertices()[at as usize] - a) > doubt
        })
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
        let parts: Vec<Arc<Polytope>> = pieces.iter().map(|piece| piece.hull.clone()).collect();
        // The corners of a part belong to the solid, and one of them is as near to any point of it as the centre of a
        // ball around them all is.
        let half = |part: &Arc<Polytope>| {
            let [low, high] = bounds(part.vertices().iter().copied());
            low.distance(high) / 2.0 * ROUND_UP
        };
        let deviation = parts.iter().map(half).fold(0.0, f64::max);
        Decomposition {
            parts,
            volume: self.volume,
            excess: pieces.iter().map(|piece| piece.excess().max(0.0)).sum(),
            deviation,
            ended: DecomposeEnd::OutOfBudget,
            certainty: Certainty::Conservative { tolerance: deviation },
        }
    }

    /// The two sides of the best cut, if one makes anything better; there may be `room` more pieces. `None` outside when
    /// the budget ended first.
    fn best_cut(
        &self,
        whole: &Shaped,
        room: usize,
        spending: &mut Spending<'_>,
    ) -> Option<Option<[Shaped; 2]>> {
        let (notches, planes) = cuts::candidates(&whole.piece, self.mesh, &self.notches, self.slack);
        // A notch needs one cut at most.
        let by_notches = notches.len() <= room;
        let sides = |k: usize| [planes[k], planes[k].turned()].map(|plane| whole.piece.below(&plane));
        let merit = |sides: [Piece; 2]| -> Option<Merit> {
            let [low, high] = [sides[0].excess()?, sides[1].excess()?];
            let weight = |side: &Piece| cuts::open_weight(&notches, self.mesh, side, self.slack);
            let notches = if by_notches { sides.iter().map(weight).sum() } else { 0.0 };
            Some(Merit { notches, concavity: concavity(low) + concavity(high) })
        };
        // Both sides of every cut would take many times the memory of the piece: the best cut is made again.
        let at_a_time = if spending.budget.is_unlimited() { planes.len() } else { PLANES_AT_A_TIME };
        let polygons = whole.piece.triangles().len();
        let mut tried: Vec<Option<Merit>> = Vec::with_capacity(planes.len());
        while tried.len() < planes.len() {
            let (first, count) = (tried.len(), at_a_time.min(planes.len() - tried.len()));
            // Every plane that is tried cuts the whole piece and hulls both sides.
            spending.pay(count * polygons)?;
            let some = || parallel::map(count, |k| merit(sides(first + k)));
            // Every thread needs its own memory, which a small piece is not worth.
            tried.extend(if polygons < WORTH_SHARING { parallel::alone(some) } else { some() });
        }
        let weight = notches.iter().map(|notch| notch.weight).sum();
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
        let shaped = |k: usize| {
            let [low, high] = sides(k);
            Some([self.shaped(low, whole.solid)?, self.shaped(high, whole.solid)?])
        };
        Some(best.and_then(shaped))
    }

    /// Puts pieces together whose common hull is good enough.
    fn join_all(&self, pieces: &mut Vec<Shaped>, spending: &mut Spending<'_>) -> Result<Option<()>, Error> {
        // A piece that has grown gets a new name, so that only its pairs are tried again.
        let mut names: Vec<u32> = (0..pieces.len() as u32).collect();
        let mut fresh = names.len() as u32;
        let mut passed = HashSet::new();
        let mut first = 0;
        while first < pieces.len() {
            let mut joined = false;
            for second in first + 1..pieces.len() {
                if !passed.insert([names[first], names[second]]) {
                    continue;
                }
                let corners = [first, second].map(|k| pieces[k].hull.vertices().len());
                if spending.pay(corners[0] + corners[1]).is_none() {
                    return Ok(None);
                }
                if let Some(both) = self.joined(&pieces[first], &pieces[second])? {
                    pieces[first] = both;
                    pieces.remove(second);
                    names[first] = fresh;
                    names.remove(second);
                    fresh += 1;
                    joined = true;
                    break;
                }
            }
            // What has grown may now fit to one that was passed before.
            first = if joined { 0 } else { first + 1 };
        }
        Ok(Some(()))
    }

    /// Whether the boxes around two parts do not meet.
    fn are_apart(&self, a: &Polytope, b: &Polytope) -> bool {
        let [a, b] = [a, b].map(|part| bounds(part.vertices().iter().copied()));
        (a[0] - b[1]).max(b[0] - a[1]).max_element() > self.slack
    }

    fn joined(&self, a: &Shaped, b: &Shaped) -> Result<Option<Shaped>, Error> {
        // Solids may overlap; then the volumes of two say nothing about that of both.
        if a.solid != b.solid {
            return Ok(None);
        }
        // A common hull fills a gap.
        if self.strict && self.are_apart(&a.hull, &b.hull) {
            return Ok(None);
        }
        let points = [a.hull.vertices(), b.hull.vertices()].concat();
        let hull = Polytope::hull(&points)?;
        let volumes = [a.volumes[0] + b.volumes[0], hull.volume()];
        let excess = volumes[1] - volumes[0];
        if excess > self.enough + a.excess().max(0.0) + b.excess().max(0.0) {
            return Ok(None);
        }
        let triangles = [a.piece.triangles(), b.piece.triangles()].concat();
        let hollow = self.is_hollow(&triangles, &hull);
        if self.strict && hollow {
            return Ok(None);
        }
        let (piece, hull) = (Piece::finished(triangles), Arc::new(hull));
        Ok(Some(Shaped { solid: a.solid, piece, hull, volumes, hollow, settled: true }))
    }
}
