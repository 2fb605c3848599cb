//! `impinge separate`: a translation that takes two bodies apart.

use std::io::Write;

use crate::args::{Common, Separate};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::found::Found;
use crate::json_answer::Answer;
use crate::{ask, commands};

/// Asks.
pub fn run(args: &Separate, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let shapes = commands::load_two(&args.two, &mut explain)?;
    let [a, b] = commands::place(&args.two, &shapes);
    let answer = ask::separate(common.settings().query(), a, b)?;
    commands::finish(&answer, common, &mut explain, |out| text(&answer, out))
}

fn text(answer: &Answer, out: &mut dyn Write) -> std::io::Result<()> {
    let Found::Separate(found) = &answer.found else { return Ok(()) };
    let (Some([x, y, z]), Some(length)) = (found.translation, found.length) else {
        return match found.at_most {
            Some(most) => writeln!(out, "undecided; no more than {most:?} is needed"),
            None => writeln!(out, "undecided"),
        };
    };
    if length == 0.0 {
        writeln!(out, "apart or touching already")?;
        return found.openness.tell(out);
    }
    writeln!(out, "{x:?},{y:?},{z:?}")?;
    write!(out, "b moved by that, a length of {length:?}, is apart or touches")?;
    match found.at_least {
        Some(least) if least >= length => writeln!(out, "; no shorter way does"),
        Some(least) if least > 0.0 => writeln!(out, "; no way shorter than {least:?} does"),
        _ => writeln!(out),
    }?;
    found.openness.tell(out)
}
