//! CONTACT: sphere trees, cubics under a screw, labels.
//!
//! Redon, Kheddar and Coquillart, "CONTACT: arbitrary in-between motions for collision detection", 2001. One
//! body moves by a screw under the paper's law, the other rests. The trees of equal leaves are descended
//! together, the nearest pair first, up to the current time of first contact; leaves test all their edges with
//! edges and vertices with faces. Coordinates in the screw's frame are computed once and kept (4.1), and four
//! tables keep pairs from being tested twice (4.4). We leave it where it loses contacts: roots come as bands
//! that cannot miss ([`elementary`]), a turn near the tangent's pole is taken in parts, and surfaces that meet at
//! the start are found by the exact test. Two bodies that both move, and motions of other laws, go through
//! relative screws on certified spans ([`RelativeSearch`]). [`super::sweep`] takes any motion and is faster; this
//! is the method to compare with, and the one that needs nothing but spheres.

pub mod elementary;
pub mod moving_sphere;
mod relative;
mod tables;

use glam::DVec3;

pub use self::relative::RelativeSearch;
pub use self::tables::{Tables, Tests};
pub use crate::hierarchy::sphere_cover::SphereCover;

use self::elementary::{Elementary, Touch};
use self::moving_sphere::Centre;
use self::tables::Tested;
use super::answer::{ContactKind, Impact, Sweep, SweepOptions};
use super::contact_normal::separating_normal;
use super::earliness::earliness;
use super::local_frame::LocalFrame;
use crate::contact::{Counters, Verdict};
use crate::geom::common_point::common_point;
use crate::geom::unit_normal::unit_normal;
use crate::model::Model;
use crate::motion::{Ball, RationalScrew};
use crate::narrow::exact::collide::{Posed, charged_first_meeting};
use crate::num::tolerance::{ROUND_UP, SWEEP_SLACK};
use crate::{Budget, Certainty, Error, Feature, Finish, Mesh, Motion, Outcome, Pose};

/// A body and the spheres around it.
#[derive(Debug, Clone, Copy)]
pub struct Covered<'m> {
    /// The mesh.
    pub model: &'m Model,
    /// Its spheres.
    pub spheres: &'m SphereCover,
}

impl Covered<'_> {
    /// The sphere around all of it.
    fn ball(&self) -> Ball {
        let whole = self.spheres.spheres()[0];
        Ball { centre: whole.centre, radius: whole.radius }
    }
}

/// What rounding can do to the place of one body as the other sees it.
fn noise(balls: &[Ball; 2], motions: [&Motion; 2]) -> f64 {
    4.0 * (motions[0].rounding(&balls[0]) + motions[1].rounding(&balls[1]))
}

#[cfg(any(test, feature = "unstable"))]
/// The first contact of a body that moves with one that rests.
///
/// # Errors
/// The motion is no screw under the law of CONTACT, no pure turn and no pure shift.
pub fn sweep(a: Covered, motion: &Motion, b: Covered, pose_b: &Pose) -> Result<Sweep, Error> {
    let mut search = ContactSearch::new(a, motion, b, pose_b, &SweepOptions::DEFAULT, Tables::ALL)?;
    Ok(search.advance(&mut Budget::UNLIMITED.clone()))
}

/// The first contact of two bodies under any motions, under a budget.
///
/// # Errors
/// A body that rests at a pose that is no rotation while the other moves by no screw under the law of CONTACT.
pub fn sweep_within(
    bodies: [Covered; 2],
    motions: [&Motion; 2],
    options: &SweepOptions,
    budget: &mut Budget,
) -> Result<Sweep, Error> {
    let balls = bodies.map(|body| body.ball());
    let Some(frame) = LocalFrame::of([&balls[0], &balls[1]], motions) else {
        return sweep_in_the_world(bodies, motions, options, budget);
    };
    let local = motions.map(|motion| frame.motion(motion));
    let found = sweep_in_the_world(bodies, [&local[0], &local[1]], options, budget)?;
    Ok(frame.back(found))
}

/// The same where rounding in the world is in proportion to the bodies.
fn sweep_in_the_world(
    bodies: [Covered; 2],
    motions: [&Motion; 2],
    options: &SweepOptions,
    budget: &mut Budget,
) -> Result<Sweep, Error> {
    let tables = Tables::ALL;
    let [a, b] = bodies;
    let alone = |a: Covered<'_>, motion: &Motion, b: Covered<'_>, rests: &Motion, budget: &mut Budget| {
        let Motion::Still(pose) = rests else { return None };
        if options.from > 0.0 || options.until < 1.0 {
            return None;
        }
        let mut search = ContactSearch::new(a, motion, b, pose, options, tables).ok()?;
        Some(to_the_end(budget, |budget| search.advance(budget)))
    };
    let found = if let Some(found) = alone(a, motions[0], b, motions[1], budget) {
        found
    } else if let Some(found) = alone(b, motions[1], a, motions[0], budget) {
        Sweep { impact: found.impact.map(Impact::swapped), ..found }
    } else {
        let mut search = RelativeSearch::new(bodies, motions, options, tables)?;
        to_the_end(budget, |budget| search.advance(budget))
    };
    // Features that touch within the slack meet for certain where triangles do soon after.
    let mut meet = |t: f64| {
        let [a, b] = [0, 1].map(|k| Posed::new(bodies[k].model, motions[k].pose(t)));
        charged_first_meeting(a, b, budget).is_some()
    };
    let Some(impact) = found.impact else { return Ok(found) };
    let soon = [impact.time, (impact.time + options.tolerance).min(1.0)];
    let proved = impact.proved || soon.into_iter().any(&mut meet);
    let mut outcome = found.outcome;
    if !proved {
        let (early, _) = earliness(impact.time, options.tolerance, options.until, &mut meet);
        outcome.certainty = Certainty::Conservative { tolerance: options.tolerance.max(early) };
    }
    let models = bodies.map(|body| body.model);
    let normal = separating_normal(models, motions, [options.tolerance, found.slack], &impact);
    Ok(Sweep { impact: Some(Impact { proved, normal, ..impact }), outcome, ..found })
}

/// Goes on with a search whenever it has rested.
fn to_the_end(budget: &mut Budget, mut advance: impl FnMut(&mut Budget) -> Sweep) -> Sweep {
    loop {
        let found = advance(budget);
        if found.outcome.finish != Finish::OutOfBudget || !budget.rest(|| Verdict::from(found)) {
            return found;
        }
    }
}

/// A search that can be interrupted and resumed.
#[derive(Debug, Clone)]
pub struct ContactSearch<'m> {
    bodies: [Covered<'m>; 2],
    poses: [Pose; 2],
    slack: f64,
    /// How far the motion may be from the screw, by rounding at the least.
    drift: f64,
    tolerance: f64,
    tables: Tables,
    /// The parts of the motion that are left, the last first.
    parts: Vec<RationalScrew>,
    part: Option<ScrewSearch>,
    started: bool,
    found: Option<Impact>,
    tests: Tests,
}

/// The search over one part of the motion.
#[derive(Debug, Clone)]
struct ScrewSearch {
    screw: RationalScrew,
    /// Pairs of spheres to look at, the nearest last.
    open: Vec<[u32; 2]>,
    tested: Tested,
    /// No contact after this parameter matters.
    end: f64,
    first: Option<Found>,
    kept: Kept,
}

/// What touched first so far.
#[derive(Debug, Clone, Copy)]
struct Found {
    touch: Touch,
    kind: ContactKind,
    items: [u32; 2],
}

/// Coordinates in the screw's frame, computed when they are first needed (4.1): of the moving body from the
/// screw's origin, of the resting one in the world.
#[derive(Debug, Clone)]
struct Kept {
    points: [Vec<Option<DVec3>>; 2],
    centres: [Vec<Option<Centre>>; 2],
}

impl<'m> ContactSearch<'m> {
    /// A search over the whole step.
    ///
    /// # Errors
    /// The motion is no screw under the law of CONTACT, no pure turn and no pure shift.
    pub fn new(
        a: Covered<'m>,
        motion: &Motion,
        b: Covered<'m>,
        pose_b: &Pose,
        options: &SweepOptions,
        tables: Tables,
    ) -> Result<ContactSearch<'m>, Error> {
        let mut parts = match motion {
            Motion::Still(_) => Vec::new(),
            Motion::Rigid(rigid) => rigid.rational_screws().ok_or(Error::Argument {
                name: "motion",
                reason: "the method contact needs a screw with the law contact, a pure turn or a pure shift"
                    .into(),
            })?,
        };
        parts.reverse();
        let poses = [motion.pose(0.0), *pose_b];
        let [size_a, size_b] = [a, b].map(|body| body.spheres.spheres()[0]);
        let apart = poses[0].apply(size_a.centre).distance(poses[1].apply(size_b.centre));
        let slack = options.slack.unwrap_or((size_a.radius + size_b.radius + apart) * SWEEP_SLACK);
        let drift = noise(&[a.ball(), b.ball()], [motion, &Motion::Still(*pose_b)]);
        Ok(ContactSearch {
            bodies: [a, b],
            poses,
            slack: slack.max(4.0 * drift),
            drift,
            tolerance: options.tolerance,
            tables,
            parts,
            part: None,
            started: false,
            found: None,
            tests: Tests::default(),
        })
    }

    /// The same where points may be so far from the screw: what comes that near counts as touching.
    pub(super) fn drifting(mut self, drift: f64) -> ContactSearch<'m> {
        self.drift = drift;
        self
    }

    /// What was tested so far.
    pub fn tests(&self) -> Tests {
        self.tests
    }

    /// Goes on until the first contact is known or the budget ends; then calling again resumes.
    pub fn advance(&mut self, budget: &mut Budget) -> Sweep {
        if !self.started {
            self.started = true;
            self.found = self.meeting_at_start(budget);
        }
        while self.found.is_none() {
            let Some(mut part) = self.part.take().or_else(|| self.next_part()) else { break };
            while let Some(pair) = part.open.pop() {
                let before = self.tests.total();
                if !budget.is_unlimited() && !budget.draw(1) {
                    part.open.push(pair);
                    let free = part.screw.span[0];
                    self.part = Some(part);
                    return self.answer(free, Finish::OutOfBudget);
                }
                self.visit(&mut part, pair);
                budget.draw(self.tests.total() - before);
            }
            self.found = part.first.map(|found| self.impact(&part.screw, &found));
        }
        let free = self.found.map_or(1.0, |impact| impact.time);
        self.answer(free, Finish::Complete)
    }

    fn answer(&self, free_until: f64, finish: Finish) -> Sweep {
        let work = Counters {
            volume_tests: self.tests.spheres,
            primitive_tests: self.tests.total() - self.tests.spheres,
            updates: 0,
        };
        let certainty = Certainty::Conservative { tolerance: self.tolerance };
        let outcome = Outcome { certainty, finish, work };
        Sweep { impact: self.found, free_until, slack: self.slack, outcome }
    }

    /// The elementary tests see surfaces come together, not surfaces that pass through each other already.
    fn meeting_at_start(&self, budget: &mut Budget) -> Option<Impact> {
        let [a, b] = [0, 1].map(|k| Posed::new(self.bodies[k].model, self.poses[k]));
        let pair = charged_first_meeting(a, b, budget)?;
        let [corners_a, corners_b] = [a.corners(pair[0]), b.corners(pair[1])];
        Some(Impact {
            time: 0.0,
            kind: ContactKind::Shapes,
            features: pair.map(Feature::Face),
            triangles: pair.map(Some),
            point: common_point(&corners_a, &corners_b),
            normal: unit_normal(3, |k| corners_b[k]),
            proved: true,
        })
    }

    fn next_part(&mut self) -> Option<ScrewSearch> {
        let screw = self.parts.pop()?;
        let counts =
            self.bodies.map(|body| (body.model.mesh().vertices().len(), body.spheres.spheres().len()));
        let kept = Kept {
            points: counts.map(|(vertices, _)| vec![None; vertices]),
            centres: counts.map(|(_, spheres)| vec![None; spheres]),
        };
        Some(ScrewSearch {
            screw,
            open: vec![[0, 0]],
            tested: Tested::default(),
            end: 1.0,
            first: None,
            kept,
        })
    }

    /// Looks at a pair of spheres.
    fn visit(&mut self, part: &mut ScrewSearch, pair: [u32; 2]) {
        let spheres = [0, 1].map(|k| self.bodies[k].spheres.spheres()[pair[k] as usize]);
        let labels = spheres.map(|sphere| sphere.label);
        if self.tables.labels && part.tested.has(labels) {
            return;
        }
        self.tests.spheres += 1;
        let centres = [0, 1].map(|k| self.centre(part, k, pair[k]));
        let reach = spheres[0].radius + spheres[1].radius + self.slack + self.drift;
        if !moving_sphere::may_meet(&part.screw, &centres[0], &centres[1], reach, part.end) {
            return;
        }
        let [a, b] = spheres;
        if a.right == 0 && b.right == 0 {
            self.leaves(part, labels);
            if self.tables.labels {
                part.tested.mark(labels);
            }
            return;
        }
        // The larger one is opened.
        let k = usize::from(a.right == 0 || (b.right != 0 && b.radius > a.radius));
        let children = [pair[k] + 1, pair[k] + spheres[k].right].map(|child| {
            let mut pair = pair;
            pair[k] = child;
            let [a, b] = [0, 1].map(|k| self.centre(part, k, pair[k]));
            (a.apart(&b), pair)
        });
        let nearer = usize::from(children[1].0 < children[0].0);
        part.open.extend([children[1 - nearer].1, children[nearer].1]);
    }

    /// Tests all primitives of two leaves.
    fn leaves(&mut self, part: &mut ScrewSearch, labels: [u32; 2]) {
        let [a, b] = [0, 1].map(|k| self.bodies[k].spheres.primitives(labels[k]));
        let kinds = [
            (ContactKind::EdgeEdge, &a.edges, &b.edges),
            (ContactKind::VertexFace, &a.vertices, &b.faces),
            (ContactKind::FaceVertex, &a.faces, &b.vertices),
        ];
        for (number, (kind, firsts, seconds)) in kinds.into_iter().enumerate() {
            for &i in firsts {
                for &j in seconds {
                    if self.tables.primitives && !part.tested.is_new(number, [i, j]) {
                        continue;
                    }
                    self.test(part, kind, [i, j]);
                }
            }
        }
    }

    fn test(&mut self, part: &mut ScrewSearch, kind: ContactKind, items: [u32; 2]) {
        let (screw, end) = (part.screw, part.end);
        let elementary = Elementary { screw: &screw, slack: self.slack, drift: self.drift };
        let [i, j] = items;
        let touch = match kind {
            ContactKind::EdgeEdge => {
                self.tests.edges += 1;
                let [a, b] = [0, 1].map(|k| {
                    self.bodies[k].spheres.edges()[items[k] as usize].map(|v| self.point(part, k, v))
                });
                elementary.edge_edge(&a, &b, end)
            }
            ContactKind::VertexFace => {
                self.tests.vertex_faces += 1;
                elementary.vertex_face(self.point(part, 0, i), &self.face(part, 1, j), end)
            }
            ContactKind::FaceVertex | ContactKind::Inside | ContactKind::Shapes => {
                self.tests.face_vertices += 1;
                elementary.face_vertex(&self.face(part, 0, i), self.point(part, 1, j), end)
            }
        };
        if let Some(touch) = touch
            && part.first.is_none_or(|first| touch.w < first.touch.w)
        {
            part.end = touch.w;
            part.first = Some(Found { touch, kind, items });
        }
    }

    fn face(&self, part: &mut ScrewSearch, body: usize, face: u32) -> [DVec3; 3] {
        self.bodies[body].model.mesh().triangles()[face as usize].map(|v| self.point(part, body, v))
    }

    /// A vertex: of the moving body from the screw's origin, of the resting one in the world.
    fn point(&self, part: &mut ScrewSearch, body: usize, vertex: u32) -> DVec3 {
        let local = self.bodies[body].model.mesh().vertices()[vertex as usize];
        *part.kept.points[body][vertex as usize].get_or_insert_with(|| {
            if body == 0 { part.screw.turned * local } else { self.poses[1].apply(local) }
        })
    }

    fn centre(&self, part: &mut ScrewSearch, body: usize, sphere: u32) -> Centre {
        let local = self.bodies[body].spheres.spheres()[sphere as usize].centre;
        *part.kept.centres[body][sphere as usize].get_or_insert_with(|| {
            let from_origin = if body == 0 {
                part.screw.turned * local
            } else {
                self.poses[1].apply(local) - part.screw.origin
            };
            Centre::new(&part.screw, from_origin)
        })
    }

    fn impact(&self, screw: &RationalScrew, found: &Found) -> Impact {
        let Found { touch: Touch { w, points }, kind, items } = *found;
        let meshes = self.bodies.map(|body| body.model.mesh());
        let place = |body: usize, v: u32| {
            let local = meshes[body].vertices()[v as usize];
            if body == 0 { screw.place(screw.turned * local, w) } else { self.poses[1].apply(local) }
        };
        let normal_of = |body: usize| {
            let corners = meshes[body].triangles()[items[body] as usize].map(|v| place(body, v));
            unit_normal(3, |k| corners[k])
        };
        let (features, across) = match kind {
            ContactKind::EdgeEdge => {
                let edges = [0, 1].map(|body| self.bodies[body].spheres.edges()[items[body] as usize]);
                let along = [0, 1].map(|body| {
                    let [from, to] = edges[body].map(|v| place(body, v));
                    to - from
                });
                (edges.map(Feature::Edge), along[0].cross(along[1]))
            }
            ContactKind::VertexFace => ([Feature::Vertex(items[0]), Feature::Face(items[1])], normal_of(1)),
            ContactKind::FaceVertex | ContactKind::Inside | ContactKind::Shapes => {
                ([Feature::Face(items[0]), Feature::Vertex(items[1])], normal_of(0))
            }
        };
        // The moving body comes along the normal.
        let way = screw.velocity(screw.offset(points[0], w), w);
        let across = across.try_normalize().or_else(|| way.try_normalize()).unwrap_or(DVec3::Z);
        let normal = if across.dot(way) < 0.0 { -across } else { across };
        let triangles = [0, 1].map(|body| triangle_at(meshes[body], features[body]));
        let time = screw.time(w) / ROUND_UP;
        Impact { time, kind, features, triangles, point: points[1], normal, proved: false }
    }
}

/// A triangle that has the feature.
fn triangle_at(mesh: &Mesh, feature: Feature) -> Option<u32> {
    let has = |corners: &[u32; 3]| match feature {
        Feature::Vertex(v) => corners.contains(&v),
        Feature::Edge(ends) => ends.iter().all(|end| corners.contains(end)),
        Feature::Face(_) | Feature::Surface => false,
    };
    match feature {
        Feature::Face(t) => Some(t),
        _ => mesh.triangles().iter().position(has).map(|t| t as u32),
    }
}

#[cfg(test)]
mod tests;
