//! Which pairs of bodies are looked at: groups and masks, and rules for single pairs.
//!
//! Both bodies must agree: each must be in a group that the other meets. The rules for single pairs are the
//! allowed-collision matrix of robotics (neighbouring links that always touch) and a method of one's own.

use std::collections::HashMap;

use super::Contacts;
use crate::narrow::methods::Method;

/// What a body is and what it meets, one bit for each group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Groups {
    /// The groups it belongs to.
    pub member: u64,
    /// The groups it meets.
    pub meets: u64,
}

impl Groups {
    /// In every group, meets every group.
    pub const ALL: Groups = Groups { member: u64::MAX, meets: u64::MAX };
    /// Meets nothing.
    pub const NONE: Groups = Groups { member: 0, meets: 0 };

    /// Whether two bodies may meet: each must meet a group that the other is in.
    pub const fn allow(self, other: Groups) -> bool {
        self.member & other.meets != 0 && other.member & self.meets != 0
    }
}

impl Default for Groups {
    fn default() -> Groups {
        Groups::ALL
    }
}

/// What is special about one pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Rule {
    /// Never looked at.
    pub ignored: bool,
    /// The method that decides it.
    pub method: Method,
    /// What is told about it, where that is not what the options say.
    pub contacts: Option<Contacts>,
}

/// Rules for pairs of slots.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    /// Looked up only, never gone through, so its order cannot be seen.
    pairs: HashMap<[u32; 2], Rule>,
}

impl Rules {
    pub fn of(&self, pair: [u32; 2]) -> Rule {
        self.pairs.get(&ordered(pair)).copied().unwrap_or_default()
    }

    pub fn change(&mut self, pair: [u32; 2], change: impl FnOnce(&mut Rule)) {
        let rule = self.pairs.entry(ordered(pair)).or_default();
        change(rule);
        if *rule == Rule::default() {
            self.pairs.remove(&ordered(pair));
        }
    }

    /// Drops everything that names a slot.
    pub fn forget(&mut self, slot: u32) {
        self.pairs.retain(|pair, _| !pair.contains(&slot));
    }
}

fn ordered([a, b]: [u32; 2]) -> [u32; 2] {
    if a < b { [a, b] } else { [b, a] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_must_agree() {
        let wheel = Groups { member: 0b01, meets: 0b10 };
        let road = Groups { member: 0b10, meets: 0b01 };
        let ghost = Groups { member: 0b10, meets: 0 };
        assert!(wheel.allow(road) && road.allow(wheel));
        assert!(!wheel.allow(wheel) && !wheel.allow(ghost) && !ghost.allow(wheel));
        assert!(Groups::ALL.allow(Groups::ALL) && !Groups::ALL.allow(Groups::NONE));
    }

    #[test]
    fn a_rule_holds_for_both_orders_until_it_is_lifted() {
        let mut rules = Rules::default();
        rules.change([7, 3], |rule| rule.ignored = true);
        assert!(rules.of([3, 7]).ignored && rules.of([7, 3]).ignored && !rules.of([3, 8]).ignored);
        rules.change([3, 7], |rule| rule.ignored = false);
        assert!(rules.pairs.is_empty());
        rules.change([3, 7], |rule| rule.ignored = true);
        rules.forget(7);
        assert!(!rules.of([3, 7]).ignored);
    }
}
