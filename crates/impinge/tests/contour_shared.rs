//! The contours of the shared pairs: every exactly intersecting pair of triangles is in one closed loop.

mod common;

use std::path::Path;

use impinge::{Shape, contour};

/// Two placed meshes and the exact set of their intersecting triangle pairs.
struct Pair {
    bodies: [Shape; 2],
    meeting: Vec<[u32; 2]>,
}

/// Little endian: `PAIR`, five counts, then vertices (f64) and triangles of a and of b, then the pairs.
fn read(path: &Path) -> Pair {
    let bytes = std::fs::read(path).unwrap();
    let mut rest = &bytes[4..];
    let mut word = || {
        let (head, tail) = rest.split_first_chunk::<4>().unwrap();
        rest = tail;
        u32::from_le_bytes(*head)
    };
    let [va, fa, vb, fb, pairs] = [word(), word(), word(), word(), word()];
    let mut body = |vertices: u32, triangles: u32| {
        let mut number = || {
            let [low, high] = [word(), word()];
            f64::from_bits(u64::from(high) << 32 | u64::from(low))
        };
        let points = (0..vertices).map(|_| [number(), number(), number()]).collect();
        let corners = (0..triangles).map(|_| [word(), word(), word()]).collect();
        Shape::mesh(points, corners).unwrap()
    };
    let bodies = [body(va, fa), body(vb, fb)];
    Pair { bodies, meeting: (0..pairs).map(|_| [word(), word()]).collect() }
}

#[test]
fn loops_are_closed_and_hold_every_meeting_pair() {
    let Some(folder) = common::shared("data/pairs") else { return };
    let [mut crossing, mut loops] = [0; 2];
    for k in 0..20 {
        let Pair { bodies: [a, b], meeting } = read(&folder.join(format!("pair_{k:02}.bin")));
        let curves = contour(&a, &b).unwrap();
        let mut pairs: Vec<[u32; 2]> = curves.iter().flat_map(|curve| curve.pairs.clone()).collect();
        pairs.sort_unstable();
        assert_eq!(pairs, meeting, "pair {k}");
        assert!(curves.iter().all(|curve| curve.closed), "pair {k}");
        crossing += usize::from(!curves.is_empty());
        loops += curves.len();
    }
    assert!(crossing == 12 && loops > 20, "{crossing} crossing, {loops} loops");
}
