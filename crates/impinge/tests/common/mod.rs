//! What several test files need.

mod pair;
mod shared;

use std::path::Path;

#[allow(unused_imports, reason = "not every test file reads pairs")]
pub use pair::{Pair, pair};
pub use shared::shared;

/// The rows of a manifest by column name. Fields with commas stand in quotes.
#[allow(dead_code, reason = "not every test file reads a manifest")]
pub fn manifest(path: &Path) -> Vec<Vec<(String, String)>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(fields);
    let names = lines.next().unwrap();
    lines.map(|row| names.iter().cloned().zip(row).collect()).collect()
}

#[allow(dead_code, reason = "as manifest")]
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

/// The value of a column; empty where the row has none.
#[allow(dead_code, reason = "as manifest")]
pub fn field<'r>(row: &'r [(String, String)], name: &str) -> &'r str {
    row.iter().find(|(column, _)| column == name).map_or("", |(_, value)| value)
}
