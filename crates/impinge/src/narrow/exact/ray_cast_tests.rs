//! The tree against every triangle, rays through corners and sides, and rays of odd sizes.

use super::*;
use crate::Mesh;
use crate::geom::ray_triangle::in_lanes;
use crate::shape::procedural;
use crate::simd::Portable;

fn brute_force(model: &Model, pose: &Pose, ray: &Ray) -> Vec<RayHit> {
    let sheared = ShearedRay::new(ray.origin, ray.direction, 1.0);
    let rays = MeshRays::new(model, pose);
    let mut hits: Vec<(Crossing, u32)> = (0..model.mesh().triangles().len() as u32)
        .filter_map(|t| {
            let corners = model.mesh().corners(t).map(|v| pose.apply(v));
            let crossing = crossing_ahead(Portable, ray, &sheared, &in_lanes(&corners))?;
            (crossing.t <= ray.reach).then_some((crossing, t))
        })
        .collect();
    hits.sort_by(|(a, i), (b, j)| a.t.total_cmp(&b.t).then(i.cmp(j)));
    let placed = |t: u32| in_lanes(&model.mesh().corners(t).map(|v| pose.apply(v)));
    hits.into_iter().map(|(crossing, t)| rays.hit(Portable, ray, crossing, &placed(t), t)).collect()
}

#[test]
fn agrees_with_every_triangle_tried() {
    let model = Model::from(procedural::torus(1.0, 0.4, 24, 12).unwrap());
    let origins = procedural::positions(400, DVec3::splat(-3.0), DVec3::splat(3.0), 1);
    let targets = procedural::positions(400, DVec3::splat(-1.2), DVec3::splat(1.2), 2);
    let poses = [
        Pose::IDENTITY,
        Pose::new([0.3, -2.0, 0.7], [0.1, 0.7, -0.3, 0.5]).unwrap(),
        Pose::new([1e6, -2e6, 3e6], [0.5, 0.1, 0.2, -0.4]).unwrap(),
    ];
    let mut hit = 0;
    for pose in &poses {
        for (k, (from, to)) in origins.iter().zip(&targets).enumerate() {
            let (origin, target) = (pose.apply(*from), pose.apply(*to));
            // The longest ones are scaled before they are cast to f32.
            let stretch = [1e-6, 1.0, 1e5, 1e-30, 1e30, 1e-200, 1e150][k % 7];
            let mut ray = Ray { origin, direction: (target - origin) * stretch, reach: f64::INFINITY };
            if k % 2 == 0 {
                // Along an axis, through a vertex: sides and corners are hit exactly.
                let v = model.mesh().vertices()[k % model.mesh().vertices().len()];
                ray.direction = if k % 4 == 0 { DVec3::X } else { -DVec3::Z };
                ray.origin = pose.apply(v) - ray.direction * 5.0;
            }
            if k % 5 == 0 {
                ray.reach = 1.5 / stretch;
            }
            let want = brute_force(&model, pose, &ray);
            assert_eq!(all_hits(&model, pose, &ray), want);
            assert_eq!(first_hit(&model, pose, &ray), want.first().copied());
            assert_eq!(any_hit(&model, pose, &ray), !want.is_empty());
            hit += usize::from(!want.is_empty());
        }
    }
    assert!((300..1100).contains(&hit), "{hit}");
}

#[test]
fn rays_from_within_a_closed_surface_always_leave() {
    let model = Model::from(procedural::ico_sphere(1.0, 3).unwrap());
    for (k, v) in model.mesh().vertices().iter().enumerate() {
        // Through corners and, between neighbours, through points of sides.
        let t = model.mesh().corners((k % model.mesh().triangles().len()) as u32);
        for target in [*v, t[0].midpoint(t[1]), t[1].lerp(t[2], 0.3)] {
            let ray = Ray { origin: DVec3::ZERO, direction: target, reach: f64::INFINITY };
            assert!(any_hit(&model, &Pose::IDENTITY, &ray));
        }
    }
}

#[test]
fn far_huge_tiny_and_senseless_rays() {
    let unit = procedural::ico_sphere(1.0, 2).unwrap();
    let model = Model::from(unit.clone());
    for far in [1e3, 1e9, 1e15] {
        let ray = Ray { origin: DVec3::new(0.1, far, 0.2), direction: -DVec3::Y, reach: f64::INFINITY };
        let hits = all_hits(&model, &Pose::IDENTITY, &ray);
        assert_eq!(hits, brute_force(&model, &Pose::IDENTITY, &ray));
        assert!(hits.len() >= 2);
    }
    for direction in [DVec3::ZERO, DVec3::NAN, DVec3::INFINITY] {
        let ray = Ray { origin: DVec3::ZERO, direction, reach: f64::INFINITY };
        assert!(!any_hit(&model, &Pose::IDENTITY, &ray));
    }
    for power in [-900, -200, 190] {
        let scale = 2f64.powi(power);
        let vertices = unit.vertices().iter().map(|p| *p * scale).collect();
        let model = Model::from(Mesh::from_points(vertices, unit.triangles().to_vec()).unwrap());
        let origin = DVec3::new(0.1, 3.0, 0.2) * scale;
        let ray = Ray { origin, direction: -DVec3::Y, reach: f64::INFINITY };
        let t = first_hit(&model, &Pose::IDENTITY, &ray).unwrap().t / scale;
        assert!((1.9..2.2).contains(&t), "2^{power} {t}");
    }
}

#[test]
fn the_start_on_the_surface_is_a_hit_at_zero() {
    let model = Model::from(procedural::ico_sphere(1.0, 2).unwrap());
    let pose = Pose::new([0.3, -2.0, 0.7], [0.1, 0.7, -0.3, 0.5]).unwrap();
    let mut at_zero = 0;
    for v in model.mesh().vertices() {
        let origin = pose.apply(*v);
        for direction in [DVec3::X, origin, -origin] {
            let ray = Ray { origin, direction, reach: f64::INFINITY };
            assert_eq!(first_hit(&model, &pose, &ray).map(|hit| hit.t), Some(0.0));
            at_zero += 1;
            // Just off the surface the exact side decides: outwards there is no hit from outside.
            let out = (origin - pose.translation()).normalize();
            let outside = Ray { origin: origin + out * 1e-9, direction: out, reach: f64::INFINITY };
            assert!(!any_hit(&model, &pose, &outside));
        }
    }
    assert!(at_zero > 400);
}

#[test]
fn normals_look_out_of_solids_and_towards_the_origin_of_open_ones() {
    let ball = procedural::ico_sphere(1.0, 2).unwrap();
    let turned: Vec<[u32; 3]> = ball.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
    let moved =
        |by: DVec3, scale: f64| -> Vec<DVec3> { ball.vertices().iter().map(|p| *p * scale + by).collect() };
    // Beside each other, one inside out; and a hollow ball, whichever way its shells are turned.
    let count = ball.vertices().len() as u32;
    let shifted = |t: &[[u32; 3]]| -> Vec<[u32; 3]> { t.iter().map(|t| t.map(|v| v + count)).collect() };
    let pair = |second: Vec<DVec3>, flip: [bool; 2]| {
        let sides = |flip: bool| if flip { &turned[..] } else { ball.triangles() };
        let triangles = [sides(flip[0]), &shifted(sides(flip[1]))].concat();
        Model::from(Mesh::from_points([moved(DVec3::ZERO, 1.0), second].concat(), triangles).unwrap())
    };
    let along =
        |x: f64, direction: DVec3| Ray { origin: DVec3::new(x, 0.01, 0.02), direction, reach: f64::INFINITY };
    for flip in [[false, true], [true, false], [true, true]] {
        let model = pair(moved(DVec3::X * 3.0, 1.0), flip);
        let hits = all_hits(&model, &Pose::IDENTITY, &along(-5.0, DVec3::X));
        let signs: Vec<bool> = hits.iter().map(|hit| hit.normal.x > 0.0).collect();
        assert_eq!(signs, [false, true, false, true], "{flip:?}");
    }
    for flip in [[false, true], [true, false]] {
        let model = pair(moved(DVec3::ZERO, 0.5), flip);
        let hits = all_hits(&model, &Pose::IDENTITY, &along(-5.0, DVec3::X));
        let signs: Vec<bool> = hits.iter().map(|hit| hit.normal.x > 0.0).collect();
        assert_eq!(signs, [false, true, false, true], "{flip:?}");
    }
    let sheet = Mesh::from_points(vec![DVec3::ZERO, DVec3::Y, DVec3::Z], vec![[0, 1, 2]]).unwrap();
    let sheet = Model::from(sheet);
    for direction in [DVec3::X, -DVec3::X] {
        let ray = Ray { origin: DVec3::new(0.0, 0.2, 0.2) - direction, direction, reach: 2.0 };
        assert_eq!(first_hit(&sheet, &Pose::IDENTITY, &ray).unwrap().normal, -direction);
    }
}

#[test]
fn every_instruction_set_leaves_the_same_hits() {
    let model = Model::from(procedural::blob(1.0, 0.3, 4, 3).unwrap());
    let origins = procedural::positions(300, DVec3::splat(-2.0), DVec3::splat(2.0), 5);
    let targets = procedural::positions(300, DVec3::splat(-0.8), DVec3::splat(0.8), 6);
    let pose = Pose::new([0.3, -2.0, 0.7], [0.1, 0.7, -0.3, 0.5]).unwrap();
    let mut hits = 0;
    for (from, to) in origins.iter().zip(&targets) {
        let ray =
            Ray { origin: pose.apply(*from), direction: pose.apply(*to) - pose.apply(*from), reach: 1.2 };
        let want = brute_force(&model, &pose, &ray);
        hits += usize::from(!want.is_empty());
        for level in SimdLevel::available() {
            let rays = MeshRays { level, ..MeshRays::new(&model, &pose) };
            assert_eq!(rays.all(&ray).0, want, "{level:?}");
            assert_eq!(rays.first(&ray, &mut Counters::default()), want.first().copied(), "{level:?}");
            assert_eq!(rays.any(&ray).0, !want.is_empty(), "{level:?}");
        }
    }
    assert!((90..290).contains(&hits), "{hits}");
}

/// The first hit by every instruction set is that of all triangles tried.
fn assert_first(model: &Model, pose: &Pose, ray: &Ray) -> bool {
    let want = brute_force(model, pose, ray).first().copied();
    for level in SimdLevel::available() {
        let rays = MeshRays { level, ..MeshRays::new(model, pose) };
        assert_eq!(rays.first(ray, &mut Counters::default()), want, "{level:?}");
    }
    want.is_some()
}

#[test]
fn layers_that_single_precision_cannot_tell_apart() {
    // More of them than may wait to be decided; some at the same height, where the smallest triangle is hit.
    let heights = [3, 7, 1, 9, 2, 1, 8, 5, 0, 0, 6, 4, 4, 9, 2, 7, 3, 8, 5, 6, 0, 1];
    let corner = |x: f64, y: f64| move |k: &i32| DVec3::new(x, y, f64::from(*k) * 1e-13);
    let corners = [corner(-1.0, -1.0), corner(1.1, -0.9), corner(0.1, 1.2)];
    let vertices: Vec<DVec3> = heights.iter().flat_map(|k| corners.each_ref().map(|c| c(k))).collect();
    let count = heights.len() as u32;
    let model = Model::from(
        Mesh::from_points(vertices, (0..count).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect()).unwrap(),
    );
    for (k, p) in procedural::positions(200, DVec3::splat(-0.5), DVec3::splat(0.5), 3).iter().enumerate() {
        let up = if k % 2 == 0 { 3.0 } else { -3.0 };
        let from = DVec3::new(p.x + p.z, p.y - p.z, up);
        let to = DVec3::new(p.x, p.y, 0.0);
        let ray = Ray { origin: from, direction: to - from, reach: [f64::INFINITY, 1.0][k % 3 / 2] };
        assert_first(&model, &Pose::IDENTITY, &ray);
    }
}

#[test]
fn slivers_and_grazing_rays_are_decided_in_double_precision() {
    let pose = Pose::new([0.3, -2.0, 0.7], [0.1, 0.7, -0.3, 0.5]).unwrap();
    let middles = procedural::positions(600, DVec3::NEG_ONE, DVec3::ONE, 11);
    let sides = procedural::positions(1200, DVec3::NEG_ONE, DVec3::ONE, 12);
    let vertices: Vec<DVec3> = (0..600)
        .flat_map(|k| {
            let thin = [1.0, 1e-3, 1e-6][k % 3];
            let [long, across] = [sides[2 * k] * 0.4, sides[2 * k + 1] * thin];
            [middles[k] - long, middles[k] + long, middles[k] + across]
        })
        .collect();
    let model = Model::from(
        Mesh::from_points(vertices.clone(), (0..600).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect())
            .unwrap(),
    );
    let mut hits = 0;
    for k in 0..600 {
        // Through a sliver, and nearly along another.
        let [a, b, c] = [0, 1, 2].map(|i| vertices[3 * k + i]);
        let direction = if k % 2 == 0 { sides[k] } else { (b - a) + (c - a) * 1e-4 };
        let origin = (a + b + c) / 3.0 - direction * 4.0;
        let ray = Ray {
            origin: pose.apply(origin),
            direction: pose.apply(origin + direction) - pose.apply(origin),
            reach: f64::INFINITY,
        };
        hits += usize::from(assert_first(&model, &pose, &ray));
    }
    assert!(hits > 300, "{hits}");
}

/// Rays in the planes of triangles: on a cube's faces, along its edges, and on one triangle seen from its edge.
#[test]
fn issue_014_rays_in_the_planes_of_triangles() {
    let cube = Model::from(procedural::cuboid([1.0; 3], [1; 3]).unwrap());
    let pose = Pose::new([3.0, -1.0, 0.5], [0.5, 0.5, 0.5, 0.5]).unwrap();
    let cast = |model: &Model, origin: DVec3, direction: DVec3| {
        let ray =
            Ray { origin: pose.apply(origin), direction: pose.matrix() * direction, reach: f64::INFINITY };
        let first = first_hit(model, &pose, &ray);
        assert_eq!(any_hit(model, &pose, &ray), first.is_some());
        assert_eq!(all_hits(model, &pose, &ray).first().map(|hit| hit.t), first.map(|hit| hit.t));
        assert_eq!(brute_force(model, &pose, &ray).first().copied(), first);
        first.map(|hit| hit.t)
    };
    for k in 0..200 {
        // On the upper face, and from beside it.
        let [x, y] = [f64::from(k % 17) / 8.0 - 1.0, f64::from(k % 13) / 6.5 - 1.0];
        let step = DVec3::new(f64::from(k % 5) - 2.0, f64::from(k % 7) - 3.0, 0.0);
        if step != DVec3::ZERO {
            assert_eq!(cast(&cube, DVec3::new(x, y, 1.0), step), Some(0.0), "{k}");
        }
        assert_eq!(cast(&cube, DVec3::new(x, 3.0, 1.0), -DVec3::Y), Some(2.0), "{k}");
        assert_eq!(cast(&cube, DVec3::new(x, 3.0, 1.0), DVec3::Y), None, "{k}");
    }
    assert_eq!(cast(&cube, DVec3::ONE, DVec3::X), Some(0.0));
    assert_eq!(cast(&cube, DVec3::new(1.0, 0.5, 1.0), DVec3::Y), Some(0.0));
    let one = Mesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 3.0, 3.0]], vec![[0, 1, 2]]).unwrap();
    let one = Model::from(one);
    assert_eq!(cast(&one, DVec3::new(-1.0, 1.5, 1.5), DVec3::X * 0.5), Some(2.0));
    assert_eq!(cast(&one, DVec3::new(-1.0, 0.0, 0.0), DVec3::X), Some(1.0));
    assert_eq!(cast(&one, DVec3::new(0.25, 0.75, 0.75), DVec3::new(1.0, 2.0, 2.0)), Some(0.0));
    assert_eq!(cast(&one, DVec3::new(-1.0, 4.0, 4.0), DVec3::X), None);
    assert_eq!(cast(&one, DVec3::new(-1.0, 1.5, 1.5), -DVec3::X), None);
}
