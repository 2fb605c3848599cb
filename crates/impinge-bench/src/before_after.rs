//! `before-after`: this program against another build of it, in turn, on our own rows of the tables.
//!
//! Both are started afresh for each round, the first one changing, and each round gives a ratio; the median of
//! the ratios counts, since what slows the machine for a while slows both. Both print their table, and that is
//! read, so that a build from before this mode can be compared too; it runs its in-process peers as well, which
//! takes longer and leaves other things in the caches.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::peers::ONLY;
use crate::table::{Table, digits};
use crate::timing::Statistics;

/// After over before from which a row counts as slower: two builds of the same source differ by less.
const MOST: f64 = 1.03;

/// Microseconds below which a median of single calls is not judged: clocks tick in 10 ns, 2 % of it.
const LEAST_MEDIAN: f64 = 0.5;

/// Rounds unless told.
const ROUNDS: usize = 5;

/// The columns with times, by table.
const TIMES: [(&str, &[&str]); 22] = [
    ("mesh-relation", &["median us", "mean us"]),
    ("mesh-pairs", &["median us", "mean us"]),
    ("mesh-distance", &["median us", "mean us"]),
    ("tree-build", &["median ms"]),
    ("point-distance", &["mean us/point"]),
    ("bounds", &["query us"]),
    ("broad-phase", &["median ms"]),
    ("multibody", &["median ms"]),
    ("convex", &["ns/query"]),
    ("contact-labels", &["no tables", "labels", "primitives", "all four"]),
    ("ccd-primitives", &["ns/query"]),
    ("sweep", &["mean ms"]),
    ("tight-fit", &["ms"]),
    ("monte-carlo", &["mean ms"]),
    ("volume", &["median ms"]),
    ("volume-table", &["total ms"]),
    ("rays", &["ns/ray"]),
    ("scene-queries", &["us/question"]),
    ("configurations", &["us/configuration"]),
    ("contacts", &["us/body"]),
    ("neighbours", &["median ms"]),
    ("clash", &["median ms"]),
];

/// Columns that tell rows of one contestant apart.
const PARTS: [&str; 13] = [
    "scene", "motion", "volume", "bodies", "mesh", "meshes", "boxes", "corners", "queries", "set", "pixels",
    "fit", "parts",
];

/// What was asked for on the command line.
#[derive(Debug, PartialEq)]
struct Plan {
    other: PathBuf,
    tables: Vec<String>,
    quick: bool,
    rounds: usize,
}

/// Times by row and column.
type Readings = BTreeMap<String, f64>;

/// Compares; prints one table of ratios for each table.
///
/// # Errors
/// A program fails, or a row is slower than before by more than 3 %.
pub fn run(words: &[&str]) -> Result<()> {
    let plan = Plan::read(words)?;
    let this = std::env::current_exe()?;
    let mut slower = 0;
    for name in &plan.tables {
        let start = Instant::now();
        let mut rounds: Vec<[Readings; 2]> = Vec::new();
        for round in 0..plan.rounds {
            let mut both = [Readings::new(), Readings::new()];
            // Before is 0, after is 1.
            for turn in 0..2 {
                let which = (round + turn) % 2;
                let program = [&plan.other, &this][which];
                both[which] = readings(name, &printed(program, name, plan.quick)?)?;
            }
            rounds.push(both);
        }
        let (table, more) = compared(name, &rounds);
        slower += more;
        println!("{name}, {} rounds, {:.0} s\n{}", plan.rounds, start.elapsed().as_secs_f64(), table.text());
    }
    ensure!(slower == 0, "{slower} rows are slower than before by more than {:.0} %", 100.0 * (MOST - 1.0));
    Ok(())
}

impl Plan {
    fn read(words: &[&str]) -> Result<Plan> {
        let mut plan = Plan { other: PathBuf::new(), tables: Vec::new(), quick: false, rounds: ROUNDS };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            match word {
                "--quick" => plan.quick = true,
                "--rounds" => {
                    plan.rounds =
                        words.next().and_then(|n| n.parse().ok()).context("--rounds wants a number")?;
                    ensure!(plan.rounds > 0, "--rounds wants at least 1");
                }
                table if TIMES.iter().any(|(name, _)| *name == table) => plan.tables.push(table.into()),
                path if plan.other.as_os_str().is_empty() => plan.other = path.into(),
                table => bail!("there is no table {table}; `list` names them"),
            }
        }
        ensure!(plan.other.is_file(), "before-after wants another build of impinge-bench");
        if plan.tables.is_empty() {
            plan.tables = TIMES.iter().map(|(name, _)| (*name).into()).collect();
        }
        Ok(plan)
    }
}

/// What a build prints for a table, with our own contestants only where it knows how.
fn printed(program: &PathBuf, table: &str, quick: bool) -> Result<String> {
    let mut command = Command::new(program);
    command.arg(table).args(quick.then_some("--quick")).env(ONLY, "impinge");
    let out = command.output().with_context(|| format!("starting {}", program.display()))?;
    let said = String::from_utf8_lossy(&out.stderr);
    ensure!(out.status.success(), "{} {table}: {}\n{said}", program.display(), out.status);
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Our own times in a printed table.
fn readings(table: &str, printed: &str) -> Result<Readings> {
    let rows = columns(printed);
    let (header, rows) = rows.split_first().with_context(|| format!("{table}: nothing was printed"))?;
    let (_, times) = TIMES.into_iter().find(|(name, _)| *name == table).context("a table without times")?;
    let mut found = Readings::new();
    for row in rows.iter().filter(|row| is_ours(header, row)) {
        let cells = || header.iter().zip(row);
        let parts = cells().skip(1).filter(|(name, _)| PARTS.contains(&name.as_str())).map(|(_, cell)| cell);
        let name = row.first().into_iter().chain(parts).cloned().collect::<Vec<_>>().join(", ");
        for (column, cell) in cells().filter(|(column, _)| times.contains(&column.as_str())) {
            let mut words = cell.split(' ');
            let time: Option<f64> = words.next().and_then(|w| w.parse().ok());
            let time = time.filter(|&time| column != "median us" || time >= LEAST_MEDIAN);
            found.extend(time.map(|time| (format!("{name}: {column}"), time)));
        }
    }
    ensure!(!found.is_empty(), "{table}: no times of ours were printed");
    Ok(found)
}

/// Without contestants all is ours; the design space counts with the production tree, and the labels' table,
/// which is turned, with its last row.
fn is_ours(header: &[String], row: &[String]) -> bool {
    match (header.first().map(String::as_str), row) {
        (Some("contestant"), [name, ..]) => {
            ["impinge", "motion-", "slower-"].iter().any(|start| name.starts_with(start))
        }
        (Some("scene"), [_, volume, ..]) => volume == "production",
        (Some("rays" | "question"), [_, name, ..]) => name.starts_with("impinge"),
        (Some("tests"), [name, ..]) => name == "ms",
        _ => true,
    }
}

/// The cells of an aligned table, header first. Only table rows have gaps of two blanks, and only between
/// columns do all rows have one at the same place.
fn columns(printed: &str) -> Vec<Vec<String>> {
    let after_blank = printed.lines().skip_while(|line| !line.is_empty()).skip(1);
    let lines: Vec<Vec<char>> =
        after_blank.filter(|line| line.contains("  ")).map(|line| line.chars().collect()).collect();
    let width = lines.iter().map(Vec::len).max().unwrap_or(0);
    let blank = |at: usize| lines.iter().all(|line| line.get(at).is_none_or(|c| *c == ' '));
    let mut spans: Vec<[usize; 2]> = Vec::new();
    for at in (0..width).filter(|&at| !blank(at)) {
        match spans.last_mut() {
            Some(span) if at - span[1] <= 2 => span[1] = at,
            _ => spans.push([at, at]),
        }
    }
    let cell = |line: &Vec<char>, [from, to]: [usize; 2]| {
        let characters: String = line.iter().take(to + 1).skip(from).collect();
        characters.trim().to_string()
    };
    lines.iter().map(|line| spans.iter().map(|&span| cell(line, span)).collect()).collect()
}

/// The ratios of all rows that both have, and how many are too large.
fn compared(name: &str, rounds: &[[Readings; 2]]) -> (Table, usize) {
    let mut table = Table::new(name, &["row", "before", "after", "after/before", "least", "most", "verdict"]);
    let (mut slower, mut lonely) = (0, Vec::new());
    let mut keys: Vec<&String> = rounds.iter().flatten().flat_map(BTreeMap::keys).collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        let times = |which: usize| rounds.iter().filter_map(move |both| both[which].get(key).copied());
        let ratios: Vec<f64> =
            rounds.iter().filter_map(|[before, after]| Some(after.get(key)? / before.get(key)?)).collect();
        if ratios.is_empty() {
            lonely.push(key.as_str());
            continue;
        }
        let median = |readings: Vec<f64>| Statistics::of(&readings).median;
        let ratio = median(ratios.clone());
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        let verdict = if ratio > MOST { "SLOWER" } else { "" };
        slower += usize::from(ratio > MOST);
        let both = [median(times(0).collect()), median(times(1).collect())].map(digits);
        let figures = [ratio, least, most].map(|r| format!("{r:.3}"));
        table.row([key.clone()].into_iter().chain(both).chain(figures).chain([verdict.into()]));
    }
    if !lonely.is_empty() {
        table.remark(format!("only in one of both: {}", lonely.join("; ")));
    }
    (table, slower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::TABLES;

    fn printed(time: &str) -> String {
        let mut table =
            Table::new("sweep", &["contestant", "meshes", "median ms", "mean ms", "late", "verdict"]);
        table.row(["impinge", "a-b", "1.0", time, "", "never late"].map(String::from));
        table.row(["impinge, no memory", "a-b", "3.0", "4.5 ms", "", ""].map(String::from));
        table.row(["fcl", "a-b", "7.0", "8.0", "9", "same hits"].map(String::from));
        table.remark("a remark: with no gap of two blanks");
        table.ratio("fcl", 8.0);
        format!("sweep: about\ncpu: some  cpu\n\n{}\n", table.text())
    }

    #[test]
    fn a_printed_table_is_read_back_with_empty_cells() {
        let rows = columns(&printed("2.0"));
        assert_eq!(rows[0], ["contestant", "meshes", "median ms", "mean ms", "late", "verdict"]);
        assert_eq!(rows[2], ["impinge, no memory", "a-b", "3.0", "4.5 ms", "", ""]);
        assert_eq!(rows.len(), 4);
        let readings = readings("sweep", &printed("2.0")).unwrap();
        assert_eq!(readings["impinge, a-b: mean ms"], 2.0);
        assert_eq!(readings["impinge, no memory, a-b: mean ms"], 4.5);
        assert_eq!(readings.len(), 2, "peers do not count");
    }

    #[test]
    fn the_median_of_the_rounds_decides() {
        let round =
            |before: &str, after: &str| [before, after].map(|t| readings("sweep", &printed(t)).unwrap());
        let noisy = [round("2.0", "2.01"), round("2.0", "9.0"), round("4.0", "3.9")];
        assert_eq!(compared("sweep", &noisy).1, 0);
        let slower = [round("2.0", "2.07"), round("2.0", "1.0"), round("4.0", "4.2")];
        let (table, count) = compared("sweep", &slower);
        assert_eq!(count, 1);
        assert!(table.text().contains("1.035"), "{}", table.text());
    }

    #[test]
    fn every_table_has_its_times_and_words_make_a_plan() {
        // These judge choices, limits and what is found, not times.
        let untimed = |name: &str| {
            let judged =
                ["auto", "budgets", "calibrate", "calibrate-particles", "clusters", "decompose", "hybrid"];
            judged.contains(&name) || name.starts_with("monte-carlo-")
        };
        let timed = TABLES.iter().filter(|entry| !untimed(entry.name));
        assert_eq!(timed.clone().count(), TIMES.len());
        assert!(timed.into_iter().all(|entry| TIMES.iter().any(|(name, _)| *name == entry.name)));
        let program = std::env::current_exe().unwrap();
        let path = program.to_str().unwrap();
        let plan = Plan::read(&[path, "sweep", "--quick", "--rounds", "3"]).unwrap();
        assert_eq!((plan.tables, plan.quick, plan.rounds), (vec!["sweep".to_string()], true, 3));
        assert_eq!(Plan::read(&[path]).unwrap().tables.len(), TIMES.len());
        assert!(Plan::read(&["sweep"]).is_err() && Plan::read(&[path, "no-table"]).is_err());
    }
}
