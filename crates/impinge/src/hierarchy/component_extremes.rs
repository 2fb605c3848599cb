//! The corners of each component of a mesh that reach farthest along the axes of its tree: whether a component reaches
//! out of the box of another body is mostly told by the first of them.
//!
//! Where none does, a way out often shows a component to lie outside: from the corner nearest to a side of the box straight
//! through that side, past all boxes of triangles.
//!
//! Eight components are asked at once. A corner is a box without extent: what the pad of a [`Map`] covers for boxes
//! covers it, and the rounding of the corner to f32 (2⁻²⁴ of the reach) is one of the twelve that the pad has to spare.

use glam::DVec3;

use super::relative::Map;
use super::spot_search::{Spot, reaches_a_leaf};
use super::wide::{TreeFrame, WIDTH, WideTree};
use crate::Mesh;
use crate::num::parallel::in_turn;
use crate::shape::Topology;
use crate::simd::{SimdLevel, dispatch};

/// Along and against each axis.
const DIRECTIONS: usize = 6;

/// Sides of a box through which a way out of it is tried, the nearest first.
const WAYS_TRIED: usize = 3;

/// Rounding of the ends of a way to f32 and of its comparison with boxes, relative to the numbers in it (no unit).
const WAY_ROUNDING: f32 = 4.0 * f32::EPSILON;

/// One corner of each of eight components, in tree units: x of all, then y and z.
type Corners = [[f32; WIDTH]; 3];

/// The farthest corners of all components of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentExtremes {
    /// Of eight components each, the corners farthest against x, along x, against y and so on; lanes without a component
    /// repeat the first.
    groups: Vec<[Corners; DIRECTIONS]>,
    /// How many components there are.
    count: usize,
}

impl ComponentExtremes {
    /// Looks at every corner once.
    pub fn new(mesh: &Mesh, frame: &TreeFrame, topology: &Topology) -> ComponentExtremes {
        let components = (0..).zip(in_turn(topology.component_of())).map(|(t, &component)| (t, component));
        ComponentExtremes::among(mesh, frame, components, topology.components().len())
    }

    /// The same of some triangles, each with its component, of which there are `count`, none without a triangle.
    pub(super) fn among(
        mesh: &Mesh,
        frame: &TreeFrame,
        triangles: impl Iterator<Item = (u32, u32)>,
        count: usize,
    ) -> ComponentExtremes {
        let mut boxes = vec![[DVec3::INFINITY, DVec3::NEG_INFINITY]; count];
        let mut extremes = vec![[DVec3::ZERO; DIRECTIONS]; boxes.len()];
        for (t, component) in triangles {
            let [low, high] = &mut boxes[component as usize];
            for p in mesh.corners(t).map(|p| frame.inward(p)) {
                if (p.cmplt(*low) | p.cmpgt(*high)).any() {
                    for axis in 0..3 {
                        if p[axis] < low[axis] {
                            extremes[component as usize][2 * axis] = p;
                        }
                        if p[axis] > high[axis] {
                            extremes[component as usize][2 * axis + 1] = p;
                        }
                    }
                    (*low, *high) = (low.min(p), high.max(p));
                }
            }
        }
        let group = |eight: &[[DVec3; DIRECTIONS]]| {
            let mut lanes = [[[0.0; WIDTH]; 3]; DIRECTIONS];
            for (direction, corners) in lanes.iter_mut().enumerate() {
                for (axis, lanes) in corners.iter_mut().enumerate() {
                    for (lane, value) in lanes.iter_mut().enumerate() {
                        *value = eight.get(lane).unwrap_or(&eight[0])[direction].as_vec3()[axis];
                    }
                }
            }
            lanes
        };
        ComponentExtremes { groups: extremes.chunks(WIDTH).map(group).collect(), count }
    }

    /// Whether every component surely has a corner beyond the box of another placed tree.
    ///
    /// `map` carries boxes into the frame of the other tree, `back` the other way.
    pub fn all_beyond(&self, other: &WideTree, map: &Map, back: &Map) -> bool {
        let (level, room) = (SimdLevel::best(), room(other));
        self.groups.iter().all(|group| beyond(level, group, map, back, &room, u8::MAX) == u8::MAX)
    }

    /// Whether every component surely has a corner outside of the other body, of which this is the tree: beyond its box, or
    /// with a way out of it that passes no triangle.
    pub fn all_outside(&self, other: &WideTree, map: &Map, back: &Map) -> bool {
        let (level, room) = (SimdLevel::best(), room(other));
        let components = (0..self.count).step_by(WIDTH);
        self.groups.iter().zip(components).all(|(group, first)| {
            let out = beyond(level, group, map, back, &room, u8::MAX);
            let lanes = (self.count - first).min(WIDTH);
            (0..lanes).all(|lane| out >> lane & 1 != 0 || has_way_out(level, group, lane, other, map, &room))
        })
    }

    /// Whether any component surely has a corner beyond the box of another placed tree.
    pub fn any_beyond(&self, other: &WideTree, map: &Map, back: &Map) -> bool {
        let (level, room) = (SimdLevel::best(), room(other));
        // Nearly always the first corner that is tried is out.
        let tried = outward(back).next().zip(self.groups.first());
        if tried.is_some_and(|(direction, group)| corner_beyond(&group[direction], 0, map, &room)) {
            return true;
        }
        self.groups.iter().any(|group| beyond(level, group, map, back, &room, 1) != 0)
    }

    /// Whether the first component surely has a corner outside of the other body, with a way out that passes no triangle.
    pub fn first_has_way_out(&self, other: &WideTree, map: &Map) -> bool {
        let (level, room) = (SimdLevel::best(), room(other));
        self.groups.first().is_some_and(|group| has_way_out(level, group, 0, other, map, &room))
    }
}

/// Both corners of the box of a tree.
type Room = [[f32; 3]; 2];

fn room(tree: &WideTree) -> Room {
    tree.bounds().map(|corner| corner.to_array())
}

/// All directions, beginning with the one that leads away from the other tree most.
#[inline(always)]
fn outward(back: &Map) -> impl Iterator<Item = usize> {
    let [x, y, z] = back.shift.map(f32::abs);
    let axis = if x >= y && x >= z { 0 } else { 1 + usize::from(z > y) };
    let first = 2 * axis + usize::from(back.shift[axis] < 0.0);
    (0..DIRECTIONS).map(move |k| (first + k) % DIRECTIONS)
}

dispatch! {
    /// The lanes of which a corner, carried by the map, is surely beyond the room; the search ends when all lanes of
    /// `enough` are, or, where that is not all of them, when any is.
    fn beyond(group: &[Corners; DIRECTIONS], map: &Map, back: &Map, room: &Room, enough: u8) -> u8
        = eight beyond_in
}

#[inline(always)]
fn beyond_in(group: &[Corners; DIRECTIONS], map: &Map, back: &Map, room: &Room, enough: u8) -> u8 {
    let mut out = 0;
    for direction in outward(back) {
        out |= corners_beyond(&group[direction], map, room);
        if out == u8::MAX || enough != u8::MAX && out != 0 {
            break;
        }
    }
    out
}

/// The lanes whose corners, carried by the map, are surely beyond the room.
#[inline(always)]
fn corners_beyond(corners: &Corners, map: &Map, [low, high]: &Room) -> u8 {
    // Above 0 where a corner is out; written so that it becomes vector instructions.
    let mut most = [f32::NEG_INFINITY; WIDTH];
    for k in 0..3 {
        let [x, y, z] = map.turn[k];
        for (lane, most) in most.iter_mut().enumerate() {
            let at = x * corners[0][lane] + y * corners[1][lane] + z * corners[2][lane] + map.shift[k];
            let (above, below) = (at - high[k], low[k] - at);
            let out = (if above > below { above } else { below }) - map.pad[k];
            *most = if out > *most { out } else { *most };
        }
    }
    (0..WIDTH).fold(0, |mask, lane| mask | u8::from(most[lane] > 0.0) << lane)
}

/// As [`corners_beyond`], of one lane.
#[inline(always)]
fn corner_beyond([u, v, w]: &Corners, lane: usize, map: &Map, [low, high]: &Room) -> bool {
    (0..3).any(|k| {
        let [x, y, z] = map.turn[k];
        let at = x * u[lane] + y * v[lane] + z * w[lane] + map.shift[k];
        (at - high[k]).max(low[k] - at) - map.pad[k] > 0.0
    })
}

/// Whether a way from a corner of a component straight out of the room passes no box of a triangle. The corner is then
/// outside of what a closed surface of these triangles bounds.
fn has_way_out(
    level: SimdLevel,
    group: &[Corners; DIRECTIONS],
    lane: usize,
    other: &WideTree,
    map: &Map,
    [low, high]: &Room,
) -> bool {
    // For each side of the room the corner nearest to it.
    let mut ways = [(f32::INFINITY, [0.0; 3]); 2 * 3];
    for corners in group {
        let p = corners.map(|axis| axis[lane]);
        let at = [0, 1, 2].map(|k| {
            let [x, y, z] = map.turn[k];
            x * p[0] + y * p[1] + z * p[2] + map.shift[k]
        });
        for (side, (nearest, from)) in ways.iter_mut().enumerate() {
            let k = side / 2;
            let gap = if side % 2 == 0 { at[k] - low[k] } else { high[k] - at[k] };
            if gap < *nearest {
                (*nearest, *from) = (gap, at);
            }
        }
    }
    let mut sides = [0, 1, 2, 3, 4, 5];
    sides.sort_unstable_by(|x: &usize, y| ways[*x].0.total_cmp(&ways[*y].0));
    sides.into_iter().take(WAYS_TRIED).any(|side| {
        let (gap, at) = ways[side];
        let mut way = Spot { centre: at, half: map.pad };
        // The middle of the way and half of its length.
        let k = side / 2;
        way.centre[k] += if side % 2 == 0 { -0.5 * gap } else { 0.5 * gap };
        way.half[k] += 0.5 * gap.abs();
        for (half, x) in way.half.iter_mut().zip(at) {
            *half += WAY_ROUNDING * (x.abs() + gap.abs() + other.frame().reach);
        }
        gap.is_finite() && !reaches_a_leaf(level, other, &way)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::relative::Relative;
    use crate::shape::procedural;
    use crate::{Pose, Relation, Shape, relation};

    /// Balls side by side along x, as one mesh.
    fn balls(count: usize) -> Mesh {
        let ball = procedural::ico_sphere(0.4, 1).unwrap();
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for k in 0..count {
            let first = vertices.len() as u32;
            vertices.extend(ball.vertices().iter().map(|p| *p + DVec3::X * k as f64));
            triangles.extend(ball.triangles().iter().map(|t| t.map(|v| v + first)));
        }
        Mesh::from_points(vertices, triangles).unwrap()
    }

    #[test]
    fn components_are_told_inside_a_box_from_those_that_reach_out() {
        for count in [1, 7, 8, 9, 20] {
            let (many, cube) = (balls(count), procedural::ico_sphere(1.0, 2).unwrap());
            let trees = [WideTree::build(&many), WideTree::build(&cube)];
            let extremes = ComponentExtremes::new(&many, trees[0].frame(), &Topology::of(&many));
            for k in 0..60 {
                let shift = -12.0 + 0.4 * f64::from(k);
                let pose = Pose::new([shift, 0.1, -0.05], [0.1, 0.02, 0.0, 1.0]).unwrap();
                let relative = Relative::new(&trees[0], &pose, &trees[1], &Pose::IDENTITY, 0.0);
                let [low, high] = trees[1].bounds().map(|p| p.as_dvec3() * trees[1].frame().unit);
                let inside = (0..count).filter(|&ball| {
                    let corners = many.vertices().chunks(many.vertices().len() / count).nth(ball);
                    corners.unwrap().iter().all(|p| {
                        let p = pose.apply(*p) - trees[1].frame().centre;
                        p.cmpge(low).all() && p.cmple(high).all()
                    })
                });
                let inside = inside.count();
                let (map, back) = (&relative.a_in_b, &relative.b_in_a);
                if inside > 0 {
                    assert!(!extremes.all_beyond(&trees[1], map, back), "{count} {shift}");
                }
                if inside == count {
                    assert!(!extremes.any_beyond(&trees[1], map, back), "{count} {shift}");
                }
                let far = shift + count as f64 - 0.6 < -1.2 || shift - 0.4 > 1.2;
                if far {
                    assert!(extremes.all_beyond(&trees[1], map, back), "{count} {shift}");
                }
            }
        }
    }

    #[test]
    fn corners_with_a_way_out_are_outside() {
        // A bowl: what hangs in it is within its box and outside of it.
        let bowl = Shape::from(procedural::torus(2.0, 0.8, 48, 24).unwrap());
        let ball = procedural::ico_sphere(0.3, 2).unwrap();
        let (ring, tree) = (procedural::torus(2.0, 0.8, 48, 24).unwrap(), WideTree::build(&ball));
        let extremes = ComponentExtremes::new(&ball, tree.frame(), &Topology::of(&ball));
        let (other, ball) = (WideTree::build(&ring), Shape::from(ball));
        let mut seen = [0; 3];
        for k in 0..400 {
            let turn = [0.1, 0.3 * f64::from(k % 7), 0.2, 1.0];
            let at = [-2.9 + 0.0145 * f64::from(k), 0.05 * f64::from(k % 11), 0.09 * f64::from(k % 5)];
            let pose = Pose::new(at, turn).unwrap();
            let relative = Relative::new(&tree, &pose, &other, &Pose::IDENTITY, 0.0);
            let (map, back) = (&relative.a_in_b, &relative.b_in_a);
            let told = extremes.all_outside(&other, map, back);
            assert!(told || !extremes.all_beyond(&other, map, back));
            match relation(ball.at(pose), &bowl) {
                Relation::Separated => seen[usize::from(told)] += 1,
                Relation::AInsideB => {
                    assert!(!told && !extremes.first_has_way_out(&other, map), "{k}");
                    seen[2] += 1;
                }
                _ => {}
            }
        }
        assert!(seen[1] > 60 && seen[0] < 10 && seen[2] > 20, "{seen:?}");
    }

    #[test]
    fn a_part_inside_and_a_part_outside_without_contact_intersect() {
        let (two, ball) = (balls(2), procedural::ico_sphere(0.55, 3).unwrap());
        let (two, ball) = (Shape::from(two), Shape::from(ball));
        assert_eq!(relation(&two, &ball), Relation::Intersecting);
        let beside = Pose::from_translation([2.0, 0.0, 0.0]).unwrap();
        assert_eq!(relation(&two, ball.at(beside)), Relation::Separated);
        let between = Pose::from_translation([0.5, 0.9, 0.0]).unwrap();
        assert_eq!(relation(&two, ball.at(between)), Relation::Separated);
    }
}
