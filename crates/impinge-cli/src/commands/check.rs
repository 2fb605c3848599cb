//! `impinge check`: how two meshes lie to each other.

use std::io::Write;

use impinge::{Mesh, Placed, Polyline, Pose, Query};

use crate::args::{Check, Common};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::found::Found;
use crate::json_answer::Answer;
use crate::picture::{self, Figure, Picture};
use crate::{ask, commands};

/// Where the triangles that meet are a larger share of a surface than this, their shape says little about where the
/// bodies do: the curves are drawn instead.
const COARSE: f64 = 0.1;

/// Decides, lists and draws.
pub fn run(args: &Check, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let shapes = commands::load_two(&args.two, &mut explain)?;
    let [a, b] = commands::place(&args.two, &shapes);
    let mut query = common.settings().query();
    let answer = if args.all || args.margin.is_some() {
        ask::check(&mut query, a, b, args.margin)?
    } else {
        ask::relation(&mut query, a, b)?
    };
    if args.drawing.picture.is_some() {
        let listed = match &answer.found {
            Found::Check { pairs, .. } if args.margin.is_none() => Some(pairs.pairs.clone()),
            _ => None,
        };
        let meeting = Meeting::of(&mut query, a, b, listed)?;
        args.drawing.save(|| meeting.picture())?;
    }
    commands::finish(&answer, common, &mut explain, |out| text(&answer, args, out))
}

fn text(answer: &Answer, args: &Check, out: &mut dyn Write) -> std::io::Result<()> {
    let (Found::Relation { relation, openness } | Found::Check { relation, openness, .. }) = &answer.found
    else {
        return Ok(());
    };
    writeln!(out, "{}", relation.unwrap_or("undecided"))?;
    openness.tell(out)?;
    let Found::Check { pairs, .. } = &answer.found else { return Ok(()) };
    let what = match (args.margin, pairs.count) {
        (None, Some(1)) => "1 pair of triangles meets".to_string(),
        (None, Some(n)) => format!("{n} pairs of triangles meet"),
        (Some(d), Some(1)) => format!("1 pair of triangles is at most {d:?} apart"),
        (Some(d), Some(n)) => format!("{n} pairs of triangles are at most {d:?} apart"),
        (None, None) => format!("at least {} so far, pairs of triangles that meet", pairs.pairs.len()),
        (Some(d), None) => {
            format!("at least {} so far, pairs of triangles at most {d:?} apart", pairs.pairs.len())
        }
    };
    writeln!(out, "{what}{}", if pairs.pairs.is_empty() { "" } else { " (of a, of b):" })?;
    pairs.pairs.iter().try_for_each(|[i, j]| writeln!(out, "{i} {j}"))
}

/// Two bodies and where they meet.
pub struct Meeting<'s> {
    bodies: [Placed<'s>; 2],
    poses: [Pose; 2],
    pairs: Vec<[u32; 2]>,
    contour: Vec<Polyline>,
}

impl<'s> Meeting<'s> {
    /// Finds the triangles that meet, unless they are listed already, and the curves where these are coarse, with what is
    /// left of the budget; says so where that was not enough.
    pub fn of(
        query: &mut Query<'_>,
        a: Placed<'s>,
        b: Placed<'s>,
        listed: Option<Vec<[u32; 2]>>,
    ) -> Result<Meeting<'s>, Failure> {
        // The method that was named may list no triangles.
        let mut rest = Query { budget: std::mem::take(&mut query.budget), ..Query::default() };
        let mut is_whole = true;
        let pairs = match listed {
            Some(pairs) => pairs,
            None => {
                let found = rest.pairs(a, b)?;
                is_whole = found.value.is_some();
                found.value.or(found.so_far).unwrap_or_default()
            }
        };
        let contour = rest.contour(a, b)?.value;
        if !is_whole || contour.is_none() {
            picture::say_cut_short();
        }
        let contour = contour.unwrap_or_default();
        Ok(Meeting { bodies: [a, b], poses: [a.pose(), b.pose()], pairs, contour })
    }

    /// Both bodies; the triangles that meet in red or, where these are large, the curves along which they do.
    pub fn picture(&self) -> Picture<'_> {
        let mut picture = Picture::default();
        let mut coarse = false;
        for (k, body) in self.bodies.iter().enumerate() {
            let Some(mesh) = body.shape().as_mesh() else { continue };
            let mut red: Vec<u32> = self.pairs.iter().map(|pair| pair[k]).collect();
            red.sort_unstable();
            red.dedup();
            coarse |= !self.contour.is_empty() && share_of_surface(mesh, &red) > COARSE;
            picture.figures.push(Figure { mesh, pose: &self.poses[k], colour: picture::BODIES[k], red });
        }
        if coarse {
            picture.figures.iter_mut().for_each(|figure| figure.red.clear());
            for curve in &self.contour {
                let closing = curve.closed.then(|| [curve.points.last(), curve.points.first()]);
                let closing = closing.and_then(|[a, b]| Some([*a?, *b?]));
                let steps = curve.points.windows(2).map(|w| [w[0], w[1]]).chain(closing);
                picture.curves.extend(steps);
            }
        }
        picture
    }
}

/// How much of a mesh's surface some triangles are.
fn share_of_surface(mesh: &Mesh, some: &[u32]) -> f64 {
    let area = |t: u32| {
        let [a, b, c] = mesh.triangles()[t as usize].map(|v| mesh.vertices()[v as usize]);
        (b - a).cross(c - a).length()
    };
    let whole: f64 = (0..mesh.triangles().len() as u32).map(area).sum();
    if whole > 0.0 { some.iter().map(|&t| area(t)).sum::<f64>() / whole } else { 0.0 }
}
