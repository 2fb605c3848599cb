//! The relation on meshes and poses of others, with answers of others.

mod common;

use std::path::Path;

use common::shared;
use impinge::model::Model;
use impinge::narrow::exact::relation::{RelationMemory, relation, relation_within};
use impinge::{Budget, Mesh, Pose, Relation};

struct Pair {
    models: [Model; 2],
    meeting: usize,
}

/// Reads a record: magic, five counts, two meshes, the pairs of triangles that meet.
fn read_pair(path: &Path) -> Pair {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(&bytes[..4], b"PAIR");
    let mut at = 4;
    let mut take = |n: usize| {
        at += n;
        bytes[at - n..at].to_vec()
    };
    let counts: Vec<usize> =
        (0..5).map(|_| u32::from_le_bytes(take(4).try_into().unwrap()) as usize).collect();
    let mut mesh = |vertices: usize, faces: usize| {
        let mut double = || f64::from_le_bytes(take(8).try_into().unwrap());
        let points = (0..vertices).map(|_| std::array::from_fn(|_| double())).collect();
        let mut index = || u32::from_le_bytes(take(4).try_into().unwrap());
        let triangles = (0..faces).map(|_| std::array::from_fn(|_| index())).collect();
        Model::from(Mesh::new(points, triangles).unwrap())
    };
    let models = [mesh(counts[0], counts[1]), mesh(counts[2], counts[3])];
    Pair { models, meeting: counts[4] }
}

#[test]
fn posed_pairs_of_closed_meshes() {
    let Some(folder) = shared("data/pairs") else { return };
    let text = std::fs::read_to_string(folder.join("MANIFEST.json")).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let mut met = 0;
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let pair = read_pair(&folder.join(format!("{id}.bin")));
        let [a, b] = &pair.models;
        assert!(a.topology().is_closed() && b.topology().is_closed(), "{id}");
        let still = Pose::IDENTITY;
        let found = relation(a, &still, b, &still);
        // These meshes do not cross themselves, so crossing surfaces have a common volume.
        let volume = case["cgal_exact_intersection_volume"].as_f64().unwrap_or(0.0);
        assert_eq!(found != Relation::Separated, volume > 0.0, "{id}");
        assert_eq!(found == Relation::Intersecting, pair.meeting > 0, "{id}");
        assert_eq!(relation(b, &still, a, &still), found.swapped(), "{id}");
        met += usize::from(pair.meeting > 0);
    }
    assert_eq!((cases.len(), met), (20, 12));
}

/// The placements of the bench, with memory and without. The dragon has fins: pairs of equal triangles
/// back to back, without volume. Where only a fin reaches into the bunny the solids do no more than touch.
#[test]
fn placements_of_the_bench() {
    let Some(data) = shared("data") else { return };
    let load =
        |name: &str| Model::from(impinge::io::load_mesh(data.join("meshes/bench").join(name)).unwrap());
    let (bunny, dragon) = (load("bunny59k.obj"), load("dragon202k.obj"));
    let text = std::fs::read_to_string(data.join("workloads/placements.txt")).unwrap();
    let mut memory = RelationMemory::default();
    let (mut lines, mut hits, mut touching) = (0, 0, 0);
    for line in text.lines() {
        let x: Vec<f64> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let pose = |x: &[f64]| Pose::new([x[4], x[5], x[6]], [x[1], x[2], x[3], x[0]]).unwrap();
        let (pose_a, pose_b) = (pose(&x[0..7]), pose(&x[7..14]));
        let hit = x[15] != 0.0;
        let found = relation(&bunny, &pose_a, &dragon, &pose_b);
        assert_eq!(found.is_contact(), hit, "{line}");
        let budget = &mut Budget::UNLIMITED.clone();
        let (kept, _) = relation_within(&bunny, &pose_a, &dragon, &pose_b, &mut memory, budget);
        assert_eq!(kept, Some(found));
        hits += usize::from(hit);
        touching += usize::from(found == Relation::Touching);
        assert!(found != Relation::Touching || x[14] > -1e-3, "{line}");
        lines += 1;
    }
    assert_eq!((lines, hits, touching), (200, 100, 2));
}
