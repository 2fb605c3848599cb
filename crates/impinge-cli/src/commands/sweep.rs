//! `impinge sweep`: when two moving meshes first touch.

use std::io::Write;

use super::distance::words;
use crate::answer::{Answer, Found};
use crate::args::{Common, Sweep};
use crate::ask_sweep::{self, MovingModel, Way};
use crate::commands;
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::settings::Method;

/// Finds the first contact.
pub fn run(args: &Sweep, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let [a, b] = commands::load_two(&args.two, &mut explain)?;
    if args.turns > 0 && args.to_a.is_none() && args.to_b.is_none() {
        return Err(Failure::new("--turns without --to-a or --to-b: neither body moves"));
    }
    let way = Way::new(args.turns, Way::law(&args.law)?)?;
    let mover = |model: impinge::Model, at: Option<impinge::Pose>, to: Option<impinge::Pose>| MovingModel {
        shape: model.into(),
        motion: way.motion(&at.unwrap_or(impinge::Pose::IDENTITY), to.as_ref()),
    };
    let [a, b] = [mover(a, args.two.at_a, args.to_a), mover(b, args.two.at_b, args.to_b)];
    let options = ask_sweep::options(args.tolerance, args.slack)?;
    explain.say("method", || match common.method {
        Method::Contact => "contact, as named: sphere trees, cubics under relative screws, labels".into(),
        _ => "directed conservative advancement over both trees, the earliest pair first".into(),
    });
    let answer = ask_sweep::sweep(&a, &b, &options, &common.settings())?;
    commands::finish(&answer, common, &mut explain, |out| text(&answer, out))
}

fn text(answer: &Answer, out: &mut dyn Write) -> std::io::Result<()> {
    let Found::Sweep(found) = &answer.found else { return Ok(()) };
    let (Some(time), Some(kind), Some(features), Some([x, y, z])) =
        (found.time, &found.kind, found.features, found.point)
    else {
        return match found.hit {
            Some(_) => writeln!(out, "free"),
            None => writeln!(out, "undecided, free until {:?}", found.free_until),
        };
    };
    writeln!(out, "hit at {time:?} ({kind})")?;
    writeln!(out, "a's {} meets b's {} at {x:?},{y:?},{z:?}", words(features[0]), words(features[1]))?;
    if found.proved == Some(false) {
        writeln!(out, "no contact was proved, but they come nearer than {:?}", found.slack)?;
    }
    Ok(())
}
