//! Persistent contact ids of bodies that slide and roll over rough ground, against a slow matcher: of all pairs of old
//! and new contacts the nearest first.

use std::collections::{BTreeSet, HashSet};

use glam::{DQuat, DVec3};
use impinge::scene::{Body, Contacts, Options, Scene};
use impinge::{Budget, Contact, Memory, Pose, Query, Shape, procedural};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

const FRAMES: u32 = 1000;

/// How far a contact may go on either body in a frame to be the same (a length): some frames' way.
const REACH: f64 = 0.03;

/// One contact of the frame before: its id, its place on both bodies, its normal.
struct Old {
    id: u64,
    local: [DVec3; 2],
    normal: DVec3,
}

fn ground(dice: &mut Pcg64) -> Shape {
    let n = 30_u32;
    let height = |dice: &mut Pcg64| 0.03 * dice.random_range(-1.0..1.0);
    let vertex = |k: u32, z: f64| [0.4 * f64::from(k / n), 0.4 * f64::from(k % n), z];
    let vertices = (0..n * n).map(|k| vertex(k, height(dice))).collect();
    let cells = (0..(n - 1) * (n - 1)).map(|k| (k / (n - 1)) * n + k % (n - 1));
    let triangles = cells.flat_map(|v| [[v, v + n, v + n + 1], [v, v + n + 1, v + 1]]).collect();
    Shape::mesh(vertices, triangles).unwrap()
}

#[test]
fn contacts_that_persist_keep_their_ids() {
    let dice = &mut Pcg64::seed_from_u64(9);
    let options = Options { margin: 0.005, contacts: Contacts::Manifold, ..Options::default() };
    let mut scene = Scene::with_options(options).unwrap();
    let ground = scene.add(Body::fixed(ground(dice), Pose::IDENTITY));
    let points: Vec<DVec3> = (0..24)
        .map(|_| {
            DVec3::new(
                dice.random_range(-1.0..1.0),
                dice.random_range(-1.0..1.0),
                dice.random_range(-1.0..1.0),
            )
        })
        .map(|p| p.normalize() * 0.4)
        .collect();
    let shapes = [
        Shape::cuboid([0.5, 0.4, 0.3]).unwrap(),
        Shape::sphere(0.4).unwrap(),
        Shape::capsule(0.3, 0.4).unwrap(),
        Shape::hull(points).unwrap(),
    ];
    let mut heights = [0.3, 0.4, 0.3, 0.4];
    let pose = |k: usize, frame: u32, height: f64| {
        let way = 0.006 * f64::from(frame);
        let at = DVec3::new(2.0 + way, 2.0 + 2.4 * k as f64 + 0.3 * (0.01 * f64::from(frame)).sin(), height);
        // The box slides, the ball and the capsule roll, the hull is dragged and turned.
        let turn = match k {
            0 => DQuat::from_rotation_z(0.002 * f64::from(frame)),
            1 => DQuat::from_rotation_y(way / 0.4),
            2 => DQuat::from_rotation_y(way / 0.3) * DQuat::from_rotation_x(0.5 * std::f64::consts::PI),
            _ => DQuat::from_rotation_z(0.003 * f64::from(frame)),
        };
        Pose::from_rotation(at, turn).unwrap()
    };
    let bodies: Vec<_> =
        (0..4).map(|k| scene.add(Body::moving(shapes[k].clone(), pose(k, 0, heights[k])))).collect();
    let mut old: Vec<Vec<Old>> = (0..4).map(|_| Vec::new()).collect();
    let (mut gone, mut before): (HashSet<u64>, HashSet<u64>) = Default::default();
    let (mut persist, mut kept) = (0, 0);
    for frame in 0..FRAMES {
        for (k, &body) in bodies.iter().enumerate() {
            scene.place(body, pose(k, frame, heights[k]));
        }
        let told = scene.step(&mut Budget::UNLIMITED.clone());
        let mut now = HashSet::new();
        for (k, body) in bodies.iter().enumerate() {
            let mut found: Vec<Contact> = Vec::new();
            for contact in told.contacts.iter().filter(|c| c.bodies.contains(body)) {
                assert!(contact.bodies.contains(&ground));
                found.extend(told.manifold(contact));
            }
            let place = pose(k, frame, heights[k]).inverse();
            let new: Vec<Old> = found
                .iter()
                .map(|c| {
                    assert!(now.insert(c.id) && !gone.contains(&c.id), "frame {frame}: id {} twice", c.id);
                    Old { id: c.id, local: [c.points[0], place.apply(c.points[1])], normal: c.normal }
                })
                .collect();
            let (same, all) = compare(&old[k], &new);
            (kept, persist) = (kept + same, persist + all);
            let deepest = found.iter().map(|c| c.depth).fold(-0.005, f64::max);
            heights[k] += (deepest - 0.01).clamp(-0.01, 0.01);
            old[k] = new;
        }
        gone.extend(before.difference(&now));
        before = now;
    }
    println!("{kept} of {persist} contacts that persist keep their id");
    assert!(persist > 4 * FRAMES as usize, "{persist} contacts persist");
    assert!(kept * 100 >= persist * 95, "{kept} of {persist} keep their id");
}

/// How many of the contacts that persist, matched nearest first, have the same id; and how many persist.
fn compare(old: &[Old], new: &[Old]) -> (usize, usize) {
    let way = |p: &Old, q: &Old| p.local[0].distance(q.local[0]).min(p.local[1].distance(q.local[1]));
    let mut pairs: Vec<(f64, usize, usize)> = (0..old.len())
        .flat_map(|i| (0..new.len()).map(move |j| (i, j)))
        .map(|(i, j)| (way(&old[i], &new[j]), i, j))
        .filter(|&(way, i, j)| way <= REACH && old[i].normal.dot(new[j].normal) > 0.9)
        .collect();
    pairs.sort_by(|x, y| x.0.total_cmp(&y.0));
    let (mut used, mut taken) = (vec![false; old.len()], vec![false; new.len()]);
    let (mut same, mut all) = (0, 0);
    for (_, i, j) in pairs {
        if !used[i] && !taken[j] {
            (used[i], taken[j]) = (true, true);
            all += 1;
            same += usize::from(old[i].id == new[j].id);
        }
    }
    (same, all)
}

/// A search that was cut short and then dropped takes no ids with it: those of other contacts are new.
#[test]
fn ids_are_not_given_again_after_a_search_was_dropped() {
    let ground = Shape::from(procedural::sheet([40.0, 40.0], [60, 60]).unwrap());
    let ring = Shape::from(procedural::torus(1.0, 0.3, 24, 12).unwrap());
    // Upside down at the end, so that none of the old points touch.
    let turn = |x: f64| if x < 9.0 { [0.0, 0.0, 0.0, 1.0] } else { [1.0, 0.0, 0.0, 0.0] };
    let at = |x: f64| ring.at(Pose::new([x, 0.0, 0.29], turn(x)).unwrap());
    let mut memory = Memory::default();
    let mut ids = |x: f64, budget: Budget| {
        let mut query = Query { budget, memory: Some(&mut memory), ..Query::default() };
        let found = query.contacts(&ground, at(x), 0.05).unwrap();
        found.value.map(|all| all.iter().map(|contact| contact.id).collect::<BTreeSet<u64>>())
    };
    let first = ids(0.0, Budget::unlimited()).unwrap();
    assert!(!first.is_empty());
    assert_eq!(ids(5.0, Budget::units(40)), None, "it is cut short");
    assert_eq!(ids(7.0, Budget::units(40)), None, "and dropped");
    let others = ids(10.0, Budget::unlimited()).unwrap();
    assert!(!others.is_empty() && others.is_disjoint(&first), "{first:?} {others:?}");
}
