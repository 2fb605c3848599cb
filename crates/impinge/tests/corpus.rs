//! One corpus, all methods: every registered method that answers a question answers it for every case, within the
//! certainty that it states, and the others refuse it and name those that do. A new method inherits all cases.
//!
//! The cases are the JSON files in `tests/cases`; each says where its expected answer comes from. Shapes and poses
//! are written as in the program's questions. What is expected: `relation`; `distance`, signed where the contract
//! says so; `gap`, the true smallest distance where only the relation is asked for; `pairs`; `sweep`, a time or
//! `null`; `volume`.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use impinge::{
    Answer, Certainty, Error, Finish, Method, Motion, Placed, Pose, Query, Relation, Separation, Shape,
    ShapeKind, Sweep, Volume, VolumeOptions,
};
use serde_json::Value;

/// Relative error of a value that is exact to rounding.
const ROUNDING: f64 = 1e-12;

/// A shape with its pose at both ends of the step.
struct Body {
    shape: Shape,
    from: Pose,
    to: Pose,
}

impl Body {
    fn placed(&self) -> Placed<'_> {
        if self.from == self.to {
            return self.shape.at(self.from);
        }
        self.shape.along(Motion::between(&self.from, &self.to))
    }

    /// The size of its coordinates, which rounding errors go by.
    fn size(&self) -> f64 {
        let bounds = self.shape.bounds(&self.from);
        let size = bounds.low.abs().max(bounds.high.abs()).max_element();
        if size.is_finite() { size } else { 1.0 }
    }
}

struct Case {
    name: String,
    bodies: [Body; 2],
    expect: Value,
}

fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    let list = value.as_array().unwrap_or_else(|| panic!("{value} is no list"));
    assert_eq!(list.len(), N, "{value}");
    std::array::from_fn(|k| list[k].as_f64().unwrap())
}

fn points(value: &Value) -> Vec<[f64; 3]> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

fn indices<const N: usize>(value: &Value) -> Vec<[u32; N]> {
    value.as_array().unwrap().iter().map(|row| numbers(row).map(|x| x as u32)).collect()
}

fn pose(value: Option<&Value>) -> Option<Pose> {
    let value = value?;
    let rotation = value.get("rotation").map_or([0.0, 0.0, 0.0, 1.0], numbers);
    Some(Pose::new(numbers(&value["position"]), rotation).unwrap())
}

fn shape(spec: &Value) -> Result<Shape, Error> {
    if let Some(vertices) = spec.get("vertices") {
        return match spec.get("tetrahedra") {
            Some(tetrahedra) => Shape::tetrahedra(points(vertices), indices(tetrahedra)),
            None => Shape::mesh(points(vertices), indices(&spec["triangles"])),
        };
    }
    if let Some(particles) = spec.get("particles") {
        let radii: Vec<f64> = match spec.get("radii") {
            Some(radii) => radii.as_array().unwrap().iter().map(|r| r.as_f64().unwrap()).collect(),
            None => vec![spec["radius"].as_f64().unwrap()],
        };
        return Shape::particles(points(particles), &radii);
    }
    let known = |key: &&str| spec.get(*key).is_some();
    let round = |value: &Value, make: fn(f64, f64) -> Result<Shape, Error>| {
        make(value["radius"].as_f64().unwrap(), value["half_height"].as_f64().unwrap())
    };
    let kinds =
        ["hull", "sphere", "box", "capsule", "cylinder", "cone", "ellipsoid", "halfspace", "triangle"];
    let key = kinds.into_iter().chain(["segment", "compound"]).find(known).expect("no known kind");
    let value = &spec[key];
    match key {
        "hull" => Shape::hull(points(value)),
        "sphere" => Shape::sphere(value.as_f64().unwrap()),
        "box" => Shape::cuboid(numbers::<3>(value)),
        "capsule" => round(value, Shape::capsule),
        "cylinder" => round(value, Shape::cylinder),
        "cone" => round(value, Shape::cone),
        "ellipsoid" => Shape::ellipsoid(numbers::<3>(value)),
        "halfspace" => Shape::half_space(numbers::<3>(&value["normal"]), value["offset"].as_f64().unwrap()),
        "triangle" => Shape::triangle(<[[f64; 3]; 3]>::try_from(points(value)).unwrap()),
        "segment" => Shape::segment(<[[f64; 3]; 2]>::try_from(points(value)).unwrap()),
        _ => {
            let part = |part: &Value| (shape(part).unwrap(), pose(part.get("pose")).unwrap());
            Shape::compound(value.as_array().unwrap().iter().map(part))
        }
    }
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let data: Value = serde_json::from_str(&text).unwrap();
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        for case in data["cases"].as_array().unwrap() {
            let name = format!("{stem}: {}", case["name"].as_str().unwrap());
            assert!(!case["source"].as_str().unwrap().is_empty(), "{name}: where is it from?");
            let body = |key: &str| {
                let spec = &data["shapes"][case[key]["shape"].as_str().unwrap()];
                let from = pose(case[key].get("pose")).unwrap_or(Pose::IDENTITY);
                let to = pose(case[key].get("to")).unwrap_or(from);
                Body { shape: shape(spec).unwrap_or_else(|e| panic!("{name}: {e}")), from, to }
            };
            all.push(Case { bodies: [body("a"), body("b")], expect: case["expect"].clone(), name });
        }
    }
    all
}

/// Asks every method; returns what those that accept the question answered. The others must refuse and name them.
fn ask_all<T>(
    case: &Case,
    ask: impl Fn(&mut Query<'_>) -> Result<Answer<T>, Error>,
) -> Vec<(Method, Answer<T>)> {
    let mut answers = Vec::new();
    let mut refusals = Vec::new();
    for &method in [Method::Auto].iter().chain(Method::ALL) {
        match ask(&mut Query { method, ..Query::default() }) {
            Ok(answer) => {
                assert!(Method::ALL.contains(&answer.method), "{}, {method}", case.name);
                assert!(answer.finish == Finish::Complete, "{}, {method}: {:?}", case.name, answer.finish);
                assert!(answer.value.is_some() && answer.so_far.is_none(), "{}, {method}", case.name);
                answers.push((method, answer));
            }
            Err(Error::Unanswered { methods, .. }) => refusals.push((method, methods)),
            Err(other) => panic!("{}, {method}: {other}", case.name),
        }
    }
    let able: Vec<&str> =
        answers.iter().map(|(method, _)| method.name()).filter(|name| *name != "auto").collect();
    for (method, named) in refusals {
        assert_eq!(named, able, "{}, {method} names other methods than those that answer", case.name);
    }
    answers
}

/// The expected relation by its word.
fn relation_of(word: &str) -> Relation {
    match word {
        "separated" => Relation::Separated,
        "touching" => Relation::Touching,
        "intersecting" => Relation::Intersecting,
        "a_inside_b" => Relation::AInsideB,
        "b_inside_a" => Relation::BInsideA,
        other => panic!("{other} is no relation"),
    }
}

/// Exact: equal. Conservative: contact stays contact, and what is farther apart than the tolerance stays apart.
fn check_relation(case: &Case, method: Method, answer: &Answer<Relation>, want: Relation) {
    let found = answer.value.unwrap();
    let said = format!("{}, {method}: {found:?} ({:?}), not {want:?}", case.name, answer.certainty);
    let gap = ["distance", "gap"].iter().find_map(|key| case.expect.get(*key)?.as_f64());
    match answer.certainty {
        Certainty::Exact => assert_eq!(found, want, "{said}"),
        Certainty::Conservative { tolerance } | Certainty::Approximate { resolution: tolerance } => {
            // What errs to either side has to be nearly exact; what errs to one states by how much.
            let small = 1e-6 * case.bodies.iter().map(Body::size).fold(0.0, f64::max);
            let one_sided = matches!(answer.certainty, Certainty::Conservative { .. });
            assert!(one_sided || tolerance <= small, "{said}");
            if want.is_contact() {
                assert!(found.is_contact(), "{said}");
            } else {
                assert!(found == want || gap.is_none_or(|gap| gap <= tolerance), "{said}");
            }
        }
        other => panic!("{}, {method}: no check is written for {other:?}", case.name),
    }
}

/// Exact: to rounding. Conservative: never too small, and too large by the tolerance at most.
fn check_distance(case: &Case, method: Method, answer: &Answer<Separation>, want: f64) {
    let found = answer.value.unwrap();
    let said = format!("{}, {method}: {} ({:?}), not {want}", case.name, found.distance, answer.certainty);
    let rounding = ROUNDING * case.bodies.iter().map(Body::size).fold(want.abs(), f64::max);
    let error = found.distance - want;
    match answer.certainty {
        Certainty::Exact => assert!(error.abs() <= rounding, "{said}"),
        Certainty::Conservative { tolerance } => {
            assert!(error >= -rounding && error <= tolerance + rounding, "{said}");
        }
        Certainty::Approximate { resolution } => assert!(error.abs() <= resolution + rounding, "{said}"),
        other => panic!("{}, {method}: no check is written for {other:?}", case.name),
    }
    let [p, q] = found.points;
    let between = q - p - found.normal * found.distance;
    // Around the closest points of curved surfaces a distance grows with the square of the way along them.
    let size = case.bodies.iter().map(Body::size).fold(0.0, f64::max);
    let slop = slop(&answer.certainty);
    assert!(between.length() <= 1e3 * rounding + slop + (slop * size).sqrt(), "{said}: {p} and {q}");
}

/// The error that the certainty admits (a length).
fn slop(certainty: &Certainty) -> f64 {
    match certainty {
        Certainty::Conservative { tolerance } => *tolerance,
        Certainty::Approximate { resolution } => *resolution,
        _ => 0.0,
    }
}

/// Never late, at most the stated tolerance early, or early by the stated slack of the surfaces.
fn check_sweep(case: &Case, method: Method, answer: &Answer<Sweep>, want: Option<f64>) {
    let found = answer.value.unwrap();
    let said = format!("{}, {method}: {found:?}, not {want:?}", case.name);
    let Some(want) = want else {
        assert!(found.impact.is_none() && found.free_until == 1.0, "{said}");
        return;
    };
    let impact = found.impact.unwrap_or_else(|| panic!("{said}"));
    let Certainty::Conservative { tolerance } = answer.certainty else { panic!("{said}") };
    // Every case has a speed of one length a step at least, so that the slack is passed in this time.
    assert!(impact.time <= want + ROUNDING, "late: {said}");
    assert!(impact.time >= want - tolerance - found.slack, "early: {said}");
    assert!(found.free_until <= impact.time && found.free_until >= impact.time - tolerance, "{said}");
}

/// Within the stated error, which is rounding where the method is exact; the regions add up to it.
fn check_volume(case: &Case, method: Method, answer: &Answer<Volume>, want: f64) {
    let found = answer.value.as_ref().unwrap();
    let said = format!("{}, {method}: {} ± {}, not {want}", case.name, found.volume, found.error);
    let size = case.bodies.iter().map(Body::size).fold(0.0, f64::max);
    let rounding = ROUNDING * size * size * size;
    assert!((found.volume - want).abs() <= found.error + rounding, "{said}");
    assert!(answer.certainty != Certainty::Exact || found.error <= rounding, "{said}");
    let regions: f64 = found.regions.iter().map(|region| region.volume).sum();
    assert!((regions - found.volume).abs() <= found.error + rounding, "{said}: regions of {regions}");
}

/// Asks all that the case expects, in both orders, and counts the answers by question.
fn run(case: &Case, asked: &mut [usize; 5]) {
    let [a, b] = [case.bodies[0].placed(), case.bodies[1].placed()];
    if let Some(word) = case.expect.get("relation") {
        let want = relation_of(word.as_str().unwrap());
        for (bodies, want) in [([a, b], want), ([b, a], want.swapped())] {
            for (method, answer) in ask_all(case, |query| query.relation(bodies[0], bodies[1])) {
                check_relation(case, method, &answer, want);
                asked[0] += 1;
            }
        }
    }
    if let Some(want) = case.expect.get("distance") {
        for bodies in [[a, b], [b, a]] {
            for (method, answer) in ask_all(case, |query| query.distance(bodies[0], bodies[1])) {
                check_distance(case, method, &answer, want.as_f64().unwrap());
                asked[1] += 1;
            }
        }
    }
    if let Some(want) = case.expect.get("pairs") {
        let want: Vec<[u32; 2]> = indices(want);
        for (method, answer) in ask_all(case, |query| query.pairs(a, b)) {
            assert_eq!(answer.value.as_ref(), Some(&want), "{}, {method}", case.name);
            assert_eq!(answer.certainty, Certainty::Exact, "{}, {method}", case.name);
            asked[2] += 1;
        }
    }
    if let Some(want) = case.expect.get("sweep") {
        for bodies in [[a, b], [b, a]] {
            for (method, answer) in ask_all(case, |query| query.sweep(bodies[0], bodies[1])) {
                check_sweep(case, method, &answer, want.as_f64());
                asked[3] += 1;
            }
        }
    }
    if let Some(want) = case.expect.get("volume") {
        for bodies in [[a, b], [b, a]] {
            let options = VolumeOptions { resolution: Some(64), ..VolumeOptions::default() };
            let ask = |query: &mut Query<'_>| query.volume(bodies[0], bodies[1], options);
            for (method, answer) in ask_all(case, ask) {
                check_volume(case, method, &answer, want.as_f64().unwrap());
                asked[4] += 1;
            }
        }
    }
}

#[test]
fn every_method_answers_every_case_within_its_certainty() {
    let cases = cases();
    let mut asked = [0; 5];
    // All cases are asked, so that one run names every one that fails.
    let failed: Vec<&str> = cases
        .iter()
        .filter(|case| catch_unwind(AssertUnwindSafe(|| run(case, &mut asked))).is_err())
        .map(|case| case.name.as_str())
        .collect();
    assert!(failed.is_empty(), "{} cases: {failed:#?}", failed.len());
    assert!(cases.len() >= 60 && asked.iter().all(|&n| n > 100), "{} cases, {asked:?}", cases.len());
}

#[test]
fn the_corpus_has_every_pair_of_kinds_and_each_case_a_name_of_its_own() {
    let cases = cases();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len());
    let mut seen = BTreeSet::new();
    for Case { bodies: [a, b], .. } in &cases {
        seen.extend([[a.shape.kind(), b.shape.kind()], [b.shape.kind(), a.shape.kind()]]);
    }
    let kinds: BTreeSet<ShapeKind> = seen.iter().map(|[kind, _]| *kind).collect();
    assert_eq!((kinds.len(), seen.len()), (14, 14 * 14));
}
