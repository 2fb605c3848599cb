//! Every rule of the readers and writers on small inputs, good and broken.

mod damage;
mod format;
mod gltf;
mod medit;
mod obj;
mod off;
mod ply;
mod save;
mod stl;

use super::{Format, read_as};
use crate::Mesh;

/// The corners of the unit cube.
pub(super) fn cube_corners() -> Vec<[f64; 3]> {
    (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from)).collect()
}

/// The sides of the unit cube.
pub(super) const CUBE_SIDES: [[u32; 4]; 6] =
    [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];

/// The unit cube, each side fanned from its first corner.
pub(super) fn cube() -> Mesh {
    let triangles = CUBE_SIDES.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Mesh::new(cube_corners(), triangles).unwrap()
}

/// Reads what must be good.
pub(super) fn good(bytes: impl AsRef<[u8]>, format: Format) -> Mesh {
    read_as(bytes.as_ref(), format).unwrap_or_else(|error| panic!("{error}"))
}

/// The message about what must be refused.
pub(super) fn refused(bytes: impl AsRef<[u8]>, format: Format) -> String {
    match read_as(bytes.as_ref(), format) {
        Ok(mesh) => panic!("{} triangles were read", mesh.triangles().len()),
        Err(error) => error.to_string(),
    }
}

/// Good texts with the triangles they hold.
pub(super) fn check_good(format: Format, cases: &[(&str, &[[u32; 3]])]) {
    for (text, triangles) in cases {
        let mesh = good(text, format);
        assert_eq!(mesh.triangles(), *triangles, "{text:?}");
    }
}

/// Broken texts with a part of the message each one gets.
pub(super) fn check_refused(format: Format, cases: &[(&str, &str)]) {
    for (text, part) in cases {
        let message = refused(text, format);
        assert!(message.contains(part), "{message:?} should say {part:?}");
    }
}
