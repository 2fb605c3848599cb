//! Motions as they are written: a pose at the end of the step, whole turns, a law.

use impinge::{Law, Motion, Pose};

use crate::error::Failure;

/// How a body gets from one pose to another.
#[derive(Debug, Clone, Copy, Default)]
pub struct Way {
    /// Whole turns more than the shorter way takes.
    turns: u32,
    /// How the shift follows the turn.
    law: Law,
}

/// Most whole turns in a step: the search goes through them one by one.
const MOST_TURNS: u32 = 100_000;

impl Way {
    /// So many whole turns more, under the law of this name.
    pub fn new(turns: u32, law: &str) -> Result<Way, Failure> {
        if turns > MOST_TURNS {
            return Err(Failure(format!("turns: {turns} in one step; at most {MOST_TURNS} are answered")));
        }
        let law = match law {
            "uniform" => Law::Uniform,
            "contact" => Law::Contact,
            _ => return Err(Failure(format!("law: {law:?} is none; known are uniform and contact"))),
        };
        Ok(Way { turns, law })
    }

    /// The motion from a pose to another; without one the body stands still.
    pub fn motion(&self, from: &Pose, to: Option<&Pose>) -> Motion {
        to.map_or(Motion::Still(*from), |to| Motion::screw(from, to, self.turns, self.law))
    }
}
