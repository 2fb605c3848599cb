//! Whether a tool, library or wheel is there, and how it is got: through apt or pip.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail, ensure};

use crate::scenes::peers_folder;

/// Whether something must be got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Present,
    /// What it would be used for is there already.
    NotNeeded,
    Missing,
}

impl Need {
    pub fn missing_unless(there: bool) -> Need {
        if there { Need::Present } else { Need::Missing }
    }
}

/// A program that starts, wherever it came from.
pub fn on_path(program: &str) -> Need {
    Need::missing_unless(succeeds(Command::new(program).arg("--version")))
}

/// A library that pkg-config knows.
pub fn library(name: &str) -> Need {
    Need::missing_unless(succeeds(Command::new("pkg-config").args(["--exists", name])))
}

/// Debian splits the module off from Python.
pub fn venv_module() -> Need {
    Need::missing_unless(succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"])))
}

/// The environment with a working pip.
pub fn environment() -> Need {
    Need::missing_unless(succeeds(Command::new(python()).args(["-m", "pip", "--version"])))
}

/// Makes the environment anew.
///
/// # Errors
/// Python refuses.
pub fn make_environment() -> Result<()> {
    call(Command::new("python3").args(["-m", "venv", "--clear"]).arg(peers_folder().join("venv")))
}

/// A wheel of that version that can be imported.
pub fn wheel([name, version]: [&str; 2]) -> Need {
    // The module of the wheel python-fcl is fcl.
    let module = name.trim_start_matches("python-");
    let script =
        format!("import {module}, numpy, importlib.metadata as m; assert m.version('{name}') == '{version}'");
    Need::missing_unless(succeeds(Command::new(python()).args(["-c", &script])))
}

/// Installs a wheel and NumPy into the environment.
///
/// # Errors
/// There is no environment, or pip fails.
pub fn pip([name, version]: [&str; 2]) -> Result<()> {
    ensure!(environment() == Need::Present, "there is no Python environment");
    let wanted = format!("{name}=={version}");
    call(Command::new(python()).args(["-m", "pip", "install", "--quiet", "numpy", &wanted]))
}

/// Installs one Debian package, after one update of the lists for all of them.
///
/// # Errors
/// Not root, no apt, or it fails.
pub fn debian(package: &str) -> Result<()> {
    static UPDATED: OnceLock<bool> = OnceLock::new();
    let install = format!("apt-get install -y --no-install-recommends {package}");
    let user = Command::new("id").arg("-u").output();
    ensure!(
        user.is_ok_and(|out| out.stdout.trim_ascii() == b"0"),
        "not root, so nothing was installed; run: sudo {install}"
    );
    let updated = *UPDATED.get_or_init(|| succeeds(Command::new("apt-get").arg("update")));
    let hint = if updated { "" } else { " (apt-get update had failed)" };
    let mut words = install.split(' ');
    let program = words.next().unwrap_or_default();
    call(Command::new(program).args(words).env("DEBIAN_FRONTEND", "noninteractive"))
        .with_context(|| format!("{install}{hint}"))
}

/// The Python of the peers' environment.
pub fn python() -> PathBuf {
    peers_folder().join("venv/bin/python")
}

/// Runs a command to its end; its words are part of the error.
pub fn output(command: &mut Command) -> Result<String> {
    let out = command.output().with_context(|| format!("starting {:?}", command.get_program()))?;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr);
        let last: Vec<&str> = said.lines().rev().take(8).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        bail!("{:?}: {}\n{}", command.get_program(), out.status, last.join("\n"));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Runs a command to its end.
pub fn call(command: &mut Command) -> Result<()> {
    output(command).map(drop)
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|out| out.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_seen_and_a_failure_is_quoted() {
        assert_eq!(on_path("rustc"), Need::Present);
        assert_eq!(on_path("no-such-program-anywhere"), Need::Missing);
        let said =
            format!("{:#}", call(Command::new("sh").args(["-c", "echo broken >&2; exit 3"])).unwrap_err());
        assert!(said.contains("broken") && said.contains('3'), "{said}");
    }
}
