//! A count, a comment, and a line for each particle with its name and place. Of the extended format the comment's
//! `Properties` say where the place and the radius stand, and `Lattice` and `pbc` tell the periodic cell.

use super::{Lines, ParticleCell, ParticleSet, coordinate, refused_radius};
use crate::Error;
use crate::io::decimal;
use crate::io::text::{quote, refused_coordinate};

const XYZ: &str = "XYZ";

/// Whether the first line is a count and the third begins with a name.
pub(super) fn is_xyz(bytes: &[u8]) -> bool {
    let mut lines = Lines::new(bytes).map(|(_, line)| line.trim_ascii());
    let count = lines.next().is_some_and(|line| !line.is_empty() && line.iter().all(u8::is_ascii_digit));
    count && lines.nth(1).is_some_and(|line| line.first().is_some_and(u8::is_ascii_alphabetic))
}

/// Reads the particles of one frame.
pub(super) fn read(bytes: &[u8]) -> Result<ParticleSet, Error> {
    let failed = |line: usize, reason: String| Lines::error(XYZ, line, reason);
    let mut lines = Lines::new(bytes);
    let first = lines.next().map_or(&b""[..], |(_, line)| line.trim_ascii());
    let count = std::str::from_utf8(first).ok().and_then(|text| text.parse::<usize>().ok());
    let count = count.ok_or_else(|| {
        failed(1, format!("the number of particles should stand here, not {}", quote(first)))
    })?;
    let comment = lines.next().map_or(&b""[..], |(_, line)| line);
    let layout = Layout::of(comment).map_err(|reason| failed(2, reason))?;
    let mut set = ParticleSet { cell: layout.cell, ..ParticleSet::default() };
    // A line takes six bytes at least, so a wrong count asks for no more memory than the file has.
    set.positions.reserve(count.min(bytes.len() / 6));
    for (number, line) in lines.by_ref().take(count) {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        // The name of the element may be missing where three numbers stand alone.
        let bare = || {
            words.clone().next().is_some_and(|name| decimal::parse(name).is_some())
                && words.clone().count() == 3
        };
        let before = layout.columns.map_or_else(|| usize::from(!bare()), |columns| columns.before);
        if let Some(column) = layout.columns.and_then(|columns| columns.radius) {
            let word =
                words.clone().nth(column).ok_or_else(|| failed(number, "the radius is missing".into()))?;
            let radius = coordinate(word, "the radius").map_err(|reason| failed(number, reason))?;
            refused_radius(radius).map_or(Ok(()), |reason| Err(failed(number, reason)))?;
            set.radii.push(radius);
        }
        let mut next = words.nth(before);
        let mut position = [0.0; 3];
        for (value, axis) in position.iter_mut().zip(["x", "y", "z"]) {
            let word = next.ok_or_else(|| failed(number, format!("{axis} is missing")))?;
            *value = coordinate(word, axis).map_err(|reason| failed(number, reason))?;
            next = words.next();
        }
        refused_coordinate(position).map_or(Ok(()), |reason| Err(failed(number, reason)))?;
        set.positions.push(position);
    }
    if set.positions.len() < count {
        let line = lines.number;
        return Err(failed(
            line,
            format!("the file ends after {} of {count} particles", set.positions.len()),
        ));
    }
    match lines.find(|(_, line)| !line.trim_ascii().is_empty()) {
        Some((number, _)) => Err(failed(number, "more than one frame; give each its own file".into())),
        None => Ok(set),
    }
}

/// What the second line of an extended XYZ file says.
struct Layout {
    columns: Option<Columns>,
    cell: Option<ParticleCell>,
}

/// Where the words of a line stand that matter.
#[derive(Debug, Clone, Copy)]
struct Columns {
    /// How many words stand before the position.
    before: usize,
    /// And before the radius.
    radius: Option<usize>,
}

impl Layout {
    fn of(comment: &[u8]) -> Result<Layout, String> {
        let columns = value(comment, "Properties").map(Columns::of).transpose()?;
        let Some(lattice) = value(comment, "Lattice") else { return Ok(Layout { columns, cell: None }) };
        let words = lattice.split(|b| b.is_ascii_whitespace() || *b == b',').filter(|word| !word.is_empty());
        let numbers: Vec<f64> = words.map(|word| coordinate(word, "Lattice")).collect::<Result<_, _>>()?;
        let (vectors, []) = numbers.as_chunks::<3>() else {
            return Err(format!("Lattice has {} numbers, not nine", numbers.len()));
        };
        let vectors =
            vectors.try_into().map_err(|_| format!("Lattice has {} numbers, not nine", numbers.len()))?;
        let periodic = value(comment, "pbc").map_or(Ok([true; 3]), axes)?;
        Ok(Layout { columns, cell: Some(ParticleCell { vectors, periodic }) })
    }
}

/// The value of a key, `key=value` or `key="value"`.
fn value<'a>(comment: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let is_key = |at: usize| {
        let begins = at == 0 || comment[at - 1].is_ascii_whitespace();
        let (name, behind) = comment[at..].split_at_checked(key.len())?;
        (begins && name.eq_ignore_ascii_case(key.as_bytes())).then_some(behind.strip_prefix(b"=")?)
    };
    let rest = (0..comment.len()).find_map(is_key)?;
    let quoted = rest.strip_prefix(b"\"");
    let ends = |b: &u8| if quoted.is_some() { *b == b'"' } else { b.is_ascii_whitespace() };
    quoted.unwrap_or(rest).split(ends).next()
}

impl Columns {
    /// By `Properties`: triples of a name, a type and a number of columns.
    fn of(properties: &[u8]) -> Result<Columns, String> {
        let parts: Vec<&[u8]> = properties.split(|&b| b == b':').collect();
        let (mut position, mut radius, mut before) = (None, None, 0_usize);
        for triple in parts.chunks(3) {
            let columns =
                triple.get(2).and_then(|count| std::str::from_utf8(count).ok()?.parse::<usize>().ok());
            let columns = columns.ok_or_else(|| {
                format!("Properties should be name:type:columns, not {}", quote(properties))
            })?;
            let is = |name: &[u8], count: usize| triple[0].eq_ignore_ascii_case(name) && columns == count;
            if is(b"pos", 3) {
                position.get_or_insert(before);
            } else if is(b"radius", 1) {
                radius.get_or_insert(before);
            }
            before = before.saturating_add(columns);
        }
        let before = position.ok_or("Properties names no pos with three columns")?;
        Ok(Columns { before, radius })
    }
}

/// `T T F`, by which axes a cell is repeated.
fn axes(text: &[u8]) -> Result<[bool; 3], String> {
    let words: Vec<&[u8]> = text.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty()).collect();
    let told = |word: &&[u8]| match word.to_ascii_uppercase().as_slice() {
        b"T" | b"TRUE" | b"1" => Some(true),
        b"F" | b"FALSE" | b"0" => Some(false),
        _ => None,
    };
    let told: Option<Vec<bool>> = words.iter().map(told).collect();
    told.and_then(|told| told.try_into().ok())
        .ok_or_else(|| format!("pbc should be three of T and F, not {}", quote(text)))
}
