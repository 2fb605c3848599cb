//! Those who detect the contacts of a recording, frame by frame, each with its own memory of the frames before.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use impinge::geom::triangle_triangle::meet;
use impinge::hierarchy::design::{self, Ask, Options, Tree};
use impinge::model::Model;
use impinge::narrow::exact::collide;
use impinge::narrow::sampled::shells::Shells;
use impinge::{
    Budget, Contact, Counters, Feature, Finish, Mesh, Pose, Surface, Tracker, TrackerOptions, TrackerReport,
};

use crate::aabb_tree::AabbTree;
use crate::peers::parry_refit::{Refitted, vectors};
use crate::recordings::{Body, Recording, Stage};

/// Pairs of facets that the sampled method may hold.
const MOST_PAIRS: usize = 1 << 20;

/// The deformation that is stated is measured in every so many frames.
const MEASURED: usize = 60;

/// By how much more than the measured deformation is stated (no unit: a factor); frames in between differ by less.
const STATED: f64 = 1.05;

/// What a player did in a frame.
pub struct Done {
    /// Nanoseconds of bringing its structures up to date.
    pub update: f64,
    /// Nanoseconds of detection.
    pub query: f64,
    /// The pairs of triangles that it says meet.
    pub pairs: Vec<[u32; 2]>,
    /// What it counted, if it counts.
    pub work: Counters,
}

/// Somebody who detects contacts.
pub trait Player {
    /// The next frame.
    ///
    /// # Errors
    /// It cannot.
    fn frame(&mut self, stage: &Stage) -> Result<Done>;
}

/// The result and the nanoseconds it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let done = black_box(work());
    (done, start.elapsed().as_nanos() as f64)
}

/// The paper's opponent: boxes refitted, then all contacts.
pub struct Aabb([AabbTree; 2]);

impl Aabb {
    /// Builds both trees.
    pub fn new(recording: &Recording) -> Aabb {
        Aabb(recording.bodies.each_ref().map(|body| AabbTree::build(&body.mesh)))
    }
}

impl Player for Aabb {
    fn frame(&mut self, stage: &Stage) -> Result<Done> {
        let [va, vb] = &stage.world;
        let [a, b] = &mut self.0;
        let ((), update) = timed(|| {
            a.refit(va);
            b.refit(vb);
        });
        let (pairs, query) = timed(|| a.pairs(va, b, vb));
        Ok(Done { update, query, pairs, work: Counters::default() })
    }
}

/// parry3d's trees refitted, then all contacts by the same triangle test.
pub struct Parry {
    trees: [Refitted; 2],
    triangles: [Vec<[u32; 3]>; 2],
}

impl Parry {
    /// Builds both trees.
    pub fn new(recording: &Recording) -> Parry {
        let tree = |mesh: &Mesh| Refitted::build(&vectors(mesh.vertices()), mesh.triangles());
        Parry {
            trees: recording.bodies.each_ref().map(|body| tree(&body.mesh)),
            triangles: recording.bodies.each_ref().map(|body| body.mesh.triangles().to_vec()),
        }
    }
}

impl Player for Parry {
    fn frame(&mut self, stage: &Stage) -> Result<Done> {
        let single = stage.world.each_ref().map(|v| vectors(v));
        let [a, b] = &mut self.trees;
        let ((), update) = timed(|| {
            a.refit(&single[0]);
            b.refit(&single[1]);
        });
        let corners =
            |body: usize, t: u32| self.triangles[body][t as usize].map(|v| stage.world[body][v as usize]);
        let (pairs, query) =
            timed(|| a.candidates(b).filter(|&[i, j]| meet(&corners(0, i), &corners(1, j))).collect());
        Ok(Done { update, query, pairs, work: Counters::default() })
    }
}

/// Oriented boxes built anew for every frame of deforming bodies, once for rigid ones.
pub struct Obb {
    meshes: [Mesh; 2],
    trees: Option<[Tree; 2]>,
    rigid: bool,
}

impl Obb {
    /// Nothing is built yet.
    pub fn new(recording: &Recording, rigid: bool) -> Obb {
        Obb { meshes: recording.bodies.each_ref().map(|body| body.mesh.clone()), trees: None, rigid }
    }
}

impl Player for Obb {
    fn frame(&mut self, stage: &Stage) -> Result<Done> {
        let mut poses = stage.poses;
        if !self.rigid {
            poses = [Pose::IDENTITY; 2];
            for (mesh, vertices) in self.meshes.iter_mut().zip(&stage.world) {
                *mesh = Mesh::from_points(vertices.clone(), mesh.triangles().to_vec())?;
            }
        }
        let mut update = 0.0;
        if !self.rigid || self.trees.is_none() {
            let (trees, time) = timed(|| self.meshes.each_ref().map(|m| Tree::build(m, &Options::OBB_TREE)));
            (self.trees, update) = (Some(trees), time);
        }
        let Some([ta, tb]) = &self.trees else { anyhow::bail!("no trees were built") };
        let [a, b] = &self.meshes;
        let posed = |tree, mesh, pose| design::Posed { tree, mesh, pose };
        let (found, query) =
            timed(|| design::collide(posed(ta, a, &poses[0]), posed(tb, b, &poses[1]), Ask::default()));
        Ok(Done { update, query, pairs: found.pairs, work: found.outcome.work })
    }
}

/// Our default tree: refitted for deforming bodies, at its pose for rigid ones.
pub struct Default {
    models: [Model; 2],
    rigid: bool,
}

impl Default {
    /// Builds both trees.
    pub fn new(recording: &Recording, rigid: bool) -> Default {
        let models = recording.bodies.each_ref().map(|body| Model::from(body.mesh.clone()));
        for model in &models {
            model.disc_bounds();
        }
        Default { models, rigid }
    }
}

impl Player for Default {
    fn frame(&mut self, stage: &Stage) -> Result<Done> {
        let (mut poses, mut update) = (stage.poses, 0.0);
        if !self.rigid {
            poses = [Pose::IDENTITY; 2];
            for (model, vertices) in self.models.iter_mut().zip(&stage.world) {
                let vertices = vertices.clone();
                let (refitted, time) = timed(|| model.set_vertices(vertices));
                refitted?;
                update += time;
            }
        }
        let [a, b] = &self.models;
        let (pairs, query) = timed(|| collide::pairs(a, &poses[0], b, &poses[1]));
        Ok(Done { update, query, pairs, work: Counters::default() })
    }
}

/// What the sampled method computes before the first frame.
#[derive(Clone)]
pub struct Prepared {
    /// The shells of both bodies.
    shells: [Arc<Shells>; 2],
    /// The largest deformation of each body over the recording, as it is stated.
    pub deformation: [f64; 2],
}

impl Prepared {
    /// Builds the shells with as many levels as it takes. The deformation is the stretch of the waves, or what the
    /// recording does to the first level if that is more.
    pub fn new(recording: &Recording) -> Prepared {
        let shells = recording.bodies.each_ref().map(|body| Arc::new(Shells::of_mesh(&body.mesh, None)));
        let mut deformation = recording.bodies.each_ref().map(|body| body.waves.stretch());
        let mut stage = Stage::default();
        for frame in (0..recording.frames.len()).step_by(MEASURED) {
            recording.place_own(frame, &mut stage);
            for k in 0..2 {
                let rest = recording.bodies[k].mesh.vertices();
                let levels = shells[k].largest_deformation(rest, &stage.own[k]);
                deformation[k] = deformation[k].max(STATED * levels.get(1).copied().unwrap_or(0.0));
            }
        }
        Prepared { shells, deformation }
    }

    /// The same with so many levels above the mesh.
    pub fn with_levels(&self, recording: &Recording, levels: usize) -> Prepared {
        let shells = |body: &Body| Arc::new(Shells::of_mesh(&body.mesh, Some(levels + 1)));
        Prepared { shells: recording.bodies.each_ref().map(shells), ..self.clone() }
    }
}

/// The sampled method: layered shells followed from frame to frame.
pub struct Sampled {
    tracker: Tracker,
    /// The time of a frame; without, each frame is finished.
    limit: Option<Duration>,
    /// What it said about the last frame.
    pub report: Option<TrackerReport>,
}

impl Sampled {
    /// At the beginning of a recording.
    ///
    /// # Errors
    /// The tracker refuses its options.
    pub fn new(prepared: &Prepared, limit: Option<Duration>) -> Result<Sampled> {
        let options = TrackerOptions {
            deformation: prepared.deformation,
            frame: 1e-3,
            most_pairs: MOST_PAIRS,
            prove: false,
            ..TrackerOptions::default()
        };
        Ok(Sampled { tracker: Tracker::with_shells(prepared.shells.clone(), options)?, limit, report: None })
    }

    /// Goes on to the next frame; what `clock` says it took.
    ///
    /// # Errors
    /// The frame is refused.
    pub fn step(&mut self, stage: &Stage, clock: impl Fn() -> u64) -> Result<u64> {
        let mut budget = self.limit.map_or(Budget::UNLIMITED, Budget::time);
        let start = clock();
        let report = black_box(self.tracker.step(surfaces(stage), &mut budget));
        let took = clock() - start;
        self.report = Some(report?);
        Ok(took)
    }

    /// Whether the last frame was finished within its time.
    pub fn is_finished(&self) -> bool {
        self.report.is_some_and(|report| report.outcome.finish == Finish::Complete)
    }

    /// The pairs of triangles in contact.
    pub fn pairs(&self, stage: &Stage) -> Vec<[u32; 2]> {
        triangle_pairs(&self.tracker.contacts(surfaces(stage)))
    }
}

impl Player for Sampled {
    fn frame(&mut self, stage: &Stage) -> Result<Done> {
        let surfaces = surfaces(stage);
        let mut budget = self.limit.map_or(Budget::UNLIMITED, Budget::time);
        let (report, query) = timed(|| self.tracker.step(surfaces, &mut budget));
        let report = report?;
        self.report = Some(report);
        Ok(Done { update: 0.0, query, pairs: self.pairs(stage), work: report.outcome.work })
    }
}

/// The bodies as the sampled method takes them.
fn surfaces(stage: &Stage) -> [Surface<'_>; 2] {
    [0, 1].map(|k| Surface { vertices: &stage.own[k], pose: stage.poses[k], moved: stage.moved[k] })
}

/// The triangles of contacts that name some.
pub fn triangle_pairs(contacts: &[Contact]) -> Vec<[u32; 2]> {
    let pair = |contact: &Contact| match contact.features {
        [Feature::Face(i), Feature::Face(j)] => Some([i, j]),
        _ => None,
    };
    contacts.iter().filter_map(pair).collect()
}
