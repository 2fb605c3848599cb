//! One file for each table.

mod auto;
mod bounds;
mod broad_phase;
pub mod budgets;
mod calibrate;
mod calibrate_particles;
mod ccd_primitives;
pub mod clash;
mod clusters;
mod configurations;
mod contact_depth;
mod contact_labels;
pub mod contacts;
mod convex;
pub mod decompose;
mod hybrid;
mod mesh_distance;
mod mesh_pairs;
mod mesh_relation;
mod monte_carlo;
mod multibody;
mod neighbours;
mod pair_scene;
mod point_distance;
mod rays;
mod scene_queries;
mod sweep;
mod tight_fit;
mod tree_build;
mod volume;
mod volume_table;

use anyhow::Result;

use crate::peers::everybody;
use crate::table::Table;

/// How much of the work to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// All cases, results are kept.
    Full,
    /// A few cases, to see that everything runs.
    Quick,
}

impl Effort {
    /// `full`, or `quick` in a quick run.
    pub fn pick<T>(self, full: T, quick: T) -> T {
        match self {
            Effort::Full => full,
            Effort::Quick => quick,
        }
    }

    /// Whether results and pictures go to the repository: all cases, everybody, an optimised build.
    pub fn is_kept(self) -> bool {
        self == Effort::Full && everybody() && !cfg!(debug_assertions)
    }
}

/// A table by its name on the command line.
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// Whether everything runs on one core; else the table uses them all.
    pub one_core: bool,
    /// Measures and fills the table.
    pub run: fn(Effort) -> Result<Table>,
}

/// All tables.
pub const TABLES: &[Entry] = &[
    Entry {
        name: "mesh-relation",
        about: "do two meshes meet? bunny59k and dragon202k, 200 placements, and the pair in slow motion",
        one_core: true,
        run: mesh_relation::run,
    },
    Entry {
        name: "mesh-pairs",
        about: "every intersecting pair of triangles, bunny59k and dragon202k, 200 placements",
        one_core: true,
        run: mesh_pairs::run,
    },
    Entry {
        name: "mesh-distance",
        about: "smallest distance of two meshes, bunny59k and dragon202k, the 100 separated placements",
        one_core: true,
        run: mesh_distance::run,
    },
    Entry {
        name: "tree-build",
        about: "building the tree of bunny59k, dragon202k and dragon871k, on one thread and on two",
        one_core: false,
        run: tree_build::run,
    },
    Entry {
        name: "point-distance",
        about: "distance of 64^3 grid points from bunny59k, unsigned and signed",
        one_core: true,
        run: point_distance::run,
    },
    Entry {
        name: "rays",
        about: "1,048,576 coherent and as many incoherent rays, closest and any, bunny59k and dragon202k",
        one_core: true,
        run: rays::run,
    },
    Entry {
        name: "scene-queries",
        about: "10,000 bodies, half of them meshes: rays, casts, overlaps and the nearest body",
        one_core: true,
        run: scene_queries::run,
    },
    Entry {
        name: "configurations",
        about: "1,000 configurations of an arm with the Panda's joints before a shelf of meshes: clearances",
        one_core: true,
        run: configurations::run,
    },
    Entry {
        name: "bounds",
        about: "every intersecting pair with every volume and degree, and published designs",
        one_core: true,
        run: bounds::run,
    },
    Entry {
        name: "broad-phase",
        about: "10k, 100k and 1M moving boxes: update and enumerate all pairs, on one thread and on two",
        one_core: false,
        run: broad_phase::run,
    },
    Entry {
        name: "contacts",
        about: "contact manifolds of 1,000 convex bodies sunk into a terrain of 99,458 triangles, frame by frame",
        one_core: true,
        run: contacts::run,
    },
    Entry {
        name: "decompose",
        about: "convex parts of every closed shared mesh within a budget: parts, time, heap at its peak",
        one_core: false,
        run: decompose::run,
    },
    Entry {
        name: "budgets",
        about: "how far every question exceeds a deadline or a limit of work, on the largest meshes",
        one_core: false,
        run: budgets::run,
    },
    Entry {
        name: "calibrate",
        about: "the coefficients of the cost model that auto chooses by; a full run stores them in the library",
        one_core: true,
        run: calibrate::run,
    },
    Entry {
        name: "calibrate-particles",
        about: "the coefficients by which the hybrid chooses among techniques for particles; a full run stores them",
        one_core: true,
        run: calibrate_particles::run,
    },
    Entry {
        name: "clash",
        about: "every clash of an assembly of 10,000 parts and 2 million triangles; growth with the parts",
        one_core: true,
        run: clash::run,
    },
    Entry {
        name: "clusters",
        about: "eight clusters of particles that pass through each other, by every technique; collisions, tests, time",
        one_core: true,
        run: clusters::run,
    },
    Entry {
        name: "hybrid",
        about: "particles from uniform through clustered to collapsed: the hybrid against every fixed technique",
        one_core: true,
        run: hybrid::run,
    },
    Entry {
        name: "auto",
        about: "2,000 questions: the choice of auto against the best method in hindsight",
        one_core: true,
        run: auto::run,
    },
    Entry {
        name: "multibody",
        about: "bodies in a closed box at constant density: time of a frame from 1,000 to 100,000 of them",
        one_core: true,
        run: multibody::run,
    },
    Entry {
        name: "neighbours",
        about: "all pairs of particles within 1.5: 64k and 1M, uniform and clustered; from 10,000 to 10 million",
        one_core: false,
        run: neighbours::run,
    },
    Entry {
        name: "volume",
        about: "volume of the intersection and its gradient: bunnies, a cube, a knot; booleans beside it",
        one_core: false,
        run: volume::run,
    },
    Entry {
        name: "volume-table",
        about: "the first table of Faure, Allard, Falipou and Barbier 2008: bunnies in a cube at 16 and 128 pixels",
        one_core: true,
        run: volume_table::run,
    },
    Entry {
        name: "convex",
        about: "distance of two convex hulls of 20, 100 and 1,000 corners in slow motion",
        one_core: true,
        run: convex::run,
    },
    Entry {
        name: "contact-labels",
        about: "tests along a path with and without labels and tables, as in table 1 of CONTACT",
        one_core: true,
        run: contact_labels::run,
    },
    Entry {
        name: "ccd-primitives",
        about: "moving vertices, faces and edges: the shared queries with exact truth, and whole steps",
        one_core: true,
        run: ccd_primitives::run,
    },
    Entry {
        name: "sweep",
        about: "when two moving meshes first touch: 50 motions, bunny4k-dragon11k to bunny59k-dragon202k",
        one_core: true,
        run: sweep::run,
    },
    Entry {
        name: "tight-fit",
        about: "rings, pegs, gears and a nut on its bolt that move along each other without contact, and with burrs",
        one_core: true,
        run: tight_fit::run,
    },
    Entry {
        name: "monte-carlo",
        about: "layered shells against refitted boxes on three recorded motions, table 1 of Guy and Debunne 2004",
        one_core: true,
        run: monte_carlo::table_one::run,
    },
    Entry {
        name: "monte-carlo-recall",
        about: "contact regions found and their delay against the time of a frame, deforming dragon and bunny",
        one_core: true,
        run: monte_carlo::recall::run,
    },
    Entry {
        name: "monte-carlo-frames",
        about: "100,000 frames of a millisecond: the thread's processor time of each",
        one_core: true,
        run: monte_carlo::frames::run,
    },
    Entry {
        name: "monte-carlo-sound",
        about: "10,000 random placements: is what was said to be sure true, and are misses as rare as stated?",
        one_core: true,
        run: monte_carlo::sound::run,
    },
    Entry {
        name: "monte-carlo-self",
        about: "deforming meshes against themselves: the sampled method beside the exact query",
        one_core: true,
        run: monte_carlo::self_contact::run,
    },
];
