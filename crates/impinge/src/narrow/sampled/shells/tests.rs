//! Shells of sound, broken and deforming meshes, checked by `verify.rs` and by trying every vertex below a
//! facet.

use std::f64::consts::TAU;

use super::*;
use crate::num::random;
use crate::shape::procedural;

/// Triangles thrown about, no two of which share a vertex.
fn soup(count: u32, seed: u64) -> Mesh {
    let p = |n: u64| DVec3::from_array([0, 1, 2].map(|k| random::unit(seed, 3 * n + k)));
    let corner = |t: u64, k: u64| p(4 * t) * 10.0 + p(4 * t + 1 + k) * 0.3;
    let vertices = (0..u64::from(count)).flat_map(|t| [0, 1, 2].map(|k| corner(t, k))).collect();
    Mesh::from_points(vertices, (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect()).unwrap()
}

/// Three sheets that share one side.
fn three_sheets(segments: u32) -> Mesh {
    let mut vertices: Vec<[f64; 3]> = (0..=segments).map(|k| [0.0, 0.0, f64::from(k)]).collect();
    let mut triangles = Vec::new();
    for sheet in 0..3 {
        let (sin, cos) = (f64::from(sheet) * TAU / 3.0).sin_cos();
        let mut last: Vec<u32> = (0..=segments).collect();
        for column in 1..=segments {
            let first = vertices.len() as u32;
            let far = f64::from(column);
            vertices.extend((0..=segments).map(|k| [far * cos, far * sin, f64::from(k)]));
            let next: Vec<u32> = (first..=first + segments).collect();
            for k in 0..segments as usize {
                triangles.extend([[last[k], next[k], next[k + 1]], [last[k], next[k + 1], last[k + 1]]]);
            }
            last = next;
        }
    }
    Mesh::new(vertices, triangles).unwrap()
}

fn scaled(mesh: &Mesh, factor: f64, shift: f64) -> Mesh {
    let vertices = mesh.vertices().iter().map(|&p| p * factor + shift).collect();
    Mesh::from_points(vertices, mesh.triangles().to_vec()).unwrap()
}

fn sound_meshes() -> Vec<(&'static str, Mesh)> {
    vec![
        ("sphere", procedural::ico_sphere(1.0, 4).unwrap()),
        ("torus", procedural::torus(1.0, 0.3, 40, 20).unwrap()),
        ("gear", procedural::gear(0.2, 0.8, 1.0, 0.3, 40).unwrap()),
        ("blob", procedural::blob(1.0, 0.5, 4, 7).unwrap()),
        ("knot", procedural::knot([2, 3], 1.0, 0.2, 80, 8).unwrap()),
        ("cube", procedural::cuboid([1.0; 3], [8; 3]).unwrap()),
    ]
}

fn broken_meshes() -> Vec<(&'static str, Mesh)> {
    let sphere = procedural::ico_sphere(1.0, 3).unwrap();
    let copies = [sphere.triangles(), sphere.triangles()].concat();
    let mut flat: Vec<DVec3> = sphere.vertices().to_vec();
    flat.iter_mut().for_each(|p| *p = DVec3::new(p.x, 0.0, 0.0));
    let one = |corners: [[f64; 3]; 3]| Mesh::new(corners.to_vec(), vec![[0, 1, 2]]).unwrap();
    let fan: Vec<[u32; 3]> = (0..600).map(|k| [0, 1 + k, 1 + (k + 1) % 600]).collect();
    let rim = (0..600).map(|k| f64::from(k) * TAU / 600.0).map(|a| [a.cos(), a.sin(), 0.0]);
    vec![
        ("one triangle", one([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])),
        ("no area", one([[0.0; 3], [1.0, 1.0, 0.0], [3.0, 3.0, 0.0]])),
        ("one point", one([[2.0; 3]; 3])),
        ("corner twice", Mesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0]], vec![[0, 0, 1]; 90]).unwrap()),
        ("copies", Mesh::from_points(sphere.vertices().to_vec(), copies).unwrap()),
        ("a line", Mesh::from_points(flat, sphere.triangles().to_vec()).unwrap()),
        ("sheet", procedural::sheet([1.0, 2.0], [24, 24]).unwrap()),
        ("three sheets", three_sheets(12)),
        ("soup", soup(700, 5)),
        ("fan", Mesh::new([[0.0, 0.0, 0.5]].into_iter().chain(rim).collect(), fan).unwrap()),
        ("huge", scaled(&sphere, 1e59, 0.0)),
        ("tiny", scaled(&sphere, 1e-300, 0.0)),
        ("subnormal", scaled(&sphere, 1e-310, 0.0)),
        ("far away", scaled(&sphere, 1e-6, 1e6)),
        ("joined", procedural::join([&sphere, &scaled(&sphere, 0.01, 5.0), &soup(90, 1)]).unwrap()),
    ]
}

#[test]
fn cylinders_contain_their_descendants_and_discs_cover() {
    for (name, mesh) in sound_meshes().into_iter().chain(broken_meshes()) {
        for levels in [None, Some(1), Some(3), Some(20)] {
            let shells = Shells::of_mesh(&mesh, levels);
            let checked = shells.verify(&mesh, 500, 3).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            assert!(checked.corners >= 3 * mesh.triangles().len() as u64);
            assert!(levels.is_none_or(|levels| shells.levels.len() <= levels), "{name}");
        }
    }
}

#[test]
fn levels_come_down_to_a_few_tens_by_quarters() {
    for (name, mesh) in sound_meshes() {
        let shells = Shells::of_mesh(&mesh, None);
        let counts: Vec<usize> = shells.levels.iter().map(|level| level.corners.len()).collect();
        assert!(
            counts[counts.len() - 1] <= COARSEST && counts[counts.len() - 1] >= COARSEST / 8,
            "{name}: {counts:?}"
        );
        assert!(counts.windows(2).all(|pair| pair[1] <= pair[0] / RATIO), "{name}: {counts:?}");
    }
    // Scattered triangles have nothing to collapse, and still come down.
    for (name, mesh) in [("soup", soup(3000, 2)), ("three sheets", three_sheets(20))] {
        let counts: Vec<usize> =
            Shells::of_mesh(&mesh, None).levels.iter().map(|level| level.corners.len()).collect();
        assert!(counts[counts.len() - 1] <= COARSEST, "{name}: {counts:?}");
    }
}

#[test]
fn a_violation_is_found() {
    let mesh = procedural::torus(1.0, 0.3, 40, 20).unwrap();
    let sound = Shells::of_mesh(&mesh, None);
    let last = sound.levels.len() - 1;
    let spoil = |change: &dyn Fn(&mut Shells)| {
        let mut shells = sound.clone();
        change(&mut shells);
        shells.verify(&mesh, 0, 0).unwrap_err()
    };
    assert!(spoil(&|s| s.levels[last].facets[3].outer *= 0.99).contains("does not contain"));
    assert!(spoil(&|s| s.levels[1].facets[3].radius *= 0.99).contains("does not contain"));
    assert!(spoil(&|s| s.levels[0].facets[5].inner = 1e-9).contains("bounds"));
    assert!(spoil(&|s| s.levels[0].parent.swap(0, 700)).contains("child"));
    assert!(spoil(&|s| s.levels[1].order[0] = 1).contains("order"));
    assert!(spoil(&|s| s.levels[last].slabs.iter_mut().for_each(|slab| slab.high -= 1e-3)).contains("slab"));
}

#[test]
fn shells_are_the_same_on_any_number_of_threads() {
    let mesh = procedural::blob(1.0, 0.5, 4, 7).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Shells::of_mesh(&mesh, None))
    };
    let one = on(1);
    assert!(one == on(2) && one == on(5));
}

/// A smooth deformation: sums of waves, bent and stretched by about `size`.
fn deformed(mesh: &Mesh, size: f64, seed: u64) -> Vec<DVec3> {
    let unit = |n: u64| 2.0 * random::unit(seed, n) - 1.0;
    let vector = |n: u64| DVec3::new(unit(3 * n), unit(3 * n + 1), unit(3 * n + 2));
    let wave = |p: DVec3, k: u64| vector(2 * k) * (vector(2 * k + 1).dot(p) * 2.0 + unit(100 + k)).sin();
    let turn = glam::DQuat::from_axis_angle(vector(50).normalize_or(DVec3::X), 2.0 * unit(200));
    let moved = |p: &DVec3| turn * (*p + (0..4).map(|k| wave(*p, k)).sum::<DVec3>() * size) + vector(60);
    mesh.vertices().iter().map(moved).collect()
}

/// How many facets do not contain a vertex below them, now, by cylinder or slabs.
fn violations(shells: &Shells, mesh: &Mesh, moved: &[DVec3], stretch: &[f64]) -> (usize, usize) {
    let (below, leaves) = (shells.all_below(), shells.all_leaves());
    let (mut facets, mut all) = (0, 0);
    for (k, level) in shells.levels.iter().enumerate() {
        for i in 0..level.corners.len() as u32 {
            let facet = shells.facet_at(k, i, moved, stretch[k]);
            let slabs = shells.slabs_at(k, i, moved, stretch[k]);
            let in_cylinder = below[k].of(i).iter().all(|&v| {
                let arm = moved[v as usize] - facet.centre;
                let height = arm.dot(facet.normal);
                let beside = (arm - facet.normal * height).length();
                facet.inner <= height && height <= facet.outer && beside <= facet.radius
            });
            let is_in = |s: &Slab, t: u32| {
                let heights =
                    mesh.triangles()[t as usize].map(|v| (moved[v as usize] - facet.centre).dot(s.direction));
                heights.iter().all(|height| (s.low..=s.high).contains(height))
            };
            let in_slabs =
                slabs.is_empty() || leaves[k].of(i).iter().all(|&t| slabs.iter().any(|slab| is_in(slab, t)));
            facets += usize::from(!in_cylinder || !in_slabs);
            all += 1;
        }
    }
    (facets, all)
}

#[test]
fn facets_contain_the_deformed_mesh_within_the_stated_deformation() {
    let mut broken_without = 0;
    for (name, mesh) in sound_meshes() {
        let shells = Shells::of_mesh(&mesh, None);
        for (seed, size) in [(1, 0.01), (2, 0.1), (3, 0.4)] {
            let moved = deformed(&mesh, size, seed);
            let stretch = shells.largest_deformation(mesh.vertices(), &moved);
            assert_eq!(stretch[0], 0.0, "{name}: the finest facets are exact");
            assert_eq!(violations(&shells, &mesh, &moved, &stretch).0, 0, "{name} {size}: {stretch:?}");
            let needed = shells.needed_stretch(&moved);
            assert_eq!(violations(&shells, &mesh, &moved, &needed).0, 0, "{name} {size}: {needed:?}");
            assert!(needed.iter().zip(&stretch).all(|(needed, all)| needed <= all), "{needed:?} {stretch:?}");
            let (broken, all) = violations(&shells, &mesh, &moved, &vec![0.0; stretch.len()]);
            broken_without += broken * 100 / all;
            // A recording that deforms more than was stated is detected.
            let more = shells.largest_deformation(mesh.vertices(), &deformed(&mesh, 2.0 * size, seed));
            assert!(more.iter().zip(&stretch).skip(1).all(|(more, stated)| more > stated), "{name} {size}");
        }
    }
    assert!(broken_without > 18, "facets that do not grow contain the deformed mesh: the test shows nothing");
}

#[test]
fn foreseen_shapes_need_no_stretch_and_those_between_little() {
    for (name, mesh) in sound_meshes() {
        let mut shells = Shells::of_mesh(&mesh, None);
        let frames: Vec<Vec<DVec3>> = (0..9).map(|k| deformed(&mesh, 0.02 * f64::from(k), 3)).collect();
        let before = shells.needed_stretch(&frames[8]);
        for frame in frames.iter().step_by(2) {
            shells.foresee(frame);
        }
        shells.verify(&mesh, 100, 1).unwrap_or_else(|fault| panic!("{name} at rest: {fault}"));
        for (k, frame) in frames.iter().enumerate() {
            let needed = shells.needed_stretch(frame);
            if k % 2 == 0 {
                assert_eq!(needed, vec![0.0; needed.len()], "{name} {k}");
                assert_eq!(violations(&shells, &mesh, frame, &vec![0.0; needed.len()]).0, 0, "{name} {k}");
            } else {
                let last = needed.len() - 1;
                assert!(needed[last] < 0.2 * before[last], "{name} {k}: {needed:?} {before:?}");
                assert!(needed.iter().zip(&before).all(|(n, b)| n <= b), "{name} {k}: {needed:?} {before:?}");
                assert_eq!(violations(&shells, &mesh, frame, &needed).0, 0, "{name} {k}");
            }
        }
    }
}

#[test]
fn rigid_motions_and_stretches_within_facets_need_no_growth() {
    let (turn, shift) =
        (glam::DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 1.0), DVec3::new(3.0, -2.0, 5.0));
    for (name, mesh) in sound_meshes().into_iter().chain(broken_meshes().into_iter().take(10)) {
        let shells = Shells::of_mesh(&mesh, None);
        let moved: Vec<DVec3> = mesh.vertices().iter().map(|&p| turn * p + shift).collect();
        let stretch = shells.largest_deformation(mesh.vertices(), &moved);
        assert!(stretch.iter().all(|&s| s < 1e-9), "{name}: {stretch:?}");
        let still = vec![0.0; stretch.len()];
        assert_eq!(violations(&shells, &mesh, &moved, &still).0, 0, "{name}");
    }
    let sheet = procedural::sheet([1.0, 2.0], [24, 24]).unwrap();
    let shells = Shells::of_mesh(&sheet, None);
    let pulled: Vec<DVec3> = sheet.vertices().iter().map(|p| *p * DVec3::new(3.0, 0.5, 1.0)).collect();
    let stretch = shells.largest_deformation(sheet.vertices(), &pulled);
    assert!(stretch.iter().all(|&s| s < 1e-9), "{stretch:?}");
    assert_eq!(violations(&shells, &sheet, &pulled, &vec![0.0; stretch.len()]).0, 0);
}

#[test]
fn moved_facets_of_no_area_and_senseless_vertices_do_not_panic() {
    let mesh = procedural::ico_sphere(1.0, 3).unwrap();
    let shells = Shells::of_mesh(&mesh, None);
    for p in [DVec3::ZERO, DVec3::splat(f64::NAN), DVec3::splat(1e300), DVec3::splat(-1e-310)] {
        let moved = vec![p; mesh.vertices().len()];
        for k in 0..shells.levels.len() {
            shells.facet_at(k, 0, &moved, 0.1);
            shells.slabs_at(k, 0, &moved, 0.1);
        }
        shells.largest_deformation(mesh.vertices(), &moved);
        shells.needed_stretch(&moved);
        shells.clone().foresee(&moved);
    }
}

#[test]
fn edge_planes_halve_the_offsets_of_sharp_bodies() {
    // The cube's levels go below its twelve triangles, down to facets that span its edges.
    let cube = (procedural::cuboid([1.0; 3], [8; 3]).unwrap(), Some(5));
    let gear = (procedural::gear(0.2, 0.8, 1.0, 0.3, 40).unwrap(), Some(4));
    for (name, (mesh, levels)) in [("cube", cube), ("gear", gear)] {
        let shells = Shells::of_mesh(&mesh, levels);
        let [disc, planes] = shells.mean_offsets();
        println!(
            "{name}: {disc} {planes}; {:?}",
            shells.levels.iter().map(|l| (l.corners.len(), l.tightness)).collect::<Vec<_>>()
        );
        assert!(planes <= 0.5 * disc && disc > 1e-3, "{name}: {disc} {planes}");
    }
}
