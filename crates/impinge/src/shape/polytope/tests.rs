use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::num::predicate::{Sign, orient3d};

fn random_point(rng: &mut Pcg64) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| rng.random_range(-1.0..1.0)))
}

/// Everything that the graph promises.
fn check(p: &Polytope) {
    let (v, e, f) = (p.vertices().len(), p.edges().len(), p.faces().len());
    match p.dimension() {
        0 => assert_eq!((v, e, f), (1, 0, 0)),
        1 => assert_eq!((v, e, f), (2, 1, 0)),
        2 => assert!(v >= 3 && e == v && f == 2),
        _ => assert!(v + f == e + 2 && v >= 4, "{v} {e} {f}"),
    }
    for (i, edge) in p.edges().iter().enumerate() {
        assert!(edge.ends[0] < edge.ends[1]);
        assert_eq!(edge.start + edge.along, edge.start + (p.vertices()[edge.ends[1] as usize] - edge.start));
        for end in edge.ends {
            assert_eq!(p.spokes(end).iter().filter(|s| s.edge == i as u32).count(), 1);
        }
        for (&face, inward) in edge.faces.iter().zip(edge.inward) {
            if p.dimension() > 1 {
                let sides = p.sides(face);
                assert_eq!(sides.iter().filter(|s| s.edge == i as u32).count(), 1);
                let middle = sides.iter().map(|s| s.corner / sides.len() as f64).sum::<DVec3>();
                assert!(inward.dot(middle - edge.start) > 0.0);
            }
        }
    }
    let mut halves = 0;
    for vertex in 0..v as u32 {
        let spokes = p.spokes(vertex);
        halves += spokes.len();
        for (k, s) in spokes.iter().enumerate() {
            let next = &spokes[(k + 1) % spokes.len()];
            let (a, b) = (&p.edges()[s.edge as usize], &p.edges()[next.edge as usize]);
            assert!(p.dimension() < 3 || a.faces.iter().any(|f| b.faces.contains(f)), "the ring is in order");
            assert_eq!(s.to, if a.ends[0] == vertex { a.ends[1] } else { a.ends[0] });
        }
    }
    assert_eq!(halves, 2 * e);
    for (i, face) in p.faces().iter().enumerate() {
        assert!((face.normal.length() - 1.0).abs() < 1e-15);
        let sides = p.sides(i as u32);
        let [a, b, c] = [0, 1, 2].map(|k| sides[k].corner);
        assert_eq!(face.corner, a);
        for &q in p.vertices() {
            let side = orient3d(a, b, c, q);
            assert!(side != Sign::Positive && (p.dimension() == 3 || side.is_zero()));
        }
    }
}

#[test]
fn solids_flats_segments_and_points_have_sound_graphs() {
    let mut rng = Pcg64::seed_from_u64(41);
    let mut dimensions = [0; 4];
    for case in 0..2000 {
        let scale = [1.0, 1e-6, 1e6][case % 3];
        let count = rng.random_range(1..30);
        let side = rng.random_range(1..5);
        let sides: [i32; 3] = [side, rng.random_range(0..=side), rng.random_range(0..=side)];
        let points: Vec<DVec3> = (0..count)
            .map(|_| DVec3::from(sides.map(|s| f64::from(rng.random_range(0..=s)))) * scale)
            .collect();
        let p = Polytope::hull(&points).unwrap();
        dimensions[p.dimension() as usize] += 1;
        check(&p);
        assert!(
            (0..p.vertices().len() as u32)
                .all(|v| points[p.original(v) as usize] == p.vertices()[v as usize])
        );
        assert!(p.originals.is_sorted());
    }
    assert!(dimensions.iter().all(|&d| d > 50), "{dimensions:?}");
}

#[test]
fn climbing_finds_the_farthest_corner() {
    let mut rng = Pcg64::seed_from_u64(42);
    for case in 0..60 {
        let points: Vec<DVec3> = match case % 3 {
            0 => (0..200).map(|_| random_point(&mut rng).normalize()).collect(),
            // A cone and a disc: a ring and loops of hundreds.
            1 => (0..300).map(|_| circle(&mut rng)).chain([DVec3::new(0.1, 0.2, 1.0)]).collect(),
            _ => (0..300).map(|_| circle(&mut rng)).collect(),
        };
        let p = Polytope::hull(&points).unwrap();
        check(&p);
        for _ in 0..200 {
            let d = random_point(&mut rng);
            let start = rng.random_range(0..p.vertices().len()) as u32;
            let found = p.vertices()[p.support(d, start) as usize].dot(d);
            let best = p.vertices().iter().map(|v| v.dot(d)).fold(f64::MIN, f64::max);
            assert!(found >= best - 1e-14, "{found} {best}");
        }
    }
}

fn circle(rng: &mut Pcg64) -> DVec3 {
    let angle: f64 = rng.random_range(0.0..std::f64::consts::TAU);
    DVec3::new(angle.cos(), angle.sin(), 0.0)
}

#[test]
fn a_wall_is_found_exactly_where_a_point_is_beyond_one() {
    let mut rng = Pcg64::seed_from_u64(43);
    let mut inside = 0;
    for sides in [3, 5, 13, 40, 400] {
        let points: Vec<DVec3> = (0..sides).map(|_| circle(&mut rng)).collect();
        let p = Polytope::hull(&points).unwrap();
        for _ in 0..400 {
            let q = random_point(&mut rng) * 1.2;
            for face in 0..2 {
                let beyond = |s: &Side| s.outward.dot(q - s.corner) > 0.0;
                let found = p.side_beyond(face, q);
                assert!(found.is_none_or(beyond));
                assert_eq!(found.is_some(), p.sides(face).iter().any(beyond));
                inside += usize::from(found.is_none());
            }
        }
    }
    assert!((800..3200).contains(&inside), "{inside} of 4000");
}

#[test]
fn meshes_of_solids_are_closed() {
    let mut rng = Pcg64::seed_from_u64(44);
    let points: Vec<DVec3> = (0..60).map(|_| (random_point(&mut rng) * 2.0).round()).collect();
    let mesh = Polytope::hull(&points).unwrap().mesh().unwrap();
    assert!(crate::shape::Topology::of(&mesh).is_closed());
    for few in 1..4 {
        let flat: Vec<DVec3> = (0..few).map(|i| DVec3::new(f64::from(i), f64::from(i * i), 0.0)).collect();
        assert_eq!(Polytope::hull(&flat).unwrap().mesh().unwrap().triangles().len(), 1);
    }
    assert!(Polytope::hull(&[]).is_err());
    assert!(Polytope::hull(&[DVec3::NAN]).is_err());
}
