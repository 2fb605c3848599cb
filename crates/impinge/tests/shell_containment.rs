//! Layered shells of every closed mesh of the shared data: cylinders contain, discs cover, exactly and by samples.

mod common;

use std::time::Instant;

use common::shared;
use impinge::Shape;
use impinge::io::load_mesh;
use impinge::narrow::sampled::shells::Shells;

/// Triangles of a mesh, at most, that every run of the tests checks; the larger ones are checked on demand.
const SMALL: usize = 15_000;

/// Checks the closed meshes whose number of triangles is wanted; how many there were.
fn check(wanted: impl Fn(usize) -> bool) -> Option<usize> {
    let folder = shared("data/meshes")?;
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| {
        path.is_file() && !["csv", "md"].iter().any(|e| path.extension().is_some_and(|x| x == *e))
    });
    names.sort();
    let mut closed = 0;
    for path in names {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mesh = load_mesh(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        if !wanted(mesh.triangles().len()) || !Shape::from(mesh.clone()).is_closed() {
            continue;
        }
        let start = Instant::now();
        let shells = Shells::of_mesh(&mesh, None);
        let built = start.elapsed();
        let checked = shells.verify(&mesh, 2000, 11).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert!(checked.corners >= 3 * mesh.triangles().len() as u64);
        let counts: Vec<usize> = shells.report().iter().map(|level| level.facets).collect();
        println!(
            "{name}: {counts:?} in {built:.2?}, {} corners, {} exactly",
            checked.corners, checked.exactly
        );
        assert!(*counts.last().unwrap() <= 64, "{name}: {counts:?}");
        closed += 1;
    }
    Some(closed)
}

#[test]
fn shells_of_small_closed_meshes_contain_and_cover() {
    if let Some(closed) = check(|triangles| triangles <= SMALL) {
        assert!(closed >= 30, "{closed}");
    }
}

#[test]
#[ignore = "the meshes of up to 870,000 triangles take a minute; cargo test --release -p impinge --test shell_containment -- --ignored"]
fn shells_of_large_closed_meshes_contain_and_cover() {
    if let Some(closed) = check(|triangles| triangles > SMALL) {
        assert!(closed >= 3, "{closed}");
    }
}

#[test]
fn edge_planes_halve_the_offsets_of_the_fandisk() {
    let Some(folder) = shared("data/meshes") else { return };
    for name in ["aj_fandisk.obj", "cgal_fandisk_large.off"] {
        let mesh = load_mesh(folder.join(name)).unwrap();
        let [discs, planes] = Shells::of_mesh(&mesh, None).mean_offsets();
        println!("{name}: {discs:.6} by discs, {planes:.6} with edge planes");
        assert!(2.0 * planes <= discs, "{name}: {discs} {planes}");
    }
}
