//! Seeded questions of many sizes, answered by every method that accepts them: what `calibrate` fits the cost
//! model to and what `auto` is judged by.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use glam::DVec3;
use impinge::{Error, Mesh, Method, Pose, Query, Shape, ShapeKind, procedural};

use crate::timing::Statistics;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ask {
    Relation,
    Distance,
    Pairs,
    Within(f64),
}

impl Ask {
    /// Its name in the stored coefficients.
    pub fn name(self) -> &'static str {
        match self {
            Ask::Relation => "relation",
            Ask::Distance => "distance",
            Ask::Pairs => "pairs",
            Ask::Within(_) => "pairs_within",
        }
    }
}

/// One question.
#[derive(Debug, Clone)]
pub struct Case {
    pub ask: Ask,
    pub shapes: [Shape; 2],
    pub pose: Pose,
}

/// How long a batch of one question has to take at least for its time to be trusted, in nanoseconds.
const BATCH: f64 = 20_000.0;

impl Case {
    /// The classes of the shapes, as in the stored coefficients.
    pub fn classes(&self) -> String {
        let class = |shape: &Shape| match shape.kind() {
            kind if kind.is_mesh() => "mesh",
            ShapeKind::Hull => "hull",
            ShapeKind::Compound => "compound",
            _ => "primitive",
        };
        format!("{}-{}", class(&self.shapes[0]), class(&self.shapes[1]))
    }

    /// Asks once.
    ///
    /// # Errors
    /// The method does not answer this.
    pub fn ask(&self, method: Method) -> Result<Method, Error> {
        let [a, b] = &self.shapes;
        let mut query = Query { method, ..Query::default() };
        let placed = b.at(self.pose);
        Ok(match self.ask {
            Ask::Relation => black_box(query.relation(a, placed)?).method,
            Ask::Distance => black_box(query.distance(a, placed)?).method,
            Ask::Pairs => black_box(query.pairs(a, placed)?).method,
            Ask::Within(margin) => black_box(query.pairs_within(a, placed, margin)?).method,
        })
    }

    /// Nanoseconds of one answer: the median of some batches, each long enough for the clock.
    ///
    /// # Errors
    /// The method does not answer this.
    pub fn time(&self, method: Method, rounds: usize) -> Result<f64, Error> {
        self.ask(method)?;
        let once = Instant::now();
        self.ask(method)?;
        let once = once.elapsed().as_nanos() as f64;
        let batch = (BATCH / once.max(1.0)).ceil().clamp(1.0, 4096.0) as u32;
        let mut times = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let start = Instant::now();
            for _ in 0..batch {
                self.ask(method)?;
            }
            times.push(start.elapsed().as_nanos() as f64 / f64::from(batch));
        }
        Ok(Statistics::of(&times).median)
    }
}

/// So many questions from one seed: sizes spread evenly over their orders of magnitude.
///
/// # Errors
/// A shape cannot be made.
pub fn questions(count: usize, seed: u64) -> Result<Vec<Case>> {
    (0..count as u64).map(|k| question(&mut Draw { seed, at: k << 20 })).collect()
}

/// Numbers from a counter, the same on every machine.
struct Draw {
    seed: u64,
    at: u64,
}

impl Draw {
    fn unit(&mut self) -> f64 {
        self.at += 1;
        impinge::num::random::unit(self.seed, self.at)
    }

    fn vector(&mut self, size: f64) -> DVec3 {
        DVec3::new(self.unit() - 0.5, self.unit() - 0.5, self.unit() - 0.5) * (2.0 * size)
    }

    fn pose(&mut self, spread: f64) -> Result<Pose, Error> {
        let turn = [(); 4].map(|()| self.unit() - 0.5);
        Pose::new(self.vector(spread).to_array(), turn)
    }

    /// A mesh of about this many triangles, about one unit large.
    fn mesh(&mut self, triangles: f64) -> Result<Mesh, Error> {
        if triangles < 12.0 {
            let soup = (triangles as u32).max(1);
            let centre = self.vector(0.3);
            let vertices = (0..3 * soup).map(|_| (centre + self.vector(0.5)).to_array()).collect();
            return Mesh::new(vertices, (0..soup).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect());
        }
        if triangles < 20.0 {
            return procedural::cuboid([0.5, 0.6, 0.4], [1; 3]);
        }
        // A torus has twice as many triangles as cells.
        let around = (triangles / 4.0).sqrt().max(3.0);
        procedural::torus(0.7, 0.3, (2.0 * around) as u32, around as u32)
    }
}

fn question(draw: &mut Draw) -> Result<Case> {
    let kind = draw.unit();
    let order = |draw: &mut Draw, low: f64, high: f64| low * (high / low).powf(draw.unit());
    let spread: f64 = [0.6, 1.2, 2.5][(3.0 * draw.unit()) as usize];
    let (ask, shapes) = if kind < 0.3 {
        let hull = |draw: &mut Draw| {
            let corners = order(draw, 4.0, 400.0) as usize;
            Shape::hull((0..corners).map(|_| draw.vector(1.0).normalize_or_zero() * 0.7))
        };
        (Ask::Distance, [hull(draw)?, hull(draw)?])
    } else {
        // Mostly the few triangles of game levels and query lines, some parts, a few large ones.
        let most = [4.0, 4.0, 6.0, 6.0, 12.0, 12.0, 60.0][((kind - 0.3) * 10.0) as usize % 7];
        let sizes = [order(draw, 1.0, most), order(draw, 1.0, most)];
        let shapes = [Shape::from(draw.mesh(sizes[0])?), Shape::from(draw.mesh(sizes[1])?)];
        let ask = match (5.0 * draw.unit()) as u32 {
            0 => Ask::Relation,
            1 => Ask::Pairs,
            2 => Ask::Within(0.1),
            _ => Ask::Distance,
        };
        (ask, shapes)
    };
    // Brute force ends a distance at the first contact by luck: mostly bodies that are apart are measured.
    let spread = if ask == Ask::Distance { spread.max(2.5) } else { spread };
    let pose = draw.pose(spread)?;
    Ok(Case { ask, shapes, pose })
}
