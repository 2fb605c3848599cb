//! What meets the eye first: no arguments, help, version, completions.

use crate::common::{Folder, impinge};

#[test]
fn without_arguments_the_built_in_scenes_run() {
    let (plain, demo) = (impinge(&[]), impinge(&["demo"]));
    assert_eq!(plain.code, 0);
    assert_eq!(plain.out, demo.out);
    for word in ["separated", "touching", "intersecting", "a_inside_b"] {
        assert!(plain.out.contains(word), "{word}: {}", plain.out);
    }
}

#[test]
fn the_demo_speaks_json_and_does_not_depend_on_threads() {
    let one = impinge(&["demo", "--format", "json", "--threads", "1"]);
    assert_eq!(one.out, impinge(&["demo", "--format", "json", "--threads", "3"]).out);
    let answer = one.json();
    assert_eq!((answer["schema"].as_u64(), answer["certainty"].as_str()), (Some(1), Some("exact")));
    let scenes = answer["scenes"].as_array().unwrap();
    assert!(scenes.len() >= 5);
    for scene in scenes {
        assert!(scene["name"].is_string() && scene["says"].is_string(), "{scene}");
    }
    assert!(scenes.iter().any(|s| s["self_intersections"].as_u64() > Some(0)), "{answer}");
}

#[test]
fn the_demo_keeps_to_its_budget() {
    for limit in ["1", "1000", "1ms"] {
        let ended = impinge(&["demo", "--budget", limit, "--format", "json"]);
        let answer = ended.json();
        assert_eq!((ended.code, answer["finish"].as_str()), (3, Some("out_of_budget")), "{limit}: {answer}");
        assert!(answer["certainty"].is_null());
        let open = |scene: &serde_json::Value| scene["distance"].is_null();
        assert!(answer["scenes"].as_array().unwrap().iter().any(open), "{limit}: {answer}");
    }
    let text = impinge(&["demo", "--budget", "1"]).out;
    assert!(text.contains("undecided, ? triangle pairs meet") && text.contains("The budget ended first."));
    let ample = impinge(&["demo", "--budget", "1000000000"]);
    assert_eq!((ample.code, ample.out), (0, impinge(&["demo"]).out));
}

#[test]
fn the_demo_draws() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["demo", "--picture", "scene.png"]).code, 0);
    let bytes = std::fs::read(folder.path().join("scene.png")).unwrap();
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000);
}

#[test]
fn help_teaches() {
    let help = impinge(&["--help"]);
    assert_eq!(help.code, 0);
    for line in [
        "Where, when and how deeply things touch",
        "impinge check a.obj b.stl --all --format json",
        "Exit codes: 0 free or done, 1 contact, 2 refused (usage or input), 3 the budget ended undecided.",
        "--budget <LIMIT>",
        "--threads <N>",
        "--method <NAME>",
        "[possible values: auto, exact, brute, voronoi, gjk, contact, sphere_tree, sampled, image, particles, grid,",
    ] {
        assert!(help.out.contains(line), "{line}\n{}", help.out);
    }
    for command in
        ["inspect", "check", "distance", "rays", "self", "query", "simulate", "demo", "completions"]
    {
        assert!(help.out.contains(&format!("\n  {command} ")), "{command}");
        let page = impinge(&[command, "--help"]);
        assert_eq!(page.code, 0);
        assert!(
            page.out.contains("Examples:\n") && page.out.contains(&format!("impinge {command}")),
            "{}",
            page.out
        );
        assert_eq!(impinge(&["help", command]).code, 0);
    }
    for (command, words) in [
        ("check", ["boundary edge", "at_least"]),
        ("distance", ["between at_least and at_most", "out_of_budget"]),
        ("separate", ["at_most is the length", "open mesh"]),
        ("clash", ["at_least is the number", "is missing"]),
        ("query", ["between at_least and at_most", "both may stand on the line"]),
    ] {
        let page = impinge(&[command, "--help"]).out;
        assert!(words.iter().all(|word| page.contains(word)) && !page.contains("border"), "{page}");
    }
    let version = impinge(&["--version"]);
    assert_eq!((version.code, version.out.trim()), (0, concat!("impinge ", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn completions_for_every_shell() {
    for (shell, word) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef impinge"),
        ("fish", "complete -c impinge"),
        ("elvish", "edit:completion"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = impinge(&["completions", shell]);
        assert_eq!(script.code, 0);
        assert!(script.out.contains(word) && script.out.contains("margin"), "{shell}");
    }
    assert_eq!(impinge(&["completions", "tcsh"]).code, 2);
}

#[test]
fn the_help_of_a_command_offers_the_methods_that_it_accepts() {
    let folder = Folder::with_meshes();
    folder.write("rays.csv", "0,0,5,0,0,-1\n");
    folder.write("points.csv", "0,0,0\n1,0,0\n");
    folder.write("batch.jsonl", "");
    let two = ["cube.obj", "small.obj"];
    let commands: [(&str, &[&[&str]]); 13] = [
        ("check", &[&two, &["cube.obj", "small.obj", "--all"]]),
        ("distance", &[&two]),
        ("volume", &[&two]),
        ("contacts", &[&two]),
        ("separate", &[&two]),
        ("sweep", &[&["cube.obj", "small.obj", "--at-b", "3,0,0", "--to-b", "0,0,0"]]),
        ("inspect", &[&["cube.obj"]]),
        ("rays", &[&["cube.obj", "--rays", "rays.csv"]]),
        ("self", &[&["cube.obj"]]),
        ("decompose", &[&["cube.obj"]]),
        ("shells", &[&["cube.obj"]]),
        ("clash", &[&two]),
        ("particles", &[&["points.csv", "--radius", "1"]]),
    ];
    let known = offered(&impinge(&["--help"]).out);
    assert!(known.len() > 8 && known.contains(&"auto".to_string()), "{known:?}");
    let techniques = offered(&impinge(&["particles", "--help"]).out);
    assert!(techniques.contains(&"kd_tree".to_string()), "{techniques:?}");
    for (command, variants) in commands {
        let offers = offered(&impinge(&[command, "--help"]).out);
        for method in known.iter().chain(&techniques) {
            let accepts = variants
                .iter()
                .any(|words| folder.run(&[&[command], *words, &["--method", method]].concat()).code != 2);
            assert_eq!(offers.contains(method), accepts, "{command} --method {method}, offered {offers:?}");
        }
    }
    // Also before the command, and a name that is none.
    assert_eq!(folder.run(&["--method", "brute", "distance", "cube.obj", "small.obj"]).code, 1);
    assert_eq!(folder.run(&["--method", "gjk", "distance", "cube.obj", "small.obj"]).code, 2);
    let refused = folder.run(&["distance", "cube.obj", "small.obj", "--method", "magic"]);
    assert!(refused.code == 2 && !refused.err.contains("kd_tree"), "{refused:?}");
}

/// The methods that a help names.
fn offered(help: &str) -> Vec<String> {
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let after = words.split("--method <NAME>").nth(1).unwrap();
    let list = after.split("[possible values: ").nth(1).unwrap().split(']').next().unwrap();
    list.split(", ").map(str::to_string).collect()
}

#[test]
fn every_answer_names_its_method_and_tells_its_work() {
    let folder = Folder::with_meshes();
    for (command, counts_some) in [
        (&["inspect", "cube.obj"][..], true),
        (&["decompose", "cube.obj"], false),
        (&["shells", "cube.obj"], true),
        (&["clash", "cube.obj", "small.obj"], true),
        (&["distance", "cube.obj", "small.obj"], true),
    ] {
        let ended = folder.run(&[command, &["--format", "json", "--explain"]].concat());
        assert_eq!(ended.json()["method"], "exact", "{ended:?}");
        let work = ended.err.lines().find(|line| line.starts_with("work ")).unwrap();
        let counts = work.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
        assert!(counts.sum::<u64>() > 0 || !counts_some, "{command:?}: {work}");
    }
}
