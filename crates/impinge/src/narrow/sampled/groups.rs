//! Groups of neighbouring facets in flat cylinders, above the shell that the descent ends at.
//!
//! The shells of Guy and Debunne (2004) are few and each holds a whole layer; between two of them a pair of facets
//! opens into many, and a coarse disc around a long patch is mostly empty. So the front descends through a binary tree
//! over the facets of one shell instead, whose nodes are balls about the barycentre of one triangle of the group, so
//! that a ball too follows the vertices by reading three of them, cut off by two planes across the normal of that
//! triangle.
//!
//! **Containment.** Let c be the barycentre at rest of the anchor triangle with corners x₁, x₂, x₃, R the largest distance of a
//! point of the group from c, and r that of the corners. If no two points of the group come farther apart than
//! 1 + δ times their distance at rest, the point that was at x is now at y with |y − c′| ≤ ⅓·Σ|y − y_k| ≤
//! (1 + δ)·⅓·Σ|x − x_k| ≤ (1 + δ)·(R + r). Where the displacement itself has the Lipschitz constant δ, y − c′ differs
//! from x − c by at most δ·(R + r), so |y − c′| ≤ R + δ·(R + r); it is this bound that is used.
//! Heights are those at rest but for as much, and for |n′ − n|·R where n and n′ are the triangle's normals at rest and
//! now: n·(x − c) and n′·(y − c′) differ by (n′ − n)·(x − c) + n′·((y − c′) − (x − c)). With ρ of
//! [`Shells::turn_factor`] below ½ the chord |n′ − n| is below 1.04·ρ; else the ball is not cut off.

use glam::DVec3;

use super::facet_pair::shadow;
use super::front::NONE;
use super::posed::Posed;
use super::shells::{Facet, Frame, Level, Shells, largest_coordinate, pad};
use crate::num::each::Each;
use crate::num::tolerance::ROUND_UP;

/// Mean radius of a shell's facets, against that of the triangles, up to which they are grouped (no unit). Facets of
/// four compact triangles are twice as large.
const LONGEST: f64 = 2.5;

/// The chord of an angle over its sine (no unit), where the sine is at most [`MOST_TURNED`].
const CHORD: f64 = 1.04;

/// The largest sine of the angle by which an anchor's normal may turn (no unit).
const MOST_TURNED: f64 = 0.5;

/// The largest turn factor of a triangle that groups ride on where there are others (no unit).
const LONGEST_ANCHOR: f64 = 4.0;

/// A flat cylinder around some facets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    /// The vertices of the triangle at whose barycentre the ball is.
    anchor: [u32; 3],
    /// R and r above, at rest.
    radius: f32,
    anchor_radius: f32,
    /// Heights of the group's points over the anchor at rest, from the lowest to the highest.
    inner: f32,
    outer: f32,
    /// How much more the anchor's normal turns than its sides (no unit).
    turn_factor: f32,
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
        let [a, b, c] = group.anchor.each(|v| body.vertices[v as usize]);
        let (radius, anchor) = (f64::from(group.radius), f64::from(group.anchor_radius));
        (body.pose.apply((a + b + c) / 3.0), body.placed_length(radius + body.stretch * (radius + anchor)))
    }

    /// The flat cylinder of a group in the world, under the stated deformation.
    #[inline]
    pub fn patch(&self, body: &Posed<'_>, group: u32) -> Facet {
        let group = &self.nodes[group as usize];
        let corners = group.anchor.each(|v| body.vertices[v as usize]);
        let (at_rest, anchor) = (f64::from(group.radius), f64::from(group.anchor_radius));
        let stretched = body.stretch * (at_rest + anchor);
        let radius = at_rest + stretched;
        let turned = (2.0 + body.stretch) * body.stretch * f64::from(group.turn_factor);
        // False for a needle too, whose factor is infinite or not a number here.
        if turned < MOST_TURNED {
            let more = CHORD * turned * at_rest + stretched;
            let Frame { centre, normal } = Frame::of(&corners);
            let rounding = pad(radius, largest_coordinate(&corners));
            let inner = (f64::from(group.inner) - more).max(-radius) - rounding;
            let outer = (f64::from(group.outer) + more).min(radius) + rounding;
            return body.place(Facet { centre, normal, radius: radius + rounding, inner, outer });
        }
        let [a, b, c] = corners;
        let centre = (a + b + c) / 3.0;
        body.place(Facet { centre, normal: DVec3::X, radius, inner: -radius, outer: radius })
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
        let anchor = self.anchor(triangles);
        let Facet { centre, normal, radius: own, .. } = *ball(&anchor);
        let reach = |f: &Facet| f.centre.distance(centre) + f.radius + f.outer - f.inner;
        let radius = triangles().map(|t| reach(ball(t))).fold(0.0, f64::max) * ROUND_UP;
        let hold = |[low, high]: [f64; 2], f: &Facet| {
            let [l, h] = shadow(&Facet { centre: f.centre - centre, ..*f }, normal);
            [low.min(l), high.max(h)]
        };
        let [inner, outer] = triangles().map(ball).fold([0.0; 2], hold);
        let rounding =
            pad(radius, triangles().map(|t| ball(t).centre.abs().max_element()).fold(0.0, f64::max));
        let share = triangles().map(|t| ball(t).radius * ball(t).radius).sum::<f64>() * self.per_share;
        Group {
            anchor: finest.corners[anchor as usize],
            radius: up(radius),
            anchor_radius: up(own),
            inner: -up(rounding - inner),
            outer: up(rounding + outer),
            turn_factor: up(self.shells.turn_factor(anchor)),
            below: [NONE; 2],
            from,
            to: from + facets.len() as u32,
            share: if share.is_finite() { share as f32 } else { 0.0 },
        }
    }

    /// The triangle that a group rides on: near the middle of its box, so that the ball is small, and with about the
    /// mean normal, so that the cylinder is flat. Both count as parts of the group's size.
    fn anchor<'f, I: Iterator<Item = &'f u32>>(&self, triangles: impl Fn() -> I) -> u32 {
        let ball = |t: &u32| &self.shells.levels[0].facets[*t as usize];
        let hold = |[l, h]: [DVec3; 2], f: &Facet| [l.min(f.centre - f.radius), h.max(f.centre + f.radius)];
        let [low, high] = triangles().map(ball).fold([DVec3::INFINITY, DVec3::NEG_INFINITY], hold);
        let middle = 0.5 * low + 0.5 * high;
        let size = (0.5 * (high - low).length()).max(f64::MIN_POSITIVE);
        let area = |f: &Facet| f.normal * (f.radius / size) * (f.radius / size);
        let mean = triangles().map(|t| area(ball(t))).sum::<DVec3>().normalize_or_zero();
        let score = |t: &u32| {
            let Facet { centre, normal, .. } = *ball(t);
            let tilt = if normal.dot(mean) > 0.0 { normal.cross(mean).length() } else { 1.0 };
            let needle = f64::from(u8::from(self.shells.turn_factor(*t) > LONGEST_ANCHOR));
            centre.distance(middle) / size + tilt + needle
        };
        let scored = triangles().map(|t| (score(t), *t));
        scored.min_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1))).map_or(0, |(_, t)| t)
    }
}

/// Rounded up.
fn up(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) < x { near.next_up() } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pose;
    use crate::shape::procedural;

    #[test]
    fn patches_hold_their_triangles_under_the_stated_deformation() {
        let mesh = procedural::blob(1.0, 0.3, 3, 5).unwrap();
        let shells = Shells::of_mesh(&mesh, None);
        let groups = Groups::new(&shells);
        let pose = Pose::new([0.3, -2.0, 1.0], [0.2, 0.5, -0.3, 1.0]).unwrap();
        let mut thin = 0;
        for swing in [0.0, 0.003, 0.02, 0.1] {
            let turned = Pose::new([0.1, 0.2, 0.3], [0.1, swing, 0.4, 1.0]).unwrap();
            let wave = |p: DVec3| DVec3::new((2.0 * p.y).sin(), (1.5 * p.z + 1.0).sin(), (2.5 * p.x).sin());
            // The wave's Lipschitz constant is 2.5.
            let vertices: Vec<DVec3> =
                mesh.vertices().iter().map(|p| turned.apply(*p + swing * wave(*p))).collect();
            let body = Posed::new(&shells, &vertices, &pose, 2.5 * swing + 1e-12);
            for (i, group) in groups.nodes.iter().enumerate() {
                let patch = groups.patch(&body, i as u32);
                let flat = patch.outer - patch.inner;
                thin += usize::from(flat < patch.radius);
                let own = (0..mesh.triangles().len() as u32).filter(|&t| groups.holds(&shells, i as u32, t));
                for p in own.flat_map(|t| body.triangle(t).corners) {
                    let height = (p - patch.centre).dot(patch.normal);
                    let inside = (patch.inner..=patch.outer).contains(&height);
                    assert!(inside, "{swing} {i}: {height} not in {} to {}", patch.inner, patch.outer);
                    assert!(p.distance(patch.centre) <= patch.radius * (1.0 + 1e-12), "{swing} {i}");
                }
                assert!(group.to > group.from);
            }
        }
        assert!(thin > groups.nodes.len(), "{thin} of {} are flat", 4 * groups.nodes.len());
    }
}
