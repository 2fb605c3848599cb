//! `impinge contacts`: where two bodies overlap or are near.

use std::io::Write;

use crate::answer::Answer;
use crate::args::{Common, Contacts};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::found::Found;
use crate::{ask, commands};

/// Asks.
pub fn run(args: &Contacts, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let shapes = commands::load_two(&args.two, &mut explain)?;
    let [a, b] = commands::place(&args.two, &shapes);
    let mut query = common.settings().query();
    query.one_sided = args.sides == 1;
    let answer = ask::contacts(query, a, b, args.margin)?;
    commands::finish(&answer, common, &mut explain, |out| text(&answer, out))
}

fn text(answer: &Answer, out: &mut dyn Write) -> std::io::Result<()> {
    let Found::Contacts(found) = &answer.found else { return Ok(()) };
    let Some(places) = &found.contacts else { return writeln!(out, "undecided") };
    if places.is_empty() {
        return writeln!(out, "no contact");
    }
    for place in places {
        let ([x, y, z], [nx, ny, nz]) = (place.point, place.normal);
        let (what, length) = if place.depth < 0.0 { ("gap", -place.depth) } else { ("depth", place.depth) };
        let [p, q] = &place.features;
        writeln!(out, "{what} {length:?} at {x:?},{y:?},{z:?} along {nx:?},{ny:?},{nz:?}, {p} on {q}")?;
    }
    Ok(())
}
