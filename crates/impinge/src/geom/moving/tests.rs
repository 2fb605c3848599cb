//! Floats against exact arithmetic, exact arithmetic against samples in time, on random and degenerate motions.

use super::*;
use crate::geom::{point_triangle, segment_segment};
use crate::num::random::unit;

const KINDS: [FeaturePairKind; 2] = [FeaturePairKind::VertexFace, FeaturePairKind::EdgeEdge];

/// Points anywhere in the unit cube, moving by up to `speed` each way, the first one also past the others.
fn random(seed: u64, case: u64, speed: f64) -> [[DVec3; 4]; 2] {
    let at = |n: u64| {
        DVec3::new(unit(seed, 64 * case + n), unit(seed, 64 * case + n + 1), unit(seed, 64 * case + n + 2))
    };
    let t0 = [at(0), at(3), at(6), at(9)];
    let past = (t0[1] + t0[2] + t0[3]) * 0.6 - t0[0] * 1.8;
    let t1 = std::array::from_fn(|i| {
        let way = (at(12 + 3 * i as u64) - DVec3::splat(0.5)) * speed;
        t0[i] + if i == 0 { way + past } else { way }
    });
    [t0, t1]
}

/// Coordinates on a grid of seven steps: most things are coplanar, parallel, equal or still somewhere.
fn gridded(seed: u64, case: u64) -> [[DVec3; 4]; 2] {
    let [t0, t1] = random(seed, case, 1.0);
    let step = |p: DVec3| (p * 6.0).floor() - DVec3::splat(3.0);
    let still = case.is_multiple_of(3);
    let t0 = t0.map(step);
    let t1 = t1.map(step);
    let flat = |p: DVec3| if case % 4 == 1 { DVec3::new(p.x, p.y, 1.0) } else { p };
    let t1 = if still { [t1[0], t0[1], t0[2], t0[3]] } else { t1 };
    [t0.map(flat), t1.map(flat)]
}

fn at(ends: &[[DVec3; 4]; 2], t: f64) -> [DVec3; 4] {
    std::array::from_fn(|i| ends[0][i] * (1.0 - t) + ends[1][i] * t)
}

fn distance(kind: FeaturePairKind, &[a, b, c, d]: &[DVec3; 4]) -> f64 {
    match kind {
        FeaturePairKind::VertexFace => point_triangle::closest_point(a, &[b, c, d]).distance_sq.sqrt(),
        FeaturePairKind::EdgeEdge => segment_segment::closest_points(&[a, b], &[c, d]).distance_sq.sqrt(),
    }
}

/// The fast answer is the exact one, also with the features' points in another order and exchanged.
fn check(kind: FeaturePairKind, ends: &[[DVec3; 4]; 2], what: &str) -> Option<f64> {
    let [t0, t1] = ends;
    let (fast, exact) = (first_contact(kind, t0, t1), first_contact_exact(kind, t0, t1));
    assert_eq!(fast.is_some(), exact.is_some(), "{what} {kind:?}: {ends:?}");
    if let (Some(fast), Some(exact)) = (fast, exact) {
        assert!(
            (fast - exact).abs() <= CONTACT_TIME && (0.0..=1.0).contains(&fast),
            "{what}: {fast} {exact}"
        );
    }
    let turned = |[a, b, c, d]: [DVec3; 4]| match kind {
        FeaturePairKind::VertexFace => [a, c, d, b],
        FeaturePairKind::EdgeEdge => [d, c, b, a],
    };
    let again = first_contact(kind, &turned(*t0), &turned(*t1));
    assert_eq!(again.is_some(), fast.is_some(), "{what} {kind:?} turned: {ends:?}");
    fast
}

#[test]
fn floats_agree_with_exact_arithmetic() {
    for kind in KINDS {
        let hits = (0..600).filter(|&case| check(kind, &random(1, case, 1.0), "random").is_some()).count();
        assert!((80..=480).contains(&hits), "{kind:?}: {hits} of 600");
    }
}

#[test]
fn degenerate_motions_agree_with_samples() {
    for kind in KINDS {
        let mut hits = 0;
        for case in 0..1500 {
            let ends = gridded(2, case);
            let found = check(kind, &ends, "gridded");
            hits += usize::from(found.is_some());
            if let Some(time) = found {
                let gap = distance(kind, &at(&ends, (time + CONTACT_TIME).min(1.0)));
                assert!(gap < 1e-7, "{kind:?} {ends:?}: {gap} apart at {time}");
            }
            // Sixteenths of a step of whole numbers are exact, and so is a distance of zero on the grid.
            let touches =
                (0..=16).map(|k| f64::from(k) / 16.0).find(|&t| distance(kind, &at(&ends, t)) == 0.0);
            if let Some(t) = touches {
                assert!(found.is_some_and(|time| time <= t), "{kind:?} {ends:?}: at {t}, found {found:?}");
            }
        }
        assert!((150..=1200).contains(&hits), "{kind:?}: {hits} of 1500");
    }
}

#[test]
fn no_size_breaks_the_answer() {
    for scale in [1e-300_f64, 1e-150, 1e-6, 1e6, 1e60] {
        for kind in KINDS {
            for case in 0..60 {
                let plain = random(3, case, 1.0);
                // Multiplied by a power of two nothing is rounded, and everything stays what it is.
                let factor = 2.0_f64.powi(scale.log2() as i32);
                let scaled = plain.map(|points| points.map(|p| p * factor));
                let (one, other) = (check(kind, &plain, "plain"), check(kind, &scaled, "scaled"));
                assert_eq!(one.is_some(), other.is_some(), "{scale} {kind:?} {case}");
            }
        }
    }
}

#[test]
fn far_from_the_origin_and_nearly_touching() {
    let (far, one) = (DVec3::new(1e6, -2e5, 3e4), 1.0 + f64::EPSILON);
    for (height, hits) in [(one, false), (1.0, true)] {
        // A vertex comes down to the height of a static face and a little farther or not.
        let face = [DVec3::new(0.0, 0.0, 1.0), DVec3::new(1.0, 0.0, 1.0), DVec3::new(0.0, 1.0, 1.0)];
        let [p, q] = [2.0, height].map(|z| DVec3::new(0.25, 0.25, z));
        let ends = [[p, face[0], face[1], face[2]], [q, face[0], face[1], face[2]]];
        let found = check(FeaturePairKind::VertexFace, &ends, "nearly");
        assert_eq!(found, hits.then_some(1.0));
        let moved = ends.map(|points| points.map(|p| p + far));
        // Far away both heights are the same double.
        assert!(check(FeaturePairKind::VertexFace, &moved, "far").is_some());
    }
}

#[test]
fn features_without_extent_are_points_and_segments() {
    let [o, x, y] = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let vf = |p: [DVec3; 2], t: [DVec3; 3]| {
        check(FeaturePairKind::VertexFace, &[[p[0], t[0], t[1], t[2]], [p[1], t[0], t[1], t[2]]], "by hand")
    };
    // A face that is a point, a segment; a vertex that stands still, on it and beside it.
    assert_eq!(vf([-x, x], [o, o, o]), Some(0.5));
    assert_eq!(vf([-y, y], [-x, x, o]), Some(0.5));
    assert_eq!(vf([o, o], [-x, x, x]), Some(0.0));
    assert_eq!(vf([y, y], [-x, x, x]), None);
    // In the plane of the face, from outside: through its edge.
    assert_eq!(vf([-x, x], [o - y, o + y, x + x]), Some(0.5));
    let ee = |a: [DVec3; 2], b: [DVec3; 2], by: DVec3| {
        check(
            FeaturePairKind::EdgeEdge,
            &[[a[0], a[1], b[0], b[1]], [a[0] + by, a[1] + by, b[0], b[1]]],
            "by hand",
        )
    };
    // On one line, parallel, an edge without length, both without.
    assert_eq!(ee([x * -3.0, x * -2.0], [o, x], x * 4.0), Some(0.5));
    assert_eq!(ee([o, x], [y, x + y], y * 2.0), Some(0.5));
    assert_eq!(ee([o, o], [y, x + y], y * 2.0), Some(0.5));
    assert_eq!(ee([o, o], [y, y], y * 2.0), Some(0.5));
    assert_eq!(ee([o, x], [y, x + y], x * 2.0), None);
}

#[test]
fn a_minimum_separation_is_kept() {
    let mut hits = 0;
    for case in 0..400 {
        for kind in KINDS {
            let (ends, keep) = (random(4, case, 1.0), 0.05);
            let time = first_within(kind, &ends[0], &ends[1], keep);
            hits += usize::from(time.is_some());
            let free = time.unwrap_or(1.0);
            for k in 0..=200 {
                let t = f64::from(k) / 200.0;
                assert!(t >= free || distance(kind, &at(&ends, t)) > keep, "{kind:?} {case} at {t}");
            }
            if let Some(time) = time {
                let gap = distance(kind, &at(&ends, time));
                assert!(gap <= keep * (1.0 + 2.0 * SEPARATION_SLACK), "{kind:?} {case}: {gap} at {time}");
            }
            let contact = first_contact(kind, &ends[0], &ends[1]);
            assert!(contact.is_none_or(|contact| free <= contact), "{kind:?} {case}");
        }
    }
    assert!((160..=640).contains(&hits), "{hits} of 800");
}

/// Rows of a grid that fold onto each other: coordinates along two axes are shared by rows, along the third they are
/// anything, on a few values so that ends meet ends.
fn folded(case: u64) -> [[DVec3; 4]; 2] {
    let random = |k: u64| unit(23, 64 * case + k);
    let few = |k: u64, count: f64| (random(k) * count).floor();
    let along = (case % 3) as usize;
    let rows: [[[f64; 2]; 2]; 3] = std::array::from_fn(|r| {
        let k = 8 + 4 * r as u64;
        [[few(k, 3.0) + r as f64 * 0.1, random(k + 1)], [few(k + 2, 3.0) + r as f64 * 0.1, random(k + 3)]]
    });
    let row_of: [usize; 4] = std::array::from_fn(|i| few(i as u64, 3.0) as usize);
    [0, 1].map(|end| {
        std::array::from_fn(|i| {
            let k = 24 + 2 * i as u64 + end as u64;
            let x = if case.is_multiple_of(2) { few(k, 5.0) } else { random(k) };
            let [y, z] = rows[row_of[i]][end];
            let mut p = DVec3::ZERO;
            (p[along], p[(along + 1) % 3], p[(along + 2) % 3]) = (x, y, z);
            p
        })
    })
}

#[test]
fn shared_coordinates_are_decided_without_exact_numbers() {
    for kind in KINDS {
        let (mut hits, mut decided) = (0, 0);
        for case in 0..1200 {
            let ends = folded(case);
            let found = check(kind, &ends, "folded");
            hits += usize::from(found.is_some());
            decided += match aligned::first_contact(kind, &ends[0], &ends[1]) {
                filter::Verdict::Doubt => 0,
                filter::Verdict::Free => {
                    assert_eq!(found, None, "{kind:?} {ends:?}");
                    1
                }
                filter::Verdict::Contact(time) => {
                    let exact = first_contact_exact(kind, &ends[0], &ends[1]);
                    assert!(
                        exact.is_some_and(|exact| (exact - time).abs() <= CONTACT_TIME),
                        "{kind:?} {ends:?}: {time} {exact:?}"
                    );
                    1
                }
            };
        }
        assert!((60..=1100).contains(&hits) && decided > 200, "{kind:?}: {hits} hits, {decided} decided");
    }
}
