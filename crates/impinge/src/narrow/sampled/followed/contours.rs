//! The curves in which two surfaces cross, followed from frame to frame.
//!
//! Where two surfaces cross, each connected set of crossing triangles holds at least one such curve. So each contact
//! region is known while each curve is: it is walked along anew from one of its pairs, and pairs of the last frame that
//! the walk did not come by are tried too, since a curve may have split. Every curve names one pair of triangles that
//! meet by the exact test, in the very frame.

use std::sync::Arc;

use super::super::front::NONE;
use super::super::layers::Layers;
use super::super::meter::Meter;
use super::super::posed::Posed;
use super::super::triangle_pair::{Triangle, crossing_margin};
use super::march::{Crossing, Side};
use super::pair_set::PairSet;
use crate::contact::Counters;
use crate::geom::triangle_triangle::meet;

/// The longest run of pairs that a walk may leave out without a look at them: the curve has moved on to their
/// neighbours.
const SKIPPED: usize = 2;

/// Curves of at most so many pairs are looked for around where they were when none of their pairs crosses any more.
const SHORT: usize = 24;

/// Share of the pairs (no unit) that may have changed from one walk to the next.
const CHANGED: f64 = 0.12;

/// The most frames from one walk to the next.
const PATIENCE: f64 = 3.0;

/// A curve.
#[derive(Debug, Clone, Copy)]
struct Contour {
    /// The same while it lasts, not 0.
    id: u64,
    /// Its pairs.
    from: usize,
    to: usize,
    /// A pair that met when it was last looked at.
    witness: [u32; 2],
    /// Whether it meets now.
    is_current: bool,
    /// The reading of the way until which it certainly does.
    due: f64,
}

/// All curves of two bodies.
#[derive(Debug, Clone)]
pub(super) struct Contours {
    layers: [Arc<Layers>; 2],
    contours: Vec<Contour>,
    pairs: Vec<[u32; 2]>,
    /// Those of the walk before.
    old: (Vec<Contour>, Vec<[u32; 2]>),
    /// The pairs of the last walk.
    walked: PairSet,
    last_id: u64,
    /// Frames until the next walk.
    rest: f64,
}

/// What a step looks at.
pub(super) struct Scene<'s, 'f> {
    pub bodies: &'s [Posed<'f>; 2],
    /// Rounding of coordinates (a length).
    pub pad: f64,
    /// The sum of all steps until now (a length).
    pub travelled: f64,
}

impl Contours {
    pub fn new(layers: [Arc<Layers>; 2]) -> Contours {
        Contours {
            layers,
            contours: Vec::new(),
            pairs: Vec::new(),
            old: (Vec::new(), Vec::new()),
            walked: PairSet::new(),
            last_id: 0,
            rest: 0.0,
        }
    }

    pub fn clear(&mut self) {
        self.contours.clear();
        self.pairs.clear();
        self.walked.clear();
        self.rest = 0.0;
    }

    /// One pair that meets for each curve, and the curve's name.
    pub fn witnesses(&self) -> impl Iterator<Item = ([u32; 2], u64)> {
        self.contours.iter().filter(|contour| contour.is_current).map(|contour| (contour.witness, contour.id))
    }

    /// The pairs of the last walk.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Whether a pair belongs to a known curve, or lies beside a pair of one.
    pub fn is_known(&self, [t, u]: [u32; 2]) -> bool {
        let beside = |body: usize, t: u32| self.layers[body].sides()[t as usize];
        self.walked.contains([t, u])
            || beside(0, t).iter().any(|&next| self.walked.contains([next, u]))
            || beside(1, u).iter().any(|&next| self.walked.contains([t, next]))
    }

    /// Goes on to the next frame; whether the curves were walked along. Ends early with the budget: curves that were not
    /// reached are kept as they were, and their witnesses are not told.
    pub fn update(&mut self, scene: &Scene<'_, '_>, meter: &mut Meter<'_>, work: &mut Counters) -> bool {
        let mut lost = false;
        for k in 0..self.contours.len() {
            let Contour { witness, due, .. } = self.contours[k];
            let holds = due >= scene.travelled || {
                let paid = meter.pay(1);
                work.primitive_tests += 1;
                paid && self.look_at(k, witness, scene)
            };
            self.contours[k].is_current = holds;
            lost |= !holds;
        }
        self.rest -= 1.0;
        if self.contours.is_empty() || (!lost && self.rest > 0.0) {
            return false;
        }
        self.walk(scene, meter, work);
        true
    }

    /// Whether the witness of a curve meets, and for how long.
    fn look_at(&mut self, k: usize, witness: [u32; 2], scene: &Scene<'_, '_>) -> bool {
        let [a, b] = scene.triangles(witness);
        let holds = meet(&a.corners, &b.corners);
        if holds {
            self.contours[k].due = scene.travelled + crossing_margin(&a, &b, scene.pad);
        }
        holds
    }

    /// Walks along all curves anew.
    fn walk(&mut self, scene: &Scene<'_, '_>, meter: &mut Meter<'_>, work: &mut Counters) {
        std::mem::swap(&mut self.old.0, &mut self.contours);
        std::mem::swap(&mut self.old.1, &mut self.pairs);
        self.contours.clear();
        self.pairs.clear();
        let (old, old_pairs) = std::mem::take(&mut self.old);
        self.walked.clear();
        let mut left = 0;
        for contour in &old {
            let own = &old_pairs[contour.from..contour.to];
            if meter.pay(1) {
                left += self.renew(contour, own, scene, meter, work);
            } else {
                self.keep(contour, own);
            }
        }
        let share = left as f64 / old_pairs.len().max(1) as f64;
        self.old = (old, old_pairs);
        self.rest = (CHANGED / share.max(f64::MIN_POSITIVE)).min(PATIENCE);
    }

    /// Keeps a curve as it was.
    fn keep(&mut self, contour: &Contour, own: &[[u32; 2]]) {
        let from = self.pairs.len();
        self.pairs.extend_from_slice(own);
        self.contours.push(Contour { from, to: self.pairs.len(), ..*contour });
    }

    /// Walks along a curve that was known, and along those it has become. Returns how many of its pairs it left.
    fn renew(
        &mut self,
        contour: &Contour,
        own: &[[u32; 2]],
        scene: &Scene<'_, '_>,
        meter: &mut Meter<'_>,
        work: &mut Counters,
    ) -> usize {
        let mut id = Some(contour.id);
        let known = self.contours.len();
        if contour.is_current && !self.walked.contains(contour.witness) {
            self.add(contour.witness, id.take(), scene, meter, work);
        }
        let (mut run, mut left) = (0, 0);
        for (k, &pair) in own.iter().enumerate() {
            if self.walked.contains(pair) {
                run = 0;
                continue;
            }
            (run, left) = (run + 1, left + 1);
            // Once a run is too long, all of it counts.
            let from = if run == SKIPPED + 1 { k - SKIPPED } else { k };
            if run <= SKIPPED {
                continue;
            }
            for &pair in &own[from..=k] {
                if !self.walked.contains(pair) && self.crosses(pair, scene, meter, work) {
                    self.add(pair, id.take(), scene, meter, work);
                    run = 0;
                }
            }
        }
        if self.contours.len() == known && !own.iter().any(|&pair| self.is_known(pair)) {
            self.search_around(contour, own, scene, meter, work);
        }
        left
    }

    /// Looks for a curve where it was, among the pairs beside its own.
    fn search_around(
        &mut self,
        contour: &Contour,
        own: &[[u32; 2]],
        scene: &Scene<'_, '_>,
        meter: &mut Meter<'_>,
        work: &mut Counters,
    ) {
        if own.len() > SHORT {
            return;
        }
        for &[t, u] in own {
            let layers = self.layers.clone();
            let around = |k: usize, t: u32| layers[k].shells.levels[0].neighbours.of(t);
            for pair in std::iter::once([t, u])
                .chain(around(0, t).iter().map(|&n| [n, u]))
                .chain(around(1, u).iter().map(|&n| [t, n]))
            {
                if self.crosses(pair, scene, meter, work) {
                    self.add(pair, Some(contour.id), scene, meter, work);
                    return;
                }
            }
        }
    }

    /// Whether two triangles meet; not so when the budget has ended.
    fn crosses(
        &self,
        pair: [u32; 2],
        scene: &Scene<'_, '_>,
        meter: &mut Meter<'_>,
        work: &mut Counters,
    ) -> bool {
        if !meter.pay(1) {
            return false;
        }
        work.primitive_tests += 1;
        let [a, b] = scene.triangles(pair);
        meet(&a.corners, &b.corners)
    }

    /// Walks along the curve of a pair that meets.
    pub fn add(
        &mut self,
        start: [u32; 2],
        id: Option<u64>,
        scene: &Scene<'_, '_>,
        meter: &mut Meter<'_>,
        work: &mut Counters,
    ) {
        let from = self.pairs.len();
        let mut witness = start;
        self.walked.insert(start);
        self.pairs.push(start);
        let [a, b] = scene.triangles(start);
        work.primitive_tests += 1;
        if let Some(crossing) = Crossing::of(&a, &b) {
            let mut longest = crossing.length_sq();
            let [low, high] = crossing.ends();
            for (way, exit) in [high, low].into_iter().enumerate() {
                let closed =
                    self.follow(start, [a, b], exit, scene, (&mut witness, &mut longest), meter, work);
                if closed {
                    break;
                }
                if way == 0 {
                    // So that the order is that along the curve.
                    self.pairs[from..].reverse();
                }
            }
        }
        let id = id.unwrap_or_else(|| {
            self.last_id += 1;
            self.last_id
        });
        let to = self.pairs.len();
        self.contours.push(Contour { id, from, to, witness, is_current: true, due: scene.travelled });
        let k = self.contours.len() - 1;
        // The longest common segment lasts; in the end only the start is sure.
        if !self.look_at(k, witness, scene) {
            self.contours[k].witness = start;
        }
    }

    /// Walks one way until the curve comes back, ends or is known; whether it came back to its start.
    #[expect(clippy::too_many_arguments, reason = "the state of the walk")]
    fn follow(
        &mut self,
        start: [u32; 2],
        mut placed: [Triangle; 2],
        mut exit: Side,
        scene: &Scene<'_, '_>,
        (witness, longest): (&mut [u32; 2], &mut f64),
        meter: &mut Meter<'_>,
        work: &mut Counters,
    ) -> bool {
        let mut pair = start;
        loop {
            let body = usize::from(exit.body);
            let next = self.layers[body].sides()[pair[body] as usize][usize::from(exit.k)];
            if next == NONE {
                return false;
            }
            let (last, triangle) = (pair[body], next);
            pair[body] = triangle;
            if pair == start {
                return true;
            }
            if !self.walked.insert(pair) || !meter.pay(1) {
                return false;
            }
            self.pairs.push(pair);
            work.primitive_tests += 1;
            placed[body] = scene.bodies[body].triangle(triangle);
            let Some(crossing) = Crossing::of(&placed[0], &placed[1]) else { return false };
            let length = crossing.length_sq();
            if length > *longest {
                (*longest, *witness) = (length, pair);
            }
            let Some(k) = self.layers[body].sides()[triangle as usize].iter().position(|&t| t == last) else {
                return false;
            };
            let entry = Side { body: exit.body, k: k as u8 };
            let Some(next) = crossing.exit(entry) else { return false };
            exit = next;
        }
    }
}

impl Scene<'_, '_> {
    #[inline]
    pub fn triangles(&self, pair: [u32; 2]) -> [Triangle; 2] {
        [0, 1].map(|k| self.bodies[k].triangle(pair[k]))
    }
}
