use super::*;
use crate::geom::triangle_triangle::meet;
use crate::hierarchy::disc_bound::DiscBounds;
use crate::hierarchy::leaf_block::LeafBlocks;
use crate::hierarchy::relative::Relative;
use crate::hierarchy::wide::{Child, WideTree};
use crate::shape::procedural;
use crate::{Mesh, Pose};

struct PlacedTree {
    mesh: Mesh,
    tree: WideTree,
    disc_bounds: DiscBounds,
    blocks: LeafBlocks,
    pose: Pose,
}

impl PlacedTree {
    fn new(mesh: Mesh, pose: Pose) -> PlacedTree {
        let tree = WideTree::build(&mesh);
        let blocks = LeafBlocks::new(&mesh, &tree);
        let disc_bounds = DiscBounds::new(&tree, &blocks);
        PlacedTree { mesh, tree, disc_bounds, blocks, pose }
    }

    fn patches(&self, node: u32) -> PatchLanes<'_> {
        match self.disc_bounds.of(node) {
            Some(disc_bounds) => PatchLanes::DiscBounds(disc_bounds),
            None => PatchLanes::Triangles(self.blocks.of(node).unwrap()),
        }
    }

    /// The placed triangles below a child.
    fn below(&self, child: Child, found: &mut Vec<[glam::DVec3; 3]>) {
        match child.as_node() {
            Some(node) => self.tree.nodes()[node].child.iter().for_each(|&child| self.below(child, found)),
            None => found.extend(
                self.tree.order()[child.slots()]
                    .iter()
                    .map(|&triangle| self.mesh.corners(triangle).map(|p| self.pose.apply(p))),
            ),
        }
    }

    fn lanes(&self, node: u32) -> Vec<Vec<[glam::DVec3; 3]>> {
        let gather = |&child: &Child| {
            let mut found = Vec::new();
            self.below(child, &mut found);
            found
        };
        self.tree.nodes()[node as usize].child.iter().map(gather).collect()
    }
}

/// Holds every pair of nodes against the exact test; how many pairs of lanes meet, are parted, are apart.
fn counts(a: &PlacedTree, b: &PlacedTree) -> [usize; 3] {
    let relative = Relative::new(&a.tree, &a.pose, &b.tree, &b.pose, 0.0);
    let test =
        DiscBoundTest::new(a.tree.frame(), b.tree.frame(), &relative.a_in_b, bent(&relative.a_to_b), 0.0);
    let (carrier, back) = (Carrier::new(&relative.a_in_b), Carrier::new(&relative.b_in_a));
    let mut found = [0; 3];
    for x in 0..a.tree.nodes().len() as u32 {
        let own = a.lanes(x);
        for y in 0..b.tree.nodes().len() as u32 {
            let others = b.lanes(y);
            let patches = [a.patches(x), b.patches(y)];
            let nodes = [&a.tree.nodes()[x as usize], &b.tree.nodes()[y as usize]];
            let pair = NodePair { nodes, patches, to_few: &back, to_many: &carrier };
            let run = |level, mask| test.keep(level, &carrier, patches, mask);
            let boxes = |level, rows| box_overlap::overlaps(level, nodes[0], rows, nodes[1], &back, &carrier);
            let kept = run(SimdLevel::PORTABLE, u64::MAX);
            for level in SimdLevel::available() {
                assert_eq!(run(level, u64::MAX), kept, "{level:?}, nodes {x} {y}");
                assert_eq!(run(level, 0x4200_0081), kept & 0x4200_0081, "{level:?}");
                // Both at once is one after the other, for even and odd numbers of rows.
                for rows in [u8::MAX, 0x49, 0x80] {
                    let meeting = boxes(SimdLevel::PORTABLE, rows);
                    assert_eq!(boxes(level, rows), meeting, "{level:?}, nodes {x} {y}");
                    assert_eq!(test.overlaps(level, &pair, rows), meeting & kept, "{level:?}, nodes {x} {y}");
                }
            }
            for bit in 0..WIDTH * WIDTH {
                let (few, many) = (&own[bit / WIDTH], &others[bit % WIDTH]);
                if few.is_empty() || many.is_empty() {
                    continue;
                }
                let met = few.iter().any(|t| many.iter().any(|u| meet(t, u)));
                let parted = kept >> bit & 1 == 0;
                assert!(!(met && parted), "nodes {x} {y}, bit {bit}");
                found[0] += usize::from(met);
                found[1] += usize::from(parted);
                found[2] += usize::from(!met);
            }
        }
    }
    found
}

#[test]
fn no_meeting_patches_are_parted_and_most_others_are() {
    let turns = procedural::rotations(12, 17);
    let spots = procedural::positions(6, glam::DVec3::splat(-0.6), glam::DVec3::splat(0.6), 18);
    let mut total = [0; 3];
    for (k, at) in spots.into_iter().enumerate() {
        let pose_a = Pose::new([-3.0, 2.0, 5.0], turns[2 * k]).unwrap();
        let pose_b = Pose::new((at + pose_a.translation()).into(), turns[2 * k + 1]).unwrap();
        let a = PlacedTree::new(procedural::torus(1.0, 0.4, 14, 8).unwrap(), pose_a);
        let b = PlacedTree::new(procedural::blob(0.7, 0.3, 2, 5 + k as u64).unwrap(), pose_b);
        counts(&a, &b).into_iter().zip(&mut total).for_each(|(n, sum)| *sum += n);
    }
    let [met, parted, apart] = total;
    assert!(met > 300, "{total:?}");
    assert!(parted * 2 > apart, "{total:?}");
}

#[test]
fn touching_patches_and_triangles_without_area_are_kept() {
    let mut met = 0;
    for scale in [1e-6, 1.0, 1e6] {
        let cube = procedural::cuboid([scale / 2.0; 3], [1; 3]).unwrap();
        let ball = procedural::ico_sphere(scale, 1).unwrap();
        // A fan whose triangles are needles and points.
        let line: Vec<[f64; 3]> = (0..12).map(|i| [scale * f64::from(i / 2); 3]).collect();
        let needles = Mesh::new(line, (0..10).map(|i| [i, i + 1, i + 2]).collect()).unwrap();
        for at in [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.5, 0.5, 1.0]] {
            let pose = Pose::shift(at.map(|x| x * scale));
            for mesh in [&cube, &ball, &needles] {
                let a = PlacedTree::new(cube.clone(), Pose::IDENTITY);
                let b = PlacedTree::new(mesh.clone(), pose);
                met += counts(&a, &b)[0] + counts(&b, &a)[0];
            }
        }
    }
    assert!(met > 200, "{met}");
}

#[test]
fn a_bent_pose_loses_nothing() {
    // As far from orthonormal as poses may be.
    let stretch = 0.9e-4;
    let mut matrix = [
        1.0,
        stretch / 2.0,
        0.0,
        0.3,
        0.0,
        1.0 + stretch / 2.0,
        0.0,
        0.1,
        0.0,
        0.0,
        1.0,
        0.0,
        0.0,
        0.0,
        0.0,
        1.0,
    ];
    matrix[8] = -stretch / 3.0;
    let bent_pose = Pose::from_matrix(&matrix).unwrap();
    let a = PlacedTree::new(procedural::ico_sphere(1.0, 2).unwrap(), bent_pose);
    let b = PlacedTree::new(procedural::ico_sphere(1.0, 2).unwrap(), Pose::shift([1.2, 0.9, 0.4]));
    let [met, parted, _] = counts(&a, &b);
    assert!(met > 20 && parted > 1000, "{met} {parted}");
}
