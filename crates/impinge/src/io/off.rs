//! OFF, Geomview's object file format: text or binary, with colours, normals and texture
//! coordinates left alone.
//!
//! The keyword is `[ST][C][N][4][n]OFF`; a file named `.off` may leave it out. The coordinates of a
//! vertex stand first on its line in every variant, and a face ends with its line, so what follows
//! the corners (a colour) needs no parsing.

use glam::DVec3;

use super::assemble::Fan;
use super::bytes::Bytes;
use super::text::{Dialect, Text, quote, refused_coordinate};
use crate::{Error, Mesh};

const FORMAT: &str = "OFF";
const DIALECT: Dialect = Dialect { format: FORMAT, comments: true, joins: false };

/// What the keyword says about the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Variant {
    texture: bool,
    colour: bool,
    normal: bool,
    four: bool,
    dimension: bool,
}

/// The variant that a first word names.
pub(super) fn variant(word: &[u8]) -> Option<Variant> {
    let mut prefix = word.strip_suffix(b"OFF")?;
    let mut next = |letters: &[u8]| match prefix.strip_prefix(letters) {
        Some(rest) => {
            prefix = rest;
            true
        }
        None => false,
    };
    let variant = Variant {
        texture: next(b"ST"),
        colour: next(b"C"),
        normal: next(b"N"),
        four: next(b"4"),
        dimension: next(b"n"),
    };
    prefix.is_empty().then_some(variant)
}

pub(super) fn read(bytes: &[u8]) -> Result<Mesh, Error> {
    let mut text = Text::new(bytes, DIALECT);
    let Some(mut word) = text.word_ahead() else {
        return Err(text.error("the file is empty"));
    };
    if let Some(variant) = variant(word) {
        if variant.four {
            return Err(text.error(format!("{}: vertices in four dimensions are not supported", quote(word))));
        }
        word = next_word(&mut text, "the number of vertices")?;
        if word == b"BINARY" {
            return read_binary(bytes, text.offset(), variant);
        }
        if variant.dimension {
            if text.parse_integer(word, "the dimension")? != 3 {
                return Err(text.error(format!("dimension {}: only 3 is supported", quote(word))));
            }
            word = next_word(&mut text, "the number of vertices")?;
        }
    }
    let vertices = count(&text, word, "vertices")?;
    let word = next_word(&mut text, "the number of faces")?;
    let faces = count(&text, word, "faces")?;
    check_room(&text, vertices, faces)?;
    // The number of edges, which nobody needs, ends this line.
    text.next_line();
    let vertices = read_vertices(&mut text, vertices)?;
    let triangles = read_faces(&mut text, faces, vertices.len())?;
    Mesh::from_points(vertices, triangles)
}

fn next_word<'a>(text: &mut Text<'a>, what: &str) -> Result<&'a [u8], Error> {
    text.word_ahead().ok_or_else(|| text.error(format!("the file ends before {what}")))
}

fn count(text: &Text<'_>, word: &[u8], what: &str) -> Result<usize, Error> {
    let count = text.parse_integer(word, &format!("the number of {what}"))?;
    usize::try_from(count).map_err(|_| text.error(format!("{count} {what}")))
}

/// Refuses counts that the rest of the file cannot hold: `0 0 0` and `3 0 1 2` are the shortest lines.
fn check_room(text: &Text<'_>, vertices: usize, faces: usize) -> Result<(), Error> {
    let needed = vertices.saturating_mul(6).saturating_add(faces.saturating_mul(8));
    // The last line may end without a newline.
    if needed > text.remaining() + 1 {
        return Err(text.error(format!(
            "{vertices} vertices and {faces} faces are promised, but only {} bytes follow",
            text.remaining()
        )));
    }
    Ok(())
}

fn read_vertices(text: &mut Text<'_>, count: usize) -> Result<Vec<DVec3>, Error> {
    let mut vertices = Vec::with_capacity(count);
    for number in 0..count {
        let Some(first) = text.word_ahead() else {
            return Err(text.error(format!("the file ends after {number} of {count} vertices")));
        };
        let x = text.parse_number(first, "x")?;
        let point = [x, text.number("y")?, text.number("z")?];
        vertices.push(text.check_point(point)?.into());
        text.next_line();
    }
    Ok(vertices)
}

fn read_faces(text: &mut Text<'_>, count: usize, vertices: usize) -> Result<Vec<[u32; 3]>, Error> {
    let mut triangles = Vec::with_capacity(count);
    for number in 0..count {
        let Some(first) = text.word_ahead() else {
            return Err(text.error(format!("the file ends after {number} of {count} faces")));
        };
        let corners = text.parse_integer(first, "the number of corners")?;
        if corners < 3 {
            return Err(text.error(format!("face {number} has {corners} corners; a face needs 3")));
        }
        let mut fan = Fan::default();
        for _ in 0..corners {
            let Some(word) = text.word() else {
                let found = fan.corners();
                return Err(text.error(format!("face {number} promises {corners} corners and has {found}")));
            };
            let index = text.parse_integer(word, "a corner")?;
            fan.corner(checked(index, vertices).map_err(|reason| text.error(reason))?, &mut triangles);
        }
        text.next_line();
    }
    Ok(triangles)
}

fn checked(index: i64, vertices: usize) -> Result<u32, String> {
    u32::try_from(index)
        .ok()
        .filter(|&i| (i as usize) < vertices)
        .ok_or_else(|| format!("the face names vertex {index}, but there are {vertices} vertices (from 0)"))
}

/// The binary variant, big-endian, behind the word `BINARY`.
fn read_binary(bytes: &[u8], at: usize, variant: Variant) -> Result<Mesh, Error> {
    let newline = match bytes.get(at..) {
        Some([b'\r', b'\n', ..]) => 2,
        _ => 1,
    };
    let mut data = Bytes::new(bytes, at + newline, FORMAT);
    if variant.dimension && int(&mut data, "the dimension")? != 3 {
        return Err(data.error("only three dimensions are supported"));
    }
    let vertex_count = int(&mut data, "the number of vertices")?;
    let face_count = int(&mut data, "the number of faces")?;
    int(&mut data, "the number of edges")?;
    let (Ok(vertex_count), Ok(face_count)) = (usize::try_from(vertex_count), usize::try_from(face_count))
    else {
        return Err(data.error(format!("{vertex_count} vertices and {face_count} faces")));
    };
    let extras =
        3 * usize::from(variant.normal) + 4 * usize::from(variant.colour) + 2 * usize::from(variant.texture);
    // A face is at least its size, three corners and the number of colour components.
    let needed = vertex_count.saturating_mul(4 * (3 + extras)).saturating_add(face_count.saturating_mul(20));
    if needed > data.remaining() {
        let reason = format!("{vertex_count} vertices and {face_count} faces need {needed} bytes");
        return Err(data.error(format!("{reason}, but only {} follow", data.remaining())));
    }
    let mut vertices = Vec::with_capacity(vertex_count);
    for number in 0..vertex_count {
        let mut point = [0.0; 3];
        for value in &mut point {
            *value = f64::from(f32::from_be_bytes(data.array("a vertex")?));
        }
        if let Some(reason) = refused_coordinate(point) {
            return Err(data.error(format!("vertex {number}: {reason}")));
        }
        data.take(4 * extras, "a vertex")?;
        vertices.push(DVec3::from(point));
    }
    let triangles = read_binary_faces(&mut data, face_count, vertex_count)?;
    Mesh::from_points(vertices, triangles)
}

fn read_binary_faces(data: &mut Bytes<'_>, count: usize, vertices: usize) -> Result<Vec<[u32; 3]>, Error> {
    let mut triangles = Vec::with_capacity(count);
    for number in 0..count {
        let corners = int(data, "a face")?;
        if corners < 3 {
            return Err(data.error(format!("face {number} has {corners} corners; a face needs 3")));
        }
        let mut fan = Fan::default();
        for _ in 0..corners {
            let index = int(data, "a corner")?.into();
            fan.corner(checked(index, vertices).map_err(|reason| data.error(reason))?, &mut triangles);
        }
        let components = int(data, "a colour")?;
        let colour = usize::try_from(components).ok().and_then(|c| c.checked_mul(4));
        match colour {
            Some(bytes) => data.take(bytes, "a colour")?,
            None => return Err(data.error(format!("a colour of {components} components"))),
        };
    }
    Ok(triangles)
}

fn int(data: &mut Bytes<'_>, what: &str) -> Result<i32, Error> {
    data.array(what).map(i32::from_be_bytes)
}
