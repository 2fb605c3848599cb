//! `impinge decompose`: convex parts of a closed mesh.

use crate::common::Folder;

#[test]
fn a_convex_mesh_is_its_own_part_and_the_parts_can_be_read_again() {
    let folder = Folder::with_meshes();
    let ended = folder.run(&["decompose", "cube.obj", "--output", "parts.obj", "--format", "json"]);
    let answer = ended.json();
    assert_eq!(
        (ended.code, answer["count"].as_u64(), answer["certainty"].as_str()),
        (0, Some(1), Some("exact"))
    );
    assert_eq!((answer["volume"].as_f64(), answer["deviation"].as_f64()), (Some(8.0), Some(0.0)));
    assert_eq!(answer["ended"].as_str(), Some("tolerance"));
    assert_eq!(
        (answer["parts"][0]["vertices"].as_u64(), answer["parts"][0]["faces"].as_u64()),
        (Some(8), Some(6))
    );
    let again = folder.run(&["inspect", "parts.obj", "--format", "json"]).json();
    assert_eq!((again["watertight"].as_bool(), again["volume"].as_f64()), (Some(true), Some(8.0)));
    let text = folder.run(&["decompose", "cube.obj"]);
    assert!(text.out.contains("1 convex parts") && text.out.contains("8 corners, 6 faces"), "{}", text.out);
}

#[test]
fn parts_are_objects_of_an_obj() {
    let folder = Folder::new();
    let mesh = impinge::procedural::stairs(3, 1.0, 2.0, 1.0).unwrap();
    impinge::io::save(folder.path().join("stairs.obj"), &mesh).unwrap();
    let made = folder.run(&["decompose", "stairs.obj", "--output", "parts.obj", "--format", "json"]).json();
    let count = made["count"].as_u64().unwrap();
    let text = folder.run(&["clash", "parts.obj", "--only-kinds", "--format", "json"]).json();
    assert!(count > 1 && text["parts"].as_array().map(Vec::len) == Some(count as usize), "{made} {text}");
}

#[test]
fn what_has_no_inside_is_refused_by_name() {
    let folder = Folder::with_meshes();
    let ended = folder.run(&["decompose", "open.obj", "--format", "json"]);
    assert_eq!(ended.code, 2);
    let error = ended.json()["error"].as_str().unwrap().to_string();
    assert!(error.contains("open.obj") && error.contains("not closed"), "{error}");
    assert_eq!(folder.run(&["decompose", "cube.obj", "--parts", "0"]).code, 2);
    assert_eq!(folder.run(&["decompose", "cube.obj", "--tolerance", "-1"]).code, 2);
}

#[test]
fn a_tolerance_that_was_missed_is_told() {
    let folder = Folder::new();
    let mesh = impinge::procedural::stairs(3, 1.0, 2.0, 1.0).unwrap();
    impinge::io::save(folder.path().join("stairs.obj"), &mesh).unwrap();
    let few = ["decompose", "stairs.obj", "--parts", "2", "--tolerance", "0"];
    let answer = folder.run(&[&few[..], &["--format", "json"]].concat()).json();
    assert_eq!(
        (answer["count"].as_u64(), answer["ended"].as_str()),
        (Some(2), Some("most_parts")),
        "{answer}"
    );
    let text = folder.run(&few);
    assert!(text.code == 0 && text.out.contains("beyond the tolerance"), "{text:?}");
}

#[test]
fn issue_015_what_a_budget_was_enough_for_covers_the_solid() {
    let folder = Folder::new();
    let mesh = impinge::procedural::torus(1.0, 0.3, 24, 12).unwrap();
    impinge::io::save(folder.path().join("ring.obj"), &mesh).unwrap();
    let ask = |units: &str, more: &[&str]| {
        folder.run(&[&["decompose", "ring.obj", "--budget", units, "--format", "json"], more].concat())
    };
    let none = ask("100", &[]);
    assert_eq!((none.code, none.json()["parts"].is_null()), (3, true), "{none:?}");
    let some = ask("200000", &["--output", "parts.obj"]);
    let answer = some.json();
    assert_eq!(
        (some.code, answer["finish"].as_str(), answer["ended"].as_str()),
        (3, Some("out_of_budget"), Some("out_of_budget")),
        "{answer}"
    );
    assert!(answer["count"].is_null() && answer["certainty"].is_null());
    let parts = answer["parts"].as_array().unwrap();
    assert!((2..=64).contains(&parts.len()), "{}", parts.len());
    let volume = |value: &serde_json::Value| value["volume"].as_f64().unwrap();
    let sum: f64 = parts.iter().map(volume).sum();
    let excess = answer["excess"].as_f64().unwrap();
    // The volume of the solid is no answer yet; a mesh alone tells it.
    assert!(answer["volume"].is_null(), "{answer}");
    let whole = volume(&folder.run(&["inspect", "ring.obj", "--format", "json"]).json());
    assert!((sum - whole - excess).abs() < 1e-9 * sum, "{sum} of {answer}");
    // Each part holds corners of the ring, and none is farther from it than the stated length.
    let deviation = answer["deviation"].as_f64().unwrap();
    assert!(deviation > 0.0 && deviation < 1.5, "{deviation}");
    assert_eq!(folder.run(&["inspect", "parts.obj"]).code, 0);
    let text = folder.run(&["decompose", "ring.obj", "--budget", "200000"]);
    assert!(text.code == 3 && text.out.contains("convex parts so far"), "{text:?}");
}
