//! impinge and its peers on the same inputs in one run.
//!
//! `impinge-bench NAME` prints one table, `list` names them, `setup` prepares the peers outside, `readme` writes
//! the README's figures, `before-after` compares two builds.

mod aabb_tree;
mod assembly;
mod before_after;
mod boxes;
mod chart;
mod fits;
mod heap;
mod hulls;
mod machine;
mod outside;
mod peers;
mod points;
mod queries;
mod questions;
mod random;
mod readme;
mod recordings;
mod results;
mod scenes;
mod setup;
mod sweeps;
mod table;
mod tables;
mod thread_time;
mod timing;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::machine::Machine;
use crate::tables::{Effort, TABLES};

const USAGE: &str = "\
usage: impinge-bench NAME [--quick]     print one table and write results/MACHINE/NAME.csv
       impinge-bench budgets --only TEXT...
                                        the rows of one table whose question has one of these texts in its name
       impinge-bench list               name all tables
       impinge-bench setup              get and build the peers outside
       impinge-bench recordings [--write]
                                        say what the recorded motions are like; write their files anew
       impinge-bench readme [--check]   write the README's table of speeds from the results, or compare
       impinge-bench before-after OTHER [NAME...] [--quick] [--rounds N]
                                        this build against another, fails where ours is slower by 3 %

--quick does a fraction of the work, to see that a table runs; it writes no results.";

fn main() -> ExitCode {
    machine::keep_freed_memory();
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["list"] => {
            for table in TABLES {
                println!("{:<18}{}", table.name, table.about);
            }
            Ok(())
        }
        ["setup"] => setup::run(),
        ["recordings"] => recordings::run(false),
        ["recordings", "--write"] => recordings::run(true),
        ["readme"] => readme::run(&readme_file(), &scenes::results_folder(), false),
        ["readme", "--check"] => readme::run(&readme_file(), &scenes::results_folder(), true),
        ["before-after", ref rest @ ..] => before_after::run(rest),
        [tables::clash::MEMORY, folder] => tables::clash::print_memory(folder),
        [tables::decompose::ONE, file, budget] => tables::decompose::print_one(file, budget),
        ["budgets", "--only", ref texts @ ..] => {
            println!("{}", tables::budgets::only(texts)?.text());
            Ok(())
        }
        [name] => measure(name, Effort::Full),
        [name, "--quick"] | ["--quick", name] => measure(name, Effort::Quick),
        _ => bail!("{USAGE}"),
    }
}

fn readme_file() -> std::path::PathBuf {
    scenes::root().join("README.md")
}

fn measure(name: &str, effort: Effort) -> Result<()> {
    let Some(entry) = TABLES.iter().find(|table| table.name == name) else {
        bail!("there is no table {name}; `list` names them\n{USAGE}");
    };
    let machine = Machine::this();
    println!("{name}: {}", entry.about);
    for (key, value) in machine.lines() {
        println!("{key}: {value}");
    }
    if cfg!(debug_assertions) {
        println!("*** DEBUG BUILD *** the figures mean nothing; run with --release");
    }
    if entry.one_core {
        if !machine::pin_to_one_core() {
            println!("not pinned to one core (taskset is missing, or there is only one)");
        }
        // Peers run on one thread, so ours does too; batches would use all cores.
        rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    }
    let start = Instant::now();
    let table = (entry.run)(effort)?;
    println!("\n{}", table.text());
    if effort.is_kept() {
        table.save(&scenes::results_folder(), &machine)?;
    }
    eprintln!("({:.0} s in all)", start.elapsed().as_secs_f64());
    Ok(())
}
