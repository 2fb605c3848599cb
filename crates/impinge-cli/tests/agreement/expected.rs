//! What the program must say, from the library's answers.

use impinge::glam::DVec3;
use impinge::{
    Answer, Budget, Certainty, Contact, ContactKind, Deforming, Error, Feature, FeaturePairKind, Finish,
    MovingContact, Placed, Query, Ray, Relation, Sweep, VolumeErrorKind, VolumeOptions,
};
use serde_json::{Map, Value, json};

use crate::questions::{Body, Question, RESOLUTION, What, fields};

/// The fields, and whether something was hit.
type Fields = (Map<String, Value>, bool);

/// The library's answer as the contract has it.
pub fn answer(question: &Question) -> Result<Fields, Error> {
    let budget = question.units.map_or(Budget::UNLIMITED, Budget::units);
    let mut query = Query { method: question.method, budget, seed: question.seed, ..Query::default() };
    match &question.what {
        What::Relation([a, b]) => {
            let found = query.relation(a.placed(), b.placed())?;
            let hit = found.value.is_some_and(Relation::is_contact);
            let mut fields = with(json!({"relation": found.value.map(word)}), &found);
            if found.value == Some(Relation::Separated) {
                open(&mut query, &mut fields, [a.placed(), b.placed()])?;
            }
            Ok((fields, hit))
        }
        What::Distance([a, b]) => distance(&mut query, a.placed(), b.placed()),
        What::Pairs([a, b], margin) => {
            let found = match margin {
                None => query.pairs(a.placed(), b.placed())?,
                Some(margin) => query.pairs_within(a.placed(), b.placed(), *margin)?,
            };
            let mut fields = pairs(&found);
            if let Some(margin) = margin {
                fields.0.insert("margin".into(), json!(margin));
            }
            Ok(fields)
        }
        What::Sweep([a, b]) => sweep(&mut query, a, b),
        What::Volume([a, b]) => volume(&mut query, a, b),
        What::Contacts { bodies: [a, b], margin, one_sided } => {
            query.one_sided = *one_sided;
            contacts(&mut query, a, b, *margin)
        }
        What::Separate([a, b]) => {
            let found = query.separate(a.placed(), b.placed())?;
            let told = found.value;
            let fields = json!({
                "translation": told.map(|told| told.translation.to_array()),
                "length": told.map(|told| told.length),
                "at_least": told.map(|told| told.at_least),
            });
            let mut fields = with(fields, &found);
            if let Some(told) = found.so_far {
                fields.insert("at_most".into(), json!(told.length));
            }
            if let Some(told) = told {
                open(&mut query, &mut fields, [a.placed(), b.placed().shifted(told.translation)])?;
            }
            Ok((fields, told.is_some_and(|told| told.length > 0.0)))
        }
        What::Rays(a, rays) => ray_hits(&mut query, a, rays),
        What::Points(a, points) => {
            let points: Vec<DVec3> = points.iter().copied().map(DVec3::from).collect();
            let found = query.signed_distance_batch(a.placed(), &points)?;
            let told = found.value.as_ref().or(found.so_far.as_ref()).cloned().unwrap_or_default();
            let fields = json!({
                "distances": told.iter().map(|p| p.distance).collect::<Vec<_>>(),
                "inside": told.iter().map(|p| p.inside).collect::<Vec<_>>(),
                "closest": told.iter().map(|p| p.point.to_array()).collect::<Vec<_>>(),
                "features": told.iter().map(|p| named(p.feature)).collect::<Vec<_>>(),
            });
            let mut fields = with(fields, &found);
            if found.value.is_some() && query.open_around_points(a.placed(), &points)? {
                tell_open(&mut fields, &[("a", a.placed(), "points lie")]);
            }
            Ok((fields, told.iter().any(|p| p.inside)))
        }
        What::Ccd(kind, [t0, t1], margin) => {
            let found = query.moving_features(*kind, t0, t1, *margin)?;
            let hit = found.value.map(|time| time.is_some());
            let fields = json!({"hit": hit, "time": found.value.flatten()});
            Ok((in_units_of_time(with(fields, &found), *margin), hit == Some(true)))
        }
        What::Meets(a) => Ok(pairs(&query.self_intersections(a.placed())?)),
        What::Step { ends: [t0, t1], all, margin } => {
            let mesh = Deforming::new(t0.clone(), t1.clone())?;
            step(&mut query, &mesh, *all, *margin)
        }
    }
}

impl Body {
    fn placed(&self) -> Placed<'_> {
        self.shape.along(self.motion)
    }
}

fn pairs(found: &Answer<Vec<[u32; 2]>>) -> Fields {
    let list = found.value.as_ref().or(found.so_far.as_ref()).cloned().unwrap_or_default();
    let fields = match found.value {
        Some(_) => json!({"count": list.len(), "pairs": list}),
        None => json!({"count": null, "at_least": list.len(), "pairs": list}),
    };
    (with(fields, found), !list.is_empty())
}

fn distance(query: &mut Query<'_>, a: Placed<'_>, b: Placed<'_>) -> Result<Fields, Error> {
    query.with_relation = true;
    let found = query.distance(a, b)?;
    let told = found.value.or(found.so_far).filter(|told| told.distance.is_finite());
    let whole = found.value.and(told);
    let mut fields = with(
        json!({
            "distance": whole.map(|told| told.distance),
            "points": told.map(|told| told.points.map(|p| p.to_array())),
            "features": told.map(|told| told.features.map(named)),
            "normal": told.and_then(|told| direction(told.normal)),
        }),
        &found,
    );
    if let Some(relation) = found.relation {
        fields.insert("relation".into(), json!(word(relation)));
    }
    if found.value.is_some() && !found.is_contact() {
        open(query, &mut fields, [a, b])?;
    }
    if found.value.is_none() {
        let bracket = [("at_most", found.at_most()), ("at_least", found.at_least())];
        fields.extend(bracket.map(|(name, x)| (name.to_string(), json!(x))));
    }
    Ok((fields, found.is_contact()))
}

/// Which bodies are open meshes that the other may lie within.
fn open(
    query: &mut Query<'_>,
    fields: &mut Map<String, Value>,
    [a, b]: [Placed<'_>; 2],
) -> Result<(), Error> {
    let around = query.open_around(a, b)?;
    let bodies = [("a", a, "b lies"), ("b", b, "a lies")];
    let told = bodies.into_iter().zip(around).filter_map(|(body, told)| told.then_some(body));
    tell_open(fields, &told.collect::<Vec<_>>());
    Ok(())
}

fn tell_open(fields: &mut Map<String, Value>, bodies: &[(&str, Placed<'_>, &str)]) {
    let known = bodies.iter().filter_map(|(name, body, others)| {
        let [open, all] = body.shape().open_components()?;
        let parts =
            if open == all { String::new() } else { format!(" ({open} of {all} connected parts open)") };
        let says = "and has no inside: whether";
        Some((*name, format!("{name} is an open mesh{parts} {says} {others} within it is not decided")))
    });
    let (names, notes): (Vec<_>, Vec<_>) = known.unzip();
    if !names.is_empty() {
        fields.insert("open".into(), json!(names));
        fields.insert("note".into(), json!(notes.join("; ")));
    }
}

fn sweep(query: &mut Query<'_>, a: &Body, b: &Body) -> Result<Fields, Error> {
    let found: Answer<Sweep> = query.sweep(a.placed(), b.placed())?;
    let told = found.value.or(found.so_far);
    let impact = told.and_then(|told| told.impact);
    let kind = |kind: ContactKind| match kind {
        ContactKind::VertexFace => "vf".to_string(),
        ContactKind::FaceVertex => "fv".to_string(),
        ContactKind::EdgeEdge => "ee".to_string(),
        ContactKind::Inside => "inside".to_string(),
        _ => format!("{}-{}", a.shape.kind(), b.shape.kind()),
    };
    let fields = json!({
        "hit": found.value.map(|found| found.impact.is_some()),
        "time": impact.map(|impact| impact.time),
        "kind": impact.map(|impact| kind(impact.kind)),
        "features": impact.map(|impact| impact.features.map(named)),
        "point": impact.map(|impact| impact.point.to_array()),
        "normal": impact.and_then(|impact| direction(impact.normal)),
        "proved": impact.map(|impact| impact.proved),
        "free_until": told.map_or(0.0, |told| told.free_until),
        "slack": told.map(|told| told.slack),
    });
    let mut fields = with(fields, &found);
    fields.entry("tolerance").or_insert_with(|| json!(query.tolerance));
    if found.value.is_some() && impact.is_none_or(|impact| impact.time > 0.0) {
        open(query, &mut fields, [a.placed(), b.placed()])?;
    }
    Ok((fields, impact.is_some()))
}

fn volume(query: &mut Query<'_>, a: &Body, b: &Body) -> Result<Fields, Error> {
    let options = VolumeOptions { resolution: Some(RESOLUTION), ..VolumeOptions::default() };
    let found = query.volume(a.placed(), b.placed(), options)?;
    let told = found.value.as_ref();
    let patches = told.into_iter().flat_map(|told| &told.regions).map(|one| {
        let region = one.region;
        json!({
            "volume": one.volume,
            "centroid": region.centroid.to_array(),
            "normal": direction(region.normal),
            "area": region.area,
            "depth": region.depth,
        })
    });
    let fields = json!({
        "volume": told.map(|told| told.volume),
        "volume_error": told.map(|told| told.error),
        "error_kind": told.map(|told| if told.error_kind == VolumeErrorKind::Bound { "bound" } else { "estimate" }),
        "patches": patches.collect::<Vec<_>>(),
    });
    Ok((with(fields, &found), told.is_some_and(|told| told.volume > 0.0)))
}

fn contacts(query: &mut Query<'_>, a: &Body, b: &Body, margin: f64) -> Result<Fields, Error> {
    let found = query.contacts(a.placed(), b.placed(), margin)?;
    let list = found.value.as_ref().map(|all| {
        let place = |contact: &Contact| {
            let mut place = fields(json!({
                "point": contact.point().to_array(),
                "points": contact.points.map(|p| p.to_array()),
                "normal": contact.normal.to_array(),
                "depth": contact.depth,
                "area": contact.area,
                "features": contact.features.map(named),
                "id": contact.id,
            }));
            if let Some(least) = found.depth_at_least(contact) {
                place.insert("depth_at_least".into(), json!(least));
            }
            place
        };
        all.iter().map(place).collect::<Vec<_>>()
    });
    let hit = list.as_ref().is_some_and(|list| !list.is_empty());
    let mut fields = with(json!({"contacts": list}), &found);
    if found.value.as_ref().is_some_and(|all| all.iter().all(|contact| contact.depth < 0.0)) {
        open(query, &mut fields, [a.placed(), b.placed()])?;
    }
    Ok((fields, hit))
}

fn ray_hits(query: &mut Query<'_>, a: &Body, rays: &[[f64; 6]]) -> Result<Fields, Error> {
    let ray = |&[ox, oy, oz, dx, dy, dz]: &[f64; 6]| Ray::new([ox, oy, oz], [dx, dy, dz]);
    let rays: Vec<Ray> = rays.iter().map(ray).collect::<Result<_, _>>()?;
    let found = query.ray_cast_batch(a.placed(), &rays)?;
    let told = found.value.as_ref().or(found.so_far.as_ref()).cloned().unwrap_or_default();
    let hits = told.iter().map(|hit| {
        hit.map(|hit| {
            json!({
                "t": hit.t,
                "point": hit.point.to_array(),
                "normal": hit.normal.to_array(),
                "feature": named(hit.feature),
            })
        })
    });
    let fields = json!({"hits": hits.collect::<Vec<_>>()});
    Ok((with(fields, &found), told.iter().any(Option::is_some)))
}

fn step(query: &mut Query<'_>, mesh: &Deforming, all: bool, margin: f64) -> Result<Fields, Error> {
    let found = match all {
        true => query.self_contacts(mesh, margin)?,
        false => query.first_self_contact(mesh, margin)?.map(|first| first.into_iter().collect()),
    };
    let told: Vec<MovingContact> =
        found.value.as_ref().or(found.so_far.as_ref()).cloned().unwrap_or_default();
    let first = told.iter().min_by(|a, b| a.time.total_cmp(&b.time)).filter(|_| found.value.is_some());
    let list = |kind: FeaturePairKind| {
        let these = told.iter().filter(|contact| contact.kind == kind);
        these.map(|c| json!({"vertices": c.vertices, "time": c.time})).collect::<Vec<_>>()
    };
    let complete = found.value.is_some();
    let mut fields = with(
        json!({
            "hit": complete.then_some(first.is_some()),
            "time": first.map(|first| first.time),
            "free_step": complete.then(|| impinge::free_step(first)),
        }),
        &found,
    );
    if let Some(first) = first {
        let vf = first.kind == FeaturePairKind::VertexFace;
        fields.insert("kind".into(), json!(if vf { "vf" } else { "ee" }));
        fields.insert("vertices".into(), json!(first.vertices));
    }
    if !complete {
        fields.insert("at_least".into(), json!(told.len()));
    }
    if all || !complete {
        fields.insert("vf".into(), json!(list(FeaturePairKind::VertexFace)));
        fields.insert("ee".into(), json!(list(FeaturePairKind::EdgeEdge)));
    }
    Ok((in_units_of_time(fields, margin), !told.is_empty()))
}

/// The tolerance of a margin is a length, and is called slack.
fn in_units_of_time(mut fields: Map<String, Value>, margin: f64) -> Map<String, Value> {
    if margin > 0.0 {
        let length = fields.remove("tolerance");
        fields.extend(length.map(|length| ("slack".to_string(), length)));
    }
    fields
}

/// The fields with method, certainty and end.
fn with<T>(fields: Value, found: &Answer<T>) -> Map<String, Value> {
    let Value::Object(mut fields) = fields else { return Map::new() };
    let finish = match found.finish {
        Finish::Complete => "complete",
        Finish::OutOfBudget => "out_of_budget",
        _ => "stopped",
    };
    let (certainty, beside) = match found.certainty {
        Certainty::Conservative { tolerance } => ("conservative", Some(("tolerance", json!(tolerance)))),
        Certainty::Approximate { resolution } => ("approximate", Some(("resolution", json!(resolution)))),
        Certainty::Sampled { samples } => ("sampled", Some(("samples", json!(samples)))),
        _ => ("exact", None),
    };
    fields.insert("method".into(), json!(found.method.name()));
    fields.insert("finish".into(), json!(finish));
    fields.insert("certainty".into(), json!(found.value.as_ref().map(|_| certainty)));
    if let (Some((name, value)), Some(_)) = (beside, &found.value) {
        fields.insert(name.into(), value);
    }
    if let (Some(sampling), None) = (found.sampling, &found.value) {
        fields.insert("coverage".into(), json!(sampling.coverage));
        fields.insert("miss_probability".into(), json!(sampling.miss_probability));
    }
    fields
}

fn direction(normal: DVec3) -> Option<[f64; 3]> {
    (normal != DVec3::ZERO).then(|| normal.to_array())
}

fn named(feature: Feature) -> Value {
    match feature {
        Feature::Vertex(v) => json!({"vertex": v}),
        Feature::Edge(ends) => json!({"edge": ends}),
        Feature::Face(face) => json!({"face": face}),
        _ => json!({"surface": true}),
    }
}

fn word(relation: Relation) -> &'static str {
    match relation {
        Relation::Separated => "separated",
        Relation::Touching => "touching",
        Relation::Intersecting => "intersecting",
        Relation::AInsideB => "a_inside_b",
        Relation::BInsideA => "b_inside_a",
    }
}
