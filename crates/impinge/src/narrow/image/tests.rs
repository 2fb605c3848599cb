//! Closed forms, the exact volume, watertight columns, degenerate positions, open surfaces, budgets.

use std::f64::consts::PI;
use std::sync::Arc;

use glam::DVec3;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::lattice::Axis;
use super::layer::Sorting;
use super::*;
use crate::contact::OpenSurface;
use crate::model::{Compound, Model};
use crate::narrow::dispatch;
use crate::shape::{Convex, Mesh, Polytope, Primitive, procedural};

pub(super) fn of(mesh: Mesh) -> Geometry {
    Geometry::Mesh(Arc::new(Model::from(mesh)))
}

pub(super) fn cuboid(half: [f64; 3]) -> Geometry {
    of(procedural::cuboid(half, [1; 3]).unwrap())
}

fn curved(primitive: Result<Primitive, Error>) -> Geometry {
    Geometry::Convex(Convex::Primitive(primitive.unwrap()))
}

pub(super) fn at(position: [f64; 3]) -> Pose {
    Pose::from_translation(position).unwrap()
}

pub(super) fn random_pose(dice: &mut Pcg64Mcg, reach: f64) -> Pose {
    let mut number = || dice.random_range(-1.0..1.0);
    let axis = DVec3::new(number(), number(), number()).normalize_or(DVec3::X);
    let turn = DQuat::from_axis_angle(axis, 3.0 * number());
    let position = DVec3::new(number(), number(), number()) * reach;
    Pose::new(position.to_array(), turn.to_array()).unwrap()
}

pub(super) fn ask(shapes: [&Geometry; 2], poses: [&Pose; 2], options: VolumeOptions) -> Volume {
    let pair = ShapePair { shapes, poses, motions: None };
    volume(&pair, &options, &mut Budget::UNLIMITED.clone()).unwrap().value.unwrap()
}

pub(super) fn exact(shapes: [&Geometry; 2], poses: [&Pose; 2]) -> Volume {
    let pair = ShapePair { shapes, poses, motions: None };
    let options = VolumeOptions { gradient: true, ..VolumeOptions::default() };
    dispatch::volume(&pair, &options, &mut Budget::UNLIMITED.clone()).unwrap().value.unwrap()
}

pub(super) fn pixels(resolution: u32) -> VolumeOptions {
    VolumeOptions { resolution: Some(resolution), gradient: true, ..VolumeOptions::default() }
}

fn net(found: &Volume) -> [DVec3; 2] {
    found.gradient.each_ref().map(|all| all.iter().sum::<DVec3>())
}

/// Flat, round, thin and toothed bodies.
fn bodies() -> Vec<Geometry> {
    vec![
        cuboid([0.5, 0.4, 0.3]),
        of(procedural::ico_sphere(0.5, 3).unwrap()),
        of(procedural::torus(0.5, 0.2, 32, 16).unwrap()),
        of(procedural::gear(0.2, 0.4, 0.5, 0.3, 12).unwrap()),
    ]
}

/// The relative error of the volume and whether the stated error holds, on random placements in a turned frame or not.
fn placements(count: usize, resolution: u32, mut each: impl FnMut(f64, f64, f64)) {
    let mut dice = Pcg64Mcg::seed_from_u64(11);
    let bodies = bodies();
    let mut seen = 0;
    while seen < count {
        let pose = match seen % 4 {
            0 => at([0; 3].map(|_| dice.random_range(-0.5..0.5))),
            _ => random_pose(&mut dice, 0.5),
        };
        let shapes = [0; 2].map(|_| &bodies[dice.random_range(0..bodies.len())]);
        let want = exact(shapes, [&Pose::IDENTITY, &pose]).volume;
        if want == 0.0 {
            continue;
        }
        let mut options = VolumeOptions { gradient: false, ..pixels(resolution) };
        if seen % 5 == 0 {
            options.frame = DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), dice.random_range(0.0..3.0));
        }
        let found = ask(shapes, [&Pose::IDENTITY, &pose], options);
        each((found.volume - want).abs(), found.error, want);
        seen += 1;
    }
}

#[test]
fn volumes_agree_with_the_exact_ones_within_the_stated_error() {
    let (mut held, mut real, mut stated) = (0, Vec::new(), Vec::new());
    placements(120, 64, |error, told, want| {
        held += usize::from(error <= told);
        assert!(error <= 3.0 * told, "{error} {told} {want}");
        real.push(error);
        stated.push(told);
    });
    assert!(held >= 118, "{held}");
    real.sort_by(f64::total_cmp);
    stated.sort_by(f64::total_cmp);
    assert!(stated[60] <= 10.0 * real[60], "{} {}", stated[60], real[60]);
}

/// Must show 1 and the constants of `error`; about five minutes.
#[test]
#[ignore = "long: 10,000 placements; docs/PROOFS.md has the command"]
fn ten_thousand_placements() {
    for resolution in [64, 128] {
        let (mut held, mut real, mut stated) = (0, Vec::new(), Vec::new());
        placements(10_000, resolution, |error, told, want| {
            held += usize::from(error <= told);
            real.push(error / want);
            stated.push(told / want);
        });
        real.sort_by(f64::total_cmp);
        stated.sort_by(f64::total_cmp);
        let [real_median, stated_median] = [real[5000], stated[5000]];
        println!(
            "{resolution}: held in {held} of 10000; median error {real_median:.2e}, stated {stated_median:.2e}, 99 % {:.2e}",
            real[9900]
        );
        assert!(held >= 9900 && stated_median <= 10.0 * real_median);
    }
}

#[test]
fn errors_fall_with_the_resolution() {
    let mut medians = Vec::new();
    for resolution in [16, 32, 64, 128] {
        let mut errors = Vec::new();
        placements(40, resolution, |error, _, want| errors.push(error / want));
        errors.sort_by(f64::total_cmp);
        medians.push(errors[20]);
    }
    let order = (medians[0] / medians[3]).log2() / 3.0;
    assert!(order > 1.3, "order {order}, {medians:?}");
}

#[test]
fn gradients_agree_and_net_forces_are_opposite() {
    let mut dice = Pcg64Mcg::seed_from_u64(12);
    let bodies = bodies();
    let mut checked = 0;
    for _ in 0..12 {
        let pose = random_pose(&mut dice, 0.4);
        let shapes = [0; 2].map(|_| &bodies[dice.random_range(0..bodies.len())]);
        let want = exact(shapes, [&Pose::IDENTITY, &pose]);
        let options = VolumeOptions { samples: true, ..pixels(256) };
        let found = ask(shapes, [&Pose::IDENTITY, &pose], options);
        let [force, back] = net(&found);
        assert!((force + back).length() <= 1e-12 * force.length(), "{force} {back}");
        let size = net(&want)[0].length();
        if want.volume < 1e-3 || size < 0.05 {
            continue;
        }
        checked += 1;
        assert!((force - net(&want)[0]).length() <= 0.01 * size, "{force} {}", net(&want)[0]);
        let points = |k: usize| shapes[k].model().unwrap().mesh().vertices();
        let placed = [Pose::IDENTITY, pose];
        let torque = |gradient: &[Vec<DVec3>; 2], k: usize| -> DVec3 {
            points(k).iter().zip(&gradient[k]).map(|(&p, &g)| placed[k].apply(p).cross(g)).sum()
        };
        for k in [0, 1] {
            let (mine, theirs) = (torque(&found.gradient, k), torque(&want.gradient, k));
            assert!((mine - theirs).length() <= 0.01 * theirs.length().max(0.3 * size), "{mine} {theirs}");
        }
        // The samples are the gradient in pieces.
        let mut sampled = found.gradient.each_ref().map(|all| vec![DVec3::ZERO; all.len()]);
        for sample in &found.samples {
            let corners =
                shapes[sample.body].model().unwrap().mesh().triangles()[sample.triangle.unwrap() as usize];
            for (v, share) in corners.into_iter().zip(sample.barycentric) {
                sampled[sample.body][v as usize] += sample.area * share;
            }
        }
        for (pieces, all) in sampled.iter().zip(&found.gradient) {
            assert!(pieces.iter().zip(all).all(|(x, y)| (*x - *y).length() < 1e-12));
        }
    }
    assert!(checked >= 5, "{checked}");
}

#[test]
fn single_vertices_of_large_triangles_agree() {
    // Every triangle of the boxes covers far more than 100 pixels.
    let (a, b) = (cuboid([0.5, 0.4, 0.3]), cuboid([0.3, 0.3, 0.6]));
    let pose = Pose::new([0.3, 0.2, 0.1], [0.3, -0.2, 0.1, 0.9]).unwrap();
    let want = exact([&a, &b], [&Pose::IDENTITY, &pose]);
    let found = ask([&a, &b], [&Pose::IDENTITY, &pose], pixels(256));
    for k in [0, 1] {
        let off: f64 =
            found.gradient[k].iter().zip(&want.gradient[k]).map(|(x, y)| (*x - *y).length_squared()).sum();
        let size: f64 = want.gradient[k].iter().map(|g| g.length_squared()).sum();
        assert!(off.sqrt() <= 0.02 * size.sqrt(), "{} of {}", off.sqrt(), size.sqrt());
    }
}

/// Columns with layers, and those of them with other than as many in as out.
fn unbalanced(shape: &Geometry, lattice: &Lattice) -> [usize; 2] {
    let body = Body::new(shape, &Pose::IDENTITY);
    let on = body.on_from_below(lattice);
    let (mut seen, mut wrong) = (0, 0);
    for axis in Axis::ALL {
        let mut layers = vec![Vec::new()];
        let rows = [0, lattice.pixels];
        on.draw(lattice, axis, 0, rows, None, &mut layers[0]);
        Sorting::default().columns(lattice, rows, &layers, 1, |_, own| {
            seen += 1;
            wrong += usize::from(own.iter().map(|layer| layer.face.winds()).sum::<i32>() != 0);
        });
    }
    [seen, wrong]
}

#[test]
fn every_column_has_as_many_layers_in_as_out() {
    // Half of the meshes have their vertices on samples, so that edges run along rows and through samples.
    let mut dice = Pcg64Mcg::seed_from_u64(13);
    let (mut seen, mut wrong) = (0, 0);
    let bounds = Aabb { low: DVec3::splat(-1.0), high: DVec3::splat(1.0) };
    for round in 0..8 {
        let lattice = Lattice::new(bounds, [64, 100][round % 2]).unwrap();
        let meshes = [
            procedural::ico_sphere(0.8, 2 + (round as u32) % 3).unwrap(),
            procedural::torus(0.5, 0.3, 20, 12).unwrap(),
            procedural::blob(0.6, 0.2, 3, round as u64).unwrap(),
            // Reaches billions of pixels far, before the image along every axis: what lies behind is not drawn.
            Mesh::new(
                vec![[0.6, 0.5, 0.4], [-3e9, -2e9, -2e9], [-2e9, -3e9, -2e9], [-2e9, -2e9, -3e9]],
                vec![[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]],
            )
            .unwrap(),
        ];
        for (k, mesh) in meshes.into_iter().enumerate() {
            let turn = if k < 3 { random_pose(&mut dice, 0.05) } else { Pose::IDENTITY };
            let mut vertices: Vec<DVec3> = mesh.vertices().iter().map(|&p| turn.apply(p)).collect();
            if k < 3 && round % 2 == 0 {
                for p in &mut vertices {
                    let axis = Axis::ALL[dice.random_range(0..3)];
                    let Some([column, row]) = lattice.nearest(axis, *p) else { continue };
                    let [along, across] = lattice.sample(column, row);
                    p[axis.along] = lattice.coordinate(axis.along, along);
                    p[axis.across] = lattice.coordinate(axis.across, across);
                }
            }
            let shape = of(Mesh::from_points(vertices, mesh.triangles().to_vec()).unwrap());
            let [columns, off] = unbalanced(&shape, &lattice);
            seen += columns;
            wrong += off;
        }
    }
    assert!(seen > 100_000 && wrong == 0, "{wrong} of {seen}");
}

/// Must show 6.
#[test]
#[ignore = "long: a million columns; docs/PROOFS.md has the command"]
fn a_million_columns() {
    let bounds = Aabb { low: DVec3::splat(-1.0), high: DVec3::splat(1.0) };
    let (mut seen, mut wrong) = (0, 0);
    for (seed, snapped) in (0..16).zip([false, true].into_iter().cycle()) {
        let lattice = Lattice::new(bounds, 256).unwrap();
        let mesh = procedural::blob(0.7, 0.2, 4, seed).unwrap();
        let mut vertices = mesh.vertices().to_vec();
        for p in vertices.iter_mut().filter(|_| snapped) {
            let axis = Axis::ALL[seed as usize % 3];
            let Some([column, row]) = lattice.nearest(axis, *p) else { continue };
            let [along, across] = lattice.sample(column, row);
            p[axis.along] = lattice.coordinate(axis.along, along);
            p[axis.across] = lattice.coordinate(axis.across, across);
        }
        let shape = of(Mesh::from_points(vertices, mesh.triangles().to_vec()).unwrap());
        let [columns, off] = unbalanced(&shape, &lattice);
        seen += columns;
        wrong += off;
    }
    println!("{seen} columns, {wrong} unbalanced");
    assert!(seen > 1_000_000 && wrong == 0, "{wrong} of {seen}");
}

#[test]
fn columns_may_be_counted_from_either_side() {
    // What lies beyond one side of the box is left out, and bodies are drawn where the other is: the same intervals.
    let mut dice = Pcg64Mcg::seed_from_u64(15);
    let bodies = bodies();
    let mut hits = 0;
    for _ in 0..24 {
        let pose = random_pose(&mut dice, 0.8);
        let shapes = [0; 2].map(|_| &bodies[dice.random_range(0..bodies.len())]);
        let placed = [Body::new(shapes[0], &Pose::IDENTITY), Body::new(shapes[1], &pose)];
        let both = [&placed[0], &placed[1]];
        for (body, pose) in placed.iter().zip([Pose::IDENTITY, pose]) {
            let points =
                shapes[usize::from(std::ptr::eq(body, &placed[1]))].model().unwrap().mesh().vertices();
            let points: Vec<DVec3> = points.iter().map(|&p| pose.apply(p)).collect();
            assert_eq!(body.bounds, Aabb::around_points(&points));
        }
        let Some(lattice) = Lattice::new(common_box(&both, &VolumeOptions::default()), 40) else { continue };
        let budget = &mut Budget::UNLIMITED.clone();
        let images = Images::draw(&both, lattice.clone(), Inside::Both, None, budget).unwrap();
        for axis in Axis::ALL {
            let (mut layers, mut whole) = (vec![Vec::new(), Vec::new()], Vec::new());
            for k in [0, 1] {
                both[k].on_from_below(&lattice).draw(&lattice, axis, k, [0, 40], None, &mut layers[k]);
            }
            Sorting::default().columns(&lattice, [0, 40], &layers, 3, |column, own| {
                layer::intervals(column, own, Inside::Both, [false; 2], lattice.rounding(), &mut whole);
            });
            let known = &images.intervals[axis.depth];
            assert_eq!(known.len(), whole.len());
            hits += known.len();
            for (x, y) in known.iter().zip(&whole) {
                assert_eq!((x.column, x.depth, x.face), (y.column, y.depth, y.face));
            }
        }
    }
    assert!(hits > 5_000, "{hits}");
}

#[test]
fn boxes_in_every_position_of_a_grid() {
    let steps = [-1.0, -0.75, -0.5, 0.0, 0.25, 0.5, 1.0];
    let (cube, other) = (cuboid([0.5; 3]), cuboid([0.25, 0.5, 1.0]));
    for place in 0..343 {
        let position = [steps[place % 7], steps[place / 7 % 7], steps[place / 49]];
        let size = [0.25, 0.5, 1.0];
        let sides =
            (0..3).map(|k| 0.5_f64.min(position[k] + size[k]) - (-0.5_f64).max(position[k] - size[k]));
        let expected: f64 = sides.map(|side| side.max(0.0)).product();
        let found = ask([&cube, &other], [&Pose::IDENTITY, &at(position)], pixels(16));
        assert!((found.volume - expected).abs() <= 1e-12, "{position:?}: {} {expected}", found.volume);
        assert_eq!(found.regions.len(), usize::from(expected > 0.0), "{position:?}");
    }
}

#[test]
fn nested_equal_and_touching_bodies() {
    let (ball, large) = (of(procedural::ico_sphere(0.5, 3).unwrap()), cuboid([1.0; 3]));
    let inside = at([0.1, 0.2, -0.1]);
    let found = ask([&large, &ball], [&Pose::IDENTITY, &inside], pixels(128));
    let whole = exact([&large, &ball], [&Pose::IDENTITY, &inside]).volume;
    assert!((found.volume - whole).abs() <= found.error.min(0.002 * whole), "{} {whole}", found.volume);
    assert!(found.gradient[0].iter().all(|slope| *slope == DVec3::ZERO));
    assert!(net(&found)[1].length() < 1e-14);
    assert_eq!(found.regions[0].region.normal, DVec3::ZERO);
    assert!((found.regions[0].region.centroid - inside.translation()).length() < 1e-3);

    // Equal bodies: each has half of the gradient, and no net force.
    let same = ask([&ball, &ball], [&inside, &inside], pixels(64));
    assert!((same.volume - whole).abs() <= same.error.min(1e-3 * whole), "{} {whole}", same.volume);
    assert!(net(&same).iter().all(|force| force.length() < 1e-13), "{:?}", net(&same));
    assert_eq!(same.regions.len(), 1);

    // Faces that touch, also along a tilted plane.
    let cube = cuboid([0.5; 3]);
    for turn in [Pose::IDENTITY, Pose::new([0.0; 3], [0.1, 0.2, 0.3, 0.9]).unwrap()] {
        let beside = turn.compose(&at([1.0, 0.25, 0.0]));
        let found = ask([&cube, &cube], [&turn, &beside], pixels(64));
        assert_eq!((found.volume, found.regions.len()), (0.0, 0));
    }
}

#[test]
fn curved_bodies_by_closed_forms() {
    let ball = curved(Primitive::sphere(1.0));
    let ground = curved(Primitive::half_space([0.0, 0.0, 1.0], -0.6));
    let cap = |height: f64| PI * height * height * (1.0 - height / 3.0);
    let found = ask([&ground, &ball], [&Pose::IDENTITY; 2], pixels(128));
    assert!((found.volume - cap(0.4)).abs() <= found.error.min(1e-3), "{} {}", found.volume, cap(0.4));
    let region = found.regions[0].region;
    assert!((region.normal - DVec3::Z).length() < 1e-2 && (region.depth - 0.4).abs() < 0.02, "{region:?}");
    assert!((region.area - PI * 0.64).abs() < 0.02);

    let lens = ask([&ball, &ball], [&Pose::IDENTITY, &at([0.3, -0.4, 1.2])], pixels(128));
    let apart = 1.3_f64;
    let expected = 2.0 * cap(1.0 - apart / 2.0);
    assert!((lens.volume - expected).abs() <= lens.error.min(2e-3 * expected), "{} {expected}", lens.volume);

    // Whole bodies in a large box.
    let room = curved(Primitive::cuboid([5.0; 3]));
    let wholes = [
        (Primitive::capsule(0.4, 0.5), PI * 0.16 * 1.0 + 4.0 / 3.0 * PI * 0.064),
        (Primitive::cylinder(0.4, 0.5), PI * 0.16),
        (Primitive::cone(0.6, 0.5), PI * 0.36 / 3.0),
        (Primitive::ellipsoid([0.9, 0.6, 0.3]), 4.0 / 3.0 * PI * 0.162),
    ];
    let pose = Pose::new([0.4, 0.3, -0.2], [0.3, 0.1, -0.4, 0.8]).unwrap();
    for (shape, expected) in wholes {
        let found = ask([&room, &curved(shape)], [&Pose::IDENTITY, &pose], pixels(128));
        assert!((found.volume - expected).abs() <= found.error.min(2e-3), "{} {expected}", found.volume);
    }

    // Parts of a compound that overlap count once.
    let parts = [([-0.2, 0.0, 0.0], 0.5), ([0.2, 0.0, 0.0], 0.5)];
    let parts = parts.map(|(p, r)| (Convex::Primitive(Primitive::sphere(r).unwrap()), at(p)));
    let pair = Geometry::Compound(Arc::new(Compound::new(parts).unwrap()));
    let found = ask([&room, &pair], [&Pose::IDENTITY; 2], pixels(128));
    let small_cap = PI * 0.09 * (0.5 - 0.1);
    let expected = 2.0 * (4.0 / 3.0 * PI * 0.125 - small_cap);
    assert!((found.volume - expected).abs() <= found.error.min(2e-3), "{} {expected}", found.volume);
}

#[test]
fn separate_regions_are_told_apart() {
    let foot = |x: f64| {
        let mesh = procedural::cuboid([0.1, 0.1, 0.5], [1; 3]).unwrap();
        let vertices = mesh.vertices().iter().map(|p| *p + DVec3::new(x, 0.0, 0.0)).collect();
        Mesh::from_points(vertices, mesh.triangles().to_vec()).unwrap()
    };
    let feet = of(procedural::join([&foot(-1.0), &foot(1.0)]).unwrap());
    let turned = Pose::new([0.0; 3], [0.02, 0.03, 0.2, 0.97]).unwrap();
    let place = turned.compose(&at([0.0, 0.0, 0.9]));
    let found = ask([&cuboid([3.0, 3.0, 0.5]), &feet], [&turned, &place], pixels(128));
    assert_eq!(found.regions.len(), 2, "{:?}", found.regions);
    for one in &found.regions {
        assert!((one.volume - 0.004).abs() < 1e-4, "{one:?}");
        let up = turned.apply(DVec3::Z);
        assert!((one.region.normal - up).length() < 0.02, "{one:?}");
        assert!((one.region.depth - 0.1).abs() < 0.02 && (one.region.area - 0.04).abs() < 0.002, "{one:?}");
    }
    let whole: f64 = found.regions.iter().map(|one| one.volume).sum();
    assert!((whole - found.volume).abs() < 1e-12);
}

#[test]
fn open_surfaces_bound_what_the_caller_says() {
    let ball = of(procedural::ico_sphere(0.5, 4).unwrap());
    let sheet = Mesh::new(
        vec![[-2.0, -2.0, 0.0], [2.0, -2.0, 0.0], [2.0, 2.0, 0.0], [-2.0, 2.0, 0.0]],
        vec![[0, 1, 2], [0, 2, 3]],
    );
    let sheet = of(sheet.unwrap());
    let pair =
        ShapePair { shapes: [&sheet, &ball], poses: [&Pose::IDENTITY, &at([0.1, 0.2, 0.3])], motions: None };
    assert!(volume(&pair, &pixels(64), &mut Budget::UNLIMITED.clone()).is_err());

    // A cap of height 0.2, in the ground below the sheet.
    let options = VolumeOptions { open: Some(OpenSurface::HalfSpace), ..pixels(128) };
    let block = cuboid([2.0, 2.0, 2.0]);
    for (turn, name) in
        [(Pose::IDENTITY, "level"), (Pose::new([0.0; 3], [0.2, 0.1, 0.0, 0.9]).unwrap(), "tilted")]
    {
        let ball_at = turn.compose(&at([0.1, 0.2, 0.3]));
        let want = exact([&block, &ball], [&turn.compose(&at([0.0, 0.0, -2.0])), &ball_at]).volume;
        let found = ask([&sheet, &ball], [&turn, &ball_at], options);
        assert!((found.volume - want).abs() <= 0.02 * want, "{name}: {} {want}", found.volume);
        assert!(
            (net(&found)[0] + net(&found)[1]).length() < 0.05 * net(&found)[1].length(),
            "{name}: {:?}",
            net(&found)
        );
    }

    // Wholly in the ground, or wholly above it: the sheet lies beyond the box of the images, on any of its sides.
    let turns = [
        [0.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.5, 0.5, 0.5, 0.5],
        [0.5, -0.5, 0.5, 0.5],
        [0.2, 0.1, 0.0, 0.9],
    ];
    for turn in turns.map(|turn| Pose::new([0.0; 3], turn).unwrap()) {
        let own = ask([&ball, &ball], [&turn.compose(&at([0.0, 0.0, -0.8])); 2], pixels(128)).volume;
        for (height, want) in [(-0.8, own), (0.8, 0.0)] {
            let found = ask([&sheet, &ball], [&turn, &turn.compose(&at([0.0, 0.0, height]))], options);
            assert!((found.volume - want).abs() <= 0.01 * own, "{turn:?} {height}: {} {want}", found.volume);
        }
    }

    // A box without a lid, covered in thought by what it winds around at least half.
    let closed = procedural::cuboid([0.5; 3], [1; 3]).unwrap();
    let lid = |t: &[u32; 3]| t.iter().all(|&v| closed.vertices()[v as usize].z > 0.0);
    let rest = closed.triangles().iter().copied().filter(|t| !lid(t)).collect();
    let pot = of(Mesh::from_points(closed.vertices().to_vec(), rest).unwrap());
    let options = VolumeOptions { open: Some(OpenSurface::Winding), ..pixels(16) };
    let low = at([0.2, 0.1, -0.4]);
    let want = exact([&of(closed), &ball], [&Pose::IDENTITY, &low]).volume;
    let found = ask([&pot, &ball], [&Pose::IDENTITY, &low], options);
    assert!((found.volume - want).abs() <= 0.05 * want, "{} {want}", found.volume);
}

#[test]
fn a_body_that_overlaps_itself() {
    let one = procedural::ico_sphere(0.5, 4).unwrap();
    let moved = |by: f64| {
        let vertices = one.vertices().iter().map(|p| *p + DVec3::new(by, 0.0, 0.0)).collect();
        Mesh::from_points(vertices, one.triangles().to_vec()).unwrap()
    };
    let three = of(procedural::join([&one, &moved(0.7), &moved(-0.8)]).unwrap());
    let options = pixels(128);
    let found = self_volume(&three, &Pose::IDENTITY, &options, &mut Budget::UNLIMITED.clone())
        .unwrap()
        .value
        .unwrap();
    let lens =
        |by: f64| exact([&of(one.clone()), &of(one.clone())], [&Pose::IDENTITY, &at([by, 0.0, 0.0])]).volume;
    let want = lens(0.7) + lens(0.8);
    assert!((found.volume - want).abs() <= found.error.min(0.01 * want), "{} {want}", found.volume);
    assert_eq!(found.regions.len(), 2);
    assert!(net(&found)[0].length() < 1e-13 && found.gradient[1].is_empty());
}

#[test]
fn errors_and_budgets_choose_the_resolution() {
    let bodies = bodies();
    let pose = Pose::new([0.2, 0.1, 0.3], [0.1, 0.2, 0.3, 0.9]).unwrap();
    let (shapes, poses) = ([&bodies[1], &bodies[3]], [&Pose::IDENTITY, &pose]);
    let want = exact(shapes, poses).volume;
    for error in [0.02, 0.002] {
        let options = VolumeOptions { error: Some(error), ..VolumeOptions::default() };
        let found = ask(shapes, poses, options);
        assert!(found.error <= error * found.volume, "{} {}", found.error, found.volume);
        assert!((found.volume - want).abs() <= found.error);
    }
    let pair = ShapePair { shapes, poses, motions: None };
    let mut last = f64::INFINITY;
    for units in [30_000, 200_000, 2_000_000] {
        let mut budget = Budget::units(units);
        let verdict = volume_within(&pair, &VolumeOptions::default(), &mut budget).unwrap();
        let Certainty::Approximate { resolution } = verdict.outcome.certainty else { panic!("{verdict:?}") };
        assert!(resolution < last && (verdict.value.unwrap().volume - want).abs() < 0.1 * want);
        last = resolution;
    }
    // A share of a budget would be enough for a coarser image than the whole of it.
    let mut share = Budget::units(2_000_000).trial(1_000_000);
    let nothing = volume_within(&pair, &VolumeOptions::default(), &mut share).unwrap();
    assert_eq!((nothing.value, nothing.outcome.finish), (None, Finish::OutOfBudget));
}

#[test]
fn a_batch_gives_the_same_bits() {
    let mut dice = Pcg64Mcg::seed_from_u64(14);
    let bodies = bodies();
    let poses: Vec<Pose> = (0..6).map(|_| random_pose(&mut dice, 0.4)).collect();
    let pair = |k: usize| ShapePair {
        shapes: [&bodies[k % 4], &bodies[(k + 1) % 4]],
        poses: [&poses[k % 6], &poses[(k + 2) % 6]],
        motions: None,
    };
    let pairs: Vec<ShapePair<'_>> = (0..8).map(pair).collect();
    let options = pixels(48);
    let together = volume_batch(&pairs, &options).unwrap();
    for (pair, verdict) in pairs.iter().zip(together) {
        let alone = volume(pair, &options, &mut Budget::UNLIMITED.clone()).unwrap();
        assert_eq!(alone.value, verdict.value);
    }
}

#[test]
fn flat_hulls_have_no_volume() {
    let flat = Polytope::hull(&[DVec3::ZERO, DVec3::X, DVec3::Y]).unwrap();
    let pose = Pose::new([-1.0, 0.3, -0.2], [1.0, 2.0, 0.0, 3.0]).unwrap();
    let cube: Convex = Primitive::cuboid([1.0; 3]).unwrap().into();
    let ball = curved(Primitive::sphere(1.0));
    let hull = Geometry::from(flat.clone());
    let sheets = [(flat.into(), pose), (cube.clone(), at([5.0, 0.0, 0.0]))];
    let compound = Geometry::from(Compound::new(sheets).unwrap());
    for solid in [&ball, &Geometry::from(cube)] {
        for (shape, pose) in [(&hull, &pose), (&compound, &Pose::IDENTITY)] {
            let found = ask([shape, solid], [pose, &at([0.1, 0.0, 0.0])], pixels(64));
            assert_eq!((found.volume, found.regions.len()), (0.0, 0), "{shape:?} {solid:?}");
        }
    }
}
