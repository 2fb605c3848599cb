//! Parts that are put together again: cuts that were needed for other parts may have gone through them.
//!
//! Only parts of one solid are: solids may overlap, and then the volumes of two say nothing about that of both.

use glam::DVec3;

use super::piece::Piece;
use super::{Shaped, Spending, Work, bounds};
use crate::num::compact_sort::sort_rarely;
use crate::shape::Outline;

impl Work<'_> {
    /// Puts pieces together whose common hull is good enough.
    pub(super) fn join_all(&self, pieces: &mut Vec<Shaped>, spending: &mut Spending<'_>) -> Option<()> {
        let mut left: Vec<(usize, Shaped)> = std::mem::take(pieces).into_iter().enumerate().collect();
        // Stable: those of one solid stay in their order.
        sort_rarely(&mut left, |(_, x), (_, y)| x.solid.cmp(&y.solid));
        let mut joined = Vec::with_capacity(left.len());
        while let Some(solid) = left.last().map(|(_, piece)| piece.solid) {
            let mut of_solid = left.split_off(left.partition_point(|(_, piece)| piece.solid < solid));
            self.join_solid(&mut of_solid, spending)?;
            joined.append(&mut of_solid);
        }
        sort_rarely(&mut joined, |x, y| x.0.cmp(&y.0));
        pieces.extend(joined.into_iter().map(|(_, piece)| piece));
        Some(())
    }

    /// The same for the pieces of one solid: always the first pair that was not tried yet. One that has grown takes
    /// the place of the first of both.
    fn join_solid(&self, pieces: &mut Vec<(usize, Shaped)>, spending: &mut Spending<'_>) -> Option<()> {
        // All pairs with those before it were tried.
        let mut next = 0;
        let mut grown = None;
        while next < pieces.len() {
            let row = grown.unwrap_or(next);
            // What has grown may now fit to one that passed what it was made of.
            let before = grown.map_or(0..0, |row| 0..row).map(|k| [k, row]);
            let pairs = before.chain((row + 1..pieces.len()).map(|k| [row, k]));
            let mut fitting = None;
            for [a, b] in pairs {
                spending.pay([a, b].map(|k| pieces[k].1.corners.len()).iter().sum())?;
                if let Some(both) = self.joined(&pieces[a].1, &pieces[b].1, spending)? {
                    fitting = Some(([a, b], both));
                    break;
                }
            }
            grown = None;
            if let Some(([a, b], both)) = fitting {
                pieces[a].1 = both;
                pieces.remove(b);
                next -= usize::from(b < next);
                grown = Some(a);
            } else if row == next {
                next += 1;
            }
        }
        Some(())
    }

    /// Whether the boxes around two parts do not meet.
    fn are_apart(&self, a: &[DVec3], b: &[DVec3]) -> bool {
        let [a, b] = [a, b].map(|corners| bounds(corners.iter().copied()));
        (a[0] - b[1]).max(b[0] - a[1]).max_element() > self.slack
    }

    /// Two pieces of one solid as one, if that is good enough; `None` outside when the budget ended first.
    pub(super) fn joined(
        &self,
        a: &Shaped,
        b: &Shaped,
        spending: &mut Spending<'_>,
    ) -> Option<Option<Shaped>> {
        // A common hull fills a gap.
        if self.strict && self.are_apart(&a.corners, &b.corners) {
            return Some(None);
        }
        let hull = Outline::of(&[&a.corners[..], &b.corners[..]].concat());
        let volumes = [a.volumes[0] + b.volumes[0], hull.volume()];
        let excess = volumes[1] - volumes[0];
        if excess > self.enough + a.excess().max(0.0) + b.excess().max(0.0) {
            return Some(None);
        }
        let triangles = [a.piece.triangles(), b.piece.triangles()].concat();
        let hollow = self.is_hollow(&triangles, &hull, |units| spending.pay(units))?;
        if self.strict && hollow {
            return Some(None);
        }
        let (piece, corners) = (Piece::finished(triangles), hull.corners().into());
        Some(Some(Shaped { solid: a.solid, piece, corners, volumes, hollow, settled: true }))
    }
}
