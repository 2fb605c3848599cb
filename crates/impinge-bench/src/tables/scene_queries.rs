//! Questions to a scene of 10,000 bodies, half of them meshes: rays, moving shapes, regions, the nearest body.

use std::hint::black_box;

use anyhow::Result;
use glam::DVec3;
use impinge::scene::{Body, BodyId, Filter, Scene};
use impinge::{Mesh, Motion, Pose, Ray, Relation, Shape, procedural};
use parry3d::shape::SharedShape;

use super::Effort;
use crate::peers::parry;
use crate::peers::parry_scene::{self, ParryScene};
use crate::table::{Table, microseconds};
use crate::timing::{Contestant, Timed, Track, alternate, faster_by, median_of};

/// Bodies of the scene, and how far from the middle they are.
const BODIES: usize = 10_000;
const SPREAD: f64 = 30.0;

/// Questions of each kind, and how many are asked in a row.
const QUESTIONS: usize = 2_000;
const BLOCK: usize = 100;

/// How often a block is asked.
const REPEATS: usize = 3;

/// How far a parameter, time or distance of f32 may be from ours.
const TOLERANCE: f64 = 2e-3;

/// So many of all questions are answered by asking every body, as a check.
const CHECKED: usize = 40;

/// The answers of a block: a body and a number for each question, −1 for none.
type Answers = Vec<(i64, f64)>;

/// A body's shape for both.
struct Kind {
    ours: Shape,
    theirs: SharedShape,
}

struct World {
    scene: Scene,
    parry: ParryScene,
    ids: Vec<BodyId>,
    places: Vec<Pose>,
    ways: Vec<DVec3>,
    capsule: Kind,
    region: Kind,
    ball: Kind,
}

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = ["question", "contestant", "us/question", "found", "compared with ours", "all bodies asked"];
    let mut table = Table::new("scene-queries", &header);
    let world = World::new(effort.pick(BODIES, 500))?;
    let blocks: Vec<usize> = (0..effort.pick(QUESTIONS / BLOCK, 2)).collect();
    let repeats = effort.pick(REPEATS, 1);
    for question in ["ray", "cast", "overlap", "nearest"] {
        let mut contestants = vec![
            Contestant::new("impinge", |block| {
                Ok(per_question(median_of(repeats, || world.ours(question, block))))
            }),
            Contestant::new("parry3d", |block| {
                Ok(per_question(median_of(repeats, || world.theirs(question, block))))
            }),
        ];
        let tracks = alternate(&mut contestants, &blocks);
        drop(contestants);
        let right = world.checked(question, effort.pick(CHECKED, 4));
        add_rows(&mut table, question, &tracks, &right);
    }
    table.remark("one thread; 10,000 bodies: tori, balls and blobs as meshes of 320 to 1,280 triangles, and balls, boxes,");
    table.remark("capsules and hulls; rays and capsules from anywhere to anywhere, boxes larger than the bodies, small balls;");
    table.remark("parry3d: its Bvh over the boxes with its own queries for two shapes, in f32; \"all bodies asked\": ours");
    table.remark("equals, to the bit, the answer of asking every body by the functions at the crate's root; rays: both tell");
    table.remark("the body, the parameter and the normal");
    Ok(table)
}

fn per_question(block: Timed<Answers>) -> Timed<Answers> {
    Timed { nanoseconds: block.nanoseconds / BLOCK as f64, ..block }
}

fn add_rows(table: &mut Table, question: &str, tracks: &[Track<Answers>], right: &str) {
    let Some(ours) = tracks.first() else { return };
    for track in tracks {
        let (mut found, mut other) = (0, 0);
        for (a, b) in ours.answers.iter().flatten().zip(track.answers.iter().flatten()) {
            found += usize::from(b.0 >= 0);
            other += usize::from((a.0 < 0) != (b.0 < 0) || (a.1 - b.1).abs() > TOLERANCE * (1.0 + a.1.abs()));
        }
        let verdict = if other == 0 { "agrees".into() } else { format!("{other} differ") };
        let checked = if track.name == "impinge" { right.to_string() } else { String::new() };
        let cells = [microseconds(track.statistics().mean), found.to_string(), verdict, checked];
        table.row([question.to_string(), track.name.to_string()].into_iter().chain(cells));
    }
    for track in &tracks[1..] {
        table.ratio(&format!("{}-{question}", track.name), faster_by(ours, track).mean);
    }
}

impl World {
    fn new(count: usize) -> Result<World> {
        let kinds = kinds()?;
        let places = poses(count + QUESTIONS, 1)?;
        let mut scene = Scene::default();
        let (mut ids, mut bodies) = (Vec::new(), Vec::new());
        for (k, pose) in places[..count].iter().enumerate() {
            let kind = &kinds[k % kinds.len()];
            ids.push(scene.add(Body::fixed(kind.ours.clone(), *pose)));
            bodies.push((kind.theirs.clone(), parry_scene::pose(&pose.to_matrix())));
        }
        let spread = DVec3::splat(SPREAD);
        Ok(World {
            scene,
            parry: ParryScene::new(bodies),
            ids,
            places: places[count..].to_vec(),
            ways: procedural::positions(QUESTIONS, -spread, spread, 9),
            capsule: Kind { ours: Shape::capsule(0.3, 0.5)?, theirs: SharedShape::capsule_z(0.5, 0.3) },
            region: Kind { ours: Shape::cuboid([2.0; 3])?, theirs: SharedShape::cuboid(2.0, 2.0, 2.0) },
            ball: Kind { ours: Shape::sphere(0.2)?, theirs: SharedShape::ball(0.2) },
        })
    }

    /// The way of a question's ray or capsule: from its place to another one.
    fn way(&self, k: usize) -> DVec3 {
        self.ways[k] - self.places[k].translation()
    }

    fn ray(&self, k: usize) -> Ray {
        Ray { origin: self.places[k].translation(), direction: self.way(k), reach: f64::INFINITY }
    }

    fn motion(&self, k: usize) -> Motion {
        let still = Motion::Still(self.places[k]);
        Motion::velocity(&self.places[k], self.way(k), DVec3::ZERO).unwrap_or(still)
    }

    fn ours(&self, question: &str, block: usize) -> Answers {
        let all = &Filter::default();
        let answer = |k: usize| {
            let at = self.places[k];
            match question {
                "ray" => self.scene.ray_cast(self.ray(k), all).map(|(id, hit)| (id, hit.t)),
                "cast" => {
                    let moving = self.capsule.ours.along(self.motion(k));
                    self.scene.shape_cast(moving, all).map(|(id, impact)| (id, impact.time))
                }
                "overlap" => {
                    let met = self.scene.overlapping(self.region.ours.at(at), all);
                    met.first().map(|id| (*id, met.len() as f64))
                }
                _ => self.scene.nearest(self.ball.ours.at(at), all).map(|(id, s)| (id, s.distance.max(0.0))),
            }
        };
        let named = |found: Option<(BodyId, f64)>| found.map_or((-1, 0.0), |(id, x)| (id.index() as i64, x));
        (block * BLOCK..(block + 1) * BLOCK).map(|k| named(answer(k))).collect()
    }

    fn theirs(&self, question: &str, block: usize) -> Answers {
        let answer = |k: usize| {
            let at = parry_scene::pose(&self.places[k].to_matrix());
            let way = parry_scene::vector(self.way(k));
            match question {
                "ray" => {
                    let from = parry_scene::vector(self.places[k].translation());
                    self.parry.ray_cast(from, way).map(|(id, t, normal)| {
                        black_box(normal);
                        (id, t)
                    })
                }
                "cast" => self.parry.shape_cast(&self.capsule.theirs, &at, way),
                "overlap" => {
                    let met = self.parry.overlapping(&self.region.theirs, &at).unwrap_or_default();
                    met.first().map(|id| (*id, met.len() as f64))
                }
                _ => self.parry.nearest(&self.ball.theirs, &at),
            }
        };
        let named = |found: Option<(u32, f64)>| found.map_or((-1, 0.0), |(id, x)| (i64::from(id), x));
        (block * BLOCK..(block + 1) * BLOCK).map(|k| named(answer(k))).collect()
    }

    /// Whether our answers are those of all bodies.
    fn checked(&self, question: &str, few: usize) -> String {
        let all = &Filter::default();
        let bodies = || self.ids.iter().filter_map(|&id| Some((id, self.scene.body(id)?)));
        let least = |found: &mut dyn Iterator<Item = (BodyId, f64)>| {
            found.min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))
        };
        let equal = (0..few).filter(|&k| {
            let at = self.places[k];
            match question {
                "ray" => {
                    let hits = bodies().filter_map(|(id, b)| {
                        Some((id, impinge::ray_cast(b.shape.at(b.pose), self.ray(k))?.t))
                    });
                    least(&mut { hits }) == self.scene.ray_cast(self.ray(k), all).map(|(id, hit)| (id, hit.t))
                }
                "cast" => {
                    let moving = self.capsule.ours.along(self.motion(k));
                    let hits = bodies().filter_map(|(id, b)| {
                        Some((id, impinge::sweep(moving, b.shape.at(b.pose)).impact?.time))
                    });
                    least(&mut { hits }) == self.scene.shape_cast(moving, all).map(|(id, i)| (id, i.time))
                }
                "overlap" => {
                    let region = self.region.ours.at(at);
                    let meets =
                        |b: &Body| impinge::relation(region, b.shape.at(b.pose)) != Relation::Separated;
                    let met: Vec<BodyId> = bodies().filter(|(_, b)| meets(b)).map(|(id, _)| id).collect();
                    met == self.scene.overlapping(region, all)
                }
                _ => {
                    let ball = self.ball.ours.at(at);
                    let far =
                        bodies().map(|(id, b)| (id, impinge::distance(ball, b.shape.at(b.pose)).distance));
                    least(&mut { far }) == self.scene.nearest(ball, all).map(|(id, s)| (id, s.distance))
                }
            }
        });
        format!("{} of {few} equal", equal.count())
    }
}

/// Four meshes and four convex shapes, in turn.
fn kinds() -> Result<Vec<Kind>> {
    let meshes = [
        procedural::torus(0.5, 0.2, 24, 12)?,
        procedural::ico_sphere(0.6, 2)?,
        procedural::blob(0.6, 0.2, 3, 5)?,
        procedural::torus(0.4, 0.1, 32, 10)?,
    ];
    let hull = procedural::blob(0.5, 0.2, 1, 2)?;
    let points: Vec<_> = hull.vertices().iter().map(|p| parry_scene::vector(*p)).collect();
    let convex = [
        Kind { ours: Shape::sphere(0.5)?, theirs: SharedShape::ball(0.5) },
        Kind { ours: Shape::cuboid([0.3, 0.5, 0.4])?, theirs: SharedShape::cuboid(0.3, 0.5, 0.4) },
        Kind { ours: Shape::capsule(0.25, 0.4)?, theirs: SharedShape::capsule_z(0.4, 0.25) },
        Kind {
            ours: Shape::hull(hull.vertices().to_vec())?,
            theirs: SharedShape::convex_hull(&points)
                .ok_or_else(|| anyhow::anyhow!("parry finds no hull"))?,
        },
    ];
    let meshed = |mesh: Mesh| -> Result<Kind> {
        Ok(Kind { theirs: SharedShape::new(parry::single::mesh(&mesh)?), ours: Shape::from(mesh) })
    };
    let mut kinds = Vec::new();
    for (mesh, convex) in meshes.into_iter().zip(convex) {
        kinds.push(meshed(mesh)?);
        kinds.push(convex);
    }
    Ok(kinds)
}

/// Placed and turned anyhow.
fn poses(count: usize, seed: u64) -> Result<Vec<Pose>> {
    let spread = DVec3::splat(SPREAD);
    let places = procedural::positions(count, -spread, spread, seed);
    let turns = procedural::positions(count, DVec3::NEG_ONE, DVec3::ONE, seed + 1);
    let pose = |(p, t): (DVec3, DVec3)| Ok(Pose::new(p.to_array(), [t.x, t.y, t.z, 0.6])?);
    places.into_iter().zip(turns).map(pose).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_answer_the_same_questions() -> Result<()> {
        let world = World::new(300)?;
        for question in ["ray", "cast", "overlap", "nearest"] {
            let (ours, theirs) = (world.ours(question, 0), world.theirs(question, 0));
            let apart = |(a, b): &(&(i64, f64), &(i64, f64))| {
                (a.0 < 0) != (b.0 < 0) || (a.1 - b.1).abs() > TOLERANCE * (1.0 + a.1.abs())
            };
            let other = ours.iter().zip(&theirs).filter(apart).count();
            assert!(other <= 3, "{question}: {other} differ");
            assert_eq!(world.checked(question, 3), "3 of 3 equal", "{question}");
        }
        let mut alike = 0;
        for k in 0..BLOCK {
            let from = parry_scene::vector(world.places[k].translation());
            let theirs = world.parry.ray_cast(from, parry_scene::vector(world.way(k)));
            let ours = world.scene.ray_cast(world.ray(k), &Filter::default());
            if let (Some((_, hit)), Some((_, _, normal))) = (ours, theirs) {
                let along = parry_scene::vector(hit.normal).dot(normal).abs();
                alike += usize::from(along > 0.99);
            } else {
                alike += usize::from(ours.is_none() && theirs.is_none());
            }
        }
        assert!(alike >= BLOCK - 5, "{alike}");
        Ok(())
    }
}
