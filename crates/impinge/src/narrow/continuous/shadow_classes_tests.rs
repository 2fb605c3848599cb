use std::f64::consts::{PI, TAU};

use glam::{DQuat, DVec3};

use crate::model::Model;
use crate::motion::Motion;
use crate::narrow::continuous::mesh_sweep::sweep;
use crate::narrow::exact::collide::{Posed, first_meeting};
use crate::num::tolerance::SWEEP_TOLERANCE;
use crate::shape::Mesh;
use crate::{Counters, Pose};

const AROUND: u32 = 48;
const PITCH: f64 = 0.16;

/// A thread about z: at the angle φ the radius at the height w + PITCH·φ is that of the profile at w.
fn thread(turns: u32, rows: u32, radius: impl Fn(f64) -> f64) -> Mesh {
    let height = TAU * PITCH;
    let corner = |i: u32, k: u32| {
        let angle = TAU * f64::from(i) / f64::from(AROUND);
        let w = height * (f64::from(k) / f64::from(rows) - 0.5);
        [radius(w) * angle.cos(), radius(w) * angle.sin(), w + PITCH * angle]
    };
    let columns = turns * AROUND;
    let vertices =
        (0..=columns).flat_map(|i| (0..=rows).map(move |k| (i, k))).map(|(i, k)| corner(i, k)).collect();
    let at = |i: u32, k: u32| i * (rows + 1) + k;
    let cells = (0..columns).flat_map(|i| (0..rows).map(move |k| (i, k)));
    let triangles = cells
        .flat_map(|(i, k)| {
            let [p, q, r, s] = [at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)];
            [[p, q, r], [p, r, s]]
        })
        .collect();
    Mesh::new(vertices, triangles).unwrap()
}

fn profile(w: f64) -> f64 {
    1.0 + 0.1 * (w / PITCH).cos()
}

fn turned(angle: f64, shift: f64) -> Motion {
    let end = Pose::turned(DVec3::Z * shift, DQuat::from_rotation_z(angle));
    Motion::between(&Pose::IDENTITY, &end)
}

/// The first of many samples at which surfaces meet, bisected.
fn sampled(models: [&Model; 2], motions: [&Motion; 2]) -> Option<f64> {
    let meets = |t: f64| {
        let [a, b] = [0, 1].map(|k| Posed::new(models[k], motions[k].pose(t)));
        first_meeting(a, b).is_some()
    };
    let at = |k: u32| f64::from(k) / 300.0;
    let first = (0..=300).find(|&k| meets(at(k)))?;
    let (mut low, mut high) = (at(first.saturating_sub(1)), at(first));
    while high - low > 1e-12 {
        let middle = 0.5 * (low + high);
        if meets(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

fn cost(work: Counters) -> u64 {
    work.primitive_tests + work.volume_tests / 64
}

#[test]
fn a_nut_turns_on_its_bolt() {
    let open = (PI / f64::from(AROUND)).cos();
    let bolt = thread(4, 12, profile);
    let nut = thread(2, 12, |w| profile(w) / open + 0.01);
    let noisy = |mesh: &Mesh| {
        let vertices = mesh.vertices().iter().map(|v| v.to_array().map(|x| f64::from(x as f32))).collect();
        Model::from(Mesh::new(vertices, mesh.triangles().to_vec()).unwrap())
    };
    let still = Motion::Still(Pose::IDENTITY);
    let turn = turned(2.5, PITCH * 2.5);
    let opposite = [turned(-1.0, -PITCH), turned(1.4, 1.4 * PITCH)];
    let exact = [Model::from(bolt.clone()), Model::from(nut.clone())];
    // Files often hold single precision: shadows then agree to that only.
    let rounded = [noisy(&bolt), noisy(&nut)];
    for models in [&exact, &rounded] {
        for motions in [[&still, &turn], [&turn, &still], [&opposite[0], &opposite[1]]] {
            let found = sweep([&models[0], &models[1]], motions);
            assert_eq!(found.impact, None);
            assert!(cost(found.outcome.work) < 4000, "{:?}", found.outcome.work);
        }
    }
    // A wrong pitch jams, a burr is met where it comes to the other's thread.
    let jammed = turned(2.5, PITCH * 2.2);
    let mut vertices = nut.vertices().to_vec();
    let burr = (AROUND + 7) * 13 + 6;
    let inward = DVec3::new(vertices[burr as usize].x, vertices[burr as usize].y, 0.0) * 0.03;
    vertices[burr as usize] -= inward;
    let burred = Model::from(Mesh::from_points(vertices, nut.triangles().to_vec()).unwrap());
    let slow = turned(0.6, PITCH * 0.4);
    for (model, motion) in [(&exact[1], &jammed), (&burred, &turn), (&burred, &slow), (&exact[1], &slow)] {
        let (models, motions) = ([&exact[0], model], [&still, motion]);
        let found = sweep(models, motions);
        match (sampled(models, motions), found.impact) {
            (Some(truth), Some(hit)) => {
                assert!(hit.time <= truth && truth - hit.time <= SWEEP_TOLERANCE, "{truth} {hit:?}");
            }
            (None, None) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(sampled([&exact[0], &burred], [&still, &turn]).is_some());
}

/// A prism with a polygon of a circle about z, in layers, at a place.
fn wheel(corners: u32, layers: u32, thickness: f64, place: DVec3) -> Mesh {
    let corner = |l: u32, k: u32| {
        let angle = TAU * (f64::from(k) + 0.5) / f64::from(corners);
        place + DVec3::new(angle.cos(), angle.sin(), thickness * (f64::from(l) / f64::from(layers) - 0.5))
    };
    let mut vertices: Vec<DVec3> =
        (0..=layers).flat_map(|l| (0..corners).map(move |k| (l, k))).map(|(l, k)| corner(l, k)).collect();
    let middle = vertices.len() as u32;
    vertices.extend([-0.5, 0.5].map(|z| place + DVec3::Z * thickness * z));
    let cells = (0..layers).flat_map(|l| (0..corners).map(move |k| (l, k)));
    let walls = cells.flat_map(|(l, k)| {
        let j = (k + 1) % corners;
        let [p, q, r, s] = [l * corners + k, l * corners + j, (l + 1) * corners + j, (l + 1) * corners + k];
        [[p, q, r], [p, r, s]]
    });
    let caps = (0..corners).flat_map(|k| {
        let (j, top) = ((k + 1) % corners, layers * corners);
        [[middle, j, k], [middle + 1, top + k, top + j]]
    });
    let triangles = walls.chain(caps).collect();
    Mesh::from_points(vertices, triangles).unwrap()
}

#[test]
fn wheels_on_parallel_axes_pass_each_other() {
    // Across a tilted direction, so that nothing is exact.
    let tilt = DQuat::from_xyzw(0.3, -0.2, 0.5, 0.8).normalize();
    let placed = |mesh: &Mesh| {
        let vertices = mesh.vertices().iter().map(|&v| tilt * v).collect();
        Model::from(Mesh::from_points(vertices, mesh.triangles().to_vec()).unwrap())
    };
    let about = |centre: DVec3, angle: f64| {
        let turn = DQuat::from_axis_angle(tilt * DVec3::Z, angle);
        let centre = tilt * centre;
        Motion::between(&Pose::IDENTITY, &Pose::turned(centre - turn * centre, turn))
    };
    let there = DVec3::X * 2.004;
    let [a, b] = [wheel(40, 8, 0.5, DVec3::ZERO), wheel(40, 7, 0.4, there)];
    let motions = [about(DVec3::ZERO, 0.9), about(there, -0.7)];
    let motions = [&motions[0], &motions[1]];
    let models = [placed(&a), placed(&b)];
    let found = sweep([&models[0], &models[1]], motions);
    assert_eq!(found.impact, None);
    assert!(cost(found.outcome.work) < 20_000, "{:?}", found.outcome.work);
    // A corner that sticks out is met; one in a layer that b does not reach is not.
    for (layer, out, hits) in [(4, 0.05, true), (0, 0.01, false)] {
        let mut vertices = a.vertices().to_vec();
        // It comes round from half a radian before.
        let at = layer * 40 + 36;
        let away = DVec3::new(vertices[at].x, vertices[at].y, 0.0) * out;
        vertices[at] += away;
        let burred = placed(&Mesh::from_points(vertices, a.triangles().to_vec()).unwrap());
        let models = [&burred, &models[1]];
        let (truth, found) = (sampled(models, motions), sweep(models, motions).impact);
        assert_eq!((truth.is_some(), found.is_some()), (hits, hits), "{truth:?} {found:?}");
        if let (Some(truth), Some(hit)) = (truth, found) {
            assert!(hit.time <= truth && truth - hit.time <= SWEEP_TOLERANCE, "{truth} {hit:?}");
        }
    }
}
