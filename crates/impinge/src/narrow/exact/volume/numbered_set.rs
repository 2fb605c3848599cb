//! A set of small numbers whose members are counted in ascending order.

/// Some of the numbers 0..n, a bit for each.
#[derive(Debug, Clone, Default)]
pub struct NumberedSet {
    words: Vec<u64>,
    /// How many members are before each word, once they are counted.
    before: Vec<u32>,
}

impl NumberedSet {
    /// The empty set among the numbers 0..n.
    pub fn new(n: usize) -> NumberedSet {
        NumberedSet { words: vec![0; n.div_ceil(64)], before: Vec::new() }
    }

    #[inline]
    pub fn insert(&mut self, member: u32) {
        self.words[member as usize / 64] |= 1 << (member % 64);
    }

    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        self.words[number as usize / 64] >> (number % 64) & 1 != 0
    }

    /// Counts the members; how many there are.
    pub fn count(&mut self) -> usize {
        let mut count = 0;
        self.before = Vec::with_capacity(self.words.len());
        for word in &self.words {
            self.before.push(count);
            count += word.count_ones();
        }
        count as usize
    }

    /// How many members are smaller than a number, as they were counted.
    #[inline]
    pub fn rank(&self, number: u32) -> u32 {
        let (word, bit) = (number as usize / 64, number % 64);
        self.before[word] + (self.words[word] & ((1 << bit) - 1)).count_ones()
    }

    /// The members, ascending.
    pub fn members(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.words).flat_map(|(n, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < u64::BITS).then_some(64 * n + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::NumberedSet;

    #[test]
    fn members_are_counted_in_ascending_order() {
        let mut set = NumberedSet::new(200);
        let members = [0, 3, 63, 64, 127, 130, 199];
        members.iter().rev().chain(&members).for_each(|&member| set.insert(member));
        assert_eq!(set.count(), members.len());
        assert!(set.members().eq(members));
        assert!(members.iter().zip(0..).all(|(&member, number)| set.rank(member) == number));
        assert!((0..200).all(|number| set.contains(number) == members.contains(&number)));
        assert_eq!((NumberedSet::new(0).count(), NumberedSet::new(64).members().count()), (0, 0));
    }
}
