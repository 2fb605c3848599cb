//! Trees against brute force.

use super::*;
use crate::num::random::unit;

/// Vertices anywhere in a box, moving anywhere by up to `speed`; every triangle has its own three.
fn soup(seed: u64, triangles: u32, speed: f64) -> Deforming {
    let vertex = |k: u64, state: u64| -> [f64; 3] {
        [0, 1, 2].map(|axis| {
            let at = |n: u64| unit(seed, 16 * k + n + axis);
            let home = unit(seed, 16 * (k - k % 3) + 12 + axis);
            home + 0.4 * at(0) + state as f64 * speed * (at(4) - 0.5)
        })
    };
    let [t0, t1] = [0, 1].map(|state| {
        let points = (0..3 * u64::from(triangles)).map(|k| vertex(k, state)).collect();
        Mesh::new(points, (0..triangles).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect()).unwrap()
    });
    Deforming::new(t0, t1).unwrap()
}

#[test]
fn trees_find_what_brute_force_finds() {
    let mut hits = 0;
    for seed in 0..60 {
        let (mesh, other) = (soup(seed, 9, 0.2), soup(seed + 1000, 7, 0.1));
        let all = self_contacts(&mesh);
        let twin = brute::self_contacts(&mesh);
        assert_eq!(places(&all), places(&twin), "seed {seed}");
        let earliest = |all: &[MovingContact]| all.iter().map(|c| c.time).min_by(f64::total_cmp);
        assert_eq!(first_self_contact(&mesh).map(|c| c.time), earliest(&all), "seed {seed}");
        hits += usize::from(!all.is_empty());
        let between = contacts(&mesh, &other);
        assert_eq!(places(&between), places(&brute::contacts(&mesh, &other)), "seed {seed}");
        assert_eq!(first_contact(&mesh, &other).map(|c| c.time), earliest(&between), "seed {seed}");
    }
    assert!((12..=55).contains(&hits), "{hits} of 60");
}

fn places(contacts: &[MovingContact]) -> Vec<(Kind, bool, [u32; 4])> {
    contacts.iter().map(MovingContact::place).collect()
}
