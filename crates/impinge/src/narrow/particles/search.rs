//! The particles of a cloud that are near a body, and the nearest one: down the cloud's tree by signed distances.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::field::{Field, Foot};
use super::{particle_relation, with_sign_of};
use crate::budget::QUANTUM;
use crate::contact::{Counters, Verdict};
use crate::hierarchy::particle_tree::{LEAF, ParticleNode, ParticleTree};
use crate::model::Cloud;
use crate::num::tolerance::{PLACED_BOX_ROUNDING, STRETCH};
use crate::{Budget, Certainty, Feature, Finish, Outcome, Pose, Separation};

/// Points that are measured at a time without a limit, enough to share among threads.
const BLOCK: usize = 1 << 14;

/// The same at most before a limited budget is asked again.
const LIMITED_BLOCK: usize = LEAF;

/// How many points are measured at a time: under a limit as many as a quantum pays for if they cost what the last ones
/// did, for one point may cost a hundred times as much as another.
struct Block(usize);

impl Block {
    fn first(budget: &Budget) -> Block {
        Block(if budget.is_unlimited() { BLOCK } else { 1 })
    }

    /// Takes the next points off a list.
    fn next<'p, T>(&self, rest: &mut &'p [T]) -> &'p [T] {
        let (some, others) = rest.split_at(rest.len().min(self.0));
        *rest = others;
        some
    }

    /// So many points have cost so many units.
    fn adapt(&mut self, points: usize, units: u64, budget: &Budget) {
        if !budget.is_unlimited() {
            let paid = QUANTUM * points as u64 / units.max(1);
            self.0 = usize::try_from(paid).unwrap_or(LIMITED_BLOCK).clamp(1, LIMITED_BLOCK);
        }
    }
}

/// A cloud where its pose puts it.
pub(super) struct PlacedCloud<'c> {
    tree: &'c ParticleTree,
    pose: &'c Pose,
    /// The largest coordinate, up to a small factor.
    size: f64,
}

impl<'c> PlacedCloud<'c> {
    /// A cloud with its tree, as far as the budget goes to build it.
    pub fn new(cloud: &'c Cloud, pose: &'c Pose, budget: &mut Budget) -> Option<PlacedCloud<'c>> {
        let tree = cloud.tree_within(budget)?;
        let root = &tree.nodes()[0];
        let own = root.centre.abs().max_element() + root.reach + root.largest;
        Some(PlacedCloud { tree, pose, size: own + pose.translation().abs().max_element() })
    }

    /// The tree.
    pub fn tree(&self) -> &'c ParticleTree {
        self.tree
    }

    /// The largest coordinate, up to a small factor.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// The centre and the radius of the particle in a slot.
    pub fn ball(&self, slot: usize) -> (DVec3, f64) {
        (self.pose.apply(self.tree.points()[slot]), self.tree.radii()[slot])
    }

    /// The middle of a node in the world, and how far its centres are from there at most.
    pub fn node_ball(&self, node: &ParticleNode) -> (DVec3, f64) {
        (self.pose.apply(node.centre), node.reach * STRETCH + PLACED_BOX_ROUNDING * self.size)
    }

    /// Distances of particles below this are not told from touching by their value.
    pub fn doubt(&self, field: &Field<'_>) -> f64 {
        field.doubt(self.size)
    }

    /// The particle in a slot against the body that its centre sees so.
    pub fn separation(&self, slot: usize, foot: &Foot) -> Separation {
        let (centre, radius) = self.ball(slot);
        Separation {
            distance: foot.distance - radius,
            points: [centre + foot.normal * radius, foot.point],
            features: [Feature::Vertex(self.tree.particle(slot)), foot.feature],
            normal: foot.normal,
        }
    }
}

/// What a visit meets.
pub(super) enum Seen {
    /// Particles that are not far away.
    Node,
    /// So many particles that are all inside, with their whole balls.
    Inside(usize),
    /// The particle in a slot, and where it is.
    One(usize, Foot),
}

/// Where a visit goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Go {
    /// To the particles of the node.
    Down,
    /// Without them.
    Past,
    /// Nowhere.
    Stop,
}

/// Visits every particle whose ball is at most `limit` from the body, and some others near it, level by level; `None`
/// when the budget ended first.
pub(super) fn visit_near(
    cloud: &PlacedCloud<'_>,
    field: &Field<'_>,
    limit: f64,
    budget: &mut Budget,
    work: &mut Counters,
    mut visit: impl FnMut(Seen) -> Go,
) -> Option<()> {
    let tree = cloud.tree();
    let mut block = Block::first(budget);
    let (mut open, mut leaves): (Vec<u32>, Vec<u32>) = (vec![0], Vec::new());
    while !open.is_empty() {
        open.retain(|&at| {
            let node = &tree.nodes()[at as usize];
            let (centre, reach) = cloud.node_ball(node);
            field.box_gap(centre) <= reach + node.largest + limit
        });
        let mut below = Vec::new();
        let mut rest = &open[..];
        while !rest.is_empty() {
            let some = block.next(&mut rest);
            let centres: Vec<DVec3> =
                some.iter().map(|&at| cloud.node_ball(&tree.nodes()[at as usize]).0).collect();
            let feet = measured(field, &centres, &mut block, budget, work)?;
            for (&at, foot) in some.iter().zip(&feet) {
                let node = &tree.nodes()[at as usize];
                let around = cloud.node_ball(node).1 + node.largest;
                if foot.distance - around > limit {
                    continue;
                }
                let inside = foot.distance + around < -limit;
                match visit(if inside { Seen::Inside(node.count()) } else { Seen::Node }) {
                    Go::Stop => return Some(()),
                    Go::Past => {}
                    Go::Down => match tree.children(at) {
                        Some(two) => below.extend(two),
                        None => leaves.push(at),
                    },
                }
            }
        }
        open = below;
    }
    // Leaves of the tree's order follow each other in space.
    leaves.sort_unstable();
    let slots: Vec<usize> = leaves.iter().flat_map(|&at| tree.nodes()[at as usize].slots()).collect();
    let mut rest = &slots[..];
    while !rest.is_empty() {
        let some = block.next(&mut rest);
        let centres: Vec<DVec3> = some.iter().map(|&slot| cloud.ball(slot).0).collect();
        let feet = measured(field, &centres, &mut block, budget, work)?;
        for (&slot, foot) in some.iter().zip(feet) {
            if visit(Seen::One(slot, foot)) == Go::Stop {
                return Some(());
            }
        }
    }
    Some(())
}

/// Where points are, for what that costs: known when it is done, and charged before anything that follows.
fn measured(
    field: &Field<'_>,
    points: &[DVec3],
    block: &mut Block,
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<Vec<Foot>> {
    if !budget.draw_or_rest(points.len() as u64) || !is_tried(field, points, budget) {
        return None;
    }
    let mut cost = Counters::default();
    let feet = field.feet(points, &mut cost);
    *work += cost;
    let units = units(&cost);
    block.adapt(points.len(), units, budget);
    budget.charge_all(units.saturating_sub(points.len() as u64)).then_some(feet)
}

/// Whether points are looked at: a trial leaves those to a task from which very many triangles are as near.
fn is_tried(field: &Field<'_>, points: &[DVec3], budget: &Budget) -> bool {
    !budget.is_trial() || points.iter().all(|&p| field.is_quick(p))
}

fn units(work: &Counters) -> u64 {
    work.volume_tests + work.primitive_tests
}

/// A node that is still to be looked into; the nearest is on top.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry<T> {
    pub bound: f64,
    pub what: T,
}

impl<T: PartialEq> Eq for Entry<T> {}

impl<T: Ord> Ord for Entry<T> {
    fn cmp(&self, other: &Entry<T>) -> Ordering {
        other.bound.total_cmp(&self.bound).then(self.what.cmp(&other.what))
    }
}

impl<T: Ord> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Entry<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The particle that is nearest or deepest. When the budget ends, what was found is an upper bound and the tolerance
/// of its certainty the width of the bracket.
pub(super) fn nearest<'f>(
    cloud: &PlacedCloud<'f>,
    field: &Field<'f>,
    budget: &mut Budget,
) -> Verdict<Separation> {
    let mut search = Nearest {
        cloud,
        field,
        open: BinaryHeap::from([Entry { bound: f64::NEG_INFINITY, what: 0 }]),
        now: f64::INFINITY,
        best: None,
        work: Counters::default(),
    };
    loop {
        let finish = search.run(budget);
        let told = || search.verdict(finish);
        if finish != Finish::OutOfBudget || !budget.rest(told) {
            return search.signed(finish, budget);
        }
    }
}

struct Nearest<'s, 'f> {
    cloud: &'s PlacedCloud<'f>,
    field: &'s Field<'f>,
    open: BinaryHeap<Entry<u32>>,
    /// The bound of the node that is looked into; infinite for none.
    now: f64,
    best: Option<(usize, Separation)>,
    work: Counters,
}

impl Nearest<'_, '_> {
    fn limit(&self) -> f64 {
        self.best.map_or(f64::INFINITY, |(_, best)| best.distance)
    }

    fn run(&mut self, budget: &mut Budget) -> Finish {
        while let Some(&entry) = self.open.peek() {
            if entry.bound >= self.limit() {
                break;
            }
            if !budget.draw(1) {
                return Finish::OutOfBudget;
            }
            self.open.pop();
            self.now = entry.bound;
            if !self.expand(entry.what, budget) {
                return Finish::OutOfBudget;
            }
            self.now = f64::INFINITY;
        }
        Finish::Complete
    }

    /// Looks into a node for which one unit was drawn; false when the budget has ended meanwhile.
    fn expand(&mut self, at: u32, budget: &mut Budget) -> bool {
        let (cloud, tree) = (self.cloud, self.cloud.tree());
        let mut drawn = 1;
        let Some(two) = tree.children(at) else {
            let slots: Vec<usize> = tree.nodes()[at as usize].slots().collect();
            let (mut block, mut rest) = (Block(if budget.is_unlimited() { LEAF } else { 1 }), &slots[..]);
            while !rest.is_empty() {
                let some = block.next(&mut rest);
                let centres: Vec<DVec3> = some.iter().map(|&slot| cloud.ball(slot).0).collect();
                if !is_tried(self.field, &centres, budget) {
                    return false;
                }
                let mut cost = Counters::default();
                let feet = self.field.feet(&centres, &mut cost);
                block.adapt(some.len(), units(&cost), budget);
                for (&slot, foot) in some.iter().zip(feet) {
                    let found = cloud.separation(slot, &foot);
                    if found.distance < self.limit() {
                        self.best = Some((slot, found));
                    }
                }
                if !self.charge(cost, std::mem::take(&mut drawn), budget) {
                    return false;
                }
            }
            return true;
        };
        let balls = two.map(|at| cloud.node_ball(&tree.nodes()[at as usize]));
        let centres = balls.map(|(centre, _)| centre);
        if !is_tried(self.field, &centres, budget) {
            return false;
        }
        let mut cost = Counters::default();
        let feet = self.field.feet(&centres, &mut cost);
        for ((at, (_, reach)), foot) in two.into_iter().zip(balls).zip(feet) {
            let bound = foot.distance - reach - tree.nodes()[at as usize].largest;
            if bound < self.limit() {
                self.open.push(Entry { bound, what: at });
            }
        }
        self.charge(cost, drawn, budget)
    }

    /// Counts what some looks have cost, of which a part was drawn, and pays for it; who asks meanwhile is told of no
    /// more than what was paid.
    fn charge(&mut self, cost: Counters, drawn: u64, budget: &mut Budget) -> bool {
        let own = &*self;
        let told = |more: u64| {
            let mut verdict = own.verdict(Finish::OutOfBudget);
            verdict.outcome.work.primitive_tests += drawn + more;
            Some(verdict)
        };
        let paid = budget.charge_and_tell(units(&cost).saturating_sub(drawn), told);
        self.work += cost;
        paid
    }

    fn verdict(&self, finish: Finish) -> Verdict<Separation> {
        let Some((_, best)) = self.best else {
            let certainty = Certainty::Conservative { tolerance: f64::INFINITY };
            return Verdict::new(None, Outcome { certainty, finish, work: self.work });
        };
        let certainty = match finish {
            Finish::Complete | Finish::Stopped => Certainty::Exact,
            Finish::OutOfBudget => {
                let open = self.open.peek().map_or(self.now, |entry| entry.bound.min(self.now));
                let open = open.min(best.distance);
                Certainty::Conservative { tolerance: best.distance - open }
            }
        };
        Verdict::by_finish(best, Outcome { certainty, finish, work: self.work })
    }

    /// The answer, with the sign of the exact relation of its particle.
    fn signed(mut self, finish: Finish, budget: &mut Budget) -> Verdict<Separation> {
        if let Some((slot, best)) = self.best.filter(|_| finish == Finish::Complete) {
            let (centre, radius) = self.cloud.ball(slot);
            if best.distance.abs() <= self.cloud.doubt(self.field) {
                let (field, work) = (self.field, &mut self.work);
                // Two bodies that are this near need few triangles: what is left of the budget is not asked.
                let (unlimited, before) = (&mut Budget::UNLIMITED.clone(), units(work));
                let found =
                    particle_relation(centre, radius, field.geometry(), field.pose(), unlimited, work);
                let cost = units(work) - before;
                if let Some((relation, certainty)) = found {
                    self.best = Some((slot, with_sign_of(relation, certainty, best)));
                }
                budget.charge_all(cost);
            }
        }
        self.verdict(finish)
    }
}
