//! Binary groupings of triangles, before any volume is chosen: what a builder decides.

use std::ops::Range;

use glam::DVec3;

use super::Options;
use super::options::Build;
use super::{bottom_up, top_down};
use crate::Mesh;
use crate::bound::Aabb;

/// A node of a binary grouping: a run of slots, and its halves unless it is a leaf.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub(super) slots: Range<usize>,
    pub(super) halves: Option<[usize; 2]>,
}

/// A binary grouping; the root first, halves after their group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grouping {
    pub(super) groups: Vec<Group>,
    pub(super) order: Vec<u32>,
}

/// What builders look at: a box and a barycentre for each triangle.
pub(super) struct Items {
    pub(super) boxes: Vec<Aabb>,
    pub(super) centres: Vec<DVec3>,
}

impl Items {
    fn new(mesh: &Mesh) -> Items {
        let corners = (0..mesh.triangles().len() as u32).map(|t| mesh.corners(t));
        Items {
            boxes: corners.clone().map(|c| Aabb::around_points(&c)).collect(),
            // Thirds first: the sum of three large coordinates stays in range.
            centres: corners.map(|[a, b, c]| a / 3.0 + b / 3.0 + c / 3.0).collect(),
        }
    }

    pub(super) fn box_of(&self, of: &[u32]) -> Aabb {
        of.iter().fold(Aabb::EMPTY, |whole, &t| whole.merge(&self.boxes[t as usize]))
    }
}

/// Groups the triangles of a mesh, and measures each group's box.
pub(super) fn group(mesh: &Mesh, options: &Options) -> (Grouping, Vec<Aabb>) {
    let items = Items::new(mesh);
    let leaf = options.leaf.max(1);
    let grouping = match options.build {
        Build::TopDown { split, axis } => {
            top_down::divide(mesh, &items, options.partition, split, axis, leaf)
        }
        Build::BottomUp { window } => bottom_up::pair(&items, window.max(1), leaf),
    };
    let mut boxes = vec![Aabb::EMPTY; grouping.groups.len()];
    for (i, group) in grouping.groups.iter().enumerate().rev() {
        boxes[i] = match group.halves {
            Some([a, b]) => boxes[a].merge(&boxes[b]),
            None => items.box_of(&grouping.order[group.slots.clone()]),
        };
    }
    (grouping, boxes)
}
