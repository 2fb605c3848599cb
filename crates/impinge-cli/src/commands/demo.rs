//! `impinge demo`: the main job on built-in scenes.

use std::io::Write;

use impinge::{Error, Mesh, Placed, Pose, Query, Shape, procedural};
use serde::Serialize;

use super::check::Meeting;
use crate::args::{Common, Demo, Format};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::found::{Distance, Found, Pairs};
use crate::json_answer::{Answer, Assurance};
use crate::{ask, commands, output};

/// Two bodies and what there is to see.
struct Scene {
    name: &'static str,
    says: &'static str,
    a: Shape,
    b: Shape,
    at_b: Pose,
}

/// What the library says about a scene of two bodies.
#[derive(Debug, Serialize)]
struct Seen {
    name: &'static str,
    says: &'static str,
    triangles: [usize; 2],
    relation: Option<&'static str>,
    /// Triangle pairs that meet; null, as the other answers, when the budget ended first.
    pairs: Option<usize>,
    #[serde(flatten)]
    distance: Distance,
}

/// What the library says about one body.
#[derive(Debug, Serialize)]
struct Alone {
    name: &'static str,
    says: &'static str,
    triangles: usize,
    self_intersections: Option<usize>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Row {
    Two(Box<Seen>),
    One(Alone),
}

#[derive(Debug, Serialize)]
struct Report {
    scenes: Vec<Row>,
    #[serde(flatten)]
    assurance: Assurance,
}

/// Asks everything about every scene.
pub fn run(args: &Demo, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    commands::only_exact(common, "the demo")?;
    // One budget for all scenes.
    let mut query = common.settings().query();
    let scenes = scenes()?;
    explain.lap("build");
    let mut rows = Vec::new();
    let mut is_out_of_budget = false;
    for scene in &scenes {
        let [checked, measured] = scene.ask(&mut query)?;
        explain.lap(scene.name);
        explain.answer(&checked);
        is_out_of_budget |= [&checked, &measured].iter().any(|answer| answer.assurance.is_out_of_budget());
        rows.push(Row::Two(Box::new(scene.seen(checked, measured)?)));
    }
    let twisted = self_crossing()?;
    let triangles = twisted.triangles().len();
    let crossings = ask::self_intersections(&mut query, (&Shape::from(twisted)).into())?;
    is_out_of_budget |= crossings.assurance.is_out_of_budget();
    if let Found::Pairs(Pairs { count, .. }) = crossings.found {
        rows.push(Row::One(Alone {
            name: "fat knot",
            says: "a trefoil thicker than its own gaps meets itself",
            triangles,
            self_intersections: count,
        }));
    }
    if let (Some(file), Some(scene)) = (&args.picture, scenes.first()) {
        let [a, b] = scene.placed();
        output::file(file, &Meeting::of(&mut query, a, b, None)?.picture().png(960, 720)?)?;
    }
    let assurance = match is_out_of_budget {
        true => Assurance::EXACT.of_nothing().out_of_budget(),
        false => Assurance::EXACT,
    };
    match common.format {
        Format::Json => commands::json(Report { scenes: rows, assurance })?,
        Format::Text => output::print(|out| text(&rows, is_out_of_budget, out))?,
    }
    Ok(if is_out_of_budget { Exit::Undecided } else { Exit::Free })
}

impl Scene {
    fn placed(&self) -> [Placed<'_>; 2] {
        [(&self.a).into(), self.b.at(self.at_b)]
    }

    /// The relation with the pairs, and the distance.
    fn ask(&self, query: &mut Query<'_>) -> Result<[Answer; 2], Failure> {
        let [a, b] = self.placed();
        Ok([ask::check(query, a, b, None)?, ask::distance(query, a, b)?])
    }

    fn seen(&self, checked: Answer, measured: Answer) -> Result<Seen, Failure> {
        let (Found::Check { relation, pairs, .. }, Found::Distance(distance)) =
            (checked.found, measured.found)
        else {
            return Err(Failure::new("an answer of another kind"));
        };
        let triangles = [&self.a, &self.b].map(|m| m.as_mesh().map_or(0, |mesh| mesh.triangles().len()));
        // The relation stands beside the pairs already.
        let distance = Distance { relation: None, ..distance };
        Ok(Seen { name: self.name, says: self.says, triangles, relation, pairs: pairs.count, distance })
    }
}

fn scenes() -> Result<Vec<Scene>, Error> {
    let scene =
        |name, says, a: Mesh, b: Mesh, at_b: Pose| Scene { name, says, a: a.into(), b: b.into(), at_b };
    let tilted = Pose::new([0.35, 0.0, 0.1], [0.35, 0.2, 0.1, 0.9])?;
    Ok(vec![
        scene(
            "knot and torus",
            "a trefoil knot passes through the surface of a torus",
            procedural::knot([2, 3], 1.0, 0.22, 400, 32)?,
            procedural::torus(1.1, 0.3, 200, 48)?,
            tilted,
        ),
        scene(
            "nested balls",
            "a ball inside another: no surface contact, but solids have an inside",
            procedural::ico_sphere(0.4, 4)?,
            procedural::ico_sphere(1.0, 4)?,
            Pose::IDENTITY,
        ),
        scene(
            "stacked boxes",
            "two boxes face to face: they touch, exactly",
            procedural::cuboid([1.0, 1.0, 0.5], [8, 8, 4])?,
            procedural::cuboid([0.5, 0.5, 0.5], [4, 4, 4])?,
            Pose::from_translation([0.0, 0.0, 1.0])?,
        ),
        scene(
            "almost stacked",
            "the same, one unit in the last place apart",
            procedural::cuboid([1.0, 1.0, 0.5], [8, 8, 4])?,
            procedural::cuboid([0.5, 0.5, 0.5], [4, 4, 4])?,
            Pose::from_translation([0.0, 0.0, 1.0 + f64::EPSILON])?,
        ),
        scene(
            "cloth and ball",
            "an open sheet cuts a ball",
            procedural::sheet([3.0, 3.0], [60, 60])?,
            procedural::uv_sphere(0.8, 64, 32)?,
            Pose::from_translation([0.1, -0.2, 0.3])?,
        ),
        scene(
            "horseshoe and pin",
            "a pin between the arms of a horseshoe touches nothing: it is not convex",
            procedural::horseshoe(1.0, 0.2, 120, 24)?,
            procedural::capsule(0.15, 0.8, 32, 8)?,
            Pose::IDENTITY,
        ),
    ])
}

fn self_crossing() -> Result<Mesh, Error> {
    procedural::knot([2, 3], 1.0, 0.6, 160, 24)
}

fn text(rows: &[Row], is_out_of_budget: bool, out: &mut dyn Write) -> std::io::Result<()> {
    for row in rows {
        match row {
            Row::Two(seen) => {
                let [m, n] = seen.triangles;
                writeln!(out, "{} ({m} × {n} triangles): {}", seen.name, seen.says)?;
                let relation = seen.relation.unwrap_or("undecided");
                let pairs = known(seen.pairs);
                let distance = known(seen.distance.distance);
                writeln!(out, "    {relation}, {pairs} triangle pairs meet, distance {distance}")?;
            }
            Row::One(seen) => {
                writeln!(out, "{} ({} triangles): {}", seen.name, seen.triangles, seen.says)?;
                writeln!(out, "    {} triangle pairs intersect", known(seen.self_intersections))?;
            }
        }
    }
    let all = if is_out_of_budget { "The budget ended first." } else { "Every answer above is exact." };
    writeln!(out, "\n{all} Now yours:")?;
    writeln!(
        out,
        "    impinge check a.stl b.stl        impinge demo --picture scene.png        impinge --help"
    )
}

fn known(number: Option<impl std::fmt::Debug>) -> String {
    number.map_or_else(|| "?".to_string(), |number| format!("{number:?}"))
}
