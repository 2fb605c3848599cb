//! Table 1 of Faure, Allard, Falipou and Barbier (2008): a bunny against a cube at two resolutions, stage by stage; and the
//! error of the volume by resolution.

use std::collections::HashMap;

use anyhow::{Context, Result};
use image::{Rgb, RgbImage};
use impinge::narrow::image::{Stages, stages};
use impinge::{Mesh, Method, Pose, Query, Shape, VolumeOptions, procedural};

use super::Effort;
use super::volume::moved;
use crate::scenes;
use crate::table::{Table, digits, milliseconds};

const REPEATS: usize = 15;

/// Triangles of the paper's bunnies, and its milliseconds without display at 16 and at 128 pixels.
const PAPER: [(&str, usize, [f64; 2]); 2] =
    [("coarse", 21_553, [3.18, 11.18]), ("fine", 69_674, [19.62, 43.23])];

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = [
        "mesh",
        "pixels",
        "broad phase ms",
        "images ms",
        "volume ms",
        "forces ms",
        "total ms",
        "paper ms",
        "error",
    ];
    let mut table = Table::new("volume-table", &header);
    let cube = moved(&procedural::cuboid([0.25; 3], [1; 3])?, [0.35; 3])?;
    for (name, triangles, paper) in PAPER.into_iter().take(effort.pick(2, 1)) {
        let base = scenes::mesh(if name == "coarse" { "bunny4k" } else { "bunny59k" })?;
        let bunny = Shape::from(refined(base, triangles)?);
        let cube = Shape::from(cube.clone());
        let exact =
            Query::default().volume(&bunny, &cube, VolumeOptions::default())?.value.context("no volume")?;
        for (pixels, paper) in [16, 128].into_iter().zip(paper) {
            let options =
                VolumeOptions { gradient: true, resolution: Some(pixels), ..VolumeOptions::default() };
            let each: Vec<Stages> = (0..REPEATS).map(|_| stages(&bunny, &cube, &options)).collect();
            let median = |of: fn(&Stages) -> f64| {
                let mut all: Vec<f64> = each.iter().map(of).collect();
                all.sort_by(f64::total_cmp);
                all[REPEATS / 2]
            };
            let parts =
                [median(|s| s.broad_phase), median(|s| s.images), median(|s| s.volume), median(|s| s.forces)];
            let total: f64 = parts.iter().sum();
            let query = &mut Query { method: Method::Image, ..Query::default() };
            let found = query.volume(&bunny, &cube, options)?.value.context("no volume")?;
            let cells = [name.to_string(), pixels.to_string()].into_iter().chain(parts.map(milliseconds));
            let off = (found.volume / exact.volume - 1.0).abs();
            table.row(cells.chain([milliseconds(total), digits(paper), format!("{:.3} %", 100.0 * off)]));
            table.ratio(&format!("paper-{name}-{pixels}"), paper * 1e6 / total);
        }
    }
    let turned = Pose::new([0.1, 0.05, 0.02], [0.1, 0.2, 0.3, 0.9])?;
    let bunny = Shape::from(scenes::mesh("bunny4k")?);
    let exact = Query::default()
        .volume(&bunny, bunny.at(turned), VolumeOptions::default())?
        .value
        .context("no volume")?;
    let mut last = None;
    for pixels in [16, 32, 64, 128, 256, 512] {
        let options = VolumeOptions { resolution: Some(pixels), ..VolumeOptions::default() };
        let query = &mut Query { method: Method::Image, ..Query::default() };
        let found = query.volume(&bunny, bunny.at(turned), options)?.value.context("no volume")?;
        let off = (found.volume / exact.volume - 1.0).abs();
        let order = last.map_or(String::new(), |last: f64| format!(", order {:.1}", (last / off).log2()));
        table.remark(format!("bunny4k turned in itself, {pixels} pixels: error {:.4} %{order}", 100.0 * off));
        last = Some(off);
    }
    let curves = figure_six()?;
    if effort.is_kept() {
        draw_curves(&curves).save(scenes::pictures_folder().join("volume_forces.png"))?;
    }
    table.remark(
        "paper: Core 2 Duo and GeForce 8600 GTS, total without display, upload and simulation included",
    );
    Ok(table)
}

/// The force −V·∂V/∂x on a body that moves along x through a fixed one: place, exact, by images. A ball and a box through
/// a box, and a ball through a thin plate.
fn figure_six() -> Result<Vec<Vec<[f64; 3]>>> {
    let ball = Shape::from(procedural::ico_sphere(0.3, 4)?);
    let cube = Shape::from(procedural::cuboid([0.3; 3], [1; 3])?);
    let obstacle = Shape::from(procedural::cuboid([0.6, 0.8, 0.8], [1; 3])?);
    let plate = Shape::from(procedural::cuboid([0.05, 0.8, 0.8], [1; 3])?);
    let scenes = [(&ball, &obstacle), (&cube, &obstacle), (&ball, &plate)];
    let force = |mover: &Shape, fixed: &Shape, x: f64, method: Method| -> Result<f64> {
        let resolution = Some(128);
        let options = VolumeOptions { gradient: true, resolution, ..VolumeOptions::default() };
        let place = Pose::from_translation([x, 0.03, 0.02])?;
        let found = Query { method, ..Query::default() }.volume(mover.at(place), fixed, options)?;
        let found = found.value.context("no volume")?;
        Ok(-found.volume * found.gradient[0].iter().map(|slope| slope.x).sum::<f64>())
    };
    let curve = |(mover, fixed): (&Shape, &Shape)| {
        // Off the places where faces coincide.
        let places = (0..60).map(|k| -1.0 + (f64::from(k) + 0.37) / 30.0);
        places
            .map(|x| {
                let [exact, seen] =
                    [Method::Exact, Method::Image].map(|method| force(mover, fixed, x, method));
                Ok([x, exact?, seen?])
            })
            .collect()
    };
    scenes.into_iter().map(curve).collect()
}

/// The curves side by side: exact ones grey, those of images red.
fn draw_curves(curves: &[Vec<[f64; 3]>]) -> RgbImage {
    const SIDE: u32 = 360;
    let mut picture = RgbImage::from_pixel(SIDE * curves.len() as u32, SIDE, Rgb([255; 3]));
    let mut dot = |x: f64, y: f64, colour: [u8; 3]| {
        if x >= 0.0 && y >= 0.0 && (x as u32) < picture.width() && (y as u32) < picture.height() {
            picture.put_pixel(x as u32, y as u32, Rgb(colour));
        }
    };
    for (curve, left) in curves.iter().zip((0..).step_by(SIDE as usize)) {
        let largest = curve.iter().map(|[_, exact, _]| exact.abs()).fold(f64::MIN_POSITIVE, f64::max);
        let place = |x: f64, force: f64| {
            let half = 0.5 * f64::from(SIDE);
            [f64::from(left) + half * (1.0 + 0.9 * x), half * (1.0 - 0.85 * force / largest)]
        };
        (0..SIDE).for_each(|x| dot(f64::from(left + x), 0.5 * f64::from(SIDE), [200; 3]));
        for (column, colour) in [(1, [110; 3]), (2, [210, 30, 30])] {
            for pair in curve.windows(2) {
                let [from, to] = [pair[0], pair[1]].map(|point| place(point[0], point[column]));
                for step in 0..=200 {
                    let share = f64::from(step) / 200.0;
                    dot(from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share, colour);
                }
            }
        }
    }
    picture
}

/// A closed mesh with about so many triangles: halved along edges where more than twice as many are wanted, then with
/// points in the middle of some.
fn refined(mesh: Mesh, count: usize) -> Result<Mesh> {
    let (mut vertices, mut triangles) = (mesh.vertices().to_vec(), mesh.triangles().to_vec());
    while 4 * triangles.len() <= count {
        let mut middles = HashMap::new();
        let mut finer = Vec::with_capacity(4 * triangles.len());
        for &[a, b, c] in &triangles {
            let mut middle = |p: u32, q: u32| {
                *middles.entry((p.min(q), p.max(q))).or_insert_with(|| {
                    vertices.push(vertices[p as usize].midpoint(vertices[q as usize]));
                    vertices.len() as u32 - 1
                })
            };
            let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
            finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    let splits = count.saturating_sub(triangles.len()) / 2;
    for k in 0..splits.min(triangles.len()) {
        let [a, b, c] = triangles[k];
        let middle = vertices.len() as u32;
        vertices.push([a, b, c].iter().map(|&v| vertices[v as usize]).sum::<impinge::glam::DVec3>() / 3.0);
        triangles[k] = [a, b, middle];
        triangles.extend([[b, c, middle], [c, a, middle]]);
    }
    Ok(Mesh::from_points(vertices, triangles)?)
}
