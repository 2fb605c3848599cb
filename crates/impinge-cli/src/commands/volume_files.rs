//! Files of `impinge volume`: the gradient at every vertex and the border of the intersection.

use std::io::{self, Write};
use std::path::Path;

use glam::DVec3;
use impinge::{Mesh, Placed, Volume, io as meshes};
use serde::Serialize;

use crate::error::Failure;
use crate::json_answer::Document;
use crate::output::PartialFile;

/// The derivative of a volume by the position of each vertex of both bodies.
type Gradient = [Vec<DVec3>; 2];

/// Where a gradient goes, told by its ending.
pub struct GradientFile<'p> {
    path: &'p Path,
    write: fn(&mut dyn Write, [Placed<'_>; 2], &Gradient) -> io::Result<()>,
}

impl GradientFile<'_> {
    /// Refuses an unknown ending.
    pub fn new(path: &Path) -> Result<GradientFile<'_>, Failure> {
        match ending(path).as_str() {
            "csv" => Ok(GradientFile { path, write: csv }),
            "json" => Ok(GradientFile { path, write: json }),
            "ply" => Ok(GradientFile { path, write: ply }),
            _ => Err(refuse(path, "the ending should be .csv, .json or .ply")),
        }
    }

    /// Writes it whole or not at all.
    pub fn write(&self, bodies: [Placed<'_>; 2], gradient: &Gradient) -> Result<(), Failure> {
        let mut file = PartialFile::create(self.path)?;
        file.write(|out| (self.write)(out, bodies, gradient))?;
        file.finish()
    }
}

/// One row for each vertex of both bodies.
fn csv(out: &mut dyn Write, _: [Placed<'_>; 2], gradient: &Gradient) -> io::Result<()> {
    writeln!(out, "body,vertex,x,y,z")?;
    for (body, slopes) in ["a", "b"].into_iter().zip(gradient) {
        for (vertex, DVec3 { x, y, z }) in slopes.iter().enumerate() {
            writeln!(out, "{body},{vertex},{x:?},{y:?},{z:?}")?;
        }
    }
    Ok(())
}

fn json(out: &mut dyn Write, _: [Placed<'_>; 2], gradient: &Gradient) -> io::Result<()> {
    #[derive(Serialize)]
    struct Slopes<'g> {
        a: &'g [[f64; 3]],
        b: &'g [[f64; 3]],
    }
    let [a, b] = gradient.each_ref().map(|slopes| slopes.iter().map(DVec3::to_array).collect::<Vec<_>>());
    serde_json::to_writer(&mut *out, &Document::new(Slopes { a: &a, b: &b }))?;
    writeln!(out)
}

/// Both placed meshes in one file, with the derivative at each vertex (`gx`, `gy`, `gz`) and the body (0 or 1).
fn ply(out: &mut dyn Write, bodies: [Placed<'_>; 2], gradient: &Gradient) -> io::Result<()> {
    let meshes: Vec<&Mesh> = bodies.iter().filter_map(|body| body.shape().as_mesh()).collect();
    let triangles: usize = meshes.iter().map(|mesh| mesh.triangles().len()).sum();
    writeln!(out, "ply\nformat ascii 1.0\nelement vertex {}", gradient[0].len() + gradient[1].len())?;
    for name in ["x", "y", "z", "gx", "gy", "gz"] {
        writeln!(out, "property double {name}")?;
    }
    writeln!(out, "property uchar body\nelement face {triangles}")?;
    writeln!(out, "property list uchar int vertex_indices\nend_header")?;
    for (body, mesh) in meshes.iter().enumerate() {
        let pose = bodies[body].pose();
        for (p, g) in mesh.vertices().iter().zip(&gradient[body]) {
            let p = pose.apply(*p);
            writeln!(out, "{:?} {:?} {:?} {:?} {:?} {:?} {body}", p.x, p.y, p.z, g.x, g.y, g.z)?;
        }
    }
    let mut first = 0;
    for mesh in meshes {
        for [a, b, c] in mesh.triangles() {
            writeln!(out, "3 {} {} {}", a + first, b + first, c + first)?;
        }
        first += mesh.vertices().len() as u32;
    }
    Ok(())
}

/// Where the border of an intersection goes.
pub struct MeshFile<'p>(&'p Path);

impl MeshFile<'_> {
    /// Refuses an unknown ending.
    pub fn new(path: &Path) -> Result<MeshFile<'_>, Failure> {
        match ending(path).as_str() {
            "obj" | "stl" | "ply" => Ok(MeshFile(path)),
            _ => Err(refuse(path, "the ending should be .obj, .stl or .ply")),
        }
    }

    /// Writes it whole or not at all.
    pub fn write(&self, measured: &Volume) -> Result<(), Failure> {
        let (vertices, triangles) = measured.border.clone();
        if !triangles.is_empty() {
            return Ok(meshes::save(self.0, &Mesh::from_points(vertices, triangles)?)?);
        }
        if measured.volume > 0.0 {
            return Err(refuse(self.0, "this method makes no mesh; `--method exact` does"));
        }
        // Only a note: a standard error that is closed is no failure.
        let _ = writeln!(io::stderr(), "{}: not written, for the bodies do not overlap", self.0.display());
        Ok(())
    }
}

fn ending(path: &Path) -> String {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase()
}

fn refuse(path: &Path, reason: &str) -> Failure {
    Failure::new(reason).at(&path.display().to_string())
}
