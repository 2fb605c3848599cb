//! Vertices that move along straight lines: `self --to` and the question `ccd`.

use crate::common::Folder;

/// A square of two triangles below a small triangle that falls through it, or stops at a height.
fn step(folder: &Folder, end: f64) {
    let state = |height: f64| {
        format!(
            "v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nv 1 0.5 {height}\nv 3 0.5 {height}\nv 2 3 {}\n\
             f 1 2 3\nf 1 3 4\nf 5 6 7\n",
            height + 1.0
        )
    };
    folder.write("t0.obj", state(1.0));
    folder.write("t1.obj", state(end));
}

#[test]
fn the_first_contact_of_a_step_is_found() {
    let folder = Folder::new();
    step(&folder, -3.0);
    let run = folder.run(&["self", "t0.obj", "--to", "t1.obj", "--format", "json"]);
    let answer = run.json();
    assert_eq!(run.code, 1, "{answer}");
    assert_eq!((answer["schema"].as_u64(), answer["hit"].as_bool()), (Some(1), Some(true)));
    let (time, free) = (answer["time"].as_f64().unwrap(), answer["free_step"].as_f64().unwrap());
    assert!((0.25 - 1e-9..=0.25).contains(&time) && free < time, "{answer}");
    let said = folder.run(&["self", "t0.obj", "--to", "t1.obj"]);
    assert!(said.out.starts_with("first contact at 0.2"), "{}", said.out);
}

#[test]
fn all_pairs_of_a_step_are_listed_with_their_times() {
    let folder = Folder::new();
    step(&folder, -3.0);
    let answer = folder.run(&["self", "t0.obj", "--to", "t1.obj", "--all", "--format", "json"]).json();
    let vf: Vec<_> =
        answer["vf"].as_array().unwrap().iter().map(|m| m["vertices"][0].as_u64().unwrap()).collect();
    assert_eq!(vf, [4, 5, 6], "{answer}");
    for meeting in answer["vf"].as_array().unwrap() {
        let known = if meeting["vertices"][0] == 6 { 0.5 } else { 0.25 };
        let time = meeting["time"].as_f64().unwrap();
        assert!(time <= known && known - time <= 1e-9, "{meeting}");
    }
    // The last vertex falls on the other side of the diagonal, so two edges cross it.
    assert_eq!(answer["ee"].as_array().unwrap().len(), 2, "{answer}");
}

#[test]
fn a_step_without_contact_is_free_but_for_its_margin() {
    let folder = Folder::new();
    step(&folder, 0.25);
    let run = folder.run(&["self", "t0.obj", "--to", "t1.obj", "--format", "json"]);
    assert_eq!((run.code, run.json()["hit"].as_bool()), (0, Some(false)));
    assert_eq!(run.json()["free_step"].as_f64(), Some(1.0));
    let near = folder.run(&["self", "t0.obj", "--to", "t1.obj", "--margin", "0.5", "--format", "json"]);
    let time = near.json()["time"].as_f64().unwrap();
    assert!(near.code == 1 && (0.66..=2.0 / 3.0).contains(&time), "{time}");
}

#[test]
fn states_of_different_meshes_are_refused() {
    let folder = Folder::new();
    step(&folder, 0.0);
    folder.write("other.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let run = folder.run(&["self", "t0.obj", "--to", "other.obj"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("--to") && run.err.contains("vertices"), "{}", run.err);
}

#[test]
fn ccd_is_answered_in_a_batch() {
    let folder = Folder::new();
    let face = "[0,0,0],[1,0,0],[0,1,0]";
    let line = |id: u32, end: &str, more: &str| {
        let ends = format!(r#""t0":[[0.25,0.25,1],{face}],"t1":[[0.25,0.25,{end}],{face}]"#);
        format!(r#"{{"id":{id},"ask":"ccd","kind":"vf",{ends}{more}}}"#)
    };
    let lines = [
        line(1, "-1", ""),
        line(2, "0", ""),
        line(3, "1e-300", ""),
        line(4, "0.5", r#","margin":0.75"#),
        line(5, "0", "").replace("vf", "fv"),
        line(6, "1e99", ""),
    ];
    folder.write("moving.jsonl", lines.join("\n"));
    let run = folder.run(&["query", "moving.jsonl"]);
    assert_eq!(run.code, 2);
    let answers: Vec<serde_json::Value> = run.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let time = |k: usize| answers[k]["time"].as_f64();
    assert!(time(0).is_some_and(|t| (0.5 - 1e-9..=0.5).contains(&t)), "{}", answers[0]);
    assert!(time(1).is_some_and(|t| (1.0 - 1e-9..=1.0).contains(&t)), "{}", answers[1]);
    assert_eq!((answers[2]["hit"].as_bool(), time(2)), (Some(false), None));
    assert!(time(3).is_some_and(|t| (0.49..=0.5).contains(&t)), "{}", answers[3]);
    assert!(answers[4]["error"].as_str().unwrap().starts_with("kind:"), "{}", answers[4]);
    assert!(answers[5]["error"].as_str().unwrap().starts_with("t1:"), "{}", answers[5]);
    assert_eq!(answers[0]["tolerance"].as_f64(), Some(1e-9));
}
