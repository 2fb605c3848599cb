//! Single rays against bunny59k and dragon202k: the closest hit, and whether there is one.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use glam::{DVec3, Vec3A};
use impinge::model::Model;
use impinge::narrow::exact::ray_cast::{any_hits, first_hits};
use impinge::{Mesh, Pose, Ray, procedural};
use obvhs::BvhBuildParams;
use obvhs::bvh2::Bvh2;
use obvhs::cwbvh::CwBvh;
use obvhs::ray::{Ray as ObvhsRay, RayHit as ObvhsHit};
use obvhs::rt_triangle::RtTriangle;

use super::Effort;
use crate::outside::Outside;
use crate::peers::{trees, wanted};
use crate::scenes;
use crate::table::Table;
use crate::timing::{Contestant, Timed, Track, alternate, faster_by, median_of};

/// Rays along each side of the coherent picture; as many rays in all are incoherent.
const SIDE: usize = 1024;

/// Rays that are cast in a row before the next contestant is asked.
const BLOCK: usize = 1 << 16;

/// How often each block is cast by each contestant.
const REPEATS: usize = 3;

/// A block takes far less with any peer.
const PATIENCE: Duration = Duration::from_secs(120);

/// How far the mean parameter of the hits of a block may be from ours, relative: f32 against f64.
const MEAN_TOLERANCE: f64 = 1e-5;

/// How many of a million rays may pass an edge on the other side in f32.
const STRAY: usize = 8;

/// Origin and direction in f32, as the peers take them.
type Numbers = [f32; 6];

/// What is known of a block: hits, and the sum of their parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Found {
    hits: usize,
    sum: f64,
}

impl FromIterator<Option<f64>> for Found {
    fn from_iter<I: IntoIterator<Item = Option<f64>>>(hits: I) -> Found {
        hits.into_iter()
            .flatten()
            .fold(Found::default(), |found, t| Found { hits: found.hits + 1, sum: found.sum + t })
    }
}

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = ["rays", "contestant", "ns/ray", "million rays/s", "hits", "compared with ours"];
    let mut table = Table::new("rays", &header);
    for name in ["bunny59k", "dragon202k"] {
        // The same numbers for all: what f32 holds.
        let mesh = scenes::mesh(name)?;
        let vertices = mesh.vertices().iter().map(|p| p.as_vec3().as_dvec3().to_array()).collect();
        let mesh = Mesh::new(vertices, mesh.triangles().to_vec())?;
        let model = Model::from(mesh.clone());
        let obvhs = Obvhs::new(&mesh);
        for (kind, rays) in [("coherent", coherent(&mesh)), ("incoherent", incoherent(&mesh))] {
            let mut embree = Embree::start(&mesh, &rays, &mut table)?;
            for any in [false, true] {
                let what = format!("{name}-{kind}-{}", if any { "any" } else { "closest" });
                rows(&mut table, effort, &what, any, &model, &obvhs, &rays, embree.as_mut())?;
            }
        }
    }
    table.remark(
        "one thread, single rays, 1,048,576 of each kind in blocks of 65,536; vertices and rays are rounded",
    );
    table.remark(
        "to f32 for all; ours are decided in f64 and come with point, unit normal, feature and weights",
    );
    table.remark(
        "ratio obvhs-…: the better of obvhs-cwbvh and obvhs-bvh2 (very_slow_build); embree: quality high",
    );
    Ok(table)
}

#[allow(clippy::too_many_arguments, reason = "one row of the table is all of these")]
fn rows(
    table: &mut Table,
    effort: Effort,
    what: &str,
    any: bool,
    model: &Model,
    obvhs: &Obvhs,
    rays: &[Numbers],
    embree: Option<&mut Embree>,
) -> Result<()> {
    let ours: Vec<Ray> = rays.iter().map(exact_ray).collect::<Result<_>>()?;
    let at = |block: usize| block * BLOCK..(block + 1) * BLOCK;
    let repeats = effort.pick(REPEATS, 1);
    let mut contestants = vec![
        Contestant::new("impinge", |block| {
            let rays = &ours[at(block)];
            Ok(per_ray(median_of(repeats, || match any {
                false => first_hits(model, &Pose::IDENTITY, rays).map(|h| h.map(|h| h.t)).collect(),
                true => flags(any_hits(model, &Pose::IDENTITY, rays)),
            })))
        }),
        Contestant::new("obvhs-cwbvh", |block| {
            let rays = &rays[at(block)];
            Ok(per_ray(median_of(repeats, || match any {
                false => rays.iter().map(|r| obvhs.closest_wide(r)).collect(),
                true => flags(rays.iter().map(|r| obvhs.any_wide(r))),
            })))
        }),
        Contestant::new("obvhs-bvh2", |block| {
            let rays = &rays[at(block)];
            Ok(per_ray(median_of(repeats, || match any {
                false => rays.iter().map(|r| obvhs.closest_binary(r)).collect(),
                true => flags(rays.iter().map(|r| obvhs.any_binary(r))),
            })))
        }),
    ];
    let embree = embree.map(std::cell::RefCell::new);
    if let Some(embree) = &embree {
        for (name, mode) in [("embree-robust", "robust"), ("embree-fast", "fast")] {
            contestants
                .push(Contestant::new(name, move |block| embree.borrow_mut().ask(mode, any, block, repeats)));
        }
    }
    let blocks: Vec<usize> = (0..rays.len() / BLOCK).step_by(effort.pick(1, 7)).collect();
    let tracks = alternate(&mut contestants, &blocks);
    drop(contestants);
    add_rows(table, what, &tracks);
    Ok(())
}

fn add_rows(table: &mut Table, what: &str, tracks: &[Track<Found>]) {
    let Some(ours) = tracks.first() else { return };
    for track in tracks {
        if let Some(why) = &track.failure {
            table.missing(format!("{}: {why}", track.name));
        }
        let mean = track.statistics().mean;
        let hits: usize = track.answers.iter().map(|found| found.hits).sum();
        let cells =
            [format!("{mean:.1}"), format!("{:.2}", 1e3 / mean), hits.to_string(), compared(ours, track)];
        table.row([what.to_string(), track.name.to_string()].into_iter().chain(cells));
    }
    let of = |name: &str| tracks.iter().find(|track| track.name == name);
    let ratio = |track: &Track<Found>| faster_by(ours, track).mean;
    let obvhs = [of("obvhs-cwbvh"), of("obvhs-bvh2")].into_iter().flatten().map(ratio).reduce(f64::min);
    if let Some(obvhs) = obvhs {
        table.ratio(&format!("obvhs-{what}"), obvhs);
    }
    for name in ["embree-robust", "embree-fast"] {
        if let Some(track) = of(name) {
            table.ratio(&format!("{name}-{what}"), ratio(track));
        }
    }
}

fn compared(ours: &Track<Found>, theirs: &Track<Found>) -> String {
    let (mut other, mut off) = (0, 0);
    for (a, b) in ours.answers.iter().zip(&theirs.answers) {
        other += a.hits.abs_diff(b.hits);
        let wide = STRAY as f64 / a.hits.max(1) as f64;
        off += usize::from((a.sum - b.sum).abs() > (MEAN_TOLERANCE + wide) * a.sum.abs().max(b.sum.abs()));
    }
    match (other, off) {
        (0, 0) => "agrees".into(),
        (..=STRAY, 0) => format!("agrees but for {other} rays at edges"),
        _ => format!("{other} other hits, {off} blocks with another mean"),
    }
}

fn flags(hits: impl IntoIterator<Item = bool>) -> Found {
    hits.into_iter().map(|hit| hit.then_some(0.0)).collect()
}

fn per_ray(block: Timed<Found>) -> Timed<Found> {
    Timed { nanoseconds: block.nanoseconds / BLOCK as f64, ..block }
}

fn exact_ray(r: &Numbers) -> Result<Ray> {
    let [ox, oy, oz, dx, dy, dz] = r.map(f64::from);
    Ok(Ray::new([ox, oy, oz], [dx, dy, dz])?)
}

fn box_of(mesh: &Mesh) -> (DVec3, DVec3) {
    let (low, high) =
        mesh.vertices().iter().fold((DVec3::MAX, DVec3::MIN), |(l, h), p| (l.min(*p), h.max(*p)));
    ((low + high) / 2.0, (high - low) / 2.0)
}

/// The rays of a picture, row by row.
fn coherent(mesh: &Mesh) -> Vec<Numbers> {
    let (middle, half) = box_of(mesh);
    let away = half.length() * 2.2;
    let eye = middle + DVec3::new(0.5, 0.35, 1.0).normalize() * away;
    let forward = (middle - eye).normalize();
    let right = forward.cross(DVec3::Y).normalize();
    let up = right.cross(forward);
    let wide = (half.length() / away).asin().tan() * 0.85;
    let pixel = |k: usize| (k as f64 + 0.5) / (SIDE as f64 / 2.0) - 1.0;
    (0..SIDE * SIDE)
        .map(|i| {
            let (x, y) = (pixel(i % SIDE), pixel(i / SIDE));
            numbers(eye, (forward + right * (wide * x) - up * (wide * y)).normalize())
        })
        .collect()
}

/// From a sphere around the mesh to anywhere in its box.
fn incoherent(mesh: &Mesh) -> Vec<Numbers> {
    let (middle, half) = box_of(mesh);
    // Points of a ball are as good as normal deviates: all directions are equally likely.
    let ball = procedural::positions(4 * SIDE * SIDE, DVec3::NEG_ONE, DVec3::ONE, 7);
    let directions = ball.into_iter().filter(|p| (0.01..=1.0).contains(&p.length_squared()));
    let targets = procedural::positions(SIDE * SIDE, middle - half, middle + half, 8);
    directions
        .zip(targets)
        .map(|(out, to)| {
            let from = middle + out.normalize() * half.length() * 2.0;
            numbers(from, (to - from).normalize())
        })
        .collect()
}

fn numbers(origin: DVec3, direction: DVec3) -> Numbers {
    let ([a, b, c], [d, e, f]) = (origin.to_array(), direction.to_array());
    [a, b, c, d, e, f].map(|x| x as f32)
}

/// Both trees of obvhs.
struct Obvhs {
    wide: CwBvh,
    wide_triangles: Vec<RtTriangle>,
    binary: Bvh2,
    binary_triangles: Vec<RtTriangle>,
}

impl Obvhs {
    fn new(mesh: &Mesh) -> Obvhs {
        let triangles = trees::obvhs_triangles(mesh);
        let slow = BvhBuildParams::very_slow_build;
        let wide = obvhs::cwbvh::builder::build_cwbvh_from_tris(&triangles, slow(), &mut Duration::default());
        let binary = trees::obvhs_build(&triangles, slow());
        let ordered = |order: &[u32]| order.iter().map(|&i| (&triangles[i as usize]).into()).collect();
        let wide_triangles = ordered(&wide.primitive_indices);
        let binary_triangles = ordered(&binary.primitive_indices);
        Obvhs { wide, wide_triangles, binary, binary_triangles }
    }

    fn closest_wide(&self, r: &Numbers) -> Option<f64> {
        let mut hit = ObvhsHit::none();
        let found =
            self.wide.ray_traverse(obvhs_ray(r), &mut hit, |ray, i| self.wide_triangles[i].intersect(ray));
        found.then_some(hit.t.into())
    }

    fn any_wide(&self, r: &Numbers) -> bool {
        !self.wide.ray_traverse_miss(obvhs_ray(r), |ray, i| self.wide_triangles[i].intersect(ray))
    }

    fn closest_binary(&self, r: &Numbers) -> Option<f64> {
        let mut hit = ObvhsHit::none();
        let found = self
            .binary
            .ray_traverse(obvhs_ray(r), &mut hit, |ray, i| self.binary_triangles[i].intersect(ray));
        found.then_some(hit.t.into())
    }

    fn any_binary(&self, r: &Numbers) -> bool {
        !self.binary.ray_traverse_miss(obvhs_ray(r), |ray, i| self.binary_triangles[i].intersect(ray))
    }
}

fn obvhs_ray(r: &Numbers) -> ObvhsRay {
    ObvhsRay::new_inf(Vec3A::new(r[0], r[1], r[2]), Vec3A::new(r[3], r[4], r[5]))
}

/// Embree in its own process.
struct Embree(Outside);

impl Embree {
    fn start(mesh: &Mesh, rays: &[Numbers], table: &mut Table) -> Result<Option<Embree>> {
        if !wanted("embree") {
            return Ok(None);
        }
        let program = scenes::peers_folder().join("bin/embree");
        if !program.is_file() {
            table.missing("embree: not built; `cargo run --release -p impinge-bench -- setup` gets it");
            return Ok(None);
        }
        let [mesh, ..] = scenes::export(mesh, mesh, &[])?;
        let mut bytes = (rays.len() as u32).to_le_bytes().to_vec();
        bytes.extend(rays.iter().flatten().flat_map(|x| x.to_le_bytes()));
        let file: PathBuf = mesh.with_file_name("rays.bin");
        fs::write(&file, bytes)?;
        Ok(Some(Embree(Outside::start("embree", Command::new(program).args([mesh, file]), PATIENCE)?)))
    }

    fn ask(&mut self, mode: &str, any: bool, block: usize, repeats: usize) -> Result<Timed<Found>> {
        let what = if any { "any" } else { "closest" };
        let Timed { nanoseconds, answer } = self.0.ask(&format!("{mode}-{what} {block} {repeats}"))?;
        let [hits, sum] = &answer[..] else { anyhow::bail!("{answer:?} is not two numbers") };
        let hits = hits.parse().with_context(|| format!("hits {hits}"))?;
        Ok(Timed { nanoseconds, answer: Found { hits, sum: sum.parse()? } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rays_start_outside_and_about_half_of_them_hit() -> Result<()> {
        let mesh = procedural::blob(1.0, 0.3, 3, 4)?;
        let (model, obvhs) = (Model::from(mesh.clone()), Obvhs::new(&mesh));
        for rays in [coherent(&mesh), incoherent(&mesh)] {
            assert_eq!(rays.len(), 1 << 20);
            let few: Vec<Numbers> = rays.into_iter().step_by(997).collect();
            let exact: Vec<Ray> = few.iter().map(exact_ray).collect::<Result<_>>()?;
            let ours: Found = first_hits(&model, &Pose::IDENTITY, &exact).map(|h| h.map(|h| h.t)).collect();
            let theirs: Found = few.iter().map(|r| obvhs.closest_binary(r)).collect();
            assert!((few.len() / 4..few.len()).contains(&ours.hits), "{ours:?}");
            assert!(ours.hits.abs_diff(theirs.hits) <= 1 && (ours.sum - theirs.sum).abs() < 5.0);
            assert_eq!(flags(any_hits(&model, &Pose::IDENTITY, &exact)).hits, ours.hits);
            assert_eq!(few.iter().filter(|r| obvhs.any_wide(r)).count(), theirs.hits);
        }
        Ok(())
    }
}
