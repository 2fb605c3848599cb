//! Running the built program on files of a temporary folder.
#![allow(dead_code, reason = "each test file uses its part")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// How one run ended.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    /// The one JSON object on stdout.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// One JSON object per line of stdout.
    pub fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect()
    }
}

/// Runs the program.
pub fn impinge(args: &[&str]) -> Run {
    run_in(Path::new("."), args, b"")
}

/// Runs the program in a folder, with this on stdin.
pub fn run_in(folder: &Path, args: &[&str], stdin: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_impinge"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    // A program that does not read its input closes the pipe early, which is fine.
    let feed = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
    let ended = child.wait_with_output().unwrap();
    feed.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let run = Run { code: ended.status.code().unwrap(), out: text(ended.stdout), err: text(ended.stderr) };
    assert!(!run.err.contains("panicked"), "{run:?}");
    run
}

/// A folder of files that goes away with the test.
pub struct Folder(TempDir);

impl Folder {
    /// An empty folder.
    pub fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    /// A folder with `cube.obj` (from −1 to 1), `small.obj` (from −0.25 to 0.25), `open.obj` (the cube
    /// without its top), `bow.obj` (two triangles that cross) and `sheet.obj` (two hundred triangles in the
    /// plane z = 0 from −1 to 1).
    pub fn with_meshes() -> Folder {
        let folder = Folder::new();
        folder.write("cube.obj", cube(1.0, 12));
        folder.write("small.obj", cube(0.25, 12));
        folder.write("open.obj", cube(1.0, 10));
        folder.write(
            "bow.obj",
            "v -1 0 0\nv 1 0 -1\nv 1 0 1\nv 0 -1 0.1\nv 0 1 0.1\nv 0.1 0 0.6\nf 1 2 3\nf 4 5 6\n",
        );
        folder.write("sheet.obj", sheet(10));
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file and names it.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs the program here.
    pub fn run(&self, args: &[&str]) -> Run {
        run_in(self.path(), args, b"")
    }

    /// Writes the lines as a batch and runs it.
    pub fn query(&self, lines: &[&str], options: &[&str]) -> Run {
        self.write("batch.jsonl", lines.join("\n"));
        self.run(&[&["query", "batch.jsonl"], options].concat())
    }
}

/// An OBJ sheet of `side` × `side` squares.
fn sheet(side: usize) -> String {
    let mut text = String::new();
    for i in 0..(side + 1) * (side + 1) {
        let at = |k: usize| 2.0 * k as f64 / side as f64 - 1.0;
        text += &format!("v {} {} 0\n", at(i % (side + 1)), at(i / (side + 1)));
    }
    for i in 0..side * side {
        let corner = i / side * (side + 1) + i % side + 1;
        let (across, up) = (corner + side + 2, corner + side + 1);
        text += &format!("f {corner} {} {across}\nf {corner} {across} {up}\n", corner + 1);
    }
    text
}

/// An OBJ cube, outward; the last two triangles are its top.
pub fn cube(half: f64, triangles: usize) -> String {
    let mut text = String::new();
    for i in 0..8 {
        let side = |bit: usize| if i >> bit & 1 == 1 { half } else { -half };
        text += &format!("v {} {} {}\n", side(0), side(1), side(2));
    }
    let quads = [[1, 3, 4, 2], [1, 2, 6, 5], [2, 4, 8, 6], [4, 3, 7, 8], [3, 1, 5, 7], [5, 6, 8, 7]];
    let faces = quads.iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
    for [a, b, c] in faces.take(triangles) {
        text += &format!("f {a} {b} {c}\n");
    }
    text
}

/// A cube of half extent 1 around x, as the faces of an OBJ whose vertices begin behind `first`.
pub fn cube_at(x: f64, first: usize) -> String {
    let mut text = String::new();
    for line in cube(1.0, 12).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["v", a, b, c] => text += &format!("v {} {b} {c}\n", a.parse::<f64>().unwrap() + x),
            ["f", corners @ ..] => {
                let corners: Vec<String> =
                    corners.iter().map(|i| (i.parse::<usize>().unwrap() + first).to_string()).collect();
                text += &format!("f {}\n", corners.join(" "));
            }
            _ => {}
        }
    }
    text
}
