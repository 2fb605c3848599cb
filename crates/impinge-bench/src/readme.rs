//! The README's table of speeds, written from the saved results, so that no figure is copied by hand.
//!
//! Each question stands against whoever is asked the same and walks both trees, not against the naive queries
//! that the tables hold besides; where a peer is faster, its row says so.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::results::{self, Saved};
use crate::table::digits;

const BEGIN: &str = "<!-- speed: begin -->\n";
const END: &str = "<!-- speed: end -->";

/// One question of the README.
struct Question {
    /// With its unit.
    text: &'static str,
    table: &'static str,
    column: &'static str,
    ours: &'static str,
    /// The second cell of the rows, where a table has several parts.
    part: &'static str,
    /// Contestants and what to call them beside their version.
    peers: &'static [(&'static str, &'static str)],
}

const DUAL: (&str, &str) = ("parry3d-f64 (dual traversal)", "dual traversal");
const FCL: (&str, &str) = ("fcl-obbrss", "OBBRSS");
const COAL: (&str, &str) = ("coal-obbrss", "OBBRSS");
const HULLS: &[(&str, &str)] = &[
    ("coal-cached", "GJK, cached guess"),
    ("parry3d-f64 (warm)", "GJK, last direction"),
    ("parry3d-f64 (cold)", "cold"),
];

const QUESTIONS: &[Question] = &[
    Question {
        text: "do the surfaces meet, 200 placements, median µs",
        table: "mesh-relation",
        column: "median us",
        ours: "impinge",
        part: "",
        peers: &[FCL, COAL, DUAL],
    },
    Question {
        text: "five-valued relation of the solids, against the peers' yes or no for the surfaces, median µs",
        table: "mesh-relation",
        column: "median us",
        ours: "impinge-relation",
        part: "",
        peers: &[FCL, DUAL],
    },
    Question {
        text: "every pair of triangles that meet, 200 placements, mean µs",
        table: "mesh-pairs",
        column: "mean us",
        ours: "impinge",
        part: "",
        peers: &[FCL, COAL, DUAL],
    },
    Question {
        text: "smallest distance, 100 placements, mean µs",
        table: "mesh-distance",
        column: "mean us",
        ours: "impinge",
        part: "",
        peers: &[FCL, COAL],
    },
    Question {
        text: "closest point of 64³ points on bunny59k, one by one, mean µs a point",
        table: "point-distance",
        column: "mean us/point",
        ours: "impinge",
        part: "",
        peers: &[("parry3d-f64", ""), ("parry3d", "f32")],
    },
    Question {
        text: "signed distance of two hulls of 100 corners in slow motion, ns",
        table: "convex",
        column: "ns/query",
        ours: "impinge",
        part: "100",
        peers: HULLS,
    },
    Question {
        text: "the same, 1000 corners, ns",
        table: "convex",
        column: "ns/query",
        ours: "impinge",
        part: "1000",
        peers: HULLS,
    },
    Question {
        text: "all pairs of 100,000 moving boxes, one thread, median ms a frame",
        table: "broad-phase",
        column: "median ms",
        ours: "impinge-grid-1-thread",
        part: "100000",
        peers: &[("parry3d-bvh", "`Bvh`, f32")],
    },
    Question {
        text: "first contact of bunny59k and dragon202k in motion, 50 motions, mean ms",
        table: "sweep",
        column: "mean ms",
        ours: "impinge",
        part: "bunny59k-dragon202k",
        peers: &[("advancement loop over Coal's distance", "advancement loop over its distance")],
    },
    Question {
        text: "collision-free part of a cloth's step (cloth-funnel), ms",
        table: "ccd-primitives",
        column: "ns/query",
        ours: "impinge",
        part: "step cloth-funnel",
        peers: &[("additive-ccd", "Additive CCD"), ("tight-inclusion", "Tight-Inclusion")],
    },
    Question {
        text: "building the tree of dragon202k, one thread, median ms",
        table: "tree-build",
        column: "median ms",
        ours: "impinge-1-thread",
        part: "dragon202k",
        peers: &[
            ("obvhs-fastest", "\"fastest\""),
            ("obvhs-fast", "\"fast\""),
            ("coal-aabb", "AABB"),
            ("parry3d", "f32"),
            ("fcl-aabb", "AABB"),
        ],
    },
];

/// Writes the table into the README, or with `check` only compares.
///
/// # Errors
/// A marker is missing, a file cannot be read or written, or the README differs in a check.
pub fn run(readme: &Path, results: &Path, check: bool) -> Result<()> {
    let old = fs::read_to_string(readme).context("reading README.md")?;
    let new = replaced(&old, &section(results)?)?;
    if check {
        ensure!(
            old == new,
            "README.md differs from the results: run `cargo run --release -p impinge-bench -- readme`"
        );
    } else if old != new {
        fs::write(readme, new).context("writing README.md")?;
    }
    Ok(())
}

fn replaced(readme: &str, section: &str) -> Result<String> {
    let (head, rest) = readme.split_once(BEGIN).context("README.md has no line <!-- speed: begin -->")?;
    let (_, tail) = rest.split_once(END).context("README.md has no line <!-- speed: end -->")?;
    Ok(format!("{head}{BEGIN}{section}{END}{tail}"))
}

/// One table for each machine on which peers were measured.
fn section(results: &Path) -> Result<String> {
    let mut out = String::new();
    for tables in results::machines(results)? {
        // Of a table that is shown: a machine may have had other instruction sets for the others.
        let is_shown = |name: &str| QUESTIONS.iter().any(|question| question.table == name);
        let Some((_, any)) = tables.iter().find(|(name, _)| is_shown(name)) else { continue };
        let fact = |key: &str| any.fact(key).unwrap_or("unknown");
        let _ = writeln!(out, "\n**{}, {}**\n", fact("cpu"), fact("vectors"));
        out += "| question | impinge | peer | its figure | impinge is faster by | compiled by |\n|---|---|---|---|---|---|\n";
        for question in QUESTIONS {
            if let Some((_, saved)) = tables.iter().find(|(name, _)| name == question.table) {
                rows(&mut out, question, saved);
            }
        }
    }
    out.push('\n');
    Ok(out)
}

/// One row for each peer that was measured; the question stands in the first.
fn rows(out: &mut String, question: &Question, saved: &Saved) {
    let figure = |contestant: &str| {
        let row = saved.row(contestant, question.part)?;
        Some((saved.number(row, question.column)?, row))
    };
    let Some((ours, _)) = figure(question.ours) else { return };
    let [mut text, mut own] = [question.text.to_string(), digits(ours)];
    for (contestant, how) in question.peers {
        let Some((theirs, row)) = figure(contestant) else { continue };
        let peer = saved.peer(contestant);
        let version = peer.map_or(*contestant, |peer| &peer.version);
        let build = peer.map_or("unknown", |peer| &peer.build);
        let how = if how.is_empty() { String::new() } else { format!(", {how}") };
        let wrong = row.last().and_then(|verdict| wrong(verdict)).unwrap_or_default();
        let (theirs_text, ratio) = (digits(theirs), ratio(theirs / ours));
        let _ =
            writeln!(out, "| {text} | {own} | {version}{how} | {theirs_text}{wrong} | {ratio} | {build} |");
        (text, own) = (String::new(), String::new());
    }
}

/// A peer that is faster is set in bold.
fn ratio(faster_by: f64) -> String {
    let text = if faster_by < 10.0 { format!("{faster_by:.2}×") } else { format!("{faster_by:.1}×") };
    if faster_by < 1.0 { format!("**{text}**") } else { text }
}

/// How many answers were wrong, if the verdict says so: "21 of 200 DIFFER".
fn wrong(verdict: &str) -> Option<String> {
    let (count, _) =
        verdict.to_lowercase().split_once(" differ").map(|(a, b)| (a.to_string(), b.to_string()))?;
    Some(format!(" (off in {count})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenes;

    #[test]
    fn the_readme_shows_the_saved_results() {
        run(&scenes::root().join("README.md"), &scenes::results_folder(), true).unwrap();
    }

    #[test]
    fn only_the_part_between_the_markers_changes() {
        let old = format!("a\n{BEGIN}old\n{END}\nb\n");
        assert_eq!(replaced(&old, "new\n").unwrap(), format!("a\n{BEGIN}new\n{END}\nb\n"));
        assert!(replaced("no markers", "new").is_err());
    }

    #[test]
    fn a_row_names_the_peer_and_says_when_it_is_wrong_or_faster() {
        let saved = Saved::parse(
            "# peer: coal-obbrss,Coal 3,g++ -O3\n\
             contestant,mean us,verdict\nimpinge,10,agrees\ncoal-obbrss,8,2 of 9 DIFFER\n",
        );
        let mut out = String::new();
        rows(&mut out, QUESTIONS.iter().find(|q| q.table == "mesh-pairs").unwrap(), &saved);
        assert!(
            out.ends_with("| 10.00 | Coal 3, OBBRSS | 8.000 (off in 2 of 9) | **0.80×** | g++ -O3 |\n"),
            "{out}"
        );
    }
}
