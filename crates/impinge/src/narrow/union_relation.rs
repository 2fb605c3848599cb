//! How a union of shapes lies to a body, from how each of them does.

use crate::Relation;

/// What is known of the shapes of a union, as a, against a body b. What only several shapes together hold counts as
/// intersecting.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UnionRelation {
    inside: usize,
    touching: bool,
    entering: usize,
    holding: bool,
}

impl UnionRelation {
    /// Takes how one of the shapes lies to the body.
    pub fn add(&mut self, relation: Relation) {
        match relation {
            Relation::AInsideB => self.inside += 1,
            Relation::BInsideA => self.holding = true,
            Relation::Intersecting => self.entering += 1,
            Relation::Touching => self.touching = true,
            Relation::Separated => {}
        }
    }

    /// Takes so many shapes that lie inside.
    pub fn add_inside(&mut self, count: usize) {
        self.inside += count;
    }

    /// Whether one of them holds the body, whatever the others do.
    pub fn holds(&self) -> bool {
        self.holding
    }

    /// Whether one of them has part of the body's interior, and not all of it.
    pub fn enters(&self) -> bool {
        self.entering > 0
    }

    /// Whether several of them have part of the body's interior, and so may hold it together.
    pub fn may_hold_together(&self) -> bool {
        self.entering > 0 && self.entering + self.inside > 1
    }

    /// Whether some are inside.
    pub fn has_inside(&self) -> bool {
        self.inside > 0
    }

    /// The relation of a union of so many shapes; those that were not added are separated.
    pub fn conclude(&self, shapes: usize) -> Relation {
        if self.holding {
            Relation::BInsideA
        } else if self.inside == shapes {
            Relation::AInsideB
        } else if self.entering > 0 || self.inside > 0 {
            Relation::Intersecting
        } else if self.touching {
            Relation::Touching
        } else {
            Relation::Separated
        }
    }
}
