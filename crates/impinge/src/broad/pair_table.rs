//! Who meets whom: for each body a sorted list of its partners.

use smallvec::SmallVec;

/// Pairs by body; both know of each other.
#[derive(Debug, Clone, Default)]
pub(super) struct PairTable {
    lists: Vec<SmallVec<[u32; 6]>>,
}

impl PairTable {
    /// The partners of a body, ascending.
    pub fn of(&self, id: u32) -> &[u32] {
        self.lists.get(id as usize).map_or(&[], |list| list)
    }

    /// Whether two bodies are a pair.
    pub fn contains(&self, [a, b]: [u32; 2]) -> bool {
        self.of(a).binary_search(&b).is_ok()
    }

    /// Adds a pair; false if it was there.
    pub fn insert(&mut self, [a, b]: [u32; 2]) -> bool {
        let needed = a.max(b) as usize + 1;
        if self.lists.len() < needed {
            self.lists.resize(needed, SmallVec::new());
        }
        for (one, other) in [(a, b), (b, a)] {
            let list = &mut self.lists[one as usize];
            let Err(at) = list.binary_search(&other) else { return false };
            list.insert(at, other);
        }
        true
    }

    /// Takes a pair out; false if it was not there.
    pub fn remove(&mut self, [a, b]: [u32; 2]) -> bool {
        for (one, other) in [(a, b), (b, a)] {
            let Some(list) = self.lists.get_mut(one as usize) else { return false };
            let Ok(at) = list.binary_search(&other) else { return false };
            list.remove(at);
        }
        true
    }

    /// Replaces `pairs` by all pairs, ascending, the smaller id first.
    pub fn list(&self, pairs: &mut Vec<[u32; 2]>) {
        pairs.clear();
        for (a, list) in (0..).zip(&self.lists) {
            let larger = list.partition_point(|&b| b <= a);
            pairs.extend(list[larger..].iter().map(|&b| [a, b]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_known_to_both_and_listed_once() {
        let mut partners = PairTable::default();
        assert!(partners.insert([3, 1]) && partners.insert([1, 2]) && !partners.insert([1, 3]));
        assert_eq!((partners.of(1), partners.of(3), partners.of(9)), (&[2, 3][..], &[1][..], &[][..]));
        assert!(partners.contains([2, 1]) && !partners.contains([2, 3]));
        let mut pairs = vec![[7, 8]];
        partners.list(&mut pairs);
        assert_eq!(pairs, [[1, 2], [1, 3]]);
        assert!(partners.remove([3, 1]) && !partners.remove([1, 3]) && !partners.remove([8, 9]));
        partners.list(&mut pairs);
        assert_eq!(pairs, [[1, 2]]);
    }
}
