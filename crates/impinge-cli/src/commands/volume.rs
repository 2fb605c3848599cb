//! `impinge volume`: how much two solids overlap.

use std::io::Write;

use glam::DVec3;
use impinge::{Budget, Mesh, Method, OpenSurface, Placed, Pose, Query, SurfaceSample, VolumeOptions};

use super::volume_files::{GradientFile, MeshFile};
use crate::args::{Common, Drawing, Open, Size, Volume};
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
    let mut query = common.settings().query();
    let (answer, measured) = ask::volume(&mut query, a, b, options)?;
    if let Some(path) = &args.drawing.picture {
        output::file(path, &draw(query.budget, bodies, options, &args.drawing)?)?;
    }
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
/// (figure 10 of Faure, Allard, Falipou and Barbier 2008): of the three images each place is shown by the one that sees
/// it best, so that no two lie on each other. The images are made with what is left of the budget.
fn draw(
    budget: Budget,
    bodies: [Placed<'_>; 2],
    options: VolumeOptions,
    drawing: &Drawing,
) -> Result<Vec<u8>, Failure> {
    let [a, b] = bodies;
    let resolution = Some(options.resolution.unwrap_or(PICTURED));
    let asked =
        VolumeOptions { samples: true, gradient: false, border: false, resolution, error: None, ..options };
    let mut query = Query { method: Method::Image, budget, ..Query::default() };
    let found = query.volume(a, b, asked)?.value;
    if found.is_none() {
        picture::say_cut_short();
    }
    let found = found.map(|found| found.samples).unwrap_or_default();
    let poses = [a.pose(), b.pose(), Pose::IDENTITY];
    let figures = bodies.into_iter().zip(&poses).zip(picture::BODIES).filter_map(|((body, pose), colour)| {
        Some(Figure { mesh: body.shape().as_mesh()?, pose, colour, red: Vec::new() })
    });
    let whole = Picture { figures: figures.collect(), view: drawing.view, ..Picture::default() };
    let pixel = pixel_size(&found);
    let pixels = (0..3).map(|axis| (pixels(&found, bodies, axis, pixel), DVec3::AXES[axis]));
    let pixels: Vec<(Mesh, DVec3)> = pixels.filter_map(|(mesh, axis)| Some((mesh?, axis))).collect();
    let border = pixels.iter().map(|(mesh, axis)| {
        let colour = 0.75 * *axis + DVec3::splat(0.08);
        Figure { mesh, pose: &poses[2], colour, red: Vec::new() }
    });
    let border = Picture { figures: border.collect(), view: drawing.view, ..Picture::default() };
    let Size { width, height } = drawing.size.unwrap_or_default();
    picture::side_by_side(&[whole, border], width, height)
}

/// Pixels along each side of the images of a picture, unless given.
const PICTURED: u32 = 64;

/// The axis along which a vector is longest.
fn main_axis(v: DVec3) -> usize {
    v.abs().max_position()
}

/// The sides of the pixels of the three images: each has the product of two as its area.
fn pixel_size(samples: &[SurfaceSample]) -> DVec3 {
    let mut areas = DVec3::ZERO;
    for sample in samples {
        areas = areas.max(sample.area.abs());
    }
    // An image that sees nothing has no pixels to be drawn; theirs are squares then.
    let areas = DVec3::select(areas.cmpgt(DVec3::ZERO), areas, DVec3::splat(areas.max_element()));
    let [x, y, z] = areas.map(f64::sqrt).to_array();
    DVec3::new(y * z / x, z * x / y, x * y / z)
}

/// The pixels of the image along an axis, turned into the faces that they show, where no other image sees these better;
/// `None` where there are none.
fn pixels(samples: &[SurfaceSample], bodies: [Placed<'_>; 2], axis: usize, pixel: DVec3) -> Option<Mesh> {
    let poses = bodies.map(|body| body.pose());
    // Covers of open bodies are no triangles and are seen along the axis.
    let face = |sample: &SurfaceSample| match (bodies[sample.body].shape().as_mesh(), sample.triangle) {
        (Some(mesh), Some(triangle)) => {
            let corners = mesh.triangles()[triangle as usize];
            let [a, b, c] = corners.map(|v| poses[sample.body].apply(mesh.vertices()[v as usize]));
            (b - a).cross(c - a)
        }
        _ => sample.area,
    };
    let [up, along, across] = [0, 1, 2].map(|k| DVec3::AXES[(axis + k) % 3]);
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for sample in samples.iter().filter(|sample| main_axis(sample.area) == axis) {
        let normal = face(sample);
        if main_axis(normal) != axis {
            continue;
        }
        let first = vertices.len() as u32;
        vertices.extend([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].map(|[x, y]| {
            let beside = x * pixel * along + y * pixel * across;
            sample.point + beside - up * (beside.dot(normal) / up.dot(normal))
        }));
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
