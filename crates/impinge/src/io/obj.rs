//! Wavefront OBJ: `v` and `f` are read, everything else is left alone.
//!
//! A face may name vertices that come later in the file, so far indices are checked at the end.

use glam::DVec3;

use super::assemble::Fan;
use super::text::{Dialect, Text, integer, quote};
use crate::{Error, Mesh};

pub(super) const DIALECT: Dialect = Dialect { format: "OBJ", comments: true, joins: true };

/// Whether a first word speaks for OBJ.
pub(super) fn is_statement(word: &[u8]) -> bool {
    const STATEMENTS: [&[u8]; 13] =
        [b"v", b"vt", b"vn", b"vp", b"f", b"fo", b"l", b"p", b"g", b"o", b"s", b"mtllib", b"usemtl"];
    STATEMENTS.contains(&word)
}

/// The largest index met that no vertex had yet, and its line.
struct Farthest {
    index: u64,
    line: usize,
}

pub(super) fn read(bytes: &[u8]) -> Result<Mesh, Error> {
    let mut text = Text::new(bytes, DIALECT);
    let mut vertices: Vec<DVec3> = Vec::new();
    let mut triangles = Vec::new();
    let mut farthest: Option<Farthest> = None;
    loop {
        match text.word() {
            Some(b"v") => vertices.push(text.point()?.into()),
            Some(b"f" | b"fo") => {
                let line = text.line();
                let mut fan = Fan::default();
                while let Some(word) = text.word() {
                    let index = corner(&text, word, vertices.len())?;
                    if index as usize >= vertices.len()
                        && farthest.as_ref().is_none_or(|f| u64::from(index) > f.index)
                    {
                        farthest = Some(Farthest { index: index.into(), line });
                    }
                    fan.corner(index, &mut triangles);
                }
                if fan.corners() < 3 {
                    let corners = fan.corners();
                    return Err(
                        text.error_at(line, format!("a face needs 3 corners, this one has {corners}"))
                    );
                }
            }
            Some(b"call") => return Err(text.error("`call` includes another file, which is not supported")),
            _ => {}
        }
        if !text.next_line() {
            break;
        }
    }
    match farthest {
        Some(far) if far.index >= vertices.len() as u64 => {
            Err(text.error_at(far.line, missing_vertex(far.index as i64 + 1, vertices.len())))
        }
        _ => Mesh::from_points(vertices, triangles),
    }
}

/// The vertex index in `7`, `7/1`, `7//2` or `-1/-1/-1`, counted from 0.
#[inline]
fn corner(text: &Text<'_>, word: &[u8], vertices: usize) -> Result<u32, Error> {
    let end = word.iter().position(|&b| b == b'/').unwrap_or(word.len());
    let number = match integer(&word[..end]) {
        Some(0) => return Err(text.error("vertex index 0: indices start at 1")),
        Some(number) => number,
        None => {
            return Err(text.error(format!("a corner should be a vertex index, not {}", quote(word))));
        }
    };
    let index = if number > 0 { Some(number - 1) } else { (vertices as i64).checked_add(number) };
    // One below the full range, as in a mesh.
    match index.and_then(|i| u32::try_from(i).ok()).filter(|&i| i < u32::MAX) {
        Some(index) => Ok(index),
        None => Err(text.error(missing_vertex(number, vertices))),
    }
}

fn missing_vertex(number: i64, vertices: usize) -> String {
    format!("the face names vertex {number}, but there are {vertices} vertices")
}
