//! The shared mesh pairs with known answers, through the program.

use std::path::Path;

use crate::common::Folder;
use crate::shared::shared;
use serde_json::{Value, json};

/// A reader of little-endian rows.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.0.split_first_chunk().unwrap();
        self.0 = rest;
        *head
    }

    fn count(&mut self) -> usize {
        u32::from_le_bytes(self.take()) as usize
    }

    fn points(&mut self, n: usize) -> Vec<[f64; 3]> {
        (0..n).map(|_| std::array::from_fn(|_| f64::from_le_bytes(self.take()))).collect()
    }

    fn indices<const W: usize>(&mut self, n: usize) -> Vec<[u32; W]> {
        (0..n).map(|_| std::array::from_fn(|_| u32::from_le_bytes(self.take()))).collect()
    }
}

/// Both meshes as inline shapes, and the exact set of intersecting triangle pairs.
fn read_pair(file: &Path) -> (Value, Value, Vec<[u32; 2]>) {
    let bytes = std::fs::read(file).unwrap();
    let mut cursor = Cursor(&bytes);
    assert_eq!(&cursor.take(), b"PAIR");
    let counts: [usize; 5] = std::array::from_fn(|_| cursor.count());
    let a = json!({"vertices": cursor.points(counts[0]), "triangles": cursor.indices::<3>(counts[1])});
    let b = json!({"vertices": cursor.points(counts[2]), "triangles": cursor.indices::<3>(counts[3])});
    (a, b, cursor.indices(counts[4]))
}

#[test]
fn the_known_pairs_relations_distances_and_volumes() {
    let Some(folder) = shared("data/pairs") else { return };
    let manifest: Vec<Value> =
        serde_json::from_slice(&std::fs::read(folder.join("MANIFEST.json")).unwrap()).unwrap();
    let (mut lines, mut truths) = (Vec::new(), Vec::new());
    for entry in manifest.iter().take(6) {
        let (a, b, mut pairs) = read_pair(&folder.join(format!("{}.bin", entry["id"].as_str().unwrap())));
        pairs.sort_unstable();
        for ask in ["pairs", "relation", "distance", "volume"] {
            lines.push(json!({"id": entry["id"], "ask": ask, "a": a, "b": b}).to_string());
        }
        let volume = entry["cgal_exact_intersection_volume"].as_f64().unwrap_or(0.0);
        truths.push((pairs, entry["fcl_distance"].as_f64().unwrap_or(0.0), volume));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let ended = Folder::new().query(&lines, &[]);
    assert_eq!(ended.code, 0);
    for (answers, (pairs, distance, volume)) in ended.lines().chunks(4).zip(truths) {
        let id = &answers[0]["id"];
        assert_eq!(answers[0]["pairs"], json!(pairs), "{id}");
        let relation = if pairs.is_empty() { "separated" } else { "intersecting" };
        assert_eq!(answers[1]["relation"], relation, "{id}");
        let found = answers[2]["distance"].as_f64().unwrap();
        assert!((found - distance).abs() <= 1e-9 * distance, "{id}: {found} {distance}");
        let (found, error) = (&answers[3]["volume"], &answers[3]["volume_error"]);
        let apart = (found.as_f64().unwrap() - volume).abs();
        assert!(apart <= error.as_f64().unwrap() + 1e-14 * volume, "{id}: {found} {volume}");
    }
}
