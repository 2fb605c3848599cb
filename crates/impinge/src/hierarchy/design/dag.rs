//! Equal subtrees stored once: a tree becomes a directed acyclic graph.
//!
//! Two subtrees are equal when their shape, their kinds of volume and their corners, measured from the
//! subtree's first corner and rounded to a grid of [`SHARING_GRID`] times the mesh's size, are the same.
//! Copies that were moved in floats differ in the last bits, so the shared volumes grow by what the grid
//! can hide. Triangles are not shared: the leaf tests stay exact.

use std::collections::HashMap;

use glam::DVec3;

use super::storage::{Bounds, Link, Node, Tree};
use crate::Mesh;
use crate::bound::{Bound, BoundRef, Volume};
use crate::num::tolerance::SHARING_GRID;

/// Stores equal subtrees of a tree once; the tree itself when there are none.
pub(super) fn share(tree: Tree, mesh: &Mesh) -> Tree {
    let grid = SHARING_GRID * tree.reach;
    let anchor: Vec<DVec3> =
        tree.nodes.iter().map(|n| mesh.corners(tree.order[n.first as usize])[0]).collect();
    let same_as = equal_nodes(&tree, mesh, &anchor, grid);
    if same_as.iter().enumerate().all(|(i, &s)| i == s) {
        return tree;
    }
    keep_one_of_each(&tree, &anchor, &same_as, grid)
}

/// For every node the one that stands for it: the last of its equals, which bottom-up comes first.
fn equal_nodes(tree: &Tree, mesh: &Mesh, anchor: &[DVec3], grid: f64) -> Vec<usize> {
    let mut known: HashMap<Vec<i64>, usize> = HashMap::new();
    let mut same_as = vec![0; tree.nodes.len()];
    for (i, node) in tree.nodes.iter().enumerate().rev() {
        let mut key = vec![node.kind as i64, i64::from(node.count), i64::from(node.degree)];
        let mut add = |p: DVec3| key.extend((p - anchor[i]).to_array().map(|x| (x / grid).round() as i64));
        if node.degree == 0 {
            for &t in &tree.order[node.first as usize..(node.first + node.count) as usize] {
                mesh.corners(t).into_iter().for_each(&mut add);
            }
        } else {
            for link in &tree.links[tree.links_of(node)] {
                add(anchor[link.node as usize]);
            }
            let children = tree.links[tree.links_of(node)].iter();
            key.extend(children.map(|l| same_as[l.node as usize] as i64));
        }
        same_as[i] = *known.entry(key).or_insert(i);
    }
    same_as
}

fn keep_one_of_each(tree: &Tree, anchor: &[DVec3], same_as: &[usize], grid: f64) -> Tree {
    // Reached from the root through the nodes that stand for their equals.
    let mut number = vec![u32::MAX; tree.nodes.len()];
    let mut kept = vec![same_as[0]];
    number[same_as[0]] = 0;
    let mut at = 0;
    while at < kept.len() {
        for link in &tree.links[tree.links_of(&tree.nodes[kept[at]])] {
            let child = same_as[link.node as usize];
            if number[child] == u32::MAX {
                number[child] = 0;
                kept.push(child);
            }
        }
        at += 1;
    }
    // Parents have smaller numbers in the tree they come from, and keep them in order.
    kept.sort_unstable();
    kept.iter().enumerate().for_each(|(new, &old)| number[old] = new as u32);
    let mut dag = Tree {
        options: tree.options,
        nodes: Vec::with_capacity(kept.len()),
        links: Vec::new(),
        shifts: Vec::new(),
        bounds: Bounds::default(),
        order: tree.order.clone(),
        reach: tree.reach,
        built_cost: tree.built_cost,
    };
    let height = heights(tree);
    let mut free = [0_u32; Volume::ALL.len()];
    for &old in &kept {
        let node = tree.nodes[old];
        let place = &mut free[node.kind as usize];
        // A corner's place and every shift on the way to it may hide a grid cell.
        let grown = grown(tree.bound(&node), 4.0 * grid * f64::from(height[old] + 1));
        dag.nodes.push(Node { links: dag.links.len() as u32, bound: *place, ..node });
        dag.bounds.set(*place as usize, grown);
        *place += 1;
        for link in &tree.links[tree.links_of(&node)] {
            let stands = same_as[link.node as usize];
            dag.links.push(Link { node: number[stands], offset: link.offset });
            dag.shifts.push(anchor[link.node as usize] - anchor[stands]);
        }
    }
    dag
}

fn heights(tree: &Tree) -> Vec<u32> {
    let mut height = vec![0; tree.nodes.len()];
    for (i, node) in tree.nodes.iter().enumerate().rev() {
        let below = tree.links[tree.links_of(node)].iter().map(|l| height[l.node as usize] + 1);
        height[i] = below.max().unwrap_or(0);
    }
    height
}

fn grown(bound: BoundRef<'_>, by: f64) -> Bound {
    let mut bound = Bound::from(bound);
    bound.inflate(by);
    bound
}
