//! Jolt: its sources come with the crate `joltc-sys`, and are compiled here, many files in one go.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::install::{call, output};
use crate::scenes::peers_folder;

/// The crate and its version; what follows the sign plus is Jolt's.
const CRATE: [&str; 2] = ["joltc-sys", "0.3.1"];

/// Instruction sets as Jolt's own build has them, and one rounding for each operation.
pub const FLAGS: &str = "-mavx2 -mbmi -mpopcnt -mlzcnt -mf16c -mfma -msse4.2 -DJPH_USE_AVX -DJPH_USE_AVX2 \
    -DJPH_USE_SSE4_1 -DJPH_USE_SSE4_2 -DJPH_USE_LZCNT -DJPH_USE_TZCNT -DJPH_USE_F16C -DJPH_USE_FMADD \
    -DJPH_OBJECT_STREAM -ffp-contract=off -pthread -w";

/// Files that are compiled in one go.
const UNIT: usize = 16;

/// What a program on top of Jolt is compiled and linked with.
///
/// # Errors
/// The sources cannot be got or compiled.
pub fn libraries(flags: &[&str]) -> Result<Vec<String>> {
    let (sources, _) = sources()?;
    let library = library(&sources, flags)?;
    let mut all: Vec<String> = FLAGS.split_whitespace().map(String::from).collect();
    all.push(format!("-I{}", sources.display()));
    all.push(library.display().to_string());
    Ok(all)
}

/// The version of Jolt.
///
/// # Errors
/// The sources cannot be got.
pub fn version() -> Result<String> {
    let (_, version) = sources()?;
    Ok(version.rsplit_once("Jolt-").map_or(version.clone(), |(_, own)| own.to_string()))
}

fn folder() -> PathBuf {
    peers_folder().join("jolt")
}

/// Where the sources lie and the crate's full version; Cargo gets them.
fn sources() -> Result<(PathBuf, String)> {
    let [name, version] = CRATE;
    let fetch = folder().join("fetch");
    std::fs::create_dir_all(fetch.join("src"))?;
    let manifest = fetch.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[dependencies]\n{name} = \"={version}\"\n\n[workspace]\n"
    );
    std::fs::write(&manifest, text)?;
    std::fs::write(fetch.join("src/lib.rs"), "")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let found = output(
        Command::new(cargo).args(["metadata", "--format-version", "1", "--manifest-path"]).arg(&manifest),
    )?;
    let found: serde_json::Value = serde_json::from_str(&found).context("Cargo's metadata")?;
    let packages = found["packages"].as_array().context("no packages in Cargo's metadata")?;
    let package = packages.iter().find(|p| p["name"] == name).context("the crate is not among them")?;
    let at = package["manifest_path"].as_str().and_then(|at| Path::new(at).parent());
    let sources = at.context("the crate has no folder")?.join("JoltC/JoltPhysics");
    ensure!(sources.join("Jolt/Jolt.h").is_file(), "no sources of Jolt in {}", sources.display());
    Ok((sources, package["version"].as_str().unwrap_or_default().to_string()))
}

/// Compiles the sources, if they are not yet.
fn library(sources: &Path, flags: &[&str]) -> Result<PathBuf> {
    let library = folder().join("libjolt.a");
    if library.is_file() {
        return Ok(library);
    }
    let mut files = Vec::new();
    collect(&sources.join("Jolt"), &mut files)?;
    files.sort();
    let mut objects = Vec::new();
    for (k, some) in files.chunks(UNIT).enumerate() {
        let (unit, object) = (folder().join(format!("unit{k}.cpp")), folder().join(format!("unit{k}.o")));
        let includes: Vec<String> = some.iter().map(|f| format!("#include \"{}\"\n", f.display())).collect();
        std::fs::write(&unit, format!("#include <Jolt/Jolt.h>\n{}", includes.concat()))?;
        let mut compile = Command::new("g++");
        compile.args(flags).args(FLAGS.split_whitespace()).arg(format!("-I{}", sources.display()));
        call(compile.arg("-c").arg(&unit).arg("-o").arg(&object))?;
        objects.push(object);
    }
    call(Command::new("ar").arg("rcs").arg(&library).args(&objects))?;
    Ok(library)
}

/// The C++ files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "cpp") {
            files.push(path);
        }
    }
    Ok(())
}
