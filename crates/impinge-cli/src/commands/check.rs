//! `impinge check`: how two meshes lie to each other.

use std::io::Write;

use crate::answer::{Answer, Found};
use crate::args::{Check, Common};
use crate::ask::{self, PlacedModel};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::picture::{self, Figure, Picture};
use crate::{commands, output};

/// Decides, lists and draws.
pub fn run(args: &Check, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let models = commands::load_two(&args.two, &mut explain)?;
    let [a, b] = commands::place(&args.two, &models);
    let settings = common.settings();
    explain.say("method", || ask::reason(&settings, &a, &b));
    let answer = if args.all || args.margin.is_some() {
        ask::check(&a, &b, args.margin, &settings)?
    } else {
        ask::relation(&a, &b, &settings)?
    };
    if let Some(file) = &args.picture {
        output::file(file, &draw(&a, &b)?)?;
    }
    commands::finish(&answer, common, &mut explain, |out| text(&answer, args, out))
}

fn text(answer: &Answer, args: &Check, out: &mut dyn Write) -> std::io::Result<()> {
    let (Found::Relation { relation } | Found::Check { relation, .. }) = &answer.found else { return Ok(()) };
    writeln!(out, "{}", relation.unwrap_or("undecided"))?;
    let Found::Check { pairs, .. } = &answer.found else { return Ok(()) };
    let what = match (args.margin, pairs.count) {
        (None, 1) => "pair of triangles meets".to_string(),
        (None, _) => "pairs of triangles meet".to_string(),
        (Some(d), 1) => format!("pair of triangles is at most {d:?} apart"),
        (Some(d), _) => format!("pairs of triangles are at most {d:?} apart"),
    };
    writeln!(out, "{} {what}{}", pairs.count, if pairs.count > 0 { " (of a, of b):" } else { "" })?;
    pairs.pairs.iter().try_for_each(|[i, j]| writeln!(out, "{i} {j}"))
}

/// Both bodies, the triangles that meet in red.
pub fn draw(a: &PlacedModel<'_>, b: &PlacedModel<'_>) -> Result<Vec<u8>, Failure> {
    let meeting = ask::meeting(a, b);
    let [colour_a, colour_b] = picture::BODIES;
    let side = |k: usize| meeting.iter().map(|pair| pair[k]).collect();
    let figures = vec![
        Figure { mesh: a.model.mesh(), pose: &a.pose, colour: colour_a, red: side(0) },
        Figure { mesh: b.model.mesh(), pose: &b.pose, colour: colour_b, red: side(1) },
    ];
    Picture { figures, ..Picture::default() }.png(960, 720)
}
