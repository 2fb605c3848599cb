//! Every witness of a distance lies on its body's surface and in the feature that is named, for all kinds of bodies, apart
//! and meeting, and the normal is a unit vector or, where surfaces meet, zero.

use impinge::glam::DVec3;
use impinge::{Feature, Pose, Separation, Shape, distance, procedural, signed_distance};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// A shape with what its features are named by.
struct Kind {
    name: &'static str,
    shape: Shape,
    half: Option<[f64; 3]>,
}

fn kinds(rng: &mut Pcg64) -> Vec<Kind> {
    let mut size = || rng.random_range(0.2..1.0_f64);
    let half = [size(), size(), size()];
    let mut all = vec![
        ("sphere", Shape::sphere(size()), None),
        ("box", Shape::cuboid(half), Some(half)),
        ("capsule", Shape::capsule(size(), size()), None),
        ("cylinder", Shape::cylinder(size(), size()), None),
        ("cone", Shape::cone(size(), size()), None),
        ("ellipsoid", Shape::ellipsoid([size(), size(), size()]), None),
        ("half-space", Shape::half_space([size(), -size(), size()], size()), None),
        ("ball mesh", procedural::ico_sphere(size(), 1).map(Shape::from), None),
        ("box mesh", procedural::cuboid([size(), size(), size()], [2, 1, 3]).map(Shape::from), None),
        ("ring mesh", procedural::torus(0.8, 0.2, 9, 5).map(Shape::from), None),
        ("sheet mesh", procedural::sheet([1.5, 1.0], [3, 2]).map(Shape::from), None),
    ];
    let points: Vec<[f64; 3]> = (0..12).map(|_| [(); 3].map(|()| rng.random_range(-0.8..0.8))).collect();
    all.push(("hull", Shape::hull(points), None));
    all.into_iter().map(|(name, shape, half)| Kind { name, shape: shape.unwrap(), half }).collect()
}

fn pose(rng: &mut Pcg64, spread: f64) -> Pose {
    let turn = [(); 4].map(|()| rng.random_range(-1.0..1.0));
    Pose::new([(); 3].map(|()| rng.random_range(-spread..spread)), turn).unwrap()
}

/// How far a point is from a feature; `None` where a feature has no name that can be looked up.
fn off_feature(kind: &Kind, pose: &Pose, feature: Feature, point: DVec3) -> Option<f64> {
    let from = |shape: Result<Shape, impinge::Error>| {
        signed_distance(&shape.unwrap(), point).unwrap().distance.abs()
    };
    let corners: Vec<DVec3> = match (kind.shape.as_mesh(), kind.half) {
        (Some(mesh), _) => mesh.vertices().iter().map(|&v| pose.apply(v)).collect(),
        (None, Some(half)) => (0..8)
            .map(|k| {
                let side = |i: usize| if k >> i & 1 == 1 { half[i] } else { -half[i] };
                pose.apply(DVec3::new(side(0), side(1), side(2)))
            })
            .collect(),
        _ => return None,
    };
    let at = |v: u32| corners[v as usize].to_array();
    match (feature, kind.half) {
        (Feature::Vertex(v), _) => Some(corners[v as usize].distance(point)),
        (Feature::Edge([i, j]), _) => Some(from(Shape::segment([at(i), at(j)]))),
        (Feature::Face(t), None) => {
            let mesh = kind.shape.as_mesh()?;
            Some(from(Shape::triangle(mesh.triangles()[t as usize].map(at))))
        }
        (Feature::Face(f), Some(_)) => {
            let on: Vec<u32> = (0..8).filter(|k| k >> (f / 2) & 1 == f % 2).collect();
            Some(from(Shape::hull(on.into_iter().map(at))))
        }
        _ => None,
    }
}

fn check(a: &Kind, pose_a: &Pose, b: &Kind, pose_b: &Pose, found: &Separation) {
    let place = format!("{} and {}: {found:?}", a.name, b.name);
    let has_mesh = a.shape.as_mesh().is_some() || b.shape.as_mesh().is_some();
    let unit = (found.normal.length() - 1.0).abs() < 1e-12;
    let meets = has_mesh && found.distance == 0.0;
    assert!(if meets { found.normal == DVec3::ZERO } else { unit }, "{place}");
    let between = found.points[1] - found.points[0];
    // Depths of curved bodies are searched, and points known to less than lengths.
    let (on_surface, in_feature) = if has_mesh { (1e-8, 1e-9) } else { (1e-5, 1e-5) };
    assert!((between - found.normal * found.distance).length() < on_surface, "{place}");
    for (kind, pose, k) in [(a, pose_a, 0), (b, pose_b, 1)] {
        let off = signed_distance(kind.shape.at(*pose), found.points[k]).unwrap().distance;
        assert!(off.abs() < on_surface, "{off:e} off the surface of {}: {place}", kind.name);
        if let Some(off) = off_feature(kind, pose, found.features[k], found.points[k]) {
            assert!(off < in_feature, "{off:e} off the feature of {}: {place}", kind.name);
        }
    }
}

#[test]
fn witnesses_lie_on_the_surfaces_and_in_the_features_named() {
    let mut rng = Pcg64::seed_from_u64(15);
    let (mut meeting, mut asked) = (0, 0);
    for _ in 0..12 {
        let all = kinds(&mut rng);
        for a in &all {
            for b in &all {
                if a.name == "half-space" && b.name == "half-space" {
                    continue;
                }
                let [pose_a, pose_b] = [pose(&mut rng, 0.7), pose(&mut rng, 0.7)];
                let found = distance(a.shape.at(pose_a), b.shape.at(pose_b));
                check(a, &pose_a, b, &pose_b, &found);
                asked += 1;
                meeting += usize::from(found.distance <= 0.0);
            }
        }
    }
    assert!((asked / 4..asked * 19 / 20).contains(&meeting), "{meeting} of {asked}");
}

#[test]
fn a_plane_between_the_components_of_a_mesh_does_not_meet_it() {
    let plane = Shape::half_space([0.0, 0.0, 2.0], 0.0).unwrap();
    let lid = procedural::cuboid([1.0, 1.0, 0.25], [1; 3]).unwrap();
    let moved = |z: f64| {
        let vertices = lid.vertices().iter().map(|v| [v.x, v.y, v.z + z]).collect();
        impinge::Mesh::new(vertices, lid.triangles().to_vec()).unwrap()
    };
    let both = Shape::from(procedural::join([&moved(1.0), &moved(-0.5)]).unwrap());
    let found = distance(&plane, &both);
    assert_eq!((found.distance, found.points[1].z, found.normal), (0.25, -0.25, -DVec3::Z));
    let crossed = distance(&both, &Shape::half_space([0.0, 0.0, 1.0], 1.1).unwrap());
    assert_eq!((crossed.distance, crossed.normal), (0.0, DVec3::ZERO));
    assert!((crossed.points[0].z - 1.1).abs() < 1e-15, "{crossed:?}");
    assert!(matches!(crossed.features[0], Feature::Edge(_)), "{crossed:?}");
}
