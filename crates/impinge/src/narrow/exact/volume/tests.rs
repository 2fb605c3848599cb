//! Closed forms, degenerate positions, other ways to the same number, and central differences.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use glam::DVec3;

use super::perturbed_crossing::{Face, pass, passing_sides};
use super::*;
use crate::shape::{Mesh, procedural};

fn of(a: &Mesh, b: &Mesh, at: [f64; 3]) -> Volume {
    placed(a, &Pose::IDENTITY, b, &Pose::from_translation(at).unwrap())
}

fn placed(a: &Mesh, pose_a: &Pose, b: &Mesh, pose_b: &Pose) -> Volume {
    let models = [Model::from(a.clone()), Model::from(b.clone())];
    let options = VolumeOptions { gradient: true, samples: true, border: true, ..VolumeOptions::default() };
    let found = volume([&models[0], &models[1]], [pose_a, pose_b], &options, &mut Budget::UNLIMITED.clone());
    let found = found.value.unwrap();
    check_border(&found);
    found
}

/// The border is closed, encloses the volume, and lies flat where the samples do.
fn check_border(found: &Volume) {
    let (vertices, triangles) = &found.border;
    assert_eq!(triangles.is_empty(), found.volume == 0.0, "{}", found.volume);
    let mut edges = std::collections::HashMap::new();
    for t in triangles {
        for k in 0..3 {
            let (u, v) = (t[k], t[(k + 1) % 3]);
            *edges.entry([u.min(v), u.max(v)]).or_insert(0) += if u < v { 1 } else { -1 };
        }
    }
    assert!(edges.values().all(|sum| *sum == 0), "open: {edges:?}");
    let sides = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let length = |[u, v]: [u32; 2]| vertices[u as usize].distance(vertices[v as usize]);
    assert!(triangles.iter().flat_map(sides).all(|side| length(side) > 0.0), "an edge without length");
    let from = vertices.first().copied().unwrap_or_default();
    let corners = triangles.iter().map(|t| t.map(|v| vertices[v as usize] - from));
    let volume: f64 = corners.clone().map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
    let size: f64 = corners.clone().map(|[a, b, c]| (a.dot(b.cross(c)) / 6.0).abs()).sum();
    assert!((volume - found.volume).abs() <= 2.0 * found.error + 1e-13 * size, "{volume} {}", found.volume);
    // No triangle lies over another: what only touches has samples but no border.
    let area: f64 = corners.map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length()).sum();
    let sampled: f64 = found.samples.iter().map(|sample| sample.area.length()).sum();
    assert!(area <= sampled * (1.0 + 1e-9) + 1e-12, "{area} {sampled}");
}

fn cuboid(half: [f64; 3], segments: u32) -> Mesh {
    procedural::cuboid(half, [segments; 3]).unwrap()
}

fn inverted(mesh: &Mesh) -> Mesh {
    let turned = mesh.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
    Mesh::from_points(mesh.vertices().to_vec(), turned).unwrap()
}

fn mesh_volume(mesh: &Mesh) -> f64 {
    (0..mesh.triangles().len() as u32).map(|t| mesh.corners(t)).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum()
}

fn random_pose(dice: &mut Pcg64Mcg, reach: f64) -> Pose {
    let mut number = || dice.random_range(-1.0..1.0);
    let axis = DVec3::new(number(), number(), number()).normalize_or(DVec3::X);
    let turn = glam::DQuat::from_axis_angle(axis, 3.0 * number());
    let at = DVec3::new(number(), number(), number()) * reach;
    Pose::new(at.to_array(), turn.to_array()).unwrap()
}

/// The volume of a convex mesh within half-spaces, by clipping its tetrahedra.
fn clipped_volume(mesh: &Mesh, planes: &[(DVec3, f64)]) -> f64 {
    let inside = mesh.vertices().iter().sum::<DVec3>() / mesh.vertices().len() as f64;
    (0..mesh.triangles().len() as u32)
        .map(|t| mesh.corners(t))
        .map(|[a, b, c]| clip([inside, a, b, c], planes))
        .sum()
}

fn clip(t: [DVec3; 4], planes: &[(DVec3, f64)]) -> f64 {
    let Some((&(normal, height), rest)) = planes.split_first() else {
        return ((t[1] - t[0]).cross(t[2] - t[0]).dot(t[3] - t[0]) / 6.0).abs();
    };
    let above = t.map(|p| normal.dot(p) - height);
    let (mut keep, mut drop): (Vec<usize>, Vec<usize>) = (0..4).partition(|&i| above[i] <= 0.0);
    let on = |i: usize, j: usize| t[i] + (t[j] - t[i]) * (above[i] / (above[i] - above[j]));
    match (keep.len(), drop.len()) {
        (4, _) => clip(t, rest),
        (1, _) => {
            let k = keep.remove(0);
            clip([t[k], on(k, drop[0]), on(k, drop[1]), on(k, drop[2])], rest)
        }
        (3, _) => {
            let d = drop.remove(0);
            let [x, y, z] = [0, 1, 2].map(|i| (t[keep[i]], on(keep[i], d)));
            clip([x.0, y.0, z.0, x.1], rest)
                + clip([y.0, z.0, x.1, y.1], rest)
                + clip([z.0, x.1, y.1, z.1], rest)
        }
        (2, _) => {
            let [a, b, c, d] = [keep[0], keep[1], drop[0], drop[1]];
            let [ac, ad, bc, bd] = [on(a, c), on(a, d), on(b, c), on(b, d)];
            clip([t[a], ac, ad, t[b]], rest) + clip([t[b], bc, bd, ac], rest) + clip([t[b], ac, ad, bd], rest)
        }
        _ => 0.0,
    }
}

/// The planes of a placed cuboid.
fn planes(half: [f64; 3], pose: &Pose) -> Vec<(DVec3, f64)> {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let both = (0..3).flat_map(|k| [(axes[k], half[k]), (-axes[k], half[k])]);
    both.map(|(normal, height)| {
        let normal = pose.matrix() * normal;
        (normal, height + normal.dot(pose.translation()))
    })
    .collect()
}

#[test]
fn boxes_in_every_position_of_a_grid() {
    // Shared faces, edges and corners, equal boxes, nested ones: every tie there is.
    let steps = [-1.0, -0.75, -0.5, 0.0, 0.25, 0.5, 1.0];
    for (size, segments) in [([0.5; 3], 1), ([0.25, 0.5, 1.0], 2), ([1.0, 0.25, 0.25], 1)] {
        let (cube, other) = (cuboid([0.5; 3], segments), cuboid(size, 1));
        for place in 0..343 {
            let at = [steps[place % 7], steps[place / 7 % 7], steps[place / 49]];
            let sides = (0..3).map(|k| 0.5_f64.min(at[k] + size[k]) - (-0.5_f64).max(at[k] - size[k]));
            let expected: f64 = sides.map(|side| side.max(0.0)).product();
            let found = of(&cube, &other, at);
            assert!(
                (found.volume - expected).abs() <= found.error,
                "{size:?} {at:?}: {} ± {}, not {expected}",
                found.volume,
                found.error
            );
            assert_eq!(found.regions.len(), usize::from(expected > 0.0), "{size:?} {at:?}");
        }
    }
}

/// A prism over a flat outline, which is given counter-clockwise, from z = 0 up.
fn prism(outline: &[[f64; 2]], height: f64) -> Mesh {
    let corners = |z: f64| outline.iter().map(move |[x, y]| DVec3::new(*x, *y, z));
    let named = (0..).zip(outline).map(|(name, p)| (name, glam::DVec2::from_array(*p))).collect();
    let n = outline.len() as u32;
    let floor = super::polygon::triangulate(vec![named]);
    let top = floor.iter().map(|t| t.map(|v| v + n));
    let bottom = floor.iter().map(|&[a, b, c]| [a, c, b]);
    let walls = (0..n).flat_map(|k| {
        let next = (k + 1) % n;
        [[k, next, next + n], [k, next + n, k + n]]
    });
    let triangles = bottom.chain(top).chain(walls).collect();
    Mesh::from_points(corners(0.0).chain(corners(height)).collect(), triangles).unwrap()
}

#[test]
fn faces_that_coincide_do_not_tilt_the_normal() {
    // Boxes on a grid: the faces of the common box that belong to one body alone tell the normal.
    let steps = [-0.75, -0.5, 0.0, 0.25, 0.5];
    let (mut coinciding, mut cancelled) = (0, 0);
    for (size, segments) in [([0.5; 3], 1), ([0.25, 0.5, 1.0], 2), ([1.0, 0.25, 0.25], 3)] {
        let (cube, other) = (cuboid([0.5; 3], segments), cuboid(size, 1));
        for place in 0..125 {
            let at = [steps[place % 5], steps[place / 5 % 5], steps[place / 25]];
            let ends = [0, 1, 2].map(|k| [[-0.5, at[k] - size[k]], [0.5, at[k] + size[k]]]);
            let extent = ends.map(|[low, high]| high[0].min(high[1]) - low[0].max(low[1]));
            if extent.iter().any(|length| *length <= 0.0) {
                continue;
            }
            let whose = |own: f64, others: f64| f64::from(i8::from(own > others) - i8::from(own < others));
            let net = [0, 1, 2].map(|k| {
                let [low, high] = ends[k];
                let area = extent[(k + 1) % 3] * extent[(k + 2) % 3];
                area * (whose(high[1], high[0]) - whose(low[0], low[1]))
            });
            let net = DVec3::from_array(net);
            for (a, b) in [(&cube, &other), (&inverted(&cube), &other), (&cube, &inverted(&other))] {
                let found = of(a, b, at);
                let region = found.regions[0].region;
                assert!(
                    (region.normal - net.normalize_or_zero()).length() < 1e-12,
                    "{size:?} {at:?} {region:?}"
                );
                assert!((region.area - 0.5 * net.length()).abs() < 1e-12, "{size:?} {at:?} {region:?}");
            }
            coinciding += usize::from(ends.iter().flatten().any(|[x, y]| x == y));
            cancelled += usize::from(net == DVec3::ZERO);
        }
    }
    assert!(coinciding > 100 && cancelled > 3, "{coinciding} {cancelled}");
    // A block that is pressed into one wall and rests on the floor beside it: the floor does not count.
    let shift = |mesh: &Mesh, by: [f64; 3]| {
        let vertices = mesh.vertices().iter().map(|p| *p + DVec3::from_array(by)).collect();
        Mesh::from_points(vertices, mesh.triangles().to_vec()).unwrap()
    };
    let corner = [[-0.5, 0.0], [1.5, 0.0], [1.5, 1.0], [1.0, 1.0], [1.0, 0.25], [-0.5, 0.25]];
    let corner = prism(&corner, 1.0);
    let block = shift(&cuboid([0.3, 0.25, 0.2], 1), [0.8, 0.5, 0.5]);
    for (found, normal) in
        [(of(&corner, &block, [0.0; 3]), DVec3::NEG_X), (of(&block, &corner, [0.0; 3]), DVec3::X)]
    {
        assert!((found.regions[0].region.normal - normal).length() < 1e-12, "{:?}", found.regions);
        assert!((found.volume - 0.1 * 0.5 * 0.4).abs() <= found.error);
    }
}

#[test]
fn bodies_of_any_size_are_measured_alike() {
    let (ball, block) = (procedural::ico_sphere(0.6, 2).unwrap(), cuboid([0.5, 0.4, 0.3], 2));
    let pose = random_pose(&mut Pcg64Mcg::seed_from_u64(5), 0.4);
    let scaled = |mesh: &Mesh, pose: &Pose, scale: f64| {
        let vertices = mesh.vertices().iter().map(|p| pose.apply(*p) * scale).collect();
        Mesh::from_points(vertices, mesh.triangles().to_vec()).unwrap()
    };
    let ask = |scale: f64, other: f64| {
        let bodies = [scaled(&block, &Pose::IDENTITY, scale), scaled(&ball, &pose, other)];
        let models = bodies.map(Model::from);
        let options =
            VolumeOptions { gradient: true, samples: true, border: true, ..VolumeOptions::default() };
        let poses = [&Pose::IDENTITY; 2];
        volume([&models[0], &models[1]], poses, &options, &mut Budget::UNLIMITED.clone()).value.unwrap()
    };
    let known = ask(1.0, 1.0);
    assert!(known.volume > 0.1);
    for order in [-1000, -600, -340, -300, -250, -205, -195, -150, -60, 60, 150, 190, 198] {
        let scale = 2_f64.powi(order);
        let found = ask(scale, scale);
        let cube = |x: f64| x * scale * scale * scale;
        assert_eq!(found.volume, cube(known.volume), "2^{order}");
        assert!(found.error >= cube(known.error) && found.error > 0.0, "2^{order}");
        assert_eq!(found.regions.len(), 1, "2^{order}");
        let (one, other) = (found.regions[0].region, known.regions[0].region);
        assert_eq!(
            (one.normal, one.depth, one.centroid),
            (other.normal, scale * other.depth, scale * other.centroid)
        );
        for (all, known) in found.gradient.iter().zip(&known.gradient) {
            assert!(all.iter().zip(known).all(|(x, y)| *x == *y * scale * scale), "2^{order}");
        }
        assert!(found.border.0.iter().zip(&known.border.0).all(|(p, q)| *p == *q * scale));
        assert_eq!((found.border.1, found.samples.len()), (known.border.1.clone(), known.samples.len()));
    }
    // A small body in a large one.
    for [small, large] in [[-150, 150], [-300, 0], [0, 198]] {
        let [small, large] = [small, large].map(|order| 2_f64.powi(order));
        let found = ask(large, small);
        let size = mesh_volume(&ball) * small * small * small;
        assert!((found.volume - size).abs() <= 1e-13 * size, "{small} {large}: {}", found.volume);
        assert!(found.gradient[0].iter().all(|g| *g == DVec3::ZERO));
    }
}

#[test]
fn turned_boxes_agree_with_clipping() {
    let mut dice = Pcg64Mcg::seed_from_u64(1);
    let mut hits = 0;
    for _ in 0..300 {
        let half = [0; 3].map(|_| dice.random_range(0.2..1.0));
        let pose = random_pose(&mut dice, 1.2);
        let (a, b) = (cuboid([0.5, 0.7, 0.6], 2), cuboid(half, 1));
        let expected = clipped_volume(&a, &planes(half, &pose));
        for (a, b) in [(&a, &b), (&inverted(&a), &b), (&a, &inverted(&b))] {
            let found = placed(a, &Pose::IDENTITY, b, &pose);
            assert!((found.volume - expected).abs() < 1e-13, "{} not {expected}", found.volume);
            let swapped = placed(b, &pose, a, &Pose::IDENTITY);
            assert!((found.volume - swapped.volume).abs() <= found.error + swapped.error);
        }
        hits += usize::from(expected > 0.0);
    }
    assert!((90..=290).contains(&hits), "{hits}");
}

#[test]
fn gradients_agree_with_central_differences() {
    let mut dice = Pcg64Mcg::seed_from_u64(2);
    let (ball, step) = (procedural::ico_sphere(0.6, 2).unwrap(), 1e-6);
    let mut checked = 0;
    for _ in 0..6 {
        let pose = random_pose(&mut dice, 0.5);
        let box_mesh = cuboid([0.5, 0.4, 0.3], 2);
        let found = placed(&box_mesh, &Pose::IDENTITY, &ball, &pose);
        if found.volume == 0.0 {
            continue;
        }
        let net = found.gradient.each_ref().map(|all| all.iter().sum::<DVec3>());
        assert!((net[0] + net[1]).length() < 1e-14, "{net:?}");
        assert!((net[0] - found.regions.iter().map(|r| r.gradient[0]).sum::<DVec3>()).length() < 1e-14);
        let mut sampled = found.gradient.each_ref().map(|all| vec![DVec3::ZERO; all.len()]);
        for sample in &found.samples {
            let mesh = [&box_mesh, &ball][sample.body];
            let corners = mesh.triangles()[sample.triangle.unwrap() as usize];
            for (v, share) in corners.into_iter().zip(sample.barycentric) {
                sampled[sample.body][v as usize] += sample.area * share;
            }
        }
        for (by_samples, all) in sampled.iter().zip(&found.gradient) {
            assert!(by_samples.iter().zip(all).all(|(x, y)| (*x - *y).length() < 1e-14));
        }
        for k in 0..box_mesh.vertices().len() {
            for axis in 0..3 {
                let moved = |by: f64| {
                    let mut vertices = box_mesh.vertices().to_vec();
                    vertices[k][axis] += by;
                    let mesh = Mesh::from_points(vertices, box_mesh.triangles().to_vec()).unwrap();
                    placed(&mesh, &Pose::IDENTITY, &ball, &pose).volume
                };
                let slope = (moved(step) - moved(-step)) / (2.0 * step);
                assert!(
                    (slope - found.gradient[0][k][axis]).abs() < 1e-8,
                    "{slope} {:?}",
                    found.gradient[0][k]
                );
                checked += usize::from(slope != 0.0);
            }
        }
    }
    assert!(checked > 50, "{checked}");
}

#[test]
fn nested_and_equal_bodies() {
    let (ball, large) = (procedural::ico_sphere(0.5, 3).unwrap(), cuboid([1.0; 3], 1));
    let found = of(&large, &ball, [0.1, 0.2, -0.1]);
    assert!((found.volume - mesh_volume(&ball)).abs() < 1e-14);
    assert!(found.gradient[0].iter().all(|g| *g == DVec3::ZERO));
    assert!(found.gradient[1].iter().sum::<DVec3>().length() < 1e-14);
    let region = found.regions[0].region;
    assert!((region.centroid - DVec3::new(0.1, 0.2, -0.1)).length() < 1e-14);
    assert_eq!(region.normal, DVec3::ZERO);

    let same = of(&ball, &ball, [0.0; 3]);
    assert!((same.volume - mesh_volume(&ball)).abs() < 1e-14, "{}", same.volume);
    assert_eq!(same.regions.len(), 1);
}

#[test]
fn a_region_knows_its_place_and_its_holes() {
    // A pipe through one face triangle of a large slab: a washer, whose two loops lie in one triangle.
    let ring = [[0.4, -1.0], [0.6, -1.0], [0.6, 1.0], [0.4, 1.0]].map(glam::DVec2::from_array);
    let mut profile = ring.to_vec();
    profile.push(ring[0]);
    let pipe = procedural::lathe(&profile, 24).unwrap();
    let slab = cuboid([20.0, 20.0, 0.25], 1);
    let found = of(&slab, &pipe, [5.0, -6.0, 0.0]);
    let area = 0.5 * 24.0 * (std::f64::consts::TAU / 24.0).sin() * (0.36 - 0.16);
    assert!((found.volume - 0.5 * area).abs() < 1e-12, "{} {}", found.volume, 0.5 * area);
    assert_eq!(found.regions.len(), 1);

    // A hollow ball around a point of a box: the cavity belongs to the region.
    let (outer, inner) = (procedural::ico_sphere(0.5, 2).unwrap(), procedural::ico_sphere(0.25, 2).unwrap());
    let hollow = procedural::join([&outer, &inverted(&inner)]).unwrap();
    let found = of(&cuboid([1.0; 3], 1), &hollow, [0.0; 3]);
    assert!((found.volume - mesh_volume(&hollow)).abs() < 1e-14);
    assert_eq!(found.regions.len(), 1);

    // Two feet of a stool in the ground.
    let foot = |x: f64| {
        let vertices =
            cuboid([0.1, 0.1, 0.5], 1).vertices().iter().map(|p| *p + DVec3::new(x, 0.0, 0.0)).collect();
        Mesh::from_points(vertices, cuboid([0.1, 0.1, 0.5], 1).triangles().to_vec()).unwrap()
    };
    let feet = procedural::join([&foot(-1.0), &foot(1.0)]).unwrap();
    let found = of(&cuboid([3.0, 3.0, 0.5], 1), &feet, [0.0, 0.0, 0.9]);
    assert_eq!(found.regions.len(), 2);
    for one in &found.regions {
        assert!((one.volume - 0.2 * 0.2 * 0.1).abs() < 1e-15);
        assert!((one.region.normal - DVec3::Z).length() < 1e-12, "{one:?}");
        assert!((one.region.depth - 0.1).abs() < 1e-12);
        assert!((one.region.area - 0.04).abs() < 1e-12);
        assert!(
            (one.region.centroid.z - 0.45).abs() < 1e-12 && (one.region.centroid.x.abs() - 1.0).abs() < 1e-12
        );
    }
}

#[test]
fn degenerate_triangles_and_extreme_sizes() {
    // A box with a face fanned about a point of its edge: a triangle without area.
    let mut vertices = cuboid([0.5; 3], 1).vertices().to_vec();
    let mut triangles = cuboid([0.5; 3], 1).triangles().to_vec();
    let [a, b, c] = triangles[0];
    let middle = vertices.len() as u32;
    vertices.push(vertices[a as usize].midpoint(vertices[b as usize]));
    triangles[0] = [a, middle, c];
    triangles.push([middle, b, c]);
    triangles.push([a, b, middle]);
    let odd = Mesh::from_points(vertices, triangles).unwrap();
    for at in [[0.25, 0.5, 0.125], [0.0, 0.5, 0.5], [0.5, 0.5, 0.0], [0.3, -0.2, 0.7]] {
        let expected: f64 = at.iter().map(|x: &f64| 1.0 - x.abs()).product();
        for found in [of(&odd, &odd, at), of(&cuboid([0.5; 3], 1), &odd, at)] {
            assert!((found.volume - expected).abs() <= found.error, "{} {expected}", found.volume);
        }
    }
    for scale in [1e-50, 1e-6, 1e6, 1e50] {
        let cube = cuboid([0.5 * scale; 3], 1);
        let found = of(&cube, &cube, [0.25 * scale, 0.5 * scale, 0.0]);
        assert!((found.volume / scale / scale / scale - 0.375).abs() < 1e-14, "{scale}: {}", found.volume);
    }
}

#[test]
fn groups_tell_what_their_triangles_tell() {
    // Fine meshes, so that most groups lie inside as a whole; samples and border are found triangle by triangle.
    let mut dice = Pcg64Mcg::seed_from_u64(29);
    let blob = |seed: u64| procedural::blob(0.6, 0.2, 4, seed).unwrap();
    let mut seen = 0;
    for round in 0..6 {
        let (a, b) = (blob(round), blob(round + 10));
        let b = if round % 2 == 0 { b } else { inverted(&b) };
        let poses = [random_pose(&mut dice, 0.3), random_pose(&mut dice, 0.3)];
        let found = placed(&a, &poses[0], &b, &poses[1]);
        for (k, mesh) in [&a, &b].into_iter().enumerate() {
            let mut sampled = vec![DVec3::ZERO; mesh.vertices().len()];
            for sample in found.samples.iter().filter(|sample| sample.body == k) {
                let corners = mesh.triangles()[sample.triangle.unwrap() as usize];
                for (v, share) in corners.into_iter().zip(sample.barycentric) {
                    sampled[v as usize] += sample.area * share;
                }
            }
            let off = sampled.iter().zip(&found.gradient[k]).map(|(x, y)| (*x - *y).length());
            assert!(off.fold(0.0, f64::max) < 1e-14);
        }
        for one in &found.regions {
            seen += 1;
            let net = one.gradient.map(|area| area.length());
            assert!((one.gradient[0] + one.gradient[1]).length() <= 1e-13 * net[0].max(1.0), "{one:?}");
        }
        // The first moments and the extent of a single region, over its border.
        let [one] = &found.regions[..] else { continue };
        let (vertices, triangles) = &found.border;
        let cones = triangles.iter().map(|t| t.map(|v| vertices[v as usize]));
        let first = cones
            .map(|[p, q, r]| (p + q + r) * (p.dot(q.cross(r)) / 24.0))
            .fold(DVec3::ZERO, |sum, part| sum + part);
        assert!((first / found.volume - one.region.centroid).length() < 1e-12, "{one:?}");
        let heights = vertices.iter().map(|p| p.dot(one.region.normal));
        let (low, high) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (x.min(l), x.max(h)));
        assert!((high - low - one.region.depth).abs() < 1e-12, "{one:?}");
    }
    assert!(seen >= 6, "{seen}");
}

#[test]
fn groups_hold_every_vertex_once() {
    let model = Model::from(procedural::blob(0.6, 0.2, 3, 5).unwrap());
    let clusters = clusters::Clusters::of(&model, &mut Budget::UNLIMITED.clone()).unwrap();
    let (mesh, topology) = (model.mesh(), model.topology());
    let of_vertex = |v: usize| clusters.areas()[v].number;
    let mut numbers: Vec<u32> = (0..mesh.vertices().len()).map(of_vertex).collect();
    assert!((0..).zip(mesh.vertices()).all(|(v, &p)| clusters.position(of_vertex(v)) == p));
    numbers.sort_unstable();
    assert_eq!(numbers, (0..clusters.len() as u32).flat_map(|own| clusters.members(own)).collect::<Vec<_>>());
    // Every edge is within a group, or leaves it and has an end beside it.
    let mut edges = 0;
    for own in 0..clusters.len() as u32 {
        let beside: Vec<u32> =
            clusters.beside(own).flat_map(|(_, vertices)| vertices.iter().copied()).collect();
        assert!(
            clusters.beside(own).all(|(next, beside)| beside.iter().all(|&v| clusters::group_of(v) == next))
        );
        let mut reached: Vec<u32> = clusters.links(own).iter().map(|link| link.to).collect();
        edges += reached.len()
            + clusters.within(own).iter().map(|lanes| lanes.count_ones() as usize).sum::<usize>();
        reached.sort_unstable();
        reached.dedup();
        assert!(reached == beside && beside.iter().all(|&v| clusters::group_of(v) != own));
    }
    assert_eq!(edges, 2 * topology.edges().len());
    for (t, corners) in (0..).zip(mesh.triangles()) {
        let own = clusters.triangle(clusters.rank_of(t));
        assert_eq!((own.index, own.corners), (t, corners.map(|v| of_vertex(v as usize))));
    }
    // All groups together are the whole body, wherever heights are measured from.
    let pose = random_pose(&mut Pcg64Mcg::seed_from_u64(30), 2.0);
    let turn = clusters::Turn::new(&pose, DVec3::new(3.0, -1.0, 2.0));
    let all = (0..clusters.len() as u32).map(|cluster| clusters.placed(cluster, &turn));
    let (volume, area) =
        all.fold((0.0, DVec3::ZERO), |(volume, area), one| (volume + one.volume, area + one.area));
    assert!((volume - mesh_volume(model.mesh())).abs() < 1e-12 && area.length() < 1e-12, "{volume} {area}");
}

#[test]
fn four_orders_tell_which_sides_pass() {
    // Against every side on its own; corners on a small grid, so that many lie in planes and on edges of the other.
    let mut dice = Pcg64Mcg::seed_from_u64(91);
    let (mut crossing, mut in_plane) = (0, 0);
    for round in 0..40_000 {
        let mut corner = |_| {
            let mut number = || match round % 2 {
                0 => f64::from(dice.random_range(0..4_i32)),
                _ => dice.random_range(0.0..3.0),
            };
            DVec3::new(number(), number(), number())
        };
        let [a, b] = [[0; 3].map(&mut corner), [0; 3].map(&mut corner)].map(Face::new);
        if !(a.has_area() && b.has_area()) {
            continue;
        }
        let bodies = [Body::A, Body::B];
        let faces = [&a, &b];
        let signs = [0, 1].map(|k| faces[k].corners().map(|p| faces[1 - k].side(p, bodies[k])));
        let found = passing_sides(faces, &signs);
        let alone = [0, 1].map(|k| {
            [0, 1, 2].map(|side| {
                let (corners, next) = (faces[k].corners(), (side + 1) % 3);
                let ends = [corners[side], corners[next]];
                pass(ends, [signs[k][side], signs[k][next]], faces[1 - k], bodies[k]).is_some()
            })
        });
        assert_eq!(found, alone, "{a:?} {b:?}");
        let count = found.as_flattened().iter().filter(|passes| **passes).count();
        assert!(count == 0 || count == 2, "{found:?}");
        crossing += usize::from(count == 2);
        in_plane += usize::from(round % 2 == 0 && count == 2);
    }
    assert!(crossing > 4_000 && in_plane > 1_000, "{crossing} {in_plane}");
}

#[test]
fn threads_change_nothing() {
    // Surfaces that cross in a long curve and lie near each other elsewhere, so that search and crossings are shared.
    let meshes = [1, 2].map(|seed| procedural::blob(0.6, 0.2, 5, seed).unwrap());
    let models = meshes.map(Model::from);
    let poses = [Pose::IDENTITY, random_pose(&mut Pcg64Mcg::seed_from_u64(31), 0.1)];
    let options = VolumeOptions { gradient: true, samples: true, border: true, ..VolumeOptions::default() };
    let ask = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (models, poses) = ([&models[0], &models[1]], [&poses[0], &poses[1]]);
        pool.install(|| volume(models, poses, &options, &mut Budget::UNLIMITED.clone()))
    };
    let found = ask(1);
    let work = found.outcome.work;
    assert!(work.volume_tests > 30_000 && work.primitive_tests > 2_000, "{work:?}");
    assert_eq!(ask(2), found);
    assert_eq!(ask(3), found);
}
