//! Bodies that are no meshes, an implicit surface or parametric patches, against meshes: surely free, surely
//! hit, or not known (beyond Guy and Debunne 2004, who leave such surfaces for the future).
//!
//! The body's facets contain its true surface, by a proved bound of how far that is from its polygons
//! (`shells/curved.rs`); so what is said rests on the stated Lipschitz constant or derivatives, not on the
//! polygons.
//!
//! **Free** is said when every pair of facets that a descent through both shells ends with has a proved gap,
//! and neither body is inside the other. One point for each component is enough for that: a component of the
//! polygons lies in facets that nothing of the mesh enters, and so does the true surface near it, so both are
//! on one side of the mesh.
//!
//! **Hit** is said when a point of the mesh lies inside the implicit body (its value is negative by more than
//! rounding could make it), or a point of the body inside a closed mesh, by the exact winding number.

use std::fmt;

use glam::DVec3;

use super::facet_pair::{gap, shadow};
use super::layers::Layers;
use super::posed::Posed;
use super::shells::{Facet, Patch, Shells, model_of};
use crate::model::Model;
use crate::narrow::exact::winding::counted_winding;
use crate::num::tolerance::PLACING_ERROR;
use crate::{Aabb, Budget, Error, Mesh, Placed, Pose};

/// Pairs of the finest facets that are looked at for a hit, at most.
const MOST_OPEN: usize = 256;

/// Points of the body that are looked for inside the mesh, at most: each costs a ray.
const MOST_RAYS: usize = 32;

/// A body given by functions: the solid where an implicit function is negative, or the surface of parametric
/// patches.
///
/// ```
/// use impinge::glam::DVec3;
/// use impinge::{Aabb, Budget, CurvedBody, Pose, Shape, procedural};
///
/// // A ball of radius 1 as a signed distance, whose differences are at most those of the points.
/// let bounds = Aabb { low: DVec3::splat(-1.1), high: DVec3::splat(1.1) };
/// let ball = CurvedBody::implicit(&|p: DVec3| p.length() - 1.0, 1.0, bounds, 16)?;
/// let cube = Shape::from(procedural::cuboid([1.0; 3], [4; 3])?);
/// let at = |x: f64| Pose::from_translation([x, 0.0, 0.0]);
/// assert_eq!(ball.meets(&at(2.2)?, &cube, &mut Budget::UNLIMITED.clone())?, Some(false));
/// assert_eq!(ball.meets(&at(1.8)?, &cube, &mut Budget::UNLIMITED.clone())?, Some(true));
/// # Ok::<(), impinge::Error>(())
/// ```
pub struct CurvedBody<'f> {
    model: Model,
    shells: Shells,
    field: Option<Field<'f>>,
}

/// An implicit function and its Lipschitz constant.
struct Field<'f> {
    f: &'f (dyn Fn(DVec3) -> f64 + Sync),
    lipschitz: f64,
}

impl<'f> CurvedBody<'f> {
    /// The solid f ≤ 0 inside `bounds`, polygonised on a grid of so many cells along the longest side. |f(x)
    /// − f(y)| is at most `lipschitz`·|x − y|; for a signed distance that is 1. More cells leave fewer
    /// placements undecided.
    ///
    /// # Errors
    /// Bounds without volume, a Lipschitz constant that is not positive, a value that is not finite, no cells
    /// or more than 512, or a function of one sign at all points of the grid.
    pub fn implicit(
        f: &'f (dyn Fn(DVec3) -> f64 + Sync),
        lipschitz: f64,
        bounds: Aabb,
        cells: u32,
    ) -> Result<CurvedBody<'f>, Error> {
        let (mesh, shells) = Shells::of_implicit(f, bounds, lipschitz, cells)?;
        Ok(CurvedBody { model: Model::from(mesh), shells, field: Some(Field { f, lipschitz }) })
    }

    /// The surface of patches, each polygonised on a grid of `cells` × `cells`.
    ///
    /// # Errors
    /// No patches, no cells or more than 512, bounds of derivatives that are negative, or points that are not
    /// finite.
    pub fn patches(patches: &[Patch<'_>], cells: u32) -> Result<CurvedBody<'static>, Error> {
        let (mesh, shells) = Shells::of_patches(patches, cells)?;
        Ok(CurvedBody { model: Model::from(mesh), shells, field: None })
    }

    /// The polygons that its shells ride on, to look at.
    pub fn polygons(&self) -> &Mesh {
        self.model.mesh()
    }

    /// Whether the body at a pose (its nearest rotation) and a placed mesh have a point in common, closed
    /// meshes being solids: `Some` only if that is proved.
    ///
    /// # Errors
    /// A shape that is not a mesh.
    pub fn meets<'s>(
        &self,
        pose: &Pose,
        mesh: impl Into<Placed<'s>>,
        budget: &mut Budget,
    ) -> Result<Option<bool>, Error> {
        let placed = mesh.into();
        let (model, at) = (model_of(placed.shape())?, placed.pose());
        let Some(layers) = Layers::of(model, budget) else { return Ok(None) };
        let pose = pose.rigid();
        let own = Posed::new(&self.shells, self.model.mesh().vertices(), &pose, 0.0);
        let other = Posed::new(&layers.shells, model.mesh().vertices(), &at, 0.0);
        let Some(open) = open_pairs(&own, &other, budget) else { return Ok(None) };
        let sides = Sides { body: self, pose, model, at };
        Ok(if open.is_empty() { Some(sides.is_nested()) } else { sides.has_hit(&open).then_some(true) })
    }
}

impl fmt::Debug for CurvedBody<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CurvedBody({} polygons)", self.model.mesh().triangles().len())
    }
}

/// Pairs of the finest facets that no direction separates, at most [`MOST_OPEN`]; `None` when the budget
/// ended first.
fn open_pairs(a: &Posed<'_>, b: &Posed<'_>, budget: &mut Budget) -> Option<Vec<[u32; 2]>> {
    let rounding = a.rounding(a.ball()) + b.rounding(b.ball());
    let count = |body: &Posed<'_>| body.shells.levels[body.coarsest()].corners.len() as u32;
    let tops = (0..count(a)).flat_map(|i| (0..count(b)).map(move |j| [i, j]));
    let mut stack: Vec<([usize; 2], [u32; 2])> =
        tops.map(|pair| ([a.coarsest(), b.coarsest()], pair)).collect();
    let mut open = Vec::new();
    while let Some(([k, l], [i, j])) = stack.pop() {
        if !budget.draw(1) {
            return None;
        }
        let (fa, fb) = (a.facet(k as u8, i), b.facet(l as u8, j));
        if gap(&fa, &fb).width > rounding || slab_gap(b, l, j, &fa).max(slab_gap(a, k, i, &fb)) > rounding {
            continue;
        }
        if k > 0 && (l == 0 || fa.radius >= fb.radius) {
            stack.extend(a.shells.levels[k].children.of(i).iter().map(|&child| ([k - 1, l], [child, j])));
        } else if l > 0 {
            stack.extend(b.shells.levels[l].children.of(j).iter().map(|&child| ([k, l - 1], [i, child])));
        } else {
            open.push([i, j]);
            if open.len() == MOST_OPEN {
                break;
            }
        }
    }
    Some(open)
}

/// How far another facet stays from every slab of a facet; minus infinity where it has none.
fn slab_gap(body: &Posed<'_>, level: usize, facet: u32, other: &Facet) -> f64 {
    let own = body.pose.apply(body.shells.levels[level].facets[facet as usize].centre);
    let slabs = body.shells.levels[level].slabs(facet);
    let each = slabs.iter().map(|slab| {
        let direction = body.pose.rotation() * slab.direction;
        let at = own.dot(direction);
        let [low, high] = shadow(other, direction);
        (low - (at + slab.high)).max(at + slab.low - high)
    });
    if slabs.is_empty() || !body.pose.is_rotation() {
        f64::NEG_INFINITY
    } else {
        each.fold(f64::INFINITY, f64::min)
    }
}

/// Both bodies, to ask what is inside of what.
struct Sides<'b, 'f> {
    body: &'b CurvedBody<'f>,
    pose: Pose,
    model: &'b Model,
    at: Pose,
}

impl Sides<'_, '_> {
    /// Whether, the surfaces being apart, one body is inside the other.
    fn is_nested(&self) -> bool {
        let firsts = |model: &Model| -> Vec<u32> {
            model.topology().components().iter().map(|component| component.first_triangle).collect()
        };
        let corner = |t: u32| self.at.apply(self.model.mesh().corners(t)[0]);
        let own_corner = |t: u32| self.pose.apply(self.body.polygons().corners(t)[0]);
        // Nothing of the surface is within rounding of these corners: the sign decides.
        firsts(self.model).into_iter().any(|t| self.value(corner(t)) <= 0.0)
            || firsts(&self.body.model).into_iter().any(|t| self.is_in_mesh(own_corner(t)))
    }

    /// Whether a point that both have is found near pairs of facets.
    fn has_hit(&self, open: &[[u32; 2]]) -> bool {
        let points = |t: u32| {
            let [a, b, c] = self.model.mesh().corners(t).map(|p| self.at.apply(p));
            [a, b, c, (a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0, (a + b + c) / 3.0]
        };
        if open.iter().any(|pair| points(pair[1]).into_iter().any(|p| self.is_in_body(p))) {
            return true;
        }
        let mut own: Vec<u32> = open.iter().map(|pair| pair[0]).collect();
        own.sort_unstable();
        own.dedup();
        own.iter().take(MOST_RAYS).any(|&t| self.own_point(t).is_some_and(|p| self.is_in_mesh(p)))
    }

    /// A point of the body at one of its polygons, in the world.
    fn own_point(&self, t: u32) -> Option<DVec3> {
        match self.body.field {
            // A vertex of a patch lies on it.
            None => Some(self.pose.apply(self.body.polygons().corners(t)[0])),
            // A little below the polygon, where the function says so.
            Some(_) => {
                let facet = &self.body.shells.levels[0].facets[t as usize];
                let p = self.pose.apply(facet.centre + facet.normal * facet.inner);
                self.is_in_body(p).then_some(p)
            }
        }
    }

    /// Whether a point of the world surely lies inside the implicit body, however it was rounded.
    fn is_in_body(&self, p: DVec3) -> bool {
        let rounding = PLACING_ERROR * (p.abs().max_element() + self.pose.translation().abs().max_element());
        self.body.field.as_ref().is_some_and(|field| self.value(p) < -field.lipschitz * rounding)
    }

    /// The implicit function at a point of the world; a surface has none, and nothing is inside of it.
    fn value(&self, p: DVec3) -> f64 {
        let own = self.pose.rotation().transpose() * (p - self.pose.translation());
        self.body.field.as_ref().map_or(f64::INFINITY, |field| (field.f)(own))
    }

    /// Whether a point of the world belongs to the solid of the mesh, if it is closed.
    fn is_in_mesh(&self, p: DVec3) -> bool {
        self.model.topology().is_closed() && counted_winding(self.model, &self.at, p).0.is_inside()
    }
}

#[cfg(test)]
#[path = "curved_body_tests.rs"]
mod tests;
