//! A table of results: aligned text for people, CSV for the repository.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::machine::Machine;
use crate::peers::versions::{Peer, peer_of};
use crate::timing::Statistics;

/// Rows under a header, with remarks, missing peers and ratios.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The name on the command line.
    pub name: String,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    missing: Vec<String>,
    remarks: Vec<String>,
    ratios: Vec<String>,
}

impl Table {
    /// An empty table.
    pub fn new(name: &str, header: &[&str]) -> Table {
        let header = header.iter().map(|h| h.to_string()).collect();
        Table { name: name.into(), header, ..Table::default() }
    }

    /// Adds a row; it has one cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.header.len(), "a row of {} must fit its header", self.name);
        self.rows.push(cells);
    }

    /// Says loudly that a peer is not there.
    pub fn missing(&mut self, what: impl Into<String>) {
        self.missing.push(what.into());
    }

    /// Adds a sentence below the rows.
    pub fn remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }

    /// Adds the line `ratio <contestant> <ours faster by>`.
    pub fn ratio(&mut self, contestant: &str, faster_by: f64) {
        self.ratios.push(format!("ratio {contestant} {faster_by:.2}"));
    }

    /// Adds a ratio line with median, mean and p99.
    pub fn ratio_of_all(&mut self, contestant: &str, faster_by: Statistics) {
        let Statistics { median, mean, p99, .. } = faster_by;
        self.ratios.push(format!("ratio {contestant} median {median:.2} mean {mean:.2} p99 {p99:.2}"));
    }

    /// The table as aligned text: rows, remarks, missing peers, and the ratios last.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let widths: Vec<usize> = (0..self.header.len()).map(|column| self.width(column)).collect();
        for cells in std::iter::once(&self.header).chain(&self.rows) {
            for (column, cell) in cells.iter().enumerate() {
                let (gap, width) = (if column == 0 { "" } else { "  " }, widths[column]);
                // Names and verdicts read from the left, numbers from the right.
                if column == 0 || column + 1 == cells.len() {
                    let _ = write!(out, "{gap}{cell:<width$}");
                } else {
                    let _ = write!(out, "{gap}{cell:>width$}");
                }
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
        for remark in &self.remarks {
            let _ = writeln!(out, "{remark}");
        }
        for what in &self.missing {
            let _ = writeln!(out, "*** MISSING *** {what}");
        }
        for ratio in &self.ratios {
            let _ = writeln!(out, "{ratio}");
        }
        out
    }

    /// The table as CSV; what is not a row stands in lines that begin with `#`.
    pub fn csv(&self, machine: &Machine) -> String {
        let mut out = format!("# table: {}\n", self.name);
        for (key, value) in machine.lines() {
            let _ = writeln!(out, "# {key}: {value}");
        }
        for (contestant, Peer { version, build }) in self.peers() {
            let _ = writeln!(out, "# peer: {}", [contestant, &version, &build].map(quoted).join(","));
        }
        for cells in std::iter::once(&self.header).chain(&self.rows) {
            let cells: Vec<String> = cells.iter().map(|c| quoted(c)).collect();
            let _ = writeln!(out, "{}", cells.join(","));
        }
        for what in &self.missing {
            let _ = writeln!(out, "# missing: {what}");
        }
        for line in self.remarks.iter().chain(&self.ratios) {
            let _ = writeln!(out, "# {line}");
        }
        out
    }

    /// Writes the CSV to `results/MACHINE/NAME.csv`.
    ///
    /// # Errors
    /// The folder or file cannot be written.
    pub fn save(&self, results: &Path, machine: &Machine) -> Result<()> {
        let folder = results.join(machine.folder());
        std::fs::create_dir_all(&folder)?;
        let file = folder.join(format!("{}.csv", self.name));
        std::fs::write(&file, self.csv(machine)).with_context(|| format!("writing {}", file.display()))
    }

    /// Who each contestant in the first column is, once.
    fn peers(&self) -> Vec<(&str, Peer)> {
        let mut found: Vec<(&str, Peer)> = Vec::new();
        for name in self.rows.iter().map(|cells| cells[0].as_str()) {
            if found.iter().all(|(known, _)| *known != name) {
                found.extend(peer_of(name).map(|peer| (name, peer)));
            }
        }
        found
    }

    fn width(&self, column: usize) -> usize {
        let all = std::iter::once(&self.header).chain(&self.rows);
        all.map(|cells| cells[column].chars().count()).max().unwrap_or(0)
    }
}

/// Microseconds from nanoseconds, with four digits that count.
pub fn microseconds(nanoseconds: f64) -> String {
    digits(nanoseconds / 1e3)
}

/// Milliseconds from nanoseconds, with four digits that count.
pub fn milliseconds(nanoseconds: f64) -> String {
    digits(nanoseconds / 1e6)
}

/// Four digits that count.
pub fn digits(value: f64) -> String {
    let places = match value.abs() {
        v if v < 10.0 => 3,
        v if v < 100.0 => 2,
        v if v < 1000.0 => 1,
        _ => 0,
    };
    format!("{value:.places$}")
}

/// A cell as CSV has it.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Table {
        let mut table = Table::new("small", &["contestant", "us", "verdict"]);
        table.row(["ours", "1.5", "agrees"].map(String::from));
        table.row(["the other, \"quoted\"", "12.25", "3 of 9 differ"].map(String::from));
        table.missing("third: run setup");
        table.remark("a remark");
        table.ratio("other", 8.1666);
        table
    }

    #[test]
    fn text_is_aligned_and_ends_with_the_ratios() {
        let text = small().text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "ours                   1.5  agrees");
        assert_eq!(lines[2], "the other, \"quoted\"  12.25  3 of 9 differ");
        assert_eq!(lines[4], "*** MISSING *** third: run setup");
        assert_eq!(lines.last(), Some(&"ratio other 8.17"));
    }

    #[test]
    fn csv_quotes_and_names_the_machine() {
        let machine = Machine::of("Some CPU, 3 GHz", 4);
        let mut table = small();
        table.row(["parry3d-f64 (cold)", "2", "agrees"].map(String::from));
        let csv = table.csv(&machine);
        assert!(
            csv.starts_with("# table: small\n# cpu: Some CPU, 3 GHz\n# vectors: AVX2\n# cores: 4\n"),
            "{csv}"
        );
        assert!(csv.contains("\n# peer: parry3d-f64 (cold),parry3d-f64 0."), "{csv}");
        assert!(csv.contains("\n\"the other, \"\"quoted\"\"\",12.25,3 of 9 differ\n"), "{csv}");
        let rows = csv.lines().filter(|l| !l.starts_with('#')).count();
        assert_eq!(rows, 4, "a header and three rows");
    }

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!(
            [0.5e3, 27.04e3, 212.3e3, 13042e3].map(microseconds),
            ["0.500", "27.04", "212.3", "13042"]
        );
    }
}
