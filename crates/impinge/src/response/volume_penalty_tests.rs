//! Penalty forces against closed forms and against differences of the exact volume.

use std::f64::consts::PI;

use glam::{DMat3, DQuat};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::{Mesh, OpenSurface, Pose, Query, Shape, VolumeOptions, procedural};

const STIFF: VolumePenalty = VolumePenalty { stiffness: 3.0, viscosity: 0.0 };
const VISCOUS: VolumePenalty = VolumePenalty { stiffness: 0.0, viscosity: 0.7 };

fn measure(a: &Mesh, at_a: Pose, b: &Mesh, at_b: Pose) -> Volume {
    let [a, b] = [a, b].map(|mesh| Shape::from(mesh.clone()));
    let options = VolumeOptions { samples: true, ..VolumeOptions::default() };
    Query::default().volume(a.at(at_a), b.at(at_b), options).unwrap().value.unwrap()
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation([x, y, z]).unwrap()
}

fn rigid(centre: DVec3, moved: [DVec3; 2]) -> Receiver<'static> {
    Receiver::Rigid { centre, inverse_mass: 1.0, inverse_inertia: DMat3::IDENTITY, moved }
}

fn soft<'v>(vertices: &'v [DVec3], mesh: &'v Mesh, ones: &'v [f64], moved: &'v [DVec3]) -> Receiver<'v> {
    let compliance = &ones[..vertices.len()];
    Receiver::Deformable { vertices, triangles: mesh.triangles(), compliance, moved }
}

fn on_rigid(load: &Load) -> [DVec3; 2] {
    match load {
        Load::Rigid { force, torque } => [*force, *torque],
        other => panic!("{other:?}"),
    }
}

fn net(load: &Load) -> DVec3 {
    match load {
        Load::None => DVec3::ZERO,
        Load::Rigid { force, .. } => *force,
        Load::Vertices(list) => list.iter().map(|(_, force)| *force).sum(),
    }
}

/// The work of a load along a displacement.
fn work(load: &Load, displacement: &Displacement) -> f64 {
    match (load, displacement) {
        (Load::Rigid { force, torque }, Displacement::Rigid { translation, rotation }) => {
            force.dot(*translation) + torque.dot(*rotation)
        }
        (Load::Vertices(forces), Displacement::Vertices(ways)) => {
            let of = |v: u32| ways.iter().find(|(w, _)| *w == v).map_or(DVec3::ZERO, |(_, way)| *way);
            forces.iter().map(|(v, force)| force.dot(of(*v))).sum()
        }
        _ => 0.0,
    }
}

fn vector(random: &mut Pcg64) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| random.random_range(-1.0..1.0)))
}

fn cuboid(half: [f64; 3]) -> Mesh {
    procedural::cuboid(half, [1; 3]).unwrap()
}

#[test]
fn a_sphere_in_the_ground_is_pressed_as_its_cap() {
    let (radius, ground) = (0.5, cuboid([4.0, 4.0, 1.0]));
    let ball = procedural::ico_sphere(radius, 5).unwrap();
    for depth in [0.05, 0.2, 0.5, 0.7] {
        let centre = DVec3::new(0.1, -0.2, 1.0 + radius - depth);
        let found = measure(&ground, Pose::IDENTITY, &ball, at(centre.x, centre.y, centre.z));
        let bodies = [rigid(DVec3::ZERO, [DVec3::ZERO; 2]), rigid(centre, [DVec3::ZERO; 2])];
        let pressed = STIFF.forces(&bodies, &[([0, 1], &found)]).unwrap();
        let volume = PI * depth * depth * (radius - depth / 3.0);
        let area = PI * depth * (2.0 * radius - depth);
        let [[down, turning], [up, turn]] = [0, 1].map(|k| on_rigid(&pressed.loads[k]));
        let expected = 3.0 * volume * area;
        // The mesh of 20,480 triangles lies within the ball: a flat cap loses most.
        assert!((up.z - expected).abs() < 0.01 * expected, "{depth}: {up} not {expected}");
        assert!((pressed.energy - 1.5 * volume * volume).abs() < 0.01 * pressed.energy);
        assert!(up.truncate().length() < 1e-3 * up.z && turn.length() < 1e-3 * up.z * radius, "{up} {turn}");
        assert!((up + down).length() < 1e-12 * up.length(), "opposite");
        // The same line of action: no moment is made.
        let moment = turning + turn + centre.cross(up);
        assert!(moment.length() < 1e-12 * up.length(), "{moment}");
        // The exact twin: the slope of the energy of the mesh.
        let energy = |by: f64| {
            let found = measure(&ground, Pose::IDENTITY, &ball, at(centre.x, centre.y, centre.z + by));
            1.5 * found.volume * found.volume
        };
        let slope = (energy(1e-6) - energy(-1e-6)) / 2e-6;
        assert!((up.z + slope).abs() < 1e-6 * up.z, "{} {slope}", up.z);
    }
}

#[test]
fn boxes_are_pressed_by_volume_and_face() {
    let (large, small) = (cuboid([1.0; 3]), cuboid([0.5; 3]));
    let centre = DVec3::new(0.2, -0.1, 1.3);
    let found = measure(&large, Pose::IDENTITY, &small, at(centre.x, centre.y, centre.z));
    let bodies = [rigid(DVec3::ZERO, [DVec3::ZERO; 2]), rigid(centre, [DVec3::ZERO; 2])];
    let pressed = STIFF.forces(&bodies, &[([0, 1], &found)]).unwrap();
    let [[down, turning], [up, turn]] = [0, 1].map(|k| on_rigid(&pressed.loads[k]));
    let force = 3.0 * 0.2 * DVec3::Z;
    assert!((up - force).length() < 1e-14 && (down + force).length() < 1e-14, "{up} {down}");
    assert!(turn.length() < 1e-14, "{turn}");
    assert!((turning - DVec3::new(0.2, -0.1, 1.0).cross(-force)).length() < 1e-14, "{turning}");
    // A corner in a corner: three faces press, each by its own area.
    let found = measure(&large, Pose::IDENTITY, &small, at(1.2, 1.3, 1.4));
    let bodies = [Receiver::Fixed, rigid(DVec3::new(1.2, 1.3, 1.4), [DVec3::ZERO; 2])];
    let pressed = STIFF.forces(&bodies, &[([0, 1], &found)]).unwrap();
    let sides = DVec3::new(0.3, 0.2, 0.1);
    let volume = sides.element_product();
    let [up, _] = on_rigid(&pressed.loads[1]);
    assert!((up - 3.0 * volume * volume / sides).length() < 1e-14, "{up}");
    assert_eq!(pressed.loads[0], Load::None);
}

#[test]
fn torques_are_slopes_of_the_energy() {
    let mut random = Pcg64::seed_from_u64(3);
    let (a, b) = (cuboid([0.8, 0.6, 0.5]), procedural::ico_sphere(0.6, 2).unwrap());
    let mut pressing = 0;
    for _ in 0..12 {
        let (centre, axis) = (vector(&mut random) * 0.9, vector(&mut random).normalize());
        let turn = DQuat::from_axis_angle(vector(&mut random).normalize(), 2.0 * random.random::<f64>());
        let pose = |angle: f64| {
            let turn = DQuat::from_axis_angle(axis, angle) * turn;
            Pose::new(centre.to_array(), turn.to_array()).unwrap()
        };
        let found = measure(&a, Pose::IDENTITY, &b, pose(0.0));
        if found.volume == 0.0 {
            continue;
        }
        pressing += 1;
        let bodies = [Receiver::Fixed, rigid(centre, [DVec3::ZERO; 2])];
        let pressed = STIFF.forces(&bodies, &[([0, 1], &found)]).unwrap();
        let [force, torque] = on_rigid(&pressed.loads[1]);
        let energy = |angle: f64| 1.5 * measure(&a, Pose::IDENTITY, &b, pose(angle)).volume.powi(2);
        let slope = (energy(1e-5) - energy(-1e-5)) / 2e-5;
        assert!((torque.dot(axis) + slope).abs() < 1e-7 * force.length(), "{} {slope}", torque.dot(axis));
    }
    assert!((6..=12).contains(&pressing), "{pressing}");
}

#[test]
fn the_stiffness_product_agrees_with_differences() {
    let mut random = Pcg64::seed_from_u64(4);
    let (ground, ball) = (cuboid([1.0; 3]), procedural::ico_sphere(0.5, 2).unwrap());
    let (centre, ones) = (DVec3::new(0.1, 0.9, 1.2), vec![1.0; 1000]);
    let places: Vec<DVec3> = ball.vertices().iter().map(|p| *p + centre).collect();
    let placed = |step: f64, ways: &[DVec3]| {
        let moved = places.iter().zip(ways).map(|(p, way)| *p + *way * step).collect();
        Mesh::from_points(moved, ball.triangles().to_vec()).unwrap()
    };
    let ways: Vec<DVec3> = places.iter().map(|_| vector(&mut random)).collect();
    let found = measure(&ground, Pose::IDENTITY, &placed(0.0, &ways), Pose::IDENTITY);
    let turn = DVec3::new(0.2, 0.1, -0.3);
    let bodies = [rigid(DVec3::ZERO, [DVec3::ZERO; 2]), soft(&places, &ball, &ones, &[])];
    let pressed = STIFF.forces(&bodies, &[([0, 1], &found)]).unwrap();
    // Every vertex of the ball its own way while the ground moves and turns.
    let shift = DVec3::new(-0.3, 0.2, 0.5);
    let listed = ways.iter().enumerate().map(|(v, way)| (v as u32, *way)).collect();
    let x = [Displacement::Rigid { translation: shift, rotation: turn }, Displacement::Vertices(listed)];
    let volume = |step: f64| {
        let pose =
            Pose::new((shift * step).to_array(), DQuat::from_scaled_axis(turn * step).to_array()).unwrap();
        measure(&ground, pose, &placed(step, &ways), Pose::IDENTITY).volume
    };
    let slope = (volume(1e-5) - volume(-1e-5)) / 2e-5;
    let product = pressed.stiffness_product(&x);
    // f = −k·V·∇V, so k·∇V·slope = −f·slope/V.
    let expected = |load: DVec3| load * (-slope / found.volume);
    let [force, torque] = on_rigid(&product[0]);
    let [f, t] = on_rigid(&pressed.loads[0]);
    assert!((force - expected(f)).length() < 1e-4 * force.length(), "{force} {}", expected(f));
    assert!((torque - expected(t)).length() < 1e-4 * torque.length(), "{torque} {}", expected(t));
    let [Load::Vertices(product), Load::Vertices(loads)] = [&product[1], &pressed.loads[1]] else { panic!() };
    assert_eq!(product.len(), loads.len());
    let scale = product.iter().map(|(_, force)| force.length()).fold(0.0, f64::max);
    for ((v, force), (w, f)) in product.iter().zip(loads) {
        assert!(v == w && (*force - expected(*f)).length() < 1e-4 * scale, "{v}: {force} {}", expected(*f));
    }
    // Never negative.
    let product = pressed.stiffness_product(&x);
    assert!(product.iter().zip(&x).map(|(load, x)| work(load, x)).sum::<f64>() > 0.0);
}

#[test]
fn between_flat_faces_the_product_is_the_whole_derivative_of_the_forces() {
    // Along the normal the area stays, so nothing is dropped.
    let (large, small) = (cuboid([1.0; 3]), cuboid([0.5; 3]));
    let press = |z: f64| {
        let found = measure(&large, Pose::IDENTITY, &small, at(0.2, -0.1, z));
        let bodies = [Receiver::Fixed, rigid(DVec3::new(0.2, -0.1, z), [DVec3::ZERO; 2])];
        STIFF.forces(&bodies, &[([0, 1], &found)]).unwrap()
    };
    let step = 1e-4;
    let slope = (net(&press(1.3 + step).loads[1]) - net(&press(1.3 - step).loads[1])) / (2.0 * step);
    let x = [Displacement::None, Displacement::Rigid { translation: DVec3::Z, rotation: DVec3::ZERO }];
    let product = net(&press(1.3).stiffness_product(&x)[1]);
    assert!((product + slope).length() < 1e-9 && (product.z - 3.0).abs() < 1e-12, "{product} {slope}");
}

#[test]
fn viscous_friction_of_a_sliding_block() {
    let (ground, block) = (cuboid([2.0, 2.0, 1.0]), cuboid([0.5, 0.4, 0.3]));
    let (centre, velocity) = (DVec3::new(0.3, 0.1, 1.25), DVec3::new(0.7, 0.0, -0.2));
    let found = measure(&ground, Pose::IDENTITY, &block, at(centre.x, centre.y, centre.z));
    for ground in [Receiver::Fixed, rigid(DVec3::ZERO, [DVec3::ZERO; 2])] {
        let bodies = [ground, rigid(centre, [velocity, DVec3::ZERO])];
        let pressed = VISCOUS.forces(&bodies, &[([0, 1], &found)]).unwrap();
        let [force, _] = on_rigid(&pressed.loads[1]);
        // The base and the ground below it, and half of each wall of the block, 0.05 deep, which no wall faces.
        let walls = |along: f64| 0.05 * along;
        let along = 0.7 * 0.7 * (1.0 * 0.8 + walls(1.0));
        let down = 0.7 * 0.2 * (walls(1.0) + walls(0.8));
        assert!((force - DVec3::new(-along, 0.0, down)).length() < 1e-14, "{force}");
        assert_eq!(pressed.energy, 0.0);
    }
}

#[test]
fn viscous_friction_never_works_and_keeps_momentum() {
    let mut random = Pcg64::seed_from_u64(5);
    let meshes = [procedural::ico_sphere(0.5, 2).unwrap(), procedural::torus(0.5, 0.2, 24, 12).unwrap()];
    let (mut rubbing, ones) = (0, vec![1.0; 1000]);
    for round in 0..60 {
        let centres = [DVec3::ZERO, vector(&mut random) * 0.6];
        let placed: [Vec<DVec3>; 2] =
            [0, 1].map(|k| meshes[k].vertices().iter().map(|p| *p + centres[k]).collect());
        let found =
            measure(&meshes[0], Pose::IDENTITY, &meshes[1], Pose::from_translation(centres[1]).unwrap());
        if found.volume == 0.0 {
            continue;
        }
        rubbing += 1;
        let is_soft = [round % 2 == 0, round % 4 < 2];
        let moved: [Vec<DVec3>; 2] = [0, 1].map(|k| placed[k].iter().map(|_| vector(&mut random)).collect());
        let spin = [(); 2].map(|()| [vector(&mut random), vector(&mut random)]);
        let bodies = [0, 1].map(|k| match is_soft[k] {
            true => soft(&placed[k], &meshes[k], &ones, &moved[k]),
            false => rigid(centres[k], spin[k]),
        });
        let velocities = [0, 1].map(|k| match is_soft[k] {
            true => Displacement::Vertices((0..).zip(moved[k].iter().copied()).collect()),
            false => Displacement::Rigid { translation: spin[k][0], rotation: spin[k][1] },
        });
        let pressed = VISCOUS.forces(&bodies, &[([0, 1], &found)]).unwrap();
        let power: f64 = (0..2).map(|k| work(&pressed.loads[k], &velocities[k])).sum();
        assert!(power < 0.0, "{round}: {power}");
        let [on_a, on_b] = [0, 1].map(|k| net(&pressed.loads[k]));
        assert!((on_a + on_b).length() < 1e-13, "{on_a} {on_b}");
        let damping: f64 =
            pressed.damping_product(&velocities).iter().zip(&velocities).map(|(l, v)| work(l, v)).sum();
        assert!((power + damping).abs() < 1e-12 * damping, "{power} {damping}");
    }
    assert!((20..=60).contains(&rubbing), "{rubbing}");
}

#[test]
fn a_ball_on_an_open_ground_is_pressed_as_its_cap() {
    // A single sheet, behind which everything is ground.
    let (radius, depth) = (0.5, 0.2);
    let ground = Shape::from(procedural::sheet([6.0, 6.0], [3, 3]).unwrap());
    let ball = Shape::from(procedural::ico_sphere(radius, 5).unwrap());
    let centre = DVec3::new(0.1, -0.2, radius - depth);
    let options = VolumeOptions {
        samples: true,
        resolution: Some(200),
        open: Some(OpenSurface::HalfSpace),
        ..VolumeOptions::default()
    };
    let placed = ball.at(Pose::from_translation(centre).unwrap());
    let found = Query::default().volume(&ground, placed, options).unwrap().value.unwrap();
    let bodies = [Receiver::Fixed, rigid(centre, [DVec3::X, DVec3::ZERO])];
    let pressed = STIFF.forces(&bodies, &[([0, 1], &found)]).unwrap();
    let volume = PI * depth * depth * (radius - depth / 3.0);
    let area = PI * depth * (2.0 * radius - depth);
    let [up, turn] = on_rigid(&pressed.loads[1]);
    let expected = 3.0 * volume * area;
    assert!((up - DVec3::Z * expected).length() < 0.01 * expected, "{up} not {expected}");
    assert!(turn.length() < 0.01 * expected * radius, "{turn}");
    // Sliding, it is held back; how much is between the disc and the cap, whose slopes turn away.
    let rubbed = VISCOUS.forces(&bodies, &[([0, 1], &found)]).unwrap();
    let back = -net(&rubbed.loads[1]).x / 0.7;
    assert!((0.5 * area..2.0 * area).contains(&back), "{back} {area}");
}

/// A bar along a helix, from one share of its length to another: a ring that runs past its own beginning.
fn bent_bar(from: f64, to: f64, segments: u32) -> Mesh {
    let straight = procedural::cuboid([0.5; 3], [segments, 1, 1]).unwrap();
    let bend = |p: &DVec3| {
        let share = from + (p.x + 0.5) * (to - from);
        let (sine, cosine) = (share * 2.25 * PI).sin_cos();
        // A little wider towards the end, so that no walls coincide.
        let radius = 1.0 + 0.3 * p.y + 0.05 * share;
        DVec3::new(radius * cosine, radius * sine, 0.2 * p.z + 0.12 * share)
    };
    let vertices = straight.vertices().iter().map(bend).collect();
    Mesh::from_points(vertices, straight.triangles().to_vec()).unwrap()
}

/// The forces of a mesh on itself, and its volume.
fn press_itself(mesh: &Mesh, pixels: u32) -> (Volume, Vec<(u32, DVec3)>) {
    let options = VolumeOptions { samples: true, resolution: Some(pixels), ..VolumeOptions::default() };
    let shape = Shape::from(mesh.clone());
    let found = Query::default().self_volume(&shape, options).unwrap().value.unwrap();
    let ones = vec![1.0; mesh.vertices().len()];
    let bodies = [soft(mesh.vertices(), mesh, &ones, &[])];
    let pressed = STIFF.forces(&bodies, &[([0, 0], &found)]).unwrap();
    let Load::Vertices(list) = &pressed.loads[0] else { panic!("no forces") };
    (found, list.clone())
}

#[test]
fn a_bent_bar_presses_its_ends_apart() {
    let bar = bent_bar(0.0, 1.0, 72);
    let (found, forces) = press_itself(&bar, 400);
    // The exact twin: the first and the last quarter as bodies of their own.
    let twin = measure(&bent_bar(0.0, 0.25, 18), Pose::IDENTITY, &bent_bar(0.75, 1.0, 18), Pose::IDENTITY);
    assert!((found.volume - twin.volume).abs() < 0.01 * twin.volume, "{} {}", found.volume, twin.volume);
    let ends = [0, 1].map(|k| -3.0 * twin.volume * twin.regions[0].gradient[k]);
    let straight = procedural::cuboid([0.5; 3], [72, 1, 1]).unwrap();
    let half = |is_last: bool| -> DVec3 {
        let own = forces.iter().filter(|(v, _)| (straight.vertices()[*v as usize].x > 0.0) == is_last);
        own.map(|(_, force)| *force).sum()
    };
    for (k, pushed) in [half(false), half(true)].into_iter().enumerate() {
        assert!((pushed - ends[k]).length() < 0.03 * ends[k].length(), "{k}: {pushed} {}", ends[k]);
    }
    let sum: DVec3 = forces.iter().map(|(_, force)| *force).sum();
    assert!(sum.length() < 1e-12 * ends[0].length(), "{sum}");
}

#[test]
fn two_regions_of_one_mesh_press_on_their_own() {
    let moved = |half: [f64; 3], by: DVec3| {
        let mesh = cuboid(half);
        Mesh::from_points(mesh.vertices().iter().map(|p| *p + by).collect(), mesh.triangles().to_vec())
            .unwrap()
    };
    let beam = moved([1.0, 0.2, 0.2], DVec3::ZERO);
    let pegs = [
        moved([0.1, 0.1, 0.3], DVec3::new(-0.7, 0.0, 0.4)),
        moved([0.2, 0.1, 0.3], DVec3::new(0.6, 0.05, -0.35)),
    ];
    let mesh = procedural::join([&beam, &pegs[0], &pegs[1]]).unwrap();
    let (found, forces) = press_itself(&mesh, 300);
    let twin =
        measure(&beam, Pose::IDENTITY, &procedural::join([&pegs[0], &pegs[1]]).unwrap(), Pose::IDENTITY);
    assert_eq!((found.regions.len(), twin.regions.len()), (2, 2));
    assert!((found.volume - twin.volume).abs() < 0.01 * twin.volume, "{} {}", found.volume, twin.volume);
    // Both pegs feel the one pressure on their own face.
    for (peg, area) in [(0, 0.04), (1, -0.08)] {
        let own = 8 + 8 * peg..16 + 8 * peg;
        let pushed: DVec3 = forces.iter().filter(|(v, _)| own.contains(v)).map(|(_, force)| *force).sum();
        let expected = DVec3::Z * (3.0 * twin.volume * area);
        assert!((pushed - expected).length() < 0.02 * expected.length(), "{peg}: {pushed} {expected}");
    }
}

#[test]
fn what_cannot_be_trusted_is_refused() {
    let cube = cuboid([0.5; 3]);
    let found = measure(&cube, Pose::IDENTITY, &cube, at(0.5, 0.3, 0.2));
    let bodies = [Receiver::Fixed, rigid(DVec3::ZERO, [DVec3::ZERO; 2])];
    let refuse = |options: VolumePenalty, bodies: &[Receiver<'_>], pair: [usize; 2], found: &Volume| {
        options.forces(bodies, &[(pair, found)]).unwrap_err().to_string()
    };
    assert!(
        refuse(VolumePenalty { stiffness: -1.0, ..STIFF }, &bodies, [0, 1], &found).contains("stiffness")
    );
    assert!(refuse(STIFF, &bodies, [0, 2], &found).contains("there are 2"));
    let mut bare = found.clone();
    bare.samples.clear();
    assert!(refuse(STIFF, &bodies, [0, 1], &bare).contains("without samples"));
    let mut broken = found.clone();
    broken.samples[0].area.x = f64::NAN;
    assert!(refuse(STIFF, &bodies, [0, 1], &broken).contains("not finite"));
    let few = [Receiver::Fixed, soft(&[DVec3::ZERO], &cube, &[1.0], &[])];
    assert!(refuse(STIFF, &few, [0, 1], &found).contains("it has no"));
    // A rigid body cannot part from itself.
    let pressed = STIFF.forces(&bodies, &[([1, 1], &found)]).unwrap();
    assert_eq!((pressed.energy, pressed.loads), (0.0, vec![Load::None, Load::None]));
}
