//! One place in every cell of a triangle that other triangles cut.
//!
//! The lines that separate the cells are edges that lie in the triangle's plane and the segments where a
//! triangle passes through. Each piece of such a line between two of its crossings has a cell on either
//! side, and each cell of a cut triangle lies beside such a piece; so the places at the beginning of every
//! piece, on both sides of the line, reach all cells. Some cells are reached several times; where no piece
//! lies inside, the triangle is one cell.

use std::cell::OnceCell;
use std::ops::ControlFlow;

use glam::DVec3;
use smallvec::{SmallVec, smallvec};

use super::perturbed_point::{BasePoint, Direction, Origin, PerturbedPoint, same_corners};
use crate::geom::triangle_triangle::{TriangleRelation, classify, upright_axis};
use crate::num::compact_sort::{sort_few, sort_rarely};
use crate::num::dyadic::Dyadic;
use crate::num::exact_vector::{ExactVec, cross, cross_along, dot, exact, minus, normal, plus, times};
use crate::num::predicate::{Plane, Sign, drop_axis, orient2d};

/// As many cutters are compared with each other for copies; among more, copies cost time only.
const COMPARED: usize = 32;

/// The points where the pieces of a line may begin.
type BasePoints = SmallVec<[BasePoint; 6]>;

/// Visits a place just above each cell of a triangle with an area (above: along [`upright_axis`]); a
/// triangle without area has no cells.
pub(crate) fn for_each_cell(
    triangle: &[DVec3; 3],
    cutters: &[[DVec3; 3]],
    mut visit: impl FnMut(&PerturbedPoint) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some(axis) = upright_axis(triangle) else { return ControlFlow::Continue(()) };
    let face = Face { sheet: Sheet::of(triangle), axis };
    let cutters = sheets(cutters);
    let lines = face.lines(&cutters);
    let up = Direction::along(axis);
    let [a, b, c] = *triangle;
    let mut visited = false;
    for (line, crossings) in lines.iter().zip(face.crossings(&lines)) {
        let along = line.direction(&face);
        let parallel = along.side_of_line(a, b, axis).is_zero();
        let beside = Direction::towards(a, if parallel { c } else { b });
        let beside = [beside.reversed(), beside];
        for base in crossings {
            let [left, right] = beside.clone().map(|d2| {
                let directions = [along.clone(), d2, up.clone()];
                PerturbedPoint { base: base.clone(), directions }
            });
            if !line.runs_at(&left) {
                continue;
            }
            for place in [left, right] {
                if place.covered_by(triangle, axis).is_some() {
                    visited = true;
                    visit(&place)?;
                }
            }
        }
    }
    if visited {
        return ControlFlow::Continue(());
    }
    let directions = [Direction::towards(a, b), Direction::towards(a, c), up];
    visit(&PerturbedPoint { base: BasePoint::Corner(a), directions })
}

/// Where a segment passes the plane of a triangle; its ends must not both lie in that plane.
pub(crate) fn pierce(p: DVec3, q: DVec3, triangle: &[DVec3; 3]) -> Option<BasePoint> {
    Sheet::of(triangle).pierced(p, q)
}

/// Where the line ab passes the line cd, all in one plane that is not parallel to the axis.
pub(crate) fn line_crossing(a: DVec3, b: DVec3, c: DVec3, d: DVec3, axis: usize) -> Option<BasePoint> {
    let origin = Origin { lines: smallvec![[a, b], [c, d]], ..Origin::default() };
    let [a, b, c, d] = [a, b, c, d].map(exact);
    let (u, v) = (minus(&b, &a), minus(&d, &c));
    let w = cross_along(&u, &v, axis);
    let part = cross_along(&minus(&c, &a), &v, axis);
    BasePoint::between(plus(&times(&w, &a), &times(&part, &u)), w, origin)
}

/// A triangle with its plane, in floats and, once it is needed, exactly.
struct Sheet<'t> {
    corners: &'t [DVec3; 3],
    plane: Plane,
    /// n and n·p for the points p of the plane.
    exact: OnceCell<(ExactVec, Dyadic)>,
}

impl<'t> Sheet<'t> {
    fn of(corners: &'t [DVec3; 3]) -> Sheet<'t> {
        let plane = Plane::through(corners[0], corners[1], corners[2]);
        Sheet { corners, plane, exact: OnceCell::new() }
    }

    /// On which side of the plane a point lies; its own corners, which neighbours share, without asking.
    fn side(&self, p: DVec3) -> Sign {
        if self.corners.contains(&p) { Sign::Zero } else { self.plane.side(p) }
    }

    fn exact(&self) -> &(ExactVec, Dyadic) {
        self.exact.get_or_init(|| {
            let n = normal(self.corners);
            let level = dot(&n, &exact(self.corners[0]));
            (n, level)
        })
    }

    /// Where a segment passes the plane; its ends must not both lie in it.
    fn pierced(&self, from: DVec3, to: DVec3) -> Option<BasePoint> {
        let (n, level) = self.exact();
        let (p, q) = (exact(from), exact(to));
        let (high, low) = (&dot(n, &p) - level, &dot(n, &q) - level);
        let origin = Origin { lines: smallvec![[from, to]], planes: smallvec![*self.corners] };
        BasePoint::between(minus(&times(&low, &p), &times(&high, &q)), &low - &high, origin)
    }

    /// Where a segment passes or touches the plane without lying in it.
    fn through(&self, p: DVec3, q: DVec3) -> Option<BasePoint> {
        match (self.side(p), self.side(q)) {
            (Sign::Zero, Sign::Zero) => None,
            (Sign::Zero, _) => Some(BasePoint::Corner(p)),
            (_, Sign::Zero) => Some(BasePoint::Corner(q)),
            (s, t) if s == t => None,
            _ => self.pierced(p, q),
        }
    }
}

/// The cutters with their planes; copies, whatever their orientation, once.
fn sheets(cutters: &[[DVec3; 3]]) -> Vec<Sheet<'_>> {
    let mut kept: Vec<Sheet<'_>> = Vec::with_capacity(cutters.len());
    for cutter in cutters {
        if cutters.len() > COMPARED || !kept.iter().any(|sheet| same_corners(sheet.corners, cutter)) {
            kept.push(Sheet::of(cutter));
        }
    }
    kept
}

/// The common point of three planes; `None` where there is not exactly one.
fn three_planes(sheets: [&Sheet<'_>; 3]) -> Option<BasePoint> {
    let [(n0, d0), (n1, d1), (n2, d2)] = sheets.map(Sheet::exact);
    let [c0, c1, c2] = [cross(n1, n2), cross(n2, n0), cross(n0, n1)];
    let sum = plus(&plus(&times(d0, &c0), &times(d1, &c1)), &times(d2, &c2));
    let planes = sheets.iter().map(|sheet| *sheet.corners).collect();
    BasePoint::between(sum, dot(n0, &c0), Origin { planes, ..Origin::default() })
}

/// The triangle and the axis along which it is seen.
struct Face<'t> {
    sheet: Sheet<'t>,
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
    Cut(&'t Sheet<'t>),
}

impl Line<'_> {
    fn direction(&self, face: &Face<'_>) -> Direction {
        match self.kind {
            LineKind::Edge(p, q) => Direction::towards(p, q),
            LineKind::Cut(t) => {
                let along = cross(&face.sheet.exact().0, &t.exact().0);
                Direction::cut(along, [face.sheet.corners, t.corners])
            }
        }
    }

    /// Whether the line itself, not only what extends it, goes on from the point's base in its direction.
    fn runs_at(&self, place: &PerturbedPoint) -> bool {
        let LineKind::Cut(sheet) = self.kind else { return true };
        let Some(axis) = upright_axis(sheet.corners) else { return true };
        let [a, b, c] = *sheet.corners;
        let turn = BasePoint::Corner(c).side_of_line(a, b, axis);
        let inner = |p: DVec3, q: DVec3| place.line_side_of_line(p, q, axis).times(turn) != Sign::Negative;
        inner(a, b) && inner(b, c) && inner(c, a)
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
        let [a, b, c] = *self.sheet.corners;
        [[a, b], [b, c], [c, a]]
    }

    /// The lines that pass through the inside of the triangle, each edge once.
    fn lines<'c>(&self, cutters: &'c [Sheet<'c>]) -> Vec<Line<'c>> {
        let [a, b, c] = *self.sheet.corners;
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let mut lines = Vec::new();
        let mut edges: Vec<[DVec3; 2]> = Vec::new();
        for cutter in cutters {
            let [p, q, r] = *cutter.corners;
            let flat = [p, q, r].map(|x| self.sheet.side(x).is_zero());
            match flat {
                [true, true, true] if upright_axis(cutter.corners).is_some() => {
                    edges.extend([[p, q], [q, r], [r, p]]);
                }
                [true, true, false] => edges.push([p, q]),
                [false, true, true] => edges.push([q, r]),
                [true, false, true] => edges.push([r, p]),
                _ if classify(self.sheet.corners, cutter.corners) == TriangleRelation::Cross => {
                    let (l, h) = (p.min(q).min(r).max(low), p.max(q).max(r).min(high));
                    lines.push(Line { kind: LineKind::Cut(cutter), low: l, high: h });
                }
                _ => {}
            }
        }
        edges.retain_mut(|edge| {
            let key = |p: DVec3| (p + DVec3::ZERO).to_array().map(f64::to_bits);
            sort_few(edge, |&p, &q| key(p).cmp(&key(q)));
            edge[0] != edge[1] && !self.passes_by(edge)
        });
        let key = |e: &[DVec3; 2]| e.map(|p| (p + DVec3::ZERO).to_array().map(f64::to_bits));
        sort_rarely(&mut edges, |x, y| key(x).cmp(&key(y)));
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
        let [a, b, c] = *self.sheet.corners;
        let turn = self.side(a, b, c);
        self.edges()
            .iter()
            .any(|&[p, q]| segment.iter().all(|&x| self.side(p, q, x).times(turn) != Sign::Positive))
    }

    /// For each line the points where its pieces begin, and perhaps more.
    fn crossings(&self, lines: &[Line<'_>]) -> Vec<BasePoints> {
        let mut found: Vec<BasePoints> = lines.iter().map(|line| self.ends(line)).collect();
        let mut order: Vec<usize> = (0..lines.len()).collect();
        sort_rarely(&mut order, |&i, &j| lines[i].low.x.total_cmp(&lines[j].low.x));
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

    /// Where a line meets the triangle's edges, where an edge begins, and where a cut can begin.
    fn ends(&self, line: &Line<'_>) -> BasePoints {
        let mut bases = BasePoints::new();
        match line.kind {
            LineKind::Edge(p, q) => {
                bases.push(BasePoint::Corner(p));
                for [a, b] in self.edges() {
                    let (s, t) = (self.side(a, b, p), self.side(a, b, q));
                    if s.times(t) == Sign::Negative {
                        bases.extend(line_crossing(p, q, a, b, self.axis));
                    }
                }
            }
            LineKind::Cut(cutter) => {
                for (from, plane) in [(&self.sheet, cutter), (cutter, &self.sheet)] {
                    let [a, b, c] = *from.corners;
                    bases.extend([[a, b], [b, c], [c, a]].iter().filter_map(|&[p, q]| plane.through(p, q)));
                }
            }
        }
        bases
    }

    /// Where two lines meet, as points of the first and of the second.
    fn crossing(&self, i: LineKind<'_>, j: LineKind<'_>) -> [BasePoints; 2] {
        let both = |base: Option<BasePoint>| [base.clone().into_iter().collect(), base.into_iter().collect()];
        match (i, j) {
            (LineKind::Edge(a, b), LineKind::Edge(c, d)) => self.edges_cross([a, b], [c, d]),
            (LineKind::Edge(a, b), LineKind::Cut(t)) | (LineKind::Cut(t), LineKind::Edge(a, b)) => {
                both(t.through(a, b))
            }
            (LineKind::Cut(s), LineKind::Cut(t)) => both(three_planes([&self.sheet, s, t])),
        }
    }

    fn edges_cross(&self, [a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> [BasePoints; 2] {
        let (sc, sd) = (self.side(a, b, c), self.side(a, b, d));
        let (sa, sb) = (self.side(c, d, a), self.side(c, d, b));
        let on = |p: DVec3, sign: Sign, [q, r]: [DVec3; 2]| {
            (sign.is_zero() && p != q && p != r).then_some(BasePoint::Corner(p))
        };
        let mut found = [
            on(c, sc, [a, b]).into_iter().chain(on(d, sd, [a, b])).collect::<BasePoints>(),
            on(a, sa, [c, d]).into_iter().chain(on(b, sb, [c, d])).collect(),
        ];
        if sc.times(sd) == Sign::Negative && sa.times(sb) == Sign::Negative {
            let base = line_crossing(a, b, c, d, self.axis);
            found[0].extend(base.clone());
            found[1].extend(base);
        }
        found
    }
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
                let _ = for_each_cell(&big, &cutters, |place| {
                    let cell: Vec<Sign> = cutters.iter().map(|c| place.side_of_plane(c)).collect();
                    signs.insert(cell);
                    ControlFlow::Continue(())
                });
                let mut crossings = 0;
                let sheets = sheets(&cutters);
                for i in 0..cutters.len() {
                    for j in 0..i {
                        let base = three_planes([&Sheet::of(&big), &sheets[i], &sheets[j]]).unwrap();
                        let place = PerturbedPoint { base, ..PerturbedPoint::beside(DVec3::ZERO) };
                        crossings += usize::from(place.covered_by(&big, 2).is_some());
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
        let _ = for_each_cell(&big, &small, |place| {
            let cover: Vec<usize> =
                (0..small.len()).filter(|&k| place.covered_by(&small[k], 2).is_some()).collect();
            assert!(cover.len() < 2);
            covers.insert(cover);
            ControlFlow::Continue(())
        });
        assert_eq!(covers.len(), small.len() + 1);
    }

    /// A coplanar neighbour that touches a corner: its lines pass outside, the triangle stays one cell.
    #[test]
    fn a_triangle_that_no_line_enters_is_one_cell() {
        let face = [[0.0, 0.0, 1.0], [4.0, 1.0, 1.0], [4.0, -1.0, 1.0]].map(DVec3::from);
        let touching = [[0.0, 5.0, 1.0], [0.0, -5.0, 1.0], [-3.0, 0.0, 1.0]].map(DVec3::from);
        let upright = [[0.0, 0.0, 1.0], [-1.0, 1.0, 9.0], [-1.0, 0.0, -9.0]].map(DVec3::from);
        for cutters in [vec![], vec![touching], vec![upright], vec![touching, upright]] {
            let mut places = 0;
            let _ = for_each_cell(&face, &cutters, |place| {
                assert!(place.covered_by(&face, 2).is_some());
                places += 1;
                ControlFlow::Continue(())
            });
            assert_eq!(places, 1);
        }
    }

    /// Copies of a cutter, in either orientation, add no place.
    #[test]
    fn copies_of_a_cutter_part_nothing_more() {
        let face = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.5], [0.0, 4.0, 0.25]].map(DVec3::from);
        let [p, q, r] = [[1.0, 0.5, -2.0], [0.5, 1.0, 3.0], [9.0, 9.0, 1.0]].map(DVec3::from);
        let places = |cutters: &[[DVec3; 3]]| {
            let mut places = 0;
            let _ = for_each_cell(&face, cutters, |_| {
                places += 1;
                ControlFlow::Continue(())
            });
            places
        };
        assert_eq!(places(&[[p, q, r]]), 2);
        assert_eq!(places(&[[p, q, r], [q, p, r], [r, p, q], [r, q, p]]), 2);
    }
}
