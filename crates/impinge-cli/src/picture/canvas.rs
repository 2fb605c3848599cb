//! The samples of a picture: triangles and lines are filled row by row, and the means of samples become bytes.

use std::ops::Range;
use std::sync::LazyLock;

use glam::{DVec2, DVec3};
use image::RgbImage;

use super::RED;

const SKY: [DVec3; 2] = [DVec3::new(0.97, 0.98, 0.99), DVec3::new(0.80, 0.84, 0.89)];

/// Samples along each side of a pixel.
pub(super) const SAMPLES: usize = 2;

/// How strongly a hidden red triangle shines through.
const SHINE: f64 = 0.35;

/// What rounding may do to a sum or difference of a few products, as a share of the largest of them.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// A point in the eye's frame: where it is on the canvas, how near, and its place for shading.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) x: f64,
    pub(super) y: f64,
    /// 1 / depth, which is linear on the canvas.
    pub(super) near: f64,
    pub(super) at: DVec3,
}

pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) height: usize,
    colour: Vec<DVec3>,
    near: Vec<f64>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Canvas {
        let row = |y: usize| SKY[0].lerp(SKY[1], y as f64 / height as f64);
        let colour = (0..height).flat_map(|y| std::iter::repeat_n(row(y), width)).collect();
        Canvas { width, height, colour, near: vec![0.0; width * height] }
    }

    pub(super) fn fill(&mut self, corners: [Seen; 3], colour: DVec3) {
        cover(corners, self.width, self.height, |at, near| {
            if near > self.near[at] {
                self.near[at] = near;
                self.colour[at] = colour;
            }
        });
    }

    /// Tints each sample once, however many red triangles lie behind it.
    pub(super) fn shine_through(&mut self, triangles: &[[Seen; 3]]) {
        let mut tinted = vec![false; self.near.len()];
        for &corners in triangles {
            cover(corners, self.width, self.height, |at, near| {
                if near < self.near[at] && !std::mem::replace(&mut tinted[at], true) && self.colour[at] != RED
                {
                    self.colour[at] = self.colour[at].lerp(RED, SHINE);
                }
            });
        }
    }

    /// A line with round ends, before or through everything; between equal ends it is a dot.
    pub(super) fn line(&mut self, [a, b]: [Seen; 2], colour: DVec3, radius: f64, through: bool) {
        let (from, way) = (DVec2::new(a.x, a.y), DVec2::new(b.x - a.x, b.y - a.y));
        let (low, high) = (from.min(from + way) - radius, from.max(from + way) + radius);
        // The casts saturate, so nothing outside the canvas is visited.
        let all = low.x.max(0.0) as usize..(high.x.max(0.0).ceil() as usize).min(self.width);
        let rows = low.y.max(0.0) as usize..(high.y.max(0.0).ceil() as usize).min(self.height);
        for y in rows {
            for x in beside_line(from, way, radius, y, all.clone()) {
                let p = DVec2::new(x as f64 + 0.5, y as f64 + 0.5) - from;
                let along = if way == DVec2::ZERO {
                    0.0
                } else {
                    (p.dot(way) / way.length_squared()).clamp(0.0, 1.0)
                };
                let near = a.near + along * (b.near - a.near);
                let at = y * self.width + x;
                if p.distance(along * way) <= radius && (through || near >= self.near[at]) {
                    self.colour[at] = colour;
                    self.near[at] = self.near[at].max(near);
                }
            }
        }
    }

    pub(super) fn into_image(self, width: u32, height: u32) -> RgbImage {
        RgbImage::from_fn(width, height, |x, y| {
            let sample = |i: usize| {
                let (dx, dy) = (i % SAMPLES, i / SAMPLES);
                self.colour[(y as usize * SAMPLES + dy) * self.width + x as usize * SAMPLES + dx]
            };
            let mean = (0..SAMPLES * SAMPLES).map(sample).sum::<DVec3>() / (SAMPLES * SAMPLES) as f64;
            image::Rgb(mean.to_array().map(byte))
        })
    }
}

/// Of some columns of a row those where a line may be; by rounding some more.
fn beside_line(from: DVec2, way: DVec2, radius: f64, y: usize, columns: Range<usize>) -> Range<usize> {
    let height = y as f64 + 0.5 - from.y;
    let ends = [height - radius, height + radius].map(|h| from.x + way.x * (h / way.y).clamp(0.0, 1.0));
    let doubt = 1.0 + radius + ROUNDING * (from.x.abs() + way.x.abs() * (1.0 + (height / way.y).abs()));
    let (first, last) = (ends[0].min(ends[1]) - doubt, ends[0].max(ends[1]) + doubt);
    // Also where the line is level.
    if !(first.is_finite() && last.is_finite()) {
        return columns;
    }
    // The casts saturate.
    columns.start.max(first as usize)..columns.end.min(last.max(0.0).ceil() as usize)
}

/// Calls `visit` with the samples inside a triangle and their nearness.
fn cover([a, b, c]: [Seen; 3], width: usize, height: usize, mut visit: impl FnMut(usize, f64)) {
    let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    if area == 0.0 {
        return;
    }
    let [xs, ys] = [[a.x, b.x, c.x], [a.y, b.y, c.y]];
    let edges = [(b, c), (c, a), (a, b)].map(|(p, q)| Edge { x: p.x, y: p.y, dx: q.x - p.x, dy: q.y - p.y });
    let columns = span(least(xs), most(xs), width);
    for y in span(least(ys), most(ys), height) {
        let py = y as f64 + 0.5;
        let mut inner = [columns.start as f64, columns.end as f64];
        for edge in &edges {
            let [first, last] = edge.inside(py, area, width);
            // Not where they are no numbers.
            inner = [inner[0].max(first), inner[1].min(last)];
        }
        let along = edges.each_ref().map(|edge| edge.dx * (py - edge.y));
        // The casts saturate.
        for x in inner[0] as usize..columns.end.min(inner[1].ceil() as usize) {
            let px = x as f64 + 0.5;
            let side = |k: usize| (along[k] - edges[k].dy * (px - edges[k].x)) / area;
            let (u, v, w) = (side(0), side(1), side(2));
            if u >= 0.0 && v >= 0.0 && w >= 0.0 {
                visit(y * width + x, u * a.near + v * b.near + w * c.near);
            }
        }
    }
}

/// An edge of a triangle: a corner and the way to the next.
struct Edge {
    x: f64,
    y: f64,
    dx: f64,
    dy: f64,
}

impl Edge {
    /// Between which columns the middles of samples in a row are on the inner side, by rounding some more.
    fn inside(&self, py: f64, area: f64, width: usize) -> [f64; 2] {
        let shift = self.dx * (py - self.y) / self.dy;
        let doubt = 1.0 + ROUNDING * (shift.abs() + self.x.abs() + width as f64);
        match (self.dy > 0.0) == (area > 0.0) {
            _ if self.dy == 0.0 => [f64::NEG_INFINITY, f64::INFINITY],
            true => [f64::NEG_INFINITY, self.x + shift + doubt],
            false => [self.x + shift - doubt - 0.5, f64::INFINITY],
        }
    }
}

/// The samples with their middles between two places. Middles lie at halves; the casts saturate.
fn span(low: f64, high: f64, size: usize) -> Range<usize> {
    let first = (low - 0.5).ceil().max(0.0) as usize;
    first..((high - 0.5).floor() + 1.0).clamp(0.0, size as f64) as usize
}

fn least([a, b, c]: [f64; 3]) -> f64 {
    a.min(b).min(c)
}

fn most([a, b, c]: [f64; 3]) -> f64 {
    a.max(b).max(c)
}

/// The byte that shows a linear colour.
fn byte(c: f64) -> u8 {
    /// The least colour of each byte but 0.
    static LEAST: LazyLock<[f64; 255]> = LazyLock::new(|| std::array::from_fn(|k| least_of(k as u8 + 1)));
    LEAST.partition_point(|&least| least <= c) as u8
}

/// The least colour with this byte, by halving what is between 0 and 1.
fn least_of(byte: u8) -> f64 {
    let (mut below, mut reached) = (0.0_f64.to_bits(), 1.0_f64.to_bits());
    while reached - below > 1 {
        let middle = below + (reached - below) / 2;
        *(if shown(f64::from_bits(middle)) < byte { &mut below } else { &mut reached }) = middle;
    }
    f64::from_bits(reached)
}

/// The byte of a colour by the formula.
fn shown(c: f64) -> u8 {
    (255.0 * c.clamp(0.0, 1.0).powf(1.0 / 1.1)).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// The samples inside a triangle by trying all in its box.
    fn covered([a, b, c]: [Seen; 3], width: usize, height: usize) -> Vec<(usize, f64)> {
        let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        let columns = span(a.x.min(b.x).min(c.x), a.x.max(b.x).max(c.x), width);
        let rows =
            if area == 0.0 { 0..0 } else { span(a.y.min(b.y).min(c.y), a.y.max(b.y).max(c.y), height) };
        let samples = rows.flat_map(move |y| columns.clone().map(move |x| (x, y)));
        let inside = samples.filter_map(move |(x, y)| {
            let (px, py) = (x as f64 + 0.5, y as f64 + 0.5);
            let side = |p: Seen, q: Seen| ((q.x - p.x) * (py - p.y) - (q.y - p.y) * (px - p.x)) / area;
            let (u, v, w) = (side(b, c), side(c, a), side(a, b));
            (u >= 0.0 && v >= 0.0 && w >= 0.0).then(|| (y * width + x, u * a.near + v * b.near + w * c.near))
        });
        inside.collect()
    }

    /// Corners on and off the canvas, some on the lattice of samples, some far away, some almost in a line.
    fn corners(rng: &mut Pcg64Mcg, kind: usize) -> [Seen; 3] {
        let mut seen = |reach: f64| Seen {
            x: rng.random_range(-reach..reach),
            y: rng.random_range(-reach..reach),
            near: rng.random_range(0.1..1.0),
            at: DVec3::ZERO,
        };
        let [a, b, c] = [seen(60.0), seen(60.0), seen(60.0)];
        let on_lattice = |p: Seen| Seen { x: p.x.round() + 0.5, y: (p.y / 4.0).round() + 0.5, ..p };
        let far = 10_f64.powi(kind as i32);
        match kind % 4 {
            0 => [a, b, c],
            1 => [a, b, c].map(on_lattice),
            2 => [a, Seen { x: b.x * far, y: b.y * far, ..b }, Seen { x: -c.x * far, ..c }],
            _ => [a, b, Seen { x: a.x.midpoint(b.x), y: a.y.midpoint(b.y) + 1.0 / far, ..c }],
        }
    }

    #[test]
    fn rows_hold_the_samples_of_the_whole_box_to_the_bit() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let mut drawn = 0;
        for k in 0..8000 {
            let corners = corners(&mut rng, k % 16);
            let mut found = Vec::new();
            cover(corners, 40, 30, |at, near| found.push((at, near)));
            assert_eq!(found, covered(corners, 40, 30), "{:?}", corners.map(|p| (p.x, p.y)));
            drawn += usize::from(!found.is_empty());
        }
        assert!((1500..7000).contains(&drawn), "{drawn}");
    }

    #[test]
    fn lines_hold_the_samples_of_the_whole_box() {
        let mut rng = Pcg64Mcg::seed_from_u64(2);
        let mut drawn = 0;
        for k in 0..8000 {
            let [a, b, _] = corners(&mut rng, k % 16);
            let b = if k % 7 == 0 { a } else { b };
            let radius = [0.4, 1.2, 5.0][k % 3];
            let mut canvas = Canvas::new(40, 30);
            canvas.near.fill(0.4);
            canvas.line([a, b], DVec3::ZERO, radius, k % 2 == 0);
            let (from, way) = (DVec2::new(a.x, a.y), DVec2::new(b.x - a.x, b.y - a.y));
            for at in 0..40 * 30 {
                let p = DVec2::new((at % 40) as f64 + 0.5, (at / 40) as f64 + 0.5) - from;
                let along = if way == DVec2::ZERO {
                    0.0
                } else {
                    (p.dot(way) / way.length_squared()).clamp(0.0, 1.0)
                };
                let is_near = k % 2 == 0 || a.near + along * (b.near - a.near) >= 0.4;
                let expected = p.distance(along * way) <= radius && is_near;
                assert_eq!(canvas.colour[at] == DVec3::ZERO, expected, "{at} of {from} {way} {radius}");
                drawn += usize::from(expected);
            }
        }
        assert!(drawn > 100_000, "{drawn}");
    }

    #[test]
    fn bytes_are_those_of_the_formula() {
        let mut rng = Pcg64Mcg::seed_from_u64(3);
        for k in 0..200_000 {
            let c = if k % 2 == 0 { rng.random_range(-0.1..1.1) } else { f64::from(k) / 200_000.0 };
            assert_eq!(byte(c), shown(c), "{c}");
        }
        for k in 1..=255 {
            let least = least_of(k);
            assert_eq!([byte(least.next_down()), byte(least)], [k - 1, k]);
        }
        assert_eq!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(byte), [0, 255, 0]);
    }
}
