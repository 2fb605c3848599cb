//! The broad phase that fits the scene, chosen from what is seen of it, with the reason as text.
//!
//! Testing all pairs is taken for a handful of bodies, the grid when many move, the tree where boxes differ much
//! in size or few move. The limits are where two methods changed places with 10 to 100,000 of the boxes of the
//! bench's table `broad-phase` at its density, of which 1, 2, 5, 10 or 100 % moved, on one thread. Sweep and
//! prune is left to those who know their scene: below 10,000 bodies, few of them moving, it took half to all of
//! the tree's time, but where many boxes end at the same height each that moves may pass all others.

use crate::bound::Aabb;

use super::bodies::Bodies;
use super::{BroadPhase, Brute, Changes, Grid, Mobility, Tree};

/// Up to so many bodies all pairs are tested: 10 took as long as in the grid, 20 took twice as long.
const FEW: usize = 10;

/// From this share of moving bodies on the grid is taken. It was as fast as the tree at 2 % of 10,000 and
/// 100,000 bodies, at 4 % of 1,000 and at 6 % of 200.
const GRID_SHARE: f64 = 0.03;

/// Boxes larger than this many medians are large; a grid bears some of them, not many.
const LARGE: f64 = 64.0;

/// Share of large boxes that a grid bears.
const LARGE_SHARE: f64 = 0.02;

/// Steps between two looks at the scene, so that a change of method is paid for.
const LOOK_EVERY: u32 = 32;

/// The methods to choose from.
#[derive(Debug, Clone)]
enum Method {
    Brute(Brute),
    Tree(Tree),
    Grid(Box<Grid>),
}

/// Chooses among the other broad phases and changes over when the scene does.
#[derive(Debug, Clone)]
pub struct Auto {
    bodies: Bodies,
    method: Method,
    reason: String,
    steps: u32,
    /// Bodies that changed in the steps since the last look.
    changed: usize,
}

impl Default for Auto {
    fn default() -> Auto {
        let reason = "no bodies yet".into();
        Auto {
            bodies: Bodies::default(),
            method: Method::Brute(Brute::default()),
            reason,
            steps: 0,
            changed: 0,
        }
    }
}

impl Auto {
    /// The method in use and why.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    fn method(&mut self) -> &mut dyn BroadPhase {
        match &mut self.method {
            Method::Brute(brute) => brute,
            Method::Tree(tree) => tree,
            Method::Grid(grid) => grid.as_mut(),
        }
    }

    /// Looks at the scene and changes the method where another fits better; pairs stay as they are.
    fn look(&mut self) {
        let share = self.changed as f64 / (f64::from(self.steps.max(1)) * self.bodies.len().max(1) as f64);
        let count = self.bodies.len();
        let large = self.share_of_large();
        let (next, why) = if count <= FEW {
            (Method::Brute(Brute::default()), format!("brute: {count} bodies, so all pairs are tested"))
        } else if share >= GRID_SHARE && large <= LARGE_SHARE {
            let why = format!("grid: {:.0} % of {count} bodies move, sizes are alike", 100.0 * share);
            (Method::Grid(Box::default()), why)
        } else {
            let large = 100.0 * large;
            let why = format!("tree: {:.0} % of {count} bodies move, {large:.1} % are large", 100.0 * share);
            (Method::Tree(Tree::default()), why)
        };
        self.reason = why;
        (self.steps, self.changed) = (0, 0);
        if std::mem::discriminant(&next) != std::mem::discriminant(&self.method) {
            self.method = next;
            let bodies = std::mem::take(&mut self.bodies);
            bodies.copy_to(self.method());
            self.bodies = bodies;
            // What it tells is known already.
            self.method().step(&mut Changes::default());
        }
    }

    fn share_of_large(&self) -> f64 {
        let side = |id: u32| (self.bodies.now(id).high - self.bodies.now(id).low).max_element();
        let mut sides: Vec<f64> = self.bodies.solid().map(side).collect();
        if sides.is_empty() {
            return 0.0;
        }
        let middle = sides.len() / 2;
        let (_, &mut median, above) = sides.select_nth_unstable_by(middle, f64::total_cmp);
        above.iter().filter(|&&side| side > LARGE * median).count() as f64 / sides.len() as f64
    }
}

impl BroadPhase for Auto {
    fn insert(&mut self, id: u32, bounds: Aabb, mobility: Mobility) {
        self.bodies.insert(id, bounds, mobility);
        self.method().insert(id, bounds, mobility);
    }

    fn remove(&mut self, id: u32) {
        self.bodies.remove(id);
        self.method().remove(id);
    }

    fn update(&mut self, id: u32, bounds: Aabb) {
        self.bodies.update(id, bounds);
        self.method().update(id, bounds);
    }

    fn update_range(&mut self, first: u32, bounds: &[Aabb]) {
        self.bodies.update_range(first, bounds);
        self.method().update_range(first, bounds);
    }

    fn step(&mut self, changes: &mut Changes) {
        (self.steps, self.changed) = (self.steps + 1, self.changed + self.bodies.changed().len());
        self.bodies.settle();
        self.method().step(changes);
        let grown = self.bodies.len() > FEW && matches!(self.method, Method::Brute(_));
        if grown || self.steps >= LOOK_EVERY || self.reason == "no bodies yet" {
            self.look();
        }
    }

    fn pairs(&self, pairs: &mut Vec<[u32; 2]>) {
        match &self.method {
            Method::Brute(brute) => brute.pairs(pairs),
            Method::Tree(tree) => tree.pairs(pairs),
            Method::Grid(grid) => grid.pairs(pairs),
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    fn cube(at: f64, side: f64) -> Aabb {
        Aabb { low: DVec3::splat(at), high: DVec3::splat(at + side) }
    }

    #[test]
    fn the_choice_follows_the_scene_and_says_why() {
        let (mut auto, mut changes) = (Auto::default(), Changes::default());
        assert_eq!(auto.reason(), "no bodies yet");
        for id in 0..8 {
            auto.insert(id, cube(f64::from(id), 1.0), Mobility::Moving);
        }
        auto.step(&mut changes);
        assert!(auto.reason().starts_with("brute: 8 bodies"), "{}", auto.reason());
        for id in 0..500 {
            auto.insert(id, cube(f64::from(id), 1.0), Mobility::Moving);
        }
        auto.step(&mut changes);
        assert!(auto.reason().starts_with("grid: 100 % of 500"), "{}", auto.reason());
        for _ in 0..LOOK_EVERY {
            auto.update(0, cube(0.5, 1.0));
            auto.step(&mut changes);
        }
        assert!(auto.reason().starts_with("tree: 0 % of 500"), "{}", auto.reason());
        for id in 0..50 {
            auto.update(id, cube(f64::from(id), 100.0));
        }
        for _ in 0..LOOK_EVERY {
            (0..500).for_each(|id| auto.update(id, cube(f64::from(id), if id < 50 { 100.0 } else { 1.0 })));
            auto.step(&mut changes);
        }
        assert!(auto.reason().ends_with("10.0 % are large"), "{}", auto.reason());
    }
}
