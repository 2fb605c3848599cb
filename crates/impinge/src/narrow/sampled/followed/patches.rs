//! A binary tree of surface patches, each with its flat cylinder, down to clusters of a few triangles.
//!
//! A patch rides on one of its triangles: it is placed by reading three vertices, whatever the mesh does.

use glam::DVec3;

use super::super::facet_pair::shadow;
use super::super::front::NONE;
use super::super::posed::Posed;
use super::super::shells::{Facet, Shells};
use super::clusters::{Cluster, LANES};
use crate::num::tolerance::ROUND_UP;
use crate::simd::prefetch;

/// Frames after which it no longer counts where a patch was.
const RECENT: u64 = 64;

/// A patch.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Patch {
    /// The vertices of the triangle that it rides on.
    anchor: [u32; 3],
    /// Of the ball about the anchor's barycentre (a length).
    pub radius: f32,
    /// Heights of the patch's points over the anchor, from the lowest to the highest (lengths).
    inner: f32,
    outer: f32,
    /// The patches that it is made of; `NONE` and a cluster for the smallest.
    pub below: [u32; 2],
    /// The part of the surface that it holds: squared radii stand for areas.
    pub share: f32,
}

/// The patches of a mesh, the root first, and the clusters below the smallest.
#[derive(Debug)]
pub(in super::super) struct Patches {
    pub tree: Vec<Patch>,
    pub clusters: Vec<Cluster>,
}

impl Patch {
    /// Its triangles, where it is one of the smallest.
    #[inline]
    pub fn cluster(&self) -> Option<u32> {
        (self.below[0] == NONE).then_some(self.below[1])
    }

    /// Asks for the vertices of its anchor.
    #[inline]
    pub fn fetch(&self, body: &Posed<'_>) {
        self.anchor.iter().for_each(|&v| prefetch(&body.vertices[v as usize]));
    }

    /// About where it is in its body's frame: as it would be if it deformed with its anchor alone.
    #[inline]
    fn own(&self, body: &Posed<'_>) -> Facet {
        let at = |k: usize| body.vertices[self.anchor[k] as usize];
        let (a, b, c) = (at(0), at(1), at(2));
        let (radius, normal) = (f64::from(self.radius), (b - a).cross(c - a));
        let length = normal.length();
        let (inner, outer, normal) = match length > 0.0 {
            true => (f64::from(self.inner), f64::from(self.outer), normal / length),
            false => (-radius, radius, DVec3::X),
        };
        Facet { centre: (a + b + c) / 3.0, normal, radius, inner, outer }
    }
}

/// A patch in a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedPatch {
    /// In the world.
    pub facet: Facet,
    /// How the anchor moves in a frame by deformation, in the world; `None` where that is not known.
    pub deforms: Option<DVec3>,
    /// Where the anchor was in its body's frame.
    own: DVec3,
    /// The reading of the clock then.
    at: u64,
}

/// Patches of a body as they were last placed: many pairs share one.
#[derive(Debug, Clone, Default)]
pub(super) struct PlacedPatches {
    /// One more than where each is in `placed`; 0 for those that never were.
    of: Vec<u32>,
    placed: Vec<PlacedPatch>,
}

impl PlacedPatches {
    /// Forgets where they were.
    pub fn clear(&mut self) {
        self.of.clear();
        self.placed.clear();
    }

    /// A patch as it is when the clock reads so.
    #[inline]
    pub fn place(&mut self, which: u32, tree: &[Patch], body: &Posed<'_>, clock: u64) -> PlacedPatch {
        if self.of.is_empty() {
            self.of.resize(tree.len(), 0);
        }
        let before = match self.of[which as usize].checked_sub(1) {
            Some(at) => Some(&mut self.placed[at as usize]),
            None => None,
        };
        if let Some(before) = &before
            && before.at == clock
        {
            return **before;
        }
        let own = tree[which as usize].own(body);
        let deforms = before.as_ref().filter(|before| clock - before.at <= RECENT).map(|before| {
            let frames = (clock - before.at) as f64;
            body.turn * (own.centre - before.own) / frames
        });
        let placed = PlacedPatch { facet: body.place(own), deforms, own: own.centre, at: clock };
        match before {
            Some(before) => *before = placed,
            None => {
                self.placed.push(placed);
                self.of[which as usize] = self.placed.len() as u32;
            }
        }
        placed
    }
}

/// The tree of a mesh at rest.
pub(in super::super) fn build(shells: &Shells) -> Patches {
    let facets = &shells.levels[0].facets;
    let mut triangles: Vec<u32> = (0..facets.len() as u32).collect();
    let total: f64 = facets.iter().map(|f| f.radius * f.radius).sum();
    let patches = Patches {
        tree: Vec::with_capacity(triangles.len() / 2),
        clusters: Vec::with_capacity(triangles.len() / LANES + 1),
    };
    let mut build = Build { shells, patches, per_share: 1.0 / total };
    build.patch(&mut triangles);
    build.patches
}

struct Build<'s> {
    shells: &'s Shells,
    patches: Patches,
    per_share: f64,
}

impl Build<'_> {
    /// The patch of some triangles, divided along the longest side of the box around their centres so that clusters are
    /// full.
    fn patch(&mut self, triangles: &mut [u32]) -> u32 {
        let at = self.patches.tree.len() as u32;
        let patch = self.fit(triangles);
        self.patches.tree.push(patch);
        if triangles.len() <= LANES {
            let cluster = self.patches.clusters.len() as u32;
            self.patches.clusters.push(Cluster::new(triangles, &self.shells.levels[0].corners));
            self.patches.tree[at as usize].below = [NONE, cluster];
            return at;
        }
        let centre = |t: u32| self.shells.levels[0].facets[t as usize].centre;
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let [low, high] = triangles.iter().fold(start, |[l, h], &t| [l.min(centre(t)), h.max(centre(t))]);
        let axis = (high - low).max_position();
        let middle = (triangles.len() / 2).next_multiple_of(LANES).min(triangles.len() - 1);
        triangles.select_nth_unstable_by(middle, |&a, &b| {
            centre(a)[axis].total_cmp(&centre(b)[axis]).then(a.cmp(&b))
        });
        let (left, right) = triangles.split_at_mut(middle);
        let below = [self.patch(left), self.patch(right)];
        self.patches.tree[at as usize].below = below;
        at
    }

    fn fit(&self, triangles: &[u32]) -> Patch {
        let finest = &self.shells.levels[0];
        let facet = |t: &u32| &finest.facets[*t as usize];
        let anchor = self.anchor(triangles);
        let Facet { centre, normal, .. } = *facet(&anchor);
        let reach = |f: &Facet| f.centre.distance(centre) + f.radius + f.outer - f.inner;
        let radius = triangles.iter().map(|t| reach(facet(t))).fold(0.0, f64::max) * ROUND_UP;
        let hold = |[low, high]: [f64; 2], f: &Facet| {
            let [l, h] = shadow(&Facet { centre: f.centre - centre, ..*f }, normal);
            [low.min(l), high.max(h)]
        };
        let [inner, outer] = triangles.iter().map(facet).fold([0.0; 2], hold);
        let share = triangles.iter().map(|t| facet(t).radius.powi(2)).sum::<f64>() * self.per_share;
        Patch {
            anchor: finest.corners[anchor as usize],
            radius: radius as f32,
            inner: inner as f32,
            outer: outer as f32,
            below: [NONE; 2],
            share: if share.is_finite() { share as f32 } else { 0.0 },
        }
    }

    /// The triangle that a patch rides on: near the middle of its box, so that the ball is small, and with about the
    /// mean normal, so that the cylinder is flat. Both count as parts of the patch's size.
    fn anchor(&self, triangles: &[u32]) -> u32 {
        let facet = |t: &u32| &self.shells.levels[0].facets[*t as usize];
        let hold = |[l, h]: [DVec3; 2], f: &Facet| [l.min(f.centre - f.radius), h.max(f.centre + f.radius)];
        let [low, high] = triangles.iter().map(facet).fold([DVec3::INFINITY, DVec3::NEG_INFINITY], hold);
        let middle = 0.5 * low + 0.5 * high;
        let size = (0.5 * (high - low).length()).max(f64::MIN_POSITIVE);
        let area = |f: &Facet| f.normal * (f.radius / size) * (f.radius / size);
        let mean = triangles.iter().map(|t| area(facet(t))).sum::<DVec3>().normalize_or_zero();
        let score = |t: &u32| {
            let Facet { centre, normal, .. } = *facet(t);
            let tilt = if normal.dot(mean) > 0.0 { normal.cross(mean).length() } else { 1.0 };
            centre.distance(middle) / size + tilt
        };
        let scored = triangles.iter().map(|t| (score(t), *t));
        scored.min_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1))).map_or(0, |(_, t)| t)
    }
}
