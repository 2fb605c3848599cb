//! From points to the features of their hull: coplanar triangles become one face, corners inside flat
//! parts and on straight edges go, and rings and loops are ordered.

use glam::DVec3;

use super::cell::{Edge, EdgeLinks, Face, Ring, Side, Spoke};
use super::planes::LazyPlanes;
use super::search::LARGE;
use super::{NO_FACE, Polytope};
use crate::geom::point_triangle::norm;
use crate::geom::unit_normal::unit_normal;
use crate::num::predicate::Plane;
use crate::num::tolerance::ROUND_UP;
use crate::shape::hull::{self, Hull, Triangle};

const NONE: u32 = u32::MAX;

/// What bounds a polytope, without the walls of the Voronoi regions: its corners and the loops of its faces. It takes a
/// tenth of the memory.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    pub(super) dimension: u32,
    pub(super) corners: Vec<DVec3>,
    pub(super) originals: Vec<u32>,
    /// In ascending order, each from its smallest corner on.
    pub(super) loops: Vec<Vec<u32>>,
}

impl Outline {
    /// Of finite points, in any order; there must be one at least.
    pub(crate) fn of(points: &[DVec3]) -> Outline {
        let (distinct, first) = hull::distinct(points);
        outline(&distinct, &first, hull::hull(&distinct))
    }

    /// Of finite points that are in ascending order of coordinates, without repetition and without −0; there must be one
    /// at least.
    pub(crate) fn of_ascending(points: &[DVec3]) -> Outline {
        let own: Vec<u32> = (0..points.len() as u32).collect();
        outline(points, &own, hull::hull(points))
    }

    /// The corners, in the order of the points they came from.
    pub(crate) fn corners(&self) -> &[DVec3] {
        &self.corners
    }

    /// The corners of each face, anticlockwise seen from outside; those of a flat polygon from both sides.
    pub(crate) fn loops(&self) -> &[Vec<u32>] {
        &self.loops
    }

    /// The mean of the corners.
    pub(crate) fn centre(&self) -> DVec3 {
        let shares = self.corners.iter().map(|&p| p / self.corners.len() as f64);
        shares.sum()
    }

    /// No corner is farther from the centre.
    pub(crate) fn reach(&self) -> f64 {
        let centre = self.centre();
        self.corners.iter().fold(0.0_f64, |most, p| norm(*p - centre).max(most)) * ROUND_UP
    }

    /// The volume inside; 0 below dimension 3.
    pub(crate) fn volume(&self) -> f64 {
        let solid = if self.dimension == 3 { &self.loops[..] } else { &[] };
        let fans = solid.iter().flat_map(|l| l[1..].windows(2).map(move |w| [l[0], w[0], w[1]]));
        spanned_volume(fans.map(|t| t.map(|v| self.corners[v as usize])), self.centre())
    }
}

/// The volume of the tetrahedra between triangles and a point.
pub(super) fn spanned_volume(triangles: impl Iterator<Item = [DVec3; 3]>, from: DVec3) -> f64 {
    triangles.map(|[a, b, c]| (a - from).cross(b - from).dot(c - from)).sum::<f64>() / 6.0
}

/// The outline of a hull of distinct points, each with its original index.
fn outline(points: &[DVec3], first: &[u32], hull: Hull) -> Outline {
    let (dimension, used, loops) = match hull {
        Hull::Point(p) => (0, vec![p], vec![]),
        Hull::Segment(ends) => (1, ends.to_vec(), vec![]),
        Hull::Polygon(loop_) => {
            let back = loop_.iter().rev().copied().collect();
            (2, loop_.clone(), vec![loop_, back])
        }
        Hull::Solid(triangles) => {
            let loops = loops(points, &triangles);
            (3, loops.iter().flatten().copied().collect(), loops)
        }
    };
    // Corners in the order of the points they came from.
    let mut used: Vec<u32> = used;
    used.sort_unstable_by_key(|&p| first[p as usize]);
    used.dedup();
    let mut place = vec![NONE; points.len()];
    for (to, &from) in used.iter().enumerate() {
        place[from as usize] = to as u32;
    }
    let corners: Vec<DVec3> = used.iter().map(|&p| points[p as usize]).collect();
    let originals = used.iter().map(|&p| first[p as usize]).collect();
    let mut loops: Vec<Vec<u32>> = loops
        .into_iter()
        .map(|l| from_smallest(l.into_iter().map(|p| place[p as usize]).collect()))
        .collect();
    loops.sort_unstable();
    Outline { dimension, corners, originals, loops }
}

/// The loops of the flat parts of a closed surface, real corners only.
fn loops(points: &[DVec3], triangles: &[Triangle]) -> Vec<Vec<u32>> {
    let (part, parts) = flat_parts(points, triangles);
    // Around a corner at least three parts meet; around others one, or two along a straight edge.
    let mut seen = vec![[NONE; 3]; points.len()];
    for (t, triangle) in triangles.iter().enumerate() {
        for &v in &triangle.corners {
            let seen = &mut seen[v as usize];
            if !seen.contains(&part[t])
                && let Some(free) = seen.iter_mut().find(|s| **s == NONE)
            {
                *free = part[t];
            }
        }
    }
    // One triangle at the border of each part, and its side there.
    let mut border = vec![(NONE, 0); parts as usize];
    for (t, triangle) in triangles.iter().enumerate() {
        for k in 0..3 {
            if part[triangle.across[k] as usize] != part[t] {
                border[part[t] as usize] = (t as u32, k);
            }
        }
    }
    border
        .into_iter()
        .map(|start| {
            let mut loop_ = Vec::new();
            let mut at = start;
            loop {
                let corner = triangles[at.0 as usize].corners[at.1];
                if seen[corner as usize][2] != NONE {
                    loop_.push(corner);
                }
                at = next_border(triangles, &part, at);
                if at == start {
                    return loop_;
                }
            }
        })
        .collect()
}

/// Numbers the parts of a surface that lie in one plane; the part of each triangle and how many there are.
fn flat_parts(points: &[DVec3], triangles: &[Triangle]) -> (Vec<u32>, u32) {
    let mut part = vec![NONE; triangles.len()];
    let mut parts = 0;
    let mut stack = Vec::new();
    for seed in 0..triangles.len() {
        if part[seed] != NONE {
            continue;
        }
        let [a, b, c] = triangles[seed].corners.map(|i| points[i as usize]);
        let plane = Plane::through(a, b, c);
        part[seed] = parts;
        stack.push(seed);
        while let Some(t) = stack.pop() {
            for &other in &triangles[t].across {
                let other = other as usize;
                // Two corners are shared and lie in the plane as it is.
                let apex = triangles[other].corners.into_iter().find(|i| !triangles[t].corners.contains(i));
                if part[other] == NONE && apex.is_none_or(|i| plane.side(points[i as usize]).is_zero()) {
                    part[other] = parts;
                    stack.push(other);
                }
            }
        }
        parts += 1;
    }
    (part, parts)
}

/// The side of the same part's border that follows a given one.
fn next_border(triangles: &[Triangle], part: &[u32], (t, k): (u32, usize)) -> (u32, usize) {
    let corner = triangles[t as usize].corners[(k + 1) % 3];
    let (mut t, mut k) = (t, (k + 1) % 3);
    loop {
        let across = triangles[t as usize].across[k];
        if part[across as usize] != part[t as usize] {
            return (t, k);
        }
        // Turn around the corner inside the part: its next side starts at the corner too.
        let corners = triangles[across as usize].corners;
        k = (0..3).find(|&s| corners[s] == corner).unwrap_or(0);
        t = across;
    }
}

fn from_smallest(mut loop_: Vec<u32>) -> Vec<u32> {
    let smallest = (0..loop_.len()).min_by_key(|&i| loop_[i]).unwrap_or(0);
    loop_.rotate_left(smallest);
    loop_
}

/// The ends of all edges, the smaller first, ascending.
fn ends(loops: &[Vec<u32>]) -> Vec<[u32; 2]> {
    let mut ends: Vec<[u32; 2]> = loops.iter().flat_map(|l| half_edges(l)).filter(|e| e[0] < e[1]).collect();
    ends.sort_unstable();
    // A flat polygon has each edge in this direction once too: its two loops run against each other.
    ends
}

fn half_edges(loop_: &[u32]) -> impl Iterator<Item = [u32; 2]> {
    (0..loop_.len()).map(|i| [loop_[i], loop_[(i + 1) % loop_.len()]])
}

/// Fills the cells of a graph.
pub(super) fn assemble(outline: Outline) -> Polytope {
    let (centre, reach) = (outline.centre(), outline.reach());
    let Outline { dimension, corners, originals, loops } = outline;
    let ends = if dimension == 1 { vec![[0, 1]] } else { ends(&loops) };
    let at = |v: u32| corners[v as usize];
    let mut edges: Vec<Edge> = ends
        .iter()
        .map(|&[a, b]| Edge {
            ends: [a, b],
            faces: [NO_FACE; 2],
            start: at(a),
            along: at(b) - at(a),
            inward: [DVec3::ZERO; 2],
        })
        .collect();
    // As many as there are: a polytope may be kept for long.
    let mut faces = Vec::with_capacity(loops.len());
    let mut sides = Vec::with_capacity(loops.iter().map(Vec::len).sum());
    for (f, loop_) in loops.iter().enumerate() {
        let normal = unit_normal(loop_.len(), |i| at(loop_[i]));
        faces.push(Face {
            normal,
            corner: at(loop_[0]),
            first: sides.len() as u32,
            count: loop_.len() as u32,
        });
        for [a, b] in half_edges(loop_) {
            let outward = (at(b) - at(a)).cross(normal);
            let edge = ends.binary_search(&[a.min(b), a.max(b)]).unwrap_or(0);
            let which = usize::from(a > b);
            edges[edge].faces[which] = f as u32;
            edges[edge].inward[which] = -outward;
            sides.push(Side { corner: at(a), outward, start: a, edge: edge as u32 });
        }
    }
    let (rings, spokes) = rings(&corners, &edges, &faces, &sides);
    let links = edges.iter().map(|edge| EdgeLinks { ends: edge.ends, faces: edge.faces }).collect();
    let planes = LazyPlanes::default();
    Polytope {
        dimension,
        corners,
        originals,
        rings,
        spokes,
        edges,
        links,
        faces,
        sides,
        centre,
        reach,
        planes,
    }
}

fn rings(corners: &[DVec3], edges: &[Edge], faces: &[Face], sides: &[Side]) -> (Vec<Ring>, Vec<Spoke>) {
    // One side that starts at each corner, and for a side the one that starts there on the next face
    // clockwise around the corner.
    let mut leaving = vec![NONE; corners.len()];
    let mut before = vec![NONE; sides.len()];
    let mut of_edge = vec![[NONE; 2]; edges.len()];
    for face in faces {
        for s in face.range() {
            let side = &sides[s];
            leaving[side.start as usize] = s as u32;
            let previous = if s == face.range().start { face.range().end - 1 } else { s - 1 };
            before[s] = sides[previous].edge;
            of_edge[side.edge as usize][usize::from(edges[side.edge as usize].ends[0] != side.start)] =
                s as u32;
        }
    }
    let (mut rings, mut spokes) = (Vec::with_capacity(corners.len()), Vec::with_capacity(2 * edges.len()));
    for (v, &corner) in corners.iter().enumerate() {
        let v = v as u32;
        let first = spokes.len();
        let spoke = |edge: u32| {
            let ends = edges[edge as usize].ends;
            let to = if ends[0] == v { ends[1] } else { ends[0] };
            Spoke { along: corners[to as usize] - corner, to, edge }
        };
        if leaving[v as usize] == NONE {
            spokes.extend((0..edges.len() as u32).map(spoke));
        } else {
            let mut s = leaving[v as usize];
            loop {
                spokes.push(spoke(sides[s as usize].edge));
                // The edge before this side ends here; on its other face it starts here.
                let edge = before[s as usize];
                s = of_edge[edge as usize][usize::from(edges[edge as usize].ends[0] != v)];
                if s == leaving[v as usize] {
                    break;
                }
            }
        }
        let ring = &mut spokes[first..];
        let level = ring.len() > LARGE && make_level(ring);
        rings.push(Ring { first: first as u32, count: ring.len() as u32, level });
    }
    (rings, spokes)
}

/// Scales the spokes of a corner so that they end in one plane across its cone; false where rounding
/// leaves no such plane.
fn make_level(ring: &mut [Spoke]) -> bool {
    let axis: DVec3 = ring.iter().map(|s| s.along.normalize()).sum();
    let along = |s: &Spoke| s.along.dot(axis);
    if !ring.iter().all(|s| along(s) > 0.0 && (s.along / along(s)).is_finite()) {
        return false;
    }
    ring.iter_mut().for_each(|s| s.along /= s.along.dot(axis));
    true
}
