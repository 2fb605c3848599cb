//! Data flows one way: a module of the library imports only stations before its own.

mod source_scan;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use source_scan::{Scan, scan};

/// The stations in the order data flows through them. `io` stands outside the flow: it may use everything, nothing
/// may use it.
const STATIONS: &[&str] = &[
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
    "response",
    "report",
    "query",
    "scene",
    "clash",
    "io",
];

/// The order inside the narrow phase.
const NARROW: &[&str] = &[
    "exact",
    "convex",
    "continuous",
    "decompose",
    "deforming",
    "convex_mesh",
    "cuboid_mesh",
    "half_space_mesh",
    "shape_ray",
    "union_point",
    "shape_pair",
    "kernel_memory",
    "union_relation",
    "particles",
    "image",
    "dispatch",
    "solid_sweep",
    "contacts",
    "detector",
    "sampled",
    "methods",
    "route",
];

/// Folders under `src` and the order of what lies in each; every file and folder there must be in the list.
const ORDERS: &[(&[&str], &[&str])] = &[(&[], STATIONS), (&["narrow"], NARROW)];

/// One source file: its path under `src` and its module, as words.
struct Source {
    file: PathBuf,
    module: Vec<String>,
    scan: Scan,
}

/// Every source file of the library that is not a test module.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    files.sort();
    let read = |file: PathBuf| {
        let module = module_of(file.strip_prefix(&root).unwrap());
        let scan = scan(&fs::read_to_string(&file).unwrap(), &module);
        Source { file, module, scan }
    };
    let mut sources: Vec<Source> = files.into_iter().map(read).collect();
    let tests: HashSet<PathBuf> = sources.iter().flat_map(test_modules).collect();
    sources.retain(|s| !s.file.ancestors().any(|above| tests.contains(&above.with_extension(""))));
    sources
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

/// `narrow/exact/mod.rs` is the module narrow, exact; `lib.rs` is the root.
fn module_of(file: &Path) -> Vec<String> {
    let mut words: Vec<String> =
        file.with_extension("").components().map(|c| c.as_os_str().to_string_lossy().into()).collect();
    words.pop_if(|last| *last == "mod" || *last == "lib");
    words
}

/// The files or folders, without `.rs`, in which the test modules of a source lie.
fn test_modules(source: &Source) -> Vec<PathBuf> {
    let folder = source.file.parent().unwrap();
    let stem = source.file.file_stem().unwrap();
    let own = if stem == "mod" || stem == "lib" { folder.to_path_buf() } else { folder.join(stem) };
    // Named by a `#[path]` they lie beside the source, otherwise in the folder of its module.
    let names = source.scan.test_files.iter();
    names.flat_map(|name| [own.join(name), folder.join(name)]).collect()
}

/// The path behind a name that the crate's root or a folder with an order re-exports.
fn resolve(path: &[String], sources: &[Source]) -> Vec<String> {
    let mut path = path.to_vec();
    for (folder, order) in ORDERS {
        let Some((name, rest)) = below(&path, folder) else { continue };
        if order.contains(&name) {
            continue;
        }
        let door = sources.iter().find(|s| s.module == *folder).expect("every ordered folder has a mod.rs");
        if let Some((_, real)) = door.scan.reexports.iter().find(|(known, _)| known == name) {
            let from_root = matches!(real[0].as_str(), "crate" | "self" | "super");
            let real = if from_root {
                source_scan::absolute(real, &door.module)
            } else {
                [&door.module, &real[..]].concat()
            };
            path = [&real, rest].concat();
        }
    }
    path
}

/// The word of a path that follows the folder, and what follows the word.
fn below<'p>(path: &'p [String], folder: &[&str]) -> Option<(&'p str, &'p [String])> {
    if path.len() <= folder.len() || path.iter().zip(folder).any(|(a, b)| a != b) {
        return None;
    }
    Some((&path[folder.len()], &path[folder.len() + 1..]))
}

/// What is wrong with an import, if anything is.
fn fault(module: &[String], import: &[String]) -> Option<String> {
    for (folder, order) in ORDERS {
        let rank = |name: &str| order.iter().position(|s| *s == name);
        let (Some((own, _)), Some((theirs, _))) = (below(module, folder), below(import, folder)) else {
            continue;
        };
        let Some(own_rank) = rank(own) else {
            return Some(format!("{own} is not in the order of {folder:?}: add it"));
        };
        match rank(theirs) {
            None => {
                return Some(format!("{theirs} is not in the order of {folder:?} and not re-exported there"));
            }
            Some(rank) if rank > own_rank => {
                return Some(format!("{own} imports {theirs}, which comes later"));
            }
            _ => {}
        }
    }
    None
}

#[test]
fn every_file_and_folder_has_its_place() {
    for source in sources() {
        for (folder, order) in ORDERS {
            if let Some((name, _)) = below(&source.module, folder) {
                assert!(order.contains(&name), "{}: {name} is not in {order:?}", source.file.display());
            }
        }
    }
}

#[test]
fn imports_point_upstream() {
    let sources = sources();
    let mut faults = Vec::new();
    let (mut between, mut inside) = (0, 0);
    for source in sources.iter().filter(|s| !s.module.is_empty()) {
        for path in &source.scan.paths {
            let import = resolve(path, &sources);
            faults.extend(fault(&source.module, &import).map(|f| format!("{}: {f}", source.file.display())));
            between += usize::from(import.first() != source.module.first());
            inside += usize::from(import.first() == source.module.first());
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    assert!(between > 500 && inside > 200, "{between} and {inside} imports seen: the test does not look");
}

fn words(path: &str) -> Vec<String> {
    path.split("::").map(str::to_string).collect()
}

/// The places of the paths a text of the module `narrow::convex::gjk` names.
fn paths(text: &str) -> Vec<String> {
    let found = scan(text, &words("narrow::convex::gjk"));
    found.paths.iter().map(|p| p.join("::")).collect()
}

#[test]
fn the_scan_reads_on_after_test_code() {
    let text = r##"
        //! Doc: crate::comment
        #[cfg(test)]
        #[path = "gjk_tests.rs"]
        mod tests;
        use crate::scene::Scene;
        #[cfg(test)]
        mod inner { use crate::io::load; fn f() { let s = "}"; let c = '}'; /* } /* } */ */ } }
        #[cfg(test)]
        use crate::report::inspect;
        fn g<'a>(x: &'a str) -> bool { x == r#"crate::text""# || crate::broad::f(x) }
    "##;
    assert_eq!(paths(text), ["scene::Scene", "report::inspect", "broad::f"]);
    let found = scan(text, &words("narrow::convex::gjk"));
    assert_eq!(found.test_files, ["gjk_tests"]);
    let faults: Vec<bool> =
        found.paths.iter().map(|p| fault(&words("narrow::convex::gjk"), p).is_some()).collect();
    assert_eq!(faults, [true, true, false]);
}

#[test]
fn use_trees_and_relative_paths_are_resolved() {
    let text = "use crate::{Error, geom::{moving::{self, exact as e}, *}, num};
        use super::super::dispatch::{self, Kernel}; pub(crate) fn f(&self) {}
        mod avx { use super::super::epa; mod $deeper { type T = super::super::super::epa::T<u8>; } }
        use self::inner::X; use super::answer;";
    let want = [
        "Error",
        "geom::moving",
        "geom::moving::exact",
        "geom::*",
        "num",
        "narrow::dispatch",
        "narrow::dispatch::Kernel",
        "narrow::convex::epa",
        "narrow::convex::epa::T",
        "narrow::convex::gjk::inner::X",
        "narrow::convex::answer",
    ];
    assert_eq!(paths(text), want);
    let reexports = scan("pub use exact::distance::{Distance, distance as d};", &[]).reexports;
    assert_eq!(reexports[1], ("d".to_string(), words("exact::distance::distance")));
}

#[test]
fn later_modules_and_unknown_ones_are_faults() {
    let fault = |module: &str, import: &str| fault(&words(module), &words(import));
    assert_eq!(fault("narrow::convex::gjk", "narrow::exact::distance"), None);
    assert!(fault("narrow::exact::distance", "narrow::convex::gjk").is_some());
    assert!(fault("narrow::exact", "narrow::nowhere").is_some());
    assert!(fault("shape::mesh", "io::load").is_some());
    assert!(fault("gadget", "num").is_some() && fault("shape", "gadget").is_some());
    let sources = sources();
    assert_eq!(resolve(&words("Mesh"), &sources)[0], "shape");
    assert!(sources.iter().all(|s| !s.file.to_string_lossy().contains("tests")));
}
