//! A closed convex surface of triangles that grows by one corner at a time: what the corner sees goes, and
//! triangles from the horizon around it to the corner take its place. Hulls grow so (Barber, Dobkin and
//! Huhdanpaa, "The quickhull algorithm for convex hulls", 1996), and so do expanding polytopes (van den Bergen,
//! "Proximity queries and penetration depth computation on 3D game objects", 2001).
//!
//! Sides are decided exactly, and a corner does not see the facets in whose plane it lies. The horizon is then
//! a simple loop, no triangle is without area, and the surface stays closed and convex in every degenerate
//! position.

use std::ops::Range;

/// No facet, no corner.
const NONE: u32 = u32::MAX;

/// A triangle of the surface, anticlockwise seen from outside.
#[derive(Debug, Clone, Copy)]
pub struct Facet<T> {
    /// Its corners.
    pub corners: [u32; 3],
    /// The facets across the sides from corner k to corner k + 1.
    pub across: [u32; 3],
    /// Whether it is still part of the surface.
    pub alive: bool,
    /// What the user of the surface knows about it.
    pub own: T,
    /// The last corner this facet was asked about.
    asked: u32,
}

/// The growing surface; facets that went keep their place.
#[derive(Debug, Clone)]
pub struct IncrementalHull<T> {
    facets: Vec<Facet<T>>,
    seen: Vec<u32>,
    /// Sides of the seen part as start, end and the facet beyond.
    horizon: Vec<[u32; 3]>,
    /// For each corner of the horizon the new facet whose side starts there.
    starting: Vec<u32>,
}

impl<T> Default for IncrementalHull<T> {
    fn default() -> IncrementalHull<T> {
        IncrementalHull { facets: Vec::new(), seen: Vec::new(), horizon: Vec::new(), starting: Vec::new() }
    }
}

impl<T> IncrementalHull<T> {
    /// The surface becomes a tetrahedron: a base that turns outward and a corner strictly below it.
    ///
    /// Here and in [`IncrementalHull::add`], `make` gives what is to be known about a facet by its corners.
    pub fn begin(
        &mut self,
        [a, b, c]: [u32; 3],
        apex: u32,
        mut make: impl FnMut([u32; 3]) -> T,
    ) -> Range<u32> {
        self.facets.clear();
        self.starting.clear();
        let most = a.max(b).max(c).max(apex);
        self.starting.resize(most as usize + 1, NONE);
        self.push([a, b, c], [1, 2, 3], &mut make);
        self.push([b, a, apex], [0, 3, 2], &mut make);
        self.push([c, b, apex], [0, 1, 3], &mut make);
        self.push([a, c, apex], [0, 2, 1], &mut make);
        0..4
    }

    /// All facets, also those that went.
    #[inline]
    pub fn facets(&self) -> &[Facet<T>] {
        &self.facets
    }

    /// The facets from one on.
    #[inline]
    pub fn facets_from(&mut self, first: u32) -> &mut [Facet<T>] {
        &mut self.facets[first as usize..]
    }

    /// The facets that went when the last corner came.
    #[inline]
    pub fn gone(&self) -> &[u32] {
        &self.seen
    }

    /// Adds a corner that a living facet sees, each corner once; the facets that this makes. `sees` tells whether a facet
    /// has the corner strictly above it.
    #[inline]
    pub fn add(
        &mut self,
        facet: u32,
        corner: u32,
        sees: impl FnMut(&Facet<T>) -> bool,
        mut make: impl FnMut([u32; 3]) -> T,
    ) -> Range<u32> {
        self.see(facet, corner, sees);
        let first = self.facets.len() as u32;
        if self.starting.len() <= corner as usize {
            self.starting.resize(corner as usize + 1, NONE);
        }
        let horizon = std::mem::take(&mut self.horizon);
        // In smaller steps than by doubling: facets are large.
        if self.facets.capacity() - self.facets.len() < horizon.len() {
            self.facets.reserve_exact(horizon.len().max(self.facets.len() / 4));
        }
        for (new, &[from, to, beyond]) in (first..).zip(&horizon) {
            self.push([from, to, corner], [beyond, NONE, NONE], &mut make);
            self.starting[from as usize] = new;
            let theirs = &mut self.facets[beyond as usize];
            if let Some(side) = (0..3).find(|&s| theirs.corners[s] == to) {
                theirs.across[side] = new;
            }
        }
        for (new, &[_, to, _]) in (first..).zip(&horizon) {
            let after = self.starting[to as usize];
            self.facets[new as usize].across[1] = after;
            self.facets[after as usize].across[2] = new;
        }
        self.horizon = horizon;
        first..self.facets.len() as u32
    }

    /// Gathers the facets that see a corner, from one of them on, and the loop around them.
    fn see(&mut self, from: u32, corner: u32, mut sees: impl FnMut(&Facet<T>) -> bool) {
        self.seen.clear();
        self.horizon.clear();
        self.seen.push(from);
        self.facets[from as usize].asked = corner;
        self.facets[from as usize].alive = false;
        let mut next = 0;
        while let Some(&f) = self.seen.get(next) {
            let &Facet { corners, across, .. } = &self.facets[f as usize];
            for k in 0..3 {
                let other = &mut self.facets[across[k] as usize];
                if other.asked != corner {
                    other.asked = corner;
                    if sees(other) {
                        other.alive = false;
                        self.seen.push(across[k]);
                    }
                }
                if other.alive {
                    self.horizon.push([corners[k], corners[(k + 1) % 3], across[k]]);
                }
            }
            next += 1;
        }
    }

    #[inline]
    fn push(&mut self, corners: [u32; 3], across: [u32; 3], make: &mut impl FnMut([u32; 3]) -> T) {
        let own = make(corners);
        self.facets.push(Facet { corners, across, alive: true, own, asked: NONE });
    }

    /// Forgets the facets that went. Others get the smaller numbers that `place` then holds, in the same order.
    pub fn compact(&mut self, place: &mut Vec<u32>) {
        place.clear();
        let mut alive = 0;
        place.extend(self.facets.iter().map(|f| {
            alive += u32::from(f.alive);
            if f.alive { alive - 1 } else { NONE }
        }));
        self.facets.retain_mut(|f| {
            f.across = f.across.map(|other| place[other as usize]);
            f.alive
        });
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::num::predicate::{Plane, Sign};

    #[test]
    fn a_tetrahedron_grows_to_a_cube() {
        let corner = |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2));
        let make = |c: [u32; 3]| Plane::through(corner(c[0]), corner(c[1]), corner(c[2]));
        let mut surface = IncrementalHull::default();
        surface.begin([0, 2, 1], 4, make);
        for k in [3, 5, 6, 7] {
            let sees = |f: &Facet<Plane>| f.own.side(corner(k)) == Sign::Positive;
            let seen = surface.facets().iter().position(|f| f.alive && sees(f)).unwrap();
            let new = surface.add(seen as u32, k, sees, make);
            assert!(new.len() >= 3 && surface.gone().contains(&(seen as u32)));
            if k == 5 {
                let mut place = Vec::new();
                surface.compact(&mut place);
                assert!(surface.facets().iter().all(|f| f.alive));
                assert_eq!(place[seen], NONE);
            }
        }
        let alive: Vec<&Facet<Plane>> = surface.facets().iter().filter(|f| f.alive).collect();
        assert_eq!(alive.len(), 12);
        for facet in alive {
            for (k, &other) in facet.across.iter().enumerate() {
                let side = [facet.corners[k], facet.corners[(k + 1) % 3]];
                let other = &surface.facets()[other as usize];
                let back = (0..3).find(|&s| other.corners[s] == side[1]).unwrap();
                assert!(other.alive && other.corners[(back + 1) % 3] == side[0]);
            }
            assert!((0..8).all(|k| facet.own.side(corner(k)) != Sign::Positive));
        }
    }
}
