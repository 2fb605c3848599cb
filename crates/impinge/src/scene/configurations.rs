//! Many configurations of an articulated body at once: how far each is from the rest of the scene and from itself.
//!
//! Nothing moves: the links are placed as the joint values say, and the smallest distance of all pairs is searched with
//! the boxes of the scene as bounds, so that most links are never compared with most obstacles. Configurations are
//! answered in parallel and do not know of each other, so their number and order cannot be seen in an answer.

use super::path::check_waypoints;
use super::{Articulated, BodyId, Scene};
use crate::bound::Aabb;
use crate::narrow::dispatch;
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::num::parallel;
use crate::{Error, Pose, Separation, Shape};

/// The smallest distance of an articulated body from what it may hit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Clearance {
    /// The bodies: a link, and an obstacle or another link.
    pub bodies: [BodyId; 2],
    /// How far they are apart, as [`distance`](crate::distance) tells, the link first.
    pub separation: Separation,
}

impl Articulated {
    /// The smallest distance between a link and another body, or with `itself` between two links, for each of many
    /// configurations, the body standing at `root`. `None` where there is nothing to hit. Pairs that the scene
    /// ignores, and those that their groups keep apart, do not count. Parallel; of equal distances that with the
    /// smaller names is told.
    ///
    /// ```
    /// use impinge::scene::{Articulated, Body, Groups, Scene, jointed};
    /// use impinge::{Pose, Shape, procedural};
    ///
    /// let mut scene = Scene::default();
    /// scene.add(Body::fixed(Shape::cuboid([0.1, 0.1, 0.1])?, Pose::from_translation([0.0, 0.0, 4.0])?));
    /// let (skeleton, shapes) = jointed(&procedural::hand(2.0, 8)?, |_| [-0.2, 1.6])?;
    /// let hand = Articulated::add(&mut scene, skeleton, &shapes, &Pose::IDENTITY, Groups::ALL)?;
    /// let still = vec![0.0; shapes.len()];
    /// let found = hand.clearances(&scene, &Pose::IDENTITY, &[still], false)?;
    /// assert!(found[0].unwrap().separation.distance > 0.0);
    /// # Ok::<(), impinge::Error>(())
    /// ```
    ///
    /// # Errors
    /// A configuration with the wrong number of values, values that are not finite or beyond the limits of their joint,
    /// or a link that has left the scene.
    pub fn clearances(
        &self,
        scene: &Scene,
        root: &Pose,
        configurations: &[impl AsRef<[f64]> + Sync],
        itself: bool,
    ) -> Result<Vec<Option<Clearance>>, Error> {
        if configurations.is_empty() {
            return Ok(Vec::new());
        }
        check_waypoints("configuration", configurations, self.skeleton().joints())?;
        let gone = |i: usize| Error::Argument { name: "scene", reason: format!("link {i} has left it") };
        let mut shapes = Vec::new();
        for (i, &id) in self.links().iter().enumerate() {
            shapes.push(&scene.body(id).ok_or_else(|| gone(i))?.shape);
        }
        Ok(parallel::map(configurations.len(), |k| {
            let mut poses = Vec::new();
            self.skeleton().poses(root, configurations[k].as_ref(), &mut poses);
            self.clearance(scene, &shapes, &poses, itself)
        }))
    }

    fn clearance(&self, scene: &Scene, shapes: &[&Shape], poses: &[Pose], itself: bool) -> Option<Clearance> {
        let links = self.links();
        let mut best: Option<Clearance> = None;
        let mut note = |bodies: [BodyId; 2], separation: Separation| {
            let key = |c: &Clearance| (c.separation.distance, c.bodies);
            if best.is_none_or(|known| (separation.distance, bodies) < key(&known)) {
                best = Some(Clearance { bodies, separation });
            }
            best.map_or(f64::INFINITY, |known| known.separation.distance)
        };
        let mut limit = f64::INFINITY;
        for (link, &own) in links.iter().enumerate() {
            let lets = |id: BodyId, _: &super::body::Entry| !links.contains(&id) && scene.may_hit([own, id]);
            let found = scene.nearer_than(&shapes[link].at(poses[link]), limit, &lets);
            if let Some((id, separation)) = found {
                limit = note([own, id], separation);
            }
        }
        if itself {
            let boxes: Vec<Aabb> = shapes.iter().zip(poses).map(|(shape, pose)| shape.bounds(pose)).collect();
            for i in 0..links.len() {
                for j in i + 1..links.len() {
                    let far = boxes[i].gap(&boxes[j]) > limit.max(0.0);
                    if far || !scene.may_hit([links[i], links[j]]) {
                        continue;
                    }
                    let of = [shapes[i].geometry(), shapes[j].geometry()];
                    let pair = ShapePair::new(of, [&poses[i], &poses[j]]);
                    let (found, _) = dispatch::full_distance(&pair, &mut KernelMemory::default());
                    limit = note([links[i], links[j]], found);
                }
            }
        }
        best
    }
}

impl Scene {
    /// Whether groups and rules let two bodies meet; sensors hold nobody up.
    pub(super) fn may_hit(&self, pair: [BodyId; 2]) -> bool {
        let [Some(x), Some(y)] = pair.map(|id| self.body(id)) else { return false };
        let sensed = x.sensor || y.sensor;
        !sensed && !self.rules.of(pair.map(BodyId::slot)).ignored && x.groups.allow(y.groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Body, Groups, SceneSweep, jointed};
    use crate::shape::procedural;
    use crate::{Budget, Motion};

    #[test]
    fn clearances_are_those_of_all_pairs_and_limits_are_kept() {
        let mut scene = Scene::default();
        for p in procedural::positions(30, [-4.0; 3].into(), [4.0; 3].into(), 3) {
            let thing = if p.x > 0.0 {
                Shape::from(procedural::ico_sphere(0.3, 1).unwrap())
            } else {
                Shape::cuboid([0.2, 0.3, 0.1]).unwrap()
            };
            scene.add(Body::fixed(thing, Pose::shift(p)));
        }
        let (skeleton, shapes) = jointed(&procedural::hand(2.0, 8).unwrap(), |_| [-0.2, 1.6]).unwrap();
        let count = shapes.len();
        let hand = Articulated::add(&mut scene, skeleton, &shapes, &Pose::IDENTITY, Groups::ALL).unwrap();
        let root = Pose::new([0.5, -0.3, 0.4], [0.1, 0.3, -0.2, 0.8]).unwrap();
        let configurations: Vec<Vec<f64>> = (0..20)
            .map(|k| (0..count).map(|i| f64::from((k * 7 + i as u32 * 3) % 16) * 0.1).collect())
            .collect();
        for itself in [false, true] {
            let found = hand.clearances(&scene, &root, &configurations, itself).unwrap();
            for (values, found) in configurations.iter().zip(found) {
                let mut poses = Vec::new();
                hand.skeleton().poses(&root, values, &mut poses);
                let mut all: Vec<(f64, [BodyId; 2])> = Vec::new();
                for (i, &own) in hand.links().iter().enumerate() {
                    for (id, body) in scene.bodies() {
                        let other = hand.links().iter().position(|link| *link == id);
                        let counts =
                            other.is_none_or(|j| itself && j > i) && scene.may_hit([own, id]) && id != own;
                        if counts {
                            let pose = other.map_or(body.pose, |j| poses[j]);
                            let apart = crate::distance(shapes[i].at(poses[i]), body.shape.at(pose)).distance;
                            all.push((apart, [own, id]));
                        }
                    }
                }
                let want = all.into_iter().min_by(|a, b| a.partial_cmp(b).unwrap());
                assert_eq!(found.map(|c| (c.separation.distance, c.bodies)), want);
            }
        }
        let beyond = vec![vec![2.0; count]];
        let refused = hand.clearances(&scene, &root, &beyond, true).unwrap_err().to_string();
        assert!(refused.contains("configuration 0: joint"), "{refused}");
        assert!(hand.clearances(&scene, &root, &[vec![0.0; 2]], true).is_err());
    }

    #[test]
    fn sensors_are_no_obstacles_for_arms_and_motions() {
        let (skeleton, shapes) = jointed(&procedural::hand(2.0, 8).unwrap(), |_| [-0.2, 1.6]).unwrap();
        let start = Pose::shift([-3.0, 9.0, 0.0]);
        let go = Motion::between(&start, &Pose::shift([3.0, 9.0, 0.0]));
        for sensor in [false, true] {
            let mut scene = Scene::default();
            for at in [[0.5, 0.0, 0.0], [0.0, 9.0, 0.0]] {
                let zone = Body::fixed(Shape::sphere(0.5).unwrap(), Pose::shift(at));
                scene.add(Body { sensor, ..zone });
            }
            let hand = Articulated::add(&mut scene, skeleton.clone(), &shapes, &Pose::IDENTITY, Groups::ALL)
                .unwrap();
            let still = vec![0.0; shapes.len()];
            let found = hand.clearances(&scene, &Pose::IDENTITY, &[still], false).unwrap();
            assert_eq!(found[0].is_some(), !sensor);
            let ball = scene.add(Body::moving(Shape::sphere(0.5).unwrap(), start));
            let mut sweep = SceneSweep::default();
            let hit = scene.first_contact(&[(ball, go)], &mut sweep, &mut Budget::unlimited()).hit;
            assert_eq!(hit.is_some(), !sensor);
        }
    }
}
