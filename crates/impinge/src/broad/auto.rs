//! The broad phase that fits the scene, chosen from what is seen of it, with the reason as text.
//!
//! The grid is taken when many bodies move, the tree where few do. The limit is where the two changed places with
//! 10 to 100,000 boxes, of which 1, 2, 5, 10 or 100 % moved, on one thread: boxes of one size scattered evenly,
//! in clusters, on a floor, of sizes from 1 to 40, and with one in twenty a hundred times as large. The share that
//! moves was all that mattered: where it was 10 % the tree took three to twenty times as long, where it was 1 %
//! the grid took up to twice as long (four times with sizes from 1 to 40). Sweep and prune is left to those who
//! know their scene: with few bodies moving it took from a quarter to twice the tree's time, but where many boxes
//! end at the same height each that moves may pass all others.

use crate::bound::Aabb;

use super::bodies::Bodies;
use super::{BroadPhase, Changes, Grid, Mobility, Tree};

/// From this share of moving bodies on the grid is taken. It was as fast as the tree at 2 % of 10,000 and
/// 100,000 bodies, at 4 % of 1,000 and at 6 % of 200.
const GRID_SHARE: f64 = 0.03;

/// Where this share moves in one step the tree is left at once: it would take several times as long.
const HASTE_SHARE: f64 = 0.1;

/// Steps between two looks at the scene, so that a change of method is paid for.
const LOOK_EVERY: u32 = 32;

/// The methods to choose from.
#[derive(Debug, Clone)]
enum Technique {
    Tree(Box<Tree>),
    Grid(Box<Grid>),
}

impl Technique {
    fn bodies(&self) -> &Bodies {
        match self {
            Technique::Tree(tree) => tree.bodies(),
            Technique::Grid(grid) => grid.bodies(),
        }
    }

    fn phase(&self) -> &dyn BroadPhase {
        match self {
            Technique::Tree(tree) => tree.as_ref(),
            Technique::Grid(grid) => grid.as_ref(),
        }
    }

    fn phase_mut(&mut self) -> &mut dyn BroadPhase {
        match self {
            Technique::Tree(tree) => tree.as_mut(),
            Technique::Grid(grid) => grid.as_mut(),
        }
    }
}

/// Chooses among the other broad phases and changes over when the scene does.
///
/// ```
/// use impinge::Aabb;
/// use impinge::broad::{Auto, BroadPhase, Changes, Mobility};
///
/// let cube = |x: f64| Aabb { low: [x, 0.0, 0.0].into(), high: [x + 1.0, 1.0, 1.0].into() };
/// let (mut broad, mut changes) = (Auto::default(), Changes::default());
/// (0..100).for_each(|k| broad.insert(k, cube(2.0 * f64::from(k)), Mobility::Moving));
/// broad.step(&mut changes);
/// assert_eq!(broad.reason(), "grid: 100 % of 100 bodies move");
/// ```
#[derive(Debug, Clone)]
pub struct Auto {
    method: Technique,
    reason: String,
    /// Steps since the last look.
    steps: u32,
    /// Bodies that changed in them.
    changed: usize,
}

impl Default for Auto {
    fn default() -> Auto {
        Auto { method: Technique::Grid(Box::default()), reason: NOTHING_YET.into(), steps: 0, changed: 0 }
    }
}

/// The reason before the first step.
const NOTHING_YET: &str = "grid: nothing is known of the scene yet";

impl Auto {
    /// Looks at the scene; another method where one fits better.
    fn look(&mut self) -> Option<Technique> {
        let count = self.method.bodies().len();
        let share = self.changed as f64 / (f64::from(self.steps.max(1)) * count.max(1) as f64);
        (self.steps, self.changed) = (0, 0);
        let many = share >= GRID_SHARE;
        let name = if many { "grid" } else { "tree" };
        self.reason = format!("{name}: {:.0} % of {count} bodies move", 100.0 * share.min(1.0));
        match (&self.method, many) {
            (Technique::Tree(_), true) => Some(Technique::Grid(Box::default())),
            (Technique::Grid(_), false) => Some(Technique::Tree(Box::default())),
            _ => None,
        }
    }

    /// A step by another method, which finds all pairs anew; what changed is told by those known before.
    fn change_over(&mut self, mut next: Technique, changes: &mut Changes) {
        self.method.bodies().copy_to(next.phase_mut());
        let (mut before, mut now) = (Vec::new(), Vec::new());
        self.method.phase().pairs(&mut before);
        next.phase_mut().step(changes);
        next.phase().pairs(&mut now);
        changes.began.clear();
        changes.began.extend(now.iter().filter(|pair| before.binary_search(pair).is_err()));
        changes.ended.clear();
        changes.ended.extend(before.iter().filter(|pair| now.binary_search(pair).is_err()));
        self.method = next;
    }
}

impl BroadPhase for Auto {
    fn insert(&mut self, id: u32, bounds: Aabb, mobility: Mobility) {
        self.method.phase_mut().insert(id, bounds, mobility);
    }

    fn remove(&mut self, id: u32) {
        self.method.phase_mut().remove(id);
    }

    #[inline]
    fn update(&mut self, id: u32, bounds: Aabb) {
        match &mut self.method {
            Technique::Tree(tree) => tree.update(id, bounds),
            Technique::Grid(grid) => grid.update(id, bounds),
        }
    }

    fn update_range(&mut self, first: u32, bounds: &[Aabb]) {
        self.method.phase_mut().update_range(first, bounds);
    }

    fn step(&mut self, changes: &mut Changes) {
        let bodies = self.method.bodies();
        let (count, changed) = (bodies.len(), bodies.changed().len());
        let haste = matches!(self.method, Technique::Tree(_)) && changed as f64 > HASTE_SHARE * count as f64;
        if haste {
            // What moved before says nothing any more.
            (self.steps, self.changed) = (0, 0);
        }
        (self.steps, self.changed) = (self.steps + 1, self.changed + changed);
        let due = haste || self.steps >= LOOK_EVERY || self.reason == NOTHING_YET;
        match if due { self.look() } else { None } {
            Some(next) => self.change_over(next, changes),
            None => self.method.phase_mut().step(changes),
        }
    }

    fn pairs(&self, pairs: &mut Vec<[u32; 2]>) {
        self.method.phase().pairs(pairs);
    }

    fn reason(&self) -> &str {
        &self.reason
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::broad::Brute;

    fn cube(at: f64, side: f64) -> Aabb {
        Aabb { low: DVec3::splat(at), high: DVec3::splat(at + side) }
    }

    #[test]
    fn the_choice_follows_the_scene_and_says_why() {
        let (mut auto, mut brute) = (Auto::default(), Brute::default());
        let (mut changes, mut truth) = (Changes::default(), Changes::default());
        assert!(auto.reason().ends_with("yet"));
        for id in 0..500 {
            let bounds = cube(f64::from(id), 1.0 + f64::from(id % 7));
            auto.insert(id, bounds, Mobility::Moving);
            brute.insert(id, bounds, Mobility::Moving);
        }
        let mut reasons = Vec::new();
        let mut told = [0; 2];
        for k in 0..6 * LOOK_EVERY {
            // For long one body moves, then all of them, some of which go or come back.
            let still = k % (3 * LOOK_EVERY) < 2 * LOOK_EVERY + 8;
            for id in 0..if still { 1 } else { 500 } {
                let bounds = cube(f64::from((id * 3 + k * 5) % 500), 2.0);
                auto.update(id, bounds);
                brute.update(id, bounds);
            }
            if !still {
                auto.remove(k);
                brute.remove(k);
                auto.insert(k / 2, cube(0.0, 9.0), Mobility::Moving);
                brute.insert(k / 2, cube(0.0, 9.0), Mobility::Moving);
            }
            auto.step(&mut changes);
            brute.step(&mut truth);
            assert_eq!(changes, truth, "step {k}: {}", auto.reason());
            told = [told[0] + changes.began.len(), told[1] + changes.ended.len()];
            if reasons.last().is_none_or(|last| last != auto.reason()) {
                reasons.push(auto.reason().to_owned());
            }
        }
        assert!(told.iter().all(|&n| n > 1000), "{told:?}");
        assert_eq!(reasons[0], "grid: 100 % of 500 bodies move");
        assert_eq!(reasons[1], "tree: 0 % of 500 bodies move");
        assert!(reasons[2].starts_with("grid: 100 % of "), "at once: {reasons:?}");
        assert!(reasons.iter().filter(|reason| reason.starts_with("tree")).count() >= 2, "{reasons:?}");
    }
}
