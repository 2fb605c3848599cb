//! The program `impinge`: parse, call, print. Every answer is the library's.

#![forbid(unsafe_code)]

mod args;
mod ask;
mod clash_page;
mod commands;
mod error;
mod exit;
mod explain;
mod found;
mod interrupt;
mod json_answer;
mod load;
mod motion;
mod output;
mod picture;
mod pose;
mod progress;
mod query;
mod settings;
mod threads;

use std::io::{Write, stderr};
use std::process::ExitCode;

use clap::FromArgMatches;

use args::{Args, Format};
use error::Failure;
use exit::Exit;
use json_answer::{Document, Refusal};

fn main() -> ExitCode {
    let mut command = args::command();
    let parsed = command.try_get_matches_from_mut(std::env::args_os());
    let read = parsed.and_then(|found| Args::from_arg_matches(&found).map_err(|e| e.format(&mut command)));
    let args = match read {
        Ok(args) => args,
        Err(e) => return usage(&e).into(),
    };
    threads::start(args.common.threads);
    commands::run(&args)
        .unwrap_or_else(|failure| {
            // A closed stderr leaves nobody to tell.
            let _ = writeln!(stderr(), "error: {failure}");
            refuse(&failure, args.common.format == Format::Json)
        })
        .into()
}

/// Help and version go to stdout and are a success; usage errors are refusals like any other.
fn usage(e: &clap::Error) -> Exit {
    // A closed stdout or stderr leaves nobody to tell.
    let _ = e.print();
    if !e.use_stderr() {
        return Exit::Free;
    }
    let said = e.render().to_string();
    let first = said.split("\n\n").next().unwrap_or_default();
    refuse(&Failure::new(first.trim_start_matches("error: ").trim()), wants_json())
}

fn refuse(failure: &Failure, json: bool) -> Exit {
    if json {
        let document = Document::new(Refusal { error: &failure.0 });
        let _ = output::print(|out| {
            serde_json::to_writer(&mut *out, &document)?;
            writeln!(out)
        });
    }
    Exit::Refused
}

/// Whether JSON was asked for on a command line that could not be read as a whole.
fn wants_json() -> bool {
    let words: Vec<_> = std::env::args_os().collect();
    words.iter().any(|w| w == "--format=json")
        || words.windows(2).any(|w| w[0] == "--format" && w[1] == "json")
}
