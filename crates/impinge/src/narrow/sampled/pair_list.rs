//! The list of the nearest pairs of samples: where contact is most probable, and so what is looked at first.
//!
//! Guy and Debunne (2004), section 3. A seed on one body leads to the nearest sample C of the other, and C to the
//! nearest sample of the first (3.1); seeds come in an order in which consecutive ones lie far apart, some in each
//! step (3.2); a pair walks to neighbours as long as they are nearer (3.3); pairs with d < k·d_min + ε are kept, the
//! nearest where there are too many (3.4). Samples are the facets of the coarsest levels. Where we leave the paper:
//! the list decides only in which order the front is looked at, so that a pair which is missing in it costs time, not
//! a contact.

use super::posed::Posed;
use crate::num::random::bits;

/// A pair of samples.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sampled {
    /// Facets of the coarsest levels.
    facets: [u32; 2],
    /// From centre to centre.
    distance: f64,
}

/// Which pairs are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keep {
    /// k (no unit).
    pub factor: f64,
    /// ε (a length).
    pub beyond: f64,
    /// The largest number of pairs.
    pub most: usize,
}

/// The list.
#[derive(Debug, Clone, Default)]
pub(super) struct PairList {
    pairs: Vec<Sampled>,
    /// Seeds used so far.
    seeds: u64,
}

impl PairList {
    /// Forgets the pairs, and goes on in the order of the seeds.
    pub fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Creates `count` pairs, lets all walk, and keeps the nearest. Returns how many distances were measured.
    pub fn update(&mut self, bodies: &[Posed<'_>; 2], count: usize, keep: Keep, seed: u64) -> u64 {
        let centres = bodies.each_ref().map(|body| {
            let level = body.coarsest();
            (0..body.shells.levels[level].corners.len() as u32)
                .map(|i| body.centre(level, i))
                .collect::<Vec<_>>()
        });
        let between = |i: u32, j: u32| centres[0][i as usize].distance(centres[1][j as usize]);
        let mut measured = 0;
        for _ in 0..count {
            // Seeds of a and of b in turn.
            let (own, other) = if self.seeds.is_multiple_of(2) { (0, 1) } else { (1, 0) };
            let order = &bodies[own].shells.levels[bodies[own].coarsest()].order;
            if order.is_empty() {
                break;
            }
            let at = (self.seeds / 2).wrapping_add(bits(seed, 0)) % order.len() as u64;
            self.seeds += 1;
            let from = centres[own][order[at as usize] as usize];
            let c = nearest(&centres[other], from);
            let back = nearest(&centres[own], centres[other][c as usize]);
            measured += (centres[0].len() + centres[1].len()) as u64;
            let facets = if own == 0 { [back, c] } else { [c, back] };
            self.pairs.push(Sampled { facets, distance: 0.0 });
        }
        for pair in &mut self.pairs {
            pair.distance = between(pair.facets[0], pair.facets[1]);
            while let Some(nearer) = step(bodies, pair, &between, &mut measured) {
                *pair = nearer;
            }
        }
        self.pairs.sort_by(|x, y| x.distance.total_cmp(&y.distance).then(x.facets.cmp(&y.facets)));
        self.pairs.dedup();
        let least = self.pairs.first().map_or(0.0, |pair| pair.distance);
        self.pairs.retain(|pair| pair.distance < keep.factor * least + keep.beyond);
        self.pairs.truncate(keep.most);
        measured
    }

    /// Two triangles below each pair, the nearest pair first: each level's nearest children, one body after the other.
    pub fn triangles(&self, bodies: &[Posed<'_>; 2]) -> Vec<[u32; 2]> {
        self.pairs.iter().map(|pair| descend(bodies, pair.facets)).collect()
    }
}

fn descend(bodies: &[Posed<'_>; 2], mut facets: [u32; 2]) -> [u32; 2] {
    let mut levels = bodies.each_ref().map(|body| body.coarsest());
    while levels != [0; 2] {
        let k = usize::from(levels[1] >= levels[0]);
        let towards = bodies[1 - k].centre(levels[1 - k], facets[1 - k]);
        let children = bodies[k].shells.levels[levels[k]].children.of(facets[k]);
        levels[k] -= 1;
        let distances =
            children.iter().map(|&c| (bodies[k].centre(levels[k], c).distance_squared(towards), c));
        facets[k] = distances.min_by(|x, y| x.0.total_cmp(&y.0)).map_or(0, |(_, child)| child);
    }
    facets
}

/// The nearest neighbour of a pair, if it is nearer.
fn step(
    bodies: &[Posed<'_>; 2],
    pair: &Sampled,
    between: &impl Fn(u32, u32) -> f64,
    measured: &mut u64,
) -> Option<Sampled> {
    let [i, j] = pair.facets;
    let around = |k: usize| bodies[k].shells.levels[bodies[k].coarsest()].neighbours.of(pair.facets[k]);
    *measured += (around(0).len() + around(1).len()) as u64;
    let on_a = around(0).iter().map(|&n| [n, j]);
    let on_b = around(1).iter().map(|&n| [i, n]);
    let all = on_a.chain(on_b).map(|facets| Sampled { facets, distance: between(facets[0], facets[1]) });
    all.min_by(|x, y| x.distance.total_cmp(&y.distance)).filter(|best| best.distance < pair.distance)
}

fn nearest(centres: &[glam::DVec3], from: glam::DVec3) -> u32 {
    let distances = centres.iter().zip(0..).map(|(c, i)| (c.distance_squared(from), i));
    distances.min_by(|x, y| x.0.total_cmp(&y.0)).map_or(0, |(_, i)| i)
}
