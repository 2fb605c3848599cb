//! `--picture`, `--view`, `--size` of the commands that draw.

use crate::common::{Folder, cube};

fn size_of(png: &[u8]) -> [u32; 2] {
    assert!(png.starts_with(b"\x89PNG"));
    [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()))
}

#[test]
fn every_command_that_draws_takes_a_view_and_a_size() {
    let folder = Folder::new();
    folder.write("a.obj", cube(1.0, 12));
    folder.write("b.obj", cube(0.5, 12));
    folder.write("rays.csv", "0.1,0.2,5,0,0,-2\n5,0,0,0,0,1\n");
    let mesh = impinge::procedural::knot([2, 3], 1.0, 0.5, 60, 8).unwrap();
    impinge::io::save(folder.path().join("knot.obj"), &mesh).unwrap();
    let commands: [&[&str]; 8] = [
        &["check", "a.obj", "b.obj", "--at-b", "1,0,0"],
        &["contacts", "a.obj", "b.obj", "--at-b", "1.2,0,0"],
        &["rays", "a.obj", "--rays", "rays.csv"],
        &["sweep", "a.obj", "b.obj", "--at-b", "4,0,0", "--to-b", "-4,0,0"],
        &["self", "knot.obj"],
        &["self", "a.obj", "--to", "a.obj"],
        &["decompose", "a.obj"],
        &["volume", "a.obj", "b.obj", "--at-b", "1,0,0"],
    ];
    for command in commands {
        let plain = folder.run(&[command, &["--picture", "plain.png"]].concat());
        assert!(plain.code < 2, "{command:?} {}", plain.err);
        let options = ["--picture", "turned.png", "--view", "-1,0.2,0.4", "--size", "320x200"];
        assert!(folder.run(&[command, &options].concat()).code < 2);
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        assert_eq!((size_of(&read("plain.png")), size_of(&read("turned.png"))), ([960, 720], [320, 200]));
        for (options, why) in [
            (&["--picture", "x.jpg"][..], "does not end in .png"),
            (&["--picture", "x.png", "--view", "0,0,0"], "is not a direction"),
            (&["--picture", "x.png", "--size", "0x9"], "is not a size"),
            (&["--size", "100x100"], "--picture"),
        ] {
            let refused = folder.run(&[command, options].concat());
            assert!(
                refused.code == 2 && refused.err.contains(why),
                "{command:?} {options:?} {}",
                refused.err
            );
        }
    }
}

/// A direction has no length: squares that underflow or overflow are no other view.
#[test]
fn a_view_of_any_length_is_the_same() {
    let folder = Folder::new();
    folder.write("a.obj", cube(1.0, 12));
    folder.write("b.obj", cube(0.5, 12));
    let drawn = |view: &str| {
        let picture = ["--picture", "seen.png", "--view", view, "--size", "64x64"];
        let ended = folder.run(&[&["check", "a.obj", "b.obj", "--at-b", "1,0,0"], &picture[..]].concat());
        assert_eq!(ended.code, 1, "{ended:?}");
        std::fs::read(folder.path().join("seen.png")).unwrap()
    };
    let whole = drawn("1,0,0");
    assert_ne!(whole, drawn("0,0,1"));
    for view in ["1e-200,0,0", "5e-324,0,0", "1e300,0,0"] {
        assert!(drawn(view) == whole, "{view}");
    }
}

#[test]
fn a_picture_keeps_to_the_budget_of_its_question() {
    let folder = Folder::new();
    for (name, seed) in [("a.obj", 1), ("b.obj", 2)] {
        let mesh = impinge::procedural::blob(1.0, 0.3, 5, seed).unwrap();
        impinge::io::save(folder.path().join(name), &mesh).unwrap();
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    for command in [
        &["check", "a.obj", "b.obj"][..],
        &["check", "a.obj", "b.obj", "--all"],
        &["contacts", "a.obj", "b.obj", "--margin", "0.01"],
        &["volume", "a.obj", "b.obj"],
    ] {
        let whole = folder.run(&[command, &["--picture", "whole.png"]].concat());
        assert!(whole.code == 1 && !whole.err.contains("note:"), "{whole:?}");
        let short = folder.run(&[command, &["--picture", "short.png", "--budget", "1000"]].concat());
        assert!(short.code != 2 && short.err.contains("note: the budget ended before all"), "{short:?}");
        assert_ne!(read("whole.png"), read("short.png"), "{command:?}");
        // What the budget is enough for is drawn as without one.
        let enough = folder.run(&[command, &["--picture", "short.png", "--budget", "1000000000"]].concat());
        assert!(enough.code == 1 && !enough.err.contains("note:"), "{enough:?}");
        assert_eq!(read("whole.png"), read("short.png"), "{command:?}");
    }
}
