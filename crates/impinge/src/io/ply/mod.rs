//! PLY, the Stanford polygon format: text and both byte orders.
//!
//! Of the elements, `vertex` (x, y, z), `face` and `tristrips` (`vertex_indices` or `vertex_index`)
//! are read; other properties and elements are passed over. One body reader serves all encodings: an
//! encoding is a [`Values`], which hands out the numbers in the order of the header.

mod binary;
mod header;
mod text;

use glam::DVec3;

use self::header::{Element, Encoding, Header, Role, ScalarType, Shape};
use super::assemble::{Fan, Strip};
use super::particles::refused_radius;
use super::text::refused_coordinate;
use crate::{Error, Mesh};

const FORMAT: &str = "PLY";

/// The numbers of the body, one after the other.
trait Values {
    fn number(&mut self, kind: ScalarType) -> Result<f64, Error>;
    fn integer(&mut self, kind: ScalarType) -> Result<i64, Error>;
    fn skip(&mut self, kind: ScalarType, count: usize) -> Result<(), Error>;
    /// The length of a list of `item`s, refused when the file cannot hold so many.
    fn length(&mut self, count: ScalarType, item: ScalarType) -> Result<usize, Error>;
    fn end_row(&mut self) -> Result<(), Error>;
    fn error(&self, reason: String) -> Error;
}

pub(super) fn read(bytes: &[u8]) -> Result<Mesh, Error> {
    let header = Header::read(bytes)?;
    match header.encoding {
        Encoding::Text => read_body(&header, text::Rows::new(bytes, &header)),
        Encoding::LittleEndian => read_body(&header, binary::Stream::<false>::new(bytes, &header)),
        Encoding::BigEndian => read_body(&header, binary::Stream::<true>::new(bytes, &header)),
    }
}

/// The vertices and, where they have any, their radii; whatever else there is must be well formed too.
pub(super) fn read_points(bytes: &[u8]) -> Result<(Vec<[f64; 3]>, Vec<f64>), Error> {
    let header = Header::read(bytes)?;
    let body = match header.encoding {
        Encoding::Text => read_payload(&header, text::Rows::new(bytes, &header)),
        Encoding::LittleEndian => read_payload(&header, binary::Stream::<false>::new(bytes, &header)),
        Encoding::BigEndian => read_payload(&header, binary::Stream::<true>::new(bytes, &header)),
    }?;
    let bad = |place: String, reason: String| Error::Format { format: FORMAT, place, reason };
    if ![0, body.vertices.len()].contains(&body.radii.len()) {
        return Err(bad("the header".into(), "vertices have more than one radius".into()));
    }
    if let Some(error) = body.bad_radius {
        return Err(error);
    }
    Ok((body.vertices.into_iter().map(DVec3::into).collect(), body.radii))
}

fn read_body(header: &Header, values: impl Values) -> Result<Mesh, Error> {
    let body = read_payload(header, values)?;
    Mesh::from_points(body.vertices, body.triangles)
}

fn read_payload(header: &Header, mut values: impl Values) -> Result<Payload, Error> {
    let mut body = Payload { vertex_count: header.vertex_count, ..Payload::default() };
    for element in &header.elements {
        // The header check has seen that the file has room for the rows.
        body.reserve(element);
        // A row without properties takes no bytes at all, so their number is not to be trusted.
        let rows = if element.properties.is_empty() { 0 } else { element.rows };
        for row in 0..rows {
            body.read_row(element, &mut values).map_err(|error| name_row(error, &element.name, row))?;
        }
    }
    Ok(body)
}

fn name_row(error: Error, element: &str, row: usize) -> Error {
    match error {
        Error::Format { format, place, reason } => {
            Error::Format { format, place: format!("{element} {row} ({place})"), reason }
        }
        other => other,
    }
}

#[derive(Default)]
struct Payload {
    vertex_count: usize,
    vertices: Vec<DVec3>,
    /// As many as vertices, or none.
    radii: Vec<f64>,
    /// The first that is none: no matter for a mesh.
    bad_radius: Option<Error>,
    triangles: Vec<[u32; 3]>,
}

impl Payload {
    fn reserve(&mut self, element: &Element) {
        let roles = || element.properties.iter().map(|property| property.role);
        if roles().any(|role| matches!(role, Role::Axis(_))) {
            self.vertices.reserve_exact(element.rows);
        } else if roles().any(|role| role == Role::Polygon) {
            self.triangles.reserve(element.rows);
        }
    }

    #[inline]
    fn read_row(&mut self, element: &Element, values: &mut impl Values) -> Result<(), Error> {
        let mut point = None;
        for property in &element.properties {
            match (property.shape, property.role) {
                (Shape::Scalar(kind), Role::Axis(axis)) => {
                    point.get_or_insert([0.0; 3])[axis] = values.number(kind)?;
                }
                (Shape::Scalar(kind), Role::Radius) => {
                    let (vertex, radius) = (self.radii.len(), values.number(kind)?);
                    if let Some(reason) = refused_radius(radius).filter(|_| self.bad_radius.is_none()) {
                        self.bad_radius = Some(name_row(values.error(reason), "vertex", vertex));
                    }
                    self.radii.push(radius);
                }
                (Shape::Scalar(kind), _) => values.skip(kind, 1)?,
                (Shape::List { count, item }, role) => {
                    let length = values.length(count, item)?;
                    match role {
                        Role::Polygon => self.read_polygon(length, item, values)?,
                        Role::Strip => self.read_strip(length, item, values)?,
                        _ => values.skip(item, length)?,
                    }
                }
            }
        }
        if let Some(point) = point {
            if let Some(reason) = refused_coordinate(point) {
                return Err(values.error(reason));
            }
            self.vertices.push(point.into());
        }
        values.end_row()
    }

    fn read_polygon(
        &mut self,
        corners: usize,
        item: ScalarType,
        values: &mut impl Values,
    ) -> Result<(), Error> {
        if corners < 3 {
            return Err(values.error(format!("a face needs 3 corners, this one has {corners}")));
        }
        let mut fan = Fan::default();
        for _ in 0..corners {
            let index = values.integer(item)?;
            fan.corner(self.checked(index, values)?, &mut self.triangles);
        }
        Ok(())
    }

    /// Strips one after the other, with −1 between them.
    fn read_strip(&mut self, length: usize, item: ScalarType, values: &mut impl Values) -> Result<(), Error> {
        let mut strip = Strip::default();
        for _ in 0..length {
            match values.integer(item)? {
                -1 => {
                    check_strip(&strip, values)?;
                    strip = Strip::default();
                }
                index => strip.corner(self.checked(index, values)?, &mut self.triangles),
            }
        }
        check_strip(&strip, values)
    }

    #[inline]
    fn checked(&self, index: i64, values: &impl Values) -> Result<u32, Error> {
        let known = u32::try_from(index).ok().filter(|&i| (i as usize) < self.vertex_count);
        known.ok_or_else(|| {
            let count = self.vertex_count;
            values.error(format!("vertex {index} is named, but there are {count} vertices (from 0)"))
        })
    }
}

fn check_strip(strip: &Strip, values: &impl Values) -> Result<(), Error> {
    match strip.corners() {
        corners @ 1..3 => Err(values.error(format!("a strip needs 3 corners, this one has {corners}"))),
        _ => Ok(()),
    }
}
