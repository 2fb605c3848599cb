//! The contours of the shared pairs: every exactly intersecting pair of triangles is in one closed loop.

use impinge::contour;

use crate::common::{Pair, pair};

#[test]
fn loops_are_closed_and_hold_every_meeting_pair() {
    let Some(folder) = crate::common::shared("data/pairs") else { return };
    let [mut crossing, mut loops] = [0; 2];
    for k in 0..20 {
        let Pair { bodies: [a, b], meeting } = pair(&folder.join(format!("pair_{k:02}.bin")));
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
