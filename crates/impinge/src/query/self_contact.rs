//! Questions about vertices that move along straight lines over a step.

use glam::DVec3;

use super::point::check_points;
use super::{Query, check_margin};
use crate::Error;
use crate::contact::{Certainty, Counters, Finish, Outcome, Verdict};
use crate::geom::moving::{FeaturePairKind, first_contact_exact, first_within};
use crate::narrow::deforming::{Deforming, DeformingSearch, MovingContact, Want};
use crate::narrow::methods::Method;
use crate::narrow::route::{Answer, Reason};
use crate::num::tolerance::{CONTACT_TIME, SEPARATION_SLACK};

impl Query<'_> {
    /// The first contact of a mesh with itself during its step, or of features that come within `separation`;
    /// `None` where there is none.
    ///
    /// # Errors
    /// A negative separation, or a method other than `exact`.
    pub fn first_self_contact(
        &mut self,
        mesh: &Deforming,
        separation: f64,
    ) -> Result<Answer<Option<MovingContact>>, Error> {
        let answer = self.moving(DeformingSearch::of_one(mesh, Want::First), separation)?;
        Ok(answer.map(|mut contacts| contacts.pop()))
    }

    /// Every vertex and face and every two edges of a mesh that meet during its step, or come within `separation`
    /// of each other, by ascending features.
    ///
    /// # Errors
    /// As [`Query::first_self_contact`].
    pub fn self_contacts(
        &mut self,
        mesh: &Deforming,
        separation: f64,
    ) -> Result<Answer<Vec<MovingContact>>, Error> {
        self.moving(DeformingSearch::of_one(mesh, Want::All), separation)
    }

    /// As [`Query::first_self_contact`] for two meshes that move over the same step.
    ///
    /// # Errors
    /// As [`Query::first_self_contact`].
    pub fn first_deforming_contact(
        &mut self,
        a: &Deforming,
        b: &Deforming,
        separation: f64,
    ) -> Result<Answer<Option<MovingContact>>, Error> {
        let answer = self.moving(DeformingSearch::of_two(a, b, Want::First), separation)?;
        Ok(answer.map(|mut contacts| contacts.pop()))
    }

    /// As [`Query::self_contacts`] for two meshes that move over the same step.
    ///
    /// # Errors
    /// As [`Query::first_self_contact`].
    pub fn deforming_contacts(
        &mut self,
        a: &Deforming,
        b: &Deforming,
        separation: f64,
    ) -> Result<Answer<Vec<MovingContact>>, Error> {
        self.moving(DeformingSearch::of_two(a, b, Want::All), separation)
    }

    /// When a moving vertex meets a moving face (`[p, a, b, c]`), or two moving edges meet
    /// (`[a0, a1, b0, b1]`), given at both ends of the step; with a positive `separation`, when they come so
    /// near. `None` where they do not.
    ///
    /// Yes and no are exact, the time is never late. Method `brute` uses exact arithmetic alone.
    ///
    /// # Errors
    /// A point that is not finite or beyond 1e60, a negative separation, a method other than `exact` and `brute`, or
    /// `brute` with a separation.
    pub fn moving_features(
        &mut self,
        kind: FeaturePairKind,
        t0: &[DVec3; 4],
        t1: &[DVec3; 4],
        separation: f64,
    ) -> Result<Answer<Option<f64>>, Error> {
        check_margin(separation)?;
        check_points("t0", t0)?;
        check_points("t1", t1)?;
        let exactly = self.method == Method::Brute && separation == 0.0;
        let (method, reason) =
            if exactly { (Method::Brute, Reason::Named) } else { self.only_exact("moving features")? };
        // Of a separation the tolerance is a length, of a contact a part of the step.
        let tolerance = if separation > 0.0 { separation * SEPARATION_SLACK } else { CONTACT_TIME };
        let mut verdict = Verdict::out_of_budget();
        verdict.outcome.certainty = Certainty::Conservative { tolerance };
        if self.budget.draw(1) {
            verdict.value = Some(if exactly {
                first_contact_exact(kind, t0, t1)
            } else {
                first_within(kind, t0, t1, separation)
            });
            let work = Counters { primitive_tests: 1, ..Counters::default() };
            verdict.outcome = Outcome { finish: Finish::Complete, work, ..verdict.outcome };
        }
        Ok(Answer::new(verdict, method, reason))
    }

    fn moving(
        &mut self,
        search: DeformingSearch<'_>,
        separation: f64,
    ) -> Result<Answer<Vec<MovingContact>>, Error> {
        check_margin(separation)?;
        let (method, reason) = self.only_exact("continuous self-collision")?;
        let mut search = search.within(separation);
        let kept = self.memory.as_deref_mut().and_then(|memory| memory.shape.deforming.take());
        if let Some(kept) = kept {
            search = search.resume(*kept);
        }
        let before = search.work();
        let mut found = search.advance(&mut self.budget);
        found.outcome.work = found.outcome.work - before;
        if let (Finish::OutOfBudget, Some(memory)) = (found.outcome.finish, self.memory.as_deref_mut()) {
            memory.shape.deforming = Some(Box::new(search.suspend()));
        }
        Ok(Answer::new(Verdict::by_finish(found.contacts, found.outcome), method, reason))
    }
}
