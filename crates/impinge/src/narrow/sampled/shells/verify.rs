//! Checks shells against the mesh they were built for, sharing nothing with the fit.
//!
//! Containment is decided on the doubles of the facets: the cylinder about the line through `centre` along
//! `normal`, whose length may be off by rounding. A floating filter decides where the slack is larger than
//! its own rounding; what it leaves, and one corner in [`EXACT_EVERY`], is decided by exact arithmetic.

use glam::DVec3;

use super::{Facet, Shells, Slab};
use crate::Mesh;
use crate::geom::point_triangle::norm;
use crate::num::dyadic::Dyadic;
use crate::num::exact_vector::{dot, exact, minus};
use crate::num::parallel;
use crate::num::predicate::Sign;
use crate::num::random;

/// Rounding of the filter (no unit: a factor of the distance from the centre and of the bounds).
const FILTER: f64 = 64.0 * f64::EPSILON;

/// One containment in so many is decided exactly although the filter could.
const EXACT_EVERY: u64 = 4096;

/// What was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checked {
    /// Corners of descendants in cylinders.
    pub corners: u64,
    /// Of these, decided by exact arithmetic.
    pub exactly: u64,
    /// Random points of the surface that lie in a facet of each level.
    pub samples: u64,
}

impl Shells {
    /// Checks links, order, containment, slabs and covering, with random points besides.
    ///
    /// # Errors
    /// The first violation found.
    pub fn verify(&self, mesh: &Mesh, samples: u64, seed: u64) -> Result<Checked, String> {
        self.verify_structure(mesh)?;
        let mut checked = Checked { samples, ..Checked::default() };
        for fine in 0..self.levels.len() {
            let count = self.levels[fine].corners.len();
            let parts = parallel::map(count, |i| self.verify_above(mesh, fine, i as u32));
            for part in parts {
                let part = part?;
                checked.corners += part.corners;
                checked.exactly += part.exactly;
            }
        }
        for n in 0..samples {
            self.verify_sample(mesh, seed, n)?;
        }
        Ok(checked)
    }

    fn verify_structure(&self, mesh: &Mesh) -> Result<(), String> {
        let same = self.levels.first().map(|level| &level.corners[..]) == Some(mesh.triangles());
        if !same {
            return Err("level 0 is not the mesh".into());
        }
        for (k, level) in self.levels.iter().enumerate() {
            let count = level.corners.len();
            let coarser = self.levels.get(k + 1);
            let bad = |what: &str| Err(format!("level {k}: {what}"));
            let mut order = level.order.clone();
            order.sort_unstable();
            if order != (0..count as u32).collect::<Vec<_>>() {
                return bad("the order is no permutation");
            }
            if level.facets.len() != count || level.parent.len() != coarser.map_or(0, |_| count) {
                return bad("facets or parents are missing");
            }
            for i in 0..count as u32 {
                let parent = level.parent.get(i as usize);
                if parent
                    .is_some_and(|&p| coarser.is_none_or(|c| c.children.of(p).binary_search(&i).is_err()))
                {
                    return bad(&format!("facet {i} is no child of its parent"));
                }
                if k > 0 && level.children.of(i).is_empty() {
                    return bad(&format!("facet {i} has no child"));
                }
                let facet = &level.facets[i as usize];
                if !(facet.inner <= 0.0 && facet.outer >= 0.0 && facet.radius >= 0.0) {
                    return bad(&format!("facet {i} has the bounds {facet:?}"));
                }
                let symmetric = |&n: &u32| n != i && level.neighbours.of(n).binary_search(&i).is_ok();
                if !level.neighbours.of(i).iter().all(symmetric) {
                    return bad(&format!("facet {i} is no neighbour of a neighbour"));
                }
            }
        }
        Ok(())
    }

    /// Whether all facets above one, and itself, contain its triangle.
    fn verify_above(&self, mesh: &Mesh, fine: usize, i: u32) -> Result<Checked, String> {
        let corners = self.levels[fine].corners[i as usize].map(|v| mesh.vertices()[v as usize]);
        let mut checked = Checked::default();
        for (level, above) in self.ancestors(fine, i) {
            let facet = &self.levels[level].facets[above as usize];
            for p in corners {
                checked.corners += 1;
                let anyway = random::bits(level as u64, u64::from(i)).is_multiple_of(EXACT_EVERY);
                let by_filter = if anyway { None } else { contains_by_filter(facet, p) };
                checked.exactly += u64::from(by_filter.is_none());
                if !by_filter.unwrap_or_else(|| contains_exactly(facet, p)) {
                    return Err(format!(
                        "facet {above} of level {level} does not contain {p}, of facet {i} of level {fine}"
                    ));
                }
            }
            // Slabs hold the mesh itself.
            let slabs = self.levels[level].slabs(above);
            let is_in = |slab: &Slab| {
                let heights = corners.map(|p| (p - facet.centre).dot(slab.direction));
                heights.iter().all(|height| (slab.low..=slab.high).contains(height))
            };
            if fine == 0 && !slabs.is_empty() && !slabs.iter().any(is_in) {
                return Err(format!("triangle {i} is in no slab of facet {above} of level {level}"));
            }
        }
        Ok(checked)
    }

    /// Whether a random point of the mesh lies in a facet of each level, and one of a random triangle of each
    /// level in its own disc.
    fn verify_sample(&self, mesh: &Mesh, seed: u64, n: u64) -> Result<(), String> {
        let pick =
            |k: u64, count: usize| ((random::unit(seed, 8 * n + k) * count as f64) as usize).min(count - 1);
        let inside = |k: u64, t: [DVec3; 3]| {
            let (u, v) = (random::unit(seed, 8 * n + k), random::unit(seed, 8 * n + k + 1));
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            t[0] + (t[1] - t[0]) * u + (t[2] - t[0]) * v
        };
        let t = pick(0, mesh.triangles().len()) as u32;
        let p = inside(1, mesh.corners(t));
        for (level, above) in self.ancestors(0, t) {
            if contains_by_filter(&self.levels[level].facets[above as usize], p) == Some(false) {
                return Err(format!("{p} of triangle {t} is not in facet {above} of level {level}"));
            }
        }
        for (k, level) in self.levels.iter().enumerate() {
            let i = pick(3, level.corners.len());
            let p = inside(4, level.corners[i].map(|v| mesh.vertices()[v as usize]));
            if contains_by_filter(&level.facets[i], p) == Some(false) {
                return Err(format!("{p} of the triangle of facet {i} of level {k} is not in its disc"));
            }
        }
        Ok(())
    }

    /// A facet and all above it, with their levels.
    fn ancestors(&self, level: usize, i: u32) -> impl Iterator<Item = (usize, u32)> + '_ {
        std::iter::successors(Some((level, i)), |&(level, i)| {
            Some((level + 1, *self.levels[level].parent.get(i as usize)?))
        })
    }
}

/// Whether a facet contains a point; `None` where rounding could decide.
fn contains_by_filter(facet: &Facet, p: DVec3) -> Option<bool> {
    let arm = p - facet.centre;
    let height = arm.dot(facet.normal);
    let beside = norm(arm - facet.normal * height);
    let rounding = FILTER * (norm(arm) + facet.radius + facet.outer - facet.inner);
    let slack = (facet.outer - height).min(height - facet.inner).min(facet.radius - beside);
    if slack.abs() > rounding { Some(slack > 0.0) } else { None }
}

/// Whether a facet contains a point, without rounding.
fn contains_exactly(facet: &Facet, p: DVec3) -> bool {
    let normal = exact(facet.normal);
    let arm = minus(&exact(p), &exact(facet.centre));
    let (height, square) = (dot(&arm, &normal), dot(&normal, &normal));
    let [outer, inner, radius] = [facet.outer, facet.inner, facet.radius].map(Dyadic::from);
    let is_negative = |x: &Dyadic| x.sign() == Sign::Negative;
    // |height| ≤ bound·|normal|, squared; the bounds have the signs that they must have.
    let within = |bound: &Dyadic| !is_negative(&(&(&(bound * bound) * &square) - &(&height * &height)));
    let heights = if is_negative(&height) { within(&inner) } else { within(&outer) };
    let beside = &(&dot(&arm, &arm) * &square) - &(&height * &height);
    heights && !is_negative(&(&(&(&radius * &radius) * &square) - &beside))
}
