//! Triangles over a flat region that is given by loops, with the region on their left: ear clipping, holes joined to
//! the outline by bridges (Meisters 1975; Held 2001).
//!
//! Whatever the coordinates are, the triangles have the given loops as their border: where rounding or coinciding points
//! leave no proper ear, the flattest corner is clipped. So a surface made of such regions is closed, and its volume is
//! that of the loops, in any case.

use glam::DVec2;

use crate::num::compact_sort::sort_rarely;
use crate::num::predicate::{Sign, orient2d};

/// A corner of a loop: its name, which triangles repeat, and its place.
pub type Corner = (u32, DVec2);

/// Triangles over the region to the left of all loops, counter-clockwise.
pub fn triangulate(loops: Vec<Vec<Corner>>) -> Vec<[u32; 3]> {
    let (mut outlines, mut holes) = (Vec::new(), Vec::new());
    for corners in loops {
        let is_hole = doubled_area(&corners) < 0.0;
        (if is_hole { &mut holes } else { &mut outlines }).push(corners);
    }
    // A hole without an outline around it is nothing but rounding, and is clipped as it stands.
    let rightmost = |hole: &Vec<Corner>| hole.iter().map(|c| c.1.x).fold(f64::NEG_INFINITY, f64::max);
    sort_rarely(&mut holes, |x, y| rightmost(x).total_cmp(&rightmost(y)));
    while let Some(hole) = holes.pop() {
        // A corner may lie on the outline, where nothing is told.
        let holds = |outline: &[Corner]| hole.iter().any(|corner| winds_around(outline, corner.1));
        let around = outlines.iter().enumerate().filter(|(_, outline)| holds(outline));
        let nearest = around.min_by(|x, y| doubled_area(x.1).total_cmp(&doubled_area(y.1))).map(|(i, _)| i);
        match nearest {
            Some(i) => outlines[i] = bridge(&outlines[i], &hole, &holes),
            None => outlines.push(hole),
        }
    }
    outlines.into_iter().flat_map(clip_ears).collect()
}

fn doubled_area(corners: &[Corner]) -> f64 {
    let origin = corners[0].1;
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).map(|(p, q)| (p.1 - origin).perp_dot(q.1 - origin)).sum()
}

/// Whether a loop goes around a point, by the edges that cross the ray from it to the right.
fn winds_around(corners: &[Corner], p: DVec2) -> bool {
    let next = corners.iter().cycle().skip(1);
    let turns = corners.iter().zip(next).map(|(&(_, u), &(_, v))| match (u.y <= p.y, v.y <= p.y) {
        (true, false) => i32::from(orient2d(u, v, p) == Sign::Positive),
        (false, true) => -i32::from(orient2d(u, v, p) == Sign::Negative),
        _ => 0,
    });
    turns.sum::<i32>() != 0
}

/// An outline with a hole cut open: from a corner of the outline to the hole's rightmost corner, around, and back. The
/// corner is the nearest one that sees it past the edges of both and of the holes that come later.
fn bridge(outline: &[Corner], hole: &[Corner], later: &[Vec<Corner>]) -> Vec<Corner> {
    let right = (0..hole.len()).max_by(|&i, &j| hole[i].1.x.total_cmp(&hole[j].1.x)).unwrap_or(0);
    let from = hole[right].1;
    let mut order: Vec<usize> = (0..outline.len()).collect();
    sort_rarely(&mut order, |&i, &j| {
        outline[i].1.distance_squared(from).total_cmp(&outline[j].1.distance_squared(from))
    });
    let edges = || [outline, hole].into_iter().chain(later.iter().map(Vec::as_slice));
    let blocked = |to: DVec2| edges().any(|corners| is_crossed(corners, from, to));
    let seen = order.iter().copied().find(|&i| opens_towards(outline, i, from) && !blocked(outline[i].1));
    let at = seen.or(order.first().copied()).unwrap_or(0);
    let mut joined = Vec::with_capacity(outline.len() + hole.len() + 2);
    joined.extend_from_slice(&outline[..=at]);
    joined.extend((0..=hole.len()).map(|k| hole[(right + k) % hole.len()]));
    joined.extend_from_slice(&outline[at..]);
    joined
}

/// Whether a point lies in the wedge between the edges at a corner, on the region's side.
fn opens_towards(corners: &[Corner], i: usize, p: DVec2) -> bool {
    let n = corners.len();
    let [before, at, after] = [corners[(i + n - 1) % n].1, corners[i].1, corners[(i + 1) % n].1];
    let left_of_first = orient2d(before, at, p) == Sign::Positive;
    let left_of_second = orient2d(at, after, p) == Sign::Positive;
    match orient2d(before, at, after) {
        Sign::Negative => left_of_first || left_of_second,
        _ => left_of_first && left_of_second,
    }
}

/// Whether an edge of a loop properly crosses a segment.
fn is_crossed(corners: &[Corner], from: DVec2, to: DVec2) -> bool {
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).any(|(&(_, u), &(_, v))| {
        let splits = |a: Sign, b: Sign| a != b && !a.is_zero() && !b.is_zero();
        splits(orient2d(from, to, u), orient2d(from, to, v))
            && splits(orient2d(u, v, from), orient2d(u, v, to))
    })
}

/// Clips a loop, ear by ear.
fn clip_ears(corners: Vec<Corner>) -> Vec<[u32; 3]> {
    let n = corners.len();
    let mut ring = Ring {
        before: (0..n).map(|i| (i + n - 1) % n).collect(),
        after: (0..n).map(|i| (i + 1) % n).collect(),
        corners,
    };
    let mut triangles = Vec::with_capacity(n.saturating_sub(2));
    let (mut left, mut at, mut passed) = (n, 0, 0);
    while left > 3 {
        let ear = if ring.is_ear(at) {
            at
        } else if passed < left {
            (at, passed) = (ring.after[at], passed + 1);
            continue;
        } else {
            ring.flattest(at)
        };
        triangles.push(ring.clip(ear));
        // From the corner before, past the next one: fans become strips, with fewer needles.
        (left, at, passed) = (left - 1, ring.after[ring.after[ear]], 0);
    }
    if left == 3 {
        triangles.push([ring.before[at], at, ring.after[at]].map(|i| ring.corners[i].0));
    }
    triangles
}

/// What is left of a loop.
struct Ring {
    corners: Vec<Corner>,
    before: Vec<usize>,
    after: Vec<usize>,
}

impl Ring {
    fn place(&self, i: usize) -> DVec2 {
        self.corners[i].1
    }

    fn turn(&self, i: usize) -> Sign {
        orient2d(self.place(self.before[i]), self.place(i), self.place(self.after[i]))
    }

    /// Whether the triangle at a corner lies in the region: a left turn that holds no other corner.
    fn is_ear(&self, i: usize) -> bool {
        if self.turn(i) != Sign::Positive {
            return false;
        }
        let [a, b, c] = [self.before[i], i, self.after[i]].map(|k| self.place(k));
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let mut j = self.after[self.after[i]];
        while j != self.before[i] {
            let p = self.place(j);
            let near = p.cmpge(low).all() && p.cmple(high).all();
            if near && p != a && p != b && p != c && self.turn(j) != Sign::Positive {
                let within = |u: DVec2, v: DVec2| orient2d(u, v, p) != Sign::Negative;
                if within(a, b) && within(b, c) && within(c, a) {
                    return false;
                }
            }
            j = self.after[j];
        }
        true
    }

    /// The corner whose triangle is smallest.
    fn flattest(&self, start: usize) -> usize {
        let size = |i: usize| {
            let [a, b, c] = [self.before[i], i, self.after[i]].map(|k| self.place(k));
            (b - a).perp_dot(c - a).abs()
        };
        let (mut best, mut smallest) = (start, size(start));
        let mut i = self.after[start];
        while i != start {
            if size(i) < smallest {
                (best, smallest) = (i, size(i));
            }
            i = self.after[i];
        }
        best
    }

    /// Takes a corner away; its triangle.
    fn clip(&mut self, i: usize) -> [u32; 3] {
        let (before, after) = (self.before[i], self.after[i]);
        self.after[before] = after;
        self.before[after] = before;
        [before, i, after].map(|k| self.corners[k].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(points: &[[f64; 2]], first: u32) -> Vec<Corner> {
        (first..).zip(points.iter().map(|p| DVec2::from_array(*p))).collect()
    }

    fn areas(loops: &[Vec<Corner>], triangles: &[[u32; 3]]) -> (f64, f64) {
        let place = |name: u32| loops.iter().flatten().find(|c| c.0 == name).map(|c| c.1).unwrap();
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(place);
            0.5 * (b - a).perp_dot(c - a)
        };
        (triangles.iter().map(area).sum(), triangles.iter().map(|t| area(t).abs()).sum())
    }

    #[test]
    fn outlines_with_holes_and_spikes() {
        let comb: Vec<[f64; 2]> = (0..20)
            .map(|i| [f64::from(20 - i), if i % 2 == 0 { 3.0 } else { 0.5 }])
            .chain([[0.0, 0.0], [21.0, 0.0]])
            .collect();
        let square =
            |x: f64, y: f64, h: f64| [[x - h, y - h], [x - h, y + h], [x + h, y + h], [x + h, y - h]];
        let large = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]];
        let cases = [
            vec![ring(&comb, 0)],
            vec![ring(&large, 0), ring(&square(1.0, 1.0, 0.5), 10)],
            vec![
                ring(&large, 0),
                ring(&square(1.0, 1.0, 0.5), 10),
                ring(&square(2.5, 2.5, 0.7), 20),
                ring(&square(1.0, 3.0, 0.6), 30),
                ring(&square(3.0, 0.9, 0.8), 40),
            ],
            // Two regions, one with a hole that touches its outline.
            vec![
                ring(&large, 0),
                ring(&square(0.5, 2.0, 0.5), 10),
                ring(&square(8.0, 0.0, 1.0).map(|[x, y]| [x, -y]), 20),
            ],
        ];
        for loops in cases {
            let expected: f64 = loops.iter().map(|corners| 0.5 * doubled_area(corners)).sum();
            let holes = loops.iter().filter(|corners| doubled_area(corners) < 0.0).count();
            let triangles = triangulate(loops.clone());
            let corners: usize = loops.iter().map(Vec::len).sum();
            assert_eq!(triangles.len(), corners + 4 * holes - 2 * loops.len(), "{loops:?}");
            let (signed, absolute) = areas(&loops, &triangles);
            assert!(
                (signed - expected).abs() < 1e-12 && (absolute - expected).abs() < 1e-12,
                "{signed} {absolute}"
            );
        }
    }

    #[test]
    fn coinciding_points_keep_the_border() {
        let flat = ring(&[[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.0, 0.0]], 0);
        let triangles = triangulate(vec![flat]);
        assert_eq!(triangles.len(), 4);
        let mut edges = std::collections::BTreeMap::new();
        for t in &triangles {
            for k in 0..3 {
                *edges.entry((t[k], t[(k + 1) % 3])).or_insert(0) += 1;
                *edges.entry((t[(k + 1) % 3], t[k])).or_insert(0) -= 1;
            }
        }
        let border: Vec<_> = edges.into_iter().filter(|(_, n)| *n > 0).map(|(edge, _)| edge).collect();
        assert_eq!(border, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]);
    }
}
