//! Which peer a contestant is, its version, and how it was compiled.

use crate::setup;

/// How this program and the crates in it were compiled.
pub const COMPILER: &str = env!("IMPINGE_BENCH_COMPILER");

const LOCK: &str = include_str!("../../../../Cargo.lock");
const WORKSPACE: &str = include_str!("../../../../Cargo.toml");

/// How contestants' names begin, and the peer's own name; longer beginnings stand first.
const PEERS: [(&str, &str); 17] = [
    ("impinge", "impinge"),
    ("parry3d-f64", "parry3d-f64"),
    ("parry3d", "parry3d"),
    ("obvhs", "obvhs"),
    ("bvh", "bvh"),
    ("embree", "Embree"),
    ("jolt", "Jolt"),
    ("fcl", "FCL"),
    ("coal", "Coal"),
    (ADVANCEMENT, "Coal"),
    ("additive-ccd", "IPC Toolkit"),
    ("tight-inclusion", "IPC Toolkit"),
    ("manifold3d", "manifold3d"),
    ("meshlib", "MeshLib"),
    ("zelll", "zelll"),
    ("vesin", "vesin"),
    ("trimesh-fcl", "trimesh"),
];

/// The sweep's opponent: Coal sweeps no meshes, so the loop is the bench's.
pub const ADVANCEMENT: &str = "advancement loop over Coal's distance";

/// Who a contestant is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Name and version.
    pub version: String,
    /// Compiler and flags, or where the binary comes from.
    pub build: String,
}

/// The peer behind a contestant's name; none for what is no peer, such as a kernel for comparison.
pub fn peer_of(contestant: &str) -> Option<Peer> {
    let (_, peer) = PEERS.into_iter().find(|(start, _)| contestant.starts_with(start))?;
    let [version, build] = match peer {
        "FCL" => setup::build_record("fcl")?,
        "Embree" => setup::build_record("embree")?,
        "Jolt" => setup::build_record("jolt")?,
        "Coal" => ["coal", "coal_hulls", "coal_sweep"].into_iter().find_map(setup::build_record)?,
        "IPC Toolkit" => [setup::IPCTK[1].into(), "wheel of PyPI".into()],
        "manifold3d" => [setup::MANIFOLD[1].into(), "wheel of PyPI".into()],
        "MeshLib" => [setup::MESHLIB[1].into(), "wheel of PyPI".into()],
        "trimesh" => [
            format!("{} over {} {}", setup::TRIMESH[1], setup::PYTHON_FCL[0], setup::PYTHON_FCL[1]),
            "wheels of PyPI".into(),
        ],
        "vesin" => [setup::VESIN[1].into(), "wheel of PyPI".into()],
        krate => [locked(krate)?, rust_build()],
    };
    Some(Peer { version: format!("{peer} {version}"), build })
}

/// The version of a crate in the lock file.
fn locked(krate: &str) -> Option<String> {
    let entry = LOCK.split("[[package]]").find(|e| e.contains(&format!("name = \"{krate}\"\n")))?;
    let line = entry.lines().find(|l| l.starts_with("version = "))?;
    Some(line.trim_start_matches("version = ").trim_matches('"').into())
}

/// Compiler, link-time optimisation, level and target flags of all crates in process.
fn rust_build() -> String {
    let profile = WORKSPACE.split("[profile.release]").nth(1).unwrap_or_default();
    let lto = profile.lines().take_while(|l| !l.starts_with('[')).find(|l| l.starts_with("lto"));
    let lto = lto.map_or("lto=off".into(), |l| l.replace(['"', ' '], ""));
    format!("{COMPILER} {lto} {}", env!("IMPINGE_BENCH_FLAGS")).trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_in_process_have_the_locked_version_and_our_flags() {
        let peer = peer_of("parry3d-f64 (dual traversal)").unwrap();
        assert!(peer.version.starts_with("parry3d-f64 0."), "{}", peer.version);
        assert!(peer.build.starts_with("rustc 1.") && peer.build.contains(" lto=thin -O"), "{}", peer.build);
        assert!(peer_of("parry3d-bvh").unwrap().version.starts_with("parry3d 0."));
        assert_eq!(peer_of("(kernel-1-thread)"), None);
    }
}
