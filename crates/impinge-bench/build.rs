//! Tells the bench how it was compiled; only a build script learns the compiler and its flags.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let version = Command::new(variable("RUSTC")).arg("--version").output();
    let version = version.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_string());
    // "rustc 1.95.0 (hash date)"
    let version = version.unwrap_or_default();
    let short = version.split(" (").next().unwrap_or("rustc");
    let flags = variable("CARGO_ENCODED_RUSTFLAGS").replace('\u{1f}', " ");
    println!("cargo:rustc-env=IMPINGE_BENCH_COMPILER={short}");
    println!("cargo:rustc-env=IMPINGE_BENCH_FLAGS=-O{} {flags}", variable("OPT_LEVEL"));
}
