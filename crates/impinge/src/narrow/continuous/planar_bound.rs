//! Bodies that move in parallel planes, seen along the normal of these: gears, cams, linkages.
//!
//! Where both bodies turn about parallel axes and do not shift along them, every point keeps its height. The shadows on
//! the plane are rigid bodies as well, under the same motions, and what meets has shadows that meet. All layers of a
//! prism have the same shadow, so that there are far fewer triangles; those that fall on a line are dropped where they
//! are sides of others. As long as the shadows are apart nothing meets.

use std::collections::{HashMap, HashSet};

use glam::DVec3;

use super::answer::{Sweep, SweepOptions};
use super::mesh_sweep::MeshSweep;
use crate::geom::point_triangle::norm;
use crate::model::Model;
use crate::motion::Motion;
use crate::num::tolerance::AXIS_ROUNDING;
use crate::shape::Mesh;
use crate::{Budget, Finish};

/// Shadows of corners nearer than this are one (no unit: a factor of the body's reach).
const CELL: f64 = 1.0 / (1_u64 << 38) as f64;

/// Units of work for each triangle of the bodies that the search among the shadows may take.
const WORK_A_TRIANGLE: u64 = 64;

/// Units of work between two looks at the budget.
const UNITS_AT_A_TIME: u64 = 512;

/// The shadows of two bodies on the plane of their motion.
#[derive(Debug)]
pub(super) struct PlanarShadows<'m> {
    models: [Model; 2],
    motions: [&'m Motion; 2],
    /// How far shadows can be from the true ones, for both bodies together.
    doubt: f64,
    triangles: u64,
}

impl<'m> PlanarShadows<'m> {
    /// The shadows of two bodies that move in parallel planes.
    pub fn new(models: [&Model; 2], motions: [&'m Motion; 2]) -> Option<PlanarShadows<'m>> {
        let normal = common_axis(motions)?;
        let triangles = models.iter().map(|model| model.mesh().triangles().len() as u64).sum();
        let (a, off_a) = shadow(models[0], motions[0], normal)?;
        let (b, off_b) = shadow(models[1], motions[1], normal)?;
        Some(PlanarShadows { models: [a, b], motions, doubt: off_a + off_b, triangles })
    }

    /// The first contact of the shadows; an end to what the search is worth may end it before. `None` where the budget
    /// was only a trial that ended.
    pub fn sweep(&self, options: &SweepOptions, budget: &mut Budget) -> Option<Sweep> {
        let mut search = MeshSweep::new(self.models.each_ref(), self.motions, options).of_shadows(self.doubt);
        let mut found = Sweep { free_until: options.from, ..Sweep::UNKNOWN };
        let mut left = self.triangles * WORK_A_TRIANGLE;
        while found.outcome.finish == Finish::OutOfBudget && left > 0 {
            if !budget.charge(UNITS_AT_A_TIME) {
                return None;
            }
            found = search.advance(&mut Budget::units(UNITS_AT_A_TIME));
            left = left.saturating_sub(UNITS_AT_A_TIME);
        }
        Some(found)
    }
}

/// The direction along which no point of two bodies moves, if both turn about it or only shift across it.
fn common_axis(motions: [&Motion; 2]) -> Option<DVec3> {
    let turns = motions.map(Motion::turn_axis);
    let axis = turns[0].or(turns[1])?;
    let parallel = turns.iter().flatten().all(|other| norm(axis.cross(*other)) <= AXIS_ROUNDING);
    let level = motions.iter().all(|motion| motion.shift_along(axis) <= AXIS_ROUNDING * motion.way());
    (parallel && level).then_some(axis)
}

/// The shadow of a body on the plane through the origin across a direction, in the body's frame, and how far it can be
/// off.
fn shadow(model: &Model, motion: &Motion, normal: DVec3) -> Option<(Model, f64)> {
    let start = motion.pose(0.0);
    let across = start.rotation().transpose() * normal;
    let height = normal.dot(start.translation());
    let mesh = model.mesh();
    let reach = mesh.vertices().iter().fold(0.0_f64, |reach, p| reach.max(norm(*p)));
    let cell = reach * CELL;
    // Negated, so that a size that is none ends it.
    if !(cell > 0.0) {
        return None;
    }
    let mut numbers: HashMap<[i64; 3], u32> = HashMap::new();
    let mut vertices = Vec::new();
    let number = |&p: &DVec3| {
        let on_plane = p - across * (across.dot(p) + height);
        let key = on_plane.to_array().map(|x| (x / cell).round() as i64);
        *numbers.entry(key).or_insert_with(|| {
            vertices.push(on_plane);
            vertices.len() as u32 - 1
        })
    };
    let of: Vec<u32> = mesh.vertices().iter().map(number).collect();
    let triangles = different(mesh.triangles().iter().map(|t| t.map(|v| of[v as usize])));
    let far = reach + norm(start.translation()) + motion.way();
    let doubt = 2.0 * cell + 8.0 * AXIS_ROUNDING * far;
    Mesh::from_points(vertices, triangles).ok().map(|mesh| (Model::from(mesh), doubt))
}

/// Triangles without repetitions, and without those on a line or a point that are part of others.
fn different(all: impl Iterator<Item = [u32; 3]>) -> Vec<[u32; 3]> {
    let mut seen = HashSet::new();
    let sorted = |mut t: [u32; 3]| {
        t.sort_unstable();
        t
    };
    let mut kept: Vec<[u32; 3]> = all.filter(|&t| seen.insert(sorted(t))).collect();
    let is_full = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
    let sides = |t: &[u32; 3]| {
        [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]].map(|[a, b]| if a < b { [a, b] } else { [b, a] })
    };
    let covered: HashSet<[u32; 2]> = kept.iter().filter(|t| is_full(t)).flat_map(sides).collect();
    let mut lines = HashSet::new();
    kept.retain(|t| {
        let [low, _, high] = sorted(*t);
        is_full(t) || (!covered.contains(&[low, high]) && lines.insert([low, high]))
    });
    kept
}
