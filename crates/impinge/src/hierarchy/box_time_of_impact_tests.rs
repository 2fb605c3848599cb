use glam::DVec3;

use super::*;
use crate::Motion;
use crate::motion::Ball;
use crate::shape::procedural;
use crate::simd::SimdLevel;

fn trees() -> [WideTree; 2] {
    [
        WideTree::build(&procedural::torus(1.0, 0.3, 40, 20).unwrap()),
        WideTree::build(&procedural::blob(0.5, 0.3, 3, 7).unwrap()),
    ]
}

fn motions() -> Vec<[Motion; 2]> {
    let at = |p: [f64; 3], q: [f64; 4]| Pose::new(p, q).unwrap();
    let upright = [0.0, 0.0, 0.0, 1.0];
    vec![
        [
            Motion::Still(Pose::IDENTITY),
            Motion::between(&at([3.0, 0.5, 0.0], upright), &at([-3.0, 0.0, 0.4], upright)),
        ],
        [
            Motion::velocity(
                &at([0.1, -0.2, 0.3], [0.1, 0.7, -0.3, 0.5]),
                DVec3::X,
                DVec3::new(3.0, -2.0, 1.0),
            )
            .unwrap(),
            Motion::between(
                &at([2.0, 0.5, -0.3], [0.6, -0.2, 0.3, 0.1]),
                &at([-1.0, 0.2, 0.3], [0.1, 0.2, 0.3, 0.9]),
            ),
        ],
        [
            Motion::Still(at([30.0, 2e3, -5.0], [0.2, 0.3, 0.4, 0.5])),
            Motion::velocity(
                &at([31.0, 2e3, -3.0], upright),
                DVec3::new(-2.0, 0.0, -4.0),
                DVec3::new(0.0, 9.0, 0.0),
            )
            .unwrap(),
        ],
    ]
}

fn instants<'t>(trees: &'t [WideTree; 2], motions: &[Motion; 2], t: f64) -> [Instant<'t>; 2] {
    [0, 1].map(|k| {
        let ball = Ball { centre: DVec3::ZERO, radius: 1.5 };
        let acceleration = motions[k].acceleration_bound(&ball, [0.0, 1.0]).most();
        Instant { tree: &trees[k], pose: motions[k].pose(t), twist: motions[k].twist(t), acceleration }
    })
}

#[test]
fn all_instruction_sets_give_the_same_bits() {
    let trees = trees();
    let mut below = 0;
    for motions in motions() {
        let [a, b] = instants(&trees, &motions, 0.25);
        let toi = BoxTimeOfImpact::new(&a, &b, 1e-12);
        for (i, x) in trees[0].nodes().iter().enumerate().step_by(5) {
            let y = &trees[1].nodes()[i * 7 % trees[1].nodes().len()];
            let mut want = [[0.0; WIDTH]; WIDTH];
            let some = times(SimdLevel::PORTABLE, x, y, &toi, 0.3, &mut want);
            below += want.as_flattened().iter().filter(|t| t.is_finite()).count();
            for level in SimdLevel::available() {
                let mut got = [[0.0; WIDTH]; WIDTH];
                assert_eq!(times(level, x, y, &toi, 0.3, &mut got), some);
                assert_eq!(got.map(|r| r.map(f32::to_bits)), want.map(|r| r.map(f32::to_bits)));
            }
        }
    }
    assert!(below > 100, "{below}");
}

#[test]
fn boxes_do_not_meet_before_their_time() {
    let trees = trees();
    let corner = |tree: &WideTree, node: &Node, lane: usize, k: usize| {
        let (centre, half) = node.lane(lane);
        let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let at = |axis: usize| f64::from(centre[axis]) + sign(axis) * f64::from(half[axis]);
        tree.frame().centre + DVec3::new(at(0), at(1), at(2)) * tree.frame().unit
    };
    let (mut free, mut looked) = (0, 0);
    for motions in motions() {
        for start in [0.0, 0.4] {
            let [a, b] = instants(&trees, &motions, start);
            let toi = BoxTimeOfImpact::new(&a, &b, 1e-12);
            for (i, x) in trees[0].nodes().iter().enumerate().step_by(9) {
                let y = &trees[1].nodes()[i * 5 % trees[1].nodes().len()];
                let mut after = [[0.0; WIDTH]; WIDTH];
                times(SimdLevel::best(), x, y, &toi, 1.0, &mut after);
                for (lane_a, lane_b) in x.used().zip(y.used()) {
                    let time = f64::from(after[lane_a][lane_b]).min(1.0 - start);
                    looked += 1;
                    if time <= 0.0 {
                        continue;
                    }
                    free += 1;
                    // Until then some direction separates all corners: that of the centres or an axis of either.
                    for share in [0.0, 0.3, 0.7, 0.999] {
                        let t = start + share * time;
                        let [p, q] = [0, 1].map(|k| motions[k].pose(t));
                        let [own, other] = [
                            (0..8).map(|k| p.apply(corner(&trees[0], x, lane_a, k))).collect::<Vec<_>>(),
                            (0..8).map(|k| q.apply(corner(&trees[1], y, lane_b, k))).collect::<Vec<_>>(),
                        ];
                        let parted = boxes_apart(&own, &other, [p.matrix(), q.matrix()]);
                        assert!(parted, "{t}: {time}");
                    }
                }
            }
        }
    }
    assert!(free * 10 > looked, "{free} of {looked}");
}

/// The fifteen axes of two boxes.
fn boxes_apart(a: &[DVec3], b: &[DVec3], turns: [DMat3; 2]) -> bool {
    let axes = turns.map(|m| [m.x_axis, m.y_axis, m.z_axis]);
    let products = axes[0].into_iter().flat_map(|u| axes[1].map(|v| u.cross(v)));
    axes.into_iter().flatten().chain(products).any(|n| {
        let range = |points: &[DVec3]| {
            let along = points.iter().map(|p| n.dot(*p));
            along.fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], x| [l.min(x), h.max(x)])
        };
        let ([l, h], [low, high]) = (range(a), range(b));
        h < low || high < l
    })
}
