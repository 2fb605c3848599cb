//! Contact manifolds of convex bodies sunk into a terrain: 250 boxes, capsules, balls and hulls each, warm, frame by
//! frame while they slide a little.
//!
//! Everybody's normals are compared with the faces around each contact. The deepest contact of each body is compared
//! with the smallest shift along its normal that empties its region (`contact_depth`), and with the depth of points of
//! the body's surface under the terrain, refined around the deepest ones.

use std::f64::consts::{PI, TAU};
use std::time::Instant;

use anyhow::{Context, Result};
use glam::{DQuat, DVec3};
use impinge::num::random::unit as random;
use impinge::{Contact, Memory, Mesh, Motion, Pose, Query, Shape, closest_point, distance, relation, sweep};

use super::Effort;
use super::contact_depth::Shifted;
use crate::peers::{jolt, parry_contacts, wanted};
use crate::table::Table;

/// Vertices along a side of the terrain.
const SIDE: usize = 224;

/// The length of a cell.
const CELL: f64 = 0.5;

/// Contacts are told up to this distance (a length), as the peers' prediction.
pub const MARGIN: f64 = 0.002;

/// Frames after the one that does not count.
const FRAMES: usize = 20;

/// Numbers by lot, counted.
struct Dice(u64);

impl Dice {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 += 1;
        low + (high - low) * random(5, self.0)
    }
}

/// A body of the scene.
pub struct Body {
    /// What it is.
    pub kind: Kind,
    /// The size that its depth is a share of.
    pub size: f64,
    /// Where it stands in frame 0.
    pub position: DVec3,
    /// Turned by this.
    pub rotation: DQuat,
}

/// The kinds of bodies.
pub enum Kind {
    /// Half extents.
    Box([f64; 3]),
    /// Half height and radius.
    Capsule(f64, f64),
    /// Radius.
    Ball(f64),
    /// Corners.
    Hull(Vec<DVec3>),
}

impl Kind {
    fn shape(&self) -> Result<Shape, impinge::Error> {
        match self {
            Kind::Box(half) => Shape::cuboid(*half),
            Kind::Capsule(half, radius) => Shape::capsule(*radius, *half),
            Kind::Ball(radius) => Shape::sphere(*radius),
            Kind::Hull(points) => Shape::hull(points.iter().copied()),
        }
    }
}

/// How far the bodies have slid in a frame.
pub fn slide(frame: usize) -> DVec3 {
    let k = frame as f64;
    DVec3::new(0.004 * (0.7 * k).sin(), 0.004 * (0.9 * k).cos() - 0.004, 0.0)
}

/// One contact as it is judged: the point on the terrain, the normal out of it, and the depth.
#[derive(Debug, Clone, Copy)]
pub struct Told {
    /// Which body.
    pub body: usize,
    /// On the terrain.
    pub point: DVec3,
    /// From the terrain to the body.
    pub normal: DVec3,
    /// Negative for a gap.
    pub depth: f64,
}

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let dice = &mut Dice(0);
    let ground = terrain(dice)?;
    let bodies = bodies(dice, &ground, effort.pick(1000, 100))?;
    let frames = effort.pick(FRAMES, 3);
    let reference = reference(&ground, &bodies, frames)?;
    let header = [
        "contestant",
        "us/body",
        "box",
        "capsule",
        "ball",
        "hull",
        "contacts",
        "penetrating",
        "bad normals",
        "depth error: median",
        "worst",
        "above 1e-4",
        "from nearest face: median",
        "worst",
        "missed",
    ];
    let mut table = Table::new("contacts", &header);
    let mut ours = None;
    let mut contestants: Vec<(&str, Runner<'_>)> = Vec::new();
    if wanted("impinge") {
        contestants.push(("impinge", ours_runner(&ground, &bodies)?));
    }
    if wanted("parry3d") {
        contestants.push(("parry3d-fix", parry_contacts::single::runner(&ground, &bodies)?));
        contestants.push(("parry3d-f64-fix", parry_contacts::double::runner(&ground, &bodies)?));
    }
    if wanted("jolt")
        && let Some(runner) = jolt::runner(&ground, &bodies, frames, &mut table)?
    {
        contestants.push(("jolt", runner));
    }
    let mut times = vec![[const { Vec::new() }; 5]; contestants.len()];
    let mut told = vec![Vec::new(); contestants.len()];
    for frame in 0..=frames {
        for (k, (_, runner)) in contestants.iter_mut().enumerate() {
            told[k].clear();
            let spent = runner(frame, &mut told[k])?;
            if frame > 0 {
                times[k].iter_mut().zip(spent).for_each(|(all, one)| all.push(one));
            }
        }
    }
    for (k, (name, _)) in contestants.iter().enumerate() {
        let medians = times[k].each_mut().map(|all| median(all));
        let judged = judge(&ground, &bodies, &reference, &told[k], frames)?;
        let mut row: Vec<String> = vec![name.to_string()];
        row.extend(medians.iter().map(|t| format!("{:.2}", t * 1e6)));
        row.extend(judged);
        table.row(row);
        match ours {
            None if *name == "impinge" => ours = Some(medians[0]),
            Some(own) => table.ratio(name, medians[0] / own),
            None => {}
        }
    }
    if wanted("impinge") {
        let [touch, gap] = questions(&ground, &bodies)?;
        table.remark(format!(
            "impinge, boxes and hulls: relation {:.1} us, distance {:.1} us",
            touch * 1e6,
            gap * 1e6
        ));
        table.ratio("impinge-distance", gap / touch);
    }
    table.remark(format!(
        "terrain of {} triangles, bodies sunk 0-5 % of their size; medians of {frames} frames after one, contestants in turn; \
         bad: penetrating, and the normal more than 30 degrees from every face within a cell",
        ground.triangles().len()
    ));
    table.remark(
        "depth error, of the deepest contact of each body, part of the body's size: against the smallest shift of the \
         body along the contact's normal that empties the contact's region, followed by the exact relation and halved \
         to 1e-6; from nearest face: against the distance of points of the body's surface from the nearest face, \
         refined to 1e-5, which is less where edges cross or a peak stands in a face",
    );
    Ok(table)
}

/// Asks about all bodies in one frame: seconds a body over all, and by kind.
pub type Runner<'s> = Box<dyn FnMut(usize, &mut Vec<Told>) -> Result<[f64; 5]> + 's>;

/// The time of each kind and of all together, as seconds a body.
pub struct Clock {
    spent: [f64; 4],
    asked: [usize; 4],
}

impl Clock {
    /// Nothing was asked yet.
    pub const START: Clock = Clock { spent: [0.0; 4], asked: [0; 4] };

    /// Times one question about a body.
    pub fn time<T>(&mut self, body: usize, ask: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let found = ask();
        self.spent[body % 4] += start.elapsed().as_secs_f64();
        self.asked[body % 4] += 1;
        found
    }

    /// Over all, then by kind.
    pub fn seconds_a_body(&self) -> [f64; 5] {
        let each = |k: usize| self.spent[k] / self.asked[k].max(1) as f64;
        let all = self.spent.iter().sum::<f64>() / self.asked.iter().sum::<usize>().max(1) as f64;
        [all, each(0), each(1), each(2), each(3)]
    }
}

fn ours_runner<'s>(ground: &Mesh, bodies: &'s [Body]) -> Result<Runner<'s>> {
    let ground = Shape::from(ground.clone());
    let shapes: Vec<Shape> = bodies.iter().map(|b| b.kind.shape()).collect::<Result<_, _>>()?;
    let mut memories = vec![Memory::default(); bodies.len()];
    Ok(Box::new(move |frame, told| {
        let mut clock = Clock::START;
        for (k, body) in bodies.iter().enumerate() {
            let pose = Pose::from_rotation(body.position + slide(frame), body.rotation)?;
            let memory = &mut memories[k];
            let found = clock.time(k, || {
                let mut query = Query { memory: Some(memory), ..Query::default() };
                query.contacts(&ground, shapes[k].at(pose), MARGIN)
            })?;
            let contacts = found.value.context("an unlimited question has an answer")?;
            told.extend(contacts.iter().map(|&Contact { points, normal, depth, .. }| Told {
                body: k,
                point: points[0],
                normal,
                depth,
            }));
        }
        Ok(clock.seconds_a_body())
    }))
}

/// What a relation and a distance of a box or hull on the terrain cost, in seconds.
fn questions(ground: &Mesh, bodies: &[Body]) -> Result<[f64; 2]> {
    let ground = Shape::from(ground.clone());
    let mut times = [Vec::new(), Vec::new()];
    for body in bodies.iter().filter(|b| matches!(b.kind, Kind::Box(_) | Kind::Hull(_))) {
        let (shape, pose) = (body.kind.shape()?, Pose::from_rotation(body.position, body.rotation)?);
        std::hint::black_box((relation(&ground, shape.at(pose)), distance(&ground, shape.at(pose))));
        let start = Instant::now();
        std::hint::black_box(relation(&ground, shape.at(pose)));
        times[0].push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        std::hint::black_box(distance(&ground, shape.at(pose)));
        times[1].push(start.elapsed().as_secs_f64());
    }
    Ok(times.each_mut().map(|all| median(all)))
}

fn median(all: &mut [f64]) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// Value noise with some control points along a side, cubic between them.
fn noise(dice: &mut Dice, points: usize) -> Vec<f64> {
    let mut normal = || {
        let (u, v): (f64, f64) = (dice.between(1e-12, 1.0), dice.between(0.0, 1.0));
        (-2.0 * u.ln()).sqrt() * (TAU * v).cos()
    };
    let side = points + 3;
    let grid: Vec<f64> = (0..side * side).map(|_| normal()).collect();
    let weights = |t: f64| {
        let s = 1.0 - t;
        [
            s * s * s,
            3.0 * t * t * t - 6.0 * t * t + 4.0,
            -3.0 * t * t * t + 3.0 * t * t + 3.0 * t + 1.0,
            t * t * t,
        ]
        .map(|w| w / 6.0)
    };
    let place = |i: usize| {
        let x = points as f64 * i as f64 / SIDE as f64;
        (x as usize, weights(x.fract()))
    };
    let at = |i: usize, j: usize| {
        let ((p, u), (q, v)) = (place(i), place(j));
        (0..16).map(|k| u[k / 4] * v[k % 4] * grid[(p + k / 4) * side + q + k % 4]).sum()
    };
    (0..SIDE * SIDE).map(|k| at(k / SIDE, k % SIDE)).collect()
}

/// A noisy field of heights of 99,458 triangles, two a cell.
fn terrain(dice: &mut Dice) -> Result<Mesh> {
    let layers = [(4.0, 6), (1.2, 18), (0.35, 50)].map(|(height, points)| (height, noise(dice, points)));
    let coordinate = |i: usize| (i as f64 - 0.5 * (SIDE - 1) as f64) * CELL;
    let vertices = (0..SIDE * SIDE).map(|k| {
        let rough = 0.015 * dice.between(-1.7, 1.7);
        let z = layers.iter().map(|(height, noise)| height * noise[k]).sum::<f64>() + rough;
        // Numbers that f32 has, for peers that know no others.
        [coordinate(k / SIDE), coordinate(k % SIDE), z].map(|x| f64::from(x as f32))
    });
    let vertices: Vec<[f64; 3]> = vertices.collect();
    let cells = (0..(SIDE - 1) * (SIDE - 1)).map(|k| ((k / (SIDE - 1)) * SIDE + k % (SIDE - 1)) as u32);
    let n = SIDE as u32;
    let triangles = cells.flat_map(|v| [[v, v + n, v + n + 1], [v, v + n + 1, v + 1]]).collect();
    Ok(Mesh::new(vertices, triangles)?)
}

/// The normal of a triangle.
fn normal(mesh: &Mesh, t: usize) -> DVec3 {
    let [a, b, c] = mesh.corners(t as u32);
    (b - a).cross(c - a).normalize()
}

/// The cell that a point is over.
fn cell(p: DVec3) -> [usize; 2] {
    let at = |x: f64| ((x / CELL + 0.5 * (SIDE - 1) as f64).max(1.0) as usize).min(SIDE - 3);
    [at(p.x), at(p.y)]
}

/// The triangles of a cell and of those around it.
fn around(p: DVec3) -> impl Iterator<Item = usize> {
    let [i, j] = cell(p);
    (0..9).flat_map(move |k| {
        let first = 2 * ((i + k / 3 - 1) * (SIDE - 1) + j + k % 3 - 1);
        [first, first + 1]
    })
}

/// Bodies dropped onto the terrain and sunk into it: seven of ten with a face along the ground.
fn bodies(dice: &mut Dice, ground: &Mesh, count: usize) -> Result<Vec<Body>> {
    let level = Shape::from(ground.clone());
    let unit = |dice: &mut Dice| {
        let (z, phi): (f64, f64) = (dice.between(-1.0, 1.0), dice.between(0.0, TAU));
        DVec3::new((1.0 - z * z).sqrt() * phi.cos(), (1.0 - z * z).sqrt() * phi.sin(), z)
    };
    let mut all = Vec::new();
    for k in 0..count {
        let (kind, size) = match k % 4 {
            0 => {
                let half = [(); 3].map(|()| dice.between(0.3, 0.8));
                (Kind::Box(half), 2.0 * half.iter().copied().fold(f64::INFINITY, f64::min))
            }
            1 => {
                let (half, radius) = (dice.between(0.3, 0.6), dice.between(0.3, 0.5));
                (Kind::Capsule(half, radius), 2.0 * radius)
            }
            2 => {
                let radius = dice.between(0.3, 0.7);
                (Kind::Ball(radius), 2.0 * radius)
            }
            _ => {
                let radius = dice.between(0.5, 0.8);
                let points =
                    (0..30).map(|_| unit(dice) * radius * DVec3::new(1.0, 0.8, 0.7)).collect::<Vec<_>>();
                let most = points.iter().fold(0.0_f64, |most, p| most.max(p.length()));
                (Kind::Hull(points), 1.4 * most)
            }
        };
        let at = DVec3::new(dice.between(-50.0, 50.0), dice.between(-50.0, 50.0), 40.0);
        let up = around(at).map(|t| normal(ground, t)).sum::<DVec3>().normalize();
        let mut rotation = DQuat::from_axis_angle(unit(dice), dice.between(0.0, PI));
        if dice.between(0.0, 1.0) < 0.7 {
            let lean = DVec3::new(dice.between(-1.0, 1.0), dice.between(-1.0, 1.0), 0.0);
            let tilt =
                DQuat::from_axis_angle(lean.normalize_or(DVec3::X), dice.between(0.0, 3.0_f64.to_radians()));
            let lying = match kind {
                Kind::Capsule(..) => DQuat::from_rotation_x(0.5 * PI),
                Kind::Hull(_) => rotation,
                _ => DQuat::IDENTITY,
            };
            rotation = DQuat::from_rotation_arc(DVec3::Z, up)
                * DQuat::from_rotation_z(dice.between(0.0, TAU))
                * tilt
                * lying;
        }
        let rotation = rotation.normalize();
        let depth = dice.between(0.0, 0.05) * size;
        let start = Pose::from_rotation(at, rotation)?;
        let shape = kind.shape()?;
        let fall = Motion::velocity(&start, DVec3::Z * -100.0, [0.0; 3])?;
        let impact = sweep(&level, shape.along(fall)).impact.context("every body lands")?;
        let position = at - DVec3::Z * (100.0 * impact.time + depth);
        all.push(Body { kind, size, position, rotation });
    }
    Ok(all)
}

/// Points of a body's surface in its own frame, by two parameters and a face.
fn surface_points(kind: &Kind) -> Vec<DVec3> {
    let ball = |count: u32| {
        (0..count).map(move |k| {
            let z = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(count);
            let (sin, cos) = (f64::from(k) * PI * (3.0 - 5.0_f64.sqrt())).sin_cos();
            DVec3::new(cos * (1.0 - z * z).sqrt(), sin * (1.0 - z * z).sqrt(), z)
        })
    };
    match kind {
        Kind::Ball(radius) => ball(4000).map(|d| d * *radius).collect(),
        Kind::Capsule(half, radius) => {
            let along = (0..15).map(|k| *half * (f64::from(k) / 7.0 - 1.0));
            along
                .flat_map(|z| ball(1500).map(move |d| (d, z)))
                .map(|(d, z)| d * *radius + DVec3::Z * z)
                .collect()
        }
        Kind::Box(half) => {
            let grid = |k: u32| f64::from(k) / 20.0 - 1.0;
            let side = |axis: usize, sign: f64, u: f64, v: f64| {
                let mut p = [u, u, u];
                (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (sign, u, v);
                DVec3::from_array(p) * DVec3::from_array(*half)
            };
            let faces = (0..3).flat_map(|axis| [(axis, -1.0), (axis, 1.0)]);
            faces
                .flat_map(|(axis, sign)| {
                    (0..41 * 41).map(move |k| side(axis, sign, grid(k / 41), grid(k % 41)))
                })
                .collect()
        }
        Kind::Hull(points) => {
            let Some(mesh) = Shape::hull(points.iter().copied()).ok().and_then(|hull| hull.hull_mesh())
            else {
                return Vec::new();
            };
            let within = (0..13_u32)
                .flat_map(|i| (0..13 - i).map(move |j| [i, j, 12 - i - j].map(|x| f64::from(x) / 12.0)));
            let within: Vec<[f64; 3]> = within.collect();
            let triangles = 0..mesh.triangles().len() as u32;
            triangles
                .flat_map(|t| {
                    let [a, b, c] = mesh.corners(t);
                    within.iter().map(move |w| a * w[0] + b * w[1] + c * w[2]).collect::<Vec<_>>()
                })
                .collect()
        }
    }
}

/// Samples around which the depth is refined, and how far they are from each other (a share of the body's size).
const STARTS: usize = 4;
const APART: f64 = 0.15;

/// How deep each body lies in the last frame: the largest distance from the terrain of a point of its surface under
/// it, found among samples and refined around the best ones.
fn reference(ground: &Mesh, bodies: &[Body], last: usize) -> Result<Vec<f64>> {
    let level = Shape::from(ground.clone());
    let mut all = Vec::new();
    for body in bodies {
        let pose = Pose::from_rotation(body.position + slide(last), body.rotation)?;
        let shape = body.kind.shape()?;
        let depth = |p: DVec3| -> Result<f64> {
            let near = closest_point(&level, p)?;
            Ok(if is_under(ground, p) { near.distance.abs() } else { 0.0 })
        };
        let mut samples: Vec<(f64, DVec3)> = Vec::new();
        for local in surface_points(&body.kind) {
            let p = pose.apply(local);
            if is_under(ground, p) {
                samples.push((depth(p)?, p));
            }
        }
        samples.sort_by(|x, y| y.0.total_cmp(&x.0));
        let mut starts: Vec<(f64, DVec3)> = Vec::new();
        for sample in samples {
            let far = |(_, p): &(f64, DVec3)| p.distance(sample.1) > APART * body.size;
            if starts.len() < STARTS && starts.iter().all(far) {
                starts.push(sample);
            }
        }
        let mut deepest = 0.0_f64;
        for mut best in starts {
            // Always on the body's surface, in ever smaller steps.
            let (mut step, inverse) = (0.05 * body.size, pose.inverse());
            while step > 1e-6 * body.size {
                let mut better = false;
                for k in 0..26_i32 {
                    let k = if k < 13 { k } else { k + 1 };
                    let way =
                        DVec3::new(f64::from(k / 9 - 1), f64::from(k / 3 % 3 - 1), f64::from(k % 3 - 1));
                    let on = closest_point(&shape, inverse.apply(best.1 + way * step))?.point;
                    let p = pose.apply(on);
                    let d = depth(p)?;
                    if d > best.0 {
                        (best, better) = ((d, p), true);
                    }
                }
                if !better {
                    step *= 0.5;
                }
            }
            deepest = deepest.max(best.0);
        }
        all.push(deepest);
    }
    Ok(all)
}

/// Whether a point is under the terrain.
fn is_under(ground: &Mesh, p: DVec3) -> bool {
    let [i, j] = cell(p);
    let first = 2 * (i * (SIDE - 1) + j);
    let corner = ground.corners(first as u32)[0];
    let (u, v) = (p.x - corner.x, p.y - corner.y);
    let t = if v <= u { first } else { first + 1 };
    let [a, ..] = ground.corners(t as u32);
    normal(ground, t).dot(p - a) < 0.0
}

/// The triangles of the cells under a box, and of those around them.
fn under(low: DVec3, high: DVec3) -> Vec<u32> {
    let ([i0, j0], [i1, j1]) = (cell(low), cell(high));
    let rows = i0 - 1..=i1 + 1;
    let cells = rows.flat_map(|i| (j0 - 1..=j1 + 1).map(move |j| i * (SIDE - 1) + j));
    cells.flat_map(|cell| [2 * cell as u32, 2 * cell as u32 + 1]).collect()
}

/// The cells that judge a contestant.
fn judge(
    ground: &Mesh,
    bodies: &[Body],
    reference: &[f64],
    told: &[Told],
    last: usize,
) -> Result<Vec<String>> {
    let penetrating = told.iter().filter(|t| t.depth > 0.0);
    let is_bad = |t: &&Told| {
        around(t.point).all(|face| normal(ground, face).dot(t.normal) < 30.0_f64.to_radians().cos())
    };
    let bad = penetrating.clone().filter(is_bad).count();
    let mut deepest: Vec<Option<&Told>> = vec![None; bodies.len()];
    for one in told.iter().filter(|t| t.depth > 0.0) {
        let best = &mut deepest[one.body];
        *best = best.filter(|best| best.depth >= one.depth).or(Some(one));
    }
    let (mut shifts, mut points) = (Vec::new(), Vec::new());
    for one in deepest.iter().flatten() {
        let Body { kind, size, position, rotation } = &bodies[one.body];
        let (shape, position) = (kind.shape()?, *position + slide(last));
        let bounds = shape.bounds(&Pose::from_rotation(position, *rotation)?);
        let near = under(bounds.low, bounds.high);
        let (mesh, rotation, size, normal) = (ground, *rotation, *size, one.normal);
        let shifted = Shifted { mesh, near, shape, position, rotation, size, normal };
        if let Some(shift) = shifted.emptied_after(one.point)? {
            shifts.push((one.depth - shift).abs() / size);
        }
        if reference[one.body] > 0.0 {
            points.push((one.depth - reference[one.body]).abs() / size);
        }
    }
    let missed = (0..bodies.len()).filter(|&k| reference[k] > 1e-4 && deepest[k].is_none()).count();
    let above = shifts.iter().filter(|error| **error > 1e-4).count();
    let cells = [&mut shifts, &mut points].map(|errors| {
        let middle = median(errors);
        [format!("{middle:.1e}"), format!("{:.1e}", errors.last().copied().unwrap_or(0.0))]
    });
    let [[middle, worst], nearest] = cells;
    let mut row = vec![told.len().to_string(), penetrating.count().to_string(), bad.to_string()];
    row.extend([middle, worst, above.to_string()]);
    row.extend(nearest);
    row.push(missed.to_string());
    Ok(row)
}
