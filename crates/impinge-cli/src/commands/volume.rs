//! `impinge volume`: how much two solids overlap.

use std::io::Write;

use glam::DVec3;
use impinge::{Mesh, Method, OpenSurface, Placed, Pose, Query, SurfaceSample, VolumeOptions};

use super::volume_files::{GradientFile, MeshFile};
use crate::args::{Common, Open, Volume};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::found::Found;
use crate::json_answer::Answer;
use crate::picture::{self, Figure, Picture};
use crate::{ask, commands, output};

/// Measures.
pub fn run(args: &Volume, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let gradient_file = args.gradient.as_deref().map(GradientFile::new).transpose()?;
    let mesh_file = args.mesh.as_deref().map(MeshFile::new).transpose()?;
    let shapes = commands::load_two(&args.two, &mut explain)?;
    let bodies @ [a, b] = commands::place(&args.two, &shapes);
    let options = VolumeOptions {
        gradient: gradient_file.is_some(),
        border: mesh_file.is_some(),
        resolution: args.resolution,
        error: args.error,
        open: args.open.map(|open| match open {
            Open::HalfSpace => OpenSurface::HalfSpace,
            Open::Winding => OpenSurface::Winding,
        }),
        ..VolumeOptions::default()
    };
    if let Some(path) = &args.picture {
        output::file(path, &draw(a, b, options)?)?;
    }
    let (answer, measured) = ask::volume(common.settings().query(), a, b, options)?;
    if let Some(measured) = &measured {
        if let Some(file) = gradient_file {
            file.write(bodies, &measured.gradient)?;
        }
        if let Some(file) = mesh_file {
            file.write(measured)?;
        }
    }
    commands::finish(&answer, common, &mut explain, |out| text(&answer, out))
}

/// Both bodies, and beside them the border of their intersection in pixels, coloured by the axis that they are seen along
/// (figure 10 of Faure, Allard, Falipou and Barbier 2008).
fn draw(a: Placed<'_>, b: Placed<'_>, options: VolumeOptions) -> Result<Vec<u8>, Failure> {
    let resolution = Some(options.resolution.unwrap_or(PICTURED));
    let asked =
        VolumeOptions { samples: true, gradient: false, border: false, resolution, error: None, ..options };
    let mut query = Query { method: Method::Image, ..Query::default() };
    let found = query.volume(a, b, asked)?.value.map(|found| found.samples).unwrap_or_default();
    let poses = [a.pose(), b.pose(), Pose::IDENTITY];
    let bodies = [a, b].into_iter().zip(&poses).zip(picture::BODIES).filter_map(|((body, pose), colour)| {
        Some(Figure { mesh: body.shape().as_mesh()?, pose, colour, red: Vec::new() })
    });
    let whole = Picture { figures: bodies.collect(), ..Picture::default() };
    let pixels = DVec3::AXES.map(|axis| pixels(&found, axis)).into_iter().zip(DVec3::AXES);
    let pixels: Vec<(Mesh, DVec3)> = pixels.filter_map(|(mesh, axis)| Some((mesh?, axis))).collect();
    let border = pixels.iter().map(|(mesh, axis)| {
        let colour = 0.75 * *axis + DVec3::splat(0.08);
        Figure { mesh, pose: &poses[2], colour, red: Vec::new() }
    });
    let border = Picture { figures: border.collect(), ..Picture::default() };
    picture::side_by_side(&[whole, border], 720, 720)
}

/// Pixels along each side of the images of a picture, unless given.
const PICTURED: u32 = 64;

/// Squares of the size of the pixels seen along an axis; `None` where there are none.
fn pixels(samples: &[SurfaceSample], axis: DVec3) -> Option<Mesh> {
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for sample in samples.iter().filter(|sample| sample.area.abs().dot(axis) > 0.5 * sample.area.length()) {
        let half = 0.5 * sample.area.length().sqrt();
        let (x, y) = (axis.any_orthonormal_vector() * half, axis.cross(axis.any_orthonormal_vector()) * half);
        let first = vertices.len() as u32;
        vertices.extend([-x - y, x - y, x + y, y - x].map(|corner| sample.point + corner));
        triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
    }
    Mesh::from_points(vertices, triangles).ok()
}

fn text(answer: &Answer, out: &mut dyn Write) -> std::io::Result<()> {
    let Found::Volume(found) = &answer.found else { return Ok(()) };
    let (Some(volume), Some(error)) = (found.volume, found.volume_error) else {
        return writeln!(out, "undecided");
    };
    writeln!(out, "{volume:?} (error about {error:.1e})")?;
    for (number, patch) in found.patches.iter().enumerate() {
        let [x, y, z] = patch.centroid;
        write!(out, "{number:>4}  volume {:?} about {x:?},{y:?},{z:?}", patch.volume)?;
        match patch.normal {
            Some([x, y, z]) => {
                writeln!(out, ", {:?} deep along {x:?},{y:?},{z:?}, area {:?}", patch.depth, patch.area)?;
            }
            None => writeln!(out, ", in no direction less")?,
        }
    }
    Ok(())
}
