//! What the boxes of two bodies tell of a distance, a separating translation or a sweep whose budget ended before the search could say anything,
//! as while trees are being built.

use glam::DVec3;

use crate::bound::Aabb;
use crate::contact::{Certainty, Feature, Finish, Outcome, Separation, Verdict};
use crate::model::Geometry;
use crate::motion::{Ball, Motion};
use crate::narrow::contacts::{SeparatingTranslation, way_beside};
use crate::narrow::continuous::{Sweep, SweepOptions};
use crate::narrow::shape_pair::ShapePair;
use crate::num::tolerance::{CURVED_TOUCH, ROUND_UP, SWEEP_SLACK};
use crate::shape::{Convex, Primitive};
use crate::{Budget, Pose};

use super::pair::is_of_surfaces;

/// Of more triangles or particles the box takes longer to find than a deadline may be exceeded by, unless it is known.
const QUICK: u64 = 1 << 15;

/// How often what is added to a translation for its rounding is doubled.
const MOST_DOUBLINGS: i32 = 8;

/// How often the span in which boxes are tried to stay apart is halved.
const HALVINGS: u32 = 8;

/// A distance that the budget left open: the answer where the bracket is closed; where nothing is known yet, the distance
/// of two points of the surfaces; and nowhere less than the boxes tell.
pub(super) fn of_distance(
    open: Verdict<Separation>,
    pair: &ShapePair<'_>,
    budget: &Budget,
) -> Verdict<Separation> {
    let outcome = open.outcome;
    if outcome.finish != Finish::OutOfBudget {
        return open;
    }
    match (open.so_far, outcome.certainty) {
        // Of two meshes nothing remains to be done then: no sign is repaired, and no curve measured.
        (Some(_), Certainty::Conservative { tolerance: 0.0 })
            if pair.kinds().iter().all(|kind| kind.is_mesh()) =>
        {
            let whole = Outcome { certainty: Certainty::Exact, finish: Finish::Complete, ..outcome };
            return Verdict::new(open.so_far, whole);
        }
        // The boxes may know more: of a search at its beginning, or of the parts of a compound that were not measured.
        (None, _) | (Some(_), Certainty::Conservative { .. }) => {}
        (Some(_), _) => return open,
    }
    let Some([a, b]) = boxes(pair, budget) else { return open };
    let [a, b] = [a.placed(pair.poses[0]), b.placed(pair.poses[1])];
    // A half-space has no middle.
    let towards = Some(b.centre() - a.centre()).filter(|way| way.is_finite()).unwrap_or(DVec3::Z);
    let found = open.so_far.unwrap_or_else(|| {
        let (p, on_a) = surface_point(pair.shapes[0], pair.poses[0], towards);
        let (q, on_b) = surface_point(pair.shapes[1], pair.poses[1], -towards);
        let normal = (q - p).try_normalize().unwrap_or(DVec3::ZERO);
        Separation { distance: p.distance(q), points: [p, q], features: [on_a, on_b], normal }
    });
    let distance = found.distance;
    let least = if is_of_surfaces(pair.kinds()) { least(&a, &b).max(0.0) } else { least(&a, &b) };
    let tolerance = (distance - least + 4.0 * f64::EPSILON * distance.abs()) * ROUND_UP;
    // Half-spaces may overlap without end.
    if !(distance.is_finite() && tolerance.is_finite()) {
        return open;
    }
    if let (Some(_), Certainty::Conservative { tolerance: known }) = (open.so_far, outcome.certainty)
        && known <= tolerance
    {
        return open;
    }
    let outcome = Outcome { certainty: Certainty::Conservative { tolerance }, ..outcome };
    Verdict { so_far: Some(found), ..Verdict::new(None, outcome) }
}

/// A sweep that the budget left open: where nothing is known yet, the time up to which the boxes stay apart.
pub(super) fn of_sweep(
    open: Verdict<Sweep>,
    options: &SweepOptions,
    pair: &ShapePair<'_>,
    budget: &Budget,
) -> Verdict<Sweep> {
    if open.outcome.finish != Finish::OutOfBudget {
        return open;
    }
    let known = open.so_far.map_or(0.0, |found| found.free_until);
    let Some(own) = boxes(pair, budget) else { return open };
    let still = pair.poses.map(|pose| Motion::Still(*pose));
    let motions = pair.motions.unwrap_or(still.each_ref());
    let balls = own.map(|own| Ball { centre: own.centre(), radius: own.half().length() * ROUND_UP });
    let slack = options.slack.unwrap_or((balls[0].radius + balls[1].radius) * SWEEP_SLACK);
    let is_free = |until: f64| {
        let [a, b] = [0, 1].map(|k| match motions[k] {
            Motion::Still(pose) => own[k].placed(pose),
            _ if !balls[k].radius.is_finite() => own[k],
            motion => {
                let [low, high] = motion.swept_box(&balls[k], [0.0, until]);
                Aabb { low, high }
            }
        });
        a.gap(&b) > slack
    };
    let mut free_until = if is_free(1.0) { 1.0 } else { 0.0 };
    let mut step = 0.5;
    for _ in 0..HALVINGS {
        let later = free_until + step;
        if later < 1.0 && is_free(later) {
            free_until = later;
        }
        step *= 0.5;
    }
    // The search may have come farther; a compound whose parts it goes through one by one is known as a whole.
    if let Some(found) = open.so_far {
        let latest = found.impact.map_or(1.0, |impact| impact.time);
        let found = Sweep { free_until: known.max(free_until.min(latest)), ..found };
        return Verdict { so_far: Some(found), ..open };
    }
    let certainty = Certainty::Conservative { tolerance: options.tolerance };
    let outcome = Outcome { certainty, ..open.outcome };
    let found = Sweep { impact: None, free_until, slack, outcome };
    Verdict { so_far: Some(found), ..Verdict::new(None, outcome) }
}

/// A separating translation that the budget left open: that which takes b beside the box of a, or none where the boxes are
/// apart already.
pub(super) fn of_separate(
    open: Verdict<SeparatingTranslation>,
    pair: &ShapePair<'_>,
    budget: &Budget,
) -> Verdict<SeparatingTranslation> {
    let outcome = open.outcome;
    if outcome.finish != Finish::OutOfBudget || open.so_far.is_some() {
        return open;
    }
    let Some(own) = boxes(pair, budget) else { return open };
    let [a, b] = [0, 1].map(|k| own[k].placed(pair.poses[k]));
    let room = room_of_relation(pair, [&a, &b]);
    if are_apart(&a, &b, room) {
        let apart = Outcome { certainty: Certainty::Exact, finish: Finish::Complete, ..outcome };
        return Verdict::new(Some(SeparatingTranslation::default()), apart);
    }
    let Some((direction, beside)) = way_beside(&a, &b) else { return open };
    // Added to the position it is rounded, as are the boxes, and boxes that touch are not apart.
    let least = beside.max(0.0) + room;
    let rounding = f64::EPSILON * (b.low.abs().max(b.high.abs()).max_element() + least);
    let is_parted = |length: &f64| {
        let moved = pair.poses[1].moved_to(pair.poses[1].translation() + direction * *length);
        are_apart(&a, &own[1].placed(&moved), room)
    };
    let mut lengths = (0..MOST_DOUBLINGS).map(|k| least * ROUND_UP + rounding * 2_f64.powi(k));
    let Some(length) = lengths.find(is_parted) else { return open };
    let found = SeparatingTranslation { translation: direction * length, length, at_least: 0.0 };
    let outcome = Outcome { certainty: Certainty::Conservative { tolerance: length }, ..outcome };
    Verdict { so_far: Some(found), ..Verdict::new(None, outcome) }
}

/// Whether two boxes are farther apart than this along an axis.
fn are_apart(a: &Aabb, b: &Aabb, room: f64) -> bool {
    (a.low - b.high).max(b.low - a.high).max_element() > room
}

/// Boxes that are farther apart than this hold bodies that the relation calls separated (a length): 0 but for curved shapes,
/// which count as touching from some distance on.
fn room_of_relation(pair: &ShapePair<'_>, [a, b]: [&Aabb; 2]) -> f64 {
    if !pair.shapes.iter().any(|shape| has_rough_surface(shape)) {
        return 0.0;
    }
    let reach = |own: &Aabb| own.low.abs().max(own.high.abs()).element_sum() + 2.0 * own.half().length();
    let sizes = [reach(a), reach(b)].into_iter().filter(|size| size.is_finite());
    4.0 * CURVED_TOUCH * sizes.sum::<f64>()
}

/// Whether a surface is no set of doubles, so that touching is decided within a tolerance.
fn has_rough_surface(shape: &Geometry) -> bool {
    match shape {
        Geometry::Convex(Convex::Primitive(primitive)) => matches!(
            primitive,
            Primitive::Cylinder { .. } | Primitive::Cone { .. } | Primitive::Ellipsoid { .. }
        ),
        Geometry::Compound(compound) => compound.parts().iter().any(|part| has_rough_surface(&part.shape)),
        Geometry::Convex(Convex::Polytope(_)) | Geometry::Mesh(_) | Geometry::Particles(_) => false,
    }
}

/// The boxes of both shapes in their own frames; `None` where finding them may take too long for a deadline.
fn boxes(pair: &ShapePair<'_>, budget: &Budget) -> Option<[Aabb; 2]> {
    let is_quick = |shape: &&Geometry| shape.knows_box() || shape.primitives() <= QUICK;
    let quick = budget.deadline().is_none() || pair.shapes.iter().all(is_quick);
    quick.then(|| pair.shapes.map(Geometry::own_box))
}

/// What the distance of what lies in two boxes is not below: their gap, or less by the shortest way that takes one beside
/// the other.
fn least(a: &Aabb, b: &Aabb) -> f64 {
    if !a.meets(b) {
        return a.gap(b);
    }
    way_beside(a, b).map_or(f64::NEG_INFINITY, |(_, length)| -length * ROUND_UP)
}

/// A point of the surface of a placed shape, towards a direction where that is as cheap, and what it lies on as far as that
/// is known without a search.
fn surface_point(shape: &Geometry, pose: &Pose, direction: DVec3) -> (DVec3, Feature) {
    let own = pose.matrix().transpose() * direction;
    match shape {
        Geometry::Mesh(model) => {
            let v = model.mesh().triangles()[0][0];
            (pose.apply(model.mesh().vertices()[v as usize]), Feature::Vertex(v))
        }
        Geometry::Convex(convex) => (pose.apply(convex.support(own)), Feature::Surface),
        Geometry::Compound(compound) => {
            let first = &compound.parts()[0];
            surface_point(&first.shape, &pose.compose(&first.pose), direction)
        }
        Geometry::Particles(cloud) => {
            let p = cloud.points()[0] + own.try_normalize().unwrap_or(DVec3::Z) * cloud.radius(0);
            (pose.apply(p), Feature::Vertex(0))
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use crate::{
        Budget, Finish, Memory, Motion, Pose, Query, Relation, Shape, ShapeKind, procedural, relation,
        separate,
    };

    fn kinds() -> Vec<Shape> {
        let ball = Shape::sphere(0.4).unwrap();
        let side = |x: f64| Pose::from_translation([x, 0.1, 0.0]).unwrap();
        vec![
            procedural::torus(1.0, 0.3, 40, 20).unwrap().into(),
            procedural::ico_sphere(0.8, 3).unwrap().into(),
            procedural::sheet([2.0, 2.0], [12, 12]).unwrap().into(),
            Shape::hull(procedural::blob(0.7, 0.3, 2, 9).unwrap().vertices().to_vec()).unwrap(),
            Shape::cuboid([0.4, 0.5, 0.6]).unwrap(),
            Shape::compound([(ball.clone(), side(-0.5)), (ball, side(0.5))]).unwrap(),
            Shape::half_space([0.0, 0.3, 1.0], -0.2).unwrap(),
            Shape::particles([[0.0; 3], [0.5, 0.2, 0.1]], &[0.3, 0.2]).unwrap(),
        ]
    }

    fn pose(rng: &mut Pcg64) -> Pose {
        let mut number = || rng.random_range(-1.0..1.0);
        let turn = DQuat::from_xyzw(number(), number(), number(), 1.0).normalize();
        let at = [3.0 * number(), 3.0 * number(), 3.0 * number()];
        Pose::new(at, turn.to_array()).unwrap()
    }

    /// One unit buys nothing, and all the same there is a bracket, which holds the distance.
    #[test]
    fn a_bracket_is_there_from_the_first_unit_on() {
        let mut rng = Pcg64::seed_from_u64(8);
        let kinds = kinds();
        let (mut open, mut apart) = (0, 0);
        for _ in 0..600 {
            let [a, b] = [(); 2].map(|()| kinds[rng.random_range(0..kinds.len())].unprepared());
            let [p, q] = [pose(&mut rng), pose(&mut rng)];
            let truth = Query::default().distance(a.at(p), b.at(q)).unwrap().value.unwrap();
            let [a, b] = [a, b].map(|shape| shape.unprepared());
            for budget in [Budget::units(1), Budget::time(std::time::Duration::from_nanos(1))] {
                let found = Query { budget, ..Query::default() }.distance(a.at(p), b.at(q)).unwrap();
                let room = 1e-12 * truth.distance.abs();
                // Of a half-space and what has a depth there is no lower bound.
                let endless = [&a, &b].iter().any(|shape| shape.kind() == ShapeKind::HalfSpace);
                if truth.distance.is_finite() && (!endless || found.at_least().is_some()) {
                    let [low, high] = [found.at_least().unwrap(), found.at_most().unwrap()];
                    let holds = low <= truth.distance + room && truth.distance <= high + room;
                    assert!(holds, "{found:?} {truth:?}");
                }
                if found.finish == Finish::OutOfBudget {
                    open += 1;
                    apart += usize::from(found.at_least() > Some(0.0));
                }
            }
        }
        assert!(open > 400 && apart > 100, "{open} {apart}");
    }

    #[test]
    fn a_sweep_is_free_until_the_boxes_may_meet() {
        let mut rng = Pcg64::seed_from_u64(9);
        let kinds = kinds();
        let (mut told, mut later) = (0, 0);
        for _ in 0..300 {
            let [a, b] = [(); 2].map(|()| kinds[rng.random_range(0..kinds.len())].unprepared());
            let [p, q, r] = [(); 3].map(|()| pose(&mut rng));
            let way = Motion::between(&q, &r);
            let truth = Query::default().sweep(a.at(p), b.along(way)).unwrap().value.unwrap();
            let [a, b] = [a, b].map(|shape| shape.unprepared());
            let found = Query { budget: Budget::units(1), ..Query::default() };
            let found = { found }.sweep(a.at(p), b.along(way)).unwrap();
            if found.finish == Finish::OutOfBudget {
                let so_far = found.so_far.unwrap();
                assert!(
                    so_far.impact.is_none() && so_far.free_until <= truth.free_until,
                    "{so_far:?} {truth:?}"
                );
                told += 1;
                later += usize::from(so_far.free_until > 0.0);
            }
        }
        assert!(told > 100 && later > 20, "{told} {later}");
    }

    /// The boxes alone tell a translation that takes bodies apart.
    #[test]
    fn a_way_out_is_known_from_the_first_unit_on() {
        let mut rng = Pcg64::seed_from_u64(10);
        let kinds = kinds();
        let (mut told, mut apart) = (0, 0);
        for _ in 0..300 {
            // Clouds are not taken apart, half-spaces have no box.
            let [a, b] = [(); 2].map(|()| kinds[rng.random_range(0..6)].unprepared());
            let [p, q] = [pose(&mut rng), pose(&mut rng)];
            let found = { Query { budget: Budget::units(1), ..Query::default() } }
                .separate(a.at(p), b.at(q))
                .unwrap();
            let way = found.value.or(found.so_far).unwrap();
            let moved =
                Pose::from_rotation(q.translation() + way.translation, DQuat::from_mat3(&q.rotation()))
                    .unwrap();
            let after = relation(a.at(p), b.at(moved));
            assert!(matches!(after, Relation::Separated | Relation::Touching), "{after:?} {found:?}");
            let least = separate(a.at(p), b.at(q)).unwrap();
            assert!(found.value.is_none_or(|way| way.length == least.length), "{found:?} {least:?}");
            assert!(least.length <= way.length * (1.0 + 1e-9), "{found:?} {least:?}");
            told += usize::from(found.finish == Finish::OutOfBudget);
            apart += usize::from(found.value.is_some());
        }
        assert!(told > 50 && apart > 50, "{told} {apart}");
    }

    /// Curved shapes count as touching from some distance on, which flat ones call an intersection.
    #[test]
    fn a_way_out_of_curved_shapes_is_one_by_the_relation() {
        let mut rng = Pcg64::seed_from_u64(12);
        let flat = [[-0.3, -0.3, 0.1], [0.3, -0.3, 0.1], [0.3, 0.3, 0.1], [-0.3, 0.3, 0.1]];
        let sheet: Shape = procedural::sheet([0.7, 0.7], [2, 2]).unwrap().into();
        let curved = |k: u32| match k {
            0 => Shape::ellipsoid([0.3, 0.5, 0.4]).unwrap(),
            1 => Shape::cylinder(0.3, 0.5).unwrap(),
            _ => Shape::cone(0.3, 0.5).unwrap(),
        };
        let mut told = 0;
        for k in 0..120 {
            let other = if k % 2 == 0 { Shape::hull(flat.to_vec()).unwrap() } else { sheet.unprepared() };
            let size = [1.0, 1e-3, 1e4][rng.random_range(0..3)];
            let at = Pose::from_translation([(); 3].map(|()| size * rng.random_range(-0.2..0.2))).unwrap();
            let a = curved(k % 3);
            let found = { Query { budget: Budget::units(1), ..Query::default() } };
            let found = { found }.separate(&a, other.at(at)).unwrap();
            let Some(way) = found.value.or(found.so_far) else { continue };
            let after = relation(&a, other.at(at).shifted(way.translation));
            assert!(matches!(after, Relation::Separated | Relation::Touching), "{after:?} {found:?}");
            told += usize::from(found.finish == Finish::OutOfBudget);
        }
        assert!(told > 20, "{told}");
    }

    /// The parts of a compound are swept one after the other, of which the first says nothing about the others.
    #[test]
    fn a_larger_budget_never_tells_less_of_a_sweep() {
        let mut rng = Pcg64::seed_from_u64(13);
        let side = |x: f64| Pose::from_translation([x, 0.1, 0.0]).unwrap();
        let parts = [
            (Shape::ellipsoid([0.3, 0.2, 0.4]).unwrap(), side(0.5)),
            (Shape::sphere(0.3).unwrap(), side(0.0)),
        ];
        let two = Shape::compound(parts).unwrap();
        let mut later = 0;
        for seed in 0..12 {
            let mesh: Shape = procedural::blob(0.7, 0.3, 2, seed).unwrap().into();
            let from = Pose::from_translation([2.5, rng.random_range(-0.5..0.5), 0.0]).unwrap();
            let turn = DQuat::from_rotation_z(rng.random_range(-1.0..1.0)).to_array();
            let to = Pose::new([-2.5, rng.random_range(-0.5..0.5), 0.3], turn).unwrap();
            let mut known = 0.0;
            for units in (0..22).map(|k| 3 << k >> 1) {
                let query = Query { budget: Budget::units(units), ..Query::default() };
                let found =
                    { query }.sweep(&mesh.unprepared(), two.along(Motion::between(&from, &to))).unwrap();
                let until = found.value.or(found.so_far).map_or(0.0, |found| found.free_until);
                assert!(until >= known, "seed {seed}, {units} units: {until} after {known}");
                later += usize::from(until > known);
                known = until;
            }
        }
        assert!(later > 12, "{later}");
    }

    /// Two convex shapes are answered whatever the budget, and their relation as well.
    #[test]
    fn a_closed_bracket_is_the_answer() {
        let ball = Shape::sphere(1.0).unwrap();
        for x in [-5.0, 0.5, 5.0] {
            let at = Pose::from_translation([x, 0.0, 0.0]).unwrap();
            for with_relation in [false, true] {
                let mut memory = Memory::default();
                let mut query = Query {
                    budget: Budget::units(1),
                    memory: Some(&mut memory),
                    with_relation,
                    ..Query::default()
                };
                let found = query.distance(&ball, ball.at(at)).unwrap();
                assert_eq!((found.value.unwrap().distance, found.finish), (x.abs() - 2.0, Finish::Complete));
                assert_eq!(found.relation.is_some(), with_relation);
            }
        }
    }
}
