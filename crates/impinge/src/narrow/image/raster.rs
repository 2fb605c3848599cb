//! Draws triangles into an image: which samples a triangle covers, exactly, and how deep it lies there.
//!
//! Corners stand at whole units of a fraction of a pixel, so the edge functions are integers. A sample on an edge
//! belongs to the triangle on one side of it only: it is thought to be moved by (ε, ε²), which is the top-left rule. So
//! closed surfaces have as many layers in as out in every column, whatever lies on a sample. Depths come from the plane
//! of the corners as they are, not as they were rounded.

use glam::{DVec2, DVec3};

use super::lattice::{Axis, Lattice, Place};
use super::layer::{Face, Layer};
use crate::num::predicate::{Sign, orient2d};
use crate::simd::dispatch;

/// Triangles with their corners in the images' frame.
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'d> {
    pub triangles: &'d [[u32; 3]],
    pub points: &'d [DVec3],
    pub places: &'d [Place],
}

/// Some rows of an image, from the first up to the last, and the columns among them to draw in, as bits; all where there
/// are none.
#[derive(Debug, Clone, Copy)]
pub struct Window<'w> {
    pub rows: [u32; 2],
    pub within: Option<&'w [u64]>,
}

/// Whether a span of samples is looked for by division instead of trying each.
const WIDE: i32 = 6;

dispatch! {
    /// The places of points.
    pub fn snap(lattice: &Lattice, points: &[DVec3], places: &mut [Place]) = each snap_plain
}

#[inline(always)]
fn snap_plain(lattice: &Lattice, points: &[DVec3], places: &mut [Place]) {
    for (place, &p) in places.iter_mut().zip(points) {
        *place = lattice.place(p);
    }
}

dispatch! {
    /// Appends to the list of each image the triangles that may cover a sample of it and do not lie on the side of the box
    /// that its columns need not see.
    pub fn select(
        lattice: &Lattice,
        drawn: Drawn<'_>,
        counted: [Counted; 3],
        lists: &mut [Vec<u32>; 3],
    ) = each select_plain
}

#[inline(always)]
fn select_plain(lattice: &Lattice, drawn: Drawn<'_>, counted: [Counted; 3], lists: &mut [Vec<u32>; 3]) {
    let count = drawn.triangles.len();
    let mut ends = [0; 3];
    for (list, end) in lists.iter_mut().zip(&mut ends) {
        *end = list.len();
        list.resize(*end + count, 0);
    }
    for triangle in 0..count as u32 {
        let seen = Seen::new(drawn, triangle);
        for axis in Axis::ALL {
            lists[axis.depth][ends[axis.depth]] = triangle;
            ends[axis.depth] += usize::from(seen.along(lattice, axis, counted[axis.depth]));
        }
    }
    for (list, end) in lists.iter_mut().zip(ends) {
        list.truncate(end);
    }
}

dispatch! {
    /// Keeps the triangles of a list that [`select`] would choose for an image.
    pub fn thin(
        lattice: &Lattice,
        drawn: Drawn<'_>,
        axis: Axis,
        counted: Counted,
        list: &mut Vec<u32>,
    ) = each thin_plain
}

#[inline(always)]
fn thin_plain(lattice: &Lattice, drawn: Drawn<'_>, axis: Axis, counted: Counted, list: &mut Vec<u32>) {
    list.retain(|&triangle| Seen::new(drawn, triangle).along(lattice, axis, counted));
}

/// From which end the columns of an image are counted: what lies beyond the other end of the box is not drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    FromBelow,
    FromAbove,
    /// All of each column is drawn, for surfaces whose winding number is known at neither end.
    Whole,
}

/// The least and the largest place of a triangle along each coordinate.
struct Seen {
    low: [i32; 4],
    high: [i32; 4],
}

impl Seen {
    #[inline(always)]
    fn new(drawn: Drawn<'_>, triangle: u32) -> Seen {
        let [a, b, c] = drawn.triangles[triangle as usize].map(|v| drawn.places[v as usize]);
        let mut seen = Seen { low: a, high: a };
        for lane in 0..4 {
            seen.low[lane] = a[lane].min(b[lane]).min(c[lane]);
            seen.high[lane] = a[lane].max(b[lane]).max(c[lane]);
        }
        seen
    }

    /// Whether its box may hold a sample of an image. Most small triangles cross the line of one row at most, and lie
    /// between two samples of it.
    #[inline(always)]
    fn along(&self, lattice: &Lattice, axis: Axis, counted: Counted) -> bool {
        let (half, shift, extent) = (lattice.half(), lattice.shift, lattice.extent());
        let Seen { low, high } = self;
        let first = (low[axis.across] + half - 1) >> shift;
        let last = (high[axis.across] - half) >> shift;
        let beside = (high[axis.along] < 0) | (low[axis.along] > extent);
        let behind = match counted {
            Counted::FromBelow => low[axis.depth] > extent,
            Counted::FromAbove => high[axis.depth] < 0,
            Counted::Whole => false,
        };
        if (first > last) | (last < 0) | (first >= lattice.pixels as i32) | beside | behind {
            return false;
        }
        first < last || {
            let offset = lattice.offset(first as u32);
            (low[axis.along] - offset + (1 << shift) - 1) >> shift <= (high[axis.along] - offset) >> shift
        }
    }
}

dispatch! {
    /// Appends the layers of triangles, seen along an axis of a lattice, in a window of an image. Triangles with far
    /// corners are drawn in all columns of its rows.
    pub fn draw(
        view: (&Lattice, Axis),
        drawn: Drawn<'_>,
        list: &[u32],
        first: Face,
        window: Window<'_>,
        layers: &mut Vec<Layer>,
    ) = each draw_plain
}

#[inline(always)]
fn draw_plain(
    (lattice, axis): (&Lattice, Axis),
    drawn: Drawn<'_>,
    list: &[u32],
    first: Face,
    Window { rows: [from, to], within }: Window<'_>,
    layers: &mut Vec<Layer>,
) {
    let (half, shift, pixels) = (lattice.half(), lattice.shift, lattice.pixels as i32);
    for &triangle in list {
        let corners = drawn.triangles[triangle as usize];
        let places = corners.map(|v| drawn.places[v as usize]);
        if places[0][3] | places[1][3] | places[2][3] != 0 {
            draw_far(lattice, axis, drawn, triangle, first, [from, to], layers);
            continue;
        }
        let flat = places.map(|p| [p[axis.along], p[axis.across]]);
        let [low, high] =
            [flat[0][1].min(flat[1][1]).min(flat[2][1]), flat[0][1].max(flat[1][1]).max(flat[2][1])];
        let first_row = ((low + half - 1) >> shift).max(from as i32);
        let last_row = ((high - half) >> shift).min(to as i32 - 1);
        let left = flat[0][0].min(flat[1][0]).min(flat[2][0]);
        let right = flat[0][0].max(flat[1][0]).max(flat[2][0]);
        // Most small triangles lie between two samples: what follows is found when the first row holds one.
        let mut found: Option<([Edge; 3], bool)> = None;
        let mut plane = None;
        for row in first_row..=last_row {
            let offset = lattice.offset(row as u32);
            let mut begin = ((left - offset + (1 << shift) - 1) >> shift).max(0);
            let mut end = ((right - offset) >> shift).min(pixels - 1);
            if begin > end {
                continue;
            }
            if found.is_none() {
                found = edges(flat);
            }
            let Some((edges, is_exit)) = &found else { break };
            let across = (row << shift) + half;
            let is_wide = end - begin >= WIDE;
            if is_wide {
                let at = (begin << shift) + offset;
                let count = end - begin;
                let [mut least, mut most] = [0, i64::from(count)];
                for edge in edges {
                    edge.span(edge.at(at, across), shift, &mut least, &mut most);
                }
                if least > most {
                    continue;
                }
                (begin, end) = (begin + least as i32, begin + most as i32);
            }
            let row_start = (row as u32 - from) * lattice.pixels;
            let mut column = begin;
            while column <= end {
                if let Some(within) = within {
                    let span = [row_start + column as u32, row_start + end as u32];
                    let Some(next) = next_set(within, span) else { break };
                    column = (next - row_start) as i32;
                }
                let along = (column << shift) + offset;
                if is_wide || edges.iter().all(|edge| edge.holds(along, across)) {
                    let plane = plane
                        .get_or_insert_with(|| Plane::new(axis, corners.map(|v| drawn.points[v as usize])));
                    let depth = plane.depth(
                        lattice.coordinate(axis.along, along),
                        lattice.coordinate(axis.across, across),
                    );
                    let face = first.triangle(triangle, *is_exit);
                    layers.push(Layer { depth, column: row_start + column as u32, face });
                }
                column += 1;
            }
        }
    }
}

/// The first set bit from one place up to another, that one included.
#[inline(always)]
fn next_set(bits: &[u64], [from, to]: [u32; 2]) -> Option<u32> {
    let mut word = from / 64;
    let mut left = bits[word as usize] & (u64::MAX << (from % 64));
    while left == 0 {
        word += 1;
        if word > to / 64 {
            return None;
        }
        left = bits[word as usize];
    }
    Some(word * 64 + left.trailing_zeros()).filter(|&at| at <= to)
}

/// An edge of a triangle that runs against the clock, seen along the depth.
#[derive(Debug, Clone, Copy)]
struct Edge {
    from: [i64; 2],
    along: i64,
    across: i64,
    /// The least value of the function on the triangle's side: 0 where samples on the edge belong to it, else 1.
    least: i64,
}

impl Edge {
    #[inline(always)]
    fn new(from: [i32; 2], to: [i32; 2]) -> Edge {
        let from = from.map(i64::from);
        let (along, across) = (i64::from(to[0]) - from[0], i64::from(to[1]) - from[1]);
        let is_owned = across < 0 || (across == 0 && along > 0);
        Edge { from, along, across, least: i64::from(!is_owned) }
    }

    #[inline(always)]
    fn at(&self, along: i32, across: i32) -> i64 {
        self.along * (i64::from(across) - self.from[1]) - self.across * (i64::from(along) - self.from[0])
    }

    #[inline(always)]
    fn holds(&self, along: i32, across: i32) -> bool {
        self.at(along, across) >= self.least
    }

    /// Narrows the samples from `least` to `most` of a row to those on the triangle's side, given the function at
    /// sample 0.
    fn span(&self, at_first: i64, shift: u32, least: &mut i64, most: &mut i64) {
        let (room, step) = (at_first - self.least, -self.across << shift);
        match step {
            0 if room < 0 => *most = -1,
            0 => {}
            1.. => *least = (*least).max((-room + step - 1).div_euclid(step)),
            _ => *most = (*most).min(room.div_euclid(-step)),
        }
    }
}

/// The edges of a triangle against the clock and whether it faces along the depth; `None` where it has no area.
#[inline(always)]
fn edges(flat: [[i32; 2]; 3]) -> Option<([Edge; 3], bool)> {
    let [a, b, c] = flat;
    let first = Edge::new(a, b);
    match first.at(c[0], c[1]) {
        0 => None,
        1.. => Some(([first, Edge::new(b, c), Edge::new(c, a)], true)),
        _ => Some(([Edge::new(a, c), Edge::new(c, b), Edge::new(b, a)], false)),
    }
}

/// A triangle's depth over the samples it covers.
#[derive(Debug, Clone, Copy)]
pub struct Plane {
    at: [f64; 3],
    slope: [f64; 2],
    range: [f64; 2],
}

impl Plane {
    /// The plane of three corners.
    #[inline(always)]
    pub fn new(axis: Axis, [a, b, c]: [DVec3; 3]) -> Plane {
        let normal = (b - a).cross(c - a);
        let depths = [a, b, c].map(|p| p[axis.depth]);
        let slope = [normal[axis.along], normal[axis.across]].map(|n| -n / normal[axis.depth]);
        let range = [depths[0].min(depths[1]).min(depths[2]), depths[0].max(depths[1]).max(depths[2])];
        // Seen edge-on but for rounding, it lies anywhere between its corners.
        let is_steep = !(slope[0].is_finite() && slope[1].is_finite());
        let (depth, slope) = match is_steep {
            true => (0.5 * range[0] + 0.5 * range[1], [0.0; 2]),
            false => (depths[0], slope),
        };
        Plane { at: [a[axis.along], a[axis.across], depth], slope, range }
    }

    /// The depth at a place, how it grows along and across, and its least and most.
    #[cfg(feature = "gpu")]
    pub fn parts(&self, at: DVec2) -> (f64, [f64; 2], [f64; 2]) {
        let depth = self.at[2] + (at.x - self.at[0]) * self.slope[0] + (at.y - self.at[1]) * self.slope[1];
        (depth, self.slope, self.range)
    }

    #[inline(always)]
    fn depth(&self, along: f64, across: f64) -> f64 {
        let depth = self.at[2] + (along - self.at[0]) * self.slope[0] + (across - self.at[1]) * self.slope[1];
        depth.max(self.range[0]).min(self.range[1])
    }
}

/// The same for a triangle with a far corner: the edge functions by expansions, the ends of a row's span by halving.
#[inline(never)]
fn draw_far(
    lattice: &Lattice,
    axis: Axis,
    drawn: Drawn<'_>,
    triangle: u32,
    first: Face,
    [from, to]: [u32; 2],
    layers: &mut Vec<Layer>,
) {
    let points = drawn.triangles[triangle as usize].map(|v| drawn.points[v as usize]);
    let flat = points.map(|p| {
        let at = lattice.snapped(p);
        DVec2::new(at[axis.along], at[axis.across])
    });
    let is_exit = match orient2d(flat[0], flat[1], flat[2]) {
        Sign::Zero => return,
        sign => sign == Sign::Positive,
    };
    let [a, b, c] = if is_exit { flat } else { [flat[0], flat[2], flat[1]] };
    let edges = [FarEdge { from: a, to: b }, FarEdge { from: b, to: c }, FarEdge { from: c, to: a }];
    let plane = Plane::new(axis, points);
    let (low, high) = (a.y.min(b.y).min(c.y), a.y.max(b.y).max(c.y));
    for row in from..to {
        let across = lattice.sample(0, row)[1];
        if !(low <= f64::from(across) && f64::from(across) <= high) {
            continue;
        }
        let along = |column: u32| lattice.sample(column, row)[0];
        let (mut begin, mut end) = (0, lattice.pixels);
        for edge in edges {
            let holds = |column: u32| edge.holds(DVec2::new(f64::from(along(column)), f64::from(across)));
            match edge.to.y.total_cmp(&edge.from.y) {
                std::cmp::Ordering::Less => begin = partition(begin, end, |column| !holds(column)),
                std::cmp::Ordering::Greater => end = partition(begin, end, holds),
                std::cmp::Ordering::Equal if begin < end && !holds(begin) => end = begin,
                std::cmp::Ordering::Equal => {}
            }
        }
        for column in begin..end {
            let depth = plane.depth(
                lattice.coordinate(axis.along, along(column)),
                lattice.coordinate(axis.across, across),
            );
            let face = first.triangle(triangle, is_exit);
            layers.push(Layer { depth, column: (row - from) * lattice.pixels + column, face });
        }
    }
}

/// The first number from `begin` to `end` of which something does not hold that holds up to there.
fn partition(begin: u32, end: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut begin, mut end) = (begin, end.max(begin));
    while begin < end {
        let middle = begin.midpoint(end);
        if holds(middle) { begin = middle + 1 } else { end = middle }
    }
    begin
}

/// An edge between places of any size.
#[derive(Debug, Clone, Copy)]
struct FarEdge {
    from: DVec2,
    to: DVec2,
}

impl FarEdge {
    fn holds(&self, p: DVec2) -> bool {
        match orient2d(self.from, self.to, p) {
            Sign::Positive => true,
            Sign::Negative => false,
            Sign::Zero => self.to.y < self.from.y || (self.to.y == self.from.y && self.to.x > self.from.x),
        }
    }
}

impl Drawn<'_> {
    /// The shares of the corners of a triangle at a place in it, given in units of the lattice; their sum is 1 to rounding.
    pub fn barycentric(&self, lattice: &Lattice, axis: Axis, triangle: u32, place: DVec2) -> [f64; 3] {
        let [a, b, c] = self.triangles[triangle as usize].map(|v| {
            let at = match self.places[v as usize] {
                [x, y, z, 0] => DVec3::new(f64::from(x), f64::from(y), f64::from(z)),
                _ => lattice.snapped(self.points[v as usize]),
            };
            DVec2::new(at[axis.along], at[axis.across])
        });
        let turn = (b - a).perp_dot(c - a).signum();
        let parts = [(c - b).perp_dot(place - b), (a - c).perp_dot(place - c), (b - a).perp_dot(place - a)];
        let parts = parts.map(|part| (part * turn).max(0.0));
        let whole = parts[0] + parts[1] + parts[2];
        if whole > 0.0 && whole.is_finite() { parts.map(|part| part / whole) } else { [1.0 / 3.0; 3] }
    }
}
