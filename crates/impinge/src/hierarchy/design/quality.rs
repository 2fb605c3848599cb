//! How good a tree is: the surface-area heuristic over the balls of its nodes, so that one figure serves
//! every kind of volume. Goldsmith and Salmon (1987) for the heuristic.

use super::storage::Tree;

impl Tree {
    /// The expected tests of a random query that reaches the root: each node counts its children, each
    /// leaf its triangles, in proportion to the surface of the node's ball to the root's.
    pub fn cost(&self) -> f64 {
        let root = self.nodes[0].radius;
        if !(root > 0.0) {
            return 1.0;
        }
        let work = self.nodes.iter().map(|node| {
            let tests = if node.degree == 0 { f64::from(node.count) } else { f64::from(node.degree) };
            let share = node.radius / root;
            tests * share * share
        });
        work.sum()
    }

    /// The cost now, relative to that after the build.
    pub fn decay(&self) -> f64 {
        self.cost() / self.built_cost
    }
}
