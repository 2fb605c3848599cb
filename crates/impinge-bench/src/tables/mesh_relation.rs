//! Do two meshes meet?
//!
//! Two measurements. The first puts the 200 placements to everybody: whether the surfaces meet, which is what
//! the peers answer, and our five-valued relation of solids beside it. The second moves the pair slowly and
//! compares our queries with their memory kept from step to step with the same queries without.

use std::time::Instant;

use anyhow::Result;
use glam::DVec3;
use impinge::model::Model;
use impinge::narrow::exact::collide::{Posed, first_meeting};
use impinge::narrow::exact::relation::{RelationMemory, relation_within};
use impinge::narrow::exact::temporal_coherence::{CoherenceMemory, first_meeting_again};
use impinge::{Budget, Pose, Relation, relation};

use super::Effort;
use super::pair_scene::{PairScene, add_rows, header, verdict};
use crate::peers::parry;
use crate::scenes::Placement;
use crate::table::Table;
use crate::timing::{Contestant, Statistics, Track, alternate, faster_by, median_of, unpacked};

/// Repeats for each placement; queries of microseconds need many.
const REPEATS: usize = 9;

/// Repeats of queries that take a millisecond and more.
const SLOW_REPEATS: usize = 3;

/// Steps of a slow motion.
const STEPS: usize = 100;

/// Times that each motion is run through; a step counts with the median.
const RUNS: usize = 7;

/// How far b moves in a step: the longest side of each mesh is 1, a triangle about a hundredth.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// Radians, about an axis through its origin.
    angle: f64,
    /// Towards a or away.
    length: f64,
    /// Names of the four contestants: surfaces and relation, without memory and with it.
    names: [[&'static str; 2]; 2],
}

/// A brisk hand at sixty steps a second, and the same at six hundred.
const PACES: [Pace; 2] = [
    Pace {
        angle: 0.002,
        length: 0.0005,
        names: [
            ["motion-surfaces-forgetful", "motion-surfaces-coherent"],
            ["motion-relation-forgetful", "motion-relation-coherent"],
        ],
    },
    Pace {
        angle: 0.0002,
        length: 0.00005,
        names: [
            ["slower-surfaces-forgetful", "slower-surfaces-coherent"],
            ["slower-relation-forgetful", "slower-relation-coherent"],
        ],
    },
];

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let mut table = Table::new("mesh-relation", &header("compared with the known answer"));
    let scene = PairScene::load(effort)?;
    let models = scene.models();
    still(&mut table, &scene, &models)?;
    for pace in PACES {
        slow_motion(&mut table, &scene, &models, pace, effort)?;
    }
    table.remark("in motion: compared with the answers without memory");
    Ok(table)
}

/// Everybody on the 200 placements.
fn still(table: &mut Table, scene: &PairScene, [a, b]: &[Model; 2]) -> Result<()> {
    let poses = scene.poses()?;
    let single = parry::single::Pair::new(&scene.a, &scene.b, &scene.placements)?;
    let double = parry::double::Pair::new(&scene.a, &scene.b, &scene.placements)?;
    let [solid_a, solid_b] = &scene.shapes();
    let whole = |case: usize| relation(solid_a.at(poses[case][0]), solid_b.at(poses[case][1])).is_contact();
    let surface =
        |case: usize| first_meeting(Posed::new(a, poses[case][0]), Posed::new(b, poses[case][1])).is_some();
    let mut contestants = vec![
        Contestant::new("impinge", |case| Ok(median_of(REPEATS, || surface(case)))),
        Contestant::new("impinge-relation", |case| Ok(median_of(REPEATS, || whole(case)))),
    ];
    for (name, mut program) in scene.programs(table)? {
        contestants.push(Contestant::new(name, move |case| program.relation(case, REPEATS)));
    }
    contestants.push(Contestant::new("parry3d-f64 (intersection_test)", |case| {
        unpacked(median_of(SLOW_REPEATS, || double.intersection_test(case)))
    }));
    contestants.push(Contestant::new("parry3d (intersection_test)", |case| {
        unpacked(median_of(SLOW_REPEATS, || single.intersection_test(case)))
    }));
    contestants.push(Contestant::new("parry3d-f64 (dual traversal)", |case| {
        Ok(median_of(REPEATS, || double.dual_hit(case)))
    }));
    contestants.push(Contestant::new("parry3d (dual traversal)", |case| {
        Ok(median_of(REPEATS, || single.dual_hit(case)))
    }));

    let cases: Vec<usize> = (0..scene.placements.len()).collect();
    let tracks = alternate(&mut contestants, &cases);
    add_rows(table, &tracks, |hits: &[bool]| {
        let wrong = hits.iter().zip(&scene.placements).filter(|(hit, known)| **hit != known.hit).count();
        let count = hits.iter().filter(|&&hit| hit).count();
        [format!("{count} hits of {}", hits.len()), verdict(wrong, hits.len())]
    });
    table.remark("impinge and the peers answer whether the surfaces meet, impinge-relation the five-valued");
    table.remark(
        "relation of solids; parry3d in f32 calls small separated triangles intersecting; ratios are",
    );
    table.remark("theirs over impinge, and -over-relation theirs over impinge-relation");
    table.remark("intersection_test asks the second mesh once for each triangle of the first; dual traversal walks both");
    table.remark(
        "trees of parry at once with its leaf_pairs and its test of two triangles: the fair opponent",
    );
    let [ours, relation, peers @ ..] = &tracks[..] else { return Ok(()) };
    for track in peers {
        table.ratio_of_all(track.name, faster_by(ours, track));
    }
    for track in peers {
        table.ratio_of_all(&format!("{}-over-relation", track.name), faster_by(relation, track));
    }
    Ok(())
}

/// Ours with and without memory, while b turns and swings towards a and away.
fn slow_motion(
    table: &mut Table,
    scene: &PairScene,
    [a, b]: &[Model; 2],
    pace: Pace,
    effort: Effort,
) -> Result<()> {
    let mut surfaces = pace.names[0].map(Track::<bool>::named);
    let mut relations = pace.names[1].map(Track::<bool>::named);
    // Every tenth placement begins a motion; gaps and overlaps of all sizes are among them.
    for start in scene.placements.iter().step_by(effort.pick(10, 5)) {
        let path = motion(start, pace)?;
        along(&path, &mut surfaces, |[pose_a, pose_b], memory: &mut CoherenceMemory| {
            first_meeting_again(Posed::new(a, *pose_a), Posed::new(b, *pose_b), memory).0.is_some()
        });
        along(&path, &mut relations, |[pose_a, pose_b], memory: &mut RelationMemory| {
            let (found, _) = relation_within(a, pose_a, b, pose_b, memory, &mut Budget::UNLIMITED.clone());
            found.is_some_and(Relation::is_contact)
        });
    }
    let known = surfaces[0].answers.clone();
    for tracks in [&surfaces, &relations] {
        add_rows(table, tracks, |answers: &[bool]| {
            let differing = answers.iter().zip(&known).filter(|(found, known)| found != known).count();
            let hits = answers.iter().filter(|&&hit| hit).count();
            [format!("{hits} hits of {}", answers.len()), verdict(differing, answers.len())]
        });
    }
    for [forgetful, coherent] in [&surfaces, &relations] {
        table.ratio_of_all(forgetful.name, faster_by(coherent, forgetful));
    }
    Ok(())
}

/// The poses of both bodies at each step: b turns steadily and swings ten steps in, ten steps out.
fn motion(start: &Placement, pace: Pace) -> Result<Vec<[Pose; 2]>> {
    let numbers = start.numbers;
    let place = DVec3::new(numbers[11], numbers[12], numbers[13]);
    let axis = place.any_orthonormal_vector();
    let turn_b = glam::DQuat::from_xyzw(numbers[8], numbers[9], numbers[10], numbers[7]);
    let [pose_a, _] = start.poses()?;
    (0..STEPS)
        .map(|step| {
            let phase = step % 20;
            let inward = if phase < 10 { phase } else { 20 - phase } as f64 * pace.length;
            let turn = glam::DQuat::from_axis_angle(axis, step as f64 * pace.angle) * turn_b;
            let at = place - place.normalize_or_zero() * inward;
            Ok([pose_a, Pose::new(at.to_array(), turn.to_array())?])
        })
        .collect()
}

/// Adds the median time and the answer of each step: without memory, and with the memory of the steps before.
fn along<M: Default>(
    path: &[[Pose; 2]],
    tracks: &mut [Track<bool>; 2],
    mut ask: impl FnMut(&[Pose; 2], &mut M) -> bool,
) {
    let mut times = [vec![Vec::new(); path.len()], vec![Vec::new(); path.len()]];
    let mut answers = [vec![false; path.len()], vec![false; path.len()]];
    // The first run warms up.
    for run in 0..=RUNS {
        for keeps in [0, 1] {
            let mut memory = M::default();
            for (step, poses) in path.iter().enumerate() {
                if keeps == 0 {
                    memory = M::default();
                }
                let start = Instant::now();
                let found = ask(poses, &mut memory);
                let time = start.elapsed().as_nanos() as f64;
                answers[keeps][step] = found;
                if run > 0 {
                    times[keeps][step].push(time);
                }
            }
        }
    }
    for (keeps, track) in tracks.iter_mut().enumerate() {
        track.nanoseconds.extend(times[keeps].iter().map(|t| Statistics::of(t).median));
        track.answers.extend(&answers[keeps]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_is_slow_and_comes_back() {
        let mut numbers = [0.0; 14];
        (numbers[0], numbers[7], numbers[11]) = (1.0, 1.0, 0.8);
        let pace = PACES[0];
        let path = motion(&Placement { numbers, gap: 0.0, hit: false }, pace).unwrap();
        let places: Vec<f64> = path.iter().map(|[_, b]| b.translation().x).collect();
        assert!(places.windows(2).all(|w| (w[0] - w[1]).abs() < 1.01 * pace.length));
        assert_eq!((places[0], places[20]), (0.8, 0.8));
        assert!((places[10] - 0.795).abs() < 1e-12);
        let turned = path[99][1].matrix().x_axis.dot(DVec3::X);
        assert!((turned - (99.0 * pace.angle).cos()).abs() < 1e-12);
    }
}
