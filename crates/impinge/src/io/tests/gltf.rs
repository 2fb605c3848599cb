use serde_json::{Value, json};

use super::*;
use crate::io::gltf::read;

/// Positions of the cube as f32, then its triangles as u16: 96 and 72 bytes.
fn cube_bytes() -> Vec<u8> {
    let positions = cube_corners().into_iter().flatten().flat_map(|x| (x as f32).to_le_bytes());
    let cube = cube();
    let indices = cube.triangles().iter().flatten().flat_map(|&v| (v as u16).to_le_bytes());
    positions.chain(indices).collect()
}

/// The cube under one node.
fn document() -> Value {
    json!({
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"}
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": 96},
            {"buffer": 0, "byteOffset": 96, "byteLength": 72}
        ],
        "buffers": [{"byteLength": 168}]
    })
}

pub(super) fn glb(document: &str, binary: &[u8]) -> Vec<u8> {
    let mut text = document.as_bytes().to_vec();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF".to_vec();
    let length = 12 + 8 + text.len() + 8 + binary.len();
    bytes.extend([2, length as u32, text.len() as u32].iter().flat_map(|n| n.to_le_bytes()));
    bytes.extend(b"JSON");
    bytes.extend(text);
    bytes.extend((binary.len() as u32).to_le_bytes());
    bytes.extend(b"BIN\0");
    bytes.extend(binary);
    bytes
}

fn cube_glb(document: &Value) -> Vec<u8> {
    glb(&document.to_string(), &cube_bytes())
}

fn base64(bytes: &[u8]) -> String {
    const SYMBOLS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, i| bits << 8 | u32::from(group.get(i).copied().unwrap_or(0)));
        for symbol in 0..4 {
            let shown = symbol <= group.len();
            text.push(if shown { SYMBOLS[(bits >> (18 - 6 * symbol) & 63) as usize].into() } else { '=' });
        }
    }
    text
}

/// The document with the value at `pointer` replaced.
fn with(pointer: &str, value: Value) -> Value {
    let mut changed = document();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match changed.pointer_mut(parent).unwrap() {
        Value::Array(array) => array[key.parse::<usize>().unwrap()] = value,
        parent => parent[key] = value,
    }
    changed
}

#[test]
fn a_glb_and_an_embedded_document_hold_the_same_cube() {
    assert_eq!(good(cube_glb(&document()), Format::Gltf), cube());
    let uri = format!("data:application/octet-stream;base64,{}", base64(&cube_bytes()));
    let embedded = with("/buffers/0", json!({"byteLength": 168, "uri": uri}));
    assert_eq!(good(embedded.to_string(), Format::Gltf), cube());
    assert_eq!(good(format!("\u{feff}{embedded}"), Format::Gltf), cube());
}

#[test]
fn base64_of_every_length() {
    let bytes: Vec<u8> = (0..=255).rev().collect();
    for length in 0..40 {
        let decoded = crate::io::gltf::decode_base64(base64(&bytes[..length]).as_bytes());
        assert_eq!(decoded.as_deref(), Some(&bytes[..length]));
    }
    for broken in ["A", "AAAAA", "A*==", "AA=A", "AAA==="] {
        assert_eq!(crate::io::gltf::decode_base64(broken.as_bytes()), None, "{broken}");
    }
}

#[test]
fn files_beside_the_document_are_fetched_by_name() {
    let text = with("/buffers/0", json!({"byteLength": 168, "uri": "my%20cube.bin"})).to_string();
    let fetch = |name: &str, length: usize| {
        assert_eq!((name, length), ("my cube.bin", 168));
        Ok(cube_bytes())
    };
    assert_eq!(read(text.as_bytes(), &fetch).unwrap(), cube());
    assert!(refused(&text, Format::Gltf).contains("buffer 0: `my cube.bin`: a file beside the document"));
    let within = with("/buffers/0", json!({"byteLength": 168, "uri": "./sub/../data/%2E%2E/my%20cube.bin"}));
    assert_eq!(read(within.to_string().as_bytes(), &fetch).unwrap(), cube());
    let outside =
        ["../a.bin", "../../../etc/passwd", "sub/../../a.bin", "%2e%2e/a.bin", "%2Fetc/passwd", ".."];
    let broken = ["http://host/a.bin", "/etc/passwd", "c:\\a.bin", "a%2", "a%zz", "%ff"];
    for uri in outside.into_iter().chain(broken) {
        let text = with("/buffers/0", json!({"byteLength": 168, "uri": uri})).to_string();
        let message = read(text.as_bytes(), &|_, _| panic!("{uri} was fetched")).unwrap_err().to_string();
        assert!(message.starts_with("glTF, buffer 0:"), "{message}");
    }
}

#[test]
fn node_transforms_are_applied_in_the_order_of_the_nodes() {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let mut tree = with("/scenes/0/nodes", json!([2]));
    tree["nodes"] = json!([
        {"mesh": 0, "translation": [0.1, 0, 0]},
        {"mesh": 0, "matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 5,6,7,1]},
        // A quarter turn about z, given twice as long as a unit quaternion.
        {"children": [1, 0], "translation": [10, 20, 30], "rotation": [0, 0, 2.0 * half, 2.0 * half], "scale": [2, 3, 4]},
        {"mesh": 0}
    ]);
    let mesh = good(cube_glb(&tree), Format::Gltf);
    assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (16, 24));
    // Vertex 1 is (1, 0, 0): scaled, turned to y, moved.
    let near = |vertex: usize, expected: [f64; 3]| {
        let distance = mesh.vertices()[vertex].distance(expected.into());
        assert!(distance < 1e-13, "{vertex}: {distance}");
    };
    near(1, [10.0, 20.0 + 2.0 * 1.1, 30.0]);
    near(8 + 1, [10.0 - 3.0 * 6.0, 20.0 + 2.0 * 6.0, 30.0 + 4.0 * 7.0]);
    // 0.1 is the double, not the float.
    let moved = with("/nodes/0", json!({"mesh": 0, "translation": [0.1, 0, 0]}));
    assert_eq!(good(cube_glb(&moved), Format::Gltf).vertices()[0].x, 0.1);
}

#[test]
fn a_mirrored_node_keeps_its_outside() {
    let mirrored = with("/nodes/0", json!({"mesh": 0, "scale": [1, 1, -1]}));
    let mesh = good(cube_glb(&mirrored), Format::Gltf);
    let volume: f64 = (0..12).map(|t| mesh.corners(t)).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
    let plain = cube();
    let original: f64 = (0..12).map(|t| plain.corners(t)).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum();
    assert!(original.abs() > 0.99 && (volume - original).abs() < 1e-14, "{volume} and {original}");
}

#[test]
fn without_scenes_every_root_counts_and_without_nodes_every_mesh() {
    let mut bare = document();
    let object = bare.as_object_mut().unwrap();
    object.remove("scene");
    object.remove("scenes");
    assert_eq!(good(cube_glb(&bare), Format::Gltf), cube());
    bare.as_object_mut().unwrap().remove("nodes");
    assert_eq!(good(cube_glb(&bare), Format::Gltf), cube());
}

#[test]
fn triangles_strips_and_fans() {
    let primitive = |mode: u32| json!([{"attributes": {"POSITION": 0}, "mode": mode}]);
    let triangles = |primitives: Value| {
        good(cube_glb(&with("/meshes/0/primitives", primitives)), Format::Gltf).triangles().to_vec()
    };
    assert_eq!(triangles(primitive(5))[..3], [[0, 1, 2], [1, 3, 2], [2, 3, 4]]);
    assert_eq!(triangles(primitive(6))[..3], [[0, 1, 2], [0, 2, 3], [0, 3, 4]]);
    let message = refused(cube_glb(&with("/meshes/0/primitives", primitive(4))), Format::Gltf);
    assert!(message.contains("node 0, primitive 0: 8 corners are no whole number of triangles"), "{message}");
    let message = refused(cube_glb(&with("/meshes/0/primitives", primitive(7))), Format::Gltf);
    assert!(message.contains("unknown mode 7"), "{message}");
    let message = refused(cube_glb(&with("/meshes/0/primitives", primitive(1))), Format::Gltf);
    assert!(message.contains("no triangles"), "{message}");
    // Primitives with the same positions share their vertices.
    let twice = json!([
        {"attributes": {"POSITION": 0}, "indices": 1},
        {"attributes": {"POSITION": 0}, "mode": 0},
        {"attributes": {"POSITION": 0}, "indices": 1}
    ]);
    let mesh = good(cube_glb(&with("/meshes/0/primitives", twice)), Format::Gltf);
    assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (8, 24));
}

#[test]
fn strides_index_types_and_quantized_positions() {
    let accessor = |kind: u32, normalized: bool| json!({"bufferView": 0, "componentType": kind, "normalized": normalized, "count": 3, "type": "VEC3"});
    for (kind, normalized, bytes, x) in [
        (5120, false, vec![0, 0, 0, 0, 156, 0, 0, 0, 0, 1, 0, 0], -100.0),
        (5120, true, vec![0, 0, 0, 0, 128, 0, 0, 0, 0, 1, 0, 0], -1.0),
        (5121, true, vec![0, 0, 0, 0, 255, 0, 0, 0, 0, 1, 0, 0], 1.0),
        (5122, true, [[0; 8], [1, 128, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0]].concat(), -1.0),
        (5123, false, [[0; 8], [1, 128, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0]].concat(), 32769.0),
    ] {
        let stride = bytes.len() / 3;
        let document = json!({
            "asset": {"version": "2.0"},
            "extensionsRequired": ["KHR_mesh_quantization", "KHR_materials_unlit"],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
            "accessors": [accessor(kind, normalized)],
            "bufferViews": [{"buffer": 0, "byteLength": bytes.len(), "byteStride": stride}],
            "buffers": [{"byteLength": bytes.len()}]
        });
        let mesh = good(glb(&document.to_string(), &bytes), Format::Gltf);
        assert_eq!(mesh.vertices()[1].x, x, "{kind}");
    }
}

#[test]
fn the_element_of_the_culprit_is_named() {
    for (pointer, value, part) in [
        ("/asset/version", json!("1.0"), "asset: version 1.0: only 2 is supported"),
        ("/asset", json!({}), "missing field `version`"),
        (
            "/extensionsRequired",
            json!(["KHR_draco_mesh_compression"]),
            "the extension KHR_draco_mesh_compression",
        ),
        ("/extensionsRequired", json!(["EXT_meshopt_compression"]), "the extension EXT_meshopt_compression"),
        ("/scene", json!(1), "scene 1: there is no such scene"),
        ("/scenes/0/nodes", json!([7]), "node 7: there is no such node"),
        ("/scenes/0/nodes", json!([0, 0]), "node 0: it has two parents"),
        ("/nodes/0", json!({"children": [0]}), "node 0: it has two parents"),
        ("/nodes/0", json!({"mesh": 3}), "node 0: there is no mesh 3"),
        ("/nodes/0", json!({"mesh": 0, "rotation": [0, 0, 0, 0]}), "node 0: its rotation is no quaternion"),
        ("/nodes/0", json!({"mesh": 0, "matrix": [1, 2]}), "glTF, line 1, column"),
        ("/nodes/0", json!({"mesh": 0, "scale": [1e300, 1, 1]}), "vertex 1: a coordinate is 1e300"),
        ("/nodes/0", json!({"mesh": -1}), "invalid value: integer `-1`"),
        ("/meshes/0/primitives", json!([{"attributes": {}}]), "node 0, primitive 0: it has no POSITION"),
        ("/meshes/0/primitives/0/attributes/POSITION", json!(9), "accessor 9: there is no such accessor"),
        ("/meshes/0/primitives/0/attributes/POSITION", json!(1), "accessor 1: VEC3 is expected, not SCALAR"),
        ("/meshes/0/primitives/0/indices", json!(0), "accessor 0: SCALAR is expected, not VEC3"),
        ("/accessors/0/count", json!(7), "index 8 names vertex 7, but there are 7 vertices"),
        ("/accessors/0/count", json!(9), "accessor 0: 9 elements reach beyond the buffer"),
        ("/accessors/0/count", json!(u64::MAX), "more than 40000000 vertices and indices"),
        ("/accessors/0/count", json!("8"), "invalid type: string"),
        ("/accessors/0/byteOffset", json!(u64::MAX), "accessor 0: 8 elements reach beyond the buffer"),
        ("/accessors/0/componentType", json!(5125), "POSITION should be of a float type"),
        ("/accessors/0/componentType", json!(5130), "accessor 0: unknown component type 5130"),
        ("/accessors/0/sparse", json!({"count": 1}), "accessor 0: sparse accessors are not supported"),
        (
            "/accessors/0",
            json!({"componentType": 5126, "count": 8, "type": "VEC3"}),
            "accessor 0: it has no buffer view",
        ),
        ("/accessors/0/bufferView", json!(5), "accessor 0: there is no buffer view 5"),
        ("/accessors/1/componentType", json!(5122), "indices should be of an unsigned type"),
        ("/accessors/1/count", json!(35), "35 corners are no whole number of triangles"),
        ("/accessors/1/count", json!(2), "2 corners make no triangle"),
        ("/bufferViews/0/byteStride", json!(8), "accessor 0: a stride of 8 bytes for elements of 12"),
        ("/bufferViews/0/byteLength", json!(u64::MAX), "accessor 0: 8 elements reach beyond the buffer"),
        ("/bufferViews/0/buffer", json!(1), "buffer 1: there is no such buffer"),
        ("/buffers/0/byteLength", json!(169), "buffer 0: 169 bytes are promised, 168 are there"),
        ("/buffers/0/uri", json!("data:text/plain,abc"), "buffer 0: a data URI that is not base64"),
        ("/buffers/0/uri", json!("data:;base64,*"), "buffer 0: broken base64"),
    ] {
        let message = refused(cube_glb(&with(pointer, value.clone())), Format::Gltf);
        assert!(message.contains(part), "{pointer} {value}: {message:?} should say {part:?}");
    }
    let packed = json!([{"attributes": {"POSITION": 2}, "extensions": {"KHR_draco_mesh_compression": {"bufferView": 0}}}]);
    let mut draco = with("/meshes/0/primitives", packed);
    draco["accessors"]
        .as_array_mut()
        .unwrap()
        .push(json!({"componentType": 5126, "count": 8, "type": "VEC3"}));
    assert!(refused(cube_glb(&draco), Format::Gltf).contains("accessor 2: its data is packed by KHR_draco"));
}

#[test]
fn broken_containers_and_documents() {
    let whole = cube_glb(&document());
    let mut old = whole.clone();
    old[4] = 1;
    assert!(refused(old, Format::Gltf).contains("version 1: only 2 is supported"));
    assert!(refused(&whole[..whole.len() - 1], Format::Gltf).contains("the file should have"));
    let mut swapped = whole.clone();
    swapped[16..20].copy_from_slice(b"NOSJ");
    assert!(refused(swapped, Format::Gltf).contains("the first chunk should be the JSON document"));
    let mut long = whole.clone();
    long[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(refused(long, Format::Gltf).contains("4294967295 bytes are needed"));
    check_refused(
        Format::Gltf,
        &[
            ("{", "glTF, line 1, column 1: EOF while parsing"),
            ("{\n \"asset\": 3}", "glTF, line 2, column 11: invalid type: integer `3`"),
            ("[]", "glTF, line 1"),
            (&"[".repeat(100_000), "glTF, line 1, column 2: invalid type"),
            (&format!("{{\"extras\": {}", "[".repeat(100_000)), "EOF while parsing"),
        ],
    );
}

#[test]
fn a_small_file_cannot_multiply_itself() {
    let mut many = document();
    many["nodes"] = json!(vec![json!({"mesh": 0}); 1000]);
    many["scenes"] = json!([{"nodes": (0..1000).collect::<Vec<_>>()}]);
    many["meshes"][0]["primitives"] = json!(vec![document()["meshes"][0]["primitives"][0].clone(); 1000]);
    let message = refused(cube_glb(&many), Format::Gltf);
    assert!(message.contains("the nodes make more than 40000000 vertices and indices"), "{message}");
}

/// Nodes that place a mesh alike but for a translation share it; one that turns it has its own.
#[test]
fn nodes_share_a_mesh() {
    let node = |name: &str, x: f64| json!({"name": name, "mesh": 0, "translation": [x, 0.1, 0.0], "scale": [2, 1, 1]});
    let mut document =
        with("/nodes", json!([node("one", 0.3), node("two", 5.7), {"name": "turned", "mesh": 0}]));
    document["scenes"][0]["nodes"] = json!([0, 1, 2]);
    let bytes = cube_glb(&document);
    let fetch = |_: &str, _: usize| Err("there is none".to_string());
    let nodes = crate::io::gltf::read_nodes(&bytes, &fetch).unwrap();
    let names: Vec<&str> = nodes.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["one", "two", "turned"]);
    let same = |i: usize, j: usize| nodes[i].1.geometry().is_same(nodes[j].1.geometry());
    assert!(same(0, 1) && !same(0, 2) && nodes[2].2 == crate::Pose::IDENTITY);
    // The placed doubles are those of the whole file.
    let whole = read(&bytes, &fetch).unwrap();
    let placed = nodes
        .iter()
        .flat_map(|(_, shape, pose)| shape.as_mesh().unwrap().vertices().iter().map(|&p| pose.apply(p)));
    assert_eq!(placed.collect::<Vec<_>>(), whole.vertices());
}
