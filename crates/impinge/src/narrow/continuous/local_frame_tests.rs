use glam::DQuat;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::model::{Geometry, Model};
use crate::narrow::continuous::contact::{self, Covered, SphereCover};
use crate::narrow::continuous::shape_sweep::sweep;
use crate::narrow::continuous::{SweepOptions, mesh_sweep};
use crate::num::tolerance::SWEEP_TOLERANCE;
use crate::shape::{Mesh, Primitive, procedural};
use crate::{Budget, Pose};

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::shift(DVec3::new(x, y, z))
}

/// A gap of 2⁻²⁰ a million away that takes half of a step to close.
#[test]
fn boxes_far_away_touch_when_they_do() {
    let gap = 2.0_f64.powi(-20);
    let (near, far) = (1_048_576.0, 1_048_578.0 + gap);
    let motions = [
        Motion::Still(at(near, 0.0, 0.0)),
        Motion::between(&at(far, 0.0, 0.0), &at(far - 2.0 * gap, 0.0, 0.0)),
    ];
    let primitive = Geometry::from(Primitive::cuboid([1.0; 3]).unwrap());
    let mesh = Geometry::from(procedural::cuboid([1.0; 3], [1; 3]).unwrap());
    for shapes in [[&primitive, &primitive], [&mesh, &mesh], [&mesh, &primitive]] {
        let found = sweep(shapes, [&motions[0], &motions[1]], &SweepOptions::DEFAULT);
        let impact = found.impact.unwrap();
        assert!(impact.time <= 0.5 && 0.5 - impact.time <= SWEEP_TOLERANCE, "{found:?}");
        assert!(impact.proved && (impact.point.x - 1_048_577.0).abs() < 1e-5, "{found:?}");
    }
}

/// The end of a segment comes up to a face along a circle and leaves it again.
#[test]
fn a_graze_is_told_when_it_is() {
    let segment =
        Mesh::new(vec![[0.1, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 0.0, 0.0]], vec![[0, 1, 2]]).unwrap();
    let face =
        Mesh::new(vec![[-3.0, 2.0, -3.0], [3.0, 2.0, -3.0], [0.0, 2.0, 4.0]], vec![[0, 1, 2]]).unwrap();
    let end = Pose::turned(DVec3::ZERO, DQuat::from_rotation_z(1.8));
    let motions = [Motion::between(&Pose::IDENTITY, &end), Motion::Still(Pose::IDENTITY)];
    let models = [segment, face].map(Model::from);
    let found = mesh_sweep::sweep([&models[0], &models[1]], [&motions[0], &motions[1]]);
    let truth = std::f64::consts::FRAC_PI_2 / 1.8;
    let impact = found.impact.unwrap();
    assert!(impact.time <= truth && truth - impact.time <= SWEEP_TOLERANCE, "{found:?}");
}

/// A place in multiples of 2⁻²⁴, so that 1e7 more is as exact.
fn coarse(rng: &mut Pcg64, size: f64) -> DVec3 {
    DVec3::from([(); 3].map(|()| (rng.random_range(-size..size) * 16_777_216.0).round() / 16_777_216.0))
}

#[test]
fn scenes_ten_million_away_touch_at_the_same_times() {
    let shapes: [Geometry; 6] = [
        procedural::torus(0.5, 0.15, 10, 6).unwrap().into(),
        procedural::cuboid([0.5, 0.4, 0.3], [1; 3]).unwrap().into(),
        procedural::blob(0.4, 0.3, 2, 9).unwrap().into(),
        Primitive::cuboid([0.3, 0.5, 0.2]).unwrap().into(),
        Primitive::capsule(0.2, 0.5).unwrap().into(),
        Primitive::sphere(0.4).unwrap().into(),
    ];
    let mut rng = Pcg64::seed_from_u64(31);
    let (mut hits, mut said) = (0, 0);
    for case in 0..400 {
        let pair = [0, 1].map(|_| &shapes[rng.random_range(0..shapes.len())]);
        let shift = coarse(&mut rng, 1.0).normalize_or(DVec3::X) * 1e7;
        let shift = DVec3::from(shift.to_array().map(f64::round));
        // Some creep: their way takes the whole step.
        let way = if case % 4 == 0 { 1e-3 } else { 2.0 };
        let motions = [0.0, 1.0].map(|side| {
            let start = coarse(&mut rng, 0.4) + DVec3::X * (if case % 4 == 0 { 0.7 } else { 1.5 }) * side;
            let turn = DQuat::from_scaled_axis(coarse(&mut rng, 3.0));
            let end = start + coarse(&mut rng, way);
            let spin = DQuat::from_scaled_axis(coarse(&mut rng, way));
            let rests = rng.random_bool(0.2);
            [DVec3::ZERO, shift].map(|shift| {
                let from = Pose::turned(start + shift, turn);
                let to = if rests { from } else { Pose::turned(end + shift, spin * turn) };
                Motion::between(&from, &to)
            })
        });
        let [here, there] =
            [0, 1].map(|k| sweep(pair, [&motions[0][k], &motions[1][k]], &SweepOptions::DEFAULT));
        let times = [&here, &there].map(|found| found.impact.map(|impact| impact.time));
        hits += usize::from(times[0].is_some());
        match times {
            [Some(a), Some(b)] if (a - b).abs() <= SWEEP_TOLERANCE => {}
            [None, None] => {}
            _ => {
                // Later times end a step without a contact at 1.
                let [a, b] = times.map(|time| time.unwrap_or(1.0));
                let early = if a < b { here.earliness() } else { there.earliness() };
                assert!((a - b).abs() <= early, "case {case}: {here:?} {there:?}");
                said += usize::from(case % 4 != 0);
            }
        }
    }
    assert!((80..340).contains(&hits), "{hits}");
    // Of the scenes that do not creep, few rely on the stated tolerance.
    assert!(said < 8, "{said}");
}

/// Triangles with whole coordinates, ten million away, of which one shifts: the times are dyadic.
#[test]
fn contact_is_not_late_far_away() {
    let mut rng = Pcg64::seed_from_u64(5);
    for case in 0..60 {
        let far = DVec3::from([(); 3].map(|()| rng.random_range(-1e7..1e7_f64).round()));
        // A corner under a flat face, coming up through it halfway.
        let face = [[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]];
        let tip = DVec3::new(
            rng.random_range(-2.0..2.0_f64).round(),
            rng.random_range(-4.0..2.0_f64).round(),
            -2.0,
        );
        let fin = [tip, tip + DVec3::new(1.0, 0.0, -3.0), tip + DVec3::new(0.0, 2.0, -5.0)];
        let in_vertices = case % 2 == 0;
        let place = |p: DVec3| if in_vertices { (p + far).to_array() } else { p.to_array() };
        let pose = if in_vertices { Pose::IDENTITY } else { Pose::shift(far) };
        let up = pose.moved_to(pose.translation() + DVec3::Z * 4.0);
        let meshes = [
            Mesh::new(fin.map(place).to_vec(), vec![[0, 1, 2]]).unwrap(),
            Mesh::new(face.map(|p| place(DVec3::from(p))).to_vec(), vec![[0, 1, 2]]).unwrap(),
        ];
        let models = meshes.map(Model::from);
        let spheres = models.each_ref().map(|model| SphereCover::new(model.mesh(), 4.0).unwrap());
        let bodies = [0, 1].map(|k| Covered { model: &models[k], spheres: &spheres[k] });
        for motions in [
            [Motion::between(&pose, &up), Motion::Still(pose)],
            [
                Motion::between(&pose, &up),
                Motion::between(&pose, &pose.moved_to(pose.translation() + DVec3::X)),
            ],
        ] {
            let motions = [&motions[0], &motions[1]];
            let found = contact::sweep_within(
                bodies,
                motions,
                &SweepOptions::DEFAULT,
                &mut Budget::UNLIMITED.clone(),
            )
            .unwrap();
            let time = found.impact.unwrap().time;
            assert!(time <= 0.5 && 0.5 - time <= found.earliness(), "case {case}: {found:?}");
            let ours = mesh_sweep::sweep([&models[0], &models[1]], motions);
            let time = ours.impact.unwrap().time;
            assert!(time <= 0.5 && 0.5 - time <= ours.earliness(), "case {case}: {ours:?}");
        }
    }
}

/// A flight of 1e16 rounds its places by 2, but not where it begins.
#[test]
fn a_long_flight_hits_what_is_in_its_way_and_nothing_else() {
    let primitive = Geometry::from(Primitive::cuboid([1.0; 3]).unwrap());
    let mesh = Geometry::from(procedural::ico_sphere(1.0, 2).unwrap());
    let still = Motion::Still(Pose::IDENTITY);
    for shapes in [[&primitive, &primitive], [&mesh, &mesh], [&mesh, &primitive], [&primitive, &mesh]] {
        let away = Motion::between(&at(50.0, 0.0, 0.0), &at(1e16, 0.0, 0.0));
        for motions in [[&away, &still], [&still, &away]] {
            let found = sweep(shapes, motions, &SweepOptions::DEFAULT);
            assert!(found.impact.is_none() && found.free_until == 1.0, "{found:?}");
        }
        let through = Motion::between(&at(-50.0, 0.0, 0.0), &at(1e16, 0.0, 0.0));
        let impact = sweep(shapes, [&through, &still], &SweepOptions::DEFAULT).impact.unwrap();
        assert!(impact.time <= 48.1 / 1e16 && impact.proved, "{impact:?}");
        let aside = Motion::between(&at(-50.0, 3.0, 0.0), &at(1e16, 3.0, 0.0));
        let found = sweep(shapes, [&aside, &still], &SweepOptions::DEFAULT);
        assert!(found.impact.is_none() && found.free_until == 1.0, "{found:?}");
    }
}
