//! A cloud of particles with the tree over it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use glam::DVec3;

use crate::bound::Aabb;
use crate::budget::QUANTUM;
use crate::hierarchy::particle_tree::ParticleTree;
use crate::num::parallel::once;
use crate::num::tolerance::{LARGEST_COORDINATE, PLACED_BOX_ROUNDING};
use crate::{Budget, Error, Pose};

/// Numbers the clouds in the order in which they are made.
static MADE: AtomicU64 = AtomicU64::new(0);

/// Units for each particle of the tree: about as many tests as would take the same time.
const UNITS_PER_PARTICLE: u64 = 4;

/// Particles up to which a cloud is small: its tree takes less time than the thread that would be started for it.
const SMALL_CLOUD: usize = 1024;

/// Particles in one frame: balls, or points where the radius is 0.
#[derive(Debug)]
pub struct Cloud {
    identity: u64,
    points: Vec<DVec3>,
    radii: Radii,
    tree: OnceLock<ParticleTree>,
    /// Units paid for the tree so far.
    paid: AtomicU64,
}

/// One radius for all, or one for each.
#[derive(Debug, Clone)]
enum Radii {
    One(f64),
    Each(Arc<[f64]>),
}

impl Clone for Cloud {
    fn clone(&self) -> Cloud {
        Cloud {
            identity: self.identity,
            points: self.points.clone(),
            radii: self.radii.clone(),
            tree: self.tree.clone(),
            paid: AtomicU64::new(self.paid.load(Ordering::Relaxed)),
        }
    }
}

impl Cloud {
    /// Particles at these places, with one radius for all or one for each.
    ///
    /// # Errors
    /// No particles, a coordinate that is not finite or beyond 1e60, a radius that is negative, not finite or beyond
    /// 1e60, or another number of radii.
    pub fn new(points: Vec<DVec3>, radii: &[f64]) -> Result<Cloud, Error> {
        check_points(&points)?;
        // Negated, so that NaN is refused.
        if let Some(i) = radii.iter().position(|r| !(*r >= 0.0 && *r <= LARGEST_COORDINATE)) {
            let reason = format!("that of particle {i} is {}; 0 to 1e60 are accepted", radii[i]);
            return Err(Error::Argument { name: "radii", reason });
        }
        let radii = match radii {
            [one] => Radii::One(*one),
            each if each.len() == points.len() => Radii::Each(each.into()),
            other => {
                let reason = format!("{} for {} particles; give one each or one", other.len(), points.len());
                return Err(Error::Argument { name: "radii", reason });
            }
        };
        Ok(Cloud::of(points, radii))
    }

    fn of(points: Vec<DVec3>, radii: Radii) -> Cloud {
        let identity = MADE.fetch_add(1, Ordering::Relaxed);
        Cloud { identity, points, radii, tree: OnceLock::new(), paid: AtomicU64::new(0) }
    }

    /// A number that no other cloud has but copies of this one.
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// The centres, in the order given.
    pub fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// The radius of a particle.
    pub fn radius(&self, particle: usize) -> f64 {
        match &self.radii {
            Radii::One(radius) => *radius,
            Radii::Each(radii) => radii[particle],
        }
    }

    /// Whether any particle is more than a point.
    pub fn has_interior(&self) -> bool {
        match &self.radii {
            Radii::One(radius) => *radius > 0.0,
            Radii::Each(radii) => radii.iter().any(|radius| *radius > 0.0),
        }
    }

    /// The tree over the particles; built at the first call and kept.
    pub fn tree(&self) -> &ParticleTree {
        once(&self.tree, || ParticleTree::build(&self.points, |i| self.radius(i)))
    }

    /// Whether the tree is built.
    pub fn knows_tree(&self) -> bool {
        self.tree.get().is_some()
    }

    /// Whether the tree is built faster than a thread is started for it.
    pub fn is_small(&self) -> bool {
        self.points.len() <= SMALL_CLOUD
    }

    /// [`Cloud::tree`] as far as the budget goes: its units are paid beforehand, and payments add up. A trial builds
    /// nothing but the tree of a small cloud.
    pub fn tree_within(&self, budget: &mut Budget) -> Option<&ParticleTree> {
        if self.tree.get().is_none() {
            if budget.is_trial() && !self.is_small() {
                return None;
            }
            let cost = UNITS_PER_PARTICLE * self.points.len() as u64;
            while !budget.is_unlimited() {
                let open = cost.saturating_sub(self.paid.load(Ordering::Relaxed));
                if open == 0 {
                    break;
                }
                let part = open.min(QUANTUM);
                if !budget.draw_updates(part) {
                    return None;
                }
                self.paid.fetch_add(part, Ordering::Relaxed);
            }
        }
        Some(self.tree())
    }

    /// A box of the world around the placed balls, rounded outward.
    pub fn bounds(&self, pose: &Pose) -> Aabb {
        let mut bounds = Aabb::EMPTY;
        for (i, &p) in self.points.iter().enumerate() {
            let (p, radius) = (pose.apply(p), DVec3::splat(self.radius(i)));
            bounds = Aabb { low: bounds.low.min(p - radius), high: bounds.high.max(p + radius) };
        }
        let size = bounds.low.abs().max(bounds.high.abs()).max_element() + pose.translation().length();
        let pad = DVec3::splat(size * PLACED_BOX_ROUNDING + f64::MIN_POSITIVE);
        Aabb { low: bounds.low - pad, high: bounds.high + pad }
    }

    /// The same particles with nothing built or paid yet.
    pub fn unprepared(&self) -> Cloud {
        Cloud::of(self.points.clone(), self.radii.clone())
    }

    /// Moves the particles. The tree is fitted to the new places, or built anew where it decayed.
    ///
    /// # Errors
    /// Another number of particles, or a coordinate that is not finite or beyond 1e60; nothing is changed then.
    pub fn set_points(&mut self, points: Vec<DVec3>) -> Result<(), Error> {
        let (now, given) = (self.points.len(), points.len());
        if now != given {
            let reason = format!("{given} positions for {now} particles");
            return Err(Error::Argument { name: "vertices", reason });
        }
        check_points(&points)?;
        let tree = self.tree.take();
        let paid = std::mem::take(&mut self.paid);
        *self = Cloud { paid, ..Cloud::of(points, self.radii.clone()) };
        if let Some(mut tree) = tree {
            tree.refit_or_rebuild(&self.points, |i| self.radius(i));
            self.tree = tree.into();
        }
        Ok(())
    }
}

fn check_points(points: &[DVec3]) -> Result<(), Error> {
    if points.is_empty() {
        return Err(Error::Argument { name: "particles", reason: "a cloud needs one at least".into() });
    }
    if u32::try_from(points.len()).is_err() {
        let (what, most) = ("particles", u32::MAX as usize);
        return Err(Error::TooMany { what, count: points.len(), most });
    }
    // Negated, so that NaN is refused.
    let wrong = |p: &DVec3| p.to_array().into_iter().find(|x| !(x.abs() <= LARGEST_COORDINATE));
    match points.iter().enumerate().find_map(|(i, p)| wrong(p).map(|value| (i, value))) {
        Some((vertex, value)) => Err(Error::Coordinate { vertex, value }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;

    #[test]
    fn what_is_no_cloud_is_refused_by_name() {
        let refused = |points: Vec<[f64; 3]>, radii: &[f64]| {
            Cloud::new(points.into_iter().map(DVec3::from).collect(), radii).unwrap_err().to_string()
        };
        assert!(refused(vec![], &[1.0]).contains("particles"));
        assert!(refused(vec![[0.0; 3], [0.0, f64::NAN, 0.0]], &[1.0]).contains("vertex 1"));
        assert!(refused(vec![[0.0; 3]; 3], &[0.0, 1.0, -1.0]).contains("particle 2"));
        assert!(refused(vec![[0.0; 3]; 3], &[f64::NAN]).contains("radii"));
        assert!(refused(vec![[0.0; 3]; 3], &[1.0; 2]).contains("2 for 3"));
        assert!(refused(vec![[0.0; 3]; 3], &[]).contains("0 for 3"));
    }

    #[test]
    fn moved_particles_keep_their_radii_and_small_payments_add_up() {
        let points = procedural::positions(500, DVec3::ZERO, DVec3::ONE, 3);
        let radii: Vec<f64> = (0..500).map(|i| 1e-4 * f64::from(i)).collect();
        let mut cloud = Cloud::new(points.clone(), &radii).unwrap();
        let mut calls = 1;
        while cloud.tree_within(&mut Budget::units(100)).is_none() {
            calls += 1;
        }
        assert_eq!(calls, (500 * UNITS_PER_PARTICLE).div_ceil(QUANTUM));
        let before = cloud.identity();
        let moved: Vec<DVec3> = points.iter().map(|p| *p * 1.5).collect();
        cloud.set_points(moved.clone()).unwrap();
        assert!(cloud.identity() != before && cloud.points() == moved && cloud.radius(7) == 7e-4);
        assert!(cloud.set_points(vec![DVec3::ZERO]).unwrap_err().to_string().contains("1 positions for 500"));
        assert_eq!(cloud.points(), moved);
    }
}
