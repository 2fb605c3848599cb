//! Same input, same bits: every number of a seeded workload goes into one hash, which is the same for any number of
//! threads and on every machine.
//!
//! The bodies are made by +, −, ·, ÷ and √ alone, which IEEE 754 rounds alike everywhere. Motions that turn use sine
//! and arc tangent of the platform's C library: glibc gives the same bits on all x86-64 machines with FMA, so the
//! golden value is asserted on Linux on such machines only. Counters of work are left out: they may differ between
//! instruction sets, answers may not.

use glam::DVec3;
use impinge::scene::{Body, Options, Scene};
use impinge::{Budget, Mesh, Motion, Placed, Pose, Relation, Shape, procedural};

/// The hash of the whole workload. A change of it is a change of answers and needs a reason in the commit.
const GOLDEN: u64 = 0x26c2_24f5_ed93_9d1e;

/// FNV-1a, 64 bits.
struct Hash(u64);

impl Hash {
    fn bits(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn number(&mut self, x: f64) {
        self.bits(x.to_bits());
    }

    fn point(&mut self, p: DVec3) {
        p.to_array().into_iter().for_each(|x| self.number(x));
    }
}

/// Relation, meeting triangles and distance of two placed meshes; whether they have a common point.
fn ask_pair(hash: &mut Hash, [a, b]: [Placed<'_>; 2]) -> bool {
    let relation = impinge::relation(a, b);
    hash.bits(relation as u64);
    for [s, t] in impinge::pairs(a, b).unwrap() {
        hash.bits(u64::from(s) << 32 | u64::from(t));
    }
    let gap = impinge::distance(a, b);
    hash.number(gap.distance);
    gap.points.into_iter().for_each(|p| hash.point(p));
    relation != Relation::Separated
}

/// The first contact over a step; whether there is one.
fn ask_sweep(hash: &mut Hash, [a, b]: [Placed<'_>; 2]) -> bool {
    let found = impinge::sweep(a, b);
    hash.number(found.free_until);
    hash.number(found.slack);
    if let Some(impact) = found.impact {
        hash.number(impact.time);
        hash.point(impact.point);
        hash.point(impact.normal);
        hash.bits(u64::from(impact.proved));
    }
    found.impact.is_some()
}

/// Bodies on straight paths through each other: events and closest features of each frame; how many contacts.
fn ask_scene(hash: &mut Hash, shapes: &[Shape], bodies: usize, frames: u32) -> usize {
    let mut random = Random(7);
    let mut scene = Scene::with_options(Options { margin: 0.05, ..Options::default() }).unwrap();
    let moving: Vec<_> = (0..bodies)
        .map(|k| {
            let (at, velocity, turn) = (random.vector(5.0), random.vector(0.15), random.turn());
            let body = Body::moving(shapes[k % shapes.len()].clone(), Pose::IDENTITY);
            (scene.add(body), at, velocity, turn)
        })
        .collect();
    let mut contacts = 0;
    for frame in 0..frames {
        for &(id, at, velocity, turn) in &moving {
            scene.place(id, Pose::new((at + velocity * f64::from(frame)).to_array(), turn).unwrap());
        }
        let told = scene.step(&mut Budget::UNLIMITED.clone());
        for event in told.events {
            event.bodies.iter().for_each(|id| hash.bits(id.index() as u64));
            hash.bits(event.kind as u64);
        }
        for contact in told.contacts {
            hash.number(-contact.contact.depth);
            hash.point(contact.contact.normal);
            contact.contact.points.into_iter().for_each(|p| hash.point(p));
        }
        contacts += told.contacts.len();
    }
    contacts
}

/// SplitMix64 (Steele, Lea and Flood 2014): short, and no crate's next version can change it.
struct Random(u64);

impl Random {
    /// Uniform in 0 ≤ x < 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn vector(&mut self, size: f64) -> DVec3 {
        DVec3::from([(); 3].map(|()| size * (2.0 * self.unit() - 1.0)))
    }

    /// A quaternion of any length.
    fn turn(&mut self) -> [f64; 4] {
        [(); 4].map(|()| 2.0 * self.unit() - 1.0)
    }

    fn pose(&mut self, size: f64) -> Pose {
        Pose::new(self.vector(size).to_array(), self.turn()).unwrap()
    }
}

/// A closed body that is not convex: every vertex of a sphere moved along its ray.
fn lumpy(splits: u32, seed: u64) -> Mesh {
    let sphere = procedural::ico_sphere(1.0, splits).unwrap();
    let mut random = Random(seed);
    let vertices = sphere.vertices().iter().map(|v| (*v * (0.7 + 0.4 * random.unit())).to_array());
    Mesh::new(vertices.collect(), sphere.triangles().to_vec()).unwrap()
}

/// The whole workload. The shares of hits are checked, so that the hash tells of both answers.
fn workload() -> u64 {
    let hash = &mut Hash(0xcbf2_9ce4_8422_2325);
    // The largest is built on several threads.
    let models = [lumpy(1, 1), lumpy(3, 2), lumpy(5, 3)].map(Shape::from);
    let mut random = Random(11);
    let (mut meeting, mut hits) = (0, 0);
    for k in 0..120 {
        let pair = [&models[k % 3], &models[k / 3 % 3]];
        let [p, q] = [random.pose(1.4), random.pose(1.4)];
        meeting += u32::from(ask_pair(hash, [pair[0].at(p), pair[1].at(q)]));
    }
    for k in 0..60 {
        let pair = [&models[k % 2], &models[k / 2 % 2]];
        let [p, q, r] = [random.pose(2.0), random.pose(2.0), random.pose(2.0)];
        let push = Motion::velocity(&r, random.vector(2.0), random.vector(3.0)).unwrap();
        let way = Motion::between(&p, &q);
        hits += u32::from(ask_sweep(hash, [pair[0].along(way), pair[1].along(push)]));
    }
    assert!((36..=84).contains(&meeting), "{meeting} of 120 meet");
    assert!((18..=42).contains(&hits), "{hits} of 60 touch");
    let shapes = [
        Shape::sphere(0.5).unwrap(),
        Shape::cuboid([0.5, 0.4, 0.6]).unwrap(),
        Shape::capsule(0.3, 0.5).unwrap(),
        Shape::cylinder(0.4, 0.5).unwrap(),
        lumpy(2, 4).into(),
    ];
    let contacts = ask_scene(hash, &shapes, 100, 30);
    assert!(contacts > 300, "{contacts} contacts");
    hash.0
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let with = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(workload)
    };
    let one = with(1);
    assert_eq!(with(2), one, "two threads");
    assert_eq!(with(4), one, "four threads");
    #[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
    if is_x86_feature_detected!("fma") {
        assert_eq!(one, GOLDEN, "found {one:#018x}: answers have changed");
    }
}
