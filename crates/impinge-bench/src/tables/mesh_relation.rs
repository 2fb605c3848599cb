//! Do two meshes meet?
//!
//! Two measurements. The first puts the 200 placements to everybody. The second moves the pair slowly
//! and compares our query with its memory kept from step to step with the same query without.

use std::time::Instant;

use anyhow::Result;
use glam::DVec3;
use impinge::narrow::exact::collide::{Posed, first_meeting};
use impinge::narrow::exact::relation::{RelationMemory, relation_within};
use impinge::{Budget, Model, Pose, Relation, relation};

use super::Effort;
use super::pair_scene::{PairScene, add_rows, header, verdict};
use crate::peers::parry;
use crate::scenes::Placement;
use crate::table::Table;
use crate::timing::{Contestant, Statistics, Timed, Track, alternate, faster_by, median_of, unpacked};

/// Repeats for each placement; queries of microseconds need many.
const REPEATS: usize = 9;

/// Repeats of queries that take a millisecond and more.
const SLOW_REPEATS: usize = 3;

/// Steps of a slow motion.
const STEPS: usize = 100;

/// Times that each motion is run through; a step counts with the median.
const RUNS: usize = 7;

/// A step turns b by so much about an axis through its origin, in radians.
const STEP_ANGLE: f64 = 0.002;

/// A step moves b by so much towards a or away; the longest side of each mesh is 1.
const STEP_LENGTH: f64 = 0.0005;

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let mut table = Table::new("mesh-relation", &header("compared with the known answer"));
    let scene = PairScene::load(effort)?;
    let models = scene.models();
    still(&mut table, &scene, &models)?;
    slow_motion(&mut table, &scene, &models, effort)?;
    Ok(table)
}

/// Everybody on the 200 placements.
fn still(table: &mut Table, scene: &PairScene, [a, b]: &[Model; 2]) -> Result<()> {
    let poses = scene.poses()?;
    let single = parry::single::Pair::new(&scene.a, &scene.b, &scene.placements)?;
    let double = parry::double::Pair::new(&scene.a, &scene.b, &scene.placements)?;
    let whole = |case: usize| relation(a, &poses[case][0], b, &poses[case][1]).is_contact();
    let surface =
        |case: usize| first_meeting(Posed::new(a, poses[case][0]), Posed::new(b, poses[case][1])).is_some();
    let mut contestants = vec![
        Contestant::new("impinge", |case| Ok(median_of(REPEATS, || whole(case)))),
        Contestant::new("impinge-surface", |case| Ok(median_of(REPEATS, || surface(case)))),
    ];
    for (name, mut program) in scene.programs(table)? {
        contestants.push(Contestant::new(name, move |case| program.relation(case, REPEATS)));
    }
    contestants.push(Contestant::new("parry3d-f64", |case| {
        unpacked(median_of(SLOW_REPEATS, || double.intersection_test(case)))
    }));
    contestants.push(Contestant::new("parry3d", |case| {
        unpacked(median_of(SLOW_REPEATS, || single.intersection_test(case)))
    }));
    contestants
        .push(Contestant::new("parry3d-f64-dual", |case| Ok(median_of(REPEATS, || double.dual_hit(case)))));
    contestants
        .push(Contestant::new("parry3d-dual", |case| Ok(median_of(REPEATS, || single.dual_hit(case)))));

    let cases: Vec<usize> = (0..scene.placements.len()).collect();
    let tracks = alternate(&mut contestants, &cases);
    add_rows(table, &tracks, |hits: &[bool]| {
        let wrong = hits.iter().zip(&scene.placements).filter(|(hit, known)| **hit != known.hit).count();
        let count = hits.iter().filter(|&&hit| hit).count();
        [format!("{count} hits of {}", hits.len()), verdict(wrong, hits.len())]
    });
    table.remark("impinge answers the five-valued relation of solids, impinge-surface and the others only");
    table.remark("whether the surfaces meet; parry3d in f32 calls small separated triangles intersecting");
    for track in &tracks[1..] {
        table.ratio_of_all(track.name, faster_by(&tracks[0], track));
    }
    Ok(())
}

/// Ours with and without memory, while b turns and swings towards a and away.
fn slow_motion(table: &mut Table, scene: &PairScene, models: &[Model; 2], effort: Effort) -> Result<()> {
    let names = ["impinge-motion-forgetful", "impinge-motion-coherent"];
    let mut tracks = names.map(|name| Track {
        name,
        nanoseconds: Vec::new(),
        answers: Vec::<Relation>::new(),
        failure: None,
    });
    // Every tenth placement begins a motion; gaps and overlaps of all sizes are among them.
    for start in scene.placements.iter().step_by(effort.pick(10, 5)) {
        let path = motion(start)?;
        let measured = along(models, &path);
        for (track, steps) in tracks.iter_mut().zip(measured) {
            track.nanoseconds.extend(steps.iter().map(|step| step.nanoseconds));
            track.answers.extend(steps.iter().map(|step| step.answer));
        }
    }
    let known = tracks[0].answers.clone();
    add_rows(table, &tracks, |answers: &[Relation]| {
        let differing = answers.iter().zip(&known).filter(|(found, known)| found != known).count();
        let hits = answers.iter().filter(|answer| answer.is_contact()).count();
        [format!("{hits} hits of {}", answers.len()), verdict(differing, answers.len())]
    });
    table.remark("in motion: compared with the answers without memory");
    let [forgetful, coherent] = &tracks;
    table.ratio_of_all(forgetful.name, faster_by(coherent, forgetful));
    Ok(())
}

/// The poses of both bodies at each step: b turns steadily and swings ten steps in, ten steps out.
fn motion(start: &Placement) -> Result<Vec<[Pose; 2]>> {
    let numbers = start.numbers;
    let place = DVec3::new(numbers[11], numbers[12], numbers[13]);
    let axis = place.any_orthonormal_vector();
    let turn_b = glam::DQuat::from_xyzw(numbers[8], numbers[9], numbers[10], numbers[7]);
    let [pose_a, _] = start.poses()?;
    (0..STEPS)
        .map(|step| {
            let phase = step % 20;
            let inward = if phase < 10 { phase } else { 20 - phase } as f64 * STEP_LENGTH;
            let turn = glam::DQuat::from_axis_angle(axis, step as f64 * STEP_ANGLE) * turn_b;
            let at = place - place.normalize_or_zero() * inward;
            Ok([pose_a, Pose::new(at.to_array(), turn.to_array())?])
        })
        .collect()
}

/// Median time and answer of each step: without memory, and with the memory of the steps before.
fn along([a, b]: &[Model; 2], path: &[[Pose; 2]]) -> [Vec<Timed<Relation>>; 2] {
    let mut times = [vec![Vec::new(); path.len()], vec![Vec::new(); path.len()]];
    let mut answers = [vec![Relation::Separated; path.len()], vec![Relation::Separated; path.len()]];
    // The first run warms up.
    for run in 0..=RUNS {
        for keeps in [0, 1] {
            let mut memory = RelationMemory::default();
            for (step, [pose_a, pose_b]) in path.iter().enumerate() {
                if keeps == 0 {
                    memory = RelationMemory::default();
                }
                let mut budget = Budget::UNLIMITED;
                let start = Instant::now();
                let (found, _) = relation_within(a, pose_a, b, pose_b, &mut memory, &mut budget);
                let time = start.elapsed().as_nanos() as f64;
                answers[keeps][step] = found.unwrap_or(Relation::Separated);
                if run > 0 {
                    times[keeps][step].push(time);
                }
            }
        }
    }
    [0, 1].map(|keeps| {
        let both = times[keeps].iter().zip(&answers[keeps]);
        both.map(|(t, &answer)| Timed { nanoseconds: Statistics::of(t).median, answer }).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_is_slow_and_comes_back() {
        let mut numbers = [0.0; 14];
        (numbers[0], numbers[7], numbers[11]) = (1.0, 1.0, 0.8);
        let path = motion(&Placement { numbers, gap: 0.0, hit: false }).unwrap();
        let places: Vec<f64> = path.iter().map(|[_, b]| b.translation().x).collect();
        assert!(places.windows(2).all(|w| (w[0] - w[1]).abs() < 1.01 * STEP_LENGTH));
        assert_eq!((places[0], places[20]), (0.8, 0.8));
        assert!((places[10] - 0.795).abs() < 1e-12);
        let turned = path[99][1].matrix().x_axis.dot(DVec3::X);
        assert!((turned - (99.0 * STEP_ANGLE).cos()).abs() < 1e-12);
    }
}
