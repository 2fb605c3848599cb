//! Which facets of a level lie side by side.

use super::csr::Csr;
use crate::num::parallel;

/// Facets around a vertex, at most, that are all neighbours of each other. Around more of them only those
/// that share a side are, and of those at most half as many on either hand: lists stay short on fans of any
/// size.
const MOST_AROUND: usize = 32;

/// For each triangle the others that share a vertex with it, ascending.
pub(super) fn neighbours(triangles: &[[u32; 3]], vertices: usize) -> Csr {
    let around = Csr::by_owner(triangles.as_flattened(), vertices).map(|corner| corner / 3);
    let along_sides = along_crowded_sides(triangles, &around);
    let lists = parallel::map(triangles.len(), |t| {
        let short = triangles[t].iter().map(|&v| around.of(v)).filter(|all| all.len() <= MOST_AROUND);
        let mut list: Vec<u32> = short.flatten().copied().collect();
        let from = along_sides.partition_point(|pair| pair[0] < t as u32);
        list.extend(along_sides[from..].iter().take_while(|pair| pair[0] == t as u32).map(|pair| pair[1]));
        list.sort_unstable();
        list.dedup();
        list.retain(|&other| other != t as u32);
        list
    });
    Csr::from_lists(&lists)
}

/// Pairs of triangles that share a side with an end that more than [`MOST_AROUND`] triangles have, ascending.
fn along_crowded_sides(triangles: &[[u32; 3]], around: &Csr) -> Vec<[u32; 2]> {
    let is_crowded = |v: u32| around.of(v).len() > MOST_AROUND;
    let mut sides: Vec<[u32; 3]> = Vec::new();
    for (corners, t) in triangles.iter().zip(0..) {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            if is_crowded(a) || is_crowded(b) {
                sides.push([a.min(b), a.max(b), t]);
            }
        }
    }
    sides.sort_unstable();
    let mut pairs = Vec::new();
    for uses in sides.chunk_by(|s, t| s[..2] == t[..2]) {
        for (k, side) in uses.iter().enumerate() {
            for other in uses.iter().skip(k + 1).take(MOST_AROUND / 2) {
                pairs.extend([[side[2], other[2]], [other[2], side[2]]]);
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;

    #[test]
    fn neighbours_are_those_of_trying_all_pairs() {
        let mesh = procedural::torus(2.0, 0.7, 9, 7).unwrap();
        let found = neighbours(mesh.triangles(), mesh.vertices().len());
        for (t, corners) in mesh.triangles().iter().enumerate() {
            let shares = |other: &[u32; 3]| other.iter().any(|v| corners.contains(v));
            let want: Vec<u32> = (0..)
                .zip(mesh.triangles())
                .filter(|(o, c)| *o != t as u32 && shares(c))
                .map(|(o, _)| o)
                .collect();
            assert_eq!(found.of(t as u32), want);
        }
    }

    #[test]
    fn large_fans_have_short_lists_and_stay_connected() {
        // A pole with 5,000 triangles, and one side that 500 triangles share.
        let mut triangles: Vec<[u32; 3]> = (0..5000).map(|k| [0, 1 + k, 1 + (k + 1) % 5000]).collect();
        triangles.extend((0..500).map(|k| [0, 6000, 6001 + k]));
        let found = neighbours(&triangles, 7000);
        let mut reached = vec![false; 5500];
        for start in [0_u32, 5000] {
            let mut stack = vec![start];
            while let Some(t) = stack.pop() {
                if !std::mem::replace(&mut reached[t as usize], true) {
                    assert!(found.of(t).len() <= 2 * MOST_AROUND);
                    stack.extend(found.of(t));
                }
            }
        }
        assert!(reached.iter().all(|&r| r));
    }
}
