//! Every design gives the answers of brute force; updates stay conservative; sharing changes nothing.

use glam::DVec3;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::bound::Volume;
use crate::contact::{Certainty, Finish};
use crate::geom::triangle_triangle::meet;
use crate::{Mesh, Pose};

fn vector(rng: &mut Pcg64) -> DVec3 {
    DVec3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0))
}

/// A closed, bumpy ball of 2·n·(m − 1) triangles.
fn bumpy(n: u32, m: u32, bumps: f64) -> Mesh {
    let mut points = vec![DVec3::Z, DVec3::NEG_Z];
    for i in 1..m {
        let polar = std::f64::consts::PI * f64::from(i) / f64::from(m);
        for j in 0..n {
            let turn = std::f64::consts::TAU * f64::from(j) / f64::from(n);
            let radius = 1.0 + bumps * (3.0 * turn).sin() * (4.0 * polar).cos();
            let (flat, up) = (polar.sin(), polar.cos());
            points.push(radius * DVec3::new(flat * turn.cos(), flat * turn.sin(), up));
        }
    }
    let at = |i: u32, j: u32| 2 + (i - 1) * n + j % n;
    let mut triangles = Vec::new();
    for j in 0..n {
        triangles.push([0, at(1, j), at(1, j + 1)]);
        triangles.push([1, at(m - 1, j + 1), at(m - 1, j)]);
        for i in 1..m - 1 {
            triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    Mesh::from_points(points, triangles).unwrap()
}

/// Triangles of very different shapes anywhere in a cube, some of them twice or without area.
fn soup(rng: &mut Pcg64, count: usize) -> Mesh {
    let mut points = Vec::new();
    for i in 0..count {
        let p = vector(rng);
        let long = if i % 7 == 0 { 1.0 } else { 0.15 };
        let second = p + vector(rng) * long;
        let third = if i % 11 == 0 { p + (second - p) * 0.5 } else { p + vector(rng) * 0.15 };
        points.extend([p, second, third]);
    }
    let mut triangles: Vec<[u32; 3]> = (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    triangles.extend_from_within(..count / 10);
    Mesh::from_points(points, triangles).unwrap()
}

fn pose(rng: &mut Pcg64, spread: f64) -> Pose {
    let q: [f64; 4] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
    Pose::new((vector(rng) * spread).to_array(), q).unwrap()
}

fn brute_force(a: &Mesh, pa: &Pose, b: &Mesh, pb: &Pose) -> Vec<[u32; 2]> {
    let placed = |m: &Mesh, p: &Pose| -> Vec<[DVec3; 3]> {
        (0..m.triangles().len() as u32).map(|t| m.corners(t).map(|v| p.apply(v))).collect()
    };
    let (ta, tb) = (placed(a, pa), placed(b, pb));
    let mut pairs = Vec::new();
    for (i, a) in ta.iter().enumerate() {
        for (j, b) in tb.iter().enumerate() {
            if meet(a, b) {
                pairs.push([i as u32, j as u32]);
            }
        }
    }
    pairs
}

fn builds() -> Vec<Build> {
    let splits = [Split::Median, Split::Mean, Split::SurfaceArea, Split::Midpoint, Split::Clusters];
    let axes = [Axis::Longest, Axis::Principal];
    let down = splits.into_iter().flat_map(|split| axes.map(|axis| Build::TopDown { split, axis }));
    down.chain([Build::BottomUp { window: 8 }]).collect()
}

/// Volumes × builds × degrees × fits; partition, structure and leaf size go round.
fn all_designs() -> Vec<Options> {
    let mut designs = Vec::new();
    let degrees = [Degree::Two, Degree::Four, Degree::Eight];
    for volume in Volume::ALL {
        for build in builds() {
            for degree in degrees {
                for fit in [Fit::Wrapped, Fit::Layered] {
                    let n = designs.len();
                    let partition = [Partition::Whole, Partition::Orientation, Partition::Parts][n % 3];
                    let structure = [Structure::Tree, Structure::Dag][n / 3 % 2];
                    let below = [None, Some((2, Volume::ALL[n / 5 % 9]))][n % 2];
                    let leaf = [1, 3, 8][n / 2 % 3];
                    designs.push(Options {
                        volume,
                        below,
                        partition,
                        build,
                        degree,
                        fit,
                        structure,
                        leaf,
                        rebuild_at: 2.0,
                    });
                }
            }
        }
    }
    designs
}

#[test]
fn every_design_gives_the_pairs_of_brute_force() {
    let mut rng = Pcg64::seed_from_u64(1);
    let (a, b) = (bumpy(8, 6, 0.3), soup(&mut rng, 40));
    let cases: Vec<(Pose, Pose, Vec<[u32; 2]>)> = (0..10)
        .map(|i| {
            let (pa, pb) = (pose(&mut rng, 0.1), pose(&mut rng, [0.5, 2.2][i % 2]));
            (pa, pb, brute_force(&a, &pa, &b, &pb))
        })
        .collect();
    let hits = cases.iter().filter(|c| !c.2.is_empty()).count();
    assert!((4..=9).contains(&hits), "{hits} of {} placements meet", cases.len());
    let designs = all_designs();
    assert!(designs.len() > 500);
    for (n, options) in designs.iter().enumerate() {
        let ta = Tree::build(&a, options);
        // The other tree may be designed in any other way.
        let tb = Tree::build(&b, &designs[if n % 3 == 0 { (n * 41) % designs.len() } else { n }]);
        for (k, (pa, pb, want)) in cases.iter().enumerate().skip(n % 4).step_by(4) {
            let (pa, pb) = (Posed { tree: &ta, mesh: &a, pose: pa }, Posed { tree: &tb, mesh: &b, pose: pb });
            let descend = [Descend::Larger, Descend::Both][(n + k) % 2];
            let found = collide(pa, pb, Ask { descend, ..Ask::default() });
            assert_eq!(&found.pairs, want, "placement {k}: {options:?}");
            assert_eq!(found.outcome.certainty, Certainty::Exact);
            assert_eq!(found.outcome.finish, Finish::Complete);
            assert!(found.outcome.work.volume_tests > 0);
            let first = collide(pa, pb, Ask { answer: Answer::Detect, descend, stop: None });
            assert_eq!(first.touching(), !want.is_empty());
            assert!(first.pairs.iter().all(|p| want.contains(p)) && first.pairs.len() <= 1);
            assert!(first.outcome.work.primitive_tests <= found.outcome.work.primitive_tests);
        }
    }
}

#[test]
fn presets_prune_almost_everything() {
    let mesh = bumpy(40, 24, 0.3);
    let mut rng = Pcg64::seed_from_u64(2);
    let placements: Vec<(Pose, Pose, Vec<[u32; 2]>)> = (0..6)
        .map(|_| (pose(&mut rng, 0.1), pose(&mut rng, 1.6)))
        .map(|(pa, pb)| (pa, pb, brute_force(&mesh, &pa, &mesh, &pb)))
        .collect();
    let all = (mesh.triangles().len() * mesh.triangles().len()) as u64;
    for (name, options) in Options::PRESETS {
        let tree = Tree::build(&mesh, &options);
        for (pa, pb, want) in &placements {
            let found = collide(
                Posed { tree: &tree, mesh: &mesh, pose: pa },
                Posed { tree: &tree, mesh: &mesh, pose: pb },
                Ask::default(),
            );
            assert_eq!(&found.pairs, want, "{name}");
            let np = found.outcome.work.primitive_tests;
            assert!(np * 20 < all, "{name}: {np} of {all} triangle pairs tested");
        }
    }
}

#[test]
fn degenerate_meshes_are_answered() {
    let one = Mesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2]]).unwrap();
    let same = Mesh::new(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2]; 33]).unwrap();
    let points = Mesh::new(vec![[0.25, 0.25, 0.0]], vec![[0, 0, 0]; 9]).unwrap();
    let line: Vec<[f64; 3]> = (0..40).map(|i| [2f64.powi(-i), 0.0, 0.0]).collect();
    let line = Mesh::new(line, (0..38).map(|i| [i, i + 1, i + 2]).collect()).unwrap();
    let huge = |s: f64| {
        let points = bumpy(6, 5, 0.2).vertices().iter().map(|&p| p * s).collect();
        Mesh::from_points(points, bumpy(6, 5, 0.2).triangles().to_vec()).unwrap()
    };
    let meshes = [one, same, points, line, huge(1e59), huge(1e-300)];
    for (n, options) in all_designs().into_iter().enumerate().step_by(7) {
        let (a, b) = (&meshes[n % 6], &meshes[n / 7 % 6]);
        let (ta, tb) = (Tree::build(a, &options), Tree::build(b, &options));
        let found = collide(
            Posed { tree: &ta, mesh: a, pose: &Pose::IDENTITY },
            Posed { tree: &tb, mesh: b, pose: &Pose::IDENTITY },
            Ask::default(),
        );
        assert_eq!(found.pairs, brute_force(a, &Pose::IDENTITY, b, &Pose::IDENTITY), "{options:?}");
    }
}

#[test]
fn wrapped_and_layered_are_the_same_for_boxes_and_dops() {
    let mesh = bumpy(12, 9, 0.3);
    for volume in Volume::ALL {
        let wrapped = Tree::build(&mesh, &Options { volume, ..Options::DEFAULT });
        let layered = Tree::build(&mesh, &Options { volume, fit: Fit::Layered, ..Options::DEFAULT });
        // A hull of hulls is the hull of the points too, but may name points on its edges.
        if volume != Volume::Hull {
            let same = wrapped.bounds == layered.bounds;
            assert_eq!(same, volume.layers_are_wrapped(), "{}", volume.name());
        }
        let surface = |tree: &Tree| tree.nodes.iter().map(|n| n.radius * n.radius).sum::<f64>();
        assert!(surface(&wrapped) <= surface(&layered) * 1.0001, "{}", volume.name());
    }
}

#[test]
fn stopping_at_a_level_misses_nothing_and_keeps_its_word() {
    let mesh = bumpy(16, 10, 0.2);
    let mut rng = Pcg64::seed_from_u64(3);
    let (mut shared, mut last) = (0, f64::INFINITY);
    for stop in [0, 2, 4, 6, 8] {
        let mut worst = 0.0_f64;
        for volume in [Volume::Aabb, Volume::Sphere, Volume::Obb] {
            let tree = Tree::build(&mesh, &Options { volume, ..Options::DEFAULT });
            for _ in 0..12 {
                let (pa, pb) = (pose(&mut rng, 0.1), pose(&mut rng, 2.0));
                let [a, b] = [&pa, &pb].map(|pose| Posed { tree: &tree, mesh: &mesh, pose });
                let coarse = collide(a, b, Ask { stop: Some(stop), ..Ask::default() });
                let exact = collide(a, b, Ask::default());
                assert!(coarse.touching() || exact.pairs.is_empty(), "a contact was missed");
                assert!(coarse.outcome.work.primitive_tests <= exact.outcome.work.primitive_tests);
                let Certainty::Conservative { tolerance } = coarse.outcome.certainty else {
                    assert_eq!(coarse.pairs, exact.pairs);
                    continue;
                };
                shared += 1;
                worst = worst.max(tolerance);
                assert!(gap(&mesh, &pa, &pb) <= tolerance, "further apart than {tolerance}");
            }
        }
        assert!(worst <= last, "level {stop}: {worst} after {last}");
        last = worst;
    }
    assert!((40..170).contains(&shared), "{shared} of 180 placements overlapped at the level");
}

/// The smallest distance between corners: at least that of the surfaces.
fn gap(mesh: &Mesh, pa: &Pose, pb: &Pose) -> f64 {
    let placed = |p: &Pose| mesh.vertices().iter().map(|&v| p.apply(v)).collect::<Vec<_>>();
    let (a, b) = (placed(pa), placed(pb));
    a.iter().flat_map(|p| b.iter().map(|q| p.distance(*q))).fold(f64::INFINITY, f64::min)
}

fn moved(mesh: &Mesh, by: impl Fn(usize, DVec3) -> DVec3) -> Mesh {
    let points = mesh.vertices().iter().enumerate().map(|(i, &p)| by(i, p)).collect();
    Mesh::from_points(points, mesh.triangles().to_vec()).unwrap()
}

fn agrees_with_brute_force(tree: &Tree, mesh: &Mesh, rng: &mut Pcg64, what: &str) -> bool {
    let (pa, pb) = (pose(rng, 0.1), pose(rng, 1.7));
    let [a, b] = [&pa, &pb].map(|pose| Posed { tree, mesh, pose });
    let want = brute_force(mesh, &pa, mesh, &pb);
    assert_eq!(collide(a, b, Ask::default()).pairs, want, "{what}");
    !want.is_empty()
}

#[test]
fn refit_local_refit_and_rebuild_follow_any_deformation() {
    let rest = bumpy(10, 8, 0.2);
    let mut rng = Pcg64::seed_from_u64(4);
    let (mut hits, mut asked) = (0, 0);
    for (n, options) in all_designs().into_iter().enumerate().step_by(13) {
        let mut whole = Tree::build(&rest, &options);
        let mut local = whole.clone();
        let mut way_up = WayUp::new(&local);
        let mut mesh = rest.clone();
        for step in 0..3 {
            let hot = rng.random_range(0..mesh.vertices().len());
            let push = vector(&mut rng) * 0.4;
            mesh = moved(&mesh, |i, p| if i == hot { p + push } else { p });
            let touched: Vec<u32> = (0..mesh.triangles().len() as u32)
                .filter(|&t| mesh.triangles()[t as usize].contains(&(hot as u32)))
                .collect();
            let done = whole.refit(&mesh).unwrap();
            assert_eq!(whole.check(&mesh), Ok(()), "{n} {step}");
            if let Some(way_up) = &mut way_up {
                let work = way_up.refit(&mut local, &mesh, &touched).unwrap();
                assert!(work.updates <= done.work.updates);
                assert_eq!(local.check(&mesh), Ok(()));
                assert_eq!(local.bounds, whole.bounds, "{options:?}");
            }
        }
        asked += 1;
        hits += usize::from(agrees_with_brute_force(&whole, &mesh, &mut rng, "refit"));
    }
    assert!(hits * 5 > asked && hits * 10 < asked * 9, "{hits} of {asked}");
}

#[test]
fn a_local_refit_touches_few_volumes() {
    let mesh = bumpy(60, 30, 0.1);
    for fit in [Fit::Wrapped, Fit::Layered] {
        let mut tree = Tree::build(&mesh, &Options { fit, ..Options::DEFAULT });
        let mut way_up = WayUp::new(&tree).unwrap();
        let pushed = moved(&mesh, |i, p| if i == 200 { p * 1.01 } else { p });
        let touched: Vec<u32> = (0..mesh.triangles().len() as u32)
            .filter(|&t| mesh.triangles()[t as usize].contains(&200))
            .collect();
        let updates = way_up.refit(&mut tree, &pushed, &touched).unwrap().updates;
        assert!(updates * 20 < tree.node_count() as u64, "{updates} of {}", tree.node_count());
        assert!(way_up.refit(&mut tree, &pushed, &[u32::MAX]).is_err());
    }
}

#[test]
fn a_decayed_tree_is_rebuilt() {
    let rest = bumpy(24, 16, 0.1);
    let mut tree = Tree::build(&rest, &Options::DEFAULT);
    let mut rng = Pcg64::seed_from_u64(5);
    let gentle = moved(&rest, |_, p| p * 1.1);
    let done = tree.update(&gentle).unwrap();
    assert!(!done.rebuilt && done.decay < 1.01, "{done:?}");
    // Every vertex goes somewhere else: neighbours in the tree are no longer neighbours in space.
    let points: Vec<DVec3> = (0..rest.vertices().len()).map(|_| vector(&mut rng)).collect();
    let torn = moved(&rest, |i, _| points[i]);
    let kept = tree.clone().refit(&torn).unwrap().decay;
    let done = tree.update(&torn).unwrap();
    assert!(done.rebuilt && kept > 2.0, "{done:?} after {kept}");
    assert_eq!(done.decay, 1.0);
    assert_eq!(tree.check(&torn), Ok(()));
    assert!(tree.refit(&bumpy(3, 3, 0.0)).is_err());
}

#[test]
fn morph_weights_alone_bound_the_morphed_mesh() {
    let base = bumpy(12, 8, 0.1);
    let mut rng = Pcg64::seed_from_u64(6);
    let targets: Vec<Vec<DVec3>> = vec![
        base.vertices().iter().map(|&p| p * DVec3::new(2.0, 1.0, 0.5)).collect(),
        base.vertices().iter().map(|&p| p + DVec3::X * p.z * p.z).collect(),
        base.vertices().iter().map(|&p| p + vector(&mut rng) * 0.2).collect(),
    ];
    let (mut hits, mut asked) = (0, 0);
    for volume in [Volume::Aabb, Volume::Dop6, Volume::Dop14, Volume::Dop18, Volume::Dop26] {
        let mut tree = Tree::build(&base, &Options { volume, degree: Degree::Four, ..Options::DEFAULT });
        let morph = Morph::new(&tree, &base, &targets).unwrap();
        for round in 0..12 {
            let scale = [1.0, 3.0, 1e3][round % 3];
            let weights: [f64; 3] = std::array::from_fn(|_| rng.random_range(-0.5..1.0) * scale);
            let mesh =
                Mesh::from_points(blend(base.vertices(), &targets, &weights), base.triangles().to_vec())
                    .unwrap();
            let work = morph.update(&mut tree, &weights).unwrap();
            assert_eq!(work.updates, tree.node_count() as u64);
            assert_eq!(tree.check(&mesh), Ok(()), "{} {weights:?}", volume.name());
            if scale < 2.0 {
                asked += 1;
                hits += usize::from(agrees_with_brute_force(&tree, &mesh, &mut rng, "morph"));
            }
        }
        assert!(morph.update(&mut tree, &[1.0]).is_err());
    }
    assert!(hits * 5 > asked && hits < asked, "{hits} of {asked}");
    let spheres = Tree::build(&base, &Options::SPHERE_TREE);
    assert!(Morph::new(&spheres, &base, &targets).is_err());
}

#[test]
fn mode_amplitudes_alone_bound_the_deformed_mesh() {
    let rest = bumpy(12, 8, 0.1);
    let mut rng = Pcg64::seed_from_u64(7);
    let modes: Vec<Vec<DVec3>> = (0..4)
        .map(|k| {
            let wave = vector(&mut rng) * f64::from(k);
            let along = vector(&mut rng);
            rest.vertices().iter().map(|&p| along * p.dot(wave).cos()).collect()
        })
        .collect();
    let mut tree = Tree::build(&rest, &Options::SPHERE_TREE);
    let bound = Modes::new(&tree, &rest, &modes).unwrap();
    let (mut hits, mut asked) = (0, 0);
    for round in 0..30 {
        let scale = [0.2, 1.0, 1e3][round % 3];
        let q: [f64; 4] = std::array::from_fn(|_| rng.random_range(-1.0..1.0) * scale);
        let mesh = Mesh::from_points(deform(rest.vertices(), &modes, &q), rest.triangles().to_vec()).unwrap();
        bound.update(&mut tree, &q).unwrap();
        assert_eq!(tree.check(&mesh), Ok(()), "{q:?}");
        if scale < 0.5 {
            asked += 1;
            hits += usize::from(agrees_with_brute_force(&tree, &mesh, &mut rng, "modes"));
        }
    }
    assert!(hits > 1 && hits < asked, "{hits} of {asked}");
    // At rest nothing has grown but rounding.
    bound.update(&mut tree, &[0.0; 4]).unwrap();
    let fresh = Tree::build(&rest, &Options::SPHERE_TREE);
    assert!(tree.cost() <= fresh.cost() * 1.0001);
    assert!(bound.update(&mut tree, &[1.0]).is_err());
    assert!(Modes::new(&Tree::build(&rest, &Options::DEFAULT), &rest, &modes).is_err());
}

/// A part repeated at places of a grid, each place off by what floats round.
fn repeated(part: &Mesh, count: u32, step: f64) -> Mesh {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for k in 0..count {
        let place = DVec3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16)) * step;
        let base = points.len() as u32;
        points.extend(part.vertices().iter().map(|&p| p + place));
        triangles.extend(part.triangles().iter().map(|t| t.map(|v| v + base)));
    }
    Mesh::from_points(points, triangles).unwrap()
}

#[test]
fn equal_parts_are_stored_once_and_answer_the_same() {
    let mesh = repeated(&bumpy(10, 7, 0.2), 32, 2.7);
    let other = bumpy(14, 9, 0.3);
    let mut rng = Pcg64::seed_from_u64(8);
    for volume in Volume::ALL {
        let plain = Options { volume, partition: Partition::Parts, ..Options::DEFAULT };
        let tree = Tree::build(&mesh, &plain);
        let dag = Tree::build(&mesh, &Options { structure: Structure::Dag, ..plain });
        assert!(dag.is_shared() && !tree.is_shared());
        assert!(dag.node_count() * 10 < tree.node_count(), "{} of {}", dag.node_count(), tree.node_count());
        assert!(dag.bytes() * 3 < tree.bytes(), "{} of {} bytes", dag.bytes(), tree.bytes());
        let single = Tree::build(&other, &plain);
        let mut hits = 0;
        for _ in 0..8 {
            let (pa, pb) = (pose(&mut rng, 0.1), pose(&mut rng, 6.0));
            let b = Posed { tree: &single, mesh: &other, pose: &pb };
            let want = collide(Posed { tree: &tree, mesh: &mesh, pose: &pa }, b, Ask::default()).pairs;
            let a = Posed { tree: &dag, mesh: &mesh, pose: &pa };
            assert_eq!(collide(a, b, Ask::default()).pairs, want);
            let swapped: Vec<[u32; 2]> = collide(b, a, Ask::default()).pairs;
            assert_eq!(swapped.len(), want.len());
            hits += usize::from(!want.is_empty());
        }
        assert!((1..8).contains(&hits), "{hits} of 8");
    }
}

#[test]
fn the_same_input_gives_the_same_tree() {
    let mesh = bumpy(20, 12, 0.2);
    for (name, options) in Options::PRESETS {
        assert_eq!(Tree::build(&mesh, &options), Tree::build(&mesh, &options), "{name}");
    }
}
