//! `impinge check`: how two meshes lie to each other.

use std::io::Write;

use impinge::Placed;

use crate::answer::Answer;
use crate::args::{Check, Common};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::found::Found;
use crate::picture::{self, Figure, Picture};
use crate::{ask, commands, output};

/// Decides, lists and draws.
pub fn run(args: &Check, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let shapes = commands::load_two(&args.two, &mut explain)?;
    let [a, b] = commands::place(&args.two, &shapes);
    let query = common.settings().query();
    let answer = if args.all || args.margin.is_some() {
        ask::check(query, a, b, args.margin)?
    } else {
        ask::relation(query, a, b)?
    };
    if let Some(file) = &args.picture {
        output::file(file, &draw(a, b)?)?;
    }
    commands::finish(&answer, common, &mut explain, |out| text(&answer, args, out))
}

fn text(answer: &Answer, args: &Check, out: &mut dyn Write) -> std::io::Result<()> {
    let (Found::Relation { relation } | Found::Check { relation, .. }) = &answer.found else { return Ok(()) };
    writeln!(out, "{}", relation.unwrap_or("undecided"))?;
    let Found::Check { pairs, .. } = &answer.found else { return Ok(()) };
    let what = match (args.margin, pairs.count) {
        (None, Some(1)) => "1 pair of triangles meets".to_string(),
        (None, Some(n)) => format!("{n} pairs of triangles meet"),
        (Some(d), Some(1)) => format!("1 pair of triangles is at most {d:?} apart"),
        (Some(d), Some(n)) => format!("{n} pairs of triangles are at most {d:?} apart"),
        (None, None) => format!("at least {} so far, pairs of triangles that meet", pairs.pairs.len()),
        (Some(d), None) => {
            format!("at least {} so far, pairs of triangles at most {d:?} apart", pairs.pairs.len())
        }
    };
    writeln!(out, "{what}{}", if pairs.pairs.is_empty() { "" } else { " (of a, of b):" })?;
    pairs.pairs.iter().try_for_each(|[i, j]| writeln!(out, "{i} {j}"))
}

/// Both bodies, the triangles that meet in red.
pub fn draw(a: Placed<'_>, b: Placed<'_>) -> Result<Vec<u8>, Failure> {
    let meeting = impinge::pairs(a, b)?;
    let [colour_a, colour_b] = picture::BODIES;
    let side = |k: usize| meeting.iter().map(|pair| pair[k]).collect();
    let poses = [a.pose(), b.pose()];
    let mut figures = Vec::new();
    for (k, (body, colour)) in [(a, colour_a), (b, colour_b)].into_iter().enumerate() {
        let Some(mesh) = body.shape().as_mesh() else { continue };
        figures.push(Figure { mesh, pose: &poses[k], colour, red: side(k) });
    }
    Picture { figures, ..Picture::default() }.png(960, 720)
}
