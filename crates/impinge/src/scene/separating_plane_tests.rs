use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::Pose;
use crate::model::Model;
use crate::narrow::continuous::{SweepOptions, sweep};
use crate::scene::body_bounds::ball_of;
use crate::shape::{Mesh, Primitive, procedural};

fn vector(rng: &mut Pcg64, size: f64) -> DVec3 {
    DVec3::from([(); 3].map(|()| rng.random_range(-size..size)))
}

fn shapes(scale: f64) -> Vec<Geometry> {
    let flat = Mesh::from_points(vec![DVec3::ZERO, DVec3::X, DVec3::new(0.3, 0.9, 0.0)], vec![[0, 1, 2]]);
    let meshes = [
        procedural::torus(0.7, 0.25, 10, 6).unwrap(),
        procedural::stairs(3, 0.4, 0.8, 0.3).unwrap(),
        procedural::horseshoe(0.8, 0.2, 10, 6).unwrap(),
        flat.unwrap(),
    ];
    let scaled = |mesh: Mesh| {
        let points = mesh.vertices().iter().map(|&p| p * scale).collect();
        Geometry::from(Model::from(Mesh::from_points(points, mesh.triangles().to_vec()).unwrap()))
    };
    meshes.map(scaled).into()
}

fn ask(shapes: [&Geometry; 2], motions: [&Motion; 2], from: f64) -> PlaneSeparation {
    let balls = shapes.map(ball_of);
    let side = |k: usize| Side { shape: shapes[k], motion: motions[k], ball: &balls[k] };
    let mut direction = motions[1].pose(from).translation() - motions[0].pose(from).translation();
    separated([&side(0), &side(1)], [from, 1.0], &mut direction)
}

/// What planes separate does not meet before, by the sweep; and most of what does not meet is separated.
#[test]
fn planes_part_nothing_that_meets() {
    let mut rng = Pcg64::seed_from_u64(12);
    for (scale, far) in [(1.0, 0.0), (1e-6, 0.0), (1e6, 0.0), (1.0, 1e6), (1e55, 0.0)] {
        let shapes = shapes(scale);
        let (mut hits, mut whole, mut free) = (0, 0, 0);
        for round in 0..200 {
            let pair = [rng.random_range(0..4), rng.random_range(0..4)].map(|k: usize| &shapes[k]);
            let motion = |rng: &mut Pcg64, x: f64| {
                let place = (DVec3::X * x + vector(rng, 0.5)) * scale + DVec3::splat(far);
                let turn = [(); 4].map(|()| rng.random_range(-1.0..1.0));
                let start = Pose::new(place.to_array(), turn).unwrap();
                Motion::velocity(&start, (vector(rng, 1.0) - DVec3::X * (0.7 * x)) * scale, vector(rng, 2.0))
                    .unwrap()
            };
            let motions = [motion(&mut rng, -1.2), motion(&mut rng, 1.2)];
            let motions = [&motions[0], &motions[1]];
            let from = if round % 3 == 0 { 0.2 } else { 0.0 };
            let separated = ask(pair, motions, from);
            let found = sweep(pair, motions, &SweepOptions { from, ..SweepOptions::DEFAULT });
            let tolerance = SweepOptions::DEFAULT.tolerance;
            match (found.impact.filter(|impact| impact.proved), separated.until) {
                (Some(impact), Some(until)) => {
                    assert!(until <= impact.time + tolerance, "{round}: {until} {impact:?}");
                    hits += 1;
                }
                (Some(impact), None) => panic!("{scale} {round}: separated, but {impact:?}"),
                (None, until) => {
                    free += 1;
                    whole += usize::from(until.is_none());
                }
            }
        }
        assert!((40..160).contains(&hits), "{scale}: {hits} of 200");
        assert!(2 * whole > free, "{scale}: {whole} of {free}");
    }
}

#[test]
fn touching_tiny_and_round_bodies_are_left_to_the_sweep() {
    let cube = Geometry::from(Model::from(procedural::cuboid([0.5; 3], [1; 3]).unwrap()));
    let ball = Geometry::from(Primitive::sphere(0.5).unwrap());
    let still = |x: f64| Motion::Still(Pose::shift([x, 0.0, 0.0]));
    let until = |a: &Geometry, b: &Geometry, x: f64| ask([a, b], [&still(0.0), &still(x)], 0.25).until;
    assert_eq!(until(&cube, &cube, 1.0), Some(0.25));
    assert_eq!(until(&cube, &cube, 0.0), Some(0.25));
    assert_eq!(until(&cube, &cube, 1.0 + 1e-9), None);
    assert_eq!(until(&cube, &ball, 5.0), Some(0.25));
    let tiny = shapes(1e-300);
    assert_eq!(ask([&tiny[0], &tiny[1]], [&still(0.0), &still(1e-299)], 0.0).until, Some(0.0));
}

#[test]
fn a_parabola_has_its_lowest_value_where_sampling_finds_it() {
    let mut rng = Pcg64::seed_from_u64(2);
    for _ in 0..200 {
        let gaps = [rng.random_range(0.0..1.0), rng.random_range(0.0..1.0)];
        let c = rng.random_range(0.0..4.0);
        let at = |u: f64| gaps[0] * (1.0 - u) + gaps[1] * u - c * u * (1.0 - u);
        let sampled = (0..=1000).map(|k| at(f64::from(k) / 1000.0)).fold(f64::INFINITY, f64::min);
        let told = least(gaps, c);
        assert!(told <= sampled + 1e-15 && told > sampled - 1e-5, "{gaps:?} {c}: {told} {sampled}");
    }
}
