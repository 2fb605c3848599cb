use std::f64::consts::PI;

use super::*;
use crate::shape::procedural;

fn mass(mesh: &Mesh) -> Mass {
    Mass::of(mesh, &Topology::of(mesh))
}

fn moved(mesh: &Mesh, change: impl Fn(DVec3) -> DVec3) -> Mesh {
    let points = mesh.vertices().iter().map(|&p| change(p)).collect();
    Mesh::from_points(points, mesh.triangles().to_vec()).unwrap()
}

fn near(a: f64, b: f64, relative: f64) {
    assert!((a - b).abs() <= relative * b.abs(), "{a} is not {b}");
}

#[test]
fn a_box_has_its_textbook_values() {
    let at = DVec3::new(10.0, -20.0, 30.0);
    let m = mass(&moved(&procedural::cuboid([1.0, 2.0, 3.0], [2, 3, 4]).unwrap(), |p| p + at));
    let solid = m.solid.unwrap();
    near(m.volume, 48.0, 1e-14);
    near(m.area, 88.0, 1e-14);
    assert!((solid.centre - at).length() < 1e-13 && (m.surface_centre - at).length() < 1e-13);
    let third = 48.0 / 3.0;
    let want = DMat3::from_diagonal(third * DVec3::new(4.0 + 9.0, 1.0 + 9.0, 1.0 + 4.0));
    assert!((solid.inertia - want).abs_diff_eq(DMat3::ZERO, 1e-11), "{:?}", solid.inertia);
}

#[test]
fn a_lopsided_tetrahedron_has_its_closed_form() {
    // Corner at the origin, legs 1, 2, 3: volume 1, centre (1, 2, 3)/4, ∫x² = V/10, ∫xy = V·1·2/20.
    let corners = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]];
    let mesh = Mesh::new(corners, vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]).unwrap();
    let solid = mass(&mesh).solid.unwrap();
    let c = DVec3::new(1.0, 2.0, 3.0) / 4.0;
    assert!((solid.centre - c).length() < 1e-15);
    let xy = -(2.0 / 20.0 - c.x * c.y);
    near(solid.inertia.y_axis.x, xy, 1e-13);
    near(solid.inertia.x_axis.y, xy, 1e-13);
    near(solid.inertia.z_axis.z, 0.1 * (1.0 + 4.0) - c.x * c.x - c.y * c.y, 1e-13);
}

#[test]
fn round_bodies_converge_quadratically() {
    let ball = |n: u32| mass(&procedural::uv_sphere(2.0, 2 * n, n).unwrap());
    let ring = |n: u32| mass(&procedural::torus(3.0, 1.0, 2 * n, n).unwrap());
    let volume = 4.0 / 3.0 * PI * 8.0;
    let torus = 2.0 * PI * PI * 3.0;
    let error = |m: Mass, want: f64| (m.volume / want - 1.0).abs();
    for (coarse, fine) in
        [(error(ball(32), volume), error(ball(64), volume)), (error(ring(32), torus), error(ring(64), torus))]
    {
        assert!((3.8..4.2).contains(&(coarse / fine)), "{coarse} to {fine}");
    }
    let fine = ball(128);
    near(fine.area, 16.0 * PI, 1e-3);
    near(fine.solid.unwrap().inertia.x_axis.x, 0.4 * volume * 4.0, 1e-3);
    // Solid torus about its axis: m (R² + ¾ r²).
    near(ring(128).solid.unwrap().inertia.z_axis.z, torus * (9.0 + 0.75), 2e-3);
}

#[test]
fn far_tiny_and_huge_bodies_lose_nothing() {
    let box_mesh = procedural::cuboid([1.0, 2.0, 3.0], [3; 3]).unwrap();
    let far = mass(&moved(&box_mesh, |p| p + DVec3::splat(2.0_f64.powi(30))));
    near(far.volume, 48.0, 1e-14);
    near(far.solid.unwrap().inertia.x_axis.x, 48.0 / 3.0 * 13.0, 1e-13);
    let tiny = mass(&moved(&box_mesh, |p| p * 1e-100)).solid.unwrap();
    assert!(tiny.centre.length() < 1e-114);
    let tiny = mass(&moved(&box_mesh, |p| (p + 1.0) * 1e-160)).solid.unwrap();
    assert!((tiny.centre / 1e-160 - 1.0).length() < 1e-12);
    let huge = mass(&moved(&box_mesh, |p| p * 1e59));
    near(huge.volume, 48e177, 1e-13);
    assert!(huge.solid.unwrap().inertia.is_finite());
    let speck = mass(&moved(&box_mesh, |p| p * 1e-310));
    assert!(speck.volume == 0.0 && speck.area == 0.0);
}

#[test]
fn orientation_changes_only_the_sign_of_the_volume() {
    let mesh = procedural::blob(1.0, 0.4, 3, 7).unwrap();
    let flipped = mesh.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
    let inverted = Mesh::from_points(mesh.vertices().to_vec(), flipped).unwrap();
    let [a, b] = [mass(&mesh), mass(&inverted)];
    assert!(a.volume > 0.0);
    near(b.volume, -a.volume, 1e-14);
    let [a, b] = [a.solid.unwrap(), b.solid.unwrap()];
    assert!((a.centre - b.centre).length() < 1e-14);
    assert!(a.inertia.abs_diff_eq(b.inertia, 1e-13) && a.inertia.x_axis.x > 0.0);
}

#[test]
fn an_open_surface_has_the_cone_from_its_middle_and_no_solid() {
    // Two legs of a right angle and a corner above: the mean is (1, 1, 1)/4.
    let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mesh = Mesh::new(points, vec![[0, 2, 1], [0, 1, 3]]).unwrap();
    for at in [DVec3::ZERO, DVec3::new(8.0, -4.0, 2.0)] {
        let m = mass(&moved(&mesh, |p| p + at));
        near(m.volume, 2.0 * 0.25 / 6.0, 1e-14);
        near(m.area, 1.0, 1e-15);
        assert!(m.solid.is_none());
    }
    let flat = Mesh::new(vec![[1.0; 3], [2.0; 3], [3.0; 3]], vec![[0, 1, 2], [2, 1, 0]]).unwrap();
    assert_eq!((mass(&flat).area, mass(&flat).volume, mass(&flat).solid), (0.0, 0.0, None));
    assert_eq!(mass(&flat).surface_centre, DVec3::splat(2.0));
}

#[test]
fn a_shell_weighs_its_wall() {
    let m = mass(&procedural::bowl(2.0, 0.5, 256, 64).unwrap());
    near(m.volume, 2.0 / 3.0 * PI * (8.0 - 3.375), 1e-3);
    assert!(m.solid.unwrap().centre.z < -0.5);
}
