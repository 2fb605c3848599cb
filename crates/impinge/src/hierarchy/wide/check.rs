//! Is the tree what it promises? Checked after every build and refit in debug builds.

use super::{Child, Node, WIDTH, WideTree};
use crate::Mesh;

/// What is wrong with a tree, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsound {
    /// A triangle stands in no leaf or in several.
    Triangle(u32),
    /// A box does not contain what is below it.
    Box {
        /// The node.
        node: usize,
        /// The child.
        lane: usize,
    },
    /// A child stands before its parent or is of the wrong kind, or an unused lane has a box.
    Link {
        /// The node.
        node: usize,
        /// The child.
        lane: usize,
    },
}

impl WideTree {
    /// Looks at every box and link.
    ///
    /// # Errors
    /// The first thing found wrong.
    pub fn check(&self, mesh: &Mesh) -> Result<(), Unsound> {
        let mut seen = vec![0_u8; mesh.triangles().len()];
        let mut reached = vec![false; self.nodes.len()];
        reached[0] = true;
        for (index, node) in self.nodes.iter().enumerate() {
            for lane in 0..WIDTH {
                let link = Unsound::Link { node: index, lane };
                let child = node.child[lane];
                if child != Child::NONE && child.is_leaf() != self.is_bottom(index) {
                    return Err(link);
                }
                if let Some(below) = child.as_node() {
                    if below <= index || below >= self.nodes.len() || reached[below] {
                        return Err(link);
                    }
                    reached[below] = true;
                    if !holds_boxes(node, lane, &self.nodes[below]) {
                        return Err(Unsound::Box { node: index, lane });
                    }
                } else if child == Child::NONE {
                    if node.half.iter().any(|axis| axis[lane] != f32::NEG_INFINITY) {
                        return Err(link);
                    }
                } else {
                    let triangles = self.order.get(child.slots()).ok_or(link)?;
                    for &t in triangles {
                        *seen.get_mut(t as usize).ok_or(link)? += 1;
                        if !self.holds_triangle(node, lane, mesh, t) {
                            return Err(Unsound::Box { node: index, lane });
                        }
                    }
                }
            }
        }
        if let Some(lost) = reached.iter().position(|&r| !r) {
            return Err(Unsound::Link { node: lost, lane: 0 });
        }
        match seen.iter().position(|&n| n != 1) {
            Some(t) => Err(Unsound::Triangle(t as u32)),
            None => Ok(()),
        }
    }

    #[cfg(debug_assertions)]
    pub(super) fn assert_sound(&self, mesh: &Mesh) {
        assert_eq!(self.bounds, self.nodes[0].bounds().corners());
        let found = self.check(mesh);
        assert!(found.is_ok(), "{found:?}");
    }

    fn holds_triangle(&self, node: &Node, lane: usize, mesh: &Mesh, triangle: u32) -> bool {
        let (centre, half) = node.lane(lane);
        mesh.corners(triangle).into_iter().all(|corner| {
            let p = self.frame.inward(corner);
            let inside = (0..3).all(|k| (p[k] - f64::from(centre[k])).abs() <= f64::from(half[k]));
            let reach = f64::from(self.frame.reach);
            inside && p.abs().max_element() <= reach && half.iter().all(|h| 2.0 * h <= self.widest)
        })
    }
}

fn holds_boxes(node: &Node, lane: usize, below: &Node) -> bool {
    let (centre, half) = node.lane(lane);
    below.used().all(|inner| {
        let (c, h) = below.lane(inner);
        // The inner box may stick out by the rounding of its own centre and half; what it must hold
        // are triangles, so one f32 step of the larger numbers is allowed.
        (0..3).all(|k| {
            let slack = f64::from(f32::EPSILON) * f64::from(c[k].abs() + h[k] + centre[k].abs() + half[k]);
            (f64::from(c[k]) - f64::from(centre[k])).abs() + f64::from(h[k])
                <= f64::from(half[k]) + 2.0 * slack
        })
    })
}
