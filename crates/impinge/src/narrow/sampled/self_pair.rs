//! Patches of one body: self-collision with the same algorithm (Guy and Debunne 2004, section 5).
//!
//! Where we leave the paper: a body that folds onto itself exceeds any stated deformation for which cylinders that ride
//! on three vertices would still be of use. So patches (the facets of the shells, as sets of triangles) are measured
//! when they are looked at: a polytope of fixed slabs and a cone of normals. What was measured counts as long as the
//! stated motion allows: a slab moves by no more than the vertices, and normals turn as far as the triangles' heights
//! let them. Only what was used up is measured again, from the finest patches that were, so that a body at rest costs
//! nothing.
//!
//! **Turning.** Let no corner of a triangle of least height h have moved by more than d. The map of its plane to the
//! moved one is the identity and Σ dᵢ ⊗ ∇λᵢ with |∇λᵢ| ≤ 1/h, so it tilts no direction by more than asin(3d/h), which
//! is at most π·d/h for d ≤ h/6. Half the least height is the least distance from a line that all corners keep, so it
//! is not below h − 2d afterwards.
//!
//! **Patches that hang together** touch always. Such a one whose normals all lie within less than a right angle of some
//! direction counts as free of self-collisions (Volino and Magnenat-Thalmann 1994), without their test of its contour.
//! It is the only estimate here, and the reason why answers about one body are never called proved.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI, SQRT_2};

use glam::DVec3;
use smallvec::SmallVec;

use super::cell::triangles;
use super::facet_pair::Gap;
use super::shells::{Csr, Shells};
use super::triangle_pair::Triangle;
use crate::geom::triangle_triangle::has_area;

/// The half-angle of the widest cone of normals of a patch that counts as free of self-collisions (radians): somewhat
/// below a right angle, for rounding and because contours are not tested.
const FLAT: f64 = 1.0;

/// The part of a patch's size that its bounds may have grown by before it is measured again (no unit).
const LOOSE: f64 = 1.0 / 64.0;

/// The angle by which a patch's cone may have grown before it is measured again (radians).
const TURNED: f64 = 0.05;

/// Rounding of an angle (radians).
const ROUNDING: f64 = 1e-6;

/// Least height of a triangle against its longest side at which its normal is known (no unit).
const NEEDLE: f64 = 1e-9;

/// Which patches hang together: levels below the floor have no entries.
#[derive(Debug)]
pub(super) struct Adjacency {
    /// The patches of the same level that have a triangle which shares a vertex with one of each, by level.
    touching: Vec<Csr>,
    /// Whether the triangles of each are connected by shared vertices, as far as its own children tell, by level.
    connected: Vec<Vec<bool>>,
}

impl Adjacency {
    /// Which patches of a mesh hang together at rest, and so always.
    pub fn new(shells: &Shells) -> Adjacency {
        let mut touching = vec![shells.levels[0].neighbours.clone()];
        let mut connected = vec![vec![true; shells.levels[0].corners.len()]];
        for (level, own) in shells.levels.iter().enumerate().skip(1) {
            let (parent, beside) = (&shells.levels[level - 1].parent, &touching[level - 1]);
            let around = |i: u32| {
                let beyond = own.children.of(i).iter().flat_map(|&c| beside.of(c));
                let mut list: Vec<u32> =
                    beyond.map(|&c| parent[c as usize]).filter(|&other| other != i).collect();
                list.sort_unstable();
                list.dedup();
                list
            };
            let lists: Vec<Vec<u32>> = (0..own.corners.len() as u32).map(around).collect();
            let whole = |i: u32| {
                let children = own.children.of(i);
                children.iter().all(|&c| connected[level - 1][c as usize]) && is_connected(children, beside)
            };
            let whole = (0..own.corners.len() as u32).map(whole).collect();
            touching.push(Csr::from_lists(&lists));
            connected.push(whole);
        }
        Adjacency { touching, connected }
    }

    /// Whether two different patches make a connected one.
    fn hang_together(&self, shells: &Shells, facets: [u32; 2], levels: [u8; 2]) -> bool {
        let (fine, coarse) = if levels[0] <= levels[1] { (0, 1) } else { (1, 0) };
        let above = |&other: &u32| {
            let up = |at: u32, level: u8| shells.levels[usize::from(level)].parent[at as usize];
            (levels[fine]..levels[coarse]).fold(other, up) == facets[coarse]
        };
        let is_whole = |k: usize| self.connected[usize::from(levels[k])][facets[k] as usize];
        is_whole(0)
            && is_whole(1)
            && self.touching[usize::from(levels[fine])].of(facets[fine]).iter().any(above)
    }
}

/// Whether some items are connected by the neighbours of each.
fn is_connected(items: &[u32], neighbours: &Csr) -> bool {
    let mut reached = vec![false; items.len()];
    let mut stack: Vec<usize> = (0..items.len().min(1)).collect();
    while let Some(k) = stack.pop() {
        if std::mem::replace(&mut reached[k], true) {
            continue;
        }
        let around = neighbours.of(items[k]);
        stack.extend((0..items.len()).filter(|&l| !reached[l] && around.contains(&items[l])));
    }
    reached.iter().all(|&r| r)
}

/// The normals of some triangles.
#[derive(Debug, Clone, Copy)]
struct Cone {
    /// Of unit length, or zero.
    axis: DVec3,
    /// The largest angle of a normal with the axis (radians); infinite where that is not known, negative infinity where
    /// no triangle has an area.
    half: f64,
    /// The least height of the triangles (a length).
    height: f64,
}

impl Cone {
    /// The largest angle that the normals turn by while vertices come nearer to each other by so much.
    fn turn(&self, way: f64) -> f64 {
        if way == 0.0 {
            0.0
        } else if way <= self.height / 3.0 {
            FRAC_PI_2 * way / self.height
        } else {
            f64::INFINITY
        }
    }

    /// The cone of one triangle.
    fn of(triangle: &Triangle) -> Cone {
        let ([a, b, c], area) = (triangle.corners, triangle.normal.length());
        let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
        if area > NEEDLE * longest && area.is_finite() {
            return Cone { axis: triangle.normal / area, half: 0.0, height: area / longest.sqrt() };
        }
        // Triangles without area meet nothing.
        let half = if has_area(&triangle.corners) { f64::INFINITY } else { f64::NEG_INFINITY };
        Cone { axis: DVec3::ZERO, half, height: 0.0 }
    }

    /// The cone around some, about the mean of their axes.
    fn around(cones: &[Cone]) -> Cone {
        let axis = cones.iter().map(|cone| cone.axis).sum::<DVec3>().normalize_or_zero();
        let wide = |cone: &Cone| angle(axis, cone.axis) + cone.half;
        let half = cones.iter().map(wide).fold(f64::NEG_INFINITY, f64::max);
        Cone { axis, half, height: cones.iter().map(|cone| cone.height).fold(f64::INFINITY, f64::min) }
    }
}

/// The slabs along the axes and the diagonals of faces of a cube that hold some points (an 18-DOP): smallest and largest
/// sums or differences of coordinates, up to the rounding that gaps have room for.
#[derive(Debug, Clone, Copy)]
struct Slabs {
    low: [f64; 9],
    high: [f64; 9],
}

/// The directions of the slabs; those of the diagonals have the length √2.
const DIRECTIONS: [DVec3; 9] = [
    DVec3::X,
    DVec3::Y,
    DVec3::Z,
    DVec3::new(1.0, 1.0, 0.0),
    DVec3::new(1.0, -1.0, 0.0),
    DVec3::new(1.0, 0.0, 1.0),
    DVec3::new(1.0, 0.0, -1.0),
    DVec3::new(0.0, 1.0, 1.0),
    DVec3::new(0.0, 1.0, -1.0),
];

impl Slabs {
    const EMPTY: Slabs = Slabs { low: [f64::INFINITY; 9], high: [f64::NEG_INFINITY; 9] };

    fn with(mut self, p: DVec3) -> Slabs {
        let DVec3 { x, y, z } = p;
        let at = [x, y, z, x + y, x - y, x + z, x - z, y + z, y - z];
        for (k, x) in at.into_iter().enumerate() {
            (self.low[k], self.high[k]) = (self.low[k].min(x), self.high[k].max(x));
        }
        self
    }

    fn merge(mut self, other: Slabs) -> Slabs {
        for k in 0..9 {
            self.low[k] = self.low[k].min(other.low[k]);
            self.high[k] = self.high[k].max(other.high[k]);
        }
        self
    }

    /// The slabs after all points have moved by at most so much.
    fn grown(mut self, by: f64) -> Slabs {
        for k in 0..9 {
            let by = if k < 3 { by } else { SQRT_2 * by };
            self.low[k] -= by;
            self.high[k] += by;
        }
        self
    }

    /// The longest side of the box.
    fn size(&self) -> f64 {
        (0..3).map(|k| self.high[k] - self.low[k]).fold(0.0, f64::max)
    }

    /// The widest gap along a slab.
    fn gap(&self, other: &Slabs) -> Gap {
        let mut best = Gap { width: f64::NEG_INFINITY, direction: DVec3::ZERO };
        for (k, direction) in DIRECTIONS.into_iter().enumerate() {
            let (before, behind) = (other.low[k] - self.high[k], self.low[k] - other.high[k]);
            let length = if k < 3 { 1.0 } else { FRAC_1_SQRT_2 };
            let width = before.max(behind) * length;
            if width > best.width {
                let towards = if before >= behind { length } else { -length };
                best = Gap { width, direction: direction * towards };
            }
        }
        best
    }
}

/// What was measured of a patch, and at which readings; not a number before it was.
#[derive(Debug, Clone, Copy)]
struct Patch {
    bound: Slabs,
    bound_at: f64,
    cone: Cone,
    cone_at: f64,
}

const UNKNOWN: Patch = Patch {
    bound: Slabs::EMPTY,
    bound_at: f64::NAN,
    cone: Cone { axis: DVec3::ZERO, half: f64::INFINITY, height: 0.0 },
    cone_at: f64::NAN,
};

/// The vertices of a body in one frame, and the sum of all motions up to then.
#[derive(Clone, Copy)]
pub(super) struct Moment<'f> {
    pub shells: &'f Shells,
    /// In the body's own frame: a body meets itself wherever it is.
    pub vertices: &'f [DVec3],
    /// How far any two vertices may have come nearer to each other since the beginning (a length).
    pub reading: f64,
    /// Rounding of gaps (a length).
    pub pad: f64,
}

impl Moment<'_> {
    fn triangle(&self, t: u32) -> Triangle {
        let corners = self.shells.levels[0].corners[t as usize];
        Triangle::new(corners.map(|v| self.vertices[v as usize]))
    }
}

/// What was measured of the patches of a body.
#[derive(Debug, Clone)]
pub(super) struct Patches {
    /// By level; none below the floor.
    levels: Vec<Vec<Patch>>,
    floor: u8,
}

impl Patches {
    /// Nothing is measured yet.
    pub fn new(shells: &Shells, floor: u8) -> Patches {
        let above = |level: usize| level >= usize::from(floor);
        let count = |level: usize| if above(level) { shells.levels[level].corners.len() } else { 0 };
        Patches { levels: (0..shells.levels.len()).map(|l| vec![UNKNOWN; count(l)]).collect(), floor }
    }

    /// Forgets what was measured.
    pub fn forget(&mut self) {
        self.levels.iter_mut().for_each(|level| level.fill(UNKNOWN));
    }

    /// How far two patches of one body are apart; for patches that hang together, how far vertices may come nearer to
    /// each other before the patches could meet, by the angles of their normals; 0 or less where that is not known.
    pub fn gap(
        &mut self,
        moment: &Moment<'_>,
        adjacency: &Adjacency,
        facets: [u32; 2],
        levels: [u8; 2],
        updates: &mut u64,
    ) -> Gap {
        let same = (facets[0], levels[0]) == (facets[1], levels[1]);
        // There the triangles themselves are looked at, and tell for how long they do not meet.
        let at_floor = levels == [self.floor; 2];
        if !same {
            let [a, b] = [0, 1].map(|k| self.bound(moment, levels[k], facets[k], updates));
            let gap = a.gap(&b);
            let gap = Gap { width: gap.width - moment.pad, ..gap };
            if gap.width > 0.0 || at_floor || !adjacency.hang_together(moment.shells, facets, levels) {
                return gap;
            }
        } else if at_floor || !adjacency.connected[usize::from(levels[0])][facets[0] as usize] {
            return Gap { width: 0.0, direction: DVec3::ZERO };
        }
        let a = self.cone(moment, levels[0], facets[0], updates);
        let (half, height) = if same {
            (a.half, a.height)
        } else {
            let b = self.cone(moment, levels[1], facets[1], updates);
            (0.5 * (a.half + b.half + angle(a.axis, b.axis)), a.height.min(b.height))
        };
        Gap { width: way_until(FLAT - half, height), direction: DVec3::ZERO }
    }

    /// The polytope around a patch as it is now.
    fn bound(&mut self, moment: &Moment<'_>, level: u8, i: u32, updates: &mut u64) -> Slabs {
        let Patch { bound, bound_at, .. } = self.levels[usize::from(level)][i as usize];
        let way = moment.reading - bound_at;
        // Not so where nothing was measured.
        if way <= LOOSE * bound.size() {
            return bound.grown(0.5 * way);
        }
        *updates += 1;
        let below = triangles(moment.shells, level, &i);
        let bound = if level == self.floor {
            let corners = below.iter().flat_map(|&t| moment.triangle(t).corners);
            corners.fold(Slabs::EMPTY, Slabs::with)
        } else {
            let all = below.iter().map(|&c| self.bound(moment, level - 1, c, updates));
            all.fold(Slabs::EMPTY, Slabs::merge)
        };
        let patch = &mut self.levels[usize::from(level)][i as usize];
        (patch.bound, patch.bound_at) = (bound, moment.reading);
        bound
    }

    /// The cone around the normals of a patch as it is now.
    fn cone(&mut self, moment: &Moment<'_>, level: u8, i: u32, updates: &mut u64) -> Cone {
        let Patch { cone, cone_at, .. } = self.levels[usize::from(level)][i as usize];
        let way = moment.reading - cone_at;
        let turn = cone.turn(way);
        if turn <= TURNED {
            return Cone { half: cone.half + turn, height: cone.height - way, ..cone };
        }
        *updates += 1;
        let below = triangles(moment.shells, level, &i);
        let cones: SmallVec<[Cone; 16]> = if level == self.floor {
            below.iter().map(|&t| Cone::of(&moment.triangle(t))).collect()
        } else {
            below.iter().map(|&c| self.cone(moment, level - 1, c, updates)).collect()
        };
        let cone = Cone::around(&cones);
        let patch = &mut self.levels[usize::from(level)][i as usize];
        (patch.cone, patch.cone_at) = (cone, moment.reading);
        cone
    }
}

/// How far vertices may come nearer to each other before two triangles with a common edge, each of which may turn by half
/// of what is left, are folded onto each other; 0 where that is not known.
pub(super) fn folding_way(a: &Triangle, b: &Triangle) -> f64 {
    let [a, b] = [a, b].map(Cone::of);
    let left = PI - ROUNDING - angle(a.axis, b.axis) - a.half.max(0.0) - b.half.max(0.0);
    way_until(0.5 * left, a.height.min(b.height))
}

fn angle(a: DVec3, b: DVec3) -> f64 {
    a.dot(b).clamp(-1.0, 1.0).acos()
}

/// How far vertices may come nearer to each other before triangles of this least height turn by an angle; 0 or less
/// where that is not positive.
fn way_until(angle: f64, height: f64) -> f64 {
    if !(angle > 0.0) {
        return 0.0;
    }
    (height * (angle / FRAC_PI_2).min(1.0 / 3.0)).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::unit;
    use crate::shape::procedural;

    fn vector(seed: u64, n: u64) -> DVec3 {
        DVec3::from_array([0, 1, 2].map(|i| 2.0 * unit(seed, 3 * n + i) - 1.0))
    }

    #[test]
    fn normals_turn_no_more_than_heights_allow() {
        let mut nearly = 0;
        for k in 0..4000 {
            let thin = if k % 3 == 0 { 0.05 } else { 1.0 };
            let corners = [0, 1, 2].map(|n| vector(k, n) * DVec3::new(1.0, thin, thin));
            let before = Cone::of(&Triangle::new(corners));
            let way = before.height * unit(k, 99) / 3.0;
            let mut moved =
                |n: usize| corners[n] + vector(k, 10 + n as u64).normalize_or_zero() * (0.5 * way);
            let after = Cone::of(&Triangle::new([0, 1, 2].map(&mut moved)));
            let turned = angle(before.axis, after.axis);
            assert!(turned <= before.turn(way) + 1e-7, "{k}: {turned} {}", before.turn(way));
            assert!(after.height >= before.height - way - 1e-12, "{k}");
            nearly += usize::from(turned > 0.3 * before.turn(way));
        }
        assert!(nearly > 100, "{nearly}");
    }

    /// Patches in motion, measured now and then: what they say is below the truth, whatever was measured before.
    #[test]
    fn what_was_measured_before_still_holds() {
        let mesh = procedural::torus(1.0, 0.4, 24, 12).unwrap();
        let shells = Shells::of_mesh(&mesh, None);
        let mut patches = Patches::new(&shells, 1);
        let (mut vertices, mut reading, mut updates, mut known) = (mesh.vertices().to_vec(), 0.0, 0, 0);
        for frame in 0..60 {
            let moment = Moment { shells: &shells, vertices: &vertices, reading, pad: 0.0 };
            for level in 1..shells.levels.len() as u8 {
                for i in 0..shells.levels[usize::from(level)].corners.len() as u32 {
                    if unit(frame, u64::from(i)) < 0.7 {
                        continue;
                    }
                    let bound = patches.bound(&moment, level, i, &mut updates);
                    let cone = patches.cone(&moment, level, i, &mut updates);
                    let mut below = vec![i];
                    for l in (1..=level).rev() {
                        let own = &shells.levels[usize::from(l)].children;
                        below = below.iter().flat_map(|&c| own.of(c).to_vec()).collect();
                    }
                    for triangle in below.iter().map(|&t| moment.triangle(t)) {
                        let point = Slabs::EMPTY.with(triangle.centre());
                        assert!(bound.gap(&point).width <= 1e-12, "{frame} {level} {i}");
                        let turned = angle(cone.axis, Cone::of(&triangle).axis);
                        assert!(turned <= cone.half + 1e-6, "{frame} {level} {i}");
                        known += usize::from(cone.half < 1.5);
                    }
                }
            }
            let step = 0.002 * unit(7, frame);
            let shift = |p: &DVec3| 3.0 * *p + DVec3::splat(0.1 * frame as f64);
            vertices.iter_mut().for_each(|p| {
                let wave = shift(p);
                *p += step * DVec3::new(wave.y.sin(), wave.z.sin(), wave.x.cos()).normalize_or_zero();
            });
            reading += 2.0 * step;
        }
        assert!(known > 1000 && updates > 100, "{known} {updates}");
    }
}
