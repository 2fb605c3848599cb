//! Numbers between commas, semicolons, tabs or blanks, with or without a header that names the columns x, y, z and r (or
//! radius). A set without z lies in the plane z = 0.

use super::{Lines, ParticleSet, coordinate, refused_radius};
use crate::Error;
use crate::io::decimal;
use crate::io::text::{quote, refused_coordinate};

const CSV: &str = "CSV";

/// Which fields of a row are x, y, z and the radius.
#[derive(Debug, Clone, Copy)]
struct Columns {
    axes: [Option<usize>; 3],
    radius: Option<usize>,
    fields: usize,
}

/// Reads rows of numbers.
pub(super) fn read(bytes: &[u8]) -> Result<ParticleSet, Error> {
    let mut set = ParticleSet::default();
    let mut columns = None;
    let mut fields = Vec::new();
    for (number, line) in Lines::new(bytes) {
        if line.trim_ascii().is_empty() || line.starts_with(b"#") {
            continue;
        }
        split_fields(line, &mut fields);
        let failed = |reason: String| Lines::error(CSV, number, reason);
        let Some(known) = columns else {
            let is_header = fields.iter().any(|field| decimal::parse(field).is_none());
            let first = if is_header { named_columns(&fields) } else { plain_columns(fields.len()) };
            let first = first.map_err(failed)?;
            columns = Some(first);
            if !is_header {
                read_row(&fields, first, &mut set).map_err(failed)?;
            }
            continue;
        };
        read_row(&fields, known, &mut set).map_err(failed)?;
    }
    Ok(set)
}

/// Fields between commas, semicolons or tabs, else between blanks; quotes around a field are taken off.
fn split_fields<'a>(line: &'a [u8], fields: &mut Vec<&'a [u8]>) {
    fields.clear();
    let separator = [b',', b';', b'\t'].into_iter().find(|s| line.contains(s));
    match separator {
        Some(separator) => fields.extend(line.split(|&b| b == separator).map(unquoted)),
        None => fields.extend(line.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty()).map(unquoted)),
    }
}

fn unquoted(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    field.strip_prefix(b"\"").and_then(|f| f.strip_suffix(b"\"")).unwrap_or(field)
}

fn named_columns(fields: &[&[u8]]) -> Result<Columns, String> {
    let place = |names: &[&str]| {
        let is_named = |field: &&[u8]| names.iter().any(|name| field.eq_ignore_ascii_case(name.as_bytes()));
        fields.iter().position(is_named)
    };
    let axes = [place(&["x"]), place(&["y"]), place(&["z"])];
    if axes[0].is_none() || axes[1].is_none() {
        let seen = fields.first().copied().unwrap_or_default();
        if let [numbers @ .., b""] = fields
            && numbers.iter().all(|field| decimal::parse(field).is_some())
        {
            return Err("no number stands behind the last separator".into());
        }
        return Err(format!("neither numbers nor a header with x and y: it begins with {}", quote(seen)));
    }
    Ok(Columns { axes, radius: place(&["r", "radius"]), fields: fields.len() })
}

fn plain_columns(fields: usize) -> Result<Columns, String> {
    match fields {
        2..=4 => Ok(Columns {
            axes: [Some(0), Some(1), (fields > 2).then_some(2)],
            radius: (fields > 3).then_some(3),
            fields,
        }),
        0 | 1 => Err("one number without a header; x and y are at least two".into()),
        _ => Err(format!("{fields} numbers without a header; x, y, z and a radius are at most four")),
    }
}

fn read_row(fields: &[&[u8]], columns: Columns, set: &mut ParticleSet) -> Result<(), String> {
    if fields.len() != columns.fields {
        return Err(format!("{} fields where the first row has {}", fields.len(), columns.fields));
    }
    let mut position = [0.0; 3];
    for ((value, column), axis) in position.iter_mut().zip(columns.axes).zip(["x", "y", "z"]) {
        if let Some(column) = column {
            *value = coordinate(fields[column], axis)?;
        }
    }
    refused_coordinate(position).map_or(Ok(()), Err)?;
    set.positions.push(position);
    if let Some(column) = columns.radius {
        let radius = coordinate(fields[column], "the radius")?;
        refused_radius(radius).map_or(Ok(()), Err)?;
        set.radii.push(radius);
    }
    Ok(())
}
