//! `impinge simulate clusters`: eight clusters of particles that pass through each other, by any technique.

use std::io::Write;

use impinge::broad::neighbours::{SearchCounters, Technique};
use impinge_sim::scenes::Clusters;
use impinge_sim::scenes::clusters::{FRAMES, PARTICLES};
use serde::Serialize;

use super::particles::check_voxel;
use super::simulate::draw;
use crate::args::{Common, Format, Simulate};
use crate::commands;
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::json_answer::Assurance;
use crate::{output, progress};

/// The answer.
#[derive(Debug, Serialize)]
struct Report {
    scene: &'static str,
    seed: u64,
    frames: u64,
    particles: usize,
    /// Pairs at most so far apart collide.
    distance: f64,
    method: &'static str,
    /// Collisions of all frames.
    collisions: u64,
    /// Collisions of the last frame.
    last_collisions: usize,
    /// Pairs of particles tested, in all frames.
    tests: u64,
    /// Frames compared with brute force.
    checked: u64,
    #[serde(flatten)]
    assurance: Assurance,
}

/// Runs, checks and draws.
pub fn run(args: &Simulate, common: &Common) -> Result<Exit, Failure> {
    if common.budget.is_some() || args.record.is_some() || args.bodies.is_some() {
        return Err(Failure::new(
            "clusters takes no --budget, --record or --bodies; --particles says how many",
        ));
    }
    let mut explain = Explain::new(common.explain);
    let frames = args.frames.unwrap_or(FRAMES);
    let technique = common.technique().unwrap_or(Technique::Hybrid);
    check_voxel(args.voxel, technique)?;
    let particles = args.particles.map_or(PARTICLES, |n| n as usize);
    let mut clusters = Clusters::new(particles, common.seed, technique.start_with(args.voxel))?;
    explain.lap("build");
    let bar = progress::frames(frames, &args.scene);
    let mut reason = String::new();
    for number in 1..=frames {
        clusters.advance()?;
        if args.check {
            clusters.verify().map_err(|wrong| Failure(format!("frame {number}: {wrong}")))?;
        }
        if clusters.reason() != reason {
            reason = clusters.reason().to_string();
            explain.say("method", || format!("{}, {reason}", clusters.technique()));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    explain.lap(&format!("{frames} frames"));
    let SearchCounters { tests, volume_tests, updates, bytes, .. } = clusters.work();
    explain.say("work", || {
        format!("{tests} tests, {volume_tests} of volumes, {updates} updates, {bytes} bytes")
    });
    if let Some(file) = &args.picture {
        output::file(file, &draw(&clusters.drawing())?)?;
    }
    let report = Report {
        scene: "clusters",
        seed: common.seed,
        frames,
        particles,
        distance: clusters.distance(),
        method: technique.name(),
        collisions: clusters.collisions(),
        last_collisions: clusters.pairs().len(),
        tests,
        checked: if args.check { frames } else { 0 },
        assurance: Assurance::EXACT,
    };
    match common.format {
        Format::Json => commands::json(&report)?,
        Format::Text => output::print(|out| text(&report, out))?,
    }
    Ok(Exit::Free)
}

fn text(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    let Report { frames, particles, method, distance, .. } = report;
    writeln!(out, "clusters: {frames} frames, {particles} particles, by {method}")?;
    let lines = [
        (format!("collisions (at {distance})"), report.collisions),
        ("in the last frame".to_string(), report.last_collisions as u64),
        ("pairs tested".to_string(), report.tests),
    ];
    for (name, value) in lines {
        writeln!(out, "    {name:<22} {value}")?;
    }
    if report.checked > 0 {
        writeln!(out, "every frame agrees with brute force")?;
    }
    writeln!(out, "({})", report.assurance)
}
