//! `impinge shells`: levels, offsets, files and pictures.

use crate::common::Folder;

#[test]
fn levels_are_reported_saved_and_drawn() {
    let folder = Folder::with_meshes();
    let sphere = impinge::procedural::ico_sphere(2.0, 3).unwrap();
    impinge::io::save(folder.path().join("ball.obj"), &sphere).unwrap();
    let args = ["shells", "ball.obj", "--out", "ball.shells", "--picture", "ball.png", "--format", "json"];
    let ended = folder.run(&args);
    let answer = ended.json();
    assert_eq!((ended.code, answer["certainty"].as_str()), (0, Some("exact")));
    let levels = answer["levels"].as_array().unwrap();
    assert_eq!(levels[0]["facets"].as_u64(), Some(1280));
    assert!(
        levels.windows(2).all(|pair| pair[1]["facets"].as_u64() <= pair[0]["facets"].as_u64().map(|n| n / 4))
    );
    let number = |k: usize, name: &str| levels[k][name].as_f64().unwrap();
    for k in 1..levels.len() {
        assert!(number(k, "mean_outer") <= number(k, "largest_outer"));
        assert!(number(k, "tightness") <= number(k, "tightness_of_discs"));
        assert!(number(k, "mean_radius") > number(k - 1, "mean_radius"));
    }
    let shape = impinge::load(folder.path().join("ball.obj")).unwrap();
    let shells = impinge::Shells::load(folder.path().join("ball.shells"), &shape).unwrap();
    assert_eq!(shells.report().len(), levels.len());
    let picture = std::fs::read(folder.path().join("ball.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    // The same bytes at any number of threads.
    let again = folder.run(&[&args[..], &["--threads", "1"]].concat());
    assert_eq!((again.out, std::fs::read(folder.path().join("ball.png")).unwrap()), (ended.out, picture));
}

#[test]
fn the_number_of_levels_can_be_chosen() {
    let folder = Folder::with_meshes();
    let text = folder.run(&["shells", "cube.obj", "--levels", "2"]);
    assert!(
        text.code == 0 && text.out.starts_with("2 levels") && text.out.contains("edge planes"),
        "{}",
        text.out
    );
    let one = folder.run(&["shells", "cube.obj", "--format", "json"]).json();
    assert_eq!(one["levels"].as_array().unwrap().len(), 1, "twelve triangles are few enough");
    assert_eq!(folder.run(&["shells", "cube.obj", "--levels", "0"]).code, 2);
    assert_eq!(folder.run(&["shells", "nowhere.obj"]).code, 2);
    assert_eq!(folder.run(&["shells", "cube.obj", "--method", "gjk"]).code, 2);
    assert_eq!(folder.run(&["shells", "cube.obj", "--out", "no/such/folder/x"]).code, 2);
}

#[test]
fn a_budget_ends_the_work() {
    let folder = Folder::new();
    let sphere = impinge::procedural::ico_sphere(2.0, 5).unwrap();
    impinge::io::save(folder.path().join("ball.obj"), &sphere).unwrap();
    for budget in ["1000", "1us"] {
        let args = ["shells", "ball.obj", "--out", "ball.shells", "--format", "json", "--budget", budget];
        let ended = folder.run(&args);
        let answer = ended.json();
        assert_eq!((ended.code, answer["finish"].as_str()), (3, Some("out_of_budget")), "{ended:?}");
        assert!(answer["levels"].is_null() && answer["certainty"].is_null(), "{answer}");
        assert!(!folder.path().join("ball.shells").exists());
    }
    let args = ["shells", "ball.obj", "--format", "json"];
    let free = folder.run(&args);
    let limited = folder.run(&[&args[..], &["--budget", "10000000"]].concat());
    assert_eq!((limited.code, limited.out), (0, free.out));
}
