//! A furnished kitchen of convex polytopes; what is hollow or has legs is a compound.
//!
//! Lengths in metres, z up, the corner of the room at the origin: the back wall is y = 4, the left wall x = 0.

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::sync::Arc;

use glam::{DQuat, DVec3};
use impinge::{Error, Mesh, Pose, Shape};

use crate::closed_box::hull;
use crate::drawing::Colour;
use crate::random::unit;

const WHITE: Colour = [0.88, 0.88, 0.86];
const WOOD: Colour = [0.72, 0.53, 0.33];
const DARK_WOOD: Colour = [0.45, 0.30, 0.18];
const STEEL: Colour = [0.62, 0.65, 0.68];
const IRON: Colour = [0.20, 0.21, 0.23];
const STONE: Colour = [0.42, 0.44, 0.47];
const CHINA: Colour = [0.80, 0.86, 0.93];
const GREEN: Colour = [0.45, 0.62, 0.40];
const FRUIT: [Colour; 3] = [[0.85, 0.45, 0.12], [0.75, 0.78, 0.25], [0.70, 0.18, 0.14]];

/// One thing in the kitchen.
#[derive(Debug, Clone)]
pub struct Piece {
    /// What it is.
    pub name: &'static str,
    /// Its shape: a polytope, or a compound of several.
    pub shape: Shape,
    /// The surfaces of its parts, in its own frame.
    pub meshes: Vec<Arc<Mesh>>,
    /// Where it stands.
    pub pose: Pose,
    /// Its colour.
    pub colour: Colour,
}

/// Corner points of one convex part, in the frame of its piece.
type Points = Vec<DVec3>;

/// Everything in the room; `seed` scatters fruit, books and jars.
///
/// # Errors
/// None that a kitchen should give; it passes on those of hulls.
pub fn kitchen(seed: u64) -> Result<Vec<Piece>, Error> {
    let mut pieces = Pieces(Vec::new());
    room(&mut pieces)?;
    cupboards(&mut pieces)?;
    stove(&mut pieces)?;
    sink(&mut pieces)?;
    fridge(&mut pieces)?;
    shelf(&mut pieces, seed)?;
    table(&mut pieces, seed)?;
    Ok(pieces.0)
}

struct Pieces(Vec<Piece>);

impl Pieces {
    /// Adds a piece of convex parts.
    fn add(
        &mut self,
        name: &'static str,
        colour: Colour,
        pose: Pose,
        parts: Vec<Points>,
    ) -> Result<(), Error> {
        let (mut convex, mut meshes) = (Vec::new(), Vec::new());
        for part in parts {
            let (shape, mesh) = hull(part)?;
            convex.push(shape);
            meshes.push(Arc::new(mesh));
        }
        let shape = match convex.len() {
            1 => convex.remove(0),
            _ => Shape::compound(convex.into_iter().map(|part| (part, Pose::IDENTITY)))?,
        };
        self.0.push(Piece { name, shape, meshes, pose, colour });
        Ok(())
    }

    /// Adds a box of the room's frame.
    fn block(
        &mut self,
        name: &'static str,
        colour: Colour,
        low: [f64; 3],
        high: [f64; 3],
    ) -> Result<(), Error> {
        self.add(name, colour, Pose::IDENTITY, vec![block(low, high)])
    }
}

fn room(pieces: &mut Pieces) -> Result<(), Error> {
    pieces.block("floor", [0.66, 0.60, 0.52], [0.0, 0.0, -0.1], [5.0, 4.0, 0.0])?;
    pieces.block("back wall", [0.90, 0.89, 0.84], [-0.1, 4.0, -0.1], [5.0, 4.1, 2.6])?;
    pieces.block("left wall", [0.86, 0.87, 0.83], [-0.1, 0.0, -0.1], [0.0, 4.0, 2.6])
}

/// Base units and wall units along the back wall, with doors, drawers and handles.
fn cupboards(pieces: &mut Pieces) -> Result<(), Error> {
    for unit in 0..7 {
        let x = 0.8 + 0.6 * f64::from(unit);
        // The fourth place is the stove's.
        if unit != 3 {
            pieces.block("base unit", WHITE, [x + 0.005, 3.45, 0.1], [x + 0.595, 4.0, 0.86])?;
            pieces.block("plinth", IRON, [x, 3.5, 0.0], [x + 0.6, 3.95, 0.095])?;
            let drawers = if unit % 2 == 0 { 3 } else { 1 };
            for d in 0..drawers {
                let (low, high) = (
                    0.11 + 0.74 / drawers as f64 * f64::from(d),
                    0.10 + 0.74 / drawers as f64 * f64::from(d + 1),
                );
                pieces.block("front", GREEN, [x + 0.01, 3.425, low], [x + 0.59, 3.445, high])?;
                handle(pieces, DVec3::new(x + 0.3, 3.425, high - 0.06), DVec3::X * 0.12)?;
            }
        }
        if unit != 3 {
            pieces.block("wall unit", WHITE, [x + 0.005, 3.67, 1.45], [x + 0.595, 4.0, 2.15])?;
            pieces.block("door", GREEN, [x + 0.01, 3.645, 1.455], [x + 0.59, 3.665, 2.145])?;
            handle(pieces, DVec3::new(x + 0.52, 3.645, 1.56), DVec3::Z * 0.12)?;
        }
    }
    // The worktop leaves room for the stove and for the sink.
    pieces.block("worktop", STONE, [0.8, 3.41, 0.865], [2.6, 4.0, 0.9])?;
    pieces.block("worktop", STONE, [3.2, 3.41, 0.865], [3.8, 4.0, 0.9])?;
    pieces.block("worktop", STONE, [4.4, 3.41, 0.865], [5.0, 4.0, 0.9])?;
    let hood = frustum(4, 0.40, 0.16, 1.55, 1.85);
    let turned = Pose::from_rotation(DVec3::new(2.9, 3.7, 0.0), DQuat::from_rotation_z(PI / 4.0))?;
    pieces.add("hood", STEEL, turned, vec![hood, frustum(4, 0.15, 0.15, 1.85, 2.6)])
}

/// A bar on two feet, in front of a surface that faces −y.
fn handle(pieces: &mut Pieces, at: DVec3, along: DVec3) -> Result<(), Error> {
    let out = at - DVec3::Y * 0.035;
    let feet = [-0.8, 0.8].map(|s| bar(at + along * s, out + along * s, 0.005));
    let parts = vec![bar(out - along, out + along, 0.006), feet[0].clone(), feet[1].clone()];
    pieces.add("handle", STEEL, Pose::IDENTITY, parts)
}

fn stove(pieces: &mut Pieces) -> Result<(), Error> {
    pieces.block("stove", STEEL, [2.605, 3.43, 0.0], [3.195, 4.0, 0.9])?;
    pieces.block("oven door", IRON, [2.63, 3.405, 0.15], [3.17, 3.425, 0.65])?;
    handle(pieces, DVec3::new(2.9, 3.405, 0.60), DVec3::X * 0.22)?;
    for k in 0..4 {
        let knob = DVec3::new(2.69 + 0.14 * f64::from(k), 3.43, 0.78);
        let pose = Pose::from_rotation(knob, DQuat::from_rotation_x(FRAC_PI_2))?;
        pieces.add("knob", IRON, pose, vec![frustum(10, 0.022, 0.018, 0.0, 0.03)])?;
        let plate = Pose::from_translation(DVec3::new(
            2.75 + 0.3 * f64::from(k % 2),
            3.57 + 0.28 * f64::from(k / 2),
            0.9,
        ))?;
        pieces.add("hob", IRON, plate, vec![frustum(20, 0.11, 0.11, 0.0, 0.012)])?;
    }
    pot(pieces, DVec3::new(2.75, 3.57, 0.912), 0.11, 0.14)?;
    pot(pieces, DVec3::new(3.05, 3.85, 0.912), 0.09, 0.10)?;
    let mut pan = ring(16, [0.10, 0.106], [0.13, 0.136], 0.0, 0.045);
    pan.push(frustum(16, 0.104, 0.104, 0.0, 0.006));
    pan.push(bar(DVec3::new(0.0, -0.13, 0.04), DVec3::new(0.0, -0.33, 0.06), 0.012));
    pieces.add("pan", IRON, Pose::from_translation(DVec3::new(3.05, 3.57, 0.912))?, pan)
}

/// An open pot with two handles.
fn pot(pieces: &mut Pieces, at: DVec3, radius: f64, height: f64) -> Result<(), Error> {
    let mut parts = ring(16, [radius - 0.006, radius], [radius - 0.006, radius], 0.0, height);
    parts.push(frustum(16, radius, radius, 0.0, 0.006));
    for side in [-1.0, 1.0] {
        let [near, far] = [radius, radius + 0.045].map(|r| DVec3::new(side * r, 0.0, 0.8 * height));
        let across = DVec3::Y * 0.03;
        parts.extend([bar(near - across, far - across, 0.006), bar(near + across, far + across, 0.006)]);
        parts.push(bar(far - across, far + across, 0.007));
    }
    pieces.add("pot", STEEL, Pose::from_translation(at)?, parts)
}

fn sink(pieces: &mut Pieces) -> Result<(), Error> {
    let [low, high] = [[3.8, 3.41, 0.70], [4.4, 4.0, 0.9]];
    let basin = vec![
        block([low[0], low[1], low[2]], [high[0], high[1], low[2] + 0.01]),
        block([low[0], low[1], low[2]], [low[0] + 0.04, high[1], high[2]]),
        block([high[0] - 0.04, low[1], low[2]], [high[0], high[1], high[2]]),
        block([low[0], low[1], low[2]], [high[0], low[1] + 0.06, high[2]]),
        block([low[0], high[1] - 0.1, low[2]], [high[0], high[1], high[2]]),
    ];
    pieces.add("sink", STEEL, Pose::IDENTITY, basin)?;
    let at = |y: f64, z: f64| DVec3::new(4.1, y, z);
    let tap = vec![
        bar(at(3.94, 0.9), at(3.94, 1.2), 0.012),
        bar(at(3.94, 1.2), at(3.80, 1.24), 0.011),
        bar(at(3.80, 1.24), at(3.74, 1.17), 0.010),
        bar(at(3.94, 0.98), at(3.94, 0.98) + DVec3::new(0.06, 0.0, 0.03), 0.006),
    ];
    pieces.add("tap", STEEL, Pose::IDENTITY, tap)
}

fn fridge(pieces: &mut Pieces) -> Result<(), Error> {
    pieces.block("fridge", WHITE, [0.05, 3.40, 0.02], [0.75, 4.0, 1.95])?;
    for [low, high] in [[0.04, 0.70], [0.72, 1.94]] {
        pieces.block("fridge door", STEEL, [0.05, 3.36, low], [0.75, 3.395, high])?;
        handle(pieces, DVec3::new(0.68, 3.36, 0.5 * (low + high)), DVec3::Z * 0.2)?;
    }
    Ok(())
}

/// Two boards on the left wall with jars and books, and a window above the sink.
fn shelf(pieces: &mut Pieces, seed: u64) -> Result<(), Error> {
    for (board, z) in [1.3, 1.7].into_iter().enumerate() {
        pieces.block("board", WOOD, [0.0, 0.6, z], [0.28, 2.6, z + 0.03])?;
        for end in [0.65, 1.6, 2.55] {
            let bracket = vec![bar(DVec3::new(0.01, end, z - 0.16), DVec3::new(0.24, end, z - 0.01), 0.01)];
            pieces.add("bracket", IRON, Pose::IDENTITY, bracket)?;
        }
        for k in 0..9 {
            let draw = |n: u64| unit(seed, 100 * board as u64 + 10 * k + n);
            let (radius, height) = (0.045 + 0.02 * draw(0), 0.10 + 0.08 * draw(1));
            let place = DVec3::new(0.14 + 0.04 * draw(2), 0.72 + 0.11 * k as f64, z + 0.03);
            let jar = vec![
                frustum(14, radius, radius, 0.0, height),
                frustum(14, 0.8 * radius, 0.8 * radius, height, height + 0.025),
            ];
            pieces.add(
                "jar",
                FRUIT[k as usize % 3].map(|c| 0.4 + 0.5 * c),
                Pose::from_translation(place)?,
                jar,
            )?;
        }
        let mut y = 1.80;
        for k in 0..14 {
            let draw = |n: u64| unit(seed, 5000 + 100 * board as u64 + 10 * k + n);
            let (thick, high, deep) = (0.02 + 0.03 * draw(0), 0.17 + 0.07 * draw(1), 0.14 + 0.06 * draw(2));
            let colour = [0.25 + 0.5 * draw(3), 0.2 + 0.4 * draw(4), 0.2 + 0.4 * draw(5)];
            pieces.block("book", colour, [0.02, y, z + 0.03], [0.02 + deep, y + thick, z + 0.03 + high])?;
            y += thick + 0.003;
        }
    }
    Ok(())
}

/// The table in the middle with its chairs, what is on it, and the lamp above.
fn table(pieces: &mut Pieces, seed: u64) -> Result<(), Error> {
    let centre = DVec3::new(2.7, 1.7, 0.0);
    let mut parts = vec![block([-0.75, -0.42, 0.72], [0.75, 0.42, 0.76])];
    for (sx, sy) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
        let foot = DVec3::new(0.68 * sx, 0.35 * sy, 0.0);
        parts.push(bar(foot, foot + DVec3::Z * 0.72, 0.03));
    }
    for s in [-0.36, 0.36] {
        parts.push(block([-0.68, s - 0.012, 0.62], [0.68, s + 0.012, 0.72]));
        parts.push(block([2.0 * s * 0.9 - 0.012, -0.36, 0.62], [2.0 * s * 0.9 + 0.012, 0.36, 0.72]));
    }
    pieces.add("table", WOOD, Pose::from_translation(centre)?, parts)?;
    // The last one was pulled out and stands in the way.
    let seats = [([-0.4, 0.55], 0.0), ([0.4, 0.55], 0.1), ([-0.4, -0.55], PI), ([0.45, -0.92], PI + 0.35)];
    for ([x, y], turn) in seats {
        let pose = Pose::from_rotation(centre + DVec3::new(x, y, 0.0), DQuat::from_rotation_z(turn))?;
        pieces.add("chair", DARK_WOOD, pose, chair())?;
    }
    for (x, y) in [(-0.4, 0.24), (0.4, 0.24), (-0.4, -0.24), (0.4, -0.24)] {
        setting(pieces, centre + DVec3::new(x, y, 0.76), y.signum())?;
    }
    let mut bowl = ring(14, [0.06, 0.068], [0.15, 0.158], 0.0, 0.08);
    bowl.push(frustum(14, 0.066, 0.066, 0.0, 0.008));
    let middle = centre + DVec3::Z * 0.76;
    pieces.add("bowl", CHINA, Pose::from_translation(middle)?, bowl)?;
    for k in 0..7_u64 {
        let angle = TAU * k as f64 / 6.0;
        let out = if k == 6 { 0.0 } else { 0.082 };
        let at =
            middle + DVec3::new(out * angle.cos(), out * angle.sin(), if k == 6 { 0.115 } else { 0.065 });
        let turn = DQuat::from_rotation_x(TAU * unit(seed, 9000 + k));
        let fruit = ball(0.036 + 0.004 * unit(seed, 9100 + k));
        pieces.add("fruit", FRUIT[k as usize % 3], Pose::from_rotation(at, turn)?, vec![fruit])?;
    }
    let bottle = vec![
        frustum(16, 0.035, 0.035, 0.0, 0.19),
        frustum(16, 0.035, 0.013, 0.19, 0.24),
        frustum(16, 0.013, 0.013, 0.24, 0.3),
    ];
    pieces.add(
        "bottle",
        [0.20, 0.38, 0.26],
        Pose::from_translation(middle + DVec3::new(0.24, 0.02, 0.0))?,
        bottle,
    )?;
    let lamp = vec![frustum(20, 0.26, 0.09, 1.62, 1.84), frustum(8, 0.008, 0.008, 1.84, 2.6)];
    pieces.add("lamp", [0.85, 0.72, 0.35], Pose::from_translation(centre)?, lamp)
}

/// A chair whose back is at +y.
fn chair() -> Vec<Points> {
    let mut parts = vec![block([-0.20, -0.20, 0.43], [0.20, 0.20, 0.46])];
    for (sx, sy) in [(-1.0, -1.0), (1.0, -1.0)] {
        let foot = DVec3::new(0.18 * sx, 0.18 * sy, 0.0);
        parts.push(bar(foot, foot + DVec3::Z * 0.43, 0.018));
    }
    for sx in [-1.0, 1.0] {
        let foot = DVec3::new(0.18 * sx, 0.18, 0.0);
        parts.push(bar(foot, foot + DVec3::Z * 0.45, 0.018));
        parts.push(bar(foot + DVec3::Z * 0.45, foot + DVec3::new(0.0, 0.06, 0.92), 0.016));
    }
    for k in 0..3 {
        let z = 0.58 + 0.13 * f64::from(k);
        let y = 0.18 + 0.06 * (z - 0.45) / 0.47;
        parts.push(block([-0.18, y - 0.01, z], [0.18, y + 0.01, z + 0.07]));
    }
    parts
}

/// Plate, cup, knife, fork and spoon for one; `side` is −1 for those who sit at −y.
fn setting(pieces: &mut Pieces, at: DVec3, side: f64) -> Result<(), Error> {
    let mut plate = ring(16, [0.07, 0.075], [0.118, 0.122], 0.0, 0.02);
    plate.push(frustum(16, 0.075, 0.075, 0.0, 0.005));
    pieces.add("plate", CHINA, Pose::from_translation(at)?, plate)?;
    for (k, name) in ["knife", "fork", "spoon"].into_iter().enumerate() {
        let x = [0.15, -0.15, -0.175][k];
        let stick = vec![bar(DVec3::new(x, -0.09, 0.004), DVec3::new(x, 0.09, 0.004), 0.004)];
        pieces.add(name, STEEL, Pose::from_translation(at)?, stick)?;
    }
    let mut cup = ring(12, [0.026, 0.030], [0.036, 0.040], 0.0, 0.09);
    cup.push(frustum(12, 0.029, 0.029, 0.0, 0.005));
    let [low, high] = [DVec3::new(0.033, 0.0, 0.02), DVec3::new(0.038, 0.0, 0.07)];
    let out = DVec3::X * 0.03;
    cup.extend([bar(low, low + out, 0.004), bar(high, high + out, 0.004), bar(low + out, high + out, 0.004)]);
    let place = at + DVec3::new(0.19, -0.12 * side, 0.0);
    pieces.add("cup", CHINA, Pose::from_rotation(place, DQuat::from_rotation_z(0.6 * side))?, cup)
}

fn block(low: [f64; 3], high: [f64; 3]) -> Points {
    (0..8)
        .map(|i| DVec3::from_array(std::array::from_fn(|k| if i >> k & 1 == 0 { low[k] } else { high[k] })))
        .collect()
}

/// A cone cut off: regular polygons of two radii at two heights about z.
fn frustum(sides: u32, below: f64, above: f64, low: f64, high: f64) -> Points {
    let corner = |k: u32, r: f64, z: f64| {
        let (sin, cos) = (TAU * f64::from(k) / f64::from(sides)).sin_cos();
        DVec3::new(r * cos, r * sin, z)
    };
    (0..sides).flat_map(|k| [corner(k, below, low), corner(k, above, high)]).collect()
}

/// A wall around z, in as many convex pieces as it has sides: inner and outer radius below and above.
fn ring(sides: u32, below: [f64; 2], above: [f64; 2], low: f64, high: f64) -> Vec<Points> {
    let corner = |k: u32, r: f64, z: f64| {
        let (sin, cos) = (TAU * f64::from(k) / f64::from(sides)).sin_cos();
        DVec3::new(r * cos, r * sin, z)
    };
    let segment = |k: u32| {
        let ends = [k, (k + 1) % sides];
        let at =
            |j: u32| below.map(|r| corner(j, r, low)).into_iter().chain(above.map(|r| corner(j, r, high)));
        ends.into_iter().flat_map(at).collect()
    };
    (0..sides).map(segment).collect()
}

/// A square bar between two points, `half` its half thickness.
fn bar(from: DVec3, to: DVec3, half: f64) -> Points {
    let (u, v) = (to - from).normalize_or(DVec3::Z).any_orthonormal_pair();
    let square = [u + v, u - v, -u - v, v - u].map(|d| d * half);
    [from, to].iter().flat_map(|&end| square.map(|d| end + d)).collect()
}

/// A round body: three rings and two poles.
fn ball(radius: f64) -> Points {
    let ring = |z: f64| {
        let r = (1.0 - z * z).sqrt();
        (0..8)
            .map(move |k| (TAU * f64::from(k) / 8.0).sin_cos())
            .map(move |(sin, cos)| DVec3::new(r * cos, r * sin, z))
    };
    [-0.6, 0.0, 0.6].into_iter().flat_map(ring).chain([-DVec3::Z, DVec3::Z]).map(|p| p * radius).collect()
}
