//! `impinge check` and `impinge distance`: words, fields and exit codes.

use crate::common::{Folder, Run, cube, cube_at, impinge};
use serde_json::json;

fn check(folder: &Folder, more: &[&str]) -> Run {
    folder.run(&[&["check", "cube.obj", "small.obj", "--format", "json"], more].concat())
}

#[test]
fn the_five_relations_and_their_exit_codes() {
    let folder = Folder::with_meshes();
    for (at_b, relation, code) in [
        ("3,0,0", "separated", 0),
        ("-3,0,0", "separated", 0),
        ("1.25,0,0", "touching", 1),
        ("-1,0,0.1", "intersecting", 1),
        ("0,0,0", "b_inside_a", 1),
        ("0,0,0,1,2,3,4", "b_inside_a", 1),
        ("0.75,0,0", "b_inside_a", 1),
    ] {
        let ended = check(&folder, &["--at-b", at_b]);
        let want = json!({"schema": 1, "relation": relation, "method": "exact",
            "certainty": "exact", "finish": "complete"});
        assert_eq!((ended.json(), ended.code), (want, code), "at {at_b}");
    }
    let swapped = folder.run(&["check", "small.obj", "cube.obj", "--format", "json"]);
    assert_eq!(swapped.json()["relation"], "a_inside_b");
    let same = folder.run(&["check", "cube.obj", "cube.obj", "--format", "json"]);
    assert_eq!(same.json()["relation"], "intersecting");
}

#[test]
fn both_poses_count() {
    let folder = Folder::with_meshes();
    let ended = check(&folder, &["--at-a", "-5,0,0", "--at-b=-6.25,0,0"]);
    assert_eq!((ended.json()["relation"].as_str(), ended.code), (Some("touching"), 1));
}

#[test]
fn an_open_surface_has_no_inside() {
    let folder = Folder::with_meshes();
    let ended = folder.run(&["check", "open.obj", "small.obj", "--format", "json"]);
    let note = "a is an open mesh and has no inside: whether b lies within it is not decided";
    let want = json!({"schema": 1, "relation": "separated", "open": ["a"], "note": note, "method": "exact",
        "certainty": "exact", "finish": "complete"});
    assert_eq!((ended.json(), ended.code), (want, 0));
    for more in [&["--all"][..], &["--margin", "0.1"], &["--budget", "1000000"]] {
        let told = folder.run(&[&["check", "open.obj", "small.obj", "--format", "json"], more].concat());
        assert_eq!((&told.json()["open"], &told.json()["note"]), (&json!(["a"]), &json!(note)), "{more:?}");
    }
    for command in ["check", "distance"] {
        let told = folder.run(&[command, "small.obj", "open.obj"]);
        let line = "\nnote: b is an open mesh and has no inside: whether a lies within it is not decided\n";
        assert!(told.out.contains(line) && told.code == 0, "{told:?}");
        let apart = folder.run(&[command, "small.obj", "open.obj", "--at-a", "9,0,0", "--format", "json"]);
        assert_eq!((apart.json().get("open"), apart.json().get("note")), (None, None), "nothing is near");
    }
    let lines = [
        r#"{"ask":"distance","a":{"sphere":0.1},"b":{"mesh":"open.obj"}}"#,
        r#"{"ask":"sweep","a":{"sphere":0.1,"to":[0,0,5]},"b":{"mesh":"open.obj"}}"#,
        r#"{"ask":"sweep","a":{"sphere":0.1,"to":[0,0,5]},"b":{"mesh":"open.obj"},"surfaces":true}"#,
        r#"{"ask":"points","a":{"mesh":"open.obj"},"points":[[0,0,0]]}"#,
    ];
    let told: Vec<_> = folder.query(&lines, &[]).lines().iter().map(|line| line["open"].clone()).collect();
    assert_eq!(told, [json!(["b"]), json!(["b"]), json!(null), json!(["a"])]);
    let swept = folder.run(&["sweep", "small.obj", "open.obj", "--to-a", "0,0,5"]);
    assert!(swept.out.starts_with("free\nnote: b is an open mesh"), "{swept:?}");
    let ended = folder.run(&["check", "open.obj", "small.obj", "--at-b", "1.25,0,0"]);
    assert_eq!((ended.out.lines().next(), ended.code), (Some("intersecting"), 1));
}

/// Every question that leaves open what lies within an open mesh says so, and none where nothing can.
#[test]
fn open_meshes_are_told_where_something_may_lie_within_them_alone() {
    let folder = Folder::with_meshes();
    let note = "note: a is an open mesh and has no inside: whether b lies within it is not decided";
    // One part of the file lies in the open cube, one far away.
    let far = cube_at(9.0, 8);
    folder.write("two.obj", format!("{}{far}", cube(0.25, 12)));
    for command in ["check", "distance", "separate", "contacts"] {
        for other in ["small.obj", "two.obj"] {
            let told = folder.run(&[command, "open.obj", other]);
            assert!(told.code == 0 && told.out.lines().any(|line| line == note), "{command} {told:?}");
            let json = folder.run(&[command, "open.obj", other, "--format", "json"]).json();
            assert_eq!(json["open"], json!(["a"]), "{command} {json}");
        }
        // The boxes overlap, and neither holds anything of the other.
        for at in ["1.2,1.2,1.3", "2.5,0,0"] {
            for other in ["small.obj", "open.obj"] {
                let aside = folder.run(&[command, "open.obj", other, "--at-b", at, "--format", "json"]);
                assert_eq!(aside.json().get("open"), None, "{command} {other} {at} {aside:?}");
            }
        }
        let twice = folder.run(&[command, "open.obj", "open.obj", "--at-b", "0,0,5", "--format", "json"]);
        assert_eq!(twice.json().get("open"), None, "{command} {twice:?}");
    }
    let points =
        |at: &str| format!(r#"{{"ask":"points","a":{{"mesh":"open.obj"}},"points":[[9,0,0],{at}]}}"#);
    let [within, above] = [points("[0,0,0.5]"), points("[0,0,1.5]")];
    let told: Vec<_> =
        folder.query(&[&within, &above], &[]).lines().iter().map(|line| line["open"].clone()).collect();
    assert_eq!(told, [json!(["a"]), json!(null)]);
}

/// One open part makes a mesh hollow as a whole, and the answer says which it is.
#[test]
fn a_closed_part_beside_an_open_one_is_hollow_and_that_is_told() {
    let folder = Folder::with_meshes();
    let far = "v 50 0 0\nv 51 0 0\nv 50 1 0\nf 9 10 11\n";
    folder.write("level.obj", format!("{}{far}", cube(1.0, 12)));
    let ended = folder.run(&["check", "level.obj", "small.obj"]);
    let note = "note: a is an open mesh (1 of 2 connected parts open) and has no inside";
    assert!(ended.out.starts_with("separated\n") && ended.out.contains(note), "{ended:?}");
    let seen = folder.run(&["inspect", "level.obj"]);
    assert!(seen.out.contains("1 of 2 connected parts open, and a mesh is a solid only as a whole"));
}

#[test]
fn all_lists_every_meeting_pair() {
    let folder = Folder::with_meshes();
    let free = check(&folder, &["--all", "--at-b", "0,0,9"]);
    assert_eq!(
        (free.json()["count"].as_u64(), free.json()["pairs"].clone(), free.code),
        (Some(0), json!([]), 0)
    );
    let ended = check(&folder, &["--all", "--at-b", "1,0.1,0.2"]);
    let answer = ended.json();
    let pairs: Vec<[u32; 2]> = serde_json::from_value(answer["pairs"].clone()).unwrap();
    assert_eq!((answer["relation"].as_str(), ended.code), (Some("intersecting"), 1));
    assert_eq!(answer["count"], pairs.len());
    assert!(pairs.len() >= 8 && pairs.is_sorted_by(|a, b| a < b), "{pairs:?}");
    let text = folder.run(&["check", "cube.obj", "small.obj", "--all", "--at-b", "1,0.1,0.2"]);
    let listed = text.out.lines().filter(|l| l.split(' ').all(|w| w.parse::<u32>().is_ok())).count();
    assert_eq!(listed, pairs.len(), "{}", text.out);
}

#[test]
fn a_margin_adds_the_near_ones() {
    let folder = Folder::with_meshes();
    for (margin, found, code) in [("0.2", false, 0), ("0.5", true, 1)] {
        let ended = check(&folder, &["--margin", margin, "--at-b", "1.75,0,0"]);
        let answer = ended.json();
        assert_eq!(answer["relation"], "separated");
        assert_eq!((answer["count"].as_u64() > Some(0), ended.code), (found, code), "{margin}");
        assert_eq!(answer["count"], answer["pairs"].as_array().unwrap().len());
    }
    for wrong in ["-1", "nan", "inf", "wide"] {
        let refused = check(&folder, &["--margin", wrong]);
        assert_eq!(refused.code, 2, "{wrong}");
        assert!(refused.json()["error"].as_str().unwrap().contains(wrong), "{refused:?}");
    }
}

#[test]
fn distance_gives_points_and_features() {
    let folder = Folder::with_meshes();
    let ended = folder.run(&["distance", "cube.obj", "small.obj", "--at-b", "3,0,0", "--format", "json"]);
    let answer = ended.json();
    assert_eq!((answer["distance"].as_f64(), ended.code), (Some(1.75), 0));
    assert_eq!((&answer["points"][0][0], &answer["points"][1][0]), (&json!(1.0), &json!(2.75)));
    assert_eq!(answer["normal"], json!([1.0, 0.0, 0.0]));
    for feature in answer["features"].as_array().unwrap() {
        let kinds: Vec<_> = feature.as_object().unwrap().keys().collect();
        assert!(["vertex", "edge", "face"].contains(&kinds[0].as_str()) && kinds.len() == 1, "{feature}");
    }
    let nested = folder.run(&["distance", "cube.obj", "small.obj", "--format", "json"]);
    assert_eq!((nested.json()["distance"].as_f64(), nested.code), (Some(0.75), 1));
    assert_eq!(nested.json()["relation"], "b_inside_a");
    assert_eq!(answer["relation"], "separated");
    assert!(answer["method"] == "exact" || answer["method"] == "brute", "{answer}");
    let open = folder.run(&["distance", "sheet.obj", "sheet.obj", "--at-b", "0,0,2", "--format", "json"]);
    assert_eq!((open.json().get("relation"), open.code), (None, 0), "surfaces have no inside");
    let meeting = folder.run(&["distance", "cube.obj", "small.obj", "--at-b", "1,0,0", "--format", "json"]);
    assert_eq!((meeting.json()["distance"].as_f64(), meeting.code), (Some(0.0), 1));
    let text = folder.run(&["distance", "cube.obj", "small.obj", "--at-b", "3,0,0"]);
    assert!(
        text.out.starts_with("1.75\non a: 1.0,") && text.out.contains("(exact, complete)"),
        "{}",
        text.out
    );
}

#[test]
fn brute_force_agrees_and_unknown_methods_are_refused() {
    let folder = Folder::with_meshes();
    let ask = |method: &str, what: &[&str]| {
        folder
            .run(&[what, &["cube.obj", "small.obj", "--method", method, "--format", "json"]].concat())
            .json()
    };
    for at in ["1,0.1,0.2", "3,0.1,0.2", "0,0,0"] {
        for (what, fields) in [
            (&["check", "--all", "--at-b", at][..], &["relation", "count", "pairs"][..]),
            (&["check", "--margin", "0.8", "--at-b", at], &["relation", "count", "pairs"]),
            (&["distance", "--at-b", at], &["distance"]),
        ] {
            let [auto, exact, brute] = ["auto", "exact", "brute"].map(|method| ask(method, what));
            assert_eq!((exact["method"].as_str(), brute["method"].as_str()), (Some("exact"), Some("brute")));
            assert!(auto == exact || auto["method"] == "brute", "{auto}");
            for field in fields {
                assert_eq!(auto[field], exact[field], "{what:?} {field}");
                assert_eq!(auto[field], brute[field], "{what:?} {field}");
            }
        }
    }
    let relation = check(&folder, &["--method", "brute"]);
    let why = "method brute does not answer relation of mesh and mesh; exact, sphere_tree and sampled do";
    assert!(relation.code == 2 && relation.err.contains(why), "{relation:?}");
    for (method, what) in
        [("gjk", "distance"), ("voronoi", "distance"), ("contact", "distance"), ("gjk", "sweep")]
    {
        let refused = folder.run(&[what, "cube.obj", "small.obj", "--method", method]);
        let why = format!("method {method} does not answer {what} of mesh and mesh; exact");
        assert!(refused.code == 2 && refused.err.contains(&why), "{refused:?}");
    }
    let refused = check(&folder, &["--method", "magic"]);
    assert_eq!(refused.code, 2);
    // What would be accepted is told, and nothing else.
    for word in ["magic", "auto", "exact", "brute", "sphere_tree", "sampled"] {
        assert!(refused.json()["error"].as_str().unwrap().contains(word), "{refused:?}");
    }
    assert!(!refused.err.contains("voronoi") && !refused.err.contains("kd_tree"), "{refused:?}");
}

#[test]
fn sampled_answers_what_it_can_prove_and_says_how_much_it_saw() {
    let folder = Folder::with_meshes();
    for (at_b, relation, code) in [
        ("3,0,0", "separated", 0),
        ("1.25,0,0", "touching", 1),
        ("-1,0,0.1", "intersecting", 1),
        ("0,0,0", "b_inside_a", 1),
    ] {
        let ended = check(&folder, &["--at-b", at_b, "--method", "sampled"]);
        let want = json!({"schema": 1, "relation": relation, "method": "sampled",
            "certainty": "exact", "finish": "complete"});
        assert_eq!((ended.json(), ended.code), (want, code), "at {at_b}");
    }
    let ended = check(&folder, &["--at-b", "3,0,0", "--method", "sampled", "--budget", "1"]);
    let want = json!({"schema": 1, "relation": null, "method": "sampled", "certainty": null,
        "coverage": 0.0, "miss_probability": 1.0, "finish": "out_of_budget"});
    assert_eq!((ended.json(), ended.code), (want, 3));
    let text = folder.run(&[
        "check",
        "cube.obj",
        "small.obj",
        "--at-b",
        "3,0,0",
        "--method",
        "sampled",
        "--budget",
        "1",
    ]);
    assert_eq!((text.out.lines().next(), text.code), (Some("undecided"), 3));
}

#[test]
fn a_spent_budget_is_undecided() {
    let folder = Folder::with_meshes();
    for what in [&["check", "sheet.obj", "sheet.obj"][..], &["check", "sheet.obj", "sheet.obj", "--all"]] {
        let ended =
            folder.run(&[what, &["--at-b", "0.5,0.1,0", "--budget", "1", "--format", "json"]].concat());
        let answer = ended.json();
        assert_eq!((answer["finish"].as_str(), ended.code), (Some("out_of_budget"), 3), "{ended:?}");
        assert!(answer["relation"].is_null() && answer["certainty"].is_null(), "{answer}");
        if what.contains(&"--all") {
            assert_eq!((&answer["count"], &answer["at_least"]), (&json!(null), &json!(0)), "{answer}");
        }
        let text = folder.run(&[what, &["--at-b", "0.5,0.1,0", "--budget", "1"]].concat());
        assert!(text.out.contains("(undecided, out of budget)"), "{text:?}");
        assert_eq!(text.out.contains("at least 0 so far"), what.contains(&"--all"), "{text:?}");
    }
    // Brute force measures from the first unit on; the others build their trees first.
    let far = ["distance", "sheet.obj", "sheet.obj", "--at-b", "0,0.1,2,0.3,0.1,0,1", "--method", "brute"];
    let [some, all] = [&["--budget", "1", "--format", "json"][..], &["--format", "json"]]
        .map(|more| folder.run(&[&far[..], more].concat()));
    assert_eq!((some.code, all.code), (3, 0), "{some:?}");
    let [some, all] = [some.json(), all.json()];
    assert_eq!((&some["certainty"], &some["finish"]), (&json!(null), &json!("out_of_budget")));
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let (least, most) = (number(&some["at_least"]), number(&some["at_most"]));
    assert!(least <= number(&all["distance"]) && number(&all["distance"]) <= most && least < most);
    assert!(some["distance"].is_null() && some.get("tolerance").is_none() && least >= 0.0, "{some}");
    assert_eq!((all.get("at_least"), all.get("at_most"), &all["certainty"]), (None, None, &json!("exact")));
    let text = folder.run(&[&far[..], &["--budget", "1"]].concat());
    assert!(text.out.starts_with(&format!("between {least:?} and {most:?}\n")), "{text:?}");
    let plenty = check(&folder, &["--budget", "1000000"]);
    assert_eq!((plenty.json()["finish"].as_str(), plenty.code), (Some("complete"), 1));
    let time = check(&folder, &["--budget", "100s"]);
    assert_eq!((time.json()["finish"].as_str(), time.code), (Some("complete"), 1));
    assert_eq!(check(&folder, &["--budget", "soon"]).code, 2);
}

/// What was found so far is a contact; what is only near is none.
#[test]
fn a_certain_collision_outlives_the_budget() {
    let folder = Folder::with_meshes();
    let across = ["check", "cube.obj", "sheet.obj", "--at-b", "0.1,0.1,0.2", "--format", "json"];
    let whole = folder.run(&[&across[..], &["--all"]].concat()).json()["count"].as_u64().unwrap();
    let (mut some, mut partial) = (0, 0);
    // The relation is asked first, then the pairs with the rest.
    for units in (1000..60_000).step_by(1000) {
        let ended = folder
            .run(&[&across[..], &["--all", "--method", "brute", "--budget", &units.to_string()]].concat());
        let answer = ended.json();
        if answer["finish"] == "complete" {
            assert_eq!(answer["count"], whole);
            continue;
        }
        let found = answer["at_least"].as_u64().unwrap();
        assert!(answer["count"].is_null() && answer["certainty"].is_null() && found <= whole, "{answer}");
        assert_eq!(answer["pairs"].as_array().unwrap().len() as u64, found);
        let certain = found > 0 || answer["relation"] == "intersecting";
        assert_eq!(ended.code, if certain { 1 } else { 3 }, "{answer}");
        some += 1;
        partial += usize::from(found > 0);
    }
    assert!(some > 2 && partial > 0, "{some} {partial}");
    // Both closed: the distance is asked first, the relation with the rest.
    let apart = ["distance", "cube.obj", "small.obj", "--at-b", "3,0.1,0.2", "--format", "json"];
    let ended = folder.run(&[&apart[..], &["--method", "brute", "--budget", "9"]].concat());
    let answer = ended.json();
    assert_eq!((answer["finish"].as_str(), ended.code), (Some("out_of_budget"), 3), "{answer}");
    assert!(answer["distance"].is_null() && answer["certainty"].is_null(), "{answer}");
    assert!(
        answer["at_least"].as_f64() <= Some(1.75) && Some(1.75) <= answer["at_most"].as_f64(),
        "{answer}"
    );
}

#[test]
fn explain_goes_to_stderr_and_changes_nothing() {
    let folder = Folder::with_meshes();
    let (plain, told) = (check(&folder, &["--all"]), check(&folder, &["--all", "--explain"]));
    assert_eq!(plain.out, told.out);
    assert_eq!(plain.err, "");
    for word in ["method   exact, chosen by auto", "Nv ", "Np ", "Nu ", " ms", "12 triangles"] {
        assert!(told.err.contains(word), "{word}: {}", told.err);
    }
}

#[test]
fn errors_name_the_culprit() {
    let folder = Folder::with_meshes();
    folder.write("broken.obj", "v 0 0 0\nv 1 0 0\nv zero 1 0\nf 1 2 3\n");
    folder.write("range.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n");
    folder.write("empty.stl", "");
    for (file, word) in [
        ("missing.obj", "missing.obj"),
        ("broken.obj", "line 3"),
        ("range.obj", "9"),
        ("empty.stl", "empty.stl"),
        (".", "."),
    ] {
        for args in [
            &["check", "cube.obj", file][..],
            &["distance", file, "cube.obj"],
            &["inspect", file],
            &["self", file],
        ] {
            let ended = folder.run(args);
            assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{args:?}");
            assert!(ended.err.starts_with("error: ") && ended.err.contains(word), "{args:?}: {}", ended.err);
            let ended = folder.run(&[args, &["--format", "json"]].concat());
            let error = ended.json();
            assert_eq!((error["schema"].as_u64(), ended.code), (Some(1), 2));
            assert!(error["error"].as_str().unwrap().contains(word), "{args:?}: {error}");
        }
    }
}

#[test]
fn usage_errors_exit_2_and_speak_json_when_asked() {
    for args in [
        &["check", "only-one.obj"][..],
        &["check", "a", "b", "--at-a", "1,2"],
        &["check", "a", "b", "--at-a", "0,0,0,0,0,0,0"],
        &["nonsense"],
        &["check", "a", "b", "--threads", "0"],
        &["inspect"],
    ] {
        let ended = impinge(args);
        assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{args:?}");
        assert!(ended.err.starts_with("error: "), "{ended:?}");
        let ended = impinge(&[args, &["--format", "json"]].concat());
        assert_eq!(ended.code, 2);
        assert!(ended.json()["error"].is_string(), "{ended:?}");
    }
}

#[test]
fn tiny_and_huge_coordinates_survive() {
    let folder = Folder::new();
    for scale in [1e-300, 1e-6, 1e6, 1e50] {
        let place = |x: f64| format!("{},0,0", x * scale);
        folder.write("c.obj", cube(scale, 12));
        for (x, relation) in [(2.0, "touching"), (2.5, "separated"), (1.5, "intersecting")] {
            let ended = folder.run(&["check", "c.obj", "c.obj", "--at-b", &place(x), "--format", "json"]);
            assert_eq!(ended.json()["relation"], relation, "{scale} {x}: {ended:?}");
        }
    }
}

#[test]
fn a_picture_appears_whole() {
    let folder = Folder::with_meshes();
    let ended = check(&folder, &["--at-b", "1,0,1", "--picture", "meet.png"]);
    assert_eq!(ended.code, 1);
    let bytes = std::fs::read(folder.path().join("meet.png")).unwrap();
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 1000);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert!(!left.iter().any(|f| f.to_string_lossy().contains(".part")), "{left:?}");
    let refused = check(&folder, &["--picture", "no/such/folder/meet.png"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("no/such/folder/meet.png"), "{refused:?}");
}

#[test]
fn a_mesh_named_dash_is_refused_with_a_hint() {
    let ended = Folder::with_meshes().run(&["check", "-", "cube.obj"]);
    assert!(ended.code == 2 && ended.err.contains("standard input"), "{ended:?}");
}
