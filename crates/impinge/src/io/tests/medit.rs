use super::*;
use crate::io::{load_tetmesh, read_tetmesh};

const VERTICES: &str =
    "MeshVersionFormatted 1\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n1 1 1 0\n";

fn with(rest: &str) -> String {
    format!("{VERTICES}{rest}")
}

#[test]
fn sections_in_any_layout() {
    check_good(
        Format::Medit,
        &[
            (&with("Triangles\n1\n1 2 3 0\nEnd\n"), &[[0, 1, 2]]),
            (&with("Triangles 1 1 2 3 0"), &[[0, 1, 2]]),
            (&with("triangles\n2\n1 2 3 0 # first\n\n2 3 4 7\n"), &[[0, 1, 2], [1, 2, 3]]),
            (&with("Edges\n1\n1 2 0\nNormals 1 nan 0 1\nTriangles\n1\n1 2 3 0\n"), &[[0, 1, 2]]),
            (
                &with("Quadrilaterals\n1\n1 2 3 4 0\nTriangles\n1\n1 2 3 0\n"),
                &[[0, 1, 2], [0, 2, 3], [0, 1, 2]],
            ),
            (&with("Triangles\n1\n1 2 3 0\nTetrahedra\n1\n1 2 3 4 0\n"), &[[0, 1, 2]]),
            (&with("Triangles\n1\n1 2 3 0\nEnd\nTriangles\n1\n9 9 9 9"), &[[0, 1, 2]]),
            (
                &with("Triangles\n0\nTetrahedra\n1\n1 2 3 4 0\n"),
                &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
            ),
            (
                "MeshVersionFormatted 2 Dimension 3 Triangles 1 1 2 3 0 Vertices 3 0 0 0 0 1 0 0 0 0 1 0 0",
                &[[0, 1, 2]],
            ),
        ],
    );
}

#[test]
fn the_boundary_of_two_tetrahedra_has_no_face_between_them() {
    let mesh = good(with("Tetrahedra\n2\n1 2 3 4 0\n2 5 3 4 0\n"), Format::Medit);
    assert_eq!(mesh.triangles().len(), 6);
    // It faces outward: the volume is that of the two, 1/6 and 1/3.
    let volume: f64 = (0..6).map(|t| mesh.corners(t)).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
    assert!((volume - 0.5).abs() < 1e-15, "{volume}");
}

#[test]
fn tetrahedra_are_read_as_they_are() {
    let solid = read_tetmesh(with("Triangles\n1\n1 2 3 0\nTetrahedra\n2\n1 2 3 4 0\n2 5 3 4 0\n").as_bytes())
        .unwrap();
    assert_eq!(solid.tetrahedra(), [[0, 1, 2, 3], [1, 4, 2, 3]]);
    assert_eq!(solid.vertices().len(), 5);
    let message = read_tetmesh(with("Triangles\n1\n1 2 3 0\n").as_bytes()).unwrap_err().to_string();
    assert!(message.contains("tetrahedra: there are none"), "{message}");
    let message = load_tetmesh("no/such.mesh").unwrap_err().to_string();
    assert!(message.starts_with("no/such.mesh: "), "{message}");
}

#[test]
fn the_line_of_the_culprit_is_named() {
    check_refused(
        Format::Medit,
        &[
            ("", "line 1: the first word should be `MeshVersionFormatted`"),
            ("\u{1}\0\0\0\u{3}\0\0\0", "line 1: binary MEDIT (.meshb) is not supported"),
            ("MeshVersionFormatted 1\nDimension 2\n", "line 2: dimension `2`: only 3 is supported"),
            ("MeshVersionFormatted 1\nDimension", "line 2: the file ends before the dimension"),
            ("MeshVersionFormatted 1\nVertices\n4294967295\n", "line 3: 4294967295 vertices are promised"),
            ("MeshVersionFormatted 1\nVertices\n-1\n", "line 3: -1 vertices"),
            ("MeshVersionFormatted 1\nTetrahedra 9223372036854775807\n", "line 2: 9223372036854775807 tetra"),
            (&with("Triangles\n1\n1 2 6 0\n"), "line 12: vertex 6 is named, but there are 5 vertices"),
            (&with("Triangles\n1\n0 2 3 0\n"), "line 12: there is no vertex 0: indices start at 1"),
            (&with("Triangles\n1\n1 2 -9223372036854775807 0\n"), "line 12: there is no vertex -92233720"),
            (&with("Triangles\n1\n1 2 4294967297 0\n"), "line 12: there is no vertex 4294967297"),
            (&with("Triangles\n1\n1 2 3\nEnd\n"), "line 13: a reference should be a number, not `End`"),
            (&with("Triangles\n1\n1 2.5 3 0\n"), "line 12: a corner should be a whole number, not `2.5`"),
            (&with("Tetrahedra\n1\n1 2 3 9 0\n"), "line 12: vertex 9 is named"),
            (&with("Vertices\n0\n"), "line 10: a second section `Vertices`"),
            (&with("").replace("1 1 1", "1 1 nan"), "line 9: a coordinate is NaN"),
            (&with(""), "no triangles"),
        ],
    );
}
