//! A body of convex parts: a non-convex object as the union of convex shapes, each in its own place.
//!
//! I-COLLIDE (Cohen, Lin, Manocha, Ponamgi 1995) treats such objects as trees whose leaves are convex; here
//! the inner nodes are boxes of the body's frame, halved at the middle part, so that the pairs of near parts
//! of two bodies are found without trying all. Answers number the parts as they were given.

use glam::DVec3;

use super::Geometry;
use crate::bound::Aabb;
use crate::num::tolerance::STRETCH;
use crate::shape::Convex;
use crate::{Counters, Error, Pose};

/// One convex part and where it is in the body.
#[derive(Debug, Clone)]
pub struct Part {
    /// A convex shape.
    pub shape: Geometry,
    /// From the part's frame to the body's.
    pub pose: Pose,
}

/// A node of the tree over the parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// Around everything below, in the body's frame.
    pub bounds: Aabb,
    /// What is below.
    pub below: CompoundChild,
}

/// What a node holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompoundChild {
    /// One part.
    Part(u32),
    /// The next node and this one.
    Two(u32),
}

/// Convex parts in one frame.
#[derive(Debug, Clone)]
pub struct Compound {
    parts: Vec<Part>,
    nodes: Vec<Node>,
}

impl Compound {
    /// The union of convex shapes, each placed in the body's frame.
    ///
    /// # Errors
    /// No parts, or a part without bounds (a half-space).
    pub fn new(parts: impl IntoIterator<Item = (Convex, Pose)>) -> Result<Compound, Error> {
        let refuse = |reason: String| Err(Error::Argument { name: "parts", reason });
        let parts: Vec<Part> =
            parts.into_iter().map(|(convex, pose)| Part { shape: Geometry::Convex(convex), pose }).collect();
        let boxes: Vec<Aabb> = parts.iter().map(|part| part.shape.bounds(&part.pose)).collect();
        if let Some(i) = boxes.iter().position(|b| !(b.low.is_finite() && b.high.is_finite())) {
            return refuse(format!("part {i} has no bounds"));
        }
        if parts.is_empty() {
            return refuse("a compound needs one at least".into());
        }
        let mut order: Vec<u32> = (0..parts.len() as u32).collect();
        let mut nodes = Vec::with_capacity(2 * parts.len());
        build(&boxes, &mut order, &mut nodes);
        Ok(Compound { parts, nodes })
    }

    /// The parts, in the order given.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The box of the placed parts, rounded outward.
    pub fn bounds(&self, pose: &Pose) -> Aabb {
        let boxes = self.parts.iter().map(|part| part.shape.bounds(&pose.compose(&part.pose)));
        boxes.fold(Aabb::EMPTY, |all, b| all.merge(&b))
    }

    /// The box of the world around all below a node, rounded outward.
    pub(crate) fn placed_bounds(&self, at: u32, pose: &Pose) -> Aabb {
        let own = &self.nodes[at as usize].bounds;
        let mut bounds = own.placed(pose);
        // A primitive takes the nearest rotation to the product of two poses, of which each may stretch.
        bounds.grow(2.0 * (STRETCH - 1.0) * own.low.abs().max(own.high.abs()).length());
        bounds
    }

    /// The parts whose boxes meet one of the world, ascending.
    pub(crate) fn parts_in(&self, pose: &Pose, region: &Aabb, work: &mut Counters) -> Vec<u32> {
        let (mut found, mut open) = (Vec::new(), vec![0]);
        while let Some(at) = open.pop() {
            work.volume_tests += 1;
            if !self.placed_bounds(at, pose).meets(region) {
                continue;
            }
            match self.nodes[at as usize].below {
                CompoundChild::Part(part) => found.push(part),
                CompoundChild::Two(right) => open.extend([at + 1, right]),
            }
        }
        found.sort_unstable();
        found
    }

    /// The tree over the parts, the root first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

/// Appends the tree over the parts in `order`, which it sorts as it goes down.
fn build(boxes: &[Aabb], order: &mut [u32], nodes: &mut Vec<Node>) {
    let bounds = order.iter().fold(Aabb::EMPTY, |all, &i| all.merge(&boxes[i as usize]));
    let at = nodes.len();
    nodes.push(Node { bounds, below: CompoundChild::Part(order[0]) });
    if order.len() == 1 {
        return;
    }
    let sides: DVec3 = bounds.high - bounds.low;
    let axis = sides.max_position();
    let key = |i: &u32| boxes[*i as usize].centre()[axis];
    order.sort_unstable_by(|a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
    let (left, right) = order.split_at_mut(order.len() / 2);
    build(boxes, left, nodes);
    nodes[at].below = CompoundChild::Two(nodes.len() as u32);
    build(boxes, right, nodes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Primitive, procedural};

    #[test]
    fn every_part_hangs_in_the_tree_once_and_boxes_hold_their_parts() {
        let ball = Convex::from(Primitive::sphere(0.2).unwrap());
        let places = procedural::positions(37, DVec3::splat(-3.0), DVec3::splat(3.0), 8);
        let parts = places.iter().map(|&p| (ball.clone(), Pose::shift(p)));
        let compound = Compound::new(parts).unwrap();
        let mut seen = [0; 37];
        let mut open = vec![(0_u32, compound.nodes()[0].bounds)];
        while let Some((at, above)) = open.pop() {
            let Node { bounds, below } = compound.nodes()[at as usize];
            assert_eq!(above.merge(&bounds), above, "a child sticks out");
            match below {
                CompoundChild::Part(i) => seen[i as usize] += 1,
                CompoundChild::Two(right) => open.extend([(at + 1, bounds), (right, bounds)]),
            }
        }
        assert!(seen.iter().all(|&n| n == 1));
        assert_eq!(compound.nodes().len(), 2 * 37 - 1);
    }

    #[test]
    fn what_has_no_bounds_is_refused() {
        let half = Convex::from(Primitive::half_space([0.0, 0.0, 1.0], 0.0).unwrap());
        assert!(Compound::new([(half, Pose::IDENTITY)]).unwrap_err().to_string().contains("part 0"));
        assert!(Compound::new([]).is_err());
    }
}
