//! Where two bodies touch, overlap or come near, part by part: the question that a scene asks, and its answer by
//! any method that answers distances.
//!
//! The closest features come as numbers, so a distance that is 0 but for rounding says nothing about touching;
//! there the exact relation decides. It also decides about meshes, where one may lie inside the other without
//! their surfaces being near.

use smallvec::SmallVec;

use super::pair_memory::{PairMemory, Placement};
use super::unfinished::exact_relation;
use super::{PairKernel, Question, compound_pairs};
use crate::contact::Verdict;
use crate::model::Geometry;
use crate::narrow::convex::manifold::manifold_of;
use crate::narrow::shape_pair::ShapePair;
use crate::num::tolerance::TOUCH_DOUBT;
use crate::{Budget, Certainty, Contact, Counters, Finish, Outcome, Relation, Separation};

/// What is reported about where two bodies meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Contacts {
    /// Events only. Where `touch` is 0 nothing is measured: much cheaper for meshes.
    None,
    /// The closest or deepest features of each two parts within the margin.
    #[default]
    Deepest,
    /// Also the points of the contact manifold, with persistent contact ids.
    Manifold,
}

/// Up to which distance bodies are looked at, and what is reported about them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactOptions {
    /// Contacts are reported up to this distance (a length).
    pub margin: f64,
    /// Two bodies touch at or below this distance (a length, at most `margin`).
    pub touch: f64,
    /// What is reported.
    pub told: Contacts,
}

/// What was found about a pair of bodies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairContacts {
    /// Whether they touch.
    pub touching: bool,
    /// The closest or deepest features of every two parts within the margin, by ascending parts.
    pub parts: SmallVec<[PartContact; 1]>,
    /// The points of all manifolds, in the order of `parts`.
    pub points: Vec<Contact>,
}

/// The contact of one part of each body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartContact {
    /// The part of a and the part of b; 0 for a shape that is no compound.
    pub parts: [u32; 2],
    /// The closest or deepest features.
    pub contact: Contact,
    /// How certain that is.
    pub certainty: Certainty,
    /// Where its manifold begins and ends in [`PairContacts::points`].
    pub manifold: [u32; 2],
}

impl PairContacts {
    /// Forgets what was found, and keeps the room.
    pub fn clear(&mut self) {
        self.touching = false;
        self.parts.clear();
        self.points.clear();
    }

    /// Takes what was found about two parts, as far as it is to be reported.
    #[inline]
    pub(crate) fn add(
        &mut self,
        parts: [u32; 2],
        one: &ShapePair<'_>,
        found: &Measured,
        options: &ContactOptions,
    ) {
        self.touching |= found.touching;
        let Some((separation, certainty)) = found.separation else { return };
        if options.told == Contacts::None || !(separation.distance <= options.margin) {
            return;
        }
        let from = self.points.len() as u32;
        if options.told == Contacts::Manifold {
            add_manifold(&mut self.points, one, &separation, options.margin);
        }
        let manifold = [from, self.points.len() as u32];
        self.parts.push(PartContact { parts, contact: separation.into(), certainty, manifold });
    }
}

/// What was found about two shapes that are no compounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// Whether they touch.
    pub touching: bool,
    /// How far apart they are and how certain that is; `None` where only the relation was asked.
    pub separation: Option<(Separation, Certainty)>,
}

/// The contacts of a pair by the distances and relations of a method. `found` changes only when all is known; what
/// a budget leaves open is continued from the memory.
pub(super) fn by_distance<K: PairKernel + ?Sized>(
    kernel: &K,
    pair: &ShapePair<'_>,
    options: &ContactOptions,
    memory: &mut PairMemory,
    budget: &mut Budget,
    found: &mut PairContacts,
) -> Outcome {
    if let [Geometry::Compound(_), _] | [_, Geometry::Compound(_)] = pair.shapes {
        let memory = memory.parts.get_or_insert_default();
        return compound_pairs::contacts(kernel, pair, options, memory, budget, found);
    }
    let (measured, outcome) = measure(kernel, pair, options, true, memory, budget);
    if let Some(measured) = measured {
        found.clear();
        found.add([0; 2], pair, &measured, options);
    }
    outcome
}

/// Two shapes that are no compounds; `None` when the budget ended before. Whether they touch is found only where
/// it is `wanted`.
// Inlined: for spheres and boxes the copies of the answer can be seen in the cost of a frame.
#[inline(always)]
pub(crate) fn measure<K: PairKernel + ?Sized>(
    kernel: &K,
    pair: &ShapePair<'_>,
    options: &ContactOptions,
    wanted: bool,
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> (Option<Measured>, Outcome) {
    if options.told == Contacts::None && options.touch == 0.0 {
        if !wanted {
            return (Some(Measured { touching: false, separation: None }), NOTHING);
        }
        let (touching, outcome) = touch_by_relation(kernel, pair, memory, budget);
        return (touching.map(|touching| Measured { touching, separation: None }), outcome);
    }
    let (separation, mut outcome) = match memory.measured.take() {
        Some(known) if known.0.is_of(pair) => (known.1, Outcome { certainty: known.2, ..NOTHING }),
        _ => {
            let Verdict { value, outcome, .. } = kernel.distance(pair, memory, budget);
            match value {
                None if outcome.finish == Finish::OutOfBudget => return (None, outcome),
                // What has no answer is infinitely far.
                value => (value.unwrap_or(Separation::NONE), outcome),
            }
        }
    };
    let certainty = outcome.certainty;
    let touching = if wanted && is_open(pair, &separation, options.touch) {
        let (touching, related) = touch_by_relation(kernel, pair, memory, budget);
        outcome.work += related.work;
        outcome.finish = related.finish;
        let Some(touching) = touching else {
            memory.measured = Some(Box::new((Placement::of(pair), separation, certainty)));
            return (None, outcome);
        };
        touching
    } else {
        separation.distance <= options.touch
    };
    (Some(Measured { touching, separation: Some((separation, certainty)) }), outcome)
}

/// Nothing was done.
const NOTHING: Outcome = Outcome {
    certainty: Certainty::Exact,
    finish: Finish::Complete,
    work: Counters { volume_tests: 0, primitive_tests: 0, updates: 0 },
};

/// Whether the distance leaves open whether two shapes touch.
#[inline]
fn is_open(pair: &ShapePair<'_>, separation: &Separation, touch: f64) -> bool {
    let Separation { distance, points, .. } = separation;
    let size = points[0].abs().max(points[1].abs()).max_element();
    let doubtful = touch == 0.0 && distance.abs() <= TOUCH_DOUBT * size;
    doubtful || *distance > touch && matches!(pair.shapes, [Geometry::Mesh(_), _] | [_, Geometry::Mesh(_)])
}

/// Whether two shapes have a point in common: by the method's own relation if it has one, else by the exact one.
#[inline(never)]
fn touch_by_relation<K: PairKernel + ?Sized>(
    kernel: &K,
    pair: &ShapePair<'_>,
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> (Option<bool>, Outcome) {
    let Verdict { value, outcome, .. } = if kernel.accepts(&Question::Relation, pair.kinds()) {
        kernel.relation(pair, memory, budget)
    } else {
        exact_relation(pair, memory, budget)
    };
    match value {
        None if outcome.finish == Finish::OutOfBudget => (None, outcome),
        value => (Some(value.is_some_and(Relation::is_contact)), outcome),
    }
}

/// Appends the points on which two shapes lie on each other, in order around the manifold: of two convex shapes
/// that of their faces, else the closest features.
#[inline(never)]
fn add_manifold(points: &mut Vec<Contact>, pair: &ShapePair<'_>, separation: &Separation, margin: f64) {
    let ([Geometry::Convex(a), Geometry::Convex(b)], [pose_a, pose_b]) = (pair.shapes, pair.poses) else {
        points.push((*separation).into());
        return;
    };
    let size = separation.points[0].abs().max(separation.points[1].abs()).max_element();
    // Points that touch but for rounding belong to a manifold without a margin.
    let margin = margin.max(separation.distance) + TOUCH_DOUBT * size;
    let found = manifold_of(a, pose_a, b, pose_b, separation, margin);
    points.extend(found.points.iter().map(|point| {
        let (distance, normal) = (point.distance, found.normal);
        Contact::from(Separation { distance, points: point.points, features: point.features, normal })
    }));
}
