//! STL, text and binary, told apart by content: many binary files begin with the word `solid` too.
//!
//! Equal corners (−0 equals 0) share a vertex; the first of them gives its index. Normals,
//! attributes and names are left alone.

use glam::DVec3;

use super::text::{Dialect, Text, quote, refused_coordinate};
use crate::shape::weld::Weld;
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

/// Three corners per triangle; equal ones become one vertex.
fn join(corners: &[DVec3]) -> Result<Mesh, Error> {
    let most = u32::MAX as usize - 1;
    if corners.len() > most {
        return Err(Error::TooMany { what: "corners", count: corners.len(), most });
    }
    let weld = Weld::of(corners);
    let vertices = (0..weld.count() as u32).map(|v| corners[weld.first(v) as usize]).collect();
    let triangle = |at: u32| [at, at + 1, at + 2].map(|corner| weld.welded(corner));
    let triangles = (0..corners.len() as u32).step_by(3).map(triangle).collect();
    Mesh::from_points(vertices, triangles)
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
    let mut corners = Vec::with_capacity(3 * records.len());
    for (number, record) in records.enumerate() {
        // The first 12 bytes are the normal.
        for xyz in record[12..48].chunks_exact(12) {
            let point = [0, 4, 8]
                .map(|at| f64::from(f32::from_le_bytes([xyz[at], xyz[at + 1], xyz[at + 2], xyz[at + 3]])));
            if let Some(reason) = refused_coordinate(point) {
                let place = format!("triangle {number} (byte {})", HEADER + number * RECORD);
                return Err(refuse(place, reason));
            }
            corners.push(DVec3::from(point));
        }
    }
    join(&corners)
}

fn read_text(bytes: &[u8]) -> Result<Mesh, Error> {
    let mut text = Text::new(bytes, DIALECT);
    let mut corners = Vec::new();
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
            read_facet(&mut text, &mut corners)?;
        }
    }
    join(&corners)
}

/// A facet behind its first word.
fn read_facet(text: &mut Text<'_>, corners: &mut Vec<DVec3>) -> Result<(), Error> {
    expect(text, b"normal")?;
    // Exporters write `nan` into the normals of zero-area facets, so they are not parsed.
    for _ in 0..3 {
        text.word_ahead();
    }
    expect(text, b"outer")?;
    expect(text, b"loop")?;
    for _ in 0..3 {
        expect(text, b"vertex")?;
        corners.push(text.point()?.into());
    }
    expect(text, b"endloop")?;
    expect(text, b"endfacet")
}

fn expect(text: &mut Text<'_>, keyword: &[u8]) -> Result<(), Error> {
    let found = text.word_ahead();
    if found.is_some_and(|word| word.eq_ignore_ascii_case(keyword)) {
        return Ok(());
    }
    let found = found.map_or("the end of the file".into(), quote);
    Err(text.error(format!("`{}` is expected, not {found}", String::from_utf8_lossy(keyword))))
}
