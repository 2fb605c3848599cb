//! One line of a batch: a question in, an answer or a refusal out.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str;

use impinge::motion::Law;
use impinge::{Pose, Shape};
use serde::Serialize;
use serde_json::value::RawValue;

use super::fields::{Fields, Index, List};
use super::meshes::Meshes;
use super::ordered::Asked;
use super::shape;
use crate::answer::{Answer, Refusal, SCHEMA};
use crate::ask::{self, PlacedModel};
use crate::ask_moving;
use crate::ask_shapes::{self, PlacedShape};
use crate::ask_sweep::{self, MovingModel, Way};
use crate::error::Failure;
use crate::pose;
use crate::settings::{Limit, Method, Settings};

/// The questions that are answered.
const KNOWN: [&str; 6] = ["relation", "pairs", "distance", "points", "sweep", "ccd"];

/// Questions of the contract that are not answered yet.
const LATER: [&str; 1] = ["volume"];

/// Fields that every question may have; a comment is for people.
const COMMON: [&str; 6] = ["id", "ask", "method", "budget", "seed", "comment"];

/// Fields of a question besides.
fn fields_of(ask: &str) -> &'static [&'static str] {
    match ask {
        "pairs" => &["a", "b", "margin"],
        "points" => &["a", "points"],
        "sweep" => &["a", "b", "tolerance", "slack", "turns", "law"],
        "ccd" => &["kind", "t0", "t1", "margin"],
        _ => &["a", "b"],
    }
}

/// Fields of a body besides its shape.
const OF_A_BODY: [&str; 4] = ["pose", "to", "turns", "law"];

/// What every line of a batch shares.
#[derive(Debug)]
pub struct Context {
    /// The meshes loaded so far.
    pub meshes: Meshes,
    /// Method, budget and seed where a line names none.
    pub settings: Settings,
}

/// Appends the answer to one line; blank lines have none.
pub fn answer(asked: &Asked, context: &Context, out: &mut Vec<u8>) -> Option<Result<Answer, Failure>> {
    let text = match asked.text() {
        Ok("") => return None,
        Ok(text) => text,
        Err(failure) => return Some(write(None, Err(failure), out)),
    };
    let place = format!("line {}", asked.number);
    let fields = match Fields::parse(text, "") {
        Ok(fields) => fields,
        Err(failure) => return Some(write(None, Err(failure.at(&place)), out)),
    };
    // An id that cannot be echoed is refused, so every other answer names its question.
    let (id, found) = match id_of(&fields) {
        Ok(id) => (id, guarded(|| settle(&fields, context, &place))),
        Err(failure) => (None, Err(failure)),
    };
    Some(write(id, found, out))
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
        let why = if LATER.contains(&&*ask) { "is not answered yet" } else { "is not a question" };
        return Err(unknown(&format!("ask: {ask:?} {why}")));
    }
    check_names(fields, &ask, place)?;
    let settings = settings(fields, context.settings)?;
    if ask != "sweep" {
        settings.method.refuse_contact(&format!("the question {ask:?}"))?;
    }
    if ask == "ccd" {
        return moving(fields, &settings);
    }
    if ask == "sweep" {
        let [a, b] = [mover(fields, "a", context)?, mover(fields, "b", context)?];
        if let Some(word) = ["turns", "law"].into_iter().find(|word| fields.has(word))
            && !moves(fields)?
        {
            return Err(Failure(format!("{word} without \"to\": neither body moves")));
        }
        let options = ask_sweep::options(fields.get("tolerance")?, fields.get("slack")?)?;
        return ask_sweep::sweep(&a, &b, &options, &settings);
    }
    let a = body(fields, "a", context)?;
    if ask == "points" {
        let List(points) = fields.get("points")?.ok_or_else(|| Failure::new("points: missing"))?;
        let found = match mesh(&a) {
            Some(a) => ask::points(&a, &points, &settings),
            None => ask_shapes::points(&a, &points, &settings),
        };
        return found.map_err(|e| e.at("points"));
    }
    let b = body(fields, "b", context)?;
    match (ask.as_str(), mesh(&a), mesh(&b)) {
        ("relation", Some(a), Some(b)) => ask::relation(&a, &b, &settings),
        ("relation", ..) => ask_shapes::relation(&a, &b, &settings),
        ("distance", Some(a), Some(b)) => ask::distance(&a, &b, &settings),
        ("distance", ..) => ask_shapes::distance(&a, &b, &settings),
        (_, Some(a), Some(b)) => ask::pairs(&a, &b, margin(fields)?, &settings),
        (_, a_mesh, _) => {
            let (name, other) = if a_mesh.is_none() { ("a", &a) } else { ("b", &b) };
            let why = "has no triangles; pairs are answered for two meshes";
            Err(Failure(format!("{name}: a {} {why}", other.shape.kind())))
        }
    }
}

/// Refuses names that mean nothing in a question or in its bodies.
fn check_names(fields: &Fields<'_>, ask: &str, place: &str) -> Result<(), Failure> {
    let own = fields_of(ask);
    fields.only(&[&COMMON, own].concat()).map_err(|e| e.at(place))?;
    for name in ["a", "b"].into_iter().filter(|name| own.contains(name)) {
        if let Some(body) = fields.object(name)? {
            body.only(&[&shape::WORDS[..], &OF_A_BODY].concat()).map_err(|e| e.at(place))?;
        }
    }
    Ok(())
}

/// Two features whose four points move along straight lines.
fn moving(fields: &Fields<'_>, settings: &Settings) -> Result<Answer, Failure> {
    let kind: String = fields.get("kind")?.ok_or_else(|| Failure::new("kind: missing"))?;
    let kind = ask_moving::kind(&kind).map_err(|e| e.at("kind"))?;
    let points = |name: &str| -> Result<[[f64; 3]; 4], Failure> {
        let missing = || Failure(format!("{name}: missing"));
        let points: [[f64; 3]; 4] = fields.get(name)?.ok_or_else(missing)?;
        ask::check_points(&points).map_err(|e| e.at(name))?;
        Ok(points)
    };
    let margin = margin(fields)?.unwrap_or(0.0);
    ask_moving::features(kind, [points("t0")?, points("t1")?], margin, settings)
}

fn unknown(why: &str) -> Failure {
    Failure(format!("{why}; known are {}", KNOWN.join(", ")))
}

fn settings(fields: &Fields<'_>, default: Settings) -> Result<Settings, Failure> {
    let method: Option<String> = fields.get("method")?;
    let method = method.map(|name| Method::named(&name).map_err(|e| e.at("method"))).transpose()?;
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

fn margin(fields: &Fields<'_>) -> Result<Option<f64>, Failure> {
    match fields.get::<f64>("margin")? {
        // The comparison is false for NaN.
        Some(d) if !(d >= 0.0) => Err(Failure(format!("margin: {d} is negative"))),
        other => Ok(other),
    }
}

fn body(question: &Fields<'_>, name: &str, context: &Context) -> Result<PlacedShape, Failure> {
    let fields = question.object(name)?.ok_or_else(|| Failure(format!("{name}: missing")))?;
    let pose = fields.object("pose")?.map_or(Ok(Pose::IDENTITY), |p| pose::from_json(&p))?;
    Ok(PlacedShape { shape: shape::read(&fields, name, &context.meshes)?, pose })
}

/// A body and how it moves; turns and law may stand on the body or, for both, on the line.
fn mover(question: &Fields<'_>, name: &str, context: &Context) -> Result<MovingModel, Failure> {
    let PlacedShape { shape, pose } = body(question, name, context)?;
    let fields = question.object(name)?.ok_or_else(|| Failure(format!("{name}: missing")))?;
    let to = fields.object("to")?.map(|to| pose::from_json(&to)).transpose()?;
    let turns = match fields.get::<Index>("turns")? {
        Some(turns) => Some(turns),
        None => question.get::<Index>("turns")?,
    };
    let law = match fields.get::<String>("law")? {
        Some(law) => Some(law),
        None => question.get::<String>("law")?,
    };
    let law = law.map_or(Ok(Law::default()), |law| Way::law(&law))?;
    let way = Way::new(turns.map_or(0, |Index(n)| n), law)?;
    for word in ["turns", "law"] {
        if to.is_none() && fields.has(word) {
            return Err(
                fields.fail(&format!("{word} without \"to\": a body that stands still does not turn"))
            );
        }
    }
    Ok(MovingModel { shape, motion: way.motion(&pose, to.as_ref()) })
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

/// The body as a mesh, if it is one.
fn mesh(body: &PlacedShape) -> Option<PlacedModel<'_>> {
    match &body.shape {
        Shape::Mesh(model) => Some(PlacedModel { model, pose: body.pose }),
        _ => None,
    }
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
