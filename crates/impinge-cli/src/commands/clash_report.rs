//! What `impinge clash` says: the answer as JSON, as CSV and for people.

use std::io::Write;

use impinge::{Certainty, ClashKind, ClashReport, Counters, Finish, Method, Outcome, Part, mass};
use serde::Serialize;

use crate::error::Failure;
use crate::json_answer::{Assurance, Document};
use crate::output::counted;

/// The share of their volumes that parts have in common to be called nearly the same.
const NEARLY_ALL: f64 = 0.999;

/// The fields of the contract.
#[derive(Debug, Serialize)]
pub struct Body<'a> {
    parts: Vec<&'a str>,
    clashes: Vec<Row<'a>>,
    /// Null while kinds are unknown.
    counts: Option<Counts>,
    /// How many clashes were found so far, where the budget ended before all kinds were known.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<usize>,
    /// Pairs whose boxes are near each other, and how many of them were answered.
    candidates: usize,
    answered: usize,
    /// Parts that are open meshes, in which others could lie without that being a clash.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<&'a str>,
    /// Why some files were not read, and the first of these reasons; absent where all were.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    refused: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    method: &'static str,
    #[serde(flatten)]
    assurance: Assurance,
}

impl<'a> Body<'a> {
    /// The same where some files could not be read.
    pub fn with_refused(self, refused: &'a [String]) -> Body<'a> {
        Body { refused, error: refused.first().map(String::as_str), ..self }
    }
}

/// One clash.
#[derive(Debug, Serialize)]
pub struct Row<'a> {
    /// The parts.
    pub a: &'a str,
    /// The second of them.
    pub b: &'a str,
    /// How they clash.
    pub kind: &'static str,
    /// The smallest distance of the surfaces.
    pub gap: f64,
    /// The penetration depth; negative for a gap.
    pub depth: Option<f64>,
    /// The length of a translation that takes the parts apart.
    pub separate: Option<f64>,
    /// That translation, of the second part.
    pub translation: Option<[f64; 3]>,
    /// The volume in common.
    pub volume: Option<f64>,
    /// The stated error of the volume.
    pub volume_error: Option<f64>,
    /// What that is: the error is estimated, not proved.
    pub error_kind: Option<&'static str>,
    /// Whether the volume is right but for rounding.
    #[serde(skip)]
    pub is_exact: bool,
    /// Whether the parts have nearly all of their volumes in common, as copies of which one was rounded; absent where not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nearly_duplicate: bool,
    /// A point of the place.
    pub at: [f64; 3],
    /// A box around the place.
    #[serde(rename = "box")]
    pub bounds: [[f64; 3]; 2],
}

#[derive(Debug, Serialize)]
struct Counts {
    hard: usize,
    inside: usize,
    duplicate: usize,
    touching: usize,
    clearance: usize,
}

/// The clashes in the report's order.
pub fn rows<'a>(parts: &'a [Part], report: &ClashReport) -> Vec<Row<'a>> {
    let row = |clash: &impinge::Clash| {
        let [a, b] = clash.parts.map(|k| parts[k].name.as_str());
        let bounds = [clash.bounds.low.to_array(), clash.bounds.high.to_array()];
        let (kind, at) = (clash.kind.name(), clash.at.to_array());
        let impinge::Clash { gap, depth, separate, volume, volume_error, .. } = *clash;
        let translation = clash.translation.map(|by| by.to_array());
        let error_kind = volume_error.map(|_| "estimate");
        let nearly_duplicate = is_nearly_duplicate(parts, clash);
        let is_exact = clash.volume_certainty.is_none_or(|certainty| certainty == Certainty::Exact);
        Row {
            a,
            b,
            kind,
            gap,
            depth,
            separate,
            translation,
            volume,
            volume_error,
            error_kind,
            is_exact,
            nearly_duplicate,
            at,
            bounds,
        }
    };
    report.clashes.iter().map(row).collect()
}

/// Whether two parts that overlap are nearly one and the same.
fn is_nearly_duplicate(parts: &[Part], clash: &impinge::Clash) -> bool {
    let Some(common) = clash.volume.filter(|_| clash.kind == ClashKind::Hard) else { return false };
    let whole = clash.parts.map(|k| mass(&parts[k].shape).map_or(f64::INFINITY, |mass| mass.volume.abs()));
    common >= NEARLY_ALL * whole[0].max(whole[1])
}

/// The whole answer.
pub fn body<'a>(parts: &'a [Part], report: &ClashReport) -> Body<'a> {
    let count = |kind| report.count(kind);
    let (certainty, finish) = (report.certainty(), report.finish);
    let mut assurance = Assurance::from(&Outcome { certainty, finish, work: Counters::default() });
    if finish == Finish::OutOfBudget && report.clashes.is_empty() {
        assurance = assurance.of_nothing();
    }
    let counts = Counts {
        hard: count(ClashKind::Hard),
        inside: count(ClashKind::Inside),
        duplicate: count(ClashKind::Duplicate),
        touching: count(ClashKind::Touching),
        clearance: count(ClashKind::Clearance),
    };
    let is_whole = report.lists_all();
    Body {
        parts: parts.iter().map(|part| part.name.as_str()).collect(),
        clashes: rows(parts, report),
        counts: is_whole.then_some(counts),
        at_least: (!is_whole).then_some(report.clashes.len()),
        candidates: report.candidates,
        answered: report.answered,
        open: report.open.iter().map(|&k| parts[k].name.as_str()).collect(),
        refused: &[],
        error: None,
        method: Method::Exact.name(),
        assurance,
    }
}

/// What is open about parts within others, in sentences.
pub fn open_notes<'a>(parts: &'a [Part], report: &'a ClashReport) -> impl Iterator<Item = String> + 'a {
    report.open.iter().map(|&k| {
        let name = &parts[k].name;
        format!("{name} is an open mesh and has no inside: whether other parts lie within it is not decided")
    })
}

/// The answer as the bytes of a file.
pub fn json(parts: &[Part], report: &ClashReport) -> Result<Vec<u8>, Failure> {
    let document = Document::new(body(parts, report));
    let mut bytes = serde_json::to_vec(&document).map_err(|e| Failure(e.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The clashes as a table (RFC 4180), numbers so that they can be read back to the bit.
pub fn csv(rows: &[Row<'_>]) -> Vec<u8> {
    let mut text = String::from(
        "a,b,kind,gap,depth,separate,volume,x,y,z,xlo,ylo,zlo,xhi,yhi,zhi,volume_error,error_kind,tx,ty,tz\n",
    );
    for row in rows {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:?}"));
        let [depth, separate, volume, error] =
            [row.depth, row.separate, row.volume, row.volume_error].map(number);
        text += &format!("{},{},{}", quoted(row.a), quoted(row.b), row.kind);
        text += &format!(",{:?},{depth},{separate},{volume}", row.gap);
        for x in [row.at, row.bounds[0], row.bounds[1]].as_flattened() {
            text += &format!(",{x:?}");
        }
        let [tx, ty, tz] = row.translation.map_or([None; 3], |by| by.map(Some)).map(number);
        text += &format!(",{error},{},{tx},{ty},{tz}\n", row.error_kind.unwrap_or_default());
    }
    text.into_bytes()
}

/// A name as a field of CSV (RFC 4180).
fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_string(),
    }
}

/// The answer for people.
pub fn text(
    parts: &[Part],
    report: &ClashReport,
    rows: &[Row<'_>],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    for row in rows {
        write!(out, "{:<9} {} × {}", row.kind, row.a, row.b)?;
        if let Some(volume) = row.volume {
            write!(out, ", volume {volume:?}")?;
            if let Some(error) = row.volume_error.filter(|_| !row.is_exact) {
                write!(out, " (error about {error:.1e})")?;
            }
        }
        if row.nearly_duplicate {
            write!(out, ", nearly the same part twice")?;
        }
        if let Some(separate) = row.separate.filter(|&length| length > 0.0) {
            write!(out, ", apart after {separate:?}")?;
        }
        if row.gap > 0.0 {
            write!(out, ", gap {:?}", row.gap)?;
        }
        writeln!(out)?;
    }
    for note in open_notes(parts, report) {
        writeln!(out, "note: {note}")?;
    }
    let all_known = report.lists_all();
    let counts = ClashKind::ALL.map(|kind| format!("{} {kind}", report.count(kind))).join(", ");
    let at_least = if all_known { "" } else { "at least " };
    let parts = counted(parts.len(), "part", "parts");
    let pairs = counted(report.candidates, "near pair", "near pairs");
    writeln!(out, "{parts}, {pairs}: {at_least}{counts}")?;
    if !all_known {
        let (pairs, clashes) =
            (counted(report.answered, "pair", "pairs"), counted(rows.len(), "clash", "clashes"));
        writeln!(out, "the budget ended after {pairs}: at least {clashes} so far")?;
    } else if report.finish == Finish::OutOfBudget {
        writeln!(out, "the budget ended before all depths, separations and volumes were measured")?;
    }
    Ok(())
}
