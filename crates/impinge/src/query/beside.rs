//! The relation beside a distance or a list of pairs, out of one budget.
//!
//! A distance comes first, as its nearest points are worth something by themselves; a list comes last, as it may be long.
//! What came first and is complete is kept in the memory until the rest is, so that calls with small budgets come to an end.

use std::any::Any;

use super::Query;
use super::pair::{Bodies, Kind};
use crate::model::{Geometry, Placed};
use crate::narrow::detector::pair_memory::Placement;
use crate::narrow::detector::{Memory, Question};
use crate::narrow::methods::Method;
use crate::narrow::route::Answer;
use crate::narrow::shape_pair::ShapePair;
use crate::{Budget, Counters, Error, Finish, Relation};

/// What two questions that are asked together remember, besides what the main one does.
#[derive(Default)]
struct Beside {
    /// Of the relations by the named method, and of those by the choice of `auto`.
    memories: [Memory; 2],
    first: Option<First>,
}

/// The complete answers to the first of the two questions.
struct First {
    question: Question,
    method: Method,
    places: Vec<Placement>,
    answers: Box<dyn Any + Send + Sync>,
}

impl First {
    fn is_of(&self, question: &Question, method: Method, pairs: &[ShapePair<'_>]) -> bool {
        let same = self.question == *question && self.method == method && self.places.len() == pairs.len();
        same && self.places.iter().zip(pairs).all(|(place, pair)| place.is_of(pair))
    }
}

impl Query<'_> {
    /// One question about many pairs, with the relations.
    pub(super) fn batch_with_relation<T: Clone + Send + Sync + 'static>(
        &mut self,
        pairs: &[Bodies<'_>],
        question: Question,
        kind: &Kind<T>,
    ) -> Result<Vec<Answer<T>>, Error> {
        let poses: Vec<_> = pairs.iter().map(|[a, b]| [a.pose(), b.pose()]).collect();
        let placed: Vec<ShapePair<'_>> =
            pairs.iter().zip(&poses).map(|([a, b], poses)| ShapePair::of([a, b], poses)).collect();
        let taken = self.memory.as_deref_mut().and_then(Memory::take_beside::<Beside>);
        let mut beside = taken.unwrap_or_default();
        let known = beside.first.take().filter(|first| first.is_of(&question, self.method, &placed));
        let known = known.map(|first| first.answers);
        let (found, relations, first): (Vec<Answer<T>>, _, Box<dyn Any + Send + Sync>);
        if matches!(question, Question::Pairs { .. }) {
            relations = match known.and_then(|known| known.downcast().ok()) {
                Some(known) => *known,
                None => self.relations(pairs, &mut beside.memories, |_, _| Ok(true))?,
            };
            found = self.batch(pairs, question, kind)?;
            first = Box::new(relations.iter().cloned().map(|one| one.map(at_no_cost)).collect::<Vec<_>>());
        } else {
            found = match known.and_then(|known| known.downcast().ok()) {
                Some(known) => *known,
                None => self.batch(pairs, question, kind)?,
            };
            relations = self.relations(pairs, &mut beside.memories, Query::may_hold)?;
            first = Box::new(found.iter().cloned().map(at_no_cost).collect::<Vec<_>>());
        }
        let open = [
            found.iter().any(|answer| answer.finish == Finish::OutOfBudget),
            relations.iter().flatten().any(|answer| answer.finish == Finish::OutOfBudget),
        ];
        if let (true, Some(memory)) = (open[0] || open[1], self.memory.as_deref_mut()) {
            if open[0] != open[1] {
                let places = placed.iter().map(Placement::of).collect();
                beside.first = Some(First { question, method: self.method, places, answers: first });
            }
            memory.keep_beside(beside);
        }
        let together = found.into_iter().zip(&relations).map(|(answer, relation)| match relation {
            Some(relation) => answer.beside(relation),
            None => answer,
        });
        Ok(together.collect())
    }

    /// The relations of the pairs that want one: by the named method where it answers relations, else by the choice of
    /// `auto`.
    fn relations(
        &mut self,
        pairs: &[Bodies<'_>],
        memories: &mut [Memory; 2],
        mut wants: impl FnMut(&mut Self, &Bodies<'_>) -> Result<bool, Error>,
    ) -> Result<Vec<Option<Answer<Relation>>>, Error> {
        let mut found = vec![None; pairs.len()];
        let mut by: [Vec<usize>; 2] = Default::default();
        for (i, bodies) in pairs.iter().enumerate() {
            if wants(self, bodies)? {
                let kinds = bodies.map(|body| body.shape().kind());
                by[usize::from(!self.method.accepts(&Question::Relation, kinds))].push(i);
            }
        }
        for ((dealt, memory), method) in by.iter().zip(memories).zip([self.method, Method::Auto]) {
            let some: Vec<Bodies<'_>> = dealt.iter().map(|&i| pairs[i]).collect();
            let budget = std::mem::replace(&mut self.budget, Budget::UNLIMITED);
            let mut query =
                Query { method, budget, memory: Some(memory), seed: self.seed, ..Query::default() };
            let answers = match some[..] {
                // One unit decides it, which the distance may have spent.
                [[a, b]] if is_convex(a) && is_convex(b) => {
                    let rest = query
                        .budget
                        .is_spent()
                        .then(|| std::mem::replace(&mut query.budget, Budget::units(1)));
                    let answer = query.relation(a, b);
                    query.budget = rest.unwrap_or(query.budget);
                    answer.map(|answer| vec![answer])
                }
                _ => query.relation_batch(&some),
            };
            self.budget = query.budget;
            for (&i, answer) in dealt.iter().zip(answers?) {
                found[i] = Some(answer);
            }
        }
        Ok(found)
    }

    /// Whether one of the bodies may be a solid, as far as the budget goes to find out.
    fn may_hold(&mut self, bodies: &Bodies<'_>) -> Result<bool, Error> {
        for body in bodies {
            if self.is_closed(body.shape())?.value != Some(false) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn is_convex(body: Placed<'_>) -> bool {
    matches!(body.geometry(), Geometry::Convex(_))
}

/// An answer that an earlier call has paid for.
fn at_no_cost<T>(answer: Answer<T>) -> Answer<T> {
    Answer { work: Counters::default(), ..answer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pose, Shape, procedural};

    fn bodies() -> [Shape; 3] {
        let ball = procedural::ico_sphere(1.0, 3).unwrap();
        let small = procedural::ico_sphere(0.25, 2).unwrap();
        let sheet = procedural::sheet([4.0, 4.0], [8, 8]).unwrap();
        [ball, small, sheet].map(Shape::from)
    }

    fn at(x: f64) -> Pose {
        Pose::from_translation([x, 0.01, 0.02]).unwrap()
    }

    fn asking() -> Query<'static> {
        Query { with_relation: true, ..Query::default() }
    }

    #[test]
    fn nested_solids_are_in_contact_whatever_the_gap() {
        let [ball, small, sheet] = bodies();
        let nested = asking().distance(&ball, small.at(at(0.0))).unwrap();
        assert!(nested.value.unwrap().distance > 0.5 && nested.is_contact());
        assert_eq!(nested.relation, Some(Relation::BInsideA));
        let plain = Query::default().distance(&ball, small.at(at(0.0))).unwrap();
        assert_eq!((plain.relation, plain.is_contact(), plain.value), (None, false, nested.value));
        // Neither sheet has an inside.
        let sheets = asking().distance(&sheet, sheet.at(Pose::shift(glam::DVec3::Z))).unwrap();
        assert_eq!((sheets.relation, sheets.at_least(), sheets.at_most()), (None, Some(1.0), Some(1.0)));
        let apart = asking().distance(&sheet, small.at(at(9.0))).unwrap();
        assert_eq!((apart.relation, apart.is_contact()), (Some(Relation::Separated), false));
    }

    #[test]
    fn lists_have_their_relation_too_and_batches_are_single_questions() {
        let [ball, small, sheet] = bodies();
        let pairs: Vec<[Placed<'_>; 2]> = (0..12)
            .map(|k| {
                let x = 0.2 * f64::from(k);
                if k % 3 == 0 {
                    [ball.at(at(0.0)), sheet.at(at(x))]
                } else {
                    [ball.at(at(0.0)), small.at(at(x))]
                }
            })
            .collect();
        let (lists, distances) =
            (asking().pairs_batch(&pairs).unwrap(), asking().distance_batch(&pairs).unwrap());
        let mut met = 0;
        for ((&[a, b], list), distance) in pairs.iter().zip(&lists).zip(&distances) {
            let relation = crate::relation(a, b);
            assert_eq!((list.relation, distance.relation), (Some(relation), Some(relation)));
            assert_eq!(list.value, crate::pairs(a, b).ok());
            assert_eq!(*list, asking().pairs(a, b).unwrap());
            assert_eq!(distance.value, Some(crate::distance(a, b)));
            met += usize::from(relation == Relation::Intersecting);
        }
        assert!((3..9).contains(&met), "{met} of 12");
    }

    #[test]
    fn small_budgets_come_to_the_same_end_and_never_contradict_themselves() {
        let [ball, small, _] = bodies();
        let whole = asking().distance(&ball, small.at(at(0.0))).unwrap();
        let list = asking().pairs(&ball, small.at(at(0.9))).unwrap();
        assert!(!list.value.as_ref().unwrap().is_empty());
        let (mut open, mut measured) = (0, 0);
        for units in [50, 400, 3000] {
            let [ball, small] = [&ball, &small].map(Shape::unprepared);
            let mut memory = Memory::default();
            let mut ask = |budget| {
                Query { budget, memory: Some(&mut memory), ..asking() }.distance(&ball, small.at(at(0.0)))
            };
            let end = loop {
                let found = ask(Budget::units(units)).unwrap();
                if found.finish == Finish::Complete {
                    break found;
                }
                open += 1;
                assert!(open < 10_000 && found.value.is_none(), "{found:?}");
                let truth = whole.value.unwrap().distance;
                assert!(found.at_least().is_none_or(|x| (0.0..=truth).contains(&x)), "{found:?}");
                assert!(found.at_most().is_none_or(|x| x >= truth), "{found:?}");
                measured += usize::from(found.at_least().is_some() && found.at_least() == found.at_most());
            };
            assert_eq!(
                (end.value, end.relation, end.certainty),
                (whole.value, whole.relation, whole.certainty)
            );
            let mut memory = Memory::default();
            let end = (0..10_000).find_map(|_| {
                let budget = Budget::units(units);
                let mut query = Query { budget, memory: Some(&mut memory), ..asking() };
                Some(query.pairs(&ball, small.at(at(0.9))).unwrap()).filter(|x| x.finish == Finish::Complete)
            });
            let end = end.unwrap();
            assert_eq!((end.value, end.relation), (list.value.clone(), list.relation));
        }
        assert!(open > 10 && measured > 0, "{open} {measured}");
    }

    #[test]
    fn an_answer_is_worth_no_more_than_the_relation_beside_it() {
        let egg = Shape::ellipsoid([0.5, 0.5, 1.0]).unwrap();
        let ball = Shape::sphere(0.5).unwrap();
        let relation = Query::default().relation(&egg, ball.at(Pose::shift(glam::DVec3::X))).unwrap();
        assert!(matches!(relation.certainty, crate::Certainty::Approximate { .. }), "{relation:?}");
        let distance = asking().distance(&egg, ball.at(Pose::shift(glam::DVec3::X))).unwrap();
        assert_eq!((distance.relation, distance.certainty), (relation.value, relation.certainty));
        let [low, high] = [distance.at_least().unwrap(), distance.at_most().unwrap()];
        assert!(low < 0.0 && high > 0.0 && high - low < 1e-11, "{low} to {high}");
    }

    #[test]
    fn a_named_method_without_relations_leaves_them_to_the_choice() {
        let [ball, small, _] = bodies();
        let mut query = Query { method: Method::Brute, ..asking() };
        let found = query.distance(&ball, small.at(at(3.0))).unwrap();
        assert_eq!((found.method, found.relation), (Method::Brute, Some(Relation::Separated)));
    }
}
