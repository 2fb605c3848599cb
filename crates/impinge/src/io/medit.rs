//! MEDIT `.mesh` text: vertices, triangles, quadrilaterals (fanned) and tetrahedra.
//!
//! The file's own triangles are the surface; only a file without any gets the boundary of its
//! tetrahedra. Reference numbers and all other sections are passed over.

use glam::DVec3;

use super::assemble::Fan;
use super::text::{Dialect, Text, quote};
use crate::shape::TetMesh;
use crate::{Error, Mesh};

const FORMAT: &str = "MEDIT";
const DIALECT: Dialect = Dialect { format: FORMAT, comments: true, joins: false };

/// The first word of every MEDIT text.
pub(super) const FIRST_WORD: &[u8] = b"MeshVersionFormatted";

/// What a file holds, every index in range.
#[derive(Default)]
struct Sections {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    tetrahedra: Vec<[u32; 4]>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Mesh, Error> {
    let Sections { vertices, triangles, tetrahedra } = read_sections(bytes)?;
    if triangles.is_empty() && !tetrahedra.is_empty() {
        return TetMesh::new(vertices, tetrahedra)?.surface();
    }
    Mesh::from_points(vertices, triangles)
}

pub(super) fn read_tetrahedra(bytes: &[u8]) -> Result<TetMesh, Error> {
    let Sections { vertices, tetrahedra, .. } = read_sections(bytes)?;
    TetMesh::new(vertices, tetrahedra)
}

fn read_sections(bytes: &[u8]) -> Result<Sections, Error> {
    let mut reader = Reader::new(bytes)?;
    let mut sections = Sections::default();
    let mut seen_vertices = false;
    while let Some(word) = reader.text.word_ahead() {
        match word.to_ascii_lowercase().as_slice() {
            b"dimension" => reader.check_dimension()?,
            b"vertices" if seen_vertices => return Err(reader.text.error("a second section `Vertices`")),
            b"vertices" => {
                seen_vertices = true;
                sections.vertices = reader.read_vertices()?;
            }
            b"triangles" => reader.read_polygons::<3>(&mut sections.triangles)?,
            b"quadrilaterals" => reader.read_polygons::<4>(&mut sections.triangles)?,
            b"tetrahedra" => reader.read_tetrahedra(&mut sections.tetrahedra)?,
            b"end" => break,
            // Numbers of sections that are passed over, and the keywords before them.
            _ => {}
        }
    }
    match reader.farthest {
        Some((index, line)) if index as usize >= sections.vertices.len() => {
            let count = sections.vertices.len();
            let reason = format!("vertex {} is named, but there are {count} vertices", u64::from(index) + 1);
            Err(reader.text.error_at(line, reason))
        }
        _ => Ok(sections),
    }
}

/// Sections may come in any order, so the largest index is checked at the end.
struct Reader<'a> {
    text: Text<'a>,
    farthest: Option<(u32, usize)>,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Result<Reader<'a>, Error> {
        let mut text = Text::new(bytes, DIALECT);
        match text.word_ahead() {
            Some(word) if word.eq_ignore_ascii_case(FIRST_WORD) => Ok(Reader { text, farthest: None }),
            Some([1, 0, 0, 0, ..] | [0, 0, 0, 1, ..]) => {
                Err(text.error("binary MEDIT (.meshb) is not supported, only text"))
            }
            _ => Err(text.error("the first word should be `MeshVersionFormatted`")),
        }
    }

    fn word(&mut self, what: &str) -> Result<&'a [u8], Error> {
        self.text.word_ahead().ok_or_else(|| self.text.error(format!("the file ends before {what}")))
    }

    fn check_dimension(&mut self) -> Result<(), Error> {
        match self.word("the dimension")? {
            b"3" => Ok(()),
            word => Err(self.text.error(format!("dimension {}: only 3 is supported", quote(word)))),
        }
    }

    /// The rows of a section of `width` numbers each, refused when the file cannot hold so many.
    fn count(&mut self, what: &str, width: usize) -> Result<usize, Error> {
        let word = self.word(&format!("the number of {what}"))?;
        let count = self.text.parse_integer(word, &format!("the number of {what}"))?;
        // A digit and a separator per number; the last needs no separator.
        let most = (self.text.remaining() + 1) / (2 * width);
        match usize::try_from(count) {
            Ok(count) if count <= most => Ok(count),
            _ => {
                let left = self.text.remaining();
                Err(self.text.error(format!("{count} {what} are promised, but only {left} bytes follow")))
            }
        }
    }

    fn read_vertices(&mut self) -> Result<Vec<DVec3>, Error> {
        let count = self.count("vertices", 4)?;
        let mut vertices = Vec::with_capacity(count);
        for _ in 0..count {
            let mut point = [0.0; 3];
            for value in &mut point {
                let word = self.word("the last vertex")?;
                *value = self.text.parse_number(word, "a coordinate")?;
            }
            vertices.push(self.text.check_point(point)?.into());
            self.skip_reference()?;
        }
        Ok(vertices)
    }

    fn read_polygons<const N: usize>(&mut self, triangles: &mut Vec<[u32; 3]>) -> Result<(), Error> {
        let count = self.count("polygons", N + 1)?;
        triangles.reserve(count * (N - 2));
        for _ in 0..count {
            let mut fan = Fan::default();
            for corner in self.corners::<N>()? {
                fan.corner(corner, triangles);
            }
        }
        Ok(())
    }

    fn read_tetrahedra(&mut self, tetrahedra: &mut Vec<[u32; 4]>) -> Result<(), Error> {
        let count = self.count("tetrahedra", 5)?;
        tetrahedra.reserve(count);
        for _ in 0..count {
            tetrahedra.push(self.corners::<4>()?);
        }
        Ok(())
    }

    fn corners<const N: usize>(&mut self) -> Result<[u32; N], Error> {
        let mut corners = [0; N];
        for corner in &mut corners {
            let word = self.word("the last corner")?;
            let number = self.text.parse_integer(word, "a corner")?;
            // Indices start at 1.
            let index = number.checked_sub(1).and_then(|i| u32::try_from(i).ok());
            *corner = index
                .ok_or_else(|| self.text.error(format!("there is no vertex {number}: indices start at 1")))?;
            if self.farthest.is_none_or(|(farthest, _)| *corner > farthest) {
                self.farthest = Some((*corner, self.text.line()));
            }
        }
        self.skip_reference()?;
        Ok(corners)
    }

    fn skip_reference(&mut self) -> Result<(), Error> {
        let word = self.word("a reference number")?;
        // A keyword here means that a number is missing somewhere above.
        self.text.parse_number(word, "a reference").map(drop)
    }
}
