//! `impinge simulate`: a built-in scene of many bodies, frame by frame.

use std::io::Write;
use std::time::Instant;

use glam::{DQuat, DVec3};
use impinge::broad::Mobility;
use impinge::scene::{Body, BodyId, Event, EventKind, Frame, Scene, SceneContact};
use impinge::{Certainty, Counters, Finish, Method, Outcome};
use impinge_sim::drawing::Drawing;
use impinge_sim::scenes::{self, Scenario};
use serde::Serialize;

use super::clusters;
use crate::args::{CLUSTERS, Common, Format, Simulate};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::json_answer::{Assurance, Document};
use crate::output::PartialFile;
use crate::picture::{Figure, Picture};
use crate::{commands, interrupt, output, progress};

/// The answer.
#[derive(Debug, Serialize)]
struct Report<'a> {
    scene: &'a str,
    seed: u64,
    frames: u64,
    bodies: usize,
    polytopes: usize,
    possible_pairs: u64,
    /// Pairs of bodies whose boxes meet in the last frame.
    box_pairs: usize,
    /// Pairs of convex shapes measured, in all frames.
    tests: u64,
    events: Events,
    /// Closest features told, in all frames.
    contacts: u64,
    /// Pairs that the budget left open, in all frames.
    undecided: u64,
    /// Frames compared with brute force.
    checked: u64,
    #[serde(serialize_with = "as_map")]
    measures: Vec<(&'static str, f64)>,
    #[serde(flatten)]
    assurance: Assurance,
}

#[derive(Debug, Default, Serialize)]
struct Events {
    began: u64,
    persists: u64,
    ended: u64,
}

/// Counts over all frames.
#[derive(Debug)]
struct Counts {
    events: Events,
    contacts: u64,
    undecided: u64,
    work: Counters,
    certainty: Certainty,
    finish: Finish,
}

/// Runs, checks, records and draws.
pub fn run(args: &Simulate, common: &Common) -> Result<Exit, Failure> {
    if args.scene == CLUSTERS {
        return clusters::run(args, common);
    }
    if args.particles.is_some() || args.voxel.is_some() {
        return Err(Failure(format!(
            "{} has bodies, no particles: --particles and --voxel are for clusters",
            args.scene
        )));
    }
    if common.method() != Method::Auto {
        return Err(Failure::new("a scene chooses its methods itself: --method must be auto"));
    }
    let mut explain = Explain::new(common.explain);
    let frames = args.frames.unwrap_or(match args.scene.as_str() {
        "walkthrough" => 600,
        "hand" => 100,
        "bounce" => 600,
        "tunnel" => 20,
        "manipulate" | "press" => 400,
        "merge" => 120,
        _ => 200,
    });
    let mut scenario = scenes::by_name(&args.scene, args.bodies.map(|n| n as usize), common.seed)?;
    explain.lap("build");
    let mut record = args.record.as_deref().map(PartialFile::create).transpose()?;
    if record.is_some() {
        interrupt::listen()?;
    }
    if let Some(record) = &mut record {
        let head = Head { scene: &args.scene, seed: common.seed, bodies: placed(scenario.scene(), |_| true) };
        line(record, &Document::new(head))?;
    }
    let bar = progress::frames(frames, &args.scene);
    let mut counts = Counts::NONE;
    let running = Instant::now();
    let mut done = 0;
    for number in 1..=frames {
        if interrupt::asked() {
            break;
        }
        let frame = scenario.advance(&mut common.settings().limit.start())?;
        counts.add(&frame);
        if args.check {
            check(&*scenario).map_err(|wrong| Failure(format!("frame {number}: {wrong}")))?;
        }
        if let Some(record) = &mut record {
            line(record, &Moment::new(number, scenario.scene()))?;
        }
        done = number;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let seconds = running.elapsed().as_secs_f64();
    explain.say("rate", || format!("{:.1} frames a second", done as f64 / seconds));
    explain.lap(&format!("{done} frames"));
    explain.work(&counts.work);
    record.map(PartialFile::finish).transpose()?;
    if let Some(file) = &args.picture {
        output::file(file, &draw(&scenario.drawing())?)?;
    }
    let report = report(args, common, done, &*scenario, &counts);
    match common.format {
        Format::Json => commands::json(&report)?,
        Format::Text => output::print(|out| text(&report, scenario.promise(), out))?,
    }
    Ok(match counts.finish {
        _ if done < frames => Exit::Interrupted,
        Finish::OutOfBudget => Exit::Undecided,
        _ => Exit::Free,
    })
}

fn check(scenario: &dyn Scenario) -> Result<(), String> {
    scenario.check()?;
    scenario.verify()
}

impl Counts {
    const NONE: Counts = Counts {
        events: Events { began: 0, persists: 0, ended: 0 },
        contacts: 0,
        undecided: 0,
        work: Counters { volume_tests: 0, primitive_tests: 0, updates: 0 },
        certainty: Certainty::Exact,
        finish: Finish::Complete,
    };

    fn add(&mut self, frame: &Frame<'_>) {
        for event in frame.events {
            *match event.kind {
                EventKind::Began => &mut self.events.began,
                EventKind::Persists => &mut self.events.persists,
                EventKind::Ended => &mut self.events.ended,
            } += 1;
        }
        self.contacts += frame.contacts.len() as u64;
        self.undecided += frame.undecided.len() as u64;
        self.work += frame.outcome.work;
        self.certainty = self.certainty.lesser(frame.outcome.certainty);
        self.finish = frame.outcome.finish;
    }
}

fn report<'a>(
    args: &'a Simulate,
    common: &Common,
    frames: u64,
    scenario: &dyn Scenario,
    counts: &Counts,
) -> Report<'a> {
    let bodies = scenario.scene().len();
    let Counts { events: Events { began, persists, ended }, work, certainty, finish, .. } = *counts;
    let mut assurance = Assurance::from(&Outcome { certainty, finish, work });
    if finish == Finish::OutOfBudget {
        assurance = assurance.of_nothing();
    }
    Report {
        scene: &args.scene,
        seed: common.seed,
        frames,
        bodies,
        polytopes: scenario.polytopes(),
        possible_pairs: bodies as u64 * (bodies as u64).saturating_sub(1) / 2,
        box_pairs: scenario.scene().last().box_pairs,
        tests: work.primitive_tests,
        events: Events { began, persists, ended },
        contacts: counts.contacts,
        undecided: counts.undecided,
        checked: if args.check { frames } else { 0 },
        measures: scenario.measures(),
        assurance,
    }
}

fn text(report: &Report<'_>, promise: &str, out: &mut dyn Write) -> std::io::Result<()> {
    let Report { scene, frames, bodies, polytopes, .. } = report;
    match polytopes {
        0 => writeln!(out, "{scene}: {frames} frames, {bodies} bodies")?,
        _ => writeln!(out, "{scene}: {frames} frames, {bodies} bodies of {polytopes} polytopes")?,
    }
    let events = &report.events;
    let lines = [
        ("possible pairs", report.possible_pairs.to_string()),
        ("boxes that meet", report.box_pairs.to_string()),
        ("pairs measured", report.tests.to_string()),
        ("contacts begun", events.began.to_string()),
        ("contacts ended", events.ended.to_string()),
        ("closest features", report.contacts.to_string()),
    ];
    let measures = report.measures.iter().map(|(name, value)| (name.replace('_', " "), readable(*value)));
    for (name, value) in lines.map(|(name, value)| (name.to_string(), value)).into_iter().chain(measures) {
        writeln!(out, "    {name:<20} {value}")?;
    }
    if report.undecided > 0 {
        writeln!(out, "    {:<20} {}", "left open", report.undecided)?;
    }
    if report.checked > 0 {
        writeln!(out, "{promise}")?;
    }
    writeln!(out, "({})", report.assurance)
}

/// Whole numbers as such, tiny ones with an exponent.
fn readable(value: f64) -> String {
    match value.abs() {
        x if x == x.trunc() && x < 1e15 => format!("{value:.0}"),
        x if x < 1e-4 => format!("{value:.1e}"),
        _ => format!("{value:.4}"),
    }
}

/// First line of a record.
#[derive(Debug, Serialize)]
struct Head<'a> {
    scene: &'a str,
    seed: u64,
    bodies: Vec<PlacedBody>,
}

/// A line of a record: what moves, and what it meets.
#[derive(Debug, Serialize)]
struct Moment {
    frame: u64,
    poses: Vec<PlacedBody>,
    events: Vec<Happening>,
    contacts: Vec<Touch>,
}

#[derive(Debug, Serialize)]
struct PlacedBody {
    body: usize,
    position: [f64; 3],
    rotation: [f64; 4],
}

#[derive(Debug, Serialize)]
struct Happening {
    kind: &'static str,
    bodies: [usize; 2],
}

#[derive(Debug, Serialize)]
struct Touch {
    bodies: [usize; 2],
    parts: [u32; 2],
    distance: f64,
    points: [[f64; 3]; 2],
    normal: [f64; 3],
}

impl Moment {
    fn new(frame: u64, scene: &Scene) -> Moment {
        let last = scene.last();
        Moment {
            frame,
            poses: placed(scene, |body| body.mobility == Mobility::Moving),
            events: last.events.iter().map(Happening::from).collect(),
            contacts: last.contacts.iter().map(Touch::from).collect(),
        }
    }
}

impl From<&Event> for Happening {
    fn from(event: &Event) -> Happening {
        let kind = match event.kind {
            EventKind::Began => "began",
            EventKind::Persists => "persists",
            EventKind::Ended => "ended",
        };
        Happening { kind, bodies: event.bodies.map(BodyId::index) }
    }
}

impl From<&SceneContact> for Touch {
    fn from(told: &SceneContact) -> Touch {
        let contact = told.contact;
        Touch {
            bodies: told.bodies.map(BodyId::index),
            parts: told.parts,
            distance: -contact.depth,
            points: contact.points.map(|p| p.to_array()),
            normal: contact.normal.to_array(),
        }
    }
}

fn placed(scene: &Scene, wanted: impl Fn(&Body) -> bool) -> Vec<PlacedBody> {
    let bodies = scene.bodies().filter(|(_, body)| wanted(body));
    bodies
        .map(|(id, body)| PlacedBody {
            body: id.index(),
            position: body.pose.translation().to_array(),
            rotation: DQuat::from_mat3(&body.pose.matrix()).to_array(),
        })
        .collect()
}

fn line(record: &mut PartialFile, value: &impl Serialize) -> Result<(), Failure> {
    record.write(|out| {
        serde_json::to_writer(&mut *out, value)?;
        writeln!(out)
    })
}

pub(super) fn draw(drawing: &Drawing) -> Result<Vec<u8>, Failure> {
    let figures = drawing
        .figures
        .iter()
        .map(|f| Figure { mesh: &f.mesh, pose: &f.pose, colour: DVec3::from(f.colour), red: Vec::new() })
        .collect();
    let lines = drawing.lines.iter().map(|&(ends, colour)| (ends, DVec3::from(colour))).collect();
    let contacts = drawing.contacts.clone();
    Picture { figures, lines, contacts, view: drawing.view, ..Picture::default() }.png(1200, 900)
}

fn as_map<S: serde::Serializer>(pairs: &[(&'static str, f64)], s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(pairs.iter().copied())
}
