//! How long the convex hulls of two moving meshes stay apart: a floor under the times of all pairs of a search.
//!
//! A search that takes long mostly does because two surfaces pass each other closely, and then thousands of pairs of
//! triangles ask the same question. The hulls of bodies that turn or slide above each other are separated by one
//! direction for all of them ([`super::convex_pair`]). Hulls cost more than a quick search, so they are looked at
//! only after some work, and after twice as much again when they do not help.

use super::convex_pair::{Piece, look};
use crate::model::Model;
use crate::motion::Motion;
use crate::shape::Convex;

/// Work before the hulls are looked at, at least: pairs of nodes and of triangles. Hulls that have to be built first
/// cost some such units for each vertex.
const FIRST_LOOK: u64 = 1 << 13;

/// Steps that hulls make in one look.
const STEPS: u32 = 64;

/// What a look must win to count as a help (in units of the step).
const GAIN: f64 = 1.0 / 1024.0;

/// The hulls of two meshes, and when to look at them.
#[derive(Debug, Clone)]
pub(super) struct HullBound {
    look_at: u64,
    wait: u64,
}

impl HullBound {
    /// Never looked at.
    pub const NONE: HullBound = HullBound { look_at: u64::MAX, wait: 0 };

    /// Those of two meshes, to be looked at after so much work as building them costs.
    pub fn new(models: [&Model; 2]) -> HullBound {
        let vertices: usize = models.iter().map(|model| model.mesh().vertices().len()).sum();
        let wait = FIRST_LOOK.max(vertices as u64);
        HullBound { look_at: wait, wait }
    }

    /// Whether it is time to look at the hulls after so much work.
    #[inline]
    pub fn is_due(&self, work: u64) -> bool {
        work >= self.look_at
    }

    /// The time before which the hulls cannot meet, if after so much work it is time to look at them.
    pub fn apart_until(
        &mut self,
        work: u64,
        models: [&Model; 2],
        motions: [&Motion; 2],
        time: f64,
        span: [f64; 2],
    ) -> Option<f64> {
        if !self.is_due(work) {
            return None;
        }
        let [Some(a), Some(b)] = models.map(Model::hull) else {
            self.look_at = u64::MAX;
            return None;
        };
        let pieces = [a, b].map(|hull| Piece { convex: Convex::Polytope(hull.clone()), local: None });
        let mut reached = time;
        for _ in 0..STEPS {
            let gap = look([&pieces[0], &pieces[1]], motions, reached, span);
            reached += gap.time;
            if !(gap.time > GAIN && reached <= span[1]) {
                break;
            }
        }
        if reached - time <= GAIN {
            self.wait *= 2;
        }
        self.look_at = work + self.wait;
        Some(reached)
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::Pose;
    use crate::narrow::continuous::mesh_sweep::sweep;
    use crate::num::tolerance::SWEEP_TOLERANCE;
    use crate::shape::procedural;

    /// What hulls promise is never later than the contact, and often near it: the bodies are round.
    #[test]
    fn the_floor_lies_below_the_first_contact() {
        let mut rng = Pcg64::seed_from_u64(5);
        let bodies = [procedural::blob(0.5, 0.2, 2, 3), procedural::torus(0.5, 0.2, 12, 6)]
            .map(|m| Model::from(m.unwrap()));
        let (mut hits, mut near, mut free) = (0, 0, 0);
        for _ in 0..150 {
            let mut vector = |size: f64| DVec3::from([(); 3].map(|()| rng.random_range(-size..size)));
            let motions = [0, 1].map(|k| {
                let side = DVec3::X * if k == 0 { -1.5 } else { 1.5 };
                let start = Pose::shift(side + vector(0.5));
                Motion::velocity(&start, vector(1.0) - side, vector(5.0)).unwrap()
            });
            let (models, motions) = ([&bodies[0], &bodies[1]], [&motions[0], &motions[1]]);
            let reached = HullBound::new(models)
                .apart_until(FIRST_LOOK, models, motions, 0.0, [0.0, 1.0])
                .unwrap_or_default();
            match sweep(models, motions).impact {
                Some(impact) => {
                    assert!(reached <= impact.time + SWEEP_TOLERANCE, "{reached} {impact:?}");
                    hits += 1;
                    near += usize::from(reached > 0.8 * impact.time);
                }
                None => free += usize::from(reached > 1.0),
            }
        }
        assert!((30..120).contains(&hits) && near * 2 > hits && free > 5, "{hits} {near} {free}");
        let still = Motion::Still(Pose::IDENTITY);
        let models = [&bodies[0], &bodies[1]];
        let mut early = HullBound::new(models);
        assert_eq!(early.apart_until(FIRST_LOOK - 1, models, [&still, &still], 0.0, [0.0, 1.0]), None);
    }
}
