//! Those who detect the contacts of a recording, frame by frame, each with its own memory of the frames before.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use glam::DVec3;
use impinge::Mesh;
use impinge::Pose;
use impinge::geom::triangle_triangle::meet;
use impinge::hierarchy::design::{self, Ask, Options, Tree};
use impinge::model::Model;
use impinge::narrow::exact::collide;

use crate::aabb_tree::AabbTree;
use crate::peers::parry_refit::{Refitted, vectors};
use crate::recordings::Recording;

/// What a player sees of a frame.
pub struct Seen<'f> {
    /// Where the vertices of both bodies are in the world.
    pub vertices: &'f [Vec<DVec3>; 2],
    /// The poses of both bodies, which say all about rigid ones.
    pub poses: &'f [Pose; 2],
}

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
    fn frame(&mut self, seen: &Seen<'_>) -> Result<Done>;
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
    fn frame(&mut self, seen: &Seen<'_>) -> Result<Done> {
        let [va, vb] = seen.vertices;
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
    fn frame(&mut self, seen: &Seen<'_>) -> Result<Done> {
        let single = seen.vertices.each_ref().map(|v| vectors(v));
        let [a, b] = &mut self.trees;
        let ((), update) = timed(|| {
            a.refit(&single[0]);
            b.refit(&single[1]);
        });
        let corners = |body: usize, t: u32| {
            self.triangles[body][t as usize].map(|v| seen.vertices[body][v as usize])
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
    fn frame(&mut self, seen: &Seen<'_>) -> Result<Done> {
        let mut poses = *seen.poses;
        if !self.rigid {
            poses = [Pose::IDENTITY; 2];
            for (mesh, vertices) in self.meshes.iter_mut().zip(seen.vertices) {
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
    fn frame(&mut self, seen: &Seen<'_>) -> Result<Done> {
        let (mut poses, mut update) = (*seen.poses, 0.0);
        if !self.rigid {
            poses = [Pose::IDENTITY; 2];
            for (model, vertices) in self.models.iter_mut().zip(seen.vertices) {
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
