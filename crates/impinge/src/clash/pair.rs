//! One pair of parts: whether and how they clash.

use glam::DVec3;

use super::nested::nested_gap;
use super::{Clash, ClashKind, Part};
use crate::bound::Aabb;
use crate::budget::task::Task;
use crate::contact::{Contact, Separation, Volume};
use crate::model::{Fact, Placed};
use crate::narrow::contacts::separate_by_guesses;
use crate::narrow::exact::relation::have_same_surface;
use crate::narrow::image::PIXELS;
use crate::narrow::route::Answer;
use crate::narrow::shape_pair::ShapePair;
use crate::num::parallel;
use crate::query::Query;
use crate::{Budget, Certainty, Counters, Error, Memory, Relation, Shape, VolumeOptions};

/// What is known of a pair of parts.
#[derive(Debug, Clone)]
pub(super) enum Pair {
    /// They are not in each other's way.
    Clear,
    /// They clash, and whether depth, separation and volume were measured.
    Clash(Box<Clash>, bool),
}

/// How far the questions about a pair have come: what was answered, and the search that goes on.
#[derive(Debug, Default)]
pub(super) struct Open {
    relation: Option<(Relation, Certainty)>,
    is_same: Option<bool>,
    nearest: Option<(Separation, Certainty)>,
    /// Whether each of them has a volume.
    closed: [Option<bool>; 2],
    /// The inner `None` where it was refused; so for the others.
    volume: Option<Option<(Volume, Certainty)>>,
    contacts: Option<Option<Vec<Contact>>>,
    guess: Option<Option<DVec3>>,
    separate: Option<Option<(DVec3, f64)>>,
    /// The search for the first of them that is not answered.
    memory: Option<Memory>,
    task: Option<Task>,
    /// What the questions of this call have cost.
    pub work: Counters,
}

impl Open {
    /// Asks a question about the pair, or goes on with it; `None` when the budget ended first.
    fn ask<T>(
        &mut self,
        budget: &mut Budget,
        question: impl FnOnce(&mut Query<'_>) -> Result<Answer<T>, Error>,
    ) -> Result<Option<T>, Error> {
        let begins = self.memory.is_none();
        let memory =
            if budget.is_unlimited() && begins { None } else { Some(self.memory.get_or_insert_default()) };
        let mut query = Query { budget: std::mem::take(budget), memory, ..Query::default() };
        let answer = question(&mut query);
        *budget = query.budget;
        self.work += answer.as_ref().map_or_else(|_| Counters::default(), |answer| answer.work);
        let found = answer.map(|answer| answer.value);
        // What one question leaves must not be seen in the answer to the next.
        if !matches!(found, Ok(None)) {
            self.memory = None;
        }
        found
    }

    /// As [`Open::ask`] for what may have no answer: the inner `None` then.
    fn ask_if_answered<T>(
        &mut self,
        budget: &mut Budget,
        question: impl FnOnce(&mut Query<'_>) -> Result<Answer<T>, Error>,
    ) -> Option<Option<T>> {
        match self.ask(budget, question) {
            Ok(found) => found.map(Some),
            Err(_) => Some(None),
        }
    }

    /// Runs something that cannot keep its place, under a limited budget as a task; `None` when the budget ended first.
    fn run<T: Send + 'static>(
        &mut self,
        budget: &mut Budget,
        run: impl Fn(&mut Budget) -> T + Clone + Send + 'static,
    ) -> Option<T> {
        if self.task.is_none() {
            if budget.is_unlimited() {
                return Some(run(budget));
            }
            let own = run.clone();
            self.task = Task::start(move |budget| parallel::alone(|| own(budget)));
        }
        // Without threads it runs here.
        let Some(task) = &mut self.task else { return Some(run(budget)) };
        if budget.is_spent() {
            return None;
        }
        let found = task.advance::<T, ()>(budget).answer;
        if found.is_some() {
            self.task = None;
        }
        found
    }
}

/// What was found together with what it is worth.
fn with_certainty<T>(answer: Answer<T>) -> Answer<(T, Certainty)> {
    let certainty = answer.certainty;
    answer.map(|found| (found, certainty))
}

/// Whether and how two parts with these boxes clash, without the measures of those that overlap; `None` when the budget
/// ended first.
pub(super) fn classify(
    parts: &[Part],
    bounds: &[Aabb],
    pair: [usize; 2],
    clearance: f64,
    open: &mut Open,
    budget: &mut Budget,
) -> Result<Option<Pair>, Error> {
    let [a, b] = pair.map(|k| parts[k].placed());
    if open.relation.is_none() {
        open.relation = open.ask(budget, |query| Ok(with_certainty(query.relation(a, b)?)))?;
    }
    let Some((relation, certainty)) = open.relation else { return Ok(None) };
    if relation == Relation::Separated && clearance == 0.0 {
        return Ok(Some(Pair::Clear));
    }
    // The same points have the same box.
    if relation == Relation::Intersecting && bounds[pair[0]] == bounds[pair[1]] && open.is_same.is_none() {
        open.is_same = is_same(a, b, open, budget);
        if open.is_same.is_none() {
            return Ok(None);
        }
    }
    let kind = match relation {
        Relation::Separated => ClashKind::Clearance,
        Relation::Touching => ClashKind::Touching,
        Relation::Intersecting if open.is_same == Some(true) => ClashKind::Duplicate,
        Relation::Intersecting => ClashKind::Hard,
        Relation::AInsideB | Relation::BInsideA => ClashKind::Inside,
    };
    if open.nearest.is_none() {
        open.nearest = open.ask(budget, |query| Ok(with_certainty(query.distance(a, b)?)))?;
    }
    let Some((nearest, measured)) = open.nearest else { return Ok(None) };
    let certainty = certainty.lesser(measured);
    if kind == ClashKind::Clearance && nearest.distance > clearance {
        return Ok(Some(Pair::Clear));
    }
    // Signed between convex shapes.
    let nested = match relation {
        Relation::AInsideB if nearest.distance < 0.0 => nested_gap(a, b),
        Relation::BInsideA if nearest.distance < 0.0 => nested_gap(b, a),
        _ => None,
    };
    let (gap, points) = nested.unwrap_or((nearest.distance.max(0.0), nearest.points));
    let (depth, translation, bounds) = match kind.is_serious() {
        true => (None, None, common(pair.map(|k| bounds[k]))),
        false => (Some(0.0 - gap), Some(DVec3::ZERO), Aabb::around_points(&points)),
    };
    // The middle between a nested part and the one around it lies outside of the inner box.
    let at = points[0].midpoint(points[1]).clamp(bounds.low, bounds.high);
    let separate = translation.map(|_| 0.0);
    let clash = Clash {
        parts: pair,
        kind,
        gap,
        certainty,
        depth,
        separate,
        translation,
        volume: None,
        volume_error: None,
        volume_certainty: None,
        at,
        bounds,
    };
    Ok(Some(Pair::Clash(Box::new(clash), !kind.is_serious())))
}

/// Measures parts that overlap: volume, penetration depth and separation; of a duplicate, which is to be removed and
/// not to be moved, the volume alone. What is refused stays `None`. Returns whether the budget lasted.
pub(super) fn measure(parts: &[Part], clash: &mut Clash, open: &mut Open, budget: &mut Budget) -> bool {
    measured(parts, clash, open, budget).is_some()
}

fn measured(parts: &[Part], clash: &mut Clash, open: &mut Open, budget: &mut Budget) -> Option<()> {
    let [a, b] = clash.parts.map(|k| parts[k].placed());
    if has_volume(a.shape(), 0, open, budget)? && has_volume(b.shape(), 1, open, budget)? {
        if open.volume.is_none() {
            open.volume = open.ask_if_answered(budget, |query| {
                // Left open, images would become finer until the budget of all pairs has ended.
                let options = VolumeOptions { resolution: Some(PIXELS), ..VolumeOptions::default() };
                Ok(with_certainty(query.volume(a, b, options)?))
            });
        }
        if let Some((found, certainty)) = open.volume.as_ref()? {
            clash.volume = Some(found.volume);
            clash.volume_error = Some(found.error);
            clash.volume_certainty = Some(*certainty);
            clash.at = found.regions.first().map_or(clash.at, |region| region.region.centroid);
        }
    }
    if clash.kind == ClashKind::Duplicate {
        return Some(());
    }
    if open.contacts.is_none() {
        open.contacts = open.ask_if_answered(budget, |query| query.contacts(a, b, 0.0));
    }
    let contacts = open.contacts.as_ref()?.as_deref();
    clash.depth = contacts.map(|all| all.iter().map(|contact| contact.depth).fold(0.0, f64::max));
    let ways = contacts.unwrap_or_default().iter().map(|contact| contact.normal * contact.depth).collect();
    if open.guess.is_none() {
        open.guess = guess([a, b], ways, open, budget);
    }
    let found = match open.guess? {
        Some(way) => Some((way, way.length())),
        // Some shapes have no hull.
        None => {
            if open.separate.is_none() {
                let found = open.ask_if_answered(budget, |query| query.separate(a, b));
                open.separate = found.map(|found| found.map(|apart| (apart.translation, apart.length)));
            }
            open.separate?
        }
    };
    (clash.translation, clash.separate) = found.unzip();
    Some(())
}

/// What two boxes have in common; of boxes that rounding keeps apart what lies between them.
fn common([a, b]: [Aabb; 2]) -> Aabb {
    let (low, high) = (a.low.max(b.low), a.high.min(b.high));
    Aabb { low: low.min(high), high: low.max(high) }
}

/// Whether the volume of an intersection with part `k` of a pair is defined and measured: exactly, or where it overlaps
/// itself by images.
fn has_volume(shape: &Shape, k: usize, open: &mut Open, budget: &mut Budget) -> Option<bool> {
    if shape.as_mesh().is_none() {
        return Some(false);
    }
    if open.closed[k].is_none() {
        let found = open.ask_if_answered(budget, |query| query.is_closed(shape))?;
        open.closed[k] = Some(found.unwrap_or(false));
    }
    open.closed[k]
}

/// Whether two bodies are meshes with the same surface; `None` when the budget ended first.
fn is_same(a: Placed<'_>, b: Placed<'_>, open: &mut Open, budget: &mut Budget) -> Option<bool> {
    let (Some(m), Some(n)) = (a.geometry().model(), b.geometry().model()) else { return Some(false) };
    let (m, n, pose_a, pose_b) = (m.clone(), n.clone(), a.pose(), b.pose());
    open.run(budget, move |budget| have_same_surface(&m, &pose_a, &n, &pose_b, budget))?
}

/// The shortest of the ways out that contacts suggest, or the one of the hulls, the inner `None` where there is none;
/// the outer one when the budget ended first.
fn guess(
    bodies: [Placed<'_>; 2],
    ways: Vec<DVec3>,
    open: &mut Open,
    budget: &mut Budget,
) -> Option<Option<DVec3>> {
    let (shapes, poses) = (bodies.map(|body| body.shape().clone()), bodies.map(|body| body.pose()));
    open.run(budget, move |budget| {
        for model in shapes.iter().filter_map(|shape| shape.geometry().model()) {
            model.prepare(Fact::Hull, budget);
        }
        let pair = ShapePair::new([shapes[0].geometry(), shapes[1].geometry()], [&poses[0], &poses[1]]);
        separate_by_guesses(&pair, ways.iter().copied(), budget)
    })
}
