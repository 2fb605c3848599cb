//! The relation against an oracle that knows the answer by counting unit cells: bodies made of boxes on
//! a small grid, overlapping, nested, inverted, duplicated, with and without missing faces.

use std::collections::{BTreeMap, BTreeSet};

use impinge::model::Model;
use impinge::narrow::exact::relation::relation;
use impinge::{Mesh, Pose, Relation};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Cells along each axis.
const SIDE: i32 = 6;

type Cell = [i32; 3];
/// A unit square: its lowest corner and the axis of its normal.
type Square = (Cell, usize);

/// A body as the oracle sees it.
#[derive(Default, Clone)]
struct Lattice {
    winding: BTreeMap<Cell, i32>,
    squares: BTreeSet<Square>,
    points: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    open: bool,
}

impl Lattice {
    /// Adds the surface of a box of cells, wound +1 or −1, with the diagonals of its faces at random.
    fn add_box(&mut self, low: Cell, high: Cell, sign: i32, rng: &mut Pcg64) {
        for cell in cells(low, high) {
            *self.winding.entry(cell).or_default() += sign;
        }
        for axis in 0..3 {
            for up in [false, true] {
                let (mut l, mut h) = (low, high);
                if up {
                    l[axis] = high[axis];
                } else {
                    h[axis] = low[axis];
                }
                self.add_face(l, h, axis, up == (sign > 0), rng);
            }
        }
    }

    /// Adds the surface between cells in and out, one unit square at a time.
    fn add_voxels(&mut self, voxels: &BTreeSet<Cell>, rng: &mut Pcg64) {
        for &cell in voxels {
            *self.winding.entry(cell).or_default() += 1;
            for axis in 0..3 {
                for up in [false, true] {
                    let mut next = cell;
                    next[axis] += if up { 1 } else { -1 };
                    if !voxels.contains(&next) {
                        let (mut l, mut h) = (cell, cell.map(|x| x + 1));
                        if up {
                            l[axis] = h[axis];
                        } else {
                            h[axis] = l[axis];
                        }
                        self.add_face(l, h, axis, up, rng);
                    }
                }
            }
        }
    }

    /// A rectangle whose normal points along the axis or against it.
    fn add_face(&mut self, low: Cell, high: Cell, axis: usize, along: bool, rng: &mut Pcg64) {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let corner = |iu: bool, iv: bool| {
            let mut p = low;
            p[u] = if iu { high[u] } else { low[u] };
            p[v] = if iv { high[v] } else { low[v] };
            p.map(f64::from)
        };
        let base = self.points.len() as u32;
        self.points.extend([
            corner(false, false),
            corner(true, false),
            corner(true, true),
            corner(false, true),
        ]);
        let shift = rng.random_range(0..4);
        let at = |i: u32| base + (i + shift) % 4;
        for [a, b, c] in [[0, 1, 2], [0, 2, 3]] {
            self.triangles.push(if along { [at(a), at(b), at(c)] } else { [at(a), at(c), at(b)] });
        }
        let mut top = high.map(|x| x - 1);
        top[axis] = low[axis];
        for i in low[u]..=top[u] {
            for j in low[v]..=top[v] {
                let mut square = low;
                (square[u], square[v]) = (i, j);
                self.squares.insert((square, axis));
            }
        }
    }

    fn holds_cell(&self, cell: Cell) -> bool {
        !self.open && self.winding.get(&cell).is_some_and(|&w| w != 0)
    }

    /// Whether the square lies off the surface, strictly inside the solid.
    fn holds_square(&self, (cell, axis): Square) -> bool {
        !self.squares.contains(&(cell, axis)) && self.holds_cell(cell)
    }

    fn lies_in(&self, other: &Lattice) -> bool {
        let surface = self.squares.iter().all(|s| other.squares.contains(s) || other.holds_square(*s));
        let inside = grid().all(|c| !self.holds_cell(c) || other.holds_cell(c));
        !other.open && surface && inside
    }

    fn corners(&self) -> BTreeSet<Cell> {
        let four = |&(low, axis): &Square| {
            [[0, 0], [0, 1], [1, 0], [1, 1]].map(|[i, j]| {
                let mut p = low;
                p[(axis + 1) % 3] += i;
                p[(axis + 2) % 3] += j;
                p
            })
        };
        self.squares.iter().flat_map(four).collect()
    }

    fn model(&self) -> Model {
        Model::from(Mesh::new(self.points.clone(), self.triangles.clone()).unwrap())
    }
}

fn cells(low: Cell, high: Cell) -> impl Iterator<Item = Cell> {
    (low[0]..high[0])
        .flat_map(move |x| (low[1]..high[1]).flat_map(move |y| (low[2]..high[2]).map(move |z| [x, y, z])))
}

fn grid() -> impl Iterator<Item = Cell> {
    cells([-1; 3], [SIDE + 1; 3])
}

/// The answer by counting, in the order of the contract.
fn oracle(a: &Lattice, b: &Lattice) -> Relation {
    if a.squares == b.squares {
        return Relation::Intersecting;
    }
    match (a.lies_in(b), b.lies_in(a)) {
        (true, true) => return Relation::Intersecting,
        (true, false) => return Relation::AInsideB,
        (false, true) => return Relation::BInsideA,
        _ => {}
    }
    let contact = !a.corners().is_disjoint(&b.corners());
    let within = |x: &Lattice, y: &Lattice| x.squares.iter().any(|s| y.holds_square(*s));
    let outside =
        |x: &Lattice, y: &Lattice| x.squares.iter().any(|s| !y.squares.contains(s) && !y.holds_cell(s.0));
    if a.open || b.open {
        let parted = |x: &Lattice, y: &Lattice| within(x, y) && outside(x, y);
        return if contact || parted(a, b) || parted(b, a) {
            Relation::Intersecting
        } else {
            Relation::Separated
        };
    }
    if grid().any(|c| a.holds_cell(c) && b.holds_cell(c)) {
        Relation::Intersecting
    } else if contact || within(a, b) || within(b, a) {
        Relation::Touching
    } else {
        Relation::Separated
    }
}

fn random_box(rng: &mut Pcg64) -> [Cell; 2] {
    let low: Cell = std::array::from_fn(|_| rng.random_range(0..SIDE));
    [low, low.map(|x| rng.random_range(x + 1..=SIDE))]
}

/// One to three boxes, some inverted, sometimes with a previous one repeated; or cells at random.
fn random_body(rng: &mut Pcg64) -> Lattice {
    let mut body = Lattice::default();
    if rng.random_bool(0.3) {
        let [low, high] = random_box(rng);
        let keep = rng.random_range(0.2..1.0);
        let mut voxels: BTreeSet<Cell> = cells(low, high).filter(|_| rng.random_bool(keep)).collect();
        voxels.insert(low);
        body.add_voxels(&voxels, rng);
    } else {
        let mut boxes: Vec<[Cell; 2]> = Vec::new();
        for _ in 0..rng.random_range(1..=3) {
            let next = match boxes.choose(rng) {
                Some(&old) if rng.random_bool(0.15) => old,
                _ => random_box(rng),
            };
            body.add_box(next[0], next[1], if rng.random_bool(0.3) { -1 } else { 1 }, rng);
            boxes.push(next);
        }
    }
    body
}

/// Takes one rectangle out, so that the surface has a hole (unless a twin of it remains).
fn puncture(body: &mut Lattice, rng: &mut Pcg64) {
    let whole = body.clone();
    let faces = body.triangles.len() / 2;
    let gone = rng.random_range(0..faces);
    let keep = |face: &usize| *face != gone;
    let mut rest = Lattice::default();
    for face in (0..faces).filter(keep) {
        let base = rest.points.len() as u32;
        rest.points.extend(&whole.points[4 * face..4 * face + 4]);
        let moved = |t: &[u32; 3]| t.map(|v| v - 4 * face as u32 + base);
        rest.triangles.extend(whole.triangles[2 * face..2 * face + 2].iter().map(moved));
        let corners = &whole.points[4 * face..4 * face + 4];
        let low: Cell =
            std::array::from_fn(|k| corners.iter().map(|p| p[k] as i32).min().unwrap_or_default());
        let high: Cell =
            std::array::from_fn(|k| corners.iter().map(|p| p[k] as i32).max().unwrap_or_default());
        let axis = (0..3).find(|&k| low[k] == high[k]).unwrap();
        let span = |k: usize| if k == axis { low[k]..low[k] + 1 } else { low[k]..high[k] };
        for x in span(0) {
            for y in span(1) {
                rest.squares.extend(span(2).map(|z| ([x, y, z], axis)));
            }
        }
    }
    rest.winding = whole.winding;
    rest.open = true;
    *body = rest;
}

/// A quarter turn about z and a whole step, exact on small integers.
fn quarter_turn() -> Pose {
    let m = [0.0, -1.0, 0.0, 7.0, 1.0, 0.0, 0.0, -2.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 1.0];
    Pose::from_matrix(&m).unwrap()
}

fn compare(a: &Lattice, b: &Lattice, seen: &mut BTreeMap<String, usize>) {
    let want = oracle(a, b);
    let (x, y) = (a.model(), b.model());
    let id = Pose::IDENTITY;
    let tell = || format!("{:?} {:?}\n{:?} {:?}", a.points, a.triangles, b.points, b.triangles);
    assert_eq!(x.topology().is_closed(), !a.open, "{}", tell());
    assert_eq!(relation(&x, &id, &y, &id), want, "{}", tell());
    assert_eq!(relation(&y, &id, &x, &id), want.swapped(), "{}", tell());
    let turn = quarter_turn();
    assert_eq!(relation(&x, &turn, &y, &turn), want, "{}", tell());
    *seen.entry(format!("{want:?}")).or_default() += 1;
}

fn assert_rates(seen: &BTreeMap<String, usize>, cases: usize, least: usize) {
    for value in ["Separated", "Touching", "Intersecting", "AInsideB", "BInsideA"] {
        let count = seen.get(value).copied().unwrap_or(0);
        assert!(count * least >= cases, "{value}: {count} of {cases}");
    }
}

#[test]
fn closed_bodies() {
    let mut rng = Pcg64::seed_from_u64(1);
    let mut seen = BTreeMap::new();
    let cases = 800;
    for _ in 0..cases {
        let a = random_body(&mut rng);
        // Every third time b holds all boxes of a and one more, or the same again.
        let mut b = if rng.random_bool(0.25) { a.clone() } else { Lattice::default() };
        if b.points.is_empty() || rng.random_bool(0.7) {
            let [low, high] = random_box(&mut rng);
            b.add_box(low, high, 1, &mut rng);
        }
        compare(&a, &b, &mut seen);
    }
    assert_rates(&seen, cases, 100);
}

#[test]
fn small_pieces_nearby() {
    let mut rng = Pcg64::seed_from_u64(2);
    let mut seen = BTreeMap::new();
    let cases = 800;
    for _ in 0..cases {
        let [mut a, mut b] = [Lattice::default(), Lattice::default()];
        for body in [&mut a, &mut b] {
            let low: Cell = std::array::from_fn(|_| rng.random_range(0..SIDE - 2));
            let high = low.map(|x| x + rng.random_range(1..=2));
            body.add_box(low, high, 1, &mut rng);
        }
        if rng.random_bool(0.3) {
            let room: Cell = [rng.random_range(1..3); 3];
            b.add_box([0; 3], [SIDE; 3], 1, &mut rng);
            b.add_box(room, [SIDE - 1; 3], -1, &mut rng);
        }
        if rng.random_bool(0.5) {
            std::mem::swap(&mut a, &mut b);
        }
        compare(&a, &b, &mut seen);
    }
    assert_rates(&seen, cases, 100);
}

#[test]
fn open_surfaces() {
    let mut rng = Pcg64::seed_from_u64(3);
    let mut seen = BTreeMap::new();
    let cases = 600;
    for _ in 0..cases {
        let mut a = random_body(&mut rng);
        puncture(&mut a, &mut rng);
        let mut b = Lattice::default();
        let [low, high] = if rng.random_bool(0.3) { [[0; 3], [SIDE; 3]] } else { random_box(&mut rng) };
        b.add_box(low, high, if rng.random_bool(0.5) { 1 } else { -1 }, &mut rng);
        if rng.random_bool(0.2) {
            puncture(&mut b, &mut rng);
        }
        compare(&a, &b, &mut seen);
    }
    let count = |value: &str| seen.get(value).copied().unwrap_or(0);
    assert!(count("Touching") == 0 && count("BInsideA") == 0);
    for value in ["Separated", "Intersecting", "AInsideB"] {
        assert!(count(value) * 50 >= cases, "{seen:?}");
    }
}

/// Without touching surfaces: cavities, shells and several components.
#[test]
fn nested_shells() {
    let mut rng = Pcg64::seed_from_u64(4);
    let shell = |radii: &[(i32, i32)], rng: &mut Pcg64| {
        let mut body = Lattice::default();
        for &(inset, sign) in radii {
            body.add_box([inset; 3], [SIDE - inset; 3], sign, rng);
        }
        body
    };
    let solid = shell(&[(1, 1)], &mut rng);
    let hollow = shell(&[(0, 1), (2, -1)], &mut rng);
    let twice = shell(&[(0, 1), (2, 1)], &mut rng);
    let id = Pose::IDENTITY;
    let ask = |a: &Lattice, b: &Lattice| relation(&a.model(), &id, &b.model(), &id);
    // The solid fills the cavity, so it is not wholly in the hollow body.
    assert_eq!(ask(&solid, &hollow), Relation::Intersecting);
    // A face that winds twice is no border: the solid is inside.
    assert_eq!(ask(&solid, &twice), Relation::AInsideB);
    assert_eq!(ask(&twice, &solid), Relation::BInsideA);
}
