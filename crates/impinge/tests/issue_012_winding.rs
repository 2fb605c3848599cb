//! Volumes of meshes around which the winding number is not 0 and 1 alone: parts turned inside out, nested the same way,
//! overlapping, there twice. The solid is where the winding number is not 0. The truth is a closed form: between the
//! planes of axis-parallel boxes space falls into cells, in which the winding numbers are sums of signs.

use impinge::glam::DVec3;
use impinge::{
    Budget, Certainty, Finish, Memory, Method, Placed, Pose, Query, Reason, Shape, Volume, VolumeOptions,
};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// An axis-parallel box; turned, its triangles face inwards.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Block {
    low: DVec3,
    high: DVec3,
    turned: bool,
}

fn block(half: [f64; 3], at: [f64; 3]) -> Block {
    let (half, at) = (DVec3::from(half), DVec3::from(at));
    Block { low: at - half, high: at + half, turned: false }
}

fn cube(half: f64, at: [f64; 3]) -> Block {
    block([half; 3], at)
}

impl Block {
    fn turned(self) -> Block {
        Block { turned: !self.turned, ..self }
    }

    fn moved(self, by: DVec3) -> Block {
        Block { low: self.low + by, high: self.high + by, ..self }
    }

    fn winding(&self, p: DVec3) -> i32 {
        let holds = (p.cmpgt(self.low) & p.cmplt(self.high)).all();
        i32::from(holds) * if self.turned { -1 } else { 1 }
    }

    /// Whether the closed boxes have no common point, or one lies strictly in the other.
    fn is_clear_of(&self, other: &Block) -> bool {
        let apart = (self.high.cmplt(other.low) | self.low.cmpgt(other.high)).any();
        let within = |x: &Block, y: &Block| (x.low.cmpgt(y.low) & x.high.cmplt(y.high)).all();
        apart || within(self, other) || within(other, self)
    }
}

/// Corner k of a box lies on the high side of x, y, z where bits 0, 1, 2 of k are set.
const FACES: [[u32; 3]; 12] = [
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [0, 4, 6],
    [0, 6, 2],
    [1, 3, 7],
    [1, 7, 5],
];

/// All blocks in one mesh.
fn shape(blocks: &[Block]) -> Shape {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for block in blocks {
        let first = vertices.len() as u32;
        for k in 0..8 {
            vertices.push([0, 1, 2].map(|i| if k >> i & 1 == 1 { block.high[i] } else { block.low[i] }));
        }
        let face = |[a, b, c]: [u32; 3]| if block.turned { [a, c, b] } else { [a, b, c] };
        triangles.extend(FACES.map(face).map(|face| face.map(|v| first + v)));
    }
    Shape::mesh(vertices, triangles).unwrap()
}

/// The middles of all cells between the planes of the blocks, with their volumes.
fn cells(blocks: &[Block]) -> Vec<(DVec3, f64)> {
    let levels = [0, 1, 2].map(|i| {
        let mut levels: Vec<f64> = blocks.iter().flat_map(|b| [b.low[i], b.high[i]]).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        levels
    });
    let spans = |i: usize| levels[i].windows(2).map(|w| (0.5 * (w[0] + w[1]), w[1] - w[0]));
    let mut found = Vec::new();
    for (x, dx) in spans(0) {
        for (y, dy) in spans(1) {
            found.extend(spans(2).map(|(z, dz)| (DVec3::new(x, y, z), dx * dy * dz)));
        }
    }
    found
}

fn winding(blocks: &[Block], p: DVec3) -> i32 {
    blocks.iter().map(|block| block.winding(p)).sum()
}

/// The volume of the common interior.
fn truth(a: &[Block], b: &[Block]) -> f64 {
    let all = [a, b].concat();
    let common = |p: DVec3| winding(a, p) != 0 && winding(b, p) != 0;
    cells(&all).into_iter().filter(|(p, _)| common(*p)).map(|(_, volume)| volume).sum()
}

/// Whether the winding number is 0 and 1 alone, or 0 and −1.
fn is_simple(blocks: &[Block]) -> bool {
    let windings: Vec<i32> = cells(blocks).into_iter().map(|(p, _)| winding(blocks, p)).collect();
    windings.iter().all(|w| [0, 1].contains(w)) || windings.iter().all(|w| [0, -1].contains(w))
}

/// Whether no two blocks meet, but for strict nesting.
fn is_clear(blocks: &[Block]) -> bool {
    (0..blocks.len()).all(|i| (0..i).all(|j| blocks[i].is_clear_of(&blocks[j])))
}

/// Asks, checks the answer against the truth in what it states, and gives the method.
fn check(a: &[Block], b: &[Block]) -> Method {
    let (one, other, true_volume) = (shape(a), shape(b), truth(a, b));
    let answer = Query::default().volume(&one, &other, VolumeOptions::default()).unwrap();
    let found = answer.value.unwrap();
    let told = format!("{a:?} {b:?}: {} ± {}, true {true_volume}", found.volume, found.error);
    let off = (found.volume - true_volume).abs();
    let named = Query { method: Method::Exact, ..Query::default() }.volume(&one, &other, Default::default());
    match answer.method {
        Method::Exact => {
            assert_eq!(answer.certainty, Certainty::Exact);
            assert!(off <= found.error + 1e-12, "{told}");
            assert_eq!(named.unwrap().value.unwrap(), found);
        }
        method => {
            assert_eq!((method, answer.reason), (Method::Image, Reason::Approximate), "{told}");
            // Images are sure where the boxes around the bodies have nothing in common.
            let is_sure = answer.certainty == Certainty::Exact;
            assert!(!is_sure || found.volume == 0.0 && true_volume == 0.0, "{told}");
            assert!(off <= found.error + 0.005 * true_volume, "{told}");
            let refusal = named.unwrap_err().to_string();
            assert!(refusal.contains("overlaps itself") && refusal.contains("image"), "{refusal}");
        }
    }
    answer.method
}

#[test]
fn parts_of_either_orientation_apart_and_nested_are_measured_exactly() {
    let big = [cube(9.0, [0.0; 3])];
    let far = cube(1.0, [5.0, 0.0, 0.0]);
    let (inner, outer) = (cube(1.0, [0.0; 3]), cube(2.0, [0.0; 3]));
    let cases: [(&[Block], f64); 8] = [
        (&[inner, far], 16.0),
        (&[inner, far.turned()], 16.0),
        (&[inner.turned(), far.turned()], 16.0),
        // Nested the same way: solid throughout; the other way: a cavity.
        (&[outer, inner], 64.0),
        (&[outer, inner.turned()], 56.0),
        (&[outer.turned(), inner], 56.0),
        // Thrice nested, with a cavity between.
        (&[cube(3.0, [0.0; 3]), outer.turned(), inner.turned()], 216.0 - 56.0),
        (&[inner, inner], 8.0),
    ];
    for (blocks, volume) in cases {
        assert_eq!(truth(blocks, &big), volume);
        assert_eq!((check(blocks, &big), check(&big, blocks)), (Method::Exact, Method::Exact), "{blocks:?}");
    }
    // A copy turned over leaves nothing.
    assert_eq!(
        (truth(&[inner, inner.turned()], &big), check(&[inner, inner.turned()], &big)),
        (0.0, Method::Exact)
    );
}

#[test]
fn what_overlaps_itself_is_measured_by_images_and_refused_by_exact() {
    let big = [cube(9.0, [0.0; 3])];
    let (one, other) = (cube(1.0, [0.0; 3]), cube(1.0, [1.0, 0.25, 0.125]));
    let flat = [block([1.0, 1.0, 0.5], [0.75, 0.0, 0.0])];
    for (blocks, against, volume) in
        [([one, other], big, 12.71875), ([one, other.turned()], big, 9.4375), ([one, other], flat, 3.8125)]
    {
        assert_eq!(truth(&blocks, &against), volume);
        assert_eq!((check(&blocks, &against), check(&against, &blocks)), (Method::Image, Method::Image));
    }
    // Other diagonals on the same faces: copies that are no copies of triangles.
    let mesh = shape(&[one]);
    let mesh = mesh.as_mesh().unwrap();
    let mut vertices: Vec<[f64; 3]> = mesh.vertices().iter().map(|v| v.to_array()).collect();
    let mut triangles = mesh.triangles().to_vec();
    vertices.extend(vertices.clone().into_iter().map(|[x, y, z]| [-x, y, z]));
    triangles.extend(mesh.triangles().iter().map(|&[a, b, c]| [a + 8, c + 8, b + 8]));
    let twice = Shape::mesh(vertices, triangles).unwrap();
    let answer = Query::default().volume(&twice, &shape(&big), VolumeOptions::default()).unwrap();
    let found = answer.value.unwrap();
    assert_eq!(answer.method, Method::Image);
    assert!((found.volume - 8.0).abs() <= found.error + 0.04, "{found:?}");
}

#[test]
fn edges_whose_triangles_do_not_cancel_are_named() {
    let sound = shape(&[cube(1.0, [0.0; 3])]);
    let mesh = sound.as_mesh().unwrap();
    let with = |change: &dyn Fn(&mut Vec<[u32; 3]>)| {
        let mut triangles = mesh.triangles().to_vec();
        change(&mut triangles);
        Shape::mesh(mesh.vertices().iter().map(|p| p.to_array()).collect(), triangles).unwrap()
    };
    let refused = |shape: &Shape, method: Method| {
        let found = Query { method, ..Query::default() }.volume(&sound, shape, VolumeOptions::default());
        found.map(|_| ()).unwrap_err().to_string()
    };
    let copied = with(&|triangles| triangles.push(triangles[3]));
    let open = with(&|triangles| triangles.truncate(11));
    for method in [Method::Auto, Method::Exact, Method::Image] {
        let why = refused(&copied, method);
        assert!(why.starts_with("b: the mesh is not closed and bounds no solid: its edge between"), "{why}");
        assert!(why.contains("has 3 triangles") && why.contains("12 is a copy of 3"), "{why}");
        assert!(why.contains("and 2 more edges") && !why.contains("open"), "{why}");
        let why = refused(&open, method);
        assert!(why.starts_with("b: the mesh is open") && why.contains("has one triangle"), "{why}");
    }
    // With its reverse a copy bounds nothing and is left out.
    let fold = with(&|triangles| triangles.extend([FACES[3], [FACES[3][0], FACES[3][2], FACES[3][1]]]));
    let found =
        Query { method: Method::Exact, ..Query::default() }.volume(&sound, &fold, VolumeOptions::default());
    assert!((found.unwrap().value.unwrap().volume - 8.0).abs() < 1e-12);
}

#[test]
fn parts_that_touch_stay_exact() {
    let big = [cube(9.0, [0.0; 3])];
    let one = cube(1.0, [0.0; 3]);
    // At a face, a part of a face, an edge, a corner.
    for at in [[2.0, 0.0, 0.0], [2.0, 0.5, 0.5], [2.0, 2.0, 0.0], [2.0, 2.0, 0.5], [2.0, 2.0, 2.0]] {
        let pair = [one, cube(1.0, at)];
        assert_eq!((truth(&pair, &big), check(&pair, &big)), (16.0, Method::Exact), "{at:?}");
    }
    let stack = [one, block([0.5, 0.25, 1.0], [0.0, 0.0, 2.0])];
    assert_eq!((truth(&stack, &big), check(&stack, &big)), (9.0, Method::Exact));
}

#[test]
fn random_boxes_on_a_lattice() {
    let mut dice = Pcg64::seed_from_u64(1208);
    let mut seen = [0; 2];
    for round in 0..120 {
        let mut body = || -> Vec<Block> {
            let count = dice.random_range(1..=4);
            let mut random = || {
                let [low, size] = [0..5, 1..4].map(|range: std::ops::Range<i32>| {
                    DVec3::from([(); 3].map(|()| f64::from(dice.random_range(range.clone()))))
                });
                Block { low, high: low + size, turned: dice.random_bool(0.4) }
            };
            (0..count).map(|_| random()).collect()
        };
        let (a, b) = (body(), body());
        let method = check(&a, &b);
        let are_clear = [&a, &b].iter().all(|blocks| is_simple(blocks) || is_clear(blocks));
        assert!(!are_clear || method == Method::Exact, "round {round}: {a:?} {b:?}");
        seen[usize::from(method == Method::Exact)] += 1;
    }
    assert!(seen[0] > 20 && seen[1] > 20, "{seen:?}");
}

/// Blocks that do not meet, but for strict nesting, of any orientation.
fn clear_blocks(dice: &mut Pcg64) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    while found.len() < 5 {
        let mut number = |low: f64, high: f64| dice.random_range(low..high);
        let half = [(); 3].map(|()| number(0.2, 1.6));
        let at = [(); 3].map(|()| number(-2.0, 2.0));
        let mut new = block(half, at);
        // Every other one within one that is there.
        if let Some(outer) = found.get(found.len() / 2).filter(|_| dice.random_bool(0.5)) {
            let size = outer.high - outer.low;
            let [from, part] = [0.1, 0.4].map(|least| DVec3::splat(dice.random_range(least..least + 0.3)));
            new = Block { low: outer.low + size * from, high: outer.low + size * (from + part), ..new };
        }
        new.turned = dice.random_bool(0.5);
        if found.iter().all(|old| new.is_clear_of(old)) {
            found.push(new);
        }
    }
    found
}

#[test]
fn gradients_and_samples_speak_of_the_file() {
    let mut dice = Pcg64::seed_from_u64(7);
    let options = VolumeOptions { gradient: true, samples: true, border: true, ..VolumeOptions::default() };
    let mut left_out = 0;
    for _ in 0..40 {
        let (a, b) = (clear_blocks(&mut dice), clear_blocks(&mut dice));
        assert_eq!(check(&a, &b), Method::Exact);
        let shapes = [shape(&a), shape(&b)];
        let found = Query::default().volume(&shapes[0], &shapes[1], options).unwrap().value.unwrap();
        let sum: f64 = found.regions.iter().map(|region| region.volume).sum();
        assert!((sum - found.volume).abs() < 1e-12);
        check_border(&found);
        for (k, blocks) in [&a, &b].into_iter().enumerate() {
            let mesh = shapes[k].as_mesh().unwrap();
            assert_eq!(found.gradient[k].len(), mesh.vertices().len());
            for (i, slopes) in found.gradient[k].chunks(8).enumerate() {
                let slope: DVec3 = slopes.iter().sum();
                let by = |step: DVec3| {
                    let mut moved = [a.clone(), b.clone()];
                    moved[k][i] = blocks[i].moved(step);
                    truth(&moved[0], &moved[1])
                };
                let step = 1e-6;
                let want = DVec3::AXES.map(|axis| (by(axis * step) - by(-axis * step)) / (2.0 * step));
                assert!(slope.distance(DVec3::from(want)) < 1e-6, "{slope} {want:?} {blocks:?} {i}");
                // A part that bounds nothing.
                let [around, within] = [0.0, 1.0].map(|inside| {
                    let p = blocks[i].low + DVec3::splat(1e-9 * (2.0 * inside - 1.0));
                    winding(blocks, p) != 0
                });
                if around && within {
                    left_out += 1;
                    assert!(slopes.iter().all(|slope| *slope == DVec3::ZERO));
                }
            }
            for sample in found.samples.iter().filter(|sample| sample.body == k) {
                let corners = mesh.corners(sample.triangle.unwrap());
                let place: DVec3 = (0..3).map(|i| corners[i] * sample.barycentric[i]).sum();
                assert!(place.distance(sample.point) < 1e-9, "{sample:?} {corners:?}");
            }
        }
    }
    assert!(left_out > 10, "{left_out}");
}

/// The border encloses the volume.
fn check_border(found: &Volume) {
    let (vertices, triangles) = &found.border;
    let corners = triangles.iter().map(|t| t.map(|v| vertices[v as usize]));
    let volume: f64 = corners.map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
    assert!((volume - found.volume).abs() < 1e-10, "{volume} {}", found.volume);
}

#[test]
fn at_any_pose_as_at_rest() {
    let turned = Pose::new([0.3, -0.2, 0.7], [0.1, 0.7, -0.3, 0.6]).unwrap();
    let mut dice = Pcg64::seed_from_u64(99);
    for _ in 0..10 {
        let (a, b) = (clear_blocks(&mut dice), clear_blocks(&mut dice));
        let [one, other] = [shape(&a), shape(&b)];
        let placed = Query::default().volume(one.at(turned), other.at(turned), VolumeOptions::default());
        let found = placed.unwrap().value.unwrap();
        assert!((found.volume - truth(&a, &b)).abs() < 1e-10, "{a:?} {b:?}");
    }
}

#[test]
fn many_pairs_get_the_answers_of_each() {
    let big = shape(&[cube(9.0, [0.0; 3])]);
    let shapes: Vec<Shape> = [
        vec![cube(1.0, [0.0; 3])],
        vec![cube(1.0, [0.0; 3]), cube(1.0, [1.0, 0.25, 0.125])],
        vec![cube(1.0, [0.0; 3]), cube(1.0, [5.0, 0.0, 0.0]).turned()],
        vec![cube(1.0, [0.0; 3]), cube(2.0, [1.0, 0.25, 0.125])],
    ]
    .iter()
    .map(|blocks| shape(blocks))
    .collect();
    let pairs: Vec<[Placed<'_>; 2]> = shapes.iter().map(|shape| [shape.into(), (&big).into()]).collect();
    let all = Query::default().volume_batch(&pairs, VolumeOptions::default()).unwrap();
    for (shape, answer) in shapes.iter().zip(all) {
        let one = Query::default().volume(shape, &big, VolumeOptions::default()).unwrap();
        assert_eq!((answer.value, answer.method), (one.value, one.method));
    }
    let mut named = Query { method: Method::Exact, ..Query::default() };
    assert!(named.volume_batch(&pairs, VolumeOptions::default()).is_err());
}

#[test]
fn what_is_found_out_once_counts_and_goes_on() {
    let (a, b) = ([cube(1.0, [0.0; 3]), cube(1.0, [5.0, 0.0, 0.0]).turned()], [cube(2.0, [1.0, 0.25, 0.5])]);
    let whole = Query::default().volume(&shape(&a), &shape(&b), VolumeOptions::default()).unwrap();
    for units in [1, 100, 700] {
        let [one, other] = [shape(&a), shape(&b)];
        let (mut memory, mut calls) = (Memory::default(), 0);
        let found = loop {
            let mut query =
                Query { budget: Budget::units(units), memory: Some(&mut memory), ..Query::default() };
            let answer = query.volume(&one, &other, VolumeOptions::default()).unwrap();
            calls += 1;
            match answer.value {
                Some(found) => break found,
                None => assert_eq!(answer.finish, Finish::OutOfBudget),
            }
            assert!(calls < 10_000);
        };
        assert!(calls > 1 || units == 700, "{units} units");
        assert_eq!(Some(found), whole.value);
    }
}
