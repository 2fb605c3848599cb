//! Random questions, each as a line for the program and as values for the library.

use impinge::glam::DVec3;
use impinge::{FeaturePairKind, Mesh, Method, Motion, Pose, Shape, procedural};
use rand::Rng;
use rand_pcg::Pcg64;
use serde_json::{Map, Value, json};

/// One question in both forms.
pub struct Asked {
    pub line: Map<String, Value>,
    pub question: Question,
}

/// What is asked, of whom, and how.
pub struct Question {
    pub what: What,
    pub method: Method,
    pub units: Option<u64>,
    pub seed: u64,
}

pub enum What {
    Relation([Body; 2]),
    Distance([Body; 2]),
    Pairs([Body; 2], Option<f64>),
    Sweep([Body; 2]),
    Volume([Body; 2]),
    Contacts { bodies: [Body; 2], margin: f64, one_sided: bool },
    Separate([Body; 2]),
    Rays(Body, Vec<[f64; 6]>),
    Points(Body, Vec<[f64; 3]>),
    Ccd(FeaturePairKind, [[DVec3; 4]; 2], f64),
    Meets(Body),
    Step { ends: [Mesh; 2], all: bool, margin: f64 },
}

/// A shape and how it moves.
pub struct Body {
    pub shape: Shape,
    pub motion: Motion,
}

pub fn draw(rng: &mut Pcg64) -> Asked {
    let (mut line, what) = match rng.random_range(0..26) {
        0..4 => two(rng, "relation", What::Relation),
        4..8 => two(rng, "distance", What::Distance),
        8..11 => triangle_pairs(rng),
        11..14 => sweep(rng),
        14..16 => points(rng),
        16..18 => ccd(rng),
        18 => meets(rng),
        19 => step(rng),
        20..22 => volume(rng),
        22..24 => contacts(rng),
        24 => two(rng, "separate", What::Separate),
        _ => rays(rng),
    };
    let method = match rng.random_range(0..10) {
        0..5 => Method::Auto,
        5..8 => Method::Exact,
        _ => Method::ALL[rng.random_range(0..Method::ALL.len())],
    };
    if method != Method::Auto || rng.random() {
        line.insert("method".into(), json!(method.name()));
    }
    let units = rng.random_bool(0.1).then(|| rng.random_range(1..200));
    if let Some(units) = units {
        line.insert("budget".into(), json!(units));
    }
    let seed = rng.random_range(0..3);
    if seed > 0 || rng.random() {
        line.insert("seed".into(), json!(seed));
    }
    Asked { line, question: Question { what, method, units, seed } }
}

type Drawn = (Map<String, Value>, What);

/// The fields of an object.
pub fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn two(rng: &mut Pcg64, ask: &str, what: fn([Body; 2]) -> What) -> Drawn {
    let [(a, body_a), (b, body_b)] = [(); 2].map(|()| body(rng, false));
    (fields(json!({"ask": ask, "a": a, "b": b})), what([body_a, body_b]))
}

/// Mostly of meshes: other kinds are refused.
fn triangle_pairs(rng: &mut Pcg64) -> Drawn {
    let [(a, body_a), (b, body_b)] = [(); 2].map(|()| {
        let kinds = if rng.random_bool(0.95) { 4 } else { KINDS };
        let kind = rng.random_range(0..kinds);
        placed(rng, kind, false)
    });
    let margin = rng.random::<bool>().then(|| 0.25 * f64::from(rng.random_range(0..4)));
    (fields(json!({"ask": "pairs", "a": a, "b": b, "margin": margin})), What::Pairs([body_a, body_b], margin))
}

fn sweep(rng: &mut Pcg64) -> Drawn {
    let [(a, body_a), (b, body_b)] = [true, rng.random()].map(|moves| body(rng, moves));
    (fields(json!({"ask": "sweep", "a": a, "b": b})), What::Sweep([body_a, body_b]))
}

/// Pixels along a side for volumes by images, few so that ten thousand questions take seconds.
pub const RESOLUTION: u32 = 32;

/// Mostly of solids with flat faces, which the exact method takes.
fn volume(rng: &mut Pcg64) -> Drawn {
    let [(a, body_a), (b, body_b)] = [(); 2].map(|()| {
        let kinds = [0, 1, 3, 4, 6];
        let kind = match rng.random_bool(0.95) {
            true => kinds[rng.random_range(0..kinds.len())],
            false => rng.random_range(0..KINDS),
        };
        placed(rng, kind, false)
    });
    let line = json!({"ask": "volume", "a": a, "b": b, "resolution": RESOLUTION});
    (fields(line), What::Volume([body_a, body_b]))
}

fn contacts(rng: &mut Pcg64) -> Drawn {
    let [(a, body_a), (b, body_b)] = [(); 2].map(|()| body(rng, false));
    let (margin, one_sided) = (0.125 * f64::from(rng.random_range(0..3)), rng.random());
    let sides = if one_sided { 1 } else { 2 };
    let line = json!({"ask": "contacts", "a": a, "b": b, "margin": margin, "sides": sides});
    (fields(line), What::Contacts { bodies: [body_a, body_b], margin, one_sided })
}

fn rays(rng: &mut Pcg64) -> Drawn {
    let (a, body) = body(rng, false);
    let mut ray = || {
        let (from, towards) = (2.0 * position(rng), position(rng));
        // Every other ray passes the middle of the grid on which the bodies are.
        let along = if rng.random() { 0.5 * towards - from } else { towards };
        [from.x, from.y, from.z, along.x, along.y, along.z]
    };
    let rays: Vec<[f64; 6]> = (0..4).map(|_| ray()).filter(|ray| ray[3..] != [0.0; 3]).collect();
    (fields(json!({"ask": "rays", "a": a, "rays": rays})), What::Rays(body, rays))
}

fn points(rng: &mut Pcg64) -> Drawn {
    let (a, body) = body(rng, false);
    let points: Vec<[f64; 3]> = (0..rng.random_range(0..4)).map(|_| position(rng).to_array()).collect();
    (fields(json!({"ask": "points", "a": a, "points": points})), What::Points(body, points))
}

fn ccd(rng: &mut Pcg64) -> Drawn {
    let (word, kind) = match rng.random() {
        true => ("vf", FeaturePairKind::VertexFace),
        false => ("ee", FeaturePairKind::EdgeEdge),
    };
    let ends = [(); 2].map(|()| [(); 4].map(|()| position(rng)));
    let margin = if rng.random_bool(0.8) { 0.0 } else { rng.random_range(0.0..0.5) };
    let [t0, t1] = ends.map(|points| points.map(|p| p.to_array()));
    (
        fields(json!({"ask": "ccd", "kind": word, "t0": t0, "t1": t1, "margin": margin})),
        What::Ccd(kind, ends, margin),
    )
}

fn meets(rng: &mut Pcg64) -> Drawn {
    let (a, body) = if rng.random_bool(0.9) {
        let mesh = soup(rng);
        let shape = Shape::from(mesh.clone());
        (inline(&mesh), Body { shape, motion: Motion::Still(Pose::IDENTITY) })
    } else {
        body(rng, false)
    };
    (fields(json!({"ask": "self", "a": a})), What::Meets(body))
}

fn step(rng: &mut Pcg64) -> Drawn {
    let start = soup(rng);
    let moved = start.vertices().iter().map(|&p| p + 0.5 * position(rng)).collect();
    let end = Mesh::from_points(moved, start.triangles().to_vec()).unwrap();
    let (all, margin) = (rng.random(), if rng.random() { 0.0 } else { 0.125 });
    let line = json!({"ask": "self", "a": inline(&start), "to": inline(&end), "all": all, "margin": margin});
    (fields(line), What::Step { ends: [start, end], all, margin })
}

/// Triangles anywhere.
fn soup(rng: &mut Pcg64) -> Mesh {
    let count = rng.random_range(2..5_u32);
    let points = (0..3 * count).map(|_| position(rng)).collect();
    Mesh::from_points(points, (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect()).unwrap()
}

fn body(rng: &mut Pcg64, moves: bool) -> (Value, Body) {
    let kind = rng.random_range(0..KINDS);
    placed(rng, kind, moves)
}

/// A shape of a kind at a pose; on the way to another if it moves.
fn placed(rng: &mut Pcg64, kind: u32, moves: bool) -> (Value, Body) {
    let (mut value, shape) = shape(rng, kind);
    let (at, from) = pose(rng);
    value["pose"] = at;
    let mut motion = Motion::Still(from);
    if moves {
        let (at, to) = pose(rng);
        value["to"] = at;
        motion = Motion::between(&from, &to);
    }
    (value, Body { shape, motion })
}

/// On a grid, where things touch and are coplanar, or anywhere.
fn position(rng: &mut Pcg64) -> DVec3 {
    let grid = rng.random_bool(0.6);
    DVec3::from([(); 3].map(|()| {
        if grid { 0.25 * f64::from(rng.random_range(-4..=4)) } else { rng.random_range(-1.0..1.0) }
    }))
}

fn pose(rng: &mut Pcg64) -> (Value, Pose) {
    let position = position(rng).to_array();
    let rotation: [f64; 4] = match rng.random_range(0..3) {
        0 => [0.0, 0.0, 0.0, 1.0],
        1 => [0.0, 0.0, 1.0, f64::from(rng.random_range(0..2))],
        _ => [(); 4].map(|()| rng.random_range(-1.0..1.0)),
    };
    (json!({"position": position, "rotation": rotation}), Pose::new(position, rotation).unwrap())
}

const KINDS: u32 = 16;

fn shape(rng: &mut Pcg64, kind: u32) -> (Value, Shape) {
    let mut size = || 0.25 * f64::from(rng.random_range(1..5));
    let (x, y, z) = (size(), size(), size());
    let tube = json!({"radius": x, "half_height": y});
    match kind {
        0 => meshed(procedural::cuboid([x, y, z], [1; 3]).unwrap()),
        1 => meshed(procedural::octahedron(x).unwrap()),
        2 => meshed(procedural::sheet([2.0 * x, 2.0 * y], [2, 1]).unwrap()),
        3 => {
            let vertices = vec![[0.0; 3], [x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z], [x, y, z]];
            let tetrahedra = vec![[0, 1, 2, 3], [1, 2, 3, 4]];
            let value = json!({"vertices": vertices, "tetrahedra": tetrahedra});
            (value, Shape::tetrahedra(vertices, tetrahedra).unwrap())
        }
        4 => {
            let points: Vec<[f64; 3]> =
                (0..rng.random_range(4..9)).map(|_| (0.75 * position(rng)).to_array()).collect();
            (json!({"hull": points}), Shape::hull(points).unwrap())
        }
        5 => (json!({"sphere": x}), Shape::sphere(x).unwrap()),
        6 => (json!({"box": [x, y, z]}), Shape::cuboid([x, y, z]).unwrap()),
        7 => (json!({"capsule": tube}), Shape::capsule(x, y).unwrap()),
        8 => (json!({"cylinder": tube}), Shape::cylinder(x, y).unwrap()),
        9 => (json!({"cone": tube}), Shape::cone(x, y).unwrap()),
        10 => (json!({"ellipsoid": [x, y, z]}), Shape::ellipsoid([x, y, z]).unwrap()),
        11 => {
            let value = json!({"halfspace": {"normal": [x, y, -z], "offset": -y}});
            (value, Shape::half_space([x, y, -z], -y).unwrap())
        }
        12 => {
            let corners = [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]];
            (json!({"triangle": corners}), Shape::triangle(corners).unwrap())
        }
        13 => (
            json!({"segment": [[x, y, z], [-x, -y, 0.0]]}),
            Shape::segment([[x, y, z], [-x, -y, 0.0]]).unwrap(),
        ),
        14 => compound(rng),
        _ => particles(rng),
    }
}

/// A few balls, each of its own size or all of one, or points.
fn particles(rng: &mut Pcg64) -> (Value, Shape) {
    let points: Vec<[f64; 3]> = (0..rng.random_range(1..24)).map(|_| position(rng).to_array()).collect();
    let mut size = || 0.125 * f64::from(rng.random_range(0..4));
    if size() > 0.125 {
        let radii: Vec<f64> = points.iter().map(|_| size()).collect();
        (json!({"particles": points, "radii": radii}), Shape::particles(points, &radii).unwrap())
    } else {
        let radius = size();
        (json!({"particles": points, "radius": radius}), Shape::particles(points, &[radius]).unwrap())
    }
}

fn compound(rng: &mut Pcg64) -> (Value, Shape) {
    let parts: Vec<(Value, Shape, Pose)> = (0..rng.random_range(1..4))
        .map(|_| {
            let kind = rng.random_range(4..11);
            let (mut value, shape) = shape(rng, kind);
            let (at, pose) = pose(rng);
            value["pose"] = at;
            (value, shape, pose)
        })
        .collect();
    let value = json!({"compound": parts.iter().map(|(value, ..)| value).collect::<Vec<_>>()});
    (value, Shape::compound(parts.into_iter().map(|(_, shape, pose)| (shape, pose))).unwrap())
}

fn meshed(mesh: Mesh) -> (Value, Shape) {
    (inline(&mesh), Shape::from(mesh))
}

fn inline(mesh: &Mesh) -> Value {
    let vertices: Vec<[f64; 3]> = mesh.vertices().iter().map(|p| p.to_array()).collect();
    json!({"vertices": vertices, "triangles": mesh.triangles()})
}
