//! Where two bodies touch, overlap or come near, part by part: the question that a scene asks, and its answer by
//! any method that answers distances.
//!
//! The closest features come as numbers, so a distance that is 0 but for rounding says nothing about touching;
//! there the exact relation decides. It also decides about meshes, where one may lie inside the other without
//! their surfaces being near.

use glam::DVec3;
use smallvec::SmallVec;

use super::pair_memory::{PairMemory, Placement};
use super::unfinished::{Kernel, ask, exact_relation};
use super::{PairKernel, Question, compound_pairs};
use crate::contact::Verdict;
use crate::model::Geometry;
use crate::narrow::contacts::contact_patch::add_patch;
use crate::narrow::contacts::{Wanted, contacts};
use crate::narrow::shape_pair::ShapePair;
use crate::num::tolerance::TOUCH_DOUBT;
use crate::{Budget, Certainty, Contact, Counters, Finish, Outcome, Relation, Separation};

/// What is reported about where two bodies meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Contacts {
    /// Events only. Where `touch` is 0 nothing is measured: much cheaper for meshes.
    None,
    /// The closest or deepest features of each two parts within the margin. Two meshes that overlap or lie one within the
    /// other, and a convex shape whose middle has sunk into a solid mesh, have distance 0 and no normal here: their depth
    /// takes a search. The points of nested ones are where their surfaces are nearest.
    #[default]
    Deepest,
    /// Also the points of the contact manifold, with persistent contact ids; everything that overlaps has a depth.
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
    /// Whether open meshes push along the normals of their triangles only.
    pub one_sided: bool,
    /// Whether it is asked if they touch; else `PairContacts::touching` tells nothing, and no relation is asked for it.
    pub asks_touch: bool,
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
    /// Whether they touch is known, and how deep or along which normal is not: the budget ended in between.
    pub is_provisional: bool,
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
        (self.touching, self.is_provisional) = (false, false);
        self.parts.clear();
        self.points.clear();
    }

    /// Takes what was found about two parts, as far as it is to be reported.
    #[inline]
    pub(crate) fn add(
        &mut self,
        parts: [u32; 2],
        one: &ShapePair<'_>,
        found: Measured,
        options: &ContactOptions,
    ) {
        self.touching |= found.touching;
        let from = self.points.len() as u32;
        let (contact, certainty) = match found.places {
            Places::Unknown => return,
            Places::Separation(separation, certainty) => {
                if options.told == Contacts::None || !(separation.distance <= options.margin) {
                    return;
                }
                if options.told == Contacts::Manifold {
                    add_manifold(&mut self.points, one, &separation, options.margin);
                }
                (separation.into(), certainty)
            }
            Places::Listed(contacts, certainty) => {
                let Some(&deepest) = deepest(&contacts) else { return };
                if options.told == Contacts::Manifold {
                    if self.points.is_empty() {
                        self.points = contacts;
                    } else {
                        self.points.extend(contacts);
                    }
                }
                (deepest, certainty)
            }
        };
        let manifold = [from, self.points.len() as u32];
        self.parts.push(PartContact { parts, contact, certainty, manifold });
    }
}

/// The deepest of some contacts, the first of equal ones.
fn deepest(contacts: &[Contact]) -> Option<&Contact> {
    contacts.iter().reduce(|best, new| if new.depth > best.depth { new } else { best })
}

/// What was found about two shapes that are no compounds.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// Whether they touch.
    pub touching: bool,
    /// Where, and how certain that is.
    pub places: Places,
}

/// Where two shapes meet or come near.
#[derive(Debug, Clone)]
pub(crate) enum Places {
    /// Only the relation was asked.
    Unknown,
    /// How far apart two convex shapes are.
    Separation(Separation, Certainty),
    /// All contacts within the margin, where a mesh takes part.
    Listed(Vec<Contact>, Certainty),
}

/// The contacts of a pair by the distances and relations of a method. `found` changes only when all is known, or at least
/// that they touch; what a budget leaves open is continued from the memory.
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
    let (measured, outcome) = measure(kernel, pair, options, options.asks_touch, memory, budget);
    if let Some(measured) = measured {
        found.clear();
        found.add([0; 2], pair, measured, options);
        found.is_provisional = outcome.finish == Finish::OutOfBudget;
    }
    outcome
}

/// Two shapes that are no compounds; `None` when the budget ended before. Whether they touch is found only where
/// it is `wanted`. When the budget ended after that and before the depth, the outcome says so.
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
            return (Some(Measured { touching: false, places: Places::Unknown }), NOTHING);
        }
        let (related, outcome) = ask_relation(kernel, pair, memory, budget);
        let told = |related: Related| Measured { touching: related.is_contact(), places: Places::Unknown };
        return (related.map(told), outcome);
    }
    if kernel.lists_contacts() && is_listed(pair, options) {
        return measure_meshes(kernel, pair, options, wanted, memory, budget);
    }
    let (measured, outcome) = measure_distance(kernel, pair, options, wanted, memory, budget);
    (measured.map(|(measured, _)| measured), outcome)
}

/// How two bodies lie to each other, and what that is worth; `None` where the method has nothing to tell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Related(Option<Relation>, Certainty);

impl Related {
    fn is_contact(self) -> bool {
        self.0.is_some_and(Relation::is_contact)
    }

    fn is_inside(self) -> bool {
        matches!(self.0, Some(Relation::AInsideB | Relation::BInsideA))
    }
}

/// [`measure`] by the closest or deepest features, with the relation if it was asked. The outcome is as certain as both.
#[inline(always)]
fn measure_distance<K: PairKernel + ?Sized>(
    kernel: &K,
    pair: &ShapePair<'_>,
    options: &ContactOptions,
    wanted: bool,
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> (Option<(Measured, Option<Related>)>, Outcome) {
    let (mut separation, mut related, mut outcome) = match memory.measured.take() {
        Some(known) if known.0.is_of(pair) && known.1 == kernel.name() => {
            let (separation, related) = known.2;
            (separation, related, Outcome { certainty: known.3, ..NOTHING })
        }
        _ => {
            let Verdict { value, outcome, .. } = kernel.distance(pair, memory, budget);
            match value {
                None if outcome.finish == Finish::OutOfBudget => return (None, outcome),
                // What has no answer is infinitely far.
                value => (value.unwrap_or(Separation::NONE), None, outcome),
            }
        }
    };
    let certainty = outcome.certainty;
    let open = is_open(pair, &separation, options.touch);
    if related.is_none() && (wanted && open || may_be_inside(pair, &separation, options)) {
        let (found, cost) = ask_relation(kernel, pair, memory, budget);
        outcome.work += cost.work;
        outcome.finish = cost.finish;
        if found.is_none() {
            memory.measured =
                Some(Box::new((Placement::of(pair), kernel.name(), (separation, None), certainty)));
            return (None, outcome);
        }
        related = found;
    }
    let touching = match related {
        Some(related) if open => related.is_contact(),
        _ => separation.distance <= options.touch,
    };
    if let Some(related) = related {
        outcome.certainty = certainty.lesser(related.1);
        // The gap between the surfaces of nested bodies is none between the bodies, and its direction no way out.
        if related.is_inside() && separation.distance > 0.0 && has_mesh(pair) {
            separation = Separation { distance: 0.0, normal: DVec3::ZERO, ..separation };
        }
    }
    let measured = Measured { touching, places: Places::Separation(separation, certainty) };
    (Some((measured, related)), outcome)
}

/// Whether contacts come as a list with depths: where a mesh takes part. Of two meshes the shortest way out of every region
/// is looked for, which only who wants all points pays for.
fn is_listed(pair: &ShapePair<'_>, options: &ContactOptions) -> bool {
    match pair.shapes {
        [Geometry::Mesh(_), Geometry::Mesh(_)] => options.told == Contacts::Manifold,
        [Geometry::Mesh(_), _] | [_, Geometry::Mesh(_)] => options.told != Contacts::None,
        _ => false,
    }
}

/// [`measure`] where a mesh takes part: the contacts say by themselves that the shapes touch, unless the deepest one is
/// so shallow that rounding decides, or there is none. Where only the deepest contact is told, distances come first, and
/// the list is made where they and the relation say that the bodies overlap.
#[inline(never)]
fn measure_meshes<K: PairKernel + ?Sized>(
    kernel: &K,
    pair: &ShapePair<'_>,
    options: &ContactOptions,
    wanted: bool,
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> (Option<Measured>, Outcome) {
    if options.told == Contacts::Deepest {
        let (measured, mut outcome) = measure_distance(kernel, pair, options, wanted, memory, budget);
        let Some((mut measured, related)) = measured else { return (None, outcome) };
        let Places::Separation(separation, certainty) = measured.places else { return (None, outcome) };
        if separation.distance <= 0.0 {
            let Verdict { value, outcome: listed, .. } = all_contacts(pair, options, memory, budget);
            outcome.work += listed.work;
            if value.is_none() && listed.finish == Finish::OutOfBudget {
                outcome.finish = Finish::OutOfBudget;
                let known = (separation, related);
                memory.measured = Some(Box::new((Placement::of(pair), kernel.name(), known, certainty)));
                return (Some(measured), outcome);
            }
            if let Some(found) = value.filter(|found| !found.is_empty()) {
                outcome.certainty = outcome.certainty.lesser(listed.certainty);
                measured.places = Places::Listed(found, listed.certainty);
            }
        }
        return (Some(measured), outcome);
    }
    let (found, mut outcome) = match memory.listed.take() {
        Some(known) if known.0.is_of(pair) && known.1 == *options => {
            (known.2, Outcome { certainty: known.3, ..NOTHING })
        }
        _ => {
            let Verdict { value, outcome, .. } = all_contacts(pair, options, memory, budget);
            match value {
                None if outcome.finish == Finish::OutOfBudget => return (None, outcome),
                value => (value.unwrap_or_default(), outcome),
            }
        }
    };
    let certainty = outcome.certainty;
    let depth = deepest(&found).map_or(f64::NEG_INFINITY, |contact| contact.depth);
    let size = deepest(&found).map_or(0.0, |contact| contact.points[0].abs().max_element());
    let touching = if !wanted {
        false
    } else if depth > TOUCH_DOUBT * size || options.touch > 0.0 && depth >= -options.touch {
        true
    } else if options.touch > 0.0 && depth > f64::NEG_INFINITY {
        // Within the margin, not within the touch; but one may be inside the other only where they overlap.
        false
    } else {
        let (related, cost) = ask_relation(kernel, pair, memory, budget);
        outcome.work += cost.work;
        outcome.finish = cost.finish;
        let Some(related) = related else {
            memory.listed = Some(Box::new((Placement::of(pair), *options, found, certainty)));
            return (None, outcome);
        };
        outcome.certainty = certainty.lesser(related.1);
        related.is_contact()
    };
    (Some(Measured { touching, places: Places::Listed(found, certainty) }), outcome)
}

/// The contacts of two shapes that are no compounds, or as far as the budget goes.
pub(crate) fn all_contacts(
    pair: &ShapePair<'_>,
    options: &ContactOptions,
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> Verdict<Vec<Contact>> {
    let kernel: Kernel<Vec<Contact>> = |pair, question, memory, budget| {
        let Question::Contacts(ContactOptions { margin, one_sided, told, .. }) = question else {
            return Ok(Verdict::refused());
        };
        let deep = *told == Contacts::Manifold;
        let wanted = Wanted { margin: *margin, one_sided: *one_sided, deep };
        Ok(contacts(pair, wanted, &mut memory.kernel, budget))
    };
    let found = ask("exact", &Question::Contacts(*options), pair, memory, budget, kernel);
    // The kernel refuses nothing.
    found.unwrap_or_else(|_| Verdict::refused())
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
    doubtful || *distance > touch && has_mesh(pair)
}

/// Whether a contact is told about surfaces that are apart, one of which may lie within the other.
#[inline]
fn may_be_inside(pair: &ShapePair<'_>, separation: &Separation, options: &ContactOptions) -> bool {
    let apart = separation.distance > 0.0 && separation.distance.is_finite();
    apart && options.told != Contacts::None && has_mesh(pair)
}

fn has_mesh(pair: &ShapePair<'_>) -> bool {
    matches!(pair.shapes, [Geometry::Mesh(_), _] | [_, Geometry::Mesh(_)])
}

/// How two shapes lie to each other, by the method's own relation if it has one, else by the exact one; `None` when the
/// budget ended before.
#[inline(never)]
fn ask_relation<K: PairKernel + ?Sized>(
    kernel: &K,
    pair: &ShapePair<'_>,
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> (Option<Related>, Outcome) {
    let Verdict { value, outcome, .. } = if kernel.accepts(&Question::Relation, pair.kinds()) {
        kernel.relation(pair, memory, budget)
    } else {
        exact_relation(pair, memory, budget)
    };
    match value {
        None if outcome.finish == Finish::OutOfBudget => (None, outcome),
        value => (Some(Related(value, outcome.certainty)), outcome),
    }
}

/// Appends the points on which two convex shapes lie on each other, in order around the manifold.
#[inline(never)]
fn add_manifold(points: &mut Vec<Contact>, pair: &ShapePair<'_>, separation: &Separation, margin: f64) {
    match pair.shapes {
        [Geometry::Convex(a), Geometry::Convex(b)] => {
            add_patch([a, b], pair.poses, separation, margin, points);
        }
        _ => points.push((*separation).into()),
    }
}
