use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::format::tempfile;
use super::*;
use crate::io::{Encoding, load_mesh, save, save_as, write};

/// A mesh of random doubles of every size that is let in; no vertex twice and none unused.
fn wild(seed: u64) -> Mesh {
    let mut dice = Pcg64Mcg::seed_from_u64(seed);
    let mut number = || loop {
        let x = f64::from_bits(dice.random());
        if x.abs() <= 1e60 {
            return x;
        }
    };
    let vertices: Vec<[f64; 3]> = (0..90).map(|_| [number(), number(), number()]).collect();
    Mesh::new(vertices, (0..30).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect()).unwrap()
}

fn bits(mesh: &Mesh) -> Vec<[u64; 3]> {
    mesh.vertices().iter().map(|p| p.to_array().map(f64::to_bits)).collect()
}

#[test]
fn doubles_survive_the_round_trip() {
    for seed in 0..20 {
        let mesh = wild(seed);
        for (encoding, format) in [
            (Encoding::Obj, Format::Obj),
            (Encoding::StlText, Format::Stl),
            (Encoding::PlyText, Format::Ply),
            (Encoding::PlyBinary, Format::Ply),
        ] {
            let bytes = write(&mesh, encoding).unwrap();
            assert_eq!(Format::from_content(&bytes), Some(format), "{encoding:?}");
            let back = good(bytes, format);
            assert_eq!(bits(&back), bits(&mesh), "{encoding:?}");
            assert_eq!(back.triangles(), mesh.triangles(), "{encoding:?}");
        }
    }
}

#[test]
fn binary_stl_rounds_to_single_and_refuses_what_it_cannot_hold() {
    let mesh = Mesh::new(vec![[0.1, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1e30, 0.0]], vec![[0, 1, 2]]).unwrap();
    let back = good(write(&mesh, Encoding::StlBinary).unwrap(), Format::Stl);
    assert_eq!(back.vertices()[0].x, f64::from(0.1f32));
    assert_eq!(back.vertices()[2].y, f64::from(1e30f32));
    let large = Mesh::new(vec![[0.0; 3], [1e39, 0.0, 0.0]], vec![[0, 1, 1]]).unwrap();
    let message = write(&large, Encoding::StlBinary).unwrap_err().to_string();
    assert!(message.contains("vertex 1"), "{message}");
}

#[test]
fn degenerate_meshes_are_written_too() {
    let mesh =
        Mesh::new(vec![[0.0; 3], [1.0, 1.0, 1.0]], vec![[0, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 0]]).unwrap();
    for encoding in
        [Encoding::Obj, Encoding::StlText, Encoding::StlBinary, Encoding::PlyText, Encoding::PlyBinary]
    {
        let back = crate::io::read(&write(&mesh, encoding).unwrap(), None).unwrap();
        assert_eq!(back, mesh, "{encoding:?}");
    }
}

#[test]
fn saving_replaces_the_file_and_leaves_nothing_else() {
    let folder = tempfile();
    for (name, encoding) in
        [("a.obj", Encoding::Obj), ("b.STL", Encoding::StlBinary), ("c.ply", Encoding::PlyBinary)]
    {
        let path = folder.join(name);
        std::fs::write(&path, "something older").unwrap();
        save(&path, &cube()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), write(&cube(), encoding).unwrap(), "{name}");
        assert_eq!(load_mesh(&path).unwrap().triangles().len(), 12);
    }
    // Coordinates beyond f32 make STL a text.
    let fine = Mesh::new(vec![[0.1, 0.0, 0.0], [1.0, 0.0, 0.0]], vec![[0, 1, 0]]).unwrap();
    save(folder.join("d.stl"), &fine).unwrap();
    assert_eq!(load_mesh(folder.join("d.stl")).unwrap(), fine);
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.obj", "b.STL", "c.ply", "d.stl"]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_cannot_be_saved_names_the_path() {
    let folder = tempfile();
    for name in ["a.off", "a", "a.glb", "a.obj.gz"] {
        let message = save(folder.join(name), &cube()).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains(".obj, .stl or .ply"), "{message}");
    }
    let message = save_as(folder.join("no/such/a.obj"), &cube(), Encoding::Obj).unwrap_err().to_string();
    assert!(message.contains("a.obj: "), "{message}");
    // A folder is not replaced, and the new file beside it is taken away again.
    std::fs::create_dir(folder.join("b.obj")).unwrap();
    std::fs::write(folder.join("b.obj/kept"), "").unwrap();
    assert!(save(folder.join("b.obj"), &cube()).is_err());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(folder).unwrap();
}
