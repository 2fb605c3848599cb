//! Keeping a tree true to a mesh that deforms: refit of everything, local refit of what moved, rebuild
//! when the tree has decayed.
//!
//! After van den Bergen (1997) for the refit, and Brown, Sorkin, Bruyns, Latombe, Montgomery and
//! Stephanides ("Real-time simulation of deformable objects", 2001) for touching only what moved.

use std::collections::BinaryHeap;

use super::options::Fit;
use super::storage::Tree;
use crate::bound::Volume;
use crate::contact::Counters;
use crate::{Error, Mesh};

/// What an update did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Updated {
    /// Nu: volumes made anew.
    pub work: Counters,
    /// Whether the tree was built again.
    pub rebuilt: bool,
    /// The tree's cost after the update, relative to that after its build.
    pub decay: f64,
}

impl Tree {
    /// Makes all volumes true to the moved mesh, keeping the grouping; a shared tree is built again.
    ///
    /// # Errors
    /// A mesh with another number of triangles.
    pub fn refit(&mut self, mesh: &Mesh) -> Result<Updated, Error> {
        self.same_triangles(mesh)?;
        if self.is_shared() {
            return Ok(self.rebuild(mesh));
        }
        let updates = self.fit_all(mesh);
        debug_assert_eq!(self.check(mesh), Ok(()));
        Ok(Updated { work: Counters { updates, ..Counters::default() }, rebuilt: false, decay: self.decay() })
    }

    /// Refits, and builds again when the cost has grown by [`super::Options::rebuild_at`].
    ///
    /// # Errors
    /// As [`Tree::refit`].
    pub fn update(&mut self, mesh: &Mesh) -> Result<Updated, Error> {
        let refitted = self.refit(mesh)?;
        if refitted.rebuilt || refitted.decay <= self.options.rebuild_at {
            return Ok(refitted);
        }
        let mut rebuilt = self.rebuild(mesh);
        rebuilt.work += refitted.work;
        Ok(rebuilt)
    }

    /// Builds the tree again with its own options.
    pub fn rebuild(&mut self, mesh: &Mesh) -> Updated {
        *self = Tree::build(mesh, &self.options);
        let work = Counters { updates: self.nodes.len() as u64, ..Counters::default() };
        Updated { work, rebuilt: true, decay: self.decay() }
    }

    pub(super) fn same_triangles(&self, mesh: &Mesh) -> Result<(), Error> {
        let (have, given) = (self.order.len(), mesh.triangles().len());
        if have == given {
            return Ok(());
        }
        let reason = format!("the tree has {have} triangles, the mesh {given}");
        Err(Error::Argument { name: "mesh", reason })
    }
}

/// What a local refit has to know about a tree: the way up. Valid until the tree is built again.
#[derive(Debug, Clone)]
pub struct WayUp {
    parent: Vec<u32>,
    leaf_of: Vec<u32>,
    waiting: Vec<bool>,
}

impl WayUp {
    /// The way up from every triangle; `None` for a shared tree, where a node has several parents.
    pub fn new(tree: &Tree) -> Option<WayUp> {
        if tree.is_shared() {
            return None;
        }
        let mut parent = vec![0; tree.nodes.len()];
        let mut leaf_of = vec![0; tree.order.len()];
        for (i, node) in tree.nodes.iter().enumerate() {
            for link in &tree.links[tree.links_of(node)] {
                parent[link.node as usize] = i as u32;
            }
            if node.degree == 0 {
                for &t in &tree.order[node.first as usize..(node.first + node.count) as usize] {
                    leaf_of[t as usize] = i as u32;
                }
            }
        }
        Some(WayUp { waiting: vec![false; parent.len()], parent, leaf_of })
    }

    /// Makes the volumes over some moved triangles anew, and those above them as far as they change.
    ///
    /// # Errors
    /// A mesh or a tree of another size, or a triangle that does not exist.
    pub fn refit(&mut self, tree: &mut Tree, mesh: &Mesh, moved: &[u32]) -> Result<Counters, Error> {
        tree.same_triangles(mesh)?;
        if self.parent.len() != tree.nodes.len() || self.leaf_of.len() != tree.order.len() {
            return Err(Error::Argument { name: "tree", reason: "it was built again since".into() });
        }
        if let Some(t) = moved.iter().find(|&&t| t as usize >= self.leaf_of.len()) {
            return Err(Error::Argument { name: "moved", reason: format!("there is no triangle {t}") });
        }
        // Parents have smaller numbers, so the largest number first is bottom-up.
        let mut queue = BinaryHeap::new();
        for &t in moved {
            self.wait(&mut queue, self.leaf_of[t as usize]);
            for v in mesh.corners(t) {
                tree.reach = tree.reach.max(v.length() * crate::num::tolerance::ROUND_UP);
            }
        }
        let (mut updates, mut corners) = (0, Vec::new());
        while let Some(i) = queue.pop() {
            let node = tree.nodes[i as usize];
            self.waiting[i as usize] = false;
            let before = (node.kind == Volume::Aabb).then(|| tree.bounds.aabb[node.bound as usize]);
            tree.fit_node(mesh, i as usize, &mut corners);
            updates += 1;
            let unchanged = before.is_some_and(|b| b == tree.bounds.aabb[node.bound as usize]);
            let from_children = tree.options.fit == Fit::Layered || tree.kinds_are_wrapped_layers();
            if i != 0 && !(unchanged && from_children) {
                self.wait(&mut queue, self.parent[i as usize]);
            }
        }
        debug_assert_eq!(tree.check(mesh), Ok(()));
        Ok(Counters { updates, ..Counters::default() })
    }

    fn wait(&mut self, queue: &mut BinaryHeap<u32>, node: u32) {
        if !std::mem::replace(&mut self.waiting[node as usize], true) {
            queue.push(node);
        }
    }
}

impl Tree {
    /// Whether every parent's volume follows from its children's.
    fn kinds_are_wrapped_layers(&self) -> bool {
        self.options.volume.layers_are_wrapped() && self.options.below.is_none()
    }
}
