//! A box as eight numbers: two boxes are compared with a sum and a comparison.

/// Low x, y, z, a mark, then minus high x, y, z and the mark again, in units of the grid.
///
/// Two boxes overlap when all sums of a number of one and the opposite number of the other are negative.
/// The mark makes one of them positive where both bodies are fixed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub(super) struct PackedAabb(pub [f32; 8]);

/// What f32 can say of two boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// They overlap.
    Meet,
    /// They do not, or both bodies are fixed.
    Apart,
    /// Two ends are equal in f32: the doubles know.
    Doubt,
}

impl PackedAabb {
    /// A body that is not there; coordinates are far below these.
    pub const NOTHING: PackedAabb = PackedAabb([1e38, 1e38, 1e38, MOVING, 1e38, 1e38, 1e38, MOVING]);

    /// The mark of a body.
    #[inline(always)]
    pub fn mark(fixed: bool) -> f32 {
        if fixed { FIXED } else { MOVING }
    }

    /// Whether the body is not there, or its box is empty.
    #[inline(always)]
    pub fn is_nothing(&self) -> bool {
        self.0[0] + self.0[4] > 0.0
    }

    /// Whether two bodies are surely a pair, and whether they surely are not.
    #[inline(always)]
    pub fn signs(&self, other: &PackedAabb) -> (bool, bool) {
        let (mut meet, mut apart) = (true, false);
        for k in 0..8 {
            let sum = self.0[k] + other.0[k ^ 4];
            meet &= sum < 0.0;
            apart |= sum > 0.0;
        }
        (meet, apart)
    }

    /// Whether two bodies are a pair.
    #[inline(always)]
    pub fn meet(&self, other: &PackedAabb) -> Verdict {
        match self.signs(other) {
            (true, _) => Verdict::Meet,
            (_, true) => Verdict::Apart,
            _ => Verdict::Doubt,
        }
    }

    /// Whether a box is inside another, whose body is as mobile; what is not there is inside of everything.
    #[inline(always)]
    pub fn is_inside(&self, other: &PackedAabb) -> bool {
        let mut inside = true;
        for k in 0..8 {
            inside &= self.0[k] >= other.0[k];
        }
        inside
    }

    /// The box with room for the next steps, if it goes on as it came from `before`.
    #[inline(always)]
    pub fn with_room(&self, before: &PackedAabb) -> PackedAabb {
        // A body that was not there has no motion.
        let steps = if before.is_nothing() { 0.0 } else { HORIZON };
        let mut room = *self;
        for k in 0..8 {
            // Outward is towards smaller numbers.
            let way = (self.0[k] - before.0[k]) * steps;
            let way = if way > -MOST_ROOM { way } else { -MOST_ROOM };
            room.0[k] += if way < -LEAST_ROOM { way } else { -LEAST_ROOM };
        }
        (room.0[3], room.0[7]) = (self.0[3], self.0[7]);
        room
    }
}

/// The mark of a moving body: negative with any other.
const MOVING: f32 = -2.0;

/// The mark of a fixed body: positive with another fixed one.
const FIXED: f32 = 1.0;

/// Steps that a box has room for; the pairs between boxes with room are searched about as seldom.
const HORIZON: f32 = 18.0;

/// Room on each side, at most and at least (units of the grid): more makes too many pairs of boxes with
/// room, less is used up by bodies that tremble.
const MOST_ROOM: f32 = 0.2;
const LEAST_ROOM: f32 = 0.01;
