use std::collections::{BTreeMap, BTreeSet};

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;

fn mesh(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Mesh {
    Mesh::new(points.to_vec(), triangles.to_vec()).unwrap()
}

const CORNERS: [[f64; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

#[test]
fn a_tetrahedron_is_sound() {
    let t = Topology::of(&mesh(&CORNERS, &TETRAHEDRON));
    let sound = Census { used_vertices: 4, edges: 6, ..Census::default() };
    assert_eq!(*t.census(), sound);
    assert!(t.is_closed() && t.is_watertight() && t.is_oriented());
    assert_eq!((t.euler(), t.components().len()), (2, 1));
    assert_eq!(t.across(Side { triangle: 0, corner: 0 }), Some(2));
    assert_eq!(t.around(3), [1, 2, 3]);
}

#[test]
fn a_soup_of_unshared_vertices_is_the_same_surface() {
    let points: Vec<[f64; 3]> = TETRAHEDRON.iter().flatten().map(|&v| CORNERS[v as usize]).collect();
    let soup = Topology::of(&mesh(&points, &[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]));
    assert!(soup.is_watertight());
    assert_eq!((soup.weld().count(), soup.euler()), (4, 2));
}

#[test]
fn an_open_box_corner_has_borders() {
    let t = Topology::of(&mesh(&CORNERS, &TETRAHEDRON[..3]));
    assert!(!t.is_closed() && !t.is_watertight());
    let border: Vec<[u32; 2]> = t.boundary_edges().map(|e| t.edges()[e as usize]).collect();
    // Welded vertices are numbered in order of first use, which is the file's order here.
    assert_eq!(border, [[1, 2], [1, 3], [2, 3]]);
    assert_eq!(t.census().nonmanifold_vertices, 0);
    // Beside a whole one.
    let points: Vec<[f64; 3]> =
        (0..8).map(|k| CORNERS[k % 4].map(|x| x + if k < 4 { 0.0 } else { 5.0 })).collect();
    let triangles: Vec<[u32; 3]> =
        (0..7).map(|k| TETRAHEDRON[k % 4].map(|v| v + if k < 4 { 0 } else { 4 })).collect();
    let both = Topology::of(&mesh(&points, &triangles));
    assert_eq!((both.open_components(), both.components().len()), (1, 2));
}

#[test]
fn two_bodies_on_one_edge_are_closed_but_not_watertight() {
    let mut points = CORNERS.to_vec();
    points.extend([[0.0; 3], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]);
    let mut triangles = TETRAHEDRON.to_vec();
    triangles.extend(TETRAHEDRON.map(|t| t.map(|v| v + 4)));
    let t = Topology::of(&mesh(&points, &triangles));
    assert!(t.is_closed() && !t.is_watertight());
    assert_eq!(t.nonmanifold_edges().map(|e| t.edges()[e as usize]).collect::<Vec<_>>(), [[0, 1]]);
    assert_eq!((t.census().nonmanifold_vertices, t.components().len()), (2, 1));
}

#[test]
fn two_bodies_on_one_corner_are_one_component_with_a_broken_vertex() {
    let mut points = CORNERS.to_vec();
    points.extend(CORNERS.map(|p| p.map(|x| -x)));
    let mut triangles = TETRAHEDRON.to_vec();
    triangles.extend(TETRAHEDRON.map(|[a, b, c]| [a + 4, c + 4, b + 4]));
    let t = Topology::of(&mesh(&points, &triangles));
    assert!(t.is_watertight());
    assert_eq!((t.census().nonmanifold_vertices, t.components().len(), t.euler()), (1, 1, 3));
}

#[test]
fn a_flipped_triangle_is_noticed() {
    let mut triangles = TETRAHEDRON;
    triangles[3].swap(0, 1);
    let t = Topology::of(&mesh(&CORNERS, &triangles));
    assert!(!t.is_closed() && !t.is_watertight() && !t.is_oriented());
    assert_eq!((t.census().misoriented_edges, t.census().unbalanced_edges), (3, 3));
}

#[test]
fn collapsed_triangles_close_nothing_and_open_nothing() {
    let mut triangles = TETRAHEDRON.to_vec();
    triangles.extend([[0, 1, 1], [2, 2, 2], [1, 0, 1]]);
    let t = Topology::of(&mesh(&CORNERS, &triangles));
    assert!(t.is_watertight() && t.is_closed());
    assert_eq!((t.census().collapsed_triangles, t.euler(), t.census().nonmanifold_vertices), (3, 2, 0));
    assert_eq!(t.edge(Side { triangle: 5, corner: 0 }), None);
    assert_eq!(t.around(2), [0, 2, 3, 5]);
    let alone = Topology::of(&mesh(&CORNERS, &[[0, 0, 0]]));
    assert_eq!((alone.components().len(), alone.euler(), alone.is_closed()), (1, 0, true));
}

#[test]
fn copies_count_whatever_their_orientation() {
    let t = Topology::of(&mesh(&CORNERS, &[[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 1, 3]]));
    assert_eq!(t.census().duplicate_triangles, 2);
}

#[test]
fn components_know_their_triangles() {
    let mut points = CORNERS.to_vec();
    points.extend(CORNERS.map(|[x, y, z]| [x + 5.0, y, z]));
    let t = Topology::of(&mesh(&points, &[[4, 5, 6], [0, 1, 2], [4, 5, 7], [0, 1, 3]]));
    let [a, b] = t.components() else { panic!("two components") };
    assert_eq!((a.first_triangle, a.triangles, b.first_triangle, b.triangles), (0, 2, 1, 2));
    assert_eq!(t.component_of(), [0, 1, 0, 1]);
}

/// The definitions again, by maps and repeated passes.
fn slow_census(mesh: &Mesh) -> (Census, usize) {
    let bits = |v: u32| mesh.vertices()[v as usize].to_array().map(|x| (x + 0.0).to_bits());
    let welded: Vec<_> = mesh.triangles().iter().map(|t| t.map(bits)).collect();
    let sound: Vec<_> = welded.iter().filter(|[a, b, c]| a != b && b != c && c != a).collect();
    let mut edges: BTreeMap<_, [usize; 2]> = BTreeMap::new();
    for [a, b, c] in &sound {
        for [p, q] in [[a, b], [b, c], [c, a]] {
            edges.entry([p.min(q), p.max(q)]).or_default()[usize::from(p > q)] += 1;
        }
    }
    let vertices: BTreeSet<_> = welded.iter().flatten().collect();
    let count = |keep: &dyn Fn(usize, usize) -> bool| edges.values().filter(|[f, b]| keep(*f, *b)).count();
    let copies: BTreeSet<_> = sound.iter().map(|t| t.iter().collect::<BTreeSet<_>>()).collect();
    let broken = vertices.iter().filter(|&&v| {
        let link: Vec<_> = sound.iter().filter(|t| t.contains(v)).collect();
        let others = |t: &[[u64; 3]; 3]| t.iter().copied().filter(|w| w != v).collect::<Vec<_>>();
        let mut reached: BTreeSet<[u64; 3]> = link.iter().take(1).flat_map(|t| others(t)).collect();
        for _ in &link {
            for t in &link {
                if others(t).iter().any(|w| reached.contains(w)) {
                    reached.extend(others(t));
                }
            }
        }
        let torn = link.iter().any(|t| !others(t).iter().any(|w| reached.contains(w)));
        let crowded = reached.iter().any(|w| link.iter().filter(|t| t.contains(w)).count() > 2);
        torn || crowded
    });
    let mut label: BTreeMap<_, usize> = vertices.iter().enumerate().map(|(i, v)| (*v, i)).collect();
    for _ in &vertices {
        for t in &welded {
            let least = t.iter().map(|v| label[v]).min().unwrap();
            t.iter().for_each(|v| *label.get_mut(v).unwrap() = least);
        }
    }
    let census = Census {
        used_vertices: sound.iter().copied().flatten().collect::<BTreeSet<_>>().len(),
        edges: edges.len(),
        boundary_edges: count(&|f, b| f + b == 1),
        nonmanifold_edges: count(&|f, b| f + b > 2),
        misoriented_edges: count(&|f, b| f + b == 2 && f != b),
        unbalanced_edges: count(&|f, b| f != b),
        nonmanifold_vertices: broken.count(),
        collapsed_triangles: welded.len() - sound.len(),
        duplicate_triangles: sound.len() - copies.len(),
    };
    (census, label.values().collect::<BTreeSet<_>>().len())
}

#[test]
fn random_soups_agree_with_the_definitions() {
    let mut dice = Pcg64Mcg::seed_from_u64(2);
    let [mut closed, mut broken, mut many] = [0; 3];
    for round in 0..400 {
        // Few positions and repeated vertices make every kind of defect frequent.
        let positions = 3 + round % 24;
        let points: Vec<[f64; 3]> =
            (0..20).map(|_| [f64::from(dice.random_range(0..positions)), 0.0, 1.0]).collect();
        let mut triangles: Vec<[u32; 3]> =
            (0..1 + round % 12).map(|_| [0; 3].map(|_: u32| dice.random_range(0..20))).collect();
        if round % 4 == 0 {
            let back: Vec<[u32; 3]> = triangles.iter().map(|&[a, b, c]| [c, b, a]).collect();
            triangles.extend(back);
        }
        let mesh = mesh(&points, &triangles);
        let topology = Topology::of(&mesh);
        let (census, components) = slow_census(&mesh);
        assert_eq!((*topology.census(), topology.components().len()), (census, components));
        closed += usize::from(topology.is_closed());
        broken += usize::from(census.nonmanifold_vertices > 0);
        many += usize::from(components > 1);
    }
    for share in [closed, broken, many] {
        assert!((40..360).contains(&share), "{closed} closed, {broken} broken, {many} in parts, of 400");
    }
}
