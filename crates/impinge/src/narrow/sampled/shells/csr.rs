//! Lists of indices, one for each item, in two flat arrays (compressed sparse rows).

/// Lists of indices, one for each item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Csr {
    /// Where each list begins in `items`; one more entry than lists.
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Default for Csr {
    fn default() -> Csr {
        Csr { starts: vec![0], items: Vec::new() }
    }
}

impl Csr {
    /// The items of each of `count` owners, ascending: `owner[item]` owns it. An owner out of range owns
    /// nothing.
    pub fn by_owner(owner: &[u32], count: usize) -> Csr {
        let mut starts = vec![0_u32; count + 1];
        for &o in owner.iter().filter(|&&o| (o as usize) < count) {
            starts[o as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut items = vec![0; starts[count] as usize];
        for (item, &o) in owner.iter().enumerate().filter(|(_, o)| (**o as usize) < count) {
            items[next[o as usize] as usize] = item as u32;
            next[o as usize] += 1;
        }
        Csr { starts, items }
    }

    /// Joins lists that were found one by one.
    pub fn from_lists(lists: &[Vec<u32>]) -> Csr {
        let mut csr = Csr::default();
        csr.items.reserve(lists.iter().map(Vec::len).sum());
        for list in lists {
            csr.items.extend_from_slice(list);
            csr.starts.push(csr.items.len() as u32);
        }
        csr
    }

    /// The same lists of other indices.
    pub fn map(mut self, each: impl Fn(u32) -> u32) -> Csr {
        self.items.iter_mut().for_each(|item| *item = each(*item));
        self
    }

    /// The list of one item; empty for an item that has none.
    #[inline]
    pub fn of(&self, item: u32) -> &[u32] {
        let at = item as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(&start), Some(&end)) => &self.items[start as usize..end as usize],
            _ => &[],
        }
    }
}
