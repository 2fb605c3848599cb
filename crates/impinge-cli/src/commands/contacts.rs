//! `impinge contacts`: where two bodies overlap or are near.

use std::io::Write;

use glam::DVec3;

use super::check::Meeting;
use crate::args::{Common, Contacts};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::found::{Found, Place};
use crate::json_answer::Answer;
use crate::picture::{Figure, Picture};
use crate::{ask, commands};

/// The shortest line along a normal, as a share of the extent of the picture.
const SHORTEST: f64 = 0.05;

/// Asks.
pub fn run(args: &Contacts, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let shapes = commands::load_two(&args.two, &mut explain)?;
    let [a, b] = commands::place(&args.two, &shapes);
    let mut query = common.settings().query();
    query.one_sided = args.sides == 1;
    let answer = ask::contacts(&mut query, a, b, args.margin)?;
    if let (true, Found::Contacts(found)) = (args.drawing.picture.is_some(), &answer.found) {
        let meeting = Meeting::of(&mut query, a, b, None)?;
        args.drawing.save(|| drawn(meeting.picture(), found.contacts.as_deref().unwrap_or_default()))?;
    }
    commands::finish(&answer, common, &mut explain, |out| text(&answer, out))
}

/// Where the bodies meet, and from each place a line along the normal, as long as the place is deep and at least
/// [`SHORTEST`] of the picture, with a dot where it starts.
fn drawn<'a>(mut picture: Picture<'a>, places: &[Place]) -> Picture<'a> {
    let placed = |figure: &Figure<'_>| -> Vec<DVec3> {
        figure.mesh.vertices().iter().map(|&p| figure.pose.apply(p)).collect()
    };
    let all: Vec<DVec3> = picture.figures.iter().flat_map(placed).collect();
    let (low, high) =
        all.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(*p), h.max(*p)));
    let least = SHORTEST * (high - low).length();
    for place in places {
        let (start, normal) = (DVec3::from(place.points[1]), DVec3::from(place.normal));
        let end = start + normal * place.depth.abs().max(least);
        picture.contacts.push([start, start]);
        picture.curves.push([start, end]);
    }
    picture
}

fn text(answer: &Answer, out: &mut dyn Write) -> std::io::Result<()> {
    let Found::Contacts(found) = &answer.found else { return Ok(()) };
    let Some(places) = &found.contacts else { return writeln!(out, "undecided") };
    if places.is_empty() {
        writeln!(out, "no contact")?;
    }
    for place in places {
        let ([x, y, z], [nx, ny, nz]) = (place.point, place.normal);
        let (what, length) = if place.depth < 0.0 { ("gap", -place.depth) } else { ("depth", place.depth) };
        let [p, q] = &place.features;
        writeln!(out, "{what} {length:?} at {x:?},{y:?},{z:?} along {nx:?},{ny:?},{nz:?}, {p} on {q}")?;
    }
    found.openness.tell(out)
}
