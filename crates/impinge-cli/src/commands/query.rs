//! `impinge query`: a batch of questions.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use impinge::Counters;

use crate::args::{Common, Query};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::query::line::{Context, answer};
use crate::query::meshes::Meshes;
use crate::query::ordered::answer_all;
use crate::{output, progress};

#[derive(Debug, Default)]
struct Tally {
    answered: u64,
    refused: u64,
    work: Counters,
}

/// Answers every line.
pub fn run(args: &Query, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let (input, length) = open(&args.file)?;
    let (meshes, settings) = (Meshes::new(folder(&args.file)), common.settings());
    let context = Context { meshes, settings, explain: common.explain };
    let tally = Mutex::new(Tally::default());
    let bar = progress::bytes(length, "questions");
    let ended = answer_all(
        input,
        io::stdout(),
        io::stderr(),
        |asked, out| {
            if let Some(found) = answer(&asked, &context, out) {
                tally.lock().unwrap_or_else(|e| e.into_inner()).add(found.map(|a| a.work));
            }
        },
        |bytes| bar.inc(bytes),
    );
    bar.finish_and_clear();
    let tally = tally.into_inner().unwrap_or_else(|e| e.into_inner());
    explain.lap("batch");
    explain.say("batch", || {
        let Tally { answered, refused, .. } = tally;
        format!("{answered} answered, {refused} refused, {} mesh files", context.meshes.count())
    });
    explain.work(&tally.work);
    match ended {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure(format!("{}: {e}", args.file.display())))
        }
        other => {
            output::pardon_closed(other)?;
            Ok(if tally.refused > 0 { Exit::Refused } else { Exit::Free })
        }
    }
}

impl Tally {
    fn add(&mut self, found: Result<Counters, Failure>) {
        match found {
            Ok(work) => {
                self.answered += 1;
                self.work += work;
            }
            Err(_) => self.refused += 1,
        }
    }
}

/// Whether a file is named that stands for standard input.
pub fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn open(file: &Path) -> Result<(Box<dyn Read + Send>, Option<u64>), Failure> {
    if is_stdin(file) {
        return Ok((Box::new(io::stdin()), None));
    }
    let failed = |e: io::Error| Failure(format!("{}: {e}", file.display()));
    let opened = File::open(file).map_err(failed)?;
    let about = opened.metadata().map_err(failed)?;
    Ok((Box::new(opened), about.is_file().then_some(about.len())))
}

/// The folder that mesh names of this batch start from.
fn folder(file: &Path) -> PathBuf {
    if is_stdin(file) { PathBuf::new() } else { file.parent().map(Path::to_path_buf).unwrap_or_default() }
}
