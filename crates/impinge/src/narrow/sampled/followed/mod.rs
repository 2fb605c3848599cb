//! Two bodies followed with as little work as it takes to know their contacts: what the paper's own method does.
//!
//! Guy and Debunne (2004) follow the nearest pairs from frame to frame and prove nothing. So do these files. When surfaces
//! come near is expected from the motion (`patches`, `kinetic_front`, `gap_motion`), clusters of a few triangles that nearly
//! touch are looked at as a whole (`clusters`, `cluster_pair`). A contact that is told is one by the exact test, and stays
//! one for as long as a proved margin lasts (`witnesses`); that there is none is never said. Which contacts are on one curve
//! is found by walking along it (`march`).

mod cluster_pair;
mod clusters;
mod gap_motion;
mod kinetic_front;
mod look;
mod march;
mod patches;
mod witnesses;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use self::clusters::{Cluster, LANES};
use self::kinetic_front::KineticFront;
use self::look::Look;
use self::march::Walk;
pub(super) use self::patches::{Patches, build as build_patches};
use super::front::Frame;
use super::layers::Layers;
use super::meter::Meter;
use super::posed::Posed;

/// Steps along a curve at most.
const LONGEST: usize = 1 << 20;

/// Two triangles that meet, and the name of the contact.
pub(super) type Told = ([u32; 2], u64);

/// Two bodies.
#[derive(Debug, Clone)]
pub(super) struct Followed {
    layers: [Arc<Layers>; 2],
    front: KineticFront,
    /// Whether the last frame was finished.
    pub is_done: bool,
}

impl Followed {
    pub fn new(layers: [Arc<Layers>; 2], stretch: [f64; 2]) -> Followed {
        for layers in &layers {
            layers.sides();
            layers.patches();
        }
        let size = layers[0].size.max(layers[1].size);
        Followed { front: KineticFront::new(stretch, size), layers, is_done: false }
    }

    /// Forgets all that is known.
    pub fn clear(&mut self) {
        self.front.clear();
    }

    /// Goes on to the next frame.
    pub fn step(&mut self, frame: &mut Frame<'_>, meter: &mut Meter<'_>) {
        let layers = [&*self.layers[0], &*self.layers[1]];
        let mut look = Look { layers, frame, meter };
        self.is_done = self.front.step(&mut look);
    }

    /// The share of all pairs of surface points that were seen apart, and are not yet expected to meet.
    pub fn coverage(&self) -> f64 {
        self.front.coverage()
    }

    /// Pairs of triangles that meet, at least one for each contact, and their names.
    pub fn told(&self) -> &[Told] {
        self.front.told()
    }

    /// For each pair that is told, which curve it is on: the first of all that are on the same one.
    pub fn curves(&self, bodies: &[Posed<'_>; 2]) -> Vec<usize> {
        let told = self.told();
        let place: HashMap<[u32; 2], usize> = told.iter().map(|(pair, _)| *pair).zip(0..).collect();
        let mut curve: Vec<usize> = (0..told.len()).collect();
        for k in 0..told.len() {
            if curve[k] < k {
                continue;
            }
            for way in 0..2 {
                let mut walk = Walk::new(&self.layers, bodies, told[k].0, way);
                // A curve that passes by itself has no end, and no more pairs than these.
                for pair in walk.by_ref().take(LONGEST) {
                    if let Some(&other) = place.get(&pair).filter(|other| **other > k) {
                        curve[other] = k;
                    }
                }
                if walk.is_closed {
                    break;
                }
            }
        }
        curve
    }
}

/// A pair of two clusters' triangles (bit 8·i + j) as it is told.
fn told_of(bit: usize, clusters: [&Cluster; 2], names: [u32; 2]) -> Told {
    let (i, j) = (bit / LANES, bit % LANES);
    // Clusters are at most an eighth of 2³² triangles.
    let id = (u64::from(names[0]) << 35) | (u64::from(names[1]) << 6) | bit as u64;
    ([clusters[0].triangles[i], clusters[1].triangles[j]], id.saturating_add(1))
}

/// The pairs whose triangles share vertices with those of one pair on both bodies, itself among them.
fn beside(bit: usize, clusters: [&Cluster; 2]) -> u64 {
    let (rows, columns) = (clusters[0].beside[bit / LANES], u64::from(clusters[1].beside[bit % LANES]));
    (0..LANES).filter(|k| rows >> k & 1 != 0).fold(0, |set, k| set | columns << (LANES * k))
}
