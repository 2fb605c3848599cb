//! Which edges of two surfaces pass through which triangles of the other: found pair by pair of triangles that meet, and
//! numbered so that an edge passes through a triangle once, however many triangles share the edge.
//!
//! Pairs are independent of each other, and so are the surfaces when their edges are numbered; what is found is put
//! together in the order of the pairs, so that the number of threads changes nothing.

use glam::DVec3;

use super::crossings::{Crossing, SidePiece};
use super::cut::Cut;
use super::perturbed_crossing::{Body, Face, Pass, pass, passing_sides};
use super::surface::NONE;
use crate::num::predicate::Sign;
use crate::num::stages;

/// Pairs of triangles that are looked at in a row.
const CHUNK: usize = 256;

/// The cuts of a and of b that meet, ascending, given those of each in any common order.
pub fn meetings(of_a: &[u32], of_b: &[u32]) -> Vec<[u32; 2]> {
    let cuts = of_a.iter().max().map_or(0, |&last| last as usize + 1);
    // Where the pairs of each cut of a end, once they are placed.
    let mut ends = vec![0; cuts + 1];
    of_a.iter().for_each(|&cut| ends[cut as usize + 1] += 1);
    let mut before = 0;
    for end in &mut ends {
        before += *end;
        *end = before;
    }
    let mut all = vec![[0; 2]; of_a.len()];
    for (&a, &b) in of_a.iter().zip(of_b) {
        let end: &mut usize = &mut ends[a as usize];
        all[*end] = [a, b];
        *end += 1;
    }
    let mut begin = 0;
    for &end in &ends[..cuts] {
        all[begin..end].sort_unstable();
        begin = end;
    }
    all
}

/// A side of a cut triangle passes through a triangle of the other surface.
#[derive(Debug, Clone, Copy)]
pub struct EdgePass {
    /// The pair of triangles that it belongs to.
    pub pair: u32,
    side: u8,
    /// On which side of the other triangle's plane the side begins.
    begins: Sign,
}

impl EdgePass {
    #[inline]
    pub fn side(&self) -> usize {
        usize::from(self.side)
    }

    /// 1 where it goes in, −1 where it goes out.
    #[inline]
    pub fn inward(&self) -> i32 {
        if self.begins == Sign::Positive { 1 } else { -1 }
    }
}

/// How the triangles of some pairs pass through each other, in the order of the pairs.
#[derive(Default)]
pub struct Passes {
    /// Of the edges of each surface.
    pub edges: [Vec<EdgePass>; 2],
    /// The pairs that lie in one plane.
    pub in_plane: Vec<u32>,
}

impl Passes {
    fn with_capacity(pairs: usize) -> Passes {
        // As a rule two sides pass, of one triangle or of both.
        Passes { edges: [0, 1].map(|_| Vec::with_capacity(pairs)), in_plane: Vec::new() }
    }
}

/// All passes, given the cuts that meet.
pub fn edge_passes(cuts: [&[Cut]; 2], meetings: &[[u32; 2]]) -> Passes {
    let count = meetings.len();
    let chunk = |n: usize| {
        let mut found = Passes::with_capacity(CHUNK);
        for pair in n * CHUNK..count.min((n + 1) * CHUNK) {
            add_passes(cuts, meetings, pair, &mut found);
        }
        found
    };
    if count <= CHUNK {
        return chunk(0);
    }
    let mut all = Passes::with_capacity(count);
    for found in stages::map(count.div_ceil(CHUNK), chunk) {
        all.edges.iter_mut().zip(found.edges).for_each(|(all, found)| all.extend(found));
        all.in_plane.extend(found.in_plane);
    }
    all
}

fn add_passes(cuts: [&[Cut]; 2], meetings: &[[u32; 2]], pair: usize, found: &mut Passes) {
    let cuts = [0, 1].map(|k| &cuts[k][meetings[pair][k] as usize]);
    let (signs, passing) = passes(cuts.map(|cut| &cut.face));
    if signs.iter().all(|[x, y, z]| x == y && y == z) {
        let [a, b] = cuts.map(|cut| &cut.face);
        if a.has_area() && b.has_area() && a.shares_its_plane(b) {
            found.in_plane.push(pair as u32);
        }
    }
    // As a rule two of the six.
    let mut left = (0..6).fold(0_u8, |set, n| set | u8::from(passing[n / 3][n % 3]) << n);
    while left != 0 {
        let n = left.trailing_zeros() as usize;
        left &= left - 1;
        let (k, side) = (n / 3, n % 3);
        if cuts[k].edges[side] != NONE {
            found.edges[k].push(EdgePass { pair: pair as u32, side: side as u8, begins: signs[k][side] });
        }
    }
}

/// On which side of the other's plane the corners of two triangles lie, and which of their sides pass through the other.
#[inline]
fn passes(faces: [&Face; 2]) -> ([[Sign; 3]; 2], [[bool; 3]; 2]) {
    let bodies = [Body::A, Body::B];
    let signs = [0, 1].map(|k| faces[1 - k].sides(faces[k].corners(), bodies[k]));
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

/// The crossings of the edges of one surface, by edge, counted from 0.
#[derive(Default)]
pub struct Numbered {
    pub crossings: Vec<Crossing>,
    /// Where each is.
    pub points: Vec<DVec3>,
    /// The crossing of each pass.
    pub number_of: Vec<u32>,
    pub side_pieces: Vec<SidePiece>,
}

impl Numbered {
    /// Those of a surface (0 or 1), given its passes. All triangles at an edge find the same crossing.
    pub fn of(k: usize, cuts: [&[Cut]; 2], meetings: &[[u32; 2]], passes: &[EdgePass]) -> Numbered {
        let cut_of = |pass: &EdgePass| meetings[pass.pair as usize][k];
        let other_of = |n: u64| meetings[passes[n as u32 as usize].pair as usize][1 - k];
        let edge_of = |pass: &EdgePass| cuts[k][cut_of(pass) as usize].edges[pass.side()];
        let mut order: Vec<u64> =
            (0..).zip(passes).map(|(n, pass)| u64::from(edge_of(pass)) << 32 | n).collect();
        order.sort_unstable();
        // Few pass at one edge.
        for at_edge in order.chunk_by_mut(|x, y| x >> 32 == y >> 32).filter(|passes| passes.len() > 2) {
            at_edge.sort_unstable_by_key(|&n| (other_of(n), n));
        }
        let mut all = Numbered { number_of: vec![0; passes.len()], ..Numbered::default() };
        all.crossings.reserve(passes.len() / 2 + 1);
        all.points.reserve(passes.len() / 2 + 1);
        for same in order.chunk_by(|x, y| x >> 32 == y >> 32 && other_of(*x) == other_of(*y)) {
            let number = all.crossings.len() as u32;
            same.iter().for_each(|&key| all.number_of[key as u32 as usize] = number);
            let first = &passes[same[0] as u32 as usize];
            let other = &cuts[1 - k][meetings[first.pair as usize][1 - k] as usize];
            let (cut, side) = (&cuts[k][cut_of(first) as usize], first.side());
            let (edge, is_ordered) = cut.edge(side);
            let corners = cut.face.corners();
            let ends = [corners[side], corners[(side + 1) % 3]];
            let Pass { inward, point, share } = Pass::at(ends, first.begins, &other.face);
            let (share, inward) = if is_ordered { (share, inward) } else { (1.0 - share, -inward) };
            all.crossings.push(Crossing { surface: k, edge, share, inward });
            all.points.push(point);
        }
        for (pass, &crossing) in passes.iter().zip(&all.number_of).filter(|(pass, _)| pass.side == 1) {
            all.side_pieces.push(SidePiece { cut: cut_of(pass), crossing, weight: pass.inward() });
        }
        all
    }

    /// The same, counted from elsewhere.
    pub fn shift(&mut self, by: u32) {
        self.number_of.iter_mut().for_each(|number| *number += by);
        self.side_pieces.iter_mut().for_each(|piece| piece.crossing += by);
    }
}

#[cfg(test)]
mod tests {
    use super::meetings;

    #[test]
    fn meetings_are_sorted_whatever_their_order_was() {
        let sorted: Vec<[u32; 2]> = (0..40).flat_map(|a| (a % 3..a % 5 + 2).map(move |b| [a, b])).collect();
        // No divisors of how many there are, so that each comes once.
        for step in [1, 7, 31] {
            let mixed: Vec<[u32; 2]> = (0..sorted.len()).map(|n| sorted[n * step % sorted.len()]).collect();
            let [of_a, of_b] = [0, 1].map(|k| mixed.iter().map(|pair| pair[k]).collect::<Vec<u32>>());
            assert_eq!(meetings(&of_a, &of_b), sorted);
        }
        assert!(meetings(&[], &[]).is_empty());
    }
}
