//! One file per command: call the library, print what it says.

mod check;
mod clash;
mod clash_report;
mod clusters;
mod completions;
mod contacts;
mod decompose;
mod demo;
mod distance;
mod inspect;
mod particles;
mod query;
mod rays;
mod self_;
mod separate;
mod shells;
mod simulate;
mod sweep;
mod volume;
mod volume_files;

pub use clash_report::{Row as ClashRow, open_notes};

use std::io::Write;

use impinge::{Method, Placed, Pose, Shape};
use serde::Serialize;

use crate::args::{Args, Command, Common, Demo, Format, Two};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::json_answer::{Answer, Document};
use crate::{load, output};

/// Runs the command; without one, the demo.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    let common = &args.common;
    common.check(args.command.as_ref())?;
    args.command.as_ref().map_or(Ok(()), Command::check_files)?;
    match &args.command {
        None => demo::run(&Demo::default(), common),
        Some(Command::Demo(demo)) => demo::run(demo, common),
        Some(Command::Inspect(inspect)) => inspect::run(inspect, common),
        Some(Command::Check(check)) => check::run(check, common),
        Some(Command::Distance(distance)) => distance::run(distance, common),
        Some(Command::Volume(volume)) => volume::run(volume, common),
        Some(Command::Contacts(contacts)) => contacts::run(contacts, common),
        Some(Command::Separate(separate)) => separate::run(separate, common),
        Some(Command::Sweep(sweep)) => sweep::run(sweep, common),
        Some(Command::Rays(rays)) => rays::run(rays, common),
        Some(Command::SelfIntersect(one)) => self_::run(one, common),
        Some(Command::Decompose(mesh)) => decompose::run(mesh, common),
        Some(Command::Shells(mesh)) => shells::run(mesh, common),
        Some(Command::Clash(parts)) => clash::run(parts, common),
        Some(Command::Particles(file)) => particles::run(file, common),
        Some(Command::Query(query)) => query::run(query, common),
        Some(Command::Simulate(simulate)) => simulate::run(simulate, common),
        Some(Command::Completions(completions)) => completions::run(completions),
    }
}

/// Loads both meshes, at the same time.
fn load_two(two: &Two, explain: &mut Explain) -> Result<[Shape; 2], Failure> {
    let (a, b) = rayon::join(|| load::shape(&two.a), || load::shape(&two.b));
    let shapes = [a?, b?];
    explain.mesh("a", &shapes[0]);
    explain.mesh("b", &shapes[1]);
    explain.lap("load");
    Ok(shapes)
}

fn place<'s>(two: &Two, [a, b]: &'s [Shape; 2]) -> [Placed<'s>; 2] {
    [a.at(two.at_a.unwrap_or(Pose::IDENTITY)), b.at(two.at_b.unwrap_or(Pose::IDENTITY))]
}

/// Refuses a method where there is none to choose.
fn only_exact(common: &Common, what: &str) -> Result<(), Failure> {
    match common.method() {
        Method::Auto | Method::Exact => Ok(()),
        other => Err(Failure(format!("method {other} does not answer {what}; exact does"))),
    }
}

/// Prints an answer as JSON, or as text by `text`, and turns it into an exit code.
fn finish(
    answer: &Answer,
    common: &Common,
    explain: &mut Explain,
    text: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<Exit, Failure> {
    explain.lap("query");
    explain.answer(answer);
    match common.format {
        Format::Json => json(answer)?,
        Format::Text => output::print(|out| {
            text(out)?;
            writeln!(out, "({})", answer.assurance)
        })?,
    }
    Ok(answer.exit())
}

/// Prints a document with its schema.
fn json(body: impl Serialize) -> Result<(), Failure> {
    output::print(|out| {
        serde_json::to_writer(&mut *out, &Document::new(body))?;
        writeln!(out)
    })
}
