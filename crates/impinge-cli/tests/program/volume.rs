//! `impinge volume` and the question `volume`: values, regions, gradient, refusals, exit codes.

use crate::common::Folder;
use serde_json::{Value, json};

#[test]
fn cubes_overlap_in_one_region() {
    let folder = Folder::with_meshes();
    // Half lengths 1 and 0.25: the small cube is sunk by 0.1.
    let args = ["volume", "cube.obj", "small.obj", "--at-b", "0.3,0.2,1.15", "--format", "json"];
    let ended = folder.run(&args);
    assert_eq!(ended.code, 1, "{ended:?}");
    let found = ended.json();
    let near = |value: &Value, want: f64| (value.as_f64().unwrap() - want).abs() < 1e-14;
    assert!(near(&found["volume"], 0.025), "{found}");
    assert!(found["volume_error"].as_f64().unwrap() < 1e-12);
    assert_eq!((&found["certainty"], &found["method"]), (&json!("exact"), &json!("exact")));
    let patches = found["patches"].as_array().unwrap();
    assert_eq!(patches.len(), 1);
    assert!(near(&patches[0]["depth"], 0.1) && near(&patches[0]["area"], 0.25), "{found}");
    assert!(near(&patches[0]["normal"][2], 1.0) && near(&patches[0]["centroid"][2], 0.95), "{found}");
    let told = folder.run(&args[..5]);
    assert!(told.out.contains("deep along"), "{told:?}");
}

#[test]
fn apart_is_free_and_nested_has_no_direction() {
    let folder = Folder::with_meshes();
    let apart = folder.run(&["volume", "cube.obj", "small.obj", "--at-b", "4,0,0", "--format", "json"]);
    assert_eq!((apart.code, &apart.json()["volume"]), (0, &json!(0.0)), "{apart:?}");
    let touching = folder.run(&["volume", "cube.obj", "small.obj", "--at-b", "1.25,0,0", "--format", "json"]);
    assert_eq!((touching.code, &touching.json()["volume"]), (0, &json!(0.0)), "{touching:?}");
    let nested = folder.run(&["volume", "cube.obj", "small.obj", "--format", "json"]);
    let found = nested.json();
    assert_eq!((nested.code, &found["volume"]), (1, &json!(0.125)), "{nested:?}");
    assert_eq!(found["patches"][0]["normal"], Value::Null);
}

#[test]
fn the_gradient_is_a_row_for_each_vertex() {
    let folder = Folder::with_meshes();
    let args = ["volume", "cube.obj", "small.obj", "--at-b", "0.3,0.2,1.15", "--gradient", "slopes.csv"];
    assert_eq!(folder.run(&args).code, 1);
    let text = std::fs::read_to_string(folder.path().join("slopes.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((rows[0].join(","), rows.len()), ("body,vertex,x,y,z".to_string(), 17));
    let pull = |body: &str| -> f64 {
        rows.iter().filter(|row| row[0] == body).map(|row| row[4].parse::<f64>().unwrap()).sum()
    };
    assert!((pull("a") - 0.25).abs() < 1e-14 && (pull("b") + 0.25).abs() < 1e-14, "{text}");
}

#[test]
fn the_gradient_is_written_by_its_ending() {
    let folder = Folder::with_meshes();
    let args = ["volume", "cube.obj", "small.obj", "--at-b", "0.3,0.2,1.15", "--gradient"];
    let run = |file: &str| folder.run(&[&args[..], &[file]].concat());
    assert_eq!(run("slopes.json").code, 1);
    let text = std::fs::read_to_string(folder.path().join("slopes.json")).unwrap();
    let found: Value = serde_json::from_str(&text).unwrap();
    let pull = |body: &str| -> f64 {
        found[body].as_array().unwrap().iter().map(|slope| slope[2].as_f64().unwrap()).sum()
    };
    assert!((pull("a") - 0.25).abs() < 1e-14 && (pull("b") + 0.25).abs() < 1e-14, "{text}");
    assert_eq!((&found["schema"], found["a"].as_array().unwrap().len()), (&json!(1), 8));
    // The PLY holds both placed bodies, so that it can be read back and looked at.
    assert_eq!(run("slopes.ply").code, 1);
    let both = impinge::io::load_mesh(folder.path().join("slopes.ply")).unwrap();
    assert_eq!((both.vertices().len(), both.triangles().len()), (16, 24));
    assert_eq!(both.vertices().iter().map(|p| p.z).fold(f64::MIN, f64::max), 1.4);
    let refused = run("slopes.txt");
    assert!(refused.code == 2 && refused.err.contains(".csv, .json or .ply"), "{refused:?}");
}

#[test]
fn the_border_is_a_closed_mesh_of_the_stated_volume() {
    let folder = Folder::with_meshes();
    for file in ["both.obj", "both.ply", "both.stl"] {
        let ended = folder.run(&[
            "volume",
            "cube.obj",
            "small.obj",
            "--at-b",
            "0.3,0.2,1.15",
            "--mesh",
            file,
            "--format",
            "json",
        ]);
        assert_eq!(ended.code, 1, "{ended:?}");
        let seen = folder.run(&["inspect", file, "--format", "json"]).json();
        assert_eq!((&seen["watertight"], &seen["self_intersections"]), (&json!(true), &json!(0)), "{seen}");
        let [stated, seen] = [&ended.json()["volume"], &seen["volume"]].map(|v| v.as_f64().unwrap());
        assert!((stated - seen).abs() < 1e-14, "{stated} {seen}");
    }
    let apart = folder.run(&["volume", "cube.obj", "small.obj", "--at-b", "4,0,0", "--mesh", "none.obj"]);
    assert!(apart.code == 0 && apart.err.contains("do not overlap"), "{apart:?}");
    assert!(!folder.path().join("none.obj").exists());
    let refused = folder.run(&["volume", "cube.obj", "small.obj", "--mesh", "both.xyz"]);
    assert!(refused.code == 2 && refused.err.contains(".obj, .stl or .ply"), "{refused:?}");
}

#[test]
fn what_bounds_no_solid_is_refused() {
    let folder = Folder::with_meshes();
    let ended = folder.run(&["volume", "cube.obj", "open.obj"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    let wrong = "b: the mesh is open and bounds no solid: its edge between vertices";
    assert!(ended.err.contains(wrong), "{ended:?}");
    let ended = folder.run(&["volume", "cube.obj", "small.obj", "--method", "gjk"]);
    assert!(ended.code == 2 && ended.err.contains("exact"), "{ended:?}");
}

#[test]
fn hulls_boxes_and_refusals_in_a_batch() {
    let lines = [
        r#"{"id":1,"ask":"volume","a":{"box":[1,1,1]},"b":{"box":[1,1,1],"pose":{"position":[1,0.5,0]}}}"#,
        r#"{"id":2,"ask":"volume","a":{"hull":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]},"b":{"box":[5,5,5]},"resolution":64}"#,
        r#"{"id":3,"ask":"volume","a":{"sphere":1},"b":{"box":[1,1,1]}}"#,
        r#"{"id":4,"ask":"volume","a":{"box":[1,1,1]},"b":{"box":[1,1,1]},"resolution":0}"#,
        r#"{"id":5,"ask":"volume","a":{"box":[1,1,1]},"b":{"box":[1,1,1]},"budget":1}"#,
    ];
    let ended = Folder::new().query(&lines, &[]);
    let found = ended.lines();
    assert_eq!(found[0]["volume"], json!(3.0), "{ended:?}");
    assert!((found[1]["volume"].as_f64().unwrap() - 1.0 / 6.0).abs() < 1e-15);
    // A ball cut by a cube that holds it: images answer what the exact method refuses.
    assert_eq!(found[2]["method"], "image", "{}", found[2]);
    assert!((found[2]["volume"].as_f64().unwrap() - 4.1887902).abs() < 2e-3, "{}", found[2]);
    assert!(found[3]["error"].as_str().unwrap().contains("resolution"), "{}", found[3]);
    assert!(found[4]["volume"].is_null() || found[4]["finish"] == "complete", "{}", found[4]);
}

#[test]
fn images_state_their_error_and_follow_the_resolution() {
    let folder = Folder::with_meshes();
    let args =
        ["volume", "cube.obj", "small.obj", "--at-b", "0.3,0.2,1.15,0.1,0.2,0.3,0.9", "--format", "json"];
    let exact = folder.run(&args).json()["volume"].as_f64().unwrap();
    for more in [["--resolution", "64"], ["--resolution", "256"], ["--error", "0.001"]] {
        let ended = folder.run(&[&args[..], &["--method", "image"], &more].concat());
        assert_eq!(ended.code, 1, "{ended:?}");
        let found = ended.json();
        let (volume, error) = (found["volume"].as_f64().unwrap(), found["volume_error"].as_f64().unwrap());
        assert!(
            (volume - exact).abs() <= error && error < 0.05 * exact,
            "{more:?}: {volume} ± {error}, {exact}"
        );
        assert_eq!((&found["certainty"], &found["method"]), (&json!("approximate"), &json!("image")));
        assert_eq!(found["error_kind"], "estimate");
        assert!(found["resolution"].as_f64().unwrap() > 0.0);
        assert!(more[0] != "--error" || error <= 0.001 * volume, "{found}");
    }
    let refused = folder.run(&[&args[..], &["--method", "image", "--resolution", "0"]].concat());
    assert_eq!(refused.code, 2, "{refused:?}");
}

#[test]
fn open_meshes_bound_what_the_caller_says() {
    let folder = Folder::with_meshes();
    for how in ["half_space", "winding"] {
        let ended = folder.run(&["volume", "cube.obj", "open.obj", "--open", how, "--format", "json"]);
        assert!(ended.code <= 1, "{ended:?}");
        assert_eq!(ended.json()["method"], "image", "{ended:?}");
    }
    let line = r#"{"id":1,"ask":"volume","a":{"box":[1,1,1]},"b":{"sphere":1},"open":"always"}"#;
    assert!(Folder::new().query(&[line], &[]).lines()[0]["error"].as_str().unwrap().contains("half_space"));
}

#[test]
fn a_picture_shows_every_place_of_the_border_in_the_colour_of_one_axis() {
    let folder = Folder::new();
    folder.write("box.obj", cubes(&[(1.0, [0.0; 3], false)]));
    let args = ["volume", "box.obj", "box.obj", "--at-b", "0.7,0.5,0.6,0.1,0.2,0.3,0.9"];
    let ended = folder.run(&[&args[..], &["--picture", "overlap.png", "--size", "1000x500"]].concat());
    assert_eq!(ended.code, 1, "{ended:?}");
    let picture = image::open(folder.path().join("overlap.png")).unwrap().into_rgb8();
    assert_eq!(picture.dimensions(), (1000, 500));
    // The background is grey; colours of different axes lie side by side along the edges of the border only.
    let axis = |x: u32, y: u32| {
        let [r, g, b] = picture.get_pixel(x, y).0.map(i32::from);
        let [low, high] = [r.min(g).min(b), r.max(g).max(b)];
        (high - low > 60).then(|| [r, g, b].iter().position(|&c| c == high))
    };
    let (mut seen, mut changes) = ([0; 3], 0);
    for (x, y) in (501..999).flat_map(|x| (0..500).map(move |y| (x, y))) {
        let Some(Some(own)) = axis(x, y) else { continue };
        seen[own] += 1;
        changes += u32::from(axis(x + 1, y).flatten().is_some_and(|next| next != own));
    }
    assert!(seen.iter().all(|&count| count > 20_000), "{seen:?}");
    assert!(changes < 2_000, "{changes}");
}

/// A mesh of cubes: half length, middle, and whether the triangles face inwards.
fn cubes(all: &[(f64, [f64; 3], bool)]) -> String {
    const FACES: [[usize; 3]; 12] = [
        [1, 3, 4],
        [1, 4, 2],
        [5, 6, 8],
        [5, 8, 7],
        [1, 2, 6],
        [1, 6, 5],
        [3, 7, 8],
        [3, 8, 4],
        [1, 5, 7],
        [1, 7, 3],
        [2, 4, 8],
        [2, 8, 6],
    ];
    let mut text = String::new();
    for (half, at, _) in all {
        for k in 0..8 {
            let [x, y, z] = [0, 1, 2].map(|i| at[i] + if k >> i & 1 == 1 { *half } else { -half });
            text += &format!("v {x} {y} {z}\n");
        }
    }
    for (number, (_, _, inwards)) in all.iter().enumerate() {
        for face in FACES {
            let [a, b, c] = face.map(|v| v + 8 * number);
            text += &if *inwards { format!("f {a} {c} {b}\n") } else { format!("f {a} {b} {c}\n") };
        }
    }
    text
}

#[test]
fn a_solid_is_where_the_surface_winds() {
    let folder = Folder::new();
    let middle = [0.0; 3];
    folder.write("big.obj", cubes(&[(9.0, middle, false)]));
    folder.write("opposite.obj", cubes(&[(1.0, middle, false), (1.0, [5.0, 0.0, 0.0], true)]));
    folder.write("overlapping.obj", cubes(&[(1.0, middle, false), (1.0, [1.0, 0.25, 0.125], false)]));
    folder.write("nested.obj", cubes(&[(2.0, middle, false), (1.0, middle, false)]));
    let ask = |file: &str, more: &[&str]| {
        folder.run(&[&["volume", file, "big.obj", "--format", "json"], more].concat())
    };
    for (file, volume) in [("opposite.obj", 16.0), ("nested.obj", 64.0)] {
        let (ended, slopes) = (ask(file, &["--gradient", "slopes.csv"]), folder.path().join("slopes.csv"));
        assert_eq!(ended.code, 1, "{ended:?}");
        let found = ended.json();
        assert!((found["volume"].as_f64().unwrap() - volume).abs() < 1e-9, "{found}");
        assert_eq!((&found["certainty"], &found["method"]), (&json!("exact"), &json!("exact")));
        // A row for each vertex of both files, whether it bounds the solid or not.
        assert_eq!(std::fs::read_to_string(slopes).unwrap().lines().count(), 1 + 16 + 8);
    }
    let found = ask("overlapping.obj", &[]).json();
    let (volume, error) = (found["volume"].as_f64().unwrap(), found["volume_error"].as_f64().unwrap());
    assert!((volume - 12.71875).abs() <= error + 0.005 * volume, "{found}");
    assert_eq!((&found["certainty"], &found["method"]), (&json!("approximate"), &json!("image")));
    let refused = ask("overlapping.obj", &["--method", "exact"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("overlaps itself") && refused.err.contains("image"), "{refused:?}");
    let clash = folder.run(&["clash", "overlapping.obj", "big.obj", "--format", "json"]).json();
    assert!((clash["clashes"][0]["volume"].as_f64().unwrap() - 12.71875).abs() < 0.07, "{clash}");
}
