use glam::DVec3;

use super::*;
use crate::hierarchy::wide::WideTree;
use crate::shape::procedural;
use crate::simd::SimdLevel;

fn trees() -> [WideTree; 2] {
    [
        WideTree::build(&procedural::torus(1.0, 0.3, 40, 20).unwrap()),
        WideTree::build(&procedural::blob(0.5, 0.3, 3, 7).unwrap()),
    ]
}

fn poses() -> Vec<[Pose; 2]> {
    let turn = |q| Pose::new([0.1, -0.2, 0.3], q).unwrap();
    vec![
        [Pose::IDENTITY, Pose::shift([2.0, 0.5, -0.3])],
        [turn([0.1, 0.7, -0.3, 0.5]), turn([0.6, -0.2, 0.3, 0.1])],
        [turn([0.0, 0.0, 0.0, 1.0]), Pose::new([30.0, 2e3, -5.0], [0.2, 0.3, 0.4, 0.5]).unwrap()],
    ]
}

#[test]
fn all_instruction_sets_give_the_same_bits() {
    let [a, b] = trees();
    let mut within = 0;
    for [pose_a, pose_b] in poses() {
        let box_distance = BoxDistance::new(&a, &pose_a, &b, &pose_b);
        for (i, x) in a.nodes().iter().enumerate().step_by(5) {
            let y = &b.nodes()[i * 7 % b.nodes().len()];
            let limit = box_distance.limit(0.5);
            let mut want = [[0.0; WIDTH]; WIDTH];
            let mask = gaps(SimdLevel::PORTABLE, x, y, &box_distance, limit, &mut want);
            within += mask.count_ones();
            for level in SimdLevel::available() {
                let mut got = [[0.0; WIDTH]; WIDTH];
                assert_eq!(gaps(level, x, y, &box_distance, limit, &mut got), mask);
                assert_eq!(got.map(|r| r.map(f32::to_bits)), want.map(|r| r.map(f32::to_bits)));
            }
        }
    }
    assert!(within > 100, "{within}");
}

#[test]
fn a_gap_never_exceeds_the_distance_of_points_in_the_boxes() {
    let [a, b] = trees();
    let world = |tree: &WideTree, pose: &Pose, node: &Node, lane: usize, corner: u8| {
        let (centre, half) = node.lane(lane);
        let at = |k: usize| {
            let sign = if corner >> k & 1 == 1 { 1.0 } else { -1.0 };
            f64::from(centre[k]) + sign * f64::from(half[k])
        };
        pose.apply(tree.frame().centre + DVec3::new(at(0), at(1), at(2)) * tree.frame().unit)
    };
    for [pose_a, pose_b] in poses() {
        let box_distance = BoxDistance::new(&a, &pose_a, &b, &pose_b);
        let mut tightest: f64 = 0.0;
        for (i, x) in a.nodes().iter().enumerate().step_by(9) {
            let y = &b.nodes()[i * 7 % b.nodes().len()];
            let mut out = [[0.0; WIDTH]; WIDTH];
            gaps(SimdLevel::best(), x, y, &box_distance, f32::MAX, &mut out);
            for lane_a in x.used() {
                for lane_b in y.used() {
                    let bound = box_distance.distance(out[lane_a][lane_b]);
                    for corners in 0..64u8 {
                        let p = world(&a, &pose_a, x, lane_a, corners & 7);
                        let q = world(&b, &pose_b, y, lane_b, corners >> 3);
                        assert!(bound <= p.distance(q));
                        tightest = tightest.max(bound / p.distance(q));
                    }
                }
            }
        }
        assert!(tightest > 0.5, "{tightest}");
    }
}
