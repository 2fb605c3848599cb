//! Triangle pairs on small integer grids against a twin that decides in integers by another route:
//! every edge of one triangle is clipped, as a line parameter, by the linear constraints of the other.
//!
//! The long run: `cargo test --release -p impinge --test triangle_twin -- --ignored`.

mod common;

use common::shared;
use glam::DVec3;
use impinge::geom::triangle_triangle::{
    TriangleRelation, classify, folded_over_edge, meet, meet_sharing_corner, overlap_polygon, segment,
};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

type Point = [i128; 3];
type Corners = [Point; 3];

fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: Point, b: Point) -> i128 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn normal(t: &Corners) -> Point {
    cross(sub(t[1], t[0]), sub(t[2], t[0]))
}

/// A linear constraint on x: direction · (x − origin), equal to zero or at least zero.
struct Constraint {
    direction: Point,
    origin: Point,
    equality: bool,
}

/// The closed convex hull of the corners as linear constraints, whatever its dimension.
fn constraints(t: &Corners) -> Vec<Constraint> {
    let n = normal(t);
    let mut list = Vec::new();
    if n != [0; 3] {
        list.push(Constraint { direction: n, origin: t[0], equality: true });
        for i in 0..3 {
            let inward = cross(n, sub(t[(i + 1) % 3], t[i]));
            list.push(Constraint { direction: inward, origin: t[i], equality: false });
        }
        return list;
    }
    // A segment between the two corners that are farthest apart, or a point.
    let longest = (0..3).max_by_key(|&i| dot(sub(t[(i + 1) % 3], t[i]), sub(t[(i + 1) % 3], t[i]))).unwrap();
    let (p, q) = (t[longest], t[(longest + 1) % 3]);
    let along = sub(q, p);
    for axis in 0..3 {
        let mut unit = [0; 3];
        unit[axis] = 1;
        let direction = if along == [0; 3] { unit } else { cross(along, unit) };
        list.push(Constraint { direction, origin: p, equality: true });
    }
    list.push(Constraint { direction: along, origin: p, equality: false });
    list.push(Constraint { direction: along.map(|x| -x), origin: q, equality: false });
    list
}

/// A rational bound with a positive denominator.
#[derive(Clone, Copy)]
struct Ratio(i128, i128);

impl Ratio {
    fn below(self, other: Ratio) -> bool {
        self.0 * other.1 < other.0 * self.1
    }
}

/// The parameters of a line that satisfy constraints so far.
struct Clip {
    low: Ratio,
    high: Ratio,
    empty: bool,
}

impl Clip {
    /// Keeps the t with constant + slope·t ≥ 0.
    fn at_least_zero(&mut self, constant: i128, slope: i128) {
        if slope == 0 {
            self.empty |= constant < 0;
        } else if slope > 0 {
            let bound = Ratio(-constant, slope);
            if self.low.below(bound) {
                self.low = bound;
            }
        } else {
            let bound = Ratio(constant, -slope);
            if bound.below(self.high) {
                self.high = bound;
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.empty || self.high.below(self.low)
    }
}

fn edge_meets(p: Point, q: Point, hull: &[Constraint]) -> bool {
    let mut clip = Clip { low: Ratio(0, 1), high: Ratio(1, 1), empty: false };
    for c in hull {
        let (constant, slope) = (dot(c.direction, sub(p, c.origin)), dot(c.direction, sub(q, p)));
        clip.at_least_zero(constant, slope);
        if c.equality {
            clip.at_least_zero(-constant, -slope);
        }
    }
    !clip.is_empty()
}

fn twin_meets(a: &Corners, b: &Corners) -> bool {
    let (hull_a, hull_b) = (constraints(a), constraints(b));
    (0..3).any(|i| edge_meets(a[i], a[(i + 1) % 3], &hull_b) || edge_meets(b[i], b[(i + 1) % 3], &hull_a))
}

/// How the relative interiors lie, for triangles that meet.
fn twin_kind(a: &Corners, b: &Corners) -> TriangleRelation {
    let (n, m) = (normal(a), normal(b));
    if n == [0; 3] || m == [0; 3] {
        return TriangleRelation::Touch;
    }
    let line = cross(n, m);
    let square = dot(line, line);
    if square == 0 {
        return if coplanar_area(a, b, n) { TriangleRelation::Coplanar } else { TriangleRelation::Touch };
    }
    // The line is (base + t·line) / square.
    let (da, db) = (dot(n, a[0]), dot(m, b[0]));
    let base = cross([0, 1, 2].map(|i| da * m[i] - db * n[i]), line);
    let far = Ratio(1 << 50, 1);
    let mut clip = Clip { low: Ratio(-far.0, 1), high: far, empty: false };
    for (t, n) in [(a, n), (b, m)] {
        for i in 0..3 {
            let inward = cross(n, sub(t[(i + 1) % 3], t[i]));
            let constant = dot(inward, sub(base, t[i].map(|x| x * square)));
            let slope = dot(inward, line);
            clip.empty |= slope == 0 && constant == 0;
            clip.at_least_zero(constant, slope);
        }
    }
    // Open constraints: the interval must have a length.
    if !clip.empty && clip.low.below(clip.high) { TriangleRelation::Cross } else { TriangleRelation::Touch }
}

/// Whether coplanar triangles share an area: the corners of the common polygon are not on one line.
fn coplanar_area(a: &Corners, b: &Corners, n: Point) -> bool {
    let axis = (0..3).max_by_key(|&i| n[i].abs()).unwrap();
    let flat = |p: Point| [p[(axis + 1) % 3], p[(axis + 2) % 3]];
    let turn = |p: [i128; 2], q: [i128; 2], r: [i128; 2]| {
        (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
    };
    let (a, b) = (a.map(flat), b.map(flat));
    let mut corners: Vec<[i128; 3]> = Vec::new();
    for (s, t) in [(a, b), (b, a)] {
        let sign = turn(t[0], t[1], t[2]).signum();
        let held = |p: &[i128; 2]| (0..3).all(|i| turn(t[i], t[(i + 1) % 3], *p) * sign >= 0);
        corners.extend(s.iter().filter(|p| held(p)).map(|p| [p[0], p[1], 1]));
    }
    for i in 0..3 {
        for j in 0..3 {
            let (p, q, r, s) = (a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]);
            let (u, v) = (turn(r, s, p), turn(r, s, q));
            if u.signum() * v.signum() < 0 && turn(p, q, r).signum() * turn(p, q, s).signum() < 0 {
                let w = u - v;
                corners.push([u * q[0] - v * p[0], u * q[1] - v * p[1], w].map(|x| x * w.signum()));
            }
        }
    }
    let triple = |p: Point, q: Point, r: Point| dot(p, cross(q, r)) != 0;
    (2..corners.len()).any(|k| (1..k).any(|j| (0..j).any(|i| triple(corners[i], corners[j], corners[k]))))
}

fn point(rng: &mut Pcg64, reach: i128) -> Point {
    std::array::from_fn(|_| rng.random_range(-reach..=reach))
}

/// Random corners of which many are flat, shared, collinear or equal.
fn pair(rng: &mut Pcg64) -> [Corners; 2] {
    let reach = [1, 2, 3, 6, 20][rng.random_range(0..5)];
    let mut a: Corners = std::array::from_fn(|_| point(rng, reach));
    let mut b: Corners = std::array::from_fn(|_| point(rng, reach));
    match rng.random_range(0..8) {
        // All in one plane: in a coordinate plane or a slanting one.
        0 => {
            let slant = [rng.random_range(-1..=1), rng.random_range(-1..=1)];
            let axis = rng.random_range(0..3);
            for p in a.iter_mut().chain(&mut b) {
                p[axis] = slant[0] * p[(axis + 1) % 3] + slant[1] * p[(axis + 2) % 3];
            }
        }
        1 => a[0] = b[rng.random_range(0..3)],
        2 => (a[0], a[1]) = (b[1], b[rng.random_range(0..3)]),
        3 => a[2] = [0, 1, 2].map(|i| 2 * a[1][i] - a[0][i]),
        4 => {
            b[2] = b[rng.random_range(0..2)];
            if rng.random_bool(0.5) {
                a[1] = a[0];
            }
        }
        // Everything on one line or in a thin slab.
        5 => {
            let along = point(rng, 1);
            for p in a.iter_mut().chain(&mut b) {
                let step = p[0];
                *p = along.map(|x| x * step);
            }
        }
        _ => {}
    }
    [a, b]
}

fn doubles(t: &Corners) -> [DVec3; 3] {
    t.map(|p| DVec3::from_array(p.map(|x| x as f64)))
}

fn compare(seed: u64, cases: usize) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut seen = [0_usize; 4];
    for case in 0..cases {
        let [a, b] = pair(&mut rng);
        let truth = if twin_meets(&a, &b) { twin_kind(&a, &b) } else { TriangleRelation::Apart };
        seen[truth as usize] += 1;
        let (a, b) = (doubles(&a), doubles(&b));
        let (i, j) = (case % 3, case / 3 % 3);
        let turned = [a[i], a[(i + 1) % 3], a[(i + 2) % 3]];
        let mirrored = [b[j], b[(j + 2) % 3], b[(j + 1) % 3]];
        assert_eq!(classify(&a, &b), truth, "{a:?} {b:?}");
        assert_eq!(classify(&mirrored, &turned), truth, "{a:?} {b:?}");
        assert_eq!(meet(&turned, &mirrored), truth != TriangleRelation::Apart, "{a:?} {b:?}");
        assert_eq!(meet(&b, &a), truth != TriangleRelation::Apart, "{a:?} {b:?}");
    }
    let [apart, touch, cross, coplanar] = seen.map(|n| n as f64 / cases as f64);
    assert!((0.2..0.8).contains(&apart), "apart {apart}");
    assert!(touch > 0.1 && cross > 0.02 && coplanar > 0.01, "{touch} {cross} {coplanar}");
}

#[test]
fn two_hundred_thousand_pairs() {
    compare(1, 200_000);
}

#[test]
#[ignore = "ten million pairs; run in release"]
fn ten_million_pairs() {
    for seed in 100..110 {
        compare(seed, 1_000_000);
    }
}

#[test]
fn one_ulp_decides() {
    let floor = [DVec3::ZERO, DVec3::new(4.0, 0.0, 0.0), DVec3::new(0.0, 4.0, 0.0)];
    for scale in [1e60, 1.0, 1e-300] {
        let floor = floor.map(|p| p * scale);
        let above = |z: f64| [DVec3::new(scale, scale, z), floor[1] + DVec3::Z, floor[2] + DVec3::Z];
        assert_eq!(classify(&floor, &above(0.0)), TriangleRelation::Touch);
        assert_eq!(classify(&floor, &above(5e-324)), TriangleRelation::Apart);
        assert_eq!(classify(&floor, &above(-5e-324)), TriangleRelation::Cross);
    }
}

#[test]
fn common_segments_lie_on_both_triangles() {
    let mut rng = Pcg64::seed_from_u64(3);
    let mut found = 0;
    for _ in 0..20_000 {
        let [a, b] = [(); 2].map(|()| {
            let corner =
                |rng: &mut Pcg64| DVec3::from_array(std::array::from_fn(|_| rng.random_range(-1.0..1.0)));
            [corner(&mut rng), corner(&mut rng), corner(&mut rng)]
        });
        let Some(ends) = segment(&a, &b) else {
            assert!(!meet(&a, &b));
            continue;
        };
        found += 1;
        for t in [&a, &b] {
            let n = (t[1] - t[0]).cross(t[2] - t[0]);
            for p in ends.iter().copied().chain([ends[0].midpoint(ends[1])]) {
                assert!(n.normalize().dot(p - t[0]).abs() < 1e-9);
                let inside = |i: usize| n.cross(t[(i + 1) % 3] - t[i]).dot(p - t[i]) > -1e-7 * n.length();
                assert!((0..3).all(inside), "{a:?} {b:?} {ends:?}");
            }
        }
        // Both ends are at a border: a longer segment would leave one of the triangles.
        let border = |p: DVec3| {
            [&a, &b].iter().any(|t| {
                (0..3).any(|i| {
                    let (q, r) = (t[i], t[(i + 1) % 3]);
                    let s = ((p - q).dot(r - q) / (r - q).length_squared()).clamp(0.0, 1.0);
                    (q + (r - q) * s).distance(p) < 1e-7
                })
            })
        };
        assert!(border(ends[0]) && border(ends[1]));
    }
    assert!((2_000..18_000).contains(&found), "{found}");
}

#[test]
fn overlaps_of_coplanar_triangles_have_the_right_area() {
    let lift = |p: [f64; 2]| DVec3::new(p[0], p[1], p[0] + 2.0 * p[1]);
    let a = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]].map(lift);
    let b = [[1.0, 1.0], [-3.0, 1.0], [1.0, -3.0]].map(lift);
    let polygon = overlap_polygon(&a, &b);
    let area = (1..polygon.len() - 1)
        .map(|i| (polygon[i] - polygon[0]).cross(polygon[i + 1] - polygon[0]).length() / 2.0)
        .sum::<f64>();
    // The unit square, seen on a plane that stretches areas by √6.
    assert!((area - 6.0_f64.sqrt()).abs() < 1e-12, "{area}");
    assert!(overlap_polygon(&a, &b.map(|p| p - lift([1.0, 1.0]))).is_empty());
}

#[test]
fn shared_corners_and_edges() {
    let a = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]].map(DVec3::from);
    let fan = |p: [f64; 3], q: [f64; 3]| [DVec3::ZERO, p.into(), q.into()];
    assert!(!meet_sharing_corner(&a, &fan([1.0, 1.0, 1.0], [2.0, 1.0, 1.0]), 0, 0));
    assert!(meet_sharing_corner(&a, &fan([1.0, 1.0, 1.0], [1.0, 1.0, -1.0]), 0, 0));
    assert!(meet_sharing_corner(&a, &fan([9.0, 9.0, 9.0], [9.0, 9.0, -9.0]), 0, 0));
    assert!(meet_sharing_corner(&a, &fan([1.0, 1.0, 0.0], [9.0, 9.0, 3.0]), 0, 0));
    assert!(!meet_sharing_corner(&a, &fan([-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]), 0, 0));
    assert!(meet_sharing_corner(&a, &fan([-1.0, 1.0, 0.0], [9.0, 9.0, 0.0]), 0, 0));
    assert!(folded_over_edge(a[0], a[1], a[2], DVec3::new(1.0, 0.1, 0.0)));
    assert!(!folded_over_edge(a[0], a[1], a[2], DVec3::new(1.0, -0.1, 0.0)));
    assert!(!folded_over_edge(a[0], a[1], a[2], DVec3::new(1.0, 0.1, 5e-324)));
}

/// A shared corner counts exactly when the rest of the cone meets too; the twin moves the far edges.
#[test]
fn a_corner_meets_elsewhere_as_the_twin_says() {
    let mut rng = Pcg64::seed_from_u64(5);
    let (mut hits, mut cases) = (0, 0);
    while cases < 20_000 {
        let [mut a, b]: [Corners; 2] = [(); 2].map(|()| std::array::from_fn(|_| point(&mut rng, 3)));
        a[0] = b[1];
        if normal(&a) == [0; 3] || normal(&b) == [0; 3] {
            continue;
        }
        cases += 1;
        let truth = edge_meets(a[1], a[2], &constraints(&b)) || edge_meets(b[2], b[0], &constraints(&a));
        assert_eq!(meet_sharing_corner(&doubles(&a), &doubles(&b), 0, 1), truth);
        hits += usize::from(truth);
    }
    assert!((cases / 10..cases * 9 / 10).contains(&hits), "{hits}");
}

/// The bug reports of other projects, in all 36 orders of corners and both orders of triangles.
#[test]
fn regressions_of_other_projects() {
    let Some(path) = shared("data/regressions/triangle_triangle.json") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(cases.len(), 35);
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    for case in cases {
        let read = |name: &str| -> [DVec3; 3] {
            std::array::from_fn(|i| {
                DVec3::from_array(std::array::from_fn(|k| case[name][i][k].as_f64().unwrap()))
            })
        };
        let (a, b) = (read("t1"), read("t2"));
        let truth = case["truth"]["intersect_or_touch"].as_bool().unwrap();
        for p in ORDERS {
            for q in ORDERS {
                let (a, b) = (p.map(|i| a[i]), q.map(|i| b[i]));
                assert_eq!(meet(&a, &b), truth, "{}", case["id"]);
                assert_eq!(meet(&b, &a), truth, "{}", case["id"]);
                assert_eq!(classify(&a, &b) != TriangleRelation::Apart, truth, "{}", case["id"]);
            }
        }
    }
}
