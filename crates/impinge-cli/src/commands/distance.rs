//! `impinge distance`: the smallest distance between two meshes.

use std::io::Write;

use crate::args::{Common, Distance};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::found::{Bracket, Found};
use crate::json_answer::Answer;
use crate::{ask, commands};

/// Measures.
pub fn run(args: &Distance, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let shapes = commands::load_two(&args.two, &mut explain)?;
    let [a, b] = commands::place(&args.two, &shapes);
    let answer = ask::distance(&mut common.settings().query(), a, b)?;
    commands::finish(&answer, common, &mut explain, |out| text(&answer, out))
}

fn text(answer: &Answer, out: &mut dyn Write) -> std::io::Result<()> {
    let Found::Distance(found) = &answer.found else { return Ok(()) };
    let Bracket { at_most, at_least } = found.bracket.unwrap_or_default();
    match (found.distance, at_least, at_most) {
        (Some(distance), ..) => writeln!(out, "{distance:?}")?,
        (None, Some(least), Some(most)) => writeln!(out, "between {least:?} and {most:?}")?,
        (None, None, Some(most)) => writeln!(out, "at most {most:?}")?,
        _ => writeln!(out, "undecided")?,
    }
    if let (Some(points), Some(features)) = (found.points, found.features) {
        for (body, (point, feature)) in ["a", "b"].iter().zip(points.iter().zip(features)) {
            let [x, y, z] = point;
            writeln!(out, "on {body}: {x:?},{y:?},{z:?} ({feature})")?;
        }
    }
    if let Some(relation) = found.relation {
        writeln!(out, "{relation}")?;
    }
    found.openness.tell(out)
}
