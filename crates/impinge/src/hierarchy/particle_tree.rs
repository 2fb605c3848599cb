//! A tree over the particles of a cloud: balls around some of their centres, and the largest radius among them.
//!
//! Halved at the middle of the longest side down to sixteen particles (Bentley 1975, with boxes instead of planes), so
//! that it fits points that are clustered or flat. A rigid pose moves a ball without making it larger. Particles that
//! move keep their places in the tree: only its balls are fitted again, until they have grown too large.

use glam::DVec3;

use crate::bound::Aabb;
use crate::num::parallel;
use crate::num::tolerance::ROUND_UP;

/// Particles of a leaf.
pub const LEAF: usize = 16;

/// Particles from which on both halves are worth a thread each.
const WORTH_A_THREAD: usize = 1 << 13;

/// How much larger than when they were built the leaves may be, on average, before the tree is built anew (no unit):
/// a query then looks into about eight times as many.
const MOST_DECAY: f64 = 2.0;

/// A tree over particles.
#[derive(Debug, Clone)]
pub struct ParticleTree {
    /// The particles in the order of the leaves.
    order: Vec<u32>,
    /// Their centres and radii, in the same order.
    points: Vec<DVec3>,
    radii: Vec<f64>,
    /// The root first, the left child after its parent.
    nodes: Vec<ParticleNode>,
    /// The summed reach of the leaves when it was built.
    built: f64,
}

/// Particles that lie together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParticleNode {
    /// The middle of their centres' box.
    pub centre: DVec3,
    /// No centre is farther from the middle than this.
    pub reach: f64,
    /// The largest radius.
    pub largest: f64,
    /// Where they begin and end in the order of the tree.
    pub range: [u32; 2],
    /// The second child; 0 for a leaf.
    right: u32,
}

impl ParticleNode {
    /// How many particles it holds.
    pub fn count(&self) -> usize {
        (self.range[1] - self.range[0]) as usize
    }

    /// Where they stand in the order of the tree.
    pub fn slots(&self) -> std::ops::Range<usize> {
        self.range[0] as usize..self.range[1] as usize
    }
}

impl ParticleTree {
    /// A tree over at least one particle.
    pub fn build(points: &[DVec3], radius: impl Fn(usize) -> f64) -> ParticleTree {
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        arrange(points, &mut order);
        let mut nodes = Vec::with_capacity(2 * points.len().div_ceil(LEAF));
        lay_out([0, points.len()], &mut nodes);
        let mut tree = ParticleTree { order, points: Vec::new(), radii: Vec::new(), nodes, built: 0.0 };
        tree.fit(points, radius);
        tree.built = tree.size();
        tree
    }

    /// Fits the balls to particles that have moved, or builds the tree anew where that made them too large.
    pub fn refit_or_rebuild(&mut self, points: &[DVec3], radius: impl Fn(usize) -> f64) {
        self.fit(points, &radius);
        if self.size() > MOST_DECAY * self.built {
            *self = ParticleTree::build(points, radius);
        }
    }

    /// The nodes, the root first.
    pub fn nodes(&self) -> &[ParticleNode] {
        &self.nodes
    }

    /// The two nodes below one; `None` for a leaf.
    pub fn children(&self, node: u32) -> Option<[u32; 2]> {
        let right = self.nodes[node as usize].right;
        (right != 0).then_some([node + 1, right])
    }

    /// The number of the particle that stands in a slot.
    pub fn particle(&self, slot: usize) -> u32 {
        self.order[slot]
    }

    /// The centres in the order of the tree.
    pub fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// The radii in the order of the tree.
    pub fn radii(&self) -> &[f64] {
        &self.radii
    }

    /// Brings all that depends on the positions up to date.
    fn fit(&mut self, points: &[DVec3], radius: impl Fn(usize) -> f64) {
        let ParticleTree { order, points: placed, radii, nodes, .. } = self;
        placed.clear();
        radii.clear();
        placed.extend(order.iter().map(|&i| points[i as usize]));
        radii.extend(order.iter().map(|&i| radius(i as usize)));
        let mut boxes = vec![Aabb::EMPTY; nodes.len()];
        // Children stand behind their parents.
        for at in parallel::in_turn((0..nodes.len()).rev()) {
            let node = nodes[at];
            let (bounds, largest) = if node.right == 0 {
                let own = radii[node.slots()].iter().copied().fold(0.0, f64::max);
                (Aabb::around_points(&placed[node.slots()]), own)
            } else {
                let [left, right] = [at + 1, node.right as usize];
                (boxes[left].merge(&boxes[right]), nodes[left].largest.max(nodes[right].largest))
            };
            boxes[at] = bounds;
            let reach = bounds.half().length() * ROUND_UP;
            nodes[at] = ParticleNode { centre: bounds.centre(), reach, largest, ..node };
        }
        debug_assert!(self.holds_everything(), "a particle sticks out of its node");
    }

    fn size(&self) -> f64 {
        self.nodes.iter().filter(|node| node.right == 0).map(|node| node.reach).sum()
    }

    /// Whether every particle lies in its nodes.
    fn holds_everything(&self) -> bool {
        self.nodes.iter().all(|node| {
            node.slots().all(|slot| {
                self.points[slot].distance(node.centre) <= node.reach * ROUND_UP
                    && self.radii[slot] <= node.largest
            })
        })
    }
}

/// Puts the particles of each half of each range beside each other.
fn arrange(points: &[DVec3], order: &mut [u32]) {
    if order.len() <= LEAF {
        return;
    }
    let around = |b: Aabb, &i: &u32| {
        let p = points[i as usize];
        Aabb { low: b.low.min(p), high: b.high.max(p) }
    };
    let bounds = order.iter().fold(Aabb::EMPTY, around);
    let axis = (bounds.high - bounds.low).max_position();
    let middle = half(order.len());
    let key = |i: u32| points[i as usize][axis];
    parallel::select(order, middle, |&i, &j| key(i).total_cmp(&key(j)).then(i.cmp(&j)));
    let (left, right) = order.split_at_mut(middle);
    let worth = left.len() >= WORTH_A_THREAD;
    parallel::join_if(worth, || arrange(points, left), || arrange(points, right));
}

/// Appends the nodes over a range.
fn lay_out([first, end]: [usize; 2], nodes: &mut Vec<ParticleNode>) {
    let (at, range) = (nodes.len(), [first as u32, end as u32]);
    nodes.push(ParticleNode { centre: DVec3::ZERO, reach: 0.0, largest: 0.0, range, right: 0 });
    if end - first <= LEAF {
        return;
    }
    let middle = first + half(end - first);
    lay_out([first, middle], nodes);
    nodes[at].right = nodes.len() as u32;
    lay_out([middle, end], nodes);
}

/// Where so many particles are parted: in full leaves.
fn half(count: usize) -> usize {
    (count / 2).next_multiple_of(LEAF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;

    #[test]
    fn every_particle_stands_in_one_leaf_also_after_moves() {
        for count in [1, 15, 16, 17, 32, 33, 1000, 4097] {
            let points = procedural::positions(count, DVec3::ZERO, DVec3::new(4.0, 1.0, 0.1), 7);
            let radius = |i: usize| 0.01 * (i % 5) as f64;
            let mut tree = ParticleTree::build(&points, radius);
            for step in 0..3 {
                let moved: Vec<DVec3> = points.iter().map(|p| *p * (1.0 + 0.1 * f64::from(step))).collect();
                tree.refit_or_rebuild(&moved, radius);
                let mut seen = vec![false; count];
                for (at, node) in (0..).zip(tree.nodes()) {
                    let below = tree.children(at).map(|pair| pair.map(|k| tree.nodes()[k as usize].range));
                    match below {
                        Some([left, right]) => {
                            assert_eq!(
                                [left[0], left[1], right[1]],
                                [node.range[0], right[0], node.range[1]]
                            );
                        }
                        None => {
                            assert!((1..=LEAF).contains(&node.count()));
                            node.slots().for_each(|slot| {
                                let i = tree.particle(slot) as usize;
                                assert!(!std::mem::replace(&mut seen[i], true));
                                assert_eq!((tree.points()[slot], tree.radii()[slot]), (moved[i], radius(i)));
                            });
                        }
                    }
                }
                assert!(seen.iter().all(|&seen| seen) && tree.holds_everything());
            }
        }
    }

    #[test]
    fn a_tree_whose_particles_changed_places_is_built_anew() {
        let points = procedural::positions(2000, DVec3::ZERO, DVec3::ONE, 1);
        let mut tree = ParticleTree::build(&points, |_| 0.0);
        let fresh = procedural::positions(2000, DVec3::ZERO, DVec3::ONE, 2);
        tree.refit_or_rebuild(&fresh, |_| 0.0);
        assert_eq!(tree.order, ParticleTree::build(&fresh, |_| 0.0).order);
    }
}
