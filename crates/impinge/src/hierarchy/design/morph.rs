//! Bounds of a morphing mesh from its weights, without visiting vertices: Larsson and Akenine-Möller
//! ("Efficient collision detection for models deformed by morphing", 2003).
//!
//! The mesh is base + Σ wⱼ·(targetⱼ − base). Along any slab the displacement of each target lies between
//! two numbers that do not depend on the weights, for every node; their linear combination, sides swapped
//! for negative weights, bounds the morphed node. Where we leave the paper: weights need not be between
//! 0 and 1 or sum to 1, since displacements are bounded instead of positions.

use glam::DVec3;

use super::storage::Tree;
use crate::bound::{Aabb, Bounding, Dop, Volume};
use crate::contact::Counters;
use crate::num::tolerance::PLACING_ERROR;
use crate::{Error, Mesh};

/// What a tree of boxes or k-DOPs needs to follow a morph.
#[derive(Debug, Clone)]
pub struct Morph {
    /// For each node the 26-DOP of the base, then that of each target's displacements.
    spans: Vec<Dop<13>>,
    targets: usize,
    /// Largest distance of a base vertex from the origin, and longest displacement of each target.
    reach: Vec<f64>,
}

/// The morphed vertices: base + Σ wⱼ·(targetⱼ − base), in this order of operations.
pub fn blend(base: &[DVec3], targets: &[Vec<DVec3>], weights: &[f64]) -> Vec<DVec3> {
    let mut moved = base.to_vec();
    for (target, &w) in targets.iter().zip(weights) {
        for ((p, &b), &t) in moved.iter_mut().zip(base).zip(target) {
            *p += w * (t - b);
        }
    }
    moved
}

impl Morph {
    /// Bounds the displacements of each target for every node of a tree built over the base.
    ///
    /// # Errors
    /// A target with another number of vertices, a tree of other volumes than boxes and k-DOPs, or a
    /// shared one.
    pub fn new(tree: &Tree, base: &Mesh, targets: &[Vec<DVec3>]) -> Result<Morph, Error> {
        tree.same_triangles(base)?;
        let wrong = |name, reason: String| Err(Error::Argument { name, reason });
        if tree.is_shared() || !tree.kinds().iter().all(|k| k.layers_are_wrapped()) {
            return wrong("tree", "only boxes and k-DOPs follow a morph, and no shared ones".into());
        }
        let vertices = base.vertices();
        if let Some((i, target)) = targets.iter().enumerate().find(|(_, t)| t.len() != vertices.len()) {
            return wrong(
                "targets",
                format!("target {i} has {} vertices, the base {}", target.len(), vertices.len()),
            );
        }
        let displacement: Vec<Vec<DVec3>> =
            targets.iter().map(|t| t.iter().zip(vertices).map(|(t, b)| t - b).collect()).collect();
        let far = |points: &[DVec3]| points.iter().map(|p| p.length()).fold(0.0, f64::max);
        let states: Vec<&[DVec3]> =
            std::iter::once(vertices).chain(displacement.iter().map(Vec::as_slice)).collect();
        Ok(Morph {
            spans: spans(tree, base, &states),
            targets: targets.len(),
            reach: states.into_iter().map(far).collect(),
        })
    }

    /// Sets every volume of the tree to bound the mesh morphed by these weights, as [`blend`] gives it.
    ///
    /// # Errors
    /// Another number of weights than of targets, or of nodes than when this was made.
    pub fn update(&self, tree: &mut Tree, weights: &[f64]) -> Result<Counters, Error> {
        if weights.len() != self.targets {
            let reason = format!("{} for {} targets", weights.len(), self.targets);
            return Err(Error::Argument { name: "weights", reason });
        }
        if self.spans.len() != tree.nodes.len() * (self.targets + 1) {
            return Err(Error::Argument { name: "tree", reason: "it was built again since".into() });
        }
        let size = |j: usize| if j == 0 { 1.0 } else { weights[j - 1].abs() };
        tree.reach = (0..=self.targets).map(|j| self.reach[j] * size(j)).sum::<f64>() * (1.0 + PLACING_ERROR);
        let pad = PLACING_ERROR * tree.reach * (self.targets + 1) as f64;
        for i in 0..tree.nodes.len() {
            let spans = &self.spans[i * (self.targets + 1)..(i + 1) * (self.targets + 1)];
            let mut sum = combine(spans, weights);
            sum.inflate(pad);
            let node = tree.nodes[i];
            write(tree, node.kind, node.bound as usize, &sum);
            tree.nodes[i].radius = tree.bound(&node).ball().radius;
        }
        Ok(Counters { updates: tree.nodes.len() as u64, ..Counters::default() })
    }
}

/// For each node a 26-DOP of every state, bottom-up.
fn spans(tree: &Tree, base: &Mesh, states: &[&[DVec3]]) -> Vec<Dop<13>> {
    let width = states.len();
    let mut spans: Vec<Dop<13>> = vec![Dop::around_points(&[]); tree.nodes.len() * width];
    for (i, node) in tree.nodes.iter().enumerate().rev() {
        for (j, state) in states.iter().enumerate() {
            spans[i * width + j] = if node.degree == 0 {
                let slots = &tree.order[node.first as usize..(node.first + node.count) as usize];
                let corners = slots.iter().flat_map(|&t| base.triangles()[t as usize]);
                Dop::around_points(&corners.map(|v| state[v as usize]).collect::<Vec<_>>())
            } else {
                let children = tree.links[tree.links_of(node)].iter();
                children
                    .fold(Dop::around_points(&[]), |sum, l| sum.merge(&spans[l.node as usize * width + j]))
            };
        }
    }
    spans
}

fn combine(spans: &[Dop<13>], weights: &[f64]) -> Dop<13> {
    let mut sum = spans[0];
    for (span, &w) in spans[1..].iter().zip(weights) {
        for k in 0..13 {
            let (p, q) = (w * span.low[k], w * span.high[k]);
            sum.low[k] += p.min(q);
            sum.high[k] += p.max(q);
        }
    }
    sum
}

/// Writes the slabs that a kind has; other kinds were refused.
fn write(tree: &mut Tree, kind: Volume, place: usize, from: &Dop<13>) {
    let bounds = &mut tree.bounds;
    match kind {
        Volume::Aabb => {
            let corner = |side: &[f64; 13]| DVec3::new(side[0], side[1], side[2]);
            bounds.aabb[place] = Aabb { low: corner(&from.low), high: corner(&from.high) };
        }
        Volume::Dop6 => bounds.dop6[place] = from.fewer(),
        Volume::Dop14 => bounds.dop14[place] = from.fewer(),
        Volume::Dop18 => bounds.dop18[place] = from.fewer(),
        Volume::Dop26 => bounds.dop26[place] = *from,
        _ => debug_assert!(false, "{} does not follow a morph", kind.name()),
    }
}
