use glam::DVec3;

use super::measure::{boxes, feet};
use super::*;
use crate::geom::point_triangle::closest_point;
use crate::hierarchy::wide::WideTree;
use crate::shape::procedural;
use crate::simd::SimdLevel;
use crate::{Mesh, Pose};

/// A bent surface with flat, needle-like and pointlike triangles among its own.
fn odd() -> Mesh {
    let ball = procedural::blob(1.0, 0.4, 3, 5).unwrap();
    let flat = (0..200).map(|k| [k, k, (k * 7) % 300]).chain((0..50).map(|k| [k, k, k]));
    let triangles = ball.triangles().iter().copied().chain(flat).collect();
    Mesh::from_points(ball.vertices().to_vec(), triangles).unwrap()
}

fn meshes() -> Vec<Mesh> {
    vec![
        odd(),
        procedural::torus(1.0, 0.4, 24, 12).unwrap(),
        procedural::octahedron(1.0).unwrap(),
        Mesh::new(vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2]]).unwrap(),
    ]
}

fn patches(mesh: &Mesh) -> (WideTree, PointTree) {
    let tree = WideTree::build(mesh);
    let patches = PointTree::new(mesh, tree.frame());
    (tree, patches)
}

/// The triangles below a link.
fn below(tree: &PointTree, link: Link) -> Vec<u32> {
    if link.is_block() {
        let lanes = (0..LANES).filter(|lane| link.used() >> lane & 1 != 0);
        return lanes.map(|lane| tree.blocks[link.index()].triangles[lane]).collect();
    }
    let node = &tree.nodes[link.index()];
    let lanes = (0..LANES).filter(|&lane| node.half[0][lane] >= 0.0);
    lanes.flat_map(|lane| below(tree, Link(node.child[lane]))).collect()
}

#[test]
fn every_triangle_is_in_one_place_and_blocks_are_full() {
    for mesh in meshes() {
        let (_, tree) = patches(&mesh);
        let mut all = below(&tree, tree.root);
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..mesh.triangles().len() as u32));
        assert_eq!(tree.blocks.len(), mesh.triangles().len().div_ceil(LANES));
    }
}

#[test]
fn boxes_bound_the_distance_on_both_sides() {
    let mesh = odd();
    let (wide, tree) = patches(&mesh);
    let placed = PlacedPointTree::new(wide.frame(), &Pose::IDENTITY);
    let (mut close, mut all) = (0, 0);
    for p in procedural::positions(30, DVec3::splat(-2.0), DVec3::splat(2.0), 8) {
        let query = placed.query_point(p);
        for node in &tree.nodes {
            let gaps = boxes(node, query.point, query.slack);
            for lane in (0..LANES).filter(|&lane| node.half[0][lane] >= 0.0) {
                let distances = below(&tree, Link(node.child[lane]))
                    .into_iter()
                    .map(|t| closest_point(p, &mesh.corners(t)).distance_sq.sqrt());
                let distance = distances.fold(f64::INFINITY, f64::min);
                let nearest = f32::from_bits(gaps.nearest[lane]);
                assert!(nearest <= query.limit(distance));
                assert!(f32::from_bits(gaps.farthest[lane]) >= query.limit(distance).next_down());
                close += usize::from(nearest >= query.limit(distance * 0.9));
                all += 1;
            }
        }
    }
    assert!(all > 1000 && close * 2 > all, "{close} of {all}");
}

#[test]
fn feet_bound_the_distance_on_both_sides_and_are_mostly_close() {
    let mesh = odd();
    let (wide, tree) = patches(&mesh);
    let placed = PlacedPointTree::new(wide.frame(), &Pose::IDENTITY);
    let unit = wide.frame().unit;
    let (mut close, mut all) = (0, 0);
    // Points of the surface among them, where the foot is at the point.
    let on = mesh.vertices()[..20].iter().copied();
    for p in procedural::positions(30, DVec3::splat(-2.0), DVec3::splat(2.0), 8).into_iter().chain(on) {
        let query = placed.query_point(p);
        for block in &tree.blocks {
            let feet = feet(block, query.point);
            for lane in 0..LANES {
                let distance =
                    closest_point(p, &mesh.corners(block.triangles[lane])).distance_sq.sqrt() / unit;
                let [least, foot] =
                    [feet.least[lane], feet.square[lane]].map(|bits| f64::from(f32::from_bits(bits)).sqrt());
                assert!(least - f64::from(query.slack) <= distance);
                assert!(foot + f64::from(query.slack) >= distance);
                close += usize::from(least >= 0.999 * distance && foot <= 1.001 * distance);
                all += 1;
            }
        }
    }
    assert!(all > 10_000 && close * 10 > all * 9, "{close} of {all}");
}

#[test]
fn the_candidates_hold_the_nearest_triangle_and_few_others() {
    for mesh in meshes() {
        let (wide, tree) = patches(&mesh);
        let placed = PlacedPointTree::new(wide.frame(), &Pose::IDENTITY);
        let (mut room, mut start) = (Room::default(), None);
        let (mut kept, mut asked, mut empty) = (0, 0, 0);
        for p in procedural::positions(100, DVec3::splat(-2.0), DVec3::splat(2.0), 6) {
            let query = placed.query_point(p);
            let distance = |t: u32| closest_point(p, &mesh.corners(t)).distance_sq;
            let nearest = (0..mesh.triangles().len() as u32).map(distance).fold(f64::INFINITY, f64::min);
            let want = |room: &Room, found: &Found| {
                let candidates: Vec<u32> = room.candidates(found).collect();
                let ties = (0..mesh.triangles().len() as u32).filter(|&t| distance(t) == nearest);
                assert!(ties.clone().all(|t| candidates.contains(&t)));
                assert!(ties.count() > 0);
                candidates
            };
            // From the root, from where the last point was, and with the answer as the limit.
            let found = tree.search(SimdLevel::best(), &query, f32::MAX, None, &mut room);
            let candidates = want(&room, &found);
            (kept, asked) = (kept + candidates.len(), asked + 1);
            for level in SimdLevel::available() {
                let same = tree.search(level, &query, f32::MAX, None, &mut room);
                assert_eq!(same, found);
                assert!(room.candidates(&same).eq(candidates.iter().copied()));
            }
            let next = tree.search(SimdLevel::best(), &query, f32::MAX, start, &mut room);
            let mut again = want(&room, &next);
            again.sort_unstable();
            again.dedup();
            assert_eq!(again.len(), room.candidates(&next).count());
            start = next.block;
            let within = tree.search(SimdLevel::best(), &query, query.limit(nearest.sqrt()), None, &mut room);
            want(&room, &within);
            // Nothing is nearer than the nearest, though an ill-shaped triangle may look so.
            let short = query.limit((nearest.sqrt() * 0.99 - 1e-3 * wide.frame().unit).max(0.0));
            let none = tree.search(SimdLevel::best(), &query, short, None, &mut room);
            empty += usize::from(room.candidates(&none).next().is_none());
        }
        // The odd mesh has seven triangles in many a place.
        assert!(kept < 12 * asked && 10 * empty > 9 * asked, "{kept}, {empty} of {asked}");
    }
}

#[test]
fn a_search_among_equals_outgrows_its_first_room() {
    // From the centre every triangle of a ball is about equally far.
    let mesh = procedural::ico_sphere(1.0, 4).unwrap();
    let (wide, tree) = patches(&mesh);
    let query = PlacedPointTree::new(wide.frame(), &Pose::IDENTITY).query_point(DVec3::ZERO);
    let mut room = Room::default();
    let found = tree.search(SimdLevel::best(), &query, f32::MAX, None, &mut room);
    let distance = |t: u32| closest_point(DVec3::ZERO, &mesh.corners(t)).distance_sq;
    let nearest = (0..mesh.triangles().len() as u32).map(distance).fold(f64::INFINITY, f64::min);
    let candidates: Vec<u32> = room.candidates(&found).collect();
    assert!(candidates.iter().any(|&t| distance(t) == nearest) && candidates.len() > 10);
    assert!(found.measured > 2000, "{}", found.measured);
}
