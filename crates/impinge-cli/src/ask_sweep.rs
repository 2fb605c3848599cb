//! When two moving shapes first touch, asked of the library.

use impinge::motion::Law;
use impinge::narrow::continuous::contact::{self, Covered, SphereCover};
use impinge::narrow::continuous::{ContactKind, SweepMemory, SweepOptions, sweep_within};
use impinge::{Budget, Finish, Motion, Pose, Shape};

use crate::answer::{Answer, Found, Sweep};
use crate::error::Failure;
use crate::settings::{Method, Settings};

/// A shape, where it is, and where it goes.
#[derive(Debug, Clone)]
pub struct MovingModel {
    /// The shape.
    pub shape: Shape,
    /// How it moves over the step.
    pub motion: Motion,
}

/// How a body gets from one pose to another.
#[derive(Debug, Clone, Copy, Default)]
pub struct Way {
    /// Whole turns more than the shorter way takes.
    turns: u32,
    /// How the shift follows the turn.
    law: Law,
}

/// Most whole turns in a step: the search goes through them one by one.
const MOST_TURNS: u32 = 100_000;

impl Way {
    /// So many whole turns more, under a law.
    pub fn new(turns: u32, law: Law) -> Result<Way, Failure> {
        if turns > MOST_TURNS {
            return Err(Failure(format!("turns: {turns} in one step; at most {MOST_TURNS} are answered")));
        }
        Ok(Way { turns, law })
    }

    /// The law of this name.
    pub fn law(name: &str) -> Result<Law, Failure> {
        match name {
            "uniform" => Ok(Law::Uniform),
            "contact" => Ok(Law::Contact),
            _ => Err(Failure(format!("law: {name:?} is none; known are uniform and contact"))),
        }
    }

    /// The motion from a pose to another; without one the body stands still.
    pub fn motion(&self, from: &Pose, to: Option<&Pose>) -> Motion {
        to.map_or(Motion::Still(*from), |to| Motion::screw(from, to, self.turns, self.law))
    }
}

/// How sharp the answer has to be: a tolerance in units of t and a slack, each the default where not given.
pub fn options(tolerance: Option<f64>, slack: Option<f64>) -> Result<SweepOptions, Failure> {
    let length = |name: &str, x: Option<f64>| match x {
        // The comparison is false for NaN.
        Some(x) if !(x > 0.0 && x.is_finite()) => {
            Err(Failure(format!("{name}: {x} is not positive and finite")))
        }
        other => Ok(other),
    };
    let tolerance = length("tolerance", tolerance)?.unwrap_or(SweepOptions::DEFAULT.tolerance);
    Ok(SweepOptions { tolerance, slack: length("slack", slack)?, ..SweepOptions::DEFAULT })
}

/// By CONTACT (Redon, Kheddar and Coquillart 2001), which covers meshes with spheres.
fn by_spheres(
    shapes: [&Shape; 2],
    motions: [&Motion; 2],
    options: &SweepOptions,
    budget: &mut Budget,
) -> Result<impinge::narrow::continuous::Sweep, Failure> {
    let [Shape::Mesh(a), Shape::Mesh(b)] = shapes else {
        return Err(Failure::new("method contact answers sweeps of two meshes; use auto for other shapes"));
    };
    let [over_a, over_b] = [SphereCover::automatic(a.mesh())?, SphereCover::automatic(b.mesh())?];
    let bodies = [Covered { model: a, spheres: &over_a }, Covered { model: b, spheres: &over_b }];
    Ok(contact::sweep_within(bodies, motions, options, budget)?)
}

/// The first contact.
pub fn sweep(
    a: &MovingModel,
    b: &MovingModel,
    options: &SweepOptions,
    settings: &Settings,
) -> Result<Answer, Failure> {
    if settings.method == Method::Brute {
        return Err(Failure::new("method brute does not answer sweeps; use auto, exact or contact"));
    }
    let mut budget = settings.limit.start();
    let (shapes, motions) = ([&a.shape, &b.shape], [&a.motion, &b.motion]);
    let found = match settings.method {
        Method::Contact => by_spheres(shapes, motions, options, &mut budget)?,
        _ => sweep_within(shapes, motions, options, &mut SweepMemory::default(), &mut budget),
    };
    let impact = found.impact;
    let undecided = impact.is_none() && found.outcome.finish != Finish::Complete;
    let kind = |kind: ContactKind| match kind {
        ContactKind::VertexFace => "vf".to_string(),
        ContactKind::FaceVertex => "fv".to_string(),
        ContactKind::EdgeEdge => "ee".to_string(),
        ContactKind::Shapes => format!("{}-{}", a.shape.kind(), b.shape.kind()),
    };
    let exact = matches!(found.outcome.certainty, impinge::Certainty::Exact);
    let sweep = Sweep {
        hit: (!undecided).then_some(impact.is_some()),
        time: impact.map(|i| i.time),
        kind: impact.map(|i| kind(i.kind)),
        features: impact.map(|i| i.features),
        point: impact.map(|i| i.point.to_array()),
        normal: impact.map(|i| i.normal).filter(|n| *n != glam::DVec3::ZERO).map(|n| n.to_array()),
        proved: impact.map(|i| i.proved),
        free_until: found.free_until,
        slack: found.slack,
        tolerance: exact.then_some(options.tolerance),
    };
    Ok(Answer::new(Found::Sweep(sweep), &found.outcome))
}
