//! The questions in their ordinary form: unlimited, without memory, by the method that `auto` chooses.

use glam::DVec3;

use super::{PointDistance, Query};
use crate::contact::{Volume, VolumeOptions};
use crate::model::Placed;
use crate::narrow::contacts::SeparatingTranslation;
use crate::narrow::continuous::Sweep;
use crate::narrow::exact::contour::Polyline;
use crate::narrow::exact::ray_cast::{Ray, RayHit};
use crate::narrow::route::Answer;
use crate::narrow::shape_ray::ShapeRays;
use crate::{Contact, Error, Relation, Separation};

/// How two bodies lie to each other: `Separated`, `Touching`, `Intersecting`, or one inside the other.
///
/// Exact on the placed coordinates for every pair of kinds but cylinders, cones and ellipsoids within the stated
/// tolerance of touching, and for what no part of a compound but several of them hold: that counts as inside where
/// nothing sticks out by more than the resolution that [`Query::relation`] states. Meshes that are closed as a whole are solids; nothing is inside an open one, and
/// [`Shape::is_closed`](crate::Shape::is_closed) tells which it is.
///
/// ```
/// use impinge::{Pose, Relation, Shape, relation};
///
/// let room = Shape::cuboid([2.0, 2.0, 2.0])?;
/// let ball = Shape::sphere(0.5)?;
/// assert_eq!(relation(&room, &ball), Relation::BInsideA);
/// assert_eq!(relation(&room, ball.at(Pose::from_translation([2.5, 0.0, 0.0])?)), Relation::Touching);
/// # Ok::<(), impinge::Error>(())
/// ```
pub fn relation<'s>(a: impl Into<Placed<'s>>, b: impl Into<Placed<'s>>) -> Relation {
    settled(Query::default().relation(a, b), Relation::Intersecting)
}

/// [`relation`] for many pairs, in parallel.
pub fn relation_batch(pairs: &[[Placed<'_>; 2]]) -> Vec<Relation> {
    settled_all(Query::default().relation_batch(pairs), Relation::Intersecting)
}

/// How far apart two bodies are, with the nearest points, what they lie on, and the normal from a to b.
///
/// For two convex shapes it is signed: negative is the penetration depth, and the sign is that of the exact
/// relation. Where a mesh takes part it is the distance of the surfaces, 0 where they meet: **one solid inside another has
/// a positive distance**, and [`relation`] tells. A compound is as near, or as deep, as its nearest or deepest part; where
/// other parts cover what that part tells, the union may be farther or deeper by the tolerance that [`Query::distance`]
/// states.
///
/// ```
/// use impinge::{Pose, Shape, distance};
///
/// let cube = Shape::cuboid([1.0, 1.0, 1.0])?;
/// let ball = Shape::sphere(0.5)?;
/// let found = distance(&cube, ball.at(Pose::from_translation([0.0, 0.0, 1.25])?));
/// assert_eq!((found.distance, found.normal.z), (-0.25, 1.0));
/// # Ok::<(), impinge::Error>(())
/// ```
pub fn distance<'s>(a: impl Into<Placed<'s>>, b: impl Into<Placed<'s>>) -> Separation {
    settled(Query::default().distance(a, b), Separation::NONE)
}

/// [`distance`] for many pairs, in parallel.
pub fn distance_batch(pairs: &[[Placed<'_>; 2]]) -> Vec<Separation> {
    settled_all(Query::default().distance_batch(pairs), Separation::NONE)
}

/// Where two bodies touch or overlap: points, normal, depth and features of each place.
///
/// For two convex shapes the deepest entry is the penetration depth. A convex shape on a mesh has the points of a
/// contact manifold, each with a normal out of the Voronoi region of the feature touched. Two closed meshes have an
/// entry or more for each connected region of their intersection, with the depth by which b has to move along the
/// normal to leave it; see [`Query::contacts`] for contacts at a distance and for open meshes that push to one side.
///
/// ```
/// use impinge::{Pose, Shape, contacts, procedural};
///
/// let level = Shape::from(procedural::stairs(6, 0.4, 4.0, 0.3)?);
/// let chest = Shape::cuboid([0.15, 0.15, 0.15])?;
/// let places = contacts(&level, chest.at(Pose::from_translation([0.2, 0.0, 0.44])?));
/// assert_eq!(places.len(), 4);
/// assert!(places.iter().all(|place| (place.depth - 0.01).abs() < 1e-9 && place.normal.z > 0.999));
/// # Ok::<(), impinge::Error>(())
/// ```
pub fn contacts<'s>(a: impl Into<Placed<'s>>, b: impl Into<Placed<'s>>) -> Vec<Contact> {
    settled(Query::default().contacts(a, b, 0.0), Vec::new())
}

/// [`contacts`] for many pairs, in parallel.
pub fn contacts_batch(pairs: &[[Placed<'_>; 2]]) -> Vec<Vec<Contact>> {
    let answers = Query::default().contacts_batch(pairs, 0.0).unwrap_or_default();
    answers.into_iter().map(|answer| answer.value.unwrap_or_default()).collect()
}

/// A short translation of b after which the exact relation is separated or touching; zero where it is already.
///
/// For two convex bodies, meshes of such bodies among them, it is the shortest. For others it is the shortest way out
/// that was found, with a lower bound beside it.
///
/// ```
/// use impinge::{Pose, Shape, separate};
///
/// let cube = Shape::cuboid([1.0, 1.0, 1.0])?;
/// let found = separate(&cube, cube.at(Pose::from_translation([0.0, 0.0, 1.5])?))?;
/// assert!((found.length - 0.5).abs() < 1e-12 && found.translation.z > 0.0);
/// # Ok::<(), impinge::Error>(())
/// ```
///
/// # Errors
/// Two half-spaces that no translation takes apart, or a cloud of particles.
pub fn separate<'s>(
    a: impl Into<Placed<'s>>,
    b: impl Into<Placed<'s>>,
) -> Result<SeparatingTranslation, Error> {
    Ok(Query::default().separate(a, b)?.value.unwrap_or_default())
}

/// [`separate`] for many pairs, in parallel.
///
/// # Errors
/// As [`separate`].
pub fn separate_batch(pairs: &[[Placed<'_>; 2]]) -> Result<Vec<SeparatingTranslation>, Error> {
    values(Query::default().separate_batch(pairs))
}

/// When two moving bodies first touch, with the features, the point and the normal.
///
/// The time is never later than the true first contact and at most a millionth of the step earlier; see
/// [`Query::tolerance`] and [`Query::slack`]. Touching counts, so bodies that rest on each other hit at 0 wherever they go:
/// who slides on stops a little before the impact.
///
/// ```
/// use impinge::{Motion, Pose, Shape, sweep};
///
/// let wall = Shape::cuboid([0.01, 5.0, 5.0])?;
/// let ball = Shape::sphere(0.5)?;
/// let at = |x: f64| Pose::from_translation([x, 0.0, 0.0]);
/// let flight = Motion::between(&at(-10.0)?, &at(10.0)?);
/// let impact = sweep(&wall, ball.along(flight)).impact.unwrap();
/// assert!((impact.time - 9.49 / 20.0).abs() < 1e-6);
/// # Ok::<(), impinge::Error>(())
/// ```
pub fn sweep<'s>(a: impl Into<Placed<'s>>, b: impl Into<Placed<'s>>) -> Sweep {
    settled(Query::default().sweep(a, b), Sweep::UNKNOWN)
}

/// [`sweep`] for many pairs, in parallel.
pub fn sweep_batch(pairs: &[[Placed<'_>; 2]]) -> Vec<Sweep> {
    settled_all(Query::default().sweep_batch(pairs), Sweep::UNKNOWN)
}

/// Every pair of triangles of two meshes that meet, exactly: ascending, each once.
///
/// ```
/// use impinge::{Pose, Shape, pairs, procedural};
///
/// let ball = Shape::from(procedural::ico_sphere(1.0, 2)?);
/// let beside = ball.at(Pose::from_translation([1.5, 0.0, 0.0])?);
/// assert!(!pairs(&ball, beside)?.is_empty());
/// # Ok::<(), impinge::Error>(())
/// ```
///
/// # Errors
/// A shape that is no mesh; its kind is named.
pub fn pairs<'s>(a: impl Into<Placed<'s>>, b: impl Into<Placed<'s>>) -> Result<Vec<[u32; 2]>, Error> {
    value(Query::default().pairs(a, b))
}

/// [`pairs`] for many pairs of bodies, in parallel.
///
/// # Errors
/// As [`pairs`].
pub fn pairs_batch(pairs: &[[Placed<'_>; 2]]) -> Result<Vec<Vec<[u32; 2]>>, Error> {
    values(Query::default().pairs_batch(pairs))
}

/// Every pair of triangles of two meshes at most `margin` apart (a length): ascending, each once.
///
/// # Errors
/// A shape that is no mesh, or a margin that is negative or not finite.
pub fn pairs_within<'s>(
    a: impl Into<Placed<'s>>,
    b: impl Into<Placed<'s>>,
    margin: f64,
) -> Result<Vec<[u32; 2]>, Error> {
    value(Query::default().pairs_within(a, b, margin))
}

/// [`pairs_within`] for many pairs of bodies, in parallel.
///
/// # Errors
/// As [`pairs_within`].
pub fn pairs_within_batch(pairs: &[[Placed<'_>; 2]], margin: f64) -> Result<Vec<Vec<[u32; 2]>>, Error> {
    values(Query::default().pairs_within_batch(pairs, margin))
}

/// The curves along which the surfaces of two meshes cross.
///
/// # Errors
/// A shape that is no mesh.
pub fn contour<'s>(a: impl Into<Placed<'s>>, b: impl Into<Placed<'s>>) -> Result<Vec<Polyline>, Error> {
    value(Query::default().contour(a, b))
}

/// [`contour`] for many pairs of bodies, in parallel.
///
/// # Errors
/// As [`contour`].
pub fn contour_batch(pairs: &[[Placed<'_>; 2]]) -> Result<Vec<Vec<Polyline>>, Error> {
    values(Query::default().contour_batch(pairs))
}

/// How much two solids overlap: the volume of their common interior, its error, and each connected region with its
/// centroid, normal, area and depth. [`Query::volume`] gives the derivative by every vertex too.
///
/// For closed meshes, hulls and boxes: exact combinatorics, numbers to rounding. The solid of a mesh is where its winding
/// number is not 0, however its parts are turned and nested, and every place counts once. A mesh that overlaps itself is
/// measured by images, with their stated error. Where faces of both bodies coincide, the volume has a kink:
/// gradient and normal are then those of b moved by an infinitesimal step along x, y and z.
///
/// ```
/// use impinge::{Pose, Shape, volume};
///
/// let block = Shape::cuboid([1.0, 1.0, 1.0])?;
/// let peg = Shape::cuboid([0.5, 0.5, 1.0])?;
/// let found = volume(&block, peg.at(Pose::from_translation([0.0, 0.0, 1.5])?))?;
/// assert!((found.volume - 0.5).abs() <= found.error);
/// let [one] = &found.regions[..] else { panic!("one region") };
/// assert!((one.region.normal.z - 1.0).abs() < 1e-12 && (one.region.depth - 0.5).abs() < 1e-12);
/// # Ok::<(), impinge::Error>(())
/// ```
///
/// # Errors
/// A kind without volume, two half-spaces, or a mesh that bounds no solid.
pub fn volume<'s>(a: impl Into<Placed<'s>>, b: impl Into<Placed<'s>>) -> Result<Volume, Error> {
    value(Query::default().volume(a, b, VolumeOptions::default()))
}

/// [`volume`] for many pairs of bodies, in parallel.
///
/// # Errors
/// As [`volume`].
pub fn volume_batch(pairs: &[[Placed<'_>; 2]]) -> Result<Vec<Volume>, Error> {
    values(Query::default().volume_batch(pairs, VolumeOptions::default()))
}

/// The point of a shape's surface nearest to a point of the world.
///
/// The surface of a compound or of a cloud is that of the union of its parts. Where a point lies so deep within that parts
/// cover the nearest surface of others, [`PointDistance::tolerance`] says how much nearer the surface may be.
///
/// # Errors
/// A point that is not finite or beyond 1e60.
pub fn closest_point<'s>(shape: impl Into<Placed<'s>>, p: impl Into<DVec3>) -> Result<PointDistance, Error> {
    first(closest_point_batch(shape, &[p.into()]))
}

/// [`closest_point`] for many points, in parallel.
///
/// # Errors
/// As [`closest_point`].
pub fn closest_point_batch<'s>(
    shape: impl Into<Placed<'s>>,
    points: &[DVec3],
) -> Result<Vec<PointDistance>, Error> {
    value(Query::default().closest_point_batch(shape, points))
}

/// How far a point of the world is from a shape's surface: negative inside a solid.
///
/// Inside is exact, and the distance is positive just where the point is outside. An open mesh has no inside: its
/// distances are never negative.
///
/// ```
/// use impinge::{Shape, procedural, signed_distance};
///
/// let ball = Shape::from(procedural::ico_sphere(1.0, 4)?);
/// let found = signed_distance(&ball, [0.0, 0.0, 0.25])?;
/// assert!(found.inside && (found.distance + 0.75).abs() < 0.01);
/// # Ok::<(), impinge::Error>(())
/// ```
///
/// # Errors
/// As [`closest_point`].
pub fn signed_distance<'s>(
    shape: impl Into<Placed<'s>>,
    p: impl Into<DVec3>,
) -> Result<PointDistance, Error> {
    first(signed_distance_batch(shape, &[p.into()]))
}

/// [`signed_distance`] for many points, in parallel.
///
/// # Errors
/// As [`closest_point`].
pub fn signed_distance_batch<'s>(
    shape: impl Into<Placed<'s>>,
    points: &[DVec3],
) -> Result<Vec<PointDistance>, Error> {
    value(Query::default().signed_distance_batch(shape, points))
}

/// Whether a point of the world lies in a closed solid, decided exactly; never in an open mesh.
///
/// # Errors
/// A point that is not finite or beyond 1e60.
pub fn contains<'s>(shape: impl Into<Placed<'s>>, p: impl Into<DVec3>) -> Result<bool, Error> {
    first(contains_batch(shape, &[p.into()]))
}

/// [`contains`] for many points, in parallel.
///
/// # Errors
/// As [`contains`].
pub fn contains_batch<'s>(shape: impl Into<Placed<'s>>, points: &[DVec3]) -> Result<Vec<bool>, Error> {
    value(Query::default().contains_batch(shape, points))
}

/// Where a ray first meets the surface of a shape, from inside too.
///
/// No ray passes between neighbouring triangles. What has no area is never hit; the surface of a compound is that of
/// the union of its parts.
///
/// ```
/// use impinge::{Pose, Ray, Shape, ray_cast};
///
/// let drum = Shape::cylinder(1.0, 0.5)?;
/// let ray = Ray::new([0.0, 0.0, 5.0], [0.0, 0.0, -2.0])?;
/// let hit = ray_cast(drum.at(Pose::from_translation([0.3, 0.0, 1.0])?), ray).unwrap();
/// assert_eq!((hit.t, hit.point.z, hit.normal.z), (1.75, 1.5, 1.0));
/// # Ok::<(), impinge::Error>(())
/// ```
pub fn ray_cast<'s>(shape: impl Into<Placed<'s>>, ray: Ray) -> Option<RayHit> {
    let body = shape.into();
    ShapeRays::new(body.geometry(), &body.pose()).first(&ray).0
}

/// [`ray_cast`] for many rays, in parallel.
pub fn ray_cast_batch<'s>(shape: impl Into<Placed<'s>>, rays: &[Ray]) -> Vec<Option<RayHit>> {
    value(Query::default().ray_cast_batch(shape, rays)).unwrap_or_default()
}

/// Whether a ray meets the surface of a shape: as [`ray_cast`], but the search ends at the first certain hit.
pub fn ray_cast_any<'s>(shape: impl Into<Placed<'s>>, ray: Ray) -> bool {
    let body = shape.into();
    ShapeRays::new(body.geometry(), &body.pose()).any(&ray).0
}

/// Every point where a ray meets the surface of a shape, by parameter and then by triangle; where it meets an edge or
/// corner of a mesh, one for each triangle there.
pub fn ray_cast_all<'s>(shape: impl Into<Placed<'s>>, ray: Ray) -> Vec<RayHit> {
    let body = shape.into();
    ShapeRays::new(body.geometry(), &body.pose()).all(&ray).0
}

/// [`ray_cast_any`] for many rays, in parallel.
pub fn ray_cast_any_batch<'s>(shape: impl Into<Placed<'s>>, rays: &[Ray]) -> Vec<bool> {
    value(Query::default().ray_cast_any_batch(shape, rays)).unwrap_or_default()
}

/// [`ray_cast_all`] for many rays, in parallel.
pub fn ray_cast_all_batch<'s>(shape: impl Into<Placed<'s>>, rays: &[Ray]) -> Vec<Vec<RayHit>> {
    value(Query::default().ray_cast_all_batch(shape, rays)).unwrap_or_default()
}

/// Every pair of triangles in which a mesh meets itself, exactly: ascending, the smaller index first.
///
/// # Errors
/// A shape that is no mesh.
pub fn self_intersections<'s>(shape: impl Into<Placed<'s>>) -> Result<Vec<[u32; 2]>, Error> {
    value(Query::default().self_intersections(shape))
}

/// [`self_intersections`] for many meshes.
///
/// # Errors
/// As [`self_intersections`].
pub fn self_intersections_batch(shapes: &[Placed<'_>]) -> Result<Vec<Vec<[u32; 2]>>, Error> {
    values(Query::default().self_intersections_batch(shapes))
}

/// The value of an answer that had no limit. Such an answer is always there and every pair of kinds is accepted;
/// `otherwise` only satisfies the types.
fn settled<T>(answer: Result<Answer<T>, Error>, otherwise: T) -> T {
    debug_assert!(answer.as_ref().is_ok_and(|answer| answer.value.is_some()));
    answer.ok().and_then(|answer| answer.value).unwrap_or(otherwise)
}

fn settled_all<T: Copy>(answers: Result<Vec<Answer<T>>, Error>, otherwise: T) -> Vec<T> {
    debug_assert!(answers.as_ref().is_ok_and(|all| all.iter().all(|answer| answer.value.is_some())));
    let answers = answers.unwrap_or_default();
    answers.into_iter().map(|answer| answer.value.unwrap_or(otherwise)).collect()
}

/// The value of an answer that had no limit.
pub(super) fn value<T: Default>(answer: Result<Answer<T>, Error>) -> Result<T, Error> {
    Ok(answer?.value.unwrap_or_default())
}

fn values<T: Default>(answers: Result<Vec<Answer<T>>, Error>) -> Result<Vec<T>, Error> {
    Ok(answers?.into_iter().map(|answer| answer.value.unwrap_or_default()).collect())
}

/// The only answer of a batch of one.
fn first<T>(answers: Result<Vec<T>, Error>) -> Result<T, Error> {
    answers?.pop().ok_or(Error::NoTriangles)
}
