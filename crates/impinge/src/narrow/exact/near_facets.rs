//! The facets of a patch near a body, as blocks of eight, so that all that is asked of each of them is asked of eight at
//! once (`patch_lanes`).
//!
//! They are made anew in every frame: what they are made from is a third of them, and they stay in the nearest cache.
#![allow(clippy::needless_range_loop, reason = "a lane or an axis is one number of many columns")]

use glam::DVec3;
use smallvec::SmallVec;

use super::patch_lanes::{Ball, Lanes, bits, box_square, height};
use super::point_triangle_simd::{Corners, LANES};
use super::surface_patch::{CornerBlock, SurfacePatch};
use crate::bound::Aabb;
use crate::simd::{SimdLevel, dispatch};

/// Eight triangles, column by column; those that are none repeat the last one.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub corners: Corners,
    /// Of unit length; zero without an area.
    pub normal: [[f64; LANES]; 3],
    /// How far the planes are along the normals from the origin.
    pub offset: [f64; LANES],
}

impl Block {
    const EMPTY: Block =
        Block { corners: [[0.0; LANES]; 9], normal: [[0.0; LANES]; 3], offset: [0.0; LANES] };
}

/// Stands for a facet of the patch that is not near.
const FAR: u32 = u32::MAX;

/// Room for the facets near a body.
#[derive(Default)]
pub(crate) struct NearFacets {
    beyond: SmallVec<[u64; 64]>,
    places: SmallVec<[u32; 64]>,
    blocks: SmallVec<[Block; 5]>,
    meant: Lanes,
    slots: SmallVec<[u32; 64]>,
}

/// The facets of a patch near a body.
#[derive(Clone, Copy)]
pub(crate) struct NearView<'f> {
    /// For each corner of the patch's facets a bit for each side of the box that it lies beyond.
    pub beyond: &'f [u64],
    /// The facets whose boxes reach into the box, ascending.
    pub places: &'f [u32],
    /// The same as blocks.
    pub blocks: &'f [Block],
    /// Those of them whose boxes reach into the ball too, and whose planes meet it: those that are near.
    pub meant: &'f [u8],
    /// For each facet of the patch its place in the blocks.
    slots: &'f [u32],
}

impl NearFacets {
    /// Finds the facets that reach into a box and into a ball.
    pub fn find(
        &mut self,
        simd: SimdLevel,
        patch: &SurfacePatch,
        bounds: &Aabb,
        ball: &Ball,
    ) -> NearView<'_> {
        let (corner_blocks, corners_of) = (patch.corner_blocks(), patch.corners_of());
        self.beyond.resize(LANES * corner_blocks.len(), 0);
        sides_beyond(simd, corner_blocks, bounds, &mut self.beyond);
        self.places.resize(corners_of.len(), 0);
        let count = in_box(&self.beyond, corners_of, &mut self.places);
        self.places.truncate(count);
        let places = &self.places[..];
        self.blocks.resize(places.len().div_ceil(LANES), Block::EMPTY);
        for (block, eight) in self.blocks.iter_mut().zip(places.chunks(LANES)) {
            for lane in 0..LANES {
                let place = eight.get(lane).unwrap_or(&eight[eight.len() - 1]);
                set_corners(block, lane, corner_blocks, corners_of[*place as usize]);
            }
        }
        reaching(simd, &mut self.blocks, ball, &mut self.meant);
        // The last block repeats its last triangle.
        if let Some(last) = self.meant.last_mut() {
            *last &= u8::MAX >> ((LANES - places.len() % LANES) % LANES);
        }
        self.slots.resize(corners_of.len(), FAR);
        let slots = &mut self.slots[..];
        for ((&meant, eight), first) in self.meant.iter().zip(places.chunks(LANES)).zip((0..).step_by(LANES))
        {
            for (lane, &place) in (0..).zip(eight) {
                slots[place as usize] = if meant >> lane & 1 != 0 { first + lane } else { FAR };
            }
        }
        NearView {
            beyond: &self.beyond,
            places,
            blocks: &self.blocks,
            meant: &self.meant,
            slots: &self.slots,
        }
    }
}

impl NearView<'_> {
    /// Whether the facet at a place of the blocks is near.
    #[inline]
    pub fn is_meant(&self, slot: usize) -> bool {
        self.meant[slot / LANES] >> (slot % LANES) & 1 != 0
    }

    /// Whether the normal of any near facet is farther than this from a unit vector; one without area counts as such.
    pub fn any_leans(&self, from: DVec3, most: f64) -> bool {
        self.blocks.iter().zip(self.meant).any(|(block, &meant)| {
            let [x, y, z] = &block.normal;
            let mut leaning = 0_u8;
            for lane in 0..LANES {
                let (dx, dy, dz) = (x[lane] - from.x, y[lane] - from.y, z[lane] - from.z);
                leaning |= u8::from(dx * dx + dy * dy + dz * dz > most * most) << lane;
            }
            leaning & meant != 0
        })
    }

    /// Whether a facet of the patch is near.
    #[inline]
    pub fn is_near(&self, place: u32) -> bool {
        self.slots[place as usize] != FAR
    }

    /// Where a facet of the patch stands in the blocks, if it is near.
    #[inline]
    pub fn slot(&self, place: u32) -> Option<usize> {
        let slot = self.slots[place as usize];
        (slot != FAR).then_some(slot as usize)
    }

    /// The corners of a facet.
    #[inline]
    pub fn corners(&self, slot: usize) -> [DVec3; 3] {
        let (Block { corners, .. }, lane) = (&self.blocks[slot / LANES], slot % LANES);
        let at = |k: usize| DVec3::new(corners[k][lane], corners[k + 1][lane], corners[k + 2][lane]);
        [at(0), at(3), at(6)]
    }

    /// The unit normal of a facet.
    #[inline]
    pub fn normal(&self, slot: usize) -> DVec3 {
        let (Block { normal, .. }, lane) = (&self.blocks[slot / LANES], slot % LANES);
        DVec3::new(normal[0][lane], normal[1][lane], normal[2][lane])
    }
}

/// The facets whose boxes reach into a box, beyond which sides of it their corners lie: their places to the front, and
/// how many. Without a branch, as chance decides.
fn in_box(beyond: &[u64], corners_of: &[[u32; 3]], places: &mut [u32]) -> usize {
    let mut count = 0;
    for (&[a, b, c], place) in corners_of.iter().zip(0..) {
        places[count] = place;
        count += usize::from(beyond[a as usize] & beyond[b as usize] & beyond[c as usize] == 0);
    }
    count
}

/// Copies the corners of a facet into a lane.
#[inline(always)]
fn set_corners(block: &mut Block, lane: usize, at: &[CornerBlock], [a, b, c]: [u32; 3]) {
    let [ax, ay, az, bx, by, bz, cx, cy, cz] = &mut block.corners;
    let copy = |corner: u32, [x, y, z]: [&mut [f64; LANES]; 3]| {
        let (from, k) = (&at[corner as usize / LANES], corner as usize % LANES);
        (x[lane], y[lane], z[lane]) = (from[0][k], from[1][k], from[2][k]);
    };
    copy(a, [ax, ay, az]);
    copy(b, [bx, by, bz]);
    copy(c, [cx, cy, cz]);
}

dispatch! {
    /// For each corner a bit for each side of a box that it lies beyond.
    fn sides_beyond(corners: &[CornerBlock], bounds: &Aabb, out: &mut [u64]) = each sides_beyond_plain
}

dispatch! {
    /// Completes blocks that have their corners only, and tells which of the facets have boxes that reach into a ball and
    /// planes that meet it.
    fn reaching(blocks: &mut [Block], ball: &Ball, out: &mut Lanes) = each reaching_plain
}

#[inline(always)]
fn sides_beyond_plain(corners: &[CornerBlock], bounds: &Aabb, out: &mut [u64]) {
    let (low, high) = (bounds.low.to_array(), bounds.high.to_array());
    for (block, beyond) in corners.iter().zip(out.as_chunks_mut::<LANES>().0) {
        for i in 0..LANES {
            for axis in 0..3 {
                let x = block[axis][i];
                beyond[i] |= u64::from(x < low[axis]) << (2 * axis);
                beyond[i] |= u64::from(x > high[axis]) << (2 * axis + 1);
            }
        }
    }
}

#[inline(always)]
fn reaching_plain(blocks: &mut [Block], ball: &Ball, out: &mut Lanes) {
    let (p, square) = (ball.centre.to_array(), ball.radius * ball.radius);
    for block in blocks {
        for i in 0..LANES {
            complete(block, i);
        }
        let mut reaches = [0; LANES];
        for i in 0..LANES {
            let height = height(block, p, i);
            reaches[i] = u8::from((height * height <= square) & (box_square(block, p, i) <= square));
        }
        out.push(bits(reaches));
    }
}

/// The plane of a lane.
#[inline(always)]
fn complete(block: &mut Block, i: usize) {
    let Block { corners, normal, offset } = block;
    let ab = [corners[3][i] - corners[0][i], corners[4][i] - corners[1][i], corners[5][i] - corners[2][i]];
    let ac = [corners[6][i] - corners[0][i], corners[7][i] - corners[1][i], corners[8][i] - corners[2][i]];
    let n = [ab[1] * ac[2] - ac[1] * ab[2], ab[2] * ac[0] - ac[2] * ab[0], ab[0] * ac[1] - ac[0] * ab[1]];
    let short = 1.0 / (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt();
    let has_area = (short > 0.0) & (short < f64::INFINITY);
    for axis in 0..3 {
        normal[axis][i] = if has_area { n[axis] * short } else { 0.0 };
    }
    offset[i] = normal[0][i] * corners[0][i] + normal[1][i] * corners[1][i] + normal[2][i] * corners[2][i];
}

#[cfg(test)]
pub(super) mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::model::{Fact, Model};
    use crate::narrow::exact::placed_mesh::PlacedMesh;
    use crate::shape::procedural;
    use crate::{Budget, Pose};

    /// Complete blocks of triangles.
    pub(in crate::narrow::exact) fn blocks(triangles: &[[DVec3; 3]]) -> Vec<Block> {
        let block = |eight: &[[DVec3; 3]]| {
            let mut block = Block::EMPTY;
            for lane in 0..LANES {
                let placed = eight[lane.min(eight.len() - 1)];
                (0..9).for_each(|k| block.corners[k][lane] = placed[k / 3][k % 3]);
            }
            block
        };
        let mut blocks: Vec<Block> = triangles.chunks(LANES).map(block).collect();
        let all = Ball { centre: DVec3::ZERO, radius: f64::INFINITY };
        reaching(SimdLevel::PORTABLE, &mut blocks, &all, &mut Lanes::new());
        blocks
    }

    #[test]
    fn the_facets_near_a_body_are_those_that_one_finds_one_by_one() {
        let dice = &mut Pcg64::seed_from_u64(3);
        let model = Model::from(procedural::torus(1.0, 0.4, 24, 14).unwrap());
        assert!(model.prepare(Fact::Topology, &mut Budget::UNLIMITED.clone()));
        let (mut near, mut far) = (0, 0);
        for _ in 0..200 {
            let vector = |dice: &mut Pcg64, size: f64| {
                DVec3::from_array(std::array::from_fn(|_| dice.random_range(-size..size)))
            };
            let pose = Pose::shift(vector(dice, 3.0));
            let middle = pose.apply(vector(dice, 1.0));
            let [half, room] = [0.6, 0.2].map(|size| vector(dice, size).abs());
            let bounds = Aabb { low: middle - half, high: middle + half };
            let region = Aabb { low: bounds.low - room, high: bounds.high + room };
            let patch = SurfacePatch::gather(&PlacedMesh::new(&model, &pose), region);
            let ball = Ball { centre: middle, radius: half.length() * dice.random_range(0.5..1.2) };
            for simd in SimdLevel::available() {
                let mut room = NearFacets::default();
                let found = room.find(simd, &patch, &bounds, &ball);
                for place in 0..patch.facets.len() {
                    let corners = patch.placed(place);
                    let own = Aabb::around_points(&corners);
                    let beside = (own.high.cmplt(bounds.low) | own.low.cmpgt(bounds.high)).any();
                    let arm = (own.low - middle).max(middle - own.high).max(DVec3::ZERO);
                    let height = patch.normal(place).dot(middle) - patch.normal(place).dot(corners[0]);
                    let expected = !beside
                        && arm.length_squared() <= ball.radius * ball.radius
                        && height * height <= ball.radius * ball.radius;
                    let slot = found.slot(place as u32);
                    assert_eq!(slot.is_some(), expected);
                    if let Some(slot) = slot {
                        assert_eq!((found.corners(slot), found.normal(slot)), (corners, patch.normal(place)));
                        assert!(found.is_meant(slot) && found.places[slot] == place as u32);
                        near += 1;
                    } else {
                        far += 1;
                    }
                }
            }
        }
        assert!(near > 1000 && far > 1000, "{near} {far}");
    }
}
