//! `clusters`: eight equal clusters of particles, one in each octant, fly to the origin, pass through each other and
//! separate again. Two particles collide while they are at most [`DISTANCE`] apart.
//!
//! The published experiment compared a uniform grid, a deformable spanner and brute force on 1,000 to 64,000 particles.
//! It states the eight octants, the noise, 100 frames and the collisions; the rest is chosen here, once for all numbers:
//! a cluster is a cubic lattice of [`SIDE`],
//! its centre starts at [`START`] on every axis and is at the opposite corner after [`FRAMES`] frames, and each
//! particle takes a random step of up to [`NOISE`] along each axis in each frame. So the collisions come within a
//! few percent of those of the experiment for all four numbers.

use std::sync::Arc;

use glam::DVec3;
use impinge::broad::neighbours::{Domain, NeighbourSearch, Particles, SearchCounters, Technique};
use impinge::{Error, Pose, procedural};

use crate::drawing::{Drawing, Figure};
use crate::random::unit;

/// Particles unless asked otherwise.
pub const PARTICLES: usize = 8000;

/// Frames of the whole passage.
pub const FRAMES: u64 = 100;

/// Two particles collide when they are at most so far apart.
pub const DISTANCE: f64 = 0.04;

/// The side of a cluster.
pub const SIDE: f64 = 0.93;

/// Where the centre of a cluster starts, on every axis.
pub const START: f64 = 1.0;

/// The largest random step along an axis in a frame.
pub const NOISE: f64 = 0.02;

/// The view of the pictures.
const VIEW: DVec3 = DVec3::new(0.75, -1.0, 0.45);

/// Eight clusters and the search for their collisions.
pub struct Clusters {
    positions: Vec<[f64; 3]>,
    distance: f64,
    seed: u64,
    frame: u64,
    search: Box<dyn NeighbourSearch>,
    pairs: Vec<[u32; 2]>,
    collisions: u64,
    work: SearchCounters,
}

impl Clusters {
    /// So many particles, in eight clusters as equal as can be; every technique finds the same collisions.
    ///
    /// # Errors
    /// No particles, or more than can be numbered.
    pub fn new(particles: usize, seed: u64, search: Box<dyn NeighbourSearch>) -> Result<Clusters, Error> {
        Clusters::with_distance(particles, DISTANCE, seed, search)
    }

    /// The same with another distance of collisions.
    ///
    /// # Errors
    /// No particles, more than can be numbered, or a distance that is not positive.
    pub fn with_distance(
        particles: usize,
        distance: f64,
        seed: u64,
        search: Box<dyn NeighbourSearch>,
    ) -> Result<Clusters, Error> {
        if !(1..=MOST).contains(&particles) {
            let reason = format!("{particles} is not a number from 1 to {MOST}");
            return Err(Error::Argument { name: "particles", reason });
        }
        let positions: Vec<[f64; 3]> = (0..particles).map(|i| start(i, particles)).collect();
        Particles::new(&positions, Domain::OPEN, distance)?;
        let (pairs, work) = (Vec::new(), SearchCounters::default());
        Ok(Clusters { positions, distance, seed, frame: 0, search, pairs, collisions: 0, work })
    }

    /// Moves all particles by a frame, without a search.
    pub fn step(&mut self) {
        let (count, seed) = (self.positions.len() as u64, self.seed);
        let first = 3 * count * self.frame;
        for (i, position) in self.positions.iter_mut().enumerate() {
            let octant = octant(i);
            for (k, x) in position.iter_mut().enumerate() {
                let noise = NOISE * (2.0 * unit(seed, first + 3 * i as u64 + k as u64) - 1.0);
                *x += noise - octant[k] * (2.0 * START / FRAMES as f64);
            }
        }
        self.frame += 1;
    }

    /// Moves all particles by a frame and finds the collisions.
    ///
    /// # Errors
    /// A particle has left the range of coordinates.
    pub fn advance(&mut self) -> Result<&[[u32; 2]], Error> {
        self.step();
        let particles = Particles::new(&self.positions, Domain::OPEN, self.distance)?;
        self.search.search(&particles, &mut self.pairs);
        let SearchCounters { tests, volume_tests, pairs, updates, bytes } = self.search.counters();
        self.collisions += pairs;
        self.work.tests += tests;
        self.work.volume_tests += volume_tests;
        self.work.pairs += pairs;
        self.work.updates += updates;
        self.work.bytes = self.work.bytes.max(bytes);
        Ok(&self.pairs)
    }

    /// Whether brute force finds the collisions of the last frame.
    ///
    /// # Errors
    /// The first difference.
    pub fn verify(&self) -> Result<(), String> {
        let particles =
            Particles::new(&self.positions, Domain::OPEN, self.distance).map_err(|e| e.to_string())?;
        let mut truth = Vec::new();
        Technique::Brute.start().search(&particles, &mut truth);
        let mut told = self.pairs.clone();
        told.sort_unstable();
        truth.sort_unstable();
        let differ = told.iter().zip(&truth).find(|(a, b)| a != b);
        match differ {
            Some((told, truth)) => Err(format!("{told:?} was told, but brute force finds {truth:?}")),
            None if told.len() != truth.len() => {
                Err(format!("{} collisions, but brute force finds {}", told.len(), truth.len()))
            }
            None => Ok(()),
        }
    }

    /// Where the particles are.
    pub fn positions(&self) -> &[[f64; 3]] {
        &self.positions
    }

    /// The distance of collisions.
    pub fn distance(&self) -> f64 {
        self.distance
    }

    /// The collisions of the last frame.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Collisions of all frames so far.
    pub fn collisions(&self) -> u64 {
        self.collisions
    }

    /// What all searches so far cost; of the memory the largest.
    pub fn work(&self) -> SearchCounters {
        self.work
    }

    /// The technique in use.
    pub fn technique(&self) -> Technique {
        self.search.technique()
    }

    /// Why that technique.
    pub fn reason(&self) -> &str {
        self.search.reason()
    }

    /// All particles, those that collide in red.
    pub fn drawing(&self) -> Drawing {
        let mut colliding = vec![false; self.positions.len()];
        self.pairs.iter().flatten().for_each(|&p| colliding[p as usize] = true);
        let mut drawing = Drawing { view: Some(VIEW), ..Drawing::default() };
        // As large as a collision is wide, but to be seen among few.
        let size = (0.5 * self.distance).max(0.004);
        let Ok(mesh) = procedural::ico_sphere(size, 0) else { return drawing };
        let mesh = Arc::new(mesh);
        for (position, red) in self.positions.iter().zip(colliding) {
            let Ok(pose) = Pose::from_translation(*position) else { continue };
            let colour = if red { [0.90, 0.10, 0.06] } else { [0.36, 0.56, 0.80] };
            drawing.figures.push(Figure { mesh: Arc::clone(&mesh), pose, colour });
        }
        drawing
    }
}

/// As many particles as are worth waiting for.
const MOST: usize = 100_000_000;

/// The signs of a particle's octant; neighbours in the list are in different ones.
fn octant(i: usize) -> [f64; 3] {
    [0, 1, 2].map(|k| if i >> k & 1 == 0 { 1.0 } else { -1.0 })
}

/// The place of a particle at the start: its place in the lattice of its cluster.
fn start(i: usize, particles: usize) -> [f64; 3] {
    let members = particles.div_ceil(8);
    let side = (1..).find(|n| n * n * n >= members).unwrap_or(1);
    let member = i / 8;
    let cell = [member % side, member / side % side, member / (side * side)];
    let octant = octant(i);
    std::array::from_fn(|k| octant[k] * START + SIDE * ((cell[k] as f64 + 0.5) / side as f64 - 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_collide_as_often_as_in_the_experiment_and_every_technique_finds_that() {
        for &technique in Technique::ALL {
            let mut clusters = Clusters::new(1000, 0, technique.start()).unwrap();
            for frame in 0..FRAMES {
                clusters.advance().unwrap();
                if frame % 10 == 0 {
                    clusters.verify().unwrap();
                }
            }
            let told = clusters.collisions() as f64 / 3237.0;
            assert!((0.75..1.25).contains(&told), "{technique}: {told}");
        }
        assert!(Clusters::new(0, 0, Technique::Brute.start()).is_err());
    }
}
