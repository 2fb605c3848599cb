//! The header of a PLY file: encoding, elements, and what each property means to a mesh.

use super::FORMAT;
use crate::Error;
use crate::io::text::{Dialect, Text, integer, quote};

pub(super) const DIALECT: Dialect = Dialect { format: FORMAT, comments: false, joins: false };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

/// The type of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl ScalarType {
    fn named(word: &[u8]) -> Option<ScalarType> {
        Some(match word {
            b"char" | b"int8" => ScalarType::I8,
            b"uchar" | b"uint8" => ScalarType::U8,
            b"short" | b"int16" => ScalarType::I16,
            b"ushort" | b"uint16" => ScalarType::U16,
            b"int" | b"int32" => ScalarType::I32,
            b"uint" | b"uint32" => ScalarType::U32,
            b"int64" => ScalarType::I64,
            b"uint64" => ScalarType::U64,
            b"float" | b"float32" => ScalarType::F32,
            b"double" | b"float64" => ScalarType::F64,
            _ => return None,
        })
    }

    /// Bytes in a binary file.
    pub fn size(self) -> usize {
        match self {
            ScalarType::I8 | ScalarType::U8 => 1,
            ScalarType::I16 | ScalarType::U16 => 2,
            ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => 4,
            ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => 8,
        }
    }

    fn is_integer(self) -> bool {
        !matches!(self, ScalarType::F32 | ScalarType::F64)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar(ScalarType),
    List { count: ScalarType, item: ScalarType },
}

/// What a property is to the mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Axis(usize),
    /// Of a ball around the vertex; meshes have none.
    Radius,
    Polygon,
    Strip,
    Other,
}

#[derive(Debug)]
pub(super) struct Property {
    pub shape: Shape,
    pub role: Role,
}

#[derive(Debug)]
pub(super) struct Element {
    pub name: String,
    pub rows: usize,
    pub properties: Vec<Property>,
    line: usize,
}

#[derive(Debug)]
pub(super) struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
    pub vertex_count: usize,
    /// The first byte of the body and its line.
    pub body: (usize, usize),
}

impl Header {
    pub fn read(bytes: &[u8]) -> Result<Header, Error> {
        let mut text = Text::new(bytes, DIALECT);
        if text.word() != Some(b"ply") {
            return Err(text.error("the first line should be `ply`"));
        }
        // The body of a binary file may begin with the byte of a newline. That can be mistaken only
        // behind a bare return, so such a header shows itself on the first line.
        let bare_return = newline_at(bytes, text.offset()) == b"\r";
        text.next_line();
        let mut encoding = None;
        let mut elements: Vec<Element> = Vec::new();
        loop {
            match text.word() {
                Some(b"format") => encoding = Some(read_encoding(&mut text)?),
                Some(b"element") => elements.push(read_element(&mut text)?),
                Some(b"property") => match elements.last_mut() {
                    Some(element) => {
                        let property = read_property(&mut text, element)?;
                        element.properties.push(property);
                    }
                    None => return Err(text.error("a property before the first element")),
                },
                Some(b"end_header") => break,
                None | Some(b"comment" | b"obj_info") => {}
                Some(word) => {
                    return Err(text.error(format!("{} is no header line of PLY", quote(word))));
                }
            }
            if !text.next_line() {
                return Err(text.error("the file ends without `end_header`"));
            }
        }
        let encoding = encoding.ok_or_else(|| text.error("the header has no `format` line"))?;
        let body = match encoding {
            Encoding::Text => {
                text.next_line();
                text.offset()
            }
            _ => {
                let newline = newline_at(bytes, text.offset());
                let width = if bare_return { newline.len().min(1) } else { newline.len() };
                end_of_line(bytes, text.offset()) + width
            }
        };
        let header = Header {
            encoding,
            vertex_count: check_elements(&text, &elements)?,
            elements,
            body: (body, text.line()),
        };
        header.check_room(&text, bytes.len() - body)?;
        Ok(header)
    }

    /// Refuses more rows than the body can hold, before anything is allocated for them.
    fn check_room(&self, text: &Text<'_>, room: usize) -> Result<(), Error> {
        let mut needed = 0usize;
        for element in &self.elements {
            let row: usize = element.properties.iter().map(|p| self.least_bytes(p.shape)).sum();
            needed = needed.saturating_add(element.rows.saturating_mul(row));
            // Of a text that is only cut short the row is named that lacks numbers.
            let most = if self.encoding == Encoding::Text { 2 * room } else { room };
            if needed > most + 1 {
                let reason = format!("{} rows of `{}`", element.rows, element.name);
                return Err(text.error_at(
                    element.line,
                    format!("{reason} do not fit into the {room} bytes of the body"),
                ));
            }
        }
        Ok(())
    }

    fn least_bytes(&self, shape: Shape) -> usize {
        match (self.encoding, shape) {
            // A digit and a separator.
            (Encoding::Text, _) => 2,
            (_, Shape::Scalar(kind)) => kind.size(),
            (_, Shape::List { count, .. }) => count.size(),
        }
    }
}

fn end_of_line(bytes: &[u8], from: usize) -> usize {
    from + bytes[from..].iter().take_while(|&&b| b != b'\n' && b != b'\r').count()
}

/// The newline that ends the line of `from`; empty at the end of the file.
fn newline_at(bytes: &[u8], from: usize) -> &[u8] {
    let rest = &bytes[end_of_line(bytes, from)..];
    match rest {
        [b'\r', b'\n', ..] => &rest[..2],
        _ => &rest[..rest.len().min(1)],
    }
}

fn read_encoding(text: &mut Text<'_>) -> Result<Encoding, Error> {
    match text.word() {
        Some(b"ascii") => Ok(Encoding::Text),
        Some(b"binary_little_endian") => Ok(Encoding::LittleEndian),
        Some(b"binary_big_endian") => Ok(Encoding::BigEndian),
        other => Err(text.error(format!("unknown format {}", quote(other.unwrap_or_default())))),
    }
}

fn read_element(text: &mut Text<'_>) -> Result<Element, Error> {
    let (Some(name), Some(count)) = (text.word(), text.word()) else {
        return Err(text.error("an element needs a name and a count"));
    };
    let rows = integer(count)
        .and_then(|count| usize::try_from(count).ok())
        .ok_or_else(|| text.error(format!("the count of an element cannot be {}", quote(count))))?;
    let name = String::from_utf8_lossy(name).into_owned();
    Ok(Element { name, rows, properties: Vec::new(), line: text.line() })
}

fn read_property(text: &mut Text<'_>, element: &Element) -> Result<Property, Error> {
    let shape = match text.word() {
        Some(b"list") => {
            let (count, item) = (read_kind(text)?, read_kind(text)?);
            if !count.is_integer() {
                return Err(text.error("the length of a list should be of an integer type"));
            }
            Shape::List { count, item }
        }
        word => Shape::Scalar(parse_kind(text, word)?),
    };
    let Some(name) = text.word() else {
        return Err(text.error("a property needs a name"));
    };
    let role = role_of(&element.name, name, shape);
    if let (Role::Polygon | Role::Strip, Shape::List { item, .. }) = (role, shape)
        && !item.is_integer()
    {
        return Err(text.error("vertex indices should be of an integer type"));
    }
    if !matches!(role, Role::Other | Role::Radius) && element.properties.iter().any(|p| p.role == role) {
        return Err(text.error(format!("`{}` has {} twice", element.name, quote(name))));
    }
    Ok(Property { shape, role })
}

fn read_kind(text: &mut Text<'_>) -> Result<ScalarType, Error> {
    let word = text.word();
    parse_kind(text, word)
}

fn parse_kind(text: &Text<'_>, word: Option<&[u8]>) -> Result<ScalarType, Error> {
    let word = word.unwrap_or_default();
    ScalarType::named(word).ok_or_else(|| text.error(format!("unknown type {}", quote(word))))
}

fn role_of(element: &str, property: &[u8], shape: Shape) -> Role {
    match (element, property, shape) {
        ("vertex", b"x", Shape::Scalar(_)) => Role::Axis(0),
        ("vertex", b"y", Shape::Scalar(_)) => Role::Axis(1),
        ("vertex", b"z", Shape::Scalar(_)) => Role::Axis(2),
        ("vertex", b"radius", Shape::Scalar(_)) => Role::Radius,
        ("face", b"vertex_indices" | b"vertex_index", Shape::List { .. }) => Role::Polygon,
        ("tristrips", b"vertex_indices" | b"vertex_index", Shape::List { .. }) => Role::Strip,
        _ => Role::Other,
    }
}

/// The number of vertices, once each element that matters is there once and has its properties.
fn check_elements(text: &Text<'_>, elements: &[Element]) -> Result<usize, Error> {
    for (name, roles, asked) in [
        ("vertex", &[Role::Axis(0), Role::Axis(1), Role::Axis(2)][..], "x, y and z"),
        ("face", &[Role::Polygon], "a list `vertex_indices`"),
        ("tristrips", &[Role::Strip], "a list `vertex_indices`"),
    ] {
        let mut named = elements.iter().filter(|element| element.name == name);
        if let Some(element) = named.next() {
            let has = |role: &Role| element.properties.iter().any(|property| property.role == *role);
            if element.rows > 0 && !roles.iter().all(has) {
                return Err(text.error_at(element.line, format!("element `{name}` needs {asked}")));
            }
        }
        if let Some(second) = named.next() {
            return Err(text.error_at(second.line, format!("a second element `{name}`")));
        }
    }
    Ok(elements.iter().find(|element| element.name == "vertex").map_or(0, |element| element.rows))
}
