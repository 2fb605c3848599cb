//! Values of options that several commands have, and how they are read.

use std::path::PathBuf;

use clap::Args as Group;
use glam::DVec3;

/// A picture and how it is taken.
#[derive(Debug, Clone, Default, Group)]
pub struct Drawing {
    /// Draws a picture
    #[arg(long, value_name = "FILE.png", value_parser = png)]
    pub picture: Option<PathBuf>,
    /// The direction from which the picture is seen: x,y,z
    #[arg(long, value_name = "X,Y,Z", value_parser = view, requires = "picture", allow_hyphen_values = true)]
    pub view: Option<DVec3>,
    /// The size of the picture in pixels [default: 960x720]
    #[arg(long, value_name = "WxH", value_parser = size, requires = "picture")]
    pub size: Option<Size>,
}

/// Pixels of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

impl Default for Size {
    fn default() -> Size {
        Size { width: 960, height: 720 }
    }
}

/// A periodic cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Periodic {
    /// The one that the file names.
    OfFile,
    /// A box: the lower corner and the upper one.
    Box([f64; 3], [f64; 3]),
    /// A rectangle in x and y, the same way; z is open.
    Rectangle([f64; 2], [f64; 2]),
    /// Three vectors.
    Cell([[f64; 3]; 3]),
}

pub(super) fn periodic(text: &str) -> Result<Periodic, String> {
    if text == "file" {
        return Ok(Periodic::OfFile);
    }
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|word| word.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[xl, xh, yl, yh]) => Ok(Periodic::Rectangle([xl, yl], [xh, yh])),
        Ok(&[xl, xh, yl, yh, zl, zh]) => Ok(Periodic::Box([xl, yl, zl], [xh, yh, zh])),
        Ok(&[ax, ay, az, bx, by, bz, cx, cy, cz]) => {
            Ok(Periodic::Cell([[ax, ay, az], [bx, by, bz], [cx, cy, cz]]))
        }
        _ => {
            Err(format!("{text:?} is not xlo,xhi,ylo,yhi[,zlo,zhi] nor ax,ay,az,bx,by,bz,cx,cy,cz nor file"))
        }
    }
}

/// Some of x, y and z.
pub(super) fn along(text: &str) -> Result<[bool; 3], String> {
    match !text.is_empty() && text.chars().all(|axis| "xyz".contains(axis)) {
        true => Ok(['x', 'y', 'z'].map(|axis| text.contains(axis))),
        false => Err(format!("{text:?} is not made of x, y and z")),
    }
}

/// A positive factor.
pub(super) fn factor(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        _ => Err(format!("{text:?} is not a factor: a finite number above 0")),
    }
}

/// A file for a picture: PNG is the one format.
pub fn png(text: &str) -> Result<PathBuf, String> {
    let file = PathBuf::from(text);
    match file.extension() {
        Some(ending) if ending.eq_ignore_ascii_case("png") => Ok(file),
        _ => Err(format!("{text:?} does not end in .png; pictures are written as PNG")),
    }
}

/// A direction: three finite numbers, not all zero.
fn view(text: &str) -> Result<DVec3, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|word| word.trim().parse::<f64>()).collect();
    match numbers.as_deref() {
        Ok(&[x, y, z]) if DVec3::new(x, y, z).is_finite() && [x, y, z] != [0.0; 3] => {
            let direction = DVec3::new(x, y, z);
            // Where squares underflow or overflow its length is no number.
            let is_safe = direction.length_squared().is_normal();
            Ok(if is_safe { direction } else { direction / direction.abs().max_element() })
        }
        _ => Err(format!("{text:?} is not a direction: three numbers x,y,z, not all 0")),
    }
}

/// Two numbers of pixels.
fn size(text: &str) -> Result<Size, String> {
    let sides = text.split_once(['x', 'X', '×']).map(|(w, h)| [w, h].map(|side| side.trim().parse::<u32>()));
    match sides {
        Some([Ok(width @ 16..=8192), Ok(height @ 16..=8192)]) => Ok(Size { width, height }),
        _ => Err(format!("{text:?} is not a size: WxH with sides from 16 to 8192")),
    }
}

/// A margin: a finite length that is not negative.
pub fn margin(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(d) if d.is_finite() && d >= 0.0 => Ok(d),
        _ => Err(format!("{text:?} is not a length: a finite number, 0 or more")),
    }
}
