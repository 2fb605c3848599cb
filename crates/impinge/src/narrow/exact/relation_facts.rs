//! What is known so far about two placed solids, and what follows from it.
//!
//! Write w for winding numbers and X for either body, Y for the other. Space falls into cells between
//! the surfaces; the interiors share a point when some cell has w_a ≠ 0 and w_b ≠ 0, and X reaches out of
//! Y when a point of its surface is off Y's surface with w_y = 0, or a cell has w_x ≠ 0 and w_y = 0.
//! Every field is a fact once it is true; a search may stop as soon as the facts settle the answer.

use crate::Relation;

/// Facts about two bodies, indexed by 0 for a and 1 for b.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RelationFacts {
    /// Whether each surface bounds a solid.
    pub closed: [bool; 2],
    /// This surface has no area, so there is no solid to lie in, closed or not.
    pub flat: [bool; 2],
    /// The surfaces share a point.
    pub contact: bool,
    /// A cell lies in both solids.
    pub common: bool,
    /// A cell lies in this solid and not in the other.
    pub alone: [bool; 2],
    /// A point of this surface lies outside the other closed solid.
    pub out: [bool; 2],
    /// A point of this surface lies in the interior of the other solid.
    pub within: [bool; 2],
    /// A point of this surface is off the other surface.
    pub off: [bool; 2],
}

impl RelationFacts {
    /// Whether this body surely does not lie in the other closed solid.
    pub fn not_inside(&self, body: usize) -> bool {
        !self.closed[1 - body] || self.flat[1 - body] || self.out[body] || self.alone[body]
    }

    /// Whether no further fact can change the answer: it is `Intersecting`.
    pub fn is_settled(&self) -> bool {
        let meets = if self.closed == [true; 2] { self.common } else { self.contact || self.is_parted() };
        self.not_inside(0) && self.not_inside(1) && meets
    }

    /// Notes the windings (w_a, w_b) of a cell.
    pub fn note_cell(&mut self, windings: [i32; 2]) {
        let [a, b] = windings.map(|w| w != 0);
        self.common |= a && b;
        self.alone[0] |= a && !b;
        self.alone[1] |= b && !a;
    }

    /// The answer, once everything was looked at.
    pub fn relation(&self) -> Relation {
        match (!self.not_inside(0), !self.not_inside(1)) {
            _ if self.is_same_surface() => Relation::Intersecting,
            (true, true) => Relation::Intersecting,
            (true, false) => Relation::AInsideB,
            (false, true) => Relation::BInsideA,
            _ if self.closed == [true; 2] && self.common => Relation::Intersecting,
            // Within without a common cell: a fold without volume, or a surface that cancels itself.
            _ if self.closed == [true; 2] && (self.contact || self.within != [false; 2]) => {
                Relation::Touching
            }
            _ if self.contact || self.is_parted() => Relation::Intersecting,
            _ => Relation::Separated,
        }
    }

    /// Whether no point of either surface is off the other, once everything was looked at.
    pub fn is_same_surface(&self) -> bool {
        self.contact && !self.off[0] && !self.off[1]
    }

    /// Whether a surface has parts inside and parts outside the other solid.
    fn is_parted(&self) -> bool {
        (0..2).any(|x| self.out[x] && self.within[x])
    }
}
