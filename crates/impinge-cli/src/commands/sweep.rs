//! `impinge sweep`: when two moving meshes first touch.

use std::io::Write;

use glam::DVec3;
use impinge::{Placed, Pose, Query, Shape};

use crate::args::{Common, Sweep};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::found::Found;
use crate::json_answer::Answer;
use crate::motion::Way;
use crate::picture::{self, Figure, Picture};
use crate::{ask, commands};

/// Finds the first contact.
pub fn run(args: &Sweep, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let shapes = commands::load_two(&args.two, &mut explain)?;
    if args.turns > 0 && args.to_a.is_none() && args.to_b.is_none() {
        return Err(Failure::new("--turns without --to-a or --to-b: neither body moves"));
    }
    let way = Way::new(args.turns, &args.law)?;
    let [a, b] = [
        mover(&shapes[0], &way, args.two.at_a, args.to_a),
        mover(&shapes[1], &way, args.two.at_b, args.to_b),
    ];
    let mut query = Query { slack: args.slack, surfaces: args.surfaces, ..common.settings().query() };
    query.tolerance = args.tolerance.unwrap_or(query.tolerance);
    let answer = ask::sweep(query, a, b)?;
    if let Found::Sweep(found) = &answer.found {
        let states = states([a, b], found.time);
        args.drawing.save(|| drawn([a, b], &states, found.point))?;
    }
    commands::finish(&answer, common, &mut explain, |out| text(&answer, out))
}

fn mover<'s>(shape: &'s Shape, way: &Way, at: Option<Pose>, to: Option<Pose>) -> Placed<'s> {
    shape.along(way.motion(&at.unwrap_or(Pose::IDENTITY), to.as_ref()))
}

/// Where the bodies are at the start, at the contact and at the end, of each only what differs.
fn states(bodies: [Placed<'_>; 2], contact: Option<f64>) -> Vec<(usize, Pose, bool)> {
    let mut states = Vec::new();
    for (k, body) in bodies.iter().enumerate() {
        let at = |t: f64| body.motion().pose(t);
        let firm = at(contact.unwrap_or(1.0));
        states.push((k, firm, true));
        let others = if contact.is_some() { vec![at(0.0), at(1.0)] } else { vec![at(0.0)] };
        for pose in others {
            if !states.iter().any(|(of, known, _)| *of == k && *known == pose) {
                states.push((k, pose, false));
            }
        }
    }
    states
}

/// The bodies at their contact, or at the end without one, and pale where they are otherwise.
fn drawn<'a>(
    bodies: [Placed<'a>; 2],
    states: &'a [(usize, Pose, bool)],
    point: Option<[f64; 3]>,
) -> Picture<'a> {
    let figures = states.iter().filter_map(|(k, pose, firm)| {
        let colour = picture::BODIES[*k];
        let colour = if *firm { colour } else { picture::pale(colour) };
        Some(Figure { mesh: bodies[*k].shape().as_mesh()?, pose, colour, red: Vec::new() })
    });
    let contacts = point.into_iter().map(|p| [DVec3::from(p); 2]).collect();
    Picture { figures: figures.collect(), contacts, ..Picture::default() }
}

fn text(answer: &Answer, out: &mut dyn Write) -> std::io::Result<()> {
    let Found::Sweep(found) = &answer.found else { return Ok(()) };
    let (Some(time), Some(kind), Some(features), Some([x, y, z])) =
        (found.time, &found.kind, found.features, found.point)
    else {
        match found.hit {
            Some(_) => writeln!(out, "free")?,
            None => writeln!(out, "undecided, free until {:?}", found.free_until)?,
        }
        return found.openness.tell(out);
    };
    writeln!(out, "hit at {time:?} ({})", in_words(kind))?;
    writeln!(out, "a's {} meets b's {} at {x:?},{y:?},{z:?}", features[0], features[1])?;
    if found.proved == Some(false) {
        writeln!(
            out,
            "no contact was proved, but they come nearer than {:?}",
            found.slack.unwrap_or_default()
        )?;
    }
    found.openness.tell(out)
}

/// A kind of contact for people.
fn in_words(kind: &str) -> &str {
    match kind {
        "vf" => "a vertex of a on a face of b",
        "fv" => "a vertex of b on a face of a",
        "ee" => "an edge of each",
        "inside" => "one starts inside the other",
        shapes => shapes,
    }
}
