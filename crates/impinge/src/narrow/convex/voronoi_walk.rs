//! The walk between Voronoi regions (Lin and Canny, "A fast algorithm for incremental distance
//! calculation", 1991; Mirtich, "V-Clip", 1998).
//!
//! A pair of features is the nearest one when each holds the other's nearest point in its Voronoi region.
//! A wall that is violated leads to a neighbour that is strictly nearer. As in V-Clip, an edge that dips
//! below a face is clipped by the face's walls, so that no pair of two faces, or of a face and an edge, is
//! ever a state.
//!
//! Where we leave the papers: a step counts only when the distance became smaller in floats, so the walk
//! cannot cycle. Where it does not, or where a point lies under a face, the walk stops and says so.

use glam::DVec3;

use super::polytope_pair::PolytopePair;
use crate::num::double_double::triangle_normal;
use crate::num::tolerance::{ALONG_THE_EDGE, NEARLY_PARALLEL};
use crate::shape::{NO_FACE, Polytope};

/// A pair of features; `a` says whether the larger of two different ones belongs to a.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FeaturePair {
    /// A corner of each.
    Vertices { a: u32, b: u32 },
    /// An edge of one, a corner of the other.
    EdgeVertex { a: bool, edge: u32, vertex: u32 },
    /// A face of one, a corner of the other.
    FaceVertex { a: bool, face: u32, vertex: u32 },
    /// An edge of each.
    Edges { a: u32, b: u32 },
}

impl FeaturePair {
    /// Whether both polytopes have these features.
    #[inline]
    pub fn fits(self, a: &Polytope, b: &Polytope) -> bool {
        let of = |is_a: bool| if is_a { (a, b) } else { (b, a) };
        match self {
            FeaturePair::Vertices { a: i, b: j } => {
                (i as usize) < a.vertices().len() && (j as usize) < b.vertices().len()
            }
            FeaturePair::Edges { a: i, b: j } => {
                (i as usize) < a.edges().len() && (j as usize) < b.edges().len()
            }
            FeaturePair::EdgeVertex { a, edge, vertex } => {
                let (own, other) = of(a);
                (edge as usize) < own.edges().len() && (vertex as usize) < other.vertices().len()
            }
            FeaturePair::FaceVertex { a, face, vertex } => {
                let (own, other) = of(a);
                (face as usize) < own.faces().len() && (vertex as usize) < other.vertices().len()
            }
        }
    }
}

/// Where a walk ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    /// The features.
    pub pair: FeaturePair,
    /// From a to b in a's frame, of any length. It is the vector that the walls were tried with, so that a
    /// tiny gap has a normal that parts the bodies all the same.
    pub across: DVec3,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Arrival {
    /// Both points lie in the regions: the nearest features, and the bodies are apart.
    Nearest(Near),
    /// No wall could be told to be right any more; the pair is nearest up to rounding, or nearly so.
    Stalled(Near),
    /// The bodies seem to meet.
    Meeting,
}

enum Step {
    /// Nothing is nearer; from this body to the other.
    Stay(DVec3),
    Stall(DVec3),
    To(FeaturePair),
    Meet,
    /// A corner of the other lies under a face of a (or else b), between its walls.
    Under {
        a: bool,
        vertex: u32,
    },
}

/// Escapes from under a face that a walk may make. Each one goes to the face that the corner is highest
/// over; a walk from the features of a moment ago needs none.
const ESCAPES: u32 = 4;

/// Walks from a pair of features; counts its steps.
#[inline]
pub(super) fn walk(from_a: &PolytopePair<'_>, start: FeaturePair, steps: &mut u64) -> Arrival {
    let from_b = from_a.swapped();
    let mut walk = Walk { from_a, from_b: &from_b, nearest_sq: f64::INFINITY };
    let (mut pair, mut escapes) = (start, 0);
    loop {
        *steps += 1;
        let (view, of_a) = match pair {
            FeaturePair::Vertices { .. } | FeaturePair::Edges { .. } => (from_a, true),
            FeaturePair::EdgeVertex { a, .. } | FeaturePair::FaceVertex { a, .. } => {
                (if a { from_a } else { &from_b }, a)
            }
        };
        let in_a = |across: DVec3| if of_a { across } else { from_b.back(-across) };
        let step = match pair {
            FeaturePair::Vertices { a, b } => walk.vertices(a, b),
            FeaturePair::EdgeVertex { edge, vertex, .. } => walk.edge_vertex(view, of_a, edge, vertex),
            FeaturePair::FaceVertex { face, vertex, .. } => walk.face_vertex(view, of_a, face, vertex),
            FeaturePair::Edges { a, b } => walk.edges(a, b),
        };
        match step {
            Step::Stay(across) => return Arrival::Nearest(Near { pair, across: in_a(across) }),
            Step::Stall(across) => return Arrival::Stalled(Near { pair, across: in_a(across) }),
            Step::Meet => return Arrival::Meeting,
            Step::To(next) => pair = next,
            Step::Under { a, vertex } => {
                let view = if a { from_a } else { &from_b };
                let y = view.corner(vertex);
                let height = |f: &u32| {
                    let face = &view.own.faces()[*f as usize];
                    face.normal.dot(y - face.corner)
                };
                let highest =
                    (0..view.own.faces().len() as u32).max_by(|f, g| height(f).total_cmp(&height(g)));
                match highest {
                    Some(face) if height(&face) > 0.0 && escapes < ESCAPES => {
                        escapes += 1;
                        walk.nearest_sq = f64::INFINITY;
                        pair = FeaturePair::FaceVertex { a, face, vertex };
                    }
                    _ => return Arrival::Meeting,
                }
            }
        }
    }
}

struct Walk<'v, 'p> {
    from_a: &'v PolytopePair<'p>,
    from_b: &'v PolytopePair<'p>,
    /// The squared distance of the last pair that was measured.
    nearest_sq: f64,
}

impl Walk<'_, '_> {
    /// Takes note of a distance; false when it is no progress.
    #[inline]
    fn nearer(&mut self, distance_sq: f64) -> bool {
        let nearer = distance_sq < self.nearest_sq;
        self.nearest_sq = distance_sq;
        nearer
    }

    fn vertices(&mut self, a: u32, b: u32) -> Step {
        let view = self.from_a;
        let between = view.corner(b) - view.own.vertices()[a as usize];
        if between == DVec3::ZERO {
            return Step::Meet;
        }
        if !self.nearer(between.length_squared()) {
            return Step::Stall(between);
        }
        if let Some(spoke) = view.own.steepest(a, between) {
            return Step::To(FeaturePair::EdgeVertex { a: true, edge: spoke.edge, vertex: b });
        }
        if let Some(spoke) = view.other.steepest(b, view.back(-between)) {
            return Step::To(FeaturePair::EdgeVertex { a: false, edge: spoke.edge, vertex: a });
        }
        Step::Stay(between)
    }

    #[inline]
    fn edge_vertex(&mut self, view: &PolytopePair<'_>, of_a: bool, edge: u32, vertex: u32) -> Step {
        let e = &view.own.edges()[edge as usize];
        let r = view.corner(vertex) - e.start;
        let (along, whole) = (r.dot(e.along), e.along.length_squared());
        if !(along > 0.0 && along < whole) {
            let end = e.ends[usize::from(along > 0.0)];
            let (a, b) = if of_a { (end, vertex) } else { (vertex, end) };
            return Step::To(FeaturePair::Vertices { a, b });
        }
        let foot = r - e.along * (along / whole);
        // What rounding left along the edge would tilt the normal of a tiny gap.
        let between = foot - e.along * (foot.dot(e.along) / whole);
        let gap_sq = between.length_squared();
        // Nothing but rounding lies across the edge: they touch.
        if !(gap_sq > ALONG_THE_EDGE * foot.length_squared()) {
            return Step::Meet;
        }
        if !self.nearer(gap_sq) {
            return Step::Stall(between);
        }
        if let Some(side) = into_face(e.inward, between) {
            return Step::To(FeaturePair::FaceVertex { a: of_a, face: e.faces[side], vertex });
        }
        if let Some(spoke) = view.other.steepest(vertex, view.back(-between)) {
            let (a, b) = if of_a { (edge, spoke.edge) } else { (spoke.edge, edge) };
            return Step::To(FeaturePair::Edges { a, b });
        }
        Step::Stay(between)
    }

    #[inline]
    fn face_vertex(&mut self, view: &PolytopePair<'_>, of_a: bool, face: u32, vertex: u32) -> Step {
        let y = view.corner(vertex);
        if let Some(side) = view.own.side_beyond(face, y) {
            return Step::To(FeaturePair::EdgeVertex { a: of_a, edge: side.edge, vertex });
        }
        let f = &view.own.faces()[face as usize];
        let height = f.normal.dot(y - f.corner);
        if !(height > 0.0) {
            return Step::Under { a: of_a, vertex };
        }
        if !self.nearer(height * height) {
            return Step::Stall(f.normal);
        }
        match view.other.steepest(vertex, view.back(-f.normal)) {
            Some(spoke) => slide(view, of_a, face, y, spoke.edge, spoke.to),
            None => Step::Stay(f.normal),
        }
    }

    #[inline]
    fn edges(&mut self, a: u32, b: u32) -> Step {
        let view = self.from_a;
        let (e, f) = (&view.own.edges()[a as usize], &view.other.edges()[b as usize]);
        let (u, v) = (e.along, view.turn(f.along));
        let r = view.place(f.start) - e.start;
        let mut normal = u.cross(v);
        let mut square = normal.length_squared();
        if square < NEARLY_PARALLEL * u.length_squared() * v.length_squared() {
            normal = triangle_normal(DVec3::ZERO, u, v);
            square = normal.length_squared();
        }
        let (s, t) = (r.cross(v).dot(normal), r.cross(u).dot(normal));
        if !(s > 0.0 && s < square && t > 0.0 && t < square) {
            return Step::To(at_an_end(u, v, r, a, b, e.ends, f.ends));
        }
        let gap = r.dot(normal);
        if gap == 0.0 {
            return Step::Meet;
        }
        let between = if gap > 0.0 { normal } else { -normal };
        if !self.nearer(gap * gap / square) {
            return Step::Stall(between);
        }
        if let Some(side) = into_face(e.inward, between) {
            let y = e.start + r + v * (t / square);
            return onto_face(view, true, e.faces[side], y, b);
        }
        if let Some(side) = into_face(f.inward, view.back(-between)) {
            let x = view.place_back(e.start + u * (s / square));
            return onto_face(self.from_b, false, f.faces[side], x, a);
        }
        Step::Stay(between)
    }
}

/// The face of an edge that a direction points into, if any.
#[inline]
fn into_face(inward: [DVec3; 2], direction: DVec3) -> Option<usize> {
    let [left, right] = inward.map(|d| d.dot(direction));
    if !(left > 0.0 || right > 0.0) { None } else { Some(usize::from(right > left)) }
}

/// The nearest features of two segments p + u and p + r + v that are nearest at an end of one.
#[cold]
fn at_an_end(
    u: DVec3,
    v: DVec3,
    r: DVec3,
    a: u32,
    b: u32,
    ends_a: [u32; 2],
    ends_b: [u32; 2],
) -> FeaturePair {
    let foot = |p: DVec3, along: DVec3| {
        let part = (p.dot(along) / along.length_squared()).clamp(0.0, 1.0);
        (part, p.distance_squared(along * part))
    };
    let mut best = (f64::INFINITY, FeaturePair::Vertices { a: ends_a[0], b: ends_b[0] });
    for k in 0..2 {
        let (part, distance_sq) = foot(r + v * k as f64, u);
        if distance_sq < best.0 {
            best = (distance_sq, with_vertex(true, a, ends_a, part, ends_b[k]));
        }
        let (part, distance_sq) = foot(u * k as f64 - r, v);
        if distance_sq < best.0 {
            best = (distance_sq, with_vertex(false, b, ends_b, part, ends_a[k]));
        }
    }
    best.1
}

fn with_vertex(of_a: bool, edge: u32, ends: [u32; 2], part: f64, vertex: u32) -> FeaturePair {
    let corner = match part {
        0.0 => ends[0],
        1.0 => ends[1],
        _ => return FeaturePair::EdgeVertex { a: of_a, edge, vertex },
    };
    if of_a {
        FeaturePair::Vertices { a: corner, b: vertex }
    } else {
        FeaturePair::Vertices { a: vertex, b: corner }
    }
}

/// From two edges that are nearest at y on the other's, where y looks into a face of this one.
#[cold]
fn onto_face(view: &PolytopePair<'_>, of_a: bool, face: u32, y: DVec3, edge: u32) -> Step {
    debug_assert_ne!(face, NO_FACE);
    if let Some(side) = view.own.side_beyond(face, y) {
        return Step::To(edge_pair(of_a, side.edge, edge));
    }
    let f = &view.own.faces()[face as usize];
    let e = &view.other.edges()[edge as usize];
    let end = e.ends[usize::from(f.normal.dot(view.turn(e.along)) < 0.0)];
    if f.normal.dot(y - f.corner) > 0.0 {
        slide(view, of_a, face, y, edge, end)
    } else {
        Step::Under { a: of_a, vertex: end }
    }
}

fn edge_pair(of_a: bool, own: u32, other: u32) -> FeaturePair {
    if of_a { FeaturePair::Edges { a: own, b: other } } else { FeaturePair::Edges { a: other, b: own } }
}

/// From y over a face down an edge of the other: to its end, out over a side, or into the face.
#[cold]
fn slide(view: &PolytopePair<'_>, of_a: bool, face: u32, y: DVec3, edge: u32, end: u32) -> Step {
    let f = &view.own.faces()[face as usize];
    let z = view.corner(end);
    let (mut part, mut exit) = (1.0, None);
    for side in view.own.sides(face) {
        let (from, to) = (side.outward.dot(side.corner - y), side.outward.dot(z - side.corner));
        // Not negative, as y is over the face.
        let here = from.max(0.0) / (from.max(0.0) + to);
        if to > 0.0 && here < part {
            (part, exit) = (here, Some(side.edge));
        }
    }
    let height = f.normal.dot((y - f.corner) + (z - y) * part);
    if !(height > 0.0) {
        return Step::Meet;
    }
    match exit {
        None => Step::To(FeaturePair::FaceVertex { a: of_a, face, vertex: end }),
        Some(side) => Step::To(edge_pair(of_a, side, edge)),
    }
}
