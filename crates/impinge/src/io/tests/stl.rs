use super::*;

/// A binary file with this header.
fn binary(header: &[u8], mesh: &Mesh) -> Vec<u8> {
    let mut bytes = header.to_vec();
    bytes.resize(80, 0);
    bytes.extend((mesh.triangles().len() as u32).to_le_bytes());
    for triangle in 0..mesh.triangles().len() as u32 {
        // Normals are not read, so they may be anything.
        bytes.extend(f32::NAN.to_le_bytes().repeat(3));
        for corner in mesh.corners(triangle) {
            bytes.extend(corner.as_vec3().to_array().iter().flat_map(|x| x.to_le_bytes()));
        }
        bytes.extend([7, 7]);
    }
    bytes
}

fn facet(corners: [[&str; 3]; 3]) -> String {
    let corners = corners.map(|c| format!("vertex {}\n", c.join(" "))).concat();
    format!("facet normal nan nan nan\nouter loop\n{corners}endloop\nendfacet\n")
}

const FACET: [[&str; 3]; 3] = [["0", "0", "0"], ["1", "0", "0"], ["0", "1", "0"]];

#[test]
fn a_binary_file_may_begin_with_solid() {
    for header in [&b"made by a test"[..], b"solid", b"solid name\nfacet normal 0 0 1\n", b"SOLID"] {
        let mesh = good(binary(header, &cube()), Format::Stl);
        // Vertices come in the order of their first use.
        assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (8, 12));
        let corners = |mesh: &Mesh| (0..12).map(|t| mesh.corners(t)).collect::<Vec<_>>();
        assert_eq!(corners(&mesh), corners(&cube()));
        assert_eq!(mesh.triangles()[0], [0, 1, 2]);
    }
}

#[test]
fn bytes_behind_the_last_triangle_are_passed_over() {
    let mut bytes = binary(b"made by a test", &cube());
    bytes.extend(b"trailer");
    assert_eq!(good(bytes, Format::Stl).triangles().len(), 12);
}

#[test]
fn text_with_several_solids() {
    let text = format!(
        "solid facet 1\n{}endsolid\n\n SOLID empty\nENDSOLID empty\nsolid\n{}endsolid x\n",
        facet(FACET),
        facet([["0", "0", "0"], ["0", "1.0", "0"], ["0", "0", "1e0"]]).to_uppercase()
    );
    let mesh = good(text, Format::Stl);
    assert_eq!(mesh.triangles(), [[0, 1, 2], [0, 2, 3]]);
}

#[test]
fn zero_has_no_sign_among_corners() {
    let text = format!(
        "solid\n{}{}endsolid",
        facet([["-0", "0", "0"]; 3]),
        facet([["0", "-0", "0"], FACET[1], FACET[2]])
    );
    let mesh = good(text, Format::Stl);
    assert_eq!(mesh.triangles(), [[0, 0, 0], [0, 1, 2]]);
    assert!(mesh.vertices()[0].x.is_sign_negative(), "the first of the equal corners is kept");
}

#[test]
fn doubles_of_a_text_are_kept() {
    let text = format!("solid\n{}endsolid", facet([["0.1", "5e-324", "1e60"], FACET[1], FACET[2]]));
    assert_eq!(good(text, Format::Stl).vertices()[0].to_array(), [0.1, 5e-324, 1e60]);
}

#[test]
fn the_place_of_the_culprit_is_named() {
    let mut cut = binary(b"", &cube());
    cut.truncate(600);
    assert!(refused(cut, Format::Stl).contains("byte 80: 12 triangles need 684 bytes, the file has 600"));
    let mut bad = binary(b"", &cube());
    bad[84 + 50 + 12..84 + 50 + 16].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(refused(bad, Format::Stl).contains("triangle 1 (byte 134): a coordinate is NaN"));
    let mut huge = vec![b'x'; 84];
    huge[80..].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(refused(huge, Format::Stl).contains("4294967295 triangles need 214748364834 bytes"));
    assert!(refused(vec![0; 84], Format::Stl).contains("no triangles"));
    let square = facet(FACET).replace("endloop", "vertex 1 1 0\nendloop");
    check_refused(
        Format::Stl,
        &[
            ("", "neither text nor 84 bytes"),
            ("solid a\n", "line 2: the file ends without `endsolid`"),
            ("solid a\nendsolid a\n", "no triangles"),
            ("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n", "line 4: z is missing"),
            ("solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 inf\n", "line 4: a coordinate is inf"),
            ("solid a\nfacet normal 0 0 1\nvertex 0 0 0\n", "line 3: `outer` is expected, not `vertex`"),
            ("solid a\nfacet normal", "line 2: `outer` is expected, not the end of the file"),
            ("solid a\nendsolid a\nfacet", "line 3: `solid` is expected, not `facet`"),
            (&format!("solid\n{square}endsolid"), "line 7: `endloop` is expected, not `vertex`"),
            (&format!("solid\n{}", facet(FACET)), "line 9: the file ends without `endsolid`"),
        ],
    );
}
