//! Questions about two bodies.

use super::{Query, bracket, check_margin, check_volume, member};
use crate::contact::{Verdict, Volume, VolumeOptions};
use crate::model::{Placed, ShapeKind};
use crate::narrow::contacts::SeparatingTranslation;
use crate::narrow::continuous::Sweep;
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::{Batch, Finding, Memory, PairKernel, Question, Refused, contacts_with_ids};
use crate::narrow::exact::contour::Polyline;
use crate::narrow::route::{Answer, Routed, method_for, route};
use crate::narrow::shape_pair::ShapePair;
use crate::simd::prefetch;
use crate::{Budget, Contact, Error, Pose, Relation, Separation};

/// Two bodies of a batch.
pub(super) type Bodies<'s> = [Placed<'s>; 2];

impl Query<'_> {
    /// How two bodies lie to each other; see [`relation`](crate::relation).
    ///
    /// # Errors
    /// The named method does not answer this question about these kinds; so for all questions.
    pub fn relation<'s>(
        &mut self,
        a: impl Into<Placed<'s>>,
        b: impl Into<Placed<'s>>,
    ) -> Result<Answer<Relation>, Error> {
        self.one(&[a.into(), b.into()], Question::Relation, &RELATION)
    }

    /// [`Query::relation`] for many pairs.
    ///
    /// # Errors
    /// As [`Query::relation`].
    pub fn relation_batch(&mut self, pairs: &[[Placed<'_>; 2]]) -> Result<Vec<Answer<Relation>>, Error> {
        self.batch(pairs, Question::Relation, &RELATION)
    }

    /// How far apart two bodies are, or how deep; see [`distance`](crate::distance).
    ///
    /// # Errors
    /// As [`Query::relation`].
    pub fn distance<'s>(
        &mut self,
        a: impl Into<Placed<'s>>,
        b: impl Into<Placed<'s>>,
    ) -> Result<Answer<Separation>, Error> {
        let bodies = [a.into(), b.into()];
        let answer = self.one_or_two(&bodies, Question::Distance, &DISTANCE)?;
        Ok(if answer.value.is_none() && is_of_surfaces(kinds_of(&bodies)) {
            answer.of_surfaces()
        } else {
            answer
        })
    }

    /// [`Query::distance`] for many pairs.
    ///
    /// # Errors
    /// As [`Query::relation`].
    pub fn distance_batch(&mut self, pairs: &[[Placed<'_>; 2]]) -> Result<Vec<Answer<Separation>>, Error> {
        let answers = self.batch_or_two(pairs, Question::Distance, &DISTANCE)?;
        let told = answers.into_iter().zip(pairs);
        let told =
            told.map(|(one, bodies)| if is_of_surfaces(kinds_of(bodies)) { one.of_surfaces() } else { one });
        Ok(told.collect())
    }

    /// Where two bodies touch, overlap or are at most `margin` apart; see [`contacts`](crate::contacts).
    ///
    /// With a memory the ids of contacts that last are those of the call before.
    ///
    /// # Errors
    /// As [`Query::relation`], or a margin that is negative or not finite.
    pub fn contacts<'s>(
        &mut self,
        a: impl Into<Placed<'s>>,
        b: impl Into<Placed<'s>>,
        margin: f64,
    ) -> Result<Answer<Vec<Contact>>, Error> {
        let question = Question::Contacts(self.contact_options(margin)?);
        let bodies = [a.into(), b.into()];
        // All at once, and before the choice of a method waits for the first of them.
        bodies.iter().for_each(|body| prefetch(body.geometry()));
        if let Some(memory) = &self.memory {
            memory.prefetch();
        }
        self.one(&bodies, question, &CONTACTS)
    }

    /// [`Query::contacts`] for many pairs.
    ///
    /// # Errors
    /// As [`Query::contacts`].
    pub fn contacts_batch(
        &mut self,
        pairs: &[[Placed<'_>; 2]],
        margin: f64,
    ) -> Result<Vec<Answer<Vec<Contact>>>, Error> {
        let question = Question::Contacts(self.contact_options(margin)?);
        self.batch(pairs, question, &CONTACTS)
    }

    /// A short translation of b that takes two bodies apart; see [`separate`](crate::separate).
    ///
    /// # Errors
    /// As [`Query::relation`], or two half-spaces that no translation takes apart.
    pub fn separate<'s>(
        &mut self,
        a: impl Into<Placed<'s>>,
        b: impl Into<Placed<'s>>,
    ) -> Result<Answer<SeparatingTranslation>, Error> {
        self.one(&[a.into(), b.into()], Question::Separate, &SEPARATE)
    }

    /// [`Query::separate`] for many pairs.
    ///
    /// # Errors
    /// As [`Query::separate`].
    pub fn separate_batch(
        &mut self,
        pairs: &[[Placed<'_>; 2]],
    ) -> Result<Vec<Answer<SeparatingTranslation>>, Error> {
        self.batch(pairs, Question::Separate, &SEPARATE)
    }

    /// When two moving bodies first touch; see [`sweep`](crate::sweep).
    ///
    /// # Errors
    /// As [`Query::relation`], a tolerance or slack that is not positive, or a motion that the named method cannot
    /// treat.
    pub fn sweep<'s>(
        &mut self,
        a: impl Into<Placed<'s>>,
        b: impl Into<Placed<'s>>,
    ) -> Result<Answer<Sweep>, Error> {
        let question = Question::Sweep(self.sweep_options()?);
        self.one(&[a.into(), b.into()], question, &SWEEP)
    }

    /// [`Query::sweep`] for many pairs.
    ///
    /// # Errors
    /// As [`Query::sweep`].
    pub fn sweep_batch(&mut self, pairs: &[[Placed<'_>; 2]]) -> Result<Vec<Answer<Sweep>>, Error> {
        let question = Question::Sweep(self.sweep_options()?);
        self.batch(pairs, question, &SWEEP)
    }

    /// Every pair of triangles that meet; see [`pairs`](crate::pairs).
    ///
    /// # Errors
    /// As [`Query::relation`]; only meshes have triangles.
    pub fn pairs<'s>(
        &mut self,
        a: impl Into<Placed<'s>>,
        b: impl Into<Placed<'s>>,
    ) -> Result<Answer<Vec<[u32; 2]>>, Error> {
        self.one_or_two(&[a.into(), b.into()], Question::Pairs { margin: None }, &PAIRS)
    }

    /// [`Query::pairs`] for many pairs of bodies.
    ///
    /// # Errors
    /// As [`Query::pairs`].
    pub fn pairs_batch(&mut self, pairs: &[[Placed<'_>; 2]]) -> Result<Vec<Answer<Vec<[u32; 2]>>>, Error> {
        self.batch_or_two(pairs, Question::Pairs { margin: None }, &PAIRS)
    }

    /// Every pair of triangles at most `margin` apart; see [`pairs_within`](crate::pairs_within).
    ///
    /// # Errors
    /// As [`Query::pairs`], or a margin that is negative or not finite.
    pub fn pairs_within<'s>(
        &mut self,
        a: impl Into<Placed<'s>>,
        b: impl Into<Placed<'s>>,
        margin: f64,
    ) -> Result<Answer<Vec<[u32; 2]>>, Error> {
        let question = Question::Pairs { margin: Some(check_margin(margin)?) };
        self.one_or_two(&[a.into(), b.into()], question, &PAIRS)
    }

    /// [`Query::pairs_within`] for many pairs of bodies.
    ///
    /// # Errors
    /// As [`Query::pairs_within`].
    pub fn pairs_within_batch(
        &mut self,
        pairs: &[[Placed<'_>; 2]],
        margin: f64,
    ) -> Result<Vec<Answer<Vec<[u32; 2]>>>, Error> {
        let question = Question::Pairs { margin: Some(check_margin(margin)?) };
        self.batch_or_two(pairs, question, &PAIRS)
    }

    /// The curves along which two surfaces cross; see [`contour`](crate::contour).
    ///
    /// # Errors
    /// As [`Query::pairs`].
    pub fn contour<'s>(
        &mut self,
        a: impl Into<Placed<'s>>,
        b: impl Into<Placed<'s>>,
    ) -> Result<Answer<Vec<Polyline>>, Error> {
        self.one(&[a.into(), b.into()], Question::Contour, &CONTOUR)
    }

    /// [`Query::contour`] for many pairs of bodies.
    ///
    /// # Errors
    /// As [`Query::pairs`].
    pub fn contour_batch(&mut self, pairs: &[[Placed<'_>; 2]]) -> Result<Vec<Answer<Vec<Polyline>>>, Error> {
        self.batch(pairs, Question::Contour, &CONTOUR)
    }

    /// How much two solids overlap; see [`volume`](crate::volume). The options say what else is wanted, how finely,
    /// and what open meshes mean.
    ///
    /// # Errors
    /// As [`Query::relation`], a mesh that bounds no solid, options that are no sizes, or for the method `exact` a mesh
    /// that overlaps itself.
    pub fn volume<'s>(
        &mut self,
        a: impl Into<Placed<'s>>,
        b: impl Into<Placed<'s>>,
        options: VolumeOptions,
    ) -> Result<Answer<Volume>, Error> {
        self.one(&[a.into(), b.into()], Question::Volume(check_volume(options)?), &VOLUME)
    }

    /// [`Query::volume`] for many pairs of bodies.
    ///
    /// # Errors
    /// As [`Query::volume`].
    pub fn volume_batch(
        &mut self,
        pairs: &[[Placed<'_>; 2]],
        options: VolumeOptions,
    ) -> Result<Vec<Answer<Volume>>, Error> {
        self.batch(pairs, Question::Volume(check_volume(options)?), &VOLUME)
    }

    /// One question about one pair, with the relation where that is wanted too.
    fn one_or_two<T: Clone + Send + Sync + 'static>(
        &mut self,
        bodies: &Bodies<'_>,
        question: Question,
        kind: &Kind<T>,
    ) -> Result<Answer<T>, Error> {
        if !self.with_relation {
            return self.one(bodies, question, kind);
        }
        let kinds = bodies.each_ref().map(|body| body.shape().kind());
        let answers = self.batch_with_relation(std::slice::from_ref(bodies), question, kind);
        let mut answers = answers.map_err(Error::alone)?;
        answers.pop().ok_or_else(|| self.method.refusal(&question, kinds))
    }

    /// The same about many pairs.
    fn batch_or_two<T: Clone + Send + Sync + 'static>(
        &mut self,
        pairs: &[Bodies<'_>],
        question: Question,
        kind: &Kind<T>,
    ) -> Result<Vec<Answer<T>>, Error> {
        if self.with_relation {
            self.batch_with_relation(pairs, question, kind)
        } else {
            self.batch(pairs, question, kind)
        }
    }

    /// One question about one pair: a method that decides each pair on its own is called directly.
    fn one<T>(
        &mut self,
        bodies: &Bodies<'_>,
        question: Question,
        kind: &Kind<T>,
    ) -> Result<Answer<T>, Error> {
        let poses = [bodies[0].pose(), bodies[1].pose()];
        let pair = ShapePair::of([&bodies[0], &bodies[1]], &poses);
        let (method, reason) = method_for(self.method, &question, &pair)?;
        let Some(kernel) = method.detector().and_then(|detector| detector.pairwise()) else {
            let answers = self.routed(&Batch { question, pairs: &[pair], seed: self.seed }, kind);
            let answers = answers.map_err(Error::alone)?;
            return answers.into_iter().next().ok_or_else(|| method.refusal(&question, pair.kinds()));
        };
        // Made where it stays: it is large.
        let mut fresh;
        let memory = match &mut self.memory {
            Some(memory) => memory.pair(0),
            None => {
                fresh = PairMemory::default();
                &mut fresh
            }
        };
        match (kind.ask)(kernel, &question, &pair, memory, &mut self.budget) {
            Ok(verdict) if verdict.value.is_some() => Ok(Answer::new(verdict, method, reason)),
            Ok(open) => {
                let settled = (kind.settle)(open, &question, &pair, &self.budget);
                Ok(Answer::new(settled, method, reason))
            }
            // What a method finds out may rule it out.
            Err(refused) => match method_for(self.method, &question, &pair)? {
                (other, _) if other != method => self.one(bodies, question, kind),
                _ => Err(refused),
            },
        }
    }

    /// One question about many pairs; a refusal names the first pair that was refused.
    pub(super) fn batch<T>(
        &mut self,
        pairs: &[[Placed<'_>; 2]],
        question: Question,
        kind: &Kind<T>,
    ) -> Result<Vec<Answer<T>>, Error> {
        let poses: Vec<[Pose; 2]> = pairs.iter().map(|[a, b]| [a.pose(), b.pose()]).collect();
        let pairs: Vec<ShapePair<'_>> =
            pairs.iter().zip(&poses).map(|([a, b], poses)| ShapePair::of([a, b], poses)).collect();
        self.routed(&Batch { question, pairs: &pairs, seed: self.seed }, kind)
    }

    fn routed<T>(&mut self, batch: &Batch<'_>, kind: &Kind<T>) -> Result<Vec<Answer<T>>, Error> {
        let mut fresh = Memory::default();
        let memory = self.memory.as_deref_mut().unwrap_or(&mut fresh);
        let found = route(self.method, batch, memory, &mut self.budget);
        let found = found.map_err(|Refused { index, error }| member("pair", index, error))?;
        let answer = |(routed, pair): (Option<Routed>, &ShapePair<'_>)| {
            let (verdict, method, reason) = match routed {
                Some((finding, method, reason)) => ((kind.take)(finding), method, reason),
                // The budget ended before its turn.
                None => {
                    let (method, reason) = method_for(self.method, &batch.question, pair)?;
                    (None, method, reason)
                }
            };
            let verdict = match verdict.unwrap_or_else(Verdict::out_of_budget) {
                open if open.value.is_none() => (kind.settle)(open, &batch.question, pair, &self.budget),
                found => found,
            };
            Ok(Answer::new(verdict, method, reason))
        };
        found.into_iter().zip(batch.pairs).map(answer).collect()
    }
}

/// Whether distances are those of surfaces, which have no depth: particles have depths in meshes too.
pub(super) fn is_of_surfaces(kinds: [ShapeKind; 2]) -> bool {
    kinds.iter().any(|kind| kind.is_mesh()) && !kinds.contains(&ShapeKind::Particles)
}

fn kinds_of(bodies: &Bodies<'_>) -> [ShapeKind; 2] {
    bodies.map(|body| body.shape().kind())
}

/// One kind of question: how a kernel is asked, and which finding is its answer.
pub(super) struct Kind<T> {
    ask: Ask<T>,
    take: fn(Finding) -> Option<Verdict<T>>,
    /// What can be told all the same where a search ended without an answer.
    settle: Settle<T>,
}

type Settle<T> = fn(Verdict<T>, &Question, &ShapePair<'_>, &Budget) -> Verdict<T>;

type Ask<T> =
    fn(&dyn PairKernel, &Question, &ShapePair<'_>, &mut PairMemory, &mut Budget) -> Result<Verdict<T>, Error>;

const RELATION: Kind<Relation> = Kind {
    ask: |kernel, _, pair, memory, budget| Ok(kernel.relation(pair, memory, budget)),
    take: |finding| if let Finding::Relation(verdict) = finding { Some(verdict) } else { None },
    settle: |open, _, _, _| open,
};

const DISTANCE: Kind<Separation> = Kind {
    ask: |kernel, _, pair, memory, budget| Ok(kernel.distance(pair, memory, budget)),
    take: |finding| if let Finding::Distance(verdict) = finding { Some(verdict) } else { None },
    settle: |open, _, pair, budget| bracket::of_distance(open, pair, budget),
};

const CONTACTS: Kind<Vec<Contact>> = Kind {
    ask: |kernel, question, pair, memory, budget| match question {
        Question::Contacts(options) => {
            Ok(contacts_with_ids(kernel, pair, options, memory, budget)?.map(|found| found.points))
        }
        _ => Ok(Verdict::refused()),
    },
    take: |finding| match finding {
        Finding::Contacts(verdict) => Some(verdict.map(|found| found.points)),
        _ => None,
    },
    settle: |open, _, _, _| open,
};

const SEPARATE: Kind<SeparatingTranslation> = Kind {
    ask: |kernel, _, pair, memory, budget| kernel.separate(pair, memory, budget),
    take: |finding| if let Finding::Separate(verdict) = finding { Some(verdict) } else { None },
    settle: |open, _, pair, budget| bracket::of_separate(open, pair, budget),
};

const SWEEP: Kind<Sweep> = Kind {
    ask: |kernel, question, pair, memory, budget| match question {
        Question::Sweep(options) => kernel.sweep(pair, options, memory, budget),
        _ => Ok(Verdict::refused()),
    },
    take: |finding| if let Finding::Sweep(verdict) = finding { Some(verdict) } else { None },
    settle: |open, question, pair, budget| match question {
        Question::Sweep(options) => bracket::of_sweep(open, options, pair, budget),
        _ => open,
    },
};

const PAIRS: Kind<Vec<[u32; 2]>> = Kind {
    ask: |kernel, question, pair, memory, budget| match question {
        Question::Pairs { margin } => Ok(kernel.pairs(pair, *margin, memory, budget)),
        _ => Ok(Verdict::refused()),
    },
    take: |finding| if let Finding::Pairs(verdict) = finding { Some(verdict) } else { None },
    settle: |open, _, _, _| open,
};

const VOLUME: Kind<Volume> = Kind {
    ask: |kernel, question, pair, memory, budget| match question {
        Question::Volume(options) => kernel.volume(pair, options, memory, budget),
        _ => Ok(Verdict::refused()),
    },
    take: |finding| if let Finding::Volume(verdict) = finding { Some(verdict) } else { None },
    settle: |open, _, _, _| open,
};

const CONTOUR: Kind<Vec<Polyline>> = Kind {
    ask: |kernel, _, pair, memory, budget| Ok(kernel.contour(pair, memory, budget)),
    take: |finding| if let Finding::Contour(verdict) = finding { Some(verdict) } else { None },
    settle: |open, _, _, _| open,
};
