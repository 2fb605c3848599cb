//! Disjoint sets by a forest with path halving; the root of a set is its smallest member.

/// Sets of the numbers 0..n.
#[derive(Debug, Clone)]
pub struct DisjointSets(Vec<u32>);

impl DisjointSets {
    /// Each number a set of its own.
    pub fn new(members: usize) -> DisjointSets {
        DisjointSets((0..members as u32).collect())
    }

    /// The smallest member of the set of a member.
    #[inline]
    pub fn root(&mut self, mut member: usize) -> usize {
        while self.0[member] as usize != member {
            self.0[member] = self.0[self.0[member] as usize];
            member = self.0[member] as usize;
        }
        member
    }

    /// Makes one set of the sets of two members.
    #[inline]
    pub fn join(&mut self, a: usize, b: usize) {
        let [a, b] = [self.root(a), self.root(b)];
        self.0[a.max(b)] = a.min(b) as u32;
    }
}
