//! Loads a mesh of any format, prints what it holds, and saves it as OBJ, STL or PLY:
//! `cargo run --example convert -- in.glb out.ply`. Without arguments a tetrahedron makes the trip.

use std::path::{Path, PathBuf};

use impinge::{Error, Mesh, io};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    match (arguments.next(), arguments.next()) {
        (Some(from), Some(to)) => convert(&from, &to),
        (Some(from), None) => load(&from).map(drop),
        _ => demonstrate(),
    }
}

fn convert(from: &Path, to: &Path) -> Result<(), Error> {
    io::save(to, &load(from)?)?;
    load(to).map(drop)
}

fn load(path: &Path) -> Result<Mesh, Error> {
    let mesh = io::load_mesh(path)?;
    let (vertices, triangles) = (mesh.vertices().len(), mesh.triangles().len());
    println!("{}: {vertices} vertices, {triangles} triangles", path.display());
    Ok(mesh)
}

fn demonstrate() -> Result<(), Error> {
    let tetrahedron = Mesh::new(
        vec![[0.1, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    )?;
    let file = |extension: &str| {
        std::env::temp_dir().join(format!("impinge-convert-{}.{extension}", std::process::id()))
    };
    io::save(file("obj"), &tetrahedron)?;
    convert(&file("obj"), &file("ply"))?;
    assert_eq!(io::load_mesh(file("ply"))?, tetrahedron, "every double survives");
    for extension in ["obj", "ply"] {
        let path = file(extension);
        std::fs::remove_file(&path)
            .map_err(|error| Error::File { path: path.display().to_string(), reason: error.to_string() })?;
    }
    Ok(())
}
