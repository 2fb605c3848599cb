//! Every mesh of the shared data loads with the counts of its manifest, and the files that broke
//! other readers end in an answer or a message.

use std::path::Path;

use crate::common::{field, manifest};
use impinge::io;

fn check_counts(folder: &Path, manifest_file: &Path) -> usize {
    let rows = manifest(manifest_file);
    let mut wrong = vec![];
    for row in &rows {
        let file = field(row, "file");
        match io::load_mesh(folder.join(file)) {
            Ok(mesh) => {
                let counts = [mesh.vertices().len().to_string(), mesh.triangles().len().to_string()];
                let told = [field(row, "vertices"), field(row, "triangles")];
                // A row without counts only asks that the file loads.
                if told != ["", ""] && counts != told {
                    wrong.push(format!("{file}: {counts:?}, manifest {told:?}"));
                }
            }
            Err(error) => wrong.push(format!("{error}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    rows.len()
}

#[test]
fn the_meshes_have_the_counts_of_their_manifest() {
    let Some(folder) = crate::common::shared("data/meshes") else { return };
    assert!(check_counts(&folder, &folder.join("MANIFEST.csv")) > 80);
}

#[test]
fn the_broken_geometry_has_the_counts_of_its_manifest() {
    let Some(folder) = crate::common::shared("data/bad") else { return };
    assert!(check_counts(&folder.join("geometry"), &folder.join("MANIFEST_geometry.csv")) > 100);
}

/// What each file that broke another reader ends in: its counts, or a part of the message.
const MALFORMED: [(&str, Result<[usize; 2], &str>); 49] = [
    // A strip of 268,688 corners in one piece.
    ("aj_igea_tristrips.ply", Ok([134_345, 268_686])),
    ("assimp_OBJ_box_longline.obj", Ok([8, 944])),
    ("assimp_OBJ_concave_polygon.obj", Ok([64, 64])),
    ("assimp_OBJ_number_formats.obj", Err("OBJ, line 11: z should be a number, not `3.1+e2`")),
    ("assimp_OBJ_point_cloud.obj", Err("no triangles")),
    ("assimp_OBJ_testline.obj", Err("no triangles")),
    ("assimp_OBJ_testpoints.obj", Err("no triangles")),
    ("assimp_PLY_cube_binary_header_with_RN_newline.ply", Ok([8, 12])),
    ("assimp_PLY_float-color.ply", Ok([3, 1])),
    ("assimp_PLY_payload_JVN42386607", Err("PLY, line 3: element `vertex` needs x, y and z")),
    ("assimp_STL_3DSMaxExport.STL", Ok([1042, 2000])),
    ("assimp_STL_Spider_binary.stl", Ok([722, 1368])),
    ("assimp_STL_triangle_with_empty_solid.stl", Ok([3, 1])),
    ("assimp_glTF2_BoxBadNormals-glTF-Binary_BoxBadNormals.glb", Ok([24, 12])),
    ("assimp_glTF2_IncorrectVertexArrays_Cube.gltf", Err("glTF, buffer 0: `Cube.bin`")),
    ("assimp_glTF2_wrongTypes_badNumber.gltf", Err("glTF, buffer 0: `BoxTextured0.bin`")),
    ("assimp_glTF2_wrongTypes_badString.gltf", Err("glTF, buffer 0: `BoxTextured0.bin`")),
    ("assimp_invalid_OutOfMemory.off", Err("OFF, line 2: 353535235358 vertices and 6 faces are promised")),
    ("assimp_invalid_empty.obj", Err("the file is empty")),
    ("assimp_invalid_empty.ply", Err("the file is empty")),
    ("assimp_invalid_malformed2.obj", Err("OBJ, line 23: a face needs 3 corners, this one has 0")),
    ("pymesh_empty.mesh", Err("no triangles")),
    ("pymesh_empty.obj", Err("the file is empty")),
    ("pymesh_empty.ply", Err("no triangles")),
    ("tinyobj_cube-vertex-w-component.obj", Ok([8, 12])),
    ("tinyobj_invalid-face-definition.obj", Err("OBJ, line 15: a face needs 3 corners, this one has 1")),
    (
        "tinyobj_invalid-relative-vertex-index.obj",
        Err("OBJ, line 1: the face names vertex -4, but there are 0 vertices"),
    ),
    ("tinyobj_issue-140-zero-face-idx.obj", Err("OBJ, line 16: vertex index 0")),
    ("tinyobj_issue-295-trianguation-failure.obj", Ok([16, 28])),
    ("tinyobj_issue-319-003.obj", Ok([10, 8])),
    ("tinyobj_issue-92.obj", Ok([3, 1])),
    ("tinyobj_leading-zero-in-exponent-notation-issue-210.obj", Ok([3, 1])),
    ("tinyobj_points-prim.obj", Err("no triangles")),
    ("tinyobj_test-nan.obj", Err("OBJ, line 12: a coordinate is NaN")),
    ("trimesh_cube_compressed.obj", Ok([8, 12])),
    ("trimesh_empty.ply", Err("no triangles")),
    ("trimesh_empty_nodes.glb", Err("no triangles")),
    ("trimesh_face_in_group_name_mid_file.obj", Ok([5, 2])),
    ("trimesh_metadata.ply", Ok([4, 2])),
    ("trimesh_negative_indices.obj", Ok([8, 12])),
    ("trimesh_notenoughindices.obj", Err("OBJ, line 9: a face needs 3 corners, this one has 2")),
    ("trimesh_obj_points.obj", Err("no triangles")),
    ("trimesh_obj_with_no_face_in_chunk.obj", Ok([3, 1])),
    ("trimesh_ply_empty_bin.ply", Err("no triangles")),
    ("trimesh_ply_points_ascii.ply", Err("no triangles")),
    ("trimesh_points_ascii_with_lists.ply", Err("no triangles")),
    ("trimesh_points_emptyface.ply", Err("no triangles")),
    ("trimesh_stl_empty_ascii.stl", Err("no triangles")),
    ("trimesh_two_objects_mixed_case_names.stl", Ok([16, 24])),
];

#[test]
fn malformed_files_end_in_counts_or_in_a_message_with_their_path() {
    let Some(folder) = crate::common::shared("data/bad/malformed") else { return };
    for (file, expected) in MALFORMED {
        let found = io::load_mesh(folder.join(file));
        match (found, expected) {
            (Ok(mesh), Ok(counts)) => {
                assert_eq!([mesh.vertices().len(), mesh.triangles().len()], counts, "{file}");
            }
            (Err(error), Err(part)) => {
                let message = error.to_string();
                assert!(message.contains(part) && message.contains(file), "{message}\nshould say {part}");
            }
            (found, expected) => panic!("{file}: {:?} instead of {expected:?}", found.map(|_| "a mesh")),
        }
    }
    let files = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(files, MALFORMED.len(), "every file of the folder has its line here");
}
