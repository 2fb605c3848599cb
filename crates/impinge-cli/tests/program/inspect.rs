//! `impinge inspect` and `impinge self`: the health of a mesh.

use crate::common::Folder;
use serde_json::json;

#[test]
fn a_sound_mesh_has_no_problems() {
    let folder = Folder::with_meshes();
    let ended = folder.run(&["inspect", "cube.obj", "--format", "json"]);
    let mut answer = ended.json();
    let kept = answer.as_object_mut().unwrap();
    let names = [
        "schema",
        "vertices",
        "welded_vertices",
        "triangles",
        "components",
        "watertight",
        "boundary_edges",
        "nonmanifold_edges",
        "degenerate_triangles",
        "duplicate_triangles",
        "self_intersections",
        "volume",
        "box",
        "problems",
        "certainty",
        "finish",
    ];
    kept.retain(|name, _| names.contains(&name.as_str()));
    let want = json!({
        "schema": 1, "vertices": 8, "welded_vertices": 8, "triangles": 12, "components": 1, "watertight": true,
        "boundary_edges": 0, "nonmanifold_edges": 0, "degenerate_triangles": 0, "duplicate_triangles": 0,
        "self_intersections": 0, "volume": 8.0, "box": [[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]], "problems": [],
        "certainty": "exact", "finish": "complete",
    });
    assert_eq!((answer, ended.code), (want, 0));
    let text = folder.run(&["inspect", "cube.obj"]);
    assert!(text.out.contains("watertight") && text.out.contains("no problems"), "{}", text.out);
}

#[test]
fn a_sick_mesh_is_described_and_exits_0() {
    let folder = Folder::with_meshes();
    let open = folder.run(&["inspect", "open.obj", "--format", "json"]);
    let answer = open.json();
    assert_eq!((answer["watertight"].as_bool(), answer["boundary_edges"].as_u64()), (Some(false), Some(4)));
    assert!(!answer["problems"].as_array().unwrap().is_empty());
    assert_eq!(open.code, 0);
    let bow = folder.run(&["inspect", "bow.obj", "--format", "json"]);
    assert_eq!((bow.json()["self_intersections"].as_u64(), bow.code), (Some(1), 0));
    let sick = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 0\nf 1 2 3\nf 2 3 4\nf 1 1 2\n";
    folder.write("sick.obj", sick);
    let ended = folder.run(&["inspect", "sick.obj", "--format", "json"]);
    let answer = ended.json();
    let counts = ["vertices", "welded_vertices", "triangles", "degenerate_triangles", "duplicate_triangles"]
        .map(|name| answer[name].as_u64().unwrap());
    assert_eq!((counts, ended.code), ([4, 3, 3, 1, 1], 0), "{answer}");
    let text = folder.run(&["inspect", "sick.obj"]);
    assert_eq!(text.code, 0);
    for problem in answer["problems"].as_array().unwrap() {
        assert!(text.out.contains(problem.as_str().unwrap()), "{problem} not in {}", text.out);
    }
}

#[test]
fn self_lists_the_crossing_pairs() {
    let folder = Folder::with_meshes();
    let ended = folder.run(&["self", "bow.obj", "--format", "json"]);
    let want = json!({"schema": 1, "count": 1, "pairs": [[0, 1]], "method": "exact", "certainty": "exact", "finish": "complete"});
    assert_eq!((ended.json(), ended.code), (want, 1));
    let text = folder.run(&["self", "bow.obj"]);
    assert!(text.out.contains("0 1\n"), "{}", text.out);
    let sound = folder.run(&["self", "cube.obj", "--format", "json"]);
    assert_eq!((sound.json()["count"].as_u64(), sound.code), (Some(0), 0));
}

/// An OBJ torus of `around` × `across` quadrangles.
fn torus(around: usize, across: usize) -> String {
    let turn = |k: usize, n: usize| (k as f64 / n as f64 * std::f64::consts::TAU).sin_cos();
    let mut text = String::new();
    for k in 0..around * across {
        let ((sin, cos), (up, out)) = (turn(k / across, around), turn(k % across, across));
        let far = 2.0 + 0.5 * out;
        text += &format!("v {} {} {}\n", far * cos, far * sin, 0.5 * up);
    }
    for (i, j) in (0..around).flat_map(|i| (0..across).map(move |j| (i, j))) {
        let at = |i: usize, j: usize| i % around * across + j % across + 1;
        text += &format!("f {} {} {} {}\n", at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
    }
    text
}

#[test]
fn a_budget_leaves_how_many_there_are_at_least() {
    let folder = Folder::with_meshes();
    let ended = folder.run(&["self", "sheet.obj", "--budget", "1", "--format", "json"]);
    let answer = ended.json();
    assert_eq!((ended.code, answer["finish"].as_str()), (3, Some("out_of_budget")), "{answer}");
    assert!(answer["count"].is_null() && answer["certainty"].is_null(), "{answer}");
    assert_eq!((&answer["at_least"], &answer["pairs"]), (&json!(0), &json!([])));
    assert!(folder.run(&["self", "sheet.obj", "--budget", "1"]).out.starts_with("at least 0 so far"));
    let ended = folder.run(&["inspect", "sheet.obj", "--budget", "1", "--format", "json"]);
    let answer = ended.json();
    assert_eq!((ended.code, &answer["at_least"]), (3, &json!(0)), "{answer}");
    assert!(answer["self_intersections"].is_null() && answer["area"] == 4.0, "{answer}");
    assert!(folder.run(&["inspect", "sheet.obj", "--budget", "1"]).out.contains("at least 0 so far"));
    folder.write("torus.obj", torus(32, 16));
    let text = folder.run(&["inspect", "torus.obj", "--budget", "1"]);
    assert_eq!(text.code, 3, "{text:?}");
    assert!(text.out.contains("no problems found so far\nself-intersections are undecided"), "{}", text.out);
    assert!(folder.run(&["inspect", "torus.obj"]).out.contains("\nno problems\n"));
    let whole = folder.run(&["inspect", "sheet.obj", "--format", "json"]).json();
    assert_eq!((&whole["self_intersections"], whole.get("at_least")), (&json!(0), None));
    assert_eq!(folder.run(&["inspect", "cube.obj", "--method", "brute"]).code, 2);
}
