//! A right hand of convex parts: a palm and five fingers, joint by joint.
//!
//! The hand of I-COLLIDE (Cohen, Lin, Manocha, Ponamgi 1995) was a tree of convex polytopes like this one;
//! the sizes are ours. The palm lies in the plane z = 0 with the fingers along +y; neighbours keep a gap,
//! so that at rest no two parts touch.

use std::f64::consts::PI;

use glam::{DQuat, DVec2, DVec3};

use super::body_part::{BodyPart, turned};
use super::grid::{at_least, positive};
use super::lathe::lathe;
use super::polyhedron::cuboid;
use crate::Error;

/// Name, base of the finger, angle away from +y in the plane of the palm, and lengths of its bones, all
/// for a hand of length 1.
const FINGERS: [(&str, [f64; 2], f64, [f64; 3]); 5] = [
    ("thumb", [0.23, 0.12], -0.9, [0.15, 0.12, 0.09]),
    ("index finger", [0.165, 0.46], -0.06, [0.19, 0.12, 0.09]),
    ("middle finger", [0.055, 0.48], 0.0, [0.21, 0.14, 0.1]),
    ("ring finger", [-0.055, 0.46], 0.06, [0.19, 0.13, 0.09]),
    ("little finger", [-0.165, 0.42], 0.14, [0.15, 0.09, 0.08]),
];

/// The bones of a finger, from the palm outward.
const BONES: [&str; 3] = ["base", "middle", "tip"];

/// A hand of the given length: the palm and fifteen bones, each convex, with joints and parents.
///
/// The palm has 12 triangles, a bone 6 · segments.
///
/// # Errors
/// A length that is not positive, fewer than 3 segments.
pub fn hand(length: f64, segments: u32) -> Result<Vec<BodyPart>, Error> {
    positive("length", length)?;
    at_least("segments", 3, segments)?;
    let palm = cuboid([0.21 * length, 0.21 * length, 0.05 * length], [1; 3])?;
    let palm = turned(&palm, DQuat::IDENTITY, DVec3::Y * (0.21 * length))?;
    let mut parts =
        vec![BodyPart { name: "palm".into(), mesh: palm, parent: None, pivot: DVec3::ZERO, axis: DVec3::X }];
    for (finger, base, angle, lengths) in FINGERS {
        let turn = DQuat::from_rotation_z(angle);
        let along = turn * DVec3::Y;
        let mut pivot = (DVec2::from(base) * length).extend(0.0);
        let mut parent = 0;
        for (bone, &reach) in BONES.iter().zip(&lengths) {
            let reach = reach * length;
            // From the lathe's axis z to the finger's direction.
            let mesh = turned(
                &phalanx(0.04 * length, reach, segments)?,
                turn * DQuat::from_rotation_x(-PI / 2.0),
                pivot,
            )?;
            parts.push(BodyPart {
                name: format!("{finger} {bone}"),
                mesh,
                parent: Some(parent),
                pivot,
                axis: turn * DVec3::X,
            });
            parent = parts.len() - 1;
            pivot += reach * along;
        }
    }
    Ok(parts)
}

/// A barrel along z that leaves a tenth of its length free at both ends.
fn phalanx(radius: f64, length: f64, segments: u32) -> Result<crate::Mesh, Error> {
    let at = |r: f64, z: f64| DVec2::new(r * radius, z * length);
    lathe(&[at(0.0, 0.1), at(0.8, 0.15), at(1.0, 0.4), at(0.8, 0.85), at(0.0, 0.9)], segments)
}
