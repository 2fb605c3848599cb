//! How far answers exceed their budgets: every question and the scene's step on the largest meshes, from meshes
//! without trees to the complete answer, call by call.
//!
//! A virtual machine pauses threads by itself: one that only reads the clock, beside another busy one, is now and
//! then held up for longer than what is asked here. So a question that exceeds a deadline is tried again, a limited
//! number of times, and the verdict is that of the try with the smallest excess: a step of ours that is too long
//! exceeds the deadline in every try, a pause of the machine rarely falls into all of them, as they are some time apart.
//! A try ends with its first late call, for it can no longer be the one without. The number of tries and the largest excess of all stand beside
//! it, the first rows show what the machine does to a caller that asks nothing, and the share of late calls is given
//! for both.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use glam::DVec3;
use impinge::scene::{Body, Contacts, Options, Scene};
use impinge::{
    Budget, ContactOptions, Counters, DecomposeOptions, Deforming, Error, Finish, Memory, Mesh, Method,
    Motion, Outcome, Pose, Query, Question as Asked, Ray, Shape, ShapeKind, SweepOptions, VolumeOptions,
};

use super::Effort;
use crate::scenes;
use crate::table::Table;

/// The deadlines of each call, in milliseconds.
const DEADLINES: [u64; 3] = [1, 2, 10];

/// The limits of each call, in work units.
const LIMITS: [u64; 2] = [2_000, 50_000];

/// Calls after which an unfinished question is left.
const MOST_CALLS: usize = 400;

/// How often a question that exceeds its deadline is tried at most.
const MOST_TRIES: usize = 30;

/// How long the next try waits after one that was late: tries that follow at once may all fall into one disturbance.
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// The most that is asked: milliseconds beyond a deadline, units beyond a limit.
const ASKED: (f64, u64) = (2.0, 1_000);

/// What is asked again and again, with one memory, until it is answered.
type Question = dyn FnMut(&mut Query<'_>) -> Result<Outcome, Error>;

/// What one question did under one budget.
#[derive(Default)]
struct Exceeded {
    calls: usize,
    /// Calls that ended later than what is asked.
    late: usize,
    answered: bool,
    tries: usize,
    /// The most beyond a deadline; of several tries, the smallest and the largest of these.
    milliseconds: f64,
    worst_try: f64,
    units: u64,
}

impl Exceeded {
    /// One more call, which ended so long after its deadline.
    fn count(&mut self, beyond: Duration) {
        let milliseconds = beyond.as_secs_f64() * 1e3;
        self.milliseconds = self.milliseconds.max(milliseconds);
        self.late += usize::from(milliseconds > ASKED.0);
        self.calls += 1;
    }

    /// Whether this try goes on: neither answered nor late nor asked too often.
    fn goes_on(&self) -> bool {
        !self.answered && self.late == 0 && self.calls < MOST_CALLS
    }

    /// Tries until nothing is late.
    fn tried(mut attempt: impl FnMut() -> Result<Exceeded>) -> Result<Exceeded> {
        let mut found = Exceeded { milliseconds: f64::INFINITY, ..Exceeded::default() };
        while found.tries < MOST_TRIES && found.milliseconds > ASKED.0 {
            let one = attempt()?;
            quiet();
            if one.late > 0 {
                std::thread::sleep(BETWEEN_TRIES);
            }
            found.tries += 1;
            found.calls += one.calls;
            found.late += one.late;
            found.answered |= one.answered;
            found.worst_try = found.worst_try.max(one.milliseconds);
            found.milliseconds = found.milliseconds.min(one.milliseconds);
        }
        Ok(found)
    }

    /// Adds what another question did.
    fn add(&mut self, other: &Exceeded) {
        self.calls += other.calls;
        self.late += other.late;
        self.milliseconds = self.milliseconds.max(other.milliseconds);
        self.worst_try = self.worst_try.max(other.worst_try);
    }

    fn late_share(&self) -> String {
        format!(
            "{} of {} ({:.2} %)",
            self.late,
            self.calls,
            100.0 * self.late as f64 / self.calls.max(1) as f64
        )
    }
}

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    measure(effort, &|_| true)
}

/// The rows of the questions that have one of these texts in their name.
pub fn only(texts: &[&str]) -> Result<Table> {
    measure(Effort::Full, &|name| texts.iter().any(|text| name.contains(text)))
}

fn measure(effort: Effort, is_asked: &dyn Fn(&str) -> bool) -> Result<Table> {
    let (large, other) = match effort {
        Effort::Full => (scenes::mesh("dragon871k")?, scenes::mesh("dragon202k")?),
        Effort::Quick => (scenes::mesh("bunny59k")?, scenes::mesh("bunny4k")?),
    };
    let header =
        ["question", "budget", "tries", "calls", "beyond ms", "worst try", "beyond units", "verdict"];
    let mut table = Table::new("budgets", &header);
    let mut machine = Exceeded::default();
    for deadline in DEADLINES {
        let found = Exceeded::tried(|| Ok(clock_alone(deadline)))?;
        machine.add(&found);
        let mut cells = row("the clock alone", &format!("{deadline} ms"), &found, true);
        cells[7] = "the machine".to_string();
        table.row(cells);
    }
    let mut worst = Exceeded::default();
    let mut by_time = |table: &mut Table, name: &str, deadline: u64, found: &Exceeded| {
        worst.add(found);
        add(table, row(name, &format!("{deadline} ms"), found, found.milliseconds <= ASKED.0));
    };
    let mut most_units = 0;
    let mut by_work = |table: &mut Table, name: &str, limit: u64, found: &Exceeded| {
        most_units = found.units.max(most_units);
        add(table, row(name, &format!("{limit} units"), found, found.units <= ASKED.1));
    };
    let of_auto = QUESTIONS.iter().map(|&(name, make)| (name.to_string(), Box::new(make) as Box<Make>));
    for (name, make) in of_auto.chain(by_method()).filter(|(name, _)| is_asked(name)) {
        for deadline in DEADLINES {
            let found = Exceeded::tried(|| by_deadline(&mut *make(&large, &other)?, deadline))?;
            by_time(&mut table, &name, deadline, &found);
        }
        for limit in LIMITS {
            let found = by_units(&mut *make(&large, &other)?, limit)?;
            quiet();
            by_work(&mut table, &name, limit, &found);
        }
    }
    let of_scene = is_asked("scene step");
    for deadline in DEADLINES.into_iter().filter(|_| of_scene) {
        let step = || {
            scene_step(&large, &other, || Budget::millis(deadline), Duration::from_millis(deadline), u64::MAX)
        };
        by_time(&mut table, "scene step", deadline, &Exceeded::tried(step)?);
    }
    for limit in LIMITS.into_iter().filter(|_| of_scene) {
        let found = scene_step(&large, &other, || Budget::units(limit), Duration::MAX, limit)?;
        by_work(&mut table, "scene step", limit, &found);
    }
    table.remark(format!("each question starts from meshes without trees and goes on, call by call, for at most {MOST_CALLS} calls"));
    table.remark("a question starts when the searches of the one before have ended");
    table.remark(format!(
        "tried again by a deadline that was exceeded, at most {MOST_TRIES} times: 'beyond ms' is the try with the smallest excess, 'worst try' the one with the largest"
    ));
    table.remark(format!(
        "calls more than {} ms late in all tries: {}; of those that only read the clock: {}",
        ASKED.0,
        worst.late_share(),
        machine.late_share()
    ));
    table.remark(format!(
        "the most beyond any deadline {:.2} ms (asked: {}; {:.2} in the worst try), beyond any limit {most_units} units (asked: {})",
        worst.milliseconds, ASKED.0, worst.worst_try, ASKED.1
    ));
    Ok(table)
}

/// Adds a row and shows it: the whole table takes minutes.
fn add(table: &mut Table, row: [String; 8]) {
    eprintln!("{}", row.join("  "));
    table.row(row);
}

fn row(name: &str, budget: &str, found: &Exceeded, within: bool) -> [String; 8] {
    let verdict = match (within, found.answered) {
        (false, _) => "BEYOND",
        (true, true) => "within, answered",
        (true, false) => "within, still open",
    };
    let by_time = budget.ends_with("ms");
    [
        name.to_string(),
        budget.to_string(),
        if by_time { found.tries.to_string() } else { String::new() },
        found.calls.to_string(),
        if by_time { format!("{:.2}", found.milliseconds) } else { String::new() },
        if by_time { format!("{:.2}", found.worst_try) } else { String::new() },
        if by_time { String::new() } else { found.units.to_string() },
        verdict.to_string(),
    ]
}

/// Waits until the searches of the question before have ended: a build that was under way goes to its end, and a
/// third thread on two cores would be measured as lateness. Only Linux tells the names of threads.
fn quiet() {
    let is_task = |entry: std::fs::DirEntry| {
        std::fs::read_to_string(entry.path().join("comm")).is_ok_and(|name| name.trim() == "impinge task")
    };
    let busy = || std::fs::read_dir("/proc/self/task").is_ok_and(|all| all.flatten().any(is_task));
    while busy() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A caller that asks nothing: it reads the clock until its deadline, beside one busy thread.
fn clock_alone(deadline: u64) -> Exceeded {
    let (mut found, done) = (Exceeded::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                spin_loop();
            }
        });
        let deadline = Duration::from_millis(deadline);
        while found.goes_on() {
            let start = Instant::now();
            while start.elapsed() < deadline {
                spin_loop();
            }
            found.count(start.elapsed().saturating_sub(deadline));
        }
        done.store(true, Ordering::Relaxed);
    });
    found
}

fn by_deadline(question: &mut Question, deadline: u64) -> Result<Exceeded> {
    let (mut found, mut memory) = (Exceeded::default(), Memory::default());
    while found.goes_on() {
        let start = Instant::now();
        let mut query =
            Query { budget: Budget::millis(deadline), memory: Some(&mut memory), ..Query::default() };
        found.answered = question(&mut query)?.finish == Finish::Complete;
        found.count(start.elapsed().saturating_sub(Duration::from_millis(deadline)));
    }
    Ok(found)
}

fn by_units(question: &mut Question, limit: u64) -> Result<Exceeded> {
    let (mut found, mut memory) = (Exceeded::default(), Memory::default());
    while found.goes_on() {
        let mut query = Query { budget: Budget::units(limit), memory: Some(&mut memory), ..Query::default() };
        let outcome = question(&mut query)?;
        found.answered = outcome.finish == Finish::Complete;
        found.units = found.units.max(units(&outcome.work).saturating_sub(limit));
        found.calls += 1;
    }
    Ok(found)
}

fn units(work: &Counters) -> u64 {
    work.volume_tests + work.primitive_tests + work.updates
}

/// The frames of a scene of large meshes until nothing is left undecided.
fn scene_step(
    large: &Mesh,
    other: &Mesh,
    budget: impl Fn() -> Budget,
    deadline: Duration,
    limit: u64,
) -> Result<Exceeded> {
    let options = Options { margin: 1e-3, contacts: Contacts::Deepest, ..Options::default() };
    let mut scene = Scene::with_options(options)?;
    scene.add(Body::fixed(Shape::from(large.clone()), Pose::IDENTITY));
    for k in 0..3 {
        let at = place(large, other, 0.3 * f64::from(k))?;
        scene.add(Body::moving(Shape::from(other.clone()), at));
    }
    let mut found = Exceeded::default();
    while found.goes_on() {
        let start = Instant::now();
        let mut budget = budget();
        let outcome = scene.step(&mut budget).outcome;
        found.answered = outcome.finish == Finish::Complete;
        found.count(start.elapsed().saturating_sub(deadline));
        found.units = found.units.max(units(&outcome.work).saturating_sub(limit));
    }
    Ok(found)
}

/// The other mesh beside the middle of the large one, so that they meet.
fn place(large: &Mesh, other: &Mesh, share: f64) -> Result<Pose, Error> {
    let [a, b] = [large, other].map(|mesh| Shape::from(mesh.clone()).bounds(&Pose::IDENTITY));
    let shift = a.centre() - b.centre() + DVec3::X * (share * (a.high.x - a.low.x));
    Pose::from_translation(shift)
}

type Make = dyn Fn(&Mesh, &Mesh) -> Result<Box<Question>>;
type MakeAs = fn(&Mesh, &Mesh) -> Result<Box<Question>>;

/// The kinds of pairs that methods are asked about by name.
const PAIRS: [(&str, [ShapeKind; 2]); 4] = [
    ("meshes", [ShapeKind::Mesh; 2]),
    ("hulls", [ShapeKind::Hull; 2]),
    ("cloud and mesh", [ShapeKind::Particles, ShapeKind::Mesh]),
    ("clouds", [ShapeKind::Particles; 2]),
];

/// Every question that a method is asked by name: those that it accepts, but what `auto` asks of `exact` about meshes
/// anyway.
fn by_method() -> Vec<(String, Box<Make>)> {
    let contacts = ContactOptions {
        margin: 0.0,
        touch: 0.0,
        told: Contacts::Manifold,
        one_sided: false,
        asks_touch: false,
    };
    let volume = VolumeOptions { resolution: Some(256), ..VolumeOptions::default() };
    let asked = [
        Asked::Relation,
        Asked::Distance,
        Asked::Pairs { margin: None },
        Asked::Pairs { margin: Some(1e-3) },
        Asked::Contour,
        Asked::Contacts(contacts),
        Asked::Separate,
        Asked::Sweep(SweepOptions::DEFAULT),
        Asked::Volume(volume),
    ];
    let mut rows: Vec<(String, Box<Make>)> = Vec::new();
    for &method in Method::ALL {
        for (pair, kinds) in PAIRS {
            for question in asked {
                let by_auto = method == Method::Exact && kinds == [ShapeKind::Mesh; 2];
                if by_auto || !method.accepts(&question, kinds) {
                    continue;
                }
                let near =
                    if let Asked::Pairs { margin: Some(_) } = question { " within a margin" } else { "" };
                let name = format!("{}{near} of {pair}, {method}", question.name());
                let make = move |large: &Mesh, other: &Mesh| named(large, other, kinds, question, method);
                rows.push((name, Box::new(make)));
            }
        }
    }
    rows
}

/// One question about fresh shapes of these kinds, by a method; hulls are given, for they are made outside of budgets.
fn named(
    large: &Mesh,
    other: &Mesh,
    kinds: [ShapeKind; 2],
    question: Asked,
    method: Method,
) -> Result<Box<Question>> {
    let shape = |mesh: &Mesh, kind: ShapeKind| match kind {
        ShapeKind::Hull => Shape::hull(mesh.vertices().iter().copied()),
        ShapeKind::Particles => {
            let radius = 1e-3 * mesh.vertices().iter().map(|p| p.length()).fold(0.0, f64::max);
            Shape::particles(mesh.vertices().iter().copied(), &[radius])
        }
        _ => Ok(Shape::from(mesh.clone())),
    };
    let (a, b) = (shape(large, kinds[0])?, shape(other, kinds[1])?);
    let apart = matches!(question, Asked::Distance | Asked::Sweep(_));
    let at = place(large, other, if apart { 1.5 } else { 0.3 })?;
    let motion = Motion::between(&at, &place(large, other, 0.0)?);
    Ok(Box::new(move |query| {
        query.method = method;
        let placed = b.at(at);
        Ok(match question {
            Asked::Relation => query.relation(&a, placed)?.outcome(),
            Asked::Distance => query.distance(&a, placed)?.outcome(),
            Asked::Pairs { margin: None } => query.pairs(&a, placed)?.outcome(),
            Asked::Pairs { margin: Some(margin) } => query.pairs_within(&a, placed, margin)?.outcome(),
            Asked::Contour => query.contour(&a, placed)?.outcome(),
            Asked::Contacts(options) => query.contacts(&a, placed, options.margin)?.outcome(),
            Asked::Separate => query.separate(&a, placed)?.outcome(),
            Asked::Volume(options) => query.volume(&a, placed, options)?.outcome(),
            _ => query.sweep(&a, b.along(motion))?.outcome(),
        })
    }))
}

/// The questions as `auto` answers them, each about fresh shapes.
const QUESTIONS: &[(&str, MakeAs)] = &[
    ("relation", |large, other| {
        let (a, b, at) = pair(large, other, 0.3)?;
        Ok(Box::new(move |query| Ok(query.relation(&a, b.at(at))?.outcome())))
    }),
    ("distance", |large, other| {
        let (a, b, at) = pair(large, other, 1.5)?;
        Ok(Box::new(move |query| Ok(query.distance(&a, b.at(at))?.outcome())))
    }),
    ("pairs", |large, other| {
        let (a, b, at) = pair(large, other, 0.3)?;
        Ok(Box::new(move |query| Ok(query.pairs(&a, b.at(at))?.outcome())))
    }),
    ("pairs within a margin", |large, other| {
        let (a, b, at) = pair(large, other, 0.3)?;
        Ok(Box::new(move |query| Ok(query.pairs_within(&a, b.at(at), 1e-3)?.outcome())))
    }),
    ("contour", |large, other| {
        let (a, b, at) = pair(large, other, 0.3)?;
        Ok(Box::new(move |query| Ok(query.contour(&a, b.at(at))?.outcome())))
    }),
    ("sweep", |large, other| {
        let (a, b, at) = pair(large, other, 1.5)?;
        let motion = Motion::between(&at, &place(large, other, 0.0)?);
        Ok(Box::new(move |query| Ok(query.sweep(&a, b.along(motion))?.outcome())))
    }),
    ("volume with gradient", |large, other| {
        let (a, b, at) = pair(large, other, 0.3)?;
        let options = VolumeOptions { gradient: true, ..VolumeOptions::default() };
        Ok(Box::new(move |query| Ok(query.volume(&a, b.at(at), options)?.outcome())))
    }),
    ("volume by images", |large, other| {
        let (a, b, at) = pair(large, other, 0.3)?;
        let options = VolumeOptions { resolution: Some(256), gradient: true, ..VolumeOptions::default() };
        Ok(Box::new(move |query| {
            query.method = Method::Image;
            Ok(query.volume(&a, b.at(at), options)?.outcome())
        }))
    }),
    ("volume of a mesh in itself", |_, other| {
        let shape = Shape::from(other.clone());
        let options = VolumeOptions { resolution: Some(256), ..VolumeOptions::default() };
        Ok(Box::new(move |query| Ok(query.self_volume(&shape, options)?.outcome())))
    }),
    ("contacts", |large, other| {
        let (a, b, at) = pair(large, other, 0.3)?;
        Ok(Box::new(move |query| Ok(query.contacts(&a, b.at(at), 1e-3)?.outcome())))
    }),
    ("separate", |large, other| {
        let (a, b, at) = pair(large, other, 0.3)?;
        Ok(Box::new(move |query| Ok(query.separate(&a, b.at(at))?.outcome())))
    }),
    ("box on a mesh, relation", |large, other| {
        let (a, block, at) = block(large, other)?;
        Ok(Box::new(move |query| Ok(query.relation(&a, block.at(at))?.outcome())))
    }),
    ("box on a mesh, contacts", |large, other| {
        let (a, block, at) = block(large, other)?;
        Ok(Box::new(move |query| Ok(query.contacts(&a, block.at(at), 1e-3)?.outcome())))
    }),
    ("closest points", |large, _| {
        let (shape, points) = (Shape::from(large.clone()), some_points(large));
        Ok(Box::new(move |query| Ok(query.closest_point_batch(&shape, &points)?.outcome())))
    }),
    ("signed distances", |large, _| {
        let (shape, points) = (Shape::from(large.clone()), some_points(large));
        Ok(Box::new(move |query| Ok(query.signed_distance_batch(&shape, &points)?.outcome())))
    }),
    ("contains", |large, _| {
        let (shape, points) = (Shape::from(large.clone()), some_points(large));
        Ok(Box::new(move |query| Ok(query.contains_batch(&shape, &points)?.outcome())))
    }),
    ("signed distances from a cloud", |large, other| {
        let (shape, points) =
            (Shape::particles(large.vertices().iter().copied(), &[0.0])?, some_points(other));
        Ok(Box::new(move |query| Ok(query.signed_distance_batch(&shape, &points)?.outcome())))
    }),
    ("ray casts", |large, _| {
        let shape = Shape::from(large.clone());
        let rays = some_points(large).into_iter().map(|p| Ray::new(p, [0.3, 0.5, 1.0]));
        let rays: Vec<Ray> = rays.collect::<Result<_, Error>>()?;
        Ok(Box::new(move |query| Ok(query.ray_cast_batch(&shape, &rays)?.outcome())))
    }),
    ("all hits of rays", |large, _| {
        let shape = Shape::from(large.clone());
        let rays = some_points(large).into_iter().map(|p| Ray::new(p, [0.3, 0.5, 1.0]));
        let rays: Vec<Ray> = rays.collect::<Result<_, Error>>()?;
        Ok(Box::new(move |query| Ok(query.ray_cast_all_batch(&shape, &rays)?.outcome())))
    }),
    ("distance with the relation", |large, other| {
        let (a, b, at) = pair(large, other, 1.5)?;
        Ok(Box::new(move |query| {
            query.with_relation = true;
            Ok(query.distance(&a, b.at(at))?.outcome())
        }))
    }),
    ("self-intersections", |large, _| {
        let shape = Shape::from(large.clone());
        Ok(Box::new(move |query| Ok(query.self_intersections(&shape)?.outcome())))
    }),
    ("inspect", |_, other| {
        let shape = Shape::from(other.clone());
        Ok(Box::new(move |query| Ok(query.inspect(&shape)?.outcome())))
    }),
    ("decompose", |_, other| {
        let shape = Shape::from(other.clone());
        let options = DecomposeOptions { most_parts: 16, ..DecomposeOptions::DEFAULT };
        Ok(Box::new(move |query| Ok(query.decompose(&shape, &options)?.outcome())))
    }),
    ("deforming self-contact", |_, other| {
        let moved: Vec<[f64; 3]> =
            other.vertices().iter().map(|p| [p.x, p.y, p.z + 1e-3 * (40.0 * p.x).sin()]).collect();
        let mesh = Deforming::new(other.clone(), Mesh::new(moved, other.triangles().to_vec())?)?;
        Ok(Box::new(move |query| Ok(query.first_self_contact(&mesh, 0.0)?.outcome())))
    }),
];

fn pair(large: &Mesh, other: &Mesh, share: f64) -> Result<(Shape, Shape, Pose)> {
    let at = place(large, other, share)?;
    Ok((Shape::from(large.clone()), Shape::from(other.clone()), at))
}

/// A box a fifth as long as the mesh, at its surface.
fn block(large: &Mesh, other: &Mesh) -> Result<(Shape, Shape, Pose)> {
    let (a, _, at) = pair(large, other, 0.3)?;
    let bounds = a.bounds(&Pose::IDENTITY);
    let half = 0.1 * (bounds.high - bounds.low).max_element();
    Ok((a, Shape::cuboid([half; 3])?, at))
}

/// Points around the mesh, more than a short budget measures.
fn some_points(mesh: &Mesh) -> Vec<DVec3> {
    let step = (mesh.vertices().len() / 20_000).max(1);
    mesh.vertices().iter().step_by(step).map(|&p| p * 1.1 + DVec3::splat(1e-3)).collect()
}
