//! Projections against closed forms and against trying every set of pressing contacts.

use glam::{DMat3, DQuat, DVec3, Vec3Swizzles};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::Feature;

/// A contact with a's point at `place + normal·depth/2`, as penetration has it.
fn contact(place: DVec3, normal: DVec3, depth: f64) -> Contact {
    let half = normal * (0.5 * depth);
    let features = [Feature::Surface; 2];
    Contact { points: [place + half, place - half], normal, depth, area: 0.0, features, id: 0, time: 0.0 }
}

fn rigid(centre: DVec3, mass: f64) -> Receiver<'static> {
    let inverse_inertia = DMat3::from_diagonal(DVec3::new(2.0, 3.0, 4.0) / mass);
    Receiver::Rigid { centre, inverse_mass: 1.0 / mass, inverse_inertia, moved: [DVec3::ZERO; 2] }
}

fn project(options: Projection, bodies: &[Receiver<'_>], contacts: &[([usize; 2], Contact)]) -> Projected {
    options.project(bodies, contacts, &mut Stuck::default()).unwrap()
}

fn rigid_displacement(displacement: &Displacement) -> [DVec3; 2] {
    match displacement {
        Displacement::Rigid { translation, rotation } => [*translation, *rotation],
        Displacement::None => [DVec3::ZERO; 2],
        Displacement::Vertices(_) => panic!("a rigid body with vertices"),
    }
}

#[test]
fn the_plane_is_shifted_towards_the_stiffer_body_in_proportion() {
    let square = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y];
    let (triangles, depth) = ([[0, 1, 2], [1, 3, 2]], 0.02);
    for stiffness in [[1.0, 1.0], [1.0, 9.0], [9.0, 1.0], [1.0, f64::INFINITY], [2.0, 3.0]] {
        let compliance = stiffness.map(|k: f64| [1.0 / k; 4]);
        let body = |compliance| Receiver::Deformable {
            vertices: &square,
            triangles: &triangles,
            compliance,
            moved: &[],
        };
        let bodies = [body(&compliance[0]), body(&compliance[1])];
        for feature in [Feature::Face(0), Feature::Edge([1, 2]), Feature::Vertex(1), Feature::Face(1)] {
            let place = match feature {
                Feature::Face(0) => (square[0] + square[1] + square[2]) / 3.0,
                Feature::Face(_) => square[1] * 0.2 + square[3] * 0.7 + square[2] * 0.1,
                Feature::Edge(_) => square[1] * 0.3 + square[2] * 0.7,
                _ => square[1],
            };
            let one = Contact { features: [feature; 2], ..contact(place, DVec3::Z, depth) };
            let done = project(Projection::default(), &bodies, &[([0, 1], one)]);
            // From a's point, the plane lies as far as a gives way.
            let share = if stiffness[1] == f64::INFINITY {
                1.0
            } else {
                stiffness[1] / (stiffness[0] + stiffness[1])
            };
            let plane = one.points[0] - DVec3::Z * (share * depth);
            assert!(
                (done.planes[0] - plane).length() < 1e-15,
                "{stiffness:?} {feature:?}: {:?}",
                done.planes
            );
            // Both facets lie on it.
            for (side, displacement) in done.displacements.iter().enumerate() {
                let Displacement::Vertices(list) = displacement else { panic!("{displacement:?}") };
                let side_of = Side::new(&one, side, (side, &bodies[side]), &mut Nodes::default()).unwrap();
                assert_eq!(side_of.way, DVec3::ZERO);
                let moved: DVec3 = match feature {
                    Feature::Vertex(_) => list[0].1,
                    Feature::Edge(_) => list[0].1 * 0.3 + list[1].1 * 0.7,
                    Feature::Face(0) => list.iter().map(|(_, d)| *d / 3.0).sum(),
                    _ => list.iter().zip([0.2, 0.1, 0.7]).map(|((_, d), w)| *d * w).sum(),
                };
                assert!(((one.points[side] + moved - plane).z).abs() < 1e-15, "{side} of {feature:?}");
            }
            assert!(done.residual < 1e-15 && done.unanswered == 0 && done.rounds <= 2, "{done:?}");
        }
    }
}

#[test]
fn rigid_bodies_part_by_their_masses_and_keep_centre_and_moment() {
    let bodies = [rigid(DVec3::ZERO, 1.0), rigid(DVec3::new(2.0, 0.3, -0.2), 3.0)];
    let one = contact(DVec3::new(1.0, 0.5, 0.1), DVec3::new(2.0, 1.0, -1.0).normalize(), 0.1);
    let done = project(Projection::default(), &bodies, &[([0, 1], one)]);
    let [a, b] = [0, 1].map(|k| rigid_displacement(&done.displacements[k]));
    assert!((a[0] + 3.0 * b[0]).length() < 1e-16, "the centre of mass stays");
    let moment = |body: &Receiver<'_>, d: [DVec3; 2]| match body {
        Receiver::Rigid { centre, inverse_mass, inverse_inertia, .. } => {
            centre.cross(d[0] / *inverse_mass) + inverse_inertia.inverse() * d[1]
        }
        _ => DVec3::ZERO,
    };
    // The points differ by the depth along the force, so they have one lever.
    assert!((moment(&bodies[0], a) + moment(&bodies[1], b)).length() < 1e-15);
    assert!(done.residual < 1e-16);
}

/// The forces of the only set of pressing contacts that leaves no overlap and pulls nowhere; by trying all.
fn twin(matrix: &[Vec<f64>], depth: &[f64]) -> Option<Vec<f64>> {
    let n = depth.len();
    (0_u32..1 << n).find_map(|set| {
        let active: Vec<usize> = (0..n).filter(|k| set >> k & 1 == 1).collect();
        let solved = eliminate(&active, matrix, depth)?;
        let mut force = vec![0.0; n];
        active.iter().zip(&solved).for_each(|(&k, &f)| force[k] = f);
        let gap = |k: usize| (0..n).map(|l| matrix[k][l] * force[l]).sum::<f64>() - depth[k];
        let valid = force.iter().all(|&f| f >= 0.0) && (0..n).all(|k| gap(k) >= -1e-12);
        valid.then_some(force)
    })
}

/// Gauss elimination of the rows and columns of a set.
fn eliminate(active: &[usize], matrix: &[Vec<f64>], right: &[f64]) -> Option<Vec<f64>> {
    let n = active.len();
    let mut m: Vec<Vec<f64>> =
        active.iter().map(|&k| active.iter().map(|&l| matrix[k][l]).chain([right[k]]).collect()).collect();
    for c in 0..n {
        let pivot = (c..n).max_by(|&i, &j| m[i][c].abs().total_cmp(&m[j][c].abs()))?;
        m.swap(c, pivot);
        if m[c][c].abs() < 1e-9 {
            return None;
        }
        for i in (0..n).filter(|&i| i != c) {
            let (factor, above) = (m[i][c] / m[c][c], m[c].clone());
            m[i].iter_mut().zip(&above).skip(c).for_each(|(x, above)| *x -= factor * above);
        }
    }
    Some((0..n).map(|c| m[c][n] / m[c][c]).collect())
}

fn direction(random: &mut Pcg64) -> DVec3 {
    loop {
        let v = DVec3::from_array(std::array::from_fn(|_| random.random_range(-1.0..1.0)));
        if (0.1..1.0).contains(&v.length()) {
            return v.normalize();
        }
    }
}

/// Three rigid bodies and a fixed one with up to six contacts.
fn cluster(random: &mut Pcg64) -> (Vec<Receiver<'static>>, Vec<([usize; 2], Contact)>) {
    let mut bodies = vec![Receiver::Fixed];
    for _ in 0..3 {
        let turned = DMat3::from_quat(DQuat::from_scaled_axis(2.0 * direction(random)));
        let mass = random.random_range(0.5..4.0);
        let axes = DMat3::from_diagonal(DVec3::new(2.0, 3.0, 4.0) / mass);
        bodies.push(Receiver::Rigid {
            centre: 2.0 * direction(random),
            inverse_mass: 1.0 / mass,
            inverse_inertia: turned * axes * turned.transpose(),
            moved: [0.1 * direction(random), 0.1 * direction(random)],
        });
    }
    let count = random.random_range(2..=6);
    let contacts = (0..count).map(|_| {
        let a = random.random_range(0..3);
        let b = random.random_range(a + 1..4);
        let depth = random.random_range(-0.1..0.1);
        ([a, b], contact(direction(random), direction(random), depth))
    });
    let contacts = contacts.collect();
    (bodies, contacts)
}

#[test]
fn many_contacts_agree_with_trying_every_set() {
    let mut random = Pcg64::seed_from_u64(11);
    let (mut pressing, mut all, mut compared) = (0, 0, 0);
    for _ in 0..200 {
        let (bodies, contacts) = cluster(&mut random);
        let mut nodes = Nodes::default();
        let sides: Vec<[Side; 2]> = contacts
            .iter()
            .map(|(at, c)| [0, 1].map(|s| Side::new(c, s, (at[s], &bodies[at[s]]), &mut nodes).unwrap()))
            .collect();
        // Column by column: what a unit force at one contact does to the gaps of all.
        let column = |k: usize| -> Vec<f64> {
            let mut nodes = Nodes::default();
            for ((at, c), s) in contacts.iter().flat_map(|c| [(c, 0), (c, 1)]) {
                Side::new(c, s, (at[s], &bodies[at[s]]), &mut nodes).unwrap();
            }
            nodes.push(&sides[k][0], -contacts[k].1.normal);
            nodes.push(&sides[k][1], contacts[k].1.normal);
            let gap = |l: usize| {
                let relative = nodes.displacement(&sides[l][1]) - nodes.displacement(&sides[l][0]);
                contacts[l].1.normal.dot(relative)
            };
            (0..contacts.len()).map(gap).collect()
        };
        let matrix: Vec<Vec<f64>> = (0..contacts.len()).map(column).collect();
        let depth: Vec<f64> = contacts.iter().map(|(_, c)| c.depth).collect();
        let Some(expected) = twin(&matrix, &depth) else { continue };
        let done = project(
            Projection { rounds: 100_000, tolerance: 1e-13, ..Projection::default() },
            &bodies,
            &contacts,
        );
        compared += 1;
        all += expected.len();
        pressing += expected.iter().filter(|f| **f > 0.0).count();
        assert!(done.residual < 1e-9, "{}", done.residual);
        for ((force, expected), (_, contact)) in done.forces.iter().zip(&expected).zip(&contacts) {
            assert!(
                (*force - contact.normal * *expected).length() < 1e-6 * (1.0 + expected),
                "{force} {expected}"
            );
        }
    }
    assert!(compared > 190, "{compared} have a unique answer");
    assert!((0.3..0.7).contains(&(pressing as f64 / all as f64)), "{pressing} of {all} press");
}

/// Twice the kinetic energy of a way in unit time.
fn energy(body: &Receiver<'_>, [translation, rotation]: [DVec3; 2]) -> f64 {
    match body {
        Receiver::Rigid { inverse_mass, inverse_inertia, .. } => {
            translation.length_squared() / inverse_mass + rotation.dot(inverse_inertia.inverse() * rotation)
        }
        _ => 0.0,
    }
}

#[test]
fn energy_never_grows_after_any_number_of_rounds_and_forces_stay_in_the_cone() {
    let mut random = Pcg64::seed_from_u64(5);
    let (mut lost, mut sliding, mut sticking) = (0, 0, 0);
    for case in 0..400 {
        let (bodies, mut contacts) = cluster(&mut random);
        // The start of the step is free: what the bodies did in it closed a gap of at least 0.
        for (at, c) in &mut contacts {
            let mut nodes = Nodes::default();
            let [a, b] = [0, 1].map(|s| Side::new(c, s, (at[s], &bodies[at[s]]), &mut nodes).unwrap().way);
            let closed = -c.normal.dot(b - a);
            *c = contact(c.point(), c.normal, closed - random.random_range(0.0..0.05));
        }
        let friction = if case % 2 == 0 { 0.0 } else { random.random_range(0.1..2.0) };
        for rounds in [1, 2, 3, 7, 20, 2000] {
            let done = project(Projection { friction, rounds, ..Projection::default() }, &bodies, &contacts);
            let (mut before, mut after) = (0.0, 0.0);
            for (body, displacement) in bodies.iter().zip(&done.displacements) {
                let Receiver::Rigid { moved, .. } = body else { continue };
                let d = rigid_displacement(displacement);
                before += energy(body, *moved);
                after += energy(body, [moved[0] + d[0], moved[1] + d[1]]);
            }
            assert!(after <= before * (1.0 + 1e-12), "{after} from {before} in {rounds} rounds");
            lost += usize::from(after < 0.99 * before);
            for (force, (_, c)) in done.forces.iter().zip(&contacts) {
                let press = c.normal.dot(*force);
                let across = (*force - c.normal * press).length();
                assert!(press >= -1e-15 && across <= friction * press + 1e-12, "{press} {across}");
                if rounds == 2000 && press > 1e-6 && friction > 0.0 {
                    sliding += usize::from(across > 0.999 * friction * press);
                    sticking += usize::from(across < 0.99 * friction * press);
                }
            }
        }
    }
    assert!(lost > 1000 && sliding > 100 && sticking > 50, "{lost} {sliding} {sticking}");
}

/// A block of half extents 0.5 × 0.5 × 0.2 at rest on a slope for one step of free fall, with a manifold of four points.
fn on_slope(angle: f64, friction: f64) -> (DVec3, Projected) {
    let (fall, half) = (1e-3, DVec3::new(0.5, 0.5, 0.2));
    let way = fall * DVec3::new(angle.sin(), 0.0, -angle.cos());
    let mass = 2.0;
    let inertia = mass / 3.0 * DVec3::new(0.29, 0.29, 0.5);
    let block = Receiver::Rigid {
        centre: DVec3::Z * half.z + way,
        inverse_mass: 1.0 / mass,
        inverse_inertia: DMat3::from_diagonal(1.0 / inertia),
        moved: [way, DVec3::ZERO],
    };
    let corner = |x: f64, y: f64| {
        let place = DVec3::new(x, y, 0.5 * way.z) + way.reject_from_normalized(DVec3::Z);
        ([0, 1], contact(place, DVec3::Z, -way.z))
    };
    let manifold = [corner(0.5, 0.5), corner(-0.5, 0.5), corner(-0.5, -0.5), corner(0.5, -0.5)];
    let options = Projection { friction, rounds: 20_000, tolerance: 1e-12, ..Projection::default() };
    let done = project(options, &[Receiver::Fixed, block], &manifold);
    (way + rigid_displacement(&done.displacements[1])[0], done)
}

#[test]
fn a_block_stops_below_the_critical_slope_and_slides_above_it_as_coulomb_says() {
    for friction in [0.05_f64, 0.2, 0.5, 0.8, 1.2] {
        let critical = friction.atan();
        for part in [0.5, 0.99, 0.999] {
            let (way, done) = on_slope(part * critical, friction);
            assert!(way.length() < 1e-12, "{friction} at {part}: {way} in {}", done.rounds);
        }
        for part in [1.001, 1.01, 1.1] {
            let angle = part * critical;
            let (way, done) = on_slope(angle, friction);
            let expected = 1e-3 * (angle.sin() - friction * angle.cos());
            assert!((way.x - expected).abs() < 1e-3 * expected, "{friction} at {part}: {} {expected}", way.x);
            assert!(way.yz().length() < 1e-12 && done.residual < 1e-12);
        }
    }
}

#[test]
fn a_sticky_contact_is_kept_until_its_gap_exceeds_the_threshold() {
    let options = Projection { sticky: 0.01, ..Projection::default() };
    let bodies = [Receiver::Fixed, rigid(DVec3::Z, 1.0)];
    let mut stuck = Stuck::default();
    let mut ask = |depth: f64, id: u64| {
        let one = Contact { id, ..contact(DVec3::ZERO, DVec3::Z, depth) };
        let done = options.project(&bodies, &[([0, 1], one)], &mut stuck).unwrap();
        rigid_displacement(&done.displacements[1])[0].z
    };
    assert_eq!(ask(-0.005, 7), 0.0, "never made");
    assert!((ask(0.002, 7) - 0.002).abs() < 1e-15, "made");
    assert!((ask(-0.005, 7) + 0.005).abs() < 1e-15, "kept: pulled back");
    assert!((ask(-0.01, 7) + 0.01).abs() < 1e-15, "kept at the threshold");
    assert_eq!(ask(-0.011, 7), 0.0, "broken");
    assert_eq!(ask(-0.005, 7), 0.0, "and not made again without touching");
    assert!(ask(0.002, 0) > 0.0 && ask(-0.005, 0) == 0.0, "a contact without an id is not kept");
    assert!(ask(0.002, 8) > 0.0);
    stuck = Stuck::default();
    assert_eq!(stuck, Stuck::default());
}

#[test]
fn bodies_carry_along_what_lies_on_them() {
    // A belt whose motion is prescribed takes a block along by friction.
    let belt = Receiver::Rigid {
        centre: DVec3::ZERO,
        inverse_mass: 0.0,
        inverse_inertia: DMat3::ZERO,
        moved: [0.1 * DVec3::X, DVec3::ZERO],
    };
    let bodies = [
        belt,
        Receiver::Rigid {
            centre: DVec3::Z,
            inverse_mass: 1.0,
            inverse_inertia: DMat3::ZERO,
            moved: [-0.2 * DVec3::Z, DVec3::ZERO],
        },
    ];
    let one = contact(DVec3::ZERO, DVec3::Z, 0.2);
    for (friction, way) in [(1.0, 0.1), (0.25, 0.05), (0.0, 0.0), (f64::INFINITY, 0.1)] {
        let done = project(Projection { friction, ..Projection::default() }, &bodies, &[([0, 1], one)]);
        let [moved, _] = rigid_displacement(&done.displacements[1]);
        assert!((moved - DVec3::new(way, 0.0, 0.2)).length() < 1e-9, "{friction}: {moved}");
        assert_eq!(rigid_displacement(&done.displacements[0]), [DVec3::ZERO; 2]);
    }
}

#[test]
fn one_body_against_itself_counts_shared_vertices_once() {
    let vertices = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y];
    let triangles = [[0, 1, 2], [1, 3, 2]];
    let (compliance, moved) = ([1.0; 4], [DVec3::ZERO; 4]);
    let body = Receiver::Deformable {
        vertices: &vertices,
        triangles: &triangles,
        compliance: &compliance,
        moved: &moved,
    };
    let centre = |t: usize| triangles[t].iter().map(|&v| vertices[v as usize]).sum::<DVec3>() / 3.0;
    let one = Contact {
        points: [centre(0), centre(1)],
        features: [Feature::Face(0), Feature::Face(1)],
        ..contact(DVec3::ZERO, DVec3::Z, 0.3)
    };
    let done = project(Projection::default(), &[body], &[([0, 0], one)]);
    let Displacement::Vertices(list) = &done.displacements[0] else { panic!() };
    let of = |v: u32| list.iter().find(|(w, _)| *w == v).unwrap().1.z;
    assert!((of(3) - 0.45).abs() < 1e-15 && (of(0) + 0.45).abs() < 1e-15 && of(1) == 0.0, "{list:?}");
    assert!(done.residual < 1e-15 && done.rounds <= 2);
}

#[test]
fn contradictory_contacts_throw_no_vertex_away() {
    let vertices = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let body = Receiver::Deformable {
        vertices: &vertices,
        triangles: &[[0, 1, 2]],
        compliance: &[1.0; 3],
        moved: &[],
    };
    // Up at a corner, and down close beside it: only the other corners could do both, far away.
    let at = |x: f64, normal: DVec3| {
        let place = DVec3::new(x, x, 0.0);
        let features = [Feature::Surface, Feature::Face(0)];
        ([0, 1], Contact { points: [place; 2], features, ..contact(place, normal, 0.1) })
    };
    let contacts = [at(0.0, DVec3::Z), at(0.02, -DVec3::Z)];
    for (limit, farthest) in [(f64::INFINITY, 4.9), (10.0, 1.0), (2.0, 0.2)] {
        let options = Projection { limit, rounds: 100_000, ..Projection::default() };
        let done = project(options, &[Receiver::Fixed, body], &contacts);
        let Displacement::Vertices(list) = &done.displacements[1] else { panic!() };
        let most = list.iter().map(|(_, d)| d.length()).fold(0.0, f64::max);
        assert!((most / farthest - 1.0).abs() < 1e-4, "{most} with the limit {limit}");
        assert_eq!(limit.is_finite(), done.residual > 0.01, "{} is left", done.residual);
    }
}

#[test]
fn degenerate_input_is_answered_or_refused_by_name() {
    let vertices = [DVec3::ZERO, DVec3::ZERO, DVec3::ZERO, DVec3::X];
    let triangles = [[0, 1, 2], [0, 3, 3]];
    let held = Receiver::Rigid {
        centre: DVec3::ZERO,
        inverse_mass: 0.0,
        inverse_inertia: DMat3::ZERO,
        moved: [DVec3::ZERO; 2],
    };
    let soft = |compliance| Receiver::Deformable {
        vertices: &vertices,
        triangles: &triangles,
        compliance,
        moved: &[],
    };
    let free = rigid(DVec3::ZERO, 1.0);
    let one = contact(DVec3::X, DVec3::Z, 0.1);
    let options = Projection { friction: 0.5, ..Projection::default() };
    // Nothing to do, and nothing that could be done.
    assert_eq!(project(options, &[], &[]).displacements, []);
    for (bodies, c) in [
        ([free, free], Contact { normal: DVec3::ZERO, ..one }),
        ([held, held], one),
        ([Receiver::Fixed, held], one),
    ] {
        let done = project(options, &bodies, &[([0, 1], c)]);
        assert_eq!((done.unanswered, done.residual), (1, 0.0));
        assert!(done.displacements.iter().all(|d| rigid_displacement(d) == [DVec3::ZERO; 2]));
    }
    assert_eq!(project(options, &[free], &[([0, 0], one)]).unanswered, 1);
    // An infinitely heavy body makes the other take it all; triangles without area spread it evenly.
    let done = project(options, &[held, free], &[([0, 1], one)]);
    assert!(done.residual < 1e-9 && done.unanswered == 0);
    for face in 0..2 {
        let c = Contact { features: [Feature::Surface, Feature::Face(face)], ..one };
        let done = project(options, &[held, soft(&[1.0; 4])], &[([0, 1], c)]);
        assert!(done.residual < 1e-9 && done.displacements[1] != Displacement::None, "{face}");
    }
    // Tiny and huge.
    for scale in [1e-60, 1e-9, 1e30] {
        let c = contact(DVec3::X * scale, DVec3::Z, 0.1 * scale);
        let ball = Receiver::Rigid {
            centre: DVec3::ZERO,
            inverse_mass: 1.0,
            inverse_inertia: DMat3::IDENTITY * (2.5 / scale / scale),
            moved: [DVec3::X * (0.01 * scale), DVec3::ZERO],
        };
        let done = project(options, &[Receiver::Fixed, ball], &[([0, 1], c)]);
        assert!(done.residual <= 1e-9 * scale && done.rounds < 1000, "{scale}: {done:?}");
    }
    let refused = |options: Projection, bodies: &[Receiver<'_>], at: [usize; 2], c: Contact| {
        options.project(bodies, &[(at, c)], &mut Stuck::default()).unwrap_err().to_string()
    };
    let nan = f64::NAN;
    for bad in [
        Contact { depth: nan, ..one },
        Contact { depth: f64::INFINITY, ..one },
        Contact { normal: DVec3::splat(nan), ..one },
        Contact { normal: 2.0 * DVec3::Z, ..one },
        Contact { points: [DVec3::X * nan, DVec3::X], ..one },
        Contact { points: [DVec3::X, DVec3::X * 1e61], ..one },
    ] {
        assert!(refused(options, &[free, free], [0, 1], bad).contains("contact 0"));
    }
    assert!(refused(options, &[free, free], [0, 2], one).contains("there are 2"));
    let Receiver::Rigid { centre, inverse_inertia, moved, .. } = free else { unreachable!() };
    for inverse_mass in [nan, -1.0, f64::INFINITY] {
        let bad = Receiver::Rigid { centre, inverse_mass, inverse_inertia, moved };
        assert!(refused(options, &[free, bad], [0, 1], one).contains("body 1"));
    }
    let face = Contact { features: [Feature::Surface, Feature::Face(0)], ..one };
    let bad = [1.0, nan, 1.0, 1.0];
    assert!(refused(options, &[free, soft(&bad)], [0, 1], face).contains("vertex 1"));
    assert!(refused(options, &[free, soft(&[1.0; 3])], [0, 1], face).contains("3 compliances"));
    for feature in [Feature::Surface, Feature::Face(2), Feature::Vertex(9)] {
        let c = Contact { features: [Feature::Surface, feature], ..one };
        assert!(refused(options, &[free, soft(&[1.0; 4])], [0, 1], c).contains("it has no"));
    }
    for bad in [
        Projection { friction: -0.1, ..options },
        Projection { friction: nan, ..options },
        Projection { sticky: f64::INFINITY, ..options },
        Projection { tolerance: nan, ..options },
        Projection { limit: nan, ..options },
    ] {
        assert!(refused(bad, &[free, free], [0, 1], one).contains("unusable number"));
    }
}
