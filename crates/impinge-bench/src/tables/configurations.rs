//! A thousand configurations of the Panda before a shelf of meshes: the clearance of each.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use glam::{DQuat, DVec3};
use impinge::scene::{Articulated, Body, Groups, Scene};
use impinge::{Joint, JointKind, Mesh, Pose, Shape, Skeleton, procedural};

use super::Effort;
use crate::outside::Outside;
use crate::peers::wanted;
use crate::table::{Table, microseconds};
use crate::timing::{Contestant, Timed, Track, alternate, faster_by, median_of};
use crate::{scenes, setup};

/// Configurations, and how many are asked in a row.
const CONFIGURATIONS: usize = 1_000;
const BLOCK: usize = 50;

/// How often a block is asked.
const REPEATS: usize = 3;

/// So many blocks are put to Coal, once each: on the Panda's meshes a configuration takes it a tenth of a second.
const COAL_BLOCKS: usize = 3;

/// How far a distance may be from Coal's.
const TOLERANCE: f64 = 1e-9;

/// A block takes far less.
const PATIENCE: Duration = Duration::from_secs(120);

/// Pivot, axis and limits of a joint.
type JointRow = ([f64; 3], [f64; 3], [f64; 2]);

/// Of the Panda's joints at rest, in the frame of its base (Franka Emika's data sheet).
const JOINTS: [JointRow; 7] = [
    ([0.0, 0.0, 0.333], [0.0, 0.0, 1.0], [-2.8973, 2.8973]),
    ([0.0, 0.0, 0.333], [0.0, 1.0, 0.0], [-1.7628, 1.7628]),
    ([0.0, 0.0, 0.649], [0.0, 0.0, 1.0], [-2.8973, 2.8973]),
    ([0.0825, 0.0, 0.649], [0.0, -1.0, 0.0], [-3.0718, -0.0698]),
    ([0.0, 0.0, 1.033], [0.0, 0.0, 1.0], [-2.8973, 2.8973]),
    ([0.0, 0.0, 1.033], [0.0, -1.0, 0.0], [-0.0175, 3.7525]),
    ([0.088, 0.0, 1.033], [0.0, 0.0, -1.0], [-2.8973, 2.8973]),
];

/// The links at rest: the file of the collision mesh, its place in the frame of the base, and how far it is turned
/// about x (quarter turns).
const LINKS: [(&str, [f64; 3], i32); 7] = [
    ("link1", [0.0, 0.0, 0.333], 0),
    ("link2", [0.0, 0.0, 0.333], -1),
    ("link3", [0.0, 0.0, 0.649], 0),
    ("link4", [0.0825, 0.0, 0.649], 1),
    ("link5", [0.0, 0.0, 1.033], 0),
    ("link6", [0.0, 0.0, 1.033], 1),
    ("link7", [0.088, 0.0, 1.033], 2),
];

/// The hand is fixed to the last link: so far along its z, and turned about it by an eighth.
const FLANGE: f64 = 0.107;

/// Where there are no meshes of the links, the hulls of two balls of about their size: ends and radius.
const CAPSULES: [([f64; 3], [f64; 3], f64); 7] = [
    ([0.0, 0.0, 0.20], [0.0, 0.0, 0.333], 0.065),
    ([0.0, 0.0, 0.333], [0.0, 0.0, 0.45], 0.065),
    ([0.0, 0.0, 0.53], [0.06, 0.0, 0.649], 0.060),
    ([0.0825, 0.0, 0.649], [0.0, 0.0, 0.75], 0.060),
    ([0.0, 0.0, 0.80], [0.0, 0.0, 1.033], 0.055),
    ([0.0, 0.0, 1.033], [0.088, 0.0, 1.033], 0.050),
    ([0.088, 0.0, 0.98], [0.088, 0.0, 0.83], 0.050),
];

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = [
        "contestant",
        "configurations",
        "us/configuration",
        "free",
        "sum of clearances",
        "compared with ours",
    ];
    let mut table = Table::new("configurations", &header);
    let meshes = setup::robot_meshes("panda_description");
    if meshes.is_none() {
        table.missing("the Panda's meshes: `cargo run --release -p impinge-bench -- setup` gets them");
    }
    let cell = Cell::new(meshes.as_deref())?;
    let links =
        if meshes.is_some() { "the Panda's collision meshes" } else { "capsules of about the Panda's size" };
    let mut contestants = vec![Contestant::new("impinge", |block| cell.ours(block, effort.pick(REPEATS, 1)))];
    if let Some(mut coal) = cell.coal(&mut table)? {
        let ask = move |block| {
            let timed = coal.ask(&format!("clearance {block} 1"))?;
            let answer = timed.answer.iter().map(|word| word.parse().context("a distance"));
            Ok(Timed { nanoseconds: timed.nanoseconds, answer: answer.collect::<Result<Vec<f64>>>()? })
        };
        contestants.push(Contestant::new("coal-obbrss", ask).at_most(COAL_BLOCKS));
    }
    let blocks: Vec<usize> = (0..effort.pick(CONFIGURATIONS / BLOCK, 1)).collect();
    let tracks = alternate(&mut contestants, &blocks);
    drop(contestants);
    add_rows(&mut table, &tracks);
    table.remark(format!(
        "one thread; {} links ({links}, the hand with the last one) of {} triangles, {} obstacles as meshes of {} \
         triangles; joints and limits are the Panda's",
        cell.links.len(),
        triangles(&cell.links),
        cell.obstacles.len(),
        cell.obstacles.iter().map(|(mesh, _)| mesh.triangles().len()).sum::<usize>(),
    ));
    table.remark(
        "coal-obbrss: distance of every link from every obstacle, one by one, the first configurations only; ratio and",
    );
    table.remark("comparison are of those that both answered; agrees: within 1e-9");
    Ok(table)
}

fn triangles(meshes: &[Mesh]) -> usize {
    meshes.iter().map(|mesh| mesh.triangles().len()).sum()
}

fn add_rows(table: &mut Table, tracks: &[Track<Vec<f64>>]) {
    let Some(ours) = tracks.first() else { return };
    for track in tracks {
        if let Some(why) = &track.failure {
            table.missing(format!("{}: {why}", track.name));
        }
        let all: Vec<f64> = track.answers.iter().flatten().map(|d| d.max(0.0)).collect();
        let pairs = ours.answers.iter().flatten().zip(&all);
        let off = pairs.map(|(a, b)| (a.max(0.0) - b).abs()).fold(0.0, f64::max);
        let verdict =
            if off <= TOLERANCE { format!("agrees ({off:.1e})") } else { format!("off by {off:.1e}") };
        let free = all.iter().filter(|d| **d > 0.0).count();
        let sum = format!("{:.9}", all.iter().sum::<f64>());
        let time = microseconds(track.statistics().mean);
        table.row([track.name.into(), all.len().to_string(), time, free.to_string(), sum, verdict]);
    }
    for track in &tracks[1..] {
        table.ratio(track.name, faster_by(ours, track).mean);
    }
}

/// The arm before the shelf.
struct Cell {
    scene: Scene,
    arm: Articulated,
    links: Vec<Mesh>,
    obstacles: Vec<(Mesh, Pose)>,
    configurations: Vec<Vec<f64>>,
}

impl Cell {
    fn new(meshes: Option<&Path>) -> Result<Cell> {
        let links = match meshes {
            Some(folder) => panda(folder)?,
            None => {
                let made = CAPSULES.iter().map(|&(a, b, r)| capsule(a.into(), b.into(), r));
                made.collect::<Result<Vec<_>>>()?
            }
        };
        let obstacles = shelf()?;
        let mut scene = Scene::default();
        for (mesh, pose) in &obstacles {
            scene.add(Body::fixed(mesh.clone(), *pose));
        }
        let joint = |(i, &(pivot, axis, limits)): (usize, &JointRow)| Joint {
            parent: i.checked_sub(1),
            kind: JointKind::Revolute,
            pivot: pivot.into(),
            axis: axis.into(),
            limits,
        };
        let skeleton = Skeleton::new(JOINTS.iter().enumerate().map(joint).collect())?;
        let shapes: Vec<Shape> = links.iter().cloned().map(Shape::from).collect();
        let arm = Articulated::add(&mut scene, skeleton, &shapes, &Pose::IDENTITY, Groups::ALL)?;
        Ok(Cell { scene, arm, links, obstacles, configurations: configurations() })
    }

    fn ours(&self, block: usize, repeats: usize) -> Result<Timed<Vec<f64>>> {
        let some = &self.configurations[block * BLOCK..(block + 1) * BLOCK];
        let ask = || self.arm.clearances(&self.scene, &Pose::IDENTITY, some, false);
        let Timed { nanoseconds, answer } = median_of(repeats, ask);
        let least = answer?.iter().map(|c| c.map_or(f64::INFINITY, |c| c.separation.distance)).collect();
        Ok(Timed { nanoseconds: nanoseconds / BLOCK as f64, answer: least })
    }

    fn coal(&self, table: &mut Table) -> Result<Option<Outside>> {
        if !wanted("coal") {
            return Ok(None);
        }
        let program = scenes::peers_folder().join("bin/coal_robot");
        if !program.is_file() {
            table.missing("coal_robot: not built; `cargo run --release -p impinge-bench -- setup` gets it");
            return Ok(None);
        }
        let mut bytes = (self.links.len() as u32).to_le_bytes().to_vec();
        self.links.iter().for_each(|mesh| bytes.extend(scenes::mesh_bytes(mesh)));
        bytes.extend((self.obstacles.len() as u32).to_le_bytes());
        for (mesh, pose) in &self.obstacles {
            bytes.extend(scenes::mesh_bytes(mesh));
            bytes.extend(place(pose));
        }
        bytes.extend((self.configurations.len() as u32).to_le_bytes());
        let mut poses = Vec::new();
        for values in &self.configurations {
            self.arm.skeleton().poses(&Pose::IDENTITY, values, &mut poses);
            poses.iter().for_each(|pose| bytes.extend(place(pose)));
        }
        let folder = scenes::peers_folder().join("exchange");
        std::fs::create_dir_all(&folder)?;
        let file = folder.join("robot.bin");
        std::fs::write(&file, bytes)?;
        Ok(Some(Outside::start("coal_robot", Command::new(program).arg(file), PATIENCE)?))
    }
}

/// Rotation row by row, then the position.
fn place(pose: &Pose) -> Vec<u8> {
    let m = pose.to_matrix();
    let order = [0, 1, 2, 4, 5, 6, 8, 9, 10, 3, 7, 11];
    order.into_iter().flat_map(|k| m[k].to_le_bytes()).collect()
}

/// The links of the Panda at rest in the frame of its base.
fn panda(folder: &Path) -> Result<Vec<Mesh>> {
    let read = |name: &str, moved: &dyn Fn(DVec3) -> DVec3| -> Result<(Vec<DVec3>, Vec<[u32; 3]>)> {
        let mesh = impinge::io::load_mesh(folder.join(format!("{name}.stl")))?;
        Ok((mesh.vertices().iter().map(|p| moved(*p)).collect(), mesh.triangles().to_vec()))
    };
    let mut links = Vec::new();
    for (k, &(name, at, quarters)) in LINKS.iter().enumerate() {
        // Whole quarters, so that sines and cosines are whole too.
        let (sin, cos) = [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)][quarters.rem_euclid(4) as usize];
        let place =
            |p: DVec3| DVec3::new(p.x, cos * p.y - sin * p.z, sin * p.y + cos * p.z) + DVec3::from_array(at);
        let (mut vertices, mut triangles) = read(name, &place)?;
        if k + 1 == LINKS.len() {
            let turn = DQuat::from_rotation_z(-std::f64::consts::FRAC_PI_4);
            let (hand, faces) = read("hand", &|p| place(turn * p + DVec3::Z * FLANGE))?;
            let first = vertices.len() as u32;
            vertices.extend(hand);
            triangles.extend(faces.iter().map(|t| t.map(|v| v + first)));
        }
        links.push(Mesh::new(vertices.iter().map(|p| p.to_array()).collect(), triangles)?);
    }
    Ok(links)
}

/// The hull of two balls.
fn capsule(a: DVec3, b: DVec3, radius: f64) -> Result<Mesh> {
    let ball = procedural::ico_sphere(radius, 2)?;
    let points = [a, b].into_iter().flat_map(|end| ball.vertices().iter().map(move |p| *p + end));
    Shape::hull(points)?.hull_mesh().context("a capsule has few faces")
}

/// Boards and sides, and things on the boards.
fn shelf() -> Result<Vec<(Mesh, Pose)>> {
    let plank = |half: [f64; 3]| procedural::cuboid(half, [4, 8, 4]);
    let at = |x: f64, y: f64, z: f64| Pose::from_translation([x, y, z]);
    let mut all = Vec::new();
    for k in 0..5 {
        all.push((plank([0.2, 0.6, 0.01])?, at(0.75, 0.0, 0.1 + 0.3 * f64::from(k))?));
    }
    for y in [-0.6, 0.6] {
        all.push((plank([0.2, 0.01, 0.65])?, at(0.75, y, 0.7)?));
    }
    all.push((plank([0.01, 0.6, 0.65])?, at(0.96, 0.0, 0.7)?));
    let things = [
        procedural::torus(0.06, 0.02, 24, 12)?,
        procedural::blob(0.07, 0.25, 3, 3)?,
        procedural::ico_sphere(0.06, 3)?,
        procedural::gear(0.02, 0.05, 0.06, 0.03, 20)?,
    ];
    for board in 0..4 {
        for slot in 0..6 {
            let (y, z) = (-0.45 + 0.18 * f64::from(slot), 0.19 + 0.3 * f64::from(board));
            let thing = &things[(board + slot) as usize % things.len()];
            all.push((thing.clone(), at(0.68 + 0.02 * f64::from(slot % 3), y, z)?));
        }
    }
    Ok(all)
}

/// Joint values anywhere within the limits.
fn configurations() -> Vec<Vec<f64>> {
    let low = |k: usize| procedural::positions(CONFIGURATIONS, DVec3::ZERO, DVec3::ONE, 40 + k as u64);
    let shares: Vec<Vec<DVec3>> = (0..3).map(low).collect();
    let value = |i: usize, k: usize| {
        let [from, to] = JOINTS[i].2;
        from + (to - from) * shares[i / 3][k][i % 3]
    };
    (0..CONFIGURATIONS).map(|k| (0..JOINTS.len()).map(|i| value(i, k)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_configurations_are_free_and_distances_are_those_of_all_pairs() -> Result<()> {
        let cell = Cell::new(None)?;
        let found = cell.ours(0, 1)?.answer;
        let free = found.iter().filter(|d| **d > 0.0).count();
        assert!((5..BLOCK).contains(&free), "{free}");
        let links: Vec<Shape> = cell.links.iter().cloned().map(Shape::from).collect();
        let things: Vec<_> = cell.obstacles.iter().map(|(m, pose)| (Shape::from(m.clone()), pose)).collect();
        let mut poses = Vec::new();
        for (values, least) in cell.configurations.iter().zip(&found).take(3) {
            cell.arm.skeleton().poses(&Pose::IDENTITY, values, &mut poses);
            let mut want = f64::INFINITY;
            for (link, at) in links.iter().zip(&poses) {
                for (thing, pose) in &things {
                    want = want.min(impinge::distance(link.at(*at), thing.at(**pose)).distance);
                }
            }
            assert_eq!(*least, want);
        }
        Ok(())
    }
}
