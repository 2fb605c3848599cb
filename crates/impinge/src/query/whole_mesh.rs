//! Questions about a mesh as a whole: its health, its mass, its convex parts.

use super::point::{mesh_of, whole};
use super::{Query, check_volume};
use crate::contact::{Verdict, Volume, VolumeOptions};
use crate::model::{Fact, Geometry, Placed};
use crate::narrow::decompose::{Covering, DecomposeOptions, Decomposition, decompose_within, whole_within};
use crate::narrow::detector::Question;
use crate::narrow::detector::shape_memory::ShapeQuestion;
use crate::narrow::image;
use crate::narrow::methods::Method;
use crate::narrow::route::{Answer, Reason};
use crate::narrow::sampled::shells::Shells;
use crate::report::{self, Inspection};
use crate::shape::mass::Mass;
use crate::{Budget, Certainty, Counters, Error, Finish, Outcome, Shape};

impl Query<'_> {
    /// The health of a mesh; see [`inspect`]. When the budget ends, what was found so far is complete but for its
    /// self-intersections.
    ///
    /// # Errors
    /// A shape that is no mesh, or a method other than `exact`.
    pub fn inspect(&mut self, shape: &Shape) -> Result<Answer<Inspection>, Error> {
        let body = Placed::from(shape);
        let question = "the health";
        let model = mesh_of(&body, question)?;
        let (method, reason) = self.only_exact(question)?;
        let verdict = if self.budget.is_unlimited() {
            let seen = report::inspect(model, &mut self.budget);
            let outcome = seen.outcome;
            Verdict::by_finish(seen, outcome)
        } else {
            self.within(whole(&body, question), |shape, budget| match shape.model() {
                Some(model) => Ok(report::inspect_within(model, budget)),
                None => Ok(Verdict::refused()),
            })?
        };
        Ok(Answer::new(verdict, method, reason))
    }

    /// How much a solid overlaps itself, by images: where its surface winds around more than once. The gradient of a is
    /// that of the one mesh; the forces on both sides act on it, so the regions have no direction.
    ///
    /// # Errors
    /// An open mesh, options that are no sizes, or a method other than `image`.
    pub fn self_volume<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        options: VolumeOptions,
    ) -> Result<Answer<Volume>, Error> {
        let body = shape.into();
        let options = check_volume(options)?;
        if !matches!(self.method, Method::Auto | Method::Image) {
            return Err(self.method.refusal(&Question::Volume(options), [body.shape().kind(); 2]));
        }
        let reason = if self.method == Method::Auto { Reason::Approximate } else { Reason::Named };
        let pose = body.pose();
        let verdict = if self.budget.is_unlimited() {
            image::self_volume(body.geometry(), &pose, &options, &mut self.budget)?
        } else {
            let asked = ShapeQuestion { volume: Some(options), ..whole(&body, "the volume in itself") };
            self.within(asked, move |shape, budget| image::self_volume(shape, &pose, &options, budget))?
        };
        Ok(Answer::new(verdict, Method::Image, reason))
    }

    /// Whether a shape is a solid, as [`Shape::is_closed`] tells without a limit. Any method may be named: only
    /// one way leads to the answer.
    ///
    /// # Errors
    /// None so far.
    pub fn is_closed(&mut self, shape: &Shape) -> Result<Answer<bool>, Error> {
        let question = "the closedness";
        let verdict = match shape.geometry() {
            Geometry::Mesh(model) if !(self.budget.is_unlimited() || model.knows(Fact::Topology)) => self
                .within(whole(&Placed::from(shape), question), |shape, budget| {
                    Ok(match shape.model() {
                        Some(model) if !model.prepare(Fact::Topology, budget) => Verdict::out_of_budget(),
                        Some(model) => Verdict::new(Some(model.topology().is_closed()), FOUND),
                        None => Verdict::refused(),
                    })
                })?,
            _ => Verdict::new(Some(shape.is_closed()), FOUND),
        };
        Ok(Answer::new(verdict, Method::Exact, Reason::Only))
    }

    /// Area and volume of a mesh, and centre of mass and inertia where it is closed; see [`mass`].
    ///
    /// # Errors
    /// A shape that is no mesh, or a method other than `exact`.
    pub fn mass(&mut self, shape: &Shape) -> Result<Answer<Mass>, Error> {
        let body = Placed::from(shape);
        let question = "the mass";
        mesh_of(&body, question)?;
        let (method, reason) = self.only_exact(question)?;
        let sum_up = |shape: &Geometry, budget: &mut Budget| {
            let Some(model) = shape.model() else { return Ok(Verdict::refused()) };
            let primitive_tests = model.mesh().triangles().len() as u64;
            if !model.prepare(Fact::Topology, budget) || !budget.charge_all(primitive_tests) {
                return Ok(Verdict::out_of_budget());
            }
            let outcome = Outcome { work: Counters { primitive_tests, ..FOUND.work }, ..FOUND };
            Ok(Verdict::new(Some(Mass::of(model.mesh(), model.topology())), outcome))
        };
        let verdict = match self.budget.is_unlimited() {
            true => sum_up(body.geometry(), &mut self.budget)?,
            false => self.within(whole(&body, question), sum_up)?,
        };
        Ok(Answer::new(verdict, method, reason))
    }

    /// Layered shells of a mesh; see [`Shells::of`](crate::Shells::of). They are built in one go: their units, so many
    /// for each triangle, are drawn beforehand.
    ///
    /// # Errors
    /// A shape that is no mesh, or a method other than `exact`.
    pub fn shells(&mut self, shape: &Shape, levels: Option<usize>) -> Result<Answer<Shells>, Error> {
        let body = Placed::from(shape);
        let question = "layered shells";
        let model = mesh_of(&body, question)?;
        let (method, reason) = self.only_exact(question)?;
        let verdict = if self.budget.is_unlimited() {
            let updates = Shells::units(model.mesh());
            let outcome = Outcome { work: Counters { updates, ..FOUND.work }, ..FOUND };
            Verdict::new(Some(Shells::of_mesh(model.mesh(), levels)), outcome)
        } else {
            let wanted = levels.map_or(-1.0, |levels| levels as f64);
            let asked = ShapeQuestion { options: [wanted, 0.0], ..whole(&body, question) };
            self.within(asked, move |shape, budget| {
                let Some(model) = shape.model() else { return Ok(Verdict::refused()) };
                if !budget.draw_all_updates(Shells::units(model.mesh())) {
                    return Ok(Verdict::out_of_budget());
                }
                Ok(Verdict::new(Some(Shells::of_mesh(model.mesh(), levels)), FOUND))
            })?
        };
        Ok(Answer::new(verdict, method, reason))
    }

    /// Convex shapes that cover a closed mesh; see [`decompose`]. When the budget ends, `so_far` holds the parts after
    /// the last cut, which cover it too.
    ///
    /// # Errors
    /// As [`decompose`], or a method other than `exact`.
    pub fn decompose(
        &mut self,
        shape: &Shape,
        options: &DecomposeOptions,
    ) -> Result<Answer<Decomposition>, Error> {
        let body = Placed::from(shape);
        let question = "the decomposition";
        let model = mesh_of(&body, question)?;
        let (method, reason) = self.only_exact(question)?;
        let options = *options;
        let unlimited = self.budget.is_unlimited();
        let mut trial = self.budget.trial(SMALL as u64);
        let small = !unlimited && model.mesh().triangles().len() <= SMALL;
        let convex = if small { whole_within(model, &options, &mut trial)? } else { None };
        let verdict = if let Some(convex) = convex {
            self.budget.repay(&trial);
            convex
        } else if unlimited {
            decompose_within(model, &options, &mut self.budget)?
        } else {
            let choices = [options.most_parts as f64, options.tolerance];
            let asked = ShapeQuestion { options: choices, ..whole(&body, question) };
            self.within(asked, move |shape, budget| match shape.model() {
                Some(model) => decompose_within(model, &options, budget),
                None => Ok(Verdict::refused()),
            })?
        };
        let with_shapes = |found: Covering| found.map(|part| Shape::from(part.convex(model)));
        Ok(Answer::new(verdict.map(with_shapes), method, reason))
    }
}

/// The health of a mesh: its counts, its self-intersections, its volume, and what is wrong with it in words.
///
/// # Errors
/// A shape that is no mesh.
pub fn inspect(shape: &Shape) -> Result<Inspection, Error> {
    let answer = Query::default().inspect(shape)?;
    answer.value.ok_or(ENDED)
}

/// Triangles of a mesh about which is decided here, without a thread of its own, whether it is convex as a whole.
const SMALL: usize = 512;

/// Exact, and without a test.
const FOUND: Outcome = Outcome {
    certainty: Certainty::Exact,
    finish: Finish::Complete,
    work: Counters { volume_tests: 0, primitive_tests: 0, updates: 0 },
};

/// Never returned: an unlimited budget does not run out.
const ENDED: Error = Error::Argument { name: "budget", reason: String::new() };

/// Area and volume of a mesh, and centre of mass and inertia where it is closed.
///
/// # Errors
/// A shape that is no mesh.
pub fn mass(shape: &Shape) -> Result<Mass, Error> {
    Query::default().mass(shape)?.value.ok_or(ENDED)
}

/// Convex shapes that cover a closed mesh: exactly where its notches can be cut open, otherwise with the stated
/// excess and deviation.
///
/// ```
/// use impinge::{Certainty, DecomposeOptions, Shape, decompose, procedural};
///
/// let stairs = Shape::from(procedural::stairs(3, 1.0, 2.0, 1.0)?);
/// let found = decompose(&stairs, &DecomposeOptions::DEFAULT)?;
/// assert_eq!((found.parts.len(), found.certainty), (3, Certainty::Exact));
/// # Ok::<(), impinge::Error>(())
/// ```
///
/// # Errors
/// A shape that is no mesh, a mesh that is not closed or encloses nothing, no parts allowed, or a tolerance that is
/// negative or not finite.
pub fn decompose(shape: &Shape, options: &DecomposeOptions) -> Result<Decomposition, Error> {
    Query::default().decompose(shape, options)?.value.ok_or(ENDED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::QUANTUM;
    use crate::{Memory, procedural};

    #[test]
    fn shells_are_made_within_the_budget() {
        let ball = Shape::from(procedural::ico_sphere(1.0, 4).unwrap());
        let mut memory = Memory::default();
        let mut ask = |budget: Budget| {
            { Query { budget, memory: Some(&mut memory), ..Query::default() } }.shells(&ball, None).unwrap()
        };
        let short = ask(Budget::units(1000));
        assert_eq!((short.value.is_none(), short.finish), (true, Finish::OutOfBudget));
        let whole = ask(Budget::UNLIMITED).value.unwrap();
        // 5,120 triangles of 13 units each.
        let calls = (2..100).find(|_| ask(Budget::units(10_240)).value.as_ref() == Some(&whole)).unwrap();
        assert!((6..10).contains(&calls), "{calls} calls");
    }

    #[test]
    fn mass_and_winding_number_are_found_within_the_budget() {
        let fresh = || Shape::from(procedural::ico_sphere(1.0, 4).unwrap());
        let (ball, mut memory) = (fresh(), Memory::default());
        fn within(memory: &mut Memory, units: u64) -> Query<'_> {
            Query { budget: Budget::units(units), memory: Some(memory), ..Query::default() }
        }
        let calls = (1..100).find(|_| {
            let found = within(&mut memory, 5000).mass(&ball).unwrap();
            assert!(found.work.primitive_tests + found.work.updates <= 6000, "{:?}", found.work);
            found.value.is_some_and(|found| found == mass(&fresh()).unwrap())
        });
        // 5,120 triangles of 8 units for the topology, and one for the sum.
        assert!(calls.is_some_and(|calls| (8..12).contains(&calls)), "{calls:?}");
        let at = glam::DVec3::new(0.1, 0.2, 0.3);
        let (ball, mut memory) = (fresh(), Memory::default());
        let calls = (1..100).find(|_| {
            let found = within(&mut memory, 5000).winding_number(&ball, at).unwrap();
            found.value.is_some_and(|found| found == crate::winding_number(&fresh(), at).unwrap())
        });
        assert!(calls.is_some_and(|calls| (5..20).contains(&calls)), "{calls:?}");
        let named = Query { method: Method::Image, ..Query::default() }.mass(&ball);
        assert!(named.unwrap_err().to_string().contains("image does not answer the mass"));
    }

    #[test]
    fn the_volume_in_itself_is_measured_within_the_budget() {
        // Two balls in one mesh that overlap.
        let ball = procedural::ico_sphere(1.0, 4).unwrap();
        let other = ball.vertices().iter().map(|&p| p + glam::DVec3::X);
        let vertices: Vec<_> = ball.vertices().iter().copied().chain(other).collect();
        let shift = ball.vertices().len() as u32;
        let more = ball.triangles().iter().map(|t| t.map(|v| v + shift));
        let triangles = ball.triangles().iter().copied().chain(more).collect();
        let both = Shape::from(crate::Mesh::from_points(vertices, triangles).unwrap());
        let options = VolumeOptions { resolution: Some(64), ..VolumeOptions::default() };
        let whole = Query::default().self_volume(&both, options).unwrap().value.unwrap();
        // A lens of two caps of the height 1/2.
        assert!((whole.volume - std::f64::consts::PI * 5.0 / 12.0).abs() < 0.02, "{}", whole.volume);
        let (both, mut memory) = (both.geometry().model().unwrap().unprepared(), Memory::default());
        let both = Shape::from(Geometry::Mesh(both.into()));
        let mut ask = |options| {
            let query = Query { budget: Budget::units(5000), memory: Some(&mut memory), ..Query::default() };
            { query }.self_volume(&both, options).unwrap()
        };
        for calls in 1.. {
            let found = ask(options);
            let work = found.work;
            let units = work.volume_tests + work.primitive_tests + work.updates;
            assert!(units <= 5000 + 2 * QUANTUM && calls < 200, "{work:?} in call {calls}");
            if let Some(found) = found.value {
                assert!(calls > 10 && found.volume == whole.volume, "{calls} calls");
                break;
            }
        }
        // Another resolution is another question.
        assert!(ask(VolumeOptions { resolution: Some(128), ..options }).value.is_none());
    }

    #[test]
    fn closedness_is_found_within_the_budget() {
        let ball = Shape::from(procedural::ico_sphere(1.0, 5).unwrap());
        let knows = || ball.geometry().model().is_some_and(|model| model.knows(Fact::Topology));
        let short = Query { budget: Budget::units(1000), ..Query::default() }.is_closed(&ball).unwrap();
        assert_eq!((short.value, short.finish), (None, Finish::OutOfBudget));
        assert!(short.work.updates <= 1512 && !knows(), "{:?}", short.work);
        let mut memory = Memory::default();
        let mut ask = || {
            let query =
                Query { budget: Budget::units(10_000), memory: Some(&mut memory), ..Query::default() };
            { query }.is_closed(&ball).unwrap().value
        };
        let calls = (1..100).find(|_| ask() == Some(true)).unwrap();
        assert!((10..30).contains(&calls) && knows(), "{calls} calls for 20,480 triangles");
        assert_eq!(Query::default().is_closed(&Shape::sphere(1.0).unwrap()).unwrap().value, Some(true));
    }
}
