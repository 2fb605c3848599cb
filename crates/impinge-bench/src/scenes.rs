//! The common inputs: meshes and placements, from `../shared` beside the repository or, where that is
//! missing, from what `setup` made below `target/peers`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use impinge::{Mesh, Pose};

/// One row of the placement file: where a and b stand, and whether they meet.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// Quaternion (w x y z) and position of a, then of b.
    pub numbers: [f64; 14],
    /// The commanded gap along the direction of approach; negative is an overlap.
    pub gap: f64,
    /// Whether the surfaces meet.
    pub hit: bool,
}

impl Placement {
    /// The poses of a and b.
    ///
    /// # Errors
    /// Numbers that are no rigid pose.
    pub fn poses(&self) -> Result<[Pose; 2]> {
        let pose = |n: &[f64]| Pose::new([n[4], n[5], n[6]], [n[1], n[2], n[3], n[0]]);
        Ok([pose(&self.numbers[..7])?, pose(&self.numbers[7..])?])
    }
}

/// The workspace's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where set-up puts what it makes: `target/peers`.
pub fn peers_folder() -> PathBuf {
    root().join("target/peers")
}

/// Where the results are kept in the repository.
pub fn results_folder() -> PathBuf {
    root().join("crates/impinge-bench/results")
}

/// Where pictures go.
pub fn pictures_folder() -> PathBuf {
    root().join("docs/pictures")
}

/// A mesh of the bench by its name, such as `bunny59k`.
///
/// # Errors
/// It is neither in `../shared` nor made by set-up, or it cannot be read.
pub fn mesh(name: &str) -> Result<Mesh> {
    let file = mesh_file(name)?;
    Ok(impinge::io::load_mesh(file)?)
}

/// The 200 placements of bunny59k and dragon202k.
///
/// # Errors
/// The file is missing or a row is no placement.
pub fn placements() -> Result<Vec<Placement>> {
    let file = find("workloads/placements.txt", "placements.txt")?;
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    text.lines().map(read_placement).collect()
}

/// Whether [`mesh`] would find this one.
pub fn has_mesh(name: &str) -> bool {
    mesh_file(name).is_ok()
}

/// Writes two meshes and placements for the outside peers; returns the three files.
///
/// # Errors
/// The folder cannot be written.
pub fn export(a: &Mesh, b: &Mesh, placements: &[Placement]) -> Result<[PathBuf; 3]> {
    let folder = peers_folder().join("exchange");
    fs::create_dir_all(&folder)?;
    let files = ["a.bin", "b.bin", "placements.bin"].map(|name| folder.join(name));
    fs::write(&files[0], mesh_bytes(a))?;
    fs::write(&files[1], mesh_bytes(b))?;
    let mut rows = (placements.len() as u32).to_le_bytes().to_vec();
    rows.extend(placements.iter().flat_map(|p| p.numbers).flat_map(f64::to_le_bytes));
    fs::write(&files[2], rows)?;
    Ok(files)
}

/// A mesh as OBJ text with nine significant digits, as the shared ones were written.
pub fn obj_text(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> String {
    let mut out = String::new();
    for v in vertices {
        let [x, y, z] = v.map(nine_digits);
        let _ = writeln!(out, "v {x} {y} {z}");
    }
    for t in triangles {
        let _ = writeln!(out, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1);
    }
    out
}

fn mesh_file(name: &str) -> Result<PathBuf> {
    find(&format!("meshes/bench/{name}.obj"), &format!("{name}.obj")).or_else(|missing| match name {
        // The scan itself, at its own scale.
        "dragon871k" => find("meshes/stanford_dragon_full.ply.gz", "").map_err(|_| missing),
        _ => Err(missing),
    })
}

/// A file of `../shared`, or the one that set-up made.
pub fn find(shared: &str, made: &str) -> Result<PathBuf> {
    let candidates = [root().join("../shared/data").join(shared), peers_folder().join("scenes").join(made)];
    match candidates.iter().find(|file| file.is_file()) {
        Some(file) => Ok(file.clone()),
        None => bail!("{made} is missing: run `cargo run --release -p impinge-bench -- setup` to make it"),
    }
}

fn read_placement(line: &str) -> Result<Placement> {
    let numbers: Vec<f64> = line
        .split_whitespace()
        .map(|word| word.parse().with_context(|| format!("\"{word}\" in a placement")))
        .collect::<Result<_>>()?;
    ensure!(numbers.len() == 16, "a placement has 16 numbers, not {}", numbers.len());
    let mut placement = Placement { numbers: [0.0; 14], gap: numbers[14], hit: numbers[15] != 0.0 };
    placement.numbers.copy_from_slice(&numbers[..14]);
    Ok(placement)
}

/// A mesh as the outside peers read it.
pub fn mesh_bytes(mesh: &Mesh) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((mesh.vertices().len() as u32).to_le_bytes());
    bytes.extend((mesh.triangles().len() as u32).to_le_bytes());
    bytes.extend(mesh.vertices().iter().flat_map(|v| v.to_array()).flat_map(f64::to_le_bytes));
    bytes.extend(mesh.triangles().iter().flatten().flat_map(|i| i.to_le_bytes()));
    bytes
}

/// The shortest text of the value rounded to nine significant digits.
fn nine_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.8e}").parse().unwrap_or(value);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use impinge::io::Format;

    use super::*;

    #[test]
    fn obj_text_and_its_reader_agree() {
        let vertices = [[0.1234567894, -1e-7, 2.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let mesh =
            impinge::io::read(obj_text(&vertices, &[[0, 1, 2]]).as_bytes(), Some(Format::Obj)).unwrap();
        assert_eq!(mesh.vertices()[0].to_array(), [0.123456789, -1e-7, 2.0]);
        assert_eq!(mesh.triangles(), [[0, 1, 2]]);
        let bytes = mesh_bytes(&mesh);
        assert_eq!(bytes.len(), 8 + 3 * 24 + 12);
        assert_eq!(bytes[..8], [3, 0, 0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn a_placement_has_two_poses_and_a_verdict() {
        let row = read_placement("1 0 0 0 1 2 3 0 1 0 0 4 5 6 -0.5 1").unwrap();
        let [a, b] = row.poses().unwrap();
        assert_eq!(a.translation().to_array(), [1.0, 2.0, 3.0]);
        assert_eq!(b.apply(glam::DVec3::Y).to_array(), [4.0, 4.0, 6.0], "half a turn about x");
        assert!(row.hit && row.gap == -0.5);
        assert!(read_placement("1 2 3").is_err());
    }
}
