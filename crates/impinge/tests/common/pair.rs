//! The shared pairs of closed meshes with the triangle pairs that meet.
#![allow(dead_code, reason = "not every test file reads pairs, nor all of a pair")]

use std::path::Path;

use impinge::Shape;

/// Two placed meshes and the exact set of their intersecting triangle pairs.
pub struct Pair {
    pub bodies: [Shape; 2],
    pub meeting: Vec<[u32; 2]>,
}

/// Little endian: `PAIR`, five counts, then vertices (f64) and triangles of a and of b, then the pairs.
pub fn pair(path: &Path) -> Pair {
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
