use glam::DVec3;

use super::*;
use crate::Pose;
use crate::geom::triangle_triangle::{TriangleRelation, classify};
use crate::hierarchy::relative::placement_error;
use crate::model::Model;
use crate::shape::procedural;

/// Which triangles are told to be uncovered.
fn told(mesh: &Mesh) -> Vec<bool> {
    let tree = WideTree::build(mesh);
    let blocks = LeafBlocks::new(mesh, &tree);
    let known = UncoveredTriangles::new(mesh.triangles().len());
    let ask = || (0..mesh.triangles().len() as u32).map(|t| known.contains(t, mesh, &tree, &blocks));
    let first: Vec<bool> = ask().collect();
    // What is kept is the same, also in a copy.
    assert_eq!(ask().collect::<Vec<bool>>(), first);
    let copy = known.clone();
    assert!((0..).zip(&first).all(|(t, told)| copy.contains(t, mesh, &tree, &blocks) == *told));
    first
}

/// Which placed triangles share an area with another one, by trying all.
fn covered(mesh: &Mesh, pose: &Pose) -> Vec<bool> {
    let placed: Vec<[DVec3; 3]> =
        (0..mesh.triangles().len() as u32).map(|t| mesh.corners(t).map(|p| pose.apply(p))).collect();
    let covers = |t: usize, u: usize| {
        let (x, y) = (&placed[t], &placed[u]);
        let beside = (0..3).any(|k| {
            let ends = |all: &[DVec3; 3]| all.map(|p| p[k]);
            let ([a, b, c], [d, e, f]) = (ends(x), ends(y));
            a.max(b).max(c) < d.min(e).min(f) || d.max(e).max(f) < a.min(b).min(c)
        });
        t != u && !beside && classify(x, y) == TriangleRelation::Coplanar
    };
    (0..placed.len()).map(|t| (0..placed.len()).any(|u| covers(t, u))).collect()
}

/// Asserts at many poses that no triangle that is told to be uncovered is covered; how many are told, and how many of the
/// others are covered at some pose.
fn held(mesh: &Mesh) -> [usize; 2] {
    let (told, tree) = (told(mesh), WideTree::build(mesh));
    let size = tree.frame().unit;
    let mut ever = vec![false; told.len()];
    for (k, turn) in procedural::rotations(4, 11).into_iter().enumerate() {
        let at = DVec3::new(0.7, -0.2, 0.4) * size * [0.0, 1.0, 30.0, 3e3][k];
        let pose = if k == 0 { Pose::IDENTITY } else { Pose::new(at.into(), turn).unwrap() };
        assert!(UncoveredTriangles::allows(&tree, placement_error(&tree, &pose, &tree, &pose)));
        for (t, covered) in covered(mesh, &pose).into_iter().enumerate() {
            assert!(!(covered && told[t]), "triangle {t} at pose {k}");
            ever[t] |= covered;
        }
    }
    let sum = |all: &[bool]| all.iter().filter(|x| **x).count();
    assert!(told.iter().zip(&ever).all(|(told, ever)| !(told & ever)));
    [sum(&told), sum(&ever)]
}

/// A mesh and moved copies of some of its triangles.
fn with_sheets(mesh: &Mesh, every: usize, moved: impl Fn([DVec3; 3]) -> [DVec3; 3]) -> Mesh {
    let mut vertices = mesh.vertices().to_vec();
    let mut triangles = mesh.triangles().to_vec();
    for t in (0..mesh.triangles().len() as u32).step_by(every) {
        let first = vertices.len() as u32;
        vertices.extend(moved(mesh.corners(t)));
        triangles.push([first, first + 1, first + 2]);
    }
    Mesh::from_points(vertices, triangles).unwrap()
}

#[test]
fn round_surfaces_are_uncovered() {
    for mesh in [procedural::blob(1.0, 0.3, 3, 7).unwrap(), procedural::ico_sphere(1.0, 3).unwrap()] {
        let count = mesh.triangles().len();
        let [told, covered] = held(&mesh);
        assert!(told * 10 > count * 9 && covered == 0, "{told} of {count}, {covered} covered");
    }
}

#[test]
fn neighbours_in_one_plane_are_left_in_doubt() {
    let mesh = procedural::cuboid([1.0, 0.7, 0.4], [3, 4, 5]).unwrap();
    assert_eq!(held(&mesh)[0], 0);
}

#[test]
fn copies_folds_and_close_sheets_are_left_in_doubt() {
    let blob = procedural::blob(1.0, 0.3, 2, 5).unwrap();
    let count = blob.triangles().len();
    let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).normalize();
    // Copies, folds, smaller ones within, and ones that lie on a part of it.
    let copy = with_sheets(&blob, 3, |corners| corners);
    let fold = with_sheets(&blob, 3, |[a, b, c]| [a, c, b]);
    let within = with_sheets(&blob, 3, |all| {
        let middle = (all[0] + all[1] + all[2]) / 3.0;
        all.map(|p| middle + 0.5 * (p - middle))
    });
    let aside = with_sheets(&blob, 3, |[a, b, c]| [a, b, c].map(|p| p + 0.3 * (b - a)));
    for (k, mesh) in [copy, fold, within, aside].iter().enumerate() {
        let (told, [sure, covered]) = (told(mesh), held(mesh));
        assert!((0..count).step_by(3).all(|t| !told[t]), "{k}");
        // What was moved aside is in the same plane but for rounding.
        assert!(sure > 0 && (covered > 0 || k == 3), "{k}: {sure} told, {covered} covered");
    }
    // Sheets over it, nearer and farther.
    let mut some = [0; 2];
    for (k, height) in [0.0, 1e-16, 1e-14, 1e-12, 1e-9, 1e-2].into_iter().enumerate() {
        let mesh = with_sheets(&blob, 3, |all| all.map(|p| p + height * normal(all)));
        let told = told(&mesh);
        held(&mesh);
        let sure = (0..count).step_by(3).filter(|&t| told[t]).count();
        some[usize::from(k == 5)] += sure;
    }
    assert!(some[0] == 0 && some[1] > count / 6, "{some:?}");
}

#[test]
fn triangles_without_area_and_tiny_ones_prove_nothing() {
    let at = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
    // A large triangle, one without area across it, a tiny one and two that are equal.
    let vertices = vec![
        at(0.0, 0.0, 0.0),
        at(4.0, 0.0, 0.0),
        at(0.0, 4.0, 0.0),
        at(1.0, 1.0, -1.0),
        at(1.0, 1.0, 1.0),
        at(1.0, 1.0, 0.5),
        at(3.0, 0.2, 0.0),
        at(3.0 + 1e-7, 0.2, 0.0),
        at(3.0, 0.2 + 1e-7, 0.0),
    ];
    let mesh = Mesh::from_points(vertices, vec![[0, 1, 2], [3, 4, 5], [6, 7, 8]]).unwrap();
    assert_eq!(told(&mesh), [false, false, false]);
    let alone = Mesh::from_points(mesh.vertices().to_vec(), vec![[0, 1, 2], [3, 4, 5]]).unwrap();
    assert_eq!(told(&alone), [true, false]);
}

#[test]
fn far_placements_are_not_spoken_of() {
    let mesh = procedural::ico_sphere(1.0, 2).unwrap();
    let tree = WideTree::build(&mesh);
    let allows = |x: f64| {
        let pose = Pose::from_translation([x, 0.0, 0.0]).unwrap();
        UncoveredTriangles::allows(&tree, placement_error(&tree, &pose, &tree, &pose))
    };
    assert!(allows(1e5) && !allows(1e9));
    assert!(!UncoveredTriangles::allows(&tree, f64::NAN));
}

#[test]
fn vertices_that_moved_are_looked_at_anew() {
    let blob = procedural::blob(1.0, 0.3, 2, 9).unwrap();
    let count = blob.triangles().len() as u32;
    let mut model = Model::from(blob);
    let told = |model: &Model| (0..count).filter(|&t| model.is_surely_uncovered(t, 1e-15)).count();
    assert!(told(&model) * 10 > count as usize * 9);
    assert_eq!((0..count).filter(|&t| model.is_surely_uncovered(t, 1.0)).count(), 0);
    let copy = model.clone();
    let flat = model.mesh().vertices().iter().map(|p| DVec3::new(p.x, p.y, 0.0)).collect();
    model.set_vertices(flat).unwrap();
    assert_eq!(told(&model), 0);
    assert!(told(&copy) * 10 > count as usize * 9);
}
