//! The tree against a look at every corner, to the bit.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::Mesh;
use crate::narrow::convex::relation::half_space_of;
use crate::shape::{Convex, Primitive, procedural};

fn corners(mesh: &Model, pose: &Pose) -> Vec<(u32, DVec3)> {
    let place = |&v: &u32| (v, pose.apply(mesh.mesh().vertices()[v as usize]));
    mesh.mesh().triangles().as_flattened().iter().map(place).collect()
}

fn relation_of_all(plane: &HalfSpace, mesh: &Model, pose: &Pose) -> Relation {
    let sides = corners(mesh, pose).into_iter().map(|(_, p)| plane.side(p));
    let range = sides.fold(None, |range: Option<[Ordering; 2]>, side| {
        Some(range.map_or([side; 2], |[low, high]| [low.min(side), high.max(side)]))
    });
    match range.unwrap() {
        [Ordering::Greater, _] => Relation::Separated,
        [_, Ordering::Less | Ordering::Equal] => Relation::BInsideA,
        [Ordering::Equal, _] if mesh.topology().is_closed() => Relation::Touching,
        _ => Relation::Intersecting,
    }
}

fn distance_of_all(plane: &HalfSpace, mesh: &Model, pose: &Pose) -> Separation {
    let all = corners(mesh, pose);
    for three in all.chunks(3) {
        let [names, places] = [[three[0], three[1], three[2]]; 2];
        if let Some((point, feature)) = common_point(plane, names.map(|c| c.0), places.map(|c| c.1)) {
            let features = [Feature::Face(0), feature];
            return Separation { distance: 0.0, points: [point; 2], features, normal: DVec3::ZERO };
        }
    }
    let height = |corner: &(u32, DVec3)| plane.height(corner.1);
    let first = all.iter().reduce(|x, y| if height(y).abs() < height(x).abs() { y } else { x }).unwrap();
    beside(plane, height(first), first.1, first.0)
}

fn under_of_all(plane: &HalfSpace, margin: f64, mesh: &Model, pose: &Pose) -> Vec<u32> {
    let near = corners(mesh, pose).into_iter().filter(|(_, p)| plane.height(*p) <= margin);
    let mut vertices: Vec<u32> = near.map(|(v, _)| v).collect();
    vertices.sort_unstable();
    vertices.dedup();
    vertices
}

/// Two parts of a mesh, a step apart.
fn doubled(mesh: &Mesh, step: DVec3) -> Mesh {
    let count = mesh.vertices().len() as u32;
    let vertices = mesh.vertices().iter().copied().chain(mesh.vertices().iter().map(|&p| p + step));
    let triangles = mesh.triangles().iter().copied();
    let shifted = mesh.triangles().iter().map(|t| t.map(|v| v + count));
    Mesh::new(vertices.map(|p| p.to_array()).collect(), triangles.chain(shifted).collect()).unwrap()
}

#[test]
fn answers_are_those_of_every_corner() {
    let mut rng = Pcg64::seed_from_u64(19);
    let sheet = procedural::cuboid([1.0, 2.0, 1.0], [3, 5, 2]).unwrap();
    let places = sheet.vertices().iter().map(|p| p.to_array()).collect();
    let open = Mesh::new(places, sheet.triangles()[4..].to_vec()).unwrap();
    let meshes: Vec<Model> = [
        procedural::ico_sphere(1.0, 4).unwrap(),
        doubled(&procedural::torus(1.0, 0.3, 40, 20).unwrap(), DVec3::new(0.0, 0.0, 4.0)),
        doubled(&sheet, DVec3::new(0.0, 8.0, 4.0)),
        open,
    ]
    .map(Model::from)
    .into();
    let (mut relations, mut met, mut listed) = ([0; 5], 0, 0);
    let rounds = 1600;
    for round in 0..rounds {
        let mesh = &meshes[round % 4];
        // Half of the planes and places are such that corners lie in the plane exactly.
        let integers = round % 8 >= 4;
        let mut number = |size: f64| {
            let x: f64 = rng.random_range(-size..size);
            if integers { x.round() } else { x }
        };
        let normal = if integers { [0.0, number(2.0), 2.0] } else { [number(1.0), number(1.0), 1.0] };
        let mut half = Convex::Primitive(Primitive::half_space(normal, number(5.0)).unwrap());
        let mut place = Pose::shift([number(3.0), number(3.0), number(3.0)]);
        let turn = if integers { [0.0, 0.0, 0.0, 1.0] } else { [number(1.0), number(1.0), number(1.0), 1.0] };
        let pose = Pose::new([number(6.0), number(6.0), number(6.0)], turn).unwrap();
        if round % 16 >= 12 {
            // Under the lowest corner.
            let low = corners(mesh, &pose).iter().fold(f64::INFINITY, |low, (_, p)| low.min(p.z));
            half = Convex::Primitive(Primitive::half_space([0.0, 0.0, 2.0], 2.0 * low).unwrap());
            place = Pose::IDENTITY;
        }
        let plane = half_space_of(&half, &place).unwrap();
        let mut unlimited = Budget::UNLIMITED.clone();
        let found = relation(&plane, mesh, &pose, &mut unlimited).0.unwrap();
        assert_eq!(found, relation_of_all(&plane, mesh, &pose), "{round}");
        relations[match found {
            Relation::Separated => 0,
            Relation::Touching => 1,
            Relation::Intersecting => 2,
            Relation::BInsideA => 3,
            Relation::AInsideB => 4,
        }] += 1;
        let gap = distance(&plane, mesh, &pose, &mut unlimited).value.unwrap();
        assert_eq!(gap, distance_of_all(&plane, mesh, &pose), "{round}");
        met += usize::from(gap.distance == 0.0);
        let margin = number(2.0).abs();
        let mut work = Counters::default();
        let under = vertices_under(&plane, margin, mesh, &pose, &mut unlimited, &mut work).unwrap();
        assert_eq!(under, under_of_all(&plane, margin, mesh, &pose), "{round}");
        listed += usize::from(!under.is_empty());
    }
    let [separated, touching, intersecting, inside, around] = relations;
    assert!(separated > 300 && touching > 30 && intersecting > 200 && inside > 200, "{relations:?}");
    assert_eq!(around, 0);
    assert!((rounds / 8..rounds * 3 / 4).contains(&met) && listed > rounds / 3, "{met} {listed}");
}

#[test]
fn a_plane_far_from_a_mesh_is_told_by_the_root_without_its_topology() {
    let mesh = Model::from(procedural::ico_sphere(1.0, 5).unwrap());
    let ground = Convex::Primitive(Primitive::half_space([0.0, 0.0, 1.0], 0.0).unwrap());
    let plane = half_space_of(&ground, &Pose::IDENTITY).unwrap();
    let at = |z: f64| Pose::from_translation([0.0, 0.0, z]).unwrap();
    let mut unlimited = Budget::UNLIMITED.clone();
    let (found, outcome) = relation(&plane, &mesh, &at(1.5), &mut unlimited);
    assert_eq!((found, outcome.work.primitive_tests), (Some(Relation::Separated), 0));
    assert!(outcome.work.volume_tests <= WIDTH as u64 && !mesh.knows(Fact::Topology));
    let (found, outcome) = relation(&plane, &mesh, &at(0.2), &mut unlimited);
    assert_eq!(found, Some(Relation::Intersecting));
    assert!(outcome.work.volume_tests <= 2 * WIDTH as u64 && !mesh.knows(Fact::Topology));
    let near = distance(&plane, &mesh, &at(1.5), &mut unlimited);
    let corners = 3 * mesh.mesh().triangles().len() as u64;
    assert!(20 * near.outcome.work.primitive_tests < corners, "{:?}", near.outcome.work);
}
