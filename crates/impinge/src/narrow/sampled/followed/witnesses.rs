//! Known contacts: for each some pair of triangles that meet, followed from frame to frame.
//!
//! Guy and Debunne (2004), section 3: a pair of samples is updated by a search among its neighbours. Here a pair is a
//! point of a curve in which the surfaces cross. While its triangles certainly cross it is not looked at; when they no
//! longer do, the curve has slid on to a pair nearby. A new pair is told apart from known ones by walking a little along
//! its curve, so that long curves may have several witnesses, each curve at least one; a walk along whole curves tells
//! which of them are one.

use std::sync::Arc;

use smallvec::SmallVec;

use super::super::layers::Layers;
use super::super::meter::Meter;
use super::super::posed::Posed;
use super::super::triangle_pair::{Triangle, crossing_margin};
use super::march::Walk;
use super::pair_set::PairSet;
use crate::contact::Counters;
use crate::geom::triangle_triangle::meet;

/// Steps along a curve, each way, in search of a known witness.
const APART: usize = 24;

/// Steps along a curve, each way, in search of a pair that lasts.
const LASTING: usize = 3;

/// Steps along a curve at most when it is walked along as a whole.
const LONGEST: usize = 1 << 20;

/// A pair of triangles that meet.
#[derive(Debug, Clone, Copy)]
struct Witness {
    pair: [u32; 2],
    /// The same while it is followed, not 0.
    id: u64,
    /// Whether the pair meets in this very frame.
    is_current: bool,
    /// The reading of the way until which it certainly does (a length).
    due: f64,
}

/// All witnesses of two bodies.
#[derive(Debug, Clone)]
pub(super) struct Witnesses {
    layers: [Arc<Layers>; 2],
    all: Vec<Witness>,
    /// Pairs of witnesses, and those that were walked by in this frame.
    known: PairSet,
    /// Whether `known` is that of this frame.
    is_noted: bool,
    last_id: u64,
}

/// What a step looks at.
pub(super) struct Scene<'s, 'f> {
    pub bodies: &'s [Posed<'f>; 2],
    /// Rounding of coordinates (a length).
    pub pad: f64,
    /// The sum of all steps until now (a length).
    pub travelled: f64,
}

impl Witnesses {
    pub fn new(layers: [Arc<Layers>; 2]) -> Witnesses {
        Witnesses { layers, all: Vec::new(), known: PairSet::new(), is_noted: false, last_id: 0 }
    }

    pub fn clear(&mut self) {
        self.all.clear();
    }

    /// The pairs that meet, and their names.
    pub fn current(&self) -> impl Iterator<Item = ([u32; 2], u64)> {
        self.all.iter().filter(|witness| witness.is_current).map(|witness| (witness.pair, witness.id))
    }

    /// Goes on to the next frame. Ends early with the budget: witnesses that were not looked at are not told.
    pub fn update(&mut self, scene: &Scene<'_, '_>, meter: &mut Meter<'_>, work: &mut Counters) {
        self.is_noted = false;
        let mut k = 0;
        while k < self.all.len() {
            let Witness { pair, due, .. } = self.all[k];
            if due >= scene.travelled {
                self.all[k].is_current = true;
            } else if !meter.pay(1) {
                self.all[k].is_current = false;
            } else if let Some(next) = self.next_place(pair, scene, meter, work) {
                let is_other = next != pair;
                self.all[k].pair = next;
                self.all[k].is_current = true;
                self.all[k].due = self.lasts(next, scene);
                if is_other && self.is_doubled(k) {
                    self.all.remove(k);
                    continue;
                }
            } else {
                self.all.remove(k);
                continue;
            }
            k += 1;
        }
    }

    fn is_doubled(&self, k: usize) -> bool {
        let pair = self.all[k].pair;
        self.all.iter().enumerate().any(|(other, witness)| other != k && witness.pair == pair)
    }

    /// Until when a pair certainly crosses.
    fn lasts(&self, pair: [u32; 2], scene: &Scene<'_, '_>) -> f64 {
        let [a, b] = scene.triangles(pair);
        scene.travelled + crossing_margin(&a, &b, scene.pad)
    }

    /// The pair that a witness has become: itself, or one nearby that lasts.
    fn next_place(
        &self,
        pair: [u32; 2],
        scene: &Scene<'_, '_>,
        meter: &mut Meter<'_>,
        work: &mut Counters,
    ) -> Option<[u32; 2]> {
        if scene.meet(pair, meter, work) {
            return Some(pair);
        }
        let near = self.search_around(pair, scene, meter, work)?;
        let mut best = (near, self.lasts(near, scene));
        for way in 0..2 {
            for next in Walk::new(&self.layers, scene.bodies, near, way).take(LASTING) {
                work.primitive_tests += 1;
                meter.charge(1);
                let lasts = self.lasts(next, scene);
                if lasts > best.1 {
                    best = (next, lasts);
                }
            }
        }
        let is_sure = best.0 == near || scene.meet(best.0, meter, work);
        Some(if is_sure { best.0 } else { near })
    }

    /// A pair that meets among those around one: beside it first, then all around.
    fn search_around(
        &self,
        [t, u]: [u32; 2],
        scene: &Scene<'_, '_>,
        meter: &mut Meter<'_>,
        work: &mut Counters,
    ) -> Option<[u32; 2]> {
        let around = |k: usize, t: u32| self.layers[k].shells.levels[0].neighbours.of(t);
        let mut meets = |pair: [u32; 2]| scene.meet(pair, meter, work);
        let beside = around(0, t).iter().map(|&n| [n, u]).chain(around(1, u).iter().map(|&n| [t, n]));
        let across = around(0, t).iter().flat_map(|&n| around(1, u).iter().map(move |&m| [n, m]));
        beside.chain(across).find(|&pair| meets(pair))
    }

    /// For each current witness, which curve it is on: the first of all that are on the same one.
    pub fn curves(&self, bodies: &[Posed<'_>; 2]) -> Vec<usize> {
        let pairs: Vec<[u32; 2]> = self.current().map(|(pair, _)| pair).collect();
        let mut curve: Vec<usize> = (0..pairs.len()).collect();
        for (k, &start) in pairs.iter().enumerate() {
            if curve[k] < k {
                continue;
            }
            for way in 0..2 {
                let mut walk = Walk::new(&self.layers, bodies, start, way);
                // A curve that passes by itself has no end, and no more pairs than these.
                for pair in walk.by_ref().take(LONGEST) {
                    for other in (k + 1..pairs.len()).filter(|&other| pairs[other] == pair) {
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

    /// Takes notice of a pair that meets: a new witness unless its curve has one nearby.
    pub fn note(
        &mut self,
        pair: [u32; 2],
        scene: &Scene<'_, '_>,
        meter: &mut Meter<'_>,
        work: &mut Counters,
    ) {
        if !self.is_noted {
            self.is_noted = true;
            self.known.clear();
            self.all.iter().for_each(|witness| _ = self.known.insert(witness.pair));
        }
        // One that the budget left over may have parted since.
        if !self.known.insert(pair) || !scene.meet(pair, meter, work) {
            return;
        }
        let mut own: SmallVec<[[u32; 2]; 64]> = SmallVec::new();
        own.push(pair);
        for way in 0..2 {
            let mut walk = Walk::new(&self.layers, scene.bodies, pair, way);
            for next in walk.by_ref().take(APART) {
                work.primitive_tests += 1;
                meter.charge(1);
                if !self.known.insert(next) {
                    if own.contains(&next) {
                        break;
                    }
                    return;
                }
                own.push(next);
            }
            if walk.is_closed {
                break;
            }
        }
        self.last_id += 1;
        let due = self.lasts(pair, scene);
        self.all.push(Witness { pair, id: self.last_id, is_current: true, due });
    }
}

impl Scene<'_, '_> {
    #[inline]
    pub fn triangles(&self, pair: [u32; 2]) -> [Triangle; 2] {
        [0, 1].map(|k| self.bodies[k].triangle(pair[k]))
    }

    /// Whether two triangles meet.
    fn meet(&self, pair: [u32; 2], meter: &mut Meter<'_>, work: &mut Counters) -> bool {
        work.primitive_tests += 1;
        meter.charge(1);
        let [a, b] = self.triangles(pair);
        meet(&a.corners, &b.corners)
    }
}
