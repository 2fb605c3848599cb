//! Every technique against brute force, and the decisions of a frame against plain arithmetic.

use glam::DVec3;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::{Domain, Nearest, NeighbourList, NeighbourOptions, Particles, SearchCounters, Technique};
use crate::broad::Changes;
use crate::num::parallel;
use crate::{Budget, Finish};

/// A kind of space that particles are drawn in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Space {
    Open,
    Box,
    Slab,
    Triclinic,
    Skewed,
}

pub(super) const SPACES: [Space; 5] = [Space::Open, Space::Box, Space::Slab, Space::Triclinic, Space::Skewed];

impl Space {
    pub fn domain(self, side: f64) -> Domain {
        let low = [-0.3 * side; 3];
        let cell =
            |vectors: [[f64; 3]; 3]| Domain::triclinic(low, vectors.map(|v| v.map(|x| x * side))).unwrap();
        match self {
            Space::Open => Domain::OPEN,
            Space::Box => Domain::periodic(low, [0.7 * side, 0.9 * side, 1.1 * side]).unwrap(),
            Space::Slab => Domain::periodic(low, [0.7 * side; 3]).unwrap().along([true, false, true]),
            Space::Triclinic => cell([[1.0, 0.0, 0.0], [0.3, 0.9, 0.0], [-0.4, 0.25, 1.1]]),
            Space::Skewed => {
                cell([[0.9, 0.3, 0.2], [0.8, 1.2, -0.1], [0.5, -0.7, 1.3]]).along([true, true, false])
            }
        }
    }
}

/// Seeded positions, some of them many cells away, some clustered, some equal.
pub(super) fn positions(random: &mut Pcg64, count: usize, side: f64) -> Vec<[f64; 3]> {
    let mut all: Vec<[f64; 3]> = Vec::with_capacity(count);
    for i in 0..count {
        let spread = match i % 10 {
            0 => 4.0,
            1..4 => 0.1,
            _ => 0.5,
        };
        let mut x = std::array::from_fn(|_| 0.2 * side + side * spread * random.random_range(-1.0..1.0));
        if i > 0 && random.random_bool(0.02) {
            x = all[random.random_range(0..i)];
        }
        all.push(x);
    }
    all
}

fn found(technique: Technique, particles: &Particles<'_>) -> Vec<[u32; 2]> {
    let mut search = technique.start();
    // What an earlier frame left must not matter.
    let mut pairs = vec![[7, 7]; 5];
    let small = [[0.0; 3], [1e-3, 0.0, 0.0]];
    search.search(&Particles::new(&small, Domain::OPEN, 1.0).unwrap(), &mut pairs);
    assert_eq!(pairs, [[0, 1]], "{technique}");
    search.search(particles, &mut pairs);
    assert_eq!(search.counters().pairs, pairs.len() as u64, "{technique}");
    assert!(search.counters().tests >= pairs.len() as u64, "{technique}");
    pairs.sort_unstable();
    pairs
}

/// Compares all techniques with brute force; returns how many pairs there are of how many possible.
fn compare(particles: &Particles<'_>, what: &str) -> [u64; 2] {
    let want = found(Technique::Brute, particles);
    for &technique in Technique::ALL {
        assert_eq!(found(technique, particles), want, "{technique}, {what}");
        let alone = parallel::alone(|| found(technique, particles));
        assert_eq!(alone, want, "{technique} on one thread, {what}");
    }
    let count = particles.len() as u64;
    [want.len() as u64, count * count.saturating_sub(1) / 2]
}

#[test]
fn every_technique_finds_the_pairs_of_brute_force() {
    let mut random = Pcg64::seed_from_u64(13);
    for space in SPACES {
        let (mut pairs, mut possible) = (0, 0);
        for round in 0..12 {
            let (count, side) = ([0, 1, 2, 40, 300, 600][round % 6], [1.0, 1e-7, 3e8][round % 3]);
            let mut all = positions(&mut random, count, side);
            if round % 4 == 3 {
                all.iter_mut().for_each(|x| x[2] = 0.0);
            }
            let domain = space.domain(side);
            let width = domain.widths().into_iter().fold(side, f64::min);
            let cutoff = width * [0.02, 0.1, 0.3, 0.5][round % 4];
            let particles = Particles::new(&all, domain, cutoff).unwrap();
            let [some, of] = compare(&particles, &format!("{space:?}, round {round}"));
            (pairs, possible) = (pairs + some, possible + of);
            let radii: Vec<f64> = all.iter().map(|_| 0.24 * width * random.random::<f64>().powi(4)).collect();
            let particles =
                Particles::with_radii(&all, &radii, domain, 0.02 * width * (round % 2) as f64).unwrap();
            compare(&particles, &format!("balls, {space:?}, round {round}"));
        }
        assert!(pairs * 100 > possible && pairs * 2 < possible, "{space:?}: {pairs} of {possible}");
    }
}

#[test]
fn particles_of_a_plane_are_repeated_along_its_two_axes() {
    let mut random = Pcg64::seed_from_u64(53);
    let all: Vec<[f64; 3]> =
        (0..400).map(|_| [random.random_range(-3.0..6.0), random.random_range(-1.0..4.0), 0.0]).collect();
    let width = 3.2;
    let plane = |z| Domain::periodic_along([0.0, 0.0, z], [width, width, z], [true, true, false]).unwrap();
    assert_eq!(plane(0.0), plane(f64::NAN), "an open axis has no length");
    assert!(Domain::periodic_along([0.0; 3], [1.0, 0.0, 1.0], [true, true, false]).is_err());
    let particles = Particles::new(&all, plane(0.0), 0.1).unwrap();
    let [pairs, possible] = compare(&particles, "a plane");
    let apart = |d: f64| (d - (d / width).round() * width).abs();
    let near = |i: usize, j: usize| apart(all[i][0] - all[j][0]).hypot(apart(all[i][1] - all[j][1])) <= 0.1;
    let want = (0..400).flat_map(|i| (i + 1..400).map(move |j| [i, j])).filter(|&[i, j]| near(i, j)).count();
    assert_eq!(pairs, want as u64);
    assert!(pairs > 100 && pairs * 20 < possible, "{pairs}");
}

#[test]
fn every_technique_agrees_on_distances_equal_to_the_cutoff() {
    // On a lattice most candidates lie exactly at the cutoff, or across the cell at exactly half its width.
    let all: Vec<[f64; 3]> =
        (0..6 * 6 * 6).map(|i| [i % 6, i / 6 % 6, i / 36].map(|x| f64::from(x) * 0.1)).collect();
    for domain in [Domain::OPEN, Domain::periodic([0.0; 3], [0.6; 3]).unwrap()] {
        for cutoff in [0.1, 0.2, 0.3, 0.1 * 2.0_f64.sqrt(), 0.1 * 3.0_f64.sqrt()] {
            let cutoff = if domain.is_open() { cutoff } else { cutoff.min(0.5 * domain.widths()[0]) };
            let [pairs, _] = compare(&Particles::new(&all, domain, cutoff).unwrap(), "lattice");
            assert!(pairs > 300, "{pairs}");
        }
        let radii = vec![0.05; all.len()];
        compare(&Particles::with_radii(&all, &radii, domain, 0.0).unwrap(), "lattice of balls");
    }
}

/// A double of ordinary size as an integer, in units of 2⁻⁵⁸.
fn units(x: f64) -> i128 {
    let scaled = x * (1_u64 << 58) as f64;
    assert_eq!(scaled, scaled.trunc(), "{x} has smaller digits");
    scaled as i128
}

#[test]
fn distances_near_the_cutoff_are_decided_exactly() {
    let mut random = Pcg64::seed_from_u64(29);
    let tenths =
        |random: &mut Pcg64| [(); 3].map(|()| 0.25 + f64::from(random.random_range(0..12_u32)) / 10.0);
    let all: Vec<[f64; 3]> = (0..300).map(|_| tenths(&mut random)).collect();
    let (mut near, mut rounded_wrong) = (0, 0);
    for periodic in [false, true] {
        for (cutoff, radius) in [(0.3, 0.0), (0.7, 0.0), (0.1, 0.3), (0.2, 0.25)] {
            let width = 3.0;
            let domain =
                if periodic { Domain::periodic([0.0; 3], [width; 3]).unwrap() } else { Domain::OPEN };
            // Some many cells away, by exact multiples of the width where the sum is exact.
            let away = |x: f64, n: f64| if x + n * width - n * width == x { x + n * width } else { x };
            let moved =
                |(i, x): (usize, &[f64; 3])| if periodic { x.map(|x| away(x, (i % 4) as f64)) } else { *x };
            let all: Vec<[f64; 3]> = all.iter().enumerate().map(moved).collect();
            let radii = vec![radius; all.len()];
            let particles = Particles::with_radii(&all, &radii, domain, cutoff).unwrap();
            compare(&particles, "tenths");
            for i in 0..all.len() as u32 {
                for j in i + 1..all.len() as u32 {
                    let limit = 2 * units(radius) + units(cutoff);
                    let square: i128 = (0..3)
                        .map(|k| {
                            let d = units(all[j as usize][k]) - units(all[i as usize][k]);
                            let width = units(width);
                            let nearest =
                                if periodic { d - (2 * d + width).div_euclid(2 * width) * width } else { d };
                            nearest * nearest
                        })
                        .sum();
                    assert_eq!(particles.is_pair(i, j), square <= limit * limit, "{i} {j}, {periodic}");
                    let distance = (square as f64).sqrt();
                    near += u32::from((distance / limit as f64 - 1.0).abs() < 1e-12);
                    let d = DVec3::from(all[j as usize]) - DVec3::from(all[i as usize]);
                    let rounded = d.length_squared() <= (2.0 * radius + cutoff) * (2.0 * radius + cutoff);
                    rounded_wrong += u32::from(!periodic && rounded != (square <= limit * limit));
                }
            }
        }
    }
    assert!(near > 2_000 && rounded_wrong > 100, "{near}, {rounded_wrong}");
}

#[test]
fn one_particle_far_away_does_not_make_the_others_try_every_pair() {
    let mut random = Pcg64::seed_from_u64(31);
    let mut all: Vec<[f64; 3]> =
        (0..4000).map(|_| [(); 3].map(|()| random.random_range(0.0..20.0))).collect();
    all.push([1e9, 0.0, 0.0]);
    let particles = Particles::new(&all, Domain::OPEN, 1.0).unwrap();
    for technique in [Technique::choose(&particles), Technique::Octree, Technique::KdTree] {
        let (mut search, mut pairs) = (technique.start(), Vec::new());
        search.search(&particles, &mut pairs);
        let tests = search.counters().tests;
        assert!(tests < 100 * all.len() as u64 && pairs.len() > all.len(), "{technique}: {tests}");
    }
}

#[test]
fn every_technique_takes_extreme_frames() {
    let far = [[0.0; 3], [1e60, -1e60, 1e60], [1e60, -1e60, 1e60], [0.5, 0.0, 0.0]];
    let tiny = [[0.0; 3], [3e-200, 0.0, 0.0], [3.1e-200, 0.0, 0.0], [1.0, 0.0, 0.0]];
    let chain: Vec<[f64; 3]> = (0..500).map(|i| [f64::from(i) * 1e5, 0.0, 0.0]).collect();
    let heap = vec![[0.25; 3]; 70];
    for (all, cutoff, pairs) in [
        (&far[..], 1.0, 2),
        (&tiny, 3e-200, 2),
        (&tiny, 1e-201, 1),
        (&chain, 1e5, 499),
        (&chain, 1e-3, 0),
        (&heap, 1e-300, 70 * 69 / 2),
    ] {
        let [found, _] = compare(&Particles::new(all, Domain::OPEN, cutoff).unwrap(), "extreme");
        assert_eq!(found, pairs, "cutoff {cutoff}");
    }
}

#[test]
fn a_displacement_leads_to_the_nearest_image_of_all() {
    let mut random = Pcg64::seed_from_u64(5);
    let mut across = 0;
    for space in SPACES {
        let domain = space.domain(2.0);
        let all = positions(&mut random, 200, 2.0);
        let cutoff = domain.widths().into_iter().fold(1.0, f64::min) * 0.5;
        let particles = Particles::new(&all, domain, cutoff).unwrap();
        let mut pairs = Vec::new();
        Technique::Brute.start().search(&particles, &mut pairs);
        for &[i, j] in &pairs {
            let found = particles.displacement(i, j);
            // Every image within two cells, from the positions as given.
            let d = DVec3::from(all[j as usize]) - DVec3::from(all[i as usize]);
            let base = found.shift.map(f64::from);
            let range = |k: usize| if domain.is_periodic()[k] { -2..=2 } else { 0..=0 };
            let near = shifts(range(0), range(1), range(2))
                .map(|s| domain.shifted(d, std::array::from_fn(|k| base[k] + f64::from(s[k]))).length());
            let nearest = near.fold(f64::INFINITY, f64::min);
            let vector = DVec3::from(found.vector);
            assert!(vector.length() <= nearest + 1e-12 && vector.length() <= cutoff * (1.0 + 1e-12));
            assert!((domain.shifted(d, base) - vector).length() < 1e-12, "{space:?}: {i} {j}");
            across += u32::from(found.shift != [0; 3]);
            let back = particles.displacement(j, i);
            assert_eq!(back.vector.map(|x| -x), found.vector);
            assert_eq!(back.shift.map(|s| -s), found.shift);
        }
    }
    assert!(across > 400, "{across}");
}

fn shifts(
    a: std::ops::RangeInclusive<i32>,
    b: std::ops::RangeInclusive<i32>,
    c: std::ops::RangeInclusive<i32>,
) -> impl Iterator<Item = [i32; 3]> {
    a.flat_map(move |a| {
        let c = c.clone();
        b.clone().flat_map(move |b| c.clone().map(move |c| [a, b, c]))
    })
}

#[test]
fn bad_frames_are_refused_and_say_why() {
    let one = [[0.0, 1.0, 2.0]];
    let cell = Domain::periodic([0.0; 3], [1.0, 2.0, 3.0]).unwrap();
    let text = |result: Result<Particles<'_>, crate::Error>| result.map(|_| ()).unwrap_err().to_string();
    assert!(text(Particles::new(&[[0.0; 3], [0.0, f64::NAN, 0.0]], Domain::OPEN, 1.0)).contains("vertex 1"));
    assert!(text(Particles::new(&[[f64::INFINITY; 3]], Domain::OPEN, 1.0)).contains("inf"));
    for cutoff in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(text(Particles::new(&one, Domain::OPEN, cutoff)).contains("radius"), "{cutoff}");
    }
    assert!(text(Particles::new(&one, cell, 0.51)).contains("twice"));
    assert!(Particles::new(&one, cell, 0.5).is_ok());
    let two = [one[0]; 2];
    assert!(text(Particles::with_radii(&two, &[0.26, 0.25], cell, 0.0)).contains("twice"));
    assert!(
        Particles::with_radii(&two, &[0.3, 0.2], cell, 0.0).is_ok(),
        "no two are farther apart than half the cell"
    );
    assert!(text(Particles::with_radii(&one, &[-1.0], Domain::OPEN, 0.0)).contains("particle 0"));
    assert!(text(Particles::with_radii(&one, &[], Domain::OPEN, 0.0)).contains("0 for 1"));
    assert!(text(Particles::new(&[[1e40, 0.0, 0.0]], cell, 0.1)).contains("cells away"));
    let away = |low: f64| Domain::periodic([low, 0.0, 0.0], [low + 16.0, 1.0, 1.0]).unwrap();
    let at = |low: f64| [[low, 0.5, 0.5]];
    assert!(text(Particles::new(&at(1e17), away(1e17), 0.1)).contains("of its widths from the origin"));
    assert!(Particles::new(&at(1e13), away(1e13), 0.1).is_ok());
    assert!(Domain::periodic([0.0; 3], [1.0, 0.0, 1.0]).is_err());
    assert!(Domain::periodic([0.0; 3], [1.0, f64::NAN, 1.0]).is_err());
    assert!(Domain::triclinic([0.0; 3], [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).is_err());
    assert!(Domain::triclinic([0.0; 3], [[1.0, 0.0, 0.0], [1e7, 1.0, 0.0], [0.0, 0.0, 1.0]]).is_err());
}

#[test]
fn changes_are_what_one_list_has_and_the_other_has_not() {
    let mut changes = Changes::default();
    changes.between(&[[0, 1], [0, 5], [3, 4]], &[[0, 2], [0, 5], [3, 4], [9, 9]]);
    assert_eq!(changes, Changes { began: vec![[0, 2], [9, 9]], ended: vec![[0, 1]] });
    changes.between(&[[0, 1]], &[]);
    assert_eq!(changes, Changes { began: vec![], ended: vec![[0, 1]] });
}

#[test]
fn questions_about_points_agree_with_trying_every_particle() {
    let mut random = Pcg64::seed_from_u64(29);
    let mut asked = 0;
    for space in SPACES {
        let side = 2.0;
        let all = positions(&mut random, 400, side);
        let domain = space.domain(side);
        let radii: Vec<f64> = all.iter().map(|_| 0.1 * random.random::<f64>().powi(4)).collect();
        let points = Particles::new(&all, domain, 0.1).unwrap();
        let balls = Particles::with_radii(&all, &radii, domain, 0.05).unwrap();
        let brute = Technique::Brute.start();
        for (case, &technique) in Technique::ALL.iter().flat_map(|technique| [technique; 4]).enumerate() {
            let particles = if case % 2 == 0 { &points } else { &balls };
            let mut search = technique.start();
            // What an earlier frame left must not matter, nor whether the pairs were listed.
            search.update(&Particles::new(&all[..150], domain, 0.2).unwrap());
            match case % 4 < 2 {
                true => search.update(particles),
                false => search.search(particles, &mut Vec::new()),
            }
            let (mut found, mut want) = (Vec::new(), Vec::new());
            for k in [0, 1, 2, 7, 50, 400, 500] {
                let spread = if k == 7 { 30.0 } else { 1.0 };
                let point = [0; 3].map(|_| spread * random.random_range(-side..side));
                search.nearest(particles, point, k, &mut found);
                brute.nearest(particles, point, k, &mut want);
                assert_eq!(found, want, "{technique}, {space:?}, {k} nearest");
                assert_eq!(found.len(), k.min(400), "{technique}, {space:?}");
                let radius = [0.0, 0.2, 0.7, 3.0][k % 4];
                search.within(particles, point, radius, &mut found);
                brute.within(particles, point, radius, &mut want);
                assert_eq!(found, want, "{technique}, {space:?}, within {radius}");
                asked += found.len();
            }
        }
    }
    assert!(asked > 500, "{asked}");
    let all = [[0.25; 3], [0.5; 3], [0.75; 3]];
    for domain in [Domain::OPEN, Space::Box.domain(1.0), Space::Triclinic.domain(1.0)] {
        let particles = Particles::new(&all, domain, 0.1).unwrap();
        for &technique in Technique::ALL {
            let mut search = technique.start();
            search.update(&particles);
            let mut found = vec![Nearest { particle: 9, distance: 0.0 }];
            for far in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e61] {
                // No particle could be there: no answer, and none that never comes.
                search.nearest(&particles, [0.0, far, 0.0], 2, &mut found);
                assert!(found.is_empty(), "{technique}, {far}: {found:?}");
                search.within(&particles, [far, 0.0, 0.0], 1.0, &mut found);
                assert!(found.is_empty(), "{technique}, {far}: {found:?}");
            }
            search.within(&particles, [0.25; 3], f64::NAN, &mut found);
            assert!(found.is_empty(), "{technique}");
        }
    }
    let none = Particles::new(&[], Domain::OPEN, 1.0).unwrap();
    for technique in Technique::ALL {
        let mut search = technique.start();
        search.update(&none);
        let mut found = Vec::new();
        search.nearest(&none, [0.0; 3], 3, &mut found);
        assert!(found.is_empty());
    }
}

/// The distance of the nearest image among all in a wide range.
fn nearest_of_many(domain: &Domain, d: DVec3) -> f64 {
    let range = |k: usize| if domain.is_periodic()[k] { -10..=10 } else { 0..=0 };
    let away = |s: [i32; 3]| domain.shifted(d, s.map(f64::from)).length();
    shifts(range(0), range(1), range(2)).map(away).fold(f64::INFINITY, f64::min)
}

#[test]
fn nearest_images_in_slanted_cells_are_those_of_a_wide_search() {
    let mut random = Pcg64::seed_from_u64(43);
    let cells = [
        [[1.0, 0.0, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 4.0]],
        [[1.0, 0.0, 0.0], [0.5, 0.75_f64.sqrt(), 0.0], [0.5, 0.3, 0.8]],
        [[1.0, 0.0, 0.0], [2.4, 1.0, 0.0], [-1.3, 0.7, 1.5]],
    ];
    let mut slanted = 0;
    for (vectors, along) in cells.into_iter().flat_map(|v| [(v, [true; 3]), (v, [true, true, false])]) {
        let domain = Domain::triclinic([0.0; 3], vectors).unwrap().along(along);
        let mut all = vec![[0.0; 3]];
        all.extend((1..40).map(|_| [(); 3].map(|()| random.random_range(-0.6..0.6))));
        let particles = Particles::new(&all, domain, 0.05).unwrap();
        let mut points: Vec<[f64; 3]> =
            (0..12).map(|_| [(); 3].map(|()| random.random_range(-0.6..0.6))).collect();
        points.push([0.932, 0.48, 0.0]);
        for point in points {
            let mut want: Vec<f64> =
                all.iter().map(|x| nearest_of_many(&domain, DVec3::from(*x) - DVec3::from(point))).collect();
            want.sort_by(f64::total_cmp);
            for technique in Technique::ALL {
                let mut search = technique.start();
                search.update(&particles);
                let mut found = Vec::new();
                for k in [1, 5, 40] {
                    search.nearest(&particles, point, k, &mut found);
                    assert_eq!(found.len(), k, "{technique}");
                    let is_right = |(one, want): (&Nearest, &f64)| (one.distance - want).abs() < 1e-12;
                    assert!(found.iter().zip(&want).all(is_right), "{technique}, {vectors:?}, {point:?}");
                }
                search.within(&particles, point, 0.5, &mut found);
                assert_eq!(found.len(), want.iter().filter(|&&d| d <= 0.5).count(), "{technique}");
            }
        }
        for i in 0..40_u32 {
            for j in 0..40_u32 {
                let d = DVec3::from(all[j as usize]) - DVec3::from(all[i as usize]);
                let way = particles.displacement(i, j);
                let vector = DVec3::from(way.vector);
                assert!((vector.length() - nearest_of_many(&domain, d)).abs() < 1e-12, "{i} {j}");
                assert!(domain.shifted(d, way.shift.map(f64::from)).distance(vector) < 1e-12, "{i} {j}");
                slanted +=
                    u32::from(domain.shifted(d, domain.nearest_image(d)).length() > vector.length() + 1e-9);
            }
        }
    }
    assert!(slanted > 100, "{slanted}");
    // So slanted that a structure would be asked for too many images.
    let domain = Domain::triclinic([0.0; 3], [[1.0, 0.0, 0.0], [300.4, 1.0, 0.0], [0.0, 0.0, 4.0]]).unwrap();
    let all: Vec<[f64; 3]> = (0..50).map(|_| [(); 3].map(|()| random.random_range(0.0..1.0))).collect();
    let particles = Particles::new(&all, domain, 1e-4).unwrap();
    let short = Domain::triclinic([0.0; 3], [[1.0, 0.0, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 4.0]]).unwrap();
    for technique in Technique::ALL {
        let (mut search, mut found) = (technique.start(), Vec::new());
        search.update(&particles);
        search.nearest(&particles, [0.3, 0.9, 0.7], 50, &mut found);
        assert_eq!(found.len(), 50);
        for Nearest { particle, distance } in &found {
            let want =
                nearest_of_many(&short, DVec3::from(all[*particle as usize]) - DVec3::new(0.3, 0.9, 0.7));
            assert!((distance - want).abs() < 1e-9, "{technique}: {distance}, {want}");
        }
    }
}

#[test]
fn a_kd_tree_counts_its_tests_of_boxes() {
    let mut random = Pcg64::seed_from_u64(47);
    let all = positions(&mut random, 5000, 10.0);
    let particles = Particles::new(&all, Domain::OPEN, 0.2).unwrap();
    let tests = || {
        let mut search = Technique::KdTree.start();
        search.search(&particles, &mut Vec::new());
        search.counters().volume_tests
    };
    let [shared, alone] = [tests(), parallel::alone(tests)];
    assert_eq!(shared, alone);
    // Each of some 1024 leaves is tested against others, and no more often than leaf by leaf.
    assert!((1024..1024 * 1024).contains(&shared), "{shared}");
}

/// Moves every particle by up to `step`.
fn jostle(random: &mut Pcg64, all: &mut [[f64; 3]], step: f64) {
    for x in all.iter_mut().flatten() {
        *x += random.random_range(-step..step);
    }
}

#[test]
fn a_list_with_a_skin_is_that_of_brute_force_in_every_frame() {
    let mut random = Pcg64::seed_from_u64(31);
    for space in SPACES {
        let domain = space.domain(2.0);
        let excluded: Vec<[u32; 2]> = (0..100).map(|i| [i + 1, i]).collect();
        for (full, balls) in [(false, false), (true, true)] {
            let options =
                NeighbourOptions { skin: 0.1, full, excluded: excluded.clone(), ..Default::default() };
            let mut list = NeighbourList::new(options).unwrap();
            let mut all = positions(&mut random, 300, 2.0);
            let radii: Vec<f64> = all.iter().map(|_| 0.1 * random.random::<f64>()).collect();
            let mut before = Vec::new();
            for frame in 0..30 {
                jostle(&mut random, &mut all, 0.005);
                let particles = match balls {
                    true => Particles::with_radii(&all, &radii, domain, 0.05).unwrap(),
                    false => Particles::new(&all, domain, 0.2).unwrap(),
                };
                list.update(&particles).unwrap();
                let mut want = found(Technique::Brute, &particles);
                want.retain(|&[i, j]| j != i + 1 || i >= 100);
                let mut changes = Changes::default();
                changes.between(&before, &want);
                assert_eq!(*list.changes(), changes, "{space:?}, frame {frame}");
                let shown: Vec<_> = list.pairs().iter().copied().filter(|[i, j]| i < j).collect();
                assert_eq!(shown, want, "{space:?}, frame {frame}");
                assert_eq!(list.pairs().len(), want.len() * if full { 2 } else { 1 });
                let ways = list.displacements(&particles);
                assert!(
                    ways.iter().zip(list.pairs()).all(|(way, &[i, j])| *way == particles.displacement(i, j))
                );
                before = want;
            }
            assert!((2..15).contains(&list.searches()), "{space:?}: {} searches", list.searches());
        }
    }
}

#[test]
fn a_list_without_a_skin_searches_every_frame_and_options_are_checked() {
    let all = [[0.0; 3], [0.5, 0.0, 0.0]];
    let particles = Particles::new(&all, Domain::OPEN, 1.0).unwrap();
    let mut list = NeighbourList::new(NeighbourOptions::default()).unwrap();
    for frame in 1..4 {
        list.update(&particles).unwrap();
        assert_eq!((list.pairs(), list.searches()), (&[[0, 1]][..], frame));
        assert_eq!(list.changes().began.len(), usize::from(frame == 1));
    }
    let with = |options: NeighbourOptions| NeighbourList::new(options).map(|_| ()).unwrap_err().to_string();
    assert!(with(NeighbourOptions { skin: -1.0, ..Default::default() }).contains("skin"));
    assert!(with(NeighbourOptions { voxel: Some(0.0), ..Default::default() }).contains("voxel"));
    assert!(with(NeighbourOptions { excluded: vec![[3, 3]], ..Default::default() }).contains("particle 3"));
    let cell = Domain::periodic([0.0; 3], [2.0; 3]).unwrap();
    let mut list = NeighbourList::new(NeighbourOptions { skin: 0.2, ..Default::default() }).unwrap();
    assert!(list.update(&Particles::new(&all, cell, 0.9).unwrap()).is_err());
}

#[test]
fn the_order_of_pairs_does_not_depend_on_threads_or_on_what_was_searched_before() {
    let mut random = Pcg64::seed_from_u64(41);
    let all = positions(&mut random, 20_000, 20.0);
    for domain in [Domain::OPEN, Space::Triclinic.domain(20.0)] {
        let particles = Particles::new(&all, domain, 0.5).unwrap();
        for technique in [Technique::Grid, Technique::Hash, Technique::KdTree] {
            let mut search = technique.start();
            let (mut shared, mut alone) = (Vec::new(), Vec::new());
            search.search(&particles, &mut shared);
            let counters = search.counters();
            parallel::alone(|| search.search(&particles, &mut alone));
            assert!(shared == alone, "{technique}");
            assert_eq!((search.counters().tests, counters.pairs), (counters.tests, alone.len() as u64));
            assert!(alone.len() > 10_000, "{}", alone.len());
        }
    }
}

/// With a budget every technique stops in time with pairs that are certain, and finds all where it is enough.
#[test]
fn every_technique_keeps_to_a_budget() {
    let mut random = Pcg64::seed_from_u64(37);
    let all = positions(&mut random, 3000, 10.0);
    let radii: Vec<f64> = (0..all.len()).map(|_| random.random_range(0.0..0.1)).collect();
    for space in [Space::Open, Space::Box] {
        let points = Particles::new(&all, space.domain(10.0), 0.4).unwrap();
        let balls = Particles::with_radii(&all, &radii, space.domain(10.0), 0.2).unwrap();
        for particles in [points, balls] {
            let want = found(Technique::Brute, &particles);
            for &technique in Technique::ALL {
                let within = |mut budget: Budget| technique.pairs_limited(&particles, None, &mut budget);
                for units in [0, 1] {
                    let none = within(Budget::units(units));
                    assert_eq!((none.pairs, none.at_least, none.finish), (None, 0, Finish::OutOfBudget));
                    assert_eq!(none.counters, SearchCounters::default(), "{technique}, {units} units");
                }
                let few = within(Budget::units(1000));
                assert_eq!((few.pairs.is_none(), few.finish), (true, Finish::OutOfBudget), "{technique}");
                let mut before = few;
                for units in [10_000, 100_000, 1_000_000, 10_000_000] {
                    let now = within(Budget::units(units));
                    let count = want.len() as u64;
                    assert!((before.at_least..=count).contains(&now.at_least), "{technique}, {units} units");
                    let least = u64::from(now.pairs.is_some()) * count;
                    assert!(now.at_least >= least, "{technique}, {units} units");
                    if now.pairs.is_none() {
                        let SearchCounters { tests, volume_tests, updates, .. } = now.counters;
                        let done = tests + volume_tests + updates;
                        assert!(done <= units + 1000, "{technique}, {units} units: {now:?}");
                        // What was drawn and not done: at most the tests of sixteen particles with all others.
                        assert!(done + 512 + 16 * 3000 >= units, "{technique}, {units} units: {now:?}");
                        let alone = parallel::alone(|| within(Budget::units(units)));
                        assert_eq!(alone, now, "{technique}");
                    }
                    before = now;
                }
                let is_chosen = technique == Technique::Hybrid;
                assert_eq!(before.technique == technique, !is_chosen, "{technique}: {}", before.reason);
                assert_eq!(before.reason.contains("expected for a frame"), is_chosen, "{}", before.reason);
                let mut pairs = before.pairs.expect("ten million units are enough");
                pairs.sort_unstable();
                assert!(pairs == want, "{technique}");
                let mut resumed = within(Budget::units(0));
                let mut calls = 0;
                while resumed.finish == Finish::OutOfBudget {
                    let before = resumed.at_least;
                    resumed = resumed.resume(&mut Budget::units(50_000));
                    assert!(resumed.at_least >= before && calls < 1000, "{technique}");
                    calls += 1;
                }
                assert!(calls > 1, "{technique}");
                let mut resumed = resumed.pairs.unwrap_or_default();
                resumed.sort_unstable();
                assert!(resumed == want, "{technique}, in {calls} calls");
                let soon = Budget::time(std::time::Duration::from_nanos(1));
                assert_eq!(within(soon).finish, Finish::OutOfBudget, "{technique}");
            }
        }
    }
}

/// The pairs of points in a slanted cell of integers, by integers alone: all images within half a cell along each vector.
fn pairs_by_integers(
    all: &[[i64; 3]],
    vectors: &[[i64; 3]; 3],
    along: [bool; 3],
    cutoff: i64,
) -> Vec<[u32; 2]> {
    let dot = |u: [i64; 3], v: [i64; 3]| u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    let cross = |u: [i64; 3], v: [i64; 3]| {
        [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    };
    let rows: [[i64; 3]; 3] = std::array::from_fn(|k| cross(vectors[(k + 1) % 3], vectors[(k + 2) % 3]));
    let volume = dot(vectors[0], rows[0]);
    let is_near = |d: [i64; 3]| {
        let range = |k: usize| {
            let middle = -((2 * dot(rows[k], d) + volume).div_euclid(2 * volume));
            if along[k] { middle as i32 - 1..=middle as i32 + 1 } else { 0..=0 }
        };
        shifts(range(0), range(1), range(2)).any(|s| {
            let image: [i64; 3] =
                std::array::from_fn(|i| d[i] + (0..3).map(|k| i64::from(s[k]) * vectors[k][i]).sum::<i64>());
            dot(image, image) <= cutoff * cutoff
        })
    };
    let apart = |i: usize, j: usize| std::array::from_fn(|k| all[j][k] - all[i][k]);
    (0..all.len())
        .flat_map(|i| (i + 1..all.len()).map(move |j| [i, j]))
        .filter(|&[i, j]| is_near(apart(i, j)))
        .map(|pair| pair.map(|i| i as u32))
        .collect()
}

#[test]
fn pairs_half_a_slanted_cell_apart_are_those_of_integers() {
    let two = [[1.0; 3], [1.0, 5.0, 1.0]];
    let cell = Domain::triclinic([0.0; 3], [[10.0, 0.0, 0.0], [3.0, 8.0, 0.0], [0.0, 0.0, 10.0]]).unwrap();
    let particles = Particles::new(&two, cell, 4.0).unwrap();
    assert_eq!(compare(&particles, "two at half the width"), [1, 1]);
    assert!(particles.is_pair(0, 1));
    assert_eq!(particles.displacement(0, 1), super::Displacement { vector: [0.0, 4.0, 0.0], shift: [0; 3] });

    let mut random = Pcg64::seed_from_u64(59);
    let (mut frames, mut pairs, mut possible, mut missed) = (0, 0, 0, 0);
    while frames < 160 {
        let even = |random: &mut Pcg64| 2 * random.random_range(2..8_i64);
        let [width, long, high] = [(); 3].map(|()| even(&mut random));
        let any = |random: &mut Pcg64| random.random_range(-7..8_i64);
        let vectors = match frames % 4 {
            0 => [[long, 0, 0], [any(&mut random), width, 0], [0, 0, high]],
            1 => [[long, 0, 0], [0, high, 0], [any(&mut random), any(&mut random), width]],
            2 => [[width, 0, 0], [any(&mut random), long, 0], [any(&mut random), any(&mut random), high]],
            _ => [[long, any(&mut random), 0], [0, width, 0], [0, 0, high]],
        };
        let along = if frames % 5 == 4 { [true, true, false] } else { [true; 3] };
        // A power of two leaves everything exact.
        let unit = [1.0, 1024.0, 2.0_f64.powi(-20)][frames % 3];
        let doubles = |v: [i64; 3]| v.map(|x| x as f64 * unit);
        let Ok(domain) = Domain::triclinic([0.0; 3], vectors.map(doubles)) else { continue };
        let domain = domain.along(along);
        let narrowest = domain.widths().into_iter().fold(f64::INFINITY, f64::min) / unit;
        let half = (0.5 * narrowest * (1.0 + 1e-14)).floor() as i64;
        let cutoff = (half - i64::from(frames % 7 == 6)).max(1);
        let far = if frames % 8 == 7 { 1 << 20 } else { 0 };
        let mut all: Vec<[i64; 3]> =
            (0..20).map(|_| [(); 3].map(|()| far + random.random_range(-2..25_i64))).collect();
        // As many exactly a cutoff away from another, in a random direction of six.
        for i in 0..20 {
            let (mut x, axis) = (all[i], random.random_range(0..3));
            x[axis] += if random.random_bool(0.5) { cutoff } else { -cutoff };
            all.push(x);
        }
        let places: Vec<[f64; 3]> = all.iter().map(|&x| doubles(x)).collect();
        // Widths are rounded, so that a cutoff of half of them may be refused.
        let Ok(particles) = Particles::new(&places, domain, cutoff as f64 * unit) else { continue };
        let want = pairs_by_integers(&all, &vectors, along, cutoff);
        assert_eq!(found(Technique::Brute, &particles), want, "{vectors:?}, {along:?}, {cutoff}");
        let [some, of] = compare(&particles, &format!("{vectors:?}, {along:?}, {cutoff}"));
        (pairs, possible, frames) = (pairs + some, possible + of, frames + 1);
        for &[i, j] in &want {
            let d = particles.position(j) - particles.position(i);
            let rounded = domain.shifted(d, domain.nearest_image(d)).length();
            missed += u32::from(rounded > particles.cutoff() * (1.0 + 1e-9));
            let way = particles.displacement(i, j);
            assert!(DVec3::from(way.vector).length() <= particles.cutoff() * (1.0 + 1e-15), "{way:?}");
            let d = DVec3::from(places[j as usize]) - DVec3::from(places[i as usize]);
            assert_eq!(domain.shifted(d, way.shift.map(f64::from)), DVec3::from(way.vector));
        }
    }
    assert!(pairs * 20 > possible && pairs * 2 < possible, "{pairs} of {possible}");
    assert!(missed > 150, "{missed} pairs by another image than that of rounded fractions");
}

#[test]
fn half_an_edge_of_a_box_is_the_largest_cutoff_exactly() {
    for edge in [93.0, 49.0, 98.0, 103.0, 107.0, 0.1, 1e-3, 7e20] {
        let half = 0.5 * edge;
        let cell = Domain::periodic([0.0; 3], [edge; 3]).unwrap();
        assert_eq!(cell.widths(), [edge; 3]);
        let all = [[0.0; 3], [half, 0.0, 0.0]];
        let particles = Particles::new(&all, cell, half).unwrap();
        assert_eq!(compare(&particles, "half an edge apart"), [1, 1]);
        assert!(Particles::new(&all, cell, half.next_up()).is_err(), "{edge}");
        let radii = [0.5 * half, (0.5 * half).next_up()];
        assert!(Particles::with_radii(&all, &[radii[0]; 2], cell, 0.0).is_ok(), "{edge}");
        assert!(Particles::with_radii(&all, &radii, cell, 0.0).is_err(), "{edge}: by less than a rounding");
    }
}

#[test]
fn displacements_come_from_the_positions_as_they_were_given() {
    let unit = Domain::periodic([0.0; 3], [1.0; 3]).unwrap();
    let all = [[0.0; 3], [-1e-17, 0.0, 0.0], [1e-17, 0.0, 0.0]];
    let particles = Particles::new(&all, unit, 0.1).unwrap();
    for (i, j, x) in [(0, 1, -1e-17), (0, 2, 1e-17), (1, 2, 2e-17)] {
        let way = particles.displacement(i, j);
        assert_eq!((way.vector, way.shift), ([x, 0.0, 0.0], [0; 3]), "{i} {j}");
    }
    let far = Domain::periodic([1e6, 0.0, 0.0], [1e6 + 1.0, 1.0, 1.0]).unwrap();
    let mut random = Pcg64::seed_from_u64(61);
    let all: Vec<[f64; 3]> = (0..60).map(|_| [(); 3].map(|()| random.random_range(-2.0..3.0))).collect();
    let particles = Particles::new(&all, far, 0.4).unwrap();
    let mut rounded = 0;
    for i in 0..60_u32 {
        for j in i + 1..60 {
            let way = particles.displacement(i, j);
            let [p, q] = [i, j].map(|i| all[i as usize]);
            let want: [f64; 3] = std::array::from_fn(|k| {
                ((units(q[k]) - units(p[k]) + (i128::from(way.shift[k]) << 58)) as f64) / (1_u64 << 58) as f64
            });
            assert_eq!(way.vector, want, "{i} {j}");
            let d = particles.position(j) - particles.position(i);
            rounded += u32::from(far.shifted(d, far.nearest_image(d)).x != way.vector[0]);
        }
    }
    assert!(rounded > 1000, "{rounded} would be rounded otherwise");
}
