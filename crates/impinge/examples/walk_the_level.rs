//! A character controller: a capsule walks over a level of 100,352 triangles, slides along walls, climbs stairs and
//! slopes, and is drawn by rays. Every step is checked: it never falls through, and on flat ground nothing stops it,
//! however many edges of triangles it crosses.
//!
//! `cargo run --release -p impinge --example walk_the_level [STEPS] [PICTURE.png]`

use std::io::Write;

use impinge::glam::DVec3;
use impinge::scene::{Body, Filter, Scene};
use impinge::{Error, Motion, Pose, Ray, Shape, distance};

/// Cells along each side of the level, and the length of one.
const CELLS: usize = 224;
const CELL: f64 = 0.25;

/// The character: a capsule along z.
const RADIUS: f64 = 0.3;
const HALF_HEIGHT: f64 = 0.5;

/// How far the capsule keeps from what it touches.
const SKIN: f64 = 0.01;

/// How high it steps, how far it goes in one step, and the least upward part of the normal of ground to stand on.
const CLIMB: f64 = 0.35;
const PACE: f64 = 0.05;
const STEEPEST: f64 = 0.6;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let steps: usize = arguments.next().map_or(Ok(100_000), |word| word.parse())?;
    let picture = arguments.next();
    let mut scene = Scene::default();
    let level = level()?;
    scene.add(Body::fixed(level.clone(), Pose::IDENTITY));
    let hero = Shape::capsule(RADIUS, HALF_HEIGHT)?;

    let mut walker = Walker { scene: &scene, hero: &hero, at: DVec3::new(3.0, 3.0, 3.0) };
    walker.fall()?;
    let (mut heading, mut seed) = (0.6_f64, 1_u64);
    let (mut way, mut flat, mut slid, mut climbed) = (0.0, 0, 0, 0);
    let mut trail = Vec::new();
    for step in 0..steps {
        if step % 300 == 299 {
            heading += random(&mut seed) * 2.0 - 1.0;
        }
        let before = walker.at;
        let ahead = DVec3::new(heading.cos(), heading.sin(), 0.0) * PACE;
        walker.walk(ahead)?;
        let moved = walker.at - before;
        way += moved.truncate().length();
        climbed += usize::from(moved.z > 0.01);
        // On open, flat ground nothing may stop or turn it.
        if is_flat(before) && is_flat(before + ahead) {
            flat += 1;
            let off = (moved - ahead).length();
            assert!(off < 1e-6, "step {step}: {before} moved by {moved}, off by {off:e}");
        } else if moved.truncate().length() < 0.5 * PACE {
            slid += 1;
            heading += 0.4 + random(&mut seed);
        }
        let gap = distance(&level, hero.at(Pose::from_translation(walker.at)?)).distance;
        assert!(gap > 0.0, "step {step}: {} touches", walker.at);
        assert!(
            walker.at.z - HALF_HEIGHT - RADIUS > height_below(walker.at) - 0.5,
            "step {step}: fell through"
        );
        if step % 40 == 0 {
            trail.push(walker.at);
        }
    }
    println!(
        "{steps} steps, {way:.1} long: {flat} on flat ground without a trip, {climbed} upwards, {slid} against walls"
    );
    let end = walker.at;
    if let Some(file) = picture {
        for p in &trail {
            scene.add(Body::fixed(Shape::sphere(0.12)?, Pose::from_translation(*p)?));
        }
        scene.add(Body::fixed(hero.clone(), Pose::from_translation(end)?));
        std::fs::write(&file, draw(&scene, 960, 640)?)?;
        println!("{file} written");
    }
    Ok(())
}

struct Walker<'s> {
    scene: &'s Scene,
    hero: &'s Shape,
    at: DVec3,
}

impl Walker<'_> {
    /// How far it may go along a way, as a share, and the normal of what stops it.
    fn cast(&self, way: DVec3) -> Result<(f64, Option<DVec3>), Error> {
        let length = way.length();
        if length == 0.0 {
            return Ok((1.0, None));
        }
        // A little farther, so that the skin is kept.
        let farther = way * (1.0 + SKIN / length);
        let motion = Motion::velocity(&Pose::from_translation(self.at)?, farther, [0.0; 3])?;
        let hit = self.scene.shape_cast(self.hero.along(motion), &Filter::default());
        Ok(match hit {
            None => (1.0, None),
            Some((_, impact)) => {
                // The normal leads from the capsule to what it touches.
                let normal = -impact.normal;
                let facing = (-way.dot(normal) / length).max(0.1);
                let free = impact.time * (length + SKIN) - SKIN / facing;
                ((free / length).clamp(0.0, 1.0), Some(normal))
            }
        })
    }

    /// Goes along a way, and along what it meets.
    fn slide(&mut self, mut way: DVec3) -> Result<(), Error> {
        let mut walls: Vec<DVec3> = Vec::new();
        for _ in 0..4 {
            let (share, wall) = self.cast(way)?;
            self.at += way * share;
            let Some(wall) = wall else { return Ok(()) };
            way *= 1.0 - share;
            walls.push(wall);
            way -= wall * way.dot(wall).min(0.0);
            // Into an earlier wall: along the edge between the two, or nowhere.
            if let Some(other) = walls.iter().find(|other| way.dot(**other) < -1e-9) {
                let edge = wall.cross(*other).normalize_or_zero();
                way = edge * way.dot(edge);
            }
            if way.length() < 1e-6 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// One step: up, ahead, down. Where there is no ground to stand on, it stays.
    fn walk(&mut self, ahead: DVec3) -> Result<(), Error> {
        let start = self.at;
        let (up, _) = self.cast(DVec3::Z * CLIMB)?;
        self.at += DVec3::Z * (CLIMB * up);
        self.slide(ahead)?;
        let down = -DVec3::Z * (CLIMB * up + CLIMB);
        let (share, ground) = self.cast(down)?;
        match ground {
            Some(normal) if normal.z >= STEEPEST => self.at += down * share,
            Some(_) => self.at = start,
            None => {
                self.at += down;
                self.fall()?;
            }
        }
        Ok(())
    }

    /// Down to the ground.
    fn fall(&mut self) -> Result<(), Error> {
        self.slide(-DVec3::Z * 20.0)
    }
}

/// The height of the level: flat ground, hills, stairs, blocks, and a wall around.
fn height(x: f64, y: f64) -> f64 {
    let side = CELLS as f64 * CELL;
    let (u, v) = (x / side, y / side);
    if u.min(v).min(1.0 - u).min(1.0 - v) < 0.02 {
        return 4.0;
    }
    match (u < 0.5, v < 0.5) {
        (true, true) => 0.0,
        // Hills that begin and end flat.
        (false, true) => {
            let bump = |t: f64| (std::f64::consts::PI * t.clamp(0.0, 1.0)).sin().powi(2);
            2.0 * bump((u - 0.5) / 0.46) * bump(v / 0.5) * (0.6 + 0.4 * (9.0 * u).sin())
        }
        // Stairs towards the far wall.
        (true, false) => (((v - 0.5) / 0.04).floor() * 0.25).clamp(0.0, 2.0),
        // Blocks that are too high to climb.
        (false, false) => {
            let block = |t: f64| (t * 14.0).fract() < 0.35;
            if block(u) && block(v) { 1.5 } else { 0.0 }
        }
    }
}

/// The height of the grid's vertices around a place: the highest of them is never below the surface.
fn height_below(p: DVec3) -> f64 {
    let (i, j) = ((p.x / CELL).floor(), (p.y / CELL).floor());
    let corner = |a: f64, b: f64| height((i + a) * CELL, (j + b) * CELL);
    corner(0.0, 0.0).min(corner(1.0, 0.0)).min(corner(0.0, 1.0)).min(corner(1.0, 1.0))
}

/// Whether all vertices that the capsule can come near have one height.
fn is_flat(p: DVec3) -> bool {
    let near = 2;
    let (i, j) = ((p.x / CELL).floor() as i64, (p.y / CELL).floor() as i64);
    let at = |a: i64, b: i64| height((i + a) as f64 * CELL, (j + b) as f64 * CELL);
    (-near..=near + 1).all(|a| (-near..=near + 1).all(|b| at(a, b) == at(0, 0)))
}

fn level() -> Result<Shape, Error> {
    let row = CELLS as u32 + 1;
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for j in 0..row {
        for i in 0..row {
            let (x, y) = (f64::from(i) * CELL, f64::from(j) * CELL);
            vertices.push([x, y, height(x, y)]);
            if i + 1 < row && j + 1 < row {
                let a = j * row + i;
                triangles.extend([[a, a + 1, a + row + 1], [a, a + row + 1, a + row]]);
            }
        }
    }
    Shape::mesh(vertices, triangles)
}

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 40) as f64 / (1_u64 << 24) as f64
}

/// The scene from above the corner, one ray a pixel, as PNG.
fn draw(scene: &Scene, width: usize, height: usize) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let side = CELLS as f64 * CELL;
    let (eye, centre) = (DVec3::new(-0.35, -0.55, 0.75) * side, DVec3::new(0.5, 0.47, 0.0) * side);
    let forward = (centre - eye).normalize();
    let right = forward.cross(DVec3::Z).normalize();
    let up = right.cross(forward);
    let rays: Vec<Ray> = (0..width * height)
        .map(|k| {
            let (x, y) = ((k % width) as f64 + 0.5, (k / width) as f64 + 0.5);
            let half = width as f64 / 2.0;
            let direction =
                forward + right * (0.5 * (x - half) / half) - up * (0.5 * (y - height as f64 / 2.0) / half);
            Ray::new(eye, direction)
        })
        .collect::<Result<_, _>>()?;
    let sun = DVec3::new(-0.4, -0.5, 0.8).normalize();
    let mut pixels = Vec::new();
    for (k, hit) in scene.ray_cast_batch(&rays, &Filter::default()).into_iter().enumerate() {
        if k % width == 0 {
            pixels.push(0);
        }
        let colour = match hit {
            None => DVec3::new(0.86, 0.90, 0.95),
            Some((body, hit)) => {
                let paint = if body.index() == 0 {
                    DVec3::new(0.75, 0.73, 0.66)
                } else {
                    DVec3::new(0.85, 0.15, 0.1)
                };
                // In the shade something lies between the point and the sun.
                let shade = Ray::new(hit.point + hit.normal * 1e-3, sun)?;
                let lit = !scene.ray_cast_any(shade, &Filter::default());
                paint * (0.35 + if lit { 0.65 * hit.normal.dot(sun).max(0.0) } else { 0.0 })
            }
        };
        pixels.extend(colour.to_array().map(|c| (255.0 * c.clamp(0.0, 1.0).powf(0.8)) as u8));
    }
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&pixels)?;
    for (name, data) in [(b"IHDR", header), (b"IDAT", packed.finish()?), (b"IEND", Vec::new())] {
        let mut sum = flate2::Crc::new();
        sum.update(name);
        sum.update(&data);
        png.extend((data.len() as u32).to_be_bytes());
        png.extend(name);
        png.extend(&data);
        png.extend(sum.sum().to_be_bytes());
    }
    Ok(png)
}
