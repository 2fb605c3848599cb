//! A log–log chart as a PNG: two quantities against a third, one decade as high on both scales, so that slopes
//! can be compared by eye.
//!
//! Drawn by hand on four samples a pixel, with letters of five by seven dots: no font has to be found.

use std::path::Path;

use anyhow::{Context, Result};
use image::{Rgb, RgbImage};

const WIDTH: u32 = 960;
const HEIGHT: u32 = 720;

/// The frame of the plot: left, right, top, bottom.
const FRAME: [f64; 4] = [110.0, 850.0, 70.0, 630.0];

const INK: [u8; 3] = [40, 44, 52];
const GRID: [u8; 3] = [222, 226, 232];

/// One quantity against the common one.
#[derive(Debug, Clone)]
pub struct Series {
    /// What the scale says.
    pub name: String,
    /// Pairs (x, y), both above zero.
    pub points: Vec<[f64; 2]>,
    /// The power of ten at the bottom of its scale.
    pub bottom: i32,
    /// Its colour.
    pub colour: [u8; 3],
}

/// A chart with a scale for one series on the left and for another on the right.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Above the plot.
    pub title: String,
    /// Below the horizontal scale.
    pub across: String,
    /// Powers of ten at the left and right end of the horizontal scale.
    pub decades_across: [i32; 2],
    /// Decades of both vertical scales.
    pub decades_up: i32,
    /// The left and the right series.
    pub series: [Series; 2],
}

impl Chart {
    /// Draws the chart into a PNG file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, file: &Path) -> Result<()> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        self.draw().save(file).with_context(|| format!("writing {}", file.display()))
    }

    fn draw(&self) -> RgbImage {
        let mut paper = Paper(RgbImage::from_pixel(WIDTH, HEIGHT, Rgb([255; 3])));
        let [left, right, top, bottom] = FRAME;
        let [first, last] = self.decades_across;
        for decade in first..=last {
            let x = self.x(10_f64.powi(decade));
            paper.line([x, top], [x, bottom], 1.0, GRID);
            paper.text(&power(decade), [x, bottom + 16.0], 0.5, INK);
        }
        for step in 0..=self.decades_up {
            let y = bottom - (bottom - top) * f64::from(step) / f64::from(self.decades_up);
            paper.line([left, y], [right, y], 1.0, GRID);
            let [a, b] = &self.series;
            paper.text(&power(a.bottom + step), [left - 10.0, y - 7.0], 1.0, a.colour);
            paper.text(&power(b.bottom + step), [right + 10.0, y - 7.0], 0.0, b.colour);
        }
        for [from, to] in [
            [[left, top], [right, top]],
            [[left, bottom], [right, bottom]],
            [[left, top], [left, bottom]],
            [[right, top], [right, bottom]],
        ] {
            paper.line(from, to, 1.5, INK);
        }
        for (side, series) in self.series.iter().enumerate() {
            let places: Vec<[f64; 2]> =
                series.points.iter().map(|&[x, y]| self.place(series, x, y)).collect();
            places.windows(2).for_each(|ends| paper.line(ends[0], ends[1], 2.5, series.colour));
            places.iter().for_each(|&at| paper.line(at, at, 10.0, series.colour));
            let [x, share] = if side == 0 { [left, 0.0] } else { [right, 1.0] };
            paper.text(&series.name, [x, top - 26.0], share, series.colour);
        }
        paper.text(&self.title, [f64::from(WIDTH) / 2.0, 14.0], 0.5, INK);
        paper.text(&self.across, [(left + right) / 2.0, bottom + 48.0], 0.5, INK);
        paper.0
    }

    fn x(&self, value: f64) -> f64 {
        let [left, right, ..] = FRAME;
        let [first, last] = self.decades_across.map(f64::from);
        left + (right - left) * (value.log10() - first) / (last - first)
    }

    fn place(&self, series: &Series, x: f64, y: f64) -> [f64; 2] {
        let [_, _, top, bottom] = FRAME;
        let up = (y.log10() - f64::from(series.bottom)) / f64::from(self.decades_up);
        [self.x(x), bottom - (bottom - top) * up]
    }
}

/// A log–log chart of any number of series on one scale, with their names beside it.
#[derive(Debug, Clone)]
pub struct LineChart {
    /// Above the plot.
    pub title: String,
    /// Below the horizontal scale.
    pub across: String,
    /// Powers of ten at the left and right end of the horizontal scale.
    pub decades_across: [i32; 2],
    /// Decades of the vertical scale, from the bottom of the first series.
    pub decades_up: i32,
    /// All with the same bottom.
    pub series: Vec<Series>,
}

impl LineChart {
    /// Draws the chart into a PNG file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, file: &Path) -> Result<()> {
        let Some(first) = self.series.first() else { return Ok(()) };
        // The frame and the scale of one series; the others are drawn over it.
        let frame = Chart {
            title: self.title.clone(),
            across: self.across.clone(),
            decades_across: self.decades_across,
            decades_up: self.decades_up,
            series: [0, 1].map(|_| Series {
                name: String::new(),
                points: Vec::new(),
                colour: INK,
                ..first.clone()
            }),
        };
        let mut paper = Paper(frame.draw());
        for (k, series) in self.series.iter().enumerate() {
            let places: Vec<[f64; 2]> =
                series.points.iter().map(|&[x, y]| frame.place(series, x, y)).collect();
            places.windows(2).for_each(|ends| paper.line(ends[0], ends[1], 2.5, series.colour));
            places.iter().for_each(|&at| paper.line(at, at, 8.0, series.colour));
            let y = FRAME[2] + 12.0 + 20.0 * k as f64;
            paper.line([FRAME[0] + 14.0, y + 7.0], [FRAME[0] + 34.0, y + 7.0], 3.0, series.colour);
            paper.text(&series.name, [FRAME[0] + 42.0, y], 0.0, series.colour);
        }
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)?;
        }
        paper.0.save(file).with_context(|| format!("writing {}", file.display()))
    }
}

/// Powers of ten as people write them.
fn power(decade: i32) -> String {
    match decade {
        -2..0 => format!("{:.*}", -decade as usize, 10_f64.powi(decade)),
        0..3 => format!("{}", 10_i64.pow(decade as u32)),
        3..6 => format!("{}k", 10_i64.pow(decade as u32 - 3)),
        6..9 => format!("{}M", 10_i64.pow(decade as u32 - 6)),
        _ => format!("1E{decade}"),
    }
}

struct Paper(RgbImage);

impl Paper {
    /// A line of this width with round ends; between equal ends a dot.
    fn line(&mut self, from: [f64; 2], to: [f64; 2], width: f64, colour: [u8; 3]) {
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        let length_sq = dx * dx + dy * dy;
        let low = [0, 1].map(|k| (from[k].min(to[k]) - width).max(0.0) as u32);
        let high = [0, 1].map(|k| (from[k].max(to[k]) + width).max(0.0) as u32);
        for (x, y) in (low[1]..=high[1]).flat_map(|y| (low[0]..=high[0]).map(move |x| (x, y))) {
            let [px, py] = [f64::from(x) + 0.5 - from[0], f64::from(y) + 0.5 - from[1]];
            let along = if length_sq > 0.0 { ((px * dx + py * dy) / length_sq).clamp(0.0, 1.0) } else { 0.0 };
            let off = (px - along * dx).hypot(py - along * dy);
            self.blend(x, y, (0.5 * width + 0.5 - off).clamp(0.0, 1.0), colour);
        }
    }

    /// Text with its upper edge at y; `share` of its width lies left of x.
    fn text(&mut self, text: &str, [x, y]: [f64; 2], share: f64, colour: [u8; 3]) {
        const DOT: f64 = 2.0;
        let width = 6.0 * DOT * text.chars().count() as f64;
        for (k, letter) in text.chars().enumerate() {
            for (row, dots) in glyph(letter).into_iter().enumerate() {
                for column in (0..5).filter(|c| dots >> (4 - c) & 1 == 1) {
                    let at = x - share * width + DOT * (6.0 * k as f64 + f64::from(column));
                    for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                        let place = [at + f64::from(i), y + DOT * row as f64 + f64::from(j)];
                        self.blend(place[0].max(0.0) as u32, place[1].max(0.0) as u32, 1.0, colour);
                    }
                }
            }
        }
    }

    fn blend(&mut self, x: u32, y: u32, share: f64, colour: [u8; 3]) {
        if let Some(pixel) = self.0.get_pixel_mut_checked(x, y) {
            for (old, new) in pixel.0.iter_mut().zip(colour) {
                *old = (f64::from(*old) + share * (f64::from(new) - f64::from(*old))).round() as u8;
            }
        }
    }
}

/// Seven rows of five dots; what has no glyph is a gap.
fn glyph(letter: char) -> [u8; 7] {
    #[rustfmt::skip]
    let rows = match letter.to_ascii_uppercase() {
        '0' => [0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E],
        '1' => [0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E],
        '2' => [0x0E, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1F],
        '3' => [0x0E, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0E],
        '4' => [0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02],
        '5' => [0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E],
        '6' => [0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E],
        '7' => [0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08],
        '8' => [0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E],
        '9' => [0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C],
        'A' => [0x0E, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11],
        'B' => [0x1E, 0x11, 0x11, 0x1E, 0x11, 0x11, 0x1E],
        'C' => [0x0E, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0E],
        'D' => [0x1E, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1E],
        'E' => [0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x1F],
        'F' => [0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x10],
        'G' => [0x0E, 0x11, 0x10, 0x17, 0x11, 0x11, 0x0F],
        'H' => [0x11, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11],
        'I' => [0x0E, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0E],
        'J' => [0x07, 0x02, 0x02, 0x02, 0x02, 0x12, 0x0C],
        'K' => [0x11, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11],
        'L' => [0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1F],
        'M' => [0x11, 0x1B, 0x15, 0x15, 0x11, 0x11, 0x11],
        'N' => [0x11, 0x19, 0x15, 0x13, 0x11, 0x11, 0x11],
        'O' => [0x0E, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0E],
        'P' => [0x1E, 0x11, 0x11, 0x1E, 0x10, 0x10, 0x10],
        'Q' => [0x0E, 0x11, 0x11, 0x11, 0x15, 0x12, 0x0D],
        'R' => [0x1E, 0x11, 0x11, 0x1E, 0x14, 0x12, 0x11],
        'S' => [0x0F, 0x10, 0x10, 0x0E, 0x01, 0x01, 0x1E],
        'T' => [0x1F, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04],
        'U' => [0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0E],
        'V' => [0x11, 0x11, 0x11, 0x11, 0x11, 0x0A, 0x04],
        'W' => [0x11, 0x11, 0x11, 0x15, 0x15, 0x1B, 0x11],
        'X' => [0x11, 0x11, 0x0A, 0x04, 0x0A, 0x11, 0x11],
        'Y' => [0x11, 0x11, 0x0A, 0x04, 0x04, 0x04, 0x04],
        'Z' => [0x1F, 0x01, 0x02, 0x04, 0x08, 0x10, 0x1F],
        '.' => [0, 0, 0, 0, 0, 0x0C, 0x0C],
        ',' => [0, 0, 0, 0, 0x0C, 0x04, 0x08],
        ':' => [0, 0x0C, 0x0C, 0, 0x0C, 0x0C, 0],
        '-' => [0, 0, 0, 0x1F, 0, 0, 0],
        '^' => [0x04, 0x0A, 0x11, 0, 0, 0, 0],
        '%' => [0x18, 0x19, 0x02, 0x04, 0x08, 0x13, 0x03],
        '(' => [0x02, 0x04, 0x08, 0x08, 0x08, 0x04, 0x02],
        ')' => [0x08, 0x04, 0x02, 0x02, 0x02, 0x04, 0x08],
        '/' => [0x01, 0x01, 0x02, 0x04, 0x08, 0x10, 0x10],
        _ => [0; 7],
    };
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_drawn_to_scale() {
        let series = |bottom| Series {
            name: "T".into(),
            points: vec![[1e3, 1.0], [1e5, 100.0]],
            bottom,
            colour: [200, 0, 0],
        };
        let chart = Chart {
            title: "slope 1".into(),
            across: "bodies".into(),
            decades_across: [3, 5],
            decades_up: 4,
            series: [series(-1), series(-2)],
        };
        let ends = [[1e3, 1.0], [1e5, 100.0]].map(|[x, y]| chart.place(&chart.series[0], x, y));
        assert_eq!(ends.map(|e| e[0]), [110.0, 850.0]);
        assert_eq!(ends[0][1] - ends[1][1], 280.0, "two of four decades");
        let picture = chart.draw();
        assert!(picture.pixels().filter(|p| p.0 == [200, 0, 0]).count() > 1000);
        assert_eq!([-1, 0, 2, 3, 5, 6, 9].map(power), ["0.1", "1", "100", "1k", "100k", "1M", "1E9"]);
    }
}
