//! The relation of tetrahedra on an integer grid against the separating-axis theorem in integers: convex
//! bodies are apart exactly when a face normal or a product of two edges parts them.

use std::collections::BTreeMap;

use impinge::model::Model;
use impinge::narrow::exact::relation::relation;
use impinge::{Mesh, Pose, Relation};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

type Point = [i64; 3];

const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: Point, b: Point) -> i64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn volume(t: &[Point; 4]) -> i64 {
    dot(cross(sub(t[1], t[0]), sub(t[2], t[0])), sub(t[3], t[0]))
}

fn random(rng: &mut Pcg64, reach: i64) -> [Point; 4] {
    loop {
        // Even coordinates, so that edges have whole midpoints.
        let t: [Point; 4] = std::array::from_fn(|_| std::array::from_fn(|_| 2 * rng.random_range(0..=reach)));
        if volume(&t) != 0 {
            return t;
        }
    }
}

fn edges(t: &[Point; 4]) -> Vec<Point> {
    (0..4).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| sub(t[i], t[j])).collect()
}

fn axes(a: &[Point; 4], b: &[Point; 4]) -> Vec<Point> {
    let faces =
        [a, b].into_iter().flat_map(|t| FACES.map(|[i, j, k]| cross(sub(t[j], t[i]), sub(t[k], t[i]))));
    let products = edges(a).into_iter().flat_map(|e| edges(b).into_iter().map(move |f| cross(e, f)));
    faces.chain(products).filter(|n| *n != [0; 3]).collect()
}

/// The closed tetrahedron holds the point.
fn holds(t: &[Point; 4], p: Point) -> bool {
    let turn = volume(t).signum();
    (0..4).all(|i| {
        let mut part = *t;
        part[i] = p;
        volume(&part) * turn >= 0
    })
}

fn oracle(a: &[Point; 4], b: &[Point; 4]) -> Relation {
    match (a.iter().all(|&p| holds(b, p)), b.iter().all(|&p| holds(a, p))) {
        (true, true) => return Relation::Intersecting,
        (true, false) => return Relation::AInsideB,
        (false, true) => return Relation::BInsideA,
        _ => {}
    }
    let mut relation = Relation::Intersecting;
    for n in axes(a, b) {
        let range = |t: &[Point; 4]| {
            let heights = t.map(|p| dot(n, p));
            (heights.iter().copied().min().unwrap(), heights.iter().copied().max().unwrap())
        };
        let ((low_a, high_a), (low_b, high_b)) = (range(a), range(b));
        if high_a < low_b || high_b < low_a {
            return Relation::Separated;
        }
        if high_a == low_b || high_b == low_a {
            relation = Relation::Touching;
        }
    }
    relation
}

/// The surface, outward or inverted; with `needles` an edge is split on one side only and the gap closed
/// by a triangle without area, and a collapsed triangle is added.
fn model(t: &[Point; 4], inverted: bool, needles: bool, rng: &mut Pcg64) -> Model {
    let mut points: Vec<[f64; 3]> = t.iter().map(|p| p.map(|x| x as f64)).collect();
    let mut triangles: Vec<[u32; 3]> = FACES.iter().map(|f| f.map(|v| v as u32)).collect();
    if needles {
        let face = rng.random_range(0..4);
        let [p, q, r] = triangles[face];
        let middle = points.len() as u32;
        points.push([0, 1, 2].map(|k| (points[p as usize][k] + points[q as usize][k]) / 2.0));
        triangles[face] = [p, middle, r];
        triangles.extend([[middle, q, r], [p, q, middle], [p, p, q]]);
    }
    if (volume(t) < 0) != inverted {
        triangles.iter_mut().for_each(|f| f.swap(1, 2));
    }
    Model::from(Mesh::new(points, triangles).unwrap())
}

fn compare(seed: u64, cases: usize, needles: bool) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..cases {
        let reach = rng.random_range(1..=5);
        let (mut a, mut b) = (random(&mut rng, reach), random(&mut rng, reach));
        if rng.random_bool(0.2) {
            // Nested, often with a corner or a face in common.
            let kept: usize = rng.random_range(0..4);
            a = a.map(|p| [0, 1, 2].map(|k| 2 * p[k]));
            b = a.map(|p| [0, 1, 2].map(|k| (p[k] + a[kept][k]) / 2));
            if volume(&b) == 0 {
                continue;
            }
            if rng.random_bool(0.5) {
                std::mem::swap(&mut a, &mut b);
            }
        }
        let want = oracle(&a, &b);
        let x = model(&a, rng.random_bool(0.5), needles, &mut rng);
        let y = model(&b, rng.random_bool(0.5), needles && rng.random_bool(0.5), &mut rng);
        assert!(x.topology().is_closed() && y.topology().is_closed());
        let id = Pose::IDENTITY;
        assert_eq!(relation(&x, &id, &y, &id), want, "{a:?} {b:?}");
        assert_eq!(relation(&y, &id, &x, &id), want.swapped(), "{a:?} {b:?}");
        let step = Pose::from_translation([1024.0, -3.0, 77.0]).unwrap();
        assert_eq!(relation(&x, &step, &y, &step), want, "{a:?} {b:?}");
        *seen.entry(format!("{want:?}")).or_default() += 1;
    }
    for value in ["Separated", "Touching", "Intersecting", "AInsideB", "BInsideA"] {
        let count = seen.get(value).copied().unwrap_or(0);
        assert!(count * 30 >= cases, "{value}: {count} of {cases}");
    }
}

#[test]
fn plain_tetrahedra() {
    compare(1, 3_000, false);
}

#[test]
fn tetrahedra_with_triangles_of_no_area() {
    compare(2, 1_500, true);
}

/// The same tetrahedra, scaled by powers of two to where products over- or underflow in plain doubles.
#[test]
fn at_the_ends_of_the_range() {
    let mut rng = Pcg64::seed_from_u64(3);
    let mut hits = 0;
    for case in 0..300 {
        let (a, b) = (random(&mut rng, 3), random(&mut rng, 3));
        let want = oracle(&a, &b);
        let scale = [2.0_f64.powi(-1070), 2.0_f64.powi(-400), 2.0_f64.powi(190)][case % 3];
        let [x, y] = [&a, &b].map(|t| {
            let points = t.map(|p| p.map(|x| x as f64 * scale)).to_vec();
            let faces = FACES.iter().map(|f| f.map(|v| v as u32)).collect();
            Model::from(Mesh::new(points, faces).unwrap())
        });
        let id = Pose::IDENTITY;
        assert_eq!(relation(&x, &id, &y, &id), want, "{scale} {a:?} {b:?}");
        hits += usize::from(want.is_contact());
    }
    assert!((60..290).contains(&hits), "{hits}");
}
