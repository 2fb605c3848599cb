//! The results kept in the repository, read back: one folder for each machine, one CSV for each table.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::peers::versions::Peer;

/// One table as it was saved.
#[derive(Debug, Clone, Default)]
pub struct Saved {
    /// Key and value of the lines about the machine.
    facts: Vec<[String; 2]>,
    peers: Vec<(String, Peer)>,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Saved {
    /// From the text of a CSV.
    pub fn parse(text: &str) -> Saved {
        let mut saved = Saved::default();
        for line in text.lines() {
            if let Some(peer) = line.strip_prefix("# peer: ") {
                if let [name, version, build] = &cells(peer)[..] {
                    saved.peers.push((name.clone(), Peer { version: version.clone(), build: build.clone() }));
                }
            } else if let Some(remark) = line.strip_prefix("# ") {
                let fact = remark.split_once(": ").filter(|_| saved.header.is_empty());
                saved.facts.extend(fact.map(|(key, value)| [key.into(), value.into()]));
            } else if saved.header.is_empty() {
                saved.header = cells(line);
            } else {
                saved.rows.push(cells(line));
            }
        }
        saved
    }

    /// The value of a line about the machine.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().find(|fact| fact[0] == key).map(|fact| fact[1].as_str())
    }

    /// Who a contestant is.
    pub fn peer(&self, contestant: &str) -> Option<&Peer> {
        self.peers.iter().find(|(name, _)| name == contestant).map(|(_, peer)| peer)
    }

    /// The row of a contestant whose second cell is `part`; any second cell where `part` is empty.
    pub fn row(&self, contestant: &str, part: &str) -> Option<&[String]> {
        let fits = |row: &&Vec<String>| row[0] == contestant && (part.is_empty() || row[1] == part);
        self.rows.iter().find(fits).map(Vec::as_slice)
    }

    /// The first number in that column of a row.
    pub fn number(&self, row: &[String], column: &str) -> Option<f64> {
        let at = self.header.iter().position(|name| name == column)?;
        row.get(at)?.split(' ').next()?.parse().ok()
    }
}

/// The machines of which there are results, each with its tables by name.
///
/// # Errors
/// A file cannot be read.
pub fn machines(results: &Path) -> Result<Vec<Vec<(String, Saved)>>> {
    sorted(results)?.iter().filter(|folder| folder.is_dir()).map(|folder| tables(folder)).collect()
}

fn tables(folder: &Path) -> Result<Vec<(String, Saved)>> {
    let mut found = Vec::new();
    for file in sorted(folder)? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        found.push((name, Saved::parse(&text)));
    }
    Ok(found)
}

fn sorted(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// The cells of a CSV line; quotes may hold commas and doubled quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut all, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => cell.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    all.push(cell);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::table::Table;

    #[test]
    fn what_is_saved_is_read_back() {
        let mut table = Table::new("small", &["contestant", "part", "ms", "verdict"]);
        table.row(["impinge", "a", "1.5", "agrees"].map(String::from));
        table.row(["parry3d, \"new\"", "b", "12.5 ms", "3, differ"].map(String::from));
        table.remark("note: no fact");
        let saved = Saved::parse(&table.csv(&Machine::of("CPU, 3 GHz", 2)));
        assert_eq!((saved.fact("cpu"), saved.fact("note")), (Some("CPU, 3 GHz"), None));
        let row = saved.row("parry3d, \"new\"", "b").unwrap();
        assert_eq!((saved.number(row, "ms"), row[3].as_str()), (Some(12.5), "3, differ"));
        assert!(saved.peer("parry3d, \"new\"").unwrap().version.starts_with("parry3d 0."));
        assert!(saved.row("impinge", "b").is_none() && saved.row("impinge", "").is_some());
    }
}
