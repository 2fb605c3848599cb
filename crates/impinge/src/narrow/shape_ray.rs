//! Rays against a placed shape of any kind.
//!
//! The surface of a compound or a cloud of particles is that of the union of its parts: what lies within another part is
//! no hit.

use smallvec::SmallVec;

use crate::bound::Aabb;
use crate::model::{Cloud, Compound, CompoundChild, Geometry};
use crate::narrow::convex::ray::{self, Heading, Hits};
use crate::narrow::exact::ray_cast::{MeshRays, Ray, RayHit};
use crate::num::tolerance::{PLACED_BOX_ROUNDING, ROUND_UP};
use crate::shape::{Convex, Primitive};
use crate::{Counters, Feature, Pose};

/// A shape at a pose, for many rays.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "a single ray keeps it on the stack, where a box would cost more"
)]
pub(crate) enum ShapeRays<'s> {
    Mesh(MeshRays<'s>),
    Convex(&'s Convex, &'s Pose),
    Compound(&'s Compound, &'s Pose),
    Particles(&'s Cloud, &'s Pose),
}

impl<'s> ShapeRays<'s> {
    pub(crate) fn new(geometry: &'s Geometry, pose: &'s Pose) -> ShapeRays<'s> {
        match geometry {
            Geometry::Mesh(model) => ShapeRays::Mesh(MeshRays::new(model, pose)),
            Geometry::Convex(convex) => ShapeRays::Convex(convex, pose),
            Geometry::Compound(compound) => ShapeRays::Compound(compound, pose),
            Geometry::Particles(cloud) => ShapeRays::Particles(cloud, pose),
        }
    }

    /// The first surface point.
    pub(crate) fn first(&self, ray: &Ray) -> (Option<RayHit>, Counters) {
        match self {
            ShapeRays::Mesh(mesh) => {
                let mut work = Counters::default();
                (mesh.first(ray, &mut work), work)
            }
            ShapeRays::Convex(convex, pose) => ray::first_hit(convex, pose, ray, &Heading::of(ray)),
            ShapeRays::Compound(..) | ShapeRays::Particles(..) => {
                let (hits, work) = self.all(ray);
                (hits.first().copied(), work)
            }
        }
    }

    /// Whether there is a surface point.
    pub(crate) fn any(&self, ray: &Ray) -> (bool, Counters) {
        match self {
            ShapeRays::Mesh(mesh) => mesh.any(ray),
            _ => {
                let (first, work) = self.first(ray);
                (first.is_some(), work)
            }
        }
    }

    /// All surface points, by parameter.
    pub(crate) fn all(&self, ray: &Ray) -> (Vec<RayHit>, Counters) {
        match self {
            ShapeRays::Mesh(mesh) => mesh.all(ray),
            ShapeRays::Convex(convex, pose) => {
                let (hits, work) = ray::hits(convex, pose, ray);
                (hits.to_vec(), work)
            }
            ShapeRays::Compound(compound, pose) => compound_hits(compound, pose, ray),
            ShapeRays::Particles(cloud, pose) => particle_hits(cloud, pose, ray),
        }
    }
}

/// The first surface point that one ray meets; what many would share is not moved about.
#[inline]
pub(crate) fn first_hit(geometry: &Geometry, pose: &Pose, ray: &Ray, heading: &Heading) -> Option<RayHit> {
    match geometry {
        Geometry::Mesh(model) => MeshRays::new(model, pose).first(ray, &mut Counters::default()),
        Geometry::Convex(convex) => ray::first_hit(convex, pose, ray, heading).0,
        Geometry::Compound(_) | Geometry::Particles(_) => ShapeRays::new(geometry, pose).first(ray).0,
    }
}

/// Where the line of a ray is in one part, hits with the parameter as their order; without an end the ray starts or
/// stops within.
struct Within {
    enter: Option<RayHit>,
    leave: Option<RayHit>,
}

impl Within {
    fn from(&self) -> f64 {
        self.enter.map_or(f64::NEG_INFINITY, |hit| hit.t)
    }

    fn to(&self) -> f64 {
        self.leave.map_or(f64::INFINITY, |hit| hit.t)
    }
}

fn compound_hits(compound: &Compound, pose: &Pose, ray: &Ray) -> (Vec<RayHit>, Counters) {
    let mut work = Counters::default();
    if !ray.is_sound() {
        return (Vec::new(), work);
    }
    // Without the reach: a part that the ray stops in hides what lies in it.
    let endless = Ray { reach: f64::INFINITY, ..*ray };
    let mut within: Vec<Within> = Vec::new();
    for i in parts_near(compound, pose, &endless, &mut work) {
        let part = &compound.parts()[i as usize];
        let Geometry::Convex(convex) = &part.shape else { continue };
        let (hits, more) = ray::hits(convex, &pose.compose(&part.pose), &endless);
        work += more;
        within.extend(interval(&hits, convex.is_flat()));
    }
    (surface_of_union(within, ray.reach), work)
}

/// The balls of a cloud; points are never hit.
fn particle_hits(cloud: &Cloud, pose: &Pose, ray: &Ray) -> (Vec<RayHit>, Counters) {
    let mut work = Counters::default();
    if !ray.is_sound() {
        return (Vec::new(), work);
    }
    let endless = Ray { reach: f64::INFINITY, ..*ray };
    let tree = cloud.tree();
    let unit = ray.direction.normalize_or_zero();
    let mut within: Vec<Within> = Vec::new();
    let mut open: SmallVec<[u32; 32]> = SmallVec::from_slice(&[0]);
    while let Some(at) = open.pop() {
        let node = &tree.nodes()[at as usize];
        work.volume_tests += 1;
        let away = pose.apply(node.centre) - ray.origin;
        let reach = (node.reach + node.largest + PLACED_BOX_ROUNDING * (away.length() + ray.origin.length()))
            * ROUND_UP;
        if away.cross(unit).length() > reach || away.dot(unit) < -reach {
            continue;
        }
        if let Some(two) = tree.children(at) {
            open.extend(two);
            continue;
        }
        for slot in node.slots().filter(|&slot| tree.radii()[slot] > 0.0) {
            let ball = Convex::Primitive(Primitive::Sphere { radius: tree.radii()[slot] });
            let (mut hits, more) =
                ray::hits(&ball, &pose.compose(&Pose::shift(tree.points()[slot])), &endless);
            work += more;
            hits.iter_mut().for_each(|hit| hit.feature = Feature::Vertex(tree.particle(slot)));
            within.extend(interval(&hits, false));
        }
    }
    (surface_of_union(within, ray.reach), work)
}

/// Where a ray enters and leaves the union of solids that it is within, up to its reach.
fn surface_of_union(mut within: Vec<Within>, reach: f64) -> Vec<RayHit> {
    within.sort_by(|a, b| a.from().total_cmp(&b.from()));
    let mut hits: Vec<RayHit> = Vec::new();
    let mut open: Option<Within> = None;
    for next in within {
        open = Some(match open {
            Some(last) if next.from() <= last.to() => {
                if next.to() > last.to() {
                    Within { leave: next.leave, ..last }
                } else {
                    last
                }
            }
            last => {
                hits.extend(last.into_iter().flat_map(|last| ends(&last)));
                next
            }
        });
    }
    hits.extend(open.into_iter().flat_map(|last| ends(&last)));
    hits.retain(|hit| hit.t <= reach);
    hits
}

fn ends(within: &Within) -> SmallVec<[RayHit; 2]> {
    let same = within.enter.zip(within.leave).is_some_and(|(a, b)| a.t == b.t);
    within.enter.into_iter().chain(within.leave.filter(|_| !same)).collect()
}

/// One hit of a solid leaves it, unless the line only touches it there.
fn interval(hits: &Hits, is_flat: bool) -> Option<Within> {
    match hits[..] {
        [] => None,
        [one] if is_flat => Some(Within { enter: Some(one), leave: Some(one) }),
        [one] => Some(Within { enter: None, leave: Some(one) }),
        [enter, leave, ..] => Some(Within { enter: Some(enter), leave: Some(leave) }),
    }
}

/// The parts whose boxes the ray may pass.
fn parts_near(compound: &Compound, pose: &Pose, ray: &Ray, work: &mut Counters) -> SmallVec<[u32; 16]> {
    let back = pose.inverse();
    let (origin, direction) = (back.apply(ray.origin), back.matrix() * ray.direction);
    let mut open: SmallVec<[u32; 32]> = SmallVec::from_slice(&[0]);
    let mut near = SmallVec::new();
    while let Some(at) = open.pop() {
        let node = &compound.nodes()[at as usize];
        work.volume_tests += 1;
        let size = node.bounds.high.abs().max(node.bounds.low.abs()).max_element();
        let pad = PLACED_BOX_ROUNDING
            * (size + ray.origin.abs().max_element() + pose.translation().abs().max_element());
        let grown = Aabb { low: node.bounds.low - pad, high: node.bounds.high + pad };
        if grown.entered_by(origin, direction, ray.reach).is_some() {
            match node.below {
                CompoundChild::Part(i) => near.push(i),
                CompoundChild::Two(right) => open.extend([right, at + 1]),
            }
        }
    }
    near
}
