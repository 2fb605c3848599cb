//! The part of a ray in a solid hull, with room for rounding: the planes of all faces clip it, eight at a time.

use glam::DVec3;

use crate::Pose;
use crate::narrow::exact::patch_lanes::bits;
use crate::narrow::exact::ray_cast::Ray;
use crate::num::tolerance::{HULL_CHORD_ROUNDING, ROUND_UP};
use crate::shape::{FacePlanes, PLANES, Polytope};
use crate::simd::{SimdLevel, dispatch};

/// The part of a ray in a solid hull, in the hull's frame: only faces at its ends are hit.
pub(super) struct HullChord<'h> {
    hull: &'h Polytope,
    ends: [DVec3; 2],
    /// The face through which the ray enters, to rounding, and the latest point where it does; `None` where it starts
    /// within.
    entered: Option<(u32, DVec3)>,
    /// What rounding can do to the height of a point over a face.
    pad: f64,
}

impl<'h> HullChord<'h> {
    /// `None` where the ray surely misses.
    pub(super) fn new(hull: &'h Polytope, pose: &Pose, ray: &Ray) -> Option<HullChord<'h>> {
        let longest = ray.direction.abs().max_element();
        let back = pose.inverse_matrix();
        let origin = back * (ray.origin - pose.translation());
        let step = back * (ray.direction / longest);
        let size = ray.origin.abs().max_element()
            + pose.translation().abs().max_element()
            + origin.abs().max_element()
            + hull.centre().abs().max_element()
            + hull.reach();
        let pad = HULL_CHORD_ROUNDING * size;
        let from_centre = origin - hull.centre();
        let room = (hull.reach() + pad) * ROUND_UP;
        let square = step.length_squared();
        if from_centre.cross(step).length_squared() > room * room * square * ROUND_UP {
            return None;
        }
        let line = Line { origin, step, pad };
        let whole = Clipped { enter: -4.0 * pad, leave: ray.reach * longest + 4.0 * pad, entered: None };
        let Clipped { enter, leave, entered } = clipped(SimdLevel::best(), hull.face_planes(), &line, whole)?;
        let entered = entered.map(|index| {
            let face = &hull.faces()[index as usize];
            let latest = (-pad - face.normal.dot(origin - face.corner)) / face.normal.dot(step);
            (index, origin + step * latest)
        });
        Some(HullChord { hull, ends: [enter, leave].map(|at| origin + step * at), entered, pad })
    }

    /// Whether an end is so near to the plane of a face that the face may be hit.
    pub(super) fn may_end_on(&self, face: u32) -> bool {
        let face = &self.hull.faces()[face as usize];
        !self.ends.iter().all(|end| face.normal.dot(end - face.corner) < -2.0 * self.pad)
    }

    /// The only face that may be hit where the ray enters, between the earliest and the latest point of it; `None` where
    /// there may be others, or the ray starts within.
    pub(super) fn only_entry(&self) -> Option<u32> {
        let (face, latest) = self.entered?;
        let ends = [self.ends[0], latest];
        let planes = self.hull.face_planes();
        others_are_above(SimdLevel::best(), planes, face as usize, &ends, 2.0 * self.pad).then_some(face)
    }
}

/// A line of a hull's frame.
struct Line {
    origin: DVec3,
    step: DVec3,
    /// Planes are so much farther out.
    pad: f64,
}

/// What planes leave of a line.
#[derive(Clone, Copy)]
struct Clipped {
    enter: f64,
    leave: f64,
    /// The plane that made `enter`.
    entered: Option<u32>,
}

dispatch! {
    fn clipped(planes: &[FacePlanes], line: &Line, whole: Clipped) -> Option<Clipped> = each clipped_in
}

/// `None` where nothing is left.
#[inline(always)]
fn clipped_in(planes: &[FacePlanes], line: &Line, whole: Clipped) -> Option<Clipped> {
    let mut left = whole;
    for (block, planes) in planes.iter().enumerate() {
        let (mut rooms, rates) =
            (heights(planes, line.origin, &planes.offsets), heights(planes, line.step, &NONE));
        for room in &mut rooms {
            *room = line.pad - *room;
        }
        let mut cuts = lanes_where(|lane| {
            let known = if rates[lane] > 0.0 { left.leave } else { left.enter };
            rooms[lane] < known * rates[lane]
        });
        while cuts != 0 {
            let lane = cuts.trailing_zeros() as usize % PLANES;
            cuts &= cuts - 1;
            left = cut(left, rooms[lane], rates[lane], (block * PLANES + lane) as u32)?;
        }
    }
    Some(left)
}

/// Offsets of directions.
const NONE: [f64; PLANES] = [0.0; PLANES];

/// The plane is passed at room/rate, which is divided only where it changes an end: few do. Where the rate is 0 the whole
/// line is on one side; what is no number says nothing.
#[inline(always)]
fn cut(left: Clipped, room: f64, rate: f64, plane: u32) -> Option<Clipped> {
    let Clipped { enter, leave, .. } = left;
    let next = if rate > 0.0 {
        Clipped { leave: if room < leave * rate { room / rate } else { leave }, ..left }
    } else if !(room < enter * rate) {
        left
    } else if rate < 0.0 {
        Clipped { enter: room / rate, entered: Some(plane), ..left }
    } else {
        return None;
    };
    (!(next.enter > next.leave)).then_some(next)
}

dispatch! {
    fn others_are_above(
        planes: &[FacePlanes],
        face: usize,
        points: &[DVec3; 2],
        least: f64,
    ) -> bool = each others_are_above_in
}

/// Whether all planes but one are more than so much above both points; not where a height is no number.
#[inline(always)]
fn others_are_above_in(planes: &[FacePlanes], face: usize, points: &[DVec3; 2], least: f64) -> bool {
    // A loop: closures of iterators are not compiled for the instruction set.
    for (block, planes) in planes.iter().enumerate() {
        let [first, second] =
            [heights(planes, points[0], &planes.offsets), heights(planes, points[1], &planes.offsets)];
        let near = lanes_where(|lane| !((first[lane] < -least) & (second[lane] < -least)));
        let one = if face / PLANES == block { 1 << (face % PLANES) } else { 0 };
        if near & !one != 0 {
            return false;
        }
    }
    true
}

/// How far a point is above each of eight planes.
#[inline(always)]
fn heights(planes: &FacePlanes, p: DVec3, offsets: &[f64; PLANES]) -> [f64; PLANES] {
    let [x, y, z] = &planes.normals;
    let mut heights = [0.0; PLANES];
    for (lane, height) in heights.iter_mut().enumerate() {
        *height = (x[lane] * p.x + y[lane] * p.y) + z[lane] * p.z - offsets[lane];
    }
    heights
}

#[inline(always)]
fn lanes_where(holds: impl Fn(usize) -> bool) -> u8 {
    let mut lanes = [0; PLANES];
    for (lane, holding) in lanes.iter_mut().enumerate() {
        *holding = u8::from(holds(lane));
    }
    bits(lanes)
}
