//! `impinge rays` and `ask: rays`: hits, exit codes and refusals.

use crate::common::{Folder, cube};

#[test]
fn hits_of_a_file_with_and_without_a_header() {
    let folder = Folder::new();
    folder.write("cube.obj", cube(1.0, 12));
    folder.write("rays.csv", "ox,oy,oz,dx,dy,dz\n0.25,0.5,5,0,0,-2\n0,0,0,1,0,0\n5,5,5,0,0,1\n");
    let ended = folder.run(&["rays", "cube.obj", "--rays", "rays.csv", "--format", "json"]);
    let answer = ended.json();
    assert_eq!((ended.code, answer["finish"].as_str()), (1, Some("complete")));
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!((hits.len(), hits[0]["t"].as_f64(), hits[0]["normal"][2].as_f64()), (3, Some(2.0), Some(1.0)));
    // From within, out of the solid.
    assert_eq!((hits[1]["t"].as_f64(), hits[1]["normal"][0].as_f64()), (Some(1.0), Some(1.0)));
    assert!(hits[2].is_null() && hits[0]["feature"]["face"].is_u64());
    let text = folder.run(&["rays", "cube.obj", "--rays", "rays.csv"]).out;
    assert!(text.contains("0: t 2.0 at 0.25,0.5,1.0, normal 0.0,0.0,1.0 (triangle "), "{text}");
    folder.write("bare.csv", "5,5,5,0,0,1\n");
    let ended = folder.run(&["rays", "cube.obj", "--rays", "bare.csv"]);
    assert_eq!(ended.code, 0);
    assert!(ended.out.contains("0 of 1 rays hit"), "{}", ended.out);
    let moved = folder.run(&["rays", "cube.obj", "--rays", "bare.csv", "--at", "5,5,9", "--format", "json"]);
    assert_eq!((moved.code, moved.json()["hits"][0]["t"].as_f64()), (1, Some(3.0)));
    folder.write("bad.csv", "0,0,5,0,0,-1\n0,0,5,0,0,0\n");
    let refused = folder.run(&["rays", "cube.obj", "--rays", "bad.csv"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("bad.csv line 2"), "{}", refused.err);
}

#[test]
fn every_kind_of_shape_is_hit_from_above() {
    let shapes = [
        (r#"{"sphere":1}"#, 1.0),
        (r#"{"box":[1,1,0.5]}"#, 0.5),
        (r#"{"capsule":{"radius":0.5,"half_height":1}}"#, 1.5),
        (r#"{"cylinder":{"radius":1,"half_height":2}}"#, 2.0),
        (r#"{"cone":{"radius":1,"half_height":1}}"#, 1.0),
        (r#"{"ellipsoid":[1,2,3]}"#, 3.0),
        (r#"{"halfspace":{"normal":[0,0,2],"offset":1}}"#, 0.5),
        (r#"{"hull":[[1,1,1],[-1,1,1],[1,-1,1],[-1,-1,1],[0,0,-1]]}"#, 1.0),
        (r#"{"triangle":[[1,0,0.25],[-1,1,0.25],[-1,-1,0.25]]}"#, 0.25),
        (r#"{"compound":[{"sphere":1},{"sphere":1,"pose":{"position":[0,0,1.5]}}]}"#, 2.5),
    ];
    let line = |(i, (shape, _)): (usize, &(&str, f64))| {
        format!(r#"{{"id":{i},"ask":"rays","a":{shape},"rays":[[0,0,5,0,0,-1]],"any":{}}}"#, i % 2 == 0)
    };
    let lines: Vec<String> = shapes.iter().enumerate().map(line).collect();
    let folder = Folder::new();
    let answers = folder.query(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    for ((shape, top), answer) in shapes.iter().zip(answers.lines()) {
        let hit = &answer["hits"][0];
        assert!((hit["t"].as_f64().unwrap() - (5.0 - top)).abs() < 1e-12, "{shape} {hit}");
        assert!((hit["normal"][2].as_f64().unwrap() - 1.0).abs() < 1e-9, "{shape} {hit}");
    }
    let none = folder.query(
        &[r#"{"id":1,"ask":"rays","a":{"segment":[[0,0,0],[1,0,0]]},"rays":[[0.5,0,5,0,0,-1]]}"#],
        &[],
    );
    assert!(none.lines()[0]["hits"][0].is_null());
}
