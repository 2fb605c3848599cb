//! Those who detect the contacts of a recording, frame by frame, each with its own memory of the frames before.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Result;
use impinge::geom::triangle_triangle::meet;
use impinge::hierarchy::design::{self, Ask, Options, Tree};
use impinge::model::Model;
use impinge::narrow::exact::collide;
use impinge::{
    Budget, Contact, Feature, Finish, Mesh, Pose, Shape, Surface, Tracker, TrackerOptions, TrackerReport,
};

use crate::aabb_tree::AabbTree;
use crate::peers::parry_refit::{Refitted, vectors};
use crate::recordings::{Recording, Stage};

/// The largest deformation that is stated of a body (no unit: a multiple of its waves' stretch). A vertex departs by at
/// most the stretch from where its facet's corner goes, and the facet's own plane turns by about as much.
const STATED: f64 = 2.5;

/// What a player did in a frame.
pub struct Done {
    /// Nanoseconds of bringing its structures up to date.
    pub update: f64,
    /// Nanoseconds of detection.
    pub query: f64,
    /// The pairs of triangles that it says meet.
    pub pairs: Vec<[u32; 2]>,
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
        Ok(Done { update, query, pairs })
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
        let corners = |body: usize, t: u32| {
            self.triangles[body][t as usize].map(|v| stage.world[body][v as usize])
        };
        let (pairs, query) =
            timed(|| a.candidates(b).filter(|&[i, j]| meet(&corners(0, i), &corners(1, j))).collect());
        Ok(Done { update, query, pairs })
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
        Ok(Done { update, query, pairs: found.pairs })
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
        Ok(Done { update, query, pairs })
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
    /// Builds the shells of both bodies.
    ///
    /// # Errors
    /// A body has none.
    pub fn new(recording: &Recording, seed: u64, limit: Option<Duration>) -> Result<Sampled> {
        let [a, b] = recording.bodies.each_ref().map(|body| Shape::from(body.mesh.clone()));
        let deformation = recording.bodies.each_ref().map(|body| STATED * body.waves.stretch());
        let options = TrackerOptions { seed, deformation, ..TrackerOptions::default() };
        Ok(Sampled { tracker: Tracker::new(&a, &b, options)?, limit, report: None })
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
        self.report = Some(report?);
        Ok(Done { update: 0.0, query, pairs: self.pairs(stage) })
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
