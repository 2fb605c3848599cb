//! Every mesh of the shared data loads with the counts of its manifest, and the files that broke
//! other readers end in an answer or a message.

mod common;

use std::path::Path;

use impinge::io;

/// The rows of a manifest by column name. Fields with commas stand in quotes.
fn manifest(path: &Path) -> Vec<Vec<(String, String)>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(fields);
    let names = lines.next().unwrap();
    lines.map(|row| names.iter().cloned().zip(row).collect()).collect()
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

fn field<'r>(row: &'r [(String, String)], name: &str) -> &'r str {
    row.iter().find(|(column, _)| column == name).map_or("", |(_, value)| value)
}

fn check_counts(folder: &Path, manifest_file: &Path) -> usize {
    let rows = manifest(manifest_file);
    let mut wrong = vec![];
    for row in rows
        .iter()
        .filter(|row| !field(row, "file").ends_with(".mesh") && !field(row, "file").ends_with(".gz"))
    {
        let file = field(row, "file");
        match io::load_mesh(folder.join(file)) {
            Ok(mesh) => {
                let counts = [mesh.vertices().len().to_string(), mesh.triangles().len().to_string()];
                let told = [field(row, "vertices"), field(row, "triangles")];
                // A row without counts only asks that the file loads.
                if told != ["", ""] && counts != told {
                    wrong.push(format!("{file}: {counts:?}, manifest {told:?}"));
                }
            }
            Err(error) => wrong.push(format!("{error}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    rows.len()
}

#[test]
fn the_meshes_have_the_counts_of_their_manifest() {
    let Some(folder) = common::shared("data/meshes") else { return };
    assert!(check_counts(&folder, &folder.join("MANIFEST.csv")) > 80);
}

#[test]
fn the_broken_geometry_has_the_counts_of_its_manifest() {
    let Some(folder) = common::shared("data/bad") else { return };
    assert!(check_counts(&folder.join("geometry"), &folder.join("MANIFEST_geometry.csv")) > 100);
}
