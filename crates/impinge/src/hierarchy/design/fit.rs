//! Volumes from triangles and children, bottom-up over the array: parents stand before their children,
//! so going backwards meets every child before its parent, without recursion.

use glam::DVec3;
use smallvec::SmallVec;

use super::options::Fit;
use super::storage::Tree;
use crate::Mesh;
use crate::bound::{Bound, BoundRef};
use crate::num::tolerance::ROUND_UP;

impl Tree {
    /// Makes every volume anew; how many were made.
    pub(super) fn fit_all(&mut self, mesh: &Mesh) -> u64 {
        let mut corners = Vec::new();
        // The first fit fills each kind's array from its end: places are reserved first.
        self.reserve_places(mesh);
        for i in (0..self.nodes.len()).rev() {
            self.fit_node(mesh, i, &mut corners);
        }
        self.measure_reach(mesh);
        self.nodes.len() as u64
    }

    /// Makes one volume anew; its children must be up to date. `corners` is scratch.
    pub(super) fn fit_node(&mut self, mesh: &Mesh, i: usize, corners: &mut Vec<[DVec3; 3]>) {
        let bound = self.bound_for(mesh, i, corners);
        self.nodes[i].radius = bound.as_ref().ball().radius;
        self.bounds.set(self.nodes[i].bound as usize, bound);
    }

    fn bound_for(&self, mesh: &Mesh, i: usize, corners: &mut Vec<[DVec3; 3]>) -> Bound {
        let node = &self.nodes[i];
        let children = || self.links[self.links_of(node)].iter().map(|l| &self.nodes[l.node as usize]);
        let same = node.kind.layers_are_wrapped() && children().all(|child| child.kind == node.kind);
        if node.degree > 0 && (same || self.options.fit == Fit::Layered) {
            let parts: SmallVec<[BoundRef<'_>; 8]> = children().map(|child| self.bound(child)).collect();
            return Bound::around(node.kind, &parts);
        }
        let slots = node.first as usize..(node.first + node.count) as usize;
        corners.clear();
        corners.extend(self.order[slots].iter().map(|&t| mesh.corners(t)));
        Bound::enclose(node.kind, corners)
    }

    pub(super) fn measure_reach(&mut self, mesh: &Mesh) {
        let far_sq = mesh.vertices().iter().map(|v| v.length_squared()).fold(0.0, f64::max);
        self.reach = far_sq.sqrt() * ROUND_UP + f64::MIN_POSITIVE.sqrt();
    }

    fn reserve_places(&mut self, mesh: &Mesh) {
        let any = [mesh.corners(0)];
        for i in 0..self.nodes.len() {
            let node = self.nodes[i];
            if self.bounds.len(node.kind) <= node.bound as usize {
                self.bounds.set(node.bound as usize, Bound::enclose(node.kind, &any));
            }
        }
    }
}
