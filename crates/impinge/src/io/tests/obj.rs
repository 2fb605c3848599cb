use super::*;

const THREE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

fn with_three(rest: &str) -> String {
    format!("{THREE}{rest}")
}

#[test]
fn sides_become_fans_and_other_statements_are_passed_over() {
    let mut text = String::from("# cube\nmtllib a.mtl\no cube\n");
    for [x, y, z] in cube_corners() {
        text += &format!("v {x} {y} {z}\n");
    }
    text += "vt 0 0\nvn 0 0 1\ng sides\nusemtl red\ns off\n";
    for side in CUBE_SIDES {
        text += &side.map(|v| format!("{}/1/1", v + 1)).join(" ").replacen("", "f ", 1);
        text += "\nl 1 2\np 1\ncurv 0 1 1 2\nunknown f 1 2 3\n";
    }
    assert_eq!(good(text, Format::Obj), cube());
}

#[test]
fn indices_of_every_form() {
    for face in [
        "f 1 2 3",
        "f 1/4 2/5 3/6",
        "f 1//4 2//5 3//6",
        "f 1/ 2/ 3/",
        "f -3 -2 -1",
        "f -3/-1/-1 2 +3",
        "fo 1 2 3",
        "\tf\t1   2 3  ",
        "f 1 2 3 # a comment",
        "f 1 2 3#another",
        "f 1 2 \\\n3",
        "f \\\r\n 1 \\\r\n 2 3",
        "g a \\\nf 1 2 3\nf 1 2 3",
        "# a comment joins nothing \\\nf 1 2 3",
        "f 1 2 3\r",
        "f 01 002 3",
    ] {
        assert_eq!(good(with_three(face), Format::Obj).triangles(), [[0, 1, 2]], "{face:?}");
    }
}

#[test]
fn a_negative_index_counts_back_from_its_line() {
    let text = with_three("f -3 -2 -1\nv 1 1 0\nf -3 -2 -1\n");
    assert_eq!(good(text, Format::Obj).triangles(), [[0, 1, 2], [1, 2, 3]]);
}

#[test]
fn a_face_may_come_before_its_vertices() {
    assert_eq!(good(format!("f 1 2 3\n{THREE}"), Format::Obj).triangles(), [[0, 1, 2]]);
    let message = refused(with_three("f 1 2 3\n\nf 3 5 9\nf 1 2 7\n"), Format::Obj);
    assert_eq!(message, "OBJ, line 6: the face names vertex 9, but there are 3 vertices");
}

#[test]
fn doubles_are_read_to_the_last_bit() {
    for (text, value) in [
        ("0.1", 0.1_f64),
        ("+1.", 1.0),
        (".5", 0.5),
        ("-.7e+02", -70.0),
        (".8e-001", 0.08),
        ("1E2", 100.0),
        ("5e-324", 5e-324),
        ("1e60", 1e60),
        ("-0", -0.0),
        ("2.2250738585072011e-308", 2.225_073_858_507_201e-308),
        ("9007199254740993", 9_007_199_254_740_992.0),
        ("0.1000000000000000055511151231257827021181583404541015625", 0.1),
    ] {
        let mesh = good(format!("v {text} 0 0 1.0\nv 1 0 0 0.5 0.5 0.5\nv 0 1 0\nf 1 2 3"), Format::Obj);
        assert_eq!(mesh.vertices()[0].x.to_bits(), value.to_bits(), "{text}");
    }
}

#[test]
fn every_kind_of_line_end_counts_as_one_line() {
    for newline in ["\n", "\r\n", "\r"] {
        let text = with_three("\n# c\nf 1 2 4\n").replace('\n', newline);
        assert!(refused(text, Format::Obj).starts_with("OBJ, line 6:"), "{newline:?}");
    }
}

#[test]
fn a_byte_order_mark_and_other_encodings_do_no_harm() {
    assert_eq!(good(format!("\u{feff}{THREE}f 1 2 3"), Format::Obj).triangles().len(), 1);
    let mut bytes = b"g \xff\xfe\n# \x80\n".to_vec();
    bytes.extend_from_slice(with_three("f 1 2 3").as_bytes());
    assert_eq!(good(bytes, Format::Obj).triangles().len(), 1);
}

#[test]
fn the_line_of_the_culprit_is_named() {
    check_refused(
        Format::Obj,
        &[
            ("v 0 0\n", "line 1: z is missing"),
            ("\nv 0 x 0\n", "line 2: y should be a number, not `x`"),
            ("v 0 0 nan\n", "line 1: a coordinate is NaN"),
            ("v -inf 0 0\n", "line 1: a coordinate is -inf"),
            ("v 0 1e61 0\n", "line 1: a coordinate is 1e61"),
            ("v 0 1e999 0\n", "line 1: a coordinate is inf"),
            ("f 1 2\n", "line 1: a face needs 3 corners, this one has 2"),
            ("f\n", "line 1: a face needs 3 corners, this one has 0"),
            ("v 0 0 0\nf 1 1 \\\n\n", "line 2: a face needs 3 corners, this one has 2"),
            ("f 0 1 2\n", "line 1: vertex index 0"),
            ("f 1 2 x\n", "line 1: a corner should be a vertex index, not `x`"),
            ("f 1 2 /3\n", "line 1: a corner should be a vertex index, not `/3`"),
            ("f 1 2 3.0\n", "not `3.0`"),
            ("f 1 2 99999999999999999999\n", "not `99999999999999999999`"),
            ("f 1 2 4294967296\n", "line 1: the face names vertex 4294967296, but there are 0 vertices"),
            ("f 1 2 -9223372036854775807\n", "line 1: the face names vertex -9223372036854775807"),
            ("call other.obj\n", "line 1: `call`"),
            ("v 0 0 0\n", "the mesh has no triangles"),
            ("", "the mesh has no triangles"),
        ],
    );
}

#[test]
fn messages_stay_short_and_printable() {
    let message = refused(format!("v 0 0 \u{1b}[31m{}\n", "9x".repeat(5000)), Format::Obj);
    assert!(message.len() < 150 && !message.contains('\u{1b}'), "{message}");
}
