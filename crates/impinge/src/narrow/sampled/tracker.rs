//! Two bodies, or one with itself, from frame to frame: what users hold.

use std::sync::Arc;

use glam::DVec3;

use super::facet_pair::average_normal;
use super::followed::Followed;
use super::front::{Changes, Frame, Front, FrontOptions, Touch};
use super::layers::Layers;
use super::meter::Meter;
use super::pair_list::{Keep, PairList};
use super::posed::{Flow, Posed, relative_step};
use super::regions::{region, regions};
use super::shells::Shells;
use super::triangle_pair::Triangle;
use crate::contact::{Certainty, Contact, Counters, Feature, Finish, Outcome, Region};
use crate::geom::common_point::common_point;
use crate::model::{Geometry, Shape};
use crate::num::random::bits;
use crate::{Budget, Error, Pose};

/// Steps longer than this begin anew (no unit: a part of the bodies' size): what is known would be used up anyway.
const LONG_STEP: f64 = 1.0 / 16.0;

/// Twice the area of three vertices that tell whether a body has moved, against the square of their distances (no unit).
const PINNED: f64 = 0.01;

/// The largest patches that are told as one contact while they rest (no unit: a part of the bodies' size). Larger ones
/// would hide what comes near elsewhere.
const REST_SIZE: f64 = 0.25;

/// How a [`Tracker`] works.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrackerOptions {
    /// Seed of all random choices: the same seed gives the same answers.
    pub seed: u64,
    /// The stated largest deformation of each body (no unit), 0 for rigid ones: displacements of two vertices from rest,
    /// up to a motion of the whole body, differ by at most this part of the distance of the vertices, and facets of the
    /// first shell deform by no more ([`Shells::largest_deformation`]). A [`SelfTracker`] needs no such statement.
    pub deformation: [f64; 2],
    /// k of the list of nearest pairs, which keeps those with d < k·d_min + ε (no unit).
    pub keep_factor: f64,
    /// ε of that list (no unit: a part of the size of the bodies).
    pub keep_beyond: f64,
    /// The largest number of pairs of facets.
    pub most_pairs: usize,
    /// The radius of patches that count as meeting without a look at triangles when they may (no unit: a part of the
    /// size of the bodies); the certainty states the error. 0 for exact triangles.
    pub finest: f64,
    /// Whether what is not in contact is proved apart. Without, two bodies are only followed: at least one contact is told
    /// for each curve in which the surfaces cross, the next ones are expected where the surfaces come to touch, and that
    /// there is none is never said. Triangles are exact then, whatever `finest` is. A [`SelfTracker`] takes no notice of it.
    pub prove: bool,
    /// The length of a frame (seconds).
    pub frame: f64,
    /// How long a contact rests until it is looked at more coarsely (seconds).
    pub rest_after: f64,
    /// How far surfaces at rest may still move against each other (no unit: a part of the size of the bodies).
    pub rest_drift: f64,
}

impl Default for TrackerOptions {
    fn default() -> TrackerOptions {
        TrackerOptions {
            seed: 0,
            deformation: [0.0; 2],
            keep_factor: 1.2,
            keep_beyond: 0.01,
            most_pairs: 1 << 20,
            finest: 0.0,
            prove: true,
            frame: 1.0 / 60.0,
            rest_after: 0.5,
            rest_drift: 1e-5,
        }
    }
}

impl TrackerOptions {
    fn check(&self) -> Result<(), Error> {
        let numbers = [self.keep_factor, self.keep_beyond, self.frame, self.rest_after, self.rest_drift];
        let numbers = numbers.iter().chain([&self.finest]);
        match numbers.chain(&self.deformation).find(|x| !(**x >= 0.0 && x.is_finite())) {
            Some(x) => {
                Err(Error::Argument { name: "options", reason: format!("{x} is no size, factor or time") })
            }
            None => Ok(()),
        }
    }
}

/// Where the surface of a body is in a frame.
#[derive(Debug, Clone, Copy)]
pub struct Surface<'f> {
    /// As many as the mesh has, in the body's frame, all finite.
    pub vertices: &'f [DVec3],
    /// Where the body's frame is.
    pub pose: Pose,
    /// How far any vertex has moved in the body's frame since the last step at most (a length); 0 for a rigid body.
    pub moved: f64,
}

/// What is known after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TrackerReport {
    /// Whether any two triangles meet: proved where the certainty is exact, `None` where the budget ended first.
    pub meeting: Option<bool>,
    /// How many pairs of facets are in contact.
    pub contacts: usize,
    /// The share of all pairs of surface patches about which something is known, weighted by their areas.
    pub coverage: f64,
    /// The probability that a given contact which exists is not among those found; 1 for bodies that are only followed.
    pub miss_probability: f64,
    /// Certainty, end and cost.
    pub outcome: Outcome,
    /// Pairs of facets that were replaced by finer ones, by coarser ones, and by finer ones soon after that.
    pub changes: [u64; 3],
}

impl TrackerReport {
    /// Nothing was looked at.
    pub(crate) fn nothing() -> TrackerReport {
        let outcome = Outcome {
            certainty: Certainty::Sampled { samples: 0 },
            finish: Finish::OutOfBudget,
            work: Counters::default(),
        };
        TrackerReport {
            meeting: None,
            contacts: 0,
            coverage: 0.0,
            miss_probability: 1.0,
            outcome,
            changes: [0; 3],
        }
    }
}

/// Two meshes, rigid or deforming, followed from frame to frame within a budget.
///
/// Nothing is built or refitted over a whole mesh in a frame: facets of layered shells follow three vertices each and
/// are placed when they are looked at. The stated motions ([`Surface::moved`] and the poses) tell how long a pair of
/// facets that was apart stays so.
///
/// ```
/// use impinge::{Budget, Pose, Shape, Surface, Tracker, TrackerOptions, procedural};
///
/// let ball = Shape::from(procedural::ico_sphere(1.0, 3)?);
/// let mut tracker = Tracker::new(&ball, &ball, TrackerOptions::default())?;
/// let vertices = procedural::ico_sphere(1.0, 3)?.vertices().to_vec();
/// let at = |x: f64| Ok::<_, impinge::Error>(Surface {
///     vertices: &vertices,
///     pose: Pose::from_translation([x, 0.0, 0.0])?,
///     moved: 0.0,
/// });
/// let apart = tracker.step([at(0.0)?, at(2.1)?], &mut Budget::units(100_000))?;
/// let meeting = tracker.step([at(0.0)?, at(1.9)?], &mut Budget::units(100_000))?;
/// assert_eq!([apart.meeting, meeting.meeting], [Some(false), Some(true)]);
/// # Ok::<(), impinge::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tracker {
    core: Core,
}

/// One mesh that deforms, followed for collisions with itself; otherwise as [`Tracker`].
///
/// Patches of the mesh are measured when they are looked at, so only their motion is stated ([`Surface::moved`]). That a
/// mesh does not meet itself is estimated, not proved: connected patches whose normals all lie well within a right angle
/// of some direction are not looked at. Contacts are self-intersections as [`crate::self_intersections`] counts them.
#[derive(Debug, Clone)]
pub struct SelfTracker {
    core: Core,
}

impl Tracker {
    /// Follows two meshes. Their shells are built if they are not yet, and kept with the shapes.
    ///
    /// # Errors
    /// A shape that is no mesh, or an option out of range.
    pub fn new(a: &Shape, b: &Shape, options: TrackerOptions) -> Result<Tracker, Error> {
        options.check()?;
        Ok(Tracker::of_layers([layers_of("a", a)?, layers_of("b", b)?], options))
    }

    /// Follows two meshes by shells that were loaded, or that have a chosen number of levels.
    ///
    /// # Errors
    /// An option out of range.
    pub fn with_shells(shells: [Arc<Shells>; 2], options: TrackerOptions) -> Result<Tracker, Error> {
        options.check()?;
        Ok(Tracker::of_layers(shells.map(|shells| Arc::new(Layers::new(shells))), options))
    }

    /// The same with options that are known to be good.
    pub(crate) fn of_layers(layers: [Arc<Layers>; 2], options: TrackerOptions) -> Tracker {
        Tracker { core: Core::new(layers, false, options) }
    }

    /// Goes on to the next frame as far as the budget goes; what is left is looked at in the next one.
    ///
    /// # Errors
    /// Another number of vertices than the mesh has, or a motion that is negative or not a number.
    pub fn step(&mut self, surfaces: [Surface<'_>; 2], budget: &mut Budget) -> Result<TrackerReport, Error> {
        self.core.step(surfaces, budget)
    }

    /// One contact for each pair of facets in contact: its point is common to two triangles that meet, the normal is that
    /// of their average plane, the depth how far they overlap along it, the id the same from step to step while the
    /// facets stay in contact. `surfaces` are those of the last step.
    pub fn contacts(&self, surfaces: [Surface<'_>; 2]) -> Vec<Contact> {
        self.core.contacts(surfaces)
    }

    /// Contacts that hang together, as one region each.
    pub fn regions(&self, surfaces: [Surface<'_>; 2]) -> Vec<Region> {
        let core = &self.core;
        if let Some(followed) = &core.followed {
            // Each curve is one region.
            let contacts = core.contacts(surfaces);
            let curves = followed.curves(&core.posed(&core.layers, &surfaces));
            let of = |first: usize| {
                let same = contacts.iter().zip(&curves).filter(move |(_, curve)| **curve == first);
                region(same.map(|(contact, _)| contact))
            };
            return (0..curves.len()).filter(|&k| curves[k] == k).map(of).collect();
        }
        regions(&core.layers, &core.posed(&core.layers, &surfaces), &core.front, &core.contacts(surfaces))
    }

    /// Forgets what was found: costs speed, never an answer.
    pub fn forget(&mut self) {
        self.core.forget();
    }
}

impl SelfTracker {
    /// Follows one mesh.
    ///
    /// # Errors
    /// As [`Tracker::new`].
    pub fn new(mesh: &Shape, options: TrackerOptions) -> Result<SelfTracker, Error> {
        options.check()?;
        let layers = layers_of("mesh", mesh)?;
        Ok(SelfTracker { core: Core::new([layers.clone(), layers], true, options) })
    }

    /// As [`Tracker::step`].
    ///
    /// # Errors
    /// As [`Tracker::step`].
    pub fn step(&mut self, surface: Surface<'_>, budget: &mut Budget) -> Result<TrackerReport, Error> {
        self.core.step([surface; 2], budget)
    }

    /// One contact for each pair of triangles that meet; otherwise as [`Tracker::contacts`].
    pub fn contacts(&self, surface: Surface<'_>) -> Vec<Contact> {
        self.core.contacts([surface; 2])
    }

    /// As [`Tracker::forget`].
    pub fn forget(&mut self) {
        self.core.forget();
    }
}

fn layers_of(name: &'static str, shape: &Shape) -> Result<Arc<Layers>, Error> {
    let refused = || Error::Argument { name, reason: "only meshes have layered shells".into() };
    let Geometry::Mesh(model) = shape.geometry() else { return Err(refused()) };
    Layers::of(model, &mut Budget::UNLIMITED.clone()).ok_or_else(refused)
}

/// What both trackers are.
#[derive(Debug, Clone)]
struct Core {
    options: TrackerOptions,
    one: bool,
    layers: [Arc<Layers>; 2],
    front: Front,
    /// Instead of the front where nothing is to be proved.
    followed: Option<Followed>,
    list: PairList,
    /// The bodies' own size (a length).
    size: f64,
    poses: Option<[Pose; 2]>,
    balls: [(DVec3, f64); 2],
    /// Three vertices of each body that is stated not to deform, and where they were in the last step.
    pinned: [Option<([u32; 3], [DVec3; 3])>; 2],
    /// How far vertices may have moved since the balls were found.
    drift: [f64; 2],
    /// Rounding that the proved gaps have room for.
    pad: f64,
    frame: u64,
    /// New pairs a step, tuned so that they take a small part of the budget.
    seeds: usize,
    /// Whether the last step left something open.
    behind: bool,
}

impl Core {
    fn new(layers: [Arc<Layers>; 2], one: bool, options: TrackerOptions) -> Core {
        let size = layers[0].size.max(layers[1].size).max(f64::MIN_POSITIVE);
        let front_options = FrontOptions {
            one,
            // Patches of one body that hang together always may meet.
            finest: if one { 0.0 } else { options.finest * size },
            most: options.most_pairs,
            frame: options.frame as f32,
            rest_after: options.rest_after as f32,
            rest_size: REST_SIZE * size,
            rest_drift: (options.rest_drift * size) as f32,
        };
        Core {
            options,
            one,
            front: Front::new(layers.clone(), 0.5 * size, front_options),
            followed: (!options.prove && !one).then(|| Followed::new(layers.clone(), options.deformation)),
            layers,
            list: PairList::default(),
            size,
            poses: None,
            balls: [(DVec3::ZERO, 0.0); 2],
            pinned: [None; 2],
            drift: [0.0; 2],
            pad: 0.0,
            frame: 0,
            seeds: 4,
            behind: true,
        }
    }

    fn forget(&mut self) {
        self.poses = None;
    }

    fn check(&self, surfaces: &[Surface<'_>; 2]) -> Result<(), Error> {
        for (surface, layers) in surfaces.iter().zip(&self.layers) {
            let (given, least) = (surface.vertices.len(), layers.vertices);
            if given < least {
                let reason = format!("{given} positions for a mesh that names {least} vertices");
                return Err(Error::Argument { name: "vertices", reason });
            }
            if !(surface.moved >= 0.0) {
                let reason = format!("{} is no length", surface.moved);
                return Err(Error::Argument { name: "moved", reason });
            }
        }
        Ok(())
    }

    fn step(&mut self, surfaces: [Surface<'_>; 2], budget: &mut Budget) -> Result<TrackerReport, Error> {
        self.check(&surfaces)?;
        let layers = self.layers.clone();
        let bodies = self.posed(&layers, &surfaces);
        let before = self.poses;
        let motions = [0, 1].map(|k| self.motion(&surfaces[k], k));
        let step = self.moved(&surfaces, motions, &bodies);
        self.frame += 1;
        let flow = before.map(|before| Flow::new(&before, &surfaces.map(|surface| surface.pose)));
        let deformed = motions[0] + motions[1];
        let poses = [0, 1].map(|k| bodies[k].pose);
        let mut frame = Frame { bodies, pad: self.pad, step, flow, deformed, work: Counters::default() };
        let mut meter = Meter::new(budget);
        if let Some(followed) = &mut self.followed {
            followed.step(&mut frame, &mut meter);
            return Ok(followed_report(followed, &frame));
        }
        let looked_at = self.front.begin(step, poses, deformed, self.pad);
        // Without reading a vertex, a look costs about an eighth of a test of two facets.
        meter.charge(looked_at / 8);
        let miss_probability = self.look(&mut frame, &mut meter);
        self.front.merge_all_parted(&mut frame, &mut meter);
        Ok(self.report(&frame, miss_probability))
    }

    /// The bodies of a frame; one body with itself where it is in its own frame, since it meets itself wherever it is.
    fn posed<'f>(&self, layers: &'f [Arc<Layers>; 2], surfaces: &'f [Surface<'f>; 2]) -> [Posed<'f>; 2] {
        [0, 1].map(|k| {
            let pose = if self.one { &Pose::IDENTITY } else { &surfaces[k].pose };
            Posed::new(&layers[k].shells, surfaces[k].vertices, pose, self.options.deformation[k])
        })
    }

    /// How far vertices of a body have moved at most: not at all where it is stated not to deform and three of its
    /// vertices, not in line, are where they were.
    fn motion(&mut self, surface: &Surface<'_>, k: usize) -> f64 {
        if self.one || self.options.deformation[k] > 0.0 || surface.moved == 0.0 {
            return surface.moved;
        }
        let before = self.pinned[k].filter(|_| self.poses.is_some());
        let vertices = match before {
            Some((vertices, _)) => Some(vertices),
            None => largest(&self.layers[k].shells, surface.vertices),
        };
        self.pinned[k] = vertices.map(|pinned| (pinned, pinned.map(|v| surface.vertices[v as usize])));
        if before.is_some() && self.pinned[k] == before { 0.0 } else { surface.moved }
    }

    /// How far the bodies may have come nearer to each other; begins anew where that is too far.
    fn moved(&mut self, surfaces: &[Surface<'_>; 2], motions: [f64; 2], bodies: &[Posed<'_>; 2]) -> f64 {
        let poses = surfaces.map(|surface| surface.pose);
        let before = self.poses.replace(poses);
        for k in 0..2 {
            self.drift[k] += motions[k];
            let loose = self.drift[k] > 0.1 * self.balls[k].1 && before.is_some_and(|before| before != poses);
            if before.is_none() || loose {
                (self.balls[k], self.drift[k]) = (bodies[k].ball(), 0.0);
            }
        }
        let balls = [0, 1].map(|k| (self.balls[k].0, self.balls[k].1 + self.drift[k]));
        let rounding = bodies[0].rounding(balls[0]) + bodies[1].rounding(balls[1]);
        // Of one body with itself only the deformation counts.
        let rigid = match before {
            Some(before) if !self.one => relative_step(&before, &poses, &balls),
            _ => 0.0,
        };
        let step = rigid + motions[0] + motions[1];
        // Negated, so that NaN begins anew.
        if before.is_none() || rounding > self.pad || !(step <= LONG_STEP * self.size) {
            self.pad = 2.0 * rounding;
            self.followed.iter_mut().for_each(Followed::clear);
            self.front.reset();
            self.list.clear();
            self.behind = true;
            return 0.0;
        }
        step
    }

    /// Looks at what is due; returns the probability that a contact was missed.
    fn look(&mut self, frame: &mut Frame<'_>, meter: &mut Meter<'_>) -> f64 {
        if !self.front.verify_contacts(frame, meter) || !self.front.settle_closing(frame, meter) {
            return 1.0;
        }
        // In every other frame, so that a small budget is not used up by the list for ever.
        let listed = self.behind && !self.one && self.frame.is_multiple_of(2);
        if listed && self.front.has_open() && !self.look_at_list(frame, meter) {
            return 1.0;
        }
        let seed = bits(self.options.seed, self.frame);
        let missed = self.front.settle_at_random(frame, meter, seed);
        if self.front.is_full() { 1.0 } else { missed }
    }

    /// The nearest pairs first; new ones are created for a part of what the last step could do.
    fn look_at_list(&mut self, frame: &mut Frame<'_>, meter: &mut Meter<'_>) -> bool {
        let keep =
            Keep { factor: self.options.keep_factor, beyond: self.options.keep_beyond * self.size, most: 64 };
        let measured = self.list.update(&frame.bodies, self.seeds, keep, self.options.seed);
        frame.work.volume_tests += measured;
        // A distance costs about a fourth of a test of two facets.
        meter.charge(measured / 4);
        let triangles = self.list.triangles(&frame.bodies);
        triangles.into_iter().all(|triangles| self.front.settle_around(triangles, frame, meter))
    }

    fn report(&mut self, frame: &Frame<'_>, miss_probability: f64) -> TrackerReport {
        let complete = !self.front.has_open();
        let unverified = if miss_probability > 0.0 { self.front.unverified_share() } else { 0.0 };
        let contacts = self.front.count_contacts();
        let done = complete && unverified == 0.0;
        // Weights are rounded; what is open counts for something.
        let most = if done { 1.0 } else { 1.0 - f64::EPSILON };
        let coverage = (1.0 - self.front.open_share() - unverified).clamp(0.0, most);
        self.tune(done);
        let meeting = if contacts > 0 { Some(true) } else { done.then_some(false) };
        let work = frame.work;
        let samples = work.volume_tests + work.primitive_tests;
        let certainty = match meeting {
            Some(true) if self.options.finest > 0.0 && !self.one => {
                Certainty::Conservative { tolerance: self.front.tolerance(&frame.bodies) }
            }
            Some(true) => Certainty::Exact,
            Some(false) if !self.one => Certainty::Exact,
            _ => Certainty::Sampled { samples },
        };
        let finish = if done { Finish::Complete } else { Finish::OutOfBudget };
        let Changes { splits, merges, flicker } = self.front.changes;
        TrackerReport {
            meeting,
            contacts,
            coverage,
            miss_probability,
            outcome: Outcome { certainty, finish, work },
            changes: [splits, merges, flicker],
        }
    }

    /// Fewer new pairs a step while the budget does not suffice, more while it does.
    fn tune(&mut self, done: bool) {
        self.behind = !done;
        self.seeds = if done { (self.seeds + 1).min(16) } else { (self.seeds / 2).max(1) };
    }

    fn contacts(&self, surfaces: [Surface<'_>; 2]) -> Vec<Contact> {
        let bodies = self.posed(&self.layers, &surfaces);
        if self.one {
            let world = [0, 1]
                .map(|k| Posed::new(&self.layers[k].shells, surfaces[k].vertices, &surfaces[k].pose, 0.0));
            let of = |[t, u]: [u32; 2]| {
                // Two triangles are a contact of their own, so they name it.
                let id = ((u64::from(t) << 32) | u64::from(u)) + 1;
                contact(&[world[0].triangle(t), world[1].triangle(u)], [t, u].map(Feature::Face), id)
            };
            return self.front.self_intersections(&bodies[0], self.pad).into_iter().map(of).collect();
        }
        if let Some(followed) = &self.followed {
            let of = |&([t, u], id): &([u32; 2], u64)| {
                contact(&[bodies[0].triangle(t), bodies[1].triangle(u)], [t, u].map(Feature::Face), id)
            };
            return followed.told().iter().map(of).collect();
        }
        let one = |touch: Touch| match touch.witness {
            Some([t, u]) => {
                let triangles = [bodies[0].triangle(t), bodies[1].triangle(u)];
                contact(&triangles, [t, u].map(Feature::Face), touch.id)
            }
            None => {
                let groups = touch.groups;
                let [(a, r), (b, s)] = [0, 1].map(|k| self.layers[k].groups.ball(&bodies[k], groups[k]));
                let normal = (b - a).normalize_or_zero();
                let depth = r + s - a.distance(b);
                let points = [a + normal * r, b - normal * s];
                let features = [Feature::Surface; 2];
                Contact { points, normal, depth, area: 0.0, features, id: touch.id, time: 0.0 }
            }
        };
        self.front.contacts().map(one).collect()
    }
}

/// What is told of bodies that are followed.
fn followed_report(followed: &Followed, frame: &Frame<'_>) -> TrackerReport {
    let contacts = followed.told().len();
    let work = frame.work;
    let samples = work.volume_tests + work.primitive_tests;
    let certainty = if contacts > 0 { Certainty::Exact } else { Certainty::Sampled { samples } };
    let finish = if followed.is_done { Finish::Complete } else { Finish::OutOfBudget };
    TrackerReport {
        meeting: (contacts > 0).then_some(true),
        contacts,
        coverage: followed.coverage(),
        miss_probability: 1.0,
        outcome: Outcome { certainty, finish, work },
        changes: [0; 3],
    }
}

/// The corners of the largest triangle of the coarsest shell; `None` where it is a needle.
fn largest(shells: &Shells, vertices: &[DVec3]) -> Option<[u32; 3]> {
    let coarsest = shells.levels.last()?;
    let sides = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| vertices[v as usize]);
        [b - a, c - a]
    };
    let area = |t: &[u32; 3]| sides(t)[0].cross(sides(t)[1]).length();
    let found = coarsest.corners.iter().max_by(|s, t| area(s).total_cmp(&area(t)))?;
    let [u, v] = sides(found);
    (area(found) > PINNED * u.length_squared().max(v.length_squared())).then_some(*found)
}

/// The contact of two triangles that meet: their average plane passes through a common point, and their overlap along its
/// normal is the depth (section 5.3).
fn contact([a, b]: &[Triangle; 2], features: [Feature; 2], id: u64) -> Contact {
    let (m, n) = (a.normal.normalize_or_zero(), b.normal.normalize_or_zero());
    let normal = average_normal(m, n).unwrap_or(m);
    let reach = |of: &Triangle| of.corners.map(|p| p.dot(normal));
    let deepest_a = reach(a).into_iter().fold(f64::NEG_INFINITY, f64::max);
    let deepest_b = reach(b).into_iter().fold(f64::INFINITY, f64::min);
    let depth = deepest_a - deepest_b;
    let middle = common_point(&a.corners, &b.corners);
    let points = [middle + normal * (0.5 * depth), middle - normal * (0.5 * depth)];
    Contact { points, normal, depth, area: 0.0, features, id, time: 0.0 }
}
