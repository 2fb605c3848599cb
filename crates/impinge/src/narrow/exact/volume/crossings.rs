//! All crossings of two surfaces: the border pieces of what lies inside, and which of them belong together.

use glam::DVec3;

use super::edge_passes::{EdgePass, Numbered};
use super::surface::{NONE, Surface};
use crate::num::disjoint_sets::DisjointSets;

/// The second side of a cut triangle is crossed: from there to its end the weight of the side changes.
#[derive(Debug, Clone, Copy)]
pub struct SidePiece {
    pub cut: u32,
    pub crossing: u32,
    pub weight: i32,
}

/// An edge passes through a triangle.
#[derive(Debug, Clone, Copy)]
pub struct Crossing {
    pub surface: usize,
    pub edge: Edge,
    /// From the first end to the other.
    pub share: f64,
    pub inward: i32,
}

/// An edge of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Its number in the topology.
    pub number: u32,
    /// The places of its ends, the smaller first.
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
pub struct Crossings {
    /// By surface and edge.
    all: Vec<Crossing>,
    pub segments: Vec<Segment>,
    /// By surface.
    pub side_pieces: [Vec<SidePiece>; 2],
    /// Where each crossing is.
    pub points: Vec<DVec3>,
}

impl Crossings {
    /// All of two surfaces, given those of each, which triangles meet and which of their sides pass through the other.
    pub fn of(
        [of_a, mut of_b]: [Numbered; 2],
        meetings: &[[u32; 2]],
        passes: &[Vec<EdgePass>; 2],
    ) -> Crossings {
        of_b.shift(of_a.crossings.len() as u32);
        let segments = segments(meetings, passes, [&of_a.number_of, &of_b.number_of]);
        let (mut all, mut points) = (of_a.crossings, of_a.points);
        all.extend(of_b.crossings);
        points.extend(of_b.points);
        Crossings { all, segments, side_pieces: [of_a.side_pieces, of_b.side_pieces], points }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Which crossings and patches (behind the crossings, those of a first) border the same region.
    pub fn regions(&self, surfaces: [&Surface<'_>; 2]) -> DisjointSets {
        let offsets = [self.len(), self.len() + surfaces[0].patches.len()];
        let mut sets = DisjointSets::new(offsets[1] + surfaces[1].patches.len());
        for &Segment { ends: [first, last], .. } in &self.segments {
            sets.join(first as usize, last as usize);
        }
        let along = self.along_edges();
        for run in along.chunk_by(|&i, &j| self.share_an_edge(i, j)) {
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

    /// The crossings on an edge of a surface, given all along their edges: from one end to the other or `back`, with what
    /// the winding number grows by at each.
    pub fn on_edge<'o>(
        &'o self,
        order: &'o [usize],
        surface: usize,
        edge: Edge,
        back: bool,
    ) -> impl Iterator<Item = (u32, i32)> + 'o {
        // A triangle with two equal corners does not know the number of the edge that it lies on.
        let is_same = |one: &&Crossing| one.surface == surface && one.edge.ends == edge.ends;
        let number = match edge.number {
            NONE => self.all.iter().find(is_same).map_or(NONE, |one| one.edge.number),
            number => number,
        };
        let key = (surface, number);
        let of = |i: usize| (self.all[i].surface, self.all[i].edge.number);
        let begin = order.partition_point(|&i| of(i) < key);
        let end = begin + order[begin..].partition_point(|&i| of(i) == key);
        let run = &order[begin..end];
        let way = if back { -1 } else { 1 };
        (0..run.len()).map(move |n| {
            let i = if back { run[run.len() - 1 - n] } else { run[n] };
            (i as u32, way * self.all[i].inward)
        })
    }

    /// The crossings by surface and edge, along the edge.
    pub fn along_edges(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        for run in order.chunk_by_mut(|&i, &j| self.share_an_edge(i, j)).filter(|run| run.len() > 1) {
            run.sort_unstable_by(|&i, &j| self.all[i].share.total_cmp(&self.all[j].share).then(i.cmp(&j)));
        }
        order
    }

    #[inline]
    fn share_an_edge(&self, i: usize, j: usize) -> bool {
        let (one, other) = (&self.all[i], &self.all[j]);
        one.edge.number == other.edge.number && one.surface == other.surface
    }

    /// Joins the loops that lie within one triangle with what borders the same piece of it: the first segment or side
    /// that a ray from the loop into the piece meets.
    fn join_loops(&self, surfaces: [&Surface<'_>; 2], offsets: [usize; 2], sets: &mut DisjointSets) {
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
            let surface = surfaces[group[0].surface];
            let number = group[0].cut as usize;
            let cut = &surface.cuts[number];
            let mut roots: Vec<usize> = group.iter().map(|piece| sets.root(piece.member as usize)).collect();
            roots.dedup();
            if roots.len() == 1 && surface.passed[number].passes != [0; 3] {
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
                        let edge = [cut.corners[k], cut.corners[(k + 1) % 3]];
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
    fn loops_or_parts(&self, surfaces: [&Surface<'_>; 2], sets: &mut DisjointSets) -> [Vec<bool>; 2] {
        let mut roots = [0, 1].map(|k| vec![NONE; surfaces[k].cuts.len()]);
        let mut is_open = [0, 1].map(|k| -> Vec<bool> {
            surfaces[k].passed.iter().map(|sides| sides.passes == [0; 3]).collect()
        });
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

/// The segments in which triangles cross, in the order of the pairs, given the crossing of each pass.
fn segments(meetings: &[[u32; 2]], passes: &[Vec<EdgePass>; 2], number_of: [&[u32]; 2]) -> Vec<Segment> {
    let mut found = Vec::with_capacity(meetings.len());
    let mut left = [0, 1].map(|k| passes[k].iter().zip(number_of[k]).peekable());
    for (pair, &cuts) in meetings.iter().enumerate() {
        let mut ends = [None; 2];
        for (k, left) in left.iter_mut().enumerate() {
            while let Some((pass, &number)) = left.next_if(|(pass, _)| pass.pair as usize == pair) {
                // On the way around a's triangle the inside begins behind an end of the segment; for b's triangle
                // the segment runs the other way.
                let is_last = (pass.inward() > 0) == (k == 0);
                ends[usize::from(is_last)] = Some(number);
            }
        }
        // Also for a triangle without area, whose sides coincide there: its neighbours' segments hang on it.
        if let [Some(first), Some(last)] = ends {
            found.push(Segment { ends: [first, last], cuts });
        }
    }
    found
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
