//! The vertices around each vertex of a mesh, found once for a mesh.

use std::sync::Arc;

use crate::Budget;
use crate::model::Model;

/// The welded vertices that share an edge with each welded vertex.
#[derive(Debug)]
pub struct Neighbours {
    /// Where those of each vertex begin; one entry more than vertices.
    start: Vec<u32>,
    all: Vec<u32>,
}

impl Neighbours {
    /// Those of a mesh; `None` when the budget ends first.
    pub fn of(model: &Model, budget: &mut Budget) -> Option<Arc<Neighbours>> {
        model.attached(model.mesh().triangles().len() as u64, budget, Neighbours::new)
    }

    fn new(model: &Model) -> Neighbours {
        let topology = model.topology();
        let mut start = vec![0; topology.weld().count() + 1];
        for &end in topology.edges().iter().flatten() {
            start[end as usize + 1] += 1;
        }
        for v in 1..start.len() {
            start[v] += start[v - 1];
        }
        let mut next = start.clone();
        let mut all = vec![0; 2 * topology.edges().len()];
        for &[a, b] in topology.edges() {
            for (of, other) in [(a, b), (b, a)] {
                all[next[of as usize] as usize] = other;
                next[of as usize] += 1;
            }
        }
        Neighbours { start, all }
    }

    /// The vertices around one.
    pub fn around(&self, welded: u32) -> &[u32] {
        let v = welded as usize;
        &self.all[self.start[v] as usize..self.start[v + 1] as usize]
    }
}
