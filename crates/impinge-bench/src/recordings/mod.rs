//! Recorded motions of two deforming bodies: the scenes of table 1 of Guy and Debunne, Monte-Carlo collision detection
//! (2004).
//!
//! A recording is a file in `recordings/`: rows with the phase of the deformation and the pose of body b; body a stays
//! where it is. It is replayed with a frame a millisecond, as haptic devices have it. Every vertex of both bodies moves in
//! every frame by travelling waves ([`waves`]) with stated bounds. Each scene is recorded at two speeds ([`motion`]). A
//! recording repeats: its last frame is followed by its first. The meshes are generated but for dragon and bunny, which
//! come from `../shared`; `motion` says how the files were made.

pub mod motion;
pub mod regions;
pub mod waves;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use glam::DVec3;
use impinge::{Mesh, Pose, procedural};

use self::motion::FRAMES_A_ROW;
use self::regions::Properties;
use self::waves::{Wave, Waves};
use crate::scenes;

/// What rounding adds to a vertex's way at most (no unit: a part of the way).
const ROUNDING: f64 = 1e-9;

/// Frames of a second.
const FRAMES_A_SECOND: f64 = 1000.0;

/// The speed of bodies is measured in every so many frames.
const MEASURED: usize = 20;

/// What deforms.
#[derive(Debug, Clone)]
pub struct Body {
    /// At rest.
    pub mesh: Mesh,
    /// How it deforms; no waves for a rigid body.
    pub waves: Waves,
}

/// Two bodies and where they are in each frame.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The scene's name, as in the ratios.
    pub name: &'static str,
    /// The bodies a and b.
    pub bodies: [Body; 2],
    /// Frame by frame.
    pub frames: Vec<Frame>,
}

/// What a frame is made of.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// The phase of all waves, 0 ≤ phase < 1.
    pub phase: f64,
    /// The poses of a and b.
    pub poses: [Pose; 2],
    /// The same as numbers: quaternion (w x y z) and position of a, then of b.
    pub numbers: [f64; 14],
}

/// Where everything is in a frame.
#[derive(Debug, Clone)]
pub struct Stage {
    /// The poses of a and b.
    pub poses: [Pose; 2],
    /// The vertices of both in their own frames.
    pub own: [Vec<DVec3>; 2],
    /// The vertices of both in the world.
    pub world: [Vec<DVec3>; 2],
    /// How far any vertex went in its own frame since the frame before, at most.
    pub moved: [f64; 2],
}

/// One scene: its name and its bodies.
pub struct Scene {
    /// The name in tables and ratios.
    pub name: &'static str,
    meshes: fn() -> Result<[Mesh; 2]>,
    pace: Pace,
}

/// How fast bodies move and deform ([`motion`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// As a hand explores a surface.
    Touch,
    /// About ten times as fast.
    Fast,
}

/// The three scenes of the paper's table 1 at the speed of touch, then the same bodies about ten times as fast.
pub const SCENES: [Scene; 6] = [
    Scene { name: "sphere-torus", meshes: sphere_and_torus, pace: Pace::Touch },
    Scene { name: "horseshoe-clover", meshes: clover_and_horseshoe, pace: Pace::Touch },
    Scene { name: "dragon-bunny", meshes: dragon_and_bunny, pace: Pace::Touch },
    Scene { name: "sphere-torus-fast", meshes: sphere_and_torus, pace: Pace::Fast },
    Scene { name: "horseshoe-clover-fast", meshes: clover_and_horseshoe, pace: Pace::Fast },
    Scene { name: "dragon-bunny-fast", meshes: dragon_and_bunny, pace: Pace::Fast },
];

impl Default for Stage {
    fn default() -> Stage {
        Stage {
            poses: [Pose::IDENTITY; 2],
            own: Default::default(),
            world: Default::default(),
            moved: [0.0; 2],
        }
    }
}

impl Scene {
    /// Reads the recording.
    ///
    /// # Errors
    /// A mesh is missing, or the file is none of a recording.
    pub fn load(&self) -> Result<Recording> {
        let [a, b] = (self.meshes)().with_context(|| format!("the bodies of {}", self.name))?;
        let file = folder().join(format!("{}.csv", self.name));
        let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        let rows = motion::read(&text).with_context(|| format!("in {}", file.display()))?;
        let frame = |i: usize| {
            let (from, to) = (i / FRAMES_A_ROW, (i / FRAMES_A_ROW + 1) % rows.len());
            motion::between(&rows[from], &rows[to], (i % FRAMES_A_ROW) as f64 / FRAMES_A_ROW as f64)
        };
        let frames = (0..rows.len() * FRAMES_A_ROW).map(frame).collect::<Result<_>>()?;
        Ok(Recording {
            name: self.name,
            bodies: [deforming(a, 0, self.pace), deforming(b, 1, self.pace)],
            frames,
        })
    }
}

impl Recording {
    /// The same motion without any deformation.
    pub fn rigid(&self) -> Recording {
        let rigid = |body: &Body| Body { mesh: body.mesh.clone(), waves: Waves::over(&[], &[]) };
        Recording { bodies: self.bodies.each_ref().map(rigid), ..self.clone() }
    }

    /// Puts a frame on the stage; frames beyond the last repeat.
    pub fn place(&self, frame: usize, stage: &mut Stage) {
        self.place_own(frame, stage);
        for k in 0..2 {
            stage.world[k].clear();
            stage.world[k].extend(stage.own[k].iter().map(|p| stage.poses[k].apply(*p)));
        }
    }

    /// As [`Recording::place`], but for the vertices in the world, which stay as they were.
    pub fn place_own(&self, frame: usize, stage: &mut Stage) {
        let count = self.frames.len();
        let Frame { phase, poses, .. } = self.frames[frame % count];
        let before = self.frames[(frame + count - 1) % count].phase;
        stage.poses = poses;
        for (k, body) in self.bodies.iter().enumerate() {
            let own = &mut stage.own[k];
            own.clear();
            own.extend_from_slice(body.mesh.vertices());
            body.waves.displace(phase, own);
            stage.moved[k] = body.waves.step(before, phase) * (1.0 + ROUNDING);
        }
    }

    /// What the recording is like, for people.
    pub fn sentence(&self, is: &Properties) -> String {
        let [a, b] = self.triangles();
        let waves = self.bodies.each_ref().map(|body| &body.waves);
        let motion = if waves[0].stretch() > 0.0 { "deforming" } else { "rigid" };
        format!(
            "{} ({a} and {b} triangles, {motion}): {} frames, {:.0} % in contact (wanted: 30 to 70), at most {} regions \
             at once (wanted: 3 or more), {} appear, {:.0} pairs in a frame with contact, at most {}; b moves by up to \
             {:.3} a second, the bodies are {:.2} and {:.2} large; stretched by up to {:.0} and {:.0} %, displaced by up to \
             {:.3} and {:.3}, by up to {:.3} and {:.3} a second",
            self.name,
            self.frames.len(),
            100.0 * is.in_contact,
            is.most_regions,
            is.appearing,
            is.mean_pairs,
            is.most_pairs,
            self.rigid_speed(),
            self.size(0),
            self.size(1),
            100.0 * waves[0].stretch(),
            100.0 * waves[1].stretch(),
            waves[0].farthest(),
            waves[1].farthest(),
            self.wave_speed(0),
            self.wave_speed(1),
        )
    }

    /// The longest side of a body at rest.
    fn size(&self, body: usize) -> f64 {
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let points = self.bodies[body].mesh.vertices();
        let [low, high] = points.iter().fold(start, |[l, h], p| [l.min(*p), h.max(*p)]);
        (high - low).max_element()
    }

    /// The farthest that a vertex of b, which is at rest in its own frame, goes in a second.
    fn rigid_speed(&self) -> f64 {
        let points = self.bodies[1].mesh.vertices();
        let way = |at: &[Frame]| {
            let gone = |p: &DVec3| at[0].poses[1].apply(*p).distance(at[1].poses[1].apply(*p));
            points.iter().map(gone).fold(0.0, f64::max)
        };
        self.frames.windows(2).step_by(MEASURED).map(way).fold(0.0, f64::max) * FRAMES_A_SECOND
    }

    /// The farthest that a vertex goes in its body's frame in a second, at most.
    fn wave_speed(&self, body: usize) -> f64 {
        let way = |at: &[Frame]| self.bodies[body].waves.step(at[0].phase, at[1].phase);
        self.frames.windows(2).map(way).fold(0.0, f64::max) * FRAMES_A_SECOND
    }

    /// How many triangles both bodies have.
    pub fn triangles(&self) -> [usize; 2] {
        self.bodies.each_ref().map(|body| body.mesh.triangles().len())
    }
}

/// Where the recordings are kept in the repository.
pub fn folder() -> PathBuf {
    scenes::root().join("crates/impinge-bench/recordings")
}

/// Says what the recordings are like, after writing their files anew if asked to.
///
/// # Errors
/// A file cannot be written or read.
pub fn run(write: bool) -> Result<()> {
    if write {
        motion::write_all(&folder())?;
    }
    for scene in &SCENES {
        let recording = scene.load()?;
        for recording in [recording.rigid(), recording] {
            let truth = regions::Truth::of(&recording, recording.frames.len())?;
            println!("{}", recording.sentence(&truth.properties()));
        }
    }
    Ok(())
}

fn sphere_and_torus() -> Result<[Mesh; 2]> {
    Ok([procedural::uv_sphere(0.5, 35, 15)?, procedural::torus(0.64, 0.15, 50, 23)?])
}

fn clover_and_horseshoe() -> Result<[Mesh; 2]> {
    Ok([procedural::clover(4, 0.5, 0.055, 250, 20)?, procedural::horseshoe(0.42, 0.09, 49, 20)?])
}

fn dragon_and_bunny() -> Result<[Mesh; 2]> {
    let bunny = scenes::root().join("../shared/data/meshes/aj_stanford-bunny.obj");
    Ok([scenes::mesh("dragon48k")?, fitted(impinge::io::load_mesh(bunny)?, 0.7)?])
}

/// The waves of body a (0) or b (1): two that bend and one over the surface, for bodies about as large as 1.
fn deforming(mesh: Mesh, which: usize, pace: Pace) -> Body {
    let wave = |amplitude, direction, vector: [f64; 3], oscillations| Wave {
        amplitude,
        direction,
        vector: vector.into(),
        oscillations: if pace == Pace::Fast { oscillations } else { 1 },
    };
    let waves = match which {
        0 => [
            wave(0.015, DVec3::Y, [1.5, 0.0, 0.0], 4),
            wave(0.01, DVec3::Z, [0.0, 1.5, 0.0], 3),
            wave(0.001, DVec3::new(0.3, 0.2, 1.0), [9.0, 7.0, 0.0], 6),
        ],
        _ => [
            wave(0.015, DVec3::X, [0.0, 1.5, 0.0], 3),
            wave(0.01, DVec3::Z, [1.5, 0.0, 0.0], 5),
            wave(0.001, DVec3::new(1.0, 0.3, 0.2), [0.0, 8.0, 8.0], 6),
        ],
    };
    let waves = Waves::over(mesh.vertices(), &waves);
    Body { mesh, waves }
}

/// The mesh about the origin with this longest side.
fn fitted(mesh: Mesh, size: f64) -> Result<Mesh> {
    let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let [low, high] = mesh.vertices().iter().fold(start, |[l, h], p| [l.min(*p), h.max(*p)]);
    let scale = size / (high - low).max_element();
    ensure!(scale.is_finite(), "a mesh without extent");
    let points = mesh.vertices().iter().map(|p| (*p - 0.5 * (low + high)) * scale).collect();
    Ok(Mesh::from_points(points, mesh.triangles().to_vec())?)
}
