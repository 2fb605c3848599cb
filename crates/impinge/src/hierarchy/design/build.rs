//! From a binary grouping to a tree of the wanted degree, with its volumes.

use std::collections::VecDeque;

use super::group::{Grouping, group};
use super::options::Structure;
use super::storage::{Bounds, Link, Node, Tree};
use super::{Options, dag};
use crate::Mesh;
use crate::bound::{Aabb, Bounding};

impl Tree {
    /// Builds a tree over all triangles of a mesh.
    pub fn build(mesh: &Mesh, options: &Options) -> Tree {
        let (grouping, boxes) = group(mesh, options);
        let mut tree = widen(grouping, &boxes, options);
        tree.fit_all(mesh);
        tree.built_cost = tree.cost();
        if options.structure == Structure::Dag {
            tree = dag::share(tree, mesh);
        }
        debug_assert_eq!(tree.check(mesh), Ok(()));
        tree
    }
}

/// Numbers the nodes breadth first; a node takes the groups that opening the largest group again and
/// again gives, until its degree is reached.
fn widen(grouping: Grouping, boxes: &[Aabb], options: &Options) -> Tree {
    let mut tree = Tree {
        options: *options,
        nodes: Vec::new(),
        links: Vec::new(),
        shifts: Vec::new(),
        bounds: Bounds::default(),
        order: Vec::new(),
        reach: 0.0,
        built_cost: 0.0,
    };
    let mut free = [0_u32; crate::bound::Volume::ALL.len()];
    let mut queue = VecDeque::from([(0, 0_u16)]);
    let mut next = 1;
    while let Some((at, level)) = queue.pop_front() {
        let slots = &grouping.groups[at].slots;
        let children = open(&grouping, boxes, at, options.degree as usize);
        let kind = options.volume_at(level);
        let place = &mut free[kind as usize];
        tree.nodes.push(Node {
            radius: 0.0,
            first: slots.start as u32,
            count: slots.len() as u32,
            links: tree.links.len() as u32,
            bound: *place,
            degree: children.len() as u8,
            kind,
        });
        *place += 1;
        for child in children {
            let offset = (grouping.groups[child].slots.start - slots.start) as u32;
            tree.links.push(Link { node: next, offset });
            next += 1;
            queue.push_back((child, level.saturating_add(1)));
        }
    }
    tree.order = grouping.order;
    tree
}

fn open(grouping: &Grouping, boxes: &[Aabb], at: usize, degree: usize) -> Vec<usize> {
    let Some(halves) = grouping.groups[at].halves else { return Vec::new() };
    let mut children = halves.to_vec();
    while children.len() < degree {
        let largest = (0..children.len())
            .filter(|&i| grouping.groups[children[i]].halves.is_some())
            .max_by(|&i, &j| boxes[children[i]].surface().total_cmp(&boxes[children[j]].surface()));
        let Some(largest) = largest else { break };
        if let Some([a, b]) = grouping.groups[children[largest]].halves {
            // In place, so that children stay in slot order.
            children.splice(largest..=largest, [a, b]);
        }
    }
    children
}
