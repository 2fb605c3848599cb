//! How far points are from a surface, and whether they are inside.
//!
//! The sign never comes from one normal, which is wrong beside sharp edges and self-intersections. For a
//! closed surface it is the exact winding number. That number cannot change within the ball around a point
//! that the nearest surface point leaves empty: where the ball reaches out of the surface's box the point is
//! outside, in a batch a point near its predecessor inherits its side, and few need a ray. An open surface
//! has no inside in that sense: there the generalised winding number decides, and distances are not signed.

use glam::DVec3;

use super::closest_point::{ClosestPoint, one_after_another};
use super::generalized_winding::SolidAngles;
use super::morton_order::in_good_order;
use super::perturbed_point::PerturbedPoint;
use super::placed_mesh::PlacedMesh;
use super::winding::{borders_solid, counted_winding_at, faces_at};
use crate::geom::point_triangle::norm;
use crate::model::Model;
use crate::num::parallel;
use crate::num::tolerance::FOOT_ERROR;
use crate::{Counters, Pose};

/// Points that follow each other on one thread.
const CHUNK: usize = 1024;

/// Earlier points that are asked for their side before a ray is cast.
const NEIGHBOURS: usize = 4;

/// Where a point lies relative to a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedDistance {
    /// The distance; negative inside of a closed surface, never negative for an open one.
    pub distance: f64,
    /// Whether the point is in the closed solid, which a double sheet is no part of; for an open surface
    /// whether it is enclosed more than half.
    pub inside: bool,
    /// The nearest point of the surface.
    pub closest: ClosestPoint,
}

#[cfg(any(test, feature = "unstable"))]
/// The signed distance of one point of the world.
pub fn signed_distance(model: &Model, pose: &Pose, p: DVec3) -> SignedDistance {
    let closest = super::closest_point::closest_point(model, pose, p);
    let inside = if model.topology().is_closed() {
        let body = PlacedMesh::new(model, pose);
        is_inside(&body, &body.bounds(), p, &closest).0
    } else {
        SolidAngles::new(model).is_enclosed(pose, p)
    };
    signed(model, closest, inside)
}

#[cfg(any(test, feature = "unstable"))]
/// [`signed_distance`] for many points, in parallel and in an order in which neighbours help each other.
///
/// ```
/// # use impinge::{model::Model, Pose, shape::procedural, narrow::exact::signed_distance::signed_distances};
/// let ball = Model::from(procedural::ico_sphere(1.0, 3)?);
/// let points = [glam::DVec3::ZERO, glam::DVec3::new(0.0, 2.0, 0.0)];
/// let found = signed_distances(&ball, &Pose::IDENTITY, &points);
/// assert!(found[0].inside && found[0].distance < -0.9 && found[1].distance > 0.9);
/// # Ok::<(), impinge::Error>(())
/// ```
pub fn signed_distances(model: &Model, pose: &Pose, points: &[DVec3]) -> Vec<SignedDistance> {
    counted_signed_distances(model, pose, points).0
}

/// The signed distances of many points, in parallel and in an order in which neighbours help each other, and what they
/// cost.
pub(crate) fn counted_signed_distances(
    model: &Model,
    pose: &Pose,
    points: &[DVec3],
) -> (Vec<SignedDistance>, Counters) {
    let mut work = Counters::default();
    let found = in_good_order(points, |points| {
        let (found, more) = in_given_order(model, pose, points);
        work += more;
        found
    });
    (found, work)
}

fn in_given_order(model: &Model, pose: &Pose, points: &[DVec3]) -> (Vec<SignedDistance>, Counters) {
    let (nearest, mut work) = one_after_another(model, pose, points);
    let closed = model.topology().is_closed();
    let angles = (!closed).then(|| SolidAngles::new(model));
    let body = PlacedMesh::new(model, pose);
    let bounds = body.bounds();
    let parts = parallel::map(points.len().div_ceil(CHUNK), |k| {
        let chunk = k * CHUNK..points.len().min((k + 1) * CHUNK);
        let mut known: [Option<(usize, bool)>; NEIGHBOURS] = [None; NEIGHBOURS];
        let (mut found, mut tests) = (Vec::with_capacity(chunk.len()), 0);
        for i in chunk {
            let inside = match &angles {
                Some(angles) => angles.is_enclosed(pose, points[i]),
                None => {
                    let own = empty_ball(&bounds, points[i], &nearest[i]);
                    let same_side = known.iter().flatten().find(|(j, _)| {
                        let empty = own.max(empty_ball(&bounds, points[*j], &nearest[*j]));
                        norm(points[i] - points[*j]) < empty
                    });
                    let inside = match same_side {
                        Some(&(_, inside)) => inside,
                        None => {
                            let (inside, more) = is_inside(&body, &bounds, points[i], &nearest[i]);
                            tests += more;
                            inside
                        }
                    };
                    known.rotate_right(1);
                    known[0] = (nearest[i].distance > 0.0).then_some((i, inside));
                    inside
                }
            };
            found.push(signed(model, nearest[i], inside));
        }
        (found, tests)
    });
    let mut all = Vec::with_capacity(points.len());
    for (found, tests) in parts {
        all.extend(found);
        work.primitive_tests += tests;
    }
    (all, work)
}

fn signed(model: &Model, closest: ClosestPoint, inside: bool) -> SignedDistance {
    let negative = inside && model.topology().is_closed();
    let distance = if negative { -closest.distance } else { closest.distance };
    SignedDistance { distance, inside, closest }
}

/// The radius of a ball around a point that no placed triangle reaches, at most zero near the surface; all
/// of them are within the bounds.
fn empty_ball([low, high]: &[DVec3; 2], p: DVec3, closest: &ClosestPoint) -> f64 {
    let size = p.abs().max(low.abs()).max(high.abs()).max_element();
    closest.distance - FOOT_ERROR * size
}

/// Whether a point is in the closed solid that the body bounds, and how many triangles were asked.
fn is_inside(body: &PlacedMesh<'_>, bounds: &[DVec3; 2], p: DVec3, closest: &ClosestPoint) -> (bool, u64) {
    let empty = empty_ball(bounds, p, closest);
    if !(empty > 0.0) {
        let faces = faces_at(body, p);
        if !faces.is_empty() {
            return (borders_solid(body, p, &faces), (faces.len() * faces.len()) as u64);
        }
    }
    // Not where the ball reaches out of the box.
    let [low, high] = *bounds;
    let way_out = (high - p).min(p - low).min_element();
    if way_out < empty {
        return (false, 0);
    }
    let (winding, tests) = counted_winding_at(body, &PerturbedPoint::beside(p));
    (winding != 0, tests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mesh;
    use crate::narrow::exact::winding::winding;
    use crate::shape::procedural;

    fn grid(cells: u32, size: f64) -> Vec<DVec3> {
        let at = |i: u32| size * (2.0 * (f64::from(i) + 0.5) / f64::from(cells) - 1.0);
        (0..cells.pow(3))
            .map(|i| DVec3::new(at(i % cells), at(i / cells % cells), at(i / cells / cells)))
            .collect()
    }

    #[test]
    fn sides_agree_with_the_exact_winding_number() {
        // Inverted orientation and a body that passes through itself are inside all the same.
        let torus = procedural::torus(1.0, 0.4, 24, 12).unwrap();
        let turned = torus.triangles().iter().map(|t| [t[0], t[2], t[1]]).collect();
        let inverted = Mesh::from_points(torus.vertices().to_vec(), turned).unwrap();
        let shifted = torus.vertices().iter().map(|p| *p + DVec3::new(0.5, 0.1, 0.2)).collect();
        let shifted = Mesh::from_points(shifted, torus.triangles().to_vec()).unwrap();
        let twice = procedural::join([&torus, &shifted]).unwrap();
        let pose = Pose::new([0.1, -0.1, 0.05], [0.2, 0.1, -0.3, 0.8]).unwrap();
        for mesh in [torus, inverted, twice] {
            let model = Model::from(mesh);
            let points: Vec<DVec3> = grid(14, 1.6)
                .into_iter()
                .chain(model.mesh().vertices()[..30].iter().map(|p| pose.apply(*p)))
                .collect();
            let mut inside = 0;
            for (p, found) in points.iter().zip(signed_distances(&model, &pose, &points)) {
                assert_eq!(found.inside, winding(&model, &pose, *p).is_inside());
                assert_eq!(found, signed_distance(&model, &pose, *p));
                assert_eq!(found.distance.abs(), found.closest.distance);
                assert!(found.distance <= 0.0 || !found.inside);
                inside += usize::from(found.inside);
            }
            assert!((points.len() / 25..points.len() / 2).contains(&inside), "{inside}");
        }
    }

    #[test]
    fn many_scattered_points_keep_their_sides() {
        let model = Model::from(procedural::torus(1.0, 0.4, 24, 12).unwrap());
        let points = procedural::positions(2000, DVec3::splat(-1.5), DVec3::splat(1.5), 4);
        let found = signed_distances(&model, &Pose::IDENTITY, &points);
        for (p, found) in points.iter().zip(&found) {
            assert_eq!(*found, signed_distance(&model, &Pose::IDENTITY, *p));
        }
        let inside = found.iter().filter(|f| f.inside).count();
        assert!((100..1000).contains(&inside), "{inside}");
    }

    /// Squares of the lengths underflow or come near the largest double.
    #[test]
    fn sides_and_distances_do_not_depend_on_the_scale() {
        let corners = |k: u32| [0, 1, 2].map(|bit| f64::from(k >> bit & 1));
        let quads = [[0, 2, 3, 1], [0, 1, 5, 4], [1, 3, 7, 5], [3, 2, 6, 7], [2, 0, 4, 6], [4, 5, 7, 6]];
        let faces: Vec<[u32; 3]> =
            quads.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        // Sixteenths stay exact down to the smallest subnormal numbers.
        let inside = [[0.5, 0.25, 0.25], [0.75, 0.5, 0.5], [0.0625, 0.0625, 0.5]];
        let outside = [[2.0, 0.25, 0.25], [-0.0625, 0.5, 0.5], [1.5, 1.5, 1.5], [0.5, 0.5, 1.0625]];
        let mut points: Vec<[f64; 3]> = inside.into_iter().zip(outside).flat_map(|(p, q)| [p, q]).collect();
        points.push(outside[3]);
        let cube = |scale: f64| {
            let at = |k| corners(k).map(|x| x * scale);
            Model::from(Mesh::new((0..8).map(at).collect(), faces.clone()).unwrap())
        };
        let sides = |points: &[[f64; 3]], scale: f64| {
            let placed: Vec<DVec3> = points.iter().map(|&p| DVec3::from(p) * scale).collect();
            signed_distances(&cube(scale), &Pose::IDENTITY, &placed)
        };
        for backwards in [false, true] {
            if backwards {
                points.reverse();
            }
            let want = sides(&points, 1.0);
            assert_eq!(want.iter().filter(|found| found.inside).count(), 3);
            for exponent in [-1046, -1022, -1000, -830, -540, -520, -300, -170, -60, 60, 170, 198] {
                let scale = 2.0_f64.powi(exponent / 2) * 2.0_f64.powi(exponent - exponent / 2);
                for ((p, want), found) in points.iter().zip(&want).zip(sides(&points, scale)) {
                    assert_eq!(found.inside, want.inside, "{p:?} at 2^{exponent}");
                    let off = found.distance / scale - want.distance;
                    assert!(off.abs() < 1e-7, "{p:?} at 2^{exponent}: off by {off}");
                }
            }
        }
    }

    #[test]
    fn a_double_sheet_has_no_inside() {
        let corners = vec![[0.0, 0.0, 0.0], [3.0, 0.0, 1.0], [0.0, 3.0, 1.0]];
        let sheet = Model::from(Mesh::new(corners, vec![[0, 1, 2], [0, 2, 1]]).unwrap());
        assert!(sheet.topology().is_closed());
        let mut points = grid(8, 2.0);
        points.extend(sheet.mesh().vertices());
        points.extend([[1.0, 0.5, 0.5], [1.5, 1.5, 1.0], [1.5, 0.0, 0.5]].map(DVec3::from));
        let found = signed_distances(&sheet, &Pose::IDENTITY, &points);
        assert!(found.iter().all(|f| !f.inside && f.distance.is_sign_positive()));
        assert_eq!(found.iter().filter(|f| f.distance == 0.0).count(), 6);
        for (p, f) in points.iter().zip(&found) {
            assert_eq!(signed_distance(&sheet, &Pose::IDENTITY, *p), *f);
        }
    }

    #[test]
    fn an_open_bowl_encloses_by_more_than_half() {
        let ball = procedural::ico_sphere(1.0, 3).unwrap();
        // Without the cap at the top.
        let kept = |t: &&[u32; 3]| t.iter().any(|v| ball.vertices()[*v as usize].z < 0.8);
        let open = ball.triangles().iter().filter(kept).copied().collect();
        let open = Model::from(Mesh::from_points(ball.vertices().to_vec(), open).unwrap());
        assert!(!open.topology().is_closed());
        for p in grid(9, 1.3) {
            let found = signed_distance(&open, &Pose::IDENTITY, p);
            assert!(found.distance >= 0.0);
            if p.z < 0.5 && (p.length() - 1.0).abs() > 0.1 {
                assert_eq!(found.inside, p.length() < 1.0);
            }
        }
    }
}
