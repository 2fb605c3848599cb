//! An arm of two links passes a post: is the path free, and by how much? Checked continuously, not by samples.

use impinge::glam::DVec3;
use impinge::scene::{Articulated, Body, Groups, PathOptions, Scene};
use impinge::{Budget, Error, Joint, JointKind, Pose, Shape, Skeleton, procedural};

/// A link of a metre along x from the pivot of its joint, which turns about z.
fn link(number: usize) -> Result<(Joint, Shape), Error> {
    let pivot = DVec3::X * number as f64;
    let (parent, kind) = (number.checked_sub(1), JointKind::Revolute);
    let joint = Joint { parent, kind, pivot, axis: DVec3::Z, limits: [-3.0, 3.0] };
    let rod = procedural::cuboid([0.45, 0.04, 0.04], [1; 3])?;
    let corners = rod.vertices().iter().map(|&p| p + pivot + 0.5 * DVec3::X);
    Ok((joint, Shape::hull(corners)?))
}

fn main() -> Result<(), Error> {
    let (joints, shapes): (Vec<_>, Vec<_>) = [link(0)?, link(1)?].into_iter().unzip();
    let (mut scene, root, skeleton) = (Scene::default(), Pose::IDENTITY, Skeleton::new(joints)?);
    let arm = Articulated::add(&mut scene, skeleton, &shapes, &root, Groups::ALL)?;
    scene.add(Body::fixed(Shape::cylinder(0.1, 1.0)?, Pose::from_translation([1.3, 1.3, 0.0])?));

    let budget = &mut Budget::UNLIMITED.clone();
    for path in [[[0.0, 0.0], [1.5, 0.0]], [[0.0, 2.0], [1.5, 2.0]]] {
        let found = arm.validate_path(&scene, &root, &path, &PathOptions::default(), budget)?;
        match found.hit {
            Some(hit) => {
                println!("link {} hits at {:.4} of the way, near {:.3}", hit.link, hit.time, hit.point)
            }
            None => println!("free, with a clearance of {:.4} at least", found.clearance[0]),
        }
    }
    Ok(())
}
