//! A triangle that the other surface crosses, and how much of it lies in the other body.
//!
//! By Green's theorem the part inside is a sum over its border: the segments in which triangles of the other body
//! cross it, each with the inside on its left, and the sides of the triangle, weighed with the winding number along
//! them. Seen from corner 0 only the side opposite to it counts. Along that side the weight is the winding number at
//! corner 1, changed at each crossing; so nothing has to be sorted or chained.

use std::ops::AddAssign;

use glam::DVec3;

use super::crossings::Edge;
use super::perturbed_crossing::Face;

/// A triangle that the other surface crosses.
#[derive(Debug, Clone)]
pub struct Cut {
    pub triangle: u32,
    /// The places of its corners.
    pub corners: [u32; 3],
    /// The edges at its sides; `NONE` where both ends of a side are one vertex.
    pub edges: [u32; 3],
    pub face: Face,
    /// The unit normal; zero for a triangle without area.
    pub normal: DVec3,
}

/// What passes along the sides of a cut.
#[derive(Debug, Clone, Copy, Default)]
pub struct PassedSides {
    /// How much the winding number grows along each side, from its corner to the next.
    pub jumps: [i32; 3],
    /// How often each side is passed.
    pub passes: [u32; 3],
}

impl PassedSides {
    /// A side passes into the other body, or out of it.
    #[inline]
    pub fn pass(&mut self, side: usize, inward: i32) {
        self.jumps[side] += inward;
        self.passes[side] += 1;
    }
}

impl Cut {
    #[inline]
    pub fn new(triangle: u32, corners: [u32; 3], edges: [u32; 3], face: Face) -> Cut {
        let normal = face.normal().try_normalize().unwrap_or_default();
        Cut { triangle, corners, edges, face, normal }
    }

    /// The edge at a side whose ends are two vertices, and whether the side runs from its smaller end.
    #[inline]
    pub fn edge(&self, side: usize) -> (Edge, bool) {
        let [from, to] = [side, (side + 1) % 3].map(|corner| self.corners[corner]);
        (Edge { number: self.edges[side], ends: [from.min(to), from.max(to)] }, from < to)
    }

    /// What a piece of the border adds: the triangle from corner 0 over a directed segment.
    #[inline]
    pub fn over(&self, weight: i32, from: DVec3, to: DVec3) -> Moments {
        let corner = self.face.corners()[0];
        let (from, to) = (from - corner, to - corner);
        let area = 0.5 * f64::from(weight) * self.normal.dot(from.cross(to));
        Moments { area, size: area.abs(), first: (from + to) * (area / 3.0) }
    }

    /// The integrals of the barycentric coordinates; not finite for a triangle without area.
    #[inline]
    pub fn shares(&self, moments: &Moments) -> [f64; 3] {
        let [a, b, c] = self.face.corners();
        let normal = self.normal;
        // By the unit normal: lengths to the fourth, where squares of area vectors would be to the sixth.
        let scale = 1.0 / self.face.normal().dot(normal);
        let second = moments.first.cross(c - a).dot(normal) * scale;
        let third = (b - a).cross(moments.first).dot(normal) * scale;
        [moments.area - second - third, second, third]
    }
}

/// Integrals over the inside part of a triangle, weighed with the winding number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    /// Its area.
    pub area: f64,
    /// The sum of the absolute values that the area is made of.
    pub size: f64,
    /// The integral of the position, from corner 0.
    pub first: DVec3,
}

impl AddAssign for Moments {
    #[inline]
    fn add_assign(&mut self, more: Moments) {
        self.area += more.area;
        self.size += more.size;
        self.first += more.first;
    }
}
