//! Writers: OBJ, STL and PLY, so that doubles survive wherever the format has room for them.
//!
//! Texts carry the shortest digits that read back as the same double, PLY in binary the doubles
//! themselves. Only binary STL has no more than f32.

use std::io::Write;

use glam::DVec3;

use super::Format;
use crate::{Error, Mesh};

/// How a mesh is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// Wavefront OBJ.
    Obj,
    /// STL as text.
    StlText,
    /// STL in binary: coordinates are rounded to f32.
    StlBinary,
    /// PLY as text.
    PlyText,
    /// PLY in binary, little-endian, with doubles.
    PlyBinary,
}

impl Encoding {
    /// The encoding that keeps every double of `mesh` in this format, the compact one where both do.
    pub fn lossless(format: Format, mesh: &Mesh) -> Option<Encoding> {
        match format {
            Format::Obj => Some(Encoding::Obj),
            Format::Stl if mesh.vertices().iter().all(|&p| p.as_vec3().as_dvec3() == p) => {
                Some(Encoding::StlBinary)
            }
            Format::Stl => Some(Encoding::StlText),
            Format::Ply => Some(Encoding::PlyBinary),
            _ => None,
        }
    }
}

/// The bytes of a file that holds `mesh`.
///
/// # Errors
/// Binary STL of a coordinate that f32 cannot hold, beyond 3.4e38.
pub fn write(mesh: &Mesh, encoding: Encoding) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(mesh.vertices().len() * 32 + mesh.triangles().len() * 50);
    let written = match encoding {
        Encoding::Obj => write_obj(mesh, 0, &mut out),
        Encoding::StlText => write_stl_text(mesh, &mut out),
        Encoding::StlBinary => {
            check_single(mesh)?;
            write_stl_binary(mesh, &mut out)
        }
        Encoding::PlyText => write_ply_text(mesh, &mut out),
        Encoding::PlyBinary => write_ply_binary(mesh, &mut out),
    };
    // Writing to memory does not fail.
    written.map(|()| out).map_err(|error| Error::Argument { name: "mesh", reason: error.to_string() })
}

/// Vertices and triangles, behind so many vertices of other objects.
pub(super) fn write_obj(mesh: &Mesh, before: u64, out: &mut Vec<u8>) -> std::io::Result<()> {
    for p in mesh.vertices() {
        writeln!(out, "v {:?} {:?} {:?}", p.x, p.y, p.z)?;
    }
    for corners in mesh.triangles() {
        let [a, b, c] = corners.map(|v| u64::from(v) + before + 1);
        writeln!(out, "f {a} {b} {c}")?;
    }
    Ok(())
}

fn write_stl_text(mesh: &Mesh, out: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(out, "solid impinge")?;
    for triangle in 0..mesh.triangles().len() as u32 {
        let corners = mesh.corners(triangle);
        let n = normal(corners);
        writeln!(out, "facet normal {:?} {:?} {:?}\nouter loop", n.x, n.y, n.z)?;
        for p in corners {
            writeln!(out, "vertex {:?} {:?} {:?}", p.x, p.y, p.z)?;
        }
        writeln!(out, "endloop\nendfacet")?;
    }
    writeln!(out, "endsolid impinge")
}

fn write_stl_binary(mesh: &Mesh, out: &mut Vec<u8>) -> std::io::Result<()> {
    // The header must not begin with `solid`.
    out.write_all(&[b' '; 80])?;
    out.write_all(&(mesh.triangles().len() as u32).to_le_bytes())?;
    for triangle in 0..mesh.triangles().len() as u32 {
        let corners = mesh.corners(triangle);
        for p in [normal(corners)].iter().chain(&corners) {
            for x in p.as_vec3().to_array() {
                out.write_all(&x.to_le_bytes())?;
            }
        }
        out.write_all(&[0; 2])?;
    }
    Ok(())
}

/// The unit normal of a facet; zero for one without an area, which is what the format asks for.
fn normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

fn check_single(mesh: &Mesh) -> Result<(), Error> {
    match mesh.vertices().iter().position(|p| !p.as_vec3().is_finite()) {
        Some(vertex) => Err(Error::Argument {
            name: "mesh",
            reason: format!("vertex {vertex} has a coordinate beyond the range of binary STL"),
        }),
        None => Ok(()),
    }
}

fn write_ply_header(mesh: &Mesh, format: &str, out: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(out, "ply\nformat {format} 1.0")?;
    writeln!(out, "element vertex {}", mesh.vertices().len())?;
    writeln!(out, "property double x\nproperty double y\nproperty double z")?;
    writeln!(out, "element face {}", mesh.triangles().len())?;
    writeln!(out, "property list uchar uint vertex_indices\nend_header")
}

fn write_ply_text(mesh: &Mesh, out: &mut Vec<u8>) -> std::io::Result<()> {
    write_ply_header(mesh, "ascii", out)?;
    for p in mesh.vertices() {
        writeln!(out, "{:?} {:?} {:?}", p.x, p.y, p.z)?;
    }
    for [a, b, c] in mesh.triangles() {
        writeln!(out, "3 {a} {b} {c}")?;
    }
    Ok(())
}

fn write_ply_binary(mesh: &Mesh, out: &mut Vec<u8>) -> std::io::Result<()> {
    write_ply_header(mesh, "binary_little_endian", out)?;
    for p in mesh.vertices() {
        for x in p.to_array() {
            out.write_all(&x.to_le_bytes())?;
        }
    }
    for corners in mesh.triangles() {
        out.push(3);
        for corner in corners {
            out.write_all(&corner.to_le_bytes())?;
        }
    }
    Ok(())
}
