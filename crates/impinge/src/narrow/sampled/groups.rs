//! Groups of neighbouring facets in balls, above the shell that the descent ends at.
//!
//! The shells of Guy and Debunne (2004) are few and each holds a whole layer; between two of them a pair of facets
//! opens into many, and a coarse disc around a long patch is mostly empty. So the front descends through a binary tree
//! over the facets of one shell instead, whose nodes are balls: about the barycentre of one triangle of the group, so
//! that a ball too follows the vertices by reading three of them.
//!
//! **Containment.** Let c be the barycentre at rest of the anchor triangle with corners x₁, x₂, x₃, R the largest distance of a
//! point of the group from c, and r that of the corners. If no two points of the group come farther apart than
//! 1 + δ times their distance at rest, the point that was at x is now at y with |y − c′| ≤ ⅓·Σ|y − y_k| ≤
//! (1 + δ)·⅓·Σ|x − x_k| ≤ (1 + δ)·(R + r). Where the displacement itself has the Lipschitz constant δ, y − c′ differs
//! from x − c by at most δ·(R + r), so |y − c′| ≤ R + δ·(R + r); it is this bound that is used.

use glam::DVec3;

use super::front::NONE;
use super::posed::Posed;
use super::shells::{Facet, Level, Shells};
use crate::num::tolerance::ROUND_UP;

/// Mean radius of a shell's facets, against that of the triangles, up to which they are grouped (no unit). Facets of
/// four compact triangles are twice as large.
const LONGEST: f64 = 2.5;

/// A ball around some facets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    /// The vertices of the triangle at whose barycentre the ball is.
    anchor: [u32; 3],
    /// R and r above, at rest.
    radius: f32,
    anchor_radius: f32,
    /// The groups that it is made of; `NONE` and a facet for a single one.
    pub below: [u32; 2],
    /// Its facets' places in the order of the tree.
    from: u32,
    to: u32,
    /// The part of the surface that it holds: squared radii stand for areas.
    pub share: f32,
}

/// The tree, the root first.
#[derive(Debug)]
pub(super) struct Groups {
    pub nodes: Vec<Group>,
    /// The shell that the groups are of.
    pub level: u8,
    /// The place of each facet in the order of the tree.
    place: Vec<u32>,
}

impl Group {
    /// Its only facet.
    #[inline]
    pub fn facet(&self) -> Option<u32> {
        (self.below[0] == NONE).then_some(self.below[1])
    }
}

impl Groups {
    /// Groups over the first simplified shell; over the triangles where there is none, or where its discs are mostly
    /// empty because the facets are long.
    pub fn new(shells: &Shells) -> Groups {
        let mean =
            |facets: &[Facet]| facets.iter().map(|f| f.radius).sum::<f64>() / facets.len().max(1) as f64;
        let is_compact = |level: &Level| mean(&level.facets) <= LONGEST * mean(&shells.levels[0].facets);
        let level = usize::from(shells.levels.get(1).is_some_and(is_compact));
        let count = shells.levels[level].corners.len();
        let mut order: Vec<u32> = (0..count as u32).collect();
        let balls = &shells.levels[0].facets;
        let total: f64 = balls.iter().map(|f| f.radius * f.radius).sum();
        let mut build = Build { shells, level, nodes: Vec::with_capacity(2 * count), per_share: 1.0 / total };
        build.group(&mut order, 0);
        let nodes = build.nodes;
        let mut place = vec![0; count];
        order.iter().zip(0..).for_each(|(&facet, at)| place[facet as usize] = at);
        Groups { nodes, level: level as u8, place }
    }

    /// The ball of a group in the world: its centre, and its radius under the stated deformation.
    #[inline]
    pub fn ball(&self, body: &Posed<'_>, group: u32) -> (DVec3, f64) {
        let group = &self.nodes[group as usize];
        let [a, b, c] = group.anchor.map(|v| body.vertices[v as usize]);
        let (radius, anchor) = (f64::from(group.radius), f64::from(group.anchor_radius));
        (body.pose.apply((a + b + c) / 3.0), body.placed_length(radius + body.stretch * (radius + anchor)))
    }

    /// The radius at rest.
    #[inline]
    pub fn radius(&self, group: u32) -> f64 {
        f64::from(self.nodes[group as usize].radius)
    }

    /// Whether a triangle belongs to a group.
    #[inline]
    pub fn holds(&self, shells: &Shells, group: u32, triangle: u32) -> bool {
        let facet = if self.level == 0 { triangle } else { shells.levels[0].parent[triangle as usize] };
        let Group { from, to, .. } = self.nodes[group as usize];
        (from..to).contains(&self.place[facet as usize])
    }
}

struct Build<'s> {
    shells: &'s Shells,
    level: usize,
    nodes: Vec<Group>,
    per_share: f64,
}

impl Build<'_> {
    /// The group of some facets, halved along the longest side of the box around their centres.
    fn group(&mut self, facets: &mut [u32], from: u32) -> u32 {
        let at = self.nodes.len() as u32;
        let group = self.ball(facets, from);
        self.nodes.push(group);
        if let [only] = facets {
            self.nodes[at as usize].below = [NONE, *only];
            return at;
        }
        let centre = |f: u32| self.shells.levels[self.level].facets[f as usize].centre;
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let [low, high] = facets.iter().fold(start, |[l, h], &f| [l.min(centre(f)), h.max(centre(f))]);
        let (axis, middle) = ((high - low).max_position(), facets.len() / 2);
        facets.select_nth_unstable_by(middle, |&a, &b| {
            centre(a)[axis].total_cmp(&centre(b)[axis]).then(a.cmp(&b))
        });
        let (left, right) = facets.split_at_mut(middle);
        let left = self.group(left, from);
        let right = self.group(right, from + middle as u32);
        self.nodes[at as usize].below = [left, right];
        at
    }

    fn ball(&self, facets: &[u32], from: u32) -> Group {
        let finest = &self.shells.levels[0];
        let triangles =
            || facets.iter().flat_map(|f| super::cell::triangles(self.shells, self.level as u8, f));
        let ball = |t: &u32| &finest.facets[*t as usize];
        let hold = |[l, h]: [DVec3; 2], f: &Facet| [l.min(f.centre - f.radius), h.max(f.centre + f.radius)];
        let [low, high] = triangles().map(ball).fold([DVec3::INFINITY, DVec3::NEG_INFINITY], hold);
        let middle = 0.5 * low + 0.5 * high;
        let far = |t: &&u32| ball(t).centre.distance_squared(middle);
        let anchor =
            triangles().min_by(|s, t| far(s).total_cmp(&far(t)).then(s.cmp(t))).copied().unwrap_or(0);
        let (centre, own) = (ball(&anchor).centre, ball(&anchor).radius);
        let reach = |f: &Facet| f.centre.distance(centre) + f.radius + f.outer - f.inner;
        let radius = triangles().map(|t| reach(ball(t))).fold(0.0, f64::max) * ROUND_UP;
        let share = triangles().map(|t| ball(t).radius * ball(t).radius).sum::<f64>() * self.per_share;
        Group {
            anchor: finest.corners[anchor as usize],
            radius: up(radius),
            anchor_radius: up(own),
            below: [NONE; 2],
            from,
            to: from + facets.len() as u32,
            share: if share.is_finite() { share as f32 } else { 0.0 },
        }
    }
}

/// Rounded up.
fn up(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) < x { near.next_up() } else { near }
}
