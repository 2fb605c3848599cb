//! `impinge self`: where a mesh meets itself.

use std::io::Write;

use impinge::Model;

use crate::answer::{Answer, Found};
use crate::args::{Common, SelfIntersect};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::{ask, commands, load, progress};

/// Finds the pairs.
pub fn run(args: &SelfIntersect, common: &Common) -> Result<Exit, Failure> {
    if args.to.is_some() {
        return Err(Failure::new(
            "--to: continuous self-collision is not yet answered; leave it out for one state",
        ));
    }
    let mut explain = Explain::new(common.explain);
    let busy = progress::spinner(&format!("searching {}", args.mesh.display()));
    let model: Model = load::model(&args.mesh)?;
    explain.model("mesh", &model);
    explain.lap("load");
    let answer = ask::self_intersections(&model, &common.settings())?;
    busy.finish_and_clear();
    commands::finish(&answer, common, &mut explain, |out| text(&answer, out))
}

fn text(answer: &Answer, out: &mut dyn Write) -> std::io::Result<()> {
    let Found::Pairs(found) = &answer.found else { return Ok(()) };
    match found.count {
        0 => writeln!(out, "no triangles intersect"),
        1 => writeln!(out, "1 pair of triangles intersects:"),
        n => writeln!(out, "{n} pairs of triangles intersect:"),
    }?;
    found.pairs.iter().try_for_each(|[i, j]| writeln!(out, "{i} {j}"))
}
