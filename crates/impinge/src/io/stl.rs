//! STL, text and binary, told apart by content: many binary files begin with the word `solid` too.
//!
//! Equal corners (−0 equals 0) share a vertex; the first of them gives its index. Normals,
//! attributes and names are left alone.

use std::collections::HashMap;

use glam::DVec3;

use super::text::{Dialect, Text, quote, refused_coordinate};
use crate::{Error, Mesh};

const FORMAT: &str = "STL";
const DIALECT: Dialect = Dialect { format: FORMAT, comments: false, joins: false };
/// Bytes before the first triangle of a binary file: 80 of header and the count.
const HEADER: usize = 84;
/// Bytes of a binary triangle: normal, three corners, attribute.
const RECORD: usize = 50;

pub(super) fn read(bytes: &[u8]) -> Result<Mesh, Error> {
    if is_binary_by_size(bytes) || !is_text(bytes) { read_binary(bytes) } else { read_text(bytes) }
}

/// The size agrees with the count at byte 80. A text cannot pass: its bytes there, read as a count,
/// promise more than 7 GB.
pub(super) fn is_binary_by_size(bytes: &[u8]) -> bool {
    promised_size(bytes) == Some(bytes.len() as u64)
}

/// The first word is `solid` and a later one is `facet` or `endsolid`, with no zero byte before it.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    let mut text = Text::new(bytes, DIALECT);
    if !text.word_ahead().is_some_and(|word| word.eq_ignore_ascii_case(b"solid")) {
        return false;
    }
    // The name may hold anything, also the word `facet`.
    while text.next_line() {
        if let Some(word) = text.word() {
            return word.eq_ignore_ascii_case(b"facet")
                || word.eq_ignore_ascii_case(b"endsolid")
                || !bytes[..text.offset()].contains(&0);
        }
    }
    !bytes.contains(&0)
}

fn promised_size(bytes: &[u8]) -> Option<u64> {
    let count = u32::from_le_bytes(bytes.get(80..HEADER)?.try_into().ok()?);
    Some(HEADER as u64 + RECORD as u64 * u64::from(count))
}

/// Gives equal points one index, in the order of their first appearance.
#[derive(Default)]
struct Corners {
    vertices: Vec<DVec3>,
    known: HashMap<[u64; 3], u32>,
}

impl Corners {
    fn index(&mut self, point: [f64; 3]) -> u32 {
        // Adding 0 turns −0 into 0 and changes nothing else.
        let key = point.map(|x| (x + 0.0).to_bits());
        *self.known.entry(key).or_insert_with(|| {
            self.vertices.push(point.into());
            // A file of so many corners that this saturates fails the mesh's own check.
            u32::try_from(self.vertices.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

fn read_binary(bytes: &[u8]) -> Result<Mesh, Error> {
    let refuse = |place: String, reason: String| Error::Format { format: FORMAT, place, reason };
    let Some(promised) = promised_size(bytes) else {
        let reason = format!("neither text nor {HEADER} bytes of binary header ({} bytes)", bytes.len());
        return Err(refuse("byte 0".into(), reason));
    };
    if promised > bytes.len() as u64 {
        let count = (promised - HEADER as u64) / RECORD as u64;
        let reason = format!("{count} triangles need {promised} bytes, the file has {}", bytes.len());
        return Err(refuse("byte 80".into(), reason));
    }
    let records = bytes[HEADER..promised as usize].chunks_exact(RECORD);
    let mut corners = Corners::default();
    let mut triangles = Vec::with_capacity(records.len());
    for (number, record) in records.enumerate() {
        let mut triangle = [0; 3];
        // The first 12 bytes are the normal.
        for (corner, xyz) in triangle.iter_mut().zip(record[12..48].chunks_exact(12)) {
            let point = [0, 4, 8]
                .map(|at| f64::from(f32::from_le_bytes([xyz[at], xyz[at + 1], xyz[at + 2], xyz[at + 3]])));
            if let Some(reason) = refused_coordinate(point) {
                let place = format!("triangle {number} (byte {})", HEADER + number * RECORD);
                return Err(refuse(place, reason));
            }
            *corner = corners.index(point);
        }
        triangles.push(triangle);
    }
    Mesh::from_points(corners.vertices, triangles)
}

fn read_text(bytes: &[u8]) -> Result<Mesh, Error> {
    let mut text = Text::new(bytes, DIALECT);
    let mut corners = Corners::default();
    let mut triangles = Vec::new();
    while let Some(word) = text.word_ahead() {
        if !word.eq_ignore_ascii_case(b"solid") {
            return Err(text.error(format!("`solid` is expected, not {}", quote(word))));
        }
        text.next_line();
        loop {
            let Some(word) = text.word_ahead() else {
                return Err(text.error("the file ends without `endsolid`"));
            };
            if word.eq_ignore_ascii_case(b"endsolid") {
                text.next_line();
                break;
            }
            if !word.eq_ignore_ascii_case(b"facet") {
                return Err(text.error(format!("`facet` or `endsolid` is expected, not {}", quote(word))));
            }
            triangles.push(read_facet(&mut text, &mut corners)?);
        }
    }
    Mesh::from_points(corners.vertices, triangles)
}

/// A facet behind its first word.
fn read_facet(text: &mut Text<'_>, corners: &mut Corners) -> Result<[u32; 3], Error> {
    expect(text, b"normal")?;
    // Exporters write `nan` into the normals of zero-area facets, so they are not parsed.
    for _ in 0..3 {
        text.word_ahead();
    }
    expect(text, b"outer")?;
    expect(text, b"loop")?;
    let mut triangle = [0; 3];
    for corner in &mut triangle {
        expect(text, b"vertex")?;
        *corner = corners.index(text.point()?);
    }
    expect(text, b"endloop")?;
    expect(text, b"endfacet")?;
    Ok(triangle)
}

fn expect(text: &mut Text<'_>, keyword: &[u8]) -> Result<(), Error> {
    let found = text.word_ahead();
    if found.is_some_and(|word| word.eq_ignore_ascii_case(keyword)) {
        return Ok(());
    }
    let found = found.map_or("the end of the file".into(), quote);
    Err(text.error(format!("`{}` is expected, not {found}", String::from_utf8_lossy(keyword))))
}
