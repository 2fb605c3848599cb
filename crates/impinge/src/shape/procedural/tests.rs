use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};

use super::*;
use crate::shape::mass::Mass;
use crate::{Error, Mesh, shape::Topology};

/// Watertight, outward, of one piece unless said otherwise, with the stated number of triangles.
fn sound(mesh: &Mesh, triangles: usize, euler: i64) -> Mass {
    let topology = Topology::of(mesh);
    assert!(topology.is_watertight(), "{:?}", topology.census());
    assert_eq!(topology.census().nonmanifold_vertices, 0);
    assert_eq!(topology.census().collapsed_triangles, 0);
    assert_eq!(topology.components().len(), 1);
    assert!(topology.weld().is_identity());
    assert_eq!((mesh.triangles().len(), topology.euler()), (triangles, euler));
    let mass = Mass::of(mesh, &topology);
    assert!(mass.volume > 0.0, "{}", mass.volume);
    mass
}

fn near(a: f64, b: f64, relative: f64) {
    assert!((a - b).abs() <= relative * b.abs(), "{a} is not {b}");
}

#[test]
fn polyhedra_have_their_volumes() {
    near(sound(&cuboid([1.0, 2.0, 3.0], [1, 1, 1]).unwrap(), 12, 2).volume, 48.0, 1e-15);
    near(sound(&cuboid([1.0, 2.0, 3.0], [2, 3, 5]).unwrap(), 4 * (6 + 15 + 10), 2).volume, 48.0, 1e-14);
    // A cube of side 2/√3 around it, a third of it filled.
    near(sound(&tetrahedron(1.0).unwrap(), 4, 2).volume, (2.0 / 3.0_f64.sqrt()).powi(3) / 3.0, 1e-14);
    near(sound(&octahedron(2.0).unwrap(), 8, 2).volume, 4.0 / 3.0 * 8.0, 1e-14);
    let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let edge = 2.0 / (1.0 + golden * golden).sqrt();
    let volume = 5.0 / 12.0 * (3.0 + 5.0_f64.sqrt()) * edge.powi(3);
    near(sound(&icosahedron(1.0).unwrap(), 20, 2).volume, volume, 1e-14);
}

#[test]
fn round_bodies_tend_to_their_volumes() {
    let n = 128;
    near(sound(&uv_sphere(1.0, n, n).unwrap(), 2 * 128 * 127, 2).volume, 4.0 / 3.0 * PI, 1e-3);
    near(sound(&ico_sphere(1.0, 5).unwrap(), 20 * 1024, 2).volume, 4.0 / 3.0 * PI, 1e-3);
    near(sound(&torus(2.0, 0.5, n, n).unwrap(), 2 * 128 * 128, 0).volume, 2.0 * PI * PI * 2.0 * 0.25, 1e-3);
    near(sound(&cylinder(1.0, 2.0, n).unwrap(), 4 * 128, 2).volume, 4.0 * PI, 1e-3);
    near(sound(&cone(1.0, 1.5, n).unwrap(), 2 * 128, 2).volume, PI, 1e-3);
    near(sound(&capsule(1.0, 2.0, n, 32).unwrap(), 4 * 128 * 32, 2).volume, (4.0 + 4.0 / 3.0) * PI, 1e-3);
    near(sound(&bowl(1.0, 0.1, n, 32).unwrap(), 4 * 128 * 32, 2).volume, 2.0 / 3.0 * PI * 0.271, 2e-3);
}

#[test]
fn tubes_have_the_volume_of_their_cross_section_times_their_length() {
    let disk = PI * 0.01;
    let trefoil = sound(&knot([2, 3], 1.0, 0.1, 512, 64).unwrap(), 2 * 512 * 64, 0);
    let length: f64 = (0..100_000)
        .map(|i| TAU * f64::from(i) / 1e5)
        .map(|t| {
            let [dr, r] = [-1.5 * (3.0 * t).sin(), 1.0 + 0.5 * (3.0 * t).cos()];
            (dr * dr + 4.0 * r * r + 2.25 * (3.0 * t).cos().powi(2)).sqrt() * TAU / 1e5
        })
        .sum();
    near(trefoil.volume, disk * length, 3e-3);
    let shoe = sound(&horseshoe(1.0, 0.1, 128, 64).unwrap(), 2 * 64 * 129, 2);
    near(shoe.volume, disk * (2.0 + PI), 3e-3);
    sound(&clover(3, 1.0, 0.1, 320, 16).unwrap(), 10_240, 0);
    for link in chain(3, 1.0, 0.1, 256, 64).unwrap() {
        near(sound(&link, 2 * 256 * 64, 0).volume, disk * (2.0 + PI), 3e-3);
    }
    let straight = tube(&[DVec3::ZERO, DVec3::X], 1.0, 8, Ends::Capped).unwrap();
    near(sound(&straight, 32, 2).volume, 0.5 * 8.0 * (TAU / 8.0).sin(), 1e-14);
}

#[test]
fn prisms_have_their_volumes() {
    let mass = sound(&gear(0.2, 0.8, 1.0, 0.5, 12).unwrap(), 32 * 12, 0);
    // 48 sectors of equal angle: per tooth one at the tip, one at the root, two in between.
    let sector = |a: f64, b: f64| 0.5 * a * b * (TAU / 48.0).sin();
    let outer = 12.0 * (sector(1.0, 1.0) + sector(0.8, 0.8) + 2.0 * sector(1.0, 0.8));
    near(mass.volume, 0.5 * (outer - 48.0 * sector(0.2, 0.2)), 1e-13);
    for steps in 1..6 {
        let all = f64::from(steps * (steps + 1)) / 2.0;
        let mass = sound(&stairs(steps, 0.3, 1.0, 0.2).unwrap(), 12 * steps as usize, 2);
        near(mass.volume, all * 0.06, 1e-13);
    }
}

#[test]
fn blobs_keep_their_triangles_and_differ_by_seed() {
    for seed in 0..4 {
        sound(&blob(1.0, 0.5, 3, seed).unwrap(), 20 * 64, 2);
    }
    assert_ne!(blob(1.0, 0.5, 2, 1).unwrap(), blob(1.0, 0.5, 2, 2).unwrap());
    let bunny = bunny(1.0, 5, 1).unwrap();
    sound(&bunny, 20 * 1024, 2);
    let high = bunny.vertices().iter().fold(0.0, |high, p| p.z.max(high));
    assert!(high > 1.5, "the ears stand up to {high}");
}

#[test]
fn a_sheet_is_open_and_flat() {
    let cloth = sheet([2.0, 3.0], [4, 6]).unwrap();
    let topology = Topology::of(&cloth);
    assert_eq!(cloth.triangles().len(), 48);
    assert_eq!((topology.census().boundary_edges, topology.euler()), (20, 1));
    assert!(topology.is_oriented() && !topology.is_closed());
    near(Mass::of(&cloth, &topology).area, 6.0, 1e-14);
    let [a, b, c] = cloth.corners(0);
    assert!((b - a).cross(c - a).z > 0.0);
}

#[test]
fn a_hand_has_sixteen_convex_parts_that_keep_apart() {
    let parts = hand(1.0, 8).unwrap();
    assert_eq!(parts.len(), 16);
    for (i, part) in parts.iter().enumerate() {
        sound(&part.mesh, if i == 0 { 12 } else { 48 }, 2);
        assert_eq!(part.parent.is_none(), i == 0);
        assert!(part.parent.is_none_or(|p| p < i));
        for t in 0..part.mesh.triangles().len() as u32 {
            let [a, b, c] = part.mesh.corners(t);
            let out = (b - a).cross(c - a);
            let rounding = 1e-15;
            let above = part.mesh.vertices().iter().any(|&p| (p - a).dot(out) > rounding);
            assert!(!above, "{} is not convex", part.name);
        }
    }
    for (i, a) in parts.iter().enumerate() {
        for b in &parts[..i] {
            assert!(separated(&a.mesh, &b.mesh), "{} meets {}", a.name, b.name);
        }
    }
}

/// Whether a face of either convex body has the other on its far side.
fn separated(a: &Mesh, b: &Mesh) -> bool {
    let beyond = |a: &Mesh, b: &Mesh| {
        (0..a.triangles().len() as u32).any(|t| {
            let [p, q, r] = a.corners(t);
            let out = (q - p).cross(r - p);
            b.vertices().iter().all(|&v| (v - p).dot(out) > 0.0)
        })
    };
    beyond(a, b) || beyond(b, a)
}

#[test]
fn a_teapot_is_four_closed_parts() {
    let parts = teapot(1.0, 16).unwrap();
    let counts = [20 * 16, 12 * 16, 2 * 16 * 17, 2 * 16 * 17];
    for (part, count) in parts.iter().zip(counts) {
        sound(&part.mesh, count, 2);
    }
    let whole = join(parts.iter().map(|part| &part.mesh)).unwrap();
    let topology = Topology::of(&whole);
    assert!(topology.is_watertight());
    assert_eq!((topology.components().len(), topology.euler()), (4, 8));
}

#[test]
fn scattered_spheres_keep_apart_and_inside() {
    let [low, high] = [DVec3::splat(-1.0), DVec3::splat(2.0)];
    let centres = spheres(200, 0.15, low, high, 3).unwrap();
    assert_eq!(centres.len(), 200);
    for (i, p) in centres.iter().enumerate() {
        assert!((*p - low).min_element() >= 0.15 && (high - *p).min_element() >= 0.15);
        assert!(centres[..i].iter().all(|q| p.distance(*q) > 0.3));
    }
    assert!(spheres(10_000, 0.15, low, high, 3).is_err());
    assert_eq!(positions(50, low, high, 9)[..20], positions(20, low, high, 9));
}

#[test]
fn rotations_are_units_without_a_preferred_direction() {
    let all = rotations(20_000, 5);
    let mut mean = [0.0; 4];
    let mut square = [0.0; 4];
    for q in &all {
        near(q.iter().map(|x| x * x).sum(), 1.0, 1e-14);
        for k in 0..4 {
            mean[k] += q[k] / all.len() as f64;
            square[k] += q[k] * q[k] / all.len() as f64;
        }
    }
    assert!(mean.iter().all(|m| m.abs() < 0.02), "{mean:?}");
    assert!(square.iter().all(|s| (s - 0.25).abs() < 0.01), "{square:?}");
}

#[test]
fn walls_and_pyramids_stand_on_the_floor() {
    let bricks = wall([0.5, 0.25, 0.25], 4, 3, 0.0).unwrap();
    assert_eq!(bricks.len(), 12);
    assert_eq!(bricks[0], DVec3::new(-1.5, 0.0, 0.25));
    assert_eq!(bricks[4], DVec3::new(-1.0, 0.0, 0.75));
    let heap = pyramid([0.5; 3], 3, 0.0).unwrap();
    assert_eq!(heap.len(), 6);
    assert_eq!(heap[5], DVec3::new(0.0, 0.0, 2.5));
}

#[test]
fn what_cannot_be_made_is_refused_by_name() {
    let refused = |made: Result<Mesh, Error>, culprit: &str| match made {
        Err(Error::Argument { name, .. }) => assert_eq!(name, culprit),
        other => panic!("{other:?}"),
    };
    refused(uv_sphere(0.0, 8, 8), "radius");
    refused(uv_sphere(f64::NAN, 8, 8), "radius");
    refused(uv_sphere(1.0, 2, 8), "segments");
    refused(torus(1.0, 1.0, 8, 8), "ring_radius - tube_radius");
    refused(clover(5, 1.0, 0.1, 64, 8), "bend - thickness");
    refused(knot([2, 4], 1.0, 0.1, 64, 8), "turns");
    refused(cuboid([1.0, -1.0, 1.0], [1; 3]), "half");
    refused(blob(1.0, 1.0, 2, 0), "roughness");
    refused(ico_sphere(1.0, 13), "splits");
    refused(tube(&[DVec3::ZERO, DVec3::ZERO, DVec3::X], 1.0, 8, Ends::Capped), "curve");
    refused(lathe(&[DVec2::ZERO, DVec2::Y], 8), "profile");
    assert!(matches!(cuboid([1.0; 3], [u32::MAX; 3]), Err(Error::TooMany { .. })));
    assert!(matches!(sheet([1.0; 2], [u32::MAX; 2]), Err(Error::TooMany { .. })));
    assert!(matches!(ico_sphere(1e61, 0), Err(Error::Coordinate { .. })));
}
