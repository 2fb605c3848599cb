//! `impinge clash`: parts of files, folders, glTF nodes and OBJ groups; kinds, files written, exit codes.

use crate::common::{Folder, cube};
use serde_json::{Value, json};

/// A cube of half extent 1 around x, as the faces of an OBJ whose vertices begin behind `first`.
fn cube_at(x: f64, first: usize) -> String {
    let mut text = String::new();
    for line in cube(1.0, 12).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["v", a, b, c] => text += &format!("v {} {b} {c}\n", a.parse::<f64>().unwrap() + x),
            ["f", corners @ ..] => {
                let corners: Vec<String> =
                    corners.iter().map(|i| (i.parse::<usize>().unwrap() + first).to_string()).collect();
                text += &format!("f {}\n", corners.join(" "));
            }
            _ => {}
        }
    }
    text
}

/// Four cubes along x: base, one that overlaps it, one that touches that, one 0.5 away; and a small one in the base.
fn assembly() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    folder.write("parts/a_base.obj", cube_at(0.0, 0));
    let groups = format!("g left\n{}g right, again\n{}", cube_at(1.5, 0), cube_at(3.5, 8));
    folder.write("parts/b_groups.obj", groups);
    folder.write("parts/c_far.obj", cube_at(6.0, 0));
    folder.write("parts/d_small.obj", cube(0.25, 12));
    folder.write("parts/notes.txt", "no mesh");
    folder
}

fn kinds(answer: &Value) -> Vec<[&str; 3]> {
    let clashes = answer["clashes"].as_array().unwrap();
    clashes.iter().map(|c| ["a", "b", "kind"].map(|field| c[field].as_str().unwrap())).collect()
}

#[test]
fn every_kind_is_found_and_written() {
    let folder = assembly();
    let run = |more: &[&str]| {
        let args = ["clash", "parts", "--clearance", "0.6", "--format", "json"];
        folder.run(&[&args, more].concat())
    };
    let ended = run(&["--out", "clashes.csv"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let answer = ended.json();
    assert_eq!(
        answer["parts"],
        json!(["a_base", "b_groups:left", "b_groups:right, again", "c_far", "d_small"])
    );
    let found = [
        ["a_base", "b_groups:left", "hard"],
        ["a_base", "d_small", "inside"],
        ["b_groups:left", "b_groups:right, again", "touching"],
        ["b_groups:left", "d_small", "clearance"],
        ["b_groups:right, again", "c_far", "clearance"],
    ];
    assert_eq!(kinds(&answer), found);
    let hard = &answer["clashes"][0];
    assert_eq!((hard["gap"].as_f64(), hard["separate"].as_f64()), (Some(0.0), Some(0.5)), "{hard}");
    assert!((hard["volume"].as_f64().unwrap() - 2.0).abs() < 1e-12, "{hard}");
    assert_eq!(answer["counts"]["hard"], 1);
    assert_eq!((&answer["certainty"], &answer["finish"]), (&json!("exact"), &json!("complete")));
    let csv = std::fs::read_to_string(folder.path().join("clashes.csv")).unwrap();
    assert!(csv.starts_with("a,b,kind,gap,"), "{csv}");
    assert!(csv.contains("\nb_groups:left,\"b_groups:right, again\",touching,0.0,"), "{csv}");
    run(&["--out", "clashes.html"]);
    let html = std::fs::read_to_string(folder.path().join("clashes.html")).unwrap();
    assert!(html.ends_with("</html>\n") && html.matches("data:image/png;base64,").count() == 5);
    assert_eq!(run(&["--out", "clashes.txt"]).code, 2);
    let less = run(&["--ignore", "b_groups:left,b_groups:right, again"]).json();
    assert_eq!(less["clashes"].as_array().unwrap().len(), 4);
    assert_eq!(run(&["--ignore", "a_base,nobody"]).code, 2);
    let text = folder.run(&["clash", "parts"]);
    assert_eq!(text.code, 1);
    assert!(text.out.contains(", apart after 0.5"), "{}", text.out);
}

#[test]
fn scales_units_budgets_and_broken_parts() {
    let folder = assembly();
    let answer = folder.run(&["clash", "parts", "--scale", "10", "--format", "json"]).json();
    assert!((answer["clashes"][0]["volume"].as_f64().unwrap() - 2000.0).abs() < 1e-9, "{answer}");
    let ended = folder.run(&["clash", "parts/a_base.obj", "parts/c_far.obj"]);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{ended:?}");
    let ended = folder.run(&["clash", "parts", "--budget", "1", "--format", "json"]);
    let answer = ended.json();
    assert_eq!(
        (ended.code, &answer["finish"], &answer["certainty"]),
        (3, &json!("out_of_budget"), &Value::Null)
    );
    folder.write("parts/e_metres.obj", cube(0.002, 12));
    assert!(folder.run(&["clash", "parts"]).err.contains("millimetres and metres?"));
    folder.write("parts/f_broken.stl", "solid but not really\n facet normal 0 0\n");
    let ended = folder.run(&["clash", "parts", "--out", "half.csv", "--format", "json"]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("f_broken") && ended.json()["error"].is_string(), "{ended:?}");
    assert!(!folder.path().join("half.csv").exists());
    assert_eq!(folder.run(&["clash", "nowhere"]).code, 2);
    assert_eq!(folder.run(&["clash", "parts", "--scale", "0"]).code, 2);
}
