//! Articulated bodies: a skeleton whose links are bodies of the scene.
//!
//! The hand of I-COLLIDE (Cohen, Lin, Manocha, Ponamgi 1995) is a tree of convex parts that move against each
//! other. Here every link is a body with a name of its own, so that contacts tell which link they are on and
//! links of one body meet each other too; links that hang on each other directly are ignored.

use super::{Body, BodyId, Groups, Scene};
use crate::motion::{Joint, JointKind, Skeleton};
use crate::shape::Polytope;
use crate::shape::procedural::BodyPart;
use crate::{Error, Pose, Shape};

/// A skeleton with its links in a scene.
#[derive(Debug, Clone)]
pub struct Articulated {
    skeleton: Skeleton,
    links: Vec<BodyId>,
    /// Where the links are, kept to be written anew.
    poses: Vec<Pose>,
}

impl Articulated {
    /// Adds a body for each joint of the skeleton, at rest, and ignores pairs that meet at a joint.
    ///
    /// # Errors
    /// More or fewer shapes than joints.
    pub fn add(
        scene: &mut Scene,
        skeleton: Skeleton,
        shapes: &[Shape],
        root: &Pose,
        groups: Groups,
    ) -> Result<Articulated, Error> {
        let joints = skeleton.joints().len();
        if joints != shapes.len() {
            let reason = format!("{} shapes for {joints} joints", shapes.len());
            return Err(Error::Argument { name: "shapes", reason });
        }
        let mut poses = Vec::new();
        skeleton.poses(root, &[], &mut poses);
        let body = |(shape, &pose): (&Shape, &Pose)| Body { groups, ..Body::moving(shape.clone(), pose) };
        let links: Vec<BodyId> = shapes.iter().zip(&poses).map(|link| scene.add(body(link))).collect();
        for pair in skeleton.neighbours() {
            scene.ignore(pair.map(|i| links[i]), true);
        }
        Ok(Articulated { skeleton, links, poses })
    }

    /// The joints.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The body of each link.
    pub fn links(&self) -> &[BodyId] {
        &self.links
    }

    /// Puts the links where root and joint values say; see [`Skeleton::poses`].
    pub fn place(&mut self, scene: &mut Scene, root: &Pose, values: &[f64]) {
        self.skeleton.poses(root, values, &mut self.poses);
        for (&link, &pose) in self.links.iter().zip(&self.poses) {
            scene.place(link, pose);
        }
    }

    /// Takes all links out of the scene.
    pub fn remove(self, scene: &mut Scene) {
        self.links.into_iter().for_each(|link| _ = scene.remove(link));
    }
}

/// Skeleton and hulls of parts such as those of [`procedural::hand`](crate::procedural::hand): the first is fixed, every other
/// one turns about its axis within `limits`, two angles for the part's index.
///
/// # Errors
/// Parts that form no tree, or a part that no hull can be made of.
pub fn jointed(
    parts: &[BodyPart],
    limits: impl Fn(usize) -> [f64; 2],
) -> Result<(Skeleton, Vec<Shape>), Error> {
    let joint = |(i, part): (usize, &BodyPart)| Joint {
        parent: part.parent,
        kind: if part.parent.is_some() { JointKind::Revolute } else { JointKind::Fixed },
        pivot: part.pivot,
        axis: part.axis,
        limits: limits(i),
    };
    let skeleton = Skeleton::new(parts.iter().enumerate().map(joint).collect())?;
    let hull = |part: &BodyPart| Polytope::hull(part.mesh.vertices()).map(Shape::from);
    Ok((skeleton, parts.iter().map(hull).collect::<Result<_, Error>>()?))
}
