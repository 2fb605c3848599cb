//! `impinge query`: batches, ids, refusals, order, threads.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::common::{Folder, run_in};
use serde_json::{Value, json};

const FLAT: &str = r#"{"vertices":[[0,0,0],[1,0,0],[0,1,0]],"triangles":[[0,1,2]]}"#;
const CROSSING: &str = r#"{"vertices":[[0.2,0.2,-1],[0.2,0.2,1],[0.2,5,0]],"triangles":[[0,1,2]]}"#;

fn ask(id: &str, ask: &str, more: &str) -> String {
    format!(r#"{{"id":{id},"ask":"{ask}","a":{FLAT},"b":{CROSSING}{more}}}"#)
}

/// The error of a refused line, with its id.
fn refused(answer: &Value) -> (&Value, &str) {
    assert_eq!(answer["schema"], 1);
    (&answer["id"], answer["error"].as_str().unwrap_or_else(|| panic!("not refused: {answer}")))
}

#[test]
fn the_contract_s_questions_about_meshes() {
    let folder = Folder::with_meshes();
    let ended = folder.query(
        &[
            r#"{"id":1,"ask":"relation","a":{"mesh":"cube.obj","pose":{"position":[0,0,0],"rotation":[0,0,0,2]}},"b":{"mesh":"small.obj","pose":{"matrix":[1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]}}}"#,
            r#"{"id":2,"ask":"distance","a":{"mesh":"cube.obj"},"b":{"mesh":"small.obj","pose":{"position":[0,0,-3]}}}"#,
            &ask("3", "pairs", ""),
            r#"{"id":4,"ask":"points","a":{"mesh":"cube.obj","pose":{"position":[10,0,0]}},"points":[[10,0,0],[13,0,0]]}"#,
            r#"{"id":5,"ask":"points","a":{"mesh":"open.obj"},"points":[[0,0,0],[0,0,-4]]}"#,
        ],
        &[],
    );
    assert_eq!(ended.code, 0, "{ended:?}");
    let answers = ended.lines();
    let sure = |mut body: Value| {
        let more = json!({"schema": 1, "method": "exact", "certainty": "exact", "finish": "complete"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    assert_eq!(answers[0], sure(json!({"id": 1, "relation": "b_inside_a"})));
    assert_eq!((answers[1]["id"].as_u64(), answers[1]["distance"].as_f64()), (Some(2), Some(1.75)));
    assert_eq!(answers[1]["points"].as_array().unwrap().len(), 2);
    assert_eq!(answers[1]["features"].as_array().unwrap().len(), 2);
    assert_eq!(answers[1]["normal"], json!([0.0, 0.0, -1.0]));
    let mut pairs = sure(json!({"id": 3, "count": 1, "pairs": [[0, 0]]}));
    // Two triangles are not worth two trees.
    pairs["method"] = json!("brute");
    assert_eq!(answers[2], pairs);
    let closest = |k: usize| serde_json::from_value::<Vec<[f64; 3]>>(answers[k]["closest"].clone()).unwrap();
    let points = json!({"id": 4, "distances": [-1.0, 2.0], "inside": [true, false],
                        "closest": closest(3), "features": answers[3]["features"]});
    let note = "a is an open mesh and has no inside: whether points lie within it is not decided";
    let above = json!({"id": 5, "distances": [1.0, 3.0], "inside": [false, false], "open": ["a"], "note": note,
                       "closest": closest(4), "features": answers[4]["features"]});
    assert_eq!((closest(3)[1], closest(4)[1]), ([11.0, 0.0, 0.0], [0.0, 0.0, -1.0]));
    for feature in [3, 4].map(|k| answers[k]["features"][1].as_object().unwrap()) {
        assert!(feature.contains_key("face") || feature.contains_key("edge"), "{feature:?}");
    }
    assert_eq!(answers[3], sure(points));
    assert_eq!(answers[4], sure(above));
}

#[test]
fn ids_are_echoed_as_written() {
    let folder = Folder::new();
    let ids = ["7", "-3", "1.50", "1e2", "12345678901234567890123", "\"a \\u00e9 \\\"b\\\"\"", "null"];
    let lines: Vec<String> = ids.iter().map(|id| ask(id, "relation", "")).collect();
    let ended = folder.query(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    assert_eq!(ended.code, 0, "{ended:?}");
    for (line, id) in ended.out.lines().zip(ids) {
        assert!(line.starts_with(&format!(r#"{{"schema":1,"id":{id},"relation":"#)), "{id}: {line}");
    }
    let without = folder.query(&[&ask("0", "relation", "").replace("\"id\":0,", "")], &[]);
    assert_eq!((without.lines()[0]["id"].clone(), without.code), (Value::Null, 0));
    let odd = folder.query(&[&ask("[1]", "relation", "")], &[]);
    assert_eq!(refused(&odd.lines()[0]), (&Value::Null, "id: neither a number nor a string"));
}

#[test]
fn a_bad_line_names_its_fault_and_the_batch_goes_on() {
    let folder = Folder::with_meshes();
    folder.write("broken.obj", "v 0 0 0\nv 1 0 0\nv zero 1 0\nf 1 2 3\n");
    let good = ask("\"good\"", "relation", "");
    let body = |a: &str| format!(r#"{{"id":5,"ask":"relation","a":{a},"b":{FLAT}}}"#);
    let points = |more: &str| format!(r#"{{"id":5,"ask":"points","a":{FLAT}{more}}}"#);
    let cases: Vec<(String, &str)> = vec![
        ("not json".into(), "line "),
        (r#"{"id":5,"ask":"relation""#.into(), "line "),
        ("[1,2,3]".into(), "line "),
        (ask("5", "relation", ",\"x\":NaN"), "line "),
        (ask("5", "relation", ",\"ask\":\"pairs\""), "given twice"),
        (ask("5", "no such question", ""), "ask: \"no such question\" is not a question; known are relation"),
        (ask("5", "weight", ""), "ask: \"weight\" is not a question"),
        (format!(r#"{{"id":5,"ask":"rays","a":{FLAT}}}"#), "rays: missing"),
        (format!(r#"{{"id":5,"ask":"rays","a":{FLAT},"rays":[[0,0,1,0,0,0]]}}"#), "rays: element 0: "),
        (
            format!(r#"{{"id":5,"ask":"rays","a":{FLAT},"rays":[[0,0,1,0,0]]}}"#),
            "rays: element 0: a list of 6 is expected, not of 5",
        ),
        (r#"{"id":5,"a":1}"#.into(), "ask: missing"),
        (r#"{"id":5,"ask":7}"#.into(), "ask: a text is expected, not 7"),
        (r#"{"id":5,"ask":"relation"}"#.into(), "a: missing"),
        (body("{}"), "a: no shape"),
        (body("3"), "a: an object is expected, not 3"),
        (body(r#"{"sphere":-1}"#), "a: sphere: radius: -1 is not a size"),
        (body(r#"{"sphere":"big"}"#), "a.sphere: a number is expected, not the text \"big\""),
        (body(r#"{"box":[1,0,1]}"#), "a: box: half extent: 0 is not a size"),
        (body(r#"{"box":[1,1]}"#), "a.box: a list of 3 is expected, not of 2"),
        (body(r#"{"capsule":{"radius":1}}"#), "a.capsule: half_height missing"),
        (body(r#"{"cone":{"radius":1,"half_height":-2}}"#), "a: cone: half_height: -2 is not a size"),
        (body(r#"{"halfspace":{"normal":[0,0,0],"offset":1}}"#), "a: halfspace: normal: "),
        (body(r#"{"hull":[]}"#), "a: hull: points: "),
        (body(r#"{"hull":[[0,0,0],[1,2]]}"#), "a.hull: element 1: a list of 3 is expected, not of 2"),
        (body(r#"{"hull":[[0,0,1e61]]}"#), "a: hull: vertex 0"),
        (body(r#"{"sphere":1,"box":[1,1,1]}"#), "a: one shape at a time, not sphere and box"),
        (
            r#"{"id":5,"ask":"pairs","a":{"vertices":[[0,0,0]],"triangles":[[0,0,0]]},"b":{"sphere":1}}"#
                .into(),
            "method auto does not answer pairs of mesh and sphere; no method does",
        ),
        (
            r#"{"id":5,"ask":"distance","a":{"sphere":2},"b":{"sphere":1},"method":"brute"}"#.into(),
            "method brute does not answer distance of sphere and sphere; exact and gjk do",
        ),
        (body(r#"{"mesh":"missing.obj"}"#), "missing.obj"),
        (body(r#"{"mesh":"broken.obj"}"#), "line 3"),
        (body(r#"{"mesh":5}"#), "a.mesh: a text is expected, not 5"),
        (body(r#"{"vertices":[[0,0,0]]}"#), "a: triangles missing"),
        (
            body(r#"{"vertices":[[0,0,0],[1,0]],"triangles":[]}"#),
            "a.vertices: element 1: a list of 3 is expected, not of 2",
        ),
        (
            body(r#"{"vertices":[[0,0,0],[1,0,"x"]],"triangles":[]}"#),
            "a.vertices: element 1: a number is expected, not the text \"x\"",
        ),
        (body(r#"{"vertices":[[0,0,1e999]],"triangles":[]}"#), "a.vertices: element 0: number out of range"),
        (body(r#"{"vertices":[[0,0,1e61]],"triangles":[[0,0,0]]}"#), "vertex 0"),
        (body(r#"{"vertices":[[0,0,0]],"triangles":[[0,0,7]]}"#), "triangle 0 names vertex 7"),
        (
            body(r#"{"vertices":[[0,0,0]],"triangles":[[0,0,-1]]}"#),
            "a.triangles: element 0: -1 is not a whole number of at least 0",
        ),
        (body(r#"{"vertices":[[0,0,0]],"triangles":[]}"#), "a: the mesh has no triangles"),
        (body(r#"{"mesh":"cube.obj","pose":{"matrix":[1]}}"#), "a.pose.matrix: "),
        (
            body(r#"{"mesh":"cube.obj","pose":{"rotation":[0,0,0,0],"position":[0,0,0]}}"#),
            "a.pose: the pose is not rigid",
        ),
        (body(r#"{"mesh":"cube.obj","pose":{"rot":1}}"#), "a.pose: \"rot\" is no field"),
        (body(r#"{"sphere":1,"to":[1,0,0]}"#), ": a: \"to\" is no field here; known are "),
        (body(r#"{"sphere":1,"turns":2}"#), ": a: \"turns\" is no field here"),
        (body(r#"{"sphere":1,"law":"contact"}"#), ": a: \"law\" is no field here"),
        (
            r#"{"id":5,"ask":"points","a":{"sphere":1,"to":[1,0,0]},"points":[[0,0,0]]}"#.into(),
            ": a: \"to\" is no field here",
        ),
        (ask("5", "pairs", ",\"margin\":-1"), "margin: -1 is negative"),
        (ask("5", "pairs", ",\"margin\":\"wide\""), "margin: a number is expected, not the text \"wide\""),
        (
            ask("5", "relation", ",\"method\":\"magic\""),
            "method: there is no method \"magic\"; known are auto, exact, brute",
        ),
        (ask("5", "relation", ",\"budget\":\"soon\""), "budget: "),
        (ask("5", "relation", ",\"budget\":-4"), "budget: "),
        (ask("5", "relation", ",\"seed\":1.5"), "seed: "),
        (points(""), "points: missing"),
        (points(",\"points\":[[0,0]]"), "points: element 0"),
        (points(",\"points\":[[0,0,1e70]]"), "points: "),
    ];
    let mut lines = Vec::new();
    for (bad, _) in &cases {
        lines.extend([bad.as_str(), "", good.as_str(), "   \t"]);
    }
    let ended = folder.query(&lines, &[]);
    assert_eq!(ended.code, 2);
    let answers = ended.lines();
    assert_eq!(answers.len(), 2 * cases.len());
    for (k, (pair, (bad, why))) in answers.chunks(2).zip(&cases).enumerate() {
        let (id, error) = refused(&pair[0]);
        assert!(error.contains(why), "{bad}\n{error}");
        // Each case is followed by three other lines.
        let place = format!("line {}: ", 4 * k + 1);
        assert!(!why.contains("no field here") || error.starts_with(&place), "{bad}\n{error}");
        assert_eq!(id.is_null(), *why == "line " || *why == "given twice", "{bad}\n{error}");
        assert_eq!((&pair[1]["id"], &pair[1]["relation"]), (&json!("good"), &json!("intersecting")), "{bad}");
    }
}

#[test]
fn comments_nulls_and_lenient_numbers_are_accepted() {
    let folder = Folder::new();
    let extra = ask("1", "pairs", r#","comment":{"deep":[[[1]]]},"t0":null,"margin":null,"budget":null"#);
    let floats = extra.replace("[[0,1,2]]", "[[0.0,1.0,2]]").replace("[1,0,0]", "[1.0,-0.0,0e5]");
    let ended = folder.query(&[&extra, &floats, &format!("{extra}\r")], &[]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|l| *l == lines[0]));
}

#[test]
fn hostile_lines_do_no_harm() {
    let folder = Folder::new();
    let good = ask("1", "relation", "");
    let deep = format!(r#"{{"id":2,"ask":"relation","a":{}{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
    let open = "{\"a\":".repeat(200_000);
    let mut batch = b"\xef\xbb\xbf".to_vec();
    for line in [
        good.as_bytes(),
        deep.as_bytes(),
        open.as_bytes(),
        b"{\"id\":3,\"ask\":\"\xff\"}",
        b"\0\0\0",
        good.as_bytes(),
    ] {
        batch.extend_from_slice(line);
        batch.push(b'\n');
    }
    let long = format!(r#"{{"id":4,"ask":"relation","comment":"{}"}}"#, "x".repeat(40_000_000));
    batch.extend_from_slice(long.as_bytes());
    let ended = run_in(folder.path(), &["query", "-"], &batch);
    assert_eq!(ended.code, 2);
    let answers = ended.lines();
    let errors: Vec<Option<&str>> = answers.iter().map(|a| a["error"].as_str()).collect();
    assert_eq!(errors.len(), 7);
    assert_eq!((errors[0], errors[5]), (None, None), "{ended:?}");
    assert!(errors[1].unwrap().starts_with("a: "), "{errors:?}");
    assert!(errors[2].unwrap().starts_with("line 3: "), "{errors:?}");
    assert_eq!(errors[3], Some("line 4: byte 16 is not UTF-8"));
    assert!(errors[4].unwrap().starts_with("line 5: "), "{errors:?}");
    assert_eq!((answers[6]["id"].as_u64(), errors[6]), (Some(4), Some("a: missing")));
}

#[test]
fn equal_bytes_at_any_thread_count() {
    let folder = Folder::with_meshes();
    let mut lines = Vec::new();
    for i in 0..300 {
        let x = f64::from(i) * 0.01;
        for kind in ["relation", "pairs", "distance"] {
            let meshes = format!(
                r#""a":{{"mesh":"cube.obj"}},"b":{{"mesh":"./small.obj","pose":{{"position":[{x},0.1,0],"rotation":[{x},0,1,2]}}}}"#
            );
            lines.push(format!(r#"{{"id":"{kind} {i}","ask":"{kind}",{meshes}}}"#));
        }
        lines.push(ask(&i.to_string(), "volume", ""));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let one = folder.query(&lines, &["--threads", "1"]);
    assert_eq!((one.code, one.out.lines().count()), (2, lines.len()));
    let contacts = one.lines().iter().filter(|a| a["count"].as_u64() > Some(0)).count();
    assert!((30..270).contains(&contacts), "{contacts} of 300 meet");
    for threads in ["2", "2", "7"] {
        assert!(folder.query(&lines, &["--threads", threads]).out == one.out, "{threads} threads differ");
    }
}

/// Under a budget in work units each line pays for what it needs, whichever line came first.
#[test]
fn unit_budgets_give_equal_answers_to_equal_lines_at_any_thread_count() {
    let folder = Folder::with_meshes();
    let pair = r#""a":{"mesh":"sheet.obj"},"b":{"mesh":"./sheet.obj","pose":{"position":[0.3,0.1,0.2],"rotation":[0.3,0.2,0,1]}}"#;
    let solid = r#""a":{"mesh":"sheet.obj"},"b":{"mesh":"cube.obj","pose":{"position":[0.2,0,0.9]}}"#;
    let ball = r#""a":{"mesh":"sheet.obj"},"b":{"sphere":0.5,"pose":{"position":[0.2,0.1,0.7]}}"#;
    let moving = r#""a":{"mesh":"sheet.obj"},"b":{"mesh":"cube.obj","pose":{"position":[0,0,4]},"to":{"position":[0,0,1]}}"#;
    let single = r#""a":{"mesh":"sheet.obj"},"points":[[0.1,0.2,0.3],[3,1,1]]"#;
    let mut questions = Vec::new();
    for budget in ["100", "1500", "4000", "\"20000\"", "null"] {
        for (kind, bodies) in [
            ("distance", pair),
            ("relation", pair),
            ("pairs", pair),
            ("relation", solid),
            ("distance", solid),
            ("distance", ball),
            ("sweep", moving),
            ("points", single),
            ("self", r#""a":{"mesh":"sheet.obj"}"#),
        ] {
            questions.push(format!(r#"{{"ask":"{kind}",{bodies},"budget":{budget}}}"#));
        }
    }
    let count = questions.len();
    let lines: Vec<&str> = questions.iter().cycle().take(3 * count).map(String::as_str).collect();
    for options in [&["--threads", "1"][..], &["--threads", "1", "--budget", "3000"]] {
        let one = folder.query(&lines, options);
        let answers: Vec<&str> = one.out.lines().collect();
        assert_eq!((one.code, answers.len()), (0, 3 * count), "{one:?}");
        for (i, answer) in answers.iter().enumerate() {
            assert_eq!(*answer, answers[i % count], "{}", lines[i]);
        }
        let undecided = answers.iter().filter(|answer| answer.contains("out_of_budget")).count();
        assert!((count / 2..5 * count / 2).contains(&undecided), "{undecided} of {}", 3 * count);
        for threads in ["2", "4"] {
            let other = folder.query(&lines, &[&["--threads", threads], &options[2..]].concat());
            assert!(other.out == one.out, "{threads} threads differ");
        }
        // Neither does the order matter.
        let backwards: Vec<&str> = lines.iter().rev().copied().collect();
        let turned = folder.query(&backwards, options);
        assert!(turned.out.lines().rev().eq(one.out.lines()), "the order matters");
    }
}

/// A device need not end, and a folder is no mesh.
#[cfg(unix)]
#[test]
fn devices_and_folders_are_refused_by_name() {
    let folder = Folder::new();
    let places = ["/dev/zero", "/dev/null", "/tmp"];
    let lines = places.map(|place| format!(r#"{{"id":1,"ask":"self","a":{{"mesh":"{place}"}}}}"#));
    let ended = folder.query(&lines.each_ref().map(String::as_str), &[]);
    for (answer, place) in ended.lines().iter().zip(places) {
        let (_, error) = refused(answer);
        assert!(error.contains(place) && error.contains("neither a regular file nor a pipe"), "{error}");
    }
    assert_eq!((ended.code, folder.run(&["inspect", "/dev/zero"]).code), (2, 2));
    // What a shell puts in the place of a file is a pipe.
    let piped = run_in(folder.path(), &["inspect", "/dev/stdin"], b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    assert_eq!(piped.code, 0, "{piped:?}");
}

#[test]
fn settings_stand_on_a_line_or_on_the_command() {
    let folder = Folder::with_meshes();
    let two =
        r#""ask":"pairs","a":{"mesh":"cube.obj"},"b":{"mesh":"sheet.obj","pose":{"position":[0.5,0.1,0.2]}}"#;
    let lines = [
        format!("{{\"id\":0,{two}}}"),
        format!("{{\"id\":1,{two},\"budget\":1}}"),
        format!("{{\"id\":2,{two},\"budget\":\"1\"}}"),
        format!("{{\"id\":3,{two},\"budget\":\"100s\",\"method\":\"brute\",\"seed\":4}}"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let finishes = |options: &[&str]| {
        let ended = folder.query(&lines, options);
        assert_eq!(ended.code, 0, "{ended:?}");
        ended.lines().iter().map(|a| a["finish"].as_str().unwrap() == "complete").collect::<Vec<_>>()
    };
    assert_eq!(finishes(&[]), [true, false, false, true]);
    assert_eq!(finishes(&["--budget", "2"]), [false, false, false, true]);
    let answers = folder.query(&lines, &[]).lines();
    assert_eq!(answers[0]["pairs"], answers[3]["pairs"]);
}

#[test]
fn explain_tells_of_each_line_who_answered_and_why_and_changes_no_answer() {
    let folder = Folder::with_meshes();
    let pair = r#""a":{"mesh":"cube.obj"},"b":{"mesh":"small.obj"}"#;
    let line = |k: usize| match k % 4 {
        0 => format!(r#"{{"id":{k},"ask":"relation",{pair}}}"#),
        1 => format!(r#"{{"id":"x{k}","ask":"pairs",{pair},"method":"brute"}}"#),
        2 => format!(r#"{{"id":{k},"ask":"nothing"}}"#),
        _ => String::new(),
    };
    let lines: Vec<String> = (0..200).map(line).collect();
    folder.write("batch.jsonl", lines.join("\n"));
    for threads in ["1", "3"] {
        let silent = folder.run(&["query", "batch.jsonl", "--threads", threads]);
        let told = folder.run(&["query", "batch.jsonl", "--threads", threads, "--explain"]);
        assert!(silent.err.is_empty() && silent.out == told.out && silent.code == told.code, "{}", told.err);
        let notes: Vec<&str> = told.err.lines().filter(|line| line.starts_with("line ")).collect();
        assert_eq!(notes.len(), 150);
        for (k, note) in (0..200).filter(|k| k % 4 < 3).zip(notes) {
            let id = if k % 4 == 1 { format!("\"x{k}\"") } else { k.to_string() };
            let found = match k % 4 {
                0 => "exact, chosen by auto: ",
                1 => "brute, as named; ",
                _ => "refused",
            };
            assert!(note.starts_with(&format!("line {}, id {id}: {found}", k + 1)), "{note}");
        }
    }
}

/// A question that is asked afresh begins with the nearest patches, whatever the seed.
#[test]
fn a_seed_on_a_line_or_before_all_of_them_gives_the_same_bytes_at_any_thread_count() {
    let folder = Folder::with_meshes();
    let line = |seed: &str, units: u64| {
        let pair = r#""a":{"mesh":"cube.obj"},"b":{"mesh":"small.obj","pose":{"position":[1.3,0.1,0]}}"#;
        format!(r#"{{"ask":"relation",{pair},"method":"sampled","budget":{units}{seed}}}"#)
    };
    let lines = |seed: &str| -> Vec<String> { (0..60).map(|k| line(seed, 100 * k)).collect() };
    let ask = |lines: &[String], options: &[&str]| {
        folder.query(&lines.iter().map(String::as_str).collect::<Vec<_>>(), options).out
    };
    let one = ask(&lines(""), &["--seed", "7"]);
    let open = one.lines().filter(|answer| answer.contains("out_of_budget")).count();
    assert!((5..60).contains(&open), "{open} of 60 are open");
    assert_eq!(ask(&lines(""), &["--seed", "7", "--threads", "1"]), one);
    assert_eq!(ask(&lines(r#","seed":7"#), &["--seed", "2", "--threads", "3"]), one);
    let wrong = folder.query(&[&line(r#","seed":-1"#, 100)], &[]);
    assert!(wrong.code == 2 && wrong.out.contains("seed: "), "{wrong:?}");
}

#[test]
fn meshes_are_found_beside_the_batch_and_loaded_once() {
    let folder = Folder::with_meshes();
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    let absolute = folder.path().join("small.obj");
    let line =
        |a: &str, b: &str| format!(r#"{{"ask":"relation","a":{{"mesh":{a:?}}},"b":{{"mesh":{b:?}}}}}"#);
    let lines = [
        line("../cube.obj", "../small.obj"),
        line("../deep/../cube.obj", absolute.to_str().unwrap()),
        line("../cube.obj", "../small.obj"),
    ];
    folder.write("deep/batch.jsonl", lines.join("\n"));
    let ended = folder.run(&["query", "deep/batch.jsonl", "--explain"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.lines().iter().all(|a| a["relation"] == "b_inside_a"), "{ended:?}");
    assert!(ended.err.contains("3 answered, 0 refused, 2 mesh files"), "{}", ended.err);
    let missing = folder.run(&["query", "nowhere.jsonl"]);
    assert!(missing.code == 2 && missing.err.contains("nowhere.jsonl"), "{missing:?}");
    let empty = run_in(folder.path(), &["query", "-"], b"\n\n");
    assert_eq!((empty.code, empty.out.as_str()), (0, ""));
}

#[test]
fn a_conversation_gets_each_answer_at_once() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_impinge"))
        .args(["query", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for id in 0..5 {
        writeln!(to, "{}", ask(&id.to_string(), "relation", "")).unwrap();
        let mut answer = String::new();
        from.read_line(&mut answer).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["id"], id);
    }
    drop(to);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let folder = Folder::new();
    let lines = vec![ask("1", "relation", ""); 20_000].join("\n");
    let file = folder.write("batch.jsonl", lines);
    let mut child = Command::new(env!("CARGO_BIN_EXE_impinge"))
        .arg("query")
        .arg(file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(first.contains("intersecting"));
    assert_eq!((ended.status.code(), String::from_utf8(ended.stderr).unwrap().as_str()), (Some(0), ""));
}

/// Every shape of the contract, and those of ours.
const SHAPES: [&str; 14] = [
    r#""mesh":"cube.obj""#,
    r#""vertices":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]],"triangles":[[0,2,1],[0,1,3],[0,3,2],[1,2,3]]"#,
    r#""hull":[[0,0,0],[1,0,0],[0,1,0],[0,0,1],[0.1,0.1,0.1]]"#,
    r#""sphere":0.5"#,
    r#""box":[1,0.5,0.25]"#,
    r#""capsule":{"radius":0.25,"half_height":1}"#,
    r#""cylinder":{"radius":0.25,"half_height":1}"#,
    r#""cone":{"radius":0.25,"half_height":1}"#,
    r#""ellipsoid":[0.5,1,0.25]"#,
    r#""halfspace":{"normal":[0,0,2],"offset":-3}"#,
    r#""triangle":[[0,0,0],[1,0,0],[0,1,0]]"#,
    r#""segment":[[0,0,0],[1,0,0]]"#,
    r#""vertices":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]],"tetrahedra":[[0,1,2,3]]"#,
    r#""compound":[{"box":[0.5,0.5,0.5]},{"sphere":0.5,"pose":{"position":[1,0,0]}}]"#,
];

#[test]
fn any_two_shapes_have_a_relation_and_a_distance() {
    let folder = Folder::with_meshes();
    let mut lines = Vec::new();
    for a in SHAPES {
        for b in SHAPES {
            for (id, z) in [("near", 0.25), ("far", 50.0)] {
                for ask in ["relation", "distance"] {
                    let pose =
                        format!(r#""pose":{{"position":[0.25,0.125,{z}],"rotation":[0.1,0.2,0.3,0.9]}}"#);
                    lines.push(format!(r#"{{"id":"{id}","ask":"{ask}","a":{{{a}}},"b":{{{b},{pose}}}}}"#));
                }
            }
        }
    }
    let ended = folder.query(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let answers = ended.lines();
    for (pair, line) in answers.chunks(2).zip(lines.chunks(2)) {
        let endless = line[0].matches("halfspace").count() == 2;
        let distance = pair[1]["distance"].as_f64();
        assert_eq!(distance.is_none(), endless, "{} {}", line[1], pair[1]);
        let Some(distance) = distance else { continue };
        let apart = distance > 0.0;
        let separated = pair[0]["relation"] == "separated";
        let nested = pair[0]["relation"].as_str().unwrap().contains("inside");
        assert!(apart == separated || nested, "{} {} {}", line[0], pair[0], pair[1]);
        assert!(pair[1]["points"].is_array() && pair[1]["features"].is_array(), "{}", pair[1]);
        assert_eq!(pair[1]["normal"].is_null(), distance == 0.0, "{}", pair[1]);
        if pair[0]["id"] == "far" && !line[0].contains("halfspace") {
            assert!(separated && distance > 40.0, "{} {}", line[0], pair[0]);
        }
    }
}

#[test]
fn signed_distances_carry_points_features_and_normal() {
    let folder = Folder::new();
    let at = |z: f64| format!(r#""pose":{{"position":[0,0,{z}]}}"#);
    let lines = [
        format!(r#"{{"id":1,"ask":"distance","a":{{"box":[1,1,1]}},"b":{{"sphere":0.5,{}}}}}"#, at(1.25)),
        format!(r#"{{"id":2,"ask":"distance","a":{{"sphere":1}},"b":{{"sphere":0.5,{}}}}}"#, at(4.0)),
        format!(r#"{{"id":3,"ask":"relation","a":{{"sphere":1}},"b":{{"sphere":0.5,{}}}}}"#, at(1.5)),
        format!(r#"{{"id":4,"ask":"relation","a":{{"cylinder":{{"radius":1,"half_height":1}}}},"b":{{"box":[1,1,1],{}}}}}"#, at(2.0)),
        r#"{"id":5,"ask":"points","a":{"box":[1,1,1]},"points":[[0,0,0],[0,0,3],[1,0,0]]}"#.to_string(),
        r#"{"id":6,"ask":"points","a":{"hull":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]},"points":[[0.25,0.25,0],[-1,0,0]]}"#.to_string(),
    ];
    let ended = folder.query(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let answers = ended.lines();
    assert_eq!(
        answers[0],
        json!({"schema": 1, "id": 1, "distance": -0.25, "points": [[0.0, 0.0, 1.0], [0.0, 0.0, 0.75]],
               "features": [{"face": 5}, {"surface": true}], "normal": [0.0, 0.0, 1.0],
               "relation": "intersecting", "method": "exact", "certainty": "exact", "finish": "complete"})
    );
    assert_eq!(
        (answers[1]["distance"].as_f64(), &answers[1]["normal"]),
        (Some(2.5), &json!([0.0, 0.0, 1.0]))
    );
    assert_eq!((&answers[2]["relation"], &answers[2]["certainty"]), (&json!("touching"), &json!("exact")));
    assert_eq!(
        (&answers[3]["relation"], &answers[3]["certainty"]),
        (&json!("touching"), &json!("approximate"))
    );
    assert!(answers[3]["resolution"].as_f64().unwrap() < 1e-11);
    assert_eq!(answers[4]["distances"], json!([-1.0, 2.0, 0.0]));
    assert_eq!(answers[4]["inside"], json!([true, false, true]));
    assert_eq!(answers[5]["distances"], json!([0.0, 1.0]));
    assert_eq!(answers[5]["inside"], json!([true, false]));
}

#[test]
fn the_sign_of_a_tiny_distance_is_that_of_the_relation() {
    let folder = Folder::new();
    // Tilted boxes that kiss: gaps of a few last bits either way.
    let turn = r#""rotation":[0.12,-0.09,0.17,0.97]"#;
    let norm = (0.12_f64 * 0.12 + 0.09 * 0.09 + 0.17 * 0.17 + 0.97 * 0.97).sqrt();
    let [x, y, z, w] = [0.12, -0.09, 0.17, 0.97].map(|c| c / norm);
    let up = [2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)];
    let mut lines = Vec::new();
    for k in -40..40 {
        let gap = 2.0 + f64::from(k) * 1e-16;
        let z = up.map(|c| c * gap);
        for ask in ["relation", "distance"] {
            let body = r#""box":[0.5,1,1]"#;
            lines.push(format!(
                r#"{{"id":{k},"ask":"{ask}","a":{{{body},"pose":{{"position":[0,0,0],{turn}}}}},"b":{{{body},"pose":{{"position":{z:?},{turn}}}}}}}"#
            ));
            lines.push(format!(
                r#"{{"id":{k},"ask":"{ask}","a":{{"sphere":1}},"b":{{"sphere":1,"pose":{{"position":[{},0,{}]}}}}}}"#,
                0.6 * gap,
                0.8 * gap
            ));
        }
    }
    let ended = folder.query(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let mut separated = 0;
    for four in ended.lines().chunks(4) {
        for (relation, distance) in [(&four[0], &four[2]), (&four[1], &four[3])] {
            let apart = relation["relation"] == "separated";
            assert_eq!(distance["distance"].as_f64().unwrap() > 0.0, apart, "{relation} {distance}");
            separated += usize::from(apart);
        }
    }
    assert!((20..140).contains(&separated), "{separated} of 160 are separated");
}

#[test]
fn compounds_hold_convex_parts_and_others_are_refused_by_name() {
    let folder = Folder::with_meshes();
    let two = r#"{"sphere":0.5},{"box":[0.25,0.25,0.25],"pose":{"position":[3,0,0]}}"#;
    let line = |parts: &str, b: &str| format!(r#"{{"ask":"distance","a":{{"compound":[{parts}]}},"b":{b}}}"#);
    let ball = r#"{"sphere":1,"pose":{"position":[5,0,0]}}"#;
    let lines = [
        line(two, ball),
        line(two, ball).replace("distance", "relation"),
        line(r#"{"mesh":"cube.obj"}"#, ball),
        line(r#"{"sphere":1},{"compound":[{"sphere":1}]}"#, ball),
        line("", ball),
        line(r#"{"sphere":-1}"#, ball),
        line(r#"{"sphere":1,"to":{}}"#, ball),
        r#"{"ask":"points","a":{"compound":[{"sphere":1}]},"points":[[0,0,0]]}"#.to_string(),
    ];
    let answers = folder.query(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &[]).lines();
    assert_eq!((answers[0]["distance"].as_f64(), &answers[0]["relation"]), (Some(0.75), &json!("separated")));
    assert_eq!(answers[1]["relation"], "separated");
    for (k, why) in [
        "part 0 is a mesh, which is not convex",
        "part 1 is a compound, which is not convex",
        "compound: parts: ",
        "a.compound[0]: sphere: ",
        "a.compound[0]: \"to\" is no field",
    ]
    .into_iter()
    .enumerate()
    {
        let said = answers[2 + k]["error"].as_str().unwrap_or_default();
        assert!(said.contains(why), "{}\n{said}", lines[2 + k]);
    }
    assert_eq!((&answers[7]["distances"], &answers[7]["inside"]), (&json!([-1.0]), &json!([true])));
    let deep = format!("{}{}", r#"{"compound":["#.repeat(100_000), "]}".repeat(100_000));
    let line = format!(r#"{{"ask":"relation","a":{deep},"b":{{"sphere":1}}}}"#);
    assert!(folder.query(&[&line], &[]).out.contains("which is not convex"));
}

#[test]
fn methods_are_those_that_the_library_registers() {
    let folder = Folder::new();
    let hull = r#"{"hull":[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]}"#;
    let ball = r#"{"sphere":0.5,"pose":{"position":[0,0,3]}}"#;
    let line = |method: &str, ask: &str, b: &str| {
        format!(r#"{{"ask":"{ask}","method":"{method}","a":{hull},"b":{b}}}"#)
    };
    let lines = [
        line("gjk", "distance", ball),
        line("voronoi", "distance", hull),
        line("voronoi", "relation", hull),
        line("voronoi", "distance", ball),
        line("gjk", "relation", ball),
        line("contact", "sweep", ball),
        r#"{"ask":"points","method":"brute","a":{"sphere":1},"points":[[0,0,0]]}"#.into(),
    ];
    let answers = folder.query(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &[]).lines();
    for (answer, method) in answers.iter().zip(["gjk", "voronoi", "voronoi"]) {
        assert_eq!(answer["method"], method, "{answer}");
    }
    assert_eq!((answers[0]["distance"].as_f64(), &answers[0]["relation"]), (Some(1.5), &json!("separated")));
    for (answer, why) in answers[3..].iter().zip([
        "method voronoi does not answer distance of hull and sphere; exact and gjk do",
        "method gjk does not answer relation of hull and sphere; exact does",
        "method contact does not answer sweep of hull and sphere; exact does",
        "brute does not answer the signed distance; exact does",
    ]) {
        assert!(answer["error"].as_str().unwrap().contains(why), "{answer}");
    }
}

#[test]
fn self_is_asked_in_a_batch_too() {
    let folder = Folder::with_meshes();
    let fall = |z: f64| {
        format!(
            r#"{{"vertices":[[0,0,0],[4,0,0],[0,4,0],[1,1,{z}],[2,1,{z}],[1,2,{z}]],"triangles":[[0,1,2],[3,4,5]]}}"#
        )
    };
    let lines = [
        r#"{"ask":"self","a":{"mesh":"bow.obj"}}"#.to_string(),
        format!(r#"{{"ask":"self","a":{},"to":{}}}"#, fall(1.0), fall(-1.0)),
        format!(r#"{{"ask":"self","a":{},"to":{},"all":true}}"#, fall(1.0), fall(-1.0)),
        r#"{"ask":"self","a":{"mesh":"bow.obj"},"to":{"mesh":"cube.obj"}}"#.into(),
        r#"{"ask":"self","a":{"mesh":"bow.obj"},"all":true}"#.into(),
        r#"{"ask":"self","a":{"sphere":1}}"#.into(),
    ];
    let answers = folder.query(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &[]).lines();
    assert_eq!((&answers[0]["count"], &answers[0]["pairs"]), (&json!(1), &json!([[0, 1]])));
    let time = answers[1]["time"].as_f64().unwrap();
    assert!(answers[1]["hit"] == true && (0.5 - 1e-9..=0.5).contains(&time), "{}", answers[1]);
    assert_eq!(answers[2]["vf"].as_array().unwrap().len(), 3, "{}", answers[2]);
    for (answer, why) in answers[3..].iter().zip([
        "to: the second state: 8 vertices",
        "all without \"to\"",
        "of a sphere is not answered",
    ]) {
        assert!(answer["error"].as_str().unwrap().contains(why), "{answer}");
    }
}

#[test]
fn clouds_of_particles() {
    let folder = Folder::with_meshes();
    let dust = r#"{"particles":[[0,0,0.5],[0,0,9]],"radius":0.25}"#;
    let each = r#"{"particles":[[0,0,3],[5,0,0]],"radii":[0.5,0]}"#;
    let line =
        |id: u32, ask: &str, a: &str, b: &str| format!(r#"{{"id":{id},"ask":"{ask}","a":{a},"b":{b}}}"#);
    let cube = r#"{"mesh":"cube.obj"}"#;
    let falling = r#"{"particles":[[0,0,3],[5,0,0]],"radii":[0.5,0],"to":{"position":[0,0,-2]}}"#;
    let lines = [
        line(1, "relation", dust, cube),
        line(2, "distance", dust, cube),
        line(3, "distance", cube, each),
        line(4, "sweep", falling, cube),
        line(5, "volume", dust, cube),
        line(6, "relation", r#"{"particles":[[0,0,0]],"radius":-1}"#, cube),
        line(7, "relation", r#"{"particles":[[0,0,0]]}"#, cube),
        line(8, "relation", r#"{"particles":[[0,0,0]],"radii":[1,2]}"#, cube),
        line(9, "relation", r#"{"radius":1}"#, cube),
        line(10, "relation", r#"{"particles":[],"radius":1}"#, cube),
    ];
    let ended = folder.query(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    assert_eq!(ended.code, 2, "{ended:?}");
    let answers = ended.lines();
    assert_eq!(
        (&answers[0]["relation"], &answers[0]["method"]),
        (&json!("intersecting"), &json!("particles"))
    );
    assert_eq!(answers[1]["distance"], json!(-0.75));
    assert_eq!(
        (&answers[1]["features"][0], &answers[1]["relation"]),
        (&json!({"vertex": 0}), &json!("intersecting"))
    );
    assert_eq!((&answers[2]["distance"], &answers[2]["normal"]), (&json!(1.5), &json!([0.0, 0.0, 1.0])));
    assert!((answers[3]["time"].as_f64().unwrap() - 0.75).abs() < 2e-6, "{}", answers[3]);
    assert!((answers[4]["volume"].as_f64().unwrap() - 0.0654498469).abs() < 1e-4, "{}", answers[4]);
    let errors: Vec<&str> = answers[5..].iter().map(|answer| refused(answer).1).collect();
    for (error, word) in errors.iter().zip(["radii", "radius or radii", "2 for 1", "radius", "at least"]) {
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn issue_015_a_pose_may_be_a_list() {
    let folder = Folder::with_meshes();
    let lines = [
        r#"{"id":1,"ask":"distance","a":{"sphere":1},"b":{"sphere":1,"pose":[0,0,3]}}"#,
        r#"{"id":2,"ask":"distance","a":{"box":[1,1,1]},"b":{"box":[1,1,1],"pose":[4,0,0,0,0,0.3826834323650898,0.9238795325112867]}}"#,
        r#"{"id":3,"ask":"sweep","a":{"sphere":1,"pose":[0,0,3],"to":[0,0,0]},"b":{"mesh":"cube.obj"}}"#,
        r#"{"id":4,"ask":"distance","a":{"sphere":1},"b":{"sphere":1,"pose":[0,0]}}"#,
    ];
    let answers = folder.query(&lines, &[]).lines();
    assert_eq!(answers[0]["distance"], 1.0);
    assert!(
        (answers[1]["distance"].as_f64().unwrap() - (3.0 - 2_f64.sqrt())).abs() < 1e-12,
        "{}",
        answers[1]
    );
    assert!((answers[2]["time"].as_f64().unwrap() - 1.0 / 3.0).abs() < 2e-6, "{}", answers[2]);
    let refused = answers[3]["error"].as_str().unwrap();
    assert!(refused.contains("[x,y,z]"), "{refused}");
    let help = folder.run(&["query", "--help"]).out;
    for word in
        ["\"ccd\"", "\"rotation\"", "\"matrix\"", "\"contacts\"", "\"separate\"", "\"volume\"", "[x,y,z]"]
    {
        assert!(help.contains(word), "{word}");
    }
    let swept = folder.run(&["sweep", "cube.obj", "small.obj", "--at-b", "0,0,3", "--to-b", "0,0,0"]).out;
    assert!(!swept.contains("(ee)") && !swept.contains("(vf)") && !swept.contains("(fv)"), "{swept}");
}

#[test]
fn numbers_of_an_answer_are_numbers_in_their_units() {
    let folder = Folder::with_meshes();
    let ended = folder.query(
        &[
            r#"{"id":1,"ask":"rays","a":{"sphere":1},"rays":[[0,0,5,0,0,-1],[0,0,5,0,0,-1e-320]]}"#,
            r#"{"id":2,"ask":"rays","a":{"sphere":1},"rays":[[0,0,5,0,0,-1e-200]]}"#,
            r#"{"id":3,"ask":"ccd","kind":"vf","t0":[[0,0,1],[-1,-1,0],[1,-1,0],[0,1,0]],"t1":[[0,0,0.5],[-1,-1,0],[1,-1,0],[0,1,0]],"margin":0.75}"#,
            r#"{"id":4,"ask":"ccd","kind":"vf","t0":[[0,0,1],[-1,-1,0],[1,-1,0],[0,1,0]],"t1":[[0,0,-1],[-1,-1,0],[1,-1,0],[0,1,0]]}"#,
            r#"{"id":5,"ask":"self","a":{"mesh":"cube.obj"},"to":{"mesh":"cube.obj"},"margin":0.5}"#,
            r#"{"id":6,"ask":"volume","a":{"sphere":1},"b":{"sphere":1},"resolution":100000}"#,
        ],
        &[],
    );
    let lines = ended.lines();
    let error = |i: usize| lines[i]["error"].as_str().unwrap_or_default().to_string();
    assert!(error(0).contains("rays: element 1: direction") && error(0).contains("1e-320"), "{}", lines[0]);
    assert_eq!(lines[1]["hits"][0]["t"], json!(4e200));
    for line in [&lines[2], &lines[4]] {
        assert!(line["tolerance"].is_null() && line["slack"].as_f64().unwrap() > 1e-4, "{line}");
    }
    assert!(
        (lines[2]["slack"].as_f64().unwrap() - 0.75e-3).abs() < 1e-9 && lines[2]["hit"] == true,
        "{}",
        lines[2]
    );
    assert!(lines[3]["slack"].is_null() && lines[3]["tolerance"].as_f64().unwrap() < 1e-6, "{}", lines[3]);
    assert!(error(5).contains("resolution: 100000 is not from 1 to 4096"), "{}", lines[5]);
}
