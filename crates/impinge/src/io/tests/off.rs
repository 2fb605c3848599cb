use super::*;

const BODY: &str = "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";

#[test]
fn quads_of_the_cube() {
    let mut text = String::from("OFF # keyword\n# comment\n\n8 6 12\n");
    cube_corners().iter().for_each(|[x, y, z]| text += &format!("{x} {y} {z}\n"));
    CUBE_SIDES.iter().for_each(|s| text += &format!("4  {} {} {} {}\n", s[0], s[1], s[2], s[3]));
    assert_eq!(good(text, Format::Off), cube());
}

#[test]
fn variants() {
    let one: &[[u32; 3]] = &[[0, 1, 2]];
    check_good(
        Format::Off,
        &[
            (&format!("OFF\n3 1 0\n{BODY}"), one),
            (&format!("OFF 3 1 0\n{BODY}"), one),
            (&format!("OFF\n3 1\n{BODY}"), one),
            (&format!("3 1 0\n{BODY}"), one),
            (&format!("nOFF\n3\n3 1 0\n{BODY}"), one),
            (&format!("OFF\n3 1 0\n{BODY}").replace('\n', "\r\n"), one),
            (&format!("OFF\n3 1 0\n{BODY}what follows the last face"), one),
            ("COFF\n3 1 0\n0 0 0 255 0 0 255\n1 0 0 1 1 1 1\n0 1 0 1. 1. 1. 1.\n3 0 1 2 255 0 0\n", one),
            ("NOFF\n3 1 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 nan nan nan\n3 0 1 2 # red\n", one),
            ("STCNOFF\n3 1 0\n0 0 0 0 0 1 1 1 1 1 0 0\n1 0 0\n0 1 0\n3 0 1 2 3 1 0 0\n", one),
            ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n4 0 1 2 0\n", &[[0, 1, 2], [0, 2, 0]]),
        ],
    );
}

/// The cube as big-endian binary, with colours.
fn binary() -> Vec<u8> {
    let mut bytes = b"COFF BINARY\n".to_vec();
    bytes.extend([8i32, 6, 12].iter().flat_map(|n| n.to_be_bytes()));
    for [x, y, z] in cube_corners() {
        bytes.extend([x, y, z, 1.0, 0.0, 0.0, 1.0].iter().flat_map(|&v| (v as f32).to_be_bytes()));
    }
    for side in CUBE_SIDES {
        bytes.extend(4i32.to_be_bytes());
        bytes.extend(side.iter().flat_map(|v| v.to_be_bytes()));
        bytes.extend(2i32.to_be_bytes());
        bytes.extend([0; 8]);
    }
    bytes
}

#[test]
fn binary_with_colours() {
    assert_eq!(good(binary(), Format::Off), cube());
    let start = b"COFF BINARY\n".len();
    for (at, value, part) in [
        (start, i32::MAX, "byte 24: 2147483647 vertices and 6 faces need"),
        (start + 4, -1, "8 vertices and -1 faces"),
        (start + 12, f32::NAN.to_bits() as i32, "vertex 0: a coordinate is NaN"),
        (start + 12 + 8 * 28, 2, "face 0 has 2 corners"),
        (start + 12 + 8 * 28, i32::MAX, "the face names vertex 2, but there are 8"),
        (start + 12 + 8 * 28 + 4, 8, "the face names vertex 8"),
        (start + 12 + 8 * 28 + 20, -1, "a colour of -1 components"),
        (start + 12 + 8 * 28 + 20, i32::MAX, "a colour: 8589934588 bytes are needed"),
    ] {
        let mut bytes = binary();
        bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
        if part.contains("names vertex 2,") {
            // A face that runs on takes the colour's length 2 for a corner, then its bytes, and ends
            // where the corners of the next face leave the range.
            bytes[at + 24..at + 28].copy_from_slice(&(-1i32).to_be_bytes());
            assert!(refused(bytes, Format::Off).contains("the face names vertex -1"));
            continue;
        }
        let message = refused(bytes, Format::Off);
        assert!(message.contains(part), "{message:?} should say {part:?}");
    }
}

#[test]
fn the_line_of_the_culprit_is_named() {
    check_refused(
        Format::Off,
        &[
            ("", "line 1: the file is empty"),
            ("OFF\n", "line 2: the file ends before the number of vertices"),
            ("OFF\n3\n", "line 3: the file ends before the number of faces"),
            ("OFF\n3.5 1 0\n", "line 2: the number of vertices should be a whole number, not `3.5`"),
            ("OFF\n-3 1 0\n", "line 2: -3 vertices"),
            ("4OFF\n3 1 0\n", "line 1: `4OFF`: vertices in four dimensions are not supported"),
            ("nOFF\n4\n3 1 0\n", "line 2: dimension `4`: only 3 is supported"),
            ("OFF\n353535235358 6 0\n0 0 0\n", "line 2: 353535235358 vertices and 6 faces are promised"),
            ("OFF\n1 9223372036854775807 0\n0 0 0\n", "but only"),
            (&format!("OFF\n3 1 0\n{BODY}").replace("1 0 0", "1 0"), "line 4: z is missing"),
            (&format!("OFF\n3 1 0\n{BODY}").replace("1 0 0", "1 inf 0"), "line 4: a coordinate is inf"),
            (&format!("OFF\n3 1 0\n{BODY}").replace("1 0 0", "1 a 0"), "line 4: y should be a number"),
            (&format!("OFF\n3 1 0\n{BODY}").replace("0 1 2", "0 1 3"), "line 6: the face names vertex 3"),
            (&format!("OFF\n3 1 0\n{BODY}").replace("0 1 2", "0 -1 2"), "line 6: the face names vertex -1"),
            (&format!("OFF\n3 1 0\n{BODY}").replace("0 1 2", "0 1"), "face 0 promises 3 corners and has 2"),
            (&format!("OFF\n3 1 0\n{BODY}").replace("3 0 1 2", "2 0 1 2"), "line 6: face 0 has 2 corners"),
            (&format!("OFF\n3 2 0\n{BODY}#############"), "line 7: the file ends after 1 of 2 faces"),
            (&format!("OFF\n3 0 0\n{BODY}"), "no triangles"),
        ],
    );
}
