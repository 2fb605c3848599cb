//! Which files a command reads and which it writes, so that no answer replaces what it came from.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Command, Two};
use crate::error::Failure;

impl Command {
    /// Refuses to write over a file that is read, and to a name that stands for standard input or output.
    pub fn check_files(&self) -> Result<(), Failure> {
        let outputs = self.outputs();
        if outputs.iter().any(|path| is_standard(path)) {
            return Err(Failure::new("`-` is no file to write; standard output has the answer"));
        }
        let whole = |path: &&Path| fs::canonicalize(path).ok();
        let inputs: Vec<PathBuf> = self
            .inputs()
            .into_iter()
            .filter(|path| !is_standard(path))
            .filter_map(|path| whole(&path))
            .collect();
        match outputs.into_iter().find(|path| whole(path).is_some_and(|path| inputs.contains(&path))) {
            Some(path) => {
                Err(Failure::new("this file is read; the answer needs another")
                    .at(&path.display().to_string()))
            }
            None => Ok(()),
        }
    }

    fn inputs(&self) -> Vec<&Path> {
        match self {
            Command::Check(check) => both(&check.two),
            Command::Volume(volume) => both(&volume.two),
            Command::Contacts(contacts) => both(&contacts.two),
            Command::Sweep(sweep) => both(&sweep.two),
            Command::Rays(rays) => vec![&rays.mesh, &rays.rays],
            Command::SelfIntersect(one) => {
                std::iter::once(&one.mesh).chain(&one.to).map(PathBuf::as_path).collect()
            }
            Command::Decompose(one) => vec![&one.mesh],
            Command::Shells(one) => vec![&one.mesh],
            Command::Clash(clash) => clash.files.iter().map(PathBuf::as_path).collect(),
            Command::Particles(particles) => vec![&particles.file],
            // These write nothing, or read nothing.
            Command::Inspect(_)
            | Command::Distance(_)
            | Command::Separate(_)
            | Command::Query(_)
            | Command::Simulate(_)
            | Command::Demo(_)
            | Command::Completions(_) => Vec::new(),
        }
    }

    fn outputs(&self) -> Vec<&Path> {
        let all: Vec<&Option<PathBuf>> = match self {
            Command::Check(check) => vec![&check.drawing.picture],
            Command::Volume(volume) => vec![&volume.gradient, &volume.mesh, &volume.drawing.picture],
            Command::Contacts(contacts) => vec![&contacts.drawing.picture],
            Command::Sweep(sweep) => vec![&sweep.drawing.picture],
            Command::Rays(rays) => vec![&rays.drawing.picture],
            Command::SelfIntersect(one) => vec![&one.drawing.picture],
            Command::Decompose(one) => vec![&one.output, &one.drawing.picture],
            Command::Shells(one) => vec![&one.out, &one.picture],
            Command::Clash(clash) => vec![&clash.out],
            Command::Particles(particles) => vec![&particles.pairs],
            Command::Simulate(simulate) => vec![&simulate.record, &simulate.picture],
            Command::Demo(demo) => vec![&demo.picture],
            Command::Inspect(_)
            | Command::Distance(_)
            | Command::Separate(_)
            | Command::Query(_)
            | Command::Completions(_) => Vec::new(),
        };
        all.into_iter().filter_map(Option::as_deref).collect()
    }
}

fn both(two: &Two) -> Vec<&Path> {
    vec![&two.a, &two.b]
}

fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}
