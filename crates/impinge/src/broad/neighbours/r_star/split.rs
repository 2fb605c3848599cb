//! The split of the R*-tree: the key with the smallest sum of margins, then the cut with the least overlap.

use super::Bound;

/// Deals the entries of a node to two, each with `least` at least.
pub(super) fn split<B: Bound>(
    mut entries: Vec<u32>,
    least: usize,
    bound: impl Fn(u32) -> B,
) -> (Vec<u32>, Vec<u32>) {
    let sort = |entries: &mut Vec<u32>, k: usize| {
        entries.sort_by(|&a, &b| bound(a).key(k).total_cmp(&bound(b).key(k)).then(a.cmp(&b)));
    };
    let mut best_key = (f64::INFINITY, 0);
    for k in 0..B::KEYS {
        sort(&mut entries, k);
        let margin: f64 = cuts(&entries, least, &bound).map(|(_, [s, t])| s.margin() + t.margin()).sum();
        if margin < best_key.0 {
            best_key = (margin, k);
        }
    }
    sort(&mut entries, best_key.1);
    let cost = |[s, t]: [B; 2]| [s.overlap(&t), s.volume() + t.volume()];
    let mut best_cut = ([f64::INFINITY; 2], least);
    for (cut, sides) in cuts(&entries, least, &bound) {
        let this = cost(sides);
        if this < best_cut.0 {
            best_cut = (this, cut);
        }
    }
    let others = entries.split_off(best_cut.1);
    (entries, others)
}

/// All cuts of a sorted list that leave enough on both sides, with the boxes of the sides.
fn cuts<B: Bound>(
    entries: &[u32],
    least: usize,
    bound: &impl Fn(u32) -> B,
) -> impl Iterator<Item = (usize, [B; 2])> {
    let grown = |all: &mut B, entry: &u32| {
        *all = all.merge(&bound(*entry));
        Some(*all)
    };
    let before: Vec<B> = entries.iter().scan(B::EMPTY, grown).collect();
    let after: Vec<B> = entries.iter().rev().scan(B::EMPTY, grown).collect();
    let count = entries.len();
    (least..=count - least).map(move |cut| (cut, [before[cut - 1], after[count - cut - 1]]))
}
