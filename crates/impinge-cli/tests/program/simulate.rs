//! `impinge simulate`: the scenes, their records and pictures, and what they promise.

use crate::common::{Folder, Run, impinge};
use serde_json::Value;

const SHORT: [(&str, &[&str]); 3] = [
    ("multibody", &["--bodies", "120", "--frames", "25"]),
    ("walkthrough", &["--frames", "40"]),
    ("hand", &["--frames", "60"]),
];

fn simulate(scene: &str, options: &[&str], more: &[&str]) -> Run {
    impinge(&[&["simulate", scene], options, more].concat())
}

#[test]
fn every_scene_agrees_with_brute_force_and_does_not_depend_on_threads() {
    for (scene, options) in SHORT {
        let one = simulate(scene, options, &["--check", "--format", "json", "--threads", "1"]);
        assert_eq!(one.code, 0, "{scene}: {}", one.err);
        let two = simulate(scene, options, &["--check", "--format", "json", "--threads", "2"]);
        assert_eq!(one.out, two.out);
        let answer = one.json();
        assert_eq!((answer["schema"].as_u64(), answer["scene"].as_str()), (Some(1), Some(scene)));
        assert_eq!(
            (answer["finish"].as_str(), answer["checked"].as_u64()),
            (Some("complete"), answer["frames"].as_u64())
        );
        assert!(answer["contacts"].as_u64() > Some(0), "{answer}");
        assert!(answer["polytopes"].as_u64() >= answer["bodies"].as_u64());
    }
}

#[test]
fn a_box_of_bodies_loses_nothing() {
    let answer =
        impinge(&["simulate", "multibody", "--bodies", "60", "--frames", "300", "--format", "json"]).json();
    let measure = |name: &str| answer["measures"][name].as_f64().unwrap();
    assert!(measure("energy_drift").abs() < 1e-12 && measure("momentum_drift") < 1e-12, "{answer}");
    assert_eq!(measure("outside"), 0.0);
    assert!(measure("collisions") > 20.0 && measure("bounces") > 50.0, "{answer}");
    let other = impinge(&[
        "simulate",
        "multibody",
        "--bodies",
        "60",
        "--frames",
        "300",
        "--format",
        "json",
        "--seed",
        "5",
    ]);
    assert_ne!(answer["measures"], other.json()["measures"], "another seed is another box");
}

#[test]
fn records_hold_every_frame_and_pictures_are_drawn() {
    let folder = Folder::new();
    for (scene, options) in SHORT {
        let files = ["--record", "run.jsonl", "--picture", "end.png"];
        let ran = folder.run(&[&["simulate", scene], options, &files[..]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains(scene) && ran.out.contains("closest features"), "{}", ran.out);
        let text = std::fs::read_to_string(folder.path().join("run.jsonl")).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let frames: u64 = options[options.len() - 1].parse().unwrap();
        assert_eq!((lines[0]["schema"].as_u64(), lines.len() as u64), (Some(1), frames + 1));
        for (number, line) in lines.iter().enumerate().skip(1) {
            assert_eq!(line["frame"].as_u64(), Some(number as u64));
            let poses = line["poses"].as_array().unwrap();
            assert!(!poses.is_empty() && poses[0]["rotation"].as_array().unwrap().len() == 4);
        }
        // Every contact that began and has not ended is still going on.
        let mut open = std::collections::BTreeSet::new();
        for event in lines.iter().skip(1).flat_map(|line| line["events"].as_array().unwrap()) {
            let pair = event["bodies"].to_string();
            let fits = match event["kind"].as_str().unwrap() {
                "began" => open.insert(pair),
                "ended" => open.remove(&pair),
                _ => open.contains(&pair),
            };
            assert!(fits, "{event}");
        }
        let png = std::fs::read(folder.path().join("end.png")).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 10_000);
    }
}

/// The scenes whose bodies never meet: every frame is checked by exact relations.
const SWEPT: [(&str, &[&str]); 4] = [
    ("bounce", &["--frames", "250"]),
    ("bounce", &["--bodies", "12", "--frames", "12"]),
    ("tunnel", &["--frames", "5"]),
    ("manipulate", &["--frames", "60"]),
];

#[test]
fn swept_bodies_collide_and_never_overlap() {
    let folder = Folder::new();
    for (scene, options) in SWEPT {
        let one = simulate(scene, options, &["--check", "--format", "json", "--threads", "1"]);
        assert_eq!(one.code, 0, "{scene}: {}", one.err);
        let answer = one.json();
        assert_eq!(answer["checked"], answer["frames"]);
        let measure = |name: &str| answer["measures"][name].as_f64();
        if scene == "tunnel" {
            // The ends of the steps tell of all contacts in case a and of none in case b.
            assert_eq!((measure("seen_at_ends_a"), measure("seen_at_ends_b")), (Some(5.0), Some(0.0)));
            assert_eq!((measure("swept_a"), measure("swept_b")), (Some(5.0), Some(5.0)));
        } else {
            assert!(measure("impacts") > Some(3.0), "{answer}");
        }
        assert_eq!(simulate(scene, options, &["--check", "--format", "json", "--threads", "2"]).out, one.out);
        let files = ["--record", "run.jsonl", "--picture", "end.png"];
        assert_eq!(folder.run(&[&["simulate", scene], options, &files[..]].concat()).code, 0);
        let text = std::fs::read_to_string(folder.path().join("run.jsonl")).unwrap();
        assert_eq!(text.lines().count() as u64, 1 + answer["frames"].as_u64().unwrap());
        let png = std::fs::read(folder.path().join("end.png")).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 10_000);
    }
}

#[test]
fn a_soft_ball_rests_at_the_closed_form_and_shows_no_switch() {
    let folder = Folder::new();
    let run = folder.run(&["simulate", "press", "--check", "--format", "json", "--picture", "dent.png"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let answer = run.json();
    let measure = |name: &str| answer["measures"][name].as_f64().unwrap();
    assert!((measure("indentation") / measure("closed_form_at_rest") - 1.0).abs() < 0.01, "{answer}");
    assert!(measure("largest_jump") <= 1e-9 && measure("share_simulated") < 0.1, "{answer}");
    let png = std::fs::read(folder.path().join("dent.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG") && png.len() > 10_000);
    let short = ["--frames", "40", "--format", "json"];
    assert_eq!(
        simulate("press", &short, &["--threads", "1"]).out,
        simulate("press", &short, &["--threads", "2"]).out
    );
}

#[test]
fn drops_merge_and_split() {
    let folder = Folder::new();
    let options = ["--frames", "60", "--check", "--format", "json", "--picture", "drops.png"];
    let run = folder.run(&[&["simulate", "merge"], &options[..]].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    let answer = run.json();
    let measure = |name: &str| answer["measures"][name].as_f64().unwrap();
    assert_eq!((measure("components"), measure("genus")), (2.0, 0.0), "{answer}");
    assert!(measure("merged_in_frame") > 0.0 && measure("split_in_frame") > measure("merged_in_frame"));
    let png = std::fs::read(folder.path().join("drops.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG") && png.len() > 10_000);
}

#[test]
fn budgets_leave_pairs_open_and_wrong_words_are_refused() {
    let open = impinge(&[
        "simulate",
        "multibody",
        "--bodies",
        "2000",
        "--frames",
        "3",
        "--budget",
        "1",
        "--format",
        "json",
    ]);
    assert_eq!((open.code, open.json()["finish"].as_str()), (3, Some("out_of_budget")));
    assert!(open.json()["undecided"].as_u64() > Some(0));
    for wrong in [
        &["simulate", "kitchen"][..],
        &["simulate", "hand", "--bodies", "5"],
        &["simulate", "multibody", "--bodies", "0"],
        &["simulate", "multibody", "--method", "brute"],
    ] {
        assert_eq!(impinge(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn clusters_collide_the_same_by_every_technique() {
    let options = ["--particles", "1000", "--frames", "60", "--check", "--format", "json"];
    let mut found = Vec::new();
    for method in ["auto", "grid", "spanner", "octree", "rstar", "brute"] {
        let answer = simulate("clusters", &options, &["--method", method]).json();
        assert_eq!((&answer["frames"], &answer["checked"]), (&60.into(), &60.into()), "{method}");
        found.push(answer["collisions"].as_u64().unwrap());
    }
    assert!(found[0] > 500 && found.iter().all(|n| *n == found[0]), "{found:?}");
    let folder = Folder::new();
    let drawn = ["--particles", "500", "--frames", "50", "--picture", "red.png"];
    assert_eq!(folder.run(&[&["simulate", "clusters"], &drawn[..]].concat()).code, 0);
    assert!(folder.path().join("red.png").metadata().unwrap().len() > 10_000);
    for wrong in [
        &["--bodies", "5"][..],
        &["--method", "gjk"],
        &["--voxel", "0"],
        &["--budget", "5"],
        &["--voxel", "1", "--method", "octree"],
    ] {
        assert_eq!(simulate("clusters", &["--frames", "1"], wrong).code, 2, "{wrong:?}");
    }
    assert_eq!(simulate("press", &["--frames", "1"], &["--particles", "5"]).code, 2);
}
