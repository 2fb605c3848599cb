//! Many bodies: what meets what, from frame to frame.
//!
//! Bodies enter, move and leave; one call a frame, [`Scene::step`], tells which contacts began, persist and
//! ended, with the contacts of all pairs within a margin. A step goes through boxes, broad phase, pairs, narrow phase
//! and events, in this order. Each pair is decided by the method that [`Scene::set_method`] names for it, else by the
//! choice of `auto`.
//!
//! What is remembered between frames (extreme corners, last closest features) costs speed when it is lost,
//! never an answer. Answers do not depend on the number of threads.
//!
//! ```
//! use impinge::scene::{Body, EventKind, Scene};
//! use impinge::{Budget, Pose, Shape};
//!
//! let ball = Shape::sphere(1.0)?;
//! let mut scene = Scene::default();
//! scene.add(Body::fixed(ball.clone(), Pose::IDENTITY));
//! let b = scene.add(Body::moving(ball, Pose::from_translation([3.0, 0.0, 0.0])?));
//! assert!(scene.step(&mut Budget::UNLIMITED.clone()).events.is_empty());
//! scene.place(b, Pose::from_translation([1.5, 0.0, 0.0])?);
//! let frame = scene.step(&mut Budget::UNLIMITED.clone());
//! assert_eq!(frame.events[0].kind, EventKind::Began);
//! assert!((frame.contacts[0].contact.depth - 0.5).abs() < 1e-12);
//! # Ok::<(), impinge::Error>(())
//! ```
//!
//! Between the steps a scene answers questions as it stands: rays ([`Scene::ray_cast`]), moving shapes
//! ([`Scene::shape_cast`]), regions ([`Scene::overlapping`]), the nearest body ([`Scene::nearest`]) and points
//! ([`Scene::containing`]); a [`Filter`] says which bodies answer.
//!
//! A box that slides over another, with its contact manifold; the points keep their persistent ids.
//!
//! ```
//! use impinge::scene::{Body, Contacts, Options, Scene};
//! use impinge::{Budget, Pose, Shape};
//!
//! let cube = Shape::cuboid([1.0, 1.0, 1.0])?;
//! let mut scene = Scene::with_options(Options { margin: 0.01, contacts: Contacts::Manifold, ..Options::default() })?;
//! scene.add(Body::fixed(cube.clone(), Pose::IDENTITY));
//! let upper = scene.add(Body::moving(cube, Pose::from_translation([0.5, 0.0, 2.0])?));
//! let frame = scene.step(&mut Budget::UNLIMITED.clone());
//! let ids: Vec<u64> = frame.manifold(&frame.contacts[0]).iter().map(|point| point.id).collect();
//! assert_eq!(ids.len(), 4);
//! scene.place(upper, Pose::from_translation([0.6, 0.01, 1.999])?);
//! let frame = scene.step(&mut Budget::UNLIMITED.clone());
//! assert!(frame.points.iter().all(|point| ids.contains(&point.id)));
//! # Ok::<(), impinge::Error>(())
//! ```

mod articulated;
mod body;
mod body_bounds;
mod body_index;
mod brute;
mod configurations;
mod event;
mod filter;
mod overlap;
mod pair;
mod path;
mod route;
mod scene_query;
mod scene_ray;
mod scene_sweep;
mod separating_plane;
mod step;

#[cfg(test)]
mod certainty_tests;
#[cfg(test)]
mod deforming_tests;
#[cfg(test)]
mod tests;

use std::fmt;

use body::{Bodies, Entry};
use body_bounds::Fit;
use body_index::BodyIndex;
use filter::Rules;
use pair::Pair;

use crate::bound::Aabb;
use crate::broad::{Auto, BroadPhase, Changes};
#[cfg(test)]
use crate::narrow::detector::Detector;
use crate::narrow::detector::{Memory, Question};
use crate::narrow::methods::Method;
use crate::narrow::route::Reason;
use crate::{Certainty, Contact, Counters, Error, Finish, Outcome, Pose, Shape};

pub use crate::narrow::detector::Contacts;
pub use articulated::{Articulated, jointed};
pub use body::{Body, BodyId};
pub use body_bounds::Boxes;
pub use configurations::Clearance;
pub use event::{Event, EventKind, Frame, SceneContact};
pub use filter::Groups;
pub use path::{PathCheck, PathHit, PathOptions};
pub use scene_query::Filter;
pub use scene_sweep::{SceneImpact, SceneSweep, SceneSweepAnswer};

/// How a scene looks for contacts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Contacts are reported up to this distance (a length, not negative).
    pub margin: f64,
    /// Two bodies are in contact at or below this distance (a length, at most `margin`); 0 is touching.
    pub touch: f64,
    /// Which boxes stand for the bodies.
    pub boxes: Boxes,
    /// What is reported about where bodies meet; [`Scene::set_contacts`] asks otherwise about single pairs.
    pub contacts: Contacts,
    /// Whether open meshes push other bodies along the normals of their triangles only, from whichever side.
    pub one_sided: bool,
    /// What the random choices of a method follow from (`sampled`): the same seed gives the same frames.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            margin: 0.0,
            touch: 0.0,
            boxes: Boxes::Tight,
            contacts: Contacts::Deepest,
            one_sided: false,
            seed: 0,
        }
    }
}

/// Bodies and the contacts among them.
pub struct Scene {
    options: Options,
    bodies: Bodies,
    /// Where they are, for questions.
    index: BodyIndex,
    rules: Rules,
    broad: Box<dyn BroadPhase + Send + Sync>,
    changes: Changes,
    /// Bodies that moved since the last step, each once.
    moved: Vec<u32>,
    /// Their new boxes.
    refitted: Vec<Option<(Aabb, Fit)>>,
    /// All pairs whose boxes meet, ascending.
    pairs: Vec<Pair>,
    /// The pairs of the step before, to merge from.
    old_pairs: Vec<Pair>,
    /// Counts the steps, from 1.
    clock: u64,
    events: Vec<Event>,
    contacts: Vec<SceneContact>,
    points: Vec<Contact>,
    /// The persistent id that was given last.
    last_id: u64,
    /// What methods that share work among pairs remember.
    memories: Vec<(Method, Memory)>,
    /// A detector that stands in for a method's own.
    #[cfg(test)]
    instead: Option<(Method, &'static dyn Detector)>,
    undecided: Vec<[BodyId; 2]>,
    outcome: Outcome,
}

impl Scene {
    /// An empty scene over a broad phase.
    ///
    /// # Errors
    /// A margin or touch distance that is not finite, a negative margin, or `touch` above `margin`.
    pub fn new(options: Options, broad: impl BroadPhase + Send + Sync + 'static) -> Result<Scene, Error> {
        let Options { margin, touch, .. } = options;
        if !(margin >= 0.0 && margin.is_finite() && touch.is_finite() && touch <= margin) {
            let reason =
                format!("margin {margin} and touch {touch}: 0 ≤ margin and touch ≤ margin must hold");
            return Err(Error::Argument { name: "options", reason });
        }
        Ok(Scene::over(options, Box::new(broad)))
    }

    /// An empty scene that chooses its broad phase itself.
    ///
    /// # Errors
    /// As [`Scene::new`].
    pub fn with_options(options: Options) -> Result<Scene, Error> {
        Scene::new(options, Auto::default())
    }

    fn over(options: Options, broad: Box<dyn BroadPhase + Send + Sync>) -> Scene {
        Scene {
            options,
            bodies: Bodies::default(),
            index: BodyIndex::default(),
            rules: Rules::default(),
            broad,
            changes: Changes::default(),
            moved: Vec::new(),
            refitted: Vec::new(),
            pairs: Vec::new(),
            old_pairs: Vec::new(),
            clock: 0,
            events: Vec::new(),
            contacts: Vec::new(),
            points: Vec::new(),
            last_id: 0,
            memories: Vec::new(),
            #[cfg(test)]
            instead: None,
            undecided: Vec::new(),
            outcome: Outcome {
                certainty: Certainty::Exact,
                finish: Finish::Complete,
                work: Counters::default(),
            },
        }
    }

    /// The options it was made with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Adds a body.
    ///
    /// Nothing is built for it: the first step in which it comes near another builds the tree of a mesh within its budget.
    /// Asked beforehand, [`Shape::bounds`] builds it.
    pub fn add(&mut self, body: Body) -> BodyId {
        let (bounds, fit) = Fit::new(body.shape.geometry(), self.options.boxes).bounds(
            body.shape.geometry(),
            &body.pose,
            self.pad(),
        );
        let mobility = body.mobility;
        let id = self.bodies.insert(Entry {
            body,
            bounds,
            fit,
            moved_at: self.clock + 1,
            reshaped_at: 0,
            version: 0,
            queued: false,
            named: false,
        });
        self.broad.insert(id.slot(), bounds, mobility);
        self.index.change(id.slot(), self.bodies.count());
        id
    }

    /// Takes a body out; its contacts end with the next step. `None` when there is no such body.
    pub fn remove(&mut self, id: BodyId) -> Option<Body> {
        let entry = self.bodies.remove(id)?;
        self.broad.remove(id.slot());
        self.index.change(id.slot(), self.bodies.count());
        if entry.named {
            self.rules.forget(id.slot());
        }
        Some(entry.body)
    }

    /// Puts a body elsewhere, from the next step on; false when there is no such body.
    pub fn place(&mut self, id: BodyId, pose: Pose) -> bool {
        let (clock, count) = (self.clock + 1, self.bodies.count());
        let Some(entry) = self.bodies.get_mut(id) else { return false };
        if entry.body.pose != pose {
            entry.body.pose = pose;
            entry.mark_moved(id, clock, &mut self.moved);
            self.index.change(id.slot(), count);
        }
        true
    }

    /// Gives a body another shape, from the next step on; false when there is no such body.
    ///
    /// A pair whose named method does not accept the new shape is decided by the choice of `auto`:
    /// [`Scene::method`] tells so.
    pub fn set_shape(&mut self, id: BodyId, shape: impl Into<Shape>) -> bool {
        let (boxes, clock) = (self.options.boxes, self.clock + 1);
        let Some(entry) = self.bodies.get_mut(id) else { return false };
        entry.body.shape = shape.into();
        entry.fit = Fit::new(entry.body.shape.geometry(), boxes);
        entry.reshaped_at = clock;
        entry.version += 1;
        self.mark_moved(id);
        true
    }

    /// Moves the vertices of a body's mesh, from the next step on; see [`Shape::set_vertices`].
    ///
    /// The body counts as moved. What its pairs remember stays of use: it is checked against the new vertices.
    ///
    /// ```
    /// use impinge::scene::{Body, Scene};
    /// use impinge::{Budget, Pose, Shape};
    ///
    /// let flag = Shape::mesh(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2]])?;
    /// let mut scene = Scene::default();
    /// let flag = scene.add(Body::moving(flag, Pose::IDENTITY));
    /// scene.add(Body::fixed(Shape::sphere(0.5)?, Pose::from_translation([0.3, 0.3, 1.0])?));
    /// assert!(scene.step(&mut Budget::UNLIMITED.clone()).events.is_empty());
    /// scene.set_vertices(flag, &[[0.0; 3], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])?;
    /// assert_eq!(scene.step(&mut Budget::UNLIMITED.clone()).events.len(), 1);
    /// # Ok::<(), impinge::Error>(())
    /// ```
    ///
    /// # Errors
    /// No such body, or as [`Shape::set_vertices`]; nothing is changed then.
    pub fn set_vertices(&mut self, id: BodyId, vertices: &[[f64; 3]]) -> Result<(), Error> {
        let boxes = self.options.boxes;
        let entry = self.bodies.get_mut(id).ok_or_else(no_such_body)?;
        entry.body.shape.set_vertices(vertices)?;
        entry.fit = Fit::new(entry.body.shape.geometry(), boxes);
        entry.version += 1;
        self.mark_moved(id);
        Ok(())
    }

    /// The next step looks at the body anew.
    fn mark_moved(&mut self, id: BodyId) {
        let (clock, count) = (self.clock + 1, self.bodies.count());
        let Some(entry) = self.bodies.get_mut(id) else { return };
        entry.mark_moved(id, clock, &mut self.moved);
        self.index.change(id.slot(), count);
    }

    /// Changes what a body is and meets, from the next step on; false when there is no such body.
    pub fn set_groups(&mut self, id: BodyId, groups: Groups) -> bool {
        self.bodies.get_mut(id).map(|entry| entry.body.groups = groups).is_some()
    }

    /// Allows a pair to touch unseen (true) or looks at it again (false); false when a body is missing.
    pub fn ignore(&mut self, [a, b]: [BodyId; 2], ignored: bool) -> bool {
        self.change_rule([a, b], |rule| rule.ignored = ignored)
    }

    /// Decides one pair by this method, from the next step on; `Auto` for the method of choice.
    ///
    /// # Errors
    /// A missing body, twice the same, or a method that does not answer about contacts of these two kinds.
    pub fn set_method(&mut self, [a, b]: [BodyId; 2], method: Method) -> Result<(), Error> {
        let [Some(x), Some(y)] = [a, b].map(|id| self.bodies.get(id)) else { return Err(no_such_body()) };
        let question = Question::Contacts(route::asked(&self.options, self.options.contacts));
        let kinds = [x, y].map(|entry| entry.body.shape.kind());
        // Which of the two comes first depends on their indices.
        if !(method.accepts(&question, kinds) && method.accepts(&question, [kinds[1], kinds[0]])) {
            return Err(method.refusal(&question, kinds));
        }
        if !self.change_rule([a, b], |rule| rule.method = method) {
            return Err(Error::Argument {
                name: "bodies",
                reason: "a body makes no pair with itself".into(),
            });
        }
        Ok(())
    }

    /// The method that decides a pair of bodies, and why; `None` when a body is missing.
    pub fn method(&self, [a, b]: [BodyId; 2]) -> Option<(Method, Reason)> {
        let pair = if a.slot() < b.slot() { [a, b] } else { [b, a] };
        let [a, b] = pair.map(|id| self.bodies.get(id));
        let rule = self.rules.of(pair.map(BodyId::slot));
        Some(route::method_of(rule.method, &self.options, &route::placed([a?, b?])))
    }

    /// Tells this about one pair, from the next step on, `None` for what the options say; false when a body is
    /// missing.
    pub fn set_contacts(&mut self, [a, b]: [BodyId; 2], contacts: Option<Contacts>) -> bool {
        self.change_rule([a, b], |rule| rule.contacts = contacts)
    }

    fn change_rule(&mut self, ids: [BodyId; 2], change: impl FnOnce(&mut filter::Rule)) -> bool {
        if ids[0] == ids[1] || ids.iter().any(|&id| self.bodies.get(id).is_none()) {
            return false;
        }
        for id in ids {
            if let Some(entry) = self.bodies.get_mut(id) {
                entry.named = true;
            }
        }
        self.rules.change(ids.map(BodyId::slot), change);
        true
    }

    /// A body as it is now.
    pub fn body(&self, id: BodyId) -> Option<&Body> {
        self.bodies.get(id).map(|entry| &entry.body)
    }

    /// The box that stands for a body since the last step, grown by half the margin.
    pub fn bounds(&self, id: BodyId) -> Option<&Aabb> {
        self.bodies.get(id).map(|entry| &entry.bounds)
    }

    /// The broad phase in use and why: the automatic choice looks at the scene again now and then.
    pub fn broad_phase(&self) -> &str {
        self.broad.reason()
    }

    /// What the last step found.
    pub fn last(&self) -> Frame<'_> {
        Frame {
            events: &self.events,
            contacts: &self.contacts,
            points: &self.points,
            undecided: &self.undecided,
            box_pairs: self.pairs.len(),
            outcome: self.outcome,
        }
    }

    /// All bodies by ascending index.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyId, &Body)> {
        self.bodies.iter().map(|(id, entry)| (id, &entry.body))
    }

    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.bodies.count()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets what makes the next step faster: answers stay the same.
    pub fn forget(&mut self) {
        self.pairs.iter_mut().for_each(Pair::forget);
        self.memories.clear();
    }

    /// Boxes grow by half the margin, so that bodies within it meet in the broad phase.
    fn pad(&self) -> f64 {
        0.5 * self.options.margin * crate::num::tolerance::ROUND_UP
    }
}

fn no_such_body() -> Error {
    Error::Argument { name: "body", reason: "there is no such body in the scene".into() }
}

impl Default for Scene {
    /// An empty scene with the default options.
    fn default() -> Scene {
        Scene::over(Options::default(), Box::new(Auto::default()))
    }
}

impl fmt::Debug for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scene")
            .field("options", &self.options)
            .field("bodies", &self.len())
            .field("pairs", &self.pairs.len())
            .finish_non_exhaustive()
    }
}
