//! The questions about primitives and hulls, and about them and meshes, asked of the library.

use glam::DVec3;
use impinge::narrow::convex::relation::point_in;
use impinge::narrow::dispatch::{PairMemory, distance_within, relation as relation_of, relation_in_budget};
use impinge::num::tolerance::TOUCH_DOUBT;
use impinge::{Certainty, Counters, Finish, Outcome, Pose, Relation, Separation, Shape};

use crate::answer::{Answer, Distance, Found, Points, word_of};
use crate::ask;
use crate::error::Failure;
use crate::settings::{Method, Settings};

/// A shape and where it is.
#[derive(Debug, Clone)]
pub struct PlacedShape {
    /// The shape.
    pub shape: Shape,
    /// Where it is.
    pub pose: Pose,
}

/// How the bodies lie to each other.
pub fn relation(a: &PlacedShape, b: &PlacedShape, settings: &Settings) -> Result<Answer, Failure> {
    refuse_brute(settings)?;
    let (mut memory, mut budget) = (PairMemory::default(), settings.limit.start());
    let (found, outcome) = relation_in_budget(&a.shape, &a.pose, &b.shape, &b.pose, &mut memory, &mut budget);
    Ok(Answer::new(Found::Relation { relation: found.map(word_of) }, &outcome))
}

/// The distance, signed for two convex shapes, with its points, features and normal.
pub fn distance(a: &PlacedShape, b: &PlacedShape, settings: &Settings) -> Result<Answer, Failure> {
    refuse_brute(settings)?;
    let (mut memory, mut budget) = (PairMemory::default(), settings.limit.start());
    let (found, outcome) = distance_within(&a.shape, &a.pose, &b.shape, &b.pose, &mut memory, &mut budget);
    // Half-spaces that overlap without end are no distance apart that a number could tell.
    let found = found.filter(|found| found.distance.is_finite()).map(|found| signed(found, a, b));
    let tolerance = match outcome.certainty {
        Certainty::Conservative { tolerance } if outcome.finish != Finish::Complete => Some(tolerance),
        _ => None,
    };
    let distance = Distance {
        distance: found.map(|f| f.distance),
        at_least: found.and_then(|f| tolerance.map(|t| f.distance - t)),
        points: found.map(|f| f.points.map(|p| p.to_array())),
        features: found.map(|f| f.features),
        normal: found.map(|f| f.normal).filter(|n| *n != DVec3::ZERO).map(|n| n.to_array()),
    };
    Ok(Answer::new(Found::Distance(distance), &outcome))
}

/// The distance with the sign of the exact relation, which rounding may have cost it: positive exactly when the
/// shapes are separated.
fn signed(found: Separation, a: &PlacedShape, b: &PlacedShape) -> Separation {
    let [Shape::Convex(_), Shape::Convex(_)] = [&a.shape, &b.shape] else { return found };
    let reach = found.points.iter().fold(0.0_f64, |most, p| p.abs().max_element().max(most));
    if found.distance.abs() > TOUCH_DOUBT * reach {
        return found;
    }
    let (how, certainty) = relation_of(&a.shape, &a.pose, &b.shape, &b.pose, &mut PairMemory::default());
    let distance = match (certainty, how) {
        (Certainty::Exact, Relation::Separated) => found.distance.max(f64::MIN_POSITIVE),
        (Certainty::Exact, _) => found.distance.min(0.0),
        _ => found.distance,
    };
    Separation { distance, ..found }
}

/// Signed distances of points from a convex shape.
pub fn points(body: &PlacedShape, points: &[[f64; 3]], settings: &Settings) -> Result<Answer, Failure> {
    refuse_brute(settings)?;
    ask::check_points(points)?;
    let Shape::Convex(shape) = &body.shape else {
        return Err(Failure(format!(
            "the distances of points from a {} are not answered",
            body.shape.kind()
        )));
    };
    let (mut found, mut finish, mut budget) = (Points::default(), Finish::Complete, settings.limit.start());
    for &p in points {
        if !budget.draw(1) {
            finish = Finish::OutOfBudget;
            break;
        }
        let (distance, inside) = point_in(shape, &body.pose, p.into());
        found.distances.push(distance);
        found.inside.push(inside);
    }
    let work = Counters { primitive_tests: found.distances.len() as u64, ..Counters::default() };
    Ok(Answer::new(Found::Points(found), &Outcome { certainty: Certainty::Exact, finish, work }))
}

fn refuse_brute(settings: &Settings) -> Result<(), Failure> {
    if settings.method == Method::Brute {
        let why = "method brute answers pairs and distance of two meshes; use auto or exact for other shapes";
        return Err(Failure::new(why));
    }
    Ok(())
}
