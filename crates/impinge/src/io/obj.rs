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

/// Where the faces of an object, or of a group within it, begin.
struct Section {
    /// The names of the object and the group, empty where there is none.
    names: [String; 2],
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

/// The parts of a file with their names: every group within every object; faces before the first group of an object
/// are a part called as the object is, and faces before the first of both have no name. Sections of the same names are
/// one part.
pub(super) fn read_groups(bytes: &[u8]) -> Result<Vec<(String, Mesh)>, Error> {
    let Content { vertices, triangles, mut sections } = parse(bytes)?;
    sections.insert(0, Section { names: Default::default(), first: 0 });
    let ends = sections.iter().skip(1).map(|section| section.first).chain([triangles.len()]);
    let mut parts: Vec<(&[String; 2], Vec<[u32; 3]>)> = Vec::new();
    let mut numbers: HashMap<&[String; 2], usize> = HashMap::new();
    for (section, end) in sections.iter().zip(ends) {
        let faces = &triangles[section.first..end];
        if faces.is_empty() {
            continue;
        }
        let number = *numbers.entry(&section.names).or_insert(parts.len());
        if number == parts.len() {
            parts.push((&section.names, Vec::new()));
        }
        parts[number].1.extend(faces);
    }
    if parts.len() < 2 {
        let name = parts.first().map_or(String::new(), |part| joined(part.0));
        return Ok(vec![(name, Mesh::from_points(vertices, triangles)?)]);
    }
    parts.into_iter().map(|(names, faces)| Ok((joined(names), used_part(&vertices, faces)?))).collect()
}

/// The names of an object and a group as one.
fn joined([object, group]: &[String; 2]) -> String {
    let colon = if object.is_empty() || group.is_empty() { "" } else { ":" };
    format!("{object}{colon}{group}")
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
    let mut object = String::new();
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
                let is_object = word == b"o";
                let mut name = String::new();
                while let Some(word) = text.word() {
                    let space = if name.is_empty() { "" } else { " " };
                    name = name + space + &String::from_utf8_lossy(word);
                }
                let names = if is_object {
                    object.clone_from(&name);
                    [name, String::new()]
                } else {
                    [object.clone(), name]
                };
                sections.push(Section { names, first: triangles.len() });
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
