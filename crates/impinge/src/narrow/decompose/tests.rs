//! Covering, standing out and exactness, on bodies with known parts and against sampled points.

use glam::DVec3;

use super::hollow::TopSearch;
use super::solids::Outward;
use super::*;
use crate::model::Geometry;
use crate::narrow::exact::signed_distance::signed_distances;
use crate::num::random;
use crate::shape::{Outline, procedural};
use crate::{Pose, Relation, relation};

fn model(mesh: Result<Mesh, Error>) -> Arc<Model> {
    made(mesh.unwrap())
}

fn made(mesh: Mesh) -> Arc<Model> {
    Arc::new(Model::from(mesh))
}

/// The outlines of an L and of a U, anticlockwise, and triangles that fill them.
const CORNER: [[f64; 2]; 6] = [[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
const CORNER_FILL: [[u32; 3]; 4] = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]];
const TROUGH: [[f64; 2]; 8] =
    [[0.0, 0.0], [5.0, 0.0], [5.0, 3.0], [4.0, 3.0], [4.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
const TROUGH_FILL: [[u32; 3]; 6] = [[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 7], [5, 6, 7]];

fn prism(outline: &[[f64; 2]], fill: &[[u32; 3]], height: f64) -> Mesh {
    let n = outline.len() as u32;
    let at = |z: f64| outline.iter().map(move |&[x, y]| [x, y, z]);
    let vertices: Vec<[f64; 3]> = at(0.0).chain(at(height)).collect();
    let mut triangles = Vec::new();
    for k in 0..n {
        let next = (k + 1) % n;
        triangles.extend([[k, next, n + next], [k, n + next, n + k]]);
    }
    for &[a, b, c] in fill {
        triangles.extend([[a, c, b], [n + a, n + b, n + c]]);
    }
    Mesh::new(vertices, triangles).unwrap()
}

fn inside(part: &Polytope, p: DVec3, slack: f64) -> bool {
    part.faces().iter().all(|face| face.normal.dot(p - face.corner) <= slack)
}

/// Points of the solid lie in a part; points of parts are no farther from the solid than is stated.
fn check_by_points(model: &Model, found: &Decomposition<Polytope>, count: u64) {
    let corners = model.mesh().vertices();
    let low = corners.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = corners.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let slack = 1e-9 * low.distance(high);
    let point = |k: u64| {
        let along = [0, 1, 2].map(|axis| random::unit(7, 3 * k + axis));
        low + (high - low) * DVec3::from(along)
    };
    let points: Vec<DVec3> = (0..count).map(point).collect();
    let distances = signed_distances(model, &Pose::IDENTITY, &points);
    let (mut in_solid, mut in_parts) = (0, 0);
    for (&p, known) in points.iter().zip(&distances) {
        let covered = found.parts.iter().any(|part| inside(part, p, slack));
        if known.distance < 0.0 {
            in_solid += 1;
            assert!(covered, "{p} is in the solid but in no part");
        }
        if covered {
            in_parts += 1;
            let out = known.distance.max(0.0);
            assert!(out <= found.deviation + slack, "{p} stands out by {out}, stated {}", found.deviation);
        }
    }
    assert!(in_solid > count / 50, "only {in_solid} of {count} points are in the solid");
    assert!(in_parts >= in_solid);
}

#[test]
fn the_two_sides_of_a_cut_are_the_whole() {
    for mesh in [
        prism(&CORNER, &CORNER_FILL, 1.0),
        procedural::torus(1.0, 0.3, 16, 8).unwrap(),
        procedural::gear(0.3, 0.8, 1.0, 0.4, 7).unwrap(),
    ] {
        let whole = Piece::whole(&mesh, (0..mesh.triangles().len() as u32).collect());
        let mut pieces = vec![whole];
        let volume = pieces[0].volume(DVec3::ZERO);
        // Along faces, across corners, and anywhere.
        for k in 0..12_u32 {
            let [a, b, c] = mesh.corners((k * 37) % mesh.triangles().len() as u32);
            let along = [0, 1, 2].map(|axis| random::unit(3, 3 * u64::from(k) + axis) - 0.5);
            let normal = match k % 3 {
                0 => (b - a).cross(c - a).normalize(),
                1 => DVec3::AXES[k as usize / 3 % 3],
                _ => DVec3::from(along).normalize(),
            };
            let plane = piece::Plane { normal, offset: normal.dot(a), slack: 1e-12 };
            let sides = pieces.iter().flat_map(|piece| [piece.below(&plane), piece.below(&plane.turned())]);
            pieces = sides.filter(|piece| !piece.points().is_empty()).collect();
            let volumes: Vec<f64> = pieces.iter().map(|piece| piece.volume(DVec3::ZERO)).collect();
            assert!(volumes.iter().all(|&v| v > -1e-12), "cut {k}: {volumes:?}");
            assert!((volumes.iter().sum::<f64>() - volume).abs() < 1e-12, "cut {k}: {volumes:?} of {volume}");
        }
        assert!(pieces.len() > 20, "{}", pieces.len());
    }
}

fn exact_parts(model: &Arc<Model>, parts: usize) {
    let found = decompose(model, &DecomposeOptions::DEFAULT).unwrap();
    assert_eq!(found.certainty, Certainty::Exact, "excess {} of {}", found.excess, found.volume);
    assert_eq!(found.parts.len(), parts);
    let sum: f64 = found.parts.iter().map(|part| part.volume()).sum();
    assert!((sum - found.volume).abs() < 1e-9 * found.volume, "{sum} against {}", found.volume);
    check_by_points(model, &found, 2000);
}

#[test]
fn convex_bodies_stay_whole() {
    exact_parts(&model(procedural::cuboid([1.0, 2.0, 3.0], [3, 2, 1])), 1);
    exact_parts(&model(procedural::ico_sphere(1.0, 2)), 1);
}

#[test]
fn notched_bodies_fall_into_their_parts() {
    exact_parts(&made(prism(&CORNER, &CORNER_FILL, 1.0)), 2);
    exact_parts(&made(prism(&TROUGH, &TROUGH_FILL, 2.0)), 3);
    exact_parts(&model(procedural::stairs(5, 1.0, 2.0, 1.0)), 5);
}

/// A ring with flat faces, as far round the hole as outside.
fn flat_ring(sides: u32) -> Mesh {
    let at = |radius: f64, k: u32, z: f64| {
        let angle = std::f64::consts::TAU * f64::from(k) / f64::from(sides);
        [radius * angle.cos(), radius * angle.sin(), z]
    };
    let rows = [(1.0, -0.5), (2.0, -0.5), (2.0, 0.5), (1.0, 0.5)];
    let vertices = rows.iter().flat_map(|&(radius, z)| (0..sides).map(move |k| at(radius, k, z))).collect();
    let mut triangles = Vec::new();
    for row in 0..4 {
        for k in 0..sides {
            let [a, b] = [row * sides, (row + 1) % 4 * sides];
            let [p, q, r, s] = [a + k, a + (k + 1) % sides, b + (k + 1) % sides, b + k];
            triangles.extend([[p, q, r], [p, r, s]]);
        }
    }
    Mesh::new(vertices, triangles).unwrap()
}

/// Cuts along the faces of a hole leave corners that do not hang together; more parts allowed is no worse an answer.
#[test]
fn rings_are_exact_however_many_parts_are_allowed() {
    for sides in 6..=32 {
        let ring = made(flat_ring(sides));
        let mut allowed = [1, 2, 4].map(|k| k * sides as usize + 2).to_vec();
        allowed.extend([36, 48, 64, 200]);
        allowed.sort_unstable();
        allowed.dedup();
        let mut is_exact = false;
        for most_parts in allowed {
            let options = DecomposeOptions { most_parts, ..DecomposeOptions::DEFAULT };
            let found = decompose(&ring, &options).unwrap();
            let told = (sides, most_parts, found.parts.len(), found.excess, found.ended);
            assert!(found.certainty == Certainty::Exact || !is_exact && most_parts < 64, "{told:?}");
            is_exact |= found.certainty == Certainty::Exact;
        }
    }
    let ring = made(flat_ring(16));
    check_by_points(&ring, &decompose(&ring, &DecomposeOptions::DEFAULT).unwrap(), 2000);
}

#[test]
fn a_piece_falls_apart_where_nothing_holds_it_together() {
    let cube = procedural::cuboid([1.0; 3], [1; 3]).unwrap();
    let of = |mesh: &Mesh| Piece::whole(mesh, (0..mesh.triangles().len() as u32).collect());
    assert!(of(&cube).fall_apart().is_none());
    let four = [0.0, 5.0, 10.0, 15.0].map(|x| shifted(&cube, DVec3::X * x));
    let all = of(&procedural::join(&four).unwrap());
    let halves = all.fall_apart().unwrap();
    for (half, x) in halves.iter().zip([0.0, 10.0]) {
        let ends = [half.points()[0].x, half.points()[15].x];
        assert_eq!((ends, half.points().len(), half.triangles().len()), ([x - 1.0, x + 6.0], 16, 24));
        assert!((half.volume(DVec3::ZERO) - 16.0).abs() < 1e-12);
        let parts = half.fall_apart().unwrap();
        assert!(parts.iter().all(|part| part.fall_apart().is_none() && part.excess().unwrap().abs() < 1e-12));
    }
    // A slice of a ring: the wall of the hole has no point in common with the other one.
    let whole = of(&flat_ring(8));
    let level = |normal: DVec3| piece::Plane { normal, offset: 0.25, slack: 1e-12 };
    let slice = whole.below(&level(DVec3::Z)).below(&level(DVec3::NEG_Z));
    assert!((slice.volume(DVec3::ZERO) - 0.5 * whole.volume(DVec3::ZERO)).abs() < 1e-12);
    assert!(slice.fall_apart().is_none());
}

#[test]
fn a_turned_notch_at_any_scale() {
    let turn = Pose::new([5.0, -7.0, 2.0], [0.1, 0.7, -0.3, 0.6]).unwrap();
    for scale in [1e-6, 1.0, 1e6] {
        let mesh = prism(&CORNER, &CORNER_FILL, 1.0);
        let vertices = mesh.vertices().iter().map(|&p| turn.apply(p) * scale).collect();
        let turned = Mesh::from_points(vertices, mesh.triangles().to_vec()).unwrap();
        exact_parts(&made(turned), 2);
    }
}

#[test]
fn a_hand_is_its_bones() {
    let hand = procedural::hand(1.0, 8).unwrap();
    let bones = hand.len();
    exact_parts(&model(procedural::join(hand.iter().map(|part| &part.mesh))), bones);
}

#[test]
fn a_box_with_a_cavity_is_no_full_box() {
    let outer = procedural::cuboid([2.0; 3], [1; 3]).unwrap();
    let inner = procedural::cuboid([1.0; 3], [1; 3]).unwrap();
    let turned = inner.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
    let inner = Mesh::from_points(inner.vertices().to_vec(), turned).unwrap();
    exact_parts(&model(procedural::join([&outer, &inner])), 6);
}

#[test]
fn a_gear_is_found_tooth_by_tooth() {
    let gear = model(procedural::gear(0.3, 0.8, 1.0, 0.4, 7));
    let found = decompose(&gear, &DecomposeOptions::DEFAULT).unwrap();
    assert_eq!(found.certainty, Certainty::Exact, "excess {} of {}", found.excess, found.volume);
    assert!((14..=56).contains(&found.parts.len()), "{}", found.parts.len());
    check_by_points(&gear, &found, 2000);
}

#[test]
fn a_small_pit_is_not_overlooked() {
    // A box with a slot of 1e-12 of its volume across the top.
    let slot = 1e-6;
    let outline = [
        [0.0, 0.0],
        [1.0, 0.0],
        [1.0, 1.0],
        [0.5 + slot, 1.0],
        [0.5 + slot, 1.0 - slot],
        [0.5, 1.0 - slot],
        [0.5, 1.0],
        [0.0, 1.0],
    ];
    let fill = [[1, 2, 4], [2, 3, 4], [0, 1, 4], [0, 4, 5], [0, 5, 7], [5, 6, 7]];
    exact_parts(&made(prism(&outline, &fill, 1.0)), 3);
    let coarse = DecomposeOptions { most_parts: 1, tolerance: 0.0 };
    let found = decompose(&made(prism(&outline, &fill, 1.0)), &coarse).unwrap();
    assert!(found.certainty != Certainty::Exact && found.deviation >= slot / 2.0);
}

#[test]
fn orientation_does_not_matter() {
    let mesh = procedural::stairs(3, 1.0, 2.0, 1.0).unwrap();
    let turned = mesh.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
    exact_parts(&made(Mesh::from_points(mesh.vertices().to_vec(), turned).unwrap()), 3);
}

#[test]
fn a_ring_is_covered_within_the_stated_length() {
    let ring = model(procedural::torus(1.0, 0.3, 24, 8));
    let mut last = f64::INFINITY;
    for most_parts in [1, 4, 16] {
        let options = DecomposeOptions { most_parts, ..DecomposeOptions::DEFAULT };
        let found = decompose(&ring, &options).unwrap();
        assert!(found.parts.len() <= most_parts);
        assert!(
            matches!(found.certainty, Certainty::Conservative { tolerance } if tolerance == found.deviation)
        );
        assert!(found.deviation < last && found.excess > 0.0, "{most_parts}: {}", found.deviation);
        last = found.deviation;
        check_by_points(&ring, &found, 2000);
    }
    // The middle of the lid over the hole is √1.09 from the ring's core, which is 0.3 thick.
    let whole = decompose(&ring, &DecomposeOptions { most_parts: 1, tolerance: 0.0 }).unwrap();
    assert!((0.73..0.77).contains(&whole.deviation), "{}", whole.deviation);
}

#[test]
fn parts_meet_where_the_solid_meets() {
    let stairs = model(procedural::stairs(4, 1.0, 2.0, 1.0));
    let found = decompose(&stairs, &DecomposeOptions::DEFAULT).unwrap();
    let parts: Vec<Shape> = found.parts.iter().map(|part| Shape::from(part.mesh().unwrap())).collect();
    let stairs = Shape::from(Geometry::Mesh(stairs));
    let probe = Shape::from(procedural::cuboid([0.3; 3], [1; 3]).unwrap());
    let mut hits = 0;
    for k in 0..200 {
        let at = [0, 1, 2].map(|axis| -1.0 + 6.0 * random::unit(11, 3 * k + axis));
        let pose = Pose::shift(at);
        let whole = relation(&stairs, probe.at(pose)) != Relation::Separated;
        let any = parts.iter().any(|part| relation(part, probe.at(pose)).is_contact());
        assert_eq!(whole, any, "at {at:?}");
        hits += u32::from(whole);
    }
    assert!((20..180).contains(&hits), "{hits}");
}

#[test]
fn what_has_no_inside_is_refused() {
    let sheet = model(procedural::sheet([1.0, 1.0], [2, 2]));
    assert!(decompose(&sheet, &DecomposeOptions::DEFAULT).is_err());
    let flat =
        Mesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2], [0, 2, 1]]).unwrap();
    assert!(decompose(&made(flat), &DecomposeOptions::DEFAULT).is_err());
}

#[test]
fn options_that_mean_nothing_are_refused_and_the_end_is_told() {
    let stairs = model(procedural::stairs(3, 1.0, 2.0, 1.0));
    let refusal = |options: DecomposeOptions| decompose(&stairs, &options).unwrap_err().to_string();
    assert!(refusal(DecomposeOptions { most_parts: 0, tolerance: 0.0 }).contains("most_parts"));
    for tolerance in [f64::NAN, -0.1, f64::INFINITY] {
        assert!(refusal(DecomposeOptions { most_parts: 8, tolerance }).contains("tolerance"));
    }
    let ended =
        |most_parts| decompose(&stairs, &DecomposeOptions { most_parts, tolerance: 0.0 }).unwrap().ended;
    assert_eq!([64, 2].map(ended), [DecomposeEnd::Tolerance, DecomposeEnd::MostParts]);
}

fn shifted(mesh: &Mesh, by: DVec3) -> Mesh {
    let vertices = mesh.vertices().iter().map(|&p| p + by).collect();
    Mesh::from_points(vertices, mesh.triangles().to_vec()).unwrap()
}

/// The tests that a decomposition counts.
fn tests_of(model: &Model, options: &DecomposeOptions) -> u64 {
    decompose_within(model, options, &mut Budget::UNLIMITED.clone()).unwrap().outcome.work.primitive_tests
}

#[test]
fn parts_of_different_solids_are_not_compared() {
    let one = procedural::tetrahedron(0.4).unwrap();
    let mut before = None;
    for n in [3, 6] {
        let at = |k: u32| DVec3::new(f64::from(k % n), f64::from(k / n % n), f64::from(k / n / n));
        let many: Vec<Mesh> = (0..n.pow(3)).map(|k| shifted(&one, at(k))).collect();
        let many = model(procedural::join(&many));
        let found = decompose(&many, &DecomposeOptions::DEFAULT).unwrap();
        assert_eq!((found.parts.len() as u32, found.certainty), (n.pow(3), Certainty::Exact));
        let each = tests_of(&many, &DecomposeOptions::DEFAULT).div_ceil(u64::from(n.pow(3)));
        // The same for each of eight times as many; all against all would be eight times as much.
        let before = *before.get_or_insert(each);
        assert!(each <= before + 1, "{each} tests for each solid, before {before}");
    }
}

/// The pieces of a mesh before they are put together, and what they are made with.
fn cut(mesh: &Mesh) -> (Work<'_>, Vec<Shaped>) {
    let mut spending = Spending { budget: &mut Budget::UNLIMITED.clone(), tests: 0, so_far: None };
    let uncut = uncut(mesh, extent(mesh), &DecomposeOptions::DEFAULT, &mut spending);
    let (work, mut pieces) = uncut.unwrap().unwrap();
    work.cut_all(&mut pieces, 64, &mut spending).unwrap();
    (work, pieces)
}

#[test]
fn joins_are_those_of_trying_all_pairs_again() {
    let cavity = {
        let (outer, inner) = ([1.0; 3], [0.5; 3]);
        let [outer, inner] = [outer, inner].map(|half| procedural::cuboid(half, [1; 3]).unwrap());
        let turned = inner.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
        let inner = Mesh::from_points(inner.vertices().to_vec(), turned).unwrap();
        procedural::join([&outer, &inner]).unwrap()
    };
    let gear = procedural::gear(0.3, 0.8, 1.0, 0.4, 5).unwrap();
    let stairs = procedural::stairs(4, 1.0, 2.0, 1.0).unwrap();
    let beside = shifted(&gear, DVec3::new(0.0, 9.0, 0.0));
    let several = procedural::join([&gear, &stairs, &beside]).unwrap();
    let mut joins = 0;
    for mesh in [cavity, gear, several, flat_ring(15), flat_ring(16)] {
        let (work, mut pieces) = cut(&mesh);
        let (_, mut twin) = cut(&mesh);
        let mut spending = Spending { budget: &mut Budget::UNLIMITED.clone(), tests: 0, so_far: None };
        work.join_all(&mut pieces, &mut spending).unwrap();
        // The first pair that fits, until there is none.
        loop {
            let pairs = (0..twin.len()).flat_map(|a| (a + 1..twin.len()).map(move |b| [a, b]));
            let mut of_one_solid = pairs.filter(|&[a, b]| twin[a].solid == twin[b].solid);
            let fitting = of_one_solid.find_map(|[a, b]| {
                let both = work.joined(&twin[a], &twin[b], &mut spending).unwrap()?;
                Some((a, b, both))
            });
            let Some((a, b, both)) = fitting else { break };
            twin[a] = both;
            twin.remove(b);
            joins += 1;
        }
        let corners = |pieces: &[Shaped]| pieces.iter().map(|p| p.corners.clone()).collect::<Vec<_>>();
        assert_eq!(corners(&pieces), corners(&twin));
    }
    assert!(joins >= 6, "only {joins} joins");
}

/// How many heights are asked for each triangle of a mesh over the hull of some points, and over how many triangles the
/// hull rises; every one is compared with the highest of all corners.
fn climbed(hull: &Outline, mesh: &Mesh, triangles: impl Iterator<Item = u32>) -> (usize, usize) {
    let mut search = TopSearch::new(hull);
    let (mut count, mut beyond) = (0, 0);
    for triangle in triangles {
        let face = Outward::of(mesh, triangle, false);
        let own = mesh.corners(triangle);
        let most = face.doubt(CUT_SLACK * extent(mesh), hull.reach());
        let top = hull.corners().iter().map(|&p| face.normal.dot(p - own[0])).fold(f64::MIN, f64::max);
        let found = search.rises_above(&face, own, most);
        assert_eq!(found, top > most, "triangle {triangle}: {top} against {most}");
        count += 1;
        beyond += usize::from(found);
    }
    (search.heights / count, beyond)
}

#[test]
fn what_is_inside_a_hull_is_found_by_climbing() {
    let ball = procedural::ico_sphere(1.0, 4).unwrap();
    let scrambled = |mesh: &Mesh| {
        let count = mesh.triangles().len() as u32;
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_by_key(|&k| random::bits(5, u64::from(k)));
        order
    };
    // The surface of the hull itself, in any order, also with corners of many edges and flat sides.
    let cone = procedural::cone(1.0, 1.0, 2000).unwrap();
    let block = procedural::cuboid([1.0, 2.0, 3.0], [9, 8, 7]).unwrap();
    let turn = Pose::new([5.0, -7.0, 2.0], [0.1, 0.7, -0.3, 0.6]).unwrap();
    let turned = |mesh: &Mesh| {
        let vertices = mesh.vertices().iter().map(|&p| turn.apply(p)).collect();
        Mesh::from_points(vertices, mesh.triangles().to_vec()).unwrap()
    };
    for mesh in [&ball, &cone, &block, &turned(&ball), &turned(&cone), &turned(&block)] {
        let hull = Outline::of(mesh.vertices());
        let (each, beyond) = climbed(&hull, mesh, scrambled(mesh).into_iter());
        assert!(each <= 16 && beyond == 0, "{each} heights for each triangle, {beyond} beyond");
    }
    // One around it, from whose triangles one has to climb.
    let around = procedural::ico_sphere(1.3, 3).unwrap();
    let hull = Outline::of(ball.vertices());
    let (each, beyond) = climbed(&hull, &around, scrambled(&around).into_iter());
    assert!(each <= hull.corners().len() / 10 && beyond == 0, "{each} heights, {beyond} beyond");
    // Bodies that are partly inside their hulls.
    let (mut count, mut inside) = (0, 0);
    for mesh in [
        procedural::torus(1.0, 0.3, 48, 24).unwrap(),
        procedural::blob(1.0, 0.3, 3, 3).unwrap(),
        procedural::gear(0.3, 0.8, 1.0, 0.4, 17).unwrap(),
        procedural::bowl(1.0, 0.1, 48, 16).unwrap(),
    ] {
        let hull = Outline::of(mesh.vertices());
        let (_, beyond) = climbed(&hull, &mesh, 0..mesh.triangles().len() as u32);
        count += mesh.triangles().len();
        inside += beyond;
    }
    assert!((30..=70).contains(&(100 * inside / count)), "{inside} of {count} are inside their hull");
}

#[test]
fn hollow_pieces_and_how_far_they_stand_out_are_paid_for() {
    // Two balls are no whole: every triangle is measured over the hull of its ball.
    let ball = procedural::ico_sphere(1.0, 3).unwrap();
    let corners = ball.vertices().len();
    let two = procedural::join([&ball, &shifted(&ball, DVec3::X * 3.0)]).unwrap();
    let (work, _) = cut(&two);
    let (hull, triangles): (Outline, Vec<u32>) =
        (Outline::of(ball.vertices()), (0..ball.triangles().len() as u32).collect());
    let mut paid = 0;
    let mut pay = |units: usize| {
        paid += units;
        Some(())
    };
    assert_eq!(work.is_hollow(&triangles, &hull, &mut pay), Some(false));
    assert!((triangles.len() / 2..2 * triangles.len()).contains(&paid), "{paid} units");
    assert_eq!(work.is_hollow(&triangles, &hull, |_| None), None);
    // A single cell: its corners, its hull, and all faces of that for one point.
    let solid = Model::from(ball);
    let mut paid = 0;
    let found = deviation::deviation(solid.mesh().vertices(), &solid, 10.0, 0.0, |units| {
        paid += units;
        Some(())
    });
    assert!(found.is_some() && paid > 16 * corners + triangles.len() / HEIGHTS_FOR_A_UNIT, "{paid} units");
}
