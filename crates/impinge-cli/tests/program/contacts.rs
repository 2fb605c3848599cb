//! `impinge contacts` and the questions `contacts` and `separate`: depths, normals, margins, sides, exit codes.

use crate::common::Folder;
use serde_json::{Value, json};

fn near(value: &Value, want: f64) -> bool {
    value.as_f64().is_some_and(|x| (x - want).abs() < 1e-9)
}

#[test]
fn a_cube_sunk_into_another_is_told_by_its_corners() {
    let folder = Folder::with_meshes();
    let args = ["contacts", "cube.obj", "small.obj", "--at-b", "0.3,0.2,1.15", "--format", "json"];
    let ended = folder.run(&args);
    assert_eq!(ended.code, 1, "{ended:?}");
    let found = ended.json();
    let contacts = found["contacts"].as_array().unwrap();
    assert_eq!(contacts.len(), 4, "{found}");
    for contact in contacts {
        assert!(near(&contact["depth"], 0.1) && near(&contact["normal"][2], 1.0), "{found}");
        assert!(near(&contact["points"][0][2], 1.0) && near(&contact["points"][1][2], 0.9), "{found}");
    }
    assert!(folder.run(&args[..5]).out.contains("depth 0.1"));
    let apart = folder.run(&["contacts", "cube.obj", "small.obj", "--at-b", "0,0,1.3", "--format", "json"]);
    assert_eq!((apart.code, &apart.json()["contacts"]), (0, &json!([])), "{apart:?}");
    let args =
        ["contacts", "cube.obj", "small.obj", "--at-b", "0,0,1.3", "--margin", "0.06", "--format", "json"];
    let within = folder.run(&args);
    assert_eq!(within.code, 1, "{within:?}");
    assert!(near(&within.json()["contacts"][0]["depth"], -0.05), "{within:?}");
    let wrong = folder.run(&["contacts", "cube.obj", "small.obj", "--margin", "-1"]);
    assert!(wrong.code == 2 && wrong.err.contains("margin"), "{wrong:?}");
    assert_eq!(folder.run(&["contacts", "cube.obj", "small.obj", "--sides", "3"]).code, 2);
}

#[test]
fn separate_tells_a_translation_that_check_confirms() {
    let folder = Folder::with_meshes();
    let args = ["separate", "cube.obj", "small.obj", "--at-b", "0.3,0.2,1.15", "--format", "json"];
    let (ended, line) = (
        folder.run(&args),
        r#"{"ask":"separate","a":{"mesh":"cube.obj"},"b":{"mesh":"small.obj","pose":[0.3,0.2,1.15]}}"#,
    );
    let (found, mut asked) = (ended.json(), folder.query(&[line], &[]).lines().remove(0));
    asked.as_object_mut().unwrap().remove("id");
    assert_eq!((ended.code, &found), (1, &asked));
    let way: [f64; 3] = serde_json::from_value(found["translation"].clone()).unwrap();
    assert!(near(&found["length"], 0.1) && near(&found["at_least"], 0.1), "{found}");
    let moved = [0.3 + way[0], 0.2 + way[1], 1.15 + way[2]].map(|x| format!("{x:?}")).join(",");
    let after = ["cube.obj", "small.obj", "--at-b", moved.as_str()];
    let checked = folder.run(&[&["check"], &after[..]].concat());
    assert!(checked.out.starts_with("touching") || checked.out.starts_with("separated"), "{checked:?}");
    let again = folder.run(&[&["separate"], &after[..]].concat());
    assert_eq!((again.code, again.out.lines().next()), (0, Some("apart or touching already")), "{again:?}");
    let text = folder.run(&args[..5]).out;
    assert!(text.contains("is apart or touches"), "{text}");
    let short = folder.run(&[&args[..], &["--budget", "1"]].concat());
    assert_eq!((short.code, &short.json()["translation"]), (3, &Value::Null), "{short:?}");
    let most = short.json()["at_most"].as_f64().unwrap();
    assert!((0.1..0.11).contains(&most), "{short:?}");
}

#[test]
fn an_open_mesh_pushes_to_the_side_asked_for() {
    let folder = Folder::with_meshes();
    let ask = |sides: &str, z: f64| {
        format!(
            r#"{{"id":1,"ask":"contacts","a":{{"vertices":[[-3,-3,0],[3,-3,0],[0,4,0]],"triangles":[[0,1,2]]}},"b":{{"sphere":0.5,"pose":{{"position":[0,0,{z}],"rotation":[0,0,0,1]}}}}{sides}}}"#
        )
    };
    let lines = [ask("", 0.4), ask("", -0.4), ask(r#","sides":1"#, -0.4), ask(r#","sides":3"#, 0.4)];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let found = folder.query(&lines, &[]).lines();
    assert!(near(&found[0]["contacts"][0]["depth"], 0.1) && near(&found[0]["contacts"][0]["normal"][2], 1.0));
    assert!(
        near(&found[1]["contacts"][0]["depth"], 0.1) && near(&found[1]["contacts"][0]["normal"][2], -1.0)
    );
    assert!(near(&found[2]["contacts"][0]["depth"], 0.9) && near(&found[2]["contacts"][0]["normal"][2], 1.0));
    assert!(found[3]["error"].as_str().unwrap().contains("sides"), "{}", found[3]);
}

#[test]
fn a_separating_translation_separates() {
    let folder = Folder::with_meshes();
    let line = |z: f64| {
        format!(
            r#"{{"id":1,"ask":"separate","a":{{"mesh":"cube.obj"}},"b":{{"mesh":"small.obj","pose":{{"position":[0.3,0.2,{z}],"rotation":[0,0,0,1]}}}}}}"#
        )
    };
    let found = folder.query(&[&line(1.15), &line(2.0)], &[]).lines();
    assert!(near(&found[0]["length"], 0.1) && near(&found[0]["translation"][2], 0.1), "{}", found[0]);
    assert!(found[0]["at_least"].as_f64() <= found[0]["length"].as_f64());
    assert_eq!((&found[1]["length"], &found[1]["translation"]), (&json!(0.0), &json!([0.0, 0.0, 0.0])));
}
