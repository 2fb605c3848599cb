//! The C++ programs around FCL, Coal, Embree and Jolt: how they are compiled, and a record of it beside each.
//!
//! The record holds the peer's version, then compiler and flags; tables copy it. The libraries themselves come
//! compiled, FCL and Embree from Debian and Coal from its wheel: the flags are those of our programs and of what the
//! headers bring. Jolt is compiled with them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::COAL;
use super::install::{Need, call, output, python};
use super::jolt;
use crate::scenes::{peers_folder, root};

/// Without `-march`: it would change Eigen's alignment and so the wheel's binary interface.
const FLAGS: [&str; 3] = ["-O3", "-DNDEBUG", "-std=c++17"];

/// Version, and compiler with flags, of a program that was built.
pub fn build_record(program: &str) -> Option<[String; 2]> {
    let text = std::fs::read_to_string(record_file(program)).ok()?;
    let mut lines = text.lines().map(String::from);
    Some([lines.next()?, lines.next()?])
}

/// Missing, or older than its sources, or compiled otherwise than it would be now.
pub fn need(program: &str) -> Need {
    let time = |file: PathBuf| file.metadata().and_then(|m| m.modified()).ok();
    let built = time(program_file(program));
    let newest = std::fs::read_dir(sources()).ok().and_then(|all| {
        let of_cpp = |p: &PathBuf| p.extension().is_some_and(|e| e == "hpp") || p.ends_with(source(program));
        all.flatten().map(|entry| entry.path()).filter(of_cpp).filter_map(time).max()
    });
    let fresh = built.is_some() && built >= newest;
    let same = build_record(program).zip(record(program).ok()).is_some_and(|(was, now)| was == now);
    Need::missing_unless(fresh && same)
}

/// Compiles a program and writes its record.
///
/// # Errors
/// A library is missing or g++ refuses.
pub fn build(program: &str) -> Result<()> {
    let mut compile = Command::new("g++");
    compile.arg(sources().join(source(program))).arg("-o").arg(program_file(program));
    compile.args(libraries(program)?);
    // pkg-config may name an older standard, so ours comes after it.
    compile.args(FLAGS);
    call(&mut compile)?;
    std::fs::write(record_file(program), record(program)?.join("\n") + "\n")?;
    Ok(())
}

/// Embree 3 comes without a file for pkg-config.
pub fn embree() -> Need {
    Need::missing_unless(Path::new("/usr/include/embree3/rtcore.h").is_file())
}

/// Places bunny59k and dragon202k, which takes Coal.
///
/// # Errors
/// The script fails.
pub fn placements() -> Result<()> {
    call(Command::new(python()).arg(sources().join("placements.py")).arg(peers_folder().join("scenes")))
}

fn record(program: &str) -> Result<[String; 2]> {
    let version = match program {
        "fcl" => output(Command::new("pkg-config").args(["--modversion", "fcl"]))?.trim().to_string(),
        "embree" => {
            let version = ["-W", "-f", "${Version}", "libembree-dev"];
            output(Command::new("dpkg-query").args(version))?.trim().to_string()
        }
        "jolt" => jolt::version()?,
        _ => COAL[1].to_string(),
    };
    let compiler = output(Command::new("g++").arg("-dumpfullversion"))?;
    let more = if program == "jolt" { format!(" {}", jolt::FLAGS) } else { String::new() };
    Ok([version, format!("g++ {} {}{more}", compiler.trim(), FLAGS.join(" "))])
}

fn libraries(program: &str) -> Result<Vec<String>> {
    let known = |arguments: &[&str]| -> Result<Vec<String>> {
        let flags = output(Command::new("pkg-config").args(arguments))?;
        Ok(flags.split_whitespace().map(String::from).collect())
    };
    if program == "fcl" {
        return known(&["--cflags", "--libs", "fcl", "eigen3"]);
    }
    if program == "embree" {
        return Ok(vec!["-lembree3".into()]);
    }
    if program == "jolt" {
        return jolt::libraries(&FLAGS);
    }
    let prefix = coal_prefix()?;
    let (include, library) = (prefix.join("include"), prefix.join("lib"));
    let mut flags = known(&["--cflags", "eigen3"])?;
    flags.push(format!("-I{}", include.display()));
    flags.push(format!("-L{}", library.display()));
    flags.push("-lcoal".into());
    flags.push(format!("-Wl,-rpath,{}", library.display()));
    Ok(flags)
}

/// Where the wheel keeps headers and libraries.
fn coal_prefix() -> Result<PathBuf> {
    let versions = std::fs::read_dir(peers_folder().join("venv/lib")).context("no Python environment")?;
    let prefixes = versions.flatten().map(|v| v.path().join("site-packages/cmeel.prefix"));
    let has_coal = |p: &PathBuf| Path::is_dir(&p.join("include/coal"));
    prefixes.into_iter().find(has_coal).context("the wheel coal is not installed")
}

fn sources() -> PathBuf {
    root().join("crates/impinge-bench/peers")
}

fn source(program: &str) -> String {
    format!("{program}.cpp")
}

fn program_file(program: &str) -> PathBuf {
    peers_folder().join("bin").join(program)
}

fn record_file(program: &str) -> PathBuf {
    program_file(&format!("{program}.build"))
}
