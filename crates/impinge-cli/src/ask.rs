//! The questions, asked of the library: the one place where commands and batches meet it.

use glam::DVec3;
use impinge::narrow::exact::brute;
use impinge::narrow::exact::closest_point::closest_points;
use impinge::narrow::exact::collide::{Posed, pairs_within_budget};
use impinge::narrow::exact::distance::DistanceSearch;
use impinge::narrow::exact::margin::MarginSearch;
use impinge::narrow::exact::relation::{RelationMemory, relation_within};
use impinge::narrow::exact::self_intersection::SelfIntersectionSearch;
use impinge::narrow::exact::signed_distance::signed_distances;
use impinge::num::tolerance::LARGEST_COORDINATE;
use impinge::{Certainty, Counters, Finish, Model, Outcome, Pose};

use crate::answer::{Answer, Distance, Found, Pairs, Points, word_of};
use crate::error::Failure;
use crate::settings::{Method, Settings};

/// A mesh and where it is.
#[derive(Debug, Clone, Copy)]
pub struct PlacedModel<'m> {
    /// The mesh.
    pub model: &'m Model,
    /// Where it is.
    pub pose: Pose,
}

impl<'m> PlacedModel<'m> {
    /// At its pose, or where the file puts it.
    pub fn new(model: &'m Model, pose: Option<Pose>) -> PlacedModel<'m> {
        PlacedModel { model, pose: pose.unwrap_or(Pose::IDENTITY) }
    }
}

/// Which method answers about these two, and why.
pub fn reason(settings: &Settings, a: &PlacedModel<'_>, b: &PlacedModel<'_>) -> String {
    let [m, n] = [a, b].map(|body| body.model.mesh().triangles().len() as u64);
    match settings.method {
        Method::Auto => {
            let tree = "trees and exact predicates";
            format!(
                "exact, chosen by auto: {tree} answer every question about meshes, brute force would test {} pairs",
                m * n
            )
        }
        Method::Exact => "exact, as named: trees and exact predicates".to_string(),
        Method::Brute => format!("brute, as named: all {} pairs by exact predicates", m * n),
        Method::Contact => "contact, as named: sphere trees, cubics, labels".to_string(),
    }
}

/// How the bodies lie to each other.
pub fn relation(a: &PlacedModel<'_>, b: &PlacedModel<'_>, settings: &Settings) -> Result<Answer, Failure> {
    refuse_brute(settings, "the relation")?;
    let (found, outcome) = relation_of(a, b, settings);
    Ok(Answer::new(Found::Relation { relation: found }, &outcome))
}

fn relation_of(
    a: &PlacedModel<'_>,
    b: &PlacedModel<'_>,
    settings: &Settings,
) -> (Option<&'static str>, Outcome) {
    let (mut memory, mut budget) = (RelationMemory::default(), settings.limit.start());
    let (found, outcome) = relation_within(a.model, &a.pose, b.model, &b.pose, &mut memory, &mut budget);
    (found.map(word_of), outcome)
}

/// The relation together with the pairs that meet, or that are within the margin.
pub fn check(
    a: &PlacedModel<'_>,
    b: &PlacedModel<'_>,
    margin: Option<f64>,
    settings: &Settings,
) -> Result<Answer, Failure> {
    // Pairs cost a budget of their own, so that a short one still yields as much of each as it buys.
    let exact = Settings { method: Method::Exact, ..*settings };
    let (relation, first) = relation_of(a, b, &exact);
    let (pairs, second) = pairs_of(a, b, margin, settings);
    let finish = if first.finish == Finish::Complete { second.finish } else { first.finish };
    let mut work = first.work;
    work += second.work;
    let outcome = Outcome { certainty: second.certainty, finish, work };
    Ok(Answer::new(Found::Check { relation, pairs }, &outcome))
}

/// The pairs of triangles that meet, or that are within the margin.
pub fn pairs(
    a: &PlacedModel<'_>,
    b: &PlacedModel<'_>,
    margin: Option<f64>,
    settings: &Settings,
) -> Result<Answer, Failure> {
    let (pairs, outcome) = pairs_of(a, b, margin, settings);
    Ok(Answer::new(Found::Pairs(pairs), &outcome))
}

fn pairs_of(
    a: &PlacedModel<'_>,
    b: &PlacedModel<'_>,
    margin: Option<f64>,
    settings: &Settings,
) -> (Pairs, Outcome) {
    let mut budget = settings.limit.start();
    let (pairs, outcome) = match (settings.method, margin) {
        (Method::Brute, None) => brute::pairs(a.model, &a.pose, b.model, &b.pose, &mut budget),
        (Method::Brute, Some(d)) => brute::near_pairs(a.model, &a.pose, b.model, &b.pose, d, &mut budget),
        (_, None) => {
            pairs_within_budget(Posed::new(a.model, a.pose), Posed::new(b.model, b.pose), &mut budget)
        }
        (_, Some(d)) => {
            let found = MarginSearch::new(a.model, &a.pose, b.model, &b.pose, d).advance(&mut budget);
            (found.pairs, found.outcome)
        }
    };
    (Pairs { count: pairs.len(), margin, pairs }, outcome)
}

/// The triangles that meet, for a picture.
pub fn meeting(a: &PlacedModel<'_>, b: &PlacedModel<'_>) -> Vec<[u32; 2]> {
    pairs_of(a, b, None, &Settings::default()).0.pairs
}

/// The smallest distance of the surfaces, with its points.
pub fn distance(a: &PlacedModel<'_>, b: &PlacedModel<'_>, settings: &Settings) -> Result<Answer, Failure> {
    let mut budget = settings.limit.start();
    let found = match settings.method {
        Method::Brute => brute::distance(a.model, &a.pose, b.model, &b.pose, &mut budget),
        Method::Auto | Method::Exact | Method::Contact => {
            DistanceSearch::new(a.model, &a.pose, b.model, &b.pose).advance(&mut budget)
        }
    };
    // Before anything was measured the distance is infinite, which is no answer.
    let known = found.distance.is_finite();
    let normal = (found.points[1] - found.points[0]).try_normalize();
    let distance = Distance {
        distance: known.then_some(found.distance),
        at_least: (found.outcome.finish != Finish::Complete).then_some(found.at_least),
        points: known.then(|| found.points.map(|p| p.to_array())),
        features: known.then_some(found.features),
        normal: normal.filter(|_| known && found.distance > 0.0).map(|n| n.to_array()),
    };
    Ok(Answer::new(Found::Distance(distance), &found.outcome))
}

/// Points that are measured before the budget is asked again; it pays one unit for each.
const BLOCK: usize = 1024;

/// Distances of points in the world from the surface, signed where it is closed; those measured so far
/// when the budget ends.
pub fn points(body: &PlacedModel<'_>, points: &[[f64; 3]], settings: &Settings) -> Result<Answer, Failure> {
    refuse_brute(settings, "the distances of points")?;
    check_points(points)?;
    let points: Vec<DVec3> = points.iter().copied().map(DVec3::from).collect();
    let mut budget = settings.limit.start();
    let block = if budget.is_unlimited() { points.len().max(1) } else { BLOCK };
    let (mut found, mut finish) = (Points::default(), Finish::Complete);
    for block in points.chunks(block) {
        if !budget.draw(block.len() as u64) {
            finish = Finish::OutOfBudget;
            break;
        }
        measure(body, block, &mut found);
    }
    let outcome = Outcome { certainty: Certainty::Exact, finish, work: Counters::default() };
    Ok(Answer::new(Found::Points(found), &outcome))
}

/// Refuses points that are nowhere.
pub fn check_points(points: &[[f64; 3]]) -> Result<(), Failure> {
    for (i, p) in points.iter().enumerate() {
        // The comparison is false for NaN.
        if let Some(x) = p.iter().find(|x| !(x.abs() <= LARGEST_COORDINATE)) {
            return Err(Failure(format!("element {i}: {x} is not finite or beyond 1e60")));
        }
    }
    Ok(())
}

/// Only a closed surface has an inside.
fn measure(body: &PlacedModel<'_>, points: &[DVec3], found: &mut Points) {
    if body.model.topology().is_closed() {
        let signed = signed_distances(body.model, &body.pose, points);
        found.distances.extend(signed.iter().map(|s| s.distance));
        found.inside.extend(signed.iter().map(|s| s.inside));
    } else {
        found.distances.extend(closest_points(body.model, &body.pose, points).iter().map(|c| c.distance));
        found.inside.resize(found.distances.len(), false);
    }
}

/// Refuses the method that knows no answer to this question.
pub fn refuse_brute(settings: &Settings, what: &str) -> Result<(), Failure> {
    if settings.method == Method::Brute {
        let why =
            format!("method brute answers pairs and distance of two meshes, not {what}; use auto or exact");
        return Err(Failure(why));
    }
    Ok(())
}

/// The pairs of triangles in which a mesh meets itself.
pub fn self_intersections(model: &Model, settings: &Settings) -> Result<Answer, Failure> {
    refuse_brute(settings, "self-intersections")?;
    let mut search = SelfIntersectionSearch::new(model);
    let outcome = search.advance(&mut settings.limit.start()).outcome;
    let pairs = search.pairs().to_vec();
    Ok(Answer::new(Found::Pairs(Pairs { count: pairs.len(), margin: None, pairs }), &outcome))
}
