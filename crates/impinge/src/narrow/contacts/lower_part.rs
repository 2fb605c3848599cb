//! The part of a placed polytope that can reach the surface under it: corners not above all of the surface, with the
//! edges and faces at them.
//!
//! Where all of the surface looks along a common direction, what lies higher than its highest point is over it, and
//! nothing of it is a contact. Elsewhere all of the polytope is looked at.

use glam::DVec3;
use smallvec::SmallVec;

use super::local_surface::LocalSurface;
use crate::Pose;
use crate::narrow::convex::faceted::{Faceted, Graph};
use crate::narrow::exact::patch_lanes::{Lanes, bits};
use crate::narrow::exact::point_triangle_simd::LANES;
use crate::narrow::exact::surface_patch::CornerBlock;
use crate::num::tolerance::REGION_EDGE;
use crate::shape::{Convex, Primitive};
use crate::simd::{SimdLevel, dispatch, prefetch};

/// The cosine between the normal of a triangle and the common direction (no unit) from which on it looks along it.
const LOOKS_ALONG: f64 = 0.5;

/// An edge of the polytope with a low corner.
pub(super) struct LowEdge {
    pub index: u32,
    pub ends: [u32; 2],
    /// Bits of its faces among those that were kept; none where one is not among the first ones that have a bit.
    pub faces: u64,
}

/// Eight planes, column by column; those that are none have no normal and are infinitely far.
#[derive(Debug, Clone, Copy)]
struct PlaneBlock {
    normal: [[f64; LANES]; 3],
    offset: [f64; LANES],
}

/// Eight edges, column by column: where they begin, how far they reach, and the bits of their faces; those that are none
/// have no length.
#[derive(Debug, Clone, Copy)]
struct EdgeBlock {
    from: [[f64; LANES]; 3],
    span: [[f64; LANES]; 3],
    faces: [u64; LANES],
}

/// Planes that have a bit; the lowest bits of a corner are those of the sides of the box around the polytope.
const MOST_PLANES: usize = u64::BITS as usize - BOX_SIDES;
const BOX_SIDES: usize = 6;

/// A polytope and where its corners are in the world.
pub(super) struct PlacedPolytope<'p> {
    pub graph: Graph<'p>,
    pub corners: SmallVec<[DVec3; 32]>,
}

impl<'p> PlacedPolytope<'p> {
    /// Of a hull or box that has a volume.
    pub fn new(shape: &'p Convex, pose: &Pose) -> Option<PlacedPolytope<'p>> {
        let (Convex::Polytope(_) | Convex::Primitive(Primitive::Cuboid { .. })) = shape else { return None };
        match Faceted::new(shape, pose, DVec3::ZERO)? {
            Faceted::Graph(graph) if graph.polytope().dimension() == 3 => {
                Some(PlacedPolytope { corners: graph.corners().collect(), graph })
            }
            _ => None,
        }
    }
}

/// A placed polytope, and what of it is low.
pub(super) struct LowerPart<'g, 'p> {
    pub graph: &'g Graph<'p>,
    /// All corners in the world.
    pub corners: &'g [DVec3],
    pub middle: DVec3,
    /// No corner is farther from the middle.
    pub reach: f64,
    /// The corners that are low.
    pub low: SmallVec<[u32; 32]>,
    /// The edges and faces at them.
    pub edges: SmallVec<[LowEdge; 64]>,
    pub faces: SmallVec<[u32; 32]>,
    /// The planes of these faces in the world: outward unit normal, and how far they are along it from the origin.
    pub planes: SmallVec<[(DVec3, f64); 32]>,
    /// Those of them that have a bit.
    blocks: SmallVec<[PlaneBlock; 4]>,
    /// The edges once more.
    edge_blocks: SmallVec<[EdgeBlock; 8]>,
    /// From the world into its own frame.
    back: Pose,
    simd: SimdLevel,
}

impl<'g, 'p> LowerPart<'g, 'p> {
    /// Of a placed polytope, before it is known what is low.
    // Inlined, as the lists of `find` are too large to be copied.
    #[inline(always)]
    pub fn of(placed: &'g PlacedPolytope<'p>) -> LowerPart<'g, 'p> {
        let PlacedPolytope { graph, corners } = placed;
        let middle = graph.middle();
        let square = corners.iter().fold(0.0_f64, |most, p| most.max(p.distance_squared(middle)));
        LowerPart {
            graph,
            middle,
            reach: square.sqrt(),
            low: SmallVec::new(),
            edges: SmallVec::new(),
            faces: SmallVec::new(),
            planes: SmallVec::new(),
            blocks: SmallVec::new(),
            edge_blocks: SmallVec::new(),
            back: graph.pose().inverse(),
            simd: SimdLevel::best(),
            corners,
        }
    }

    /// Finds what is not above all of a surface, and a margin more.
    pub fn find(&mut self, surface: &LocalSurface<'_>, margin: f64) {
        let polytope = self.graph.polytope();
        let (up, level) = surface.level(LOOKS_ALONG).unwrap_or((DVec3::ZERO, 0.0));
        // Rounding must not lift what touches.
        let level = level + margin + REGION_EDGE * (self.reach + level.abs());
        let low = Bits::where_true(self.corners.iter().map(|p| up.dot(*p) <= level));
        self.low.extend(low.iter());
        // By the links of all edges, which lie together.
        let links = polytope.links();
        let edges = Bits::where_true(links.iter().map(|link| low.has(link.ends[0]) | low.has(link.ends[1])));
        let mut faces = Bits::of(polytope.faces().len());
        for index in edges.iter() {
            let link = &links[index as usize];
            link.faces.iter().for_each(|&face| faces.insert(face));
            self.edges.push(LowEdge { index, ends: link.ends, faces: 0 });
        }
        self.faces.extend(faces.iter());
        self.faces.iter().for_each(|&face| prefetch(&polytope.faces()[face as usize]));
        // The bit of a face is that of its place.
        for edge in &mut self.edges {
            let [x, y] = links[edge.index as usize].faces;
            let (x, y) = (faces.rank(x) as usize, faces.rank(y) as usize);
            edge.faces = if x.max(y) < MOST_PLANES { 1 << x | 1 << y } else { 0 };
        }
        self.planes.extend(self.graph.planes(&self.faces));
        let with_bits = &self.planes[..self.planes.len().min(MOST_PLANES)];
        self.blocks.extend(with_bits.chunks(LANES).map(PlaneBlock::new));
        self.edge_blocks.extend(self.edges.chunks(LANES).map(|eight| EdgeBlock::new(eight, self.corners)));
    }

    /// Whether a point is in the polytope grown by some room.
    pub fn holds(&self, p: DVec3, room: f64) -> bool {
        if !self.planes.iter().all(|(n, offset)| n.dot(p) - offset <= room) {
            return false;
        }
        let local = self.back.apply(p);
        let faces = self.graph.polytope().faces().len();
        faces == self.faces.len() || (0..faces as u32).all(|face| self.graph.height(face, local) <= room)
    }

    /// Whether a segment reaches into the polytope grown by a margin.
    pub fn is_reached(&self, [p, q]: [DVec3; 2], margin: f64) -> bool {
        let [p, q] = [self.back.apply(p), self.back.apply(q)];
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        for face in 0..self.graph.polytope().faces().len() as u32 {
            let (start, end) = (self.graph.height(face, p) - margin, self.graph.height(face, q) - margin);
            if start > 0.0 && end > 0.0 {
                return false;
            }
            if start > 0.0 {
                low = low.max(start / (start - end));
            } else if end > 0.0 {
                high = high.min(start / (start - end));
            }
        }
        low <= high
    }

    /// Whether the direction against a normal lies in the Voronoi region of an edge.
    pub fn is_outside(&self, edge: u32, normal: DVec3) -> bool {
        let [x, y] = self.graph.inward(edge);
        -normal.dot(x) <= REGION_EDGE && -normal.dot(y) <= REGION_EDGE
    }

    /// For each corner of a surface the planes that it lies beyond, and some room more, and the sides of the box around the
    /// polytope, as bits.
    pub fn beyond(&self, surface: &LocalSurface<'_>, room: f64, out: &mut SmallVec<[u64; 64]>) {
        let planes = &self.planes[..self.planes.len().min(MOST_PLANES)];
        let (corners, sides) = surface.corner_blocks();
        out.extend_from_slice(sides);
        beyond(self.simd, planes, corners, room, out);
    }

    /// The edges that come nearest to a segment, from a point along a vector, between the ends of both, and may be part of
    /// the outline seen along it: of their faces not both rise from it by more than a height, and not both sink. As a bit
    /// for each, eight by eight.
    pub fn crossed_by(&self, start: DVec3, along: DVec3, level: f64, out: &mut Lanes) {
        out.clear();
        crossed(self.simd, &self.blocks, &self.edge_blocks, start, along, level, out);
    }
}

/// Some of the first numbers.
struct Bits(SmallVec<[u64; 4]>);

impl Bits {
    fn of(count: usize) -> Bits {
        Bits(SmallVec::from_elem(0, count.div_ceil(64)))
    }

    /// The places of those that are true; without a branch for each, as chance decides.
    fn where_true(all: impl ExactSizeIterator<Item = bool>) -> Bits {
        let mut found = Bits::of(all.len());
        let (mut all, words) = (all, &mut found.0[..]);
        for word in words {
            for (k, is_true) in all.by_ref().take(64).enumerate() {
                *word |= u64::from(is_true) << k;
            }
        }
        found
    }

    #[inline]
    fn has(&self, k: u32) -> bool {
        self.0[k as usize / 64] >> (k % 64) & 1 != 0
    }

    fn insert(&mut self, k: u32) {
        self.0[k as usize / 64] |= 1 << (k % 64);
    }

    /// How many of them are smaller.
    fn rank(&self, k: u32) -> u32 {
        let (before, own) = (&self.0[..k as usize / 64], self.0[k as usize / 64]);
        let below = own & ((1 << (k % 64)) - 1);
        before.iter().map(|word| word.count_ones()).sum::<u32>() + below.count_ones()
    }

    fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).step_by(64).zip(&self.0).flat_map(|(first, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let k = (left != 0).then(|| first + left.trailing_zeros())?;
                left &= left - 1;
                Some(k)
            })
        })
    }
}

impl PlaneBlock {
    fn new(planes: &[(DVec3, f64)]) -> PlaneBlock {
        let mut block = PlaneBlock { normal: [[0.0; LANES]; 3], offset: [f64::INFINITY; LANES] };
        for (lane, (normal, offset)) in planes.iter().enumerate().take(LANES) {
            for axis in 0..3 {
                block.normal[axis][lane] = normal[axis];
            }
            block.offset[lane] = *offset;
        }
        block
    }

    /// How far a vector leads along the normal of a lane.
    #[inline(always)]
    fn along(&self, v: [f64; 3], i: usize) -> f64 {
        self.normal[0][i] * v[0] + self.normal[1][i] * v[1] + self.normal[2][i] * v[2]
    }
}

impl EdgeBlock {
    fn new(edges: &[LowEdge], corners: &[DVec3]) -> EdgeBlock {
        let mut block = EdgeBlock { from: [[0.0; LANES]; 3], span: [[0.0; LANES]; 3], faces: [0; LANES] };
        for (lane, edge) in edges.iter().enumerate().take(LANES) {
            let [from, to] = edge.ends;
            let [from, to] = [corners[from as usize], corners[to as usize]];
            let span = to - from;
            for axis in 0..3 {
                (block.from[axis][lane], block.span[axis][lane]) = (from[axis], span[axis]);
            }
            block.faces[lane] = edge.faces;
        }
        block
    }
}

dispatch! {
    fn beyond(planes: &[(DVec3, f64)], corners: &[CornerBlock], room: f64, out: &mut [u64]) = each beyond_plain
}

dispatch! {
    fn crossed(
        planes: &[PlaneBlock], edges: &[EdgeBlock], start: DVec3, along: DVec3, level: f64, out: &mut Lanes,
    ) = each crossed_plain
}

#[inline(always)]
fn beyond_plain(planes: &[(DVec3, f64)], corners: &[CornerBlock], room: f64, out: &mut [u64]) {
    for (block, out) in corners.iter().zip(out.as_chunks_mut::<LANES>().0) {
        let mut found = [0; LANES];
        for (normal, offset) in planes.iter().rev() {
            let (n, height) = (normal.to_array(), offset + room);
            for i in 0..LANES {
                let over = n[0] * block[0][i] + n[1] * block[1][i] + n[2] * block[2][i] > height;
                found[i] = found[i] << 1 | u64::from(over);
            }
        }
        for i in 0..LANES {
            out[i] |= found[i] << BOX_SIDES;
        }
    }
}

/// What [`inner_points`](crate::geom::segment_segment::inner_points) tells of the ridge and each edge, to the bit.
#[inline(always)]
fn crossed_plain(
    planes: &[PlaneBlock],
    edges: &[EdgeBlock],
    start: DVec3,
    along: DVec3,
    level: f64,
    out: &mut Lanes,
) {
    let [rising, sinking] = slopes(planes, along, level);
    let (p, d) = (start.to_array(), along.to_array());
    for EdgeBlock { from, span, faces } in edges {
        let mut found = [0; LANES];
        for i in 0..LANES {
            let e = [span[0][i], span[1][i], span[2][i]];
            let between = [from[0][i] - p[0], from[1][i] - p[1], from[2][i] - p[2]];
            let normal = cross(d, e);
            let (square, s, t) =
                (dot(normal, normal), dot(cross(between, e), normal), dot(cross(between, d), normal));
            let is_inner = (rising & faces[i] == faces[i]) | (sinking & faces[i] == faces[i]);
            let is_outer = !is_inner | (faces[i] == 0);
            found[i] = u8::from((s > 0.0) & (s < square) & (t > 0.0) & (t < square) & is_outer);
        }
        out.push(bits(found));
    }
}

#[inline(always)]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - b[1] * a[2], a[2] * b[0] - b[2] * a[0], a[0] * b[1] - b[0] * a[1]]
}

#[inline(always)]
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The planes that a direction rises from by more than a height, and those that it sinks under by more, as bits.
#[inline(always)]
fn slopes(blocks: &[PlaneBlock], along: DVec3, level: f64) -> [u64; 2] {
    let (along, mut found) = (along.to_array(), [0; 2]);
    for (k, block) in blocks.iter().enumerate() {
        let (mut rising, mut sinking) = ([0; LANES], [0; LANES]);
        for i in 0..LANES {
            let slope = block.along(along, i);
            (rising[i], sinking[i]) = (u8::from(slope > level), u8::from(slope < -level));
        }
        found[0] |= u64::from(bits(rising)) << (LANES * k);
        found[1] |= u64::from(bits(sinking)) << (LANES * k);
    }
    found
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg32;

    use super::*;
    use crate::geom::segment_segment::inner_points;

    #[test]
    fn eight_edges_at_a_time_are_crossed_as_one_by_one() {
        let mut random = Pcg32::seed_from_u64(46);
        // How many edges are crossed and on the outline, crossed within it, and passed.
        let mut seen = [0; 3];
        for round in 0..4000 {
            // On a grid, where slopes are equal to the height and segments parallel or end to end, and off it.
            let grid = round % 2 == 0;
            let mut point = |size: f64| {
                let p = DVec3::from_array(std::array::from_fn(|_| random.random_range(-size..size)));
                if grid { p.round() } else { p }
            };
            let corners: Vec<DVec3> = (0..12).map(|_| point(3.0)).collect();
            let planes: Vec<(DVec3, f64)> = (0..20).map(|_| (point(2.0), 0.0)).collect();
            let (start, along) = (point(2.0), point(4.0));
            let edges: Vec<LowEdge> = (0..random.random_range(1..30))
                .map(|index| {
                    let mut of = |most: u32| random.random_range(0..most);
                    let ends = [of(12), of(12)];
                    // Now and then a face without a bit.
                    let faces = if of(5) == 0 { 0 } else { 1 << of(20) | 1 << of(20) };
                    LowEdge { index, ends, faces }
                })
                .collect();
            let level =
                if grid { f64::from(random.random_range(0..3)) } else { random.random_range(0.0..2.0) };
            let is_on_outline = |faces: u64| {
                let of = |is: &dyn Fn(f64) -> bool| {
                    (0..20).filter(|k| faces >> k & 1 != 0).all(|k: usize| is(planes[k].0.dot(along)))
                };
                faces == 0 || !of(&|slope| slope > level) && !of(&|slope| slope < -level)
            };
            let blocks: Vec<PlaneBlock> = planes.chunks(LANES).map(PlaneBlock::new).collect();
            let edge_blocks: Vec<EdgeBlock> =
                edges.chunks(LANES).map(|eight| EdgeBlock::new(eight, &corners)).collect();
            for simd in SimdLevel::available() {
                let mut found = Lanes::new();
                crossed(simd, &blocks, &edge_blocks, start, along, level, &mut found);
                assert_eq!(found.len(), edges.len().div_ceil(LANES));
                for (k, edge) in edges.iter().enumerate() {
                    let [from, to] = edge.ends.map(|end| corners[end as usize]);
                    let is_met = inner_points(start, along, from, to - from).is_some();
                    let is_told = found[k / LANES] >> (k % LANES) & 1 != 0;
                    let is_outer = is_on_outline(edge.faces);
                    assert_eq!(is_told, is_met && is_outer, "{simd:?}, round {round}, edge {k}");
                    seen[if is_met { usize::from(!is_outer) } else { 2 }] += 1;
                }
                let behind = edges.len()..found.len() * LANES;
                assert!(behind.into_iter().all(|k| found[k / LANES] >> (k % LANES) & 1 == 0), "{simd:?}");
            }
        }
        assert!(seen.iter().all(|&count| count > 2000), "{seen:?}");
    }
}
