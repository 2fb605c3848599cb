//! A piece of a solid: what is left of its surface after some cuts, and the flat caps of the cuts.
//!
//! Surface and caps are chains: polygons and directed border edges whose sum is closed. So the volume needs
//! no triangulation of the caps, nested holes need no care, and a cut only has to treat one polygon or one
//! edge at a time. Every point is on one side of a plane by the same test wherever it turns up, and the
//! crossing of an edge is computed from its ends in one order, so borders that were equal stay equal.

use glam::DVec3;
use smallvec::SmallVec;

use crate::Error;
use crate::shape::Polytope;

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

    /// Where an edge that is above at one end leaves the plane; the same for both directions of the edge.
    fn crossing(&self, p: DVec3, q: DVec3) -> DVec3 {
        if self.place(p) == Place::On {
            return p;
        }
        if self.place(q) == Place::On {
            return q;
        }
        let (p, q) = if p.to_array() < q.to_array() { (p, q) } else { (q, p) };
        let (hp, hq) = (self.height(p), self.height(q));
        p + (q - p) * (hp / (hp - hq))
    }
}

/// A convex polygon of the surface.
#[derive(Debug, Clone)]
pub(super) struct Polygon {
    pub(super) corners: SmallVec<[DVec3; 6]>,
    /// The triangle of the mesh it is a part of.
    pub(super) triangle: u32,
}

/// The section of the solid by a cut, by its border: the section lies on the left of each edge, seen from
/// above.
#[derive(Debug, Clone)]
struct Cap {
    plane: Plane,
    border: Vec<[DVec3; 2]>,
}

/// A piece of a solid.
#[derive(Debug, Clone, Default)]
pub(super) struct Piece {
    surface: Vec<Polygon>,
    caps: Vec<Cap>,
}

impl Piece {
    /// The whole solid of a closed surface.
    pub(super) fn new(surface: Vec<Polygon>) -> Piece {
        Piece { surface, caps: Vec::new() }
    }

    /// Exchanges inside and outside.
    pub(super) fn turn(&mut self) {
        for polygon in &mut self.surface {
            polygon.corners.reverse();
        }
    }

    pub(super) fn surface(&self) -> &[Polygon] {
        &self.surface
    }

    /// The planes it was cut along; the piece lies below all of them.
    pub(super) fn cuts(&self) -> impl Iterator<Item = &Plane> {
        self.caps.iter().map(|cap| &cap.plane)
    }

    /// The corners of surface and caps: the hull of these is the hull of the piece.
    pub(super) fn points(&self) -> Vec<DVec3> {
        let surface = self.surface.iter().flat_map(|polygon| polygon.corners.iter().copied());
        surface.chain(self.caps.iter().flat_map(|cap| cap.border.iter().flatten().copied())).collect()
    }

    /// The smallest convex body around the piece; `None` for an empty one.
    ///
    /// # Errors
    /// More corners than an index can name.
    pub(super) fn hull(&self) -> Result<Option<Polytope>, Error> {
        let points = self.points();
        if points.is_empty() { Ok(None) } else { Polytope::hull(&points).map(Some) }
    }

    /// The volume that the chain encloses, seen from `origin` to keep the digits.
    pub(super) fn volume(&self, origin: DVec3) -> f64 {
        let spanned = |a: DVec3, b: DVec3, c: DVec3| (a - origin).cross(b - origin).dot(c - origin);
        let mut six = 0.0;
        for Polygon { corners, .. } in &self.surface {
            six += (2..corners.len()).map(|k| spanned(corners[0], corners[k - 1], corners[k])).sum::<f64>();
        }
        for cap in &self.caps {
            let Some(&[anchor, _]) = cap.border.first() else { continue };
            six += cap.border.iter().map(|&[p, q]| spanned(anchor, p, q)).sum::<f64>();
        }
        six / 6.0
    }

    /// The part of the piece below a plane, with the new cap.
    pub(super) fn below(&self, plane: &Plane) -> Piece {
        let mut kept = Piece::default();
        let mut border = Vec::new();
        for polygon in &self.surface {
            match flat_on(plane, &polygon.corners) {
                // A flat part that bounds what is above: it cancels with the cap.
                Some(false) => border.extend(sides(&polygon.corners)),
                _ => kept.add_below(polygon, plane, &mut border),
            }
        }
        for cap in &self.caps {
            if lies_in(&cap.plane, plane, &cap.border) {
                if cap.plane.normal.dot(plane.normal) < 0.0 {
                    border.extend(cap.border.iter().copied());
                } else {
                    kept.caps.push(cap.clone());
                }
                continue;
            }
            let rest = cap.below(plane, &mut border);
            if !rest.border.is_empty() {
                kept.caps.push(rest);
            }
        }
        cancel(&mut border);
        // A cap where only degenerate contact was left bounds nothing.
        if !border.is_empty() {
            kept.caps.push(Cap { plane: *plane, border });
        }
        kept
    }

    fn add_below(&mut self, polygon: &Polygon, plane: &Plane, border: &mut Vec<[DVec3; 2]>) {
        let mut corners = SmallVec::new();
        let (mut left, mut entered) = (None, None);
        for [p, q] in sides(&polygon.corners) {
            let (from, to) = (plane.place(p) != Place::Above, plane.place(q) != Place::Above);
            if from && corners.last() != Some(&p) {
                corners.push(p);
            }
            if from != to {
                let x = plane.crossing(p, q);
                if corners.last() != Some(&x) {
                    corners.push(x);
                }
                *(if from { &mut left } else { &mut entered }) = Some(x);
            }
        }
        if corners.len() > 1 && corners.first() == corners.last() {
            corners.pop();
        }
        if let (Some(left), Some(entered)) = (left, entered)
            && left != entered
        {
            border.push([entered, left]);
        }
        if corners.len() > 2 {
            self.surface.push(Polygon { corners, triangle: polygon.triangle });
        }
    }
}

impl Cap {
    /// The part below a plane; the reverse of the edges that close it goes to the border of the new cap.
    fn below(&self, plane: &Plane, border: &mut Vec<[DVec3; 2]>) -> Cap {
        let mut kept = Vec::new();
        // Where the border leaves (+1) and enters (−1) what is below, by its place along the line of both
        // planes.
        let line = self.plane.normal.cross(plane.normal);
        let mut turns: Vec<(f64, DVec3, i32)> = Vec::new();
        for &[p, q] in &self.border {
            let (from, to) = (plane.place(p) != Place::Above, plane.place(q) != Place::Above);
            match (from, to) {
                (true, true) => kept.push([p, q]),
                (false, false) => {}
                _ => {
                    let x = plane.crossing(p, q);
                    let (edge, weight) = if from { ([p, x], 1) } else { ([x, q], -1) };
                    turns.push((line.dot(x), x, weight));
                    if edge[0] != edge[1] {
                        kept.push(edge);
                    }
                }
            }
        }
        turns.sort_by(|a, b| {
            a.0.total_cmp(&b.0).then_with(|| {
                a.1.to_array().partial_cmp(&b.1.to_array()).unwrap_or(std::cmp::Ordering::Equal)
            })
        });
        let mut open = 0;
        for pair in turns.windows(2) {
            open += pair[0].2;
            let (p, q) = (pair[0].1, pair[1].1);
            if p != q {
                for _ in 0..open.abs() {
                    let closing = if open > 0 { [p, q] } else { [q, p] };
                    kept.push(closing);
                    border.push([closing[1], closing[0]]);
                }
            }
        }
        cancel(&mut kept);
        Cap { plane: self.plane, border: kept }
    }
}

fn sides(corners: &[DVec3]) -> impl Iterator<Item = [DVec3; 2]> {
    (0..corners.len()).map(|k| [corners[k], corners[(k + 1) % corners.len()]])
}

/// For a polygon in the plane: whether its solid is below.
fn flat_on(plane: &Plane, corners: &[DVec3]) -> Option<bool> {
    let flat = corners.iter().all(|&p| plane.place(p) == Place::On);
    flat.then(|| {
        let normal: DVec3 =
            (2..corners.len()).map(|k| (corners[k - 1] - corners[0]).cross(corners[k] - corners[0])).sum();
        normal.dot(plane.normal) > 0.0
    })
}

/// Whether a cap lies in the plane of a new cut.
fn lies_in(own: &Plane, plane: &Plane, border: &[[DVec3; 2]]) -> bool {
    let straight = own.normal.cross(plane.normal).length_squared() < 0.5;
    straight && border.iter().flatten().all(|&p| plane.place(p) == Place::On)
}

/// Removes edges together with their opposites.
fn cancel(border: &mut Vec<[DVec3; 2]>) {
    // Each edge in one direction, with how often it is used that way.
    let mut directed: Vec<([f64; 3], [f64; 3], i32)> = border
        .iter()
        .map(|&[p, q]| {
            let (p, q) = (p.to_array(), q.to_array());
            if p < q { (p, q, 1) } else { (q, p, -1) }
        })
        .collect();
    directed.sort_by(|a, b| (a.0, a.1).partial_cmp(&(b.0, b.1)).unwrap_or(std::cmp::Ordering::Equal));
    border.clear();
    for same in directed.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let uses: i32 = same.iter().map(|edge| edge.2).sum();
        let (p, q) = (DVec3::from(same[0].0), DVec3::from(same[0].1));
        for _ in 0..uses.abs() {
            border.push(if uses > 0 { [p, q] } else { [q, p] });
        }
    }
}
