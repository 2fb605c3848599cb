//! Every volume under the same tests: it holds what it was made around, never denies a contact, and
//! separates about as well as its kind should.

use glam::DVec3;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::Pose;

fn vector(rng: &mut Pcg64) -> DVec3 {
    DVec3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0))
}

fn turn(rng: &mut Pcg64, position: DVec3) -> Pose {
    let q: [f64; 4] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
    Pose::new(position.to_array(), q).unwrap()
}

/// Triangles of one of several characters: a cloud, a needle, a flat patch, a cap of a sphere, one point.
fn triangles(rng: &mut Pcg64, character: usize) -> Vec<[DVec3; 3]> {
    let count = [12, 9, 10, 14, 1, 1][character];
    let squash = DVec3::from(
        [[1.0, 1.0, 1.0], [5.0, 0.1, 0.02], [1.0, 2.0, 0.0], [1.0; 3], [0.0; 3], [1.0; 3]][character],
    );
    let at = vector(rng);
    let to = turn(rng, at);
    let point = |rng: &mut Pcg64| match character {
        3 => (DVec3::Z * 2.0 + vector(rng)).normalize(),
        _ => vector(rng) * squash,
    };
    (0..count).map(|_| std::array::from_fn(|_| to.apply(point(rng)))).collect()
}

fn scaled(of: &[[DVec3; 3]], by: f64) -> Vec<[DVec3; 3]> {
    of.iter().map(|t| t.map(|p| p * by)).collect()
}

fn inside(rng: &mut Pcg64, of: &[[DVec3; 3]]) -> DVec3 {
    let [a, b, c] = of[rng.random_range(0..of.len())];
    let (u, v): (f64, f64) = (rng.random_range(0.0..1.0), rng.random_range(0.0..1.0));
    let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
    a + (b - a) * u + (c - a) * v
}

fn reach(of: &[[DVec3; 3]]) -> f64 {
    of.as_flattened().iter().map(|p| p.length()).fold(0.0, f64::max)
}

type Wrap<V> = for<'a> fn(&'a V) -> BoundRef<'a>;

fn holds_what_it_was_made_around<V: Bounding + Clone>(wrap: Wrap<V>) {
    let mut rng = Pcg64::seed_from_u64(1);
    for round in 0..240 {
        let scale = [1.0, 1e-6, 1e6, 1e60, 1e-150, 1e-300][round / 6 % 6];
        let a = scaled(&triangles(&mut rng, round % 6), scale);
        let b = scaled(&triangles(&mut rng, round / 7 % 6), scale);
        let (va, vb) = (V::enclose(&a), V::enclose(&b));
        let merged = va.merge(&vb);
        let ball = va.ball();
        let layered = V::around(&[wrap(&va), BoundRef::Sphere(&vb.ball()), wrap(&merged)]);
        let mut grown = va.clone();
        let mut loose = va.clone();
        loose.inflate(1e-12 * scale);
        grown.inflate(0.1 * scale);
        for t in &a {
            let middle = (t[0] + t[1] + t[2]) / 3.0;
            assert!(loose.contains(middle), "{round}: {:?} without {middle}", wrap(&va));
            for &p in t {
                assert!(va.contains(p), "{round}: {:?} without {p}", wrap(&va));
                assert!(merged.contains(p), "{round}: merged {:?} without {p}", wrap(&merged));
                assert!(layered.contains(p), "{round}: layered {:?} without {p}", wrap(&layered));
                assert!(ball.contains(p), "{round}: ball {ball:?} without {p}");
                let near = p + vector(&mut rng).normalize() * (0.0999 * scale);
                assert!(grown.contains(near), "{round}: grown {:?} without {near}", wrap(&grown));
                let d = vector(&mut rng);
                let [low, high] = va.interval(d);
                assert!((low..=high).contains(&p.dot(d)), "{round}: {p} along {d}");
                let q = vector(&mut rng) * scale;
                assert!(p.distance(q) <= va.farthest(q));
            }
        }
        for p in b.as_flattened() {
            assert!(merged.contains(*p));
        }
        assert!(va.surface() >= 0.0 && va.volume() >= 0.0 && va.bytes() >= 32);
    }
}

/// A rotation that is off orthonormal by nearly as much as a pose may be.
fn crooked(rng: &mut Pcg64, position: DVec3) -> Pose {
    let m = turn(rng, DVec3::ZERO).matrix().transpose().to_cols_array();
    let mut rows = [0.0; 16];
    for i in 0..3 {
        for j in 0..3 {
            rows[4 * i + j] = m[3 * i + j] + rng.random_range(-1.0..1.0) * 1e-5;
        }
        rows[4 * i + 3] = position[i];
    }
    rows[15] = 1.0;
    Pose::from_matrix(&rows).unwrap()
}

/// Poses that put a point of a's surface on one of b's, to rounding error.
fn in_contact(rng: &mut Pcg64, a: &[[DVec3; 3]], b: &[[DVec3; 3]], size: f64, round: usize) -> [Pose; 2] {
    let place: fn(&mut Pcg64, DVec3) -> Pose = if round.is_multiple_of(3) { crooked } else { turn };
    let far = [0.0, 1.0, 1e3][round % 3] * size.min(1e56);
    let at = vector(rng) * far;
    let pose_a = place(rng, at);
    let turned = place(rng, DVec3::ZERO);
    let (p, q) = (inside(rng, a), inside(rng, b));
    let shift = pose_a.apply(p) - turned.apply(q);
    let mut m = [0.0; 16];
    for i in 0..3 {
        m[4 * i..4 * i + 3].copy_from_slice(&turned.matrix().row(i).to_array());
        m[4 * i + 3] = shift[i];
    }
    m[15] = 1.0;
    [pose_a, Pose::from_matrix(&m).unwrap()]
}

fn never_denies_a_contact<V: Bounding>(wrap: Wrap<V>) {
    let mut rng = Pcg64::seed_from_u64(2);
    for round in 0..600 {
        let size = [1.0, 1e-6, 1e6, 1e59, 1e-300][round / 6 % 5];
        let a = scaled(&triangles(&mut rng, round % 6), size);
        let b = scaled(&triangles(&mut rng, round / 7 % 6), size);
        let [pose_a, pose_b] = in_contact(&mut rng, &a, &b, size, round);
        let mut relative = Relative::new(&pose_a, reach(&a), &pose_b, reach(&b));
        let (va, vb) = (V::enclose(&a), V::enclose(&b));
        assert!(
            va.overlaps(&vb, &relative),
            "{round}: {:?} and {:?} under {relative:?}",
            wrap(&va),
            wrap(&vb)
        );
        assert_eq!(wrap(&va).distance_below(&wrap(&vb), &relative), 0.0, "{round}");
        relative.prepare(Volume::Dop6);
        relative.prepare(Volume::Dop14);
        relative.prepare(Volume::Dop18);
        relative.prepare(Volume::Dop26);
        assert!(va.overlaps(&vb, &relative), "{round}, prepared");
        let ball = Sphere::enclose(&b);
        assert!(wrap(&va).overlaps(&BoundRef::Sphere(&ball), &relative), "{round}, mixed kinds");
        let hull = Hull::enclose(&b);
        assert!(wrap(&va).overlaps(&BoundRef::Hull(&hull), &relative), "{round}, mixed kinds");
    }
}

/// Share of pairs with disjoint hulls that the volumes tell apart too, and of those pairs among all.
fn tightness<V: Bounding>(wrap: Wrap<V>) -> [f64; 2] {
    let mut rng = Pcg64::seed_from_u64(3);
    let (mut disjoint, mut told, rounds) = (0, 0, 1200);
    for round in 0..rounds {
        let (a, b) = (triangles(&mut rng, round % 4), triangles(&mut rng, round / 5 % 4));
        let offset = vector(&mut rng) * 1.5;
        let (pose_a, pose_b) = (turn(&mut rng, DVec3::ZERO), turn(&mut rng, offset));
        let relative = Relative::new(&pose_a, reach(&a), &pose_b, reach(&b));
        let (ha, hb) = (Hull::enclose(&a), Hull::enclose(&b));
        let (va, vb) = (V::enclose(&a), V::enclose(&b));
        let below = wrap(&va).distance_below(&wrap(&vb), &relative);
        for _ in 0..8 {
            let (p, q) = (inside(&mut rng, &a), inside(&mut rng, &b));
            assert!(pose_a.apply(p).distance(pose_b.apply(q)) >= below, "{round}: a distance below {below}");
        }
        if !ha.overlaps(&hb, &relative) {
            disjoint += 1;
            told += usize::from(!va.overlaps(&vb, &relative));
        }
    }
    [told as f64 / disjoint as f64, disjoint as f64 / rounds as f64]
}

macro_rules! volume_tests {
    ($($name:ident: $type:ty, $kind:ident, $told:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn holds() {
                holds_what_it_was_made_around::<$type>(|v| BoundRef::$kind(v));
            }

            #[test]
            fn contact_is_never_denied() {
                never_denies_a_contact::<$type>(|v| BoundRef::$kind(v));
            }

            #[test]
            fn separates_as_well_as_its_kind_should() {
                let [told, disjoint] = tightness::<$type>(|v| BoundRef::$kind(v));
                assert!((0.3..0.8).contains(&disjoint), "{disjoint} of the pairs are disjoint");
                assert!($told.contains(&told), "{told} of the disjoint pairs are told apart");
            }
        }
    )*};
}

volume_tests! {
    sphere: Sphere, Sphere, (0.2..0.3);
    aabb: Aabb, Aabb, (0.3..0.45);
    obb: Obb, Obb, (0.6..0.9);
    dop6: Dop<3>, Dop6, (0.3..0.45);
    dop14: Dop<7>, Dop14, (0.5..0.6);
    dop18: Dop<9>, Dop18, (0.53..0.65);
    dop26: Dop<13>, Dop26, (0.6..0.75);
    shell: Shell, Shell, (0.4..0.6);
    hull: Hull, Hull, (1.0..1.1);
}

#[test]
fn measures_agree_with_the_known_ones() {
    let cube: Vec<[DVec3; 3]> = (0..8)
        .map(|i| DVec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64) * 2.0)
        .map(|p| [p; 3])
        .collect();
    let near = |x: f64, y: f64| assert!((x - y).abs() <= 1e-9 * y, "{x} is not {y}");
    for (surface, volume) in [
        (Aabb::enclose(&cube).surface(), Aabb::enclose(&cube).volume()),
        (Obb::enclose(&cube).surface(), Obb::enclose(&cube).volume()),
        (Dop::<3>::enclose(&cube).surface(), Dop::<3>::enclose(&cube).volume()),
        (Dop::<13>::enclose(&cube).surface(), Dop::<13>::enclose(&cube).volume()),
        (Hull::enclose(&cube).surface(), Hull::enclose(&cube).volume()),
    ] {
        near(surface, 24.0);
        near(volume, 8.0);
    }
    // The regular octahedron |x| + |y| + |z| ≤ 1 is a 14-DOP, and every other k-DOP is larger.
    let octahedron: Vec<[DVec3; 3]> = DVec3::AXES.iter().flat_map(|&a| [[a; 3], [-a; 3]]).collect();
    let exact = 4.0 / 3.0;
    near(Hull::enclose(&octahedron).volume(), exact);
    near(Dop::<7>::enclose(&octahedron).volume(), exact);
    near(Dop::<13>::enclose(&octahedron).volume(), exact);
    assert!(Dop::<9>::enclose(&octahedron).volume() > 1.2 * exact);
    near(Dop::<7>::enclose(&octahedron).surface(), 4.0 * 3f64.sqrt());
    let sphere = Sphere { centre: DVec3::ONE, radius: 2.0 };
    near(sphere.volume(), 32.0 / 3.0 * std::f64::consts::PI);
}

#[test]
fn a_ball_within_a_few_per_cent_of_the_smallest() {
    let mut rng = Pcg64::seed_from_u64(4);
    for _ in 0..50 {
        let points: Vec<DVec3> = (0..60).map(|_| vector(&mut rng).normalize() * 3.0 + DVec3::X).collect();
        let ball = Sphere::around_points(&points);
        assert!((2.7..3.3).contains(&ball.radius), "{}", ball.radius);
    }
}

#[test]
fn a_shell_follows_a_curved_patch_far_closer_than_a_box() {
    let mut rng = Pcg64::seed_from_u64(5);
    let cap: Vec<[DVec3; 3]> = (0..200)
        .map(|_| {
            let p = (DVec3::Z + vector(&mut rng) * DVec3::new(0.2, 0.2, 0.0)).normalize();
            [p, (p + DVec3::X * 1e-3).normalize(), (p + DVec3::Y * 1e-3).normalize()]
        })
        .collect();
    let (shell, box_) = (Shell::enclose(&cap), Obb::enclose(&cap));
    assert!(shell.outer - shell.inner < 1e-2, "{shell:?}");
    assert!(shell.volume() * 50.0 < box_.volume(), "{} against {}", shell.volume(), box_.volume());
}

#[test]
fn an_oriented_box_turns_with_a_needle() {
    let mut rng = Pcg64::seed_from_u64(6);
    let needle = triangles(&mut rng, 1);
    assert!(Obb::enclose(&needle).volume() * 20.0 < Aabb::enclose(&needle).volume());
}

#[test]
fn hulls_of_points_on_a_grid_drop_only_what_is_inside() {
    let grid = |n: i32, k: i32| -> Vec<DVec3> {
        let f = |x: i32| f64::from(x) * 0.1;
        (0..n * n * k).map(|i| DVec3::new(f(i % n), f(i / n % n), f(i / n / n))).collect()
    };
    assert_eq!(Hull::around_points(&grid(5, 5)).points().len(), 8);
    assert_eq!(Hull::around_points(&grid(5, 1)).points().len(), 4);
    let line: Vec<DVec3> = (0..9).map(|i| DVec3::new(1.0, 2.0, 3.0) * f64::from(i)).collect();
    assert_eq!(Hull::around_points(&line).points().len(), 2);
    assert_eq!(Hull::around_points(&[DVec3::ONE; 4]).points().len(), 1);
    let mut rng = Pcg64::seed_from_u64(7);
    let ball: Vec<DVec3> = (0..500).map(|_| vector(&mut rng).normalize()).collect();
    let corners = Hull::around_points(&ball).points().len();
    assert!(corners > 490, "{corners}");
}
