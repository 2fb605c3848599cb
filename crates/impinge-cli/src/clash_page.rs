//! The clashes of an assembly as one HTML page that needs nothing else: a table, and a picture of each clash with the
//! curves drawn along which the surfaces cross.

use glam::DVec3;
use impinge::{Clash, ClashKind, ClashReport, Part, Placed, Pose, contour};
use rayon::prelude::*;

use crate::commands::ClashRow;
use crate::error::Failure;
use crate::picture::{self, Figure, Picture};

/// Size of a picture (pixels).
const SIZE: [u32; 2] = [400, 300];

/// Clashes that get a picture; those beyond are in the table only, which the page says.
const MOST_PICTURES: usize = 1000;

/// How much of a body's colour is left where the contour is to be seen.
const MUTED: f64 = 0.45;

const CURVE: DVec3 = DVec3::new(0.90, 0.08, 0.06);

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em;\
color:#1d2733;background:#fff}h1{font-size:1.5em}table{border-collapse:collapse;width:100%}\
th,td{text-align:left;padding:.3em .6em;border-bottom:1px solid #dde3ea}td.n{text-align:right;\
font-variant-numeric:tabular-nums}.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(20em,1fr));\
gap:1em;margin-top:2em}figure{margin:0;border:1px solid #dde3ea;border-radius:6px;overflow:hidden}\
figure img{width:100%;display:block}figcaption{padding:.6em .8em}.k{display:inline-block;padding:0 .5em;\
border-radius:3px;color:#fff}.hard{background:#b3261e}.inside{background:#8a3ffc}.duplicate{background:#a05a00}\
.touching{background:#00695c}.clearance{background:#455a64}a{color:inherit}";

/// The whole page.
pub fn page(
    parts: &[Part],
    report: &ClashReport,
    rows: &[ClashRow<'_>],
    clearance: f64,
) -> Result<Vec<u8>, Failure> {
    let pictured = &report.clashes[..report.clashes.len().min(MOST_PICTURES)];
    let pictures: Vec<String> = pictured
        .par_iter()
        .map(|clash| draw(parts, clash).map(|png| base64(&png)))
        .collect::<Result<_, Failure>>()?;
    let counts =
        ClashKind::ALL.map(|kind| format!("<span class=\"k {kind}\">{} {kind}</span>", report.count(kind)));
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Clashes</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\n\
         <h1>{} clashes among {} parts</h1>\n<p>{}</p>\n",
        rows.len(),
        parts.len(),
        counts.join(" "),
    );
    if clearance > 0.0 {
        html += &format!("<p>Parts at most {clearance} apart count as too near.</p>\n");
    }
    if report.answered < report.candidates {
        html += &format!(
            "<p><strong>The budget ended after {} of {} pairs; there may be more.</strong></p>\n",
            report.answered, report.candidates
        );
    }
    html += "<table><thead><tr><th>#<th>part<th>part<th>kind<th>gap<th>apart after<th>volume</tr></thead><tbody>\n";
    for (k, row) in rows.iter().enumerate() {
        let volume = row.volume.map_or(String::new(), |volume| format!("{volume:.6e}"));
        let number = k + 1;
        let link = if k < pictures.len() {
            format!("<a href=\"#c{number}\">{number}</a>")
        } else {
            number.to_string()
        };
        html += &format!(
            "<tr><td>{link}<td>{}<td>{}<td><span class=\"k {kind}\">{kind}</span><td class=\"n\">{:.6e}<td class=\"n\">{:.6e}<td class=\"n\">{volume}</tr>\n",
            escaped(row.a),
            escaped(row.b),
            row.gap,
            row.separate,
            kind = row.kind,
        );
    }
    html += "</tbody></table>\n<div class=\"cards\">\n";
    for (k, (row, picture)) in rows.iter().zip(&pictures).enumerate() {
        let (a, b, kind, [x, y, z]) = (escaped(row.a), escaped(row.b), row.kind, row.at);
        html += &format!(
            "<figure id=\"c{}\"><img alt=\"{a} and {b}\" width=\"{}\" height=\"{}\" src=\"data:image/png;base64,{picture}\">\
             <figcaption><span class=\"k {kind}\">{kind}</span> {a} × {b}<br>at {x:.6}, {y:.6}, {z:.6}</figcaption></figure>\n",
            k + 1,
            SIZE[0],
            SIZE[1],
        );
    }
    html += "</div>\n";
    if pictures.len() < rows.len() {
        html += &format!("<p>Pictures of the first {} clashes only.</p>\n", pictures.len());
    }
    html += "</body></html>\n";
    Ok(html.into_bytes())
}

/// Both parts muted, the curves along which they cross in red, or the place where they are nearest.
fn draw(parts: &[Part], clash: &Clash) -> Result<Vec<u8>, Failure> {
    let shapes = clash.parts.map(|k| &parts[k].shape);
    let place = Pose::IDENTITY;
    let mut picture = Picture::default();
    for (shape, colour) in shapes.into_iter().zip(picture::BODIES) {
        let Some(mesh) = shape.as_mesh() else { continue };
        let colour = DVec3::ONE.lerp(colour, MUTED);
        picture.figures.push(Figure { mesh, pose: &place, colour, red: Vec::new() });
    }
    if clash.kind == ClashKind::Hard {
        for line in contour(Placed::from(shapes[0]), shapes[1])? {
            let next = line.points.iter().cycle().skip(1);
            let segments = line.points.iter().zip(next).take(line.pairs.len());
            picture.lines.extend(segments.map(|(&from, &to)| ([from, to], CURVE)));
        }
    }
    picture.contacts.push([clash.at; 2]);
    picture.png(SIZE[0], SIZE[1])
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
}
