use super::*;
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
        parts.push(Part { name: format!("part {k}"), shape });
    }
    parts
}

#[test]
fn every_pair_is_told_as_asking_all_of_them_tells() {
    let parts = assembly(60, 1);
    let clearance = 0.2;
    let report = clash(&parts, &ClashOptions { clearance, ..ClashOptions::default() }).unwrap();
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
    let all = clash(&parts, &ClashOptions::default()).unwrap();
    let ignored = [[all.clashes[0].parts[1], all.clashes[0].parts[0]]];
    let less = clash(&parts, &ClashOptions { ignored: &ignored, ..ClashOptions::default() }).unwrap();
    assert_eq!(less.clashes, all.clashes[1..]);
    let limited = |units| {
        let options = ClashOptions { budget: Budget::units(units), ..ClashOptions::default() };
        clash(&assembly(40, 2), &options).unwrap()
    };
    assert_eq!((limited(1).finish, limited(1).clashes.len()), (Finish::OutOfBudget, 0));
    // A budget that is enough for some of the pairs, and one for all kinds but not for all measures.
    let growing: Vec<_> = (10..40).map(|k| limited(1 << k)).collect();
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
        let options = ClashOptions { clearance, ignored: &[pair], ..ClashOptions::default() };
        assert!(clash(&parts, &options).is_err());
    }
}

/// A part exported twice with other triangles is the same part; one that is a little larger is not.
#[test]
fn a_part_in_other_triangles_is_a_duplicate() {
    let coarse = procedural::cuboid([0.5; 3], [1; 3]).unwrap();
    let fine = procedural::cuboid([0.5; 3], [2, 3, 4]).unwrap();
    let larger = procedural::cuboid([0.5, 0.5, 0.5_f64.next_up()], [1; 3]).unwrap();
    let kind = |a: &Mesh, b: &Mesh| {
        let part = |mesh: &Mesh| Part { name: String::new(), shape: Shape::from(mesh.clone()) };
        clash(&[part(a), part(b)], &ClashOptions::default()).unwrap().clashes[0].kind
    };
    assert_eq!(kind(&coarse, &fine), ClashKind::Duplicate);
    assert_eq!(kind(&fine, &coarse), ClashKind::Duplicate);
    assert_eq!(kind(&coarse, &larger), ClashKind::Inside);
}
