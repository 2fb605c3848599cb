//! Method `sphere_tree`: distances and relations of meshes from bounding spheres alone, conservative.
//!
//! Quinlan, "Efficient distance computation between non-convex objects", 1994: a binary tree of spheres over the
//! triangles, searched best pair first. Here the search ends at the leaf spheres instead of the triangles: each
//! leaf is centred on a point of its triangle, so that the distance of two centres is one of the surfaces from
//! above, and less both radii one from below. No triangle is tested, and the answer states the width of its
//! bracket. Where we leave the paper: it goes on to the triangles below a chosen relative error.
//!
//! Surfaces whose spheres are apart are apart; which body is then inside which is decided exactly.

mod detector;
mod search;
mod tree;

#[cfg(test)]
mod tests;

pub use detector::SphereTrees;
