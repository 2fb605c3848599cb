//! What must hold in every tree, checked after each build, refit and edit in debug builds.

use glam::DVec3;

use super::storage::Tree;
use crate::Mesh;

impl Tree {
    /// Checks that every triangle stands in one slot of one leaf, and that the volume of every node, in
    /// every place it is used at, holds the triangles below.
    ///
    /// # Errors
    /// A sentence that names the first fault.
    pub fn check(&self, mesh: &Mesh) -> Result<(), String> {
        let mut seen = vec![false; self.order.len()];
        if seen.len() != mesh.triangles().len() {
            return Err(format!("{} slots for {} triangles", seen.len(), mesh.triangles().len()));
        }
        let mut open = vec![(0_usize, 0_usize, DVec3::ZERO)];
        while let Some((i, first, shift)) = open.pop() {
            let node = &self.nodes[i];
            let slots = first..first + node.count as usize;
            self.check_volume(mesh, i, slots.clone(), shift)?;
            if node.degree == 0 {
                for slot in slots.clone() {
                    if std::mem::replace(&mut seen[slot], true) {
                        return Err(format!("slot {slot} is in two leaves"));
                    }
                }
            }
            let mut next = first;
            for at in self.links_of(node) {
                let link = self.links[at];
                let child = &self.nodes[link.node as usize];
                if first + link.offset as usize != next {
                    return Err(format!("the children of node {i} do not follow each other"));
                }
                next += child.count as usize;
                let moved = shift + self.shifts.get(at).copied().unwrap_or(DVec3::ZERO);
                open.push((link.node as usize, first + link.offset as usize, moved));
            }
            if node.degree > 0 && next != slots.end {
                return Err(format!("the children of node {i} do not make it up"));
            }
        }
        let mut triangles = vec![false; self.order.len()];
        self.order.iter().for_each(|&t| triangles[t as usize] = true);
        match seen.iter().zip(&triangles).position(|(s, t)| !s || !t) {
            Some(missing) => Err(format!("slot or triangle {missing} is in no leaf")),
            None => Ok(()),
        }
    }

    fn check_volume(
        &self,
        mesh: &Mesh,
        i: usize,
        slots: std::ops::Range<usize>,
        shift: DVec3,
    ) -> Result<(), String> {
        let bound = self.bound(&self.nodes[i]);
        for &t in &self.order[slots] {
            if let Some(p) = mesh.corners(t).iter().find(|&&p| !bound.contains(p - shift)) {
                return Err(format!("node {i} does not hold {p} of triangle {t}: {bound:?}"));
            }
        }
        Ok(())
    }
}
