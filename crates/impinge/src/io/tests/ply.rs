use super::*;

/// The cube with extra properties and elements, its numbers written by `number` and `count`.
fn binary(big: bool) -> Vec<u8> {
    let order = if big { "big" } else { "little" };
    let mut bytes = format!(
        "ply\nformat binary_{order}_endian 1.0\ncomment c\nobj_info o\nelement vertex 8\nproperty uchar red\n\
         property float x\nproperty list uchar short names\nproperty double y\nproperty int z\n\
         element edge 2\nproperty int a\nproperty ushort b\nelement face 6\n\
         property list uchar float texcoord\nproperty list ushort uint vertex_index\nproperty char flag\nend_header\n"
    )
    .into_bytes();
    let mut put = |little: &[u8]| {
        let start = bytes.len();
        bytes.extend(little);
        if big {
            bytes[start..].reverse();
        }
    };
    for (i, [x, y, z]) in cube_corners().into_iter().enumerate() {
        put(&[10]);
        put(&(x as f32).to_le_bytes());
        put(&[i as u8]);
        (0..i).for_each(|_| put(&300i16.to_le_bytes()));
        put(&y.to_le_bytes());
        put(&(z as i32).to_le_bytes());
    }
    put(&[1; 4]);
    put(&[1; 2]);
    put(&[1; 4]);
    put(&[1; 2]);
    for side in CUBE_SIDES {
        put(&[2]);
        put(&[0; 4]);
        put(&[0; 4]);
        put(&4u16.to_le_bytes());
        side.iter().for_each(|v| put(&v.to_le_bytes()));
        put(&[0]);
    }
    bytes
}

const HEADER: &str = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
                      property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
const VERTICES: &str = "0 0 0\n1 0 0\n0 1 0\n";

#[test]
fn both_byte_orders_with_extra_properties_and_elements() {
    assert_eq!(good(binary(false), Format::Ply), cube());
    assert_eq!(good(binary(true), Format::Ply), cube());
}

#[test]
fn every_type_of_number() {
    let mut read = 0;
    for (kind, size, float) in [
        ("char", 1, false),
        ("int8", 1, false),
        ("uchar", 1, false),
        ("uint8", 1, false),
        ("short", 2, false),
        ("int16", 2, false),
        ("ushort", 2, false),
        ("uint16", 2, false),
        ("int", 4, false),
        ("int32", 4, false),
        ("uint", 4, false),
        ("uint32", 4, false),
        ("int64", 8, false),
        ("uint64", 8, false),
        ("float", 4, true),
        ("float32", 4, true),
        ("double", 8, true),
        ("float64", 8, true),
    ] {
        let number = |value: u8| match (float, size) {
            (true, 4) => f32::from(value).to_le_bytes().to_vec(),
            (true, _) => f64::from(value).to_le_bytes().to_vec(),
            (false, size) => u64::from(value).to_le_bytes()[..size].to_vec(),
        };
        let whole = if float { "int" } else { kind };
        let mut bytes = format!(
            "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty {kind} x\nproperty {kind} y\n\
             property {kind} z\nelement face 1\nproperty list {whole} {whole} vertex_indices\nend_header\n"
        )
        .into_bytes();
        bytes.extend([0, 0, 0, 100, 0, 0, 0, 1, 0].into_iter().flat_map(number));
        let size = if float { 4 } else { size };
        bytes.extend([3u64, 0, 1, 2].iter().flat_map(|value| value.to_le_bytes()[..size].to_vec()));
        let mesh = good(bytes, Format::Ply);
        assert_eq!((mesh.vertices()[1].x, mesh.triangles()), (100.0, &[[0, 1, 2]][..]), "{kind}");
        read += 1;
    }
    assert_eq!(read, 18);
}

#[test]
fn text_rows() {
    let face = |rest: &str| format!("{HEADER}{VERTICES}{rest}");
    check_good(
        Format::Ply,
        &[
            (&face("3 0 1 2"), &[[0, 1, 2]]),
            (&face("\n 3 0\n 1 2 \n\n"), &[[0, 1, 2]]),
            (&face("5 0 1 2 0 1\n"), &[[0, 1, 2], [0, 2, 0], [0, 0, 1]]),
            (&face("3 0 1 2\nwhat follows the last element\n"), &[[0, 1, 2]]),
            (&face("3 0 1 2\n").replace('\n', "\r\n"), &[[0, 1, 2]]),
            (&face("3 0 1 2\n").replace('\n', "\r"), &[[0, 1, 2]]),
            (&face("3 0 1 2\n").replace("ascii 1.0", "ascii"), &[[0, 1, 2]]),
        ],
    );
}

#[test]
fn the_body_begins_behind_one_newline_of_any_kind() {
    let plain = binary(false);
    let text = String::from_utf8_lossy(&plain);
    let end = text.find("end_header\n").unwrap() + "end_header\n".len();
    let body = &plain[end..];
    // The first byte of the body is that of a newline.
    assert_eq!(body[0], b'\n');
    let header = &text[..end];
    for header in [
        header.replace('\n', "\r\n"),
        header.replace('\n', "\r"),
        header.replace("end_header\n", "end_header\r\n"),
        header.replace("end_header\n", "end_header \n"),
    ] {
        assert_eq!(good([header.as_bytes(), body].concat(), Format::Ply), cube(), "{header:?}");
    }
}

#[test]
fn strips_with_breaks() {
    let text = "ply\nformat ascii 1.0\nelement vertex 5\nproperty double x\nproperty double y\n\
                property double z\nelement tristrips 2\nproperty list int int vertex_indices\nend_header\n\
                0 0 0\n1 0 0\n0 1 0\n1 1 0\n2 2 2\n9 0 1 2 3 -1 2 3 4 -1\n3 0 1 2\n";
    check_good(Format::Ply, &[(text, &[[0, 1, 2], [1, 3, 2], [2, 3, 4], [0, 1, 2]])]);
    let broken = text.replace("3 0 1 2\n", "2 0 1\n");
    assert_eq!(
        refused(broken, Format::Ply),
        "PLY, tristrips 1 (line 16): a strip needs 3 corners, this one has 2"
    );
}

#[test]
fn faces_may_come_before_vertices() {
    let text = "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_index\n\
                element vertex 3\nproperty float x\nproperty float y\nproperty float z\nend_header\n\
                3 0 1 2\n0 0 0\n1 0 0\n0 1 0\n";
    check_good(Format::Ply, &[(text, &[[0, 1, 2]])]);
}

#[test]
fn the_row_of_the_culprit_is_named() {
    let face = |rest: &str| format!("{HEADER}{VERTICES}{rest}");
    check_refused(
        Format::Ply,
        &[
            (&face("3 0 1 3\n"), "face 0 (line 13): vertex 3 is named, but there are 3 vertices"),
            (&face("3 0 -1 2\n"), "face 0 (line 13): vertex -1 is named"),
            (&face("2 0 1\n"), "face 0 (line 13): a face needs 3 corners, this one has 2"),
            (&face("3 0 1 2 9\n"), "face 0 (line 13): `9` is more than the header allows"),
            (&face("3 0 1 2.0\n"), "an index should be a whole number, not `2.0`"),
            (&face("3 0 1\n"), "face 0 (line 13): the file ends here"),
            (&face("-3 0 1 2\n"), "a list of -3 numbers"),
            (&face("99999999999 0 1 2\n"), "face 0 (line 13): the file ends here"),
            (&format!("{HEADER}0 0 0\n1 0 0\n0 1\n"), "vertex 2 (line 12): the file ends here"),
            (&face("3 0 1 2").replace("1 0 0", "1 0 nan"), "vertex 1 (line 11): a coordinate is NaN"),
            (&face("3 0 1 2").replace("1 0 0", "1 0"), "vertex 1 (line 12): `1` is more than"),
            ("plx\n", "line 1: the first line should be `ply`"),
            ("ply\nformat ascii 1.0\n", "line 3: the file ends without `end_header`"),
            ("ply\nend_header\n", "line 2: the header has no `format` line"),
            ("ply\nformat utf8 1.0\nend_header\n", "line 2: unknown format `utf8`"),
            ("ply\nformat ascii 1.0\nproperty int x\n", "line 3: a property before the first element"),
            ("ply\nelement vertex -3\n", "line 2: the count of an element cannot be `-3`"),
            ("ply\nelement vertex\n", "line 2: an element needs a name and a count"),
            ("ply\nelement vertex 3\nproperty half x\n", "line 3: unknown type `half`"),
            ("ply\nelement vertex 3\nproperty list float int x\n", "line 3: the length of a list"),
            ("ply\nelement face 3\nproperty list int float vertex_index\n", "line 3: vertex indices should"),
            ("ply\nelement vertex 3\nproperty int x\nproperty int x\n", "line 4: `vertex` has `x` twice"),
            ("ply\nelements\n", "line 2: `elements` is no header line"),
            (&HEADER.replace("float y", "float q"), "line 3: element `vertex` needs x, y and z"),
            (&HEADER.replace("vertex_indices", "corners"), "line 7: element `face` needs a list"),
            (&HEADER.replace("element face", "element vertex"), "line 7: a second element `vertex`"),
            (&HEADER.replace("vertex 3", "vertex 0").replace("face 1", "face 0"), "no triangles"),
        ],
    );
}

#[test]
fn counts_that_the_file_cannot_hold_are_refused_at_once() {
    for count in ["4294967295", "9223372036854775807"] {
        for format in ["ascii", "binary_little_endian", "binary_big_endian"] {
            for element in ["vertex 3", "face 1"] {
                let name = element.split(' ').next().unwrap();
                let text = format!("{HEADER}{VERTICES}3 0 1 2\n").replace("ascii", format);
                let message = refused(text.replace(element, &format!("{name} {count}")), Format::Ply);
                assert!(message.contains("` do not fit into the 26 bytes of the body"), "{message}");
            }
        }
    }
    // Rows without properties take no room and no time.
    let text = HEADER.replace("element face", "element nothing 9223372036854775807\nelement face");
    assert_eq!(good(format!("{text}{VERTICES}3 0 1 2\n"), Format::Ply).triangles().len(), 1);
    // A list that claims more than is left.
    let mut bytes = binary(false);
    let at = bytes.len() - (2 + 16 + 1);
    bytes[at..at + 2].copy_from_slice(&u16::MAX.to_le_bytes());
    assert!(refused(bytes, Format::Ply).contains("a list of 65535 numbers, but only 17 bytes follow"));
}
