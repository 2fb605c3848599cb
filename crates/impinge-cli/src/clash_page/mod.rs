//! The clashes of an assembly as one HTML page that needs nothing else: a table that can be sorted and filtered, with a
//! picture of each clash.

mod drawing;

use impinge::{Budget, ClashKind, ClashReport, Finish, Part};
use rayon::prelude::*;

use crate::commands::{ClashRow, open_notes};
use crate::error::Failure;
use crate::output::counted;

/// Size of a picture (pixels).
const SIZE: [u32; 2] = [560, 420];

/// Clashes that get a picture; those beyond are in the table only, which the page says.
const MOST_PICTURES: usize = 1000;

/// Coordinates below this share of the largest ones are shown as 0.
const NO_LENGTH: f64 = 1e-9;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The heads of the table: what they are sorted by, and their words; `%` stands for the unit.
const HEADS: [(Option<&str>, &str); 10] = [
    (Some("number"), "#"),
    (None, "picture"),
    (Some("text"), "kind"),
    (Some("text"), "part"),
    (Some("text"), "part"),
    (Some("number"), "depth%"),
    (Some("number"), "gap%"),
    (Some("number"), "parted by%"),
    (Some("number"), "volume%³"),
    (None, "at x, y, z%"),
];

/// What the page tells besides the clashes.
#[derive(Debug, Clone, Copy)]
pub struct Heading<'a> {
    /// Parts at most this far apart clash.
    pub clearance: f64,
    /// By which coordinates were multiplied.
    pub scale: f64,
    /// What lengths are measured in, where that was said.
    pub unit: Option<&'a str>,
}

/// The whole page; pictures are drawn while the budget lasts.
pub fn page(
    parts: &[Part],
    report: &ClashReport,
    rows: &[ClashRow<'_>],
    heading: Heading<'_>,
    budget: &mut Budget,
) -> Result<Vec<u8>, Failure> {
    let pictures = pictures(parts, report, budget)?;
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<style>\n{STYLE}</style></head>\n<body>\n",
        counted(rows.len(), "clash", "clashes")
    );
    html += &header(parts, report, heading);
    html += &filters(report);
    html += &table(rows, &pictures, heading.unit);
    if pictures.len() < rows.len() {
        let pictured = counted(pictures.len(), "clash", "clashes");
        html += &format!("<footer>Pictures of the first {pictured} only.</footer>\n");
    }
    html += "<dialog><img alt=\"\"><p></p></dialog>\n";
    html += &format!("<script>\n{SCRIPT}</script>\n</body></html>\n");
    Ok(html.into_bytes())
}

/// The pictures of the first clashes in base64: all at once without a limit, else one after the other.
fn pictures(parts: &[Part], report: &ClashReport, budget: &mut Budget) -> Result<Vec<String>, Failure> {
    let pictured = &report.clashes[..report.clashes.len().min(MOST_PICTURES)];
    let draw = |clash, budget: &mut Budget| {
        let png = drawing::draw(parts, clash, SIZE, budget)?;
        Ok::<Option<String>, Failure>(png.map(|png| base64(&png)))
    };
    if budget.is_unlimited() {
        let all = pictured.par_iter().map(|clash| draw(clash, &mut Budget::unlimited()));
        return Ok(all.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect());
    }
    let mut pictures = Vec::new();
    for clash in pictured {
        let Some(picture) = draw(clash, budget)? else { break };
        pictures.push(picture);
    }
    Ok(pictures)
}

/// What was looked at, and what counts.
fn header(parts: &[Part], report: &ClashReport, heading: Heading<'_>) -> String {
    let Heading { clearance, scale, unit } = heading;
    let triangles: usize =
        parts.iter().filter_map(|part| part.shape.as_mesh()).map(|m| m.triangles().len()).sum();
    let serious = report.clashes.iter().filter(|clash| clash.kind.is_serious()).count();
    let mut html = format!(
        "<header><h1>{} among {}</h1>\n<p>{serious} of them hard, inside or duplicate. {}; {} of parts with boxes near each \
         other, all others are clear.</p>\n",
        counted(report.clashes.len(), "clash", "clashes"),
        counted(parts.len(), "part", "parts"),
        counted(triangles, "triangle", "triangles"),
        counted(report.candidates, "pair", "pairs"),
    );
    let mut facts = vec![match unit {
        Some(unit) => format!("Lengths in {}", escaped(unit)),
        None => "Lengths in the units of the files".to_string(),
    }];
    if scale != 1.0 {
        facts.push(format!("coordinates multiplied by {scale}"));
    }
    if clearance > 0.0 {
        facts.push(format!("parts at most {clearance} apart count as too near"));
    }
    html += &format!("<p>{}.</p>\n", facts.join("; "));
    if !report.lists_all() {
        html += &format!(
            "<p class=\"warning\">The budget ended after {} of {} pairs; there may be more.</p>\n",
            report.answered, report.candidates
        );
    } else if report.finish == Finish::OutOfBudget {
        html += "<p class=\"warning\">The budget ended before all depths, separations and volumes were measured: an empty \
                 cell may have a value.</p>\n";
    }
    for note in open_notes(parts, report) {
        html += &format!("<p class=\"warning\">{}.</p>\n", escaped(&note));
    }
    html + "</header>\n"
}

/// A button for each kind, a field for names, and how many are shown.
fn filters(report: &ClashReport) -> String {
    let button = |kind: ClashKind| {
        let count = report.count(kind);
        let unused = if count == 0 { " disabled" } else { "" };
        format!(
            "<button class=\"k {kind}\" value=\"{kind}\" aria-pressed=\"true\"{unused}>{count} {kind}</button>\n"
        )
    };
    let buttons: String = ClashKind::ALL.into_iter().map(button).collect();
    format!(
        "<nav>\n{buttons}<input type=\"search\" placeholder=\"Filter by names of parts\" aria-label=\"Filter\"><output>{} \
         shown</output></nav>\n",
        report.clashes.len()
    )
}

fn table(rows: &[ClashRow<'_>], pictures: &[String], unit: Option<&str>) -> String {
    let unit = |power: &str| unit.map_or(String::new(), |unit| format!(" ({}{power})", escaped(unit)));
    let mut html = String::from("<main><table><thead><tr>");
    for (sort, words) in HEADS {
        let words = words.replace("%³", &unit("³")).replace('%', &unit(""));
        let class = if sort == Some("number") { " class=\"n\"" } else { "" };
        html += &match sort {
            Some(sort) => format!("<th{class} data-sort=\"{sort}\" aria-sort=\"none\">{words}</th>"),
            None => format!("<th>{words}</th>"),
        };
    }
    html += "</tr></thead><tbody>\n";
    for (k, row) in rows.iter().enumerate() {
        html += &table_row(k + 1, row, pictures.get(k).map(String::as_str));
    }
    html + "</tbody></table></main>\n"
}

fn table_row(number: usize, row: &ClashRow<'_>, picture: Option<&str>) -> String {
    let (a, b, kind) = (escaped(row.a), escaped(row.b), row.kind);
    // What is left of a coordinate by rounding is none.
    let size = row.at.iter().chain(row.bounds.as_flattened()).fold(0.0_f64, |most, x| most.max(x.abs()));
    let [x, y, z] = row.at.map(|x| rounded(if x.abs() < NO_LENGTH * size { 0.0 } else { x }));
    let picture = picture.map_or(String::new(), |png| {
        let told = format!("{number}: {kind}, {a} and {b}, at {x}, {y}, {z}");
        format!("<img loading=\"lazy\" alt=\"{told}\" src=\"data:image/png;base64,{png}\">")
    });
    let cell = |value: Option<f64>| match value {
        Some(value) => format!("<td class=\"n\" data-value=\"{value:e}\">{}</td>", rounded(value)),
        None => "<td class=\"n\" data-value=\"\"></td>".to_string(),
    };
    // A gap is told as such, a depth where there is one.
    let numbers = [row.depth.filter(|&depth| depth > 0.0), Some(row.gap), row.separate].map(cell);
    let volume = match (row.volume, row.volume_error) {
        (Some(volume), Some(error)) => {
            let told = if row.is_exact { String::new() } else { format!(" ± {error:.1e}") };
            format!(
                "<td class=\"n\" data-value=\"{volume:e}\" title=\"error about {error:.1e}\">{}{told}</td>",
                rounded(volume)
            )
        }
        (volume, _) => cell(volume),
    };
    format!(
        "<tr id=\"c{number}\" data-kind=\"{kind}\" data-names=\"{a} {b}\"><td class=\"n\">{number}</td>\
         <td class=\"picture\">{picture}</td><td><span class=\"k {kind}\">{kind}</span></td><td class=\"name\">{a}</td>\
         <td class=\"name\">{b}</td>{}{volume}<td class=\"n\">{x}, {y}, {z}</td></tr>\n",
        numbers.concat(),
    )
}

/// Six digits that count, without zeros at the end; exact zeros as such.
fn rounded(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.5e}");
    }
    let whole = size.log10().floor() as i32;
    let text = format!("{value:.*}", (5 - whole).max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Bytes as base64 (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().chain([&0; 2]).take(3).fold(0u32, |word, &byte| word << 8 | u32::from(byte));
        for k in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * k) & 63) as usize] as char;
            text.push(if k <= chunk.len() { digit } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_in_the_standard() {
        let known = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(known, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    #[test]
    fn six_digits_count() {
        let known = [0.0, 0.5, 1.0 / 3.0, -12.345678, 123456.7, 2e-9, 1e9, 999999.96].map(rounded);
        assert_eq!(
            known,
            ["0", "0.5", "0.333333", "-12.3457", "123457", "2.00000e-9", "1.00000e9", "1000000"]
        );
    }
}
