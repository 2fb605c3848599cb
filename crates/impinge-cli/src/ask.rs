//! The questions, asked of the library: a parsed question becomes one call, the answer its JSON fields.
//!
//! Nothing is decided here: method, refusals and values are the library's.

use glam::DVec3;
use impinge::{
    Contact, ContactKind, Deforming, FeaturePairKind, MovingContact, Overlap, Placed, Query, Ray, Region,
    Relation, VolumeErrorKind, VolumeOptions,
};

use crate::error::Failure;
use crate::found::{
    Bracket, Contacts, Distance, FeatureContact, Found, Impact, Meetings, Named, Openness, Pairs, Patch,
    Place, Points, RayHit, RayHits, Separate, Step, Sweep, Volume, word_of,
};
use crate::json_answer::{Answer, Assurance};

/// How the bodies lie to each other.
pub fn relation(query: &mut Query<'_>, a: Placed<'_>, b: Placed<'_>) -> Result<Answer, Failure> {
    let answer = query.relation(a, b)?;
    let openness = match answer.value {
        Some(Relation::Separated) => openness(query, [a, b])?,
        _ => Openness::default(),
    };
    Ok(Answer::new(Found::Relation { relation: answer.value.map(word_of), openness }, &answer))
}

/// Which of two bodies that do not meet are open meshes, where the other could lie within; as far as the budget goes.
fn openness(query: &mut Query<'_>, [a, b]: [Placed<'_>; 2]) -> Result<Openness, Failure> {
    let around = query.open_around(a, b)?;
    let named = [("a", "b lies", a), ("b", "a lies", b)].into_iter().zip(around);
    let told = named.filter(|&(_, told)| told);
    let open =
        told.filter_map(|((name, others, body), _)| Some((name, others, body.shape().open_components()?)));
    Ok(Openness::of(&open.collect::<Vec<_>>()))
}

/// The pairs of triangles that meet, or that are within the margin.
pub fn pairs(
    query: &mut Query<'_>,
    a: Placed<'_>,
    b: Placed<'_>,
    margin: Option<f64>,
) -> Result<Answer, Failure> {
    let answer = listing(query, a, b, margin)?;
    Ok(Answer::new(Found::Pairs(listed(&answer, margin)), &answer))
}

fn listing(
    query: &mut Query<'_>,
    a: Placed<'_>,
    b: Placed<'_>,
    margin: Option<f64>,
) -> Result<impinge::Answer<Vec<[u32; 2]>>, Failure> {
    Ok(match margin {
        None => query.pairs(a, b)?,
        Some(margin) => query.pairs_within(a, b, margin)?,
    })
}

/// The pairs, and the relation besides, out of one budget.
pub fn check(
    query: &mut Query<'_>,
    a: Placed<'_>,
    b: Placed<'_>,
    margin: Option<f64>,
) -> Result<Answer, Failure> {
    query.with_relation = true;
    let answer = listing(query, a, b, margin)?;
    let openness = match answer.relation {
        Some(Relation::Separated) => openness(query, [a, b])?,
        _ => Openness::default(),
    };
    let (relation, pairs) = (answer.relation.map(word_of), listed(&answer, margin));
    Ok(Answer::new(Found::Check { relation, openness, pairs }, &answer))
}

/// The distance with its points, features and normal; and the relation besides where a body has an inside, out of
/// one budget.
pub fn distance(query: &mut Query<'_>, a: Placed<'_>, b: Placed<'_>) -> Result<Answer, Failure> {
    query.with_relation = true;
    let answer = query.distance(a, b)?;
    let openness = match answer.value {
        Some(_) if !answer.is_contact() => openness(query, [a, b])?,
        _ => Openness::default(),
    };
    let told = answer.value.as_ref().or(answer.so_far.as_ref());
    // Half-spaces that overlap without end are no distance apart that a number could tell.
    let told = told.filter(|told| told.distance.is_finite());
    let open = answer.value.is_none();
    let bracket = Bracket { at_most: answer.at_most(), at_least: answer.at_least() };
    let found = Distance {
        distance: told.filter(|_| !open).map(|told| told.distance),
        bracket: open.then_some(bracket),
        relation: answer.relation.map(word_of),
        openness,
        points: told.map(|told| told.points.map(|p| p.to_array())),
        features: told.map(|told| told.features.map(Named)),
        normal: told.and_then(|told| direction(told.normal)),
        is_contact: answer.is_contact(),
    };
    Ok(Answer::new(Found::Distance(found), &answer))
}

/// Where the bodies overlap or are at most `margin` apart.
pub fn contacts(query: &mut Query<'_>, a: Placed<'_>, b: Placed<'_>, margin: f64) -> Result<Answer, Failure> {
    let answer = query.contacts(a, b, margin)?;
    let place = |contact: &Contact| Place {
        point: contact.point().to_array(),
        points: contact.points.map(|p| p.to_array()),
        normal: contact.normal.to_array(),
        depth: contact.depth,
        depth_at_least: answer.depth_at_least(contact),
        area: contact.area,
        features: contact.features.map(Named),
        id: contact.id,
    };
    let contacts: Option<Vec<Place>> = answer.value.as_ref().map(|found| found.iter().map(place).collect());
    let openness = match &contacts {
        Some(places) if places.iter().all(|place| place.depth < 0.0) => openness(query, [a, b])?,
        _ => Openness::default(),
    };
    Ok(Answer::new(Found::Contacts(Contacts { contacts, openness }), &answer))
}

/// A translation of b that takes the bodies apart.
pub fn separate(mut query: Query<'_>, a: Placed<'_>, b: Placed<'_>) -> Result<Answer, Failure> {
    let answer = query.separate(a, b)?;
    let at_most = answer.so_far.map(|found| found.length);
    let open = Separate { at_most, ..Separate::default() };
    let found = match answer.value {
        None => open,
        Some(found) => {
            let moved = b.shifted(found.translation);
            Separate {
                translation: Some(found.translation.to_array()),
                length: Some(found.length),
                at_least: Some(found.at_least),
                at_most: None,
                openness: openness(&mut query, [a, moved])?,
            }
        }
    };
    Ok(Answer::new(Found::Separate(found), &answer))
}

/// How much two solids overlap; the whole of what was found stands beside the answer.
pub fn volume(
    query: &mut Query<'_>,
    a: Placed<'_>,
    b: Placed<'_>,
    options: VolumeOptions,
) -> Result<(Answer, Option<impinge::Volume>), Failure> {
    let answer = query.volume(a, b, options)?;
    let found = answer.value.as_ref().map_or_else(Volume::default, |found| Volume {
        volume: Some(found.volume),
        volume_error: Some(found.error),
        error_kind: Some(match found.error_kind {
            VolumeErrorKind::Bound => "bound",
            _ => "estimate",
        }),
        patches: found.regions.iter().map(patch).collect(),
    });
    Ok((Answer::new(Found::Volume(found), &answer), answer.value))
}

fn patch(overlap: &Overlap) -> Patch {
    let Region { centroid, normal, area, depth } = overlap.region;
    Patch { volume: overlap.volume, centroid: centroid.to_array(), normal: direction(normal), area, depth }
}

/// When moving bodies first touch.
pub fn sweep(mut query: Query<'_>, a: Placed<'_>, b: Placed<'_>) -> Result<Answer, Failure> {
    let answer = query.sweep(a, b)?;
    let found = answer.value.as_ref().or(answer.so_far.as_ref());
    let impact = found.and_then(|found| found.impact);
    let kind = |kind: ContactKind| match kind {
        ContactKind::VertexFace => "vf".to_string(),
        ContactKind::FaceVertex => "fv".to_string(),
        ContactKind::EdgeEdge => "ee".to_string(),
        ContactKind::Inside => "inside".to_string(),
        _ => format!("{}-{}", a.shape().kind(), b.shape().kind()),
    };
    let sweep = Sweep {
        hit: answer.value.map(|found| found.impact.is_some()),
        time: impact.map(|i| i.time),
        kind: impact.map(|i| kind(i.kind)),
        features: impact.map(|i| i.features.map(Named)),
        point: impact.map(|i| i.point.to_array()),
        normal: impact.and_then(|i| direction(i.normal)),
        proved: impact.map(|i| i.proved),
        free_until: found.map_or(0.0, |found| found.free_until),
        slack: found.map(|found| found.slack),
        tolerance: None,
        openness: match answer.value {
            // As hollow bodies all are the same.
            Some(found) if !query.surfaces && found.impact.is_none_or(|impact| impact.time > 0.0) => {
                openness(&mut query, [a, b])?
            }
            _ => Openness::default(),
        },
    };
    let mut answer = Answer::new(Found::Sweep(sweep), &answer);
    if let Found::Sweep(sweep) = &mut answer.found
        && !answer.assurance.has_tolerance()
    {
        sweep.tolerance = Some(query.tolerance);
    }
    Ok(answer)
}

/// Signed distances of points, with the nearest points of the surface.
pub fn points(mut query: Query<'_>, a: Placed<'_>, points: &[[f64; 3]]) -> Result<Answer, Failure> {
    let points: Vec<DVec3> = points.iter().copied().map(DVec3::from).collect();
    let answer = query.signed_distance_batch(a, &points)?;
    let mut fields = Points::default();
    if answer.value.is_some() && query.open_around_points(a, &points)? {
        let open = a.shape().open_components().map(|parts| ("a", "points lie", parts));
        fields.openness = Openness::of(open.as_slice());
    }
    for found in answer.value.iter().chain(&answer.so_far).flatten() {
        fields.distances.push(found.distance);
        fields.inside.push(found.inside);
        fields.closest.push(found.point.to_array());
        fields.features.push(Named(found.feature));
    }
    Ok(Answer::new(Found::Points(fields), &answer))
}

/// A ray from its six numbers: origin and direction.
pub fn ray([ox, oy, oz, dx, dy, dz]: [f64; 6]) -> Result<Ray, Failure> {
    Ok(Ray::new([ox, oy, oz], [dx, dy, dz])?)
}

/// The first hit of each ray.
pub fn rays(mut query: Query<'_>, a: Placed<'_>, rays: &[Ray]) -> Result<Answer, Failure> {
    let answer = query.ray_cast_batch(a, rays)?;
    let hits = answer.value.iter().chain(&answer.so_far).flatten().map(|found| {
        found.map(|hit| RayHit {
            t: hit.t,
            point: hit.point.to_array(),
            normal: hit.normal.to_array(),
            feature: Named(hit.feature),
        })
    });
    Ok(Answer::new(Found::Rays(RayHits { hits: hits.collect() }), &answer))
}

/// When two features first meet or come within a margin, given by their points at both ends of the step.
pub fn moving_features(
    mut query: Query<'_>,
    kind: FeaturePairKind,
    [t0, t1]: [[[f64; 3]; 4]; 2],
    margin: f64,
) -> Result<Answer, Failure> {
    let answer = query.moving_features(kind, &t0.map(DVec3::from), &t1.map(DVec3::from), margin)?;
    let (hit, time) = (answer.value.map(|time| time.is_some()), answer.value.flatten());
    let (assurance, slack) = of_time(&answer, margin);
    Ok(Answer { assurance, ..Answer::new(Found::Impact(Impact { hit, time, slack }), &answer) })
}

/// The pairs of triangles in which a mesh meets itself.
pub fn self_intersections(query: &mut Query<'_>, a: Placed<'_>) -> Result<Answer, Failure> {
    let answer = query.self_intersections(a)?;
    Ok(Answer::new(Found::Pairs(listed(&answer, None)), &answer))
}

/// What a mesh meets of itself, or comes within a margin of, while it moves: the first contact, or all of them.
pub fn self_contacts(
    mut query: Query<'_>,
    mesh: &Deforming,
    all: bool,
    margin: f64,
) -> Result<Answer, Failure> {
    let answer = if all {
        query.self_contacts(mesh, margin)?
    } else {
        query.first_self_contact(mesh, margin)?.map(|first| first.into_iter().collect())
    };
    let contacts: Vec<MovingContact> = answer.value.iter().chain(&answer.so_far).flatten().copied().collect();
    let first = contacts.iter().min_by(|a, b| a.time.total_cmp(&b.time));
    let first = first.filter(|_| answer.value.is_some());
    let of = |kind: FeaturePairKind| {
        let all = contacts.iter().filter(|contact| contact.kind == kind);
        all.map(|&MovingContact { vertices, time, .. }| FeatureContact { vertices, time }).collect()
    };
    let lists = || Meetings { vf: of(FeaturePairKind::VertexFace), ee: of(FeaturePairKind::EdgeEdge) };
    let (assurance, slack) = of_time(&answer, margin);
    let step = Step {
        impact: Impact {
            hit: answer.value.as_ref().map(|_| first.is_some()),
            time: first.map(|contact| contact.time),
            slack,
        },
        at_least: answer.value.is_none().then_some(contacts.len()),
        free_step: answer.value.as_ref().map(|_| impinge::free_step(first)),
        kind: first.map(|contact| match contact.kind {
            FeaturePairKind::VertexFace => "vf",
            FeaturePairKind::EdgeEdge => "ee",
        }),
        vertices: first.map(|contact| contact.vertices),
        all: (all || answer.value.is_none()).then(lists),
    };
    Ok(Answer { assurance, ..Answer::new(Found::Step(step), &answer) })
}

/// What a time is worth. Tolerances are parts of the step; that of a margin is a length and stands apart, as the slack.
fn of_time<T>(answer: &impinge::Answer<T>, margin: f64) -> (Assurance, Option<f64>) {
    let assurance = Assurance::of(answer);
    if margin > 0.0 { assurance.without_tolerance() } else { (assurance, None) }
}

fn listed(answer: &impinge::Answer<Vec<[u32; 2]>>, margin: Option<f64>) -> Pairs {
    let pairs = answer.value.as_ref().or(answer.so_far.as_ref()).cloned().unwrap_or_default();
    let all = Pairs { count: Some(pairs.len()), at_least: None, margin, pairs };
    if answer.value.is_some() { all } else { all.so_far() }
}

/// A direction, where there is one.
fn direction(normal: DVec3) -> Option<[f64; 3]> {
    (normal != DVec3::ZERO).then(|| normal.to_array())
}
