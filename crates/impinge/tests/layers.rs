//! Data flows one way: a module of the library imports only stations before its own.

use std::fs;
use std::path::{Path, PathBuf};

/// The stations in the order data flows through them.
const STATIONS: [&str; 15] = [
    "error",
    "budget",
    "contact",
    "num",
    "simd",
    "geom",
    "shape",
    "motion",
    "bound",
    "hierarchy",
    "model",
    "broad",
    "narrow",
    "report",
    "scene",
];

/// Readers and writers stand outside the flow: they may use everything, nothing may use them.
const LAST: &str = "io";

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn rank(station: &str) -> Option<usize> {
    STATIONS.iter().chain([&LAST]).position(|s| *s == station)
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The station a path under `src` belongs to: its first folder or file name.
fn station_of(path: &Path) -> String {
    let first = path.strip_prefix(source()).unwrap().components().next().unwrap();
    first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_string()
}

/// The stations that code names as `crate::station`; names re-exported at the crate's root are looked
/// up in `reexports`.
fn imports(code: &str, reexports: &[(String, String)]) -> Vec<String> {
    let mut out = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let (list, most) = match rest.strip_prefix('{') {
            Some(inner) => (inner.split('}').next().unwrap_or(""), usize::MAX),
            None => (rest, 1),
        };
        for item in list.split(',').take(most) {
            let name: String = item.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let known = reexports.iter().find(|(item, _)| *item == name);
            out.push(known.map_or(name, |(_, station)| station.clone()));
        }
    }
    out
}

/// `pub use station::…{A, B};` in lib.rs as (A, station), (B, station).
fn reexports() -> Vec<(String, String)> {
    let lib = fs::read_to_string(source().join("lib.rs")).unwrap();
    let mut out = Vec::new();
    for statement in lib.split("pub use ").skip(1) {
        let statement = statement.split(';').next().unwrap_or("");
        let station = statement.split("::").next().unwrap_or("").trim().to_string();
        for word in statement.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty()) {
            out.push((word.to_string(), station.clone()));
        }
    }
    out.retain(|(name, _)| rank(name).is_none());
    out
}

/// Code above the first `#[cfg(test)]`, without comments: tests may use everything.
fn shipped(text: &str) -> String {
    let before_tests = text.split("#[cfg(test)]").next().unwrap_or("");
    before_tests.lines().map(|l| l.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

#[test]
fn imports_point_upstream() {
    let reexports = reexports();
    assert!(reexports.iter().any(|(name, station)| name == "Mesh" && station == "shape"), "{reexports:?}");
    let mut files = Vec::new();
    rust_files(&source(), &mut files);
    let mut seen = 0;
    for file in files {
        let station = station_of(&file);
        if station == "lib" || file.file_stem().is_some_and(|s| s.to_string_lossy().ends_with("tests")) {
            continue;
        }
        let own = rank(&station).unwrap_or_else(|| panic!("{station} is no station: add it to the order"));
        for import in imports(&shipped(&fs::read_to_string(&file).unwrap()), &reexports) {
            let Some(theirs) = rank(&import) else { continue };
            seen += 1;
            assert!(theirs <= own, "{} ({station}) imports {import}, which comes later", file.display());
        }
    }
    assert!(seen > 5, "only {seen} imports seen: the test does not look");
}

#[test]
fn the_scan_sees_what_it_should() {
    let table = vec![("Mesh".to_string(), "shape".to_string())];
    let code = "use crate::{Error, Mesh};\nuse crate::num::cubic;\nlet x = crate::geom::f();";
    assert_eq!(imports(code, &table), ["Error", "shape", "num", "geom"]);
    assert!(rank("io") > rank("report"));
}
