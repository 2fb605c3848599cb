//! The command line: options of every command and the commands with their help; their options are beside this file.

mod files;
mod many;
mod one_mesh;
mod two_bodies;
mod values;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Args as Group, CommandFactory, Parser, Subcommand, ValueEnum};
use impinge::Method;
use impinge::broad::neighbours::Technique;

use crate::error::Failure;
use crate::settings::{Limit, Settings};

pub use many::{CLUSTERS, Clash, Completions, Demo, Particles, Query, Simulate};
pub use one_mesh::{Decompose, Inspect, MakeShells, Rays, SelfIntersect};
pub use two_bodies::{Check, Contacts, Distance, Open, Separate, Sweep, Two, Volume};
pub use values::{Drawing, Periodic, Size};

const EXAMPLES: &str = "\
Examples:
  impinge                                        the main job on built-in scenes, no files needed
  impinge inspect part.stl                       is this mesh closed, manifold, free of self-intersections?
  impinge check a.obj b.stl                      separated, touching, intersecting, or one inside the other
  impinge check a.obj b.stl --at-b -1,0,0.5      the same with b moved
  impinge check a.obj b.stl --all --format json  every pair of triangles that meet
  impinge distance a.obj b.stl                   smallest distance, with the two points
  impinge volume a.obj b.stl                     how much they overlap, where and in which direction
  impinge contacts a.obj b.stl --margin 0.01     where they overlap or are near, how deep, along which normal
  impinge separate a.obj b.stl                   a translation of b that takes them apart
  impinge sweep a.obj b.stl --to-b 0,0,-2        when they first touch if b moves there
  impinge clash parts/ --out clashes.html        every clash of an assembly, with pictures
  impinge rays part.stl --rays rays.csv          where rays hit, with normal and triangle
  impinge particles atoms.pdb --radius 4.5       all pairs of particles at most 4.5 apart
  impinge query questions.jsonl                  a batch, one JSON question per line
  impinge simulate multibody                     a thousand bodies in a box

Exit codes: 0 free or done, 1 contact, 2 refused (usage or input), 3 the budget ended undecided.
`impinge help COMMAND` explains a command.";

/// Where, when and how deeply things touch.
///
/// Exact answers about triangle meshes: closed meshes are solids, open ones surfaces. Reads OBJ, STL,
/// PLY, OFF, glTF/GLB and MEDIT files. Without a command it runs the built-in scenes.
#[derive(Debug, Parser)]
#[command(name = "impinge", version, after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Options of every command.
#[derive(Debug, Clone, Group)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// How the answer is printed
    #[arg(long, global = true, value_enum, default_value = "text", value_name = "FORMAT")]
    pub format: Format,
    /// Which method answers
    #[arg(long = "method", global = true, value_parser = methods(&known()), default_value = "auto", value_name = "NAME")]
    method: String,
    /// A limit on the cost: a time (2ms, 1.5s) or work units (100000, the same on every machine). Where it ends first, at_least
    /// and at_most tell what is known of the answer so far
    #[arg(long, global = true, value_parser = Limit::parse, value_name = "LIMIT", allow_hyphen_values = true)]
    pub budget: Option<Limit>,
    /// Threads to use; the answer does not depend on it [default: all cores]
    #[arg(long, global = true, value_parser = clap::value_parser!(u16).range(1..=1024), value_name = "N")]
    pub threads: Option<u16>,
    /// Seed for methods that draw random numbers
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Says on stderr which method answered and why, what it counted and how long it took
    #[arg(long, global = true)]
    pub explain: bool,
}

impl Common {
    /// The method that was named; one for particles alone counts as none, and [`Common::check`] has refused it.
    pub fn method(&self) -> Method {
        self.method.parse().unwrap_or(Method::Auto)
    }

    /// The technique that was named, if it is one of those that search particles.
    pub fn technique(&self) -> Option<Technique> {
        self.method.parse().ok()
    }

    /// Refuses a method that means nothing to the command.
    pub fn check(&self, command: Option<&Command>) -> Result<(), Failure> {
        let (known, names): (bool, Vec<&str>) = match command {
            Some(Command::Simulate(Simulate { scene, .. })) if scene == CLUSTERS => {
                (self.technique().is_some(), Technique::ALL.iter().map(|t| t.name()).collect())
            }
            Some(Command::Particles(_)) => {
                (self.technique().is_some(), Technique::ALL.iter().map(|t| t.name()).collect())
            }
            _ => (self.method.parse::<Method>().is_ok(), Method::ALL.iter().map(|m| m.name()).collect()),
        };
        if known || self.method == Method::Auto.name() {
            return Ok(());
        }
        let name = &self.method;
        Err(Failure(format!("method {name} does not answer this; it is one of auto, {}", names.join(", "))))
    }

    /// Method, budget and seed.
    pub fn settings(&self) -> Settings {
        Settings { method: self.method(), limit: self.budget.unwrap_or_default(), seed: self.seed }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Reports the health of a mesh
    #[command(after_help = "\
Examples:
  impinge inspect part.stl
  impinge inspect part.stl --format json | jq .problems

Counts vertices (as in the file and after welding equal ones), triangles, components, boundary and
non-manifold edges, zero-area and duplicate triangles and self-intersections; gives the signed volume and
the box. Exits 0 for any mesh that can be read, whatever is wrong with it.")]
    Inspect(Inspect),
    /// Decides how two meshes lie to each other
    #[command(after_help = "\
Examples:
  impinge check a.obj b.stl
  impinge check a.obj b.stl --at-a 0,0,1 --at-b -1,0,0.5,0,0,0.6,0.8
  impinge check a.obj b.stl --all                the pairs of triangles that meet
  impinge check a.obj b.stl --margin 0.01        also those at most 0.01 apart
  impinge check a.obj b.stl --picture meet.png   a picture, meeting triangles in red
  impinge check a.obj b.stl --budget 2ms         stops in time; exit 3 if undecided

Answers separated, touching, intersecting, a_inside_b or b_inside_a, decided exactly on the placed
coordinates. A mesh is a solid if it is closed as a whole; one with a boundary edge, in whichever of
its connected parts, has no inside: a note says so where the other mesh may lie within it (in JSON \"open\" and
\"note\"). Exits 0 when separated, 1 on any contact (with --margin: on any pair within it).

A budget that ends first gives finish \"out_of_budget\" with what is certain so far (with --all and --margin at_least, the
number of pairs found), and exit 3 unless a contact is already certain. The program starts anew at each run; in the
library a Memory lets the next question go on where the last one stopped.")]
    Check(Check),
    /// Measures the smallest distance between two meshes
    #[command(after_help = "\
Examples:
  impinge distance a.obj b.stl
  impinge distance a.obj b.stl --at-b 0,0,-2 --format json

The distance between the surfaces, one point on each, and the vertex, edge or face each point lies on; where a
mesh is closed also the relation, with a note where an open mesh leaves that undecided. Exits 0 when apart, 1 when they meet or one is
inside the other.

Where a --budget ends first, finish is \"out_of_budget\" and distance null; the true one lies
between at_least and at_most, the closer together the longer the budget. The points are then some at_most apart.")]
    Distance(Distance),
    /// Measures how much two solids overlap
    #[command(after_help = "\
Examples:
  impinge volume a.obj b.stl
  impinge volume a.obj b.stl --at-b 0,0,-2 --format json
  impinge volume a.obj b.stl --gradient slopes.csv
  impinge volume a.obj b.stl --method image --resolution 128
  impinge volume a.obj b.stl --method image --error 0.001 --picture overlap.png
  impinge volume ground.obj ball.stl --open half_space

The volume of the common interior of two closed meshes, its error, and each connected region of it: volume,
centroid, the direction from a to b along which moving b away reduces it, its area seen along that direction and its
extent along it. The gradient has a row for each vertex (body, vertex, x, y, z): how fast the volume grows when that
vertex moves. Exits 1 on an overlap, 0 without.

The default is exact, to rounding. A mesh is solid where its winding number is not 0, and every place counts once;
meshes that overlap themselves are measured by images unless --method exact refuses them. --method image draws both
bodies along x, y and z over the box they have in common, --resolution pixels wide and high (256 unless given), and
takes the mean of the three; its error is an estimate. With --error instead the images get finer until the stated
error is small enough, and with --budget alone for as long as it lasts. Meshes that are not closed are refused unless
--open says what they bound; images answer then.

The picture shows the bodies, and beside them the boundary of what they have in common in pixels of the images, each in
the colour of the axis along which its place is seen best: x red, y green, z blue.")]
    Volume(Volume),
    /// Tells where two meshes overlap or are near, how deep and along which normal
    #[command(after_help = "\
Examples:
  impinge contacts level.obj crate.obj --at-b 0,0,0.48
  impinge contacts a.obj b.stl --margin 0.01 --format json
  impinge contacts a.obj b.stl --picture places.png --view 1,-1,0.5

Each contact with a point on each surface, the normal from a to b, the penetration depth, by which b has to move along
it to be out (a gap is negative), the area and the features. Two closed meshes have one contact or more for each
connected region of their intersection. Open meshes push to the side on which the other body lies; with --sides 1 along
the normals of their triangles only. A note says where they leave undecided whether something lies within them. Exits 1
with any contact, 0 without; when a --budget ends first, contacts is null and the exit code 3.")]
    Contacts(Contacts),
    /// Finds a short translation that takes two meshes apart
    #[command(after_help = "\
Examples:
  impinge separate a.obj b.stl
  impinge separate a.obj b.stl --at-b 0,0,0.9 --format json

A translation of b, to be added to its position, after which the meshes are apart or touch; that is checked by the exact
relation. For two convex meshes it is the shortest one, for others the shortest found, with a lower bound (at_least)
where one is known. Zero where they are apart or touch already; a note says where an open mesh leaves undecided whether
the other one then lies within it. Exits 1 where b has to move, 0 where not.

Where a --budget ends first, translation and length are null, and at_most is the length of a translation that does; the
exit code is 3.")]
    Separate(Separate),
    /// Finds when two moving meshes first touch
    #[command(after_help = "\
Examples:
  impinge sweep a.obj b.stl --to-a 0,0,-3
  impinge sweep a.obj b.stl --at-b 5,0,0 --to-b -5,0,0,0,0,0.6,0.8 --turns 2 --format json
  impinge sweep a.obj b.stl --to-a 0,0,-3 --method contact

Each body moves from its pose (--at-a, --at-b) to another (--to-a, --to-b) by a screw, the shorter way, over
the time 0 to 1; one without --to stands still. The time of the first contact is never late and at most
--tolerance early. Closed meshes are solids: one that begins inside the other touches it at 0 (kind inside); with
--surfaces they are hollow. Exits 1 on a hit, 0 when the way is free; where a --budget ends first, hit is null, and
there is no contact before free_until.

--method contact answers by the method of Redon, Kheddar and Coquillart (2001): equal spheres over both meshes,
cubics for vertices, faces and edges under a screw (where both bodies move, under relative screws on short
certified spans), and labels that keep pairs from being tested twice. The answer is the same; the default is
faster.")]
    Sweep(Box<Sweep>),
    /// Finds where rays hit a mesh
    #[command(after_help = "\
Examples:
  impinge rays part.stl --rays rays.csv
  impinge rays part.stl --rays rays.csv --at 0,0,1 --format json
  impinge rays part.stl --rays rays.csv --picture hits.png --view 1,-1,0.5

Each line of the file is a ray: ox,oy,oz,dx,dy,dz, origin and direction, of any length; a header may stand before. For
each ray the first point o + t*d with t >= 0 on the surface, from inside too, with its unit normal (out of a closed
mesh, towards the origin of the ray for an open one) and triangle. No ray passes between neighbouring triangles. Exits
1 with any hit, 0 without.")]
    Rays(Rays),
    /// Finds the triangles of one mesh that intersect each other
    #[command(
        name = "self",
        after_help = "\
Examples:
  impinge self cloth.obj
  impinge self cloth.obj --format json | jq .count
  impinge self cloth.obj --to moved.obj          the first contact while the cloth moves
  impinge self cloth.obj --to moved.obj --all    every vertex-face and edge-edge pair that meets

Neighbours that only share a corner or an edge do not count; folded and crossing ones do. With --to every
vertex moves on a straight line to where MESH2, of the same triangles, has it; times are parts of that step
from 0 to 1, never later than the truth, and pairs that share a vertex do not count.
Exits 1 when there are any."
    )]
    SelfIntersect(SelfIntersect),
    /// Finds convex parts that cover a closed mesh
    #[command(after_help = "\
Examples:
  impinge decompose chair.obj
  impinge decompose bunny.ply --parts 16 --output parts.obj

The solid is cut at its concave edges until the parts are the solid itself (certainty \"exact\") or until there
are enough; then the parts cover it, and the answer says by how much they stand out, as a volume (excess) and
as a length (deviation, the tolerance), and why no more cuts were made (ended). --output writes all parts into one file, of an OBJ as objects part0, part1, …. Exits 0; a mesh that is
not closed is refused. When a --budget ends first, count and volume are null, the parts after the last cut are told (they cover
the solid too; their deviation is half the diagonal of the largest), and the exit code is 3.")]
    Decompose(Decompose),
    /// Makes layered shells of a mesh: ever coarser levels that contain it
    #[command(after_help = "\
Examples:
  impinge shells bunny.ply
  impinge shells bunny.ply --levels 4 --picture shells.png
  impinge shells bunny.ply --out bunny.shells --format json

Level 0 is the mesh; each further level has about a quarter of the facets, down to a few tens. A facet is a flat
cylinder around a simplified triangle that contains all triangles of the mesh below it: a disc with a radius, an
outer and an inner offset. The table says for each level how many facets there are, and as parts of the mesh's
size: the mean radius; the mean and the largest offset, outer and inner; the tightness (\"tight\"), which is the mean
over the facets of how far the surface lies at most below the shell's outer surface, also by the discs alone, without
the planes that are attached along sharp edges. Smaller is better: a search leaves a level sooner the closer it holds
the surface.
--out saves the shells for the library's Shells::load; --picture draws the mesh and the outer discs of each level.
Exits 0.")]
    Shells(MakeShells),
    /// Finds every pair of a set of parts that overlap, coincide, touch or come too near
    #[command(after_help = "\
Examples:
  impinge clash bracket.stl housing.obj lid.ply
  impinge clash parts/ --clearance 0.5 --out clashes.html
  impinge clash assembly.glb --ignore assembly:bolt,assembly:nut --out clashes.csv
  impinge clash model/ --scale 0.001 --format json

Parts are files, the mesh files of folders, the nodes of a glTF and the groups of an OBJ within each of its objects
(an object without groups is one part), where their coordinates put them. They are called by the file's stem, with
:node, :object, :group or :object:group behind it where a file has several.
Kinds: hard (they overlap), inside (one lies in the other or, open, on its surface), duplicate (the same surface twice),
touching, clearance (nearer than --clearance). They are decided exactly on the coordinates of the files: there is no
tolerance, and a copy of a part that a format rounded (STL holds single precision) overlaps it and is hard; where
two parts share nearly all of their volumes, that is told (in JSON \"nearly_duplicate\"). An open part has no inside; that another may lie
within it is told as a note (in JSON \"open\"). Each clash tells the smallest distance of the surfaces (gap), the
penetration depth, the length of a translation that takes the parts apart (separate; in JSON also the translation of
the second part itself), the volume in common of closed parts, a point and a box of the place. --out writes CSV, JSON,
or one HTML page with a picture of each clash. Parts whose sizes differ as millimetres from metres are warned about,
and closed parts that enclose nothing, as a sheet with both of its sides. A file or folder that cannot be read, is missing or
holds no mesh is named, and the others are answered (in JSON \"refused\", a list, and \"error\", the first of them); --out
writes nothing then.
A --budget is spent on the kinds of all pairs first, then on depths, separations and volumes, then on the pictures of the
page; what is left has a row without a picture. Where it ends before all kinds are known, at_least is the number of
clashes found.
Exits 1 with any hard, inside or duplicate clash, 0 otherwise, 3 if the budget ended first, 2 if a file was refused.")]
    Clash(Clash),
    /// Finds all pairs of particles at most a distance apart
    #[command(after_help = "\
Examples:
  impinge particles atoms.pdb --radius 4.5
  impinge particles points.csv --radius 0.1 --pairs near.csv --format json
  impinge particles water.xyz --radius 9 --periodic 0,31.04,0,31.04,0,31.04 --pairs near.csv --vectors
  impinge particles crystal.pdb --radius 5 --periodic file          the cell of CRYST1, or Lattice of an XYZ
  impinge particles slab.csv --radius 2 --periodic 10,0,0,3,9,0,0,0,20 --along xy
  impinge particles disc.csv --radius 2 --periodic 0,10,0,10         a plane: columns x and y are enough
  impinge particles grains.csv --radii                  spheres that touch, each with its own radius
  impinge particles grains.csv --radii --radius 0.01    spheres at most 0.01 apart

FILE is CSV (columns x, y, z and optionally r, with or without a header), XYZ, PDB or PLY; of - the content tells which.
Two particles are a pair when
their distance is at most --radius, decided exactly; with --radii at most the sum of their radii, and --radius if given.
--periodic repeats a box, or a cell of three vectors, so that the nearest image counts; along the axes that are
repeated it must be at least twice as wide as the largest distance of a pair, along others a box may have no width. --pairs writes the indices from 0, the smaller first, ascending: as CSV with the header i,j, or by
its ending as JSON, columns {\"i\":[…],\"j\":[…]}. --vectors adds the columns distance, dx, dy, dz (the way from i to the
nearest image of j) and sx, sy, sz (which image that is, counted in boxes from the j of the file). --method grid, hash,
kd_tree, brute and others find the same pairs. A --budget counts the particles that are put in place and the
tests of particles, boxes and cells; when it ends first, at_least is the number of pairs found so far and nothing is
written. Exits 1 with any pair, 0 without, 3 if the budget ended before any was found.")]
    Particles(Particles),
    /// Answers a batch of questions, one JSON object per line
    #[command(after_help = r#"Examples:
  impinge query questions.jsonl > answers.jsonl
  generate | impinge query -

  {"id":1,"ask":"relation","a":{"mesh":"a.obj"},"b":{"mesh":"b.stl","pose":{"position":[0,0,1]}}}
  {"id":2,"ask":"pairs","a":{"mesh":"a.obj"},"b":{"mesh":"b.stl"},"margin":0.01}
  {"id":3,"ask":"distance","a":{"vertices":[[0,0,0],[1,0,0],[0,1,0]],"triangles":[[0,1,2]]},"b":{"mesh":"b.stl"}}
  {"id":4,"ask":"points","a":{"mesh":"a.obj"},"points":[[0,0,0],[1,2,3]]}
  {"id":5,"ask":"distance","a":{"box":[1,1,2]},"b":{"sphere":0.5,"pose":[0,0,2.25]}}
  {"id":6,"ask":"relation","a":{"capsule":{"radius":0.2,"half_height":1}},"b":{"mesh":"b.stl"}}
  {"id":7,"ask":"sweep","a":{"mesh":"a.obj","to":{"position":[0,0,-3]}},"b":{"mesh":"b.stl"}}
  {"id":8,"ask":"self","a":{"mesh":"cloth.obj"},"to":{"mesh":"moved.obj"}}
  {"id":9,"ask":"ccd","kind":"vf","t0":[[0,0,1],[0,0,0],[1,0,0],[0,1,0]],"t1":[[0,0,-1],[0,0,0],[1,0,0],[0,1,0]]}
  {"id":10,"ask":"rays","a":{"box":[1,1,2]},"rays":[[0,0,5,0,0,-1]]}
  {"id":11,"ask":"contacts","a":{"mesh":"level.obj"},"b":{"capsule":{"radius":0.3,"half_height":0.5},"pose":[0,0,0.7]},"margin":0.01}
  {"id":12,"ask":"separate","a":{"mesh":"a.obj"},"b":{"mesh":"b.stl"}}
  {"id":13,"ask":"volume","a":{"mesh":"a.obj"},"b":{"mesh":"b.stl"},"method":"exact"}

Shapes: "mesh" (a file), "vertices" with "triangles" or with "tetrahedra", "hull" (points), "sphere" (radius), "box" (half
extents), "ellipsoid" (radii), "capsule", "cylinder", "cone" ({"radius":r,"half_height":h}, along z, a cone's
apex at +h), "halfspace" ({"normal":n,"offset":d}, the points with n·x <= d), "triangle", "segment", "particles" (points,
with "radius" or "radii"), "compound" (a list of convex shapes with their poses); each with an optional "pose", and for a sweep "to", its pose at the end of
the step ("turns" whole turns more: about the way, or z, where the two poses do not turn; "law" "uniform" or "contact"; both may stand on the line instead, for both bodies). A sweep may carry "tolerance", "slack" and
"surfaces" (true: closed meshes, boxes and hulls are hollow). relation, sweep, distance and contacts take any two, separate any but particles; between two
convex shapes the distance is signed: negative is the penetration depth, and moving b along "normal" by it parts them.
With a mesh it is that of the surfaces, positive also where one solid is inside the other: "relation" stands beside it.
pairs takes two meshes, volume two closed bodies. contacts may carry "margin" and "sides" (1: open meshes push out along
their triangles' normals), volume "resolution", "error" and "open" ("half_space" or "winding").

Poses: [x,y,z], [x,y,z,qx,qy,qz,qw], {"position":[x,y,z],"rotation":[qx,qy,qz,qw]}, the quaternion of any length, no
turn where it is left out, or {"matrix":[16 numbers, row by row, or four rows]}, a rotation and a translation without scale.
ccd: "kind" is "vf" (a vertex, then three corners of a face) or "ee" (two ends of an edge, then two of the other); "t0"
and "t1" are the four points at the start and the end of the step, on straight lines in between; "margin" optional.

Answers, one line for each question, in order, with its id:
  {"schema":1,"id":1,"relation":"separated","certainty":"exact","finish":"complete","method":"exact"}
  {"schema":1,"id":7,"hit":true,"time":0.25,"free_until":0.25,"kind":"vf","features":[{"vertex":3},{"face":7}],"point":[…],
   "normal":[…],"tolerance":1e-6,"slack":1e-9,"certainty":"conservative","finish":"complete",…}
  {"schema":1,"id":7,"hit":null,"time":null,"free_until":0.125,"certainty":null,"finish":"out_of_budget",…}
A sweep's "kind" is vf, fv or ee (vertex, face, edge of a and b), inside, or the names of the shapes. A line may carry "method", "budget", "seed" and "comment";
fields that mean nothing where they stand are refused.
A mesh is a solid if it is closed as a whole; where an open one leaves undecided whether something is inside, relation,
distance, sweep, contacts, separate and points name it ("open":["a"]) and say so ("note").
Mesh files are named relative to the batch (`-`: to the current folder) and loaded once. A line that
cannot be answered gives {"schema":1,"id":…,"error":"…"} and the batch goes on.
Where a budget ends first, finish is "out_of_budget" and the answer null; a distance then lies between at_least and at_most,
at_most is the length of a separating translation, and at_least a number of pairs.
--budget holds for each line, and a line's own "budget" goes before it; building the trees of a mesh counts, once for all
lines: ask one line without a budget first where the others have a short one. Exit 0 when every line was answered, hits and
undecided ones included; 2 when any was refused."#)]
    Query(Query),
    /// Runs a scene of many bodies, frame by frame
    #[command(after_help = "\
Scenes:
  multibody     polytopes of 36 faces in a closed box, 1 % of it filled, colliding elastically
  walkthrough   somebody walks through a kitchen of hundreds of polytopes
  hand          an articulated hand closes around objects
  bounce        a teapot thrown on the floor, at up to half its width a step; with --bodies N a closed box of
                tori, gears, stairs, knots, horseshoes and teapots: random velocities, drawn anew every five
                steps, 0.02 to 0.5 radii a step for nine in ten and 0.5 to 4 for the tenth, turning
  tunnel        fast and thin: bunnies and a wall
  manipulate    an object that follows a hand stops at contact and slides
  press         a soft ball of two levels is pressed against a rigid one, fine only where it touches
  merge         two drops, surfaces of particles, merge and split again
  clusters      eight clusters of particles that pass through each other; --particles N, --method NAME

Examples:
  impinge simulate multibody --frames 500 --picture box.png
  impinge simulate multibody --bodies 20000 --frames 20 --explain
  impinge simulate walkthrough --frames 300 --record walk.jsonl --picture kitchen.png
  impinge simulate hand --check
  impinge simulate bounce --frames 100000 --check --explain          the teapot on the floor
  impinge simulate bounce --bodies 200 --frames 1000 --check         a box of bodies that are not convex
  impinge simulate tunnel --check                                    fast and thin: figure 5 of CONTACT
  impinge simulate manipulate --check --picture slide.png            stops at contact and slides
  impinge simulate press --check --picture dent.png                  rests at the indentation of the closed form
  impinge simulate merge --check --picture drops.png                 two drops merge and split again
  impinge simulate clusters --particles 8000 --method spanner --picture red.png

Counts bodies, pairs, events and contacts, and tells what the scene measures of itself: the drift of energy
and momentum, bodies outside the box, the nearest distance; for bodies that are swept their impacts, how often
one rested because it had too many in a step, and the share of steps longer than a body is thick or wide.
--record writes one JSON object per line: the scene, then each frame with the poses of what moves, the events
and the contacts. --check compares every frame with brute force and with what must be conserved; the first
difference ends the program with exit 2.
--budget holds for each frame; exit 3 if the last one left pairs open. Otherwise exit 0. clusters takes neither
--budget nor --record.")]
    Simulate(Simulate),
    /// Runs the main job on built-in scenes, no files needed
    #[command(after_help = "\
Examples:
  impinge demo
  impinge demo --picture scene.png               draws the knot through the torus, meeting triangles red
  impinge demo --format json")]
    Demo(Demo),
    /// Prints a completion script for a shell
    #[command(after_help = "\
Examples:
  impinge completions bash > ~/.local/share/bash-completion/completions/impinge
  impinge completions zsh > ~/.zfunc/_impinge
  impinge completions fish > ~/.config/fish/completions/impinge.fish")]
    Completions(Completions),
}

/// The program's commands; the help of each offers the methods that it accepts.
pub fn command() -> clap::Command {
    Args::command().mut_subcommands(|command| {
        let offered = offered(command.get_name());
        let method = Arg::new("method").long("method").value_name("NAME").default_value(Method::Auto.name());
        let method = method.help("Which method answers").help_heading("Common options");
        command.arg(method.value_parser(methods(&offered)))
    })
}

/// The methods that answer a command about meshes, and the techniques of those about particles.
fn offered(command: &str) -> Vec<&'static str> {
    let techniques = || Technique::ALL.iter().map(|technique| technique.name());
    let answering: &[Method] = match command {
        // A scene of particles takes them; others choose themselves.
        "particles" | "simulate" => return ["auto"].into_iter().chain(techniques()).collect(),
        "query" => Method::ALL,
        "check" => &[Method::Exact, Method::Brute, Method::SphereTree, Method::Sampled],
        "distance" => &[Method::Exact, Method::Brute, Method::SphereTree],
        "contacts" => &[Method::Exact, Method::Brute, Method::SphereTree, Method::Sampled, Method::Image],
        "volume" => &[Method::Exact, Method::Image],
        "sweep" => &[Method::Exact, Method::Contact],
        _ => &[Method::Exact],
    };
    [Method::Auto].iter().chain(answering).map(|method| method.name()).collect()
}

/// Reads a name of [`known`]. Those that are not offered are read all the same: the refusal says what would answer.
fn methods(offered: &[&str]) -> PossibleValuesParser {
    let value = |name| PossibleValue::new(name).hide(!offered.contains(&name));
    PossibleValuesParser::new(known().into_iter().map(value).collect::<Vec<_>>())
}

/// The methods that the library registers and its techniques for particles, by their names.
fn known() -> Vec<&'static str> {
    let mut names: Vec<_> = [Method::Auto].iter().chain(Method::ALL).map(|method| method.name()).collect();
    for technique in Technique::ALL {
        if !names.contains(&technique.name()) {
            names.push(technique.name());
        }
    }
    names
}
