//! `impinge sweep` and the question `sweep`: times, kinds, motions, exit codes.

use crate::common::Folder;
use serde_json::Value;

fn near(value: &Value, want: f64) {
    let time = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!(time <= want + 1e-12 && time >= want - 1.1e-6, "{time} for {want}");
}

#[test]
fn a_cube_flies_into_another() {
    let folder = Folder::with_meshes();
    let args = ["sweep", "cube.obj", "small.obj", "--at-b", "4,0.1,0.2", "--to-b", "-4,0.1,0.2"];
    let ended = folder.run(&[&args[..], &["--format", "json"]].concat());
    assert_eq!(ended.code, 1, "{ended:?}");
    let found = ended.json();
    assert_eq!(found["hit"], true);
    near(&found["time"], 2.75 / 8.0);
    assert_eq!(found["tolerance"], 1e-6);
    assert_eq!(found["certainty"], "conservative");
    assert!(["vf", "fv", "ee"].contains(&found["kind"].as_str().unwrap()));
    assert_eq!(found["features"].as_array().unwrap().len(), 2);
    assert!((found["point"][0].as_f64().unwrap() - 1.0).abs() < 1e-5);
    assert!((found["normal"][0].as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert!(folder.run(&args).out.contains("hit at 0.343749"));
}

#[test]
fn a_miss_is_free_and_a_start_in_contact_is_time_zero() {
    let folder = Folder::with_meshes();
    let miss = ["sweep", "cube.obj", "small.obj", "--at-b", "4,3,0", "--to-b", "-4,3,0", "--format", "json"];
    let ended = folder.run(&miss);
    assert_eq!(ended.code, 0, "{ended:?}");
    let found = ended.json();
    assert_eq!(
        (&found["hit"], &found["time"], &found["kind"]),
        (&Value::Bool(false), &Value::Null, &Value::Null)
    );
    assert_eq!((found["tolerance"].as_f64(), found["free_until"].as_f64()), (Some(1e-6), Some(1.0)));
    let touching =
        ["sweep", "cube.obj", "small.obj", "--at-b", "1.25,0,0", "--to-b", "9,0,0", "--format", "json"];
    let ended = folder.run(&touching);
    assert_eq!((ended.code, ended.json()["time"].as_f64()), (1, Some(0.0)), "{ended:?}");
}

#[test]
fn turns_laws_and_budgets_are_taken() {
    let folder = Folder::with_meshes();
    // The bar reaches to 3; turned by n quarter turns about z it meets the small cube at 90 degrees of them.
    let bar =
        r#"{"vertices":[[0,-0.1,-0.1],[3,-0.1,-0.1],[3,0.1,0.1],[0,0.1,0.1]],"triangles":[[0,1,2],[0,2,3]]}"#;
    let ask = |more: &str, to: &str| {
        format!(
            r#"{{"id":1,"ask":"sweep","a":{{{}{more},"to":{to}}},"b":{{"mesh":"small.obj","pose":{{"position":[0,2.6,0]}}}}}}"#,
            bar.trim_start_matches('{').trim_end_matches('}')
        )
    };
    let stay = r#"{"position":[0,0,0]}"#;
    let half = r#"{"position":[0,0,0],"rotation":[0,0,1,0]}"#;
    let lines = [
        ask("", half),
        ask(r#","turns":2"#, half),
        ask(r#","turns":1"#, stay),
        ask("", stay),
        ask(r#","law":"contact""#, half),
    ];
    let ended = folder.query(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let found = ended.lines();
    let first = found[0]["time"].as_f64().unwrap();
    assert!((0.4..0.5).contains(&first), "{first}");
    // The same place in five halves of a turn.
    assert!((found[1]["time"].as_f64().unwrap() - first / 5.0).abs() < 1e-5);
    assert!((found[2]["time"].as_f64().unwrap() - first / 2.0).abs() < 1e-5);
    assert_eq!(found[3]["hit"], false);
    assert!((found[4]["time"].as_f64().unwrap() - first).abs() < 1e-5, "without a shift the laws agree");
    let args = [
        "sweep",
        "cube.obj",
        "sheet.obj",
        "--at-b",
        "0,0,3",
        "--to-b",
        "0,0,-3",
        "--budget",
        "1",
        "--format",
        "json",
    ];
    let ended = folder.run(&args);
    assert_eq!((ended.code, &ended.json()["hit"]), (3, &Value::Null), "{ended:?}");
}

#[test]
fn shapes_are_swept_and_named() {
    let folder = Folder::with_meshes();
    let fly = r#""pose":{"position":[0,0,5]},"to":{"position":[0,0,-5]}"#;
    let cases = [
        (format!(r#"{{"sphere":0.5,{fly}}}"#), r#"{"box":[1,1,1]}"#, 0.35, "sphere-box"),
        (format!(r#"{{"sphere":0.5,{fly}}}"#), r#"{"mesh":"cube.obj"}"#, 0.35, "sphere-mesh"),
        (
            format!(r#"{{"mesh":"small.obj",{fly}}}"#),
            r#"{"halfspace":{"normal":[0,0,1],"offset":0.75}}"#,
            0.4,
            "mesh-halfspace",
        ),
        (
            format!(r#"{{"cone":{{"radius":1,"half_height":1}},{fly}}}"#),
            r#"{"ellipsoid":[1,2,3]}"#,
            0.1,
            "cone-ellipsoid",
        ),
        (
            format!(r#"{{"hull":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]],{fly}}}"#),
            r#"{"cylinder":{"radius":1,"half_height":2}}"#,
            0.3,
            "hull-cylinder",
        ),
    ];
    for (a, b, time, kind) in cases {
        let line = format!(r#"{{"id":1,"ask":"sweep","a":{a},"b":{b}}}"#);
        let swapped = format!(r#"{{"id":1,"ask":"sweep","a":{b},"b":{a}}}"#);
        let ended = folder.query(&[&line, &swapped], &[]);
        assert_eq!(ended.code, 0, "{ended:?}");
        let found = ended.lines();
        near(&found[0]["time"], time);
        near(&found[1]["time"], time);
        assert_eq!(found[0]["kind"], kind);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::with_meshes();
    let line =
        |more: &str| format!(r#"{{"id":1,"ask":"sweep","a":{{"sphere":1{more}}},"b":{{"sphere":1}}}}"#);
    let wrong = [
        (r#","to":{"position":[0,0]}"#, "a.to.position"),
        (r#","to":{"position":[0,0,1]},"law":"free""#, "known are uniform and contact"),
        (r#","to":{"position":[0,0,1]},"turns":-1"#, "turns"),
    ];
    for (more, why) in wrong {
        let ended = folder.query(&[&line(more)], &[]);
        assert_eq!(ended.code, 2);
        assert!(ended.lines()[0]["error"].as_str().unwrap().contains(why), "{ended:?}");
    }
    assert_eq!(folder.run(&["sweep", "cube.obj", "small.obj", "--law", "free"]).code, 2);
    assert_eq!(folder.run(&["sweep", "cube.obj", "small.obj", "--tolerance", "-1"]).code, 2);
}

/// Answers of a review that were once wrong.
#[test]
fn no_hit_is_made_up_and_every_hit_has_a_normal() {
    let folder = Folder::with_meshes();
    let ball = r#"{"sphere":0.5}"#;
    let wall = r#"{"vertices":[[0,-5,-5],[0,5,-5],[0,0,5]],"triangles":[[0,1,2]]}"#;
    let arrow = r#"{"vertices":[[-0.5,-0.5,-0.5],[0.5,0,0],[-0.5,0.5,0.5]],"triangles":[[0,1,2]],
        "pose":{"position":[-1e6,0,0]},"to":{"position":[1e6,0,0]}}"#
        .replace('\n', "");
    let questions = [
        format!(
            r#"{{"ask":"sweep","a":{ball},"b":{{"sphere":0.5,"pose":{{"position":[-10,1.2,0]}},"to":{{"position":[0.3,1.2,0]}}}}}}"#
        ),
        r#"{"ask":"sweep","a":{"sphere":1e-6,"pose":{"position":[1e6,0,0]}},"b":{"sphere":1e-6,"pose":{"position":[1000000.0000021,0,0]}}}"#.into(),
        r#"{"ask":"sweep","a":{"halfspace":{"normal":[0,0,1],"offset":0},"to":{"position":[0,0,0],"rotation":[0,0,1,1]}},"b":{"halfspace":{"normal":[0,0,-1],"offset":-1}}}"#.into(),
        r#"{"ask":"sweep","a":{"halfspace":{"normal":[0,0,1],"offset":0},"to":{"position":[0,0,0],"rotation":[1,0,0,1]}},"b":{"halfspace":{"normal":[0,0,-1],"offset":-1},"to":{"position":[0,0,0],"rotation":[1,0,0,1]}}}"#.into(),
        format!(r#"{{"ask":"sweep","a":{wall},"b":{arrow}}}"#),
        format!(r#"{{"ask":"sweep","a":{ball},"b":{ball},"turns":1000000}}"#),
    ];
    let questions = questions.each_ref().map(String::as_str);
    let answers = folder.query(&questions, &[]).lines();
    assert_eq!(answers[0]["hit"], false, "{}", answers[0]);
    let slack = answers[1]["slack"].as_f64().unwrap();
    assert!(answers[1]["hit"] == false || slack >= 1.0e-7, "{}", answers[1]);
    assert_eq!(answers[2]["hit"], false, "{}", answers[2]);
    assert_eq!(answers[3]["hit"], false, "{}", answers[3]);
    assert_eq!(answers[4]["hit"], true, "{}", answers[4]);
    let normal = answers[4]["normal"][0].as_f64().unwrap();
    assert!((normal + 1.0).abs() < 1e-9, "from the wall to the arrow: {}", answers[4]);
    assert!(answers[5]["error"].as_str().unwrap().contains("turns"), "{}", answers[5]);
}

#[test]
fn contact_agrees_with_auto() {
    let folder = Folder::with_meshes();
    let ways: [&[&str]; 6] = [
        &["--at-b", "4,0.1,0.2", "--to-b", "-4,0.1,0.2"],
        &["--at-b", "4,0.1,0.2", "--to-b", "-4,0.3,0.2,0.1,0.2,0.3,0.9", "--law", "contact"],
        &["--at-b", "4,0.1,0.2", "--to-b", "-4,0.3,0.2,0.1,0.2,0.3,0.9"],
        &[
            "--to-a",
            "2,0,0,0,0,0.6,0.8",
            "--at-b",
            "4,0.1,0.2",
            "--to-b",
            "-4,0.3,0.2,0.1,0.2,0.3,0.9",
            "--turns",
            "1",
        ],
        &["--at-b", "4,3,0", "--to-b", "-4,3,0"],
        &["--at-b", "1.25,0,0", "--to-b", "9,0,0"],
    ];
    let mut hits = 0;
    for way in ways {
        let ask = |method: &str| {
            let args =
                [&["sweep", "cube.obj", "small.obj"][..], way, &["--method", method, "--format", "json"]];
            let ended = folder.run(&args.concat());
            (ended.code, ended.json())
        };
        let ((code, found), (other_code, other)) = (ask("contact"), ask("auto"));
        assert_eq!(code, other_code, "{way:?}: {found} {other}");
        assert_eq!((&found["hit"], &found["finish"]), (&other["hit"], &other["finish"]), "{way:?}");
        let fields = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert!(fields(&found).iter().all(|name| fields(&other).contains(name) || name == "tolerance"));
        if found["hit"] == true {
            hits += 1;
            let [one, two] = [&found, &other].map(|answer| answer["time"].as_f64().unwrap());
            assert!((one - two).abs() < 2e-6, "{way:?}: {found} {other}");
            assert_eq!(found["proved"], other["proved"], "{way:?}");
        }
    }
    assert_eq!(hits, 5);
    let line = r#"{"ask":"sweep","method":"contact","a":{"sphere":1},"b":{"mesh":"cube.obj"}}"#;
    let why = "method contact does not answer sweep of sphere and mesh; exact does";
    assert!(folder.query(&[line], &[]).out.contains(why));
    let line = r#"{"ask":"distance","method":"contact","a":{"mesh":"cube.obj"},"b":{"mesh":"cube.obj"}}"#;
    let why = "method contact does not answer distance of mesh and mesh; exact, brute and sphere_tree do";
    assert!(folder.query(&[line], &[]).out.contains(why));
    assert_eq!(folder.run(&["check", "cube.obj", "small.obj", "--method", "contact"]).code, 2);
}

#[test]
fn what_would_be_ignored_is_refused() {
    let folder = Folder::with_meshes();
    let fly = r#""to":{"position":[0,0,-5]}"#;
    let wrong = [
        (
            format!(r#"{{"ask":"sweep","a":{{"sphere":1,"turns":2}},"b":{{"sphere":1,{fly}}}}}"#),
            "a: turns without \"to\"",
        ),
        (
            format!(r#"{{"ask":"sweep","a":{{"sphere":1,"law":"contact"}},"b":{{"sphere":1,{fly}}}}}"#),
            "law without",
        ),
        (
            format!(r#"{{"ask":"sweep","a":{{"sphere":1,{fly},"turns":2}},"b":{{"sphere":1}},"turns":1}}"#),
            "a: turns is another on the line",
        ),
        (
            format!(
                r#"{{"ask":"sweep","a":{{"sphere":1}},"b":{{"sphere":1,{fly},"law":"uniform"}},"law":"contact"}}"#
            ),
            "b: law is another on the line",
        ),
        (
            r#"{"ask":"sweep","a":{"sphere":1},"b":{"sphere":1},"turns":2}"#.into(),
            "turns without \"to\": neither",
        ),
        (
            format!(r#"{{"ask":"sweep","a":{{"sphere":1,{fly},"turn":2}},"b":{{"sphere":1}}}}"#),
            "line 1: a: \"turn\" is no field",
        ),
        (
            format!(r#"{{"ask":"sweep","a":{{"sphere":1,{fly}}},"b":{{"sphere":1}},"tolerence":2}}"#),
            "line 1: \"tolerence\"",
        ),
        (
            r#"{"ask":"relation","a":{"sphere":1},"b":{"sphere":1},"margin":2}"#.into(),
            "\"margin\" is no field",
        ),
        (
            r#"{"ask":"relation","a":{"sphere":1,"pose":{"positon":[0,0,0]}},"b":{"sphere":1}}"#.into(),
            "a.pose: \"positon\"",
        ),
        (
            r#"{"ask":"relation","a":{"cone":{"radius":1,"half_height":1,"height":3}},"b":{"sphere":1}}"#
                .into(),
            "a.cone: \"height\"",
        ),
    ];
    for (line, why) in wrong {
        let ended = folder.query(&[&line], &[]);
        assert_eq!(ended.code, 2, "{line}");
        let said = ended.lines()[0]["error"].as_str().unwrap_or_default().to_string();
        assert!(said.contains(why), "{line}: {said}");
    }
    let fine = format!(
        r#"{{"ask":"sweep","a":{{"sphere":1}},"b":{{"sphere":1,"pose":{{"position":[0,0,5]}},{fly}}},"turns":1}}"#
    );
    assert_eq!(folder.query(&[&fine], &[]).lines()[0]["hit"], true);
    let args = ["sweep", "cube.obj", "small.obj", "--turns", "2"];
    assert_eq!(folder.run(&args).code, 2);
}

#[test]
fn closed_meshes_are_solids_unless_surfaces_are_asked_for() {
    let folder = Folder::with_meshes();
    let go = |more: &[&str]| {
        let args = ["sweep", "small.obj", "cube.obj", "--to-a", "-0.1,0.2,0.1", "--format", "json"];
        let ended = folder.run(&[&args, more].concat());
        (ended.code, ended.json()["time"].as_f64(), ended.json()["kind"].as_str().map(str::to_string))
    };
    assert_eq!(go(&[]), (1, Some(0.0), Some("inside".to_string())));
    assert_eq!(go(&["--method", "contact"]), (1, Some(0.0), Some("inside".to_string())));
    assert_eq!(go(&["--surfaces"]), (0, None, None));
    let line =
        r#"{"id":1,"ask":"sweep","a":{"sphere":0.5,"to":{"position":[0.1,0,0]}},"b":{"mesh":"cube.obj"}"#;
    let lines = [format!("{line}}}"), format!(r#"{line},"surfaces":true}}"#)];
    let answers = folder.query(&[&lines[0], &lines[1]], &[]).lines();
    assert_eq!((&answers[0]["time"], &answers[0]["kind"]), (&Value::from(0.0), &Value::from("inside")));
    assert_eq!(answers[1]["hit"], false);
}
