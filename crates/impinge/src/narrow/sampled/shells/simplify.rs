//! Simplification by half-edge collapses: a vertex moves onto a neighbour, so every vertex that is left is
//! one of the mesh and coarse triangles follow a deforming vertex array.
//!
//! The error of a collapse is the quadric of Garland and Heckbert (Surface Simplification Using Quadric Error
//! Metrics, SIGGRAPH 1997), planes weighted by area, with planes along the borders of the surface (their
//! section 6). We leave the paper in the order: instead of one heap, passes over all vertices. In a pass each
//! vertex finds its best collapse, the cheaper half of them is sorted, and those are done whose surroundings
//! no earlier one of the pass has touched. What a vertex finds depends on nothing else, so passes run on all
//! threads and give the same mesh on any number of them; no check has to be repeated when a collapse is done.
//!
//! A collapse must keep what the [`Care`] of the pass asks for. Where too few vertices find one, care is
//! lowered: first the shape of the triangles, then the topology, at last the smallest components are dropped.
//! So any surface gets as coarse as it is asked to, down to a single triangle: open, non-manifold, flat and
//! scattered ones too. The facets of the shells are fitted to the mesh, not to its simplification; the care
//! decides how tight they are, never whether they contain it.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use smallvec::SmallVec;

use super::csr::Csr;
use super::quadric::Quadric;
use crate::num::disjoint_sets::DisjointSets;
use crate::num::parallel;

/// Weight of a border's plane for a border of length 1 (an area): a border is as stiff as a surface ten times
/// as wide as the border is long.
const BORDER_WEIGHT: f64 = 10.0;

/// Share of the squared length of a collapse in its error (no unit): among collapses within a plane the
/// shorter ones come first, which keeps triangles round.
const LENGTH_WEIGHT: f64 = 1e-5;

/// Smallest cosine between the normals of a triangle before and after a collapse.
const LEAST_TURN_COSINE: f64 = 0.2;

/// A triangle is not made thinner than this (no unit: twice its area over the square of its longest side).
const THINNEST: f64 = 0.05;

/// A vertex of more triangles than this is the hub of a fan. Collapses on all sides of it are done in one pass
/// although they touch it: their triangles are still different ones. That the topology stays is then no
/// longer certain, only likely.
const HUB: usize = 24;

/// Neighbours, at most, that a vertex tries to move onto, the cheapest first.
const MOST_TRIED: usize = 12;

/// A pass that removes fewer than this share of the triangles calls for less care.
const LEAST_PROGRESS: f64 = 1.0 / 256.0;

/// What a collapse must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Care {
    /// No triangle turns over or gets thin, and the topology stays.
    Shape,
    /// The topology stays (the link condition of Dey et al. 1999).
    Topology,
    /// A triangle is left at the vertex.
    Something,
}

/// A surface that gets coarser from level to level.
#[derive(Debug)]
pub(super) struct Simplifier {
    /// The number that the caller knows each vertex by.
    names: Vec<u32>,
    points: Vec<DVec3>,
    quadrics: Vec<Quadric>,
    triangles: Vec<[u32; 3]>,
    /// The triangle that each was when the level began; its corners may have moved since.
    from: Vec<u32>,
    /// Where each vertex went since the level began, itself if it is left.
    moved_to: Vec<u32>,
}

/// The cheapest collapse that a vertex found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Collapse {
    /// The bits of the error, which is not negative: they have its order.
    error: u64,
    vertex: u32,
    onto: u32,
}

impl Simplifier {
    /// A surface of distinct points of about unit size; triangles with equal corners and copies are left out.
    pub fn new(points: Vec<DVec3>, triangles: &[[u32; 3]]) -> Simplifier {
        let mut keys: Vec<([u32; 3], u32)> = triangles
            .iter()
            .zip(0..)
            .filter(|([a, b, c], _)| a != b && b != c && c != a)
            .map(|(corners, t)| {
                let mut sorted = *corners;
                sorted.sort_unstable();
                (sorted, t)
            })
            .collect();
        parallel::sort(&mut keys);
        keys.dedup_by_key(|(corners, _)| *corners);
        let mut from: Vec<u32> = keys.into_iter().map(|(_, t)| t).collect();
        from.sort_unstable();
        let triangles: Vec<[u32; 3]> = from.iter().map(|&t| triangles[t as usize]).collect();
        let quadrics = quadrics(&points, &triangles);
        let names: Vec<u32> = (0..points.len() as u32).collect();
        Simplifier { moved_to: names.clone(), names, points, quadrics, triangles, from }
    }

    /// The number that the caller gave a vertex of this level.
    pub fn name(&self, vertex: u32) -> u32 {
        self.names[vertex as usize]
    }

    /// The vertices of this level, those that have moved away too.
    pub fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// The triangles now.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// For each triangle now, which one it was when the level began.
    pub fn from(&self) -> &[u32] {
        &self.from
    }

    /// Where a vertex of this level went.
    pub fn moved_to(&self, mut vertex: u32) -> u32 {
        while self.moved_to[vertex as usize] != vertex {
            vertex = self.moved_to[vertex as usize];
        }
        vertex
    }

    /// Begins the next level: what is left of the surface is numbered anew.
    pub fn next_level(&mut self) {
        let mut left = self.triangles.as_flattened().to_vec();
        parallel::sort(&mut left);
        left.dedup();
        let mut number = vec![NONE; self.points.len()];
        for (&v, new) in left.iter().zip(0..) {
            number[v as usize] = new;
        }
        for corners in &mut self.triangles {
            *corners = corners.map(|v| number[v as usize]);
        }
        self.names = left.iter().map(|&v| self.names[v as usize]).collect();
        self.points = left.iter().map(|&v| self.points[v as usize]).collect();
        self.quadrics = left.iter().map(|&v| self.quadrics[v as usize]).collect();
        self.from = (0..self.triangles.len() as u32).collect();
        self.moved_to = (0..left.len() as u32).collect();
    }

    /// Collapses until at most `target` triangles (at least 1) are left.
    pub fn coarsen(&mut self, target: usize) {
        let target = target.max(1);
        let mut care = Care::Shape;
        // A closed surface of four triangles is not opened for fewer.
        let enough = |care: Care| if care == Care::Something { target.max(4) } else { target };
        while self.triangles.len() > enough(care) {
            let before = self.triangles.len();
            self.pass(enough(care), care);
            let removed = before - self.triangles.len();
            if removed as f64 > LEAST_PROGRESS * before as f64 {
                continue;
            }
            care = match care {
                Care::Shape => Care::Topology,
                Care::Topology => Care::Something,
                Care::Something => return self.drop_components(enough(care)),
            };
        }
    }

    /// One round of independent collapses, the cheaper ones first.
    fn pass(&mut self, target: usize, care: Care) {
        let corners = Csr::by_owner(self.triangles.as_flattened(), self.points.len());
        let around = corners.map(|corner| corner / 3);
        let surface = Surface {
            around: &around,
            points: &self.points,
            quadrics: &self.quadrics,
            triangles: &self.triangles,
        };
        let found = parallel::map(self.points.len(), |u| surface.best_collapse(u as u32, care));
        let mut found: Vec<Collapse> = found.into_iter().flatten().collect();
        parallel::sort(&mut found);
        found.truncate(found.len().div_ceil(2));
        let is_hub = |v: u32| around.of(v).len() > HUB;
        let (mut touched, mut moved_away) = (vec![false; self.points.len()], vec![false; self.points.len()]);
        let mut left = self.triangles.len();
        for Collapse { vertex, onto, .. } in found {
            if left <= target {
                break;
            }
            if touched[vertex as usize] {
                continue;
            }
            let ring: SmallVec<[u32; 64]> =
                around.of(vertex).iter().flat_map(|&t| self.triangles[t as usize]).collect();
            if ring.iter().any(|&v| moved_away[v as usize] || (touched[v as usize] && !is_hub(v))) {
                continue;
            }
            ring.into_iter().for_each(|v| touched[v as usize] = true);
            moved_away[vertex as usize] = true;
            for &t in around.of(vertex) {
                let corners = self.triangles[t as usize];
                let moved = corners.map(|v| if v == vertex { onto } else { v });
                let is_copy = || around.of(onto).iter().any(|&o| same(self.triangles[o as usize], moved));
                if corners.contains(&onto) || (care == Care::Something && is_copy()) {
                    self.triangles[t as usize] = [NONE; 3];
                    left -= 1;
                } else {
                    self.triangles[t as usize] = moved;
                }
            }
            let quadric = self.quadrics[vertex as usize];
            self.quadrics[onto as usize] += quadric;
            self.moved_to[vertex as usize] = onto;
        }
        self.remove_dead();
    }

    /// Takes out the triangles that are gone.
    fn remove_dead(&mut self) {
        let triangles = &self.triangles;
        let mut t = 0;
        self.from.retain(|_| {
            t += 1;
            triangles[t - 1] != [NONE; 3]
        });
        self.triangles.retain(|corners| *corners != [NONE; 3]);
    }

    /// Drops the components of smallest extent until at most `target` triangles are left, or one component.
    fn drop_components(&mut self, target: usize) {
        let mut forest = DisjointSets::new(self.points.len());
        for corners in &self.triangles {
            forest.join(corners[0] as usize, corners[1] as usize);
            forest.join(corners[0] as usize, corners[2] as usize);
        }
        let component: Vec<usize> =
            self.triangles.iter().map(|corners| forest.root(corners[0] as usize)).collect();
        let mut boxes = BTreeMap::new();
        for (corners, &of) in self.triangles.iter().zip(&component) {
            let (count, low, high) =
                boxes.entry(of).or_insert((0_usize, DVec3::INFINITY, DVec3::NEG_INFINITY));
            *count += 1;
            for p in corners.map(|v| self.points[v as usize]) {
                (*low, *high) = (low.min(p), high.max(p));
            }
        }
        // Extents are not negative, so their bits have their order.
        let mut by_extent: Vec<(u64, usize, usize)> = boxes
            .into_iter()
            .map(|(of, (count, low, high))| ((high - low).length().to_bits(), of, count))
            .collect();
        by_extent.sort_unstable();
        by_extent.pop();
        let mut left = self.triangles.len();
        let mut dropped = BTreeSet::new();
        for (_, of, count) in by_extent {
            if left <= target {
                break;
            }
            left -= count;
            dropped.insert(of);
        }
        for (corners, of) in self.triangles.iter_mut().zip(component) {
            if dropped.contains(&of) {
                *corners = [NONE; 3];
            }
        }
        self.remove_dead();
    }
}

/// Stands for the corners of a triangle that is gone.
const NONE: u32 = u32::MAX;

/// What a pass reads: the surface before its collapses.
struct Surface<'s> {
    /// The triangles around each vertex.
    around: &'s Csr,
    points: &'s [DVec3],
    quadrics: &'s [Quadric],
    triangles: &'s [[u32; 3]],
}

/// A neighbour of a vertex.
struct Neighbour {
    vertex: u32,
    /// How many triangles have both.
    shared: u32,
}

impl Surface<'_> {
    /// The cheapest collapse of a vertex that takes the care asked for.
    fn best_collapse(&self, u: u32, care: Care) -> Option<Collapse> {
        let ring = self.ring(u);
        let is_border = ring.iter().any(|n| n.shared != 2);
        let error = |n: &Neighbour| {
            let to = self.points[n.vertex as usize];
            let mut sum = self.quadrics[u as usize];
            sum += self.quadrics[n.vertex as usize];
            sum.at(to) + LENGTH_WEIGHT * sum.weight() * to.distance_squared(self.points[u as usize])
        };
        let mut by_error: SmallVec<[(u64, usize); 16]> =
            ring.iter().enumerate().map(|(k, n)| (error(n).to_bits(), k)).collect();
        by_error.sort_unstable();
        let allowed = |n: &Neighbour| {
            // A border moves along itself only.
            let along_border = !is_border || n.shared != 2;
            let leaves_something = [u, n.vertex].iter().any(|&v| self.around.of(v).len() > n.shared as usize);
            leaves_something
                && (care > Care::Topology || (along_border && self.keeps_topology(u, n, &ring)))
                && (care > Care::Shape || self.keeps_shape(u, n.vertex))
        };
        let &(error, k) = by_error.iter().take(MOST_TRIED).find(|(_, k)| allowed(&ring[*k]))?;
        Some(Collapse { error, vertex: u, onto: ring[k].vertex })
    }

    /// The neighbours of a vertex, ascending.
    fn ring(&self, u: u32) -> SmallVec<[Neighbour; 16]> {
        let corners = self.around.of(u).iter().flat_map(|&t| self.triangles[t as usize]);
        let mut all: SmallVec<[u32; 32]> = corners.filter(|&v| v != u).collect();
        all.sort_unstable();
        let mut ring: SmallVec<[Neighbour; 16]> = SmallVec::new();
        for vertex in all {
            match ring.last_mut() {
                Some(last) if last.vertex == vertex => last.shared += 1,
                _ => ring.push(Neighbour { vertex, shared: 1 }),
            }
        }
        ring
    }

    /// The link condition: the vertices next to both ends are those of the triangles that have both, and no
    /// two triangles become one.
    fn keeps_topology(&self, u: u32, onto: &Neighbour, ring: &[Neighbour]) -> bool {
        let v = onto.vertex;
        let is_next = |w: u32| {
            let around = self.fewer_around(&[v, w]).iter();
            around.map(|&t| self.triangles[t as usize]).any(|t| t.contains(&v) && t.contains(&w))
        };
        let common: SmallVec<[u32; 16]> =
            ring.iter().map(|n| n.vertex).filter(|&w| w != v && is_next(w)).collect();
        let joins = |&t: &u32| {
            let corners = self.triangles[t as usize];
            let moved = corners.map(|w| if w == u { v } else { w });
            !corners.contains(&v)
                && corners.iter().all(|&w| w == u || common.contains(&w))
                && self.fewer_around(&moved).iter().any(|&o| same(self.triangles[o as usize], moved))
        };
        common.len() == onto.shared as usize && !self.around.of(u).iter().any(joins)
    }

    /// The triangles around one of some vertices, the one that has fewest.
    fn fewer_around(&self, vertices: &[u32]) -> &[u32] {
        vertices.iter().map(|&v| self.around.of(v)).min_by_key(|around| around.len()).unwrap_or(&[])
    }

    /// Whether no triangle around `u` turns over or gets thin when `u` moves onto `v`.
    fn keeps_shape(&self, u: u32, v: u32) -> bool {
        let stays_sound = |corners: [u32; 3]| {
            let before = corners.map(|w| self.points[w as usize]);
            let after = corners.map(|w| self.points[if w == u { v } else { w } as usize]);
            let (n0, n1) = (area_vector(before), area_vector(after));
            let turns_over = n0.dot(n1) <= LEAST_TURN_COSINE * n0.length() * n1.length();
            let width = |n: DVec3, [a, b, c]: [DVec3; 3]| {
                n.length() / [b - a, c - b, a - c].map(DVec3::length_squared).into_iter().fold(0.0, f64::max)
            };
            let gets_thin = || width(n1, after) < THINNEST.min(width(n0, before));
            n0 == DVec3::ZERO || !(turns_over || gets_thin())
        };
        let corners = self.around.of(u).iter().map(|&t| self.triangles[t as usize]);
        corners.filter(|corners| !corners.contains(&v)).all(stays_sound)
    }
}

/// Whether two triangles have the same corners, in any order.
fn same(s: [u32; 3], t: [u32; 3]) -> bool {
    s.iter().all(|v| t.contains(v))
}

/// Twice a triangle's area, along its normal.
pub(super) fn area_vector([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a)
}

/// The quadrics of the vertices: planes of their triangles weighted by area, and planes along borders.
fn quadrics(points: &[DVec3], triangles: &[[u32; 3]]) -> Vec<Quadric> {
    let mut quadrics = vec![Quadric::default(); points.len()];
    let mut sides: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * triangles.len());
    for (corners, t) in triangles.iter().zip(0..) {
        let n = area_vector(corners.map(|v| points[v as usize]));
        if let Some(unit) = n.try_normalize() {
            let plane = Quadric::plane(unit, points[corners[0] as usize], 0.5 * n.length());
            corners.iter().for_each(|&v| quadrics[v as usize] += plane);
        }
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            sides.push(([a.min(b), a.max(b)], t));
        }
    }
    parallel::sort(&mut sides);
    for uses in sides.chunk_by(|s, t| s.0 == t.0).filter(|uses| uses.len() != 2) {
        let ([a, b], _) = uses[0];
        let along = points[b as usize] - points[a as usize];
        for &(_, t) in uses {
            let n = area_vector(triangles[t as usize].map(|v| points[v as usize]));
            if let Some(across) = along.cross(n).try_normalize() {
                let plane =
                    Quadric::plane(across, points[a as usize], BORDER_WEIGHT * along.length_squared());
                quadrics[a as usize] += plane;
                quadrics[b as usize] += plane;
            }
        }
    }
    quadrics
}
