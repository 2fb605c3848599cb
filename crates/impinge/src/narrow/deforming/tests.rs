//! Trees against brute force.

use super::*;
use crate::num::random::unit;
use crate::num::tolerance::CONTACT_TIME;

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

fn places(contacts: &[MovingContact]) -> Vec<(FeaturePairKind, bool, [u32; 4])> {
    contacts.iter().map(MovingContact::place).collect()
}

/// A sheet whose vertices tremble, folded over by its motion.
fn folding_sheet(cells: u32) -> Deforming {
    let sheet = crate::shape::procedural::sheet([2.0, 2.0], [cells, cells]).unwrap();
    let tremble = |k: usize, axis: u64| 0.02 * unit(5, 3 * k as u64 + axis);
    let state = |fold: f64| {
        let points = sheet.vertices().iter().enumerate().map(|(k, p)| {
            let turned = if p.x > 0.0 { DVec3::new(p.x * fold.cos(), p.y, p.x * fold.sin()) } else { *p };
            (turned + DVec3::new(tremble(k, 0), tremble(k, 1), tremble(k, 2))).to_array()
        });
        Mesh::new(points.collect(), sheet.triangles().to_vec()).unwrap()
    };
    Deforming::new(state(2.5), state(3.3)).unwrap()
}

#[test]
fn threads_and_budgets_change_nothing() {
    let mesh = folding_sheet(24);
    let (all, first) = (self_contacts(&mesh), first_self_contact(&mesh));
    assert!(all.len() > 50, "{} contacts", all.len());
    let at_first = first.unwrap().time;
    assert_eq!(all.iter().map(|c| c.time).min_by(f64::total_cmp), Some(at_first));
    assert!(free_step(first.as_ref()) < at_first);
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| self_contacts(&mesh)), all);
        assert_eq!(pool.install(|| first_self_contact(&mesh)), first);
    }
    for want in [Want::All, Want::First] {
        let mut search = DeformingSearch::of_one(&mesh, want);
        let mut calls = 0;
        let found = loop {
            let found = search.advance(&mut Budget::units(5000));
            calls += 1;
            if found.outcome.finish == crate::Finish::Complete {
                break found;
            }
        };
        assert!(calls > 3, "{calls} calls");
        assert_eq!(found.contacts, if want == Want::All { all.clone() } else { vec![first.unwrap()] });
    }
}

#[test]
fn a_step_goes_on_where_the_last_one_ended() {
    let mut mesh = folding_sheet(12);
    let (start, end) = (mesh.start().clone(), mesh.end().clone());
    let there = self_contacts(&mesh);
    mesh.next_step(start.clone()).unwrap();
    assert_eq!(mesh.start(), &end);
    assert_eq!(places(&self_contacts(&mesh)), places(&there), "the way back meets the same");
    let other = crate::shape::procedural::sheet([2.0, 2.0], [3, 3]).unwrap();
    assert!(mesh.next_step(other).is_err());
    assert_eq!(mesh.end(), &start, "a refused step changes nothing");
}

#[test]
fn whole_meshes_keep_a_separation() {
    let mut hits = 0;
    for seed in 0..40 {
        let (mesh, keep) = (soup(seed, 6, 0.2), 0.03);
        let near = |want| {
            DeformingSearch::of_one(&mesh, want).within(keep).advance(&mut Budget::UNLIMITED.clone()).contacts
        };
        let (all, first) = (near(Want::All), near(Want::First));
        // Every contact is also near, and not later.
        let touching = self_contacts(&mesh);
        for contact in &touching {
            let same = all.iter().find(|near| near.place() == contact.place());
            assert!(same.is_some_and(|near| near.time <= contact.time), "seed {seed}: {contact:?}");
        }
        assert!(all.len() >= touching.len());
        let earliest = all.iter().map(|c| c.time).min_by(f64::total_cmp);
        assert_eq!(first.first().map(|c| c.time), earliest, "seed {seed}");
        assert_eq!(places(&all), places(&brute::self_contacts_within(&mesh, keep)), "seed {seed}");
        hits += usize::from(all.len() > touching.len());
    }
    assert!((8..=38).contains(&hits), "{hits} of 40");
}

/// A wavy sheet folded onto itself by a motion along its rows, so that every row collapses into a point on the way: what
/// the kernels tell by comparing coordinates is what exact numbers tell.
#[test]
fn issue_015_an_exact_fold() {
    let n = 6_u32;
    let last = f64::from(n - 1);
    let state = |folded: bool| {
        let point = |k: u32| {
            let (x, y) = (f64::from(k % n) / last - 0.5, f64::from(k / n) / last);
            let z = 0.02 * (9.0 * y).sin();
            if folded && x > 0.02 { [0.04 - x, y, z - 0.03] } else { [x, y, z] }
        };
        let squares = (0..n * n).filter(|k| k % n < n - 1 && k / n < n - 1);
        let triangles = squares.flat_map(|k| [[k, k + 1, k + n + 1], [k, k + n + 1, k + n]]).collect();
        Mesh::new((0..n * n).map(point).collect(), triangles).unwrap()
    };
    let mesh = Deforming::new(state(false), state(true)).unwrap();
    let (all, exact) = (self_contacts(&mesh), brute::self_contacts(&mesh));
    assert_eq!(places(&all), places(&exact));
    assert!(all.len() > 100, "{}", all.len());
    for (found, exact) in all.iter().zip(&exact) {
        assert!((found.time - exact.time).abs() <= CONTACT_TIME, "{found:?} {exact:?}");
    }
    let earliest = all.iter().map(|c| c.time).min_by(f64::total_cmp);
    assert_eq!(first_self_contact(&mesh).map(|c| c.time), earliest);
}
