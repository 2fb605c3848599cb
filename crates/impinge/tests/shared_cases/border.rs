//! The borders of the intersections of the shared pairs: closed meshes of the stated volume.

use impinge::{Mesh, Query, Shape, VolumeOptions, inspect};

use crate::common::{Pair, pair};

#[test]
fn borders_are_watertight_and_enclose_the_volume() {
    let Some(folder) = crate::common::shared("data/pairs") else { return };
    let options = VolumeOptions { border: true, ..VolumeOptions::default() };
    let mut overlapping = 0;
    for k in 0..20 {
        let Pair { bodies: [a, b], .. } = pair(&folder.join(format!("pair_{k:02}.bin")));
        let found = Query::default().volume(&a, &b, options).unwrap().value.unwrap();
        let (vertices, triangles) = found.border;
        assert_eq!(triangles.is_empty(), found.volume == 0.0, "pair {k}");
        if triangles.is_empty() {
            continue;
        }
        overlapping += 1;
        let seen = inspect(&Shape::from(Mesh::from_points(vertices, triangles).unwrap())).unwrap();
        assert!(seen.closed && seen.boundary_edges == 0, "pair {k}: {:?}", seen.problems);
        let volume = seen.volume;
        assert!((volume - found.volume).abs() <= 1e-12 * found.volume, "pair {k}: {volume} {}", found.volume);
    }
    assert!((12..=20).contains(&overlapping), "{overlapping}");
}
