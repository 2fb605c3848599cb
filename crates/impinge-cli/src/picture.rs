//! A small software rasteriser: placed meshes in perspective, flat shaded, chosen triangles in red, thin lines,
//! and contacts as red dots.
//!
//! Chosen triangles and contacts that are hidden shine through, so that a contact inside a body can be seen.
//! The picture is for people: it is drawn in f64 without exactness, the same on every run.

mod canvas;

use std::io::{Cursor, Write, stderr};

use glam::{DVec2, DVec3};
use image::{ImageFormat, RgbImage, imageops};
use impinge::{Mesh, Pose};

use self::canvas::{Canvas, SAMPLES, Seen};
use crate::args::{Drawing, Size};
use crate::error::Failure;
use crate::output;

/// Linear colours of the bodies, in turn.
pub const BODIES: [DVec3; 2] = [DVec3::new(0.36, 0.56, 0.78), DVec3::new(0.86, 0.80, 0.66)];

const RED: DVec3 = DVec3::new(0.90, 0.08, 0.06);

/// From where the scene is seen.
const VIEW: DVec3 = DVec3::new(0.62, -0.95, 0.62);

/// From where it is lit.
const LIGHT: DVec3 = DVec3::new(0.25, -0.55, 0.80);

/// Distance of the eye from the centre, in radii of the scene: nothing comes near the eye.
const EYE: f64 = 4.0;

/// How much of the frame the scene fills.
const FILLED: f64 = 0.9;

/// Half the width of a line and of a curve, and the radius of a dot, in samples.
const THIN: f64 = 1.2;
const THICK: f64 = 2.5;
const DOT: f64 = 5.0;

/// A colour for what is only indicated: half way to white.
pub fn pale(colour: DVec3) -> DVec3 {
    colour.lerp(DVec3::ONE, 0.6)
}

/// The n-th of as many colours as one likes, no two near ones alike.
pub fn colour_of(n: usize) -> DVec3 {
    // Steps of the golden ratio round the colour circle.
    let turn = std::f64::consts::TAU * (n as f64 * 0.618_033_988_749_895).fract();
    let wave = |shift: f64| 0.62 + 0.26 * (turn + shift).cos();
    DVec3::new(wave(0.0), wave(-2.1), wave(2.1))
}

/// One body of the picture.
#[derive(Debug)]
pub struct Figure<'a> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Where it is.
    pub pose: &'a Pose,
    /// Its colour.
    pub colour: DVec3,
    /// The triangles to draw red.
    pub red: Vec<u32>,
}

/// Everything to be seen.
#[derive(Debug, Default)]
pub struct Picture<'a> {
    /// The bodies.
    pub figures: Vec<Figure<'a>>,
    /// Thin lines with their colours, hidden by what is before them.
    pub lines: Vec<([DVec3; 2], DVec3)>,
    /// Pairs of near points, drawn red through everything.
    pub contacts: Vec<[DVec3; 2]>,
    /// Pieces of curves on surfaces, drawn red through everything.
    pub curves: Vec<[DVec3; 2]>,
    /// The box that fills the frame, if not everything.
    pub focus: Option<[DVec3; 2]>,
    /// The direction towards the eye, if not the usual one.
    pub view: Option<DVec3>,
}

impl Picture<'_> {
    /// Draws everything into a PNG of this size.
    pub fn png(&self, width: u32, height: u32) -> Result<Vec<u8>, Failure> {
        encode(&self.image(width, height))
    }

    fn image(&self, width: u32, height: u32) -> RgbImage {
        let placed: Vec<Vec<DVec3>> = self
            .figures
            .iter()
            .map(|f| f.mesh.vertices().iter().map(|&p| f.pose.apply(p)).collect())
            .collect();
        let ends = self.lines.iter().flat_map(|(ends, _)| ends).chain(self.contacts.iter().flatten());
        let mut canvas = Canvas::new(width as usize * SAMPLES, height as usize * SAMPLES);
        let view = self.view.unwrap_or(VIEW).normalize_or(DVec3::Z);
        // From above the eye, unless nobody said where that is.
        let light = self.view.map_or(LIGHT, |_| 0.6 * view + 0.8 * DVec3::Z).normalize_or(DVec3::Z);
        let mut camera =
            Camera::around(placed.iter().flatten().chain(ends), view, canvas.width, canvas.height);
        if let Some([low, high]) = self.focus {
            let corner = |k: usize| DVec3::from([0, 1, 2].map(|i| [low, high][k >> i & 1][i]));
            camera = camera.framed_on((0..8).map(corner), canvas.width, canvas.height);
        }
        let mut hidden = Vec::new();
        for (figure, points) in self.figures.iter().zip(&placed) {
            let mut red = vec![false; figure.mesh.triangles().len()];
            figure.red.iter().for_each(|&t| red[t as usize] = true);
            let seen: Vec<Seen> = points.iter().map(|&p| camera.see(p)).collect();
            for (corners, red) in figure.mesh.triangles().iter().zip(red) {
                let corners = corners.map(|v| seen[v as usize]);
                let colour = if red { RED } else { figure.colour };
                canvas.fill(corners, shade(corners, view, light, colour));
                if red {
                    hidden.push(corners);
                }
            }
        }
        canvas.shine_through(&hidden);
        for &(ends, colour) in &self.lines {
            canvas.line(ends.map(|p| camera.see(p)), colour, THIN, false);
        }
        // A picture of one place is looked at when it is small.
        let bold = if self.focus.is_some() { 2.0 } else { 1.0 };
        for &ends in &self.curves {
            canvas.line(ends.map(|p| camera.see(p)), RED, bold * THICK, true);
        }
        for &ends in &self.contacts {
            let ends = ends.map(|p| camera.see(p));
            canvas.line(ends, RED, bold * THIN, true);
            ends.iter().for_each(|&end| canvas.line([end; 2], RED, bold * DOT, true));
        }
        canvas.into_image(width, height)
    }
}

/// Draws several pictures beside each other, each seen from its own front, into one PNG of this size.
pub fn side_by_side(pictures: &[Picture<'_>], width: u32, height: u32) -> Result<Vec<u8>, Failure> {
    let mut whole = RgbImage::new(width, height);
    let count = pictures.len() as u32;
    for (picture, n) in pictures.iter().zip(0..) {
        let [from, to] = [n, n + 1].map(|n| width * n / count);
        imageops::replace(&mut whole, &picture.image(to - from, height), i64::from(from), 0);
    }
    encode(&whole)
}

impl Drawing {
    /// Draws and writes a picture, if one is wanted.
    pub fn save<'a>(&self, draw: impl FnOnce() -> Picture<'a>) -> Result<(), Failure> {
        let Some(file) = &self.picture else { return Ok(()) };
        let mut picture = draw();
        picture.view = self.view.or(picture.view);
        let Size { width, height } = self.size.unwrap_or_default();
        output::file(file, &picture.png(width, height)?)
    }
}

/// Says that a budget ended before all was found that a picture would show.
pub fn say_cut_short() {
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(stderr(), "note: the budget ended before all was found that the picture would show");
}

fn encode(image: &RgbImage) -> Result<Vec<u8>, Failure> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png).map_err(|e| Failure(format!("the picture: {e}")))?;
    Ok(bytes.into_inner())
}

struct Camera {
    centre: DVec3,
    radius: f64,
    axes: [DVec3; 3],
    scale: f64,
    /// Where the centre's ray meets the canvas.
    middle: DVec2,
}

impl Camera {
    fn around<'p>(
        points: impl Iterator<Item = &'p DVec3> + Clone,
        back: DVec3,
        width: usize,
        height: usize,
    ) -> Camera {
        let (low, high) = points
            .clone()
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &p| (low.min(p), high.max(p)));
        let centre = low / 2.0 + high / 2.0;
        // Scaled by the box first: coordinates may be so large that their squares overflow.
        let size = (high - low).max_element();
        let size = if size > 0.0 { size } else { 1.0 };
        let radius = points.clone().map(|&p| ((p - centre) / size).length()).fold(0.0, f64::max);
        let radius = if radius > 0.0 { radius * size } else { size };
        let right = DVec3::Z.cross(back).normalize_or(DVec3::X);
        let axes = [right, back.cross(right), back];
        let raw = Camera { centre, radius, axes, scale: 1.0, middle: DVec2::ZERO };
        raw.framed(points.map(|&p| raw.see(p)), width as f64, height as f64)
    }

    /// The same view, moved and scaled so that these points fill the frame.
    fn framed_on(&self, points: impl Iterator<Item = DVec3>, width: usize, height: usize) -> Camera {
        let raw = Camera { scale: 1.0, middle: DVec2::ZERO, ..*self };
        raw.framed(points.map(|p| raw.see(p)), width as f64, height as f64)
    }

    /// The same view, moved and scaled so that everything seen fills the frame.
    fn framed(&self, seen: impl Iterator<Item = Seen>, width: f64, height: f64) -> Camera {
        let (low, high) = seen
            .map(|s| DVec2::new(s.x, s.y))
            .fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
        let size = (high - low).max(DVec2::splat(f64::MIN_POSITIVE));
        let scale = (FILLED * width / size.x).min(FILLED * height / size.y);
        // A scene that is seen as one point needs no scale.
        let scale = if scale.is_finite() && high != low { scale } else { 1.0 };
        let middle = DVec2::new(width, height) / 2.0 - scale * (low + high) / 2.0;
        Camera { scale, middle, ..*self }
    }

    fn see(&self, p: DVec3) -> Seen {
        let q = (p - self.centre) / self.radius;
        let [x, y, z] = self.axes.map(|axis| axis.dot(q));
        let near = 1.0 / (EYE - z);
        Seen {
            x: self.middle.x + self.scale * x * near,
            y: self.middle.y - self.scale * y * near,
            near,
            at: q,
        }
    }
}

/// Two-sided light: the orientation of the triangle does not matter.
fn shade([a, b, c]: [Seen; 3], view: DVec3, light: DVec3, colour: DVec3) -> DVec3 {
    let normal = (b.at - a.at).cross(c.at - a.at).normalize_or_zero();
    let towards = normal * normal.dot(view).signum();
    colour * (0.30 + 0.70 * towards.dot(light).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(z: f64) -> Mesh {
        let points = vec![[-1.0, -1.0, z], [1.0, -1.0, z], [1.0, 1.0, z], [-1.0, 1.0, z]];
        Mesh::new(points, vec![[0, 1, 2], [0, 2, 3]]).unwrap()
    }

    fn draw(figures: Vec<Figure<'_>>) -> RgbImage {
        image_of(&Picture { figures, ..Picture::default() })
    }

    fn image_of(picture: &Picture<'_>) -> RgbImage {
        image::load_from_memory(&picture.png(64, 48).unwrap()).unwrap().into_rgb8()
    }

    fn reddish(picture: &RgbImage) -> usize {
        picture.pixels().filter(|p| p[0] > 90 && p[0] as u32 > 2 * p[1] as u32).count()
    }

    #[test]
    fn red_triangles_are_seen_and_shine_through() {
        let (low, high) = (square(0.0), square(0.5));
        let figure = |mesh, red| Figure { mesh, pose: &Pose::IDENTITY, colour: BODIES[0], red };
        assert_eq!(reddish(&draw(vec![figure(&low, vec![])])), 0);
        let half = reddish(&draw(vec![figure(&low, vec![0])]));
        let full = reddish(&draw(vec![figure(&low, vec![0, 1])]));
        assert!(0 < half && half < full, "{half} {full}");
        let hidden = draw(vec![figure(&low, vec![0, 1]), figure(&high, vec![])]);
        let plain = draw(vec![figure(&low, vec![]), figure(&high, vec![])]);
        let changed = hidden.pixels().zip(plain.pixels()).filter(|(x, y)| x != y).count();
        assert!(changed > full / 4, "{changed} {full}");
    }

    #[test]
    fn lines_are_hidden_and_contacts_are_not() {
        let (low, high) = (square(0.0), square(0.5));
        let figures = || {
            [&low, &high]
                .map(|mesh| Figure { mesh, pose: &Pose::IDENTITY, colour: BODIES[0], red: vec![] })
                .into()
        };
        let between = [DVec3::new(-0.2, 0.0, 0.2), DVec3::new(0.2, 0.0, 0.2)];
        let plain = draw(figures());
        let line = image_of(&Picture {
            figures: figures(),
            lines: vec![(between, DVec3::ZERO)],
            ..Picture::default()
        });
        assert!(line == plain, "the line lies behind the upper square");
        let contact =
            image_of(&Picture { figures: figures(), contacts: vec![between], ..Picture::default() });
        assert!(reddish(&contact) > 10);
        let open = image_of(&Picture { lines: vec![(between, DVec3::ZERO)], ..Picture::default() });
        assert!(open.pixels().any(|p| p[0] < 60));
    }

    #[test]
    fn any_size_and_any_flatness_can_be_drawn() {
        for scale in [1e-300, 1e-6, 1.0, 1e60] {
            let points = vec![[0.0; 3], [scale, 0.0, 0.0], [0.0, scale, 0.0]];
            let flat = Mesh::new(points.clone(), vec![[0, 1, 2]]).unwrap();
            let dot = Mesh::new(points, vec![[1, 1, 1]]).unwrap();
            let figure = |mesh| Figure { mesh, pose: &Pose::IDENTITY, colour: BODIES[1], red: vec![0] };
            assert!(reddish(&draw(vec![figure(&flat)])) > 50, "{scale}");
            draw(vec![figure(&dot)]);
        }
    }
}
