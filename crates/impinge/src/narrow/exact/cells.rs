//! One place in every cell of a triangle that other triangles cut.
//!
//! The lines that part the cells are edges that lie in the triangle's plane and the segments where a
//! triangle passes through. Each piece of such a line between two of its crossings has a cell on either
//! side, and each cell of a cut triangle lies beside such a piece; so the places just beside every
//! crossing, both ways along the line and to both sides of it, reach all cells. Some cells are reached
//! several times, and a line may be taken longer than it is: that costs time only.

use std::ops::ControlFlow;

use glam::DVec3;

use super::flag::{Direction, Flag, Spot};
use crate::geom::triangle_triangle::{Meeting, classify, upright_axis};
use crate::num::dyadic::Dyadic;
use crate::num::exact_vector::{ExactVec, cross, cross_along, dot, exact, minus, normal, plus, times};
use crate::num::predicate::{Plane, Sign, drop_axis, orient2d};

/// Visits a place just above each cell of a triangle with an area (above: along [`upright_axis`]); a
/// triangle without area has no cells.
pub(crate) fn for_each_cell(
    triangle: &[DVec3; 3],
    cutters: &[[DVec3; 3]],
    mut visit: impl FnMut(&Flag) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some(axis) = upright_axis(triangle) else { return ControlFlow::Continue(()) };
    let face = Face { triangle, axis };
    let lines = face.lines(cutters);
    let up = Direction::along(axis);
    let [a, b, c] = *triangle;
    if lines.is_empty() {
        let directions = [Direction::towards(a, b), Direction::towards(a, c), up];
        return visit(&Flag { spot: Spot::Corner(a), directions });
    }
    for (line, crossings) in lines.iter().zip(face.crossings(&lines)) {
        let along = line.direction(&face);
        let parallel = along.side_of_line(a, b, axis).is_zero();
        let beside = Direction::towards(a, if parallel { c } else { b });
        let beside = [beside.reversed(), beside];
        // Visits the cells to both sides of the line that begins at the spot; says whether it is inside.
        let mut visit_beside = |spot: &Spot, d1: &Direction| {
            let mut inside = false;
            for d2 in &beside {
                let directions = [d1.clone(), d2.clone(), up.clone()];
                let flag = Flag { spot: spot.clone(), directions };
                if flag.covered_by(triangle, axis).is_some() {
                    inside = true;
                    visit(&flag)?;
                }
            }
            ControlFlow::Continue::<(), bool>(inside)
        };
        let back = along.reversed();
        let skip = |seen: ControlFlow<(), bool>| seen.map_continue(|_| ());
        if let (LineKind::Edge(p, q), true) = (line.kind, crossings.is_empty()) {
            // An edge in one piece.
            match visit_beside(&Spot::Corner(p), &along) {
                ControlFlow::Continue(false) => skip(visit_beside(&Spot::Corner(q), &back))?,
                other => skip(other)?,
            }
            continue;
        }
        let ends = match line.kind {
            LineKind::Edge(p, q) => vec![Spot::Corner(p), Spot::Corner(q)],
            LineKind::Cut(_) => Vec::new(),
        };
        for spot in crossings.iter().chain(&ends) {
            skip(visit_beside(spot, &along))?;
            skip(visit_beside(spot, &back))?;
        }
    }
    ControlFlow::Continue(())
}

/// Where a segment passes the plane of a triangle; its ends must not both lie in that plane.
pub(crate) fn pierce(p: DVec3, q: DVec3, triangle: &[DVec3; 3]) -> Option<Spot> {
    let n = normal(triangle);
    let base = exact(triangle[0]);
    let (p, q) = (exact(p), exact(q));
    let (high, low) = (dot(&n, &minus(&p, &base)), dot(&n, &minus(&q, &base)));
    Spot::between(minus(&times(&low, &p), &times(&high, &q)), &low - &high)
}

/// Where the line ab passes the line cd, all in one plane that is not parallel to the axis.
pub(crate) fn line_crossing(a: DVec3, b: DVec3, c: DVec3, d: DVec3, axis: usize) -> Option<Spot> {
    let [a, b, c, d] = [a, b, c, d].map(exact);
    let (u, v) = (minus(&b, &a), minus(&d, &c));
    let w = cross_along(&u, &v, axis);
    let part = cross_along(&minus(&c, &a), &v, axis);
    Spot::between(plus(&times(&w, &a), &times(&part, &u)), w)
}

/// The triangle and the axis along which it is seen.
struct Face<'t> {
    triangle: &'t [DVec3; 3],
    axis: usize,
}

/// A line that parts cells, within a box.
struct Line<'t> {
    kind: LineKind<'t>,
    low: DVec3,
    high: DVec3,
}

#[derive(Clone, Copy)]
enum LineKind<'t> {
    /// An edge in the plane.
    Edge(DVec3, DVec3),
    /// Where another triangle passes through.
    Cut(&'t [DVec3; 3]),
}

impl Line<'_> {
    fn direction(&self, face: &Face<'_>) -> Direction {
        match self.kind {
            LineKind::Edge(p, q) => Direction::towards(p, q),
            LineKind::Cut(t) => Direction::exact(cross(&normal(face.triangle), &normal(t))),
        }
    }

    fn near(&self, other: &Line<'_>) -> bool {
        !(self.low.cmpgt(other.high) | other.low.cmpgt(self.high)).any()
    }
}

impl Face<'_> {
    fn side(&self, a: DVec3, b: DVec3, p: DVec3) -> Sign {
        let [a, b, p] = [a, b, p].map(|x| drop_axis(x, self.axis));
        orient2d(a, b, p)
    }

    /// The edges of the triangle as pairs of corners.
    fn edges(&self) -> [[DVec3; 2]; 3] {
        let [a, b, c] = *self.triangle;
        [[a, b], [b, c], [c, a]]
    }

    /// The lines that pass through the inside of the triangle, each edge once.
    fn lines<'c>(&self, cutters: &'c [[DVec3; 3]]) -> Vec<Line<'c>> {
        let [a, b, c] = *self.triangle;
        let plane = Plane::through(a, b, c);
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let mut lines = Vec::new();
        let mut edges: Vec<[DVec3; 2]> = Vec::new();
        for cutter in cutters {
            let [p, q, r] = *cutter;
            let flat = cutter.map(|x| plane.side(x).is_zero());
            match flat {
                [true, true, true] if upright_axis(cutter).is_some() => {
                    edges.extend([[p, q], [q, r], [r, p]]);
                }
                [true, true, false] => edges.push([p, q]),
                [false, true, true] => edges.push([q, r]),
                [true, false, true] => edges.push([r, p]),
                _ if classify(self.triangle, cutter) == Meeting::Cross => {
                    let (l, h) = (p.min(q).min(r).max(low), p.max(q).max(r).min(high));
                    lines.push(Line { kind: LineKind::Cut(cutter), low: l, high: h });
                }
                _ => {}
            }
        }
        edges.retain_mut(|edge| {
            let key = |p: DVec3| (p + DVec3::ZERO).to_array().map(f64::to_bits);
            edge.sort_by_key(|&p| key(p));
            edge[0] != edge[1] && !self.passes_by(edge)
        });
        let key = |e: &[DVec3; 2]| e.map(|p| (p + DVec3::ZERO).to_array().map(f64::to_bits));
        edges.sort_by_key(key);
        edges.dedup_by_key(|e| key(e));
        lines.extend(edges.into_iter().map(|[p, q]| Line {
            kind: LineKind::Edge(p, q),
            low: p.min(q),
            high: p.max(q),
        }));
        lines
    }

    /// Whether one of the triangle's edges has the segment on its outer side or along it.
    fn passes_by(&self, segment: &[DVec3; 2]) -> bool {
        let [a, b, c] = *self.triangle;
        let turn = self.side(a, b, c);
        self.edges()
            .iter()
            .any(|&[p, q]| segment.iter().all(|&x| self.side(p, q, x).times(turn) != Sign::Positive))
    }

    /// For each line the points where its pieces begin or end, and perhaps more; not the ends of edges.
    fn crossings(&self, lines: &[Line<'_>]) -> Vec<Vec<Spot>> {
        let mut found: Vec<Vec<Spot>> = lines.iter().map(|line| self.ends(line)).collect();
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_by(|&i, &j| lines[i].low.x.total_cmp(&lines[j].low.x));
        for (at, &i) in order.iter().enumerate() {
            let later = order[at + 1..].iter().take_while(|&&j| !(lines[j].low.x > lines[i].high.x));
            for &j in later.filter(|&&j| lines[i].near(&lines[j])) {
                let [on_i, on_j] = self.crossing(lines[i].kind, lines[j].kind);
                found[i].extend(on_i);
                found[j].extend(on_j);
            }
        }
        found
    }

    /// Where a line meets the triangle's edges, and where a cut can end; the ends of edges are left out.
    fn ends(&self, line: &Line<'_>) -> Vec<Spot> {
        let mut spots = Vec::new();
        match line.kind {
            LineKind::Edge(p, q) => {
                for [a, b] in self.edges() {
                    let (s, t) = (self.side(a, b, p), self.side(a, b, q));
                    if s.times(t) == Sign::Negative {
                        spots.extend(line_crossing(p, q, a, b, self.axis));
                    }
                }
            }
            LineKind::Cut(cutter) => {
                for (from, plane) in [(self.triangle, cutter), (cutter, self.triangle)] {
                    for i in 0..3 {
                        spots.extend(through(from[i], from[(i + 1) % 3], plane));
                    }
                }
            }
        }
        spots
    }

    /// Where two lines meet, as points of the first and of the second.
    fn crossing(&self, i: LineKind<'_>, j: LineKind<'_>) -> [Vec<Spot>; 2] {
        match (i, j) {
            (LineKind::Edge(a, b), LineKind::Edge(c, d)) => self.edges_cross([a, b], [c, d]),
            (LineKind::Edge(a, b), LineKind::Cut(t)) | (LineKind::Cut(t), LineKind::Edge(a, b)) => {
                let spots = through(a, b, t);
                [spots.clone(), spots]
            }
            (LineKind::Cut(s), LineKind::Cut(t)) => {
                let spot: Vec<Spot> = three_planes([self.triangle, s, t]).into_iter().collect();
                [spot.clone(), spot]
            }
        }
    }

    fn edges_cross(&self, [a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> [Vec<Spot>; 2] {
        let (sc, sd) = (self.side(a, b, c), self.side(a, b, d));
        let (sa, sb) = (self.side(c, d, a), self.side(c, d, b));
        let on = |p: DVec3, sign: Sign, [q, r]: [DVec3; 2]| {
            (sign.is_zero() && p != q && p != r).then_some(Spot::Corner(p))
        };
        let mut found = [
            on(c, sc, [a, b]).into_iter().chain(on(d, sd, [a, b])).collect::<Vec<_>>(),
            on(a, sa, [c, d]).into_iter().chain(on(b, sb, [c, d])).collect(),
        ];
        if sc.times(sd) == Sign::Negative && sa.times(sb) == Sign::Negative {
            let spot = line_crossing(a, b, c, d, self.axis);
            found[0].extend(spot.clone());
            found[1].extend(spot);
        }
        found
    }
}

/// Where a segment passes or touches the plane of a triangle without lying in it.
fn through(p: DVec3, q: DVec3, triangle: &[DVec3; 3]) -> Vec<Spot> {
    let plane = Plane::through(triangle[0], triangle[1], triangle[2]);
    match (plane.side(p), plane.side(q)) {
        (Sign::Zero, Sign::Zero) => Vec::new(),
        (Sign::Zero, _) => vec![Spot::Corner(p)],
        (_, Sign::Zero) => vec![Spot::Corner(q)],
        (s, t) if s == t => Vec::new(),
        _ => pierce(p, q, triangle).into_iter().collect(),
    }
}

/// The common point of three planes; `None` where there is not exactly one.
fn three_planes(triangles: [&[DVec3; 3]; 3]) -> Option<Spot> {
    let n: [ExactVec; 3] = triangles.map(normal);
    let d: [Dyadic; 3] = std::array::from_fn(|i| dot(&n[i], &exact(triangles[i][0])));
    let part = |i: usize| times(&d[i], &cross(&n[(i + 1) % 3], &n[(i + 2) % 3]));
    let w = dot(&n[0], &cross(&n[1], &n[2]));
    Spot::between(plus(&plus(&part(0), &part(1)), &part(2)), w)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    /// Straight lines through a big triangle part it into 1 + lines + crossings cells (Euler), told
    /// apart by the sides of the lines.
    #[test]
    fn every_cell_of_an_arrangement_of_lines_is_reached() {
        let mut rng = Pcg64::seed_from_u64(1);
        let big = [[-90.0, -100.0, 0.0], [100.0, -80.0, 0.0], [-3.0, 120.0, 0.0]].map(DVec3::from);
        let mut crossed = 0;
        for count in 0..6 {
            for _ in 0..20 {
                let cutters: Vec<[DVec3; 3]> = (0..count)
                    .map(|_| {
                        let mut at =
                            || DVec3::from_array(std::array::from_fn(|_| rng.random_range(-1.0..1.0)));
                        let (base, along) = (at() * 5.0, at());
                        let along = DVec3::new(along.x, along.y, 0.0).normalize() * 5000.0;
                        let up = at() * 40.0 + DVec3::Z * 1000.0;
                        [base - along - up, base + along - up, base + 5.0 * up]
                    })
                    .collect();
                let mut signs = BTreeSet::new();
                let _ = for_each_cell(&big, &cutters, |flag| {
                    let cell: Vec<Sign> = cutters.iter().map(|c| flag.side_of_plane(c)).collect();
                    signs.insert(cell);
                    ControlFlow::Continue(())
                });
                let mut crossings = 0;
                for i in 0..cutters.len() {
                    for j in 0..i {
                        let spot = three_planes([&big, &cutters[i], &cutters[j]]).unwrap();
                        let flag = Flag { spot, ..Flag::beside(DVec3::ZERO) };
                        crossings += usize::from(flag.covered_by(&big, 2).is_some());
                    }
                }
                crossed += crossings;
                assert_eq!(signs.len(), 1 + cutters.len() + crossings);
            }
        }
        assert!(crossed > 100, "{crossed}");
    }

    /// A grid of small coplanar triangles on a large one: every square half is found on its own.
    #[test]
    fn coplanar_sheets_part_the_face_along_their_edges() {
        let big = [[-50.0, -50.0, 1.0], [150.0, -50.0, 1.0], [-50.0, 150.0, 1.0]].map(DVec3::from);
        let mut small = Vec::new();
        for i in 0..5 {
            for j in 0..5 {
                let at = |x: i32, y: i32| DVec3::new(f64::from(i + x), f64::from(j + y), 1.0);
                small.extend([[at(0, 0), at(1, 0), at(1, 1)], [at(0, 0), at(1, 1), at(0, 1)]]);
            }
        }
        let mut covers = BTreeSet::new();
        let _ = for_each_cell(&big, &small, |flag| {
            let cover: Vec<usize> =
                (0..small.len()).filter(|&k| flag.covered_by(&small[k], 2).is_some()).collect();
            assert!(cover.len() < 2);
            covers.insert(cover);
            ControlFlow::Continue(())
        });
        assert_eq!(covers.len(), small.len() + 1);
    }
}
