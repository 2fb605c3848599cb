use super::*;
use crate::geom::triangle_triangle::meet;
use crate::hierarchy::leaf_block::LeafBlocks;
use crate::hierarchy::relative::Relative;
use crate::shape::procedural;
use crate::{Mesh, Pose};

/// A tree with its blocks and the triangles as placed.
struct PlacedTree {
    mesh: Mesh,
    tree: WideTree,
    blocks: LeafBlocks,
    pose: Pose,
}

impl PlacedTree {
    fn new(mesh: Mesh, pose: Pose) -> PlacedTree {
        let tree = WideTree::build(&mesh);
        let blocks = LeafBlocks::new(&mesh, &tree);
        PlacedTree { mesh, tree, blocks, pose }
    }

    fn bottoms(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.tree.nodes().len() as u32).filter(|&node| self.tree.is_bottom(node as usize))
    }

    fn corners(&self, node: u32, lane: usize) -> Option<[glam::DVec3; 3]> {
        let slots = self.tree.nodes()[node as usize].child[lane].slots();
        let triangle = *self.tree.order()[slots].first()?;
        Some(self.mesh.corners(triangle).map(|p| self.pose.apply(p)))
    }
}

/// Holds every pair of bottom nodes against the exact test; how many pairs meet, are parted, are apart
/// and surely meet.
fn counts(a: &PlacedTree, b: &PlacedTree) -> [usize; 4] {
    let relative = Relative::new(&a.tree, &a.pose, &b.tree, &b.pose, 0.0);
    let test = LeafFilter::new(&a.tree, &b.tree, &relative.a_to_b, &relative.a_in_b, 0.0);
    let mut found = [0; 4];
    for x in a.bottoms() {
        for y in b.bottoms() {
            let (few, many) = (a.blocks.of(x).unwrap(), b.blocks.of(y).unwrap());
            let kept = test.decide(SimdLevel::PORTABLE, few, many, u64::MAX);
            for level in SimdLevel::available() {
                assert_eq!(test.decide(level, few, many, u64::MAX), kept, "{level:?}");
                let part = test.decide(level, few, many, 0x0180_0001);
                assert_eq!(part.meeting, kept.meeting & 0x0180_0001, "{level:?}");
                assert_eq!(part.doubtful, kept.doubtful & 0x0180_0001, "{level:?}");
                // Up to the first pair that surely meets all is the same.
                let one = test.decide_until_one(level, few, many, u64::MAX);
                let first = kept.meeting & kept.meeting.wrapping_neg();
                let before = first.wrapping_sub(1);
                assert_eq!(
                    (one.meeting, one.doubtful & before),
                    (first, kept.doubtful & before),
                    "{level:?}"
                );
                assert_eq!(one.doubtful & !kept.doubtful, 0, "{level:?}");
            }
            for bit in 0..WIDTH * WIDTH {
                let (Some(t), Some(u)) = (a.corners(x, bit / WIDTH), b.corners(y, bit % WIDTH)) else {
                    continue;
                };
                let met = meet(&t, &u);
                let surely = kept.meeting >> bit & 1 != 0;
                let parted = !surely && kept.doubtful >> bit & 1 == 0;
                assert!(!(met && parted) && (met || !surely), "nodes {x} {y}, bit {bit}");
                found[3] += usize::from(surely);
                found[0] += usize::from(met);
                found[1] += usize::from(parted);
                found[2] += usize::from(!met);
            }
        }
    }
    found
}

#[test]
fn no_meeting_pair_is_parted_and_most_others_are() {
    let turns = procedural::rotations(24, 7);
    let spots = procedural::positions(12, glam::DVec3::splat(-0.6), glam::DVec3::splat(0.6), 8);
    let mut total = [0; 4];
    for (k, at) in spots.into_iter().enumerate() {
        let pose_a = Pose::new([3.0, -2.0, 5.0], turns[2 * k]).unwrap();
        let pose_b = Pose::new((at + pose_a.translation()).into(), turns[2 * k + 1]).unwrap();
        let a = PlacedTree::new(procedural::torus(1.0, 0.4, 14, 8).unwrap(), pose_a);
        let b = PlacedTree::new(procedural::blob(0.7, 0.3, 2, 3 + k as u64).unwrap(), pose_b);
        counts(&a, &b).into_iter().zip(&mut total).for_each(|(n, sum)| *sum += n);
    }
    let [met, parted, apart, known] = total;
    assert!(met > 300, "{total:?}");
    assert!(parted * 100 > apart * 98, "{total:?}");
    assert!(known * 10 > met * 9, "{total:?}");
}

#[test]
fn touching_coplanar_and_duplicated_triangles_are_kept() {
    // Grid boxes that share faces, edges and corners, at sizes from 1e-6 to 1e6, and the box itself.
    let mut met = 0;
    for scale in [1e-6, 1.0, 1e6] {
        let cube = procedural::cuboid([scale / 2.0; 3], [1; 3]).unwrap();
        for at in [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.5, 0.5, 1.0]] {
            let a = PlacedTree::new(cube.clone(), Pose::IDENTITY);
            let b = PlacedTree::new(cube.clone(), Pose::shift(at.map(|x| x * scale)));
            met += counts(&a, &b)[0];
        }
    }
    assert!(met > 100, "{met}");
}

#[test]
fn a_margin_keeps_what_is_nearer() {
    let sheet = |z: f64| {
        let pose = Pose::shift([0.01, 0.02, z]);
        PlacedTree::new(procedural::sheet([1.0, 1.0], [2, 2]).unwrap(), pose)
    };
    let (a, b) = (sheet(0.0), sheet(0.1));
    let kept = |margin: f64| {
        let relative = Relative::new(&a.tree, &a.pose, &b.tree, &b.pose, margin);
        let within = margin / b.tree.frame().unit;
        let test = LeafFilter::new(&a.tree, &b.tree, &relative.a_to_b, &relative.a_in_b, within);
        test.decide(SimdLevel::PORTABLE, a.blocks.of(0).unwrap(), b.blocks.of(0).unwrap(), u64::MAX).doubtful
    };
    assert_eq!(kept(0.0), 0);
    assert_eq!(kept(0.09), 0);
    assert_eq!(kept(0.1), u64::MAX);
}

#[test]
fn trees_of_very_different_size_part_nothing_wrongly() {
    let big = procedural::ico_sphere(1e3, 2).unwrap();
    let mut met = 0;
    for size in [1e-12, 1e-11, 1e-10, 1e-9, 1e-3, 1.0, 1e12] {
        let at = Pose::shift([1e3, 0.0, 0.0]);
        let a = PlacedTree::new(big.clone(), Pose::IDENTITY);
        let b = PlacedTree::new(procedural::ico_sphere(size, 1).unwrap(), at);
        met += counts(&a, &b)[0] + counts(&b, &a)[0];
    }
    assert!(met > 20, "{met}");
}
