//! Deals the pairs of a batch to their methods and brings the answers back in the order of the pairs.

mod answer;
mod choice;

use std::ops::ControlFlow;

use super::detector::{Batch, Finding, Memory, Question, Refused, Sink};
use super::methods::Method;
use crate::narrow::shape_pair::ShapePair;
use crate::{Budget, Error};

pub use answer::{Answer, Reason};
#[cfg(any(test, feature = "unstable"))]
pub use choice::Costs;
pub use choice::choose;

/// What was found about a pair, by whom, and why by them.
pub type Routed = (Finding, Method, Reason);

/// The method that answers for a pair, and why: the named one, or the choice of `auto`.
///
/// # Errors
/// The method does not answer the question about these kinds.
#[inline]
pub fn method_for(
    method: Method,
    question: &Question,
    pair: &ShapePair<'_>,
) -> Result<(Method, Reason), Error> {
    if method == Method::Auto {
        return choose(question, pair);
    }
    let kinds = pair.kinds();
    if !method.accepts(question, kinds) {
        return Err(method.refusal(question, kinds));
    }
    Ok((method, Reason::Named))
}

/// Answers one question about many pairs; a pair that was never reached has none.
///
/// # Errors
/// A pair that its method does not answer.
pub fn route(
    method: Method,
    batch: &Batch<'_>,
    memory: &mut Memory,
    budget: &mut Budget,
) -> Result<Vec<Option<Routed>>, Refused> {
    let mut found: Vec<Option<Routed>> = Vec::new();
    found.resize_with(batch.pairs.len(), || None);
    let mut methods = methods_for(method, batch)?;
    loop {
        let ended = deal(&methods, batch, memory, budget, &mut found);
        let Err(refused) = ended else { return Ok(found) };
        // What a method finds out may rule it out.
        let others = methods_for(method, batch)?;
        if others == methods {
            return Err(refused);
        }
        methods = others;
    }
}

/// The method that answers for each pair, and why.
fn methods_for(method: Method, batch: &Batch<'_>) -> Result<Vec<(Method, Reason)>, Refused> {
    let of =
        |(index, pair)| method_for(method, &batch.question, pair).map_err(|error| Refused { index, error });
    batch.pairs.iter().enumerate().map(of).collect()
}

/// Deals the pairs without an answer to their methods.
fn deal(
    methods: &[(Method, Reason)],
    batch: &Batch<'_>,
    memory: &mut Memory,
    budget: &mut Budget,
    found: &mut [Option<Routed>],
) -> Result<(), Refused> {
    for &named in Method::ALL {
        let dealt: Vec<usize> =
            (0..methods.len()).filter(|&i| methods[i].0 == named && found[i].is_none()).collect();
        let Some(detector) = named.detector().filter(|_| !dealt.is_empty()) else { continue };
        let pairs: Vec<ShapePair<'_>> = dealt.iter().map(|&i| batch.pairs[i]).collect();
        let mut own = memory.take(&dealt);
        let mut sink = Scatter { dealt: &dealt, methods, found };
        let dealt_batch = Batch { pairs: &pairs, ..*batch };
        let ended = detector.detect(&dealt_batch, &mut own, budget, &mut sink);
        memory.put(&dealt, own);
        ended.map_err(|refused| Refused { index: dealt[refused.index], ..refused })?;
    }
    Ok(())
}

/// Puts the findings of one method where their pairs stand.
struct Scatter<'f> {
    dealt: &'f [usize],
    methods: &'f [(Method, Reason)],
    found: &'f mut [Option<Routed>],
}

impl Sink for Scatter<'_> {
    fn take(&mut self, index: usize, finding: Finding) -> ControlFlow<()> {
        let at = self.dealt[index];
        let (method, reason) = self.methods[at];
        self.found[at] = Some((finding, method, reason));
        ControlFlow::Continue(())
    }
}
