//! `impinge rays`: where rays hit a mesh.

use std::fs;
use std::io::Write;
use std::path::Path;

use glam::DVec3;
use impinge::{Pose, Ray};

use crate::args::{Common, Rays};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::found::{Found, RayHits};
use crate::json_answer::Answer;
use crate::picture::{self, Figure, Picture};
use crate::{ask, commands, load};

/// Colours of a ray up to its hit, and of one that misses.
const HITTING: DVec3 = DVec3::new(0.75, 0.25, 0.15);
const MISSING: DVec3 = DVec3::new(0.45, 0.50, 0.58);

/// More rays than this make no picture: every n-th is drawn.
const MOST_DRAWN: usize = 2000;

/// Casts the rays of a file.
pub fn run(args: &Rays, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let shape = load::shape(&args.mesh)?;
    let rays = read(&args.rays)?;
    explain.mesh("a", &shape);
    explain.lap("load");
    let pose = args.at.unwrap_or(Pose::IDENTITY);
    let answer = ask::rays(common.settings().query(), shape.at(pose), &rays)?;
    if let (Some(mesh), Found::Rays(found)) = (shape.as_mesh(), &answer.found) {
        let figure = Figure { mesh, pose: &pose, colour: picture::BODIES[0], red: Vec::new() };
        args.drawing.save(|| drawn(figure, &rays, found))?;
    }
    commands::finish(&answer, common, &mut explain, |out| text(&answer, out))
}

/// The rays of a CSV file: `ox,oy,oz,dx,dy,dz`, with or without a header.
fn read(path: &Path) -> Result<Vec<Ray>, Failure> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|e| Failure(e.to_string()).at(&name))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
    let mut rays = Vec::new();
    for (at, (number, line)) in lines.enumerate() {
        let words: Vec<&str> = line.split([',', ';', '\t']).map(str::trim).collect();
        // A header has no number at all.
        if at == 0 && words.iter().all(|word| word.parse::<f64>().is_err()) {
            continue;
        }
        let place = format!("{name} line {}", number + 1);
        rays.push(ray_of(&words).map_err(|e| e.at(&place))?);
    }
    Ok(rays)
}

fn ray_of(words: &[&str]) -> Result<Ray, Failure> {
    let numbers: Vec<f64> = words
        .iter()
        .map(|word| word.parse().map_err(|_| Failure(format!("{word:?} is not a number"))))
        .collect::<Result<_, _>>()?;
    let numbers: [f64; 6] = numbers.try_into().map_err(|given: Vec<f64>| {
        Failure(format!("{} numbers; a ray has six: ox,oy,oz,dx,dy,dz", given.len()))
    })?;
    ask::ray(numbers)
}

fn text(answer: &Answer, out: &mut dyn Write) -> std::io::Result<()> {
    let Found::Rays(found) = &answer.found else { return Ok(()) };
    let hits = found.hits.iter().flatten().count();
    writeln!(out, "{hits} of {} rays hit", found.hits.len())?;
    for (i, hit) in found.hits.iter().enumerate() {
        match hit {
            Some(hit) => {
                let ([x, y, z], [nx, ny, nz]) = (hit.point, hit.normal);
                let (t, feature) = (hit.t, hit.feature);
                writeln!(out, "{i}: t {t:?} at {x:?},{y:?},{z:?}, normal {nx:?},{ny:?},{nz:?} ({feature})")?;
            }
            None => writeln!(out, "{i}: none")?,
        }
    }
    Ok(())
}

/// The mesh, rays up to their hits with a red dot there, and those that miss in grey.
fn drawn<'a>(figure: Figure<'a>, rays: &[Ray], found: &RayHits) -> Picture<'a> {
    let placed: Vec<DVec3> = figure.mesh.vertices().iter().map(|&p| figure.pose.apply(p)).collect();
    let (low, high) =
        placed.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(*p), h.max(*p)));
    let (centre, radius) = (low.midpoint(high), 0.5 * (high - low).length());
    let mut picture = Picture { figures: vec![figure], ..Picture::default() };
    let stride = rays.len().div_ceil(MOST_DRAWN).max(1);
    for (ray, hit) in rays.iter().zip(&found.hits).step_by(stride) {
        // Only the part near the mesh: a distant origin would make it small.
        let unit = ray.direction.normalize_or_zero();
        let along = |p: DVec3| (p - ray.origin).dot(unit);
        let start = ray.origin + unit * (along(centre) - 1.6 * radius).max(0.0);
        match hit {
            Some(hit) => {
                let at = DVec3::from(hit.point);
                picture.lines.push(([start, at], HITTING));
                picture.contacts.push([at, at]);
            }
            None => {
                let end = ray.origin + unit * (along(centre) + 1.2 * radius).max(along(start));
                if end.distance(centre) < 2.0 * radius {
                    picture.lines.push(([start, end], MISSING));
                }
            }
        }
    }
    picture
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_passed_over_and_a_bad_line_named() {
        let folder = std::env::temp_dir().join(format!("impinge-rays-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("rays.csv");
        let read_text = |text: &str| {
            fs::write(&file, text).unwrap();
            read(&file).map_err(|e| e.0)
        };
        assert_eq!(read_text("ox,oy,oz,dx,dy,dz\n0,0,5,0,0,-1\n\n1, 2, 3, 1e-3, 0, 0\n").unwrap().len(), 2);
        assert_eq!(read_text("0,0,5,0,0,-1").unwrap()[0].origin.z, 5.0);
        assert!(read_text("0,0,5,0,0,-1\n0,0,5,0,0").unwrap_err().contains("line 2: 5 numbers"));
        assert!(read_text("0,0,5,0,0,0").unwrap_err().contains("direction"));
        assert!(read_text("0,0,5,0,0,NaN").unwrap_err().contains("line 1"));
        assert!(read_text("0,0,5,x,0,1").unwrap_err().contains("\"x\" is not a number"));
        assert!(read_text("").unwrap().is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}
