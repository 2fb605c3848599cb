use super::{ParticleCell, ParticleSet, read_particles};

fn read(text: &str, extension: Option<&str>) -> ParticleSet {
    read_particles(text.as_bytes(), extension).unwrap()
}

fn refusal(text: &str, extension: Option<&str>) -> String {
    read_particles(text.as_bytes(), extension).unwrap_err().to_string()
}

#[test]
fn csv_with_and_without_header_in_every_dialect() {
    let want = ParticleSet { positions: vec![[1.0, 2.5, -3.0], [0.1, 1e-3, 4.0]], radii: vec![], cell: None };
    for text in [
        "1,2.5,-3\n0.1,1e-3,4\n",
        "x,y,z\n1,2.5,-3\n0.1,1e-3,4",
        "\u{feff}\"X\";\"Y\";\"Z\"\r\n1;2.5;-3\r\n0.1;1e-3;4\r\n\r\n",
        "# made by hand\nid\tz\ty\tx\n7\t-3\t2.5\t1\n8\t4\t1e-3\t0.1\n",
        "  1  2.5 -3\n\n 0.1 1e-3 4\n",
        "x,y,z\r1,2.5,-3\r0.1,1e-3,4\r",
    ] {
        assert_eq!(read(text, Some("csv")), want, "{text}");
        assert_eq!(read(text, None), want, "{text}");
    }
    let balls = read("x,y,z,r\n0,0,0,0.5\n1,1,1,0\n", None);
    assert_eq!(balls, ParticleSet { positions: vec![[0.0; 3], [1.0; 3]], radii: vec![0.5, 0.0], cell: None });
    assert_eq!(read("0,0,0,0.5\n", None).radii, [0.5]);
    assert_eq!(
        read("radius,x,y\n2,3,4\n", None),
        ParticleSet { positions: vec![[3.0, 4.0, 0.0]], radii: vec![2.0], cell: None }
    );
    assert_eq!(read("1,2\n", None).positions, [[1.0, 2.0, 0.0]]);
    assert_eq!(read("x,y,z\n", None), ParticleSet::default());
}

#[test]
fn broken_csv_names_the_line() {
    for (text, place, reason) in [
        ("x,y,z\n1,2,3\n1,2\n", "line 3", "2 fields where the first row has 3"),
        ("1,2,3\n1,2,nan\n", "line 2", "NaN"),
        ("1,2,3\n1,inf,3\n", "line 2", "inf"),
        ("1,2,3\n\n1,2e61,3\n", "line 3", "2e61"),
        ("1,2,3\n1,two,3\n", "line 2", "`two`"),
        ("1,2,3\n1,,3\n", "line 2", "y should be a number"),
        ("a,b,c\n1,2,3\n", "line 1", "header"),
        ("1,2,3,4,5\n", "line 1", "at most four"),
        ("1\n", "line 1", "one number"),
        ("1,2,3,\n4,5,6,\n", "line 1", "behind the last separator"),
        ("x,y,z,r\n1,2,3,-1\n", "line 2", "radius"),
        ("x,y,z,r\n1,2,3,nan\n", "line 2", "radius"),
        ("", "line 1", "empty"),
    ] {
        let said = refusal(text, Some("csv"));
        assert!(said.contains(place) && said.contains(reason), "{text:?}: {said}");
    }
}

#[test]
fn xyz_has_a_count_a_comment_and_names() {
    let text = "2\nwater, 3 nm\nO 1.0 2.0 3.0 0.5\nH\t-1 0 1e1\n\n";
    let want = [[1.0, 2.0, 3.0], [-1.0, 0.0, 10.0]];
    assert_eq!(read(text, Some("xyz")).positions, want);
    assert_eq!(read(text, None).positions, want);
    assert_eq!(read("1\n\n1 2 3\n", Some("xyz")).positions, [[1.0, 2.0, 3.0]]);
    for (text, place, reason) in [
        ("two\n\nO 1 2 3\n", "line 1", "number of particles"),
        ("2\n\nO 1 2 3\n", "line 3", "1 of 2"),
        ("1\n\nO 1 2\n", "line 3", "z is missing"),
        ("1\n\nO 1 x 2\n", "line 3", "`x`"),
        ("1\n\nO 1 2 NaN\n", "line 3", "NaN"),
        ("1\n\nO 1 2 3\n1\n\nO 1 2 3\n", "line 4", "more than one frame"),
        ("99999999999999\n\nO 1 2 3\n", "line 3", "1 of"),
    ] {
        let said = refusal(text, Some("xyz"));
        assert!(said.contains(place) && said.contains(reason), "{text:?}: {said}");
    }
}

#[test]
fn pdb_is_read_by_columns() {
    let atom = "ATOM      1  N   MET A   1      27.340  24.430-100.614  1.00  9.67           N  ";
    let other = "HETATM  130  O   HOH A 150      12.000   0.125  -3.000";
    let text = format!("HEADER    TEST\nMODEL        1\n{atom}\nTER\n{other}\nENDMDL\nEND\n");
    let want = [[27.34, 24.43, -100.614], [12.0, 0.125, -3.0]];
    assert_eq!(read(&text, Some("pdb")).positions, want);
    assert_eq!(read(&text, None).positions, want);
    let said = refusal(&format!("{atom}\n{}\n", &atom[..40]), Some("pdb"));
    assert!(said.contains("line 2") && said.contains("y is missing"), "{said}");
    let said = refusal(&atom.replace("27.340", "27.3x0"), Some("pdb"));
    assert!(said.contains("line 1") && said.contains("27.3x0"), "{said}");
    for second in ["MODEL        2\n".to_string(), format!("{atom}\n")] {
        let said = refusal(&format!("{text}{second}"), Some("pdb"));
        assert!(said.contains("line 8") && said.contains("more than one model"), "{said}");
    }
    assert!(refusal("HEADER    TEST\nEND\n", Some("pdb")).contains("without an ATOM"));
    assert_eq!(read(&text.to_lowercase(), Some("pdb")).positions, want);
}

#[test]
fn no_atom_of_a_pdb_is_lost_for_its_serial_number() {
    let rest = "  N   MET A   1      27.340  24.430-100.614  1.00  9.67           N  ";
    for begin in [
        "ATOM  99999",
        "ATOM 100000",
        "ATOM1234567",
        "HETATM99999",
        "ATOM  100000",
        "HETATM100000",
        "ATOM  1234567",
    ] {
        let set = read(&format!("{begin}{rest}\n"), Some("pdb"));
        assert_eq!(set.positions, [[27.34, 24.43, -100.614]], "{begin}");
    }
    // Six digits where the column behind five would be a blank, and all else in place.
    let set = read(&format!("ATOM  100000{}\n", &rest[1..]), None);
    assert_eq!(set.positions, [[27.34, 24.43, -100.614]]);
    for bad in [format!("ATOM  100000{}\n", rest.replace("27.340", "27340.")), "ATOM x\n".to_string()] {
        let said = refusal(&format!("ATOM  99999{rest}\n{bad}"), Some("pdb"));
        assert!(said.contains("line 2"), "{said}");
    }
    // A table whose first column is named like a record.
    assert_eq!(read("atom x y z\n1 2 3 4\n", None).positions, [[2.0, 3.0, 4.0]]);
}

#[test]
fn a_cell_is_read_where_the_file_has_one() {
    let atom = "ATOM      1  N   MET A   1      27.340  24.430-100.614  1.00  9.67           N  ";
    let cell = |cryst: &str| read(&format!("{cryst}\n{atom}\n"), Some("pdb")).cell;
    let right = cell("CRYST1   31.040   32.000   33.500  90.00  90.00  90.00 P 1           1").unwrap();
    let vectors = [[31.04, 0.0, 0.0], [0.0, 32.0, 0.0], [0.0, 0.0, 33.5]];
    assert_eq!(right, ParticleCell { vectors, periodic: [true; 3] });
    let skew =
        cell("CRYST1   10.000   20.000   30.000  80.00 100.00 120.00 P 1           1").unwrap().vectors;
    let [a, b, c] = skew.map(glam::DVec3::from);
    for (u, v, angle) in [(b, c, 80.0), (a, c, 100.0), (a, b, 120.0_f64)] {
        assert!((u.angle_between(v).to_degrees() - angle).abs() < 1e-9, "{skew:?}");
    }
    assert!((b.length() - 20.0).abs() < 1e-12 && (c.length() - 30.0).abs() < 1e-12);
    assert_eq!(cell("CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1           1"), None);
    assert_eq!(cell("CRYST1    0.000    0.000    0.000  90.00  90.00  90.00 P 1           1"), None);
    let said = refusal("CRYST1   10.000   20.000   30.000  10.00 100.00 120.00 P 1\n", Some("pdb"));
    assert!(said.contains("line 1") && said.contains("no cell"), "{said}");

    let text = "2\nLattice=\"4 0 0 0.5 5 0 0 0 6\" Properties=mass:R:1:species:S:1:pos:R:3:forces:R:3 pbc=\"T T F\"\n\
                16 O 1 2 3 0 0 0\n1 H 4 5 6 0 0 0\n";
    let set = read(text, Some("xyz"));
    assert_eq!(set.positions, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let vectors = [[4.0, 0.0, 0.0], [0.5, 5.0, 0.0], [0.0, 0.0, 6.0]];
    assert_eq!(set.cell, Some(ParticleCell { vectors, periodic: [true, true, false] }));
    for (from, to, reason) in [
        ("0 0 6\"", "0 0\"", "8 numbers"),
        ("pos:R:3", "pos:R:2", "names no pos"),
        ("mass:R:1", "mass:R:one", "name:type:columns"),
        ("T T F", "T T", "three of T and F"),
    ] {
        let said = refusal(&text.replace(from, to), Some("xyz"));
        assert!(said.contains("line 2") && said.contains(reason), "{said}");
    }
}

#[test]
fn extended_xyz_gives_its_radii() {
    let text = "2\nProperties=id:I:1:species:S:1:pos:R:3:radius:R:1\n1 H 0 0 0 .5\n2 H 1 0 0 .25\n";
    let set = read(text, Some("xyz"));
    assert_eq!((&set.positions[..], &set.radii[..]), (&[[0.0; 3], [1.0, 0.0, 0.0]][..], &[0.5, 0.25][..]));
    let before = "1\nProperties=radius:R:1:pos:R:3\n0.5 1 2 3\n";
    assert_eq!(read(before, Some("xyz")).radii, [0.5]);
    assert!(read(&text.replace("radius:R:1", "radius:R:2"), Some("xyz")).radii.is_empty());
    for (from, to, reason) in
        [(" .25", "", "radius is missing"), (".25", "-1", "0 or more"), (".25", "x", "`x`")]
    {
        let said = refusal(&text.replace(from, to), Some("xyz"));
        assert!(said.contains("line 4") && said.contains(reason), "{said}");
    }
}

#[test]
fn ply_gives_its_vertices_and_radii() {
    let text = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n\
                property float radius\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n\
                0 0 1 0.5\n1 2 3 0\n3 0 1 1\n";
    let set = read(text, None);
    assert_eq!(
        set,
        ParticleSet { positions: vec![[0.0, 0.0, 1.0], [1.0, 2.0, 3.0]], radii: vec![0.5, 0.0], cell: None }
    );
    let points = text.replace("property float radius\n", "").replace(" 0.5\n", "\n").replace("3 0\n", "3\n");
    assert_eq!(read(&points, Some("ply")).radii, Vec::<f64>::new());
    let said = refusal(&text.replace("3 0\n3 0", "3 -1\n3 0"), None);
    assert!(said.contains("vertex 1") && said.contains("line 12") && said.contains("radius"), "{said}");
    assert!(refusal(&text.replace("0 0 1 0.5", "0 nan 1 0.5"), None).contains("vertex 0"));
}
