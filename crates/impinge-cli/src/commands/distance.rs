//! `impinge distance`: the smallest distance between two meshes.

use std::io::Write;

use impinge::Feature;

use crate::answer::{Answer, Found};
use crate::args::{Common, Distance};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::{ask, commands};

/// Measures.
pub fn run(args: &Distance, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let models = commands::load_two(&args.two, &mut explain)?;
    let [a, b] = commands::place(&args.two, &models);
    let settings = common.settings();
    explain.say("method", || ask::reason(&settings, &a, &b));
    let answer = ask::distance(&a, &b, &settings)?;
    commands::finish(&answer, common, &mut explain, |out| text(&answer, out))
}

fn text(answer: &Answer, out: &mut dyn Write) -> std::io::Result<()> {
    let Found::Distance(found) = &answer.found else { return Ok(()) };
    let (Some(distance), Some(points), Some(features)) = (found.distance, found.points, found.features)
    else {
        return writeln!(out, "undecided");
    };
    match found.at_least {
        Some(at_least) => writeln!(out, "between {at_least:?} and {distance:?}")?,
        None => writeln!(out, "{distance:?}")?,
    }
    for (body, (point, feature)) in ["a", "b"].iter().zip(points.iter().zip(features)) {
        let [x, y, z] = point;
        writeln!(out, "on {body}: {x:?},{y:?},{z:?} ({})", words(feature))?;
    }
    Ok(())
}

/// A feature in words.
pub(super) fn words(feature: Feature) -> String {
    match feature {
        Feature::Vertex(v) => format!("vertex {v}"),
        Feature::Edge([v, w]) => format!("edge {v}-{w}"),
        Feature::Face(t) => format!("triangle {t}"),
        Feature::Surface => "surface".to_string(),
    }
}
