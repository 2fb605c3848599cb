use glam::DVec3;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;

use super::*;
use crate::Mesh;
use crate::shape::procedural;

/// A ball with folds without volume that stick out of it: two copies each, one the other way round.
fn ball_with_folds(folds: usize, seed: u64) -> Model {
    let mut random = Pcg32::seed_from_u64(seed);
    let ball = procedural::ico_sphere(1.0, 2).unwrap();
    let (mut vertices, mut triangles) = (ball.vertices().to_vec(), ball.triangles().to_vec());
    for _ in 0..folds {
        let [a, b, _] = triangles[random.random_range(0..ball.triangles().len())];
        let tip = vertices.len() as u32;
        vertices.push((vertices[a as usize] + vertices[b as usize]) * random.random_range(0.6..1.0));
        triangles.extend([[a, b, tip], [tip, b, a]]);
    }
    Model::from(Mesh::from_points(vertices, triangles).unwrap())
}

/// The answer of all cells: with a budget the shortcuts of unlimited questions are not taken.
fn by_all_cells(a: &Model, pose_a: &Pose, b: &Model, pose_b: &Pose) -> Relation {
    let mut budget = Budget::units(u64::MAX / 4);
    relation_within(a, pose_a, b, pose_b, &mut RelationMemory::default(), &mut budget).0.unwrap()
}

#[test]
fn folds_without_volume_touch_as_all_cells_tell() {
    let mut random = Pcg32::seed_from_u64(3);
    let plain = Model::from(procedural::ico_sphere(1.0, 2).unwrap());
    let folded = [ball_with_folds(40, 1), ball_with_folds(60, 2)];
    let pairs = [[&folded[0], &folded[1]], [&plain, &folded[0]], [&folded[1], &plain]];
    let mut seen = [0; 3];
    let mut short = 0;
    for round in 0..240 {
        let [a, b] = pairs[round % 3];
        let mut number = || random.random_range(-1.0..1.0);
        let turn = [number(), number(), number(), number()];
        let away = DVec3::new(number(), number(), number()).normalize();
        let pose_a = Pose::new([0.3, -0.2, 0.1], turn).unwrap();
        let pose_b =
            Pose::new((away * random.random_range(1.7..2.7)).to_array(), turn.map(|x| -x * x)).unwrap();
        let found = relation(a, &pose_a, b, &pose_b);
        assert_eq!(found, by_all_cells(a, &pose_a, b, &pose_b), "{round}");
        seen[match found {
            Relation::Separated => 0,
            Relation::Touching => 1,
            _ => 2,
        }] += 1;
        let posed = [Posed::new(a, pose_a), Posed::new(b, pose_b)];
        let met = SurfaceSearch::new(posed[0], posed[1]).first();
        let by_folds = |met: Witness| {
            touch_by_cancelled(&posed, met.triangles, &relative_of(&posed), &mut Counters::default())
        };
        let settled = met.and_then(by_folds);
        assert!(settled.is_none_or(|settled| settled == found && found == Relation::Touching));
        short += usize::from(settled.is_some());
    }
    assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
    assert!(short > seen[1] / 2, "{short} of {seen:?}");
}

#[test]
fn bodies_that_only_folds_hold_together_are_told_one_by_one() {
    // Two balls in one mesh, joined by a fold, the smaller one within b: it has no corner outside.
    let ball = procedural::ico_sphere(1.0, 1).unwrap();
    let (mut vertices, mut triangles) = (ball.vertices().to_vec(), ball.triangles().to_vec());
    let first = vertices.len() as u32;
    vertices.extend(ball.vertices().iter().map(|p| *p * 0.2 + DVec3::X * 3.0));
    triangles.extend(ball.triangles().iter().map(|t| t.map(|v| v + first)));
    triangles.extend([[0, 1, first], [first, 1, 0]]);
    let a = Model::from(Mesh::from_points(vertices, triangles).unwrap());
    let b = Model::from(procedural::ico_sphere(0.5, 2).unwrap());
    for (x, expected) in
        [(3.0, Relation::Intersecting), (1.9, Relation::Touching), (9.0, Relation::Separated)]
    {
        let at = Pose::from_translation([x, 0.0, 0.0]).unwrap();
        assert_eq!(relation(&a, &Pose::IDENTITY, &b, &at), expected);
        assert_eq!(by_all_cells(&a, &Pose::IDENTITY, &b, &at), expected);
    }
}
