use glam::DVec3;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::shape::procedural;

/// Triangles of very different sizes in a box of the given size around a point.
fn soup(seed: u64, count: usize, centre: DVec3, size: f64) -> Mesh {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut point = |scale: f64| {
        DVec3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0))
            * scale
    };
    let mut points = Vec::new();
    for k in 0..count {
        let at = centre + point(size);
        let spread = size * 0.5_f64.powi(k as i32 % 12);
        points.extend([at, at + point(spread), at + point(spread)]);
    }
    let triangles = (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    Mesh::from_points(points, triangles).unwrap()
}

const STRATEGIES: [Strategy; 2] = [Strategy::SurfaceArea, Strategy::Median];

fn every_option() -> impl Iterator<Item = BuildOptions> {
    STRATEGIES
        .into_iter()
        .flat_map(|strategy| (1..=LEAF_MOST).map(move |leaf_most| BuildOptions { strategy, leaf_most }))
}

#[test]
fn trees_of_every_size_and_option_are_sound() {
    for count in [1, 2, 7, 8, 9, 16, 17, 63, 64, 65, 200, 1000] {
        let mesh = soup(count as u64, count, DVec3::ZERO, 1.0);
        for options in every_option() {
            let tree = WideTree::build_with(&mesh, &options);
            assert_eq!(tree.check(&mesh), Ok(()), "{count} triangles, {options:?}");
            let full = count.div_ceil(WIDTH * options.leaf_most);
            assert_eq!(tree.nodes().len() - tree.upper, full, "bottom nodes are full");
        }
    }
}

#[test]
fn any_size_and_place_is_sound() {
    for (centre, size) in [
        (0.0, 1e60),
        (0.0, 1e-300),
        (1e60, 1.0),
        (1e6, 1e-6),
        (0.0, f64::MIN_POSITIVE),
        (0.0, 5e-324),
        (-3.0, 0.0),
    ] {
        let mesh = soup(5, 100, DVec3::splat(centre / 2.0), size / 4.0);
        let tree = WideTree::build(&mesh);
        assert_eq!(tree.check(&mesh), Ok(()), "{centre} {size}");
        let finite = |node: &Node| node.centre.as_flattened().iter().all(|x| x.is_finite());
        assert!(tree.nodes().iter().all(finite));
    }
}

#[test]
fn equal_centres_and_flat_meshes_are_sound() {
    let corners = vec![[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]];
    let same = Mesh::new(corners, vec![[0, 1, 2]; 500]).unwrap();
    let grid: Vec<[f64; 3]> = (0..400).map(|k| [f64::from(k % 20), f64::from(k / 20), 0.0]).collect();
    let flat = Mesh::new(grid, (0..380).map(|k| [k, k + 1, k + 20]).collect()).unwrap();
    let point = Mesh::new(vec![[7.0; 3]], vec![[0, 0, 0]; 33]).unwrap();
    for mesh in [same, flat, point] {
        for options in every_option() {
            assert_eq!(WideTree::build_with(&mesh, &options).check(&mesh), Ok(()));
        }
    }
}

/// Meshes large enough to be dealt out, with centres spread well, badly and not at all.
fn large_meshes() -> Vec<Mesh> {
    let mut rng = Pcg64::seed_from_u64(31);
    let corners = vec![[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.5, 0.0]];
    let same = Mesh::new(corners, vec![[0, 1, 2]; 20_001]).unwrap();
    let mut points = vec![DVec3::ZERO; 30];
    points.extend((0..9_000).map(|k| DVec3::new(0.9_f64.powi(k % 700), rng.random_range(0.0..1e-9), 0.0)));
    let crowded =
        (0..18_000_u32).map(|k| if k % 2 == 0 { [k % 28, 1, 2] } else { [29 + k / 2, 28 + k / 2, 0] });
    let crowded = Mesh::from_points(points, crowded.collect()).unwrap();
    vec![soup(17, 33_333, DVec3::ONE, 1.0), same, crowded]
}

#[test]
fn large_trees_are_sound_full_and_shallow() {
    for mesh in large_meshes() {
        for options in every_option() {
            let tree = WideTree::build_with(&mesh, &options);
            assert_eq!(tree.check(&mesh), Ok(()), "{options:?}");
            let full = mesh.triangles().len().div_ceil(WIDTH * options.leaf_most);
            assert_eq!(tree.nodes().len() - tree.upper, full, "bottom nodes are full");
            assert!(depth(&tree, 0) < 64, "{}", depth(&tree, 0));
        }
    }
}

/// The areas of the bottom nodes when every split tries every border on every axis, all of them sorted.
fn swept_area(boxes: &mut [Bounds]) -> f64 {
    let area = |boxes: &[Bounds]| boxes.iter().copied().fold(Bounds::EMPTY, Bounds::union).half_area();
    if boxes.len() <= WIDTH {
        return f64::from(area(boxes));
    }
    let sort = |boxes: &mut [Bounds], axis: usize| {
        boxes.sort_by(|a, b| (a.low[axis] + a.high[axis]).total_cmp(&(b.low[axis] + b.high[axis])));
    };
    let mut best = (f64::INFINITY, 0, 0);
    for axis in 0..3 {
        sort(boxes, axis);
        let mut grown = Bounds::EMPTY;
        let lefts: Vec<f32> = boxes.iter().map(|&b| (grown.half_area(), grown = grown.union(b)).0).collect();
        grown = Bounds::EMPTY;
        for at in (1..boxes.len()).rev() {
            grown = grown.union(boxes[at]);
            let cost =
                f64::from(lefts[at]) * at as f64 + f64::from(grown.half_area()) * (boxes.len() - at) as f64;
            if at % WIDTH == 0 && cost < best.0 {
                best = (cost, axis, at);
            }
        }
    }
    sort(boxes, best.1);
    let (left, right) = boxes.split_at_mut(best.2);
    swept_area(left) + swept_area(right)
}

#[test]
fn bottom_nodes_are_about_as_small_as_an_exhaustive_sweep_makes_them() {
    for mesh in [procedural::torus(1.0, 0.3, 200, 50).unwrap(), procedural::blob(0.5, 0.3, 4, 7).unwrap()] {
        let tree = WideTree::build(&mesh);
        let bottom = &tree.nodes()[tree.upper..];
        let area: f64 = bottom.iter().map(|node| f64::from(node.bounds().half_area())).sum();
        let count = mesh.triangles().len() as u32;
        let mut boxes: Vec<Bounds> = (0..count).map(|t| triangle_bounds(&mesh, t, tree.frame())).collect();
        let swept = swept_area(&mut boxes);
        assert!(area < 1.05 * swept, "{count} triangles: {area} against {swept}");
    }
}

fn depth(tree: &WideTree, node: usize) -> usize {
    let below = tree.nodes()[node].child.iter().filter_map(|c| c.as_node());
    1 + below.map(|child| depth(tree, child)).max().unwrap_or(0)
}

#[test]
fn powers_that_shrink_forever_do_not_make_a_deep_tree() {
    // Each triangle half as far out as the last: binning alone would take off one or two at a time.
    let points: Vec<[f64; 3]> = (0..3000).map(|k| [0.7_f64.powi(k % 900), f64::from(k), 0.0]).collect();
    let mesh = Mesh::new(points, (0..2998).map(|k| [k, k + 1, k + 2]).collect()).unwrap();
    let tree = WideTree::build(&mesh);
    assert_eq!(tree.check(&mesh), Ok(()));
    assert!(depth(&tree, 0) < 64, "{}", depth(&tree, 0));
}

#[cfg(feature = "parallel")]
#[test]
fn threads_change_nothing() {
    let mesh = soup(9, 70_000, DVec3::ONE, 3.0);
    let build = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| WideTree::build(&mesh))
    };
    let one = build(1);
    assert!(one == build(2) && one == build(5));
}

#[test]
fn memory_stays_below_sixty_bytes_a_triangle() {
    let mesh = soup(3, 20_000, DVec3::ZERO, 1.0);
    let tree = WideTree::build(&mesh);
    assert!(tree.memory() < 45 * 20_000, "{}", tree.memory());
}

/// The same mesh with every vertex moved by up to `by`, if `moves` says so.
fn shaken(mesh: &Mesh, seed: u64, by: f64, moves: impl Fn(u32) -> bool) -> Mesh {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut points = mesh.vertices().to_vec();
    for (t, corners) in mesh.triangles().iter().enumerate() {
        let shift =
            DVec3::new(rng.random_range(-by..by), rng.random_range(-by..by), rng.random_range(-by..by));
        if moves(t as u32) {
            for &v in corners {
                points[v as usize] += shift;
            }
        }
    }
    Mesh::from_points(points, mesh.triangles().to_vec()).unwrap()
}

#[test]
fn refit_keeps_the_grouping_and_reports_decay() {
    let mesh = soup(21, 3000, DVec3::ZERO, 1.0);
    for options in every_option() {
        let built = WideTree::build_with(&mesh, &options);
        let mut tree = built.clone();
        assert_eq!(tree.refit(&mesh), Update { boxes: tree.boxes(), rebuilt: false });
        assert!((tree.quality() - 1.0).abs() < 1e-3);
        let moved = shaken(&mesh, 1, 0.8, |_| true);
        assert!(!tree.refit(&moved).rebuilt);
        assert_eq!(tree.check(&moved), Ok(()));
        assert_eq!(tree.order(), built.order());
        assert!(tree.quality() > 1.1, "{}", tree.quality());
        let update = tree.refit_or_rebuild(&moved, Decay { most: 1.05 });
        assert!(update.rebuilt && tree.quality() == 1.0);
        assert_eq!(tree.check(&moved), Ok(()));
    }
}

#[test]
fn local_refit_touches_only_what_moved() {
    let mesh = soup(22, 4000, DVec3::ZERO, 1.0);
    let mut tree = WideTree::build(&mesh);
    let links = tree.links();
    let list: Vec<u32> = (0..4000).filter(|t| t % 500 == 3).collect();
    let moved = shaken(&mesh, 2, 0.2, |t| t % 500 == 3);
    assert!(tree.check(&moved).is_err(), "the move must matter");
    let update = tree.refit_moved(&moved, &links, &list);
    assert_eq!(tree.check(&moved), Ok(()));
    assert!(update.boxes < tree.boxes() / 20, "{} of {}", update.boxes, tree.boxes());
    let far = shaken(&mesh, 2, 1e9, |t| t % 500 == 3);
    tree.refit_moved(&far, &links, &list);
    assert_eq!(tree.check(&far), Ok(()));
}

#[test]
fn another_mesh_is_built_anew() {
    let mut tree = WideTree::build(&soup(1, 100, DVec3::ZERO, 1.0));
    let other = soup(2, 150, DVec3::ZERO, 1.0);
    assert!(tree.refit(&other).rebuilt);
    assert_eq!(tree.check(&other), Ok(()));
}
