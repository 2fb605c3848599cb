//! Table 1 of Faure, Allard, Falipou and Barbier (2008): a bunny against a cube at two resolutions, stage by stage; and the
//! error of the volume by resolution.

use std::collections::HashMap;

use anyhow::{Context, Result};
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
    table.remark(
        "paper: Core 2 Duo and GeForce 8600 GTS, total without display, upload and simulation included",
    );
    Ok(table)
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
