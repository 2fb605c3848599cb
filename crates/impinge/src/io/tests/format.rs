use std::io::Write;

use super::*;
use crate::Error;
use crate::io::{Encoding, load_mesh, read, save_as, write};

/// One small file of every format, beginning with OBJ.
pub(super) fn samples() -> Vec<(Format, Vec<u8>)> {
    let body = "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    let document = concat!(
        r#"{"asset":{"version":"2.0"},"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"#,
        r#""accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],"#,
        r#""bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36}]}"#
    );
    let bytes: Vec<u8> =
        [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let medit = "MeshVersionFormatted 1\nDimension 3\nVertices\n3\n0 0 0 0\n1 0 0 0\n0 1 0 0\nTriangles\n1\n1 2 3 0\n";
    let mut samples: Vec<(Format, Vec<u8>)> = [
        (Format::Obj, Encoding::Obj),
        (Format::Stl, Encoding::StlText),
        (Format::Stl, Encoding::StlBinary),
        (Format::Ply, Encoding::PlyText),
        (Format::Ply, Encoding::PlyBinary),
    ]
    .map(|(format, encoding)| (format, write(&cube(), encoding).unwrap()))
    .into();
    samples.push((Format::Off, format!("OFF\n3 1 0\n{body}").into_bytes()));
    samples.push((Format::Gltf, super::gltf::glb(document, &bytes)));
    samples.push((Format::Medit, medit.into()));
    samples
}

#[test]
fn content_tells_the_format_whatever_the_name_says() {
    for (format, bytes) in samples() {
        assert_eq!(Format::from_content(&bytes), Some(format));
        let alone = read_as(&bytes, format).unwrap();
        for hint in Format::ALL.map(Some).into_iter().chain([None]) {
            assert_eq!(read(&bytes, hint).unwrap(), alone, "{format:?} named {hint:?}");
        }
    }
}

#[test]
fn leading_comments_and_blank_lines_do_not_hide_the_format() {
    assert_eq!(Format::from_content(b"\n# a\n\n  v 0 0 0\n"), Some(Format::Obj));
    assert_eq!(Format::from_content(b"# a\nCOFF\n"), Some(Format::Off));
    assert_eq!(Format::from_content(b"\n\nsolid x\n  facet normal"), Some(Format::Stl));
    assert_eq!(Format::from_content(b" \n{\"asset\""), Some(Format::Gltf));
    assert_eq!(Format::from_content(b"\xef\xbb\xbfMeshVersionFormatted 1"), Some(Format::Medit));
    for open in [&b""[..], b"3 1 0\n0 0 0\n", b"\0\0\0\0", b"hello", b"plyx"] {
        assert_eq!(Format::from_content(open), None);
    }
}

#[test]
fn the_name_decides_where_the_content_does_not() {
    let text = b"3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    assert_eq!(read(text, Some(Format::Off)).unwrap().triangles().len(), 1);
    let message = read(text, None).unwrap_err().to_string();
    assert!(message.contains("neither content nor extension"), "{message}");
    assert!(Format::ALL.iter().all(|format| message.contains(format.name())), "{message}");
    assert!(read(b"", Some(Format::Obj)).unwrap_err().to_string().contains("the file is empty"));
    for (extension, format) in
        [("OBJ", Format::Obj), ("Stl", Format::Stl), ("glb", Format::Gltf), ("mesh", Format::Medit)]
    {
        assert_eq!(Format::from_extension(extension), Some(format));
    }
    assert_eq!(Format::from_extension("png"), None);
    for (path, format) in [
        ("parts/a.b.obj", Some(Format::Obj)),
        ("a.stl.GZ", Some(Format::Stl)),
        ("a.txt.gz", None),
        ("a.gz", None),
        ("obj", None),
    ] {
        assert_eq!(Format::from_path(path), format, "{path}");
    }
}

fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

#[test]
fn packed_files_are_unpacked_but_not_without_end() {
    for (format, bytes) in samples() {
        assert_eq!(read(&pack(&bytes), None).unwrap(), read_as(&bytes, format).unwrap());
    }
    let zeros = pack(&vec![b'\n'; 1 << 24]);
    let message = read(&zeros, Some(Format::Obj)).unwrap_err().to_string();
    assert!(message.contains("it unpacks to more than 200 times its size"), "{message}");
    let mut cut = pack(&samples()[0].1);
    cut.truncate(cut.len() / 2);
    let message = read(&cut, Some(Format::Obj)).unwrap_err().to_string();
    assert!(message.starts_with("gzip, packed data:"), "{message}");
}

#[test]
fn messages_about_files_name_the_path() {
    let missing = load_mesh("no/such/file.obj").unwrap_err();
    assert!(matches!(&missing, Error::File { path, .. } if path == "no/such/file.obj"), "{missing}");
    let folder = tempfile();
    let path = folder.join("named.ply");
    std::fs::write(&path, "v 0 0 0\nf 1 1 2\n").unwrap();
    let message = load_mesh(&path).unwrap_err().to_string();
    assert!(
        message.ends_with("named.ply: OBJ, line 2: the face names vertex 2, but there are 1 vertices"),
        "{message}"
    );
    // Content over extension, and the extension below `.gz` where the content is silent.
    save_as(folder.join("ply.stl"), &cube(), Encoding::PlyBinary).unwrap();
    assert_eq!(load_mesh(folder.join("ply.stl")).unwrap(), cube());
    std::fs::write(folder.join("plain.off.gz"), pack(b"3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")).unwrap();
    assert_eq!(load_mesh(folder.join("plain.off.gz")).unwrap().triangles().len(), 1);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_document_finds_its_buffers_beside_it() {
    let folder = tempfile();
    let document = concat!(
        r#"{"asset":{"version":"2.0"},"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"#,
        r#""accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],"#,
        r#""bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36,"uri":"NAME"}]}"#
    );
    let path = folder.join("a.gltf");
    std::fs::write(folder.join("a b.bin"), [0; 40]).unwrap();
    std::fs::write(&path, document.replace("NAME", "a%20b.bin")).unwrap();
    assert_eq!(load_mesh(&path).unwrap().triangles().len(), 1);
    for (name, part) in [("c.bin", "buffer 0: `c.bin`"), (".", "buffer 0: `.`")] {
        std::fs::write(&path, document.replace("NAME", name)).unwrap();
        let message = load_mesh(&path).unwrap_err().to_string();
        assert!(message.contains(part) && message.contains("a.gltf"), "{message}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A folder of its own for one test.
pub(super) fn tempfile() -> std::path::PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("impinge-io-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
