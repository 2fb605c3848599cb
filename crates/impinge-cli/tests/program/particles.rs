//! `impinge particles`: formats, options, files of pairs, refusals, exit codes.

use crate::common::{Folder, run_in};
use serde_json::json;

/// Six points: a row of four at distance 1, and two far away.
const ROW: &str = "0,0,0\n1,0,0\n2,0,0\n3,0,0\n50,0,0\n9.5,0,0\n";

#[test]
fn pairs_of_a_row_by_every_method() {
    let folder = Folder::new();
    folder.write("row.csv", ROW);
    for method in ["auto", "grid", "hash", "kd_tree", "brute"] {
        let args = ["particles", "row.csv", "--radius", "1", "--method", method, "--format", "json"];
        let ended = folder.run(&[&args[..], &["--pairs", "near.csv"]].concat());
        assert_eq!(ended.code, 1, "{ended:?}");
        let found = ended.json();
        assert_eq!((&found["count"], &found["schema"]), (&json!(3), &json!(1)), "{found}");
        assert_eq!((&found["certainty"], &found["finish"]), (&json!("exact"), &json!("complete")));
        assert!(method == "auto" || found["method"] == json!(method), "{found}");
        assert!(found["tests"].as_u64().unwrap() >= 3);
        let text = std::fs::read_to_string(folder.path().join("near.csv")).unwrap();
        assert_eq!(text, "i,j\n0,1\n1,2\n2,3\n");
    }
    let args = ["particles", "row.csv", "--radius", "1", "--method", "hybrid", "--explain"];
    let found = folder.run(&[&args[..], &["--format", "json"]].concat());
    assert_eq!((&found.json()["method"], &found.json()["count"]), (&json!("hybrid"), &json!(3)), "{found:?}");
    let (used, reason) = (found.json()["technique"].clone(), found.json()["reason"].clone());
    assert!(reason.as_str().unwrap().starts_with(used.as_str().unwrap()), "{found:?}");
    assert!(found.err.contains(reason.as_str().unwrap()), "{found:?}");
    let told = folder.run(&["particles", "row.csv", "--radius", "1"]);
    assert!(told.out.starts_with("3 pairs of 6 particles"), "{told:?}");
    assert!(told.out.contains("\n  0 1\n"), "{told:?}");
    let free = folder.run(&["particles", "row.csv", "--radius", "0.5", "--format", "json"]);
    assert_eq!((free.code, &free.json()["count"]), (0, &json!(0)), "{free:?}");
}

#[test]
fn a_periodic_box_joins_its_ends() {
    let folder = Folder::new();
    folder.write("row.csv", ROW);
    let args = ["particles", "row.csv", "--radius", "1", "--periodic", "0,10,-5,5,-5,5"];
    let ended = folder.run(&[&args[..], &["--pairs", "near.json", "--format", "json"]].concat());
    // 50 is 0 five boxes on, and 9.5 lies half a unit before it.
    assert_eq!(ended.json()["count"], json!(7), "{ended:?}");
    let columns = std::fs::read_to_string(folder.path().join("near.json")).unwrap();
    let columns: serde_json::Value = serde_json::from_str(&columns).unwrap();
    assert_eq!(columns, json!({"i":[0,0,0,1,1,2,4],"j":[1,4,5,2,4,3,5]}));
    let ended = folder.run(&[&args[..], &["--pairs", "near.csv", "--vectors"]].concat());
    assert_eq!(ended.code, 1, "{ended:?}");
    let rows = std::fs::read_to_string(folder.path().join("near.csv")).unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    // From 0 back to the 9.5 of the box before.
    assert_eq!((rows.len(), rows[0]), (8, "i,j,distance,dx,dy,dz,sx,sy,sz"));
    assert_eq!(rows[2..4], ["0,4,0,0,0,0,-5,0,0", "0,5,0.5,-0.5,0,0,-1,0,0"], "{rows:?}");
    assert_eq!(folder.run(&[&args[..], &["--vectors"]].concat()).code, 2, "no file to add them to");
    let narrow = folder.run(&["particles", "row.csv", "--radius", "3", "--periodic", "0,10,-2,2,-5,5"]);
    assert!(narrow.code == 2 && narrow.err.contains("twice"), "{narrow:?}");
    let bad = folder.run(&["particles", "row.csv", "--radius", "3", "--periodic", "0,10"]);
    assert_eq!(bad.code, 2, "{bad:?}");
}

#[test]
fn a_plane_is_periodic_along_its_two_axes() {
    let folder = Folder::new();
    folder.write("plane.csv", "0.1,0.1\n3.1,3.1\n1.5,1.5\n");
    let count = |options: &[&str]| {
        let args = ["particles", "plane.csv", "--radius", "0.5", "--format", "json"];
        let ended = folder.run(&[&args[..], options].concat());
        ended.json()["count"].as_u64().unwrap_or_else(|| panic!("{ended:?}"))
    };
    assert_eq!((count(&[]), count(&["--periodic", "0,3.2,0,3.2"])), (0, 1));
    assert_eq!(count(&["--periodic", "0,3.2,0,3.2,0,0", "--along", "xy"]), 1);
    assert_eq!(count(&["--periodic", "0,3.2,0,3.2", "--along", "x"]), 0);
    for options in [&["0,3.2,0,3.2,0,0"][..], &["0,3.2,0,3.2", "--along", "xz"], &["0,3.2,0,0"]] {
        let args = ["particles", "plane.csv", "--radius", "0.5", "--periodic"];
        assert_eq!(folder.run(&[&args[..], options].concat()).code, 2, "{options:?}");
    }
}

#[test]
fn standard_input_is_read_in_every_format() {
    let folder = Folder::new();
    let args = ["particles", "-", "--radius", "1", "--format", "json"];
    let ply = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n\
               end_header\n0 0 0\n1 0 0\n";
    let atom = |x: &str| format!("ATOM      1  N   MET A   1    {x:>8}   0.000   0.000  1.00  0.00\n");
    let pdb = format!("{}{}", atom("0.000"), atom("1.000"));
    for text in ["0,0,0\n1,0,0\n", "2\n\nC 0 0 0\nC 1 0 0\n", ply, &pdb] {
        let ended = run_in(folder.path(), &args, text.as_bytes());
        assert_eq!((ended.code, &ended.json()["count"]), (1, &json!(1)), "{text}: {ended:?}");
    }
    let bad = run_in(folder.path(), &args, b"0,0,0\n1,zero,0\n");
    assert!(bad.code == 2 && bad.err.contains("standard input") && bad.err.contains("line 2"), "{bad:?}");
    assert_eq!(run_in(folder.path(), &args, b"").code, 2, "nothing at all");
}

#[test]
fn slanted_cells_slabs_and_the_cell_of_a_file() {
    let folder = Folder::new();
    folder.write("two.csv", "0.1,0.1,0.1\n2.9,8.9,0.1\n0.1,0.1,9.9\n");
    let count = |options: &[&str]| {
        let ended =
            folder.run(&[&["particles", "two.csv", "--radius", "1", "--format", "json"], options].concat());
        ended.json()["count"].as_u64().unwrap_or_else(|| panic!("{ended:?}"))
    };
    // The second lies beside the first by the slanted vector, the third by the upright one.
    let cell = ["--periodic", "10,0,0,3,9,0,0,0,10"];
    assert_eq!((count(&[]), count(&cell)), (0, 3));
    assert_eq!(
        (count(&[&cell[..], &["--along", "xy"]].concat()), count(&["--periodic", "0,10,0,9,0,10"])),
        (1, 1)
    );
    let atom =
        |n: u32, x: f64| format!("ATOM  {n:>5}  N   MET A   1    {x:>8.3}   0.000   0.000  1.00  0.00\n");
    let atoms = format!("{}{}", atom(1, 0.2), atom(2, 9.9));
    let crystal = "CRYST1   10.000   10.000   10.000  90.00  90.00  90.00 P 1           1\n";
    folder.write("a.pdb", format!("{crystal}{atoms}"));
    folder.write("bare.pdb", atoms);
    let open = folder.run(&["particles", "a.pdb", "--radius", "1", "--format", "json"]);
    assert_eq!((open.code, open.err.contains("--periodic file")), (0, true), "{open:?}");
    let closed = folder.run(&["particles", "a.pdb", "--radius", "1", "--periodic", "file"]);
    assert!(closed.code == 1 && closed.out.starts_with("1 pair "), "{closed:?}");
    let none = folder.run(&["particles", "bare.pdb", "--radius", "1", "--periodic", "file"]);
    assert!(none.code == 2 && none.err.contains("no periodic cell"), "{none:?}");
    for options in [&["--along", "x"][..], &["--periodic", "0,9,0,9,0,9", "--along", "w"]] {
        assert_eq!(folder.run(&[&["particles", "a.pdb", "--radius", "1"], options].concat()).code, 2);
    }
    let parquet = folder.run(&["particles", "a.pdb", "--radius", "1", "--pairs", "near.parquet"]);
    assert!(parquet.code == 2 && parquet.err.contains(".csv or .json"), "{parquet:?}");
}

#[test]
fn balls_touch_by_the_sum_of_their_radii() {
    let folder = Folder::new();
    folder.write("balls.csv", "x,y,z,r\n0,0,0,0.5\n1,0,0,0.5\n2.5,0,0,0.75\n9,9,9,0\n");
    let ended = folder.run(&["particles", "balls.csv", "--radii", "--format", "json"]);
    assert_eq!((ended.code, &ended.json()["count"]), (1, &json!(1)), "{ended:?}");
    let ended = folder.run(&["particles", "balls.csv", "--radii", "--radius", "0.25", "--format", "json"]);
    assert_eq!(ended.json()["count"], json!(2), "{ended:?}");
    let ended = folder.run(&["particles", "balls.csv", "--radii", "--radius", "-0.25"]);
    assert!(ended.code == 2 && ended.err.contains("radius"), "{ended:?}");
    folder.write("points.csv", "0,0,0\n");
    let ended = folder.run(&["particles", "points.csv", "--radii"]);
    assert!(ended.code == 2 && ended.err.contains("no radii"), "{ended:?}");
}

#[test]
fn bad_input_is_refused_with_its_line_and_leaves_nothing_behind() {
    let folder = Folder::new();
    for (text, options, said) in [
        ("0,0,0\n1,nan,0\n", ["--radius", "1"], "line 2"),
        ("0,0,0\n1,inf,0\n", ["--radius", "1"], "line 2"),
        ("0,0,0\n1,0\n", ["--radius", "1"], "line 2"),
        ("0,0,0\n1,0,zero\n", ["--radius", "1"], "line 2"),
        ("x,y,z,r\n0,0,0,-1\n", ["--radii", "--explain"], "line 2"),
        ("0,0,0\n", ["--radius", "0"], "not a positive distance"),
        ("0,0,0\n", ["--radius", "-1"], "not a positive distance"),
        ("0,0,0\n", ["--radius", "nan"], "not a positive distance"),
        ("0,0,0\n", ["--method", "gjk"], "radius"),
    ] {
        folder.write("bad.csv", text);
        let args =
            [&["particles", "bad.csv", "--pairs", "out.csv", "--format", "json"], &options[..]].concat();
        let ended = folder.run(&args);
        assert!(ended.code == 2 && ended.err.contains(said), "{options:?}: {ended:?}");
        assert!(ended.json()["error"].is_string(), "{ended:?}");
        let left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
        assert_eq!(left, ["bad.csv"], "{options:?}");
    }
    folder.write("fine.csv", "0,0,0\n");
    let ended = folder.run(&["particles", "fine.csv", "--radius", "1", "--method", "gjk"]);
    assert!(ended.code == 2 && ended.err.contains("grid"), "{ended:?}");
    let with_voxel = |method: &str| {
        folder.run(&["particles", "fine.csv", "--radius", "1", "--voxel", "2", "--method", method])
    };
    for method in ["grid", "hash", "hybrid"] {
        assert_eq!(with_voxel(method).code, 0, "{method}");
    }
    for method in ["kd_tree", "brute", "spanner"] {
        let ended = with_voxel(method);
        assert!(ended.code == 2 && ended.err.contains("grid, hash, hybrid"), "{ended:?}");
    }
    let ended = folder.run(&["particles", "fine.csv", "--radius", "1", "--pairs", "missing/out.csv"]);
    assert!(ended.code == 2 && ended.err.contains("missing"), "{ended:?}");
    let ended = folder.run(&["particles", "none.csv", "--radius", "1"]);
    assert!(ended.code == 2 && ended.err.contains("none.csv"), "{ended:?}");
    let ended = folder.run(&["check", "fine.csv", "fine.csv", "--method", "kd_tree"]);
    assert!(ended.code == 2 && ended.err.contains("exact"), "{ended:?}");
}

#[test]
fn the_same_bytes_at_any_number_of_threads() {
    let folder = Folder::new();
    let grid: String = (0..4000).map(|i| format!("{},{},{}\n", i % 20, i / 20 % 20, i / 400)).collect();
    folder.write("grid.csv", grid);
    let run = |threads: &str, out: &str| {
        let args = ["particles", "grid.csv", "--radius", "1.5", "--threads", threads, "--pairs", out];
        let ended = folder.run(&[&args[..], &["--format", "json"]].concat());
        (ended.out, std::fs::read(folder.path().join(out)).unwrap())
    };
    assert_eq!(run("1", "one.csv"), run("2", "two.csv"));
}

/// Out of budget, what was found so far is certain and nothing is written.
#[test]
fn a_budget_ends_the_search() {
    let folder = Folder::new();
    let near: String = (0..5000).map(|k| format!("{},{},0\n", k % 100, k / 100)).collect();
    folder.write("near.csv", near);
    let far: String = (0..5000).map(|k| format!("{},0,0\n", 10 * k)).collect();
    folder.write("far.csv", far);
    let ask = |file: &str, budget: &str, more: &[&str]| {
        let args = ["particles", file, "--radius", "1", "--method", "sweep", "--budget", budget];
        folder.run(&[&args[..], more].concat())
    };
    let ended = ask("near.csv", "20000", &["--format", "json", "--pairs", "near.csv.pairs"]);
    let found = ended.json();
    assert_eq!(
        (ended.code, &found["count"], &found["certainty"]),
        (1, &json!(null), &json!(null)),
        "{found}"
    );
    assert_eq!(found["finish"], json!("out_of_budget"));
    assert!((1..9850).contains(&found["at_least"].as_u64().unwrap()), "{found}");
    assert!(!folder.path().join("near.csv.pairs").exists());
    assert_eq!(ask("near.csv", "20000", &["--format", "json", "--threads", "1"]).json(), found);
    let ended = ask("near.csv", "100000000", &["--format", "json"]).json();
    assert_eq!((&ended["count"], &ended["at_least"]), (&json!(9850), &json!(null)), "{ended}");
    let text = ask("far.csv", "2000", &[]);
    assert_eq!(text.code, 3, "{text:?}");
    assert!(text.out.starts_with("undecided, at least 0 pairs so far"), "{text:?}");
    assert_eq!(ask("far.csv", "1ns", &[]).code, 3);
}

#[test]
fn no_answer_replaces_the_file_it_came_from() {
    let folder = Folder::new();
    folder.write("row.csv", ROW);
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    for same in ["row.csv", "./row.csv", "sub/../row.csv"] {
        let ended = folder.run(&["particles", "row.csv", "--radius", "1", "--pairs", same]);
        assert!(ended.code == 2 && ended.err.contains("this file is read"), "{same}: {ended:?}");
        assert_eq!(std::fs::read_to_string(folder.path().join("row.csv")).unwrap(), ROW);
    }
    let dashed = folder.run(&["particles", "row.csv", "--radius", "1", "--pairs", "-"]);
    assert!(dashed.code == 2 && dashed.err.contains("standard output"), "{dashed:?}");
    assert!(!folder.path().join("-").exists());
    folder.write("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    let before = std::fs::read_to_string(folder.path().join("a.obj")).unwrap();
    for args in [
        &["decompose", "a.obj", "--output", "a.obj"][..],
        &["volume", "a.obj", "a.obj", "--mesh", "a.obj"],
        &["shells", "a.obj", "--out", "a.obj"],
    ] {
        let ended = folder.run(args);
        assert!(ended.code == 2 && ended.err.contains("this file is read"), "{args:?}: {ended:?}");
        assert_eq!(std::fs::read_to_string(folder.path().join("a.obj")).unwrap(), before);
    }
}

#[test]
fn a_pair_half_a_slanted_cell_apart_is_found_by_every_method() {
    let folder = Folder::new();
    folder.write("tie.csv", "1,1,1\n1,5,1\n");
    for method in ["brute", "grid", "hash", "kd_tree", "octree", "bsp", "rstar", "sweep", "spanner", "hybrid"]
    {
        let args = ["particles", "tie.csv", "--radius", "4", "--periodic", "10,0,0,3,8,0,0,0,10"];
        let ended = folder.run(&[&args[..], &["--method", method, "--format", "json"]].concat());
        assert_eq!(ended.json()["count"], json!(1), "{method}: {ended:?}");
    }
}
