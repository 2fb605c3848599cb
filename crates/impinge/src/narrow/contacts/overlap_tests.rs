//! Contacts of convex shapes on meshes against the exact relation and the distance: none is deep where the bodies are
//! apart, and where they overlap there is one.

use glam::{DQuat, DVec3};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::{Pose, Query, Relation, Shape, contacts, distance, procedural, relation};

/// Gaps below are rounding (a length; the bodies are a few units large).
const ROUNDING: f64 = 1e-9;

const KINDS: u32 = 10;

fn lattice(dice: &mut Pcg64, most: i32) -> DVec3 {
    DVec3::from_array([(); 3].map(|()| f64::from(dice.random_range(-most..=most))))
}

/// A shape of one of the kinds, on an integer grid as far as it has corners.
fn convex(dice: &mut Pcg64, kind: u32) -> Option<Shape> {
    let size = |dice: &mut Pcg64| 0.5 * f64::from(dice.random_range(1..=3));
    let (r, h) = (size(dice), size(dice));
    match kind {
        0 => Shape::sphere(r),
        1 => Shape::cuboid([r, h, 0.5]),
        // A short core, too.
        2 => Shape::capsule(r, if dice.random() { h } else { 0.1 * h }),
        3 => Shape::cylinder(r, h),
        4 => Shape::cone(r, h),
        5 => Shape::ellipsoid([r, h, 0.8]),
        6 => Shape::hull([(); 4].map(|()| lattice(dice, 2))),
        7 => Shape::hull([(); 12].map(|()| lattice(dice, 2))),
        8 => Shape::triangle([(); 3].map(|()| lattice(dice, 2))),
        _ => Shape::segment([(); 2].map(|()| lattice(dice, 2))),
    }
    .ok()
}

/// A prism over an L: closed, and concave.
fn angle(inverted: bool) -> Shape {
    let outline = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
    let vertices = [0.0, 1.0].into_iter().flat_map(|z| outline.map(|[x, y]| [x, y, z])).collect();
    let mut triangles: Vec<[u32; 3]> = (1..5).flat_map(|k| [[0, k + 1, k], [6, 6 + k, 7 + k]]).collect();
    triangles.extend((0..6).flat_map(|k| {
        let next = (k + 1) % 6;
        [[k, next, 6 + next], [k, 6 + next, 6 + k]]
    }));
    if inverted {
        triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    Shape::mesh(vertices, triangles).unwrap()
}

/// A mesh of one of the kinds, and whether it is a solid.
fn surface(dice: &mut Pcg64, kind: u32) -> Option<Shape> {
    let corner = |dice: &mut Pcg64| lattice(dice, 2).to_array();
    match kind {
        0 => Shape::mesh([(); 3].map(|()| corner(dice)).into(), vec![[0, 1, 2]]).ok(),
        // Two and three triangles that bend anyhow.
        1 => Shape::mesh([(); 4].map(|()| corner(dice)).into(), vec![[0, 1, 2], [2, 1, 3]]).ok(),
        2 => {
            let vertices = [(); 4].map(|()| corner(dice)).into();
            Shape::mesh(vertices, vec![[0, 1, 2], [0, 2, 3], [0, 3, 1]]).ok()
        }
        3 => Some(angle(false)),
        4 => Some(angle(true)),
        _ => procedural::torus(1.25, 0.5, 7, 5).ok().map(Shape::from),
    }
}

fn placed(dice: &mut Pcg64, on_grid: bool) -> Pose {
    if on_grid {
        let turn = lattice(dice, 1);
        return Pose::new(lattice(dice, 3).to_array(), [turn.x, turn.y, turn.z, 1.0]).unwrap();
    }
    let at = DVec3::from_array([(); 3].map(|()| dice.random_range(-2.5..2.5)));
    let axis = DVec3::from_array([(); 3].map(|()| dice.random_range(-1.0..1.0)));
    let turn = DQuat::from_axis_angle(axis.normalize_or(DVec3::X), dice.random_range(0.0..6.0));
    Pose::from_rotation(at, turn).unwrap()
}

#[test]
fn no_contact_is_deep_where_bodies_are_apart_and_one_is_told_where_they_overlap() {
    let dice = &mut Pcg64::seed_from_u64(11);
    // For each kind of shape: near but apart, overlapping.
    let mut seen = [[0; 2]; KINDS as usize];
    let mut wrong = Vec::new();
    for case in 0..6_000_u32 {
        let (kind, on_grid) = (case % KINDS, (case / KINDS).is_multiple_of(2));
        let mesh_kind = case / (2 * KINDS) % 6;
        let (Some(mesh), Some(shape)) = (surface(dice, mesh_kind), convex(dice, kind)) else { continue };
        let (mesh_pose, pose) = (placed(dice, false), placed(dice, on_grid));
        let mesh_pose = if on_grid { Pose::IDENTITY } else { mesh_pose };
        let (a, b) = (mesh.at(mesh_pose), shape.at(pose));
        match relation(a, b) {
            Relation::Separated => {
                let gap = distance(a, b).distance;
                if gap <= ROUNDING {
                    continue;
                }
                seen[kind as usize][0] += u32::from(gap < 0.5);
                let none = contacts(a, b);
                let mut query = Query { one_sided: case % 7 == 0, ..Query::default() };
                let near = query.contacts(a, b, 0.25).unwrap().value.unwrap();
                if !none.is_empty() || near.iter().any(|c| c.depth > ROUNDING) {
                    wrong.push(format!(
                        "case {case}, shape {kind}, mesh {mesh_kind}: gap {gap}, {none:?} {near:?}"
                    ));
                }
            }
            Relation::Touching => {}
            overlap => {
                seen[kind as usize][1] += 1;
                // An open mesh that is merely touched counts as met, which rounding may show as a gap.
                let found = Query::default().contacts(a, b, ROUNDING).unwrap().value.unwrap();
                if !found.iter().any(|c| c.depth >= -ROUNDING) {
                    wrong.push(format!(
                        "case {case}, shape {kind}, mesh {mesh_kind}: {overlap:?}, {found:?}, {:?}",
                        distance(a, b)
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen.iter().flatten().all(|&n| n > 20), "{seen:?}");
}
