//! One line of a batch: a question in, an answer or a refusal out.

use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str;

use impinge::{Deforming, FeaturePairKind, Method, Motion, OpenSurface, Placed, Query, Shape, VolumeOptions};
use serde::Serialize;
use serde_json::value::RawValue;

use super::fields::{Fields, Index, List};
use super::meshes::{LineMeshes, Meshes};
use super::ordered::{Asked, Written};
use super::shape;
use crate::ask;
use crate::error::Failure;
use crate::json_answer::{Answer, Refusal, SCHEMA};
use crate::motion::Way;
use crate::pose;
use crate::settings::{Limit, Settings};

/// The questions that are answered.
const KNOWN: [&str; 11] = [
    "relation", "pairs", "distance", "points", "sweep", "ccd", "self", "volume", "rays", "contacts",
    "separate",
];

/// Fields that every question may have; a comment is for people.
const COMMON: [&str; 6] = ["id", "ask", "method", "budget", "seed", "comment"];

/// Fields of a question besides.
fn fields_of(ask: &str) -> &'static [&'static str] {
    match ask {
        "pairs" => &["a", "b", "margin"],
        "contacts" => &["a", "b", "margin", "sides"],
        "points" => &["a", "points"],
        "rays" => &["a", "rays", "any"],
        "sweep" => &["a", "b", "tolerance", "slack", "surfaces", "turns", "law"],
        "ccd" => &["kind", "t0", "t1", "margin"],
        "self" => &["a", "to", "all", "margin"],
        "volume" => &["a", "b", "resolution", "error", "open"],
        _ => &["a", "b"],
    }
}

/// Fields of a body besides its shape: only sweeps move.
fn fields_of_a_body(ask: &str) -> &'static [&'static str] {
    if ask == "sweep" { &["pose", "to", "turns", "law"] } else { &["pose"] }
}

/// What every line of a batch shares.
#[derive(Debug)]
pub struct Context {
    /// The meshes loaded so far.
    pub meshes: Meshes,
    /// Method, budget and seed where a line names none.
    pub settings: Settings,
    /// Whether it is told of each line who answered and why.
    pub explain: bool,
}

/// Appends the answer to one line; blank lines have none.
pub fn answer(asked: &Asked, context: &Context, out: &mut Written) -> Option<Result<Answer, Failure>> {
    let (id, found) = match asked.text() {
        Ok("") => return None,
        Ok(text) => answer_text(text, asked.number, context),
        Err(failure) => (None, Err(failure)),
    };
    if context.explain {
        explain(asked.number, id, &found, &mut out.notes);
    }
    Some(write(id, found, &mut out.answers))
}

/// Who answered a line and why, or that it was refused.
fn explain(number: u64, id: Option<&RawValue>, found: &Result<Answer, Failure>, notes: &mut Vec<u8>) {
    let id = id.map_or("null", RawValue::get);
    let told = match found {
        Ok(answer) => {
            let units = answer.work.volume_tests + answer.work.primitive_tests + answer.work.updates;
            format!("{}, {}; {units} work units", answer.method, answer.reason)
        }
        Err(_) => "refused".to_string(),
    };
    // Memory takes every note.
    let _ = writeln!(notes, "line {number}, id {id}: {told}");
}

fn answer_text<'t>(
    text: &'t str,
    number: u64,
    context: &Context,
) -> (Option<&'t RawValue>, Result<Answer, Failure>) {
    let place = format!("line {number}");
    let fields = match Fields::parse(text, "") {
        Ok(fields) => fields,
        Err(failure) => return (None, Err(failure.at(&place))),
    };
    // An id that cannot be echoed is refused, so every other answer names its question.
    match id_of(&fields) {
        Ok(id) => (id, guarded(|| settle(&fields, context, &place))),
        Err(failure) => (None, Err(failure)),
    }
}

impl Asked {
    fn text(&self) -> Result<&str, Failure> {
        let place = format!("line {}", self.number);
        let bytes = self.bytes.as_ref().ok_or_else(|| Failure::new("longer than 1 GiB").at(&place))?;
        // Some editors put a byte order mark before the first line.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| self.number == 1).unwrap_or(bytes);
        match str::from_utf8(bytes) {
            Ok(text) => Ok(text.trim()),
            Err(e) => Err(Failure(format!("{place}: byte {} is not UTF-8", e.valid_up_to() + 1))),
        }
    }
}

fn id_of<'a>(fields: &Fields<'a>) -> Result<Option<&'a RawValue>, Failure> {
    let Some(raw) = fields.raw("id") else { return Ok(None) };
    match raw.get().as_bytes().first() {
        Some(b'"' | b'-' | b'0'..=b'9') => Ok(Some(raw)),
        Some(b'n') => Ok(None),
        _ => Err(Failure::new("id: neither a number nor a string")),
    }
}

/// A fault of ours in one line must not end the batch; the panic itself is told on stderr.
fn guarded(work: impl FnOnce() -> Result<Answer, Failure>) -> Result<Answer, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|fault: Box<dyn Any + Send>| {
        let said = fault.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| fault.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Failure(format!("internal error, please report it: {said}")))
    })
}

/// Reads the question and asks the library.
fn settle(fields: &Fields<'_>, context: &Context, place: &str) -> Result<Answer, Failure> {
    let ask: String = fields.get("ask")?.ok_or_else(|| unknown("ask: missing"))?;
    if !KNOWN.contains(&ask.as_str()) {
        return Err(unknown(&format!("ask: {ask:?} is not a question")));
    }
    check_names(fields, &ask, place)?;
    let settings = settings(fields, context.settings)?;
    let meshes = &LineMeshes::new(&context.meshes, settings.limit);
    let mut query = settings.query();
    match ask.as_str() {
        "ccd" => return moving(fields, query),
        "sweep" => return sweep(fields, meshes, query),
        "self" => return self_contacts(fields, meshes, query),
        _ => {}
    }
    let a = body(fields, "a", meshes)?;
    let at_a = a.shape.along(a.motion);
    if ask == "points" {
        let List(points) = fields.get("points")?.ok_or_else(|| Failure::new("points: missing"))?;
        return ask::points(query, at_a, &points);
    }
    if ask == "rays" {
        // The first hit is one of any.
        fields.get::<bool>("any")?;
        let List::<[f64; 6]>(rays) = fields.get("rays")?.ok_or_else(|| Failure::new("rays: missing"))?;
        let rays = rays.into_iter().enumerate();
        let rays = rays.map(|(i, ray)| ask::ray(ray).map_err(|e| e.at(&format!("rays: element {i}"))));
        return ask::rays(query, at_a, &rays.collect::<Result<Vec<_>, _>>()?);
    }
    let b = body(fields, "b", meshes)?;
    let at_b = b.shape.along(b.motion);
    match ask.as_str() {
        "relation" => ask::relation(&mut query, at_a, at_b),
        "distance" => ask::distance(&mut query, at_a, at_b),
        "volume" => volume(fields, query, at_a, at_b),
        "contacts" => contacts(fields, query, at_a, at_b),
        "separate" => ask::separate(query, at_a, at_b),
        _ => ask::pairs(&mut query, at_a, at_b, fields.get("margin")?),
    }
}

/// Where the bodies overlap or are near; open meshes have one side or two.
fn contacts(
    fields: &Fields<'_>,
    mut query: Query<'_>,
    a: Placed<'_>,
    b: Placed<'_>,
) -> Result<Answer, Failure> {
    query.one_sided = match fields.get::<Index>("sides")?.map(|sides| sides.0) {
        None | Some(2) => false,
        Some(1) => true,
        Some(sides) => return Err(Failure(format!("sides: {sides} is neither 1 nor 2"))),
    };
    ask::contacts(&mut query, a, b, fields.get("margin")?.unwrap_or(0.0))
}

/// How much two solids overlap. A wanted resolution or error is met by any exact answer; images keep to it.
fn volume(
    fields: &Fields<'_>,
    mut query: Query<'_>,
    a: Placed<'_>,
    b: Placed<'_>,
) -> Result<Answer, Failure> {
    let options = VolumeOptions {
        resolution: fields.get::<Index>("resolution")?.map(|pixels| pixels.0),
        error: fields.get("error")?,
        open: match fields.get::<String>("open")?.as_deref() {
            None => None,
            Some("half_space") => Some(OpenSurface::HalfSpace),
            Some("winding") => Some(OpenSurface::Winding),
            Some(other) => {
                return Err(Failure(format!("open: {other:?} is neither \"half_space\" nor \"winding\"")));
            }
        },
        ..VolumeOptions::default()
    };
    Ok(ask::volume(&mut query, a, b, options)?.0)
}

/// Refuses names that mean nothing in a question or in its bodies.
fn check_names(fields: &Fields<'_>, ask: &str, place: &str) -> Result<(), Failure> {
    let own = fields_of(ask);
    fields.only(&[&COMMON, own].concat()).map_err(|e| e.at(place))?;
    for name in ["a", "b"].into_iter().filter(|name| own.contains(name)) {
        if let Some(body) = fields.object(name)? {
            body.only(&[&shape::WORDS[..], fields_of_a_body(ask)].concat()).map_err(|e| e.at(place))?;
        }
    }
    Ok(())
}

/// Two features whose four points move along straight lines.
fn moving(fields: &Fields<'_>, query: Query<'_>) -> Result<Answer, Failure> {
    let kind: String = fields.get("kind")?.ok_or_else(|| Failure::new("kind: missing"))?;
    let kind = match kind.as_str() {
        "vf" => FeaturePairKind::VertexFace,
        "ee" => FeaturePairKind::EdgeEdge,
        _ => return Err(Failure(format!("kind: {kind:?} is neither \"vf\" nor \"ee\""))),
    };
    let points = |name: &str| -> Result<[[f64; 3]; 4], Failure> {
        fields.get(name)?.ok_or_else(|| Failure(format!("{name}: missing")))
    };
    let margin = fields.get("margin")?.unwrap_or(0.0);
    ask::moving_features(query, kind, [points("t0")?, points("t1")?], margin)
}

/// Two bodies that move.
fn sweep(fields: &Fields<'_>, meshes: &LineMeshes<'_>, mut query: Query<'_>) -> Result<Answer, Failure> {
    let [a, b] = [mover(fields, "a", meshes)?, mover(fields, "b", meshes)?];
    if let Some(word) = ["turns", "law"].into_iter().find(|word| fields.has(word))
        && !moves(fields)?
    {
        return Err(Failure(format!("{word} without \"to\": neither body moves")));
    }
    query.slack = fields.get("slack")?;
    query.surfaces = fields.get("surfaces")?.unwrap_or(false);
    query.tolerance = fields.get("tolerance")?.unwrap_or(query.tolerance);
    ask::sweep(query, a.shape.along(a.motion), b.shape.along(b.motion))
}

/// What a mesh meets of itself, at rest or on its way to a second state.
fn self_contacts(
    fields: &Fields<'_>,
    meshes: &LineMeshes<'_>,
    mut query: Query<'_>,
) -> Result<Answer, Failure> {
    let a = body(fields, "a", meshes)?;
    let Some(to) = fields.object("to")? else {
        if let Some(word) = ["all", "margin"].into_iter().find(|word| fields.has(word)) {
            return Err(Failure(format!("{word} without \"to\": the mesh does not move")));
        }
        return ask::self_intersections(&mut query, a.shape.along(a.motion));
    };
    to.only(&shape::WORDS)?;
    let to = shape::read(&to, "to", meshes)?;
    let mesh = |shape: &Shape, name: &str| {
        let other = || Failure(format!("{name}: a {} is no mesh", shape.kind()));
        shape.as_mesh().cloned().ok_or_else(other)
    };
    let step =
        Deforming::new(mesh(&a.shape, "a")?, mesh(&to, "to")?).map_err(|e| Failure::from(e).at("to"))?;
    let all = fields.get("all")?.unwrap_or(false);
    ask::self_contacts(query, &step, all, fields.get("margin")?.unwrap_or(0.0))
}

fn unknown(why: &str) -> Failure {
    Failure(format!("{why}; known are {}", KNOWN.join(", ")))
}

fn settings(fields: &Fields<'_>, default: Settings) -> Result<Settings, Failure> {
    let method: Option<String> = fields.get("method")?;
    let method = method.map(|name| name.parse::<Method>()).transpose()?;
    let limit = match fields.raw("budget").map(RawValue::get) {
        None | Some("null") => None,
        Some(text) if text.starts_with('"') => {
            let text: Option<String> = fields.get("budget")?;
            text.map(|text| Limit::parse(&text).map_err(|e| e.at("budget"))).transpose()?
        }
        Some(_) => fields.get("budget")?.map(Limit::Units),
    };
    Ok(Settings {
        method: method.unwrap_or(default.method),
        limit: limit.unwrap_or(default.limit),
        seed: fields.get("seed")?.unwrap_or(default.seed),
    })
}

/// A shape and how it moves.
struct Body {
    shape: Shape,
    motion: Motion,
}

/// A body at its pose.
fn body(question: &Fields<'_>, name: &str, meshes: &LineMeshes<'_>) -> Result<Body, Failure> {
    let fields = question.object(name)?.ok_or_else(|| Failure(format!("{name}: missing")))?;
    let motion = Motion::Still(shape::pose_of(&fields)?);
    Ok(Body { shape: shape::read(&fields, name, meshes)?, motion })
}

/// A body and how it moves; turns and law may stand on the body or, for both, on the line.
fn mover(question: &Fields<'_>, name: &str, meshes: &LineMeshes<'_>) -> Result<Body, Failure> {
    let fields = question.object(name)?.ok_or_else(|| Failure(format!("{name}: missing")))?;
    let to = pose::of_field(&fields, "to")?;
    let turns = of_body_or_both(&fields, question, "turns", |question| question.get::<Index>("turns"))?;
    let law = of_body_or_both(&fields, question, "law", |question| question.get::<String>("law"))?;
    let way = Way::new(turns.map_or(0, |Index(n)| n), law.as_deref().unwrap_or("uniform"))?;
    for word in ["turns", "law"] {
        if to.is_none() && fields.has(word) {
            return Err(
                fields.fail(&format!("{word} without \"to\": a body that stands still does not turn"))
            );
        }
    }
    let shape = shape::read(&fields, name, meshes)?;
    Ok(Body { shape, motion: way.motion(&shape::pose_of(&fields)?, to.as_ref()) })
}

/// What stands on a body or, for both, on the line: not one thing here and another there.
fn of_body_or_both<T: PartialEq>(
    body: &Fields<'_>,
    question: &Fields<'_>,
    word: &str,
    read: impl Fn(&Fields<'_>) -> Result<Option<T>, Failure>,
) -> Result<Option<T>, Failure> {
    match (read(body)?, read(question)?) {
        (Some(own), Some(of_both)) if own != of_both => {
            Err(body
                .fail(&format!("{word} is another on the line, where it is for both bodies; say it once")))
        }
        (own, of_both) => Ok(own.or(of_both)),
    }
}

/// Whether a body has a pose at the end of the step.
fn moves(question: &Fields<'_>) -> Result<bool, Failure> {
    for name in ["a", "b"] {
        if question.object(name)?.is_some_and(|body| body.has("to")) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[derive(Serialize)]
struct Line<'a, T> {
    schema: u32,
    id: Option<&'a RawValue>,
    #[serde(flatten)]
    body: T,
}

fn write(
    id: Option<&RawValue>,
    found: Result<Answer, Failure>,
    out: &mut Vec<u8>,
) -> Result<Answer, Failure> {
    let written = match &found {
        Ok(answer) => serde_json::to_writer(&mut *out, &Line { schema: SCHEMA, id, body: answer }),
        Err(Failure(error)) => {
            serde_json::to_writer(&mut *out, &Line { schema: SCHEMA, id, body: Refusal { error } })
        }
    };
    debug_assert!(written.is_ok(), "memory takes every answer");
    out.push(b'\n');
    found
}
