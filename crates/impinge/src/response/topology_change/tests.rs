use std::f64::consts::PI;

use glam::{DVec2, DVec3};

use super::*;
use crate::broad::neighbours::Technique;
use crate::shape::mass::Mass;
use crate::shape::procedural;

fn changed(mesh: &Mesh, distance: f64) -> TopologyChange {
    let found = change_topology(mesh, distance, &mut *Technique::Grid.start()).unwrap();
    assert_eq!(fault(&found.mesh), None);
    for (v, source) in found.source.iter().enumerate() {
        if let Some(source) = source {
            assert_eq!(found.mesh.vertices()[v], mesh.vertices()[*source as usize]);
        }
    }
    found
}

/// Components, genus of all together, and volume.
fn measures(mesh: &Mesh) -> (usize, i64, f64) {
    let topology = Topology::of(mesh);
    let parts = topology.components().len();
    (parts, parts as i64 - topology.euler() / 2, Mass::of(mesh, &topology).volume)
}

fn moved(mesh: &Mesh, to: impl Fn(DVec3) -> DVec3) -> Mesh {
    Mesh::from_points(mesh.vertices().iter().map(|p| to(*p)).collect(), mesh.triangles().to_vec()).unwrap()
}

fn together<'m>(meshes: impl IntoIterator<Item = &'m Mesh>) -> Mesh {
    procedural::join(meshes).unwrap()
}

#[test]
fn two_spheres_merge_into_one() {
    let ball = procedural::ico_sphere(1.0, 3).unwrap();
    let (_, _, volume) = measures(&ball);
    let placed = |x: f64| moved(&ball, |p| p + DVec3::X * x);
    let mut surface = together([&placed(-1.2), &placed(1.2)]);
    let (mut approach, mut pressed) = (0, 0);
    while pressed < 8 {
        let found = changed(&surface, 0.15);
        let (parts, genus, whole) = measures(&found.mesh);
        if pressed == 0 && !found.events.is_empty() {
            let at_middle =
                |event: &SurfaceEvent| matches!(event, SurfaceEvent::Merged(at) if at.length() < 0.1);
            assert!(found.events.len() == 1 && at_middle(&found.events[0]), "{:?}", found.events);
            // The bridge is a tube of the width of an edge or two over a gap of less than one.
            assert!((whole / (2.0 * volume) - 1.0).abs() < 0.005, "{whole} of {}", 2.0 * volume);
            pressed = 1;
        }
        assert_eq!(
            (parts, genus),
            (if pressed > 0 { 1 } else { 2 }, 0),
            "{approach}, {pressed}: {:?}",
            found.events
        );
        assert!((whole / (2.0 * volume) - 1.0).abs() < 0.1, "{approach}, {pressed}: {whole}");
        // Each as a whole, then one into the other.
        let way = |x: f64| if pressed > 0 { (x / 0.3).tanh() } else { x.signum() };
        surface = moved(&found.mesh, |p| p - DVec3::X * 0.02 * way(p.x));
        approach += u32::from(pressed == 0);
        pressed += u32::from(pressed > 0);
        assert!(approach < 20);
    }
    assert!(approach > 2);
}

/// Two bells with a neck between them.
fn dumbbell() -> Mesh {
    let at = |k: u32| {
        let s = f64::from(k) / 44.0;
        let z = -1.5 * (PI * s).cos();
        let r = (PI * s).sin() * (1.0 - 0.6 * (-(z / 0.4).powi(2)).exp());
        DVec2::new(if k == 0 || k == 44 { 0.0 } else { r }, z)
    };
    procedural::lathe(&(0..=44).map(at).collect::<Vec<_>>(), 24).unwrap()
}

#[test]
fn a_neck_that_shrinks_splits_the_body() {
    let mut surface = dumbbell();
    let (parts, genus, whole) = measures(&surface);
    assert_eq!((parts, genus), (1, 0));
    assert!(changed(&surface, 0.1).events.is_empty());
    let mut split = None;
    for step in 0..60 {
        surface = moved(&surface, |p| {
            let narrow = 1.0 - 0.05 * (-(p.z / 0.3).powi(2)).exp();
            DVec3::new(p.x * narrow, p.y * narrow, p.z)
        });
        let before = measures(&surface).2;
        let found = changed(&surface, 0.1);
        surface = found.mesh;
        if !found.events.is_empty() {
            assert!(
                matches!(found.events[..], [SurfaceEvent::Split(at)] if at.z.abs() < 0.2),
                "{:?}",
                found.events
            );
            let after = measures(&surface);
            assert_eq!((after.0, after.1), (2, 0));
            // What the neck held is lost, and nothing else.
            assert!(after.2 < before && after.2 > 0.97 * before, "{} of {before}", after.2);
            split = Some(step);
            break;
        }
    }
    assert!(split.is_some_and(|step| step > 5), "{split:?}");
    let (_, _, left) = measures(&surface);
    assert!(left > 0.7 * whole && left < whole);
}

#[test]
fn a_bent_tube_whose_ends_meet_becomes_a_ring() {
    let arc = |angle: f64| {
        let at = |k: u32| DVec2::from_angle(angle * f64::from(k) / 80.0).extend(0.0);
        procedural::tube(&(0..=80).map(at).collect::<Vec<_>>(), 0.25, 16, procedural::Ends::Capped).unwrap()
    };
    let mut joined = None;
    for step in 0..40 {
        let angle = 2.0 * PI - 0.5 + 0.012 * f64::from(step);
        let tube = arc(angle);
        let before = measures(&tube);
        assert_eq!((before.0, before.1), (1, 0));
        let found = changed(&tube, 0.15);
        if !found.events.is_empty() {
            let (parts, genus, volume) = measures(&found.mesh);
            assert_eq!((parts, genus), (1, 1), "{:?}", found.events);
            assert!(volume > before.2 && volume < 1.05 * before.2, "{volume} of {}", before.2);
            joined = Some(angle);
            break;
        }
    }
    assert!(joined.is_some_and(|angle| angle < 2.0 * PI), "{joined:?}");
}

/// Blobs at random places, some of which overlap.
#[test]
fn whatever_collides_the_surface_stays_sound() {
    let mut seen = [0; 4];
    let mut untouched = 0;
    for seed in 0..60 {
        let count = 2 + seed as usize % 3;
        let spread = 0.5 + 0.3 * (seed % 4) as f64;
        let places = procedural::positions(count, -DVec3::splat(spread), DVec3::splat(spread), seed);
        let blobs: Vec<Mesh> = (0..)
            .zip(places)
            .map(|(k, at)| moved(&procedural::blob(0.6, 0.25, 2, 7 * seed + k).unwrap(), |p| p + at))
            .collect();
        let surface = together(&blobs);
        let distance = 0.08 + 0.04 * (seed % 3) as f64;
        let found = changed(&surface, distance);
        let mut euler = Topology::of(&surface).euler();
        for event in &found.events {
            let (kind, change) = match event {
                SurfaceEvent::Merged(_) => (0, -2),
                SurfaceEvent::Split(_) => (1, 2),
                SurfaceEvent::Closed(_) => (2, 2),
                SurfaceEvent::Widened(_) => (3, 0),
            };
            seen[kind] += 1;
            euler += change;
        }
        untouched += usize::from(found.events.is_empty());
        assert_eq!(Topology::of(&found.mesh).euler(), euler, "seed {seed}: {:?}", found.events);
        let (_, _, volume) = measures(&found.mesh);
        assert!(volume > 0.0 && volume < measures(&surface).2 * 1.1, "seed {seed}: {volume}");
    }
    assert!(seen[0] >= 20 && (1..=40).contains(&untouched), "{seen:?}, {untouched} untouched");
}

#[test]
fn what_is_no_closed_surface_is_refused() {
    let sheet = procedural::sheet([1.0, 1.0], [4, 4]).unwrap();
    let refused = |mesh: &Mesh, distance: f64| {
        change_topology(mesh, distance, &mut *Technique::Brute.start()).unwrap_err().to_string()
    };
    assert!(refused(&sheet, 0.1).contains("edges of one triangle"));
    let ball = procedural::ico_sphere(1.0, 1).unwrap();
    for distance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(&ball, distance).contains("distance"));
    }
}
