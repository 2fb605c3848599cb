//! Wavefront OBJ: `v` and `f` are read, `o` and `g` where parts are asked for, everything else is left alone.
//!
//! A face may name vertices that come later in the file, so far indices are checked at the end.

use std::collections::HashMap;

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

/// Which statement begins a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Object,
    Group,
}

/// Where the faces of a named object or group begin.
struct Section {
    level: Level,
    name: String,
    /// The first of its triangles.
    first: usize,
}

/// What a file says.
struct Content {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    sections: Vec<Section>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Mesh, Error> {
    let Content { vertices, triangles, .. } = parse(bytes)?;
    Mesh::from_points(vertices, triangles)
}

/// The objects of a file with their names or, where it has none, its groups; faces before the first have no name.
/// Sections of the same name are one part.
pub(super) fn read_groups(bytes: &[u8]) -> Result<Vec<(String, Mesh)>, Error> {
    let Content { vertices, triangles, mut sections } = parse(bytes)?;
    let objects = sections.iter().any(|section| section.level == Level::Object);
    let wanted = if objects { Level::Object } else { Level::Group };
    sections.retain(|section| section.level == wanted);
    sections.insert(0, Section { level: wanted, name: String::new(), first: 0 });
    let ends = sections.iter().skip(1).map(|section| section.first).chain([triangles.len()]);
    let mut parts: Vec<(&str, Vec<[u32; 3]>)> = Vec::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for (section, end) in sections.iter().zip(ends) {
        let faces = &triangles[section.first..end];
        if faces.is_empty() {
            continue;
        }
        let number = *numbers.entry(&section.name).or_insert(parts.len());
        if number == parts.len() {
            parts.push((&section.name, Vec::new()));
        }
        parts[number].1.extend(faces);
    }
    if parts.len() < 2 {
        let name = parts.first().map_or(String::new(), |part| part.0.to_string());
        return Ok(vec![(name, Mesh::from_points(vertices, triangles)?)]);
    }
    parts.into_iter().map(|(name, faces)| Ok((name.to_string(), used_part(&vertices, faces)?))).collect()
}

/// A mesh of some faces with the vertices that they use, in the order of the file.
fn used_part(vertices: &[DVec3], mut faces: Vec<[u32; 3]>) -> Result<Mesh, Error> {
    let mut used: Vec<u32> = faces.as_flattened().to_vec();
    used.sort_unstable();
    used.dedup();
    for corner in faces.as_flattened_mut() {
        *corner = used.partition_point(|&v| v < *corner) as u32;
    }
    Mesh::from_points(used.iter().map(|&v| vertices[v as usize]).collect(), faces)
}

fn parse(bytes: &[u8]) -> Result<Content, Error> {
    let mut text = Text::new(bytes, DIALECT);
    let mut vertices: Vec<DVec3> = Vec::new();
    let mut triangles = Vec::new();
    let mut farthest: Option<Farthest> = None;
    let mut sections = Vec::new();
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
            Some(word @ (b"o" | b"g")) => {
                let level = if word == b"o" { Level::Object } else { Level::Group };
                let mut name = String::new();
                while let Some(word) = text.word() {
                    let space = if name.is_empty() { "" } else { " " };
                    name = name + space + &String::from_utf8_lossy(word);
                }
                sections.push(Section { level, name, first: triangles.len() });
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
        _ => Ok(Content { vertices, triangles, sections }),
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
