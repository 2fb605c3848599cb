//! A piece of a solid: what is left of its surface after some cuts, and the flat caps of the cuts.
//!
//! Surface and caps are chains: polygons and directed border edges whose sum is closed. So the volume needs
//! no triangulation of the caps, nested holes need no care, and a cut only has to treat one polygon or one
//! edge at a time. Both refer to common points by number, so a polygon takes some 20 bytes and a plane is asked once for
//! each point. Every point is on one side of a plane by the same test wherever it turns up, and the
//! crossing of an edge is computed from its ends in one order, so borders that were equal stay equal.

mod apart;

use std::ops::Range;

use glam::DVec3;

use crate::Mesh;
use crate::num::each::Each;
use crate::num::tolerance::SAME_CUT_SQ;
use crate::shape::hull::ascending;
use crate::shape::{Outline, Polytope};

/// A plane: the points with `normal · x = offset`, of unit normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Plane {
    pub(super) normal: DVec3,
    pub(super) offset: f64,
    /// Points at most so far away lie on it.
    pub(super) slack: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Below,
    On,
    Above,
}

impl Plane {
    /// The same plane with below and above exchanged.
    pub(super) fn turned(self) -> Plane {
        Plane { normal: -self.normal, offset: -self.offset, slack: self.slack }
    }

    pub(super) fn height(&self, p: DVec3) -> f64 {
        self.normal.dot(p) - self.offset
    }

    fn place(&self, p: DVec3) -> Place {
        match self.height(p) {
            h if h > self.slack => Place::Above,
            h if h < -self.slack => Place::Below,
            _ => Place::On,
        }
    }

    /// Where an edge with its ends on both sides meets the plane; the same for both directions of the edge.
    fn crossing(&self, p: DVec3, q: DVec3) -> DVec3 {
        let (p, q) = if p.to_array() < q.to_array() { (p, q) } else { (q, p) };
        let (hp, hq) = (self.height(p), self.height(q));
        // −0 and 0 are one coordinate.
        p + (q - p) * (hp / (hp - hq)) + DVec3::ZERO
    }
}

/// The section of the solid by a cut, by its border: the section lies on the left of each edge, seen from
/// above.
#[derive(Debug, Clone)]
struct Cap {
    plane: Plane,
    border: Vec<[u32; 2]>,
}

/// A piece of a solid: convex polygons and caps over common points.
#[derive(Debug, Clone, Default)]
pub(super) struct Piece {
    /// The corners of surface and caps: in ascending order of coordinates, no two equal, none unused.
    points: Vec<DVec3>,
    /// The corners of all polygons, one after the other.
    corners: Vec<u32>,
    /// Where the corners of each polygon end.
    ends: Vec<u32>,
    /// The triangle of the mesh that each polygon is a part of.
    triangles: Vec<u32>,
    caps: Vec<Cap>,
}

impl Piece {
    /// The whole solid of a closed surface.
    pub(super) fn whole(mesh: &Mesh, triangles: Vec<u32>) -> Piece {
        let mut order: Vec<u32> = triangles.iter().flat_map(|&t| mesh.triangles()[t as usize]).collect();
        order.sort_unstable();
        order.dedup();
        // −0 and 0 are one coordinate.
        let mut places: Vec<(DVec3, u32)> =
            order.iter().map(|&v| mesh.vertices()[v as usize] + DVec3::ZERO).zip(0..).collect();
        places.sort_unstable_by(|(p, _), (q, _)| ascending(p, q));
        let mut number = vec![0; order.len()];
        let mut points: Vec<DVec3> = Vec::with_capacity(order.len());
        for (p, from) in places {
            if points.last() != Some(&p) {
                points.push(p);
            }
            number[from as usize] = points.len() as u32 - 1;
        }
        points.shrink_to_fit();
        let of = |v: &u32| number[order.binary_search(v).unwrap_or(0)];
        let corners =
            triangles.iter().flat_map(|&t| mesh.triangles()[t as usize].each_ref().map(of)).collect();
        let ends = (1..=triangles.len() as u32).map(|k| 3 * k).collect();
        Piece { points, corners, ends, triangles, caps: Vec::new() }
    }

    /// Exchanges inside and outside.
    pub(super) fn turn(&mut self) {
        for k in 0..self.ends.len() {
            let range = self.range(k);
            self.corners[range].reverse();
        }
    }

    /// What is left of a piece that is not cut again: the triangles that its surface is a part of.
    pub(super) fn finished(triangles: Vec<u32>) -> Piece {
        Piece { triangles, ..Piece::default() }
    }

    /// The triangles of the mesh that its surface is a part of.
    pub(super) fn triangles(&self) -> &[u32] {
        &self.triangles
    }

    /// The area and the triangle of each polygon.
    pub(super) fn areas(&self) -> impl Iterator<Item = (f64, u32)> {
        self.polygons()
            .zip(&self.triangles)
            .map(|(corners, &triangle)| (self.span(corners).length(), triangle))
    }

    /// The planes it was cut along; the piece lies below all of them.
    pub(super) fn cuts(&self) -> impl Iterator<Item = &Plane> {
        self.caps.iter().map(|cap| &cap.plane)
    }

    /// The corners of surface and caps in ascending order: the hull of these is the hull of the piece.
    pub(super) fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// The smallest convex body around the piece; `None` for an empty one.
    pub(super) fn hull(&self) -> Option<Outline> {
        (!self.points.is_empty()).then(|| Outline::of_ascending(&self.points))
    }

    /// By how much the volume of the hull exceeds that of the piece; `None` for an empty one.
    pub(super) fn excess(&self) -> Option<f64> {
        let [low, high] = [self.points.first()?, self.points.last()?];
        let origin = low.midpoint(*high);
        Some(Polytope::volume_of_ascending(&self.points, origin) - self.volume(origin))
    }

    /// The volume that the chain encloses, seen from `origin` to keep the digits.
    pub(super) fn volume(&self, origin: DVec3) -> f64 {
        let mut six = self.polygons().map(|corners| self.pyramids(corners, origin)).sum::<f64>();
        for cap in &self.caps {
            let Some(&[anchor, _]) = cap.border.first() else { continue };
            six += cap.border.iter().map(|&edge| self.pyramid(anchor, edge, origin)).sum::<f64>();
        }
        six / 6.0
    }

    /// Six times the volume of the pyramids over a polygon.
    fn pyramids(&self, corners: &[u32], origin: DVec3) -> f64 {
        (2..corners.len()).map(|k| self.pyramid(corners[0], [corners[k - 1], corners[k]], origin)).sum()
    }

    /// Six times the volume of the pyramid over a triangle.
    fn pyramid(&self, a: u32, [b, c]: [u32; 2], origin: DVec3) -> f64 {
        let [a, b, c] = [a, b, c].each(|v| self.points[v as usize] - origin);
        a.cross(b).dot(c)
    }

    /// The part of the piece below a plane, with the new cap.
    pub(super) fn below(&self, plane: &Plane) -> Piece {
        let places: Vec<Place> = self.points.iter().map(|&p| plane.place(p)).collect();
        let mut cut = Cut { whole: self, plane, places, fresh: Vec::new(), border: Vec::new() };
        let mut kept = cut.room();
        for k in 0..self.ends.len() {
            let corners = &self.corners[self.range(k)];
            match cut.flat_on(corners) {
                // A flat part that bounds what is above: it cancels with the cap.
                Some(false) => cut.border.extend(sides(corners)),
                _ => cut.add_below(corners, self.triangles[k], &mut kept),
            }
        }
        for cap in &self.caps {
            if cut.holds(cap) {
                if cap.plane.normal.dot(plane.normal) < 0.0 {
                    cut.border.extend(cap.border.iter().copied());
                } else {
                    kept.caps.push(cap.clone());
                }
                continue;
            }
            let rest = cut.cap_below(cap);
            if !rest.border.is_empty() {
                kept.caps.push(rest);
            }
        }
        let mut border = std::mem::take(&mut cut.border);
        cut.cancel(&mut border);
        // A cap where only degenerate contact was left bounds nothing.
        if !border.is_empty() {
            kept.caps.push(Cap { plane: *plane, border });
        }
        cut.number(&mut kept);
        kept
    }

    fn range(&self, polygon: usize) -> Range<usize> {
        let first = polygon.checked_sub(1).map_or(0, |before| self.ends[before]);
        first as usize..self.ends[polygon] as usize
    }

    fn polygons(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.ends.len()).map(|k| &self.corners[self.range(k)])
    }

    /// Twice the area of a polygon, along its normal.
    fn span(&self, corners: &[u32]) -> DVec3 {
        let at = |k: usize| self.points[corners[k] as usize];
        (2..corners.len()).map(|k| (at(k - 1) - at(0)).cross(at(k) - at(0))).sum()
    }
}

/// A cut while it is made. Points beyond those of the whole piece are the fresh ones, which may be equal to others
/// until they are numbered.
struct Cut<'w> {
    whole: &'w Piece,
    plane: &'w Plane,
    /// Of the points of the whole piece.
    places: Vec<Place>,
    fresh: Vec<DVec3>,
    /// Of the new cap.
    border: Vec<[u32; 2]>,
}

impl Cut<'_> {
    fn at(&self, point: u32) -> DVec3 {
        let known = self.places.len();
        match (point as usize).checked_sub(known) {
            None => self.whole.points[point as usize],
            Some(fresh) => self.fresh[fresh],
        }
    }

    fn is_same(&self, p: u32, q: u32) -> bool {
        p == q || self.at(p) == self.at(q)
    }

    fn is_kept(&self, point: u32) -> bool {
        self.places[point as usize] != Place::Above
    }

    /// An empty piece with room for the polygons that are left.
    fn room(&self) -> Piece {
        let (mut polygons, mut corners) = (0, 0);
        for polygon in self.whole.polygons() {
            let kept = polygon.iter().filter(|&&p| self.is_kept(p)).count();
            polygons += usize::from(kept > 0);
            // One side that crosses replaces what is above by two corners.
            corners += if kept == polygon.len() || kept == 0 { kept } else { kept + 2 };
        }
        Piece {
            corners: Vec::with_capacity(corners),
            ends: Vec::with_capacity(polygons),
            triangles: Vec::with_capacity(polygons),
            ..Piece::default()
        }
    }

    /// Where an edge that is above at one end leaves the plane.
    fn crossing(&mut self, p: u32, q: u32) -> u32 {
        if self.places[p as usize] == Place::On {
            return p;
        }
        if self.places[q as usize] == Place::On {
            return q;
        }
        self.fresh.push(self.plane.crossing(self.at(p), self.at(q)));
        (self.places.len() + self.fresh.len() - 1) as u32
    }

    /// For a polygon in the plane: whether its solid is below.
    fn flat_on(&self, corners: &[u32]) -> Option<bool> {
        let flat = corners.iter().all(|&p| self.places[p as usize] == Place::On);
        flat.then(|| self.whole.span(corners).dot(self.plane.normal) > 0.0)
    }

    /// Whether an earlier cap lies in the plane.
    fn holds(&self, cap: &Cap) -> bool {
        let parallel = cap.plane.normal.cross(self.plane.normal).length_squared() < SAME_CUT_SQ;
        parallel && cap.border.iter().flatten().all(|&p| self.places[p as usize] == Place::On)
    }

    fn add_below(&mut self, polygon: &[u32], triangle: u32, kept: &mut Piece) {
        let first = kept.corners.len();
        let (mut left, mut entered) = (None, None);
        for [p, q] in sides(polygon) {
            let (from, to) = (self.is_kept(p), self.is_kept(q));
            if from {
                self.push(p, first, kept);
            }
            if from != to {
                let x = self.crossing(p, q);
                self.push(x, first, kept);
                *(if from { &mut left } else { &mut entered }) = Some(x);
            }
        }
        if kept.corners.len() > first + 1
            && let Some(&last) = kept.corners.last()
            && self.is_same(kept.corners[first], last)
        {
            kept.corners.pop();
        }
        if let (Some(left), Some(entered)) = (left, entered)
            && !self.is_same(left, entered)
        {
            self.border.push([entered, left]);
        }
        if kept.corners.len() > first + 2 {
            kept.ends.push(kept.corners.len() as u32);
            kept.triangles.push(triangle);
        } else {
            kept.corners.truncate(first);
        }
    }

    /// Adds a corner to the polygon that begins at `first`, once.
    fn push(&self, point: u32, first: usize, kept: &mut Piece) {
        let last = kept.corners[first..].last();
        if last.is_none_or(|&last| !self.is_same(last, point)) {
            kept.corners.push(point);
        }
    }

    /// The part of a cap below the plane; the reverse of the edges that close it goes to the border of the new cap.
    fn cap_below(&mut self, cap: &Cap) -> Cap {
        let mut kept = Vec::with_capacity(cap.border.len());
        // Where the border leaves (+1) and enters (−1) what is below, by its place along the line of both
        // planes.
        let line = cap.plane.normal.cross(self.plane.normal);
        let mut turns: Vec<(f64, u32, i32)> = Vec::new();
        for &[p, q] in &cap.border {
            let (from, to) = (self.is_kept(p), self.is_kept(q));
            match (from, to) {
                (true, true) => kept.push([p, q]),
                (false, false) => {}
                _ => {
                    let x = self.crossing(p, q);
                    let (edge, weight) = if from { ([p, x], 1) } else { ([x, q], -1) };
                    turns.push((line.dot(self.at(x)), x, weight));
                    if !self.is_same(edge[0], edge[1]) {
                        kept.push(edge);
                    }
                }
            }
        }
        turns.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| ascending(&self.at(a.1), &self.at(b.1))));
        let mut open = 0;
        for pair in turns.windows(2) {
            open += pair[0].2;
            let (p, q) = (pair[0].1, pair[1].1);
            if !self.is_same(p, q) {
                for _ in 0..open.abs() {
                    let closing = if open > 0 { [p, q] } else { [q, p] };
                    kept.push(closing);
                    self.border.push([closing[1], closing[0]]);
                }
            }
        }
        self.cancel(&mut kept);
        Cap { plane: cap.plane, border: kept }
    }

    /// Removes edges together with their opposites.
    fn cancel(&self, border: &mut Vec<[u32; 2]>) {
        // Each edge in one direction, with how often it is used that way.
        let mut directed: Vec<([u32; 2], i32)> = border
            .iter()
            .map(
                |&[p, q]| {
                    if ascending(&self.at(p), &self.at(q)).is_lt() { ([p, q], 1) } else { ([q, p], -1) }
                },
            )
            .collect();
        let order = |a: &[u32; 2], b: &[u32; 2]| {
            let by = |k: usize| ascending(&self.at(a[k]), &self.at(b[k]));
            by(0).then_with(|| by(1))
        };
        directed.sort_by(|a, b| order(&a.0, &b.0));
        border.clear();
        for same in directed.chunk_by(|a, b| order(&a.0, &b.0).is_eq()) {
            let uses: i32 = same.iter().map(|edge| edge.1).sum();
            let [p, q] = same[0].0;
            for _ in 0..uses.abs() {
                border.push(if uses > 0 { [p, q] } else { [q, p] });
            }
        }
    }

    /// Gives what was kept its own points.
    fn number(&self, kept: &mut Piece) {
        let known = self.places.len();
        let mut number = vec![UNUSED; known + self.fresh.len()];
        let borders = kept.caps.iter().flat_map(|cap| cap.border.iter().flatten());
        for &point in kept.corners.iter().chain(borders) {
            number[point as usize] = 0;
        }
        let used = |point: &u32| number[*point as usize] != UNUSED;
        let mut fresh: Vec<u32> = (known as u32..number.len() as u32).filter(used).collect();
        fresh.sort_unstable_by(|&p, &q| ascending(&self.at(p), &self.at(q)));
        let count = number[..known].iter().filter(|&&state| state != UNUSED).count();
        let mut points: Vec<DVec3> = Vec::with_capacity(count + fresh.len());
        let mut fresh = fresh.into_iter().peekable();
        let mut take = |point: u32, number: &mut [u32]| {
            let p = self.at(point);
            if points.last() != Some(&p) {
                points.push(p);
            }
            number[point as usize] = points.len() as u32 - 1;
        };
        for point in 0..known as u32 {
            if number[point as usize] == UNUSED {
                continue;
            }
            while let Some(new) = fresh.next_if(|&new| ascending(&self.at(new), &self.at(point)).is_lt()) {
                take(new, &mut number);
            }
            take(point, &mut number);
        }
        for new in fresh {
            take(new, &mut number);
        }
        for point in kept
            .corners
            .iter_mut()
            .chain(kept.caps.iter_mut().flat_map(|cap| cap.border.iter_mut().flatten()))
        {
            *point = number[*point as usize];
        }
        kept.points = points;
    }
}

/// Of points that nothing of a piece refers to.
const UNUSED: u32 = u32::MAX;

fn sides(corners: &[u32]) -> impl Iterator<Item = [u32; 2]> {
    (0..corners.len()).map(|k| [corners[k], corners[(k + 1) % corners.len()]])
}
