use super::*;
use crate::model::Fact;
use crate::{Mesh, Relation, Shape, distance, procedural, relation};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn moved(mesh: &Mesh, by: DVec3) -> Shape {
    let vertices = mesh.vertices().iter().map(|&p| (p + by).to_array()).collect();
    Shape::mesh(vertices, mesh.triangles().to_vec()).unwrap()
}

/// Boxes, balls and rings, some of them twice, on a grid of quarters so that many touch.
fn assembly(count: usize, seed: u64) -> Vec<Part> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let bodies = [
        procedural::cuboid([0.5; 3], [1; 3]).unwrap(),
        procedural::cuboid([1.5, 0.25, 0.25], [1; 3]).unwrap(),
        procedural::ico_sphere(0.25, 1).unwrap(),
        procedural::torus(1.0, 0.25, 12, 6).unwrap(),
    ];
    let room = (count as f64).cbrt() as i32 * 4;
    let mut parts: Vec<Part> = Vec::new();
    for k in 0..count {
        let by = DVec3::from([0; 3].map(|_: i32| f64::from(rng.random_range(0..room)) * 0.25));
        let fresh = moved(&bodies[rng.random_range(0..bodies.len())], by);
        let shape = if k % 10 == 9 { parts[k - 3].shape.clone() } else { fresh };
        parts.push(Part::new(format!("part {k}"), shape));
    }
    parts
}

#[test]
fn every_pair_is_told_as_asking_all_of_them_tells() {
    let parts = assembly(60, 1);
    let clearance = 0.2;
    let report = clash(&parts, &mut ClashOptions { clearance, ..ClashOptions::default() }).unwrap();
    let mut counts = [0; 5];
    let mut told = report.clashes.iter();
    for i in 0..parts.len() {
        for j in i + 1..parts.len() {
            let [a, b] = [&parts[i].shape, &parts[j].shape];
            let gap = distance(a, b).distance;
            let kind = match relation(a, b) {
                Relation::Separated if gap > clearance => continue,
                Relation::Separated => ClashKind::Clearance,
                Relation::Touching => ClashKind::Touching,
                Relation::Intersecting
                    if a.as_mesh().unwrap().vertices() == b.as_mesh().unwrap().vertices() =>
                {
                    ClashKind::Duplicate
                }
                Relation::Intersecting => ClashKind::Hard,
                Relation::AInsideB | Relation::BInsideA => ClashKind::Inside,
            };
            let clash = told.next().unwrap();
            assert_eq!((clash.parts, clash.kind, clash.gap), ([i, j], kind, gap));
            assert_eq!(clash.volume.is_some(), kind.is_serious());
            assert!(clash.volume.is_none_or(|volume| volume > 0.0));
            let both = a.bounds(&Pose::IDENTITY).merge(&b.bounds(&Pose::IDENTITY));
            assert!(both.low.cmple(clash.at).all() && both.high.cmpge(clash.at).all());
            counts[ClashKind::ALL.iter().position(|&k| k == kind).unwrap()] += 1;
        }
    }
    assert_eq!(told.next(), None);
    assert!(counts.iter().all(|&n| n > 0), "{counts:?}");
    assert_eq!((report.finish, report.answered), (Finish::Complete, report.candidates));
}

#[test]
fn ignored_pairs_are_left_out_and_budgets_end_the_search() {
    let parts = assembly(40, 2);
    let all = clash(&parts, &mut ClashOptions::default()).unwrap();
    let ignored = [[all.clashes[0].parts[1], all.clashes[0].parts[0]]];
    let less = clash(&parts, &mut ClashOptions { ignored: &ignored, ..ClashOptions::default() }).unwrap();
    assert_eq!(less.clashes, all.clashes[1..]);
    let limited = |units| {
        let mut options = ClashOptions { budget: Budget::units(units), ..ClashOptions::default() };
        clash(&assembly(40, 2), &mut options).unwrap()
    };
    assert_eq!((limited(1).finish, limited(1).clashes.len()), (Finish::OutOfBudget, 0));
    // A budget that is enough for some of the pairs, and one for all kinds but not for all measures.
    let mut growing = vec![limited(1 << 10)];
    while growing.last().is_some_and(|last| last.finish == Finish::OutOfBudget) {
        growing.push(limited(1 << (10 + growing.len())));
    }
    let some = growing.iter().find(|some| some.answered > 0).unwrap();
    assert!(some.answered < some.candidates, "{} of {}", some.answered, some.candidates);
    let kinds = growing.iter().find(|some| some.answered == some.candidates).unwrap();
    assert_eq!((kinds.finish, kinds.clashes.len()), (Finish::OutOfBudget, all.clashes.len()));
    for report in &growing {
        for (found, complete) in report.clashes.iter().zip(&all.clashes) {
            assert_eq!((found.parts, found.kind, found.gap), (complete.parts, complete.kind, complete.gap));
            assert!(found.depth.is_none_or(|depth| Some(depth) == complete.depth));
            assert!(found.separate.is_none_or(|length| Some(length) == complete.separate));
            assert!(found.volume.is_none_or(|volume| Some(volume) == complete.volume));
        }
    }
    assert_eq!(limited(u64::MAX / 2).clashes, all.clashes);
    for (clearance, pair) in [(f64::NAN, [0, 1]), (-1.0, [0, 1]), (0.0, [3, 3]), (0.0, [0, 40])] {
        let mut options = ClashOptions { clearance, ignored: &[pair], ..ClashOptions::default() };
        assert!(clash(&parts, &mut options).is_err());
    }
}

/// A part exported twice with other triangles is the same part; one that is a little larger is not.
#[test]
fn a_part_in_other_triangles_is_a_duplicate() {
    let coarse = procedural::cuboid([0.5; 3], [1; 3]).unwrap();
    let fine = procedural::cuboid([0.5; 3], [2, 3, 4]).unwrap();
    let larger = procedural::cuboid([0.5, 0.5, 0.5_f64.next_up()], [1; 3]).unwrap();
    let kind = |a: &Mesh, b: &Mesh| {
        let part = |mesh: &Mesh| Part::new("", mesh.clone());
        clash(&[part(a), part(b)], &mut ClashOptions::default()).unwrap().clashes[0].kind
    };
    assert_eq!(kind(&coarse, &fine), ClashKind::Duplicate);
    assert_eq!(kind(&fine, &coarse), ClashKind::Duplicate);
    assert_eq!(kind(&coarse, &larger), ClashKind::Inside);
}

/// One report after the other with the same memory, until one is complete, and how many there were.
fn in_pieces(parts: &[Part], units: u64, memory: &mut ClashMemory) -> (ClashReport, usize) {
    for calls in 1.. {
        let budget = Budget::units(units);
        let mut options = ClashOptions { budget, memory: Some(memory), ..ClashOptions::default() };
        let report = clash(parts, &mut options).unwrap();
        if report.finish == Finish::Complete {
            return (report, calls);
        }
    }
    unreachable!()
}

#[test]
fn a_search_that_was_cut_short_goes_on_to_the_same_report() {
    let all = clash(&assembly(40, 2), &mut ClashOptions::default()).unwrap();
    for units in [700, 20_000] {
        let (report, calls) = in_pieces(&assembly(40, 2), units, &mut ClashMemory::default());
        assert_eq!(ClashReport { work: all.work, ..report.clone() }, all);
        assert!(calls > 3, "{calls} calls of {units}");
    }
    // An unlimited search goes on, too, at each place where a budget may have ended.
    let parts = assembly(40, 2);
    let mut memory = ClashMemory::default();
    for units in [1 << 12, 1 << 16, 1 << 20] {
        let budget = Budget::units(units);
        let mut options = ClashOptions { budget, memory: Some(&mut memory), ..ClashOptions::default() };
        clash(&parts, &mut options).unwrap();
        let mut options = ClashOptions { memory: Some(&mut memory), ..ClashOptions::default() };
        assert_eq!(ClashReport { work: all.work, ..clash(&parts, &mut options).unwrap() }, all);
        memory = ClashMemory::default();
    }
}

#[test]
fn only_pairs_of_parts_that_changed_are_asked_again() {
    let mut parts = assembly(40, 2);
    let mut memory = ClashMemory::default();
    let asked = AtomicU64::new(0);
    let mut ask = |parts: &[Part], clearance: f64| {
        asked.store(0, Ordering::Relaxed);
        let count = |_: u64, _: u64| _ = asked.fetch_add(1, Ordering::Relaxed);
        let mut options = ClashOptions {
            clearance,
            memory: Some(&mut memory),
            progress: Some(&count),
            ..ClashOptions::default()
        };
        let report = clash(parts, &mut options).unwrap();
        let fresh = clash(parts, &mut ClashOptions { clearance, ..ClashOptions::default() }).unwrap();
        assert_eq!(ClashReport { work: fresh.work, ..report.clone() }, fresh);
        (asked.load(Ordering::Relaxed) as usize, report.candidates)
    };
    let (first, candidates) = ask(&parts, 0.0);
    assert_eq!(first, candidates);
    assert_eq!(ask(&parts, 0.0).0, 0);
    parts[7].pose = Pose::shift([0.125, 0.0, 0.0]);
    let (again, candidates) = ask(&parts, 0.0);
    assert!(0 < again && again < candidates / 2, "{again} of {candidates}");
    parts[3].shape = Shape::sphere(0.5).unwrap();
    assert!(ask(&parts, 0.0).0 < candidates / 2);
    let (again, candidates) = ask(&parts, 0.1);
    assert_eq!(again, candidates);
    parts.truncate(20);
    assert_eq!(ask(&parts, 0.1).0, 0);
}

/// Trees are built within the budget, and none for parts that are alone.
#[test]
fn boxes_need_no_trees() {
    let ball = procedural::ico_sphere(1.0, 4).unwrap();
    let knows = |part: &Part| part.shape.geometry().model().unwrap().knows(Fact::Tree);
    let parts = [0.0, 1.5, 10.0].map(|x| Part::new("", moved(&ball, DVec3::X * x)));
    clash(&parts, &mut ClashOptions { budget: Budget::units(1), ..ClashOptions::default() }).unwrap();
    assert_eq!(parts.each_ref().map(knows), [false; 3]);
    clash(&parts, &mut ClashOptions::default()).unwrap();
    assert_eq!(parts.each_ref().map(knows), [true, true, false]);
}

/// Copies of one shape at poses are told as parts of their own; translated ones to the bit.
#[test]
fn parts_may_share_a_shape() {
    let ring = procedural::torus(1.0, 0.25, 12, 6).unwrap();
    let shape = Shape::from(ring.clone());
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let places: Vec<DVec3> = (0..30)
        .map(|_| DVec3::from([0; 3].map(|_: i32| f64::from(rng.random_range(0..20)) * 0.25)))
        .collect();
    let own: Vec<Part> = places.iter().map(|&by| Part::new("", moved(&ring, by))).collect();
    let shared: Vec<Part> =
        places.iter().map(|&by| Part::new("", shape.clone()).at(Pose::shift(by))).collect();
    let told = |parts: &[Part]| -> Vec<_> {
        let report = clash(parts, &mut ClashOptions { clearance: 0.1, ..ClashOptions::default() }).unwrap();
        report.clashes.iter().map(|clash| (clash.parts, clash.kind)).collect()
    };
    assert!(told(&own).len() > 10);
    assert_eq!(told(&own), told(&shared));
}

#[test]
fn the_translation_takes_parts_apart() {
    let parts = assembly(60, 1);
    let report = clash(&parts, &mut ClashOptions::default()).unwrap();
    let mut moved = 0;
    for clash in &report.clashes {
        let [a, b] = clash.parts.map(|k| &parts[k]);
        assert_eq!(clash.translation.is_none(), clash.kind == ClashKind::Duplicate);
        let Some(by) = clash.translation else { continue };
        assert_eq!(clash.separate, Some(by.length()));
        let after = relation(a.placed(), b.shape.at(b.pose.moved_to(b.pose.translation() + by)));
        assert!(matches!(after, Relation::Separated | Relation::Touching), "{clash:?}: {after:?}");
        moved += usize::from(clash.kind.is_serious());
    }
    assert!(moved > 5, "{moved}");
}

/// What no method measures is left out, and the others are told.
#[test]
fn a_refusal_costs_one_measure_and_not_the_report() {
    let floor = Shape::half_space([0.0, 0.0, 1.0], 0.0).unwrap();
    let roof = Shape::half_space([0.0, 0.0, -1.0], 1.0).unwrap();
    let wall = Shape::half_space([1.0, 0.0, 0.0], 0.0).unwrap();
    let dust = Shape::particles([[0.0, 0.0, 0.25], [0.1, 0.0, 3.0]], &[0.5]).unwrap();
    let cube = Shape::from(procedural::cuboid([1.0; 3], [1; 3]).unwrap());
    let parts = [floor, roof, wall, dust.clone(), dust, cube.clone(), cube].map(|shape| Part::new("", shape));
    for budget in [Budget::UNLIMITED, Budget::units(1 << 40)] {
        let report = clash(&parts, &mut ClashOptions { budget, ..ClashOptions::default() }).unwrap();
        assert_eq!(report.finish, Finish::Complete);
        let of = |pair: [usize; 2]| report.clashes.iter().find(|clash| clash.parts == pair).unwrap();
        assert_eq!((of([0, 1]).kind, of([0, 1]).separate), (ClashKind::Hard, Some(1.0)));
        assert_eq!((of([0, 2]).kind, of([0, 2]).separate), (ClashKind::Hard, None));
        assert_eq!((of([3, 5]).kind, of([3, 5]).separate), (ClashKind::Hard, None));
        assert_eq!(of([5, 6]).kind, ClashKind::Duplicate);
        assert!(of([0, 5]).separate.is_some_and(|length| length >= 1.0));
    }
}

/// The gap of nested parts is that of their surfaces, whatever their kinds.
#[test]
fn nested_convex_parts_have_the_gap_of_their_surfaces() {
    let corners = |half: f64| {
        (0..8).map(move |k| DVec3::from([k & 1, k >> 1 & 1, k >> 2].map(|x| f64::from(2 * x - 1) * half)))
    };
    let room = [
        Shape::cuboid([1.0; 3]).unwrap(),
        Shape::hull(corners(1.0)).unwrap(),
        Shape::from(procedural::cuboid([1.0; 3], [1; 3]).unwrap()),
    ];
    let ball = Shape::sphere(0.25).unwrap();
    let inner = [
        (Shape::cuboid([0.25; 3]).unwrap(), true),
        (Shape::hull(corners(0.25)).unwrap(), true),
        (Shape::compound([(ball.clone(), Pose::IDENTITY)]).unwrap(), true),
        (ball, true),
        (Shape::capsule(0.125, 0.125).unwrap(), false),
        (Shape::cylinder(0.25, 0.125).unwrap(), true),
        (Shape::cone(0.25, 0.25).unwrap(), true),
        (Shape::ellipsoid([0.25, 0.125, 0.125]).unwrap(), true),
    ];
    let gap = |a: &Shape, b: &Shape, x: f64| {
        let parts = [Part::new("a", a.clone()), Part::new("b", b.clone()).at(Pose::shift([x, 0.0, 0.0]))];
        let found = clash(&parts, &mut ClashOptions::default()).unwrap().clashes.remove(0);
        assert_eq!(found.kind, ClashKind::Inside);
        let swapped = [parts[1].clone(), parts[0].clone()];
        let other = clash(&swapped, &mut ClashOptions::default()).unwrap().clashes.remove(0);
        assert!((other.gap - found.gap).abs() < 1e-12, "{} and {}", found.gap, other.gap);
        found.gap
    };
    for outer in &room {
        for (shape, is_wide) in &inner {
            let expected = if *is_wide { 0.25 } else { 0.375 };
            let found = gap(outer, shape, 0.5);
            assert!((found - expected).abs() < 1e-9, "{shape:?} in {outer:?}: {found}");
        }
    }
    // Curved solids around points, segments with a radius and corners.
    let bowl = Shape::sphere(1.0).unwrap();
    let bar = Shape::cylinder(1.0, 2.0).unwrap();
    for (outer, shape, expected) in [
        (&bowl, &Shape::sphere(0.25).unwrap(), 0.25),
        (&bowl, &Shape::cuboid([0.25; 3]).unwrap(), 1.0 - DVec3::new(0.75, 0.25, 0.25).length()),
        (&bar, &Shape::capsule(0.25, 1.0).unwrap(), 0.25),
    ] {
        let found = gap(outer, shape, 0.5);
        assert!((found - expected).abs() < 1e-9, "{shape:?} in {outer:?}: {found}, not {expected}");
    }
}

/// The volume of a part that overlaps itself is measured by images, and the report says so.
#[test]
fn a_volume_states_its_error_and_what_it_is_worth() {
    let cube = procedural::cuboid([1.0; 3], [1; 3]).unwrap();
    let shifted: Vec<DVec3> = cube.vertices().iter().map(|&p| p + DVec3::X).collect();
    let other = Mesh::from_points(shifted, cube.triangles().to_vec()).unwrap();
    let twice = procedural::join([&cube, &other]).unwrap();
    let at = |shape: Mesh, x: f64| Part::new("", shape).at(Pose::shift([x, 0.0, 0.0]));
    let parts = [at(cube.clone(), 0.0), at(cube, 0.5), at(twice, 1.0)];
    let all = clash(&parts, &mut ClashOptions::default()).unwrap();
    for budget in [Budget::UNLIMITED, Budget::units(1 << 40)] {
        let report = clash(&parts, &mut ClashOptions { budget, ..ClashOptions::default() }).unwrap();
        assert_eq!(ClashReport { work: all.work, ..report.clone() }, all);
        let worth: Vec<_> =
            report.clashes.iter().map(|clash| (clash.parts, clash.volume_certainty)).collect();
        assert_eq!(worth[0], ([0, 1], Some(Certainty::Exact)));
        assert!(report.clashes[0].volume_error.unwrap() < 1e-12);
        for (clash, volume) in report.clashes[1..].iter().zip([4.0, 6.0]) {
            assert!(matches!(clash.volume_certainty, Some(Certainty::Approximate { .. })), "{clash:?}");
            let error = clash.volume_error.unwrap();
            assert!((clash.volume.unwrap() - volume).abs() <= error, "{clash:?}");
        }
        assert!(matches!(report.certainty(), Certainty::Approximate { .. }));
    }
    let exact = clash(&parts[..2], &mut ClashOptions::default()).unwrap();
    assert_eq!(exact.certainty(), Certainty::Exact);
    let kinds = clash(&parts, &mut ClashOptions { only_kinds: true, ..ClashOptions::default() }).unwrap();
    assert_eq!((kinds.clashes[1].volume_error, kinds.certainty()), (None, Certainty::Exact));
}

#[test]
fn the_place_of_a_nested_part_lies_in_its_box() {
    let [small, large] = [1.0, 3.0].map(|half| Shape::from(procedural::cuboid([half; 3], [1; 3]).unwrap()));
    let parts = [Part::new("", small), Part::new("", large).at(Pose::shift(DVec3::X))];
    for only_kinds in [false, true] {
        let mut options = ClashOptions { only_kinds, ..ClashOptions::default() };
        let found = clash(&parts, &mut options).unwrap().clashes.remove(0);
        let Aabb { low, high } = found.bounds;
        assert_eq!((found.kind, found.at), (ClashKind::Inside, found.at.clamp(low, high)), "{found:?}");
    }
}

/// The box of parts that overlap is that of their corners, to the bit.
#[test]
fn the_box_around_a_clash_is_not_rounded() {
    let cube = Shape::from(procedural::cuboid([1.0; 3], [1; 3]).unwrap());
    for by in [DVec3::new(1.5, 0.0, 0.0), DVec3::new(-0.1, 1.0 / 3.0, 1e-9)] {
        let parts = [Part::new("", cube.clone()), Part::new("", cube.clone()).at(Pose::shift(by))];
        let found = clash(&parts, &mut ClashOptions::default()).unwrap().clashes.remove(0);
        let (low, high) = ((by - 1.0).max(DVec3::splat(-1.0)), (by + 1.0).min(DVec3::ONE));
        assert_eq!((found.kind, found.bounds), (ClashKind::Hard, Aabb { low, high }));
    }
}

#[test]
fn a_report_is_worth_no_more_than_what_decided_its_kinds() {
    let egg = Shape::ellipsoid([0.5, 0.5, 1.0]).unwrap();
    let ball = Shape::sphere(0.5).unwrap();
    let at = |shape: &Shape, x: f64| Part::new(format!("{x}"), shape.clone()).at(Pose::shift(DVec3::X * x));
    let worth = |parts: [Part; 2], clearance| {
        let options = &mut ClashOptions { clearance, ..ClashOptions::default() };
        let report = clash(&parts, options).unwrap();
        (report.clashes.len(), report.certainty())
    };
    let (clashes, certainty) = worth([at(&egg, 0.0), at(&ball, 1.0)], 0.01);
    assert!(clashes == 1 && matches!(certainty, Certainty::Approximate { .. }), "{certainty:?}");
    assert_eq!(worth([at(&ball, 0.0), at(&ball, 0.5)], 0.0), (1, Certainty::Exact));
}

#[test]
fn the_work_of_all_pairs_is_counted() {
    let parts = assembly(40, 2);
    let whole = clash(&parts, &mut ClashOptions::default()).unwrap();
    let units = |work: Counters| work.volume_tests + work.primitive_tests;
    assert!(units(whole.work) > 1000 * whole.clashes.len() as u64 / 10, "{:?}", whole.work);
    let kinds = clash(&parts, &mut ClashOptions { only_kinds: true, ..ClashOptions::default() }).unwrap();
    assert!(0 < units(kinds.work) && units(kinds.work) < units(whole.work), "{:?}", kinds.work);
    let short = ClashOptions { budget: Budget::units(700), ..ClashOptions::default() };
    let short = clash(&parts, &mut { short }).unwrap();
    assert!(0 < units(short.work) && units(short.work) < 2000, "{:?}", short.work);
}

#[test]
fn memories_and_trackers_can_go_to_other_threads() {
    fn both<T: Send + Sync>() {}
    both::<ClashMemory>();
    both::<crate::Tracker>();
    both::<crate::SelfTracker>();
}
