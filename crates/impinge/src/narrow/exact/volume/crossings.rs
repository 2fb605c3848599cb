//! All crossings of two surfaces: the border pieces of what lies inside, and which of them belong together.

use std::collections::HashMap;

use glam::DVec3;

use super::perturbed_crossing::{Body, Pass, pass};
use super::surface::Surface;
use crate::num::disjoint_sets::DisjointSets;
use crate::num::hash::Mixing;

/// A piece of the border of the inside part of a cut triangle.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    /// The surface (0 or 1) and its cut.
    pub surface: usize,
    pub cut: u32,
    /// The crossing, or behind all crossings the patch, that it belongs to.
    pub member: u32,
    pub weight: i32,
    pub from: DVec3,
    pub to: DVec3,
    /// Whether it is a segment in which two triangles cross.
    is_segment: bool,
}

/// An edge passes through a triangle.
#[derive(Debug, Clone, Copy)]
struct Crossing {
    surface: usize,
    /// Its ends as welded vertices, the smaller first.
    edge: [u32; 2],
    /// From the first end to the other.
    share: f64,
    inward: i32,
}

/// Two triangles cross in a segment.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// The crossings at its ends, in the direction in which a's triangle has the inside on its left.
    ends: [u32; 2],
    /// The cut of each surface.
    cuts: [u32; 2],
}

/// Where two surfaces cross.
#[derive(Default)]
pub struct Crossings {
    all: Vec<Crossing>,
    /// By surface, triangle of the other and edge.
    number: HashMap<u128, u32, Mixing>,
    segments: Vec<Segment>,
    pub pieces: Vec<Piece>,
    /// Where each crossing is.
    pub points: Vec<DVec3>,
}

impl Crossings {
    /// Adds what two triangles that meet have in common: nothing, or a segment between two crossings.
    pub fn add(&mut self, surfaces: &mut [Surface<'_>; 2], pair: [u32; 2]) {
        let cuts = [0, 1].map(|k| surfaces[k].cut(pair[k]));
        let faces = [0, 1].map(|k| surfaces[k].cuts[cuts[k]].face);
        let mut ends = [None; 2];
        for k in [0, 1] {
            let (of, other) = ([Body::A, Body::B][k], &faces[1 - k]);
            if !other.has_area() {
                continue;
            }
            let corners = faces[k].corners;
            let sides = corners.map(|p| other.side(p, of));
            for side in 0..3 {
                let next = (side + 1) % 3;
                let ends_of_side = [sides[side], sides[next]];
                let Some(found) = pass([corners[side], corners[next]], ends_of_side, other, of) else {
                    continue;
                };
                let number = self.number(&surfaces[k], k, pair, side, &found);
                let cut = &mut surfaces[k].cuts[cuts[k]];
                cut.pass(side, found.inward);
                if side == 1 {
                    let (from, to) = (found.point, corners[2]);
                    let (member, weight) = (number, found.inward);
                    let cut = cuts[k] as u32;
                    self.pieces.push(Piece { surface: k, cut, member, weight, from, to, is_segment: false });
                }
                // On the way around a's triangle the inside begins behind an end of the segment; for b's triangle
                // the segment runs the other way.
                let is_last = (found.inward > 0) == (k == 0);
                ends[usize::from(is_last)] = Some((number, found.point));
            }
        }
        let [Some((first, from)), Some((last, to))] = ends else { return };
        // Also for a triangle without area, whose sides coincide there: its neighbours' segments hang on it.
        self.segments.push(Segment { ends: [first, last], cuts: cuts.map(|cut| cut as u32) });
        for k in [0, 1] {
            let (from, to) = if k == 0 { (from, to) } else { (to, from) };
            let cut = cuts[k] as u32;
            self.pieces.push(Piece { surface: k, cut, member: first, weight: 1, from, to, is_segment: true });
        }
    }

    /// The number of a crossing, which both triangles at the edge find.
    fn number(&mut self, surface: &Surface<'_>, k: usize, pair: [u32; 2], side: usize, found: &Pass) -> u32 {
        let corners = surface.welded(pair[k]);
        let [from, to] = [corners[side], corners[(side + 1) % 3]];
        let is_ordered = from < to;
        let edge = if is_ordered { [from, to] } else { [to, from] };
        let next = self.all.len() as u32;
        let key =
            [pair[1 - k], edge[0], edge[1]].iter().fold(k as u128, |key, &part| key << 32 | u128::from(part));
        *self.number.entry(key).or_insert_with(|| {
            let share = if is_ordered { found.share } else { 1.0 - found.share };
            let inward = if is_ordered { found.inward } else { -found.inward };
            self.all.push(Crossing { surface: k, edge, share, inward });
            self.points.push(found.point);
            next
        })
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
            let Crossing { surface: k, edge: [from, to], .. } = self.all[run[0]];
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
        for &Segment { ends: [first, last], cuts } in &self.segments {
            if first != last {
                let edge = if surface == 0 { [first, last] } else { [last, first] };
                found[cuts[surface] as usize].push(edge);
            }
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
        let of = |i: usize| (self.all[i].surface, self.all[i].edge);
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
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        order.sort_unstable_by(|&i, &j| {
            let (x, y) = (&self.all[i], &self.all[j]);
            (x.surface, x.edge).cmp(&(y.surface, y.edge)).then(x.share.total_cmp(&y.share))
        });
        order
    }

    /// Joins the loops that lie within one triangle with what borders the same piece of it: the first segment or side
    /// that a ray from the loop into the piece meets.
    fn join_loops(&self, surfaces: &[Surface<'_>; 2], offsets: [usize; 2], sets: &mut DisjointSets) {
        let mut segments: Vec<&Piece> = self.pieces.iter().filter(|piece| piece.is_segment).collect();
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
                let corners = cut.face.corners;
                let side = (0..3).filter_map(|k| Some((k, met(corners[k], corners[(k + 1) % 3])?)));
                let side = side.min_by(|x, y| x.1.0.total_cmp(&y.1.0));
                match (segment, side) {
                    (Some((far, member)), side) if side.is_none_or(|(_, (beyond, _))| far <= beyond) => {
                        sets.join(root, member as usize);
                    }
                    (_, Some((k, (_, share)))) => {
                        let corners = surface.welded(cut.triangle);
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
            .filter(|&i| self.all[i].surface == k && self.all[i].edge == edge && self.all[i].share < share)
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
