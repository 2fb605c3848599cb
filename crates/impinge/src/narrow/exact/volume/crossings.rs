//! All crossings of two surfaces: the border pieces of what lies inside, and which of them belong together.

use std::collections::HashMap;

use glam::DVec3;
use smallvec::SmallVec;

use super::perturbed_crossing::{Body, Face, Pass, pass, passing_sides};
use super::surface::{NONE, Surface};
use crate::num::disjoint_sets::DisjointSets;
use crate::num::hash::Mixing;
use crate::num::predicate::Sign;

/// The second side of a cut triangle is crossed: from there to its end the weight of the side changes.
#[derive(Debug, Clone, Copy)]
pub struct SidePiece {
    /// The surface (0 or 1) and its cut.
    pub surface: usize,
    pub cut: u32,
    pub crossing: u32,
    pub weight: i32,
}

/// An edge passes through a triangle.
#[derive(Debug, Clone, Copy)]
struct Crossing {
    surface: usize,
    edge: Edge,
    /// From the first end to the other.
    share: f64,
    inward: i32,
}

/// An edge of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Its number in the topology, by ascending ends.
    pub number: u32,
    /// Its ends as welded vertices, the smaller first.
    pub ends: [u32; 2],
}

/// Two triangles cross in a segment: a piece of the border of the inside part of both.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    /// The crossings at its ends, in the direction in which a's triangle has the inside on its left.
    pub ends: [u32; 2],
    /// The cut of each surface.
    pub cuts: [u32; 2],
}

impl Segment {
    /// Its ends in the direction in which the triangle of a surface has the inside on its left.
    #[inline]
    pub fn along(&self, surface: usize) -> [u32; 2] {
        let [first, last] = self.ends;
        if surface == 0 { [first, last] } else { [last, first] }
    }
}

/// Where two surfaces cross.
#[derive(Default)]
pub struct Crossings {
    all: Vec<Crossing>,
    /// By surface; triangle of the other and edge.
    number: [HashMap<u64, u32, Mixing>; 2],
    pub segments: Vec<Segment>,
    pub side_pieces: Vec<SidePiece>,
    /// Where each crossing is.
    pub points: Vec<DVec3>,
}

impl Crossings {
    /// All of two surfaces, given the pairs of triangles that meet.
    pub fn of(surfaces: &mut [Surface<'_>; 2], pairs: &[[u32; 2]]) -> Crossings {
        let mut all = Crossings::default();
        // As a rule a segment has two ends, and each is an end of two segments.
        all.number.iter_mut().for_each(|number| number.reserve(pairs.len()));
        surfaces.iter_mut().for_each(|surface| surface.reserve(pairs.len() / 2));
        all.all.reserve(pairs.len());
        all.points.reserve(pairs.len());
        all.segments.reserve(pairs.len());
        all.side_pieces.reserve(pairs.len());
        for &pair in pairs {
            all.add(surfaces, pair);
        }
        all
    }

    /// Adds what two triangles that meet have in common: nothing, or a segment between two crossings.
    fn add(&mut self, surfaces: &mut [Surface<'_>; 2], pair: [u32; 2]) {
        let cuts = [0, 1].map(|k| surfaces[k].cut(pair[k]));
        let faces = [0, 1].map(|k| &surfaces[k].cuts[cuts[k]].face);
        let (signs, passing) = passes(faces);
        let mut found: SmallVec<[(usize, usize, u32, i32); 4]> = SmallVec::new();
        for k in [0, 1] {
            for side in (0..3).filter(|&side| passing[k][side]) {
                let cut = &surfaces[k].cuts[cuts[k]];
                let Some((edge, is_ordered)) = surfaces[k].edge(cut, side) else { continue };
                let key = u64::from(pair[1 - k]) << 32 | u64::from(edge.number);
                let next = self.all.len() as u32;
                let way = if is_ordered { 1 } else { -1 };
                // Both triangles at the edge find it.
                let number = *self.number[k].entry(key).or_insert_with(|| {
                    let corners = faces[k].corners();
                    let ends = [corners[side], corners[(side + 1) % 3]];
                    let Pass { inward, point, share } = Pass::at(ends, signs[k][side], faces[1 - k]);
                    let share = if is_ordered { share } else { 1.0 - share };
                    self.all.push(Crossing { surface: k, edge, share, inward: way * inward });
                    self.points.push(point);
                    next
                });
                let inward = way * self.all[number as usize].inward;
                found.push((k, side, number, inward));
            }
        }
        let mut ends = [None; 2];
        for (k, side, number, inward) in found {
            surfaces[k].cuts[cuts[k]].pass(side, inward);
            if side == 1 {
                let (crossing, weight, cut) = (number, inward, cuts[k] as u32);
                self.side_pieces.push(SidePiece { surface: k, cut, crossing, weight });
            }
            // On the way around a's triangle the inside begins behind an end of the segment; for b's triangle
            // the segment runs the other way.
            let is_last = (inward > 0) == (k == 0);
            ends[usize::from(is_last)] = Some(number);
        }
        let [Some(first), Some(last)] = ends else { return };
        // Also for a triangle without area, whose sides coincide there: its neighbours' segments hang on it.
        self.segments.push(Segment { ends: [first, last], cuts: cuts.map(|cut| cut as u32) });
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Which crossings and patches (behind the crossings, those of a first) border the same region.
    pub fn regions(&self, surfaces: &[Surface<'_>; 2]) -> DisjointSets {
        let offsets = [self.len(), self.len() + surfaces[0].patches.len()];
        let mut sets = DisjointSets::new(offsets[1] + surfaces[1].patches.len());
        for &Segment { ends: [first, last], .. } in &self.segments {
            sets.join(first as usize, last as usize);
        }
        let along = self.along_edges();
        for run in along.chunk_by(|&i, &j| {
            self.all[i].edge == self.all[j].edge && self.all[i].surface == self.all[j].surface
        }) {
            let Crossing { surface: k, edge: Edge { ends: [from, to], .. }, .. } = self.all[run[0]];
            let patch = |v: u32| surfaces[k].patch(v).map(|patch| offsets[k] + patch as usize);
            let mut inside = patch(from);
            let mut winding = surfaces[k].winding(from);
            for &i in run {
                if let Some(before) = inside {
                    sets.join(before, i);
                }
                winding += self.all[i].inward;
                inside = (winding != 0).then_some(i);
            }
            if let (Some(before), Some(patch)) = (inside, patch(to)) {
                sets.join(before, patch);
            }
        }
        self.join_loops(surfaces, offsets, &mut sets);
        sets
    }

    /// The segments of each cut of a surface as pairs of crossings, with the inside on their left.
    pub fn directed_segments(&self, surface: usize, cuts: usize) -> Vec<Vec<[u32; 2]>> {
        let mut found = vec![Vec::new(); cuts];
        for segment in self.segments.iter().filter(|segment| segment.ends[0] != segment.ends[1]) {
            found[segment.cuts[surface] as usize].push(segment.along(surface));
        }
        found
    }

    /// The crossings on an edge, given all along their edges: from one end to the other, with what the winding number
    /// grows by at each.
    pub fn on_edge<'o>(
        &'o self,
        order: &'o [usize],
        surface: usize,
        [from, to]: [u32; 2],
    ) -> impl Iterator<Item = (u32, i32)> + 'o {
        let key = (surface, [from.min(to), from.max(to)]);
        let of = |i: usize| (self.all[i].surface, self.all[i].edge.ends);
        let begin = order.partition_point(|&i| of(i) < key);
        let end = begin + order[begin..].partition_point(|&i| of(i) == key);
        let run = &order[begin..end];
        let way = if from < to { 1 } else { -1 };
        (0..run.len()).map(move |n| {
            let i = if from < to { run[n] } else { run[run.len() - 1 - n] };
            (i as u32, way * self.all[i].inward)
        })
    }

    /// The crossings by surface and edge, along the edge.
    pub fn along_edges(&self) -> Vec<usize> {
        let key = |one: &Crossing| (one.surface as u64) << 32 | u64::from(one.edge.number);
        let mut order: Vec<(u64, f64, u32)> =
            (0..).zip(&self.all).map(|(i, one)| (key(one), one.share, i)).collect();
        order.sort_unstable_by(|x, y| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1)).then(x.2.cmp(&y.2)));
        order.into_iter().map(|(_, _, i)| i as usize).collect()
    }

    /// Joins the loops that lie within one triangle with what borders the same piece of it: the first segment or side
    /// that a ray from the loop into the piece meets.
    fn join_loops(&self, surfaces: &[Surface<'_>; 2], offsets: [usize; 2], sets: &mut DisjointSets) {
        let is_open = self.loops_or_parts(surfaces, sets);
        let pieces = [0, 1].into_iter().flat_map(|surface| {
            self.segments.iter().map(move |segment| {
                let [from, to] = segment.along(surface).map(|end| self.points[end as usize]);
                Piece { surface, cut: segment.cuts[surface], member: segment.ends[0], from, to }
            })
        });
        let mut segments: Vec<Piece> =
            pieces.filter(|piece| is_open[piece.surface][piece.cut as usize]).collect();
        segments.sort_by_key(|piece| (piece.surface, piece.cut));
        for group in segments.chunk_by(|x, y| (x.surface, x.cut) == (y.surface, y.cut)) {
            let surface = &surfaces[group[0].surface];
            let cut = &surface.cuts[group[0].cut as usize];
            let mut roots: Vec<usize> = group.iter().map(|piece| sets.root(piece.member as usize)).collect();
            roots.dedup();
            if roots.len() == 1 && cut.passes != [0; 3] {
                continue;
            }
            for (i, piece) in group.iter().enumerate() {
                let root = sets.root(piece.member as usize);
                if group[..i].iter().any(|other| sets.root(other.member as usize) == root) {
                    continue;
                }
                let start = piece.from.midpoint(piece.to);
                let inward = cut.normal.cross(piece.to - piece.from);
                let met = |from, to| met(start, inward, cut.normal, from, to);
                let others = group.iter().enumerate().filter(|(j, _)| *j != i);
                let segment =
                    others.filter_map(|(_, other)| Some((met(other.from, other.to)?.0, other.member)));
                let segment = segment.min_by(|x, y| x.0.total_cmp(&y.0));
                let corners = cut.face.corners();
                let side = (0..3).filter_map(|k| Some((k, met(corners[k], corners[(k + 1) % 3])?)));
                let side = side.min_by(|x, y| x.1.0.total_cmp(&y.1.0));
                match (segment, side) {
                    (Some((far, member)), side) if side.is_none_or(|(_, (beyond, _))| far <= beyond) => {
                        sets.join(root, member as usize);
                    }
                    (_, Some((k, (_, share)))) => {
                        let corners = surface.welded_corners(cut);
                        let edge = [corners[k], corners[(k + 1) % 3]];
                        if let Some(member) = self.inside_at(surface, group[0].surface, edge, share, offsets)
                        {
                            sets.join(root, member);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Which cuts hold a loop, or segments that are not joined yet.
    fn loops_or_parts(&self, surfaces: &[Surface<'_>; 2], sets: &mut DisjointSets) -> [Vec<bool>; 2] {
        let mut roots = [0, 1].map(|k| vec![NONE; surfaces[k].cuts.len()]);
        let mut is_open = [0, 1]
            .map(|k| -> Vec<bool> { surfaces[k].cuts.iter().map(|cut| cut.passes == [0; 3]).collect() });
        for segment in &self.segments {
            let root = sets.root(segment.ends[0] as usize) as u32;
            for (surface, &cut) in segment.cuts.iter().enumerate() {
                let known = &mut roots[surface][cut as usize];
                if *known == NONE {
                    *known = root;
                } else if *known != root {
                    is_open[surface][cut as usize] = true;
                }
            }
        }
        is_open
    }

    /// What the inside part of an edge belongs to, at a share of the way from its first end.
    fn inside_at(
        &self,
        surface: &Surface<'_>,
        k: usize,
        [from, to]: [u32; 2],
        share: f64,
        offsets: [usize; 2],
    ) -> Option<usize> {
        let (edge, share) = if from < to { ([from, to], share) } else { ([to, from], 1.0 - share) };
        let mut on_edge: Vec<usize> = (0..self.all.len())
            .filter(|&i| {
                self.all[i].surface == k && self.all[i].edge.ends == edge && self.all[i].share < share
            })
            .collect();
        on_edge.sort_unstable_by(|&i, &j| self.all[i].share.total_cmp(&self.all[j].share));
        let winding = surface.winding(edge[0]) + on_edge.iter().map(|&i| self.all[i].inward).sum::<i32>();
        match on_edge.last() {
            _ if winding == 0 => None,
            Some(&last) => Some(last),
            None => surface.patch(edge[0]).map(|patch| offsets[k] + patch as usize),
        }
    }
}

/// A segment as a piece of the border of the inside part of one of its triangles.
#[derive(Debug, Clone, Copy)]
struct Piece {
    surface: usize,
    cut: u32,
    /// A crossing that it belongs to.
    member: u32,
    from: DVec3,
    to: DVec3,
}

/// On which side of the other's plane the corners of two triangles lie, and which of their sides pass through the other.
fn passes(faces: [&Face; 2]) -> ([[Sign; 3]; 2], [[bool; 3]; 2]) {
    let bodies = [Body::A, Body::B];
    let signs = [0, 1].map(|k| faces[k].corners().map(|p| faces[1 - k].side(p, bodies[k])));
    if faces.iter().all(|face| face.has_area()) {
        return (signs, passing_sides(faces, &signs));
    }
    // Nothing passes through a triangle without an area, but its own sides may pass.
    let passing = [0, 1].map(|k| {
        [0, 1, 2].map(|side| {
            let (next, corners) = ((side + 1) % 3, faces[k].corners());
            let ends = [signs[k][side], signs[k][next]];
            let edge = [corners[side], corners[next]];
            faces[1 - k].has_area() && pass(edge, ends, faces[1 - k], bodies[k]).is_some()
        })
    });
    (signs, passing)
}

/// How far along a ray in a plane the segment from p to q is met, and where on it.
fn met(start: DVec3, along: DVec3, normal: DVec3, p: DVec3, q: DVec3) -> Option<(f64, f64)> {
    let across = normal.cross(along);
    let (height_p, height_q) = (across.dot(p - start), across.dot(q - start));
    if (height_p < 0.0) == (height_q < 0.0) {
        return None;
    }
    let share = height_p / (height_p - height_q);
    let far = along.dot(p + (q - p) * share - start);
    (far > 0.0).then_some((far, share))
}
