//! What was tested already: pairs of labels and pairs of primitives.
//!
//! Redon, Kheddar and Coquillart, "CONTACT", 2001, 4.4: a large face is covered by many leaves, and without
//! memory two such faces would be tested for every pair of their leaves.

use std::collections::HashSet;

/// Which tables are kept. What is skipped was tested up to a later time, so answers do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tables {
    /// The labels of leaves.
    pub labels: bool,
    /// Edges with edges, vertices with faces, faces with vertices.
    pub primitives: bool,
}

impl Tables {
    #[cfg(any(test, feature = "unstable"))]
    /// None of the four.
    pub const NONE: Tables = Tables { labels: false, primitives: false };
    /// All four.
    pub const ALL: Tables = Tables { labels: true, primitives: true };
}

impl Default for Tables {
    fn default() -> Tables {
        Tables::ALL
    }
}

/// How often what was tested: the rows of table 1 of Redon, Kheddar and Coquillart (2001).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tests {
    /// Two spheres.
    pub spheres: u64,
    /// Two edges.
    pub edges: u64,
    /// A vertex of a and a face of b.
    pub vertex_faces: u64,
    /// A face of a and a vertex of b.
    pub face_vertices: u64,
}

impl Tests {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.spheres + self.edges + self.vertex_faces + self.face_vertices
    }
}

impl std::ops::Sub for Tests {
    type Output = Tests;

    /// What was tested since.
    fn sub(self, before: Tests) -> Tests {
        Tests {
            spheres: self.spheres - before.spheres,
            edges: self.edges - before.edges,
            vertex_faces: self.vertex_faces - before.vertex_faces,
            face_vertices: self.face_vertices - before.face_vertices,
        }
    }
}

impl std::ops::AddAssign for Tests {
    fn add_assign(&mut self, more: Tests) {
        self.spheres += more.spheres;
        self.edges += more.edges;
        self.vertex_faces += more.vertex_faces;
        self.face_vertices += more.face_vertices;
    }
}

/// The four tables.
#[derive(Debug, Clone, Default)]
pub(super) struct Tested {
    labels: HashSet<[u32; 2]>,
    kinds: [HashSet<[u32; 2]>; 3],
}

impl Tested {
    /// Whether leaves of these labels were tested.
    pub(super) fn has(&self, labels: [u32; 2]) -> bool {
        self.labels.contains(&labels)
    }

    /// Takes down that they were.
    pub(super) fn mark(&mut self, labels: [u32; 2]) {
        self.labels.insert(labels);
    }

    /// Takes down a pair of primitives of a kind; false when it stood there.
    pub(super) fn is_new(&mut self, kind: usize, pair: [u32; 2]) -> bool {
        self.kinds[kind].insert(pair)
    }
}
